//! Drivers side by side: a table of times, and of how many times as fast the first driver is as each other one.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::by_hand::ABSENT;
use crate::case::Case;
use crate::compare::{Cells, Configuration, Measured};
use crate::report::{json_time, milliseconds, with};

/// A factor that was measured in pairs of turns, one of each driver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factor {
    /// A tenth of the pairs are below.
    pub low: f64,
    /// Half are below.
    pub median: f64,
    /// A tenth are above.
    pub high: f64,
    /// The 95 % confidence interval of the median, from ranks; none where there are too few pairs.
    pub interval: Option<[f64; 2]>,
}

impl Factor {
    /// How many times as fast `first` is as `other`, turn by turn.
    pub fn of(first: &Measured, other: &Measured) -> Self {
        let pairs = first.turns.iter().zip(&other.turns);
        let mut factors: Vec<f64> =
            pairs.map(|(first, other)| other.as_secs_f64() / first.as_secs_f64().max(1e-9)).collect();
        factors.sort_by(f64::total_cmp);
        let at = |tenths: usize| factors[(factors.len() - 1) * tenths / 10];
        let interval = median_rank(factors.len()).map(|rank| [factors[rank], factors[factors.len() - 1 - rank]]);
        Self { low: at(1), median: at(5), high: at(9), interval }
    }
}

/// How many of `count` sorted values lie below the 95 % confidence interval of their median, and above it, whatever they are
/// distributed like: so many heads or fewer come in `count` throws of a coin with at most 2.5 %. None where no interval has 95 %, and of
/// more values than chances of floats can tell.
fn median_rank(count: usize) -> Option<usize> {
    const MOST_VALUES: usize = 1000;
    let mut chance = 0.5_f64.powi(i32::try_from(count).ok().filter(|_| count <= MOST_VALUES)?);
    let mut sum = chance;
    let mut rank = None;
    for heads in 0..count / 2 {
        if sum > 0.025 {
            break;
        }
        rank = Some(heads);
        chance *= (count - heads) as f64 / (heads + 1) as f64;
        sum += chance;
    }
    rank
}

/// Everything measured so far.
pub struct SideBySide<'a> {
    drivers: &'a [Configuration],
    rows: Vec<(&'static Case, Cells<Measured>)>,
    /// Results that are wrong, and children that ended.
    pub errors: Vec<String>,
}

impl<'a> SideBySide<'a> {
    /// Nothing measured yet.
    pub fn new(drivers: &'a [Configuration]) -> Self {
        Self { drivers, rows: Vec::new(), errors: Vec::new() }
    }

    /// The lines above the table.
    pub fn head(&self) -> String {
        let mut line = format!("{:<28}{:>19}", "ms (tenths), times as fast", self.drivers[0].name);
        self.drivers[1..].iter().for_each(|driver| line += &format!("{:>34}", driver.name));
        line
    }

    /// Adds a case and gives its line.
    pub fn row(&mut self, case: &'static Case, cells: Cells<Measured>) -> String {
        for (driver, cell) in self.drivers.iter().zip(&cells) {
            if let Err(error) = cell
                && error != ABSENT
            {
                self.errors.push(format!("{}, {}: {error}", case.name, driver.name));
            }
        }
        let mut line = format!("{:<28}", case.name);
        for (number, cell) in cells.iter().enumerate() {
            let failed = |error: &String| if error == ABSENT { "-" } else { "error" }.to_owned();
            let time = cell.as_ref().map_or_else(failed, shown);
            let _ = write!(line, "{time:>19}");
            if number > 0 {
                let factor = cells[0].as_ref().ok().zip(cell.as_ref().ok()).map(|(a, b)| Factor::of(a, b));
                let factor = factor.map_or(String::new(), |factor| {
                    let mark = if factor.median < self.drivers[number].wanted { " <" } else { "  " };
                    format!("{:.2} ({:.2}){mark}", factor.median, factor.high - factor.low)
                });
                let _ = write!(line, "{factor:>15}");
            }
        }
        self.rows.push((case, cells));
        line.trim_end().to_owned()
    }

    /// The geometric mean of the factors to each other driver, over the cases that both ran.
    pub fn means(&self) -> String {
        let mut text = String::new();
        for (number, driver) in self.drivers.iter().enumerate().skip(1) {
            let factors: Vec<f64> = self.factors(number).map(|(_, factor)| factor.median).collect();
            if factors.is_empty() {
                continue;
            }
            let mean = (factors.iter().map(|factor| factor.ln()).sum::<f64>() / factors.len() as f64).exp();
            let slower = factors.iter().filter(|&&factor| factor < 1.0).count();
            let _ = writeln!(
                text,
                "{} over {}: {mean:.2} times as fast (geometric mean of {}), slower in {slower}",
                self.drivers[0].name,
                driver.name,
                factors.len()
            );
        }
        text
    }

