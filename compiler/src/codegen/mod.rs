//! From IR to machine code of the host.

pub mod abi;
