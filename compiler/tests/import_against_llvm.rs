//! What import makes of an instruction against what LLVM itself makes of it: each kernel is compiled for the host by
//! LLVM, and imported and interpreted; both read the same bytes and must write the same.

use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use lockstep_compiler::import::import_module;
use lockstep_ir::interp::{self, Arg, Memory, NdRange};
use lockstep_ir::ir::parse_module;
use lockstep_ir::verify::{Stage, verify_module};
use std::fmt::Write;

const HEADER: &str = "\
target datalayout = \"e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1\"
target triple = \"spir64-unknown-unknown\"
";
const BYTES: usize = 256;
const ROUNDS: u64 = 40;

/// Memory as aligned as the widest vector.
#[repr(align(128))]
#[derive(Clone)]
struct Buffer([u8; BYTES]);

/// Bytes that are random, or values at the edges of the types, or both in turn.
fn input(round: u64) -> Buffer {
    let mut state = round.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    const EDGES: [u64; 24] = [
        0,
        1,
        u64::MAX,
        0x8000_0000_0000_0000,
        0x7fff_ffff_ffff_ffff,
        0x7ff0_0000_0000_0000,
        0xfff0_0000_0000_0000,
        0x3ff0_0000_0000_0000,
        0xbfe0_0000_0000_0000,
        0x0010_0000_0000_0000,
        0x000f_ffff_ffff_ffff,
        0x7fef_ffff_ffff_ffff,
        0x8000_0000_8000_0000,
        0x7f80_0000_3f80_0000,
        0xff80_0000_bf00_0000,
        0x0080_0000_007f_ffff,
        0x7fff_ffff_8000_0001,
        0x4b00_0001_c0a0_0000,
        0x3c00_7c00_fc00_0400,
        0x8000_7fff_ffff_0001,
        0x80ff_7f01_fe02_0340,
        0x4024_8000_0000_0000,
        0xc0b1_9999_9999_999a,
        0x4168_f5c3_3f9d_70a4,
    ];
    let mut bytes = [0; BYTES];
    for chunk in bytes.chunks_mut(8) {
        let value = match round % 3 {
            0 => next(),
            1 => EDGES[(next() >> 20) as usize % EDGES.len()],
            _ if next() >> 40 & 1 == 0 => next(),
            _ => EDGES[(next() >> 20) as usize % EDGES.len()].rotate_left((next() >> 30) as u32 % 2 * 32),
        };
        chunk.copy_from_slice(&value.to_le_bytes());
    }
    Buffer(bytes)
}

/// The names of all kernels in a text.
fn kernels(text: &str) -> Vec<&str> {
    let heads = text.split("define spir_kernel void @").skip(1);
    heads.map(|head| head.split('(').next().unwrap()).collect()
}

fn parse<'c>(context: &'c Context, text: &str) -> inkwell::module::Module<'c> {
    let buffer = MemoryBuffer::create_from_memory_range_copy(format!("{text}\0").as_bytes(), "test");
    context.create_module_from_ir(buffer).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Runs every kernel both ways.
