//! What LLVM is told beside the operations: what cannot alias, what does not change, how exact floats are, which
//! loops to leave alone.

use crate::gangs::{stages, stages_with};
use lockstep_compiler::frontend::{FrontendConfig, compile_source, link_program};
use lockstep_compiler::pipeline::load;
use lockstep_ir::ir::Module;
use lockstep_protocol::build_options::{BuildOptions, Stage};
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::Gangs;
use lockstep_protocol::launch_facts::{LaunchFacts, LocalSize};

/// The module of a program with one kernel.
pub fn build(source: &str, options: &str) -> Module {
    let options = BuildOptions::parse(options, Stage::Build).unwrap();
    let object = compile_source(&FrontendConfig::default(), source.as_bytes(), &[], &options);
    let program = link_program(&[&object.unwrap_or_else(|error| panic!("{error}"))], &options);
    load(&program.unwrap_or_else(|error| panic!("{error}"))).unwrap_or_else(|error| panic!("{error}"))
}

/// The flags of an operation on vectors in LLVM IR as it is generated, of each that there is.
fn flags(llvm: &str, operation: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in llvm.lines().filter(|line| line.contains("<8 x float>")) {
        let Some((_, rest)) = line.split_once(&format!("= {operation} ")) else { continue };
        let (flags, _) = rest.split_once("<8 x float>").unwrap();
        found.push(flags.trim().to_string());
    }
    found.dedup();
    found
}

#[test]
fn build_options_reach_vectors() {
    let source = "kernel void k(global float *a, global const float *b) {
        size_t i = get_global_id(0);
        float product = a[i] * b[i];
        a[i] = product + 3.0f;
    }";
    // Full gangs, and those at the end of a row: lanes without a work-item may compute what is no number.
    for (options, full, partial) in [
        ("", "", ""),
        ("-cl-no-signed-zeros", "nsz", "nsz"),
        ("-cl-finite-math-only", "nnan ninf", ""),
        ("-cl-unsafe-math-optimizations", "reassoc nsz arcp contract afn", "reassoc nsz arcp contract afn"),
        ("-cl-fast-relaxed-math", "fast", "reassoc nsz arcp contract afn"),
    ] {
        let [llvm] = stages(&build(source, options), 8, ["codegen.ll"]);
        let mut expected = vec![full.to_string(), partial.to_string()];
        expected.dedup();
        assert_eq!([flags(&llvm, "fmul"), flags(&llvm, "fadd")], [expected.clone(), expected], "{options}: {llvm}");
    }
}

/// Products and sums of one expression are one operation, those of several are not.
#[test]
fn contraction_within_expressions() {
    let kernel = |body: &str| format!("kernel void k(global float *a) {{ size_t i = get_global_id(0); {body} }}");
    let together = kernel("a[i] = a[i] * a[i + 9] + 3.0f;");
    let apart = kernel("float product = a[i] * a[i + 9]; a[i] = product + 3.0f;");
    let off = format!("#pragma OPENCL FP_CONTRACT OFF\n{together}");
    for (source, options, fused) in [
        (&together, "", true),
        (&apart, "", false),
        (&off, "", false),
        (&together, "-cl-mad-enable", true),
        (&apart, "-cl-mad-enable", true),
    ] {
        let [llvm] = stages(&build(source, options), 8, ["codegen.ll"]);
        let contracts = |operation| flags(&llvm, operation).iter().any(|flags| flags.contains("contract"));
        let found = llvm.contains("@llvm.fmuladd.v8f32(") || contracts("fmul") && contracts("fadd");
        assert_eq!(found, fused, "{options}: {source}\n{llvm}");
    }
}

/// A product behind a fence of arithmetic is rounded before anything is added to it, whatever the options allow.
#[test]
fn contraction_across_fences() {
    let kernel = |product: &str| {
        format!("kernel void k(global float *a) {{ size_t i = get_global_id(0); a[i] = {product} + 3.0f; }}")
    };
    for (product, fused) in [("a[i] * a[i + 9]", true), ("__arithmetic_fence(a[i] * a[i + 9])", false)] {
        let [llvm, assembly] =
            stages(&build(&kernel(product), "-cl-fast-relaxed-math -cl-mad-enable"), 16, ["codegen.ll", "optimize.s"]);
        assert_eq!(assembly.contains("vfmadd"), fused, "{product}: {assembly}");
        assert_eq!(llvm.contains("@llvm.arithmetic.fence.v16f32("), !fused, "{product}: {llvm}");
    }
}

