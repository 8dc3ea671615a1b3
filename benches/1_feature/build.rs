//! How long a program takes to build: 30 kernels, from source, new to the driver's cache and in it, and its first launches;
//! one kernel with and without functions of the built-in library; the same program as a SPIR-V module beside its source, and modules of
//! several sizes.

use std::process::Command;
use std::time::Duration;

use lockstep_benches::command_line::read_rounds;
use lockstep_benches::first_result::{KERNELS, many_kernels_source};
use lockstep_benches::intermediate_language::translate_source;
use lockstep_benches::large_module::write_module;
use lockstep_benches::stages::{Stages, TIME, read_programs, sum_stages};
use lockstep_benches::{Spread, line, measure};
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

/// Stages from an input to a program that is linked with the built-in library; before the clean-up.
const TO_LINKED: [&str; 4] = ["clang", "spirv", "read_text", "link"];
/// Stages of LLVM's passes that follow.
const CLEAN_UP: [&str; 1] = ["clean_up"];
/// Sizes of modules in MB.
const MODULE_SIZES: [usize; 5] = [1, 2, 4, 8, 10];
/// Builds of each, as they take long.
const MODULE_ROUNDS: usize = 3;

/// The words that make this program a child, which builds and says on standard error where each build begins.
const BUILD_BOTH: &str = "--build-both";
const BUILD_MODULES: &str = "--build-modules";
/// Stands on standard error before what the driver says of a program.
const BEGIN: &str = "measured:";

fn main() {
    let words: Vec<String> = std::env::args().collect();
    match (words.get(1).map(String::as_str), words.get(2).and_then(|word| word.parse().ok())) {
        (Some(BUILD_BOTH), Some(rounds)) => return build_both(rounds),
        (Some(BUILD_MODULES), Some(rounds)) => return build_modules(rounds),
        _ => {}
    }
    let rounds = read_rounds(15);
    measure_driver(rounds);
    compare_languages(rounds);
    measure_modules(rounds.min(MODULE_ROUNDS));
}

/// What a child does: it builds programs from OpenCL C and, each after that, from SPIR-V.
fn build_both(rounds: usize) {
    let setup = Setup::new();
    // The first round loads what the driver loads once.
    for text in 0..=rounds as u64 {
        let source = many_kernels_source(text);
        let module = translate_source(&source).expect("clang-22 and llc-22 translate it");
        eprintln!("{BEGIN}");
        drop(setup.context.build(&source, ""));
        eprintln!("{BEGIN}");
        drop(setup.context.build_module(&module));
    }
}

/// What a child does: it builds modules of all sizes in turn.
fn build_modules(rounds: usize) {
    let setup = Setup::new();
    let modules = MODULE_SIZES.map(|size| write_module(size * 1_000_000));
    for _ in 0..rounds {
        for module in &modules {
            eprintln!("{BEGIN}");
            drop(setup.context.build_module(module));
        }
    }
}

/// Runs this program as a child that builds; what the driver says of each program.
fn run_child(what: &str, rounds: usize) -> Vec<Stages> {
    let program = std::env::current_exe().expect("this program has a path");
    let mut child = Command::new(program);
    child.args([what, &rounds.to_string()]).env(TIME, "1").env(CACHE, "off");
    let output = child.output().expect("this program can be run");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "a child failed: {said}");
    read_programs(&said, BEGIN)
}

/// Prints a row of times in milliseconds; gives their median.
fn print_stages(what: &str, times: impl Iterator<Item = f64>) -> Duration {
    let spread = Spread::of(times.map(|time| Duration::from_secs_f64(time / 1e3)).collect());
    line(what, spread);
    spread.median
}

/// The program of many kernels from OpenCL C and from SPIR-V, in turn.
fn compare_languages(rounds: usize) {
    let programs = run_child(BUILD_BOTH, rounds);
    // Drivers that do not say what their stages take have no rows.
    let (pairs, _) = programs.as_chunks::<2>();
    let pairs: Vec<&[Stages; 2]> =
        pairs.iter().skip(1).filter(|pair| pair.iter().all(|stages| !stages.is_empty())).collect();
    if pairs.is_empty() {
        return;
    }
    for (what, stages) in [("to the linked module", &TO_LINKED[..]), ("LLVM's clean-up", &CLEAN_UP)] {
        let medians = ["OpenCL C", "SPIR-V"].into_iter().enumerate().map(|(index, language)| {
            let times = pairs.iter().map(|pair| sum_stages(&pair[index], stages));
            print_stages(&format!("{KERNELS} kernels from {language}, {what}"), times)
        });
        let medians: Vec<f64> = medians.map(|median| median.as_secs_f64()).collect();
        line("    SPIR-V's share", format!("{:>9.2}", medians[1] / medians[0]));
    }
}

/// Modules of several sizes: the reader of SPIR-V, and the whole front end.
fn measure_modules(rounds: usize) {
    let programs = run_child(BUILD_MODULES, rounds);
    if programs.iter().any(Stages::is_empty) {
        return;
    }
    for (what, stages) in
        [("the reader", &["spirv"][..]), ("to the linked module", &TO_LINKED), ("LLVM's clean-up", &CLEAN_UP)]
    {
        for (index, size) in MODULE_SIZES.into_iter().enumerate() {
            let times = programs.iter().skip(index).step_by(MODULE_SIZES.len());
            print_stages(&format!("a module of {size} MB, {what}"), times.map(|program| sum_stages(program, stages)));
        }
    }
}

fn measure_driver(rounds: usize) {
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
