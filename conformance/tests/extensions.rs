//! Optional features that the device reports: doubles, halves, the generic address space, variables at program scope.

use lockstep_conformance::loader::{cl, device, has_feature, is_lockstep};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Plain, Random, Setup, arguments, info, read, run};
use std::fmt::Debug;

fn has_extension(name: &str) -> bool {
    let text = info::text(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_EXTENSIONS, size, value, returned)
    });
    text.split_whitespace().any(|extension| extension == name)
}

#[track_caller]
fn compare<I: Plain, O: Plain + PartialEq + Debug>(source: &str, options: &str, input: &[I], wanted: &[O]) {
    let setup = Setup::new();
    let kernel = setup.context.build(source, options).kernel("f");
    let (from, to) = (setup.context.with_values(input), setup.context.zeros::<O>(wanted.len()));
    kernel.set_all(arguments![&from, &to]);
    run(&setup.queue, &kernel, &[input.len()], &[]);
    assert_eq!(read::<O>(&setup.queue, &to), wanted);
}

/// Extensions of the host API alone, for which OpenCL C has no macro.
const HOST: &[&str] = &[
    "cl_ext_buffer_device_address",
    "cl_ext_immutable_memory_objects",
    "cl_intel_spirv_subgroups",
    "cl_intel_unified_shared_memory",
    "cl_khr_command_buffer",
    "cl_khr_command_buffer_mutable_dispatch",
    "cl_khr_create_command_queue",
    "cl_khr_device_uuid",
    "cl_khr_expect_assume",
    "cl_khr_extended_versioning",
    "cl_khr_icd",
    "cl_khr_il_program",
    "cl_khr_priority_hints",
    "cl_khr_semaphore",
    "cl_khr_spirv_extended_debug_info",
    "cl_khr_spirv_linkonce_odr",
    "cl_khr_spirv_no_integer_wrap_decoration",
    "cl_khr_spirv_queries",
    "cl_khr_suggested_local_work_size",
    "cl_khr_throttle_hints",
];

#[test]
fn every_feature_macro_is_defined() {
    let entries: Vec<[u8; 68]> = info::array(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_OPENCL_C_FEATURES, size, value, returned)
    });
    let setup = Setup::new();
    let mut source = String::from("kernel void f(void) { }\n");
    for entry in &entries {
        let end = entry[4..].iter().position(|&byte| byte == 0).expect("the name ends");
        let name = String::from_utf8_lossy(&entry[4..4 + end]);
        source += &format!("#ifndef {name}\n#error {name} is not defined\n#endif\n");
    }
    // And those that are not reported are not there.
    for name in ["__opencl_c_images", "__opencl_c_pipes", "__opencl_c_device_enqueue", "__opencl_c_subgroups"] {
        if !has_feature(name) {
            source += &format!("#ifdef {name}\n#error {name} is defined\n#endif\n");
        }
    }
    setup.context.build(&source, "-cl-std=CL3.0");
}

#[test]
fn every_extension_macro_is_defined() {
    let setup = Setup::new();
    let text = info::text(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_EXTENSIONS, size, value, returned)
    });
    for options in ["", "-cl-std=CL3.0"] {
        let mut source = String::from("kernel void f(void) { }\n");
        // Some are the host's alone, and some came with OpenCL C 2.0 or 3.0.
        let names = ["cl_ext_float_atomics", "cl_khr_extended_bit_ops", "cl_khr_integer_dot_product"];
        let newer = |name: &str| name.contains("subgroup") || name == "cl_khr_kernel_clock" || names.contains(&name);
        let of_language = |name: &&str| !(HOST.contains(name) || options.is_empty() && newer(name));
        for name in text.split_whitespace().filter(of_language).filter(|_| is_lockstep()) {
            source += &format!("#ifndef {name}\n#error {name} is not defined\n#endif\n");
        }
        setup.context.build(&source, options);
    }
}

