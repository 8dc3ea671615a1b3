//! From an NDRange to running groups.

pub mod block;
pub mod globals;
pub mod printf;
