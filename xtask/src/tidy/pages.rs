//! Rules that keep the pages for readers true: README's extensions, links, names of files, and the walk-throughs'
//! counts.

use std::collections::BTreeSet;

use super::Violation;
use super::source::{SourceFile, Tree};
use crate::walkthroughs::{FOLDER, Hunk, Walkthrough};

const README: &str = "README.md";
const CONTRIBUTING: &str = "CONTRIBUTING.md";
const FEATURES: &str = "compiler/protocol/src/features.rs";
/// What begins a table of [`FEATURES`], and what ends it.
const TABLES: [&str; 2] = ["pub const EXTENSIONS: ", "pub const FEATURES: "];
const END_OF_TABLE: &str = "\n];";
/// What the names of extensions and features begin with.
const PREFIXES: [&str; 4] = ["cl_khr_", "cl_ext_", "cl_intel_", "__opencl_c_"];
/// What begins a list of the files of a walk-through, before their number.
const FILES: &str = "```files ";

/// README lists the extensions and features that are advertised, and no others.
pub fn supported(tree: &Tree) -> Vec<Violation> {
    let (Some(readme), Some(code)) = (tree.file(README), tree.file(FEATURES)) else {
        return Vec::new();
    };
    let advertised: BTreeSet<&str> = TABLES.iter().flat_map(|begin| names_in(table_of(&code.text, begin))).collect();
    let promised: BTreeSet<&str> = names_in(&readme.text).collect();
    let missing = advertised
        .difference(&promised)
        .map(|name| format!("{name} is advertised by {FEATURES} and not listed: users look here for what there is"));
    let wrong = promised
        .difference(&advertised)
        .map(|name| format!("{name} is listed, but {FEATURES} does not advertise it: promises have to be kept"));
    missing.chain(wrong).map(|message| in_file(README, message)).collect()
}

fn table_of<'a>(code: &'a str, begin: &str) -> &'a str {
    let rest = code.split_once(begin).map_or("", |(_, rest)| rest);
    rest.split_once(END_OF_TABLE).map_or(rest, |(table, _)| table)
}

/// The names of extensions and features in a text. One that ends in an underscore stands for several.
fn names_in(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| PREFIXES.iter().any(|prefix| word.starts_with(prefix)) && !word.ends_with('_'))
}

/// Links between pages, and to files, lead to something.
pub fn links(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for page in pages(tree) {
        for (number, line) in (1..).zip(page.text.lines()) {
            for target in line.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
                let path = target.split('#').next().unwrap_or_default();
                if path.is_empty() || path.contains("://") || !is_listed(path) {
                    continue;
                }
                let path = resolve(&page.path, path);
                if tree.file(&path).is_none() {
                    found.push(Violation {
                        path: page.path.clone(),
                        line: number,
                        message: format!("a link leads to {path}, which is not there"),
                    });
                }
            }
        }
    }
    found
}

/// Whether the tree has files of this kind.
fn is_listed(path: &str) -> bool {
    [".md", ".rs", ".cl", ".toml", ".pir", ".patch"].iter().any(|extension| path.ends_with(extension))
}

/// A path that a page names from its own folder, from the root.
fn resolve(page: &str, path: &str) -> String {
    let mut folders: Vec<&str> = page.split('/').collect();
    folders.pop();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." => drop(folders.pop()),
            part => folders.push(part),
        }
    }
    folders.join("/")
}

/// Files that a page names are there, under that name or with folders before it.
pub fn named_files(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for page in pages(tree) {
        for (number, line) in (1..).zip(page.text.lines()) {
            // Every other piece between backticks is code.
            let named = line.split('`').skip(1).step_by(2).filter(|name| is_file_name(name));
            for name in named.filter(|name| !is_there(tree, name)) {
                found.push(Violation {
                    path: page.path.clone(),
                    line: number,
                    message: format!("no file is called {name}: a page that names what was renamed misleads"),
                });
            }
        }
    }
    found
}

