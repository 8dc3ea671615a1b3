//! From source text to a cleaned-up module, with the real clang.

use inkwell::context::Context;
use lockstep_compiler::frontend::{
    FrontendConfig, compile_source, link_library, link_program, link_with, prepare_module,
};
use lockstep_compiler::import::import_linked_kernel;
use lockstep_compiler::pipeline::{load, load_kernel};
use lockstep_ir::analysis::cfg::build_cfg;
use lockstep_ir::analysis::dominators::compute_dominators;
use lockstep_ir::analysis::loops::find_loops;
use lockstep_ir::ir::Module;
use lockstep_protocol::build_failure::FrontendError;
use lockstep_protocol::build_options::{BuildOptions, Stage};
use lockstep_protocol::portable_program::{CompiledObject, LinkedProgram};

fn options(text: &str) -> BuildOptions {
    BuildOptions::parse(text, Stage::Build).unwrap()
}

fn object_with(source: &str, text: &str) -> CompiledObject {
    compile_source(&FrontendConfig::default(), source.as_bytes(), &[], &options(text))
        .unwrap_or_else(|error| panic!("{error}"))
}

fn object(source: &str) -> CompiledObject {
    object_with(source, "")
}

/// A library of one chapter with two functions that kernels call and one that nobody does.
fn small_library(symbol: &str, _: bool) -> Option<&'static [u8]> {
    static CHAPTER: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    let chapter = CHAPTER.get_or_init(|| {
        let text = r#"
            target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
            target triple = "spir64-unknown-unknown"
            declare i64 @__lockstep_global_id(i32)
            declare void @__lockstep_barrier(i32, i32) convergent nounwind
            define linkonce_odr spir_func i64 @_Z13get_global_idj(i32 %d) {
              %id = call i64 @__lockstep_global_id(i32 %d)
              ret i64 %id
            }
            define linkonce_odr spir_func void @_Z7barrierj(i32 %flags) convergent {
              call void @__lockstep_barrier(i32 %flags, i32 1) convergent
              ret void
            }
            define linkonce_odr spir_func float @_Z3sinf(float %x) {
              ret float 0.0
            }
        "#;
        let context = Context::create();
        let buffer = inkwell::memory_buffer::MemoryBuffer::create_from_memory_range_copy(
            format!("{text}\0").as_bytes(),
            "library",
        );
        let module = context.create_module_from_ir(buffer).unwrap();
        module.write_bitcode_to_memory().as_slice().to_vec()
    });
    matches!(symbol, "_Z13get_global_idj" | "_Z7barrierj" | "_Z3sinf").then_some(chapter.as_slice())
}

fn link_objects(objects: &[&CompiledObject], text: &str) -> Result<LinkedProgram, FrontendError> {
    link_with(objects, &BuildOptions::parse(text, Stage::Link).unwrap(), &small_library)
}

/// The text of the cleaned-up module.
fn ir(program: &LinkedProgram) -> String {
    let context = Context::create();
    prepare_module(&context, program).unwrap().print_to_string().to_string()
}

fn ir_of(source: &str) -> String {
    ir(&link_objects(&[&object(source)], "").unwrap_or_else(|error| panic!("{error}")))
}

/// What linking says when it fails.
fn failure(result: Result<LinkedProgram, FrontendError>) -> String {
    match result {
        Err(FrontendError::LinkFailure { log }) => log,
        Err(other) => panic!("{other:?}"),
        Ok(program) => panic!("{}", ir(&program)),
    }
}

/// The body of one function in a module's text.
fn body<'a>(text: &'a str, name: &str) -> &'a str {
    let start =
        text.lines().scan(0, |position, line| Some((std::mem::replace(position, *position + line.len() + 1), line)));
    let mut lines = start.filter(|(_, line)| line.starts_with("define") && line.contains(&format!("@{name}(")));
    let (from, _) = lines.next().unwrap_or_else(|| panic!("no {name} in {text}"));
    let length = text[from..].find("\n}").unwrap();
    &text[from..from + length]
}

