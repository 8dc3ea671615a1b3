//! The extensions and features of the compiler's table, in the API's form.

use std::ffi::CString;
use std::sync::LazyLock;

use lockstep_protocol::features::{EXTENSIONS, Extension, FEATURES};
pub use lockstep_protocol::features::{device_extensions, platform_extensions};
use lockstep_protocol::spirv_module::VERSIONS as SPIRV_VERSIONS;
use lockstep_protocol::spirv_support;
use opencl_sys::{CL_NAME_VERSION_MAX_NAME_SIZE, cl_name_version, cl_uint, cl_version};

/// A `cl_version`: 10 bits major, 10 bits minor, 12 bits patch.
pub const fn pack_version(major: u32, minor: u32, patch: u32) -> cl_version {
    major << 22 | minor << 12 | patch
}

/// A name and a version. Names are shorter than the field.
pub fn name_version(name: &str, version: cl_version) -> cl_name_version {
    let mut field = [0; CL_NAME_VERSION_MAX_NAME_SIZE];
    let length = name.len().min(CL_NAME_VERSION_MAX_NAME_SIZE - 1);
    field[..length].copy_from_slice(&name.as_bytes()[..length]);
    cl_name_version { version, name: field }
}

/// The platform's extensions (`CL_PLATFORM_EXTENSIONS_WITH_VERSION`).
pub fn of_platform() -> Vec<cl_name_version> {
    EXTENSIONS.iter().filter(|extension| extension.platform).map(with_version).collect()
}

/// The device's extensions (`CL_DEVICE_EXTENSIONS_WITH_VERSION`).
pub fn of_device() -> Vec<cl_name_version> {
    EXTENSIONS.iter().map(with_version).collect()
}

/// The optional features of OpenCL C that there are (`CL_DEVICE_OPENCL_C_FEATURES`).
pub fn feature_versions() -> Vec<cl_name_version> {
    FEATURES.iter().map(|feature| name_version(feature.name, feature.version.encoded())).collect()
}

/// `CL_DEVICE_IL_VERSION`: every version of SPIR-V that is taken.
pub fn spirv_version_list() -> String {
    let versions = SPIRV_VERSIONS.iter().map(|(major, minor)| format!("SPIR-V_{major}.{minor}"));
    versions.collect::<Vec<_>>().join(" ")
}

/// `CL_DEVICE_ILS_WITH_VERSION`: the same as numbers.
pub fn spirv_versions() -> Vec<cl_name_version> {
    SPIRV_VERSIONS.iter().map(|&(major, minor)| name_version("SPIR-V", pack_version(major, minor, 0))).collect()
}

/// The sets of SPIR-V instructions that there are (`CL_DEVICE_SPIRV_EXTENDED_INSTRUCTION_SETS_KHR`).
pub static SPIRV_INSTRUCTION_SETS: LazyLock<Vec<CString>> =
    LazyLock::new(|| terminate_texts(spirv_support::INSTRUCTION_SETS));

/// The extensions of SPIR-V that there are (`CL_DEVICE_SPIRV_EXTENSIONS_KHR`).
pub static SPIRV_EXTENSIONS: LazyLock<Vec<CString>> = LazyLock::new(|| terminate_texts(spirv_support::EXTENSIONS));

/// The numbers of the capabilities that a SPIR-V module may declare (`CL_DEVICE_SPIRV_CAPABILITIES_KHR`).
pub fn spirv_capabilities() -> Vec<cl_uint> {
    spirv_support::CAPABILITIES.iter().map(|&capability| capability as cl_uint).collect()
}

/// Texts as C has them. None of the tables' has a null in it.
fn terminate_texts(texts: &[&str]) -> Vec<CString> {
    texts.iter().filter_map(|&text| CString::new(text).ok()).collect()
}

/// `CL_DEVICE_OPENCL_C_ALL_VERSIONS`: OpenCL C 2.0 is not among them, as it has no optional features.
pub fn language_versions() -> Vec<cl_name_version> {
    [(1, 0), (1, 1), (1, 2), (3, 0), (3, 1)]
        .map(|(major, minor)| name_version("OpenCL C", pack_version(major, minor, 0)))
        .to_vec()
}

fn with_version(extension: &Extension) -> cl_name_version {
    name_version(extension.name, extension.version.encoded())
}
