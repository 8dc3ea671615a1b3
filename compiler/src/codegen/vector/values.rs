//! Values of a gang: scalars that stand for all lanes, vectors, and the ways between them.

use super::VectorEmitter;
use super::lane_value::LaneValue;
use crate::codegen::emit::{Emitted, Emitter, vector_of};
use crate::codegen::error::CodegenError;
use inkwell::types::VectorType;
use inkwell::values::{AsValueRef, BasicValueEnum, IntValue, PointerValue, VectorValue};
use lockstep_ir::ir::{FastMath, UnaryOp, Value, ValueDef};
use lockstep_protocol::types::Type;

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    pub(super) fn held_value(&self, value: Value) -> Emitted<LaneValue<'ctx>> {
        let value_data = self.body.values[value];
        match value_data.definition {
            ValueDef::Const(bits) => Ok(LaneValue::Affine(self.around.emitter.constant(value_data.ty, bits), 0)),
            _ => self.values[value].clone().ok_or(CodegenError::NotComputed(value)),
        }
    }

    /// A value in lane 0.
    pub(super) fn lane_zero(&self, value: Value) -> Emitted<BasicValueEnum<'ctx>> {
        match self.held_value(value)? {
            LaneValue::Affine(base, _) => Ok(base),
            LaneValue::Runs(bases, _) => Ok(bases[0]),
            LaneValue::Vector(vector) => {
                Ok(self.around.emitter.builder.build_extract_element(vector, self.around.emitter.const64(0), "")?)
            }
        }
    }

    /// A value as a vector.
    pub(super) fn as_vector(&self, value: Value) -> Emitted<VectorValue<'ctx>> {
        self.materialize(&self.held_value(value)?)
    }

    pub(super) fn materialize(&self, lane_value: &LaneValue<'ctx>) -> Emitted<VectorValue<'ctx>> {
        match *lane_value {
            LaneValue::Affine(base, stride) => self.around.emitter.materialize_affine(base, stride, self.wide.get()),
            LaneValue::Runs(ref bases, stride) => self.spread_runs(bases, stride),
            LaneValue::Vector(vector) => Ok(vector),
        }
    }

    /// A value in one lane, of which the number is known at run time (an i64).
    pub(super) fn read_lane(&self, value: Value, lane: IntValue<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        let emitter = self.around.emitter;
        match self.held_value(value)? {
            LaneValue::Affine(base, 0) => Ok(base),
            LaneValue::Affine(base, stride) => {
                emitter.add_bytes(base, emitter.builder.build_int_mul(lane, emitter.const64(stride as u64), "")?)
            }
            lane_value @ LaneValue::Runs(..) => match lane.get_zero_extended_constant() {
                Some(lane) => {
                    let row = u64::from(self.around.width() / self.around.row_count());
                    let base = self.in_run(value, (lane / row) as u32)?;
                    let LaneValue::Runs(_, stride) = lane_value else { return Ok(base) };
                    emitter.add_bytes(base, emitter.const64((lane % row).wrapping_mul(stride as u64)))
                }
                None => Ok(emitter.builder.build_extract_element(self.materialize(&lane_value)?, lane, "")?),
            },
            LaneValue::Vector(vector) => Ok(emitter.builder.build_extract_element(vector, lane, "")?),
        }
    }

    /// Lane 0's value, given that of another lane of a value that is affine.
    pub(super) fn base_of(
        &self,
        value: BasicValueEnum<'ctx>,
        lane: IntValue<'ctx>,
        stride: i64,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let emitter = self.around.emitter;
        let back = emitter.const64(stride.wrapping_neg() as u64);
        if stride == 0 { Ok(value) } else { emitter.add_bytes(value, emitter.builder.build_int_mul(lane, back, "")?) }
    }

    /// The value, or any one where it is poison.
    pub(super) fn freeze_value(&self, value: BasicValueEnum<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        use inkwell::values::BasicValue;
        if value.is_const() {
            return Ok(value);
        }
        // The types do not matter to it.
        self.around.emitter.unary(UnaryOp::Freeze, FastMath(0), Type::BOOL, Type::BOOL, value)
    }

    /// The vector type of a gang's values of a type.
    pub(super) fn vector_ty(&self, ty: Type) -> VectorType<'ctx> {
        vector_of(self.around.emitter.value_type(ty), self.wide.get())
    }
}