fn agree(text: &str) {
    let names = kernels(text);
    assert!(!names.is_empty());
    let context = Context::create();

    let imported = import_module(&parse(&context, text)).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let printed = imported.to_string();
    if let Err(errors) = verify_module(&imported, Stage::Imported) {
        panic!("{}\n{printed}", errors[0]);
    }
    assert_eq!(parse_module(&printed).unwrap().to_string(), printed);

    let host: String =
        text.lines().filter(|line| !line.starts_with("target ")).fold(String::new(), |mut host, line| {
            writeln!(host, "{}", line.replace("spir_kernel ", "")).unwrap();
            host
        });
    let module = parse(&context, &host);
    let engine = module.create_jit_execution_engine(OptimizationLevel::None).unwrap();
    for name in names {
        type Kernel = unsafe extern "C" fn(*const u8, *mut u8);
        // SAFETY: every kernel of the text has this signature.
        let kernel = unsafe { engine.get_function::<Kernel>(name) }.unwrap();
        for round in 0..ROUNDS {
            let given = input(round);
            let mut expected = Buffer([0; BYTES]);
            // SAFETY: the kernel reads and writes within the 256 bytes it is given.
            unsafe { kernel.call(given.0.as_ptr(), expected.0.as_mut_ptr()) };

            let mut memory = Memory::new(vec![given.0.to_vec(), vec![0; BYTES]]);
            let range = NdRange::new(&[1], &[1]);
            let arguments = [Arg::Buffer(0), Arg::Buffer(1)];
            let ran = interp::run_kernel(&imported, name, &range, &arguments, &mut memory);
            if let Err(error) = ran {
                panic!("{name}, round {round}: {error}\n{}", kernel_text(&printed, name));
            }
            if memory.buffers[1] != expected.0 {
                let position =
                    (0..BYTES).find(|&index| memory.buffers[1][index] != expected.0[index]).unwrap_or(0) / 8 * 8;
                panic!(
                    "{name}, round {round}: at {position} LLVM has {:02x?}, we have {:02x?}, given {:02x?}\n{}",
                    &expected.0[position..position + 8],
                    &memory.buffers[1][position..position + 8],
                    &given.0[..64],
                    kernel_text(&printed, name)
                );
            }
        }
    }
}

fn kernel_text<'t>(printed: &'t str, name: &str) -> &'t str {
    let start = printed.find(&format!("kernel {name:?}")).unwrap_or(0);
    let end = printed[start + 1..].find("\nkernel ").map_or(printed.len(), |end| start + 1 + end);
    &printed[start..end]
}

/// A kernel that calls `function` on `args` (type and how to bound it) and stores the result.
struct Call<'a> {
    function: &'a str,
    result: &'a str,
    args: &'a [&'a str],
    /// Constant arguments behind the others.
    rest: &'a str,
}

