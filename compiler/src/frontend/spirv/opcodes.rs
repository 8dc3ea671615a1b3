//! The one table of instructions: what each becomes.

use std::sync::LazyLock;

use spirv::Op;

use super::error::Attempt;
use super::translator::Translator;
use super::{
    arithmetic, atomics, built_ins, composites, convert, dot_products, expectations, extended, function_pointers,
    functions, groups, images, late_texts, loop_controls, memory, pipes, sub_group_blocks, untyped, variable_length,
};

/// Translates an instruction of a function. The words are those after the first.
pub(super) type Translate = fn(&mut Translator<'_>, Op, &[u32]) -> Attempt<()>;

/// Instructions of functions, by what they are about.
const GROUPS: &[(Translate, &[Op])] = &[
    (functions::begin_block, &[Op::Label]),
    (functions::translate_parameter, &[Op::FunctionParameter]),
    (functions::translate_end, &[Op::Branch, Op::BranchConditional, Op::Return, Op::ReturnValue, Op::Unreachable]),
    (functions::translate_switch, &[Op::Switch]),
    (late_texts::translate_phi, &[Op::Phi]),
    (functions::translate_call, &[Op::FunctionCall]),
    (function_pointers::translate_pointer_call, &[Op::FunctionPointerCallINTEL]),
    (skip, &[Op::Nop, Op::SelectionMerge]),
    (loop_controls::translate_loop_merge, &[Op::LoopMerge]),
    (loop_controls::translate_loop_control, &[Op::LoopControlINTEL]),
    (variable_length::translate_array, &[Op::VariableLengthArrayINTEL, Op::UntypedVariableLengthArrayINTEL]),
    (variable_length::translate_save, &[Op::SaveMemoryINTEL]),
    (variable_length::translate_restore, &[Op::RestoreMemoryINTEL]),
    (expectations::translate_assumption, &[Op::AssumeTrueKHR]),
    (expectations::translate_expectation, &[Op::ExpectKHR]),
    (translate_undefined, &[Op::Undef]),
    (memory::translate_variable, &[Op::Variable, Op::UntypedVariableKHR]),
    (memory::translate_load, &[Op::Load]),
    (memory::translate_store, &[Op::Store]),
    (memory::translate_copy, &[Op::CopyMemory]),
    (memory::translate_copy_sized, &[Op::CopyMemorySized]),
    (
        memory::translate_chain,
        &[
            Op::AccessChain,
            Op::InBoundsAccessChain,
            Op::PtrAccessChain,
            Op::InBoundsPtrAccessChain,
            Op::UntypedAccessChainKHR,
            Op::UntypedInBoundsAccessChainKHR,
            Op::UntypedPtrAccessChainKHR,
            Op::UntypedInBoundsPtrAccessChainKHR,
        ],
    ),
    (memory::translate_pointer_comparison, &[Op::PtrEqual, Op::PtrNotEqual]),
    (memory::translate_pointer_difference, &[Op::PtrDiff]),
    (memory::skip_lifetime, &[Op::LifetimeStart, Op::LifetimeStop]),
    (
        arithmetic::translate_binary,
        &[
            Op::IAdd,
            Op::ISub,
            Op::IMul,
            Op::UDiv,
            Op::SDiv,
            Op::UMod,
            Op::SRem,
            Op::BitwiseOr,
            Op::BitwiseXor,
            Op::BitwiseAnd,
            Op::FAdd,
            Op::FSub,
            Op::FMul,
            Op::FDiv,
            Op::LogicalOr,
            Op::LogicalAnd,
            Op::LogicalEqual,
            Op::LogicalNotEqual,
        ],
    ),
    (
        arithmetic::translate_comparison,
        &[
            Op::IEqual,
            Op::INotEqual,
            Op::UGreaterThan,
            Op::SGreaterThan,
            Op::UGreaterThanEqual,
            Op::SGreaterThanEqual,
            Op::ULessThan,
            Op::SLessThan,
            Op::ULessThanEqual,
            Op::SLessThanEqual,
            Op::FOrdEqual,
            Op::FUnordEqual,
            Op::FOrdNotEqual,
            Op::FUnordNotEqual,
            Op::FOrdLessThan,
            Op::FUnordLessThan,
            Op::FOrdGreaterThan,
            Op::FUnordGreaterThan,
            Op::FOrdLessThanEqual,
            Op::FUnordLessThanEqual,
            Op::FOrdGreaterThanEqual,
            Op::FUnordGreaterThanEqual,
            Op::LessOrGreater,
            Op::Ordered,
            Op::Unordered,
        ],
    ),
    (arithmetic::translate_shift, &[Op::ShiftLeftLogical, Op::ShiftRightLogical, Op::ShiftRightArithmetic]),
    (arithmetic::translate_unary, &[Op::SNegate, Op::FNegate, Op::Not, Op::LogicalNot]),
    (arithmetic::translate_modulo, &[Op::SMod]),
    (arithmetic::translate_float_remainder, &[Op::FRem, Op::FMod]),
    (arithmetic::translate_scaling, &[Op::VectorTimesScalar]),
    (arithmetic::translate_fence, &[Op::ArithmeticFenceEXT]),
    (arithmetic::translate_dot, &[Op::Dot]),
    (
        dot_products::translate_integer_dot,
        &[Op::SDot, Op::UDot, Op::SUDot, Op::SDotAccSat, Op::UDotAccSat, Op::SUDotAccSat],
    ),
    (built_ins::translate_clock, &[Op::ReadClockKHR]),
    (arithmetic::translate_extended, &[Op::UMulExtended, Op::SMulExtended, Op::IAddCarry, Op::ISubBorrow]),
    (arithmetic::translate_classification, &[Op::IsNan, Op::IsInf, Op::IsFinite, Op::IsNormal, Op::SignBitSet]),
    (arithmetic::translate_any_all, &[Op::Any, Op::All]),
    (arithmetic::translate_select, &[Op::Select]),
    (
        arithmetic::translate_bits,
        &[Op::BitCount, Op::BitReverse, Op::BitFieldInsert, Op::BitFieldSExtract, Op::BitFieldUExtract],
    ),
    (
        convert::translate_conversion,
        &[
            Op::ConvertFToU,
            Op::ConvertFToS,
            Op::ConvertSToF,
            Op::ConvertUToF,
            Op::FConvert,
            Op::UConvert,
            Op::SConvert,
            Op::SatConvertSToU,
            Op::SatConvertUToS,
        ],
    ),
    (convert::translate_bfloat16, &[Op::ConvertFToBF16INTEL, Op::ConvertBF16ToFINTEL]),
    (convert::translate_bitcast, &[Op::Bitcast]),
    (
        convert::translate_pointer_cast,
        &[Op::ConvertPtrToU, Op::ConvertUToPtr, Op::PtrCastToGeneric, Op::GenericCastToPtr],
    ),
    (convert::translate_explicit_cast, &[Op::GenericCastToPtrExplicit]),
    (convert::translate_pointer_semantics, &[Op::GenericPtrMemSemantics]),
    (composites::translate_construct, &[Op::CompositeConstruct]),
    (composites::translate_extract, &[Op::CompositeExtract]),
    (composites::translate_insert, &[Op::CompositeInsert]),
    (composites::translate_copy_object, &[Op::CopyObject]),
    (composites::translate_copy_logical, &[Op::CopyLogical]),
    (composites::translate_extract_dynamic, &[Op::VectorExtractDynamic]),
    (composites::translate_insert_dynamic, &[Op::VectorInsertDynamic]),
    (composites::translate_shuffle, &[Op::VectorShuffle]),
    (atomics::translate_load, &[Op::AtomicLoad]),
    (atomics::translate_store, &[Op::AtomicStore]),
    (
        atomics::translate_update,
        &[
            Op::AtomicExchange,
            Op::AtomicIIncrement,
            Op::AtomicIDecrement,
            Op::AtomicIAdd,
            Op::AtomicISub,
            Op::AtomicSMin,
            Op::AtomicUMin,
            Op::AtomicSMax,
            Op::AtomicUMax,
            Op::AtomicAnd,
            Op::AtomicOr,
            Op::AtomicXor,
            Op::AtomicFAddEXT,
            Op::AtomicFMinEXT,
            Op::AtomicFMaxEXT,
        ],
    ),
    (atomics::translate_exchange, &[Op::AtomicCompareExchange, Op::AtomicCompareExchangeWeak]),
    (atomics::translate_flag, &[Op::AtomicFlagTestAndSet, Op::AtomicFlagClear]),
    (atomics::translate_fence, &[Op::MemoryBarrier]),
    (groups::translate_barrier, &[Op::ControlBarrier, Op::ControlBarrierArriveINTEL, Op::ControlBarrierWaitINTEL]),
    (groups::translate_vote, &[Op::GroupAll, Op::GroupAny, Op::GroupNonUniformAll, Op::GroupNonUniformAny]),
    (groups::translate_broadcast, &[Op::GroupBroadcast]),
    (
        groups::translate_combination,
        &[
            Op::GroupIAdd,
            Op::GroupFAdd,
            Op::GroupFMin,
            Op::GroupUMin,
            Op::GroupSMin,
            Op::GroupFMax,
            Op::GroupUMax,
            Op::GroupSMax,
            Op::GroupNonUniformIAdd,
            Op::GroupNonUniformFAdd,
            Op::GroupNonUniformIMul,
            Op::GroupNonUniformFMul,
            Op::GroupNonUniformSMin,
            Op::GroupNonUniformUMin,
            Op::GroupNonUniformFMin,
            Op::GroupNonUniformSMax,
            Op::GroupNonUniformUMax,
            Op::GroupNonUniformFMax,
            Op::GroupNonUniformBitwiseAnd,
            Op::GroupNonUniformBitwiseOr,
            Op::GroupNonUniformBitwiseXor,
            Op::GroupNonUniformLogicalAnd,
            Op::GroupNonUniformLogicalOr,
            Op::GroupNonUniformLogicalXor,
            Op::GroupIMulKHR,
            Op::GroupFMulKHR,
            Op::GroupBitwiseAndKHR,
            Op::GroupBitwiseOrKHR,
            Op::GroupBitwiseXorKHR,
            Op::GroupLogicalAndKHR,
            Op::GroupLogicalOrKHR,
            Op::GroupLogicalXorKHR,
        ],
    ),
    (groups::translate_election, &[Op::GroupNonUniformElect]),
    (groups::translate_all_equal, &[Op::GroupNonUniformAllEqual]),
    (
        groups::translate_exchange,
        &[
            Op::GroupNonUniformBroadcast,
            Op::GroupNonUniformBroadcastFirst,
            Op::GroupNonUniformShuffle,
            Op::GroupNonUniformShuffleXor,
            Op::GroupNonUniformShuffleUp,
            Op::GroupNonUniformShuffleDown,
            Op::GroupNonUniformRotateKHR,
        ],
    ),
    (
        groups::translate_ballot,
        &[
            Op::GroupNonUniformBallot,
            Op::GroupNonUniformInverseBallot,
            Op::GroupNonUniformBallotBitExtract,
            Op::GroupNonUniformBallotBitCount,
            Op::GroupNonUniformBallotFindLSB,
            Op::GroupNonUniformBallotFindMSB,
        ],
    ),
    (groups::translate_async_copy, &[Op::GroupAsyncCopy]),
    (untyped::translate_async_copy, &[Op::UntypedGroupAsyncCopyKHR]),
    (untyped::translate_prefetch, &[Op::UntypedPrefetchKHR]),
    (groups::translate_wait, &[Op::GroupWaitEvents]),
    (
        sub_group_blocks::translate_shuffle,
        &[
            Op::SubgroupShuffleINTEL,
            Op::SubgroupShuffleXorINTEL,
            Op::SubgroupShuffleDownINTEL,
            Op::SubgroupShuffleUpINTEL,
        ],
    ),
    (sub_group_blocks::translate_block_read, &[Op::SubgroupBlockReadINTEL, Op::SubgroupImageBlockReadINTEL]),
    (sub_group_blocks::translate_block_write, &[Op::SubgroupBlockWriteINTEL, Op::SubgroupImageBlockWriteINTEL]),
    (images::translate_pairing, &[Op::SampledImage]),
    (images::translate_unpairing, &[Op::Image]),
    (images::translate_read, &[Op::ImageSampleExplicitLod, Op::ImageRead]),
    (images::translate_write, &[Op::ImageWrite]),
    (images::translate_size, &[Op::ImageQuerySize, Op::ImageQuerySizeLod]),
    (images::translate_format, &[Op::ImageQueryFormat, Op::ImageQueryOrder]),
    (pipes::translate_transfer, &[Op::ReadPipe, Op::WritePipe, Op::ReservedReadPipe, Op::ReservedWritePipe]),
    (
        pipes::translate_reservation,
        &[
            Op::ReserveReadPipePackets,
            Op::ReserveWritePipePackets,
            Op::GroupReserveReadPipePackets,
            Op::GroupReserveWritePipePackets,
        ],
    ),
    (
        pipes::translate_commit,
        &[Op::CommitReadPipe, Op::CommitWritePipe, Op::GroupCommitReadPipe, Op::GroupCommitWritePipe],
    ),
    (pipes::translate_validity, &[Op::IsValidReserveId]),
    (pipes::translate_count, &[Op::GetNumPipePackets, Op::GetMaxPipePackets]),
    (extended::translate_instruction, &[Op::ExtInst, Op::ExtInstWithForwardRefsKHR]),
];

/// The instructions of functions that are supported.
pub fn supported_instructions() -> impl Iterator<Item = Op> {
    GROUPS.iter().flat_map(|(_, opcodes)| opcodes.iter().copied())
}

/// What translates an instruction of a function; none where that is not supported.
pub(super) fn find_translation(opcode: Op) -> Option<Translate> {
    TRANSLATIONS.get(opcode as usize).copied().flatten()
}

/// The groups by the numbers of instructions.
static TRANSLATIONS: LazyLock<Vec<Option<Translate>>> = LazyLock::new(|| {
    let greatest = supported_instructions().map(|opcode| opcode as usize).max().unwrap_or_default();
    let mut translations: Vec<Option<Translate>> = vec![None; greatest + 1];
    for &(translate, opcodes) in GROUPS {
        opcodes.iter().for_each(|&opcode| translations[opcode as usize] = Some(translate));
    }
    translations
});

/// Instructions that say nothing of what a program does.
fn skip(_: &mut Translator<'_>, _: Op, _: &[u32]) -> Attempt<()> {
    Ok(())
}

/// `OpUndef` in a function: a constant like those of the module.
fn translate_undefined(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    super::constants::declare_constant(translator, opcode, words)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_instruction_is_of_one_group() {
        let mut known = HashSet::new();
        assert!(GROUPS.iter().flat_map(|(_, opcodes)| *opcodes).all(|opcode| known.insert(*opcode)));
    }
}