impl<'ctx> Emitter<'ctx, '_> {
    /// The same in `width` lanes.
    pub(in crate::codegen) fn splat(&self, value: BasicValueEnum<'ctx>, width: u32) -> Emitted<VectorValue<'ctx>> {
        use inkwell::values::BasicValue;
        if value.is_const() {
            return Ok(VectorType::const_vector(&vec![value; width as usize]));
        }
        let poison = vector_of(value.get_type(), width).get_poison();
        let one = self.builder.build_insert_element(poison, value, self.const64(0), "")?;
        self.shuffle_vectors(one, poison, &vec![Some(0); width as usize])
    }

    /// `base + i * stride` in lane `i`.
    pub(super) fn materialize_affine(
        &self,
        base: BasicValueEnum<'ctx>,
        stride: i64,
        width: u32,
    ) -> Emitted<VectorValue<'ctx>> {
        if stride == 0 {
            return self.splat(base, width);
        }
        let steps = |ty: inkwell::types::IntType<'ctx>| {
            let step = |lane: u32| ty.const_int(stride.wrapping_mul(lane.into()) as u64, true);
            VectorType::const_vector(&(0..width).map(step).collect::<Vec<_>>())
        };
        match base {
            BasicValueEnum::PointerValue(base) => {
                Ok(self.offset_addresses(base.into(), steps(self.i64_type()).into(), false)?.into_vector_value())
            }
            base => {
                let steps = steps(base.get_type().into_int_type());
                Ok(self.builder.build_int_add(self.splat(base, width)?, steps, "")?)
            }
        }
    }

    /// An integer or address plus an i64, in the arithmetic of its type.
    pub(super) fn add_bytes(&self, base: BasicValueEnum<'ctx>, by: IntValue<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        match base {
            BasicValueEnum::PointerValue(base) => Ok(self.offset_address(base, by, false)?.into()),
            base => {
                let base = base.into_int_value();
                let by = self.builder.build_int_cast(by, base.get_type(), "")?;
                Ok(self.builder.build_int_add(base, by, "")?.into())
            }
        }
    }

    /// Addresses plus bytes, where at least one of both is a vector.
    pub(super) fn offset_addresses(
        &self,
        base: BasicValueEnum<'ctx>,
        offset: BasicValueEnum<'ctx>,
        inbounds: bool,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        use inkwell::types::AsTypeRef;
        use llvm_sys::core::{LLVMBuildGEP2, LLVMBuildInBoundsGEP2};
        let build = if inbounds { LLVMBuildInBoundsGEP2 } else { LLVMBuildGEP2 };
        let byte = self.context.i8_type().as_type_ref();
        let mut index = [offset.as_value_ref()];
        // SAFETY: the builder has a position; base and offset are addresses and i64s, scalars or vectors of
        // one length, and so is the result.
        Ok(unsafe {
            BasicValueEnum::new(build(
                self.builder.as_mut_ptr(),
                byte,
                base.as_value_ref(),
                index.as_mut_ptr(),
                1,
                c"".as_ptr(),
            ))
        })
    }

    /// Elements of two vectors by their place in both together; any value where there is none.
    pub(in crate::codegen) fn shuffle_vectors(
        &self,
        left: VectorValue<'ctx>,
        right: VectorValue<'ctx>,
        places: &[Option<u32>],
    ) -> Emitted<VectorValue<'ctx>> {
        let i32 = self.context.i32_type();
        let place = |place: &Option<u32>| place.map_or(i32.get_poison(), |place| i32.const_int(place.into(), false));
        let places: Vec<IntValue> = places.iter().map(place).collect();
        Ok(self.builder.build_shuffle_vector(left, right, VectorType::const_vector(&places), "")?)
    }

    /// Vectors one behind the other, cut to `count` lanes.
    pub(in crate::codegen) fn concat_vectors(
        &self,
        parts: &[VectorValue<'ctx>],
        count: u32,
    ) -> Emitted<VectorValue<'ctx>> {
        let Some((&first, rest)) = parts.split_first() else { return Err(CodegenError::Missing("vector to join")) };
        let lanes = first.get_type().get_size();
        if parts.len().is_power_of_two() && lanes * parts.len() as u32 == count {
            let (mut parts, mut all) = (parts.to_vec(), (0..lanes).map(Some).collect::<Vec<_>>());
            while parts.len() > 1 {
                all.extend((all.len() as u32..2 * all.len() as u32).map(Some));
                parts =
                    parts.chunks(2).map(|pair| self.shuffle_vectors(pair[0], pair[1], &all)).collect::<Emitted<_>>()?;
            }
            return Ok(parts[0]);
        }
        // Both operands of a shuffle have one length.
        let placed = |part: VectorValue<'ctx>, position: u32| {
            let own = |place: u32| place.checked_sub(position).filter(|&lane| lane < part.get_type().get_size());
            self.shuffle_vectors(part, part, &(0..count).map(own).collect::<Vec<_>>())
        };
        let mut done = first.get_type().get_size();
        let mut whole = if done == count { first } else { placed(first, 0)? };
        for &part in rest {
            let place = |place: u32| Some(if place < done { place } else { count + place });
            whole = self.shuffle_vectors(whole, placed(part, done)?, &(0..count).map(place).collect::<Vec<_>>())?;
            done += part.get_type().get_size();
        }
        Ok(whole)
    }

    /// An address plus a constant.
    pub(super) fn offset_constant(&self, base: PointerValue<'ctx>, bytes: i64) -> Emitted<PointerValue<'ctx>> {
        if bytes == 0 { Ok(base) } else { self.offset_address(base, self.const64(bytes as u64), false) }
    }
}
