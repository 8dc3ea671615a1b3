//! `metrics`: how the driver's source is written, in numbers, beside what they should be.
//!
//! Looked at are the sources of `compiler/`, `runtime/` and `icd/` without items for tests.

mod area;
mod crates;
mod imports;
mod measure;

use std::path::PathBuf;

use anyhow::Result;
use clap::builder::PossibleValuesParser;
use serde_json::{Map, Value, json};

use crate::workspace;
use area::{Area, FEWEST_WORDS, LETTERS_OF_LOCALS, LONGEST_CLOSURE, MOST_IN_A_CIRCLE, Offender};
use crates::Crate;
use imports::Circle;
use measure::Name;

/// The circles of more than three files in the crate whose root is this file, each as the paths of its files.
pub fn list_circles(root: &str, reader: crates::Reader<'_>) -> Result<Vec<Vec<String>>> {
    let read_crate = Crate::read(root, reader)?;
    let circles = imports::find_circles(&imports::find_imports(&read_crate), MOST_IN_A_CIRCLE);
    let paths = |circle: &Circle| circle.files.iter().map(|&file| read_crate.files[file].path.clone()).collect();
    Ok(circles.iter().map(paths).collect())
}

/// The folders that are looked at.
const AREAS: [&str; 3] = ["compiler", "runtime", "icd"];

/// What the command is told.
#[derive(clap::Args)]
pub struct Options {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print the places that make one of the numbers worse, the worst first
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(METRICS.map(|metric| metric.name)))]
    list: Option<String>,
    /// Print at most so many places
    #[arg(long, value_name = "N", default_value_t = 10, requires = "list")]
    top: usize,
    /// Look only at files whose path starts so (compiler/ir/src/analysis)
    #[arg(long, value_name = "PATH")]
    only: Option<String>,
    /// Look at another checkout of the project
    #[arg(long, value_name = "FOLDER")]
    root: Option<PathBuf>,
}

/// One of the numbers.
struct Metric {
    /// For `--list` and JSON.
    name: &'static str,
    /// For the table.
    title: &'static str,
    unit: Unit,
    goal: Option<Goal>,
    value: fn(&Area) -> f64,
    offenders: fn(&Area) -> Vec<Offender>,
}

/// How a number is shown.
enum Unit {
    Count,
    Decimal,
    Percent,
    /// One of how many.
    OneIn,
}

/// What a number should be.
enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

const METRICS: [Metric; 10] = [
    Metric {
        name: "one-word",
        title: "functions of one word (1)",
        unit: Unit::Percent,
        goal: Some(Goal::AtMost(0.35)),
        value: |area| {
            let words = |of: &measure::Measures| of.function_names.iter().filter(|name| name.is_one_word()).count();
            share(area.sum(words), area.sum(|of| of.function_names.len()))
        },
        offenders: Area::one_word_functions,
    },
    Metric {
        name: "function-names",
        title: "mean letters of function names (1)",
        unit: Unit::Decimal,
        goal: None,
        value: |area| share(area.sum(|of| letters(&of.function_names)), area.sum(|of| of.function_names.len())),
        offenders: Area::function_names,
    },
    Metric {
        name: "local-names",
        title: "mean letters of local names (2)",
        unit: Unit::Decimal,
        goal: Some(Goal::AtLeast(LETTERS_OF_LOCALS)),
        value: |area| share(area.sum(|of| letters(&of.local_names)), area.sum(|of| of.local_names.len())),
        offenders: Area::local_names,
    },
    Metric {
        name: "closures",
        title: "closures per function",
        unit: Unit::Decimal,
        goal: None,
        value: |area| share(area.sum(|of| of.closures.len()), area.sum(|of| of.functions.len())),
        offenders: Area::closures,
    },
    Metric {
        name: "long-closures",
        title: "functions per closure of more than five lines",
        unit: Unit::OneIn,
        goal: Some(Goal::AtMost(0.02)),
        value: |area| {
            let long = |of: &measure::Measures| of.closures.iter().filter(|each| each.length > LONGEST_CLOSURE).count();
            share(area.sum(long), area.sum(|of| of.functions.len()))
        },
        offenders: Area::long_closures,
    },
    Metric {
        name: "short-docs",
        title: "doc comments of one or two words",
        unit: Unit::Percent,
        goal: Some(Goal::AtMost(0.03)),
        value: |area| {
            let short = |of: &measure::Measures| of.docs.iter().filter(|doc| doc.words() < FEWEST_WORDS).count();
            share(area.sum(short), area.sum(|of| of.docs.len()))
        },
        offenders: Area::short_docs,
    },
    Metric {
        name: "comments",
        title: "lines of comments",
        unit: Unit::Percent,
        goal: None,
        value: |area| share(area.sum(|of| of.comment_lines), area.sum(|of| of.lines)),
        offenders: Area::files_without_comments,
    },
    Metric {
        name: "long-files",
        title: "lines of the longest file",
        unit: Unit::Count,
        goal: Some(Goal::AtMost(800.0)),
        value: |area| area.most(|of| of.length),
        offenders: Area::long_files,
    },
    Metric {
        name: "long-functions",
        title: "lines of the longest function",
        unit: Unit::Count,
        goal: None,
        value: |area| area.most(|of| of.functions.iter().map(|each| each.extent.length).max().unwrap_or(0)),
        offenders: Area::long_functions,
    },
    Metric {
        name: "circles",
        title: "circles of imports of more than three files (3)",
        unit: Unit::Count,
        goal: Some(Goal::AtMost(0.0)),
        value: Area::circles,
        offenders: Area::circles_and_imports,
    },
];

