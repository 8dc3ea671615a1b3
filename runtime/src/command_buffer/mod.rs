//! Command buffers (`cl_khr_command_buffer`): commands recorded once and enqueued together many times.
//!
//! A recorded command is the very value that is enqueued on its own: it was checked when it was recorded, and is not used
//! up by being run. So a command means the same in and out of buffers, and a buffer may be in flight any number of times.
//! Only launches are made ready anew for each run, as they may be changed between runs ([`launch`]).

pub mod launch;

use std::fmt;
use std::sync::{Arc, OnceLock};

use opencl_sys::{
    CL_COMMAND_BUFFER_FLAGS_KHR, CL_COMMAND_BUFFER_MUTABLE_KHR, CL_COMMAND_COMMAND_BUFFER_KHR,
    CL_COMMAND_NDRANGE_KERNEL, CL_INVALID_OPERATION, CL_INVALID_SYNC_POINT_WAIT_LIST_KHR,
    cl_command_buffer_properties_khr, cl_command_type, cl_sync_point_khr,
};
use parking_lot::Mutex;

use crate::api_handle::Retained;
use crate::command::{Command, Work};
use crate::context::Context;
use crate::event::Event;
use crate::launch::Prepared;
use crate::memory_transfer::Transfer;
use crate::queue::Queue;
use crate::{ApiHandle, Error, Result, ensure, error};
use launch::RecordedLaunch;

/// A command that has been checked and can be run any number of times.
pub enum RecordedCommand {
    /// Orders the commands of the buffer, and those of no other.
    Barrier,
    /// Copies or fills memory objects.
    Transfer(Arc<Transfer>),
    /// Launches a kernel. The handle of the launch is valid for as long as the buffer is there.
    Launch(Retained<RecordedLaunch>),
}

impl RecordedCommand {
    /// `CL_COMMAND_*`. A barrier is none to the queue it is enqueued on: without a wait list that would wait for what else
    /// is in the queue.
    fn kind(&self) -> cl_command_type {
        match self {
            RecordedCommand::Barrier => CL_COMMAND_COMMAND_BUFFER_KHR,
            RecordedCommand::Transfer(transfer) => transfer.kind,
            RecordedCommand::Launch(_) => CL_COMMAND_NDRANGE_KERNEL,
        }
    }

    /// Makes the command ready to run once.
    fn prepare_run(&self) -> Result<Prepared> {
        match self {
            RecordedCommand::Barrier => Ok(Prepared { work: Work::Nothing, code: None }),
            RecordedCommand::Transfer(transfer) => Ok(Prepared { work: Work::Shared(transfer.clone()), code: None }),
            RecordedCommand::Launch(launch) => launch.parameters().launch().prepare(),
        }
    }
}

/// A recorded command, with its order.
struct Recorded {
    /// Sync points it waits for: numbers of commands before it. Those that the order of the queue or a barrier demands are
    /// among them, as the queue it is enqueued on may have another order.
    waits: Vec<cl_sync_point_khr>,
    command: RecordedCommand,
}

/// What has been recorded so far, until the buffer is finalized.
#[derive(Default)]
struct Recording {
    commands: Vec<Recorded>,
    last_barrier: Option<cl_sync_point_khr>,
}

impl Recording {
    /// Adds the sync points that the order of the recording demands to those that a command was recorded with.
    fn add_ordering(&self, sync_points: &mut Vec<cl_sync_point_khr>, is_barrier: bool, is_in_order: bool) {
        let command_index = self.commands.len() as cl_sync_point_khr;
        if is_in_order {
            // "If the […] command-queue [is] in-order […] an additional dependency is created on the last command".
            sync_points.extend(command_index.checked_sub(1));
        } else if is_barrier && sync_points.is_empty() {
            sync_points.extend(self.last_barrier.unwrap_or(0)..command_index);
        } else {
            sync_points.extend(self.last_barrier);
        }
    }
}

/// A command buffer.
pub struct CommandBuffer {
    queue: Retained<Queue>,
    /// The property list it was made with, with its terminating 0; empty when there was none.
    properties: Vec<cl_command_buffer_properties_khr>,
    recording: Mutex<Recording>,
    /// The commands, once there will be no more of them.
    finalized: OnceLock<Vec<Recorded>>,
    /// The word of the API layer.
    pub api: ApiHandle,
}

impl CommandBuffer {
    /// An empty buffer for commands of a queue.
    ///
    /// # Errors
    /// Those of [`Retained::new`] for the queue.
    pub fn new(queue: Arc<Queue>, properties: Vec<cl_command_buffer_properties_khr>) -> Result<Arc<Self>> {
        Ok(Arc::new(Self {
            queue: Retained::new(queue, |queue| &queue.api)?,
            properties,
            recording: Mutex::default(),
            finalized: OnceLock::new(),
            api: ApiHandle::default(),
        }))
    }

