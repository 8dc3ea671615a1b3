//! What may be asked of the vectorizer.
//!
//! Source: Karrenberg & Hack 2012, Table 1: each configuration adds to the one before it, and all give the
//! same results.

use crate::layout::Layout;
use crate::pass_switches::{PassSwitch, PassVersions};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// The widths of a gang.
pub const WIDTHS: [u32; 6] = [2, 4, 8, 16, 32, 64];

/// How much the vectorizer makes of what lanes have in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub enum Configuration {
    /// Nothing: every value is a vector, every branch is folded.
    Naive,
    /// Uniform values are scalars; every branch is folded.
    UniVal,
    /// Uniform values, and folded code is skipped where no lane runs it.
    Boscc,
    /// Uniform values, and uniform branches stay branches.
    #[default]
    UniCf,
}

impl Configuration {
    /// All, from the least to the most.
    pub const ALL: [Configuration; 4] =
        [Configuration::Naive, Configuration::UniVal, Configuration::Boscc, Configuration::UniCf];

    /// The name that switches and tables use.
    pub fn name(self) -> &'static str {
        match self {
            Configuration::Naive => "naive",
            Configuration::UniVal => "unival",
            Configuration::Boscc => "boscc",
            Configuration::UniCf => "unicf",
        }
    }
}

impl FromStr for Configuration {
    type Err = ();

    fn from_str(name: &str) -> Result<Configuration, ()> {
        Configuration::ALL.into_iter().find(|configuration| configuration.name() == name).ok_or(())
    }
}

/// Whether code gets another version, for gangs whose lanes agree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum Versions {
    /// The pass runs nowhere.
    Never,
    /// Where that is expected to pay.
    #[default]
    WherePays,
    /// Wherever that is possible.
    Always,
}

/// How work-items are to run in gangs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Gangs {
    /// What is made of what lanes have in common.
    pub configuration: Configuration,
    /// Work-items of a gang, one of [`WIDTHS`]; none: as fits the kernel.
    pub width: Option<u32>,
    /// Which work-items are the lanes of a gang, wherever that is possible; none: as fits the kernel, or along x where
    /// the width is given.
    pub layout: Option<Layout>,
    /// Where the passes that can be switched do their work.
    pub passes: PassVersions,
}

impl Gangs {
    /// Gangs of a given width in the best configuration.
    pub fn of_width(gang_width: u32) -> Gangs {
        Gangs { width: Some(gang_width), ..Gangs::default() }
    }

    /// What the switch of a pass is set to.
    pub const fn pass_versions(&self, switch: PassSwitch) -> Versions {
        self.passes.get(switch)
    }

    /// The same with one switch set.
    pub const fn with_pass(mut self, switch: PassSwitch, versions: Versions) -> Gangs {
        self.passes.set(switch, versions);
        self
    }

    /// The same with versions of every kind alike; gates, full gangs, the fusion of branches and the flattening of loops stay as they are.
    pub fn with_versions(self, versions: Versions) -> Gangs {
        use PassSwitch::{BranchFusion, FullGangs, Gates, LoopFlattening};
        let kinds = PassSwitch::ALL
            .iter()
            .filter(|switch| !matches!(switch, Gates | FullGangs | BranchFusion | LoopFlattening));
        kinds.fold(self, |gangs, &switch| gangs.with_pass(switch, versions))
    }
}
