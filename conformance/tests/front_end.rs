//! A compiler that is missing, runs for ever, crashes or talks nonsense: the build fails, says why, and the application
//! lives. Each test is a process of its own, with a stand-in for the compiler. For this driver only.

use std::time::{Duration, Instant};

use lockstep_conformance::child::in_child;
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::stand_in::{KEEP_REQUEST, StandIn, real_compiler};
use lockstep_conformance::{Setup, cl, code_name, info, is_lockstep};

const SOURCE: &str = "kernel void f(global int *a) { a[0] = 1; }";

/// Builds in a child process and returns the build log. The application goes on afterwards.
#[track_caller]
fn log_of_failed_build(test: &str, environment: &[(&str, &str)]) -> String {
    in_child(test, environment, || {
        let setup = Setup::new();
        let program = setup.context.source(SOURCE);
        let code = program.build("");
        let codes = [CL_BUILD_PROGRAM_FAILURE, CL_COMPILER_NOT_AVAILABLE];
        assert!(codes.contains(&code), "{}", code_name(code));
        assert_eq!(program.build_info::<i32>(CL_PROGRAM_BUILD_STATUS), CL_BUILD_ERROR);
        assert_eq!(program.try_kernel("f").err(), Some(CL_INVALID_PROGRAM_EXECUTABLE));
        println!("{}", program.log());
        // Memory and commands still work.
        let buffer = setup.context.with_values(&[1_u8, 2, 3]);
        assert_eq!(lockstep_conformance::read::<u8>(&setup.queue, &buffer), [1, 2, 3]);
    })
    .stdout
}

#[test]
fn missing() {
    if !is_lockstep() {
        return;
    }
    let log = log_of_failed_build("missing", &[("LOCKSTEP_COMPILER", "/no/such/compiler")]);
    assert!(log.contains("/no/such/compiler") && log.contains("beside the driver"), "{log}");
}

#[test]
fn without_a_compiler_the_device_says_so() {
    if !is_lockstep() {
        return;
    }
    for (path, is_there) in [("/no/such/compiler", CL_FALSE), ("/bin/cat", CL_FALSE), ("", CL_TRUE)] {
        let path = if path.is_empty() { real_compiler().display().to_string() } else { path.to_owned() };
        let environment =
            [("LOCKSTEP_COMPILER", path.as_str()), ("EXPECTED", if is_there == CL_TRUE { "1" } else { "0" })];
        in_child("without_a_compiler_the_device_says_so", &environment, || {
            let expected = std::env::var("EXPECTED").expect("set").parse::<u32>().expect("a number");
            let setup = Setup::new();
            for question in [CL_DEVICE_COMPILER_AVAILABLE, CL_DEVICE_LINKER_AVAILABLE] {
                let answer: u32 = info::value(|size, value, needed| {
                    (cl().clGetDeviceInfo)(setup.device(), question, size, value, needed)
                });
                assert_eq!(answer, expected);
            }
        });
    }
}

#[test]
fn neither_the_path_nor_the_working_directory_matter() {
    if !is_lockstep() {
        return;
    }
    in_child("neither_the_path_nor_the_working_directory_matter", &[("PATH", "/nowhere")], || {
        std::env::set_current_dir("/").expect("the root is there");
        Setup::new().context.build(SOURCE, "");
    });
}

#[test]
fn not_executable() {
    if !is_lockstep() {
        return;
    }
    let log = log_of_failed_build("not_executable", &[("LOCKSTEP_COMPILER", "/etc/passwd")]);
    assert!(log.contains("/etc/passwd"), "{log}");
}

#[test]
fn endless() {
    if !is_lockstep() {
        return;
    }
    let stand_in = StandIn::new("endless", "while true; do sleep 0.05; done");
    let start = Instant::now();
    let environment = [("LOCKSTEP_COMPILER", stand_in.path()), ("LOCKSTEP_BUILD_TIMEOUT_MS", "300")];
    let log = log_of_failed_build("endless", &environment);
    assert!(start.elapsed() < Duration::from_secs(20), "the limit did not bind");
    assert!(log.contains("300") || log.contains("0.3"), "{log}");
}

#[test]
fn endless_with_children_of_its_own() {
    if !is_lockstep() {
        return;
    }
    // The grandchild holds the pipes open after the child is killed.
    let stand_in = StandIn::new("grandchild", "sleep 1000 & wait");
    let start = Instant::now();
    let environment = [("LOCKSTEP_COMPILER", stand_in.path()), ("LOCKSTEP_BUILD_TIMEOUT_MS", "300")];
    log_of_failed_build("endless_with_children_of_its_own", &environment);
    assert!(start.elapsed() < Duration::from_secs(20), "the limit did not bind");
}

#[test]
fn crashing() {
    if !is_lockstep() {
        return;
    }
    let stand_in = StandIn::new("crash", "kill -SEGV $$");
    let log = log_of_failed_build("crashing", &[("LOCKSTEP_COMPILER", stand_in.path())]);
    assert!(log.contains("signal") || log.contains("crash"), "{log}");
}

