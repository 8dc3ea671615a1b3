//! Each failing call says what is wrong: one line on standard error where `LOCKSTEP_LOG` asks for it, the same to the
//! context's callback. The calls are those of all tables.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::Mutex;

use lockstep_conformance::child::in_child;
use lockstep_conformance::commands::marker;
use lockstep_conformance::entry_points::ENTRY_POINTS;
use lockstep_conformance::loader::{cl, device, driver};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Context, arguments, code_name, expect, is_lockstep, ok};

use super::table::Row;
use super::world::World;
use super::{all, extension_names};

/// Stands before what a call says.
const MARK: &str = "<<<call>>>";

/// Entry points that no call makes fail.
const NEVER_FAIL: [&str; 3] =
    ["clUnloadCompiler", "clGetExtensionFunctionAddress", "clGetExtensionFunctionAddressForPlatform"];
/// Those that fail without a code.
const WITHOUT_CODE: [&str; 2] = ["clSVMAlloc", "clSVMFree"];

/// The lines that entry points have written.
fn lines_of_calls(text: &str) -> Vec<&str> {
    // Lines about commands that fail name the kind of the command, and come when they come.
    text.lines().filter(|line| line.starts_with("lockstep: cl")).collect()
}

/// What is wrong with what a row's call has said.
fn complaint(row: &Row, said: &str) -> Option<String> {
    let lines = lines_of_calls(said);
    let complain = |what: &str| Some(format!("{} with {}: {what}: {lines:?}", row.function, row.wrong));
    if row.code == CL_SUCCESS {
        return if lines.is_empty() { None } else { complain("a message of what succeeds") };
    }
    let [line] = lines[..] else { return complain("not one message") };
    let code = format!(" [{}]", code_name(row.code));
    let Some(rest) = line.strip_suffix(&code) else { return complain("another code") };
    let Some((name, sentence)) = rest.strip_prefix("lockstep: ").and_then(|rest| rest.split_once(": ")) else {
        return complain("no form");
    };
    // One function under two names, that of an extension and that of the core.
    let core = |name: &str| name.trim_end_matches("KHR").trim_end_matches("EXT").to_owned();
    if core(name) != core(row.function) {
        return complain("another entry point");
    }
    let is_sentence = sentence.split_whitespace().count() >= 3 && !sentence.ends_with('.');
    if !is_sentence { complain("no sentence") } else { None }
}

#[test]
fn every_failing_call_says_what_is_wrong() {
    if !is_lockstep() {
        return;
    }
    let rows = all();
    let name = "sentences::every_failing_call_says_what_is_wrong";
    let output = in_child(name, &[("LOCKSTEP_LOG", "error")], || {
        let world = World::new();
        for row in &rows {
            eprintln!("{MARK}");
            (row.call)(&world);
        }
    });
    let said: Vec<&str> = output.stderr.split(MARK).skip(1).collect();
    assert_eq!(said.len(), rows.len());
    let complaints: Vec<String> = rows.iter().zip(said).filter_map(|(row, said)| complaint(row, said)).collect();
    assert!(complaints.is_empty(), "{} of {} wrong:\n{}", complaints.len(), rows.len(), complaints.join("\n"));
}

