//! OpenCL C through the front end, the built-in library and import: what the kernels say about themselves, and what
//! they mean when interpreted.

use inkwell::context::Context;
use lockstep_compiler::frontend::{FrontendConfig, built_in_library, compile_source, link_with, prepare_module};
use lockstep_compiler::import::import_module;
use lockstep_ir::interp::{self, Arg, Memory, NdRange, Report};
use lockstep_ir::ir::{BinaryOp, InstData, InstNode, Kernel, Module, TernaryOp, UnaryOp, Value};
use lockstep_ir::verify::{Stage, verify_module};
use lockstep_protocol::build_options::{BuildOptions, Stage as OptionStage};
use lockstep_protocol::parameters::ParamKind;
use lockstep_protocol::types::{Space, Type};

fn build(source: &str, options: &str) -> Module {
    let config = FrontendConfig { source_lines: true, ..FrontendConfig::default() };
    let parsed = BuildOptions::parse(options, OptionStage::Build).unwrap();
    let object = compile_source(&config, source.as_bytes(), &[], &parsed).unwrap_or_else(|error| panic!("{error}"));
    let program = link_with(&[&object], &parsed, &built_in_library).unwrap_or_else(|error| panic!("{error}"));
    let context = Context::create();
    let module = import_module(&prepare_module(&context, &program).unwrap()).unwrap_or_else(|error| panic!("{error}"));
    verify_module(&module, Stage::Imported).unwrap_or_else(|errors| panic!("{}\n{module}", errors[0]));
    module
}

fn kernel<'m>(module: &'m Module, name: &str) -> &'m Kernel {
    module.kernels.iter().find(|kernel| kernel.name == name).unwrap()
}

fn run(module: &Module, name: &str, global: &[u64], local: &[u64], arguments: &[Arg], memory: &mut Memory) -> Report {
    let ran = interp::run_kernel(module, name, &NdRange::new(global, local), arguments, memory);
    ran.unwrap_or_else(|error| panic!("{error}\n{module}"))
}

fn bytes<T: Copy, const N: usize>(values: &[T], le: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|&value| le(value)).collect()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks(4).map(|chunk| f32::from_le_bytes(chunk.try_into().unwrap())).collect()
}

fn ints(bytes: &[u8]) -> Vec<i32> {
    bytes.chunks(4).map(|chunk| i32::from_le_bytes(chunk.try_into().unwrap())).collect()
}

#[test]
fn arguments_lie_at_their_natural_alignment() {
    let module = build(
        "typedef struct { char c; double d; int3 v; } S;
         typedef struct { char a; char b; } Small;
         kernel void k(char a, int b, char3 c, global const float *restrict d, local int4 *e, S s, short f, Small small,
                       constant int *g, long16 h) {
             e[0] = s.v.x + b + a + c.y + f + small.b + g[0] + h.s3 + d[0];
         }",
        "-cl-kernel-arg-info",
    );
    let kernel = kernel(&module, "k");
    let found: Vec<(&str, u32, u32)> =
        kernel.params.iter().map(|parameter| (parameter.name.as_str(), parameter.size, parameter.offset)).collect();
    let expected = [
        ("a", 1, 0),
        ("b", 4, 4),
        ("c", 4, 8),
        ("d", 8, 16),
        ("e", 8, 24),
        ("s", 32, 32),
        ("f", 2, 64),
        ("small", 2, 66),
        ("g", 8, 72),
        ("h", 128, 128),
    ];
    assert_eq!(found, expected);
    assert_eq!(kernel.args_size, 256);
    let kinds: Vec<ParamKind> = kernel.params.iter().map(|parameter| parameter.kind).collect();
    assert_eq!(kinds[3], ParamKind::Pointer(Space::Global));
    assert_eq!(kinds[4], ParamKind::Local);
    assert_eq!(kinds[5], ParamKind::Value);
    assert_eq!(kinds[8], ParamKind::Pointer(Space::Constant));
    assert_eq!(kernel.params[4].align, 128);
    assert_eq!(kernel.params[5].align, 16);
    let d = &kernel.params[3];
    assert_eq!((d.type_name.as_str(), d.qualifiers.as_str(), d.access.as_str()), ("float*", "restrict const", "none"));
    assert!(d.readonly && d.restrict);
    assert_eq!(kernel.params[9].type_name, "long16");
    assert_eq!(kernel.params[5].type_name, "S");
}

