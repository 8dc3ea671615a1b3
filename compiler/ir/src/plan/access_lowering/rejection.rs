//! The forms of an access that lost, and why.

use std::fmt;

/// A form that an access might have had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Candidate {
    /// One access for all lanes.
    Uniform,
    /// One wide access of what lies side by side.
    Wide,
    /// One wide access for each column of a tile.
    Columns,
    /// One load of sixteen bytes for each lane.
    Chunks,
    /// Each lane's by itself, near a common address.
    CommonBase,
    /// One instruction that goes anywhere.
    Anywhere,
    /// One instruction for those lanes that are on.
    MaskedInstruction,
    /// A store past the caches.
    PastCaches,
}

/// Why a form lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// Nothing is known of how far lanes are from each other.
    LanesAnywhere,
    /// Lanes are so many bytes apart, which is not a number of elements.
    BetweenElements(i64),
    /// Lanes are so many bytes apart, and each accesses more.
    LanesOverlap(i64),
    /// Lanes are so many bytes apart, most of which nobody wants.
    FarApart(i64),
    /// Elements of so many bytes are in no vector.
    WideElements(u32),
    /// Lanes have addresses of their own.
    AddressesDiffer,
    /// It is a volatile access, and each lane's has to be one by itself.
    Volatile,
    /// It is an atomic access, and each lane's has to be one by itself.
    Atomic,
    /// Not all lanes come here.
    SomeLanesOff,
    /// Rows would be no shorter than columns are.
    NoColumn,
    /// Each lane accesses fewer bytes than sixteen that lie together.
    FewBytes,
    /// A gang has fewer lanes than it takes.
    FewLanes,
    /// The machine has no such instruction.
    NoInstruction,
    /// The machine has one instruction for all lanes.
    HasInstruction,
    /// Lanes' addresses are not near a common one.
    NoCommonBase,
    /// A store does not fill lines of the caches.
    PartsOfLines,
    /// Gangs that run one after the other do not write one behind the other.
    GangsApart,
}

/// A form that lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rejection {
    /// The form that was considered.
    pub form: Candidate,
    /// Why it was not taken.
    pub reason: Reason,
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::LanesAnywhere => formatter.write_str("lanes anywhere"),
            Reason::BetweenElements(stride) | Reason::LanesOverlap(stride) | Reason::FarApart(stride) => {
                write!(formatter, "lanes {stride} bytes apart")
            }
            Reason::WideElements(bytes) => write!(formatter, "elements of {bytes} bytes"),
            Reason::AddressesDiffer => formatter.write_str("addresses differ"),
            Reason::Volatile => formatter.write_str("volatile"),
            Reason::Atomic => formatter.write_str("atomic"),
            Reason::SomeLanesOff => formatter.write_str("not all lanes come"),
            Reason::NoColumn => formatter.write_str("columns are not side by side"),
            Reason::FewBytes => formatter.write_str("fewer than sixteen bytes together"),
            Reason::FewLanes => formatter.write_str("too few lanes"),
            Reason::NoInstruction => formatter.write_str("the machine has none"),
            Reason::HasInstruction => formatter.write_str("the machine has one instruction for all"),
            Reason::NoCommonBase => formatter.write_str("no common address"),
            Reason::PartsOfLines => formatter.write_str("not whole lines of the caches"),
            Reason::GangsApart => formatter.write_str("gangs do not follow each other along memory"),
        }
    }
}
