//! Images: how their elements lie in memory, and the record that kernels read of them.
//!
//! An image is linear memory: rows of elements, slices of rows. So what an application maps is the image itself, and an
//! image made from a buffer shares the buffer's bytes. Kernels reach an image through its [`Image::descriptor`] in the
//! argument block, laid out as `kernels/cl/image.h` says.

use opencl_sys::{
    CL_INVALID_VALUE, CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE1D_BUFFER,
    CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D, cl_mem_object_type,
};

use crate::image_format::{self, Format, RECORD_FORMAT};
use crate::memory_layout::{Layout, Region};
use crate::{Result, ensure, error};

/// `CL_DEVICE_IMAGE2D_MAX_WIDTH` and `_HEIGHT`; also of one-dimensional images.
pub const MAX_2D: usize = 16384;
/// `CL_DEVICE_IMAGE3D_MAX_WIDTH`, `_HEIGHT` and `_DEPTH`.
pub const MAX_3D: usize = 2048;
/// The most layers of an image (`CL_DEVICE_IMAGE_MAX_ARRAY_SIZE`).
pub const MAX_LAYERS: usize = 2048;
/// `CL_DEVICE_IMAGE_MAX_BUFFER_SIZE`, in elements.
pub const MAX_BUFFER: usize = 1 << 27;
/// `CL_DEVICE_MAX_READ_IMAGE_ARGS` and the like: bounded by the argument block alone.
pub const MAX_ARGUMENTS: u32 = 128;
/// The most samplers of a kernel (`CL_DEVICE_MAX_SAMPLERS`).
pub const MAX_SAMPLERS: u32 = 64;
/// `CL_DEVICE_IMAGE_PITCH_ALIGNMENT` and `CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT`, in elements: elements of 16 bytes may
/// lie anywhere a buffer's elements may.
pub const ALIGNMENT: u32 = 1;
/// The longest row in bytes: kernels multiply by it in 32 bits.
const MAX_ROW: usize = u32::MAX as usize;

pub use lockstep_protocol::parameters::IMAGE_BYTES as DESCRIPTOR;

/// What distinguishes an image from a buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Which type of image it is (`CL_MEM_TYPE`).
    pub kind: cl_mem_object_type,
    /// The format of its elements.
    pub format: Format,
    /// Elements of a row.
    pub width: usize,
    /// Rows of a slice; 1 where there are no rows.
    pub height: usize,
    /// Slices of a volume; 1 for other images.
    pub depth: usize,
    /// Images of an array; 1 for others.
    pub layers: usize,
    /// Bytes from row to row.
    pub row_pitch: usize,
    /// Bytes from slice to slice or from layer to layer.
    pub slice_pitch: usize,
}

impl Image {
    /// Whether it is an array.
    pub fn is_array(&self) -> bool {
        matches!(self.kind, CL_MEM_OBJECT_IMAGE1D_ARRAY | CL_MEM_OBJECT_IMAGE2D_ARRAY)
    }

    /// Whether it has rows above each other.
    pub fn has_rows(&self) -> bool {
        matches!(self.kind, CL_MEM_OBJECT_IMAGE2D | CL_MEM_OBJECT_IMAGE2D_ARRAY | CL_MEM_OBJECT_IMAGE3D)
    }

    /// Whether `CL_IMAGE_SLICE_PITCH` is more than 0.
    pub fn has_slices(&self) -> bool {
        self.is_array() || self.kind == CL_MEM_OBJECT_IMAGE3D
    }

    /// How many coordinates count, as regions of commands say it.
    pub fn element_extents(&self) -> Region {
        match self.kind {
            CL_MEM_OBJECT_IMAGE1D_ARRAY => [self.width, self.layers, 1],
            CL_MEM_OBJECT_IMAGE2D_ARRAY => [self.width, self.height, self.layers],
            _ => [self.width, self.height, self.depth],
        }
    }

    /// Whether the sizes are within the device's limits.
    pub fn within_limits(&self) -> bool {
        let [width, height] = [self.width, self.height];
        let sizes = match self.kind {
            CL_MEM_OBJECT_IMAGE1D_BUFFER => width <= MAX_BUFFER,
            CL_MEM_OBJECT_IMAGE3D => width <= MAX_3D && height <= MAX_3D && self.depth <= MAX_3D,
            CL_MEM_OBJECT_IMAGE1D | CL_MEM_OBJECT_IMAGE1D_ARRAY => width <= MAX_2D && self.layers <= MAX_LAYERS,
            _ => width <= MAX_2D && height <= MAX_2D && self.layers <= MAX_LAYERS,
        };
        sizes && ![width, height, self.depth, self.layers].contains(&0)
    }

