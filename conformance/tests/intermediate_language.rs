//! Programs in SPIR-V: what they compute, how they are made, linked, specialised and asked about.
//!
//! The modules of `intermediate_language/*.spvasm` are what clang 22 and LLVM's back end for SPIR-V make of the OpenCL C beside them; the
//! programs have to compute the same as the OpenCL C does.

use std::ptr;

use lockstep_conformance::extension_functions::IntermediateLanguage;
use lockstep_conformance::loader::{cl, device, has_extension};
use lockstep_conformance::objects::{Context, Program};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Random, Setup, arguments, code_name, expect, info, is_lockstep, ok, read, run};
use lockstep_spirv_assembler::assemble_module;

/// Whether the device takes SPIR-V.
fn takes_spirv() -> bool {
    let versions = info::text(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_IL_VERSION, size, value, returned)
    });
    assert!(!is_lockstep() || versions.contains("SPIR-V_1.0"), "{versions}");
    versions.contains("SPIR-V_1.2")
}

/// A program of a module, not built.
#[track_caller]
fn program_of(context: &Context, module: &[u8]) -> Program {
    let mut code = 1;
    let program = (cl().clCreateProgramWithIL)(context.raw(), module.as_ptr().cast(), module.len(), &mut code);
    ok(code);
    Program::own(program)
}

/// The program of a module, built.
#[track_caller]
fn build_module(context: &Context, module: &[u8]) -> Program {
    let program = program_of(context, module);
    let code = program.build("");
    assert!(code == CL_SUCCESS, "{}: {}", code_name(code), program.log());
    program
}

/// What a kernel of either program leaves of the same numbers.
fn run_kernel(setup: &Setup, program: &Program, name: &str, has_local: bool) -> Vec<i32> {
    let mut random = Random::new(0x51);
    let numbers: Vec<i32> =
        (0..1536).map(|index| if index % 3 == 0 { random.int() & 127 } else { random.int() }).collect();
    let (out, input) = (setup.context.zeros::<i32>(2048), setup.context.with_values(&numbers));
    let kernel = program.kernel(name);
    kernel.set_all(arguments![&out, &input]);
    if has_local {
        kernel.set(2, lockstep_conformance::objects::Argument::Local(256));
    }
    run(&setup.queue, &kernel, &[256], &[64]);
    read::<i32>(&setup.queue, &out)
}

/// Compares the kernels of a module with those of its source.
#[track_caller]
fn compare(source: &str, module: &str, kernels: &[(&str, bool)]) {
    if !takes_spirv() {
        return;
    }
    let setup = Setup::new();
    let from_source = setup.context.build(source, "-cl-std=CL3.0");
    let from_module = build_module(&setup.context, &assemble_module(module, (1, 2)));
    for &(name, has_local) in kernels {
        let [wanted, found] = [&from_source, &from_module].map(|program| run_kernel(&setup, program, name, has_local));
        assert!(wanted.iter().any(|&number| number != 0), "{name} leaves nothing");
        assert_eq!(found, wanted, "{name}");
    }
}

#[test]
fn arithmetic_is_that_of_opencl_c() {
    let (source, module) =
        (include_str!("intermediate_language/arithmetic.cl"), include_str!("intermediate_language/arithmetic.spvasm"));
    compare(source, module, &[("integers", false), ("jumps", false), ("floats", false)]);
}

#[test]
fn memory_and_groups_are_those_of_opencl_c() {
    let (source, module) =
        (include_str!("intermediate_language/memory.cl"), include_str!("intermediate_language/memory.spvasm"));
    compare(source, module, &[("memory", false), ("groups", true), ("atomics", false)]);
}

