//! For build scripts: the LLVM that is installed, and what it says of itself.

use std::path::{Path, PathBuf};
use std::process::Command;

/// An installed LLVM 22.
pub struct InstalledLlvm {
    config: PathBuf,
    /// The folder of its libraries.
    pub libraries: PathBuf,
}

impl InstalledLlvm {
    /// The one that the environment names, or the distribution's.
    ///
    /// # Errors
    /// What to do where there is none.
    pub fn find_installed() -> Result<Self, String> {
        println!("cargo:rerun-if-env-changed=LLVM_SYS_221_PREFIX");
        let named = std::env::var_os("LLVM_SYS_221_PREFIX").map(|prefix| Path::new(&prefix).join("bin/llvm-config"));
        let usual = ["llvm-config-22", "/usr/lib/llvm-22/bin/llvm-config", "llvm-config"].map(PathBuf::from);
        let config = named
            .into_iter()
            .chain(usual)
            .find(|program| run(program, &["--version"]).is_some_and(|version| version.starts_with("22.")))
            .ok_or("LLVM 22 was not found: run `cargo xtask setup`, or name its folder in LLVM_SYS_221_PREFIX")?;
        let libraries = run(&config, &["--libdir"]).ok_or("llvm-config does not know its libraries")?.into();
        Ok(Self { config, libraries })
    }

    /// What `llvm-config` says.
    ///
    /// # Errors
    /// A sentence about what it did not say.
    pub fn ask_config(&self, questions: &[&str]) -> Result<String, String> {
        run(&self.config, questions)
            .ok_or_else(|| format!("{} does not answer {}", self.config.display(), questions.join(" ")))
    }

    /// A build of C++ that includes LLVM's headers.
    ///
    /// # Errors
    /// When `llvm-config` does not know its flags for C++.
    pub fn cpp_build(&self) -> Result<cc::Build, String> {
        let mut build = cc::Build::new();
        build.cpp(true).opt_level(2).debug(false).warnings(true);
        for flag in self.ask_config(&["--cxxflags"])?.split_ascii_whitespace() {
            // LLVM's headers are not ours to be warned of.
            match flag.strip_prefix("-I") {
                Some(folder) => build.flag("-isystem").flag(folder),
                None => build.flag(flag),
            };
        }
        Ok(build)
    }
}

fn run(program: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
