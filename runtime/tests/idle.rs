//! Threads without work take no time of a processor: the helpers that run work-groups, and those that drain queues.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use lockstep_runtime::command::{Command, Work};
use lockstep_runtime::context::Context;
use lockstep_runtime::platform::Platform;
use lockstep_runtime::queue::Queue;
use lockstep_runtime::schedule::{self, GroupWork};
use opencl_sys::CL_COMMAND_NATIVE_KERNEL;

struct Slow;

impl GroupWork for Slow {
    fn run(&self, group_range: Range<u64>) {
        std::thread::sleep(Duration::from_micros(100) * (group_range.end - group_range.start) as u32);
    }
}

/// State and time on a processor (in nanoseconds) of the driver's threads, by their numbers.
fn threads() -> BTreeMap<u32, (char, u64)> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let read = |task: std::io::Result<std::fs::DirEntry>| {
        let path = task.ok()?.path();
        // A thread may end meanwhile.
        let stat = std::fs::read_to_string(path.join("stat")).ok()?;
        let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
        let time = std::fs::read_to_string(path.join("schedstat")).ok()?;
        let time = time.split_whitespace().next()?.parse().ok()?;
        let number = path.file_name()?.to_str()?.parse().ok()?;
        name.starts_with("lockstep-").then_some((number, (rest.trim().chars().next()?, time)))
    };
    tasks.filter_map(read).collect()
}

#[test]
fn idle_threads_sleep() {
    let group_work: Arc<dyn GroupWork> = Arc::new(Slow);
    let device = Platform::get().device();
    device.team().run_groups(&group_work, 200).unwrap();
    let context = Context::new(vec![device.clone()], Vec::new(), None);
    let queue = Queue::new(context.clone(), context.devices()[0].clone(), 0, Vec::new());
    let (ran, has_run) = mpsc::channel();
    let work = Work::once(move || {
        ran.send(()).unwrap();
        Ok(())
    });
    queue.enqueue_command(Command { kind: CL_COMMAND_NATIVE_KERNEL, work, ..Command::default() });
    queue.flush();
    // Now all threads that there will be are there.
    has_run.recv_timeout(Duration::from_secs(20)).unwrap();

    // On a busy machine it may take long until they get to what they do last.
    let start = Instant::now();
    while threads().values().any(|&(state, _)| state != 'S') {
        assert!(start.elapsed() < Duration::from_secs(20), "a thread does not sleep: {:?}", threads());
        std::thread::sleep(Duration::from_millis(1));
    }
    let before = threads();
    assert!(before.len() >= schedule::worker_count() - 1, "{before:?}");
    std::thread::sleep(Duration::from_millis(300));
    let after = threads();
    // On a busy machine this may take until a thread that drains queues has ended.
    let still = |before: &BTreeMap<u32, _>| before.keys().filter(|number| after.contains_key(number)).count();
    assert!(still(&before) >= schedule::worker_count() - 1, "{after:?}");
    for (number, now) in after {
        assert_eq!(before.get(&number), Some(&now), "a thread without work was on a processor");
    }
}
