//! The formats of image elements: which there are, which channel lies where, what kernels read of them, and one colour as an
//! element.

use std::sync::OnceLock;

use half::f16;
use opencl_sys::*;
use opencl_sys::{
    CL_RGBx as CL_RGBX, CL_RGx as CL_RGX, CL_Rx as CL_RX, CL_sBGRA as CL_SBGRA, CL_sRGB as CL_SRGB,
    CL_sRGBA as CL_SRGBA, CL_sRGBx as CL_SRGBX,
};
use serde::{Deserialize, Serialize};

/// Where in the record that kernels get of an image its format begins, in bytes; it goes on to the record's end, in words
/// as `kernels/cl/image.h` says.
pub const RECORD_FORMAT: usize = 40;
/// Where [`Format::order`] is.
pub const RECORD_ORDER: usize = 44;
/// Where [`Format::data_type`] is.
pub const RECORD_DATA_TYPE: usize = 48;

/// `CL_DEPTH_STENCIL`, which only images of OpenGL have.
const DEPTH_STENCIL: cl_channel_order = 0x10BE;
/// `CL_UNORM_INT24`, which the headers lack as well.
const UNORM_INT24: cl_channel_type = 0x10DF;

/// A channel order and a channel data type, which may be any numbers until [`Format::is_valid`] has looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Format {
    /// The order of the channels (`image_channel_order`).
    pub order: cl_channel_order,
    /// How a channel is encoded (`image_channel_data_type`).
    pub data_type: cl_channel_type,
}

/// Which stored channel is which component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Channels {
    /// How many are stored.
    pub count: usize,
    /// The index of what is read as red, green, blue, alpha; `None` reads 0, or 1 as alpha.
    pub read: [Option<u8>; 4],
}

impl Channels {
    /// Bit by bit, which components are stored.
    pub fn present_components(&self) -> u32 {
        (0..4)
            .filter(|&component| self.read[component].is_some())
            .fold(0, |components, component| components | 1 << component)
    }

    /// Bit by bit, which components a write stores: of those that share a channel the first.
    pub fn written_components(&self) -> u32 {
        let is_first = |component: usize| {
            self.read[component].is_some() && !self.read[..component].contains(&self.read[component])
        };
        (0..4).filter(|&component| is_first(component)).fold(0, |components, component| components | 1 << component)
    }
}

/// Where a component lies in its 32-bit word of an element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Field {
    /// The lowest bit.
    pub position: u32,
    /// How many bits.
    pub bits: u32,
    /// The number that means 1, of normalized components.
    pub most: f32,
}

/// How kernels read and write a component, as `kernels/cl/image.h` numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// 0 to 1.
    Unorm,
    /// -1 to 1.
    Snorm,
    /// Floats of 16 bits.
    Half,
    /// Floats of 32 bits.
    Float,
    /// 0 to 1; red, green and blue in the sRGB transfer function.
    Srgb,
    /// Integers with a sign.
    Signed,
    /// Integers without a sign.
    Unsigned,
}

/// How a channel is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Unsigned bytes that mean 0 to 1.
    Unorm8,
    /// Signed bytes that mean -1 to 1.
    Snorm8,
    /// Unsigned shorts that mean 0 to 1.
    Unorm16,
    /// Signed shorts that mean -1 to 1.
    Snorm16,
    /// Floats of 16 bits.
    Half,
    /// Floats of 32 bits.
    Float,
    /// Integers of 8 bits with a sign.
    Signed8,
    /// Integers of 16 bits with a sign.
    Signed16,
    /// Integers of 32 bits with a sign.
    Signed32,
    /// Integers of 8 bits without a sign.
    Unsigned8,
    /// Integers of 16 bits without a sign.
    Unsigned16,
    /// Integers of 32 bits without a sign.
    Unsigned32,
    /// Five, six and five bits.
    Packed565,
    /// Three times five bits.
    Packed555,
    /// Three times ten bits.
    Packed101010,
    /// Three times ten bits and two.
    Packed1010102,
    /// Unsigned bytes, of which red, green and blue are in the sRGB transfer function.
    Srgb8,
}

const BOTH_NORMS: &[cl_channel_type] = &[CL_UNORM_INT8, CL_UNORM_INT16, CL_SNORM_INT8, CL_SNORM_INT16];
const INTEGERS: &[cl_channel_type] =
    &[CL_SIGNED_INT8, CL_SIGNED_INT16, CL_SIGNED_INT32, CL_UNSIGNED_INT8, CL_UNSIGNED_INT16, CL_UNSIGNED_INT32];
