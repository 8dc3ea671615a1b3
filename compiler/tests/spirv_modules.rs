//! SPIR-V modules through the front end, the built-in library and import. Each file of `tests/spirv` is a test of its own:
//! `cargo test -p lockstep-compiler --test spirv_modules atomics` runs those whose name contains `atomics`.
//!
//! Lines of a file that begin with these words say what must hold:
//!
//! - `; run: …` is a line as filetests have it (`lockstep_ir::testing::run_line`): what a kernel does when interpreted, imported and in
//!   regions.
//! - `; specialized 3=7:i32 run: …` is the same with a value for the constant whose `SpecId` is 3.
//! - `; error: TEXT` is all that is said of a module that is refused.
//! - `; version: 1.4` is the version in the module's header; 1.2 without it.

use std::path::Path;
use std::process::ExitCode;

use inkwell::context::Context;
use libtest_mimic::{Arguments, Failed, Trial};
use lockstep_compiler::frontend::{FrontendConfig, build_spirv, compile_spirv, link_program, prepare_module};
use lockstep_compiler::import::import_module;
use lockstep_ir::ir::Module;
use lockstep_ir::testing::run_line;
use lockstep_ir::verify::{Stage, verify_module};
use lockstep_protocol::build_options::{BuildOptions, Stage as BuildStage};
use lockstep_protocol::portable_program::LinkedProgram;
use lockstep_protocol::spirv_module::SpecializationValue;
use lockstep_spirv_assembler::assemble_module;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/spirv");
    let mut tests = Vec::new();
    for entry in std::fs::read_dir(&folder).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a text");
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        tests.push(Trial::test(name, move || check_file(&text).map_err(Failed::from)));
    }
    assert!(!tests.is_empty(), "no module is tested");
    libtest_mimic::run(&arguments, tests).exit_code()
}

/// Checks what the lines of a file say.
fn check_file(text: &str) -> Result<(), String> {
    let version = text.lines().find_map(|line| line.strip_prefix("; version: 1.")).unwrap_or("2");
    let bytes = assemble_module(text, (1, version.parse().map_err(|_| "the version is no number")?));
    let mut checks = 0;
    for line in text.lines().filter_map(|line| line.strip_prefix("; ")) {
        let checked = if let Some(run) = line.strip_prefix("run: ") {
            build_module(&bytes, &[]).and_then(|module| run_line::check_run_line(&module, run))
        } else if let Some((value, run)) = line.strip_prefix("specialized ").and_then(|rest| rest.split_once(" run: "))
        {
            build_module(&bytes, &[read_value(value)?]).and_then(|module| run_line::check_run_line(&module, run))
        } else if let Some(wanted) = line.strip_prefix("error: ") {
            check_error(&bytes, wanted)
        } else {
            continue;
        };
        checked.map_err(|error| format!("{line}\n{error}"))?;
        checks += 1;
    }
    if checks == 0 { Err("the file says nothing that must hold".to_owned()) } else { Ok(()) }
}

/// The module as the launch of a kernel finds it, however the program came about: built at once, or compiled and then linked.
fn build_module(bytes: &[u8], values: &[SpecializationValue]) -> Result<Module, String> {
    let options = BuildOptions::parse("", BuildStage::Build).map_err(|error| error.to_string())?;
    let config = FrontendConfig { source_lines: true, ..FrontendConfig::default() };
    let built = build_spirv(&config, bytes, values, &options).map_err(|error| error.to_string());
    let compiled = compile_spirv(&config, bytes, values, &options);
    let linked = compiled.and_then(|compiled| link_program(&[&compiled.object], &options));
    let linked = linked.map_err(|error| error.to_string());
    match (built.and_then(|program| load_module(&program)), linked.and_then(|program| load_module(&program))) {
        (Ok(built), Ok(linked)) if built.to_string() == linked.to_string() => Ok(built),
        (Ok(built), Ok(linked)) => Err(format!("built:\n{built}\ncompiled and linked:\n{linked}")),
        (Err(built), Err(linked)) if built == linked => Err(built),
        (built, linked) => Err(format!("built: {:?}\ncompiled and linked: {:?}", built.err(), linked.err())),
    }
}

fn load_module(program: &LinkedProgram) -> Result<Module, String> {
    let context = Context::create();
    let llvm_module = prepare_module(&context, program).map_err(|error| error.to_string())?;
    let module = import_module(&llvm_module).map_err(|error| error.to_string())?;
    verify_module(&module, Stage::Imported).map_err(|errors| format!("{}\n{module}", errors[0]))?;
    Ok(module)
}

/// `3=7:i32`: a constant's `SpecId`, its value and its type.
fn read_value(text: &str) -> Result<SpecializationValue, String> {
    let wrong = || format!("{text} is no value of a constant");
    let (id, rest) = text.split_once('=').ok_or_else(wrong)?;
    let (number, value_type) = rest.split_once(':').ok_or_else(wrong)?;
    let id = id.parse().map_err(|_| wrong())?;
    let number: i64 = number.parse().map_err(|_| wrong())?;
    let length = match value_type {
        "i1" | "i8" => 1,
        "i16" => 2,
        "i32" => 4,
        "i64" => 8,
        _ => return Err(wrong()),
    };
    Ok(SpecializationValue { id, bytes: number.to_le_bytes()[..length].to_vec() })
}

fn check_error(bytes: &[u8], wanted: &str) -> Result<(), String> {
    match build_module(bytes, &[]) {
        Ok(_) => Err("the module is taken".to_owned()),
        Err(error) if error.trim() == format!("error: {wanted}") => Ok(()),
        Err(error) => Err(format!("it is refused with: {error}")),
    }
}
