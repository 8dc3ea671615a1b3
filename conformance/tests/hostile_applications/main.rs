//! Applications that do to their process whatever an application may: reap every child, close every descriptor, fork, change
//! the root, forbid system calls, use up what the system gives. Each is a process of its own that builds programs, launches
//! their kernels and checks the values, before and after.
//!
//! For this driver only: nothing of it is promised by the specification.

mod descriptors;
mod endings;
mod executable_file;
mod forks;
mod included_files;
mod libraries;
mod limits;
mod little_memory;
mod no_compiler;
mod root_folder;
mod signals;
mod stacks;
mod surroundings;
mod system_calls;
mod work;
