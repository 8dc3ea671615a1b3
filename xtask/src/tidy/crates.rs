//! The rules about the crates' dependencies.

use super::Violation;
use super::source::{SourceFile, Tree};
use crate::metrics::list_circles;

/// One of our crates.
struct Crate {
    /// The crate's folder, from the workspace's root.
    room: &'static str,
    /// What it may depend on, of ours.
    allowed: &'static [&'static str],
    /// What its tests may depend on besides.
    allowed_in_tests: &'static [&'static str],
}

const CRATES: [Crate; 14] = [
    Crate { room: "kernels", allowed: &[], allowed_in_tests: &[] },
    Crate { room: "compiler/protocol", allowed: &[], allowed_in_tests: &[] },
    // Its own tests switch its features on.
    Crate { room: "compiler/ir", allowed: &["lockstep-protocol"], allowed_in_tests: &["lockstep-ir"] },
    // Its tests run the code that it makes.
    Crate {
        room: "compiler",
        allowed: &["lockstep-ir", "lockstep-protocol", "lockstep-kernels"],
        allowed_in_tests: &["lockstep-runtime", "lockstep-spirv-assembler"],
    },
    Crate {
        room: "compiler/process",
        allowed: &["lockstep-compiler", "lockstep-ir", "lockstep-protocol"],
        allowed_in_tests: &[],
    },
    // It compiles nothing.
    Crate { room: "runtime", allowed: &["lockstep-protocol"], allowed_in_tests: &[] },
    Crate { room: "runtime/command", allowed: &["lockstep-runtime", "lockstep-protocol"], allowed_in_tests: &[] },
    Crate { room: "icd/macros", allowed: &[], allowed_in_tests: &[] },
    Crate {
        room: "icd",
        allowed: &["lockstep-icd-macros", "lockstep-runtime", "lockstep-protocol"],
        allowed_in_tests: &[],
    },
    Crate { room: "conformance", allowed: &[], allowed_in_tests: &["lockstep-spirv-assembler"] },
    // For tests alone.
    Crate { room: "conformance/spirv_assembler", allowed: &[], allowed_in_tests: &[] },
    // Its way through the loader is the benchmarks' as well, and the generated programs are those of the compiler's tests.
    Crate { room: "benches", allowed: &["lockstep-conformance", "lockstep-ir"], allowed_in_tests: &[] },
    // It measures the compiler's analysis, over the benchmarks' kernels.
    Crate {
        room: "benches/precision",
        allowed: &["lockstep-benches", "lockstep-compiler", "lockstep-ir", "lockstep-protocol"],
        allowed_in_tests: &[],
    },
    Crate { room: "xtask", allowed: &[], allowed_in_tests: &[] },
];

/// A line of a manifest that names a dependency.
struct Dependency<'a> {
    name: &'a str,
    /// Whether only tests, examples and benchmarks have it.
    is_for_tests: bool,
    /// The number of the line, from one.
    line: usize,
}

/// Dependencies point one way: icd, runtime, protocol; process, compiler, lockstep-ir, protocol.
pub fn one_way(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for Crate { room, allowed, allowed_in_tests } in CRATES {
        let Some(manifest) = tree.file(&format!("{room}/Cargo.toml")) else {
            continue;
        };
        for Dependency { name, is_for_tests, line } in dependencies(manifest) {
            let may = allowed.contains(&name) || is_for_tests && allowed_in_tests.contains(&name);
            if name.starts_with("lockstep-") && !may {
                found.push(Violation {
                    path: manifest.path.clone(),
                    line,
                    message: format!(
                        "{room} must not depend on {name}: dependencies point one way, icd -> runtime -> protocol and \
                         process -> compiler -> lockstep-ir -> protocol, so that each room can be understood and tested \
                         without those above it, and applications load nothing that compiles"
                    ),
                });
            }
        }
    }
    found
}

/// What needs no LLVM cannot reach it, nor C.
pub fn without_llvm(tree: &Tree) -> Vec<Violation> {
    const FOREIGN: [&str; 3] = ["inkwell", "llvm-sys", "libc"];
    let mut found = Vec::new();
    for room in ["compiler/ir", "compiler/protocol"] {
        let Some(manifest) = tree.file(&format!("{room}/Cargo.toml")) else {
            continue;
        };
        for Dependency { name, line, .. } in dependencies(manifest).filter(|each| FOREIGN.contains(&each.name)) {
            found.push(Violation {
                path: manifest.path.clone(),
                line,
                message: format!(
                    "{room} must not depend on {name}: it builds and is tested on a machine with Rust alone"
                ),
            });
        }
    }
    found
}

/// The name of the build is a hash of the sources of every crate that decides what is compiled and how it is called.
pub fn named_by_its_sources(tree: &Tree) -> Vec<Violation> {
    const SCRIPT: &str = "compiler/protocol/build_identity.rs";
    let Some(script) = tree.file(SCRIPT) else { return Vec::new() };
    let folder = |room: &str| format!("\"{room}/src\"");
    let decides = |room: &str| room.starts_with("compiler") || room == "runtime";
    CRATES
        .iter()
        .filter(|each| decides(each.room) && !script.text.contains(&folder(each.room)))
        .map(|each| Violation {
            path: SCRIPT.to_owned(),
            line: 0,
            message: format!(
                "{} is not hashed: another build's code would be taken from the cache for this one's",
                folder(each.room)
            ),
        })
        .collect()
}

