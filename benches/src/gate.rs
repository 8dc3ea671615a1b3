//! The gate against slower code: how many times as fast as one work-item after the other each kernel of the suite was when
//! that was recorded, and is now.
//!
//! A record is a text: a line `BITS NAME FACTOR` for each kernel and each width of the machine's registers, as factors of
//! different widths cannot be compared.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::case::Case;
use crate::compare::{Cells, Clock, Configuration, Measured, Team};

/// What may be lost.
pub const ALLOWED: f64 = 0.85;
/// A loss that is not there each time that the kernel is measured is the noise of the machine.
const ATTEMPTS: usize = 3;

/// Processes of the two configurations whose times make a factor. Each attempt has its own: how a kernel's branches are
/// predicted, say, depends on where its code lies, and stays as it is for as long as the process lives.
pub fn team(clock: Clock) -> Team {
    Team::new(["unicf", "scalar"].map(Configuration::parse).to_vec(), clock)
}

/// Recorded factors by the bits of registers and the kernel's name.
#[derive(Debug, Default, PartialEq)]
pub struct Record(BTreeMap<(u32, String), f64>);

impl Record {
    /// Reads a record; empty lines and those that begin with `#` say nothing.
    pub fn parse(text: &str) -> Result<Self, String> {
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let entry = |line: &str| {
            let mut words = line.split_whitespace();
            let bits = words.next()?.parse().ok()?;
            let name = words.next()?.to_owned();
            let factor = words.next()?.parse().ok()?;
            words.next().is_none().then_some(((bits, name), factor))
        };
        let entries = lines.map(|line| entry(line).ok_or_else(|| format!("not BITS NAME FACTOR: {line}")));
        entries.collect::<Result<_, _>>().map(Self)
    }

    /// Puts a factor in place of an earlier one.
    pub fn put(&mut self, bits: u32, name: &str, factor: f64) {
        self.0.insert((bits, name.to_owned()), factor);
    }

    /// As it is read.
    pub fn text(&self) -> String {
        let mut text =
            "# How many times as fast as one work-item after the other: `cargo xtask bench --record`.\n".to_owned();
        for ((bits, name), factor) in &self.0 {
            let _ = writeln!(text, "{bits} {name} {factor:.2}");
        }
        text
    }

    fn get(&self, bits: u32, name: &str) -> Option<f64> {
        self.0.get(&(bits, name.to_owned())).copied()
    }
}

/// The bits of the machine's widest registers.
pub fn register_bits() -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            return 512;
        }
        if is_x86_feature_detected!("avx2") {
            return 256;
        }
    }
    128
}

/// How many times as fast as one work-item after the other a case is now.
pub fn measure(team: &mut Team, case: &Case, rounds: usize) -> Result<f64, String> {
    factor(team.case(case, rounds))
}

fn factor(cells: Cells<Measured>) -> Result<f64, String> {
    let cells = cells.into_iter().collect::<Result<Vec<_>, _>>()?;
    // What others do on the machine only makes a run longer: the short ones say most about the code.
    let [gangs, alone] = [0, 1].map(|number: usize| cells[number].time.low.as_secs_f64());
    Ok(alone / gangs.max(1e-9))
}

/// What to record: the least of some measurements, which the noise of the machine does not make too high to be reached
/// again.
pub fn least(mut measure: impl FnMut() -> Result<f64, String>) -> Result<f64, String> {
    (0..ATTEMPTS).try_fold(f64::INFINITY, |least, _| Ok(least.min(measure()?)))
}

/// Compares a case with its record, and measures again while it seems too slow: what to print, or what is wrong.
pub fn judge(record: &Record, name: &str, mut measure: impl FnMut() -> Result<f64, String>) -> Result<String, String> {
    let bits = register_bits();
    let recorded = record.get(bits, name).ok_or_else(|| format!("{name}: nothing is recorded for {bits} bits"))?;
    let mut best = 0.0_f64;
    for _ in 0..ATTEMPTS {
        best = best.max(measure().map_err(|error| format!("{name}: {error}"))?);
        if best >= ALLOWED * recorded {
            return Ok(format!("{name:<28} {best:>6.2}x   recorded {recorded:.2}x"));
        }
    }
    Err(format!("{name}: {best:.2} times as fast as scalar, recorded was {recorded:.2}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_is_written() {
        let mut record = Record::parse("# words\n\n512 dct 1.50\n").expect("valid");
        record.put(256, "dct", 1.25);
        record.put(512, "dct", 2.0);
        assert_eq!(record.get(512, "dct"), Some(2.0));
        assert_eq!(Record::parse(&record.text()), Ok(record));
        assert!(Record::parse("512 dct").is_err());
        assert!(Record::parse("512 dct 1.0 more").is_err());
    }

    #[test]
    fn the_least_is_recorded() {
        let mut factors = [3.0, 2.0, 4.0].iter();
        assert_eq!(least(|| Ok(*factors.next().expect("no more than these"))), Ok(2.0));
        assert!(least(|| Err("wrong".to_owned())).is_err());
    }

    #[test]
    fn a_loss_counts_when_it_is_there_each_time() {
        let mut record = Record::default();
        record.put(register_bits(), "dct", 2.0);
        let judged = |factors: &[f64]| {
            let mut factors = factors.iter();
            judge(&record, "dct", || Ok(*factors.next().expect("no more attempts than these")))
        };
        assert!(judged(&[1.71]).is_ok());
        assert!(judged(&[1.6, 1.69, 1.9]).is_ok());
        assert_eq!(judged(&[1.6, 1.69, 1.5]), Err("dct: 1.69 times as fast as scalar, recorded was 2.00".to_owned()));
        assert!(judge(&record, "nbody", || Ok(9.0)).is_err());
        assert!(judge(&record, "dct", || Err("wrong".to_owned())).is_err());
    }
}
