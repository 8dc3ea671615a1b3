//! What the code of a kernel may rely on of every launch that runs it.

use crate::image_format::Format;
use crate::parameters::{Param, ParamKind};
use serde::{Deserialize, Serialize};

/// The most work-items of a group, along each dimension and together, in any launch.
pub const MAX_GROUP_SIZE: u32 = 4096;

/// The greatest global id where ids fit into an `int` with room for one more.
pub const MAX_INT_ID: u64 = i32::MAX as u64 - 1;

/// What [`LocalSize::Rows`] and [`LaunchFacts::multiples`] count in: the gangs of most kernels are no wider.
pub const ROW: u64 = 16;

/// What is known of get_enqueued_local_size.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum LocalSize {
    /// Nothing is known of it.
    #[default]
    Any,
    /// Along x it is a multiple of [`ROW`].
    Rows,
    /// All of it.
    Exactly([u32; 3]),
}

/// Of so many images and samplers among a kernel's arguments something may be known.
pub const OBJECTS: usize = 8;

/// What is known of an image or a sampler.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum Object {
    /// Nothing is known of it.
    #[default]
    Any,
    /// The image has this format.
    Image(Format),
    /// The bits of OpenCL C's `CLK_` constants.
    Sampler(u32),
}

impl Object {
    /// The word at this offset, in bytes, of what kernels get of it, if it is known.
    pub fn known_word(self, offset: u32) -> Option<u32> {
        match self {
            Object::Any => None,
            Object::Image(format) => format.record_word(offset as usize),
            Object::Sampler(bits) => (offset == 0).then_some(bits),
        }
    }
}

/// The parameters that [`LaunchFacts::objects`] tells of, in its order.
pub fn object_params(parameters: &[Param]) -> impl Iterator<Item = usize> {
    let is_object = |parameter: &Param| matches!(parameter.kind, ParamKind::Image | ParamKind::Sampler);
    parameters
        .iter()
        .enumerate()
        .filter(move |(_, parameter)| is_object(parameter))
        .map(|(index, _)| index)
        .take(OBJECTS)
}

/// The positions of the bits that are set, from the lowest.
pub fn list_set_bits(mut bits: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let position = bits.trailing_zeros();
        bits &= bits.checked_sub(1)?;
        Some(position)
    })
}

/// What holds of every launch of a variant. The default holds of any launch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct LaunchFacts {
    /// No global id of any dimension exceeds [`MAX_INT_ID`], no global size one more.
    pub ids_fit_int: bool,
    /// The global offset is zero in all dimensions.
    pub zero_offset: bool,
    /// The global size is a multiple of the local size in all dimensions.
    pub full_groups: bool,
    /// The local size.
    pub local: LocalSize,
    /// The kernel's inputs, one bit each, that are integers which, read as signed, are positive multiples of
    /// [`ROW`].
    pub multiples: u32,
    /// The kernel's inputs, one bit each, that are integers of value 1.
    pub ones: u32,
    /// The kernel's inputs, one bit each, that are pointers to memory which no other argument reaches.
    pub apart: u32,
    /// The kernel's inputs, one bit each, that are pointers to such memory which the launch writes once and does not read,
    /// where it touches more memory than the caches keep.
    pub streams: u32,
    /// The kernel's inputs, one bit each, that are pointers to counters of which each thread is to have a copy:
    /// to memory which no other argument and no SVM pointer reaches.
    pub counters: u32,
    /// As many bytes as such memory has at most; a power of two, 0 without any.
    pub counters_bytes: u32,
    /// The kernel's first images and samplers.
    pub objects: [Object; OBJECTS],
}

impl LaunchFacts {
    /// What holds of launches over a range, from its offset, its global size and its local size.
    pub fn of_range(offset: [u64; 3], global_size: [u64; 3], local_size: [u64; 3]) -> LaunchFacts {
        let has_int_ids = |dimension: usize| {
            offset[dimension].checked_add(global_size[dimension]).is_some_and(|end_id| end_id <= MAX_INT_ID + 1)
        };
        let group_size = |size: u64| u32::try_from(size).ok().filter(|&size| size <= MAX_GROUP_SIZE);
        LaunchFacts {
            ids_fit_int: (0..3).all(has_int_ids),
            zero_offset: offset == [0; 3],
            full_groups: (0..3).all(|dimension| {
                local_size[dimension] == 1
                    || local_size[dimension] != 0 && global_size[dimension].is_multiple_of(local_size[dimension])
            }),
            local: match local_size.map(group_size) {
                [Some(x), Some(y), Some(z)] => LocalSize::Exactly([x, y, z]),
                _ => LocalSize::Any,
            },
            ..LaunchFacts::default()
        }
    }

    /// Less: what holds for other local sizes of the kind as well.
    pub fn of_any_size(self) -> LaunchFacts {
        let local = if self.has_rows() { LocalSize::Rows } else { LocalSize::Any };
        LaunchFacts { local, full_groups: self.full_groups && local == LocalSize::Rows, ..self }
    }

    /// Less: what holds whatever the arguments are.
    pub fn of_any_arguments(self) -> LaunchFacts {
        let LaunchFacts { ids_fit_int, zero_offset, full_groups, local, .. } = self;
        LaunchFacts { ids_fit_int, zero_offset, full_groups, local, ..LaunchFacts::default() }
    }

