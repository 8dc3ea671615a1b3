//! Kernels in which folding branches makes too much code.
//!
//! Requires: regions in normal form.
//! Ensures: how many values lanes would choose where their ways meet, if they are more than compiling can be kept waiting
//! for; so kernels of ordinary size are never refused.
//! Phases: all edges to blocks with several ways in, times the parameters; only where these are too many, what diverges.
//! Source: measured. A password cracker's `switch` over the offset of what it appends has 2,000 ways to a block of 33
//! parameters: of 11,700 lines of our IR linearization makes 110,000, 78,000 of them selects, and gangs run all ways
//! where a work-item runs one.

use super::{Gangs, WIDTHS, analyse};
use crate::analysis::cfg::{Cfg, cfg};
use crate::analysis::divergence::Facts;
use crate::analysis::dominators::dominators;
use crate::analysis::loops::loops;
use crate::ir::{Block, Function, Kernel, Module};
use crate::launch_facts::LaunchFacts;
use crate::layout::Layout;

/// The values that lanes may choose in a kernel.
const MOST_SELECTS: u64 = 12_000;

/// How many values lanes would choose in gangs, if they are too many.
pub(super) fn count_excessive_selects(
    module: &Module,
    kernel: &Kernel,
    gangs: Gangs,
    bits: u32,
    launch: &LaunchFacts,
) -> Option<u64> {
    let at_most: u64 = kernel.regions.values().map(|body| count_selects(body, |_| true)).sum();
    if at_most <= MOST_SELECTS {
        return None;
    }
    let width = (bits / 32).max(WIDTHS[0]);
    let layout = gangs.layout.unwrap_or(Layout::X);
    let facts = Facts::new(module, kernel, width).laid_out(layout).of_launch(kernel, launch).of_kernel(kernel);
    let diverging = |body: &Function| {
        let found = analyse(body, &facts);
        count_selects(body, |block| found.joins.contains(block))
    };
    let selects = kernel.regions.values().map(diverging).sum();
    (selects > MOST_SELECTS).then_some(selects)
}

/// The values that lanes choose at certain blocks: for each parameter one less than there are ways in. Parameters of loop
/// headers stay parameters.
fn count_selects(body: &Function, counts: impl Fn(Block) -> bool) -> u64 {
    let graph: Cfg = cfg(body);
    let forest = loops(&graph, &dominators(&graph));
    let joins = graph.rpo().iter().filter(|&&block| forest.with_header(block).is_none() && counts(block));
    let selects = |&block: &Block| {
        let ways = graph.preds(block).len() as u64;
        ways.saturating_sub(1) * body.blocks[block].params.len() as u64
    };
    joins.map(selects).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse_module;
    use crate::transform::normalize::normalize;
    use crate::widen::{Configuration, Gangs};
    use std::fmt::Write;

    /// A chain of branches over the id, or over an argument, to one block with many parameters.
    fn kernel_with_ways(ways: usize, params: usize, selector: &str) -> Module {
        let mut text = String::from(
            "kernel \"k\" {\n  args 4\n  param \"a\" value \"int\" size 4 align 4 offset 0\n  input value(0, 0): i32\n  region r0 {\n  b0(v0: i32):\n",
        );
        let _ = writeln!(text, "    v1: i64 = query.global_id 0\n    v2: i32 = {selector}");
        let cases: Vec<String> = (1..ways).map(|i| format!("{i}: b{}", i + 2)).collect();
        let _ = writeln!(text, "    switch v2 [{}] default b2", cases.join(", "));
        let names: Vec<String> = (0..params).map(|i| format!("v{}: i32", 10 + i)).collect();
        let _ = writeln!(text, "  b1({}):\n    return", names.join(", "));
        for i in 0..ways {
            let args: Vec<String> = (0..params).map(|j| format!("{}:i32", i * params + j)).collect();
            let _ = writeln!(text, "  b{}:\n    jump b1({})", i + 2, args.join(", "));
        }
        text.push_str("  }\n}\n");
        let mut module = parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        module.kernels[0].regions.values_mut().for_each(normalize);
        module
    }

    fn refused(module: &Module) -> Option<u64> {
        let gangs = Gangs { configuration: Configuration::UniCf, ..Gangs::default() };
        count_excessive_selects(module, &module.kernels[0], gangs, 512, &LaunchFacts::default())
    }

    #[test]
    fn many_divergent_ways_to_many_parameters_are_refused() {
        assert_eq!(refused(&kernel_with_ways(500, 33, "trunc v1")), Some(499 * 33));
        assert_eq!(refused(&kernel_with_ways(20, 33, "trunc v1")), None, "of ordinary size");
        assert_eq!(refused(&kernel_with_ways(500, 33, "add v0, 1")), None, "all lanes go one way");
    }
}
