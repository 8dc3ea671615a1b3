//! Boxes of bytes in linear memory: where the rows of a region lie, and whether two regions share a byte.

use std::ops::Range;

/// A box of bytes in linear memory: rows of a slice, slices of a volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Offset of the first byte.
    pub offset: usize,
    /// Bytes from row to row, at least a row's length.
    pub row_pitch: usize,
    /// Bytes from slice to slice, at least what the rows take.
    pub slice_pitch: usize,
}

/// Width in bytes, rows, slices. Only the width may be 0.
pub type Region = [usize; 3];

impl Layout {
    /// The same layout so many bytes further on.
    pub fn moved_by(self, bytes: usize) -> Layout {
        Layout { offset: self.offset + bytes, ..self }
    }

    /// Where a region of a single row lies.
    pub fn of_bytes(offset: usize) -> Self {
        Self { offset, row_pitch: 0, slice_pitch: 0 }
    }

    /// The bytes from the first to the last of a region, if they can be numbered.
    pub fn byte_span(&self, region: Region) -> Option<Range<usize>> {
        let slices = (region[2] - 1).checked_mul(self.slice_pitch)?;
        let rows = (region[1] - 1).checked_mul(self.row_pitch)?;
        let end = self.offset.checked_add(slices)?.checked_add(rows)?.checked_add(region[0])?;
        Some(self.offset..end)
    }

    /// Each row's bytes, in ascending order.
    pub(crate) fn row_ranges(self, region: Region) -> impl Iterator<Item = Range<usize>> {
        let rows = (0..region[2]).flat_map(move |slice| (0..region[1]).map(move |row| (slice, row)));
        rows.map(move |(slice, row)| {
            let start = self.offset + slice * self.slice_pitch + row * self.row_pitch;
            start..start + region[0]
        })
    }
}

/// Whether two ranges have an element in common.
pub fn ranges_overlap(left: &Range<usize>, right: &Range<usize>) -> bool {
    left.start < right.end && right.start < left.end
}

/// Whether two boxes share a byte. Both must have a span.
pub fn boxes_overlap(left: (Layout, Region), right: (Layout, Region)) -> bool {
    if let (Some(left_span), Some(right_span)) = (left.0.byte_span(left.1), right.0.byte_span(right.1))
        && !ranges_overlap(&left_span, &right_span)
    {
        return false;
    }
    // Rows ascend on both sides: walk them together.
    let mut left_rows = left.0.row_ranges(left.1).peekable();
    let mut right_rows = right.0.row_ranges(right.1).peekable();
    while let (Some(left_row), Some(right_row)) = (left_rows.peek(), right_rows.peek()) {
        if ranges_overlap(left_row, right_row) {
            return true;
        }
        if left_row.end <= right_row.end {
            left_rows.next();
        } else {
            right_rows.next();
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(offset: usize, row_pitch: usize, slice_pitch: usize) -> Layout {
        Layout { offset, row_pitch, slice_pitch }
    }

    #[test]
    fn overlap_agrees_with_sets_of_bytes() {
        let region = [3, 2, 2];
        for first in 0..40 {
            for second in 0..40 {
                for (row, slice) in [(3, 6), (5, 10), (5, 15), (8, 16)] {
                    let (a, b) = (layout(first, 5, 15), layout(second, row, slice));
                    let bytes: Vec<usize> = a.row_ranges(region).flatten().collect();
                    let shared = b.row_ranges(region).flatten().any(|byte| bytes.contains(&byte));
                    assert_eq!(boxes_overlap((a, region), (b, region)), shared, "{a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn span_ends_behind_the_last_byte() {
        assert_eq!(layout(7, 10, 100).byte_span([4, 3, 2]), Some(7..7 + 100 + 20 + 4));
        assert_eq!(layout(1, usize::MAX, 1).byte_span([1, 3, 1]), None);
    }
}
