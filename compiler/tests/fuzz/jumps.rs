//! Random kernels of gotos, switches and loops with several exits do in every configuration what the generator's own
//! abstract program says.
//!
//! The reference knows nothing of clang, LLVM or our passes. The interpreter runs the control flow as it was imported; the
//! lock-step interpreter runs what every configuration makes of it, and machine code is made of some.

use crate::seeds::Seeds;
use crate::ways::{Effort, Way, bounds_of, expected, few_at_work};
use lockstep_compiler::frontend::{FrontendConfig, compile_source, link_program};
use lockstep_compiler::import;
use lockstep_compiler::pipeline::load;
use lockstep_ir::interp::{Arg, NdRange};
use lockstep_ir::ir::Module;
use lockstep_ir::testing::jumps::{JumpProgram, OUTPUTS, VARIABLES, evaluate_program, print_source, random_program};
use lockstep_ir::testing::{Generated, Random};
use lockstep_ir::transform::reducible::make_reducible;
use lockstep_protocol::build_options::{BuildOptions, Stage};
use lockstep_protocol::compile_options::{Bounds, Tier, Vectorize};
use lockstep_protocol::configuration::{Configuration, Gangs, Versions};
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::loop_profile::LoopProfile;
use lockstep_protocol::pass_switches::PassSwitch;
use lockstep_protocol::portable_program::LinkedProgram;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// The programs of a test run.
const PROGRAMS: u64 = 600;

/// Of so many programs of a test run, one becomes machine code in every configuration.
const MACHINE_CODE_EVERY: u64 = 6;

/// Of so many programs that become machine code, one is optimised by LLVM, which takes most of the time.
const OPTIMIZED_EVERY: u64 = 4;

/// Kernels in a source, so that clang is not started for each.
const PER_SOURCE: u64 = 25;

/// Work-items of a launch.
const ITEMS: usize = 44;

/// One launch of a program and what it has to leave.
struct Case {
    seed: u64,
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
            (0..ITEMS * VARIABLES).map(|_| random.next_bits() as u32 >> random.pick(&[0, 16, 28])).collect();
        let group = random.pick(&[1, 5, 16, 20, 22]);
        let expected = evaluate_program(&program, &input, group);
        Case { seed, program, input, group, expected }
    }

    /// The launch of the program's kernel in a module of several.
    fn of_module(&self, module: &Module) -> Generated {
        let kernel = module.kernels.iter().find(|kernel| kernel.name == self.program.name);
        let kernels = vec![kernel.expect("the source has the kernel").clone()];
        Generated {
            module: Module { kernels, ..module.clone() },
            range: NdRange::new(&[ITEMS as u64], &[self.group as u64]),
            args: vec![Arg::Buffer(0), Arg::Buffer(1), Arg::Local(4 * self.group as u64)],
            buffers: vec![to_bytes(&self.input), vec![0; 4 * ITEMS * OUTPUTS]],
        }
    }

    /// What the code of the launch relies on.
    fn facts(&self, launch: &Generated) -> LaunchFacts {
        let NdRange { global_offset, global_size, local_size, .. } = launch.range;
        match self.seed % 3 {
            0 => LaunchFacts::default(),
            _ => LaunchFacts::of_range(global_offset, global_size, local_size),
        }
    }

    fn describe(&self, how: &str, fault: &str) -> String {
        format!("seed {}, {how}, groups of {}: {fault}\n{}", self.seed, self.group, print_source(&self.program))
    }
}

fn to_bytes(elements: &[u32]) -> Vec<u8> {
    elements.iter().flat_map(|element| element.to_le_bytes()).collect()
}

/// Every configuration with gangs of a width.
fn all_gangs(width: u32) -> Vec<Gangs> {
    let plain = Configuration::ALL.map(|configuration| Gangs { configuration, ..Gangs::of_width(width) });
    let gated = Gangs::of_width(width)
        .with_pass(PassSwitch::Gates, Versions::Always)
        .with_pass(PassSwitch::FullGangs, Versions::Never);
    plain.into_iter().chain([gated, gated.with_versions(Versions::Always)]).collect()
}

/// Every configuration, in the lock-step interpreter.
fn lockstep_ways(seed: u64) -> Vec<Way> {
    let width = [2, 4, 8, 16][seed as usize % 4];
    all_gangs(width)
        .into_iter()
        .map(|gangs| Way::Lockstep {
            gangs,
            loops: loop_profile(seed, gangs),
            lanes: width as usize,
            regions: bounds_of(gangs),
        })
        .collect()
}

