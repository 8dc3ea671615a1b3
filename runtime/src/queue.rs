//! Command queues: what may run next, and which thread runs it.
//!
//! A queue is a list of numbered commands. Nothing runs while commands are only enqueued; a thread that waits (finish, a
//! blocking command, an event) executes commands itself until what it waits for has ended, so that a small command costs
//! no hand-over between threads. A flush leaves the commands to a worker thread. When a command at the head waits for an
//! event, nobody is kept: the event's end calls [`Queue::dependency_ended`], which finds a thread.
//!
//! In an in-order queue one command runs at a time and only the first may. In an out-of-order queue every command whose
//! dependencies have ended may run, several at once; a barrier is a dependency of all that come after it.
//!
//! No lock is held while a command or a callback runs. The lock of a queue may be held while that of an event is taken,
//! never the other way round.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use opencl_sys::{
    CL_COMMAND_BARRIER, CL_COMMAND_MARKER, CL_COMPLETE, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
    CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE,
    CL_RUNNING, CL_SUBMITTED, cl_command_queue_properties, cl_int, cl_queue_properties,
};
use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::command::{Command, Work};
use crate::context::{Context, RunsCommands};
use crate::device::Device;
use crate::event::{Dependent, Event};
use crate::executor::{self, Service};
use crate::names::{CodeName, CommandName};
use crate::{ApiHandle, Error, error, report};

/// So many commands may gather before a worker is set to them unasked.
const GATHER: u64 = 4096;

/// A command queue.
pub struct Queue {
    context: Arc<Context>,
    device: Arc<Device>,
    properties: AtomicU64,
    /// The property list it was made with, with its terminating 0; empty when there was none.
    property_list: Vec<cl_queue_properties>,
    state: Mutex<State>,
    /// A command has ended or may run now, and somebody waits.
    changed: Condvar,
    /// With which error a command of which nobody has the event found no resources or memory since [`Queue::take_want`] was called;
    /// `CL_COMPLETE` if none did.
    want: AtomicI32,
    /// The word of the API layer.
    pub api: ApiHandle,
}

/// What the lock protects.
#[derive(Default)]
struct State {
    out_of_order: bool,
    /// The commands not ended yet, and ended ones behind them, by number from `first` on.
    slots: VecDeque<Slot>,
    /// The number of the first slot: everything before it has ended.
    first: u64,
    /// Commands before this number are to be executed without further calls.
    flushed: u64,
    /// Out-of-order: commands that may run, in the order they became so.
    ready: VecDeque<u64>,
    /// Out-of-order: the last barrier, which later commands wait for.
    barrier: Option<Arc<Event>>,
    /// Commands running now.
    running: usize,
    /// Worker jobs about to look for a command.
    scheduled: usize,
    /// Threads in `changed.wait`.
    waiting: usize,
}

enum Slot {
    Waiting(Pending),
    /// With its event, for those that order themselves behind it.
    Running(Option<Arc<Event>>),
    Ended,
}

/// A command that has not started.
struct Pending {
    command: Command,
    /// Events it waits for that have not ended.
    blockers: usize,
}

impl State {
    /// The number the next command gets.
    fn next_number(&self) -> u64 {
        self.first + self.slots.len() as u64
    }

    fn slot_of(&mut self, command_number: u64) -> Option<&mut Slot> {
        self.slots.get_mut(usize::try_from(command_number.checked_sub(self.first)?).ok()?)
    }

    /// How many commands may start now.
    fn runnable_count(&self) -> usize {
        if self.out_of_order {
            return self.ready.len();
        }
        let head_may = matches!(self.slots.front(), Some(Slot::Waiting(p)) if p.blockers == 0);
        usize::from(head_may && self.running == 0)
    }

    /// Takes a command that may start now, and counts it as running.
    fn take_runnable(&mut self) -> Option<(u64, Command)> {
        if self.runnable_count() == 0 {
            return None;
        }
        let command_number = if self.out_of_order { self.ready.pop_front()? } else { self.first };
        let command_slot = self.slot_of(command_number)?;
        let Slot::Waiting(pending) = std::mem::replace(command_slot, Slot::Ended) else { return None };
        *command_slot = Slot::Running(pending.command.event.clone());
        self.running += 1;
        Some((command_number, pending.command))
    }

