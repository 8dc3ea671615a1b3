//! Command buffers, and launches in them that are changed.

use std::ffi::c_void;
use std::ptr;

use lockstep_conformance::opencl_sys::*;

use super::table::{Row, at, created};
use super::world::{SQUARE, World, memory};

const FLAGS: cl_command_buffer_properties_khr = CL_COMMAND_BUFFER_FLAGS_KHR;
const CONFIG: cl_command_buffer_update_type_khr = CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR;

/// A change of nothing.
fn config(command: cl_mutable_command_khr) -> cl_mutable_dispatch_config_khr {
    cl_mutable_dispatch_config_khr {
        command,
        num_args: 0,
        num_svm_args: 0,
        num_exec_infos: 0,
        work_dim: 0,
        arg_list: ptr::null(),
        arg_svm_list: ptr::null(),
        exec_info_list: ptr::null(),
        global_work_offset: ptr::null(),
        global_work_size: ptr::null(),
        local_work_size: ptr::null(),
    }
}

/// The world's launch is changed.
fn change(w: &World, change: impl FnOnce(&mut cl_mutable_dispatch_config_khr)) -> cl_int {
    change_of(w, w.dispatch, change)
}

fn change_of(
    w: &World,
    command: cl_mutable_command_khr,
    change: impl FnOnce(&mut cl_mutable_dispatch_config_khr),
) -> cl_int {
    let mut config = config(command);
    change(&mut config);
    let mut configs = at(&config).cast_const();
    (w.mutable.clUpdateMutableCommandsKHR)(w.changeable, 1, &CONFIG, &mut configs)
}

fn shared(w: &World, offset: usize) -> *mut c_void {
    w.shared.wrapping_byte_add(offset)
}

