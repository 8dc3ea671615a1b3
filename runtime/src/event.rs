//! Events: how far a command has come, and who wants to know.
//!
//! A status only goes forward: queued, submitted, running, then complete or an error. Whoever moves it gets back the
//! callbacks that are due and calls them after letting go of every lock, so that a callback may call the API.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use opencl_sys::{
    CL_COMMAND_USER, CL_COMPLETE, CL_INVALID_OPERATION, CL_QUEUED, CL_RUNNING, CL_SUBMITTED, cl_command_type, cl_int,
};
use parking_lot::{Condvar, Mutex};

use crate::context::Context;
use crate::executor::{self, Service};
use crate::names::CodeName;
use crate::queue::Queue;
use crate::{ApiHandle, Result, clock, ensure};

/// A callback; it is given the status the event has reached.
pub type Callback = Box<dyn FnOnce(cl_int) + Send>;

/// An event: of a command, or of the user.
pub struct Event {
    context: Arc<Context>,
    /// None for a user event.
    queue: Option<Arc<Queue>>,
    kind: cl_command_type,
    /// Changed only under the lock of `parties`, read without.
    status: AtomicI32,
    /// Times of queued, submitted, running and ended; 0 means not yet.
    times: [AtomicU64; 4],
    parties: Mutex<Parties>,
    /// For threads that wait for a user event.
    ended: Condvar,
    /// The word of the API layer.
    pub api: ApiHandle,
}

/// Those who want to know.
#[derive(Default)]
struct Parties {
    dependents: Vec<Dependent>,
    /// With the status each waits for.
    callbacks: Vec<(cl_int, Callback)>,
}

/// A command that waits for an event.
pub(crate) struct Dependent {
    pub queue: Arc<Queue>,
    /// The command's number in its queue.
    pub number: u64,
}

/// What is to be done once an event has ended, in this order and without locks held.
#[must_use]
pub(crate) struct Ended {
    pub dependents: Vec<Dependent>,
    callbacks: Vec<(cl_int, Callback)>,
    status: cl_int,
}

impl Ended {
    /// Whether the application has code to run.
    pub fn has_callbacks(&self) -> bool {
        !self.callbacks.is_empty()
    }

    /// Tells the commands that waited, then the application.
    pub fn notify_all(self) {
        for dependent in self.dependents {
            dependent.queue.dependency_ended(dependent.number);
        }
        run_callbacks(self.callbacks, self.status);
    }
}

impl Event {
    /// The event of a command about to be enqueued.
    pub fn of_command(queue: &Arc<Queue>, command_type: cl_command_type) -> Arc<Self> {
        let event = Self::new(queue.context().clone(), Some(queue.clone()), command_type, CL_QUEUED);
        event.times[0].store(clock::now_nanoseconds(), Ordering::Relaxed);
        Arc::new(event)
    }

    /// A user event: its "execution status is set to CL_SUBMITTED".
    pub fn new_user_event(context: Arc<Context>) -> Arc<Self> {
        Arc::new(Self::new(context, None, CL_COMMAND_USER, CL_SUBMITTED))
    }

    fn new(context: Arc<Context>, queue: Option<Arc<Queue>>, command_type: cl_command_type, status: cl_int) -> Self {
        Self {
            context,
            queue,
            kind: command_type,
            status: AtomicI32::new(status),
            times: [const { AtomicU64::new(0) }; 4],
            parties: Mutex::default(),
            ended: Condvar::new(),
            api: ApiHandle::default(),
        }
    }

    /// The context it belongs to.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The queue of the command; none for a user event.
    pub fn queue(&self) -> Option<&Arc<Queue>> {
        self.queue.as_ref()
    }

    /// The kind of the command (`CL_COMMAND_*`).
    pub fn kind(&self) -> cl_command_type {
        self.kind
    }

    /// How far the command has come; a negative value is the error that ended it.
    pub fn status(&self) -> cl_int {
        self.status.load(Ordering::Acquire)
    }

    /// Complete, or ended by an error.
    pub fn has_ended(&self) -> bool {
        self.status() <= CL_COMPLETE
    }

    /// When the command was queued, submitted, started and ended, once it has ended.
    pub fn profiling_times(&self) -> Option<[u64; 4]> {
        self.has_ended().then(|| std::array::from_fn(|index| self.times[index].load(Ordering::Relaxed)))
    }

