//! Where things are in the source tree and under `target/`.

use std::path::{Path, PathBuf};

/// The workspace's root: the folder above this crate's.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the xtask crate lies inside the workspace")
}

/// Cargo's target directory.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(
        || root().join("target"),
        // Cargo reads a relative CARGO_TARGET_DIR from its working directory,
        // and xtask starts cargo in the root.
        |directory| root().join(directory),
    )
}

/// The driver as `cargo build --release` leaves it.
pub fn driver() -> PathBuf {
    target().join("release/liblockstep.so")
}

/// The compiler's executable, which lies beside the driver.
pub fn compiler() -> PathBuf {
    target().join("release/lockstep-compiler")
}

/// The command for users, built beside the two.
pub fn command() -> PathBuf {
    target().join("release/lockstep")
}

/// The folder that holds nothing but the `.icd` of the built driver.
pub fn icd_directory() -> PathBuf {
    root().join("target/icd")
}

/// What `OCL_ICD_VENDORS` has to say for the loader to find the built driver.
///
/// ocl-icd takes a folder only when the path ends in a slash.
pub fn vendors() -> String {
    format!("{}/", icd_directory().display())
}
