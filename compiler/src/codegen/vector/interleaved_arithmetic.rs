//! Elements of rows computed in memory's order.
//!
//! The elements of a structure or of an OpenCL vector are loaded together, and all lanes' first elements become one vector,
//! all their second ones the next. Where what is stored together is the same operation on each element, it is computed
//! on registers as they lie in memory: what was loaded needs not be brought into the lanes' order and back, and what all
//! elements of a lane have in common is spread.

use super::VectorEmitter;
use super::lane_value::LaneValue;
use super::memory::WideCode;
use crate::codegen::emit::Emitted;
use crate::codegen::error::CodegenError;
use inkwell::values::{BasicValueEnum, VectorValue};
use lockstep_ir::ir::{BinaryOp, FastMath, Inst, InstData, IntFlags, TernaryOp, UnaryOp, Value, ValueDef};
use lockstep_protocol::types::Type;

/// Operations one behind the other that are computed so.
const DEEPEST: u32 = 4;

/// An operation on each element by itself, with an element's type for operands and result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Op {
    Unary(UnaryOp),
    Binary(BinaryOp),
    Ternary(TernaryOp),
}

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    /// The elements of rows in memory's order, of all lanes, where computing them so takes fewer shuffles than bringing
    /// them into it.
    pub(super) fn in_memory_order(
        &self,
        wide_code: WideCode<'ctx>,
        elements: &[Value],
    ) -> Emitted<Option<VectorValue<'ctx>>> {
        let in_rows = wide_code.wide.is_dense()
            && !wide_code.wide.is_reversed()
            && self.around.emitter.memory_ty(wide_code.ty) == self.around.emitter.value_type(wide_code.ty);
        let is_profitable = || self.count_shuffles(elements, DEEPEST) < Self::shuffles_of(elements);
        if elements.len() < 2 || !in_rows {
            return Ok(None);
        }
        if !is_profitable() {
            return self.change_loaded_row(elements);
        }
        let registers = self.compute_vectors(elements, DEEPEST)?;
        self.around.emitter.concat_vectors(&registers, wide_code.wide.row * self.around.width()).map(Some)
    }

    /// The elements in memory's order where half of them or more are still where a load found them: its row, and in it
    /// those that were changed.
    fn change_loaded_row(&self, elements: &[Value]) -> Emitted<Option<VectorValue<'ctx>>> {
        let Some((row_load, loaded_row)) = elements.iter().find_map(|&element| self.row_of_load(element)) else {
            return Ok(None);
        };
        let (lane_count, row) = (self.around.width(), elements.len() as u32);
        let changed: Vec<(u32, Value)> = (0..)
            .zip(elements.iter().copied())
            .filter(|&(index, element)| self.body.values[element].definition != ValueDef::Result(row_load, index))
            .collect();
        if loaded_row.get_type().get_size() != row * lane_count || 2 * changed.len() > elements.len() {
            return Ok(None);
        }
        let emitter = self.around.emitter;
        let mut in_order = loaded_row;
        for (index, element) in changed {
            let spread: Vec<_> =
                (0..row * lane_count).map(|place| (place % row == index).then_some(place / row)).collect();
            let value = self.as_vector(element)?;
            let value = emitter.shuffle_vectors(value, value, &spread)?;
            let either: Vec<_> = (0..row * lane_count)
                .map(|place| Some(if place % row == index { row * lane_count + place } else { place }))
                .collect();
            in_order = emitter.shuffle_vectors(in_order, value, &either)?;
        }
        Ok(Some(in_order))
    }

    /// The load of which a value is an element, and the row that it found.
    fn row_of_load(&self, element: Value) -> Option<(Inst, VectorValue<'ctx>)> {
        let ValueDef::Result(instruction, _) = self.body.values[element].definition else { return None };
        self.loaded_rows.borrow()[instruction].map(|loaded_row| (instruction, loaded_row))
    }

    /// Registers' worth of shuffles that bring elements from the lanes' order into memory's.
    fn shuffles_of(elements: &[Value]) -> usize {
        elements.len() * (elements.len() - 1)
    }

    /// The same, where what needs none or fewer is looked for behind so many operations.
    fn count_shuffles(&self, elements: &[Value], depth: u32) -> usize {
        if elements.iter().all(|&element| self.is_uniform(element)) {
            return 0;
        }
        if elements.iter().all(|&element| element == elements[0]) {
            return elements.len();
        }
        if self.are_loaded(elements) {
            return 0;
        }
        let maximum = Self::shuffles_of(elements);
        match self.common_operation(elements, depth) {
            Some((_, operands)) => {
                maximum.min(operands.iter().map(|operand_values| self.count_shuffles(operand_values, depth - 1)).sum())
            }
            None => maximum,
        }
    }

    /// As many vectors of a gang's lanes as there are elements of a lane.
    fn compute_vectors(&self, elements: &[Value], depth: u32) -> Emitted<Vec<VectorValue<'ctx>>> {
        let emitter = self.around.emitter;
        let (element_count, width) = (elements.len() as u32, self.around.width());
        if self.count_shuffles(elements, depth) < Self::shuffles_of(elements)
            && !self.are_loaded(elements)
            && let Some((opcode, operands)) = self.common_operation(elements, depth)
        {
            let operands = operands
                .iter()
                .map(|operand_values| self.compute_vectors(operand_values, depth - 1))
                .collect::<Emitted<Vec<_>>>()?;
            let scalar_type = self.type_of(elements[0]);
            let fast_math = elements
                .iter()
                .fold(FastMath(!0), |common_flags, &element| FastMath(common_flags.0 & self.fast_math(element).0));
            let register = |register: usize| {
                let arguments: Vec<BasicValueEnum> =
                    operands.iter().map(|operand_vectors| operand_vectors[register].into()).collect();
                Ok(self.emit_operation(opcode, fast_math, scalar_type, &arguments)?.into_vector_value())
            };
            return (0..elements.len()).map(register).collect();
        }
        let are_alike = elements.iter().all(|&element| element == elements[0]);
        if are_alike && self.is_uniform(elements[0]) {
            return Ok(vec![self.as_vector(elements[0])?; elements.len()]);
        }
        if let Some(loaded_row) = self.find_loaded_row(elements) {
            let own_lanes = |index: u32| (index * width..(index + 1) * width).map(Some).collect::<Vec<_>>();
            let register = |index| emitter.shuffle_vectors(loaded_row, loaded_row, &own_lanes(index));
            return (0..element_count).map(register).collect();
        }
        let (source_vector, element_index): (_, fn(u32, u32) -> u32) = if are_alike {
            (self.as_vector(elements[0])?, |_, _| 0)
        } else {
            // LLVM sees which of these shuffles undo those behind a load.
            let values = elements.iter().map(|&element| self.as_vector(element)).collect::<Emitted<Vec<_>>>()?;
            let joined_vector = self.one_behind_the_other(self.type_of(elements[0]), &values)?;
            (joined_vector, |position, element_count| position % element_count)
        };
        let source_lane =
            |position: u32| Some(element_index(position, element_count) * width + position / element_count);
        let register = |first_lane: u32| {
            let source_lanes: Vec<_> = (first_lane..first_lane + width).map(source_lane).collect();
            emitter.shuffle_vectors(source_vector, source_vector, &source_lanes)
        };
        (0..element_count).map(|vector_index| register(vector_index * width)).collect()
    }

    /// An operation on a register of elements of a type.
    fn emit_operation(
        &self,
        opcode: Op,
        fast_math: FastMath,
        element_type: Type,
        arguments: &[BasicValueEnum<'ctx>],
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let emitter = self.around.emitter;
        let fast_math = if self.speculates() { fast_math.with_all_values() } else { fast_math };
        match (opcode, arguments) {
            (Op::Unary(opcode), &[operand]) => emitter.unary(opcode, fast_math, element_type, element_type, operand),
            (Op::Binary(opcode), &[left, right]) => {
                emitter.binary(opcode, IntFlags::default(), fast_math, [left, right])
            }
            (Op::Ternary(opcode), &[first, second, third]) => {
                emitter.ternary(opcode, fast_math, element_type, [first, second, third])
            }
            _ => {
                let message = "an operation on elements in memory's order has other operands";
                Err(CodegenError::Unexpected(message.into()))
            }
        }
    }

    /// The row in memory's order that the elements are, if it was loaded as well as transposed.
    fn find_loaded_row(&self, elements: &[Value]) -> Option<VectorValue<'ctx>> {
        self.row_of_load(elements[0]).filter(|_| self.are_loaded(elements)).map(|(_, loaded_row)| loaded_row)
    }

    /// Whether the elements are those of one load, in its order.
    fn are_loaded(&self, elements: &[Value]) -> bool {
        let ValueDef::Result(instruction, 0) = self.body.values[elements[0]].definition else { return false };
        let inst_node = &self.body.insts[instruction];
        let InstData::Load { pointer, .. } = inst_node.data else { return false };
        let row_bytes = i64::from(self.type_of(elements[0]).bytes()) * elements.len() as i64;
        let in_rows = matches!(self.held_value(pointer), Ok(LaneValue::Affine(_, stride)) if stride == row_bytes);
        in_rows && inst_node.results[..] == *elements
    }

    /// What computes each of the elements, if it is the same for all, and what of; each of them has no other use.
    fn common_operation(&self, elements: &[Value], depth: u32) -> Option<(Op, Vec<Vec<Value>>)> {
        let operations = elements.iter().map(|&element| self.operation_of(element)).collect::<Option<Vec<_>>>()?;
        let (opcode, first_operands) = operations.first().filter(|_| depth > 0)?;
        let are_alike = operations.iter().all(|(other_opcode, _)| other_opcode == opcode);
        let operands = || {
            (0..first_operands.len())
                .map(|index| operations.iter().map(|(_, arguments)| arguments[index]).collect())
                .collect()
        };
        are_alike.then(|| (*opcode, operands()))
    }

    fn operation_of(&self, element: Value) -> Option<(Op, Vec<Value>)> {
        use BinaryOp::{Add, And, Fadd, Fmax, Fmin, Fmul, Fsub, Mul, Or, Smax, Smin, Sub, Umax, Umin, Xor};
        let ValueDef::Result(instruction, _) = self.body.values[element].definition else { return None };
        let operation = match self.body.insts[instruction].data {
            InstData::Unary { opcode: opcode @ (UnaryOp::Fneg | UnaryOp::Fabs), argument, .. } => {
                (Op::Unary(opcode), vec![argument])
            }
            InstData::Binary { opcode, arguments, .. } => match opcode {
                Fadd | Fsub | Fmul | Fmin | Fmax | Add | Sub | Mul | And | Or | Xor | Smin | Smax | Umin | Umax => {
                    (Op::Binary(opcode), arguments.to_vec())
                }
                _ => return None,
            },
            InstData::Ternary { opcode: opcode @ (TernaryOp::Fma | TernaryOp::FmulAdd), arguments, .. } => {
                (Op::Ternary(opcode), arguments.to_vec())
            }
            _ => return None,
        };
        (self.uses[element] == 1).then_some(operation)
    }

    /// What a value's operation may take for granted.
    fn fast_math(&self, operand: Value) -> FastMath {
        let ValueDef::Result(instruction, _) = self.body.values[operand].definition else { return FastMath::default() };
        match self.body.insts[instruction].data {
            InstData::Unary { fast_math, .. }
            | InstData::Binary { fast_math, .. }
            | InstData::Ternary { fast_math, .. } => fast_math,
            _ => FastMath::default(),
        }
    }
}
