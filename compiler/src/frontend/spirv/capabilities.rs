//! What of SPIR-V is there: the one table of capabilities and that of extensions.

use spirv::Capability;

use super::error::{Attempt, refuse};

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
    Capability::ShaderClockKHR,
    Capability::AtomicFloat32MinMaxEXT,
    Capability::AtomicFloat64MinMaxEXT,
    Capability::ExpectAssumeKHR,
    Capability::FPFastMathModeINTEL,
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
];

/// Every extension that a module may ask for, by name.
pub const EXTENSIONS: &[&str] = &[
    "SPV_EXT_optnone",
    "SPV_EXT_relaxed_printf_string_address_space",
    "SPV_EXT_shader_atomic_float_add",
    "SPV_EXT_shader_atomic_float_min_max",
    "SPV_INTEL_fp_fast_math_mode",
    "SPV_INTEL_memory_access_aliasing",
    "SPV_INTEL_optnone",
    "SPV_KHR_bit_instructions",
    "SPV_KHR_expect_assume",
    "SPV_KHR_float_controls",
    "SPV_KHR_integer_dot_product",
    "SPV_KHR_linkonce_odr",
    "SPV_KHR_no_integer_wrap_decoration",
    "SPV_KHR_non_semantic_info",
    "SPV_KHR_shader_clock",
    "SPV_KHR_subgroup_rotate",
];

/// Judges an `OpCapability`.
pub(super) fn check_capability(number: u32) -> Attempt<()> {
    match Capability::from_u32(number) {
        Some(capability) if CAPABILITIES.contains(&capability) => Ok(()),
        Some(capability) => refuse!("the capability {capability:?} is not supported"),
        None => refuse!("there is no capability {number}"),
    }
}

/// Judges an `OpExtension`.
pub(super) fn check_extension(name: &str) -> Attempt<()> {
    if !EXTENSIONS.contains(&name) {
        refuse!("the extension {name} is not supported");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_in_the_tables_is_refused_by_name() {
        assert_eq!(check_capability(Capability::Kernel as u32), Ok(()));
        let refusal = check_capability(Capability::Shader as u32).expect_err("it is not for kernels");
        assert_eq!(refusal.sentence, "the capability Shader is not supported");
        assert_eq!(check_capability(77_777).expect_err("there is none").sentence, "there is no capability 77777");
        assert_eq!(check_extension("SPV_KHR_expect_assume"), Ok(()));
        let refusal = check_extension("SPV_KHR_ray_tracing").expect_err("it is not for kernels");
        assert_eq!(refusal.sentence, "the extension SPV_KHR_ray_tracing is not supported");
    }

    #[test]
    fn the_tables_are_sorted() {
        assert!(CAPABILITIES.is_sorted_by(|first, second| (*first as u32) < *second as u32));
        assert!(EXTENSIONS.is_sorted());
    }
}
