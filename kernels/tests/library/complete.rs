//! Every overload that clang declares is defined, with the declared type.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::host::clang;

/// The language versions with the extensions of each; the last one has no generic address space, so its functions take
/// pointers to the named ones.
const LANGUAGES: &[(&str, &str)] = &[
    ("CL1.0", "+all"),
    ("CL1.1", "+all"),
    ("CL1.2", "+all"),
    ("CL2.0", "+all"),
    ("CL3.0", "+all"),
    ("clc++1.0", "+all"),
    ("clc++2021", "+all"),
    (
        "CL3.0",
        "+all,-__opencl_c_generic_address_space,-__opencl_c_device_enqueue,-__opencl_c_pipes,\
         -__opencl_c_program_scope_global_variables",
    ),
];

/// Functions that other parts of the driver deliver: pipes and device-side enqueue; and those of extensions of
/// one vendor that are not there.
fn is_elsewhere(function: &str) -> bool {
    if let Some(rest) = function.strip_prefix("intel_") {
        let is_block_or_shuffle = rest.starts_with("sub_group_")
            && !["avc_", "ime_", "block_prefetch"].iter().any(|part| rest.contains(part));
        return !(is_block_or_shuffle || rest.starts_with("convert_"));
    }
    let prefixes = ["amd_", "arm_", "work_group_reserve", "work_group_commit", "ndrange_"];
    let parts = ["pipe"];
    let exact = [
        "capture_event_profiling_info",
        "create_user_event",
        "enqueue_marker",
        "get_default_queue",
        "is_valid_event",
        "is_valid_reserve_id",
        "release_event",
        "retain_event",
        "set_user_event_status",
    ];
    prefixes.iter().any(|prefix| function.starts_with(prefix))
        || parts.iter().any(|part| function.contains(part))
        || exact.contains(&function)
}

/// Whether a function on images belongs to an extension that is not there: levels of mipmaps, several samples.
fn is_of_other_images(mangled: &str) -> bool {
    let levels = |behind: &str| {
        let parameters = mangled.split_once(behind).map(|(_, parameters)| parameters);
        let one = ["i", "f", "Dv2_i", "Dv2_f", "Dv4_i", "Dv4_f"];
        parameters.is_some_and(|parameters| !one.contains(&parameters))
    };
    let written_level = mangled.contains("write_image")
        && (mangled.contains("_ii") || mangled.contains("oii") || mangled.contains("wii"));
    // clang's header declares some writes of images that are only read.
    let written_unwritable = mangled.contains("block_write") && mangled.contains("ocl_image2d_ro");
    mangled.contains("msaa")
        || mangled.contains("num_mip_levels")
        || levels("11ocl_sampler")
        || written_level
        || written_unwritable
}

/// The source name in an Itanium-mangled one.
fn function_of(mangled: &str) -> &str {
    let rest = &mangled[2..];
    let digits = rest.find(|c: char| !c.is_ascii_digit()).expect("a length and a name");
    let length: usize = rest[..digits].parse().expect("a length");
    &rest[digits..digits + length]
}

/// The overloads that clang's own header declares.
fn declared(standard: &str, extensions: &str) -> BTreeSet<String> {
    declared_by("empty.cl", "", standard, extensions, "opencl-c.h")
}

/// The overloads that a text declares after a header.
fn declared_by(name: &str, text: &str, standard: &str, extensions: &str, header: &str) -> BTreeSet<String> {
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&source, text).expect("write a source");
    let ast = clang([
        "-target",
        "spir64-unknown-unknown",
        "-x",
        "cl",
        &format!("-cl-std={standard}"),
        "-Xclang",
        &format!("-cl-ext={extensions}"),
        "-cl-no-stdinc",
        "-include",
        header,
        "-Xclang",
        "-ast-dump=json",
        "-fsyntax-only",
        source.to_str().expect("a path in UTF-8"),
    ]);
    ast.lines()
        .filter_map(|line| line.trim().strip_prefix("\"mangledName\": \""))
        .filter_map(|rest| rest.split('"').next())
        .filter(|name| name.starts_with("_Z"))
        .map(str::to_string)
        .collect()
}

