//! What may be asked of the vectorizer.
//!
//! Source: Karrenberg & Hack 2012, Table 1: each configuration adds to the one before it, and all give the
//! same results.

use crate::layout::Layout;
use std::str::FromStr;

/// The widths of a gang.
pub const WIDTHS: [u32; 6] = [2, 4, 8, 16, 32, 64];

/// How much the vectorizer makes of what lanes have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
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
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Versions {
    /// Nowhere.
    Never,
    /// Where that is expected to pay.
    #[default]
    WherePays,
    /// Wherever that is possible.
    Always,
}

/// How work-items are to run in gangs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Gangs {
    /// What is made of what lanes have in common.
    pub configuration: Configuration,
    /// Work-items of a gang, one of [`WIDTHS`]; none: as fits the kernel.
    pub width: Option<u32>,
    /// Which work-items are the lanes of a gang, wherever that is possible; none: as fits the kernel, or along x where
    /// the width is given.
    pub layout: Option<Layout>,
    /// In [`Configuration::UniCf`]: versions of divergent loops for as long as no lane has left.
    pub unmasked_loops: Versions,
    /// In [`Configuration::UniCf`]: versions of what divergent branches lead to for gangs all of whose lanes go there.
    pub all_true: Versions,
    /// In [`Configuration::UniCf`]: copies of divergent loops that few lanes enter, for one lane after the other.
    pub in_turn: Versions,
    /// In [`Configuration::UniCf`]: versions of regions for conditions of the launch that choose between two lines.
    pub uniform_choices: Versions,
    /// In [`Configuration::UniCf`]: branches of their own for uniform operands of divergent conditions.
    pub split_conditions: Versions,
    /// In [`Configuration::UniCf`]: versions of regions for launches in which no piece of an index ends within a gang.
    pub whole_pieces: Versions,
    /// In [`Configuration::UniCf`]: several rounds of loops at once in which lanes walk along memory in places of their own.
    pub rounds_at_once: Versions,
    /// In [`Configuration::Boscc`] and [`Configuration::UniCf`]: branches past code that no lane runs.
    pub gates: Versions,
    /// In every configuration: code of their own, without masks, for gangs with a work-item in every lane where others run
    /// the region too.
    pub full_gangs: Versions,
}

impl Gangs {
    /// Gangs of a given width in the best configuration.
    pub fn of_width(width: u32) -> Gangs {
        Gangs { width: Some(width), ..Gangs::default() }
    }

    /// The same with versions of every kind alike.
    pub const fn with_versions(self, versions: Versions) -> Gangs {
        Gangs {
            unmasked_loops: versions,
            all_true: versions,
            in_turn: versions,
            uniform_choices: versions,
            split_conditions: versions,
            whole_pieces: versions,
            rounds_at_once: versions,
            ..self
        }
    }
}
