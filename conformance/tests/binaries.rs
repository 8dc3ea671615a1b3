//! Program binaries: what a program was compiled to comes back and need not be compiled again; what is damaged, of
//! another machine or of another version does not come back at all.

use std::time::{Duration, Instant};

use lockstep_conformance::child::in_child;
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::test_folder::TestFolder;
use lockstep_conformance::{Program, Random, Setup, is_lockstep, ok, read, run};

const INVALID: (cl_int, cl_int) = (CL_INVALID_BINARY, CL_INVALID_BINARY);

/// A program whose kernels tell which one it is, with a table, local memory and printf.
fn source(number: u32) -> String {
    format!(
        "constant int table[4] = {{1, 2, 3, {number}}};
         kernel void plain(global int *out) {{ out[get_global_id(0)] = table[3] + (int)get_global_id(0); }}
         kernel void groups(global int *out, local int *shared) {{
             size_t l = get_local_id(0), n = get_local_size(0);
             shared[l] = (int)get_global_id(0);
             barrier(CLK_LOCAL_MEM_FENCE);
             out[get_global_id(0)] = shared[n - 1 - l] * table[1] + {number};
         }}
         kernel void says(void) {{ printf(\"number %d\\n\", {number}); }}"
    )
}

/// Runs both kernels over some sizes and checks what they leave.
#[track_caller]
fn check(setup: &Setup, program: &Program, number: i32) {
    let [plain, groups] = ["plain", "groups"].map(|name| program.kernel(name));
    for (global, local) in [(64, 16), (60, 5), (256, 64)] {
        let out = setup.context.zeros::<i32>(global);
        plain.set(0, &out);
        run(&setup.queue, &plain, &[global], &[local]);
        let expected: Vec<i32> = (0..global as i32).map(|id| number + id).collect();
        assert_eq!(read::<i32>(&setup.queue, &out), expected, "{global} in groups of {local}");

        groups.set(0, &out);
        groups.set(1, lockstep_conformance::objects::Argument::Local(4 * local));
        run(&setup.queue, &groups, &[global], &[local]);
        let (global, local) = (global as i32, local as i32);
        let mirrored = |id: i32| (id / local * local + local - 1 - id % local) * 2 + number;
        assert_eq!(read::<i32>(&setup.queue, &out), (0..global).map(mirrored).collect::<Vec<_>>());
    }
}

#[test]
fn two_programs_come_back() {
    let setup = Setup::new();
    let programs = [11, 22].map(|number| setup.context.build(&source(number), ""));
    // One was launched before its binary is asked for, one was not.
    check(&setup, &programs[0], 11);
    let binaries = programs.map(|program| program.binary());
    assert_ne!(binaries[0], binaries[1]);
    for (binary, number) in binaries.iter().zip([11, 22]) {
        let program = setup.context.from_binary(binary).expect("its own binary");
        assert_eq!(program.build_info::<u32>(CL_PROGRAM_BINARY_TYPE), CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
        ok(program.build(""));
        check(&setup, &program, number);
        assert_eq!(program.info::<usize>(CL_PROGRAM_NUM_KERNELS), 3);
        let kernel = program.kernel("groups");
        assert_eq!(kernel.info::<u32>(CL_KERNEL_NUM_ARGS), 2);
        assert_eq!(kernel.group_info::<u64>(CL_KERNEL_LOCAL_MEM_SIZE), 0);
        // And again from what came back.
        let again = setup.context.from_binary(&program.binary()).expect("its own binary");
        ok(again.build(""));
        check(&setup, &again, number);
    }
}

#[test]
fn the_size_asked_for_holds_though_code_is_made_meanwhile() {
    let setup = Setup::new();
    let program = setup.context.build(&source(5), "");
    let size: usize = program.info(CL_PROGRAM_BINARY_SIZES);
    check(&setup, &program, 5);
    assert_eq!(program.info::<usize>(CL_PROGRAM_BINARY_SIZES), size);
    let again = setup.context.from_binary(&program.binary()).expect("its own binary");
    ok(again.build(""));
    check(&setup, &again, 5);
}

/// Builds a program in a process of its own, which leaves its binary, and loads that in another one, where nothing
/// is compiled: there is no compiler. Either may keep code in a folder or nowhere.
fn loading_compiles_nothing(test: &str, has_cache: bool, launches: &[(&str, usize, usize)]) {
    if !is_lockstep() {
        return;
    }
    let step = |environment: &[(&str, &str)]| {
        in_child(test, environment, || {
            let file = std::env::var("BINARY").expect("set");
            let setup = Setup::new();
            let Ok(dump) = std::env::var("LOCKSTEP_DUMP") else {
                return std::fs::write(file, setup.context.build(&source(7), "").binary()).expect("a file");
            };
            let binary = std::fs::read(file).expect("the file");
            let program = setup.context.from_binary(&binary).expect("a binary of this machine");
            ok(program.build(""));
            for &(name, global, local) in launches {
                let kernel = program.kernel(name);
                let out = setup.context.zeros::<i32>(global);
                if name == "plain" {
                    kernel.set(0, &out);
                }
                run(&setup.queue, &kernel, &[global], &[local]);
                let expected = if name == "plain" { 7 + global as i32 - 1 } else { 0 };
                assert_eq!(read::<i32>(&setup.queue, &out)[global - 1], expected);
            }
            assert!(!std::path::Path::new(&dump).exists(), "a kernel was compiled");
        })
    };
    if std::env::var_os("BINARY").is_some() {
        step(&[]);
    }
    let folder = TestFolder::of_test(test);
    let paths = ["binary", "dump", "cache"].map(|name| folder.as_path().join(name));
    let [file, dump, cache] = paths.each_ref().map(|path| path.to_str().expect("a plain path"));
    let everywhere = [("BINARY", file), ("LOCKSTEP_CACHE", if has_cache { cache } else { "off" })];
    step(&everywhere);
    let output =
        step(&[&everywhere[..], &[("LOCKSTEP_COMPILER", "/no/such/compiler"), ("LOCKSTEP_DUMP", dump)]].concat());
    let says = launches.iter().any(|launch| launch.0 == "says");
    assert_eq!(output.stdout.contains("number 7"), says, "{}", output.stdout);
}

#[test]
fn loading_compiles_nothing_without_a_cache() {
    let launches = [("plain", 1024, 64), ("plain", 60, 5), ("says", 1, 1)];
    loading_compiles_nothing("loading_compiles_nothing_without_a_cache", false, &launches);
}

#[test]
fn loading_compiles_nothing_for_most_launches() {
    loading_compiles_nothing("loading_compiles_nothing_for_most_launches", true, &[("plain", 1024, 64)]);
}

/// Code that came with a program runs on while code for more that holds of its many launches is made.
#[test]
fn many_launches_get_code_of_their_own() {
    const TEST: &str = "many_launches_get_code_of_their_own";
    if !is_lockstep() {
        return;
    }
    let step = |environment: &[(&str, &str)]| {
        in_child(TEST, environment, || {
            let file = std::env::var("BINARY").expect("set");
            let setup = Setup::new();
            let Ok(dump) = std::env::var("LOCKSTEP_DUMP") else {
                return std::fs::write(file, setup.context.build(&source(7), "").binary()).expect("a file");
            };
            let is_made = || {
                let files = std::fs::read_dir(&dump).into_iter().flatten().flatten();
                files.map(|file| file.file_name()).any(|name| name.to_string_lossy().starts_with("plain."))
            };
            // The first kernel that a process compiles is waited for.
            let first = setup.context.kernel("kernel void first(void) {}", "first");
            run(&setup.queue, &first, &[1], &[1]);
            let binary = std::fs::read(file).expect("the file");
            let program = setup.context.from_binary(&binary).expect("a binary of this machine");
            ok(program.build(""));
            let kernel = program.kernel("plain");
            let launch = || {
                let out = setup.context.zeros::<i32>(1024);
                kernel.set(0, &out);
                run(&setup.queue, &kernel, &[1024], &[64]);
                assert_eq!(read::<i32>(&setup.queue, &out)[1023], 7 + 1023);
            };
            (0..10).for_each(|_| launch());
            assert!(!is_made(), "after few launches");
            (0..30).for_each(|_| launch());
            let end = Instant::now() + Duration::from_secs(60);
            while !is_made() && Instant::now() < end {
                launch();
            }
            assert!(is_made(), "after many launches");
            launch();
        })
    };
    if std::env::var_os("BINARY").is_some() {
        step(&[]);
    }
    let folder = TestFolder::of_test(TEST);
    let paths = ["binary", "dump"].map(|name| folder.as_path().join(name));
    let [file, dump] = paths.each_ref().map(|path| path.to_str().expect("a plain path"));
    let everywhere = [("BINARY", file), ("LOCKSTEP_CACHE", "off")];
    step(&everywhere);
    step(&[&everywhere[..], &[("LOCKSTEP_DUMP", dump)]].concat());
}

/// A binary whose contents were changed by who knows how to seal it.
fn resealed(binary: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let at = binary.windows(old.len()).position(|window| window == old).expect("it is there");
    let mut bytes = binary.to_vec();
    bytes[at..at + new.len()].copy_from_slice(new);
    let sealed = bytes.len() - 32;
    let seal = blake3::hash(&bytes[8..sealed]);
    bytes[sealed..].copy_from_slice(seal.as_bytes());
    bytes
}

#[test]
fn another_machine_and_another_version_are_refused() {
    if !is_lockstep() {
        return;
    }
    let setup = Setup::new();
    let binary = setup.context.build(&source(3), "").binary();
    assert!(setup.context.from_binary(&resealed(&binary, b"x86-64 ", b"x86-64 ")).is_ok(), "the seal is understood");
    let changes: [(&[u8], &[u8]); 3] = [(b"x86-64 ", b"x86-46 "), (b"LLVM 22", b"LLVM 21"), (b"FORMAT", b"FORMED")];
    for (old, new) in changes {
        let changed = resealed(&binary, old, new);
        let error = setup.context.from_binary(&changed).err();
        assert_eq!(error, Some(INVALID), "{}", String::from_utf8_lossy(new));
    }
}

/// Cuts, flipped bits, other bytes, parts that are missing, doubled or exchanged.
#[test]
fn damage_of_every_kind_is_found() {
    let setup = Setup::new();
    let whole = setup.context.build(&source(9), "").binary();
    let mut random = Random::new(0xb1_4a_27);
    let mut accepted = 0;
    let mut place = |length: usize| random.below(length);
    for round in 0..6000 {
        let mut bytes = whole.clone();
        let (from, to) = (place(bytes.len()), place(bytes.len()));
        let (from, to) = (from.min(to), from.max(to));
        match round % 8 {
            0 => bytes.truncate(from),
            1 | 2 => bytes[from] ^= 1 << place(8),
            3 => bytes[from..=to].fill(place(256) as u8),
            4 => drop(bytes.drain(from..=to)),
            5 => bytes.extend_from_slice(&whole[from..]),
            6 => bytes[from..=to].reverse(),
            // Lengths and marks lie at the beginning.
            _ => bytes[place(whole.len().min(256))] = place(256) as u8,
        }
        if bytes.is_empty() {
            continue;
        }
        match setup.context.from_binary(&bytes) {
            Err(error) => assert_eq!(error, INVALID, "round {round}"),
            Ok(program) => {
                assert_eq!(bytes, whole, "round {round}: a damaged binary was accepted");
                accepted += 1;
                if accepted < 4 {
                    ok(program.build(""));
                    check(&setup, &program, 9);
                }
            }
        }
    }
}

/// Objects and libraries are for every machine, and link as they did.
#[test]
fn objects_come_back() {
    let setup = Setup::new();
    let compile = |text: &str| {
        let program = setup.context.source(text);
        ok((lockstep_conformance::cl().clCompileProgram)(
            program.raw(),
            0,
            std::ptr::null(),
            c"".as_ptr(),
            0,
            std::ptr::null(),
            std::ptr::null_mut(),
            None,
            std::ptr::null_mut(),
        ));
        program
    };
    let parts = [
        compile("int number(void); kernel void f(global int *out) { out[0] = number(); }"),
        compile("int number(void) { return 345; }"),
    ];
    let back = parts.map(|part| setup.context.from_binary(&part.binary()).expect("its own binary"));
    let inputs = back.each_ref().map(Program::raw);
    let mut code = 1;
    let linked = (lockstep_conformance::cl().clLinkProgram)(
        setup.context.raw(),
        0,
        std::ptr::null(),
        c"".as_ptr(),
        2,
        inputs.as_ptr(),
        None,
        std::ptr::null_mut(),
        &mut code,
    );
    ok(code);
    let linked = Program::own(linked);
    let kernel = linked.kernel("f");
    let out = setup.context.zeros::<i32>(1);
    kernel.set(0, &out);
    run(&setup.queue, &kernel, &[1], &[]);
    assert_eq!(read::<i32>(&setup.queue, &out), [345]);
}
