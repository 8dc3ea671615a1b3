//! What was counted in a folder of crates, and who is to blame for it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Result;

use super::crates::{self, Crate};
use super::imports::{self, Circle};
use super::measure::{self, Measures, Name};

/// The circles of imports that are no fault: of so many files.
pub const MOST_IN_A_CIRCLE: usize = 3;
/// A closure of more lines is to be a function.
pub const LONGEST_CLOSURE: usize = 5;
/// A doc comment of fewer words says nothing.
pub const FEWEST_WORDS: usize = 3;
/// What the mean of local names is to reach, in letters.
pub const LETTERS_OF_LOCALS: f64 = 6.5;

/// Added to the size of a circle: no crate has so many files.
const BEFORE_IMPORTS: f64 = 1e6;

/// A folder of crates.
pub struct Area {
    /// The folder.
    pub name: String,
    /// Every file with what was counted in it.
    files: Vec<(String, Measures)>,
    /// Circles of imports, with the files' paths.
    circles: Vec<(Circle, Vec<String>)>,
}

/// A place that makes a number worse.
#[derive(Debug, PartialEq)]
pub struct Offender {
    /// How bad it is; what this means depends on the number.
    pub weight: f64,
    /// The file, from the workspace's root.
    pub path: String,
    /// The line, from one.
    pub line: usize,
    /// What is there.
    pub what: String,
}

impl Area {
    /// Counts in all crates of a folder; in files whose path starts with `only`, if that is given.
    pub fn read(workspace: &Path, folder: &str, only: Option<&str>) -> Result<Self> {
        let reader = |path: &str| std::fs::read_to_string(workspace.join(path)).ok();
        let roots = crates::find_roots(workspace, folder)?;
        let read: Result<Vec<Crate>> = roots.iter().map(|root| Crate::read(root, &reader)).collect();
        Self::of(folder, &read?, only)
    }

    fn of(name: &str, crates: &[Crate], only: Option<&str>) -> Result<Self> {
        let own_traits: BTreeSet<String> = crates.iter().flat_map(Crate::trait_names).collect();
        let mut area = Self { name: name.to_owned(), files: Vec::new(), circles: Vec::new() };
        for each in crates {
            let wanted = |path: &str| only.is_none_or(|only| path.starts_with(only));
            for file in each.files.iter().filter(|file| wanted(&file.path)) {
                area.files.push((file.path.clone(), measure::measure(file, &own_traits)?));
            }
            let paths: Vec<String> = each.files.iter().map(|file| file.path.clone()).collect();
            let circles = imports::find_circles(&imports::find_imports(each), MOST_IN_A_CIRCLE).into_iter();
            let has_wanted = |circle: &Circle| circle.files.iter().any(|file| wanted(&paths[*file]));
            area.circles.extend(circles.filter(has_wanted).map(|circle| (circle, paths.clone())));
        }
        Ok(area)
    }

    /// How many of something all files have.
    pub fn sum(&self, count: impl Fn(&Measures) -> usize) -> f64 {
        self.files.iter().map(|(_, found)| as_number(count(found))).sum()
    }

    /// The most that a file has.
    pub fn most(&self, count: impl Fn(&Measures) -> usize) -> f64 {
        self.files.iter().map(|(_, found)| as_number(count(found))).fold(0.0, f64::max)
    }

    /// How many circles of imports there are.
    pub fn circles(&self) -> f64 {
        as_number(self.circles.len())
    }

    /// Functions whose name is one word, the shortest names first.
    pub fn one_word_functions(&self) -> Vec<Offender> {
        self.collect(|found| {
            let names = found.function_names.iter().filter(|name| name.is_one_word());
            names.map(|name| (-as_number(name.letters()), name.line, name.text.clone())).collect()
        })
    }

    /// All names of functions, the shortest first.
    pub fn function_names(&self) -> Vec<Offender> {
        self.collect(|found| {
            let names = found.function_names.iter();
            names.map(|name| (-as_number(name.letters()), name.line, name.text.clone())).collect()
        })
    }

    /// Local names by what they take from the mean: how many letters all places with that name lack.
    pub fn local_names(&self) -> Vec<Offender> {
        let mut places: BTreeMap<&str, Vec<(&str, &Name)>> = BTreeMap::new();
        for (path, found) in &self.files {
            for name in &found.local_names {
                places.entry(&name.text).or_default().push((path, name));
            }
        }
        places.into_values().map(|places| missing_letters(&places)).filter(|offender| offender.weight > 0.0).collect()
    }

    /// Functions by how many closures they have.
    pub fn closures(&self) -> Vec<Offender> {
        self.collect(|found| {
            let functions = found.functions.iter().filter(|function| function.closures > 0);
            let what = |closures, name: &Name| format!("{closures} closures in {}", name.text);
            functions
                .map(|each| (as_number(each.closures), each.extent.line, what(each.closures, &each.name)))
                .collect()
        })
    }

    /// Closures of more than [`LONGEST_CLOSURE`] lines.
    pub fn long_closures(&self) -> Vec<Offender> {
        self.collect(|found| {
            let closures = found.closures.iter().filter(|closure| closure.length > LONGEST_CLOSURE);
            closures.map(|each| (as_number(each.length), each.line, format!("{} lines", each.length))).collect()
        })
    }

