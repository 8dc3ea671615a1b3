//! Exact output of passes: what is behind the line `; output: PASS`, as comments, to the file's end.
//!
//! A test is called as the passes of `plan::passes` that it runs, one after the other: `divergent_loops, linearize`; or as
//! parts of passes: `sccp_apply, simplify, dce`. They get gangs of 16 along x on registers of 512 bits, in launches of which nothing is known, unless the file says otherwise:
//! `; gangs: width(4) layout(linear) configuration(naive)`, `; passes:` as `LOCKSTEP_PASSES`, `; launch:` (`filetest/analyses.rs`), `; bounds:
//! few_insts(0) most_copies(0)`, and of their loops `; loops: count` or, for each one by its number, `; loops: counted(entries,
//! entries of lanes,iterations of gangs,iterations of lanes)`.
//!
//! The form of `scalar_replacement` is `; scalar_replacement: FORM` as `LOCKSTEP_SCALAR_REPLACEMENT`, and `; vectorize: scalar` has work-items
//! run one after the other.
//!
//! With `BLESS=1` in the environment the files are rewritten to what the passes give.

use super::analyses::{launch_facts, words};
use lockstep_ir::analysis::sccp::find_constants;
use lockstep_ir::interp::{Arg, Memory, NdRange, PlannedGangs, STEP_LIMIT, run_gangs, run_planned};
use lockstep_ir::ir::{Function, Kernel, Module};
use lockstep_ir::plan::Widening;
use lockstep_ir::plan::function_forms::FunctionForms;
use lockstep_ir::plan::kernel_state::{KernelState, Request};
use lockstep_ir::plan::pass_runner::{run_pass, run_passes};
use lockstep_ir::plan::passes::{PASSES, Pass, find_pass};
use lockstep_ir::report::Notes;
use lockstep_ir::target::TargetInfo;
use lockstep_ir::testing::run_line;
use lockstep_ir::testing::script::Script;
use lockstep_ir::transform::dce::remove_dead_code;
use lockstep_ir::transform::join_blocks::join_blocks;
use lockstep_ir::transform::sccp_apply::sccp_apply;
use lockstep_ir::transform::simplify::simplify_function;
use lockstep_ir::verify::{Stage, verify_module};
use lockstep_protocol::compile_options::{Bounds, Vectorize};
use lockstep_protocol::configuration::Gangs;
use lockstep_protocol::layout::Layout;
use lockstep_protocol::loop_profile::{LoopCounts, LoopProfile, MOST_COUNTED_LOOPS};
use std::path::Path;

/// Passes that change nothing and without which others know too little: they run before the first that comes after them.
const ANALYSES: [&str; 2] = ["width_selection", "divergence"];

/// A part of passes, which is tested by itself.
type Part = fn(&mut Function);

/// What passes do with what they leave.
const PARTS: [(&str, Part); 4] = [
    ("sccp_apply", put_constants),
    ("join_blocks", join_blocks),
    ("simplify", simplify_function),
    ("dce", remove_dead_code),
];

fn put_constants(function: &mut Function) {
    let constants = find_constants(function, |_| None);
    sccp_apply(function, &constants);
}

/// What a test runs.
enum Tested {
    Passes(Vec<&'static Pass>),
    Parts(Vec<Part>),
}

impl Tested {
    /// What this test runs, if it is one of passes or of their parts.
    fn named(test: &str) -> Option<Tested> {
        let part = |name| PARTS.iter().find(|(part, _)| *part == name).map(|&(_, part)| part);
        if let Some(parts) = test.split(", ").map(part).collect() {
            return Some(Tested::Parts(parts));
        }
        let found: Vec<_> = test.split(", ").map(|name| find_pass(PASSES, name)).collect::<Option<_>>()?;
        let &(first, _) = found.first()?;
        let analyses = ANALYSES.iter().filter_map(|name| find_pass(PASSES, name)).filter(|&(number, _)| number < first);
        Some(Tested::Passes(analyses.chain(found.iter().copied()).map(|(_, pass)| pass).collect()))
    }

    /// The stage whose rules its output keeps.
    fn after(&self) -> Stage {
        match self {
            Tested::Passes(passes) => passes.last().map_or(Stage::Imported, |pass| pass.after),
            Tested::Parts(_) => Stage::Imported,
        }
    }