    /// An event that a waiting command waits for has ended.
    fn unblock_command(&mut self, command_number: u64) {
        let out_of_order = self.out_of_order;
        let Some(Slot::Waiting(pending)) = self.slot_of(command_number) else { return };
        pending.blockers -= 1;
        if pending.blockers == 0 && out_of_order {
            self.ready.push_back(command_number);
        }
    }

    /// Marks a running command as ended.
    fn mark_ended(&mut self, command_number: u64, event: Option<&Arc<Event>>) {
        if let Some(command_slot) = self.slot_of(command_number) {
            *command_slot = Slot::Ended;
        }
        // An event holds its queue: keeping the last barrier's would keep the queue for ever.
        self.barrier.take_if(|barrier| event.is_some_and(|event| Arc::ptr_eq(barrier, event)));
        self.running -= 1;
        while let Some(Slot::Ended) = self.slots.front() {
            self.slots.pop_front();
            self.first += 1;
        }
    }
}

impl Queue {
    /// A queue of `device` in `context`.
    pub fn new(
        context: Arc<Context>,
        device: Arc<Device>,
        properties: cl_command_queue_properties,
        property_list: Vec<cl_queue_properties>,
    ) -> Arc<Self> {
        let out_of_order = properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE != 0;
        let queue = Arc::new(Self {
            context,
            device,
            properties: AtomicU64::new(properties),
            property_list,
            state: Mutex::new(State { out_of_order, ..State::default() }),
            changed: Condvar::new(),
            want: AtomicI32::new(CL_COMPLETE),
            api: ApiHandle::default(),
        });
        let weak_queue = Arc::downgrade(&queue);
        queue.context.add_queue(weak_queue);
        queue
    }

    /// The context it belongs to.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The device that runs its commands.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// What the queue was asked to do (`CL_QUEUE_PROPERTIES`).
    pub fn properties(&self) -> cl_command_queue_properties {
        self.properties.load(Ordering::Relaxed)
    }

    /// Whether commands run one after the other.
    pub fn is_in_order(&self) -> bool {
        self.properties() & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE == 0
    }

    /// The property list it was created with (`CL_QUEUE_PROPERTIES_ARRAY`).
    pub fn property_list(&self) -> &[cl_queue_properties] {
        &self.property_list
    }

    /// Whether times are recorded.
    pub fn records_times(&self) -> bool {
        self.properties() & CL_QUEUE_PROFILING_ENABLE != 0
    }

    /// `clSetCommandQueueProperty`: changes the properties once all earlier commands have ended; returns the old ones.
    pub fn set_properties(
        self: &Arc<Self>,
        properties: cl_command_queue_properties,
        enable: bool,
    ) -> cl_command_queue_properties {
        let mut queue_state = self.state.lock();
        loop {
            let end_number = queue_state.next_number();
            queue_state = self.drive_until(queue_state, |queue_state| queue_state.first >= end_number);
            // Another thread may have enqueued since; an empty queue can change its order.
            if queue_state.slots.is_empty() {
                break;
            }
        }
        let previous = self.properties();
        let new_properties = if enable { previous | properties } else { previous & !properties };
        self.properties.store(new_properties, Ordering::Relaxed);
        queue_state.out_of_order = new_properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE != 0;
        queue_state.barrier = None;
        previous
    }

    /// Puts a command at the end of the queue.
    ///
    /// The caller has checked the wait list (same context). In an in-order queue this allocates nothing when the work is
    /// `Work::Shared` and no event is asked for.
    pub fn enqueue_command(self: &Arc<Self>, mut command: Command) {
        let mut queue_state = self.state.lock();
        let command_number = queue_state.next_number();
        let ordered = !queue_state.out_of_order;
        let depend_on = |event: &Event| {
            // In an in-order queue what came before has ended anyway when the command's turn comes.
            let by_order = ordered && event.queue().is_some_and(|queue| Arc::ptr_eq(queue, self));
            !by_order && event.add_dependent(|| Dependent { queue: self.clone(), number: command_number })
        };
        let mut blockers = command.waits.iter().filter(|event| depend_on(event)).count();
        if queue_state.out_of_order {
            let event = command.event.get_or_insert_with(|| Event::of_command(self, command.kind));
            if let Some(barrier) = &queue_state.barrier {
                blockers += usize::from(depend_on(barrier));
            }
            let all_before = matches!(command.kind, CL_COMMAND_BARRIER | CL_COMMAND_MARKER) && command.waits.is_empty();
            if all_before {
                for command_slot in &queue_state.slots {
                    let (Slot::Running(Some(earlier_event))
                    | Slot::Waiting(Pending { command: Command { event: Some(earlier_event), .. }, .. })) =
                        command_slot
                    else {
                        continue;
                    };
                    blockers += usize::from(depend_on(earlier_event));
                }
            }
            if command.kind == CL_COMMAND_BARRIER {
                queue_state.barrier = Some(event.clone());
            }
            if blockers == 0 {
                queue_state.ready.push_back(command_number);
            }
        }
        queue_state.slots.push_back(Slot::Waiting(Pending { command, blockers }));
        if command_number - queue_state.flushed >= GATHER {
            self.flush_locked(queue_state);
        }
    }