const FLOATS: &[cl_channel_type] = &[CL_HALF_FLOAT, CL_FLOAT];
const BYTES: &[cl_channel_type] = &[CL_UNORM_INT8, CL_SNORM_INT8, CL_SIGNED_INT8, CL_UNSIGNED_INT8];
const PACKED: &[cl_channel_type] = &[CL_UNORM_SHORT_565, CL_UNORM_SHORT_555, CL_UNORM_INT_101010];

/// Channel orders with the lists of data types they are supported with.
const SUPPORTED: &[(cl_channel_order, &[&[cl_channel_type]])] = &[
    (CL_R, &[BOTH_NORMS, INTEGERS, FLOATS]),
    (CL_RG, &[BOTH_NORMS, INTEGERS, FLOATS]),
    (CL_RGBA, &[BOTH_NORMS, INTEGERS, FLOATS, &[CL_UNORM_INT_101010_2]]),
    (CL_BGRA, &[BYTES]),
    (CL_A, &[BOTH_NORMS, INTEGERS, FLOATS]),
    (CL_RA, &[BOTH_NORMS, INTEGERS, FLOATS]),
    (CL_ARGB, &[BYTES]),
    (CL_ABGR, &[BYTES]),
    (CL_INTENSITY, &[BOTH_NORMS, FLOATS]),
    (CL_LUMINANCE, &[BOTH_NORMS, FLOATS]),
    (CL_RGB, &[PACKED]),
    (CL_RGBX, &[PACKED]),
    (CL_SRGBA, &[&[CL_UNORM_INT8]]),
    (CL_SBGRA, &[&[CL_UNORM_INT8]]),
    (CL_DEPTH, &[&[CL_UNORM_INT16, CL_FLOAT]]),
];

/// Every format there is.
pub fn all_formats() -> impl Iterator<Item = Format> {
    SUPPORTED.iter().flat_map(|&(order, lists)| {
        lists.iter().flat_map(move |types| types.iter().map(move |&data_type| Format { order, data_type }))
    })
}

impl Format {
    /// Whether order and type are values that the specification knows and allows together.
    pub fn is_valid(self) -> bool {
        let packed = match self.data_type {
            CL_UNORM_SHORT_565 | CL_UNORM_SHORT_555 | CL_UNORM_INT_101010 => {
                Some(matches!(self.order, CL_RGB | CL_RGBX))
            }
            CL_UNORM_INT_101010_2 => Some(self.order == CL_RGBA),
            _ => None,
        };
        let known_type = (CL_SNORM_INT8..=UNORM_INT24).contains(&self.data_type) || packed.is_some();
        let bytes = BYTES.contains(&self.data_type);
        known_type
            && match self.order {
                CL_R | CL_A | CL_RG | CL_RA | CL_RGBA | CL_RX => packed.unwrap_or(true),
                CL_RGB | CL_RGBX | CL_RGX => packed == Some(true),
                CL_BGRA | CL_ARGB | CL_ABGR => bytes,
                CL_INTENSITY | CL_LUMINANCE => BOTH_NORMS.contains(&self.data_type) || FLOATS.contains(&self.data_type),
                CL_SRGBA | CL_SBGRA | CL_SRGB | CL_SRGBX => self.data_type == CL_UNORM_INT8,
                CL_DEPTH => matches!(self.data_type, CL_UNORM_INT16 | CL_FLOAT),
                DEPTH_STENCIL => matches!(self.data_type, UNORM_INT24 | CL_FLOAT),
                _ => false,
            }
    }

    /// Whether images can have it.
    pub fn is_supported(self) -> bool {
        all_formats().any(|format| format == self)
    }

    /// Whether images of a type can have it.
    pub fn suits_image_type(self, image_type: cl_mem_object_type) -> bool {
        // Depth images are flat, one or an array of them (OpenCL C, 6.3.3: image2d_depth_t, image2d_array_depth_t).
        self.order != CL_DEPTH || matches!(image_type, CL_MEM_OBJECT_IMAGE2D | CL_MEM_OBJECT_IMAGE2D_ARRAY)
    }

    /// Whether kernels can write it.
    pub fn is_writable(self) -> bool {
        // That is what cl_khr_srgb_image_writes would add.
        !self.is_srgb()
    }

    /// Whether red, green and blue are stored in sRGB's transfer function.
    pub fn is_srgb(self) -> bool {
        matches!(self.order, CL_SRGBA | CL_SBGRA)
    }

