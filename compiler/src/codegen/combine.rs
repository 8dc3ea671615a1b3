//! Collective operations: what happens to the values of a group between two regions.
//!
//! Kept values lie side by side in the order of the work-items' numbers, so they are taken as rows of a vector's width,
//! and one by one at the end. A reduction leaves one scalar, which the region's code has before its loops begin. A scan
//! puts its answers where the values were.

use super::alias::Part;
use super::emit::{Emit, Emitted, vector_of};
use super::frame::Frame;
use super::groups::Group;
use crate::codegen::error::CodegenError;
use inkwell::IntPredicate;
use inkwell::values::{BasicValue, BasicValueEnum, InstructionValue, IntValue, PointerValue, VectorValue};
use lockstep_ir::analysis::origins::Origin;
use lockstep_ir::ir::{BinaryOp, Collect, Combine, FastMath, IntFlags, Kernel, Region};
use lockstep_protocol::types::Type;

/// Bytes of the rows that are taken at once: the widest registers there are. Others take a few.
const ROW_BYTES: u32 = 64;

/// Emits what a region begins with; the answer is what a reduction gave.
pub fn combine<'ctx>(
    emit: &Emit<'ctx, '_>,
    frame: &Frame<'ctx>,
    kernel: &Kernel,
    group: &Group<'ctx>,
    region: Region,
) -> Emitted<Option<BasicValueEnum<'ctx>>> {
    let Some(Combine { how, op, live }) = kernel.combines[region] else { return Ok(None) };
    let ty = kernel.live[live].ty;
    let [x, y, z] = group.size;
    let count = emit.mul(emit.mul(x, y)?, z)?;
    let width = (ROW_BYTES / ty.bytes()).max(1);
    let start = frame.live(emit, live, ty, emit.const64(0))?;
    let values = Values { emit, op, ty, start, width };
    let result = values.run(how, count)?;
    Ok((how == Collect::Reduce).then_some(result))
}

/// The values of a group.
struct Values<'a, 'ctx, 'm> {
    emit: &'a Emit<'ctx, 'm>,
    op: BinaryOp,
    ty: Type,
    start: PointerValue<'ctx>,
    /// Values of a row.
    width: u32,
}

impl<'ctx> Values<'_, 'ctx, '_> {
    /// Emits the loops over rows and over what is left; the answer is what all values are together.
    fn run(&self, how: Collect, count: IntValue<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        let Values { emit, op, ty, width, .. } = *self;
        let b = &emit.builder;
        let identity = op.identity(ty).ok_or(CodegenError::NoNeutralOperand { op: op.name(), ty })?;
        let identity = emit.constant(ty, identity);
        let identities = emit.splat(identity, width)?;
        let [zero, one, step] = [0, 1, width.into()].map(|n| emit.const64(n));
        let full = b.build_and(count, emit.const64(u64::from(width).wrapping_neg()), "")?;

        // Rows: a reduction carries what each column is together, a scan what all values so far are.
        let before = emit.here()?;
        let [rows, columns, left, item, done] =
            ["rows", "columns", "left", "value", "combined"].map(|name| emit.block(name));
        let any = b.build_int_compare(IntPredicate::NE, full, zero, "")?;
        b.build_conditional_branch(any, rows, columns)?;
        emit.at(rows);
        let place = emit.phi(emit.i64(), &[(&zero, before)], "")?;
        let at = place.as_basic_value().into_int_value();
        let sums = emit.phi(identities.get_type(), &[(&identities, before)], "")?;
        let so_far = sums.as_basic_value();
        let row = self.load(at, vector_of(emit.ty(ty), width).into())?;
        let next = match how {
            Collect::Reduce => self.both(so_far, row)?,
            Collect::Inclusive | Collect::Exclusive => {
                let own = self.prefixes(row.into_vector_value(), identities)?;
                let sums = self.both(so_far, own.into())?.into_vector_value();
                let answer = match how {
                    Collect::Exclusive => self.moved(sums, so_far.into_vector_value(), 1)?,
                    _ => sums,
                };
                self.store(answer.into(), at)?;
                emit.shuffle(sums, sums, &vec![Some(width - 1); width as usize])?.into()
            }
        };
        let following = emit.add(at, step)?;
        place.add_incoming(&[(&following, rows)]);
        sums.add_incoming(&[(&next, rows)]);
        let more = b.build_int_compare(IntPredicate::NE, following, full, "")?;
        b.build_conditional_branch(more, rows, columns)?;

        emit.at(columns);
        let sums = emit.phi(identities.get_type(), &[(&identities, before), (&next, rows)], "")?;
        let sums = sums.as_basic_value().into_vector_value();
        let first = match how {
            Collect::Reduce => self.columns(sums)?,
            Collect::Inclusive | Collect::Exclusive => b.build_extract_element(sums, zero, "")?,
        };
        b.build_unconditional_branch(left)?;

        emit.at(left);
        let place = emit.phi(emit.i64(), &[(&full, columns)], "")?;
        let at = place.as_basic_value().into_int_value();
        let sum = emit.phi(emit.ty(ty), &[(&first, columns)], "")?;
        let so_far = sum.as_basic_value();
        let more = b.build_int_compare(IntPredicate::NE, at, count, "")?;
        b.build_conditional_branch(more, item, done)?;
        emit.at(item);
        let next = self.both(so_far, self.load(at, emit.ty(ty))?)?;
        match how {
            Collect::Reduce => {}
            Collect::Inclusive => self.store(next, at)?,
            Collect::Exclusive => self.store(so_far, at)?,
        }
        let following = emit.add(at, one)?;
        place.add_incoming(&[(&following, item)]);
        sum.add_incoming(&[(&next, item)]);
        b.build_unconditional_branch(left)?;
        emit.at(done);
        Ok(so_far)
    }

