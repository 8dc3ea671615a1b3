//! The regions of a memory object that the host has mapped, in an order that finds them quickly: an application may map
//! one buffer a hundred thousand times.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::memory_layout::{Layout, Region, boxes_overlap};

/// A box of bytes, in the object whose bytes they are.
#[derive(Clone, Copy)]
struct MappedBox {
    layout: Layout,
    region: Region,
}

/// The mapped regions of an object and of all objects that share its bytes.
#[derive(Default)]
pub(crate) struct Mappings {
    /// The mapped boxes, by their keys.
    all: BTreeMap<MappingKey, Writes>,
    /// Those mapped for writing, by how many bits the number of bytes has from their first to their last one; then by
    /// the first one. Few boxes of a class can hold a byte without a clash, and none begins far before it.
    written: BTreeMap<u32, BTreeMap<(usize, u64), MappedBox>>,
    /// How many there have been.
    count: u64,
}

/// What a mapping is found by: the address of the object that it was made through, its first byte, and its number in
/// the order in which they were made.
type MappingKey = (usize, usize, u64);

/// The class under which a box mapped for writing is kept; none if it is mapped for reading only.
type Writes = Option<u32>;

impl Mappings {
    /// Adds a box that is mapped through the object with this address. Whether it could be: no two boxes mapped for
    /// writing may share a byte.
    #[must_use]
    pub(crate) fn add_box(&mut self, object: usize, layout: Layout, region: Region, writes: bool) -> bool {
        let number = self.count;
        let added = MappedBox { layout, region };
        let span = added.byte_span();
        if writes && self.is_written(&added, &span) {
            return false;
        }
        let class = writes.then(|| class_of(&span));
        if let Some(class) = class {
            self.written.entry(class).or_default().insert((span.start, number), added);
        }
        self.all.insert((object, layout.offset, number), class);
        self.count += 1;
        true
    }

    /// Removes the oldest box that was mapped through the object with this address and begins at this byte. Whether there
    /// is one.
    #[must_use]
    pub(crate) fn remove_oldest(&mut self, object: usize, offset: usize) -> bool {
        let oldest_box = self.all.range((object, offset, 0)..=(object, offset, u64::MAX)).next();
        let Some((&key, &class)) = oldest_box else { return false };
        self.all.remove(&key);
        if let Some(class) = class
            && let Some(boxes) = self.written.get_mut(&class)
        {
            // There are few classes, so an empty one stays.
            boxes.remove(&(offset, key.2));
        }
        true
    }

    /// Whether a byte of the box is mapped for writing.
    fn is_written(&self, wanted: &MappedBox, span: &Range<usize>) -> bool {
        for (&class, boxes) in &self.written {
            // All of this class are shorter.
            let longest = 1_usize.checked_shl(class).unwrap_or(usize::MAX);
            let first = span.start.saturating_sub(longest);
            let mut nearby = boxes.range((first, 0)..(span.end, 0));
            if nearby.any(|(_, other)| boxes_overlap((other.layout, other.region), (wanted.layout, wanted.region))) {
                return true;
            }
        }
        false
    }
}

impl MappedBox {
    /// The bytes from the first to the last one.
    fn byte_span(&self) -> Range<usize> {
        self.layout.byte_span(self.region).unwrap_or(self.layout.offset..usize::MAX)
    }
}

/// The class of a box: how many bits its length has.
fn class_of(span: &Range<usize>) -> u32 {
    usize::BITS - span.len().leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(offset: usize, byte_size: usize) -> (Layout, Region) {
        (Layout { offset, row_pitch: byte_size, slice_pitch: byte_size }, [byte_size, 1, 1])
    }

    #[test]
    fn mappings_end_through_the_object_they_were_made_through() {
        let mut mappings = Mappings::default();
        let mut add = |object, (layout, region), writes| mappings.add_box(object, layout, region, writes);
        assert!(add(1, row(0, 8), true) && !add(1, row(7, 1), true) && !add(2, row(0, 9), true));
        assert!(add(2, row(8, 1), true) && add(1, row(0, 100), false) && add(1, row(0, 100), false));
        assert!(!mappings.remove_oldest(2, 0) && !mappings.remove_oldest(1, 8));
        assert!(mappings.remove_oldest(1, 0), "the one for writing is the oldest");
        let (layout, region) = row(0, 8);
        assert!(mappings.add_box(1, layout, region, true));
        assert!((0..3).all(|_| mappings.remove_oldest(1, 0)) && !mappings.remove_oldest(1, 0));
        assert!(mappings.remove_oldest(2, 8));
        assert!(mappings.all.is_empty() && mappings.written.values().all(BTreeMap::is_empty));
    }

    /// A small generator of numbers: xorshift.
    fn next(state: &mut u64, below: usize) -> usize {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        (*state % below as u64) as usize
    }

    #[test]
    fn clashes_are_those_that_a_comparison_with_all_others_finds() {
        let mut state = 88_172_645_463_325_252;
        let mut mappings = Mappings::default();
        let mut plain: Vec<(usize, Layout, Region, bool)> = Vec::new();
        for _ in 0..20_000 {
            let object = next(&mut state, 2);
            if plain.len() > 12 || next(&mut state, 3) == 0 {
                let offset = next(&mut state, 500);
                let found =
                    plain.iter().position(|(of, mapped_layout, ..)| (*of, mapped_layout.offset) == (object, offset));
                let found = found.or_else(|| (plain.len() > 12).then_some(0));
                let (object, offset) = found.map_or((object, offset), |found| (plain[found].0, plain[found].1.offset));
                let oldest =
                    plain.iter().position(|(of, mapped_layout, ..)| (*of, mapped_layout.offset) == (object, offset));
                assert_eq!(mappings.remove_oldest(object, offset), oldest.is_some());
                oldest.map(|oldest| plain.remove(oldest));
                continue;
            }
            let width = 1 + next(&mut state, 40);
            let row_pitch = width + next(&mut state, 20);
            let rows = 1 + next(&mut state, 4);
            let layout = Layout { offset: next(&mut state, 500), row_pitch, slice_pitch: row_pitch * rows };
            let region = [width, rows, 1 + next(&mut state, 2)];
            let writes = next(&mut state, 2) == 0;
            let clash = |(_, mapped_layout, size, written): &(usize, Layout, Region, bool)| {
                *written && boxes_overlap((*mapped_layout, *size), (layout, region))
            };
            let expected = !writes || !plain.iter().any(clash);
            assert_eq!(mappings.add_box(object, layout, region, writes), expected);
            if expected {
                plain.push((object, layout, region, writes));
            }
        }
    }
}
