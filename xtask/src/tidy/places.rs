//! Rules about what may be used where.

use super::Violation;
use super::source::{SourceFile, Tree};

/// A thing that only some files may use.
struct Confined<'a> {
    /// Words of code that are the use.
    words: &'a [&'a str],
    /// Whether the rule looks at this file at all.
    applies: fn(&SourceFile) -> bool,
    /// Path prefixes that may.
    allowed: &'a [&'a str],
    /// Whether unit tests at the end of a file may, too.
    tests_may: bool,
    /// The message.
    message: &'a str,
}

/// LLVM stays behind the compiler's two gates.
pub fn llvm(tree: &Tree) -> Vec<Violation> {
    confined(
        tree,
        &Confined {
            words: &["inkwell", "llvm_sys"],
            applies: |_| true,
            allowed: &[
                "compiler/src/frontend",
                "compiler/src/import",
                "compiler/src/codegen",
                "compiler/src/machine_code",
                // Integration tests of these rooms.
                "compiler/tests/",
            ],
            tests_may: false,
            message: "LLVM is for compiler/src/{frontend,import,codegen,machine_code} alone: passes over our \
                      own IR are tested on text and need no LLVM",
        },
    )
}

/// Threads come from one place.
pub fn rayon(tree: &Tree) -> Vec<Violation> {
    confined(
        tree,
        &Confined {
            words: &["rayon"],
            applies: in_driver_library,
            allowed: &["runtime/src/schedule"],
            tests_may: false,
            message: "only runtime/src/schedule uses rayon: one place decides how many threads a \
                      launch gets",
        },
    )
}

/// The environment is read once, into one documented table.
pub fn environment(tree: &Tree) -> Vec<Violation> {
    confined(
        tree,
        &Confined {
            // Not `std::env` itself: some of it only works on text (`split_paths`).
            words: &["env::var", "env::var_os", "env::vars", "env::vars_os", "env::set_var", "env::temp_dir", "getenv"],
            applies: in_driver_library,
            allowed: &["runtime/src/options/"],
            tests_may: true,
            message: "only runtime/src/options reads the environment: every switch is then in one \
                      table and in docs/options.md, and is read once",
        },
    )
}

/// Unsafe code is where C and generated code are, nowhere else.
pub fn unsafety(tree: &Tree) -> Vec<Violation> {
    confined(
        tree,
        &Confined {
            words: &["unsafe"],
            applies: in_driver_library,
            allowed: &[
                "icd/",
                "compiler/process/src/process_end",
                "compiler/process/src/process_priority",
                "compiler/process/src/progress_stream",
                "compiler/process/src/requests",
                "compiler/protocol/src/kernel_abi",
                "compiler/src/frontend",
                "compiler/src/import",
                "compiler/src/codegen",
                "compiler/src/machine_code",
                "runtime/command/src/probe/libraries",
                "runtime/src/launch",
                "runtime/src/arena",
                "runtime/src/compiler_process",
                "runtime/src/execute",
                "runtime/src/memory",
            ],
            tests_may: false,
            message: "unsafe code belongs where the driver meets C, LLVM or generated code: \
                      icd/, compiler/src/{frontend,import,codegen,machine_code}, \
                      runtime/src/{launch,arena,compiler_process,execute,memory}, and the command's loading of the ICD \
                      loader, runtime/command/src/probe/libraries; the types of the calls are in \
                      compiler/protocol/src/kernel_abi",
        },
    )
}

/// What ends up in the driver and its compiler; not build scripts, tests, tools.
fn in_driver_library(file: &SourceFile) -> bool {
    const ROOMS: [&str; 7] = [
        "icd/src/",
        "runtime/src/",
        "compiler/src/",
        "compiler/ir/src/",
        "compiler/process/src/",
        "compiler/protocol/src/",
        "kernels/src/",
    ];
    ROOMS.iter().any(|room| file.path.starts_with(room))
}

fn confined(tree: &Tree, rule: &Confined<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree.rust() {
        let exempt = rule.allowed.iter().any(|room| file.path.starts_with(room));
        if exempt || !(rule.applies)(file) {
            continue;
        }
        let tests = file.tests_start().filter(|_| rule.tests_may);
        let mut lines: Vec<usize> = rule
            .words
            .iter()
            .flat_map(|word| file.lines_with(word))
            .filter(|&line| tests.is_none_or(|start| line < start))
            .collect();
        lines.sort_unstable();
        lines.dedup();
        found.extend(lines.into_iter().map(|line| Violation {
            path: file.path.clone(),
            line,
            message: rule.message.to_owned(),
        }));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(found: &[Violation]) -> Vec<(&str, usize)> {
        found.iter().map(|v| (v.path.as_str(), v.line)).collect()
    }

    #[test]
    fn llvm_in_a_transform_is_found() {
        let tree = Tree::of(&[
            ("compiler/ir/src/transform/masks.rs", "//! x\nuse inkwell::values::X;\n"),
            ("compiler/src/codegen/mod.rs", "use inkwell::values::X;\n"),
            ("compiler/src/machine_code.rs", "use llvm_sys::core;\n"),
            ("runtime/src/kernel.rs", "// inkwell is not used here\n"),
        ]);
        assert_eq!(lines(&llvm(&tree)), [("compiler/ir/src/transform/masks.rs", 2)]);
    }

    #[test]
    fn rayon_in_the_queue_is_found() {
        let tree = Tree::of(&[
            ("runtime/src/queue.rs", "fn f() { rayon::spawn(|| ()); }\n"),
            ("runtime/src/schedule/team.rs", "use rayon::ThreadPool;\n"),
        ]);
        assert_eq!(lines(&rayon(&tree)), [("runtime/src/queue.rs", 1)]);
    }

    #[test]
    fn reading_the_environment_is_found_but_not_in_tests() {
        let reads = "fn f() { std::env::var(\"X\"); }\n";
        let tree = Tree::of(&[
            ("runtime/src/device.rs", reads),
            ("runtime/src/options/mod.rs", reads),
            ("kernels/build.rs", reads),
            ("conformance/src/lib.rs", reads),
            (
                "compiler/src/pipeline.rs",
                "fn g() {}\n#[cfg(test)]\nmod tests {\n fn t() { std::env::temp_dir(); }\n}\n",
            ),
            ("compiler/src/lib.rs", "const V: &str = env!(\"CARGO_PKG_VERSION\");\n"),
        ]);
        assert_eq!(lines(&environment(&tree)), [("runtime/src/device.rs", 1)]);
    }

    #[test]
    fn unsafe_in_an_analysis_is_found() {
        let tree = Tree::of(&[
            ("compiler/ir/src/analysis/shape.rs", "fn f() {\n  unsafe { g() }\n}\n"),
            ("runtime/src/queue.rs", "// SAFETY: no unsafe here\n"),
            ("runtime/src/arena.rs", "unsafe fn h() {}\n"),
            ("icd/src/handle.rs", "unsafe fn h() {}\n"),
            ("xtask/src/process.rs", "unsafe fn h() {}\n"),
        ]);
        assert_eq!(lines(&unsafety(&tree)), [("compiler/ir/src/analysis/shape.rs", 2)]);
    }
}