#[test]
fn a_kernel_comes_out_clean() {
    let text =
        ir_of("kernel void add(global const float* a, global float* b) { size_t i = get_global_id(0); b[i] += a[i]; }");
    assert!(text.contains("spir_kernel void @add"), "{text}");
    assert!(text.contains("call i64 @__lockstep_global_id(i32 0)"), "{text}");
    assert!(!text.contains("alloca"), "{text}");
    assert!(text.contains("!kernel_arg_name"), "{text}");
}

/// What a chain reads of each loop would live until its end if the chain stood behind them all.
#[test]
fn long_functions_compute_where_the_program_does() {
    let steps: String = (0..500)
        .map(|k| format!("x = x * 0.5f + (float)n; for (int j = 0; j < (n & 3); ++j) n = n * 5 + j + {k};\n"))
        .collect();
    let text = ir_of(&format!(
        "kernel void long_chain(global float *f, global int *a) {{
            size_t i = get_global_id(0); float x = f[i]; int n = a[i];
            {steps} f[i] = x; a[i] = n; }}"
    ));
    let longest = body(&text, "long_chain").split("\n\n").map(|block| block.lines().count()).max();
    assert!(longest < Some(60), "{longest:?} lines in one block");
}

#[test]
fn only_what_is_used_of_the_library_is_linked() {
    let text = ir_of("kernel void f(global float* a) { a[get_global_id(0)] = 1.0f; }");
    assert!(!text.contains("barrier") && !text.contains("sinf"), "{text}");

    // The real library has thousands of functions.
    let program =
        link_program(&[&object("kernel void f(global float* a) { a[0] = fabs(a[1]); }")], &options("")).unwrap();
    let text = ir(&program);
    let functions = text.lines().filter(|line| line.starts_with("define") || line.starts_with("declare")).count();
    assert!(functions <= 3, "{text}");
    assert!(text.contains("llvm.fabs.f32"), "{text}");
    assert!(program.bitcode.len() < 8192, "{} bytes", program.bitcode.len());
}

#[test]
fn two_objects_make_one_program() {
    let caller = object("int twice(int x); kernel void f(global int* a) { *a = twice(*a); }");
    let callee = object("int twice(int x) { return 2 * x; } kernel void g(global int* a) { *a = twice(1); }");
    let text = ir(&link_objects(&[&caller, &callee], "").unwrap());
    assert!(text.contains("@f(") && text.contains("@g("), "{text}");
    assert!(body(&text, "f").contains("shl"), "{text}");
    assert!(!text.contains("twice"), "everything is inlined: {text}");

    let missing = failure(link_objects(&[&caller], ""));
    assert_eq!(missing, "error: undefined function 'twice', called in 'f'\n");
    let double = failure(link_objects(&[&callee, &callee], ""));
    assert!(double.contains("error") && double.contains("twice"), "{double}");
    assert!(failure(link_objects(&[], "")).contains("nothing to link"));
}

#[test]
fn a_library_may_have_open_ends_and_objects_close_them() {
    let part = object("int outer(int); int inner(int x) { return outer(x) + 1; }");
    let options = BuildOptions::parse("-create-library", Stage::Link).unwrap();
    let library = link_library(&[&part], &options).unwrap();
    assert!(library.is_library);
    let rest =
        object("int inner(int); int outer(int x) { return x * 3; } kernel void f(global int* a) { *a = inner(*a); }");
    let text = ir(&link_objects(&[&rest, &library], "").unwrap());
    assert!(body(&text, "f").contains("mul"), "{text}");
}

#[test]
fn undefined_names_are_said_once_each_as_written() {
    let source = "float far(float x); extern global int shared[];
        kernel void f(global float* a) { a[0] = far(a[0]) + far(a[1]) + shared[2]; }";
    let log = failure(link_objects(&[&object_with(source, "-cl-std=CL2.0")], ""));
    assert_eq!(log.matches("'far'").count(), 1, "{log}");
    assert!(log.contains("undefined variable 'shared'"), "{log}");
}

