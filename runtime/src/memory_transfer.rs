//! Moving bytes: the work of the read, write, copy and fill commands and of their rectangular forms.

use std::ops::Range;
use std::sync::Arc;

use crate::Result;
use crate::command::Work;
use crate::memory::Memory;

/// A place in memory of the application, valid until the command that uses it has ended.
#[derive(Debug, Clone, Copy)]
pub struct HostPointer(*mut u8);

// SAFETY: the address only travels to the thread that executes the command; whoever makes one vouches for its use there.
unsafe impl Send for HostPointer {}

impl HostPointer {
    /// # Safety
    /// What a command that is given the pointer reads or writes from it on may be read or written until the command
    /// ends.
    pub unsafe fn new(pointer: *mut u8) -> Self {
        Self(pointer)
    }

    /// The address. (A method, so that closures capture the whole and not the bare field.)
    fn get(&self) -> *mut u8 {
        self.0
    }
}

/// A box of bytes in linear memory: rows of a slice, slices of a volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Offset of the first byte.
    pub offset: usize,
    /// Bytes from row to row, at least a row's length.
    pub row_pitch: usize,
    /// Bytes from slice to slice, at least what the rows take.
    pub slice_pitch: usize,
}

/// Width in bytes, rows, slices; none of them 0.
pub type Region = [usize; 3];

impl Layout {
    /// The bytes from the first to the last of a region, if they can be numbered.
    pub fn span(&self, region: Region) -> Option<Range<usize>> {
        let slices = (region[2] - 1).checked_mul(self.slice_pitch)?;
        let rows = (region[1] - 1).checked_mul(self.row_pitch)?;
        let end = self.offset.checked_add(slices)?.checked_add(rows)?.checked_add(region[0])?;
        Some(self.offset..end)
    }

    /// Each row's bytes, in ascending order.
    fn rows(self, region: Region) -> impl Iterator<Item = Range<usize>> {
        (0..region[2]).flat_map(move |z| {
            (0..region[1]).map(move |y| {
                let start = self.offset + z * self.slice_pitch + y * self.row_pitch;
                start..start + region[0]
            })
        })
    }
}

/// Whether two ranges have an element in common.
pub fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

/// Whether two boxes share a byte. Both must have a span.
pub fn boxes_overlap(a: (Layout, Region), b: (Layout, Region)) -> bool {
    if let (Some(a), Some(b)) = (a.0.span(a.1), b.0.span(b.1))
        && !overlap(&a, &b)
    {
        return false;
    }
    // Rows ascend on both sides: walk them together.
    let (mut a, mut b) = (a.0.rows(a.1).peekable(), b.0.rows(b.1).peekable());
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        if overlap(x, y) {
            return true;
        }
        if x.end <= y.end {
            a.next();
        } else {
            b.next();
        }
    }
    false
}

/// Reads `size` bytes at `offset` of a buffer into the application's memory.
pub fn read(memory: Arc<Memory>, offset: usize, size: usize, to: HostPointer) -> Work {
    Work::once(move || {
        // SAFETY: the region was checked against the buffer, which the command holds; the maker of `to` vouches for it.
        // The two may be the same bytes.
        unsafe { std::ptr::copy(memory.start().add(offset), to.get(), size) };
        Ok(())
    })
}

/// Writes `size` bytes of the application's memory to `offset` of a buffer.
pub fn write(memory: Arc<Memory>, offset: usize, size: usize, from: HostPointer) -> Work {
    Work::once(move || {
        // SAFETY: as for `read`.
        unsafe { std::ptr::copy(from.get(), memory.start().add(offset), size) };
        Ok(())
    })
}

/// Copies `size` bytes between buffers.
pub fn copy(from: (Arc<Memory>, usize), to: (Arc<Memory>, usize), size: usize) -> Work {
    Work::once(move || {
        // SAFETY: both regions were checked against their buffers, which the command holds.
        unsafe { std::ptr::copy(from.0.start().add(from.1), to.0.start().add(to.1), size) };
        Ok(())
    })
}

/// Bytes that stay in the nearest cache: a multiple of every pattern's length, which is a power of two.
const NEAR: usize = 16 << 10;

/// Fills `size` bytes, a multiple of the pattern's length, of a buffer with a pattern.
pub fn fill(memory: Arc<Memory>, offset: usize, size: usize, pattern: &[u8]) -> Work {
    let pattern: Box<[u8]> = pattern.into();
    Work::once(move || {
        // SAFETY: the region was checked against the buffer, which the command holds.
        unsafe { fill_bytes(memory.start().add(offset), size, &pattern) };
        Ok(())
    })
}

/// Fills `size` bytes, a multiple of the pattern's length, of the application's memory with a pattern.
pub fn fill_shared(to: HostPointer, size: usize, pattern: &[u8]) -> Work {
    let pattern: Box<[u8]> = pattern.into();
    Work::once(move || {
        // SAFETY: the maker of `to` vouches for it.
        unsafe { fill_bytes(to.get(), size, &pattern) };
        Ok(())
    })
}