    /// Doc comments of less than [`FEWEST_WORDS`] words.
    pub fn short_docs(&self) -> Vec<Offender> {
        self.collect(|found| {
            let docs = found.docs.iter().filter(|doc| doc.words() < FEWEST_WORDS);
            docs.map(|doc| (-as_number(doc.words()), doc.line, doc.text.trim().to_owned())).collect()
        })
    }

    /// Files by the share of their lines that are comments, the lowest first.
    pub fn files_without_comments(&self) -> Vec<Offender> {
        self.collect(|found| {
            let share = as_number(found.comment_lines) / as_number(found.lines.max(1));
            vec![(-share, 1, format!("{:.0} % of {} lines", share * 100.0, found.lines))]
        })
    }

    /// Files by their length.
    pub fn long_files(&self) -> Vec<Offender> {
        self.collect(|found| vec![(as_number(found.length), 1, format!("{} lines", found.length))])
    }

    /// Functions by their length.
    pub fn long_functions(&self) -> Vec<Offender> {
        self.collect(|found| {
            let what = |length, name: &Name| format!("{length} lines: {}", name.text);
            let functions = found.functions.iter();
            functions
                .map(|each| (as_number(each.extent.length), each.extent.line, what(each.extent.length, &each.name)))
                .collect()
        })
    }

    /// The circles, the largest first, then the imports within them.
    pub fn circles_and_imports(&self) -> Vec<Offender> {
        let mut found = Vec::new();
        for (circle, paths) in &self.circles {
            let size = as_number(circle.files.len());
            let files: Vec<&str> = circle.files.iter().map(|file| paths[*file].as_str()).collect();
            let what = format!("circle of {size} files: {}", files.join(", "));
            found.push(Offender { weight: size + BEFORE_IMPORTS, path: files[0].to_owned(), line: 1, what });
            for import in &circle.imports {
                let what = format!("of {size} files: uses {} by {}", paths[import.to], import.name);
                found.push(Offender { weight: size, path: paths[import.from].clone(), line: import.line, what });
            }
        }
        found
    }

    /// Offenders of all files: weights, lines and what is there.
    fn collect(&self, list: impl Fn(&Measures) -> Vec<(f64, usize, String)>) -> Vec<Offender> {
        let mut found = Vec::new();
        for (path, measures) in &self.files {
            for (weight, line, what) in list(measures) {
                found.push(Offender { weight, path: path.clone(), line, what });
            }
        }
        found
    }
}

/// What all places of one name lack together.
fn missing_letters(places: &[(&str, &Name)]) -> Offender {
    let (path, first) = places[0];
    let missing = LETTERS_OF_LOCALS - as_number(first.letters());
    let weight = missing * as_number(places.len());
    let what = format!("{}: {} times, {weight:.0} letters less than the goal", first.text, places.len());
    Offender { weight, path: path.to_owned(), line: first.line, what }
}

/// A count as a number with a fraction.
pub fn as_number(count: usize) -> f64 {
    // Counts of lines and names are far below 2^32.
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

#[cfg(test)]
pub mod tests {
    use super::super::crates::tests::crate_of;
    use super::*;

    /// An area of one crate.
    pub fn area_of(files: &[(&str, &str)]) -> Area {
        Area::of("area", &[crate_of(files)], None).expect("Rust")
    }

    #[test]
    fn names_are_weighed_by_all_their_places() {
        let area =
            area_of(&[("lib.rs", "fn f(at: u8, beginning: u8) {}\nfn g(at: u8, sufficient: u8) { let x = 1; }")]);
        let found = area.local_names();
        let weights: Vec<(&str, f64)> = found.iter().map(|each| (&each.what[..2], each.weight)).collect();
        assert_eq!(weights, [("at", 9.0), ("x:", 5.5)]);
        assert_eq!(found[0].line, 1);
    }

    #[test]
    fn a_part_of_the_files_can_be_looked_at() {
        let read = crate_of(&[("s/lib.rs", "mod a;\nfn f() {}"), ("s/a.rs", "fn g() {}")]);
        let area = Area::of("s", &[read], Some("s/a")).expect("Rust");
        assert_eq!(area.one_word_functions().iter().map(|each| each.what.as_str()).collect::<Vec<_>>(), ["g"]);
    }

    #[test]
    fn circles_name_both_ends() {
        let area = area_of(&[
            ("s/lib.rs", "mod a; mod b; mod c; mod d;"),
            ("s/a.rs", "use crate::b;"),
            ("s/b.rs", "use crate::c;"),
            ("s/c.rs", "use crate::d;"),
            ("s/d.rs", "use crate::a;"),
        ]);
        assert!((area.circles() - 1.0).abs() < f64::EPSILON);
        let found = area.circles_and_imports();
        assert_eq!(found[0].what, "circle of 4 files: s/a.rs, s/b.rs, s/c.rs, s/d.rs");
        assert_eq!((found.len(), found[1].path.as_str()), (5, "s/a.rs"));
        assert_eq!(found[1].what, "of 4 files: uses s/b.rs by crate::b");
    }
}
