//! Programs: build options and logs, errors, compile and link, binaries, queries.

use std::ffi::{CString, c_void};
use std::ptr;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use lockstep_conformance::loader::{cl, device};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Context, Program, Setup, arguments, code_name, expect, info, is_lockstep, ok, read, run};

/// What `kernel void f(global int *out)` writes to the first element.
#[track_caller]
fn result(setup: &Setup, program: &Program) -> i32 {
    let kernel = program.kernel("f");
    let out = setup.context.zeros::<i32>(1);
    kernel.set_all(arguments![&out]);
    run(&setup.queue, &kernel, &[1], &[1]);
    read::<i32>(&setup.queue, &out)[0]
}

/// The build's code and log.
fn attempt(setup: &Setup, source: &str, options: &str) -> (cl_int, String) {
    let program = setup.context.source(source);
    (program.build(options), program.log())
}

#[test]
fn macros_on_the_command_line() {
    let setup = Setup::new();
    let source = "kernel void f(global int *out) { out[0] = A + B * 10 + C(2) * 100
    #ifdef D
        + 100000
    #endif
    ; }";
    let program = setup.context.build(source, "-DA=3 -D B=4 -D C(x)=(x+1) -DD");
    assert_eq!(result(&setup, &program), 100_343);
    let program = setup.context.build(source, "  -D A=1   -DB=2 -DC(x)=x ");
    assert_eq!(result(&setup, &program), 221);
}

#[test]
fn predefined_macros() {
    let setup = Setup::new();
    let source = "kernel void f(global int *out) {
        out[0] = __OPENCL_VERSION__ * 1000 + __OPENCL_C_VERSION__ + (CL_VERSION_1_0 == 100) + __ENDIAN_LITTLE__
    #ifdef __FAST_RELAXED_MATH__
            + 1000000
    #endif
        ; }";
    let device_version = if is_lockstep() { 310_000 } else { 300_000 };
    for (option, c_version) in [("-cl-std=CL1.1", 110), ("-cl-std=CL1.2", 120), ("", 120), ("-cl-std=CL3.0", 300)] {
        let program = setup.context.build(source, option);
        assert_eq!(result(&setup, &program), device_version + c_version + 2, "{option:?}");
    }
    let program = setup.context.build(source, "-cl-fast-relaxed-math -cl-std=CL3.0");
    assert_eq!(result(&setup, &program), device_version + 1_000_302);
}

#[test]
fn every_version_of_the_language_knows_the_newest() {
    if !is_lockstep() {
        return;
    }
    let setup = Setup::new();
    let source = "kernel void f(global int *out) { out[0] = CL_VERSION_3_1; }";
    for version in ["CL1.0", "CL1.1", "CL1.2", "CL2.0", "CL3.0", "CL3.1", "CLC++1.0", "CLC++2021"] {
        let program = setup.context.build(source, &format!("-cl-std={version}"));
        assert_eq!(result(&setup, &program), 310, "{version}");
    }
}

#[test]
fn language_versions() {
    let setup = Setup::new();
    let source = "kernel void f(global int *out) { out[0] = __OPENCL_C_VERSION__; }";
    let mut versions = vec![("CL1.1", 110), ("CL1.2", 120), ("CL3.0", 300)];
    if is_lockstep() {
        versions.extend([("CL1.0", 100), ("CL2.0", 200), ("CL3.1", 310)]);
    }
    for (name, number) in versions {
        let program = setup.context.build(source, &format!("-cl-std={name}"));
        assert_eq!(result(&setup, &program), number);
    }
    if is_lockstep() {
        let cpp = "template <typename T> T twice(T x) { return x * T(2); }
                   kernel void f(global int *out) { out[0] = twice(21); }";
        assert_eq!(result(&setup, &setup.context.build(cpp, "-cl-std=CLC++")), 42);
    }
    let (code, _) = attempt(&setup, source, "-cl-std=CL9.9");
    expect(code, CL_INVALID_BUILD_OPTIONS);
}

#[test]
fn options_that_are_accepted() {
    let setup = Setup::new();
    let source = "kernel void f(global int *out) { out[0] = 1; }";
    for option in [
        "-cl-single-precision-constant",
        "-cl-denorms-are-zero",
        "-cl-fp32-correctly-rounded-divide-sqrt",
        "-cl-opt-disable",
        "-cl-mad-enable",
        "-cl-no-signed-zeros",
        "-cl-unsafe-math-optimizations",
        "-cl-finite-math-only",
        "-cl-fast-relaxed-math",
        "-cl-kernel-arg-info",
        "-w",
        "-Werror",
        "-cl-strict-aliasing",
        "-cl-uniform-work-group-size -cl-std=CL3.0",
        "",
        " ",
    ] {
        if option.contains("rounded") && !is_lockstep() {
            continue;
        }
        let (code, log) = attempt(&setup, source, option);
        assert_eq!(code, CL_SUCCESS, "{option:?}: {} {log}", code_name(code));
    }
}

