//! Random kernels of gotos, switches and loops with several exits do in every configuration what the generator's own
//! abstract program says.
//!
//! The reference knows nothing of clang, LLVM or our passes. The interpreter runs the control flow as it was imported;
//! machine code is made of it by every pass.
//!
//! `LOCKSTEP_TEST_SEEDS=from..to` takes other programs than the test does, on `LOCKSTEP_TEST_JOBS` threads: that is what
//! `cargo xtask fuzz jumps` sets.

#[path = "../machine/code/mod.rs"]
mod code;

use code::{Code, Side};
use lockstep_compiler::frontend::options::{BuildOptions, Stage};
use lockstep_compiler::frontend::{FrontendConfig, LinkedProgram, compile, link};
use lockstep_compiler::interp::{Arg, Memory, NdRange, run_limited};
use lockstep_compiler::ir::Module;
use lockstep_compiler::launch_facts::LaunchFacts;
use lockstep_compiler::pipeline::{CompileOptions, Vectorize, load};
use lockstep_compiler::testing::Random;
use lockstep_compiler::testing::jumps::{JumpProgram, OUTPUTS, VARIABLES, evaluate, print_source, random_program};
use lockstep_compiler::widen::{Configuration, Gangs, Reason, Versions};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The programs of a test run.
const PROGRAMS: u64 = 1000;

/// Kernels in a source, so that clang is not started for each.
const PER_SOURCE: u64 = 25;

/// Of so many programs one is optimised by LLVM.
const OPTIMIZED_EVERY: u64 = 8;

/// Instructions that a launch may take in the interpreter.
const STEPS: u64 = 10_000_000;

/// Work-items of a launch.
const ITEMS: usize = 44;

/// Between two lines that say how far it is.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// One launch of a program and what it has to leave.
struct Case {
    program: JumpProgram,
    input: Vec<u32>,
    group: usize,
    expected: Vec<u32>,
}

impl Case {
    fn of_seed(seed: u64) -> Case {
        let program = random_program(seed);
        let mut random = Random::new(!seed);
        let input: Vec<u32> =
            (0..ITEMS * VARIABLES).map(|_| random.bits() as u32 >> random.pick(&[0, 16, 28])).collect();
        let group = random.pick(&[1, 5, 16, 20, 22]);
        let expected = evaluate(&program, &input, group);
        Case { program, input, group, expected }
    }

    fn range(&self) -> NdRange {
        NdRange::new(&[ITEMS as u64], &[self.group as u64])
    }

    fn arguments(&self) -> [Arg; 3] {
        [Arg::Buffer(0), Arg::Buffer(1), Arg::Local(4 * self.group as u64)]
    }

    fn memory(&self) -> Memory {
        let input = self.input.iter().flat_map(|element| element.to_le_bytes()).collect();
        Memory::new(vec![input, vec![0; 4 * ITEMS * OUTPUTS]])
    }

    /// The first element of the output that is not as expected, if any.
    fn compare(&self, memory: &Memory) -> Result<(), String> {
        let found = memory.buffers[1].chunks(4).map(|bytes| u32::from_le_bytes(bytes.try_into().expect("four bytes")));
        match found.zip(&self.expected).enumerate().find(|(_, (found, expected))| found != *expected) {
            None => Ok(()),
            Some((at, (found, expected))) => {
                let (item, element) = (at / OUTPUTS, at % OUTPUTS);
                Err(format!("work-item {item} has {found} in element {element} where {expected} is right"))
            }
        }
    }

    fn describe(&self, how: &str, fault: &str) -> String {
        format!("{how}, groups of {}: {fault}\n{}", self.group, print_source(&self.program))
    }
}

/// Every configuration of machine code, in gangs of a width of the seed's own where one is given; of those with gangs every
/// other one where not `all` are wanted.
fn configurations(seed: u64, all: bool) -> Vec<(String, CompileOptions)> {
    let width = [2, 4, 8, 16, 32][seed as usize % 5];
    let simd = [None, None, Some(256), Some(128)][seed as usize / 5 % 4];
    let mut ways = vec![("scalar".to_owned(), Vectorize::Scalar)];
    for configuration in Configuration::ALL {
        let gangs = Gangs { configuration, ..Gangs::of_width(width) };
        ways.push((format!("{}, width {width}", configuration.name()), Vectorize::Gangs(gangs)));
    }
    let versions = Gangs::of_width(width).with_versions(Versions::Always);
    ways.push((format!("all versions, width {width}"), Vectorize::Gangs(versions)));
    ways.push(("as estimated".to_owned(), Vectorize::Gangs(Gangs::default())));
    let taken = ways.into_iter().enumerate().filter(|&(n, _)| all || n == 0 || n % 2 == seed as usize % 2);
    let options = |(name, vectorize)| (name, CompileOptions { vectorize, simd, ..CompileOptions::default() });
    taken.map(|(_, way)| options(way)).collect()
}

/// Runs a kernel as it was imported in the interpreter, one work-item after the other.
fn interpret(case: &Case, imported: &Module) -> Result<(), String> {
    let mut memory = case.memory();
    let name = &case.program.name;
    run_limited(imported, name, &case.range(), &case.arguments(), &mut memory, STEPS).map_err(|e| e.to_string())?;
    case.compare(&memory)
}

/// Runs a kernel as machine code.
fn run_code(case: &Case, loaded: &Module, options: &CompileOptions) -> Result<(), String> {
    let name = &case.program.name;
    let code = Code::compile(loaded, name, options)?;
    let is_chosen = matches!(options.vectorize, Vectorize::Gangs(Gangs { width: None, .. }));
    let is_spilled = options.opt_disable && code.variant.reason() == Some(Reason::StackFrame);
    match code.variant.reason() {
        Some(Reason::Cost(_)) if is_chosen => {}
        Some(_) if is_spilled => {}
        Some(reason) => return Err(reason.to_string()),
        None => {}
    }
    let mut memory = case.memory();
    let side = if options.opt_disable { Side::Rear } else { Side::Front };
    code.run(&format!("{name}, {options:?}"), &case.range(), &case.arguments(), &mut memory, side)?;
    case.compare(&memory)
}