fn dependencies(manifest: &SourceFile) -> impl Iterator<Item = Dependency<'_>> {
    let mut section = "";
    manifest.text.lines().enumerate().filter_map(move |(index, line)| {
        let name = match line.strip_prefix('[') {
            Some(header) => {
                section = header.trim_end_matches(']');
                section.rsplit_once("dependencies.").map_or("", |(_, name)| name)
            }
            None if section.ends_with("dependencies") => {
                line.split(['.', '=', ' ', '#']).next().unwrap_or_default().trim_matches('"')
            }
            None => "",
        };
        let is_for_tests = section.starts_with("dev-dependencies");
        (!name.is_empty()).then_some(Dependency { name, is_for_tests, line: index + 1 })
    })
}

/// No more than three files of a crate of the driver's import each other in a circle: whoever reads one has to read them all.
pub fn without_circles(tree: &Tree) -> Vec<Violation> {
    let reader = |path: &str| tree.file(path).map(|file| file.text.clone());
    let is_of_driver = |room: &str| ["compiler", "runtime", "icd"].contains(&room.split('/').next().unwrap_or(room));
    let rooms = CRATES.iter().map(|each| each.room).filter(|room| is_of_driver(room));
    let roots = rooms.flat_map(|room| ["lib.rs", "main.rs"].map(|name| format!("{room}/src/{name}")));
    let mut violations = Vec::new();
    for root in roots.filter(|root| tree.file(root).is_some()) {
        match list_circles(&root, &reader) {
            Ok(circles) => violations.extend(circles.into_iter().map(|files| Violation {
                path: files[0].clone(),
                line: 0,
                message: format!("{} files import each other: {}; at most three may", files.len(), files.join(", ")),
            })),
            Err(error) => violations.push(Violation { path: root, line: 0, message: error.to_string() }),
        }
    }
    violations
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

    #[test]
    fn what_tests_may_have_the_library_may_not() {
        let of_tests =
            "[dependencies]\nlockstep-ir.workspace = true\n[dev-dependencies]\nlockstep-runtime.workspace = true\n";
        let of_all = "[dev-dependencies]\n[dependencies]\nlockstep-runtime.workspace = true\n";
        let found = |text| one_way(&Tree::of(&[("compiler/Cargo.toml", text)])).len();
        assert_eq!((found(of_tests), found(of_all)), (0, 1));
    }

    #[test]
    fn llvm_below_the_compiler_is_found() {
        let tree = Tree::of(&[
            ("compiler/ir/Cargo.toml", "[dependencies]\nhalf.workspace = true\n[dev-dependencies]\ninkwell = \"0\"\n"),
            ("compiler/protocol/Cargo.toml", "[dependencies.llvm-sys]\nversion = \"0\"\n"),
            ("compiler/Cargo.toml", "[dependencies]\ninkwell = \"0\"\n"),
        ]);
        let found: Vec<_> = without_llvm(&tree).into_iter().map(|v| (v.path, v.line)).collect();
        assert_eq!(found, [("compiler/ir/Cargo.toml".to_owned(), 4), ("compiler/protocol/Cargo.toml".to_owned(), 1)]);
    }

    #[test]
    fn a_crate_that_the_builds_name_leaves_out_is_found() {
        let script = |text| named_by_its_sources(&Tree::of(&[("compiler/protocol/build_identity.rs", text)]));
        let all = r#""compiler/src" "compiler/ir/src" "compiler/process/src" "compiler/protocol/src" "runtime/src""#;
        assert!(script(all).is_empty());
        let found = script(&all.replace("\"compiler/ir/src\"", ""));
        assert_eq!(found.len(), 1);
        assert!(found[0].message.contains("compiler/ir/src"));
    }

    #[test]
    fn circles_of_more_than_three_files_are_found() {
        let circle_of = |names: &[&str]| {
            let declared: String = names.iter().map(|name| format!("mod {name};\n")).collect();
            let mut files = vec![("runtime/src/lib.rs".to_owned(), declared)];
            for (index, name) in names.iter().enumerate() {
                let next = names[(index + 1) % names.len()];
                files.push((
                    format!("runtime/src/{name}.rs"),
                    format!("use crate::{next}::Thing;\npub struct Thing;\n"),
                ));
            }
            let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
            without_circles(&Tree::of(&files))
        };
        assert!(circle_of(&["a", "b", "c"]).is_empty());
        let [violation] = &circle_of(&["a", "b", "c", "d"])[..] else { panic!("one circle") };
        assert!(
            violation.message.starts_with("4 files import each other: runtime/src/a.rs, "),
            "{}",
            violation.message
        );
    }
}
