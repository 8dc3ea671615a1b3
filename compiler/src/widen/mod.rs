//! Widening: what code generation needs to know to run a region for a gang of work-items at a time.
//!
//! A gang is W work-items, consecutive along dimension 0, in the lanes of SIMD registers. This part is the
//! plan, in terms of our IR; `codegen/vector` writes it as LLVM IR.
//!
//! Requires: a kernel cut into regions, linearized: of a region that is to be widened, every branch is
//! uniform, and blocks that not all lanes run have a mask.
//! Ensures: per region a [`RegionPlan`] or the reason why its work-items run one after the other.
//! Phases: check the width; per region analyse the shapes of its values and check its branches.
//! Source: Moll 2021, chapters 5 and 11; Karrenberg & Hack 2012, section 3.3.

pub mod lanes;
pub mod memory;

use crate::analysis::cfg::cfg;
use crate::analysis::divergence::{Facts, divergence};
use crate::analysis::dominators::dominators;
use crate::analysis::loops::loops;
use crate::analysis::shape::Shape;
use crate::ir::{Block, Function, InstData, Kernel, Module, Region, SourceLoc, Value, ValueDef};
use crate::transform::normalize::{Irreducible, normalize};
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{PrimaryMap, SecondaryMap};
use lanes::Form;
use std::fmt;

/// The widths of a gang.
pub const WIDTHS: [u32; 4] = [2, 4, 8, 16];

/// The greatest alignment of a private slot of which each lane has its own.
pub const SLOT_ALIGN: u32 = 128;

/// Why a region is not widened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// There are no gangs of so many work-items.
    Width(u32),
    /// The region has no normal form.
    Irreducible(Irreducible),
    /// Lanes may go different ways at the end of this block.
    DivergentBranch(Block, SourceLoc),
    /// A private variable wants a greater alignment than one lane's copy can have.
    SlotAlignment(u32),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Width(width) => write!(f, "gangs of {width} work-items are not supported"),
            Reason::Irreducible(reason) => reason.fmt(f),
            Reason::DivergentBranch(block, SourceLoc { line: 0, .. }) => {
                write!(f, "work-items may go different ways at the end of {block}")
            }
            Reason::DivergentBranch(_, loc) => {
                write!(f, "work-items may go different ways at line {}, column {}", loc.line, loc.column)
            }
            Reason::SlotAlignment(align) => write!(f, "a private variable is aligned to {align} bytes"),
        }
    }
}

/// How one region runs for a gang.
#[derive(Clone, Debug, Default)]
pub struct RegionPlan {
    /// How each value differs between lanes.
    pub shapes: SecondaryMap<Value, Shape>,
    /// The lanes that run a block: an `i1`; none: all that entered the region.
    pub masks: SecondaryMap<Block, PackedOption<Value>>,
}

impl RegionPlan {
    /// How a value is held in registers.
    pub fn form(&self, body: &Function, value: Value) -> Form {
        Form::of(body.ty(value), self.shapes[value])
    }
}

/// How a kernel runs in gangs.
#[derive(Clone, Debug)]
pub struct Widening {
    /// Work-items of a gang.
    pub width: u32,
    /// Per region its plan, or why its work-items run one after the other.
    pub regions: PrimaryMap<Region, Result<RegionPlan, Reason>>,
}

impl Widening {
    /// Whether at least one region runs in gangs.
    pub fn any(&self) -> bool {
        self.regions.values().any(Result::is_ok)
    }
}

/// Brings the regions of a kernel into the form that gangs of `width` work-items need, and plans how they
/// run. A region for which there is a reason against it may be changed too, but means the same.
pub fn plan(module: &Module, kernel: &mut Kernel, width: u32) -> Widening {
    let against = |reason| kernel.regions.keys().map(|_| Err(reason)).collect();
    if !WIDTHS.contains(&width) {
        return Widening { width, regions: against(Reason::Width(width)) };
    }
    for body in kernel.regions.values_mut() {
        if let Err(reason) = normalize(body) {
            return Widening {
                width,
                regions: kernel.regions.keys().map(|_| Err(Reason::Irreducible(reason))).collect(),
            };
        }
    }
    let mut facts = Facts::new(module, kernel, width).of_kernel(kernel);
    let plan = |facts: &Facts| kernel.regions.keys().map(|region| plan_region(kernel, region, facts)).collect();
    let mut regions: PrimaryMap<Region, Result<RegionPlan, Reason>> = plan(&facts);
    if regions.values().any(Result::is_err) {
        // Where work-items run one after the other, each uses its own copy of a slot.
        facts.uniform_slots.clear();
        regions = plan(&facts);
    }
    Widening { width, regions }
}

fn plan_region(kernel: &Kernel, region: Region, facts: &Facts) -> Result<RegionPlan, Reason> {
    let body = &kernel.regions[region];
    let graph = cfg(body);
    for &block in graph.rpo() {
        for &inst in &body.blocks[block].insts {
            if let InstData::SlotAddr { slot } = body.insts[inst].data
                && kernel.slots[slot].align > SLOT_ALIGN
            {
                return Err(Reason::SlotAlignment(kernel.slots[slot].align));
            }
        }
    }
    let tree = dominators(&graph);
    let forest = loops(&graph, &tree);
    let found = divergence(body, facts, &graph, &tree, &forest);
    if let Some(&block) = graph.rpo().iter().find(|&&block| found.divergent_branches.contains(block)) {
        return Err(Reason::DivergentBranch(block, branch_loc(body, block)));
    }
    Ok(RegionPlan { shapes: found.shapes, masks: SecondaryMap::new() })
}

/// The place of a branch in the source: that of its condition.
fn branch_loc(body: &Function, block: Block) -> SourceLoc {
    let selector = body.blocks[block].term.selector();
    match selector.map(|value| body.values[value].def) {
        Some(ValueDef::Result(inst, _)) => body.insts[inst].loc,
        _ => SourceLoc::default(),
    }
}
