//! Command buffers (`cl_khr_command_buffer`): commands recorded once and enqueued together many times.
//!
//! A recorded command is a call of the entry point that enqueues such a command, with its arguments: recording makes the
//! call as a mere check, enqueuing the buffer makes it in earnest. So every command checks and does what it does outside
//! of buffers. A buffer is not changed by being enqueued, so it may be in flight any number of times.

use std::ffi::c_void;
use std::sync::Arc;

use lockstep_icd_macros::entry_point;
use lockstep_runtime::command::Work;
use lockstep_runtime::context::Context;
use lockstep_runtime::event::Event;
use lockstep_runtime::kernel::Kernel;
use lockstep_runtime::memory::Memory;
use lockstep_runtime::queue::Queue;
use lockstep_runtime::{ApiHandle, Result, ensure, error};
use opencl_sys::{
    CL_COMMAND_BUFFER_CONTEXT_KHR, CL_COMMAND_BUFFER_FLAGS_KHR, CL_COMMAND_BUFFER_MUTABLE_KHR,
    CL_COMMAND_BUFFER_NUM_QUEUES_KHR, CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR, CL_COMMAND_BUFFER_QUEUES_KHR,
    CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR,
    CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR, CL_COMMAND_BUFFER_STATE_FINALIZED_KHR, CL_COMMAND_BUFFER_STATE_KHR,
    CL_COMMAND_BUFFER_STATE_RECORDING_KHR, CL_COMMAND_COMMAND_BUFFER_KHR, CL_INVALID_COMMAND_QUEUE, CL_INVALID_DEVICE,
    CL_INVALID_KERNEL_ARGS, CL_INVALID_OPERATION, CL_INVALID_SYNC_POINT_WAIT_LIST_KHR, CL_INVALID_VALUE,
    CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR, cl_command_buffer_info_khr, cl_command_buffer_khr,
    cl_command_buffer_properties_khr, cl_command_buffer_state_khr, cl_command_queue, cl_event, cl_sync_point_khr,
    cl_uint,
};
use parking_lot::Mutex;

use crate::api::buffer::check_context;
use crate::api::enqueue::{Completion, check_only, enqueue, wait_list};
use crate::api::mutable_dispatch::{Dispatch, Launch};
use crate::handle::{self, Object};
use crate::info::{self, Info};
use crate::{fork, property_list};

/// The number of OpenCL's own headers; that of opencl-sys 0.6.5 is another.
const CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR: cl_command_buffer_properties_khr = 0x12B7;

/// A handle that is the buffer's own: it is valid for as long as this is there.
pub struct Held<T: Object> {
    handle: usize,
    of: std::marker::PhantomData<fn() -> T>,
}

impl<T: Object> Held<T> {
    /// Holds an object of the application's.
    pub fn retain(handle: *mut c_void) -> Result<Self> {
        handle::retain::<T>(handle)?;
        Ok(Self { handle: handle as usize, of: std::marker::PhantomData })
    }

    /// Holds a new object, which nobody else does.
    pub fn own(object: Arc<T>) -> Result<Self> {
        let handle = handle::publish(object)? as usize;
        Ok(Self { handle, of: std::marker::PhantomData })
    }

    /// The handle.
    pub fn get(&self) -> *mut c_void {
        self.handle as *mut c_void
    }
}

impl<T: Object> Drop for Held<T> {
    fn drop(&mut self) {
        // Held since it was made, unless the application has released it too often.
        let _ = handle::release::<T>(self.get());
    }
}

/// Enqueues a command on a queue behind a list of events, and gives its event.
pub type Call = Box<dyn Fn(cl_command_queue, cl_uint, *const cl_event, *mut cl_event) -> Result<()> + Send + Sync>;

/// A recorded command.
struct Recorded {
    /// Sync points it waits for: numbers of commands before it. Those that the order of the queue or a barrier demands are
    /// among them, as the queue it is enqueued on may have another order.
    waits: Vec<cl_sync_point_khr>,
    call: Call,
    /// The handle of a launch that may be changed.
    dispatch: Option<Held<Dispatch>>,
}

