//! Functions that stay functions, as each would be inlined too often: called by single work-items and for the lanes of gangs, they
//! do what the interpreter says.

use crate::layouts::{build, input};
use crate::machine;
use lockstep_ir::interp::{self, Arg, Memory, NdRange, PrintfEvent};
use lockstep_ir::ir::{Format, Module, parse_module};
use lockstep_ir::verify::{Stage, verify_module};
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::{Configuration, Gangs};
use lockstep_protocol::launch_facts::LaunchFacts;

/// A tree of calls, `f16` at the root, that would have a million instructions with everything inlined. Each function calls the next
/// one in two places, with another `x` and with what it was called with itself.
pub fn write_call_tree(result: &str, parameters: &str, arguments: &str, leaf: &str) -> String {
    let mut source = format!("{result} f0(int x, {parameters}) {{ {leaf} }}\n");
    for level in 1..=16 {
        let (below, bit) = (level - 1, level % 5);
        source += &format!(
            "{result} f{level}(int x, {parameters}) {{
                if (x >> {bit} & 1) return f{below}(x * 3 + {level}, {arguments});
                x ^= {level};
                return f{below}(x - 7, {arguments});
            }}\n"
        );
    }
    source
}

/// What code may be like: one work-item after the other, and gangs of several widths in all configurations.
fn ways() -> Vec<Vectorize> {
    let mut ways = vec![Vectorize::Scalar];
    for (configuration, width) in Configuration::ALL.into_iter().zip([4, 8, 16, 2]) {
        ways.push(Vectorize::Gangs(Gangs { configuration, ..Gangs::of_width(width) }));
    }
    ways.push(Vectorize::Gangs(Gangs::default()));
    ways
}

/// Runs a kernel `k` that takes a buffer of as many `int` as there are work-items, and one of four times as many; how often it prints.
fn check(source: &str, range: &NdRange, more_arguments: &[Arg]) -> usize {
    check_module(&build(source), source, range, more_arguments)
}

/// As [`check`], of a program in our IR; its text is for messages.
fn check_module(module: &Module, source: &str, range: &NdRange, more_arguments: &[Arg]) -> usize {
    assert!(!module.functions_called_by(&module.kernels[0]).is_empty(), "everything is inlined:\n{source}");
    compare_runs(module, source, range, more_arguments).1
}

/// Compares code of all kinds with the interpreter; the memory that a run leaves, and how often it prints.
pub fn compare_runs(module: &Module, source: &str, range: &NdRange, more_arguments: &[Arg]) -> (Memory, usize) {
    verify_module(module, Stage::Imported).unwrap_or_else(|errors| panic!("{}\n{source}", errors[0]));
    let count: u64 = range.global_size.iter().product();
    let buffers = vec![input(count), input(4 * count)];
    let mut arguments = vec![Arg::Buffer(0), Arg::Buffer(1)];
    arguments.extend_from_slice(more_arguments);
    let mut expected = Memory::new(buffers.clone());
    let report = interp::run_kernel(module, "k", range, &arguments, &mut expected);
    let report = report.unwrap_or_else(|e| panic!("{e}\n{source}"));
    assert!(expected.buffers != buffers, "nothing was done");
    for (number, vectorize) in ways().into_iter().enumerate() {
        let known = LaunchFacts::of_range(range.global_offset, range.global_size, range.local_size);
        let launch = if number % 2 == 0 { known } else { LaunchFacts::default() };
        let options = CompileOptions { vectorize, launch, ..CompileOptions::default() };
        let (found, printed) = run(module, options, range, &arguments, &buffers);
        assert!(found.buffers == expected.buffers, "{vectorize:?}: other results\n{source}");
        assert_eq!(printed, sort_events(&report.printf), "{vectorize:?}: printed\n{source}");
    }
    (expected, report.printf.len())
}

/// What was printed, in an order that does not depend on that of the work-items.
fn sort_events(events: &[PrintfEvent]) -> Vec<(Format, Vec<u128>)> {
    let mut printed: Vec<_> = events.iter().map(|event| (event.format, event.args.clone())).collect();
    printed.sort();
    printed
}

