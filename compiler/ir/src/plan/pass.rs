//! What a pass is: a row of the table of [`passes`](super::passes).

use super::kernel_state::{KernelState, ProgramFacts};
use super::region_state::{GangContext, RegionState};
use crate::ir::{Function, Kernel, Module};
use crate::report::Notes;
use crate::verify::Stage;
use lockstep_protocol::configuration::Configuration;
use lockstep_protocol::pass_switches::PassSwitch;

/// When a pass runs, and of what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Of each kernel when a program is built.
    Program,
    /// Of a kernel that is launched.
    Kernel,
    /// Of a launched kernel whose work-items run in gangs.
    Gangs,
    /// Of each of its regions that gangs run.
    Regions,
}

impl Phase {
    /// What the page of passes calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Program => "program",
            Phase::Kernel => "kernel",
            Phase::Gangs => "gangs",
            Phase::Regions => "regions",
        }
    }
}

/// What a pass does.
#[derive(Clone, Copy)]
pub enum Run {
    /// Changes a kernel of a program.
    Program(fn(&Module, &mut Kernel, ProgramFacts)),
    /// Changes a launched kernel, or finds something out about it.
    Kernel(fn(&mut KernelState<'_>)),
    /// Changes the regions of a launched kernel one by one, knowing nothing of it, and notes what it did.
    Functions(fn(&mut Function, &Notes)),
    /// Changes one region, or finds something out about it.
    Region(fn(&mut Function, &mut RegionState, &GangContext<'_>)),
}

/// A form of a region and how often it is expected to run, beside the others of the same list.
pub type WeightedForm = (Function, u64);

/// What tells the versions that a pass would make of a region.
pub type Suppose = fn(&Function, &RegionState, &GangContext<'_>) -> Option<Vec<WeightedForm>>;

/// What the estimate of a gang's cost makes of a pass.
#[derive(Clone, Copy)]
pub enum Estimate {
    /// It prices what the pass has left, which comes before it.
    Before,
    /// It runs the pass.
    Runs,
    /// It prices the versions that the pass would make, each by itself; nothing: there is one.
    Versions(Suppose),
    /// It leaves the pass out, for this reason.
    LeavesOut(&'static str),
}

/// A pass: a row of the table.
#[derive(Clone, Copy)]
pub struct Pass {
    /// The name that dumps, times, errors, filetests and the page of passes use.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub what: &'static str,
    /// The file with its contract, below `compiler/ir/src`.
    pub file: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// When it runs, and of what.
    pub phase: Phase,
    /// The stage whose rules hold after it.
    pub after: Stage,
    /// Whether its stage's rules are checked after it. Between `divergent_loops` and `linearize` a value may be used where
    /// only lanes in an endless loop would come that did not compute it.
    pub is_checked: bool,
    /// Whether code has to have it: the simplest form of a kernel is that of these passes alone.
    pub is_needed: bool,
    /// The least configuration of gangs that has it.
    pub least: Configuration,
    /// The switches that it does not run without.
    pub switches: &'static [PassSwitch],
    /// What the estimate makes of it.
    pub estimate: Estimate,
    /// What it does.
    pub run: Run,
}

/// What most rows have.
pub(super) const PLAIN: Pass = Pass {
    name: "",
    what: "",
    file: "",
    source: "",
    phase: Phase::Kernel,
    after: Stage::Imported,
    is_checked: true,
    is_needed: false,
    least: Configuration::Naive,
    switches: &[],
    estimate: Estimate::Before,
    run: Run::Kernel(|_| ()),
};