#[test]
fn only_pointers_that_are_written_through_are_writable() {
    let module = build(
        "kernel void k(global int *in, global int *out, global int *both, global int *escapes, global int *unused) {
             int i = get_global_id(0);
             global int *p = i > 3 ? in : in + 2;
             out[i] = *p;
             both[i] += 1;
             *(global ulong *)(out + 8) = (ulong)escapes;
         }",
        "-cl-kernel-arg-info",
    );
    let readonly: Vec<(&str, bool)> =
        kernel(&module, "k").params.iter().map(|parameter| (parameter.name.as_str(), parameter.readonly)).collect();
    let expected = [("in", true), ("out", false), ("both", false), ("escapes", false), ("unused", true)];
    assert_eq!(readonly, expected);
}

#[test]
fn attributes_are_spelled_as_in_the_source() {
    let module = build(
        "kernel __attribute__((reqd_work_group_size(8, 4, 2))) void a(global int *p) { *p = 1; }
         kernel __attribute__((work_group_size_hint(64, 1, 1))) __attribute__((vec_type_hint(uint4)))
         void b(global int *p) { *p = 1; }
         kernel __attribute__((vec_type_hint(double))) void c(global int *p) { *p = 1; }
         kernel void d(global int *p) { *p = 1; }
         kernel __attribute__((intel_reqd_sub_group_size(32))) void e(global int *p) { *p = get_max_sub_group_size(); }",
        "",
    );
    let a = &kernel(&module, "a").attrs;
    assert_eq!((a.reqd_work_group_size, a.text.as_str()), (Some([8, 4, 2]), "reqd_work_group_size(8,4,2)"));
    let b = &kernel(&module, "b").attrs;
    assert_eq!(b.work_group_size_hint, Some([64, 1, 1]));
    assert_eq!(b.vec_type_hint.as_deref(), Some("uint4"));
    assert_eq!(b.text, "work_group_size_hint(64,1,1) vec_type_hint(uint4)");
    assert_eq!(kernel(&module, "c").attrs.text, "vec_type_hint(double)");
    assert_eq!(kernel(&module, "d").attrs, Default::default());
    let e = &kernel(&module, "e").attrs;
    assert_eq!((e.reqd_sub_group_size, e.text.as_str()), (Some(32), "intel_reqd_sub_group_size(32)"));
    assert_eq!([e.sub_group_size(), a.sub_group_size()], [32, 16]);
    let names: Vec<&str> = module.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c", "d", "e"]);
}

#[test]
fn structs_by_value_may_be_changed_by_each_work_item() {
    let module = build(
        "typedef struct { int n; float4 v; int table[4]; } S;
         kernel void k(global float4 *out, S s) {
             int i = get_global_id(0);
             s.table[i & 3] += 100;
             s.v.y = i;
             out[i] = s.v + (float4)(s.table[(i + s.n) & 3]);
         }",
        "",
    );
    let mut argument = vec![0; 48];
    argument[..4].copy_from_slice(&1i32.to_le_bytes());
    argument[16..32].copy_from_slice(&bytes(&[0.5f32, 1.5, 2.5, 3.5], f32::to_le_bytes));
    argument[32..48].copy_from_slice(&bytes(&[10i32, 20, 30, 40], i32::to_le_bytes));
    let mut memory = Memory::new(vec![vec![0; 8 * 16]]);
    run(&module, "k", &[8], &[4], &[Arg::Buffer(0), Arg::Value(argument)], &mut memory);
    let mut expected = Vec::new();
    for index in 0..8 {
        let t = [20.0, 30.0, 40.0, 10.0][index & 3];
        expected.extend([0.5 + t, index as f32 + t, 2.5 + t, 3.5 + t]);
    }
    assert_eq!(floats(&memory.buffers[0]), expected);
}

#[test]
fn groups_share_local_memory_across_barriers() {
    let module = build(
        "kernel void reverse(global int *data, local int *given) {
             local int own[16];
             int i = get_local_id(0), n = get_local_size(0);
             own[i] = data[get_global_id(0)];
             barrier(CLK_LOCAL_MEM_FENCE);
             given[i] = own[n - 1 - i] * 2;
             barrier(CLK_LOCAL_MEM_FENCE);
             data[get_global_id(0)] = given[i] + get_group_id(0);
         }",
        "",
    );
    assert_eq!(kernel(&module, "reverse").locals.values().map(|l| l.size).collect::<Vec<_>>(), [64]);
    let given: Vec<i32> = (0..40).map(|i| i * i).collect();
    let mut memory = Memory::new(vec![bytes(&given, i32::to_le_bytes)]);
    run(&module, "reverse", &[40], &[16], &[Arg::Buffer(0), Arg::Local(64)], &mut memory);
    let mut expected = Vec::new();
    for (group, chunk) in given.chunks(16).enumerate() {
        expected.extend(chunk.iter().rev().map(|x| x * 2 + group as i32));
    }
    assert_eq!(ints(&memory.buffers[0]), expected);
}

