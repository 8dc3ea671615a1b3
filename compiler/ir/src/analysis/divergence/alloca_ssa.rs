//! Alloca SSA: whether what some lanes write to a private slot can be seen by others.
//!
//! The contents of a slot are taken as one variable: a write defines a new state of it, and where different
//! states meet they join, as values do in block parameters. A join that lanes reach on different ways would
//! make the contents differ between them, if it is ever read behind. The lanes of a gang shall also share
//! one slot in memory, so a write must not come between another lane's write and its read: while some lanes
//! write, no lane that went another way may hold a state that it still wants to read.
//!
//! Requires: regions in normal form; the slots' addresses go nowhere but to loads and stores.
//! Ensures: if [`States::may_differ`] says no, and every write is of a value and to an address that are the
//! same in all lanes which execute it, then each lane reads from the one slot what it would from its own,
//! when blocks are executed in lock-step in a topological order of each loop's body.
//! Phases: once per slot and region where it is read before it is overwritten as a whole, where it is
//! written and where states join; then, each time divergence is known, joins (paper: DA-JOIN-D), loops that
//! are left at different times, and blocks that lanes may be waiting for while others write.
//! Source: Moll 2021, section 6.6. Joins behind which nobody reads do not count, which makes the third
//! question necessary; there, sharing is sound as every write in divergent control leads to a join.

use super::{Divergence, Graph};
use crate::analysis::points_to::{Pointees, find_pointees};
use crate::ir::*;
use cranelift_entity::{EntitySet, SecondaryMap};

/// One slot in one region.
#[derive(Clone, Debug, Default)]
pub(super) struct States {
    /// Blocks that write to it.
    writes: EntitySet<Block>,
    /// Blocks at whose beginning its contents may still be read.
    live_in: EntitySet<Block>,
    /// Those of them where different states join.
    joins: EntitySet<Block>,
    /// Whether a later region may read it.
    kept: bool,
}

/// What one block does to a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Effect {
    /// Reads what was there before.
    reads: bool,
    writes: bool,
    /// Leaves nothing of what was there before.
    kills: bool,
}

