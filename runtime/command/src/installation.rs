//! Where the driver lies whose compiler and cache this command is about.

use std::path::{Path, PathBuf};

use lockstep_runtime::compiler_process;

/// The driver's name.
pub const DRIVER: &str = "liblockstep.so";

/// Where an installation has the driver, from the folder of its programs.
const LIBRARY_FOLDER: &str = "../lib/lockstep";

/// The driver that belongs to this command, whether it is there or not. It lies beside the command where both were built, and in
/// another folder of the same prefix where both were installed.
pub fn driver_path() -> PathBuf {
    let own_folder = std::env::current_exe().ok().and_then(|path| path.parent().map(Path::to_owned));
    find_driver(&own_folder.unwrap_or_default())
}

/// Has jobs done by the compiler of this command's driver, unless a switch names one.
pub fn use_driver_compiler() {
    if let Some(folder) = driver_path().parent() {
        compiler_process::look_in_folder(folder);
    }
}

fn find_driver(own_folder: &Path) -> PathBuf {
    let installed = own_folder.join(LIBRARY_FOLDER);
    let is_installed = |name: &str| !own_folder.join(name).exists() && installed.join(name).exists();
    // One of the two may be what is missing.
    let folder = if [DRIVER, compiler_process::FILE_NAME].into_iter().any(is_installed) {
        std::fs::canonicalize(&installed).unwrap_or(installed)
    } else {
        own_folder.to_owned()
    };
    folder.join(DRIVER)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn both_lie_in_one_folder_or_as_they_are_installed() {
        let prefix = tempfile::tempdir().unwrap();
        let place = |name: &str| fs::canonicalize(prefix.path()).unwrap().join(name);
        for folder in ["bin", "lib/lockstep"] {
            fs::create_dir_all(place(folder)).unwrap();
        }
        let found = || find_driver(&place("bin"));
        assert_eq!(found(), place("bin/liblockstep.so"), "where it is missed");
        fs::write(place("lib/lockstep/lockstep-compiler"), "").unwrap();
        assert_eq!(found(), place("lib/lockstep/liblockstep.so"), "only the compiler was installed");
        fs::write(place("lib/lockstep/liblockstep.so"), "").unwrap();
        assert_eq!(found(), place("lib/lockstep/liblockstep.so"));
        for name in ["liblockstep.so", "lockstep-compiler"] {
            fs::write(place("bin").join(name), "").unwrap();
        }
        assert_eq!(found(), place("bin/liblockstep.so"));
    }
}