#[test]
fn vectors_keep_their_elements() {
    let module = build(
        "kernel void k(global const uchar4 *a, global const short8 *b, global float3 *c, global int *d) {
             int i = get_global_id(0);
             uchar4 x = a[i];
             short8 y = b[i];
             y.s0246 = y.s7531;
             c[i] = convert_float3(x.zyx) * (float3)(1.0f, 0.5f, 2.0f);
             int n = as_int(x.wxyz) ^ as_int4(y).z;
             for (int k = 0; k < 4; ++k) n += k * x[k];
             d[i] = n + dot(convert_float4(y.lo), (float4)(1, 2, 3, 4)) + any(y < (short8)(3));
         }",
        "-cl-std=CL1.2",
    );
    let a: Vec<u8> = (0..64).map(|i| (i * 37 + 11) as u8).collect();
    let b: Vec<i16> = (0..128).map(|i| (i * 91 % 200 - 60) as i16).collect();
    let mut memory = Memory::new(vec![a.clone(), bytes(&b, i16::to_le_bytes), vec![0; 16 * 16], vec![0; 16 * 4]]);
    let arguments = [Arg::Buffer(0), Arg::Buffer(1), Arg::Buffer(2), Arg::Buffer(3)];
    run(&module, "k", &[16], &[4], &arguments, &mut memory);
    let (c, d) = (floats(&memory.buffers[2]), ints(&memory.buffers[3]));
    for index in 0..16 {
        let x = &a[index * 4..index * 4 + 4];
        let previous = &b[index * 8..index * 8 + 8];
        let y =
            [previous[7], previous[1], previous[5], previous[3], previous[3], previous[5], previous[1], previous[7]];
        let f = |v: u8| f32::from(v);
        assert_eq!(c[index * 4..index * 4 + 3], [f(x[2]), f(x[1]) * 0.5, f(x[0]) * 2.0]);
        let z = i32::from(y[4] as u16) | i32::from(y[5]) << 16;
        let mut n = i32::from_le_bytes([x[3], x[0], x[1], x[2]]) ^ z;
        for (k, &byte) in x.iter().enumerate() {
            n = n.wrapping_add(k as i32 * i32::from(byte));
        }
        let dot: f32 = (0..4).map(|k| f32::from(y[k]) * (k + 1) as f32).sum();
        let any = y.iter().any(|&v| v < 3);
        assert_eq!(d[index], (n as f32 + dot + f32::from(u8::from(any))) as i32, "work-item {index}");
    }
}

#[test]
fn program_variables_keep_what_is_written() {
    let module = build(
        "global int counter = 5;
         global int *global pointer = &counter;
         constant float weights[2][3] = {{1, 2, 3}, {4, 5, 6}};
         kernel void count(global float *out) {
             int i = get_global_id(0);
             atomic_add((volatile global int *)pointer, i);
             out[i] = weights[i & 1][i % 3];
         }
         kernel void read(global int *out) { *out = counter; }",
        "-cl-std=CL3.0",
    );
    let mut memory = Memory::new(vec![vec![0; 24], vec![0; 4]]);
    run(&module, "count", &[6], &[2], &[Arg::Buffer(0)], &mut memory);
    run(&module, "read", &[1], &[1], &[Arg::Buffer(1)], &mut memory);
    assert_eq!(floats(&memory.buffers[0]), [1.0, 5.0, 3.0, 4.0, 2.0, 6.0]);
    assert_eq!(ints(&memory.buffers[1]), [5 + 15]);
}