fn link_program(source: &str, options: &BuildOptions) -> LinkedProgram {
    let object = compile(&FrontendConfig::default(), source.as_bytes(), &[], options);
    let object = object.unwrap_or_else(|error| panic!("{error}\n{source}"));
    link(&[&object], options).unwrap_or_else(|error| panic!("{error}\n{source}"))
}

/// Compares the kernels of some seeds; the text of the first failure.
fn check(seeds: Range<u64>, all: bool, compared: &AtomicU64) -> Result<(), String> {
    let text = if seeds.start / PER_SOURCE % 4 == 3 { "-cl-opt-disable" } else { "" };
    let options = BuildOptions::parse(text, Stage::Build).expect("it is an option");
    let cases: Vec<(u64, Case)> = seeds.map(|seed| (seed, Case::of_seed(seed))).collect();
    let source: String = cases.iter().map(|(_, case)| print_source(&case.program)).collect();
    let program = link_program(&source, &options);
    let imported = lockstep_compiler::import::load(&program).map_err(|e| format!("{e}\n{source}"))?;
    let loaded = load(&program).map_err(|e| format!("{e}\n{source}"))?;
    for (seed, case) in &cases {
        interpret(case, &imported).map_err(|fault| case.describe("interpreted", &fault))?;
        for (how, options) in configurations(*seed, all) {
            // LLVM's optimisation takes most of the time and is not what is tested.
            let opt_disable = !seed.is_multiple_of(OPTIMIZED_EVERY);
            let options = CompileOptions { opt_disable, launch: facts(*seed, case), ..options };
            run_code(case, &loaded, &options).map_err(|fault| case.describe(&how, &fault))?;
            compared.fetch_add(1, Ordering::Relaxed);
        }
    }
    Ok(())
}

/// What the code of a seed relies on.
fn facts(seed: u64, case: &Case) -> LaunchFacts {
    let range = case.range();
    match seed % 3 {
        0 => LaunchFacts::default(),
        _ => LaunchFacts::of_range(range.global_offset, range.global_size, range.local_size),
    }
}

fn given<T>(name: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
    std::env::var(name).ok().map(|text| parse(&text).unwrap_or_else(|| panic!("{name}={text}")))
}

fn range(text: &str) -> Option<Range<u64>> {
    let (from, to) = text.split_once("..")?;
    Some(from.parse().ok()?..to.parse().ok()?)
}

#[test]
fn jumps_do_what_the_program_says() {
    let asked = given("LOCKSTEP_TEST_SEEDS", range);
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = given("LOCKSTEP_TEST_JOBS", |text| text.parse().ok()).unwrap_or_else(processors);
    let seeds = asked.clone().unwrap_or(0..PROGRAMS);
    let (next, stop) = (AtomicU64::new(seeds.start), AtomicBool::new(false));
    let (compared, failures) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let begin = Instant::now();
    let line = Mutex::new(begin);
    let work = || {
        while !stop.load(Ordering::Relaxed) {
            let from = next.fetch_add(PER_SOURCE, Ordering::Relaxed);
            if from >= seeds.end {
                return;
            }
            if let Err(failure) = check(from..seeds.end.min(from + PER_SOURCE), asked.is_some(), &compared) {
                stop.store(true, Ordering::Relaxed);
                failures.lock().unwrap().push(failure);
            }
            let mut last = line.lock().unwrap();
            if asked.is_some() && last.elapsed() > LINE_EVERY {
                *last = Instant::now();
                let programs = from - seeds.start;
                let speed = programs as f64 / begin.elapsed().as_secs_f64();
                eprintln!("seed {from}, {programs} programs without a difference, {speed:.0} per second");
            }
        }
    };
    std::thread::scope(|scope| (0..jobs.max(1)).for_each(|_| drop(scope.spawn(work))));
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    let compared = compared.into_inner();
    let programs = seeds.end - seeds.start;
    eprintln!("{programs} programs in {compared} configurations in {:.0} s", begin.elapsed().as_secs_f64());
    let wanted = seeds.map(|seed| configurations(seed, asked.is_some()).len() as u64).sum();
    assert_eq!(compared, wanted);
}

/// What is compared is what it is meant to be: cycles with several entries, barriers, programs that come to an end by
/// themselves, and results that depend on the work-item.
#[test]
fn many_programs_are_irreducible() {
    let cases: Vec<Case> = (0..200).map(Case::of_seed).collect();
    let source: String = cases.iter().map(|case| print_source(&case.program)).collect();
    let options = BuildOptions::parse("", Stage::Build).expect("it is an option");
    let mut imported = lockstep_compiler::import::load(&link_program(&source, &options)).expect("it is supported");
    let added = imported
        .kernels
        .iter_mut()
        .map(|kernel| lockstep_compiler::transform::reducible::make_reducible(kernel.body_mut()));
    let irreducible = added.filter(|&added| added > 0).count();
    let uniform = cases.iter().filter(|case| case.program.uniform).count();
    let differs = |case: &&Case| case.expected.chunks(OUTPUTS).any(|item| item != &case.expected[..OUTPUTS]);
    let varying = cases.iter().filter(differs).count();
    assert!(irreducible > 40, "{irreducible} of 200 are irreducible");
    assert!((20..100).contains(&uniform) && varying > 150, "{uniform} uniform, {varying} varying");
}