/// The text of kernels that call intrinsics; float results that are NaN are made one NaN.
fn calls(list: &[Call<'_>]) -> String {
    let mut text = HEADER.to_string();
    let mut declared = std::collections::HashSet::new();
    for (index, call) in list.iter().enumerate() {
        let rest_types: Vec<&str> = call.rest.split(", ").filter_map(|argument| argument.split(' ').next()).collect();
        let types: Vec<&str> = call.args.iter().copied().chain(rest_types).filter(|ty| !ty.is_empty()).collect();
        if declared.insert(call.function) {
            writeln!(text, "declare {} @{}({})", call.result, call.function, types.join(", ")).unwrap();
        }
        let name = call.function.replace('.', "_");
        writeln!(text, "define spir_kernel void @{name}_{index}(ptr addrspace(1) %in, ptr addrspace(1) %out) {{")
            .unwrap();
        let mut values = Vec::new();
        for (n, ty) in call.args.iter().enumerate() {
            writeln!(text, "  %p{n} = getelementptr i8, ptr addrspace(1) %in, i64 {}", n * 64).unwrap();
            writeln!(text, "  %a{n} = load {ty}, ptr addrspace(1) %p{n}, align 64").unwrap();
            values.push(format!("{ty} %a{n}"));
        }
        if !call.rest.is_empty() {
            values.push(call.rest.to_string());
        }
        writeln!(text, "  %r = call {} @{}({})", call.result, call.function, values.join(", ")).unwrap();
        let element = call.result.rsplit(' ').next().unwrap().trim_end_matches('>');
        if matches!(element, "half" | "float" | "double") && !call.result.starts_with('{') {
            let ty = call.result;
            let (conditions, ones) = match ty.strip_prefix('<').and_then(|t| t.split(' ').next()) {
                Some(n) => {
                    let ones = vec![format!("{element} 1.0"); n.parse().unwrap()];
                    (format!("<{n} x i1>"), format!("<{}>", ones.join(", ")))
                }
                None => ("i1".into(), "1.0".to_string()),
            };
            writeln!(text, "  %nan = fcmp uno {ty} %r, %r").unwrap();
            writeln!(text, "  %fixed = select {conditions} %nan, {ty} {ones}, {ty} %r").unwrap();
            writeln!(text, "  store {ty} %fixed, ptr addrspace(1) %out, align 64").unwrap();
        } else {
            writeln!(text, "  store {} %r, ptr addrspace(1) %out, align 64", call.result).unwrap();
        }
        text.push_str("  ret void\n}\n");
    }
    text
}

const INTS: [&str; 8] = ["i8", "i16", "i32", "i64", "<2 x i64>", "<3 x i32>", "<4 x i16>", "<16 x i8>"];
const FLOATS: [&str; 5] = ["float", "double", "half", "<3 x float>", "<4 x double>"];

/// LLVM's suffix of an overloaded intrinsic.
fn suffix(ty: &str) -> String {
    let scalar = |ty: &str| match ty {
        "half" => "f16".to_string(),
        "float" => "f32".to_string(),
        "double" => "f64".to_string(),
        int => int.to_string(),
    };
    match ty.strip_prefix('<') {
        Some(vector) => {
            let (n, element) = vector.trim_end_matches('>').split_once(" x ").unwrap();
            format!("v{n}{}", scalar(element))
        }
        None => scalar(ty),
    }
}

/// The same shape with another element.
fn with_element(ty: &str, element: &str) -> String {
    match ty.split_once(" x ") {
        Some((n, _)) => format!("{n} x {element}>"),
        None => element.to_string(),
    }
}

/// Calls of `llvm.NAME.TYPE` for each type with so many arguments of that type.
fn same_type(names: &[&str], types: &[&str], arguments: usize, rest: &str) -> String {
    let cases: Vec<(String, &str)> = names
        .iter()
        .flat_map(|name| types.iter().map(move |&ty| (format!("llvm.{name}.{}", suffix(ty)), ty)))
        .collect();
    let operands: Vec<Vec<&str>> = cases.iter().map(|&(_, ty)| vec![ty; arguments]).collect();
    let list: Vec<Call<'_>> = cases
        .iter()
        .zip(&operands)
        .map(|((function, ty), arguments)| Call { function, result: ty, args: arguments, rest })
        .collect();
    calls(&list)
}

#[test]
fn shapes() {
    agree(include_str!("import_llvm/shapes.ll"));
}

#[test]
fn memory() {
    agree(include_str!("import_llvm/memory.ll"));
}

#[test]
fn integer_intrinsics() {
    agree(&same_type(&["ctpop", "bitreverse"], &INTS, 1, ""));
    agree(&same_type(&["ctlz", "cttz", "abs"], &INTS, 1, "i1 false"));
    agree(&same_type(&["bswap"], &["i16", "i32", "i64", "<4 x i16>", "<3 x i32>"], 1, ""));
    agree(&same_type(&["smin", "smax", "umin", "umax"], &INTS, 2, ""));
    agree(&same_type(&["sadd.sat", "uadd.sat", "ssub.sat", "usub.sat"], &INTS, 2, ""));
    agree(&same_type(&["fshl", "fshr"], &INTS, 3, ""));
}

#[test]
fn checked_arithmetic() {
    let mut cases = Vec::new();
    for op in ["uadd", "sadd", "usub", "ssub", "umul", "smul"] {
        for ty in ["i8", "i32", "i64", "<3 x i16>"] {
            let result = format!("{{ {ty}, {} }}", with_element(ty, "i1"));
            cases.push((format!("llvm.{op}.with.overflow.{}", suffix(ty)), result, [ty, ty]));
        }
    }
    let list: Vec<Call<'_>> = cases
        .iter()
        .map(|(function, result, arguments)| Call { function, result, args: arguments, rest: "" })
        .collect();
    // Vectors of flags have no layout that both sides share, so that only scalars are stored whole.
    let (vectors, scalars): (Vec<_>, Vec<_>) = list.into_iter().partition(|call| call.args[0].starts_with('<'));
    agree(&calls(&scalars));
    let text = calls(&vectors);
    let mut fixed = String::new();
    for line in text.lines() {
        if line.starts_with("  store { <3 x i16>") {
            fixed.push_str(
                "  %v = extractvalue { <3 x i16>, <3 x i1> } %r, 0
  %f = extractvalue { <3 x i16>, <3 x i1> } %r, 1
  %w = sext <3 x i1> %f to <3 x i16>
  store <3 x i16> %v, ptr addrspace(1) %out, align 8
  %q = getelementptr i8, ptr addrspace(1) %out, i64 8
  store <3 x i16> %w, ptr addrspace(1) %q, align 8
",
            );
        } else {
            writeln!(fixed, "{line}").unwrap();
        }
    }
    agree(&fixed);
}

#[test]
fn three_way_comparisons() {
    let mut cases = Vec::new();
    for op in ["ucmp", "scmp"] {
        for ty in ["i8", "i32", "i64", "<4 x i16>"] {
            let result = with_element(ty, "i8");
            cases.push((format!("llvm.{op}.{}.{}", suffix(&result), suffix(ty)), result, [ty, ty]));
        }
    }
    let list: Vec<Call<'_>> = cases
        .iter()
        .map(|(function, result, arguments)| Call { function, result, args: arguments, rest: "" })
        .collect();
    agree(&calls(&list));
}

#[test]
fn float_intrinsics() {
    let one = ["fabs", "sqrt", "floor", "ceil", "trunc", "rint", "nearbyint", "roundeven", "round", "canonicalize"];
    agree(&same_type(&one, &FLOATS, 1, ""));
    agree(&same_type(&["copysign", "minnum", "maxnum"], &FLOATS[..2], 2, ""));
    agree(&same_type(&["minimum", "maximum", "minimumnum", "maximumnum"], &FLOATS, 2, ""));
    agree(&same_type(&["fma"], &["float", "double", "<3 x float>"], 3, ""));
}

#[test]
fn host_functions() {
    agree(&same_type(
        &["exp", "exp2", "log", "log2", "log10", "sin", "cos"],
        &["float", "double", "<2 x float>"],
        1,
        "",
    ));
    agree(&same_type(&["pow"], &["float", "double", "<2 x double>"], 2, ""));
}

#[test]
fn saturating_conversions() {
    let mut cases = Vec::new();
    for op in ["fptosi", "fptoui"] {
        for (to, from) in [
            ("i8", "float"),
            ("i16", "half"),
            ("i32", "float"),
            ("i32", "double"),
            ("i64", "float"),
            ("i64", "double"),
            ("<3 x i16>", "<3 x float>"),
        ] {
            cases.push((format!("llvm.{op}.sat.{}.{}", suffix(to), suffix(from)), to, [from]));
        }
    }
    let list: Vec<Call<'_>> = cases
        .iter()
        .map(|(function, result, arguments)| Call { function, result, args: arguments, rest: "" })
        .collect();
    agree(&calls(&list));
}

#[test]
fn classes_of_floats() {
    for (ty, suffix) in [("half", "f16"), ("float", "f32"), ("double", "f64")] {
        let function = format!("llvm.is.fpclass.{suffix}");
        let masks = (0..10).map(|bit| 1 << bit).chain([0x000, 0x3ff, 0x003, 0x204, 0x1f8, 0x090, 0x060, 0x0f5, 0x309]);
        let mut text = HEADER.to_string();
        writeln!(text, "declare i1 @{function}({ty}, i32)").unwrap();
        for mask in masks {
            writeln!(
                text,
                "define spir_kernel void @class_{mask}(ptr addrspace(1) %in, ptr addrspace(1) %out) {{
  %a = load {ty}, ptr addrspace(1) %in, align 8
  %p = getelementptr i8, ptr addrspace(1) %in, i64 8
  %b = load {ty}, ptr addrspace(1) %p, align 8
  %x = call i1 @{function}({ty} %a, i32 {mask})
  %y = call i1 @{function}({ty} %b, i32 {mask})
  %z = zext i1 %x to i8
  %w = zext i1 %y to i8
  store i8 %z, ptr addrspace(1) %out, align 1
  %q = getelementptr i8, ptr addrspace(1) %out, i64 1
  store i8 %w, ptr addrspace(1) %q, align 1
  ret void
}}"
            )
            .unwrap();
        }
        agree(&text);
    }
}

