//! Forms of a kernel's code that the driver makes and measures while the kernel runs: all give the same results. For this driver only.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use lockstep_conformance::child::{Output, in_child};
use lockstep_conformance::test_folder::TestFolder;
use lockstep_conformance::{Setup, is_lockstep, read, run};

const ITEMS: usize = 4096;

/// Kernels of which forms differ in what they keep for work-items: nothing, private arrays, local memory and values over barriers; and in
/// loops that may become one.
const SOURCE: &str = "kernel void uneven(global float *out, int steps) {
    int i = get_global_id(0), own = (i * 7) % 61 + steps % 3;
    float x = i * 0.001f, sum = 0;
    for (int k = 0; k < own; ++k) {
        x = k % 7 == 3 ? sqrt(fabs(x)) * 3.0f : x * 0.97f + 0.1f / (1.0f + x * x);
        sum += x * (1.0f - sum * 0.3f) + exp(-x) / 7;
    }
    out[i] = sum;
}
kernel void arrays(global float *out, int steps) {
    int i = get_global_id(0);
    float own[4096];
    for (int k = 0; k < 32; ++k) own[k * 128 + 127] = (i * k % 13) * 0.1f;
    for (int k = 0; k < steps % 5 + 40; ++k) own[(k * i & 31) * 128 + 127] += own[((k + i) & 31) * 128 + 127] * 0.37f;
    float sum = 0;
    for (int k = 0; k < 32; ++k) sum = sum * 0.9f + own[k * 128 + 127];
    out[i] = sum;
}
kernel void barriers(global float *out, int steps) {
    local float shared[64];
    int i = get_global_id(0), l = get_local_id(0);
    float kept = i * 0.01f, sum = 0;
    for (int k = 0; k < steps % 3 + 3; ++k) {
        shared[l] = kept;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += shared[(l * 5 + k) & 63] * 0.7f;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i & 4) kept = kept * 1.1f + sum;
    }
    out[i] = sum + kept;
}
kernel void nests(global float *out, int steps) {
    int i = get_global_id(0);
    float x = i * 0.001f, sum = 0;
    for (int a = 0; a < 32; ++a) {
        x = sqrt(fabs(x * 0.97f)) + exp(-x) / (1.0f + x * x);
        int b = (i + a * 7) % 16 < 5 ? 0 : steps + 3;
        while (b < steps + 3 + a % 3) {
            x = fabs(x) * 0.3f + sum * 0.1f;
            sum += x * (1.0f - sum * 0.3f);
            ++b;
        }
    }
    out[i] = sum;
}";

const KERNELS: [&str; 4] = ["uneven", "arrays", "barriers", "nests"];

/// The work-items of [`LONG_GROUPS`]: sixteen groups, of which no first one runs alone, so that a launch begins with chunks of several.
const LONG_ITEMS: usize = 1024;

/// A kernel whose work-groups take long, and several times as long one work-item after the other. Its work-items count how often they ran.
const LONG_GROUPS: &str = "kernel void long_groups(global int *counts, int steps) {
    int i = get_global_id(0);
    float x = i * 0.001f;
    for (int k = 0; k < steps; ++k) x = x * 0.97f + 0.1f;
    counts[i] += x < 10.0f ? 1 : 2;
}";

/// A kernel of roots that gangs estimate on machines with AVX-512, and work-items alone do not.
const ROOTS: &str = "kernel void roots(global float *out, int steps) {
    int i = get_global_id(0);
    float sum = 0;
    for (int k = 0; k < 64; ++k) sum += 1.0f / sqrt(i * 0.37f + k + steps + 0.1f);
    out[i] = sum;
}";

/// A kernel whose work-items ask for their sub-group: they have one form.
const SUB_GROUPS: &str = "#pragma OPENCL EXTENSION cl_khr_subgroups : enable
kernel void sums(global float *out, int steps) {
    out[get_global_id(0)] = sub_group_reduce_add((float)(get_global_id(0) % 7 + steps % 3));
}";

