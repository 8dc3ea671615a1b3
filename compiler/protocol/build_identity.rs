//! For build scripts: gives a build a name, a hash of the sources that decide what is compiled, how it is called and how it is
//! stored. What one build has stored, another one does not take for its own, and a driver asks nothing of another build's
//! compiler. Driver and compiler have the same name because their build scripts share this file.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::{env, fs, io};

/// What decides, relative to the workspace.
const SOURCES: [&str; 13] = [
    "Cargo.lock",
    "compiler/Cargo.toml",
    "compiler/build",
    "compiler/build.rs",
    "compiler/ir/Cargo.toml",
    "compiler/ir/src",
    "compiler/process/src",
    "compiler/protocol/Cargo.toml",
    "compiler/protocol/src",
    "compiler/src",
    "kernels/build",
    "kernels/cl",
    "runtime/src",
];

/// Sets `LOCKSTEP_BUILD` for the crate that is being built; the path leads from it to the workspace.
///
/// # Errors
/// When a source cannot be read.
pub fn name_build(workspace: &Path) -> io::Result<()> {
    let mut hasher = DefaultHasher::new();
    for name in ["PROFILE", "OPT_LEVEL", "TARGET", "CARGO_CFG_TARGET_FEATURE"] {
        env::var(name).unwrap_or_default().hash(&mut hasher);
    }
    for source in SOURCES {
        println!("cargo:rerun-if-changed={}", workspace.join(source).display());
        source.hash(&mut hasher);
        hash(&workspace.join(source), &mut hasher)?;
    }
    println!("cargo:rustc-env=LOCKSTEP_BUILD={:016x}", hasher.finish());
    Ok(())
}

fn hash(path: &Path, hasher: &mut DefaultHasher) -> io::Result<()> {
    path.file_name().hash(hasher);
    if !path.is_dir() {
        fs::read(path)?.hash(hasher);
        return Ok(());
    }
    let mut inside = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    inside.sort();
    inside.iter().try_for_each(|path| hash(path, hasher))
}