    fn factors(&self, number: usize) -> impl Iterator<Item = (&'static Case, Factor)> {
        self.rows.iter().filter_map(move |(case, cells)| match (&cells[0], &cells[number]) {
            (Ok(first), Ok(other)) => Some((*case, Factor::of(first, other))),
            _ => None,
        })
    }

    /// Everything as JSON, times in nanoseconds.
    pub fn json(&self) -> Value {
        let row = |(case, cells): &(&Case, Cells<Measured>)| {
            let first = cells[0].as_ref().ok();
            let named = self.drivers.iter().zip(cells);
            let drivers = Value::from_iter(named.map(|(driver, cell)| (driver.name.clone(), json_cell(first, cell))));
            json!({ "name": case.name, "drivers": drivers })
        };
        json!({ "cases": Value::from_iter(self.rows.iter().map(row)) })
    }
}

/// A cell, with the first driver's factor to it.
fn json_cell(first: Option<&Measured>, cell: &Result<Measured, String>) -> Value {
    match (first, cell) {
        (_, Err(error)) => json!({ "error": error }),
        (None, Ok(cell)) => json_time(&cell.time),
        (Some(first), Ok(cell)) => {
            let Factor { low, median, high, .. } = Factor::of(first, cell);
            with(json_time(&cell.time), "factor", json!([low, median, high]))
        }
    }
}

/// The median in milliseconds, and how far the tenths are from it in percent.
fn shown(measured: &Measured) -> String {
    let time = measured.time;
    let spread = (time.high - time.low).as_secs_f64() / time.median.as_secs_f64().max(1e-9);
    format!("{:.3} ({:.0}%)", milliseconds(&time), 100.0 * spread)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Spread;
    use crate::groups;

    fn measured(micros: &[u64]) -> Measured {
        let turns: Vec<Duration> = micros.iter().map(|&time| Duration::from_micros(time)).collect();
        Measured { time: Spread::of(turns.clone()), turns, sum: String::new() }
    }

    #[test]
    fn factors_are_those_of_pairs() {
        // The machine was half as fast in the second turn, for both.
        let factor = Factor::of(&measured(&[10, 20, 10]), &measured(&[30, 60, 30]));
        assert_eq!((factor.low, factor.median, factor.high), (3.0, 3.0, 3.0));
    }

    #[test]
    fn the_interval_of_a_median_is_that_of_its_ranks() {
        // With five values the median lies outside of them in 1 of 16 cases; the ranks of 50 are 18 and 33 in tables.
        assert_eq!([5, 6, 9, 50, 2000].map(median_rank), [None, Some(0), Some(1), Some(17), None]);
        let micros: Vec<u64> = (1..=9).collect();
        let factor = Factor::of(&measured(&[1; 9]), &measured(&micros));
        let [low, high] = factor.interval.expect("nine are enough");
        assert_eq!([low, factor.median, high].map(f64::round), [2.0, 5.0, 8.0]);
        assert_eq!(Factor::of(&measured(&[1; 3]), &measured(&[1; 3])).interval, None);
    }

    #[test]
    fn who_is_slower_is_marked_and_the_mean_is_geometric() {
        let drivers = ["ours=a/", "other=b/"].map(|text| Configuration::driver(text).expect("valid"));
        let mut table = SideBySide::new(&drivers);
        let case = |name| &groups::find(name).expect("a case of the table").case;
        let line = table.row(case("triad"), vec![Ok(measured(&[100])), Ok(measured(&[800]))]);
        assert!(line.ends_with("8.00 (0.00)"), "{line}");
        let line = table.row(case("scan"), vec![Ok(measured(&[100])), Ok(measured(&[50]))]);
        assert!(line.ends_with("0.50 (0.00) <"), "{line}");
        table.row(case("dct"), vec![Ok(measured(&[100])), Err("wrong".to_owned())]);
        assert_eq!(table.means(), "ours over other: 2.00 times as fast (geometric mean of 2), slower in 1\n");
        assert_eq!(table.errors, ["dct, other: wrong"]);
        assert_eq!(table.json()["cases"][1]["drivers"]["other"]["factor"], json!([0.5, 0.5, 0.5]));
    }
}
