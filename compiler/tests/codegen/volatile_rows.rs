//! Volatile accesses: those to local memory become wide, as nothing but one thread sees it; those to global memory
//! only where each lane's element is accessed once and no other.

use crate::gangs::stages;
use crate::layouts::build;
use crate::machine;
use lockstep_ir::interp::{Arg, Memory, NdRange, run_kernel};
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::{Gangs, WIDTHS};

/// A work-item uses its own elements only, so that the order of work-items does not matter.
fn source(ty: &str) -> String {
    format!(
        "kernel void k(global const {ty} *in, global volatile {ty} *out) {{
            local volatile {ty} s[3 * 64];
            size_t t = get_local_id(0), i = get_global_id(0);
            local volatile {ty} *own = s + 3 * t;
            s[t] = in[i];
            {ty} a = s[t];
            barrier(CLK_LOCAL_MEM_FENCE);
            own[0] = a;
            own[2] = own[0] + 1;
            if (in[i] > 100) {{
                own[1] = own[2] * 3;
                own[2] += own[1];
                out[i] = own[2];
            }}
            out[i] += own[2];
        }}"
    )
}

#[test]
fn results_are_those_of_single_work_items() {
    for (ty, bytes) in [("double", 8), ("long", 8), ("float", 4), ("int", 4), ("short", 2), ("uchar", 1)] {
        let module = build(&source(ty));
        let values = |index: usize| match ty {
            "double" => ((index * 37 % 251) as f64).to_le_bytes().to_vec(),
            "float" => ((index * 37 % 251) as f32).to_le_bytes().to_vec(),
            _ => ((index * 37 % 251) as u64).to_le_bytes()[..bytes].to_vec(),
        };
        let range = NdRange::new(&[150], &[50]);
        let buffers = [(0..150).flat_map(values).collect(), vec![0; 150 * bytes]];
        let arguments = [Arg::Buffer(0), Arg::Buffer(1)];
        let mut expected = Memory::new(buffers.to_vec());
        run_kernel(&module, "k", &range, &arguments, &mut expected).unwrap();
        for width in WIDTHS {
            let vectorize = Vectorize::Gangs(Gangs::of_width(width));
            let options = CompileOptions { vectorize, ..CompileOptions::default() };
            let mut found = Memory::new(buffers.to_vec());
            let (_, reason) = machine::run_with(options, &module, "k", &range, &arguments, &mut found).unwrap();
            assert_eq!(reason, None, "{ty} {width}");
            assert!(found.buffers == expected.buffers, "{ty} {width}: other results");
        }
    }
}

/// Rows of two elements are one access a step, of whatever size the elements are.
#[test]
fn rows_in_local_memory_are_wide() {
    for (ty, llvm) in [("double", "double"), ("float", "float"), ("long", "i64"), ("short", "i16")] {
        let source = format!(
            "kernel void k(global {ty} *x, local volatile {ty} *s) {{
                size_t t = get_local_id(0);
                s[t] = x[t];
                if (t < 5) s[t] += s[t + 8];
                x[t] = s[t];
            }}"
        );
        let [code] = stages(&build(&source), 16, ["codegen.ll"]);
        let accesses = |what: &str| code.lines().filter(|line| line.contains(what)).count();
        assert!(accesses(&format!("load <16 x {llvm}>")) > 0, "{code}");
        // AVX2 has masked loads of its own, and none of elements of two bytes.
        if llvm != "i16" || std::is_x86_feature_detected!("avx512bw") {
            assert!(accesses("@llvm.masked.load") + accesses("@llvm.x86.avx.maskload") > 0, "{code}");
            assert!(accesses("@llvm.masked.store") > 0, "{code}");
        }
        assert_eq!(accesses(&format!("load volatile {llvm}")), 0, "{code}");
        assert_eq!(accesses(&format!("store volatile {llvm}")), 0, "{code}");
    }
}

/// Global volatile accesses stay volatile, and those of some lanes or with elements between them are one a lane.
#[test]
fn global_volatile_accesses_stay_volatile() {
    let source = "kernel void k(global volatile int *x, global volatile int *y) {
        size_t i = get_global_id(0);
        int a = x[i];
        y[i] = a;
        if (a > 3) y[3 * i] = x[2 * i];
    }";
    let [code] = stages(&build(source), 8, ["codegen.ll"]);
    let accesses = |what: &str| code.lines().filter(|line| line.contains(what)).count();
    assert!(accesses("load volatile <8 x i32>") > 0 && accesses("store volatile <8 x i32>") > 0, "{code}");
    assert!(accesses("load volatile i32") > 0 && accesses("store volatile i32") > 0, "{code}");
    assert_eq!(accesses("@llvm.masked"), 0, "{code}");
}
