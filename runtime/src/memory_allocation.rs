//! Memory of the driver's own for buffers and images: small ones from the allocator, larger ones on pages of their own.

use std::alloc::{Layout, alloc_zeroed, dealloc};

use opencl_sys::CL_MEM_OBJECT_ALLOCATION_FAILURE;

use crate::memory_headroom::{BASE_PAGE, LEDGER};
use crate::{Result, error};

/// Alignment of every buffer the driver allocates: a cache line pair, and what the largest OpenCL type wants.
pub const ALIGNMENT: usize = 128;
/// From this size on a buffer gets pages of its own.
const PAGES_FROM: usize = 1 << 20;
/// From this size on these pages should be huge; below that too much of one could stay unused.
const HUGE_FROM: usize = 4 << 20;
/// Bytes of a huge page, and more than those of any other.
const HUGE_PAGE: usize = 2 << 20;

/// Bytes of the driver's own, zero at first.
pub(crate) struct Allocation {
    start: *mut u8,
    size: usize,
}

// SAFETY: the pointer is to plain bytes that are the allocation's alone; it never reads or writes them by itself.
unsafe impl Send for Allocation {}
// SAFETY: as above.
unsafe impl Sync for Allocation {}

impl Allocation {
    /// The first byte.
    pub(crate) fn start(&self) -> *mut u8 {
        self.start
    }

    /// How many bytes there are.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Bytes of a device that has so many of them in all, or `CL_MEM_OBJECT_ALLOCATION_FAILURE`. Fails rather than promise what the machine does not have: pages that are not there when they are first touched
    /// would end the application.
    pub(crate) fn new(byte_size: usize, total: u64) -> Result<Self> {
        let refused =
            |reason: &str| Err(error!(CL_MEM_OBJECT_ALLOCATION_FAILURE, "{byte_size} bytes of memory are {reason}"));
        let has_pages = byte_size >= PAGES_FROM;
        if let Err(reason) = LEDGER.reserve_bytes(byte_size as u64, has_pages, total) {
            return refused(reason);
        }
        // From here on the drop of `this` takes the size back out.
        let mut this = Self { start: std::ptr::null_mut(), size: byte_size };
        this.start = if has_pages {
            map_pages(byte_size)
        } else {
            match Self::layout(byte_size) {
                // SAFETY: the size is not 0.
                Some(layout) => unsafe { alloc_zeroed(layout) },
                None => std::ptr::null_mut(),
            }
        };
        if this.start.is_null() {
            return refused("refused by the system");
        }
        if has_pages {
            LEDGER.add_mapping(this.start as usize, byte_size);
        }
        Ok(this)
    }

    fn layout(byte_size: usize) -> Option<Layout> {
        Layout::from_size_align(byte_size.checked_next_multiple_of(ALIGNMENT)?, ALIGNMENT).ok()
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        let has_pages = self.size >= PAGES_FROM;
        if self.start.is_null() {
            // Refused by the system.
        } else if has_pages {
            LEDGER.remove_mapping(self.start as usize);
            // SAFETY: this is the mapping made in `new`, whole.
            unsafe { libc::munmap(self.start.cast(), self.size) };
        } else if let Some(layout) = Self::layout(self.size) {
            // SAFETY: allocated in `new` with this layout.
            unsafe { dealloc(self.start, layout) };
        }
        LEDGER.release_bytes(self.size as u64, has_pages);
    }
}

