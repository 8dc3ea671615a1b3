//! The rule about the crates' dependencies.

use super::Violation;
use super::source::Tree;

/// What each of our crates may depend on, of ours.
const ALLOWED: [(&str, &[&str]); 7] = [
    ("kernels", &[]),
    ("compiler", &["lockstep-kernels"]),
    ("runtime", &["lockstep-compiler", "lockstep-kernels"]),
    ("icd", &["lockstep-runtime", "lockstep-compiler", "lockstep-kernels"]),
    // Its tests compare the driver with the compiler's interpreter.
    ("conformance", &["lockstep-compiler"]),
    // Its way through the loader is the benchmarks' as well.
    ("benches", &["lockstep-conformance"]),
    ("xtask", &[]),
];

/// Dependencies point one way: icd, runtime, compiler, kernels.
pub fn one_way(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for (room, allowed) in ALLOWED {
        let Some(manifest) = tree.file(&format!("{room}/Cargo.toml")) else {
            continue;
        };
        for (index, line) in manifest.text.lines().enumerate() {
            let name = line.split(['.', '=', ' ', '#']).next().unwrap_or_default().trim_matches('"');
            let table = line.trim_matches(['[', ']']).rsplit_once("dependencies.").map_or("", |(_, name)| name);
            for dependency in [name, table] {
                if dependency.starts_with("lockstep-") && !allowed.contains(&dependency) {
                    found.push(Violation {
                        path: manifest.path.clone(),
                        line: index + 1,
                        message: format!(
                            "{room} must not depend on {dependency}: dependencies point one way, \
                             icd -> runtime -> compiler -> kernels, so that each room can be \
                             understood and tested without those above it"
                        ),
                    });
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upward_dependency_is_found_in_either_form() {
        let tree = Tree::of(&[
            (
                "compiler/Cargo.toml",
                "[package]\nname = \"lockstep-compiler\"\n[dependencies]\n\
                 lockstep-kernels.workspace = true\nlockstep-runtime.workspace = true\n",
            ),
            ("kernels/Cargo.toml", "[dependencies.lockstep-compiler]\npath = \"../compiler\"\n"),
            ("icd/Cargo.toml", "[dependencies]\nlockstep-runtime = { workspace = true }\n"),
        ]);
        let found: Vec<_> = one_way(&tree).into_iter().map(|v| (v.path, v.line)).collect();
        assert_eq!(found, [("kernels/Cargo.toml".to_owned(), 1), ("compiler/Cargo.toml".to_owned(), 5)]);
    }

    #[test]
    fn the_tools_depend_on_none_of_ours() {
        let tree = Tree::of(&[("xtask/Cargo.toml", "[dependencies]\nlockstep-compiler.workspace = true\n")]);
        assert_eq!(one_way(&tree).len(), 1);
    }
}
