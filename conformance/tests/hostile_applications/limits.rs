//! Applications that have used up what they may have.

use std::fs::File;
use std::io::Error;

use lockstep_conformance::child::in_child;
use lockstep_conformance::{Setup, is_lockstep};

use lockstep_conformance::messages::{Messages, listening_setup};

use crate::work::{Work, build_and_launch, let_compilers_end, log_of_failed_build};

type Resource = libc::__rlimit_resource_t;

/// Sets the soft limit of this process and returns what it was.
pub fn set_soft_limit(resource: Resource, value: u64) -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls get a live, complete structure.
    unsafe {
        assert_eq!(libc::getrlimit(resource, &mut limit), 0);
        let before = std::mem::replace(&mut limit.rlim_cur, value);
        assert_eq!(libc::setrlimit(resource, &limit), 0, "the limit cannot be set: {}", Error::last_os_error());
        before
    }
}

/// Checks that builds and launches fail for want of something, and name the system call, while the limit holds; and that
/// both work again afterwards, also of what failed.
#[track_caller]
fn fail_under_limit(setup: &Setup, messages: &Messages, resource: Resource, value: u64, sentence: &str) {
    let work = Work::build(&setup.context);
    work.launch(&setup.queue, 10);
    let_compilers_end();
    let before = set_soft_limit(resource, value);
    let log = log_of_failed_build(&setup.context);
    assert!(log.contains(sentence), "{log}");
    work.launch(&setup.queue, 10);
    work.fail_to_launch(&setup.queue, 20);
    let told = messages.take_all();
    assert!(told.contains(sentence), "{told}");
    set_soft_limit(resource, before);
    work.launch(&setup.queue, 20);
    work.launch(&setup.queue, 10);
    build_and_launch(setup);
}

/// Becomes a user that limits of processes hold for.
fn drop_rights() {
    // Of a user that has no other processes here.
    let user = 200_000 + std::process::id();
    // SAFETY: system calls without pointers.
    unsafe {
        if libc::geteuid() == 0 {
            assert_eq!(libc::setresuid(user, user, user), 0, "{}", Error::last_os_error());
        }
    }
}

#[test]
fn there_are_no_more_processes() {
    if !is_lockstep() {
        return;
    }
    in_child("limits::there_are_no_more_processes", &[], || {
        let (setup, messages) = listening_setup();
        build_and_launch(&setup);
        drop_rights();
        fail_under_limit(&setup, messages, libc::RLIMIT_NPROC, 0, "clone: Resource temporarily unavailable");
    });
}

#[test]
fn there_are_no_more_descriptors() {
    if !is_lockstep() {
        return;
    }
    in_child("limits::there_are_no_more_descriptors", &[], || {
        let (setup, messages) = listening_setup();
        build_and_launch(&setup);
        fail_under_limit(&setup, messages, libc::RLIMIT_NOFILE, 3, "Too many open files");
        // All that there may be are in use, but for some.
        set_soft_limit(libc::RLIMIT_NOFILE, 256);
        let mut files: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
        for _ in 0..12 {
            files.pop();
            let program = crate::work::new_program(&setup.context);
            let log = match program.build("") {
                0 => continue,
                _ => program.log(),
            };
            assert!(log.contains(": Too many open files"), "{log}");
        }
        build_and_launch(&setup);
    });
}

/// Neither the driver nor its compiler have to write files, so no limit of their size matters. The signal that comes of a
/// larger file would end the application.
#[test]
fn files_may_have_no_size() {
    if !is_lockstep() {
        return;
    }
    in_child("limits::files_may_have_no_size", &[], || {
        let setup = Setup::new();
        let before = set_soft_limit(libc::RLIMIT_FSIZE, 0);
        build_and_launch(&setup);
        build_and_launch(&Setup::new());
        set_soft_limit(libc::RLIMIT_FSIZE, before);
        build_and_launch(&setup);
        // A limit that nobody can raise again.
        drop_rights();
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the structure is live and complete.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &none) }, 0);
        build_and_launch(&setup);
        build_and_launch(&Setup::new());
    });
}

/// Soft limits that are lower than what a job gets, below hard ones that are lower as well.
#[test]
fn limits_cannot_be_raised_as_far_as_jobs_would() {
    if !is_lockstep() {
        return;
    }
    in_child("limits::limits_cannot_be_raised_as_far_as_jobs_would", &[], || {
        drop_rights();
        // Far less than the compiler takes is its soft limit, and what is enough the hard one.
        let file_sizes = libc::rlimit { rlim_cur: 1 << 10, rlim_max: 1 << 20 };
        let stacks = libc::rlimit { rlim_cur: 64 << 10, rlim_max: 16 << 20 };
        let times = libc::rlimit { rlim_cur: 20, rlim_max: 30 };
        for (resource, limit) in
            [(libc::RLIMIT_FSIZE, file_sizes), (libc::RLIMIT_STACK, stacks), (libc::RLIMIT_CPU, times)]
        {
            // SAFETY: the structure is live and complete.
            assert_eq!(unsafe { libc::setrlimit(resource, &limit) }, 0);
        }
        let setup = Setup::new();
        build_and_launch(&setup);
        build_and_launch(&setup);
    });
}
