//! The dominator tree of any graph: which nodes every path from the root to a node goes through.
//!
//! Requires: edges between nodes with numbers below the count. Node 0 is the root.
//! Ensures: the immediate dominator of each node that a path reaches; constant-time `dominates`. In the preorder, what a node
//! immediately dominates comes in the order of the graph's numbers: what is decided block by block depends on it. The time is O(m log n) for n
//! nodes with m edges, whatever the graph: an iteration to a fixed point takes the square of n where thousands of nested choices
//! end in one block, and modules of SPIR-V may be made to have it take longer.
//! Phases: a depth-first search; semidominators from the last node met to the first, and dominators from them; an interval of
//! preorder numbers of the tree per node.
//! Source: Lengauer & Tarjan, "A Fast Algorithm for Finding Dominators in a Flowgraph", 1979, section 4, in its simple form.

use super::adjacency::AdjacencyLists;

/// What stands in a table for the node that there is none of: graphs have fewer nodes.
const NONE: u32 = u32::MAX;
/// The interval of a node that no path reaches: it holds no number, and its first is in no other.
const NO_SPAN: (u32, u32) = (NONE, 0);

/// The tree, by the graph's numbers of nodes.
#[derive(Clone, Debug)]
pub struct DominatorTree {
    /// [`NONE`] for the root and where no path leads.
    immediate_dominators: Vec<u32>,
    /// Each node's number in a preorder of the tree, and the greatest number of what it dominates.
    spans: Vec<(u32, u32)>,
}

impl DominatorTree {
    /// Whether a path from the root reaches the node.
    pub fn is_reachable(&self, node: u32) -> bool {
        self.spans[node as usize] != NO_SPAN
    }

    /// The immediate dominator; `None` for the root and for nodes that cannot be reached.
    pub fn immediate_dominator(&self, node: u32) -> Option<u32> {
        Some(self.immediate_dominators[node as usize]).filter(|&dominator| dominator != NONE)
    }

    /// Whether every path to `node` goes through `dominator` (`dominator` may be `node`). False where one of them cannot be
    /// reached.
    pub fn dominates(&self, dominator: u32, node: u32) -> bool {
        let (first, last) = self.spans[dominator as usize];
        (first..=last).contains(&self.spans[node as usize].0)
    }

    /// A node's number in a preorder of the tree and the greatest number of what it dominates; `None` where no path leads.
    pub fn preorder_span(&self, node: u32) -> Option<(u32, u32)> {
        Some(self.spans[node as usize]).filter(|&span| span != NO_SPAN)
    }
}

/// Computes the tree of a graph with so many nodes and these edges, from the first to the second.
pub fn build_dominator_tree(node_count: usize, edges: &[(u32, u32)]) -> DominatorTree {
    let successors =
        AdjacencyLists::from_pairs(node_count, edges.iter().map(|&(source, target)| (source as usize, target)));
    let search = search_depth_first(node_count, &successors);
    let by_index = find_immediate_dominators(&search, edges);
    let mut immediate_dominators = vec![NONE; node_count];
    for (&node, &dominator) in search.order.iter().zip(&by_index).skip(1) {
        immediate_dominators[node as usize] = search.order[dominator as usize];
    }
    DominatorTree { spans: number_tree(&immediate_dominators), immediate_dominators }
}

/// The nodes that a depth-first search meets. Below they are called by their index in its order, where the root is 0.
struct DepthFirstSearch {
    order: Vec<u32>,
    /// By node, its index in `order`; [`NONE`] where no path leads.
    indices: Vec<u32>,
    /// By index, the index of the node it was met from; the root's is its own.
    parents: Vec<u32>,
}

