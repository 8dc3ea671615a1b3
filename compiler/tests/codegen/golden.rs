//! The LLVM IR of a dozen kernels, each with one way to access memory, as it is generated for a machine that each names:
//! `golden/*.ll`. With `BLESS=1` the files are written anew.

use crate::access_words::{CASES, Case, TILES, kernel_of};
use crate::lowered::lower_kernel;
use lockstep_ir::ir::parse_module;
use lockstep_ir::target::TargetInfo;
use lockstep_protocol::configuration::{Gangs, Versions};
use lockstep_protocol::launch_facts::LaunchFacts;
use std::path::Path;

/// The file's name, the case, whether it is a store, lanes, bits of registers.
const KERNELS: [(&str, &str, bool, u32, u32); 14] = [
    ("uniform_store", "uniform, some lanes", true, 8, 256),
    ("contiguous_load", "contiguous", false, 8, 256),
    ("masked_store", "contiguous, some lanes", true, 16, 512),
    ("redirected_load", "contiguous, some lanes", false, 4, 128),
    ("reversed_load", "reversed", false, 4, 128),
    ("interleaved_store", "pairs", true, 8, 256),
    ("gather", "anywhere", false, 8, 256),
    ("scatter_of_some", "anywhere, some lanes", true, 4, 256),
    ("chunks", "four anywhere", false, 4, 256),
    ("near_store", "near", true, 4, 128),
    ("may_wrap", "may wrap", false, 8, 256),
    ("volatile_lanes", "volatile, anywhere", true, 4, 256),
    ("rows_of_tile", "rows", false, 16, 256),
    ("columns_of_tile", "columns", true, 16, 256),
];

#[test]
fn code_is_as_it_was() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/codegen/golden");
    let bless = std::env::var_os("BLESS").is_some();
    let mut other = Vec::new();
    for (file, name, is_store, width, bits) in KERNELS {
        let case =
            CASES.iter().chain(&TILES).find(|case| case.name == name).unwrap_or_else(|| panic!("no case {name}"));
        let found = code_of(case, is_store, width, bits);
        let path = folder.join(file).with_extension("ll");
        if bless {
            std::fs::write(&path, &found).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
        if std::fs::read_to_string(&path).ok().as_deref() != Some(&found) {
            other.push(format!("{}:\n{found}", path.display()));
        }
    }
    assert!(other.is_empty(), "other code than in these files (BLESS=1 writes them anew):\n{}", other.join("\n"));
}

/// The code, under the report and the kernel as comments.
fn code_of(case: &Case, is_store: bool, width: u32, bits: u32) -> String {
    let text = kernel_of(case, is_store);
    let module = parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let [x, y] = case.local;
    let launch = LaunchFacts::of_range([0; 3], [4 * x, 4 * y, 1], [x, y, 1]);
    let gangs = Gangs { layout: Some(case.layout), ..Gangs::of_width(width).with_versions(Versions::Never) };
    let lowered = lower_kernel(&module, gangs, TargetInfo::of_bits(bits), &launch);
    let head: String = lowered.report.to_string().lines().map(|line| format!("; {line}\n")).collect();
    format!("; registers of {bits} bits\n{head}{}", lowered.llvm)
}
