//! The command `lockstep` beside the driver under test: what it builds is what the API gives, what it runs is checked, what it exports
//! comes back.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use lockstep_conformance::child::in_child;
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::stand_in::real_compiler;
use lockstep_conformance::{Setup, arguments, is_lockstep, ok, read, run};
use lockstep_spirv_assembler::assemble_module;

const SOURCE: &str = "#include \"number.h\"
    kernel void scale(global float *x, float factor, uint count) {
        size_t i = get_global_id(0);
        if (i < count) x[i] = factor * x[i] + NUMBER;
    }
    kernel void mirror(global int *x, local int *shared) {
        size_t l = get_local_id(0), n = get_local_size(0);
        shared[l] = x[get_global_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
        x[get_global_id(0)] = shared[n - 1 - l];
    }";

/// A folder with a source and a cache, gone with the value.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let path = std::env::temp_dir().join(format!("lockstep-command-{name}-{}", std::process::id()));
        fs::create_dir_all(path.join("include")).expect("a folder");
        let place = Place(path);
        place.write("scale.cl", SOURCE.as_bytes());
        place.write("include/number.h", b"#define NUMBER 3");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).expect("it can be written");
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("it was written")
    }

    /// Runs the command in the folder with this cache.
    fn lockstep_with(&self, cache: &str, words: &[&str]) -> Output {
        let command = real_compiler().with_file_name("lockstep");
        let mut command = Command::new(command);
        command.current_dir(&self.0).env("LOCKSTEP_CACHE", self.path(cache)).args(words);
        command.output().expect("the command lies beside the driver")
    }

    fn lockstep(&self, words: &[&str]) -> Output {
        self.lockstep_with("cache", words)
    }

    /// Builds a source, which succeeds.
    #[track_caller]
    fn build(&self, output: &str, words: &[&str]) {
        let words = [&["build", "scale.cl", "-o", output, "--options", "-I include"], words].concat();
        assert_eq!(ended(&self.lockstep(&words)), (0, String::new(), String::new()));
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A command's status, standard output and standard error.
fn ended(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// Loads a binary through the API and runs it.
#[track_caller]
fn check_binary(bytes: &[u8]) {
    let setup = Setup::new();
    let program = setup.context.from_binary(bytes).expect("it is for this machine");
    ok(program.build(""));
    assert_eq!(program.build_info::<u32>(CL_PROGRAM_BINARY_TYPE), CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
    let kernel = program.kernel("scale");
    let values: Vec<f32> = (0..100).map(|i| i as f32).collect();
    let buffer = setup.context.with_values(&values);
    kernel.set(0, &buffer);
    kernel.set(1, 2.5_f32);
    kernel.set(2, 90_u32);
    run(&setup.queue, &kernel, &[100], &[]);
    let scaled = |i: f32| if i < 90.0 { 2.5 * i + 3.0 } else { i };
    assert_eq!(read::<f32>(&setup.queue, &buffer), values.into_iter().map(scaled).collect::<Vec<_>>());
}

#[test]
fn what_is_built_is_what_the_api_gives() {
    if !is_lockstep() {
        return;
    }
    let place = Place::new("build");
    place.build("scale.bin", &[]);
    check_binary(&place.read("scale.bin"));
    // Options after the words mean the same.
    let words = ["build", "scale.cl", "-o", "words.bin", "--", "-I", "include"];
    assert_eq!(ended(&place.lockstep(&words)).0, 0);
    check_binary(&place.read("words.bin"));
    // The times of a build are in a binary: a cache says the same ones twice.
    let [cache, folder] = [place.path("cache"), place.0.clone()].map(|path| path.to_string_lossy().into_owned());
    let environment = [("LOCKSTEP_CACHE", &*cache), ("COMMAND_FOLDER", &*folder)];
    in_child("what_is_built_is_what_the_api_gives", &environment, || {
        // The child has a folder of its own, and drops nothing.
        let _ = fs::remove_dir_all(&place.0);
        let folder = PathBuf::from(std::env::var("COMMAND_FOLDER").expect("set"));
        std::env::set_current_dir(&folder).expect("it is there");
        let program = Setup::new().context.build(SOURCE, "-I include");
        assert!(program.binary() == fs::read(folder.join("scale.bin")).expect("it is there"), "the binaries differ");
    });
}

/// A kernel `triple` that leaves three times a number.
const MODULE: &str = "
    OpCapability Addresses
    OpCapability Kernel
    OpMemoryModel Physical64 OpenCL
    OpEntryPoint Kernel %f \"triple\"
    %void = OpTypeVoid
    %int = OpTypeInt 32 0
    %three = OpConstant %int 3
    %pointer = OpTypePointer CrossWorkgroup %int
    %type = OpTypeFunction %void %pointer %int
    %f = OpFunction %void None %type
    %out = OpFunctionParameter %pointer
    %n = OpFunctionParameter %int
    %start = OpLabel
    %product = OpIMul %int %n %three
    OpStore %out %product Aligned 4
    OpReturn
    OpFunctionEnd";

#[test]
fn spirv_is_built_and_run() {
    if !is_lockstep() {
        return;
    }
    let place = Place::new("spirv");
    let module = assemble_module(MODULE, (1, 0));
    place.write("triple.spv", &module);
    let (status, _, stderr) = ended(&place.lockstep(&["build", "triple.spv", "-o", "triple.bin"]));
    assert_eq!((status, &*stderr), (0, ""));
    for file in ["triple.spv", "triple.bin"] {
        let words = ["run", file, "-g", "1", "--print", "0", "buffer:1*int", "int:14"];
        let (status, stdout, stderr) = ended(&place.lockstep(&words));
        assert!(status == 0 && stdout.contains("42"), "{stdout}{stderr}");
    }
    place.write("cut.spv", &module[..module.len() - 4]);
    let (status, _, stderr) = ended(&place.lockstep(&["build", "cut.spv", "-o", "x.bin"]));
    assert!(status == 1 && stderr.contains("error: SPIR-V, word"), "{stderr}");
    place.write("torn.spv", &module[..module.len() - 3]);
    let (status, _, stderr) = ended(&place.lockstep(&["build", "torn.spv", "-o", "x.bin"]));
    assert!(status == 1 && stderr.contains("is cut off"), "{stderr}");
}

#[test]
fn what_does_not_build_says_what_the_api_says() {
    if !is_lockstep() {
        return;
    }
    let place = Place::new("messages");
    let wrong = "kernel void f(global int *x) { x[0] = y; }";
    place.write("wrong.cl", wrong.as_bytes());
    let setup = Setup::new();
    for options in ["", "-cl-no-such-option", "-cl-std=CL3.0 -Werror"] {
        let program = setup.context.source(wrong);
        assert_ne!(program.build(options), CL_SUCCESS);
        let (status, stdout, stderr) =
            ended(&place.lockstep(&["build", "wrong.cl", "-o", "x.bin", "--options", options]));
        assert_eq!((status, &*stdout, stderr), (1, "", program.log()));
        assert!(!place.path("x.bin").exists());
    }
    for (words, message) in [
        (&["build", "none.cl", "-o", "x.bin"][..], "lockstep: none.cl: No such file"),
        (&["build", "scale.cl", "-o", "none/x.bin", "--", "-Iinclude"], "lockstep: none/x.bin: No such file"),
    ] {
        let (status, _, stderr) = ended(&place.lockstep(words));
        assert!(status == 1 && stderr.starts_with(message), "{stderr}");
    }
    place.write("text.ll", b"define spir_kernel void @f() { ret int }");
    let (status, _, stderr) = ended(&place.lockstep(&["build", "text.ll", "-o", "x.bin"]));
    assert!(status == 1 && stderr.contains("1:36: error: expected type"), "{stderr}");
    place.write("damaged.bc", b"BC\xc0\xde and nothing else");
    let (status, _, stderr) = ended(&place.lockstep(&["build", "damaged.bc", "-o", "x.bin"]));
    assert!(status == 1 && stderr.contains("error:"), "{stderr}");
    place.build("scale.bin", &[]);
    place.write("cut.bin", &place.read("scale.bin")[..1000]);
    let (status, _, stderr) = ended(&place.lockstep(&["build", "cut.bin", "-o", "x.bin"]));
    assert_eq!((status, &*stderr), (1, "lockstep: cut.bin: the program binary is damaged\n"));
}

/// Launches a kernel of a binary for a level so often that code of this machine's takes over, and compares the bits of all launches.
fn check_bits(place: &Place, target: &str) {
    let source = "kernel void f(global const float *x, global float *y) {
        int i = get_global_id(0);
        float sum = x[i];
        for (int n = 0; n < 20; ++n) sum = sum * x[i] + x[i] + 0.01f * native_rsqrt(sum);
        y[i] = sum;
    }";
    place.write("sums.cl", source.as_bytes());
    let words = ["build", "sums.cl", "-o", "sums.bin", "--target", target];
    assert_eq!(ended(&place.lockstep(&words)).0, 0);
    let setup = Setup::new();
    let program = setup.context.from_binary(&place.read("sums.bin")).expect("it is for this machine");
    ok(program.build(""));
    let kernel = program.kernel("f");
    let numbers: Vec<f32> = (0..65_536).map(|number| 0.1 + number as f32 / 80_000.0).collect();
    let (x, y) = (setup.context.with_values(&numbers), setup.context.zeros::<f32>(numbers.len()));
    kernel.set_all(arguments![&x, &y]);
    let mut first: Option<Vec<f32>> = None;
    for launch in 0..400 {
        run(&setup.queue, &kernel, &[numbers.len()], &[64]);
        let sums = read::<f32>(&setup.queue, &y);
        assert!(first.get_or_insert_with(|| sums.clone()) == &sums, "{target}, launch {launch}");
    }
}

/// Code for processors of a level runs on those that have it; binaries for several hold what each of them would.
#[test]
fn binaries_may_be_for_several_levels_of_processors() {
    if !is_lockstep() {
        return;
    }
    let place = Place::new("targets");
    place.build("base.bin", &["--target", "x86-64"]);
    check_binary(&place.read("base.bin"));
    place.build("all.bin", &["--target", "x86-64,x86-64-v2,x86-64-v3", "--target", "x86-64-v4,native"]);
    check_binary(&place.read("all.bin"));
    // Without a compiler there is no code but what the binary has, which must round as this machine's code does.
    let level = match (is_x86_feature_detected!("fma"), is_x86_feature_detected!("avx512f")) {
        (false, _) => "x86-64",
        (true, false) => "x86-64-v3",
        (true, true) => "x86-64-v4",
    };
    place.build("alike.bin", &["--target", level]);
    let words = ["run", "alike.bin", "-k", "scale", "-g", "3", "--print", "0", "buffer:3=iota", "2", "3"];
    let mut command = Command::new(real_compiler().with_file_name("lockstep"));
    command.current_dir(&place.0).env("LOCKSTEP_CACHE", "off").env("LOCKSTEP_COMPILER", "/no/such/compiler");
    let (status, stdout, _) = ended(&command.args(words).output().expect("it can be run"));
    assert_eq!((status, &*stdout), (0, "argument 0 'x' (float*) of kernel 'scale': 3 5 7\n"));
    place.build("levels.bin", &["--target", "x86-64-v2,x86-64,x86-64-v2"]);
    check_binary(&place.read("levels.bin"));
    let lower = if level == "x86-64-v4" { "x86-64-v3" } else { "x86-64" };
    for target in ["x86-64", lower, level] {
        check_bits(&place, target);
    }
    let sizes = ["base.bin", "levels.bin", "all.bin"].map(|name| place.read(name).len());
    assert!(sizes.is_sorted(), "{sizes:?}");
    let (status, _, stderr) = ended(&place.lockstep(&["build", "scale.cl", "-o", "x.bin", "--target", "x86-64-v5"]));
    assert!(status == 2 && stderr.contains("targets are native"), "{stderr}");
}

fn float_bytes(values: impl Iterator<Item = f32>) -> Vec<u8> {
    values.flat_map(f32::to_le_bytes).collect()
}

/// Runs the kernel `scale` of a file over eight values, with these options.
fn run_scale(place: &Place, file: &str, options: &[&str]) -> (i32, String, String) {
    let words = ["run", file, "-k", "scale", "-g", "8", "--options", "-I include", "buffer:8=iota", "2.5", "uint:8"];
    ended(&place.lockstep(&[&words, options].concat()))
}

#[test]
fn launches_are_checked() {
    if !is_lockstep() {
        return;
    }
    let place = Place::new("run");
    place.build("scale.bin", &[]);
    let subject = "argument 0 'x' (float*) of kernel 'scale'";
    place.write("good", &float_bytes((0..8).map(|i| 2.5 * i as f32 + 3.0)));
    place.write("bad", &float_bytes((0..8).map(|i| if i == 5 { -1.0 } else { 2.5 * i as f32 + 3.0 })));
    place.write("near", &float_bytes((0..8).map(|i| f32::from_bits((2.5 * i as f32 + 3.0).to_bits() + 2))));
    place.write("short", &[0; 28]);
    for file in ["scale.cl", "scale.bin"] {
        let passes = run_scale(&place, file, &["--expect", "0=good", "--save", "0=saved"]);
        assert_eq!(passes, (0, format!("{subject}: 8 elements are as expected\n"), String::new()));
        assert_eq!(place.read("saved"), place.read("good"));
    }
    let failure = |words: &str| (1, String::new(), format!("{subject}: {words}\n"));
    let fails = run_scale(&place, "scale.bin", &["--expect", "0=bad"]);
    assert_eq!(fails, failure("element 5 is 15.5, expected is -1; 1 of 8 elements differ"));
    let fails = run_scale(&place, "scale.bin", &["--expect", "0=short"]);
    assert_eq!(fails, failure("it has 32 bytes; 28 are expected"));
    assert_eq!(run_scale(&place, "scale.bin", &["--expect", "0=near", "--ulps", "1"]).0, 1);
    assert_eq!(run_scale(&place, "scale.bin", &["--expect", "0=near", "--ulps", "2"]).0, 0);
    let (status, stdout, _) = run_scale(&place, "scale.bin", &["--print", "0:3", "--repeat", "5"]);
    assert!(status == 0 && stdout.starts_with(&format!("{subject}: 3 5.5 8\nmin ")), "{stdout}");
    assert!(stdout.ends_with(" of 5 launches\n"), "{stdout}");
    let words = ["run", "scale.bin", "-k", "mirror", "-g", "6", "-l", "3", "--print", "0", "buffer:6=iota", "local:12"];
    let (status, stdout, _) = ended(&place.lockstep(&words));
    assert_eq!((status, &*stdout), (0, "argument 0 'x' (int*) of kernel 'mirror': 2 1 0 5 4 3\n"));
}

#[test]
fn what_cannot_be_launched_is_said() {
    if !is_lockstep() {
        return;
    }
    let place = Place::new("refusals");
    place.write("objects.cl", b"kernel void f(read_only image2d_t image, sampler_t sampler) {}");
    place.write("none.cl", b"int helper(void) { return 1; }");
    let include = &["--options", "-I include"][..];
    let scale = &["run", "scale.cl", "-k", "scale", "--options", "-I include"][..];
    for (first, rest, message) in [
        (&["run", "scale.cl", "-g", "8"][..], include, "which kernel? (-k) The program has scale, mirror"),
        (&["run", "scale.cl", "-g", "8", "-k", "shrink"], include, "the program has no kernel 'shrink'"),
        (&["run", "none.cl", "-g", "8"], &[], "the program has no kernels"),
        (
            &["run", "objects.cl", "-g", "8", "1", "2"],
            &[],
            "argument 0 'image' (image2d_t) of kernel 'f': it is an image",
        ),
        (
            scale,
            &["-g", "8", "buffer:8", "2"],
            "kernel 'scale' has 3 arguments (float* x, float factor, uint count); 2 are",
        ),
        (scale, &["-g", "8", "buffer:8", "2", "-1"], "argument 2 'count' (uint) of kernel 'scale': -1 is not within 0"),
        (
            scale,
            &["-g", "8", "buffer:8", "two", "1"],
            "argument 1 'factor' (float) of kernel 'scale': 'two' is no number",
        ),
        (
            scale,
            &["-g", "8", "buffer:8*int", "2", "1"],
            "argument 0 'x' (float*) of kernel 'scale': it points to no int",
        ),
        (
            scale,
            &["-g", "8", "buffer:99999999999999", "2", "1"],
            "argument 0 'x' (float*) of kernel 'scale': a buffer of",
        ),
        (scale, &["-g", "8", "-l", "3", "buffer:8", "2", "1"], "kernel 'scale': local_work_size[0] 3 does not divide"),
        (scale, &["-g", "8,8", "-l", "4", "buffer:8", "2", "1"], "-g has 2 dimensions, -l has 1"),
        (scale, &["-g", "1,1,1,1", "buffer:8", "2", "1"], "kernel 'scale': work_dim 4"),
        (scale, &["-g", "8", "buffer:8", "2", "1", "--print", "1"], "--print: argument 1 is no buffer"),
        (scale, &["-g", "8", "buffer:8", "2", "1", "--save", "9=x"], "--save: there is no argument 9"),
        (scale, &["-g", "8", "buffer:8", "2", "1", "--expect", "0=none"], "none: No such file"),
    ] {
        let (status, _, stderr) = ended(&place.lockstep(&[first, rest].concat()));
        assert!(status == 2 && stderr.starts_with(&format!("lockstep: {message}")), "{stderr}");
    }
    let nothing = ["run", "scale.cl", "-k", "scale", "-g", "0", "--options", "-I include", "buffer:1", "2", "1"];
    assert_eq!(ended(&place.lockstep(&nothing)).0, 0, "a range of no work-items is one");
}

#[test]
fn a_cache_that_was_carried_is_used() {
    if !is_lockstep() {
        return;
    }
    let place = Place::new("cache");
    place.build("scale.bin", &[]);
    let names = |cache: &str| -> Vec<String> {
        let (status, stdout, _) = ended(&place.lockstep_with(cache, &["cache", "list"]));
        assert_eq!(status, 0);
        let is_entry = |line: &&str| line.contains(" bytes ");
        let mut names: Vec<String> =
            stdout.lines().filter(is_entry).filter_map(|line| Some(line.split_once(' ')?.0.to_owned())).collect();
        names.sort();
        names
    };
    let before = names("cache");
    assert!(!before.is_empty());
    let (status, stdout, _) = ended(&place.lockstep(&["cache", "export", "entries.tar"]));
    assert!(status == 0 && stdout.starts_with(&format!("entries.tar: {} entries, ", before.len())), "{stdout}");
    assert_eq!(ended(&place.lockstep(&["cache", "clear"])).0, 0);
    assert_eq!(names("cache"), Vec::<String>::new());
    for (cache, expected) in [("cache", "added, 0 there before"), ("other", "added, 0 there before")] {
        let (status, stdout, _) = ended(&place.lockstep_with(cache, &["cache", "import", "entries.tar"]));
        assert_eq!(status, 0);
        assert!(stdout.ends_with(&format!(": {} {expected}\n", before.len())), "{stdout}");
        assert_eq!(names(cache), before);
    }
    // The carried entries are hits: a build makes none.
    let words = ["build", "scale.cl", "-o", "again.bin", "--options", "-I include"];
    assert_eq!(ended(&place.lockstep_with("other", &words)).0, 0);
    assert_eq!(names("other"), before);
    assert!(place.read("again.bin") == place.read("scale.bin"), "the binaries differ");
    refuse_damaged(&place, &before);
}

/// An archive that was damaged or cut off changes nothing.
fn refuse_damaged(place: &Place, names: &[String]) {
    let archive = place.read("entries.tar");
    let mut damaged = archive.clone();
    damaged[600] ^= 1;
    place.write("damaged.tar", &damaged);
    place.write("cut.tar", &archive[..archive.len() - 2048]);
    for (name, words) in [("damaged.tar", "is damaged"), ("cut.tar", "is cut off"), ("scale.cl", "cannot be read")] {
        let (status, _, stderr) = ended(&place.lockstep_with("third", &["cache", "import", name]));
        assert!(status == 1 && stderr.starts_with(name) && stderr.contains(words), "{stderr}");
    }
    assert!(fs::read_dir(place.path("third")).is_ok_and(|mut entries| entries.next().is_none()), "nothing is stored");
    assert!(place.path("cache").join(&names[0]).is_file());
}
