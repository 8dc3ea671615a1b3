//! What the driver's choice for each kernel of the suite loses: every width and layout, and every pass switched off, is timed
//! beside what the driver takes, by its cost model alone and after it has measured other forms itself (`LOCKSTEP_TRIALS`).
//!
//! The driver's choice runs for a while, until its trials are over. All candidates have a few turns first, but for those whose machine code
//! another one has as well: what they differ by is chance. The fastest of them and the driver's choice then have their turns together, and
//! the loss is the median of the factors of these turns: the best of many short measurements is too good to be true. They do so several
//! times with new buffers, as a kernel may be a fifth slower for the place in memory that its buffers have.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use serde_json::{Value, json};

use crate::case::Case;
use crate::command_line::{Measurement, end_with, serve_as_child};
use crate::compare::{Cells, Configuration, Measured, TRIALS, Team};
use crate::report::{json_time, milliseconds, with};
use crate::same_code::assembly::{Texts, empty_folder, keep_assembly, take_texts};
use crate::side_by_side::Factor;
use crate::suite;

/// Rounds in which all candidates have their turns.
const FIRST_ROUNDS: usize = 2;
/// Rounds of the fastest and the choice with the same buffers, if nothing else is said.
const ROUNDS: usize = 3;
/// How often these get new buffers.
const PLACES: usize = 3;
/// How many of the fastest are measured again.
const FINALISTS: usize = 4;
/// The loss that no kernel is to have.
const MOST_LOSS: f64 = 1.15;
/// Work-items of a gang that are tried, with each layout; one after the other beside them.
const WIDTHS: [u32; 5] = [4, 8, 16, 32, 64];
const LAYOUTS: [&str; 4] = ["x", "y", "tile", "linear"];
/// The passes of `LOCKSTEP_PASSES` that make versions of loops and branches, each switched off.
const PASSES: [&str; 12] = [
    "gates",
    "loop_gates",
    "full_gangs",
    "unmasked_loops",
    "coherent_branches",
    "branch_fusion",
    "per_lane_loops",
    "unswitch_selects",
    "split_conditions",
    "divisibility",
    "partial_unroll",
    "scalar_replacement",
];
/// The places among the candidates of the driver's choice and of what the cost model takes.
const CHOICE: usize = 0;
const ESTIMATE: usize = 1;
/// How long launches of the driver's choice run before they are measured.
const SETTLING: Duration = Duration::from_millis(2500);

/// Serves as a child or measures, as the command line says.
pub fn measure_choices() -> ExitCode {
    if serve_as_child() {
        return ExitCode::SUCCESS;
    }
    end_with("bench-choices", compare_candidates(&Options::parse().measurement))
}

/// Measure what the driver's choice of width, layout and passes loses to the best one
#[derive(Parser)]
struct Options {
    #[command(flatten)]
    measurement: Measurement,
}

/// Where each candidate's driver leaves the assembly of its kernels.
struct Dumps {
    folder: tempfile::TempDir,
}

