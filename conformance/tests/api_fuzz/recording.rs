//! Command buffers with mutable dispatches, and semaphores.

use std::ffi::c_void;
use std::ptr;

use lockstep_conformance::extension_functions::CommandBuffers;
use lockstep_conformance::opencl_sys::*;

use super::Op;
use super::programs::Launch;
use super::transfers::{Boxes, enqueue, enqueued, pattern_size};
use super::world::*;

pub const OPS: &[Op] = &[
    ("clCreateCommandBufferKHR", 3, |w| {
        if !w.records {
            return;
        }
        let (count, queues) = if w.once_in(4) { w.handles(Queue, 2) } else { (1, vec![w.handle(Queue)]) };
        let list = w.properties(&[CL_COMMAND_BUFFER_FLAGS_KHR, 0], &[0, 1, 2, 3, 4]);
        let make = w.x.commands.clCreateCommandBufferKHR;
        let buffer = make(count, pointer(&queues), pointer(&list), w.code_at());
        w.made(Commands, buffer);
    }),
    ("clFinalizeCommandBufferKHR", 1, |w| {
        let buffer = w.handle(Commands);
        let code = (w.x.commands.clFinalizeCommandBufferKHR)(buffer);
        w.judge(Commands, buffer, code);
    }),
    ("clEnqueueCommandBufferKHR", 4, |w| {
        let (buffer, (count, mut queues)) =
            (w.handle(Commands), if w.once_in(4) { w.handles(Queue, 2) } else { (0, vec![]) });
        let queues = if queues.is_empty() { ptr::null_mut() } else { queues.as_mut_ptr() };
        let ((events, list), event) = (w.wait_list(), w.out_at());
        let run = w.x.commands.clEnqueueCommandBufferKHR;
        let code = run(count, queues, buffer, events, pointer(&list), event);
        w.judge(Commands, buffer, code);
        enqueued(w, event, code);
    }),
    ("clGetCommandBufferInfoKHR", 2, |w| {
        super::objects::ask(w, Commands, w.x.commands.clGetCommandBufferInfoKHR, 0x1294, 8);
    }),
    ("clCommandBarrierWithWaitListKHR", 1, |w| {
        record(w, |r, f| {
            let Record { buffer, queue, list, points, point, command } = r;
            (f.clCommandBarrierWithWaitListKHR)(buffer, queue, list, points.0, points.1, point, command)
        });
    }),
    ("clCommandCopyBufferKHR", 1, |w| {
        let (from, to, source, target, size) = (w.buffer(), w.buffer(), w.offset(), w.offset(), w.size());
        record(w, |r, f| {
            let Record { buffer, queue, list, points, point, command } = r;
            let copy = f.clCommandCopyBufferKHR;
            copy(buffer, queue, list, from, to, source, target, size, points.0, points.1, point, command)
        });
    }),
    ("clCommandCopyBufferRectKHR", 1, |w| {
        let (from, to, boxes, there) = (w.buffer(), w.buffer(), Boxes::new(w), w.origin());
        record(w, |r, f| {
            let Record { buffer, queue, list, points, point, command } = r;
            let (here, _, region, [a, b, c, d]) = boxes.parts();
            let (there, copy) = (there.as_ptr(), f.clCommandCopyBufferRectKHR);
            copy(buffer, queue, list, from, to, here, there, region, a, b, c, d, points.0, points.1, point, command)
        });
    }),
    ("clCommandCopyBufferToImageKHR", 1, |w| {
        let (from, to, offset, origin, region) = (w.buffer(), w.image(), w.offset(), w.origin(), w.region());
        record(w, |r, f| {
            let Record { buffer, queue, list, points, point, command } = r;
            let (origin, region, copy) = (origin.as_ptr(), region.as_ptr(), f.clCommandCopyBufferToImageKHR);
            copy(buffer, queue, list, from, to, offset, origin, region, points.0, points.1, point, command)
        });
    }),
    ("clCommandCopyImageKHR", 1, |w| {
        let (from, to, here, there, region) = (w.image(), w.image(), w.origin(), w.origin(), w.region());
        record(w, |r, f| {
            let Record { buffer, queue, list, points, point, command } = r;
            let (here, there, region) = (here.as_ptr(), there.as_ptr(), region.as_ptr());
            let copy = f.clCommandCopyImageKHR;
            copy(buffer, queue, list, from, to, here, there, region, points.0, points.1, point, command)
        });
    }),
    ("clCommandCopyImageToBufferKHR", 1, |w| {
        let (from, to, offset, origin, region) = (w.image(), w.buffer(), w.offset(), w.origin(), w.region());
        record(w, |r, f| {
            let Record { buffer, queue, list, points, point, command } = r;
            let (origin, region, copy) = (origin.as_ptr(), region.as_ptr(), f.clCommandCopyImageToBufferKHR);
            copy(buffer, queue, list, from, to, origin, region, offset, points.0, points.1, point, command)
        });
    }),
    ("clCommandFillBufferKHR", 1, |w| {
        let (object, pattern, length, offset, size) =
            (w.buffer(), w.data(), pattern_size(w), w.any(&[0, 0, 16, 64]), 16 * w.below(9));
        record(w, |r, f| {
            let Record { buffer, queue, list, points, point, command } = r;
            let fill = f.clCommandFillBufferKHR;
            fill(buffer, queue, list, object, pattern, length, offset, size, points.0, points.1, point, command)
        });
    }),
    ("clCommandFillImageKHR", 1, |w| {
        let (image, color, origin, region) = (w.image(), w.data(), w.origin(), w.region());
        record(w, |r, f| {
            let Record { buffer, queue, list, points, point, command } = r;
            let (origin, region, fill) = (origin.as_ptr(), region.as_ptr(), f.clCommandFillImageKHR);
            fill(buffer, queue, list, image, color, origin, region, points.0, points.1, point, command)
        });
    }),
    ("clCommandSVMMemcpyKHR", 1, |w| {
        let (to, from, size) = (w.shared_pointer(), w.shared_pointer(), w.small());
        record(w, |r, f| {
            let Record { buffer, queue, list, points, point, command } = r;
            let copy = f.clCommandSVMMemcpyKHR;
            copy(buffer, queue, list, to, from, size, points.0, points.1, point, command)
        });
    }),
    ("clCommandSVMMemFillKHR", 1, |w| {
        let (to, pattern, length, size) = (w.shared_pointer(), w.data(), pattern_size(w), w.small());
        record(w, |r, f| {
            let Record { buffer, queue, list, points, point, command } = r;
            let fill = f.clCommandSVMMemFillKHR;
            fill(buffer, queue, list, to, pattern, length, size, points.0, points.1, point, command)
        });
    }),
    ("clCommandNDRangeKernelKHR", 5, |w| {
        let (kernel, launch) = (w.handle(Kernel), Launch::new(w));
        record(w, |r, f| {
            let Record { buffer, queue, list, points, point, command } = r;
            let ((offset, global, local), dimensions) = (launch.pointers(), launch.dimensions);
            let record = f.clCommandNDRangeKernelKHR;
            record(buffer, queue, list, kernel, dimensions, offset, global, local, points.0, points.1, point, command)
        });
    }),
    ("clUpdateMutableCommandsKHR", 3, update),
    ("clGetMutableCommandInfoKHR", 2, |w| {
        super::objects::ask(w, Dispatch, w.x.dispatch.clGetMutableCommandInfoKHR, 0x12A0, 11);
    }),
    ("clCreateSemaphoreWithPropertiesKHR", 1, |w| {
        let context = w.handle(Context);
        let list = if w.once_in(2) {
            vec![u64::from(CL_SEMAPHORE_TYPE_KHR), u64::from(CL_SEMAPHORE_TYPE_BINARY_KHR), 0]
        } else {
            let names = [CL_SEMAPHORE_TYPE_KHR, CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR, 0, 0x2055].map(u64::from);
            w.properties(&names, &[1, 1, 0])
        };
        let make = w.x.semaphores.clCreateSemaphoreWithPropertiesKHR;
        let semaphore = make(context, pointer(&list), w.code_at());
        w.made(Semaphore, semaphore);
    }),
    ("clEnqueueSignalSemaphoresKHR", 1, |w| semaphores(w, true)),
    ("clEnqueueWaitSemaphoresKHR", 1, |w| semaphores(w, false)),
    ("clGetSemaphoreInfoKHR", 1, |w| {
        super::objects::ask(w, Semaphore, w.x.semaphores.clGetSemaphoreInfoKHR, 0x203A, 6);
    }),
    ("clGetSemaphoreHandleForTypeKHR", 1, |w| {
        let (semaphore, device, kind, size) = (w.handle(Semaphore), w.handle(Device), w.below(9) as u32, w.size());
        let answer = w.answer();
        let export = w.x.semaphores.clGetSemaphoreHandleForTypeKHR;
        let code = export(semaphore, device, kind, size, answer, &mut 0);
        w.judge(Semaphore, semaphore, code);
    }),
];

