//! How compile time grows with the size of a kernel, beside clang -O2: for kernels of several shapes, up to 50,000 instructions, and for
//! sources that are as long or deep as those of attackers. Sizes double, and where twice the size takes more than 2.3 times as long, the
//! stage is named that is to blame.
//!
//! Each time is that of a process of its own, from the call that builds the program to the end of its first launch, with no
//! cache; the driver says what its stages take (`LOCKSTEP_TIME`). The process has built and launched another kernel before.
//! Other work on the machine only adds to a time, so the least of several counts. clang makes an object of the source for this processor,
//! one work-item at a time; without the built-in functions, which it leaves undefined.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::Parser;
use lockstep_benches::command_line::Rounds;
use lockstep_benches::compare::TIERS;
use lockstep_benches::growth::{ELEMENTS, ITEMS, KERNEL, SHAPES, Shape};
use lockstep_conformance::long_sources::{
    BRANCHES, CHAINED_CALLS, LIVE_VALUES, LONG_SWITCH, LongSource, NESTED_CHOICES, NESTED_GOTOS,
};
use lockstep_conformance::{Setup, run};

/// The sources whose time is measured beside that of the shapes.
const SOURCES: [LongSource; 6] = [NESTED_GOTOS, LONG_SWITCH, NESTED_CHOICES, CHAINED_CALLS, BRANCHES, LIVE_VALUES];
/// Each source's size is half the next one; there are so many.
const SOURCE_SIZES: u32 = 5;

/// Instructions after the import of the greatest kernels of a shape.
const MOST: usize = 50_000;
/// Each of their sizes is half the next one; there are so many.
const SIZES: u32 = 6;
/// Units from which the size of one is told.
const PROBES: [usize; 2] = [32, 64];
/// Times that twice the size may take.
const LIMIT: f64 = 2.3;
/// Milliseconds from which on a time is more than what every build takes; factors of less mean nothing.
const LEAST: f64 = 50.0;
/// Milliseconds up to which a size is measured three times as often.
const SHORT: f64 = 500.0;

/// Stands on standard error before what the driver says of the kernel.
const BEGIN: &str = "measured:";

/// Has the driver write what stages take.
const TIME: &str = "LOCKSTEP_TIME";
/// Stages of the front end, which are clang and LLVM.
const FRONT_END: [&str; 3] = ["program: clang", "program: link", "program: clean_up"];
/// Stages of LLVM's code generation.
const BACK_END: [&str; 2] = ["kernel: optimize", "kernel: emit"];

/// Seconds after which clang is stopped.
const CLANG_LIMIT: &str = "60";

/// A kernel that is built in several sizes.
#[derive(Clone, Copy, Debug)]
enum Growing {
    /// The number of a shape's units, which is chosen by the instructions that they make.
    Shape(Shape),
    /// The number in the name of a long source.
    Source(LongSource),
}

impl Growing {
    fn list_all() -> Vec<Growing> {
        let shapes = SHAPES.iter().copied().map(Growing::Shape);
        shapes.chain(SOURCES.into_iter().map(Growing::Source)).collect()
    }

    fn name(&self) -> &'static str {
        match self {
            Growing::Shape(shape) => shape.name,
            Growing::Source(source) => source.name,
        }
    }

    fn write_source(&self, units: usize) -> String {
        match self {
            Growing::Shape(shape) => shape.source(units),
            Growing::Source(source) => (source.write)(units),
        }
    }

    /// What stands at the head of the sizes, and in units those of up to `most` instructions.
    fn list_sizes(&self, most: usize) -> (&'static str, Vec<usize>) {
        match self {
            Growing::Source(source) => {
                (source.name, (0..SOURCE_SIZES).rev().map(|power| source.longest >> power).collect())
            }
            Growing::Shape(_) => {
                let [few, many] = PROBES.map(|units| sample(self, units).instructions);
                let per_unit = (many - few) as f64 / (PROBES[1] - PROBES[0]) as f64;
                let sizes = (0..SIZES).rev().map(|power| MOST >> power).take_while(|&size| size <= most);
                ("instructions", sizes.map(|size| (size as f64 / per_unit) as usize).collect())
            }
        }
    }

    /// Builds and launches the kernel of a source for the first time.
    fn launch_first(&self, setup: &Setup, source: &str) {
        let program = setup.context.build(source, "");
        let (floats, ints) = (setup.context.zeros::<f32>(ELEMENTS), setup.context.zeros::<i32>(ELEMENTS));
        let kernel = match self {
            Growing::Shape(_) => {
                let kernel = program.kernel(KERNEL);
                kernel.set(0, &floats);
                kernel.set(1, &ints);
                kernel.set(2, 0_i32);
                kernel
            }
            Growing::Source(_) => {
                let kernel = program.kernel("f");
                kernel.set(0, &ints);
                kernel
            }
        };
        run(&setup.queue, &kernel, &[ITEMS], &[ITEMS]);
    }
}