/// A command buffer.
pub struct CommandBuffer {
    queue: Arc<Queue>,
    /// The queue's handle.
    held: Held<Queue>,
    /// The property list it was made with, with its terminating 0; empty when there was none.
    properties: Vec<cl_command_buffer_properties_khr>,
    state: Mutex<State>,
    /// The word of the handle.
    pub api: ApiHandle,
}

impl CommandBuffer {
    /// The context of its queue.
    pub fn context(&self) -> &Arc<Context> {
        self.queue.context()
    }

    /// Whether it takes no more commands.
    pub fn is_finalized(&self) -> bool {
        self.state.lock().finalized
    }

    /// Whether its launches may be changed.
    pub fn is_mutable(&self) -> bool {
        self.properties.chunks(2).any(|property| match property {
            [CL_COMMAND_BUFFER_FLAGS_KHR, flags] => flags & CL_COMMAND_BUFFER_MUTABLE_KHR != 0,
            _ => false,
        })
    }
}

impl State {
    /// Checks that every command has all that it needs.
    fn check_complete(&self, queue: cl_command_queue) -> Result<()> {
        for (number, command) in self.commands.iter().enumerate().filter(|(_, command)| command.dispatch.is_some()) {
            let checked = check_only(|| (command.call)(queue, 0, std::ptr::null(), std::ptr::null_mut()));
            checked.map_err(|error| error.about(format_args!("command {number} is not complete")))?;
        }
        Ok(())
    }
}

#[derive(Default)]
struct State {
    finalized: bool,
    commands: Vec<Arc<Recorded>>,
    /// The last barrier.
    barrier: Option<cl_sync_point_khr>,
}

impl Drop for CommandBuffer {
    fn drop(&mut self) {
        // As the application's release of the queue would have, were this not the last that holds it.
        if fork::check().is_ok() {
            self.queue.flush();
        }
    }
}

/// `clCreateCommandBufferKHR`.
#[entry_point(clCreateCommandBufferKHR)]
pub unsafe fn create_command_buffer(
    num_queues: cl_uint,
    queues: *const cl_command_queue,
    properties: *const cl_command_buffer_properties_khr,
) -> Result<cl_command_buffer_khr> {
    // SAFETY: the caller vouches for the lists.
    unsafe {
        // "CL_INVALID_VALUE […] if […] num_queues is not one. CL_INVALID_VALUE if queues is NULL."
        ensure!(num_queues == 1, CL_INVALID_VALUE, "num_queues is {num_queues}; 1 is allowed");
        ensure!(!queues.is_null(), CL_INVALID_VALUE, "queues is NULL");
        // "CL_INVALID_COMMAND_QUEUE if any command-queue in queues is not a valid command-queue."
        let queue = handle::get::<Queue>(queues.read())?;
        let properties = read_properties(properties)?;
        let held = Held::retain(queues.read())?;
        let (state, api) = (Mutex::default(), ApiHandle::default());
        handle::publish(Arc::new(CommandBuffer { queue, held, properties, state, api }))
    }
}

/// A property list with its terminating 0.
///
/// "CL_INVALID_VALUE if values specified in properties are not valid, or if the same property name is specified more than
/// once."
///
/// # Safety
/// `properties` is null or points to a list that ends in 0.
unsafe fn read_properties(
    properties: *const cl_command_buffer_properties_khr,
) -> Result<Vec<cl_command_buffer_properties_khr>> {
    let take = |name, value| {
        let known = match name {
            CL_COMMAND_BUFFER_FLAGS_KHR => CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR | CL_COMMAND_BUFFER_MUTABLE_KHR,
            CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR => CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR,
            _ => return property_list::unknown(CL_INVALID_VALUE, name),
        };
        let unknown = value & !known;
        ensure!(unknown == 0, CL_INVALID_VALUE, "property {name:#x} is {value:#x}, of which {unknown:#x} are unknown");
        Ok(())
    };
    // SAFETY: the same contract.
    unsafe { property_list::read(properties, CL_INVALID_VALUE, take) }
}