impl Dumps {
    fn new() -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| format!("cannot make a temporary folder: {error}"))?;
        Ok(Self { folder })
    }

    fn folder_of(&self, number: usize) -> PathBuf {
        self.folder.path().join(number.to_string())
    }

    /// The candidates with their places for dumps. The driver's choice has none, as it makes code of many forms while it runs.
    fn assign(&self, mut candidates: Vec<Configuration>) -> Vec<Configuration> {
        for (number, candidate) in candidates.iter_mut().enumerate().filter(|(number, _)| *number != CHOICE) {
            let folder = self.folder_of(number).to_string_lossy().into_owned();
            candidate.environment.push(("LOCKSTEP_DUMP".to_owned(), folder));
        }
        candidates
    }

    /// Removes what was left, as finalists build a case again after its code was looked at.
    fn remove_all(&self) -> Result<(), String> {
        let remove = |entry: std::io::Result<std::fs::DirEntry>| empty_folder(&entry?.path());
        let removed = std::fs::read_dir(self.folder.path()).and_then(|mut entries| entries.try_for_each(remove));
        removed.map_err(|error| format!("cannot remove assembly: {error}"))
    }

    /// Takes away the assembly that a candidate has left.
    fn take_assembly(&self, number: usize) -> Result<Texts, String> {
        let kept = self.folder.path().join("kept");
        keep_assembly(&self.folder_of(number), &kept, "").map_err(|error| format!("cannot keep assembly: {error}"))?;
        take_texts(&kept)
    }

    /// Drops the candidates whose code is that of an earlier one.
    fn drop_copies(&self, sums: &mut Cells<String>) -> Result<(), String> {
        let mut seen: Vec<Texts> = Vec::new();
        for (number, sum) in sums.iter_mut().enumerate().skip(ESTIMATE) {
            let texts = self.take_assembly(number)?;
            if seen.contains(&texts) {
                *sum = Err("has the code of another candidate".to_owned());
            } else if !texts.is_empty() {
                seen.push(texts);
            }
        }
        Ok(())
    }
}

/// What is timed, the driver's choice first.
fn list_candidates() -> Vec<Configuration> {
    let mut candidates = vec![format!("default+{TRIALS}=1"), "default".to_owned(), "scalar".to_owned()];
    for width in WIDTHS {
        let of_layout = |layout| format!("default+LOCKSTEP_WIDTH={width}+LOCKSTEP_LAYOUT={layout}");
        candidates.extend(LAYOUTS.map(of_layout));
    }
    candidates.extend(PASSES.map(|pass| format!("default+LOCKSTEP_PASSES=-{pass}")));
    candidates.iter().map(|text| Configuration::parse(text)).collect()
}

/// What one kernel's choice loses.
struct Loss {
    case: &'static str,
    choice: Measured,
    best: Measured,
    /// The name of the fastest candidate.
    best_name: String,
    /// How many times as long the choice takes as the fastest; 1 where it is the fastest.
    factor: f64,
    /// The same of what the cost model takes.
    estimate_factor: f64,
}

impl Loss {
    /// Judges the finalists' turns; the error of the choice where it has one.
    fn of(case: &Case, candidates: &[Configuration], cells: Cells<Measured>) -> Result<Self, String> {
        let mut choice = None;
        let mut others = Vec::new();
        for (number, (candidate, cell)) in candidates.iter().zip(cells).enumerate() {
            match cell {
                cell if number == CHOICE => choice = Some(cell?),
                Ok(measured) => others.push((number, candidate.name.clone(), measured)),
                // It has failed before, or is no finalist.
                Err(_) => {}
            }
        }
        let choice = choice.ok_or("the driver's choice is no candidate")?;
        let mut fastest = (1.0, candidates[CHOICE].name.clone(), choice.clone());
        let mut estimate_gain = 1.0;
        for (number, name, measured) in others {
            let gain = Factor::of(&measured, &choice).median;
            if number == ESTIMATE {
                estimate_gain = gain;
            }
            if gain > fastest.0 {
                fastest = (gain, name, measured);
            }
        }
        let (factor, best_name, best) = fastest;
        Ok(Self { case: case.name, choice, best, best_name, factor, estimate_factor: factor / estimate_gain })
    }

    /// The line of the table.
    fn line(&self) -> String {
        let mark = if self.factor > MOST_LOSS { "  MISSED" } else { "" };
        let times = [&self.choice, &self.best].map(|measured| milliseconds(&measured.time));
        format!(
            "{:<28} {:>10.4} {:>10.4} {:>9.3} {:>7.3}{mark}  {}",
            self.case,
            times[0],
            times[1],
            self.estimate_factor,
            self.factor,
            shorten_name(&self.best_name)
        )
    }

    fn json(&self) -> Value {
        let best = with(json_time(&self.best.time), "name", self.best_name.as_str());
        json!({
            "name": self.case,
            "choice": json_time(&self.choice.time),
            "best": best,
            "estimate_loss": self.estimate_factor,
            "loss": self.factor,
        })
    }
}

