//! The shapes of a linearized region's values, which decide how code holds them and makes its accesses.
//!
//! Requires: a linearized region.
//! Ensures: its plan, but for how lanes access memory.
//! Phases: the shapes between lanes of a gang, of a tile's row and column; then the values that have theirs by promise alone,
//! found by an analysis without promises.
//! Source: Moll 2021, chapters 5 and 11.

use super::RegionPlan;
use super::access_lowering::region::RegionAccesses;
use super::region_state::{GangContext, analyze_region};
use crate::analysis::divergence::{Divergence, Facts, Promises};
use crate::analysis::nonempty_masks::run_by_some;
use crate::analysis::shape::Shape;
use crate::ir::{BinaryOp, Block, Function, InstData, InstNode, IntCc, IntFlags, UnaryOp, Value, ValueDef};
use cranelift_entity::{EntitySet, SecondaryMap};

/// The plan of a linearized region.
pub(super) fn plan_region(function: &Function, context: &GangContext<'_>) -> RegionPlan {
    let gang_facts = &context.facts;
    let shapes = analyze_region(function, gang_facts).shapes;
    let shapes_in = |gang_facts: &Facts| analyze_region(function, gang_facts).shapes;
    let tile = context.tile.as_ref();
    let mut runs = tile.map(|tile_facts| shapes_in(&tile_facts.rows)).unwrap_or_default();
    let mut sums_that_wrap = EntitySet::new();
    let certain = find_sums_that_wrap(function, gang_facts, &shapes, &mut sums_that_wrap);
    let certain_in_rows =
        tile.and_then(|tile_facts| find_sums_that_wrap(function, &tile_facts.rows, &runs, &mut sums_that_wrap));
    let find_promised = |shapes: &SecondaryMap<Value, Shape>, certain: &Option<Divergence>| {
        certain
            .as_ref()
            .map(|certain| find_promised_shapes(function, shapes, certain, &sums_that_wrap))
            .unwrap_or_default()
    };
    let PromisedShapes { by_active, mut of_endless_sums } = find_promised(&shapes, &certain);
    let of_rows = find_promised(&runs, &certain_in_rows);
    // No lane of a row is known to use the value.
    match certain_in_rows.filter(|_| !of_rows.by_active.is_empty()) {
        Some(certain_in_rows) => runs = certain_in_rows.shapes,
        None => of_endless_sums.extend(of_rows.of_endless_sums.iter()),
    }
    RegionPlan {
        shapes,
        runs,
        columns: tile.map(|tile_facts| shapes_in(&tile_facts.columns)).unwrap_or_default(),
        masks: function.masks.clone(),
        run_by_some: run_by_some(function),
        by_active,
        sums_that_wrap,
        of_endless_sums,
        accesses: RegionAccesses::default(),
        alone: false,
        leaves_idle_lanes: false,
    }
}

/// Sums that are looked at for a value that follows from them.
const MOST_SUMS: u32 = 8;

/// The values whose shapes rest on promises of the program (`nsw`, `nuw`). A lane that does not use a number may be off the line of
/// those that do: what wraps there is beyond any promise. See [`RegionPlan`].
#[derive(Default)]
struct PromisedShapes {
    by_active: EntitySet<Value>,
    of_endless_sums: EntitySet<Value>,
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

/// The promises of a sum, difference or product.
fn find_promises(inst_data: &InstData) -> Option<IntFlags> {
    match *inst_data {
        InstData::Binary { flags, .. } if flags.nsw || flags.nuw => Some(flags),
        _ => None,
    }
}

/// The instructions of a function with their blocks.
fn instructions_in_blocks(function: &Function) -> impl Iterator<Item = (Block, &InstNode)> {
    let in_block = move |&block: &Block| {
        function.blocks[block].insts.iter().map(move |&instruction| (block, &function.insts[instruction]))
    };
    function.layout.iter().flat_map(in_block)
}

/// Adds the sums of which only promises say that a gang's lanes, or those of a tile's row, do not wrap. The answer is what is certain
/// without promises; none where there are no such sums.
fn find_sums_that_wrap(
    function: &Function,
    gang_facts: &Facts,
    shapes: &SecondaryMap<Value, Shape>,
    sums_that_wrap: &mut EntitySet<Value>,
) -> Option<Divergence> {
    let promised_lines: Vec<(Value, IntFlags)> = instructions_in_blocks(function)
        .filter_map(|(_, InstNode { data, results, .. })| Some((*results.first()?, find_promises(data)?)))
        .filter(|&(result, _)| !shapes[result].is_varying() && !shapes[result].is_uniform())
        .collect();
    if promised_lines.is_empty() {
        return None;
    }
    let mut certain_facts = gang_facts.clone();
    certain_facts.promises = Promises::Ignored;
    let certain = analyze_region(function, &certain_facts);
    for (result, flags) in promised_lines {
        let may_wrap = flags.nsw && !certain.signed_lines.contains(result)
            || flags.nuw && !certain.unsigned_lines.contains(result);
        if may_wrap {
            sums_that_wrap.insert(result);
        }
    }
    Some(certain)
}

/// Finds what rests on such sums.
fn find_promised_shapes(
    function: &Function,
    shapes: &SecondaryMap<Value, Shape>,
    certain: &Divergence,
    sums_that_wrap: &EntitySet<Value>,
) -> PromisedShapes {
    let mut promised_shapes = PromisedShapes::default();
    for (block, InstNode { data, results, .. }) in instructions_in_blocks(function) {
        if wraps_alike(data) {
            continue;
        }
        for &result in results {
            if shapes[result].is_varying() || shapes[result].stride() == certain.shapes[result].stride() {
                continue;
            }
            if follows_from_endless_sums(function, data, certain, sums_that_wrap) {
                promised_shapes.of_endless_sums.insert(result);
            } else if function.masks[block].is_some() {
                promised_shapes.by_active.insert(result);
            }
        }
    }
    promised_shapes
}

/// Whether code can compute a value from its operands as numbers without an end.
fn follows_from_endless_sums(
    function: &Function,
    inst_data: &InstData,
    certain: &Divergence,
    sums_that_wrap: &EntitySet<Value>,
) -> bool {
    let is_constant = |operand: Value| function.const_bits(operand).is_some();
    let (operands, is_signed) = match *inst_data {
        InstData::Unary { opcode: UnaryOp::Sext, argument, .. } => ([argument; 2], true),
        InstData::Unary { opcode: UnaryOp::Zext, argument, .. } => ([argument; 2], false),
        InstData::Binary { opcode: BinaryOp::Ashr, arguments: [left, right], .. } if is_constant(right) => {
            ([left; 2], true)
        }
        InstData::Icmp { comparison: IntCc::Slt | IntCc::Sle | IntCc::Sgt | IntCc::Sge, arguments } => {
            (arguments, true)
        }
        _ => return false,
    };
    if function.ty(operands[0]).bits() > 64 {
        return false;
    }
    let lines = if is_signed { &certain.signed_lines } else { &certain.unsigned_lines };
    let mut pending: Vec<Value> = operands.into();
    let mut sum_count = 0;
    while let Some(operand) = pending.pop() {
        if !sums_that_wrap.contains(operand) {
            if !is_constant(operand) && !lines.contains(operand) {
                return false;
            }
            continue;
        }
        let ValueDef::Result(instruction, _) = function.values[operand].definition else { return false };
        let InstData::Binary { flags, arguments, .. } = &function.insts[instruction].data else { return false };
        if !(if is_signed { flags.nsw } else { flags.nuw }) || sum_count == MOST_SUMS {
            return false;
        }
        sum_count += 1;
        pending.extend(arguments);
    }
    true
}
