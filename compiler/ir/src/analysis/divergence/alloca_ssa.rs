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

use super::found::Divergence;
use super::graph::Graph;
use crate::analysis::loops::Loop;
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
    let mut slot_states: Vec<SecondaryMap<Slot, States>> = graphs.iter().map(|_| SecondaryMap::new()).collect();
    for slot in kernel.slots.keys() {
        let mut changed = true;
        while changed {
            changed = false;
            for number in 0..graphs.len() {
                let at_entry = |region: Region| kernel.regions[region].entry_block();
                let states_in = |region: Region| &slot_states[region.as_u32() as usize][slot];
                let read_later = |region: Region| states_in(region).live_in.contains(at_entry(region));
                let (live_in, kept) = compute_slot_liveness(&graphs[number], &effects[number][slot], read_later);
                let states = &mut slot_states[number][slot];
                changed |= states.live_in != live_in || states.kept != kept;
                (states.live_in, states.kept) = (live_in, kept);
            }
        }
        for ((graph, effects), slot_states) in graphs.iter().zip(&effects).zip(&mut slot_states) {
            let states = &mut slot_states[slot];
            for &block in graph.cfg.reverse_post_order() {
                if effects[slot][block].writes {
                    states.writes.insert(block);
                }
            }
            states.joins = find_state_joins(graph, &states.writes);
            let dead_joins: Vec<Block> =
                states.joins.iter().filter(|&other_block| !states.live_in.contains(other_block)).collect();
            dead_joins.into_iter().for_each(|block| {
                states.joins.remove(block);
            });
        }
    }
    slot_states
}

type Effects = SecondaryMap<Slot, SecondaryMap<Block, Effect>>;

fn collect_effects(kernel: &Kernel, function: &Function) -> Effects {
    let pointees = find_pointees(function);
    let mut effects = Effects::new();
    for &block in &function.layout {
        for &instruction in &function.blocks[block].insts {
            if let InstData::Load { pointer: read_pointer, .. } | InstData::MemCopy { source: read_pointer, .. } =
                function.insts[instruction].data
            {
                for &slot in &pointees[read_pointer].slots {
                    let effect = &mut effects[slot][block];
                    effect.reads |= !effect.kills;
                }
            }
            let (pointer, offset, bytes) = match function.insts[instruction].data {
                InstData::Store { pointer, offset, ref arguments, .. } => {
                    (pointer, offset, arguments.iter().map(|&argument| u64::from(function.ty(argument).bytes())).sum())
                }
                InstData::MemCopy { destination, length, .. } | InstData::MemSet { destination, length, .. } => {
                    (destination, 0, function.const_bits(length).map_or(0, |length| length as u64))
                }
                _ => continue,
            };
            for &slot in &pointees[pointer].slots {
                let effect = &mut effects[slot][block];
                effect.writes = true;
                effect.kills |=
                    is_start(function, &pointees[pointer], pointer) && offset == 0 && bytes >= kernel.slots[slot].size;
            }
        }
    }
    effects
}

/// Whether an address is that of a slot, not one in it or of one of several.
fn is_start(function: &Function, pointees: &Pointees, pointer: Value) -> bool {
    let ValueDef::Result(instruction, _) = function.values[pointer].definition else { return false };
    matches!(function.insts[instruction].data, InstData::SlotAddr { .. }) && pointees.slots.len() == 1
}

