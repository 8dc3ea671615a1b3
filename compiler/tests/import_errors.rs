//! What import refuses: the reason, the function and the line. Nothing here may crash.

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use lockstep_compiler::import::{ImportError, import_module};

const HEADER: &str = "\
target datalayout = \"e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1\"
target triple = \"spir64-unknown-unknown\"
";

fn refusal(text: &str) -> ImportError {
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(format!("{HEADER}{text}\0").as_bytes(), "test");
    let module = context.create_module_from_ir(buffer).unwrap_or_else(|error| panic!("{error}\n{text}"));
    match import_module(&module) {
        Ok(module) => panic!("imported\n{text}\nas\n{module}"),
        Err(error) => error,
    }
}

/// Refused with these words in the reason.
fn refused(text: &str, words: &str) {
    let error = refusal(text);
    assert!(error.reason.contains(words), "{error}\nwhere `{words}` is expected of\n{text}");
}

/// A kernel of these lines with a pointer argument `%p`.
fn kernel(lines: &str) -> String {
    format!("define spir_kernel void @k(ptr addrspace(1) %p) {{\n{lines}\n  ret void\n}}")
}

#[test]
fn calls_that_cannot_be_made() {
    let call = kernel("  %x = call spir_func float @_Z6lgammaf(float 1.0)");
    refused(
        &format!("declare spir_func float @_Z6lgammaf(float)\n{call}"),
        "the function lgamma (_Z6lgammaf) is not defined",
    );
    let call = kernel("  call spir_func void @missing()");
    refused(&format!("declare spir_func void @missing()\n{call}"), "the function missing is not defined");
    let call = kernel("  call spir_func void @_Z3runi(i32 3)");
    let body = "define spir_func void @_Z3runi(i32 %n) {\n  call spir_func void @_Z3runi(i32 %n)\n  ret void\n}";
    refused(&format!("{body}\n{call}"), "run calls itself");
    refused(&kernel("  %f = load ptr, ptr addrspace(1) %p\n  call void %f()"), "function pointer");
    refused(&kernel("  call void asm sideeffect \"nop\", \"\"()"), "inline assembly");
    refused(
        &format!("declare void @__lockstep_frobnicate(i32)\n{}", kernel("  call void @__lockstep_frobnicate(i32 0)")),
        "__lockstep_frobnicate is not known",
    );
    let primitive = |result: &str, operand: &str| {
        let call = format!("  %x = call {result} @__lockstep_recip_estimate({operand} 1.0)");
        format!("declare {result} @__lockstep_recip_estimate({operand})\n{}", kernel(&call))
    };
    refused(&primitive("double", "double"), "__lockstep_recip_estimate is not for f64");
    refused(&primitive("double", "float"), "__lockstep_recip_estimate does not return what it is");
    let call = "  %x = call double @__lockstep_scaled_double(double 1.0, float 1.0, double 1.0)";
    refused(
        &format!("declare double @__lockstep_scaled_double(double, float, double)\n{}", kernel(call)),
        "__lockstep_scaled_double is not for f32",
    );
    refused(
        &format!("declare i64 @llvm.readcyclecounter()\n{}", kernel("  %t = call i64 @llvm.readcyclecounter()")),
        "the intrinsic llvm.readcyclecounter is not supported",
    );
    let address = "  store ptr @k, ptr addrspace(1) %p";
    refused(&kernel(address), "the address of the function k");
}

#[test]
fn types_we_do_not_have() {
    refused(&kernel("  %x = load fp128, ptr addrspace(1) %p"), "fp128");
    refused(&kernel("  %x = load i129, ptr addrspace(1) %p"), "an integer of 129 bits");
    refused(&kernel("  %x = load bfloat, ptr addrspace(1) %p"), "bfloat");
    refused(&kernel("  %x = load ptr addrspace(7), ptr addrspace(1) %p"), "address space 7");
    refused(&kernel("  %x = load [5000 x i32], ptr addrspace(1) %p"), "an array of 5000 elements");
    refused(&kernel("  %x = load <5000 x i32>, ptr addrspace(1) %p"), "a vector of 5000 elements");
    refused(&kernel("  %x = load [70 x [70 x i8]], ptr addrspace(1) %p"), "more than 4096 scalars");
}

