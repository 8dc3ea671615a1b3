//! Counts what lanes do in divergent loops, and in those around loops in which lanes may be idle.
//!
//! Requires: a function in normal form, and what diverges in it.
//! Ensures: normal form. Each lane counts its iterations of the loop, and behind the loop they are added to the loop's counters in the
//! launch record. Nothing else of the kernel depends on that.
//! Phases: loops that can be counted; per loop a counter from its header to its exit.
//! Source: Bulavintsev 2019, section III, whose equation (1) needs the same counts.
//!
//! ```text
//! pre:      jump head(v…)              pre:      jump head(v…, 0)
//! head(i…): …                    =>    head(i…, n):  …  m = add n, 1
//! latch:    jump head(w…)              latch:    jump head(w…, m)
//! exiting:  br c, exit(x…), …          exiting:  br c, exit(x…, m), …
//! exit(x…): …                          exit(x…, s):  count_iterations k, s  …
//! ```

use crate::analysis::divergence::Divergence;
use crate::analysis::loops::{Loop, LoopData};
use crate::analysis::predicates::ControlFlow;
use crate::ir::*;
use crate::transform::loop_flattening::are_lanes_idle;
use crate::transform::per_lane_loops::{Ends, check_for_one_lane};
use lockstep_protocol::types::Type;

/// A loop that can be counted.
pub struct CountableLoop {
    /// The block through which it is entered, by which versions of the loop know it.
    pub header: Block,
    /// The block behind it, to which only the loop leads.
    exit: Block,
    blocks: Vec<Block>,
}

/// The loops of a function by whose counts others may be made of them, outer ones first: divergent ones, those in others that only some lanes
/// enter, and those that have such a loop in them. A lane can run each of them alone, with the same bits.
pub fn find_countable_loops(function: &Function, divergence: &Divergence) -> Vec<CountableLoop> {
    let control_flow = ControlFlow::analyze_function(function);
    let (flow_graph, loop_forest) = (&control_flow.cfg, &control_flow.loops);
    let idle_loops: Vec<Loop> = loop_forest
        .iter()
        .map(|(loop_id, _)| loop_id)
        .filter(|&loop_id| are_lanes_idle(&control_flow, divergence, loop_id))
        .collect();
    let is_wanted = |&(loop_id, _): &(Loop, &LoopData)| {
        let has_idle_loop = || idle_loops.iter().any(|&inner| loop_forest.get(inner).parent == Some(loop_id));
        divergence.divergent_loops.contains(loop_id) || idle_loops.contains(&loop_id) || has_idle_loop()
    };
    let mut countable_loops = Vec::new();
    for (loop_id, LoopData { header, blocks, .. }) in loop_forest.iter().filter(is_wanted) {
        let ends = check_for_one_lane(function, flow_graph, loop_forest, divergence, loop_id);
        let leads_to = |exit: Block| flow_graph.predecessors(exit).iter().all(|block| blocks.contains(block));
        let mut instructions = blocks.iter().flat_map(|&block| &function.blocks[block].insts);
        let has_same_bits = instructions.all(|&instruction| has_same_bits_alone(&function.insts[instruction].data));
        if let Some(Ends { exit, .. }) = ends.ok().filter(|ends| has_same_bits && leads_to(ends.exit)) {
            countable_loops.push(CountableLoop { header: *header, exit, blocks: blocks.clone() });
        }
    }
    countable_loops
}

/// Whether a lane alone gets the same bits as in its gang: gangs take estimates for roots (`codegen/vector/newton_raphson.rs`).
fn has_same_bits_alone(inst_data: &InstData) -> bool {
    !matches!(inst_data, InstData::Unary { opcode: UnaryOp::Rsqrt, .. })
}

impl CountableLoop {
    /// Counts the loop's iterations in the counters of this number.
    pub fn count_iterations(&self, function: &mut Function, loop_number: u32) {
        let CountableLoop { header, exit, blocks } = self;
        let [zero, one] = [0, 1].map(|number| function.constant(Type::I32, number));
        let before = function.add_param(*header, Type::I32);
        let after = Builder::at_end_of(function, *header).binary(BinaryOp::Add, before, one);
        for block in function.layout.clone() {
            let is_inside = blocks.contains(&block);
            for target in function.blocks[block].terminator.targets_mut() {
                if target.block == *header {
                    target.arguments.push(if is_inside { after } else { zero });
                } else if target.block == *exit {
                    target.arguments.push(after);
                }
            }
        }
        let argument = function.add_param(*exit, Type::I32);
        let count = InstData::CountIterations { loop_number, argument };
        let instruction = function.make_inst(count, &[], SourceLoc::default());
        function.blocks[*exit].insts.insert(0, instruction);
    }
}