    fn both(&self, a: BasicValueEnum<'ctx>, b: BasicValueEnum<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        self.emit.binary(self.op, IntFlags::default(), FastMath(0), [a, b])
    }

    /// What a row's values are together.
    fn columns(&self, mut row: VectorValue<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        let mut half = self.width / 2;
        while half > 0 {
            let place = |lane: u32| Some((lane + half) % self.width);
            let other = self.emit.shuffle(row, row, &(0..self.width).map(place).collect::<Vec<_>>())?;
            row = self.both(row.into(), other.into())?.into_vector_value();
            half /= 2;
        }
        Ok(self.emit.builder.build_extract_element(row, self.emit.const64(0), "")?)
    }

    /// For each value of a row, what those up to it are together.
    fn prefixes(&self, mut row: VectorValue<'ctx>, identities: VectorValue<'ctx>) -> Emitted<VectorValue<'ctx>> {
        let mut by = 1;
        while by < self.width {
            let before = self.moved(row, identities, by)?;
            row = self.both(before.into(), row.into())?.into_vector_value();
            by *= 2;
        }
        Ok(row)
    }

    /// A row moved up by some places, with values of another one in the lowest.
    fn moved(&self, row: VectorValue<'ctx>, low: VectorValue<'ctx>, by: u32) -> Emitted<VectorValue<'ctx>> {
        let place = |lane: u32| Some(lane.checked_sub(by).map_or(lane, |from| self.width + from));
        self.emit.shuffle(low, row, &(0..self.width).map(place).collect::<Vec<_>>())
    }

    fn address(&self, at: IntValue<'ctx>) -> Emitted<PointerValue<'ctx>> {
        let place = self.emit.mul(at, self.emit.const64(self.ty.bytes().into()))?;
        self.emit.offset(self.start, place, true)
    }

    fn load(&self, at: IntValue<'ctx>, ty: inkwell::types::BasicTypeEnum<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        let loaded = self.emit.builder.build_load(ty, self.address(at)?, "")?;
        self.mark(loaded.as_instruction_value().ok_or(CodegenError::Missing("instruction of a load"))?)?;
        Ok(loaded)
    }

    fn store(&self, value: BasicValueEnum<'ctx>, at: IntValue<'ctx>) -> Emitted<()> {
        self.mark(self.emit.builder.build_store(self.address(at)?, value)?)
    }

    fn mark(&self, access: InstructionValue<'ctx>) -> Emitted<()> {
        access.set_alignment(self.ty.bytes())?;
        self.emit.scopes.come_from(Origin::Unknown);
        self.emit.scopes.mark(access, &[Part::Kept]);
        Ok(())
    }
}
