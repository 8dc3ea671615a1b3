//! An arm becomes a loop over pieces of its lanes.

use std::collections::HashMap;

use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::{Builder, BuilderError};
use inkwell::context::ContextRef;
use inkwell::types::VectorType;
use inkwell::values::{
    AsValueRef, BasicValue, BasicValueEnum, FunctionValue, InstructionOpcode, InstructionValue, IntValue, PhiValue,
    PointerValue, VectorValue,
};
use llvm_sys::prelude::LLVMValueRef;

use super::arm::{Arm, lanes_asked, memory_bits, memory_type};
use super::narrow_copy::{copy_narrowed, narrow_constant, with_lanes};
use crate::frontend::llvm::{list_phis, successors, value_operand};
use crate::machine_code::store_to_load_forwarding::callee_name;

/// Bytes to which memory for whole vectors is aligned at most: the widest register's.
const MOST_ALIGNED: u32 = 64;

/// Makes a loop of an arm.
pub(super) fn run_in_pieces<'ctx>(function: FunctionValue<'ctx>, arm: &Arm<'ctx>) -> Result<(), BuilderError> {
    let context = function.get_type().get_context();
    let new_block = || context.insert_basic_block_after(arm.gate, "");
    let (before, head, last, behind) = (new_block(), new_block(), new_block(), new_block());
    let mut piece_loop = PieceLoop {
        arm,
        context,
        builder: context.create_builder(),
        entry: function.get_first_basic_block().unwrap_or(arm.gate),
        values: HashMap::new(),
        blocks: HashMap::from([(arm.gate, head), (arm.join, last)]),
    };
    for &block in &arm.blocks {
        piece_loop.blocks.insert(block, context.insert_basic_block_after(head, ""));
    }
    let lane = piece_loop.begin_loop(before, head)?;
    for &block in &arm.blocks {
        piece_loop.copy_block(block)?;
    }
    piece_loop.end_loop(lane, [head, last, behind])?;
    arm.blocks[0].replace_all_uses_with(&before);
    // Nothing leads to them any more; what uses their values is in later ones.
    arm.blocks.iter().rev().for_each(|block| {
        // SAFETY: LLVM frees a block and its instructions, to which nothing refers: the gate leads to the loop, the φs behind it have others'
        // values, and blocks that used its values were deleted before.
        let _ = unsafe { block.delete() };
    });
    Ok(())
}

/// The loop while it is made.
struct PieceLoop<'a, 'ctx> {
    arm: &'a Arm<'ctx>,
    context: ContextRef<'ctx>,
    builder: Builder<'ctx>,
    /// The function's first block.
    entry: BasicBlock<'ctx>,
    /// The narrow values in the place of the arm's and of its inputs.
    values: HashMap<LLVMValueRef, BasicValueEnum<'ctx>>,
    /// The loop's blocks in the place of the arm's; where that led, its last one.
    blocks: HashMap<BasicBlock<'ctx>, BasicBlock<'ctx>>,
}

