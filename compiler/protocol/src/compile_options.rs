//! How a kernel is to be compiled.

use crate::configuration::{Gangs, Versions};
use crate::launch_facts::LaunchFacts;
use crate::loop_profile::LoopProfile;
use crate::scalar_replacement::ScalarReplacement;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// How much regions may copy.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Bounds {
    /// Instructions of all regions together that are never too many: LLVM takes about half a second for them.
    pub few_insts: usize,
    /// Most regions behind barriers that a block may be part of where all of them together have more instructions.
    pub most_copies: usize,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { few_insts: 8000, most_copies: 4 }
    }
}

/// Whether work-items run in the lanes of vectors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum Vectorize {
    /// One after the other.
    #[default]
    Scalar,
    /// In gangs, wherever that is possible.
    Gangs(Gangs),
}

/// How much LLVM does for a kernel. Both tiers have the same plan, from which the same results come to the bit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum Tier {
    /// Few passes, for code that is wanted at once.
    Baseline,
    /// All that pays.
    #[default]
    Optimized,
}

/// How a kernel is to be compiled.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CompileOptions {
    /// The tier of its code.
    pub tier: Tier,
    /// Spend no time on fast code (`-cl-opt-disable`).
    pub opt_disable: bool,
    /// Whether work-items run in lanes.
    pub vectorize: Vectorize,
    /// Bits of the widest vector registers that may be used; none: the machine's.
    pub simd: Option<u32>,
    /// How much the regions between barriers may copy.
    pub regions: Bounds,
    /// Whether the regions between barriers are functions of their own.
    pub region_functions: Versions,
    /// Where loads make way for values that earlier accesses left.
    pub scalar_replacement: ScalarReplacement,
    /// What holds of every launch of the code.
    pub launch: LaunchFacts,
    /// What is known of the kernel's loops. Code of the first tier may count; results do not depend on it.
    pub loops: LoopProfile,
    /// The folder that receives the kernel after every pass.
    pub dump: Option<PathBuf>,
    /// Whether debuggers and profilers are to see the code's names and lines.
    pub debug: bool,
    /// Whether what becomes of the kernel's loads, stores, branches and loops is noted.
    pub report: bool,
    /// Whether the time of each pass is written to standard error.
    pub time: bool,
    /// Whether a mistake of the driver is an error, as tests want it. Else the kernel gets its simplest form.
    pub strict: bool,
}

impl Default for CompileOptions {
    fn default() -> CompileOptions {
        CompileOptions {
            tier: Tier::default(),
            opt_disable: false,
            vectorize: Vectorize::default(),
            simd: None,
            regions: Bounds::default(),
            region_functions: Versions::default(),
            scalar_replacement: ScalarReplacement::default(),
            launch: LaunchFacts::default(),
            loops: LoopProfile::default(),
            dump: None,
            debug: false,
            report: false,
            time: false,
            strict: true,
        }
    }
}

impl CompileOptions {
    /// What makes code differ beside the kernel, the machine, the launch and the tier.
    pub fn settings_text(&self) -> String {
        let CompileOptions {
            opt_disable, vectorize, simd, regions, region_functions, scalar_replacement, debug, ..
        } = self;
        format!("{opt_disable} {simd:?} {vectorize:?} {regions:?} {region_functions:?} {scalar_replacement:?} {debug}")
    }
}