/// `clFinalizeCommandBufferKHR`: "CL_INVALID_OPERATION if command_buffer is not in the Recording state."
#[entry_point(clFinalizeCommandBufferKHR)]
pub fn finalize_command_buffer(command_buffer: cl_command_buffer_khr) -> Result<()> {
    let buffer = handle::get::<CommandBuffer>(command_buffer)?;
    let before = std::mem::replace(&mut buffer.state.lock().finalized, true);
    ensure!(!before, CL_INVALID_OPERATION, "the command buffer has been finalized already");
    Ok(())
}

/// `clRetainCommandBufferKHR`: "CL_INVALID_COMMAND_BUFFER_KHR if command_buffer is not a valid command-buffer."
#[entry_point(clRetainCommandBufferKHR)]
pub fn retain_command_buffer(command_buffer: cl_command_buffer_khr) -> Result<()> {
    handle::retain::<CommandBuffer>(command_buffer)
}

/// `clReleaseCommandBufferKHR`: "CL_INVALID_COMMAND_BUFFER_KHR if command_buffer is not a valid command-buffer."
#[entry_point(clReleaseCommandBufferKHR)]
pub fn release_command_buffer(command_buffer: cl_command_buffer_khr) -> Result<()> {
    handle::release::<CommandBuffer>(command_buffer)
}

/// `clEnqueueCommandBufferKHR`.
#[entry_point(clEnqueueCommandBufferKHR)]
pub unsafe fn enqueue_command_buffer(
    num_queues: cl_uint,
    queues: *mut cl_command_queue,
    command_buffer: cl_command_buffer_khr,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    // SAFETY: the caller vouches for the lists and for `event`.
    unsafe {
        let buffer = handle::get::<CommandBuffer>(command_buffer)?;
        // "CL_INVALID_VALUE if queues is NULL and num_queues is > 0, or queues is not NULL and num_queues is 0." "[…] if
        // num_queues is > 0 and not the same value as num_queues set on command_buffer creation."
        handle::check_list(num_queues, Queue::NAME, queues, CL_INVALID_VALUE)?;
        ensure!(num_queues <= 1, CL_INVALID_VALUE, "num_queues is {num_queues}; the command buffer was made for 1");
        let command_queue = if queues.is_null() { buffer.held.get() } else { queues.read() };
        let queue = handle::get::<Queue>(command_queue)?;
        // "CL_INVALID_DEVICE if any element of queues does not have the same device as the command-queue set on
        // command_buffer creation at the same list index. CL_INVALID_CONTEXT […] the same context".
        check_context(queue.context(), buffer.context(), format_args!("command queue {command_queue:p}"))?;
        let same_device = Arc::ptr_eq(queue.device(), buffer.queue.device());
        ensure!(same_device, CL_INVALID_DEVICE, "the command buffer's queue was one of another device");
        let waits = wait_list(queue.context(), num_events_in_wait_list, event_wait_list)?;
        let before: Vec<cl_event> = waits.iter().map(handle::of).collect();
        let state = buffer.state.lock();
        // "CL_INVALID_OPERATION if command_buffer is not in the Executable state."
        ensure!(state.finalized, CL_INVALID_OPERATION, "the command buffer has not been finalized");
        state.check_complete(buffer.held.get()).map_err(|error| error.with_code(CL_INVALID_OPERATION))?;
        // A launch that fails is told to the application, which may then call for this buffer: not under the lock.
        let commands = state.commands.clone();
        drop(state);
        // The event of each command so far.
        let mut events = Events(Vec::with_capacity(commands.len()));
        for (number, command) in commands.iter().enumerate() {
            let mut list = before.clone();
            list.extend(command.waits.iter().map(|&point| events.0[point as usize]));
            let pointer = if list.is_empty() { std::ptr::null() } else { list.as_ptr() };
            let mut ended = std::ptr::null_mut();
            (command.call)(command_queue, list.len() as cl_uint, pointer, &raw mut ended)
                .map_err(|error| error.about(format_args!("command {number}")))?;
            events.0.push(ended);
        }
        // The whole ends when all of it has.
        let parts = events.0.iter().map(|&event| handle::get::<Event>(event)).collect::<Result<Vec<_>>>()?;
        let waits = if parts.is_empty() { waits } else { parts.clone() };
        let completion = Completion { blocking: false, event };
        enqueue(&queue, CL_COMMAND_COMMAND_BUFFER_KHR, waits, Work::Whole(parts), completion)
    }
}