    /// The queue it was made for.
    pub fn queue(&self) -> &Arc<Queue> {
        &self.queue
    }

    /// The context of its queue.
    pub fn context(&self) -> &Arc<Context> {
        self.queue.context()
    }

    /// The property list it was made with.
    pub fn properties(&self) -> &[cl_command_buffer_properties_khr] {
        &self.properties
    }

    /// Whether its launches may be changed.
    pub fn is_mutable(&self) -> bool {
        self.properties.chunks(2).any(|property| match property {
            [CL_COMMAND_BUFFER_FLAGS_KHR, flags] => flags & CL_COMMAND_BUFFER_MUTABLE_KHR != 0,
            _ => false,
        })
    }

    /// Whether it takes no more commands.
    pub fn is_finalized(&self) -> bool {
        self.finalized.get().is_some()
    }

    /// Whether it is finalized and each of its launches has all of its arguments.
    pub fn is_executable(&self) -> bool {
        let is_complete = |recorded: &Recorded| match &recorded.command {
            RecordedCommand::Launch(launch) => launch.parameters().launch().check_arguments().is_ok(),
            RecordedCommand::Barrier | RecordedCommand::Transfer(_) => true,
        };
        self.finalized.get().is_some_and(|commands| commands.iter().all(is_complete))
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// "CL_INVALID_OPERATION if command_buffer is not in the Recording state."
    pub fn end_recording(&self) -> Result<()> {
        let mut recording = self.recording.lock();
        let before = self.finalized.set(std::mem::take(&mut recording.commands));
        before.map_err(|_| error!(CL_INVALID_OPERATION, "the command buffer has been finalized already"))
    }

    /// Checks that a command can be recorded behind these sync points.
    ///
    /// # Errors
    /// "CL_INVALID_OPERATION if command_buffer has been finalized", and "CL_INVALID_SYNC_POINT_WAIT_LIST_KHR […] if
    /// synchronization-point objects in sync_point_wait_list are not valid synchronization-points."
    pub fn check_recording(&self, sync_points: &[cl_sync_point_khr]) -> Result<()> {
        self.check_recording_of(&self.recording.lock(), sync_points)
    }

    fn check_recording_of(&self, recording: &Recording, sync_points: &[cl_sync_point_khr]) -> Result<()> {
        ensure!(!self.is_finalized(), CL_INVALID_OPERATION, "the command buffer has been finalized");
        let command_count = recording.commands.len();
        if let Some(point) = sync_points.iter().find(|&&point| point as usize >= command_count) {
            let wrong = "is none of this command buffer";
            return Err(error!(
                CL_INVALID_SYNC_POINT_WAIT_LIST_KHR,
                "sync point {point} {wrong}, which has {command_count}"
            ));
        }
        Ok(())
    }

    /// Records a command behind these sync points; its own sync point.
    ///
    /// # Errors
    /// Those of [`CommandBuffer::check_recording`].
    pub fn record_command(
        &self,
        mut sync_points: Vec<cl_sync_point_khr>,
        command: RecordedCommand,
    ) -> Result<cl_sync_point_khr> {
        let mut recording = self.recording.lock();
        self.check_recording_of(&recording, &sync_points)?;
        let is_barrier = matches!(command, RecordedCommand::Barrier);
        recording.add_ordering(&mut sync_points, is_barrier, self.queue.is_in_order());
        let command_index = recording.commands.len() as cl_sync_point_khr;
        if is_barrier {
            recording.last_barrier = Some(command_index);
        }
        recording.commands.push(Recorded { waits: sync_points, command });
        Ok(command_index)
    }

    /// Makes all commands ready to run once.
    ///
    /// # Errors
    /// "CL_INVALID_OPERATION if command_buffer is not in the Executable state."
    pub fn prepare_run(&self) -> Result<PreparedRun<'_>> {
        let not_finalized = || error!(CL_INVALID_OPERATION, "the command buffer has not been finalized");
        let commands = self.finalized.get().ok_or_else(not_finalized)?;
        let incomplete = |command_index: usize, error: Error| {
            error.with_subject(format_args!("command {command_index} is not complete")).with_code(CL_INVALID_OPERATION)
        };
        let prepare = |(command_index, recorded): (usize, &Recorded)| {
            recorded.command.prepare_run().map_err(|error| incomplete(command_index, error))
        };
        let prepared = commands.iter().enumerate().map(prepare).collect::<Result<_>>()?;
        Ok(PreparedRun { commands, prepared })
    }
}

