//! The report: what became of each load, store, branch and loop of a kernel, and why.
//!
//! Passes and code generation leave [`Note`]s as they decide; the report is all of them in the order of the
//! source, as text for people and as JSON for tools (`docs/report.md`).

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;

use serde::Serialize;

use crate::ir::SourceLoc;

/// What became of one thing in the source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Note {
    /// Where it is in the source.
    #[serde(flatten)]
    pub location: SourceLoc,
    /// What it is: a load, a store, a branch, …
    pub kind: &'static str,
    /// What became of it.
    pub class: Cow<'static, str>,
    /// Whether it happens in some lanes only.
    pub masked: bool,
    /// What else there is to know.
    pub detail: String,
}

/// Notes as they come; nothing is kept where no report is wanted.
#[derive(Debug, Default)]
pub struct Notes(Option<RefCell<Vec<Note>>>);

impl Notes {
    /// Keeps notes if `wanted`.
    pub fn new(wanted: bool) -> Notes {
        Notes(wanted.then(RefCell::default))
    }

    /// Whether notes are kept.
    pub fn are_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Keeps a note.
    pub fn add_note(&self, note: impl FnOnce() -> Note) {
        if let Some(notes) = &self.0 {
            notes.borrow_mut().push(note());
        }
    }
}

/// What became of a kernel; its fields and those of [`Note`] are the format that `docs/report.md` describes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Report {
    /// The kernel's name.
    pub kernel: String,
    /// The configuration of the vectorizer; `scalar` where work-items run one after the other.
    pub configuration: &'static str,
    /// Work-items of a gang.
    pub width: u32,
    /// The layout of the lanes; empty where work-items run one after the other.
    pub layout: &'static str,
    /// Why it is that.
    pub why: String,
    /// The notes in the order of the source, each once.
    pub notes: Vec<Note>,
}

impl Report {
    /// The report of a kernel; none if no notes were kept. What several regions or copies of code have in
    /// common is said once.
    pub fn new(
        kernel: &str,
        configuration: &'static str,
        (width, layout): (u32, &'static str),
        reason: String,
        notes: Notes,
    ) -> Option<Report> {
        let mut notes = notes.0?.into_inner();
        notes.sort_by(|left, right| sort_key(left).cmp(&sort_key(right)));
        notes.dedup();
        Some(Report { kernel: kernel.to_owned(), configuration, width, layout, why: reason, notes })
    }

    /// The report as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a report is texts and numbers") + "\n"
    }
}

/// What has no place in the source comes last.
fn sort_key(note: &Note) -> (bool, u32, u32, &str, &str, bool, &str) {
    let Note { location: SourceLoc { line, column }, kind, class, masked, detail } = note;
    (*line == 0, *line, *column, kind, class, *masked, detail)
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { kernel, configuration, width, layout, why, notes } = self;
        match width {
            1 => writeln!(formatter, "kernel {kernel}: work-items one after the other ({why})")?,
            _ => {
                writeln!(formatter, "kernel {kernel}: {width} work-items at a time {layout}, {configuration} ({why})")?
            }
        }
        notes.iter().try_for_each(|note| writeln!(formatter, "{note}"))
    }
}

impl fmt::Display for Note {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.location {
            SourceLoc { line: 0, .. } => formatter.write_str("-")?,
            SourceLoc { line, column } => write!(formatter, "{line}:{column}")?,
        }
        let masked = if self.masked { ", masked" } else { "" };
        write!(formatter, " {} {}{masked}", self.kind, self.class)?;
        if self.detail.is_empty() { Ok(()) } else { write!(formatter, ": {}", self.detail) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn note(line: u32, kind: &'static str) -> Note {
        Note {
            location: SourceLoc { line, column: 2 },
            kind,
            class: "uniform".into(),
            masked: line == 3,
            detail: "".into(),
        }
    }

    #[test]
    fn notes_are_sorted_and_said_once() {
        let notes = Notes::new(true);
        for (line, kind) in [(3, "store"), (0, "private"), (3, "load"), (1, "loop"), (3, "load")] {
            notes.add_note(|| note(line, kind));
        }
        let report = Report::new("k", "unicf", (8, "along x"), "as asked".into(), notes).unwrap();
        let expected = "kernel k: 8 work-items at a time along x, unicf (as asked)
1:2 loop uniform
3:2 load uniform, masked
3:2 store uniform, masked
- private uniform
";
        assert_eq!(report.to_string(), expected);
    }

    /// What `docs/report.md` promises to tools.
    #[test]
    fn json_says_the_same() {
        let notes = Notes::new(true);
        notes.add_note(|| Note { detail: "\"a\\\n".into(), ..note(3, "load") });
        let report = Report::new("k", "unicf", (8, "along x"), "as asked".into(), notes).unwrap();
        let read: Value = serde_json::from_str(&report.to_json()).expect("JSON");
        let expected = json!({
            "kernel": "k",
            "configuration": "unicf",
            "width": 8,
            "layout": "along x",
            "why": "as asked",
            "notes": [{
                "line": 3,
                "column": 2,
                "kind": "load",
                "class": "uniform",
                "masked": true,
                "detail": "\"a\\\n",
            }],
        });
        assert_eq!(read, expected);
        let empty = Report::new("k", "scalar", (1, ""), "as asked".into(), Notes::new(true)).unwrap();
        let read: Value = serde_json::from_str(&empty.to_json()).expect("JSON");
        assert_eq!((&read["layout"], &read["notes"]), (&json!(""), &json!([])));
    }

    #[test]
    fn without_a_wish_there_is_nothing() {
        let notes = Notes::new(false);
        notes.add_note(|| unreachable!("nobody asked"));
        assert_eq!(Report::new("k", "unicf", (8, "along x"), String::new(), notes), None);
    }
}
