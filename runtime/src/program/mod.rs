//! Programs: source, build, binaries.

pub mod binary;
