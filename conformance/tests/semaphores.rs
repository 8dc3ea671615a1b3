//! `cl_khr_semaphore`: signals and waits of one queue and of several, queries, and every error.

use std::ffi::c_void;
use std::ptr;

use lockstep_conformance::commands::{finish, try_launch};
use lockstep_conformance::extension_functions::Semaphores;
use lockstep_conformance::loader::{cl, device, has_extension, platform};
use lockstep_conformance::objects::{Context, Event, Queue};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Plain, Setup, arguments, expect, info, ok, read};

const BINARY: [cl_semaphore_properties_khr; 3] = [CL_SEMAPHORE_TYPE_KHR as u64, CL_SEMAPHORE_TYPE_BINARY_KHR as u64, 0];

struct Semaphore<'a> {
    functions: &'a Semaphores,
    raw: cl_semaphore_khr,
}

impl Drop for Semaphore<'_> {
    fn drop(&mut self) {
        (self.functions.clReleaseSemaphoreKHR)(self.raw);
    }
}

impl<'a> Semaphore<'a> {
    fn new(functions: &'a Semaphores, context: &Context) -> Self {
        let mut code = 1;
        let raw = (functions.clCreateSemaphoreWithPropertiesKHR)(context.raw(), BINARY.as_ptr(), &mut code);
        ok(code);
        Semaphore { functions, raw }
    }

    fn ask<T: Plain>(&self, name: cl_semaphore_info_khr) -> Vec<T> {
        let ask = self.functions.clGetSemaphoreInfoKHR;
        info::array(|size, value, returned| ask(self.raw, name, size, value, returned))
    }

    fn payload(&self) -> u64 {
        self.ask(CL_SEMAPHORE_PAYLOAD_KHR)[0]
    }

    fn signal(&self, queue: &Queue, after: &[cl_event]) -> Event {
        let list = if after.is_empty() { ptr::null() } else { after.as_ptr() };
        let (mut event, signal) = (ptr::null_mut(), self.functions.clEnqueueSignalSemaphoresKHR);
        ok(signal(queue.raw(), 1, &self.raw, ptr::null(), after.len() as cl_uint, list, &mut event));
        Event::own(event)
    }

    fn wait(&self, queue: &Queue, after: &[cl_event]) -> Event {
        let list = if after.is_empty() { ptr::null() } else { after.as_ptr() };
        let (mut event, wait) = (ptr::null_mut(), self.functions.clEnqueueWaitSemaphoresKHR);
        ok(wait(queue.raw(), 1, &self.raw, ptr::null(), after.len() as cl_uint, list, &mut event));
        Event::own(event)
    }
}

fn functions() -> Option<Semaphores> {
    has_extension("cl_khr_semaphore").then(Semaphores::new)
}

#[test]
fn queries() {
    let Some(f) = functions() else { return };
    let setup = Setup::new();
    let types: u32 = info::value(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_SEMAPHORE_TYPES_KHR, size, value, returned)
    });
    assert_eq!(types, CL_SEMAPHORE_TYPE_BINARY_KHR);
    let types: u32 = info::value(|size, value, returned| {
        (cl().clGetPlatformInfo)(platform(), CL_PLATFORM_SEMAPHORE_TYPES_KHR, size, value, returned)
    });
    assert_eq!(types, CL_SEMAPHORE_TYPE_BINARY_KHR);
    let semaphore = Semaphore::new(&f, &setup.context);
    assert_eq!(semaphore.ask::<u32>(CL_SEMAPHORE_TYPE_KHR), [CL_SEMAPHORE_TYPE_BINARY_KHR]);
    assert_eq!(semaphore.ask::<usize>(CL_SEMAPHORE_CONTEXT_KHR), [setup.context.raw() as usize]);
    assert_eq!(semaphore.ask::<u64>(CL_SEMAPHORE_PROPERTIES_KHR), BINARY);
    assert_eq!(semaphore.ask::<usize>(CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR), [device() as usize]);
    assert_eq!(semaphore.ask::<u32>(CL_SEMAPHORE_REFERENCE_COUNT_KHR), [1]);
    ok((f.clRetainSemaphoreKHR)(semaphore.raw));
    assert_eq!(semaphore.ask::<u32>(CL_SEMAPHORE_REFERENCE_COUNT_KHR), [2]);
    ok((f.clReleaseSemaphoreKHR)(semaphore.raw));
    // With a list of devices.
    let list = [BINARY[0], BINARY[1], CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR.into(), device() as u64, 0, 0];
    let mut code = 1;
    let raw = (f.clCreateSemaphoreWithPropertiesKHR)(setup.context.raw(), list.as_ptr(), &mut code);
    ok(code);
    let other = Semaphore { functions: &f, raw };
    assert_eq!(other.ask::<u64>(CL_SEMAPHORE_PROPERTIES_KHR), list);
    assert_eq!(other.ask::<usize>(CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR), [device() as usize]);
    let code = (f.clGetSemaphoreInfoKHR)(other.raw, 0x1234, 0, ptr::null_mut(), ptr::null_mut());
    expect(code, CL_INVALID_VALUE);
}

