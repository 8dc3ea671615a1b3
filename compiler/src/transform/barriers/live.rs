//! Which values each region finds in live slots, and which it computes again.
//!
//! Requires: the kernel's code split behind its barriers, with liveness.
//! Ensures: each value that a region needs from earlier ones is either kept for it in a slot of the
//! value's type, alone there at that barrier, or an instruction's result that can be computed from kept
//! values and what every region has.
//! Phases: what computing each value again takes; a choice per barrier; slots by colouring.
//! Source: Karrenberg & Hack 2012, section 2.3 (live values); the choice is ours.
//!
//! At a barrier, a value is computed again if that takes a few cheap operations from what every region
//! has (inputs, queries, addresses of variables) or from values that are kept there anyway. Dominance
//! makes this consistent: where a value is live, the values it was computed from still are what they
//! were then, because redefining one of them on the way here would lead past the value's definition
//! again.

use super::Split;
use crate::ir::{BinaryOp, Input, InstData, Kernel, LiveSlot, Region, TernaryOp, Type, UnaryOp, Value, ValueDef};
use cranelift_entity::{PrimaryMap, SecondaryMap};

/// Operations that computing a value again from what every region has may take.
const FREE_BASE_COST: u32 = 5;
/// Operations that computing a value again from kept values may take, instead of a load and a store.
const KEPT_BASE_COST: u32 = 2;

/// What is kept where.
pub(super) struct Plan {
    /// The live slots with their types.
    pub slots: PrimaryMap<LiveSlot, Type>,
    /// The slot of each value that some region keeps.
    pub slot: SecondaryMap<Value, Option<LiveSlot>>,
    /// The values that a region finds in their slots, in the order of their definitions.
    pub kept: SecondaryMap<Region, Vec<Value>>,
}

/// Decides for every barrier what is kept, then gives slots to the values.
pub(super) fn plan(kernel: &Kernel, split: &Split) -> Plan {
    let costs = free_costs(kernel, split);
    let mut kept: SecondaryMap<Region, Vec<Value>> = SecondaryMap::new();
    for (region, &start) in split.starts.iter().skip(1) {
        let mut here: SecondaryMap<Value, bool> = SecondaryMap::new();
        for value in in_order(split, split.liveness.live_in(start).collect()) {
            let again = costs[value].is_some_and(|cost| cost <= FREE_BASE_COST)
                || cost_from(split, &costs, &here, value, KEPT_BASE_COST).is_some();
            if !again {
                here[value] = true;
                kept[region].push(value);
            }
        }
    }
    let mut slots = PrimaryMap::new();
    let mut slot: SecondaryMap<Value, Option<LiveSlot>> = SecondaryMap::new();
    let mut regions_of: SecondaryMap<Value, Vec<Region>> = SecondaryMap::new();
    for (region, values) in kept.iter() {
        values.iter().for_each(|&value| regions_of[value].push(region));
    }
    // By slot: the regions that find a value in it.
    let mut taken: SecondaryMap<LiveSlot, SecondaryMap<Region, bool>> = SecondaryMap::new();
    let all = split.body.values.keys().filter(|&value| !regions_of[value].is_empty()).collect();
    for value in in_order(split, all) {
        let ty = split.body.ty(value);
        let free = slots
            .iter()
            .find(|&(candidate, of)| *of == ty && !regions_of[value].iter().any(|&region| taken[candidate][region]));
        let chosen = match free {
            Some((slot, _)) => slot,
            None => slots.push(ty),
        };
        slot[value] = Some(chosen);
        regions_of[value].iter().for_each(|&region| taken[chosen][region] = true);
    }
    Plan { slots, slot, kept }
}

/// Values in the order of their definitions, each behind those it is computed from.
fn in_order(split: &Split, mut values: Vec<Value>) -> Vec<Value> {
    values.sort_by_key(|&value| split.order[value]);
    values
}

