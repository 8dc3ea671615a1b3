//! Collective operations: what happens to the values of a group between two regions.
//!
//! Kept values lie side by side in the order of the work-items' numbers, so they are taken as rows of a vector's width,
//! and one by one at the end. A reduction leaves one scalar, which the region's code has before its loops begin. A scan
//! puts its answers where the values were.

use super::alias::Part;
use super::emit::{Emitted, Emitter, vector_of};
use super::frame::Frame;
use super::work_item::Group;
use crate::codegen::error::CodegenError;
use inkwell::IntPredicate;
use inkwell::values::{BasicValue, BasicValueEnum, InstructionValue, IntValue, PointerValue, VectorValue};
use lockstep_ir::analysis::underlying_objects::Origin;
use lockstep_ir::ir::{BinaryOp, Collect, Combine, FastMath, IntFlags, Kernel, Region};
use lockstep_protocol::types::Type;

/// Bytes of the rows that are taken at once: the widest registers there are. Others take a few.
const ROW_BYTES: u32 = 64;

/// Emits what a region begins with; the answer is what a reduction gave.
pub fn emit_combine<'ctx>(
    emitter: &Emitter<'ctx, '_>,
    frame: &Frame<'ctx>,
    kernel: &Kernel,
    work_group: &Group<'ctx>,
    region: Region,
) -> Emitted<Option<BasicValueEnum<'ctx>>> {
    let Some(Combine { collective, opcode, live_slot }) = kernel.combines[region] else {
        return Ok(None);
    };
    let scalar_type = kernel.live[live_slot].ty;
    let [size_x, size_y, size_z] = work_group.size;
    let item_count = emitter.mul(emitter.mul(size_x, size_y)?, size_z)?;
    let row_width = (ROW_BYTES / scalar_type.bytes()).max(1);
    let values_start = frame.live_address(emitter, live_slot, scalar_type, emitter.const64(0))?;
    let values = Values { emitter, opcode, ty: scalar_type, start: values_start, width: row_width };
    let result = values.emit_loops(collective, item_count)?;
    Ok((collective == Collect::Reduce).then_some(result))
}

/// The values of a group.
struct Values<'a, 'ctx, 'm> {
    emitter: &'a Emitter<'ctx, 'm>,
    opcode: BinaryOp,
    ty: Type,
    start: PointerValue<'ctx>,
    /// Values of a row.
    width: u32,
}

impl<'ctx> Values<'_, 'ctx, '_> {
    /// Emits the loops over rows and over what is left; the answer is what all values are together.
    fn emit_loops(&self, collective: Collect, item_count: IntValue<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        let Values { emitter, opcode, ty, width, .. } = *self;
        let builder = &emitter.builder;
        let identity = opcode.identity(ty).ok_or(CodegenError::NoNeutralOperand { op: opcode.name(), ty })?;
        let identity = emitter.constant(ty, identity);
        let identities = emitter.splat(identity, width)?;
        let [zero, one_constant, row_step] = [0, 1, width.into()].map(|number| emitter.const64(number));
        let full_rows = builder.build_and(item_count, emitter.const64(u64::from(width).wrapping_neg()), "")?;

        // Rows: a reduction carries what each column is together, a scan what all values so far are.
        let before_block = emitter.current_block()?;
        let [row_block, after_rows, rest_block, item_block, done_block] =
            ["rows", "columns", "left", "value", "combined"].map(|name| emitter.append_block(name));
        let any_lane = builder.build_int_compare(IntPredicate::NE, full_rows, zero, "")?;
        builder.build_conditional_branch(any_lane, row_block, after_rows)?;
        emitter.position_at(row_block);
        let row_index = emitter.phi(emitter.i64_type(), &[(&zero, before_block)], "")?;
        let index = row_index.as_basic_value().into_int_value();
        let row_sums = emitter.phi(identities.get_type(), &[(&identities, before_block)], "")?;
        let sum_so_far = row_sums.as_basic_value();
        let row = self.load_at(index, vector_of(emitter.value_type(ty), width).into())?;
        let next_sum = match collective {
            Collect::Reduce => self.combine_two(sum_so_far, row)?,
            Collect::Inclusive | Collect::Exclusive => {
                let own_values = self.scan_row(row.into_vector_value(), identities)?;
                let row_sums = self.combine_two(sum_so_far, own_values.into())?.into_vector_value();
                let scanned = match collective {
                    Collect::Exclusive => self.shift_row(row_sums, sum_so_far.into_vector_value(), 1)?,
                    _ => row_sums,
                };
                self.store_at(scanned.into(), index)?;
                emitter.shuffle_vectors(row_sums, row_sums, &vec![Some(width - 1); width as usize])?.into()
            }
        };
        let following = emitter.add(index, row_step)?;
        row_index.add_incoming(&[(&following, row_block)]);
        row_sums.add_incoming(&[(&next_sum, row_block)]);
        let has_more = builder.build_int_compare(IntPredicate::NE, following, full_rows, "")?;
        builder.build_conditional_branch(has_more, row_block, after_rows)?;

        emitter.position_at(after_rows);
        let row_sums =
            emitter.phi(identities.get_type(), &[(&identities, before_block), (&next_sum, row_block)], "")?;
        let row_sums = row_sums.as_basic_value().into_vector_value();
        let first_sum = match collective {
            Collect::Reduce => self.combine_row(row_sums)?,
            Collect::Inclusive | Collect::Exclusive => builder.build_extract_element(row_sums, zero, "")?,
        };
        builder.build_unconditional_branch(rest_block)?;

        emitter.position_at(rest_block);
        let row_index = emitter.phi(emitter.i64_type(), &[(&full_rows, after_rows)], "")?;
        let index = row_index.as_basic_value().into_int_value();
        let item_sum = emitter.phi(emitter.value_type(ty), &[(&first_sum, after_rows)], "")?;
        let sum_so_far = item_sum.as_basic_value();
        let has_more = builder.build_int_compare(IntPredicate::NE, index, item_count, "")?;
        builder.build_conditional_branch(has_more, item_block, done_block)?;
        emitter.position_at(item_block);
        let next_sum = self.combine_two(sum_so_far, self.load_at(index, emitter.value_type(ty))?)?;
        match collective {
            Collect::Reduce => {}
            Collect::Inclusive => self.store_at(next_sum, index)?,
            Collect::Exclusive => self.store_at(sum_so_far, index)?,
        }
        let following = emitter.add(index, one_constant)?;
        row_index.add_incoming(&[(&following, item_block)]);
        item_sum.add_incoming(&[(&next_sum, item_block)]);
        builder.build_unconditional_branch(rest_block)?;
        emitter.position_at(done_block);
        Ok(sum_so_far)
    }

