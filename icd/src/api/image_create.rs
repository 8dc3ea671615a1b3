//! Creating images (OpenCL API, 5.3.1).

use std::ffi::c_void;
use std::sync::Arc;

use lockstep_icd_macros::entry_point;
use lockstep_runtime::context::Context;
use lockstep_runtime::image::Image;
use lockstep_runtime::image_format::Format;
use lockstep_runtime::memory::Memory;
use lockstep_runtime::{Result, device, ensure, error};
use opencl_sys::*;

use crate::api::buffer::{
    check_context, check_flags, check_host_pointer, check_immutable_bytes, sub_buffer_flags, with_kernel_flags,
};
use crate::api::image::TYPES;
use crate::{handle, property_list};

/// What an image is made from.
struct Request {
    context: Arc<Context>,
    properties: Vec<cl_mem_properties>,
    flags: cl_mem_flags,
    format: *const cl_image_format,
    host_ptr: *mut c_void,
}

impl Request {
    /// The format, which the pointer leads to.
    ///
    /// "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR if image_format is NULL [or] if values specified in image_format are not
    /// valid".
    ///
    /// # Safety
    /// The pointer is null or leads to a format.
    unsafe fn format(&self) -> Result<Format> {
        ensure!(!self.format.is_null(), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "image_format is NULL");
        // SAFETY: not null, so the caller vouches for it.
        let format = unsafe { self.format.read_unaligned() };
        let format = Format { order: format.image_channel_order, data_type: format.image_channel_data_type };
        let Format { order, data_type } = format;
        ensure!(
            format.is_valid(),
            CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
            "channel order {order:#x} and data type {data_type:#x} make no format"
        );
        Ok(format)
    }

    /// Creates the image; `pitch_error` is what wrong pitches are answered with.
    ///
    /// # Safety
    /// The pointers are as the specification says.
    unsafe fn create(self, desc: &cl_image_desc, pitch_error: cl_int) -> Result<*mut c_void> {
        check_support()?;
        check_flags(self.flags)?;
        // SAFETY: the caller vouches for it.
        let format = unsafe { self.format()? };
        // "CL_INVALID_IMAGE_DESCRIPTOR if values specified in image_desc are not valid": "num_mip_levels must be 0";
        // "num_samples must be 0".
        let kind = desc.image_type;
        ensure!(TYPES.contains(&kind), CL_INVALID_IMAGE_DESCRIPTOR, "image_type {kind:#x} is no type of image");
        let (levels, samples) = (desc.num_mip_levels, desc.num_samples);
        ensure!(levels == 0, CL_INVALID_IMAGE_DESCRIPTOR, "num_mip_levels is {levels}; 0 is allowed");
        ensure!(samples == 0, CL_INVALID_IMAGE_DESCRIPTOR, "num_samples is {samples}; 0 is allowed");
        let image = counted_sizes(desc, format);
        // "CL_INVALID_IMAGE_SIZE if the image dimensions specified in image_desc are not valid or exceed the maximum
        // image dimensions".
        let Image { width, height, depth, layers, .. } = image;
        ensure!(
            image.within_limits(),
            CL_INVALID_IMAGE_SIZE,
            "an image of {width} x {height} x {depth} elements in {layers} layers is empty or beyond CL_DEVICE_IMAGE*_MAX_*"
        );
        if !desc.buffer.is_null() {
            return self.create_from(desc, image);
        }
        // "mem_object can be a buffer memory object if image_type is CL_MEM_OBJECT_IMAGE1D_BUFFER", which needs one.
        ensure!(
            kind != CL_MEM_OBJECT_IMAGE1D_BUFFER,
            CL_INVALID_IMAGE_DESCRIPTOR,
            "an image of CL_MEM_OBJECT_IMAGE1D_BUFFER needs a buffer, and mem_object is NULL"
        );
        check_host_pointer(self.flags, self.host_ptr)?;
        // "image_row_pitch [...] must be 0 if host_ptr is NULL"; "image_slice_pitch [...] must be 0 if host_ptr is NULL".
        let (row, slice) = (desc.image_row_pitch, if image.has_slices() { desc.image_slice_pitch } else { 0 });
        ensure!(
            !self.host_ptr.is_null() || (row == 0 && slice == 0),
            pitch_error,
            "row pitch {row} and slice pitch {slice}; without a host_ptr 0 is allowed"
        );
        let image = with_pitches(image, [row, slice], pitch_error)?;
        let writes = self.flags & CL_MEM_WRITE_ONLY != 0;
        check_format(format, kind)?;
        ensure!(
            !writes || format.is_writable(),
            CL_IMAGE_FORMAT_NOT_SUPPORTED,
            "images of channel order {:#x} and data type {:#x} cannot be written",
            format.order,
            format.data_type
        );
        check_immutable_bytes(self.flags)?;
        let flags = with_kernel_flags(self.flags);
        let (context, host) = (self.context.clone(), self.host_ptr.cast());
        // SAFETY: the flags agree with the pointer, for which the caller vouches.
        handle::publish(unsafe { Memory::new_image(context, flags, image, host, self.properties)? })
    }

