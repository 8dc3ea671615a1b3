//! What the first tier counts of loops, and what becomes of them in the last one.

use crate::host_code::build;
use crate::machine::code::{Code, Side};
use lockstep_ir::interp::{Arg, Memory, NdRange, run_kernel};
use lockstep_ir::ir::Module;
use lockstep_protocol::compile_options::{CompileOptions, Tier, Vectorize};
use lockstep_protocol::configuration::{Configuration, Gangs};
use lockstep_protocol::loop_profile::{LoopCounts, LoopProfile, MOST_COUNTED_LOOPS};

/// Each work-item counts down, from a number of its own, or from another one where that is large.
const SOURCE: &str = "kernel void k(global const int *from, global int *steps) {
    int i = get_global_id(0), n = from[i], sum = 0;
    do { sum += n ^ i; n--; } while (n > 0);
    if (from[i] > 50)
        for (int m = 0; m < from[i]; m++) sum = sum * 3 + m;
    steps[i] = sum;
}";

/// They do not fill the last gang.
const ITEMS: u64 = 60;
const WIDTH: u32 = 16;

/// What work-items count down from: one of each gang from 100 and its number, the others from 1 or 2.
fn starts() -> Vec<i32> {
    (0..ITEMS as i32).map(|item| if item % WIDTH as i32 == 5 { 100 + item } else { 1 + item % 2 }).collect()
}

fn buffers() -> Vec<Vec<u8>> {
    vec![starts().iter().flat_map(|start| start.to_le_bytes()).collect(), vec![0; 4 * ITEMS as usize]]
}

fn compile(module: &Module, tier: Tier, loops: LoopProfile) -> Code<'_> {
    let vectorize = Vectorize::Gangs(Gangs { configuration: Configuration::UniCf, ..Gangs::of_width(WIDTH) });
    let options = CompileOptions { tier, loops, vectorize, report: true, ..CompileOptions::default() };
    Code::compile(module, "k", &options).unwrap_or_else(|error| panic!("{error}"))
}

/// What became of the kernel's code.
fn report_text(code: &Code<'_>) -> String {
    code.compiled.report.as_ref().expect("it was asked for").to_string()
}

fn read_counts(code: &Code<'_>) -> [LoopCounts; MOST_COUNTED_LOOPS] {
    code.loop_counters.each_ref().map(|counters| counters.read_counts())
}

/// Runs code, which is to do what the interpreter does.
fn check_results(code: &Code<'_>, module: &Module) {
    let (range, arguments) = (NdRange::new(&[ITEMS], &[ITEMS]), [Arg::Buffer(0), Arg::Buffer(1)]);
    let (mut expected, mut found) = (Memory::new(buffers()), Memory::new(buffers()));
    run_kernel(module, "k", &range, &arguments, &mut expected).unwrap_or_else(|error| panic!("{error}"));
    code.run("k", &range, &arguments, &mut found, Side::Rear).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(found.buffers, expected.buffers);
}

#[test]
fn the_first_tier_counts_iterations_of_gangs_and_lanes() {
    let module = build(SOURCE, "");
    let code = compile(&module, Tier::Baseline, LoopProfile::Count);
    check_results(&code, &module);
    let counts = read_counts(&code);
    let starts: Vec<u64> = starts().into_iter().map(|start| start as u64).collect();
    let large = || starts.iter().filter(|&&start| start > 50);
    let gangs = ITEMS.div_ceil(WIDTH.into());
    let down = LoopCounts {
        entries: gangs,
        lane_entries: ITEMS,
        gang_iterations: starts.chunks(WIDTH as usize).filter_map(|gang| gang.iter().max()).sum(),
        lane_iterations: starts.iter().sum(),
    };
    assert!(counts.contains(&down), "{down:?} in {counts:?}");
    // One lane of each gang comes to the second loop.
    let steps = large().sum();
    let up = LoopCounts { entries: gangs, lane_entries: gangs, gang_iterations: steps, lane_iterations: steps };
    assert!(counts.contains(&up), "{up:?} in {counts:?}");
    assert_eq!(counts[2..], [LoopCounts::default(); MOST_COUNTED_LOOPS - 2]);
}

#[test]
fn the_last_lane_of_a_loop_with_few_at_work_runs_alone() {
    let module = build(SOURCE, "");
    for (lane_entries, lane_iterations, is_alone) in [
        (1600, 1000, true),
        (1600, 4000, true),
        (1600, 4100, false),
        (1600, 16000, false),
        // Hardly more came to the loop.
        (200, 1000, true),
        (199, 1000, false),
    ] {
        let counts = LoopCounts { entries: 100, lane_entries, gang_iterations: 1000, lane_iterations };
        let code = compile(&module, Tier::Optimized, LoopProfile::Counted([counts; MOST_COUNTED_LOOPS]));
        check_results(&code, &module);
        let report = report_text(&code);
        assert_eq!(report.contains("the last one in it"), is_alone, "{lane_iterations}:\n{report}");
    }
    let code = compile(&module, Tier::Optimized, LoopProfile::Unknown);
    let report = report_text(&code);
    assert!(!report.contains("the last one in it"), "{report}");
}

/// Few gangs tell little.
#[test]
fn few_counts_change_nothing() {
    let module = build(SOURCE, "");
    let counts = LoopCounts { entries: 7, lane_entries: 7 * 16, gang_iterations: 1000, lane_iterations: 1000 };
    let code = compile(&module, Tier::Optimized, LoopProfile::Counted([counts; MOST_COUNTED_LOOPS]));
    let report = report_text(&code);
    assert!(!report.contains("the last one in it"), "{report}");
}

/// Code that stays counts nothing.
#[test]
fn code_of_the_last_tier_does_not_count() {
    let module = build(SOURCE, "");
    let code = compile(&module, Tier::Optimized, LoopProfile::Count);
    check_results(&code, &module);
    assert_eq!(read_counts(&code), [LoopCounts::default(); MOST_COUNTED_LOOPS]);
}
