//! Rules about single files: their length, their docs, what they leave undone.

use super::Violation;
use super::source::{SourceFile, Tree};

/// More lines than this, and a file holds more than one idea.
const LONGEST: usize = 800;

/// Files stay short enough to be read whole.
pub fn length(tree: &Tree) -> Vec<Violation> {
    tree.files
        .iter()
        .filter(|file| [".rs", ".cl", ".h"].iter().any(|extension| file.path.ends_with(extension)))
        .filter_map(|file| {
            let lines = file.text.lines().count();
            (lines > LONGEST).then(|| Violation {
                path: file.path.clone(),
                line: 0,
                message: format!(
                    "{lines} lines, the limit is {LONGEST}: a file is one idea and can be read in \
                     one go; split it along its ideas"
                ),
            })
        })
        .collect()
}

/// Every Rust file says at its top what it is about.
pub fn module_docs(tree: &Tree) -> Vec<Violation> {
    tree.rust()
        .filter(|file| module_doc(file).trim().is_empty())
        .map(|file| Violation {
            path: file.path.clone(),
            line: 1,
            message: "no `//!` doc at the top: a reader must learn what the file is about before \
                      reading it"
                .to_owned(),
        })
        .collect()
}

/// Every analysis and transformation states its contract and its source.
pub fn pass_docs(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree.rust().filter(|file| is_pass(&file.path)) {
        let doc = module_doc(file);
        let lacking: Vec<&str> =
            ["Requires", "Ensures", "Phases", "Source"].into_iter().filter(|word| !doc.contains(word)).collect();
        if !lacking.is_empty() {
            found.push(Violation {
                path: file.path.clone(),
                line: 1,
                message: format!(
                    "the module doc does not say: {}; a pass is used and changed by its contract \
                     (what it needs, what it gives, its steps, the paper it follows)",
                    lacking.join(", ")
                ),
            });
        }
    }
    found
}

/// No test is switched off.
pub fn ignored_tests(tree: &Tree) -> Vec<Violation> {
    containing(
        tree,
        &["#[ignore", "allow(dead_code)", "allow(unused)"],
        "tests are not ignored and dead code is not kept: assert today's behaviour with the reason, \
         delete what nothing uses",
    )
}

/// Nothing is left to be written.
pub fn unfinished(tree: &Tree) -> Vec<Violation> {
    containing(
        tree,
        &["todo!", "unimplemented!"],
        "no unfinished code: return an error that says what is not supported, and why",
    )
}

/// Files that are a pass of the compiler.
pub fn is_pass(path: &str) -> bool {
    let within = |room: &str| path.strip_prefix(room).is_some_and(|rest| rest.ends_with(".rs") && !is_support(rest));
    within("compiler/ir/src/analysis/") || within("compiler/ir/src/transform/")
}

/// Module roots and tests are not passes themselves.
fn is_support(rest: &str) -> bool {
    let name = rest.rsplit('/').next().unwrap_or(rest);
    matches!(name, "mod.rs" | "tests.rs" | "testing.rs") || rest.starts_with("tests/") || rest.contains("/tests/")
}

fn module_doc(file: &SourceFile) -> String {
    file.text
        .lines()
        .map(str::trim_start)
        .filter(|line| line.starts_with("//!"))
        .flat_map(|line| [&line[3..], "\n"])
        .collect()
}

fn containing(tree: &Tree, texts: &[&str], message: &str) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree.rust() {
        for (index, line) in file.code.lines().enumerate() {
            let packed: String = line.split_whitespace().collect();
            if texts.iter().any(|text| packed.contains(text)) {
                found.push(Violation { path: file.path.clone(), line: index + 1, message: message.to_owned() });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_file_is_found() {
        let long = "\n".repeat(LONGEST + 1);
        let tree =
            Tree::of(&[("kernels/cl/math.cl", &long), ("runtime/src/queue.rs", &long[1..]), ("docs/passes.md", &long)]);
        let found = length(&tree);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "kernels/cl/math.cl");
    }

    #[test]
    fn a_file_without_doc_is_found() {
        let tree = Tree::of(&[("icd/src/info.rs", "fn f() {}\n"), ("icd/src/error.rs", "//! CL error codes.\n")]);
        let found = module_docs(&tree);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "icd/src/info.rs");
    }

    #[test]
    fn a_pass_without_its_source_is_found() {
        let doc = "//! A pass.\n//! Requires: x\n//! Ensures: y\n//! Phases: z\n";
        let whole = format!("{doc}//! Source: Moll 2021, chapter 8\n");
        let tree = Tree::of(&[
            ("compiler/ir/src/transform/linearize.rs", doc),
            ("compiler/ir/src/transform/masks.rs", &whole),
            ("compiler/ir/src/transform/mod.rs", "//! The passes.\n"),
        ]);
        let found = pass_docs(&tree);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "compiler/ir/src/transform/linearize.rs");
        assert!(found[0].message.contains("does not say: Source;"));
    }

    #[test]
    fn an_ignored_test_is_found() {
        let tree = Tree::of(&[(
            "runtime/src/queue.rs",
            "// #[ignore] is not for us\n#[test]\n#[ignore = \"slow\"]\nfn f() {}\n",
        )]);
        assert_eq!(ignored_tests(&tree)[0].line, 3);
        let tree = Tree::of(&[("a.rs", "#[allow( dead_code )]\nfn f() {}\n")]);
        assert_eq!(ignored_tests(&tree)[0].line, 1);
    }

    #[test]
    fn a_hole_is_found() {
        let tree = Tree::of(&[("a.rs", "fn f() {\n    todo!()\n}\nfn g() { \"todo!\"; }\n")]);
        let found = unfinished(&tree);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].line, 2);
    }
}
