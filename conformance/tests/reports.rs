//! `LOCKSTEP_REPORT`: each variant of a kernel that runs is reported with its launches and their time, also where a binary or
//! the cache has the code. For this driver only. Each use is a process of its own.

use lockstep_conformance::child::in_child;
use lockstep_conformance::test_folder::TestFolder;
use lockstep_conformance::{Program, Setup, is_lockstep, ok, read, run};

const SOURCE: &str = "kernel void squares(global int *out) {
    size_t i = get_global_id(0);
    out[i] = (int)(i * get_local_size(0));
}
";

/// Launches the kernel over 1024 work-items in groups of a size, so many times.
fn launch(setup: &Setup, program: &Program, local: usize, times: usize) {
    let kernel = program.kernel("squares");
    let out = setup.context.zeros::<i32>(1024);
    kernel.set(0, &out);
    (0..times).for_each(|_| run(&setup.queue, &kernel, &[1024], &[local]));
    let expected: Vec<i32> = (0..1024).map(|id| id * local as i32).collect();
    assert_eq!(read::<i32>(&setup.queue, &out), expected);
}

/// Runs a test's body in a process that is to report into `reports`.
fn report_in_child(test: &str, folder: &TestFolder, body: impl FnOnce(&Setup)) {
    let (reports, cache) = (folder.path_of("reports"), folder.path_of("cache"));
    let environment = [("LOCKSTEP_REPORT", reports.as_str()), ("LOCKSTEP_CACHE", cache.as_str())];
    in_child(test, &environment, || body(&Setup::new()));
}

/// How many launches a line speaks of.
fn read_launches(line: &str) -> u64 {
    let count = line.split_once(": ").and_then(|(_, usage)| usage.split(' ').next());
    count.and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("no launches in {line:?}"))
}

/// How many launches of the kernel there were.
fn launches_of_kernel(text: &str) -> u64 {
    read_launches(text.lines().next().expect("a line"))
}

/// How many launches of each variant there were.
fn launches_of_variants(text: &str) -> Vec<u64> {
    text.lines().filter(|line| line.starts_with("variant ")).map(read_launches).collect()
}

#[test]
fn each_variant_has_its_launches() {
    if !is_lockstep() {
        return;
    }
    let folder = TestFolder::of_test("each_variant_has_its_launches");
    // The program is not released: the process ends with it.
    report_in_child("each_variant_has_its_launches", &folder, |setup| {
        let program = setup.context.build(SOURCE, "");
        launch(setup, &program, 16, 5);
        launch(setup, &program, 64, 7);
        std::mem::forget(program);
    });
    let text = folder.read_text("reports/squares.txt");
    assert_eq!(launches_of_kernel(&text), 12, "{text}");
    assert_eq!(launches_of_variants(&text), [5, 7], "{text}");
    for size in ["for groups of 16 x 1 x 1, ", "for groups of 64 x 1 x 1, "] {
        assert!(text.contains(size), "{text}");
    }
    assert_eq!(text.matches("\n3:12 store contiguous: i32 to global memory\n").count(), 2, "{text}");
    assert!(folder.read_text("reports/squares.json").contains("\"launches\": 12,"));
}

#[test]
fn what_the_cache_has_is_reported() {
    if !is_lockstep() {
        return;
    }
    let folder = TestFolder::of_test("what_the_cache_has_is_reported");
    for _ in 0..2 {
        let _ = std::fs::remove_dir_all(folder.path_of("reports"));
        report_in_child("what_the_cache_has_is_reported", &folder, |setup| {
            launch(setup, &setup.context.build(SOURCE, ""), 16, 3);
        });
        let text = folder.read_text("reports/squares.txt");
        assert_eq!(launches_of_variants(&text), [3], "{text}");
        assert!(text.contains("\n3:12 store contiguous: i32 to global memory\n"), "{text}");
    }
}

#[test]
fn what_a_binary_has_is_reported() {
    if !is_lockstep() {
        return;
    }
    let folder = TestFolder::of_test("what_a_binary_has_is_reported");
    report_in_child("what_a_binary_has_is_reported", &folder, |setup| {
        let built = setup.context.build(SOURCE, "");
        launch(setup, &built, 16, 1);
        let binary = built.binary();
        drop(built);
        let program = setup.context.from_binary(&binary).expect("its own binary");
        ok(program.build(""));
        launch(setup, &program, 16, 40);
    });
    let text = folder.read_text("reports/squares.txt");
    assert_eq!(launches_of_variants(&text), [40], "the file is of the program's last build\n{text}");
    assert!(text.contains(" store contiguous: i32 to global memory\n"), "{text}");
}

#[test]
fn programs_with_a_kernel_of_one_name_are_told_apart() {
    if !is_lockstep() {
        return;
    }
    let folder = TestFolder::of_test("programs_with_a_kernel_of_one_name_are_told_apart");
    report_in_child("programs_with_a_kernel_of_one_name_are_told_apart", &folder, |setup| {
        launch(setup, &setup.context.build(SOURCE, ""), 16, 2);
        let reversed = SOURCE.replace("out[i] =", "out[1023 - (1023 - i)] =");
        launch(setup, &setup.context.build(&reversed, "-cl-opt-disable"), 16, 4);
    });
    for (file, launches) in [("reports/squares.txt", 2), ("reports/squares-2.txt", 4)] {
        let text = folder.read_text(file);
        assert_eq!(launches_of_kernel(&text), launches, "{text}");
    }
}
