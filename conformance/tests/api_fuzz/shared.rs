//! Shared virtual memory and unified shared memory. Any address may be handed to commands here, so those that are can be
//! used; what is freed is never looked at.

use std::ffi::c_void;
use std::ptr;

use lockstep_conformance::opencl_sys::*;

use super::Op;
use super::transfers::{enqueue, pattern_size};
use super::world::*;

pub const OPS: &[Op] = &[
    ("clSVMAlloc", 2, |w| {
        let flags = w.bits(&[CL_MEM_READ_WRITE, CL_MEM_READ_ONLY, CL_MEM_SVM_FINE_GRAIN_BUFFER, CL_MEM_SVM_ATOMICS]);
        let (context, size, alignment) = (w.handle(Context), w.size(), alignment(w));
        let address = (w.d.clSVMAlloc)(context, flags, size, alignment);
        allocated(w, address);
    }),
    ("clSVMFree", 2, |w| {
        let (context, address) = (w.handle(Context), passing(w));
        (w.d.clSVMFree)(context, address);
    }),
    ("clEnqueueSVMFree", 1, |w| {
        let notify = w.any(&[None, Some(free as extern "C" fn(_, _, _, _))]);
        let mut list: Vec<_> = (0..w.below(3)).map(|_| passing(w)).collect();
        // Without a function the driver frees; what a function was to free stays.
        let pointers = if list.is_empty() { ptr::null_mut() } else { list.as_mut_ptr() };
        let number = if w.once_in(20) { 0 } else { list.len() as u32 };
        enqueue(w, |d, queue, count, events, event| {
            (d.clEnqueueSVMFree)(queue, number, pointers, notify, ptr::null_mut(), count, events, event)
        });
    }),
    ("clEnqueueSVMMemcpy", 2, |w| {
        let (to, from, size, wait) = (w.shared_pointer(), w.shared_pointer(), w.small(), w.blocking());
        enqueue(w, |d, queue, count, list, event| {
            (d.clEnqueueSVMMemcpy)(queue, wait, to, from, size, count, list, event)
        });
    }),
    ("clEnqueueSVMMemFill", 2, |w| {
        let (to, pattern, length, size) = (w.shared_pointer(), w.data(), pattern_size(w), w.small());
        enqueue(w, |d, queue, count, list, event| {
            (d.clEnqueueSVMMemFill)(queue, to, pattern, length, size, count, list, event)
        });
    }),
    ("clEnqueueSVMMap", 2, |w| {
        let (address, flags, size, wait) = (w.shared_pointer(), w.bits(&[1, 2, 4]), w.size(), w.blocking());
        enqueue(w, |d, queue, count, list, event| {
            (d.clEnqueueSVMMap)(queue, wait, flags, address, size, count, list, event)
        });
    }),
    ("clEnqueueSVMUnmap", 2, |w| {
        let address = w.shared_pointer();
        enqueue(w, |d, queue, count, list, event| (d.clEnqueueSVMUnmap)(queue, address, count, list, event));
    }),
    ("clEnqueueSVMMigrateMem", 2, |w| {
        let list: Vec<_> = (0..w.below(3)).map(|_| w.shared_pointer().cast_const()).collect();
        let sizes: Vec<_> = list.iter().map(|_| w.size()).collect();
        let sizes = if w.once_in(2) { ptr::null() } else { pointer(&sizes) };
        let (number, flags) = (list.len() as u32, w.bits(&[1, 2]));
        enqueue(w, |d, queue, count, events, event| {
            (d.clEnqueueSVMMigrateMem)(queue, number, pointer(&list), sizes, flags, count, events, event)
        });
    }),
    ("clHostMemAllocINTEL", 1, |w| {
        let (context, list, size, alignment) = (w.handle(Context), usm_properties(w), w.size(), alignment(w));
        let allocate = w.x.usm.clHostMemAllocINTEL;
        let address = allocate(context, pointer(&list), size, alignment, w.code_at());
        usm(w, address);
    }),
    ("clDeviceMemAllocINTEL", 1, |w| {
        let (context, device, list) = (w.handle(Context), w.handle(Device), usm_properties(w));
        let (size, alignment, allocate) = (w.size(), alignment(w), w.x.usm.clDeviceMemAllocINTEL);
        let address = allocate(context, device, pointer(&list), size, alignment, w.code_at());
        usm(w, address);
    }),
    ("clSharedMemAllocINTEL", 1, |w| {
        let (context, device, list) = (w.handle(Context), w.handle(Device), usm_properties(w));
        let (size, alignment, allocate) = (w.size(), alignment(w), w.x.usm.clSharedMemAllocINTEL);
        let address = allocate(context, device, pointer(&list), size, alignment, w.code_at());
        usm(w, address);
    }),
    ("clMemFreeINTEL", 2, |w| {
        let (context, address) = (w.handle(Context), passing(w));
        let code = (w.x.usm.clMemFreeINTEL)(context, address);
        w.judge(Context, context, code);
    }),
    ("clMemBlockingFreeINTEL", 1, |w| {
        let (context, address) = (w.handle(Context), passing(w));
        w.let_go();
        let code = (w.x.usm.clMemBlockingFreeINTEL)(context, address);
        w.judge(Context, context, code);
    }),
    ("clGetMemAllocInfoINTEL", 2, |w| {
        let (context, address, question) = (w.handle(Context), passing(w), w.question(0x419A, 6));
        let (size, answer) = (w.size(), w.answer());
        let code = (w.x.usm.clGetMemAllocInfoINTEL)(context, address, question, size, answer, &mut 0);
        w.judge(Context, context, code);
    }),
    ("clEnqueueMemFillINTEL", 1, |w| {
        let (to, pattern, length, size) = (w.shared_pointer(), w.data(), pattern_size(w), w.small());
        let fill = w.x.usm.clEnqueueMemFillINTEL;
        enqueue(w, |_, queue, count, list, event| fill(queue, to, pattern, length, size, count, list, event));
    }),
    ("clEnqueueMemsetINTEL", 1, |w| {
        let (to, value, size, set) = (w.shared_pointer(), w.random.int(), w.small(), w.x.usm.clEnqueueMemsetINTEL);
        enqueue(w, |_, queue, count, list, event| set(queue, to, value, size, count, list, event));
    }),
    ("clEnqueueMemcpyINTEL", 1, |w| {
        let (to, from, size, wait) = (w.shared_pointer(), w.shared_pointer(), w.small(), w.blocking());
        let copy = w.x.usm.clEnqueueMemcpyINTEL;
        enqueue(w, |_, queue, count, list, event| copy(queue, wait, to, from, size, count, list, event));
    }),
    ("clEnqueueMigrateMemINTEL", 1, |w| {
        let (address, size, flags) = (w.shared_pointer(), w.size(), w.bits(&[1, 2]));
        let migrate = w.x.usm.clEnqueueMigrateMemINTEL;
        enqueue(w, |_, queue, count, list, event| migrate(queue, address, size, flags, count, list, event));
    }),
    ("clEnqueueMemAdviseINTEL", 1, |w| {
        let (address, size, advice) = (w.shared_pointer(), w.size(), w.number(&[0, 0x4208, 0x4209]));
        let advise = w.x.usm.clEnqueueMemAdviseINTEL;
        enqueue(w, |_, queue, count, list, event| advise(queue, address, size, advice, count, list, event));
    }),
];

