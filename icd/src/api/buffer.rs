//! Creating buffers and sub-buffers (OpenCL API, 5.2.1).

use std::ffi::c_void;
use std::fmt::Display;
use std::sync::Arc;

use lockstep_icd_macros::entry_point;
use lockstep_runtime::context::Context;
use lockstep_runtime::device::BASE_ALIGNMENT;
use lockstep_runtime::memory::{IMMUTABLE, Memory};
use lockstep_runtime::{Result, ensure, svm};
use opencl_sys::{
    CL_BUFFER_CREATE_TYPE_REGION, CL_INVALID_BUFFER_SIZE, CL_INVALID_CONTEXT, CL_INVALID_HOST_PTR,
    CL_INVALID_MEM_OBJECT, CL_INVALID_PROPERTY, CL_INVALID_VALUE, CL_MEM_ALLOC_HOST_PTR, CL_MEM_COPY_HOST_PTR,
    CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT, CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY,
    CL_MEM_READ_ONLY, CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR, CL_MEM_WRITE_ONLY, CL_MISALIGNED_SUB_BUFFER_OFFSET,
    CL_TRUE, cl_buffer_create_type, cl_buffer_region, cl_context, cl_mem, cl_mem_flags, cl_mem_properties,
};

use crate::{handle, property_list};

/// How kernels may use the object.
pub const KERNEL: cl_mem_flags = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
/// How the host may use the object.
const HOST: cl_mem_flags = CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS;
/// Where its bytes come from.
const POINTER: cl_mem_flags = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;

/// "CL_INVALID_VALUE if values specified in flags are not valid as defined in the Memory Flags table", which says what
/// excludes what.
pub fn check_flags(flags: cl_mem_flags) -> Result<()> {
    let unknown = flags & !(KERNEL | HOST | POINTER | IMMUTABLE);
    ensure!(unknown == 0, CL_INVALID_VALUE, "flags are {flags:#x}, of which {unknown:#x} are unknown");
    check_kernel_flags(flags)?;
    ensure!(
        (flags & HOST).count_ones() <= 1,
        CL_INVALID_VALUE,
        "flags {flags:#x} have more than one of CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY and CL_MEM_HOST_NO_ACCESS"
    );
    let elsewhere = flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR) != 0;
    ensure!(
        !(flags & CL_MEM_USE_HOST_PTR != 0 && elsewhere),
        CL_INVALID_VALUE,
        "flags {flags:#x} have CL_MEM_USE_HOST_PTR with CL_MEM_ALLOC_HOST_PTR or CL_MEM_COPY_HOST_PTR"
    );
    // "CL_INVALID_VALUE […] if CL_MEM_IMMUTABLE_EXT is set in flags and CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY, or
    // CL_MEM_HOST_WRITE_ONLY is set in flags".
    ensure!(
        flags & IMMUTABLE == 0 || flags & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_HOST_WRITE_ONLY) == 0,
        CL_INVALID_VALUE,
        "flags {flags:#x} have CL_MEM_IMMUTABLE_EXT with CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY or CL_MEM_HOST_WRITE_ONLY"
    );
    Ok(())
}

/// "CL_INVALID_VALUE […] if CL_MEM_IMMUTABLE_EXT is set in flags and none of" the flags that say where its bytes come from is.
pub fn check_immutable_bytes(flags: cl_mem_flags) -> Result<()> {
    ensure!(
        flags & IMMUTABLE == 0 || flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR) != 0,
        CL_INVALID_VALUE,
        "flags {flags:#x} have CL_MEM_IMMUTABLE_EXT without CL_MEM_USE_HOST_PTR and CL_MEM_COPY_HOST_PTR"
    );
    Ok(())
}

/// The flags of a new object with what kernels may do by default: read and write, or read what is immutable.
pub fn with_kernel_flags(flags: cl_mem_flags) -> cl_mem_flags {
    match (flags & KERNEL, flags & IMMUTABLE) {
        // CL_MEM_READ_WRITE "is the default."
        (0, 0) => flags | CL_MEM_READ_WRITE,
        (0, _) => flags | CL_MEM_READ_ONLY,
        _ => flags,
    }
}

/// What kernels may do is one thing.
pub fn check_kernel_flags(flags: cl_mem_flags) -> Result<()> {
    ensure!(
        (flags & KERNEL).count_ones() <= 1,
        CL_INVALID_VALUE,
        "flags {flags:#x} have more than one of CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY and CL_MEM_READ_ONLY"
    );
    Ok(())
}

