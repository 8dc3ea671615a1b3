//! A process that gets no more threads: what would be a thread's to do is the caller's.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use lockstep_conformance::child::{in_child, limit_address_space};
use lockstep_conformance::commands::{finish, list};
use lockstep_conformance::loader::{cl, is_lockstep};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Buffer, Event, Queue, Setup, ok, read};

/// Fills a buffer behind events.
fn fill(queue: &Queue, buffer: &Buffer, value: u32, after: &[cl_event]) -> Event {
    let (pattern, count, mut event) = ((&raw const value).cast(), after.len() as cl_uint, ptr::null_mut());
    ok((cl().clEnqueueFillBuffer)(queue.raw(), buffer.raw(), pattern, 4, 0, 16, count, list(after), &mut event));
    Event::own(event)
}

static CALLS: AtomicUsize = AtomicUsize::new(0);

extern "C" fn called(_: cl_event, _: cl_int, _: *mut c_void) {
    CALLS.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn without_threads_the_caller_does_it_all() {
    if !is_lockstep() {
        return;
    }
    in_child("without_threads_the_caller_does_it_all", &[("LOCKSTEP_THREADS", "1")], || {
        let setup = Setup::new();
        let (first, second) = (setup.context.queue(0), setup.context.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE));
        let buffers = [0; 4].map(|_| setup.context.zeros::<u32>(4));
        // Less than the stack of one thread.
        limit_address_space(8 << 20);
        assert!(std::thread::Builder::new().stack_size(16 << 20).spawn(|| ()).is_err(), "there are threads to be had");

        // A flush leaves commands to a thread.
        let flushed = fill(&first, &buffers[0], 1, &[]);
        ok((cl().clFlush)(first.raw()));
        assert_eq!(flushed.status(), CL_COMPLETE);
        // A queue waits for another one that nobody has flushed.
        let needed = fill(&first, &buffers[1], 2, &[]);
        let needing = fill(&second, &buffers[2], 3, &[needed.raw()]);
        finish(&second);
        assert_eq!((needed.status(), needing.status()), (CL_COMPLETE, CL_COMPLETE));
        // The application lets commands of two queues go on, and hears of each when it begins and ends.
        let go = setup.context.user_event();
        let behind = [fill(&first, &buffers[3], 4, &[go.raw()]), fill(&second, &buffers[3], 4, &[go.raw()])];
        for event in &behind {
            for status in [CL_RUNNING, CL_COMPLETE] {
                ok((cl().clSetEventCallback)(event.raw(), status, Some(called), ptr::null_mut()));
            }
        }
        ok((cl().clFlush)(first.raw()));
        ok((cl().clFlush)(second.raw()));
        ok(go.set_status(CL_COMPLETE));
        assert!(behind.iter().all(|event| event.status() == CL_COMPLETE));
        assert_eq!(CALLS.load(Ordering::Relaxed), 4);
        for (buffer, value) in buffers.iter().zip(1..) {
            assert_eq!(read::<u32>(&setup.queue, buffer), [value; 4]);
        }
    });
}
