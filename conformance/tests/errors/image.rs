//! Images: creation, queries, and all commands on them.

use std::ptr;

use lockstep_conformance::opencl_sys::*;

use super::table::{NO_EVENT, NONE, Row, at, created};
use super::world::{FORMAT, INVALID, SQUARE, UNSUPPORTED, World, desc, memory};

const PLANE: cl_mem_object_type = CL_MEM_OBJECT_IMAGE2D;

/// A square image of the object's bytes.
fn of(buffer: cl_mem) -> cl_image_desc {
    cl_image_desc { buffer, ..desc(PLANE, SQUARE) }
}

/// An image of 16 elements in the object's bytes.
fn line(buffer: cl_mem) -> cl_image_desc {
    cl_image_desc { buffer, ..desc(CL_MEM_OBJECT_IMAGE1D_BUFFER, [16, 1, 1]) }
}

/// A square image with pitches.
fn pitched(row: usize, slice: usize) -> cl_image_desc {
    cl_image_desc { image_row_pitch: row, image_slice_pitch: slice, ..desc(PLANE, SQUARE) }
}

/// An image whose rows end within an element.
fn odd_rows(w: &World) -> cl_image_desc {
    cl_image_desc { image_row_pitch: 17, ..of(w.parts[0]) }
}

rows! { |w|
    d.clCreateImage: new (w.context, 0, &FORMAT, &desc(PLANE, SQUARE), ptr::null_mut()) {
        CL_INVALID_CONTEXT "no context": (ptr::null_mut(), 0, &FORMAT, &desc(PLANE, SQUARE), ptr::null_mut());
        CL_INVALID_VALUE "an unknown flag": (w.context, 1 << 40, &FORMAT, &desc(PLANE, SQUARE), ptr::null_mut());
        CL_INVALID_VALUE "flags that exclude each other":
            (w.context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, &FORMAT, &desc(PLANE, SQUARE), ptr::null_mut());
        CL_INVALID_VALUE "an image to write of a buffer to read":
            (w.context, CL_MEM_WRITE_ONLY, &FORMAT, &line(w.read_only), ptr::null_mut());
        CL_INVALID_VALUE "an image to read of a buffer to write":
            (w.context, CL_MEM_READ_ONLY, &FORMAT, &line(w.write_only), ptr::null_mut());
        CL_INVALID_VALUE "host memory for a buffer's image":
            (w.context, CL_MEM_USE_HOST_PTR, &FORMAT, &line(w.buffer), memory());
        CL_INVALID_VALUE "memory of its own for a buffer's image":
            (w.context, CL_MEM_ALLOC_HOST_PTR, &FORMAT, &line(w.buffer), ptr::null_mut());
        CL_INVALID_VALUE "host reads of a buffer that the host writes":
            (w.context, CL_MEM_HOST_READ_ONLY, &FORMAT, &line(w.host_writes), ptr::null_mut());
        CL_INVALID_VALUE "host writes of a buffer that the host reads":
            (w.context, CL_MEM_HOST_WRITE_ONLY, &FORMAT, &line(w.host_reads), ptr::null_mut());
        CL_INVALID_VALUE "host reads of a hidden buffer":
            (w.context, CL_MEM_HOST_READ_ONLY, &FORMAT, &line(w.hidden), ptr::null_mut());
        CL_INVALID_IMAGE_FORMAT_DESCRIPTOR "no format":
            (w.context, 0, ptr::null(), &desc(PLANE, SQUARE), ptr::null_mut());
        CL_INVALID_IMAGE_FORMAT_DESCRIPTOR "an order and a type that do not go together":
            (w.context, 0, &INVALID, &desc(PLANE, SQUARE), ptr::null_mut());
        CL_INVALID_IMAGE_FORMAT_DESCRIPTOR "rows between elements of a buffer":
            (w.context, 0, &FORMAT, &odd_rows(w), ptr::null_mut());
        CL_INVALID_IMAGE_DESCRIPTOR "no description": (w.context, 0, &FORMAT, ptr::null(), ptr::null_mut());
        CL_INVALID_IMAGE_DESCRIPTOR "an unknown type":
            (w.context, 0, &FORMAT, &desc(0x7FFF, SQUARE), ptr::null_mut());
        CL_INVALID_IMAGE_DESCRIPTOR "a buffer's type":
            (w.context, 0, &FORMAT, &desc(CL_MEM_OBJECT_BUFFER, SQUARE), ptr::null_mut());
        CL_INVALID_IMAGE_DESCRIPTOR "an image of a buffer without one":
            (w.context, 0, &FORMAT, &desc(CL_MEM_OBJECT_IMAGE1D_BUFFER, SQUARE), ptr::null_mut());
        CL_INVALID_IMAGE_DESCRIPTOR "a volume of a buffer":
            (w.context, 0, &FORMAT, &cl_image_desc { buffer: w.buffer, ..desc(CL_MEM_OBJECT_IMAGE3D, [2, 2, 2]) }, ptr::null_mut());
        CL_INVALID_IMAGE_DESCRIPTOR "an image of what is no object":
            (w.context, 0, &FORMAT, &line(w.queue.cast()), ptr::null_mut());
        CL_INVALID_IMAGE_DESCRIPTOR "an image of a pipe": (w.context, 0, &FORMAT, &line(w.pipe), ptr::null_mut());
        CL_INVALID_IMAGE_DESCRIPTOR "samples":
            (w.context, 0, &FORMAT, &cl_image_desc { num_samples: 2, ..desc(PLANE, SQUARE) }, ptr::null_mut());
        CL_INVALID_IMAGE_DESCRIPTOR "levels":
            (w.context, 0, &FORMAT, &cl_image_desc { num_mip_levels: 2, ..desc(PLANE, SQUARE) }, ptr::null_mut());
        CL_INVALID_IMAGE_DESCRIPTOR "a row pitch without a pointer":
            (w.context, 0, &FORMAT, &pitched(16, 0), ptr::null_mut());
        CL_INVALID_IMAGE_DESCRIPTOR "rows less than the width":
            (w.context, CL_MEM_USE_HOST_PTR, &FORMAT, &pitched(12, 0), memory());
        CL_INVALID_IMAGE_DESCRIPTOR "rows that end within an element":
            (w.context, CL_MEM_USE_HOST_PTR, &FORMAT, &pitched(17, 0), memory());
        CL_INVALID_IMAGE_SIZE "no width": (w.context, 0, &FORMAT, &desc(PLANE, [0, 4, 1]), ptr::null_mut());
        CL_INVALID_IMAGE_SIZE "no height": (w.context, 0, &FORMAT, &desc(PLANE, [4, 0, 1]), ptr::null_mut());
        CL_INVALID_IMAGE_SIZE "too much width": (w.context, 0, &FORMAT, &desc(PLANE, [1 << 31, 4, 1]), ptr::null_mut());
        CL_INVALID_IMAGE_SIZE "no layers":
            (w.context, 0, &FORMAT, &desc(CL_MEM_OBJECT_IMAGE2D_ARRAY, [4, 4, 0]), ptr::null_mut());
        CL_INVALID_HOST_PTR "no pointer to use":
            (w.context, CL_MEM_USE_HOST_PTR, &FORMAT, &desc(PLANE, SQUARE), ptr::null_mut());
        CL_INVALID_HOST_PTR "no pointer to copy from":
            (w.context, CL_MEM_COPY_HOST_PTR, &FORMAT, &desc(PLANE, SQUARE), ptr::null_mut());
        CL_INVALID_HOST_PTR "a pointer without use": (w.context, 0, &FORMAT, &desc(PLANE, SQUARE), memory());
        CL_IMAGE_FORMAT_NOT_SUPPORTED "a format that is not there":
            (w.context, 0, &UNSUPPORTED, &desc(PLANE, SQUARE), ptr::null_mut());
    }
    d.clCreateImageWithProperties: new (w.context, ptr::null(), 0, &FORMAT, &desc(PLANE, SQUARE), ptr::null_mut()) {
        CL_INVALID_CONTEXT "no context":
            (ptr::null_mut(), ptr::null(), 0, &FORMAT, &desc(PLANE, SQUARE), ptr::null_mut());
        CL_INVALID_PROPERTY "an unknown property":
            (w.context, [0x7FFF, 1, 0].as_ptr(), 0, &FORMAT, &desc(PLANE, SQUARE), ptr::null_mut());
        CL_INVALID_VALUE "an unknown flag":
            (w.context, ptr::null(), 1 << 40, &FORMAT, &desc(PLANE, SQUARE), ptr::null_mut());
        CL_INVALID_IMAGE_FORMAT_DESCRIPTOR "no format":
            (w.context, ptr::null(), 0, ptr::null(), &desc(PLANE, SQUARE), ptr::null_mut());
        CL_INVALID_IMAGE_DESCRIPTOR "no description":
            (w.context, ptr::null(), 0, &FORMAT, ptr::null(), ptr::null_mut());
        CL_INVALID_IMAGE_SIZE "no width":
            (w.context, ptr::null(), 0, &FORMAT, &desc(PLANE, [0, 4, 1]), ptr::null_mut());
        CL_INVALID_HOST_PTR "a pointer without use":
            (w.context, ptr::null(), 0, &FORMAT, &desc(PLANE, SQUARE), memory());
        CL_IMAGE_FORMAT_NOT_SUPPORTED "a format that is not there":
            (w.context, ptr::null(), 0, &UNSUPPORTED, &desc(PLANE, SQUARE), ptr::null_mut());
    }
    d.clCreateImage2D: new (w.context, 0, &FORMAT, 4, 4, 0, ptr::null_mut()) {
        CL_INVALID_CONTEXT "no context": (ptr::null_mut(), 0, &FORMAT, 4, 4, 0, ptr::null_mut());
        CL_INVALID_VALUE "an unknown flag": (w.context, 1 << 40, &FORMAT, 4, 4, 0, ptr::null_mut());
        CL_INVALID_IMAGE_FORMAT_DESCRIPTOR "no format": (w.context, 0, ptr::null(), 4, 4, 0, ptr::null_mut());
        CL_INVALID_IMAGE_FORMAT_DESCRIPTOR "an order and a type that do not go together":
            (w.context, 0, &INVALID, 4, 4, 0, ptr::null_mut());
        CL_INVALID_IMAGE_SIZE "no width": (w.context, 0, &FORMAT, 0, 4, 0, ptr::null_mut());
        CL_INVALID_IMAGE_SIZE "no height": (w.context, 0, &FORMAT, 4, 0, 0, ptr::null_mut());
        CL_INVALID_IMAGE_SIZE "too much height": (w.context, 0, &FORMAT, 4, 1 << 31, 0, ptr::null_mut());
        CL_INVALID_IMAGE_SIZE "rows less than the width": (w.context, CL_MEM_USE_HOST_PTR, &FORMAT, 4, 4, 12, memory());
        CL_INVALID_IMAGE_SIZE "a row pitch without a pointer": (w.context, 0, &FORMAT, 4, 4, 16, ptr::null_mut());
        CL_INVALID_HOST_PTR "no pointer to use": (w.context, CL_MEM_USE_HOST_PTR, &FORMAT, 4, 4, 0, ptr::null_mut());
        CL_INVALID_HOST_PTR "a pointer without use": (w.context, 0, &FORMAT, 4, 4, 0, memory());
        CL_IMAGE_FORMAT_NOT_SUPPORTED "a format that is not there":
            (w.context, 0, &UNSUPPORTED, 4, 4, 0, ptr::null_mut());
    }
    d.clCreateImage3D: new (w.context, 0, &FORMAT, 4, 4, 4, 0, 0, ptr::null_mut()) {
        CL_INVALID_CONTEXT "no context": (ptr::null_mut(), 0, &FORMAT, 4, 4, 4, 0, 0, ptr::null_mut());
        CL_INVALID_VALUE "an unknown flag": (w.context, 1 << 40, &FORMAT, 4, 4, 4, 0, 0, ptr::null_mut());
        CL_INVALID_IMAGE_FORMAT_DESCRIPTOR "no format": (w.context, 0, ptr::null(), 4, 4, 4, 0, 0, ptr::null_mut());
        CL_INVALID_IMAGE_SIZE "no width": (w.context, 0, &FORMAT, 0, 4, 4, 0, 0, ptr::null_mut());
        CL_INVALID_IMAGE_SIZE "no more depth than a plane": (w.context, 0, &FORMAT, 4, 4, 1, 0, 0, ptr::null_mut());
        CL_INVALID_IMAGE_SIZE "too much depth": (w.context, 0, &FORMAT, 4, 4, 1 << 31, 0, 0, ptr::null_mut());
        CL_INVALID_IMAGE_SIZE "slices less than their rows":
            (w.context, CL_MEM_USE_HOST_PTR, &FORMAT, 4, 4, 4, 16, 48, memory());
        CL_INVALID_HOST_PTR "no pointer to use":
            (w.context, CL_MEM_USE_HOST_PTR, &FORMAT, 4, 4, 4, 0, 0, ptr::null_mut());
        CL_INVALID_HOST_PTR "a pointer without use": (w.context, 0, &FORMAT, 4, 4, 4, 0, 0, memory());
        CL_IMAGE_FORMAT_NOT_SUPPORTED "a format that is not there":
            (w.context, 0, &UNSUPPORTED, 4, 4, 4, 0, 0, ptr::null_mut());
    }
    d.clGetSupportedImageFormats: code (w.context, 0, PLANE, 0, ptr::null_mut(), &mut 0) {
        CL_INVALID_CONTEXT "no context": (ptr::null_mut(), 0, PLANE, 0, ptr::null_mut(), &mut 0);
        CL_INVALID_VALUE "an unknown flag": (w.context, 1 << 40, PLANE, 0, ptr::null_mut(), &mut 0);
        CL_INVALID_VALUE "a buffer's type": (w.context, 0, CL_MEM_OBJECT_BUFFER, 0, ptr::null_mut(), &mut 0);
        CL_INVALID_VALUE "a list without room": (w.context, 0, PLANE, 0, memory().cast(), &mut 0);
    }
    d.clGetImageInfo: info (w.image => CL_IMAGE_WIDTH) {
        CL_INVALID_MEM_OBJECT "no image": (ptr::null_mut() => CL_IMAGE_WIDTH);
        CL_INVALID_MEM_OBJECT "a buffer": (w.buffer => CL_IMAGE_WIDTH);
    }
    d.clEnqueueReadImage: blocking (w.image, CL_TRUE, [0; 3].as_ptr(), SQUARE.as_ptr(), 0, 0, memory()) {
        CL_INVALID_MEM_OBJECT "no image": (ptr::null_mut(), CL_TRUE, [0; 3].as_ptr(), SQUARE.as_ptr(), 0, 0, memory());
        CL_INVALID_MEM_OBJECT "a buffer": (w.buffer, CL_TRUE, [0; 3].as_ptr(), SQUARE.as_ptr(), 0, 0, memory());
        CL_INVALID_CONTEXT "an image of another context":
            (w.other.image, CL_TRUE, [0; 3].as_ptr(), SQUARE.as_ptr(), 0, 0, memory());
        CL_INVALID_VALUE "no origin": (w.image, CL_TRUE, ptr::null(), SQUARE.as_ptr(), 0, 0, memory());
        CL_INVALID_VALUE "no region": (w.image, CL_TRUE, [0; 3].as_ptr(), ptr::null(), 0, 0, memory());
        CL_INVALID_VALUE "a region outside": (w.image, CL_TRUE, [1, 0, 0].as_ptr(), SQUARE.as_ptr(), 0, 0, memory());
        CL_INVALID_VALUE "a region that wraps":
            (w.image, CL_TRUE, [usize::MAX, 0, 0].as_ptr(), SQUARE.as_ptr(), 0, 0, memory());
        CL_INVALID_VALUE "a region of no width": (w.image, CL_TRUE, [0; 3].as_ptr(), [0, 4, 1].as_ptr(), 0, 0, memory());
        CL_INVALID_VALUE "depth in a plane": (w.image, CL_TRUE, [0; 3].as_ptr(), [4, 4, 2].as_ptr(), 0, 0, memory());
        CL_INVALID_VALUE "a place in the depth of a plane":
            (w.image, CL_TRUE, [0, 0, 1].as_ptr(), SQUARE.as_ptr(), 0, 0, memory());
        CL_INVALID_VALUE "rows less than the region":
            (w.image, CL_TRUE, [0; 3].as_ptr(), SQUARE.as_ptr(), 15, 0, memory());
        CL_INVALID_VALUE "slices of a plane": (w.image, CL_TRUE, [0; 3].as_ptr(), SQUARE.as_ptr(), 0, 64, memory());
        CL_INVALID_VALUE "slices less than the region":
            (w.volume, CL_TRUE, [0; 3].as_ptr(), [4, 4, 4].as_ptr(), 0, 63, memory());
        CL_INVALID_VALUE "no pointer": (w.image, CL_TRUE, [0; 3].as_ptr(), SQUARE.as_ptr(), 0, 0, ptr::null_mut());
        CL_INVALID_OPERATION "an image that the host writes":
            (w.image_host_writes, CL_TRUE, [0; 3].as_ptr(), SQUARE.as_ptr(), 0, 0, memory());
    }
    d.clEnqueueWriteImage: blocking (w.image, CL_TRUE, [0; 3].as_ptr(), SQUARE.as_ptr(), 0, 0, memory()) {
        CL_INVALID_MEM_OBJECT "no image": (ptr::null_mut(), CL_TRUE, [0; 3].as_ptr(), SQUARE.as_ptr(), 0, 0, memory());
        CL_INVALID_VALUE "no origin": (w.image, CL_TRUE, ptr::null(), SQUARE.as_ptr(), 0, 0, memory());
        CL_INVALID_VALUE "no region": (w.image, CL_TRUE, [0; 3].as_ptr(), ptr::null(), 0, 0, memory());
        CL_INVALID_VALUE "a region outside": (w.image, CL_TRUE, [0, 1, 0].as_ptr(), SQUARE.as_ptr(), 0, 0, memory());
        CL_INVALID_VALUE "a region of no height": (w.image, CL_TRUE, [0; 3].as_ptr(), [4, 0, 1].as_ptr(), 0, 0, memory());
        CL_INVALID_VALUE "rows less than the region":
            (w.image, CL_TRUE, [0; 3].as_ptr(), SQUARE.as_ptr(), 15, 0, memory());
        CL_INVALID_VALUE "slices of a plane": (w.image, CL_TRUE, [0; 3].as_ptr(), SQUARE.as_ptr(), 0, 64, memory());
        CL_INVALID_VALUE "no pointer": (w.image, CL_TRUE, [0; 3].as_ptr(), SQUARE.as_ptr(), 0, 0, ptr::null());
        CL_INVALID_OPERATION "an image that the host reads":
            (w.image_host_reads, CL_TRUE, [0; 3].as_ptr(), SQUARE.as_ptr(), 0, 0, memory());
    }
    d.clEnqueueCopyImage: command (w.image, w.picture, [0; 3].as_ptr(), [0; 3].as_ptr(), SQUARE.as_ptr()) {
        CL_INVALID_MEM_OBJECT "no source":
            (ptr::null_mut(), w.picture, [0; 3].as_ptr(), [0; 3].as_ptr(), SQUARE.as_ptr());
        CL_INVALID_MEM_OBJECT "a buffer for a target":
            (w.image, w.buffer, [0; 3].as_ptr(), [0; 3].as_ptr(), SQUARE.as_ptr());
        CL_INVALID_CONTEXT "a target of another context":
            (w.image, w.other.image, [0; 3].as_ptr(), [0; 3].as_ptr(), SQUARE.as_ptr());
        CL_IMAGE_FORMAT_MISMATCH "two formats":
            (w.image, w.float_image, [0; 3].as_ptr(), [0; 3].as_ptr(), SQUARE.as_ptr());
        CL_INVALID_VALUE "no origin in the source":
            (w.image, w.picture, ptr::null(), [0; 3].as_ptr(), SQUARE.as_ptr());
        CL_INVALID_VALUE "no origin in the target":
            (w.image, w.picture, [0; 3].as_ptr(), ptr::null(), SQUARE.as_ptr());
        CL_INVALID_VALUE "no region": (w.image, w.picture, [0; 3].as_ptr(), [0; 3].as_ptr(), ptr::null());
        CL_INVALID_VALUE "a source outside":
            (w.image, w.picture, [1, 0, 0].as_ptr(), [0; 3].as_ptr(), SQUARE.as_ptr());
        CL_INVALID_VALUE "a target outside":
            (w.image, w.picture, [0; 3].as_ptr(), [0, 1, 0].as_ptr(), SQUARE.as_ptr());
        CL_INVALID_VALUE "a region of no width":
            (w.image, w.picture, [0; 3].as_ptr(), [0; 3].as_ptr(), [0, 4, 1].as_ptr());
        CL_INVALID_VALUE "depth in a plane":
            (w.image, w.volume, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 2].as_ptr());
        CL_MEM_COPY_OVERLAP "a region on itself":
            (w.image, w.image, [0; 3].as_ptr(), [1, 0, 0].as_ptr(), [2, 2, 1].as_ptr());
    }
    d.clEnqueueFillImage: command (w.image, memory(), [0; 3].as_ptr(), SQUARE.as_ptr()) {
        CL_INVALID_MEM_OBJECT "no image": (ptr::null_mut(), memory(), [0; 3].as_ptr(), SQUARE.as_ptr());
        CL_INVALID_MEM_OBJECT "a buffer": (w.buffer, memory(), [0; 3].as_ptr(), SQUARE.as_ptr());
        CL_INVALID_CONTEXT "an image of another context": (w.other.image, memory(), [0; 3].as_ptr(), SQUARE.as_ptr());
        CL_INVALID_VALUE "no color": (w.image, ptr::null(), [0; 3].as_ptr(), SQUARE.as_ptr());
        CL_INVALID_VALUE "no origin": (w.image, memory(), ptr::null(), SQUARE.as_ptr());
        CL_INVALID_VALUE "no region": (w.image, memory(), [0; 3].as_ptr(), ptr::null());
        CL_INVALID_VALUE "a region outside": (w.image, memory(), [0, 1, 0].as_ptr(), SQUARE.as_ptr());
        CL_INVALID_VALUE "a region of no width": (w.image, memory(), [0; 3].as_ptr(), [0, 4, 1].as_ptr());
        CL_INVALID_VALUE "depth in a plane": (w.image, memory(), [0; 3].as_ptr(), [4, 4, 2].as_ptr());
    }
    d.clEnqueueCopyImageToBuffer: command (w.image, w.target, [0; 3].as_ptr(), SQUARE.as_ptr(), 0) {
        CL_INVALID_MEM_OBJECT "no image": (ptr::null_mut(), w.target, [0; 3].as_ptr(), SQUARE.as_ptr(), 0);
        CL_INVALID_MEM_OBJECT "an image for a target": (w.image, w.picture, [0; 3].as_ptr(), SQUARE.as_ptr(), 0);
        CL_INVALID_MEM_OBJECT "the buffer that the image is of":
            (w.line, w.target, [0; 3].as_ptr(), [4, 1, 1].as_ptr(), 32);
        CL_INVALID_CONTEXT "a buffer of another context":
            (w.image, w.other.buffer, [0; 3].as_ptr(), SQUARE.as_ptr(), 0);
        CL_INVALID_VALUE "no origin": (w.image, w.target, ptr::null(), SQUARE.as_ptr(), 0);
        CL_INVALID_VALUE "no region": (w.image, w.target, [0; 3].as_ptr(), ptr::null(), 0);
        CL_INVALID_VALUE "a region outside": (w.image, w.target, [1, 0, 0].as_ptr(), SQUARE.as_ptr(), 0);
        CL_INVALID_VALUE "a region of no width": (w.image, w.target, [0; 3].as_ptr(), [0, 4, 1].as_ptr(), 0);
        CL_INVALID_VALUE "an end outside of the buffer": (w.image, w.target, [0; 3].as_ptr(), SQUARE.as_ptr(), 4);
        CL_INVALID_VALUE "a range that wraps": (w.image, w.target, [0; 3].as_ptr(), SQUARE.as_ptr(), usize::MAX);
    }
    d.clEnqueueCopyBufferToImage: command (w.target, w.image, 0, [0; 3].as_ptr(), SQUARE.as_ptr()) {
        CL_INVALID_MEM_OBJECT "no buffer": (ptr::null_mut(), w.image, 0, [0; 3].as_ptr(), SQUARE.as_ptr());
        CL_INVALID_MEM_OBJECT "a buffer for a target": (w.target, w.buffer, 0, [0; 3].as_ptr(), SQUARE.as_ptr());
        CL_INVALID_MEM_OBJECT "the buffer that the image is of":
            (w.target, w.line, 32, [0; 3].as_ptr(), [4, 1, 1].as_ptr());
        CL_INVALID_CONTEXT "a buffer of another context":
            (w.other.buffer, w.image, 0, [0; 3].as_ptr(), SQUARE.as_ptr());
        CL_INVALID_VALUE "no origin": (w.target, w.image, 0, ptr::null(), SQUARE.as_ptr());
        CL_INVALID_VALUE "no region": (w.target, w.image, 0, [0; 3].as_ptr(), ptr::null());
        CL_INVALID_VALUE "a region outside": (w.target, w.image, 0, [0, 1, 0].as_ptr(), SQUARE.as_ptr());
        CL_INVALID_VALUE "a region of no height": (w.target, w.image, 0, [0; 3].as_ptr(), [4, 0, 1].as_ptr());
        CL_INVALID_VALUE "an end outside of the buffer": (w.target, w.image, 4, [0; 3].as_ptr(), SQUARE.as_ptr());
    }
    d.clEnqueueMapImage: map (w.image, CL_TRUE, CL_MAP_READ, [0; 3].as_ptr(), SQUARE.as_ptr(), &mut 0, ptr::null_mut()) {
        CL_INVALID_MEM_OBJECT "no image":
            (ptr::null_mut(), CL_TRUE, CL_MAP_READ, [0; 3].as_ptr(), SQUARE.as_ptr(), &mut 0, &mut 0);
        CL_INVALID_MEM_OBJECT "a buffer":
            (w.buffer, CL_TRUE, CL_MAP_READ, [0; 3].as_ptr(), SQUARE.as_ptr(), &mut 0, &mut 0);
        CL_INVALID_CONTEXT "an image of another context":
            (w.other.image, CL_TRUE, CL_MAP_READ, [0; 3].as_ptr(), SQUARE.as_ptr(), &mut 0, &mut 0);
        CL_INVALID_VALUE "no origin":
            (w.image, CL_TRUE, CL_MAP_READ, ptr::null(), SQUARE.as_ptr(), &mut 0, &mut 0);
        CL_INVALID_VALUE "no region":
            (w.image, CL_TRUE, CL_MAP_READ, [0; 3].as_ptr(), ptr::null(), &mut 0, &mut 0);
        CL_INVALID_VALUE "a region outside":
            (w.image, CL_TRUE, CL_MAP_READ, [1, 0, 0].as_ptr(), SQUARE.as_ptr(), &mut 0, &mut 0);
        CL_INVALID_VALUE "a region of no width":
            (w.image, CL_TRUE, CL_MAP_READ, [0; 3].as_ptr(), [0, 4, 1].as_ptr(), &mut 0, &mut 0);
        CL_INVALID_VALUE "unknown flags":
            (w.image, CL_TRUE, 1 << 20, [0; 3].as_ptr(), SQUARE.as_ptr(), &mut 0, &mut 0);
        CL_INVALID_VALUE "no place for the row pitch":
            (w.image, CL_TRUE, CL_MAP_READ, [0; 3].as_ptr(), SQUARE.as_ptr(), ptr::null_mut(), &mut 0);
        CL_INVALID_VALUE "no place for the slice pitch":
            (w.volume, CL_TRUE, CL_MAP_READ, [0; 3].as_ptr(), SQUARE.as_ptr(), &mut 0, ptr::null_mut());
        CL_INVALID_OPERATION "reads of an image that the host writes":
            (w.image_host_writes, CL_TRUE, CL_MAP_READ, [0; 3].as_ptr(), SQUARE.as_ptr(), &mut 0, &mut 0);
        CL_INVALID_OPERATION "writes of an image that the host reads":
            (w.image_host_reads, CL_TRUE, CL_MAP_WRITE, [0; 3].as_ptr(), SQUARE.as_ptr(), &mut 0, &mut 0);
    }
}
