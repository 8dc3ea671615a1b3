//! Passes that change a kernel's code.

pub mod barriers;
pub mod normalize;
