//! Elements computed as they lie in memory, which does what the interpreter does, with fewer shuffles.

use crate::gangs::{noise, stages};
use crate::host_code::build;
use crate::machine;
use lockstep_compiler::machine_code::host_target;
use lockstep_compiler::pipeline::compile_kernel;
use lockstep_ir::interp::{Arg, Memory, NdRange, run_kernel};
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::{Gangs, WIDTHS};
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::layout::Layout;

/// Work-items; the last gangs of most widths are not full.
const ITEMS: u64 = 61;

/// Bytes of a buffer: a vector of sixteen of the widest elements for each work-item, and some more.
const BUFFER_BYTES: usize = 64 * 16 * 8;

/// What a work-item makes of a vector `v` of a type, another one `w` and a number `n` of its own.
const BODIES: [&str; 12] = [
    "out[i] = v + w * (T)3;",
    // What all elements have in common, of each work-item and of all.
    "T sum = v.s0 + v.s1; out[i] = (v ^ sum) - n;",
    "out[i] = max(min(v, w), (V)n) & (T)s;",
    // Other numbers for each element.
    "out[i] = v * (V)(FEW) + w;",
    // Elements that change their places, and one that is not computed as the others are.
    "V r = w.SWAPPED; out[i] = (v - r) * n;",
    "V r = v + w; r.s1 = v.s1 - w.s1; out[i] = r;",
    // One that is changed among others that stay where they were found, and all but one.
    "V r = v; r.s1 = v.s0 * w.s1 - n; out[i] = r;",
    "V r = w.SWAPPED + n; r.s1 = v.s1; out[i] = r;",
    // What was found, after something else is there.
    "V r = a[i]; out[i] = w; global V *other = out + get_global_size(0); r += other[i]; other[i] = w;
     r.s0 += n; out[i] = r;",
    "global V *other = out + get_global_size(0); V r = other[i]; other[i] = w; r.s0 += n; out[i] = r;",
    // What is used again.
    "V r = v * w; out[i] = r + n; out[i + get_global_size(0)] = r - n;",
    // Some work-items.
    "if (n & 1) out[i] = (v | w) + n;",
];

#[test]
fn vectors_of_every_length() {
    for ty in ["uchar", "ushort", "int", "ulong"] {
        for (length, few, swapped) in [
            (2, "3, 5", "s10"),
            (4, "3, 5, 7, 9", "s3102"),
            (8, "3, 5, 7, 9, 2, 4, 6, 8", "s72605143"),
            (16, "3, 5, 7, 9, 2, 4, 6, 8, 1, 11, 12, 13, 14, 15, 16, 17", "s7a2f6b05e14c3d98"),
        ] {
            // Rows of narrow elements are not transposed, however long they are.
            if length > 4 && !["int", "ulong"].contains(&ty) {
                continue;
            }
            let kernels = BODIES.iter().enumerate().map(|(number, body)| {
                format!(
                    "kernel void k{number}(global const V *a, global const V *b, global const T *c, global V *out, int s) {{
                         size_t i = get_global_id(0); V v = a[i], w = b[i]; T n = c[i]; {body}
                     }}\n"
                )
            });
            let head = format!("typedef {ty} T; typedef {ty}{length} V;\n");
            let source = head + &kernels.collect::<String>().replace("FEW", few).replace("SWAPPED", swapped);
            compare(&source, &format!("{ty}{length}"));
        }
    }
}

#[test]
fn structures_of_three_numbers() {
    let source = "typedef struct { T x, y, z; } V;
        kernel void k0(global const V *a, global const V *b, global const T *c, global V *out, int s) {
            size_t i = get_global_id(0); V v = a[i];
            T grey = v.x * 3 + v.y * 5 + v.z;
            v.x += s * (grey - v.x); v.y += s * (grey - v.y); v.z += s * (grey - v.z);
            out[i] = v;
        }
        kernel void k1(global const V *a, global const V *b, global const T *c, global V *out, int s) {
            size_t i = get_global_id(0); V v = a[i], w = b[i]; T n = c[i];
            if (n & 2) { v.x = v.x * n + w.x; v.y = v.y * n + w.y; v.z = v.z * n + w.z; }
            out[i] = v;
        }";
    for ty in ["uchar", "short", "uint", "long"] {
        compare(&source.replace('T', ty), ty);
    }
}

