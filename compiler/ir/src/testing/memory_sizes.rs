//! How much memory of each kind a random kernel has.

/// Words in the buffer that all items read.
pub(super) const INPUT_WORDS: u64 = 64;
/// Words of the output buffer that belong to one item.
pub(super) const OUTPUT_WORDS: u64 = 32;
/// Those of them that statements write; the others take the variables at the end.
pub(super) const FREE_WORDS: u64 = 16;
/// Words in the buffer for atomics of all items.
pub(super) const COUNTER_WORDS: u64 = 4;
/// Words in the private array.
pub(super) const SLOT_WORDS: u64 = 16;
/// Words of the buffer of neighbours that belong to one item: one of these.
pub(super) const ROW_WORDS: [u64; 4] = [2, 3, 4, 8];
/// Words in the array that is always the same for all items of a group.
pub(super) const UNIFORM_WORDS: u64 = 8;
/// Arrays for a few statements.
pub(super) const SCRATCH_SLOTS: usize = 2;
/// Words in each of them.
pub(super) const SCRATCH_WORDS: u64 = 2;