extern "C" fn free(_: cl_command_queue, _: cl_uint, _: *mut *mut c_void, _: *mut c_void) {}

fn alignment(w: &mut World) -> cl_uint {
    w.any(&[0, 0, 1, 4, 64, 128, 256, 3, u32::MAX])
}

fn usm_properties(w: &mut World) -> Vec<u64> {
    w.properties(&[CL_MEM_ALLOC_FLAGS_INTEL, 0x104F, 0], &[0, 1, 2])
}

fn usm(w: &mut World, address: *mut c_void) {
    assert!((w.code == CL_SUCCESS) != address.is_null(), "{} with {address:?}", w.code);
    allocated(w, address);
}

fn allocated(w: &mut World, address: *mut c_void) {
    if address.is_null() {
        return;
    }
    w.successes += 1;
    assert!(!w.shared.contains(&address.addr()), "memory in use was given out");
    w.passing.push(address);
    if w.passing.len() > 64 {
        let address = w.passing.remove(0);
        let context = w.live(Context);
        (w.d.clSVMFree)(context, address);
    }
}

/// Memory that is or was allocated, or none that was.
fn passing(w: &mut World) -> *mut c_void {
    if w.passing.is_empty() || w.once_in(10) {
        return w.data();
    }
    let index = w.below(w.passing.len());
    let address = w.passing[index];
    if w.once_in(20) { address.wrapping_byte_add(1) } else { address }
}
