//! Children that somebody else waits for, and signals that are ignored, handled, blocked or deadly.

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use lockstep_conformance::child::in_child;
use lockstep_conformance::stand_in::{StandIn, real_compiler};
use lockstep_conformance::{Setup, is_lockstep};

use crate::work::{build_and_launch, let_compilers_end, log_of_failed_build};

/// How often work is done beside what the application does: races want several tries.
const TIMES: usize = 10;

/// Sets what a signal does: a handler, `SIG_IGN` or `SIG_DFL`.
fn set_disposition(signal: libc::c_int, disposition: libc::sighandler_t) {
    // SAFETY: the handlers of these tests make system calls and count, nothing else.
    assert_ne!(unsafe { libc::signal(signal, disposition) }, libc::SIG_ERR);
}

#[test]
fn a_thread_waits_for_every_child() {
    if !is_lockstep() {
        return;
    }
    in_child("signals::a_thread_waits_for_every_child", &[], || {
        let setup = Setup::new();
        build_and_launch(&setup);
        static IS_OVER: AtomicBool = AtomicBool::new(false);
        static REAPED: AtomicUsize = AtomicUsize::new(0);
        let reaper = thread::spawn(|| {
            while !IS_OVER.load(Ordering::Relaxed) {
                // SAFETY: no status is wanted. It returns at once when there is no child.
                if unsafe { libc::waitpid(-1, ptr::null_mut(), 0) } > 0 {
                    REAPED.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        (0..TIMES).for_each(|_| build_and_launch(&setup));
        IS_OVER.store(true, Ordering::Relaxed);
        reaper.join().expect("no panic");
        assert!(REAPED.load(Ordering::Relaxed) > 0, "the thread never was the first");
        build_and_launch(&setup);
    });
}

#[test]
fn children_are_ignored() {
    if !is_lockstep() {
        return;
    }
    in_child("signals::children_are_ignored", &[], || {
        let setup = Setup::new();
        build_and_launch(&setup);
        set_disposition(libc::SIGCHLD, libc::SIG_IGN);
        (0..TIMES).for_each(|_| build_and_launch(&setup));
        set_disposition(libc::SIGCHLD, libc::SIG_DFL);
        build_and_launch(&setup);
    });
}

static HANDLED: AtomicUsize = AtomicUsize::new(0);

/// Takes the status of every child there is.
extern "C" fn reap_children(_: libc::c_int) {
    // SAFETY: `waitpid` may be called by a handler; the number of its error is put back.
    unsafe {
        let error_number = *libc::__errno_location();
        while libc::waitpid(-1, ptr::null_mut(), libc::WNOHANG) > 0 {
            HANDLED.fetch_add(1, Ordering::Relaxed);
        }
        *libc::__errno_location() = error_number;
    }
}

#[test]
fn a_handler_reaps_every_child() {
    if !is_lockstep() {
        return;
    }
    in_child("signals::a_handler_reaps_every_child", &[], || {
        let setup = Setup::new();
        build_and_launch(&setup);
        set_disposition(libc::SIGCHLD, reap_children as extern "C" fn(libc::c_int) as libc::sighandler_t);
        (0..TIMES).for_each(|_| build_and_launch(&setup));
        let_compilers_end();
        assert!(HANDLED.load(Ordering::Relaxed) > 0, "the handler was never the first");
        set_disposition(libc::SIGCHLD, libc::SIG_DFL);
        build_and_launch(&setup);
    });
}

/// A compiler that ends before it has read what is asked: whoever still writes to it must not be ended by `SIGPIPE`.
#[test]
fn a_broken_pipe_would_be_deadly() {
    if !is_lockstep() {
        return;
    }
    let stand_in = StandIn::new("no-reader", "exit 0");
    in_child("signals::a_broken_pipe_would_be_deadly", &[("LOCKSTEP_COMPILER", stand_in.path())], || {
        set_disposition(libc::SIGPIPE, libc::SIG_DFL);
        let setup = Setup::new();
        // More than any pipe or socket holds.
        let source = format!("kernel void f(global int *a) {{ a[0] = 1; }} /*{}*/", "x".repeat(8 << 20));
        for _ in 0..TIMES {
            let program = setup.context.source(&source);
            assert_ne!(program.build(""), 0);
            assert!(program.log().contains("gave no answer"), "{}", program.log());
        }
        assert!(log_of_failed_build(&setup.context).contains("gave no answer"));
    });
}

/// The lines of a process's status that tell of its signals, by the names that begin them.
fn signal_set<'a>(status: &'a str, name: &str) -> &'a str {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.unwrap_or_else(|| panic!("no {name} in {status}")).trim()
}

#[test]
fn the_compiler_has_no_signals_of_the_application() {
    if !is_lockstep() {
        return;
    }
    // By the shell alone: while it has a child it may block signals.
    let copy = "while read -r line; do echo \"$line\"; done < /proc/$$/status > \"$0.status\"";
    let script = format!("{copy}; exec '{}'", real_compiler().display());
    let stand_in = StandIn::new("signals", &script);
    let environment = [("LOCKSTEP_COMPILER", stand_in.path())];
    in_child("signals::the_compiler_has_no_signals_of_the_application", &environment, || {
        let setup = Setup::new();
        for signal in [libc::SIGTERM, libc::SIGUSR1, libc::SIGPIPE, libc::SIGRTMAX()] {
            set_disposition(signal, libc::SIG_IGN);
        }
        // SAFETY: the set is valid memory of its type.
        unsafe {
            let mut all = std::mem::zeroed();
            libc::sigfillset(&mut all);
            assert_eq!(libc::pthread_sigmask(libc::SIG_SETMASK, &all, ptr::null_mut()), 0);
        }
        (0..3).for_each(|_| build_and_launch(&setup));
        // SAFETY: the set may be written; nothing is changed.
        let is_blocked = unsafe {
            let mut blocked = std::mem::zeroed();
            libc::pthread_sigmask(libc::SIG_BLOCK, ptr::null(), &mut blocked);
            libc::sigismember(&blocked, libc::SIGTERM)
        };
        assert_eq!(is_blocked, 1, "the mask was not put back");
    });
    let status = std::fs::read_to_string(format!("{}.status", stand_in.path())).expect("the compiler ran");
    let none = "0".repeat(16);
    for name in ["SigBlk:", "SigIgn:"] {
        assert_eq!(signal_set(&status, name), none, "{name}");
    }
}
