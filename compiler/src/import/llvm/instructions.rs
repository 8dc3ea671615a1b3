//! Questions to ask of instructions.

use super::{Block, Type, Value, copy_bytes};
use llvm_sys::core::*;
use llvm_sys::{LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMIntPredicate, LLVMOpcode, LLVMRealPredicate};
use llvm_sys::{LLVMGEPFlagInBounds, LLVMGEPFlagNUSW, LLVMGEPFlagNUW};
use std::marker::PhantomData;

/// What a GEP promises.
#[derive(Clone, Copy)]
pub(in crate::import) struct GepFlags {
    /// Base and every partial sum lie in one object.
    pub inbounds: bool,
    /// The offset's arithmetic does not wrap as signed.
    pub nsw: bool,
    /// The offset's arithmetic does not wrap as unsigned.
    pub nuw: bool,
}

impl<'m> Value<'m> {
    /// No-signed-wrap and no-unsigned-wrap of an integer operation that can have them.
    pub fn wrap_flags(self) -> (bool, bool) {
        let has_flags = self.opcode().is_some_and(|opcode| {
            matches!(opcode, LLVMOpcode::LLVMAdd | LLVMOpcode::LLVMSub | LLVMOpcode::LLVMMul | LLVMOpcode::LLVMShl)
        });
        if !has_flags {
            return (false, false);
        }
        // SAFETY: an operation that has these flags.
        unsafe { (LLVMGetNSW(self.0) != 0, LLVMGetNUW(self.0) != 0) }
    }

    /// The fast-math flags as LLVM's bits; none for operations that cannot have them.
    pub fn fast_math(self) -> u8 {
        // SAFETY: flags are read only where LLVM says that there are some.
        unsafe {
            if self.is_instruction() && LLVMCanValueUseFastMathFlags(self.0) != 0 {
                LLVMGetFastMathFlags(self.0) as u8 & 0x7f
            } else {
                0
            }
        }
    }

