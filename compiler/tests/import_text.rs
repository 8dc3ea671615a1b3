//! The exact text of a few small kernels: what leaves an instruction and what does not.

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use lockstep_compiler::import::import_module;
use lockstep_ir::verify::{Stage, verify_module};

const HEADER: &str = "\
target datalayout = \"e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1\"
target triple = \"spir64-unknown-unknown\"
";

/// Imports a text and returns that of the first kernel from its first input, slot or local variable on.
fn imported(text: &str) -> String {
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(format!("{HEADER}{text}\0").as_bytes(), "test");
    let module = context.create_module_from_ir(buffer).unwrap_or_else(|error| panic!("{error}"));
    let module = import_module(&module).unwrap_or_else(|error| panic!("{error}"));
    let printed = module.to_string();
    verify_module(&module, Stage::Imported).unwrap_or_else(|errors| panic!("{}\n{printed}", errors[0]));
    let is_head = |line: &&str| {
        let line = line.trim();
        line.starts_with("kernel") || line.starts_with("args") || line.starts_with("param")
    };
    let lines = printed.lines().skip_while(|line| !is_head(line)).skip_while(is_head);
    let lines: Vec<&str> = lines.take_while(|line| *line != "}").map(str::trim).collect();
    renumbered(lines.join("\n").trim())
}

/// The text with its values numbered as they appear, so that constants do not count.
fn renumbered(text: &str) -> String {
    let mut numbers = std::collections::HashMap::new();
    let mut output = String::new();
    let mut rest = text;
    while let Some(position) = rest.find('v') {
        let starts_word =
            !rest[..position].ends_with(|character: char| character.is_alphanumeric() || character == '_');
        let digits = rest[position + 1..].bytes().take_while(u8::is_ascii_digit).count();
        let (word, behind) = rest.split_at(position + 1 + digits);
        rest = behind;
        if starts_word && digits > 0 {
            let next = numbers.len();
            let number = numbers.entry(word[position..].to_string()).or_insert(next);
            output.push_str(&word[..position]);
            output.push_str(&format!("v{number}"));
        } else {
            output.push_str(word);
        }
    }
    output + rest
}

fn is(text: &str, expected: &str) {
    let printed = imported(text);
    let expected: Vec<&str> = expected.lines().map(str::trim).collect();
    assert_eq!(printed, expected.join("\n"), "\n{printed}\n");
}

#[test]
fn vectors_are_bookkeeping() {
    is(
        "define spir_kernel void @k(ptr addrspace(1) %p, <4 x float> %v) {
  %x = load <4 x float>, ptr addrspace(1) %p, align 16
  %e = extractelement <4 x float> %v, i32 3
  %i = insertelement <4 x float> %x, float %e, i32 0
  %s = shufflevector <4 x float> %i, <4 x float> %v, <4 x i32> <i32 3, i32 0, i32 5, i32 poison>
  store <4 x float> %s, ptr addrspace(1) %p, align 16
  ret void
}",
        "input value(0, 0): ptr.global
         input value(1, 0): f32
         input value(1, 4): f32
         input value(1, 8): f32
         input value(1, 12): f32
         region r0 {
         b0(v0: ptr.global, v1: f32, v2: f32, v3: f32, v4: f32):
         v5: f32, v6: f32, v7: f32, v8: f32 = load v0 align 16
         store v8, v4, v2, 0.0:f32 to v0 align 16
         return
         }",
    );
}

#[test]
fn addresses_of_variables_stand_first() {
    is(
        "@t = internal addrspace(2) constant [4 x i32] [i32 1, i32 2, i32 3, i32 4]
@s = internal addrspace(3) global [4 x i32] undef
define spir_kernel void @k(ptr addrspace(1) %p, i64 %i) {
  br label %next
next:
  %q = getelementptr inbounds i32, ptr addrspace(3) @s, i64 %i
  %x = load i32, ptr addrspace(2) getelementptr inbounds (i8, ptr addrspace(2) @t, i64 4), align 4
  store i32 %x, ptr addrspace(3) %q, align 4
  ret void
}",
        "input value(1, 0): i64
         local lv0 size 16 align 4
         region r0 {
         b0(v0: i64):
         v1: ptr.local = local_addr lv0
         v2: ptr.constant = global_addr g0
         v3: ptr.constant = ptradd.inbounds v2, 4
         jump b1
         b1:
         v4: i64 = mul.nsw v0, 4
         v5: ptr.local = ptradd.inbounds v1, v4
         v6: i32 = load v3 align 4
         store v6 to v5 align 4
         return
         }",
    );
}

#[test]
fn phis_become_parameters() {
    is(
        "define spir_kernel void @k(ptr addrspace(1) %p, i32 %n) {
entry:
  switch i32 %n, label %end [ i32 1, label %end
                              i32 -1, label %loop ]
loop:
  %v = phi <2 x i32> [ <i32 1, i32 2>, %entry ], [ %w, %loop ]
  %w = shufflevector <2 x i32> %v, <2 x i32> poison, <2 x i32> <i32 1, i32 0>
  %e = extractelement <2 x i32> %v, i32 0
  %c = icmp eq i32 %e, %n
  br i1 %c, label %end, label %loop
end:
  %r = phi i32 [ 5, %entry ], [ 5, %entry ], [ %e, %loop ]
  store i32 %r, ptr addrspace(1) %p, align 4
  ret void
}",
        "input value(0, 0): ptr.global
         input value(1, 0): i32
         region r0 {
         b0(v0: ptr.global, v1: i32):
         switch v1 [1: b2(5), -1: b1(1, 2)] default b2(5)
         b1(v2: i32, v3: i32):
         v4: i1 = icmp.eq v2, v1
         br v4, b2(v2), b1(v3, v2)
         b2(v5: i32):
         store v5 to v0 align 4
         return
         }",
    );
}