/// Fresh pages, zero at first; null if there are none. From [`HUGE_FROM`] bytes on they are huge where the system has such:
/// a kernel that streams through a large buffer would otherwise miss the TLB at every fourth KiB.
fn map_pages(byte_size: usize) -> *mut u8 {
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    let align = if byte_size >= HUGE_FROM { HUGE_PAGE } else { 1 };
    let whole = byte_size + align - 1;
    // SAFETY: a fresh anonymous mapping touches nothing that exists.
    let mapping_start = unsafe { libc::mmap(std::ptr::null_mut(), whole, access, kind, -1, 0) };
    if mapping_start == libc::MAP_FAILED {
        return std::ptr::null_mut();
    }
    if align == 1 {
        return mapping_start.cast();
    }
    let before = (mapping_start as usize).next_multiple_of(align) - mapping_start as usize;
    let start = mapping_start.wrapping_byte_add(before);
    // Pages are at most as large as huge ones, so what is cut off here are whole pages behind the last byte.
    let used = byte_size.next_multiple_of(BASE_PAGE);
    let behind = (before + used..whole).len();
    // SAFETY: both are ends of the mapping made above, outside of what is returned. The advice changes nothing but how
    // pages are found; it may be refused.
    unsafe {
        if before > 0 {
            libc::munmap(mapping_start, before);
        }
        if behind > 0 {
            libc::munmap(start.wrapping_byte_add(used), behind);
        }
        libc::madvise(start, byte_size, libc::MADV_HUGEPAGE);
    }
    start.cast()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::Error;

    #[test]
    fn allocations_are_aligned_zero_and_writable_to_the_end() {
        for byte_size in
            [1, 127, 4096, PAGES_FROM - 1, PAGES_FROM, PAGES_FROM + 3, HUGE_FROM, HUGE_FROM + BASE_PAGE + 1]
        {
            let memory = Allocation::new(byte_size, u64::MAX).unwrap();
            assert_eq!(memory.start() as usize % if byte_size < HUGE_FROM { ALIGNMENT } else { HUGE_PAGE }, 0);
            // SAFETY: there are `byte_size` bytes and nobody else uses them.
            let bytes = unsafe { std::slice::from_raw_parts_mut(memory.start(), byte_size) };
            assert!(bytes.iter().all(|&byte| byte == 0));
            bytes.fill(7);
        }
    }

    /// The addresses of a mapping, from the line that begins with them.
    fn address_range(line: &str) -> Option<std::ops::Range<usize>> {
        let hex = |text: &str| usize::from_str_radix(text, 16).ok();
        let (start, end) = line.split(' ').next()?.split_once('-')?;
        Some(hex(start)?..hex(end)?)
    }

    /// The lines that the system has about the mapping with this address.
    fn mapping(address: usize) -> Option<String> {
        let all = std::fs::read_to_string("/proc/self/smaps").ok()?;
        let mut lines = all.lines().peekable();
        while let Some(line) = lines.next() {
            if address_range(line).is_some_and(|range| range.contains(&address)) {
                let about = std::iter::from_fn(|| lines.next_if(|line| address_range(line).is_none()));
                return Some(about.collect::<Vec<_>>().join("\n"));
            }
        }
        None
    }

    #[test]
    fn large_buffers_ask_for_huge_pages() {
        let flags = |address: usize| {
            let about = mapping(address)?;
            Some(about.lines().find_map(|line| line.strip_prefix("VmFlags:"))?.to_owned())
        };
        for (byte_size, huge) in [(HUGE_FROM, true), (HUGE_FROM * 3 + 5, true), (HUGE_FROM - 1, false)] {
            let memory = Allocation::new(byte_size, u64::MAX).unwrap();
            let flags = flags(memory.start as usize).unwrap();
            let wanted = huge && std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists();
            assert_eq!(flags.split(' ').any(|flag| flag == "hg"), wanted, "{byte_size}: {flags}");
        }
    }

    /// Bytes of this process's memory that can be written. What other threads reserve for memory to come cannot.
    fn writable_bytes() -> usize {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        maps.lines().filter(|line| line.contains(" rw-p ")).filter_map(address_range).map(|range| range.len()).sum()
    }

    /// In a process of its own, as other tests allocate as well.
    #[test]
    fn large_buffers_leave_no_pages_behind() {
        const ALONE: &str = "ALONE_IN_ITS_PROCESS";
        if std::env::var_os(ALONE).is_none() {
            let name = concat!(module_path!(), "::large_buffers_leave_no_pages_behind");
            let name = name.split_once("::").map_or(name, |(_, name)| name);
            let mut alone = std::process::Command::new(std::env::current_exe().unwrap());
            let output = alone.args(["--exact", name]).env(ALONE, "1").output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && text.contains("1 passed"), "{text}");
            return;
        }
        let before = writable_bytes();
        let all: Vec<_> = (0..64).map(|_| Allocation::new(HUGE_FROM + 1, u64::MAX).unwrap()).collect();
        let grown = writable_bytes() - before;
        assert!((64 * HUGE_FROM..64 * (HUGE_FROM + HUGE_PAGE / 2)).contains(&grown), "{grown}");
        drop(all);
        assert!(writable_bytes() < before + 16 * HUGE_FROM);
    }

    #[test]
    fn no_more_is_promised_than_there_is() {
        let refused = |total| Allocation::new(PAGES_FROM, total).err().as_ref().map(Error::code);
        assert_eq!(refused(PAGES_FROM as u64 - 1), Some(CL_MEM_OBJECT_ALLOCATION_FAILURE));
        assert_eq!(refused(u64::MAX), None);
    }

    #[test]
    fn what_is_refused_takes_no_room_from_others() {
        let (total, refused) = (1 << 50, AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..20_000 {
                    assert!(Allocation::new(1 << 50, total).is_err(), "others have some of it");
                }
                refused.store(true, Ordering::Relaxed);
            });
            while !refused.load(Ordering::Relaxed) {
                assert!(Allocation::new(64, total).is_ok());
            }
        });
    }
}
