//! Every layout of the lanes of a gang, with groups of many sizes in one to three dimensions, does what the interpreter
//! does.

use crate::gangs::stages_with;
use crate::machine;
use lockstep_compiler::frontend::{FrontendConfig, compile_source, link_program};
use lockstep_compiler::pipeline::{compile_kernel, load};
use lockstep_ir::interp::{self, Arg, Memory, NdRange};
use lockstep_ir::ir::{Module, parse_module};
use lockstep_protocol::build_options::{BuildOptions, Stage};
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::Gangs;
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::layout::Layout;

/// 1, 3, 7, 8, 16, 17, 64, 100, 256 and 1024 work-items, and some that divide gangs or are divided by them.
const LOCALS: &[&[u64]] = &[
    &[1],
    &[3],
    &[7],
    &[8],
    &[16],
    &[17],
    &[64],
    &[100],
    &[256],
    &[1024],
    &[1, 3],
    &[7, 1],
    &[1, 8],
    &[1, 16],
    &[1, 17],
    &[2, 8],
    &[8, 8],
    &[4, 4],
    &[4, 6],
    &[1, 64],
    &[10, 10],
    &[1, 100],
    &[16, 16],
    &[8, 32],
    &[32, 32],
    &[1, 1, 7],
    &[1, 2, 4],
    &[1, 1, 17],
    &[4, 4, 4],
    &[8, 2, 1],
    &[5, 5, 4],
    &[1, 1, 100],
    &[2, 8, 16],
    &[8, 8, 16],
];

/// A program as its front end and import make it.
pub fn build(source: &str) -> Module {
    let options = BuildOptions::parse("-cl-std=CL3.0", Stage::Build).unwrap();
    let object = compile_source(&FrontendConfig::default(), source.as_bytes(), &[], &options).unwrap();
    load(&link_program(&[&object], &options).unwrap()).unwrap()
}

pub fn input(count: u64) -> Vec<u8> {
    let value = |i: u64| (i.wrapping_mul(2_654_435_761) >> 7) as i32 % 1000;
    (0..count).flat_map(|i| value(i).to_le_bytes()).collect()
}

/// A kernel in every layout; each time another width, and code that relies on the local size or on nothing.
fn check(name: &str) {
    let module = build(include_str!("layouts.cl"));
    for (case, local) in LOCALS.iter().enumerate() {
        // Some ranges end with smaller groups.
        let uneven = case % 3 == 2;
        let rounds = [2, 1, 1];
        let size = |dimension: usize| local[dimension] * rounds[dimension] + u64::from(uneven && local[dimension] > 2);
        let global: Vec<u64> = (0..local.len()).map(size).collect();
        let range = NdRange::new(&global, local);
        let count: u64 = global.iter().product();
        let arguments = [Arg::Buffer(0), Arg::Buffer(1)];
        let buffers = vec![input(3 * count + 4096), vec![0; 4 * count as usize]];
        let mut expected = Memory::new(buffers.clone());
        interp::run_kernel(&module, name, &range, &arguments, &mut expected)
            .unwrap_or_else(|error| panic!("{name} by {local:?}: {error}"));
        for (index, layout) in Layout::ALL.into_iter().enumerate() {
            let width = [16, 8, 4][(case + index) % 3];
            let gangs = Gangs { layout: Some(layout), ..Gangs::of_width(width) };
            let known = LaunchFacts::of_range(range.global_offset, range.global_size, range.local_size);
            let launch = if case % 4 == 3 { LaunchFacts::default() } else { known };
            let options = CompileOptions { vectorize: Vectorize::Gangs(gangs), launch, ..CompileOptions::default() };
            let mut found = Memory::new(buffers.clone());
            let (_, reason) = machine::run_with(options, &module, name, &range, &arguments, &mut found)
                .unwrap_or_else(|e| panic!("{name} by {local:?} {layout}: {e}"));
            assert_eq!(reason, None);
            assert!(found.buffers == expected.buffers, "{name} by {local:?} {layout}, width {width}: other results");
        }
    }
}

#[test]
fn kept_values_and_arrays() {
    check("kept");
}

#[test]
fn trees() {
    check("tree");
}

#[test]
fn rows_and_columns() {
    check("places");
}

