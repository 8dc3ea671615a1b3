//! Mistakes of the driver: an error that names pass, kernel and line, or the kernel's simplest form.

use crate::host_code::build;
use crate::layouts::input;
use crate::machine::code::{Code, Side};
use lockstep_ir::interp::{self, Arg, Memory, NdRange};
use lockstep_ir::ir::{Function, Module};
use lockstep_ir::plan::passes::{PASSES, Pass, Run, find_pass};
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::Gangs;
use lockstep_protocol::launch_facts::LaunchFacts;

const SOURCE: &str = "kernel void sums(global const int *in, global int *out) {
    local int kept[16];
    size_t i = get_local_id(0);
    kept[i] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (kept[15 - i] > 0)
        out[get_global_id(0)] = kept[i] + kept[15 - i];
}
";

/// Work-items of a group.
const LOCAL: u64 = 16;

/// The passes, with one that makes a mistake in regions in the place of another.
fn with_mistake(place: &str, run: fn(&mut Function)) -> Vec<Pass> {
    // What a row runs is a function; which mistake it makes is data.
    thread_local! {
        static MISTAKE: std::cell::Cell<Option<fn(&mut Function)>> = const { std::cell::Cell::new(None) };
    }
    MISTAKE.set(Some(run));
    let (number, _) = find_pass(PASSES, place).expect("it is in the table");
    let mut table = PASSES.to_vec();
    table[number - 1].run = Run::Region(|body, _, _| {
        if let Some(mistake) = MISTAKE.get() {
            mistake(body);
        }
    });
    table
}

fn panic_on_purpose(_: &mut Function) {
    panic!("on purpose");
}

/// Has an address decide a branch.
#[cfg(debug_assertions)]
fn break_rules(body: &mut Function) {
    use lockstep_ir::ir::{BlockCall, Terminator};

    let entry = body.entry_block();
    let address = *body.blocks[entry].params.first().expect("kernels have arguments");
    let rest = body.add_block();
    body.blocks[rest].terminator = body.blocks[entry].terminator.clone();
    let to = || BlockCall { block: rest, arguments: Vec::new() };
    body.blocks[entry].terminator = Terminator::Branch { condition: address, then_to: to(), else_to: to() };
}

fn options(strict: bool) -> CompileOptions {
    let launch = LaunchFacts::of_range([0; 3], [64, 1, 1], [LOCAL, 1, 1]);
    CompileOptions { vectorize: Vectorize::Gangs(Gangs::of_width(8)), launch, strict, ..CompileOptions::default() }
}

/// The mistake for which code is a kernel's simplest form.
fn mistake_of(code: &Code) -> String {
    code.compiled.mistake.as_ref().map(ToString::to_string).unwrap_or_default()
}

/// Compiles a kernel by a table and compares what it does with the interpreter.
fn check_results<'a>(table: &[Pass], module: &'a Module, name: &str, options: &CompileOptions) -> Code<'a> {
    let range = NdRange::new(&[64], &[LOCAL]);
    let arguments = [Arg::Buffer(0), Arg::Buffer(1)];
    let buffers = vec![input(64), vec![0; 4 * 64]];
    let mut expected = Memory::new(buffers.clone());
    interp::run_kernel(module, name, &range, &arguments, &mut expected).unwrap_or_else(|error| panic!("{error}"));
    let code = Code::compile_by(table, module, name, options).unwrap_or_else(|error| panic!("{error}"));
    let mut found = Memory::new(buffers);
    code.run(name, &range, &arguments, &mut found, Side::Rear).unwrap_or_else(|error| panic!("{error}"));
    assert!(found.buffers == expected.buffers, "{name}: other results");
    code
}

#[test]
fn a_mistake_names_pass_kernel_and_line() {
    let module = build(SOURCE, "-cl-std=CL3.0");
    let table = with_mistake("interleaved_access_groups", panic_on_purpose);
    let error = Code::compile_by(&table, &module, "sums", &options(true)).map(|_| ()).expect_err("a pass panics");
    assert!(error.starts_with("internal error in interleaved_access_groups of kernel \"sums\""), "{error}");
    assert!(error.ends_with(": on purpose"), "{error}");
}

