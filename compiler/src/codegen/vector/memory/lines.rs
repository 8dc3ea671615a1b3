//! Accesses whose lanes lie side by side unless an index wraps: gangs ask, as lane 0's index tells, or that of the first
//! lane of each row or column of a tile.

use super::super::VectorEmitter;
use super::super::lane_value::LaneValue;
use crate::codegen::emit::Emitted;
use crate::codegen::error::CodegenError;
use inkwell::IntPredicate;
use inkwell::values::{BasicValueEnum, IntValue, PointerValue, VectorValue};
use lockstep_ir::analysis::no_wrap_stride::{NoWrapStride, first_indices};
use lockstep_ir::ir::{BinaryOp, FastMath, InstData, IntFlags, UnaryOp, Value, ValueDef};
use lockstep_ir::plan::access_lowering::Along;

/// How much more often no index wraps, as LLVM's weights of a branch.
const OFTEN: u64 = 2000;

/// A line on which an address' lanes lie if nothing wraps.
#[derive(Clone, Copy)]
pub(super) struct Straight<'a> {
    /// The line that its lanes lie on.
    pub line: &'a NoWrapStride,
    /// Along which lanes the addresses lie.
    pub along: Along,
}

/// Where the lanes of an access turned out to be.
pub(super) enum Whereabouts<'ctx> {
    /// On lines, of which these are the first lanes' addresses: one a line.
    OnLine(Vec<BasicValueEnum<'ctx>>),
    /// Anywhere: an index wraps.
    Wrapped(VectorValue<'ctx>),
}

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    /// Does what `emit_access` emits for addresses on a line if no lane wraps, and for any addresses if one does.
    pub(super) fn on_line_or_not(
        &self,
        pointer: Value,
        straight: Straight<'_>,
        emit_access: impl Fn(Whereabouts<'ctx>) -> Emitted<Vec<VectorValue<'ctx>>>,
    ) -> Emitted<Vec<VectorValue<'ctx>>> {
        let emitter = self.around.emitter;
        let none_wraps = self.none_wraps(straight)?;
        let two_blocks = [emitter.append_block("line"), emitter.append_block("wrapped")];
        let after_block = emitter.append_block("behind");
        let branch = emitter.builder.build_conditional_branch(none_wraps, two_blocks[0], two_blocks[1])?;
        self.expect_first(branch)?;
        let is_on_line = |operand: Value| match straight.along {
            Along::Gang => self.plan.accesses.lines[operand].is_some(),
            Along::Rows => self.plan.accesses.row_lines[operand].is_some(),
            Along::Columns => self.plan.accesses.column_lines[operand].is_some(),
        };
        let mut branch_ends = Vec::new();
        for (block, on_line) in two_blocks.into_iter().zip([true, false]) {
            emitter.position_at(block);
            // Computed here, so that what is needed for the one way is not for the other.
            let whereabouts = if on_line {
                let line_start = |line_index: u32| {
                    self.recompute(pointer, &is_on_line, &|operand| self.first_on(straight, operand, line_index))
                };
                Whereabouts::OnLine((0..self.lines_of(straight)).map(line_start).collect::<Emitted<_>>()?)
            } else {
                let element_address =
                    self.recompute(pointer, &is_on_line, &|operand| self.as_vector(operand).map(Into::into))?;
                Whereabouts::Wrapped(element_address.into_vector_value())
            };
            let values = emit_access(whereabouts)?;
            branch_ends.push((values, emitter.current_block()?));
            emitter.builder.build_unconditional_branch(after_block)?;
        }
        emitter.position_at(after_block);
        let [(on_line, line_end), (wrapped_elements, off_end)] = &branch_ends[..] else {
            return Err(CodegenError::Missing("pair of ways, on the line and off it"));
        };
        let merged_values = on_line.iter().zip(wrapped_elements).map(|(left, right)| {
            let phi_node = emitter.phi(left.get_type(), &[(left, *line_end), (right, *off_end)], "")?;
            Ok(phi_node.as_basic_value().into_vector_value())
        });
        merged_values.collect()
    }

    /// The lines there are: one, or one a row or column.
    fn lines_of(&self, straight: Straight<'_>) -> u32 {
        match straight.along {
            Along::Gang => 1,
            Along::Rows => self.around.row_count(),
            Along::Columns => self.row_length(),
        }
    }

    /// What the first lane of a line has.
    fn first_on(&self, straight: Straight<'_>, operand: Value, line_index: u32) -> Emitted<BasicValueEnum<'ctx>> {
        match straight.along {
            Along::Gang => self.lane_zero(operand),
            Along::Rows => self.in_run(operand, line_index),
            Along::Columns => self.read_lane(operand, self.around.emitter.const64(line_index.into())),
        }
    }

    /// Whether no lane's index wraps.
    fn none_wraps(&self, straight: Straight<'_>) -> Emitted<IntValue<'ctx>> {
        let builder = &self.around.emitter.builder;
        let (shapes, gang_width) = match straight.along {
            Along::Gang => (&self.plan.shapes, self.around.width()),
            Along::Rows => (&self.plan.runs, self.row_length()),
            Along::Columns => (&self.plan.columns, self.around.row_count()),
        };
        let mut all_hold = self.around.emitter.context.bool_type().const_int(1, false);
        for &extension in &straight.line.extensions {
            let (opcode, argument) = self.extension_operand(extension)?;
            let index_range = first_indices(self.body, shapes, extension, gang_width)
                .ok_or_else(|| CodegenError::Unexpected(format!("{extension} extends no index")))?;
            let (lower_comparison, upper_comparison) = match opcode {
                UnaryOp::Sext => (IntPredicate::SGE, IntPredicate::SLE),
                _ => (IntPredicate::UGE, IntPredicate::ULE),
            };
            for line in 0..self.lines_of(straight) {
                let mut index = self.first_on(straight, argument, line)?;
                if self.masked {
                    // A block may be run by no lane, and then nobody meant to compute the index.
                    index = self.freeze_value(index)?;
                }
                let index = index.into_int_value();
                let int_type = index.get_type();
                for (predicate, end) in
                    [(lower_comparison, *index_range.start()), (upper_comparison, *index_range.end())]
                {
                    // Where the end is that of the type, LLVM sees that it always holds.
                    let is_inside =
                        builder.build_int_compare(predicate, index, int_type.const_int(end as u64, true), "")?;
                    all_hold = builder.build_and(all_hold, is_inside, "")?;
                }
            }
        }
        Ok(all_hold)
    }

    fn extension_operand(&self, extension: Value) -> Emitted<(UnaryOp, Value)> {
        match self.computing_inst(extension) {
            Some(InstData::Unary { opcode, argument, .. }) => Ok((*opcode, *argument)),
            _ => Err(CodegenError::Unexpected(format!("{extension} is no extension"))),
        }
    }

    pub(super) fn computing_inst(&self, operand: Value) -> Option<&InstData> {
        match self.body.values[operand].definition {
            ValueDef::Result(instruction, _) => Some(&self.body.insts[instruction].data),
            _ => None,
        }
    }

    /// An address in one lane. What only makes addresses of numbers is computed for that lane, so that of the vectors
    /// only the numbers are needed, which often come from memory and can be read there one by one.
    pub(in crate::codegen::vector) fn lane_address(
        &self,
        pointer: Value,
        lane: IntValue<'ctx>,
    ) -> Emitted<PointerValue<'ctx>> {
        let lane_value_of = |operand| self.read_lane(operand, lane);
        Ok(self.recompute(pointer, &|operand| self.makes_addresses(operand), &lane_value_of)?.into_pointer_value())
    }

    /// Whether a value differs between lanes and is computed as addresses are: a sum, a wider integer or a multiple.
    pub(super) fn makes_addresses(&self, operand: Value) -> bool {
        if !matches!(self.held_value(operand), Ok(LaneValue::Vector(_))) {
            return false;
        }
        match self.computing_inst(operand) {
            Some(InstData::PtrAdd { .. } | InstData::Unary { opcode: UnaryOp::Zext | UnaryOp::Sext, .. }) => true,
            Some(InstData::Binary { opcode: BinaryOp::Mul | BinaryOp::Shl, arguments: [_, factor], .. }) => {
                self.body.const_bits(*factor).is_some()
            }
            _ => false,
        }
    }

    /// Computes a value again as far as `goes_further` says, for one lane or for all, from what `held_value` gives.
    pub(super) fn recompute(
        &self,
        operand: Value,
        goes_further: &dyn Fn(Value) -> bool,
        held_value: &dyn Fn(Value) -> Emitted<BasicValueEnum<'ctx>>,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let emitter = self.around.emitter;
        if !goes_further(operand) {
            return held_value(operand);
        }
        let compute_again = |argument| self.recompute(argument, goes_further, held_value);
        match *self.computing_inst(operand).ok_or(CodegenError::NotComputed(operand))? {
            InstData::Unary { opcode, argument, .. } => emitter.unary(
                opcode,
                FastMath::default(),
                self.type_of(argument),
                self.type_of(operand),
                compute_again(argument)?,
            ),
            InstData::Binary { opcode, arguments: [left, right], .. } => emitter.binary(
                opcode,
                IntFlags::default(),
                FastMath::default(),
                [compute_again(left)?, compute_again(right)?],
            ),
            InstData::PtrAdd { base, offset, .. } => match (compute_again(base)?, compute_again(offset)?) {
                (BasicValueEnum::PointerValue(base_address), BasicValueEnum::IntValue(offset)) => {
                    Ok(emitter.offset_address(base_address, offset, false)?.into())
                }
                (base_value, offset) => emitter.offset_addresses(base_value, offset, false),
            },
            _ => Err(CodegenError::Unexpected(format!("{operand} is no part of an address"))),
        }
    }

    fn expect_first(&self, branch: inkwell::values::InstructionValue<'ctx>) -> Emitted<()> {
        let context = self.around.emitter.context;
        let weight_node = |weight_value: u64| context.i32_type().const_int(weight_value, false).into();
        let weights = context.metadata_node(&[
            context.metadata_string("branch_weights").into(),
            weight_node(OFTEN),
            weight_node(1),
        ]);
        Ok(branch.set_metadata(weights, context.get_kind_id("prof"))?)
    }
}