    /// `clFlush`: all commands so far will be executed without further calls.
    pub fn flush(self: &Arc<Self>) {
        self.flush_locked(self.state.lock());
    }

    fn flush_locked(self: &Arc<Self>, mut queue_state: MutexGuard<'_, State>) {
        let notifications = self.submit_all(&mut queue_state);
        self.find_threads(&mut queue_state, 0);
        drop(queue_state);
        notifications.notify_all();
    }

    /// `clFinish`: waits until all commands so far have ended.
    pub fn finish(self: &Arc<Self>) {
        let queue_state = self.state.lock();
        let end_number = queue_state.next_number();
        drop(self.drive_until(queue_state, |queue_state| queue_state.first >= end_number));
    }

    /// The error of a command that has ended since the last call for want of resources or memory, and of which the application asked
    /// for no event to hear of it.
    pub fn take_want(&self) -> Option<cl_int> {
        Some(self.want.swap(CL_COMPLETE, Ordering::Relaxed)).filter(|&code| code != CL_COMPLETE)
    }

    /// Waits for the event of a command of this queue.
    pub(crate) fn wait_for(self: &Arc<Self>, event: &Event) {
        drop(self.drive_until(self.state.lock(), |_| event.has_ended()));
    }

    /// Executes commands on this thread until `is_done`, sleeping while there is nothing it may execute.
    fn drive_until<'a>(
        self: &'a Arc<Self>,
        mut queue_state: MutexGuard<'a, State>,
        is_done: impl Fn(&State) -> bool,
    ) -> MutexGuard<'a, State> {
        if is_done(&queue_state) {
            return queue_state;
        }
        let notifications = self.submit_all(&mut queue_state);
        if !notifications.is_empty() {
            drop(queue_state);
            notifications.notify_all();
            queue_state = self.state.lock();
        }
        while !is_done(&queue_state) {
            if let Some((command_number, command)) = queue_state.take_runnable() {
                self.find_threads(&mut queue_state, 0);
                drop(queue_state);
                self.execute_command(command_number, command);
                queue_state = self.state.lock();
            } else if !MutexGuard::unlocked(&mut queue_state, executor::run_waiting_job)
                && !is_done(&queue_state)
                && queue_state.runnable_count() == 0
            {
                queue_state.waiting += 1;
                self.changed.wait(&mut queue_state);
                queue_state.waiting -= 1;
            }
        }
        // What this thread leaves behind is somebody else's now.
        self.find_threads(&mut queue_state, 0);
        queue_state
    }

    /// Counts all commands as flushed. The lock must be let go before telling the news.
    fn submit_all(&self, queue_state: &mut State) -> Notifications {
        let mut notifications = Notifications::default();
        let first_number = queue_state.flushed.max(queue_state.first);
        let skipped_count = usize::try_from(first_number - queue_state.first).unwrap_or(usize::MAX);
        for command_slot in queue_state.slots.iter().skip(skipped_count) {
            let Slot::Waiting(Pending { command, blockers }) = command_slot else { continue };
            notifications.submitted.extend(command.event.clone());
            if *blockers > 0 {
                // Other queues must get on too: an application that forgot to flush them would wait for ever.
                let other_queues =
                    command.waits.iter().filter(|event| !event.has_ended()).filter_map(|event| event.queue());
                notifications.needed.extend(other_queues.filter(|queue| !std::ptr::eq(&***queue, self)).cloned());
            }
        }
        queue_state.flushed = queue_state.next_number();
        notifications
    }

    /// Sees to it that a thread takes up what may run. `looking`: threads that will look at the queue next.
    fn find_threads(self: &Arc<Self>, queue_state: &mut State, looking: usize) {
        let runnable = queue_state.runnable_count();
        if runnable == 0 || queue_state.flushed <= queue_state.first {
            return;
        }
        if queue_state.waiting > 0 {
            // They wait for something in this queue anyway, and hand on what they leave behind.
            self.changed.notify_all();
        }
        let maximum = if queue_state.out_of_order {
            (self.device.compute_units() as usize).max(2).saturating_sub(queue_state.running)
        } else {
            1
        };
        let wanted_threads = runnable.saturating_sub(queue_state.waiting + looking).min(maximum);
        while queue_state.scheduled < wanted_threads {
            queue_state.scheduled += 1;
            let queue = self.clone();
            executor::spawn_job(Service::Commands, Box::new(move || queue.work_for_queue()));
        }
    }

    /// What a worker does for this queue.
    fn work_for_queue(self: &Arc<Self>) {
        let mut queue_state = self.state.lock();
        queue_state.scheduled -= 1;
        while let Some((command_number, command)) = queue_state.take_runnable() {
            drop(queue_state);
            self.execute_command(command_number, command);
            queue_state = self.state.lock();
        }
    }

    /// Runs a command taken from the queue and tells everybody about its end.
    fn execute_command(self: &Arc<Self>, command_number: u64, mut command: Command) {
        let failed_event = command.waits.iter().find(|event| event.status() < CL_COMPLETE);
        let result = if let Some(event) = failed_event {
            let (command_name, status_name) = (CommandName(event.kind()), CodeName(event.status()));
            Err(error!(
                CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
                "it waited for {command_name}, which ended with {status_name}"
            ))
        } else {
            if let Some(event) = &command.event {
                event.advance_status(CL_RUNNING);
                if let Work::Whole(part_events) = &command.work {
                    event.begin_with(part_events);
                }
            }
            command.work.run(&self.device)
        };
        let status = result.as_ref().map_or_else(Error::code, |()| CL_COMPLETE);
        let told_event = command.whole.as_ref().or(command.event.as_ref());
        let unheard = told_event.is_none_or(|event| event.api.get() == 0);
        if unheard && matches!(status, CL_OUT_OF_RESOURCES | CL_OUT_OF_HOST_MEMORY) {
            self.want.store(status, Ordering::Relaxed);
        }
        let mut ended_command = command.event.as_ref().map(|event| event.end_with(status));

        let mut queue_state = self.state.lock();
        queue_state.mark_ended(command_number, command.event.as_ref());
        if let Some(ended_command) = &mut ended_command {
            for dependent in ended_command.dependents.extract_if(.., |waiting| Arc::ptr_eq(&waiting.queue, self)) {
                queue_state.unblock_command(dependent.number);
            }
        }
        if queue_state.waiting > 0 {
            self.changed.notify_all();
        }
        // This thread looks again at once, unless the application's code keeps it.
        let looking = usize::from(!ended_command.as_ref().is_some_and(|ended_command| ended_command.has_callbacks()));
        self.find_threads(&mut queue_state, looking);
        drop(queue_state);
        if let Err(error) = &result {
            report::report_error(Some(&self.context), CommandName(command.kind), error);
        }
        // The work goes before the callbacks are told, but after the command has ended: what it held may be the last
        // reference to a memory object, whose destructor callback may wait for this queue.
        let Command { work, waits, event, whole, .. } = command;
        work.let_go();
        drop((waits, event, whole));
        if let Some(ended_command) = ended_command {
            ended_command.notify_all();
        }
    }

    /// An event that a command of this queue waited for has ended.
    pub(crate) fn dependency_ended(self: &Arc<Self>, command_number: u64) {
        let mut queue_state = self.state.lock();
        queue_state.unblock_command(command_number);
        self.find_threads(&mut queue_state, 0);
    }
}

impl RunsCommands for Queue {
    fn finish_commands(self: Arc<Self>) {
        self.finish();
    }
}

/// What follows from a flush, once the lock is let go.
#[derive(Default)]
struct Notifications {
    submitted: Vec<Arc<Event>>,
    needed: Vec<Arc<Queue>>,
}

impl Notifications {
    fn is_empty(&self) -> bool {
        self.submitted.is_empty() && self.needed.is_empty()
    }

    fn notify_all(self) {
        for event in self.submitted {
            event.advance_status(CL_SUBMITTED);
        }
        for queue in self.needed {
            queue.flush();
        }
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Queue").field("properties", &self.properties()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