#[test]
fn kernels_survive_mistakes_in_their_simplest_form() {
    let module = build(SOURCE, "-cl-std=CL3.0");
    for place in ["interleaved_access_groups", "boscc", "coherence_versions", "trivial_branches", "linearize"] {
        let table = with_mistake(place, panic_on_purpose);
        let said = mistake_of(&check_results(&table, &module, "sums", &options(false)));
        assert!(said.starts_with(&format!("internal error in {place} of kernel \"sums\"")), "{said}");
    }
}

#[test]
fn sub_groups_survive_mistakes_in_gangs() {
    let module = build(include_str!("sub_groups.cl"), "-cl-std=CL3.0 -DATTRIBUTE=");
    for name in ["parted", "rounds", "exchanged"] {
        let table = with_mistake("interleaved_access_groups", panic_on_purpose);
        let options = CompileOptions { report: true, ..options(false) };
        let code = check_results(&table, &module, name, &options);
        let said = mistake_of(&code);
        assert!(said.starts_with("internal error in interleaved_access_groups"), "{said}");
        let report = code.compiled.report.as_ref().expect("it was asked for").to_string();
        let wanted = format!("kernel {name}: 16 work-items at a time along x, naive (its simplest form: {said})");
        assert_eq!(report.lines().next(), Some(wanted.as_str()));
    }
}

/// Rules are checked where assertions are, as in cargo's test profile.
#[cfg(debug_assertions)]
#[test]
fn broken_rules_are_mistakes_where_they_are_checked() {
    let module = build(SOURCE, "-cl-std=CL3.0");
    let table = with_mistake("interleaved_access_groups", break_rules);
    let error = Code::compile_by(&table, &module, "sums", &options(true)).map(|_| ()).expect_err("rules are broken");
    assert!(error.starts_with("internal error in interleaved_access_groups of kernel \"sums\""), "{error}");
    assert!(error.contains("rules are broken, the first: "), "{error}");
    check_results(&table, &module, "sums", &options(false));
}

#[test]
fn what_even_the_simplest_form_needs_is_an_error() {
    let module = build(SOURCE, "-cl-std=CL3.0");
    let mut table = PASSES.to_vec();
    let (number, _) = find_pass(PASSES, "barriers").expect("it is in the table");
    table[number - 1].run = Run::Kernel(|_| panic!("on purpose"));
    let error = Code::compile_by(&table, &module, "sums", &options(false)).map(|_| ()).expect_err("it panics again");
    assert!(error.starts_with("internal error in barriers of kernel \"sums\""), "{error}");
}

/// Each pass that has run leaves the kernel under its number in the table.
#[test]
fn dumps_are_numbered_as_the_table_is() {
    let module = build(SOURCE, "-cl-std=CL3.0");
    let folder = std::env::temp_dir().join(format!("lockstep-dumps-{}", std::process::id()));
    let options = CompileOptions { dump: Some(folder.clone()), ..options(true) };
    let code = Code::compile(&module, "sums", &options).unwrap_or_else(|error| panic!("{error}"));
    let entries = std::fs::read_dir(&folder).expect("a folder");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a plain name")).collect();
    names.sort();
    std::fs::remove_dir_all(&folder).expect("removed");
    let is_timed = |name: &str| code.compiled.times().iter().any(|(known, _)| *known == name);
    let mut wanted: Vec<String> = (1..)
        .zip(PASSES)
        .filter(|(_, pass)| is_timed(pass.name))
        .map(|(number, pass)| format!("sums.{number:02}-{}.pir", pass.name))
        .collect();
    assert!(wanted.len() > 20, "{wanted:?}");
    let after = PASSES.len() + 1;
    wanted.push(format!("sums.{after}-codegen.ll"));
    wanted.extend(["ll", "s"].map(|kind| format!("sums.{}-optimize.{kind}", after + 1)));
    assert_eq!(names, wanted);
}
