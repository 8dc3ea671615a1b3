//! Processes that end while the driver is at work for them.

use std::time::Duration;

use lockstep_conformance::child::in_child;
use lockstep_conformance::commands::launch;
use lockstep_conformance::loader::cl;
use lockstep_conformance::{Kernel, Setup, ok};

/// Kernels that take a while to compile.
fn kernels(setup: &Setup, count: usize) -> Vec<Kernel> {
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
    (0..count).map(|number| program.kernel(&format!("k{number}"))).collect()
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
            let buffer = setup.context.zeros::<f32>(64);
            for kernel in kernels(&setup, 16) {
                kernel.set(0, &buffer);
                launch(&setup.queue, &kernel, &[64], &[], &[]);
            }
            ok((cl().clFlush)(setup.queue.raw()));
            std::thread::sleep(Duration::from_millis(wait));
        });
    }
}