#[test]
fn a_signal_is_used_up_by_one_wait() {
    let Some(f) = functions() else { return };
    let setup = Setup::new();
    let semaphore = Semaphore::new(&f, &setup.context);
    assert_eq!(semaphore.payload(), 0);
    for _ in 0..3 {
        let signaled = semaphore.signal(&setup.queue, &[]);
        finish(&setup.queue);
        assert_eq!((signaled.status(), semaphore.payload()), (CL_COMPLETE, 1));
        assert_eq!(signaled.info::<cl_command_type>(CL_EVENT_COMMAND_TYPE), CL_COMMAND_SEMAPHORE_SIGNAL_KHR);
        let waited = semaphore.wait(&setup.queue, &[]);
        finish(&setup.queue);
        assert_eq!((waited.status(), semaphore.payload()), (CL_COMPLETE, 0));
        assert_eq!(waited.info::<cl_command_type>(CL_EVENT_COMMAND_TYPE), CL_COMMAND_SEMAPHORE_WAIT_KHR);
    }
}

#[test]
fn what_is_behind_a_wait_runs_after_the_signal_of_another_queue() {
    let Some(f) = functions() else { return };
    let context = Context::new();
    for bits in [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let (first, second) = (context.queue(bits), context.queue(bits));
        let program = context.build(
            "kernel void make(global int *a) { a[get_global_id(0)] = (int)get_global_id(0); }
            kernel void use(global const int *a, global int *b) { b[get_global_id(0)] = a[get_global_id(0)] * 2; }",
            "",
        );
        let (make, use_it) = (program.kernel("make"), program.kernel("use"));
        let (a, b) = (context.zeros::<i32>(512), context.zeros::<i32>(512));
        make.set(0, &a);
        use_it.set_all(arguments![&a, &b]);
        let semaphore = Semaphore::new(&f, &context);
        let gate = context.user_event();
        // The wait comes first, and the gate keeps the signal back.
        let waited = semaphore.wait(&second, &[]);
        ok((cl().clEnqueueBarrierWithWaitList)(second.raw(), 0, ptr::null(), ptr::null_mut()));
        ok(try_launch(&second, &use_it, &[512], &[]));
        ok((cl().clFlush)(second.raw()));
        ok(try_launch(&first, &make, &[512], &[]));
        ok((cl().clEnqueueBarrierWithWaitList)(first.raw(), 0, ptr::null(), ptr::null_mut()));
        let signaled = semaphore.signal(&first, &[gate.raw()]);
        assert!(waited.status() > CL_COMPLETE && signaled.status() > CL_COMPLETE);
        ok((cl().clSetUserEventStatus)(gate.raw(), CL_COMPLETE));
        finish(&second);
        assert_eq!(read::<i32>(&second, &b), (0..512).map(|i| i * 2).collect::<Vec<_>>());
        assert_eq!((waited.status(), semaphore.payload()), (CL_COMPLETE, 0));
        finish(&first);
    }
}

