//! The child process: diagnostics of the real clang, and what happens when what runs is no clang at all.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use lockstep_compiler::frontend::{FrontendConfig, Header, compile_source};
use lockstep_protocol::build_failure::FrontendError;
use lockstep_protocol::build_options::{BuildOptions, Stage};
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
    check("__OPENCL_VERSION__ == 300 && __ENDIAN_LITTLE__ == 1", "");
    check("defined(__FAST_RELAXED_MATH__)", "-cl-fast-relaxed-math");
    check("!defined(__FAST_RELAXED_MATH__) && __IMAGE_SUPPORT__ == 1", "");
    for version in ["CL1.0", "CL1.1", "CL1.2", "CL2.0", "CL3.0", "CLC++1.0", "CLC++2021"] {
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
        "cl_intel_subgroups",
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
        Header { name: "a.h", source: b"#define A 1\n" },
        Header { name: "inc/c.h", source: b"#include \"d.h\"\n#include <a.h>\n" },
        Header { name: "inc/d.h", source: b"#define D 4\n" },
        Header { name: "a.h", source: b"#error the second a.h\n" },
    ];
    let source =
        "#include \"a.h\"\n#include <b.h>\n#include <inc/c.h>\nkernel void f(global int* p) { *p = A + B + D; }\n";
    let temp = scratch("headers");
    let config = FrontendConfig { temp_dir: temp.clone(), ..FrontendConfig::default() };
    compile_source(&config, source.as_bytes(), &headers, &options).unwrap_or_else(|error| panic!("{error}"));

    let broken = [Header { name: "inc/e.h", source: b"\n\nint x y;\n" }];
    let log = log_of(compile_source(&config, b"#include <inc/e.h>\n", &broken, &options));
    assert!(log.contains("In file included from program.cl:1:"), "{log}");
    assert!(log.contains("inc/e.h:3:"), "{log}");
    assert!(!log.contains(&temp.display().to_string()), "the private directory shows: {log}");
    assert_eq!(fs::read_dir(&temp).unwrap().count(), 0, "something is left in the temporary directory");
}

#[test]
fn header_names_cannot_leave_their_folder() {
    let options = BuildOptions::default();
    for name in ["../a.h", "/tmp/lockstep-escape.h", "", "a/../../b.h", ".lockstep-program.cl"] {
        let headers = [Header { name, source: b"" }];
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

/// A shell script in the compiler's place.
fn fake(name: &str, script: &str) -> FrontendConfig {
    let path = scratch(name).join("clang");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    FrontendConfig { clang: Some(path), timeout: Duration::from_secs(20), ..FrontendConfig::default() }
}

fn run(config: &FrontendConfig) -> FrontendError {
    compile_source(config, b"kernel void f() {}", &[], &BuildOptions::default()).unwrap_err()
}

#[test]
fn an_endless_compiler_is_stopped_with_all_its_children() {
    let marker = format!("31{}", std::process::id() % 100_000);
    let mut config = fake("endless", &format!("echo thinking >&2\nsleep {marker} & sleep {marker}"));
    config.timeout = Duration::from_millis(300);
    let start = Instant::now();
    let error = run(&config);
    assert!(start.elapsed() < Duration::from_secs(5), "it took {:?}", start.elapsed());
    match error {
        FrontendError::Timeout { log } => assert!(log.contains("thinking") && log.contains("0.3 s"), "{log}"),
        other => panic!("{other:?}"),
    }
    std::thread::sleep(Duration::from_millis(50));
    for process in fs::read_dir("/proc").unwrap().flatten() {
        let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&line).contains(&marker), "a child is left over: {process:?}");
    }
}

#[test]
fn an_endless_source_is_stopped() {
    let config = FrontendConfig { timeout: Duration::from_millis(500), ..FrontendConfig::default() };
    let mut source = String::from("#define A0(x) x x\n");
    for i in 1..40 {
        source += &format!("#define A{i}(x) A{}(x) A{}(x)\n", i - 1, i - 1);
    }
    source += "kernel void f() { A39(;) }\n";
    let error = compile_source(&config, source.as_bytes(), &[], &BuildOptions::default()).unwrap_err();
    assert!(matches!(error, FrontendError::Timeout { .. }), "{error:?}");
}

