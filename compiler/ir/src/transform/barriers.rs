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

mod cuts;
mod live;
mod merge;
mod redundant;
mod region;
mod split;

use crate::analysis::cfg::build_cfg;
use crate::ir::Kernel;
use cranelift_entity::SecondaryMap;
use cuts::{split_at_barriers, split_behind_answers};
use lockstep_protocol::compile_options::Bounds;
use redundant::drop_redundant_barriers;
use split::Split;

/// Cuts a kernel at its barriers.
pub fn cut_at_barriers(kernel: &mut Kernel) {
    barriers_within(kernel, Bounds::default());
}

/// Cuts a kernel at its barriers into regions that copy no more than the bounds allow.
pub fn barriers_within(kernel: &mut Kernel, bounds: Bounds) {
    debug_assert_eq!(kernel.regions.len(), 1, "cut already");
    let mut function = kernel.body().clone();
    drop_redundant_barriers(&mut function);
    let mut cuts = split_at_barriers(&mut function);
    if cuts.starts.len() == 1 {
        *kernel.body_mut() = function;
        return;
    }
    let mut flow_graph = build_cfg(&function);
    let regions = if merge::copies_exceed(&function, &flow_graph, &cuts, bounds) {
        split_behind_answers(&mut function, &mut cuts);
        flow_graph = build_cfg(&function);
        merge::merged_regions(&flow_graph, &cuts, bounds.most_copies)
    } else {
        merge::separate_regions(&cuts)
    };
    let split = Split::split_kernel(function, flow_graph, cuts, regions);
    let plan = live::plan_live_values(kernel, &split);
    kernel.regions = split.regions.starts.keys().map(|region| region::build_region(&split, &plan, region)).collect();
    kernel.live = plan.slots;
    kernel.combines = SecondaryMap::new();
    for (region, starts) in &split.regions.starts {
        kernel.combines[region] = split.cuts.combines[starts[0]];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Function, InstData, Region, Terminator};
    use crate::testing::{Shape, random_kernel};

    fn count_barriers(function: &Function) -> usize {
        let flow_graph = build_cfg(function);
        let instructions = flow_graph.reverse_post_order().iter().flat_map(|&block| &function.blocks[block].insts);
        instructions.filter(|&&instruction| function.insts[instruction].data == InstData::Barrier).count()
    }

    /// No synchronisation is added: one region for each barrier, and each of them is arrived at.
    #[test]
    fn one_region_more_than_barriers() {
        let mut dropped = 0;
        for seed in 0..400 {
            let shape = Shape { unstructured: seed % 2 == 0, ..Shape::default() };
            let mut kernel = random_kernel(seed, shape).module.kernels.swap_remove(0);
            let mut function = kernel.body().clone();
            let written = count_barriers(&function);
            drop_redundant_barriers(&mut function);
            let wanted = count_barriers(&function);
            dropped += written - wanted;
            cut_at_barriers(&mut kernel);
            assert_eq!(kernel.regions.len(), 1 + wanted, "seed {seed}");
            let mut arrived = vec![false; kernel.regions.len()];
            arrived[0] = true;
            for function in kernel.regions.values() {
                for &block in &function.layout {
                    if let Terminator::Exit(target_region) = function.blocks[block].terminator {
                        arrived[target_region.as_u32() as usize] = true;
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
                let function = &kernel.regions[region];
                for &block in &function.layout {
                    let Terminator::Exit(target_region) = function.blocks[block].terminator else { continue };
                    let mut now = written[region.as_u32() as usize].clone().unwrap();
                    for &instruction in &function.blocks[block].insts {
                        if let InstData::LiveStore { live_slot, .. } = function.insts[instruction].data {
                            now[live_slot.as_u32() as usize] = true;
                        }
                    }
                    let previous = &mut written[target_region.as_u32() as usize];
                    let new = match previous {
                        Some(previous) => previous.iter().zip(&now).map(|(&a, &b)| a && b).collect(),
                        None => now,
                    };
                    if previous.as_ref() != Some(&new) {
                        *previous = Some(new);
                        worklist.push(target_region);
                    }
                }
            }
            for (region, function) in &kernel.regions {
                for instruction in function.layout.iter().flat_map(|&block| &function.blocks[block].insts) {
                    if let InstData::LiveLoad { live_slot } = function.insts[*instruction].data {
                        let written = written[region.as_u32() as usize].as_ref().unwrap();
                        assert!(written[live_slot.as_u32() as usize], "seed {seed}: {live_slot} in {region}");
                    }
                }
            }
        }
    }
}
