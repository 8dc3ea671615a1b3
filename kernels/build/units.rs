//! The chapters of the library and how clang compiles them: shared by the build script and the tests, which compile
//! the same sources for the host.

/// The form in which every kernel reaches the driver.
pub const TARGET: &str = "spir64-unknown-unknown";

/// One compilation of one source file.
pub struct Unit {
    /// The module's name.
    pub name: String,
    /// The source below `cl/`.
    pub file: &'static str,
    /// Macros for this compilation.
    pub defines: Vec<String>,
    /// Whether it is another form of a module, which defines the same names.
    pub is_other_form: bool,
}

/// What the names of modules end with that are for kernels which ask for the size of their sub-groups.
pub const SIZED: &str = "_sized";

/// What those end with that are for machines whose registers hold tables.
pub const TABLES: &str = "_tables";

/// Chapters that compute with the size of sub-groups.
const FILES_WITH_SIZES: &[&str] =
    &["sub_group.cl", "sub_group_exchange.cl", "sub_group_intel.cl", "sub_group_block.cl"];

/// Chapters that look numbers up where registers hold tables.
const FILES_WITH_TABLES: &[&str] = &["double_exp_log.cl"];

const FILES: &[&str] = &[
    "integer_product.cl",
    "half_in_memory.cl",
    "math_roots.cl",
    "work_item.cl",
    "sync.cl",
    "clock.cl",
    "collective.cl",
    "collective_small.cl",
    "sub_group.cl",
    "sub_group_block.cl",
    "bfloat16.cl",
    "address_space.cl",
    "integer_extended.cl",
    "geometric.cl",
    "relational.cl",
    "async.cl",
    "atomics.cl",
    "misc.cl",
    "math_parts.cl",
    "math_exp_log.cl",
    "math_pow.cl",
    "math_trig.cl",
    "math_hyperbolic.cl",
    "math_remainder.cl",
    "math_special.cl",
    "math_native.cl",
    "double_exp_log.cl",
    "double_trig.cl",
    "double_inverse.cl",
    "double_hyperbolic.cl",
    "double_pow.cl",
    "double_roots.cl",
    "double_remainder.cl",
    "double_special.cl",
    "image_read.cl",
    "image_write.cl",
    "image_query.cl",
    "pipe.cl",
    "private_array.cl",
];

/// Chapters with a module for each of the types named: a kernel uses few types, and reading a module costs time for each
/// function in it, used or not.
const FILES_BY_TYPE: &[(&str, &[&str])] = &[
    ("integer.cl", INTEGERS),
    ("common.cl", FLOATS),
    ("math_simple.cl", FLOATS),
    ("vload_vstore.cl", INTEGERS),
    ("vload_vstore.cl", FLOATS),
    ("sub_group_arithmetic.cl", INTEGERS),
    ("sub_group_arithmetic.cl", FLOATS),
    ("sub_group_exchange.cl", INTEGERS),
    ("sub_group_exchange.cl", FLOATS),
    ("sub_group_intel.cl", INTEGERS),
    ("sub_group_intel.cl", FLOATS),
];
const INTEGERS: &[&str] = &["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"];
const FLOATS: &[&str] = &["half", "float", "double"];

/// Destination types of the conversions, each a module of its own.
const DESTINATIONS: &[(&str, &str)] = &[
    ("char", "DEST_INTEGER"),
    ("uchar", "DEST_INTEGER"),
    ("short", "DEST_INTEGER"),
    ("ushort", "DEST_INTEGER"),
    ("int", "DEST_INTEGER"),
    ("uint", "DEST_INTEGER"),
    ("long", "DEST_INTEGER"),
    ("ulong", "DEST_INTEGER"),
    ("half", "DEST_HALF"),
    ("float", "DEST_FLOAT"),
    ("double", "DEST_DOUBLE"),
];

/// All compilations that make up the library.
pub fn units() -> Vec<Unit> {
    let plain = FILES.iter().map(|file| unit(file.trim_end_matches(".cl").to_string(), file, Vec::new()));
    let conversions = DESTINATIONS.iter().map(|(destination, kind)| {
        let defines = vec![format!("DEST={destination}"), format!("{kind}=1")];
        unit(format!("convert_{destination}"), "conversions.cl", defines)
    });
    let by_type = FILES_BY_TYPE.iter().flat_map(|(file, types)| {
        types.iter().map(|ty| {
            let defines = vec!["ONLY".to_string(), format!("ONLY_{ty}")];
            unit(format!("{}_{ty}", file.trim_end_matches(".cl")), file, defines)
        })
    });
    let mut units: Vec<Unit> = plain.chain(by_type).chain(conversions).collect();
    let other = |unit: &Unit| match unit.file {
        file if FILES_WITH_SIZES.contains(&file) => Some(other_form(unit, SIZED, "SIZED")),
        file if FILES_WITH_TABLES.contains(&file) => Some(other_form(unit, TABLES, "TABLES")),
        _ => None,
    };
    let others: Vec<Unit> = units.iter().filter_map(other).collect();
    units.extend(others);
    units
}

fn unit(name: String, file: &'static str, defines: Vec<String>) -> Unit {
    Unit { name, file, defines, is_other_form: false }
}

/// Another form of the same module.
fn other_form(unit: &Unit, ending: &str, define: &str) -> Unit {
    let defines = unit.defines.iter().cloned().chain([define.to_string()]).collect();
    Unit { name: format!("{}{ending}", unit.name), file: unit.file, defines, is_other_form: true }
}

/// clang's arguments for a chapter apart from target, output form and file names.
pub fn clang_arguments(unit: &Unit) -> Vec<String> {
    let fixed = [
        "-x",
        "cl",
        "-cl-std=CL3.0",
        "-Xclang",
        "-cl-ext=+all",
        // No built-in is declared: the library defines them. Their types come from the base header alone.
        "-cl-no-stdinc",
        "-include",
        "opencl-c-base.h",
        "-O2",
        "-fno-inline",
        "-fno-vectorize",
        "-fno-slp-vectorize",
        "-fno-unroll-loops",
        "-fno-builtin",
        "-fno-strict-aliasing",
        "-fno-convergent-functions",
        "-ffp-contract=off",
        "-Xclang",
        "-discard-value-names",
        "-Wall",
        "-Wno-unused-function",
        "-Werror",
    ];
    let defines = unit.defines.iter().map(|define| format!("-D{define}"));
    fixed.into_iter().map(str::to_string).chain(defines).collect()
}
