//! What is wrong with a kernel or a launch, and where.

use crate::eval::Undefined;
use crate::ir::{Block, Region, SourceLoc};

/// What is wrong, without the place.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Fault {
    /// An access outside of every object; the text describes the address.
    #[error("out of bounds: {0}")]
    OutOfBounds(String),
    /// An address less aligned than the access says.
    #[error("misaligned: {0}")]
    Misaligned(String),
    /// A write to memory that is only read.
    #[error("write to read-only memory: {0}")]
    ReadOnly(String),
    /// Another work-item's private memory.
    #[error("another work-item's memory: {0}")]
    NotShared(String),
    /// What the language leaves undefined, in words.
    #[error("undefined: {0}")]
    Undefined(String),
    /// Work-items of a group wait at different barriers, or some have finished while others wait.
    #[error("divergent barrier: {0}")]
    DivergentBarrier(String),
    /// The active lanes of a gang do not choose the same target.
    #[error("divergent branch: {0}")]
    DivergentBranch(String),
    /// The work-item makes the launch fail; the format of its reason.
    #[error("the launch fails: {0}")]
    LaunchFailure(String),
    /// More steps than allowed.
    #[error("more steps than allowed")]
    StepLimit,
    /// The host has no such function, or not for these operands.
    #[error("no host function {0}")]
    UnknownHostFunction(String),
    /// Launch arguments that do not fit the kernel.
    #[error("bad launch: {0}")]
    BadLaunch(String),
}

impl From<Undefined> for Fault {
    fn from(Undefined(message): Undefined) -> Fault {
        Fault::Undefined(message.to_owned())
    }
}

/// A fault with its place.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{fault}{}", self.place_text())]
pub struct InterpError {
    /// What is wrong.
    pub fault: Fault,
    /// The global id of the work-item, if one is at fault.
    pub global_id: Option<[u64; 3]>,
    /// The region and block.
    pub place: Option<(Region, Block)>,
    /// The instruction as text, empty outside of code.
    pub line: String,
    /// Where the user wrote it.
    pub location: SourceLoc,
}

impl InterpError {
    /// All that is known of the place.
    fn place_text(&self) -> String {
        let mut text = String::new();
        if let Some([x, y, z]) = self.global_id {
            text += &format!(" in work-item ({x}, {y}, {z})");
        }
        if let Some((region, block)) = self.place {
            text += &format!(" at {region}, {block}");
        }
        if self.location.line != 0 {
            text += &format!(" (source {}:{})", self.location.line, self.location.column);
        }
        if !self.line.is_empty() {
            text += &format!("\n  {}", self.line);
        }
        text
    }
}

impl From<Fault> for InterpError {
    fn from(fault: Fault) -> InterpError {
        InterpError { fault, global_id: None, place: None, line: String::new(), location: SourceLoc::default() }
    }
}
