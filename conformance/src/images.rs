//! Images and samplers for tests, and what the specification says an element, and a sample, is.

use std::ptr;

use opencl_sys::*;

use crate::codes::{code_name, ok};
use crate::loader::cl;
use crate::objects::{Buffer, Context, Queue};

/// A channel order and a channel data type.
pub type Format = (cl_channel_order, cl_channel_type);

/// An image's type and sizes; sizes that do not count are 1.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// `CL_MEM_OBJECT_IMAGE…`.
    pub kind: cl_mem_object_type,
    /// Width, height, and depth.
    pub sizes: [usize; 3],
    /// Images of an array.
    pub layers: usize,
}

/// The `CL_ADDRESS_…`.
pub const ADDRESSING: [cl_addressing_mode; 5] =
    [CL_ADDRESS_NONE, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_CLAMP, CL_ADDRESS_REPEAT, CL_ADDRESS_MIRRORED_REPEAT];

impl Shape {
    /// The descriptor, without pitches.
    pub fn descriptor(&self) -> cl_image_desc {
        cl_image_desc {
            image_type: self.kind,
            image_width: self.sizes[0],
            image_height: self.sizes[1],
            image_depth: self.sizes[2],
            image_array_size: self.layers,
            image_row_pitch: 0,
            image_slice_pitch: 0,
            num_mip_levels: 0,
            num_samples: 0,
            buffer: ptr::null_mut(),
        }
    }

    /// The region of the whole image.
    pub fn region(&self) -> [usize; 3] {
        match self.kind {
            CL_MEM_OBJECT_IMAGE1D_ARRAY => [self.sizes[0], self.layers, 1],
            CL_MEM_OBJECT_IMAGE2D_ARRAY => [self.sizes[0], self.sizes[1], self.layers],
            _ => self.sizes,
        }
    }

    /// How many elements there are.
    pub fn elements(&self) -> usize {
        self.region().iter().product()
    }

    /// The type's name in OpenCL C, of images that are not of depth.
    pub fn type_name(&self) -> &'static str {
        match self.kind {
            CL_MEM_OBJECT_IMAGE1D => "image1d_t",
            CL_MEM_OBJECT_IMAGE1D_ARRAY => "image1d_array_t",
            CL_MEM_OBJECT_IMAGE1D_BUFFER => "image1d_buffer_t",
            CL_MEM_OBJECT_IMAGE2D => "image2d_t",
            CL_MEM_OBJECT_IMAGE2D_ARRAY => "image2d_array_t",
            _ => "image3d_t",
        }
    }

    /// The components of a vector that are coordinates.
    pub fn coordinates(&self) -> &'static str {
        match self.kind {
            CL_MEM_OBJECT_IMAGE1D | CL_MEM_OBJECT_IMAGE1D_BUFFER => "x",
            CL_MEM_OBJECT_IMAGE1D_ARRAY | CL_MEM_OBJECT_IMAGE2D => "xy",
            _ => "xyzw",
        }
    }
}

impl Context {
    /// An image, or the error.
    pub fn try_image(
        &self,
        flags: cl_mem_flags,
        format: Format,
        desc: &cl_image_desc,
        host: *mut std::ffi::c_void,
    ) -> Result<Buffer, cl_int> {
        let format = cl_image_format { image_channel_order: format.0, image_channel_data_type: format.1 };
        let mut code = 1;
        let image = (cl().clCreateImage)(self.raw(), flags, &format, desc, host, &mut code);
        if code == CL_SUCCESS {
            return Ok(Buffer::own(image));
        }
        assert!(image.is_null(), "a failing clCreateImage returned an object");
        Err(code)
    }

    /// An image with these bytes.
    #[track_caller]
    pub fn image(&self, flags: cl_mem_flags, format: Format, shape: Shape, bytes: &[u8]) -> Buffer {
        let host = bytes.as_ptr().cast_mut().cast();
        self.try_image(flags | CL_MEM_COPY_HOST_PTR, format, &shape.descriptor(), host)
            .unwrap_or_else(|code| panic!("clCreateImage {format:x?} {shape:?}: {}", code_name(code)))
    }

