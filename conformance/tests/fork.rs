//! A forked child has none of the driver's threads: what would run commands there is an error, and nothing hangs.

use std::ptr;

use lockstep_conformance::child::in_child;
use lockstep_conformance::commands::{launch, try_launch};
use lockstep_conformance::loader::{cl, device};
use lockstep_conformance::objects::Context;
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Setup, code_name, ok, read, run};

/// Forks; `child` names what it called and what it got, which must be as given. A child that hangs is ended.
#[track_caller]
fn in_fork(child: impl FnOnce() -> Vec<(&'static str, cl_int, cl_int)>) {
    // SAFETY: the child calls what is under test, writes to standard error and ends.
    let process = unsafe { libc::fork() };
    if process == 0 {
        // SAFETY: nothing else uses this signal here.
        unsafe { libc::alarm(20) };
        let mut wrong = 0;
        for (what, got, wanted) in child() {
            if got != wanted {
                eprintln!("{what} in a forked child: {} instead of {}", code_name(got), code_name(wanted));
                wrong += 1;
            }
        }
        // SAFETY: ends the child without what the parent has registered for its own end.
        unsafe { libc::_exit(wrong) };
    }
    assert!(process > 0, "no child");
    let mut status = 0;
    // SAFETY: `process` is a child that nobody else waits for.
    let waited = unsafe { libc::waitpid(process, &mut status, 0) };
    assert_eq!((waited, status), (process, 0), "the child failed, or hung until signal {}", libc::SIGALRM);
}

const SOURCE: &str = "kernel void f(global uint *a) {
    uint x = get_global_id(0);
    for (int i = 0; i < 2000; ++i) x = x * 1664525 + 1013904223;
    a[get_global_id(0)] = x;
}";

#[test]
fn commands_are_refused_in_a_child() {
    in_child("commands_are_refused_in_a_child", &[], || {
        let setup = Setup::new();
        let kernel = setup.context.kernel(SOURCE, "f");
        let buffer = setup.context.zeros::<u32>(1 << 14);
        kernel.set(0, &buffer);
        run(&setup.queue, &kernel, &[1 << 14], &[]);
        let before: Vec<u32> = read(&setup.queue, &buffer);
        let gate = setup.context.user_event();
        // One runs while the process forks, and one waits for what the child cannot give.
        ok(try_launch(&setup.queue, &kernel, &[1 << 14], &[]));
        let waiting = launch(&setup.queue, &kernel, &[1 << 14], &[], &[&gate]);
        ok((cl().clFlush)(setup.queue.raw()));
        in_fork(|| {
            let mut results = Vec::new();
            let mut refused = |what, code| results.push((what, code, CL_OUT_OF_RESOURCES));
            let queue = setup.queue.raw();
            let (no_list, no_event) = (ptr::null(), ptr::null_mut());
            let mut word = 0_u32;
            let data = (&raw mut word).cast();
            refused("clEnqueueNDRangeKernel", try_launch(&setup.queue, &kernel, &[64], &[]));
            let read = (cl().clEnqueueReadBuffer)(queue, buffer.raw(), CL_TRUE, 0, 4, data, 0, no_list, no_event);
            refused("clEnqueueReadBuffer", read);
            refused("clEnqueueMarkerWithWaitList", (cl().clEnqueueMarkerWithWaitList)(queue, 0, no_list, no_event));
            refused("clFlush", (cl().clFlush)(queue));
            refused("clFinish", (cl().clFinish)(queue));
            refused("clWaitForEvents", (cl().clWaitForEvents)(1, &waiting.raw()));
            refused("clSetUserEventStatus", gate.set_status(CL_COMPLETE));
            let mut code = 0;
            let map = CL_MAP_READ;
            (cl().clEnqueueMapBuffer)(queue, buffer.raw(), CL_TRUE, map, 0, 4, 0, no_list, no_event, &mut code);
            refused("clEnqueueMapBuffer", code);
            let context = setup.context.raw();
            (cl().clCreateCommandQueueWithProperties)(context, device(), ptr::null(), &mut code);
            refused("clCreateCommandQueueWithProperties", code);
            // What runs nothing still works.
            let mut fine = |what, code| results.push((what, code, CL_SUCCESS));
            let size = size_of::<cl_uint>();
            let info = |name| (cl().clGetCommandQueueInfo)(queue, name, size, data, ptr::null_mut());
            fine("clGetCommandQueueInfo", info(CL_QUEUE_REFERENCE_COUNT));
            let status = CL_EVENT_COMMAND_EXECUTION_STATUS;
            fine("clGetEventInfo", (cl().clGetEventInfo)(waiting.raw(), status, size, data, ptr::null_mut()));
            fine("clReleaseMemObject", (cl().clReleaseMemObject)(buffer.raw()));
            fine("clReleaseCommandQueue", (cl().clReleaseCommandQueue)(queue));
            results
        });
        // The parent is as it was.
        assert_eq!(gate.set_status(CL_COMPLETE), CL_SUCCESS);
        assert_eq!(waiting.wait(), CL_SUCCESS);
        assert_eq!(read::<u32>(&setup.queue, &buffer), before);
    });
}

