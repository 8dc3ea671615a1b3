//! Applications that may have little address space: whatever cannot be done is `CL_OUT_OF_HOST_MEMORY`, nothing ends or hangs.

use std::ptr;
use std::time::Duration;

use lockstep_conformance::child::{in_child, limit_address_space};
use lockstep_conformance::commands::try_launch;
use lockstep_conformance::loader::device;
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Buffer, Context, Queue, Setup, cl, code_name, is_lockstep};

/// The MiB that a child may have.
const LIMIT: &str = "LITTLE_MEMORY";

/// The KiB that are left to a child when it has begun.
const LEFT: &str = "MEMORY_LEFT";

/// What is said where not even the driver can be loaded.
const NO_PLATFORM: &str = "no platform";

/// What may become of a build and a launch: the scratch memory of work-groups is a resource.
const CODES: [i32; 4] = [CL_SUCCESS, CL_OUT_OF_HOST_MEMORY, CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES];

/// A program with a kernel of some length, a barrier, local memory and a call into the built-in library.
fn source(number: i32) -> String {
    format!(
        "kernel void f(global float *a, local float *l) {{
             int i = get_global_id(0), j = get_local_id(0);
             l[j] = sin(a[i]) + {number};
             barrier(CLK_LOCAL_MEM_FENCE);
             float sum = 0;
             for (int k = 0; k < get_local_size(0); ++k) sum += l[k] * exp(a[i]);
             a[i] = sum;
         }}"
    )
}

/// Builds and launches; what went wrong first, if anything.
fn build_and_launch(context: &Context, number: i32) -> Result<(), i32> {
    let mut code = CL_SUCCESS;
    let queue = (cl().clCreateCommandQueue)(context.raw(), device(), 0, &mut code);
    check(code)?;
    let queue = Queue::own(queue);
    let buffer: Buffer = context.try_buffer(CL_MEM_READ_WRITE, 4 << 10, ptr::null_mut())?;
    let program = context.source(&source(number));
    check(program.build(""))?;
    let kernel = program.try_kernel("f")?;
    kernel.set(0, &buffer);
    check((cl().clSetKernelArg)(kernel.raw(), 1, 64 * 4, ptr::null()))?;
    check(try_launch(&queue, &kernel, &[1024], &[64]))?;
    check((cl().clFinish)(queue.raw()))
}

fn check(code: i32) -> Result<(), i32> {
    if code == CL_SUCCESS { Ok(()) } else { Err(code) }
}

/// Builds and launches three times, and prints how each went.
fn build_and_launch_thrice(context: &Context) {
    for number in 0..3 {
        let outcome = build_and_launch(context, number);
        println!("{}", outcome.map_or_else(code_name, |()| code_name(CL_SUCCESS)));
    }
}

/// Checks what applications printed: memory may be missing, and nothing else.
#[track_caller]
fn assert_no_other_errors(situation: &str, printed: &str) {
    let may_be = |line: &str| line == NO_PLATFORM || CODES.iter().any(|&code| line == code_name(code));
    assert!(printed.lines().all(may_be), "{situation}: {printed}");
}

/// Runs an application with so many threads that run work-groups, and returns what it printed.
#[track_caller]
fn run_application(test: &str, memory: (&str, u64), threads: u32, body: fn()) -> String {
    let (amount, threads) = (memory.1.to_string(), threads.to_string());
    // As users run applications.
    let environment = [(memory.0, amount.as_str()), ("LOCKSTEP_THREADS", &threads), ("LOCKSTEP_STRICT", "0")];
    in_child(test, &environment, body).stdout
}

/// What an application does that finds little memory from the beginning.
fn begin_with_little() {
    let limit = memory_of(LIMIT) << 20;
    let limit = libc::rlimit { rlim_cur: limit, rlim_max: limit };
    // SAFETY: the structure is live and complete.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
    // The loader is silent about drivers that it has no memory for.
    let Ok(device) = std::panic::catch_unwind(device) else {
        println!("{NO_PLATFORM}");
        return;
    };
    let mut code = CL_SUCCESS;
    let context = (cl().clCreateContext)(ptr::null(), 1, &device, None, ptr::null_mut(), &mut code);
    match code {
        CL_SUCCESS => build_and_launch_thrice(&Context::own(context)),
        code => println!("{}", code_name(code)),
    }
}

#[test]
fn an_application_may_have_little_memory() {
    if !is_lockstep() {
        return;
    }
    for limit in [50, 100, 150, 200, 300, 400, 600, 1000, 1500] {
        for threads in [2, 64] {
            let test = "little_memory::an_application_may_have_little_memory";
            let printed = run_application(test, (LIMIT, limit), threads, begin_with_little);
            assert_no_other_errors(&format!("{limit} MiB, {threads} threads"), &printed);
            if limit == 1500 {
                assert_eq!(printed, "CL_SUCCESS\n".repeat(3), "what there is suffices");
            }
        }
    }
}

/// What an application does that finds little memory after it has begun.
fn lose_memory() {
    let setup = Setup::new();
    assert_eq!(build_and_launch(&setup.context, -1), Ok(()));
    // Threads that were started meanwhile have begun by then, and have what they need.
    std::thread::sleep(Duration::from_millis(200));
    limit_address_space(memory_of(LEFT) << 10);
    build_and_launch_thrice(&setup.context);
}

#[test]
fn memory_runs_out_later() {
    if !is_lockstep() {
        return;
    }
    for left in [0, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 128 << 10] {
        for threads in [1, 8] {
            let printed = run_application("little_memory::memory_runs_out_later", (LEFT, left), threads, lose_memory);
            assert_no_other_errors(&format!("{left} KiB, {threads} threads"), &printed);
        }
    }
}

fn memory_of(name: &str) -> u64 {
    std::env::var(name).expect("set for the child").parse().expect("a number")
}
