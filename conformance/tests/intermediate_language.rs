//! Programs in SPIR-V: what they compute, how they are made, linked, specialised and asked about.
//!
//! The modules of `intermediate_language/*.spvasm` are what clang 22 and LLVM's back end for SPIR-V make of the OpenCL C beside them; the
//! programs have to compute the same as the OpenCL C does.

use std::ffi::{CStr, c_char};
use std::ptr;

use lockstep_conformance::extension_functions::IntermediateLanguage;
use lockstep_conformance::images::{Shape, read_image};
use lockstep_conformance::loader::{cl, device, has_extension};
use lockstep_conformance::objects::{Argument, Context, Program};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Buffer, Random, Setup, arguments, expect, info, is_lockstep, ok, read, run};
use lockstep_spirv_assembler::assemble_module;

/// Whether the device takes SPIR-V.
fn takes_spirv() -> bool {
    let versions = info::text(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_IL_VERSION, size, value, returned)
    });
    assert!(!is_lockstep() || versions.contains("SPIR-V_1.0"), "{versions}");
    versions.contains("SPIR-V_1.2")
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
        kernel.set(2, Argument::Local(256));
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
    let from_module = setup.context.build_module(&assemble_module(module, (1, 2)));
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
    let program = setup.context.create_with_module(&assemble_module(SPECIALIZED, (1, 0)));
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
    let program = setup.context.build_module(&module);
    assert_eq!(program.info_array::<u8>(CL_PROGRAM_IL), module);
    assert_eq!(program.info_text(CL_PROGRAM_SOURCE), "");
    assert_eq!(program.info_text(CL_PROGRAM_KERNEL_NAMES), "specialized");
    let kernel = program.kernel("specialized");
    assert_eq!(kernel.group_info::<[usize; 3]>(CL_KERNEL_COMPILE_WORK_GROUP_SIZE), [1, 1, 1]);
    // It has a size of work-groups, but: "For kernels not created from OpenCL C source and the clCreateProgramWithSource API call
    // the string returned from this query will be empty."
    assert_eq!(kernel.info_text(CL_KERNEL_ATTRIBUTES), "");
    // "Kernel argument information is only available if the program object associated with kernel is created with
    // clCreateProgramWithSource".
    let name = (cl().clGetKernelArgInfo)(kernel.raw(), 1, CL_KERNEL_ARG_NAME, 0, ptr::null_mut(), ptr::null_mut());
    expect(name, CL_KERNEL_ARG_INFO_NOT_AVAILABLE);
    // A binary of it is one like any other.
    let again = setup.context.from_binary(&program.binary()).expect("a binary");
    ok(again.build(""));
    assert_eq!(run_specialized(&setup, &again), 15);
    assert_eq!(again.kernel("specialized").info_text(CL_KERNEL_ATTRIBUTES), "");
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

/// The texts whose addresses the device answers with.
fn queried_texts(name: cl_device_info) -> Vec<String> {
    let addresses: Vec<usize> =
        info::array(|size, value, returned| (cl().clGetDeviceInfo)(device(), name, size, value, returned));
    let read_text = |&address: &usize| {
        // SAFETY: the device answers with the addresses of texts that stay where they are.
        unsafe { CStr::from_ptr(address as *const c_char) }.to_str().expect("a name").to_owned()
    };
    addresses.iter().map(read_text).collect()
}

#[test]
fn what_the_device_tells_of_spirv_is_what_it_takes() {
    if !has_extension("cl_khr_spirv_queries") {
        assert!(!is_lockstep());
        return;
    }
    const INSTRUCTION_SETS: cl_device_info = 0x12b9;
    const EXTENSIONS: cl_device_info = 0x12ba;
    const CAPABILITIES: cl_device_info = 0x12bb;
    let (sets, extensions) = (queried_texts(INSTRUCTION_SETS), queried_texts(EXTENSIONS));
    let capabilities: Vec<u32> =
        info::array(|size, value, returned| (cl().clGetDeviceInfo)(device(), CAPABILITIES, size, value, returned));
    assert!(sets.iter().any(|name| name == "OpenCL.std"), "{sets:?}");
    // What every kernel's module may declare (Addresses, Linkage, Kernel, Vector16, Float16Buffer, Int64, Groups, Int16, Int8), and not Shader.
    for capability in [4, 5, 6, 7, 8, 11, 18, 22, 39] {
        assert!(capabilities.contains(&capability), "{capability} is not among {capabilities:?}");
    }
    assert!(!capabilities.contains(&1), "{capabilities:?}");
    let mut text = String::new();
    for &capability in &capabilities {
        text.push_str(&format!("OpCapability {capability}\n"));
    }
    for name in &extensions {
        text.push_str(&format!("OpExtension \"{name}\"\n"));
    }
    for (index, name) in sets.iter().enumerate() {
        text.push_str(&format!("%set{index} = OpExtInstImport \"{name}\"\n"));
    }
    text.push_str("OpMemoryModel Physical64 OpenCL\n");
    Setup::new().context.build_module(&assemble_module(&text, (1, 5)));
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
    let importing = setup.context.create_with_module(&assemble_module(IMPORTING, (1, 2)));
    let exporting = setup.context.create_with_module(&assemble_module(EXPORTING, (1, 2)));
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
    let program = setup.context.create_with_module(&assemble_module(&wrong, (1, 0)));
    expect(program.build(""), CL_BUILD_PROGRAM_FAILURE);
    if is_lockstep() {
        let log = program.log();
        assert_eq!(log, "error: SPIR-V, word 7, OpCapability: the capability Geometry is not supported\n");
    }
}