fn search_depth_first(node_count: usize, successors: &AdjacencyLists<u32>) -> DepthFirstSearch {
    let mut search = DepthFirstSearch { order: vec![], indices: vec![NONE; node_count], parents: vec![] };
    let mut unvisited = if node_count == 0 { vec![] } else { vec![(0, 0)] };
    while let Some((node, parent)) = unvisited.pop() {
        if search.indices[node as usize] != NONE {
            continue;
        }
        let index = search.order.len() as u32;
        search.indices[node as usize] = index;
        search.order.push(node);
        search.parents.push(parent);
        unvisited.extend(successors.items_of(node as usize).iter().map(|&successor| (successor, index)));
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
fn find_immediate_dominators(search: &DepthFirstSearch, edges: &[(u32, u32)]) -> Vec<u32> {
    let count = search.order.len() as u32;
    let index_of = |node: u32| search.indices[node as usize];
    let met_edges = edges.iter().filter(|&&(source, _)| index_of(source) != NONE);
    let predecessors = AdjacencyLists::from_pairs(
        count as usize,
        met_edges.map(|&(source, target)| (index_of(target) as usize, index_of(source))),
    );
    let own: Vec<u32> = (0..count).collect();
    let mut forest =
        Forest { ancestors: vec![NONE; count as usize], labels: own.clone(), semidominators: own, path: Vec::new() };
    let mut dominators = vec![0; count as usize];
    // The nodes of each semidominator whose dominator is not known, as a list: the first one, and what follows each.
    let mut first_waiting = vec![NONE; count as usize];
    let mut next_waiting = vec![NONE; count as usize];
    for node in (1..count).rev() {
        let parent = search.parents[node as usize];
        for &predecessor in predecessors.items_of(node as usize) {
            let label = forest.find_label(predecessor);
            let semidominator = forest.semidominators[label as usize];
            let known = &mut forest.semidominators[node as usize];
            *known = semidominator.min(*known);
        }
        let first = &mut first_waiting[forest.semidominators[node as usize] as usize];
        next_waiting[node as usize] = std::mem::replace(first, node);
        forest.ancestors[node as usize] = parent;
        let mut below = std::mem::replace(&mut first_waiting[parent as usize], NONE);
        while below != NONE {
            let label = forest.find_label(below);
            let is_less = forest.semidominators[label as usize] < forest.semidominators[below as usize];
            dominators[below as usize] = if is_less { label } else { parent };
            below = next_waiting[below as usize];
        }
    }
    for node in 1..count as usize {
        if dominators[node] != forest.semidominators[node] {
            dominators[node] = dominators[dominators[node] as usize];
        }
    }
    dominators
}

/// Each node's number in a preorder of the tree, and the greatest number below it. What a node immediately dominates is in the order
/// of the graph's numbers.
fn number_tree(immediate_dominators: &[u32]) -> Vec<(u32, u32)> {
    let dominators = (0..).zip(immediate_dominators).filter(|&(_, &dominator)| dominator != NONE);
    let children = AdjacencyLists::from_pairs(
        immediate_dominators.len(),
        dominators.map(|(node, &dominator)| (dominator as usize, node)),
    );
    let mut spans = vec![NO_SPAN; immediate_dominators.len()];
    let mut preorder: Vec<u32> = Vec::new();
    let mut pending: Vec<u32> = if spans.is_empty() { vec![] } else { vec![0] };
    while let Some(node) = pending.pop() {
        let number = preorder.len() as u32;
        spans[node as usize] = (number, number);
        preorder.push(node);
        pending.extend(children.items_of(node as usize).iter().rev());
    }
    for &node in preorder.iter().skip(1).rev() {
        let last = spans[node as usize].1;
        let parent_span = &mut spans[immediate_dominators[node as usize] as usize];
        parent_span.1 = parent_span.1.max(last);
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The nodes that paths from node 0 reach that do not go through `removed`.
    fn reach_without(node_count: usize, edges: &[(u32, u32)], removed: u32) -> Vec<bool> {
        let mut reached = vec![false; node_count];
        let mut unvisited = vec![0];
        while let Some(node) = unvisited.pop() {
            if node != removed && !std::mem::replace(&mut reached[node as usize], true) {
                unvisited.extend(edges.iter().filter(|edge| edge.0 == node).map(|edge| edge.1));
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
            let edges: Vec<(u32, u32)> =
                (0..next_random(3 * count)).map(|_| (next_random(count), next_random(count))).collect();
            let tree = build_dominator_tree(count as usize, &edges);
            let reached = reach_without(count as usize, &edges, NONE);
            let without: Vec<_> =
                (0..count).map(|dominator| reach_without(count as usize, &edges, dominator)).collect();
            let wanted =
                |dominator: u32, node: u32| reached[node as usize] && !without[dominator as usize][node as usize];
            for node in 0..count {
                assert_eq!(tree.is_reachable(node), reached[node as usize], "{round}: {node} of {edges:?}");
                for dominator in 0..count {
                    assert_eq!(
                        tree.dominates(dominator, node),
                        wanted(dominator, node),
                        "{dominator} {node} {edges:?}"
                    );
                }
                // The immediate one is the strict dominator that all others dominate.
                let strict = |dominator: &u32| *dominator != node && wanted(*dominator, node);
                let last =
                    (0..count).filter(strict).find(|&last| (0..count).filter(strict).all(|other| wanted(other, last)));
                assert_eq!(tree.immediate_dominator(node), last, "{round}: {node} of {edges:?}");
            }
        }
        assert!(build_dominator_tree(0, &[]).spans.is_empty());
    }

    /// A chain of blocks of which each but the first may go back two, and the first to all: iterating over it takes as many sweeps as
    /// it has blocks.
    fn tangled_chain(count: u32) -> Vec<(u32, u32)> {
        let mut edges: Vec<_> = (0..count).map(|node| (node, (node + 1).min(count - 1))).collect();
        edges.extend((2..count).map(|node| (node, node - 2)));
        edges.extend((1..count).map(|node| (0, node)));
        edges
    }

    #[test]
    fn long_chains_take_little_stack_and_time() {
        let tree = build_dominator_tree(300_000, &tangled_chain(300_000));
        assert!(tree.dominates(0, 299_999) && !tree.dominates(1, 2));
        let chain: Vec<(u32, u32)> = (1..300_000).map(|node| (node - 1, node)).collect();
        assert!(build_dominator_tree(300_000, &chain).dominates(1, 299_999));
        // Choices in each other: each arm, and what lies in the last one, goes to the end.
        let choices = 100_000;
        let mut nested: Vec<(u32, u32)> = (1..choices).map(|node| (node - 1, node)).collect();
        nested.extend((0..choices).rev().map(|node| (node, choices)));
        let tree = build_dominator_tree(choices as usize + 1, &nested);
        assert_eq!(tree.immediate_dominator(choices), Some(0));
    }
}