/// Of rows of sixteen, eight that are read from the first or from the fifth on, and eight that are written.
#[test]
fn halves_of_rows() {
    for ty in ["int", "ulong"] {
        let source = format!(
            "typedef {ty} T;
             kernel void first(global const T *a, global const T *b, global const T *c, global T *out, int s) {{
                 size_t i = get_global_id(0); global const T *row = a + 16 * i; T sum = c[i];
                 for (int k = 0; k < 8; k++) sum = sum * s + row[k];
                 out[i] = sum;
             }}
             kernel void fifth(global const T *a, global const T *b, global const T *c, global T *out, int s) {{
                 size_t i = get_global_id(0); global const T *row = a + 16 * i + 4; T sum = c[i];
                 for (int k = 0; k < 8; k++) sum = sum * s + row[k];
                 for (int k = 0; k < 8; k++) out[16 * i + k] = sum + k * s;
             }}"
        );
        compare(&source, ty);
    }
}

/// Vectors of a picture in tiles, of which each row is transposed by itself.
#[test]
fn vectors_in_tiles() {
    let source = "kernel void k(global const int8 *a, global int8 *out, int width) {
            size_t at = get_global_id(1) * width + get_global_id(0); int8 v = a[at];
            out[at] = v.s72605143 * v + (int8)(get_global_id(0) + 3 * get_global_id(1));
        }";
    let module = build(source, "");
    for local in [[8, 8], [16, 4], [4, 16]] {
        let range = NdRange::new(&[2 * local[0], 3 * local[1]], &local);
        let arguments = [Arg::Buffer(0), Arg::Buffer(1), Arg::i32(2 * local[0] as i32)];
        let buffers = vec![noise(64 * 6 * 32), vec![0; 64 * 6 * 32]];
        let mut expected = Memory::new(buffers.clone());
        run_kernel(&module, "k", &range, &arguments, &mut expected).unwrap();
        for simd in [128, 256, 512] {
            let options = CompileOptions {
                vectorize: Vectorize::Gangs(Gangs { layout: Some(Layout::Tile), ..Gangs::of_width(16) }),
                launch: LaunchFacts::of_range(range.global_offset, range.global_size, range.local_size),
                simd: Some(simd),
                report: true,
                ..CompileOptions::default()
            };
            let mut found = Memory::new(buffers.clone());
            machine::run_with(options.clone(), &module, "k", &range, &arguments, &mut found).unwrap();
            assert!(found.buffers == expected.buffers, "{local:?} in {simd} bits: other results");
            let report = compile_kernel(&module, 0, &options).unwrap().report.unwrap().to_string();
            let is_transposed = report.contains("row by row") && report.contains("transposed");
            // Rows of eight lanes are half a register of 512 bits.
            assert!(local != [8, 8] || simd == 128 || is_transposed == (simd == 256), "{simd} bits: {report}");
        }
    }
}

