//! The accesses of a region, each with the form in which the lanes of its gangs make it.
//!
//! Requires: the plan of a linearized region, where its kernel's slots lie, the machine.
//! Ensures: each load and store has a lowering for gangs with a work-item in every lane, and one for gangs without.
//! Phases: how values are held; lines; bounds of masks; then each access.
//! Source: Karrenberg & Hack 2012, section 3.3; Moll 2021, chapters 10 and 11.

use super::access::MemoryAccess;
use super::bounds::{Bounds, find_bounds};
use super::common_base::find_common_base;
use super::decide::{AccessLowering, GangAccess, LaneAddresses, LaneMask, LineOfLanes};
use crate::analysis::cfg::build_cfg;
use crate::analysis::no_wrap_stride::{NoWrapStride, find_no_wrap_strides};
use crate::analysis::underlying_objects::{Apart, Origin, Origins};
use crate::ir::{Block, Function, Inst, InstData, Value, ValueDef};
use crate::plan::RegionPlan;
use crate::plan::held_forms::{HeldContext, HeldForms, find_held_forms};
use crate::plan::storage::SlotHome;
use cranelift_entity::SecondaryMap;

/// Which lanes of a gang have a work-item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GangKind {
    /// Every lane has one.
    Whole,
    /// The first ones, at the end of a row.
    Partial,
}

/// The accesses of a region.
#[derive(Clone, Debug, Default)]
pub struct RegionAccesses {
    /// How values are held.
    pub forms: HeldForms,
    /// Values whose lanes lie on a line if no index wraps.
    pub lines: SecondaryMap<Value, Option<NoWrapStride>>,
    /// The same of a tile's rows.
    pub row_lines: SecondaryMap<Value, Option<NoWrapStride>>,
    /// The same of its columns.
    pub column_lines: SecondaryMap<Value, Option<NoWrapStride>>,
    /// What each block's mask says of ids and arguments.
    pub bounds: SecondaryMap<Block, Option<Bounds>>,
    whole: SecondaryMap<Inst, Option<Box<AccessLowering>>>,
    partial: SecondaryMap<Inst, Option<Box<AccessLowering>>>,
}

impl RegionAccesses {
    /// How gangs make an access; none for what is none.
    pub fn lowering_of(&self, instruction: Inst, kind: GangKind) -> Option<&AccessLowering> {
        match kind {
            GangKind::Whole => self.whole[instruction].as_deref(),
            GangKind::Partial => self.partial[instruction].as_deref(),
        }
    }
}

/// What decides about a region's accesses beside its plan.
#[derive(Clone, Copy)]
pub struct RegionContext<'a> {
    /// How values are held.
    pub held: HeldContext<'a>,
    /// The gang and the machine.
    pub gang: GangAccess,
    /// Arguments that lead to memory of their own.
    pub apart: &'a [Apart],
}

/// Decides how a region's accesses are made.
pub fn lower_accesses(function: &Function, plan: &RegionPlan, context: &RegionContext<'_>) -> RegionAccesses {
    let (flow_graph, gang) = (build_cfg(function), context.gang);
    let mut accesses = RegionAccesses {
        forms: find_held_forms(function, plan, context.held),
        lines: find_no_wrap_strides(function, flow_graph.reverse_post_order(), &plan.shapes, gang.width),
        ..RegionAccesses::default()
    };
    if let Some(row_width) = gang.row {
        accesses.row_lines = find_no_wrap_strides(function, flow_graph.reverse_post_order(), &plan.runs, row_width);
        accesses.column_lines =
            find_no_wrap_strides(function, flow_graph.reverse_post_order(), &plan.columns, gang.row_count());
    }
    let origins = Origins::trace_addresses(context.held.kernel, function, context.apart);
    for &block in flow_graph.reverse_post_order() {
        accesses.bounds[block] = plan.masks[block].expand().and_then(|mask| find_bounds(function, &plan.shapes, mask));
        for &instruction in &function.blocks[block].insts {
            let Some(access) = MemoryAccess::of_inst(function, &function.insts[instruction]) else { continue };
            let lowerer = Lowerer {
                body: function,
                plan,
                context,
                accesses: &accesses,
                origins: &origins,
                block,
                inst: instruction,
                access,
            };
            let [whole, partial] =
                [GangKind::Whole, GangKind::Partial].map(|kind| Some(Box::new(lowerer.lower_access(kind))));
            accesses.whole[instruction] = whole;
            accesses.partial[instruction] = partial;
        }
    }
    accesses
}

