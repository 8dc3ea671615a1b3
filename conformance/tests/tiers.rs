//! Code of the first tier that better code replaces while the kernel runs, and processes of the compiler that make code of one
//! program after the other kernel. For this driver only.

use std::ops::Range;
use std::time::{Duration, Instant};

use lockstep_conformance::child::in_child;
use lockstep_conformance::stand_in::{StandIn, real_compiler};
use lockstep_conformance::{Setup, is_lockstep, read, run};

const ITEMS: usize = 4096;

/// A kernel whose results depend on every rounding.
const SERIES: &str = "kernel void series(global float *out, int steps) {
    float x = get_global_id(0) * 0.001f, sum = 0;
    local float shared[64];
    for (int i = 0; i < steps; ++i) {
        x = i % 7 == 3 ? sqrt(fabs(x)) * 3.0f : x * 0.97f + 0.1f / (1.0f + x * x);
        sum += x * (1.0f - sum * 0.3f);
    }
    shared[get_local_id(0)] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = sum + shared[63 - get_local_id(0)] * 0.5f;
}";

/// What is left of a launch, as bits.
fn run_series(setup: &Setup, steps: i32) -> Vec<u32> {
    let kernel = setup.context.kernel(SERIES, "series");
    let out = setup.context.zeros::<u32>(ITEMS);
    kernel.set(0, &out);
    kernel.set(1, steps);
    run(&setup.queue, &kernel, &[ITEMS], &[64]);
    read(&setup.queue, &out)
}

/// An environment in which each time that code is made is told, and none is made for trials of other forms.
const COUNTED_JOBS: [(&str, &str); 3] = [("LOCKSTEP_CACHE", "off"), ("LOCKSTEP_TIME", "1"), ("LOCKSTEP_TRIALS", "0")];

/// How often a stage's time was told.
fn count_stage(text: &str, stage: &str) -> usize {
    text.lines().filter(|line| line.contains(stage)).count()
}

/// Rounds of a launch that takes a second or more: better code comes while it runs.
const LONG: i32 = 1_500_000;

#[test]
fn better_code_takes_over_in_a_launch_and_gives_the_same_bits() {
    if !is_lockstep() {
        return;
    }
    let test = "better_code_takes_over_in_a_launch_and_gives_the_same_bits";
    let environment = COUNTED_JOBS;
    let output = in_child(test, &environment, || {
        let result = run_series(&Setup::new(), LONG);
        // What was made by now was made while the only launch ran.
        eprintln!("the launch has ended");
        print!("{result:?}");
    });
    let during_launch = output.stderr.split("the launch has ended").next().unwrap_or_default();
    assert_eq!(count_stage(during_launch, "series: emit"), 2, "{}", output.stderr);
    let one_tier = [("LOCKSTEP_TIERS", "0")].into_iter().chain(COUNTED_JOBS).collect::<Vec<_>>();
    let alone = in_child("the_last_tier_alone_is_made_once", &one_tier, || ());
    assert!(alone.stdout == output.stdout, "the tiers differ");
}

#[test]
fn the_last_tier_alone_is_made_once() {
    if !is_lockstep() {
        return;
    }
    let environment = [("LOCKSTEP_TIERS", "0")].into_iter().chain(COUNTED_JOBS).collect::<Vec<_>>();
    let test = "the_last_tier_alone_is_made_once";
    let output = in_child(test, &environment, || print!("{:?}", run_series(&Setup::new(), LONG)));
    assert_eq!(count_stage(&output.stderr, "series: emit"), 1, "{}", output.stderr);
}

/// A loop in which one work-item of 64 is at work for most of the time, so the last tier has it run alone.
const UNEVEN: &str = "kernel void uneven(global float *out, int steps) {
    int i = get_global_id(0), own = i % 64 == 7 ? steps : i % 5;
    float x = i * 0.001f, sum = 0;
    for (int k = 0; k < own; ++k) {
        x = k % 7 == 3 ? sqrt(fabs(x)) * 3.0f : x * 0.97f + 0.1f / (1.0f + x * x);
        sum += x * (1.0f - sum * 0.3f) + exp(-x) / 7;
    }
    out[i] = sum;
}";

