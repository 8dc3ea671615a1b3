//! clang as programs and their authors meet it: diagnostics, macros, options, headers.

use std::fs;
use std::path::PathBuf;

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use lockstep_compiler::frontend::{FrontendConfig, compile_recorded, compile_source};
use lockstep_protocol::build_failure::FrontendError;
use lockstep_protocol::build_options::{BuildOptions, Stage};
use lockstep_protocol::job::{Header, ReadFile};
use lockstep_protocol::portable_program::CompiledObject;

fn with_options(source: &str, text: &str) -> Result<CompiledObject, FrontendError> {
    let options = BuildOptions::parse(text, Stage::Build).unwrap();
    compile_source(&FrontendConfig::default(), source.as_bytes(), &[], &options)
}

fn log_of(result: Result<CompiledObject, FrontendError>) -> String {
    match result {
        Err(FrontendError::CompileFailure { log }) => log,
        Err(other) => panic!("{other:?}"),
        Ok(object) => panic!("compiled, log {:?}", object.log),
    }
}

#[test]
fn errors_carry_the_lines_of_the_user() {
    let log = log_of(with_options("kernel void f(global int* a) {\n  int x = 1;\n  a[0] = y;\n}\n", ""));
    assert!(log.contains("program.cl:3:10: error: use of undeclared identifier 'y'"), "{log}");
    assert!(log.contains("a[0] = y;"), "the line itself is shown: {log}");
    let log = log_of(with_options("#line 70 \"mine.cl\"\nkernel void f() { return 1 }\n", ""));
    assert!(log.contains("mine.cl:70:27: error:"), "{log}");
    let log = log_of(with_options("\u{feff}kernel void f() { x; }", ""));
    assert!(log.contains("program.cl:1:19: error"), "a byte-order mark is not part of the program: {log}");
}

#[test]
fn warnings_are_shown_hidden_or_errors() {
    let source = "#warning look here\nkernel void f() {}\n";
    assert!(with_options(source, "").unwrap().log.contains("program.cl:1:2: warning: look here"));
    assert_eq!(with_options(source, "-w").unwrap().log, "");
    assert!(log_of(with_options(source, "-Werror")).contains("error: look here"));
    assert_eq!(with_options("kernel void f() {}", "").unwrap().log, "");
}

#[test]
fn macros_and_versions_reach_the_compiler() {
    let check = |condition: &str, options: &str| {
        let source = format!("#if !({condition})\n#error no\n#endif\nkernel void f() {{}}");
        with_options(&source, options).unwrap_or_else(|error| panic!("{condition} with {options:?}: {error}"));
    };
    check("A == 1 && B == 2 && !defined(C)", "-DA -D B=2 -DC -UC");
    check("__OPENCL_C_VERSION__ == 120", "");
    check("__OPENCL_C_VERSION__ == 100", "-cl-std=CL1.0");
    check("__OPENCL_C_VERSION__ == 110", "-cl-std=CL1.1");
    check("__OPENCL_C_VERSION__ == 200", "-cl-std=CL2.0");
    check("__OPENCL_C_VERSION__ == 300", "-cl-std=CL3.0");
    check("__OPENCL_CPP_VERSION__ == 100", "-cl-std=CLC++");
    check("__OPENCL_CPP_VERSION__ == 202100", "-cl-std=CLC++2021");
    check("__OPENCL_C_VERSION__ == CL_VERSION_3_1 && CL_VERSION_3_1 == 310", "-cl-std=CL3.1 -Werror");
    check("CL_VERSION_3_1 == 310", "-cl-std=CL1.0 -Werror");
    check("CL_VERSION_3_1 == 310", "-cl-std=CLC++2021 -Werror");
    check("__OPENCL_VERSION__ == 310 && __ENDIAN_LITTLE__ == 1", "");
    check("defined(__FAST_RELAXED_MATH__)", "-cl-fast-relaxed-math");
    check("!defined(__FAST_RELAXED_MATH__) && __IMAGE_SUPPORT__ == 1", "");
    for version in ["CL1.0", "CL1.1", "CL1.2", "CL2.0", "CL3.0", "CL3.1", "CLC++1.0", "CLC++2021"] {
        let source =
            "kernel void f(global float* a) { a[get_global_id(0)] = sin(a[0]); barrier(CLK_LOCAL_MEM_FENCE); }";
        with_options(source, &format!("-cl-std={version}")).unwrap_or_else(|error| panic!("{version}: {error}"));
    }
}

