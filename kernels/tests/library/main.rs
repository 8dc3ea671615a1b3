//! Tests of the built-in library: the bitcode modules linked with small OpenCL C wrappers into host programs, whose
//! results are compared with Rust.

mod complete;
mod conversions;
mod double_edges;
mod double_half_math;
mod float_math;
mod host;
mod integers;
mod memory;
mod vectors;
