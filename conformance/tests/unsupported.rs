//! Images, samplers, pipes, shared virtual memory, IL and sub-devices: where the device does not have them, every entry
//! point says so with the specification's error.

use std::ptr;

use lockstep_conformance::loader::{cl, device};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Plain, Setup, code_name, expect, info, is_lockstep, ok};

#[track_caller]
fn of_device<T: Plain>(name: cl_device_info) -> T {
    info::value(|size, value, returned| (cl().clGetDeviceInfo)(device(), name, size, value, returned))
}

const FORMAT: cl_image_format =
    cl_image_format { image_channel_order: CL_RGBA, image_channel_data_type: CL_UNSIGNED_INT8 };

fn descriptor() -> cl_image_desc {
    cl_image_desc {
        image_type: CL_MEM_OBJECT_IMAGE2D,
        image_width: 4,
        image_height: 4,
        image_depth: 1,
        image_array_size: 1,
        image_row_pitch: 0,
        image_slice_pitch: 0,
        num_mip_levels: 0,
        num_samples: 0,
        buffer: ptr::null_mut(),
    }
}

#[test]
fn images_and_samplers() {
    if of_device::<cl_bool>(CL_DEVICE_IMAGE_SUPPORT) == CL_TRUE {
        assert!(!is_lockstep(), "images are here: they need tests of their own");
        return;
    }
    let setup = Setup::new();
    let context = setup.context.raw();
    let cl = cl();
    // "CL_INVALID_OPERATION if there are no devices in context that support images".
    let refused = |name: &str, object: *mut std::ffi::c_void, code: cl_int| {
        assert!(object.is_null());
        assert_eq!(code, CL_INVALID_OPERATION, "{name}: {}", code_name(code));
    };
    let host = ptr::null_mut();
    let description = descriptor();
    let mut code = 1;
    let image = (cl.clCreateImage)(context, CL_MEM_READ_ONLY, &FORMAT, &description, host, &mut code);
    refused("clCreateImage", image, code);
    let none = ptr::null();
    let image =
        (cl.clCreateImageWithProperties)(context, none, CL_MEM_READ_ONLY, &FORMAT, &description, host, &mut code);
    refused("clCreateImageWithProperties", image, code);
    let image = (cl.clCreateImage2D)(context, CL_MEM_READ_ONLY, &FORMAT, 4, 4, 0, host, &mut code);
    refused("clCreateImage2D", image, code);
    let image = (cl.clCreateImage3D)(context, CL_MEM_READ_ONLY, &FORMAT, 4, 4, 4, 0, 0, host, &mut code);
    refused("clCreateImage3D", image, code);
    let sampler = (cl.clCreateSampler)(context, CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST, &mut code);
    refused("clCreateSampler", sampler, code);
    let sampler = (cl.clCreateSamplerWithProperties)(context, ptr::null(), &mut code);
    refused("clCreateSamplerWithProperties", sampler, code);
    let mut count = 77;
    let list = cl.clGetSupportedImageFormats;
    let answer = list(context, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D, 0, ptr::null_mut(), &mut count);
    // No formats, or an error that says that there are no images.
    assert!((answer == CL_SUCCESS && count == 0) || answer == CL_INVALID_OPERATION, "{}", code_name(answer));
}

#[test]
fn image_commands() {
    if of_device::<cl_bool>(CL_DEVICE_IMAGE_SUPPORT) == CL_TRUE {
        return;
    }
    let setup = Setup::new();
    let (a, b) = (setup.context.zeros::<u8>(64), setup.context.zeros::<u8>(64));
    let (q, image, buffer) = (setup.queue.raw(), a.raw(), b.raw());
    let (zero, region) = ([0_usize; 3].as_ptr(), [2_usize, 2, 1].as_ptr());
    let mut host = [0_u64; 8];
    let memory = host.as_mut_ptr().cast();
    let (none, event) = (ptr::null(), ptr::null_mut());
    let cl = cl();
    // A buffer is no image: "CL_INVALID_MEM_OBJECT if image is not a valid image object"; and "CL_INVALID_OPERATION if
    // the device associated with command_queue does not support images".
    let refused = |name: &str, code: cl_int| {
        assert!(code == CL_INVALID_OPERATION || code == CL_INVALID_MEM_OBJECT, "{name}: {}", code_name(code));
    };
    refused("read", (cl.clEnqueueReadImage)(q, image, CL_TRUE, zero, region, 0, 0, memory, 0, none, event));
    refused("write", (cl.clEnqueueWriteImage)(q, image, CL_TRUE, zero, region, 0, 0, memory, 0, none, event));
    refused("fill", (cl.clEnqueueFillImage)(q, image, memory, zero, region, 0, none, event));
    refused("copy", (cl.clEnqueueCopyImage)(q, image, buffer, zero, zero, region, 0, none, event));
    refused("to buffer", (cl.clEnqueueCopyImageToBuffer)(q, image, buffer, zero, region, 0, 0, none, event));
    refused("from buffer", (cl.clEnqueueCopyBufferToImage)(q, buffer, image, 0, zero, region, 0, none, event));
    let mut code = 1;
    let (row, slice) = (&mut 0, &mut 0);
    let map = cl.clEnqueueMapImage;
    assert!(map(q, image, CL_TRUE, CL_MAP_READ, zero, region, row, slice, 0, none, event, &mut code).is_null());
    refused("map", code);
    refused("query", (cl.clGetImageInfo)(image, CL_IMAGE_WIDTH, 0, ptr::null_mut(), ptr::null_mut()));
}

