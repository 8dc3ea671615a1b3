//! `cl_khr_command_buffer_mutable_dispatch`: launches of a recording that are changed between its runs, also while earlier
//! runs are in flight.

use std::ffi::c_void;
use std::ptr;

use lockstep_conformance::commands::finish;
use lockstep_conformance::extension_functions::{CommandBuffers, MutableDispatch};
use lockstep_conformance::loader::{cl, device, has_extension};
use lockstep_conformance::objects::{Kernel, Queue};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Plain, Setup, Svm, arguments, expect, info, ok, read, write};

const ALL: u64 = CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR
    | CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR
    | CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR
    | CL_MUTABLE_DISPATCH_ARGUMENTS_KHR
    | CL_MUTABLE_DISPATCH_EXEC_INFO_KHR;

struct Recorder {
    f: CommandBuffers,
    m: MutableDispatch,
    raw: cl_command_buffer_khr,
}

impl Drop for Recorder {
    fn drop(&mut self) {
        ok((self.f.clReleaseCommandBufferKHR)(self.raw));
    }
}

/// A change of nothing.
fn change(command: cl_mutable_command_khr) -> cl_mutable_dispatch_config_khr {
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

fn argument<T>(index: u32, value: &T) -> cl_mutable_dispatch_arg_khr {
    cl_mutable_dispatch_arg_khr { arg_index: index, arg_size: size_of::<T>(), arg_value: ptr::from_ref(value).cast() }
}

impl Recorder {
    fn new(queue: &Queue, flags: cl_command_buffer_flags_khr) -> Option<Self> {
        Self::with(queue, &[CL_COMMAND_BUFFER_FLAGS_KHR, flags, 0])
    }

    fn with(queue: &Queue, properties: &[cl_command_buffer_properties_khr]) -> Option<Self> {
        if !has_extension("cl_khr_command_buffer_mutable_dispatch") {
            return None;
        }
        let (f, m) = (CommandBuffers::new(), MutableDispatch::new());
        let mut code = 1;
        let raw = (f.clCreateCommandBufferKHR)(1, &queue.raw(), properties.as_ptr(), &mut code);
        ok(code);
        Some(Recorder { f, m, raw })
    }

    fn try_launch(
        &self,
        kernel: &Kernel,
        global: usize,
        local: usize,
        properties: &[u64],
    ) -> Result<cl_mutable_command_khr, cl_int> {
        let (none, mut handle) = (ptr::null(), ptr::null_mut());
        let list = if properties.is_empty() { ptr::null() } else { properties.as_ptr() };
        let (sizes, record) = ([global, local], self.f.clCommandNDRangeKernelKHR);
        let (global, local) = (&raw const sizes[0], &raw const sizes[1]);
        let (points, point) = (ptr::null(), ptr::null_mut());
        let queue = ptr::null_mut();
        let code = record(self.raw, queue, list, kernel.raw(), 1, none, global, local, 0, points, point, &mut handle);
        if code == CL_SUCCESS { Ok(handle) } else { Err(code) }
    }

    fn launch(&self, kernel: &Kernel, global: usize, local: usize) -> cl_mutable_command_khr {
        self.try_launch(kernel, global, local, &[]).expect("a recorded launch")
    }

    fn finalize(&self) {
        ok((self.f.clFinalizeCommandBufferKHR)(self.raw));
    }

    fn update(&self, changes: &[cl_mutable_dispatch_config_khr]) -> cl_int {
        let types = vec![CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR; changes.len()];
        let mut list: Vec<*const c_void> = changes.iter().map(|change| ptr::from_ref(change).cast()).collect();
        (self.m.clUpdateMutableCommandsKHR)(self.raw, changes.len() as cl_uint, types.as_ptr(), list.as_mut_ptr())
    }

    fn enqueue(&self) -> cl_int {
        (self.f.clEnqueueCommandBufferKHR)(0, ptr::null_mut(), self.raw, 0, ptr::null(), ptr::null_mut())
    }

    fn state(&self) -> u32 {
        let ask = self.f.clGetCommandBufferInfoKHR;
        info::value(|size, value, returned| ask(self.raw, CL_COMMAND_BUFFER_STATE_KHR, size, value, returned))
    }

    fn ask<T: Plain>(&self, command: cl_mutable_command_khr, name: cl_mutable_command_info_khr) -> Vec<T> {
        let ask = self.m.clGetMutableCommandInfoKHR;
        info::array(|size, value, returned| ask(command, name, size, value, returned))
    }
}

const SOURCE: &str = "kernel void f(global uint *a, uint value) {
    a[get_global_id(0)] += value + 1000 * get_local_size(0);
}";