#[test]
fn signals_and_waits_pair_in_the_order_of_their_calls() {
    let Some(f) = functions() else { return };
    let context = Context::new();
    let (first, second) = (context.queue(0), context.queue(0));
    let semaphore = Semaphore::new(&f, &context);
    // Both signals have run before the first wait does.
    let gate = context.user_event();
    let mut waits = Vec::new();
    for after in [vec![gate.raw()], Vec::new()] {
        semaphore.signal(&first, &[]);
        waits.push(semaphore.wait(&second, &after));
    }
    finish(&first);
    assert_eq!(semaphore.payload(), 1);
    ok(gate.set_status(CL_COMPLETE));
    finish(&second);
    assert_eq!([waits[0].status(), waits[1].status(), semaphore.payload() as cl_int], [CL_COMPLETE, CL_COMPLETE, 0]);
    // The second wait comes first, and is not let through by the first signal.
    let (gate, late) = (context.user_event(), context.user_event());
    let third = context.queue(0);
    let one = semaphore.signal(&first, &[]);
    let waits_for_one = semaphore.wait(&second, &[gate.raw()]);
    semaphore.signal(&first, &[late.raw()]);
    let waits_for_two = semaphore.wait(&third, &[]);
    ok(one.wait());
    ok((cl().clFlush)(third.raw()));
    ok(gate.set_status(CL_COMPLETE));
    ok(waits_for_one.wait());
    assert!(waits_for_two.status() > CL_COMPLETE);
    ok(late.set_status(CL_COMPLETE));
    ok(waits_for_two.wait());
    assert_eq!(semaphore.payload(), 0);
}

