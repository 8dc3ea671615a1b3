//! Commands on buffers: reads, writes, copies, fills, maps, migrations; markers and barriers.

use std::ffi::c_void;
use std::ptr;

use lockstep_conformance::entry_points::EntryPoints;
use lockstep_conformance::opencl_sys::*;

use super::Op;
use super::world::*;

pub const OPS: &[Op] = &[
    ("clEnqueueReadBuffer", 5, |w| {
        let (buffer, offset, size, to, wait) = (w.buffer(), w.offset(), w.size(), w.data(), w.blocking());
        enqueue(w, |d, queue, count, list, event| {
            (d.clEnqueueReadBuffer)(queue, buffer, wait, offset, size, to, count, list, event)
        });
    }),
    ("clEnqueueWriteBuffer", 5, |w| {
        let (buffer, offset, size, from, wait) = (w.buffer(), w.offset(), w.size(), w.data(), w.blocking());
        enqueue(w, |d, queue, count, list, event| {
            (d.clEnqueueWriteBuffer)(queue, buffer, wait, offset, size, from, count, list, event)
        });
    }),
    ("clEnqueueCopyBuffer", 4, |w| {
        let (from, to, source, target, size) = (w.buffer(), w.buffer(), w.offset(), w.offset(), w.size());
        enqueue(w, |d, queue, count, list, event| {
            (d.clEnqueueCopyBuffer)(queue, from, to, source, target, size, count, list, event)
        });
    }),
    ("clEnqueueFillBuffer", 4, |w| {
        let (buffer, pattern, offset, size) = (w.buffer(), w.data(), 4 * w.small(), w.size());
        let length = pattern_size(w);
        let (offset, size) = if w.once_in(2) { (0, length.wrapping_mul(4)) } else { (offset, size) };
        enqueue(w, |d, queue, count, list, event| {
            (d.clEnqueueFillBuffer)(queue, buffer, pattern, length, offset, size, count, list, event)
        });
    }),
    ("clEnqueueReadBufferRect", 3, |w| {
        let (buffer, boxed, to, wait) = (w.buffer(), Boxes::new(w), w.data(), w.blocking());
        let Boxes { here, there, region, pitches: [a, b, c, d] } = boxed;
        let (here, there, region) = (here.as_ptr(), there.as_ptr(), region.as_ptr());
        enqueue(w, |f, queue, count, list, event| {
            (f.clEnqueueReadBufferRect)(queue, buffer, wait, here, there, region, a, b, c, d, to, count, list, event)
        });
    }),
    ("clEnqueueWriteBufferRect", 3, |w| {
        let (buffer, boxed, from, wait) = (w.buffer(), Boxes::new(w), w.data(), w.blocking());
        let Boxes { here, there, region, pitches: [a, b, c, d] } = boxed;
        let (here, there, region) = (here.as_ptr(), there.as_ptr(), region.as_ptr());
        enqueue(w, |f, queue, count, list, event| {
            (f.clEnqueueWriteBufferRect)(queue, buffer, wait, here, there, region, a, b, c, d, from, count, list, event)
        });
    }),
    ("clEnqueueCopyBufferRect", 3, |w| {
        let (from, to, boxed) = (w.buffer(), w.buffer(), Boxes::new(w));
        let other = w.origin();
        let Boxes { here, region, pitches: [a, b, c, d], .. } = boxed;
        let (here, there, region) = (here.as_ptr(), other.as_ptr(), region.as_ptr());
        enqueue(w, |f, queue, count, list, event| {
            (f.clEnqueueCopyBufferRect)(queue, from, to, here, there, region, a, b, c, d, count, list, event)
        });
    }),
    ("clEnqueueMapBuffer", 4, |w| {
        let (buffer, offset, size, wait) = (w.buffer(), w.offset(), w.size(), w.blocking());
        let flags = w.bits(MAP_BITS);
        let mut mapped = ptr::null_mut();
        let code = enqueue(w, |d, queue, count, list, event| {
            let mut code = 1;
            let map = d.clEnqueueMapBuffer;
            mapped = map(queue, buffer, wait, flags, offset, size, count, list, event, &mut code);
            code
        });
        map(w, buffer, mapped, code);
    }),
    ("clEnqueueUnmapMemObject", 4, |w| {
        let (object, mapped) = mapping(w);
        enqueue(w, |d, queue, count, list, event| {
            (d.clEnqueueUnmapMemObject)(queue, object, mapped, count, list, event)
        });
    }),
    ("clEnqueueMigrateMemObjects", 2, |w| {
        let (objects, flags) = (w.handles(Mem, 3), w.bits(&[1, 2]));
        enqueue(w, |d, queue, count, list, event| {
            (d.clEnqueueMigrateMemObjects)(queue, objects.0, pointer(&objects.1), flags, count, list, event)
        });
    }),
    ("clEnqueueMarker", 1, |w| {
        let (queue, event) = (w.handle(Queue), w.out_at());
        let code = (w.d.clEnqueueMarker)(queue, event);
        w.judge(Queue, queue, code);
        enqueued(w, event, code);
    }),
    ("clEnqueueWaitForEvents", 1, |w| {
        let (queue, (count, list)) = (w.handle(Queue), w.wait_list());
        let code = (w.d.clEnqueueWaitForEvents)(queue, count, pointer(&list));
        w.judge(Queue, queue, code);
    }),
    ("clEnqueueBarrier", 1, |w| {
        let queue = w.handle(Queue);
        let code = (w.d.clEnqueueBarrier)(queue);
        w.judge(Queue, queue, code);
    }),
    ("clEnqueueMarkerWithWaitList", 2, |w| {
        enqueue(w, |d, queue, count, list, event| (d.clEnqueueMarkerWithWaitList)(queue, count, list, event));
    }),
    ("clEnqueueBarrierWithWaitList", 2, |w| {
        enqueue(w, |d, queue, count, list, event| (d.clEnqueueBarrierWithWaitList)(queue, count, list, event));
    }),
];