fn is_file_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    [".rs", ".cl", ".pir"].iter().any(|extension| name.len() > extension.len() && name.ends_with(extension))
        && name.chars().all(is_plain)
        && !is_example(name)
}

/// Whether a part of the name stands for others, as in `transform/NAME.rs`: files of ours have small letters.
fn is_example(name: &str) -> bool {
    name.contains(|c: char| c.is_ascii_uppercase())
}

fn is_there(tree: &Tree, name: &str) -> bool {
    tree.files
        .iter()
        .any(|file| file.path.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('/')))
}

/// Each walk-through finds the lines that it changes, and CONTRIBUTING's table says how many files it touches, as its patch
/// or the list below the table has it.
pub fn walkthroughs(tree: &Tree) -> Vec<Violation> {
    let Some(page) = tree.file(CONTRIBUTING) else {
        return Vec::new();
    };
    let mut found = list_violations(tree, page);
    let prefix = format!("{FOLDER}/");
    for patch in tree.files.iter().filter(|file| file.path.starts_with(&prefix) && file.path.ends_with(".patch")) {
        match Walkthrough::parse(&patch.text) {
            Err(what) => found.push(in_file(&patch.path, what)),
            Ok(walkthrough) => found.extend(check_row(page, &patch.path, walkthrough.files.len())),
        }
        let is_stale = |hunk: &Hunk| !tree.file(hunk.file).is_some_and(|file| file.text.contains(&hunk.old_text));
        for hunk in Hunk::find_hunks(&patch.text).into_iter().filter(is_stale) {
            let message = format!("it no longer applies to {} ({FOLDER}/README.md says how to mend it)", hunk.file);
            found.push(in_file(&patch.path, message));
        }
    }
    for (anchor, files) in lists(page) {
        found.extend(check_row(page, &format!("#{anchor}"), files));
    }
    found
}

/// The sections with a list of files, by the ends of links to them, and how many files their lists say they have.
fn lists(page: &SourceFile) -> Vec<(String, usize)> {
    let mut section = String::new();
    let mut found = Vec::new();
    for line in page.text.lines() {
        if line.starts_with('#') {
            section = anchor_of(line);
        } else if let Some(count) = line.strip_prefix(FILES).and_then(|count| count.trim().parse().ok()) {
            found.push((section.clone(), count));
        }
    }
    found
}

/// What a link to a heading ends in.
fn anchor_of(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    words
        .chars()
        .filter(|&c| c.is_alphanumeric() || " -_".contains(c))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

/// What is wrong with the row of the table that links to a patch or a section.
fn check_row(page: &SourceFile, target: &str, files: usize) -> Option<Violation> {
    let link = format!("]({target})");
    let Some(row) = page.text.lines().find(|line| line.starts_with('|') && line.contains(&link)) else {
        return Some(in_file(CONTRIBUTING, format!("no row of the table links to {target}")));
    };
    let says = row.split('|').nth(2).map_or("nothing", str::trim);
    let message = format!("{target} has {files} files, its row says {says}");
    (says != files.to_string()).then(|| in_file(CONTRIBUTING, message))
}

/// What is wrong with the lists of files: their number, and files that are not there.
fn list_violations(tree: &Tree, page: &SourceFile) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut lines = (1..).zip(page.text.lines());
    while let Some((number, line)) = lines.next() {
        let Some(says) = line.strip_prefix(FILES) else { continue };
        let mut complain = |line, message| found.push(Violation { path: CONTRIBUTING.to_owned(), line, message });
        let mut count = 0;
        for (number, line) in lines.by_ref().take_while(|(_, line)| !line.starts_with("```")) {
            count += 1;
            let name = line.split_whitespace().next().unwrap_or_default();
            if !is_example(name) && tree.file(name).is_none() {
                complain(number, format!("{name} is not there"));
            }
        }
        if says.trim() != count.to_string() {
            complain(number, format!("the list has {count} files, its first line says {says}"));
        }
    }
    found
}

/// The pages: what people read.
fn pages(tree: &Tree) -> impl Iterator<Item = &SourceFile> {
    tree.files.iter().filter(|file| file.path.ends_with(".md"))
}

