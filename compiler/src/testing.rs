//! Random kernels for tests and fuzzing of the compiler.

mod control;
mod expressions;
mod graph;
pub mod jumps;
mod kernels;
mod neighbours;
mod private;
mod random;
mod reduce;
mod walks;

pub use kernels::{Generated, Shape, random_kernel};
pub use random::Random;
pub use reduce::reduce;
