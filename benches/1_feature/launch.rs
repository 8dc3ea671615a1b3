//! What a launch costs beside its work: an empty kernel enqueued and waited for, and what that allocates.

use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};

use lockstep_benches::{line, measure, rounds};
use lockstep_conformance::commands::{finish, try_launch};
use lockstep_conformance::{Setup, ok, run};

const SOURCE: &str = "kernel void nothing(global int *data) {}\n\
                      kernel void little(global int *data) { data[get_global_id(0)] += 1; }\n";
const BATCH: u32 = 1000;

fn main() {
    let rounds = rounds(40);
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
