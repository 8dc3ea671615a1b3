//! What filetests compare with what is written: facts that analyses find, and what passes write.

pub mod analyses;
pub mod transforms;