#[test]
fn sizes_and_arguments_change_for_later_runs_only() {
    let setup = Setup::new();
    let flags = CL_COMMAND_BUFFER_MUTABLE_KHR | CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR;
    let Some(buffer) = Recorder::new(&setup.queue, flags) else { return };
    let kernel = setup.context.kernel(SOURCE, "f");
    let (a, b) = (setup.context.zeros::<u32>(64), setup.context.zeros::<u32>(64));
    kernel.set_all(arguments![&a, 1_u32]);
    let command = buffer.launch(&kernel, 32, 4);
    buffer.finalize();
    let gate = setup.context.user_event();
    ok((cl().clEnqueueMarkerWithWaitList)(setup.queue.raw(), 1, &gate.raw(), ptr::null_mut()));
    ok(buffer.enqueue());
    // Other memory, another value, other sizes, while the first run waits.
    let (object, value) = (b.raw(), 7_u32);
    let list = [argument(0, &object), argument(1, &value)];
    let (offset, global, local) = ([16_usize], [48_usize], [8_usize]);
    let all = cl_mutable_dispatch_config_khr {
        num_args: 2,
        arg_list: list.as_ptr(),
        work_dim: 1,
        global_work_offset: offset.as_ptr(),
        global_work_size: global.as_ptr(),
        local_work_size: local.as_ptr(),
        ..change(command)
    };
    ok(buffer.update(&[all]));
    assert_eq!(buffer.ask::<usize>(command, CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR), offset);
    assert_eq!(buffer.ask::<usize>(command, CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR), global);
    assert_eq!(buffer.ask::<usize>(command, CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR), local);
    ok(buffer.enqueue());
    ok(buffer.enqueue());
    ok((cl().clSetUserEventStatus)(gate.raw(), CL_COMPLETE));
    finish(&setup.queue);
    assert_eq!(read::<u32>(&setup.queue, &a), [vec![4001; 32], vec![0; 32]].concat());
    assert_eq!(read::<u32>(&setup.queue, &b), [vec![0; 16], vec![16_014; 48]].concat());
    // What is not named stays.
    ok(buffer.update(&[change(command)]));
    ok(buffer.enqueue());
    assert_eq!(read::<u32>(&setup.queue, &b)[16..], [24_021; 48]);
}

#[test]
fn shared_memory_takes_the_place_of_a_buffer() {
    let setup = Setup::new();
    let Some(buffer) = Recorder::new(&setup.queue, CL_COMMAND_BUFFER_MUTABLE_KHR) else { return };
    let kernel = setup.context.kernel(SOURCE, "f");
    let (a, memory) = (setup.context.zeros::<u32>(8), Svm::<u32>::new(&setup.context, CL_MEM_READ_WRITE, 8));
    kernel.set_all(arguments![&a, 5_u32]);
    let command = buffer.launch(&kernel, 8, 8);
    buffer.finalize();
    let pointer = cl_mutable_dispatch_arg_khr { arg_index: 0, arg_size: 0, arg_value: memory.at(0) };
    let told = [memory.at(0)];
    let exec = cl_mutable_dispatch_exec_info_khr {
        param_name: CL_KERNEL_EXEC_INFO_SVM_PTRS,
        param_value_size: 8,
        param_value: told.as_ptr().cast(),
    };
    let both = cl_mutable_dispatch_config_khr {
        num_svm_args: 1,
        arg_svm_list: &pointer,
        num_exec_infos: 1,
        exec_info_list: &exec,
        ..change(command)
    };
    ok(buffer.update(&[both]));
    ok(buffer.enqueue());
    finish(&setup.queue);
    assert_eq!(memory.values(), [8005; 8]);
    assert_eq!(read::<u32>(&setup.queue, &a), [0; 8]);
}

