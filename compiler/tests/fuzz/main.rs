//! Random kernels, structured and not, do in every configuration and in gangs of every size what the interpreter does
//! one work-item after the other.
//!
//! `LOCKSTEP_TEST_SEEDS=from..to` takes other kernels than the test does, one of every `LOCKSTEP_TEST_MACHINE_CODE`
//! as machine code too, on `LOCKSTEP_TEST_JOBS` threads: that is what `cargo xtask fuzz` sets.

#[path = "../machine/code/mod.rs"]
mod code;
mod ways;

use lockstep_compiler::launch_facts::LaunchFacts;
use lockstep_compiler::layout::Layout;
use lockstep_compiler::testing::{Generated, Shape, random_kernel, reduce};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use ways::{Planned, Way, expected, planned};

/// The kernels of a test run.
const KERNELS: u64 = 2000;

/// Of so many kernels of a test run, one becomes machine code.
const MACHINE_CODE_EVERY: u64 = 20;

/// Between two lines that say how far it is.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// What was compared.
#[derive(Debug, Default)]
struct Count {
    kernels: AtomicU64,
    lockstep: AtomicU64,
    machine: AtomicU64,
}

fn given<T>(name: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
    std::env::var(name).ok().map(|text| parse(&text).unwrap_or_else(|| panic!("{name}={text}")))
}

fn range(text: &str) -> Option<Range<u64>> {
    let (from, to) = text.split_once("..")?;
    Some(from.parse().ok()?..to.parse().ok()?)
}

/// The kernel of a seed: small and larger, flat and deep, every third an arbitrary graph at its top.
fn kernel(seed: u64) -> Generated {
    let shape = Shape {
        statements: [8, 14, 20, 30][seed as usize % 4],
        depth: 1 + seed as usize / 4 % 5,
        barriers: !seed.is_multiple_of(5),
        unstructured: seed.is_multiple_of(3),
    };
    let mut generated = random_kernel(seed, shape);
    // What the machine stops is known by its name.
    generated.module.kernels[0].name = format!("random_{seed}");
    generated
}

/// What the code of a seed relies on.
fn facts(seed: u64, g: &Generated) -> LaunchFacts {
    let known = LaunchFacts::of_range(g.range.global_offset, g.range.global_size, g.range.local_size);
    match seed / 5 % 3 {
        0 => LaunchFacts::default(),
        1 => known.of_any_size(),
        _ => known,
    }
}

/// Compares one kernel; the text of a failure.
fn check(seed: u64, machine_code: bool, count: &Count) -> Result<(), String> {
    let g = kernel(seed);
    let launch = facts(seed, &g);
    let right = expected(&g).map_err(|e| format!("seed {seed}: {e}\n{}", g.module))?;
    let layout = Layout::ALL[seed as usize / 3 % Layout::ALL.len()];
    let lockstep = Way::lockstep(layout);
    let machine = match machine_code {
        true => {
            let simd = [None, Some(256), Some(128)][seed as usize / 11 % 3];
            Way::machine([2, 4, 8, 16, 32][seed as usize / 7 % 5], layout, !seed.is_multiple_of(8), simd)
        }
        false => Vec::new(),
    };
    for (ways, counter) in [(lockstep, &count.lockstep), (machine, &count.machine)] {
        for way in ways {
            if let Some(fault) = way.fault(&g, launch, &right) {
                return Err(failure(seed, &g, launch, way, &fault));
            }
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }
    count.kernels.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

/// Says what went wrong, with the smallest kernel that shows it.
fn failure(seed: u64, g: &Generated, launch: LaunchFacts, way: Way, fault: &str) -> String {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let kind = fault.split(':').next();
    let small = reduce(g, |g| {
        let right = expected(g).ok();
        let fault = right.and_then(|right| way.fault(g, launch, &right));
        fault.is_some_and(|fault| fault.split(':').next() == kind)
    });
    std::panic::set_hook(report);
    let Generated { module, range, .. } = &small;
    format!("seed {seed}, {way:?}, {launch:?}: {fault}\nreduced, {range:?}\n{module}")
}

#[test]
fn random_kernels() {
    let asked = given("LOCKSTEP_TEST_SEEDS", range);
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = given("LOCKSTEP_TEST_JOBS", |text| text.parse().ok()).unwrap_or_else(processors);
    let every = given("LOCKSTEP_TEST_MACHINE_CODE", |text| text.parse().ok()).unwrap_or(MACHINE_CODE_EVERY);
    let seeds = asked.clone().unwrap_or(0..KERNELS);
    let (next, stop) = (AtomicU64::new(seeds.start), AtomicBool::new(false));
    let (count, failures) = (Count::default(), Mutex::new(Vec::new()));
    let begin = Instant::now();
    let line = Mutex::new(begin);
    let work = || {
        while !stop.load(Ordering::Relaxed) {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return;
            }
            if let Err(failure) = check(seed, seed.is_multiple_of(every), &count) {
                stop.store(true, Ordering::Relaxed);
                failures.lock().unwrap().push(failure);
            }
            let mut last = line.lock().unwrap();
            if asked.is_some() && last.elapsed() > LINE_EVERY {
                *last = Instant::now();
                let kernels = count.kernels.load(Ordering::Relaxed);
                let speed = kernels as f64 / begin.elapsed().as_secs_f64();
                eprintln!("seed {seed}, {kernels} kernels without a difference, {speed:.0} per second");
            }
        }
    };
    std::thread::scope(|scope| (0..jobs.max(1)).for_each(|_| drop(scope.spawn(work))));
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    eprintln!("{count:?} in {:.0} s", begin.elapsed().as_secs_f64());
    let kernels = seeds.end.saturating_sub(seeds.start);
    assert_eq!(count.kernels.into_inner(), kernels);
    assert_eq!(count.lockstep.into_inner(), 14 * kernels);
    if asked.is_none() {
        assert_eq!(count.machine.into_inner(), 5 * KERNELS / MACHINE_CODE_EVERY);
    }
}

/// What is compared has versions for lanes that agree: many kernels have divergent loops and branches that all lanes
/// enter. And it has accesses to neighbours, and addresses of which an index may wrap.
#[test]
fn many_kernels_get_versions_groups_and_lines() {
    let plans: Vec<Planned> = (0..360).map(|seed| planned(&kernel(seed))).collect();
    let with = |what: &str| plans.iter().filter(|plan| plan.report.contains(what)).count();
    let [of_loops, of_branches] = ["loop divergent", "branch divergent"].map(with);
    let (loops, branches) = (with("version unmasked loop"), with("version all-true copy"));
    let found =
        format!("{loops} of {of_loops} with divergent loops, {branches} of {of_branches} with divergent branches");
    assert!(loops > 30 && 2 * loops > of_loops && branches > 40 && 2 * branches > of_branches, "{found}");
    let choices = with("version uniform choice");
    let groups = plans.iter().filter(|plan| plan.groups > 0).count();
    let on_lines = plans.iter().filter(|plan| plan.on_lines > 0).count();
    let found = format!("{groups} with groups, {on_lines} with lines, {choices} with choices");
    assert!(groups > 80 && on_lines > 60 && choices > 60, "{found}");
}
