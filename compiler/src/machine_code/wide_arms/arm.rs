//! Arms that may run in pieces: their blocks, what enters them and what leaves them.

use std::collections::{HashMap, HashSet};

use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::types::{AnyTypeEnum, BasicTypeEnum, VectorType};
use inkwell::values::{BasicValue, BasicValueEnum, InstructionOpcode, InstructionValue, PhiValue};

use super::narrow_copy::{narrow_constant, works_by_lane};
use super::{LEAST_OPERATIONS, LEAST_PIECES};
use crate::codegen::ANY_LANE;
use crate::frontend::llvm::{list_phis, list_users, successors, value_operand};
use crate::machine_code::store_to_load_forwarding::callee_name;

/// An arm behind a gate.
pub(super) struct Arm<'ctx> {
    /// The block whose branch leads to it or past it.
    pub gate: BasicBlock<'ctx>,
    /// Its blocks, each behind those that lead to it.
    pub blocks: Vec<BasicBlock<'ctx>>,
    /// Where it leads.
    pub join: BasicBlock<'ctx>,
    /// Lanes of its values.
    pub lanes: u32,
    /// Lanes of a piece.
    pub piece_lanes: u32,
    /// Vectors from elsewhere that it uses, each once.
    pub inputs: Vec<BasicValueEnum<'ctx>>,
    /// What gets its values in `join`.
    pub results: Vec<PhiValue<'ctx>>,
}

/// What is found out about an arm instruction by instruction.
struct Survey<'ctx> {
    lanes: u32,
    own_values: HashSet<InstructionValue<'ctx>>,
    inputs: Vec<BasicValueEnum<'ctx>>,
    /// Bits of the widest element.
    widest_bits: u32,
    /// Operations on elements of each width that occurs.
    operations: HashMap<u32, usize>,
}

impl<'ctx> Arm<'ctx> {
    /// The arm behind a block's branch, if that is a gate and the arm may and should run in pieces.
    pub(super) fn find_behind(
        gate: BasicBlock<'ctx>,
        predecessors: &HashMap<BasicBlock<'ctx>, Vec<BasicBlock<'ctx>>>,
        register_bits: u32,
    ) -> Option<Arm<'ctx>> {
        let (entry, lanes) = entry_behind(gate)?;
        if predecessors.get(&entry)?.len() != 1 {
            return None;
        }
        let (blocks, join) = collect_blocks(entry, predecessors)?;
        let own_values = blocks.iter().flat_map(|block| block.get_instructions()).collect();
        let mut survey = Survey { lanes, own_values, inputs: Vec::new(), widest_bits: 0, operations: HashMap::new() };
        for instruction in blocks.iter().flat_map(|block| block.get_instructions()) {
            survey.add_instruction(instruction)?;
        }
        let results: Vec<PhiValue> = list_phis(join).collect();
        for phi in &results {
            survey.add_result(*phi, &blocks)?;
        }
        let Survey { inputs, widest_bits, operations, .. } = survey;
        let piece_lanes = register_bits.checked_div(widest_bits)?;
        let is_long = operations.get(&widest_bits).is_some_and(|&count| count >= LEAST_OPERATIONS);
        let pieces = lanes.checked_div(piece_lanes)?;
        let is_worthwhile = is_long && pieces >= LEAST_PIECES && lanes.is_multiple_of(piece_lanes);
        is_worthwhile.then_some(Arm { gate, blocks, join, lanes, piece_lanes, inputs, results })
    }

    /// Bytes of memory for what enters and leaves.
    pub(super) fn stack_bytes(&self) -> u32 {
        let inputs = self.inputs.iter().map(|input| input.get_type());
        let results = self.results.iter().map(|phi| phi.as_basic_value().get_type());
        inputs.chain(results).filter_map(|value_type| Some(self.lanes * memory_bits(element_of(value_type)?) / 8)).sum()
    }
}

/// Bits that an element takes in memory: masks are words there, of which pieces of any length can be loaded.
pub(super) fn memory_bits(element: BasicTypeEnum<'_>) -> u32 {
    match bits_of(element) {
        1 => 32,
        bits => bits,
    }
}

