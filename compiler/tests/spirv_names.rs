//! Every instruction of `OpenCL.std`, of groups, of images and of conversions finds its function in the built-in library, for all types that
//! OpenCL C has it for: the translation refuses a call of a function that is not there.

use std::fmt::Write;

use lockstep_compiler::frontend::spirv::{TextOptions, translate_module};
use lockstep_spirv_assembler::assemble_module;

/// Counts of elements; one is a number by itself.
const COUNTS: [u32; 6] = [1, 2, 3, 4, 8, 16];

/// A module whose kernel holds these instructions; `%NAME` and `%NAMEn` are types, `%NAME_value` one of the type's values, and
/// `%SPACE_NAME` a pointer's.
fn module_with(body: &str) -> String {
    let mut text = String::new();
    for capability in [
        "Addresses",
        "Kernel",
        "Int64",
        "Int16",
        "Int8",
        "Float64",
        "Float16",
        "Vector16",
        "GenericPointer",
        "Groups",
        "ImageBasic",
        "Image1D",
        "Sampled1D",
        "ImageBuffer",
        "ImageReadWrite",
        "GroupNonUniform",
        "GroupNonUniformArithmetic",
        "GroupNonUniformClustered",
        "GroupNonUniformShuffle",
        "GroupNonUniformBallot",
        "GroupNonUniformVote",
        "GroupUniformArithmeticKHR",
        "SubgroupShuffleINTEL",
        "SubgroupBufferBlockIOINTEL",
        "SubgroupImageBlockIOINTEL",
        "BFloat16ConversionINTEL",
        "SplitBarrierINTEL",
    ] {
        writeln!(text, "OpCapability {capability}").unwrap();
    }
    text.push_str(
        "%cl = OpExtInstImport \"OpenCL.std\"\nOpMemoryModel Physical64 OpenCL\nOpEntryPoint Kernel %f \"f\"\n",
    );
    text.push_str(&decorations_of(body));
    text.push_str("%void = OpTypeVoid\n%bool = OpTypeBool\n%yes = OpConstantTrue %bool\n");
    for (name, declaration) in [
        ("char", "OpTypeInt 8 0"),
        ("short", "OpTypeInt 16 0"),
        ("int", "OpTypeInt 32 0"),
        ("long", "OpTypeInt 64 0"),
        ("half", "OpTypeFloat 16"),
        ("float", "OpTypeFloat 32"),
        ("double", "OpTypeFloat 64"),
    ] {
        writeln!(text, "%{name} = {declaration}").unwrap();
        for count in COUNTS {
            let vector = spell_type(name, count);
            if count > 1 {
                writeln!(text, "{vector} = OpTypeVector %{name} {count}").unwrap();
            }
            writeln!(text, "{vector}_value = OpUndef {vector}").unwrap();
            for (space, class) in SPACES {
                writeln!(text, "%{space}_{} = OpTypePointer {class} {vector}", &vector[1..]).unwrap();
                writeln!(text, "%{space}_{0}_value = OpUndef %{space}_{0}", &vector[1..]).unwrap();
            }
        }
    }
    for number in 0..4 {
        writeln!(text, "%number{number} = OpConstant %int {number}").unwrap();
    }
    text.push_str("%type = OpTypeFunction %void\n%f = OpFunction %void None %type\n%start = OpLabel\n");
    text.push_str(body);
    text.push_str("OpReturn\nOpFunctionEnd\n");
    text
}

/// Address spaces with their storage classes.
const SPACES: [(&str, &str); 4] =
    [("private", "Function"), ("global", "CrossWorkgroup"), ("local", "Workgroup"), ("generic", "Generic")];

/// Decorations stand before types, so lines that begin with them are taken out of the instructions.
fn decorations_of(body: &str) -> String {
    body.lines()
        .filter_map(|line| line.strip_prefix("; decorate "))
        .map(|line| format!("OpDecorate {line}\n"))
        .collect()
}

fn spell_type(name: &str, count: u32) -> String {
    if count == 1 { format!("%{name}") } else { format!("%{name}{count}") }
}

