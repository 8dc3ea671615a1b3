//! Moving bytes: the read, write, copy and fill commands and their rectangular forms; those that move none; native kernels.
//!
//! What a command holds of memory objects it lets go of when it has ended, not before: what an application wants done with the
//! last reference may wait for the command's queue.
//!
//! A [`Transfer`] is made once everything about it has been checked. It is not used up by being run, so the commands of a
//! command buffer are the very values that are enqueued on their own.

use std::sync::Arc;

use opencl_sys::cl_command_type;
use parking_lot::Mutex;

use crate::Result;
use crate::command::Run;
use crate::device::Device;
use crate::memory::Memory;
use crate::memory_layout::{Layout, Region};
use crate::program::variable::ProgramVariable;

/// A place in memory of the application, valid until the command that uses it has ended.
#[derive(Debug, Clone, Copy)]
pub struct HostPointer(*mut u8);

// SAFETY: the address only travels to the thread that executes the command; whoever makes one vouches for its use there.
unsafe impl Send for HostPointer {}
// SAFETY: as above.
unsafe impl Sync for HostPointer {}

impl HostPointer {
    /// # Safety
    /// What a command that is given the pointer reads or writes from it on may be read or written until the command
    /// ends.
    pub unsafe fn new(pointer: *mut u8) -> Self {
        Self(pointer)
    }
}

/// What the bytes of a transfer are part of.
#[derive(Clone)]
pub enum Side {
    /// A memory object.
    Object(Arc<Memory>),
    /// Memory of the application.
    Host(HostPointer),
    /// A variable of a program.
    Variable(ProgramVariable),
}

/// Where the bytes of a transfer lie.
#[derive(Clone)]
pub struct Place {
    /// What they are part of.
    pub side: Side,
    /// Where its rows are, which have been checked to lie within.
    pub layout: Layout,
}

impl Place {
    /// A box of a memory object.
    pub fn in_object(object: Arc<Memory>, layout: Layout) -> Self {
        Self { side: Side::Object(object), layout }
    }

    /// A box of the application's memory.
    pub fn in_host(pointer: HostPointer, layout: Layout) -> Self {
        Self { side: Side::Host(pointer), layout }
    }

    /// A box of a program's variable.
    pub fn in_variable(variable: ProgramVariable, layout: Layout) -> Self {
        Self { side: Side::Variable(variable), layout }
    }

    fn start(&self) -> *mut u8 {
        match &self.side {
            Side::Object(memory) => memory.start(),
            Side::Host(pointer) => pointer.0,
            Side::Variable(variable) => variable.first_byte(),
        }
    }
}

/// What is done to the bytes.
pub enum Movement {
    /// They get those of another place.
    Copy {
        /// Where these lie.
        from: Place,
    },
    /// They get an element again and again, whose length is a power of two and divides the rows'.
    Fill {
        /// The element's bytes.
        element: Box<[u8]>,
    },
}

/// A command that copies or fills bytes.
pub struct Transfer {
    /// The kind of the command (`CL_COMMAND_*`).
    pub kind: cl_command_type,
    /// What is done.
    pub movement: Movement,
    /// The bytes that are written.
    pub to: Place,
    /// How many there are, in rows and slices.
    pub region: Region,
}

impl Transfer {
    /// Copies a box of bytes.
    pub fn copy(command_type: cl_command_type, from: Place, to: Place, region: Region) -> Self {
        Self { kind: command_type, movement: Movement::Copy { from }, to, region }
    }

    /// Fills a box of bytes with an element.
    pub fn fill(command_type: cl_command_type, to: Place, region: Region, element: &[u8]) -> Self {
        Self { kind: command_type, movement: Movement::Fill { element: element.into() }, to, region }
    }

    fn move_bytes(&self) {
        let target = self.to.start();
        let rows = self.to.layout.row_ranges(self.region);
        match &self.movement {
            Movement::Copy { from } => {
                let source = from.start();
                for (from, to) in from.layout.row_ranges(self.region).zip(rows) {
                    // SAFETY: every row of both boxes lies in memory that the command's maker has checked or vouched for.
                    // The two may be the same bytes.
                    unsafe { std::ptr::copy(source.add(from.start), target.add(to.start), from.len()) };
                }
            }
            Movement::Fill { element } => {
                for to in rows {
                    // SAFETY: as above.
                    unsafe { fill_bytes(target.add(to.start), to.len(), element) };
                }
            }
        }
    }
}

