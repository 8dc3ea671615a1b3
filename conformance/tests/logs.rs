//! What `LOCKSTEP_LOG` has the driver say, and where. For this driver only. Each use is a process of its own.

use std::os::unix::fs::PermissionsExt;
use std::ptr;
use std::time::{Duration, Instant};

use lockstep_conformance::child::{Output, in_child, is_child};
use lockstep_conformance::loader::driver;
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::stand_in::{KEEP_REQUEST, StandIn, real_compiler};
use lockstep_conformance::test_folder::TestFolder;
use lockstep_conformance::{Context, Setup, expect, is_lockstep, run};

const SOURCE: &str = "kernel void triple(global int *out) { out[get_global_id(0)] = 3 * get_global_id(0); }";

fn build_and_launch() {
    let setup = Setup::new();
    let kernel = setup.context.build(SOURCE, "-DUNUSED=1").kernel("triple");
    let buffer = setup.context.zeros::<i32>(256);
    kernel.set(0, &buffer);
    run(&setup.queue, &kernel, &[256], &[64]);
}

/// Builds a program, launches its kernel and makes a call that fails, in a process with this log and cache.
fn run_program(test: &str, log: &str, cache: &str) -> Output {
    in_child(test, &[("LOCKSTEP_LOG", log), ("LOCKSTEP_CACHE", cache)], || {
        build_and_launch();
        expect((driver().clReleaseMemObject)(ptr::null_mut()), CL_INVALID_MEM_OBJECT);
    })
}

/// The driver's lines, without what comes before their level. The ICD loader makes calls that fail.
fn driver_lines(text: &str) -> Vec<&str> {
    let lines = text.lines().filter_map(|line| Some(line.split_once("lockstep: ")?.1));
    lines.filter(|line| !line.starts_with("clGetPlatformInfo")).collect()
}

/// How many lines begin so and hold all of these.
fn count_lines(text: &str, beginning: &str, parts: &[&str]) -> usize {
    let is_one = |line: &&str| line.starts_with(beginning) && parts.iter().all(|part| line.contains(part));
    driver_lines(text).into_iter().filter(is_one).count()
}

const FAILED_CALL: &str = "clReleaseMemObject: NULL is not a memory object [CL_INVALID_MEM_OBJECT]";

/// Looks for the lines of `info` and above, where code is new or was in the cache.
#[track_caller]
fn expect_info(text: &str, origin: &str) {
    let build = ["clBuildProgram of a source of", "options \"-DUNUSED=1\": program ", "of 1 kernel, ", " ms"];
    assert_eq!(count_lines(text, "info: build: ", &build), 1, "{text}");
    let variant = ["of kernel triple: first tier, ", origin, " ms, for groups of "];
    assert_eq!(count_lines(text, "info: variant: ", &variant), 1, "{text}");
    assert_eq!(count_lines(text, FAILED_CALL, &[]), 1, "{text}");
}

/// Looks for the lines of `debug` where nothing was in the cache.
#[track_caller]
fn expect_debug(text: &str) {
    for job in ["build a program", "compile a kernel for the first tier"] {
        assert_eq!(count_lines(text, "debug: job: ", &[job, ": begins"]), 1, "{text}");
        assert_eq!(count_lines(text, "debug: job: ", &[job, ": ends after ", " ms with "]), 1, "{text}");
    }
    // The program, and of the kernel what trials found and both tiers.
    assert_eq!(count_lines(text, "debug: cache: ", &["was not there"]), 4, "{text}");
    assert_eq!(count_lines(text, "debug: cache: ", &["is stored in the folder, "]), 2, "{text}");
    let launch = ["kernel triple: global 256, local ", "variant ", "first tier, ", " ms"];
    assert_eq!(count_lines(text, "debug: launch: ", &launch), 1, "{text}");
    assert_eq!(count_lines(text, "debug: driver: begins: ", &["threads, compiler /"]), 1, "{text}");
    assert_eq!(count_lines(text, "debug: driver: ends", &[]), 1, "{text}");
}

#[test]
fn each_level_says_what_it_is_for() {
    if !is_lockstep() {
        return;
    }
    let test = "each_level_says_what_it_is_for";
    let folder = TestFolder::of_test(test);
    let cache = folder.path_of("cache");
    let debug = run_program(test, "debug", &cache).stderr;
    expect_info(&debug, "compiled in ");
    expect_debug(&debug);
    let from_cache = run_program(test, "debug", &cache).stderr;
    expect_info(&from_cache, "from the cache in ");
    assert_eq!(count_lines(&from_cache, "debug: job: ", &[]), 0, "{from_cache}");
    assert_eq!(count_lines(&from_cache, "debug: cache: ", &["was in the folder"]), 2, "{from_cache}");
    let info = run_program(test, "info", &cache).stderr;
    expect_info(&info, "from the cache in ");
    assert_eq!(count_lines(&info, "debug: ", &[]), 0, "{info}");
    for level in ["error", "warn"] {
        assert_eq!(driver_lines(&run_program(test, level, &cache).stderr), [FAILED_CALL], "{level}");
    }
    assert_eq!(driver_lines(&run_program(test, "off", &cache).stderr), [""; 0]);
}