#[track_caller]
fn check(body: &str) {
    let bytes = assemble_module(&module_with(body), (1, 5));
    translate_module(&bytes, &[], TextOptions::default()).unwrap_or_else(|error| panic!("{error}"));
}

/// Instructions of `OpenCL.std` with operands of one type, and how many.
fn check_functions(types: &[&str], functions: &[&str], operand_count: usize, counts: &[u32]) {
    let mut body = String::new();
    for (function, name) in functions.iter().flat_map(|function| types.iter().map(move |name| (function, name))) {
        for &count in counts {
            let vector = spell_type(name, count);
            let operands = format!("{vector}_value ").repeat(operand_count);
            writeln!(body, "%{function}_{name}_{count} = OpExtInst {vector} %cl {function} {operands}").unwrap();
        }
    }
    check(&body);
}

const FLOATS: [&str; 3] = ["half", "float", "double"];
const INTEGERS: [&str; 4] = ["char", "short", "int", "long"];

#[test]
fn functions_of_floats() {
    let unary = [
        "acos", "acosh", "acospi", "asin", "asinh", "asinpi", "atan", "atanh", "atanpi", "cbrt", "ceil", "cos", "cosh",
        "cospi", "erfc", "erf", "exp", "exp2", "exp10", "expm1", "fabs", "floor", "lgamma", "log", "log2", "log10",
        "log1p", "logb", "rint", "round", "rsqrt", "sin", "sinh", "sinpi", "sqrt", "tan", "tanh", "tanpi", "tgamma",
        "trunc", "degrees", "radians", "sign",
    ];
    check_functions(&FLOATS, &unary, 1, &COUNTS);
    let binary = [
        "atan2",
        "atan2pi",
        "copysign",
        "fdim",
        "fmax",
        "fmin",
        "fmod",
        "hypot",
        "maxmag",
        "minmag",
        "nextafter",
        "pow",
        "powr",
        "remainder",
        "fmax_common",
        "fmin_common",
        "step",
    ];
    check_functions(&FLOATS, &binary, 2, &COUNTS);
    check_functions(&FLOATS, &["fma", "mad", "fclamp", "mix", "smoothstep", "bitselect"], 3, &COUNTS);
    let in_float = [
        "half_cos",
        "half_exp",
        "half_exp2",
        "half_exp10",
        "half_log",
        "half_log2",
        "half_log10",
        "half_recip",
        "half_rsqrt",
        "half_sin",
        "half_sqrt",
        "half_tan",
        "native_cos",
        "native_exp",
        "native_exp2",
        "native_exp10",
        "native_log",
        "native_log2",
        "native_log10",
        "native_recip",
        "native_rsqrt",
        "native_sin",
        "native_sqrt",
        "native_tan",
    ];
    check_functions(&["float"], &in_float, 1, &COUNTS);
    check_functions(&["float"], &["half_divide", "half_powr", "native_divide", "native_powr"], 2, &COUNTS);
    check_functions(&FLOATS, &["normalize"], 1, &[1, 2, 3, 4]);
    check_functions(&FLOATS, &["cross"], 2, &[3, 4]);
    check_functions(&["float"], &["fast_normalize"], 1, &[1, 2, 3, 4]);
}

#[test]
fn functions_of_integers() {
    check_functions(&INTEGERS, &["s_abs", "u_abs", "clz", "ctz", "popcount"], 1, &COUNTS);
    let binary = [
        "s_abs_diff",
        "u_abs_diff",
        "s_add_sat",
        "u_add_sat",
        "s_hadd",
        "u_hadd",
        "s_rhadd",
        "u_rhadd",
        "s_max",
        "u_max",
        "s_min",
        "u_min",
        "s_mul_hi",
        "u_mul_hi",
        "rotate",
        "s_sub_sat",
        "u_sub_sat",
    ];
    check_functions(&INTEGERS, &binary, 2, &COUNTS);
    let ternary = ["s_clamp", "u_clamp", "s_mad_hi", "u_mad_hi", "s_mad_sat", "u_mad_sat", "bitselect", "select"];
    check_functions(&INTEGERS, &ternary, 3, &COUNTS);
    check_functions(&["int"], &["s_mul24", "u_mul24"], 2, &COUNTS);
    let mut body = String::new();
    for (narrow, wide) in [("char", "short"), ("short", "int"), ("int", "long")] {
        for (function, count) in
            ["s_upsample", "u_upsample"].into_iter().flat_map(|name| COUNTS.map(|count| (name, count)))
        {
            let (result, half) = (spell_type(wide, count), spell_type(narrow, count));
            writeln!(body, "%{function}_{wide}_{count} = OpExtInst {result} %cl {function} {half}_value {half}_value")
                .unwrap();
        }
    }
    check(&body);
    check_functions(&["int"], &["s_mad24", "u_mad24"], 3, &COUNTS);
}