/// The number of operations it takes to compute a value from what every region has; `None` where that is
/// impossible or too much.
fn free_costs(kernel: &Kernel, split: &Split) -> SecondaryMap<Value, Option<u32>> {
    let mut costs: SecondaryMap<Value, Option<u32>> = SecondaryMap::new();
    for value in split.body.values.keys() {
        if matches!(split.body.values[value].def, ValueDef::Const(_)) || split.input(value).is_some() {
            costs[value] = Some(0);
        }
    }
    for &block in split.cfg.rpo() {
        for &inst in &split.body.blocks[block].insts {
            let node = &split.body.insts[inst];
            let cost = match &node.data {
                InstData::Query { .. }
                | InstData::SlotAddr { .. }
                | InstData::LocalAddr { .. }
                | InstData::GlobalAddr { .. } => Some(0),
                InstData::Load { ptr, access, .. } if !access.volatile && access.atomic.is_none() => {
                    in_arguments(kernel, split, *ptr).then_some(1)
                }
                data if is_cheap(data) => sum(data, |arg| costs[arg]),
                _ => None,
            };
            let cost = cost.filter(|&cost| cost <= FREE_BASE_COST);
            node.results.iter().for_each(|&result| costs[result] = cost);
        }
    }
    costs
}

/// The number of operations, up to `limit`, it takes to compute a value from what every region has and
/// the values kept.
fn cost_from(
    split: &Split,
    costs: &SecondaryMap<Value, Option<u32>>,
    kept: &SecondaryMap<Value, bool>,
    value: Value,
    limit: u32,
) -> Option<u32> {
    if kept[value] {
        return Some(0);
    }
    if let Some(cost) = costs[value] {
        return (cost <= limit).then_some(cost);
    }
    let ValueDef::Result(inst, _) = split.body.values[value].def else {
        return None;
    };
    let data = &split.body.insts[inst].data;
    if limit == 0 || !is_cheap(data) {
        return None;
    }
    let cost = sum(data, |arg| cost_from(split, costs, kept, arg, limit - 1))?;
    (cost <= limit).then_some(cost)
}

/// One operation plus what its operands take.
fn sum(data: &InstData, mut of: impl FnMut(Value) -> Option<u32>) -> Option<u32> {
    let mut total = Some(1u32);
    data.for_each_arg(|arg| total = total.and_then(|total| total.checked_add(of(arg)?)));
    total
}

/// Whether an address is one of bytes in the argument block, which nothing writes to.
fn in_arguments(kernel: &Kernel, split: &Split, ptr: Value) -> bool {
    if let Some(index) = split.input(ptr) {
        return matches!(kernel.inputs[index].0, Input::Address { .. });
    }
    match split.body.values[ptr].def {
        ValueDef::Result(inst, _) => match split.body.insts[inst].data {
            InstData::PtrAdd { base, offset, .. } => {
                split.body.const_bits(offset).is_some() && in_arguments(kernel, split, base)
            }
            InstData::Unary { op: UnaryOp::SpaceCast, arg, .. } => in_arguments(kernel, split, arg),
            _ => false,
        },
        _ => false,
    }
}

/// Whether an operation takes about one cycle and gives the same result every time.
fn is_cheap(data: &InstData) -> bool {
    match data {
        InstData::Unary { op, .. } => !matches!(
            op,
            UnaryOp::Freeze
                | UnaryOp::Sqrt
                | UnaryOp::SpaceOf
                | UnaryOp::Round
                | UnaryOp::FpToSiSat
                | UnaryOp::FpToUiSat
        ),
        InstData::Binary { op, .. } => !matches!(
            op,
            BinaryOp::Udiv | BinaryOp::Sdiv | BinaryOp::Urem | BinaryOp::Srem | BinaryOp::Fdiv | BinaryOp::Frem
        ),
        InstData::Ternary { op, .. } => *op == TernaryOp::Select,
        InstData::Icmp { .. } | InstData::Fcmp { .. } | InstData::PtrAdd { .. } => true,
        _ => false,
    }
}