/// One access of a region.
struct Lowerer<'a> {
    body: &'a Function,
    plan: &'a RegionPlan,
    context: &'a RegionContext<'a>,
    accesses: &'a RegionAccesses,
    origins: &'a Origins,
    block: Block,
    inst: Inst,
    access: MemoryAccess,
}

impl Lowerer<'_> {
    fn lower_access(&self, kind: GangKind) -> AccessLowering {
        AccessLowering::decide_lowering(self.access, &self.context.gang, &self.find_addresses(), self.find_mask(kind))
    }

    fn find_addresses(&self) -> LaneAddresses {
        let Lowerer { body, accesses, .. } = self;
        let pointer = self.access.ptr;
        let is_uniform = |value: Value| accesses.forms.is_uniform(body, value);
        let line = |no_wrap_strides: &SecondaryMap<Value, Option<NoWrapStride>>| {
            let no_wrap_stride = no_wrap_strides[pointer].as_ref()?;
            Some(LineOfLanes { stride: no_wrap_stride.stride, indices: no_wrap_stride.extensions.len() })
        };
        let inst_data = &body.insts[self.inst].data;
        let stores_uniform = match inst_data {
            InstData::Store { arguments, .. } => arguments.iter().all(|&argument| is_uniform(argument)),
            _ => false,
        };
        let has_pairs = self.context.gang.width >= 2;
        LaneAddresses {
            form: accesses.forms.form_of(body, pointer),
            rows_alike: accesses.forms.has_alike_rows(pointer),
            line: line(&accesses.lines),
            row_line: line(&accesses.row_lines),
            column_line: line(&accesses.column_lines),
            column_stride: self.plan.columns[pointer].stride(),
            common_base: if has_pairs { find_common_base(body, &is_uniform, pointer) } else { None },
            stores_uniform,
            is_streamed: match self.origins.of_access(inst_data) {
                Origin::Argument(number) => self.context.apart[number].streamed,
                _ => false,
            },
        }
    }

    /// The lanes that make the access. Lanes without a work-item may access their own copy of a private variable where
    /// lane 0 accesses its own.
    fn find_mask(&self, kind: GangKind) -> LaneMask {
        match (self.plan.masks[self.block].expand(), kind) {
            (Some(_), _) => LaneMask::Some {
                may_be_empty: !self.plan.run_by_some.contains(self.block),
                has_bounds: self.accesses.bounds[self.block].is_some(),
            },
            (None, GangKind::Partial) if !self.is_in_own_copy(self.access.ptr) => {
                LaneMask::Some { may_be_empty: false, has_bounds: false }
            }
            (None, _) => LaneMask::All,
        }
    }

    /// Whether an address is in each lane so far into a private variable of which all lanes of the gang have a copy.
    fn is_in_own_copy(&self, pointer: Value) -> bool {
        let ValueDef::Result(instruction, _) = self.body.values[pointer].definition else { return false };
        match self.body.insts[instruction].data {
            InstData::SlotAddr { slot } => {
                matches!(self.context.held.storage.slots[slot], SlotHome::Stack | SlotHome::Worker(_))
            }
            InstData::PtrAdd { base, offset, .. } => {
                self.accesses.forms.is_uniform(self.body, offset) && self.is_in_own_copy(base)
            }
            _ => false,
        }
    }
}
