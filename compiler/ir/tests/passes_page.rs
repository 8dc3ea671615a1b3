//! `docs/passes.md` has the table of the code, and says what passes do in the order in which they run.

use lockstep_ir::plan::passes::{Estimate, PASSES, Pass};
use lockstep_protocol::configuration::Configuration;
use std::fmt::Write;
use std::path::Path;

/// Where the generated part of the page begins and ends.
const BEGIN: &str = "<!-- from the code: passes -->\n";
const END: &str = "<!-- end -->\n";

/// Where what is said of single passes begins and ends.
const SECTIONS: [&str; 2] = ["\n## Transformations\n", "\n## The plan\n"];

fn page() -> (std::path::PathBuf, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/passes.md");
    let text = std::fs::read_to_string(&path).expect("the page is there");
    (path, text)
}

fn table() -> String {
    let mut table = "| | pass | of | what it does | switch | then holds | the estimate | file | source |\n".to_owned();
    table += "| ---: | --- | --- | --- | --- | --- | --- | --- | --- |\n";
    for (number, pass) in (1..).zip(PASSES) {
        let &Pass { name, what, file, source, phase, after, is_needed, .. } = pass;
        let needed = if is_needed { " (needed)" } else { "" };
        let (phase, switches, estimate) = (phase.name(), describe_switches(pass), describe_estimate(pass));
        let _ = writeln!(
            table,
            "| {number:02} | `{name}`{needed} | {phase} | {what} | {switches} | {after:?} | {estimate} | `{file}` | {source} |"
        );
    }
    table
}

fn describe_switches(pass: &Pass) -> String {
    let mut words: Vec<String> = pass.switches.iter().map(|switch| format!("`{}`", switch.name())).collect();
    if pass.least != Configuration::Naive {
        words.push(format!("from `{}` on", pass.least.name()));
    }
    words.join(", ")
}

fn describe_estimate(pass: &Pass) -> String {
    match pass.estimate {
        Estimate::Before => String::new(),
        Estimate::Runs => "runs it".to_owned(),
        Estimate::Versions(_) => "prices each version".to_owned(),
        Estimate::LeavesOut(reason) => format!("leaves it out: {reason}"),
    }
}

/// With `BLESS=1` in the environment the page is rewritten.
#[test]
fn the_page_has_the_table_of_the_code() {
    let (path, page) = page();
    let (before, rest) = page.split_once(BEGIN).expect("the table begins");
    let (_, after) = rest.split_once(END).expect("the table ends");
    let wanted = format!("{before}{BEGIN}{}{END}{after}", table());
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &wanted).expect("the page can be written");
    } else {
        assert!(page == wanted, "docs/passes.md differs from plan/passes.rs (BLESS=1 rewrites it)");
    }
}

#[test]
fn what_is_said_of_passes_comes_in_their_order() {
    let (_, page) = page();
    let (_, rest) = page.split_once(SECTIONS[0]).expect("the sections begin");
    let (sections, _) = rest.split_once(SECTIONS[1]).expect("the sections end");
    // Parts of a pass that have switches of their own have sections of their own.
    let names: Vec<&str> = PASSES
        .iter()
        .flat_map(|pass| std::iter::once(pass.name).chain(pass.switches.iter().map(|s| s.name())))
        .collect();
    let place = |section: &str| {
        let place = names.iter().position(|&name| name == section);
        place.unwrap_or_else(|| panic!("no pass is called {section:?}"))
    };
    let places: Vec<usize> = sections.lines().filter_map(|line| Some(place(line.strip_prefix("### ")?))).collect();
    assert!(!places.is_empty() && places.is_sorted(), "{:?}", places.iter().map(|&at| names[at]).collect::<Vec<_>>());
}

#[test]
fn rows_say_what_they_are() {
    for (place, pass) in PASSES.iter().enumerate() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        assert!(root.join(pass.file).is_file(), "{}: no file {}", pass.name, pass.file);
        assert!(pass.what.contains(' '), "{}: {:?} is no sentence", pass.name, pass.what);
        assert!(PASSES[..place].iter().all(|other| other.name != pass.name), "two passes are called {}", pass.name);
    }
    // What comes later holds later, but for what programs and launches begin with.
    assert!(PASSES.is_sorted_by_key(|pass| pass.after));
}
