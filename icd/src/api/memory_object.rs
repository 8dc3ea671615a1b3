//! What all memory objects have (OpenCL API, 5.5): references, destructor callbacks, unmapping, migration, queries.

use std::ffi::c_void;
use std::sync::Arc;

use lockstep_icd_macros::entry_point;
use lockstep_runtime::command::Work;
use lockstep_runtime::memory::Memory;
use lockstep_runtime::memory_transfer::Hold;
use lockstep_runtime::queue::Queue;
use lockstep_runtime::{Error, Result, ensure, error, svm};
use opencl_sys::{
    CL_COMMAND_MIGRATE_MEM_OBJECTS, CL_COMMAND_UNMAP_MEM_OBJECT, CL_INVALID_MEM_OBJECT, CL_INVALID_OPERATION,
    CL_INVALID_VALUE, CL_MEM_ASSOCIATED_MEMOBJECT, CL_MEM_CONTEXT, CL_MEM_DEVICE_ADDRESS_EXT,
    CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT, CL_MEM_FLAGS, CL_MEM_HOST_PTR, CL_MEM_MAP_COUNT, CL_MEM_OBJECT_BUFFER,
    CL_MEM_OBJECT_PIPE, CL_MEM_OFFSET, CL_MEM_PROPERTIES, CL_MEM_REFERENCE_COUNT, CL_MEM_SIZE, CL_MEM_TYPE,
    CL_MEM_USES_SVM_POINTER, CL_TRUE, cl_command_queue, cl_event, cl_mem, cl_mem_device_address_ext, cl_mem_info,
    cl_mem_migration_flags, cl_uint,
};

use crate::api::buffer::memory_in;
use crate::api::enqueue::{Completion, enqueue, wait_list};
use crate::api::svm_transfer::check_migration;
use crate::handle::{self, Object};
use crate::info::{self, Info};
use crate::user::UserData;

/// `clRetainMemObject`: "CL_INVALID_MEM_OBJECT if memobj is not a valid memory object".
#[entry_point(clRetainMemObject)]
pub fn retain_mem_object(memobj: cl_mem) -> Result<()> {
    handle::retain::<Memory>(memobj)
}

/// `clReleaseMemObject`: "CL_INVALID_MEM_OBJECT if memobj is not a valid memory object."
#[entry_point(clReleaseMemObject)]
pub fn release_mem_object(memobj: cl_mem) -> Result<()> {
    handle::release::<Memory>(memobj)
}

/// `clSetMemObjectDestructorCallback`: registers what is called when a memory object is destroyed.
#[entry_point(clSetMemObjectDestructorCallback)]
pub fn set_mem_object_destructor_callback(
    memobj: cl_mem,
    pfn_notify: Option<unsafe extern "C" fn(cl_mem, *mut c_void)>,
    user_data: *mut c_void,
) -> Result<()> {
    // "CL_INVALID_MEM_OBJECT if memobj is not a valid memory object."
    let memory = handle::get::<Memory>(memobj)?;
    // "CL_INVALID_VALUE if pfn_notify is NULL."
    let Some(notify) = pfn_notify else { return Err(error!(CL_INVALID_VALUE, "pfn_notify is NULL")) };
    let (memobj, user_data) = (UserData(memobj), UserData(user_data));
    // SAFETY: the application registered this function for this call, and its data with it.
    memory.on_destruction(Box::new(move || unsafe { notify(memobj.get(), user_data.get()) }));
    Ok(())
}

