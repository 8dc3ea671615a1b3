//! Names the build, and links LLVM and clang as archives, with the feature `static`.

mod build {
    pub mod static_link;
}
#[path = "../protocol/build_identity.rs"]
mod build_identity;
#[path = "../build/installed_llvm.rs"]
mod installed_llvm;

use std::process::ExitCode;

fn main() -> ExitCode {
    println!("cargo:rerun-if-changed=build.rs");
    let named = build_identity::name_build("../..".as_ref()).map_err(|error| format!("cannot name the build: {error}"));
    let linked =
        named.and_then(|()| if cfg!(feature = "static") { build::static_link::link_archives() } else { Ok(()) });
    match linked {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}
