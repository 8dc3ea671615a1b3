//! What a comparison found: a table to read, and JSON to keep.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::Spread;
use crate::case::Case;
use crate::compare::{Cells, Configuration, Measured};
use crate::generated::Generated;

/// Pairs of configurations that the paper compares, and the kernels it names: the gain of uniform control flow.
const PAPER: &[(&str, f64)] = &[("dct", 2.09), ("histogram", 1.15), ("nbody", 1.36)];

/// Everything measured so far. The first configuration is what the others are compared with.
pub struct Report<'a> {
    configurations: &'a [Configuration],
    rows: Vec<(&'static Case, Cells<Measured>)>,
    compiled: Vec<(Generated, Cells<Spread>)>,
    /// Results that are wrong, and children that ended.
    pub errors: Vec<String>,
}

impl<'a> Report<'a> {
    /// Nothing measured yet.
    pub fn new(configurations: &'a [Configuration]) -> Self {
        Self { configurations, rows: Vec::new(), compiled: Vec::new(), errors: Vec::new() }
    }

    /// Adds a case and gives its line.
    pub fn case(&mut self, case: &'static Case, cells: Cells<Measured>) -> String {
        self.note_errors(case.name, &cells);
        let line = self.case_line(case, &cells);
        self.rows.push((case, cells));
        line
    }

    /// Adds a compiled kernel and gives its line.
    pub fn compiled(&mut self, generated: Generated, cells: Cells<Spread>) -> String {
        self.note_errors(generated.name, &cells);
        let mut line = format!("{:<24}", generated.name);
        let mut slow = false;
        for (number, cell) in cells.iter().enumerate() {
            let text = match cell {
                Ok(time) => {
                    slow |= time.median.as_millis() > u128::from(generated.limit);
                    format!("{:.1}", milliseconds(time))
                }
                Err(_) => "error".to_owned(),
            };
            line += &self.cell(number, &text);
        }
        let _ = write!(line, "   at most {} ms{}", generated.limit, if slow { "  MISSED" } else { "" });
        self.compiled.push((generated, cells));
        line
    }

    /// The line above the cases.
    pub fn case_head(&self) -> String {
        let mut line = format!("{:<24}", "kernel");
        for (number, configuration) in self.configurations.iter().enumerate() {
            let unit = if number == 0 { " ms" } else { "" };
            line += &self.cell(number, &format!("{}{unit}", configuration.name));
        }
        line + "   wanted"
    }

    /// The line above the compiled kernels.
    pub fn compiled_head(&self) -> String {
        let mut line = format!("{:<24}", "first launch, ms");
        for (number, configuration) in self.configurations.iter().enumerate() {
            line += &self.cell(number, &configuration.name);
        }
        line
    }

    /// A text in the column of a configuration.
    fn cell(&self, number: usize, text: &str) -> String {
        // Room for the name, and behind the first one for the unit.
        let width = self.configurations[number].name.len().max(7) + 3;
        format!(" {text:>width$}")
    }

    fn case_line(&self, case: &Case, cells: &Cells<Measured>) -> String {
        let mut line = format!("{:<24}", case.name);
        let first = cells.first().and_then(|cell| cell.as_ref().ok());
        for (number, cell) in cells.iter().enumerate() {
            let Ok(measured) = cell else {
                line += &self.cell(number, "error");
                continue;
            };
            let text = match first {
                Some(first) if number > 0 => {
                    // Results may legally differ in their rounding, but whoever looks for a mistake wants to know.
                    let other = if first.sum == measured.sum { "" } else { "~" };
                    format!("{other}{:.2}x", ratio(first, measured))
                }
                _ => format!("{:.3}", milliseconds(&measured.time)),
            };
            line += &self.cell(number, &text);
        }
        let _ = write!(line, "   {:>5}x", case.wanted);
        if let (Some(first), Some(Ok(last)), true) = (first, cells.last(), cells.len() > 1)
            && ratio(first, last) < case.wanted
        {
            line += "  MISSED";
        }
        line
    }

    /// How uniform control flow gains over uniform values, beside the paper's numbers; empty where either is missing.
    pub fn paper(&self) -> String {
        let place = |name| self.configurations.iter().position(|configuration| configuration.name == name);
        let (Some(values), Some(flow)) = (place("unival"), place("unicf")) else { return String::new() };
        let mut text = String::new();
        for (case, cells) in &self.rows {
            let paper = PAPER.iter().find(|(name, _)| *name == case.name);
            if let (Some((name, gain)), Ok(values), Ok(flow)) = (paper, &cells[values], &cells[flow]) {
                let _ = writeln!(text, "{name:<24} {:.2}x (paper: {gain:.2}x)", ratio(values, flow));
            }
        }
        text
    }

