//! How a gang's memory access is done.
//!
//! Source: Karrenberg & Hack 2012, section 3.3 (uniform and consecutive accesses); Moll 2021, chapters 10
//! and 11 (strides).

use lockstep_protocol::types::Type;

/// The elements that one wide access may span.
const WIDEST_SPAN: u32 = 256;

/// How the lanes' accesses lie to each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessClass {
    /// All at one address.
    Uniform,
    /// Each lane's elements are the first of a row of as many elements, and the rows lie side by side: one
    /// wide access with a shuffle. A row of one element is a plain vector access.
    Rows {
        /// Elements from one lane to the next.
        row: u32,
        /// Whether the last lane's row comes first.
        reversed: bool,
    },
    /// Anywhere: gather or scatter.
    Scattered,
}

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// From memory: bytes between two lanes' elements may be read along, as both are of one object.
    Load,
    /// To memory: bytes between the elements must not be written.
    Store,
}

/// The class of an access of `count` elements of `bytes` bytes by each of `width` lanes, whose addresses
/// differ by `stride` from lane to lane.
pub fn classify(stride: Option<i64>, bytes: u32, count: u32, width: u32, direction: Direction) -> AccessClass {
    let Some(stride) = stride else {
        return AccessClass::Scattered;
    };
    if stride == 0 {
        return AccessClass::Uniform;
    }
    let distance = stride.unsigned_abs();
    // Wider elements are not those of any register.
    if bytes > 8 || !distance.is_multiple_of(bytes.into()) {
        return AccessClass::Scattered;
    }
    let row = distance / u64::from(bytes);
    // Where most of what lies between is of no use, an access per lane touches fewer cache lines.
    let sparsest = match direction {
        Direction::Load => 4 * count,
        Direction::Store => 2 * count,
    };
    match u32::try_from(row) {
        Ok(row) if row >= count && row <= sparsest && row * width <= WIDEST_SPAN => {
            AccessClass::Rows { row, reversed: stride < 0 }
        }
        _ => AccessClass::Scattered,
    }
}

/// Whether lanes with this stride access one element each, side by side.
pub fn is_plain(stride: i64, ty: Type, count: usize) -> bool {
    count == 1 && ty.bytes() <= 8 && stride == i64::from(ty.bytes())
}

/// For each element of the rows in the order of memory, the lane and which of its elements it is; `None`
/// between them.
pub fn elements(row: u32, reversed: bool, count: u32, width: u32) -> Vec<Option<(u32, u32)>> {
    let place = |index: u32| {
        let (position, element) = (index / row, index % row);
        let lane = if reversed { width - 1 - position } else { position };
        (element < count).then_some((lane, element))
    };
    (0..row * width).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(stride: i64, bytes: u32, count: u32) -> AccessClass {
        classify(Some(stride), bytes, count, 8, Direction::Load)
    }

    #[test]
    fn strides_decide() {
        let rows = |row, reversed| AccessClass::Rows { row, reversed };
        assert_eq!(load(0, 4, 1), AccessClass::Uniform);
        assert_eq!(load(4, 4, 1), rows(1, false));
        assert_eq!(load(-4, 4, 1), rows(1, true));
        assert_eq!(load(16, 4, 4), rows(4, false));
        assert_eq!(load(-16, 4, 3), rows(4, true));
        assert_eq!(load(12, 4, 3), rows(3, false));
        assert_eq!(load(8, 4, 1), rows(2, false));
        assert_eq!(load(1, 1, 1), rows(1, false));
    }

    #[test]
    fn what_does_not_fit_is_scattered() {
        assert_eq!(load(6, 4, 1), AccessClass::Scattered, "between elements");
        assert_eq!(load(8, 4, 4), AccessClass::Scattered, "lanes overlap");
        assert_eq!(load(1024, 4, 1), AccessClass::Scattered, "far apart");
        assert_eq!(load(16, 16, 1), AccessClass::Scattered, "too wide");
        assert_eq!(load(i64::MIN, 1, 1), AccessClass::Scattered);
        assert_eq!(classify(None, 4, 1, 8, Direction::Load), AccessClass::Scattered);
        assert_eq!(classify(Some(16), 4, 1, 8, Direction::Store), AccessClass::Scattered);
    }

    #[test]
    fn elements_in_the_order_of_memory() {
        let (a, b, c) = (Some((0, 0)), Some((0, 1)), Some((1, 0)));
        assert_eq!(elements(3, false, 2, 2), [a, b, None, c, Some((1, 1)), None]);
        assert_eq!(elements(1, true, 1, 3), [Some((2, 0)), Some((1, 0)), Some((0, 0))]);
    }
}
