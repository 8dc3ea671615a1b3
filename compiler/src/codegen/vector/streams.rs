//! Stores past the caches, through pointers of which a launch knows that it streams through them
//! ([`LaunchFacts::streams`](lockstep_protocol::launch_facts::LaunchFacts::streams)).
//!
//! A line that is written as a whole need not be read before. The machine collects such stores in a few buffers, and
//! a buffer that has to leave before its line is whole costs more than a store through the caches: with half a line at a
//! time, a kernel of two exponentials and two arrays took 1.45 times as long. So each store is of whole lines, and
//! gangs follow each other along memory. Whether a store begins where a line does is asked where it is made: buffers do,
//! but launches and parts of buffers may begin anywhere.

use super::memory::Rows;
use super::{Around, GangCode};
use crate::codegen::emit::Emitted;
use inkwell::IntPredicate;
use inkwell::values::VectorValue;
use lockstep_protocol::layout::Layout;

/// Bytes of a line of the caches.
const LINE: u64 = 64;

impl<'ctx> GangCode<'_, 'ctx, '_> {
    /// Whether rows of elements that all lanes write are to go past the caches.
    pub(super) fn goes_past_caches(&self, rows: Rows<'ctx>) -> bool {
        let bytes = u64::from(rows.ty.bytes()) * u64::from(rows.row) * u64::from(self.wide.get());
        let whole = rows.row == rows.count && bytes.is_multiple_of(LINE);
        whole && self.around.emit.scopes.is_streamed() && self.follow_each_other()
    }

    /// Whether gangs that run one after the other write one behind the other: not in groups of several rows, each of
    /// which is another page's. Rows of 64 bytes of groups of 16 x 16 took 2.5 times as long past the caches.
    fn follow_each_other(&self) -> bool {
        let Around { widening, frame, .. } = &self.around;
        matches!(widening.layout, Layout::X | Layout::Linear) && widening.run.is_none() && frame.launch.is_one_row()
    }

    /// Stores rows past the caches if they begin where a line does, and as others if not.
    pub(super) fn store_past_caches(&self, rows: Rows<'ctx>, wide: VectorValue<'ctx>) -> Emitted<()> {
        let emit = self.around.emit;
        let b = &emit.builder;
        let address = b.build_ptr_to_int(rows.start, emit.i64(), "")?;
        let beyond = b.build_and(address, emit.const64(LINE - 1), "")?;
        let aligned = b.build_int_compare(IntPredicate::EQ, beyond, emit.const64(0), "")?;
        let (past, through, behind) = (emit.block("past"), emit.block("through"), emit.block("behind"));
        b.build_conditional_branch(aligned, past, through)?;
        emit.at(past);
        let store = self.store_row(Rows { align: LINE as u32, ..rows }, wide)?;
        let one = emit.ctx.metadata_node(&[emit.ctx.i32_type().const_int(1, false).into()]);
        store.set_metadata(one, emit.ctx.get_kind_id("nontemporal"))?;
        b.build_unconditional_branch(behind)?;
        emit.at(through);
        self.store_row(rows, wide)?;
        b.build_unconditional_branch(behind)?;
        emit.at(behind);
        Ok(())
    }
}
