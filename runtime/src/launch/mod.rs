//! From an NDRange to running groups.

pub mod printf;
