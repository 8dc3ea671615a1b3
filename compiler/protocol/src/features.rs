//! What the device claims to support: the one table behind `-cl-ext`, `CL_DEVICE_EXTENSIONS` and
//! `CL_DEVICE_OPENCL_C_FEATURES`.
//!
//! The front end must define exactly the macros that the host API reports, so both read this page. A line is added
//! here when, and only when, the library and the compiler deliver what it names.

use crate::build_options::LanguageVersion;

/// A version as OpenCL packs it (`CL_MAKE_VERSION`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The first number of the version.
    pub major: u32,
    /// The second number of the version.
    pub minor: u32,
    /// The third number of the version.
    pub patch: u32,
}

impl Version {
    /// A version from its parts.
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self { major, minor, patch }
    }

    /// The `cl_version` encoding: 10 bits major, 10 bits minor, 12 bits patch.
    pub const fn encoded(self) -> u32 {
        (self.major << 22) | (self.minor << 12) | self.patch
    }
}

/// One extension of the platform or the device.
#[derive(Clone, Copy, Debug)]
pub struct Extension {
    /// Its `cl_...` name.
    pub name: &'static str,
    /// The version of the extension's specification.
    pub version: Version,
    /// What it gives, in a few words.
    pub purpose: &'static str,
    /// Whether it changes the language, so that clang has to be told to switch it on.
    pub language: bool,
    /// Whether `CL_PLATFORM_EXTENSIONS` lists it too.
    pub platform: bool,
}

const fn language_extension(name: &'static str, purpose: &'static str) -> Extension {
    Extension { name, purpose, version: Version::new(1, 0, 0), language: true, platform: true }
}

/// An extension of the host API alone.
const fn host_extension(name: &'static str, purpose: &'static str, version: Version) -> Extension {
    Extension { name, purpose, version, language: false, platform: true }
}

