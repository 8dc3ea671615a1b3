//! Buffers whose bytes are written and read by slices, for programs of this workspace that are no C.

use std::sync::Arc;

use opencl_sys::{
    CL_COMMAND_READ_BUFFER, CL_COMMAND_WRITE_BUFFER, CL_COMPLETE, CL_INVALID_VALUE, CL_MEM_READ_WRITE, cl_command_type,
};

use crate::command::{Command, Work};
use crate::context::Context;
use crate::event::Event;
use crate::memory::Memory;
use crate::memory_layout::Layout;
use crate::memory_transfer::{HostPointer, Place, Transfer};
use crate::queue::Queue;
use crate::{Result, ensure, error};

/// A buffer of the driver's own memory, whose bytes are not said yet.
///
/// # Errors
/// As of [`Memory::new`].
pub fn create_buffer(context: &Arc<Context>, byte_size: usize) -> Result<Arc<Memory>> {
    // SAFETY: without a flag that says so, no pointer is used.
    unsafe { Memory::new(context.clone(), CL_MEM_READ_WRITE, byte_size, std::ptr::null_mut(), Vec::new()) }
}

/// Writes bytes into a buffer from `offset` on, after the queue's commands so far, and returns when they are there.
///
/// # Errors
/// `CL_INVALID_VALUE` where they do not lie within the buffer, or the error that the command ended with.
pub fn write_bytes(queue: &Arc<Queue>, buffer: &Arc<Memory>, offset: usize, bytes: &[u8]) -> Result<()> {
    check_range(buffer, offset, bytes.len())?;
    // SAFETY: the command only reads from there, and has ended when this function returns.
    let host = unsafe { HostPointer::new(bytes.as_ptr().cast_mut()) };
    let from = Place::in_host(host, Layout::of_bytes(0));
    let to = Place::in_object(buffer.clone(), Layout::of_bytes(offset));
    run_transfer(queue, Transfer::copy(CL_COMMAND_WRITE_BUFFER, from, to, [bytes.len(), 1, 1]))
}

/// Reads bytes of a buffer from `offset` on, after the queue's commands so far.
///
/// # Errors
/// As of [`write_bytes`].
pub fn read_bytes(queue: &Arc<Queue>, buffer: &Arc<Memory>, offset: usize, bytes: &mut [u8]) -> Result<()> {
    check_range(buffer, offset, bytes.len())?;
    // SAFETY: nobody else has the bytes until this function returns, when the command has ended.
    let host = unsafe { HostPointer::new(bytes.as_mut_ptr()) };
    let from = Place::in_object(buffer.clone(), Layout::of_bytes(offset));
    let to = Place::in_host(host, Layout::of_bytes(0));
    run_transfer(queue, Transfer::copy(CL_COMMAND_READ_BUFFER, from, to, [bytes.len(), 1, 1]))
}

fn check_range(buffer: &Memory, offset: usize, byte_size: usize) -> Result<()> {
    ensure!(
        buffer.is_buffer() && buffer.contains(offset, byte_size),
        CL_INVALID_VALUE,
        "{byte_size} bytes from {offset} on do not lie within a buffer of {} bytes",
        buffer.size()
    );
    Ok(())
}

/// Runs a transfer and waits for its end.
fn run_transfer(queue: &Arc<Queue>, transfer: Transfer) -> Result<()> {
    let kind: cl_command_type = transfer.kind;
    run_command(queue, Command { kind, work: Work::Shared(Arc::new(transfer)), ..Command::default() }).map(drop)
}

/// Runs a command and waits for its end; its event tells the times.
///
/// # Errors
/// What it ended with. The sentence went to the context's callback.
pub fn run_command(queue: &Arc<Queue>, command: Command) -> Result<Arc<Event>> {
    let kind = command.kind;
    let event = Event::of_command(queue, kind);
    queue.enqueue_command(Command { event: Some(event.clone()), ..command });
    event.wait_until_ended();
    match event.status() {
        CL_COMPLETE => Ok(event),
        code => Err(error!(code, "the command failed")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::Platform;

    #[test]
    fn bytes_come_back_from_where_they_were_written() {
        let device = Platform::get().device().clone();
        let context = Context::new(vec![device.clone()], Vec::new(), None);
        let queue = Queue::new(context.clone(), device, 0, Vec::new());
        let buffer = create_buffer(&context, 10).expect("there is memory");
        write_bytes(&queue, &buffer, 0, &[0; 10]).expect("they fit");
        write_bytes(&queue, &buffer, 7, &[1, 2, 3]).expect("they fit");
        let mut bytes = [9; 4];
        read_bytes(&queue, &buffer, 6, &mut bytes).expect("they are there");
        assert_eq!(bytes, [0, 1, 2, 3]);
        for (offset, length) in [(8, 3), (11, 0), (usize::MAX, 2)] {
            let mut bytes = vec![0; length];
            write_bytes(&queue, &buffer, offset, &bytes).expect_err("they do not fit");
            read_bytes(&queue, &buffer, offset, &mut bytes).expect_err("they are not there");
        }
        create_buffer(&context, 0).expect_err("a buffer has bytes");
    }
}