/// `out[0] = FACTOR * n`, where `FACTOR` is 3 unless it is specialised by 7, times two if 8 is true.
const SPECIALIZED: &str = "
    OpCapability Addresses
    OpCapability Kernel
    OpMemoryModel Physical64 OpenCL
    OpEntryPoint Kernel %f \"specialized\"
    OpExecutionMode %f LocalSize 1 1 1
    OpName %n \"n\"
    OpDecorate %factor SpecId 7
    OpDecorate %doubles SpecId 8
    %void = OpTypeVoid
    %bool = OpTypeBool
    %int = OpTypeInt 32 0
    %one = OpConstant %int 1
    %two = OpConstant %int 2
    %factor = OpSpecConstant %int 3
    %doubles = OpSpecConstantFalse %bool
    %twice = OpSpecConstantOp %int Select %doubles %two %one
    %all = OpSpecConstantOp %int IMul %factor %twice
    %pointer = OpTypePointer CrossWorkgroup %int
    %type = OpTypeFunction %void %pointer %int
    %f = OpFunction %void None %type
    %out = OpFunctionParameter %pointer
    %n = OpFunctionParameter %int
    %start = OpLabel
    %product = OpIMul %int %n %all
    OpStore %out %product Aligned 4
    OpReturn
    OpFunctionEnd";

fn run_specialized(setup: &Setup, program: &Program) -> i32 {
    let out = setup.context.zeros::<i32>(1);
    let kernel = program.kernel("specialized");
    kernel.set_all(arguments![&out, 5_i32]);
    run(&setup.queue, &kernel, &[1], &[1]);
    read::<i32>(&setup.queue, &out)[0]
}

#[test]
fn constants_are_specialised_for_later_builds() {
    if !takes_spirv() {
        return;
    }
    let setup = Setup::new();
    let program = program_of(&setup.context, &assemble_module(SPECIALIZED, (1, 0)));
    let set = |id, bytes: &[u8]| {
        (cl().clSetProgramSpecializationConstant)(program.raw(), id, bytes.len(), bytes.as_ptr().cast())
    };
    ok(program.build(""));
    assert_eq!(run_specialized(&setup, &program), 15);
    ok(set(7, &[10, 0, 0, 0]));
    ok(program.build(""));
    assert_eq!(run_specialized(&setup, &program), 50);
    ok(set(8, &[1]));
    ok(program.build(""));
    assert_eq!(run_specialized(&setup, &program), 100);
    expect(set(9, &[1]), CL_INVALID_SPEC_ID);
    expect(set(7, &[1]), CL_INVALID_VALUE);
    // "size of a boolean value is one byte".
    expect(set(8, &[1, 0, 0, 0]), CL_INVALID_VALUE);
}

#[test]
fn programs_and_kernels_are_asked() {
    if !takes_spirv() {
        return;
    }
    let setup = Setup::new();
    let module = assemble_module(SPECIALIZED, (1, 0));
    let program = build_module(&setup.context, &module);
    assert_eq!(program.info_array::<u8>(CL_PROGRAM_IL), module);
    assert_eq!(program.info_text(CL_PROGRAM_SOURCE), "");
    assert_eq!(program.info_text(CL_PROGRAM_KERNEL_NAMES), "specialized");
    let kernel = program.kernel("specialized");
    assert_eq!(kernel.group_info::<[usize; 3]>(CL_KERNEL_COMPILE_WORK_GROUP_SIZE), [1, 1, 1]);
    let text = |index, name| {
        info::text(|size, value, returned| (cl().clGetKernelArgInfo)(kernel.raw(), index, name, size, value, returned))
    };
    assert_eq!(text(1, CL_KERNEL_ARG_NAME), "n");
    assert_eq!((text(0, CL_KERNEL_ARG_TYPE_NAME), text(1, CL_KERNEL_ARG_TYPE_NAME)), ("int*".into(), "int".into()));
    // A binary of it is one like any other.
    let again = setup.context.from_binary(&program.binary()).expect("a binary");
    ok(again.build(""));
    assert_eq!(run_specialized(&setup, &again), 15);
    assert_eq!(again.info_array::<u8>(CL_PROGRAM_IL), [0_u8; 0]);
}

#[test]
fn the_extension_makes_the_same_programs() {
    if !has_extension("cl_khr_il_program") {
        return;
    }
    let (setup, module) = (Setup::new(), assemble_module(SPECIALIZED, (1, 0)));
    let mut code = 1;
    let make = IntermediateLanguage::new().clCreateProgramWithILKHR;
    let program = Program::own(make(setup.context.raw(), module.as_ptr().cast(), module.len(), &mut code));
    ok(code);
    ok(program.build("-cl-mad-enable"));
    assert_eq!(run_specialized(&setup, &program), 15);
}