    /// Creates an image of another object's bytes.
    fn create_from(self, desc: &cl_image_desc, image: Image) -> Result<*mut c_void> {
        let parent = handle::get::<Memory>(desc.buffer);
        let parent = parent.map_err(|error| error.with_code(CL_INVALID_IMAGE_DESCRIPTOR).with_subject("mem_object"))?;
        check_context(parent.context(), &self.context, "mem_object")?;
        ensure!(parent.pipe().is_none(), CL_INVALID_IMAGE_DESCRIPTOR, "mem_object is a pipe");
        let flags = sub_buffer_flags(self.flags, parent.flags())?;
        let host_ptr = self.host_ptr;
        ensure!(host_ptr.is_null(), CL_INVALID_HOST_PTR, "host_ptr is {host_ptr:p}; with a mem_object NULL is allowed");
        let (kind, format) = (image.kind, image.format);
        let image = match parent.image() {
            // "mem_object can be a buffer memory object if image_type is CL_MEM_OBJECT_IMAGE1D_BUFFER or
            // CL_MEM_OBJECT_IMAGE2D".
            None => {
                ensure!(
                    matches!(kind, CL_MEM_OBJECT_IMAGE1D_BUFFER | CL_MEM_OBJECT_IMAGE2D),
                    CL_INVALID_IMAGE_DESCRIPTOR,
                    "an image of type {kind:#x} from a buffer; CL_MEM_OBJECT_IMAGE1D_BUFFER or _IMAGE2D is allowed"
                );
                let row = if kind == CL_MEM_OBJECT_IMAGE2D { desc.image_row_pitch } else { 0 };
                // "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR if a 2D image is created from a buffer and the row pitch and base
                // address alignment does not follow the rules".
                let image = with_pitches(image, [row, 0], CL_INVALID_IMAGE_FORMAT_DESCRIPTOR)?;
                // "image_width times size of element in bytes must be at most the size of the buffer object"; "the
                // image_row_pitch times image_height must be at most the size of the buffer object".
                let (bytes, most) = (image.byte_size(), parent.size());
                ensure!(bytes <= most, CL_INVALID_IMAGE_SIZE, "an image of {bytes} bytes in a buffer of {most}");
                image
            }
            // "mem_object can be an image object if image_type is CL_MEM_OBJECT_IMAGE2D."
            Some(other) => {
                ensure!(
                    kind == CL_MEM_OBJECT_IMAGE2D && other.kind == kind,
                    CL_INVALID_IMAGE_DESCRIPTOR,
                    "an image of type {kind:#x} from one of type {:#x}; both have to be CL_MEM_OBJECT_IMAGE2D",
                    other.kind
                );
                // "All of the values specified in image_desc must match the image descriptor information associated with
                // mem_object, except for mem_object."
                let image = Image { row_pitch: other.row_pitch, slice_pitch: other.slice_pitch, ..image };
                let pitch = [0, other.row_pitch].contains(&desc.image_row_pitch) && desc.image_slice_pitch == 0;
                let same = Image { format, ..other.clone() } == image;
                ensure!(
                    pitch && same,
                    CL_INVALID_IMAGE_DESCRIPTOR,
                    "an image of {} x {} elements from one of {} x {}: sizes and pitches have to be the same",
                    image.width,
                    image.height,
                    other.width,
                    other.height
                );
                // "The image channel order specified in image_format must be compatible with the image channel order
                // associated with mem_object".
                let compatible = [
                    (CL_sBGRA, CL_BGRA),
                    (CL_BGRA, CL_sBGRA),
                    (CL_sRGBA, CL_RGBA),
                    (CL_RGBA, CL_sRGBA),
                    (CL_sRGB, CL_RGB),
                    (CL_RGB, CL_sRGB),
                    (CL_sRGBx, CL_RGBx),
                    (CL_RGBx, CL_sRGBx),
                    (CL_DEPTH, CL_R),
                ];
                let orders = (format.order, other.format.order);
                let types = format.data_type == other.format.data_type;
                ensure!(
                    types && compatible.contains(&orders),
                    CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
                    "channel order {:#x} and data type {:#x} from an image of {:#x} and {:#x}, which does not fit",
                    format.order,
                    format.data_type,
                    other.format.order,
                    other.format.data_type
                );
                image
            }
        };
        check_format(format, kind)?;
        handle::publish(parent.image_view(flags, image, self.properties)?)
    }
}

