//! `install`: builds the driver, its compiler and the command `lockstep`, and runs the script that users of a package run,
//! `package/install.sh`. It says where the files go, registers the driver, and removes it again.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::package::{Products, assemble_tree};
use crate::progress::step;
use crate::{driver, process, workspace};

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

/// Runs the command. Nothing is installed that the build needs: `setup` does that.
pub fn run(options: &Options) -> Result<()> {
    driver::build().context("the build failed (`cargo xtask setup` names and installs what it needs)")?;
    let tree = workspace::target().join("install");
    let products =
        Products { driver: workspace::driver(), command: workspace::command(), compiler: workspace::compiler() };
    assemble_tree(&tree, &products)?;
    let installing = step("install");
    process::run(Command::new("sh").arg(tree.join("install.sh")).args(options.place.words()))?;
    installing.done();
    Ok(())
}

impl Place {
    /// What the script is told.
    fn words(&self) -> Vec<std::ffi::OsString> {
        match &self.prefix {
            Some(prefix) => vec!["--prefix".into(), prefix.into()],
            None if self.system => vec!["--system".into()],
            None => vec!["--user".into()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::parsed;

    fn words(words: &[&str]) -> Option<Vec<std::ffi::OsString>> {
        Some(parsed::<Options>(words).ok()?.place.words())
    }

    #[test]
    fn the_script_is_told_where_to() {
        let told = |given: &[&str]| words(given).expect("valid");
        assert_eq!(told(&[]), ["--user"]);
        assert_eq!(told(&["--user"]), ["--user"]);
        assert_eq!(told(&["--system"]), ["--system"]);
        assert_eq!(told(&["--prefix", "/opt/a folder"]), ["--prefix", "/opt/a folder"]);
    }

    #[test]
    fn wrong_words_are_refused() {
        for given in [&["--prefix"][..], &["--everywhere"], &["--user", "--system"]] {
            assert_eq!(words(given), None, "{given:?}");
        }
    }
}