#[test]
fn pipes() {
    if of_device::<cl_bool>(CL_DEVICE_PIPE_SUPPORT) == CL_TRUE {
        assert!(!is_lockstep(), "pipes are here: they need tests of their own");
        return;
    }
    let setup = Setup::new();
    let mut code = 1;
    let pipe = (cl().clCreatePipe)(setup.context.raw(), CL_MEM_READ_WRITE, 4, 16, ptr::null(), &mut code);
    assert!(pipe.is_null());
    // "CL_INVALID_OPERATION if no devices in context support pipes".
    expect(code, CL_INVALID_OPERATION);
    let buffer = setup.context.zeros::<u8>(8);
    let code = (cl().clGetPipeInfo)(buffer.raw(), CL_PIPE_PACKET_SIZE, 0, ptr::null_mut(), ptr::null_mut());
    expect(code, CL_INVALID_MEM_OBJECT);
}

#[test]
fn shared_virtual_memory() {
    if of_device::<u64>(CL_DEVICE_SVM_CAPABILITIES) != 0 {
        assert!(!is_lockstep(), "shared virtual memory is here: it needs tests of its own");
        return;
    }
    let setup = Setup::new();
    let kernel = setup.context.kernel("kernel void f(global int *a) { a[0] = 1; }", "f");
    let cl = cl();
    let (q, none, event) = (setup.queue.raw(), ptr::null(), ptr::null_mut());
    let mut host = [0_u64; 8];
    let memory: *mut std::ffi::c_void = host.as_mut_ptr().cast();
    // "clSVMAlloc ... will fail if there is no device in context that supports SVM", and returns null.
    assert!((cl.clSVMAlloc)(setup.context.raw(), CL_MEM_READ_WRITE, 64, 0).is_null());
    (cl.clSVMFree)(setup.context.raw(), ptr::null_mut());
    // "CL_INVALID_OPERATION if the device associated with command_queue does not support SVM".
    let refused = |name: &str, code: cl_int| assert_eq!(code, CL_INVALID_OPERATION, "{name}: {}", code_name(code));
    let mut list = [memory];
    let pointers = list.as_mut_ptr();
    refused("free", (cl.clEnqueueSVMFree)(q, 1, pointers, None, ptr::null_mut(), 0, none, event));
    refused("copy", (cl.clEnqueueSVMMemcpy)(q, CL_TRUE, memory, memory.wrapping_byte_add(32), 8, 0, none, event));
    refused("fill", (cl.clEnqueueSVMMemFill)(q, memory, memory.wrapping_byte_add(32), 4, 8, 0, none, event));
    refused("map", (cl.clEnqueueSVMMap)(q, CL_TRUE, CL_MAP_READ, memory, 8, 0, none, event));
    refused("unmap", (cl.clEnqueueSVMUnmap)(q, memory, 0, none, event));
    refused("argument", (cl.clSetKernelArgSVMPointer)(kernel.raw(), 0, memory));
    let info = cl.clSetKernelExecInfo;
    refused("kernel", info(kernel.raw(), CL_KERNEL_EXEC_INFO_SVM_PTRS, 8, (&raw const list).cast()));
}

#[test]
fn intermediate_language() {
    let versions = info::text(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_IL_VERSION, size, value, returned)
    });
    if !versions.is_empty() {
        assert!(!is_lockstep(), "intermediate languages are here: they need tests of their own");
        return;
    }
    let setup = Setup::new();
    let mut code = 1;
    let words = [0x0723_0203_u32, 0x0001_0000, 0, 1, 0];
    let program = (cl().clCreateProgramWithIL)(setup.context.raw(), words.as_ptr().cast(), 20, &mut code);
    assert!(program.is_null());
    // "CL_INVALID_OPERATION if no devices in context support intermediate language programs".
    expect(code, CL_INVALID_OPERATION);
    let program = setup.context.build("kernel void f(void) { }", "");
    let code = (cl().clSetProgramSpecializationConstant)(program.raw(), 0, 4, words.as_ptr().cast());
    // "CL_INVALID_OPERATION if no devices associated with program support intermediate language programs"; "CL_INVALID_
    // PROGRAM if program is not a valid program object created from an intermediate language".
    assert!(code == CL_INVALID_OPERATION || code == CL_INVALID_PROGRAM, "{}", code_name(code));
}

#[test]
fn program_destructors() {
    extern "C" fn never(_: cl_program, _: *mut std::ffi::c_void) {
        panic!("called though it was refused");
    }
    let setup = Setup::new();
    let program = setup.context.build("kernel void f(void) { }", "");
    // "CL_INVALID_OPERATION if no devices in the context associated with program support destructors for program scope
    // global variables".
    expect((cl().clSetProgramReleaseCallback)(program.raw(), Some(never), ptr::null_mut()), CL_INVALID_OPERATION);
}

#[test]
fn queue_properties_of_1_0() {
    let setup = Setup::new();
    let mut old = 77;
    let set = cl().clSetCommandQueueProperty;
    let code = if is_lockstep() {
        set(setup.queue.raw(), CL_QUEUE_PROFILING_ENABLE, CL_TRUE, &mut old)
    } else {
        CL_INVALID_OPERATION
    };
    // "CL_INVALID_OPERATION if no devices in the context associated with command_queue support modifying the properties".
    assert!(code == CL_INVALID_OPERATION || code == CL_SUCCESS, "{}", code_name(code));
    ok((cl().clFinish)(setup.queue.raw()));
}
