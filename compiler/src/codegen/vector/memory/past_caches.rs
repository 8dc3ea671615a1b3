//! Stores past the caches, through pointers of which a launch knows that it streams through them
//! ([`LaunchFacts::streams`](lockstep_protocol::launch_facts::LaunchFacts::streams)).
//!
//! A line that is written as a whole need not be read before. The machine collects such stores in a few buffers, and
//! a buffer that has to leave before its line is whole costs more than a store through the caches: with half a line at a
//! time, a kernel of two exponentials and two arrays took 1.45 times as long. So each store is of whole lines, and
//! gangs follow each other along memory. Whether a store begins where a line does is asked where it is made: buffers do,
//! but launches and parts of buffers may begin anywhere.

use super::super::VectorEmitter;
use super::WideCode;
use crate::codegen::emit::Emitted;
use inkwell::IntPredicate;
use inkwell::values::VectorValue;
use lockstep_ir::plan::access_lowering::{CACHE_LINE, WideAccess};

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    /// Stores rows past the caches if they begin where a line does, and as others if not.
    pub(super) fn store_past_caches(&self, wide_code: WideCode<'ctx>, value: VectorValue<'ctx>) -> Emitted<()> {
        let emitter = self.around.emitter;
        let builder = &emitter.builder;
        let address = builder.build_ptr_to_int(wide_code.start, emitter.i64_type(), "")?;
        let bytes_beyond = builder.build_and(address, emitter.const64(u64::from(CACHE_LINE) - 1), "")?;
        let aligned = builder.build_int_compare(IntPredicate::EQ, bytes_beyond, emitter.const64(0), "")?;
        let (past_block, through, after_block) =
            (emitter.append_block("past"), emitter.append_block("through"), emitter.append_block("behind"));
        builder.build_conditional_branch(aligned, past_block, through)?;
        emitter.position_at(past_block);
        let whole_line = WideAccess { align: CACHE_LINE, ..wide_code.wide };
        let store_instruction = self.store_row(WideCode { wide: whole_line, ..wide_code }, value)?;
        let one_node = emitter.context.metadata_node(&[emitter.context.i32_type().const_int(1, false).into()]);
        store_instruction.set_metadata(one_node, emitter.context.get_kind_id("nontemporal"))?;
        builder.build_unconditional_branch(after_block)?;
        emitter.position_at(through);
        self.store_row(wide_code, value)?;
        builder.build_unconditional_branch(after_block)?;
        emitter.position_at(after_block);
        Ok(())
    }
}
