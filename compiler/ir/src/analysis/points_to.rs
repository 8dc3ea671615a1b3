//! Which private slots an address may point into.
//!
//! Requires: a verified region.
//! Ensures: an address computed from that of a slot has the slot among its pointees, unless it went through
//! memory, a kept value or a number; one that may come from anywhere else is marked so.
//! Phases: a fixed point over everything that passes addresses on.
//! Source: Moll 2021, 6.5.2 (`aliased_allocas`), without regard to the order of instructions.

use crate::ir::{BlockCall, Function, InstData, Slot, TernaryOp, UnaryOp, Value};
use cranelift_entity::SecondaryMap;
use std::collections::BTreeSet;

/// What one address may point into.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Pointees {
    /// The private slots it may point to.
    pub slots: BTreeSet<Slot>,
    /// Also other memory.
    pub other: bool,
}

impl Pointees {
    fn add(&mut self, other: &Pointees) -> bool {
        let before = (self.slots.len(), self.other);
        self.slots.extend(&other.slots);
        self.other |= other.other;
        before != (self.slots.len(), self.other)
    }
}

/// The pointees of each value of a region. Constants point nowhere.
pub fn find_pointees(function: &Function) -> SecondaryMap<Value, Pointees> {
    let mut pointees: SecondaryMap<Value, Pointees> = SecondaryMap::new();
    function.blocks[function.entry_block()].params.iter().for_each(|&parameter| pointees[parameter].other = true);
    // Where addresses go: from, to.
    let mut flows: Vec<(Value, Value)> = Vec::new();
    for &block in &function.layout {
        for &instruction in &function.blocks[block].insts {
            let inst_node = &function.insts[instruction];
            match inst_node.data {
                InstData::SlotAddr { slot } => {
                    pointees[inst_node.results[0]].slots.insert(slot);
                }
                ref inst_data if !passed_on(inst_data).is_empty() => {
                    flows.extend(passed_on(inst_data).into_iter().map(|argument| (argument, inst_node.results[0])));
                }
                _ => inst_node.results.iter().for_each(|&result| pointees[result].other = true),
            }
        }
        for BlockCall { block, arguments } in function.blocks[block].terminator.targets() {
            flows.extend(arguments.iter().copied().zip(function.blocks[*block].params.iter().copied()));
        }
    }
    flows.retain(|&(_, target)| function.ty(target).is_ptr());
    let mut changed = true;
    while changed {
        changed = false;
        for &(source_pointees, target) in &flows {
            let source_pointees = pointees[source_pointees].clone();
            changed |= pointees[target].add(&source_pointees);
        }
    }
    pointees
}

/// The operands of which the result may be the address, or that of the same object.
pub fn passed_on(inst_data: &InstData) -> Vec<Value> {
    match *inst_data {
        InstData::PtrAdd { base, .. } => vec![base],
        InstData::Unary { opcode: UnaryOp::SpaceCast | UnaryOp::Freeze, argument, .. } => vec![argument],
        InstData::Ternary { opcode: TernaryOp::Select, arguments: [_, left, right], .. } => vec![left, right],
        _ => Vec::new(),
    }
}