#[test]
fn a_program_allows_uneven_groups_when_all_its_objects_do() {
    let kernel = |version: &str| object_with("kernel void f(void) {}", version);
    let helper = |version: &str| object_with("int g(int x) { return x; }", version);
    let allowed = |objects: &[&CompiledObject]| {
        let options = BuildOptions::parse("", Stage::Link).unwrap();
        link_program(objects, &options).unwrap().options.allows_non_uniform_groups()
    };
    let (new, newer, previous) = (kernel("-cl-std=CL2.0"), helper("-cl-std=CL3.0"), helper(""));
    let strict = helper("-cl-std=CL3.0 -cl-uniform-work-group-size");
    assert!(allowed(&[&new]) && allowed(&[&new, &newer]));
    assert!(!allowed(&[&new, &previous]) && !allowed(&[&new, &strict]));
}

#[test]
fn what_no_kernel_reaches_need_not_be_defined() {
    let text =
        ir_of("float far(float x); float unused(float x) { return far(x); } kernel void f(global int* a) { *a = 1; }");
    assert!(!text.contains("far") && !text.contains("unused"), "{text}");
}

#[test]
fn kernels_may_call_kernels() {
    let text = ir_of(
        "kernel void inner(global int* a) { a[get_global_id(0)] += 1; }
         kernel void outer(global int* a) { inner(a); inner(a + 1); }",
    );
    assert!(
        !body(&text, "outer").contains("@inner") && body(&text, "outer").contains("@__lockstep_global_id"),
        "{text}"
    );
    assert!(body(&text, "inner").contains("@__lockstep_global_id"), "{text}");
}

#[test]
fn recursion_is_refused_by_name() {
    let log = failure(link_objects(
        &[&object(
            "int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); } kernel void f(global int* a) { *a = fact(*a); }",
        )],
        "",
    ));
    assert!(log.contains("recursion") && log.contains("'fact' calls itself"), "{log}");
    let log = failure(link_objects(
        &[&object(
            "int odd(int n); int even(int n) { return n == 0 ? 1 : odd(n - 1); } int odd(int n) { return n == 0 ? 0 : even(n - 1); }
             kernel void f(global int* a) { *a = even(*a); }",
        )],
        "",
    ));
    assert!(log.contains("'even' calls itself through 'odd'"), "{log}");
    let source = "#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
         int down(int n); typedef int (*step_t)(int); constant step_t steps[1] = { down };
         int down(int n) { return n == 0 ? 0 : steps[0](n - 1); }
         kernel void f(global int* a) { *a = down(*a); }";
    let options = BuildOptions::parse("-cl-std=CL3.0", Stage::Build).unwrap();
    let object = compile_source(&FrontendConfig::default(), source.as_bytes(), &[], &options).unwrap();
    let log = failure(link_objects(&[&object], ""));
    assert!(log.contains("'down' calls itself through a pointer"), "{log}");
    // Recursion that no kernel reaches is nobody's trouble.
    ir_of("int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); } kernel void f(global int* a) { *a = 1; }");
}

#[test]
fn deep_call_graphs_are_inlined() {
    let mut chain = String::from("int f0(int x) { return x + 1; }\n");
    for i in 1..600 {
        chain += &format!("int f{i}(int x) {{ return f{}(x) ^ {i}; }}\n", i - 1);
    }
    chain += "kernel void f(global int* a) { *a = f599(*a); }";
    assert!(!ir_of(&chain).contains("call"));
}

/// Functions of which each calls the one before it in two places, and a kernel that calls the last one.
fn tree_of_calls(depth: usize, leaf: &str) -> String {
    let mut source = format!("int f0(int x) {{ {leaf} return x * x + 1; }}\n");
    for level in 1..=depth {
        let below = level - 1;
        source +=
            &format!("int f{level}(int x) {{ return x & {level} ? f{below}(x + 1) : f{below}(x - 3) ^ {level}; }}\n");
    }
    source + &format!("kernel void f(global int *a) {{ *a = f{depth}(*a); }}")
}