#[test]
fn unknown_options() {
    let setup = Setup::new();
    let source = "kernel void f(global int *out) { out[0] = 1; }";
    for option in ["-cl-no-such-option", "-zz", "--", "-o out", "stray", "-cl-std", "-cl-mad-enable -unknown"] {
        let (code, _) = attempt(&setup, source, option);
        assert_eq!(code, CL_INVALID_BUILD_OPTIONS, "{option:?}: {}", code_name(code));
    }
}

#[test]
fn the_log_has_the_users_line_numbers() {
    let setup = Setup::new();
    let source = "// one\nkernel void f(global int *out) {\n    out[0] = 1;\n    out[1] = nowhere;\n}\n";
    let program = setup.context.source(source);
    expect(program.build("-DX=1"), CL_BUILD_PROGRAM_FAILURE);
    let log = program.log();
    assert!(log.contains("nowhere") && log.contains(":4:"), "{log}");
    assert_eq!(program.build_info::<i32>(CL_PROGRAM_BUILD_STATUS), CL_BUILD_ERROR);
    assert_eq!(program.build_text(CL_PROGRAM_BUILD_OPTIONS), "-DX=1");
    // "CL_INVALID_PROGRAM_EXECUTABLE if there is no successfully built executable for program".
    assert_eq!(program.try_kernel("f").err(), Some(CL_INVALID_PROGRAM_EXECUTABLE));
    let names = (cl().clGetProgramInfo)(program.raw(), CL_PROGRAM_KERNEL_NAMES, 0, ptr::null_mut(), ptr::null_mut());
    expect(names, CL_INVALID_PROGRAM_EXECUTABLE);
}

#[test]
fn warnings_are_in_the_log() {
    let setup = Setup::new();
    let source = "kernel void f(global int *out) {\n#warning look here\nout[0] = 1; }";
    let (code, log) = attempt(&setup, source, "");
    ok(code);
    assert!(log.contains("look here"), "{log}");
    let (code, _) = attempt(&setup, source, "-Werror");
    expect(code, CL_BUILD_PROGRAM_FAILURE);
    let (code, log) = attempt(&setup, source, "-w -Werror");
    assert_eq!(code, CL_SUCCESS, "{log}");
}

#[test]
fn broken_sources() {
    let setup = Setup::new();
    let deep = "(".repeat(100_000);
    for source in [
        "this is no program",
        "kernel void f(global int *out) { out[0] = ; }",
        "kernel int f() { return 1; }",
        "kernel void f(int **p) { }",
        "#error stop\n",
        "#include \"no/such/file.h\"\n",
        "kernel void f(global int *out) { out[0] = undeclared(3); }",
        "kernel void f(global int *out) { ",
        deep.as_str(),
    ] {
        let (code, log) = attempt(&setup, source, "");
        let start: String = source.chars().take(60).collect();
        assert_eq!(code, CL_BUILD_PROGRAM_FAILURE, "{start:?}");
        assert!(!log.trim().is_empty(), "no log for {start:?}");
    }
}

#[test]
fn a_failed_build_can_be_followed_by_a_good_one() {
    let setup = Setup::new();
    let program = setup.context.source("kernel void f(global int *out) { out[0] = VALUE; }");
    expect(program.build(""), CL_BUILD_PROGRAM_FAILURE);
    ok(program.build("-DVALUE=5"));
    assert_eq!(program.build_info::<i32>(CL_PROGRAM_BUILD_STATUS), CL_BUILD_SUCCESS);
    assert_eq!(result(&setup, &program), 5);
    ok(program.build("-DVALUE=6"));
    assert_eq!(result(&setup, &program), 6);
}

#[test]
fn rebuilding_with_kernels_alive() {
    let setup = Setup::new();
    let program = setup.context.build("kernel void f(global int *out) { out[0] = 3; }", "");
    let kernel = program.kernel("f");
    // "CL_INVALID_OPERATION if there are kernel objects attached to program".
    expect(program.build(""), CL_INVALID_OPERATION);
    drop(kernel);
    ok(program.build(""));
}

