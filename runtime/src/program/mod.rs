//! Programs: source, build, binaries.
