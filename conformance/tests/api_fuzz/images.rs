//! Images: formats, every type of image from every source, and the commands on them.

use std::ptr;

use lockstep_conformance::opencl_sys::*;

use super::Op;
use super::objects::{MEM_BITS, ask};
use super::transfers::{MAP_BITS, enqueue, map};
use super::world::*;

pub const OPS: &[Op] = &[
    ("clCreateImage", 5, |w| {
        let (context, flags, format) = (w.handle(Context), w.bits(MEM_BITS), format(w));
        let (desc, host) = (descriptor(w), host(w));
        let format = if w.once_in(30) { ptr::null() } else { &raw const format };
        let desc = if w.once_in(30) { ptr::null() } else { &raw const desc };
        let image = (w.d.clCreateImage)(context, flags, format, desc, host, w.code_at());
        w.made_image(image);
    }),
    ("clCreateImageWithProperties", 2, |w| {
        let (context, flags, format) = (w.handle(Context), w.bits(MEM_BITS), format(w));
        let (desc, host, list) = (descriptor(w), host(w), w.properties(&[0, 0x2000], &[0, 1]));
        let make = w.d.clCreateImageWithProperties;
        let image = make(context, pointer(&list), flags, &format, &desc, host, w.code_at());
        w.made_image(image);
    }),
    ("clCreateImage2D", 2, |w| {
        let (context, flags, format) = (w.handle(Context), w.bits(MEM_BITS), format(w));
        let ([width, height, _], pitch, host) = (w.region(), w.pitch(), host(w));
        let image = (w.d.clCreateImage2D)(context, flags, &format, width, height, pitch, host, w.code_at());
        w.made_image(image);
    }),
    ("clCreateImage3D", 2, |w| {
        let (context, flags, format) = (w.handle(Context), w.bits(MEM_BITS), format(w));
        let ([width, height, depth], row, slice, host) = (w.region(), w.pitch(), w.pitch(), host(w));
        let make = w.d.clCreateImage3D;
        let image = make(context, flags, &format, width, height, depth, row, slice, host, w.code_at());
        w.made_image(image);
    }),
    ("clGetSupportedImageFormats", 1, |w| {
        let (context, flags, kind) = (w.handle(Context), w.bits(MEM_BITS), w.number(KINDS));
        let none = cl_image_format { image_channel_order: 0, image_channel_data_type: 0 };
        let (mut list, entries, mut count) = ([none; 64], w.below(65) as u32, 0);
        let list = if w.once_in(4) { ptr::null_mut() } else { list.as_mut_ptr() };
        let code = (w.d.clGetSupportedImageFormats)(context, flags, kind, entries, list, &mut count);
        w.judge(Context, context, code);
    }),
    ("clGetImageInfo", 3, |w| ask(w, Mem, w.d.clGetImageInfo, 0x1110, 12)),
    ("clEnqueueReadImage", 3, |w| {
        let (image, origin, region, to, wait) = (w.image(), w.origin(), w.region(), w.data(), w.blocking());
        let (row, slice) = (w.pitch(), w.pitch());
        enqueue(w, |d, queue, count, list, event| {
            let (origin, region) = (origin.as_ptr(), region.as_ptr());
            (d.clEnqueueReadImage)(queue, image, wait, origin, region, row, slice, to, count, list, event)
        });
    }),
    ("clEnqueueWriteImage", 3, |w| {
        let (image, origin, region, from, wait) = (w.image(), w.origin(), w.region(), w.data(), w.blocking());
        let (row, slice) = (w.pitch(), w.pitch());
        enqueue(w, |d, queue, count, list, event| {
            let (origin, region) = (origin.as_ptr(), region.as_ptr());
            (d.clEnqueueWriteImage)(queue, image, wait, origin, region, row, slice, from, count, list, event)
        });
    }),
    ("clEnqueueFillImage", 3, |w| {
        let (image, color, origin, region) = (w.image(), w.data(), w.origin(), w.region());
        enqueue(w, |d, queue, count, list, event| {
            (d.clEnqueueFillImage)(queue, image, color, origin.as_ptr(), region.as_ptr(), count, list, event)
        });
    }),
    ("clEnqueueCopyImage", 3, |w| {
        let (from, to, here, there, region) = (w.image(), w.image(), w.origin(), w.origin(), w.region());
        enqueue(w, |d, queue, count, list, event| {
            let (here, there, region) = (here.as_ptr(), there.as_ptr(), region.as_ptr());
            (d.clEnqueueCopyImage)(queue, from, to, here, there, region, count, list, event)
        });
    }),
    ("clEnqueueCopyImageToBuffer", 3, |w| {
        let (image, buffer, origin, region) = (w.image(), w.buffer(), w.origin(), w.region());
        let offset = w.offset();
        enqueue(w, |d, queue, count, list, event| {
            let (origin, region) = (origin.as_ptr(), region.as_ptr());
            (d.clEnqueueCopyImageToBuffer)(queue, image, buffer, origin, region, offset, count, list, event)
        });
    }),
    ("clEnqueueCopyBufferToImage", 3, |w| {
        let (buffer, image, origin, region) = (w.buffer(), w.image(), w.origin(), w.region());
        let offset = w.offset();
        enqueue(w, |d, queue, count, list, event| {
            let (origin, region) = (origin.as_ptr(), region.as_ptr());
            (d.clEnqueueCopyBufferToImage)(queue, buffer, image, offset, origin, region, count, list, event)
        });
    }),
    ("clEnqueueMapImage", 3, |w| {
        let (image, origin, region, wait) = (w.image(), w.origin(), w.region(), w.blocking());
        let (flags, mut row, mut slice) = (w.bits(MAP_BITS), 0, 0);
        let row = if w.once_in(10) { ptr::null_mut() } else { &raw mut row };
        let slice = if w.once_in(3) { ptr::null_mut() } else { &raw mut slice };
        let mut mapped = ptr::null_mut();
        let code = enqueue(w, |d, queue, count, list, event| {
            let (origin, region, mut code) = (origin.as_ptr(), region.as_ptr(), 1);
            let map = d.clEnqueueMapImage;
            mapped = map(queue, image, wait, flags, origin, region, row, slice, count, list, event, &mut code);
            code
        });
        map(w, image, mapped, code);
    }),
];

