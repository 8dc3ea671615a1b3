//! Contexts: creation, properties, queries, reference counts, error and destructor callbacks.

use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use lockstep_conformance::loader::{cl, device, platform};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Context, expect, ok};

fn create(properties: &[cl_context_properties], devices: &[cl_device_id]) -> Result<Context, cl_int> {
    let properties = if properties.is_empty() { ptr::null() } else { properties.as_ptr() };
    let pointer = if devices.is_empty() { ptr::null() } else { devices.as_ptr() };
    let mut code = 1;
    let context =
        (cl().clCreateContext)(properties, devices.len() as cl_uint, pointer, None, ptr::null_mut(), &mut code);
    if code == CL_SUCCESS { Ok(Context::own(context)) } else { Err(code) }
}

fn of_type(properties: &[cl_context_properties], kind: cl_device_type) -> Result<Context, cl_int> {
    let mut code = 1;
    let context = (cl().clCreateContextFromType)(properties.as_ptr(), kind, None, ptr::null_mut(), &mut code);
    if code == CL_SUCCESS { Ok(Context::own(context)) } else { Err(code) }
}

#[track_caller]
fn fails(result: Result<Context, cl_int>, wanted: cl_int) {
    match result {
        Ok(_) => panic!("the context was created"),
        Err(code) => expect(code, wanted),
    }
}

#[test]
fn by_devices() {
    let context = create(&[CL_CONTEXT_PLATFORM, platform() as isize, 0], &[device()]).expect("a context");
    assert_eq!(context.info::<u32>(CL_CONTEXT_NUM_DEVICES), 1);
    assert_eq!(context.info_array::<usize>(CL_CONTEXT_DEVICES), [device() as usize]);
    let properties = context.info_array::<isize>(CL_CONTEXT_PROPERTIES);
    assert_eq!(properties, [CL_CONTEXT_PLATFORM, platform() as isize, 0]);
    assert_eq!(context.info::<u32>(CL_CONTEXT_REFERENCE_COUNT), 1);
    let unknown = (cl().clGetContextInfo)(context.raw(), 0x10ff, 0, ptr::null_mut(), ptr::null_mut());
    expect(unknown, CL_INVALID_VALUE);
}

#[test]
fn without_properties() {
    let context = create(&[], &[device()]).expect("a context");
    // "If the properties argument specified in clCreateContext is NULL, the implementation may return either a
    // param_value_size_ret of 0 or a property list with only the terminating zero".
    let properties = context.info_array::<isize>(CL_CONTEXT_PROPERTIES);
    assert!(properties.is_empty() || properties == [0]);
}

#[test]
fn the_same_device_twice() {
    let context = create(&[], &[device(), device()]).expect("duplicates are ignored");
    let count = context.info::<u32>(CL_CONTEXT_NUM_DEVICES);
    assert_eq!(context.info_array::<usize>(CL_CONTEXT_DEVICES).len(), count as usize);
}

#[test]
fn by_type() {
    let properties = [CL_CONTEXT_PLATFORM, platform() as isize, 0];
    for kind in [CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_DEFAULT, CL_DEVICE_TYPE_ALL] {
        let context = of_type(&properties, kind).expect("a context");
        assert!(context.info_array::<usize>(CL_CONTEXT_DEVICES).contains(&(device() as usize)));
    }
    fails(of_type(&properties, CL_DEVICE_TYPE_GPU), CL_DEVICE_NOT_FOUND);
    fails(of_type(&properties, 0x8000), CL_INVALID_DEVICE_TYPE);
}

#[test]
fn interop_user_sync_property() {
    let properties = [CL_CONTEXT_PLATFORM, platform() as isize, CL_CONTEXT_INTEROP_USER_SYNC, CL_TRUE as isize, 0];
    let context = create(&properties, &[device()]).expect("a context");
    assert_eq!(context.info_array::<isize>(CL_CONTEXT_PROPERTIES), properties);
}

#[test]
fn bad_properties() {
    let platform = platform() as isize;
    fails(create(&[0x7777, 1, 0], &[device()]), CL_INVALID_PROPERTY);
    fails(create(&[CL_CONTEXT_PLATFORM, platform, 0x7777, 1, 0], &[device()]), CL_INVALID_PROPERTY);
    let twice = [CL_CONTEXT_PLATFORM, platform, CL_CONTEXT_PLATFORM, platform, 0];
    fails(create(&twice, &[device()]), CL_INVALID_PROPERTY);
}

#[test]
fn bad_devices() {
    fails(create(&[], &[]), CL_INVALID_VALUE);
    let mut code = 1;
    let user_data = (&raw mut code).cast();
    let context = (cl().clCreateContext)(ptr::null(), 1, &device(), None, user_data, &mut code);
    assert!(context.is_null());
    // "CL_INVALID_VALUE if pfn_notify is NULL but user_data is not NULL".
    expect(code, CL_INVALID_VALUE);
}

#[test]
fn reference_counts() {
    let context = Context::new();
    let other = context.clone();
    assert_eq!(context.info::<u32>(CL_CONTEXT_REFERENCE_COUNT), 2);
    drop(other);
    assert_eq!(context.info::<u32>(CL_CONTEXT_REFERENCE_COUNT), 1);
}

#[test]
fn objects_keep_their_context() {
    let context = Context::new();
    let raw = context.raw();
    let (queue, buffer) = (context.queue(0), context.zeros::<u8>(16));
    drop(context);
    assert_eq!(queue.info::<usize>(CL_QUEUE_CONTEXT), raw as usize);
    assert_eq!(buffer.info::<usize>(CL_MEM_CONTEXT), raw as usize);
    assert_eq!(lockstep_conformance::read::<u8>(&queue, &buffer), [0; 16]);
}

static ERRORS: AtomicUsize = AtomicUsize::new(0);

extern "C" fn error_callback(_: *const c_char, _: *const c_void, _: usize, _: *mut c_void) {
    ERRORS.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn error_callback_is_accepted() {
    let mut code = 1;
    let context = (cl().clCreateContext)(ptr::null(), 1, &device(), Some(error_callback), ptr::null_mut(), &mut code);
    ok(code);
    let context = Context::own(context);
    drop(context.zeros::<u8>(64));
    drop(context);
    assert_eq!(ERRORS.load(Ordering::SeqCst), 0, "an error was reported where there was none");
}

static DESTROYED: Mutex<Vec<usize>> = Mutex::new(Vec::new());

extern "C" fn destructor_callback(_: cl_context, user_data: *mut c_void) {
    DESTROYED.lock().expect("no panic").push(user_data as usize);
}

#[test]
fn destructor_callbacks_run_last_first() {
    let context = Context::new();
    for number in 1..=3_usize {
        ok((cl().clSetContextDestructorCallback)(context.raw(), Some(destructor_callback), number as *mut c_void));
    }
    let buffer = context.zeros::<u8>(16);
    drop(context);
    assert!(DESTROYED.lock().expect("no panic").is_empty(), "the buffer still holds the context");
    drop(buffer);
    assert_eq!(*DESTROYED.lock().expect("no panic"), [3, 2, 1]);
    let context = Context::new();
    expect((cl().clSetContextDestructorCallback)(context.raw(), None, ptr::null_mut()), CL_INVALID_VALUE);
}