/// Work-items put three times their ids into a pipe, and others take numbers out of it.
const PIPES: &str = "
    OpCapability Addresses
    OpCapability Kernel
    OpCapability Int64
    OpCapability GenericPointer
    OpCapability Pipes
    OpMemoryModel Physical64 OpenCL
    OpEntryPoint Kernel %give \"give\" %gid
    OpEntryPoint Kernel %take \"take\" %gid
    OpDecorate %gid BuiltIn GlobalInvocationId
    %void = OpTypeVoid
    %bool = OpTypeBool
    %int = OpTypeInt 32 0
    %long = OpTypeInt 64 0
    %long3 = OpTypeVector %long 3
    %one = OpConstant %int 1
    %zero = OpConstant %int 0
    %three = OpConstant %int 3
    %four = OpConstant %int 4
    %written = OpTypePipe WriteOnly
    %read = OpTypePipe ReadOnly
    %reservation = OpTypeReserveId
    %input = OpTypePointer Input %long3
    %private = OpTypePointer Function %int
    %global = OpTypePointer CrossWorkgroup %int
    %gid = OpVariable %input Input
    %give_type = OpTypeFunction %void %written
    %take_type = OpTypeFunction %void %read %global
    %give = OpFunction %void None %give_type
    %in = OpFunctionParameter %written
    %give_start = OpLabel
    %packet = OpVariable %private Function
    %id3 = OpLoad %long3 %gid
    %id = OpCompositeExtract %long %id3 0
    %number = OpUConvert %int %id
    %product = OpIMul %int %number %three
    OpStore %packet %product
    %reserved = OpReserveWritePipePackets %reservation %in %one %four %four
    %is_valid = OpIsValidReserveId %bool %reserved
    OpSelectionMerge %end None
    OpBranchConditional %is_valid %valid %end
    %valid = OpLabel
    %code = OpReservedWritePipe %int %in %reserved %zero %packet %four %four
    OpCommitWritePipe %in %reserved %four %four
    OpBranch %end
    %end = OpLabel
    OpReturn
    OpFunctionEnd
    %take = OpFunction %void None %take_type
    %out_of = OpFunctionParameter %read
    %out = OpFunctionParameter %global
    %take_start = OpLabel
    %taken = OpVariable %private Function
    %capacity = OpGetMaxPipePackets %int %out_of %four %four
    %read_code = OpReadPipe %int %out_of %taken %four %four
    %value = OpLoad %int %taken
    %scaled = OpIMul %int %value %capacity
    %sum = OpIAdd %int %scaled %read_code
    %own3 = OpLoad %long3 %gid
    %own = OpCompositeExtract %long %own3 0
    %slot = OpInBoundsPtrAccessChain %global %out %own
    OpStore %slot %sum Aligned 4
    OpReturn
    OpFunctionEnd";

#[test]
fn packets_go_through_pipes() {
    let has_pipes: cl_bool = info::value(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_PIPE_SUPPORT, size, value, returned)
    });
    if !takes_spirv() || has_pipes != CL_TRUE {
        return;
    }
    let setup = Setup::new();
    let program = setup.context.build_module(&assemble_module(PIPES, (1, 1)));
    let mut code = 1;
    let pipe = (cl().clCreatePipe)(setup.context.raw(), 0, 4, 64, ptr::null(), &mut code);
    ok(code);
    let (pipe, out) = (Buffer::own(pipe), setup.context.zeros::<i32>(40));
    let (give, take) = (program.kernel("give"), program.kernel("take"));
    give.set_all(arguments![&pipe]);
    take.set_all(arguments![&pipe, &out]);
    run(&setup.queue, &give, &[40], &[8]);
    run(&setup.queue, &take, &[40], &[8]);
    let mut found = read::<i32>(&setup.queue, &out);
    found.sort_unstable();
    assert_eq!(found, (0..40).map(|index| index * 3 * 64).collect::<Vec<_>>());
}

