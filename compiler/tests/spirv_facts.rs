//! What a module says of its values and its memory reaches LLVM's passes, in LLVM's own words; what nobody uses is not computed.

use inkwell::context::Context;
use lockstep_compiler::frontend::spirv::{TextOptions, translate_module};
use lockstep_compiler::frontend::{FrontendConfig, compile_spirv, link_program, prepare_module};
use lockstep_protocol::build_options::BuildOptions;
use lockstep_spirv_assembler::assemble_module;

const HEAD: &str = "
    OpCapability Addresses
    OpCapability Kernel
    OpCapability Int64
    OpCapability Linkage
    OpCapability ExpectAssumeKHR
    OpCapability MemoryAccessAliasingINTEL
    OpCapability UnstructuredLoopControlsINTEL
    OpCapability ArithmeticFenceEXT
    OpExtension \"SPV_KHR_expect_assume\"
    OpExtension \"SPV_INTEL_memory_access_aliasing\"
    OpExtension \"SPV_INTEL_unstructured_loop_controls\"
    OpExtension \"SPV_EXT_arithmetic_fence\"
    OpMemoryModel Physical64 OpenCL
    OpEntryPoint Kernel %f \"facts\" %ids
    OpDecorate %ids BuiltIn GlobalInvocationId
    OpDecorate %sum NoSignedWrap
    OpDecorate %shifted NoUnsignedWrap
    OpDecorate %p FuncParamAttr NoAlias
    OpDecorate %p FuncParamAttr NoCapture
    OpDecorate %p Alignment 64
    OpDecorate %q FuncParamAttr NoWrite
    OpDecorate %r FuncParamAttr NoReadWrite
    OpDecorate %r FuncParamAttr NoWrite
    %domain = OpAliasDomainDeclINTEL
    %scope = OpAliasScopeDeclINTEL %domain
    %list = OpAliasScopeListDeclINTEL %scope
    %void = OpTypeVoid
    %bool = OpTypeBool
    %int = OpTypeInt 32 0
    %long = OpTypeInt 64 0
    %long3 = OpTypeVector %long 3
    %pointer = OpTypePointer CrossWorkgroup %int
    %input = OpTypePointer Input %long3
    %type = OpTypeFunction %void %pointer %pointer %pointer
    %one = OpConstant %int 1
    %many = OpConstant %int 60
    %float = OpTypeFloat 32
    %float3 = OpTypeVector %float 3
    %real = OpConstant %float 1.5
    %reals = OpConstantComposite %float3 %real %real %real
    %ids = OpVariable %input Input
    %f = OpFunction %void None %type
    %p = OpFunctionParameter %pointer
    %q = OpFunctionParameter %pointer
    %r = OpFunctionParameter %pointer
    %start = OpLabel";

/// A module whose kernel does this in its first block, and then ends.
fn assemble(body: &str) -> Vec<u8> {
    assemble_module(&format!("{HEAD}\n{body}\nOpReturn\nOpFunctionEnd\n"), (1, 4))
}

/// The text of such a module, which LLVM takes.
#[track_caller]
fn translate(body: &str) -> String {
    let module = assemble(body);
    let options = BuildOptions::default();
    let compiled = compile_spirv(&FrontendConfig::default(), &module, &[], &options).expect("LLVM reads it");
    let linked = link_program(&[&compiled.object], &options);
    assert!(linked.is_ok(), "{:?}", linked.err());
    translate_module(&module, &[], TextOptions::default()).expect("it is right")
}

/// What stands in the text of a module for a name of metadata: `!5` for `noalias` after a load.
fn find_node<'a>(text: &'a str, line: &str, kind: &str) -> &'a str {
    let line = text.lines().find(|found| found.contains(line)).unwrap_or_else(|| panic!("no {line} in\n{text}"));
    let (_, node) = line.split_once(&format!("!{kind} ")).unwrap_or_else(|| panic!("no {kind} in {line}"));
    let name = node.split([',', ' ']).next().unwrap_or_default();
    let prefix = format!("{name} = ");
    text.lines().find_map(|line| line.strip_prefix(&prefix)).expect("the node is there")
}

const ARITHMETIC: &str = "
    %x = OpLoad %int %p Aligned|AliasScopeINTELMask 4 %list
    %y = OpLoad %int %q Aligned|NoAliasINTELMask 4 %list
    %sum = OpIAdd %int %x %y
    %shifted = OpShiftLeftLogical %int %sum %one
    OpStore %p %shifted Aligned|NoAliasINTELMask 4 %list";