/// Bits of an element of a vector.
fn bits_of(element: BasicTypeEnum<'_>) -> u32 {
    match element {
        BasicTypeEnum::IntType(element) => element.get_bit_width(),
        BasicTypeEnum::FloatType(element) => element.get_bit_width(),
        _ => 64,
    }
}

fn element_of(value_type: BasicTypeEnum<'_>) -> Option<BasicTypeEnum<'_>> {
    match value_type {
        BasicTypeEnum::VectorType(vector) => Some(vector.get_element_type()),
        _ => None,
    }
}

/// The block that a gate leads to where any of so many lanes wants it.
fn entry_behind<'ctx>(gate: BasicBlock<'ctx>) -> Option<(BasicBlock<'ctx>, u32)> {
    let branch = gate.get_terminator()?;
    let (condition, lanes) = gate_condition(branch)?;
    let targets: Vec<_> = successors(gate).collect();
    let [if_true, if_false] = targets[..] else { return None };
    match condition.get_icmp_predicate()? {
        IntPredicate::EQ => Some((if_false, lanes)),
        IntPredicate::NE => Some((if_true, lanes)),
        _ => None,
    }
}

/// The comparison that a gate's branch tests, and how many lanes it asks.
fn gate_condition<'ctx>(branch: InstructionValue<'ctx>) -> Option<(InstructionValue<'ctx>, u32)> {
    let context = branch.get_parent()?.get_context();
    branch.get_metadata(context.get_kind_id(ANY_LANE))?;
    let condition = value_operand(branch, 0)?.as_instruction_value()?;
    Some((condition, lanes_asked(condition)?.1))
}

/// The lanes of which a comparison asks whether any is on, or none is, and how many they are.
pub(super) fn lanes_asked(condition: InstructionValue<'_>) -> Option<(BasicValueEnum<'_>, u32)> {
    if condition.get_opcode() != InstructionOpcode::ICmp {
        return None;
    }
    let zero = value_operand(condition, 1)?;
    let is_zero = zero.is_int_value() && zero.into_int_value().get_zero_extended_constant() == Some(0);
    let mask_bits = value_operand(condition, 0)?.as_instruction_value()?;
    if !is_zero || mask_bits.get_opcode() != InstructionOpcode::BitCast {
        return None;
    }
    let lanes = value_operand(mask_bits, 0)?;
    let BasicValueEnum::VectorValue(vector) = lanes else { return None };
    let is_mask = bits_of(vector.get_type().get_element_type()) == 1;
    is_mask.then(|| (lanes, vector.get_type().get_size()))
}

/// All blocks that are entered by way of `entry` alone, without those in loops, and the one block that they lead to.
fn collect_blocks<'ctx>(
    entry: BasicBlock<'ctx>,
    predecessors: &HashMap<BasicBlock<'ctx>, Vec<BasicBlock<'ctx>>>,
) -> Option<(Vec<BasicBlock<'ctx>>, BasicBlock<'ctx>)> {
    let mut blocks = vec![entry];
    let mut exits: Vec<BasicBlock> = Vec::new();
    let mut position = 0;
    while let Some(&block) = blocks.get(position) {
        position += 1;
        for successor in successors(block) {
            let is_inside = |other: &BasicBlock<'ctx>| blocks.contains(other);
            if !is_inside(&successor) && predecessors[&successor].iter().all(is_inside) {
                exits.retain(|&exit| exit != successor);
                blocks.push(successor);
            } else if !is_inside(&successor) && !exits.contains(&successor) {
                exits.push(successor);
            }
        }
    }
    match exits[..] {
        // A second edge from one block would need a second value.
        [join] if blocks.iter().all(|&block| successors(block).filter(|&next| next == join).count() < 2) => {
            Some((blocks, join))
        }
        _ => None,
    }
}

