//! What the report says about control flow and private variables.

use super::RegionPlan;
use super::value_form::Form;
use super::widening::Widening;
use crate::analysis::cfg::build_cfg;
use crate::analysis::divergence::Divergence;
use crate::analysis::dominators::compute_dominators;
use crate::analysis::loops::{LoopData, find_loops};
use crate::ir::{Block, Function, Inst, InstData, Kernel, SlotLayout, SourceLoc, Terminator, Value, ValueDef};
use crate::report::{Note, Notes};
use crate::transform::boscc::Refusal;
use crate::transform::scalar_replacement::LoadOutcome;
use cranelift_entity::EntitySet;
use lockstep_protocol::scalar_replacement::ScalarReplacement;

/// A region's branches and loops before it is linearized.
pub struct Control {
    branches: Vec<FoundBranch>,
    loops: Vec<FoundLoop>,
}

struct FoundBranch {
    block: Block,
    location: SourceLoc,
    kind: &'static str,
    divergent: bool,
}

struct FoundLoop {
    location: SourceLoc,
    /// The branch at which lanes part; none: they do not.
    parts: Option<SourceLoc>,
    divergent: bool,
    carried: Vec<Value>,
}

impl Control {
    /// The branches and loops of a function in normal form, given what is divergent. Without, everything is
    /// taken to be.
    pub fn of_function(function: &Function, found: Option<&Divergence>) -> Control {
        let flow_graph = build_cfg(function);
        let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
        let divergent = |block: Block| found.is_none_or(|divergence| divergence.divergent_branches.contains(block));
        let mut branches = Vec::new();
        for &block in flow_graph.reverse_post_order() {
            let kind = match function.blocks[block].terminator {
                Terminator::Switch { .. } => "switch",
                Terminator::Branch { .. } => "branch",
                _ => continue,
            };
            branches.push(FoundBranch {
                block,
                location: branch_place(function, block),
                kind,
                divergent: divergent(block),
            });
        }
        let mut found_loops = Vec::new();
        for (loop_id, loop_data) in loop_forest.iter() {
            let is_divergent = found.is_none_or(|divergence| divergence.divergent_loops.contains(loop_id));
            let leaves = |&&other_block: &&Block| {
                divergent(other_block) && loop_data.exits.iter().any(|&(source, _)| source == other_block)
            };
            let parts_lanes = |&&other_block: &&Block| {
                divergent(other_block) && function.blocks[other_block].terminator.selector().is_some()
            };
            let blocks = || loop_data.blocks.iter();
            let branch = blocks().find(leaves).or_else(|| blocks().find(parts_lanes)).filter(|_| is_divergent);
            found_loops.push(FoundLoop {
                location: loop_place(function, loop_data),
                parts: branch.map(|&block| branch_place(function, block)),
                divergent: is_divergent,
                carried: function.blocks[loop_data.header].params.clone(),
            });
        }
        Control { branches, loops: found_loops }
    }

    /// Notes what became of them in the linearized function.
    pub fn note_outcome(self, function: &Function, plan: &RegionPlan, notes: &Notes) {
        for FoundBranch { block, location, kind, divergent } in self.branches {
            let class = if divergent { "divergent" } else { "uniform" };
            // What a divergent branch leads to may have copies for lanes that agree, but no such branch stays.
            let stays_uniform = !divergent && function.blocks[block].terminator.selector().is_some();
            let detail = if stays_uniform { "stays a branch" } else { "folded" };
            notes.add_note(|| Note { location, kind, class: class.into(), masked: false, detail: detail.into() });
        }
        for l in self.loops {
            let class = if l.divergent { "divergent" } else { "uniform" };
            let scalars = l.carried.iter().filter(|&&value| plan.form_of(function, value) != Form::Vector).count();
            let mut detail =
                format!("carries {} and {}", counted(scalars, "scalar"), counted(l.carried.len() - scalars, "vector"));
            match l.parts {
                Some(SourceLoc { line, column }) if line != 0 => {
                    detail.insert_str(0, &format!("lanes part at {line}:{column}, "));
                }
                _ => {}
            }
            notes.add_note(|| Note { location: l.location, kind: "loop", class: class.into(), masked: false, detail });
        }
    }
}

/// Notes which costly arms stand behind a gate, and why others run although no lane may want them.
pub fn note_gates(function: &Function, arms: &[(Block, Result<(), Refusal>)], notes: &Notes) {
    for &(first_block, gate) in arms {
        let instructions = &function.blocks[first_block].insts;
        let location = instructions
            .iter()
            .map(|&instruction| function.insts[instruction].location)
            .find(|location| location.line != 0)
            .unwrap_or_default();
        let (class, detail) = match gate {
            Ok(()) => ("put", "skipped where no lane comes".to_owned()),
            Err(refusal) => ("none", format!("runs for every gang: {refusal}")),
        };
        notes.add_note(|| Note { location, kind: "gate", class: class.into(), masked: false, detail });
    }
}

