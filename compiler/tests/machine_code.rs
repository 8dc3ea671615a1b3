//! Modules for the host become code that runs, and go away again.

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use lockstep_compiler::machine_code::{
    HostMachine, MachineCodeError, OptLevel, assembly_text, compile_module, ir_text, link_image, optimize,
};
use lockstep_runtime::execute::loaded_code::LoadedCode;

fn module<'ctx>(context: &'ctx Context, text: &str) -> Module<'ctx> {
    let buffer = MemoryBuffer::create_from_memory_range_copy(format!("{text}\0").as_bytes(), "test");
    context.create_module_from_ir(buffer).unwrap_or_else(|error| panic!("{}", error.to_string()))
}

fn code(text: &str, entry: &str) -> LoadedCode {
    let context = Context::create();
    let image =
        compile_module(&module(&context, text), entry, OptLevel::Default).unwrap_or_else(|error| panic!("{error}"));
    LoadedCode::map_image(&image).unwrap_or_else(|error| panic!("{error}"))
}

/// The function as a Rust one.
///
/// # Safety
/// The code must be a C function of this type.
unsafe fn as_fn<F: Copy>(code: &LoadedCode) -> F {
    assert_eq!(size_of::<F>(), size_of::<usize>());
    // SAFETY: the caller vouches for the type; both are addresses.
    unsafe { std::mem::transmute_copy(&code.entry_address()) }
}

const ADD: &str = "define i32 @add(i32 %a, i32 %b) {\n %c = add i32 %a, %b\n ret i32 %c\n}";

#[test]
fn code_runs() {
    let code = code(ADD, "add");
    // SAFETY: the function has this type.
    let add: extern "C" fn(i32, i32) -> i32 = unsafe { as_fn(&code) };
    assert_eq!(add(40, 2), 42);
}

#[test]
fn two_objects_may_use_the_same_names() {
    let first = code("define i32 @f() {\n ret i32 1\n}", "f");
    let second = code("define i32 @f() {\n ret i32 2\n}", "f");
    // SAFETY: the functions have this type.
    let (one, two): (extern "C" fn() -> i32, extern "C" fn() -> i32) = unsafe { (as_fn(&first), as_fn(&second)) };
    assert_eq!((one(), two()), (1, 2));
}

#[test]
fn every_level_gives_the_same_answer() {
    let text = "define i64 @sum(i64 %n) {
        entry:
          br label %loop
        loop:
          %i = phi i64 [ 0, %entry ], [ %j, %loop ]
          %s = phi i64 [ 0, %entry ], [ %t, %loop ]
          %m = mul i64 %i, %i
          %t = add i64 %s, %m
          %j = add i64 %i, 1
          %go = icmp ult i64 %j, %n
          br i1 %go, label %loop, label %out
        out:
          ret i64 %t
        }";
    for level in [OptLevel::None, OptLevel::Default, OptLevel::Aggressive] {
        let context = Context::create();
        let image = compile_module(&module(&context, text), "sum", level).unwrap();
        let code = LoadedCode::map_image(&image).unwrap();
        // SAFETY: the function has this type.
        let sum: extern "C" fn(i64) -> i64 = unsafe { as_fn(&code) };
        assert_eq!(sum(10), 285, "{level:?}");
    }
}

#[test]
fn the_c_library_is_within_reach() {
    let text = "declare double @sin(double)
        declare float @powf(float, float)
        declare double @ldexp(double, i32)
        define double @f(double %x) {
          %s = call double @sin(double %x)
          %l = call double @ldexp(double %s, i32 3)
          %t = fptrunc double %l to float
          %p = call float @powf(float %t, float 2.0)
          %e = fpext float %p to double
          ret double %e
        }";
    let code = code(text, "f");
    // SAFETY: the function has this type.
    let f: extern "C" fn(f64) -> f64 = unsafe { as_fn(&code) };
    let expected = f64::from(((0.5_f64.sin() * 8.0) as f32).powi(2));
    assert!((f(0.5) - expected).abs() <= expected * 1e-6, "{} {expected}", f(0.5));
}

/// What LLVM calls by itself: half precision and 128-bit integers.
#[test]
fn the_run_time_library_is_complete() {
    let half = code(
        "define float @f(double %x) {\n %h = fptrunc double %x to half\n %f = fpext half %h to float\n ret float %f\n}",
        "f",
    );
    // SAFETY: the function has this type.
    let f: extern "C" fn(f64) -> f32 = unsafe { as_fn(&half) };
    assert_eq!(f(1.0 + 2.0_f64.powi(-11)), 1.0, "a tie goes to even");
    assert_eq!(f((1.0 + 2.0_f64.powi(-11)).next_up()), 1.0 + 2.0_f32.powi(-10));
    assert_eq!(f(1e9), f32::INFINITY);

    let wide = code(
        "define void @f(ptr %a, ptr %b, ptr %r) {
          %x = load i128, ptr %a
          %y = load i128, ptr %b
          %q = udiv i128 %x, %y
          %m = srem i128 %x, %y
          %z = uitofp i128 %x to double
          %w = fptoui double %z to i128
          %s = add i128 %q, %m
          %t = add i128 %s, %w
          store i128 %t, ptr %r
          ret void
        }",
        "f",
    );
    // SAFETY: the function has this type.
    let f: extern "C" fn(*const u128, *const u128, *mut u128) = unsafe { as_fn(&wide) };
    let (x, y, mut result) = (3_u128 << 100 | 12345, 1_u128 << 70 | 77, 0);
    f(&x, &y, &mut result);
    assert_eq!(result, x / y + x % y + (x as f64) as u128);
}

