//! Processes that end while the driver is at work for them.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;

use lockstep_conformance::child::in_child;
use lockstep_conformance::commands::launch;
use lockstep_conformance::loader::cl;
use lockstep_conformance::{Setup, code_name, ok};

/// Enqueues launches of kernels that take a while to compile.
fn launch_kernels(setup: &Setup, count: usize) {
    let kernel = |number: usize| {
        format!(
            "kernel void k{number}(global float *a) {{
                 float sum = 0, x = a[get_global_id(0)];
                 for (int i = 0; i < {number}; ++i) sum += x > i ? sin(x + sum) * {number} : exp(x - i);
                 a[get_global_id(0)] = sum;
             }}"
        )
    };
    let program = setup.context.build(&(0..count).map(kernel).collect::<String>(), "");
    let buffer = setup.context.zeros::<f32>(64);
    for number in 0..count {
        let kernel = program.kernel(&format!("k{number}"));
        kernel.set(0, &buffer);
        launch(&setup.queue, &kernel, &[64], &[], &[]);
    }
    ok((cl().clFlush)(setup.queue.raw()));
}

/// Milliseconds after the last call.
const WAIT: &str = "LOCKSTEP_TEST_WAIT";

/// The application enqueues launches, waits for none and leaves; their code is being made.
#[test]
fn a_process_may_end_while_code_is_made() {
    for wait in ["0", "20", "50", "100", "150", "200", "250", "300"] {
        in_child("a_process_may_end_while_code_is_made", &[("LOCKSTEP_CACHE", "off"), (WAIT, wait)], || {
            let wait = std::env::var(WAIT).expect("set for the child").parse().expect("a number");
            let setup = Setup::new();
            launch_kernels(&setup, 16);
            std::thread::sleep(Duration::from_millis(wait));
        });
    }
}

/// The queue that [`finish_late`] waits for.
static QUEUE: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// What the destructor of an application's global object may do, long after the driver thinks that the process has ended.
extern "C" fn finish_late() {
    let code = (cl().clFinish)(QUEUE.load(Ordering::Relaxed));
    eprintln!("finished late with {}", code_name(code));
}

#[test]
fn the_last_wait_of_a_process_ends() {
    let name = "the_last_wait_of_a_process_ends";
    let output = in_child(name, &[("LOCKSTEP_CACHE", "off")], || {
        // Whoever registers first is called last.
        // SAFETY: the handler needs nothing that is gone by then.
        assert_eq!(unsafe { libc::atexit(finish_late) }, 0);
        let setup = Setup::new();
        QUEUE.store(setup.queue.raw().cast(), Ordering::Relaxed);
        launch_kernels(&setup, 16);
        std::mem::forget(setup);
    });
    let codes = ["CL_SUCCESS", "CL_OUT_OF_RESOURCES"];
    assert!(
        codes.iter().any(|code| output.stderr.contains(&format!("finished late with {code}"))),
        "{}",
        output.stderr
    );
}