/// A loop in a loop that one work-item of 16 enters in a round of the outer one, so the last tier makes one loop of both.
const NESTED: &str = "kernel void nested(global float *out, int steps) {
    int i = get_global_id(0);
    float x = i * 0.001f, sum = 0;
    for (int a = 0; a < 64; ++a) {
        x = x * 0.97f + 0.1f / (1.0f + x * x);
        int b = (i + a * 7) % 16 == 3 ? 0 : steps;
        while (b < steps) {
            x = fabs(x) * 0.3f + sum * 0.1f;
            sum += x * (1.0f - sum * 0.3f) + exp(-x) / 7;
            ++b;
        }
    }
    out[i] = sum;
}";

/// Hashes of the bits that launches with so many steps leave. Better code comes while they run.
fn run_launches(setup: &Setup, (source, name): (&str, &str), steps: Range<i32>) -> Vec<u64> {
    let kernel = setup.context.kernel(source, name);
    let out = setup.context.zeros::<u32>(ITEMS);
    kernel.set(0, &out);
    let hash_bits = |bits: Vec<u32>| {
        // Fowler, Noll and Vo's.
        bits.into_iter()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, word| (hash ^ u64::from(word)).wrapping_mul(0x0100_0000_01b3))
    };
    let launch = |steps: i32| {
        kernel.set(1, steps);
        run(&setup.queue, &kernel, &[ITEMS], &[64]);
        hash_bits(read(&setup.queue, &out))
    };
    steps.map(launch).collect()
}

fn run_uneven_loops(setup: &Setup) -> Vec<u64> {
    run_launches(setup, (UNEVEN, "uneven"), 20_000..20_200)
}

#[test]
fn loops_that_become_one_change_no_bits() {
    if !is_lockstep() {
        return;
    }
    let outputs = ["+loop_flattening", "-loop_flattening", "loop_flattening=always"].map(|passes| {
        let environment = [("LOCKSTEP_PASSES", passes)].into_iter().chain(COUNTED_JOBS).collect::<Vec<_>>();
        in_child("loops_that_become_one_change_no_bits", &environment, || {
            print!("{:?}", run_launches(&Setup::new(), (NESTED, "nested"), 50..500));
        })
    });
    // By what the first tier had counted, the last one was made.
    assert!(outputs[0].stderr.contains("lanes at work of"), "{}", outputs[0].stderr);
    assert!(outputs.iter().all(|output| output.stdout == outputs[0].stdout), "the forms differ");
}

#[test]
fn what_was_counted_of_loops_changes_no_bits() {
    if !is_lockstep() {
        return;
    }
    let environment = COUNTED_JOBS;
    let output = in_child("what_was_counted_of_loops_changes_no_bits", &environment, || {
        print!("{:?}", run_uneven_loops(&Setup::new()));
    });
    assert_eq!(count_stage(&output.stderr, "uneven: emit"), 2, "{}", output.stderr);
    // The last tier was made by what the first one had counted.
    assert!(output.stderr.contains("loop 0: 1.0 lanes at work of"), "{}", output.stderr);
    let one_tier = [("LOCKSTEP_TIERS", "0")].into_iter().chain(COUNTED_JOBS).collect::<Vec<_>>();
    let alone = in_child("uneven_loops_of_the_last_tier_alone", &one_tier, || ());
    assert!(alone.stdout == output.stdout, "the tiers differ");
}

#[test]
fn uneven_loops_of_the_last_tier_alone() {
    if !is_lockstep() {
        return;
    }
    let environment = [("LOCKSTEP_TIERS", "0")].into_iter().chain(COUNTED_JOBS).collect::<Vec<_>>();
    let output = in_child("uneven_loops_of_the_last_tier_alone", &environment, || {
        print!("{:?}", run_uneven_loops(&Setup::new()));
    });
    assert_eq!(count_stage(&output.stderr, "uneven: emit"), 1, "{}", output.stderr);
}

