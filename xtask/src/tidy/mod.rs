//! `tidy`: the architecture's rules, checked on the source text.
//!
//! A rule is a function from the tree to the places that break it; its message
//! says what is wrong and why the rule is there. Each rule has a test that shows
//! it failing.

mod crates;
mod documents;
mod pages;
mod places;
mod source;
mod style;

use anyhow::{Result, bail};

use crate::workspace;
use source::Tree;

/// A place that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Violation {
    /// The file, from the workspace's root.
    path: String,
    /// The line, counted from one; zero for the file as a whole.
    line: usize,
    /// What is wrong and why the rule exists.
    message: String,
}

type Rule = fn(&Tree) -> Vec<Violation>;

const RULES: [(&str, Rule); 19] = [
    ("llvm", places::llvm),
    ("rayon", places::rayon),
    ("environment", places::environment),
    ("unsafe", places::unsafety),
    ("dependencies", crates::one_way),
    ("without LLVM", crates::without_llvm),
    ("circles", crates::without_circles),
    ("build's name", crates::named_by_its_sources),
    ("file length", style::length),
    ("module docs", style::module_docs),
    ("pass docs", style::pass_docs),
    ("ignored tests", style::ignored_tests),
    ("unfinished code", style::unfinished),
    ("options page", documents::options),
    ("passes page", documents::passes),
    ("supported", pages::supported),
    ("links", pages::links),
    ("named files", pages::named_files),
    ("walk-throughs", pages::walkthroughs),
];

/// Runs the command.
pub fn run() -> Result<()> {
    let tree = Tree::read(workspace::root())?;
    let mut count = 0;
    for (name, rule) in RULES {
        for violation in rule(&tree) {
            let Violation { path, line, message } = violation;
            match line {
                0 => println!("{path}: {name}: {message}"),
                line => println!("{path}:{line}: {name}: {message}"),
            }
            count += 1;
        }
    }
    if count > 0 {
        bail!("tidy: {count} violation(s)");
    }
    println!("tidy: {} rules hold in {} files", RULES.len(), tree.files.len());
    Ok(())
}
