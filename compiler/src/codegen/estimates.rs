//! Estimates of reciprocals and reciprocal square roots: the machine's, of a scalar or of vectors register by register, and
//! of doubles, for which only AVX-512 has some, by their exponents.

use super::emit::{Emitted, Emitter};
use inkwell::types::VectorType;
use inkwell::values::{BasicValueEnum, VectorValue};
use lockstep_ir::ir::{BinaryOp, FastMath, IntCc, IntFlags, TernaryOp};
use lockstep_protocol::types::Type;

/// What is estimated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Estimate {
    /// One over a float.
    Recip,
    /// One over its square root.
    Rsqrt,
    /// One over the square root of a double.
    RsqrtOfDouble,
}

impl Estimate {
    /// The instruction for so many lanes: AVX-512's, which have 14 bits and take all floats, or those of SSE and AVX, which
    /// have 11.4 bits and take denormal numbers for zeros.
    fn intrinsic_name(self, lane_count: u32, of_all_floats: bool) -> &'static str {
        match (self, lane_count, of_all_floats) {
            (Estimate::Recip, 16, _) => "llvm.x86.avx512.rcp14.ps.512",
            (Estimate::Recip, 8, true) => "llvm.x86.avx512.rcp14.ps.256",
            (Estimate::Recip, 8, false) => "llvm.x86.avx.rcp.ps.256",
            (Estimate::Recip, _, true) => "llvm.x86.avx512.rcp14.ps.128",
            (Estimate::Recip, _, false) => "llvm.x86.sse.rcp.ps",
            (Estimate::Rsqrt, 16, _) => "llvm.x86.avx512.rsqrt14.ps.512",
            (Estimate::Rsqrt, 8, true) => "llvm.x86.avx512.rsqrt14.ps.256",
            (Estimate::Rsqrt, 8, false) => "llvm.x86.avx.rsqrt.ps.256",
            (Estimate::Rsqrt, _, true) => "llvm.x86.avx512.rsqrt14.ps.128",
            (Estimate::Rsqrt, _, false) => "llvm.x86.sse.rsqrt.ps",
            (Estimate::RsqrtOfDouble, 8, _) => "llvm.x86.avx512.rsqrt14.pd.512",
            (Estimate::RsqrtOfDouble, 4, _) => "llvm.x86.avx512.rsqrt14.pd.256",
            (Estimate::RsqrtOfDouble, _, _) => "llvm.x86.avx512.rsqrt14.pd.128",
        }
    }
}

