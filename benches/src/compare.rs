//! The parent's side of a comparison: a child per configuration, all alive at once, that run the same case in turn.
//!
//! The turns are short, so that what else happens on the machine meets every configuration alike.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use lockstep_conformance::Random;

use crate::Spread;
use crate::case::Case;
use crate::generated::Generated;

/// The word on the command line that makes this program a child.
pub const WORKER: &str = "--worker";

/// The word after it for a child whose launches have no events.
pub const WITHOUT_EVENTS: &str = "without-events";
/// The word for a child that runs loops written by hand.
pub const BY_HAND: &str = "by-hand";
/// The word for a child that does only what the machine limits.
pub const LIMIT: &str = "limit";

/// The word for a child whose kernels compute plain functions in the place of their `native_` and `half_` forms.
pub const PLAIN_FORMS: &str = "plain";

/// The word for a child whose programs are SPIR-V modules, made of the sources.
pub const FROM_MODULES: &str = "modules";

/// How long a child may take for one answer if nothing else is said.
const PATIENCE: Duration = Duration::from_secs(120);
/// A configuration that needs so long gets no more than a few turns.
const LONG: Duration = Duration::from_secs(4);
const FEW_TURNS: usize = 2;
/// How long each turn of a configuration is, in milliseconds.
const TURN: u64 = 25;

/// In the place of an answer of a child that was asked nothing.
const NOT_ASKED: &str = "was not asked";

/// The switch by which kernels first get code that is made quickly.
pub const TIERS: &str = "LOCKSTEP_TIERS";

/// The switch by which kernels that run for long are measured in other forms.
pub const TRIALS: &str = "LOCKSTEP_TRIALS";

/// A driver and how it is set up.
#[derive(Clone, Debug, PartialEq)]
pub struct Configuration {
    /// As on the command line.
    pub name: String,
    /// What its environment has beside ours.
    pub environment: Vec<(String, String)>,
    /// The child's first word, where it uses no driver or builds something else.
    pub word: Option<&'static str>,
    /// How many times as fast as this the first configuration is to be.
    pub wanted: f64,
}

/// The word for a driver whose switches nobody sets.
const DEFAULT: &str = "default";

/// A platform's name that takes any platform.
const ANY_PLATFORM: &str = "*";

impl Configuration {
    /// `VALUE+NAME=VALUE+…`: what `LOCKSTEP_VECTORIZE` is to be, or `default` for nothing, then other variables of the environment.
    pub fn parse(text: &str) -> Self {
        let mut words = text.split('+');
        let first = words.next().filter(|&value| value != DEFAULT).map(|value| ("LOCKSTEP_VECTORIZE", value));
        let others = words.map(|word| word.split_once('=').unwrap_or((word, "")));
        // One thread: the comparison is about code, and not about how the machine is shared.
        let all = [("LOCKSTEP_THREADS", "1")].into_iter().chain(first).chain(others);
        let environment = all.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Self { name: text.to_owned(), environment, word: None, wanted: 1.0 }
    }

    /// `NAME=VENDORS+NAME=VALUE+…`: a driver as it is, by what the ICD loader has to be told to find it and no other,
    /// then other variables of the environment.
    pub fn driver(text: &str) -> Result<Self, String> {
        let (name, rest) = text.split_once('=').ok_or_else(|| format!("{text} is not NAME=VENDORS"))?;
        let mut words = rest.split('+');
        let first = words.next().map(|vendors| ("OCL_ICD_VENDORS", vendors));
        let others = words.map(|word| word.split_once('=').unwrap_or((word, "")));
        let all = [("LOCKSTEP_TEST_PLATFORM", ANY_PLATFORM)].into_iter().chain(first).chain(others);
        let environment = all.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Ok(Self { name: name.to_owned(), environment, word: None, wanted: 1.0 })
    }

