//! Programs: creation, builds, queries.

use std::ffi::c_void;
use std::ptr;

use lockstep_conformance::opencl_sys::*;

use super::table::{Row, at, created};
use super::world::{MODULE, memory};

extern "C" fn notify(_: cl_program, _: *mut c_void) {}

rows! { |w|
    d.clCreateProgramWithSource: new (w.context, 1, &c"".as_ptr(), ptr::null()) {
        CL_INVALID_CONTEXT "no context": (ptr::null_mut(), 1, &c"".as_ptr(), ptr::null());
        CL_INVALID_VALUE "no strings": (w.context, 0, &c"".as_ptr(), ptr::null());
        CL_INVALID_VALUE "no list": (w.context, 1, ptr::null(), ptr::null());
        CL_INVALID_VALUE "no string in the list": (w.context, 2, [c"".as_ptr(), ptr::null()].as_ptr(), ptr::null());
    }
    d.clCreateProgramWithIL: new (w.context, at(&MODULE), size_of_val(&MODULE)) {
        CL_INVALID_CONTEXT "no context": (ptr::null_mut(), at(&MODULE), size_of_val(&MODULE));
        CL_INVALID_VALUE "no module": (w.context, ptr::null(), size_of_val(&MODULE));
        CL_INVALID_VALUE "no length": (w.context, at(&MODULE), 0);
        CL_INVALID_VALUE "what is no module": (w.context, memory(), 64);
        CL_INVALID_VALUE "a module that is cut off": (w.context, at(&MODULE), size_of_val(&MODULE) - 4);
    }
    il.clCreateProgramWithILKHR: new (w.context, at(&MODULE), size_of_val(&MODULE)) {
        CL_INVALID_CONTEXT "no context": (ptr::null_mut(), at(&MODULE), size_of_val(&MODULE));
        CL_INVALID_VALUE "no module": (w.context, ptr::null(), size_of_val(&MODULE));
    }
    d.clCreateProgramWithBinary: never_new () {
        CL_INVALID_CONTEXT "no context":
            (ptr::null_mut(), 1, &w.device, &1, &b"x".as_ptr(), ptr::null_mut());
        CL_INVALID_VALUE "no devices": (w.context, 0, &w.device, &1, &b"x".as_ptr(), ptr::null_mut());
        CL_INVALID_VALUE "no list of devices": (w.context, 1, ptr::null(), &1, &b"x".as_ptr(), ptr::null_mut());
        CL_INVALID_VALUE "no lengths": (w.context, 1, &w.device, ptr::null(), &b"x".as_ptr(), ptr::null_mut());
        CL_INVALID_VALUE "no binaries": (w.context, 1, &w.device, &1, ptr::null(), ptr::null_mut());
        CL_INVALID_VALUE "no length of a binary": (w.context, 1, &w.device, &0, &b"x".as_ptr(), ptr::null_mut());
        CL_INVALID_VALUE "no binary in the list": (w.context, 1, &w.device, &1, &ptr::null(), ptr::null_mut());
        CL_INVALID_DEVICE "no device": (w.context, 1, &ptr::null_mut(), &1, &b"x".as_ptr(), ptr::null_mut());
        CL_INVALID_DEVICE "a device of no such context":
            (w.context, 1, &w.stranger, &1, &b"x".as_ptr(), ptr::null_mut());
        CL_INVALID_BINARY "what is no binary": (w.context, 1, &w.device, &1, &b"x".as_ptr(), ptr::null_mut());
    }
    d.clCreateProgramWithBuiltInKernels: never_new () {
        CL_INVALID_CONTEXT "no context": (ptr::null_mut(), 1, &w.device, c"f".as_ptr());
        CL_INVALID_VALUE "no devices": (w.context, 0, &w.device, c"f".as_ptr());
        CL_INVALID_VALUE "no list of devices": (w.context, 1, ptr::null(), c"f".as_ptr());
        CL_INVALID_VALUE "no names": (w.context, 1, &w.device, ptr::null());
        CL_INVALID_VALUE "a kernel that is not there": (w.context, 1, &w.device, c"f".as_ptr());
        CL_INVALID_DEVICE "no device": (w.context, 1, &ptr::null_mut(), c"f".as_ptr());
        CL_INVALID_DEVICE "a device of no such context": (w.context, 1, &w.stranger, c"f".as_ptr());
    }
    d.clRetainProgram: code (w.program) { CL_INVALID_PROGRAM "no program": (ptr::null_mut()); }
    d.clReleaseProgram: code (w.program) { CL_INVALID_PROGRAM "no program": (ptr::null_mut()); }
    d.clSetProgramReleaseCallback: never () {
        CL_INVALID_PROGRAM "no program": (ptr::null_mut(), Some(notify), ptr::null_mut());
        CL_INVALID_OPERATION "no device with destructors": (w.program, Some(notify), ptr::null_mut());
    }
    d.clSetProgramSpecializationConstant: code (w.module, 5, 4, memory()) {
        CL_INVALID_PROGRAM "no program": (ptr::null_mut(), 5, 4, memory());
        CL_INVALID_PROGRAM "a program of another kind": (w.program, 5, 4, memory());
        CL_INVALID_SPEC_ID "no such constant": (w.module, 6, 4, memory());
        CL_INVALID_VALUE "the size of another constant": (w.module, 5, 8, memory());
        CL_INVALID_VALUE "no value": (w.module, 5, 4, ptr::null());
    }
    d.clBuildProgram: code (w.fresh[0], 1, &w.device, ptr::null(), None, ptr::null_mut()) {
        CL_INVALID_PROGRAM "no program": (ptr::null_mut(), 0, ptr::null(), ptr::null(), None, ptr::null_mut());
        CL_INVALID_VALUE "a count without devices": (w.fresh[0], 1, ptr::null(), ptr::null(), None, ptr::null_mut());
        CL_INVALID_VALUE "devices without a count": (w.fresh[0], 0, &w.device, ptr::null(), None, ptr::null_mut());
        CL_INVALID_VALUE "data for no function": (w.fresh[0], 0, ptr::null(), ptr::null(), None, memory());
        CL_INVALID_DEVICE "no device": (w.fresh[0], 1, &ptr::null_mut(), ptr::null(), None, ptr::null_mut());
        CL_INVALID_DEVICE "a device of no such context":
            (w.fresh[0], 1, &w.stranger, ptr::null(), None, ptr::null_mut());
        CL_INVALID_BUILD_OPTIONS "an unknown option":
            (w.fresh[0], 0, ptr::null(), c"-no-such-option".as_ptr(), None, ptr::null_mut());
        CL_BUILD_PROGRAM_FAILURE "a mistake in the source":
            (w.broken, 0, ptr::null(), ptr::null(), None, ptr::null_mut());
        CL_INVALID_OPERATION "kernels of an earlier build":
            (w.program, 0, ptr::null(), ptr::null(), None, ptr::null_mut());
        CL_INVALID_OPERATION "a program without source or binary":
            (w.linked, 0, ptr::null(), ptr::null(), None, ptr::null_mut());
    }
    d.clCompileProgram: code
        (w.fresh[1], 1, &w.device, ptr::null(), 1, &w.source, &c"a.h".as_ptr(), None, ptr::null_mut()) {
        CL_INVALID_PROGRAM "no program":
            (ptr::null_mut(), 0, ptr::null(), ptr::null(), 0, ptr::null(), ptr::null(), None, ptr::null_mut());
        CL_INVALID_PROGRAM "a header that is none":
            (w.fresh[1], 0, ptr::null(), ptr::null(), 1, &ptr::null_mut(), &c"a.h".as_ptr(), None, ptr::null_mut());
        CL_INVALID_CONTEXT "a header of another context":
            (w.fresh[1], 0, ptr::null(), ptr::null(), 1, &w.other.program, &c"a.h".as_ptr(), None, ptr::null_mut());
        CL_INVALID_VALUE "a count without devices":
            (w.fresh[1], 1, ptr::null(), ptr::null(), 0, ptr::null(), ptr::null(), None, ptr::null_mut());
        CL_INVALID_VALUE "devices without a count":
            (w.fresh[1], 0, &w.device, ptr::null(), 0, ptr::null(), ptr::null(), None, ptr::null_mut());
        CL_INVALID_VALUE "headers without a count":
            (w.fresh[1], 0, ptr::null(), ptr::null(), 0, &w.source, ptr::null(), None, ptr::null_mut());
        CL_INVALID_VALUE "names without headers":
            (w.fresh[1], 0, ptr::null(), ptr::null(), 0, ptr::null(), &c"a.h".as_ptr(), None, ptr::null_mut());
        CL_INVALID_VALUE "a count without headers":
            (w.fresh[1], 0, ptr::null(), ptr::null(), 1, ptr::null(), &c"a.h".as_ptr(), None, ptr::null_mut());
        CL_INVALID_VALUE "headers without names":
            (w.fresh[1], 0, ptr::null(), ptr::null(), 1, &w.source, ptr::null(), None, ptr::null_mut());
        CL_INVALID_VALUE "data for no function":
            (w.fresh[1], 0, ptr::null(), ptr::null(), 0, ptr::null(), ptr::null(), None, memory());
        CL_INVALID_DEVICE "no device":
            (w.fresh[1], 1, &ptr::null_mut(), ptr::null(), 0, ptr::null(), ptr::null(), None, ptr::null_mut());
        CL_INVALID_COMPILER_OPTIONS "an unknown option":
            (w.fresh[1], 0, ptr::null(), c"-no-such-option".as_ptr(), 0, ptr::null(), ptr::null(), None, ptr::null_mut());
        CL_COMPILE_PROGRAM_FAILURE "a mistake in the source":
            (w.broken, 0, ptr::null(), ptr::null(), 0, ptr::null(), ptr::null(), None, ptr::null_mut());
        CL_INVALID_OPERATION "kernels of an earlier build":
            (w.program, 0, ptr::null(), ptr::null(), 0, ptr::null(), ptr::null(), None, ptr::null_mut());
        CL_INVALID_OPERATION "a program without source":
            (w.linked, 0, ptr::null(), ptr::null(), 0, ptr::null(), ptr::null(), None, ptr::null_mut());
    }
    d.clLinkProgram: new (w.context, 1, &w.device, ptr::null(), 1, &w.compiled, None, ptr::null_mut()) {
        CL_INVALID_CONTEXT "no context":
            (ptr::null_mut(), 0, ptr::null(), ptr::null(), 1, &w.compiled, None, ptr::null_mut());
        CL_INVALID_CONTEXT "a context that the inputs are not of":
            (w.other.context, 0, ptr::null(), ptr::null(), 1, &w.compiled, None, ptr::null_mut());
        CL_INVALID_VALUE "a count without devices":
            (w.context, 1, ptr::null(), ptr::null(), 1, &w.compiled, None, ptr::null_mut());
        CL_INVALID_VALUE "devices without a count":
            (w.context, 0, &w.device, ptr::null(), 1, &w.compiled, None, ptr::null_mut());
        CL_INVALID_VALUE "no inputs": (w.context, 0, ptr::null(), ptr::null(), 0, ptr::null(), None, ptr::null_mut());
        CL_INVALID_VALUE "inputs without a count":
            (w.context, 0, ptr::null(), ptr::null(), 0, &w.compiled, None, ptr::null_mut());
        CL_INVALID_VALUE "a count without inputs":
            (w.context, 0, ptr::null(), ptr::null(), 1, ptr::null(), None, ptr::null_mut());
        CL_INVALID_VALUE "data for no function":
            (w.context, 0, ptr::null(), ptr::null(), 1, &w.compiled, None, memory());
        CL_INVALID_PROGRAM "an input that is none":
            (w.context, 0, ptr::null(), ptr::null(), 2, [w.compiled, ptr::null_mut()].as_ptr(), None, ptr::null_mut());
        CL_INVALID_DEVICE "no device":
            (w.context, 1, &ptr::null_mut(), ptr::null(), 1, &w.compiled, None, ptr::null_mut());
        CL_INVALID_DEVICE "a device of no such context":
            (w.context, 1, &w.stranger, ptr::null(), 1, &w.compiled, None, ptr::null_mut());
        CL_INVALID_LINKER_OPTIONS "an unknown option":
            (w.context, 0, ptr::null(), c"-no-such-option".as_ptr(), 1, &w.compiled, None, ptr::null_mut());
        CL_INVALID_OPERATION "an input that is not compiled":
            (w.context, 0, ptr::null(), ptr::null(), 1, &w.source, None, ptr::null_mut());
    }
    d.clLinkProgram: failing (w.context, 0, ptr::null(), ptr::null(), 1, &w.unresolved, None, ptr::null_mut()) {}
    d.clGetProgramInfo: info (w.program => CL_PROGRAM_NUM_DEVICES) {
        CL_INVALID_PROGRAM "no program": (ptr::null_mut() => CL_PROGRAM_NUM_DEVICES);
        CL_INVALID_PROGRAM_EXECUTABLE "the kernels of what is not built": (w.source => CL_PROGRAM_NUM_KERNELS);
        CL_INVALID_PROGRAM_EXECUTABLE "the names of what is not built": (w.source => CL_PROGRAM_KERNEL_NAMES);
        CL_INVALID_PROGRAM_EXECUTABLE "the constructors of what is not built":
            (w.source => CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT);
        CL_INVALID_PROGRAM_EXECUTABLE "the destructors of what is not built":
            (w.source => CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT);
    }
    d.clGetProgramBuildInfo: info (w.program, w.device => CL_PROGRAM_BUILD_STATUS) {
        CL_INVALID_PROGRAM "no program": (ptr::null_mut(), w.device => CL_PROGRAM_BUILD_STATUS);
        CL_INVALID_DEVICE "no device": (w.program, ptr::null_mut() => CL_PROGRAM_BUILD_STATUS);
        CL_INVALID_DEVICE "a device of no such program": (w.program, w.stranger => CL_PROGRAM_BUILD_STATUS);
    }
}
