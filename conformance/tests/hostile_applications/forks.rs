//! Applications that fork, with builds under way.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use lockstep_conformance::child::in_child;
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Context, Setup, cl, expect, is_lockstep};

use crate::work::{Work, build_and_launch, finish_all, new_program};

/// A process that was forked, in which `body` runs.
pub struct Forked(libc::pid_t);

impl Forked {
    /// Forks. The child ends after `body`, and by a signal should it hang.
    #[track_caller]
    pub fn begin(body: impl FnOnce()) -> Forked {
        // SAFETY: the child runs what is under test, and ends.
        let process = unsafe { libc::fork() };
        if process == 0 {
            // SAFETY: nothing else uses this signal here.
            unsafe { libc::alarm(60) };
            let result = catch_unwind(AssertUnwindSafe(body));
            // SAFETY: ends the child without what the parent has registered for its own end.
            unsafe { libc::_exit(result.is_err().into()) };
        }
        assert!(process > 0, "no child");
        Forked(process)
    }

    /// Waits for the child, which must have done all that it was to do.
    #[track_caller]
    pub fn join(self) {
        assert_eq!(self.wait_for_status(), 0, "the child failed, or hung until signal {}", libc::SIGALRM);
    }

    /// Ends the child, whatever it does.
    pub fn kill(self) {
        // SAFETY: a child that nobody else waits for.
        unsafe { libc::kill(self.0, libc::SIGKILL) };
        self.wait_for_status();
    }

    fn wait_for_status(&self) -> libc::c_int {
        let mut status = 0;
        // SAFETY: a child that nobody else waits for.
        let waited = unsafe { libc::waitpid(self.0, &mut status, 0) };
        assert_eq!(waited, self.0, "the child is gone");
        status
    }
}

/// Calls `body` while another thread builds one program after the other.
fn beside_builds(context: &Context, body: impl FnOnce()) {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                assert_eq!(new_program(context).build(""), CL_SUCCESS);
            }
        });
        body();
        is_over.store(true, Ordering::Relaxed);
    });
}

/// Children that outlive builds have copies of all that was open; nobody waits for what only they could close.
#[test]
fn builds_end_although_children_have_their_descriptors() {
    if !is_lockstep() {
        return;
    }
    let environment = [("LOCKSTEP_BUILD_TIMEOUT_MS", "20000")];
    in_child("forks::builds_end_although_children_have_their_descriptors", &environment, || {
        let setup = Setup::new();
        build_and_launch(&setup);
        let mut children = Vec::new();
        beside_builds(&setup.context, || {
            for _ in 0..50 {
                // SAFETY: sleeps until it is ended.
                children.push(Forked::begin(|| _ = unsafe { libc::pause() }));
                thread::yield_now();
            }
            build_and_launch(&setup);
        });
        build_and_launch(&setup);
        children.into_iter().for_each(Forked::kill);
    });
}

/// The parent has made no queue, so its children may build and launch, whatever was under way when they were forked.
#[test]
fn children_build_and_launch_while_their_parent_builds() {
    if !is_lockstep() {
        return;
    }
    in_child("forks::children_build_and_launch_while_their_parent_builds", &[], || {
        let context = Context::new();
        beside_builds(&context, || {
            for _ in 0..30 {
                Forked::begin(|| build_and_launch(&Setup::new())).join();
            }
        });
        build_and_launch(&Setup::new());
    });
}

/// With queues in the parent, children cannot run commands and are told so; what they may do still works.
#[test]
fn children_of_a_process_with_queues_build_and_are_refused_commands() {
    if !is_lockstep() {
        return;
    }
    in_child("forks::children_of_a_process_with_queues_build_and_are_refused_commands", &[], || {
        let setup = Setup::new();
        let work = Work::build(&setup.context);
        work.launch(&setup.queue, 10);
        beside_builds(&setup.context, || {
            for _ in 0..20 {
                work.enqueue(&setup.queue);
                Forked::begin(|| {
                    expect((cl().clFinish)(setup.queue.raw()), CL_OUT_OF_RESOURCES);
                    assert_eq!(new_program(&setup.context).build(""), CL_SUCCESS);
                    let mut code = CL_SUCCESS;
                    let device = setup.device();
                    (cl().clCreateCommandQueueWithProperties)(setup.context.raw(), device, ptr::null(), &mut code);
                    expect(code, CL_OUT_OF_RESOURCES);
                })
                .join();
            }
        });
        finish_all(&setup);
        work.launch(&setup.queue, 20);
        build_and_launch(&setup);
    });
}
