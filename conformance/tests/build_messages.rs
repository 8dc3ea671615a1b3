//! What the build log says: of options that are wrong, of mistakes that a compiler warns of, and of what older versions of
//! OpenCL C let pass.

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;
use std::sync::Mutex;

use lockstep_conformance::loader::{cl, device};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Program, Setup, code_name, expect, is_lockstep, ok};

const SOURCE: &str = "kernel void f(global int *out) { out[0] = 1; }";

fn attempt(setup: &Setup, source: &str, options: &str) -> (cl_int, String) {
    let program = setup.context.source(source);
    (program.build(options), program.log())
}

fn compile(program: &Program, options: &str) -> cl_int {
    let options = CString::new(options).expect("no zeros");
    let none: *mut c_void = ptr::null_mut();
    (cl().clCompileProgram)(program.raw(), 0, ptr::null(), options.as_ptr(), 0, ptr::null(), none.cast(), None, none)
}

#[test]
fn wrong_options_are_named() {
    if !is_lockstep() {
        return;
    }
    let setup = Setup::new();
    let versions = "CL1.0, CL1.1, CL1.2, CL2.0, CL3.0, CL3.1, CLC++1.0, CLC++2021";
    for (options, message) in [
        (
            "-w -cl-fast-relaxed-maths",
            "error: unknown build option '-cl-fast-relaxed-maths'; did you mean '-cl-fast-relaxed-math'?\n".to_string(),
        ),
        ("-std=CL2.0", "error: unknown build option '-std=CL2.0'; did you mean '-cl-std=CL2.0'?\n".into()),
        ("-zz", "error: unknown build option '-zz'\n".into()),
        ("-DX=1 -D", "error: build option '-D' needs the name of a macro\n".into()),
        ("-I", "error: build option '-I' needs the name of a directory\n".into()),
        ("-cl-std", format!("error: build option '-cl-std' needs a version of OpenCL C: {versions}\n")),
        (
            "-cl-std=CL9.9",
            format!("error: build option '-cl-std=CL9.9' names no version of OpenCL C that is offered: {versions}\n"),
        ),
        (
            "-create-library",
            "error: unknown build option '-create-library': it is an option of clLinkProgram alone\n".into(),
        ),
    ] {
        let program = setup.context.source(SOURCE);
        expect(program.build(options), CL_INVALID_BUILD_OPTIONS);
        assert_eq!(program.log(), message, "{options}");
        assert_eq!(program.build_info::<cl_int>(CL_PROGRAM_BUILD_STATUS), CL_BUILD_ERROR);
        expect(compile(&program, options), CL_INVALID_COMPILER_OPTIONS);
        assert_eq!(program.log(), message.replace("build option", "compiler option"), "{options}");
        // The program can still be built, and the log is that of the last build.
        ok(program.build(""));
        assert_eq!(program.log(), "");
        program.kernel("f");
    }
}

static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

extern "C" fn tell(message: *const c_char, _: *const c_void, _: usize, _: *mut c_void) {
    // SAFETY: the driver hands a terminated string over for the time of the call.
    let message = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
    TOLD.lock().expect("no panic").push(message);
}

/// A link with wrong options makes no program that could have a log: the context's callback is told.
#[test]
fn wrong_options_are_told_to_the_context() {
    if !is_lockstep() {
        return;
    }
    let mut code = CL_SUCCESS;
    let context = (cl().clCreateContext)(ptr::null(), 1, &device(), Some(tell), ptr::null_mut(), &mut code);
    ok(code);
    let context = lockstep_conformance::Context::own(context);
    let program = context.source(SOURCE);
    ok(compile(&program, ""));
    let raw = program.raw();
    let linked = (cl().clLinkProgram)(
        context.raw(),
        0,
        ptr::null(),
        c"-create-libary".as_ptr(),
        1,
        &raw,
        None,
        ptr::null_mut(),
        &mut code,
    );
    assert!(linked.is_null());
    expect(code, CL_INVALID_LINKER_OPTIONS);
    expect(program.build("-cl-no-such-option"), CL_INVALID_BUILD_OPTIONS);
    let told = TOLD.lock().expect("no panic");
    for message in [
        "clLinkProgram: unknown linker option '-create-libary'; did you mean '-create-library'? [CL_INVALID_LINKER_OPTIONS]",
        "clBuildProgram: unknown build option '-cl-no-such-option' [CL_INVALID_BUILD_OPTIONS]",
    ] {
        assert!(told.iter().any(|said| said == message), "{told:?}");
    }
}

