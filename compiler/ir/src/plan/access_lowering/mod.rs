//! How the lanes of a gang access memory: a decision that is made once for each access of a region when its plan is made, as a
//! value that costs, report and code generation ask.
//!
//! [`MemoryAccess`] is a load or store as the kernel has it, [`AccessLowering`] how lanes make it: its [`AccessForm`], the forms
//! that lost with their reasons, and what it costs ([`price`]) and is called ([`describe`]).
//! [`region`] makes the decision for each access of a region; estimates make it for what is not planned yet.

mod access;
pub mod bounds;
pub mod common_base;
mod decide;
pub mod describe;
mod form;
pub mod price;
pub mod region;
mod rejection;
mod stride_class;
#[cfg(test)]
mod tests;

pub use access::{MemoryAccess, Together};
pub use decide::{
    AccessLowering, CACHE_LINE, CHUNK_BYTES, GangAccess, LaneAddresses, LaneMask, LineOfLanes, NARROWEST_SHUFFLED,
    choose_row_guard, mask_elements,
};
pub use form::{
    AccessForm, Along, LanesForm, Ordered, PieceForm, RowGuard, ScatteredPiece, StoredLane, WideAccess, WideElements,
};
pub use rejection::{Candidate, Reason, Rejection};
pub use stride_class::{AccessClass, Direction, classify_access, elements_in_order, is_plain};
