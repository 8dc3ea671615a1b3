//! Which values each region finds in live slots, and which it computes again.
//!
//! Requires: the kernel's code split behind its barriers, with liveness.
//! Ensures: each value that a region needs from earlier ones is either kept for it in a slot of the
//! value's type, alone there at that barrier, or an instruction's result that can be computed from kept
//! values and what every region has.
//! Phases: what computing each value again takes; a choice per barrier; slots by colouring, values that are the same for all work-items apart from others.
//! Source: Karrenberg & Hack 2012, section 2.3 (live values); the choice is ours.
//!
//! At a barrier, a value is computed again if that takes a few cheap operations from what every region
//! has (inputs, queries, addresses of variables) or from values that are kept there anyway. Dominance
//! makes this consistent: where a value is live, the values it was computed from still are what they
//! were then, because redefining one of them on the way here would lead past the value's definition
//! again.

use super::cuts::Start;
use super::split::Split;
use crate::ir::{BinaryOp, Inst, InstData, Kernel, LiveData, LiveSlot, Query, TernaryOp, UnaryOp, Value, ValueDef};
use cranelift_entity::{PrimaryMap, SecondaryMap};
use lockstep_protocol::parameters::Input;
use lockstep_protocol::types::Type;
use std::collections::BTreeSet;

/// Operations that computing a value again from what every region has may take: most of them are the
/// same for all work-items, or grow by a constant from one to the next.
const FROM_NOTHING: usize = 12;
/// Operations that computing a value again from kept values may take, instead of a load and a store.
const FROM_KEPT: usize = 6;

/// What is kept where.
pub(super) struct Plan {
    /// The live slots.
    pub slots: PrimaryMap<LiveSlot, LiveData>,
    /// The slot of each value that some region keeps.
    pub slot: SecondaryMap<Value, Option<LiveSlot>>,
    /// The values that work-items find in their slots where they start, in the order of their definitions.
    pub kept: SecondaryMap<Start, Vec<Value>>,
    /// The slots that a region of several starts may read at its begin though only some of the starts need what is there:
    /// work-items store something in them before.
    pub partly: Vec<LiveSlot>,
}

/// Decides for every barrier what is kept, then gives slots to the values.
pub(super) fn plan_live_values(kernel: &Kernel, split: &Split) -> Plan {
    let kept = choose_kept(kernel, split);
    let together = split.cuts.together.values().map(|&value_type| LiveData { ty: value_type, shared: false });
    let start_slot = split.start_slot().map(|_| LiveData { ty: Type::I32, shared: true });
    let mut slots: PrimaryMap<LiveSlot, LiveData> = together.chain(start_slot).collect();
    let taken_by_others = slots.len();
    // By slot: whether it is for values that may differ between work-items.
    let mut varies: SecondaryMap<LiveSlot, bool> = SecondaryMap::new();
    let by_data = varying_by_data(split);
    let mut slot: SecondaryMap<Value, Option<LiveSlot>> = SecondaryMap::new();
    let mut starts_of: SecondaryMap<Value, Vec<Start>> = SecondaryMap::new();
    for (start, values) in kept.iter() {
        values.iter().for_each(|&value| starts_of[value].push(start));
    }
    // By slot: the starts at which a value is in it.
    let mut taken: SecondaryMap<LiveSlot, SecondaryMap<Start, bool>> = SecondaryMap::new();
    let kept_values = split.body.values.keys().filter(|&value| !starts_of[value].is_empty()).collect();
    for value in in_order(split, kept_values) {
        let value_type = split.body.ty(value);
        let free = slots.iter().skip(taken_by_others).find(|&(candidate, live_data)| {
            let taken = || starts_of[value].iter().any(|&start| taken[candidate][start]);
            live_data.ty == value_type && varies[candidate] == by_data[value] && !taken()
        });
        let chosen = match free {
            Some((slot, _)) => slot,
            None => slots.push(LiveData { ty: value_type, shared: false }),
        };
        varies[chosen] = by_data[value];
        slot[value] = Some(chosen);
        starts_of[value].iter().for_each(|&start| taken[chosen][start] = true);
    }
    let partly = partly_needed(split, &kept).into_iter().filter_map(|value| slot[value]).collect::<BTreeSet<_>>();
    Plan { slots, slot, kept, partly: partly.into_iter().collect() }
}