#[test]
fn the_wait_for_a_failing_signal_fails_and_so_does_one_that_nobody_can_signal() {
    let Some(f) = functions() else { return };
    let context = Context::new();
    let (first, second) = (context.queue(0), context.queue(0));
    let semaphore = Semaphore::new(&f, &context);
    let fails = context.user_event();
    semaphore.signal(&first, &[fails.raw()]);
    let lost = semaphore.wait(&second, &[]);
    semaphore.signal(&first, &[]);
    let found = semaphore.wait(&second, &[]);
    ok(fails.set_status(-3));
    finish(&second);
    assert_eq!((lost.status(), found.status()), (CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_COMPLETE));
    let never = semaphore.wait(&first, &[]);
    ok((cl().clFlush)(first.raw()));
    drop(semaphore);
    finish(&first);
    assert_eq!(never.status(), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
}

#[test]
fn several_at_once() {
    let Some(f) = functions() else { return };
    let setup = Setup::new();
    let other = setup.context.queue(0);
    let (a, b) = (Semaphore::new(&f, &setup.context), Semaphore::new(&f, &setup.context));
    let (both, payloads) = ([a.raw, b.raw], [3_u64, 4]);
    let mut event = ptr::null_mut();
    let wait = f.clEnqueueWaitSemaphoresKHR;
    ok(wait(other.raw(), 2, both.as_ptr(), payloads.as_ptr(), 0, ptr::null(), &mut event));
    let event = Event::own(event);
    ok((cl().clFlush)(other.raw()));
    a.signal(&setup.queue, &[]);
    finish(&setup.queue);
    assert!(event.status() > CL_COMPLETE, "one of the two is not signaled");
    let signal = f.clEnqueueSignalSemaphoresKHR;
    ok(signal(setup.queue.raw(), 1, &b.raw, payloads.as_ptr(), 0, ptr::null(), ptr::null_mut()));
    finish(&other);
    assert_eq!((event.status(), a.payload(), b.payload()), (CL_COMPLETE, 0, 0));
}

#[test]
fn a_wait_behind_what_fails_says_so_and_leaves_the_signal() {
    let Some(f) = functions() else { return };
    let setup = Setup::new();
    let semaphore = Semaphore::new(&f, &setup.context);
    let fails = setup.context.user_event();
    let waited = semaphore.wait(&setup.queue, &[fails.raw()]);
    ok((cl().clSetUserEventStatus)(fails.raw(), -7));
    finish(&setup.queue);
    assert_eq!(waited.status(), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    semaphore.signal(&setup.queue, &[]);
    finish(&setup.queue);
    assert_eq!(semaphore.payload(), 1);
    // And one that has failed already is refused.
    let (list, signal) = ([fails.raw()], f.clEnqueueSignalSemaphoresKHR);
    let code = signal(setup.queue.raw(), 1, &semaphore.raw, ptr::null(), 1, list.as_ptr(), ptr::null_mut());
    expect(code, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
}

#[test]
fn every_wrong_argument_has_its_code() {
    let Some(f) = functions() else { return };
    let setup = Setup::new();
    let create = |context: cl_context, list: *const u64| {
        let mut code = 1;
        let made = (f.clCreateSemaphoreWithPropertiesKHR)(context, list, &mut code);
        assert!(made.is_null());
        code
    };
    let c = setup.context.raw();
    let (kind, binary, devices) = (BINARY[0], BINARY[1], CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR.into());
    expect(create(device(), BINARY.as_ptr()), CL_INVALID_CONTEXT);
    expect(create(c, ptr::null()), CL_INVALID_VALUE);
    expect(create(c, [0].as_ptr()), CL_INVALID_VALUE);
    for wrong in [[kind, 7, 0, 0, 0], [kind, binary, kind, binary, 0], [kind, binary, 0x1234, 1, 0]] {
        expect(create(c, wrong.as_ptr()), CL_INVALID_PROPERTY);
    }
    let here = device() as u64;
    for wrong in [
        [kind, binary, devices, 0, 0, 0, 0],
        [kind, binary, devices, 8, 0, 0, 0],
        [kind, binary, devices, here, here, 0, 0],
    ] {
        expect(create(c, wrong.as_ptr()), CL_INVALID_DEVICE);
    }
    let semaphore = Semaphore::new(&f, &setup.context);
    let (other, null) = (Setup::new(), ptr::null_mut::<c_void>());
    let foreign = other.context.user_event();
    type Enqueue = extern "C" fn(
        cl_command_queue,
        cl_uint,
        *const cl_semaphore_khr,
        *const u64,
        cl_uint,
        *const cl_event,
        *mut cl_event,
    ) -> cl_int;
    let both: [Enqueue; 2] = [f.clEnqueueWaitSemaphoresKHR, f.clEnqueueSignalSemaphoresKHR];
    for enqueue in both {
        let call = |queue, count, list: &[cl_semaphore_khr], events: &[cl_event], number| {
            let events = if events.is_empty() { ptr::null() } else { events.as_ptr() };
            enqueue(queue, count, list.as_ptr(), ptr::null(), number, events, ptr::null_mut())
        };
        let (queue, it) = (setup.queue.raw(), [semaphore.raw]);
        expect(call(null, 1, &it, &[], 0), CL_INVALID_COMMAND_QUEUE);
        expect(call(queue, 0, &it, &[], 0), CL_INVALID_VALUE);
        expect(call(queue, 2, &[semaphore.raw, null], &[], 0), CL_INVALID_SEMAPHORE_KHR);
        expect(call(queue, 1, &[queue], &[], 0), CL_INVALID_SEMAPHORE_KHR);
        expect(call(other.queue.raw(), 1, &it, &[], 0), CL_INVALID_CONTEXT);
        expect(call(queue, 1, &it, &[foreign.raw()], 1), CL_INVALID_CONTEXT);
        expect(call(queue, 1, &it, &[], 1), CL_INVALID_EVENT_WAIT_LIST);
        expect(call(queue, 1, &it, &[foreign.raw()], 0), CL_INVALID_EVENT_WAIT_LIST);
        expect(call(queue, 1, &it, &[null], 1), CL_INVALID_EVENT_WAIT_LIST);
    }
    ok((cl().clSetUserEventStatus)(foreign.raw(), CL_COMPLETE));
    for wrong in [null, setup.queue.raw()] {
        expect((f.clRetainSemaphoreKHR)(wrong), CL_INVALID_SEMAPHORE_KHR);
        expect((f.clReleaseSemaphoreKHR)(wrong), CL_INVALID_SEMAPHORE_KHR);
        expect(
            (f.clGetSemaphoreInfoKHR)(wrong, CL_SEMAPHORE_TYPE_KHR, 0, null, ptr::null_mut()),
            CL_INVALID_SEMAPHORE_KHR,
        );
    }
    // No semaphore has a handle of another API.
    let export = |semaphore, device| {
        let kind = CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR;
        (f.clGetSemaphoreHandleForTypeKHR)(semaphore, device, kind, 4, null, ptr::null_mut())
    };
    expect(export(semaphore.raw, device()), CL_INVALID_VALUE);
    expect(export(semaphore.raw, null), CL_INVALID_DEVICE);
    expect(export(null, device()), CL_INVALID_SEMAPHORE_KHR);
    assert_eq!(semaphore.payload(), 0, "nothing was enqueued");
}
