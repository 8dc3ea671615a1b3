//! The plan: what code generation needs to know to run a region for a gang of work-items at a time.
//!
//! A gang is W work-items in the lanes of SIMD registers: consecutive along one dimension, several rows of a group, or
//! consecutive by linear ids ([`lockstep_protocol::layout`]). This part is the plan, in terms of our IR; `codegen/vector` writes it
//! as LLVM IR.
//!
//! [`passes`] is the list of what a kernel goes through from import to its plan, [`pass_runner`] what walks it, and
//! [`kernel_state`] and [`region_state`] are what is known on the way.
//!
//! Requires: a kernel as imported.
//! Ensures: the regions are linearized (`Stage::Linearized`) but those in which one work-item runs after the other, and
//! each has a [`RegionPlan`]; or the kernel means what it meant and there is the reason why its work-items run one after the
//! other.
//! Source: Moll 2021, chapters 5 and 11; Karrenberg & Hack 2012, section 3.3.

pub mod access_lowering;
pub mod coherence_versions;
pub mod held_forms;
mod kernel_passes;
pub mod kernel_state;
mod launch_versions;
mod notes;
pub mod pass_runner;
pub mod passes;
mod region_passes;
mod region_plan;
pub mod region_state;
pub mod storage;
pub mod value_form;
pub mod width_selection;

use cranelift_entity::PrimaryMap;
use lockstep_protocol::configuration::{Configuration, Versions};
use lockstep_protocol::layout::Layout;
pub use region_plan::RegionPlan;
use std::fmt;
pub use width_selection::Choice;

use crate::ir::Region;
use storage::Storage;

/// The greatest alignment of a private slot of which each lane has its own.
pub const SLOT_ALIGN: u32 = 128;

/// Stack bytes that the code of gangs may take: spilled vectors add up, and the thread that calls may be one of the
/// application's.
const STACK_BYTES: u64 = 128 << 10;

/// The same where there is no other way to run: the gangs are sub-groups.
pub const MOST_STACK_BYTES: u64 = 512 << 10;

/// Why a kernel is not widened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// There are no gangs of so many work-items.
    Width(u32),
    /// One work-item after the other is expected to be faster.
    Cost(Choice),
    /// A private variable wants a greater alignment than one lane's copy can have.
    SlotAlignment(u32),
    /// The values that a gang keeps alive would take too much of the stack.
    StackFrame,
    /// Work-items may wait for each other.
    Waits,
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Width(width) => write!(formatter, "gangs of {width} work-items are not supported"),
            Reason::Cost(choice) => choice.fmt(formatter),
            Reason::SlotAlignment(align) => write!(formatter, "a private variable is aligned to {align} bytes"),
            Reason::Waits => formatter.write_str("work-items may wait for each other in a loop"),
            Reason::StackFrame => formatter.write_str("the values of a gang take too much of the stack"),
        }
    }
}

/// How a kernel runs in gangs.
#[derive(Clone, Debug)]
pub struct Widening {
    /// Work-items of a gang.
    pub width: u32,
    /// Which work-items are the lanes of a gang.
    pub layout: Layout,
    /// Stack bytes that their code may take.
    pub stack: u64,
    /// Lanes of a row, if they are tiles.
    pub run: Option<u32>,
    /// Why so many, and these, if nobody asked for them.
    pub choice: Option<Choice>,
    /// What was asked for.
    pub configuration: Configuration,
    /// Whether gangs with a work-item in every lane get code of their own.
    pub full_gangs: Versions,
    /// Where its private variables and kept values live.
    pub storage: Storage,
    /// Per region how it runs.
    pub regions: PrimaryMap<Region, RegionPlan>,
}
