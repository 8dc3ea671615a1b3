//! How long a program takes to build: 30 kernels, from source, new to the driver's cache and in it, and its first launches;
//! one kernel with and without functions of the built-in library.

use lockstep_benches::command_line::read_rounds;
use lockstep_benches::first_result::{KERNELS, many_kernels_source};
use lockstep_benches::{line, measure};
use lockstep_conformance::loader::CACHE;
use lockstep_conformance::{Program, Setup, run};

/// What the built-in library adds to a build.
const LIBRARY: [(&str, &str); 4] = [
    ("without built-in functions", "x * 2.0f"),
    ("with one of floats", "sin(x)"),
    ("with six of floats", "sin(x) + cos(x) + pow(x, 2.5f) + exp(x) + log(x) + tanh(x)"),
    (
        "with six of doubles",
        "sin((double)x) + cos((double)x) + pow((double)x, 2.5) + exp((double)x) + log((double)x) + tanh((double)x)",
    ),
];

fn main() {
    let rounds = read_rounds(15);
    // An empty cache of its own, whatever others have left.
    let cache = std::env::temp_dir().join(format!("lockstep-bench-{}", std::process::id()));
    // SAFETY: no other thread runs yet, and the driver is not loaded.
    unsafe { std::env::set_var(CACHE, &cache) };
    let setup = Setup::new();
    let buffer = setup.context.zeros::<f32>(1024);
    // The first build also loads what the driver loads once.
    let mut text = 0;
    let mut fresh = || {
        text += 1;
        many_kernels_source(text)
    };
    let cold = measure(1, rounds, || drop(setup.context.build(&fresh(), "")));
    line(&format!("build {KERNELS} kernels, new source"), cold);

    let same = many_kernels_source(0);
    let again = measure(1, rounds, || drop(setup.context.build(&same, "")));
    line(&format!("build {KERNELS} kernels, from the cache"), again);

    for (what, value) in LIBRARY {
        let mut text = 0;
        let source = |text| {
            format!(
                "// {text}\nkernel void k(global float *a) {{ size_t i = get_global_id(0); float x = a[i]; a[i] = {value}; }}"
            )
        };
        let built = measure(1, rounds, || {
            text += 1;
            drop(setup.context.build(&source(text), ""));
        });
        line(&format!("build one kernel {what}"), built);
    }

    let launch = |program: Program| {
        let kernel = program.kernel("work_7");
        kernel.set(0, &buffer);
        run(&setup.queue, &kernel, &[1024], &[64]);
    };
    let mut programs: Vec<_> = (0..=rounds).map(|_| setup.context.build(&fresh(), "")).collect();
    let first = measure(1, rounds, || launch(programs.pop().expect("one program a round")));
    line("first launch of one of them (code generation)", first);
    let mut programs: Vec<_> = (0..=rounds).map(|_| setup.context.build(&same, "")).collect();
    let first = measure(1, rounds, || launch(programs.pop().expect("one program a round")));
    line("first launch of one of them, from the cache", first);
    // An application that makes all its kernel objects and launches one after the other.
    let launch_all = |program: Program| {
        let kernels: Vec<_> = (0..KERNELS).map(|number| program.kernel(&format!("work_{number}"))).collect();
        for kernel in &kernels {
            kernel.set(0, &buffer);
            run(&setup.queue, kernel, &[1024], &[64]);
        }
    };
    let rounds = rounds.div_ceil(3);
    let mut programs: Vec<_> = (0..=rounds).map(|_| setup.context.build(&fresh(), "")).collect();
    let all = measure(1, rounds, || launch_all(programs.pop().expect("one program a round")));
    line("first launches of all of them, one after the other", all);
    // What is left behind is in the folder for temporary files.
    let _ = std::fs::remove_dir_all(&cache);
}
