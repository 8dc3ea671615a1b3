//! Elements anywhere near a common address that lanes load and store one by one, which does what the interpreter does.

use crate::gangs::{noise, stages};
use crate::host_code::build;
use crate::machine;
use lockstep_ir::interp::{Arg, Memory, NdRange, run_kernel};
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::{Gangs, WIDTHS};

/// Work-items, whose places are a permutation of their numbers: an odd factor modulo a power of two.
const ITEMS: u64 = 64;

/// What kernels do with elements of a type: `a` begins behind 64 elements that signed numbers reach.
const BODIES: [&str; 4] = [
    // Signed and unsigned numbers of 32 bits.
    "int p = (int)(i * 37 % 64) - 64; out[(uint)i * 5 % 64] = (a + 64)[p];",
    "uint p = i * 29 % 64; (out + 64)[(int)p - 64] = a[p];",
    // Rows of local memory, with constants between.
    "local T rows[10][9]; uint p = i * 11 % 64;
     rows[p / 8][p % 8] = a[i]; rows[p / 8 + 1][8] = a[0];
     barrier(CLK_LOCAL_MEM_FENCE); uint q = i * 23 % 64; out[i] = rows[q / 8][q % 8];",
    // Numbers of 64 bits.
    "ulong p = i * 43 % 64; out[p * 3 % 64] = a[p];",
];

#[test]
fn elements_near_a_common_address() {
    for ty in ["uchar", "short", "float", "ulong", "uchar3"] {
        let kernels = BODIES.iter().enumerate().map(|(number, body)| {
            format!("kernel void k{number}(global const T *a, global T *out) {{ uint i = get_global_id(0); {body} }}\n")
        });
        let source = format!("typedef {ty} T;\n{}", kernels.collect::<String>());
        let module = build(&source, "-cl-std=CL3.0");
        let range = NdRange::new(&[ITEMS], &[ITEMS]);
        let buffers = vec![noise(128 * 8), vec![0; 128 * 8]];
        let arguments = [Arg::Buffer(0), Arg::Buffer(1)];
        for name in (0..BODIES.len()).map(|number| format!("k{number}")) {
            let mut expected = Memory::new(buffers.clone());
            run_kernel(&module, &name, &range, &arguments, &mut expected)
                .unwrap_or_else(|error| panic!("{ty} {name}: {error}"));
            assert!(expected.buffers[1].iter().filter(|&&byte| byte != 0).count() > 50, "{ty} {name}");
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

/// No lane's address is ever in a vector.
#[test]
fn offsets_leave_a_register_in_pairs() {
    let source = "kernel void k(global const uchar *a, global const int *at, global uchar *out) {
                      int i = get_global_id(0), p = at[i]; out[p] = a[p + 1];
                  }";
    let [llvm] = stages(&build(source, ""), 8, ["optimize.ll"]);
    assert!(llvm.contains("bitcast <8 x i32>") && llvm.contains("to <4 x i64>"), "{llvm}");
    let gathers = llvm.lines().filter(|line| line.contains("call") && line.contains("masked.gather.v8i8"));
    assert_eq!(gathers.count(), 1, "gangs that are not full: {llvm}");
}