#[test]
fn functions_stay_where_a_kernel_would_be_too_large() {
    let functions = |depth, leaf| ir_of(&tree_of_calls(depth, leaf)).matches("\ndefine ").count() - 1;
    assert_eq!([functions(3, ""), functions(9, "")], [0, 0], "small kernels have everything inlined");
    for (depth, leaf) in [(20, ""), (40, ""), (100, ""), (40, "printf(\"%d\", x);")] {
        let staying = functions(depth, leaf);
        assert!(staying > 0 && staying < depth / 2, "{staying} of {depth} functions stay");
    }
    // What may wait for others does not stay, and what counts waits for nobody.
    let link_tree = |leaf| link_program(&[&object(&tree_of_calls(40, leaf))], &options(""));
    let counting = link_tree("x += atomic_inc((volatile global int *)(size_t)x);").expect("the counter");
    assert!(ir(&counting).matches("\ndefine ").count() > 1, "no function stays");
    for leaf in ["barrier(CLK_LOCAL_MEM_FENCE);", "while (atomic_or((volatile global int *)(size_t)x, 1)) x++;"] {
        let log = failure(link_tree(leaf));
        assert!(log.contains("kernel 'f' has") && log.contains("inlined"), "{leaf}: {log}");
    }
}

#[test]
fn functions_stay_where_kernels_call_them_at_many_places() {
    let statements: String = (1..120).map(|number| format!("x = x * {number} ^ (x >> 3); ")).collect();
    let calls: String = (0..6000).map(|number| format!("sum += g(sum + {number}); ")).collect();
    let source = format!(
        "int g(int x) {{ {statements} return x; }} kernel void f(global int *a) {{ int sum = *a; {calls} *a = sum; }}"
    );
    let text = ir_of(&source);
    assert_eq!(text.matches("\ndefine ").count(), 2, "the kernel is large by its calls alone, and they help");
    assert_eq!(text.matches("call ").count(), 6000);
}

/// Of which all functions together have 54 million instructions once everything is inlined into each.
#[test]
fn chains_of_calls_are_inlined_into_their_kernel_alone() {
    const LENGTH: usize = 4500;
    let mut source = "int f0(int x) { return x; }\n".to_owned();
    for number in 1..=LENGTH {
        source += &format!("int f{number}(int x) {{ return f{}(x * 3 ^ {number}); }}\n", number - 1);
    }
    source += &format!("kernel void f(global int *a) {{ *a = f{LENGTH}(*a); }}");
    let text = ir_of(&source);
    assert_eq!(text.matches(" = xor i32 ").count(), LENGTH);
    assert_eq!(text.matches("define ").count(), 1);
}

/// Names that are there for other modules hold nothing up.
#[test]
fn used_annotated_and_aliased_functions_are_inlined() {
    for function in [
        "__attribute__((used)) int g(int x) { return x * 7; }",
        "__attribute__((annotate(\"note\"))) int g(int x) { return x * 7; }",
        "int first(int x) { return x * 7; } int g(int x) __attribute__((alias(\"first\")));",
        "__attribute__((weak)) int g(int x) { return x * 7; }",
    ] {
        let text = ir_of(&format!("{function} kernel void f(global int* a) {{ *a = g(*a); }}"));
        assert!(body(&text, "f").contains("mul"), "{text}");
        assert_eq!(text.matches("define ").count(), 1, "{text}");
    }
}

#[test]
fn what_is_never_called_need_not_be_defined() {
    let text = ir_of(
        "int missing(int x); int g(int x) { return missing(x) + 1; }
         kernel void f(global int* a) { const int debug = 0; int wanted = debug; if (wanted) *a = g(*a); else *a = 3; }",
    );
    assert!(!text.contains("missing"), "{text}");
}

