//! The suite's own list of what to run, `opencl_conformance_tests_full.csv`: lines of a title, a program and arguments,
//! some for devices of one type only.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

const NAME: &str = "opencl_conformance_tests_full.csv";

/// A line of the list: what one run of a program does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The program, relative to the list's folder; empty for a run without further arguments of any program.
    pub program: String,
    /// What follows it: patterns of sub-tests and other arguments.
    words: Vec<String>,
}

impl Line {
    /// The sub-tests that the line names, all where it names none, and the arguments that each of them gets.
    pub fn chosen<'a>(&self, subtests: &'a [String]) -> (Vec<&'a str>, Vec<&str>) {
        let named = |word: &str, name: &str| match word.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == word,
        };
        let (patterns, arguments): (Vec<&str>, Vec<&str>) =
            self.words.iter().map(String::as_str).partition(|word| subtests.iter().any(|name| named(word, name)));
        let wanted = |name: &&str| patterns.is_empty() || patterns.iter().any(|word| named(word, name));
        // What runs sub-tests one by one need not say that it means all of them.
        let arguments = arguments.into_iter().filter(|word| *word != "all").collect();
        (subtests.iter().map(String::as_str).filter(wanted).collect(), arguments)
    }
}

/// Reads the list in the folder of a build of the suite.
pub fn read(folder: &Path) -> Result<Vec<Line>> {
    let path = folder.join(NAME);
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text.lines().filter_map(line).collect())
}

/// The runs of one program: those of the list, or one without arguments of a program that it does not name.
pub fn runs_of(program: &str, list: &[Line]) -> Vec<Line> {
    let mut runs: Vec<Line> = list.iter().filter(|line| line.program == program).cloned().collect();
    if runs.is_empty() {
        runs.push(Line::default());
    }
    runs
}

/// The programs on the list that are not among those built, each once.
pub fn not_built(list: &[Line], built: &[PathBuf]) -> Vec<String> {
    let missing = list.iter().filter(|line| !built.iter().any(|path| path == Path::new(&line.program)));
    let mut missing: Vec<String> = missing.map(|line| line.program.clone()).collect();
    missing.sort();
    missing.dedup();
    missing
}

fn line(text: &str) -> Option<Line> {
    let text = text.trim();
    if text.is_empty() || text.starts_with('#') {
        return None;
    }
    let mut fields: Vec<&str> = text.split(',').map(str::trim).collect();
    if let Some(device) = fields[0].strip_prefix("CL_DEVICE_TYPE_") {
        if device != "CPU" {
            return None;
        }
        fields.remove(0);
    }
    let mut words = fields.get(1)?.split_whitespace().map(str::to_owned);
    Some(Line { program: words.next()?, words: words.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        assert_eq!(line("# a remark, of no program"), None);
        assert_eq!(line("CL_DEVICE_TYPE_GPU, Title, a/test_a"), None);
        let read = line("CL_DEVICE_TYPE_CPU, Title (x), a/test_a one two").expect("a line for processors");
        assert_eq!((read.program.as_str(), read.words), ("a/test_a", vec!["one".to_owned(), "two".to_owned()]));
    }

    #[test]
    fn what_is_not_built_is_known() {
        let of = |program: &str| Line { program: program.into(), words: Vec::new() };
        let list = [of("a/test_a"), of("b/test_b"), of("b/test_b"), of("c/test_c")];
        assert_eq!(not_built(&list, &[PathBuf::from("a/test_a")]), ["b/test_b", "c/test_c"]);
    }

    #[test]
    fn a_line_chooses_subtests_and_gives_the_rest_to_them() {
        let subtests = ["full_1d", "full_2d", "quick_1d"].map(str::to_owned);
        let chosen = |text: &str| {
            let line = line(&format!("title, program {text}")).expect("a line");
            let (subtests, arguments) = line.chosen(&subtests);
            (subtests.join(" "), arguments.join(" "))
        };
        assert_eq!(chosen("full*"), ("full_1d full_2d".to_owned(), String::new()));
        assert_eq!(chosen("single 5 all"), ("full_1d full_2d quick_1d".to_owned(), "single 5".to_owned()));
        assert_eq!(chosen("quick_1d fast"), ("quick_1d".to_owned(), "fast".to_owned()));
    }

    #[test]
    fn programs_without_a_line_run_once() {
        let list: Vec<Line> = ["t, a x", "t, a y", "t, b"].into_iter().filter_map(line).collect();
        assert_eq!(runs_of("a", &list), list[..2]);
        assert_eq!(runs_of("c", &list), [Line::default()]);
    }
}