#[test]
fn functions_with_addresses_and_two_types() {
    let mut body = String::new();
    for (name, count) in FLOATS.iter().flat_map(|name| COUNTS.map(|count| (name, count))) {
        let (value_type, integer) = (spell_type(name, count), spell_type("int", count));
        let bare = &value_type[1..];
        let mut add = |function: &str, result: &str, operands: &str| {
            let id = body.len();
            writeln!(body, "%r{id} = OpExtInst {result} %cl {function} {operands}").unwrap();
        };
        for function in ["ldexp", "pown", "rootn"] {
            add(function, &value_type, &format!("{value_type}_value {integer}_value"));
        }
        add("ilogb", &integer, &format!("{value_type}_value"));
        let bits = spell_type(["short", "int", "long"][FLOATS.iter().position(|float| float == name).unwrap()], count);
        add("nan", &value_type, &format!("{bits}_value"));
        add("select", &value_type, &format!("{value_type}_value {value_type}_value {bits}_value"));
        for (space, _) in SPACES {
            for function in ["fract", "modf", "sincos"] {
                add(function, &value_type, &format!("{value_type}_value %{space}_{bare}_value"));
            }
            for function in ["frexp", "lgamma_r"] {
                add(function, &value_type, &format!("{value_type}_value %{space}_{}_value", &integer[1..]));
            }
            let operands = format!("{value_type}_value {value_type}_value %{space}_{}_value", &integer[1..]);
            add("remquo", &value_type, &operands);
        }
        if matches!(count, 1..=4) {
            add("length", &format!("%{name}"), &format!("{value_type}_value"));
            add("distance", &format!("%{name}"), &format!("{value_type}_value {value_type}_value"));
        }
    }
    check(&body);
}

#[test]
fn vectors_in_memory() {
    let mut body = String::new();
    let mut add = |line: String| {
        let id = body.len();
        writeln!(body, "%r{id} = {line}").unwrap();
    };
    for (space, _) in SPACES {
        for (name, count) in FLOATS.iter().chain(&INTEGERS).flat_map(|name| COUNTS.map(|count| (name, count))) {
            let vector = spell_type(name, count);
            if count > 1 {
                add(format!("OpExtInst {vector} %cl vloadn %long_value %{space}_{name}_value {count}"));
                add(format!("OpExtInst %void %cl vstoren {vector}_value %long_value %{space}_{name}_value"));
            }
        }
        for count in COUNTS {
            let floats = spell_type("float", count);
            let loads: &[&str] = if count == 1 { &["vload_half"] } else { &["vload_halfn", "vloada_halfn"] };
            for load in loads {
                let literal = if count == 1 { String::new() } else { count.to_string() };
                add(format!("OpExtInst {floats} %cl {load} %long_value %{space}_half_value {literal}"));
            }
            for value in [floats, spell_type("double", count)] {
                let stores: &[&str] = if count == 1 { &["vstore_half"] } else { &["vstore_halfn", "vstorea_halfn"] };
                for store in stores {
                    add(format!("OpExtInst %void %cl {store} {value}_value %long_value %{space}_half_value"));
                    for rounding in ["RTE", "RTZ", "RTP", "RTN"] {
                        add(format!(
                            "OpExtInst %void %cl {store}_r {value}_value %long_value %{space}_half_value {rounding}"
                        ));
                    }
                }
            }
        }
    }
    for (name, mask) in [("char", "char"), ("half", "short"), ("int", "int"), ("float", "int"), ("double", "long")] {
        for (from, to) in [2, 4, 8, 16].into_iter().flat_map(|from| [2, 4, 8, 16].map(|to| (from, to))) {
            let source = spell_type(name, from);
            let (result, mask) = (spell_type(name, to), spell_type(mask, to));
            add(format!("OpExtInst {result} %cl shuffle {source}_value {mask}_value"));
            add(format!("OpExtInst {result} %cl shuffle2 {source}_value {source}_value {mask}_value"));
        }
    }
    check(&body);
}