#[test]
fn noinline_is_no_obstacle() {
    let text = ir_of(
        "__attribute__((noinline)) int g(int x) { return x * 7; }
         kernel void f(global int* a) { *a = g(*a); }",
    );
    assert!(body(&text, "f").contains("mul"), "{text}");
}

/// A barrier is one instruction at one place: not copied into both arms, not moved, not merged.
#[test]
fn barriers_stay_where_they_are() {
    let text = ir_of(
        "kernel void f(global int* a, int n) {
           if (n > 3) { barrier(CLK_LOCAL_MEM_FENCE); a[0] = 1; } else { a[1] = 2; barrier(CLK_LOCAL_MEM_FENCE); }
           for (int i = 0; i < n; i++) { if (a[i] == 7) break; barrier(CLK_GLOBAL_MEM_FENCE); a[i] = i; }
         }",
    );
    let barriers = text.matches("call void @__lockstep_barrier").count();
    assert_eq!(barriers, 3, "{text}");
    let convergent =
        text.lines().find(|line| line.starts_with("declare") && line.contains("@__lockstep_barrier")).unwrap();
    let group = &convergent[convergent.find('#').unwrap()..].trim_end();
    let attributes = text.lines().find(|line| line.starts_with(&format!("attributes {group} "))).unwrap();
    assert!(attributes.contains("convergent"), "{attributes}");
}

/// The same for a loop so short that anything but a barrier would be unrolled or rotated apart.
#[test]
fn barriers_in_short_loops_are_not_copied() {
    let text = ir_of(
        "kernel void f(global int* a) { for (int i = 0; i < 2; i++) { a[i] = i; barrier(CLK_LOCAL_MEM_FENCE); } }",
    );
    assert_eq!(text.matches("call void @__lockstep_barrier").count(), 1, "{text}");
}

/// At a barrier other work-items write what a `restrict` pointer points to.
#[test]
fn loads_through_restrict_pointers_do_not_cross_barriers() {
    let text = ir_of(
        "kernel void f(local int* restrict t, global int* restrict out) {
           size_t i = get_global_id(0);
           t[i] = 5;
           barrier(CLK_LOCAL_MEM_FENCE);
           out[i] = t[i];
         }",
    );
    let text = body(&text, "f");
    let barrier = text.find("call void @__lockstep_barrier").unwrap();
    assert!(text[barrier..].contains("load i32"), "the value was taken over the barrier: {text}");
    assert!(text[..barrier].contains("store i32 5"), "{text}");
}

/// Nor may a store before a barrier be dropped because the same work-item overwrites it afterwards.
#[test]
fn stores_before_barriers_are_kept() {
    let text = ir_of(
        "kernel void f(local int* restrict t, global int* restrict out) {
           size_t i = get_global_id(0);
           t[i] = 5;
           barrier(CLK_LOCAL_MEM_FENCE);
           out[i] = t[i ^ 1];
           barrier(CLK_LOCAL_MEM_FENCE);
           t[i] = 6;
           barrier(CLK_LOCAL_MEM_FENCE);
           out[i] += t[i ^ 1];
         }",
    );
    assert!(text.contains("store i32 5") && text.contains("store i32 6"), "{text}");
}

/// Cycles with several entries are imported as they are and get one entry when a program is loaded.
#[test]
fn jumps_into_loops_stay_until_loaded() {
    let source = object(
        "kernel void f(global int* a, int n) {
           int i = 0;
           if (n > 5) goto middle;
         top:
           a[i] += 1;
         middle:
           i++;
           a[i] *= 2;
           if (i < n) goto top;
         }",
    );
    let program = link_objects(&[&source], "").unwrap_or_else(|error| panic!("{error}"));
    let count_irreducible_edges = |module: &Module| {
        let graph = build_cfg(module.kernels[0].body());
        find_loops(&graph, &compute_dominators(&graph)).irreducible_edges().len()
    };
    let imported = lockstep_compiler::import::import_linked(&program).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(count_irreducible_edges(&imported), 1, "{imported}");
    let loaded = load(&program).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(count_irreducible_edges(&loaded), 0, "{loaded}");
}