    /// The formats of a type of image.
    #[track_caller]
    pub fn formats(&self, flags: cl_mem_flags, kind: cl_mem_object_type) -> Vec<Format> {
        let list = cl().clGetSupportedImageFormats;
        let mut count = 0;
        ok(list(self.raw(), flags, kind, 0, ptr::null_mut(), &mut count));
        let none = cl_image_format { image_channel_order: 0, image_channel_data_type: 0 };
        let mut formats = vec![none; count as usize];
        ok(list(self.raw(), flags, kind, count, formats.as_mut_ptr(), ptr::null_mut()));
        formats.iter().map(|format| (format.image_channel_order, format.image_channel_data_type)).collect()
    }

    /// A sampler, or the error. The caller releases it.
    pub fn try_sampler(&self, normalized: bool, addressing: cl_uint, filter: cl_uint) -> Result<cl_sampler, cl_int> {
        let mut code = 1;
        let sampler = (cl().clCreateSampler)(self.raw(), cl_bool::from(normalized), addressing, filter, &mut code);
        if code == CL_SUCCESS { Ok(sampler) } else { Err(code) }
    }
}

/// The bytes of a whole image, tightly.
#[track_caller]
pub fn read_image(queue: &Queue, image: &Buffer, shape: Shape, element: usize) -> Vec<u8> {
    let mut bytes = vec![0; shape.elements() * element];
    let (origin, region, host) = ([0_usize; 3], shape.region(), bytes.as_mut_ptr().cast());
    let read = cl().clEnqueueReadImage;
    let (origin, region, none) = (origin.as_ptr(), region.as_ptr(), ptr::null());
    ok(read(queue.raw(), image.raw(), CL_TRUE, origin, region, 0, 0, host, 0, none, ptr::null_mut()));
    bytes
}

/// Bytes of an element.
pub fn element_size((order, data_type): Format) -> usize {
    let channels = match order {
        CL_RG | CL_RA => 2,
        CL_R | CL_A | CL_INTENSITY | CL_LUMINANCE | CL_DEPTH => 1,
        _ => 4,
    };
    match data_type {
        CL_UNORM_SHORT_565 | CL_UNORM_SHORT_555 => 2,
        CL_UNORM_INT_101010 | CL_UNORM_INT_101010_2 => 4,
        CL_UNORM_INT8 | CL_SNORM_INT8 | CL_SIGNED_INT8 | CL_UNSIGNED_INT8 => channels,
        CL_UNORM_INT16 | CL_SNORM_INT16 | CL_SIGNED_INT16 | CL_UNSIGNED_INT16 | CL_HALF_FLOAT => 2 * channels,
        _ => 4 * channels,
    }
}

/// Which read function goes with a data type: `f`, `i` or `ui`.
pub fn reader(data_type: cl_channel_type) -> &'static str {
    match data_type {
        CL_SIGNED_INT8 | CL_SIGNED_INT16 | CL_SIGNED_INT32 => "i",
        CL_UNSIGNED_INT8 | CL_UNSIGNED_INT16 | CL_UNSIGNED_INT32 => "ui",
        _ => "f",
    }
}