#[test]
fn code_that_runs_for_a_moment_stays_as_it_is() {
    if !is_lockstep() {
        return;
    }
    let environment = COUNTED_JOBS;
    let output = in_child("code_that_runs_for_a_moment_stays_as_it_is", &environment, || {
        run_series(&Setup::new(), 1);
        std::thread::sleep(Duration::from_secs(1));
    });
    assert_eq!(count_stage(&output.stderr, "series: emit"), 1, "{}", output.stderr);
}

/// Runs `body` in a child of a test with a compiler that notes each start; how often it was started.
#[track_caller]
fn count_compilers(test: &str, body: impl FnOnce()) -> usize {
    let script = format!("echo run >> \"$0.runs\"; exec '{}'", real_compiler().display());
    let stand_in = StandIn::new(test, &script);
    in_child(test, &[("LOCKSTEP_COMPILER", stand_in.path()), ("LOCKSTEP_CACHE", "off")], body);
    let starts = std::fs::read_to_string(format!("{}.runs", stand_in.path()));
    starts.map_or(0, |text| text.lines().count())
}

/// Three kernels of which each stores a number of its own.
const STORES: &str = "#define STORE(n) kernel void store_##n(global int *a) { a[get_global_id(0)] = n; }
STORE(1) STORE(2) STORE(3)";

fn launch_stores(setup: &Setup, options: &str) {
    let program = setup.context.build(STORES, options);
    let buffer = setup.context.zeros::<i32>(64);
    for number in 1..=3 {
        let kernel = program.kernel(&format!("store_{number}"));
        kernel.set(0, &buffer);
        run(&setup.queue, &kernel, &[64], &[16]);
        assert_eq!(read::<i32>(&setup.queue, &buffer), [number; 64]);
    }
}

#[test]
fn a_process_stays_for_its_program() {
    if !is_lockstep() {
        return;
    }
    let starts = count_compilers("a_process_stays_for_its_program", || {
        let setup = Setup::new();
        launch_stores(&setup, "");
        // Another program has another process.
        launch_stores(&setup, "-DOTHER");
    });
    assert_eq!(starts, 2);
}

#[test]
fn processes_that_wait_in_vain_end() {
    if !is_lockstep() {
        return;
    }
    in_child("processes_that_wait_in_vain_end", &[("LOCKSTEP_CACHE", "off")], || {
        let setup = Setup::new();
        for round in 0..3 {
            launch_stores(&setup, &format!("-DROUND={round}"));
        }
        let begun = Instant::now();
        // SAFETY: a system call without a pointer that is used.
        while unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) } >= 0 {
            assert!(begun.elapsed() < Duration::from_secs(20), "a child of the driver is still there");
            std::thread::sleep(Duration::from_millis(20));
        }
    });
}

#[test]
fn a_process_that_is_killed_while_it_waits_is_replaced() {
    if !is_lockstep() {
        return;
    }
    let starts = count_compilers("a_process_that_is_killed_while_it_waits_is_replaced", || {
        let setup = Setup::new();
        let program = setup.context.build(STORES, "");
        for thread in std::fs::read_dir("/proc/self/task").expect("a folder") {
            let children = thread.expect("an entry").path().join("children");
            for child in std::fs::read_to_string(children).expect("a list").split_whitespace() {
                // SAFETY: a system call without pointers.
                assert_eq!(unsafe { libc::kill(child.parse().expect("a number"), libc::SIGKILL) }, 0);
            }
        }
        let (kernel, buffer) = (program.kernel("store_3"), setup.context.zeros::<i32>(64));
        kernel.set(0, &buffer);
        run(&setup.queue, &kernel, &[64], &[16]);
        assert_eq!(read::<i32>(&setup.queue, &buffer), [3; 64]);
    });
    assert_eq!(starts, 2);
}