#[test]
fn no_entry_point_is_left_out() {
    let failing: BTreeSet<&str> = all().iter().filter(|row| row.code != CL_SUCCESS).map(|row| row.function).collect();
    let names = ENTRY_POINTS.iter().map(|entry| entry.0).chain(extension_names());
    let missing: Vec<&str> = names
        .filter(|name| !failing.contains(name) && !NEVER_FAIL.contains(name) && !WITHOUT_CODE.contains(name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn what_has_no_code_to_return_says_it_all_the_same() {
    if !is_lockstep() {
        return;
    }
    let name = "sentences::what_has_no_code_to_return_says_it_all_the_same";
    let output = in_child(name, &[("LOCKSTEP_LOG", "error")], || {
        let context = Context::new();
        // The ICD loader makes calls of its own before.
        eprintln!("{MARK}");
        assert!((driver().clSVMAlloc)(context.raw(), 0, 0, 0).is_null());
        (driver().clSVMFree)(ptr::null_mut(), ptr::null_mut());
    });
    let expected = [
        "lockstep: clSVMAlloc: an allocation of 0 bytes [CL_INVALID_BUFFER_SIZE]",
        "lockstep: clSVMFree: NULL is not a context [CL_INVALID_CONTEXT]",
    ];
    let said = output.stderr.split_once(MARK).map(|(_, said)| said);
    assert_eq!(lines_of_calls(said.expect("a mark")), expected);
}

#[test]
fn nothing_is_said_where_nobody_asks() {
    if !is_lockstep() {
        return;
    }
    for log in ["off", ""] {
        let output = in_child("sentences::nothing_is_said_where_nobody_asks", &[("LOCKSTEP_LOG", log)], || {
            expect((driver().clFinish)(ptr::null_mut()), CL_INVALID_COMMAND_QUEUE);
        });
        assert_eq!(lines_of_calls(&output.stderr), [""; 0]);
    }
}

static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Keeps what it is told, and makes a call that fails as well, which must not call it again.
extern "C" fn tell(message: *const c_char, _: *const c_void, _: usize, context: *mut c_void) {
    // SAFETY: the driver hands a terminated string over for the time of the call.
    let message = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
    TOLD.lock().expect("no panic").push(message);
    if !context.is_null() {
        // SAFETY: the place of the context's handle, null before there is one.
        let context = unsafe { context.cast::<cl_context>().read() };
        let mut code = CL_SUCCESS;
        (driver().clCreateBuffer)(context, 0, 0, ptr::null_mut(), &mut code);
        assert_eq!(code, CL_INVALID_BUFFER_SIZE);
    }
}

#[test]
fn the_context_is_told_once_of_each_call_and_command() {
    if !is_lockstep() {
        return;
    }
    let (mut code, mut raw): (_, cl_context) = (1, ptr::null_mut());
    let place = (&raw mut raw).cast();
    raw = (cl().clCreateContext)(ptr::null(), 1, &device(), Some(tell), place, &mut code);
    ok(code);
    let context = Context::own(raw);
    let queue = context.queue(0);
    let kernel = context.kernel("kernel void f(global int *a, int n) { a[n] = n; }", "f");
    let buffer = context.zeros::<i32>(4);
    kernel.set(0, &buffer);
    let (d, size) = (driver(), 5_usize);
    let launch = |size: &usize, local: *const usize| {
        let none = ptr::null();
        (d.clEnqueueNDRangeKernel)(queue.raw(), kernel.raw(), 1, none, size, local, 0, ptr::null(), ptr::null_mut())
    };
    expect(launch(&size, ptr::null()), CL_INVALID_KERNEL_ARGS);
    kernel.set_all(arguments![&buffer, 1_i32]);
    expect(launch(&size, &2), CL_INVALID_WORK_GROUP_SIZE);
    expect((d.clSetKernelArg)(kernel.raw(), 1, 8, (&raw const size).cast()), CL_INVALID_ARG_SIZE);
    expect((d.clSetKernelArg)(kernel.raw(), 2, 8, (&raw const size).cast()), CL_INVALID_ARG_INDEX);
    expect((d.clGetMemObjectInfo)(buffer.raw(), 7, 0, ptr::null_mut(), ptr::null_mut()), CL_INVALID_VALUE);
    // A command that fails is told by its kind.
    let gate = context.user_event();
    ok(gate.set_status(-6));
    let event = marker(&queue, &[&gate]);
    event.wait();
    let told = TOLD.lock().expect("no panic");
    let expected = [
        "clEnqueueNDRangeKernel: argument 1 'n' (int) of kernel 'f' was never set [CL_INVALID_KERNEL_ARGS]",
        "clEnqueueNDRangeKernel: kernel 'f': local_work_size[0] 2 does not divide global_work_size[0] 5, and the program \
         is built for groups of one size [CL_INVALID_WORK_GROUP_SIZE]",
        "clSetKernelArg: argument 1 'n' (int) of kernel 'f' has 4 bytes; arg_size is 8 [CL_INVALID_ARG_SIZE]",
        "clSetKernelArg: there is no argument 2: kernel 'f' has 2 [CL_INVALID_ARG_INDEX]",
        "clGetMemObjectInfo: param_name 0x7 is nothing that this function can be asked for [CL_INVALID_VALUE]",
        "CL_COMMAND_MARKER: it waited for CL_COMMAND_USER, which ended with CL_OUT_OF_HOST_MEMORY \
         [CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST]",
    ];
    assert_eq!(*told, expected);
}