#[test]
fn accesses_have_the_alias_scopes_of_the_module() {
    let text = translate(ARITHMETIC);
    let list = find_node(&text, "= load i32, ptr addrspace(1) %0", "alias.scope");
    assert_eq!(find_node(&text, "= load i32, ptr addrspace(1) %1", "noalias"), list);
    assert_eq!(find_node(&text, "store i32", "noalias"), list);
    assert_eq!(
        (list, text.contains("!0 = distinct !{!0}"), text.contains("!1 = distinct !{!1, !0}")),
        ("!{!1}", true, true)
    );
}

#[test]
fn arithmetic_does_not_wrap_where_the_module_says_so() {
    let text = translate(ARITHMETIC);
    assert!(text.contains("= add nsw i32") && text.contains("= shl nuw i32"), "{text}");
}

#[test]
fn parameters_have_what_is_said_of_their_memory() {
    let text = translate(ARITHMETIC);
    let of_function = "(ptr addrspace(1) noalias captures(none) align 64 %0, ptr addrspace(1) readonly %1, \
                       ptr addrspace(1) readnone %2)";
    // The host sets the arguments of kernels.
    let of_kernel = of_function.replace(" %", " noundef %");
    assert_eq!(list_heads(&text), [format!("define spir_kernel void @\"facts\"{of_kernel}")]);
    // Where somebody else needs the function, the kernel calls it.
    let called = assemble("%nothing = OpFunctionCall %void %f %p %q %r");
    let text = translate_module(&called, &[], TextOptions::default()).expect("it is right");
    let heads = list_heads(&text);
    assert!(heads[0].contains("spir_func") && heads[0].ends_with(of_function), "{heads:?}");
    assert_eq!(heads[1..], [format!("define spir_kernel void @\"facts\"{of_kernel}")]);
}

/// The functions that a text defines, without what stands behind their parameters.
fn list_heads(text: &str) -> Vec<&str> {
    let lines = text.lines().filter(|line| line.starts_with("define "));
    lines.map(|line| line.split(" convergent").next().unwrap_or(line)).collect()
}

#[test]
fn what_is_expected_and_assumed_is_told() {
    let text = translate(
        "%x = OpLoad %int %q Aligned 4
         %expected = OpExpectKHR %int %x %one
         %likely = OpIEqual %bool %expected %one
         OpAssumeTrueKHR %likely
         OpBranchConditional %likely %then %else 90 10
         %then = OpLabel
         OpBranch %else
         %else = OpLabel",
    );
    assert!(text.contains("call i32 @llvm.expect.i32(i32 %3, i32 1)"), "{text}");
    assert!(text.contains("call void @llvm.assume(i1 %5)"), "{text}");
    assert_eq!(find_node(&text, "  br i1", "prof"), "!{!\"branch_weights\", i32 90, i32 10}");
}

#[test]
fn scopes_and_weights_that_are_none_are_refused() {
    let error_of = |body: &str| {
        translate_module(&assemble(body), &[], TextOptions::default()).expect_err("it is wrong").to_string()
    };
    let error = error_of("%x = OpLoad %int %q Aligned|NoAliasINTELMask 4 %scope");
    assert!(error.ends_with("was not declared before by OpAliasScopeListDeclINTEL"), "{error}");
    let jump = |weights| {
        format!(
            "%x = OpLoad %int %q\n%c = OpIEqual %bool %x %one\nOpBranchConditional %c %a %b {weights}\n%a = OpLabel\n\
             OpBranch %b\n%b = OpLabel"
        )
    };
    for weights in ["0 0", "1", "1 2 3"] {
        let error = error_of(&jump(weights));
        assert!(error.ends_with("a conditional jump has two weights, of which one is not zero, or none"), "{error}");
    }
}