/// Runs all kernels of a source in all widths.
fn compare(source: &str, what: &str) {
    let module = build(source, "");
    let range = NdRange::new(&[ITEMS], &[ITEMS]);
    let bytes = |which: usize| noise(BUFFER_BYTES * (which + 1))[BUFFER_BYTES * which..].to_vec();
    let buffers = vec![bytes(0), bytes(1), bytes(2), vec![0; 2 * BUFFER_BYTES]];
    let arguments = [Arg::Buffer(0), Arg::Buffer(1), Arg::Buffer(2), Arg::Buffer(3), Arg::i32(13)];
    for kernel in &module.kernels {
        let name = &kernel.name;
        let mut expected = Memory::new(buffers.clone());
        run_kernel(&module, name, &range, &arguments, &mut expected)
            .unwrap_or_else(|error| panic!("{what} {name}: {error}"));
        assert!(expected.buffers[3].iter().filter(|&&byte| byte != 0).count() > 20, "{what} {name}");
        let all = WIDTHS.map(|width| (width, None));
        for (width, simd) in all.into_iter().chain([(4, Some(128)), (16, Some(256))]) {
            let vectorize = Vectorize::Gangs(Gangs::of_width(width));
            let options = CompileOptions { vectorize, simd, ..CompileOptions::default() };
            let mut found = Memory::new(buffers.clone());
            machine::run_with(options, &module, name, &range, &arguments, &mut found)
                .unwrap_or_else(|e| panic!("{what} {name}, width {width}: {e}"));
            assert!(found.buffers == expected.buffers, "{what} {name}, width {width}, {simd:?}: other results");
        }
    }
}

/// Where elements are scaled by a number that their work-item makes of them, they stay in memory's order: that number is
/// spread, and no products are brought back.
#[test]
fn what_elements_have_in_common_is_spread() {
    let source = "kernel void k(global const float4 *a, global float4 *out) {
                      size_t i = get_global_id(0); float4 v = a[i]; out[i] = v * (v.x + v.y);
                  }";
    let [llvm] = stages(&build(source, ""), 8, ["optimize.ll"]);
    let is_there = |places: &str| llvm.lines().any(|line| line.contains("= shufflevector") && line.contains(places));
    assert!(is_there("i32 0, i32 0, i32 0, i32 0, i32 1, i32 1, i32 1, i32 1,"), "nothing is spread: {llvm}");
    assert!(
        !is_there("i32 0, i32 8, i32 16, i32 24, i32 1, i32 9, i32 17, i32 25,"),
        "products are brought back: {llvm}"
    );
}

/// Long rows of lanes are loaded sixteen bytes of a lane at once where their elements are wanted, and as they lie in memory
/// where only few of them are changed.
#[test]
fn long_rows_are_loaded_in_chunks_or_as_they_lie() {
    let loads = |body: &str| {
        let source = format!(
            "kernel void k(global const float8 *a, global float8 *out) {{
                 size_t i = get_global_id(0); float8 v = a[i]; {body}
             }}"
        );
        let [llvm] = stages(&build(&source, ""), 8, ["optimize.ll"]);
        ["load <4 x float>", "load <64 x float>"].map(|load| llvm.matches(load).count())
    };
    let [chunks, rows] = loads("out[i] = v * 3.0f;");
    assert!(chunks == 0 && rows > 0, "{chunks} chunks, {rows} rows");
    let [chunks, rows] = loads("out[i] = (float8)(v.s0 + v.s1 * v.s2 - v.s3 * v.s4 + v.s5 * v.s6 - v.s7);");
    assert!(chunks >= 16 && rows == 0, "{chunks} chunks, {rows} rows");
    let [chunks, rows] = loads("v.s0 = v.s1 * v.s2 + v.s3; out[i] = v;");
    assert!(chunks == 0 && rows > 0, "{chunks} chunks, {rows} rows");
}

/// Where a register has any element of two, every third of three is chosen from two of them first.
#[test]
fn thirds_of_registers_are_chosen() {
    let source = "typedef struct { float x, y, z; } V;
                  kernel void k(global const V *a, global float *out) {
                      size_t i = get_global_id(0); V v = a[i]; out[i] = v.x * v.y + v.z;
                  }";
    let [llvm] = stages(&build(source, ""), 16, ["optimize.ll"]);
    let found = |places: &str| llvm.lines().any(|line| line.contains("= shufflevector") && line.contains(places));
    let permutes = host_target(None).permutes;
    assert_eq!(found("i32 0, i32 1, i32 18, i32 3, i32 4, i32 21, i32 6,"), permutes, "{llvm}");
    assert_eq!(found("<i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18,"), !permutes, "{llvm}");
}
