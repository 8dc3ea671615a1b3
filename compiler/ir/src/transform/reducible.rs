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
//! Several entries share the header's parameters (of two each has its own): an arrival is at one of them.
//!
//! Nothing has to be mended: a definition still dominates its uses. A way that the new header makes possible,
//! from an edge to one entry on to another entry, can be told as one of the old graph by going through the
//! cycle from the one entry to the other. A definition outside of the cycle that lay on all old ways lies on
//! the new one, then. A definition inside lies behind the last entry on the way, as from there a use can be
//! reached that came into the cycle just now.

use crate::analysis::cfg::{Cfg, build_cfg};
use crate::analysis::dominators::compute_dominators;
use crate::analysis::loops::find_irreducible_edges;
use crate::ir::{Block, BlockCall, Function, Terminator, Value};
use cranelift_entity::{EntitySet, SecondaryMap};
use lockstep_protocol::types::Type;

/// Gives every cycle one entry; how many headers were added.
pub fn make_reducible(function: &mut Function) -> usize {
    let mut flow_graph = build_cfg(function);
    if find_irreducible_edges(&flow_graph, &compute_dominators(&flow_graph)).is_empty() {
        return 0;
    }
    let mut added = 0;
    let mut components: Vec<Vec<Block>> = vec![flow_graph.reverse_post_order().to_vec()];
    while let Some(component) = components.pop() {
        for cycle in find_cycles(&flow_graph, &component) {
            let inside = block_set(&cycle);
            let from_outside = |&&block: &&Block| {
                flow_graph.predecessors(block).iter().any(|&predecessor| !inside.contains(predecessor))
            };
            let entries: Vec<Block> = cycle.iter().filter(from_outside).copied().collect();
            if let [header] = entries[..] {
                components.push(cycle.into_iter().filter(|&block| block != header).collect());
            } else {
                // All edges to the entries go through a header outside of this list now.
                add_header(function, &flow_graph, &entries);
                flow_graph = build_cfg(function);
                added += 1;
                components.push(cycle);
            }
        }
    }
    added
}

fn block_set(blocks: &[Block]) -> EntitySet<Block> {
    let mut block_set = EntitySet::new();
    blocks.iter().for_each(|&block| {
        block_set.insert(block);
    });
    block_set
}

/// The strongly connected components with a cycle of a part of the graph, in the order of its blocks.
fn find_cycles(flow_graph: &Cfg, part: &[Block]) -> Vec<Vec<Block>> {
    let members = block_set(part);
    // Depth-first: blocks in the order in which the search leaves them.
    let mut left: Vec<Block> = Vec::new();
    let mut visited: EntitySet<Block> = EntitySet::new();
    for &root in part {
        let mut stack = Vec::new();
        if visited.insert(root) {
            stack.push((root, 0));
        }
        while let Some((block, next)) = stack.last_mut() {
            let Some(&target) = flow_graph.successors(*block).get(*next) else {
                left.push(*block);
                stack.pop();
                continue;
            };
            *next += 1;
            if members.contains(target) && visited.insert(target) {
                stack.push((target, 0));
            }
        }
    }
    // Backwards from the one left last: what reaches it is its component.
    let mut cycles = Vec::new();
    let mut visited: EntitySet<Block> = EntitySet::new();
    for root in left.into_iter().rev() {
        if !visited.insert(root) {
            continue;
        }
        let mut component = vec![root];
        let mut next = 0;
        while let Some(&block) = component.get(next) {
            next += 1;
            component.extend(
                flow_graph
                    .predecessors(block)
                    .iter()
                    .copied()
                    .filter(|&predecessor| members.contains(predecessor) && visited.insert(predecessor)),
            );
        }
        if component.len() > 1 || flow_graph.successors(root).contains(&root) {
            component.sort_by_key(|&block| flow_graph.rpo_number(block));
            cycles.push(component);
        }
    }
    cycles
}

