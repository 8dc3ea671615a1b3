//! What filetests with the test `run` say must hold of machine code as well: compiled with and without optimisation, the
//! kernels do what each `; run:` line that expects no error says (`lockstep_ir::testing::run_line`).

use lockstep_ir::interp::{Arg, Memory, NdRange, Report};
use lockstep_ir::ir::{Module, parse_module};
use lockstep_ir::testing::run_line;
use lockstep_ir::testing::script::{find_scripts, script};
use lockstep_ir::verify::Stage;
use std::path::Path;

mod machine;

#[test]
fn machine_code_does_what_run_lines_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("ir/filetests");
    let paths = find_scripts(&folder).unwrap();
    let mut lines = 0;
    let mut failures = Vec::new();
    for path in &paths {
        match run_file(path) {
            Ok(count) => lines += count,
            Err(message) => failures.push(format!("{}: {message}", path.display())),
        }
    }
    assert!(failures.is_empty(), "{} of {} files fail\n\n{}", failures.len(), paths.len(), failures.join("\n\n"));
    assert!(lines > 0, "no line was run");
}

/// How many lines of a file were run.
fn run_file(path: &Path) -> Result<usize, String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let script = script(&text);
    if script.stage != Stage::Imported || !script.tests.iter().any(|test| test == "run") {
        return Ok(0);
    }
    let module = parse_module(&text).map_err(|e| format!("does not parse: {e}"))?;
    let lines = script.directives.iter().filter(|(_, key, line)| key == "run" && !run_line::expects_error(line));
    let mut count = 0;
    for (number, _, line) in lines {
        check(&module, line, false).map_err(|e| format!("line {number}, compiled: {e}"))?;
        check(&module, line, true).map_err(|e| format!("line {number}, compiled without optimisation: {e}"))?;
        count += 1;
    }
    Ok(count)
}

/// Runs a line as machine code and compares. `opt_disable` is the build option.
fn check(module: &Module, line: &str, opt_disable: bool) -> Result<(), String> {
    let run = |kernel: &str, range: &NdRange, args: &[Arg], memory: &mut Memory| -> Result<Report, String> {
        machine::run(module, kernel, range, args, memory, opt_disable)
    };
    run_line::check_with(line, run)
}