/// "CL_INVALID_HOST_PTR if host_ptr is NULL, and CL_MEM_USE_HOST_PTR or CL_MEM_COPY_HOST_PTR are set in flags [or] if
/// host_ptr is not NULL but CL_MEM_COPY_HOST_PTR or CL_MEM_USE_HOST_PTR are not set in flags."
pub fn check_host_pointer(flags: cl_mem_flags, host_ptr: *const c_void) -> Result<()> {
    let wants_pointer = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR) != 0;
    let names = "CL_MEM_USE_HOST_PTR or CL_MEM_COPY_HOST_PTR";
    ensure!(
        !wants_pointer || !host_ptr.is_null(),
        CL_INVALID_HOST_PTR,
        "host_ptr is NULL, and flags {flags:#x} have {names}"
    );
    ensure!(
        wants_pointer || host_ptr.is_null(),
        CL_INVALID_HOST_PTR,
        "host_ptr is {host_ptr:p}, which flags {flags:#x} without {names} have no use for"
    );
    Ok(())
}

/// Creates a buffer whose property list has been read.
///
/// # Safety
/// `host_ptr` is as the specification says.
unsafe fn create(
    context: Arc<Context>,
    properties: Vec<cl_mem_properties>,
    flags: cl_mem_flags,
    size: usize,
    host_ptr: *mut c_void,
) -> Result<*mut c_void> {
    check_flags(flags)?;
    check_immutable_bytes(flags)?;
    // "CL_INVALID_BUFFER_SIZE if size is zero".
    ensure!(size > 0, CL_INVALID_BUFFER_SIZE, "a buffer of 0 bytes");
    check_host_pointer(flags, host_ptr)?;
    // "CL_INVALID_BUFFER_SIZE […] if host_ptr is a pointer returned by clSVMAlloc and size is greater than the size passed to
    // clSVMAlloc"; likewise from the middle of such memory.
    let shared = svm::find_allocation(host_ptr as usize).filter(|found| found.is_svm());
    ensure!(
        shared.is_none_or(|found| found.contains_range(host_ptr as usize, size)),
        CL_INVALID_BUFFER_SIZE,
        "a buffer of {size} bytes is larger than the shared virtual memory at host_ptr {host_ptr:p}"
    );
    let flags = with_kernel_flags(flags);
    // SAFETY: the flags agree with the pointer, for which the caller vouches.
    handle::publish(unsafe { Memory::new(context, flags, size, host_ptr.cast(), properties)? })
}

/// `clCreateBuffer`: makes a buffer, with or without the application's bytes.
#[entry_point(clCreateBuffer)]
pub unsafe fn create_buffer(
    context: cl_context,
    flags: cl_mem_flags,
    size: usize,
    host_ptr: *mut c_void,
) -> Result<cl_mem> {
    // "CL_INVALID_CONTEXT if context is not a valid context."
    let context = handle::get(context)?;
    // SAFETY: the same contract.
    unsafe { create(context, Vec::new(), flags, size, host_ptr) }
}

/// A property list with its terminating 0; empty when there is none.
///
/// "CL_INVALID_PROPERTY if a property name in properties is not a supported property name, if the value specified for a
/// supported property name is not valid, or if the same property name is specified more than once".
///
/// # Safety
/// `properties` is null or points to a list that ends in 0.
unsafe fn read_properties(properties: *const cl_mem_properties) -> Result<Vec<cl_mem_properties>> {
    // SAFETY: the same contract.
    unsafe { property_list::read(properties, CL_INVALID_PROPERTY, check_property) }
}

fn check_property(name: cl_mem_properties, value: cl_mem_properties) -> Result<()> {
    // Every buffer has one address for its lifetime, so this asks for nothing more.
    if name != CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT {
        return property_list::unknown(CL_INVALID_PROPERTY, name);
    }
    match value <= cl_mem_properties::from(CL_TRUE) {
        true => Ok(()),
        false => {
            let name = "CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT";
            property_list::wrong_value(CL_INVALID_PROPERTY, name, value, "CL_TRUE or CL_FALSE")
        }
    }
}

/// `clCreateBufferWithProperties`: makes a buffer that has a list of properties.
#[entry_point(clCreateBufferWithProperties)]
pub unsafe fn create_buffer_with_properties(
    context: cl_context,
    properties: *const cl_mem_properties,
    flags: cl_mem_flags,
    size: usize,
    host_ptr: *mut c_void,
) -> Result<cl_mem> {
    let context = handle::get(context)?;
    // SAFETY: the caller vouches for a list that ends in 0.
    let list = unsafe { read_properties(properties)? };
    // SAFETY: the caller vouches for the pointer.
    unsafe { create(context, list, flags, size, host_ptr) }
}

