//! What the host has to know of a program to answer for it, take its arguments and launch code that is already there.
//! So a program that was built before need not be read into our IR again until other code is wanted of it.

use crate::parameters::{Input, KernelAttrs, Param};
use crate::types::Type;
use crate::variables::{FormatData, GlobalData};
use serde::{Deserialize, Serialize};

/// A program without its code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outline {
    /// Program-scope variables by the number of their [`Global`](crate::variables::Global).
    pub globals: Vec<GlobalData>,
    /// printf formats by their numbers.
    pub formats: Vec<FormatData>,
    /// The kernels in the order of the source.
    pub kernels: Vec<KernelOutline>,
}

/// A kernel without its code.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct KernelOutline {
    /// The name that `clCreateKernel` takes.
    pub name: String,
    /// What `clSetKernelArg` sets, in the order of its indices.
    pub params: Vec<Param>,
    /// Bytes of the argument block.
    pub args_size: u32,
    /// What its code takes from the argument block.
    pub inputs: Vec<(Input, Type)>,
    /// Local variables of a work-group.
    pub locals: Vec<LocalVariable>,
    /// Bytes of private memory of a work-item.
    pub private_bytes: u64,
    /// What the source says of local sizes, sub-group sizes and vector types.
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
    pub order: TraversalOrder,
    /// Instructions of its code as it was imported.
    pub insts: usize,
}

/// A `__local` variable of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LocalVariable {
    /// Size in bytes.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u32,
}

/// What a kernel streams through.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Streams {
    /// The pointers among the inputs, one bit each.
    pub written: u32,
    /// Bytes that a work-item touches through all pointers.
    pub bytes: u32,
}

/// The order in which a kernel goes through memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum TraversalOrder {
    /// By rows, or in none that is known.
    #[default]
    Rows,
    /// By rows here and by columns there: it transposes.
    Both,
    /// Neighbours along dimension 1 access neighbouring elements; those along dimension 0 are never known to.
    Columns,
}

impl KernelOutline {
    /// Bytes that the local variables of a work-group take.
    pub fn local_bytes(&self) -> u64 {
        self.locals.iter().fold(0, |end_offset: u64, local| {
            end_offset.next_multiple_of(u64::from(local.align).max(1)).saturating_add(local.size)
        })
    }
}