/// Notes which loads make way for values, and why others stay whose results some path knows.
pub fn note_replaced_loads(form: ScalarReplacement, outcomes: &[LoadOutcome], notes: &Notes) {
    for &LoadOutcome { location, result } in outcomes {
        let (class, detail) = match result {
            Ok(0) => ("register", format!("left by an earlier access ({})", form.name())),
            Ok(inserted) => {
                let loads = counted(inserted as usize, "load");
                ("register", format!("left by an earlier access, or by {loads} more on other paths ({})", form.name()))
            }
            Err(reason) => ("memory", format!("loaded again: {reason}")),
        };
        notes.add_note(|| Note { location, kind: "reuse", class: class.into(), masked: false, detail });
    }
}

/// Notes that one work-item after the other runs a region.
pub fn note_scalar(function: &Function, notes: &Notes) {
    // What ids are computed of may stand far before the barrier.
    let accesses = |&&instruction: &&Inst| {
        matches!(function.insts[instruction].data, InstData::Load { .. } | InstData::Store { .. })
    };
    let instructions = function.layout.iter().flat_map(|&block| &function.blocks[block].insts).filter(accesses);
    let location = instructions
        .map(|&instruction| function.insts[instruction].location)
        .filter(|location| location.line != 0)
        .min_by_key(|location| (location.line, location.column));
    let location = location.unwrap_or_default();
    let detail = "one work-item after the other up to the next barrier: gangs are expected to cost more".to_owned();
    notes.add_note(|| Note { location, kind: "region", class: "scalar".into(), masked: false, detail });
}

/// Notes how the lanes' copies of each private variable lie.
pub fn note_private_layout(kernel: &Kernel, widening: &Widening, notes: &Notes) {
    if !notes.are_wanted() {
        return;
    }
    let (mut visited, mut shared) = (EntitySet::new(), EntitySet::new());
    for (region, function) in &kernel.regions {
        for instruction in function.layout.iter().flat_map(|&block| &function.blocks[block].insts) {
            let inst_node = &function.insts[*instruction];
            if let InstData::SlotAddr { slot } = inst_node.data {
                visited.insert(slot);
                if widening.regions[region].shapes[inst_node.results[0]].is_uniform() {
                    shared.insert(slot);
                }
            }
        }
    }
    for (slot, slot_data) in kernel.slots.iter().filter(|&(slot, _)| visited.contains(slot)) {
        let (class, copies) = match (shared.contains(slot), slot_data.layout) {
            (true, _) | (_, SlotLayout::Shared) => ("uniform", "one for all lanes".to_owned()),
            (false, SlotLayout::Apart) => ("apart", "one lane's behind the other's".to_owned()),
            (false, SlotLayout::Interleaved { element, .. }) => ("interleaved", format!("elements of {element} bytes")),
        };
        let detail = format!("{} bytes, {copies}", slot_data.size);
        let location = SourceLoc::default();
        notes.add_note(|| Note { location, kind: "private", class: class.into(), masked: false, detail });
    }
}

fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Where a branch is, or else its condition.
pub(super) fn branch_place(function: &Function, block: Block) -> SourceLoc {
    let block_data = &function.blocks[block];
    let condition =
        || block_data.terminator.selector().map(|value| value_place(function, value, 4)).unwrap_or_default();
    if function.end_locs[block].line != 0 { function.end_locs[block] } else { condition() }
}

/// Where a value is computed, or what it is computed of.
fn value_place(function: &Function, value: Value, depth: u32) -> SourceLoc {
    let ValueDef::Result(instruction, _) = function.values[value].definition else { return SourceLoc::default() };
    let inst_node = &function.insts[instruction];
    let mut location = inst_node.location;
    inst_node.data.for_each_arg(|argument| {
        if location.line == 0 && depth > 0 {
            location = value_place(function, argument, depth - 1);
        }
    });
    location
}

/// Where a loop asks whether to go on: at its head, or the last place where it may be left.
pub(super) fn loop_place(function: &Function, loop_data: &LoopData) -> SourceLoc {
    let leaves_at_header = |&&(source, _): &&(Block, Block)| source == loop_data.header;
    let exit = loop_data.exits.iter().find(leaves_at_header).or(loop_data.exits.last()).map(|&(source, _)| source);
    let location = exit.map(|block| branch_place(function, block)).unwrap_or_default();
    let instructions = loop_data.blocks.iter().flat_map(|&block| &function.blocks[block].insts);
    let locations = instructions
        .map(|&instruction| function.insts[instruction].location)
        .filter(|location_inside| location_inside.line != 0);
    if location.line != 0 {
        location
    } else {
        locations.min_by_key(|location_inside| (location_inside.line, location_inside.column)).unwrap_or_default()
    }
}