/// Code refers to variables and formats by numbers that the whole program gave them.
#[test]
fn a_kernel_that_is_loaded_alone_is_that_of_the_whole_program() {
    let source = object_with(
        "global int counter = 3;
         constant int first[4] = {1, 2, 3, 4};
         constant int second[4] = {5, 6, 7, 8};
         kernel void f(global int* a) { a[0] = second[a[1] & 3]; printf(\"%d\\n\", a[0]); }
         kernel void g(global int* a) { a[0] = counter + first[a[1] & 3]; }
         kernel void h(global int* a) { printf(\"%f %s\\n\", 1.5f, \"text\"); printf(\"%d\\n\", counter); }",
        "-cl-std=CL3.0",
    );
    let program = link_objects(&[&source], "").unwrap_or_else(|error| panic!("{error}"));
    let whole = load(&program).unwrap_or_else(|error| panic!("{error}"));
    let variables: Vec<_> = whole.globals.values().cloned().collect();
    let formats: Vec<_> = whole.formats.values().cloned().collect();
    assert!(variables.len() >= 3 && formats.len() == 2);
    for (index, kernel) in whole.kernels.iter().enumerate() {
        let alone =
            import_linked_kernel(&program, index, &variables, &formats).unwrap_or_else(|error| panic!("{error}"));
        assert!(alone.is_some(), "{}: it is found by itself", kernel.name);
        let alone = load_kernel(&program, index, &variables, &formats, None).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(alone.kernels.len(), 1);
        assert_eq!(alone.kernels[0].to_string(), kernel.to_string());
        assert!(alone.globals.values().eq(&variables) && alone.formats.values().eq(&formats));
    }
    assert!(load_kernel(&program, 3, &variables, &formats, None).is_err());
    // With other tables than the program's it is loaded as a whole.
    let alone = load_kernel(&program, 1, &[], &[], None).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(alone.kernels[0].to_string(), whole.kernels[1].to_string());
}

#[test]
fn switches_stay_switches_and_returns_become_one() {
    let text = ir_of(
        "kernel void f(global int* a) {
           switch (a[0]) {
             case 0: a[1] = a[2] * 3; return;
             case 1: a[2] = a[3] / 5; return;
             case 2: a[3] = a[1] % 7; return;
             case 3: a[4] = a[1] + 7; return;
             default: a[5] = a[1] ^ 7; return;
           }
         }",
    );
    let text = body(&text, "f");
    assert!(text.contains("switch i32"), "{text}");
    assert_eq!(text.matches("ret void").count(), 1, "{text}");
    assert_eq!(
        ir_of("kernel void f(global int* a) { const int t[4] = {3, 1, 4, 1}; *a = t[*a & 3]; }")
            .matches("switch")
            .count(),
        0
    );
}

#[test]
fn generic_pointers_get_their_address_space_back() {
    let source = "int sum(int* p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }
        kernel void f(global int* a, local int* b, int n) { a[0] = sum(a, n) + sum(b, n); }";
    let program = link_objects(&[&object_with(source, "-cl-std=CL2.0")], "").unwrap();
    let text = ir(&program);
    assert!(!body(&text, "f").contains("addrspace(4)"), "{text}");
    assert!(body(&text, "f").contains("load i32, ptr addrspace(3)"), "{text}");
}

/// A loop of a few rounds that are known is written out, any other stays as it is.
#[test]
fn loops_stay_but_for_those_of_few_known_rounds() {
    for (rounds, copies) in [("8", 8), ("1000", 1), ("n", 1)] {
        let text = ir_of(&format!(
            "kernel void f(global float* a, global float* b, int n) {{
               for (int i = 0; i < {rounds}; i++) a[i] = b[i] + 1.0f;
             }}"
        ));
        assert_eq!(text.matches("fadd float").count(), copies, "{rounds}: {text}");
        assert!(!text.contains("x float>"), "{text}");
    }
}

/// LLVM's passes over loops take time in the square of how many there are: with hundreds, loops keep their form.
#[test]
fn hundreds_of_loops_keep_their_form() {
    for (loops, kept) in [(20, false), (400, true)] {
        let each = "for (int i = 0; i < 3; i++) x = x * 0.5f + a[i];\n".repeat(loops);
        let text = ir_of(&format!("kernel void f(global float* a) {{ float x = 1.0f; {each} a[9] = x; }}"));
        let branches = text.matches("br i1").count();
        assert_eq!(branches, if kept { loops } else { 0 }, "{loops}");
    }
}

/// An event is of a type that is neither a number nor an address.
#[test]
fn large_functions_may_have_variables_of_any_type() {
    let steps = "{ int j; for (j = 0; j < (n & 3); ++j) if (c & 5) c += j; }\n".repeat(400);
    let text = ir_of(&format!(
        "kernel void f(global int *g, int n) {{ event_t e = 0, other = 0; int c = 0;
            if (n & 1) e = other; {steps} if (n & 2) other = e; g[0] = c; }}"
    ));
    assert_eq!(text.matches("alloca").count(), 0, "{text}");
}

