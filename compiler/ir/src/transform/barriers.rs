//! Cuts a kernel at its barriers into regions: what a work-item does from one barrier to the next. Collective operations
//! are barriers too: each work-item leaves its value there, and the next region begins with what becomes of all of them
//! together.
//!
//! Requires: a verified kernel with one region, of any control flow. All work-items of a group arrive at
//! the same barriers in the same order (otherwise OpenCL says nothing about the kernel).
//! Ensures: no barrier and no collective instruction is left. Region 0 starts every work-item, and there is one more region
//! for each barrier that can be reached, no others. A region is a copy of the code from its barrier up to
//! the next ones; arriving at one is `Exit` to that barrier's region. Where all regions together would have more than a
//! constant times the kernel's code, barriers share regions, which begin with a switch ([`merge`]). What a region needs of
//! earlier ones is computed again where that is cheap, or else kept in a live slot, which values share that no barrier
//! needs together. Kernels without barriers stay as they are.
//! Phases: drop barriers that separate nothing; split blocks behind barriers; which barriers share a region ([`merge`]);
//! decide per barrier which values to keep ([`live`]); copy each region and mend its SSA form ([`region`]).
//! Source: Karrenberg & Hack 2012, section 2.3; the values kept are chosen more sparingly than there.

mod live;
mod merge;
mod region;

use crate::analysis::cfg::{Cfg, build_cfg};
use crate::analysis::liveness::{Liveness, compute_liveness};
use crate::ir::{
    Block, BlockCall, Collect, Combine, Function, InstData, Kernel, LiveSlot, Region, Terminator, Value, ValueDef,
};
use cranelift_entity::{EntityRef, EntitySet, PrimaryMap, SecondaryMap, entity_impl};
use lockstep_protocol::compile_options::Bounds;
use lockstep_protocol::types::{Space, Type};
use merge::Regions;

/// Where work-items go on after a barrier; the first one is the kernel's begin.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Start(u32);
entity_impl!(Start, "start");

/// The kernel's code with its blocks split behind barriers, and what is known of it.
struct Split {
    body: Function,
    cfg: Cfg,
    liveness: Liveness,
    /// The block that defines a value.
    home: SecondaryMap<Value, Option<Block>>,
    /// The place of a value's definition in an order in which operands come before results.
    order: SecondaryMap<Value, u32>,
    cuts: Cuts,
    regions: Regions,
}

/// Cuts a kernel at its barriers.
pub fn cut_at_barriers(kernel: &mut Kernel) {
    barriers_within(kernel, Bounds::default());
}

/// Cuts a kernel at its barriers into regions that copy no more than the bounds allow.
pub fn barriers_within(kernel: &mut Kernel, bounds: Bounds) {
    debug_assert_eq!(kernel.regions.len(), 1, "cut already");
    let mut body = kernel.body().clone();
    drop_redundant(&mut body);
    let mut cuts = split_at_barriers(&mut body);
    if cuts.starts.len() == 1 {
        *kernel.body_mut() = body;
        return;
    }
    let mut graph = build_cfg(&body);
    let regions = if merge::copies_exceed(&body, &graph, &cuts, bounds) {
        split_behind_answers(&mut body, &mut cuts);
        graph = build_cfg(&body);
        merge::merged_regions(&graph, &cuts, bounds.most_copies)
    } else {
        merge::separate_regions(&cuts)
    };
    let split = Split::split_kernel(body, graph, cuts, regions);
    let plan = live::plan_live_values(kernel, &split);
    kernel.regions = split.regions.starts.keys().map(|region| region::build_region(&split, &plan, region)).collect();
    kernel.live = plan.slots;
    kernel.combines = SecondaryMap::new();
    for (region, starts) in &split.regions.starts {
        kernel.combines[region] = split.cuts.combines[starts[0]];
    }
}

