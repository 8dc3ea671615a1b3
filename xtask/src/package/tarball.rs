//! The tarball: the tree in a folder with the version in its name, to be installed by its `install.sh` or used where it lies.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::package::products::{commit_time, package_version};
use crate::process;

/// Packs a tree; gives the archive's path.
pub fn pack_tarball(tree: &Path, results: &Path) -> Result<PathBuf> {
    let name = format!("lockstep-{}-linux-x86_64", package_version());
    let archive = results.join(format!("{name}.tar.gz"));
    pack_folder(tree, &name, &archive)?;
    Ok(archive)
}

/// Packs a folder under another name, with the same bytes whoever does it and when.
pub fn pack_folder(folder: &Path, name: &str, archive: &Path) -> Result<()> {
    // Small systems have no xz.
    process::run(prepare_tar(folder, name, archive)?.arg("--use-compress-program=gzip -9 --no-name"))
}

/// The command that packs a folder so, without compression.
pub fn prepare_tar(folder: &Path, name: &str, archive: &Path) -> Result<Command> {
    let parent = folder.parent().context("a folder without a parent")?;
    let own_name = folder.file_name().and_then(|name| name.to_str()).context("a folder's name is not valid text")?;
    let mut tar = Command::new("tar");
    tar.arg("--create").arg("--file").arg(archive).arg("--directory").arg(parent);
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--format=gnu"]);
    tar.arg(format!("--mtime=@{}", commit_time()?)).arg(format!("--transform=flags=r;s,^{own_name},{name},"));
    tar.arg(own_name);
    Ok(tar)
}
