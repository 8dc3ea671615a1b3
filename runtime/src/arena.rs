//! Scratch memory of the threads that run work-groups: `__local` memory and per-work-item storage.
//!
//! Each thread keeps one mapping, grown when a launch needs more and kept for the next. Pages that
//! cannot be touched stand on both sides, so that a kernel that leaves its scratch memory faults
//! instead of writing into the application's heap.

use std::cell::RefCell;
use std::ptr::NonNull;

/// Alignment of scratch memory in bytes: the largest that OpenCL types and cache lines ask for.
pub const ALIGN: usize = 128;
/// Most bytes of scratch memory that one thread provides.
pub const LIMIT: u64 = 1 << 30;

/// There is not as much memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutOfScratch;

thread_local! {
    static ARENA: RefCell<Option<Mapping>> = const { RefCell::new(None) };
}

/// Calls `use_scratch` with at least `bytes` of this thread's scratch memory, aligned to [`ALIGN`]. The contents
/// are whatever an earlier launch left. A call inside a call gets memory of its own.
pub fn with_scratch<R>(bytes: u64, use_scratch: impl FnOnce(*mut u8) -> R) -> Result<R, OutOfScratch> {
    let bytes = usize::try_from(bytes.min(LIMIT + 1)).map_err(|_| OutOfScratch)?;
    if bytes as u64 > LIMIT {
        return Err(OutOfScratch);
    }
    let taken = ARENA.with(|arena| arena.try_borrow_mut().ok().and_then(|mut borrowed| borrowed.take()));
    let mapping = match taken {
        Some(mapping) if mapping.bytes >= bytes => mapping,
        smaller => {
            drop(smaller);
            Mapping::new(bytes)?
        }
    };
    let result = use_scratch(mapping.start.as_ptr());
    ARENA.with(|arena| {
        if let Ok(mut arena) = arena.try_borrow_mut() {
            *arena = Some(mapping);
        }
    });
    Ok(result)
}

/// Pages of memory between two guard pages.
struct Mapping {
    base: NonNull<libc::c_void>,
    whole: usize,
    start: NonNull<u8>,
    bytes: usize,
}

impl Mapping {
    fn new(bytes: usize) -> Result<Mapping, OutOfScratch> {
        let page_size = page_size();
        let bytes = bytes.max(1).next_multiple_of(page_size.max(ALIGN)).max(16 * page_size);
        let mapped_bytes = bytes + 2 * page_size;
        // SAFETY: an anonymous private mapping at an address of the kernel's choice touches no
        // memory that is in use.
        let mapping_start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                mapped_bytes,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if mapping_start == libc::MAP_FAILED {
            return Err(OutOfScratch);
        }
        // SAFETY: `page_size` bytes behind the start is inside the mapping made above.
        let start = unsafe { mapping_start.cast::<u8>().add(page_size) };
        let mapping = Mapping {
            base: NonNull::new(mapping_start).ok_or(OutOfScratch)?,
            whole: mapped_bytes,
            start: NonNull::new(start).ok_or(OutOfScratch)?,
            bytes,
        };
        // SAFETY: `start` and `bytes` are whole pages inside the mapping, which nobody uses yet.
        let opened = unsafe { libc::mprotect(start.cast(), bytes, libc::PROT_READ | libc::PROT_WRITE) };
        if opened == 0 { Ok(mapping) } else { Err(OutOfScratch) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: base and length are those of the mapping; `with_scratch` lends its memory only
        // while it holds the mapping.
        unsafe { libc::munmap(self.base.as_ptr(), self.whole) };
    }
}

fn page_size() -> usize {
    // SAFETY: sysconf reads a constant of the system.
    let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(page_bytes).unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_aligned_and_writable_to_its_end() {
        for bytes in [0, 1, 4096, 1 << 20] {
            with_scratch(bytes, |start| {
                assert_eq!(start as usize % ALIGN, 0);
                // SAFETY: the closure may use `bytes` bytes from `start`.
                unsafe { start.write_bytes(0x5a, bytes as usize) };
            })
            .unwrap();
        }
    }

    #[test]
    fn memory_is_kept_between_calls_and_not_shared_by_nested_ones() {
        let first = with_scratch(4096, |start| start as usize).unwrap();
        let (outer, inner) = with_scratch(100, |outer| {
            let inner = with_scratch(100, |inner| inner as usize).unwrap();
            (outer as usize, inner)
        })
        .unwrap();
        assert_eq!(outer, first);
        assert_ne!(inner, outer);
    }

    #[test]
    fn too_much_is_refused() {
        assert_eq!(with_scratch(LIMIT + 1, |_| ()), Err(OutOfScratch));
        assert_eq!(with_scratch(u64::MAX, |_| ()), Err(OutOfScratch));
    }
}