/// What a private array holds is values once the loops over it are written out.
#[test]
fn private_arrays_of_short_loops_become_values() {
    let text = ir_of(
        "kernel void f(global float* a, int n) {
           float sums[4];
           for (int k = 0; k < 4; k++) sums[k] = 0.0f;
           for (int i = 0; i < n; i++) for (int k = 0; k < 4; k++) sums[k] += a[4 * i + k];
           for (int k = 0; k < 4; k++) a[k] = sums[k];
         }",
    );
    assert!(!text.contains("alloca"), "{text}");
}

#[test]
fn without_optimisation_everything_is_still_inlined() {
    let source = "int g(int x) { return x + 1; } kernel void f(global int* a) { a[get_global_id(0)] = g(*a); }";
    let text = ir(&link_objects(&[&object_with(source, "-cl-opt-disable")], "").unwrap());
    assert!(!text.contains("alloca") && !text.contains("@g("), "{text}");
}

#[test]
fn printf_is_left_to_the_importer() {
    let text = ir_of("kernel void f(global int* a) { printf(\"x\\n\"); printf(\"%d\\n\", *a); }");
    assert_eq!(body(&text, "f").matches("@printf").count(), 2, "{text}");
    assert!(!text.contains("puts"), "{text}");
}

#[test]
fn program_scope_variables_survive() {
    let source = "global int counter = 5; constant int table[2] = {1, 2}; global int unused; static global int hidden;
        kernel void f(global int* a) { a[0] = counter++; a[1] = table[a[2]]; }";
    let text = ir(&link_objects(&[&object_with(source, "-cl-std=CL2.0")], "").unwrap());
    assert!(text.contains("@counter = addrspace(1) global i32 5"), "{text}");
    // The host may ask for a variable that no kernel uses, but not for one whose name nobody else knows.
    assert!(text.contains("@unused = addrspace(1) global i32 0") && !text.contains("@hidden"), "{text}");
    assert!(text.contains("@table = internal"), "{text}");
}

#[test]
fn source_lines_are_kept_when_asked_for() {
    let source = "kernel void f(global int* a) { *a = *a / 3; }";
    assert!(!ir(&link_objects(&[&object(source)], "").unwrap()).contains("!DILocation"));
    let text = ir(&link_objects(&[&object_with(source, "-g")], "").unwrap());
    assert!(text.contains("!DILocation(line: 1") && text.contains("filename: \"program.cl\""), "{text}");
}

#[test]
fn constructors_are_refused() {
    let source = "struct S { int x; S(int y) { x = y; } }; S make(int); S s = make(2);
        kernel void f(global int* a) { *a = s.x; }";
    let log = failure(link_objects(&[&object_with(source, "-cl-std=CLC++")], ""));
    assert!(log.contains("constructors"), "{log}");
}

