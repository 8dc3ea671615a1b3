//! What a launch is given, what it tells, and its state on the way.

use crate::ir::{Block, Format, Kernel, Module, Region};
use crate::plan::Widening;
use crate::plan::function_forms::FunctionForms;
use cranelift_entity::{PrimaryMap, SecondaryMap};
use lockstep_protocol::layout::Layout;
use std::collections::BTreeMap;

/// Where and how many work-items run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NdRange {
    /// Dimensions, 1 to 3.
    pub work_dim: u32,
    /// Work-items; 1 in unused dimensions.
    pub global_size: [u64; 3],
    /// Work-items per group; 1 in unused dimensions. The last group may be smaller.
    pub local_size: [u64; 3],
    /// First global ids.
    pub global_offset: [u64; 3],
}

impl NdRange {
    /// A range without offset of as many dimensions as `global` has (1 to 3).
    pub fn new(global: &[u64], local: &[u64]) -> NdRange {
        let padded = |sizes: &[u64]| std::array::from_fn(|dimension| sizes.get(dimension).copied().unwrap_or(1));
        NdRange {
            work_dim: global.len() as u32,
            global_size: padded(global),
            local_size: padded(local),
            global_offset: [0; 3],
        }
    }

    /// Groups per dimension.
    pub fn num_groups(&self) -> [u64; 3] {
        std::array::from_fn(|dimension| self.global_size[dimension].div_ceil(self.local_size[dimension]))
    }
}

/// A kernel argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Arg {
    /// Bytes of a scalar, vector or struct.
    Value(Vec<u8>),
    /// The buffer with this index in the memory.
    Buffer(usize),
    /// A null pointer in a buffer's place.
    Null,
    /// Bytes of `__local` memory.
    Local(u64),
}

impl Arg {
    /// A 32-bit integer.
    pub fn i32(number: i32) -> Arg {
        Arg::Value(number.to_le_bytes().to_vec())
    }

    /// A 64-bit integer.
    pub fn i64(number: i64) -> Arg {
        Arg::Value(number.to_le_bytes().to_vec())
    }

    /// An argument of type `float`.
    pub fn f32(number: f32) -> Arg {
        Arg::Value(number.to_le_bytes().to_vec())
    }
}

/// One call of printf.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PrintfEvent {
    /// The format it prints by.
    pub format: Format,
    /// The bits of its operands.
    pub args: Vec<u128>,
    /// The global id of the work-item that printed.
    pub global_id: [u64; 3],
}

/// What a run did beside changing memory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Instructions and terminators executed by each work-item, in the order in which they ran.
    pub steps: Vec<u64>,
    /// How often each target of each block's terminator was taken.
    pub branches: BTreeMap<(Region, Block, u32), u64>,
    /// printf calls in order.
    pub printf: Vec<PrintfEvent>,
}

/// Sees what work-items do, block by block: for tests of analyses.
pub trait Observer {
    /// A work-item has run a block's instructions and goes on with its terminator. `values` holds the bits
    /// of each value by its number.
    fn after_block(&mut self, group: [u64; 3], local_id: [u64; 3], region: Region, block: Block, values: &[u128]);
}

/// How a kernel that is planned runs in gangs.
#[derive(Clone, Copy)]
pub struct PlannedGangs<'a> {
    /// Work-items of a gang; the plan's lanes, or fewer.
    pub gang_width: usize,
    /// Its layout, and how its values are held.
    pub widening: &'a Widening,
    /// How it calls functions.
    pub forms: &'a FunctionForms,
}

/// The state of one launch.
pub(super) struct LaunchState<'a> {
    pub module: &'a Module,
    /// The kernel, or the function that is being called.
    pub kernel: &'a Kernel,
    pub observer: Option<&'a mut (dyn Observer + 'a)>,
    pub range: &'a NdRange,
    /// Work-items of a gang; none where each runs by itself.
    pub width: Option<usize>,
    /// Which work-items are the lanes of a gang.
    pub layout: Layout,
    /// How gangs call functions, if that is planned.
    pub planned: Option<PlannedGangs<'a>>,
    /// Where gangs run code that is not linearized, the blocks' places in the order in which lanes go on.
    pub orders: PrimaryMap<Region, SecondaryMap<Block, usize>>,
    pub step_limit: u64,
    /// What the clock showed last.
    pub clock: u64,
    pub report: Report,
}

impl LaunchState<'_> {
    /// A reading of the clock, which goes on from one to the next.
    pub fn read_clock(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }
}