#[test]
fn arguments_may_come_after_recording() {
    let setup = Setup::new();
    let Some(buffer) = Recorder::new(&setup.queue, CL_COMMAND_BUFFER_MUTABLE_KHR) else { return };
    let kernel = setup.context.kernel(SOURCE, "f");
    let a = setup.context.zeros::<u32>(16);
    kernel.set(1, 3_u32);
    let command = buffer.launch(&kernel, 16, 2);
    assert_eq!(buffer.state(), CL_COMMAND_BUFFER_STATE_RECORDING_KHR);
    buffer.finalize();
    assert_eq!(buffer.state(), CL_COMMAND_BUFFER_STATE_FINALIZED_KHR);
    expect(buffer.enqueue(), CL_INVALID_OPERATION);
    let object = a.raw();
    let list = [argument(0, &object)];
    ok(buffer.update(&[cl_mutable_dispatch_config_khr { num_args: 1, arg_list: list.as_ptr(), ..change(command) }]));
    assert_eq!(buffer.state(), CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR);
    ok(buffer.enqueue());
    assert_eq!(read::<u32>(&setup.queue, &a), [2003; 16]);
}

#[test]
fn queries() {
    let setup = Setup::new();
    let Some(buffer) = Recorder::new(&setup.queue, CL_COMMAND_BUFFER_MUTABLE_KHR) else { return };
    let device_info = |name| -> u64 {
        info::value(|size, value, returned| (cl().clGetDeviceInfo)(device(), name, size, value, returned))
    };
    assert_eq!(device_info(CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR), ALL);
    let simultaneous = CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR;
    assert_ne!(device_info(CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR) & simultaneous, 0);
    let kernel = setup.context.kernel(SOURCE, "f");
    kernel.set_all(arguments![&setup.context.zeros::<u32>(16), 3_u32]);
    let list = [CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, CL_MUTABLE_DISPATCH_ARGUMENTS_KHR, 0];
    let command = buffer.try_launch(&kernel, 16, 4, &list).expect("a recorded launch");
    assert_eq!(buffer.ask::<usize>(command, CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR), [setup.queue.raw() as usize]);
    assert_eq!(buffer.ask::<usize>(command, CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR), [buffer.raw as usize]);
    assert_eq!(buffer.ask::<u32>(command, CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR), [CL_COMMAND_NDRANGE_KERNEL]);
    assert_eq!(buffer.ask::<u64>(command, CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR), list);
    assert_eq!(buffer.ask::<usize>(command, CL_MUTABLE_DISPATCH_KERNEL_KHR), [kernel.raw() as usize]);
    assert_eq!(buffer.ask::<u32>(command, CL_MUTABLE_DISPATCH_DIMENSIONS_KHR), [1]);
    assert_eq!(buffer.ask::<usize>(command, CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR), [0]);
    assert_eq!(buffer.ask::<usize>(command, CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR), [16]);
    assert_eq!(buffer.ask::<usize>(command, CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR), [4]);
    let ask = buffer.m.clGetMutableCommandInfoKHR;
    expect(ask(command, 0x1234, 0, ptr::null_mut(), ptr::null_mut()), CL_INVALID_VALUE);
    let name = CL_MUTABLE_DISPATCH_DIMENSIONS_KHR;
    expect(ask(setup.queue.raw(), name, 0, ptr::null_mut(), ptr::null_mut()), CL_INVALID_MUTABLE_COMMAND_KHR);
    for wrong in [[CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, 1 << 10, 0], [0x1234, 0, 0]] {
        assert_eq!(buffer.try_launch(&kernel, 16, 4, &wrong), Err(CL_INVALID_VALUE));
    }
}