/// The parameters of a header that take what the entries' parameters are given.
struct HeaderParams {
    /// All of them but the one that says where to go on.
    all: Vec<Value>,
    /// For each entry the positions of its parameters among them.
    of_entry: Vec<Vec<usize>>,
}

/// Adds the parameters to a header. Each of two entries has its own, which differ between lanes only as those of the entry do.
/// Several entries share them, as each arrival is at one entry: there are no more than the entry with the most needs, and
/// edges stay as short.
fn add_header_params(function: &mut Function, header: Block, entries: &[Block]) -> HeaderParams {
    let is_shared = entries.len() > 2;
    let mut parameters = HeaderParams { all: Vec::new(), of_entry: Vec::new() };
    for &entry_block in entries {
        let types: Vec<Type> =
            function.blocks[entry_block].params.iter().map(|&parameter| function.ty(parameter)).collect();
        let mut positions: Vec<usize> = Vec::new();
        for parameter_type in types {
            let is_free = |position: &usize| {
                function.ty(parameters.all[*position]) == parameter_type && !positions.contains(position)
            };
            let free = (0..parameters.all.len()).find(|position| is_shared && is_free(position));
            positions.push(free.unwrap_or_else(|| {
                parameters.all.push(function.add_param(header, parameter_type));
                parameters.all.len() - 1
            }));
        }
        parameters.of_entry.push(positions);
    }
    parameters
}

/// Leads all edges to several blocks through a new one, which is told where to go on.
fn add_header(function: &mut Function, flow_graph: &Cfg, entries: &[Block]) {
    let header = function.add_block();
    let parameter_type = if entries.len() == 2 { Type::BOOL } else { Type::I32 };
    let entry_number = function.add_param(header, parameter_type);
    let number = |entry: usize| if entries.len() == 2 { 1 - entry as u128 } else { entry as u128 };
    let parameters = add_header_params(function, header, entries);
    let types: Vec<Type> = parameters.all.iter().map(|&parameter| function.ty(parameter)).collect();
    let unused: Vec<Value> = types.into_iter().map(|parameter_type| function.constant(parameter_type, 0)).collect();
    let mut entry_of: SecondaryMap<Block, Option<usize>> = SecondaryMap::new();
    entries.iter().enumerate().for_each(|(index, &entry_block)| entry_of[entry_block] = Some(index));
    let mut sources: Vec<Block> =
        entries.iter().flat_map(|&entry_block| flow_graph.predecessors(entry_block)).copied().collect();
    sources.sort_by_key(|&block| flow_graph.rpo_number(block));
    sources.dedup();
    for source in sources {
        let mut terminator = function.blocks[source].terminator.clone();
        for target in terminator.targets_mut() {
            let Some(entry) = entry_of[target.block] else { continue };
            let mut arguments = unused.clone();
            for (&position, &argument) in parameters.of_entry[entry].iter().zip(&target.arguments) {
                arguments[position] = argument;
            }
            arguments.insert(0, function.constant(parameter_type, number(entry)));
            *target = BlockCall { block: header, arguments };
        }
        function.blocks[source].terminator = terminator;
    }
    let call = |(index, &block): (usize, &Block)| {
        let arguments = parameters.of_entry[index].iter().map(|&position| parameters.all[position]).collect();
        BlockCall { block, arguments }
    };
    let entry_edges: Vec<BlockCall> = entries.iter().enumerate().map(call).collect();
    function.blocks[header].terminator = match &entry_edges[..] {
        [first, second] => {
            Terminator::Branch { condition: entry_number, then_to: first.clone(), else_to: second.clone() }
        }
        [cases @ .., last] => {
            let cases = cases.iter().enumerate().map(|(index, target)| (number(index), target.clone())).collect();
            Terminator::Switch { value: entry_number, cases, default: last.clone() }
        }
        [] => unreachable!("a cycle that is reached has an entry"),
    };
}

#[cfg(test)]
mod tests;
