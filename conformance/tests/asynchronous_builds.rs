//! Programs whose build was started with a callback: what needs the result waits for it, also in the callback itself.

use std::ffi::c_void;
use std::ptr;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use lockstep_conformance::loader::cl;
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Kernel, Program, Setup, arguments, expect, is_lockstep, ok, read, run};

/// A source that takes a while to compile.
fn long_source() -> String {
    let steps: String = (0..40).map(|i| format!("x = sin(x + {i}.5f) * pow(x, {i}.25f);\n")).collect();
    format!(
        "kernel void f(global int *out) {{ out[0] = 41; }}
         kernel void g(global int *out) {{ out[0] = 42; }}
         kernel void slow(global float *p) {{ float x = p[0]; {steps} p[0] = x; }}"
    )
}

extern "C" fn ignore(_: cl_program, _: *mut c_void) {}

fn build(program: &Program, notify: extern "C" fn(cl_program, *mut c_void), data: *mut c_void) -> cl_int {
    (cl().clBuildProgram)(program.raw(), 0, ptr::null(), ptr::null(), Some(notify), data)
}

fn result(setup: &Setup, kernel: &Kernel) -> i32 {
    let out = setup.context.zeros::<i32>(1);
    kernel.set_all(arguments![&out]);
    run(&setup.queue, kernel, &[1], &[]);
    read::<i32>(&setup.queue, &out)[0]
}

#[test]
fn a_kernel_is_created_once_the_build_has_ended() {
    let setup = Setup::new();
    let program = setup.context.source(&long_source());
    ok(build(&program, ignore, ptr::null_mut()));
    let kernel = program.try_kernel("f").expect("the build is waited for");
    assert_eq!(result(&setup, &kernel), 41);
    assert_eq!(program.build_info::<i32>(CL_PROGRAM_BUILD_STATUS), CL_BUILD_SUCCESS);
}

#[test]
fn all_kernels_names_and_binaries_wait() {
    let setup = Setup::new();
    let started = || {
        let program = setup.context.source(&long_source());
        ok(build(&program, ignore, ptr::null_mut()));
        program
    };
    let program = started();
    let mut count = 0;
    ok((cl().clCreateKernelsInProgram)(program.raw(), 0, ptr::null_mut(), &mut count));
    assert_eq!(count, 3);
    assert_eq!(started().info::<usize>(CL_PROGRAM_NUM_KERNELS), 3);
    assert_eq!(started().info_text(CL_PROGRAM_KERNEL_NAMES), "f;g;slow");
    let again = setup.context.from_binary(&started().binary()).expect("a whole binary");
    ok(again.build(""));
    assert_eq!(result(&setup, &again.kernel("g")), 42);
}

#[test]
fn a_failed_build_is_waited_for_as_well() {
    let setup = Setup::new();
    let program = setup.context.source(&long_source().replace("p[0] = x;", "p[0] = nowhere;"));
    ok(build(&program, ignore, ptr::null_mut()));
    assert_eq!(program.try_kernel("f").err(), Some(CL_INVALID_PROGRAM_EXECUTABLE));
    assert_eq!(program.build_info::<i32>(CL_PROGRAM_BUILD_STATUS), CL_BUILD_ERROR);
    assert!(program.log().contains("nowhere"), "{}", program.log());
}

/// Asks for everything that would wait, and tells what it got.
extern "C" fn create_in_callback(program: cl_program, sender: *mut c_void) {
    let mut code = CL_SUCCESS;
    let kernel = (cl().clCreateKernel)(program, c"g".as_ptr(), &mut code);
    let mut count = 0_usize;
    let to = (&raw mut count).cast();
    let asked = (cl().clGetProgramInfo)(program, CL_PROGRAM_NUM_KERNELS, size_of::<usize>(), to, ptr::null_mut());
    // SAFETY: the box that the test made, handed over to this one call.
    let sender = unsafe { Box::from_raw(sender.cast::<Sender<(usize, cl_int, cl_int, usize)>>()) };
    sender.send((kernel as usize, code, asked, count)).expect("the test waits");
}

#[test]
fn a_callback_creates_kernels() {
    let setup = Setup::new();
    let (sender, answer) = channel::<(usize, cl_int, cl_int, usize)>();
    let program = setup.context.source(&long_source());
    ok(build(&program, create_in_callback, Box::into_raw(Box::new(sender)).cast()));
    let (kernel, code, asked, count) = answer.recv_timeout(Duration::from_secs(120)).expect("no deadlock");
    assert_eq!((code, asked, count), (CL_SUCCESS, CL_SUCCESS, 3));
    let kernel = Kernel::own(kernel as cl_kernel);
    assert_eq!(result(&setup, &kernel), 42);
}

#[test]
fn compiled_and_linked_programs_wait() {
    let setup = Setup::new();
    let notify = Some(ignore as extern "C" fn(cl_program, *mut c_void));
    let object = setup.context.source(&long_source());
    ok((cl().clCompileProgram)(
        object.raw(),
        0,
        ptr::null(),
        ptr::null(),
        0,
        ptr::null(),
        ptr::null_mut(),
        notify,
        ptr::null_mut(),
    ));
    assert!(!is_lockstep() || !object.binary().is_empty());
    let raw = object.raw();
    // "CL_INVALID_OPERATION if the compilation […] has not completed": it has, as the binary was waited for.
    let mut code = CL_SUCCESS;
    let linked = (cl().clLinkProgram)(
        setup.context.raw(),
        0,
        ptr::null(),
        ptr::null(),
        1,
        &raw,
        notify,
        ptr::null_mut(),
        &mut code,
    );
    expect(code, CL_SUCCESS);
    let linked = Program::own(linked);
    let kernel = linked.try_kernel("f").expect("the link is waited for");
    assert_eq!(result(&setup, &kernel), 41);
}
