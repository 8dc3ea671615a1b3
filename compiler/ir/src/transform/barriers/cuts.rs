//! Where a kernel is cut: its blocks split so that each barrier ends one.
//!
//! Requires: a verified kernel's code, without barriers that separate nothing.
//! Ensures: no barrier and no collective instruction is left; where one was, a block ends that jumps to the one where work-items go
//! on. Values for collective operations are in slots.
//! Phases: blocks that no path leads to go; each block, from barrier to barrier.
//! Source: Karrenberg & Hack 2012, section 2.3.

use crate::analysis::cfg::build_cfg;
use crate::ir::{Block, BlockCall, Collect, Combine, Function, InstData, LiveSlot, Terminator};
use cranelift_entity::{PrimaryMap, SecondaryMap, entity_impl};
use lockstep_protocol::types::Type;

/// Where work-items go on after a barrier; the first one is the kernel's begin.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Start(u32);
entity_impl!(Start, "start");

/// Where a kernel is cut.
#[derive(Default)]
pub(super) struct Cuts {
    /// The start that an arrival at the end of this block leads to; the block jumps there.
    pub(super) cut: SecondaryMap<Block, Option<Start>>,
    /// The first block of each start.
    pub(super) starts: PrimaryMap<Start, Block>,
    /// What regions begin with.
    pub(super) combines: SecondaryMap<Start, Option<Combine>>,
    /// The slots where work-items leave their values for that, one for each type. In the region behind, a work-item
    /// takes the answer out before it does anything else.
    pub(super) together: PrimaryMap<LiveSlot, Type>,
}

impl Cuts {
    /// Moves a block's instructions from a position on into a new one, where work-items go on that arrive at the end of
    /// the block.
    pub(super) fn cut_at(&mut self, function: &mut Function, block: Block, position: usize) -> (Block, Start) {
        let rest_block = function.add_block();
        function.blocks[rest_block].insts = function.blocks[block].insts.split_off(position);
        let jump = Terminator::Jump(BlockCall { block: rest_block, arguments: Vec::new() });
        function.blocks[rest_block].terminator = std::mem::replace(&mut function.blocks[block].terminator, jump);
        let start = self.starts.push(rest_block);
        // A cut at the block's old end is one of what is behind now.
        self.cut[rest_block] = self.cut[block].replace(start);
        (rest_block, start)
    }
}

/// Has work-items that took a collective operation's answer arrive at once at a barrier more, which may share its region
/// with others.
pub(super) fn split_behind_answers(function: &mut Function, cuts: &mut Cuts) {
    for (start, block) in cuts.starts.clone() {
        if cuts.combines[start].is_some() {
            cuts.cut_at(function, block, 1);
        }
    }
}

/// Splits blocks so that each barrier, which goes, ends one. Barriers that no path leads to go without a
/// region.
pub(super) fn split_at_barriers(function: &mut Function) -> Cuts {
    let mut cuts = Cuts::default();
    cuts.starts.push(function.entry_block());
    let reachable = build_cfg(function);
    function.layout.retain(|&block| reachable.is_reachable(block));
    for block in function.layout.clone() {
        let instructions = std::mem::take(&mut function.blocks[block].insts);
        let mut block = block;
        for instruction in instructions {
            if !is_barrier(&function.insts[instruction].data) {
                function.blocks[block].insts.push(instruction);
                continue;
            }
            let (rest_block, start) = cuts.cut_at(function, block, function.blocks[block].insts.len());
            if let InstData::Collective { collective, opcode, argument } = function.insts[instruction].data {
                let operand_type = function.ty(argument);
                let slot =
                    cuts.together.iter().find(|&(_, slot_type)| *slot_type == operand_type).map(|(slot, _)| slot);
                let live_slot = slot.unwrap_or_else(|| cuts.together.push(operand_type));
                cuts.combines[start] = Some(Combine { collective, opcode, live_slot });
                let location = function.insts[instruction].location;
                function.append_inst(block, InstData::LiveStore { live_slot, argument }, &[], location);
                // The instruction now takes the answer.
                function.insts[instruction].data =
                    if collective == Collect::Reduce { InstData::Combined } else { InstData::LiveLoad { live_slot } };
                function.blocks[rest_block].insts.push(instruction);
            }
            block = rest_block;
        }
    }
    cuts
}

/// Whether work-items wait here for the others of their group.
pub(super) fn is_barrier(inst_data: &InstData) -> bool {
    matches!(inst_data, InstData::Barrier | InstData::Collective { .. })
}