    /// Which channel is what. Packed formats count as one element, whose parts are in the order of the components.
    pub fn channels(self) -> Channels {
        let (channel_count, read_channels) = match self.order {
            CL_A => (1, [None, None, None, Some(0)]),
            CL_RG => (2, [Some(0), Some(1), None, None]),
            CL_RA => (2, [Some(0), None, None, Some(1)]),
            CL_RGB | CL_RGBX => (3, [Some(0), Some(1), Some(2), None]),
            CL_RGBA | CL_SRGBA => (4, [Some(0), Some(1), Some(2), Some(3)]),
            CL_BGRA | CL_SBGRA => (4, [Some(2), Some(1), Some(0), Some(3)]),
            CL_ARGB => (4, [Some(1), Some(2), Some(3), Some(0)]),
            CL_ABGR => (4, [Some(3), Some(2), Some(1), Some(0)]),
            CL_INTENSITY => (1, [Some(0); 4]),
            CL_LUMINANCE => (1, [Some(0), Some(0), Some(0), None]),
            _ => (1, [Some(0), None, None, None]),
        };
        Channels { count: channel_count, read: read_channels }
    }

    /// How a channel is encoded.
    pub fn class(self) -> Class {
        match self.data_type {
            CL_UNORM_INT8 if self.is_srgb() => Class::Srgb8,
            CL_UNORM_INT8 => Class::Unorm8,
            CL_SNORM_INT8 => Class::Snorm8,
            CL_UNORM_INT16 => Class::Unorm16,
            CL_SNORM_INT16 => Class::Snorm16,
            CL_HALF_FLOAT => Class::Half,
            CL_SIGNED_INT8 => Class::Signed8,
            CL_SIGNED_INT16 => Class::Signed16,
            CL_SIGNED_INT32 => Class::Signed32,
            CL_UNSIGNED_INT8 => Class::Unsigned8,
            CL_UNSIGNED_INT16 => Class::Unsigned16,
            CL_UNSIGNED_INT32 => Class::Unsigned32,
            CL_UNORM_SHORT_565 => Class::Packed565,
            CL_UNORM_SHORT_555 => Class::Packed555,
            CL_UNORM_INT_101010 => Class::Packed101010,
            CL_UNORM_INT_101010_2 => Class::Packed1010102,
            _ => Class::Float,
        }
    }

    /// Bytes of an element (`CL_IMAGE_ELEMENT_SIZE`).
    pub fn element_size(self) -> usize {
        let channel = match self.class() {
            Class::Packed565 | Class::Packed555 => return 2,
            Class::Packed101010 | Class::Packed1010102 => return 4,
            Class::Unorm8 | Class::Snorm8 | Class::Signed8 | Class::Unsigned8 | Class::Srgb8 => 1,
            Class::Unorm16 | Class::Snorm16 | Class::Half | Class::Signed16 | Class::Unsigned16 => 2,
            Class::Float | Class::Signed32 | Class::Unsigned32 => 4,
        };
        channel * self.channels().count
    }

    /// What kernels make of a component's bits.
    pub fn kind(self) -> Kind {
        match self.class() {
            Class::Srgb8 => Kind::Srgb,
            Class::Snorm8 | Class::Snorm16 => Kind::Snorm,
            Class::Half => Kind::Half,
            Class::Float => Kind::Float,
            Class::Signed8 | Class::Signed16 | Class::Signed32 => Kind::Signed,
            Class::Unsigned8 | Class::Unsigned16 | Class::Unsigned32 => Kind::Unsigned,
            _ => Kind::Unorm,
        }
    }

    /// Whether what is read outside the image has an alpha of 1 (OpenCL C, 6.15.15.1.1): where there is no alpha. The
    /// specification's list leaves out the orders with a channel that is not used, the conformance suite does not.
    pub fn border_is_opaque(self) -> bool {
        self.channels().read[3].is_none()
    }

