//! What the host has to know of a program to answer for it, take its arguments and launch code that is already there.
//! So a program that was built before need not be read into our IR again until other code is wanted of it.

use crate::analysis::streams::{self, Streams};
use crate::analysis::{arguments, counters, group_queries, traversal_order};
use crate::ir::{FormatData, GlobalData, Input, Kernel, KernelAttrs, LocalData, Module, Param, Type};
use serde::{Deserialize, Serialize};

/// A program without its code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outline {
    /// Program-scope variables by the number of their `ir::Global`.
    pub globals: Vec<GlobalData>,
    /// printf formats by the number of their `ir::Format`.
    pub formats: Vec<FormatData>,
    /// The kernels in the order of the source.
    pub kernels: Vec<KernelOutline>,
}

/// A kernel without its code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelOutline {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub params: Vec<Param>,
    /// Bytes of the argument block.
    pub args_size: u32,
    /// What its code takes from the argument block.
    pub inputs: Vec<(Input, Type)>,
    /// Local variables of a work-group.
    pub locals: Vec<LocalData>,
    /// Bytes of private memory of a work-item.
    pub private_bytes: u64,
    /// Attributes.
    pub attrs: KernelAttrs,
    /// The inputs, one bit each, of which a launch's facts should tell that they are multiples.
    pub divisors: u32,
    /// The inputs, one bit each, of which they should tell that they are 1.
    pub steps: u32,
    /// The inputs, one bit each, of which they should tell that they lead to memory of their own.
    pub to_be_apart: u32,
    /// The inputs, one bit each, that lead to counters of which each thread may have a copy.
    pub counters: u32,
    /// Those of which they should tell whether the launch streams through them, and what a work-item touches.
    pub streams: Streams,
    /// Whether it matters how a range is cut into groups.
    pub needs_groups: bool,
    /// In which order it goes through memory.
    pub order: traversal_order::TraversalOrder,
    /// Instructions of its code as it was imported.
    pub insts: usize,
}

impl Outline {
    /// The outline of a program.
    pub fn of(module: &Module) -> Outline {
        Outline {
            globals: module.globals.values().cloned().collect(),
            formats: module.formats.values().cloned().collect(),
            kernels: module.kernels.iter().map(|kernel| KernelOutline::of(module, kernel)).collect(),
        }
    }
}

impl KernelOutline {
    /// The outline of a kernel as it was imported.
    pub fn of(module: &Module, kernel: &Kernel) -> KernelOutline {
        KernelOutline {
            name: kernel.name.clone(),
            params: kernel.params.clone(),
            args_size: kernel.args_size,
            inputs: kernel.inputs.clone(),
            locals: kernel.locals.values().copied().collect(),
            private_bytes: kernel.slots.values().fold(0, |sum: u64, slot| sum.saturating_add(slot.size)),
            attrs: kernel.attrs.clone(),
            divisors: arguments::divisors(kernel),
            steps: arguments::steps(kernel),
            to_be_apart: arguments::to_be_apart(kernel),
            counters: counters::counters(kernel),
            streams: streams::streams(kernel),
            needs_groups: group_queries::needs_groups(kernel),
            order: traversal_order::find_order(module, kernel),
            insts: kernel.regions.values().map(|body| body.insts.len()).sum(),
        }
    }

    /// Bytes that the local variables of a work-group take.
    pub fn local_bytes(&self) -> u64 {
        self.locals
            .iter()
            .fold(0, |end: u64, local| end.next_multiple_of(u64::from(local.align).max(1)).saturating_add(local.size))
    }
}