impl Run for Transfer {
    fn run(self: Arc<Self>, _: &Device) -> Result<()> {
        self.move_bytes();
        Ok(())
    }
}

/// Bytes that stay in the nearest cache: a multiple of every pattern's length, which is a power of two.
const NEAR: usize = 16 << 10;

/// Fills `byte_size` bytes with a pattern.
///
/// # Safety
/// They may be written.
unsafe fn fill_bytes(start: *mut u8, byte_size: usize, pattern: &[u8]) {
    let unit_bytes = pattern.len();
    if byte_size == 0 || unit_bytes == 0 {
        return;
    }
    // SAFETY: the caller vouches for the bytes. What has been filled is copied behind itself, so source and destination
    // are apart.
    unsafe {
        std::ptr::copy_nonoverlapping(pattern.as_ptr(), start, unit_bytes.min(byte_size));
        let mut filled = unit_bytes.min(byte_size);
        while filled < byte_size {
            // Not more than what stays in the nearest cache.
            let more = filled.min(NEAR).min(byte_size - filled);
            std::ptr::copy_nonoverlapping(start, start.add(filled), more);
            filled += more;
        }
    }
}

/// A command that moves nothing, as host and device share their memory: it holds what it is about until it has ended.
pub struct Hold(pub Vec<Arc<Memory>>);

impl Run for Hold {
    fn run(self: Arc<Self>, _: &Device) -> Result<()> {
        Ok(())
    }
}

/// A function of the application, with the copy of its arguments it is called with, once.
pub struct NativeCall {
    function: unsafe extern "C" fn(*mut std::ffi::c_void),
    /// The arguments' bytes, in units that align them for every C type.
    arguments: Mutex<Box<[u128]>>,
    /// The buffers whose addresses are among the arguments.
    _memory: Vec<Arc<Memory>>,
}

impl NativeCall {
    /// A call with these arguments, in units that align them for every C type, and the buffers whose addresses are among
    /// them. Without arguments the function gets a null pointer.
    pub fn new(
        function: unsafe extern "C" fn(*mut std::ffi::c_void),
        arguments: Box<[u128]>,
        memory: Vec<Arc<Memory>>,
    ) -> Self {
        Self { function, arguments: Mutex::new(arguments), _memory: memory }
    }
}

impl Run for NativeCall {
    fn run(self: Arc<Self>, _: &Device) -> Result<()> {
        let mut arguments = std::mem::take(&mut *self.arguments.lock());
        let pointer = if arguments.is_empty() { std::ptr::null_mut() } else { arguments.as_mut_ptr().cast() };
        // SAFETY: the application enqueued this function for a call with these arguments.
        unsafe { (self.function)(pointer) };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(offset: usize, row_pitch: usize, slice_pitch: usize) -> Layout {
        Layout { offset, row_pitch, slice_pitch }
    }

    /// Bytes of a test as the application's.
    fn host(bytes: &mut [u8], layout: Layout) -> Place {
        // SAFETY: they outlive the transfers of the test, and nobody else uses them meanwhile.
        Place::in_host(unsafe { HostPointer::new(bytes.as_mut_ptr()) }, layout)
    }

    #[test]
    fn rows_are_copied_by_their_pitches_as_often_as_asked() {
        let mut source: Vec<u8> = (0..100).collect();
        let mut target = vec![0xFF; 40];
        let (from, to) = (host(&mut source, layout(11, 10, 30)), host(&mut target, layout(1, 4, 9)));
        let copy = Transfer::copy(0, from, to, [3, 2, 2]);
        let mut expected = vec![0xFF; 40];
        for (z, y) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            for x in 0..3 {
                expected[1 + z * 9 + y * 4 + x] = (11 + z * 30 + y * 10 + x) as u8;
            }
        }
        for _ in 0..2 {
            copy.move_bytes();
            assert_eq!(target, expected);
            target.fill(0xFF);
        }
    }

    #[test]
    fn rows_are_filled_with_whole_elements() {
        let mut target = vec![0; 24];
        let to = host(&mut target, layout(2, 10, 20));
        Transfer::fill(0, to, [8, 2, 1], &[1, 2, 3, 4]).move_bytes();
        let row = [1, 2, 3, 4, 1, 2, 3, 4];
        assert_eq!(target, [&[0, 0][..], &row, &[0, 0], &row, &[0, 0, 0, 0]].concat());
        let none = host(&mut target, Layout::of_bytes(0));
        Transfer::fill(0, none, [0, 1, 1], &[9]).move_bytes();
        assert_eq!(target[0], 0);
    }
}