/// Where a kernel is cut.
#[derive(Default)]
struct Cuts {
    /// The start that an arrival at the end of this block leads to; the block jumps there.
    cut: SecondaryMap<Block, Option<Start>>,
    /// The first block of each start.
    starts: PrimaryMap<Start, Block>,
    /// What regions begin with.
    combines: SecondaryMap<Start, Option<Combine>>,
    /// The slots where work-items leave their values for that, one for each type. In the region behind, a work-item
    /// takes the answer out before it does anything else.
    together: PrimaryMap<LiveSlot, Type>,
}

impl Cuts {
    /// Moves a block's instructions from a position on into a new one, where work-items go on that arrive at the end of
    /// the block.
    fn cut_at(&mut self, body: &mut Function, block: Block, position: usize) -> (Block, Start) {
        let rest = body.add_block();
        body.blocks[rest].insts = body.blocks[block].insts.split_off(position);
        let jump = Terminator::Jump(BlockCall { block: rest, arguments: Vec::new() });
        body.blocks[rest].terminator = std::mem::replace(&mut body.blocks[block].terminator, jump);
        let start = self.starts.push(rest);
        // A cut at the block's old end is one of what is behind now.
        self.cut[rest] = self.cut[block].replace(start);
        (rest, start)
    }
}

/// Has work-items that took a collective operation's answer arrive at once at a barrier more, which may share its region
/// with others.
fn split_behind_answers(body: &mut Function, cuts: &mut Cuts) {
    for (start, block) in cuts.starts.clone() {
        if cuts.combines[start].is_some() {
            cuts.cut_at(body, block, 1);
        }
    }
}

/// Splits blocks so that each barrier, which goes, ends one. Barriers that no path leads to go without a
/// region.
fn split_at_barriers(body: &mut Function) -> Cuts {
    let mut cuts = Cuts::default();
    cuts.starts.push(body.entry_block());
    let reachable = build_cfg(body);
    body.layout.retain(|&block| reachable.is_reachable(block));
    for block in body.layout.clone() {
        let insts = std::mem::take(&mut body.blocks[block].insts);
        let mut block = block;
        for inst in insts {
            if !is_barrier(&body.insts[inst].data) {
                body.blocks[block].insts.push(inst);
                continue;
            }
            let (rest, start) = cuts.cut_at(body, block, body.blocks[block].insts.len());
            if let InstData::Collective { collective, opcode, argument } = body.insts[inst].data {
                let ty = body.ty(argument);
                let slot = cuts.together.iter().find(|&(_, of)| *of == ty).map(|(slot, _)| slot);
                let live_slot = slot.unwrap_or_else(|| cuts.together.push(ty));
                cuts.combines[start] = Some(Combine { collective, opcode, live_slot });
                let location = body.insts[inst].location;
                body.append_inst(block, InstData::LiveStore { live_slot, argument }, &[], location);
                // The instruction now takes the answer.
                body.insts[inst].data =
                    if collective == Collect::Reduce { InstData::Combined } else { InstData::LiveLoad { live_slot } };
                body.blocks[rest].insts.push(inst);
            }
            block = rest;
        }
    }
    cuts
}

/// Whether work-items wait here for the others of their group.
fn is_barrier(inst_data: &InstData) -> bool {
    matches!(inst_data, InstData::Barrier | InstData::Collective { .. })
}

/// Drops barriers that separate nothing: no work-item touches shared memory between the barrier and the
/// kernel's begin, its end, or the next barrier or collective operation, which then does its work. Only straight paths are
/// followed.
fn drop_redundant(body: &mut Function) {
    let graph = build_cfg(body);
    for block in graph.reverse_post_order().to_vec() {
        let mut position = 0;
        while let Some(&inst) = body.blocks[block].insts.get(position) {
            let redundant = body.insts[inst].data == InstData::Barrier
                && (idle_behind(body, block, position + 1) || idle_before(body, &graph, block, position));
            if redundant {
                body.blocks[block].insts.remove(position);
            } else {
                position += 1;
            }
        }
    }
}