    /// Sets the pitches: those given, or for 0 the tightest. `None` if they are too small, are no multiples of what they
    /// hold, or cannot be numbered.
    pub fn with_pitches(mut self, row_pitch: usize, slice_pitch: usize) -> Option<Self> {
        let tight_pitch = self.width.checked_mul(self.format.element_size())?;
        let row = if row_pitch == 0 { tight_pitch } else { row_pitch };
        let plane_bytes = row.checked_mul(self.height)?;
        let slice = if slice_pitch == 0 { plane_bytes } else { slice_pitch };
        let is_enough = row >= tight_pitch && row.is_multiple_of(self.format.element_size()) && row <= MAX_ROW;
        let slices_fit = slice >= plane_bytes && slice.is_multiple_of(row);
        (self.row_pitch, self.slice_pitch) = (row, slice);
        slice.checked_mul(self.depth.max(self.layers))?;
        (is_enough && slices_fit).then_some(self)
    }

    /// Bytes from the first to the last of the image, with the last row's padding: what `host_ptr` points to.
    pub fn byte_size(&self) -> usize {
        self.slice_pitch * self.depth.max(self.layers)
    }

    /// Where a box of elements begins and what its rows and slices are apart, and its size in bytes, rows and slices.
    ///
    /// "CL_INVALID_VALUE if the region being read or written specified by origin and region is out of bounds [or] if
    /// values in origin and region do not follow rules described in the argument description".
    ///
    /// # Errors
    /// `CL_INVALID_VALUE`: see above.
    pub fn box_layout(&self, origin: [usize; 3], region: Region) -> Result<(Layout, Region)> {
        let extents = self.element_extents();
        ensure!(!region.contains(&0), CL_INVALID_VALUE, "region {region:?} has a dimension of 0");
        for ((&from, &length), &extent) in origin.iter().zip(&region).zip(&extents) {
            ensure!(
                from.checked_add(length).is_some_and(|end| end <= extent),
                CL_INVALID_VALUE,
                "region {region:?} from origin {origin:?} on is outside of the image of {extents:?} elements"
            );
        }
        let (row_pitch, slice_pitch) = self.box_pitches();
        let byte_size = self.format.element_size();
        let offset = origin[2] * slice_pitch + origin[1] * row_pitch + origin[0] * byte_size;
        Ok((Layout { offset, row_pitch, slice_pitch }, [region[0] * byte_size, region[1], region[2]]))
    }

    /// What the second and the third coordinate of a region are apart.
    fn box_pitches(&self) -> (usize, usize) {
        match self.kind {
            CL_MEM_OBJECT_IMAGE1D_ARRAY => (self.slice_pitch, self.byte_size()),
            _ => (self.row_pitch, self.slice_pitch),
        }
    }

    /// How a box of this image lies in the application's memory: the given pitches, or for 0 the tightest.
    ///
    /// "row_pitch [...] must be greater than or equal to the element size in bytes times width"; "slice_pitch [...] must
    /// be 0 if image is a 1D or 2D image. Otherwise this value must be greater than or equal to row_pitch times height."
    ///
    /// # Errors
    /// `CL_INVALID_VALUE` for other pitches, or for a box that no memory could hold.
    pub fn host_layout(&self, region: Region, row_pitch: usize, slice_pitch: usize) -> Result<Layout> {
        let tight_pitch = region[0] * self.format.element_size();
        let row = if row_pitch == 0 { tight_pitch } else { row_pitch };
        ensure!(
            row >= tight_pitch,
            CL_INVALID_VALUE,
            "a row pitch of {row_pitch} bytes; rows of the region have {tight_pitch}"
        );
        ensure!(
            slice_pitch == 0 || self.has_slices(),
            CL_INVALID_VALUE,
            "a slice pitch of {slice_pitch} bytes for an image without slices; 0 is allowed"
        );
        let row_count = if self.kind == CL_MEM_OBJECT_IMAGE1D_ARRAY { 1 } else { region[1] };
        let too_large = || {
            let pitches = [row_pitch, slice_pitch];
            error!(CL_INVALID_VALUE, "region {region:?} with pitches of {pitches:?} bytes is larger than any memory")
        };
        let least = row.checked_mul(row_count).ok_or_else(too_large)?;
        let slice = if slice_pitch == 0 { least } else { slice_pitch };
        ensure!(
            slice >= least,
            CL_INVALID_VALUE,
            "a slice pitch of {slice_pitch} bytes; slices of the region have {least}"
        );
        let layout = match self.kind {
            CL_MEM_OBJECT_IMAGE1D_ARRAY => {
                let all_bytes = slice.checked_mul(region[1]).ok_or_else(too_large)?;
                Layout { offset: 0, row_pitch: slice, slice_pitch: all_bytes }
            }
            _ => Layout { offset: 0, row_pitch: row, slice_pitch: slice },
        };
        let bytes = [tight_pitch, region[1], region[2]];
        layout.byte_span(bytes).ok_or_else(too_large)?;
        Ok(layout)
    }

