//! The forms in which the lanes of a gang access memory.

use super::common_base::CommonBase;

/// How the lanes of a gang make one access.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AccessForm {
    /// One scalar access for all lanes.
    Uniform(StoredLane),
    /// Each active lane's by itself, in their order.
    PerLane(Ordered),
    /// One scalar load for each row of a tile.
    UniformRows {
        /// The first row's does for all.
        once: bool,
    },
    /// All lanes of the gang together.
    Gang(LanesForm),
    /// The lanes of each row of a tile together.
    Rows {
        /// What the first row loads is what all do.
        once: bool,
        /// How a row's lanes do.
        row: LanesForm,
    },
    /// The lanes of each column of a tile together, which is transposed in registers.
    Columns(WideAccess),
    /// Lanes lie on a line unless an index wraps, which is asked first.
    UnlessWraps {
        /// Which lanes lie on one.
        along: Along,
        /// Indices that are asked about, of each line.
        indices: usize,
        /// Whether all lines have the same address.
        alike: bool,
        /// The access of the lanes of each line if none wraps.
        on_line: WideAccess,
        /// How all lanes access memory if one does.
        wrapped: LanesForm,
    },
}

/// Which lane's value a uniform store stores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StoredLane {
    /// Any: all have the same, or it is a load.
    Any,
    /// That of the last active lane: of several work-items that write to one place, any one may be the last.
    LastActive,
}

/// Why lanes access memory one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ordered {
    /// The access is volatile.
    Volatile,
    /// The access is atomic.
    Atomic,
}

/// Which lanes lie on a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Along {
    /// All of the gang.
    Gang,
    /// Those of a tile's row, each of which has its own.
    Rows,
    /// Those of a tile's column, each of which has its own.
    Columns,
}

/// How lanes access memory together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LanesForm {
    /// One wide access with a shuffle.
    Wide(WideAccess),
    /// In pieces of some elements, each from or to anywhere.
    Scattered {
        /// The pieces, in the order of a lane's elements.
        pieces: Vec<ScatteredPiece>,
        /// Whether any lane is on is asked before.
        asks_any: bool,
    },
}

/// One access of lanes whose elements lie side by side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WideAccess {
    /// How many lanes take part.
    pub lanes: u32,
    /// Bytes from one lane to the next.
    pub stride: i64,
    /// Elements from one lane to the next.
    pub row: u32,
    /// Elements of a lane.
    pub count: u32,
    /// Bytes that the lowest address is a multiple of.
    pub align: u32,
    /// Which elements it accesses.
    pub elements: WideElements,
    /// It stays volatile.
    pub volatile: bool,
    /// It is to go past the caches where it begins as a line of them does.
    pub past_caches: bool,
    /// Lanes' elements are brought into order by steps that each take two registers. Loads begin with sixteen bytes of
    /// each lane; stores interleave one half of the rows with the other. If not, LLVM finds the shuffles.
    pub transposed: bool,
}

impl WideAccess {
    /// Whether the last lane's elements come first.
    pub fn is_reversed(&self) -> bool {
        self.stride < 0
    }

    /// Bytes from the first lane's address to the lowest.
    pub fn bytes_to_lowest(&self) -> i64 {
        if self.is_reversed() { self.stride.wrapping_mul(i64::from(self.lanes) - 1) } else { 0 }
    }

    /// Whether there is nothing between the lanes' elements.
    pub fn is_dense(&self) -> bool {
        self.row == self.count
    }
}

/// Which elements a wide access accesses, and how those are left out that it does not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WideElements {
    /// All from the first to the last.
    All,
    /// All lanes', but not what lies between them: a mask that is a constant.
    AllLanes,
    /// Those of lanes that are on, by a masked instruction.
    Masked(RowGuard),
    /// The same without such an instruction: lanes that are off go to a place that belongs to nobody.
    Redirected(RowGuard),
}

/// What is asked before a wide access of some lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowGuard {
    /// Nothing is asked.
    None,
    /// Whether any lane is on.
    AnyLane,
    /// Whether ids and arguments let any lane be on: else the row may lie where there is no memory.
    InBounds,
}

/// Some neighbouring elements of each lane, of lanes that may be anywhere.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScatteredPiece {
    /// The index of the first.
    pub first: u32,
    /// How many elements it has.
    pub count: u32,
    /// How they are accessed.
    pub form: PieceForm,
}

/// How a piece is accessed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PieceForm {
    /// One load of sixteen bytes for each lane; registers of them are transposed.
    Chunk {
        /// Lanes that are off load from a place that belongs to nobody.
        redirected: bool,
    },
    /// Each lane's by itself, so many bytes of 32 bits from a common address.
    CommonBase(CommonBase),
    /// One gather or scatter, which LLVM takes apart where the machine has none.
    Anywhere {
        /// All lanes take part, and those that are off go to a place that belongs to nobody.
        redirected: bool,
    },
}
