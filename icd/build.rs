//! The library stays loaded until the process ends: its threads and its handler of `exit` are code of it.
//!
//! Its own symbols are its own: an application with a JIT compiler has a list for debuggers of the same name.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-Bsymbolic");
}
