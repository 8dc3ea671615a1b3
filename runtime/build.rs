//! Gives the driver's build a name: a hash of the sources that decide what is compiled, how it is called and how it is
//! stored. What one build has stored, another one does not take for its own.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::{env, fs, io};

/// Relative to this crate.
const SOURCES: [&str; 10] = [
    "../Cargo.lock",
    "../compiler/Cargo.toml",
    "../compiler/src",
    "../compiler/ir/Cargo.toml",
    "../compiler/ir/src",
    "../compiler/protocol/Cargo.toml",
    "../compiler/protocol/src",
    "../kernels/build",
    "../kernels/cl",
    "src",
];

fn main() -> io::Result<()> {
    let mut hasher = DefaultHasher::new();
    for name in ["PROFILE", "OPT_LEVEL", "TARGET", "CARGO_CFG_TARGET_FEATURE"] {
        env::var(name).unwrap_or_default().hash(&mut hasher);
    }
    for source in SOURCES {
        println!("cargo:rerun-if-changed={source}");
        hash(Path::new(source), &mut hasher)?;
    }
    println!("cargo:rustc-env=LOCKSTEP_BUILD={:016x}", hasher.finish());
    Ok(())
}

fn hash(path: &Path, hasher: &mut DefaultHasher) -> io::Result<()> {
    path.hash(hasher);
    if !path.is_dir() {
        fs::read(path)?.hash(hasher);
        return Ok(());
    }
    let mut inside = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    inside.sort();
    inside.iter().try_for_each(|path| hash(path, hasher))
}
