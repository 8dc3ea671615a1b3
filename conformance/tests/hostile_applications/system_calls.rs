//! Applications that forbid themselves system calls, as sandboxes do.

use std::io::Error;

use lockstep_conformance::child::in_child;
use lockstep_conformance::{Setup, is_lockstep};

use lockstep_conformance::messages::listening_setup;

use crate::work::{Work, build_and_launch, let_compilers_end, log_of_failed_build};

/// What makes new processes and threads.
const NEW_PROCESSES: [libc::c_long; 6] =
    [libc::SYS_clone, libc::SYS_clone3, libc::SYS_fork, libc::SYS_vfork, libc::SYS_execve, libc::SYS_execveat];

/// What old kernels lack and filters forbid.
const NEW_CALLS: [libc::c_long; 4] =
    [libc::SYS_memfd_create, libc::SYS_pidfd_open, libc::SYS_clone3, libc::SYS_execveat];

fn instruction(code: u32, if_true: u8, if_false: u8, operand: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt: if_true, jf: if_false, k: operand }
}

/// From now on these system calls fail with this error in all threads of the process, and its children.
fn forbid(calls: &[libc::c_long], error_number: libc::c_int) {
    let refusal = libc::SECCOMP_RET_ERRNO | error_number as u32;
    let load_number = instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0);
    let refuse = calls.iter().flat_map(|&call| {
        [
            instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, call as u32),
            instruction(libc::BPF_RET | libc::BPF_K, 0, 0, refusal),
        ]
    });
    let allow = instruction(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW);
    let mut filter: Vec<libc::sock_filter> = [load_number].into_iter().chain(refuse).chain([allow]).collect();
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program lives until the calls have returned.
    let code = unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0, "{}", Error::last_os_error());
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_TSYNC,
            &raw const program,
        )
    };
    assert_eq!(code, 0, "seccomp: {}", Error::last_os_error());
}

#[test]
fn no_process_can_be_made_after_the_build() {
    if !is_lockstep() {
        return;
    }
    in_child("system_calls::no_process_can_be_made_after_the_build", &[], || {
        let (Setup { context, queue }, messages) = listening_setup();
        let work = Work::build(&context);
        work.launch(&queue, 10);
        let_compilers_end();
        forbid(&NEW_PROCESSES, libc::EPERM);
        // Code that is there runs.
        (0..10).for_each(|_| work.launch(&queue, 10));
        assert!(!messages.take_all().contains("clone"));
        work.fail_to_launch(&queue, 20);
        let told = messages.take_all();
        assert!(told.contains("clone: Operation not permitted"), "{told}");
        let log = log_of_failed_build(&context);
        assert!(log.contains("clone: Operation not permitted"), "{log}");
        // And still runs.
        (0..10).for_each(|_| work.launch(&queue, 10));
    });
}

#[test]
fn only_programs_are_forbidden() {
    if !is_lockstep() {
        return;
    }
    in_child("system_calls::only_programs_are_forbidden", &[], || {
        let (Setup { context, queue }, messages) = listening_setup();
        let work = Work::build(&context);
        work.launch(&queue, 10);
        let_compilers_end();
        forbid(&[libc::SYS_execve, libc::SYS_execveat], libc::EPERM);
        work.fail_to_launch(&queue, 20);
        let told = messages.take_all();
        assert!(told.contains("execve: Operation not permitted"), "{told}");
        work.launch(&queue, 10);
    });
}

#[test]
fn old_kernels_and_filters_lack_new_calls() {
    if !is_lockstep() {
        return;
    }
    for error_number in ["38", "1"] {
        in_child("system_calls::old_kernels_and_filters_lack_new_calls", &[("FORBIDDEN", error_number)], || {
            let error_number = std::env::var("FORBIDDEN").expect("set").parse().expect("a number");
            assert!([libc::ENOSYS, libc::EPERM].contains(&error_number));
            forbid(&NEW_CALLS, error_number);
            let setup = Setup::new();
            (0..3).for_each(|_| build_and_launch(&setup));
        });
    }
}