/// Whether the way from here leads to the end or a barrier without touching shared memory.
fn idle_behind(body: &Function, block: Block, position: usize) -> bool {
    let (mut block, mut position) = (block, position);
    // A chain of jumps that is longer than the layout goes in circles.
    for _ in 0..body.layout.len() {
        for &inst in &body.blocks[block].insts[position..] {
            match &body.insts[inst].data {
                inst_data if is_barrier(inst_data) => return true,
                inst_data if touches_shared(body, inst_data) => return false,
                _ => {}
            }
        }
        match &body.blocks[block].terminator {
            Terminator::Return => return true,
            Terminator::Jump(target) => (block, position) = (target.block, 0),
            _ => return false,
        }
    }
    false
}

/// Whether nothing between the kernel's begin and here touches shared memory.
fn idle_before(body: &Function, graph: &Cfg, block: Block, position: usize) -> bool {
    let (mut block, mut end) = (block, position);
    for _ in 0..body.layout.len() {
        let insts = &body.blocks[block].insts[..end];
        // An earlier barrier does not help: it was kept for what comes before it.
        if insts.iter().any(|&inst| touches_shared(body, &body.insts[inst].data)) {
            return false;
        }
        match graph.predecessors(block) {
            [] => return block == body.entry_block(),
            &[before] => (block, end) = (before, body.blocks[before].insts.len()),
            _ => return false,
        }
    }
    false
}

/// Whether other work-items could tell when this instruction happens.
fn touches_shared(body: &Function, inst_data: &InstData) -> bool {
    let own = |pointer: Value| matches!(body.ty(pointer), Type::Ptr(Space::Private));
    let fixed = |pointer: Value| matches!(body.ty(pointer), Type::Ptr(Space::Constant));
    match inst_data {
        InstData::Load { pointer, access, .. } => access.volatile || !(own(*pointer) || fixed(*pointer)),
        InstData::Store { pointer, access, .. } => access.volatile || !own(*pointer),
        InstData::MemCopy { destination, source, volatile, .. } => {
            *volatile || !own(*destination) || !(own(*source) || fixed(*source))
        }
        InstData::MemSet { destination, volatile, .. } => *volatile || !own(*destination),
        inst_data => inst_data.has_effect(),
    }
}

impl Split {
    fn split_kernel(body: Function, graph: Cfg, cuts: Cuts, regions: Regions) -> Split {
        let liveness = compute_liveness(&body, &graph);
        let mut home_blocks: SecondaryMap<Value, Option<Block>> = SecondaryMap::new();
        let mut order: SecondaryMap<Value, u32> = SecondaryMap::new();
        let mut count = 0;
        for &block in graph.reverse_post_order() {
            let block_data = &body.blocks[block];
            let results = block_data.insts.iter().flat_map(|&inst| &body.insts[inst].results);
            for &value in block_data.params.iter().chain(results) {
                home_blocks[value] = Some(block);
                order[value] = count;
                count += 1;
            }
        }
        Split { body, cfg: graph, liveness, home: home_blocks, order, cuts, regions }
    }

    /// The slot that tells regions of several starts where to go on, if there are such regions.
    fn start_slot(&self) -> Option<LiveSlot> {
        let several = self.regions.starts.values().any(|starts| starts.len() > 1);
        several.then(|| LiveSlot::new(self.cuts.together.len()))
    }

    /// Whether a value is one of the kernel's inputs, which every region has.
    fn input_index(&self, value: Value) -> Option<usize> {
        match self.body.values[value].definition {
            ValueDef::Param(block, index) if block == self.body.entry_block() => Some(index as usize),
            _ => None,
        }
    }

