//! What of SPIR-V is there: the one table of capabilities, that of extensions and that of sets of instructions.
//!
//! The reader takes what stands here and refuses everything else by its name; the device answers with the same tables when it
//! is asked (cl_khr_spirv_queries), so a capability that is reported is one that modules may declare.

use spirv::Capability;

/// Every capability that a module may declare, in the order of their numbers.
pub const CAPABILITIES: &[Capability] = &[
    Capability::Addresses,
    Capability::Linkage,
    Capability::Kernel,
    Capability::Vector16,
    Capability::Float16Buffer,
    Capability::Float16,
    Capability::Float64,
    Capability::Int64,
    Capability::Int64Atomics,
    Capability::ImageBasic,
    Capability::ImageReadWrite,
    Capability::Pipes,
    Capability::Groups,
    Capability::LiteralSampler,
    Capability::Int16,
    Capability::GenericPointer,
    Capability::Int8,
    Capability::Sampled1D,
    Capability::Image1D,
    Capability::SampledBuffer,
    Capability::ImageBuffer,
    Capability::SubgroupDispatch,
    Capability::GroupNonUniform,
    Capability::GroupNonUniformVote,
    Capability::GroupNonUniformArithmetic,
    Capability::GroupNonUniformBallot,
    Capability::GroupNonUniformShuffle,
    Capability::GroupNonUniformShuffleRelative,
    Capability::GroupNonUniformClustered,
    Capability::UniformDecoration,
    Capability::DenormPreserve,
    Capability::SignedZeroInfNanPreserve,
    Capability::RoundingModeRTE,
    Capability::UntypedPointersKHR,
    Capability::ShaderClockKHR,
    Capability::SubgroupShuffleINTEL,
    Capability::SubgroupBufferBlockIOINTEL,
    Capability::SubgroupImageBlockIOINTEL,
    Capability::FunctionPointersINTEL,
    Capability::IndirectReferencesINTEL,
    Capability::AtomicFloat32MinMaxEXT,
    Capability::AtomicFloat64MinMaxEXT,
    Capability::ExpectAssumeKHR,
    Capability::VariableLengthArrayINTEL,
    Capability::FPFastMathModeINTEL,
    Capability::UnstructuredLoopControlsINTEL,
    Capability::KernelAttributesINTEL,
    Capability::FPGAKernelAttributesINTEL,
    Capability::MemoryAccessAliasingINTEL,
    Capability::DotProductInputAll,
    Capability::DotProductInput4x8Bit,
    Capability::DotProductInput4x8BitPacked,
    Capability::DotProduct,
    Capability::BitInstructions,
    Capability::GroupNonUniformRotateKHR,
    Capability::AtomicFloat32AddEXT,
    Capability::AtomicFloat64AddEXT,
    Capability::OptNoneEXT,
    Capability::BFloat16ConversionINTEL,
    Capability::SplitBarrierINTEL,
    Capability::ArithmeticFenceEXT,
    Capability::UntypedVariableLengthArrayINTEL,
    Capability::GroupUniformArithmeticKHR,
    Capability::CacheControlsINTEL,
];

/// Every extension that a module may ask for, by name.
pub const EXTENSIONS: &[&str] = &[
    "SPV_EXT_arithmetic_fence",
    "SPV_EXT_optnone",
    "SPV_EXT_relaxed_printf_string_address_space",
    "SPV_EXT_shader_atomic_float_add",
    "SPV_EXT_shader_atomic_float_min_max",
    "SPV_INTEL_arithmetic_fence",
    "SPV_INTEL_bfloat16_conversion",
    "SPV_INTEL_cache_controls",
    "SPV_INTEL_fp_fast_math_mode",
    "SPV_INTEL_function_pointers",
    "SPV_INTEL_kernel_attributes",
    "SPV_INTEL_memory_access_aliasing",
    "SPV_INTEL_optnone",
    "SPV_INTEL_split_barrier",
    "SPV_INTEL_subgroups",
    "SPV_INTEL_unstructured_loop_controls",
    "SPV_INTEL_variable_length_array",
    "SPV_KHR_bit_instructions",
    "SPV_KHR_expect_assume",
    "SPV_KHR_float_controls",
    "SPV_KHR_integer_dot_product",
    "SPV_KHR_linkonce_odr",
    "SPV_KHR_no_integer_wrap_decoration",
    "SPV_KHR_non_semantic_info",
    "SPV_KHR_relaxed_extended_instruction",
    "SPV_KHR_shader_clock",
    "SPV_KHR_subgroup_rotate",
    "SPV_KHR_uniform_group_instructions",
    "SPV_KHR_untyped_pointers",
];

/// The set of instructions that are the built-in functions of OpenCL C.
pub const OPENCL_INSTRUCTIONS: &str = "OpenCL.std";

/// Every set of instructions that a module may import by its full name. Beside these are those that begin with
/// [`MEANINGLESS_SETS`].
pub const INSTRUCTION_SETS: &[&str] = &["OpenCL.DebugInfo.100", OPENCL_INSTRUCTIONS];

/// What the names of the sets begin with whose instructions say nothing of what a program does (SPV_KHR_non_semantic_info).
pub const MEANINGLESS_SETS: &str = "NonSemantic.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sorted() {
        assert!(CAPABILITIES.is_sorted_by(|first, second| (*first as u32) < *second as u32));
        assert!(EXTENSIONS.is_sorted() && INSTRUCTION_SETS.is_sorted());
    }
}
