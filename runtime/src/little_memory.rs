//! What an allocation that must not fail asks first, where the process may have little address space.
//!
//! A collection that cannot grow, and a new thread that finds no room for its thread-local data, end the process: neither Rust nor the C
//! library has an error for these. So whoever is about to take much, or to start a thread, tries first whether as much can be mapped.
//! Other threads may take it meanwhile; then there is nothing to be done, but it takes them to use up all of it in that moment.

use std::io;
use std::sync::mpsc;
use std::thread::{Builder, JoinHandle};

use memmap2::MmapMut;
use parking_lot::Mutex;
use rustix::process::{Resource, getrlimit};

use crate::per_process::PerProcess;

/// What a thread needs beside its stack: its thread-local data, and the C library's records of it.
const THREAD_ROOM: usize = 1 << 20;

/// Whether so many bytes can be allocated. They are given back at once.
pub(crate) fn has_room(bytes: usize) -> bool {
    MmapMut::map_anon(bytes.max(1)).is_ok()
}

/// Starts a thread with so many bytes of stack, or as many as threads usually have.
///
/// # Errors
/// As [`Builder::spawn`]; `ENOMEM` where there is no room for all that a thread needs at its beginning.
pub(crate) fn start_thread<R: Send + 'static>(
    thread: Builder,
    stack: usize,
    body: impl FnOnce() -> R + Send + 'static,
) -> io::Result<JoinHandle<R>> {
    let thread = thread.stack_size(stack);
    if getrlimit(Resource::As).current.is_none() {
        return thread.spawn(body);
    }
    // One after the other: what the last one needs is taken when the next one asks.
    static STARTING: PerProcess<Mutex<()>> = PerProcess::new();
    let _starting = STARTING.get_or_make(Mutex::default).lock();
    if !has_room(stack + THREAD_ROOM) {
        return Err(io::Error::from_raw_os_error(libc::ENOMEM));
    }
    let (begun, has_begun) = mpsc::sync_channel(1);
    let started = thread.spawn(move || {
        // Nobody listens any more only where the caller is gone, too.
        let _ = begun.send(());
        body()
    })?;
    let _ = has_begun.recv();
    Ok(started)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_little_and_not_for_everything() {
        assert!(has_room(0) && has_room(1 << 20));
        assert!(!has_room(1 << 60));
    }

    #[test]
    fn threads_do_what_they_are_started_for() {
        let started = start_thread(Builder::new().name("a name".into()), 1 << 20, || {
            std::thread::current().name().map(str::to_owned)
        });
        assert_eq!(started.unwrap().join().unwrap().as_deref(), Some("a name"));
    }
}