    /// What kernels read of an image whose first element is at `start`.
    pub fn descriptor(&self, start: *mut u8) -> [u8; DESCRIPTOR] {
        let mut bytes = [0; DESCRIPTOR];
        let mut put = |offset: usize, field: &[u8]| bytes[offset..offset + field.len()].copy_from_slice(field);
        put(0, &(start as u64).to_le_bytes());
        put(8, &(self.slice_pitch as u64).to_le_bytes());
        let table = if self.format.is_srgb() { image_format::linear_of_srgb().as_ptr() } else { std::ptr::null() };
        put(16, &(table as u64).to_le_bytes());
        for (index, word) in
            [self.row_pitch, self.width, self.height, self.depth.max(self.layers)].into_iter().enumerate()
        {
            put(24 + 4 * index, &(word as u32).to_le_bytes());
        }
        for offset in (RECORD_FORMAT..DESCRIPTOR).step_by(4) {
            put(offset, &self.format.record_word(offset).unwrap_or(0).to_le_bytes());
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use opencl_sys::{CL_RGBA, CL_UNORM_INT8};

    use super::*;

    fn image(kind: cl_mem_object_type, sizes: [usize; 4]) -> Image {
        let format = Format { order: CL_RGBA, data_type: CL_UNORM_INT8 };
        let [width, height, depth, layers] = sizes;
        Image { kind, format, width, height, depth, layers, row_pitch: 0, slice_pitch: 0 }
    }

    #[test]
    fn pitches_default_to_the_tightest_and_are_checked() {
        let volume = image(CL_MEM_OBJECT_IMAGE3D, [5, 3, 2, 1]);
        let table = [
            (0, 0, Some((20, 60))),
            (24, 0, Some((24, 72))),
            (24, 96, Some((24, 96))),
            (16, 0, None),
            (22, 0, None),
            (24, 48, None),
            (24, 80, None),
            (usize::MAX & !3, 0, None),
        ];
        for (row_pitch, slice_pitch, expected) in table {
            let got =
                volume.clone().with_pitches(row_pitch, slice_pitch).map(|image| (image.row_pitch, image.slice_pitch));
            assert_eq!(got, expected, "{row_pitch} {slice_pitch}");
        }
    }

    #[test]
    fn boxes_of_arrays_of_rows_step_by_the_slice() {
        let rows = image(CL_MEM_OBJECT_IMAGE1D_ARRAY, [5, 1, 1, 4]).with_pitches(0, 40).unwrap();
        assert_eq!(rows.byte_size(), 160);
        let (layout, region) = rows.box_layout([1, 2, 0], [3, 2, 1]).unwrap();
        assert_eq!((layout.offset, layout.row_pitch, region), (84, 40, [12, 2, 1]));
        for (origin, region) in [([3, 0, 0], [3, 1, 1]), ([0, 3, 0], [1, 2, 1]), ([0, 0, 1], [1, 1, 1])] {
            assert!(rows.box_layout(origin, region).is_err(), "{origin:?} {region:?}");
        }
        assert!(rows.box_layout([0, 0, 0], [0, 1, 1]).is_err());
        assert!(rows.box_layout([usize::MAX, 0, 0], [1, 1, 1]).is_err());
    }

    #[test]
    fn limits() {
        assert!(image(CL_MEM_OBJECT_IMAGE2D, [MAX_2D, 1, 1, 1]).within_limits());
        for (kind, sizes) in [
            (CL_MEM_OBJECT_IMAGE2D, [MAX_2D + 1, 1, 1, 1]),
            (CL_MEM_OBJECT_IMAGE2D, [1, 0, 1, 1]),
            (CL_MEM_OBJECT_IMAGE3D, [1, 1, MAX_3D + 1, 1]),
            (CL_MEM_OBJECT_IMAGE2D_ARRAY, [1, 1, 1, MAX_LAYERS + 1]),
            (CL_MEM_OBJECT_IMAGE1D_BUFFER, [MAX_BUFFER + 1, 1, 1, 1]),
        ] {
            assert!(!image(kind, sizes).within_limits(), "{kind:#x} {sizes:?}");
        }
    }

    #[test]
    fn rows_in_the_applications_memory() {
        let flat = image(CL_MEM_OBJECT_IMAGE2D, [8, 8, 1, 1]).with_pitches(0, 0).unwrap();
        let layout = |row_pitch, slice_pitch| {
            flat.host_layout([4, 2, 1], row_pitch, slice_pitch).map(|layout| layout.row_pitch).ok()
        };
        assert_eq!([layout(0, 0), layout(20, 0), layout(12, 0), layout(16, 32)], [Some(16), Some(20), None, None]);
        let volume = image(CL_MEM_OBJECT_IMAGE3D, [8, 8, 8, 1]).with_pitches(0, 0).unwrap();
        let layout = |row_pitch, slice_pitch| {
            volume.host_layout([4, 2, 2], row_pitch, slice_pitch).map(|layout| layout.slice_pitch).ok()
        };
        assert_eq!([layout(0, 0), layout(20, 0), layout(20, 39), layout(20, 41)], [Some(32), Some(40), None, Some(41)]);
    }
}