/// A candidate's name as the table has it: `width=8 layout=x`.
fn shorten_name(name: &str) -> String {
    name.trim_start_matches("default+").replace("LOCKSTEP_", "").replace('+', " ").to_lowercase()
}

fn compare_candidates(measurement: &Measurement) -> Result<Vec<String>, String> {
    let dumps = Dumps::new()?;
    let candidates = dumps.assign(list_candidates());
    let mut team = Team::new(candidates.clone(), measurement.clock);
    let mut losses: Vec<Loss> = Vec::new();
    let mut errors = Vec::new();
    println!("{:<28} {:>10} {:>10} {:>9} {:>7}  fastest", "ms", "choice", "fastest", "estimate", "loss");
    for case in suite::all().into_iter().filter(|case| measurement.chosen.wants(case.name)) {
        let everyone: Vec<usize> = (0..candidates.len()).collect();
        dumps.remove_all()?;
        let mut sums = team.prepare_case(case, &everyone);
        for (candidate, sum) in candidates.iter().zip(&sums) {
            errors.extend(sum.as_ref().err().map(|error| format!("{}, {}: {error}", case.name, candidate.name)));
        }
        dumps.drop_copies(&mut sums)?;
        let finalists = find_finalists(&team.take_turns(sums, FIRST_ROUNDS));
        let cells = measure_finalists(&mut team, case, &finalists, measurement.rounds.or(ROUNDS));
        match Loss::of(case, &candidates, cells) {
            Ok(loss) => {
                println!("{}", loss.line());
                losses.push(loss);
                measurement.keep_numbers(&json!({ "cases": Value::from_iter(losses.iter().map(Loss::json)) }))?;
            }
            Err(error) => errors.push(format!("{}: {error}", case.name)),
        }
    }
    println!("\n{}", summarize(&losses));
    Ok(errors)
}

/// The driver's choice, what the cost model takes, and the fastest others.
fn find_finalists(cells: &Cells<Measured>) -> Vec<usize> {
    let mut others: Vec<(usize, &Measured)> =
        cells.iter().enumerate().filter_map(|(number, cell)| Some((number, cell.as_ref().ok()?))).collect();
    others.retain(|(number, _)| ![CHOICE, ESTIMATE].contains(number));
    others.sort_by_key(|(_, measured)| measured.time.median);
    [CHOICE, ESTIMATE].into_iter().chain(others.into_iter().map(|(number, _)| number).take(FINALISTS)).collect()
}

/// The finalists' turns in several places of memory; the others have none.
fn measure_finalists(team: &mut Team, case: &Case, finalists: &[usize], rounds: usize) -> Cells<Measured> {
    let mut parts: Vec<Vec<Measured>> = Vec::new();
    let mut errors: Vec<Option<String>> = Vec::new();
    for _ in 0..PLACES {
        let mut sums = team.prepare_case(case, finalists);
        if let Err(error) = team.warm_up(CHOICE, SETTLING) {
            sums[CHOICE] = Err(error);
        }
        for (number, cell) in team.take_turns(sums, rounds).into_iter().enumerate() {
            parts.resize_with(parts.len().max(number + 1), Vec::new);
            errors.resize_with(parts.len(), || None);
            match cell {
                Ok(measured) => parts[number].push(measured),
                Err(error) => errors[number] = Some(error),
            }
        }
    }
    let join = |(parts, error): (Vec<Measured>, Option<String>)| match error {
        Some(error) => Err(error),
        None => Measured::join_parts(parts).ok_or_else(|| "was not measured".to_owned()),
    };
    parts.into_iter().zip(errors).map(join).collect()
}