#[test]
fn a_file_takes_the_lines_of_several_processes() {
    if !is_lockstep() {
        return;
    }
    let test = "a_file_takes_the_lines_of_several_processes";
    let folder = TestFolder::of_test(test);
    let (cache, log) = (folder.path_of("cache"), folder.path_of("log"));
    for _ in 0..2 {
        let output = run_program(test, &format!("debug:{log}"), &cache);
        assert_eq!(driver_lines(&output.stderr), [""; 0]);
    }
    let text = read_log(&log);
    let second_process = text.match_indices("lockstep: debug: driver: begins").nth(1).expect("two processes").0;
    let (first, second) = text.split_at(text[..second_process].rfind('\n').map_or(0, |end| end + 1));
    expect_info(first, "compiled in ");
    expect_debug(first);
    expect_info(second, "from the cache in ");
    let processes: Vec<&str> = [first, second].map(process_of_lines).into();
    assert_ne!(processes[0], processes[1]);
}

/// The process that all of these lines name after the time.
#[track_caller]
fn process_of_lines(text: &str) -> &str {
    let mut processes = text.lines().map(|line| {
        let mut words = line.split(' ');
        let time = words.next().expect("a time");
        assert!(time.len() == "2000-01-01T00:00:00.000000Z".len() && time.ends_with('Z'), "{line}");
        words.next().expect("a process")
    });
    let process = processes.next().expect("a line");
    assert!(processes.all(|other| other == process), "{text}");
    process
}

#[test]
fn what_works_but_not_as_it_could_is_a_warning() {
    if !is_lockstep() {
        return;
    }
    let test = "what_works_but_not_as_it_could_is_a_warning";
    let folder = TestFolder::of_test(test);
    let shared = folder.as_path().join("shared");
    if !is_child() {
        std::fs::create_dir_all(&shared).expect("a folder");
        std::fs::set_permissions(&shared, PermissionsExt::from_mode(0o777)).expect("permissions");
    }
    let cache = folder.path_of("shared");
    let warned = run_program(test, "warn", &cache).stderr;
    let warning = ["shared cannot be used: ", "what is compiled is kept in memory"];
    assert_eq!(count_lines(&warned, "warn: cache: ", &warning), 1, "{warned}");
    assert_eq!(driver_lines(&run_program(test, "error", &cache).stderr), [FAILED_CALL]);
}

#[test]
fn a_compiler_that_is_not_there_is_a_warning() {
    if !is_lockstep() {
        return;
    }
    let test = "a_compiler_that_is_not_there_is_a_warning";
    let output = in_child(test, &[("LOCKSTEP_LOG", "warn"), ("LOCKSTEP_COMPILER", "/not/there")], || {
        let context = Context::new();
        assert_eq!(context.source(SOURCE).build(""), CL_COMPILER_NOT_AVAILABLE);
    });
    let text = &output.stderr;
    assert_eq!(
        count_lines(text, "warn: driver: /not/there cannot be opened: ", &["nothing can be compiled"]),
        1,
        "{text}"
    );
    assert_eq!(count_lines(text, "warn: job: ", &["build a program: fails after ", "/not/there"]), 1, "{text}");
    assert_eq!(count_lines(text, "info: ", &[]), 0, "{text}");
}

#[test]
fn a_kernel_in_its_simplest_form_is_said_unasked_and_logged() {
    if !is_lockstep() {
        return;
    }
    let test = "a_kernel_in_its_simplest_form_is_said_unasked_and_logged";
    // Each process does one job. The first one that gets no source, which is to make code, dies. The others read a file: where
    // a stream ends, the application has, and so does the compiler.
    let script = format!(
        "{KEEP_REQUEST}\n\
         grep -aq 'kernel void' \"$0.$$\" || {{ mkdir \"$0.died\" 2> /dev/null && kill -9 $$; }}\n\
         exec '{}' < \"$0.$$\"",
        real_compiler().display()
    );
    let stand_in = StandIn::new("simplest-form", &script);
    let log = stand_in.folder().join("log").display().to_string();
    let level = format!("warn:{log}");
    let environment = [
        ("LOCKSTEP_LOG", level.as_str()),
        ("LOCKSTEP_CACHE", "off"),
        ("LOCKSTEP_COMPILER", stand_in.path()),
        ("LOCKSTEP_STRICT", "0"),
    ];
    let output = in_child(test, &environment, build_and_launch);
    let said = driver_lines(&output.stderr);
    assert!(matches!(said[..], [line] if line.ends_with("; the kernel runs in its simplest form")), "{said:?}");
    let text = read_log(&log);
    assert_eq!(count_lines(&text, "warn: driver: ", &[said[0]]), 1, "{text}");
    assert_eq!(
        count_lines(&text, "warn: job: ", &["compile a kernel for the first tier: fails", "signal 9"]),
        1,
        "{text}"
    );
}