    /// The same driver, with the plain functions in the place of their `native_` and `half_` forms.
    pub fn with_plain_functions(&self) -> Self {
        Self { name: PLAIN_FORMS.to_owned(), word: Some(PLAIN_FORMS), ..self.clone() }
    }

    /// The same driver, with SPIR-V modules in the place of sources.
    pub fn with_modules(&self) -> Self {
        Self { name: "SPIR-V".to_owned(), word: Some(FROM_MODULES), ..self.clone() }
    }

    /// What the machine allows: loops by hand, of which two thirds of the speed are wanted, and then the bare limits.
    pub fn limits() -> [Self; 2] {
        [(BY_HAND, 1.0 / 1.5), (LIMIT, 0.0)].map(|(word, wanted)| Self {
            name: word.to_owned(),
            environment: Vec::new(),
            word: Some(word),
            wanted,
        })
    }
}

/// Which clock counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Clock {
    /// The launches' events, from start to end; for compiling, the clock on the wall.
    #[default]
    Event,
    /// The process's processor time, for a machine that does other work at the same time.
    Cpu,
    /// The clock on the wall from before the first launch to after the last, without events: what an application
    /// waits for, whatever a driver takes for a launch's start.
    Wall,
}

/// What a configuration did with a case.
#[derive(Clone)]
pub struct Measured {
    /// How long it took.
    pub time: Spread,
    /// The median of each turn, to compare with the others' turns beside it.
    pub turns: Vec<Duration>,
    /// A checksum of its results.
    pub sum: String,
}

impl Measured {
    fn of(sum: String, turns: &[Vec<Duration>]) -> Self {
        let median = |turn: &Vec<Duration>| Spread::of(turn.clone()).median;
        Self { time: Spread::of(turns.concat()), turns: turns.iter().map(median).collect(), sum }
    }

    /// What several comparisons measured, as one; none where there is none.
    pub fn join_parts(parts: Vec<Self>) -> Option<Self> {
        let turns: Vec<Duration> = parts.iter().flat_map(|part| part.turns.clone()).collect();
        let sum = parts.into_iter().next()?.sum;
        Some(Self { time: Spread::of(turns.clone()), turns, sum })
    }
}

/// One for each configuration; what went wrong in words.
pub type Cells<T> = Vec<Result<T, String>>;

/// The children.
pub struct Team {
    workers: Vec<(Configuration, Option<Worker>)>,
    clock: Clock,
    patience: Duration,
}

struct Worker {
    child: Child,
    commands: ChildStdin,
    answers: Receiver<String>,
}

impl Team {
    /// Starts nothing yet.
    pub fn new(configurations: Vec<Configuration>, clock: Clock) -> Self {
        Self {
            workers: configurations.into_iter().map(|configuration| (configuration, None)).collect(),
            clock,
            patience: PATIENCE,
        }
    }

    /// How long a child may take for one answer, where that is not two minutes.
    pub fn patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Measures a case, in so many rounds.
    pub fn case(&mut self, case: &Case, rounds: usize) -> Cells<Measured> {
        let everyone: Vec<usize> = (0..self.workers.len()).collect();
        let sums = self.prepare_case(case, &everyone);
        self.take_turns(sums, rounds)
    }

    /// Makes a case ready to run in the children with these numbers; the checksums of its results.
    pub fn prepare_case(&mut self, case: &Case, numbers: &[usize]) -> Cells<String> {
        let mut sums: Cells<String> = self.workers.iter().map(|_| Err(NOT_ASKED.to_owned())).collect();
        for &number in numbers {
            sums[number] = self.ask(number, &format!("prepare {}", case.name), "ready");
        }
        sums
    }