/// The blocks at whose beginning a slot may be read later, and whether that may be in a later region.
fn compute_slot_liveness(
    graph: &Graph<'_>,
    effects: &SecondaryMap<Block, Effect>,
    read_later: impl Fn(Region) -> bool,
) -> (EntitySet<Block>, bool) {
    let (mut live_in, mut kept) = (EntitySet::new(), false);
    let mut changed = true;
    while changed {
        changed = false;
        for &block in graph.cfg.reverse_post_order().iter().rev() {
            let mut live = graph.cfg.successors(block).iter().any(|&successor| live_in.contains(successor));
            if let Terminator::Exit(region) = graph.function.blocks[block].terminator {
                live |= read_later(region);
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
        let mut end_states: SecondaryMap<Block, StateOrigin> = SecondaryMap::new();
        for &block in reverse_post_order {
            let before = graph.cfg.predecessors(block).iter().find_map(|&predecessor| end_states[predecessor]);
            let entry_state = if joins.contains(block) { None } else { before };
            end_states[block] =
                Some(if writes.contains(block) { (block, true) } else { entry_state.unwrap_or((block, false)) });
        }
        let is_new_join = |&&block: &&Block| !joins.contains(block) && do_states_differ(graph, block, &end_states);
        match reverse_post_order.iter().find(is_new_join) {
            Some(&block) => joins.insert(block),
            None => return joins,
        };
    }
}

/// What made the state of a slot at a block's end: a block, and whether it writes to the slot.
type StateOrigin = Option<(Block, bool)>;

/// Whether a block can be reached with different states.
fn do_states_differ(graph: &Graph<'_>, block: Block, end_states: &SecondaryMap<Block, StateOrigin>) -> bool {
    let reachable = graph.cfg.predecessors(block).iter().filter(|&&predecessor| graph.cfg.is_reachable(predecessor));
    let mut states = reachable.map(|&predecessor| end_states[predecessor]);
    let first = states.next();
    states.any(|state| Some(state) != first)
}

impl States {
    /// Whether lanes may see different contents, or one lane what another wrote, although every write is of
    /// the same value to the same address for all lanes that execute it.
    pub(super) fn may_differ(&self, graph: &Graph<'_>, divergence: &Divergence) -> bool {
        let divergent_writes: Vec<Block> =
            self.writes.iter().filter(|&block| divergence.divergent_blocks.contains(block)).collect();
        if divergent_writes.is_empty() {
            return false;
        }
        let written = |loop_id| self.writes.iter().any(|block| graph.loops.contains(loop_id, block));
        self.kept
            || self.joins.iter().any(|block| divergence.joins.contains(block))
            || divergence
                .temporal
                .iter()
                .any(|&(loop_id, exit_block)| self.live_in.contains(exit_block) && written(loop_id))
            || self.may_disturb(graph, divergence, &divergent_writes)
    }

    /// Whether lanes may wait for a block, in which they will read the slot, while others write to it.
    fn may_disturb(&self, graph: &Graph<'_>, divergence: &Divergence, divergent_writes: &[Block]) -> bool {
        if self.live_in.is_empty() {
            return false;
        }
        let writes: Vec<Comparable> = divergent_writes.iter().map(|&write| Comparable::new(graph, write)).collect();
        for branch in divergence.divergent_branches.iter() {
            let end_block = find_reconvergence(graph, branch);
            let successors = graph.cfg.successors(branch).iter();
            let ways: Vec<EntitySet<Block>> = successors
                .map(|&successor| find_influenced_blocks(graph, divergence, branch, successor, end_block))
                .collect();
            if writes.iter().any(|write| self.may_disturb_ways(graph, &ways, write)) {
                return true;
            }
        }
        false
    }

    /// Whether a write on one of these ways may come between what lanes on another one read.
    fn may_disturb_ways(&self, graph: &Graph<'_>, ways: &[EntitySet<Block>], write: &Comparable) -> bool {
        let waits_in = |block: Block| self.live_in.contains(block) && !write.contains(graph, block);
        let waits_on = |way: &EntitySet<Block>| way.iter().any(waits_in);
        let is_waited_beside = |index: usize| (0..ways.len()).any(|other| other != index && waits_on(&ways[other]));
        (0..ways.len()).any(|index| ways[index].contains(write.block) && is_waited_beside(index))
    }
}

/// Where all lanes are together again behind a divergent branch: its post-dominator, unless some lanes may come
/// there only after another iteration.
fn find_reconvergence(graph: &Graph<'_>, branch: Block) -> Option<Block> {
    let end_block = graph.post.immediate_post_dominator(branch)?;
    let before = find_reachable(
        graph.cfg.successors(branch).iter().copied(),
        |block| graph.cfg.successors(block),
        |block| block == end_block,
    );
    let in_later_iteration = graph
        .loops
        .loops_around(end_block)
        .any(|loop_id| graph.loops.contains(loop_id, branch) && before.contains(graph.loops.get(loop_id).header));
    (!in_later_iteration).then_some(end_block)
}

/// The blocks to which one way of a divergent branch leads before all lanes are together again.
fn find_influenced_blocks(
    graph: &Graph<'_>,
    divergence: &Divergence,
    branch: Block,
    way_start: Block,
    end_block: Option<Block>,
) -> EntitySet<Block> {
    let together = |block: Block| {
        graph.loops.with_header(block).is_some_and(|loop_id| {
            graph.loops.contains(loop_id, branch) && !divergence.divergent_loops.contains(loop_id)
        })
    };
    find_reachable(
        [way_start],
        |block| graph.cfg.successors(block),
        |block| Some(block) == end_block || together(block),
    )
}

/// The blocks that can be reached from some without entering one where `is_stop` holds.
fn find_reachable<'a>(
    starts: impl IntoIterator<Item = Block>,
    next_blocks: impl Fn(Block) -> &'a [Block],
    is_stop: impl Fn(Block) -> bool,
) -> EntitySet<Block> {
    let mut reachable = EntitySet::new();
    let mut worklist: Vec<Block> = starts.into_iter().collect();
    while let Some(block) = worklist.pop() {
        if !is_stop(block) && reachable.insert(block) {
            worklist.extend(next_blocks(block));
        }
    }
    reachable
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
        let by_depth = (0..=around.len()).map(|depth| find_iteration_blocks(graph, block, &around[..depth]));
        Comparable { block, by_depth: by_depth.collect() }
    }

    fn contains(&self, graph: &Graph<'_>, other_block: Block) -> bool {
        let depth =
            graph.loops.loops_around(self.block).filter(|&loop_id| graph.loops.contains(loop_id, other_block)).count();
        self.by_depth[depth].contains(other_block)
    }
}

/// The blocks that come before or behind a block in one iteration of some loops around it, whose back edges start another.
fn find_iteration_blocks(graph: &Graph<'_>, block: Block, loops: &[Loop]) -> EntitySet<Block> {
    let is_header = |other_block: Block| loops.iter().any(|&loop_id| graph.loops.get(loop_id).header == other_block);
    let after = graph.cfg.successors(block).iter().copied();
    let mut blocks = find_reachable(after, |other_block| graph.cfg.successors(other_block), is_header);
    // Backwards, a header is reached but not passed.
    let mut worklist = vec![block];
    let mut before = EntitySet::new();
    while let Some(other_block) = worklist.pop() {
        if before.insert(other_block) && !is_header(other_block) {
            worklist.extend(graph.cfg.predecessors(other_block));
        }
    }
    blocks.extend(before.iter());
    blocks
}