/// Every configuration, as machine code.
fn machine_ways(seed: u64) -> Vec<Way> {
    let width = [2, 4, 8, 16, 32][seed as usize % 5];
    let simd = [None, None, Some(256), Some(128)][seed as usize / 5 % 4];
    let is_optimized = seed.is_multiple_of(OPTIMIZED_EVERY * MACHINE_CODE_EVERY);
    let effort = Effort::Of(if is_optimized { Tier::Optimized } else { Tier::Baseline });
    let machine = |vectorize, loops, regions| Way::Machine { vectorize, loops, effort, simd, regions };
    let gangs = all_gangs(width).into_iter().chain([Gangs::default()]);
    let in_gangs = gangs.map(|gangs| machine(Vectorize::Gangs(gangs), loop_profile(seed, gangs), bounds_of(gangs)));
    [machine(Vectorize::Scalar, LoopProfile::Unknown, Bounds::default())].into_iter().chain(in_gangs).collect()
}

/// What is known of a program's loops: of every second one with all versions, that few lanes were at work; else code of the first tier counts.
fn loop_profile(seed: u64, gangs: Gangs) -> LoopProfile {
    match gangs.configuration {
        Configuration::UniCf if bounds_of(gangs).few_insts == 0 && seed.is_multiple_of(2) => few_at_work(),
        Configuration::UniCf => LoopProfile::Count,
        _ => LoopProfile::Unknown,
    }
}

fn link_cases(cases: &[Case], options: &str) -> LinkedProgram {
    let source: String = cases.iter().map(|case| print_source(&case.program)).collect();
    let options = BuildOptions::parse(options, Stage::Build).expect("these are options");
    let object = compile_source(&FrontendConfig::default(), source.as_bytes(), &[], &options);
    let object = object.unwrap_or_else(|error| panic!("{error}\n{source}"));
    link_program(&[&object], &options).unwrap_or_else(|error| panic!("{error}\n{source}"))
}

/// Compares the kernels of some seeds; the text of the first failure.
fn check(seeds: Range<u64>, machine_code_every: u64, compared: &AtomicU64) -> Result<(), String> {
    let options = if seeds.start / PER_SOURCE % 4 == 3 { "-cl-opt-disable" } else { "" };
    let cases: Vec<Case> = seeds.map(Case::of_seed).collect();
    let program = link_cases(&cases, options);
    let imported = import::import_linked(&program).map_err(|error| error.to_string())?;
    let loaded = load(&program).map_err(|error| error.to_string())?;
    for case in &cases {
        let found = expected(&case.of_module(&imported)).map_err(|fault| case.describe("interpreted", &fault))?;
        if found[1] != to_bytes(&case.expected) {
            return Err(case.describe("interpreted", "other results"));
        }
        let launch = case.of_module(&loaded);
        let facts = case.facts(&launch);
        let has_code = case.seed.is_multiple_of(machine_code_every);
        let machine = if has_code { machine_ways(case.seed) } else { Vec::new() };
        for way in lockstep_ways(case.seed).into_iter().chain(machine) {
            if let Some(fault) = way.fault(&launch, facts, &found) {
                return Err(case.describe(&format!("{way:?}, {facts:?}"), &fault));
            }
            compared.fetch_add(1, Ordering::Relaxed);
        }
    }
    Ok(())
}

#[test]
fn jumps_do_what_the_program_says() {
    let seeds = Seeds::of_environment(0..PROGRAMS, MACHINE_CODE_EVERY);
    let compared = AtomicU64::new(0);
    seeds.check_all(PER_SOURCE, |seeds_at_once| check(seeds_at_once, seeds.machine_code_every, &compared));
    let with_code = seeds.range.clone().filter(|seed| seed.is_multiple_of(seeds.machine_code_every)).count() as u64;
    let wanted = seeds.count() * lockstep_ways(0).len() as u64 + with_code * machine_ways(0).len() as u64;
    assert_eq!(compared.into_inner(), wanted);
    eprintln!("{} programs, {with_code} of them as machine code: {wanted} comparisons", seeds.count());
}

/// What is compared is what it is meant to be: cycles with several entries, barriers, programs that come to an end by
/// themselves, and results that depend on the work-item.
#[test]
fn many_programs_are_irreducible() {
    let cases: Vec<Case> = (0..200).map(Case::of_seed).collect();
    let mut imported = import::import_linked(&link_cases(&cases, "")).expect("it is supported");
    let added = imported.kernels.iter_mut().map(|kernel| make_reducible(kernel.body_mut()));
    let irreducible = added.filter(|&added| added > 0).count();
    let uniform = cases.iter().filter(|case| case.program.uniform).count();
    let differs = |case: &&Case| case.expected.chunks(OUTPUTS).any(|item| item != &case.expected[..OUTPUTS]);
    let varying = cases.iter().filter(differs).count();
    assert!(irreducible > 40, "{irreducible} of 200 are irreducible");
    assert!((20..100).contains(&uniform) && varying > 150, "{uniform} uniform, {varying} varying");
}
