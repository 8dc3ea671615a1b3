//! Commands in the forms that most tests need: blocking, or with a wait list and an event.

use std::ptr;

use opencl_sys::*;

use crate::codes::ok;
use crate::loader::cl;
use crate::objects::{Buffer, Event, Kernel, Queue};
use crate::plain::Plain;

/// The handles of events, as wait lists need them.
pub fn handles(events: &[&Event]) -> Vec<cl_event> {
    events.iter().map(|event| event.raw()).collect()
}

/// The pointer that a wait list of this length needs: none when it is empty.
pub fn list(events: &[cl_event]) -> *const cl_event {
    if events.is_empty() { ptr::null() } else { events.as_ptr() }
}

/// A whole buffer's values.
#[track_caller]
pub fn read<T: Plain>(queue: &Queue, buffer: &Buffer) -> Vec<T> {
    let size: usize = buffer.info(CL_MEM_SIZE);
    let mut bytes = vec![0_u8; size];
    ok((cl().clEnqueueReadBuffer)(
        queue.raw(),
        buffer.raw(),
        CL_TRUE,
        0,
        size,
        bytes.as_mut_ptr().cast(),
        0,
        ptr::null(),
        ptr::null_mut(),
    ));
    T::from_bytes(&bytes)
}

/// Writes values to the beginning of a buffer.
#[track_caller]
pub fn write<T: Plain>(queue: &Queue, buffer: &Buffer, values: &[T]) {
    ok((cl().clEnqueueWriteBuffer)(
        queue.raw(),
        buffer.raw(),
        CL_TRUE,
        0,
        size_of_val(values),
        values.as_ptr().cast(),
        0,
        ptr::null(),
        ptr::null_mut(),
    ));
}

/// Enqueues a kernel over the global size, with an empty `local` for "the driver chooses", and returns the code.
pub fn try_launch(queue: &Queue, kernel: &Kernel, global: &[usize], local: &[usize]) -> cl_int {
    let local = if local.is_empty() { ptr::null() } else { local.as_ptr() };
    (cl().clEnqueueNDRangeKernel)(
        queue.raw(),
        kernel.raw(),
        global.len() as cl_uint,
        ptr::null(),
        global.as_ptr(),
        local,
        0,
        ptr::null(),
        ptr::null_mut(),
    )
}

/// Enqueues a kernel after these events and returns its own.
#[track_caller]
pub fn launch(queue: &Queue, kernel: &Kernel, global: &[usize], local: &[usize], after: &[&Event]) -> Event {
    let local = if local.is_empty() { ptr::null() } else { local.as_ptr() };
    let after = handles(after);
    let mut event = ptr::null_mut();
    ok((cl().clEnqueueNDRangeKernel)(
        queue.raw(),
        kernel.raw(),
        global.len() as cl_uint,
        ptr::null(),
        global.as_ptr(),
        local,
        after.len() as cl_uint,
        list(&after),
        &mut event,
    ));
    Event::own(event)
}

/// Runs a kernel to its end.
#[track_caller]
pub fn run(queue: &Queue, kernel: &Kernel, global: &[usize], local: &[usize]) {
    ok(try_launch(queue, kernel, global, local));
    finish(queue);
}

/// Waits for everything enqueued.
#[track_caller]
pub fn finish(queue: &Queue) {
    ok((cl().clFinish)(queue.raw()));
}

/// Enqueues a marker after these events (all earlier commands when there are none) and returns its event.
#[track_caller]
pub fn marker(queue: &Queue, after: &[&Event]) -> Event {
    let after = handles(after);
    let mut event = ptr::null_mut();
    ok((cl().clEnqueueMarkerWithWaitList)(queue.raw(), after.len() as cl_uint, list(&after), &mut event));
    Event::own(event)
}