/// Decides for every start what is kept. A value that a region of several starts computes again is so for all of them, as
/// there is one definition at the region's begin; it is kept for all at which it is live otherwise.
fn choose_kept(kernel: &Kernel, split: &Split) -> SecondaryMap<Start, Vec<Value>> {
    let mut kept: SecondaryMap<Start, Vec<Value>> = SecondaryMap::new();
    for starts in split.regions.starts.values().skip(1) {
        let mut live: Vec<(Value, Start)> = Vec::new();
        for &start in starts {
            live.extend(split.liveness.live_in(split.cuts.starts[start]).map(|value| (value, start)));
        }
        live.sort_by_key(|&(value, start)| (split.order[value], start));
        let mut kept_here: SecondaryMap<Value, bool> = SecondaryMap::new();
        for at in live.chunk_by(|left, right| left.0 == right.0) {
            let is_kept_again =
                |&(value, start): &(Value, Start)| Again::new(kernel, split, start, &kept_here).add_needed(value);
            if !at.iter().all(is_kept_again) {
                kept_here[at[0].0] = true;
                at.iter().for_each(|&(value, start)| kept[start].push(value));
            }
        }
    }
    kept
}

/// The values that are kept for some of their region's starts and not for others.
fn partly_needed(split: &Split, kept: &SecondaryMap<Start, Vec<Value>>) -> Vec<Value> {
    let mut partly_needed_values = Vec::new();
    for starts in split.regions.starts.values() {
        let mut values: Vec<Value> = starts.iter().flat_map(|&start| &kept[start]).copied().collect();
        values.sort();
        partly_needed_values.extend(
            values.chunk_by(|left, right| left == right).filter(|same| same.len() < starts.len()).map(|same| same[0]),
        );
    }
    partly_needed_values
}

/// The values that may differ between the work-items of a group, by what they are computed from. The branches that
/// lead to them are not looked at: those that are the same for all are to share slots, so that a group keeps them once
/// (`uniform_live_values`), and which these are need not be known for sure here.
fn varying_by_data(split: &Split) -> SecondaryMap<Value, bool> {
    let function = &split.body;
    let mut varies: SecondaryMap<Value, bool> = SecondaryMap::new();
    let mut changed = true;
    while changed {
        changed = false;
        let mut learn = |varies: &mut SecondaryMap<Value, bool>, value: Value| {
            changed |= !std::mem::replace(&mut varies[value], true);
        };
        for &block in split.cfg.reverse_post_order() {
            for inst_node in function.blocks[block].insts.iter().map(|&instruction| &function.insts[instruction]) {
                let mut varies_here = match inst_node.data {
                    InstData::Query { query, .. } => {
                        matches!(query, Query::GlobalId | Query::LocalId | Query::LinearId)
                    }
                    InstData::SlotAddr { .. }
                    | InstData::AtomicRmw { .. }
                    | InstData::AtomicCas { .. }
                    | InstData::Clock
                    | InstData::Printf { .. } => true,
                    _ => inst_node.data.needs_lanes(),
                };
                inst_node.data.for_each_arg(|argument| varies_here |= varies[argument]);
                if varies_here {
                    inst_node.results.iter().for_each(|&result| learn(&mut varies, result));
                }
            }
            for target in function.blocks[block].terminator.targets() {
                for (&parameter, &argument) in function.blocks[target.block].params.iter().zip(&target.arguments) {
                    if varies[argument] {
                        learn(&mut varies, parameter);
                    }
                }
            }
        }
    }
    varies
}

/// Values in the order of their definitions, each behind those it is computed from.
fn in_order(split: &Split, mut values: Vec<Value>) -> Vec<Value> {
    values.sort_by_key(|&value| split.order[value]);
    values
}