#[test]
fn templates_and_classes_become_plain_code() {
    let source = "template <typename T> T half_of(T x) { return x / 2; }
        class Pair { public: int a, b; Pair(int x) : a(x), b(half_of(x)) {} int sum() const { return a + b; } };
        kernel void f(global int* p) { Pair pair(p[0]); p[1] = pair.sum() + (int)half_of(2.5f * p[2]); }";
    for flags in ["-cl-std=CLC++", "-cl-std=CLC++2021", "-x clc++", "-cl-std=CLC++ -cl-opt-disable"] {
        let text = ir(&link_objects(&[&object_with(source, flags)], "").unwrap_or_else(|error| panic!("{error}")));
        assert!(!text.contains("call") && !text.contains("half_of"), "{flags}: {text}");
    }
}

/// C's `inline` without `static` leaves the choice of definition to the compiler; there is only one here.
#[test]
fn inline_functions_are_definitions() {
    let source = "inline int g(int x) { return x * 9; } kernel void f(global int* a) { *a = g(*a); }";
    for flags in ["", "-cl-opt-disable"] {
        let text = ir(&link_objects(&[&object_with(source, flags)], "").unwrap());
        assert!(body(&text, "f").contains("mul"), "{text}");
    }
}

/// SPIR is read by the child process, whatever it may contain.
#[test]
fn spir_takes_the_same_road() {
    let spir = object("kernel void f(global int* a) { a[get_global_id(0)] = 3; }").bitcode;
    let config = FrontendConfig::default();
    let again = compile_source(&config, &spir, &[], &options("-x spir -spir-std=1.2"))
        .unwrap_or_else(|error| panic!("{error}"));
    let text = ir(&link_objects(&[&again], "").unwrap());
    assert!(body(&text, "f").contains("store i32 3"), "{text}");
    for broken in [&spir[..spir.len() / 2], b"BC\xc0\xde", b"no bitcode at all", b""] {
        match compile_source(&config, broken, &[], &options("-x spir")) {
            Err(FrontendError::CompileFailure { .. } | FrontendError::FrontendCrashed { .. }) => {}
            other => panic!("{:?}", other.map(|object| object.bitcode.len())),
        }
    }
    // Every byte of the first part damaged in turn: an error or a program, and this process lives.
    for position in (0..spir.len().min(2000)).step_by(97) {
        let mut damaged = spir.clone();
        damaged[position] ^= 0x55;
        if let Ok(object) = compile_source(&config, &damaged, &[], &options("-x spir")) {
            let _ = link_objects(&[&object], "");
        }
    }
}

#[test]
fn what_is_no_bitcode_does_not_link() {
    for bitcode in [&b""[..], b"BC\xc0\xde", b"text"] {
        let object = CompiledObject { bitcode: bitcode.to_vec(), ..object("kernel void f() {}") };
        assert!(failure(link_objects(&[&object], "")).contains("not LLVM bitcode"));
    }
}

#[test]
fn programs_survive_the_way_through_a_binary() {
    use lockstep_runtime::program::binary::{Binary, Image};
    let program = link_objects(&[&object("kernel void f(global int* a) { *a = 1; }")], "").unwrap();
    let image = Image { linked: program.clone(), outline: None, code: Vec::new() };
    let Ok(Binary::Program(back)) = Binary::from_bytes(&Binary::Program(image).to_bytes("this build"), "this build")
    else {
        panic!("not a program")
    };
    assert_eq!(ir(&back.linked), ir(&program));
}

#[test]
fn programs_link_on_many_threads() {
    let object = object("kernel void f(global float* a) { a[get_global_id(0)] = sin(a[0]) + exp(a[1]); }");
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..4).map(|_| scope.spawn(|| ir(&link_program(&[&object], &options("")).unwrap()))).collect();
        let texts: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert!(texts.windows(2).all(|pair| pair[0] == pair[1]));
    });
}
