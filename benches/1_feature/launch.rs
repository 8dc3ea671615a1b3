//! What a launch costs beside its work: an empty kernel enqueued and waited for, and what that allocates; and what
//! launches of work-groups take of all processors together where the driver has few threads and many.
//!
//! `LOCKSTEP_THREADS` is read once in a process, so the latter is measured by children of this one, several of each number
//! of threads in turn.

use std::ffi::c_void;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use lockstep_benches::command_line::read_rounds;
use lockstep_benches::worker::cpu_time;
use lockstep_benches::{line, measure};
use lockstep_conformance::commands::{finish, try_launch};
use lockstep_conformance::{Setup, is_lockstep, ok, run};

const SOURCE: &str = "kernel void nothing(global int *data) {}\n\
                      kernel void little(global int *data) { data[get_global_id(0)] += 1; }\n";
const BATCH: u32 = 1000;

/// Groups of 64 work-items that each take about half a microsecond.
const GROUPS_SOURCE: &str = "kernel void groups(global float *data) {
    local float parts[64];
    int l = get_local_id(0);
    parts[l] = data[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (int i = 0; i < 24; ++i) sum = mad(sum, 0.5f, parts[(l + i) & 63]);
    data[get_global_id(0)] = sum;
}";
const GROUP_SIZE: usize = 64;
/// Work-groups of a launch, and how many launches are measured together.
const GROUP_COUNTS: [(usize, u32); 3] = [(16, 2000), (256, 500), (4096, 50)];
/// Numbers of threads that are compared.
const THREADS: [&str; 2] = ["2", "128"];
/// The driver's switch for them.
const THREADS_SWITCH: &str = "LOCKSTEP_THREADS";
/// Makes a child of this program, which measures [`GROUP_COUNTS`].
const CHILD: &str = "LOCKSTEP_BENCH_GROUPS";

fn main() {
    if std::env::var_os(CHILD).is_some() {
        return measure_groups();
    }
    measure_small_launches();
    if is_lockstep() {
        compare_threads(read_rounds(40).div_ceil(8));
    }
}

/// Prints the nanoseconds of processor time that a launch of each of [`GROUP_COUNTS`] takes in this process.
fn measure_groups() {
    let setup = Setup::new();
    let kernel = setup.context.kernel(GROUPS_SOURCE, "groups");
    for (groups, launches) in GROUP_COUNTS {
        let data = setup.context.zeros::<f32>(groups * GROUP_SIZE);
        kernel.set(0, &data);
        let launch = || run(&setup.queue, &kernel, &[groups * GROUP_SIZE], &[GROUP_SIZE]);
        (0..launches / 10).for_each(|_| launch());
        let before = cpu_time();
        (0..launches).for_each(|_| launch());
        println!("{}", (cpu_time() - before) / u64::from(launches));
    }
}

/// Compares the processor time of launches where the driver has few threads and many, in so many pairs of processes.
fn compare_threads(pairs: usize) {
    let program = std::env::current_exe().expect("this program has a path");
    let measured = |threads: &str| -> Vec<f64> {
        let mut child = Command::new(&program);
        let output = child.env(CHILD, "1").env(THREADS_SWITCH, threads).output().expect("this program can be run");
        assert!(output.status.success(), "a child failed: {}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8_lossy(&output.stdout);
        text.lines().map(|line| line.parse().expect("a number of nanoseconds")).collect()
    };
    let turns: Vec<[Vec<f64>; 2]> = (0..pairs).map(|_| THREADS.map(measured)).collect();
    for (row, (groups, _)) in GROUP_COUNTS.iter().enumerate() {
        let [few, many] = [0, 1].map(|side| median(turns.iter().map(|turn| turn[side][row] / 1e3).collect()));
        let ratio = median(turns.iter().map(|turn| turn[1][row] / turn[0][row]).collect());
        line(
            &format!("{groups} groups: processor time, {} and {} threads", THREADS[0], THREADS[1]),
            format_args!("{few:>9.2} µs, {many:.2} µs   (median of the ratios: {ratio:.2})"),
        );
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn measure_small_launches() {
    let rounds = read_rounds(40);
    let setup = Setup::new();
    let program = setup.context.build(SOURCE, "");
    let data = setup.context.zeros::<i32>(1 << 20);
    for (name, size) in [("nothing", 1), ("nothing", 1024), ("little", 1024), ("little", 1 << 20)] {
        let kernel = program.kernel(name);
        kernel.set(0, &data);
        let one = measure(200, rounds * 25, || run(&setup.queue, &kernel, &[size], &[]));
        line(&format!("{name} over {size}: enqueue and finish"), one);
        if size > 1024 {
            continue;
        }
        let many = measure(1, rounds, || {
            for _ in 0..BATCH {
                ok(try_launch(&setup.queue, &kernel, &[size], &[]));
            }
            finish(&setup.queue);
        });
        line(&format!("{name} over {size}: one of {BATCH} enqueued, then finish"), many.per(BATCH));

        let before = ALLOCATIONS.load(Ordering::Relaxed);
        for _ in 0..BATCH {
            run(&setup.queue, &kernel, &[size], &[]);
        }
        let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
        line(
            &format!("{name} over {size}: allocations in {BATCH} launches"),
            format_args!("{allocations:>9} (driver and loader)"),
        );
    }
}

/// How often anything in this process has asked for memory.
static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// The driver is a library with an allocator of its own; both end in the C library's. The program's own symbols come
// before the C library's, so these are what every library in the process calls.
unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(old: *mut c_void, size: usize) -> *mut c_void;
}

/// Counts, then does what the C library's `malloc` does.
///
/// # Safety
/// As `malloc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the caller's contract is the same.
    unsafe { __libc_malloc(size) }
}

/// Counts, then does what the C library's `calloc` does.
///
/// # Safety
/// As `calloc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the caller's contract is the same.
    unsafe { __libc_calloc(count, size) }
}

/// Counts, then does what the C library's `realloc` does.
///
/// # Safety
/// As `realloc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(old: *mut c_void, size: usize) -> *mut c_void {
    ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the caller's contract is the same.
    unsafe { __libc_realloc(old, size) }
}