/// A half precision number.
pub fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023) / 1024.0);
    let size = match exponent {
        0 => fraction * 2_f64.powi(-14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction) * 2_f64.powi(exponent - 15),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// What an element is as red, green, blue, alpha.
pub fn decode((order, data_type): Format, bytes: &[u8]) -> [f64; 4] {
    let short = |i: usize| u16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]]);
    let word = |i: usize| u32::from_le_bytes([0, 1, 2, 3].map(|k| bytes[4 * i + k]));
    let part =
        |whole: u32, low: u32, bits: u32| f64::from(whole >> low & ((1 << bits) - 1)) / f64::from((1 << bits) - 1);
    let channel = |i: usize| match data_type {
        CL_UNORM_INT8 => f64::from(bytes[i]) / 255.0,
        CL_SNORM_INT8 => (f64::from(bytes[i] as i8) / 127.0).max(-1.0),
        CL_UNORM_INT16 => f64::from(short(i)) / 65535.0,
        CL_SNORM_INT16 => (f64::from(short(i) as i16) / 32767.0).max(-1.0),
        CL_SIGNED_INT8 => f64::from(bytes[i] as i8),
        CL_SIGNED_INT16 => f64::from(short(i) as i16),
        CL_SIGNED_INT32 => f64::from(word(i) as i32),
        CL_UNSIGNED_INT8 => f64::from(bytes[i]),
        CL_UNSIGNED_INT16 => f64::from(short(i)),
        CL_UNSIGNED_INT32 => f64::from(word(i)),
        CL_HALF_FLOAT => half(short(i)),
        CL_FLOAT => f64::from(f32::from_bits(word(i))),
        other => panic!("data type {other:#x}"),
    };
    let linear = |i: usize| match channel(i) {
        c if c <= 0.04045 => c / 12.92,
        c => ((c + 0.055) / 1.055).powf(2.4),
    };
    match (order, data_type) {
        (_, CL_UNORM_SHORT_565) => {
            let all = short(0).into();
            [part(all, 11, 5), part(all, 5, 6), part(all, 0, 5), 1.0]
        }
        (_, CL_UNORM_SHORT_555) => [10, 5, 0].map(|low| part(short(0).into(), low, 5)).with_alpha(1.0),
        (_, CL_UNORM_INT_101010) => [20, 10, 0].map(|low| part(word(0), low, 10)).with_alpha(1.0),
        (_, CL_UNORM_INT_101010_2) => [22, 12, 2].map(|low| part(word(0), low, 10)).with_alpha(part(word(0), 0, 2)),
        (CL_R | CL_DEPTH, _) => [channel(0), 0.0, 0.0, 1.0],
        (CL_A, _) => [0.0, 0.0, 0.0, channel(0)],
        (CL_RG, _) => [channel(0), channel(1), 0.0, 1.0],
        (CL_RA, _) => [channel(0), 0.0, 0.0, channel(1)],
        (CL_RGBA, _) => [0, 1, 2, 3].map(channel),
        (CL_BGRA, _) => [2, 1, 0, 3].map(channel),
        (CL_ARGB, _) => [1, 2, 3, 0].map(channel),
        (CL_ABGR, _) => [3, 2, 1, 0].map(channel),
        (CL_INTENSITY, _) => [channel(0); 4],
        (CL_LUMINANCE, _) => [channel(0), channel(0), channel(0), 1.0],
        (order, _) if order == CL_sRGBA => [0, 1, 2].map(linear).with_alpha(channel(3)),
        (order, _) if order == CL_sBGRA => [2, 1, 0].map(linear).with_alpha(channel(3)),
        (order, _) => panic!("order {order:#x}"),
    }
}

trait WithAlpha {
    fn with_alpha(self, alpha: f64) -> [f64; 4];
}

impl WithAlpha for [f64; 3] {
    fn with_alpha(self, alpha: f64) -> [f64; 4] {
        [self[0], self[1], self[2], alpha]
    }
}

/// What is read outside an image (OpenCL C, 6.15.15.1.1): of the orders without alpha, the specification names those
/// without a channel that is not used, and the conformance suite all.
pub fn border((order, _): Format) -> [f64; 4] {
    let without_alpha = [CL_R, CL_Rx, CL_RG, CL_RGx, CL_RGB, CL_RGBx, CL_LUMINANCE, CL_sRGB, CL_sRGBx];
    [0.0, 0.0, 0.0, if without_alpha.contains(&order) { 1.0 } else { 0.0 }]
}