#[test]
fn doubles() {
    if !has_extension("cl_khr_fp64") {
        assert!(!is_lockstep());
        return;
    }
    let source = "kernel void f(global const double *in, global double *out) {
        size_t g = get_global_id(0);
        double x = in[g];
        double4 v = (double4)(x, x * 2.0, -x, 1.0);
        global double *o = out + 6 * g;
        o[0] = sqrt(x * x) + floor(x);
        o[1] = fma(x, x, 1.0);
        o[2] = convert_double(convert_long(x)) + (double)convert_float(x);
        o[3] = dot(v, v.wzyx);
        o[4] = ldexp(x, 70) + fmax(x, 0.5) + fmin(x, -0.5);
        o[5] = as_double(as_ulong(x) ^ (1UL << 63)) + (x < 0.0 ? 1e-300 : 1e300);
    }";
    let input: Vec<f64> = (0..32).map(|i| f64::from(i - 16) * 0.625).collect();
    let wanted: Vec<f64> = input
        .iter()
        .flat_map(|&x| {
            [
                x.abs() + x.floor(),
                x.mul_add(x, 1.0),
                x.trunc() + f64::from(x as f32),
                2.0 * x - 4.0 * x * x,
                x * 70_f64.exp2() + x.max(0.5) + x.min(-0.5),
                -x + if x < 0.0 { 1e-300 } else { 1e300 },
            ]
        })
        .collect();
    compare(source, "", &input, &wanted);
}

#[test]
fn double_functions_within_their_bounds() {
    if !has_extension("cl_khr_fp64") {
        return;
    }
    let setup = Setup::new();
    type Function = (&'static str, fn(f64) -> f64, f64);
    // The host's functions are within one unit themselves, so the bound has that much room.
    let functions: [Function; 6] = [
        ("sin", f64::sin, 5.0),
        ("exp", f64::exp, 4.0),
        ("log", f64::ln, 4.0),
        ("atan", f64::atan, 6.0),
        ("sqrt", f64::sqrt, 1.0),
        ("cbrt", f64::cbrt, 3.0),
    ];
    let input: Vec<f64> = (1..=128).map(|i| f64::from(i) * 0.0721).collect();
    let (from, to) = (setup.context.with_values(&input), setup.context.zeros::<f64>(128));
    for (name, reference, bound) in functions {
        let source = format!(
            "kernel void f(global const double *in, global double *out) {{
            out[get_global_id(0)] = {name}(in[get_global_id(0)]);
        }}"
        );
        let kernel = setup.context.kernel(&source, "f");
        kernel.set_all(arguments![&from, &to]);
        run(&setup.queue, &kernel, &[128], &[]);
        for (x, got) in input.iter().zip(read::<f64>(&setup.queue, &to)) {
            let exact = reference(*x);
            let ulp = exact.abs().next_up() - exact.abs();
            let error = (got - exact).abs() / ulp;
            assert!(error <= bound, "{name}({x}) = {got} is off by {error} units in the last place");
        }
    }
}

#[test]
fn halves() {
    if !has_extension("cl_khr_fp16") {
        return;
    }
    let source = "
        #pragma OPENCL EXTENSION cl_khr_fp16 : enable
        kernel void f(global const float *in, global float *out) {
            size_t g = get_global_id(0);
            half x = (half)in[g];
            half4 v = (half4)(x, x + (half)1, x * (half)2, -x);
            half sum = v.x + v.y + v.z + v.w;
            out[4 * g] = sum;
            out[4 * g + 1] = convert_float(fabs(x)) + (float)floor(x);
            out[4 * g + 2] = (x > (half)0.5f ? 1.0f : 2.0f) + (float)max(x, (half)3);
            half stored[4];
            vstore4(v, 0, stored);
            out[4 * g + 3] = vload2(1, stored).x + (float)as_half(as_ushort(x));
        }";
    let input: Vec<f32> = (0..32).map(|i| (i - 16) as f32 * 0.75).collect();
    let wanted: Vec<f32> = input
        .iter()
        .flat_map(|&x| {
            [
                x + (x + 1.0) + 2.0 * x - x,
                x.abs() + x.floor(),
                if x > 0.5 { 1.0 } else { 2.0 } + x.max(3.0),
                2.0 * x + x,
            ]
        })
        .collect();
    compare(source, "", &input, &wanted);
}

