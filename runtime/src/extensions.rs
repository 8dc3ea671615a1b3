//! The extensions the driver supports, with their versions: one table for the platform's and the device's answers.

use opencl_sys::{CL_NAME_VERSION_MAX_NAME_SIZE, cl_name_version, cl_version};

/// An extension: its name and its version.
pub type Extension = (&'static str, cl_version);

/// A `cl_version`: 10 bits major, 10 bits minor, 12 bits patch.
pub const fn version(major: u32, minor: u32, patch: u32) -> cl_version {
    major << 22 | minor << 12 | patch
}

/// Extensions of the platform: what the host API has beyond OpenCL 3.0.
pub const PLATFORM: &[Extension] =
    &[("cl_khr_icd", version(1, 0, 0)), ("cl_khr_extended_versioning", version(1, 0, 0))];

/// A name and a version in the API's form. Names are shorter than the field.
pub fn name_version(name: &str, version: cl_version) -> cl_name_version {
    let mut field = [0; CL_NAME_VERSION_MAX_NAME_SIZE];
    let length = name.len().min(CL_NAME_VERSION_MAX_NAME_SIZE - 1);
    field[..length].copy_from_slice(&name.as_bytes()[..length]);
    cl_name_version { version, name: field }
}

/// `CL_*_EXTENSIONS`: the names, with spaces between them.
pub fn names(extensions: impl IntoIterator<Item = Extension>) -> String {
    extensions.into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(" ")
}

/// `CL_*_EXTENSIONS_WITH_VERSION`.
pub fn with_versions(extensions: impl IntoIterator<Item = Extension>) -> Vec<cl_name_version> {
    extensions.into_iter().map(|(name, version)| name_version(name, version)).collect()
}