    /// Everything as JSON, times in nanoseconds.
    pub fn json(&self) -> Value {
        let case = |(case, cells): &(&Case, Cells<Measured>)| {
            let cells = self.json_cells(cells, |cell| with(json_time(&cell.time), "sum", cell.sum.as_str()));
            json!({ "name": case.name, "wanted": case.wanted, "configurations": cells })
        };
        let compiled = |(generated, cells): &(Generated, Cells<Spread>)| {
            let cells = self.json_cells(cells, json_time);
            json!({ "name": generated.name, "limit_ms": generated.limit, "configurations": cells })
        };
        json!({
            "cases": Value::from_iter(self.rows.iter().map(case)),
            "compiled": Value::from_iter(self.compiled.iter().map(compiled)),
        })
    }

    fn json_cells<T>(&self, cells: &Cells<T>, shown: impl Fn(&T) -> Value) -> Value {
        let of = |cell: &Result<T, String>| cell.as_ref().map_or_else(|error| json!({ "error": error }), &shown);
        let named = self.configurations.iter().zip(cells);
        Value::from_iter(named.map(|(configuration, cell)| (configuration.name.clone(), of(cell))))
    }

    fn note_errors<T>(&mut self, name: &str, cells: &Cells<T>) {
        for (configuration, cell) in self.configurations.iter().zip(cells) {
            if let Err(error) = cell {
                self.errors.push(format!("{name}, {}: {error}", configuration.name));
            }
        }
    }
}

/// How many times as fast.
fn ratio(first: &Measured, other: &Measured) -> f64 {
    first.time.median.as_secs_f64() / other.time.median.as_secs_f64().max(1e-9)
}

pub(crate) fn milliseconds(time: &Spread) -> f64 {
    time.median.as_secs_f64() * 1e3
}

pub(crate) fn json_time(time: &Spread) -> Value {
    // Five hundred years fit.
    let [low, median, high] = [time.low, time.median, time.high].map(|time| time.as_nanos() as u64);
    json!({ "low": low, "median": median, "high": high })
}

/// An object with one more member.
pub(crate) fn with(mut object: Value, name: &str, value: impl Into<Value>) -> Value {
    object[name] = value.into();
    object
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;
    use std::time::Duration;

    fn measured(micros: u64, sum: &str) -> Result<Measured, String> {
        let time = Duration::from_micros(micros);
        Ok(Measured { time: Spread::of(vec![time]), turns: vec![time], sum: sum.into() })
    }

    #[test]
    fn a_line_has_the_first_time_and_ratios_to_it() {
        let configurations = ["scalar", "naive", "unicf"].map(Configuration::parse);
        let mut report = Report::new(&configurations);
        let case = cases::find("black_scholes").expect("a kernel of the paper");
        let line = report.case(case, vec![measured(12_000, "a"), measured(6_000, "b"), measured(1_500, "a")]);
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words, ["black_scholes", "12.000", "~2.00x", "8.00x", "6x"]);
        let line = report.case(case, vec![measured(12_000, "a"), Err("wrong".into()), measured(3_000, "a")]);
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words, ["black_scholes", "12.000", "error", "4.00x", "6x", "MISSED"]);
        assert_eq!(report.errors, ["black_scholes, naive: wrong"]);
        let cells = &report.json()["cases"][1]["configurations"];
        assert_eq!(cells["naive"], json!({ "error": "wrong" }));
        assert_eq!(cells["unicf"], json!({ "low": 3_000_000, "median": 3_000_000, "high": 3_000_000, "sum": "a" }));
    }

    #[test]
    fn columns_are_as_wide_as_their_names() {
        let configurations = ["scalar", "unicf+LOCKSTEP_WIDTH=16", "unicf"].map(Configuration::parse);
        let mut report = Report::new(&configurations);
        let case = cases::find("dct").expect("a kernel of the paper");
        let line = report.case(case, vec![measured(8, "a"), measured(4, "a"), measured(2, "a")]);
        let end = |line: &str, word: &str| line.find(word).expect("a word of the line") + word.len();
        let head = report.case_head();
        assert_eq!(end(&head, "WIDTH=16"), end(&line, "2.00x"));
        assert_eq!(end(&head, " unicf "), end(&line, "4.00x") + 1);
    }

    #[test]
    fn the_papers_gains_need_both_configurations() {
        let configurations = ["scalar", "unival", "unicf"].map(Configuration::parse);
        let mut report = Report::new(&configurations);
        let case = cases::find("dct").expect("a kernel of the paper");
        report.case(case, vec![measured(9, "a"), measured(6, "a"), measured(3, "a")]);
        assert_eq!(report.paper(), "dct                      2.00x (paper: 2.09x)\n");
        assert_eq!(Report::new(&configurations[..2]).paper(), "");
    }
}
