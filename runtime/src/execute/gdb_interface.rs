//! The list of objects that debuggers read, by GDB's JIT interface.
//!
//! A debugger finds the list by the name of its head and stops the process in a function of a known name whenever the list changes.
//! Only objects for debuggers are in it, so where nobody asked for any it stays empty.
//!
//! Source: "Debugging with GDB", chapter "JIT Compilation Interface".

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use parking_lot::Mutex;

use crate::per_process::PerProcess;

/// What a debugger is told to do.
const NO_ACTION: u32 = 0;
const READ_ENTRY: u32 = 1;
const FORGET_ENTRY: u32 = 2;

/// The version of the interface.
const VERSION: u32 = 1;

/// An object in the list, `struct jit_code_entry`.
#[repr(C)]
struct Entry {
    next: AtomicPtr<Entry>,
    previous: AtomicPtr<Entry>,
    object: *const u8,
    object_bytes: u64,
}

/// The head of the list, `struct jit_descriptor`.
#[repr(C)]
struct Descriptor {
    version: u32,
    action: AtomicU32,
    relevant: AtomicPtr<Entry>,
    first: AtomicPtr<Entry>,
}

#[unsafe(export_name = "__jit_debug_descriptor")]
static DESCRIPTOR: Descriptor = Descriptor {
    version: VERSION,
    action: AtomicU32::new(NO_ACTION),
    relevant: AtomicPtr::new(ptr::null_mut()),
    first: AtomicPtr::new(ptr::null_mut()),
};

/// Where debuggers stop to read what has changed.
#[unsafe(export_name = "__jit_debug_register_code")]
#[inline(never)]
extern "C" fn stop_for_debuggers() {
    // What is empty would not be called.
    std::hint::black_box(&DESCRIPTOR);
}

/// Whoever changes the list holds it.
static LIST_LOCK: PerProcess<Mutex<()>> = PerProcess::new();

/// An object that debuggers know, until this goes.
pub(super) struct RegisteredObject {
    entry: *mut Entry,
    /// What the entry points to.
    _bytes: Vec<u8>,
}

// SAFETY: the entry is this value's own, and the list that links it is changed by who holds its lock.
unsafe impl Send for RegisteredObject {}
// SAFETY: nothing of it can be reached through a shared reference.
unsafe impl Sync for RegisteredObject {}

impl RegisteredObject {
    /// Tells debuggers of an object whose sections have their addresses.
    pub(super) fn register(object_bytes: Vec<u8>) -> RegisteredObject {
        let _list = LIST_LOCK.get_or_make(Mutex::default).lock();
        let next = DESCRIPTOR.first.load(Ordering::Relaxed);
        let entry = Box::into_raw(Box::new(Entry {
            next: AtomicPtr::new(next),
            previous: AtomicPtr::new(ptr::null_mut()),
            object: object_bytes.as_ptr(),
            object_bytes: object_bytes.len() as u64,
        }));
        // SAFETY: null, or an entry, which lives as long as it is in the list.
        if let Some(next) = unsafe { next.as_ref() } {
            next.previous.store(entry, Ordering::Relaxed);
        }
        DESCRIPTOR.first.store(entry, Ordering::Release);
        tell_debuggers(READ_ENTRY, entry);
        RegisteredObject { entry, _bytes: object_bytes }
    }
}

impl Drop for RegisteredObject {
    fn drop(&mut self) {
        let _list = LIST_LOCK.get_or_make(Mutex::default).lock();
        // SAFETY: `register` made it of a box, and only this value frees it.
        let entry = unsafe { Box::from_raw(self.entry) };
        let (next, previous) = (entry.next.load(Ordering::Relaxed), entry.previous.load(Ordering::Relaxed));
        // SAFETY: null, or an entry, which lives as long as it is in the list.
        match unsafe { previous.as_ref() } {
            Some(previous) => previous.next.store(next, Ordering::Relaxed),
            None => DESCRIPTOR.first.store(next, Ordering::Relaxed),
        }
        // SAFETY: as above.
        if let Some(next) = unsafe { next.as_ref() } {
            next.previous.store(previous, Ordering::Relaxed);
        }
        tell_debuggers(FORGET_ENTRY, self.entry);
    }
}

/// Has debuggers do something with an entry. The caller holds the list.
fn tell_debuggers(action: u32, entry: *mut Entry) {
    DESCRIPTOR.relevant.store(entry, Ordering::Relaxed);
    DESCRIPTOR.action.store(action, Ordering::Release);
    stop_for_debuggers();
    DESCRIPTOR.action.store(NO_ACTION, Ordering::Relaxed);
    DESCRIPTOR.relevant.store(ptr::null_mut(), Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of all objects in the list, the last one that was registered first.
    fn listed_objects() -> Vec<Vec<u8>> {
        let _list = LIST_LOCK.get_or_make(Mutex::default).lock();
        let mut objects = Vec::new();
        // SAFETY: null, or an entry, which lives as long as it is in the list.
        let mut next = unsafe { DESCRIPTOR.first.load(Ordering::Relaxed).as_ref() };
        while let Some(entry) = next {
            // SAFETY: the bytes live as long as their entry.
            let bytes = unsafe { std::slice::from_raw_parts(entry.object, entry.object_bytes as usize) };
            objects.push(bytes.to_vec());
            // SAFETY: as above.
            next = unsafe { entry.next.load(Ordering::Relaxed).as_ref() };
        }
        objects
    }

    #[test]
    fn the_list_has_what_lives() {
        let [first, second, third] = [1, 2, 3].map(|byte| RegisteredObject::register(vec![byte; 4]));
        assert_eq!(listed_objects(), [[3; 4], [2; 4], [1; 4]]);
        drop(second);
        assert_eq!(listed_objects(), [[3; 4], [1; 4]]);
        drop(third);
        assert_eq!(listed_objects(), [[1; 4]]);
        let fourth = RegisteredObject::register(vec![4; 4]);
        drop(first);
        assert_eq!(listed_objects(), [[4; 4]]);
        drop(fourth);
        assert!(listed_objects().is_empty());
    }
}