#[test]
fn sources_in_pieces() {
    let setup = Setup::new();
    let pieces = ["kernel void f(global int *out) { ", "out[0] = 12", "345; }", "garbage"];
    let pointers: Vec<_> = pieces.iter().map(|piece| piece.as_ptr().cast()).collect();
    let lengths = [pieces[0].len(), pieces[1].len(), pieces[2].len()];
    let mut code = 1;
    let create = cl().clCreateProgramWithSource;
    let program = create(setup.context.raw(), 3, pointers.as_ptr(), lengths.as_ptr(), &mut code);
    ok(code);
    let program = Program::own(program);
    assert_eq!(program.info_text(CL_PROGRAM_SOURCE), pieces[..3].concat());
    ok(program.build(""));
    assert_eq!(result(&setup, &program), 12345);
    // A length of zero, or no lengths at all, means text that ends with a zero.
    let ended: Vec<CString> = pieces[..3].iter().map(|piece| CString::new(*piece).expect("no zeros")).collect();
    let pointers: Vec<_> = ended.iter().map(|piece| piece.as_ptr()).collect();
    const ZEROS: [usize; 3] = [0; 3];
    for lengths in [ptr::null(), ZEROS.as_ptr()] {
        let program = Program::own(create(setup.context.raw(), 3, pointers.as_ptr(), lengths, &mut code));
        ok(code);
        ok(program.build(""));
        assert_eq!(result(&setup, &program), 12345);
    }
    assert!(create(setup.context.raw(), 0, pointers.as_ptr(), ptr::null(), &mut code).is_null());
    expect(code, CL_INVALID_VALUE);
    assert!(create(setup.context.raw(), 1, ptr::null(), ptr::null(), &mut code).is_null());
    expect(code, CL_INVALID_VALUE);
    assert!(create(setup.context.raw(), 2, [pointers[0], ptr::null()].as_ptr(), ptr::null(), &mut code).is_null());
    expect(code, CL_INVALID_VALUE);
}

#[test]
fn an_empty_program() {
    let setup = Setup::new();
    let program = setup.context.build("\n", "");
    assert_eq!(program.info::<usize>(CL_PROGRAM_NUM_KERNELS), 0);
    assert_eq!(program.info_text(CL_PROGRAM_KERNEL_NAMES), "");
    assert_eq!(program.try_kernel("f").err(), Some(CL_INVALID_KERNEL_NAME));
}

const THREE_KERNELS: &str = "
    kernel void one(global int *a) { a[0] = 1; }
    int helper(int x) { return x; }
    kernel void two(global int *a, int b) { a[0] = helper(b); }
    kernel void three(void) { }";

