//! Entry points that are found by name alone and have no table of their own: second names, and what the driver does not
//! have and answers all the same.

use std::ffi::CString;
use std::ptr;

use lockstep_conformance::opencl_sys::*;

use super::Op;
use super::world::*;

/// A function of the driver by name.
macro_rules! find {
    ($w:ident, $name:literal, $type:ty) => {{
        let name = CString::new($name).expect("a name without zeros");
        let address = ($w.d.clGetExtensionFunctionAddress)(name.as_ptr());
        assert!(!address.is_null(), "{} is missing", $name);
        // SAFETY: the function of that name, whose type stands beside it.
        unsafe { std::mem::transmute::<*mut std::ffi::c_void, $type>(address) }
    }};
}

/// Any function that is not there: it follows none of its parameters but the one for its code, wherever that is.
type Absent = extern "C" fn(Handle, *mut cl_int, *mut cl_int, *mut cl_int, *mut cl_int, *mut cl_int) -> usize;

macro_rules! absent {
    ($($name:literal of $kind:ident)*) => {
        &[$(($name, 1, |w| {
            let (handle, code) = (w.handle($kind), w.code_at());
            let answer = find!(w, $name, Absent)(handle, code, code, code, code, code);
            // The answer is a code, or no object where there is one elsewhere.
            let failed = if w.code == 1 { answer as cl_int != CL_SUCCESS } else { answer == 0 && w.code != CL_SUCCESS };
            assert!(failed, "{} succeeded", $name);
        })),*]
    };
}

pub const ABSENT: &[Op] = absent! {
    "clCreateFromGLBuffer" of Context
    "clCreateFromGLTexture" of Context
    "clCreateFromGLTexture2D" of Context
    "clCreateFromGLTexture3D" of Context
    "clCreateFromGLRenderbuffer" of Context
    "clGetGLObjectInfo" of Mem
    "clGetGLTextureInfo" of Mem
    "clEnqueueAcquireGLObjects" of Queue
    "clEnqueueReleaseGLObjects" of Queue
    "clGetGLContextInfoKHR" of Context
    "clCreateEventFromGLsyncKHR" of Context
    "clCreateSubDevicesEXT" of Device
    "clCreateFromEGLImageKHR" of Context
    "clEnqueueAcquireEGLObjectsKHR" of Queue
    "clEnqueueReleaseEGLObjectsKHR" of Queue
    "clCreateEventFromEGLSyncKHR" of Context
};

pub const OPS: &[Op] = &[
    ("clRetainDeviceEXT", 1, device),
    ("clReleaseDeviceEXT", 1, device),
    ("clIcdGetPlatformIDsKHR", 1, |w| {
        let (mut list, mut count) = ([ptr::null_mut(); 4], 0);
        let entries = w.below(5) as u32;
        let list = if w.once_in(4) { ptr::null_mut() } else { list.as_mut_ptr() };
        let get = find!(w, "clIcdGetPlatformIDsKHR", Platforms);
        get(entries, list, if w.once_in(4) { ptr::null_mut() } else { &mut count });
    }),
    ("clGetKernelSubGroupInfoKHR", 1, |w| {
        let (kernel, device) = (w.handle(Kernel), w.handle(Device));
        let (question, given) = (w.number(&[0x2033, 0x2034, 0x11B8, 0x11B9, 0x11BA]), w.triple(64));
        let (room, size, answer) = (w.any(&[0, 8, 16, 24]), w.size(), w.answer());
        let ask = find!(w, "clGetKernelSubGroupInfoKHR", SubGroups);
        let code = ask(kernel, device, question, room, given.as_ptr().cast(), size, answer, &mut 0);
        w.judge(Kernel, kernel, code);
    }),
    ("clGetKernelSuggestedLocalWorkSize", 1, |w| {
        let (queue, kernel, dimensions) = (w.handle(Queue), w.handle(Kernel), w.any(&[0, 1, 2, 3, 4]));
        let (offset, global, mut local) = (w.triple(16), w.triple(100), [0; 3]);
        let suggest = find!(w, "clGetKernelSuggestedLocalWorkSize", Suggest);
        let code = suggest(queue, kernel, dimensions, offset.as_ptr(), global.as_ptr(), local.as_mut_ptr());
        w.judge(Kernel, kernel, code);
    }),
];

type Count = extern "C" fn(cl_device_id) -> cl_int;
type Platforms = extern "C" fn(cl_uint, *mut cl_platform_id, *mut cl_uint) -> cl_int;
type SubGroups = extern "C" fn(
    cl_kernel,
    cl_device_id,
    cl_kernel_sub_group_info,
    usize,
    *const std::ffi::c_void,
    usize,
    *mut std::ffi::c_void,
    *mut usize,
) -> cl_int;
type Suggest = extern "C" fn(cl_command_queue, cl_kernel, cl_uint, *const usize, *const usize, *mut usize) -> cl_int;

/// Both together leave the count as it was.
fn device(w: &mut World) {
    let device = w.handle(Device);
    let retain = find!(w, "clRetainDeviceEXT", Count);
    let release = find!(w, "clReleaseDeviceEXT", Count);
    let code = retain(device);
    w.judge(Device, device, code);
    if code == CL_SUCCESS {
        assert_eq!(release(device), CL_SUCCESS);
    } else {
        assert_ne!(release(device), CL_SUCCESS);
    }
}