/// Per region and slot its states; empty where the region does not use it.
pub(super) fn compute_slot_states(kernel: &Kernel, graphs: &[Graph<'_>]) -> Vec<SecondaryMap<Slot, States>> {
    let effects: Vec<Effects> = graphs.iter().map(|graph| collect_effects(kernel, graph.function)).collect();
    let mut found: Vec<SecondaryMap<Slot, States>> = graphs.iter().map(|_| SecondaryMap::new()).collect();
    for slot in kernel.slots.keys() {
        let mut changed = true;
        while changed {
            changed = false;
            for number in 0..graphs.len() {
                let later = |region: Region| {
                    let entry = kernel.regions[region].entry_block();
                    found[region.as_u32() as usize][slot].live_in.contains(entry)
                };
                let (live_in, kept) = compute_slot_liveness(&graphs[number], &effects[number][slot], later);
                let states = &mut found[number][slot];
                changed |= states.live_in != live_in || states.kept != kept;
                (states.live_in, states.kept) = (live_in, kept);
            }
        }
        for ((graph, effects), found) in graphs.iter().zip(&effects).zip(&mut found) {
            let states = &mut found[slot];
            for &block in graph.cfg.reverse_post_order() {
                if effects[slot][block].writes {
                    states.writes.insert(block);
                }
            }
            states.joins = find_state_joins(graph, &states.writes);
            let dead: Vec<Block> = states.joins.iter().filter(|&other| !states.live_in.contains(other)).collect();
            dead.into_iter().for_each(|block| {
                states.joins.remove(block);
            });
        }
    }
    found
}

type Effects = SecondaryMap<Slot, SecondaryMap<Block, Effect>>;

fn collect_effects(kernel: &Kernel, function: &Function) -> Effects {
    let pointees = find_pointees(function);
    let mut found = Effects::new();
    for &block in &function.layout {
        for &inst in &function.blocks[block].insts {
            let mut read = |pointer: Value| {
                for &slot in &pointees[pointer].slots {
                    let effect = &mut found[slot][block];
                    effect.reads |= !effect.kills;
                }
            };
            match function.insts[inst].data {
                InstData::Load { pointer, .. } => read(pointer),
                InstData::MemCopy { source, .. } => read(source),
                _ => {}
            }
            let (pointer, offset, bytes) = match function.insts[inst].data {
                InstData::Store { pointer, offset, ref arguments, .. } => {
                    (pointer, offset, arguments.iter().map(|&argument| u64::from(function.ty(argument).bytes())).sum())
                }
                InstData::MemCopy { destination, length, .. } | InstData::MemSet { destination, length, .. } => {
                    (destination, 0, function.const_bits(length).map_or(0, |length| length as u64))
                }
                _ => continue,
            };
            for &slot in &pointees[pointer].slots {
                let effect = &mut found[slot][block];
                effect.writes = true;
                effect.kills |=
                    is_start(function, &pointees[pointer], pointer) && offset == 0 && bytes >= kernel.slots[slot].size;
            }
        }
    }
    found
}

/// Whether an address is that of a slot, not one in it or of one of several.
fn is_start(function: &Function, pointees: &Pointees, pointer: Value) -> bool {
    let ValueDef::Result(inst, _) = function.values[pointer].definition else { return false };
    matches!(function.insts[inst].data, InstData::SlotAddr { .. }) && pointees.slots.len() == 1
}

/// The blocks at whose beginning a slot may be read later, and whether that may be in a later region.
fn compute_slot_liveness(
    graph: &Graph<'_>,
    effects: &SecondaryMap<Block, Effect>,
    later: impl Fn(Region) -> bool,
) -> (EntitySet<Block>, bool) {
    let (mut live_in, mut kept) = (EntitySet::new(), false);
    let mut changed = true;
    while changed {
        changed = false;
        for &block in graph.cfg.reverse_post_order().iter().rev() {
            let mut live = graph.cfg.successors(block).iter().any(|&successor| live_in.contains(successor));
            if let Terminator::Exit(region) = graph.function.blocks[block].terminator {
                live |= later(region);
                kept |= live;
            }
            if effects[block].reads || live && !effects[block].kills {
                changed |= live_in.insert(block);
            }
        }
    }
    (live_in, kept)
}

/// Blocks where different states meet: the frontiers of the writes and of each other.
fn find_state_joins(graph: &Graph<'_>, writes: &EntitySet<Block>) -> EntitySet<Block> {
    let mut joins = EntitySet::new();
    if writes.is_empty() {
        return joins;
    }
    let reverse_post_order = graph.cfg.reverse_post_order();
    loop {
        // The block whose write or join made the state at each block's end; the entry where it is the first.
        let mut output: SecondaryMap<Block, Option<(Block, bool)>> = SecondaryMap::new();
        for &block in reverse_post_order {
            let before = graph.cfg.predecessors(block).iter().find_map(|&predecessor| output[predecessor]);
            let start = if joins.contains(block) { None } else { before };
            output[block] = Some(if writes.contains(block) { (block, true) } else { start.unwrap_or((block, false)) });
        }
        let differs = |block: &&Block| {
            let mut states = graph
                .cfg
                .predecessors(**block)
                .iter()
                .filter(|&&predecessor| graph.cfg.is_reachable(predecessor))
                .map(|&predecessor| output[predecessor]);
            let first = states.next();
            !joins.contains(**block) && states.any(|state| Some(state) != first)
        };
        match reverse_post_order.iter().find(differs) {
            Some(&block) => joins.insert(block),
            None => return joins,
        };
    }
}

impl States {
    /// Whether lanes may see different contents, or one lane what another wrote, although every write is of
    /// the same value to the same address for all lanes that execute it.
    pub(super) fn may_differ(&self, graph: &Graph<'_>, divergence: &Divergence) -> bool {
        let some: Vec<Block> =
            self.writes.iter().filter(|&block| divergence.divergent_blocks.contains(block)).collect();
        if some.is_empty() {
            return false;
        }
        let written = |loop_id| self.writes.iter().any(|block| graph.loops.contains(loop_id, block));
        self.kept
            || self.joins.iter().any(|block| divergence.joins.contains(block))
            || divergence.temporal.iter().any(|&(loop_id, exit)| self.live_in.contains(exit) && written(loop_id))
            || self.may_disturb(graph, divergence, &some)
    }

    /// Whether lanes may wait for a block, in which they will read the slot, while others write to it.
    fn may_disturb(&self, graph: &Graph<'_>, divergence: &Divergence, some: &[Block]) -> bool {
        if self.live_in.is_empty() {
            return false;
        }
        let writes: Vec<Comparable> = some.iter().map(|&write| Comparable::new(graph, write)).collect();
        divergence.divergent_branches.iter().any(|branch| {
            let end = find_reconvergence(graph, branch);
            let ways: Vec<EntitySet<Block>> = graph
                .cfg
                .successors(branch)
                .iter()
                .map(|&successor| find_influenced_blocks(graph, divergence, branch, successor, end))
                .collect();
            writes.iter().any(|write| {
                let here = |way: &EntitySet<Block>| way.contains(write.block);
                let waits = |way: &EntitySet<Block>| {
                    way.iter().any(|block| self.live_in.contains(block) && !write.contains(graph, block))
                };
                ways.iter().enumerate().any(|(index, way)| {
                    here(way) && ways.iter().enumerate().any(|(j, other)| index != j && waits(other))
                })
            })
        })
    }
}

/// Where all lanes are together again behind a divergent branch: its post-dominator, unless some lanes may come
/// there only after another iteration.
fn find_reconvergence(graph: &Graph<'_>, branch: Block) -> Option<Block> {
    let end = graph.post.immediate_post_dominator(branch)?;
    let before = find_reachable(
        graph.cfg.successors(branch).iter().copied(),
        |block| graph.cfg.successors(block),
        |block| block == end,
    );
    let later = graph
        .loops
        .loops_around(end)
        .any(|loop_id| graph.loops.contains(loop_id, branch) && before.contains(graph.loops.get(loop_id).header));
    (!later).then_some(end)
}

/// The blocks to which one way of a divergent branch leads before all lanes are together again.
fn find_influenced_blocks(
    graph: &Graph<'_>,
    divergence: &Divergence,
    branch: Block,
    way: Block,
    end: Option<Block>,
) -> EntitySet<Block> {
    let together = |block: Block| {
        graph.loops.with_header(block).is_some_and(|loop_id| {
            graph.loops.contains(loop_id, branch) && !divergence.divergent_loops.contains(loop_id)
        })
    };
    find_reachable([way], |block| graph.cfg.successors(block), |block| Some(block) == end || together(block))
}

/// The blocks that can be reached from some without entering one where `stop` holds.
fn find_reachable<'a>(
    from: impl IntoIterator<Item = Block>,
    next: impl Fn(Block) -> &'a [Block],
    stop: impl Fn(Block) -> bool,
) -> EntitySet<Block> {
    let mut found = EntitySet::new();
    let mut worklist: Vec<Block> = from.into_iter().collect();
    while let Some(block) = worklist.pop() {
        if !stop(block) && found.insert(block) {
            worklist.extend(next(block));
        }
    }
    found
}

