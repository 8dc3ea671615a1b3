//! Buffers for more memory than there is. In a process of its own: while it has everything, others get nothing.

use lockstep_conformance::loader::{cl, device};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Context, code_name, info};
use std::ptr;

#[test]
fn too_much_memory() {
    let context = Context::new();
    let total: u64 = info::value(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_MAX_MEM_ALLOC_SIZE, size, value, returned)
    });
    // Memory that is never touched costs nothing, so this asks for much more than there is: at some point the driver
    // may say no, with the right code; it must not fall over.
    let mut buffers = vec![];
    for _ in 0..64 {
        match context.try_buffer(CL_MEM_READ_WRITE, total as usize, ptr::null_mut()) {
            Ok(buffer) => buffers.push(buffer),
            Err(code) => {
                let codes = [CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY];
                assert!(codes.contains(&code), "{}", code_name(code));
                break;
            }
        }
    }
    drop(buffers);
    drop(context.zeros::<u8>(64));
}
