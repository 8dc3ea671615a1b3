//! Compiles the built-in library (`cl/*.cl`) with clang into one LLVM bitcode module per chapter, and writes the table
//! of them with an index from mangled name to chapter for `src/lib.rs` to include.
//!
//! clang's -O2 runs without inlining one built-in into another, without vectorizers and unrolling, so that a module
//! stays small and what a kernel uses is inlined and widened with the kernel. On the way from textual IR to bitcode
//! every definition becomes `linkonce_odr`, which makes the linker take only what is called, attributes that would
//! hinder inlining into a kernel go, and images and samplers become types that LLVM knows.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::{env, fs, thread};

#[path = "build/opaque.rs"]
mod opaque;
#[path = "build/units.rs"]
mod units;
use units::{TARGET, Unit, clang_arguments, units};

/// What `clang` is called on the machines we know, first the one the user names.
fn find_clang() -> Result<String, String> {
    println!("cargo:rerun-if-env-changed=LOCKSTEP_CLANG");
    let named = env::var("LOCKSTEP_CLANG").ok();
    let candidates = named.into_iter().chain(["clang-22".to_string(), "/usr/lib/llvm-22/bin/clang".to_string()]);
    for candidate in candidates {
        let works = Command::new(&candidate).arg("--version").output().is_ok_and(|output| output.status.success());
        if works {
            return Ok(candidate);
        }
    }
    Err("clang 22 is needed to compile the OpenCL C built-in library and was not found: \
         install the Debian package clang-22 (from apt.llvm.org for Debian 12), \
         or name the program in the environment variable LOCKSTEP_CLANG"
        .to_string())
}

fn run(command: &mut Command, doing: &str) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{doing}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{doing} failed:\n{}", String::from_utf8_lossy(&output.stderr)))
}

/// The name of the function that a `define` line of textual IR defines.
fn defined_name(line: &str) -> Option<&str> {
    let rest = &line[line.find('@')? + 1..];
    Some(&rest[..rest.find('(')?])
}

/// The definition, for a declaration, of a function that hands its operand back: what once told an opaque type from the
/// one that stands for it.
fn identity(declaration: &str) -> String {
    let ty = if declaration.contains("sampler") { "i32" } else { "ptr addrspace(2)" };
    let name = defined_name(declaration).unwrap_or_default();
    format!("define linkonce_odr spir_func {ty} @{name}({ty} %0) alwaysinline {{\n  ret {ty} %0\n}}")
}

/// Prepares clang's textual IR for linking into kernels; returns the text and the names of its public definitions.
fn rewrite(ir: &str, unit: &Unit) -> (String, Vec<String>) {
    // Not the path of the build directory.
    let mut text = format!("source_filename = \"{}\"\n", unit.file);
    let mut names = Vec::new();
    for line in opaque::without_opaque_types(ir).lines() {
        let dropped = ["; ModuleID", "source_filename", "!llvm.", "!opencl.", "; Function Attrs"];
        if dropped.iter().any(|prefix| line.starts_with(prefix)) {
            continue;
        }
        if line.starts_with("declare ") && line.contains("__lockstep_identity_") {
            text.push_str(&identity(line));
        } else if line.starts_with("define ") && !line.starts_with("define internal") {
            let public = line.replacen("define dso_local", "define linkonce_odr", 1);
            names.extend(defined_name(&public).map(str::to_string));
            text.push_str(&public);
        } else if line.starts_with("attributes #") {
            let mut kept = line.to_string();
            for hindrance in [
                " noinline",
                " mustprogress",
                " \"no-builtins\"",
                " \"frame-pointer\"=\"all\"",
                " \"no-trapping-math\"=\"true\"",
                " \"stack-protector-buffer-size\"=\"8\"",
            ] {
                kept = kept.replace(hindrance, "");
            }
            text.push_str(&kept);
        } else {
            text.push_str(line);
        }
        text.push('\n');
    }
    (text, names)
}

