//! Dominance: whether a value was computed on every path to the instruction that uses it.
//!
//! A use in the block of its definition needs no check, as values are defined before they are used in the order of the module. Every other use
//! is noted with its place, and judged when the function ends and all its jumps are known. Blocks that no path reaches may use whatever
//! they like, as LLVM lets them.
//!
//! The time is O(m log n) for n blocks with m jumps: a module is hostile until proved otherwise, so the tree is not computed by
//! an iteration that is quick for usual graphs alone.
//!
//! Source: the SPIR-V specification, 2.16.1 (universal validation rules); Lengauer & Tarjan, "A Fast Algorithm for Finding
//! Dominators in a Flowgraph", 1979, section 4, in its simple form.

use super::error::{Attempt, Fault, Place};
use super::ids::{Id, IdMap};

/// What stands in a table for the node that there is none of: graphs have fewer nodes.
const NONE: u32 = u32::MAX;

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
    let mut successors = vec![Vec::new(); nodes.len()];
    for (from, to) in jumps {
        if let (Some(&from), Some(&to)) = (nodes.get(&from), nodes.get(&to)) {
            successors[from as usize].push(to);
        }
    }
    let tree = DominatorTree::of_graph(&successors);
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

/// Which nodes of a graph every path from node 0 to a node goes through.
struct DominatorTree {
    /// For each node its number in a preorder of the tree and the greatest number of what it dominates; none where no path
    /// reaches it.
    spans: Vec<Option<(u32, u32)>>,
}

impl DominatorTree {
    /// The tree of a graph that is given by each node's successors; node 0 is where paths begin.
    fn of_graph(successors: &[Vec<u32>]) -> DominatorTree {
        let search = search_depth_first(successors);
        let immediate_dominators = find_immediate_dominators(&search, successors);
        let mut spans = vec![None; successors.len()];
        for (&node, span) in search.order.iter().zip(number_tree(&immediate_dominators)) {
            spans[node as usize] = Some(span);
        }
        DominatorTree { spans }
    }

    fn is_reachable(&self, node: u32) -> bool {
        self.spans[node as usize].is_some()
    }

    /// Whether every path to `node` goes through `dominator`; false where no path reaches one of them.
    fn dominates(&self, dominator: u32, node: u32) -> bool {
        match (self.spans[dominator as usize], self.spans[node as usize]) {
            (Some((first, last)), Some((number, _))) => (first..=last).contains(&number),
            _ => false,
        }
    }
}

/// The nodes that a depth-first search meets. Elsewhere they are called by their index in its order, where node 0 is 0.
struct DepthFirstSearch {
    order: Vec<u32>,
    /// By node, its index in `order`; `NONE` where no path reaches it.
    indices: Vec<u32>,
    /// By index, the index of the node it was met from; the root's is its own.
    parents: Vec<u32>,
}

fn search_depth_first(successors: &[Vec<u32>]) -> DepthFirstSearch {
    let mut search = DepthFirstSearch { order: vec![], indices: vec![NONE; successors.len()], parents: vec![] };
    let mut unvisited = vec![(0, 0)];
    while let Some((node, parent)) = unvisited.pop() {
        if search.indices[node as usize] != NONE {
            continue;
        }
        let index = search.order.len() as u32;
        search.indices[node as usize] = index;
        search.order.push(node);
        search.parents.push(parent);
        unvisited.extend(successors[node as usize].iter().map(|&successor| (successor, index)));
    }
    search
}

/// The forest of Lengauer and Tarjan, over indices of a search.
struct Forest {
    ancestors: Vec<u32>,
    /// The node of least semidominator on the compressed path to a node.
    labels: Vec<u32>,
    semidominators: Vec<u32>,
    /// The path that is being compressed.
    path: Vec<u32>,
}

impl Forest {
    /// The node of least semidominator on the path from below the root of `node`'s tree to it. Compresses that path.
    fn find_label(&mut self, node: u32) -> u32 {
        let mut top = node;
        while self.ancestors[top as usize] != NONE {
            self.path.push(top);
            top = self.ancestors[top as usize];
        }
        // What is directly below the root keeps its label.
        self.path.pop();
        while let Some(below) = self.path.pop() {
            let ancestor = self.ancestors[below as usize];
            let (above, own) = (self.labels[ancestor as usize], self.labels[below as usize]);
            if self.semidominators[above as usize] < self.semidominators[own as usize] {
                self.labels[below as usize] = above;
            }
            self.ancestors[below as usize] = top;
        }
        self.labels[node as usize]
    }
}

