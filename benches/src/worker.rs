//! The child's side of a comparison: one driver in one configuration, told over its standard input what to run.
//!
//! Commands and answers are lines: `prepare CASE` → `ready SUM`, `run MILLISECONDS` → `times EVENT:CPU:WALL …`
//! in nanoseconds, `compile NAME SALT` → the same without events, `first NAME SALT` → `times BUILD LAUNCHES` in nanoseconds. An answer that begins with `wrong` says what is wrong with
//! a result.

use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

use lockstep_conformance::commands::{finish, launch, try_launch};
use lockstep_conformance::images::{Shape, element_size, read_image};
use lockstep_conformance::objects::Argument;
use lockstep_conformance::opencl_sys::{
    CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_WRITE, CL_PROFILING_COMMAND_END, CL_PROFILING_COMMAND_START,
    CL_QUEUE_PROFILING_ENABLE,
};
use lockstep_conformance::{Buffer, Context, Event, Kernel, Program, Queue, arguments, ok, read, run, write};

use crate::by_hand::{self, Limit};
use crate::case::{Arg, Case, Data, Outcome, Problem, Step};
use crate::compare::{BY_HAND, FROM_MODULES, LIMIT, PLAIN_FORMS, WITHOUT_EVENTS};
use crate::first_result::measure_first_result;
use crate::generated::{self, Generated};
use crate::intermediate_language::translate_source;
use crate::math::PLAIN_OPTION;
use crate::suite;

/// Runs of one burst that are not dropped, however long they take.
pub(crate) const LEAST_RUNS: usize = 2;

/// Serves commands until the input ends; `words` are what the parent's command line says behind [`WORKER`].
///
/// [`WORKER`]: crate::compare::WORKER
pub fn serve(words: &[String]) {
    match words.first().map(String::as_str) {
        Some(BY_HAND) => return by_hand::serve(Limit::Loop),
        Some(LIMIT) => return by_hand::serve(Limit::Needs),
        _ => {}
    }
    let device = Device::new(words);
    let mut prepared = None;
    answer_lines(|words| match *words {
        ["prepare", name] => {
            let case = suite::find(name).expect("the parent names cases of the same tables");
            drop(prepared.take());
            device.prepare(case).map(|new| format!("ready {:x}", prepared.insert(new).sum))
        }
        ["run", milliseconds] => {
            let milliseconds = milliseconds.parse().expect("the parent sends a number");
            let prepared = prepared.as_ref().expect("the parent prepares a case first");
            device.burst(prepared, Duration::from_millis(milliseconds))
        }
        ["first", name, salt] => {
            let salt = salt.parse().expect("the parent sends a number");
            let first = measure_first_result(&device, name, salt);
            Ok(format!("times {} {}", first.build.as_nanos(), first.launches.as_nanos()))
        }
        ["compile", name, salt] => {
            let generated = generated::find(name).expect("the parent names kernels of the same table");
            let salt = salt.parse().expect("the parent sends a number");
            let (wall, cpu) = device.first_launch(generated, salt);
            Ok(format!("times {wall}:{cpu}:{wall}"))
        }
        _ => panic!("no such command: {words:?}"),
    });
}

/// Answers each line of the input, given as its words, by a line.
pub(crate) fn answer_lines(mut answer: impl FnMut(&[&str]) -> Result<String, String>) {
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("the parent writes text");
        let words: Vec<&str> = line.split(' ').collect();
        println!("{}", answer(&words).unwrap_or_else(|wrong| format!("wrong {wrong}")));
        std::io::stdout().flush().expect("the parent reads");
    }
}

/// The driver's device with a queue.
pub(crate) struct Device {
    /// An in-order queue.
    pub queue: Queue,
    /// Whether launches have events, whose times count.
    events: bool,
    /// What cases are built with.
    options: &'static str,
    /// Whether cases are built from modules that are made of their sources.
    from_modules: bool,
    /// The context of everything.
    pub context: Context,
}

/// A case that is ready to run.
pub(crate) struct Prepared {
    /// Its launches, and what they have to leave.
    pub problem: Problem,
    buffers: Vec<Buffer>,
    /// One for each step, with its arguments.
    pub kernels: Vec<Kernel>,
    /// Of the results, once it has been right.
    sum: u64,
}

/// How long a run took, in nanoseconds.
pub(crate) struct Took {
    /// The sum of its launches' times from start to end by their events, where they have any.
    event: u64,
    /// The processor time that the process has spent.
    cpu: u64,
    /// By the clock on the wall.
    wall: u64,
}

impl Device {
    /// A device as the words of the command line want it.
    pub fn new(words: &[String]) -> Self {
        let context = Context::new();
        let events = !words.iter().any(|word| word == WITHOUT_EVENTS);
        let queue = context.queue(if events { CL_QUEUE_PROFILING_ENABLE } else { 0 });
        let options = if words.iter().any(|word| word == PLAIN_FORMS) { PLAIN_OPTION } else { "" };
        let from_modules = words.iter().any(|word| word == FROM_MODULES);
        Self { queue, events, options, from_modules, context }
    }

    /// Sets a case up and runs it once, to see that it is right.
    fn prepare(&self, case: &Case) -> Result<Prepared, String> {
        let mut prepared = match self.from_modules {
            true => self.set_up_program(case, &self.context.build_module(&translate_source(case.source)?)),
            false => self.set_up(case),
        };
        self.run(&prepared);
        let outcome = self.outcome(&prepared);
        (prepared.problem.check)(&outcome)?;
        prepared.sum = sum(&outcome);
        Ok(prepared)
    }

