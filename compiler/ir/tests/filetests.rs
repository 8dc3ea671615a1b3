//! Runs every file under `filetests/`, each as a test of its own: `cargo test -p lockstep-ir --test filetests masks` runs
//! those whose path contains `masks`. A file says in its comments what is tested:
//!
//! - `; test: NAME` (once or more): the tests to run, see `run_test`.
//! - `; stage: regions`: the verifier stage of the text or `normalized` (default `imported`).
//! - Behind a line of IR, `; KEY: VALUE` says a fact about that line. A test compares the facts it
//!   finds with those written, all of them: a wrong fact fails, and so does a missing one.
//! - `; launch:` says what the divergence analysis may rely on (`filetest/analyses.rs`).
//! - `; run:` lines say what the interpreter finds, and machine code too (`testing/run_line.rs`), `; output:` what a pass writes
//!   (`filetest/transforms.rs`).
//!
//! Whatever is tested, a text that parses must survive printing.

use libtest_mimic::{Arguments, Failed, Trial};
use lockstep_ir::ir::{Module, parse_module};
use lockstep_ir::testing::run_line;
use lockstep_ir::testing::script::{Script, compare_facts, find_scripts, parse_script};
use lockstep_ir::transform::barriers::cut_at_barriers;
use lockstep_ir::verify::{Stage, verify_module};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

mod filetest;

use filetest::{analyses, transforms};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests");
    let paths = find_scripts(&root).unwrap();
    assert!(!paths.is_empty(), "{} has no files", root.display());
    let tests = paths.into_iter().map(|path| test_of_file(&root, path)).collect();
    libtest_mimic::run(&arguments, tests).exit_code()
}

/// A file's test, called as the file is: `transforms/masks.pir`.
fn test_of_file(root_folder: &Path, path: PathBuf) -> Trial {
    let name = path.strip_prefix(root_folder).unwrap().display().to_string();
    Trial::test(name, move || run_file(&path).map_err(Failed::from))
}

fn run_file(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let script = parse_script(&text);
    if script.tests.is_empty() {
        return Err("no `; test:` line".to_string());
    }
    if script.tests == ["parse_error"] {
        return parse_error(&text, &script);
    }
    let module = parse_module(&text).map_err(|error| format!("does not parse: {error}"))?;
    survives_printing(&module)?;
    if !script.tests.iter().any(|t| t == "verify" || t == "print") {
        verify_module(&module, script.stage).map_err(|errors| format!("does not verify: {}", errors[0]))?;
    }
    script.tests.iter().try_for_each(|test| run_test(test, path, &text, &module, &script))
}

fn run_test(test: &str, path: &Path, text: &str, module: &Module, script: &Script) -> Result<(), String> {
    match test {
        "regions" => compare_facts(script, &["regions", "live"], analyses::regions(&cut(module)?)),
        "print" => canonical(text, module),
        "verify" => {
            let errors = verify_module(module, script.stage).err().unwrap_or_default();
            compare_facts(script, &["error"], analyses::errors(&errors))
        }
        "run" => runs(module, script),
        "post_dominators" => compare_facts(script, &["ipdom"], analyses::ipdoms(module)),
        "loops" => compare_facts(script, &["in", "loop", "irreducible"], analyses::loop_facts(module)),
        "spin_loops" => compare_facts(script, &["waits"], analyses::waiting(module)),
        "liveness" => compare_facts(script, &["live_in", "live_out"], analyses::live_sets(module)),
        "sync_dependence" => compare_facts(script, &["joins", "exits"], analyses::control_divergences(module)),
        "divergence" => compare_facts(script, &["shape", "line", "divergent"], analyses::divergences(module, script)),
        "versions" => compare_facts(script, &["version", "copies"], analyses::versions(module)),
        "fusions" => compare_facts(script, &["fusion"], analyses::find_fusions(module)),
        "dominators" => compare_facts(script, &["idom"], analyses::idoms(module)),
        _ => transforms::check(test, path, text, module, script)
            .unwrap_or_else(|| Err(format!("there is no test {test:?}"))),
    }
}

/// Every `; run:` line must hold.
fn runs(module: &Module, script: &Script) -> Result<(), String> {
    let mut lines = script.directives.iter().filter(|(_, key, _)| key == "run").peekable();
    if lines.peek().is_none() {
        return Err("no `; run:` line".to_string());
    }
    let regions = if script.stage == Stage::Imported { Some(cut(module)?) } else { None };
    lines.try_for_each(|(number, _, line)| {
        run_line::check_run_line(module, line).map_err(|error| format!("line {number}: {error}"))?;
        let Some(regions) = regions.as_ref().filter(|_| !run_line::expects_error(line)) else {
            return Ok(());
        };
        run_line::check_run_line(regions, line).map_err(|error| format!("line {number}, in regions: {error}"))
    })
}

/// The module with all kernels cut into regions.
fn cut(module: &Module) -> Result<Module, String> {
    let mut module = module.clone();
    module.kernels.iter_mut().for_each(cut_at_barriers);
    match verify_module(&module, Stage::Regions) {
        Ok(()) => Ok(module),
        Err(errors) => Err(format!("cut into regions, it does not verify: {}\n{module}", errors[0])),
    }
}

/// The text must be what the printer writes.
fn canonical(text: &str, module: &Module) -> Result<(), String> {
    let code: Vec<&str> = text.lines().skip_while(|l| l.is_empty() || l.starts_with(';')).collect();
    let printed = module.to_string();
    let printed: Vec<&str> = printed.lines().collect();
    match code.iter().zip(&printed).find(|(a, b)| a != b) {
        Some((a, b)) => Err(format!("printed otherwise:\n  written: {a}\n  printed: {b}")),
        None if code.len() != printed.len() => Err("printed with another number of lines".to_string()),
        None => Ok(()),
    }
}

fn survives_printing(module: &Module) -> Result<(), String> {
    let printed = module.to_string();
    let again = parse_module(&printed).map_err(|error| format!("does not parse when printed: {error}\n{printed}"))?;
    if again.to_string() == printed { Ok(()) } else { Err("printing changed it".to_string()) }
}

/// The parser must refuse the text, as `; error: LINE:COLUMN: MESSAGE` says.
fn parse_error(text: &str, script: &Script) -> Result<(), String> {
    let expected = script.directives.iter().find(|(_, key, _)| key == "error");
    let Some((_, _, expected)) = expected else {
        return Err("no `; error:` line".to_string());
    };
    match parse_module(text) {
        Ok(_) => Err("parses".to_string()),
        Err(error) if error.to_string() == *expected => Ok(()),
        Err(error) => Err(format!("fails otherwise: {error}")),
    }
}
