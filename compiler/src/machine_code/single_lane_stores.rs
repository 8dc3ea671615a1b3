//! Masked stores of which one lane is on become stores of that element.
//!
//! LLVM 22.1.8 makes such a store of a vector of truncated integers one of the element before truncation, where the
//! machine has masked stores that truncate (AVX-512): it writes 8 bytes for a truncated `i64`, whatever is behind the
//! element's own.
//!
//! Requires: a module behind all passes that find out which lanes are on.
//! Ensures: no `llvm.masked.store` has a constant mask with one lane on.
//! Phases: each store by itself.
//! Source: our own.
//!
//! ```text
//! call void @llvm.masked.store.v2i8.p0(<2 x i8> %x, ptr %p, <2 x i1> <i1 true, i1 false>)
//! ```
//! becomes
//! ```text
//! %0 = extractelement <2 x i8> %x, i64 0
//! store i8 %0, ptr %p
//! ```

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::builder::Builder;
use inkwell::module::Module;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValueEnum, CallSiteValue, InstructionOpcode, InstructionValue};

use super::store_to_load_forwarding::{callee_name, constant_lanes};
use crate::frontend::llvm::value_operand;

/// Rewrites such stores in all functions.
pub fn split_single_lane_stores(module: &Module<'_>) {
    let builder = module.get_context().create_builder();
    for block in module.get_functions().flat_map(|function| function.get_basic_blocks()) {
        let is_call = |instruction: &InstructionValue| instruction.get_opcode() == InstructionOpcode::Call;
        for call_instruction in block.get_instructions().filter(is_call).collect::<Vec<_>>() {
            if store_single_lane(&builder, call_instruction).is_some() {
                call_instruction.erase_from_basic_block();
            }
        }
    }
}

/// Emits the store of the one lane in front of a masked store; none: that is something else, or more lanes are on.
fn store_single_lane<'ctx>(builder: &Builder<'ctx>, call_instruction: InstructionValue<'ctx>) -> Option<()> {
    if !callee_name(call_instruction)?.starts_with("llvm.masked.store.") {
        return None;
    }
    let BasicValueEnum::VectorValue(value) = value_operand(call_instruction, 0)? else { return None };
    let active_lanes = constant_lanes(value_operand(call_instruction, 2)?.into_vector_value())?;
    let mut active_lanes = (0_u32..).zip(active_lanes).filter(|&(_, is_on)| is_on).map(|(lane, _)| lane);
    let (lane, None) = (active_lanes.next()?, active_lanes.next()) else { return None };

    let call_site = CallSiteValue::try_from(call_instruction).ok()?;
    let alignment = call_site.get_enum_attribute(AttributeLoc::Param(1), Attribute::get_named_enum_kind_id("align"));
    let bytes = u64::from(lane) * element_bytes(value.get_type().get_element_type())?;
    let alignment =
        alignment.map_or(1, |alignment| alignment.get_enum_value()).min(1 << bytes.trailing_zeros().min(31));

    builder.position_before(&call_instruction);
    let i64_type = value.get_type().get_context().i64_type();
    let index = i64_type.const_int(lane.into(), false);
    let element = builder.build_extract_element(value, index, "").ok()?;
    let first_address = value_operand(call_instruction, 1)?.into_pointer_value();
    // SAFETY: the lane is on, so its element is part of an object.
    let address = unsafe { builder.build_gep(element.get_type(), first_address, &[index], "").ok()? };
    let store_instruction = builder.build_store(address, element).ok()?;
    store_instruction.set_alignment(u32::try_from(alignment).ok()?).ok()?;
    for kind in ["alias.scope", "noalias", "nontemporal"] {
        let kind_id = value.get_type().get_context().get_kind_id(kind);
        if let Some(marked_metadata) = call_instruction.get_metadata(kind_id) {
            store_instruction.set_metadata(marked_metadata, kind_id).ok()?;
        }
    }
    Some(())
}

/// Bytes of an element in memory.
fn element_bytes(element: BasicTypeEnum<'_>) -> Option<u64> {
    let bit_width = match element {
        BasicTypeEnum::IntType(int_type) => int_type.get_bit_width(),
        BasicTypeEnum::FloatType(float) => float.get_bit_width(),
        BasicTypeEnum::PointerType(_) => 64,
        _ => return None,
    };
    Some(u64::from(bit_width / 8))
}