#[test]
fn queries() {
    let setup = Setup::new();
    let program = setup.context.source(THREE_KERNELS);
    assert_eq!(program.build_info::<i32>(CL_PROGRAM_BUILD_STATUS), CL_BUILD_NONE);
    assert_eq!(program.build_info::<u32>(CL_PROGRAM_BINARY_TYPE), CL_PROGRAM_BINARY_TYPE_NONE);
    ok(program.build("-cl-mad-enable"));
    assert_eq!(program.info::<u32>(CL_PROGRAM_REFERENCE_COUNT), 1);
    assert_eq!(program.info::<usize>(CL_PROGRAM_CONTEXT), setup.context.raw() as usize);
    assert_eq!(program.info::<u32>(CL_PROGRAM_NUM_DEVICES), 1);
    assert_eq!(program.info_array::<usize>(CL_PROGRAM_DEVICES), [device() as usize]);
    assert_eq!(program.info_text(CL_PROGRAM_SOURCE), THREE_KERNELS);
    assert_eq!(program.info::<usize>(CL_PROGRAM_NUM_KERNELS), 3);
    let names = program.info_text(CL_PROGRAM_KERNEL_NAMES);
    let mut names: Vec<&str> = names.split(';').collect();
    names.sort_unstable();
    assert_eq!(names, ["one", "three", "two"]);
    assert_eq!(program.info_array::<u8>(CL_PROGRAM_IL), [0_u8; 0]);
    assert_eq!(program.info::<u32>(CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT), CL_FALSE);
    assert_eq!(program.info::<u32>(CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT), CL_FALSE);
    assert_eq!(program.build_info::<i32>(CL_PROGRAM_BUILD_STATUS), CL_BUILD_SUCCESS);
    assert_eq!(program.build_text(CL_PROGRAM_BUILD_OPTIONS), "-cl-mad-enable");
    assert_eq!(program.build_info::<u32>(CL_PROGRAM_BINARY_TYPE), CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
    program.build_info::<usize>(CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE);
    let get = |name| (cl().clGetProgramInfo)(program.raw(), name, 0, ptr::null_mut(), ptr::null_mut());
    expect(get(0x11ff), CL_INVALID_VALUE);
    let get = |name| (cl().clGetProgramBuildInfo)(program.raw(), device(), name, 0, ptr::null_mut(), ptr::null_mut());
    expect(get(0x11ff), CL_INVALID_VALUE);
}

#[test]
fn kernels_of_a_program() {
    let setup = Setup::new();
    let program = setup.context.build(THREE_KERNELS, "");
    let mut count = 0;
    ok((cl().clCreateKernelsInProgram)(program.raw(), 0, ptr::null_mut(), &mut count));
    assert_eq!(count, 3);
    let mut kernels = [ptr::null_mut(); 4];
    // "CL_INVALID_VALUE if kernels is not NULL and num_kernels is less than the number of kernels in program".
    expect((cl().clCreateKernelsInProgram)(program.raw(), 2, kernels.as_mut_ptr(), ptr::null_mut()), CL_INVALID_VALUE);
    ok((cl().clCreateKernelsInProgram)(program.raw(), 4, kernels.as_mut_ptr(), ptr::null_mut()));
    let kernels: Vec<_> = kernels[..3].iter().map(|&kernel| lockstep_conformance::Kernel::own(kernel)).collect();
    let mut about: Vec<(String, u32)> = kernels
        .iter()
        .map(|kernel| (kernel.info_text(CL_KERNEL_FUNCTION_NAME), kernel.info::<u32>(CL_KERNEL_NUM_ARGS)))
        .collect();
    about.sort();
    assert_eq!(about, [("one".to_owned(), 1), ("three".to_owned(), 0), ("two".to_owned(), 2)]);
    assert_eq!(kernels[0].info::<usize>(CL_KERNEL_PROGRAM), program.raw() as usize);
    assert_eq!(kernels[0].info::<usize>(CL_KERNEL_CONTEXT), setup.context.raw() as usize);
    assert_eq!(kernels[0].info::<u32>(CL_KERNEL_REFERENCE_COUNT), 1);
    let unbuilt = setup.context.source(THREE_KERNELS);
    let code = (cl().clCreateKernelsInProgram)(unbuilt.raw(), 0, ptr::null_mut(), &mut count);
    expect(code, CL_INVALID_PROGRAM_EXECUTABLE);
}

#[test]
fn kernel_names() {
    let setup = Setup::new();
    let program = setup.context.build(THREE_KERNELS, "");
    assert_eq!(program.try_kernel("four").err(), Some(CL_INVALID_KERNEL_NAME));
    assert_eq!(program.try_kernel("helper").err(), Some(CL_INVALID_KERNEL_NAME));
    assert_eq!(program.try_kernel("").err(), Some(CL_INVALID_KERNEL_NAME));
    let mut code = 1;
    assert!((cl().clCreateKernel)(program.raw(), ptr::null(), &mut code).is_null());
    expect(code, CL_INVALID_VALUE);
}

#[test]
fn argument_information() {
    let setup = Setup::new();
    let source = "
        typedef struct { int a; } thing;
        typedef float4 colour;
        kernel void f(global const int *restrict a, constant float *b, local uchar4 *c, unsigned int d, const thing e,
                      volatile global colour *g, double h, ulong i) { }";
    let kernel = setup.context.build(source, "-cl-kernel-arg-info").kernel("f");
    let get = |index: u32, name: cl_kernel_arg_info| {
        move |kernel: cl_kernel| {
            info::bytes(|size, value, returned| (cl().clGetKernelArgInfo)(kernel, index, name, size, value, returned))
        }
    };
    let number = |index, name| {
        let bytes = get(index, name)(kernel.raw());
        assert_eq!(bytes.len(), 4);
        u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    };
    let text = |index, name| {
        let mut bytes = get(index, name)(kernel.raw());
        assert_eq!(bytes.pop(), Some(0));
        String::from_utf8(bytes).expect("text")
    };
    let (global, local) = (CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ADDRESS_LOCAL);
    let (constant, private) = (CL_KERNEL_ARG_ADDRESS_CONSTANT, CL_KERNEL_ARG_ADDRESS_PRIVATE);
    let (is_const, none) = (CL_KERNEL_ARG_TYPE_CONST, CL_KERNEL_ARG_TYPE_NONE);
    let wanted = [
        ("a", "int*", global, is_const | CL_KERNEL_ARG_TYPE_RESTRICT),
        ("b", "float*", constant, is_const),
        ("c", "uchar4*", local, none),
        ("d", "uint", private, none),
        // "the returned type qualifier ... for arguments passed by value is CL_KERNEL_ARG_TYPE_NONE".
        ("e", "thing", private, none),
        ("g", "colour*", global, CL_KERNEL_ARG_TYPE_VOLATILE),
        ("h", "double", private, none),
        ("i", "ulong", private, none),
    ];
    for (index, (name, kind, space, qualifier)) in wanted.into_iter().enumerate() {
        let index = index as u32;
        assert_eq!(text(index, CL_KERNEL_ARG_NAME), name);
        assert_eq!(text(index, CL_KERNEL_ARG_TYPE_NAME), kind, "argument {name}");
        assert_eq!(number(index, CL_KERNEL_ARG_ADDRESS_QUALIFIER), space, "argument {name}");
        assert_eq!(number(index, CL_KERNEL_ARG_ACCESS_QUALIFIER), CL_KERNEL_ARG_ACCESS_NONE);
        let bits: Vec<u8> = get(index, CL_KERNEL_ARG_TYPE_QUALIFIER)(kernel.raw());
        // A `cl_bitfield`, whatever the bindings call it.
        assert_eq!(bits, u64::from(qualifier).to_ne_bytes(), "argument {name}");
    }
    let get = cl().clGetKernelArgInfo;
    let none = ptr::null_mut();
    expect(get(kernel.raw(), 8, CL_KERNEL_ARG_NAME, 0, ptr::null_mut(), ptr::null_mut()), CL_INVALID_ARG_INDEX);
    expect(get(kernel.raw(), 0, 0x11ff, 0, ptr::null_mut(), none), CL_INVALID_VALUE);
}

#[test]
fn argument_information_has_to_be_asked_for_or_is_there() {
    let setup = Setup::new();
    let kernel = setup.context.kernel("kernel void f(global int *a) { }", "f");
    let code = (cl().clGetKernelArgInfo)(kernel.raw(), 0, CL_KERNEL_ARG_NAME, 0, ptr::null_mut(), ptr::null_mut());
    // "CL_KERNEL_ARG_INFO_NOT_AVAILABLE if the argument information is not available for kernel".
    assert!(code == CL_SUCCESS || code == CL_KERNEL_ARG_INFO_NOT_AVAILABLE, "{}", code_name(code));
}

#[test]
fn work_group_information() {
    let setup = Setup::new();
    let source = "
        kernel void f(global int *out) { local int a[100]; a[get_local_id(0)] = 1; barrier(CLK_LOCAL_MEM_FENCE); out[0] = a[5]; }
        kernel __attribute__((reqd_work_group_size(4, 8, 2))) __attribute__((vec_type_hint(float4)))
        void g(local int *a) { a[0] = 1; }";
    let program = setup.context.build(source, "");
    let (f, g) = (program.kernel("f"), program.kernel("g"));
    let most: usize = info::value(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_MAX_WORK_GROUP_SIZE, size, value, returned)
    });
    let size: usize = f.group_info(CL_KERNEL_WORK_GROUP_SIZE);
    assert!(size >= 1 && size <= most);
    assert!(f.group_info::<usize>(CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE) >= 1);
    assert!(f.group_info::<u64>(CL_KERNEL_LOCAL_MEM_SIZE) >= 400);
    f.group_info::<u64>(CL_KERNEL_PRIVATE_MEM_SIZE);
    assert_eq!(f.group_info::<[usize; 3]>(CL_KERNEL_COMPILE_WORK_GROUP_SIZE), [0, 0, 0]);
    assert_eq!(g.group_info::<[usize; 3]>(CL_KERNEL_COMPILE_WORK_GROUP_SIZE), [4, 8, 2]);
    let before: u64 = g.group_info(CL_KERNEL_LOCAL_MEM_SIZE);
    g.set(0, lockstep_conformance::objects::Argument::Local(4096));
    assert_eq!(g.group_info::<u64>(CL_KERNEL_LOCAL_MEM_SIZE), before + 4096);
    let attributes = g.info_text(CL_KERNEL_ATTRIBUTES);
    assert!(attributes.replace(' ', "").contains("reqd_work_group_size(4,8,2)"), "{attributes:?}");
    let get = |name| (cl().clGetKernelWorkGroupInfo)(f.raw(), device(), name, 0, ptr::null_mut(), ptr::null_mut());
    // "CL_INVALID_VALUE if param_name is CL_KERNEL_GLOBAL_WORK_SIZE and device is not a custom device and kernel is not
    // a built-in kernel".
    expect(get(CL_KERNEL_GLOBAL_WORK_SIZE), CL_INVALID_VALUE);
    expect(get(0x11ff), CL_INVALID_VALUE);
    expect((cl().clGetKernelInfo)(f.raw(), 0x11ff, 0, ptr::null_mut(), ptr::null_mut()), CL_INVALID_VALUE);
}

