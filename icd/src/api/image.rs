//! What images there can be, and what one is (OpenCL API, 5.3.2 and 5.3.9).

use std::ffi::c_void;
use std::sync::Arc;

use lockstep_icd_macros::entry_point;
use lockstep_runtime::context::Context;
use lockstep_runtime::image::Image;
use lockstep_runtime::memory::{IMMUTABLE, Memory};
use lockstep_runtime::{Result, device, ensure, error, image_format};
use opencl_sys::*;

use crate::api::buffer::{check_flags, kind_of, memory_in};
use crate::handle;
use crate::info::{self, Info};

/// Every type of image.
pub const TYPES: [cl_mem_object_type; 6] = [
    CL_MEM_OBJECT_IMAGE1D,
    CL_MEM_OBJECT_IMAGE1D_ARRAY,
    CL_MEM_OBJECT_IMAGE1D_BUFFER,
    CL_MEM_OBJECT_IMAGE2D,
    CL_MEM_OBJECT_IMAGE2D_ARRAY,
    CL_MEM_OBJECT_IMAGE3D,
];

/// An image to be used with a queue of this context.
///
/// "CL_INVALID_MEM_OBJECT if image is not a valid image object; CL_INVALID_CONTEXT if the context associated with
/// command_queue and image are not the same."
pub fn image_in(context: &Arc<Context>, object: cl_mem) -> Result<(Arc<Memory>, Image)> {
    let memory = memory_in(context, object)?;
    let image = image_of(object, &memory)?.clone();
    Ok((memory, image))
}

/// "CL_INVALID_MEM_OBJECT if image is not a valid image object".
fn image_of(object: cl_mem, memory: &Memory) -> Result<&Image> {
    memory.image().ok_or_else(|| error!(CL_INVALID_MEM_OBJECT, "{object:p} is {}, not an image", kind_of(memory)))
}

/// `clGetSupportedImageFormats`: lists the formats that images of a type can have.
#[entry_point(clGetSupportedImageFormats)]
pub unsafe fn get_supported_image_formats(
    context: cl_context,
    flags: cl_mem_flags,
    image_type: cl_mem_object_type,
    num_entries: cl_uint,
    image_formats: *mut cl_image_format,
    num_image_formats: *mut cl_uint,
) -> Result<()> {
    // "CL_INVALID_CONTEXT if context is not a valid context."
    handle::get::<Context>(context)?;
    // "CL_INVALID_VALUE if flags [is] not valid, if image_type is not valid [or] if num_entries is zero and
    // image_formats is not NULL."
    check_flags(flags & !CL_MEM_KERNEL_READ_AND_WRITE)?;
    ensure!(TYPES.contains(&image_type), CL_INVALID_VALUE, "image_type {image_type:#x} is no type of image");
    let has_room = image_formats.is_null() || num_entries > 0;
    ensure!(has_room, CL_INVALID_VALUE, "num_entries is 0, and image_formats is not NULL");
    let only_read = flags & (CL_MEM_READ_ONLY | IMMUTABLE) != 0;
    let formats: Vec<_> = image_format::all_formats()
        .filter(|format| {
            device::has_images() && format.suits_image_type(image_type) && (only_read || format.is_writable())
        })
        .map(|format| cl_image_format { image_channel_order: format.order, image_channel_data_type: format.data_type })
        .collect();
    if !image_formats.is_null() {
        for (index, format) in formats.iter().take(num_entries as usize).enumerate() {
            // SAFETY: the caller vouches for `num_entries` places.
            unsafe { image_formats.add(index).write(*format) };
        }
    }
    if !num_image_formats.is_null() {
        // SAFETY: not null, so the caller vouches for it.
        unsafe { num_image_formats.write(formats.len() as cl_uint) };
    }
    Ok(())
}

/// `clGetImageInfo`: answers questions about an image.
#[entry_point(clGetImageInfo)]
pub unsafe fn get_image_info(
    image: cl_mem,
    param_name: cl_image_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> Result<()> {
    // "CL_INVALID_MEM_OBJECT if image is a not a valid image object."
    let memory = handle::get::<Memory>(image)?;
    let image = image_of(image, &memory)?;
    // SAFETY: the caller vouches for the pointers.
    let info = unsafe { Info::new(param_value_size, param_value, param_value_size_ret) };
    let where_it_counts = |counts: bool, value: usize| if counts { value } else { 0 };
    match param_name {
        CL_IMAGE_FORMAT => info.value(cl_image_format {
            image_channel_order: image.format.order,
            image_channel_data_type: image.format.data_type,
        }),
        CL_IMAGE_ELEMENT_SIZE => info.value(image.format.element_size()),
        CL_IMAGE_ROW_PITCH => info.value(image.row_pitch),
        CL_IMAGE_SLICE_PITCH => info.value(where_it_counts(image.has_slices(), image.slice_pitch)),
        CL_IMAGE_WIDTH => info.value(image.width),
        CL_IMAGE_HEIGHT => info.value(where_it_counts(image.has_rows(), image.height)),
        CL_IMAGE_DEPTH => info.value(where_it_counts(image.kind == CL_MEM_OBJECT_IMAGE3D, image.depth)),
        CL_IMAGE_ARRAY_SIZE => info.value(where_it_counts(image.is_array(), image.layers)),
        CL_IMAGE_BUFFER => {
            let buffer = memory.associated().filter(|object| object.image().is_none());
            info.value(buffer.map_or(std::ptr::null_mut(), handle::of))
        }
        CL_IMAGE_NUM_MIP_LEVELS | CL_IMAGE_NUM_SAMPLES => info.value::<cl_uint>(0),
        // "CL_INVALID_VALUE if param_name is not valid".
        _ => info::unknown(param_name),
    }
}