struct Record {
    buffer: Handle,
    queue: Handle,
    list: *const u64,
    points: (cl_uint, *const cl_sync_point_khr),
    point: *mut cl_sync_point_khr,
    command: *mut cl_mutable_command_khr,
}

/// Records a command.
fn record(w: &mut World, call: impl FnOnce(Record, &CommandBuffers) -> cl_int) {
    let (buffer, queue) = (w.handle(Commands), if w.once_in(10) { w.handle(Queue) } else { ptr::null_mut() });
    let name = CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR;
    let list = if w.once_in(4) { w.properties(&[name, name, 0], &[1, 2, 4, 8, 31]) } else { vec![] };
    let points: Vec<u32> = (0..w.any(&[0, 0, 0, 1, 2])).map(|_| w.below(6) as u32).collect();
    let count = if w.once_in(20) { 1 } else { points.len() as u32 };
    let count = if points.is_empty() { count } else { points.len() as u32 };
    let (mut point, command) = (0, w.out_at());
    let point = if w.once_in(4) { ptr::null_mut() } else { &raw mut point };
    let made = Record { buffer, queue, list: pointer(&list), points: (count, pointer(&points)), point, command };
    let code = call(made, &w.x.commands);
    w.judge(Commands, buffer, code);
    if !command.is_null() && !w.out.is_null() {
        assert_eq!(code, CL_SUCCESS, "a command with an error");
        let command = w.out;
        w.add(Dispatch, command);
    }
}

