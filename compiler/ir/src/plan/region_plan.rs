//! How a region runs for a gang, which code generation goes by.

use super::access_lowering::region::RegionAccesses;
use super::region_state::{GangContext, analyze_region};
use super::value_form::Form;
use crate::analysis::divergence::Facts;
use crate::analysis::nonempty_masks::run_by_some;
use crate::analysis::shape::Shape;
use crate::ir::{BinaryOp, Block, Function, InstData, InstNode, UnaryOp, Value};
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};

/// How one region runs for a gang.
#[derive(Clone, Debug, Default)]
pub struct RegionPlan {
    /// How each value differs between lanes.
    pub shapes: SecondaryMap<Value, Shape>,
    /// How each value differs between the lanes of a tile's row; nothing is known for other gangs.
    pub runs: SecondaryMap<Value, Shape>,
    /// How each value differs between the lanes of a tile's column; nothing is known for other gangs.
    pub columns: SecondaryMap<Value, Shape>,
    /// The lanes that run a block: an `i1`; none: all that entered the region.
    pub masks: SecondaryMap<Block, PackedOption<Value>>,
    /// Blocks with a mask that run for a lane at least whenever they run.
    pub run_by_some: EntitySet<Block>,
    /// Values of which only the lanes that run their block are known to have the shape, where lane 0 of the operands
    /// does not tell.
    pub by_active: EntitySet<Value>,
    /// How lanes access memory, from when it is known where slots lie.
    pub accesses: RegionAccesses,
    /// Work-items run the region one after the other, as it was before it was linearized: nothing else holds of it.
    pub alone: bool,
}

impl RegionPlan {
    /// How a value is held in registers.
    pub fn form_of(&self, body: &Function, value: Value) -> Form {
        match Form::of_shape(body.ty(value), self.shapes[value]) {
            Form::Vector => match Form::of_shape(body.ty(value), self.runs[value]) {
                Form::Affine(stride) => Form::Runs(stride),
                form => form,
            },
            form => form,
        }
    }
}

/// The plan of a linearized region.
pub(super) fn plan_region(body: &Function, context: &GangContext<'_>) -> RegionPlan {
    let facts = &context.facts;
    let shapes = analyze_region(body, facts).shapes;
    let by_active = shaped_by_active(body, facts, &shapes);
    let shapes_in = |facts: &Facts| analyze_region(body, facts).shapes;
    let tile = context.tile.as_ref();
    RegionPlan {
        shapes,
        runs: tile.map(|tile| shapes_in(&tile.rows)).unwrap_or_default(),
        columns: tile.map(|tile| shapes_in(&tile.columns)).unwrap_or_default(),
        masks: body.masks.clone(),
        run_by_some: run_by_some(body),
        by_active,
        accesses: RegionAccesses::default(),
        alone: false,
    }
}

/// Whether lane 0 of the operands gives lane 0 of the result wherever lanes wrap.
fn wraps_alike(inst_data: &InstData) -> bool {
    use BinaryOp::{Add, Mul, Shl, Sub};
    match inst_data {
        InstData::Binary { opcode, .. } => matches!(opcode, Add | Sub | Mul | Shl),
        InstData::Unary { opcode, .. } => matches!(opcode, UnaryOp::Trunc | UnaryOp::Freeze | UnaryOp::SpaceCast),
        _ => matches!(inst_data, InstData::PtrAdd { .. }),
    }
}

/// The values that have their shape because of what the program promises (`nsw`, `nuw`) where not all lanes come. A
/// lane that does not come may be off the line: what wraps there is beyond any promise.
fn shaped_by_active(body: &Function, facts: &Facts, shapes: &SecondaryMap<Value, Shape>) -> EntitySet<Value> {
    let mut found = EntitySet::new();
    let masked = || body.layout.iter().filter(|&&block| body.masks[block].is_some());
    let insts = || masked().flat_map(|&block| &body.blocks[block].insts).map(|&inst| &body.insts[inst]);
    let promises = |node: &InstNode| match node.data {
        InstData::Binary { flags, .. } => (flags.nsw || flags.nuw) && !shapes[node.results[0]].is_varying(),
        _ => false,
    };
    if insts().any(promises) {
        let mut facts = facts.clone();
        facts.promises_bind = false;
        let certain = analyze_region(body, &facts).shapes;
        for &result in insts().filter(|node| !wraps_alike(&node.data)).flat_map(|node| &node.results) {
            if !shapes[result].is_varying() && shapes[result].stride() != certain[result].stride() {
                found.insert(result);
            }
        }
    }
    found
}