    /// Builds a case's program, fills its buffers and sets the arguments of its launches.
    pub fn set_up(&self, case: &Case) -> Prepared {
        self.set_up_program(case, &self.context.build(case.source, self.options))
    }

    /// The same with the program of a case that was built.
    pub fn set_up_program(&self, case: &Case, program: &Program) -> Prepared {
        let problem = (case.problem)();
        let buffers: Vec<Buffer> = problem.buffers.iter().map(|data| self.memory(data)).collect();
        let kernel = |step: &Step| {
            let kernel = program.kernel(step.kernel);
            for (index, argument) in step.arguments.iter().enumerate() {
                kernel.set(
                    index,
                    match argument {
                        Arg::Buffer(number) => Argument::Buffer(&buffers[*number]),
                        Arg::Value(bytes) => Argument::Bytes(bytes.clone()),
                        Arg::Local(size) => Argument::Local(*size),
                    },
                );
            }
            kernel
        };
        let kernels = problem.steps.iter().map(kernel).collect();
        Prepared { problem, buffers, kernels, sum: 0 }
    }

    fn memory(&self, data: &Data) -> Buffer {
        match data.image {
            None => self.context.with_values(&data.bytes),
            Some((format, sizes)) => self.context.image(CL_MEM_READ_WRITE, format, shape(sizes), &data.bytes),
        }
    }

    /// Runs for about so long; the first run is to warm up.
    fn burst(&self, prepared: &Prepared, budget: Duration) -> Result<String, String> {
        self.run(prepared);
        let mut answer = "times".to_owned();
        let start = Instant::now();
        let mut runs = 0;
        while runs < LEAST_RUNS || start.elapsed() < budget {
            let took = self.run(prepared);
            answer += &format!(" {}:{}:{}", took.event, took.cpu, took.wall);
            runs += 1;
        }
        if sum(&self.outcome(prepared)) != prepared.sum {
            return Err("the result changes from run to run".into());
        }
        Ok(answer)
    }

    /// One run from the first contents of the buffers.
    pub fn run(&self, prepared: &Prepared) -> Took {
        for (data, buffer) in prepared.problem.buffers.iter().zip(&prepared.buffers) {
            if data.restored {
                write(&self.queue, buffer, &data.bytes);
            }
        }
        let (wall, cpu) = (Instant::now(), cpu_time());
        let mut events = Vec::new();
        for (step, kernel) in prepared.problem.steps.iter().zip(&prepared.kernels) {
            if self.events {
                events.push(launch(&self.queue, kernel, &step.global, &step.local, &[]));
            } else {
                ok(try_launch(&self.queue, kernel, &step.global, &step.local));
            }
        }
        finish(&self.queue);
        let (wall, cpu) = (wall.elapsed().as_nanos() as u64, cpu_time() - cpu);
        let took =
            |event: &Event| event.time(CL_PROFILING_COMMAND_END).saturating_sub(event.time(CL_PROFILING_COMMAND_START));
        Took { event: events.iter().map(took).sum(), cpu, wall }
    }

    fn outcome(&self, prepared: &Prepared) -> Outcome {
        let bytes = |(data, memory): (&Data, &Buffer)| match data.image {
            None => read(&self.queue, memory),
            Some((format, sizes)) => read_image(&self.queue, memory, shape(sizes), element_size(format)),
        };
        Outcome(prepared.problem.buffers.iter().zip(&prepared.buffers).map(bytes).collect())
    }

    /// How much longer a kernel's first launch takes than its second, by the clock on the wall and in processor time:
    /// what is done once per kernel.
    fn first_launch(&self, generated: Generated, salt: u64) -> (u64, u64) {
        let kernel = self.context.kernel(&generated.source(salt), generated::KERNEL);
        let floats = self.context.with_values(&[1.0_f32; generated::ELEMENTS]);
        let ints = self.context.with_values(&[1_i32; generated::ELEMENTS]);
        kernel.set_all(arguments![&floats, &ints, 0x5555_i32]);
        let timed = || {
            let (start, cpu) = (Instant::now(), cpu_time());
            run(&self.queue, &kernel, &[generated::ITEMS], &[]);
            (start.elapsed().as_nanos() as u64, cpu_time() - cpu)
        };
        let (first, second) = (timed(), timed());
        (first.0.saturating_sub(second.0), first.1.saturating_sub(second.1))
    }
}

fn shape([width, height]: [usize; 2]) -> Shape {
    Shape { kind: CL_MEM_OBJECT_IMAGE2D, sizes: [width, height, 1], layers: 1 }
}

/// Nanoseconds of processor time that this process has used, and those that it started and waited for: a driver may compile there.
pub fn cpu_time() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a timespec that the call may write.
    let code = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    assert_eq!(code, 0, "Linux has the clock of a process");
    // SAFETY: zeros are a valid `rusage`, and the call may write it.
    let children = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage
    };
    let microseconds = |time: libc::timeval| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
    let of_children = microseconds(children.ru_utime) + microseconds(children.ru_stime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64 + of_children * 1_000
}

/// A checksum of everything in the buffers: as FNV-1a, but eight bytes at a time, whose high bits come down again.
fn sum(outcome: &Outcome) -> u64 {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    let words = outcome.0.iter().flat_map(|buffer| buffer.chunks(8).map(word));
    words.fold(0xcbf2_9ce4_8422_2325, |sum, word| (sum ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(29))
}
