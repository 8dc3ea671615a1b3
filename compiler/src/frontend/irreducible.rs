//! Finds functions with irreducible control flow, so that the costly rewriting is done only where it is needed.
//!
//! Source: Hecht & Ullman 1974: a flow graph is reducible exactly when in every depth-first order each retreating edge
//! leads to a node that dominates its source.

use inkwell::values::FunctionValue;
use llvm_sys::core::{LLVMGetBasicBlockTerminator, LLVMGetNumSuccessors, LLVMGetSuccessor};
use std::collections::HashMap;

/// Whether the function's flow graph has a cycle with more than one entry.
pub(crate) fn is_irreducible(function: FunctionValue<'_>) -> bool {
    let blocks = function.get_basic_blocks();
    if blocks.len() < 3 {
        return false;
    }
    let index: HashMap<_, _> = blocks.iter().enumerate().map(|(i, block)| (block.as_mut_ptr(), i)).collect();
    let successors: Vec<Vec<usize>> = blocks
        .iter()
        .map(|block| {
            // SAFETY: the block belongs to a live function; every successor of its terminator is a block of the same
            // function.
            unsafe {
                let terminator = LLVMGetBasicBlockTerminator(block.as_mut_ptr());
                if terminator.is_null() {
                    return Vec::new();
                }
                (0..LLVMGetNumSuccessors(terminator))
                    .filter_map(|i| index.get(&LLVMGetSuccessor(terminator, i)).copied())
                    .collect()
            }
        })
        .collect();
    has_irreducible_cycle(&successors)
}

/// The same for a graph of numbered nodes with node 0 as the entry.
fn has_irreducible_cycle(successors: &[Vec<usize>]) -> bool {
    let order = reverse_postorder(successors);
    let mut position = vec![usize::MAX; successors.len()];
    for (i, &node) in order.iter().enumerate() {
        position[node] = i;
    }
    let mut predecessors = vec![Vec::new(); order.len()];
    for (i, &node) in order.iter().enumerate() {
        for &next in &successors[node] {
            predecessors[position[next]].push(i);
        }
    }
    // Immediate dominators by position (Cooper, Harvey & Kennedy 2001).
    let mut dominator = vec![usize::MAX; order.len()];
    dominator[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for i in 1..order.len() {
            let known = predecessors[i].iter().copied().filter(|&p| dominator[p] != usize::MAX);
            let new = known.reduce(|a, b| intersect(&dominator, a, b)).unwrap_or(0);
            if dominator[i] != new {
                dominator[i] = new;
                changed = true;
            }
        }
    }
    (0..order.len())
        .any(|head| predecessors[head].iter().any(|&source| source >= head && !dominates(&dominator, head, source)))
}

fn intersect(dominator: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        while a > b {
            a = dominator[a];
        }
        while b > a {
            b = dominator[b];
        }
    }
    a
}

fn dominates(dominator: &[usize], above: usize, mut node: usize) -> bool {
    while node > above {
        node = dominator[node];
    }
    node == above
}

fn reverse_postorder(successors: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; successors.len()];
    let mut order = Vec::with_capacity(successors.len());
    let mut stack = vec![(0, 0)];
    seen[0] = true;
    while let Some((node, next)) = stack.pop() {
        match successors[node].get(next) {
            Some(&child) => {
                stack.push((node, next + 1));
                if !std::mem::replace(&mut seen[child], true) {
                    stack.push((child, 0));
                }
            }
            None => order.push(node),
        }
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn irreducible(edges: &[(usize, usize)]) -> bool {
        let nodes = edges.iter().map(|&(a, b)| a.max(b) + 1).max().unwrap();
        let mut successors = vec![Vec::new(); nodes];
        for &(from, to) in edges {
            successors[from].push(to);
        }
        has_irreducible_cycle(&successors)
    }

    #[test]
    fn structured_loops_are_reducible() {
        assert!(!irreducible(&[(0, 1), (1, 2), (2, 1), (1, 3)]), "while loop");
        assert!(!irreducible(&[(0, 1), (1, 1), (1, 2)]), "self loop");
        assert!(!irreducible(&[(0, 1), (1, 2), (2, 2), (2, 1), (1, 3)]), "nested loops");
        assert!(!irreducible(&[(0, 1), (0, 2), (1, 3), (2, 3)]), "diamond");
        assert!(!irreducible(&[(0, 1), (1, 2), (2, 3), (3, 1), (2, 4), (3, 4), (1, 4)]), "loop with three exits");
    }

    #[test]
    fn cycles_with_two_entries_are_irreducible() {
        assert!(irreducible(&[(0, 1), (0, 2), (1, 2), (2, 1), (1, 3)]), "jump into a loop");
        assert!(irreducible(&[(0, 1), (1, 2), (1, 3), (2, 3), (3, 2), (3, 1), (2, 4)]), "inside another loop");
    }

    #[test]
    fn unreachable_cycles_do_not_count() {
        assert!(!irreducible(&[(0, 1), (2, 3), (3, 2)]));
    }
}