rows! { |w|
    recorder.clCreateCommandBufferKHR: new (1, &w.queue, [FLAGS, CL_COMMAND_BUFFER_MUTABLE_KHR, 0].as_ptr()) {
        CL_INVALID_COMMAND_QUEUE "no queue": (1, &ptr::null_mut(), ptr::null());
        CL_INVALID_VALUE "no queues": (0, &w.queue, ptr::null());
        CL_INVALID_VALUE "two queues": (2, [w.queue, w.queue].as_ptr(), ptr::null());
        CL_INVALID_VALUE "no list": (1, ptr::null(), ptr::null());
        CL_INVALID_VALUE "an unknown property": (1, &w.queue, [0x7FFF, 1, 0].as_ptr());
        CL_INVALID_VALUE "unknown flags": (1, &w.queue, [FLAGS, 1 << 40, 0].as_ptr());
        CL_INVALID_VALUE "a property given twice": (1, &w.queue, [FLAGS, 0, FLAGS, 0, 0].as_ptr());
    }
    recorder.clRetainCommandBufferKHR: code (w.recording) { CL_INVALID_COMMAND_BUFFER_KHR "none": (ptr::null_mut()); }
    recorder.clReleaseCommandBufferKHR: code (w.recording) { CL_INVALID_COMMAND_BUFFER_KHR "none": (ptr::null_mut()); }
    recorder.clFinalizeCommandBufferKHR: never () {
        CL_INVALID_COMMAND_BUFFER_KHR "none": (ptr::null_mut());
        CL_INVALID_OPERATION "one that is finalized": (w.finalized);
    }
    recorder.clEnqueueCommandBufferKHR: code (1, &mut w.queue.clone(), w.finalized, 1, &w.event, ptr::null_mut()) {
        CL_INVALID_COMMAND_BUFFER_KHR "none": (0, ptr::null_mut(), ptr::null_mut(), 0, ptr::null(), ptr::null_mut());
        CL_INVALID_OPERATION "one that records": (0, ptr::null_mut(), w.recording, 0, ptr::null(), ptr::null_mut());
        CL_INVALID_OPERATION "one that lacks arguments":
            (0, ptr::null_mut(), w.incomplete, 0, ptr::null(), ptr::null_mut());
        CL_INVALID_VALUE "a count without queues": (1, ptr::null_mut(), w.finalized, 0, ptr::null(), ptr::null_mut());
        CL_INVALID_VALUE "queues without a count":
            (0, &mut w.queue.clone(), w.finalized, 0, ptr::null(), ptr::null_mut());
        CL_INVALID_VALUE "two queues":
            (2, [w.queue, w.queue].as_mut_ptr(), w.finalized, 0, ptr::null(), ptr::null_mut());
        CL_INVALID_COMMAND_QUEUE "no queue":
            (1, &mut ptr::null_mut(), w.finalized, 0, ptr::null(), ptr::null_mut());
        CL_INVALID_CONTEXT "a queue of another context":
            (1, &mut w.other.queue.clone(), w.finalized, 0, ptr::null(), ptr::null_mut());
        CL_INVALID_CONTEXT "an event of another context":
            (0, ptr::null_mut(), w.finalized, 1, &w.other.event, ptr::null_mut());
        CL_INVALID_EVENT_WAIT_LIST "a count without events":
            (0, ptr::null_mut(), w.finalized, 1, ptr::null(), ptr::null_mut());
        CL_INVALID_EVENT_WAIT_LIST "events without a count":
            (0, ptr::null_mut(), w.finalized, 0, &w.event, ptr::null_mut());
        CL_INVALID_EVENT_WAIT_LIST "a wait for no event":
            (0, ptr::null_mut(), w.finalized, 1, &ptr::null_mut(), ptr::null_mut());
    }
    recorder.clGetCommandBufferInfoKHR: info (w.finalized => CL_COMMAND_BUFFER_STATE_KHR) {
        CL_INVALID_COMMAND_BUFFER_KHR "none": (ptr::null_mut() => CL_COMMAND_BUFFER_STATE_KHR);
    }
    recorder.clCommandBarrierWithWaitListKHR: record () {}
    recorder.clCommandCopyBufferKHR: record (w.buffer, w.target, 0, 0, 64) {
        CL_INVALID_MEM_OBJECT "no source": (ptr::null_mut(), w.target, 0, 0, 64);
        CL_INVALID_CONTEXT "a target of another context": (w.buffer, w.other.buffer, 0, 0, 64);
        CL_INVALID_VALUE "an end outside": (w.buffer, w.target, 1, 0, 64);
        CL_MEM_COPY_OVERLAP "a range on itself": (w.buffer, w.buffer, 0, 8, 16);
    }
    recorder.clCommandCopyBufferRectKHR: record
        (w.buffer, w.target, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 4].as_ptr(), 4, 16, 4, 16) {
        CL_INVALID_MEM_OBJECT "no target":
            (w.buffer, ptr::null_mut(), [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 4].as_ptr(), 4, 16, 4, 16);
        CL_INVALID_CONTEXT "a source of another context":
            (w.other.buffer, w.target, [0; 3].as_ptr(), [0; 3].as_ptr(), [4, 4, 4].as_ptr(), 4, 16, 4, 16);
        CL_INVALID_VALUE "no region":
            (w.buffer, w.target, [0; 3].as_ptr(), [0; 3].as_ptr(), ptr::null(), 4, 16, 4, 16);
        CL_MEM_COPY_OVERLAP "a region on itself":
            (w.buffer, w.buffer, [0; 3].as_ptr(), [1, 0, 0].as_ptr(), [2, 2, 1].as_ptr(), 4, 16, 4, 16);
    }
    recorder.clCommandCopyBufferToImageKHR: record (w.target, w.image, 0, [0; 3].as_ptr(), SQUARE.as_ptr()) {
        CL_INVALID_MEM_OBJECT "a buffer for an image": (w.target, w.buffer, 0, [0; 3].as_ptr(), SQUARE.as_ptr());
        CL_INVALID_CONTEXT "an image of another context":
            (w.target, w.other.image, 0, [0; 3].as_ptr(), SQUARE.as_ptr());
        CL_INVALID_VALUE "a region outside": (w.target, w.image, 0, [1, 0, 0].as_ptr(), SQUARE.as_ptr());
    }
    recorder.clCommandCopyImageKHR: record (w.image, w.picture, [0; 3].as_ptr(), [0; 3].as_ptr(), SQUARE.as_ptr()) {
        CL_INVALID_MEM_OBJECT "a buffer for an image":
            (w.buffer, w.picture, [0; 3].as_ptr(), [0; 3].as_ptr(), SQUARE.as_ptr());
        CL_INVALID_CONTEXT "an image of another context":
            (w.other.image, w.picture, [0; 3].as_ptr(), [0; 3].as_ptr(), SQUARE.as_ptr());
        CL_IMAGE_FORMAT_MISMATCH "two formats":
            (w.image, w.float_image, [0; 3].as_ptr(), [0; 3].as_ptr(), SQUARE.as_ptr());
        CL_INVALID_VALUE "a region outside":
            (w.image, w.picture, [1, 0, 0].as_ptr(), [0; 3].as_ptr(), SQUARE.as_ptr());
        CL_MEM_COPY_OVERLAP "a region on itself":
            (w.image, w.image, [0; 3].as_ptr(), [1, 0, 0].as_ptr(), [2, 2, 1].as_ptr());
    }
    recorder.clCommandCopyImageToBufferKHR: record (w.image, w.target, [0; 3].as_ptr(), SQUARE.as_ptr(), 0) {
        CL_INVALID_MEM_OBJECT "a buffer for an image": (w.buffer, w.target, [0; 3].as_ptr(), SQUARE.as_ptr(), 0);
        CL_INVALID_CONTEXT "an image of another context":
            (w.other.image, w.target, [0; 3].as_ptr(), SQUARE.as_ptr(), 0);
        CL_INVALID_VALUE "a region outside": (w.image, w.target, [1, 0, 0].as_ptr(), SQUARE.as_ptr(), 0);
    }
    recorder.clCommandFillBufferKHR: record (w.target, memory(), 4, 0, 64) {
        CL_INVALID_MEM_OBJECT "no buffer": (ptr::null_mut(), memory(), 4, 0, 64);
        CL_INVALID_CONTEXT "a buffer of another context": (w.other.buffer, memory(), 4, 0, 64);
        CL_INVALID_VALUE "no pattern": (w.target, ptr::null(), 4, 0, 64);
        CL_INVALID_VALUE "a pattern of an odd size": (w.target, memory(), 3, 0, 63);
        CL_INVALID_VALUE "an end outside": (w.target, memory(), 4, 4, 64);
    }
    recorder.clCommandFillImageKHR: record (w.image, memory(), [0; 3].as_ptr(), SQUARE.as_ptr()) {
        CL_INVALID_MEM_OBJECT "a buffer": (w.buffer, memory(), [0; 3].as_ptr(), SQUARE.as_ptr());
        CL_INVALID_CONTEXT "an image of another context": (w.other.image, memory(), [0; 3].as_ptr(), SQUARE.as_ptr());
        CL_INVALID_VALUE "no color": (w.image, ptr::null(), [0; 3].as_ptr(), SQUARE.as_ptr());
        CL_INVALID_VALUE "a region outside": (w.image, memory(), [1, 0, 0].as_ptr(), SQUARE.as_ptr());
    }
    recorder.clCommandSVMMemcpyKHR: record (w.shared, shared(w, 128), 64) {
        CL_INVALID_VALUE "no target": (ptr::null_mut(), w.shared, 64);
        CL_INVALID_VALUE "no source": (w.shared, ptr::null(), 64);
        CL_MEM_COPY_OVERLAP "a range on itself": (w.shared, shared(w, 32), 64);
    }
    recorder.clCommandSVMMemFillKHR: record (w.shared, memory(), 4, 64) {
        CL_INVALID_VALUE "no target": (ptr::null_mut(), memory(), 4, 64);
        CL_INVALID_VALUE "no pattern": (w.shared, ptr::null(), 4, 64);
        CL_INVALID_VALUE "a pattern of an odd size": (w.shared, memory(), 3, 63);
    }
    recorder.clCommandNDRangeKernelKHR: launch (w.kernel, 1, ptr::null(), &4, &2) {
        CL_INVALID_KERNEL "no kernel": (ptr::null_mut(), 1, ptr::null(), &4, &2);
        CL_INVALID_CONTEXT "a kernel of another context": (w.other.kernel, 1, ptr::null(), &4, &2);
        CL_INVALID_KERNEL_ARGS "a kernel without its argument": (w.unset, 1, ptr::null(), &4, &2);
        CL_INVALID_WORK_DIMENSION "no dimensions": (w.kernel, 0, ptr::null(), &4, &2);
        CL_INVALID_WORK_GROUP_SIZE "another group than the required": (w.pair, 1, ptr::null(), &4, &4);
    }
    mutable.clGetMutableCommandInfoKHR: info (w.dispatch => CL_MUTABLE_DISPATCH_DIMENSIONS_KHR) {
        CL_INVALID_MUTABLE_COMMAND_KHR "none": (ptr::null_mut() => CL_MUTABLE_DISPATCH_DIMENSIONS_KHR);
    }
    mutable.clUpdateMutableCommandsKHR: code
        (w.changeable, 1, &CONFIG, &mut at(&config(w.dispatch)).cast_const()) {
        CL_INVALID_COMMAND_BUFFER_KHR "none": (ptr::null_mut(), 0, ptr::null(), ptr::null_mut());
        CL_INVALID_OPERATION "one that records": (w.recording, 0, ptr::null(), ptr::null_mut());
        CL_INVALID_OPERATION "one that cannot be changed": (w.finalized, 0, ptr::null(), ptr::null_mut());
        CL_INVALID_VALUE "no types": (w.changeable, 1, ptr::null(), &mut at(&config(w.dispatch)).cast_const());
        CL_INVALID_VALUE "types without a count": (w.changeable, 0, &CONFIG, ptr::null_mut());
        CL_INVALID_VALUE "no changes": (w.changeable, 1, &CONFIG, ptr::null_mut());
        CL_INVALID_VALUE "changes without a count":
            (w.changeable, 0, ptr::null(), &mut at(&config(w.dispatch)).cast_const());
        CL_INVALID_VALUE "an unknown type": (w.changeable, 1, &7, &mut at(&config(w.dispatch)).cast_const());
        CL_INVALID_VALUE "no change in the list": (w.changeable, 1, &CONFIG, &mut ptr::null());
        CL_INVALID_MUTABLE_COMMAND_KHR "no command":
            (w.changeable, 1, &CONFIG, &mut at(&config(ptr::null_mut())).cast_const());
    }
}