/// What one build and first launch took, in milliseconds.
#[derive(Clone, Debug, Default, PartialEq)]
struct Sample {
    instructions: usize,
    total: f64,
    stages: BTreeMap<String, f64>,
}

/// Measure how compile time grows with the size of kernels of several shapes and of long sources
#[derive(Parser)]
struct Options {
    /// Only this shape or source
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    only: Option<Growing>,
    #[command(flatten)]
    rounds: Rounds,
    /// Of shapes, only kernels of up to so many instructions
    #[arg(long, value_name = "INSTRUCTIONS", default_value_t = MOST)]
    most: usize,
    /// Has this process build and launch one kernel
    #[arg(long, hide = true, requires = "units", value_parser = parse_name)]
    child: Option<Growing>,
    /// The number of units of that kernel
    #[arg(long, hide = true)]
    units: Option<usize>,
}

fn parse_name(name: &str) -> Result<Growing, String> {
    let all = Growing::list_all();
    let names = || all.iter().map(Growing::name).collect::<Vec<_>>().join(", ");
    all.iter().copied().find(|growing| growing.name() == name).ok_or_else(|| format!("there are {}", names()))
}

fn main() {
    let options = Options::parse();
    if let Some((growing, units)) = options.child.zip(options.units) {
        return build_and_launch(growing, units);
    }
    let is_wanted = |growing: &Growing| options.only.is_none_or(|only| only.name() == growing.name());
    for growing in Growing::list_all().into_iter().filter(is_wanted) {
        measure_growth(&growing, options.most, options.rounds.or(3));
    }
}

/// What a child does: its time is a line on standard output.
fn build_and_launch(growing: Growing, units: usize) {
    let setup = Setup::new();
    // What the driver loads once is loaded with the first kernel.
    growing.launch_first(&setup, &growing.write_source(1));
    let source = growing.write_source(units);
    eprintln!("{BEGIN}");
    let start = Instant::now();
    growing.launch_first(&setup, &source);
    println!("{}", start.elapsed().as_secs_f64() * 1e3);
}

/// Prints the table of a shape or a source.
fn measure_growth(growing: &Growing, most: usize, rounds: usize) {
    let (heading, sizes) = growing.list_sizes(most);
    println!("\n{}, milliseconds", growing.name());
    println!(
        "| {heading} | clang, clean-up | our passes | optimize, emit | total | factor | clang -O2 | over {LIMIT}: the stage |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |");
    let mut half: Option<Sample> = None;
    for units in sizes {
        let found = least(growing, units, rounds);
        let size = if matches!(growing, Growing::Shape(_)) { found.instructions } else { units };
        println!("{}", row(size, &found, half.as_ref(), &time_clang(&growing.write_source(units))));
        half = Some(found);
    }
}

/// Milliseconds that clang takes, or why there are none.
fn time_clang(source: &str) -> String {
    let mut clang = Command::new("timeout");
    clang.args([CLANG_LIMIT, "clang-22", "-x", "cl", "-cl-std=CL3.0", "--target=x86_64-linux-gnu", "-march=native"]);
    clang.args(["-O2", "-w", "-c", "-o", "/dev/null", "-"]).stdin(Stdio::piped()).stderr(Stdio::null());
    let start = Instant::now();
    let mut clang = clang.spawn().expect("the system has timeout");
    // If it ends before it has read all, its exit code says so.
    let _ = clang.stdin.take().expect("its input is a pipe").write_all(source.as_bytes());
    let status = clang.wait().expect("a child that was started ends");
    match status.code() {
        Some(0) => format!("{:.1}", start.elapsed().as_secs_f64() * 1e3),
        Some(124) => format!("over {CLANG_LIMIT} s"),
        Some(127) => "not there".to_owned(),
        _ => "fails".to_owned(),
    }
}

