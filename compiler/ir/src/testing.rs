//! For tests and fuzzing of the compiler: random kernels, and what filetests say ([`script`], [`run_line`]).

mod calls;
mod control;
mod expressions;
mod graph;
pub mod jumps;
mod kernels;
mod memory_sizes;
mod neighbours;
pub mod operations;
mod planning;
pub mod precision;
mod private;
mod random;
mod reduce;
pub mod run_line;
pub mod script;
mod walks;

pub use kernels::{Generated, Shape, random_kernel};
pub use planning::{plan_calls, plan_gangs, plan_profiled_gangs};
pub use random::Random;
pub use reduce::reduce_kernel;