/// A launch may have been recorded so that something of it cannot be changed, and some changes no launch takes.
#[test]
fn changes() {
    if !lockstep_conformance::is_lockstep() {
        return;
    }
    let w = &World::new();
    let argument = cl_mutable_dispatch_arg_khr { arg_index: 0, arg_size: 8, arg_value: at(&w.buffer) };
    let table: &[(&str, cl_int, cl_int)] = &[
        ("nothing", CL_SUCCESS, change(w, |_| ())),
        ("another number of dimensions", CL_INVALID_OPERATION, change(w, |c| c.work_dim = 2)),
        ("another uniformity", CL_INVALID_OPERATION, change(w, |c| c.global_work_size = &5)),
        ("arguments without a count", CL_INVALID_VALUE, change(w, |c| c.arg_list = &argument)),
        ("a count without arguments", CL_INVALID_VALUE, change(w, |c| c.num_args = 1)),
        ("a count without addresses", CL_INVALID_VALUE, change(w, |c| c.num_svm_args = 1)),
        ("a count without information", CL_INVALID_VALUE, change(w, |c| c.num_exec_infos = 1)),
        ("a fixed offset", CL_INVALID_OPERATION, change_of(w, w.fixed, |c| c.global_work_offset = &4)),
        ("a fixed global size", CL_INVALID_OPERATION, change_of(w, w.fixed, |c| c.global_work_size = &4)),
        ("a fixed local size", CL_INVALID_OPERATION, change_of(w, w.fixed, |c| c.local_work_size = &2)),
        ("fixed arguments", CL_INVALID_OPERATION, change_of(w, w.fixed, |c| (c.num_args, c.arg_list) = (1, &argument))),
        ("fixed addresses", CL_INVALID_OPERATION, change_of(w, w.fixed, |c| c.num_svm_args = 1)),
        ("fixed information", CL_INVALID_OPERATION, change_of(w, w.fixed, |c| c.num_exec_infos = 1)),
    ];
    for &(what, expected, got) in table {
        assert_eq!(got, expected, "{what}");
    }
}
