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
    size_t x = (size_t)at[i] + (long)width + (long)height;
    char first = a[x], second = a[x + 1];
    out[x] = second - first;
    out[x + 1] = 2 * first + second;
}";

#[test]
fn pairs_of_bytes_anywhere_are_read_and_written() {
    let bytes: Vec<u8> = (0..200_u64).map(|i| (i * i % 251) as u8).collect();
    let places: Vec<u8> = (0..ITEMS as i32).flat_map(|i| (2 * (i * 30 % 77) + 9).to_le_bytes()).collect();
    let numbers = [-13, 6].map(|number: i32| Arg::Value(number.to_le_bytes().to_vec()));
    let written = compare_in_gangs(PAIRS, [bytes, places, vec![0; 200]], &numbers);
    assert!(written.iter().filter(|&&byte| byte != 0).count() > 140);
}

/// Places in local memory that are far away before what all lanes have is added to them.
#[test]
fn places_within_an_object_may_be_sums_of_what_is_far_away() {
    const FAR: i64 = 0x7_0000_0000;
    let source = "kernel void k(global const uchar *a, global const long *at, global uchar *out, long shift) {
        local uchar tile[256];
        size_t i = get_global_id(0);
        for (size_t l = get_local_id(0); l < 256; l += get_local_size(0)) tile[l] = a[l];
        barrier(CLK_LOCAL_MEM_FENCE);
        long x = at[i] + shift;
        out[i] = tile[x] + 3 * tile[255 - x];
    }";
    let bytes: Vec<u8> = (0..256_u64).map(|i| (i * i % 251) as u8).collect();
    let places: Vec<u8> = (0..ITEMS as i64).flat_map(|i| (FAR + i * 30 % 77).to_le_bytes()).collect();
    let shift = Arg::Value((-FAR).to_le_bytes().to_vec());
    let written = compare_in_gangs(source, [bytes, places, vec![0; ITEMS as usize]], &[shift]);
    assert!(written.iter().filter(|&&byte| byte != 0).count() > 60);
}

/// Work-items of one group; the last gangs of most widths are not full.
const ITEMS: u64 = 77;

/// What the kernel `k` of three buffers and some numbers leaves in the last buffer, which is the same in gangs of every width.
fn compare_in_gangs(source: &str, buffers: [Vec<u8>; 3], numbers: &[Arg]) -> Vec<u8> {
    let module = build(source, "");
    let range = NdRange::new(&[ITEMS], &[ITEMS]);
    let arguments = [&[Arg::Buffer(0), Arg::Buffer(1), Arg::Buffer(2)], numbers].concat();
    let mut expected = Memory::new(buffers.to_vec());
    run_kernel(&module, "k", &range, &arguments, &mut expected).unwrap();
    for width in WIDTHS {
        for simd in [None, Some(256), Some(128)] {
            let vectorize = Vectorize::Gangs(Gangs::of_width(width));
            let options = CompileOptions { vectorize, simd, ..CompileOptions::default() };
            let mut found = Memory::new(buffers.to_vec());
            machine::run_with(options, &module, "k", &range, &arguments, &mut found).unwrap();
            assert!(found.buffers == expected.buffers, "width {width}, {simd:?}: other results");
        }
    }
    expected.buffers.swap_remove(2)
}

/// Lanes' pairs of bytes come into a register once, and not once for each of the two.
#[test]
fn pairs_of_bytes_are_taken_apart_by_shifts() {
    let [llvm] = stages(&build(PAIRS, ""), 16, ["optimize.ll"]);
    assert!(llvm.contains("lshr <16 x i16>") && llvm.contains("trunc <16 x i16>"), "{llvm}");
    // Two lanes' offsets from what all have leave a register together.
    assert!(llvm.contains("extractelement <8 x i64>") && !llvm.contains("extractelement <16 x ptr>"), "{llvm}");
}