    /// The blocks of a region: those that its starts lead to without passing a barrier.
    fn region_blocks(&self, region: Region) -> Vec<Block> {
        let starts: Vec<Block> = self.regions.starts[region].iter().map(|&start| self.cuts.starts[start]).collect();
        let mut inside: EntitySet<Block> = EntitySet::new();
        let mut found = starts.clone();
        found.iter().for_each(|&block| {
            inside.insert(block);
        });
        let mut next = 0;
        while let Some(&block) = found.get(next) {
            next += 1;
            if self.cuts.cut[block].is_none() {
                found.extend(self.cfg.successors(block).iter().copied().filter(|&target| inside.insert(target)));
            }
        }
        let mut rest = found.split_off(starts.len());
        rest.sort_by_key(|&block| self.cfg.rpo_number(block));
        starts.into_iter().chain(rest).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Shape, random_kernel};

    fn count_barriers(body: &Function) -> usize {
        let graph = build_cfg(body);
        let insts = graph.reverse_post_order().iter().flat_map(|&block| &body.blocks[block].insts);
        insts.filter(|&&inst| body.insts[inst].data == InstData::Barrier).count()
    }

    /// No synchronisation is added: one region for each barrier, and each of them is arrived at.
    #[test]
    fn one_region_more_than_barriers() {
        let mut dropped = 0;
        for seed in 0..400 {
            let shape = Shape { unstructured: seed % 2 == 0, ..Shape::default() };
            let mut kernel = random_kernel(seed, shape).module.kernels.swap_remove(0);
            let mut body = kernel.body().clone();
            let written = count_barriers(&body);
            drop_redundant(&mut body);
            let wanted = count_barriers(&body);
            dropped += written - wanted;
            cut_at_barriers(&mut kernel);
            assert_eq!(kernel.regions.len(), 1 + wanted, "seed {seed}");
            let mut arrived = vec![false; kernel.regions.len()];
            arrived[0] = true;
            for body in kernel.regions.values() {
                for &block in &body.layout {
                    if let Terminator::Exit(to) = body.blocks[block].terminator {
                        arrived[to.as_u32() as usize] = true;
                    }
                }
            }
            assert!(arrived.iter().all(|&region| region), "seed {seed}");
        }
        assert!(dropped > 0);
    }

    /// What a region loads from a slot was put there on every way to the region.
    #[test]
    fn slots_are_written_before_they_are_read() {
        for seed in 0..400 {
            let shape = Shape { unstructured: seed % 2 == 0, ..Shape::default() };
            let mut kernel = random_kernel(seed, shape).module.kernels.swap_remove(0);
            cut_at_barriers(&mut kernel);
            // By region: which slots hold something for sure when a work-item begins it.
            let mut written: Vec<Option<Vec<bool>>> = vec![None; kernel.regions.len()];
            written[0] = Some(vec![false; kernel.live.len()]);
            let mut worklist = vec![Region::from_u32(0)];
            while let Some(region) = worklist.pop() {
                let body = &kernel.regions[region];
                for &block in &body.layout {
                    let Terminator::Exit(to) = body.blocks[block].terminator else { continue };
                    let mut now = written[region.as_u32() as usize].clone().unwrap();
                    for &inst in &body.blocks[block].insts {
                        if let InstData::LiveStore { live_slot, .. } = body.insts[inst].data {
                            now[live_slot.as_u32() as usize] = true;
                        }
                    }
                    let previous = &mut written[to.as_u32() as usize];
                    let new = match previous {
                        Some(previous) => previous.iter().zip(&now).map(|(&a, &b)| a && b).collect(),
                        None => now,
                    };
                    if previous.as_ref() != Some(&new) {
                        *previous = Some(new);
                        worklist.push(to);
                    }
                }
            }
            for (region, body) in &kernel.regions {
                for inst in body.layout.iter().flat_map(|&block| &body.blocks[block].insts) {
                    if let InstData::LiveLoad { live_slot } = body.insts[*inst].data {
                        let written = written[region.as_u32() as usize].as_ref().unwrap();
                        assert!(written[live_slot.as_u32() as usize], "seed {seed}: {live_slot} in {region}");
                    }
                }
            }
        }
    }
}
