//! Random kernels for tests and fuzzing of the compiler.

mod control;
mod expressions;
mod graph;
mod kernels;
mod random;

pub use kernels::{Generated, Shape, random_kernel};
pub use random::Random;
