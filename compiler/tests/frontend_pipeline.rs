//! From source text to a cleaned-up module, with the real clang.

use inkwell::context::Context;
use lockstep_compiler::frontend::options::{BuildOptions, Stage};
use lockstep_compiler::frontend::{
    CompiledObject, FrontendConfig, FrontendError, Header, LinkedProgram, compile, link_with, prepare,
};

fn options(text: &str) -> BuildOptions {
    BuildOptions::parse(text, Stage::Build).unwrap()
}

fn compile_with(source: &str, text: &str, headers: &[Header<'_>]) -> Result<CompiledObject, FrontendError> {
    compile(&FrontendConfig::default(), source.as_bytes(), headers, &options(text))
}

fn object(source: &str) -> CompiledObject {
    compile_with(source, "", &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// A library of one chapter with two functions that kernels call and one that nobody does.
fn small_library(symbol: &str) -> Option<&'static [u8]> {
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
    prepare(&context, program).unwrap().print_to_string().to_string()
}

fn ir_of(source: &str) -> String {
    ir(&link_objects(&[&object(source)], "").unwrap_or_else(|error| panic!("{error}")))
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
