//! Buffers: creation, queries, and all commands on them; and what all memory objects have.

use std::ptr;

use lockstep_conformance::opencl_sys::*;

use super::table::{NO_EVENT, NONE, Row, at, created};
use super::world::memory;

extern "C" fn gone(_: cl_mem, _: *mut std::ffi::c_void) {}

const REGION: cl_buffer_create_type = CL_BUFFER_CREATE_TYPE_REGION;
const ADDRESS: cl_mem_properties = CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT;

fn region(origin: usize, size: usize) -> cl_buffer_region {
    cl_buffer_region { origin, size }
}

rows! { |w|
    d.clCreateBuffer: new (w.context, CL_MEM_COPY_HOST_PTR, 64, memory()) {
        CL_INVALID_CONTEXT "no context": (ptr::null_mut(), 0, 64, ptr::null_mut());
        CL_INVALID_VALUE "an unknown flag": (w.context, 1 << 40, 64, ptr::null_mut());
        CL_INVALID_VALUE "flags that exclude each other":
            (w.context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 64, ptr::null_mut());
        CL_INVALID_VALUE "memory of the host's and the driver's":
            (w.context, CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR, 64, memory());
        CL_INVALID_VALUE "host flags that exclude each other":
            (w.context, CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_READ_ONLY, 64, ptr::null_mut());
        CL_INVALID_BUFFER_SIZE "no size": (w.context, 0, 0, ptr::null_mut());
        CL_INVALID_BUFFER_SIZE "more than the allocation": (w.context, CL_MEM_USE_HOST_PTR, 257, w.shared);
        CL_INVALID_HOST_PTR "no pointer to use": (w.context, CL_MEM_USE_HOST_PTR, 64, ptr::null_mut());
        CL_INVALID_HOST_PTR "no pointer to copy from": (w.context, CL_MEM_COPY_HOST_PTR, 64, ptr::null_mut());
        CL_INVALID_HOST_PTR "a pointer without use": (w.context, 0, 64, memory());
    }
    d.clCreateBufferWithProperties: new (w.context, [ADDRESS, 1, 0].as_ptr(), 0, 64, ptr::null_mut()) {
        CL_INVALID_CONTEXT "no context": (ptr::null_mut(), ptr::null(), 0, 64, ptr::null_mut());
        CL_INVALID_PROPERTY "an unknown property": (w.context, [0x7FFF, 1, 0].as_ptr(), 0, 64, ptr::null_mut());
        CL_INVALID_PROPERTY "a property of no such value": (w.context, [ADDRESS, 7, 0].as_ptr(), 0, 64, ptr::null_mut());
        CL_INVALID_PROPERTY "a property given twice":
            (w.context, [ADDRESS, 1, ADDRESS, 1, 0].as_ptr(), 0, 64, ptr::null_mut());
        CL_INVALID_VALUE "an unknown flag": (w.context, ptr::null(), 1 << 40, 64, ptr::null_mut());
        CL_INVALID_BUFFER_SIZE "no size": (w.context, ptr::null(), 0, 0, ptr::null_mut());
        CL_INVALID_HOST_PTR "a pointer without use": (w.context, ptr::null(), 0, 64, memory());
    }
    d.clCreateSubBuffer: new (w.buffer, 0, REGION, at(&region(0, 32))) {
        CL_INVALID_MEM_OBJECT "no buffer": (ptr::null_mut(), 0, REGION, at(&region(0, 32)));
        CL_INVALID_MEM_OBJECT "a sub-buffer": (w.parts[0], 0, REGION, at(&region(0, 32)));
        CL_INVALID_MEM_OBJECT "an image": (w.image, 0, REGION, at(&region(0, 32)));
        CL_INVALID_VALUE "memory to write of a buffer to read": (w.read_only, CL_MEM_WRITE_ONLY, REGION, at(&region(0, 32)));
        CL_INVALID_VALUE "memory to read of a buffer to write": (w.write_only, CL_MEM_READ_ONLY, REGION, at(&region(0, 32)));
        CL_INVALID_VALUE "memory for both of a buffer to write":
            (w.write_only, CL_MEM_READ_WRITE, REGION, at(&region(0, 32)));
        CL_INVALID_VALUE "host reads of a buffer that the host writes":
            (w.host_writes, CL_MEM_HOST_READ_ONLY, REGION, at(&region(0, 32)));
        CL_INVALID_VALUE "host writes of a buffer that the host reads":
            (w.host_reads, CL_MEM_HOST_WRITE_ONLY, REGION, at(&region(0, 32)));
        CL_INVALID_VALUE "host reads of a hidden buffer":
            (w.hidden, CL_MEM_HOST_READ_ONLY, REGION, at(&region(0, 32)));
        CL_INVALID_VALUE "host memory": (w.buffer, CL_MEM_USE_HOST_PTR, REGION, at(&region(0, 32)));
        CL_INVALID_VALUE "memory of its own": (w.buffer, CL_MEM_ALLOC_HOST_PTR, REGION, at(&region(0, 32)));
        CL_INVALID_VALUE "a copy": (w.buffer, CL_MEM_COPY_HOST_PTR, REGION, at(&region(0, 32)));
        CL_INVALID_VALUE "an unknown type": (w.buffer, 0, 0x7FFF, at(&region(0, 32)));
        CL_INVALID_VALUE "no region": (w.buffer, 0, REGION, ptr::null());
        CL_INVALID_VALUE "a region that ends outside": (w.buffer, 0, REGION, at(&region(0, 65)));
        CL_INVALID_VALUE "a region that begins outside": (w.buffer, 0, REGION, at(&region(128, 1)));
        CL_INVALID_VALUE "a region that wraps": (w.buffer, 0, REGION, at(&region(usize::MAX - 127, 192)));
        CL_INVALID_BUFFER_SIZE "no size": (w.buffer, 0, REGION, at(&region(0, 0)));
        CL_MISALIGNED_SUB_BUFFER_OFFSET "an odd beginning": (w.buffer, 0, REGION, at(&region(1, 8)));
    }
    d.clRetainMemObject: code (w.buffer) { CL_INVALID_MEM_OBJECT "no object": (ptr::null_mut()); }
    d.clReleaseMemObject: code (w.buffer) { CL_INVALID_MEM_OBJECT "no object": (ptr::null_mut()); }
    d.clSetMemObjectDestructorCallback: code (w.buffer, Some(gone), ptr::null_mut()) {
        CL_INVALID_MEM_OBJECT "no object": (ptr::null_mut(), Some(gone), ptr::null_mut());
        CL_INVALID_VALUE "no function": (w.buffer, None, ptr::null_mut());
    }
    d.clGetMemObjectInfo: info (w.buffer => CL_MEM_SIZE) {
        CL_INVALID_MEM_OBJECT "no object": (ptr::null_mut() => CL_MEM_SIZE);
        CL_INVALID_OPERATION "the address of a buffer without one": (w.buffer => CL_MEM_DEVICE_ADDRESS_EXT);
    }
    d.clEnqueueReadBuffer: blocking (w.buffer, CL_TRUE, 0, 64, memory()) {
        CL_INVALID_MEM_OBJECT "no buffer": (ptr::null_mut(), CL_TRUE, 0, 64, memory());
        CL_INVALID_MEM_OBJECT "an image": (w.image, CL_TRUE, 0, 64, memory());
        CL_INVALID_CONTEXT "a buffer of another context": (w.other.buffer, CL_TRUE, 0, 64, memory());
        CL_INVALID_VALUE "an end outside": (w.buffer, CL_TRUE, 8, 57, memory());
        CL_INVALID_VALUE "a range that wraps": (w.buffer, CL_TRUE, usize::MAX, 2, memory());
        CL_INVALID_VALUE "no pointer": (w.buffer, CL_TRUE, 0, 64, ptr::null_mut());
        CL_INVALID_OPERATION "a hidden buffer": (w.hidden, CL_TRUE, 0, 64, memory());
        CL_INVALID_OPERATION "a buffer that the host writes": (w.host_writes, CL_TRUE, 0, 64, memory());
    }
    d.clEnqueueWriteBuffer: blocking (w.buffer, CL_TRUE, 0, 64, memory()) {
        CL_INVALID_MEM_OBJECT "no buffer": (ptr::null_mut(), CL_TRUE, 0, 64, memory());
        CL_INVALID_MEM_OBJECT "an image": (w.image, CL_TRUE, 0, 64, memory());
        CL_INVALID_CONTEXT "a buffer of another context": (w.other.buffer, CL_TRUE, 0, 64, memory());
        CL_INVALID_VALUE "an end outside": (w.buffer, CL_TRUE, 8, 57, memory());
        CL_INVALID_VALUE "a range that wraps": (w.buffer, CL_TRUE, usize::MAX, 2, memory());
        CL_INVALID_VALUE "no pointer": (w.buffer, CL_TRUE, 0, 64, ptr::null_mut());
        CL_INVALID_OPERATION "a hidden buffer": (w.hidden, CL_TRUE, 0, 64, memory());
        CL_INVALID_OPERATION "a buffer that the host reads": (w.host_reads, CL_TRUE, 0, 64, memory());
    }
    d.clEnqueueReadBufferRect: blocking
        (w.buffer, CL_TRUE, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 4].as_ptr(), 4, 16, 4, 16, memory()) {
        CL_INVALID_MEM_OBJECT "no buffer":
            (ptr::null_mut(), CL_TRUE, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 1].as_ptr(), 0, 0, 0, 0, memory());
        CL_INVALID_CONTEXT "a buffer of another context":
            (w.other.buffer, CL_TRUE, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 1].as_ptr(), 0, 0, 0, 0, memory());
        CL_INVALID_VALUE "no origin in the buffer":
            (w.buffer, CL_TRUE, ptr::null(), [0; 3].as_ptr(), [4, 4, 1].as_ptr(), 0, 0, 0, 0, memory());
        CL_INVALID_VALUE "no origin in the host's memory":
            (w.buffer, CL_TRUE, [0; 3].as_ptr(), ptr::null(), [4, 4, 1].as_ptr(), 0, 0, 0, 0, memory());
        CL_INVALID_VALUE "no region":
            (w.buffer, CL_TRUE, [0; 3].as_ptr(), [0; 3].as_ptr(), ptr::null(), 0, 0, 0, 0, memory());
        CL_INVALID_VALUE "a region outside":
            (w.buffer, CL_TRUE, [0, 0, 1].as_ptr(), [0; 3].as_ptr(), [4, 4, 4].as_ptr(), 0, 0, 0, 0, memory());
        CL_INVALID_VALUE "a region that wraps":
            (w.buffer, CL_TRUE, [0, 0, usize::MAX].as_ptr(), [0; 3].as_ptr(), [4, 4, 4].as_ptr(), 0, 0, 0, 0, memory());
        CL_INVALID_VALUE "a region of no rows":
            (w.buffer, CL_TRUE, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 0, 1].as_ptr(), 0, 0, 0, 0, memory());
        CL_INVALID_VALUE "a row pitch less than the region":
            (w.buffer, CL_TRUE, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 1].as_ptr(), 3, 0, 0, 0, memory());
        CL_INVALID_VALUE "a slice pitch less than the region":
            (w.buffer, CL_TRUE, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 1].as_ptr(), 4, 12, 0, 0, memory());
        CL_INVALID_VALUE "a slice pitch between rows":
            (w.buffer, CL_TRUE, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 1].as_ptr(), 4, 18, 0, 0, memory());
        CL_INVALID_VALUE "a row pitch of the host's less than the region":
            (w.buffer, CL_TRUE, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 1].as_ptr(), 0, 0, 3, 0, memory());
        CL_INVALID_VALUE "a slice pitch of the host's less than the region":
            (w.buffer, CL_TRUE, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 1].as_ptr(), 0, 0, 4, 12, memory());
        CL_INVALID_VALUE "a slice pitch of the host's between rows":
            (w.buffer, CL_TRUE, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 1].as_ptr(), 0, 0, 4, 18, memory());
        CL_INVALID_VALUE "no pointer":
            (w.buffer, CL_TRUE, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 1].as_ptr(), 0, 0, 0, 0, ptr::null_mut());
        CL_INVALID_OPERATION "a hidden buffer":
            (w.hidden, CL_TRUE, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 1].as_ptr(), 0, 0, 0, 0, memory());
        CL_INVALID_OPERATION "a buffer that the host writes":
            (w.host_writes, CL_TRUE, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 1].as_ptr(), 0, 0, 0, 0, memory());
    }
    d.clEnqueueWriteBufferRect: blocking
        (w.buffer, CL_TRUE, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 4].as_ptr(), 4, 16, 4, 16, memory()) {
        CL_INVALID_MEM_OBJECT "no buffer":
            (ptr::null_mut(), CL_TRUE, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 1].as_ptr(), 0, 0, 0, 0, memory());
        CL_INVALID_VALUE "no origin in the buffer":
            (w.buffer, CL_TRUE, ptr::null(), [0; 3].as_ptr(), [4, 4, 1].as_ptr(), 0, 0, 0, 0, memory());
        CL_INVALID_VALUE "no origin in the host's memory":
            (w.buffer, CL_TRUE, [0; 3].as_ptr(), ptr::null(), [4, 4, 1].as_ptr(), 0, 0, 0, 0, memory());
        CL_INVALID_VALUE "no region":
            (w.buffer, CL_TRUE, [0; 3].as_ptr(), [0; 3].as_ptr(), ptr::null(), 0, 0, 0, 0, memory());
        CL_INVALID_VALUE "a region outside":
            (w.buffer, CL_TRUE, [0, 0, 1].as_ptr(), [0; 3].as_ptr(), [4, 4, 4].as_ptr(), 0, 0, 0, 0, memory());
        CL_INVALID_VALUE "a region of no slices":
            (w.buffer, CL_TRUE, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 0].as_ptr(), 0, 0, 0, 0, memory());
        CL_INVALID_VALUE "a row pitch less than the region":
            (w.buffer, CL_TRUE, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 1].as_ptr(), 3, 0, 0, 0, memory());
        CL_INVALID_VALUE "a slice pitch of the host's between rows":
            (w.buffer, CL_TRUE, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 1].as_ptr(), 0, 0, 4, 18, memory());
        CL_INVALID_VALUE "no pointer":
            (w.buffer, CL_TRUE, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 1].as_ptr(), 0, 0, 0, 0, ptr::null_mut());
        CL_INVALID_OPERATION "a hidden buffer":
            (w.hidden, CL_TRUE, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 1].as_ptr(), 0, 0, 0, 0, memory());
        CL_INVALID_OPERATION "a buffer that the host reads":
            (w.host_reads, CL_TRUE, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 1].as_ptr(), 0, 0, 0, 0, memory());
    }
    d.clEnqueueCopyBuffer: command (w.buffer, w.target, 0, 0, 64) {
        CL_INVALID_MEM_OBJECT "no source": (ptr::null_mut(), w.target, 0, 0, 64);
        CL_INVALID_MEM_OBJECT "no target": (w.buffer, ptr::null_mut(), 0, 0, 64);
        CL_INVALID_CONTEXT "a source of another context": (w.other.buffer, w.target, 0, 0, 64);
        CL_INVALID_CONTEXT "a target of another context": (w.buffer, w.other.buffer, 0, 0, 64);
        CL_INVALID_VALUE "a source that ends outside": (w.buffer, w.target, 1, 0, 64);
        CL_INVALID_VALUE "a target that ends outside": (w.buffer, w.target, 0, 1, 64);
        CL_INVALID_VALUE "a source that wraps": (w.buffer, w.target, usize::MAX, 0, 2);
        CL_MEM_COPY_OVERLAP "a range on itself": (w.buffer, w.buffer, 0, 8, 16);
        CL_MEM_COPY_OVERLAP "parts of one buffer that overlap": (w.parts[0], w.parts[1], 256, 0, 16);
    }
    d.clEnqueueCopyBufferRect: command
        (w.buffer, w.target, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 4].as_ptr(), 4, 16, 4, 16) {
        CL_INVALID_MEM_OBJECT "no source":
            (ptr::null_mut(), w.target, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 1].as_ptr(), 0, 0, 0, 0);
        CL_INVALID_MEM_OBJECT "no target":
            (w.buffer, ptr::null_mut(), [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 1].as_ptr(), 0, 0, 0, 0);
        CL_INVALID_CONTEXT "a target of another context":
            (w.buffer, w.other.buffer, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 1].as_ptr(), 0, 0, 0, 0);
        CL_INVALID_VALUE "no origin in the source":
            (w.buffer, w.target, ptr::null(), [0; 3].as_ptr(), [4, 4, 1].as_ptr(), 0, 0, 0, 0);
        CL_INVALID_VALUE "no origin in the target":
            (w.buffer, w.target, [0; 3].as_ptr(), ptr::null(), [4, 4, 1].as_ptr(), 0, 0, 0, 0);
        CL_INVALID_VALUE "no region": (w.buffer, w.target, [0; 3].as_ptr(), [0; 3].as_ptr(), ptr::null(), 0, 0, 0, 0);
        CL_INVALID_VALUE "a source outside":
            (w.buffer, w.target, [1, 0, 0].as_ptr(), [0; 3].as_ptr(), [4, 4, 4].as_ptr(), 4, 16, 4, 16);
        CL_INVALID_VALUE "a target outside":
            (w.buffer, w.target, [0; 3].as_ptr(), [0, 1, 0].as_ptr(), [4, 4, 4].as_ptr(), 4, 16, 4, 16);
        CL_INVALID_VALUE "a region of no width":
            (w.buffer, w.target, [0; 3].as_ptr(), [0; 3].as_ptr(), [0, 4, 4].as_ptr(), 0, 0, 0, 0);
        CL_INVALID_VALUE "a row pitch of the source less than the region":
            (w.buffer, w.target, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 1].as_ptr(), 3, 0, 0, 0);
        CL_INVALID_VALUE "a slice pitch of the source less than the region":
            (w.buffer, w.target, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 1].as_ptr(), 4, 12, 0, 0);
        CL_INVALID_VALUE "a slice pitch of the source between rows":
            (w.buffer, w.target, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 1].as_ptr(), 4, 18, 0, 0);
        CL_INVALID_VALUE "a row pitch of the target less than the region":
            (w.buffer, w.target, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 1].as_ptr(), 0, 0, 3, 0);
        CL_INVALID_VALUE "a slice pitch of the target less than the region":
            (w.buffer, w.target, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 1].as_ptr(), 0, 0, 4, 12);
        CL_INVALID_VALUE "a slice pitch of the target between rows":
            (w.buffer, w.target, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 1].as_ptr(), 0, 0, 4, 18);
        CL_INVALID_VALUE "two row pitches of one buffer":
            (w.buffer, w.buffer, [0; 3].as_ptr(), [0, 0, 1].as_ptr(), [2, 2, 1].as_ptr(), 4, 16, 8, 16);
        CL_INVALID_VALUE "two slice pitches of one buffer":
            (w.buffer, w.buffer, [0; 3].as_ptr(), [0, 0, 1].as_ptr(), [2, 2, 1].as_ptr(), 4, 16, 4, 32);
        CL_MEM_COPY_OVERLAP "a region on itself":
            (w.buffer, w.buffer, [0; 3].as_ptr(), [1, 0, 0].as_ptr(), [2, 2, 1].as_ptr(), 4, 16, 4, 16);
        CL_MEM_COPY_OVERLAP "parts of one buffer that overlap":
            (w.parts[0], w.parts[1], [0, 64, 0].as_ptr(), [0; 3].as_ptr(), [4, 4, 1].as_ptr(), 4, 0, 4, 0);
    }
    d.clEnqueueFillBuffer: command (w.target, memory(), 4, 0, 64) {
        CL_INVALID_MEM_OBJECT "no buffer": (ptr::null_mut(), memory(), 4, 0, 64);
        CL_INVALID_MEM_OBJECT "an image": (w.image, memory(), 4, 0, 64);
        CL_INVALID_CONTEXT "a buffer of another context": (w.other.buffer, memory(), 4, 0, 64);
        CL_INVALID_VALUE "an end outside": (w.target, memory(), 4, 4, 64);
        CL_INVALID_VALUE "a range that wraps": (w.target, memory(), 4, usize::MAX - 3, 8);
        CL_INVALID_VALUE "no pattern": (w.target, ptr::null(), 4, 0, 64);
        CL_INVALID_VALUE "a pattern of no size": (w.target, memory(), 0, 0, 64);
        CL_INVALID_VALUE "a pattern of an odd size": (w.target, memory(), 3, 0, 63);
        CL_INVALID_VALUE "a pattern that is too large": (w.parts[0], memory(), 256, 0, 256);
        CL_INVALID_VALUE "a beginning within a pattern": (w.target, memory(), 4, 2, 8);
        CL_INVALID_VALUE "an end within a pattern": (w.target, memory(), 4, 0, 6);
    }
    d.clEnqueueMapBuffer: map (w.buffer, CL_TRUE, CL_MAP_READ, 0, 64) {
        CL_INVALID_MEM_OBJECT "no buffer": (ptr::null_mut(), CL_TRUE, CL_MAP_READ, 0, 64);
        CL_INVALID_MEM_OBJECT "an image": (w.image, CL_TRUE, CL_MAP_READ, 0, 64);
        CL_INVALID_CONTEXT "a buffer of another context": (w.other.buffer, CL_TRUE, CL_MAP_READ, 0, 64);
        CL_INVALID_VALUE "an end outside": (w.buffer, CL_TRUE, CL_MAP_READ, 1, 64);
        CL_INVALID_VALUE "a range that wraps": (w.buffer, CL_TRUE, CL_MAP_READ, usize::MAX, 2);
        CL_INVALID_VALUE "no size": (w.buffer, CL_TRUE, CL_MAP_READ, 0, 0);
        CL_INVALID_VALUE "unknown flags": (w.buffer, CL_TRUE, 1 << 20, 0, 64);
        CL_INVALID_VALUE "flags that exclude each other":
            (w.buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION, 0, 64);
        CL_INVALID_OPERATION "a hidden buffer to read": (w.hidden, CL_TRUE, CL_MAP_READ, 0, 64);
        CL_INVALID_OPERATION "a hidden buffer to write": (w.hidden, CL_TRUE, CL_MAP_WRITE, 0, 64);
        CL_INVALID_OPERATION "reads of a buffer that the host writes": (w.host_writes, CL_TRUE, CL_MAP_READ, 0, 64);
        CL_INVALID_OPERATION "writes of a buffer that the host reads": (w.host_reads, CL_TRUE, CL_MAP_WRITE, 0, 64);
        CL_INVALID_OPERATION "new contents of a buffer that the host reads":
            (w.host_reads, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0, 64);
    }
    d.clEnqueueUnmapMemObject: command (w.buffer, w.mapped) {
        CL_INVALID_MEM_OBJECT "no object": (ptr::null_mut(), w.mapped);
        CL_INVALID_MEM_OBJECT "a pipe": (w.pipe, w.mapped);
        CL_INVALID_CONTEXT "a buffer of another context": (w.other.buffer, w.mapped);
        CL_INVALID_VALUE "a pointer that is no map": (w.buffer, memory());
        CL_INVALID_VALUE "a map of another object": (w.target, w.mapped);
        CL_INVALID_VALUE "no pointer": (w.buffer, ptr::null_mut());
    }
    d.clEnqueueMigrateMemObjects: command (1, &w.buffer, CL_MIGRATE_MEM_OBJECT_HOST) {
        CL_INVALID_MEM_OBJECT "an object that is none": (2, [w.buffer, ptr::null_mut()].as_ptr(), 0);
        CL_INVALID_CONTEXT "an object of another context": (2, [w.buffer, w.other.buffer].as_ptr(), 0);
        CL_INVALID_VALUE "an empty list": (0, &w.buffer, 0);
        CL_INVALID_VALUE "no list": (1, ptr::null(), 0);
        CL_INVALID_VALUE "unknown flags": (1, &w.buffer, 1 << 20);
    }
}