#[test]
fn printf_carries_its_format_and_arguments() {
    let module = build(
        r#"kernel void k(float4 v, long n, global int *p) {
             constant char *text = "words";
             printf("%v4hlf %d|%s|%ld %c%%\n", v, (char)-3, "done", n, 'x');
             printf("%s %p\n", text, p);
             printf("plain\n");
         }"#,
        "",
    );
    let formats: Vec<(String, Vec<(Type, u8)>)> = module
        .formats
        .values()
        .map(|format| (String::from_utf8_lossy(&format.text).into_owned(), format.args.clone()))
        .collect();
    assert_eq!(
        formats,
        [
            (
                "%v4hlf %d|%s|%ld %c%%\n".to_string(),
                vec![(Type::F32, 4), (Type::I32, 1), (Type::Ptr(Space::Constant), 1), (Type::I64, 1), (Type::I32, 1)]
            ),
            ("%s %p\n".to_string(), vec![(Type::Ptr(Space::Constant), 1), (Type::Ptr(Space::Global), 1)]),
            ("plain\n".to_string(), vec![]),
        ]
    );
    let mut memory = Memory::new(vec![vec![0; 4]]);
    let vector = Arg::Value(bytes(&[1.0f32, -2.0, 0.5, 4.0], f32::to_le_bytes));
    let report = run(&module, "k", &[1], &[1], &[vector, Arg::i64(-9), Arg::Buffer(0)], &mut memory);
    let first = &report.printf[0].args;
    let words: Vec<u32> = first[..4].iter().map(|&bits| bits as u32).collect();
    assert_eq!(words, [1.0f32, -2.0, 0.5, 4.0].map(f32::to_bits));
    assert_eq!(first[4] as u32 as i32, -3);
    assert_eq!(first[6] as i64, -9);
    assert_eq!(first[7], u128::from(b'x'));
    assert_eq!(report.printf.len(), 3);
}

#[test]
fn instructions_know_their_lines() {
    let module = build("kernel void k(global int *p)\n{\n    p[0] =\n        p[1] / 3;\n}\n", "");
    let body = kernel(&module, "k").body();
    let lines: Vec<u32> =
        body.layout.iter().flat_map(|&block| &body.blocks[block].insts).map(|&i| body.insts[i].location.line).collect();
    assert!(lines.iter().all(|line| (3..=4).contains(line)), "{lines:?}");
    assert!(lines.contains(&3) && lines.contains(&4), "{lines:?}");
}

#[test]
fn work_item_functions_answer_beyond_the_third_dimension() {
    let module = build(
        "kernel void k(global ulong *out, uint d) {
             out[0] = get_global_id(d); out[1] = get_global_size(d); out[2] = get_num_groups(d);
             out[3] = get_local_size(d); out[4] = get_global_offset(d); out[5] = get_work_dim();
         }",
        "",
    );
    for (d, expected) in [(0, [0, 1, 1, 1, 0, 2]), (1, [0, 1, 1, 1, 0, 2]), (7, [0, 1, 1, 1, 0, 2])] {
        let mut memory = Memory::new(vec![vec![0; 48]]);
        run(&module, "k", &[1, 1], &[1, 1], &[Arg::Buffer(0), Arg::i32(d)], &mut memory);
        let found: Vec<u64> =
            memory.buffers[0].chunks(8).map(|chunk| u64::from_le_bytes(chunk.try_into().unwrap())).collect();
        assert_eq!(found, expected, "dimension {d}");
    }
}

#[test]
fn products_of_negated_values_are_those_of_the_values() {
    // LLVM makes 0.5 x times -x of g, which is -0.5 x times x of f.
    let module = build(
        "float product(float x) { return -0.5f * x * x; }
         kernel void k(global float *a) {
             size_t i = get_global_id(0);
             float x = a[i], y = -x;
             a[i] = product(x);
             a[i + 8] = product(y);
             a[i + 16] = y;
         }",
        "",
    );
    let body = kernel(&module, "k").body();
    let factors = |bits: f32| {
        let by = |node: &&InstNode| match node.data {
            InstData::Binary { opcode: BinaryOp::Fmul, arguments, .. } => {
                arguments.iter().any(|&argument| body.const_bits(argument) == Some(bits.to_bits().into()))
            }
            _ => false,
        };
        body.insts.values().filter(by).count()
    };
    let negated = body.insts.values().filter_map(|node| match node.data {
        InstData::Unary { opcode: UnaryOp::Fneg, .. } => node.results.first().copied(),
        _ => None,
    });
    let negated: Vec<Value> = negated.collect();
    assert_eq!(negated.len(), 1, "{module}");
    let is_factor = body.insts.values().any(|node| match node.data {
        InstData::Binary { opcode: BinaryOp::Fmul, arguments, .. } => arguments.contains(&negated[0]),
        _ => false,
    });
    assert!(!is_factor && factors(-0.5) == 2, "{module}");

    let x = [0.0, -0.0, 1.5, -3e20, 1e-30, f32::INFINITY, f32::NEG_INFINITY, f32::MIN_POSITIVE];
    let mut memory = Memory::new(vec![bytes(&[x; 3].concat(), f32::to_le_bytes)]);
    run(&module, "k", &[8], &[4], &[Arg::Buffer(0)], &mut memory);
    let found: Vec<u32> = floats(&memory.buffers[0]).into_iter().map(f32::to_bits).collect();
    let products: Vec<f32> = x.iter().map(|x| -0.5 * x * x).collect();
    let expected = [products.clone(), products, x.iter().map(|x| -x).collect()].concat();
    assert_eq!(found, expected.into_iter().map(f32::to_bits).collect::<Vec<_>>());
}

