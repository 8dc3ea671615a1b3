//! Host threads that share queues, in order and not, on the whole device and on parts of it: commands with random waits
//! for one another's events, user events, callbacks, barriers, flushes and waits.
//!
//! What commands touch is plain memory, kept apart by nothing but the events they wait for: a wait that were none shows
//! as a wrong sum, and to a sanitizer as a race. `cargo xtask stress` runs this for long, and with a sanitizer.

use std::cell::UnsafeCell;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lockstep_runtime::Result;
use lockstep_runtime::command::{Command, Run, Work};
use lockstep_runtime::context::Context;
use lockstep_runtime::device::Device;
use lockstep_runtime::event::Event;
use lockstep_runtime::partition::Scheme;
use lockstep_runtime::platform::Platform;
use lockstep_runtime::queue::Queue;
use lockstep_runtime::schedule::GroupWork;
use opencl_sys::{
    CL_COMMAND_BARRIER, CL_COMMAND_MARKER, CL_COMMAND_NATIVE_KERNEL, CL_COMMAND_NDRANGE_KERNEL, CL_COMPLETE,
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_RUNNING, CL_SUBMITTED,
};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

const HOSTS: usize = 4;
/// Cells of each host thread.
const CELLS: usize = 6;
/// Commands between two comparisons with the model.
const COMMANDS: usize = 150;
/// Work-groups of the largest launches, and values of a cell.
const GROUPS: usize = 300;

/// What commands work on: values that are not atomic.
struct Cell(Vec<UnsafeCell<u64>>);

// SAFETY: commands that touch a cell wait for each other, and the host looks at it when they have ended.
unsafe impl Sync for Cell {}

impl Cell {
    fn get(&self, position: usize) -> u64 {
        // SAFETY: nobody writes this value meanwhile, which is what is tested.
        unsafe { self.0[position].get().read() }
    }

    fn set(&self, position: usize, value: u64) {
        // SAFETY: nobody else touches this value meanwhile, which is what is tested.
        unsafe { self.0[position].get().write(value) };
    }
}

/// What every command computes, from the value of its own cell and that of another.
fn step(own: u64, other: u64) -> u64 {
    own.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(other).wrapping_add(1)
}

/// A launch: a step for each of the first `groups` values.
struct Launch {
    own: Arc<Cell>,
    other: Arc<Cell>,
    groups: usize,
    slow: bool,
}

impl Run for Launch {
    fn run(self: Arc<Self>, device: &Device) -> Result<()> {
        let group_count = self.groups as u64;
        let group_work: Arc<dyn GroupWork> = self;
        device.team().run_groups(&group_work, group_count).expect("no group panics");
        Ok(())
    }
}

impl GroupWork for Launch {
    fn run(&self, group_range: Range<u64>) {
        for group in group_range {
            let position = group as usize;
            self.own.set(position, step(self.own.get(position), self.other.get(position)));
            if self.slow {
                // Long enough to be shared with other threads.
                let start = Instant::now();
                while start.elapsed() < Duration::from_micros(2) {
                    std::hint::spin_loop();
                }
            }
        }
    }
}

/// A generator of random numbers, the same for every seed.
struct Random(SplitMix64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        (self.0.next_u64() % end as u64) as usize
    }
}

struct Shared {
    context: Arc<Context>,
    queues: Vec<Arc<Queue>>,
    /// Events of all host threads, for the others to wait for.
    recent: Mutex<Vec<Arc<Event>>>,
    commands: AtomicUsize,
    /// In milliseconds.
    longest_round: AtomicUsize,
}

struct Host<'a> {
    shared: &'a Shared,
    random: Random,
    cells: Vec<Arc<Cell>>,
    /// The last command that touched each.
    last: Vec<Option<Arc<Event>>>,
    /// What the cells will hold.
    model: Vec<Vec<u64>>,
    /// User events that some of the commands wait for.
    gates: Vec<Arc<Event>>,
    callbacks: Arc<AtomicUsize>,
    expected_callbacks: usize,
}

