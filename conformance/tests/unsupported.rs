//! Features that a device need not have: where they are not there, every entry point says so with the specification's error.

use std::ptr;

use lockstep_conformance::loader::{cl, device};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Plain, Setup, code_name, expect, info, is_lockstep, ok};

#[track_caller]
fn of_device<T: Plain>(name: cl_device_info) -> T {
    info::value(|size, value, returned| (cl().clGetDeviceInfo)(device(), name, size, value, returned))
}

#[test]
fn pipes() {
    if of_device::<cl_bool>(CL_DEVICE_PIPE_SUPPORT) == CL_TRUE {
        return;
    }
    let setup = Setup::new();
    let mut code = 1;
    let pipe = (cl().clCreatePipe)(setup.context.raw(), CL_MEM_READ_WRITE, 4, 16, ptr::null(), &mut code);
    assert!(pipe.is_null());
    // "CL_INVALID_OPERATION if no devices in context support pipes".
    expect(code, CL_INVALID_OPERATION);
    let buffer = setup.context.zeros::<u8>(8);
    let code = (cl().clGetPipeInfo)(buffer.raw(), CL_PIPE_PACKET_SIZE, 0, ptr::null_mut(), ptr::null_mut());
    expect(code, CL_INVALID_MEM_OBJECT);
}

#[test]
fn program_destructors() {
    extern "C" fn never(_: cl_program, _: *mut std::ffi::c_void) {
        panic!("called though it was refused");
    }
    let setup = Setup::new();
    let program = setup.context.build("kernel void f(void) { }", "");
    // "CL_INVALID_OPERATION if no devices in the context associated with program support destructors for program scope
    // global variables".
    expect((cl().clSetProgramReleaseCallback)(program.raw(), Some(never), ptr::null_mut()), CL_INVALID_OPERATION);
}

#[test]
fn queue_properties_of_1_0() {
    let setup = Setup::new();
    let mut old = 77;
    let set = cl().clSetCommandQueueProperty;
    let code = if is_lockstep() {
        set(setup.queue.raw(), CL_QUEUE_PROFILING_ENABLE, CL_TRUE, &mut old)
    } else {
        CL_INVALID_OPERATION
    };
    // "CL_INVALID_OPERATION if no devices in the context associated with command_queue support modifying the properties".
    assert!(code == CL_INVALID_OPERATION || code == CL_SUCCESS, "{}", code_name(code));
    ok((cl().clFinish)(setup.queue.raw()));
}