#[test]
fn half_arguments() {
    if !has_extension("cl_khr_fp16") {
        return;
    }
    let source = "
        #pragma OPENCL EXTENSION cl_khr_fp16 : enable
        kernel void f(half a, half2 b, global half *c, global float *out) {
            out[0] = a; out[1] = b.y; out[2] = c[1]; c[0] = a + b.x;
        }";
    let setup = Setup::new();
    let kernel = setup.context.kernel(source, "f");
    // 1.5, 2.0, -0.25 and 4.0 as halves.
    let halves = setup.context.with_values(&[0_u16, 0x4400]);
    let out = setup.context.zeros::<f32>(3);
    kernel.set_all(arguments![0x3e00_u16, [0x4000_u16, 0xb400], &halves, &out]);
    run(&setup.queue, &kernel, &[1], &[1]);
    assert_eq!(read::<f32>(&setup.queue, &out), [1.5, -0.25, 4.0]);
    assert_eq!(read::<u16>(&setup.queue, &halves), [0x4300, 0x4400]);
}

#[test]
fn generic_pointers() {
    if !has_feature("__opencl_c_generic_address_space") {
        assert!(!is_lockstep());
        return;
    }
    let source = "
        int sum(const int *values, int count) { int s = 0; for (int i = 0; i < count; ++i) s += values[i]; return s; }
        void add(int *value, int by) { *value += by; }
        kernel void f(global const int *in, global int *out) {
            local int shared[4];
            int own[4];
            size_t g = get_global_id(0), l = get_local_id(0);
            for (int i = 0; i < 4; ++i) own[i] = in[g] + i;
            if (l == 0) for (int i = 0; i < 4; ++i) shared[i] = i * 10;
            barrier(CLK_LOCAL_MEM_FENCE);
            int *picked = own;
            if (!(in[g] & 1)) picked = shared;
            out[g] = sum(picked, 4);
            add(&own[2], 100);
            add(out + g, own[2]);
            out[g] += to_local(picked) != 0 ? 1000 : 0;
            out[g] += to_private(picked) != 0 ? 2000 : 0;
            out[g] += to_global(&in[0]) == in ? 4000 : 0;
        }";
    let input: Vec<i32> = (0..64).collect();
    let wanted: Vec<i32> = input
        .iter()
        .map(|&v| {
            let picked = if v & 1 == 1 { 4 * v + 6 + 2000 } else { 60 + 1000 };
            picked + v + 102 + 4000
        })
        .collect();
    compare(source, "-cl-std=CL3.0", &input, &wanted);
}

#[test]
fn program_scope_variables() {
    if !has_feature("__opencl_c_program_scope_global_variables") {
        assert!(!is_lockstep());
        return;
    }
    let setup = Setup::new();
    let source = "
        typedef struct { int a; float b[3]; } S;
        global int counter;
        global S states[4] = {{1, {1.0f, 2.0f, 3.0f}}, {2, {4.0f}}};
        global int *global pointer = &counter;
        constant int *constant table[2] = {0, 0};
        kernel void bump(global int *out) { atomic_inc((volatile global int *)pointer); states[get_global_id(0) & 3].a += 10; out[0] = 0; }
        kernel void show(global int *out) {
            static global int calls = 7;
            ++calls;
            out[0] = counter; out[1] = states[0].a; out[2] = states[1].a; out[3] = (int)states[0].b[2]; out[4] = states[3].a;
            out[5] = calls; out[6] = table[1] == 0;
        }";
    let program = setup.context.build(source, "-cl-std=CL3.0");
    let (bump, show) = (program.kernel("bump"), program.kernel("show"));
    let out = setup.context.zeros::<i32>(7);
    bump.set(0, &out);
    show.set(0, &out);
    run(&setup.queue, &bump, &[4], &[1]);
    run(&setup.queue, &show, &[1], &[]);
    assert_eq!(read::<i32>(&setup.queue, &out), [4, 11, 12, 3, 10, 8, 1]);
    // Another kernel object of the same program sees the same variables.
    let again = program.kernel("show");
    again.set(0, &out);
    run(&setup.queue, &bump, &[4], &[1]);
    run(&setup.queue, &again, &[1], &[]);
    assert_eq!(read::<i32>(&setup.queue, &out), [8, 21, 22, 3, 20, 9, 1]);
}

