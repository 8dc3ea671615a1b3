//! Scripts in the place of the compiler's executable (`LOCKSTEP_COMPILER`).

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::child::is_child;
use crate::loader::driver_library;

/// Commands for `sh` that put the next request into the file `$0.$$`: the stream does not end with it.
pub const KEEP_REQUEST: &str = "head -c 8 > \"$0.$$\"; head -c $(od -An -tu8 \"$0.$$\") >> \"$0.$$\"";

/// A script in a folder of its own, which goes away with the value.
pub struct StandIn(PathBuf);

impl StandIn {
    /// Writes a script for `sh`. The name tells the folder from those of other tests. A child runs that of its parent, and has
    /// none of its own, which nobody would remove.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn new(name: &str, script: &str) -> StandIn {
        if is_child() {
            return StandIn(PathBuf::new());
        }
        let folder = std::env::temp_dir().join(format!("lockstep-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("compiler");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a script");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("an executable script");
        StandIn(path)
    }

    /// Where it is.
    ///
    /// # Panics
    /// When the path is not text.
    pub fn path(&self) -> &str {
        self.0.to_str().expect("a plain path")
    }

    /// The folder of the script.
    pub fn folder(&self) -> PathBuf {
        self.0.parent().map(PathBuf::from).unwrap_or_default()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        if !is_child() {
            let _ = std::fs::remove_dir_all(self.folder());
        }
    }
}

/// The compiler's executable that belongs to the driver under test.
///
/// # Panics
/// When the driver lies nowhere.
pub fn real_compiler() -> PathBuf {
    let driver = std::fs::canonicalize(driver_library()).expect("the driver is a file");
    driver.with_file_name("lockstep-compiler")
}