/// Without the half-precision instructions of the host, LLVM calls the library for every conversion.
#[test]
fn half_conversions_work_without_hardware() {
    let text = r#"
        define float @f(float %x) "target-features"="-f16c,-avx512f,-avx512fp16" {
          %h = fptrunc float %x to half
          %f = fpext half %h to float
          ret float %f
        }"#;
    let code = code(text, "f");
    // SAFETY: the function has this type.
    let f: extern "C" fn(f32) -> f32 = unsafe { as_fn(&code) };
    assert_eq!(f(2049.0), 2048.0);
    assert_eq!(f(2051.0), 2052.0);
    assert_eq!(f(-1e-8), -0.0);
}

#[test]
fn an_unknown_symbol_is_an_error_with_its_name() {
    let context = Context::create();
    // Both are in the process; neither is in the table.
    for name in ["system", "malloc"] {
        let text =
            format!("declare ptr @{name}(i64)\ndefine ptr @f() {{\n %p = call ptr @{name}(i64 0)\n ret ptr %p\n}}");
        match compile_module(&module(&context, &text), "f", OptLevel::Default) {
            Err(MachineCodeError::Link(reason)) => assert!(reason.contains(name), "{reason}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_missing_entry_is_an_error() {
    let context = Context::create();
    let result = compile_module(&module(&context, ADD), "sub", OptLevel::Default);
    assert!(matches!(&result, Err(MachineCodeError::Link(reason)) if reason.contains("sub")), "{result:?}");
    let result = compile_module(&module(&context, ADD), "a\0b", OptLevel::Default);
    assert!(matches!(result, Err(MachineCodeError::Link(_))), "{result:?}");
}

#[test]
fn what_is_no_object_is_an_error() {
    for bytes in [&b""[..], b"no object", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x01\0\x3e\0"] {
        let result = link_image(bytes, "f");
        assert!(matches!(result, Err(MachineCodeError::Link(_))), "{result:?}");
    }
}

#[test]
fn a_broken_module_is_an_error() {
    let context = Context::create();
    let module = module(&context, "define i32 @f() {\n ret i32 0\n}");
    // A block without an end.
    context.append_basic_block(module.get_function("f").unwrap(), "open");
    let result = compile_module(&module, "f", OptLevel::Default);
    assert!(matches!(result, Err(MachineCodeError::Optimize(_))), "{result:?}");
}

#[test]
fn loops_are_not_vectorized_by_llvm() {
    let text = "define void @f(ptr noalias %a, ptr noalias %b, i64 %n) {
        entry:
          br label %loop
        loop:
          %i = phi i64 [ 0, %entry ], [ %j, %loop ]
          %p = getelementptr float, ptr %a, i64 %i
          %q = getelementptr float, ptr %b, i64 %i
          %x = load float, ptr %p
          %y = fadd float %x, 1.0
          store float %y, ptr %q
          %j = add nuw i64 %i, 1
          %go = icmp ult i64 %j, %n
          br i1 %go, label %loop, label %out
        out:
          ret void
        }";
    let context = Context::create();
    let module = module(&context, text);
    let machine = HostMachine::new(OptLevel::Aggressive, None).unwrap();
    optimize(&module, &machine).unwrap();
    let text = ir_text(&module);
    assert!(text.contains("fadd float") && !text.contains("x float>"), "{text}");
    assert!(assembly_text(&module, &machine).unwrap().contains("f:"));
    assert!(ir_text(&module) == text, "making assembly changed the module");
}

#[test]
fn constants_lie_with_the_code() {
    let text = "@table = internal constant [4 x i32] [i32 10, i32 20, i32 30, i32 40]
        define i32 @f(i64 %i) {
          %p = getelementptr [4 x i32], ptr @table, i64 0, i64 %i
          %x = load i32, ptr %p
          ret i32 %x
        }";
    let code = code(text, "f");
    // SAFETY: the function has this type.
    let f: extern "C" fn(i64) -> i32 = unsafe { as_fn(&code) };
    assert_eq!((f(0), f(3)), (10, 40));
}

/// Constants of the alignment of the widest registers stay aligned, wherever the code lies.
#[test]
fn constants_keep_their_alignment() {
    let text = "@bytes = internal constant [3 x i8] c\"abc\"
        @vector = internal constant <16 x i32> splat (i32 7), align 64
        define i64 @f(i64 %i) {
          %p = getelementptr [3 x i8], ptr @bytes, i64 0, i64 %i
          %x = load volatile i8, ptr %p
          %a = ptrtoint ptr @vector to i64
          ret i64 %a
        }";
    let code = code(text, "f");
    // SAFETY: the function has this type.
    let f: extern "C" fn(i64) -> u64 = unsafe { as_fn(&code) };
    assert_eq!(f(1) % 64, 0);
}

/// An image holds nothing that is written to, and no address that depends on where it lies.
#[test]
fn variables_and_absolute_addresses_are_refused() {
    let variable = "@count = internal global i32 5
        define i32 @f() {
          %c = load i32, ptr @count
          %d = add i32 %c, 1
          store i32 %d, ptr @count
          ret i32 %c
        }";
    let addresses = "@here = internal constant i32 1
        @there = internal constant i32 2
        @table = internal constant [2 x ptr] [ptr @here, ptr @there]
        define ptr @f(i64 %i) {
          %p = getelementptr [2 x ptr], ptr @table, i64 0, i64 %i
          %x = load volatile ptr, ptr %p
          ret ptr %x
        }";
    let context = Context::create();
    for text in [variable, addresses] {
        let result = compile_module(&module(&context, text), "f", OptLevel::Default);
        assert!(matches!(&result, Err(MachineCodeError::Link(reason)) if reason.contains("written")), "{result:?}");
    }
}

#[test]
fn code_may_be_made_and_run_on_many_threads() {
    let threads: Vec<_> = (0..4)
        .map(|number| {
            std::thread::spawn(move || {
                for round in 0..25 {
                    let text = format!("define i32 @f() {{\n ret i32 {}\n}}", number * 1000 + round);
                    let code = code(&text, "f");
                    // SAFETY: the function has this type.
                    let f: extern "C" fn() -> i32 = unsafe { as_fn(&code) };
                    assert_eq!(f(), number * 1000 + round);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

/// More masks than a processor has registers for.
const MASKS: usize = 14;

/// A function that stores rows of 1 where the input is positive and 3 elsewhere, and then 2 in the lower half of each row where it is positive.
/// Rows have `lanes` integers.
fn store_lower_halves(lanes: usize) -> String {
    let half = lanes / 2;
    let selected: Vec<String> = (0..half).chain(lanes + half..2 * lanes).map(|lane| format!("i32 {lane}")).collect();
    let lower_half = selected.join(", ");
    let off = [vec!["i1 poison"; half], vec!["i1 false"; half]].concat().join(", ");
    let (mut masks, mut stores) = (String::new(), String::new());
    for mask in 0..MASKS {
        let offset = mask * lanes;
        masks += &format!(
            "%p{mask} = getelementptr i32, ptr %in, i64 {offset}
             %x{mask} = load <{lanes} x i32>, ptr %p{mask}, align 4
             %c{mask} = icmp sgt <{lanes} x i32> %x{mask}, zeroinitializer
             %h{mask} = shufflevector <{lanes} x i1> %c{mask}, <{lanes} x i1> <{off}>, <{lanes} x i32> <{lower_half}>\n"
        );
        stores += &format!(
            "%q{mask} = getelementptr i32, ptr %row, i64 {offset}
             %s{mask} = select <{lanes} x i1> %c{mask}, <{lanes} x i32> splat (i32 1), <{lanes} x i32> splat (i32 3)
             store <{lanes} x i32> %s{mask}, ptr %q{mask}, align 4
             call void @store(<{lanes} x i32> splat (i32 2), ptr align 4 %q{mask}, <{lanes} x i1> %h{mask})\n"
        );
    }
    // In the loop all masks are live.
    format!(
        "declare void @store(<{lanes} x i32>, ptr, <{lanes} x i1>)
         define void @f(ptr noalias %in, ptr noalias %out, i64 %rows) {{
         entry:
           {masks}
           br label %loop
         loop:
           %i = phi i64 [ 0, %entry ], [ %next, %loop ]
           %row = getelementptr [{} x i32], ptr %out, i64 %i
           {stores}
           %next = add i64 %i, 1
           %done = icmp eq i64 %next, %rows
           br i1 %done, label %exit, label %loop
         exit:
           ret void
         }}",
        MASKS * lanes
    )
    .replace("@store(", &format!("@llvm.masked.store.v{lanes}i32.p0("))
}

#[test]
fn lanes_above_the_lower_half_stay_off() {
    const ROWS: usize = 2;
    for lanes in [8, 16] {
        let code = code(&store_lower_halves(lanes), "f");
        // SAFETY: the function has this type.
        let store: extern "C" fn(*const i32, *mut i32, u64) = unsafe { as_fn(&code) };
        let input: Vec<i32> = (0..MASKS * lanes).map(|index| if index % 5 == 0 { -1 } else { 1 }).collect();
        let mut output = vec![0; ROWS * input.len()];
        store(input.as_ptr(), output.as_mut_ptr(), ROWS as u64);
        let expected = |index: usize| match input[index % input.len()] {
            ..=0 => 3,
            _ if index % lanes < lanes / 2 => 2,
            _ => 1,
        };
        let differing = (0..output.len()).find(|&index| output[index] != expected(index));
        assert_eq!(differing, None, "{lanes} lanes");
    }
}