impl<'ctx> PieceLoop<'_, 'ctx> {
    /// Keeps the inputs in memory before the loop, and loads their pieces in its first block. The answer is the number of a piece's first lane.
    fn begin_loop(&mut self, before: BasicBlock<'ctx>, head: BasicBlock<'ctx>) -> Result<PhiValue<'ctx>, BuilderError> {
        self.builder.position_at_end(head);
        let lane = self.builder.build_phi(self.context.i64_type(), "")?;
        lane.add_incoming(&[(&self.context.i64_type().const_zero(), before)]);
        for &input in &self.arm.inputs {
            let vector = input.into_vector_value();
            let memory = self.allocate_vector(vector.get_type())?;
            self.builder.position_at_end(before);
            self.store_vector(memory, vector)?;
            self.builder.position_at_end(head);
            let place = self.place_of(memory, vector.get_type(), lane.as_basic_value().into_int_value())?;
            let piece = self.load_vector(place, with_lanes(vector.get_type(), self.arm.piece_lanes))?;
            self.values.insert(input.as_value_ref(), piece.into());
        }
        self.builder.position_at_end(before);
        self.builder.build_unconditional_branch(head)?;
        self.builder.position_at_end(head);
        self.builder.build_unconditional_branch(self.blocks[&self.arm.blocks[0]])?;
        Ok(lane)
    }

    /// Keeps the results' pieces in memory in the loop's last block, and gives the φs behind the arm whole vectors.
    fn end_loop(
        &mut self,
        lane: PhiValue<'ctx>,
        [head, last, behind]: [BasicBlock<'ctx>; 3],
    ) -> Result<(), BuilderError> {
        let i64_type = self.context.i64_type();
        let lane_number = lane.as_basic_value().into_int_value();
        self.builder.position_at_end(last);
        let pieces = self.arm.results.iter().map(|&phi| self.merge_pieces(phi)).collect::<Result<Vec<_>, _>>()?;
        let mut places = Vec::new();
        for piece in pieces {
            let vector_type = with_lanes(piece.get_type(), self.arm.lanes);
            let memory = self.allocate_vector(vector_type)?;
            self.builder.position_at_end(last);
            let place = self.place_of(memory, vector_type, lane_number)?;
            self.store_vector(place, piece)?;
            places.push((memory, vector_type));
        }
        let next =
            self.builder.build_int_add(lane_number, i64_type.const_int(self.arm.piece_lanes.into(), false), "")?;
        let end = i64_type.const_int(self.arm.lanes.into(), false);
        let is_over = self.builder.build_int_compare(IntPredicate::EQ, next, end, "")?;
        self.builder.build_conditional_branch(is_over, behind, head)?;
        lane.add_incoming(&[(&next, last)]);
        self.builder.position_at_end(behind);
        let wholes = places.into_iter().map(|(memory, vector_type)| self.load_vector(memory, vector_type));
        let wholes = wholes.collect::<Result<Vec<_>, _>>()?;
        self.builder.build_unconditional_branch(self.arm.join)?;
        self.arm.results.iter().zip(wholes).try_for_each(|(&phi, whole)| self.replace_result(phi, whole, behind))
    }

    /// The piece of a result that the blocks give which lead out of the arm.
    fn merge_pieces(&self, result: PhiValue<'ctx>) -> Result<VectorValue<'ctx>, BuilderError> {
        let result_type = result.as_basic_value().get_type().into_vector_type();
        let merged = self.builder.build_phi(with_lanes(result_type, self.arm.piece_lanes), "")?;
        for (value, block) in result.get_incomings().filter(|(_, block)| self.arm.blocks.contains(block)) {
            merged.add_incoming(&[(&self.narrow_value(value), self.blocks[&block])]);
        }
        Ok(merged.as_basic_value().into_vector_value())
    }

    /// Another φ in the place of one that had the arm's values.
    fn replace_result(
        &self,
        result: PhiValue<'ctx>,
        whole: VectorValue<'ctx>,
        behind: BasicBlock<'ctx>,
    ) -> Result<(), BuilderError> {
        self.builder.position_before(&result.as_instruction());
        let merged = self.builder.build_phi(whole.get_type(), "")?;
        for (value, block) in result.get_incomings().filter(|(_, block)| !self.arm.blocks.contains(block)) {
            merged.add_incoming(&[(&value, block)]);
        }
        merged.add_incoming(&[(&whole, behind)]);
        result.replace_all_uses_with(&merged);
        result.as_instruction().erase_from_basic_block();
        Ok(())
    }

    /// Writes a block's instructions for the lanes of a piece.
    fn copy_block(&mut self, block: BasicBlock<'ctx>) -> Result<(), BuilderError> {
        self.builder.position_at_end(self.blocks[&block]);
        // φs are of blocks that came before.
        for phi in list_phis(block) {
            let narrow_phi = match phi.as_basic_value() {
                BasicValueEnum::VectorValue(vector) => {
                    self.builder.build_phi(with_lanes(vector.get_type(), self.arm.piece_lanes), "")?
                }
                value => self.builder.build_phi(value.get_type(), "")?,
            };
            for (value, source) in phi.get_incomings() {
                narrow_phi.add_incoming(&[(&self.narrow_value(value), self.blocks[&source])]);
            }
            self.values.insert(phi.as_value_ref(), narrow_phi.as_basic_value());
        }
        let others =
            block.get_instructions().skip_while(|instruction| instruction.get_opcode() == InstructionOpcode::Phi);
        others.into_iter().try_for_each(|instruction| self.copy_instruction(block, instruction))
    }

    fn copy_instruction(
        &mut self,
        block: BasicBlock<'ctx>,
        instruction: InstructionValue<'ctx>,
    ) -> Result<(), BuilderError> {
        let narrow_value = match instruction.get_opcode() {
            InstructionOpcode::Br => return self.copy_branch(block, instruction),
            // Who asks for a mask as an integer makes it.
            InstructionOpcode::BitCast if !instruction.get_type().is_vector_type() => return Ok(()),
            _ => match lanes_asked(instruction).filter(|_| self.compares_own_bits(instruction)) {
                Some((lanes, _)) => self.ask_lanes(instruction, lanes)?.into(),
                None => self.copy_by_lane(instruction),
            },
        };
        self.values.insert(instruction.as_value_ref(), narrow_value);
        Ok(())
    }

    /// Whether a comparison is of a mask that the arm makes an integer. One from elsewhere is the same for all pieces.
    fn compares_own_bits(&self, condition: InstructionValue<'ctx>) -> bool {
        let mask_bits = value_operand(condition, 0).and_then(|operand| operand.as_instruction_value());
        let block = mask_bits.and_then(|mask_bits| mask_bits.get_parent());
        block.is_some_and(|block| self.arm.blocks.contains(&block))
    }

    fn copy_by_lane(&self, instruction: InstructionValue<'ctx>) -> BasicValueEnum<'ctx> {
        let copy = copy_narrowed(instruction, self.arm.lanes, self.arm.piece_lanes)
            .expect("intrinsic functions that work lane by lane have forms for all numbers of lanes");
        let operand_count = instruction.get_num_operands() - u32::from(callee_name(instruction).is_some());
        for index in 0..operand_count {
            if let Some(operand) = value_operand(instruction, index) {
                copy.set_operand(index, self.narrow_value(operand));
            }
        }
        self.builder.insert_instruction(&copy, None);
        // SAFETY: the shim's copy is alive and in a block; `copy_instruction` is called for branches apart, and all others make values.
        unsafe { BasicValueEnum::new(copy.as_value_ref()) }
    }

    /// Asks a piece's lanes what a comparison asked all of them.
    fn ask_lanes(
        &self,
        condition: InstructionValue<'ctx>,
        lanes: BasicValueEnum<'ctx>,
    ) -> Result<IntValue<'ctx>, BuilderError> {
        let bits_type = self.context.custom_width_int_type(self.arm.piece_lanes.try_into().expect("pieces have lanes"));
        let bits_type = bits_type.expect("LLVM has integers of as many bits as a piece has lanes");
        let bits = self.builder.build_bit_cast(self.narrow_value(lanes), bits_type, "")?.into_int_value();
        let predicate = condition.get_icmp_predicate().unwrap_or(IntPredicate::NE);
        self.builder.build_int_compare(predicate, bits, bits_type.const_zero(), "")
    }

    fn copy_branch(&self, block: BasicBlock<'ctx>, branch: InstructionValue<'ctx>) -> Result<(), BuilderError> {
        let targets: Vec<_> = successors(block).map(|target| self.blocks[&target]).collect();
        match (targets[..].as_ref(), value_operand(branch, 0)) {
            (&[if_true, if_false], Some(condition)) => {
                let condition = self.narrow_value(condition).into_int_value();
                self.builder.build_conditional_branch(condition, if_true, if_false)?
            }
            (targets, _) => self.builder.build_unconditional_branch(targets[0])?,
        };
        Ok(())
    }

    /// What stands for a value in a piece.
    fn narrow_value(&self, value: BasicValueEnum<'ctx>) -> BasicValueEnum<'ctx> {
        match self.values.get(&value.as_value_ref()) {
            Some(&narrow_value) => narrow_value,
            None => match value {
                BasicValueEnum::VectorValue(vector) if vector.is_const() => {
                    narrow_constant(vector, self.arm.piece_lanes).map_or(value, BasicValueEnum::from)
                }
                _ => value,
            },
        }
    }

    /// Memory of the stack for a vector.
    fn allocate_vector(&self, vector_type: VectorType<'ctx>) -> Result<PointerValue<'ctx>, BuilderError> {
        match self.entry.get_first_instruction() {
            Some(first) => self.builder.position_before(&first),
            None => self.builder.position_at_end(self.entry),
        }
        let memory = self.builder.build_alloca(memory_type(vector_type), "")?;
        set_alignment(memory.as_instruction_value(), vector_type);
        Ok(memory)
    }

    /// Where a piece lies in a vector's memory, given its first lane.
    fn place_of(
        &self,
        memory: PointerValue<'ctx>,
        vector_type: VectorType<'ctx>,
        lane: IntValue<'ctx>,
    ) -> Result<PointerValue<'ctx>, BuilderError> {
        let element = memory_type(vector_type).get_element_type();
        // SAFETY: the lane is one of the vector's, so its element is part of the memory.
        unsafe { self.builder.build_in_bounds_gep(element, memory, &[lane], "") }
    }

    fn store_vector(&self, place: PointerValue<'ctx>, vector: VectorValue<'ctx>) -> Result<(), BuilderError> {
        let stored_type = memory_type(vector.get_type());
        let stored = match stored_type == vector.get_type() {
            true => vector,
            false => self.builder.build_int_s_extend(vector, stored_type, "")?,
        };
        set_alignment(Some(self.builder.build_store(place, stored)?), vector.get_type());
        Ok(())
    }

    fn load_vector(
        &self,
        place: PointerValue<'ctx>,
        vector_type: VectorType<'ctx>,
    ) -> Result<VectorValue<'ctx>, BuilderError> {
        let stored_type = memory_type(vector_type);
        let stored = self.builder.build_load(stored_type, place, "")?;
        set_alignment(stored.as_instruction_value(), vector_type);
        let stored = stored.into_vector_value();
        match stored_type == vector_type {
            true => Ok(stored),
            false => self.builder.build_int_compare(IntPredicate::SLT, stored, stored_type.const_zero(), ""),
        }
    }
}

/// Aligns an access to a vector, or its memory, as far as registers are.
fn set_alignment(instruction: Option<InstructionValue<'_>>, vector_type: VectorType<'_>) {
    let bytes = vector_type.get_size() * memory_bits(vector_type.get_element_type()) / 8;
    // A power of two, as lanes and elements are.
    let alignment = bytes.min(MOST_ALIGNED);
    if let Some(instruction) = instruction {
        instruction.set_alignment(alignment).expect("the alignment is a power of two");
    }
}