/// The macros the compiler defines are the extensions and features the device reports, no more and no fewer.
#[test]
fn extension_and_feature_macros_are_those_of_the_table() {
    use lockstep_protocol::features::{EXTENSIONS, FEATURES};
    let mut source = String::new();
    for extension in EXTENSIONS.iter().filter(|e| e.language) {
        source += &format!("#ifndef {0}\n#error {0} is missing\n#endif\n", extension.name);
    }
    for feature in FEATURES {
        source += &format!("#ifndef {0}\n#error {0} is missing\n#endif\n", feature.name);
    }
    for foreign in [
        "cl_khr_mipmap_image",
        "cl_khr_srgb_image_writes",
        "cl_intel_media_block_io",
        "cl_khr_extended_async_copies",
        "__opencl_c_ext_fp16_global_atomic_add",
        "__opencl_c_device_enqueue",
    ] {
        source += &format!("#ifdef {foreign}\n#error {foreign} is not reported\n#endif\n");
    }
    source += "kernel void f() {}\n";
    with_options(&source, "-cl-std=CL3.0").unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn options_that_the_parser_lets_through_please_the_compiler() {
    for text in [
        "-cl-single-precision-constant -cl-denorms-are-zero -cl-fp32-correctly-rounded-divide-sqrt",
        "-cl-opt-disable -cl-strict-aliasing -cl-uniform-work-group-size -cl-no-subgroup-ifp -cl-mad-enable",
        "-cl-no-signed-zeros -cl-unsafe-math-optimizations -cl-finite-math-only -cl-fast-relaxed-math",
        "-cl-kernel-arg-info -g -Wall -Wno-unused -O3 -fno-bin-source -save-temps",
    ] {
        let object = with_options("kernel void f(global float* a) { a[0] /= 3.0f; }", text)
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(object.bitcode.starts_with(b"BC"), "{text}");
        assert_eq!(object.log, "", "{text}");
    }
}

#[test]
fn embedded_headers_come_first_and_may_have_folders() {
    let folder = scratch("include");
    fs::write(folder.join("a.h"), "#error the wrong a.h\n").unwrap();
    fs::write(folder.join("b.h"), "#define B 2\n").unwrap();
    let options = BuildOptions::parse(&format!("-I '{}'", folder.display()), Stage::Compile).unwrap();
    let headers = [
        Header::new("a.h", b"#define A 1\n"),
        Header::new("inc/c.h", b"#include \"d.h\"\n#include <a.h>\n"),
        Header::new("inc/d.h", b"#define D 4\n"),
        Header::new("a.h", b"#error the second a.h\n"),
    ];
    let source =
        "#include \"a.h\"\n#include <b.h>\n#include <inc/c.h>\nkernel void f(global int* p) { *p = A + B + D; }\n";
    let config = FrontendConfig::default();
    compile_source(&config, source.as_bytes(), &headers, &options).unwrap_or_else(|error| panic!("{error}"));

    let broken = [Header::new("inc/e.h", b"\n\nint x y;\n")];
    let log = log_of(compile_source(&config, b"#include <inc/e.h>\n", &broken, &options));
    assert!(log.contains("In file included from program.cl:1:"), "{log}");
    assert!(log.contains("inc/e.h:3:"), "{log}");
    assert!(!log.contains("/lockstep/"), "the private directory shows: {log}");
}

#[test]
fn header_names_cannot_leave_their_folder() {
    let options = BuildOptions::default();
    for name in ["../a.h", "/tmp/lockstep-escape.h", "", "a/../../b.h", ".lockstep-program.cl"] {
        let headers = [Header::new(name, b"")];
        let log = log_of(compile_source(&FrontendConfig::default(), b"kernel void f() {}", &headers, &options));
        assert!(log.contains("header name"), "{name}: {log}");
    }
    assert!(!PathBuf::from("/tmp/lockstep-escape.h").exists());
}

#[test]
fn strange_sources_are_errors_or_programs_but_no_trouble() {
    let nested = format!("kernel void f() {{ int x = {}1{}; }}", "(".repeat(100_000), ")".repeat(100_000));
    for source in
        ["", "\0", "kernel void f() {}\0", "#include", "#include </dev/zero", "\u{1b}[0m", "/*", nested.as_str()]
    {
        match with_options(source, "") {
            Ok(_) | Err(FrontendError::CompileFailure { .. } | FrontendError::FrontendCrashed { .. }) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
    assert!(with_options("kernel void f() {} // no end of line", "").is_ok());
}

/// A directory of this test's own.
fn scratch(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

#[test]
fn a_flood_of_messages_is_bounded() {
    let source = format!("#warning {}\n", "e".repeat(1000)).repeat(4000) + "kernel void f() {}\n";
    let log = with_options(&source, "").unwrap().log;
    assert!(log.len() < 2 << 20, "{} bytes", log.len());
    assert!(log.contains("left out"), "{}", &log[log.len() - 100..]);
}

#[test]
fn names_of_headers_are_those_of_the_application() {
    let headers = [Header::new("inc/a.h", b"constant char header[] = __FILE__;\n#warning here\n")];
    let source = b"#include <inc/a.h>\nconstant char text[] = __FILE__;\nkernel void f() {}\n";
    let options = BuildOptions::parse("-g", Stage::Compile).unwrap();
    let object = compile_source(&FrontendConfig::default(), source, &headers, &options).unwrap();
    assert!(
        object.log.starts_with("In file included from program.cl:1:\ninc/a.h:2:2: warning: here"),
        "{}",
        object.log
    );
    let text = disassemble(&object.bitcode);
    for name in ["c\"inc/a.h\\00\"", "c\"program.cl\\00\"", "!DIFile(filename: \"program.cl\""] {
        assert!(text.contains(name), "{name}: {text}");
    }
    // The module itself is named after where its text is.
    let is_named = text.lines().any(|line| line.contains("lockstep/headers") && !line.starts_with("source_filename"));
    assert!(!is_named, "a folder that nobody knows is named: {text}");
}

fn disassemble(bitcode: &[u8]) -> String {
    let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, "object");
    Context::create().create_module_from_ir(buffer).unwrap().print_to_string().to_string()
}

/// What was read decides about what the cache keeps.
#[test]
fn files_that_were_read_are_told_with_their_contents() {
    let folder = scratch("read");
    let (first, second) = (folder.join("first.h"), folder.join("second.h"));
    fs::write(&first, "#include \"second.h\"\n").unwrap();
    fs::write(&second, "#define A 1\n").unwrap();
    let options = BuildOptions::parse(&format!("-I '{}'", folder.display()), Stage::Build).unwrap();
    let headers = [Header::new("embedded.h", b"#include <first.h>\n")];
    let source = b"#include \"embedded.h\"\nkernel void f(global int* a) { *a = A; }\n";
    let compilation = compile_recorded(&FrontendConfig::default(), source, &headers, &options).unwrap();
    let expected = [(first, &b"#include \"second.h\"\n"[..]), (second, b"#define A 1\n")]
        .map(|(path, contents)| ReadFile { path, hash: blake3::hash(contents).into() });
    assert_eq!(compilation.read_files, expected);
    let none = compile_recorded(&FrontendConfig::default(), b"kernel void f() {}", &[], &options).unwrap();
    assert_eq!(none.read_files, []);
}

#[test]
fn many_programs_compile_at_the_same_time() {
    let threads: Vec<_> = (0..6)
        .map(|number| {
            std::thread::spawn(move || {
                let source = format!("kernel void f{number}(global int* a) {{ *a = {number}; }}");
                let object = with_options(&source, "").unwrap();
                assert!(object.bitcode.starts_with(b"BC"));
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn files_that_never_end_are_not_read() {
    let folder = scratch("never-ending");
    let pipe = folder.join("pipe.h");
    let status = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(status.success());
    for path in ["/dev/zero", "/dev/stdin", pipe.to_str().unwrap()] {
        for directive in ["#include", "constant char text[] = {\n#embed"] {
            let log = log_of(with_options(&format!("{directive} \"{path}\"\n"), ""));
            assert!(log.contains(path), "{log}");
        }
    }
}