/// Launches a kernel with changing arguments for as long as `goes_on` says, which hears how many launches there were. After each launch
/// its results are those of the first one with the same argument.
fn launch_while(setup: &Setup, (source, name, options): (&str, &str, &str), mut goes_on: impl FnMut(usize) -> bool) {
    let kernel = setup.context.build(source, options).kernel(name);
    let out = setup.context.zeros::<u32>(ITEMS);
    kernel.set(0, &out);
    let mut first_results: Vec<Vec<u32>> = Vec::new();
    let mut launch_count = 0;
    while goes_on(launch_count) {
        let steps = launch_count % 6;
        kernel.set(1, steps as i32);
        run(&setup.queue, &kernel, &[ITEMS], &[64]);
        let result = read(&setup.queue, &out);
        match first_results.get(steps) {
            Some(first_result) => assert!(result == *first_result, "launch {launch_count} of {name} differs"),
            None => first_results.push(result),
        }
        launch_count += 1;
    }
    let mut hasher = DefaultHasher::new();
    first_results.hash(&mut hasher);
    println!("{name} {:016x}", hasher.finish());
}

/// What a child waits for: words of which the log is to have a line about each kernel. Without them it launches each a few times.
const AWAITED: &str = "LOCKSTEP_TEST_AWAITED";

/// Launches each of the kernels until the log has the line that is awaited, at most for a minute.
fn launch_until_logged() {
    let (setup, log, awaited) = (Setup::new(), own_log(), std::env::var(AWAITED).unwrap_or_default());
    for name in KERNELS {
        let begun = Instant::now();
        launch_while(&setup, (SOURCE, name, ""), |launch_count| {
            let awaits_line = || count_lines(&log, name, &awaited) == 0 && begun.elapsed() < Duration::from_secs(60);
            launch_count < 12 || !awaited.is_empty() && (launch_count % 16 != 0 || awaits_line())
        });
    }
}

/// How many lines of the log file about a kernel have a word.
fn count_lines(log: &str, kernel: &str, word: &str) -> usize {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    text.lines().filter(|line| line.contains(&format!("of kernel {kernel}: ")) && line.contains(word)).count()
}

/// The log's file of a child: what it was started with.
fn own_log() -> String {
    std::env::var("LOCKSTEP_LOG").unwrap_or_default().trim_start_matches("info:").to_owned()
}

/// Runs the kernels in a child with this switch and cache until the log has the line that is awaited about each; what the child wrote, and
/// its log.
fn run_kernels(test: &str, folder: &TestFolder, (trials, cache): (&str, &str), awaited: &str) -> (Output, String) {
    let log = folder.path_of(&format!("log-{trials}"));
    let _ = std::fs::remove_file(&log);
    let log_switch = format!("info:{log}");
    let environment =
        [("LOCKSTEP_CACHE", cache), ("LOCKSTEP_TRIALS", trials), ("LOCKSTEP_LOG", &log_switch), (AWAITED, awaited)];
    let output = in_child(test, &environment, launch_until_logged);
    (output, std::fs::read_to_string(log).unwrap_or_default())
}

#[test]
fn every_form_gives_the_same_bits() {
    if !is_lockstep() {
        return;
    }
    let test = "every_form_gives_the_same_bits";
    let folder = TestFolder::of_test(test);
    let (estimate, estimate_log) = run_kernels(test, &folder, ("0", "off"), "");
    assert!(!estimate_log.contains("tries"), "{estimate_log}");
    let (all_forms, log) = run_kernels(test, &folder, ("always", "off"), "its best form is ");
    for name in KERNELS {
        let about_kernel = format!("of kernel {name}: as ");
        let trials: Vec<&str> = log.lines().filter(|line| line.contains(&about_kernel)).collect();
        assert!(trials.len() >= 4, "{name}: {log}");
        let in_turn = log.lines().any(|line| {
            line.contains(&format!("of kernel {name}: ")) && line.contains("one work-item after the other")
        });
        assert!(in_turn, "{name}: {log}");
    }
    assert!(
        log.lines().any(|line| line.contains("of kernel nests: ") && line.contains("with flattened loops")),
        "{log}"
    );
    assert!(estimate.stdout == all_forms.stdout, "the forms differ");
}

