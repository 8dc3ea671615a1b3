//! Jobs as a driver gives them: through the executable's standard streams.

use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use lockstep_protocol::build_failure::FrontendError;
use lockstep_protocol::build_options::{BuildOptions, Stage};
use lockstep_protocol::compile_options::CompileOptions;
use lockstep_protocol::feature_level::FeatureLevel;
use lockstep_protocol::job::{
    Answer, BuiltCode, BuiltProgram, Header, Job, KernelJob, LENGTH_BYTES, Objects, Product, Request, SourceFiles,
    message_length, read_message, write_message,
};
use lockstep_protocol::portable_program::CompiledObject;

/// Runs the executable with some bytes as its input.
fn run_compiler(input: &[u8]) -> Output {
    let mut process = Command::new(env!("CARGO_BIN_EXE_lockstep-compiler"))
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    process.stdin.take().unwrap().write_all(input).unwrap();
    process.wait_with_output().unwrap()
}

/// Waits until the process is the executable's and has said what should become of it when memory runs out.
fn read_memory_score(process: u32) -> String {
    let path = format!("/proc/{process}/oom_score_adj");
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let score = std::fs::read_to_string(&path).unwrap();
        if score.trim() == "1000" || Instant::now() > deadline {
            return score.trim().to_owned();
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn errors_of_linking_name_lines() {
    for (source, expected) in [
        (
            "int odd(int n);\nint even(int n) { return n ? odd(n - 1) : 1; }\n\
             int odd(int n) {\n    return n ? even(n - 1) : 0;\n}\nkernel void k(global int *a) { *a = even(*a); }",
            "program.cl:4:16: error: recursion is not allowed in OpenCL C: 'even' calls itself through 'odd'\n",
        ),
        (
            "int missing(int);\nint user(int x) {\n  return 2 * missing(x);\n}\nkernel void k(global int *a) { *a = user(*a); }",
            "program.cl:3:14: error: undefined function 'missing', called in 'user'\n",
        ),
    ] {
        match ask(Job::BuildProgram(files(source, "", Vec::new()))) {
            Answer::NoProgram(FrontendError::LinkFailure { log }) => assert_eq!(log, expected),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_process_ends_first_where_memory_runs_out() {
    let mut process =
        Command::new(env!("CARGO_BIN_EXE_lockstep-compiler")).env_clear().stdin(Stdio::piped()).spawn().unwrap();
    let score = read_memory_score(process.id());
    drop(process.stdin.take());
    process.wait().unwrap();
    assert_eq!(score, "1000");
}

fn read_answer(output: &Output) -> Answer {
    let errors = String::from_utf8_lossy(&output.stderr);
    let message = output.stdout.get(LENGTH_BYTES..).and_then(read_message);
    message.unwrap_or_else(|| panic!("no answer: {}: {errors}", output.status))
}

/// The name of the executable's build, as it tells those who ask for another.
fn build_name() -> String {
    match read_answer(&run_compiler(&write_message(&()))) {
        Answer::OtherBuild(name) => name,
        other => panic!("{other:?}"),
    }
}

fn ask(job: Job) -> Answer {
    read_answer(&run_compiler(&write_request(job)))
}

fn write_request(job: Job) -> Vec<u8> {
    write_request_for(None, job)
}

fn write_request_for(level: Option<FeatureLevel>, job: Job) -> Vec<u8> {
    write_message(&Request { build: build_name(), time: false, dump: None, in_background: false, level, job })
}

/// The answers to several requests.
fn read_answers(output: &Output) -> Vec<Answer> {
    let mut rest = &output.stdout[..];
    let next_answer = || {
        let (length, messages) = rest.split_at_checked(LENGTH_BYTES)?;
        let (message, others) = messages.split_at_checked(message_length(length)? as usize)?;
        rest = others;
        read_message(message)
    };
    std::iter::from_fn(next_answer).collect()
}

/// Code of a program's first kernel.
fn kernel_job(program: BuiltProgram) -> KernelJob {
    KernelJob {
        program: program.linked,
        kernel: 0,
        variables: program.outline.globals,
        formats: program.outline.formats,
        options: CompileOptions::default(),
        mistake: None,
    }
}

fn files(source: &str, options: &str, headers: Vec<Header>) -> SourceFiles {
    let options = BuildOptions::parse(options, Stage::Compile).unwrap();
    SourceFiles {
        source: source.as_bytes().to_vec(),
        specialization: None,
        headers,
        options,
        source_lines: false,
        reads_files: true,
    }
}

fn expect_object(answer: Answer) -> CompiledObject {
    match answer {
        Answer::Done(Product::Object(built)) => built.object,
        other => panic!("{other:?}"),
    }
}

fn expect_program(answer: Answer) -> BuiltProgram {
    match answer {
        Answer::Done(Product::Program(program)) => *program,
        other => panic!("{other:?}"),
    }
}

fn expect_code(answer: Answer) -> BuiltCode {
    match answer {
        Answer::Done(Product::Code(code)) => code,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_source_becomes_a_program_and_that_code() {
    let source = "kernel void f(global int *a) { a[get_global_id(0)] = NUMBER; }";
    let program = expect_program(ask(Job::BuildProgram(files(source, "-DNUMBER=7", Vec::new()))));
    let [kernel] = &program.outline.kernels[..] else { panic!("{:?}", program.outline) };
    assert_eq!((kernel.name.as_str(), kernel.params.len()), ("f", 1));
    assert_eq!(program.read_files, [], "nothing but the source is read");

    let job = kernel_job(program);
    let code = expect_code(ask(Job::CompileKernel(Box::new(job.clone()))));
    assert_eq!((code.object.image.check_bounds(), code.mistake), (Ok(()), None));
    // What a driver asks for when a process died of the kernel.
    let mistake = Some("it died".to_owned());
    let simplest =
        expect_code(ask(Job::CompileKernel(Box::new(KernelJob { mistake: mistake.clone(), ..job.clone() }))));
    assert_eq!((simplest.object.image.check_bounds(), simplest.mistake), (Ok(()), mistake));
    // There is one kernel.
    match ask(Job::CompileKernel(Box::new(KernelJob { kernel: 1, ..job }))) {
        Answer::NoCode(reason) => assert!(reason.contains("no kernel 1"), "{reason}"),
        other => panic!("{other:?}"),
    }
}

/// What the frames of a kernel's code take of the stack, as the compiler tells.
fn stack_bytes_of(source: &str) -> u64 {
    let program = expect_program(ask(Job::BuildProgram(files(source, "", Vec::new()))));
    expect_code(ask(Job::CompileKernel(Box::new(kernel_job(program))))).object.stack_bytes
}

#[test]
fn frames_of_many_live_values_are_told() {
    assert_eq!(stack_bytes_of("kernel void f(global int *a) { a[get_global_id(0)] += 1; }"), 0);
    // In each round of the loop every value is needed again, by far more than there are registers.
    const COUNT: usize = 400;
    let per_value = |line: fn(usize) -> String| (0..COUNT).map(line).collect::<String>();
    let loads = per_value(|value| format!("double v{value} = a[{value} * n + i];"));
    let rounds = per_value(|value| format!("v{value} = v{value} * 3 + v{};", (value * 7 + 1) % COUNT));
    let stores = per_value(|value| format!("a[{value} * n + i] = v{value};"));
    let source = format!(
        "kernel void f(global double *a, int rounds) {{
             int i = get_global_id(0), n = get_global_size(0);
             {loads} for (int r = 0; r < rounds; ++r) {{ {rounds} }} {stores}
         }}"
    );
    let bytes = stack_bytes_of(&source);
    assert!(bytes > 8 * COUNT as u64 && bytes < 1 << 20, "{bytes}");
}

#[test]
fn objects_become_libraries_and_programs() {
    let header = Header::new("inc/add.h", b"int add(int, int);");
    let caller = "#include <inc/add.h>\nkernel void f(global int *a) { a[0] = add(a[1], 2); }";
    let caller = expect_object(ask(Job::CompileSource(files(caller, "", vec![header]))));
    let callee =
        expect_object(ask(Job::CompileSource(files("int add(int a, int b) { return a + b; }", "", Vec::new()))));
    let link = |text: &str, objects| Objects { objects, options: BuildOptions::parse(text, Stage::Link).unwrap() };
    let library = expect_object(ask(Job::LinkLibrary(link("-create-library", vec![callee]))));
    assert!(library.is_library);
    let program = expect_program(ask(Job::LinkProgram(link("", vec![caller.clone(), library]))));
    let described = expect_program(ask(Job::DescribeProgram(program.linked)));
    assert_eq!(described.outline, program.outline);
    match ask(Job::LinkProgram(link("", vec![caller]))) {
        Answer::NoProgram(FrontendError::LinkFailure { log }) => assert!(log.contains("'add'"), "{log}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn mistakes_of_a_source_are_told_with_their_place() {
    match ask(Job::BuildProgram(files("kernel void f() { x; }", "", Vec::new()))) {
        Answer::NoProgram(FrontendError::CompileFailure { log }) => {
            assert!(log.contains("program.cl:1:19: error"), "{log}")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_no_request_of_this_build_is_refused() {
    let job = Job::BuildProgram(files("kernel void f() {}", "", Vec::new()));
    let request = Request { build: "another".into(), time: false, dump: None, in_background: false, level: None, job };
    let whole = write_message(&request);
    let message = &whole[LENGTH_BYTES..];
    for message in [message, &message[..message.len() / 2], b"GET / HTTP/1.1\r\n\r\n", &[0xff; 4096]] {
        let output = run_compiler(&[&(message.len() as u64).to_le_bytes(), message].concat());
        assert!(matches!(read_answer(&output), Answer::OtherBuild(_)) && output.status.success());
    }
    for bytes in [&whole[..whole.len() - 1], b"GET / HTTP/1.1\r\n\r\n", &[0xff; 4096]] {
        let output = run_compiler(bytes);
        assert!(output.stdout.is_empty() && !output.status.success(), "{:?}", output.status);
        assert!(String::from_utf8_lossy(&output.stderr).contains("cannot read the request"));
    }
    assert!(run_compiler(b"").status.success(), "nothing is asked");
}

#[test]
fn a_process_makes_code_of_the_program_that_it_built_and_of_no_other() {
    let build = |name: &str| {
        let source = format!("kernel void {name}(global int *a) {{ a[get_global_id(0)] = 1; }}");
        write_request(Job::BuildProgram(files(&source, "", Vec::new())))
    };
    let program =
        expect_program(ask(Job::BuildProgram(files("kernel void f(global int *a) { a[1] = 1; }", "", Vec::new()))));
    let code = write_request(Job::CompileKernel(Box::new(kernel_job(program))));
    let output = run_compiler(&[build("f"), code.clone(), code, build("g")].concat());
    let answers = read_answers(&output);
    let [first, second, third, fourth] = &answers[..] else { panic!("{answers:?}") };
    assert!(matches!(first, Answer::Done(Product::Program(_))));
    assert!([second, third].iter().all(|answer| matches!(answer, Answer::Done(Product::Code(_)))));
    assert!(matches!(fourth, Answer::NoCode(reason) if reason.contains("has another program")), "{fourth:?}");
}

/// What a program is told of fused multiply-add, and what code is made, is by the level; a process keeps to one.
#[test]
fn a_process_makes_code_for_processors_of_one_level() {
    let source = "#ifdef FP_FAST_FMAF
        kernel void fused() {}
        #else
        kernel void apart() {}
        #endif";
    let build = |level| write_request_for(level, Job::BuildProgram(files(source, "", Vec::new())));
    for (level, name) in [(FeatureLevel::Base, "apart"), (FeatureLevel::V2, "apart"), (FeatureLevel::V3, "fused")] {
        let program = expect_program(read_answer(&run_compiler(&build(Some(level)))));
        assert_eq!(program.outline.kernels[0].name, name);
        let code = |level| write_request_for(level, Job::CompileKernel(Box::new(kernel_job(program.clone()))));
        let output = run_compiler(&[build(Some(level)), code(Some(level)), code(None)].concat());
        let answers = read_answers(&output);
        let [first, second, third] = &answers[..] else { panic!("{answers:?}") };
        assert!(matches!(first, Answer::Done(Product::Program(_))));
        assert!(matches!(second, Answer::Done(Product::Code(_))), "{second:?}");
        assert!(matches!(third, Answer::NoCode(reason) if reason.contains("for other processors")), "{third:?}");
    }
}
