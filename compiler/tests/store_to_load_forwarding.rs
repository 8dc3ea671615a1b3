//! What code leaves in local memory for itself stays in registers, and only where it is known what that is.

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use lockstep_compiler::machine_code::{HostMachine, OptLevel, emit_object, ir_text, link_image, optimize};
use lockstep_runtime::execute::loaded_code::LoadedCode;

/// Scopes as code generation makes them: `!l` of local memory, `!g` of buffers, `!any` of both.
const SCOPES: &str = r#"
!0 = !{!"lockstep"}
!1 = !{!"local", !0}
!2 = !{!"global", !0}
!3 = !{!"kept", !0}
!4 = !{!1}
!5 = !{!2, !3}
!6 = !{!2}
!7 = !{!1, !3}
!8 = !{!1, !2}
!9 = !{!3}
"#;

const DECLARED: &str = "
declare <8 x i32> @llvm.masked.load.v8i32.p0(ptr, <8 x i1>, <8 x i32>)
declare void @llvm.masked.store.v8i32.p0(<8 x i32>, ptr, <8 x i1>)
";

/// Optimises a function of a buffer to read, one to write, and two addresses of local memory; runs it, the second address
/// being so many elements behind the first; the code, and what it wrote.
fn run(body: &str, behind: usize) -> (String, Vec<i32>) {
    let local = ", !alias.scope !4, !noalias !5";
    let global = ", !alias.scope !6, !noalias !7";
    let any = ", !alias.scope !8, !noalias !9";
    let body = body.replace(" !l", local).replace(" !g", global).replace(" !any", any);
    let text = format!(
        "define void @f(ptr noalias %in, ptr noalias %out, ptr %local, ptr %other) {{\n{body}\nret void\n}}\n{DECLARED}{SCOPES}\0"
    );
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
    let module = context.create_module_from_ir(buffer).unwrap_or_else(|error| panic!("{}\n{text}", error.to_string()));
    let machine = HostMachine::new(OptLevel::Aggressive, None).unwrap();
    optimize(&module, &machine).unwrap_or_else(|error| panic!("{error}"));
    let optimized = ir_text(&module);
    let image = link_image(&emit_object(&module, &machine).unwrap().bytes, "f").unwrap().image;
    let code = LoadedCode::map_image(&image).unwrap();
    let input: Vec<i32> = (100..132).collect();
    let mut output = vec![0_i32; 32];
    let mut memory = vec![-1_i32; 64];
    // SAFETY: the function has this type, and touches 32 elements of each buffer and the 64 of local memory.
    unsafe {
        type Entry = extern "C" fn(*const i32, *mut i32, *mut i32, *mut i32);
        let entry = std::mem::transmute::<*const std::ffi::c_void, Entry>(code.entry_address());
        let local = memory.as_mut_ptr();
        entry(input.as_ptr(), output.as_mut_ptr(), local, local.add(behind));
    }
    (optimized, output)
}

/// Two rows of the input, stored side by side.
const TWO_ROWS: &str = "
    %a = load <8 x i32>, ptr %in, align 4 !g
    %in8 = getelementptr i8, ptr %in, i64 32
    %b = load <8 x i32>, ptr %in8, align 4 !g
    %l8 = getelementptr i8, ptr %local, i64 32
    store <8 x i32> %a, ptr %local, align 4 !l
    store <8 x i32> %b, ptr %l8, align 4 !l
    %l3 = getelementptr i8, ptr %local, i64 12
";

fn touches_local(code: &str) -> bool {
    let body = code.lines().skip_while(|line| !line.contains("{")).skip(1).take_while(|line| *line != "}");
    body.into_iter().any(|line| line.contains("%local") || line.contains("%other"))
}

#[test]
fn a_load_of_two_stored_rows_is_a_shuffle() {
    let code = "%c = load <8 x i32>, ptr %l3, align 4 !l\n store <8 x i32> %c, ptr %out, align 4 !g";
    let (text, found) = run(&format!("{TWO_ROWS}{code}"), 32);
    assert!(!touches_local(&text), "{text}");
    assert_eq!(found[..8], [103, 104, 105, 106, 107, 108, 109, 110]);
}

