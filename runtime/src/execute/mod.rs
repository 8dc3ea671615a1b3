//! Running machine code: what generated code calls, and who puts it into memory.

mod announcement;
mod compiler_rt;
pub mod coroutines;
mod gdb_interface;
pub mod giving_up;
pub mod loaded_code;
pub mod own_stack;
mod perf_map;
pub mod process_exit;
pub mod symbols;
