//! Calls through pointers do what the same program does that chooses the function by a `switch`: interpreted, and as machine code.

use crate::calls::{compare_runs, write_call_tree};
use crate::layouts::build;
use lockstep_compiler::frontend::{FrontendConfig, compile_source, link_program};
use lockstep_compiler::pipeline::load;
use lockstep_ir::interp::NdRange;
use lockstep_ir::ir::Module;
use lockstep_protocol::build_options::{BuildOptions, Stage};

const ALLOWED: &str = "#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable\n";

/// Compares a program with pointers with one that does the same without.
fn check_same(pointers: &str, without: &str) {
    let pointers = format!("{ALLOWED}{pointers}");
    compare_programs(&build(&pointers), &pointers, without);
}

fn compare_programs(module: &Module, source: &str, without: &str) {
    let range = NdRange::new(&[70], &[35]);
    let (found, _) = compare_runs(module, source, &range, &[]);
    let (expected, _) = compare_runs(&build(without), without, &range, &[]);
    assert!(found.buffers == expected.buffers, "other results than with a switch:\n{source}");
}

#[test]
fn lanes_mean_different_functions() {
    let functions = "int sum(int a, int b) { return a + b; } int product(int a, int b) { return a * b; }
        int last(int a, int b) { for (int i = 0; i < (a & 7); i++) b = b * 3 + i; return b; }\n";
    let pointers = "typedef int (*chosen_t)(int, int);
        constant chosen_t table[3] = { sum, product, last };
        kernel void k(global int *out, global const int *in) {
            size_t i = get_global_id(0);
            out[i] = table[(in[i] & 0xff) % 3](in[i], out[i]) + table[in[0] & 1](7, in[i]);
        }";
    let without = "int choose(int which, int a, int b) {
            switch (which) { case 0: return sum(a, b); case 1: return product(a, b); default: return last(a, b); }
        }
        kernel void k(global int *out, global const int *in) {
            size_t i = get_global_id(0);
            out[i] = choose((in[i] & 0xff) % 3, in[i], out[i]) + choose(in[0] & 1, 7, in[i]);
        }";
    check_same(&format!("{functions}{pointers}"), &format!("{functions}{without}"));
}

#[test]
fn pointers_that_mean_no_function_call_nothing() {
    // Null, a function of another type, and a number that no function has.
    let pointers = "typedef void (*effect_t)(global int *, int); typedef int (*value_t)(int);
        void add(global int *at, int x) { *at += x; } void take(global int *at, int x) { *at -= 2 * x; }
        int next(int x) { return x + 1; }
        kernel void k(global int *out, global const int *in) {
            size_t i = get_global_id(0);
            effect_t effects[4] = { add, 0, take, (effect_t)(value_t)next };
            effects[in[i] & 3](out + i, in[i]);
            value_t value = i % 3 ? next : (value_t)(ulong)(1000 + i);
            out[i] += value(in[i]) * (value == next ? 1 : 100);
        }";
    let without = "kernel void k(global int *out, global const int *in) {
            size_t i = get_global_id(0);
            switch (in[i] & 3) { case 0: out[i] += in[i]; break; case 2: out[i] -= 2 * in[i]; }
            out[i] += i % 3 ? in[i] + 1 : 0;
        }";
    check_same(pointers, without);
}

#[test]
fn structs_are_passed_and_returned() {
    let types = "typedef struct { int a[5]; int b; } pair_t;
        pair_t grow(pair_t p, int x) { p.a[2] += x; p.b = 3; return p; }
        pair_t turn(pair_t p, int x) { p.b = p.a[x & 3]; p.a[4] = x; return p; }\n";
    let kernel = |call: &str| {
        format!(
            "kernel void k(global int *out, global const int *in) {{
                size_t i = get_global_id(0);
                pair_t p = {{ {{ in[i], 2, in[i + 1], 4, 5 }}, 6 }};
                pair_t q = {call};
                out[i] = q.a[0] + q.a[2] * 3 + q.a[4] * 5 + q.b * 7 + p.a[2];
            }}"
        )
    };
    let pointers = format!(
        "typedef pair_t (*change_t)(pair_t, int); {}",
        kernel("(in[i] & 1 ? (change_t)grow : (change_t)turn)(p, in[i])")
    );
    let without = kernel("in[i] & 1 ? grow(p, in[i]) : turn(p, in[i])");
    check_same(&format!("{types}{pointers}"), &format!("{types}{without}"));
}

#[test]
fn what_is_called_may_stay_a_function() {
    let functions = write_call_tree("int", "int y", "x", "return x * y + 5;");
    let pointers = "typedef int (*chosen_t)(int, int);
        kernel void k(global int *out, global const int *in) {
            size_t i = get_global_id(0);
            chosen_t chosen = in[i] % 3 == 0 ? f16 : in[i] % 3 == 1 ? f15 : 0;
            out[i] = chosen(in[i], 3);
        }";
    let without = "kernel void k(global int *out, global const int *in) {
            size_t i = get_global_id(0);
            out[i] = in[i] % 3 == 0 ? f16(in[i], 3) : in[i] % 3 == 1 ? f15(in[i], 3) : 0;
        }";
    let source = format!("{ALLOWED}{functions}{pointers}");
    let module = build(&source);
    assert!(!module.functions_called_by(&module.kernels[0]).is_empty(), "everything is inlined");
    compare_programs(&module, &source, &format!("{functions}{without}"));
}

#[test]
fn virtual_functions_of_cpp() {
    let pointers = "struct shape { virtual int area(int x) const { return x; } };
        struct square : shape { int side; int area(int x) const override { return side * side + x; } };
        struct cube : square { int area(int x) const override { return 6 * square::area(-x); } };
        kernel void k(global int *out, global const int *in) {
            size_t i = get_global_id(0);
            shape none; square flat; cube solid;
            flat.side = in[i]; solid.side = in[i] + 1;
            const shape *seen = in[i] & 1 ? (const shape *)&flat : in[i] & 2 ? (const shape *)&solid : &none;
            out[i] = seen->area(3);
        }";
    let without = "kernel void k(global int *out, global const int *in) {
            size_t i = get_global_id(0);
            int x = in[i];
            out[i] = x & 1 ? x * x + 3 : x & 2 ? 6 * ((x + 1) * (x + 1) - 3) : 3;
        }";
    let source = format!("{ALLOWED}{pointers}");
    let options = BuildOptions::parse("-cl-std=CLC++2021", Stage::Build).unwrap();
    let object = compile_source(&FrontendConfig::default(), source.as_bytes(), &[], &options).unwrap();
    let module = load(&link_program(&[&object], &options).unwrap()).unwrap();
    compare_programs(&module, &source, without);
}