/// Changes of recorded launches.
fn update(w: &mut World) {
    let buffer = w.handle(Commands);
    let mut values = [[0_usize; 512]; 2];
    let mut arguments = vec![];
    for value in &mut values {
        value[0] = w.handle(Mem) as usize;
        let size = w.any(&[8, 8, 8, 1, 32, 0]);
        let value = if w.once_in(5) { ptr::null() } else { value.as_ptr() };
        arguments.push(cl_mutable_dispatch_arg_khr {
            arg_index: w.below(6) as u32,
            arg_size: size,
            arg_value: value.cast(),
        });
    }
    let shared =
        [cl_mutable_dispatch_arg_khr { arg_index: w.below(6) as u32, arg_size: 0, arg_value: w.shared_pointer() }];
    let told = [cl_mutable_dispatch_exec_info_khr {
        param_name: w.number(&[CL_KERNEL_EXEC_INFO_SVM_PTRS, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM]),
        param_value_size: w.any(&[4, 8, 0, 3]),
        param_value: w.data(),
    }];
    let launches = [Launch::new(w), Launch::new(w)];
    let changes: Vec<cl_mutable_dispatch_config_khr> = launches
        .iter()
        .map(|launch| {
            let (global_work_offset, global_work_size, local_work_size) = launch.pointers();
            let (num_args, num_svm_args) = (w.below(3) as u32, w.below(2) as u32);
            let (none, tells) = (w.once_in(20), w.once_in(4));
            cl_mutable_dispatch_config_khr {
                command: w.handle(Dispatch),
                num_args,
                num_svm_args,
                num_exec_infos: u32::from(tells),
                work_dim: w.any(&[0, 0, launch.dimensions]),
                arg_list: if none { ptr::null() } else { arguments.as_ptr() },
                arg_svm_list: shared.as_ptr(),
                exec_info_list: if tells { told.as_ptr() } else { ptr::null() },
                global_work_offset,
                global_work_size,
                local_work_size,
            }
        })
        .collect();
    let kinds = [0, 1].map(|_| w.number(&[CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR]));
    let mut list: Vec<*const c_void> =
        changes.iter().map(|change| if w.once_in(30) { ptr::null() } else { ptr::from_ref(change).cast() }).collect();
    let count = w.below(3) as u32;
    let code = (w.x.dispatch.clUpdateMutableCommandsKHR)(buffer, count, kinds.as_ptr(), list.as_mut_ptr());
    w.judge(Commands, buffer, code);
}

/// Signals semaphores or waits for them. A wait needs a signal before it and no two signals follow each other, so each
/// call has semaphores that are known to be in the right state, or fails.
fn semaphores(w: &mut World, signal: bool) {
    w.finish();
    let good = w.once_in(2);
    let (count, list) = if good {
        let semaphore = w.live(Semaphore);
        (u32::from(!semaphore.is_null()), if semaphore.is_null() { vec![] } else { vec![semaphore] })
    } else {
        (w.below(2) as u32, vec![])
    };
    if let Some(&semaphore) = list.first() {
        let mut payload = 2_u64;
        let place = (&raw mut payload).cast();
        let code =
            (w.x.semaphores.clGetSemaphoreInfoKHR)(semaphore, CL_SEMAPHORE_PAYLOAD_KHR, 8, place, ptr::null_mut());
        assert_eq!(code, CL_SUCCESS);
        if (payload == 1) == signal {
            return;
        }
    }
    let functions = &w.x.semaphores;
    let function = if signal { functions.clEnqueueSignalSemaphoresKHR } else { functions.clEnqueueWaitSemaphoresKHR };
    if good {
        // Of its own: a released queue that a command buffer still holds would keep the command, as nothing finishes it, and
        // the next wait would be for a signal that never comes.
        let (queue, event) = (w.live(Queue), w.out_at());
        let code = function(queue, count, pointer(&list), ptr::null(), 0, ptr::null(), event);
        w.judge(Queue, queue, code);
        enqueued(w, event, code);
        w.finish();
    } else {
        let values = [1_u64];
        enqueue(w, |_, queue, events, wait, event| {
            function(queue, count, pointer(&list), values.as_ptr(), events, wait, event)
        });
    }
}
