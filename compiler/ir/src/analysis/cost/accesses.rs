//! What accesses cost that are not planned yet: the decision of the plan, from shapes alone.
//!
//! Where private slots lie and which lanes are off is not known then. Lanes that access the same element of their private
//! arrays are taken to lie side by side ([`is_same_element`]), and all lanes to come.
//!
//! Requires: shapes of the region's values for the gang that is priced.
//! Ensures: an access costs what the plan's decision on it costs, in operations of one work-item.
//! Phases: the access as the shapes know it; the decision of [`crate::plan::access_lowering`]; its price.
//! Source: Karrenberg & Hack 2012, section 3.3, for the classes of accesses; prices are measured (`docs/experiments`).

use super::{Lanes, Rewritten, operation_cost};
use crate::analysis::no_wrap_stride::NoWrapStride;
use crate::analysis::shape::Shape;
use crate::ir::{Function, Inst, InstData, Value, ValueDef};
use crate::plan::access_lowering::price::Circumstances;
use crate::plan::access_lowering::{
    AccessForm, AccessLowering, Along, GangAccess, LaneAddresses, LaneMask, LineOfLanes, MemoryAccess,
};
use crate::plan::value_form::Form;
use crate::target::Registers;
use cranelift_entity::SecondaryMap;

/// How a gang would make an access all of whose lanes come, or some of them; none for what is none.
pub fn estimate_lowering(
    function: &Function,
    instruction: Inst,
    lane_facts: Lanes<'_>,
    registers: Registers,
    mask: LaneMask,
) -> Option<AccessLowering> {
    let access = MemoryAccess::of_inst(function, &function.insts[instruction])?;
    let gang = GangAccess {
        target: registers.target,
        width: registers.width,
        row: lane_facts.rows.map(|rows| rows.tile.row),
        may_wait: false,
        follows_others: false,
    };
    Some(AccessLowering::decide_lowering(access, &gang, &estimate_addresses(function, access.ptr, lane_facts), mask))
}

fn estimate_addresses(function: &Function, pointer: Value, lane_facts: Lanes<'_>) -> LaneAddresses {
    let line = |no_wrap_strides: &SecondaryMap<Value, Option<NoWrapStride>>| {
        let no_wrap_stride = no_wrap_strides[pointer].as_ref()?;
        Some(LineOfLanes { stride: no_wrap_stride.stride, indices: no_wrap_stride.extensions.len() })
    };
    let mut form = Form::of_shape(function.ty(pointer), lane_facts.shapes[pointer]);
    let Some(rows) = lane_facts.rows else {
        return LaneAddresses { form, line: line(lane_facts.lines), ..LaneAddresses::default() };
    };
    if let (Form::Vector, Form::Affine(stride)) =
        (form, Form::of_shape(function.ty(pointer), rows.tile.shapes[pointer]))
    {
        form = Form::Runs(stride);
    }
    LaneAddresses {
        form,
        rows_alike: rows.tile.columns[pointer].is_uniform(),
        line: line(lane_facts.lines),
        row_line: line(rows.lines),
        column_line: line(rows.column_lines),
        column_stride: rows.tile.columns[pointer].stride(),
        ..LaneAddresses::default()
    }
}

/// What an access costs a gang all of whose lanes make it; none for what is none.
pub(super) fn price_access(
    function: &Function,
    instruction: Inst,
    lane_facts: Lanes<'_>,
    registers: Registers,
) -> Option<u64> {
    let lowering = estimate_lowering(function, instruction, lane_facts, registers, LaneMask::All)?;
    let pointer = lowering.access.ptr;
    let is_rewritten = |rewritten: &Rewritten| rewritten.contains(function, pointer);
    Some(lowering.cost(&Circumstances {
        registers,
        once: operation_cost(function, instruction),
        is_rewritten: lane_facts.rewritten.is_some_and(is_rewritten),
        is_same_element: is_same_element(function, pointer, lane_facts.shapes),
    }))
}

/// Whether an access would be made column by column.
pub(super) fn goes_by_column(
    function: &Function,
    instruction: Inst,
    lane_facts: Lanes<'_>,
    registers: Registers,
) -> bool {
    let lowering = estimate_lowering(function, instruction, lane_facts, registers, LaneMask::All);
    matches!(
        lowering.map(|lowering| lowering.form),
        Some(AccessForm::Columns(_) | AccessForm::UnlessWraps { along: Along::Columns, .. })
    )
}

/// Whether all lanes access the same element of their private arrays. Most of these are laid out so that lanes' elements
/// lie side by side.
fn is_same_element(function: &Function, mut pointer: Value, shapes: &SecondaryMap<Value, Shape>) -> bool {
    while let ValueDef::Result(instruction, _) = function.values[pointer].definition {
        match function.insts[instruction].data {
            InstData::PtrAdd { base, offset, .. } if shapes[offset].is_uniform() => pointer = base,
            InstData::SlotAddr { .. } => return true,
            _ => return false,
        }
    }
    false
}
