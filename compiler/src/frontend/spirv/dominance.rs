//! Dominance: whether a value was computed on every path to the instruction that uses it.
//!
//! A use in the block of its definition needs no check, as values are defined before they are used in the order of the module. Every other use
//! is noted with its place, and judged when the function ends and all its jumps are known. Blocks that no path reaches may use whatever
//! they like, as LLVM lets them.
//!
//! The time is that of a dominator tree, O(m log n) for n blocks with m jumps: a module is hostile until proved otherwise.
//!
//! Source: the SPIR-V specification, 2.16.1 (universal validation rules).

use lockstep_ir::analysis::dominator_tree::build_dominator_tree;

use super::error::{Attempt, Fault, Place};
use super::ids::{Id, IdMap};

/// The use of a value in another block than the one that computes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    pub value: Id,
    /// The label of the block that computes the value.
    pub definition: Id,
    /// The label of the block at whose end, or in which, the value has to be there.
    pub block: Id,
    /// The instruction that uses it.
    pub place: Place,
}

/// Refuses the first use of a value that was not computed on every path to it. `entry` is the label of the function's first block; `labels`
/// are those of all blocks, and `jumps` lead from one to another.
pub(super) fn check_uses(
    entry: Id,
    labels: impl Iterator<Item = Id>,
    jumps: impl Iterator<Item = (Id, Id)>,
    uses: &[Use],
) -> Attempt<()> {
    if uses.is_empty() {
        return Ok(());
    }
    let mut nodes = IdMap::default();
    nodes.insert(entry, 0);
    for label in labels {
        let next = nodes.len() as u32;
        nodes.entry(label).or_insert(next);
    }
    let edges: Vec<(u32, u32)> = jumps.filter_map(|(from, to)| Some((*nodes.get(&from)?, *nodes.get(&to)?))).collect();
    let tree = build_dominator_tree(nodes.len(), &edges);
    for &Use { value, definition, block, place } in uses {
        let (Some(&from), Some(&to)) = (nodes.get(&definition), nodes.get(&block)) else { continue };
        if tree.is_reachable(to) && !tree.dominates(from, to) {
            let sentence =
                format!("%{value} was not computed on every path to it: %{definition} does not dominate %{block}");
            return Err(Fault { sentence, place: Some(place) });
        }
    }
    Ok(())
}