/// The immediate dominator of each node that a search met, all by their indices; the root's is its own.
fn find_immediate_dominators(search: &DepthFirstSearch, successors: &[Vec<u32>]) -> Vec<u32> {
    let count = search.order.len() as u32;
    let mut predecessors = vec![Vec::new(); count as usize];
    for (index, &node) in search.order.iter().enumerate() {
        for &successor in &successors[node as usize] {
            predecessors[search.indices[successor as usize] as usize].push(index as u32);
        }
    }
    let own: Vec<u32> = (0..count).collect();
    let mut forest =
        Forest { ancestors: vec![NONE; count as usize], labels: own.clone(), semidominators: own, path: Vec::new() };
    let mut dominators = vec![0; count as usize];
    // The nodes of each semidominator whose dominator is not known.
    let mut waiting = vec![Vec::new(); count as usize];
    for node in (1..count).rev() {
        let parent = search.parents[node as usize];
        for &predecessor in &predecessors[node as usize] {
            let label = forest.find_label(predecessor);
            let semidominator = forest.semidominators[label as usize];
            let known = &mut forest.semidominators[node as usize];
            *known = semidominator.min(*known);
        }
        waiting[forest.semidominators[node as usize] as usize].push(node);
        forest.ancestors[node as usize] = parent;
        for below in std::mem::take(&mut waiting[parent as usize]) {
            let label = forest.find_label(below);
            let is_less = forest.semidominators[label as usize] < forest.semidominators[below as usize];
            dominators[below as usize] = if is_less { label } else { parent };
        }
    }
    for node in 1..count as usize {
        if dominators[node] != forest.semidominators[node] {
            dominators[node] = dominators[dominators[node] as usize];
        }
    }
    dominators
}

/// Each node's number in a preorder of the tree, and the greatest number below it. A node's index is greater than its dominator's, so
/// two sweeps suffice.
fn number_tree(immediate_dominators: &[u32]) -> Vec<(u32, u32)> {
    let count = immediate_dominators.len();
    let mut sizes = vec![1; count];
    for node in (1..count).rev() {
        sizes[immediate_dominators[node] as usize] += sizes[node];
    }
    // The number of the next child of each node.
    let mut next_numbers = vec![1; count];
    let mut spans = vec![(0, 0); count];
    for node in 0..count {
        let mut first = 0;
        if node > 0 {
            let next = &mut next_numbers[immediate_dominators[node] as usize];
            first = *next;
            *next += sizes[node];
        }
        next_numbers[node] = first + 1;
        spans[node] = (first, first + sizes[node] - 1);
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The nodes that paths from node 0 reach that do not go through `removed`.
    fn reach_without(successors: &[Vec<u32>], removed: u32) -> Vec<bool> {
        let mut reached = vec![false; successors.len()];
        let mut unvisited = vec![0];
        while let Some(node) = unvisited.pop() {
            if node != removed && !std::mem::replace(&mut reached[node as usize], true) {
                unvisited.extend(&successors[node as usize]);
            }
        }
        reached
    }

    #[test]
    fn the_tree_is_what_removing_each_node_says() {
        let mut state = 0x5eed_u64;
        let mut next_random = |limit: u32| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % u64::from(limit)) as u32
        };
        for round in 0..2000 {
            let count = 1 + next_random(12);
            let mut successors = vec![Vec::new(); count as usize];
            for _ in 0..next_random(3 * count) {
                successors[next_random(count) as usize].push(next_random(count));
            }
            let tree = DominatorTree::of_graph(&successors);
            let reached = reach_without(&successors, NONE);
            for dominator in 0..count {
                let without = reach_without(&successors, dominator);
                for node in 0..count as usize {
                    assert_eq!(tree.is_reachable(node as u32), reached[node], "{round}: {node} of {successors:?}");
                    let wanted = reached[node] && !without[node];
                    assert_eq!(tree.dominates(dominator, node as u32), wanted, "{dominator} {node} {successors:?}");
                }
            }
        }
    }

    /// A chain of blocks of which each but the first may go back two, and the last to all: iterating over it takes as many sweeps as it
    /// has blocks.
    fn tangled_chain(count: u32) -> Vec<Vec<u32>> {
        let mut successors: Vec<Vec<u32>> = (0..count).map(|node| vec![(node + 1).min(count - 1)]).collect();
        for node in 2..count {
            successors[node as usize].push(node - 2);
        }
        successors[0].extend(1..count);
        successors
    }

    #[test]
    fn long_chains_take_little_stack_and_time() {
        let successors = tangled_chain(300_000);
        let tree = DominatorTree::of_graph(&successors);
        assert!(tree.dominates(0, 299_999) && !tree.dominates(1, 2));
        let chain: Vec<Vec<u32>> = (0..300_000).map(|node| vec![(node + 1).min(299_999)]).collect();
        assert!(DominatorTree::of_graph(&chain).dominates(1, 299_999));
    }
}
