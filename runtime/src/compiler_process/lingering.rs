//! Processes that have done a job and wait for another one of the same program.
//!
//! A process that built a program, or made code of one of its kernels, has everything in memory that the next kernel's code takes:
//! another one would need 10 to 15 ms to get there. It has seen nothing but that program, so nothing of another one can reach it.
//! Processes wait for a second, as many as there are processors to run on; then they end. That, and taking leave of processes for which there
//! is no further job, is done by one thread, as long as there are any.

use std::time::{Duration, Instant};

use lockstep_protocol::job::PATIENCE_MS;
use parking_lot::{Condvar, Mutex, MutexGuard};

use super::child::Child;
use crate::executor::{self, Service};
use crate::per_process::PerProcess;
use crate::schedule::available_cpus;

/// How long a process waits. It would go by itself a little later.
const PATIENCE: Duration = Duration::from_millis(PATIENCE_MS - 500);

/// What tells programs apart: a hash of the portable form.
pub(super) type ProgramHash = [u8; 32];

/// A process without a job.
struct Waiting {
    child: Child,
    /// The program that it has seen; none where it is to end.
    program: Option<ProgramHash>,
    until: Instant,
}

#[derive(Default)]
struct Lingering {
    waiting: Vec<Waiting>,
    /// Whether a thread ends those whose time is over.
    is_attended: bool,
}

/// What threads share. A forked child has no such processes, and nobody who attends to them.
#[derive(Default)]
struct Shared {
    lingering: Mutex<Lingering>,
    changed: Condvar,
}

fn shared() -> &'static Shared {
    static SHARED: PerProcess<Shared> = PerProcess::new();
    SHARED.get_or_make(Shared::default)
}

fn lock_in_process() -> MutexGuard<'static, Lingering> {
    shared().lingering.lock()
}

/// A process that knows a program, if one waits.
pub(super) fn take_process(program: ProgramHash) -> Option<Child> {
    let mut lingering = lock_in_process();
    loop {
        let position = lingering.waiting.iter().position(|waiting| waiting.program == Some(program))?;
        let mut child = lingering.waiting.swap_remove(position).child;
        if child.is_intact() && child.is_alive() {
            return Some(child);
        }
        end_process(child);
    }
}

/// Lets a process wait for another job of a program, or end where there is none.
pub(super) fn leave_process(child: Child, program: Option<ProgramHash>) {
    let mut lingering = lock_in_process();
    let until = Instant::now() + if program.is_some() { PATIENCE } else { Duration::ZERO };
    lingering.waiting.push(Waiting { child, program, until });
    dismiss_longest_waiting(&mut lingering.waiting, available_cpus());
    let is_attended = std::mem::replace(&mut lingering.is_attended, true);
    drop(lingering);
    shared().changed.notify_all();
    if !is_attended && executor::try_spawn(Service::Reaping, Box::new(attend_processes)).is_err() {
        let mut lingering = lock_in_process();
        lingering.is_attended = false;
        // Without a thread they all go at once.
        let ended = std::mem::take(&mut lingering.waiting);
        drop(lingering);
        end_all(ended);
    }
}

/// Ends all processes that wait. Whether there were any.
pub(super) fn end_all_waiting() -> bool {
    let waiting = std::mem::take(&mut lock_in_process().waiting);
    let were_some = !waiting.is_empty();
    end_all(waiting);
    were_some
}

fn end_all(ended: Vec<Waiting>) {
    ended.into_iter().for_each(|waiting| end_process(waiting.child));
}

/// Ends a process, and closes nothing that an application has opened meanwhile under the numbers of its descriptors.
fn end_process(child: Child) {
    if child.is_intact() { drop(child) } else { child.abandon_descriptors() }
}

/// Has those go for whom there are too many, who came first first.
fn dismiss_longest_waiting(waiting: &mut [Waiting], most: usize) {
    let staying = waiting.iter_mut().rev().filter(|waiting| waiting.program.is_some());
    for surplus in staying.skip(most) {
        (surplus.program, surplus.until) = (None, Instant::now());
    }
}

/// Ends processes whose time is over until there are none left.
fn attend_processes() {
    let mut lingering = lock_in_process();
    loop {
        let now = Instant::now();
        let ended: Vec<Waiting> = lingering.waiting.extract_if(.., |waiting| waiting.until <= now).collect();
        let next = lingering.waiting.iter().map(|waiting| waiting.until).min();
        match (ended.is_empty(), next) {
            (false, _) => {
                drop(lingering);
                end_all(ended);
                lingering = lock_in_process();
            }
            (true, Some(next)) => _ = shared().changed.wait_until(&mut lingering, next),
            (true, None) => {
                lingering.is_attended = false;
                return;
            }
        }
    }
}