#[test]
fn what_is_copied_from_zeros_is_filled_with_zeros() {
    let copy = |initializer: &str, bytes: u32| {
        let head = HEAD.replace(
            "%ids = OpVariable %input Input",
            &format!(
                "%ids = OpVariable %input Input\n%four = OpConstant %int 4\n%array = OpTypeArray %int %four
                 %constants = OpTypePointer UniformConstant %array\n%bytes = OpConstant %long {bytes}
                 %zeros = OpConstantNull %array\n%ones = OpConstantComposite %array %one %one %one %one
                 %source = OpVariable %constants UniformConstant {initializer}"
            ),
        );
        let text = format!("{head}\nOpCopyMemorySized %p %source %bytes Aligned 4\nOpReturn\nOpFunctionEnd\n");
        let module = assemble_module(&text, (1, 4));
        let text = translate_module(&module, &[], TextOptions::default()).expect("it is right");
        text.lines().filter(|line| line.contains("call void @llvm.mem")).collect::<Vec<_>>().join("\n")
    };
    let filled = "  call void @llvm.memset.p1.i64(ptr addrspace(1) align 4 %0, i8 0, i64 16, i1 false)";
    assert_eq!(copy("%zeros", 16), filled);
    // Other contents, and more bytes than there are.
    assert!(copy("%ones", 16).contains("@llvm.memcpy") && copy("%zeros", 20).contains("@llvm.memcpy"));
}

/// The text of a kernel with a variable that is aligned so, and what is said of it.
fn align_variable(alignment: &str, body: &str) -> Result<String, String> {
    let head = HEAD
        .replace("OpDecorate %sum", &format!("OpDecorate %variable Alignment {alignment}\nOpDecorate %sum"))
        .replace("%one = ", "%private = OpTypePointer Function %int\n%one = ")
        .replace("%start = OpLabel", "%start = OpLabel\n%variable = OpVariable %private Function");
    let module = assemble_module(&format!("{head}\n{body}\nOpReturn\nOpFunctionEnd\n"), (1, 4));
    translate_module(&module, &[], TextOptions::default()).map_err(|error| error.to_string())
}

#[test]
fn variables_are_aligned_as_the_source_said_though_a_byte_with_a_sign_came_between() {
    for (declared, aligned) in [("64", 64), ("128", 128), ("4294967168", 128), ("512", 512), ("0", 256)] {
        let text = align_variable(declared, "").expect("it is right");
        assert!(text.contains(&format!(" = alloca i32, align {aligned}\n")), "{declared}: {text}");
    }
    for declared in ["3", "4294967040"] {
        let error = align_variable(declared, "").expect_err("it is no power of two");
        assert!(error.ends_with(&format!("an alignment of {declared} bytes, which is no power of two")), "{error}");
    }
}

#[test]
fn accesses_are_aligned_as_far_as_it_is_known() {
    // Not wider than a variable whose alignment was lost.
    for (said, aligned) in
        [("4", ", align 4"), ("128", ", align 128"), ("512", ", align 256"), ("0", ""), ("4294967168", ", align 128")]
    {
        let text = align_variable("0", &format!("OpStore %variable %one Aligned {said}")).expect("it is right");
        assert!(text.contains(&format!("store i32 1, ptr %3{aligned}\n")), "{said}: {text}");
    }
    for said in ["768", "4294967040"] {
        let error =
            align_variable("0", &format!("OpStore %variable %one Aligned {said}")).expect_err("no power of two");
        assert!(error.ends_with("which is no power of two"), "{error}");
    }
}

#[test]
fn variables_begin_with_addresses_of_bytes_and_of_parts() {
    let address = |indices: &str| {
        let head = HEAD.replace(
            "%one = ",
            &format!(
                "%byte = OpTypeInt 8 0\n%bytes = OpTypePointer CrossWorkgroup %byte\n%record = OpTypeStruct %int %byte %byte
                 %records = OpTypePointer CrossWorkgroup %record\n%address = OpTypePointer CrossWorkgroup %bytes
                 %zero = OpConstantNull %int\n%two = OpConstant %long 2\n%five = OpConstant %long 5
                 %begin = OpConstantNull %record\n%there = OpVariable %records CrossWorkgroup %begin
                 %part = OpSpecConstantOp %bytes InBoundsPtrAccessChain %there {indices}
                 %points = OpVariable %address CrossWorkgroup %part\n%one = "
            ),
        );
        let module = assemble_module(&format!("{head}\nOpReturn\nOpFunctionEnd\n"), (1, 4));
        let text = translate_module(&module, &[], TextOptions::default()).expect("it is right");
        let line = text.lines().find(|line| line.contains("getelementptr")).expect("an address").to_owned();
        line.split_once("getelementptr ").expect("an address").1.to_owned()
    };
    // LLVM's back end means bytes where it counts members: there are three, of which the first is none.
    for (indices, bytes) in [("%zero %five", 5), ("%zero %zero", 0)] {
        let text = address(indices);
        let index = format!(" {bytes})");
        assert!(text.starts_with("(i8, ptr addrspace(1) @") && text.contains(&index), "{text}");
    }
    // What is a byte by its type is that member.
    let text = address("%zero %two");
    assert!(!text.starts_with("(i8, ") && text.contains(", i32 0, i32 2)"), "{text}");
}