/// The memory that a run leaves, and what it printed.
fn run(
    module: &Module,
    options: CompileOptions,
    range: &NdRange,
    arguments: &[Arg],
    buffers: &[Vec<u8>],
) -> (Memory, Vec<(Format, Vec<u128>)>) {
    let vectorize = options.vectorize;
    let mut memory = Memory::new(buffers.to_vec());
    let ran = machine::run_with(options, module, "k", range, arguments, &mut memory);
    let (report, _) = ran.unwrap_or_else(|e| panic!("{vectorize:?}: {e}"));
    (memory, sort_events(&report.printf))
}

#[test]
fn ids_and_sizes() {
    let answers = "return x + get_global_id(0) * 3 + get_local_id(1) * 5 + get_group_id(0) * 7 + get_local_linear_id() * 11
        + get_global_size(1) * 13 + get_local_size(0) * 17 + get_num_groups(1) * 19 + get_global_offset(0) + get_work_dim();";
    let kernel = "kernel void k(global int *a, global int *b) {
        size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0) - get_global_offset(0);
        a[i] = f16(a[i], 0);
    }";
    let source = write_call_tree("int", "int unused", "unused", answers) + kernel;
    for (global, local) in
        [(&[35_u64, 6][..], &[5_u64, 2][..]), (&[37, 5], &[8, 5]), (&[64, 2], &[64, 1]), (&[9, 21], &[3, 7])]
    {
        check(&source, &NdRange { global_offset: [100, 0, 0], ..NdRange::new(global, local) }, &[]);
    }
}

#[test]
fn global_memory() {
    let leaf = "size_t place = get_global_id(0) * 4 + (x & 3); out[place] += x; if (x & 8) out[place ^ 1] -= 3; return out[place];";
    let kernel = "kernel void k(global int *a, global int *b) {
        size_t i = get_global_id(0);
        int before = b[4 * i];
        int sum = 0;
        for (int round = 0; round < (a[i] & 3); ++round) sum += f16(a[i] + round, b) + b[4 * i];
        if (a[i] & 16) sum ^= f16(sum, b);
        a[i] = sum + before + b[4 * i];
    }";
    check(&(write_call_tree("int", "global int *out", "out", leaf) + kernel), &NdRange::new(&[75], &[25]), &[]);
}

#[test]
fn local_memory_between_barriers() {
    let leaf = "tile[get_local_id(0)] += x; return tile[get_local_id(0)] * 3;";
    let kernel = "kernel void k(global int *a, global int *b, local int *tile) {
        size_t i = get_global_id(0), l = get_local_id(0);
        int kept[3];
        tile[l] = a[i];
        kept[0] = f16(a[i], tile);
        barrier(CLK_LOCAL_MEM_FENCE);
        kept[1] = tile[get_local_size(0) - 1 - l];
        barrier(CLK_LOCAL_MEM_FENCE);
        kept[2] = kept[1] & 1 ? f16(kept[1], tile) : l;
        barrier(CLK_LOCAL_MEM_FENCE);
        a[i] = kept[0] + kept[1] * 3 + kept[2] * 5 + tile[l ^ 1];
    }";
    let source = write_call_tree("int", "local int *tile", "tile", leaf) + kernel;
    check(&source, &NdRange::new(&[80], &[20]), &[Arg::Local(80)]);
}

#[test]
fn printing_for_each_work_item() {
    let leaf = "if (x & 8) printf(\"%d of %d\\n\", x, (int)get_global_id(0)); return x;";
    let kernel = "kernel void k(global int *a, global int *b) {
        size_t i = get_global_id(0);
        if (a[i] & 3) a[i] = f16(a[i], 0);
        b[i] = f16(12, 0);
    }";
    let source = write_call_tree("int", "int unused", "unused", leaf) + kernel;
    let printed = check(&source, &NdRange::new(&[24], &[12]), &[]);
    assert!(printed > 24, "{printed} lines");
}

