//! Elements computed as they lie in memory, which does what the interpreter does, with fewer shuffles.

use crate::gangs::{noise, stages};
use crate::host_code::build;
use crate::machine;
use lockstep_compiler::machine_code::host_target;
use lockstep_ir::interp::{Arg, Memory, NdRange, run_kernel};
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::{Gangs, WIDTHS};

/// Work-items; the last gangs of most widths are not full.
const ITEMS: u64 = 61;

/// What a work-item makes of a vector `v` of a type, another one `w` and a number `n` of its own.
const BODIES: [&str; 8] = [
    "out[i] = v + w * (T)3;",
    // What all elements have in common, of each work-item and of all.
    "T sum = v.x + v.y; out[i] = (v ^ sum) - n;",
    "out[i] = max(min(v, w), (V)n) & (T)s;",
    // Other numbers for each element.
    "out[i] = v * (V)(FEW) + w;",
    // Elements that change their places, and one that is not computed as the others are.
    "V r = w.SWAPPED; out[i] = (v - r) * n;",
    "V r = v + w; r.y = v.y - w.y; out[i] = r;",
    // What is used again.
    "V r = v * w; out[i] = r + n; out[i + get_global_size(0)] = r - n;",
    // Some work-items.
    "if (n & 1) out[i] = (v | w) + n;",
];

#[test]
fn vectors_of_every_length() {
    for ty in ["uchar", "ushort", "int", "ulong"] {
        for (length, few, swapped) in [(2, "3, 5", "yx"), (4, "3, 5, 7, 9", "wyxz")] {
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

/// Runs all kernels of a source in all widths.
fn compare(source: &str, what: &str) {
    let module = build(source, "");
    let range = NdRange::new(&[ITEMS], &[ITEMS]);
    let bytes = |which: usize| noise(64 * 4 * 8 * (which + 1))[64 * 4 * 8 * which..].to_vec();
    let buffers = vec![bytes(0), bytes(1), bytes(2), vec![0; 2 * 64 * 4 * 8]];
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
