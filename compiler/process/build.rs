//! Links LLVM and clang as archives, with the feature `static`.

mod build {
    pub mod static_link;
}
#[path = "../build/installed_llvm.rs"]
mod installed_llvm;

use std::process::ExitCode;

fn main() -> ExitCode {
    println!("cargo:rerun-if-changed=build.rs");
    if !cfg!(feature = "static") {
        return ExitCode::SUCCESS;
    }
    match build::static_link::link_archives() {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}
