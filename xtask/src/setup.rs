//! `setup`: finds what the build and the demo need, and installs what is missing.
//!
//! A need is checked by what it provides, not by a package's name, so that an
//! LLVM from elsewhere counts as well. The packages' names are those of
//! Debian 12; other distributions get the list of what is wanted.

use std::ffi::CStr;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::process;
use crate::progress::step;

/// Something the machine must have.
struct Need {
    /// What it is, for the person who has to install it by hand.
    what: &'static str,
    /// Debian's package.
    package: &'static str,
    /// Whether it is there.
    present: fn() -> bool,
}

const NEEDS: [Need; 10] = [
    Need {
        what: "the LLVM 22 libraries and headers (llvm-config-22)",
        package: "llvm-22-dev",
        present: llvm_libraries,
    },
    Need {
        what: "the clang 22 compiler (clang-22)",
        package: "clang-22",
        present: || succeeds("clang-22", &["--version"]),
    },
    Need {
        what: "clang 22's own headers (opencl-c-base.h)",
        package: "libclang-common-22-dev",
        present: clang_headers,
    },
    Need {
        what: "clang 22 as libraries, with their C++ headers (clang/Frontend/CompilerInstance.h)",
        package: "libclang-22-dev",
        present: clang_libraries,
    },
    Need {
        what: "a C++ compiler for what calls clang's libraries (c++)",
        package: "g++",
        present: || succeeds("c++", &["--version"]),
    },
    Need {
        what: "a C compiler for build scripts and linking (cc)",
        package: "gcc",
        present: || succeeds("cc", &["--version"]),
    },
    Need {
        what: "the OpenCL ICD loader (libOpenCL.so.1)",
        package: "ocl-icd-libopencl1",
        present: || library(c"libOpenCL.so.1"),
    },
    Need {
        what: "MPFR's library and header, which tests of accuracy link (mpfr.h)",
        package: "libmpfr-dev",
        present: mpfr,
    },
    Need {
        what: "LLVM 16's library, which stands for the LLVM of an application in tests (libLLVM-16.so.1)",
        package: "libllvm16",
        present: || library(c"libLLVM-16.so.1"),
    },
    Need { what: "clinfo", package: "clinfo", present: || succeeds("clinfo", &["--version"]) },
];

/// Runs the command. Says one line when everything is there.
pub fn run() -> Result<()> {
    let missing = missing();
    if missing.is_empty() {
        println!("setup: everything needed is installed");
        return Ok(());
    }
    for need in &missing {
        println!("setup: missing {}", need.what);
    }
    install(&missing)?;
    let still = self::missing();
    if !still.is_empty() {
        let what: Vec<_> = still.iter().map(|need| need.what).collect();
        bail!("installed, but still not found: {}", what.join("; "));
    }
    println!("setup: everything needed is installed");
    Ok(())
}

fn missing() -> Vec<&'static Need> {
    NEEDS.iter().filter(|need| !(need.present)()).collect()
}

fn install(missing: &[&Need]) -> Result<()> {
    let packages: Vec<&str> = missing.iter().map(|need| need.package).collect();
    if !succeeds("apt-get", &["--version"]) {
        let what: Vec<_> = missing.iter().map(|need| need.what).collect();
        bail!(
            "this machine has no apt-get; please install with its own package manager: {} \
             (Debian 12 calls the packages {})",
            what.join("; "),
            packages.join(" ")
        );
    }
    let Some(prefix) = rights() else {
        bail!(
            "no rights to install packages here; please run as root:\n\
             \x20   apt-get update && apt-get install -y --no-install-recommends {}",
            packages.join(" ")
        );
    };
    // A fresh machine or container has no package lists, or stale ones.
    let update = step("apt-get update");
    process::run(apt(prefix).args(["-q", "update"]).stdout(Stdio::null()))?;
    update.done();
    let install = step(format!("apt-get install {}", packages.join(" ")));
    let result = process::run(
        apt(prefix).args(["-q", "-y", "install", "--no-install-recommends"]).args(&packages).stdout(Stdio::null()),
    );
    if let Err(error) = result {
        bail!(
            "{error:#}\nDebian 12 has LLVM 22 in its security archive (deb.debian.org/debian-security \
             bookworm-security main); on other releases apt.llvm.org has the same packages"
        );
    }
    install.done();
    Ok(())
}

/// The words to put before `apt-get`: none for root, `sudo` where it asks no
/// password, or nothing at all where we may not install.
fn rights() -> Option<&'static [&'static str]> {
    let user = process::output_of(Command::new("id").arg("-u"));
    if user.as_deref().map(str::trim) == Some("0") {
        return Some(&[]);
    }
    succeeds("sudo", &["-n", "true"]).then_some(&["sudo", "-n"])
}

fn apt(prefix: &[&str]) -> Command {
    let words: Vec<&str> = prefix
        .iter()
        .copied()
        // `env` because sudo does not hand on our environment.
        .chain(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"])
        .collect();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]);
    command
}

fn succeeds(program: &str, arguments: &[&str]) -> bool {
    process::output_of(Command::new(program).args(arguments)).is_some()
}

fn llvm_libraries() -> bool {
    let ask = |what: &str| process::output_of(Command::new("llvm-config-22").arg(what));
    let (Some(include), Some(libraries)) = (ask("--includedir"), ask("--libdir")) else {
        return false;
    };
    let libraries = Path::new(libraries.trim());
    Path::new(include.trim()).join("llvm-c/Core.h").exists()
        && ["libLLVM-22.so", "libLLVM.so"].iter().any(|name| libraries.join(name).exists())
}

fn clang_headers() -> bool {
    process::output_of(Command::new("clang-22").arg("-print-resource-dir"))
        .is_some_and(|directory| Path::new(directory.trim()).join("include/opencl-c-base.h").exists())
}

fn clang_libraries() -> bool {
    let ask = |what: &str| process::output_of(Command::new("llvm-config-22").arg(what));
    let (Some(include), Some(libraries)) = (ask("--includedir"), ask("--libdir")) else {
        return false;
    };
    Path::new(include.trim()).join("clang/Frontend/CompilerInstance.h").exists()
        && Path::new(libraries.trim()).join("libclangFrontend.a").exists()
}

fn mpfr() -> bool {
    // It needs GMP's header and is useless without it.
    succeeds("cc", &["-include", "mpfr.h", "-fsyntax-only", "-x", "c", "/dev/null"])
}

/// Whether a shared library can be loaded.
fn library(name: &CStr) -> bool {
    // Loading it is what an application does, wherever the file lies. Not through
    // cl3, which would remember a failure past the installation.
    // SAFETY: the initialisers of these libraries are the platform's own and run in
    // every application that uses them.
    unsafe { !libc::dlopen(name.as_ptr(), libc::RTLD_LAZY).is_null() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_named_once() {
        let mut names: Vec<_> = NEEDS.iter().map(|need| need.package).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), NEEDS.len());
    }

    #[test]
    fn an_absent_program_is_noticed() {
        assert!(!succeeds("lockstep-no-such-program", &[]));
        assert!(succeeds("true", &[]));
        assert!(!succeeds("false", &[]));
    }
}
