//! How the lanes' accesses lie to each other, by what each lane's address is from the one before.
//!
//! Source: Karrenberg & Hack 2012, section 3.3 (uniform and consecutive accesses); Moll 2021, chapters 10
//! and 11 (strides).

use super::rejection::Reason;
use lockstep_protocol::types::Type;

/// The elements that one wide access may span.
const WIDEST_SPAN: u32 = 256;

/// Bytes of the widest element of which vectors are moved. Wider ones are not those of any register.
const WIDEST_ELEMENT: u32 = 8;

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

/// The class of an access of `element_count` elements of `bytes` bytes by each of `lane_count` lanes, whose addresses
/// differ by `stride` from lane to lane.
pub fn classify_access(
    stride: Option<i64>,
    bytes: u32,
    element_count: u32,
    lane_count: u32,
    direction: Direction,
) -> AccessClass {
    if stride == Some(0) {
        return AccessClass::Uniform;
    }
    match find_row(stride, bytes, element_count, lane_count, direction) {
        Ok(row) => AccessClass::Rows { row, reversed: stride.is_some_and(i64::is_negative) },
        Err(_) => AccessClass::Scattered,
    }
}

/// The elements from one lane to the next where the lanes' elements are one wide access.
///
/// # Errors
///
/// Why they are none.
pub fn find_row(
    stride: Option<i64>,
    bytes: u32,
    element_count: u32,
    lane_count: u32,
    direction: Direction,
) -> Result<u32, Reason> {
    let stride = stride.ok_or(Reason::LanesAnywhere)?;
    let distance = stride.unsigned_abs();
    if bytes > WIDEST_ELEMENT {
        return Err(Reason::WideElements(bytes));
    }
    if !distance.is_multiple_of(bytes.into()) {
        return Err(Reason::BetweenElements(stride));
    }
    // Where most of what lies between is of no use, an access per lane touches fewer cache lines.
    let sparsest = match direction {
        Direction::Load => 4 * element_count,
        Direction::Store => 2 * element_count,
    };
    match u32::try_from(distance / u64::from(bytes)) {
        Ok(row) if row < element_count => Err(Reason::LanesOverlap(stride)),
        Ok(row) if row <= sparsest && row * lane_count <= WIDEST_SPAN => Ok(row),
        _ => Err(Reason::FarApart(stride)),
    }
}

/// Whether lanes with this stride access one element each, side by side.
pub fn is_plain(stride: i64, element_type: Type, element_count: usize) -> bool {
    element_count == 1 && element_type.bytes() <= WIDEST_ELEMENT && stride == i64::from(element_type.bytes())
}

/// For each element of the rows in the order of memory, the lane and which of its elements it is; `None`
/// between them.
pub fn elements_in_order(
    elements_apart: u32,
    reversed: bool,
    element_count: u32,
    lane_count: u32,
) -> Vec<Option<(u32, u32)>> {
    let element_at = |index: u32| {
        let (position, element) = (index / elements_apart, index % elements_apart);
        let lane_number = if reversed { lane_count - 1 - position } else { position };
        (element < element_count).then_some((lane_number, element))
    };
    (0..elements_apart * lane_count).map(element_at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(stride: i64, bytes: u32, element_count: u32) -> AccessClass {
        classify_access(Some(stride), bytes, element_count, 8, Direction::Load)
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
        assert_eq!(classify_access(None, 4, 1, 8, Direction::Load), AccessClass::Scattered);
        assert_eq!(classify_access(Some(16), 4, 1, 8, Direction::Store), AccessClass::Scattered);
    }

    #[test]
    fn each_reason_why_lanes_are_no_row() {
        let why =
            |stride, bytes, element_count| find_row(stride, bytes, element_count, 8, Direction::Load).unwrap_err();
        assert_eq!(why(None, 4, 1), Reason::LanesAnywhere);
        assert_eq!(why(Some(6), 4, 1), Reason::BetweenElements(6));
        assert_eq!(why(Some(8), 4, 4), Reason::LanesOverlap(8));
        assert_eq!(why(Some(1024), 4, 1), Reason::FarApart(1024));
        assert_eq!(why(Some(64), 1, 16), Reason::FarApart(64));
        assert_eq!(why(Some(16), 16, 1), Reason::WideElements(16));
    }

    #[test]
    fn elements_in_the_order_of_memory() {
        let (a, b, c) = (Some((0, 0)), Some((0, 1)), Some((1, 0)));
        assert_eq!(elements_in_order(3, false, 2, 2), [a, b, None, c, Some((1, 1)), None]);
        assert_eq!(elements_in_order(1, true, 1, 3), [Some((2, 0)), Some((1, 0)), Some((0, 0))]);
    }
}
