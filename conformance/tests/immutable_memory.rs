//! cl_ext_immutable_memory_objects: what such objects are made of, that they are read like others, and that nothing writes to them.

use std::ptr;

use lockstep_conformance::commands::try_launch;
use lockstep_conformance::images::{Shape, read_image};
use lockstep_conformance::loader::{cl, has_extension};
use lockstep_conformance::objects::Buffer;
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Setup, arguments, expect, is_lockstep, ok, read, run};

const IMMUTABLE: cl_mem_flags = 1 << 6;

fn is_there() -> bool {
    let there = has_extension("cl_ext_immutable_memory_objects");
    assert!(there || !is_lockstep(), "the extension is there");
    there
}

fn immutable_buffer(setup: &Setup, values: &mut [i32]) -> Buffer {
    let flags = IMMUTABLE | CL_MEM_COPY_HOST_PTR;
    setup.context.try_buffer(flags, size_of_val(values), values.as_mut_ptr().cast()).expect("its bytes are given")
}

#[test]
fn flags_that_go_together() {
    if !is_there() {
        return;
    }
    let (setup, mut values) = (Setup::new(), [1_i32; 4]);
    let mut create = |flags| setup.context.try_buffer(flags, 16, values.as_mut_ptr().cast()).err();
    let bytes = CL_MEM_COPY_HOST_PTR;
    for flags in [bytes, CL_MEM_USE_HOST_PTR, bytes | CL_MEM_READ_ONLY, bytes | CL_MEM_HOST_READ_ONLY] {
        assert_eq!(create(IMMUTABLE | flags), None, "{flags:#x}");
    }
    for flags in [CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY, CL_MEM_HOST_WRITE_ONLY] {
        assert_eq!(create(IMMUTABLE | bytes | flags), Some(CL_INVALID_VALUE), "{flags:#x}");
    }
    let without_bytes = setup.context.try_buffer(IMMUTABLE, 16, ptr::null_mut());
    assert_eq!(without_bytes.err(), Some(CL_INVALID_VALUE));
}

#[test]
fn kernels_only_read_them() {
    if !is_there() {
        return;
    }
    let setup = Setup::new();
    let source = "kernel void sum(global const int *a, constant int *b, global int *out) {
                      size_t g = get_global_id(0);
                      out[g] = a[g] + b[g];
                  }
                  kernel void draw(write_only image2d_t image) { write_imagei(image, (int2)(0), (int4)(1)); }
                  kernel void change(read_write image2d_t image) { write_imagei(image, (int2)(0), (int4)(1)); }";
    let program = setup.context.build(source, "-cl-std=CL3.0");
    let (buffer, out) = (immutable_buffer(&setup, &mut [1, 2, 3, 4]), setup.context.zeros::<i32>(4));
    let kernel = program.kernel("sum");
    kernel.set_all(arguments![&buffer, &buffer, &out]);
    run(&setup.queue, &kernel, &[4], &[]);
    assert_eq!(read::<i32>(&setup.queue, &out), [2, 4, 6, 8]);
    expect(kernel.try_set(2, &buffer), CL_INVALID_ARG_VALUE);
    // What was set before stays.
    ok(try_launch(&setup.queue, &kernel, &[4], &[]));
    let shape = Shape { kind: CL_MEM_OBJECT_IMAGE2D, sizes: [2, 2, 1], layers: 1 };
    let image = setup.context.image(IMMUTABLE | CL_MEM_COPY_HOST_PTR, (CL_R, CL_SIGNED_INT32), shape, &[7; 16]);
    for name in ["draw", "change"] {
        expect(program.kernel(name).try_set(0, &image), CL_INVALID_ARG_VALUE);
    }
    assert_eq!(read_image(&setup.queue, &image, shape, 4), [7; 16]);
}

#[test]
fn commands_do_not_write_to_them() {
    if !is_there() {
        return;
    }
    let setup = Setup::new();
    let (buffer, other) = (immutable_buffer(&setup, &mut [1, 2, 3, 4]), setup.context.zeros::<i32>(4));
    let (queue, none, event) = (setup.queue.raw(), ptr::null(), ptr::null_mut());
    let value = 9_i32;
    let from = (&raw const value).cast();
    let refused = CL_INVALID_OPERATION;
    expect((cl().clEnqueueWriteBuffer)(queue, buffer.raw(), CL_TRUE, 0, 4, from, 0, none, event), refused);
    expect((cl().clEnqueueFillBuffer)(queue, buffer.raw(), from, 4, 0, 16, 0, none, event), refused);
    expect((cl().clEnqueueCopyBuffer)(queue, other.raw(), buffer.raw(), 0, 0, 16, 0, none, event), refused);
    let (start, box_of_bytes) = ([0_usize; 3].as_ptr(), [4_usize, 1, 1].as_ptr());
    let copy_box = cl().clEnqueueCopyBufferRect;
    let code = copy_box(queue, other.raw(), buffer.raw(), start, start, box_of_bytes, 0, 0, 0, 0, 0, none, event);
    expect(code, refused);
    for flags in [CL_MAP_WRITE, CL_MAP_READ | CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION] {
        let mut code = 0;
        (cl().clEnqueueMapBuffer)(queue, buffer.raw(), CL_TRUE, flags, 0, 16, 0, none, event, &mut code);
        expect(code, refused);
    }
    // A part of it is as immutable as it is.
    let part = cl_buffer_region { origin: 0, size: 16 };
    let create = |flags, code: &mut cl_int| {
        let region = (&raw const part).cast();
        (cl().clCreateSubBuffer)(buffer.raw(), flags, CL_BUFFER_CREATE_TYPE_REGION, region, code)
    };
    let mut code = 0;
    create(CL_MEM_READ_WRITE, &mut code);
    expect(code, CL_INVALID_VALUE);
    let part = Buffer::own(create(0, &mut code));
    ok(code);
    expect((cl().clEnqueueFillBuffer)(queue, part.raw(), from, 4, 0, 16, 0, none, event), refused);
    // And it is read and copied from.
    ok((cl().clEnqueueCopyBuffer)(queue, buffer.raw(), other.raw(), 0, 0, 16, 0, none, event));
    assert_eq!(read::<i32>(&setup.queue, &other), [1, 2, 3, 4]);
    let shape = Shape { kind: CL_MEM_OBJECT_IMAGE2D, sizes: [2, 2, 1], layers: 1 };
    let format = (CL_R, CL_SIGNED_INT32);
    let image = setup.context.image(IMMUTABLE | CL_MEM_COPY_HOST_PTR, format, shape, &[7; 16]);
    let source = setup.context.image(CL_MEM_READ_WRITE, format, shape, &[8; 16]);
    let (region, color) = ([2_usize, 2, 1].as_ptr(), [1_i32; 4]);
    expect(
        (cl().clEnqueueFillImage)(queue, image.raw(), color.as_ptr().cast(), start, region, 0, none, event),
        refused,
    );
    let copy = cl().clEnqueueCopyImage;
    expect(copy(queue, source.raw(), image.raw(), start, start, region, 0, none, event), refused);
    let copy = cl().clEnqueueCopyBufferToImage;
    expect(copy(queue, other.raw(), image.raw(), 0, start, region, 0, none, event), refused);
    let copy = cl().clEnqueueCopyImageToBuffer;
    expect(copy(queue, source.raw(), buffer.raw(), start, region, 0, 0, none, event), refused);
    assert_eq!(read_image(&setup.queue, &image, shape, 4), [7; 16]);
    assert_eq!(read::<i32>(&setup.queue, &buffer), [1, 2, 3, 4]);
}