#[test]
fn both_sides_work_when_the_queue_is_made_after_the_fork() {
    in_child("both_sides_work_when_the_queue_is_made_after_the_fork", &[], || {
        device();
        let work = || {
            let setup = Setup::new();
            let kernel = setup.context.kernel(SOURCE, "f");
            let buffer = setup.context.zeros::<u32>(1 << 14);
            kernel.set(0, &buffer);
            let code = try_launch(&setup.queue, &kernel, &[1 << 14], &[]);
            vec![("launch", code, CL_SUCCESS), ("finish", (cl().clFinish)(setup.queue.raw()), CL_SUCCESS)]
        };
        in_fork(work);
        assert!(work().iter().all(|&(_, got, wanted)| got == wanted));
    });
}

extern "C" fn ignore(_: cl_program, _: *mut std::ffi::c_void) {}

/// The parent's thread that has built, and waits for something else to do, is not the child's.
#[test]
fn a_child_builds_in_the_background_as_its_parent_did() {
    in_child("a_child_builds_in_the_background_as_its_parent_did", &[], || {
        let context = Context::new();
        let build = || {
            let program = context.source("kernel void f(global int *a) { a[0] = 1; }");
            let build =
                (cl().clBuildProgram)(program.raw(), 0, ptr::null(), ptr::null(), Some(ignore), ptr::null_mut());
            // Waits for the build.
            let kernel = program.try_kernel("f").err().unwrap_or(CL_SUCCESS);
            vec![("clBuildProgram", build, CL_SUCCESS), ("clCreateKernel", kernel, CL_SUCCESS)]
        };
        assert!(build().iter().all(|&(_, got, wanted)| got == wanted));
        // Its thread may yet have to find that there is nothing else to do.
        std::thread::sleep(std::time::Duration::from_millis(100));
        in_fork(build);
    });
}

/// The thread that builds is the parent's: in the child nobody would ever end the build.
#[test]
fn a_build_of_the_parent_is_not_waited_for() {
    in_child("a_build_of_the_parent_is_not_waited_for", &[], || {
        let setup = Setup::new();
        let steps: String = (0..200).map(|i| format!("x = sin(x + {i}.5f) * pow(x, {i}.25f);\n")).collect();
        let source = format!("kernel void f(global float *a) {{ float x = a[0]; {steps} a[0] = x; }}");
        let program = setup.context.source(&source);
        let build = (cl().clBuildProgram)(program.raw(), 0, ptr::null(), ptr::null(), Some(ignore), ptr::null_mut());
        ok(build);
        in_fork(|| {
            let code = program.try_kernel("f").err().unwrap_or(CL_SUCCESS);
            vec![("clCreateKernel", code, CL_INVALID_PROGRAM_EXECUTABLE)]
        });
        program.kernel("f");
    });
}