#[test]
fn native_and_half_forms_take_fewer_steps() {
    let steps = |call: &str| {
        let module =
            build(&format!("kernel void k(global float *a) {{ float x = a[0], y = a[1]; a[0] = {call}; }}"), "");
        let mut memory = Memory::new(vec![bytes(&[2.5f32, 3.25], f32::to_le_bytes)]);
        let steps = run(&module, "k", &[1], &[1], &[Arg::Buffer(0)], &mut memory).steps[0];
        // A sum times a power of two is a step, for which machines without AVX-512 need six instructions.
        let insts = module.kernels[0].regions.values().flat_map(|body| body.insts.values());
        let scaled = |inst_data: &InstData| matches!(inst_data, InstData::Ternary { opcode: TernaryOp::Scaled, .. });
        steps + 5 * insts.filter(|inst| scaled(&inst.data)).count() as u64
    };
    for name in ["exp", "exp2", "exp10", "log", "log2", "log10", "sin", "cos", "tan", "powr"] {
        let call = if name == "powr" { "powr(x, y)".to_owned() } else { format!("{name}(x)") };
        let [plain, native, half] = ["", "native_", "half_"].map(|form| steps(&format!("{form}{call}")));
        println!("{name}: {plain}, native {native}, half {half}");
        assert!(native < plain && half < plain, "{name}: {plain}, native {native}, half {half}");
    }
}

#[test]
fn both_sides_of_a_branch_store_to_one_place_once() {
    let stores = |body: &str| {
        let source = format!(
            "kernel void k(global float *a, global const float *b, int n, uint m) {{
                 size_t i = get_global_id(0);
                 int j = i;
                 {body}
             }}"
        );
        let module = build(&source, "");
        let regions = kernel(&module, "k").regions.values();
        let stores =
            regions.flat_map(|body| body.insts.values()).filter(|node| matches!(node.data, InstData::Store { .. }));
        stores.count()
    };
    for (body, expected) in [
        ("if (b[i] > 0) a[i] = b[i]; else a[i] = b[i] * b[i] + 1;", 1),
        ("if (b[i] > 0) a[j + n] = b[i]; else a[j + n] = b[i] * b[i] + 1;", 1),
        ("if (b[i] > 0) { a[j + n] = b[i]; a[j] = 1; } else { a[j + n] = b[i] + 1; a[j] = 2; }", 2),
        // Other places.
        ("if (b[i] > 0) a[j + n] = b[i]; else a[j + m] = b[i] * b[i] + 1;", 2),
        ("if (b[i] > 0) a[i + 1] = b[i]; else a[i] = b[i] * b[i] + 1;", 2),
        // Not the last thing that both do.
        ("if (b[i] > 0) a[i] = b[i]; else { a[i] = b[i] * b[i] + 1; a[i + n] = 0; }", 3),
        ("if (b[i] > 0) *(volatile global float *)&a[i] = b[i]; else a[i] = b[i] * b[i] + 1;", 2),
    ] {
        assert_eq!(stores(body), expected, "{body}");
    }
}

#[test]
fn places_that_are_shared_hold_what_their_side_stored() {
    let source = "kernel void k(global int *a, global const int *b, int n) {
        int i = get_global_id(0), j = i * 3 + n;
        if (b[i] > 2) { a[j] = b[i]; a[j + 1] = i; a[j + n] = 7; }
        else if (b[i] > 0) { a[j] = -b[i]; a[j + 1] = 2 * i; a[j + 2] = 8; }
        else { a[j + 1] = 9; a[j] = 3; }
    }";
    let module = build(source, "");
    let b: Vec<i32> = (0..32).map(|i| i * 7 % 5 - 1).collect();
    let mut memory = Memory::new(vec![vec![0; 4 * 100], bytes(&b, i32::to_le_bytes)]);
    run(&module, "k", &[32], &[8], &[Arg::Buffer(0), Arg::Buffer(1), Arg::i32(2)], &mut memory);
    let mut expected = vec![0; 100];
    for (index, &b) in b.iter().enumerate() {
        let j = index * 3 + 2;
        let three = match b {
            3.. => [b, index as i32, 7],
            1..3 => [-b, 2 * index as i32, 8],
            _ => [3, 9, 0],
        };
        expected[j..j + 3].copy_from_slice(&three);
    }
    assert_eq!(ints(&memory.buffers[0]), expected);
}