/// Handles of events that nobody else has.
struct Events(Vec<cl_event>);

impl Drop for Events {
    fn drop(&mut self) {
        for &event in &self.0 {
            let _ = handle::release::<Event>(event);
        }
    }
}

/// `clGetCommandBufferInfoKHR`.
#[entry_point(clGetCommandBufferInfoKHR)]
pub unsafe fn get_command_buffer_info(
    command_buffer: cl_command_buffer_khr,
    param_name: cl_command_buffer_info_khr,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> Result<()> {
    let buffer = handle::get::<CommandBuffer>(command_buffer)?;
    // SAFETY: the caller vouches for the pointers.
    let info = unsafe { Info::new(param_value_size, param_value, param_value_size_ret) };
    match param_name {
        CL_COMMAND_BUFFER_NUM_QUEUES_KHR => info.value::<cl_uint>(1),
        CL_COMMAND_BUFFER_QUEUES_KHR => info.value(buffer.held.get()),
        CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR => info.value(handle::references(&buffer)),
        CL_COMMAND_BUFFER_STATE_KHR => {
            let state = buffer.state.lock();
            info.value::<cl_command_buffer_state_khr>(match state.finalized {
                true if state.check_complete(buffer.held.get()).is_ok() => CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR,
                true => CL_COMMAND_BUFFER_STATE_FINALIZED_KHR,
                false => CL_COMMAND_BUFFER_STATE_RECORDING_KHR,
            })
        }
        CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR => info.slice(&buffer.properties),
        CL_COMMAND_BUFFER_CONTEXT_KHR => info.value(handle::of(buffer.context())),
        _ => info::unknown(param_name),
    }
}

/// What a command is recorded with, whatever it is.
#[derive(Clone, Copy)]
pub struct Recording {
    /// `command_buffer`.
    pub buffer: cl_command_buffer_khr,
    /// `command_queue`.
    pub queue: cl_command_queue,
    /// `properties`.
    pub properties: *const u64,
    /// `num_sync_points_in_wait_list`.
    pub count: cl_uint,
    /// `sync_point_wait_list`.
    pub list: *const cl_sync_point_khr,
    /// `sync_point`.
    pub sync_point: *mut cl_sync_point_khr,
    /// `mutable_handle`.
    pub handle: *mut *mut c_void,
}

impl Recording {
    /// Records a command that `call` makes, once it is found right.
    ///
    /// # Safety
    /// The pointers are as the extension says.
    pub unsafe fn record(self, barrier: bool, call: impl FnOnce() -> Result<Call>) -> Result<()> {
        // "CL_INVALID_VALUE if values specified in properties are not valid. […] if mutable_handle is not NULL."
        // SAFETY: not null, so the caller vouches for a list that ends in 0.
        let property = if self.properties.is_null() { 0 } else { unsafe { self.properties.read() } };
        let make = |_: &CommandBuffer| {
            if property != 0 {
                return property_list::unknown(CL_INVALID_VALUE, property);
            }
            let handle = self.handle;
            ensure!(
                handle.is_null(),
                CL_INVALID_VALUE,
                "mutable_handle is {handle:p}; NULL is allowed for this command"
            );
            Ok((call()?, None))
        };
        // SAFETY: the same contract.
        unsafe { self.add(barrier, make) }
    }

    /// Records a launch, which may be changed later.
    ///
    /// # Safety
    /// The pointers are as the extension says.
    pub unsafe fn record_launch(self, launch: Launch) -> Result<()> {
        let make = |buffer: &CommandBuffer| {
            // SAFETY: the same contract.
            let dispatch = unsafe { Dispatch::new((self.buffer, buffer.held.get()), self.properties, launch)? };
            let command = dispatch.clone();
            let call: Call = Box::new(move |queue, count, list, event| command.enqueue(queue, count, list, event));
            Ok((call, Some(dispatch)))
        };
        // SAFETY: the same contract.
        unsafe { self.add(false, make) }
    }

    /// Adds a command to the buffer.
    ///
    /// # Safety
    /// The pointers are as the extension says.
    unsafe fn add(
        self,
        barrier: bool,
        make: impl FnOnce(&CommandBuffer) -> Result<(Call, Option<Arc<Dispatch>>)>,
    ) -> Result<()> {
        let buffer = handle::get::<CommandBuffer>(self.buffer)?;
        // "CL_INVALID_COMMAND_QUEUE if […] command_queue is not NULL."
        ensure!(self.queue.is_null(), CL_INVALID_COMMAND_QUEUE, "command_queue is {:p}; NULL is allowed", self.queue);
        let mut state = buffer.state.lock();
        // "CL_INVALID_OPERATION if command_buffer has been finalized."
        ensure!(!state.finalized, CL_INVALID_OPERATION, "the command buffer has been finalized");
        // "CL_INVALID_SYNC_POINT_WAIT_LIST_KHR if sync_point_wait_list is NULL and num_sync_points_in_wait_list is > 0, or
        // sync_point_wait_list is not NULL and num_sync_points_in_wait_list is 0, or if synchronization-point objects in
        // sync_point_wait_list are not valid synchronization-points."
        handle::check_list(self.count, "sync point", self.list, CL_INVALID_SYNC_POINT_WAIT_LIST_KHR)?;
        // SAFETY: the caller vouches for the list.
        let mut waits: Vec<_> = (0..self.count as usize).map(|i| unsafe { self.list.add(i).read() }).collect();
        let count = state.commands.len();
        if let Some(point) = waits.iter().find(|&&point| point as usize >= count) {
            let wrong = "is none of this command buffer";
            return Err(error!(CL_INVALID_SYNC_POINT_WAIT_LIST_KHR, "sync point {point} {wrong}, which has {count}"));
        }
        let (call, dispatch) = make(&buffer)?;
        let checked = check_only(|| call(buffer.held.get(), 0, std::ptr::null(), std::ptr::null_mut()));
        // "[The kernel] must have its arguments set unless the command has the CL_MUTABLE_DISPATCH_ARGUMENTS_KHR property
        // set".
        let later = buffer.is_mutable() && dispatch.as_ref().is_some_and(|dispatch| dispatch.takes_arguments());
        checked.or_else(|error| if error.code() == CL_INVALID_KERNEL_ARGS && later { Ok(()) } else { Err(error) })?;
        let dispatch = dispatch.map(Held::own).transpose()?;
        if !self.sync_point.is_null() {
            // SAFETY: not null, so the caller vouches for it.
            unsafe { self.sync_point.write(state.commands.len() as cl_sync_point_khr) };
        }
        if let (Some(dispatch), false) = (&dispatch, self.handle.is_null()) {
            // SAFETY: not null, so the caller vouches for it.
            unsafe { self.handle.write(dispatch.get()) };
        }
        let number = state.commands.len() as cl_sync_point_khr;
        let last_barrier = state.barrier;
        if buffer.queue.is_in_order() {
            // "If the […] command-queue [is] in-order […] an additional dependency is created on the last command".
            waits.extend(number.checked_sub(1));
        } else if barrier && waits.is_empty() {
            waits.extend(last_barrier.unwrap_or(0)..number);
        } else {
            waits.extend(last_barrier);
        }
        if barrier {
            state.barrier = Some(number);
        }
        state.commands.push(Arc::new(Recorded { waits, call, dispatch }));
        Ok(())
    }
}

/// Memory that a command uses.
pub type HeldMemory = Held<Memory>;
/// The kernel of a command: a copy with the arguments at the time of recording.
pub type HeldKernel = Held<Kernel>;