#[test]
fn conversions_that_round_or_saturate() {
    let mut body = String::new();
    let mut add = |decoration: &str, line: String| {
        let id = body.len();
        writeln!(body, "; decorate %r{id} {decoration}\n%r{id} = {line}").unwrap();
    };
    for (integer, float) in INTEGERS.iter().flat_map(|integer| FLOATS.map(|float| (integer, float))) {
        for count in COUNTS {
            let (integer, float) = (spell_type(integer, count), spell_type(float, count));
            for rounding in ["RTE", "RTZ", "RTP", "RTN"] {
                for opcode in ["ConvertFToS", "ConvertFToU"] {
                    add(&format!("FPRoundingMode {rounding}"), format!("Op{opcode} {integer} {float}_value"));
                }
                for opcode in ["ConvertSToF", "ConvertUToF"] {
                    add(&format!("FPRoundingMode {rounding}"), format!("Op{opcode} {float} {integer}_value"));
                }
                add(
                    &format!("FPRoundingMode {rounding}"),
                    format!("OpFConvert {float} {}_value", spell_type("double", count)),
                );
            }
            add("SaturatedConversion", format!("OpConvertFToS {integer} {float}_value"));
            add("SaturatedConversion", format!("OpConvertFToU {integer} {float}_value"));
            add("Aliased", format!("OpSatConvertSToU {integer} {}_value", spell_type("int", count)));
            add("Aliased", format!("OpSatConvertUToS {integer} {}_value", spell_type("long", count)));
        }
    }
    check(&body);
}

#[test]
fn groups_and_sub_groups() {
    let mut body = String::new();
    let mut add = |line: String| {
        let id = body.len();
        writeln!(body, "%r{id} = {line}").unwrap();
    };
    let operations = |name: &str| match name {
        "half" | "float" | "double" => vec!["FAdd", "FMin", "FMax"],
        _ => vec!["IAdd", "SMin", "UMin", "SMax", "UMax"],
    };
    for name in FLOATS.iter().chain(&INTEGERS) {
        for (operation, kind) in operations(name)
            .into_iter()
            .flat_map(|operation| ["Reduce", "InclusiveScan", "ExclusiveScan"].map(|kind| (operation, kind)))
        {
            add(format!("OpGroup{operation} %{name} %number2 {kind} %{name}_value"));
            add(format!("OpGroup{operation} %{name}3 %number2 {kind} %{name}3_value"));
            add(format!("OpGroup{operation} %{name} %number3 {kind} %{name}_value"));
            add(format!("OpGroupNonUniform{operation} %{name} %number3 {kind} %{name}_value"));
            add(format!("OpGroupNonUniform{operation} %{name} %number3 ClusteredReduce %{name}_value %number2"));
        }
        let product = if FLOATS.contains(name) { "FMul" } else { "IMul" };
        add(format!("OpGroupNonUniform{product} %{name} %number3 Reduce %{name}_value"));
        for shuffle in ["Shuffle", "ShuffleXor", "ShuffleUp", "ShuffleDown", "Broadcast"] {
            add(format!("OpGroupNonUniform{shuffle} %{name} %number3 %{name}_value %number1"));
        }
        for count in COUNTS {
            let vector = spell_type(name, count);
            add(format!("OpGroupNonUniformBroadcast {vector} %number3 {vector}_value %number1"));
            add(format!("OpGroupNonUniformBroadcastFirst {vector} %number3 {vector}_value"));
            add(format!("OpGroupNonUniformShuffle {vector} %number3 {vector}_value %number1"));
            add(format!("OpGroupNonUniformAllEqual %bool %number3 {vector}_value"));
        }
        for ids in ["%long_value", "%long2_value", "%long3_value", "%int_value"] {
            add(format!("OpGroupBroadcast %{name} %number2 %{name}_value {ids}"));
        }
        add(format!("OpGroupBroadcast %{name} %number3 %{name}_value %int_value"));
    }
    for name in INTEGERS {
        for operation in ["BitwiseAnd", "BitwiseOr", "BitwiseXor"] {
            add(format!("OpGroupNonUniform{operation} %{name} %number3 InclusiveScan %{name}_value"));
        }
    }
    for operation in ["LogicalAnd", "LogicalOr", "LogicalXor"] {
        add(format!("OpGroupNonUniform{operation} %bool %number3 Reduce %yes"));
    }
    for operation in ["GroupAll", "GroupAny", "GroupNonUniformAll", "GroupNonUniformAny"] {
        add(format!("Op{operation} %bool %number3 %yes"));
    }
    add("OpGroupAll %bool %number2 %yes".to_owned());
    add("OpGroupBroadcast %bool %number2 %yes %int_value".to_owned());
    add("OpGroupNonUniformShuffleXor %bool %number3 %yes %number1".to_owned());
    add("OpGroupNonUniformAllEqual %bool %number3 %yes".to_owned());
    add("OpGroupNonUniformElect %bool %number3".to_owned());
    add("OpGroupNonUniformBallot %int4 %number3 %yes".to_owned());
    add("OpGroupNonUniformInverseBallot %bool %number3 %int4_value".to_owned());
    add("OpGroupNonUniformBallotBitExtract %bool %number3 %int4_value %number1".to_owned());
    for kind in ["Reduce", "InclusiveScan", "ExclusiveScan"] {
        add(format!("OpGroupNonUniformBallotBitCount %int %number3 {kind} %int4_value"));
    }
    add("OpGroupNonUniformBallotFindLSB %int %number3 %int4_value".to_owned());
    add("OpGroupNonUniformBallotFindMSB %int %number3 %int4_value".to_owned());
    check(&body);
}