/// The blocks that come before or behind a block in an iteration of all loops around both.
struct Comparable {
    block: Block,
    /// By how many loops around the block are around the other one too, outermost first.
    by_depth: Vec<EntitySet<Block>>,
}

impl Comparable {
    fn new(graph: &Graph<'_>, block: Block) -> Comparable {
        let mut around: Vec<_> = graph.loops.loops_around(block).collect();
        around.reverse();
        let in_iteration = |depth: usize| {
            // Back edges of the first `depth` loops start another iteration.
            let header = |other: Block| around[..depth].iter().any(|&loop_id| graph.loops.get(loop_id).header == other);
            let after = graph.cfg.successors(block).iter().copied();
            let mut found = find_reachable(after, |other| graph.cfg.successors(other), header);
            // Backwards, a header is reached but not passed.
            let mut worklist = vec![block];
            let mut before = EntitySet::new();
            while let Some(other) = worklist.pop() {
                if before.insert(other) && !header(other) {
                    worklist.extend(graph.cfg.predecessors(other));
                }
            }
            before.iter().for_each(|other| {
                found.insert(other);
            });
            found
        };
        Comparable { block, by_depth: (0..=around.len()).map(in_iteration).collect() }
    }

    fn contains(&self, graph: &Graph<'_>, other: Block) -> bool {
        let depth =
            graph.loops.loops_around(self.block).filter(|&loop_id| graph.loops.contains(loop_id, other)).count();
        self.by_depth[depth].contains(other)
    }
}
