//! Platforms, devices, sub-devices and timers.

use std::ptr;

use lockstep_conformance::opencl_sys::*;

use super::table::{Row, at};

rows! { |w|
    d.clGetPlatformIDs: code (0, ptr::null_mut(), &mut 0) {
        CL_INVALID_VALUE "a list without room": (0, &mut ptr::null_mut(), &mut 0);
        CL_INVALID_VALUE "nothing asked": (1, ptr::null_mut(), ptr::null_mut());
    }
    d.clGetPlatformInfo: info (w.platform => CL_PLATFORM_NAME) {
        CL_INVALID_PLATFORM "a device": (w.device.cast() => CL_PLATFORM_NAME);
    }
    d.clGetDeviceIDs: code (w.platform, CL_DEVICE_TYPE_ALL, 0, ptr::null_mut(), &mut 0) {
        CL_INVALID_PLATFORM "a device": (w.device.cast(), CL_DEVICE_TYPE_ALL, 0, ptr::null_mut(), &mut 0);
        CL_INVALID_DEVICE_TYPE "no type": (w.platform, 0, 0, ptr::null_mut(), &mut 0);
        CL_INVALID_DEVICE_TYPE "an unknown type": (w.platform, 1 << 20, 0, ptr::null_mut(), &mut 0);
        CL_INVALID_VALUE "a list without room": (w.platform, CL_DEVICE_TYPE_ALL, 0, &mut ptr::null_mut(), &mut 0);
        CL_INVALID_VALUE "nothing asked": (w.platform, CL_DEVICE_TYPE_ALL, 1, ptr::null_mut(), ptr::null_mut());
        CL_DEVICE_NOT_FOUND "a type that is not there": (w.platform, CL_DEVICE_TYPE_GPU, 0, ptr::null_mut(), &mut 0);
    }
    d.clGetDeviceInfo: info (w.device => CL_DEVICE_NAME) {
        CL_INVALID_DEVICE "no device": (ptr::null_mut() => CL_DEVICE_NAME);
    }
    d.clGetDeviceAndHostTimer: code (w.device, &mut 0, &mut 0) {
        CL_INVALID_DEVICE "no device": (ptr::null_mut(), &mut 0, &mut 0);
        CL_INVALID_VALUE "no place for the device's time": (w.device, ptr::null_mut(), &mut 0);
        CL_INVALID_VALUE "no place for the host's time": (w.device, &mut 0, ptr::null_mut());
    }
    d.clGetHostTimer: code (w.device, &mut 0) {
        CL_INVALID_DEVICE "no device": (ptr::null_mut(), &mut 0);
        CL_INVALID_VALUE "no place for the time": (w.device, ptr::null_mut());
    }
    d.clCreateSubDevices: code (w.device, [CL_DEVICE_PARTITION_EQUALLY, 1, 0].as_ptr(), 0, ptr::null_mut(), &mut 0) {
        CL_INVALID_DEVICE "no device":
            (ptr::null_mut(), [CL_DEVICE_PARTITION_EQUALLY, 1, 0].as_ptr(), 0, ptr::null_mut(), &mut 0);
        CL_INVALID_VALUE "no properties": (w.device, ptr::null(), 0, ptr::null_mut(), &mut 0);
        CL_INVALID_VALUE "an unknown scheme": (w.device, [0x7FFF, 1, 0].as_ptr(), 0, ptr::null_mut(), &mut 0);
        CL_INVALID_VALUE "parts of no units":
            (w.device, [CL_DEVICE_PARTITION_EQUALLY, 0, 0].as_ptr(), 0, ptr::null_mut(), &mut 0);
        CL_INVALID_VALUE "an unknown domain":
            (w.device, [CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, 1 << 20, 0].as_ptr(), 0, ptr::null_mut(), &mut 0);
        CL_INVALID_VALUE "less room than parts":
            (w.device, [CL_DEVICE_PARTITION_EQUALLY, 1, 0].as_ptr(), 0, &mut ptr::null_mut(), ptr::null_mut());
        CL_DEVICE_PARTITION_FAILED "one part that is the whole":
            (w.device, [CL_DEVICE_PARTITION_EQUALLY, w.units, 0].as_ptr(), 0, ptr::null_mut(), &mut 0);
        CL_INVALID_DEVICE_PARTITION_COUNT "more units than there are":
            (w.device, [CL_DEVICE_PARTITION_BY_COUNTS, 1 << 20, 0, 0].as_ptr(), 0, ptr::null_mut(), &mut 0);
        CL_INVALID_DEVICE_PARTITION_COUNT "fewer units than none":
            (w.device, [CL_DEVICE_PARTITION_BY_COUNTS, -1, 0, 0].as_ptr(), 0, ptr::null_mut(), &mut 0);
    }
    d.clRetainDevice: code (w.device) { CL_INVALID_DEVICE "no device": (ptr::null_mut()); }
    d.clReleaseDevice: code (w.device) { CL_INVALID_DEVICE "no device": (ptr::null_mut()); }
    d.clUnloadPlatformCompiler: code (w.platform) { CL_INVALID_PLATFORM "no platform": (ptr::null_mut()); }
}