    /// Where each component lies in its word. Elements of more than 32 bits have several words.
    pub fn component_fields(self) -> [Field; 4] {
        let field_at = |position: u32, bit_count: u32| {
            let signed = u32::from(self.kind() == Kind::Snorm);
            Field { position, bits: bit_count, most: ((1_u64 << (bit_count - signed)) - 1) as f32 }
        };
        let packed = |fields: [(u32, u32); 4]| fields.map(|(position, bit_count)| field_at(position, bit_count));
        let channel = match self.class() {
            Class::Packed565 => return packed([(11, 5), (5, 6), (0, 5), (0, 5)]),
            Class::Packed555 => return packed([(10, 5), (5, 5), (0, 5), (0, 5)]),
            Class::Packed101010 => return packed([(20, 10), (10, 10), (0, 10), (0, 10)]),
            Class::Packed1010102 => return packed([(22, 10), (12, 10), (2, 10), (0, 2)]),
            Class::Unorm8 | Class::Snorm8 | Class::Signed8 | Class::Unsigned8 | Class::Srgb8 => 8,
            Class::Unorm16 | Class::Snorm16 | Class::Half | Class::Signed16 | Class::Unsigned16 => 16,
            Class::Float | Class::Signed32 | Class::Unsigned32 => 32,
        };
        self.channels().read.map(|index| field_at(u32::from(index.unwrap_or(0)) * channel % 32, channel))
    }

    /// The word of the record at this offset in bytes, if it tells of the format.
    pub fn record_word(self, offset: usize) -> Option<u32> {
        let word_of_bytes = |number_of: fn(Field) -> u32| {
            u32::from_le_bytes(self.component_fields().map(|field| number_of(field) as u8))
        };
        Some(match offset {
            RECORD_FORMAT => self.element_size() as u32,
            RECORD_ORDER => self.order,
            RECORD_DATA_TYPE => self.data_type,
            52 => self.kind() as u32,
            56 => self.channels().count as u32,
            60 => {
                let channels = self.channels();
                channels.present_components()
                    | u32::from(self.border_is_opaque()) << 4
                    | channels.written_components() << 8
            }
            64 => word_of_bytes(|field| 32 - field.position - field.bits),
            68 => word_of_bytes(|field| 32 - field.bits),
            72 | 76 => 0,
            80 | 84 | 88 | 92 => self.component_fields()[(offset - 80) / 4].most.to_bits(),
            _ => return None,
        })
    }

    /// A colour as an element, converted as `write_image` does. The four words are floats, or integers for the formats
    /// of such.
    pub fn encode_color(self, color: [u32; 4]) -> Vec<u8> {
        let class = self.class();
        if !matches!(class, Class::Packed565 | Class::Packed555 | Class::Packed101010 | Class::Packed1010102) {
            let read_channels = self.channels().read;
            let channel = |index: usize| {
                let component = read_channels.iter().position(|stored| *stored == Some(index as u8)).unwrap_or(3);
                encode_channel(class, color[component], component)
            };
            return (0..self.channels().count).flat_map(channel).collect();
        }
        let parts = self.component_fields().into_iter().zip(color).take(if self.order == CL_RGBA { 4 } else { 3 });
        let packed = parts
            .fold(0, |packed, (field, part)| packed | encode_unorm(f32::from_bits(part), field.bits) << field.position);
        packed.to_le_bytes()[..self.element_size()].to_vec()
    }
}

/// One component as a channel.
fn encode_channel(class: Class, component_bits: u32, component: usize) -> Vec<u8> {
    let (float, signed) = (f32::from_bits(component_bits), component_bits as i32);
    match class {
        Class::Unorm8 => vec![encode_unorm(float, 8) as u8],
        Class::Srgb8 if component < 3 => vec![encode_unorm(srgb_of_linear(float), 8) as u8],
        Class::Srgb8 => vec![encode_unorm(float, 8) as u8],
        Class::Snorm8 => vec![encode_snorm(float, 8) as u8],
        Class::Unorm16 => (encode_unorm(float, 16) as u16).to_le_bytes().to_vec(),
        Class::Snorm16 => (encode_snorm(float, 16) as i16).to_le_bytes().to_vec(),
        Class::Half => f16::from_f32(float).to_le_bytes().to_vec(),
        Class::Signed8 => vec![signed.clamp(-128, 127) as u8],
        Class::Signed16 => (signed.clamp(-32768, 32767) as i16).to_le_bytes().to_vec(),
        Class::Unsigned8 => vec![component_bits.min(255) as u8],
        Class::Unsigned16 => (component_bits.min(65535) as u16).to_le_bytes().to_vec(),
        _ => component_bits.to_le_bytes().to_vec(),
    }
}

/// 0 to 1 in so many bits; no number is 0.
fn encode_unorm(value: f32, bit_count: u32) -> u32 {
    let maximum = ((1_u32 << bit_count) - 1) as f32;
    (value * maximum).round_ties_even().clamp(0.0, maximum) as u32
}

