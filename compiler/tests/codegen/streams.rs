//! Stores past the caches: through which pointers, and which of them.

use crate::gangs::stages_with;
use crate::host_code::build;
use lockstep_ir::analysis::nontemporal::find_streams;
use lockstep_ir::ir::Kernel;
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::Gangs;
use lockstep_protocol::launch_facts::{LaunchFacts, LocalSize};
use lockstep_protocol::parameters::Input;
use lockstep_protocol::program_metadata::Streams;
use lockstep_protocol::types::Type;

/// The parameters' letters of some inputs.
fn letters(kernel: &Kernel, inputs: u32) -> String {
    let param = |&(input, _): &(Input, Type)| match input {
        Input::Value { param, .. } => b"abcdn"[param as usize] as char,
        _ => '?',
    };
    let inputs = (0..32).zip(&kernel.inputs).filter(|(bit, _)| inputs >> bit & 1 == 1);
    inputs.map(|(_, input)| param(input)).collect()
}

/// Through which pointers a kernel streams, and what a work-item touches.
fn of(body: &str) -> (String, u32) {
    let source = format!(
        "kernel void k(global const float *a, global float *b, global float4 *c, global float *d, int n) {{
             size_t i = get_global_id(0); {body}
         }}"
    );
    let module = build(&source, "-cl-std=CL3.0");
    let Streams { written, bytes } = find_streams(&module.kernels[0]);
    (letters(&module.kernels[0], written), bytes)
}

#[test]
fn pointers_that_are_only_written_to_once() {
    let found = |written: &str, bytes| (written.to_string(), bytes);
    assert_eq!(of("b[i] = a[i]; c[i] = 1;"), found("bc", 24));
    assert_eq!(of("b[i] = a[i]; if (n > 3) d[i + 1] = a[i + 7];"), found("bd", 16), "on one way only");
    assert_eq!(of("float sum = 0; for (int k = 0; k < n; k++) sum += a[i + k]; b[i] = sum;"), found("b", 8));
    assert_eq!(of("b[i] += a[i]; d[i] = 1;"), found("d", 16), "b is read");
    assert_eq!(of("for (int k = 0; k < n; k++) b[i + k] = a[i]; d[i] = a[i];").0, "d", "b in a loop");
    assert_eq!(of("global float *p = n > 3 ? b : d; p[i] = a[i];").0, "", "one of two");
    assert_eq!(of("b[i] = a[i]; volatile global float *p = d; *p = 1;").0, "");
    assert_eq!(of("global float *p = *(global float *global *)c; b[i] = p[i];").0, "", "an address from memory");
    assert_eq!(of("b[i] = a[i]; barrier(CLK_GLOBAL_MEM_FENCE); d[i] = 1;").0, "", "work-items wait");
    assert_eq!(of("b[i] = a[i]; atomic_inc((global int *)d);").0, "", "work-items speak to each other");
    assert_eq!(of("b[i] = a[i]; if (i == 7) printf(\"seven\");").0, "");
}

/// How many stores of a kernel go past the caches, in launches of groups of this size.
fn past(body: &str, width: u32, streams: &str, local: [u32; 3]) -> usize {
    let source = format!(
        "kernel void k(global const float *a, global float *b, global uchar *c, global float4 *d) {{
             size_t i = get_global_id(0); {body}
         }}"
    );
    let module = build(&source, "-cl-std=CL3.0");
    let kernel = &module.kernels[0];
    let bits = (0..kernel.inputs.len() as u32).map(|bit| 1 << bit);
    let streams = bits.filter(|&bit| streams.contains(&letters(kernel, bit))).sum();
    let launch = LaunchFacts { streams, local: LocalSize::Exactly(local), ..LaunchFacts::default() };
    let vectorize = Vectorize::Gangs(Gangs::of_width(width));
    let [llvm] =
        stages_with(&module, CompileOptions { vectorize, launch, ..CompileOptions::default() }, ["codegen.ll"]);
    let count = llvm.lines().filter(|line| line.contains("store ") && line.contains("!nontemporal")).count();
    let fences = llvm.matches("call void @llvm.x86.sse.sfence()").count();
    assert_eq!(fences, usize::from(streams != 0), "{llvm}");
    count
}

#[test]
fn whole_lines_one_behind_the_other() {
    let line = [256, 1, 1];
    assert_eq!(past("b[i] = a[i];", 16, "b", line), 1);
    assert_eq!(past("b[i] = a[i];", 16, "", line), 0, "the launch does not stream");
    assert_eq!(past("b[i] = a[i];", 8, "b", line), 0, "half a line");
    assert_eq!(past("b[i] = a[i];", 16, "b", [16, 16, 1]), 0, "rows");
    assert_eq!(past("b[i] = a[i]; c[i] = 1;", 16, "bc", line), 1, "bytes of c are a quarter of a line");
    assert_eq!(past("b[i] = a[i]; c[i] = 1;", 64, "c", line), 1, "only c");
    assert_eq!(past("d[i] = a[i];", 8, "d", line), 1, "vectors");
    assert_eq!(past("((global float2 *)d)[2 * i] = a[i];", 8, "d", line), 0, "halves of vectors");
    assert_eq!(past("b[i * 2] = a[i];", 16, "b", line), 0, "every other element");
    assert_eq!(past("if (a[i] > 0) b[i] = 1;", 16, "b", line), 0, "some lanes");
}