#[test]
fn collected_values() {
    check("collected");
}

/// A kernel whose indices of eight bits lie side by side along one dimension of a group, in rows of a length that is
/// given: they wrap in some rows, and in some of them between two work-items.
pub fn wrapping(along: u8, across: u8) -> Module {
    let text = r#"kernel "wrapping" {
  args 24
  param "in" pointer.global "int*" size 8 align 8 offset 0
  param "out" pointer.global "int*" size 8 align 8 offset 8
  param "n" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: i32):
    v3: i64 = query.local_id ALONG
    v4: i64 = query.local_id ACROSS
    v5: i8 = trunc v3
    v6: i8 = trunc v4
    v7: i8 = trunc v2
    v8: i8 = mul v6, v7
    v9: i8 = add v8, v7
    v10: i8 = add v9, v5
    v11: i64 = zext v10
    v12: i64 = mul v11, 4
    v13: ptr.global = ptradd v0, v12
    v14: i32 = load v13 align 4
    v15: i64 = query.local_size ALONG
    v16: i64 = mul v4, v15
    v17: i64 = add v16, v3
    v18: i64 = mul v17, 4
    v19: ptr.global = ptradd v1, v18
    store v14 to v19 align 4
    v20: ptr.global = ptradd v13, 1024
    store v14 to v20 align 4
    return
  }
}
"#;
    parse_module(&text.replace("ALONG", &along.to_string()).replace("ACROSS", &across.to_string())).unwrap()
}

#[test]
fn indices_that_wrap_in_rows_of_tiles() {
    let module = wrapping(0, 1);
    for (n, local) in
        [1, 7, 60, 85, 127, 250, 254].into_iter().flat_map(|n| [[4, 4], [8, 8], [2, 8], [8, 4]].map(|l| (n, l)))
    {
        let range = NdRange::new(&local, &local);
        let arguments = [Arg::Buffer(0), Arg::Buffer(1), Arg::i32(n)];
        let buffers = vec![input(512), vec![0; 4 * 64]];
        let mut expected = Memory::new(buffers.clone());
        interp::run_kernel(&module, "wrapping", &range, &arguments, &mut expected).unwrap();
        for width in [8, 16, 32] {
            let gangs = Gangs { layout: Some(Layout::Tile), ..Gangs::of_width(width) };
            let launch = LaunchFacts::of_range(range.global_offset, range.global_size, range.local_size);
            let options = CompileOptions { vectorize: Vectorize::Gangs(gangs), launch, ..CompileOptions::default() };
            let mut found = Memory::new(buffers.clone());
            machine::run_with(options, &module, "wrapping", &range, &arguments, &mut found).unwrap();
            assert!(found.buffers == expected.buffers, "{n} by {local:?}, width {width}: other results");
        }
    }
}

/// The first line of the report on a kernel in launches over a range.
fn report(source: &str, layout: Option<Layout>, global: [u64; 3], local: [u64; 3]) -> String {
    let module = build(source);
    let options = CompileOptions {
        vectorize: Vectorize::Gangs(Gangs { layout, ..Gangs::default() }),
        launch: LaunchFacts::of_range([0; 3], global, local),
        simd: Some(256),
        report: true,
        ..CompileOptions::default()
    };
    let compiled = compile_kernel(&module, 0, &options).unwrap();
    let text = compiled.report.as_ref().unwrap().to_string();
    text.lines().next().unwrap().to_owned()
}

