//! Arithmetic: what computes a value from values alone: scalars from scalars, or vectors from vectors
//! lane by lane.

use super::emit::{Emitted, Emitter};
use super::estimates::Estimate;
use crate::frontend::llvm::build_freeze;
use inkwell::types::{IntType, VectorType};
use inkwell::values::{BasicValue, BasicValueEnum, InstructionOpcode as Op, IntValue, VectorValue};
use inkwell::{FloatPredicate, IntPredicate};
use lockstep_ir::ir::{BinaryOp, FastMath, FloatCc, IntCc, IntFlags, TernaryOp, UnaryOp};
use lockstep_protocol::types::Type;

/// The smallest signed number.
fn lowest_signed(int_type: IntType<'_>) -> IntValue<'_> {
    let sign_bit = int_type.get_bit_width() - 1;
    let words = [if sign_bit < 64 { 1 << sign_bit } else { 0 }, if sign_bit < 64 { 0 } else { 1 << (sign_bit - 64) }];
    int_type.const_int_arbitrary_precision(&words)
}

impl<'ctx> Emitter<'ctx, '_> {
    /// An operation of one operand; `SpaceOf` is memory's.
    pub fn unary(
        &self,
        opcode: UnaryOp,
        fast_math: FastMath,
        from_type: Type,
        to_type: Type,
        argument: BasicValueEnum<'ctx>,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let builder = &self.builder;
        let llvm_type = self.ty_like(to_type, argument);
        let build_cast = |opcode| builder.build_cast(opcode, argument, llvm_type, "");
        let call_unary = |name| self.call_intrinsic(name, &[llvm_type], &[argument]);
        let to_int = |name| self.call_intrinsic(name, &[llvm_type, argument.get_type()], &[argument]);
        let call_with_flag = |name| {
            let zero_is_fine = self.context.bool_type().const_zero().into();
            self.call_intrinsic(name, &[llvm_type], &[argument, zero_is_fine])
        };
        let value = match opcode {
            UnaryOp::Freeze => build_freeze(builder, argument),
            UnaryOp::Fneg => match argument {
                BasicValueEnum::VectorValue(argument) => builder.build_float_neg(argument, "")?.into(),
                argument => builder.build_float_neg(argument.into_float_value(), "")?.into(),
            },
            UnaryOp::Trunc if from_type != to_type => build_cast(Op::Trunc)?,
            UnaryOp::Zext if from_type != to_type => build_cast(Op::ZExt)?,
            UnaryOp::Sext if from_type != to_type => build_cast(Op::SExt)?,
            UnaryOp::FpTrunc if from_type != to_type => build_cast(Op::FPTrunc)?,
            UnaryOp::FpExt if from_type != to_type => build_cast(Op::FPExt)?,
            UnaryOp::FpToSi => build_cast(Op::FPToSI)?,
            UnaryOp::FpToUi => build_cast(Op::FPToUI)?,
            UnaryOp::FpToSiSat | UnaryOp::FpToUiSat if from_type == Type::F16 => {
                // LLVM 22 turns NaN into the lowest i16 where the host has instructions for binary16.
                let single = self.unary(UnaryOp::FpExt, FastMath(0), from_type, Type::F32, argument)?;
                self.unary(opcode, fast_math, Type::F32, to_type, single)?
            }
            UnaryOp::FpToSiSat => to_int("llvm.fptosi.sat")?,
            UnaryOp::FpToUiSat => to_int("llvm.fptoui.sat")?,
            UnaryOp::SiToFp | UnaryOp::UiToFp if to_type == Type::F16 && from_type.bits() > 64 => {
                // binary64 rounds only integers that are far too large for binary16.
                let double = self.unary(opcode, FastMath(0), from_type, Type::F64, argument)?;
                self.unary(UnaryOp::FpTrunc, fast_math, Type::F64, to_type, double)?
            }
            UnaryOp::SiToFp => build_cast(Op::SIToFP)?,
            UnaryOp::UiToFp => build_cast(Op::UIToFP)?,
            UnaryOp::Bitcast if argument.get_type() != llvm_type => build_cast(Op::BitCast)?,
            UnaryOp::PtrToInt => build_cast(Op::PtrToInt)?,
            UnaryOp::IntToPtr => build_cast(Op::IntToPtr)?,
            UnaryOp::Popcount => call_unary("llvm.ctpop")?,
            UnaryOp::Clz => call_with_flag("llvm.ctlz")?,
            UnaryOp::Ctz => call_with_flag("llvm.cttz")?,
            UnaryOp::Bswap => call_unary("llvm.bswap")?,
            UnaryOp::Bitreverse => call_unary("llvm.bitreverse")?,
            UnaryOp::Iabs => call_with_flag("llvm.abs")?,
            UnaryOp::Fabs => call_unary("llvm.fabs")?,
            UnaryOp::Sqrt => call_unary("llvm.sqrt")?,
            UnaryOp::Rsqrt => {
                let square_root = self.put_fast_math(call_unary("llvm.sqrt")?, fast_math);
                let one_constant = self.constant(Type::F32, 1_f32.to_bits().into());
                let one_constant = match argument {
                    BasicValueEnum::VectorValue(argument) => {
                        self.splat(one_constant, argument.get_type().get_size())?.into()
                    }
                    _ => one_constant,
                };
                builder.build_binop(Op::FDiv, one_constant, square_root, "")?
            }
            UnaryOp::RecipEstimate => return self.estimate(Estimate::Recip, argument),
            UnaryOp::RsqrtEstimate if to_type == Type::F64 => return self.estimate(Estimate::RsqrtOfDouble, argument),
            UnaryOp::RsqrtEstimate => return self.estimate(Estimate::Rsqrt, argument),
            UnaryOp::RsqrtNative => return self.native_rsqrt(argument),
            UnaryOp::Logb => return self.emit_logb(argument),
            UnaryOp::Significand => return self.emit_significand(argument),
            UnaryOp::Floor => call_unary("llvm.floor")?,
            UnaryOp::Ceil => call_unary("llvm.ceil")?,
            UnaryOp::Ftrunc => call_unary("llvm.trunc")?,
            UnaryOp::Rint => call_unary("llvm.roundeven")?,
            UnaryOp::Round => call_unary("llvm.round")?,
            UnaryOp::Canonicalize if to_type == Type::F16 && !self.target.halves => self.quiet_half(argument)?,
            UnaryOp::Canonicalize => call_unary("llvm.canonicalize")?,
            // Each operation on halves is rounded by itself there.
            UnaryOp::ArithmeticFence if to_type == Type::F16 && !self.target.halves => return Ok(argument),
            UnaryOp::ArithmeticFence => call_unary("llvm.arithmetic.fence")?,
            // What changes nothing: casts between equal types, and all spaces are one memory.
            UnaryOp::Trunc
            | UnaryOp::Zext
            | UnaryOp::Sext
            | UnaryOp::FpTrunc
            | UnaryOp::FpExt
            | UnaryOp::Bitcast
            | UnaryOp::SpaceCast
            | UnaryOp::SpaceOf => return Ok(argument),
        };
        Ok(self.put_fast_math(value, fast_math))
    }

    /// A quotient or remainder of integers by divisors that the machine does not trap at.
    fn divide_safely(
        &self,
        opcode: Op,
        signed: bool,
        [dividend, divisor]: [BasicValueEnum<'ctx>; 2],
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let divisor = match (dividend, divisor) {
            (BasicValueEnum::VectorValue(dividends), BasicValueEnum::VectorValue(divisors)) => {
                self.safe_divisors(signed, dividends, divisors)?
            }
            _ => self.safe_divisor(signed, dividend.into_int_value(), divisor.into_int_value())?.into(),
        };
        Ok(self.builder.build_binop(opcode, dividend, divisor, "")?)
    }

    /// An operation of two operands.
    pub fn binary(
        &self,
        opcode: BinaryOp,
        wrap_flags: IntFlags,
        fast_math: FastMath,
        [left, right]: [BasicValueEnum<'ctx>; 2],
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let fast_math = if opcode == BinaryOp::Fdiv { fast_math.with_exact_reciprocals() } else { fast_math };
        let build_plain = |opcode| self.builder.build_binop(opcode, left, right, "");
        let call_binary = |name| self.call_intrinsic(name, &[left.get_type()], &[left, right]);
        let divide = |opcode, signed| self.divide_safely(opcode, signed, [left, right]);
        let value = match opcode {
            BinaryOp::Add => build_plain(Op::Add)?,
            BinaryOp::Sub => build_plain(Op::Sub)?,
            BinaryOp::Mul => build_plain(Op::Mul)?,
            BinaryOp::Udiv => divide(Op::UDiv, false)?,
            BinaryOp::Sdiv => divide(Op::SDiv, true)?,
            BinaryOp::Urem => divide(Op::URem, false)?,
            BinaryOp::Srem => divide(Op::SRem, true)?,
            BinaryOp::And => build_plain(Op::And)?,
            BinaryOp::Or => build_plain(Op::Or)?,
            BinaryOp::Xor => build_plain(Op::Xor)?,
            BinaryOp::Shl => build_plain(Op::Shl)?,
            BinaryOp::Lshr => build_plain(Op::LShr)?,
            BinaryOp::Ashr => build_plain(Op::AShr)?,
            BinaryOp::Smin => call_binary("llvm.smin")?,
            BinaryOp::Smax => call_binary("llvm.smax")?,
            BinaryOp::Umin => call_binary("llvm.umin")?,
            BinaryOp::Umax => call_binary("llvm.umax")?,
            BinaryOp::SaddSat => call_binary("llvm.sadd.sat")?,
            BinaryOp::UaddSat => call_binary("llvm.uadd.sat")?,
            BinaryOp::SsubSat => call_binary("llvm.ssub.sat")?,
            BinaryOp::UsubSat => call_binary("llvm.usub.sat")?,
            BinaryOp::Fadd => build_plain(Op::FAdd)?,
            BinaryOp::Fsub => build_plain(Op::FSub)?,
            BinaryOp::Fmul => build_plain(Op::FMul)?,
            BinaryOp::Fdiv => build_plain(Op::FDiv)?,
            BinaryOp::QuotientEstimate => return self.quotient_estimate(left, right),
            BinaryOp::Powered => return self.emit_powered(left, right),
            BinaryOp::Frem => build_plain(Op::FRem)?,
            BinaryOp::Fmin => call_binary("llvm.minnum")?,
            BinaryOp::Fmax => call_binary("llvm.maxnum")?,
            BinaryOp::Copysign => call_binary("llvm.copysign")?,
        };
        let can_wrap = matches!(opcode, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl);
        let wrap_flags = if can_wrap { wrap_flags } else { IntFlags::default() };
        Ok(self.put_fast_math(self.put_wrap_flags(value, wrap_flags), fast_math))
    }

    /// A divisor with which the machine's division does not trap: OpenCL leaves the quotient by 0 and
    /// of MIN / -1 open, but rules out an exception.
    fn safe_divisor(&self, signed: bool, left: IntValue<'ctx>, right: IntValue<'ctx>) -> Emitted<IntValue<'ctx>> {
        let builder = &self.builder;
        let int_type = right.get_type();
        let (zero, replacement, all_ones) =
            (int_type.const_zero(), int_type.const_int(1, false), int_type.const_all_ones());
        if right.is_const() && right != zero && (right != all_ones || !signed) {
            return Ok(right);
        }
        let mut is_trapping = builder.build_int_compare(IntPredicate::EQ, right, zero, "")?;
        if signed {
            let smallest = builder.build_int_compare(IntPredicate::EQ, left, lowest_signed(int_type), "")?;
            let minus_one = builder.build_int_compare(IntPredicate::EQ, right, all_ones, "")?;
            let overflow = builder.build_and(smallest, minus_one, "")?;
            is_trapping = builder.build_or(is_trapping, overflow, "")?;
        }
        Ok(builder.build_select(is_trapping, replacement, right, "")?.into_int_value())
    }

    /// As [`Emit::safe_divisor`], lane by lane.
    fn safe_divisors(
        &self,
        signed: bool,
        left: VectorValue<'ctx>,
        right: VectorValue<'ctx>,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let builder = &self.builder;
        let vector_type = right.get_type();
        let element = vector_type.get_element_type().into_int_type();
        let in_all_lanes =
            |value: IntValue<'ctx>| VectorType::const_vector(&vec![value; vector_type.get_size() as usize]);
        let mut is_trapping = builder.build_int_compare(IntPredicate::EQ, right, vector_type.const_zero(), "")?;
        if signed {
            let smallest =
                builder.build_int_compare(IntPredicate::EQ, left, in_all_lanes(lowest_signed(element)), "")?;
            let minus_one =
                builder.build_int_compare(IntPredicate::EQ, right, in_all_lanes(element.const_all_ones()), "")?;
            let overflow = builder.build_and(smallest, minus_one, "")?;
            is_trapping = builder.build_or(is_trapping, overflow, "")?;
        }
        Ok(builder
            .build_select(is_trapping, in_all_lanes(element.const_int(1, false)), right, "")
            .map(|right| right.as_basic_value_enum())?)
    }

    /// An operation of three operands.
    pub fn ternary(
        &self,
        opcode: TernaryOp,
        fast_math: FastMath,
        scalar_type: Type,
        [left, right, third_operand]: [BasicValueEnum<'ctx>; 3],
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let builder = &self.builder;
        let call_with_three =
            |name| self.call_intrinsic(name, &[third_operand.get_type()], &[left, right, third_operand]);
        let value = match opcode {
            TernaryOp::Select => match left {
                BasicValueEnum::VectorValue(left) => builder.build_select(left, right, third_operand, "")?,
                left => builder.build_select(left.into_int_value(), right, third_operand, "")?,
            },
            TernaryOp::Fma if scalar_type == Type::F16 && !self.target.halves => {
                return self.half_fma([left, right, third_operand], fast_math);
            }
            TernaryOp::FmulAdd if scalar_type == Type::F16 && !self.target.halves => {
                let product = builder.build_binop(Op::FMul, left, right, "")?;
                builder.build_binop(Op::FAdd, self.put_fast_math(product, fast_math), third_operand, "")?
            }
            TernaryOp::Fma => call_with_three("llvm.fma")?,
            TernaryOp::FmulAdd => call_with_three("llvm.fmuladd")?,
            TernaryOp::Scaled => return self.emit_scaled(scalar_type, [left, right, third_operand]),
            TernaryOp::Fshl | TernaryOp::Fshr if left != right && left.is_vector_value() => {
                return self.funnel_shift(opcode == TernaryOp::Fshl, scalar_type, [left, right, third_operand]);
            }
            TernaryOp::Fshl => call_with_three("llvm.fshl")?,
            TernaryOp::Fshr => call_with_three("llvm.fshr")?,
        };
        let fast_math = if scalar_type.is_float() { fast_math } else { FastMath(0) };
        Ok(self.put_fast_math(value, fast_math))
    }

    /// The upper or lower half of two vectors' lanes side by side, shifted by amounts modulo their width. LLVM 22 makes
    /// something else of its own operation where it finds that the amounts are zeros, or undefined in lanes that nobody
    /// wants; those of rotations it gets right.
    fn funnel_shift(
        &self,
        left: bool,
        scalar_type: Type,
        [operand, right, amount]: [BasicValueEnum<'ctx>; 3],
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let builder = &self.builder;
        let lane_count = amount.into_vector_value().get_type().get_size();
        let bit_pattern = u128::from(scalar_type.bits());
        let splat_constant = |bit_pattern| -> Emitted<BasicValueEnum<'ctx>> {
            Ok(self.splat(self.constant(scalar_type, bit_pattern), lane_count)?.into())
        };
        let shift_amount = if bit_pattern.is_power_of_two() {
            builder.build_binop(Op::And, amount, splat_constant(bit_pattern - 1)?, "")?
        } else {
            builder.build_binop(Op::URem, amount, splat_constant(bit_pattern)?, "")?
        };
        // What comes from the other side is shifted once and then by one less, as no shift may be as wide as a lane.
        let rest_amount = builder.build_binop(Op::Sub, splat_constant(bit_pattern - 1)?, shift_amount, "")?;
        let (one_constant, [upper_part, lower_part]) =
            (splat_constant(1)?, if left { [shift_amount, rest_amount] } else { [rest_amount, shift_amount] });
        let operand = if left { operand } else { builder.build_binop(Op::Shl, operand, one_constant, "")? };
        let right = if left { builder.build_binop(Op::LShr, right, one_constant, "")? } else { right };
        let (operand, right) = (
            builder.build_binop(Op::Shl, operand, upper_part, "")?,
            builder.build_binop(Op::LShr, right, lower_part, "")?,
        );
        Ok(builder.build_binop(Op::Or, operand, right, "")?)
    }

    /// A number in binary16 with NaN made quiet, on hosts that do not compute in it: LLVM 22 has no instructions for that
    /// there, and ends the process.
    fn quiet_half(&self, argument: BasicValueEnum<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        let builder = &self.builder;
        let (half_type, integer) = (argument.get_type(), self.ty_like(Type::Int(16), argument));
        let splat_constant = |bit_pattern| -> Emitted<BasicValueEnum<'ctx>> {
            let scalar = self.constant(Type::Int(16), bit_pattern);
            let lanes = integer.is_vector_type().then(|| integer.into_vector_type().get_size());
            lanes.map_or(Ok(scalar), |lane_count| Ok(self.splat(scalar, lane_count)?.into()))
        };
        let bit_pattern = builder.build_cast(Op::BitCast, argument, integer, "")?;
        let quiet_bits = builder.build_binop(Op::Or, bit_pattern, splat_constant(0x0200)?, "")?;
        let magnitude = builder.build_binop(Op::And, bit_pattern, splat_constant(0x7fff)?, "")?;
        let is_nan = self.icmp(IntCc::Ugt, [magnitude, splat_constant(0x7c00)?])?;
        let bit_pattern =
            self.ternary(TernaryOp::Select, FastMath(0), Type::Int(16), [is_nan, quiet_bits, bit_pattern])?;
        Ok(builder.build_cast(Op::BitCast, bit_pattern, half_type, "")?)
    }

    /// A fused multiply-add in binary16 on hosts without one. In binary64 the product is exact, and
    /// the sum rounds only where that cannot change its rounding to 11 bits (two 11-bit factors, 40
    /// binary orders of magnitude at most).
    fn half_fma(&self, arguments: [BasicValueEnum<'ctx>; 3], fast_math: FastMath) -> Emitted<BasicValueEnum<'ctx>> {
        let double_type = self.ty_like(Type::F64, arguments[0]);
        let mut wide_operands = [arguments[0]; 3];
        for (wide, argument) in wide_operands.iter_mut().zip(arguments) {
            *wide = self.builder.build_cast(Op::FPExt, argument, double_type, "")?;
        }
        let product = self.builder.build_binop(Op::FMul, wide_operands[0], wide_operands[1], "")?;
        let product = self.put_fast_math(product, fast_math);
        let wide_result = self.builder.build_binop(Op::FAdd, product, wide_operands[2], "")?;
        let half_type = self.ty_like(Type::F16, arguments[0]);
        Ok(self.builder.build_cast(Op::FPTrunc, self.put_fast_math(wide_result, fast_math), half_type, "")?)
    }

    /// An integer or pointer comparison.
    pub fn icmp(&self, comparison: IntCc, [left, right]: [BasicValueEnum<'ctx>; 2]) -> Emitted<BasicValueEnum<'ctx>> {
        let predicate = match comparison {
            IntCc::Eq => IntPredicate::EQ,
            IntCc::Ne => IntPredicate::NE,
            IntCc::Slt => IntPredicate::SLT,
            IntCc::Sle => IntPredicate::SLE,
            IntCc::Sgt => IntPredicate::SGT,
            IntCc::Sge => IntPredicate::SGE,
            IntCc::Ult => IntPredicate::ULT,
            IntCc::Ule => IntPredicate::ULE,
            IntCc::Ugt => IntPredicate::UGT,
            IntCc::Uge => IntPredicate::UGE,
        };
        Ok(match (left, right) {
            (BasicValueEnum::PointerValue(x), BasicValueEnum::PointerValue(y)) => {
                self.builder.build_int_compare(predicate, x, y, "")?.into()
            }
            (BasicValueEnum::VectorValue(left), BasicValueEnum::VectorValue(right)) => {
                self.builder.build_int_compare(predicate, left, right, "")?.into()
            }
            _ => self.builder.build_int_compare(predicate, left.into_int_value(), right.into_int_value(), "")?.into(),
        })
    }

    /// A float comparison.
    pub fn fcmp(
        &self,
        comparison: FloatCc,
        fast_math: FastMath,
        [left, right]: [BasicValueEnum<'ctx>; 2],
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let predicate = match comparison {
            FloatCc::Oeq => FloatPredicate::OEQ,
            FloatCc::Ogt => FloatPredicate::OGT,
            FloatCc::Oge => FloatPredicate::OGE,
            FloatCc::Olt => FloatPredicate::OLT,
            FloatCc::Ole => FloatPredicate::OLE,
            FloatCc::One => FloatPredicate::ONE,
            FloatCc::Ord => FloatPredicate::ORD,
            FloatCc::Uno => FloatPredicate::UNO,
            FloatCc::Ueq => FloatPredicate::UEQ,
            FloatCc::Ugt => FloatPredicate::UGT,
            FloatCc::Uge => FloatPredicate::UGE,
            FloatCc::Ult => FloatPredicate::ULT,
            FloatCc::Ule => FloatPredicate::ULE,
            FloatCc::Une => FloatPredicate::UNE,
        };
        let value = match (left, right) {
            (BasicValueEnum::VectorValue(left), BasicValueEnum::VectorValue(right)) => {
                self.builder.build_float_compare(predicate, left, right, "")?.as_basic_value_enum()
            }
            (left, right) => {
                let (operand, right_float) = (left.into_float_value(), right.into_float_value());
                self.builder.build_float_compare(predicate, operand, right_float, "")?.as_basic_value_enum()
            }
        };
        Ok(self.put_fast_math(value, fast_math))
    }
}
