//! What filetests with the test `run` say must hold of machine code as well: compiled with and without optimisation, the
//! kernels do what each `; run:` line that expects no error says (`lockstep_ir::testing::run_line`). Each file is a test of
//! its own: `cargo test -p lockstep-compiler --test run_lines atomics` runs those whose path contains `atomics`.

use libtest_mimic::{Arguments, Failed, Trial};
use lockstep_ir::interp::{Arg, Memory, NdRange, Report};
use lockstep_ir::ir::{Module, parse_module};
use lockstep_ir::testing::run_line;
use lockstep_ir::testing::script::{Script, find_scripts, parse_script};
use lockstep_ir::verify::Stage;
use std::path::Path;
use std::process::ExitCode;

mod machine;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("ir/filetests");
    let paths = find_scripts(&root).unwrap();
    let tests: Vec<Trial> = paths.iter().filter_map(|path| test_of_file(&root, path)).collect();
    assert!(!tests.is_empty(), "no line is run");
    libtest_mimic::run(&arguments, tests).exit_code()
}

/// A file's test, called as the file is, if it has lines to run.
fn test_of_file(root_folder: &Path, path: &Path) -> Option<Trial> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines = lines_to_run(&parse_script(&text));
    let name = path.strip_prefix(root_folder).unwrap().display().to_string();
    (!lines.is_empty()).then(|| Trial::test(name, move || run_lines(&text, &lines).map_err(Failed::from)))
}

/// The `; run:` lines that expect no error, with their numbers.
fn lines_to_run(script: &Script) -> Vec<(usize, String)> {
    if script.stage != Stage::Imported || !script.tests.iter().any(|test| test == "run") {
        return Vec::new();
    }
    let lines = script.directives.iter().filter(|(_, key, line)| key == "run" && !run_line::expects_error(line));
    lines.map(|(number, _, line)| (*number, line.clone())).collect()
}

/// Runs all lines of a file.
fn run_lines(text: &str, lines: &[(usize, String)]) -> Result<(), String> {
    let module = parse_module(text).map_err(|error| format!("does not parse: {error}"))?;
    for (number, line) in lines {
        check(&module, line, false).map_err(|e| format!("line {number}, compiled: {e}"))?;
        check(&module, line, true).map_err(|e| format!("line {number}, compiled without optimisation: {e}"))?;
    }
    Ok(())
}

/// Runs a line as machine code and compares. `opt_disable` is the build option.
fn check(module: &Module, line: &str, opt_disable: bool) -> Result<(), String> {
    let run = |kernel: &str, range: &NdRange, arguments: &[Arg], memory: &mut Memory| -> Result<Report, String> {
        machine::run(module, kernel, range, arguments, memory, opt_disable)
    };
    run_line::check_with(line, run)
}