    /// Measures the case that is ready, in so many rounds, in the children that have a checksum.
    pub fn take_turns(&mut self, mut sums: Cells<String>, rounds: usize) -> Cells<Measured> {
        let mut times: Vec<Vec<Vec<Duration>>> = vec![Vec::new(); sums.len()];
        for round in 0..=rounds {
            for number in order_turns(sums.len(), round) {
                let has_run_long =
                    times[number].len() >= FEW_TURNS && times[number].iter().flatten().sum::<Duration>() > LONG;
                if sums[number].is_err() || has_run_long {
                    continue;
                }
                match self.ask(number, &format!("run {TURN}"), "times") {
                    // The first round is to warm up.
                    Ok(_) if round == 0 => {}
                    Ok(answer) => times[number].push(answer.split(' ').map(|times| self.clock.read(times)).collect()),
                    Err(error) => sums[number] = Err(error),
                }
            }
        }
        sums.into_iter().zip(times).map(|(sum, turns)| Ok(Measured::of(sum?, &turns))).collect()
    }

    /// Has a child run the case that is ready for so long, by its processor time or by what launches take. What it takes is not kept.
    pub fn warm_up(&mut self, number: usize, duration: Duration) -> Result<(), String> {
        let mut time_run = Duration::ZERO;
        while time_run < duration {
            let answer = self.ask(number, &format!("run {TURN}"), "times")?;
            time_run += answer.split(' ').map(|times| self.clock.read(times)).sum::<Duration>();
        }
        Ok(())
    }

    /// Measures the first launch of a generated kernel.
    pub fn compile(&mut self, generated: Generated, rounds: usize) -> Cells<Spread> {
        let mut times: Vec<Result<Vec<Duration>, String>> = self.workers.iter().map(|_| Ok(Vec::new())).collect();
        for round in 0..=rounds {
            let answers = self.each(|_| format!("compile {} {round}", generated.name), "times");
            for (times, answer) in times.iter_mut().zip(answers) {
                match (times.as_mut(), answer) {
                    (Ok(times), Ok(answer)) if round > 0 => times.push(self.clock.read(&answer)),
                    (Ok(_), Err(error)) => *times = Err(error),
                    _ => {}
                }
            }
        }
        times.into_iter().map(|times| times.map(Spread::of)).collect()
    }

    /// Asks every child the same; each answer without its first word, which is to be `wanted`.
    pub fn ask_all(&mut self, command: &str, wanted: &str) -> Cells<String> {
        self.each(|_| command.to_owned(), wanted)
    }

    fn each(&mut self, command: impl Fn(usize) -> String, wanted: &str) -> Cells<String> {
        (0..self.workers.len()).map(|number| self.ask(number, &command(number), wanted)).collect()
    }

    /// A child's answer without its first word. A child that has ended is started anew for the next question.
    fn ask(&mut self, number: usize, command: &str, wanted: &str) -> Result<String, String> {
        let (configuration, worker) = &mut self.workers[number];
        let running = match worker {
            Some(running) => running,
            None => worker.insert(Worker::start(configuration, self.clock)?),
        };
        let answer = running.ask(command, self.patience);
        match answer {
            Ok(answer) => match answer.split_once(' ') {
                Some((word, rest)) if word == wanted => Ok(rest.to_owned()),
                Some(("wrong", error)) => Err(error.to_owned()),
                _ => Err(answer),
            },
            Err(error) => {
                *worker = None;
                Err(error)
            }
        }
    }
}

/// The order in which `count` children have their turns in a round: another one in each, as what ran before, and what it
/// left in the caches, must not always meet the same child.
fn order_turns(count: usize, round: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut random = Random::new(round as u64);
    for last in (1..count).rev() {
        order.swap(last, random.between(0, last));
    }
    order
}

