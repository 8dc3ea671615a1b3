//! An application that shuts itself into an empty folder after it has asked for the platform.

use std::ffi::CString;
use std::io::{Error, Write};
use std::path::Path;

use lockstep_conformance::child::in_child;
use lockstep_conformance::stand_in::real_compiler;
use lockstep_conformance::{Context, Setup, is_lockstep, platform};
use object::elf::PT_INTERP;
use object::read::elf::{ElfFile64, ProgramHeader};

use crate::forks::Forked;
use crate::work::{build_and_launch, log_of_failed_build};

/// Whether a program asks for a dynamic linker, which is not there in an empty folder.
fn asks_for_linker(program: &Path) -> bool {
    let bytes = std::fs::read(program).expect("the compiler is there");
    let file: ElfFile64 = ElfFile64::parse(&*bytes).expect("the compiler is an ELF file of 64 bits");
    file.elf_program_headers().iter().any(|header| header.p_type(file.endian()) == PT_INTERP)
}

/// Gets the right to change the root where this process has not got it.
fn may_change_root() -> Result<(), Error> {
    // SAFETY: system calls without pointers.
    match unsafe { libc::geteuid() == 0 || libc::unshare(libc::CLONE_NEWUSER) == 0 } {
        true => Ok(()),
        false => Err(Error::last_os_error()),
    }
}

fn change_root(folder: &Path) {
    let path = CString::new(folder.as_os_str().as_encoded_bytes()).expect("a path without zeros");
    // SAFETY: terminated paths.
    let code = unsafe { libc::chroot(path.as_ptr()) };
    assert_eq!(code, 0, "chroot: {}", Error::last_os_error());
    std::env::set_current_dir("/").expect("the new root is there");
}

/// Says something that the test's runner does not keep to itself.
fn tell(words: &str) {
    let _ = writeln!(std::io::stderr(), "{words}");
}

#[test]
fn an_empty_folder_is_the_root() {
    if !is_lockstep() {
        return;
    }
    let output = in_child("root_folder::an_empty_folder_is_the_root", &[], || {
        let folder = std::env::temp_dir().join(format!("lockstep-root-{}", std::process::id()));
        std::fs::create_dir(&folder).expect("a new folder");
        // Only a process without other threads may make a user namespace.
        Forked::begin(|| {
            if let Err(error) = may_change_root() {
                println!("neither root's rights nor a user namespace are to be had ({error}): nothing was tested");
                return;
            }
            platform();
            let asks_for_linker = asks_for_linker(&real_compiler());
            change_root(&folder);
            match asks_for_linker {
                false => {
                    let setup = Setup::new();
                    build_and_launch(&setup);
                    build_and_launch(&setup);
                }
                true => {
                    let log = log_of_failed_build(&Context::new());
                    println!("a compiler that is linked dynamically: {log}");
                    assert!(log.contains("could not be started: execve: No such file or directory"), "{log}");
                }
            }
        })
        .join();
        std::fs::remove_dir(&folder).expect("the folder is empty");
    });
    tell(&output.stdout);
}