#[test]
fn failing_with_a_message() {
    if !is_lockstep() {
        return;
    }
    let stand_in = StandIn::new("message", "echo 'this compiler is tired' >&2; exit 3");
    let log = log_of_failed_build("failing_with_a_message", &[("LOCKSTEP_COMPILER", stand_in.path())]);
    assert!(log.contains("this compiler is tired"), "{log}");
}

#[test]
fn succeeding_with_nothing() {
    if !is_lockstep() {
        return;
    }
    let stand_in = StandIn::new("nothing", "exit 0");
    let log = log_of_failed_build("succeeding_with_nothing", &[("LOCKSTEP_COMPILER", stand_in.path())]);
    assert!(!log.trim().is_empty());
}

#[test]
fn succeeding_with_nonsense() {
    if !is_lockstep() {
        return;
    }
    let stand_in = StandIn::new("nonsense", "head -c 1 > /dev/null; echo 'this is no answer'; exit 0");
    let log = log_of_failed_build("succeeding_with_nonsense", &[("LOCKSTEP_COMPILER", stand_in.path())]);
    assert!(!log.trim().is_empty());
}

#[test]
fn talking_without_end() {
    if !is_lockstep() {
        return;
    }
    let stand_in = StandIn::new("talk", "while true; do echo 'more and more and more and more' >&2; done");
    let environment = [("LOCKSTEP_COMPILER", stand_in.path()), ("LOCKSTEP_BUILD_TIMEOUT_MS", "500")];
    let log = log_of_failed_build("talking_without_end", &environment);
    assert!(log.len() < 16 << 20, "a log of {} bytes", log.len());
}

#[test]
fn options_of_any_length_reach_the_compiler() {
    let setup = Setup::new();
    let text = "x\\n".repeat(100_000);
    let folders: String = (0..20_000).map(|number| format!(" -I no/such/folder/{number}")).collect();
    let source = "#define STRING_(x) #x\n#define STRING(x) STRING_(x)\n\
                  kernel void f(global int *a) { a[0] = sizeof(TEXT); a[1] = sizeof(STRING(WORDS)); }";
    // The text in quotes that the compiler sees; two words and a quoted backslash.
    let options = format!("-DTEXT=\\\"{}\\\" '-DWORDS=a \"\\\\\" b'{folders}", text.replace('\\', "\\\\"));
    let program = setup.context.build(source, &options);
    let out = setup.context.zeros::<i32>(2);
    let kernel = program.kernel("f");
    kernel.set(0, &out);
    lockstep_conformance::run(&setup.queue, &kernel, &[1], &[]);
    let sizes = lockstep_conformance::read::<i32>(&setup.queue, &out);
    // In the compiler's text the two letters after each x are one character.
    assert_eq!(sizes, [200_001, "a \"\\\\\" b".len() as i32 + 1]);
}

/// Sets the limit of this process's stack, in KiB.
fn limit_stack(soft: u64, hard: Option<u64>) {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls get a live, complete structure.
    let code = unsafe {
        libc::getrlimit(libc::RLIMIT_STACK, &mut limit);
        limit.rlim_cur = soft << 10;
        limit.rlim_max = hard.map_or(limit.rlim_max, |hard| hard << 10);
        libc::setrlimit(libc::RLIMIT_STACK, &limit)
    };
    assert_eq!(code, 0, "the limit cannot be set");
}

#[test]
fn a_small_soft_limit_of_the_stack_is_not_the_compilers() {
    if !is_lockstep() {
        return;
    }
    let script = format!("ulimit -Ss > \"$0.stack\"; exec '{}'", real_compiler().display());
    let stand_in = StandIn::new("stack", &script);
    in_child("a_small_soft_limit_of_the_stack_is_not_the_compilers", &[("LOCKSTEP_COMPILER", stand_in.path())], || {
        limit_stack(64, None);
        let setup = Setup::new();
        setup.context.build(SOURCE, "");
    });
    let limit = std::fs::read_to_string(format!("{}.stack", stand_in.path())).expect("the compiler ran");
    assert_eq!(limit.trim(), "65536");
}

#[test]
fn a_small_hard_limit_of_the_stack_is_named() {
    if !is_lockstep() {
        return;
    }
    let script = format!(
        "{KEEP_REQUEST}; grep -aq 'kernel void' \"$0.$$\" && kill -SEGV $$; exec '{}' < \"$0.$$\"",
        real_compiler().display()
    );
    let stand_in = StandIn::new("hard-stack", &script);
    let log = in_child("a_small_hard_limit_of_the_stack_is_named", &[("LOCKSTEP_COMPILER", stand_in.path())], || {
        limit_stack(512, Some(1024));
        let setup = Setup::new();
        let program = setup.context.source(SOURCE);
        assert_eq!(program.build(""), CL_BUILD_PROGRAM_FAILURE);
        println!("{}", program.log());
    });
    assert!(log.stdout.contains("at most 1024 KiB") && log.stdout.contains("ulimit -Hs"), "{}", log.stdout);
}