impl Worker {
    fn start(configuration: &Configuration, clock: Clock) -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let environment = configuration.environment.iter().map(|(name, value)| (name, value));
        let mut child = Command::new(program)
            .arg(WORKER)
            .args(configuration.word)
            .args((clock == Clock::Wall).then_some(WITHOUT_EVENTS))
            // Code that a mistake of our driver makes simple is no measurement of it.
            .env("LOCKSTEP_STRICT", "1")
            // Code that stays is measured, unless a configuration says otherwise.
            .env(TIERS, "0")
            .env(TRIALS, "0")
            .envs(environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start: {error}"))?;
        let (Some(commands), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("no pipes".into());
        };
        let (sender, answers) = channel();
        // The thread ends with the child's output.
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self { child, commands, answers })
    }

    fn ask(&mut self, command: &str, patience: Duration) -> Result<String, String> {
        // A child that has ended does not read; why it ended is told below.
        let _ = writeln!(self.commands, "{command}").and_then(|()| self.commands.flush());
        match self.answers.recv_timeout(patience) {
            Ok(answer) => Ok(answer),
            Err(RecvTimeoutError::Timeout) => Err(format!("no answer in {} s", patience.as_secs())),
            Err(RecvTimeoutError::Disconnected) => {
                Err(self.child.wait().map_or_else(|error| error.to_string(), |status| format!("ended: {status}")))
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may hang in a kernel. Where it has ended already, both do nothing.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Clock {
    /// One of the times of a run, `EVENT:CPU:WALL`.
    fn read(self, times: &str) -> Duration {
        let place = match self {
            Self::Event => 0,
            Self::Cpu => 1,
            Self::Wall => 2,
        };
        nanoseconds(times.split(':').nth(place).expect("a child of this program sends all times"))
    }
}

fn nanoseconds(text: &str) -> Duration {
    Duration::from_nanos(text.parse().expect("a child of this program sends numbers"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_is_a_switch_and_other_variables() {
        let parsed = Configuration::parse("unicf+LOCKSTEP_WIDTH=8");
        let pairs: Vec<(&str, &str)> = parsed.environment.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(pairs, [("LOCKSTEP_THREADS", "1"), ("LOCKSTEP_VECTORIZE", "unicf"), ("LOCKSTEP_WIDTH", "8")]);
        assert_eq!(parsed.name, "unicf+LOCKSTEP_WIDTH=8");
        let names: Vec<String> =
            Configuration::parse("default").environment.into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["LOCKSTEP_THREADS"]);
    }

    #[test]
    fn each_clock_reads_its_part() {
        assert_eq!(Clock::Event.read("5:7:9"), Duration::from_nanos(5));
        assert_eq!(Clock::Cpu.read("5:7:9"), Duration::from_nanos(7));
        assert_eq!(Clock::Wall.read("5:7:9"), Duration::from_nanos(9));
    }

    #[test]
    fn a_driver_is_a_name_and_where_it_is() {
        let parsed = Configuration::driver("other=/some/folder/+MODE=x").expect("valid");
        assert_eq!(parsed.name, "other");
        assert_eq!(parsed.environment[1], ("OCL_ICD_VENDORS".to_owned(), "/some/folder/".to_owned()));
        assert_eq!(parsed.environment[2], ("MODE".to_owned(), "x".to_owned()));
        assert!(Configuration::driver("other").is_err());
    }

    #[test]
    fn every_child_comes_first_and_after_every_other() {
        let orders: Vec<Vec<usize>> = (1..=40).map(|round| order_turns(3, round)).collect();
        for order in &orders {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2]);
        }
        for (one, other) in [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)] {
            assert!(orders.iter().any(|order| order.windows(2).any(|pair| pair == [one, other])), "{one}, {other}");
            assert!(orders.iter().any(|order| order[0] == one), "{one}");
        }
    }

    #[test]
    fn turns_are_kept_apart() {
        let turn = |times: &[u64]| times.iter().map(|&time| Duration::from_nanos(time)).collect::<Vec<_>>();
        let measured = Measured::of(String::new(), &[turn(&[9, 1, 2]), turn(&[4])]);
        assert_eq!(measured.turns, turn(&[2, 4]));
        assert_eq!(measured.time.median, Duration::from_nanos(2));
    }
}