/// A function of whose arguments only some differ between lanes, and that returns one result that does not. It is called by lanes of which lane
/// 0 is none.
const SAME_RESULT: &str = "
function fn0 \"power_of_three\" {
  input passed(0): i32
  input passed(1): i32
  input passed(2): ptr.global
  result i32
  result i32
  region r0 {
  b0(v0: i32, v1: i32, v2: ptr.global):
    jump b1(0:i32, 1:i32)
  b1(v3: i32, v4: i32):
    v5: i32 = mul v4, 3
    v6: i32 = add v3, 1
    v7: i1 = icmp.slt v6, v0
    br v7, b1(v6, v5), b2
  b2:
    v8: i32 = load v2 align 4
    v9: i32 = add v8, v1
    store v9 to v2 align 4
    set_results v5, v9
    return
  }
}
kernel \"k\" {
  args 16
  param \"a\" pointer.global \"int*\" size 8 align 8 offset 0
  param \"b\" pointer.global \"int*\" size 8 align 8 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  region r0 {
  b0(v0: ptr.global, v1: ptr.global):
    v2: i64 = query.global_id 0
    v3: i32 = trunc v2
    v4: i64 = shl v2, 2
    v5: ptr.global = ptradd v0, v4
    v6: ptr.global = ptradd v1, v4
    v7: i32 = and v3, 3
    v8: i1 = icmp.eq v7, 2:i32
    v13: i64 = query.num_groups 0
    v9: i32 = trunc v13
    br v8, b1, b2
  b1:
    v10: i32, v11: i32 = call fn0(v9, v3, v6)
    v12: i32 = xor v10, v11
    store v12 to v5 align 4
    jump b2
  b2:
    return
  }
}
";

#[test]
fn a_result_is_that_of_lanes_that_call() {
    let module = parse_module(SAME_RESULT).expect("the text is right");
    check_module(&module, SAME_RESULT, &NdRange::new(&[140], &[20]), &[]);
}

#[test]
fn private_memory_by_address() {
    let leaf = "numbers[x & 7] ^= x; int own[9]; for (int n = 0; n < 9; ++n) own[n] = numbers[n & 7] + n; return own[(x >> 3 & 7) + 1];";
    let kernel = "kernel void k(global int *a, global int *b) {
        size_t i = get_global_id(0);
        int numbers[8];
        for (int n = 0; n < 8; ++n) numbers[n] = a[i] * n;
        int sum = f16(a[i], numbers);
        if (numbers[3] & 4) sum += f16(sum, numbers) * 3;
        for (int n = 0; n < 8; ++n) sum = sum * 31 + numbers[n];
        a[i] = sum;
    }";
    check(
        &(write_call_tree("int", "private int *numbers", "numbers", leaf) + kernel),
        &NdRange::new(&[75], &[25]),
        &[],
    );
}

#[test]
fn large_private_arrays() {
    let leaf = "int own[3000]; for (int n = 0; n < 3000; n += 7) own[n] = x + n; return own[(x & 255) * 7] + numbers[x & 2047];";
    let kernel = "kernel void k(global int *a, global int *b) {
        size_t i = get_global_id(0);
        int numbers[2048];
        for (int n = 0; n < 2048; ++n) numbers[n] = a[i] ^ n;
        a[i] = f16(a[i], numbers) + f16(a[i] + 1, numbers);
    }";
    check(
        &(write_call_tree("int", "private int *numbers", "numbers", leaf) + kernel),
        &NdRange::new(&[40], &[20]),
        &[],
    );
}

#[test]
fn structs_by_value() {
    let leaf = "part.n[x & 3] += x; part.c ^= x; part.n[1] += get_global_id(0); return part;";
    let kernel = "kernel void k(global int *a, global int *b) {
        size_t i = get_global_id(0);
        Part part = { { a[i], 1, 2, 3 }, (char)a[i], 5 };
        Part other = f16(a[i], part);
        Part third = a[i] & 1 ? f16(other.n[0], other) : part;
        a[i] = part.n[0] + part.c + other.n[0] * 3 + other.n[1] * 5 + other.c + third.n[2] + third.n[3] * 7 + third.c + (int)third.l;
    }";
    let declared = "typedef struct { int n[4]; char c; long l; } Part;\n".to_owned();
    check(&(declared + &write_call_tree("Part", "Part part", "part", leaf) + kernel), &NdRange::new(&[50], &[25]), &[]);
}