    /// Whether all of `other` holds where this holds.
    pub fn implies(&self, other: &LaunchFacts) -> bool {
        let covers = |is_known: bool, wanted: bool| is_known || !wanted;
        let local = match other.local {
            LocalSize::Any => true,
            LocalSize::Rows => self.has_rows(),
            LocalSize::Exactly(_) => self.local == other.local,
        };
        local
            && covers(self.ids_fit_int, other.ids_fit_int)
            && covers(self.zero_offset, other.zero_offset)
            && covers(self.full_groups, other.full_groups)
            && other.multiples & !self.multiples == 0
            && other.ones & !self.ones == 0
            && other.apart & !self.apart == 0
            && other.streams & !self.streams == 0
            && other.counters & !self.counters == 0
            && (other.counters == 0 || self.counters_bytes <= other.counters_bytes)
            && self.objects.iter().zip(other.objects).all(|(&known, wanted)| wanted == Object::Any || known == wanted)
    }

    /// The facts where the kernel itself demands a local size.
    pub fn with_required(self, required_size: Option<[u32; 3]>) -> LaunchFacts {
        LaunchFacts { local: required_size.map_or(self.local, LocalSize::Exactly), ..self }
    }

    /// get_enqueued_local_size in a dimension, if it is known.
    pub fn local_size(&self, dimension: usize) -> Option<u32> {
        match self.local {
            LocalSize::Exactly(size) => Some(size.get(dimension).copied().unwrap_or(1)),
            _ => None,
        }
    }

    /// Whether groups are known to be rows along x that fill no gang each, but do together.
    pub fn has_short_rows(&self) -> bool {
        let LocalSize::Exactly([x, y, z]) = self.local else { return false };
        u64::from(x) < ROW && u64::from(x) * u64::from(y) * u64::from(z) >= ROW
    }

    /// Whether groups are single rows along x.
    pub fn is_one_row(&self) -> bool {
        self.local_size(1) == Some(1) && self.local_size(2) == Some(1)
    }

    /// A power of two that divides get_enqueued_local_size along x.
    pub fn row_align(&self) -> u64 {
        self.align_along(0)
    }

    /// A power of two that divides get_enqueued_local_size along a dimension.
    pub fn align_along(&self, dimension: usize) -> u64 {
        match self.local {
            LocalSize::Rows if dimension == 0 => ROW,
            LocalSize::Any | LocalSize::Rows => 1,
            LocalSize::Exactly(size) => 1 << size.get(dimension).map_or(0, |size| size.trailing_zeros().min(31)),
        }
    }

    /// Whether the local size along x is a multiple of [`ROW`].
    pub fn has_rows(&self) -> bool {
        self.row_align() >= ROW
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_id_decides_whether_ids_fit() {
        let fits = |offset, global| LaunchFacts::of_range([0, offset, 0], [1, global, 1], [1; 3]).ids_fit_int;
        assert!(fits(0, MAX_INT_ID + 1));
        assert!(fits(MAX_INT_ID, 1));
        assert!(!fits(0, MAX_INT_ID + 2));
        assert!(!fits(1, MAX_INT_ID + 1));
        assert!(!fits(u64::MAX, 1));
    }

    #[test]
    fn groups_are_full_where_the_local_size_divides() {
        let full = |global, local| LaunchFacts::of_range([0; 3], [64, global, 1], [16, local, 1]).full_groups;
        assert!(full(12, 4));
        assert!(full(12, 1));
        assert!(!full(12, 5));
        assert!(!full(12, 0));
    }

    #[test]
    fn facts_imply_those_that_say_less() {
        let mut objects = [Object::Any; OBJECTS];
        objects[1] = Object::Sampler(0x10);
        let known = LaunchFacts {
            multiples: 5,
            apart: 6,
            streams: 4,
            objects,
            ..LaunchFacts::of_range([0; 3], [960, 8, 1], [32, 4, 1])
        };
        for less in [known, known.of_any_size(), known.of_any_arguments(), LaunchFacts::default()] {
            assert!(known.implies(&less), "{less:?}");
            assert_eq!(less.implies(&known), less == known, "{less:?}");
        }
        let eight = LaunchFacts::of_range([0; 3], [960, 8, 1], [8, 4, 1]);
        assert!(!eight.implies(&known.of_any_size()) && !known.implies(&eight));
        assert!(!known.implies(&LaunchFacts { multiples: 2, ..known }));
        assert!(!known.implies(&LaunchFacts { apart: 1, ..known }));
        assert!(!known.implies(&LaunchFacts { streams: 2, ..known }));
        assert!(!known.implies(&LaunchFacts { objects: [Object::Sampler(0x10); OBJECTS], ..known }));
        assert!(!LaunchFacts { zero_offset: false, ..known }.implies(&known));
    }

    #[test]
    fn less_is_said_of_any_size() {
        let known = |x| LaunchFacts { multiples: 5, ..LaunchFacts::of_range([0; 3], [960, 8, 1], [x, 4, 1]) };
        let rows = known(32).of_any_size();
        assert_eq!(rows, LaunchFacts { local: LocalSize::Rows, ..known(32) });
        assert!(rows.full_groups);
        let any = known(8).of_any_size();
        assert_eq!(any, LaunchFacts { local: LocalSize::Any, full_groups: false, ..known(8) });
        assert_eq!([4, 8, 16].map(|x| known(x).has_short_rows()), [true, true, false]);
        assert!(!any.has_short_rows() && !LaunchFacts::of_range([0; 3], [960, 8, 1], [8, 1, 1]).has_short_rows());
        assert_eq!(any.of_any_arguments().multiples, 0);
        assert_eq!((known(24).row_align(), known(24).local_size(1), known(24).local_size(3)), (8, Some(4), Some(1)));
        assert_eq!((rows.row_align(), rows.local_size(0)), (ROW, None));
    }
}
