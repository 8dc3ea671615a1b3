//! What surrounds an application: folders that cannot be written to, floating-point exceptions that trap.

use std::ffi::c_int;

use lockstep_conformance::child::in_child;
use lockstep_conformance::{Setup, is_lockstep};

use crate::work::build_and_launch;

#[test]
fn there_is_no_folder_for_temporary_files() {
    if !is_lockstep() {
        return;
    }
    // Nobody creates files in the second one, whatever their rights.
    for folder in ["/no/such/folder", "/proc"] {
        let environment = [("TMPDIR", folder), ("TMP", folder), ("TEMP", folder), ("HOME", folder)];
        in_child("surroundings::there_is_no_folder_for_temporary_files", &environment, || {
            assert!(std::fs::write(std::env::temp_dir().join("new"), "").is_err(), "files can be created");
            let setup = Setup::new();
            build_and_launch(&setup);
            build_and_launch(&setup);
        });
    }
}

unsafe extern "C" {
    /// Has floating-point exceptions end in SIGFPE.
    safe fn feenableexcept(exceptions: c_int) -> c_int;
    /// The exceptions that do.
    safe fn fegetexcept() -> c_int;
}

/// `FE_ALL_EXCEPT` of x86.
const ALL_EXCEPTIONS: c_int = 0x3d;

#[test]
fn floating_point_exceptions_trap_while_the_driver_is_loaded() {
    if !is_lockstep() {
        return;
    }
    in_child("surroundings::floating_point_exceptions_trap_while_the_driver_is_loaded", &[], || {
        assert_eq!(feenableexcept(ALL_EXCEPTIONS), 0);
        build_and_launch(&Setup::new());
        assert_eq!(fegetexcept(), ALL_EXCEPTIONS, "the application's choice");
        build_and_launch(&Setup::new());
    });
}