#[test]
fn arguments_we_do_not_have() {
    let with = |argument: &str| format!("define spir_kernel void @k({argument} %a) {{\n  ret void\n}}");
    refused(
        &with("target(\"spirv.Image\", void, 1, 0, 0, 0, 0, 0, 0)"),
        "argument 0: an image or a sampler of another form",
    );
    refused(&with("target(\"spirv.Sampler\")"), "argument 0: an image or a sampler of another form");
    refused(&with("target(\"spirv.Pipe\", 0)"), "argument 0: pipes");
    refused(&with("ptr"), "not global, constant or local");
    refused(&with("ptr addrspace(4)"), "not global, constant or local");
    refused(&with("i1"), "an integer of 1 bits");
    refused(&with("ptr byval([100000 x i8])"), "more than 65536 bytes");
    let empty = "define spir_kernel void @k() !reqd_work_group_size !0 {\n  ret void\n}\n!0 = !{i32 8, i32 0, i32 1}";
    refused(empty, "reqd_work_group_size(8,0,1) asks for empty work-groups");
    let of_four = "define spir_kernel void @k() !intel_reqd_sub_group_size !0 {\n  ret void\n}\n!0 = !{i32 4}";
    refused(of_four, "intel_reqd_sub_group_size(4) asks for sub-groups that are not of 8, 16 or 32 work-items");
    let previous = "define spir_kernel void @k(ptr addrspace(1) %a) !kernel_arg_base_type !0 {\n  ret void\n}\n";
    refused(&format!("{previous}!0 = !{{!\"image2d_t\"}}"), "argument 0 is an image in the form of SPIR 1.2");
    refused(&format!("{previous}!0 = !{{!\"sampler_t\"}}"), "argument 0 is an image or a sampler of another form");
}

#[test]
fn instructions_we_do_not_have() {
    refused(
        &kernel("  %n = load i32, ptr addrspace(1) %p\n  %a = alloca i8, i32 %n"),
        "a private array whose size is not known",
    );
    refused(&kernel("  %a = alloca [4294967296 x i8]"), "a private array of 4294967296 bytes");
    refused(&kernel("  %a = alloca [4294967296 x i64], i64 4294967296"), "a private array of");
    refused(&kernel("  %a = atomicrmw uinc_wrap ptr addrspace(1) %p, i32 3 seq_cst"), "uinc_wrap");
    refused(&kernel("  %a = atomicrmw nand ptr addrspace(1) %p, i32 3 seq_cst"), "nand");
    refused(&kernel("  %a = va_arg ptr addrspace(1) %p, i32"), "va_arg");
    refused(
        "define spir_kernel void @k(ptr addrspace(1) %p) {
  %t = load ptr, ptr addrspace(1) %p
  indirectbr ptr %t, [label %a]
a:
  ret void
}",
        "indirectbr",
    );
    refused(
        "declare void @llvm.trap()
define spir_kernel void @k(ptr addrspace(1) %p) {
  call void @llvm.trap()
  store i8 1, ptr addrspace(1) %p
  unreachable
}",
        "a trap that execution goes on behind",
    );
}