#[test]
fn recordings_may_promise_no_more_groups() {
    // As in OpenCL's headers; opencl-sys 0.6.5 has another number.
    const COMMAND_BUFFER_ASSERTS: cl_command_buffer_properties_khr = 0x12B7;
    let setup = Setup::new();
    let promise = CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR;
    let mutable = [CL_COMMAND_BUFFER_FLAGS_KHR, CL_COMMAND_BUFFER_MUTABLE_KHR];
    let properties = [mutable[0], mutable[1], COMMAND_BUFFER_ASSERTS, promise, 0];
    let Some(buffer) = Recorder::with(&setup.queue, &properties) else { return };
    let kernel =
        setup.context.kernel("kernel void f(global uint *a) { a[get_global_id(0)] += get_num_groups(0); }", "f");
    let a = setup.context.zeros::<u32>(16);
    kernel.set_all(arguments![&a]);
    let command = buffer.try_launch(&kernel, 16, 4, &[CL_MUTABLE_DISPATCH_ASSERTS_KHR, promise, 0]).expect("a launch");
    buffer.finalize();
    ok(buffer.enqueue());
    let fewer = [8_usize];
    ok(buffer.update(&[cl_mutable_dispatch_config_khr { global_work_size: fewer.as_ptr(), ..change(command) }]));
    ok(buffer.enqueue());
    let sums = read::<u32>(&setup.queue, &a);
    assert_eq!((&sums[..8], &sums[8..]), (&[6; 8][..], &[4; 8][..]));
    let wrong = [COMMAND_BUFFER_ASSERTS, promise << 1, 0];
    let mut code = CL_SUCCESS;
    (buffer.f.clCreateCommandBufferKHR)(1, &setup.queue.raw(), wrong.as_ptr(), &mut code);
    expect(code, CL_INVALID_VALUE);
}