#[test]
fn operations_of_whole_groups() {
    let mut body = String::new();
    let mut add = |line: String| {
        let id = body.len();
        writeln!(body, "%r{id} = {line}").unwrap();
    };
    let names = FLOATS.iter().chain(&INTEGERS);
    for (name, scope) in names.flat_map(|name| ["%number2", "%number3"].map(|scope| (name, scope))) {
        let operations = if FLOATS.contains(name) {
            &["FMulKHR"][..]
        } else {
            &["IMulKHR", "BitwiseAndKHR", "BitwiseOrKHR", "BitwiseXorKHR"]
        };
        for (operation, kind) in operations
            .iter()
            .flat_map(|operation| ["Reduce", "InclusiveScan", "ExclusiveScan"].map(|kind| (operation, kind)))
        {
            add(format!("OpGroup{operation} %{name} {scope} {kind} %{name}_value"));
        }
    }
    for (operation, scope) in
        ["And", "Or", "Xor"].iter().flat_map(|name| ["%number2", "%number3"].map(|scope| (name, scope)))
    {
        for kind in ["Reduce", "InclusiveScan", "ExclusiveScan"] {
            add(format!("OpGroupLogical{operation}KHR %bool {scope} {kind} %yes"));
        }
    }
    check(&body);
}

#[test]
fn shuffles_blocks_and_bfloat16() {
    let mut body = String::new();
    for (name, count) in FLOATS.iter().chain(&INTEGERS).flat_map(|name| COUNTS.map(|count| (name, count))) {
        let vector = spell_type(name, count);
        for (shuffle, operands) in [("", 1), ("Xor", 1), ("Up", 2), ("Down", 2)] {
            let values = format!("{vector}_value ").repeat(operands);
            writeln!(body, "%{shuffle}_{name}{count} = OpSubgroupShuffle{shuffle}INTEL {vector} {values} %number1")
                .unwrap();
        }
    }
    for (name, count) in INTEGERS.iter().flat_map(|name| [1, 2, 4, 8].map(|count| (name, count))) {
        let vector = spell_type(name, count);
        for space in ["global", "local"] {
            let address = format!("%{space}_{name}_value");
            writeln!(body, "%{space}_{name}{count}_read = OpSubgroupBlockReadINTEL {vector} {address}").unwrap();
            writeln!(body, "OpSubgroupBlockWriteINTEL {address} {vector}_value").unwrap();
        }
    }
    for count in COUNTS {
        let (narrow, wide) = (spell_type("short", count), spell_type("float", count));
        writeln!(body, "%narrow{count} = OpConvertFToBF16INTEL {narrow} {wide}_value").unwrap();
        writeln!(body, "%wide{count} = OpConvertBF16ToFINTEL {wide} {narrow}_value").unwrap();
    }
    for half in ["Arrive", "Wait"] {
        writeln!(body, "OpControlBarrier{half}INTEL %number2 %number2 %number0").unwrap();
        writeln!(body, "OpControlBarrier{half}INTEL %number3 %number3 %number0").unwrap();
    }
    check(&body);
}

