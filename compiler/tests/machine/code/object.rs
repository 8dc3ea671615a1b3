//! Memory between guard pages.

use std::ptr::{NonNull, null_mut};

/// What memory holds that nothing was written to.
pub const UNWRITTEN: u8 = 0xa5;

/// The page that an object touches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The object begins behind the first guard page.
    Front,
    /// The object ends before the second one, but for what its alignment needs.
    Rear,
}

/// Bytes with a page on both sides that may not be touched.
pub struct Object {
    map: NonNull<u8>,
    mapped: usize,
    start: usize,
    len: usize,
}

impl Object {
    /// An object with these contents, aligned to `align` bytes.
    pub fn new(contents: &[u8], align: usize, side: Side) -> Object {
        // SAFETY: this asks for a number.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let inner = contents.len().max(1).next_multiple_of(page);
        let mapped = inner + 2 * page;
        // SAFETY: this maps new memory.
        let map = unsafe { libc::mmap(null_mut(), mapped, libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANON, -1, 0) };
        assert_ne!(map, libc::MAP_FAILED, "{}", std::io::Error::last_os_error());
        let map = NonNull::new(map.cast::<u8>()).unwrap();
        let start = match side {
            Side::Front => page,
            Side::Rear => page + (inner - contents.len()) / align * align,
        };
        // SAFETY: the pages between the first and the last one are ours, and the contents fit into them.
        unsafe {
            let first = map.as_ptr().add(page);
            assert_eq!(libc::mprotect(first.cast(), inner, libc::PROT_READ | libc::PROT_WRITE), 0);
            first.write_bytes(UNWRITTEN, inner);
            map.as_ptr().add(start).copy_from_nonoverlapping(contents.as_ptr(), contents.len());
        }
        Object { map, mapped, start, len: contents.len() }
    }

    pub fn ptr(&self) -> *mut u8 {
        // SAFETY: `start` lies in the mapping.
        unsafe { self.map.as_ptr().add(self.start) }
    }

    /// The contents, if nothing beside them was written to.
    pub fn contents(&self) -> Result<Vec<u8>, String> {
        // SAFETY: as in `new`.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        // SAFETY: the pages between the guards can be read, and no code runs that writes to them.
        let bytes = unsafe { std::slice::from_raw_parts(self.map.as_ptr().add(page), self.mapped - 2 * page) };
        let (before, rest) = bytes.split_at(self.start - page);
        let (contents, behind) = rest.split_at(self.len);
        let whole = before.iter().chain(behind).all(|&byte| byte == UNWRITTEN);
        if whole { Ok(contents.to_vec()) } else { Err("the code wrote outside of an object".to_string()) }
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: the mapping is this object's, and nothing points to it any more.
        unsafe { libc::munmap(self.map.as_ptr().cast(), self.mapped) };
    }
}
