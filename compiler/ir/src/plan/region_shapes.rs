//! The shapes of a linearized region's values, which decide how code holds them and makes its accesses.
//!
//! Requires: a linearized region.
//! Ensures: its plan, but for how lanes access memory.
//! Phases: the shapes between lanes of a gang, of a tile's row and column; then the values that have theirs by promise alone.
//! Source: Moll 2021, chapters 5 and 11.

use super::RegionPlan;
use super::access_lowering::region::RegionAccesses;
use super::region_state::{GangContext, analyze_region};
use crate::analysis::divergence::Facts;
use crate::analysis::nonempty_masks::run_by_some;
use crate::analysis::shape::Shape;
use crate::ir::{BinaryOp, Function, InstData, InstNode, UnaryOp, Value};
use cranelift_entity::{EntitySet, SecondaryMap};

/// The plan of a linearized region.
pub(super) fn plan_region(function: &Function, context: &GangContext<'_>) -> RegionPlan {
    let gang_facts = &context.facts;
    let shapes = analyze_region(function, gang_facts).shapes;
    let by_active = shaped_by_active(function, gang_facts, &shapes);
    let shapes_in = |gang_facts: &Facts| analyze_region(function, gang_facts).shapes;
    let tile = context.tile.as_ref();
    RegionPlan {
        shapes,
        runs: tile.map(|tile_facts| shapes_in(&tile_facts.rows)).unwrap_or_default(),
        columns: tile.map(|tile_facts| shapes_in(&tile_facts.columns)).unwrap_or_default(),
        masks: function.masks.clone(),
        run_by_some: run_by_some(function),
        by_active,
        accesses: RegionAccesses::default(),
        alone: false,
        leaves_idle_lanes: false,
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
fn shaped_by_active(function: &Function, gang_facts: &Facts, shapes: &SecondaryMap<Value, Shape>) -> EntitySet<Value> {
    let mut shaped_values = EntitySet::new();
    let masked = || function.layout.iter().filter(|&&block| function.masks[block].is_some());
    let instructions =
        || masked().flat_map(|&block| &function.blocks[block].insts).map(|&instruction| &function.insts[instruction]);
    let promises = |inst_node: &InstNode| match inst_node.data {
        InstData::Binary { flags, .. } => (flags.nsw || flags.nuw) && !shapes[inst_node.results[0]].is_varying(),
        _ => false,
    };
    if instructions().any(promises) {
        let mut gang_facts = gang_facts.clone();
        gang_facts.promises_bind = false;
        let certain = analyze_region(function, &gang_facts).shapes;
        for &result in
            instructions().filter(|inst_node| !wraps_alike(&inst_node.data)).flat_map(|inst_node| &inst_node.results)
        {
            if !shapes[result].is_varying() && shapes[result].stride() != certain[result].stride() {
                shaped_values.insert(result);
            }
        }
    }
    shaped_values
}
