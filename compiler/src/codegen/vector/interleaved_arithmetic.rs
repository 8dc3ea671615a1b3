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
use lockstep_ir::ir::{BinaryOp, FastMath, InstData, IntFlags, TernaryOp, UnaryOp, Value, ValueDef};
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
        rows: WideCode<'ctx>,
        elements: &[Value],
    ) -> Emitted<Option<VectorValue<'ctx>>> {
        let in_rows = rows.wide.is_dense()
            && !rows.wide.is_reversed()
            && self.around.emitter.memory_ty(rows.ty) == self.around.emitter.value_type(rows.ty);
        let pays = || self.count_shuffles(elements, DEEPEST) < Self::shuffles_of(elements);
        if elements.len() < 2 || !in_rows || !pays() {
            return Ok(None);
        }
        let registers = self.compute_vectors(elements, DEEPEST)?;
        self.around.emitter.concat_vectors(&registers, rows.wide.row * self.around.width()).map(Some)
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
            Some((_, operands)) => maximum.min(operands.iter().map(|each| self.count_shuffles(each, depth - 1)).sum()),
            None => maximum,
        }
    }

    /// As many vectors of a gang's lanes as there are elements of a lane.
    fn compute_vectors(&self, elements: &[Value], depth: u32) -> Emitted<Vec<VectorValue<'ctx>>> {
        let emitter = self.around.emitter;
        let (count, width) = (elements.len() as u32, self.around.width());
        if self.count_shuffles(elements, depth) < Self::shuffles_of(elements)
            && !self.are_loaded(elements)
            && let Some((opcode, operands)) = self.common_operation(elements, depth)
        {
            let operands =
                operands.iter().map(|each| self.compute_vectors(each, depth - 1)).collect::<Emitted<Vec<_>>>()?;
            let ty = self.type_of(elements[0]);
            let fast_math =
                elements.iter().fold(FastMath(!0), |all, &element| FastMath(all.0 & self.fast_math(element).0));
            let register = |register: usize| {
                let arguments: Vec<BasicValueEnum> = operands.iter().map(|each| each[register].into()).collect();
                Ok(self.emit_operation(opcode, fast_math, ty, &arguments)?.into_vector_value())
            };
            return (0..elements.len()).map(register).collect();
        }
        let alike = elements.iter().all(|&element| element == elements[0]);
        if alike && self.is_uniform(elements[0]) {
            return Ok(vec![self.as_vector(elements[0])?; elements.len()]);
        }
        let (from, own): (_, fn(u32, u32) -> u32) = if alike {
            (self.as_vector(elements[0])?, |_, _| 0)
        } else {
            // LLVM sees which of these shuffles undo those behind a load.
            let values = elements.iter().map(|&element| self.as_vector(element)).collect::<Emitted<Vec<_>>>()?;
            let flat = self.one_behind_the_other(self.type_of(elements[0]), &values)?;
            (flat, |place, count| place % count)
        };
        let place = |place: u32| Some(own(place, count) * width + place / count);
        let register =
            |first: u32| emitter.shuffle_vectors(from, from, &(first..first + width).map(place).collect::<Vec<_>>());
        (0..count).map(|number| register(number * width)).collect()
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

    /// Whether the elements are those of one load, in its order.
    fn are_loaded(&self, elements: &[Value]) -> bool {
        let ValueDef::Result(inst, 0) = self.body.values[elements[0]].definition else { return false };
        let node = &self.body.insts[inst];
        let InstData::Load { pointer, .. } = node.data else { return false };
        let bytes = i64::from(self.type_of(elements[0]).bytes()) * elements.len() as i64;
        let in_rows = matches!(self.held_value(pointer), Ok(LaneValue::Affine(_, stride)) if stride == bytes);
        in_rows && node.results[..] == *elements
    }

    /// What computes each of the elements, if it is the same for all, and what of; each of them has no other use.
    fn common_operation(&self, elements: &[Value], depth: u32) -> Option<(Op, Vec<Vec<Value>>)> {
        let each = elements.iter().map(|&element| self.operation_of(element)).collect::<Option<Vec<_>>>()?;
        let (opcode, first) = each.first().filter(|_| depth > 0)?;
        let alike = each.iter().all(|(other, _)| other == opcode);
        let operands =
            || (0..first.len()).map(|index| each.iter().map(|(_, arguments)| arguments[index]).collect()).collect();
        alike.then(|| (*opcode, operands()))
    }

    fn operation_of(&self, element: Value) -> Option<(Op, Vec<Value>)> {
        use BinaryOp::{Add, And, Fadd, Fmax, Fmin, Fmul, Fsub, Mul, Or, Smax, Smin, Sub, Umax, Umin, Xor};
        let ValueDef::Result(inst, _) = self.body.values[element].definition else { return None };
        let found = match self.body.insts[inst].data {
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
        (self.uses[element] == 1).then_some(found)
    }

    /// What a value's operation may take for granted.
    fn fast_math(&self, value: Value) -> FastMath {
        let ValueDef::Result(inst, _) = self.body.values[value].definition else { return FastMath::default() };
        match self.body.insts[inst].data {
            InstData::Unary { fast_math, .. }
            | InstData::Binary { fast_math, .. }
            | InstData::Ternary { fast_math, .. } => fast_math,
            _ => FastMath::default(),
        }
    }
}