/// Of mistakes that clang finds in a file of its own, each is found in a program as well.
#[test]
fn mistakes_are_warned_of() {
    let setup = Setup::new();
    for (body, warning) in [
        ("for (int i = 0; i < 3; i++);\n    p[0] = 1;", "empty-body"),
        ("if (p[0]);\n    p[1] = 1;", "empty-body"),
        ("while (p[0] > 9); { p[0] = 1; }", "empty-body"),
        ("p[0] == 1;", "unused-comparison"),
        ("abs(p[0]);", "unused-value"),
        ("p[0] = p[1] / 0;", "division-by-zero"),
        ("p[0] = 2147483647 + 1;", "integer-overflow"),
        ("uchar c = p[0]; p[1] = c < 300;", "tautological-constant-out-of-range-compare"),
        ("printf(\"%s\", p[0]);", "format"),
        ("int a[2]; a[0] = 1; p[0] = a[2];", "array-bounds"),
        ("if (p[0] = 1) p[1] = 2;", "parentheses"),
        ("p[0] = p[0] & 1 == 1;", "parentheses"),
        ("p[0] = !p[1] < 2;", "logical-not-parentheses"),
        ("p[0] = sizeof(p[0]++);", "unevaluated-expression"),
        ("char c = 300; p[0] = c;", "constant-conversion"),
        ("return; } int g(int y) { if (y) return 1;", "return-type"),
        ("p[0] = 1;\n#warning here\n", "#warnings"),
    ] {
        let source = format!("kernel void f(global int *p) {{\n{body}\n}}");
        let (code, log) = attempt(&setup, &source, "");
        assert_eq!(code, CL_SUCCESS, "{body}: {log}");
        let named = format!("[-W{warning}");
        assert!(!is_lockstep() || log.contains(&named) && log.contains("program.cl:"), "{body}: {log}");
        assert!(!log.contains("<stdin>"), "{log}");
        assert_eq!(attempt(&setup, &source, "-w"), (CL_SUCCESS, String::new()), "{body}");
    }
    // As with clang, only if they are asked for.
    for (body, option) in [("int x; p[0] = x;", "-Wuninitialized"), ("int x = 1;", "-Wunused-variable")] {
        let source = format!("kernel void f(global int *p) {{ {body} }}");
        let (code, log) = attempt(&setup, &source, option);
        assert_eq!(code, CL_SUCCESS, "{body}: {log}");
        assert!(log.contains(option), "{body}: {log}");
    }
}

/// Names and lines are the program's, in messages and in the text itself.
#[test]
fn the_program_has_its_name() {
    if !is_lockstep() {
        return;
    }
    let setup = Setup::new();
    let (code, log) = attempt(&setup, "\n#line 7 \"other.cl\"\nkernel void f(global int *p) { p[0] == 1; }", "");
    ok(code);
    assert!(log.starts_with("other.cl:7:"), "{log}");
    let (code, log) = attempt(&setup, "\u{feff}kernel void f(global int *p) { if (p[0]); } // <stdin>:1:", "");
    ok(code);
    assert!(log.starts_with("program.cl:1:41: warning") && log.contains("// <stdin>:1:"), "{log}");
    let names = "
        constant char file[] = __FILE__, short_name[] = __FILE_NAME__;
        _Static_assert(sizeof(file) == sizeof(\"program.cl\"), \"__FILE__\");
        _Static_assert(sizeof(short_name) == sizeof(\"program.cl\"), \"__FILE_NAME__\");
        _Static_assert(__LINE__ == 5, \"__LINE__\");
        kernel void f(global char *p) { p[0] = file[0]; p[1] = short_name[0]; }";
    let (code, log) = attempt(&setup, names, "");
    assert_eq!((code, &*log), (CL_SUCCESS, ""));
}

/// Pointers to other types and declarations without one are warnings before OpenCL C 3.0 and errors in it; what no
/// compiler takes stays an error.
#[test]
fn older_programs_are_taken() {
    if !is_lockstep() {
        return;
    }
    let setup = Setup::new();
    let pointer = "void g(global int *p) { p[0] = 1; } kernel void f(global float *p) { g(p); global uint2 *q = p; }";
    let private = "void g(int *p) { *p = 1; } kernel void f(global float *p) { float x; g(&x); p[0] = x; }";
    let integer = "twice(int x) { return 2 * x; } kernel void f(global int *p) { const n = 3; p[0] = twice(n); }";
    for (source, warning) in [
        (pointer, "[-Wincompatible-pointer-types]"),
        (private, "[-Wincompatible-pointer-types]"),
        (integer, "[-Wimplicit-int]"),
    ] {
        for version in ["", "-cl-std=CL1.0", "-cl-std=CL1.1", "-cl-std=CL1.2", "-cl-std=CL2.0"] {
            let (code, log) = attempt(&setup, source, version);
            assert_eq!(code, CL_SUCCESS, "{version}: {}: {log}", code_name(code));
            assert!(log.contains(warning) && log.contains("warning:"), "{version}: {log}");
            assert_eq!(attempt(&setup, source, &format!("{version} -w")), (CL_SUCCESS, String::new()));
            let (code, log) = attempt(&setup, source, &format!("{version} -Werror"));
            assert_eq!(code, CL_BUILD_PROGRAM_FAILURE, "{version} -Werror: {log}");
        }
        let (code, log) = attempt(&setup, source, "-cl-std=CL3.0");
        assert_eq!(code, CL_BUILD_PROGRAM_FAILURE, "{log}");
        let name = warning.trim_matches(['[', ']']).replace("-W", "-Werror=");
        expect(attempt(&setup, source, &name).0, CL_BUILD_PROGRAM_FAILURE);
    }
    for source in [
        "void g(local int *p) { } kernel void f(global int *p) { g(p); }",
        "kernel void f(global int *p) { size_t address = p; p[0] = address; }",
        "kernel void f(global int *p) { p[0] = nowhere(1); }",
    ] {
        expect(attempt(&setup, source, "-cl-std=CL1.2").0, CL_BUILD_PROGRAM_FAILURE);
    }
}