/// A line of the table, beside the kernel of half the size.
fn row(size: usize, found: &Sample, half: Option<&Sample>, clang: &str) -> String {
    let sum =
        |names: &[&str]| names.iter().filter_map(|&name| found.stages.get(name)).fold(0.0, |sum, time| sum + time);
    let (front, back) = (sum(&FRONT_END), sum(&BACK_END));
    let ours = found.stages.values().sum::<f64>() - front - back;
    let half = half.filter(|half| half.total >= LEAST);
    let factor = half.map(|half| found.total / half.total);
    let blamed = half.filter(|_| factor.is_some_and(|factor| factor > LIMIT)).map(|half| blame(found, half));
    format!(
        "| {size} | {front:.1} | {ours:.1} | {back:.1} | {:.1} | {} | {clang} | {} |",
        found.total,
        factor.map(|factor| format!("{factor:.2}")).unwrap_or_default(),
        blamed.unwrap_or_default()
    )
}

/// The stage that takes most above twice the time that it takes for half the size.
fn blame(found: &Sample, half: &Sample) -> String {
    let before = |stage: &String| half.stages.get(stage).copied().unwrap_or_default();
    let excess = |stage: &String, time: f64| time - 2.0 * before(stage);
    let greatest = found.stages.iter().max_by(|a, b| excess(a.0, *a.1).total_cmp(&excess(b.0, *b.1)));
    greatest.map_or_else(String::new, |(stage, &time)| format!("{stage}: {:.1} to {time:.1} ms", before(stage)))
}

/// The least times of a size's samples.
fn least(growing: &Growing, units: usize, rounds: usize) -> Sample {
    let mut found = sample(growing, units);
    let count = if found.total < SHORT { 3 * rounds } else { rounds };
    for _ in 1..count {
        let Sample { total, stages, .. } = sample(growing, units);
        found.total = found.total.min(total);
        for (stage, time) in stages {
            found.stages.entry(stage).and_modify(|least| *least = least.min(time)).or_insert(time);
        }
    }
    found
}

/// Builds and launches a kernel in a new process.
fn sample(growing: &Growing, units: usize) -> Sample {
    let program = std::env::current_exe().expect("this program has a path");
    let mut child = Command::new(program);
    child.args(["--child", growing.name(), "--units", &units.to_string()]).env(TIME, "1").env(TIERS, "0");
    let output = child.output().expect("this program can be run");
    let [said, times] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert!(output.status.success(), "a child failed: {times}");
    let total = said.trim().parse().expect("a number of milliseconds");
    let (_, times) = times.split_once(BEGIN).expect("the child says where it begins");
    read_times(times, total)
}

/// Reads what the driver says: lines of a stage and its milliseconds, and one of the kernel's instructions.
fn read_times(text: &str, total: f64) -> Sample {
    let mut sample = Sample { total, ..Sample::default() };
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match *words {
            [owner, stage, time, "ms"] => {
                let time: f64 = time.parse().expect("the driver says a number");
                let owner = if owner == "program:" { owner } else { "kernel:" };
                *sample.stages.entry(format!("{owner} {stage}")).or_default() += time;
            }
            [_, instructions, "instructions"] => {
                sample.instructions = instructions.parse().expect("the driver says a number");
            }
            _ => {}
        }
    }
    sample
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(total: f64, stages: [(&str, f64); 2]) -> Sample {
        Sample { instructions: 7, total, stages: stages.map(|(stage, time)| (stage.to_owned(), time)).into() }
    }

    #[test]
    fn what_the_driver_says_is_read() {
        let text =
            "program: clang 20.5 ms\nlockstep: something else\ngrowth: 7 instructions\ngrowth: linearize 2.0 ms\n";
        assert_eq!(read_times(text, 25.0), of(25.0, [("program: clang", 20.5), ("kernel: linearize", 2.0)]));
    }

    #[test]
    fn a_stage_is_blamed_only_where_the_total_grows_too_fast() {
        let half = of(100.0, [("program: clang", 60.0), ("kernel: linearize", 40.0)]);
        let squared = of(280.0, [("program: clang", 120.0), ("kernel: linearize", 160.0)]);
        assert_eq!(
            row(7, &squared, Some(&half), "99.0"),
            "| 7 | 120.0 | 160.0 | 0.0 | 280.0 | 2.80 | 99.0 | kernel: linearize: 40.0 to 160.0 ms |"
        );
        assert!(
            row(7, &of(200.0, [("program: clang", 40.0), ("kernel: linearize", 160.0)]), Some(&half), "-")
                .ends_with("| 2.00 | - |  |")
        );
    }
}
