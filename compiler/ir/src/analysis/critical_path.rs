//! How long gangs take whose instructions wait for one another.
//!
//! A processor has only so many instructions under way. Where the ones of a gang are as many, it does not reach the next
//! gang while a result is on its way: the gang takes the latencies along its longest chain, and registers for other lanes
//! of the same values would be computed beside them.
//!
//! Requires: normal form; the shapes of a gang's values and what its blocks cost.
//! Ensures: numbers to compare with each other. They decide what is done, never what comes out.
//! Phases: the blocks that run every time, of each innermost loop or of the function; the longest chain through them; the
//! part of it that passes while as many operations as can be under way are.
//! Source: textbook (Little's law); what `cargo xtask bench math` measured at several widths.

use super::cfg::Cfg;
use super::cost::{VECTOR, estimate_frequency};
use super::dominators::compute_dominators;
use super::loops::Loops;
use super::recurrence::{CYCLE, is_innermost, operation_latency};
use super::shape::Shape;
use crate::ir::{Block, Function, Terminator, Value};
use cranelift_entity::SecondaryMap;
use std::collections::HashMap;

/// Operations on vector registers that are under way at once, fitted to which functions gain from twice the lanes (Zen 5).
pub(crate) const WINDOW: u64 = 100;

/// What a gang takes for the rounds of its innermost loops, or for the whole function if it has none, without the blocks
/// that run at times only.
pub fn steady_state_cost(
    function: &Function,
    flow_graph: &Cfg,
    loop_forest: &Loops,
    shapes: &SecondaryMap<Value, Shape>,
    cost: &SecondaryMap<Block, u64>,
) -> u64 {
    let dominators = compute_dominators(flow_graph);
    let cost_of = |blocks: &[Block], last_block: Block| {
        let always: Vec<Block> =
            blocks.iter().copied().filter(|&block| dominators.dominates(block, last_block)).collect();
        let cost = always.iter().map(|&block| cost[block]).fold(0, u64::saturating_add);
        least_chain_cost(function, &always, Some(shapes), cost / VECTOR).max(cost)
    };
    let innermost = loop_forest.iter().filter(|&(loop_id, _)| is_innermost(loop_forest, loop_id));
    let rounds = innermost.filter_map(|(_, loop_data)| {
        let round = cost_of(&loop_data.blocks, *loop_data.latches.last()?);
        Some(estimate_frequency(loop_forest, loop_data.header).saturating_mul(round))
    });
    let returns = |block: Block| matches!(function.blocks[block].terminator, Terminator::Return);
    let whole = || {
        let last = flow_graph.reverse_post_order().iter().find(|&&block| returns(block));
        last.map_or(0, |&last_block| cost_of(flow_graph.reverse_post_order(), last_block))
    };
    if loop_forest.iter().next().is_some() { rounds.fold(0, u64::saturating_add) } else { whole() }
}

/// What blocks that run every time take at least if they are so many operations: the part of their longest chain that
/// passes while as many operations as can be under way are. In a gang, whose values have these shapes, or for one
/// work-item.
pub fn least_chain_cost(
    function: &Function,
    always: &[Block],
    shapes: Option<&SecondaryMap<Value, Shape>>,
    operations: u64,
) -> u64 {
    let cycles = longest_chain(function, always, shapes).saturating_mul(operations) / operations.max(WINDOW);
    cycles.saturating_mul(CYCLE)
}