#[test]
fn later_processes_begin_with_the_form_that_was_found() {
    if !is_lockstep() {
        return;
    }
    let test = "later_processes_begin_with_the_form_that_was_found";
    let folder = TestFolder::of_test(test);
    let cache = folder.path_of("cache");
    let (first, log) = run_kernels(test, &folder, ("always", &cache), "its best form is ");
    let found_forms = KERNELS.map(|name| {
        let about_kernel = format!("of kernel {name}: its best form is ");
        let kept = log.lines().find_map(|line| line.split_once(&about_kernel));
        kept.expect("a form is kept").1.to_owned()
    });
    let (second, log) = run_kernels(test, &folder, ("1", &cache), "");
    let (without_trials, log_without_trials) = run_kernels(test, &folder, ("0", &cache), "");
    for (name, form) in KERNELS.iter().zip(&found_forms) {
        let from_cache = format!("of kernel {name}: last tier, {form}, from the cache in ");
        assert!(log.contains(&from_cache), "{from_cache}\n{log}");
        assert!(!log_without_trials.contains(&from_cache), "{log_without_trials}");
    }
    assert!(first.stdout == second.stdout && first.stdout == without_trials.stdout, "the forms differ");
}

/// A form that is much slower is given up within a chunk, whose other groups the best form runs.
#[test]
fn every_group_runs_once_whichever_form_is_given_up() {
    if !is_lockstep() {
        return;
    }
    let test = "every_group_runs_once_whichever_form_is_given_up";
    let folder = TestFolder::of_test(test);
    let log_switch = format!("info:{}", folder.path_of("log"));
    let environment = [("LOCKSTEP_CACHE", "off"), ("LOCKSTEP_TRIALS", "1"), ("LOCKSTEP_LOG", &log_switch)];
    in_child(test, &environment, || {
        let (setup, log, begun) = (Setup::new(), own_log(), Instant::now());
        let kernel = setup.context.build(LONG_GROUPS, "").kernel("long_groups");
        let counts = setup.context.zeros::<i32>(LONG_ITEMS);
        kernel.set(0, &counts);
        kernel.set(1, 4_000_000);
        let refused = || count_lines(&log, "long_groups", "as one work-item after the other it takes") > 0;
        let mut launch_count = 0;
        while !refused() && begun.elapsed() < Duration::from_secs(60) {
            run(&setup.queue, &kernel, &[LONG_ITEMS], &[64]);
            launch_count += 1;
            assert!(
                read::<i32>(&setup.queue, &counts) == [launch_count; LONG_ITEMS],
                "not once in launch {launch_count}"
            );
        }
        assert!(refused(), "{}", std::fs::read_to_string(&log).unwrap_or_default());
    });
}

#[test]
fn kernels_whose_results_depend_on_the_form_keep_theirs() {
    if !is_lockstep() {
        return;
    }
    let test = "kernels_whose_results_depend_on_the_form_keep_theirs";
    let folder = TestFolder::of_test(test);
    let log_switch = format!("info:{}", folder.path_of("log"));
    let environment = [("LOCKSTEP_CACHE", "off"), ("LOCKSTEP_TRIALS", "always"), ("LOCKSTEP_LOG", &log_switch)];
    in_child(test, &environment, || {
        let setup = Setup::new();
        let fast_math = "-cl-fast-relaxed-math";
        for (source, name, options) in [(SUB_GROUPS, "sums", "-cl-std=CL3.0"), (SOURCE, "uneven", fast_math)] {
            launch_while(&setup, (source, name, options), |launch_count| launch_count < 200);
        }
        // The first tier of these gives way to a last one. That of the first has other forms only where they give the same results.
        for (source, name, word, patience) in [(ROOTS, "roots", "its best form is", 3), (SOURCE, "arrays", "tries", 60)]
        {
            let begun = Instant::now();
            launch_while(&setup, (source, name, ""), |_| {
                count_lines(&own_log(), name, word) == 0 && begun.elapsed() < Duration::from_secs(patience)
            });
        }
    });
    let log = folder.read_text("log");
    assert!(log.contains("of kernel arrays: tries"), "{log}");
    for name in ["sums", "uneven"] {
        assert!(!log.contains(&format!("of kernel {name}: tries")), "{log}");
    }
}
