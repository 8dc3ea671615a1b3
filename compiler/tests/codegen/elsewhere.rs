//! Accesses of lanes without an instruction for them.

use crate::gangs::stages;
use crate::host_code::build;
use crate::machine;
use lockstep_ir::interp::{Arg, Memory, NdRange, run_kernel};
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::{Gangs, WIDTHS};

/// Each lane has a branch neither for what it loads nor for what it stores.
#[test]
fn lanes_that_are_off_go_elsewhere() {
    let module = build(
        "kernel void k(global const uchar *a, global const uint *at, global uchar *out) {
             size_t i = get_global_id(0);
             if (a[i] > 100) out[at[i]] = a[at[i]] + 1;
         }",
        "",
    );
    let [llvm] = stages(&module, 8, ["optimize.ll"]);
    assert!(llvm.contains("%nowhere = alloca i128, align 16"), "{llvm}");
    assert!(llvm.contains("@zeros"), "{llvm}");
    // Loops over groups and gangs, their tails, and the questions whether any lane is on.
    let branches = llvm.lines().filter(|line| line.trim_start().starts_with("br i1")).count();
    assert!(branches < 16, "{branches} branches: {llvm}");
}

/// Pairs of bytes at places that differ by a number of 32 bits, and by more that all lanes have.
const PAIRS: &str =
    "kernel void k(global const uchar *a, global const int *at, global uchar *out, int width, int height) {
    size_t i = get_global_id(0);
    size_t x = (size_t)at[i] - (long)width + (long)height;
    char first = a[x], second = a[x + 1];
    out[x] = second - first;
    out[x + 1] = 2 * first + second;
}";

#[test]
fn pairs_of_bytes_anywhere_are_read_and_written() {
    const ITEMS: u64 = 77;
    let module = build(PAIRS, "");
    let range = NdRange::new(&[ITEMS], &[ITEMS]);
    let bytes: Vec<u8> = (0..200_u64).map(|i| (i * i % 251) as u8).collect();
    let places: Vec<u8> = (0..ITEMS as i32).flat_map(|i| (2 * (i * 30 % 77) + 9).to_le_bytes()).collect();
    let number = |number: i32| Arg::Value(number.to_le_bytes().to_vec());
    let arguments = [Arg::Buffer(0), Arg::Buffer(1), Arg::Buffer(2), number(13), number(6)];
    let buffers = vec![bytes, places, vec![0; 200]];
    let mut expected = Memory::new(buffers.clone());
    run_kernel(&module, "k", &range, &arguments, &mut expected).unwrap();
    assert!(expected.buffers[2].iter().filter(|&&byte| byte != 0).count() > 140);
    for width in WIDTHS {
        for simd in [None, Some(256), Some(128)] {
            let vectorize = Vectorize::Gangs(Gangs::of_width(width));
            let options = CompileOptions { vectorize, simd, ..CompileOptions::default() };
            let mut found = Memory::new(buffers.clone());
            machine::run_with(options, &module, "k", &range, &arguments, &mut found).unwrap();
            assert!(found.buffers == expected.buffers, "width {width}, {simd:?}: other results");
        }
    }
}

/// Lanes' pairs of bytes come into a register once, and not once for each of the two.
#[test]
fn pairs_of_bytes_are_taken_apart_by_shifts() {
    let [llvm] = stages(&build(PAIRS, ""), 16, ["optimize.ll"]);
    assert!(llvm.contains("lshr <16 x i16>") && llvm.contains("trunc <16 x i16>"), "{llvm}");
}