/// Compiles one chapter; returns the names it defines. The bitcode is `<name>.bc` in `out`.
fn compile(clang: &str, unit: &Unit, source: &Path, out: &Path) -> Result<Vec<String>, String> {
    let raw = out.join(format!("{}.raw.ll", unit.name));
    let linkable = out.join(format!("{}.ll", unit.name));
    let bitcode = out.join(format!("{}.bc", unit.name));
    run(
        Command::new(clang)
            .args(["-target", TARGET])
            .args(clang_arguments(unit))
            .args(["-S", "-emit-llvm", "-o"])
            .args([&raw, &source.join(unit.file)]),
        &format!("compiling cl/{}", unit.file),
    )?;
    let ir = fs::read_to_string(&raw).map_err(|error| format!("{}: {error}", raw.display()))?;
    let (text, names) = rewrite(&ir, unit);
    fs::write(&linkable, text).map_err(|error| format!("{}: {error}", linkable.display()))?;
    run(
        Command::new(clang)
            .args(["-target", TARGET, "-x", "ir", "-O0"])
            .args(["-Xclang", "-disable-llvm-passes", "-c", "-emit-llvm", "-o"])
            .args([&bitcode, &linkable]),
        &format!("assembling {}", unit.name),
    )?;
    Ok(names)
}

/// Compiles all chapters on the processors there are; results in the order of `units`.
fn compile_all(clang: &str, units: &[Unit], source: &Path, out: &Path) -> Result<Vec<Vec<String>>, String> {
    let workers = thread::available_parallelism().map_or(1, usize::from).min(units.len());
    let next = Mutex::new(0);
    let results = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let index = {
                        let mut next = next.lock().unwrap();
                        *next += 1;
                        *next - 1
                    };
                    let Some(unit) = units.get(index) else { break };
                    let result = compile(clang, unit, source, out);
                    results.lock().unwrap().insert(index, result);
                }
            });
        }
    });
    results.into_inner().unwrap().into_values().collect()
}

/// The Rust source of the tables: one bitcode module per chapter, all public names sorted, and the chapter of each.
fn tables(units: &[Unit], names: &[Vec<String>]) -> String {
    let mut index: Vec<(&str, usize)> = names
        .iter()
        .enumerate()
        .filter(|(unit, _)| !units[*unit].is_other_form)
        .flat_map(|(unit, names)| names.iter().map(move |name| (name.as_str(), unit)))
        .collect();
    index.sort_unstable();
    let mut source = String::from("static CHAPTERS: &[Chapter] = &[\n");
    for unit in units {
        let name = &unit.name;
        writeln!(
            source,
            "    Chapter {{ name: {name:?}, bitcode: include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{name}.bc\")) }},"
        )
        .unwrap();
    }
    source.push_str("];\nstatic NAMES: &str = concat!(\n");
    for (name, _) in &index {
        writeln!(source, "    {name:?},").unwrap();
    }
    source.push_str(");\nstatic STARTS: &[u32] = &[");
    let mut start = 0;
    for (name, _) in &index {
        write!(source, "{start},").unwrap();
        start += name.len();
    }
    write!(source, "{start}];\nstatic CHAPTER_OF: &[u8] = &[").unwrap();
    for (_, unit) in &index {
        write!(source, "{unit},").unwrap();
    }
    source.push_str("];\n");
    source
}

fn build() -> Result<(), String> {
    println!("cargo:rerun-if-changed=cl");
    println!("cargo:rerun-if-changed=build");
    let source = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("cl");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    let clang = find_clang()?;
    println!("cargo:rustc-env=LOCKSTEP_KERNELS_CLANG={clang}");
    let units = units();
    let distinct: BTreeSet<&str> = units.iter().map(|unit| unit.name.as_str()).collect();
    if distinct.len() != units.len() {
        return Err("two chapters have the same name".to_string());
    }
    let names = compile_all(&clang, &units, &source, &out)?;
    let mut seen = BTreeMap::new();
    for (unit, names) in units.iter().zip(&names).filter(|(unit, _)| !unit.is_other_form) {
        for name in names {
            if let Some(other) = seen.insert(name, &unit.name) {
                return Err(format!("{name} is defined in both {other} and {}", unit.name));
            }
        }
    }
    fs::write(out.join("tables.rs"), tables(&units, &names)).map_err(|error| format!("tables.rs: {error}"))
}

fn main() {
    if let Err(error) = build() {
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}
