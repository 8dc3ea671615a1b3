//! The compiler's executable is missing, another program or damaged: builds say so, the device says so, and what was compiled
//! before runs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::ptr;

use lockstep_conformance::child::{in_child, is_child};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::stand_in::{KEEP_REQUEST, real_compiler};
use lockstep_conformance::{Context, Program, Random, Setup, cl, code_name, info, is_lockstep, read, run};

const SOURCE: &str = "kernel void f(global int *a) { a[get_global_id(0)] = 1234; }";
const OTHER_SOURCE: &str = "kernel void g(global int *a) { a[get_global_id(0)] = 4321; }";

/// Names the folder of a test to its children.
const FOLDER: &str = "NO_COMPILER";

/// A folder with the compiler, a cache and binaries; it goes away with the value.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        if is_child() {
            return Place(std::env::var_os(FOLDER).expect("set for the child").into());
        }
        let folder = std::env::temp_dir().join(format!("lockstep-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        Place(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Runs the body in a process that has this folder's compiler and cache.
    #[track_caller]
    fn process(&self, test: &str, body: impl FnOnce()) {
        let [folder, cache, compiler] = ["", "cache", "compiler"].map(|name| self.path(name).display().to_string());
        // Simplest forms are tried as in applications.
        let environment = [
            (FOLDER, folder.as_str()),
            ("LOCKSTEP_CACHE", &cache),
            ("LOCKSTEP_COMPILER", &compiler),
            ("LOCKSTEP_STRICT", "0"),
        ];
        in_child(test, &environment, body);
    }

    /// Puts something in the compiler's place; `make` does that at the path.
    fn damage(&self, make: fn(&Path)) {
        let compiler = self.path("compiler");
        let _ = fs::remove_file(&compiler);
        make(&compiler);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !is_child() {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

fn write_program(path: &Path, contents: &[u8]) {
    fs::write(path, contents).expect("a file");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("its rights");
}

/// The first `bytes` bytes of the compiler.
fn write_truncated(path: &Path, bytes: usize) {
    let mut contents = fs::read(real_compiler()).expect("the compiler is there");
    contents.truncate(bytes);
    write_program(path, &contents);
}

/// What may be in the compiler's place, and what puts it there.
type Damage = (&'static str, fn(&Path));

const DAMAGES: [Damage; 9] = [
    ("nothing", |_| {}),
    ("a folder", |path| fs::create_dir(path).expect("a folder")),
    ("an empty file", |path| write_program(path, b"")),
    ("random bytes", |path| {
        write_program(path, &Random::new(7).bytes(100_000));
    }),
    ("a hundred bytes of the compiler", |path| write_truncated(path, 100)),
    ("a megabyte of the compiler", |path| write_truncated(path, 1 << 20)),
    ("a tenth of the compiler", |path| {
        let bytes = fs::metadata(real_compiler()).expect("the compiler is there").len();
        write_truncated(path, bytes as usize / 10);
    }),
    ("a compiler that nobody may execute", |path| {
        fs::copy(real_compiler(), path).expect("a copy");
        fs::set_permissions(path, fs::Permissions::from_mode(0o644)).expect("its rights");
    }),
    ("a program that returns what it gets", |path| write_program(path, &fs::read("/bin/cat").expect("cat is there"))),
];

/// Checks that nothing can be compiled or linked, that each error says so, and that the device does.
fn nothing_can_be_compiled(setup: &Setup, object: &Program) {
    for question in [CL_DEVICE_COMPILER_AVAILABLE, CL_DEVICE_LINKER_AVAILABLE] {
        let answer: u32 =
            info::value(|size, value, needed| (cl().clGetDeviceInfo)(setup.device(), question, size, value, needed));
        assert_eq!(answer, CL_FALSE);
    }
    let program = setup.context.source(OTHER_SOURCE);
    assert_eq!(program.build(""), CL_COMPILER_NOT_AVAILABLE, "{}", program.log());
    assert_eq!(program.build_info::<i32>(CL_PROGRAM_BUILD_STATUS), CL_BUILD_ERROR);
    assert!(program.log().contains("is not the compiler of this driver"), "{}", program.log());
    assert_eq!(program.try_kernel("g").err(), Some(CL_INVALID_PROGRAM_EXECUTABLE));
    assert_eq!(compile(&setup.context, OTHER_SOURCE).err(), Some(CL_COMPILER_NOT_AVAILABLE));
    assert_eq!(link(&setup.context, object).err(), Some(CL_LINKER_NOT_AVAILABLE));
}

fn compile(context: &Context, source: &str) -> Result<Program, i32> {
    let program = context.source(source);
    let code = (cl().clCompileProgram)(
        program.raw(),
        0,
        ptr::null(),
        ptr::null(),
        0,
        ptr::null(),
        ptr::null_mut(),
        None,
        ptr::null_mut(),
    );
    if code == CL_SUCCESS { Ok(program) } else { Err(code) }
}

fn link(context: &Context, object: &Program) -> Result<Program, i32> {
    let mut code = CL_SUCCESS;
    let program = (cl().clLinkProgram)(
        context.raw(),
        0,
        ptr::null(),
        ptr::null(),
        1,
        &object.raw(),
        None,
        ptr::null_mut(),
        &mut code,
    );
    let program = (!program.is_null()).then(|| Program::own(program));
    if code == CL_SUCCESS { Ok(program.expect("a program")) } else { Err(code) }
}

/// Launches the kernel of [`SOURCE`] and checks the values.
#[track_caller]
fn launch(setup: &Setup, program: &Program) {
    let (kernel, out) = (program.kernel("f"), setup.context.zeros::<i32>(256));
    kernel.set(0, &out);
    run(&setup.queue, &kernel, &[256], &[64]);
    assert_eq!(read::<i32>(&setup.queue, &out), [1234; 256]);
}

/// Leaves a program in the cache, and its binary and an object in files.
fn leave_results(place: &Place) {
    let setup = Setup::new();
    let program = setup.context.build(SOURCE, "");
    launch(&setup, &program);
    fs::write(place.path("binary"), program.binary()).expect("a file");
    // The object's symbol has no double in the cache.
    let object = compile(&setup.context, "kernel void h(global int *a) { *a = 1; }").expect("the compiler is there");
    fs::write(place.path("object"), object.binary()).expect("a file");
}

fn read_program(setup: &Setup, path: &Path) -> Program {
    let bytes = fs::read(path).expect("an earlier process left it");
    setup.context.from_binary(&bytes).unwrap_or_else(|(code, _)| panic!("{}", code_name(code)))
}

#[test]
fn without_a_compiler_what_was_compiled_runs() {
    const TEST: &str = "no_compiler::without_a_compiler_what_was_compiled_runs";
    if !is_lockstep() {
        return;
    }
    let place = Place::new("no-compiler");
    if !is_child() {
        fs::copy(real_compiler(), place.path("compiler")).expect("a copy");
    }
    // What the first child leaves tells the others that they are not the first.
    if !is_child() || !place.path("binary").exists() {
        place.process(TEST, || leave_results(&place));
    }
    for (what, make) in DAMAGES {
        if !is_child() {
            place.damage(make);
            println!("in the compiler's place: {what}");
        }
        place.process(TEST, || {
            let setup = Setup::new();
            nothing_can_be_compiled(&setup, &read_program(&setup, &place.path("object")));
            let program = setup.context.source(SOURCE);
            assert_eq!(program.build(""), CL_SUCCESS, "{}", program.log());
            launch(&setup, &program);
            let program = read_program(&setup, &place.path("binary"));
            assert_eq!(program.build(""), CL_SUCCESS, "{}", program.log());
            launch(&setup, &program);
        });
        if place.path("compiler").is_dir() {
            fs::remove_dir(place.path("compiler")).expect("it is empty");
        }
    }
}

#[test]
fn a_compiler_that_is_damaged_later_is_told_from_one_that_dies_of_a_source() {
    const TEST: &str = "no_compiler::a_compiler_that_is_damaged_later_is_told_from_one_that_dies_of_a_source";
    if !is_lockstep() {
        return;
    }
    let place = Place::new("damaged-later");
    if !is_child() {
        let script = format!(
            "#!/bin/sh\n{KEEP_REQUEST}\ngrep -aq deadly \"$0.$$\" && kill -SEGV $$\nexec '{}' < \"$0.$$\"\n",
            real_compiler().display()
        );
        write_program(&place.path("compiler"), script.as_bytes());
    }
    place.process(TEST, || {
        let setup = Setup::new();
        launch(&setup, &setup.context.build(SOURCE, ""));
        let program = setup.context.source("kernel void deadly() {}");
        assert_eq!(program.build(""), CL_BUILD_PROGRAM_FAILURE);
        assert!(program.log().contains("signal 11"), "{}", program.log());
        // The same file, with other contents.
        fs::write(place.path("compiler"), "#!/bin/sh\nexit 1\n").expect("the file is there");
        let program = setup.context.source(OTHER_SOURCE);
        assert_eq!(program.build(""), CL_COMPILER_NOT_AVAILABLE, "{}", program.log());
        launch(&setup, &setup.context.build(SOURCE, ""));
    });
}