/// Each work-item counts its calls in a place of its own and in one of all, and finds what it left in its own place.
#[test]
fn atomics_count_each_lanes_calls() {
    let leaf = "atomic_add(shared, y); int old = atomic_xchg(own, x); return atomic_or(own, 4 * y) ^ old;";
    let functions =
        write_call_tree("int", "global int *own, volatile global int *shared, int y", "own, shared, y", leaf);
    let kernel = "kernel void k(global int *out, global int *in) {
        size_t i = get_global_id(0), n = get_global_size(0);
        if (in[i] & 3) out[i] = f16(in[i], in + n + i, in + 2 * n, 1 + (in[i] & 1));
        f16(5, in + 2 * n + 1, in + 2 * n + 2, 3);
    }";
    check(&format!("{functions}{kernel}"), &NdRange::new(&[70], &[35]), &[]);
}

/// All lanes pass the same, and what they take from the counter is kept over a barrier. The order in which they come does not matter.
#[test]
fn tickets_are_kept_over_barriers() {
    let functions = write_call_tree("int", "volatile global int *next", "next", "return atomic_inc(next);");
    let kernel = "kernel void k(global int *out, volatile global int *in) {
        int ticket = f16(5, in);
        barrier(CLK_GLOBAL_MEM_FENCE);
        atomic_add(in + 1, ticket * ticket);
    }";
    check(&format!("{functions}{kernel}"), &NdRange::new(&[70], &[35]), &[]);
}

#[test]
fn every_type_of_result() {
    let kernel = |test: &str| {
        format!(
            "kernel void k(global int *a, global int *b) {{
                size_t i = get_global_id(0);
                if (a[i] % 3 != 0) a[i] = {test};
            }}"
        )
    };
    for (result, leaf, test) in [
        ("float4", "return (float4)(x, u, x + u, 0.5f);", "(int)dot(f16(a[i], 3), (float4)(1, 2, 3, 4))"),
        ("int3", "return (int3)(x, u, x ^ u);", "f16(a[i], 3).x + f16(a[i], 3).z * 2"),
        ("char", "return (char)(x + u);", "f16(a[i], 3)"),
        ("bool", "return x > u * 100;", "f16(a[i], 3) ? 77 : 88"),
        ("double", "return x * 0.25 + u;", "(int)(f16(a[i], 3) * 4)"),
        ("ulong2", "return (ulong2)(x, u) * 0x123456789abcul;", "(int)(f16(a[i], 3).x >> 20)"),
        (
            "short8",
            "return (short8)((short)x) * (short8)(0, 1, 2, 3, 4, 5, 6, 7);",
            "f16(a[i], 3).s7 + f16(a[i], 3).s1",
        ),
    ] {
        check(&(write_call_tree(result, "int u", "u", leaf) + &kernel(test)), &NdRange::new(&[50], &[25]), &[]);
    }
    // Of no result nothing is left to the caller.
    let leaf = "out[get_global_id(0)] = x;";
    let kernel = "kernel void k(global int *a, global int *b) { f16(a[get_global_id(0)], b); }";
    let source = write_call_tree("void", "global int *out", "out", leaf).replace("return f", "return (void)f");
    check(&(source + kernel), &NdRange::new(&[50], &[25]), &[]);
}

#[test]
fn tables_and_math() {
    let leaf = "float y = sqrt(fabs((float)x)) + table[x & 3]; return (int)(pow(y, 1.5f) + sin(y) * 8 + y / (x | 1)) + x % (u | 1);";
    let declared = "constant float table[4] = { 1, 2.5f, 3, 4 };\n".to_owned();
    let kernel = "kernel void k(global int *a, global int *b) {
        size_t i = get_global_id(0);
        a[i] = f16(a[i], a[i] & 31);
    }";
    check(&(declared + &write_call_tree("int", "int u", "u", leaf) + kernel), &NdRange::new(&[50], &[25]), &[]);
}