#[test]
fn every_declared_overload_is_defined() {
    let mut missing: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut count = 0;
    for (standard, extensions) in LANGUAGES {
        for name in declared(standard, extensions) {
            let function = function_of(&name);
            if is_elsewhere(function) || (name.contains("ocl_image") && is_of_other_images(&name)) {
                continue;
            }
            count += 1;
            if lockstep_kernels::chapter_of(&name).is_none() {
                missing.entry(function.to_string()).or_default().push(format!("{name} ({standard})"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(count > 80_000, "clang's header declares far more than {count} overloads");
}

/// The declarations of the library's own are those of clang's header for the extensions that this has, and more; what they declare
/// is defined.
#[test]
fn programs_see_functions_that_clang_does_not_declare() {
    let only_ours = "#define cl_khr_work_group_uniform_arithmetic\n#define cl_intel_split_work_group_barrier\n";
    let text = format!("{only_ours}{}", lockstep_kernels::PROGRAM_DECLARATIONS);
    for (index, (standard, extensions)) in LANGUAGES.iter().enumerate() {
        let own = declared_by(&format!("own{index}.cl"), &text, standard, extensions, "opencl-c-base.h");
        let undefined: Vec<&String> = own.iter().filter(|name| lockstep_kernels::chapter_of(name).is_none()).collect();
        assert!(undefined.is_empty() && own.len() > 50, "{standard}: {undefined:#?} of {}", own.len());
        let is_of_intel = |name: &&String| {
            function_of(name).starts_with("intel_") && !is_elsewhere(function_of(name)) && !is_of_other_images(name)
        };
        let clangs = declared(standard, extensions);
        let missing: Vec<&String> = clangs.iter().filter(is_of_intel).filter(|name| !own.contains(*name)).collect();
        assert!(missing.is_empty(), "{standard}: {missing:#?}");
    }
}

/// Overloads of one name and parameter list but different results are an error, so compiling a chapter behind clang's
/// declarations checks the result types, which mangled names do not show.
#[test]
fn definitions_agree_with_declarations() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("cl");
    for entry in fs::read_dir(sources).expect("the library's sources") {
        let path = entry.expect("a directory entry").path();
        if path.extension().is_none_or(|extension| extension != "cl") {
            continue;
        }
        clang([
            "-target",
            "spir64-unknown-unknown",
            "-x",
            "cl",
            "-cl-std=CL3.0",
            "-Xclang",
            "-cl-ext=+all",
            "-cl-no-stdinc",
            "-include",
            "opencl-c.h",
            "-DDEST=int",
            "-DDEST_INTEGER=1",
            "-fsyntax-only",
            path.to_str().expect("a path in UTF-8"),
        ]);
    }
}

#[test]
fn lookup_finds_each_symbol_and_nothing_else() {
    for symbol in lockstep_kernels::symbols() {
        assert!(lockstep_kernels::chapter_of(symbol).is_some(), "{symbol}");
    }
    let sin = lockstep_kernels::chapter_of("_Z3sinf").expect("sin(float) exists");
    assert_eq!(sin.name, "math_trig");
    for absent in ["", "_Z", "_Z3sinx", "main", "zzz", "_Z3sinf "] {
        assert!(lockstep_kernels::chapter_of(absent).is_none(), "{absent:?}");
    }
}

#[test]
fn opaque_types_become_numbers_and_addresses() {
    let text = "declare target(\"spirv.Sampler\") @f(target(\"spirv.Image\", void, 1, 0, 0, 0, 0, 0, 0) %0, i32)\n\
                declare void @g(target(\"spirv.Event\"), target(\"spirv.Queue\"), target(\"spirv.Image\", void, 2))";
    let expected = "declare i32 @f(ptr addrspace(2) %0, i32)\n\
                    declare void @g(i64, target(\"spirv.Queue\"), ptr addrspace(2))";
    assert_eq!(lockstep_kernels::without_opaque_types(text), expected);
    assert_eq!(lockstep_kernels::without_opaque_types("no such type"), "no such type");
}