impl<'ctx> Survey<'ctx> {
    /// Takes an instruction of the arm into account; none where it cannot be one for fewer lanes.
    fn add_instruction(&mut self, instruction: InstructionValue<'ctx>) -> Option<()> {
        match instruction.get_opcode() {
            InstructionOpcode::Br => return self.add_branch(instruction),
            InstructionOpcode::BitCast if !self.has_fitting_result(instruction) => {
                return self.add_mask_bits(instruction);
            }
            _ => {}
        }
        if !works_by_lane(instruction) || !self.has_fitting_result(instruction) {
            return None;
        }
        if let AnyTypeEnum::VectorType(vector) = instruction.get_type() {
            let bits = bits_of(vector.get_element_type());
            self.widest_bits = self.widest_bits.max(bits);
            *self.operations.entry(bits).or_default() += 1;
        }
        let operand_count = match callee_name(instruction) {
            Some(_) => instruction.get_num_operands().checked_sub(1)?,
            None => instruction.get_num_operands(),
        };
        (0..operand_count).try_for_each(|index| self.add_operand(value_operand(instruction, index)?))
    }

    /// A branch of the arm, which asks whether any lane goes on if its condition is the arm's at all.
    fn add_branch(&mut self, branch: InstructionValue<'ctx>) -> Option<()> {
        let Some(condition) = value_operand(branch, 0).filter(|_| branch.get_num_operands() > 1) else {
            return Some(());
        };
        let is_own = |instruction| self.own_values.contains(&instruction);
        if !condition.as_instruction_value().is_some_and(is_own) {
            return Some(());
        }
        (gate_condition(branch)?.1 == self.lanes).then_some(())
    }

    /// A mask as an integer, which gates alone may ask for.
    fn add_mask_bits(&mut self, mask_bits: InstructionValue<'ctx>) -> Option<()> {
        for condition in list_users(mask_bits) {
            lanes_asked(condition).filter(|&(_, lanes)| lanes == self.lanes)?;
            let is_gate = |branch| self.own_values.contains(&branch) && gate_condition(branch).is_some();
            if !list_users(condition).into_iter().all(is_gate) {
                return None;
            }
        }
        self.add_operand(value_operand(mask_bits, 0)?)
    }

    /// What is a vector of the arm's lanes, or none.
    fn has_fitting_result(&self, instruction: InstructionValue<'ctx>) -> bool {
        match BasicTypeEnum::try_from(instruction.get_type()) {
            Ok(BasicTypeEnum::VectorType(vector)) => vector.get_size() == self.lanes,
            Ok(BasicTypeEnum::IntType(_) | BasicTypeEnum::FloatType(_) | BasicTypeEnum::PointerType(_)) => {
                // Lanes become no value for all of them.
                let has_lanes = |index| value_operand(instruction, index).is_some_and(|value| value.is_vector_value());
                !(0..instruction.get_num_operands()).any(has_lanes)
            }
            _ => false,
        }
    }

    /// Whether memory can hold a vector so that pieces of it can be loaded.
    fn is_storable(&self, vector_type: VectorType<'ctx>) -> bool {
        let bits = bits_of(vector_type.get_element_type());
        vector_type.get_size() == self.lanes && matches!(bits, 1 | 8 | 16 | 32 | 64)
    }

    /// Takes an operand into account, which may be from elsewhere.
    fn add_operand(&mut self, operand: BasicValueEnum<'ctx>) -> Option<()> {
        let BasicValueEnum::VectorValue(vector) = operand else { return Some(()) };
        if !self.is_storable(vector.get_type()) {
            return None;
        }
        if operand.as_instruction_value().is_some_and(|instruction| self.own_values.contains(&instruction))
            || self.inputs.contains(&operand)
            || vector.is_const() && narrow_constant(vector, 1).is_some()
        {
            return Some(());
        }
        self.inputs.push(operand);
        Some(())
    }

    /// Takes into account what a φ behind the arm gets from it.
    fn add_result(&mut self, phi: PhiValue<'ctx>, blocks: &[BasicBlock<'ctx>]) -> Option<()> {
        match phi.as_basic_value().get_type() {
            BasicTypeEnum::VectorType(vector) if self.is_storable(vector) => {}
            _ => return None,
        }
        let values = phi.get_incomings().filter(|(_, block)| blocks.contains(block)).map(|(value, _)| value);
        values.collect::<Vec<_>>().into_iter().try_for_each(|value| self.add_operand(value))
    }
}

/// The type of a vector in memory.
pub(super) fn memory_type<'ctx>(vector_type: VectorType<'ctx>) -> VectorType<'ctx> {
    match bits_of(vector_type.get_element_type()) {
        1 => vector_type.get_context().i32_type().vec_type(vector_type.get_size()),
        _ => vector_type,
    }
}
