//! Every third element of three registers.
//!
//! LLVM takes elements from three registers by two shuffles of two registers each. But no two of every third element have
//! the same place in their registers, as the number of lanes is a power of two: those of two registers fit into one without
//! moving. That is a choice lane by lane, which costs half of a shuffle, or nothing where it is part of a load.
//!
//! Requires: a module behind all passes that combine instructions, which would put shuffles together again.
//! Ensures: shuffles that make a register of every third element of three, of four or eight bytes each, begin with such a choice.
//! Phases: each shuffle by itself.
//! Source: our own.

use inkwell::builder::Builder;
use inkwell::module::Module;
use inkwell::types::{BasicTypeEnum, VectorType};
use inkwell::values::{AsValueRef, BasicValueEnum, InstructionOpcode, InstructionValue, VectorValue};
use llvm_sys::core::{LLVMGetMaskValue, LLVMGetNumMaskElements, LLVMReplaceAllUsesWith};

/// Bits of the registers.
const REGISTER: u32 = 512;

/// Rewrites such shuffles in all functions.
pub fn choose_thirds(module: &Module<'_>) {
    let builder = module.get_context().create_builder();
    for block in module.get_functions().flat_map(|function| function.get_basic_blocks()) {
        let is_shuffle = |instruction: &InstructionValue| instruction.get_opcode() == InstructionOpcode::ShuffleVector;
        for shuffle in block.get_instructions().filter(is_shuffle).collect::<Vec<_>>() {
            if let Some(chosen) = chosen(&builder, shuffle) {
                // SAFETY: both are of one type, and the choice stands before the shuffle.
                unsafe { LLVMReplaceAllUsesWith(shuffle.as_value_ref(), chosen.as_value_ref()) };
                shuffle.erase_from_basic_block();
            }
        }
    }
}

/// The same elements by a choice and one shuffle.
fn chosen<'ctx>(builder: &Builder<'ctx>, shuffle: InstructionValue<'ctx>) -> Option<VectorValue<'ctx>> {
    let BasicValueEnum::VectorValue(source_vector) = shuffle.get_operand(0)?.value()? else { return None };
    // SAFETY: the instruction is a shuffle, and of its mask's elements each is asked for.
    let places: Vec<i32> = unsafe {
        let shuffle = shuffle.as_value_ref();
        (0..LLVMGetNumMaskElements(shuffle)).map(|lane| LLVMGetMaskValue(shuffle, lane)).collect()
    };
    let bit_width = match source_vector.get_type().get_element_type() {
        BasicTypeEnum::FloatType(ty) => ty.get_bit_width(),
        BasicTypeEnum::IntType(int_type) => int_type.get_bit_width(),
        _ => return None,
    };
    let lane_count = places.len() as u32;
    let first_lane = u32::try_from(*places.first()?).ok()?;
    let thirds = first_lane < 3
        && places.iter().enumerate().all(|(lane, &shuffle_index)| shuffle_index == first_lane as i32 + 3 * lane as i32);
    if !thirds
        || source_vector.get_type().get_size() != 3 * lane_count
        || bit_width < 32
        || bit_width * lane_count != REGISTER
    {
        return None;
    }
    builder.position_before(&shuffle);
    let i32_type = source_vector.get_type().get_context().i32_type();
    let shuffled = |left: VectorValue<'ctx>, right: VectorValue<'ctx>, shuffle_index: &dyn Fn(u32) -> u32| {
        let places: Vec<_> =
            (0..lane_count).map(|lane| i32_type.const_int(shuffle_index(lane).into(), false)).collect();
        builder.build_shuffle_vector(left, right, VectorType::const_vector(&places), "").ok()
    };
    let register = |third_number: u32| shuffled(source_vector, source_vector, &|lane| third_number * lane_count + lane);
    let from_second = |lane: u32| (lane_count + lane) % 3 == first_lane;
    let joined_vector =
        shuffled(register(0)?, register(1)?, &|lane| if from_second(lane) { lane_count + lane } else { lane })?;
    shuffled(joined_vector, register(2)?, &|lane| {
        let shuffle_index = first_lane + 3 * lane;
        if shuffle_index < 2 * lane_count { shuffle_index % lane_count } else { shuffle_index - lane_count }
    })
}
