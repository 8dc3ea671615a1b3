//! Images (OpenCL API, 5.3), which no device here supports: `CL_DEVICE_IMAGE_SUPPORT` is false.

use lockstep_runtime::context::Context;
use lockstep_runtime::ensure;
use opencl_sys::{
    CL_INVALID_VALUE, CL_MEM_KERNEL_READ_AND_WRITE, CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY,
    CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D,
    cl_context, cl_image_format, cl_int, cl_mem_flags, cl_mem_object_type, cl_uint,
};

use crate::api::buffer::check_flags;
use crate::error::entry;
use crate::handle;

/// `clGetSupportedImageFormats`: an empty list.
///
/// # Safety
/// The pointers are as the specification says.
pub unsafe extern "C" fn get_supported_image_formats(
    context: cl_context,
    flags: cl_mem_flags,
    image_type: cl_mem_object_type,
    num_entries: cl_uint,
    image_formats: *mut cl_image_format,
    num_image_formats: *mut cl_uint,
) -> cl_int {
    entry(|| {
        // "CL_INVALID_CONTEXT if context is not a valid context."
        handle::get::<Context>(context)?;
        // "CL_INVALID_VALUE if flags [is] not valid, if image_type is not valid [or] if num_entries is zero and
        // image_formats is not NULL."
        check_flags(flags & !CL_MEM_KERNEL_READ_AND_WRITE)?;
        let known = [
            CL_MEM_OBJECT_IMAGE1D,
            CL_MEM_OBJECT_IMAGE1D_ARRAY,
            CL_MEM_OBJECT_IMAGE1D_BUFFER,
            CL_MEM_OBJECT_IMAGE2D,
            CL_MEM_OBJECT_IMAGE2D_ARRAY,
            CL_MEM_OBJECT_IMAGE3D,
        ];
        ensure!(known.contains(&image_type), CL_INVALID_VALUE);
        ensure!(image_formats.is_null() || num_entries > 0, CL_INVALID_VALUE);
        if !num_image_formats.is_null() {
            // SAFETY: not null, so the caller vouches for it.
            unsafe { num_image_formats.write(0) };
        }
        Ok(())
    })
}
