//! The compiler's executable is replaced or removed while the application runs.

use std::fs;
use std::path::{Path, PathBuf};

use lockstep_conformance::child::{in_child, is_child};
use lockstep_conformance::loader::driver_library;
use lockstep_conformance::stand_in::real_compiler;
use lockstep_conformance::{Setup, is_lockstep, platform};

use crate::work::build_and_launch;

/// A copy of the driver and its compiler, as an installation has them; it goes away with the value.
struct Installation(PathBuf);

impl Installation {
    /// The copy; a child has that of its parent.
    fn new(name: &str) -> Installation {
        if is_child() {
            return Installation(PathBuf::new());
        }
        let folder = std::env::temp_dir().join(format!("lockstep-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let library = folder.join("liblockstep.so");
        fs::copy(driver_library(), &library).expect("a copy of the driver");
        fs::copy(real_compiler(), folder.join("lockstep-compiler")).expect("a copy of the compiler");
        fs::write(folder.join("lockstep.icd"), format!("{}\n", library.display())).expect("a file for the loader");
        Installation(folder)
    }

    /// The folder as the ICD loader wants it.
    fn vendors(&self) -> String {
        format!("{}/", self.0.display())
    }
}

impl Drop for Installation {
    fn drop(&mut self) {
        if !is_child() {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

/// The compiler of the driver that this process has loaded, which is a copy.
fn copied_compiler(installation: &str) -> PathBuf {
    let compiler = real_compiler();
    assert_eq!(compiler.parent(), Some(Path::new(installation)), "the loader took another driver");
    compiler
}

#[test]
fn another_file_takes_its_place() {
    if !is_lockstep() {
        return;
    }
    let installation = Installation::new("replaced");
    in_child("executable_file::another_file_takes_its_place", &[("OCL_ICD_VENDORS", &installation.vendors())], || {
        let setup = Setup::new();
        build_and_launch(&setup);
        let folder = std::env::var("OCL_ICD_VENDORS").expect("set");
        let compiler = copied_compiler(&folder);
        let other = compiler.with_file_name("other");
        fs::copy("/bin/false", &other).expect("another program");
        fs::rename(&other, &compiler).expect("a new file of the old name");
        build_and_launch(&setup);
        build_and_launch(&Setup::new());
    });
}

#[test]
fn it_is_removed() {
    if !is_lockstep() {
        return;
    }
    let installation = Installation::new("removed");
    in_child("executable_file::it_is_removed", &[("OCL_ICD_VENDORS", &installation.vendors())], || {
        // All that the driver was asked for.
        platform();
        let folder = std::env::var("OCL_ICD_VENDORS").expect("set");
        fs::remove_file(copied_compiler(&folder)).expect("the file was there");
        build_and_launch(&Setup::new());
        build_and_launch(&Setup::new());
    });
}