/// A function `helped` that another module defines.
const IMPORTING: &str = "
    OpCapability Addresses
    OpCapability Kernel
    OpCapability Linkage
    OpMemoryModel Physical64 OpenCL
    OpEntryPoint Kernel %f \"importing\"
    OpDecorate %helped LinkageAttributes \"helped\" Import
    %void = OpTypeVoid
    %int = OpTypeInt 32 0
    %five = OpConstant %int 5
    %pointer = OpTypePointer CrossWorkgroup %int
    %type = OpTypeFunction %void %pointer
    %helped_type = OpTypeFunction %int %int
    %helped = OpFunction %int None %helped_type
    %x = OpFunctionParameter %int
    OpFunctionEnd
    %f = OpFunction %void None %type
    %out = OpFunctionParameter %pointer
    %start = OpLabel
    %result = OpFunctionCall %int %helped %five
    OpStore %out %result Aligned 4
    OpReturn
    OpFunctionEnd";

const EXPORTING: &str = "
    OpCapability Addresses
    OpCapability Kernel
    OpCapability Linkage
    OpMemoryModel Physical64 OpenCL
    OpDecorate %helped LinkageAttributes \"helped\" Export
    %int = OpTypeInt 32 0
    %helped_type = OpTypeFunction %int %int
    %helped = OpFunction %int None %helped_type
    %x = OpFunctionParameter %int
    %start = OpLabel
    %square = OpIMul %int %x %x
    OpReturnValue %square
    OpFunctionEnd";

/// The program that is linked of two compiled ones.
fn link(context: &Context, programs: [&Program; 2]) -> Program {
    let inputs = programs.map(Program::raw);
    let mut code = 1;
    let linked = (cl().clLinkProgram)(
        context.raw(),
        0,
        ptr::null(),
        ptr::null(),
        2,
        inputs.as_ptr(),
        None,
        ptr::null_mut(),
        &mut code,
    );
    ok(code);
    Program::own(linked)
}

fn compile(program: &Program) {
    let (devices, options, headers) = (ptr::null(), ptr::null(), ptr::null());
    ok((cl().clCompileProgram)(program.raw(), 0, devices, options, 0, headers, ptr::null_mut(), None, ptr::null_mut()));
}

#[test]
fn modules_are_linked_with_modules_and_with_opencl_c() {
    if !takes_spirv() {
        return;
    }
    let setup = Setup::new();
    let importing = program_of(&setup.context, &assemble_module(IMPORTING, (1, 2)));
    let exporting = program_of(&setup.context, &assemble_module(EXPORTING, (1, 2)));
    let source = setup.context.source("int helped(int x) { return x + 100; }");
    for program in [&importing, &exporting, &source] {
        compile(program);
    }
    for (other, wanted) in [(&exporting, 25), (&source, 105)] {
        let linked = link(&setup.context, [&importing, other]);
        let (out, kernel) = (setup.context.zeros::<i32>(1), linked.kernel("importing"));
        kernel.set_all(arguments![&out]);
        run(&setup.queue, &kernel, &[1], &[1]);
        assert_eq!(read::<i32>(&setup.queue, &out), [wanted]);
    }
}

#[test]
fn builds_of_wrong_modules_fail_with_the_place() {
    if !takes_spirv() {
        return;
    }
    let setup = Setup::new();
    let wrong = SPECIALIZED.replace("OpCapability Addresses", "OpCapability Addresses\nOpCapability Geometry");
    let program = program_of(&setup.context, &assemble_module(&wrong, (1, 0)));
    expect(program.build(""), CL_BUILD_PROGRAM_FAILURE);
    if is_lockstep() {
        let log = program.log();
        assert_eq!(log, "error: SPIR-V, word 7, OpCapability: the capability Geometry is not supported\n");
    }
}