/// Lanes lie along the dimension in which a group is long, or which runs along rows of memory; the report says so.
#[test]
fn the_layout_that_costs_least() {
    let column = "kernel void k(global float *a, local float *b) {
        int i = get_local_id(1);
        b[i] = a[get_global_id(1)] * 2.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        a[get_global_id(1)] = b[63 - i] * b[i];
    }";
    let along_y = report(column, None, [4, 256, 1], [1, 64, 1]);
    assert!(along_y.starts_with("kernel k: 16 work-items at a time along y, unicf"), "{along_y}");
    assert!(along_y.contains("a gang of 16 along y is expected to cost"), "{along_y}");
    assert!(along_y.contains(" along x "), "{along_y}");
    let square = "kernel void k(global float *a, global float *b, uint n) {
        a[get_global_id(0) * n + get_global_id(1)] += b[get_global_id(0) * n + get_global_id(1)];
    }";
    let rows_of_y = report(square, None, [256, 256, 1], [16, 16, 1]);
    assert!(rows_of_y.contains("at a time along y,"), "{rows_of_y}");
    let usual = square.replace("get_global_id(0) * n + get_global_id(1)", "get_global_id(1) * n + get_global_id(0)");
    let rows_of_x = report(&usual, None, [256, 256, 1], [16, 16, 1]);
    assert!(rows_of_x.contains("at a time along x,"), "{rows_of_x}");
    assert!(rows_of_x.contains(" along y "), "{rows_of_x}");
    let small = "kernel void k(global const float *in, global float *out, local float *t, int n) {
        int x = get_local_id(0), y = get_local_id(1);
        float sum = 0.0f;
        for (int k = 0; k < n; ++k) {
            float a = in[k * 4 + y], b = in[k * 4 + x];
            sum += sqrt(a * b) * (a - b) + a / b;
        }
        t[y * 4 + x] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        out[get_global_id(1) * 64 + get_global_id(0)] = t[y * 4 + x] * t[x];
    }";
    let tiles = report(small, Some(Layout::Tile), [64, 64, 1], [4, 4, 1]);
    assert!(tiles.starts_with("kernel k: 8 work-items at a time in tiles of rows, unicf"), "{tiles}");
    let chosen = report(small, None, [64, 64, 1], [4, 4, 1]);
    assert!(chosen.contains("work-items at a time in tiles of rows, unicf"), "{chosen}");
    // Rows that lie side by side unless an index wraps count as such.
    let indexed = "kernel void k(global const float *in, global float *out, local float *t, uint width) {
        uint x = get_local_id(0), y = get_local_id(1);
        uint at = get_group_id(1) * 8 * width + get_group_id(0) * 4;
        float sum = 0.0f;
        for (int k = 0; k < 8; ++k) sum += in[at + k * width + x] * (float)(y + k);
        t[y * 4 + x] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        out[at + y * width + x] = t[y * 4 + 3 - x];
    }";
    let rows = report(indexed, None, [64, 64, 1], [4, 8, 1]);
    assert!(rows.contains("at a time in tiles of rows, unicf"), "{rows}");
    let part_of_one = report(small, None, [62, 64, 1], [4, 4, 1]);
    assert!(!part_of_one.contains("at a time in tiles"), "{part_of_one}");
}

/// A kernel of groups of 8 x 8 that multiplies what each row has by what each column has, as LLVM's IR before its passes.
fn code_of_rows(layout: Layout, width: u32) -> String {
    let module = build(
        "kernel void k(global const float *rows, global const float *columns, global float *out) {
            size_t x = get_global_id(0), y = get_global_id(1);
            out[64 * y + x] = rows[y] * columns[x];
        }",
    );
    let launch = LaunchFacts::of_range([0; 3], [64, 64, 1], [8, 8, 1]);
    let gangs = Gangs { layout: Some(layout), ..Gangs::of_width(width) };
    let options = CompileOptions { vectorize: Vectorize::Gangs(gangs), launch, ..CompileOptions::default() };
    let [llvm] = stages_with(&module, options, ["codegen.ll"]);
    llvm
}

/// Of two vectors of eight, one behind the other, LLVM makes three shuffles for registers of 512 bits.
#[test]
fn what_each_of_two_rows_has_is_spread_over_both() {
    let llvm = code_of_rows(Layout::Tile, 16);
    let lanes: Vec<String> = (0..8).chain(24..32).map(|lane| format!("i32 {lane}")).collect();
    let wanted = format!("<16 x i32> <{}>", lanes.join(", "));
    assert!(llvm.lines().any(|line| line.contains("shufflevector") && line.contains(&wanted)), "{llvm}");
}

/// LLVM takes a loop of one iteration for an inner one, and looks there for what stays the same.
#[test]
fn rows_of_one_gang_have_no_loop_of_their_own() {
    let has_loop_in_rows = |width| code_of_rows(Layout::X, width).lines().any(|line| line.contains("%x = phi i64"));
    assert!(has_loop_in_rows(4));
    assert!(!has_loop_in_rows(8));
}
