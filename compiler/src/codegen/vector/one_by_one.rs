//! Accesses of all lanes, wherever, for which the machine has no instruction.
//!
//! LLVM takes a 64-bit address of each lane from a vector. Mostly these are one address and, lane by lane, an offset that
//! fits 32 bits: of those a register holds twice as many, two leave it together, and the machine adds the address to them.

use super::GangCode;
use crate::codegen::emit::Emitted;
use crate::codegen::error::CodegenError;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValueEnum, InstructionOpcode, IntValue, PointerValue, VectorValue};
use lockstep_ir::ir::{BinaryOp, InstData, UnaryOp, Value, ValueDef};
use lockstep_protocol::types::{Space, Type};

/// The widest element that an address mode multiplies an offset with, in bytes, as the power of two.
const MOST_SHIFT: u128 = 3;

/// Where the lanes' elements are.
pub(super) struct Near<'ctx> {
    base: PointerValue<'ctx>,
    /// From there, 32 bits for each lane, in `1 << shift` bytes.
    offsets: VectorValue<'ctx>,
    signed: bool,
    shift: u32,
}

/// An address as the sum of what is the same for all lanes and what is not.
struct Sum {
    base: Value,
    uniform: Vec<Value>,
    varying: Vec<Value>,
    /// Whether what is not the same leads from one place of an object to another one of it.
    inbounds: bool,
}

impl<'ctx> GangCode<'_, 'ctx, '_> {
    /// The lanes' addresses, `offset` bytes on, if they are known to be near a common one.
    pub(super) fn near(&self, ptr: Value, offset: i64) -> Emitted<Option<Near<'ctx>>> {
        if self.wide.get() < 2 {
            return Ok(None);
        }
        let Some(sum) = self.sum(ptr) else { return Ok(None) };
        let (narrow, signed, shift) = match *sum.varying {
            [one] if self.narrow_offset(one).is_some() => match self.narrow_offset(one) {
                Some((narrow, signed, shift)) => (self.vector(narrow)?, signed, shift),
                None => return Ok(None),
            },
            // Objects of local memory are small, and their places no farther from each other.
            _ if sum.inbounds && self.space(ptr) == Space::Local => (self.sum_of(&sum.varying)?, true, 0),
            _ => return Ok(None),
        };
        let emit = self.around.emit;
        let mut base = self.first(sum.base)?.into_pointer_value();
        for uniform in sum.uniform {
            base = emit.offset(base, self.first(uniform)?.into_int_value(), false)?;
        }
        Ok(Some(Near { base: emit.away(base, offset)?, offsets: narrow, signed, shift }))
    }

    /// An address taken apart; none if not all lanes' have a base in common.
    fn sum(&self, ptr: Value) -> Option<Sum> {
        let mut sum = Sum { base: ptr, uniform: Vec::new(), varying: Vec::new(), inbounds: true };
        while !self.is_uniform(sum.base) {
            let InstData::PtrAdd { base, offset, inbounds } = *self.definition(sum.base)? else { return None };
            match self.is_uniform(offset) {
                true => sum.uniform.push(offset),
                false => {
                    sum.varying.push(offset);
                    sum.inbounds &= inbounds;
                }
            }
            sum.base = base;
        }
        Some(sum)
    }

    /// The 32 bits that are all there is to an offset, whether they are a signed number, and how far they are shifted.
    fn narrow_offset(&self, offset: Value) -> Option<(Value, bool, u32)> {
        match *self.definition(offset)? {
            InstData::Unary { op: op @ (UnaryOp::Sext | UnaryOp::Zext), arg, .. } if self.ty(arg) == Type::I32 => {
                Some((arg, op == UnaryOp::Sext, 0))
            }
            InstData::Binary { op: BinaryOp::Shl, args: [offset, by], .. } => {
                let by = self.body.const_bits(by).filter(|&by| by <= MOST_SHIFT)?;
                let (narrow, signed, shift) = self.narrow_offset(offset).filter(|&(.., shift)| shift == 0)?;
                Some((narrow, signed, shift + by as u32))
            }
            _ => None,
        }
    }

    pub(super) fn definition(&self, value: Value) -> Option<&InstData> {
        match self.body.values[value].def {
            ValueDef::Result(inst, _) => Some(&self.body.insts[inst].data),
            _ => None,
        }
    }

    /// The lowest 32 bits of the lanes' sums.
    fn sum_of(&self, parts: &[Value]) -> Emitted<VectorValue<'ctx>> {
        let builder = &self.around.emit.builder;
        let to = self.vector_ty(Type::I32);
        let mut sum: Option<VectorValue<'ctx>> = None;
        for &part in parts {
            let part = builder.build_cast(InstructionOpcode::Trunc, self.vector(part)?, to, "")?.into_vector_value();
            sum = Some(match sum {
                Some(sum) => builder.build_int_add(sum, part, "")?,
                None => part,
            });
        }
        sum.ok_or(CodegenError::Missing("lane to load for"))
    }

    /// Calls `access` with the address of each lane's element, lane by lane.
    pub(super) fn each_near(
        &self,
        near: &Near<'ctx>,
        mut access: impl FnMut(u32, PointerValue<'ctx>) -> Emitted<()>,
    ) -> Emitted<()> {
        let emit = self.around.emit;
        let (i32, i64) = (emit.ctx.i32_type(), emit.i64());
        let width = self.wide.get();
        let pairs = emit.builder.build_bit_cast(near.offsets, i64.vec_type(width / 2), "")?.into_vector_value();
        let half = i64.const_int(32, false);
        for pair in 0..width / 2 {
            let both = emit.builder.build_extract_element(pairs, emit.const64(pair.into()), "")?.into_int_value();
            let low = emit.builder.build_int_truncate(both, i32, "")?;
            let low = match near.signed {
                true => emit.builder.build_int_s_extend(low, i64, "")?,
                false => emit.builder.build_int_z_extend(low, i64, "")?,
            };
            let high = emit.builder.build_right_shift(both, half, near.signed, "")?;
            access(2 * pair, self.place_near(near, low)?)?;
            access(2 * pair + 1, self.place_near(near, high)?)?;
        }
        Ok(())
    }

    fn place_near(&self, near: &Near<'ctx>, offset: IntValue<'ctx>) -> Emitted<PointerValue<'ctx>> {
        let emit = self.around.emit;
        let element: BasicTypeEnum<'ctx> = emit.ty(Type::Int(8 << near.shift));
        // SAFETY: a number has no inner indices, and nothing is promised of where the place is.
        unsafe { Ok(emit.builder.build_gep(element, near.base, &[offset], "")?) }
    }

    /// The elements of a type, as memory has it, that lie there.
    pub(super) fn load_near(
        &self,
        near: &Near<'ctx>,
        ty: Type,
        mut load: impl FnMut(PointerValue<'ctx>) -> Emitted<BasicValueEnum<'ctx>>,
    ) -> Emitted<VectorValue<'ctx>> {
        let emit = self.around.emit;
        let mut all = self.memory_vector(ty, self.wide.get()).get_poison();
        self.each_near(near, |lane, place| {
            all = emit.builder.build_insert_element(all, load(place)?, emit.const64(lane.into()), "")?;
            Ok(())
        })?;
        Ok(all)
    }
}
