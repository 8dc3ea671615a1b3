//! Small extensions of the host API: hints and properties of queues, versions, UUIDs, suggested local sizes.

use std::collections::BTreeSet;
use std::ptr;

use lockstep_conformance::extension_functions::{CreateCommandQueue, SuggestedLocalWorkSize};
use lockstep_conformance::loader::{cl, device, has_extension, platform};
use lockstep_conformance::objects::{Context, Queue};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Plain, Setup, arguments, expect, info, ok};

#[track_caller]
fn array<T: Plain>(device: cl_device_id, name: cl_device_info) -> Vec<T> {
    info::array(|size, value, returned| (cl().clGetDeviceInfo)(device, name, size, value, returned))
}

#[test]
fn queues_take_hints_and_refuse_what_is_none() {
    if !has_extension("cl_khr_priority_hints") || !has_extension("cl_khr_throttle_hints") {
        return;
    }
    let context = Context::new();
    let create = |properties: &[cl_queue_properties]| {
        let mut code = 1;
        let make = cl().clCreateCommandQueueWithProperties;
        let queue = make(context.raw(), device(), properties.as_ptr(), &mut code);
        assert_eq!(queue.is_null(), code != CL_SUCCESS);
        (code == CL_SUCCESS).then(|| Queue::own(queue)).ok_or(code)
    };
    let (priority, throttle) = (CL_QUEUE_PRIORITY_KHR, CL_QUEUE_THROTTLE_KHR);
    for hint in [1, 2, 4] {
        let list = [priority, hint, throttle, 4 / hint, CL_QUEUE_PROPERTIES.into(), CL_QUEUE_PROFILING_ENABLE, 0];
        let queue = create(&list).expect("a queue");
        assert_eq!(queue.info_array::<cl_queue_properties>(CL_QUEUE_PROPERTIES_ARRAY), list);
        assert_eq!(queue.info::<cl_command_queue_properties>(CL_QUEUE_PROPERTIES), CL_QUEUE_PROFILING_ENABLE);
        ok((cl().clFinish)(queue.raw()));
    }
    for name in [priority, throttle] {
        for wrong in [0, 3, 8] {
            assert_eq!(create(&[name, wrong, 0]).err(), Some(CL_INVALID_VALUE));
        }
        assert_eq!(create(&[name, 1, name, 1, 0]).err(), Some(CL_INVALID_VALUE), "twice");
    }
}

#[test]
fn queues_are_made_by_the_extensions_function() {
    if !has_extension("cl_khr_create_command_queue") {
        return;
    }
    let f = CreateCommandQueue::new();
    let context = Context::new();
    let list = [CL_QUEUE_PROPERTIES.into(), CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0];
    let mut code = 1;
    let queue = (f.clCreateCommandQueueWithPropertiesKHR)(context.raw(), device(), list.as_ptr(), &mut code);
    ok(code);
    let queue = Queue::own(queue);
    assert_eq!(queue.info_array::<cl_queue_properties>(CL_QUEUE_PROPERTIES_ARRAY), list);
    assert!((f.clCreateCommandQueueWithPropertiesKHR)(device(), device(), list.as_ptr(), &mut code).is_null());
    expect(code, CL_INVALID_CONTEXT);
}

#[test]
fn suggested_sizes_are_those_of_the_core() {
    if !has_extension("cl_khr_suggested_local_work_size") {
        return;
    }
    let f = SuggestedLocalWorkSize::new();
    let setup = Setup::new();
    let kernel = setup.context.kernel("kernel void f(global int *a) { a[get_global_id(0)] = 1; }", "f");
    kernel.set_all(arguments![&setup.context.zeros::<i32>(1000)]);
    let suggest = |global: &[usize], to: *mut usize| {
        let (queue, count) = (setup.queue.raw(), global.len() as cl_uint);
        (f.clGetKernelSuggestedLocalWorkSizeKHR)(queue, kernel.raw(), count, ptr::null(), global.as_ptr(), to)
    };
    for global in [&[1000_usize][..], &[7, 3], &[64, 8, 2]] {
        let mut local = vec![0; global.len()];
        ok(suggest(global, local.as_mut_ptr()));
        for (global, local) in global.iter().zip(&local) {
            assert!(*local > 0 && global % local == 0);
        }
    }
    expect(suggest(&[64], ptr::null_mut()), CL_INVALID_VALUE);
    expect(suggest(&[0], [0].as_mut_ptr()), CL_INVALID_GLOBAL_WORK_SIZE);
}

#[test]
fn uuids_tell_devices_apart_and_stay() {
    if !has_extension("cl_khr_device_uuid") {
        return;
    }
    let uuid = |device, name| {
        let bytes: Vec<u8> = array(device, name);
        assert_eq!(bytes.len(), CL_UUID_SIZE_KHR);
        assert!(bytes.iter().any(|&byte| byte != 0));
        bytes
    };
    let (own, driver) = (uuid(device(), CL_DEVICE_UUID_KHR), uuid(device(), CL_DRIVER_UUID_KHR));
    assert_ne!(own, driver);
    assert_eq!(uuid(device(), CL_DEVICE_UUID_KHR), own);
    assert_eq!(array::<cl_bool>(device(), CL_DEVICE_LUID_VALID_KHR), [CL_FALSE]);
    assert_eq!(array::<u8>(device(), CL_DEVICE_LUID_KHR).len(), CL_LUID_SIZE_KHR);
    assert_eq!(array::<cl_uint>(device(), CL_DEVICE_NODE_MASK_KHR).len(), 1);
    // Parts of a device are other devices.
    let properties = [CL_DEVICE_PARTITION_EQUALLY, 1, 0];
    let mut parts = vec![ptr::null_mut(); 2];
    let units: Vec<u32> = array(device(), CL_DEVICE_MAX_COMPUTE_UNITS);
    if units[0] == 2 {
        ok((cl().clCreateSubDevices)(device(), properties.as_ptr(), 2, parts.as_mut_ptr(), ptr::null_mut()));
        let all: BTreeSet<_> = parts.iter().map(|&part| uuid(part, CL_DEVICE_UUID_KHR)).chain([own]).collect();
        assert_eq!(all.len(), 3);
        for part in parts {
            assert_eq!(uuid(part, CL_DRIVER_UUID_KHR), driver);
            ok((cl().clReleaseDevice)(part));
        }
    }
}

#[test]
fn versions_of_the_extension_agree_with_the_texts() {
    if !has_extension("cl_khr_extended_versioning") {
        return;
    }
    let text = info::text(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_OPENCL_C_VERSION, size, value, returned)
    });
    let [number] = array::<u32>(device(), CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR)[..] else { panic!("one version") };
    assert!(text.starts_with(&format!("OpenCL C {}.{}", number >> 22, number >> 12 & 0x3ff)));
    let numbers: [u32; 2] = [
        array(device(), CL_DEVICE_NUMERIC_VERSION_KHR)[0],
        info::value(|size, value, returned| {
            (cl().clGetPlatformInfo)(platform(), CL_PLATFORM_NUMERIC_VERSION_KHR, size, value, returned)
        }),
    ];
    assert_eq!(numbers.map(|number| number >> 22), [3, 3]);
}