    /// How many units in the last place an operation's result may be off (`!fpmath`); none: it is rounded correctly.
    pub fn allowed_error(self) -> Option<f64> {
        const KIND: &str = "fpmath";
        if !self.is_instruction() {
            return None;
        }
        // SAFETY: an instruction; the node's operand is read as a number only if it is one.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            let kind_id = LLVMGetMDKindIDInContext(context, KIND.as_ptr().cast(), KIND.len() as u32);
            let metadata_node = Value::wrap_some(LLVMGetMetadata(self.0, kind_id))?;
            let error_bound = *metadata_node.node_operands()?.first()?;
            let mut inexact = 0;
            (!LLVMIsAConstantFP(error_bound.0).is_null()).then(|| LLVMConstRealGetDouble(error_bound.0, &mut inexact))
        }
    }

    /// The predicate of an integer comparison.
    pub fn int_predicate(self) -> Option<LLVMIntPredicate> {
        // SAFETY: asked of integer comparisons only.
        self.has_opcode(LLVMOpcode::LLVMICmp).then(|| unsafe { LLVMGetICmpPredicate(self.0) })
    }

    /// The predicate of a float comparison.
    pub fn real_predicate(self) -> Option<LLVMRealPredicate> {
        // SAFETY: asked of float comparisons only.
        self.has_opcode(LLVMOpcode::LLVMFCmp).then(|| unsafe { LLVMGetFCmpPredicate(self.0) })
    }

    /// Whether a load, store or atomic operation is volatile.
    pub fn is_volatile(self) -> bool {
        use LLVMOpcode::{LLVMAtomicCmpXchg, LLVMAtomicRMW, LLVMLoad, LLVMStore};
        let may_be_volatile = matches!(self.opcode(), Some(LLVMLoad | LLVMStore | LLVMAtomicRMW | LLVMAtomicCmpXchg));
        // SAFETY: an operation that can be volatile.
        may_be_volatile && unsafe { LLVMGetVolatile(self.0) != 0 }
    }

    /// The memory order of a load, store, fence or read-modify-write.
    pub fn memory_order(self) -> Option<LLVMAtomicOrdering> {
        use LLVMOpcode::{LLVMAtomicRMW, LLVMFence, LLVMLoad, LLVMStore};
        let has_order = matches!(self.opcode(), Some(LLVMLoad | LLVMStore | LLVMFence | LLVMAtomicRMW));
        // SAFETY: an operation that has one order.
        has_order.then(|| unsafe { LLVMGetOrdering(self.0) })
    }

    /// Whether a fence orders only what one thread does.
    pub fn is_single_thread(self) -> bool {
        // SAFETY: asked of fences only.
        self.has_opcode(LLVMOpcode::LLVMFence) && unsafe { LLVMIsAtomicSingleThread(self.0) != 0 }
    }

    /// The memory orders of a compare-exchange: success, failure.
    pub fn exchange_orderings(self) -> Option<(LLVMAtomicOrdering, LLVMAtomicOrdering)> {
        // SAFETY: asked of compare-exchanges only.
        self.has_opcode(LLVMOpcode::LLVMAtomicCmpXchg)
            .then(|| unsafe { (LLVMGetCmpXchgSuccessOrdering(self.0), LLVMGetCmpXchgFailureOrdering(self.0)) })
    }

    /// The operation of an atomic read-modify-write.
    pub fn rmw_operation(self) -> Option<LLVMAtomicRMWBinOp> {
        // SAFETY: asked of read-modify-writes only.
        self.has_opcode(LLVMOpcode::LLVMAtomicRMW).then(|| unsafe { LLVMGetAtomicRMWBinOp(self.0) })
    }

    /// The type an alloca makes room for.
    pub fn allocated_type(self) -> Option<Type<'m>> {
        // SAFETY: asked of allocas only.
        self.has_opcode(LLVMOpcode::LLVMAlloca).then(|| Type::wrap(unsafe { LLVMGetAllocatedType(self.0) }))
    }

    /// The type that a GEP's first index steps over, and its flags.
    pub fn gep_parts(self) -> Option<(Type<'m>, GepFlags)> {
        if !self.has_opcode(LLVMOpcode::LLVMGetElementPtr) {
            return None;
        }
        // SAFETY: a GEP instruction or constant expression.
        unsafe {
            let element_type = Type::wrap(LLVMGetGEPSourceElementType(self.0));
            let gep_flags = LLVMGEPGetNoWrapFlags(self.0);
            let inbounds = gep_flags & LLVMGEPFlagInBounds != 0;
            let no_signed_wrap = inbounds || gep_flags & LLVMGEPFlagNUSW != 0;
            let no_unsigned_wrap = gep_flags & LLVMGEPFlagNUW != 0;
            Some((element_type, GepFlags { inbounds, nsw: no_signed_wrap, nuw: no_unsigned_wrap }))
        }
    }

    /// The mask of a shuffle; `None` for elements that may be anything.
    pub fn shuffle_mask(self) -> Vec<Option<u32>> {
        if !self.has_opcode(LLVMOpcode::LLVMShuffleVector) {
            return Vec::new();
        }
        // SAFETY: a shuffle; elements are asked within their count.
        unsafe {
            (0..LLVMGetNumMaskElements(self.0))
                .map(|index| u32::try_from(LLVMGetMaskValue(self.0, index)).ok())
                .collect()
        }
    }

    /// The indices of an extractvalue or insertvalue.
    pub fn indices(self) -> Vec<u32> {
        if !self.has_opcode(LLVMOpcode::LLVMExtractValue) && !self.has_opcode(LLVMOpcode::LLVMInsertValue) {
            return Vec::new();
        }
        // SAFETY: LLVM keeps as many indices as it counts.
        unsafe {
            let index_count = LLVMGetNumIndices(self.0) as usize;
            std::slice::from_raw_parts(LLVMGetIndices(self.0), index_count).to_vec()
        }
    }

    /// The incoming values of a phi with their blocks.
    pub fn incoming_values(self) -> Vec<(Block<'m>, Value<'m>)> {
        if !self.has_opcode(LLVMOpcode::LLVMPHI) {
            return Vec::new();
        }
        // SAFETY: a phi; incoming values and blocks are asked within their count.
        unsafe {
            let block = |index| Block(LLVMGetIncomingBlock(self.0, index), PhantomData);
            let value = |index| Value::wrap(LLVMGetIncomingValue(self.0, index));
            (0..LLVMCountIncoming(self.0)).map(|index| (block(index), value(index))).collect()
        }
    }

    /// The condition of a conditional branch.
    pub fn branch_condition(self) -> Option<Value<'m>> {
        // SAFETY: the condition is asked of conditional branches only.
        unsafe {
            (self.has_opcode(LLVMOpcode::LLVMBr) && LLVMIsConditional(self.0) != 0)
                .then(|| Value::wrap(LLVMGetCondition(self.0)))
        }
    }

    /// The case constant for a switch's successor, from 1.
    pub fn switch_case(self, successor: u32) -> Option<Value<'m>> {
        // SAFETY: a switch that has this successor, which is not the default.
        unsafe {
            (self.has_opcode(LLVMOpcode::LLVMSwitch) && successor > 0 && successor < LLVMGetNumSuccessors(self.0))
                .then(|| Value::wrap(LLVMGetSwitchCaseValue(self.0, successor)))
        }
    }

    /// What a call calls.
    pub fn called_function(self) -> Option<Value<'m>> {
        // SAFETY: asked of calls only.
        self.has_opcode(LLVMOpcode::LLVMCall).then(|| Value::wrap(unsafe { LLVMGetCalledValue(self.0) }))
    }

    /// The arguments of a call.
    pub fn call_args(self) -> Vec<Value<'m>> {
        if !self.has_opcode(LLVMOpcode::LLVMCall) {
            return Vec::new();
        }
        // SAFETY: a call; its arguments are its first operands.
        let argument_count = unsafe { LLVMGetNumArgOperands(self.0) };
        (0..argument_count).filter_map(|index| self.operand(index)).collect()
    }

    /// The alignment that a call promises for an argument; 0 if none.
    pub fn arg_align(self, argument: u32) -> u32 {
        if argument as usize >= self.call_args().len() {
            return 0;
        }
        let name = "align";
        // SAFETY: a call that has this argument; its attributes have index argument + 1, and `align`
        // carries an integer. The name is given with its length.
        unsafe {
            let kind_id = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let attribute = LLVMGetCallSiteEnumAttribute(self.0, argument + 1, kind_id);
            if attribute.is_null() { 0 } else { LLVMGetEnumAttributeValue(attribute) as u32 }
        }
    }

    /// The name of an intrinsic function without its type suffix (`llvm.fma`).
    pub fn intrinsic_name(self) -> Option<String> {
        if !self.is_function() {
            return None;
        }
        let mut length = 0;
        // SAFETY: a function; an id that is not zero has a name with a length.
        unsafe {
            let intrinsic_id = LLVMGetIntrinsicID(self.0);
            if intrinsic_id == 0 {
                return None;
            }
            let bytes_start = LLVMIntrinsicGetName(intrinsic_id, &mut length);
            Some(String::from_utf8_lossy(&copy_bytes(bytes_start, length)).into_owned())
        }
    }
}
