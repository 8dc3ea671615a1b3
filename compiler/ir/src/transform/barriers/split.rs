//! A kernel's code with its blocks split at barriers, as its regions are made of it.
//!
//! Requires: the kernel's code, where it is cut and which barriers share a region.
//! Ensures: each value has the block that defines it and its place in an order in which operands come before results.
//! Phases: liveness; the order of definitions. Questions for live values and regions.
//! Source: Karrenberg & Hack 2012, section 2.3.

use super::cuts::Cuts;
use super::merge::Regions;
use crate::analysis::cfg::Cfg;
use crate::analysis::liveness::{Liveness, compute_liveness};
use crate::ir::{Block, Function, LiveSlot, Region, Value, ValueDef};
use cranelift_entity::{EntityRef, EntitySet, SecondaryMap};

/// The kernel's code with its blocks split behind barriers, and what is known of it.
pub(super) struct Split {
    pub(super) body: Function,
    pub(super) cfg: Cfg,
    pub(super) liveness: Liveness,
    /// The block that defines a value.
    pub(super) home: SecondaryMap<Value, Option<Block>>,
    /// The place of a value's definition in an order in which operands come before results.
    pub(super) order: SecondaryMap<Value, u32>,
    pub(super) cuts: Cuts,
    pub(super) regions: Regions,
}

impl Split {
    pub(super) fn split_kernel(function: Function, flow_graph: Cfg, cuts: Cuts, regions: Regions) -> Split {
        let liveness = compute_liveness(&function, &flow_graph);
        let mut home_blocks: SecondaryMap<Value, Option<Block>> = SecondaryMap::new();
        let mut order: SecondaryMap<Value, u32> = SecondaryMap::new();
        let mut value_count = 0;
        for &block in flow_graph.reverse_post_order() {
            let block_data = &function.blocks[block];
            let results = block_data.insts.iter().flat_map(|&instruction| &function.insts[instruction].results);
            for &value in block_data.params.iter().chain(results) {
                home_blocks[value] = Some(block);
                order[value] = value_count;
                value_count += 1;
            }
        }
        Split { body: function, cfg: flow_graph, liveness, home: home_blocks, order, cuts, regions }
    }

    /// The slot that tells regions of several starts where to go on, if there are such regions.
    pub(super) fn start_slot(&self) -> Option<LiveSlot> {
        let several = self.regions.starts.values().any(|starts| starts.len() > 1);
        several.then(|| LiveSlot::new(self.cuts.together.len()))
    }

    /// Whether a value is one of the kernel's inputs, which every region has.
    pub(super) fn input_index(&self, value: Value) -> Option<usize> {
        match self.body.values[value].definition {
            ValueDef::Param(block, index) if block == self.body.entry_block() => Some(index as usize),
            _ => None,
        }
    }

    /// The blocks of a region: those that its starts lead to without passing a barrier.
    pub(super) fn region_blocks(&self, region: Region) -> Vec<Block> {
        let starts: Vec<Block> = self.regions.starts[region].iter().map(|&start| self.cuts.starts[start]).collect();
        let mut inside: EntitySet<Block> = EntitySet::new();
        let mut region_blocks = starts.clone();
        region_blocks.iter().for_each(|&block| {
            inside.insert(block);
        });
        let mut next = 0;
        while let Some(&block) = region_blocks.get(next) {
            next += 1;
            if self.cuts.cut[block].is_none() {
                region_blocks
                    .extend(self.cfg.successors(block).iter().copied().filter(|&target| inside.insert(target)));
            }
        }
        let mut rest = region_blocks.split_off(starts.len());
        rest.sort_by_key(|&block| self.cfg.rpo_number(block));
        starts.into_iter().chain(rest).collect()
    }
}
