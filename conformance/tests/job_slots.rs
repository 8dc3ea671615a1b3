//! How many jobs of the compiler there are at a time, in a process and over all processes of a user. For this driver only.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;

use lockstep_conformance::child::{in_child, is_child};
use lockstep_conformance::loader::{cl, device};
use lockstep_conformance::opencl_sys::CL_DEVICE_MAX_COMPUTE_UNITS;
use lockstep_conformance::stand_in::{StandIn, real_compiler};
use lockstep_conformance::{Setup, info, is_lockstep};

/// Programs that are built at once.
const PROGRAMS: usize = 6;

/// Tests of this file take turns: processes of a user share the slots that each of them counts.
static TURN: Mutex<()> = Mutex::new(());

/// A compiler that notes when it begins and, a fifth of a second later, when it goes on.
fn slow_compiler(name: &str) -> StandIn {
    let note = |word: &str| format!("echo $(date +%s%N) {word} >> \"$0.log\"");
    let script = format!("{}; sleep 0.2; {}; exec '{}'", note("1"), note("-1"), real_compiler().display());
    StandIn::new(name, &script)
}

/// The most compilers that were there at once, by what they noted.
fn most_at_once(stand_in: &StandIn) -> i32 {
    let log = std::fs::read_to_string(format!("{}.log", stand_in.path())).expect("compilers noted when they began");
    let mut changes: Vec<(u64, i32)> = log.lines().map(parse_change).collect();
    changes.sort_unstable();
    let counts = changes.iter().scan(0, |count, (_, change)| {
        *count += change;
        Some(*count)
    });
    counts.max().unwrap_or_default()
}

fn parse_change(line: &str) -> (u64, i32) {
    let (time, change) = line.split_once(' ').expect("a time and a change");
    (time.parse().expect("nanoseconds"), change.parse().expect("one more or one fewer"))
}

/// Processors of the machine, of which control groups and affinity may leave fewer.
fn processors() -> i32 {
    // SAFETY: a call without pointers.
    unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) as i32 }
}

/// Processors that the driver uses in this process.
fn compute_units() -> i32 {
    let count: u32 = info::value(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_MAX_COMPUTE_UNITS, size, value, returned)
    });
    count as i32
}

#[test]
fn a_process_has_as_many_jobs_as_processors() {
    if !is_lockstep() {
        return;
    }
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let stand_in = slow_compiler("own-slots");
    let environment = [("LOCKSTEP_COMPILER", stand_in.path()), ("LOCKSTEP_CACHE", "off")];
    in_child("a_process_has_as_many_jobs_as_processors", &environment, || {
        let context = &Setup::new().context;
        thread::scope(|scope| {
            for number in 0..PROGRAMS {
                scope.spawn(move || drop(context.build(&format!("kernel void store_{number}() {{}}"), "")));
            }
        });
    });
    let most = most_at_once(&stand_in);
    assert!(most <= compute_units(), "{most} jobs at once");
    assert!(most > 1 || compute_units() == 1, "one job after the other");
}

#[test]
fn processes_of_a_user_share_the_processors() {
    if !is_lockstep() || !Path::new("/dev/shm").is_dir() {
        return;
    }
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let stand_in = slow_compiler("shared-slots");
    let environment = [("LOCKSTEP_COMPILER", stand_in.path()), ("LOCKSTEP_CACHE", "off")];
    let build_in_child = || {
        in_child("processes_of_a_user_share_the_processors", &environment, || {
            drop(Setup::new().context.build("kernel void store() {}", ""));
        })
    };
    if is_child() {
        build_in_child();
        return;
    }
    thread::scope(|scope| (0..PROGRAMS).for_each(|_| drop(scope.spawn(build_in_child))));
    let most = most_at_once(&stand_in);
    assert!(most <= processors(), "{most} jobs at once");
}