/// Every extension reported, in the order in which it is reported.
pub const EXTENSIONS: &[Extension] = &[
    host_extension(
        "cl_ext_buffer_device_address",
        "buffers have addresses that kernels keep in memory",
        Version::new(1, 0, 2),
    ),
    language_extension("cl_ext_float_atomics", "atomic sums, least and greatest of `float` and `double`"),
    host_extension(
        "cl_ext_immutable_memory_objects",
        "buffers and images whose bytes never change",
        Version::new(1, 0, 0),
    ),
    language_extension("cl_intel_bfloat16_conversions", "`float` to and from the upper half of its bits"),
    language_extension(
        "cl_intel_required_subgroup_size",
        "a kernel chooses how many work-items a sub-group has: 8, 16 or 32",
    ),
    host_extension("cl_intel_spirv_subgroups", "SPIR-V with blocks and shuffles of sub-groups", Version::new(1, 0, 0)),
    language_extension("cl_intel_split_work_group_barrier", "a work-item arrives at a barrier and waits there later"),
    language_extension("cl_intel_subgroup_local_block_io", "sub-groups read and write blocks of local memory"),
    language_extension("cl_intel_subgroups", "sub-groups read and write blocks and shuffle values"),
    language_extension("cl_intel_subgroups_char", "the same for bytes"),
    language_extension("cl_intel_subgroups_long", "the same for integers of 64 bits"),
    language_extension("cl_intel_subgroups_short", "the same for integers of 16 bits"),
    host_extension(
        "cl_intel_unified_shared_memory",
        "memory that host and kernels share by its address; SYCL uses it",
        Version::new(1, 2, 0),
    ),
    language_extension("cl_khr_3d_image_writes", "kernels write to images of three dimensions"),
    language_extension("cl_khr_byte_addressable_store", "kernels store bytes and 16-bit numbers"),
    host_extension("cl_khr_command_buffer", "commands are recorded once and enqueued often", Version::new(0, 9, 8)),
    host_extension(
        "cl_khr_command_buffer_mutable_dispatch",
        "launches of such a record change arguments and sizes",
        Version::new(0, 9, 5),
    ),
    host_extension("cl_khr_create_command_queue", "queues with properties before OpenCL 2.0", Version::new(1, 0, 0)),
    language_extension("cl_khr_depth_images", "images of depths"),
    host_extension("cl_khr_device_uuid", "device and driver have identifiers", Version::new(1, 0, 0)),
    host_extension("cl_khr_expect_assume", "SPIR-V says what values are likely or certain", Version::new(1, 0, 0)),
    language_extension("cl_khr_extended_bit_ops", "bits are inserted, extracted and reversed"),
    host_extension(
        "cl_khr_extended_versioning",
        "versions of platform, device and extensions are numbers",
        Version::new(1, 0, 0),
    ),
    language_extension("cl_khr_fp16", "arithmetic of `half`"),
    language_extension("cl_khr_fp64", "arithmetic of `double`"),
    language_extension(
        "cl_khr_global_int32_base_atomics",
        "atomic sums, exchanges and comparisons of 32 bits in global memory",
    ),
    language_extension(
        "cl_khr_global_int32_extended_atomics",
        "atomic least, greatest and bitwise operations of 32 bits in global memory",
    ),
    host_extension("cl_khr_icd", "the ICD loader finds the driver", Version::new(1, 0, 0)),
    host_extension("cl_khr_il_program", "programs in SPIR-V", Version::new(1, 0, 0)),
    language_extension("cl_khr_image2d_from_buffer", "images that lie in a buffer"),
    language_extension("cl_khr_int64_base_atomics", "atomic sums, exchanges and comparisons of 64 bits"),
    language_extension("cl_khr_int64_extended_atomics", "atomic least, greatest and bitwise operations of 64 bits"),
    Extension {
        version: Version::new(2, 0, 0),
        ..language_extension("cl_khr_integer_dot_product", "dot products of vectors of bytes")
    },
    language_extension("cl_khr_kernel_clock", "kernels read a clock"),
    language_extension(
        "cl_khr_local_int32_base_atomics",
        "atomic sums, exchanges and comparisons of 32 bits in local memory",
    ),
    language_extension(
        "cl_khr_local_int32_extended_atomics",
        "atomic least, greatest and bitwise operations of 32 bits in local memory",
    ),
    host_extension(
        "cl_khr_priority_hints",
        "queues have priorities; the driver treats all alike",
        Version::new(1, 0, 0),
    ),
    host_extension("cl_khr_semaphore", "queues wait for each other by semaphores", Version::new(1, 0, 1)),
    host_extension(
        "cl_khr_spirv_extended_debug_info",
        "SPIR-V with the set `OpenCL.DebugInfo.100`; lines are those of `OpLine`, or where scopes begin",
        Version::new(1, 0, 0),
    ),
    host_extension("cl_khr_spirv_linkonce_odr", "SPIR-V modules that define the same names", Version::new(1, 0, 0)),
    host_extension(
        "cl_khr_spirv_no_integer_wrap_decoration",
        "SPIR-V says which sums and products stay in their range",
        Version::new(1, 0, 0),
    ),
    host_extension("cl_khr_spirv_queries", "the device tells what of SPIR-V it takes", Version::new(1, 0, 0)),
    language_extension("cl_khr_subgroup_ballot", "sub-groups collect a bit of each work-item"),
    language_extension("cl_khr_subgroup_clustered_reduce", "sums and other reductions over parts of a sub-group"),
    language_extension("cl_khr_subgroup_extended_types", "operations of sub-groups on vectors and small integers"),
    language_extension(
        "cl_khr_subgroup_non_uniform_arithmetic",
        "reductions and scans of the work-items that are there",
    ),
    language_extension("cl_khr_subgroup_non_uniform_vote", "votes of the work-items that are there"),
    language_extension("cl_khr_subgroup_rotate", "values move around a sub-group"),
    language_extension("cl_khr_subgroup_shuffle", "work-items of a sub-group read values of each other"),
    language_extension("cl_khr_subgroup_shuffle_relative", "the same, by distance"),
    language_extension("cl_khr_subgroups", "work-items that run together know each other"),
    host_extension(
        "cl_khr_suggested_local_work_size",
        "the driver tells which local size it would choose",
        Version::new(1, 0, 0),
    ),
    host_extension(
        "cl_khr_throttle_hints",
        "queues ask for more or less power; the driver treats all alike",
        Version::new(1, 0, 0),
    ),
    language_extension(
        "cl_khr_work_group_uniform_arithmetic",
        "products and bitwise and logical operations of work-groups",
    ),
];

/// One optional feature of OpenCL C 3.0.
#[derive(Clone, Copy, Debug)]
pub struct Feature {
    /// The feature macro.
    pub name: &'static str,
    /// What it gives, in a few words.
    pub purpose: &'static str,
    /// The version of OpenCL C that describes it.
    pub version: Version,
}

const fn language_feature(name: &'static str, purpose: &'static str) -> Feature {
    Feature { name, purpose, version: Version::new(3, 0, 0) }
}

