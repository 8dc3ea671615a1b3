//! `install`: copies the driver, its compiler and the command `lockstep`, and registers the driver with the ICD loader.
//!
//! Loaders read `.icd` files from `/etc/OpenCL/vendors`, and from the folder
//! `OCL_ICD_VENDORS` names in its place. There is no folder of the user's own
//! that they read unasked, so `--user` prints the variable to set.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::driver::VENDORS;
use crate::progress::step;
use crate::{driver, setup, workspace};

/// The loaders' folder.
const SYSTEM_VENDORS: &str = "/etc/OpenCL/vendors";

/// The name of the compiler's executable.
const COMPILER: &str = "lockstep-compiler";

/// Where an installation puts its files.
#[derive(Debug, PartialEq, Eq)]
struct Plan {
    /// The driver; the compiler's executable lies beside it.
    driver: PathBuf,
    /// The command for users, which looks for the driver from there.
    command: PathBuf,
    /// The file that leads loaders to it.
    icd: PathBuf,
    /// Put before all of them when copying, but not into the `.icd` file (packagers).
    staging: Option<PathBuf>,
    /// Whether loaders look where the `.icd` file goes without being told.
    found_unasked: bool,
}

/// What the command is told.
#[derive(Default, clap::Args)]
pub struct Options {
    #[command(flatten)]
    place: Place,
}

/// Where to; the user's own folder if not told otherwise.
#[derive(Default, clap::Args)]
#[group(multiple = false)]
struct Place {
    /// To ~/.local (what happens without options)
    #[arg(long)]
    user: bool,
    /// To /usr/local, where every ICD loader finds it
    #[arg(long)]
    system: bool,
    /// To a folder, for packagers; DESTDIR is put before it when copying
    #[arg(long, value_name = "DIR")]
    prefix: Option<PathBuf>,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let [home, staging] = ["HOME", "DESTDIR"].map(|name| std::env::var_os(name).map(PathBuf::from));
    let plan = plan(&options.place, home, staging)?;
    setup::run()?;
    driver::build()?;
    let installing = step(format!("install {}", plan.driver.display()));
    let library = plan.staged(&plan.driver);
    let icd = plan.staged(&plan.icd);
    copy(&workspace::driver(), &library)?;
    // The driver looks for it beside itself.
    let compiler = library.with_file_name(COMPILER);
    copy(&workspace::compiler(), &compiler)?;
    let command = plan.staged(&plan.command);
    copy(&workspace::command(), &command)?;
    make_parent(&icd)?;
    driver::write_icd(&icd, &plan.driver)?;
    installing.done();
    println!("registered by {}", icd.display());
    if !plan.found_unasked {
        let folder = plan.icd.parent().unwrap_or(Path::new("/")).display();
        println!(
            "ICD loaders do not look there unasked (nor in any folder of a user's own); set\n\
             \x20   export {VENDORS}={folder}/\n\
             Loaders then look only there: copy or link the files of {SYSTEM_VENDORS} into it\n\
             to keep seeing the machine's other drivers."
        );
    }
    println!("`{} doctor` tells whether all is well", plan.command.display());
    let files = [&icd, &library, &compiler, &command].map(|path| path.display().to_string());
    println!("to uninstall: rm {}", files.join(" "));
    Ok(())
}

impl Plan {
    fn staged(&self, path: &Path) -> PathBuf {
        match &self.staging {
            None => path.to_owned(),
            Some(staging) => staging.join(path.strip_prefix("/").unwrap_or(path)),
        }
    }
}

fn plan(place: &Place, home: Option<PathBuf>, staging: Option<PathBuf>) -> Result<Plan> {
    let at = |prefix: &Path, vendors: &Path, staging| Plan {
        driver: prefix.join("lib/lockstep/liblockstep.so"),
        command: prefix.join("bin/lockstep"),
        icd: vendors.join("lockstep.icd"),
        staging,
        found_unasked: vendors == Path::new(SYSTEM_VENDORS),
    };
    if place.system {
        return Ok(at(Path::new("/usr/local"), Path::new(SYSTEM_VENDORS), staging));
    }
    let Some(folder) = &place.prefix else {
        let local = home.context("--user needs HOME to be set")?.join(".local");
        return Ok(at(&local, &local.join("share/OpenCL/vendors"), None));
    };
    let prefix = std::path::absolute(folder).with_context(|| format!("bad folder {}", folder.display()))?;
    // The one place outside its prefix that a distribution's package owns.
    let is_of_package = prefix == Path::new("/usr");
    let vendors = if is_of_package { PathBuf::from(SYSTEM_VENDORS) } else { prefix.join("etc/OpenCL/vendors") };
    Ok(at(&prefix, &vendors, staging))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    make_parent(to)?;
    // Beside the old file and then over it: a process that has the old driver
    // mapped keeps it, instead of finding other code under its feet.
    let fresh = to.with_extension("new");
    std::fs::copy(from, &fresh)
        .and_then(|_| std::fs::rename(&fresh, to))
        .with_context(|| format!("cannot write {} (are the rights there?)", to.display()))
}

fn make_parent(path: &Path) -> Result<()> {
    let parent = path.parent().context("a path without a folder")?;
    std::fs::create_dir_all(parent).with_context(|| format!("cannot make {} (are the rights there?)", parent.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::parsed;

    fn planned(words: &[&str]) -> Result<Plan> {
        plan(&parsed::<Options>(words)?.place, Some("/home/ada".into()), None)
    }

    #[test]
    fn system_registers_where_loaders_look() {
        let plan = planned(&["--system"]).expect("valid");
        assert_eq!(plan.icd, Path::new("/etc/OpenCL/vendors/lockstep.icd"));
        assert_eq!(plan.command, Path::new("/usr/local/bin/lockstep"));
        assert!(plan.found_unasked);
    }

    #[test]
    fn user_stays_at_home_and_says_what_to_set() {
        let plan = planned(&["--user"]).expect("valid");
        assert_eq!(plan.driver, Path::new("/home/ada/.local/lib/lockstep/liblockstep.so"));
        assert_eq!(plan.command, Path::new("/home/ada/.local/bin/lockstep"));
        assert!(plan.icd.starts_with("/home/ada/.local"));
        assert!(!plan.found_unasked);
    }

    #[test]
    fn staging_moves_the_files_but_not_the_path_inside() {
        let mut plan = planned(&["--prefix", "/usr"]).expect("valid");
        plan.staging = Some("/tmp/stage".into());
        assert_eq!(plan.staged(&plan.driver), Path::new("/tmp/stage/usr/lib/lockstep/liblockstep.so"));
        assert_eq!(plan.driver, Path::new("/usr/lib/lockstep/liblockstep.so"));
        assert_eq!(plan.icd, Path::new("/etc/OpenCL/vendors/lockstep.icd"));
    }

    #[test]
    fn wrong_words_are_refused() {
        assert!(planned(&["--prefix"]).is_err());
        assert!(planned(&["--everywhere"]).is_err());
        assert!(planned(&["--user", "--system"]).is_err());
    }
}
