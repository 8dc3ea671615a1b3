//! `install`: copies the driver and registers it with the ICD loader.
//!
//! Loaders read `.icd` files from `/etc/OpenCL/vendors`, and from the folder
//! `OCL_ICD_VENDORS` names in its place. There is no folder of the user's own
//! that they read unasked, so `--user` prints the variable to set.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::driver::VENDORS;
use crate::progress::step;
use crate::{driver, setup, workspace};

/// The loaders' folder.
const SYSTEM_VENDORS: &str = "/etc/OpenCL/vendors";

/// Where an installation puts its two files.
#[derive(Debug, PartialEq, Eq)]
struct Plan {
    /// The driver.
    driver: PathBuf,
    /// The file that leads loaders to it.
    icd: PathBuf,
    /// Put before both when copying, but not into the `.icd` file (packagers).
    staging: Option<PathBuf>,
    /// Whether loaders look where the `.icd` file goes without being told.
    found_unasked: bool,
}

/// Runs the command.
pub fn run(arguments: &[String]) -> Result<()> {
    let plan =
        plan(arguments, std::env::var_os("HOME").map(PathBuf::from), std::env::var_os("DESTDIR").map(PathBuf::from))?;
    setup::run()?;
    driver::build()?;
    let installing = step(format!("install {}", plan.driver.display()));
    let library = plan.staged(&plan.driver);
    let icd = plan.staged(&plan.icd);
    copy(&workspace::driver(), &library)?;
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
    println!("to uninstall: rm {} {}", icd.display(), library.display());
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

fn plan(arguments: &[String], home: Option<PathBuf>, staging: Option<PathBuf>) -> Result<Plan> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let at = |lib: &Path, vendors: &Path, staging| Plan {
        driver: lib.join("lockstep/liblockstep.so"),
        icd: vendors.join("lockstep.icd"),
        staging,
        found_unasked: vendors == Path::new(SYSTEM_VENDORS),
    };
    match words[..] {
        [] | ["--user"] => {
            let local = home.context("--user needs HOME to be set")?.join(".local");
            Ok(at(&local.join("lib"), &local.join("share/OpenCL/vendors"), None))
        }
        ["--system"] => Ok(at(Path::new("/usr/local/lib"), Path::new(SYSTEM_VENDORS), staging)),
        ["--prefix", directory] => {
            let prefix = std::path::absolute(directory).with_context(|| format!("bad folder {directory}"))?;
            // The one place outside its prefix that a distribution's package owns.
            let vendors = if prefix == Path::new("/usr") {
                PathBuf::from(SYSTEM_VENDORS)
            } else {
                prefix.join("etc/OpenCL/vendors")
            };
            Ok(at(&prefix.join("lib"), &vendors, staging))
        }
        _ => bail!("usage: cargo xtask install [--user | --system | --prefix DIR]"),
    }
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    make_parent(to)?;
    // Beside the old file and then over it: a process that has the old driver
    // mapped keeps it, instead of finding other code under its feet.
    let fresh = to.with_extension("so.new");
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

    fn planned(words: &[&str]) -> Result<Plan> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        plan(&words, Some("/home/ada".into()), None)
    }

    #[test]
    fn system_registers_where_loaders_look() {
        let plan = planned(&["--system"]).expect("valid");
        assert_eq!(plan.icd, Path::new("/etc/OpenCL/vendors/lockstep.icd"));
        assert!(plan.found_unasked);
    }

    #[test]
    fn user_stays_at_home_and_says_what_to_set() {
        let plan = planned(&["--user"]).expect("valid");
        assert!(plan.driver.starts_with("/home/ada/.local"));
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
    }
}