/// Every optional feature of OpenCL C 3.0 that is reported.
pub const FEATURES: &[Feature] = &[
    language_feature("__opencl_c_3d_image_writes", "kernels write to images of three dimensions"),
    language_feature("__opencl_c_atomic_order_acq_rel", "atomics that acquire and release"),
    language_feature("__opencl_c_atomic_order_seq_cst", "atomics in one order for all"),
    language_feature("__opencl_c_atomic_scope_all_devices", "atomics between kernels and host"),
    language_feature("__opencl_c_atomic_scope_device", "atomics between work-groups"),
    language_feature("__opencl_c_ext_fp32_global_atomic_add", "atomic sums of `float` in global memory"),
    language_feature(
        "__opencl_c_ext_fp32_global_atomic_min_max",
        "atomic least and greatest of `float` in global memory",
    ),
    language_feature("__opencl_c_ext_fp32_local_atomic_add", "atomic sums of `float` in local memory"),
    language_feature(
        "__opencl_c_ext_fp32_local_atomic_min_max",
        "atomic least and greatest of `float` in local memory",
    ),
    language_feature("__opencl_c_ext_fp64_global_atomic_add", "atomic sums of `double` in global memory"),
    language_feature(
        "__opencl_c_ext_fp64_global_atomic_min_max",
        "atomic least and greatest of `double` in global memory",
    ),
    language_feature("__opencl_c_ext_fp64_local_atomic_add", "atomic sums of `double` in local memory"),
    language_feature(
        "__opencl_c_ext_fp64_local_atomic_min_max",
        "atomic least and greatest of `double` in local memory",
    ),
    language_feature("__opencl_c_fp64", "arithmetic of `double`"),
    language_feature("__opencl_c_generic_address_space", "pointers without an address space"),
    language_feature("__opencl_c_images", "images"),
    language_feature("__opencl_c_int64", "integers of 64 bits"),
    language_feature("__opencl_c_integer_dot_product_input_4x8bit", "dot products of four bytes"),
    language_feature("__opencl_c_integer_dot_product_input_4x8bit_packed", "dot products of four bytes in an integer"),
    language_feature("__opencl_c_kernel_clock_scope_device", "a clock of the device"),
    language_feature("__opencl_c_kernel_clock_scope_sub_group", "a clock of the sub-group"),
    language_feature("__opencl_c_kernel_clock_scope_work_group", "a clock of the work-group"),
    language_feature("__opencl_c_pipes", "pipes between kernels"),
    language_feature(
        "__opencl_c_program_scope_global_variables",
        "variables of the program that keep their values between launches",
    ),
    language_feature("__opencl_c_read_write_images", "images that a kernel reads and writes"),
    language_feature("__opencl_c_subgroups", "sub-groups"),
    language_feature("__opencl_c_work_group_collective_functions", "broadcasts, reductions and scans of work-groups"),
];

/// Extensions whose macros clang does not know: they change nothing but what the host may do, or are no clang extensions
/// although clang has what they name.
const UNKNOWN_TO_CLANG: &[&str] = &[
    "cl_intel_bfloat16_conversions",
    "cl_intel_required_subgroup_size",
    "cl_intel_split_work_group_barrier",
    "cl_intel_subgroup_local_block_io",
    "cl_intel_subgroups",
    "cl_intel_subgroups_char",
    "cl_intel_subgroups_long",
    "cl_intel_subgroups_short",
    "cl_khr_image2d_from_buffer",
    "cl_khr_work_group_uniform_arithmetic",
];

/// What the names of the extensions of sub-groups begin with. clang and its headers offer them from OpenCL C 2.0 on; all
/// that they need of older versions is that the macros are defined.
const SUB_GROUPS: &str = "cl_khr_subgroup";

/// Functions that clang's tables have for OpenCL C 2.0 only. Before that all work-groups are of one size, so there is no
/// difference between the two.
const OLD_NAMES: &[&str] = &["get_enqueued_num_sub_groups=get_num_sub_groups"];

/// Extensions with a pragma that clang heeds, or at least knows.
const WITH_PRAGMA: &[&str] = &[
    "cl_khr_3d_image_writes",
    "cl_khr_byte_addressable_store",
    "cl_khr_depth_images",
    "cl_khr_fp16",
    "cl_khr_fp64",
    "cl_khr_global_int32_base_atomics",
    "cl_khr_global_int32_extended_atomics",
    "cl_khr_int64_base_atomics",
    "cl_khr_int64_extended_atomics",
    "cl_khr_local_int32_base_atomics",
    "cl_khr_local_int32_extended_atomics",
];

/// Whether this is an extension that is always on, so that a pragma for it does nothing.
pub fn has_idle_pragma(name: &str) -> bool {
    EXTENSIONS.iter().any(|extension| extension.name == name) && !WITH_PRAGMA.contains(&name)
}

/// What the names of features begin with whose macros clang does not know.
const UNKNOWN_FEATURES: &str = "__opencl_c_ext_fp";