pub const MAP_BITS: &[u64] = &[CL_MAP_READ, CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION];

/// Enqueues a command and judges what comes back.
pub fn enqueue(
    w: &mut World,
    call: impl FnOnce(&EntryPoints, cl_command_queue, cl_uint, *const cl_event, *mut cl_event) -> cl_int,
) -> cl_int {
    let (queue, (count, list), event) = (w.handle(Queue), w.wait_list(), w.out_at());
    let code = call(w.d, queue, count, pointer(&list), event);
    w.judge(Queue, queue, code);
    enqueued(w, event, code);
    code
}

/// Judges the event that a command left.
pub fn enqueued(w: &mut World, event: *mut Handle, code: cl_int) {
    if event.is_null() {
        return;
    }
    let event = w.out;
    assert!(code == CL_SUCCESS || event.is_null(), "an event with an error");
    if code == CL_SUCCESS {
        w.add(Event, event);
    }
}

/// The size of a pattern for fills.
pub fn pattern_size(w: &mut World) -> usize {
    if w.once_in(8) { w.size() } else { w.any(&[1, 2, 4, 8, 16, 32, 64, 128, 3, 0]) }
}

/// Boxes in a buffer and at the application.
pub struct Boxes {
    here: [usize; 3],
    there: [usize; 3],
    region: [usize; 3],
    /// Of the buffer a row and a slice, of the other side a row and a slice.
    pitches: [usize; 4],
}

impl Boxes {
    pub fn new(w: &mut World) -> Self {
        let slice = |w: &mut World| w.any(&[0, 0, 0, 0, 0, 0, 0, 0, 64, 1024, 4096, 16384, 65536]);
        // What the application's side has is for the application to know.
        let pitches = [
            if w.once_in(20) { w.size() } else { w.pitch() },
            if w.once_in(20) { w.size() } else { slice(w) },
            w.pitch(),
            slice(w),
        ];
        Boxes { here: w.origin(), there: w.host_triple(), region: w.region(), pitches }
    }

    /// The pointers and pitches in the order that functions take them.
    pub fn parts(&self) -> (*const usize, *const usize, *const usize, [usize; 4]) {
        (self.here.as_ptr(), self.there.as_ptr(), self.region.as_ptr(), self.pitches)
    }
}

/// Notes a map.
pub fn map(w: &mut World, object: Handle, mapped: *mut c_void, code: cl_int) {
    assert!((code == CL_SUCCESS) != mapped.is_null(), "a map at {mapped:?} with {code}");
    if code == CL_SUCCESS {
        w.maps.push((object, mapped));
        if w.maps.len() > 16 {
            w.maps.remove(0);
        }
    }
}

/// A memory object and a map of it, or not.
pub fn mapping(w: &mut World) -> (Handle, *mut c_void) {
    if w.maps.is_empty() || w.once_in(6) {
        return (w.handle(Mem), w.data());
    }
    let index = w.below(w.maps.len());
    let (object, mapped) = if w.once_in(6) { w.maps[index] } else { w.maps.swap_remove(index) };
    (if w.once_in(20) { w.handle(Mem) } else { object }, mapped)
}
