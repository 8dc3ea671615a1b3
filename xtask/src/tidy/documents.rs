//! Rules that keep the pages in docs/ true to the code.

use std::collections::BTreeSet;

use super::Violation;
use super::source::Tree;
use super::style::is_pass;

const OPTIONS_CODE: &str = "runtime/src/options/table.rs";
const OPTIONS_PAGE: &str = "docs/options.md";
const PASSES_PAGE: &str = "docs/passes.md";

/// docs/options.md lists the switches of runtime/src/options/table.rs, and no others.
pub fn options(tree: &Tree) -> Vec<Violation> {
    let Some(code) = tree.file(OPTIONS_CODE) else {
        return Vec::new();
    };
    let read = variables(&code.text);
    let Some(page) = tree.file(OPTIONS_PAGE) else {
        return if read.is_empty() { Vec::new() } else { vec![missing_page(OPTIONS_PAGE)] };
    };
    let listed = variables(&page.text);
    let mut found = Vec::new();
    for name in read.difference(&listed) {
        found.push(Violation {
            path: OPTIONS_PAGE.to_owned(),
            line: 0,
            message: format!("{name} is read by {OPTIONS_CODE} and not listed: users find switches here"),
        });
    }
    for name in listed.difference(&read) {
        found.push(Violation {
            path: OPTIONS_PAGE.to_owned(),
            line: 0,
            message: format!(
                "{name} is listed, but {OPTIONS_CODE} does not know it: a page that promises what \
                 is not there misleads"
            ),
        });
    }
    found
}

/// docs/passes.md speaks of every analysis and transformation.
pub fn passes(tree: &Tree) -> Vec<Violation> {
    let passes: Vec<_> = tree.rust().filter(|file| is_pass(&file.path)).collect();
    if passes.is_empty() {
        return Vec::new();
    }
    let Some(page) = tree.file(PASSES_PAGE) else {
        return vec![missing_page(PASSES_PAGE)];
    };
    passes
        .into_iter()
        .filter_map(|file| {
            let name = file.path.strip_prefix("compiler/ir/src/")?;
            (!page.text.contains(name)).then(|| Violation {
                path: PASSES_PAGE.to_owned(),
                line: 0,
                message: format!("{name} is not mentioned: the page shows each pass, its paper, and what it does"),
            })
        })
        .collect()
}

fn missing_page(path: &str) -> Violation {
    Violation { path: path.to_owned(), line: 0, message: "the page is missing".to_owned() }
}

/// The names `LOCKSTEP_…` in a text.
fn variables(text: &str) -> BTreeSet<&str> {
    const PREFIX: &str = "LOCKSTEP_";
    text.match_indices(PREFIX)
        .filter_map(|(at, _)| {
            let length = text[at..]
                .find(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'))
                .unwrap_or(text.len() - at);
            let name = text[at..at + length].trim_end_matches('_');
            (name.len() > PREFIX.len()).then_some(name)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_of_the_options_page_are_checked() {
        let tree = Tree::of(&[
            (OPTIONS_CODE, "\"LOCKSTEP_THREADS\" \"LOCKSTEP_DUMP\" // LOCKSTEP_*\n"),
            (OPTIONS_PAGE, "| `LOCKSTEP_THREADS` |\n| `LOCKSTEP_GONE` |\n"),
        ]);
        let found = options(&tree);
        assert_eq!(found.len(), 2);
        assert!(found[0].message.starts_with("LOCKSTEP_DUMP is read"));
        assert!(found[1].message.starts_with("LOCKSTEP_GONE is listed"));
    }

    #[test]
    fn a_missing_options_page_is_found() {
        let tree = Tree::of(&[(OPTIONS_CODE, "\"LOCKSTEP_THREADS\"")]);
        assert_eq!(options(&tree).len(), 1);
    }

    #[test]
    fn a_pass_the_page_does_not_know_is_found() {
        let tree = Tree::of(&[
            ("compiler/ir/src/transform/masks.rs", ""),
            ("compiler/ir/src/transform/barriers.rs", ""),
            (PASSES_PAGE, "## Barriers (`transform/barriers.rs`)\n"),
        ]);
        let found = passes(&tree);
        assert_eq!(found.len(), 1);
        assert!(found[0].message.starts_with("transform/masks.rs is not"));
    }
}
