//! How a kernel runs in gangs, or why it does not.

use super::RegionPlan;
use super::storage::Storage;
use super::width_choice::WidthChoice;
use crate::ir::Region;
use cranelift_entity::PrimaryMap;
use lockstep_protocol::configuration::{Configuration, Versions};
use lockstep_protocol::layout::Layout;
use std::fmt;

/// Stack bytes that the code of gangs may take: spilled vectors add up, and the thread that calls may be one of the
/// application's.
pub(super) const STACK_BYTES: u64 = 128 << 10;

/// The same where there is no other way to run: the gangs are sub-groups.
pub(super) const MOST_STACK_BYTES: u64 = 512 << 10;

/// Why a kernel is not widened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// There are no gangs of so many work-items.
    Width(u32),
    /// One work-item after the other is expected to be faster.
    Cost(WidthChoice),
    /// A private variable is aligned so widely that copies for all lanes would take much memory.
    SlotAlignment(u32),
    /// The values that a gang keeps alive would take too much of the stack.
    StackFrame,
    /// So many loops lie in each other.
    LoopDepth(u32),
    /// Work-items may wait for each other.
    Waits,
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Width(gang_width) => write!(formatter, "gangs of {gang_width} work-items are not supported"),
            Reason::Cost(choice) => choice.fmt(formatter),
            Reason::SlotAlignment(alignment) => write!(formatter, "a private variable is aligned to {alignment} bytes"),
            Reason::Waits => formatter.write_str("work-items may wait for each other in a loop"),
            Reason::LoopDepth(depth) => write!(formatter, "{depth} loops lie in each other"),
            Reason::StackFrame => formatter.write_str("the values of a gang take too much of the stack"),
        }
    }
}

impl Widening {
    /// Whether loops stay in loops in some region although lanes were idle there.
    pub fn leaves_idle_lanes(&self) -> bool {
        self.regions.values().any(|region_plan| region_plan.leaves_idle_lanes)
    }

    /// The regions that work-items run one after the other.
    pub fn find_scalar_regions(&self) -> Vec<Region> {
        let is_scalar = |(region, region_plan): (Region, &RegionPlan)| region_plan.alone.then_some(region);
        self.regions.iter().filter_map(is_scalar).collect()
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
    pub choice: Option<WidthChoice>,
    /// What was asked for.
    pub configuration: Configuration,
    /// Whether gangs with a work-item in every lane get code of their own.
    pub full_gangs: Versions,
    /// Where its private variables and kept values live.
    pub storage: Storage,
    /// Per region how it runs.
    pub regions: PrimaryMap<Region, RegionPlan>,
}