fn in_file(path: &str, message: String) -> Violation {
    Violation { path: path.to_owned(), line: 0, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "pub const EXTENSIONS: &[Extension] = &[\n    language(\"cl_khr_fp16\"),\n    host(\"cl_khr_icd\"),\n];\n\
        pub const FEATURES: &[Feature] = &[\n    feature(\"__opencl_c_fp64\"),\n];\nconst OTHER: &str = \"cl_khr_gone\";\n";

    fn messages(found: &[Violation]) -> Vec<&str> {
        found.iter().map(|violation| violation.message.as_str()).collect()
    }

    #[test]
    fn readme_lists_what_is_advertised_and_nothing_else() {
        let readme = "`cl_khr_fp16`, `__opencl_c_fp64`, `cl_khr_gone`, all `cl_khr_subgroup_…`, `cl_mem`";
        let found = supported(&Tree::of(&[(FEATURES, CODE), (README, readme)]));
        assert_eq!(found.len(), 2, "{:?}", messages(&found));
        assert!(found[0].message.starts_with("cl_khr_icd is advertised"));
        assert!(found[1].message.starts_with("cl_khr_gone is listed"));
    }

    #[test]
    fn links_lead_somewhere() {
        let page = "[a](b.md#c) [x](../README.md) [gone](gone.md) [web](https://example.org/x.md) [here](#here)";
        let found = links(&Tree::of(&[("docs/a.md", page), ("docs/b.md", ""), ("README.md", "")]));
        assert_eq!(messages(&found), ["a link leads to docs/gone.md, which is not there"]);
    }

    #[test]
    fn files_that_pages_name_are_there() {
        let page = "`ir/a.rs` and `a.rs`, not `r/a.rs`; `NAME.rs`, a.rs, `f(a.rs)`";
        let found = named_files(&Tree::of(&[("docs/a.md", page), ("compiler/ir/a.rs", "")]));
        assert_eq!(found.len(), 1);
        assert!(found[0].message.starts_with("no file is called r/a.rs"));
    }

    #[test]
    fn lists_of_files_are_counted() {
        let page = "| [an x](#an-x) | 2 |\n## An x\n```files 1\na.rs  what\ngone.rs\nNAME.rs\n```\n";
        let found = walkthroughs(&Tree::of(&[(CONTRIBUTING, page), ("a.rs", "")]));
        let wanted = [
            "gone.rs is not there",
            "the list has 3 files, its first line says 1",
            "#an-x has 1 files, its row says 2",
        ];
        assert_eq!(messages(&found), wanted);
    }

    #[test]
    fn patches_apply_to_the_tree() {
        let patch = "Walk-through: x\nRun: y\n--- a/a.rs\n+++ b/a.rs\n@@ -1,2 +1 @@\n same\n-old\n";
        let row = "| x | 1 | [patch](docs/walkthroughs/x.patch) |\n";
        let with = |text| {
            walkthroughs(&Tree::of(&[(CONTRIBUTING, row), ("docs/walkthroughs/x.patch", patch), ("a.rs", text)]))
        };
        assert!(with("before\nsame\nold\n").is_empty());
        assert!(with("same\nother\nold\n")[0].message.starts_with("it no longer applies to a.rs"));
    }

    #[test]
    fn rows_count_the_files_of_their_patch() {
        let patch = "Walk-through: x\nRun: cargo test\n+++ b/a.rs\n+++ b/b.rs\n";
        let path = "docs/walkthroughs/x.patch";
        let with = |row: &str| walkthroughs(&Tree::of(&[(CONTRIBUTING, row), (path, patch)]));
        assert!(with("| x | 2 | [patch](docs/walkthroughs/x.patch) |\n").is_empty());
        assert!(
            with("| x | 3 | [patch](docs/walkthroughs/x.patch) |\n")[0].message.contains("has 2 files, its row says 3")
        );
        assert!(with("nothing")[0].message.starts_with("no row"));
    }
}