#[test]
fn a_compiler_that_eats_memory_does_not_take_ours() {
    let config = FrontendConfig { memory: 400 << 20, ..FrontendConfig::default() };
    let mut source = String::from("#define A0 { int x = 1; }\n");
    for i in 1..26 {
        source += &format!("#define A{i} A{0} A{0}\n", i - 1);
    }
    source += "kernel void f() { A25 }\n";
    match compile_source(&config, source.as_bytes(), &[], &BuildOptions::default()) {
        Err(FrontendError::FrontendCrashed { .. } | FrontendError::CompileFailure { .. }) => {}
        other => panic!("{:?}", other.map(|object| object.log)),
    }
}

#[test]
fn a_crash_is_reported_and_survived() {
    for (name, script, sign) in [
        ("abort", "echo dying >&2; kill -ABRT $$", "signal 6"),
        ("segv", "kill -SEGV $$", "signal 11"),
        ("status", "exit 134", "status 134"),
    ] {
        match run(&fake(name, script)) {
            FrontendError::FrontendCrashed { log } => assert!(log.contains(sign), "{name}: {log}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn huge_output_is_bounded() {
    let config = fake("noise", "head -c 40000000 /dev/zero | tr '\\0' 'e' >&2; exit 1");
    match run(&config) {
        FrontendError::CompileFailure { log } => {
            assert!(log.len() < 2 << 20, "{} bytes", log.len());
            assert!(log.contains("left out"), "{}", &log[log.len() - 100..]);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_program_that_is_no_compiler_is_found_out() {
    match run(&fake("silent", "exit 0")) {
        FrontendError::FrontendCrashed { log } => assert!(log.contains("clang 22"), "{log}"),
        other => panic!("{other:?}"),
    }
    match run(&fake("failing", "exit 1")) {
        FrontendError::CompileFailure { log } => assert!(log.contains("without a message"), "{log}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn input_that_nobody_reads_blocks_nothing() {
    let config = fake("deaf", "exec <&-; exit 1");
    let source = "/* */".repeat(2_000_000);
    let error = compile_source(&config, source.as_bytes(), &[], &BuildOptions::default()).unwrap_err();
    assert!(matches!(error, FrontendError::CompileFailure { .. }), "{error:?}");
}

#[test]
fn a_missing_compiler_is_named_with_its_package() {
    let nowhere = PathBuf::from("/nonexistent/clang-22");
    let config = FrontendConfig { clang: Some(nowhere), ..FrontendConfig::default() };
    match run(&config) {
        FrontendError::FrontendMissing { log } => {
            assert!(log.contains("/nonexistent/clang-22") && log.contains("package clang-22"), "{log}");
        }
        other => panic!("{other:?}"),
    }
    let folder = scratch("not-executable");
    fs::write(folder.join("clang"), "").unwrap();
    let config = FrontendConfig { clang: Some(folder.join("clang")), ..FrontendConfig::default() };
    assert!(matches!(run(&config), FrontendError::FrontendMissing { .. }));
}

#[test]
fn the_search_path_is_searched_but_not_the_working_directory() {
    let folder = scratch("path");
    let script = folder.join("clang-22");
    fs::write(&script, "#!/bin/sh\necho found >&2\nexit 1\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let search = format!(":relative:/nonexistent:{}", folder.display());
    let config = FrontendConfig { search_path: Some(search.into()), ..FrontendConfig::default() };
    match run(&config) {
        FrontendError::CompileFailure { log } => assert_eq!(log, "found\n"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn no_descriptor_is_left_open() {
    let count = || fs::read_dir("/proc/self/fd").unwrap().count();
    let config = fake("descriptors", "ls -l /proc/$$/fd >&2; exit 1");
    let inherited = run(&config).build_log();
    assert!(!inherited.contains("lockstep-in (deleted) ->"), "{inherited}");
    // Other tests of this program open files at the same time, so many rounds are compared with few.
    let before = count();
    for _ in 0..100 {
        run(&config);
    }
    assert!(count() < before + 60, "{} descriptors, {before} before", count());
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
