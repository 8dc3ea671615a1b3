//! Compiling and linking leave nothing behind. Alone in its program, so that no other test moves the memory measured.

use inkwell::context::Context;
use lockstep_compiler::frontend::{FrontendConfig, compile_source, link_program, prepare_module};
use lockstep_protocol::build_options::BuildOptions;

/// Resident memory in KiB.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4
}

/// Runs `round` often and says by how many KiB the process grew, after it had time to reach its size.
fn growth(rounds: u32, mut round: impl FnMut()) -> u64 {
    (0..rounds / 4).for_each(|_| round());
    let before = resident();
    (0..rounds).for_each(|_| round());
    resident().saturating_sub(before)
}

#[test]
fn memory_does_not_grow() {
    let (config, options) = (FrontendConfig::default(), BuildOptions::default());
    let source = b"kernel void f(global float* a, local float* b) {
        b[get_local_id(0)] = sin(a[get_global_id(0)]);
        barrier(CLK_LOCAL_MEM_FENCE);
        a[get_global_id(0)] = b[0] + exp(b[1]);
    }";
    let compilations = growth(40, || drop(compile_source(&config, source, &[], &options).unwrap()));
    assert!(compilations < 512, "40 compilations took {compilations} KiB");

    let object = compile_source(&config, source, &[], &options).unwrap();
    let links = growth(400, || {
        let program = link_program(&[&object], &options).unwrap();
        let context = Context::create();
        drop(prepare_module(&context, &program).unwrap());
    });
    assert!(links < 2048, "400 links took {links} KiB");

    // A program with images goes through its text.
    let much = "x".repeat(100_000);
    let source = format!(
        "constant char text[] = \"{much}\";
         kernel void f(read_only image2d_t i, sampler_t s, global float4* a, int n) {{
             a[n] = read_imagef(i, s, (int2)(text[n], 1));
         }}"
    );
    let with_images = compile_source(&config, source.as_bytes(), &[], &options).unwrap();
    let images = growth(100, || drop(link_program(&[&with_images], &options).unwrap()));
    assert!(images < 2048, "100 links of a program with images took {images} KiB");

    let open =
        compile_source(&config, b"int g(int); kernel void f(global int* a) { *a = g(*a); }", &[], &options).unwrap();
    let failures = growth(400, || drop(link_program(&[&open], &options).unwrap_err()));
    assert!(failures < 1024, "400 failed links took {failures} KiB");
    let twice = growth(400, || drop(link_program(&[&object, &object], &options).unwrap_err()));
    assert!(twice < 1024, "400 links of one object with itself took {twice} KiB");
}
