//! Program-scope variables that the host finds by their names: their addresses, reading and writing them, and what is wrong with names
//! and ranges.

use std::ffi::{CStr, c_void};
use std::ptr;

use lockstep_conformance::extension_functions::ProgramVariables;
use lockstep_conformance::loader::device;
use lockstep_conformance::objects::Program;
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Setup, arguments, expect, is_lockstep, ok, read, run};
use lockstep_spirv_assembler::assemble_module;

const SOURCE: &str = "
    global int numbers[4] = { 1, 2, 3, 4 };
    global const int fixed = 7;
    constant int other = 8;
    kernel void sum(global int *out) { out[0] = numbers[0] + numbers[1] + numbers[2] + numbers[3] + fixed + other; }
    kernel void twice(void) { numbers[get_global_id(0)] *= 2; }";

/// The variable's address and its bytes, or the error.
fn find(program: &Program, name: &CStr) -> Result<(*mut c_void, usize), cl_int> {
    let (mut address, mut size) = (ptr::null_mut(), 0);
    let find = ProgramVariables::new().clGetDeviceGlobalVariablePointerINTEL;
    match find(device(), program.raw(), name.as_ptr(), &mut size, &mut address) {
        CL_SUCCESS => Ok((address, size)),
        code => Err(code),
    }
}

fn sum_of(setup: &Setup, program: &Program) -> i32 {
    let out = setup.context.zeros::<i32>(1);
    let kernel = program.kernel("sum");
    kernel.set_all(arguments![&out]);
    run(&setup.queue, &kernel, &[1], &[1]);
    read::<i32>(&setup.queue, &out)[0]
}

#[test]
fn the_host_reads_and_writes_variables() {
    if !is_lockstep() {
        return;
    }
    let (setup, functions) = (Setup::new(), ProgramVariables::new());
    let program = setup.context.build(SOURCE, "-cl-std=CL3.0");
    assert_eq!(sum_of(&setup, &program), 25);
    let (address, size) = find(&program, c"numbers").expect("it is there");
    assert!(!address.is_null() && size == 16);
    let write = |size: usize, offset: usize, values: &[i32]| {
        let (queue, name, from) = (setup.queue.raw(), c"numbers".as_ptr(), values.as_ptr().cast());
        (functions.clEnqueueWriteGlobalVariableINTEL)(
            queue,
            program.raw(),
            name,
            CL_TRUE,
            size,
            offset,
            from,
            0,
            ptr::null(),
            ptr::null_mut(),
        )
    };
    let read_numbers = || {
        let mut values = [0_i32; 3];
        let (queue, name, to) = (setup.queue.raw(), c"numbers".as_ptr(), values.as_mut_ptr().cast());
        ok((functions.clEnqueueReadGlobalVariableINTEL)(
            queue,
            program.raw(),
            name,
            CL_TRUE,
            12,
            4,
            to,
            0,
            ptr::null(),
            ptr::null_mut(),
        ));
        values
    };
    // Code that was made before sees what is written afterwards.
    ok(write(8, 8, &[30, 40]));
    assert_eq!((read_numbers(), sum_of(&setup, &program)), ([2, 30, 40], 88));
    run(&setup.queue, &program.kernel("twice"), &[4], &[4]);
    assert_eq!(read_numbers(), [4, 60, 80]);
    for (size, offset) in [(8, 12), (9, 8), (1, 16)] {
        expect(write(size, offset, &[0, 0, 0]), CL_INVALID_VALUE);
    }
    expect(write(usize::MAX, 8, &[0, 0]), CL_INVALID_VALUE);
    assert_eq!(read_numbers(), [4, 60, 80]);
}

/// A module with a variable that it exports and one that it does not, of which its kernel uses neither.
const UNUSED: &str = "
    OpCapability Addresses
    OpCapability Kernel
    OpCapability Linkage
    OpMemoryModel Physical64 OpenCL
    OpEntryPoint Kernel %f \"nothing\"
    OpDecorate %numbers LinkageAttributes \"numbers\" Export
    OpName %hidden \"hidden\"
    %void = OpTypeVoid
    %int = OpTypeInt 32 0
    %three = OpConstant %int 3
    %array = OpTypeArray %int %three
    %pointer = OpTypePointer CrossWorkgroup %array
    %values = OpConstantComposite %array %three %three %three
    %numbers = OpVariable %pointer CrossWorkgroup %values
    %hidden = OpVariable %pointer CrossWorkgroup %values
    %type = OpTypeFunction %void
    %f = OpFunction %void None %type
    %start = OpLabel
    OpReturn
    OpFunctionEnd";

#[test]
fn variables_that_no_kernel_uses_are_found_where_others_know_them() {
    if !is_lockstep() {
        return;
    }
    let (setup, functions) = (Setup::new(), ProgramVariables::new());
    let source = "global int numbers[3] = { 3, 3, 3 }; static global int hidden[3]; kernel void nothing(void) {}";
    let of_source = setup.context.build(source, "-cl-std=CL3.0");
    let of_module = setup.context.build_module(&assemble_module(UNUSED, (1, 2)));
    for program in [&of_source, &of_module] {
        assert!(matches!(find(program, c"numbers"), Ok((address, 12)) if !address.is_null()));
        assert_eq!(find(program, c"hidden"), Err(CL_INVALID_VALUE));
        assert_eq!(program.build_info::<usize>(CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE), 12);
        let mut values = [0_i32; 3];
        let (queue, name, to) = (setup.queue.raw(), c"numbers".as_ptr(), values.as_mut_ptr().cast());
        let read = functions.clEnqueueReadGlobalVariableINTEL;
        ok(read(queue, program.raw(), name, CL_TRUE, 12, 0, to, 0, ptr::null(), ptr::null_mut()));
        assert_eq!(values, [3; 3]);
    }
}

#[test]
fn names_of_no_variable_are_errors() {
    if !is_lockstep() {
        return;
    }
    let setup = Setup::new();
    let program = setup.context.build(SOURCE, "-cl-std=CL3.0");
    for name in [c"missing", c"other", c"sum", c""] {
        assert_eq!(find(&program, name), Err(CL_INVALID_VALUE), "{name:?}");
    }
    let unbuilt = setup.context.source(SOURCE);
    assert_eq!(find(&unbuilt, c"numbers"), Err(CL_INVALID_PROGRAM_EXECUTABLE));
    let find = ProgramVariables::new().clGetDeviceGlobalVariablePointerINTEL;
    expect(find(device(), program.raw(), ptr::null(), &mut 0, &mut ptr::null_mut()), CL_INVALID_VALUE);
    expect(find(device(), program.raw(), c"numbers".as_ptr(), &mut 0, ptr::null_mut()), CL_INVALID_VALUE);
    expect(find(ptr::null_mut(), program.raw(), c"numbers".as_ptr(), &mut 0, &mut ptr::null_mut()), CL_INVALID_DEVICE);
}