#[test]
fn reductions() {
    let mut cases = Vec::new();
    for op in ["add", "mul", "and", "or", "xor", "smin", "smax", "umin", "umax"] {
        for (ty, element) in [("<4 x i32>", "i32"), ("<3 x i64>", "i64"), ("<16 x i8>", "i8")] {
            cases.push((format!("llvm.vector.reduce.{op}.{}", suffix(ty)), element, vec![ty]));
        }
    }
    for op in ["fadd", "fmul"] {
        for (ty, element) in [("<4 x float>", "float"), ("<2 x double>", "double")] {
            cases.push((format!("llvm.vector.reduce.{op}.{}", suffix(ty)), element, vec![element, ty]));
        }
    }
    for op in ["fminimum", "fmaximum"] {
        cases.push((format!("llvm.vector.reduce.{op}.v4f32"), "float", vec!["<4 x float>"]));
    }
    let list: Vec<Call<'_>> = cases
        .iter()
        .map(|(function, result, arguments)| Call { function, result, args: arguments, rest: "" })
        .collect();
    agree(&calls(&list));
}

/// Kernels of one line each: `{}` stands for the type; `%a`, `%b`, `%c` are loaded, `%r` is stored.
fn lines(cases: &[(&str, &str, &[&str])]) -> String {
    let mut text = HEADER.to_string();
    for (index, (line, result, types)) in cases.iter().enumerate() {
        for (k, ty) in types.iter().enumerate() {
            writeln!(text, "define spir_kernel void @k{index}_{k}(ptr addrspace(1) %in, ptr addrspace(1) %out) {{")
                .unwrap();
            for (n, name) in ["a", "b", "c"].into_iter().enumerate() {
                writeln!(text, "  %p{name} = getelementptr i8, ptr addrspace(1) %in, i64 {}", n * 64).unwrap();
                writeln!(text, "  %{name} = load {ty}, ptr addrspace(1) %p{name}, align 64").unwrap();
            }
            let (line, result) = (line.replace("{}", ty), result.replace("{}", ty));
            writeln!(text, "  {line}\n  store {result} %r, ptr addrspace(1) %out, align 64\n  ret void\n}}").unwrap();
        }
    }
    text
}