/// The cycles of the longest chain of values that lanes have of their own, or of all values for one work-item.
pub(crate) fn longest_chain(function: &Function, blocks: &[Block], shapes: Option<&SecondaryMap<Value, Shape>>) -> u64 {
    // Of the values of these blocks alone: there may be thousands of loops.
    let mut chain_ends: HashMap<Value, u64> = HashMap::new();
    let mut longest = 0;
    for &block in blocks {
        for &instruction in &function.blocks[block].insts {
            let inst_node = &function.insts[instruction];
            if shapes.is_some_and(|shapes| !inst_node.results.iter().any(|&result| shapes[result].is_varying())) {
                continue;
            }
            let mut before = 0;
            inst_node.data.for_each_arg(|argument| before = before.max(chain_end_of(&chain_ends, argument)));
            let chain_end = before + operation_latency(function, instruction, shapes);
            chain_ends.extend(inst_node.results.iter().map(|&result| (result, chain_end)));
            longest = longest.max(chain_end);
        }
        for target in function.blocks[block].terminator.targets() {
            for (&argument, &parameter) in target.arguments.iter().zip(&function.blocks[target.block].params) {
                let chain_end = chain_end_of(&chain_ends, argument).max(chain_end_of(&chain_ends, parameter));
                chain_ends.insert(parameter, chain_end);
            }
        }
    }
    longest
}

/// The cycles of the longest chain that ends with a value; 0 for values of other blocks.
fn chain_end_of(chain_ends: &HashMap<Value, u64>, value: Value) -> u64 {
    chain_ends.get(&value).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::cfg::build_cfg;
    use crate::analysis::divergence::{Facts, analyze_divergence};
    use crate::analysis::loops::find_loops;
    use crate::ir::parse_module;
    use std::fmt::Write;

    /// What a gang takes for a kernel of so many products, each of the one before or all of the same numbers, if its blocks
    /// cost as many vector operations as they have instructions; and that cost.
    fn of(products: u64, chained: bool, branch: &str) -> (u64, u64) {
        let mut text = "kernel \"k\" {\n args 8\n param \"a\" pointer.global \"float*\" size 8 align 8 offset 0\n \
                        input value(0, 0): ptr.global\n region r0 {\n b0(v0: ptr.global):\n v1: i64 = query.global_id 0\n \
                        v2: i64 = mul v1, 4\n v3: ptr.global = ptradd v0, v2\n v4: f32 = load v3 align 4\n"
            .to_owned();
        for product in 0..products {
            let before = if chained { 4 + product } else { 4 };
            writeln!(text, " v{}: f32 = fmul v{before}, v4", 5 + product).unwrap();
        }
        text += branch;
        let module = parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let (kernel, gang_facts) = (&module.kernels[0], Facts::new(&module, &module.kernels[0], 16));
        let function = kernel.regions.values().next().unwrap();
        let flow_graph = build_cfg(function);
        let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
        let shapes = analyze_divergence(function, &gang_facts, &flow_graph, &loop_forest).shapes;
        let mut cost: SecondaryMap<Block, u64> = SecondaryMap::new();
        function.layout.iter().for_each(|&block| cost[block] = VECTOR * function.blocks[block].insts.len() as u64);
        (steady_state_cost(function, &flow_graph, &loop_forest, &shapes, &cost), cost[function.layout[0]])
    }

    const END: &str = " return\n }\n}\n";

    #[test]
    fn what_does_not_wait_takes_what_it_costs() {
        let (takes, cost) = of(200, false, END);
        assert_eq!(takes, cost);
    }

    #[test]
    fn a_chain_as_long_as_what_is_under_way_takes_its_latencies() {
        let (takes, cost) = of(200, true, END);
        assert_eq!(cost, VECTOR * 204);
        // A load and 200 products of four cycles.
        assert_eq!(takes, CYCLE * (20 + 200 * 4));
    }

    #[test]
    fn other_gangs_are_under_way_beside_a_short_chain() {
        let (takes, cost) = of(20, true, END);
        assert_eq!(takes, CYCLE * ((20 + 20 * 4) * 24 / WINDOW));
        assert!(takes > cost);
    }

    #[test]
    fn what_runs_at_times_does_not_count() {
        let mut seldom = " v900: i1 = fcmp.olt v4, v4\n br v900, b1, b2\n b1:\n".to_owned();
        for product in 0..100 {
            let before = if product == 0 { 4 } else { 900 + product };
            writeln!(seldom, " v{}: f32 = fmul v{before}, v4", 901 + product).unwrap();
        }
        seldom += " jump b2\n b2:\n return\n }\n}\n";
        let (takes, cost) = of(200, false, &seldom);
        assert_eq!(takes, cost);
    }
}