    fn run(&self, module: &Module, kernel: Kernel, script: &Script) -> Kernel {
        match self {
            Tested::Passes(passes) => {
                let (launch, notes) = (launch_facts(script), Notes::default());
                let mut kernel_state = KernelState::new(module, kernel, &launch, request(script), &notes, PASSES);
                passes.iter().for_each(|pass| run_pass(pass, &mut kernel_state));
                kernel_state.kernel
            }
            Tested::Parts(parts) => {
                let mut kernel = kernel;
                for function in kernel.regions.values_mut() {
                    parts.iter().for_each(|part| part(function));
                }
                kernel
            }
        }
    }
}

/// What a file asks for.
fn request(script: &Script) -> Request {
    let mut gangs = Gangs::of_width(16);
    for (name, argument) in words(script, "gangs") {
        match name {
            "width" => gangs.width = Some(argument.parse().expect("a width")),
            "configuration" => gangs.configuration = argument.parse().expect("a configuration"),
            "layout" => gangs.layout = Some(argument.parse::<Layout>().expect("a layout")),
            _ => panic!("gangs have no {name:?}"),
        }
    }
    for (_, _, list) in script.directives.iter().filter(|(_, key, _)| key == "passes") {
        gangs.passes = gangs.passes.with_list(list).expect("a list of switches");
    }
    let mut bounds = Bounds::default();
    for (name, argument) in words(script, "bounds") {
        match name {
            "few_insts" => bounds.few_insts = argument.parse().expect("a number"),
            "most_copies" => bounds.most_copies = argument.parse().expect("a number"),
            _ => panic!("no bound is {name:?}"),
        }
    }
    let form = script.directives.iter().find(|(_, key, _)| key == "scalar_replacement");
    let form = form.map(|(_, _, name)| name.parse().expect("a form of scalar replacement"));
    let is_scalar = script.directives.iter().any(|(_, key, value)| key == "vectorize" && value == "scalar");
    Request {
        vectorize: if is_scalar { Vectorize::Scalar } else { Vectorize::Gangs(gangs) },
        target: TargetInfo::of_bits(512),
        bounds,
        loops: loop_profile(script),
        scalar_replacement: form.unwrap_or_default(),
        only_needed: false,
        against: None,
    }
}

/// What a file says of loops.
fn loop_profile(script: &Script) -> LoopProfile {
    let mut loop_counts = [LoopCounts::default(); MOST_COUNTED_LOOPS];
    let said = words(script, "loops");
    for (loop_number, &(name, argument)) in said.iter().enumerate() {
        let numbers: Vec<u64> = argument.split(',').filter_map(|number| number.parse().ok()).collect();
        match (name, &numbers[..]) {
            ("count", []) => return LoopProfile::Count,
            ("counted", &[entries, lane_entries, gang_iterations, lane_iterations]) => {
                loop_counts[loop_number] = LoopCounts { entries, lane_entries, gang_iterations, lane_iterations };
            }
            _ => panic!("loops have no {name:?}"),
        }
    }
    if said.is_empty() { LoopProfile::Unknown } else { LoopProfile::Counted(loop_counts) }
}

/// Runs a test of passes; `None` if there is none of this name.
pub fn check(name: &str, path: &Path, text: &str, module: &Module, script: &Script) -> Option<Result<(), String>> {
    if name == "function_forms" {
        return Some(check_forms(path, text, module, script));
    }
    let tested = Tested::named(name)?;
    Some(check_output(name, &tested, path, text, module, script))
}

/// A kernel that is planned, and how it calls functions.
struct Planned {
    kernel: Kernel,
    widening: Widening,
    forms: FunctionForms,
}

fn plan_kernel(module: &Module, kernel: &Kernel, script: &Script) -> Planned {
    let (launch, notes) = (launch_facts(script), Notes::new(true));
    let request = request(script);
    let mut kernel_state = KernelState::new(module, kernel.clone(), &launch, request, &notes, PASSES);
    run_passes(&mut kernel_state, &mut ()).expect("all passes run");
    let (kernel, widening) = kernel_state.finish();
    let widening = widening.expect("the kernel runs in gangs");
    let state = (module, &kernel, &widening, &launch);
    let forms = FunctionForms::plan_forms(state, request, &notes, PASSES, &mut ()).expect("all passes run");
    Planned { kernel, widening, forms }
}

/// The forms of the functions that each kernel calls, and how often the kernel calls functions once for all lanes. With them, run
/// lines hold.
fn check_forms(path: &Path, text: &str, module: &Module, script: &Script) -> Result<(), String> {
    let mut printed = String::new();
    let mut planned_kernels = Vec::new();
    for kernel in &module.kernels {
        let planned = plan_kernel(module, kernel, script);
        planned.forms.forms.iter().for_each(|form| printed += &form.to_string());
        let scalar: Vec<String> = planned.forms.scalar.iter().map(ToString::to_string).collect();
        printed += &format!("for one work-item, or once for all lanes: ({})\n", scalar.join(", "));
        planned_kernels.push(planned);
    }
    let run = |name: &str, range: &NdRange, arguments: &[Arg], memory: &mut Memory| {
        let Planned { kernel, widening, forms } =
            planned_kernels.iter().find(|planned| planned.kernel.name == name).ok_or("no such kernel")?;
        let module = Module { kernels: vec![kernel.clone()], ..module.clone() };
        let planned = PlannedGangs { gang_width: widening.width as usize, widening, forms };
        let outcome = run_planned(&module, name, range, arguments, memory, STEP_LIMIT, planned);
        outcome.map_err(|error| error.to_string())
    };
    for (number, _, line) in script.directives.iter().filter(|(_, key, _)| key == "run") {
        run_line::check_with(line, run).map_err(|error| format!("line {number}, with forms: {error}\n{printed}"))?;
    }
    compare_output("function_forms", path, text, &printed)
}

/// A run line must hold; for linearized code, with gangs of every width.
fn check_run(test: &str, module: &Module, line: &str) -> Result<(), String> {
    if !test.ends_with("linearize") {
        return run_line::check_run_line(module, line);
    }
    [1, 2, 4, 8, 16].into_iter().try_for_each(|width| {
        let gangs = |kernel: &str, range: &NdRange, arguments: &[Arg], memory: &mut Memory| {
            run_gangs(module, kernel, range, arguments, memory, STEP_LIMIT, (width, Layout::X))
                .map_err(|error| error.to_string())
        };
        run_line::check_with(line, gangs).map_err(|e| format!("width {width}: {e}"))
    })
}

fn check_output(
    test: &str,
    tested: &Tested,
    path: &Path,
    text: &str,
    module: &Module,
    script: &Script,
) -> Result<(), String> {
    let mut module = module.clone();
    let kernels = std::mem::take(&mut module.kernels);
    module.kernels = kernels.into_iter().map(|kernel| tested.run(&module, kernel, script)).collect();
    let printed = module.to_string();
    verify_module(&module, tested.after().max(script.stage))
        .map_err(|errors| format!("the output does not verify: {}\n{printed}", errors[0]))?;
    for (number, key, line) in &script.directives {
        if key == "run" {
            check_run(test, &module, line).map_err(|e| format!("line {number}, after {test}: {e}\n{printed}"))?;
        }
    }
    compare_output(test, path, text, &printed)
}

/// Compares what a test gives with what is written behind the file's text.
fn compare_output(test: &str, path: &Path, text: &str, printed: &str) -> Result<(), String> {
    let marker = format!("; output: {test}");
    let source_end = text.find(&marker).unwrap_or(text.len());
    let comments = printed.lines().map(|line| if line.is_empty() { ";".to_string() } else { format!("; {line}") });
    let output: Vec<String> = std::iter::once(marker).chain(comments).collect();
    let expected = format!("{}\n\n{}\n", text[..source_end].trim_end(), output.join("\n"));
    if expected == text {
        return Ok(());
    }
    if std::env::var_os("BLESS").is_some() {
        return std::fs::write(path, expected).map_err(|error| error.to_string());
    }
    let differs = text.lines().zip(expected.lines()).find(|(a, b)| a != b);
    let (written, found) = differs.unwrap_or(("nothing", "more"));
    Err(format!("other output (BLESS=1 accepts it):\n  written: {written}\n  found:   {found}\n{printed}"))
}