#[test]
fn integer_instructions() {
    let scalars: &[&str] = &["i8", "i16", "i32", "i64", "i128"];
    let all: &[&str] = &["i8", "i32", "i64", "i128", "<3 x i32>", "<16 x i8>"];
    agree(&lines(&[
        ("%r = add {} %a, %b", "{}", all),
        ("%r = sub {} %a, %b", "{}", all),
        ("%r = mul {} %a, %b", "{}", all),
        ("%r = and {} %a, %b", "{}", all),
        ("%r = or {} %a, %b", "{}", all),
        ("%r = xor {} %a, %b", "{}", all),
        ("%d = or {} %b, 1\n  %r = udiv {} %a, %d", "{}", scalars),
        ("%d = or {} %b, 1\n  %r = urem {} %a, %d", "{}", scalars),
        ("%h = lshr {} %b, 1\n  %d = or {} %h, 1\n  %r = sdiv {} %a, %d", "{}", scalars),
        ("%h = lshr {} %b, 1\n  %d = or {} %h, 1\n  %r = srem {} %a, %d", "{}", scalars),
        ("%d = and {} %b, 7\n  %r = shl {} %a, %d", "{}", scalars),
        ("%d = and {} %b, 7\n  %r = lshr {} %a, %d", "{}", scalars),
        ("%d = and {} %b, 7\n  %r = ashr {} %a, %d", "{}", scalars),
        ("%x = trunc {} %a to i5\n  %r = sext i5 %x to {}", "{}", scalars),
        ("%x = trunc {} %a to i7\n  %r = zext i7 %x to {}", "{}", scalars),
        ("%x = icmp slt {} %a, %b\n  %r = select i1 %x, {} %c, {} %b", "{}", scalars),
        ("%x = icmp uge {} %a, %b\n  %r = sext i1 %x to {}", "{}", scalars),
        ("%d = and {} %b, 7\n  %r = call {} @llvm.sshl.sat.{}({} %a, {} %d)", "{}", &["i8", "i32", "i64"]),
        ("%d = and {} %b, 7\n  %r = call {} @llvm.ushl.sat.{}({} %a, {} %d)", "{}", &["i8", "i32", "i64"]),
        ("%r = freeze {} %a", "{}", all),
        ("%r = uitofp {} %a to double", "double", &["i8", "i16", "i32", "i64"]),
        ("%r = sitofp {} %a to float", "float", &["i8", "i16", "i32", "i64"]),
        ("%r = sitofp {} %a to <3 x float>", "<3 x float>", &["<3 x i32>"]),
    ]));
}