#[test]
fn memory_begins_with_no_address_where_the_module_has_a_null_of_an_integer() {
    let begin = |value: &str| {
        let head = HEAD.replace(
            "%one = ",
            &format!(
                "%addresses = OpTypeStruct %long %pointer %pointer\n%record = OpTypePointer CrossWorkgroup %addresses
                 %address = OpTypePointer CrossWorkgroup %pointer\n%nothing = OpConstantNull %long\n%four = OpConstant %long 4
                 %there = OpVariable %pointer CrossWorkgroup\n%members = OpConstantComposite %addresses {value} %there {value}
                 %points = OpVariable %address CrossWorkgroup {value}\n%all = OpVariable %record CrossWorkgroup %members\n%one = "
            ),
        );
        let module = assemble_module(&format!("{head}\nOpReturn\nOpFunctionEnd\n"), (1, 4));
        translate_module(&module, &[], TextOptions::default()).map_err(|error| error.to_string())
    };
    let text = begin("%nothing").expect("it is right");
    assert!(text.contains("addrspace(1) global ptr addrspace(1) null\n"), "{text}");
    let members = text.lines().find(|line| line.contains("i64 0")).expect("a record");
    assert!(
        members.contains("{i64 0, ptr addrspace(1) @") && members.contains(", ptr addrspace(1) null}"),
        "{members}"
    );
    let error = begin("%four").expect_err("4 is no address");
    assert!(error.ends_with("member 2 is of type i64, where ptr addrspace(1) is needed"), "{error}");
}

#[test]
fn quotients_are_as_exact_as_the_application_wants() {
    let module = assemble("%x = OpFDiv %float %real %real");
    let line_of = |divides_exactly| {
        let options = TextOptions { divides_exactly, ..TextOptions::default() };
        let text = translate_module(&module, &[], options).expect("it is right");
        text.lines().find(|line| line.contains("fdiv")).expect("a quotient").contains("!fpmath")
    };
    assert_eq!((line_of(false), line_of(true)), (true, false));
}

#[test]
fn vectors_of_ids_are_computed_where_somebody_needs_them_whole() {
    let calls = |body: &str| translate(body).matches("= call spir_func i64 @_Z13get_global_idj").count();
    let read = "%vector = OpLoad %long3 %ids\n%x = OpCompositeExtract %long %vector 1";
    assert_eq!(calls(read), 1);
    // As an operand, and where paths meet.
    assert_eq!(calls(&format!("{read}\n%sum = OpIAdd %long3 %vector %vector")), 4);
    assert_eq!(calls(&format!("{read}\nOpBranch %next\n%next = OpLabel\n%phi = OpPhi %long3 %vector %start")), 4);
}

/// A loop of 60 rounds that adds to what is in memory, with something in its header and something before the jump back to that.
fn loop_with(in_header: &str, before_jump: &str) -> String {
    format!(
        "OpBranch %loop
         %loop = OpLabel
         %i = OpPhi %int %one %start %next %body
         {in_header}
         OpBranch %body
         %body = OpLabel
         %old = OpLoad %int %p Volatile
         %new = OpIAdd %int %old %i
         OpStore %p %new Volatile
         %next = OpIAdd %int %i %one
         %more = OpULessThan %bool %next %many
         {before_jump}
         OpBranchConditional %more %loop %done
         %done = OpLabel"
    )
}

