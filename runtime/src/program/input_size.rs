//! How long what programs are made of may be.

/// The longest source or module in bytes; no program of people or generators has come near it.
pub const MOST_INPUT: usize = 1 << 28;