/// What is read through a restrict pointer that nothing is written through does not change.
#[test]
fn restrict_pointers() {
    let kernel = |restrict: &str, body: &str| {
        format!("kernel void k(global const float *{restrict} in, global float *{restrict} out) {{ {body} }}")
    };
    let scale = "out[get_global_id(0)] *= in[3];";
    let is_invariant = |source: &str| {
        let [llvm] = stages(&build(source, ""), 8, ["codegen.ll"]);
        llvm.lines().find(|line| line.contains("= load float,")).unwrap().contains("!invariant.load")
    };
    assert!(is_invariant(&kernel("restrict", scale)));
    assert!(!is_invariant(&kernel("", scale)));
    // At a barrier, another work-item may write what is read.
    let barrier = format!("{scale} barrier(CLK_GLOBAL_MEM_FENCE); out[get_global_id(0) ^ 1] *= in[4];");
    let [llvm] = stages(&build(&kernel("restrict", &barrier), ""), 8, ["codegen.ll"]);
    assert!(!llvm.contains("argument 0"), "{llvm}");
}

/// A pointer that may be one of two arguments is neither's.
#[test]
fn pointers_of_two_arguments() {
    let source = "kernel void k(global float *restrict a, global float *restrict b, int n) {
        global float *either = n > 3 ? a : b;
        either[get_global_id(0)] = a[n];
    }";
    let [llvm] = stages(&build(source, ""), 8, ["codegen.ll"]);
    let marks = |part: &str| {
        let line = llvm.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("{llvm}"));
        let (_, rest) = line.split_once("!alias.scope ").unwrap();
        let node = rest.split(',').next().unwrap();
        let list = llvm.lines().find(|line| line.starts_with(&format!("{node} = "))).unwrap();
        list.matches('!').count() - 2
    };
    assert_eq!(marks("= load float,"), 2, "the space and the argument: {llvm}");
    assert_eq!(marks("store <8 x float>"), 1, "the space: {llvm}");
}

/// Constant memory does not change, wherever lanes read it.
#[test]
fn constant_memory() {
    let source = "kernel void k(constant float *table, global int *at, global float *out) {
        size_t i = get_global_id(0);
        out[i] = table[at[i]] + table[i] + table[3];
    }";
    let [llvm] = stages(&build(source, ""), 8, ["codegen.ll"]);
    for part in ["@llvm.masked.gather.", "load <8 x float>", "load float"] {
        let line = llvm.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("{part}: {llvm}"));
        assert!(line.contains("!invariant.load"), "{line}");
    }
}

/// Of gangs only the one at the end has lanes beyond it, so the others run without masks; where data decide, lanes part
/// more often.
#[test]
fn ends_of_arrays() {
    let whole_stores = |condition: &str| {
        let source = format!(
            "kernel void k(global const float *a, global float *b, int n) {{
                int i = get_global_id(0); if ({condition}) b[i] = a[i];
            }}"
        );
        let vectorize = Vectorize::Gangs(Gangs::of_width(8));
        // Full gangs, and those at the end of a row, whose lanes are not all there.
        let launch = LaunchFacts { full_groups: true, local: LocalSize::Rows, ..LaunchFacts::default() };
        let options = CompileOptions { vectorize, launch, simd: Some(256), ..CompileOptions::default() };
        let [llvm] = stages_with(&build(&source, ""), options, ["codegen.ll"]);
        llvm.matches("store <8 x float>").count()
    };
    assert_eq!(whole_stores("i < n"), 1);
    assert_eq!(whole_stores("a[i] < n"), 0);
}

/// The loops over rows are not copied, and so the gang at a row's end is there once.
#[test]
fn loops_over_rows_stay() {
    let source = "kernel void k(global float *a) { a[get_global_id(0)] += 1; }";
    let [llvm] = stages(&build(source, ""), 16, ["optimize.ll"]);
    // Registers of half as many lanes are loaded one after the other.
    let loads = llvm.matches("call <16 x float> @llvm.masked.load.").count();
    assert_eq!(loads + llvm.matches("@llvm.x86.avx.maskload.ps.256(").count() / 2, 1, "{llvm}");
}