#[test]
fn images() {
    // The dimension, whether it is one of depths, whether it has layers, and the coordinates that an element has.
    let kinds = [
        ("1D", 0, 0, 1),
        ("1D", 0, 1, 2),
        ("2D", 0, 0, 2),
        ("2D", 0, 1, 4),
        ("2D", 1, 0, 2),
        ("2D", 1, 1, 4),
        ("3D", 0, 0, 4),
    ];
    for (dim, depth, layers, coordinates) in kinds {
        for access in ["ReadOnly", "WriteOnly", "ReadWrite"] {
            let ints = spell_type("int", coordinates);
            let mut body = String::new();
            if access != "WriteOnly" {
                writeln!(body, "%read = OpImageRead %float4 %image {ints}_value").unwrap();
            }
            if access == "ReadOnly" {
                let floats = spell_type("float", coordinates);
                writeln!(body, "%pair = OpSampledImage %sampled %image %sampler").unwrap();
                writeln!(body, "%s1 = OpImageSampleExplicitLod %float4 %pair {floats}_value Lod %float_value").unwrap();
                writeln!(body, "%s2 = OpImageSampleExplicitLod %float4 %pair {ints}_value Lod %float_value").unwrap();
            } else if depth == 0 {
                for texel in ["%float4", "%int4", "%half4"] {
                    writeln!(body, "OpImageWrite %image {ints}_value {texel}_value").unwrap();
                }
            } else {
                writeln!(body, "OpImageWrite %image {ints}_value %float_value").unwrap();
            }
            if (dim, layers, depth) == ("2D", 0, 0) {
                for (name, count) in INTEGERS.iter().flat_map(|name| [1, 2, 4, 8].map(|count| (name, count))) {
                    let block = spell_type(name, count);
                    if access != "WriteOnly" {
                        writeln!(
                            body,
                            "%{name}{count}_block = OpSubgroupImageBlockReadINTEL {block} %image {ints}_value"
                        )
                        .unwrap();
                    }
                    if access != "ReadOnly" {
                        writeln!(body, "OpSubgroupImageBlockWriteINTEL %image {ints}_value {block}_value").unwrap();
                    }
                }
            }
            let sizes = match (dim, layers) {
                ("1D", 0) => 1,
                ("1D", _) | ("2D", 0) => 2,
                _ => 3,
            };
            writeln!(body, "%sizes = OpImageQuerySizeLod {} %image %number0", spell_type("int", sizes)).unwrap();
            writeln!(body, "%order = OpImageQueryOrder %int %image\n%format = OpImageQueryFormat %int %image").unwrap();
            let declared = format!(
                "%image_type = OpTypeImage %void {dim} {depth} {layers} 0 0 Unknown {access}\n%sampled = OpTypeSampledImage \
                 %image_type\n%sampler_type = OpTypeSampler\n%sampler = OpConstantSampler %sampler_type ClampToEdge 0 \
                 Nearest\n%image = OpUndef %image_type\n"
            );
            let text =
                module_with(&body).replace("%type = OpTypeFunction", &format!("{declared}%type = OpTypeFunction"));
            let translated = translate_module(&assemble_module(&text, (1, 5)), &[], TextOptions::default());
            translated.unwrap_or_else(|error| panic!("{dim} {depth} {layers} {access}: {error}"));
        }
    }
}
