//! The tree of files that every kind of package holds: `bin`, `lib/lockstep`, `share`, as they lie below a prefix, and `install.sh`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::package::products::Products;
use crate::{build, process, workspace};

/// Where it is put together, from the workspace's root: Debian's package takes it from there.
pub const FOLDER: &str = "target/package/tree";
/// What puts the tree into its place, and takes it away.
pub const INSTALL_SCRIPT: &str = include_str!("install.sh");

/// Documents that users of a package get.
const DOCUMENTS: [&str; 6] =
    ["LICENSE-MIT", "LICENSE-APACHE", "CHANGELOG.md", "docs/options.md", "docs/report.md", "docs/licences.md"];

/// Puts a tree together, in the place of what lies in that folder.
///
/// # Errors
///
/// A file cannot be written, or the command does not run here.
pub fn assemble_tree(folder: &Path, products: &Products) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    copy_file(&products.command, &folder.join("bin/lockstep"))?;
    copy_file(&products.driver, &folder.join("lib/lockstep/liblockstep.so"))?;
    copy_file(&products.compiler, &folder.join("lib/lockstep/lockstep-compiler"))?;
    for document in DOCUMENTS {
        let from = workspace::root().join(document);
        let name = from.file_name().context("a document without a name")?;
        copy_file(&from, &documents_folder(folder).join(name))?;
    }
    // Man pages and completions are made of what the command itself knows of its words.
    process::run(Command::new(&products.command).args(["write-pages"]).arg(folder.join("share")))?;
    write_file(&folder.join("install.sh"), INSTALL_SCRIPT)?;
    set_modes(folder)?;
    build::examine_products(&folder.join("bin/lockstep"), &folder.join("lib/lockstep/liblockstep.so"))
}

/// Where documents lie in a tree.
pub fn documents_folder(tree: &Path) -> PathBuf {
    tree.join("share/doc/lockstep")
}

/// Writes a text, and makes the folder that it goes to.
pub fn write_file(path: &Path, text: &str) -> Result<()> {
    make_parent(path)?;
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn make_parent(path: &Path) -> Result<()> {
    let folder = path.parent().context("a path without a folder")?;
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))
}

/// Copies a file, and makes the folder that it goes to.
pub fn copy_file(from: &Path, to: &Path) -> Result<()> {
    make_parent(to)?;
    fs::copy(from, to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    Ok(())
}

/// Gives files the same rights whatever the builder's umask is. All may run programs, and read the rest.
pub fn set_modes(folder: &Path) -> Result<()> {
    let is_program = |name: &str| ["lockstep", "lockstep-compiler", "install.sh"].contains(&name);
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let is_folder = entry.file_type()?.is_dir();
        let mode = if is_folder || entry.file_name().to_str().is_some_and(is_program) { 0o755 } else { 0o644 };
        fs::set_permissions(entry.path(), fs::Permissions::from_mode(mode))?;
        if is_folder {
            set_modes(&entry.path())?;
        }
    }
    Ok(())
}
