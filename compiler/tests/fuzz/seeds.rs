//! Goes through the seeds of a fuzzing test on several threads.
//!
//! `LOCKSTEP_TEST_SEEDS=from..to` takes other seeds than the test does, one of every `LOCKSTEP_TEST_MACHINE_CODE` as machine
//! code too, on `LOCKSTEP_TEST_JOBS` threads: that is what `cargo xtask fuzz` sets.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Between two lines that say how far it is.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Which seeds a test takes.
pub struct Seeds {
    pub range: Range<u64>,
    /// Of so many seeds one becomes machine code.
    pub machine_code_every: u64,
    /// Whether somebody asked for these, and not for a test run's.
    pub asked: bool,
    jobs: usize,
}

impl Seeds {
    /// Those that the environment names, or those of a test run.
    pub fn of_environment(usual: Range<u64>, machine_code_every: u64) -> Seeds {
        let asked = given("LOCKSTEP_TEST_SEEDS", parse_range);
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        Seeds {
            asked: asked.is_some(),
            range: asked.unwrap_or(usual),
            jobs: given("LOCKSTEP_TEST_JOBS", |text| text.parse().ok()).unwrap_or_else(processors).max(1),
            machine_code_every: given("LOCKSTEP_TEST_MACHINE_CODE", |text| text.parse().ok())
                .unwrap_or(machine_code_every),
        }
    }

    /// Calls `check` for the seeds, so many at once, until one fails; panics with what it says.
    pub fn check_all(&self, at_once: u64, check: impl Fn(Range<u64>) -> Result<(), String> + Sync) {
        let (next, stop) = (AtomicU64::new(self.range.start), AtomicBool::new(false));
        let failures = Mutex::new(Vec::new());
        let begin = Instant::now();
        let line = Mutex::new(begin);
        let work = || {
            while !stop.load(Ordering::Relaxed) {
                let from = next.fetch_add(at_once, Ordering::Relaxed);
                if from >= self.range.end {
                    return;
                }
                if let Err(failure) = check(from..self.range.end.min(from + at_once)) {
                    stop.store(true, Ordering::Relaxed);
                    failures.lock().unwrap().push(failure);
                }
                let mut last = line.lock().unwrap();
                if self.asked && last.elapsed() > LINE_EVERY {
                    *last = Instant::now();
                    let done = from - self.range.start;
                    let speed = done as f64 / begin.elapsed().as_secs_f64();
                    eprintln!("seed {from}, about {done} without a difference, {speed:.0} per second");
                }
            }
        };
        std::thread::scope(|scope| (0..self.jobs).for_each(|_| drop(scope.spawn(work))));
        let failures = failures.into_inner().unwrap();
        assert!(failures.is_empty(), "{}", failures.join("\n\n"));
        eprintln!("seeds {:?} in {:.0} s", self.range, begin.elapsed().as_secs_f64());
    }

    /// How many seeds there are.
    pub fn count(&self) -> u64 {
        self.range.end.saturating_sub(self.range.start)
    }
}

fn given<T>(name: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
    std::env::var(name).ok().map(|text| parse(&text).unwrap_or_else(|| panic!("{name}={text}")))
}

fn parse_range(text: &str) -> Option<Range<u64>> {
    let (from, to) = text.split_once("..")?;
    Some(from.parse().ok()?..to.parse().ok()?)
}
