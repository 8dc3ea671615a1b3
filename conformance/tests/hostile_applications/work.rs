//! What the applications of these tests do with OpenCL, and what they learn of its failures.

use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use lockstep_conformance::commands::{finish, try_launch};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Buffer, Context, Kernel, Program, Queue, Setup, ok, read, run};

/// Values of each launch.
const COUNT: usize = 100;

/// A number that no other program of this process has.
fn next_number() -> i32 {
    static NUMBER: AtomicI32 = AtomicI32::new(1);
    NUMBER.fetch_add(1, Ordering::Relaxed)
}

fn source_of(number: i32) -> String {
    format!("kernel void f(global int *a) {{ a[get_global_id(0)] += (int)get_local_size(0) * 1000 + {number}; }}")
}

/// A program that no other one of this process is like.
pub fn new_program(context: &Context) -> Program {
    context.source(&source_of(next_number()))
}

/// Builds a program, launches its kernel and checks the values: a process of the compiler for each of the two.
#[track_caller]
pub fn build_and_launch(setup: &Setup) {
    Work::build(&setup.context).launch(&setup.queue, COUNT);
}

/// A program that was built, with a kernel that launches of any local size run.
pub struct Work {
    number: i32,
    kernel: Kernel,
    buffer: Buffer,
}

impl Work {
    /// Builds a new program.
    #[track_caller]
    pub fn build(context: &Context) -> Work {
        let number = next_number();
        let kernel = context.build(&source_of(number), "").kernel("f");
        let buffer = context.zeros::<i32>(COUNT);
        kernel.set(0, &buffer);
        Work { number, kernel, buffer }
    }

    /// Launches the kernel with groups of so many work-items and checks the values. Each size has code of its own.
    #[track_caller]
    pub fn launch(&self, queue: &Queue, local: usize) {
        let before: Vec<i32> = read(queue, &self.buffer);
        run(queue, &self.kernel, &[COUNT], &[local]);
        let added = local as i32 * 1000 + self.number;
        let expected: Vec<i32> = before.iter().map(|value| value + added).collect();
        assert_eq!(read::<i32>(queue, &self.buffer), expected);
    }

    /// Launches the kernel, which must fail because no code can be made, and leave the values alone.
    #[track_caller]
    pub fn fail_to_launch(&self, queue: &Queue, local: usize) {
        let before: Vec<i32> = read(queue, &self.buffer);
        let event = lockstep_conformance::commands::launch(queue, &self.kernel, &[COUNT], &[local], &[]);
        let code = event.wait();
        assert_eq!(code, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        assert_eq!(event.status(), CL_OUT_OF_RESOURCES);
        assert_eq!(read::<i32>(queue, &self.buffer), before);
    }

    /// Enqueues a launch whose end nobody awaits.
    pub fn enqueue(&self, queue: &Queue) {
        ok(try_launch(queue, &self.kernel, &[COUNT], &[]));
    }
}

/// Builds a program, which must fail, and returns the log.
#[track_caller]
pub fn log_of_failed_build(context: &Context) -> String {
    let program = new_program(context);
    let code = program.build("");
    assert_ne!(code, CL_SUCCESS, "the program was built");
    program.log()
}

/// Waits until processes of the compiler have ended that would take another job: what needs none of its own goes on without new ones.
pub fn let_compilers_end() {
    std::thread::sleep(Duration::from_millis(1500));
}

/// Whatever is enqueued comes to its end.
pub fn finish_all(setup: &Setup) {
    finish(&setup.queue);
}
