//! Several elements of each lane, lanes anywhere, which does what the interpreter does.

use crate::gangs::{noise, stages};
use crate::host_code::build;
use crate::machine;
use lockstep_ir::interp::{Arg, Memory, NdRange, run_kernel};
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::{Gangs, WIDTHS};

/// Work-items; the last gangs of most widths are not full.
const ITEMS: u64 = 61;

/// Elements of the buffers, of at most eight bytes; places are those of a permutation.
const ELEMENTS: usize = 16 * 64;

/// What kernels do with elements of a type. Each work-item's places are `16 * p` and those behind it.
const BODIES: [&str; 5] = [
    // Elements of vectors, by signed and unsigned numbers of 32 bits.
    "T16 v = vload16(0, a + 16 * (int)p); out[i] = v.s0 + v.s7 * v.s8 - v.sf;",
    "T8 v = vload8(2 * (uint)p, a); out[i] = v.s0 + v.s1 * v.s2 - v.s3 + v.s4 * v.s5 + v.s6 * v.s7;",
    // Neighbours, and one that is none; the lanes' numbers are of 64 bits, what they have in common comes from memory.
    "global const T *own = a + 16 * p + at[64] % 3; out[i] = own[1] + own[2] * own[3] - own[4] * own[5] + own[9];",
    // Some lanes, and those that are off are nowhere near.
    "bool on = (a[i] & 3) != 1; ulong q = on ? p : p << 50;
     if (on) { T4 v = vload4(4 * q, a); out[i] = v.s0 + v.s1 * v.s2 - v.s3; }",
    // From rows of local memory.
    "local T rows[64][6]; for (int k = 0; k < 6; k++) rows[i][k] = a[6 * i + k];
     barrier(CLK_LOCAL_MEM_FENCE);
     if (p < get_local_size(0)) out[i] = rows[p][0] + rows[p][1] * rows[p][2] - rows[p][3] * rows[p][5];",
];

#[test]
fn elements_of_lanes_anywhere() {
    for ty in ["uchar", "ushort", "int", "ulong"] {
        let kernels = BODIES.iter().enumerate().map(|(number, body)| {
            format!(
                "kernel void k{number}(global const T *a, global const ulong *at, global T *out) {{
                     uint i = get_global_id(0); ulong p = at[i]; {body}
                 }}\n"
            )
        });
        let types = [4, 8, 16].map(|n| format!("typedef {ty}{n} T{n};\n")).concat();
        let source = format!("typedef {ty} T;\n{types}{}", kernels.collect::<String>());
        let module = build(&source, "-cl-std=CL3.0");
        let range = NdRange::new(&[ITEMS], &[ITEMS]);
        let places: Vec<u8> = (0..65u64).flat_map(|i| (i * 37 % 64).to_le_bytes()).collect();
        // Lanes read two elements behind the last place's.
        let buffers = vec![noise((ELEMENTS + 2) * 8), places, vec![0; 64 * 8]];
        let arguments = [Arg::Buffer(0), Arg::Buffer(1), Arg::Buffer(2)];
        for name in (0..BODIES.len()).map(|number| format!("k{number}")) {
            let mut expected = Memory::new(buffers.clone());
            run_kernel(&module, &name, &range, &arguments, &mut expected)
                .unwrap_or_else(|error| panic!("{ty} {name}: {error}"));
            assert!(expected.buffers[2].iter().filter(|&&byte| byte != 0).count() > 20, "{ty} {name}");
            let all = WIDTHS.map(|width| (width, None));
            for (width, simd) in all.into_iter().chain([(4, Some(128)), (16, Some(256))]) {
                let vectorize = Vectorize::Gangs(Gangs::of_width(width));
                let options = CompileOptions { vectorize, simd, ..CompileOptions::default() };
                let mut found = Memory::new(buffers.clone());
                machine::run_with(options, &module, &name, &range, &arguments, &mut found)
                    .unwrap_or_else(|e| panic!("{ty} {name}, width {width}: {e}"));
                assert!(found.buffers == expected.buffers, "{ty} {name}, width {width}, {simd:?}: other results");
            }
        }
    }
}

/// Each lane's four elements are one load; at most places are gathered.
#[test]
fn a_lane_loads_its_chunk() {
    let source = "kernel void k(global const float4 *a, global const int *at, global float4 *out) {
                      int i = get_global_id(0); out[i] = a[at[i]];
                  }";
    // Before LLVM unrolls the loop over gangs, as it does for some machines.
    let [llvm] = stages(&build(source, ""), 8, ["codegen.ll"]);
    assert!(!llvm.contains("masked.gather.v8i64") && !llvm.contains("masked.gather.v8f32"), "{llvm}");
    let chunks = llvm.lines().filter(|line| line.contains("load <4 x float>"));
    // Of gangs that are full and of others.
    assert_eq!(chunks.count(), 16, "{llvm}");
}