const NOTES: &str = "\
(1) The project's choice: not those of methods of other crates' traits (fmt, drop, from, next, …), nor OpenCL's own
    (clGetDeviceIDs). A word ends at an underscore, which counts as a letter.
(2) What `let` binds, and parameters of functions and closures; what `for` and the arms of `match` bind is not counted.
(3) Between the files of one crate, by `use` and paths; who re-exports a name is passed over.
`--list NAME` shows the worst places of: ";

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let root = options.root.clone().unwrap_or_else(|| workspace::root().to_owned());
    let only = options.only.as_deref();
    let areas: Result<Vec<Area>> = AREAS.iter().map(|folder| Area::read(&root, folder, only)).collect();
    let areas = areas?;
    let listed = METRICS.iter().find(|metric| options.list.as_deref() == Some(metric.name));
    match (listed, options.json) {
        (None, false) => print!("{}", table(&areas)),
        (None, true) => println!("{:#}", numbers(&areas)),
        (Some(metric), json) => {
            let places = worst(metric, &areas, options.top);
            if json { println!("{:#}", Value::from_iter(places.iter().map(place))) } else { print_places(&places) }
        }
    }
    Ok(())
}

/// The table of all numbers; a star is at those that miss their goal.
fn table(areas: &[Area]) -> String {
    let titles: String = areas.iter().map(|area| format!("{:>10}", area.name)).collect();
    let mut text = format!("{:49}{titles}   goal\n", "");
    for metric in &METRICS {
        text += &format!("{:49}", metric.title);
        for area in areas {
            let value = (metric.value)(area);
            let star = if metric.goal.as_ref().is_none_or(|goal| goal.holds(value)) { "" } else { "*" };
            text += &format!("{:>10}", metric.unit.shown(value) + star);
        }
        let goal = metric.goal.as_ref().map(|goal| format!("   {}", goal.shown(&metric.unit)));
        text += &(goal.unwrap_or_default() + "\n");
    }
    text + NOTES + &METRICS.map(|metric| metric.name).join(", ") + "\n"
}

fn numbers(areas: &[Area]) -> Value {
    let numbers_of =
        |area: &Area| METRICS.iter().map(|each| (each.name.to_owned(), json!((each.value)(area)))).collect();
    let named = |area: &Area| (area.name.clone(), Value::Object(numbers_of(area)));
    Value::Object(areas.iter().map(named).collect::<Map<String, Value>>())
}

/// The worst places of all areas.
fn worst(metric: &Metric, areas: &[Area], top: usize) -> Vec<Offender> {
    let mut places: Vec<Offender> = areas.iter().flat_map(metric.offenders).collect();
    // Places of one weight stay in the order of their files.
    places.sort_by(|one, other| other.weight.total_cmp(&one.weight));
    places.truncate(top);
    places
}