/// `clGetMemObjectInfo`: answers questions about a memory object.
#[entry_point(clGetMemObjectInfo)]
pub unsafe fn get_mem_object_info(
    memobj: cl_mem,
    param_name: cl_mem_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> Result<()> {
    // "CL_INVALID_MEM_OBJECT if memobj is a not a valid memory object."
    let memory = handle::get::<Memory>(memobj)?;
    // SAFETY: the caller vouches for the pointers.
    let info = unsafe { Info::new(param_value_size, param_value, param_value_size_ret) };
    match param_name {
        CL_MEM_TYPE => info.value(match (memory.image(), memory.pipe()) {
            (Some(image), _) => image.kind,
            (None, Some(_)) => CL_MEM_OBJECT_PIPE,
            (None, None) => CL_MEM_OBJECT_BUFFER,
        }),
        CL_MEM_FLAGS => info.value(memory.flags()),
        CL_MEM_SIZE => info.value(memory.size()),
        CL_MEM_HOST_PTR => info.value(memory.host_pointer()),
        CL_MEM_MAP_COUNT => info.value(memory.map_count() as cl_uint),
        CL_MEM_REFERENCE_COUNT => info.value(handle::references(&memory)),
        CL_MEM_CONTEXT => info.value(handle::of(memory.context())),
        CL_MEM_ASSOCIATED_MEMOBJECT => info.value(memory.associated().map_or(std::ptr::null_mut(), handle::of)),
        CL_MEM_OFFSET => info.value(memory.parent_buffer().map_or(0, |(_, origin)| origin)),
        CL_MEM_USES_SVM_POINTER => {
            info.bool(svm::find_allocation(memory.host_pointer() as usize).is_some_and(|found| found.is_svm()))
        }
        CL_MEM_DEVICE_ADDRESS_EXT => {
            // "CL_INVALID_OPERATION […] if the buffer was not allocated with CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT."
            let asked = [CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT, CL_TRUE.into(), 0];
            ensure!(
                memory.properties() == asked,
                CL_INVALID_OPERATION,
                "the buffer was created without CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT"
            );
            // "a list of device addresses for the buffer, one for each device in the context".
            let address = memory.start() as cl_mem_device_address_ext;
            info.slice(&vec![address; memory.context().devices().len()])
        }
        CL_MEM_PROPERTIES => info.slice(memory.properties()),
        // "CL_INVALID_VALUE if param_name is not one of the supported values".
        _ => info::unknown(param_name),
    }
}

/// `clEnqueueUnmapMemObject`: ends a mapping of a memory object.
#[entry_point(clEnqueueUnmapMemObject)]
pub unsafe fn enqueue_unmap_mem_object(
    command_queue: cl_command_queue,
    memobj: cl_mem,
    mapped_ptr: *mut c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    // "CL_INVALID_COMMAND_QUEUE if command_queue is not a valid host command-queue."
    let queue = handle::get::<Queue>(command_queue)?;
    let memory = memory_in(queue.context(), memobj)?;
    // "CL_INVALID_MEM_OBJECT if memobj is not a valid memory object or is a pipe object."
    ensure!(memory.pipe().is_none(), CL_INVALID_MEM_OBJECT, "{memobj:p} is a pipe, which cannot be mapped");
    // SAFETY: the caller vouches for the list and for `event`.
    unsafe {
        let waits = wait_list(queue.context(), num_events_in_wait_list, event_wait_list)?;
        // "CL_INVALID_VALUE if mapped_ptr is not a valid pointer returned by clEnqueueMapBuffer or
        // clEnqueueMapImage for memobj."
        memory.unmap_pointer(mapped_ptr.cast())?;
        let work = hold_until_done(vec![memory]);
        enqueue(&queue, CL_COMMAND_UNMAP_MEM_OBJECT, waits, work, Completion { blocking: false, event })
    }
}

/// Work of a command that moves nothing, but holds these.
pub fn hold_until_done(memory: Vec<Arc<Memory>>) -> Work {
    Work::Shared(Arc::new(Hold(memory)))
}

/// `clEnqueueMigrateMemObjects`: asks for memory objects at a device; here they are there.
#[entry_point(clEnqueueMigrateMemObjects)]
pub unsafe fn enqueue_migrate_mem_objects(
    command_queue: cl_command_queue,
    num_mem_objects: cl_uint,
    mem_objects: *const cl_mem,
    flags: cl_mem_migration_flags,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    // "CL_INVALID_COMMAND_QUEUE if command_queue is not a valid host command-queue."
    let queue = handle::get::<Queue>(command_queue)?;
    // "CL_INVALID_VALUE if num_mem_objects is zero or if mem_objects is NULL."
    ensure!(num_mem_objects > 0, CL_INVALID_VALUE, "num_mem_objects is 0");
    handle::check_list(num_mem_objects, Memory::NAME, mem_objects, CL_INVALID_VALUE)?;
    // "CL_INVALID_VALUE if flags is not 0 or is not any of the values described in the table above."
    check_migration(flags)?;
    // SAFETY: the caller vouches for the lists and for `event`.
    unsafe {
        let handles = std::slice::from_raw_parts(mem_objects, num_mem_objects as usize);
        // "CL_INVALID_MEM_OBJECT if any of the memory objects in mem_objects is not a valid memory object."
        let named = |i: usize, error: Error| error.with_subject(format_args!("memory object {i} of {num_mem_objects}"));
        let get = |(i, &memobj)| memory_in(queue.context(), memobj).map_err(|error| named(i, error));
        let all = handles.iter().enumerate().map(get).collect::<Result<Vec<_>>>()?;
        let waits = wait_list(queue.context(), num_events_in_wait_list, event_wait_list)?;
        let completion = Completion { blocking: false, event };
        enqueue(&queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, waits, hold_until_done(all), completion)
    }
}
