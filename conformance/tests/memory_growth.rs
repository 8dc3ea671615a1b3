//! Nothing is leaked: many rounds of building, launching and releasing do not grow the process. Short rounds; the long
//! ones are a benchmark.

use lockstep_conformance::child::in_child;
use lockstep_conformance::commands::{finish, launch, marker};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Context, Setup, arguments, read};

/// The memory in use by this process, in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the process describes itself");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a line with the resident size");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
}

/// Runs rounds in a process of their own and returns by how many KiB it grew after the first quarter.
#[track_caller]
fn growth(test: &str, rounds: usize, round: impl Fn(usize)) -> i64 {
    let output = in_child(test, &[], || {
        (0..rounds / 4).for_each(&round);
        let before = resident();
        (rounds / 4..rounds).for_each(&round);
        println!("{}", resident() as i64 - before as i64);
    });
    output.stdout.trim().parse().expect("a number")
}

#[test]
fn build_launch_release() {
    let grown = growth("build_launch_release", 120, |round| {
        let setup = Setup::new();
        let source = format!(
            "kernel void f(global int *a, local int *t) {{
                t[get_local_id(0)] = {round};
                barrier(CLK_LOCAL_MEM_FENCE);
                a[get_global_id(0)] = t[0];
            }}"
        );
        let kernel = setup.context.kernel(&source, "f");
        let buffer = setup.context.zeros::<i32>(1024);
        kernel.set_all(vec![(&buffer).into(), lockstep_conformance::objects::Argument::Local(256)]);
        lockstep_conformance::run(&setup.queue, &kernel, &[1024], &[64]);
        assert_eq!(read::<i32>(&setup.queue, &buffer), [round as i32; 1024]);
    });
    // 90 rounds that each leaked a few pages would be well above this.
    assert!(grown < 6 << 10, "grew by {grown} KiB");
}

#[test]
fn failed_builds() {
    let grown = growth("failed_builds", 120, |round| {
        let context = Context::new();
        let program = context.source(&format!("kernel void f(global int *a) {{ a[0] = nothing{round}; }}"));
        assert_eq!(program.build(""), CL_BUILD_PROGRAM_FAILURE);
        assert!(program.log().contains("nothing"));
    });
    assert!(grown < 4 << 10, "grew by {grown} KiB");
}

#[test]
fn launches() {
    let grown = growth("launches", 8, |_| {
        let setup = Setup::new();
        let kernel = setup.context.kernel("kernel void f(global int *a, int v) { a[get_global_id(0)] += v; }", "f");
        let buffer = setup.context.zeros::<i32>(256);
        kernel.set_all(arguments![&buffer, 1]);
        for _ in 0..2000 {
            launch(&setup.queue, &kernel, &[256], &[], &[]);
        }
        finish(&setup.queue);
        assert_eq!(read::<i32>(&setup.queue, &buffer), [2000; 256]);
    });
    assert!(grown < 8 << 10, "grew by {grown} KiB");
}

#[test]
fn buffers_and_events() {
    let grown = growth("buffers_and_events", 400, |_| {
        let setup = Setup::new();
        for _ in 0..20 {
            let buffer = setup.context.zeros::<u8>(10_000);
            let gate = setup.context.user_event();
            let event = marker(&setup.queue, &[&gate]);
            assert_eq!(gate.set_status(CL_COMPLETE), CL_SUCCESS);
            assert_eq!(event.wait(), CL_SUCCESS);
            drop(buffer);
        }
    });
    assert!(grown < 4 << 10, "grew by {grown} KiB");
}
