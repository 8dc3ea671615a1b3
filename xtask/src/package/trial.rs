//! `package-test`: tries the packages where their users are.
//!
//! Each trial has a system of its own, made of Debian's packages by debootstrap, without LLVM and clang. A script of `trials` installs
//! a package there, runs pyopencl, clinfo and the Mandelbrot set, takes the package away and looks for what is left. Nothing of a
//! system is reached over the network. This needs root, for the change of the root folder; the scripts run as a user where users do.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::package::tree::{copy_file, write_file};
use crate::progress::step;
use crate::{process, workspace};

/// What is tried.
#[derive(clap::Args)]
pub struct Options {
    /// The folder that `package` put the packages into
    #[arg(long, value_name = "DIR", default_value = "target/packages")]
    packages: PathBuf,
    /// Only the trials whose names contain one of these
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

/// A script, and who runs it.
struct Trial {
    name: &'static str,
    script: &'static str,
    as_root: bool,
}

const TRIALS: [Trial; 4] = [
    Trial { name: "wheel", script: include_str!("trials/wheel.sh"), as_root: false },
    Trial { name: "deb", script: include_str!("trials/deb.sh"), as_root: true },
    Trial { name: "tarball", script: include_str!("trials/tarball.sh"), as_root: false },
    Trial { name: "misuse", script: include_str!("trials/misuse.sh"), as_root: true },
];

/// Files that the scripts use.
const FILES: [(&str, &str); 3] = [
    ("programs.sh", include_str!("trials/programs.sh")),
    ("vector_add.py", include_str!("trials/vector_add.py")),
    ("long_run.py", include_str!("trials/long_run.py")),
];

/// The release that packages are tried on, and what users of OpenCL have installed there.
const RELEASE: &str = "bookworm";
const INSTALLED: &str = "--include=python3,python3-venv,ocl-icd-libopencl1,clinfo";

/// Python packages that users have, for the Python of that release.
const PYTHON_PACKAGES: [&str; 2] = ["pyopencl", "numpy"];

/// How a script becomes the user who was made for it.
const ENTER_AS_USER: &str = "exec setpriv --reuid=1000 --regid=1000 --clear-groups";

/// Runs the command.
pub fn try_packages(options: &Options) -> Result<()> {
    let packages = workspace::root().join(&options.packages);
    let trials = find_trials(&options.names)?;
    let base = make_base()?;
    let mut failed = Vec::new();
    for trial in trials {
        let trying = step(format!("try the {}", trial.name));
        match try_package(trial, &base, &packages) {
            Ok(()) => trying.done(),
            Err(error) => {
                println!("    {error:#}");
                failed.push(trial.name);
            }
        }
    }
    if !failed.is_empty() {
        bail!("trials failed: {}", failed.join(", "));
    }
    println!("package-test: passed");
    Ok(())
}

/// The trials whose names contain one of these; all of them where there is none.
fn find_trials(names: &[String]) -> Result<Vec<&'static Trial>> {
    let is_wanted = |trial: &&Trial| names.is_empty() || names.iter().any(|name| trial.name.contains(name));
    let found: Vec<_> = TRIALS.iter().filter(is_wanted).collect();
    if found.is_empty() {
        bail!("no trial has such a name");
    }
    Ok(found)
}

/// The system that each trial gets a copy of. It is kept.
fn make_base() -> Result<PathBuf> {
    let folder = workspace::target().join("package").join(RELEASE);
    let (base, fresh) = (folder.join("base"), folder.join("unfinished"));
    if base.exists() {
        return Ok(base);
    }
    let making = step(format!("debootstrap {RELEASE} (into {})", base.display()));
    remove_folder(&fresh)?;
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut debootstrap = Command::new("debootstrap");
    debootstrap.args(["--variant=minbase", INSTALLED, RELEASE]).arg(&fresh).stdout(Stdio::null());
    process::run(&mut debootstrap).context("this needs root and Debian's package debootstrap")?;
    enter(&fresh, true, "useradd --uid 1000 --create-home --shell /bin/sh user")?;
    let wheels = fresh.join("trial/wheels");
    download_wheels(&wheels)?;
    let names = PYTHON_PACKAGES.join(" ");
    enter(
        &fresh,
        false,
        &format!(
            "cd && python3 -m venv venv && venv/bin/pip install --quiet --no-index --find-links /trial/wheels {names}"
        ),
    )?;
    fs::rename(&fresh, &base)?;
    making.done();
    Ok(base)
}

/// Has pip fetch what is installed later without a network.
fn download_wheels(folder: &Path) -> Result<()> {
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--only-binary=:all:", "--python-version=3.11"]);
    pip.args([
        "--platform=manylinux_2_28_x86_64",
        "--platform=manylinux_2_27_x86_64",
        "--platform=manylinux2014_x86_64",
    ]);
    process::run(pip.arg("--dest").arg(folder).args(PYTHON_PACKAGES).stderr(Stdio::null()))
}

fn try_package(trial: &Trial, base: &Path, packages: &Path) -> Result<()> {
    let root = base.with_file_name(trial.name);
    remove_folder(&root)?;
    process::run(Command::new("cp").args(["--archive", "--reflink=auto"]).arg(base).arg(&root))?;
    let place = root.join("trial");
    for entry in fs::read_dir(packages).context("there are no packages: `cargo xtask package` makes them")? {
        let path = entry?.path();
        let name = path.file_name().context("a file without a name")?;
        match path.extension().and_then(|end| end.to_str()) {
            Some("whl") => copy_file(&path, &place.join("wheels").join(name))?,
            Some("deb" | "gz") => copy_file(&path, &place.join(name))?,
            _ => {}
        }
    }
    copy_file(&std::env::current_exe()?, &place.join("xtask"))?;
    for (name, text) in FILES.into_iter().chain([("trial.sh", trial.script)]) {
        write_file(&place.join(name), text)?;
    }
    enter(&root, trial.as_root, "sh /trial/trial.sh")?;
    remove_folder(&root)
}

/// Runs a command below a root folder, with the system's own file systems and nothing of this process's environment. The mounts are
/// gone with it.
fn enter(root: &Path, as_root: bool, command: &str) -> Result<()> {
    let become_user = if as_root { "exec" } else { ENTER_AS_USER };
    let home = if as_root { "/root" } else { "/home/user" };
    let script = format!(
        "set -e; mount -t proc proc \"$1/proc\"; mount --rbind /sys \"$1/sys\"; mount --rbind /dev \"$1/dev\"; \
         exec chroot \"$1\" env -i HOME={home} PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
         DEBIAN_FRONTEND=noninteractive sh -c '{become_user} sh -c \"$0\"' \"$2\""
    );
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "--net", "--pid", "--fork", "sh", "-c", &script, "sh"]).arg(root).arg(command);
    process::run(&mut unshare)
}

fn remove_folder(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}