/// What computing a value again takes.
struct Again<'a> {
    kernel: &'a Kernel,
    split: &'a Split,
    start: Start,
    /// The values kept so far in this start's region.
    kept: &'a SecondaryMap<Value, bool>,
    /// The instructions needed, each once.
    insts: Vec<Inst>,
    /// The operations among them.
    cost: usize,
    /// Whether a kept value is needed.
    from_kept: bool,
}

impl<'a> Again<'a> {
    fn new(kernel: &'a Kernel, split: &'a Split, start: Start, kept: &'a SecondaryMap<Value, bool>) -> Self {
        Again { kernel, split, start, kept, insts: Vec::new(), cost: 0, from_kept: false }
    }

    /// Adds what it takes to compute a value; false if that is impossible or too much.
    fn add_needed(&mut self, value: Value) -> bool {
        if self.split.input_index(value).is_some() || self.split.body.const_bits(value).is_some() {
            return true;
        }
        if self.kept[value] {
            self.from_kept = true;
            // It is in its slot only for the starts at which it is live.
            let is_live = self.split.liveness.is_live_in(value, self.split.cuts.starts[self.start]);
            return is_live && self.cost <= FROM_KEPT;
        }
        let ValueDef::Result(instruction, _) = self.split.body.values[value].definition else {
            return false;
        };
        if self.insts.contains(&instruction) {
            return true;
        }
        let inst_data = &self.split.body.insts[instruction].data;
        let Some(cost) = self.recompute_cost(inst_data) else {
            return false;
        };
        self.insts.push(instruction);
        self.cost += cost;
        let mut fits = self.cost <= if self.from_kept { FROM_KEPT } else { FROM_NOTHING };
        inst_data.for_each_arg(|argument| fits = fits && self.add_needed(argument));
        fits
    }

    /// The cost of one operation, if it gives the same result every time.
    fn recompute_cost(&self, inst_data: &InstData) -> Option<usize> {
        match inst_data {
            InstData::Query { .. }
            | InstData::SlotAddr { .. }
            | InstData::LocalAddr { .. }
            | InstData::GlobalAddr { .. } => Some(0),
            InstData::Load { pointer, access, .. } => {
                let is_repeatable = !access.volatile && access.atomic.is_none();
                (is_repeatable && in_arguments(self.kernel, self.split, *pointer)).then_some(1)
            }
            InstData::Binary { opcode, arguments, .. } => match opcode {
                BinaryOp::Udiv | BinaryOp::Sdiv | BinaryOp::Urem | BinaryOp::Srem => {
                    self.split.body.const_bits(arguments[1]).map(|_| 3)
                }
                BinaryOp::Fdiv | BinaryOp::QuotientEstimate | BinaryOp::Frem | BinaryOp::Powered => None,
                _ => Some(1),
            },
            InstData::Unary { opcode, .. } => match opcode {
                UnaryOp::Freeze | UnaryOp::Sqrt | UnaryOp::Rsqrt | UnaryOp::SpaceOf | UnaryOp::Round => None,
                UnaryOp::SpaceCast => Some(0),
                _ => Some(1),
            },
            InstData::Ternary { opcode: TernaryOp::Select, .. }
            | InstData::Icmp { .. }
            | InstData::Fcmp { .. }
            | InstData::PtrAdd { .. } => Some(1),
            _ => None,
        }
    }
}

/// Whether an address is one of bytes in the argument block, which nothing writes to.
fn in_arguments(kernel: &Kernel, split: &Split, pointer: Value) -> bool {
    if let Some(index) = split.input_index(pointer) {
        return matches!(kernel.inputs[index].0, Input::Address { .. });
    }
    match split.body.values[pointer].definition {
        ValueDef::Result(instruction, _) => match split.body.insts[instruction].data {
            InstData::PtrAdd { base, offset, .. } => {
                split.body.const_bits(offset).is_some() && in_arguments(kernel, split, base)
            }
            InstData::Unary { opcode: UnaryOp::SpaceCast, argument, .. } => in_arguments(kernel, split, argument),
            _ => false,
        },
        _ => false,
    }
}
