//! Pipes and IL: where the device does not have them, every entry
//! point says so with the specification's error.

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
fn intermediate_language() {
    let versions = info::text(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_IL_VERSION, size, value, returned)
    });
    if !versions.is_empty() {
        assert!(!is_lockstep(), "intermediate languages are here: they need tests of their own");
        return;
    }
    let setup = Setup::new();
    let mut code = 1;
    let words = [0x0723_0203_u32, 0x0001_0000, 0, 1, 0];
    let program = (cl().clCreateProgramWithIL)(setup.context.raw(), words.as_ptr().cast(), 20, &mut code);
    assert!(program.is_null());
    // "CL_INVALID_OPERATION if no devices in context support intermediate language programs".
    expect(code, CL_INVALID_OPERATION);
    let program = setup.context.build("kernel void f(void) { }", "");
    let code = (cl().clSetProgramSpecializationConstant)(program.raw(), 0, 4, words.as_ptr().cast());
    // "CL_INVALID_OPERATION if no devices associated with program support intermediate language programs"; "CL_INVALID_
    // PROGRAM if program is not a valid program object created from an intermediate language".
    assert!(code == CL_INVALID_OPERATION || code == CL_INVALID_PROGRAM, "{}", code_name(code));
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