/// -1 to 1 in so many bits; no number is 0.
fn encode_snorm(value: f32, bit_count: u32) -> i32 {
    let maximum = ((1_u32 << (bit_count - 1)) - 1) as f32;
    (value * maximum).round_ties_even().clamp(-maximum - 1.0, maximum) as i32
}

/// sRGB's transfer function.
fn srgb_of_linear(value: f32) -> f32 {
    let value = if value.is_nan() { 0.0 } else { f64::from(value).clamp(0.0, 1.0) };
    let encoded = if value < 0.003_130_8 { 12.92 * value } else { 1.055 * value.powf(1.0 / 2.4) - 0.055 };
    encoded as f32
}

/// What each byte of sRGB means.
pub fn linear_of_srgb() -> &'static [f32; 256] {
    static TABLE: OnceLock<[f32; 256]> = OnceLock::new();
    TABLE.get_or_init(|| {
        std::array::from_fn(|byte| {
            let value = byte as f64 / 255.0;
            let linear = if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) };
            linear as f32
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_supported_is_valid_and_a_power_of_two() {
        for format in all_formats() {
            assert!(format.is_valid(), "{format:?}");
            assert!(format.element_size().is_power_of_two() && format.element_size() <= 16, "{format:?}");
        }
        let count = all_formats().count();
        assert!(all_formats().enumerate().all(|(i, a)| all_formats().take(i).all(|b| a != b)), "{count} formats");
    }

    #[test]
    fn orders_and_types_that_do_not_go_together() {
        for (order, data_type) in [
            (CL_RGB, CL_UNORM_INT8),
            (CL_BGRA, CL_FLOAT),
            (CL_INTENSITY, CL_SIGNED_INT8),
            (CL_R, CL_UNORM_SHORT_565),
            (CL_DEPTH, CL_HALF_FLOAT),
            (0, CL_FLOAT),
            (CL_R, 0),
            (u32::MAX, u32::MAX),
        ] {
            assert!(!Format { order, data_type }.is_valid(), "{order:#x} {data_type:#x}");
        }
    }

    #[test]
    fn colours_become_elements() {
        let color = [1.0, 0.5, -0.25, f32::NAN].map(f32::to_bits);
        let integers = [300, -5_i32 as u32, 70000, 7];
        let table: &[(u32, u32, [u32; 4], &[u8])] = &[
            (CL_RGBA, CL_UNORM_INT8, color, &[255, 128, 0, 0]),
            (CL_BGRA, CL_UNORM_INT8, color, &[0, 128, 255, 0]),
            (CL_ARGB, CL_SNORM_INT8, color, &[0, 127, 64, 0xE0]),
            (CL_ABGR, CL_UNORM_INT8, color, &[0, 0, 128, 255]),
            (CL_A, CL_UNSIGNED_INT8, integers, &[7]),
            (CL_RG, CL_SIGNED_INT8, integers, &[127, 0xFB]),
            (CL_RA, CL_UNSIGNED_INT16, integers, &[44, 1, 7, 0]),
            (CL_RGBA, CL_SIGNED_INT16, integers, &[44, 1, 0xFB, 0xFF, 0xFF, 0x7F, 7, 0]),
            (CL_R, CL_UNSIGNED_INT32, integers, &[44, 1, 0, 0]),
            (CL_R, CL_HALF_FLOAT, color, &[0x00, 0x3C]),
            (CL_INTENSITY, CL_FLOAT, color, &[0, 0, 0x80, 0x3F]),
            (CL_RGB, CL_UNORM_SHORT_565, color, &[0, 0xFC]),
            (CL_RGB, CL_UNORM_SHORT_555, color, &[0, 0x7E]),
            (CL_RGBX, CL_UNORM_INT_101010, color, &[0, 0, 0xF8, 0x3F]),
            (CL_RGBA, CL_UNORM_INT_101010_2, color, &[0, 0, 0xE0, 0xFF]),
            (CL_SRGBA, CL_UNORM_INT8, [0.5_f32, 0.0, 1.0, 0.5].map(f32::to_bits), &[188, 0, 255, 128]),
        ];
        for &(order, data_type, color, expected) in table {
            assert_eq!(Format { order, data_type }.encode_color(color), expected, "{order:#x} {data_type:#x}");
        }
    }

    #[test]
    fn srgb_goes_there_and_back() {
        for (byte, &linear) in linear_of_srgb().iter().enumerate() {
            assert_eq!(encode_unorm(srgb_of_linear(linear), 8) as usize, byte);
        }
        assert_eq!((linear_of_srgb()[0], linear_of_srgb()[255]), (0.0, 1.0));
    }
}