impl fmt::Debug for CommandBuffer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CommandBuffer").field("is_finalized", &self.is_finalized()).finish_non_exhaustive()
    }
}

/// A run of a command buffer whose commands are ready.
pub struct PreparedRun<'a> {
    commands: &'a [Recorded],
    /// What each command is to do.
    prepared: Vec<Prepared>,
}

impl PreparedRun<'_> {
    /// Enqueues the commands behind these events, and what ends when all of them have: that has the event `whole_event`.
    pub fn enqueue_commands(
        self,
        queue: &Arc<Queue>,
        earlier_events: Vec<Arc<Event>>,
        whole_event: Option<Arc<Event>>,
    ) {
        let mut part_events: Vec<Arc<Event>> = Vec::with_capacity(self.commands.len());
        for (recorded, Prepared { work, code }) in self.commands.iter().zip(self.prepared) {
            let earlier = recorded.waits.iter().map(|&point| &part_events[point as usize]);
            let wait_list = earlier_events.iter().chain(earlier).chain(&code).cloned().collect();
            let kind = recorded.command.kind();
            let event = Event::of_command(queue, kind);
            part_events.push(event.clone());
            queue.enqueue_command(Command {
                kind,
                waits: wait_list,
                work,
                event: Some(event),
                whole: whole_event.clone(),
            });
        }
        let wait_list = if part_events.is_empty() { earlier_events } else { part_events.clone() };
        let (kind, work) = (CL_COMMAND_COMMAND_BUFFER_KHR, Work::Whole(part_events));
        queue.enqueue_command(Command { kind, waits: wait_list, work, event: whole_event, whole: None });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::Platform;
    use opencl_sys::{CL_COMPLETE, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE};

    fn queue(properties: u64) -> Arc<Queue> {
        let context = Context::new(vec![Platform::get().device().clone()], Vec::new(), None);
        let device = context.devices()[0].clone();
        Queue::new(context, device, properties, Vec::new())
    }

    fn waits_of(buffer: &CommandBuffer) -> Vec<Vec<u32>> {
        buffer.end_recording().unwrap();
        buffer.finalized.get().unwrap().iter().map(|recorded| recorded.waits.clone()).collect()
    }

    #[test]
    fn the_order_of_the_queue_is_written_down() {
        let buffer = CommandBuffer::new(queue(0), Vec::new()).unwrap();
        for waits in [vec![], vec![0], vec![0]] {
            buffer.record_command(waits, RecordedCommand::Barrier).unwrap();
        }
        assert_eq!(waits_of(&buffer), [vec![], vec![0, 0], vec![0, 1]]);
    }

    #[test]
    fn a_barrier_without_sync_points_waits_for_all_since_the_last_one() {
        let buffer = CommandBuffer::new(queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE), Vec::new()).unwrap();
        for waits in [vec![], vec![], vec![0], vec![]] {
            buffer.record_command(waits, RecordedCommand::Barrier).unwrap();
        }
        assert_eq!(waits_of(&buffer), [vec![], vec![0], vec![0, 1], vec![2]]);
    }

    #[test]
    fn nothing_is_recorded_behind_what_is_not_there_or_after_the_end() {
        let buffer = CommandBuffer::new(queue(0), Vec::new()).unwrap();
        let code =
            |waits: Vec<u32>| buffer.record_command(waits, RecordedCommand::Barrier).map_err(|error| error.code());
        assert_eq!(code(vec![0]), Err(CL_INVALID_SYNC_POINT_WAIT_LIST_KHR));
        assert_eq!(code(vec![]), Ok(0));
        assert!(!buffer.is_executable() && buffer.prepare_run().is_err());
        buffer.end_recording().unwrap();
        assert!(buffer.is_executable());
        assert_eq!(code(vec![0]), Err(CL_INVALID_OPERATION));
        assert!(buffer.end_recording().is_err());
    }

    #[test]
    fn a_run_ends_when_all_of_it_has() {
        let queue = queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
        let buffer = CommandBuffer::new(queue.clone(), Vec::new()).unwrap();
        for _ in 0..3 {
            buffer.record_command(vec![], RecordedCommand::Barrier).unwrap();
        }
        buffer.end_recording().unwrap();
        let gate = Event::new_user_event(queue.context().clone());
        let whole = Event::of_command(&queue, CL_COMMAND_COMMAND_BUFFER_KHR);
        buffer.prepare_run().unwrap().enqueue_commands(&queue, vec![gate.clone()], Some(whole.clone()));
        queue.flush();
        assert!(!whole.has_ended());
        gate.set_user_status(CL_COMPLETE).unwrap();
        whole.wait_until_ended();
        assert_eq!(whole.status(), CL_COMPLETE);
    }
}