#[test]
fn structs_by_value_are_copied_only_where_they_are_written() {
    let kernel = |lines: &str| {
        format!(
            "%S = type {{ i32, i32 }}
define spir_kernel void @k(ptr addrspace(1) %p, ptr byval(%S) align 4 %s) {{
{lines}
  %x = load i32, ptr %s, align 4
  store i32 %x, ptr addrspace(1) %p, align 4
  ret void
}}"
        )
    };
    is(
        &kernel(""),
        "input value(0, 0): ptr.global
         input address(1): ptr.private
         region r0 {
         b0(v0: ptr.global, v1: ptr.private):
         v2: i32 = load v1 align 4
         store v2 to v0 align 4
         return
         }",
    );
    is(
        &kernel("  store i32 1, ptr %s, align 4"),
        "input value(0, 0): ptr.global
         input address(1): ptr.private
         slot ss0 size 8 align 4
         region r0 {
         b0(v0: ptr.global, v1: ptr.private):
         v2: ptr.private = slot_addr ss0
         memcpy v2, v1, 8
         store 1:i32 to v2 align 4
         v3: i32 = load v2 align 4
         store v3 to v0 align 4
         return
         }",
    );
}

#[test]
fn primitives_become_instructions() {
    is(
        "declare i64 @__lockstep_global_id(i32)
declare i64 @__lockstep_num_groups(i32)
declare i32 @__lockstep_work_dim()
declare void @__lockstep_barrier(i32, i32)
declare i32 @__lockstep_address_space(ptr addrspace(4))
define spir_kernel void @k(ptr addrspace(1) %p) {
  %a = call i64 @__lockstep_global_id(i32 2)
  %b = call i64 @__lockstep_num_groups(i32 3)
  %c = call i32 @__lockstep_work_dim()
  call void @__lockstep_barrier(i32 1, i32 1)
  %g = addrspacecast ptr addrspace(1) %p to ptr addrspace(4)
  %d = call i32 @__lockstep_address_space(ptr addrspace(4) %g)
  store i64 %b, ptr addrspace(1) %p, align 8
  ret void
}",
        "input value(0, 0): ptr.global
         region r0 {
         b0(v0: ptr.global):
         v1: i64 = query.global_id 2
         v2: i32 = query.work_dim 0
         barrier
         v3: ptr.generic = spacecast v0
         v4: i32 = space_of v3
         store 1:i64 to v0 align 8
         return
         }",
    );
}

#[test]
fn whether_sums_are_fused_is_a_constant_of_the_machine() {
    let fused = i32::from(std::arch::is_x86_feature_detected!("fma"));
    let wanted = format!(
        "input value(0, 0): ptr.global
         region r0 {{
         b0(v0: ptr.global):
         store {fused}:i32 to v0 align 4
         return
         }}"
    );
    is(
        "declare i32 @__lockstep_fuses_sums()
define spir_kernel void @k(ptr addrspace(1) %p) {
  %a = call i32 @__lockstep_fuses_sums()
  store i32 %a, ptr addrspace(1) %p, align 4
  ret void
}",
        &wanted,
    );
}

#[test]
fn a_trap_ends_the_work_item() {
    is(
        "declare void @llvm.trap()
define spir_kernel void @k(ptr addrspace(1) %p, i8 %unused, i32 %n) {
entry:
  %c = icmp eq i32 %n, 0
  br i1 %c, label %bad, label %good
bad:
  call void @llvm.trap()
  unreachable
good:
  store i32 %n, ptr addrspace(1) %p, align 4
  ret void
}",
        "input value(0, 0): ptr.global
         input value(2, 0): i32
         region r0 {
         b0(v0: ptr.global, v1: i32):
         v2: i1 = icmp.eq v1, 0:i32
         br v2, b1, b2
         b1:
         return
         b2:
         store v1 to v0 align 4
         return
         }",
    );
}

/// Where a kernel has several, LLVM has all of them jump to one block that nothing reaches.
#[test]
fn nothing_is_behind_a_trap() {
    is(
        "declare void @llvm.trap()
define spir_kernel void @k(ptr addrspace(1) %p, i32 %n) {
entry:
  switch i32 %n, label %good [i32 0, label %bad
                              i32 1, label %worse]
bad:
  call void @llvm.trap()
  br label %nowhere
worse:
  store i32 %n, ptr addrspace(1) %p, align 4
  call void @llvm.trap()
  br label %nowhere
good:
  ret void
nowhere:
  unreachable
}",
        "input value(0, 0): ptr.global
         input value(1, 0): i32
         region r0 {
         b0(v0: ptr.global, v1: i32):
         switch v1 [0: b2, 1: b3] default b1
         b1:
         return
         b2:
         return
         b3:
         store v1 to v0 align 4
         return
         }",
    );
}