    /// Moves the status of a command forward to submitted or running.
    pub(crate) fn advance_status(&self, status: cl_int) {
        debug_assert!(status == CL_SUBMITTED || status == CL_RUNNING);
        let mut parties = self.parties.lock();
        let current_time = clock::now_nanoseconds();
        for passed in (status..self.status()).rev() {
            self.times[(CL_QUEUED - passed) as usize].store(current_time, Ordering::Relaxed);
        }
        if status < self.status() {
            self.status.store(status, Ordering::Release);
        }
        let due_callbacks = take_due(&mut parties.callbacks, status);
        drop(parties);
        if !due_callbacks.is_empty() {
            // The command must not wait for the application's code, which might wait for the command.
            executor::spawn_job(Service::Commands, Box::new(move || run_callbacks(due_callbacks, status)));
        }
    }

    /// Has the command begin when the first of these did, which have ended.
    pub(crate) fn begin_with(&self, part_events: &[Arc<Event>]) {
        for (index, time) in self.times[..3].iter().enumerate() {
            let first_begin =
                part_events.iter().map(|part_event| part_event.times[index].load(Ordering::Relaxed)).min();
            time.fetch_min(first_begin.unwrap_or(u64::MAX), Ordering::Relaxed);
        }
    }

    /// Ends the command with `CL_COMPLETE` or an error.
    pub(crate) fn end_with(&self, status: cl_int) -> Ended {
        debug_assert!(status <= CL_COMPLETE);
        let mut parties = self.parties.lock();
        let current_time = clock::now_nanoseconds();
        for time in &self.times {
            // Only what has not happened yet: a terminated command never ran.
            let _ = time.compare_exchange(0, current_time, Ordering::Relaxed, Ordering::Relaxed);
        }
        self.status.store(status, Ordering::Release);
        let dependents = std::mem::take(&mut parties.dependents);
        let callbacks = take_due(&mut parties.callbacks, status);
        drop(parties);
        self.ended.notify_all();
        Ended { dependents, callbacks, status }
    }

    /// Sets a user event's status, once.
    ///
    /// "CL_INVALID_OPERATION if the execution_status for event has already been changed by a previous call to
    /// clSetUserEventStatus."
    ///
    /// # Errors
    /// `CL_INVALID_OPERATION`: see above.
    pub fn set_user_status(&self, status: cl_int) -> Result<()> {
        {
            // Two threads may try; the lock decides. The status itself is set by `end`.
            let _parties = self.parties.lock();
            let is_first = self.times[0].swap(1, Ordering::Relaxed) == 0;
            ensure!(
                is_first,
                CL_INVALID_OPERATION,
                "the event's status was set before, to {}",
                CodeName(self.status())
            );
        }
        self.end_with(status).notify_all();
        Ok(())
    }

    /// Registers a callback for a status: "The registered callback function will be called when the execution status of
    /// command associated with event changes to an execution status equal to or past the status specified".
    pub fn on_status(&self, status: cl_int, callback: Callback) {
        let mut parties = self.parties.lock();
        let current_status = self.status();
        if current_status > status {
            parties.callbacks.push((status, callback));
            return;
        }
        drop(parties);
        run_callbacks(vec![(status, callback)], current_status);
    }

    /// Registers a command to be told when this ends; false when it has ended already.
    pub(crate) fn add_dependent(&self, dependent: impl FnOnce() -> Dependent) -> bool {
        if self.has_ended() {
            return false;
        }
        let mut parties = self.parties.lock();
        if self.has_ended() {
            return false;
        }
        parties.dependents.push(dependent());
        true
    }

    /// Sees to it that the command will be executed without further calls.
    pub fn flush_queue(&self) {
        if let Some(queue) = &self.queue
            && !self.has_ended()
        {
            queue.flush();
        }
    }

    /// Waits until the event has ended. The thread executes commands of the event's queue itself as long as it can.
    pub fn wait_until_ended(&self) {
        if self.has_ended() {
            return;
        }
        match &self.queue {
            Some(queue) => queue.wait_for(self),
            None => {
                let mut parties = self.parties.lock();
                while !self.has_ended() {
                    self.ended.wait(&mut parties);
                }
            }
        }
    }
}

/// Takes out the callbacks due at a status. An error makes all of them due.
fn take_due(callbacks: &mut Vec<(cl_int, Callback)>, status: cl_int) -> Vec<(cl_int, Callback)> {
    if callbacks.is_empty() {
        return Vec::new();
    }
    callbacks.extract_if(.., |(wanted_status, _)| *wanted_status >= status).collect()
}

/// Calls callbacks, each with the status it was registered for, or all with the error that ended the command.
fn run_callbacks(callbacks: Vec<(cl_int, Callback)>, status: cl_int) {
    for (wanted_status, callback) in callbacks {
        callback(if status < CL_COMPLETE { status } else { wanted_status });
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Event")
            .field("kind", &self.kind)
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}
