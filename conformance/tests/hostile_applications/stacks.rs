//! Threads with little stack.

use std::fmt::Write;
use std::thread;

use lockstep_conformance::child::in_child;
use lockstep_conformance::{Plain, Setup, is_lockstep, read, run};

use crate::work::build_and_launch;

/// Bytes of the smallest stack that applications give to threads of theirs which use OpenCL.
const LITTLE_STACK: usize = 64 << 10;

/// Runs the body in a thread with little stack.
fn with_little_stack(body: impl FnOnce() + Send + 'static) {
    let small = thread::Builder::new().stack_size(LITTLE_STACK).spawn(body);
    small.expect("a thread").join().expect("no panic");
}

#[test]
fn a_thread_with_64_kib_builds_and_launches() {
    if !is_lockstep() {
        return;
    }
    in_child("stacks::a_thread_with_64_kib_builds_and_launches", &[], || {
        with_little_stack(|| build_and_launch(&Setup::new()));
        build_and_launch(&Setup::new());
    });
}

/// A kernel that has so many values of a type at once, in each round of a loop all of them: registers are by far too few. The
/// attributes come before its name.
fn live_values(element: &str, count: usize, attributes: &str) -> String {
    let mut text = format!(
        "kernel {attributes} void f(global {element} *a, int rounds) {{\n int i = get_global_id(0), n = get_global_size(0);\n"
    );
    for value in 0..count {
        let _ = writeln!(text, " {element} v{value} = a[{value} * n + i];");
    }
    text.push_str(" for (int r = 0; r < rounds; ++r) {\n");
    for value in 0..count {
        // Each one from the last round's values, so that none can be computed before or again.
        let _ = writeln!(text, "  v{value} = v{value} * 3 + v{};", (value * 7 + 1) % count);
    }
    text.push_str(" }\n");
    for value in 0..count {
        let _ = writeln!(text, " a[{value} * n + i] = v{value};");
    }
    text + "}\n"
}

/// What the kernel leaves, of values that begin as small numbers; all of it is exact in doubles.
fn expected_values(count: usize, items: usize, rounds: usize) -> Vec<u32> {
    let mut values: Vec<u32> = (0..count * items).map(|index| index as u32 % 5).collect();
    for _ in 0..rounds {
        for value in 0..count {
            for item in 0..items {
                let other = values[(value * 7 + 1) % count * items + item];
                let own = &mut values[value * items + item];
                *own = *own * 3 + other;
            }
        }
    }
    values
}

/// Runs such a kernel over values of the type and compares what it leaves.
fn check_live_values<T: Plain + PartialEq>(setup: &Setup, element: &str, attributes: &str, convert: fn(u32) -> T) {
    const COUNT: usize = 1000;
    const ITEMS: usize = 64;
    const ROUNDS: usize = 4;
    let converted = |rounds| expected_values(COUNT, ITEMS, rounds).into_iter().map(convert).collect::<Vec<T>>();
    let kernel = setup.context.kernel(&live_values(element, COUNT, attributes), "f");
    let buffer = setup.context.with_values(&converted(0));
    kernel.set(0, &buffer);
    kernel.set(1, ROUNDS as i32);
    run(&setup.queue, &kernel, &[ITEMS], &[]);
    assert!(read::<T>(&setup.queue, &buffer) == converted(ROUNDS), "{element} {attributes}");
}

#[test]
fn kernels_with_a_thousand_live_values_run_on_threads_with_64_kib() {
    if !is_lockstep() {
        return;
    }
    const TEST: &str = "stacks::kernels_with_a_thousand_live_values_run_on_threads_with_64_kib";
    for vectorize in ["unicf", "scalar"] {
        in_child(TEST, &[("LOCKSTEP_VECTORIZE", vectorize), ("LOCKSTEP_THREADS", "1")], || {
            with_little_stack(|| {
                let setup = Setup::new();
                for attributes in ["", "__attribute__((intel_reqd_sub_group_size(32)))"] {
                    check_live_values(&setup, "uint", attributes, |value| value);
                    check_live_values(&setup, "double", attributes, f64::from);
                }
            });
        });
    }
}