#[test]
fn float_instructions() {
    let fixed = |op: &str| format!("%x = {op}\n  %n = fcmp uno {{}} %x, %x\n  %r = select i1 %n, {{}} 1.0, {{}} %x");
    let scalars: &[&str] = &["half", "float", "double"];
    let mut cases: Vec<(String, &str, &[&str])> = Vec::new();
    for op in ["fadd", "fsub", "fmul", "fdiv", "frem"] {
        cases.push((fixed(&format!("{op} {{}} %a, %b")), "{}", if op == "frem" { &scalars[1..] } else { scalars }));
    }
    cases.push(("%r = fneg {} %a".into(), "{}", &["half", "float", "double", "<3 x float>"]));
    for cc in [
        "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "uno", "ueq", "ugt", "uge", "ult", "ule", "une",
        "true",
    ] {
        cases.push((format!("%x = fcmp {cc} {{}} %a, %b\n  %r = sext i1 %x to i32"), "i32", scalars));
    }
    cases.push((
        "%x = fpext {} %a to double\n  %n = fcmp uno double %x, %x\n  %r = select i1 %n, double 1.0, double %x".into(),
        "double",
        &["half", "float"],
    ));
    cases.push((
        "%x = fptrunc {} %a to half\n  %n = fcmp uno half %x, %x\n  %r = select i1 %n, half 1.0, half %x".into(),
        "half",
        &["float", "double"],
    ));
    cases.push((
        "%x = fptrunc {} %a to float\n  %n = fcmp uno float %x, %x\n  %r = select i1 %n, float 1.0, float %x".into(),
        "float",
        &["double"],
    ));
    let list: Vec<(&str, &str, &[&str])> =
        cases.iter().map(|(line, result, types)| (&**line, *result, *types)).collect();
    agree(&lines(&list));
}

/// A constant of which each part is the sum of the one before with itself, so that written out it would have 2^40 terms.
#[test]
fn parts_of_constants_are_imported_once() {
    let context = Context::create();
    let text = format!(
        "{HEADER}@table = internal addrspace(2) constant [4 x i32] zeroinitializer, align 4\n\
         define spir_kernel void @k(ptr addrspace(1) %out) {{\n  store i32 0, ptr addrspace(1) %out, align 4\n  ret void\n}}\n"
    );
    let module = parse(&context, &text);
    let address = module.get_global("table").expect("it is there").as_pointer_value();
    let mut sum = address.const_to_int(context.i32_type());
    for _ in 0..40 {
        sum = sum.const_add(sum);
    }
    let entry = module.get_function("k").and_then(|k| k.get_first_basic_block()).expect("it has a body");
    assert!(entry.get_first_instruction().expect("a store").set_operand(0, sum));
    let imported = import_module(&module).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(imported.to_string().matches("= add").count(), 40, "{imported}");
}