impl<'ctx> Emitter<'ctx, '_> {
    /// The best estimates that the machine has. A constant's reciprocal is a constant as well, and exact.
    pub fn estimate(&self, estimate: Estimate, operand: BasicValueEnum<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        match (estimate, operand) {
            (Estimate::RsqrtOfDouble, operand) if !self.target.estimates => return self.root_by_exponent(operand),
            (Estimate::Recip, BasicValueEnum::FloatValue(operand)) if operand.is_const() => {
                return Ok(self.builder.build_float_div(operand.get_type().const_float(1.0), operand, "")?.into());
            }
            (Estimate::Recip, BasicValueEnum::VectorValue(operand)) if operand.is_const() => {
                return Ok(self.builder.build_float_div(self.all_lanes(operand, 1.0), operand, "")?.into());
            }
            (_, BasicValueEnum::VectorValue(operand)) => return Ok(self.estimate_lanes(estimate, operand)?.into()),
            _ => {}
        }
        let first = self.const64(0);
        let lane_count = if estimate == Estimate::RsqrtOfDouble { 2 } else { 4 };
        let one_lane = operand.get_type().into_float_type().vec_type(lane_count).get_poison();
        let one_lane = self.builder.build_insert_element(one_lane, operand, first, "")?;
        Ok(self.builder.build_extract_element(self.estimate_lanes(estimate, one_lane)?, first, "")?)
    }

    /// The same of each lane, register by register.
    pub fn estimate_lanes(&self, estimate: Estimate, operand: VectorValue<'ctx>) -> Emitted<VectorValue<'ctx>> {
        let lane_count = operand.get_type().get_size();
        let of_all_floats = self.target.estimates;
        let register_lanes = match (estimate, lane_count) {
            (Estimate::RsqrtOfDouble, 8..) => 8,
            (Estimate::RsqrtOfDouble, 4..) => 4,
            (Estimate::RsqrtOfDouble, _) => 2,
            (_, 16..) if of_all_floats => 16,
            (_, 8..) if of_all_floats || self.target.eight_floats => 8,
            _ => 4,
        };
        let name = estimate.intrinsic_name(register_lanes, of_all_floats);
        let all_lanes = self.int_type(register_lanes.max(8)).const_all_ones();
        let mut estimates = Vec::new();
        for first in (0..lane_count).step_by(register_lanes as usize) {
            // Behind the last lane there is any one.
            let part_lanes: Vec<_> =
                (first..first + register_lanes).map(|lane| Some(lane.min(lane_count - 1))).collect();
            let part = if lane_count == register_lanes {
                operand
            } else {
                self.shuffle_vectors(operand, operand, &part_lanes)?
            };
            let masked = [part.into(), part.into(), all_lanes.into()];
            let arguments = if of_all_floats { &masked[..] } else { &masked[..1] };
            estimates.push(self.call_intrinsic(name, &[], arguments)?.into_vector_value());
        }
        self.concat_vectors(&estimates, lane_count)
    }

    /// A quotient of floats to 10 bits.
    ///
    /// AVX-512 has a reciprocal for all divisors but the smallest denormal ones, for which it gives infinity. The quotient
    /// of two denormal numbers must not be that; so the dividend counts as zero where it is denormal, and their quotient
    /// is that of zeros. Elsewhere a divisor may be denormal, or have a denormal reciprocal, though the quotient is a normal
    /// number: both operands are multiplied by a number near the divisor's reciprocal root, half of its exponent, negated. It
    /// is no more than the reciprocal of a divisor below one, and below one for other divisors, so that the dividend's
    /// product overflows only where the quotient does.
    pub fn quotient_estimate(
        &self,
        left: BasicValueEnum<'ctx>,
        right: BasicValueEnum<'ctx>,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let builder = &self.builder;
        let word_constant = |bit_pattern| self.in_all_lanes(Type::I32, bit_pattern, left);
        let word_bits = |left: BasicValueEnum<'ctx>| builder.build_bit_cast(left, self.ty_like(Type::I32, left), "");
        let operate =
            |opcode, left, right| self.binary(opcode, IntFlags::default(), FastMath::default(), [left, right]);
        if self.target.estimates {
            let exponent = operate(BinaryOp::And, word_bits(left)?, word_constant(0x7f80_0000)?)?;
            let signed_zero = builder.build_bit_cast(
                operate(BinaryOp::And, word_bits(left)?, word_constant(0x8000_0000)?)?,
                left.get_type(),
                "",
            )?;
            let left = self.ternary(
                TernaryOp::Select,
                FastMath::default(),
                Type::F32,
                [self.icmp(IntCc::Ne, [exponent, word_constant(0)?])?, left, signed_zero],
            )?;
            return operate(BinaryOp::Fmul, left, self.estimate(Estimate::Recip, right)?);
        }
        let negated = operate(
            BinaryOp::And,
            operate(BinaryOp::Xor, word_bits(right)?, word_constant(u32::MAX.into())?)?,
            word_constant(0x7f80_0000)?,
        )?;
        let scale = builder.build_bit_cast(self.mean_of_halves(negated, 0x3e80_0000)?, left.get_type(), "")?;
        let reciprocal = self.estimate(Estimate::Recip, operate(BinaryOp::Fmul, right, scale)?)?;
        operate(BinaryOp::Fmul, operate(BinaryOp::Fmul, left, scale)?, reciprocal)
    }

    /// The means of the 16-bit halves of words and of a number, rounded up: an instruction of vectors, `pavgw`, that LLVM finds
    /// in a sum that does not overflow and a shift. The halves are at most 0x7fff.
    fn mean_of_halves(&self, words: BasicValueEnum<'ctx>, constant: u32) -> Emitted<BasicValueEnum<'ctx>> {
        let builder = &self.builder;
        let lane_count = if let BasicValueEnum::VectorValue(words) = words { words.get_type().get_size() } else { 1 };
        let short_type = self.context.i16_type();
        let halves = [constant & 0xffff, constant >> 16].map(|half| short_type.const_int(u64::from(half) + 1, false));
        let constants = VectorType::const_vector(&halves.repeat(lane_count as usize));
        let one_vector = VectorType::const_vector(&vec![short_type.const_int(1, false); 2 * lane_count as usize]);
        let rounded_sum = builder.build_int_nuw_add(
            builder.build_bit_cast(words, constants.get_type(), "")?.into_vector_value(),
            constants,
            "",
        )?;
        Ok(builder.build_bit_cast(
            builder.build_right_shift(rounded_sum, one_vector, false, "")?,
            words.get_type(),
            "",
        )?)
    }

    /// One over the square root of a float to 14 bits: AVX-512's estimate, with no steps, as exact reciprocal roots take one
    /// there and this would be no faster than they are. The older estimates take one of Newton's iteration. Its factor is
    /// NaN at zero and infinity, where the estimate is right: as an integer it is more than a bound of a little over one.
    pub fn native_rsqrt(&self, left: BasicValueEnum<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        let estimate = self.estimate(Estimate::Rsqrt, left)?;
        if self.target.estimates {
            return Ok(estimate);
        }
        let (builder, exact) = (&self.builder, FastMath::default());
        let float_constant = |float_constant: f32| self.in_all_lanes(Type::F32, float_constant.to_bits().into(), left);
        let operate = |opcode, left, right| self.binary(opcode, IntFlags::default(), exact, [left, right]);
        let rough_root = operate(BinaryOp::Fmul, left, estimate)?;
        let negated_half = operate(BinaryOp::Fmul, estimate, float_constant(-0.5)?)?;
        let factor =
            self.ternary(TernaryOp::FmulAdd, exact, Type::F32, [rough_root, negated_half, float_constant(1.5)?])?;
        let factor = builder.build_bit_cast(factor, self.ty_like(Type::I32, left), "")?;
        let factor = operate(BinaryOp::Umin, factor, self.in_all_lanes(Type::I32, 0x3f80_2000, left)?)?;
        operate(BinaryOp::Fmul, estimate, builder.build_bit_cast(factor, left.get_type(), "")?)
    }

    /// A constant in as many lanes.
    pub fn in_all_lanes(
        &self,
        scalar_type: Type,
        bit_pattern: u128,
        like_value: BasicValueEnum<'ctx>,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let scalar_value = self.constant(scalar_type, bit_pattern);
        match like_value {
            BasicValueEnum::VectorValue(like_value) => {
                Ok(self.splat(scalar_value, like_value.get_type().get_size())?.into())
            }
            _ => Ok(scalar_value),
        }
    }

    /// One over the square root of normal positive doubles, to 13 bits: halving the exponent gives four, a step of Halley's
    /// iteration the rest.
    fn root_by_exponent(&self, left: BasicValueEnum<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        let (builder, exact) = (&self.builder, FastMath::default());
        let double_constant =
            |double_constant: f64| self.in_all_lanes(Type::F64, double_constant.to_bits().into(), left);
        let word_constant = |bit_pattern| self.in_all_lanes(Type::I64, bit_pattern, left);
        let fused_multiply = |arguments| self.ternary(TernaryOp::FmulAdd, exact, Type::F64, arguments);
        let operate = |opcode, left, right| self.binary(opcode, IntFlags::default(), exact, [left, right]);

        let of_bits = builder.build_bit_cast(left, self.ty_like(Type::I64, left), "")?;
        let half_bits = operate(BinaryOp::Lshr, of_bits, word_constant(1)?)?;
        let rough_root = operate(BinaryOp::Sub, word_constant(0x5fe6_eb50_c7b5_37a9)?, half_bits)?;
        let rough_root = builder.build_bit_cast(rough_root, left.get_type(), "")?;
        let negated = operate(BinaryOp::Fmul, operate(BinaryOp::Fmul, left, double_constant(-1.0)?)?, rough_root)?;
        let residual = fused_multiply([negated, rough_root, double_constant(1.0)?])?;
        let correction = fused_multiply([residual, double_constant(0.375)?, double_constant(0.5)?])?;
        fused_multiply([operate(BinaryOp::Fmul, rough_root, residual)?, correction, rough_root])
    }
}
