//! What the benchmarks share: repeated measurement, medians with their spread; the suite of kernels ([`cases`]), and
//! what runs it in several configurations or on several drivers ([`compare`]).
//!
//! `cargo xtask bench NAME` runs them through the ICD loader, on Lockstep or on another driver. They print numbers and
//! assert none: how fast a machine is, is no property of the code.

pub mod by_hand;
pub mod case;
pub mod cases;
pub mod choices;
pub mod command_line;
pub mod compare;
pub mod costs;
pub mod drivers;
pub mod evidence;
pub mod first_result;
pub mod gate;
pub mod generated;
pub mod groups;
pub mod growth;
pub mod images;
pub mod intermediate_language;
pub mod large;
pub mod large_module;
pub mod loops;
pub mod math;
pub mod needs;
pub mod report;
pub mod same_code;
pub mod side_by_side;
pub mod stages;
pub mod suite;
pub mod worker;

use std::fmt;
use std::time::{Duration, Instant};

/// The middle of many measurements, and where most of them lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// A tenth of the measurements are below.
    pub low: Duration,
    /// Half are below.
    pub median: Duration,
    /// A tenth are above.
    pub high: Duration,
}

/// Runs `work` some times to warm up, then so many times under the clock.
pub fn measure(warm_up: usize, rounds: usize, mut work: impl FnMut()) -> Spread {
    for _ in 0..warm_up {
        work();
    }
    let times = (0..rounds.max(1))
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    Spread::of(times)
}

impl Spread {
    /// The spread of these measurements.
    ///
    /// # Panics
    /// When there are none.
    pub fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |tenths: usize| times[(times.len() - 1) * tenths / 10];
        Self { low: at(1), median: at(5), high: at(9) }
    }

    /// The spread of one of `count` equal parts of what was measured.
    pub fn per(self, count: u32) -> Self {
        Self { low: self.low / count, median: self.median / count, high: self.high / count }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = if self.median < Duration::from_millis(1) { (1e6, "µs") } else { (1e3, "ms") };
        let shown = |time: Duration| time.as_secs_f64() * unit;
        write!(f, "{:>9.2} {name}   (tenths: {:.2} to {:.2})", shown(self.median), shown(self.low), shown(self.high))
    }
}

/// Prints one line of a benchmark's table.
pub fn line(what: &str, value: impl fmt::Display) {
    println!("{what:<52} {value}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_that_of_the_sorted_times() {
        let times: Vec<_> = (0..=10).rev().map(Duration::from_micros).collect();
        let spread = Spread::of(times);
        assert_eq!(spread.low, Duration::from_micros(1));
        assert_eq!(spread.median, Duration::from_micros(5));
        assert_eq!(spread.high, Duration::from_micros(9));
        assert_eq!(spread.per(5).median, Duration::from_micros(1));
    }

    #[test]
    fn the_unit_fits_the_size() {
        let spread = |micros| Spread::of(vec![Duration::from_micros(micros)]).to_string();
        assert!(spread(12).contains("12.00 µs"));
        assert!(spread(12_000).contains("12.00 ms"));
    }
}