#[test]
fn variables_we_do_not_have() {
    let load = |variable: &str| kernel(&format!("  %x = load i32, ptr{variable}"));
    refused(
        &format!("@v = external addrspace(1) global i32\n{}", load(" addrspace(1) @v")),
        "the variable v is declared but not defined",
    );
    refused(&format!("@v = internal global i32 0\n{}", load(" @v")), "in private memory at program scope");
    refused(
        &format!("@v = internal addrspace(3) global i32 4\n{}", load(" addrspace(3) @v")),
        "the local variable v has an initialiser",
    );
    refused(&format!("@v = internal addrspace(9) global i32 4\n{}", load(" addrspace(9) @v")), "address space 9");
    refused(&format!("@v = thread_local addrspace(1) global i32 4\n{}", load(" addrspace(1) @v")), "thread-local");
    refused(
        "@l = internal addrspace(3) global i32 undef
@v = addrspace(1) global ptr addrspace(3) @l",
        "in local memory at program scope",
    );
    refused(
        "@v = addrspace(1) global [8 x [1073741824 x i32]] zeroinitializer",
        "with v of 34359738368 bytes the program's variables take more than",
    );
    refused(
        "define internal void @f() {\n  ret void\n}\n@v = addrspace(1) global ptr @f",
        "the initialiser of v: the address of the function f",
    );
}

#[test]
fn formats_that_are_not_known() {
    let printf = "declare i32 @printf(ptr addrspace(2), ...)\n";
    refused(
        &format!(
            "{printf}{}",
            kernel(
                "  %f = load ptr addrspace(2), ptr addrspace(1) %p
  %x = call i32 (ptr addrspace(2), ...) @printf(ptr addrspace(2) %f)"
            )
        ),
        "printf's format is not a string literal",
    );
    refused(
        &format!(
            "@f = internal addrspace(2) constant [2 x i8] c\"ab\"\n{printf}{}",
            kernel("  %x = call i32 (ptr addrspace(2), ...) @printf(ptr addrspace(2) @f)")
        ),
        "printf's format is not a string literal",
    );
}

#[test]
fn the_place_is_told() {
    let error = refusal(
        "declare void @missing()
define spir_kernel void @first(ptr addrspace(1) %p) !dbg !4 {
  store i32 1, ptr addrspace(1) %p, !dbg !7
  call void @missing(), !dbg !8
  ret void
}
define spir_kernel void @second(ptr %p) !dbg !9 {
  ret void
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: \"a.cl\", directory: \"/\")
!2 = !{i32 2, !\"Debug Info Version\", i32 3}
!4 = distinct !DISubprogram(name: \"first\", file: !1, line: 10, type: !5, unit: !0)
!5 = !DISubroutineType(types: !6)
!6 = !{}
!7 = !DILocation(line: 11, column: 3, scope: !4)
!8 = !DILocation(line: 12, column: 5, scope: !4)
!9 = distinct !DISubprogram(name: \"second\", file: !1, line: 20, type: !5, unit: !0)
",
    );
    assert_eq!((error.function.as_str(), error.line), ("first", 12));
    assert_eq!(error.to_string(), "line 12: in first: the function missing is not defined");
}

#[test]
fn a_signature_is_refused_at_its_line() {
    let error = refusal(
        "define spir_kernel void @second(ptr %p) !dbg !9 {
  ret void
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: \"a.cl\", directory: \"/\")
!2 = !{i32 2, !\"Debug Info Version\", i32 3}
!5 = !DISubroutineType(types: !6)
!6 = !{}
!9 = distinct !DISubprogram(name: \"second\", file: !1, line: 20, type: !5, unit: !0)
",
    );
    assert_eq!((error.function.as_str(), error.line), ("second", 20));
}

#[test]
fn a_module_that_llvm_refuses_is_refused() {
    let context = Context::create();
    let module = context.create_module("broken");
    let function = module.add_function("k", context.void_type().fn_type(&[], false), None);
    function.set_call_conventions(76);
    let block = context.append_basic_block(function, "entry");
    let builder = context.create_builder();
    builder.position_at_end(block);
    builder.build_alloca(context.i32_type(), "a").unwrap();
    let error = import_module(&module).unwrap_err();
    assert!(error.reason.starts_with("the module is broken"), "{error}");
}