#[test]
fn loops_are_unrolled_as_the_module_wants() {
    for (controls, wanted) in [
        ("Unroll", "!{!\"llvm.loop.unroll.enable\"}"),
        ("DontUnroll", "!{!\"llvm.loop.unroll.disable\"}"),
        ("PartialCount 4", "!{!\"llvm.loop.unroll.count\", i32 4}"),
    ] {
        let structured = loop_with(&format!("OpLoopMerge %done %body {controls}"), "");
        let unstructured = loop_with("", &format!("OpLoopControlINTEL {controls}"));
        for body in [structured, unstructured] {
            let text = translate(&body);
            let node = find_node(&text, "  br i1", "llvm.loop");
            let (_, wish) = node.trim_end_matches('}').split_once(", ").expect("the node's second part");
            assert!(node.starts_with("distinct !{!") && text.contains(&format!("\n{wish} = {wanted}\n")), "{text}");
            // The jump into the loop is none of it.
            assert_eq!(text.matches("!llvm.loop").count(), 1, "{text}");
        }
    }
    let both = translate_module(&assemble(&loop_with("OpLoopMerge %done %body 3", "")), &[], TextOptions::default());
    let error = both.expect_err("it is wrong").to_string();
    assert!(error.ends_with("the loop is to be unrolled and not to be unrolled"), "{error}");
}

/// The loads of a module's only kernel after LLVM's passes.
fn loads_of(body: &str) -> usize {
    let options = BuildOptions::default();
    let compiled = compile_spirv(&FrontendConfig::default(), &assemble(body), &[], &options).expect("LLVM reads it");
    let program = link_program(&[&compiled.object], &options).expect("it links");
    let context = Context::create();
    let module = prepare_module(&context, &program).expect("it is cleaned up");
    module.to_string().matches("= load volatile i32").count()
}

#[test]
fn the_clean_up_writes_out_the_loops_that_are_to_be() {
    let rounds = |controls: &str| loads_of(&loop_with(&format!("OpLoopMerge %done %body {controls}"), ""));
    assert_eq!([rounds("None"), rounds("Unroll"), rounds("DontUnroll")], [1, 59, 1]);
    assert_eq!(loads_of(&loop_with("", "OpLoopControlINTEL Unroll")), 59);
}

#[test]
fn what_stands_behind_a_fence_is_not_contracted() {
    let text = translate("%x = OpArithmeticFenceEXT %float %real\n%v = OpArithmeticFenceEXT %float3 %reals");
    assert!(text.contains("call float @llvm.arithmetic.fence.f32(float 0x3FF8000000000000)"), "{text}");
    assert!(text.contains("call <3 x float> @llvm.arithmetic.fence.v3f32(<3 x float> <"), "{text}");
}

#[test]
fn functions_have_what_is_said_of_the_memory_they_use() {
    let head_of = |control: &str| {
        let text = HEAD.replace(
            "%f = OpFunction %void None %type",
            &format!(
                "%of_int = OpTypeFunction %int %int\n%g = OpFunction %int {control} %of_int
                 %n = OpFunctionParameter %int\n%body = OpLabel\nOpReturnValue %n\nOpFunctionEnd
                 %f = OpFunction %void None %type"
            ),
        );
        let called = format!("{text}\n%a = OpFunctionCall %int %g %one\nOpReturn\nOpFunctionEnd\n");
        let text = translate_module(&assemble_module(&called, (1, 4)), &[], TextOptions::default()).expect("right");
        let (_, attributes) = text.split_once(" convergent nounwind").expect("a function");
        attributes.split(" {").next().unwrap_or_default().to_owned()
    };
    assert_eq!([head_of("None"), head_of("Pure"), head_of("Const")], ["", " memory(read)", " memory(none)"]);
    assert_eq!(head_of("Inline|DontInline"), "");
}

#[test]
fn calls_and_atomic_operations_have_the_alias_scopes_they_are_decorated_with() {
    let decorated = HEAD.replace(
        "%domain = ",
        "OpDecorateId %called AliasScopeINTEL %list\nOpDecorateId %added NoAliasINTEL %list\n%domain = ",
    );
    let body = "%called = OpFunctionCall %void %f %p %q %r\n%added = OpAtomicIAdd %int %p %one %one %one";
    let module = assemble_module(&format!("{decorated}\n{body}\nOpReturn\nOpFunctionEnd\n"), (1, 4));
    let text = translate_module(&module, &[], TextOptions::default()).expect("it is right");
    let list = find_node(&text, "  call spir_func void @spirv", "alias.scope");
    assert_eq!((list, find_node(&text, "atomicrmw add", "noalias")), ("!{!1}", "!{!1}"));
}