const KINDS: &[u32] = &[
    CL_MEM_OBJECT_IMAGE2D,
    CL_MEM_OBJECT_IMAGE2D,
    CL_MEM_OBJECT_IMAGE3D,
    CL_MEM_OBJECT_IMAGE1D,
    CL_MEM_OBJECT_IMAGE1D_BUFFER,
    CL_MEM_OBJECT_IMAGE1D_ARRAY,
    CL_MEM_OBJECT_IMAGE2D_ARRAY,
    CL_MEM_OBJECT_BUFFER,
];

fn format(w: &mut World) -> cl_image_format {
    let right = [
        (CL_RGBA, CL_UNORM_INT8),
        (CL_RGBA, CL_UNORM_INT8),
        (CL_RGBA, CL_FLOAT),
        (CL_RGBA, CL_SIGNED_INT32),
        (CL_R, CL_HALF_FLOAT),
        (CL_RG, CL_UNSIGNED_INT16),
        (CL_BGRA, CL_UNORM_INT8),
        (CL_DEPTH, CL_FLOAT),
        (CL_sRGBA, CL_UNORM_INT8),
        (CL_RGB, CL_UNORM_SHORT_565),
    ];
    let (mut order, mut kind) = w.any(&right);
    if w.once_in(10) {
        (order, kind) = (w.number(&[order, CL_LUMINANCE]), w.number(&[kind, CL_UNORM_INT_101010, CL_SNORM_INT16]));
    }
    cl_image_format { image_channel_order: order, image_channel_data_type: kind }
}

fn host(w: &mut World) -> *mut std::ffi::c_void {
    if w.once_in(2) { ptr::null_mut() } else { w.data() }
}

fn descriptor(w: &mut World) -> cl_image_desc {
    let ([width, height, depth], pitches) = (w.region(), [w.pitch(), w.pitch()]);
    cl_image_desc {
        image_type: w.number(KINDS),
        image_width: width,
        image_height: height,
        image_depth: depth,
        image_array_size: w.any(&[1, 1, 2, 4, 8, 0, usize::MAX]),
        image_row_pitch: if w.once_in(6) { pitches[0] } else { 0 },
        image_slice_pitch: if w.once_in(6) { pitches[1] } else { 0 },
        num_mip_levels: u32::from(w.once_in(40)),
        num_samples: u32::from(w.once_in(40)),
        buffer: if w.once_in(4) { w.handle(Mem) } else { ptr::null_mut() },
    }
}