/// The flags of a sub-buffer, or of an image made from another object: those given, and what it inherits.
pub fn sub_buffer_flags(flags: cl_mem_flags, parent: cl_mem_flags) -> Result<cl_mem_flags> {
    // "CL_INVALID_VALUE [...] if flags specifies CL_MEM_USE_HOST_PTR, CL_MEM_ALLOC_HOST_PTR or CL_MEM_COPY_HOST_PTR".
    check_flags(flags)?;
    ensure!(
        flags & POINTER == 0,
        CL_INVALID_VALUE,
        "flags {flags:#x} are about a host pointer, which only the object that it is made from can have"
    );
    // "CL_INVALID_VALUE if buffer was created with CL_MEM_WRITE_ONLY and flags specifies CL_MEM_READ_WRITE or
    // CL_MEM_READ_ONLY", and so on down the list.
    let excluded = [
        (CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE | CL_MEM_READ_ONLY),
        (CL_MEM_READ_ONLY, CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY),
        (CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY),
        (CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY),
        (CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY),
        (IMMUTABLE, CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_HOST_WRITE_ONLY),
    ];
    ensure!(
        flags & IMMUTABLE == 0 || parent & IMMUTABLE != 0,
        CL_INVALID_VALUE,
        "flags {flags:#x} have CL_MEM_IMMUTABLE_EXT, and the object it is made from can change"
    );
    for (of_parent, forbidden) in excluded {
        ensure!(
            parent & of_parent == 0 || flags & forbidden == 0,
            CL_INVALID_VALUE,
            "flags {flags:#x} allow what the object it is made from, with flags {parent:#x}, does not"
        );
    }
    let inherited = |group| if flags & group == 0 { parent & group } else { 0 };
    Ok(flags | inherited(KERNEL) | inherited(HOST) | parent & (POINTER | IMMUTABLE))
}

/// `clCreateSubBuffer`: makes a part of a buffer an object of its own.
#[entry_point(clCreateSubBuffer)]
pub unsafe fn create_sub_buffer(
    buffer: cl_mem,
    flags: cl_mem_flags,
    buffer_create_type: cl_buffer_create_type,
    buffer_create_info: *const c_void,
) -> Result<cl_mem> {
    // "CL_INVALID_MEM_OBJECT if buffer is not a valid buffer object [or] is a sub-buffer object."
    let parent = handle::get::<Memory>(buffer)?;
    ensure!(parent.is_buffer(), CL_INVALID_MEM_OBJECT, "{buffer:p} is {}, not a buffer", kind_of(&parent));
    ensure!(parent.parent_buffer().is_none(), CL_INVALID_MEM_OBJECT, "buffer {buffer:p} is a sub-buffer itself");
    let flags = sub_buffer_flags(flags, parent.flags())?;
    // "CL_INVALID_VALUE [...] if the value specified in buffer_create_type is not valid [or] if buffer_create_info
    // is NULL".
    ensure!(
        buffer_create_type == CL_BUFFER_CREATE_TYPE_REGION,
        CL_INVALID_VALUE,
        "buffer_create_type is {buffer_create_type:#x}; CL_BUFFER_CREATE_TYPE_REGION is allowed"
    );
    ensure!(!buffer_create_info.is_null(), CL_INVALID_VALUE, "buffer_create_info is NULL");
    // SAFETY: not null; for this type it points to a region.
    let region = unsafe { buffer_create_info.cast::<cl_buffer_region>().read_unaligned() };
    // "CL_INVALID_BUFFER_SIZE if the size field [...] is zero."
    ensure!(region.size > 0, CL_INVALID_BUFFER_SIZE, "a sub-buffer of 0 bytes");
    // "CL_INVALID_VALUE [...] if the region [...] is out of bounds in buffer."
    check_bounds(&parent, "the buffer", region.origin, region.size)?;
    // "CL_MISALIGNED_SUB_BUFFER_OFFSET if there are no devices in context associated with buffer for which the
    // origin field [...] is aligned to the CL_DEVICE_MEM_BASE_ADDR_ALIGN value."
    ensure!(
        region.origin % BASE_ALIGNMENT == 0,
        CL_MISALIGNED_SUB_BUFFER_OFFSET,
        "a sub-buffer from {} on; multiples of {BASE_ALIGNMENT} bytes are allowed",
        region.origin
    );
    handle::publish(parent.sub_buffer(flags, region.origin, region.size)?)
}

