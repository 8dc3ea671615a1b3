//! Makes control flow reducible: a cycle with several entries gets one header that all ways in go through.
//!
//! Requires: a function that verifies, without unreachable blocks; it may be a region.
//! Ensures: every retreating edge leads to a dominator of its source, so all cycles are natural loops. A
//! function that is reducible already stays as it is. No block is copied, and only edges that led to an
//! entry of a cycle with several change.
//! Phases: from the whole function inwards, strongly connected components; one with several entries gets
//! a header; without its header each is taken apart in turn.
//! Source: Moll 2021, section 2.4 asks for reducible code; Ramalingam 2002, "On loops, dominators, and
//! dominance frontiers", for the nesting of components; LLVM's fix-irreducible for the header.
//!
//! ```text
//! b0:      br c, b1(x), b2        b0:             br c, h(false, x), h(true, 0)
//! b1(p):   …; jump b2             h(which, q):    br which, b2, b1(q)
//! b2:      br d, b1(y), b3   =>   b1(p):          …; jump h(true, 0)
//!                                 b2:             br d, h(false, y), b3
//! ```
//!
//! Nothing has to be mended: a definition still dominates its uses. A way that the new header makes possible,
//! from an edge to one entry on to another entry, can be told as one of the old graph by going through the
//! cycle from the one entry to the other. A definition outside of the cycle that lay on all old ways lies on
//! the new one, then. A definition inside lies behind the last entry on the way, as from there a use can be
//! reached that came into the cycle just now.

use crate::analysis::cfg::{Cfg, cfg};
use crate::analysis::dominators::dominators;
use crate::analysis::loops::loops;
use crate::ir::{Block, BlockCall, Function, Terminator, Type, Value};
use cranelift_entity::EntitySet;

/// Gives every cycle one entry; how many headers were added.
pub fn make_reducible(f: &mut Function) -> usize {
    let mut graph = cfg(f);
    if loops(&graph, &dominators(&graph)).irreducible_edges().is_empty() {
        return 0;
    }
    let mut added = 0;
    let mut parts: Vec<Vec<Block>> = vec![graph.rpo().to_vec()];
    while let Some(part) = parts.pop() {
        for cycle in cycles(&graph, &part) {
            let inside = set(&cycle);
            let from_outside = |&&block: &&Block| graph.preds(block).iter().any(|&pred| !inside.contains(pred));
            let entries: Vec<Block> = cycle.iter().filter(from_outside).copied().collect();
            if let [header] = entries[..] {
                parts.push(cycle.into_iter().filter(|&block| block != header).collect());
            } else {
                // All edges to the entries go through a header outside of this list now.
                add_header(f, &graph, &entries);
                graph = cfg(f);
                added += 1;
                parts.push(cycle);
            }
        }
    }
    added
}

fn set(blocks: &[Block]) -> EntitySet<Block> {
    let mut set = EntitySet::new();
    blocks.iter().for_each(|&block| {
        set.insert(block);
    });
    set
}

/// The strongly connected components with a cycle of a part of the graph, in the order of its blocks.
fn cycles(graph: &Cfg, part: &[Block]) -> Vec<Vec<Block>> {
    let here = set(part);
    // Depth-first: blocks in the order in which the search leaves them.
    let mut left: Vec<Block> = Vec::new();
    let mut seen: EntitySet<Block> = EntitySet::new();
    for &root in part {
        let mut stack = Vec::new();
        if seen.insert(root) {
            stack.push((root, 0));
        }
        while let Some((block, next)) = stack.last_mut() {
            let Some(&to) = graph.succs(*block).get(*next) else {
                left.push(*block);
                stack.pop();
                continue;
            };
            *next += 1;
            if here.contains(to) && seen.insert(to) {
                stack.push((to, 0));
            }
        }
    }
    // Backwards from the one left last: what reaches it is its component.
    let mut found = Vec::new();
    let mut seen: EntitySet<Block> = EntitySet::new();
    for root in left.into_iter().rev() {
        if !seen.insert(root) {
            continue;
        }
        let mut component = vec![root];
        let mut next = 0;
        while let Some(&block) = component.get(next) {
            next += 1;
            component
                .extend(graph.preds(block).iter().copied().filter(|&pred| here.contains(pred) && seen.insert(pred)));
        }
        if component.len() > 1 || graph.succs(root).contains(&root) {
            component.sort_by_key(|&block| graph.rpo_number(block));
            found.push(component);
        }
    }
    found
}

/// Leads all edges to several blocks through a new one, which is told where to go on.
fn add_header(f: &mut Function, graph: &Cfg, entries: &[Block]) {
    let header = f.add_block();
    let ty = if entries.len() == 2 { Type::BOOL } else { Type::I32 };
    let which = f.add_param(header, ty);
    let number = |entry: usize| if entries.len() == 2 { 1 - entry as u128 } else { entry as u128 };
    // Each entry's parameters have a place of their own among those of the header.
    let mut given: Vec<Vec<Value>> = Vec::new();
    for &entry in entries {
        let types: Vec<Type> = f.blocks[entry].params.iter().map(|&param| f.ty(param)).collect();
        given.push(types.into_iter().map(|ty| f.add_param(header, ty)).collect());
    }
    let mut sources: Vec<Block> = entries.iter().flat_map(|&entry| graph.preds(entry)).copied().collect();
    sources.sort_by_key(|&block| graph.rpo_number(block));
    sources.dedup();
    for source in sources {
        let mut term = f.blocks[source].term.clone();
        for to in term.targets_mut() {
            let Some(entry) = entries.iter().position(|&entry| entry == to.block) else { continue };
            let mut args = vec![f.constant(ty, number(entry))];
            for (i, params) in given.iter().enumerate() {
                if i == entry {
                    args.append(&mut to.args);
                } else {
                    let types: Vec<Type> = params.iter().map(|&param| f.ty(param)).collect();
                    args.extend(types.into_iter().map(|ty| f.constant(ty, 0)));
                }
            }
            *to = BlockCall { block: header, args };
        }
        f.blocks[source].term = term;
    }
    let mut to: Vec<BlockCall> = entries.iter().zip(given).map(|(&block, args)| BlockCall { block, args }).collect();
    f.blocks[header].term = match &mut to[..] {
        [first, second] => Terminator::Branch { cond: which, then_to: first.clone(), else_to: second.clone() },
        [cases @ .., last] => {
            let cases = cases.iter().enumerate().map(|(i, to)| (number(i), to.clone())).collect();
            Terminator::Switch { value: which, cases, default: last.clone() }
        }
        [] => unreachable!("a cycle that is reached has an entry"),
    };
}

#[cfg(test)]
mod tests;