#[test]
fn cpp_for_opencl() {
    if !is_lockstep() {
        return;
    }
    let source = "
        struct Base { int x; constexpr int get() const { return x; } };
        template <int N> struct Adder : Base { int add(int v) { return v + N + get(); } };
        namespace inner { enum class Kind { a = 3, b }; }
        kernel void f(global const int *in, global int *out) {
            size_t g = get_global_id(0);
            Adder<10> adder; adder.x = in[g];
            auto twice = [](int v) { return 2 * v; };
            out[g] = twice(adder.add(1)) + static_cast<int>(inner::Kind::b);
        }";
    let input: Vec<i32> = (0..16).collect();
    let wanted: Vec<i32> = input.iter().map(|v| 2 * (11 + v) + 4).collect();
    for option in ["-cl-std=CLC++", "-cl-std=CLC++1.0", "-cl-std=CLC++2021"] {
        compare(source, option, &input, &wanted);
    }
}

#[test]
fn a_program_of_many_kernels() {
    let setup = Setup::new();
    let source: String = (0..60)
        .map(|k| {
            format!("kernel void k{k}(global int *out) {{ out[get_global_id(0)] = get_global_id(0) * {k} + 1; }}\n")
        })
        .collect();
    let program = setup.context.build(&source, "");
    let out = setup.context.zeros::<i32>(8);
    for k in [0, 17, 59] {
        let kernel = program.kernel(&format!("k{k}"));
        kernel.set(0, &out);
        run(&setup.queue, &kernel, &[8], &[]);
        assert_eq!(read::<i32>(&setup.queue, &out), (0..8).map(|g| g * k + 1).collect::<Vec<i32>>());
    }
}

const BFLOAT16: &str = "
    #define PASTE(A, B, C, D) A##B##C##D
    #define NAME(A, B, C, D) PASTE(A, B, C, D)
    kernel void convert(global const NAME(float, N, , ) *in, global NAME(ushort, N, , ) *narrow, global NAME(float, N, , ) *wide) {
        size_t g = get_global_id(0);
        narrow[g] = NAME(intel_convert_bfloat16, N, _as_ushort, N)(in[g]);
        wide[g] = NAME(intel_convert_as_bfloat16, N, _float, N)(narrow[g]);
    }";

/// The upper half of a float's bits, to nearest even; any quiet NaN for a NaN.
fn nearest_bfloat16(value: f32) -> u16 {
    let (upper, lower) = ((value.to_bits() >> 16) as u16, value.to_bits() as u16);
    upper + u16::from(lower > 0x8000 || (lower == 0x8000 && upper & 1 == 1))
}

#[test]
fn floats_become_bfloat16_and_back() {
    if !has_extension("cl_intel_bfloat16_conversions") {
        assert!(!is_lockstep(), "the extension is there");
        return;
    }
    let mut values: Vec<f32> = [0.0, -0.0, 1.0, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, f32::NAN, 1e-45]
        .into_iter()
        .chain([0x3f80_8000, 0x3f81_8000, 0x3f80_8001, 0x3f80_7fff, 0x7f80_0001, 0xffff_ffff].map(f32::from_bits))
        .collect();
    let mut random = Random::new(0xbf);
    values.extend((values.len()..960).map(|_| f32::from_bits(random.int() as u32)));
    let setup = Setup::new();
    // A vector of three takes the room of four, of which the last one is not written.
    for (count, room, suffix) in [(1, 1, ""), (2, 2, "2"), (3, 4, "3"), (4, 4, "4"), (8, 8, "8"), (16, 16, "16")] {
        let kernel = setup.context.build(BFLOAT16, &format!("-cl-std=CL1.2 -DN={suffix}")).kernel("convert");
        let (narrow, wide) = (setup.context.zeros::<u16>(960), setup.context.zeros::<f32>(960));
        let from = setup.context.with_values(&values);
        kernel.set(0, &from);
        kernel.set(1, &narrow);
        kernel.set(2, &wide);
        run(&setup.queue, &kernel, &[960 / room], &[]);
        let (narrow, wide): (Vec<u16>, Vec<f32>) = (read(&setup.queue, &narrow), read(&setup.queue, &wide));
        for (at, &value) in values.iter().enumerate().filter(|(at, _)| at % room < count) {
            let (narrow, wide) = (narrow[at], wide[at].to_bits());
            assert_eq!(wide, u32::from(narrow) << 16, "{value:e}");
            if value.is_nan() {
                assert!(wide & 0x7fc0_0000 == 0x7fc0_0000, "{:#x} is {narrow:#x}", value.to_bits());
            } else {
                assert_eq!(narrow, nearest_bfloat16(value), "{value:e} as float{suffix}");
            }
        }
    }
}