#[test]
fn the_last_tier_is_told_of() {
    if !is_lockstep() {
        return;
    }
    let test = "the_last_tier_is_told_of";
    let folder = TestFolder::of_test(test);
    let log = folder.path_of("log");
    in_child(
        test,
        &[("LOCKSTEP_LOG", &format!("debug:{log}")), ("LOCKSTEP_CACHE", "off"), (LOG_OF_PARENT, &log)],
        || {
            let log = std::env::var(LOG_OF_PARENT).expect("a path");
            let setup = Setup::new();
            let kernel = setup.context.kernel(SOURCE, "triple");
            let buffer = setup.context.zeros::<i32>(1 << 20);
            kernel.set(0, &buffer);
            // Launches go on until one has been run by the last tier.
            let deadline = Instant::now() + Duration::from_secs(60);
            while !read_log(&log).contains("now last tier, ") && Instant::now() < deadline {
                run(&setup.queue, &kernel, &[1 << 20], &[64]);
            }
            run(&setup.queue, &kernel, &[1 << 20], &[64]);
        },
    );
    let text = read_log(&log);
    let promotion = ["1 of kernel triple: now last tier, compiled in ", " ms"];
    assert_eq!(count_lines(&text, "info: variant: ", &promotion), 1, "{text}");
    assert!(count_lines(&text, "debug: launch: ", &["variant 1, first tier, "]) > 0, "{text}");
    assert!(count_lines(&text, "debug: launch: ", &["variant 1, last tier, "]) > 0, "{text}");
}

/// Where a child finds the log that its parent has named.
const LOG_OF_PARENT: &str = "LOCKSTEP_CONFORMANCE_LOG";

fn read_log(path: &str) -> String {
    std::fs::read_to_string(path).expect("a file")
}

#[test]
fn a_log_that_cannot_be_written_goes_to_standard_error() {
    if !is_lockstep() {
        return;
    }
    let test = "a_log_that_cannot_be_written_goes_to_standard_error";
    let folder = TestFolder::of_test(test);
    let output = run_program(test, "error:/dev/null/log", &folder.path_of("cache"));
    let complaint = "/dev/null/log of LOCKSTEP_LOG cannot be written: Not a directory (os error 20); the log goes to \
                     standard error";
    assert_eq!(driver_lines(&output.stderr), [complaint, FAILED_CALL]);
}

#[test]
fn a_closed_standard_error_is_harmless() {
    if !is_lockstep() {
        return;
    }
    let test = "a_closed_standard_error_is_harmless";
    let output = in_child(test, &[("LOCKSTEP_LOG", "debug"), ("LOCKSTEP_SIMD", "100")], || {
        // SAFETY: nothing of this process has to write there any more.
        unsafe { libc::close(libc::STDERR_FILENO) };
        build_and_launch();
        print!("done");
    });
    assert_eq!(output.stdout, "done");
}

#[test]
fn a_forked_child_logs_whatever_threads_of_the_parent_do() {
    if !is_lockstep() {
        return;
    }
    let test = "a_forked_child_logs_whatever_threads_of_the_parent_do";
    let folder = TestFolder::of_test(test);
    let log = format!("debug:{}", folder.path_of("log"));
    in_child(test, &[("LOCKSTEP_LOG", &log)], || {
        let setup = Setup::new();
        let fail = || expect((driver().clReleaseMemObject)(ptr::null_mut()), CL_INVALID_MEM_OBJECT);
        fail();
        std::thread::scope(|scope| {
            let busy = scope.spawn(|| (0..20_000).for_each(|_| fail()));
            while !busy.is_finished() {
                expect_child_ends(fail);
            }
        });
        drop(setup);
    });
    let text = read_log(&folder.path_of("log"));
    assert!(text.lines().all(|line| line.matches("lockstep: ").count() == 1), "lines are not whole");
}

/// Forks; the child does something and ends. One that hangs is ended.
#[track_caller]
fn expect_child_ends(child: impl FnOnce()) {
    // SAFETY: the child calls what is under test and ends.
    let process = unsafe { libc::fork() };
    if process == 0 {
        // SAFETY: nothing else uses this signal here, and the child ends without what the parent has registered for its own end.
        unsafe {
            libc::alarm(20);
            child();
            libc::_exit(0);
        }
    }
    assert!(process > 0, "no child");
    let mut status = 0;
    // SAFETY: `process` is a child that nobody else waits for.
    let waited = unsafe { libc::waitpid(process, &mut status, 0) };
    assert_eq!((waited, status), (process, 0), "the child failed, or hung until signal {}", libc::SIGALRM);
}