    fn combine_two(&self, left: BasicValueEnum<'ctx>, right: BasicValueEnum<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        self.emitter.binary(self.opcode, IntFlags::default(), FastMath(0), [left, right])
    }

    /// What a row's values are together.
    fn combine_row(&self, mut row: VectorValue<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        let mut half_width = self.width / 2;
        while half_width > 0 {
            let source_lane = |lane: u32| Some((lane + half_width) % self.width);
            let shuffled_row =
                self.emitter.shuffle_vectors(row, row, &(0..self.width).map(source_lane).collect::<Vec<_>>())?;
            row = self.combine_two(row.into(), shuffled_row.into())?.into_vector_value();
            half_width /= 2;
        }
        Ok(self.emitter.builder.build_extract_element(row, self.emitter.const64(0), "")?)
    }

    /// For each value of a row, what those up to it are together.
    fn scan_row(&self, mut row: VectorValue<'ctx>, identities: VectorValue<'ctx>) -> Emitted<VectorValue<'ctx>> {
        let mut distance = 1;
        while distance < self.width {
            let before = self.shift_row(row, identities, distance)?;
            row = self.combine_two(before.into(), row.into())?.into_vector_value();
            distance *= 2;
        }
        Ok(row)
    }

    /// A row moved up by some places, with values of another one in the lowest.
    fn shift_row(
        &self,
        row: VectorValue<'ctx>,
        shifted_in: VectorValue<'ctx>,
        distance: u32,
    ) -> Emitted<VectorValue<'ctx>> {
        let source_lane = |lane: u32| Some(lane.checked_sub(distance).map_or(lane, |from| self.width + from));
        self.emitter.shuffle_vectors(shifted_in, row, &(0..self.width).map(source_lane).collect::<Vec<_>>())
    }

    fn element_address(&self, index: IntValue<'ctx>) -> Emitted<PointerValue<'ctx>> {
        let position = self.emitter.mul(index, self.emitter.const64(self.ty.bytes().into()))?;
        self.emitter.offset_address(self.start, position, true)
    }

    fn load_at(
        &self,
        index: IntValue<'ctx>,
        llvm_type: inkwell::types::BasicTypeEnum<'ctx>,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let loaded = self.emitter.builder.build_load(llvm_type, self.element_address(index)?, "")?;
        self.mark_access(loaded.as_instruction_value().ok_or(CodegenError::Missing("instruction of a load"))?)?;
        Ok(loaded)
    }

    fn store_at(&self, value: BasicValueEnum<'ctx>, index: IntValue<'ctx>) -> Emitted<()> {
        self.mark_access(self.emitter.builder.build_store(self.element_address(index)?, value)?)
    }

    fn mark_access(&self, access: InstructionValue<'ctx>) -> Emitted<()> {
        access.set_alignment(self.ty.bytes())?;
        self.emitter.scopes.come_from(Origin::Unknown);
        self.emitter.scopes.mark_parts(access, &[Part::Kept]);
        Ok(())
    }
}