fn print_places(places: &[Offender]) {
    for Offender { path, line, what, .. } in places {
        println!("{path}:{line}: {what}");
    }
}

fn place(offender: &Offender) -> Value {
    json!({ "path": offender.path, "line": offender.line, "what": offender.what })
}

/// How many of all; nothing of nothing.
fn share(part: f64, all: f64) -> f64 {
    if all > 0.0 { part / all } else { 0.0 }
}

fn letters(names: &[Name]) -> usize {
    names.iter().map(Name::letters).sum()
}

impl Unit {
    fn shown(&self, value: f64) -> String {
        match self {
            Self::Count => format!("{value:.0}"),
            Self::Decimal => format!("{value:.2}"),
            Self::Percent => format!("{:.1} %", value * 100.0),
            Self::OneIn if value > 0.0 => format!("{:.1}", 1.0 / value),
            Self::OneIn => "none".to_owned(),
        }
    }
}

impl Goal {
    fn holds(&self, value: f64) -> bool {
        match *self {
            Self::AtMost(most) => value <= most,
            Self::AtLeast(least) => value >= least,
        }
    }

    fn shown(&self, unit: &Unit) -> String {
        match (self, unit) {
            // The more functions there are to one, the fewer they are.
            (Self::AtMost(most), Unit::OneIn) => format!("at least {}", unit.shown(*most)),
            (Self::AtMost(most), _) => format!("at most {}", unit.shown(*most)),
            (Self::AtLeast(least), _) => format!("at least {}", unit.shown(*least)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::area::tests::area_of;
    use super::*;

    fn metric(name: &str) -> &'static Metric {
        METRICS.iter().find(|metric| metric.name == name).expect("a metric")
    }

    #[test]
    fn numbers_are_of_all_files() {
        let area = area_of(&[
            ("lib.rs", "//! A crate.\nmod a;\nfn run() {\n let it = || {\n1;\n2;\n3;\n4;\n};\n}\n"),
            ("a.rs", "//! A file of it.\nfn run_it(eleven: u8) {}\nfn run_all() {}\nfn stop() {}\n"),
        ]);
        let shown = |name: &str| metric(name).unit.shown((metric(name).value)(&area));
        assert_eq!(shown("one-word"), "50.0 %");
        assert_eq!(shown("function-names"), "5.00");
        assert_eq!(shown("local-names"), "4.00");
        assert_eq!((shown("closures"), shown("long-closures")), ("0.25".to_owned(), "4.0".to_owned()));
        assert_eq!((shown("short-docs"), shown("comments")), ("50.0 %".to_owned(), "14.3 %".to_owned()));
        assert_eq!((shown("long-files"), shown("long-functions")), ("10".to_owned(), "8".to_owned()));
        assert_eq!(shown("circles"), "0");
    }

    #[test]
    fn what_misses_its_goal_has_a_star() {
        let text = table(&[area_of(&[("lib.rs", "fn run() {} fn stop() {} fn run_it(sufficient: u8) {}\n")])]);
        let line = |title: &str| text.lines().find(|line| line.starts_with(title)).expect("a line");
        assert!(line("functions of one word").contains("66.7 %*   at most 35.0 %"), "{text}");
        assert!(line("mean letters of local").contains("10.00   at least 6.50"), "{text}");
        assert!(line("functions per closure").contains("none   at least 50.0"), "{text}");
    }

    #[test]
    fn the_worst_places_come_first() {
        let area = area_of(&[("lib.rs", "fn begin() {}\nfn at() {}\nfn get_it() {}\n")]);
        let places = worst(metric("one-word"), &[area], 1);
        assert_eq!((places.len(), places[0].line, places[0].what.as_str()), (1, 2, "at"));
    }

    #[test]
    fn json_has_every_number() {
        let found = numbers(&[area_of(&[("lib.rs", "fn run() {}\n")])]);
        assert!(METRICS.iter().all(|metric| found["area"][metric.name].is_number()), "{found}");
    }

    #[test]
    fn the_project_itself_can_be_read() {
        for folder in AREAS {
            let area = Area::read(workspace::root(), folder, None).expect("Rust");
            assert!(area.sum(|of| of.functions.len()) > 100.0, "{folder}");
        }
    }
}