/// "CL_INVALID_OPERATION if there are no devices in context that support images".
fn check_support() -> Result<()> {
    ensure!(device::has_images(), CL_INVALID_OPERATION, "no device of the context supports images");
    Ok(())
}

/// "CL_IMAGE_FORMAT_NOT_SUPPORTED if there are no devices in context that support image_format".
fn check_format(format: Format, kind: cl_mem_object_type) -> Result<()> {
    ensure!(
        format.is_supported() && format.suits_image_type(kind),
        CL_IMAGE_FORMAT_NOT_SUPPORTED,
        "images of type {kind:#x} with channel order {:#x} and data type {:#x} are not supported",
        format.order,
        format.data_type
    );
    Ok(())
}

/// The image with a row pitch and a slice pitch, which are the tightest where they are 0.
fn with_pitches(image: Image, [row, slice]: [usize; 2], code: cl_int) -> Result<Image> {
    let Image { width, height, format, .. } = image;
    let wrong = || {
        let size = format.element_size();
        error!(code, "row pitch {row} and slice pitch {slice} do not fit {width} x {height} elements of {size} bytes")
    };
    image.with_pitches(row, slice).ok_or_else(wrong)
}

/// The sizes that count for the type; the others are 1.
fn counted_sizes(desc: &cl_image_desc, format: Format) -> Image {
    let kind = desc.image_type;
    let rows = matches!(kind, CL_MEM_OBJECT_IMAGE2D | CL_MEM_OBJECT_IMAGE2D_ARRAY | CL_MEM_OBJECT_IMAGE3D);
    let layers = matches!(kind, CL_MEM_OBJECT_IMAGE1D_ARRAY | CL_MEM_OBJECT_IMAGE2D_ARRAY);
    Image {
        kind,
        format,
        width: desc.image_width,
        height: if rows { desc.image_height } else { 1 },
        depth: if kind == CL_MEM_OBJECT_IMAGE3D { desc.image_depth } else { 1 },
        layers: if layers { desc.image_array_size } else { 1 },
        row_pitch: 0,
        slice_pitch: 0,
    }
}

/// `clCreateImage`: makes an image from a format and a descriptor.
#[entry_point(clCreateImage)]
pub unsafe fn create_image(
    context: cl_context,
    flags: cl_mem_flags,
    image_format: *const cl_image_format,
    image_desc: *const cl_image_desc,
    host_ptr: *mut c_void,
) -> Result<cl_mem> {
    // SAFETY: the same contract.
    unsafe { create_image_with_properties(context, std::ptr::null(), flags, image_format, image_desc, host_ptr) }
}