/// Elements of an image, read plainly and through a sampler of the module's, and the image's sizes and format. And integers without a sign:
/// elements of a row as they are read, and twice these in another image.
const IMAGES: &str = "
    OpCapability Addresses
    OpCapability Kernel
    OpCapability Int64
    OpCapability ImageBasic
    OpCapability LiteralSampler
    OpMemoryModel Physical64 OpenCL
    OpEntryPoint Kernel %f \"copy\" %gid
    OpEntryPoint Kernel %g \"twice\" %gid
    OpDecorate %gid BuiltIn GlobalInvocationId
    %void = OpTypeVoid
    %int = OpTypeInt 32 0
    %long = OpTypeInt 64 0
    %float = OpTypeFloat 32
    %int2 = OpTypeVector %int 2
    %int4 = OpTypeVector %int 4
    %float2 = OpTypeVector %float 2
    %float4 = OpTypeVector %float 4
    %long3 = OpTypeVector %long 3
    %half = OpConstant %float 0.5
    %no_level = OpConstant %float 0
    %first_level = OpConstant %int 0
    %at1 = OpConstant %long 1
    %at2 = OpConstant %long 2
    %at3 = OpConstant %long 3
    %halves = OpConstantComposite %float2 %half %half
    %source = OpTypeImage %void 2D 0 0 0 0 Unknown ReadOnly
    %target = OpTypeImage %void 2D 0 0 0 0 Unknown WriteOnly
    %sampled = OpTypeSampledImage %source
    %sampler_type = OpTypeSampler
    %sampler = OpConstantSampler %sampler_type ClampToEdge 0 Nearest
    %input = OpTypePointer Input %long3
    %global = OpTypePointer CrossWorkgroup %int
    %gid = OpVariable %input Input
    %type = OpTypeFunction %void %source %target %global
    %f = OpFunction %void None %type
    %from = OpFunctionParameter %source
    %to = OpFunctionParameter %target
    %out = OpFunctionParameter %global
    %start = OpLabel
    %id3 = OpLoad %long3 %gid
    %x = OpCompositeExtract %long %id3 0
    %y = OpCompositeExtract %long %id3 1
    %xi = OpUConvert %int %x
    %yi = OpUConvert %int %y
    %at = OpCompositeConstruct %int2 %xi %yi
    %place = OpConvertSToF %float2 %at
    %middle = OpFAdd %float2 %place %halves
    %plain = OpImageRead %float4 %from %at
    %pair = OpSampledImage %sampled %from %sampler
    %through = OpImageSampleExplicitLod %float4 %pair %middle Lod %no_level
    %sum = OpFAdd %float4 %plain %through
    OpImageWrite %to %at %sum
    %sizes = OpImageQuerySizeLod %int2 %from %first_level
    %width = OpCompositeExtract %int %sizes 0
    %height = OpCompositeExtract %int %sizes 1
    %format = OpImageQueryFormat %int %from
    %order = OpImageQueryOrder %int %from
    OpStore %out %width Aligned 4
    %p1 = OpInBoundsPtrAccessChain %global %out %at1
    OpStore %p1 %height Aligned 4
    %p2 = OpInBoundsPtrAccessChain %global %out %at2
    OpStore %p2 %format Aligned 4
    %p3 = OpInBoundsPtrAccessChain %global %out %at3
    OpStore %p3 %order Aligned 4
    OpReturn
    OpFunctionEnd
    %g = OpFunction %void None %type
    %row = OpFunctionParameter %source
    %twice_row = OpFunctionParameter %target
    %firsts = OpFunctionParameter %global
    %begin = OpLabel
    %gid3 = OpLoad %long3 %gid
    %column = OpCompositeExtract %long %gid3 0
    %columni = OpUConvert %int %column
    %here = OpCompositeConstruct %int2 %columni %first_level
    %texel = OpImageRead %int4 %row %here
    %first = OpCompositeExtract %int %texel 0
    %p = OpInBoundsPtrAccessChain %global %firsts %column
    OpStore %p %first Aligned 4
    %twice = OpIAdd %int4 %texel %texel
    OpImageWrite %twice_row %here %twice
    OpReturn
    OpFunctionEnd";