#[test]
fn masks_say_which_elements_count() {
    let code = "
        call void @llvm.masked.store.v8i32.p0(<8 x i32> %b, ptr align 4 %local, <8 x i1> <i1 1, i1 0, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0>) !l
        %c = call <8 x i32> @llvm.masked.load.v8i32.p0(ptr align 4 %local, <8 x i1> <i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0>, <8 x i32> splat (i32 7)) !l
        store <8 x i32> %c, ptr %out, align 4 !g
        %d = load i32, ptr %l3, align 4 !l
        %o9 = getelementptr i8, ptr %out, i64 36
        store i32 %d, ptr %o9, align 4 !g";
    let (text, found) = run(&format!("{TWO_ROWS}{code}"), 32);
    assert!(!touches_local(&text), "{text}");
    assert_eq!(found[..10], [108, 101, 110, 7, 7, 7, 7, 7, 0, 103]);
}

#[test]
fn parts_of_elements_are_not_forgotten() {
    let code = "
        %l5 = getelementptr i8, ptr %local, i64 21
        store i8 1, ptr %l5, align 1 !l
        %c = load <8 x i32>, ptr %l3, align 4 !l
        store <8 x i32> %c, ptr %out, align 4 !g";
    let (_, found) = run(&format!("{TWO_ROWS}{code}"), 32);
    assert_eq!(found[..8], [103, 104, 105 + 256, 106, 107, 108, 109, 110]);
}

#[test]
fn another_address_may_be_the_same() {
    for store in ["store i32 5, ptr %other, align 4 !l", "store i32 5, ptr %other, align 4 !any"] {
        let code = "%c = load <8 x i32>, ptr %l3, align 4 !l\n store <8 x i32> %c, ptr %out, align 4 !g";
        let (_, found) = run(&format!("{TWO_ROWS}{store}\n{code}"), 6);
        assert_eq!(found[..8], [103, 104, 105, 5, 107, 108, 109, 110], "{store}");
    }
}

#[test]
fn what_was_not_stored_is_loaded() {
    let code = "
        %l12 = getelementptr i8, ptr %local, i64 48
        %c = load <8 x i32>, ptr %l12, align 4 !l
        store <8 x i32> %c, ptr %out, align 4 !g";
    let (text, found) = run(&format!("{TWO_ROWS}{code}"), 32);
    assert!(touches_local(&text));
    assert_eq!(found[..8], [112, 113, 114, 115, -1, -1, -1, -1]);
}

#[test]
fn ways_that_meet_know_nothing_but_loads_before() {
    let code = "
        %first = load i32, ptr %in, align 4 !g
        %which = icmp sgt i32 %first, 100
        br i1 %which, label %yes, label %no
        yes:
        store i32 1, ptr %l3, align 4 !l
        br label %end
        no:
        %c = load <8 x i32>, ptr %l3, align 4 !l
        store <8 x i32> %c, ptr %out, align 4 !g
        store i32 2, ptr %l3, align 4 !l
        br label %end
        end:
        %d = load i32, ptr %l3, align 4 !l
        %o9 = getelementptr i8, ptr %out, i64 36
        store i32 %d, ptr %o9, align 4 !g";
    let (_, found) = run(&format!("{TWO_ROWS}{code}"), 32);
    assert_eq!(found[..10], [103, 104, 105, 106, 107, 108, 109, 110, 0, 2]);
}

/// Nobody runs these stores, but they stand there: what lies around their addresses cannot be counted.
#[test]
fn addresses_at_the_ends_of_what_can_be_counted() {
    for offset in [i64::MAX, i64::MAX - 3, i64::MIN, i64::MIN + 3] {
        let body = format!(
            "%n = load i32, ptr %in, align 4 !g
            %never = icmp eq i32 %n, 7
            br i1 %never, label %far, label %near
            far:
            %place = getelementptr i8, ptr %local, i64 {offset}
            store volatile i8 1, ptr %other, align 1 !l
            store i8 1, ptr %place, align 1 !l
            br label %near
            near:
            %a = load <8 x i32>, ptr %in, align 4 !g
            store <8 x i32> %a, ptr %local, align 4 !l
            %b = load <8 x i32>, ptr %local, align 4 !l
            store <8 x i32> %b, ptr %out, align 4 !g"
        );
        let (_, found) = run(&body, 32);
        assert_eq!(found[..8], [100, 101, 102, 103, 104, 105, 106, 107], "{offset}");
    }
}