/// Copies `size` bytes of the application's memory.
pub fn copy_shared(from: HostPointer, to: HostPointer, size: usize) -> Work {
    Work::once(move || {
        // SAFETY: the makers of the pointers vouch for them.
        unsafe { std::ptr::copy(from.get(), to.get(), size) };
        Ok(())
    })
}

/// Fills `size` bytes with a pattern.
///
/// # Safety
/// They may be written.
unsafe fn fill_bytes(start: *mut u8, size: usize, pattern: &[u8]) {
    let unit = pattern.len();
    if size == 0 || unit == 0 {
        return;
    }
    // SAFETY: the caller vouches for the bytes. What has been filled is copied behind itself, so source and destination
    // are apart.
    unsafe {
        std::ptr::copy_nonoverlapping(pattern.as_ptr(), start, unit.min(size));
        let mut filled = unit.min(size);
        while filled < size {
            // Not more than what stays in the nearest cache.
            let more = filled.min(NEAR).min(size - filled);
            std::ptr::copy_nonoverlapping(start, start.add(filled), more);
            filled += more;
        }
    }
}

/// One side of a rectangular copy.
pub enum Side {
    /// A buffer.
    Buffer(Arc<Memory>),
    /// Memory of the application.
    Host(HostPointer),
}

impl Side {
    fn start(&self) -> *mut u8 {
        match self {
            Side::Buffer(memory) => memory.start(),
            Side::Host(pointer) => pointer.get(),
        }
    }
}

/// Copies a box of bytes.
pub fn copy_box(from: (Side, Layout), to: (Side, Layout), region: Region) -> Work {
    Work::once(move || {
        copy_rows(from.0.start(), from.1, to.0.start(), to.1, region);
        Ok(())
    })
}

fn copy_rows(source: *const u8, from: Layout, target: *mut u8, to: Layout, region: Region) {
    for (from, to) in from.rows(region).zip(to.rows(region)) {
        // SAFETY: every row of both boxes lies in memory that the command's maker has checked or vouched for.
        unsafe { std::ptr::copy(source.add(from.start), target.add(to.start), from.len()) };
    }
}

/// Fills a box of bytes with an element, whose length is a power of two and divides the rows'.
pub fn fill_box(memory: Arc<Memory>, layout: Layout, region: Region, element: Vec<u8>) -> Work {
    Work::once(move || {
        for to in layout.rows(region) {
            // SAFETY: the box was checked against the object, which the command holds.
            unsafe { fill_bytes(memory.start().add(to.start), region[0], &element) };
        }
        Ok(())
    })
}

/// A function of the application, with the copy of its arguments it is called with.
pub struct NativeCall {
    /// The function.
    pub function: unsafe extern "C" fn(*mut std::ffi::c_void),
    /// The arguments' bytes, in units that align them for every C type.
    pub arguments: Box<[u128]>,
    /// Whether there are any; without, the function gets a null pointer.
    pub has_arguments: bool,
    /// The buffers whose addresses are among the arguments.
    pub memory: Vec<Arc<Memory>>,
}

/// Calls a native kernel.
pub fn native(mut call: NativeCall) -> Work {
    Work::once(move || -> Result<()> {
        let arguments = if call.has_arguments { call.arguments.as_mut_ptr().cast() } else { std::ptr::null_mut() };
        // SAFETY: the application enqueued this function for a call with these arguments.
        unsafe { (call.function)(arguments) };
        drop(call.memory);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(offset: usize, row_pitch: usize, slice_pitch: usize) -> Layout {
        Layout { offset, row_pitch, slice_pitch }
    }

    #[test]
    fn overlap_agrees_with_sets_of_bytes() {
        let region = [3, 2, 2];
        for first in 0..40 {
            for second in 0..40 {
                for (row, slice) in [(3, 6), (5, 10), (5, 15), (8, 16)] {
                    let (a, b) = (layout(first, 5, 15), layout(second, row, slice));
                    let bytes: Vec<usize> = a.rows(region).flatten().collect();
                    let shared = b.rows(region).flatten().any(|byte| bytes.contains(&byte));
                    assert_eq!(boxes_overlap((a, region), (b, region)), shared, "{a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn span_ends_behind_the_last_byte() {
        assert_eq!(layout(7, 10, 100).span([4, 3, 2]), Some(7..7 + 100 + 20 + 4));
        assert_eq!(layout(1, usize::MAX, 1).span([1, 3, 1]), None);
    }

    #[test]
    fn rows_are_copied_by_their_pitches() {
        let source: Vec<u8> = (0..100).collect();
        let mut target = vec![0xFF; 40];
        copy_rows(source.as_ptr(), layout(11, 10, 30), target.as_mut_ptr(), layout(1, 4, 9), [3, 2, 2]);
        let mut expected = vec![0xFF; 40];
        for (z, y) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            for x in 0..3 {
                expected[1 + z * 9 + y * 4 + x] = (11 + z * 30 + y * 10 + x) as u8;
            }
        }
        assert_eq!(target, expected);
    }
}
