//! Compiles the C++ around clang's libraries, and finds these and clang's own header for OpenCL C.
//!
//! With the feature `static` nothing of LLVM and clang is linked here: who makes an executable names the archives.

#[path = "build/installed_llvm.rs"]
mod installed_llvm;

use std::path::PathBuf;
use std::process::ExitCode;

use installed_llvm::InstalledLlvm;

/// Around clang, and of what LLVM does not offer in C.
const SHIMS: [&str; 6] = [
    "src/frontend/clang_library/clang_library.cpp",
    "src/frontend/function_order.cpp",
    "src/import/llvm/read_body.cpp",
    "src/machine_code/codegen_flags.cpp",
    "src/machine_code/mask_extensions.cpp",
    "src/machine_code/wide_arms/narrow_copy.cpp",
];

/// LLVM's version: the first two numbers, as libraries have them in their names.
struct LibraryVersion {
    major: String,
    minor: String,
}

fn main() -> ExitCode {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build/installed_llvm.rs");
    SHIMS.iter().for_each(|shim| println!("cargo:rerun-if-changed={shim}"));
    match prepare_clang(cfg!(feature = "static")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

fn prepare_clang(is_static: bool) -> Result<(), String> {
    let llvm = InstalledLlvm::find_installed()?;
    let version = library_version(&llvm)?;
    println!("cargo:rustc-env=LOCKSTEP_OPENCL_BASE_HEADER={}", base_header(&llvm, &version)?.display());
    compile_shims(&llvm, is_static)?;
    if !is_static {
        link_clang(&llvm, &version);
    }
    Ok(())
}

fn library_version(llvm: &InstalledLlvm) -> Result<LibraryVersion, String> {
    let version = llvm.ask_config(&["--version"])?;
    let mut numbers = version.split('.').map(str::to_owned);
    match (numbers.next(), numbers.next()) {
        (Some(major), Some(minor)) => Ok(LibraryVersion { major, minor }),
        _ => Err(format!("'{version}' is no version of LLVM")),
    }
}

/// The header that declares OpenCL C's types, of the version that is linked.
fn base_header(llvm: &InstalledLlvm, version: &LibraryVersion) -> Result<PathBuf, String> {
    let header = llvm.libraries.join("clang").join(&version.major).join("include/opencl-c-base.h");
    match header.exists() {
        true => Ok(header),
        false => Err(format!("{} is missing: run `cargo xtask setup`", header.display())),
    }
}

fn compile_shims(llvm: &InstalledLlvm, is_static: bool) -> Result<(), String> {
    let mut build = llvm.cpp_build()?;
    build.files(SHIMS);
    if is_static {
        build.cpp_link_stdlib(None);
    }
    build.try_compile("lockstep_clang").map_err(|error| {
        format!(
            "the C++ around clang and LLVM does not compile; are their headers there (`cargo xtask setup`)? {error}"
        )
    })
}

/// Links clang as one shared library, which some distributions have by its full name only.
fn link_clang(llvm: &InstalledLlvm, version: &LibraryVersion) {
    let full_name = format!("libclang-cpp.so.{}.{}", version.major, version.minor);
    println!("cargo:rustc-link-search=native={}", llvm.libraries.display());
    match llvm.libraries.join(&full_name).exists() {
        true => println!("cargo:rustc-link-lib=dylib:+verbatim={full_name}"),
        false => println!("cargo:rustc-link-lib=dylib=clang-cpp"),
    }
}
