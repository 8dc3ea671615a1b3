//! Machine code against the interpreter and against what kernels mean, written out here.

#[path = "../machine/mod.rs"]
mod machine;

mod barrier_kernels;
mod gangs;
mod kernels;
mod operations;
mod random;
