//! What debuggers learn of code: that asking for it leaves the code as it is, and where names and lines come from.

use lockstep_compiler::frontend::{FrontendConfig, compile_source, link_program};
use lockstep_compiler::pipeline::{compile_kernel, load};
use lockstep_ir::ir::{Definition, Module};
use lockstep_protocol::build_options::{BuildOptions, Stage};
use lockstep_protocol::compile_options::{CompileOptions, Tier, Vectorize};
use lockstep_protocol::configuration::{Gangs, Versions};
use lockstep_protocol::debug_object::DebugObject;
use lockstep_protocol::job::Header;
use object::{Object, ObjectSection, ObjectSymbol};

/// A kernel in two regions, with a divergent loop, a scatter and an atomic operation.
const SOURCE: &str = "kernel void mix(global float *out, global const int *steps, global int *count, float x) {
    local float shared[64];
    size_t id = get_global_id(0);
    for (int i = 0; i < steps[id]; ++i)
        x = x * 1.5f - sqrt(fabs(x));
    shared[get_local_id(0)] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x > 3)
        atomic_inc(count);
    out[steps[id]] = shared[63 - get_local_id(0)];
}
";

fn build(source: &str, headers: &[Header]) -> Module {
    let config = FrontendConfig { source_lines: true, ..FrontendConfig::default() };
    let options = BuildOptions::parse("-cl-std=CL3.0", Stage::Build).unwrap();
    let object =
        compile_source(&config, source.as_bytes(), headers, &options).unwrap_or_else(|error| panic!("{error}"));
    let program = link_program(&[&object], &options).unwrap_or_else(|error| panic!("{error}"));
    load(&program).unwrap_or_else(|error| panic!("{error}"))
}

/// The functions of an object for debuggers.
fn list_functions(debug_object: &DebugObject) -> Vec<String> {
    let file = object::File::parse(&*debug_object.bytes).unwrap();
    let functions = file.symbols().filter(|symbol| symbol.kind() == object::SymbolKind::Text);
    let mut names: Vec<String> = functions.map(|symbol| symbol.name().unwrap().to_owned()).collect();
    names.sort();
    names
}

/// Compiles a program's first kernel with and without debug information, which is given.
fn compile_both_ways(module: &Module, options: &CompileOptions) -> DebugObject {
    let compiled = [false, true].map(|debug| {
        let options = CompileOptions { debug, ..options.clone() };
        compile_kernel(module, 0, &options).unwrap_or_else(|error| panic!("{error}")).object
    });
    let [plain, known] = compiled;
    assert_eq!(plain.image, known.image, "debug information changes the code: {options:?}");
    assert!(plain.debug_object.is_none());
    let debug_object = *known.debug_object.unwrap();
    assert_eq!(debug_object.check_bounds(known.image.bytes.len()), Ok(()));
    debug_object
}

#[test]
fn debug_information_leaves_code_as_it_is() {
    let module = build(SOURCE, &[]);
    let gangs = [4, 16].map(|width| Vectorize::Gangs(Gangs::of_width(width)));
    for vectorize in [Vectorize::Scalar, gangs[0], gangs[1]] {
        for tier in [Tier::Baseline, Tier::Optimized] {
            for opt_disable in [false, true] {
                let options = CompileOptions { vectorize, tier, opt_disable, ..CompileOptions::default() };
                let debug_object = compile_both_ways(&module, &options);
                // Gangs are called by a function that aligns the stack.
                let names = if vectorize == Vectorize::Scalar { &["mix"][..] } else { &["lockstep_kernel", "mix"] };
                assert_eq!(list_functions(&debug_object), names);
                assert!(debug_object.variant_name.starts_with("mix ["), "{}", debug_object.variant_name);
            }
        }
    }
}

#[test]
fn regions_that_are_functions_are_parts_of_the_kernel() {
    let module = build(SOURCE, &[]);
    let options = CompileOptions { region_functions: Versions::Always, ..CompileOptions::default() };
    let debug_object = compile_both_ways(&module, &options);
    assert_eq!(list_functions(&debug_object), ["mix", "region_0", "region_1"]);
    let file = object::File::parse(&*debug_object.bytes).unwrap();
    let names = file.section_by_name(".debug_str").unwrap().data().unwrap();
    for name in ["mix", "mix.region_0", "mix.region_1", "program.cl"] {
        assert!(names.split(|&byte| byte == 0).any(|known| known == name.as_bytes()), "{name}");
    }
}

#[test]
fn a_kernel_with_the_name_of_an_imported_function_calls_that() {
    let module = build("kernel void memset(global int *a, int n) { for (int i = 0; i < n; ++i) a[i] = 0; }", &[]);
    let debug_object = compile_both_ways(&module, &CompileOptions::default());
    assert!(!list_functions(&debug_object).contains(&"lockstep_kernel.1".to_owned()));
    assert!(list_functions(&debug_object).contains(&"lockstep_kernel".to_owned()));
}

#[test]
fn what_is_inlined_from_a_header_has_the_place_of_its_call() {
    let header = format!("{}int third(int value) {{ return value / 3; }}\n", "\n".repeat(20));
    let source = "#include \"third.h\"\nkernel void f(global int *a) {\n    *a = third(*a);\n}\n";
    let module = build(source, &[Header::new("third.h", header.as_bytes())]);
    let kernel = &module.kernels[0];
    let text = kernel.to_string();
    assert!(text.contains(" @3:") && !text.contains(" @21:"), "{text}");
    let Definition { file, line, .. } = kernel.definition.as_ref().unwrap();
    assert_eq!((&**file, *line), ("program.cl", 2));
}