static NOTIFIED: Mutex<Vec<usize>> = Mutex::new(Vec::new());

extern "C" fn notify(program: cl_program, user_data: *mut c_void) {
    assert!(!program.is_null());
    NOTIFIED.lock().expect("no panic").push(user_data as usize);
}

#[track_caller]
fn wait_for_notice(number: usize) {
    let start = Instant::now();
    while !NOTIFIED.lock().expect("no panic").contains(&number) {
        assert!(start.elapsed() < Duration::from_secs(60), "not notified");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn notified_of_builds() {
    let setup = Setup::new();
    let build = |program: &Program, number: usize| {
        (cl().clBuildProgram)(program.raw(), 0, ptr::null(), ptr::null(), Some(notify), number as *mut c_void)
    };
    let good = setup.context.source("kernel void f(global int *out) { out[0] = 8; }");
    ok(build(&good, 31));
    wait_for_notice(31);
    assert_eq!(good.build_info::<i32>(CL_PROGRAM_BUILD_STATUS), CL_BUILD_SUCCESS);
    assert_eq!(result(&setup, &good), 8);
    let bad = setup.context.source("nonsense");
    let code = build(&bad, 32);
    assert!(code == CL_SUCCESS || code == CL_BUILD_PROGRAM_FAILURE, "{}", code_name(code));
    wait_for_notice(32);
    assert_eq!(bad.build_info::<i32>(CL_PROGRAM_BUILD_STATUS), CL_BUILD_ERROR);
    let code = (cl().clBuildProgram)(good.raw(), 0, ptr::null(), ptr::null(), None, ptr::dangling_mut());
    expect(code, CL_INVALID_VALUE);
}

#[test]
fn device_lists() {
    let setup = Setup::new();
    let program = setup.context.source("kernel void f(global int *out) { out[0] = 8; }");
    let build =
        |count, devices| (cl().clBuildProgram)(program.raw(), count, devices, ptr::null(), None, ptr::null_mut());
    expect(build(1, ptr::null()), CL_INVALID_VALUE);
    expect(build(0, &device()), CL_INVALID_VALUE);
    ok(build(1, &device()));
    assert_eq!(result(&setup, &program), 8);
}

/// Compiles and returns the code.
fn compile(program: &Program, options: &str, headers: &[(&str, &Program)]) -> cl_int {
    let options = CString::new(options).expect("no zeros");
    let names: Vec<CString> = headers.iter().map(|header| CString::new(header.0).expect("no zeros")).collect();
    let names: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
    let programs: Vec<cl_program> = headers.iter().map(|header| header.1.raw()).collect();
    let none = headers.is_empty();
    (cl().clCompileProgram)(
        program.raw(),
        0,
        ptr::null(),
        options.as_ptr(),
        headers.len() as cl_uint,
        if none { ptr::null() } else { programs.as_ptr() },
        if none { ptr::null() } else { names.as_ptr() },
        None,
        ptr::null_mut(),
    )
}

/// Links and returns the program or the code.
fn link(context: &Context, options: &str, programs: &[&Program]) -> Result<Program, (cl_int, String)> {
    let options = CString::new(options).expect("no zeros");
    let programs: Vec<cl_program> = programs.iter().map(|program| program.raw()).collect();
    let mut code = 1;
    let linked = (cl().clLinkProgram)(
        context.raw(),
        0,
        ptr::null(),
        options.as_ptr(),
        programs.len() as cl_uint,
        if programs.is_empty() { ptr::null() } else { programs.as_ptr() },
        None,
        ptr::null_mut(),
        &mut code,
    );
    if code == CL_SUCCESS {
        return Ok(Program::own(linked));
    }
    // "If the link operation fails ... a program object is returned" with the log, where it could begin.
    let log = if linked.is_null() { String::new() } else { Program::own(linked).log() };
    Err((code, log))
}

#[track_caller]
fn linked(context: &Context, options: &str, programs: &[&Program]) -> Program {
    link(context, options, programs).unwrap_or_else(|(code, log)| panic!("{}: {log}", code_name(code)))
}

#[track_caller]
fn compiled(context: &Context, source: &str) -> Program {
    let program = context.source(source);
    let code = compile(&program, "", &[]);
    assert_eq!(code, CL_SUCCESS, "{}", program.log());
    program
}

#[test]
fn notified_of_compiling_and_linking() {
    let setup = Setup::new();
    let source = setup.context.source("kernel void f(global int *out) { out[0] = 9; }");
    let (none, names) = (ptr::null(), ptr::null());
    let user_data = |number: usize| number as *mut c_void;
    let compile = cl().clCompileProgram;
    ok(compile(source.raw(), 0, ptr::null(), ptr::null(), 0, none, names, Some(notify), user_data(41)));
    wait_for_notice(41);
    assert_eq!(source.build_info::<i32>(CL_PROGRAM_BUILD_STATUS), CL_BUILD_SUCCESS);
    let mut code = 1;
    let input = source.raw();
    let context = setup.context.raw();
    let linked =
        (cl().clLinkProgram)(context, 0, ptr::null(), ptr::null(), 1, &input, Some(notify), user_data(42), &mut code);
    ok(code);
    let linked = Program::own(linked);
    wait_for_notice(42);
    assert_eq!(linked.build_info::<i32>(CL_PROGRAM_BUILD_STATUS), CL_BUILD_SUCCESS);
    assert_eq!(result(&setup, &linked), 9);
}

#[test]
fn compile_with_embedded_headers() {
    let setup = Setup::new();
    let main = setup.context.source(
        "#include \"values.h\"\n#include \"folder/more.h\"\nkernel void f(global int *out) { out[0] = A + B; }",
    );
    let values = setup.context.source("#define A 40\n");
    let more = setup.context.source("#include \"values.h\"\nconstant int B = A / 20;\n");
    ok(compile(&main, "", &[("values.h", &values), ("folder/more.h", &more)]));
    assert_eq!(main.build_info::<u32>(CL_PROGRAM_BINARY_TYPE), CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    assert_eq!(main.build_info::<i32>(CL_PROGRAM_BUILD_STATUS), CL_BUILD_SUCCESS);
    let program = linked(&setup.context, "", &[&main]);
    assert_eq!(result(&setup, &program), 42);
    expect(compile(&main, "", &[("values.h", &values)]), CL_COMPILE_PROGRAM_FAILURE);
}

#[test]
fn link_several_objects() {
    let setup = Setup::new();
    let main = compiled(
        &setup.context,
        "int helper(int); extern constant int base; kernel void f(global int *out) { out[0] = helper(base); }",
    );
    let helper = compiled(&setup.context, "int deeper(int x); int helper(int x) { return deeper(x) + 1; }");
    let deeper = compiled(&setup.context, "constant int base = 20; int deeper(int x) { return x * 2; }");
    let program = linked(&setup.context, "", &[&main, &helper, &deeper]);
    assert_eq!(result(&setup, &program), 41);
    assert_eq!(program.info_text(CL_PROGRAM_KERNEL_NAMES), "f");
    assert_eq!(program.build_info::<u32>(CL_PROGRAM_BINARY_TYPE), CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
    // The objects can be used again.
    assert_eq!(result(&setup, &linked(&setup.context, "", &[&deeper, &helper, &main])), 41);
}

#[test]
fn link_libraries() {
    let setup = Setup::new();
    let main = compiled(&setup.context, "int helper(int); kernel void f(global int *out) { out[0] = helper(5); }");
    let helper = compiled(&setup.context, "int helper(int x) { return x + 100; }");
    let library = linked(&setup.context, "-create-library", &[&helper]);
    assert_eq!(library.build_info::<u32>(CL_PROGRAM_BINARY_TYPE), CL_PROGRAM_BINARY_TYPE_LIBRARY);
    assert_eq!(result(&setup, &linked(&setup.context, "", &[&main, &library])), 105);
}

#[test]
fn a_failed_build_takes_nothing_from_what_it_was_given() {
    let setup = Setup::new();
    let source = "int helper(int); kernel void f(global int *out) { out[0] = helper(5); }";
    let (main, helper) =
        (compiled(&setup.context, source), compiled(&setup.context, "int helper(int x) { return x + 100; }"));
    // "CL_INVALID_OPERATION if program was not created with clCreateProgramWithSource, clCreateProgramWithIL or
    // clCreateProgramWithBinary."
    let whole = linked(&setup.context, "", &[&main, &helper]);
    expect(whole.build(""), CL_INVALID_OPERATION);
    assert_eq!(result(&setup, &whole), 105);
    if is_lockstep() {
        let again = setup.context.from_binary(&main.binary()).unwrap_or_else(|error| panic!("{error:?}"));
        expect(again.build(""), CL_BUILD_PROGRAM_FAILURE);
        assert_eq!(again.build_info::<u32>(CL_PROGRAM_BINARY_TYPE), CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
        assert_eq!(result(&setup, &linked(&setup.context, "", &[&again, &helper])), 105);
    }
}

#[test]
fn link_errors() {
    let setup = Setup::new();
    let main = compiled(&setup.context, "int helper(int); kernel void f(global int *out) { out[0] = helper(5); }");
    let again = compiled(&setup.context, "kernel void f(global int *out) { out[0] = 1; }");
    let other = compiled(&setup.context, "kernel void f(global int *out) { out[0] = 2; }");
    let (code, log) = link(&setup.context, "", &[&again, &other]).err().expect("two kernels of one name");
    expect(code, CL_LINK_PROGRAM_FAILURE);
    assert!(!log.is_empty());
    if is_lockstep() {
        let (code, log) = link(&setup.context, "", &[&main]).err().expect("an undefined function");
        expect(code, CL_LINK_PROGRAM_FAILURE);
        assert!(log.contains("helper"), "{log}");
    }
    let code = |result: Result<Program, (cl_int, String)>| result.err().map(|error| error.0);
    assert_eq!(code(link(&setup.context, "", &[])), Some(CL_INVALID_VALUE));
    assert_eq!(code(link(&setup.context, "-no-such-option", &[&again])), Some(CL_INVALID_LINKER_OPTIONS));
    let raw = setup.context.source("kernel void f(global int *out) { out[0] = 1; }");
    // "CL_INVALID_OPERATION if the rules for devices containing compiled binaries or libraries are not followed".
    assert_eq!(code(link(&setup.context, "", &[&raw])), Some(CL_INVALID_OPERATION));
}

#[test]
fn compile_errors() {
    let setup = Setup::new();
    let program = setup.context.source("kernel void f(global int *out) { out[0] = nowhere; }");
    expect(compile(&program, "", &[]), CL_COMPILE_PROGRAM_FAILURE);
    assert!(program.log().contains("nowhere"));
    let good = setup.context.source("kernel void f(global int *out) { out[0] = 1; }");
    expect(compile(&good, "-no-such-option", &[]), CL_INVALID_COMPILER_OPTIONS);
    let name = c"a.h".as_ptr();
    let with_headers = |count, headers, names| {
        (cl().clCompileProgram)(good.raw(), 0, ptr::null(), ptr::null(), count, headers, names, None, ptr::null_mut())
    };
    expect(with_headers(1, ptr::null(), ptr::null()), CL_INVALID_VALUE);
    expect(with_headers(0, &good.raw(), &name), CL_INVALID_VALUE);
    // A compiled object has no kernels to create.
    ok(compile(&good, "", &[]));
    assert_eq!(good.try_kernel("f").err(), Some(CL_INVALID_PROGRAM_EXECUTABLE));
}

#[test]
fn include_folders() {
    let setup = Setup::new();
    // Quotes around a path with spaces are common practice, though not in the specification.
    let space = if is_lockstep() { " " } else { "-" };
    let folder = std::env::temp_dir().join(format!("lockstep{space}include{space}{}", std::process::id()));
    std::fs::create_dir_all(folder.join("inner")).expect("a folder");
    std::fs::write(folder.join("inner/number.h"), "#define NUMBER 77\n").expect("a file");
    let source = "#include \"inner/number.h\"\nkernel void f(global int *out) { out[0] = NUMBER; }";
    let path = folder.display();
    let option = if is_lockstep() { format!("-I \"{path}\"") } else { format!("-I {path}") };
    let program = setup.context.build(source, &option);
    assert_eq!(result(&setup, &program), 77);
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}

#[test]
fn binaries_come_back() {
    let setup = Setup::new();
    let program = setup.context.build("kernel void f(global int *out) { out[0] = 4321; }", "");
    let again = setup.context.from_binary(&program.binary()).unwrap_or_else(|error| panic!("{error:?}"));
    ok(again.build(""));
    assert_eq!(result(&setup, &again), 4321);
}

#[test]
fn broken_binaries() {
    let setup = Setup::new();
    let error = setup.context.from_binary(b"this is no binary of any kind").err();
    assert_eq!(error, Some((CL_INVALID_BINARY, CL_INVALID_BINARY)));
    let (mut status, mut code) = (1, 1);
    let create = |count, devices, lengths, binaries: *const *const u8, code: &mut cl_int, status: &mut cl_int| {
        (cl().clCreateProgramWithBinary)(setup.context.raw(), count, devices, lengths, binaries, status, code)
    };
    let bytes = b"x".as_ptr();
    assert!(create(0, &device(), &1, &bytes, &mut code, &mut status).is_null());
    expect(code, CL_INVALID_VALUE);
    assert!(create(1, &device(), ptr::null(), &bytes, &mut code, &mut status).is_null());
    expect(code, CL_INVALID_VALUE);
    assert!(create(1, &device(), &0, &bytes, &mut code, &mut status).is_null());
    expect(code, CL_INVALID_VALUE);
}

#[test]
fn built_in_kernels_there_are_none() {
    let setup = Setup::new();
    let mut code = 1;
    let create = cl().clCreateProgramWithBuiltInKernels;
    assert!(create(setup.context.raw(), 1, &device(), c"no_such_kernel".as_ptr(), &mut code).is_null());
    expect(code, CL_INVALID_VALUE);
    assert!(create(setup.context.raw(), 1, &device(), ptr::null(), &mut code).is_null());
    expect(code, CL_INVALID_VALUE);
}

#[test]
fn programs_built_in_several_threads() {
    let setup = Setup::new();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let setup = &setup;
            scope.spawn(move || {
                for round in 0..3 {
                    let number = thread * 100 + round;
                    let source = format!("kernel void f(global int *out) {{ out[0] = {number}; }}");
                    let queue = setup.context.queue(0);
                    let mine = Setup { context: setup.context.clone(), queue };
                    assert_eq!(result(&mine, &mine.context.build(&source, "")), number);
                }
            });
        }
    });
}

#[test]
fn program_variables_live_as_long_as_the_program() {
    let setup = Setup::new();
    let source = "global int count = 5; global int table[4] = {1, 2, 3};
                  kernel void f(global int *out) { count += table[1]; table[3] += 10; out[0] = count * 1000 + table[3]; }";
    let has_variables = info::value::<usize>(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, size, value, returned)
    }) > 0;
    if !has_variables {
        assert!(!is_lockstep());
        return;
    }
    let program = setup.context.build(source, "-cl-std=CL3.0");
    for round in 1..4 {
        assert_eq!(result(&setup, &program), (5 + 2 * round) * 1000 + 10 * round);
    }
    let other = setup.context.build(source, "-cl-std=CL3.0");
    assert_eq!(result(&setup, &other), 7010);
    assert!(program.build_info::<usize>(CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE) >= 20);
}