/// A buffer to be used with a queue of this context.
///
/// "CL_INVALID_MEM_OBJECT if buffer is not a valid buffer object; CL_INVALID_CONTEXT if the context associated with
/// command_queue and buffer are not the same." (A sub-buffer's offset suits every device there is.)
pub fn buffer_in(context: &Arc<Context>, buffer: cl_mem) -> Result<Arc<Memory>> {
    let memory = memory_in(context, buffer)?;
    ensure!(memory.is_buffer(), CL_INVALID_MEM_OBJECT, "{buffer:p} is {}, not a buffer", kind_of(&memory));
    Ok(memory)
}

/// What a memory object is, for messages.
pub fn kind_of(memory: &Memory) -> &'static str {
    match (memory.image(), memory.pipe()) {
        (Some(_), _) => "an image",
        (None, Some(_)) => "a pipe",
        (None, None) => "a buffer",
    }
}

/// "CL_INVALID_VALUE if the region […] specified by offset and size is out of bounds"; `what` names the buffer in the message.
pub fn check_bounds(memory: &Memory, what: &str, offset: usize, size: usize) -> Result<()> {
    ensure!(
        memory.contains(offset, size),
        CL_INVALID_VALUE,
        "{size} bytes from {offset} on are outside of {what}, which has {}",
        memory.size()
    );
    Ok(())
}

/// "CL_INVALID_CONTEXT if the context associated with" what is used "and" what it is used with "are not the same."
pub fn check_context(own: &Arc<Context>, wanted: &Arc<Context>, what: impl Display) -> Result<()> {
    ensure!(Arc::ptr_eq(own, wanted), CL_INVALID_CONTEXT, "{what} belongs to another context");
    Ok(())
}

/// Any memory object to be used with a queue of this context; errors as for [`buffer_in`].
pub fn memory_in(context: &Arc<Context>, object: cl_mem) -> Result<Arc<Memory>> {
    let memory = handle::get::<Memory>(object)?;
    check_context(memory.context(), context, format_args!("{} {object:p}", kind_of(&memory)))?;
    Ok(memory)
}

#[cfg(test)]
mod tests {
    use lockstep_runtime::Error;
    use opencl_sys::cl_int;

    use super::*;

    fn code<T>(result: Result<T>) -> cl_int {
        result.err().as_ref().map_or(0, Error::code)
    }

    #[test]
    fn flags_that_exclude_each_other() {
        let table = [
            (0, 0),
            (CL_MEM_READ_WRITE, 0),
            (CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, CL_INVALID_VALUE),
            (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY, CL_INVALID_VALUE),
            (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR, CL_INVALID_VALUE),
            (CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR, CL_INVALID_VALUE),
            (CL_MEM_COPY_HOST_PTR | CL_MEM_ALLOC_HOST_PTR, 0),
            (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY, CL_INVALID_VALUE),
            (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS, CL_INVALID_VALUE),
            (CL_MEM_HOST_NO_ACCESS | CL_MEM_READ_ONLY, 0),
            (IMMUTABLE | CL_MEM_READ_ONLY, 0),
            (IMMUTABLE | CL_MEM_READ_WRITE, CL_INVALID_VALUE),
            (1 << 11, CL_INVALID_VALUE),
            (1 << 40, CL_INVALID_VALUE),
        ];
        for (flags, expected) in table {
            assert_eq!(code(check_flags(flags)), expected, "{flags:#x}");
        }
    }

    #[test]
    fn a_sub_buffer_inherits_what_it_does_not_say() {
        let parent = CL_MEM_READ_ONLY | CL_MEM_HOST_WRITE_ONLY | CL_MEM_COPY_HOST_PTR;
        assert_eq!(sub_buffer_flags(0, parent), Ok(parent));
        let narrowed = CL_MEM_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
        assert_eq!(sub_buffer_flags(narrowed, parent), Ok(narrowed | CL_MEM_COPY_HOST_PTR));
        for wrong in [CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY, CL_MEM_HOST_READ_ONLY, CL_MEM_USE_HOST_PTR] {
            assert_eq!(code(sub_buffer_flags(wrong, parent)), CL_INVALID_VALUE, "{wrong:#x}");
        }
    }
}
