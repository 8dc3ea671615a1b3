//! How compile time grows with the size of a kernel, for kernels of several shapes: sizes that double, up to 50,000
//! instructions. Where twice the size takes more than 2.3 times as long, the stage is named that is to blame.
//!
//! Each time is that of a process of its own, from the call that builds the program to the end of its first launch, with no
//! cache; the driver says what its stages take (`LOCKSTEP_TIME`). The process has built and launched another kernel before.
//! Other work on the machine only adds to a time, so the least of several counts.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Instant;

use clap::Parser;
use lockstep_benches::command_line::Rounds;
use lockstep_benches::compare::TIERS;
use lockstep_benches::growth::{ELEMENTS, ITEMS, KERNEL, SHAPES, Shape, find};
use lockstep_conformance::{Setup, run};

/// Instructions after the import of the greatest kernels.
const MOST: usize = 50_000;
/// Each size is half the next one; there are so many.
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
const BACK_END: [&str; 2] = ["growth: optimize", "growth: emit"];

/// What one build and first launch took, in milliseconds.
#[derive(Clone, Debug, Default, PartialEq)]
struct Sample {
    instructions: usize,
    total: f64,
    stages: BTreeMap<String, f64>,
}

/// Measure how compile time grows with the size of kernels of several shapes
#[derive(Parser)]
struct Options {
    /// Only this shape
    #[arg(long, value_name = "SHAPE", value_parser = parse_shape)]
    only: Option<Shape>,
    #[command(flatten)]
    rounds: Rounds,
    /// Only kernels of up to so many instructions
    #[arg(long, value_name = "INSTRUCTIONS", default_value_t = MOST)]
    most: usize,
    /// Has this process build and launch one kernel of a shape
    #[arg(long, hide = true, requires = "units", value_parser = parse_shape)]
    child: Option<Shape>,
    /// The number of units of that kernel
    #[arg(long, hide = true)]
    units: Option<usize>,
}

fn parse_shape(name: &str) -> Result<Shape, String> {
    let names = || SHAPES.iter().map(|shape| shape.name).collect::<Vec<_>>().join(", ");
    find(name).ok_or_else(|| format!("the shapes are {}", names()))
}

fn main() {
    let options = Options::parse();
    if let Some((shape, units)) = options.child.zip(options.units) {
        return build_and_launch(shape, units);
    }
    for shape in SHAPES.iter().filter(|shape| options.only.is_none_or(|only| only.name == shape.name)) {
        measure_shape(*shape, options.most, options.rounds.or(3));
    }
}

/// What a child does: its time is a line on standard output.
fn build_and_launch(shape: Shape, units: usize) {
    let setup = Setup::new();
    let (floats, ints) = (setup.context.zeros::<f32>(ELEMENTS), setup.context.zeros::<i32>(ELEMENTS));
    let first_launch = |source: &str| {
        let program = setup.context.build(source, "");
        let kernel = program.kernel(KERNEL);
        kernel.set(0, &floats);
        kernel.set(1, &ints);
        kernel.set(2, 0_i32);
        run(&setup.queue, &kernel, &[ITEMS], &[ITEMS]);
    };
    // What the driver loads once is loaded with the first kernel.
    first_launch(&shape.source(1));
    let source = shape.source(units);
    eprintln!("{BEGIN}");
    let start = Instant::now();
    first_launch(&source);
    println!("{}", start.elapsed().as_secs_f64() * 1e3);
}

/// Prints a shape's table.
fn measure_shape(shape: Shape, most: usize, rounds: usize) {
    let [few, many] = PROBES.map(|units| sample(shape, units).instructions);
    let per_unit = (many - few) as f64 / (PROBES[1] - PROBES[0]) as f64;
    println!("\n{}, milliseconds", shape.name);
    println!(
        "| instructions | clang, clean-up | our passes | optimize, emit | total | factor | over {LIMIT}: the stage |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: | ---: | --- |");
    let mut half: Option<Sample> = None;
    for power in (0..SIZES).rev() {
        let size = MOST >> power;
        if size > most {
            break;
        }
        let found = least(shape, (size as f64 / per_unit) as usize, rounds);
        println!("{}", row(&found, half.as_ref()));
        half = Some(found);
    }
}

/// A line of the table, beside the kernel of half the size.
fn row(found: &Sample, half: Option<&Sample>) -> String {
    let sum =
        |names: &[&str]| names.iter().filter_map(|&name| found.stages.get(name)).fold(0.0, |sum, time| sum + time);
    let (front, back) = (sum(&FRONT_END), sum(&BACK_END));
    let ours = found.stages.values().sum::<f64>() - front - back;
    let half = half.filter(|half| half.total >= LEAST);
    let factor = half.map(|half| found.total / half.total);
    let blamed = half.filter(|_| factor.is_some_and(|factor| factor > LIMIT)).map(|half| blame(found, half));
    format!(
        "| {} | {front:.1} | {ours:.1} | {back:.1} | {:.1} | {} | {} |",
        found.instructions,
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
fn least(shape: Shape, units: usize, rounds: usize) -> Sample {
    let mut found = sample(shape, units);
    let count = if found.total < SHORT { 3 * rounds } else { rounds };
    for _ in 1..count {
        let Sample { total, stages, .. } = sample(shape, units);
        found.total = found.total.min(total);
        for (stage, time) in stages {
            found.stages.entry(stage).and_modify(|least| *least = least.min(time)).or_insert(time);
        }
    }
    found
}

/// Builds and launches a kernel in a new process.
fn sample(shape: Shape, units: usize) -> Sample {
    let program = std::env::current_exe().expect("this program has a path");
    let mut child = Command::new(program);
    child.args(["--child", shape.name, "--units", &units.to_string()]).env(TIME, "1").env(TIERS, "0");
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
                *sample.stages.entry(format!("{owner} {stage}")).or_default() += time;
            }
            ["growth:", instructions, "instructions"] => {
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
        assert_eq!(read_times(text, 25.0), of(25.0, [("program: clang", 20.5), ("growth: linearize", 2.0)]));
    }

    #[test]
    fn a_stage_is_blamed_only_where_the_total_grows_too_fast() {
        let half = of(100.0, [("program: clang", 60.0), ("growth: linearize", 40.0)]);
        let squared = of(280.0, [("program: clang", 120.0), ("growth: linearize", 160.0)]);
        assert_eq!(
            row(&squared, Some(&half)),
            "| 7 | 120.0 | 160.0 | 0.0 | 280.0 | 2.80 | growth: linearize: 40.0 to 160.0 ms |"
        );
        assert!(
            row(&of(200.0, [("program: clang", 40.0), ("growth: linearize", 160.0)]), Some(&half))
                .ends_with("| 2.00 |  |")
        );
    }
}
