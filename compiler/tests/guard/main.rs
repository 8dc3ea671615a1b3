//! Inactive lanes do nothing: they touch no memory, trap nothing and keep no loop alive. All memory lies between
//! pages that stop the program, flush with the one before it or with the one behind it.

#[path = "../machine/code/mod.rs"]
mod code;

mod accesses;
mod arithmetic;
mod build;
mod classes;
mod conditions;
mod loops;
mod pointers;