#[test]
fn images_are_read_and_written() {
    if !takes_spirv() {
        return;
    }
    let setup = Setup::new();
    let program = setup.context.build_module(&assemble_module(IMAGES, (1, 0)));
    let shape = Shape { kind: CL_MEM_OBJECT_IMAGE2D, sizes: [8, 4, 1], layers: 1 };
    let format = (CL_RGBA, CL_FLOAT);
    let values: Vec<f32> = (0..8 * 4 * 4).map(|index| index as f32).collect();
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let from = setup.context.image(CL_MEM_READ_ONLY, format, shape, &bytes);
    let to = setup.context.image(CL_MEM_WRITE_ONLY, format, shape, &vec![0; bytes.len()]);
    let (out, kernel) = (setup.context.zeros::<i32>(4), program.kernel("copy"));
    kernel.set_all(arguments![&from, &to, &out]);
    run(&setup.queue, &kernel, &[8, 4], &[4, 4]);
    let written = read_image(&setup.queue, &to, shape, 16);
    let doubled: Vec<u8> = values.iter().flat_map(|value| (value * 2.0).to_le_bytes()).collect();
    assert_eq!(written, doubled);
    // SPIR-V numbers types and orders from the first one on.
    assert_eq!(read::<i32>(&setup.queue, &out), [8, 4, (CL_FLOAT - CL_SNORM_INT8) as i32, (CL_RGBA - CL_R) as i32]);
}

/// Whether they have a sign, the image tells.
#[test]
fn integers_are_what_the_image_has() {
    if !takes_spirv() {
        return;
    }
    let setup = Setup::new();
    let program = setup.context.build_module(&assemble_module(IMAGES, (1, 0)));
    let kernel = program.kernel("twice");
    let shape = Shape { kind: CL_MEM_OBJECT_IMAGE2D, sizes: [256, 1, 1], layers: 1 };
    let bytes: Vec<u8> = (0..=255).collect();
    let copy = |data_type: cl_channel_type| {
        let from = setup.context.image(CL_MEM_READ_ONLY, (CL_R, data_type), shape, &bytes);
        let to = setup.context.image(CL_MEM_WRITE_ONLY, (CL_R, data_type), shape, &[0; 256]);
        let out = setup.context.zeros::<i32>(256);
        kernel.set_all(arguments![&from, &to, &out]);
        run(&setup.queue, &kernel, &[256], &[64]);
        (read::<i32>(&setup.queue, &out), read_image(&setup.queue, &to, shape, 1))
    };
    let unsigned: Vec<i32> = bytes.iter().map(|&byte| byte.into()).collect();
    let doubled: Vec<u8> = bytes.iter().map(|&byte| byte.saturating_mul(2)).collect();
    assert_eq!(copy(CL_UNSIGNED_INT8), (unsigned, doubled));
    let signed: Vec<i32> = bytes.iter().map(|&byte| (byte as i8).into()).collect();
    let doubled: Vec<u8> = bytes.iter().map(|&byte| (byte as i8).saturating_mul(2) as u8).collect();
    assert_eq!(copy(CL_SIGNED_INT8), (signed, doubled));
}

/// What a kernel of a module leaves in its first buffer.
fn run_module(setup: &Setup, module: &str, name: &str, inputs: &[Vec<i32>], sizes: [&[usize]; 2]) -> Vec<i32> {
    let program = setup.context.build_module(&assemble_module(module, (1, 4)));
    let kernel = program.kernel(name);
    let buffers: Vec<Buffer> = inputs.iter().map(|values| setup.context.with_values(values)).collect();
    kernel.set_all(buffers.iter().map(Argument::from).collect());
    run(&setup.queue, &kernel, sizes[0], sizes[1]);
    read::<i32>(&setup.queue, &buffers[0])
}

/// The modules that the compiler's tests interpret do the same as machine code.
#[test]
fn addresses_and_arrays_are_those_of_the_interpreter() {
    if !is_lockstep() {
        return;
    }
    let setup = Setup::new();
    let untyped = include_str!("../../compiler/tests/spirv/untyped_pointers.spvasm");
    let left = run_module(&setup, untyped, "untyped", &[vec![0; 10], vec![5, 6, 7, 8]], [&[2], &[2]]);
    assert_eq!(left, [7, 14, 15, 5, 7, 8, 105, 6, 2, 12]);
    let addresses = include_str!("../../compiler/tests/spirv/built_in_addresses.spvasm");
    let left = run_module(&setup, addresses, "addresses", &[vec![0; 16]], [&[2, 2], &[2, 1]]);
    assert_eq!(left, [0, 16, 20, 2, 10, 16, 20, 2, 1, 17, 20, 2, 11, 17, 20, 2]);
    let lengths = include_str!("../../compiler/tests/spirv/variable_length.spvasm");
    assert_eq!(run_module(&setup, lengths, "lengths", &[vec![0; 2]], [&[1], &[1]]), [41, 33]);
}