/// How a sampler reads.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    /// Whether coordinates go from 0 to 1.
    pub normalized: bool,
    /// `CL_ADDRESS_…`.
    pub addressing: cl_addressing_mode,
    /// `CL_FILTER_…`.
    pub filter: cl_filter_mode,
}

impl Sampling {
    /// The elements that one coordinate chooses, with weights; a place outside is none (OpenCL C, 8.2). `None` where
    /// the specification does not say what is read.
    fn along(self, c: f32, size: usize) -> Option<[(Option<usize>, f64); 2]> {
        let n = size as f32;
        let u = match self.addressing {
            CL_ADDRESS_REPEAT => (c - c.floor()) * n,
            CL_ADDRESS_MIRRORED_REPEAT => (c - 2.0 * (0.5 * c).round_ties_even()).abs() * n,
            _ if self.normalized => c * n,
            _ => c,
        };
        let (last, size) = (size as i64 - 1, size as i64);
        let wrap = |i: i64| match self.addressing {
            CL_ADDRESS_CLAMP_TO_EDGE | CL_ADDRESS_MIRRORED_REPEAT => i.clamp(0, last),
            CL_ADDRESS_REPEAT if i < 0 => i + size,
            CL_ADDRESS_REPEAT if i > last => i - size,
            _ => i,
        };
        let place = |i: i64| (0..size).contains(&i).then_some(i as usize);
        let (low, weight) = match self.filter {
            CL_FILTER_LINEAR => ((u - 0.5).floor(), f64::from((u - 0.5) - (u - 0.5).floor())),
            _ => (u.floor(), 0.0),
        };
        let places = [low as i64, low as i64 + 1].map(|i| place(wrap(i)));
        let unsaid = self.addressing == CL_ADDRESS_NONE
            && (places[0].is_none() || (self.filter == CL_FILTER_LINEAR && places[1].is_none()));
        (!unsaid).then_some([(places[0], 1.0 - weight), (places[1], weight)])
    }

    /// What is read at a place, given what each element is.
    pub fn sample(
        self,
        at: [f32; 3],
        shape: Shape,
        border: [f64; 4],
        element: impl Fn([usize; 3]) -> [f64; 4],
    ) -> Option<[f64; 4]> {
        let layer = |c: f32| {
            let nearest = (c.round_ties_even().max(0.0) as usize).min(shape.layers - 1);
            Some([(Some(nearest), 1.0), (None, 0.0)])
        };
        let one = Some([(Some(0), 1.0), (None, 0.0)]);
        let [w, h, d] = shape.sizes;
        let axes = match shape.kind {
            CL_MEM_OBJECT_IMAGE1D | CL_MEM_OBJECT_IMAGE1D_BUFFER => [self.along(at[0], w)?, one?, one?],
            CL_MEM_OBJECT_IMAGE1D_ARRAY => [self.along(at[0], w)?, layer(at[1])?, one?],
            CL_MEM_OBJECT_IMAGE2D => [self.along(at[0], w)?, self.along(at[1], h)?, one?],
            CL_MEM_OBJECT_IMAGE2D_ARRAY => [self.along(at[0], w)?, self.along(at[1], h)?, layer(at[2])?],
            _ => [self.along(at[0], w)?, self.along(at[1], h)?, self.along(at[2], d)?],
        };
        let mut sum = [0.0; 4];
        for (z, z_weight) in axes[2] {
            for (y, y_weight) in axes[1] {
                for (x, x_weight) in axes[0] {
                    let weight = x_weight * y_weight * z_weight;
                    if weight != 0.0 {
                        let value = match (x, y, z) {
                            (Some(x), Some(y), Some(z)) => element([x, y, z]),
                            _ => border,
                        };
                        sum = [0, 1, 2, 3].map(|i| sum[i] + weight * value[i]);
                    }
                }
            }
        }
        Some(sum)
    }
}