/// `clCreateImageWithProperties`: makes an image that has a list of properties.
#[entry_point(clCreateImageWithProperties)]
pub unsafe fn create_image_with_properties(
    context: cl_context,
    properties: *const cl_mem_properties,
    flags: cl_mem_flags,
    image_format: *const cl_image_format,
    image_desc: *const cl_image_desc,
    host_ptr: *mut c_void,
) -> Result<cl_mem> {
    // "CL_INVALID_CONTEXT if context is not a valid context".
    let context = handle::get::<Context>(context)?;
    check_support()?;
    let mut list = Vec::new();
    if !properties.is_null() {
        // "CL_INVALID_PROPERTY if a property name in properties is not a supported property name": there are none.
        // SAFETY: the caller vouches for a list that ends in 0.
        let property = unsafe { properties.read() };
        if property != 0 {
            return property_list::unknown(CL_INVALID_PROPERTY, property);
        }
        list.push(0);
    }
    let request = Request { context, properties: list, flags, format: image_format, host_ptr };
    check_flags(flags)?;
    // SAFETY: the caller vouches for the pointers.
    unsafe {
        request.format()?;
        // "CL_INVALID_IMAGE_DESCRIPTOR if image_desc is NULL".
        ensure!(!image_desc.is_null(), CL_INVALID_IMAGE_DESCRIPTOR, "image_desc is NULL");
        request.create(&image_desc.read_unaligned(), CL_INVALID_IMAGE_DESCRIPTOR)
    }
}

/// A descriptor of nothing but type and sizes.
fn describe_image(image_type: cl_mem_object_type, sizes: [usize; 3], pitches: [usize; 2]) -> cl_image_desc {
    cl_image_desc {
        image_type,
        image_width: sizes[0],
        image_height: sizes[1],
        image_depth: sizes[2],
        image_array_size: 0,
        image_row_pitch: pitches[0],
        image_slice_pitch: pitches[1],
        num_mip_levels: 0,
        num_samples: 0,
        buffer: std::ptr::null_mut(),
    }
}

/// `clCreateImage2D`: makes an image of two dimensions, as OpenCL 1.1 had it.
#[entry_point(clCreateImage2D)]
pub unsafe fn create_image_2d(
    context: cl_context,
    flags: cl_mem_flags,
    image_format: *const cl_image_format,
    image_width: usize,
    image_height: usize,
    image_row_pitch: usize,
    host_ptr: *mut c_void,
) -> Result<cl_mem> {
    let context = handle::get::<Context>(context)?;
    let request = Request { context, properties: Vec::new(), flags, format: image_format, host_ptr };
    let desc = describe_image(CL_MEM_OBJECT_IMAGE2D, [image_width, image_height, 1], [image_row_pitch, 0]);
    // "CL_INVALID_IMAGE_SIZE [...] if values specified by image_row_pitch do not follow rules".
    // SAFETY: the caller vouches for the pointers.
    unsafe { request.create(&desc, CL_INVALID_IMAGE_SIZE) }
}

/// `clCreateImage3D`: makes an image of three dimensions, as OpenCL 1.1 had it.
#[entry_point(clCreateImage3D)]
pub unsafe fn create_image_3d(
    context: cl_context,
    flags: cl_mem_flags,
    image_format: *const cl_image_format,
    image_width: usize,
    image_height: usize,
    image_depth: usize,
    image_row_pitch: usize,
    image_slice_pitch: usize,
    host_ptr: *mut c_void,
) -> Result<cl_mem> {
    let context = handle::get::<Context>(context)?;
    check_support()?;
    // "CL_INVALID_IMAGE_SIZE if image_width or image_height are 0 or if image_depth is at most 1".
    ensure!(image_depth > 1, CL_INVALID_IMAGE_SIZE, "image_depth is {image_depth}; at least 2 is allowed");
    let request = Request { context, properties: Vec::new(), flags, format: image_format, host_ptr };
    let sizes = [image_width, image_height, image_depth];
    let desc = describe_image(CL_MEM_OBJECT_IMAGE3D, sizes, [image_row_pitch, image_slice_pitch]);
    // SAFETY: the caller vouches for the pointers.
    unsafe { request.create(&desc, CL_INVALID_IMAGE_SIZE) }
}