#[test]
fn wrong_changes_change_nothing() {
    let setup = Setup::new();
    let Some(buffer) = Recorder::new(&setup.queue, CL_COMMAND_BUFFER_MUTABLE_KHR) else { return };
    let Some(other) = Recorder::new(&setup.queue, CL_COMMAND_BUFFER_MUTABLE_KHR) else { return };
    let Some(fixed) = Recorder::new(&setup.queue, 0) else { return };
    let kernel = setup.context.kernel(SOURCE, "f");
    let a = setup.context.zeros::<u32>(16);
    kernel.set_all(arguments![&a, 1_u32]);
    let command = buffer.launch(&kernel, 16, 4);
    let none = [CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, 0, 0];
    let rigid = buffer.try_launch(&kernel, 16, 4, &none).expect("a recorded launch");
    let (foreign, unmovable) = (other.launch(&kernel, 16, 4), fixed.launch(&kernel, 16, 4));
    expect(buffer.update(&[change(command)]), CL_INVALID_OPERATION);
    for recorded in [&buffer, &other, &fixed] {
        recorded.finalize();
    }
    expect(fixed.update(&[change(unmovable)]), CL_INVALID_OPERATION);
    let value = 100_u32;
    let list = [argument(1, &value)];
    let right = cl_mutable_dispatch_config_khr { num_args: 1, arg_list: list.as_ptr(), ..change(command) };
    let (sizes, zero, odd) = ([8_usize], [0_usize], [5_usize]);
    let wrong_index = [argument(7, &value)];
    let wrong_size = [argument(1, &0_u64)];
    let pointer = sizes.as_ptr();
    let exec = cl_mutable_dispatch_exec_info_khr { param_name: 0x1234, param_value_size: 0, param_value: ptr::null() };
    type Config = cl_mutable_dispatch_config_khr;
    let table = [
        (Config { ..change(foreign) }, CL_INVALID_MUTABLE_COMMAND_KHR),
        (Config { ..change(ptr::null_mut()) }, CL_INVALID_MUTABLE_COMMAND_KHR),
        (Config { work_dim: 2, ..change(command) }, CL_INVALID_OPERATION),
        (Config { global_work_offset: pointer, ..change(rigid) }, CL_INVALID_OPERATION),
        (Config { global_work_size: pointer, ..change(rigid) }, CL_INVALID_OPERATION),
        (Config { local_work_size: pointer, ..change(rigid) }, CL_INVALID_OPERATION),
        (Config { num_args: 1, arg_list: list.as_ptr(), ..change(rigid) }, CL_INVALID_OPERATION),
        (Config { num_svm_args: 1, arg_svm_list: list.as_ptr(), ..change(rigid) }, CL_INVALID_OPERATION),
        (Config { num_exec_infos: 1, exec_info_list: &exec, ..change(rigid) }, CL_INVALID_OPERATION),
        (Config { num_args: 1, ..change(command) }, CL_INVALID_VALUE),
        (Config { arg_list: list.as_ptr(), ..change(command) }, CL_INVALID_VALUE),
        (Config { num_svm_args: 1, ..change(command) }, CL_INVALID_VALUE),
        (Config { num_exec_infos: 1, ..change(command) }, CL_INVALID_VALUE),
        (Config { num_exec_infos: 1, exec_info_list: &exec, ..change(command) }, CL_INVALID_VALUE),
        (Config { num_args: 1, arg_list: wrong_index.as_ptr(), ..change(command) }, CL_INVALID_ARG_INDEX),
        (Config { num_args: 1, arg_list: wrong_size.as_ptr(), ..change(command) }, CL_INVALID_ARG_SIZE),
        (Config { local_work_size: odd.as_ptr(), ..change(command) }, CL_INVALID_OPERATION),
        (Config { local_work_size: zero.as_ptr(), ..change(command) }, CL_INVALID_WORK_GROUP_SIZE),
    ];
    for (number, (wrong, code)) in table.into_iter().enumerate() {
        // A right change beside a wrong one is not made either.
        let got = buffer.update(&[right, wrong]);
        assert_eq!(got, code, "row {number}");
    }
    let update = buffer.m.clUpdateMutableCommandsKHR;
    let (kind, mut configs) = (CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR, [ptr::from_ref(&right).cast::<c_void>()]);
    expect(update(buffer.raw, 1, ptr::null(), configs.as_mut_ptr()), CL_INVALID_VALUE);
    expect(update(buffer.raw, 1, &kind, ptr::null_mut()), CL_INVALID_VALUE);
    expect(update(buffer.raw, 0, &kind, ptr::null_mut()), CL_INVALID_VALUE);
    expect(update(buffer.raw, 1, &77, configs.as_mut_ptr()), CL_INVALID_VALUE);
    expect(update(buffer.raw, 1, &kind, [ptr::null()].as_mut_ptr()), CL_INVALID_VALUE);
    expect(update(ptr::null_mut(), 1, &kind, configs.as_mut_ptr()), CL_INVALID_COMMAND_BUFFER_KHR);
    ok(buffer.enqueue());
    assert_eq!(read::<u32>(&setup.queue, &a), [8002; 16], "two launches as recorded");
    // Two changes of one command: the second is made to what the first leaves.
    write(&setup.queue, &a, &[0_u32; 16]);
    ok(buffer.update(&[right, Config { global_work_size: pointer, ..change(command) }]));
    ok(buffer.enqueue());
    assert_eq!(read::<u32>(&setup.queue, &a), [vec![8101; 8], vec![4001; 8]].concat());
}
