//! Compiles the C++ around clang's libraries, and finds these and clang's own header for OpenCL C.

use std::path::{Path, PathBuf};
use std::process::Command;

const SHIM: &str = "src/frontend/clang_library/clang_library.cpp";

/// What an installed LLVM says of itself.
struct InstalledLlvm {
    /// The program that is asked.
    config: PathBuf,
    libraries: PathBuf,
    /// Its version's first two numbers.
    major: String,
    minor: String,
}

impl InstalledLlvm {
    fn find() -> Result<Self, String> {
        let named = std::env::var_os("LLVM_SYS_221_PREFIX").map(|prefix| Path::new(&prefix).join("bin/llvm-config"));
        let usual = ["llvm-config-22", "/usr/lib/llvm-22/bin/llvm-config", "llvm-config"].map(PathBuf::from);
        let config = named
            .into_iter()
            .chain(usual)
            .find(|program| ask(program, "--version").is_some_and(|version| version.starts_with("22.")))
            .ok_or("LLVM 22 was not found: run `cargo xtask setup`, or name its folder in LLVM_SYS_221_PREFIX")?;
        let version = ask(&config, "--version").unwrap_or_default();
        let mut numbers = version.split('.').map(str::to_owned);
        let (Some(major), Some(minor)) = (numbers.next(), numbers.next()) else {
            return Err(format!("{} has no version but '{version}'", config.display()));
        };
        let libraries = ask(&config, "--libdir").ok_or("llvm-config does not know its libraries")?.into();
        Ok(Self { config, libraries, major, minor })
    }

    /// The header that declares OpenCL C's types, of this version.
    fn base_header(&self) -> Result<PathBuf, String> {
        let header = self.libraries.join("clang").join(&self.major).join("include/opencl-c-base.h");
        match header.exists() {
            true => Ok(header),
            false => Err(format!("{} is missing: run `cargo xtask setup`", header.display())),
        }
    }

    fn compile_shim(&self) -> Result<(), String> {
        let flags = ask(&self.config, "--cxxflags").ok_or("llvm-config knows no flags")?;
        let mut build = cc::Build::new();
        build.cpp(true).file(SHIM).opt_level(2).debug(false).warnings(true);
        for flag in flags.split_ascii_whitespace() {
            // LLVM's headers are not ours to be warned of.
            match flag.strip_prefix("-I") {
                Some(folder) => build.flag("-isystem").flag(folder),
                None => build.flag(flag),
            };
        }
        build.try_compile("lockstep_clang").map_err(|error| {
            format!("the C++ around clang does not compile; are clang's headers there (`cargo xtask setup`)? {error}")
        })
    }

    /// clang in one shared library, which some distributions have by its full name only.
    fn link_clang(&self) {
        let full_name = format!("libclang-cpp.so.{}.{}", self.major, self.minor);
        println!("cargo:rustc-link-search=native={}", self.libraries.display());
        match self.libraries.join(&full_name).exists() {
            true => println!("cargo:rustc-link-lib=dylib:+verbatim={full_name}"),
            false => println!("cargo:rustc-link-lib=dylib=clang-cpp"),
        }
    }
}

/// What llvm-config answers.
fn ask(program: &Path, what: &str) -> Option<String> {
    let output = Command::new(program).arg(what).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

fn prepare_clang() -> Result<(), String> {
    let llvm = InstalledLlvm::find()?;
    println!("cargo:rustc-env=LOCKSTEP_OPENCL_BASE_HEADER={}", llvm.base_header()?.display());
    llvm.compile_shim()?;
    llvm.link_clang();
    Ok(())
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={SHIM}");
    println!("cargo:rerun-if-env-changed=LLVM_SYS_221_PREFIX");
    if let Err(reason) = prepare_clang() {
        println!("cargo:warning={reason}");
        std::process::exit(1);
    }
}