/// The line below the table.
fn summarize(losses: &[Loss]) -> String {
    let summarize_factors = |factor_of: fn(&Loss) -> f64| {
        let mean = losses.iter().map(|loss| factor_of(loss).ln()).sum::<f64>() / losses.len().max(1) as f64;
        let above = losses.iter().filter(|loss| factor_of(loss) > MOST_LOSS).count();
        format!("{:.3} (geometric mean of {}), above {MOST_LOSS} in {above}", mean.exp(), losses.len())
    };
    let of_choice = summarize_factors(|loss| loss.factor);
    format!("loss: {of_choice}; of the estimate alone: {}", summarize_factors(|loss| loss.estimate_factor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spread;

    fn measured(micros: &[u64]) -> Result<Measured, String> {
        let turns: Vec<Duration> = micros.iter().map(|&time| Duration::from_micros(time)).collect();
        Ok(Measured { time: Spread::of(turns.clone()), turns, sum: String::new() })
    }

    fn loss(cells: Cells<Measured>) -> Result<Loss, String> {
        let names = ["default+LOCKSTEP_TRIALS=1", "default", "default+LOCKSTEP_WIDTH=8+LOCKSTEP_LAYOUT=x"];
        let candidates = names.map(Configuration::parse);
        Loss::of(suite::find("dct").expect("a kernel of the suite"), &candidates, cells)
    }

    #[test]
    fn the_loss_is_that_of_turns_side_by_side() {
        // The machine was half as fast in the second turn.
        let one =
            loss(vec![measured(&[30, 60, 30]), measured(&[90, 180, 90]), measured(&[20, 40, 20])]).expect("measured");
        assert_eq!((one.factor, one.estimate_factor), (1.5, 4.5));
        assert!(one.line().ends_with("1.500  MISSED  width=8 layout=x"), "{}", one.line());
        let none = loss(vec![measured(&[20]), Err("cannot".into()), measured(&[21])]).expect("measured");
        assert_eq!((none.factor, none.best_name.as_str()), (1.0, "default+LOCKSTEP_TRIALS=1"));
        let line = "loss: 1.225 (geometric mean of 2), above 1.15 in 1; of the estimate alone: 2.121 (geometric mean of 2), above 1.15 in 1";
        assert_eq!(summarize(&[one, none]), line);
        assert!(loss(vec![Err("wrong".into()), measured(&[1]), measured(&[1])]).is_err());
    }

    #[test]
    fn the_fastest_are_measured_again_beside_the_choice() {
        let cells = [90, 50, 10, 20, 30, 40].map(|time| measured(&[time])).into_iter().chain([Err("wrong".into())]);
        assert_eq!(find_finalists(&cells.collect()), [CHOICE, ESTIMATE, 2, 3, 4, 5]);
    }

    #[test]
    fn candidates_with_the_code_of_others_are_dropped() {
        let dumps = Dumps::new().expect("a folder");
        let write = |number: usize, text: &str| {
            std::fs::create_dir_all(dumps.folder_of(number)).expect("it can be made");
            std::fs::write(dumps.folder_of(number).join("k.35-optimize.s"), text).expect("it can be written");
        };
        for (number, text) in [(1, "ret # as estimated"), (2, "nop"), (3, "ret"), (4, "nop")] {
            write(number, text);
        }
        let mut sums: Cells<String> = vec![Ok("1".to_owned()); 7];
        dumps.drop_copies(&mut sums).expect("the files can be read");
        // Of the last two no code is known.
        assert_eq!(sums.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, true, true, false, false, true, true]);
        // The next case starts anew.
        write(2, "nop");
        dumps.remove_all().expect("they can be removed");
        write(3, "nop");
        let mut sums: Cells<String> = vec![Ok("1".to_owned()); 7];
        dumps.drop_copies(&mut sums).expect("the files can be read");
        assert!(sums.iter().all(Result::is_ok));
    }

    #[test]
    fn every_candidate_is_named_once() {
        let mut names: Vec<String> = list_candidates().into_iter().map(|candidate| candidate.name).collect();
        assert_eq!([&names[CHOICE], &names[ESTIMATE]], ["default+LOCKSTEP_TRIALS=1", "default"]);
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!((names.len(), count), (3 + 5 * 4 + PASSES.len(), count));
    }
}