impl Host<'_> {
    fn new(allocation: &Shared, seed: u64) -> Host<'_> {
        let cell = |_| Arc::new(Cell((0..GROUPS).map(|_| UnsafeCell::new(0)).collect()));
        Host {
            shared: allocation,
            random: Random(SplitMix64::seed_from_u64(seed)),
            cells: (0..CELLS).map(cell).collect(),
            last: vec![None; CELLS],
            model: vec![vec![0; GROUPS]; CELLS],
            gates: Vec::new(),
            callbacks: Arc::default(),
            expected_callbacks: 0,
        }
    }

    /// Opens what this thread has closed: nobody may wait for it while it waits for somebody.
    fn open_gates(&mut self) {
        for gate in self.gates.drain(..) {
            gate.set_user_status(CL_COMPLETE).expect("each gate is opened once");
        }
    }

    /// Enqueues one command that works on two cells.
    fn enqueue(&mut self) {
        let (own, other) = (self.random.below(CELLS), self.random.below(CELLS));
        let queue = &self.shared.queues[self.random.below(self.shared.queues.len())];
        let mut waits: Vec<_> = [own, other].iter().filter_map(|&cell| self.last[cell].clone()).collect();
        {
            let recent = self.shared.recent.lock().unwrap();
            if !recent.is_empty() && self.random.below(4) == 0 {
                waits.push(recent[self.random.below(recent.len())].clone());
            }
        }
        if self.random.below(10) == 0 {
            let gate = Event::new_user_event(self.shared.context.clone());
            waits.push(gate.clone());
            self.gates.push(gate);
        }
        let groups = [1, 7, GROUPS][self.random.below(3)];
        for position in 0..groups {
            self.model[own][position] = step(self.model[own][position], self.model[other][position]);
        }
        let slow = self.random.below(8) == 0;
        let launch = Arc::new(Launch { own: self.cells[own].clone(), other: self.cells[other].clone(), groups, slow });
        let (kind, work) = match self.random.below(4) {
            0 => {
                let alone = move || {
                    GroupWork::run(&*launch, 0..launch.groups as u64);
                    Ok(())
                };
                (CL_COMMAND_NATIVE_KERNEL, Work::once(alone))
            }
            _ => (CL_COMMAND_NDRANGE_KERNEL, Work::Shared(launch)),
        };
        let event = Event::of_command(queue, kind);
        if self.random.below(6) == 0 {
            let called = self.callbacks.clone();
            let status = [CL_SUBMITTED, CL_RUNNING, CL_COMPLETE][self.random.below(3)];
            let count = move |_| _ = called.fetch_add(1, Ordering::Relaxed);
            event.on_status(status, Box::new(count));
            self.expected_callbacks += 1;
        }
        queue.enqueue_command(Command { kind, waits, work, event: Some(event.clone()), whole: None });
        self.last[own] = Some(event.clone());
        self.last[other] = Some(event.clone());
        let mut recent = self.shared.recent.lock().unwrap();
        if recent.len() < 32 {
            recent.push(event);
        } else {
            let place = self.random.below(32);
            recent[place] = event;
        }
    }

    /// What a host thread does between commands.
    fn something_else(&mut self) {
        let queue = self.shared.queues[self.random.below(self.shared.queues.len())].clone();
        match self.random.below(40) {
            0..4 => queue.flush(),
            4 => {
                self.open_gates();
                queue.finish();
            }
            5 => {
                self.open_gates();
                if let Some(event) = &self.last[self.random.below(CELLS)] {
                    event.wait_until_ended();
                    assert_eq!(event.status(), CL_COMPLETE);
                }
            }
            6..8 => {
                let kind = [CL_COMMAND_BARRIER, CL_COMMAND_MARKER][self.random.below(2)];
                let event = Some(Event::of_command(&queue, kind));
                queue.enqueue_command(Command { kind, event, ..Command::default() });
            }
            8..12 => self.open_gates(),
            _ => {}
        }
    }

    fn round(&mut self) {
        let start = Instant::now();
        for _ in 0..COMMANDS {
            self.enqueue();
            self.something_else();
        }
        self.open_gates();
        self.last.iter().flatten().for_each(|event| event.wait_until_ended());
        for (cell, model) in self.cells.iter().zip(&self.model) {
            let values: Vec<u64> = (0..GROUPS).map(|position| cell.get(position)).collect();
            assert_eq!(&values, model);
        }
        self.shared.commands.fetch_add(COMMANDS, Ordering::Relaxed);
        self.shared.longest_round.fetch_max(start.elapsed().as_millis() as usize, Ordering::Relaxed);
    }
}

/// For how long; a test run takes a short time.
fn duration() -> Duration {
    let seconds = std::env::var("LOCKSTEP_TEST_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(seconds.unwrap_or(2))
}

#[test]
fn host_threads_share_queues() {
    let device = Platform::get().device().clone();
    // Two queues on the whole device, and two on parts of it where it has any.
    let parts = device.create_sub_devices(&Scheme::Equally(1), &[]).unwrap_or_default();
    let part = |index: usize| parts.get(index).unwrap_or(&device).clone();
    let devices = [device.clone(), part(0), device.clone(), part(1)];
    let context = Context::new(std::iter::once(device).chain(parts).collect(), Vec::new(), None);
    let queue = |(index, device): (usize, Arc<Device>)| {
        let properties = if index < 3 { CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE } else { 0 };
        Queue::new(context.clone(), device, properties, Vec::new())
    };
    let queues: Vec<_> = devices.into_iter().enumerate().map(queue).collect();
    let allocation = Shared {
        context: context.clone(),
        queues,
        recent: Mutex::default(),
        commands: AtomicUsize::new(0),
        longest_round: AtomicUsize::new(0),
    };
    let start = Instant::now();
    let calls: Vec<_> = std::thread::scope(|scope| {
        let host = |seed| {
            let allocation = &allocation;
            scope.spawn(move || {
                let mut host = Host::new(allocation, seed);
                while start.elapsed() < duration() {
                    host.round();
                }
                (host.callbacks, host.expected_callbacks)
            })
        };
        let hosts: Vec<_> = (0..HOSTS as u64).map(host).collect();
        hosts.into_iter().map(|host| host.join().unwrap()).collect()
    });
    allocation.queues.iter().for_each(|queue| queue.finish());
    // Callbacks of commands that were submitted or began are told by other threads, soon.
    for (called, expected) in calls {
        while called.load(Ordering::Relaxed) < expected {
            assert!(start.elapsed() < duration() + Duration::from_secs(60), "a callback is missing");
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(called.load(Ordering::Relaxed), expected);
    }
    let [commands, longest] =
        [&allocation.commands, &allocation.longest_round].map(|number| number.load(Ordering::Relaxed));
    println!("{commands} commands in {:?}, {COMMANDS} of them in at most {longest} ms", start.elapsed());
    assert!(allocation.commands.load(Ordering::Relaxed) >= HOSTS * COMMANDS);
}