/// The macros, as `-D` takes them, of extensions and features that clang does not define itself in this version.
pub fn macros_unknown_to_clang(version: LanguageVersion) -> Vec<String> {
    let is_old = version < LanguageVersion::Cl20;
    let features = FEATURES.iter().map(|feature| feature.name).filter(|name| name.starts_with(UNKNOWN_FEATURES));
    let features = features.filter(|_| version >= LanguageVersion::Cl30);
    let sub_groups =
        EXTENSIONS.iter().map(|extension| extension.name).filter(|name| is_old && name.starts_with(SUB_GROUPS));
    let names = UNKNOWN_TO_CLANG.iter().copied().chain(sub_groups).chain(features);
    let functions = OLD_NAMES.iter().filter(|_| is_old).map(|function| function.to_string());
    names.map(|name| format!("{name}=1")).chain(functions).collect()
}

/// The macros, as `-U` and `-D` take them, that tell versions of OpenCL C which clang does not know.
pub fn version_macros(version: LanguageVersion) -> Vec<String> {
    // "CL_VERSION_3_1: substitutes the integer 310", in every version of the language.
    let mut macros = vec!["-DCL_VERSION_3_1=310".to_owned()];
    if version < LanguageVersion::ClCpp10 {
        macros.push("-D__OPENCL_VERSION__=310".to_owned());
    }
    if version == LanguageVersion::Cl31 {
        macros.extend(["-U__OPENCL_C_VERSION__", "-D__OPENCL_C_VERSION__=310"].map(str::to_owned));
    }
    macros
}

/// Feature macros that clang defines by itself and does not take in `-cl-ext`.
const ALWAYS_DEFINED: &[&str] = &["__opencl_c_int64"];

/// `CL_DEVICE_EXTENSIONS`: the names with a space between them.
pub fn device_extensions() -> String {
    join_names(EXTENSIONS.iter().map(|extension| extension.name), " ")
}

/// `CL_PLATFORM_EXTENSIONS`: the names with a space between them.
pub fn platform_extensions() -> String {
    join_names(EXTENSIONS.iter().filter(|extension| extension.platform).map(|extension| extension.name), " ")
}

/// The argument of clang's `-cl-ext=`: everything off, then ours on.
pub fn clang_extension_list() -> String {
    let is_known = |extension: &&Extension| extension.language && !UNKNOWN_TO_CLANG.contains(&extension.name);
    let extensions = EXTENSIONS.iter().filter(is_known).map(|extension| extension.name);
    let is_known = |name: &&str| !(ALWAYS_DEFINED.contains(name) || name.starts_with(UNKNOWN_FEATURES));
    let features = FEATURES.iter().map(|feature| feature.name).filter(is_known);
    let mut switches = String::from("-all");
    for name in extensions.chain(features) {
        switches.push_str(",+");
        switches.push_str(name);
    }
    switches
}

fn join_names<'a>(names: impl Iterator<Item = &'a str>, separator: &str) -> String {
    names.collect::<Vec<_>>().join(separator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_unique() {
        assert!(EXTENSIONS.is_sorted_by(|a, b| a.name < b.name));
        assert!(FEATURES.is_sorted_by(|a, b| a.name < b.name));
    }

    #[test]
    fn versions_encode_as_cl_make_version() {
        assert_eq!(Version::new(3, 0, 0).encoded(), 0x00c0_0000);
        assert_eq!(Version::new(1, 2, 3).encoded(), (1 << 22) | (2 << 12) | 3);
    }

    #[test]
    fn old_versions_get_the_macros_of_sub_groups_from_here() {
        let has = |version, name: &str| macros_unknown_to_clang(version).iter().any(|definition| definition == name);
        for version in [LanguageVersion::Cl10, LanguageVersion::Cl11, LanguageVersion::Cl12] {
            assert!(has(version, "cl_khr_subgroups=1") && has(version, "cl_khr_subgroup_rotate=1"));
        }
        assert!(!has(LanguageVersion::Cl20, "cl_khr_subgroups=1"));
        assert!(has(LanguageVersion::Cl30, "__opencl_c_ext_fp32_local_atomic_add=1"));
        assert!(!has(LanguageVersion::Cl12, "__opencl_c_ext_fp32_local_atomic_add=1"));
    }

    #[test]
    fn extensions_with_a_pragma_are_extensions() {
        assert!(WITH_PRAGMA.iter().all(|name| EXTENSIONS.iter().any(|extension| extension.name == *name)));
        assert!(has_idle_pragma("cl_khr_subgroups") && has_idle_pragma("cl_khr_icd"));
        assert!(!has_idle_pragma("cl_khr_fp64") && !has_idle_pragma("cl_intel_media_block_io"));
    }

    #[test]
    fn clang_is_told_of_language_extensions_only() {
        let list = clang_extension_list();
        assert!(list.starts_with("-all,+"));
        assert!(list.contains("+cl_khr_fp64"));
        assert!(list.contains("+__opencl_c_fp64"));
        assert!(!list.contains("cl_khr_icd"));
        assert!(!list.contains("int64,") || list.contains("cl_khr_int64"));
        assert!(!list.contains("__opencl_c_int64"));
    }
}
