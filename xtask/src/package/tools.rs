//! The tools that packages are made with: brought into `target/tools`, each in one version, and nowhere else.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::driver::cargo_with;
use crate::progress::step;
use crate::{process, workspace};

/// PyPI's packages: a linker that knows which symbols old C libraries have, cargo's way to it, and what packs wheels.
const PYTHON_PACKAGES: [&str; 3] = ["ziglang==0.17.1", "cargo-zigbuild==0.24.1", "wheel==0.48.0"];

/// A program of crates.io.
#[derive(Clone, Copy)]
pub struct CargoTool {
    /// The crate, whose program has the same name.
    name: &'static str,
    version: &'static str,
    /// Features that its program needs.
    features: &'static str,
}

/// Makes Debian's packages.
pub const CARGO_DEB: CargoTool = CargoTool { name: "cargo-deb", version: "3.8.0", features: "" };
/// Collects the licences of crates.
pub const CARGO_ABOUT: CargoTool = CargoTool { name: "cargo-about", version: "0.9.3", features: "cli" };
/// Checks where crates come from and what their licences are.
pub const CARGO_DENY: CargoTool = CargoTool { name: "cargo-deny", version: "0.20.2", features: "" };

impl CargoTool {
    /// A command that runs it in the workspace's root. Builds it first where it is missing, which takes minutes.
    pub fn prepare_command(self) -> Result<Command> {
        let folder = tools_folder().join(format!("{}-{}", self.name, self.version));
        let program = folder.join("bin").join(self.name);
        if !program.exists() {
            let installing = step(format!("cargo install {}@{} (into {})", self.name, self.version, folder.display()));
            let mut install = cargo_with(&["install", "--quiet", "--locked", "--features", self.features, "--root"]);
            install.arg(&folder).arg(format!("{}@{}", self.name, self.version));
            // Tools share what they are built of, with nothing of ours.
            process::run(install.env("CARGO_TARGET_DIR", tools_folder().join("build")))?;
            installing.done();
        }
        let mut command = Command::new(program);
        command.current_dir(workspace::root());
        Ok(command)
    }
}

/// Python's packages in a folder of their own.
pub struct PythonTools {
    folder: PathBuf,
}

impl PythonTools {
    /// Finds them, or has pip bring them.
    ///
    /// # Errors
    ///
    /// There is no pip, or it finds no index.
    pub fn find_or_install() -> Result<Self> {
        let folder = tools_folder().join("python");
        let found = Self { folder };
        let versions = PYTHON_PACKAGES.join("\n");
        let record = found.folder.join("versions");
        if std::fs::read_to_string(&record).is_ok_and(|old| old == versions) {
            return Ok(found);
        }
        let installing = step(format!("pip install {} (into {})", PYTHON_PACKAGES.join(" "), found.folder.display()));
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--upgrade", "--target"]).arg(&found.folder).args(PYTHON_PACKAGES);
        process::run(pip.stderr(Stdio::null())).context("pip (Debian's package python3-pip) could not install them")?;
        std::fs::write(&record, versions).with_context(|| format!("cannot write {}", record.display()))?;
        installing.done();
        Ok(found)
    }

    /// A module of theirs as a command.
    pub fn module_command(&self, name: &str) -> Command {
        let mut command = Command::new("python3");
        command.args(["-m", name]).env("PYTHONPATH", &self.folder);
        command
    }

    /// A cargo command that builds with the linker for old C libraries.
    pub fn zigbuild_command(&self) -> Command {
        let mut command = Command::new(self.folder.join("bin/cargo-zigbuild"));
        command.arg("zigbuild").current_dir(workspace::root());
        command.env("CARGO_ZIGBUILD_ZIG_PATH", self.folder.join("ziglang/zig"));
        command
    }
}

fn tools_folder() -> PathBuf {
    // Not where the target folder is: tools are the same for every build.
    Path::new(workspace::root()).join("target/tools")
}
