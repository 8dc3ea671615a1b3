//! Arithmetic: what computes a value from values alone: scalars from scalars, or vectors from vectors
//! lane by lane.

use super::emit::{Emitted, Emitter};
use super::estimates::Estimate;
use inkwell::types::{IntType, VectorType};
use inkwell::values::{AsValueRef, BasicValue, BasicValueEnum, InstructionOpcode as Op, IntValue, VectorValue};
use inkwell::{FloatPredicate, IntPredicate};
use lockstep_ir::ir::{BinaryOp, FastMath, FloatCc, IntCc, IntFlags, TernaryOp, UnaryOp};
use lockstep_protocol::types::Type;

/// The smallest signed number.
fn lowest_signed(ty: IntType<'_>) -> IntValue<'_> {
    let top = ty.get_bit_width() - 1;
    let words = [if top < 64 { 1 << top } else { 0 }, if top < 64 { 0 } else { 1 << (top - 64) }];
    ty.const_int_arbitrary_precision(&words)
}

impl<'ctx> Emitter<'ctx, '_> {
    /// An operation of one operand; `SpaceOf` is memory's.
    pub fn unary(
        &self,
        op: UnaryOp,
        fmf: FastMath,
        from: Type,
        to: Type,
        arg: BasicValueEnum<'ctx>,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let b = &self.builder;
        let ty = self.ty_like(to, arg);
        let cast = |op| b.build_cast(op, arg, ty, "");
        let call = |name| self.call_intrinsic(name, &[ty], &[arg]);
        let to_int = |name| self.call_intrinsic(name, &[ty, arg.get_type()], &[arg]);
        let count = |name| {
            let zero_is_fine = self.context.bool_type().const_zero().into();
            self.call_intrinsic(name, &[ty], &[arg, zero_is_fine])
        };
        let value = match op {
            // SAFETY: the builder has a position, and the result is a value of the operand's type.
            UnaryOp::Freeze => unsafe {
                BasicValueEnum::new(llvm_sys::core::LLVMBuildFreeze(b.as_mut_ptr(), arg.as_value_ref(), c"".as_ptr()))
            },
            UnaryOp::Fneg => match arg {
                BasicValueEnum::VectorValue(arg) => b.build_float_neg(arg, "")?.into(),
                arg => b.build_float_neg(arg.into_float_value(), "")?.into(),
            },
            UnaryOp::Trunc if from != to => cast(Op::Trunc)?,
            UnaryOp::Zext if from != to => cast(Op::ZExt)?,
            UnaryOp::Sext if from != to => cast(Op::SExt)?,
            UnaryOp::FpTrunc if from != to => cast(Op::FPTrunc)?,
            UnaryOp::FpExt if from != to => cast(Op::FPExt)?,
            UnaryOp::FpToSi => cast(Op::FPToSI)?,
            UnaryOp::FpToUi => cast(Op::FPToUI)?,
            UnaryOp::FpToSiSat | UnaryOp::FpToUiSat if from == Type::F16 => {
                // LLVM 22 turns NaN into the lowest i16 where the host has instructions for binary16.
                let single = self.unary(UnaryOp::FpExt, FastMath(0), from, Type::F32, arg)?;
                self.unary(op, fmf, Type::F32, to, single)?
            }
            UnaryOp::FpToSiSat => to_int("llvm.fptosi.sat")?,
            UnaryOp::FpToUiSat => to_int("llvm.fptoui.sat")?,
            UnaryOp::SiToFp | UnaryOp::UiToFp if to == Type::F16 && from.bits() > 64 => {
                // binary64 rounds only integers that are far too large for binary16.
                let double = self.unary(op, FastMath(0), from, Type::F64, arg)?;
                self.unary(UnaryOp::FpTrunc, fmf, Type::F64, to, double)?
            }
            UnaryOp::SiToFp => cast(Op::SIToFP)?,
            UnaryOp::UiToFp => cast(Op::UIToFP)?,
            UnaryOp::Bitcast if arg.get_type() != ty => cast(Op::BitCast)?,
            UnaryOp::PtrToInt => cast(Op::PtrToInt)?,
            UnaryOp::IntToPtr => cast(Op::IntToPtr)?,
            UnaryOp::Popcount => call("llvm.ctpop")?,
            UnaryOp::Clz => count("llvm.ctlz")?,
            UnaryOp::Ctz => count("llvm.cttz")?,
            UnaryOp::Bswap => call("llvm.bswap")?,
            UnaryOp::Bitreverse => call("llvm.bitreverse")?,
            UnaryOp::Iabs => count("llvm.abs")?,
            UnaryOp::Fabs => call("llvm.fabs")?,
            UnaryOp::Sqrt => call("llvm.sqrt")?,
            UnaryOp::Rsqrt => {
                let root = self.put_fast_math(call("llvm.sqrt")?, fmf);
                let one = self.constant(Type::F32, 1_f32.to_bits().into());
                let one = match arg {
                    BasicValueEnum::VectorValue(arg) => self.splat(one, arg.get_type().get_size())?.into(),
                    _ => one,
                };
                b.build_binop(Op::FDiv, one, root, "")?
            }
            UnaryOp::RecipEstimate => return self.estimate(Estimate::Recip, arg),
            UnaryOp::RsqrtEstimate if to == Type::F64 => return self.estimate(Estimate::RsqrtOfDouble, arg),
            UnaryOp::RsqrtEstimate => return self.estimate(Estimate::Rsqrt, arg),
            UnaryOp::RsqrtNative => return self.native_rsqrt(arg),
            UnaryOp::Logb => return self.emit_logb(arg),
            UnaryOp::Significand => return self.emit_significand(arg),
            UnaryOp::Floor => call("llvm.floor")?,
            UnaryOp::Ceil => call("llvm.ceil")?,
            UnaryOp::Ftrunc => call("llvm.trunc")?,
            UnaryOp::Rint => call("llvm.roundeven")?,
            UnaryOp::Round => call("llvm.round")?,
            UnaryOp::Canonicalize if to == Type::F16 && !self.target.halves => self.quiet_half(arg)?,
            UnaryOp::Canonicalize => call("llvm.canonicalize")?,
            // What changes nothing: casts between equal types, and all spaces are one memory.
            UnaryOp::Trunc
            | UnaryOp::Zext
            | UnaryOp::Sext
            | UnaryOp::FpTrunc
            | UnaryOp::FpExt
            | UnaryOp::Bitcast
            | UnaryOp::SpaceCast
            | UnaryOp::SpaceOf => return Ok(arg),
        };
        Ok(self.put_fast_math(value, fmf))
    }

    /// An operation of two operands.
    pub fn binary(
        &self,
        op: BinaryOp,
        flags: IntFlags,
        fmf: FastMath,
        [x, y]: [BasicValueEnum<'ctx>; 2],
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let fmf = if op == BinaryOp::Fdiv { fmf.with_exact_reciprocals() } else { fmf };
        let plain = |op| self.builder.build_binop(op, x, y, "");
        let call = |name| self.call_intrinsic(name, &[x.get_type()], &[x, y]);
        let divide = |op, signed| {
            let y = match (x, y) {
                (BasicValueEnum::VectorValue(x), BasicValueEnum::VectorValue(y)) => self.safe_divisors(signed, x, y)?,
                (x, y) => self.safe_divisor(signed, x.into_int_value(), y.into_int_value())?.into(),
            };
            self.builder.build_binop(op, x, y, "")
        };
        let value = match op {
            BinaryOp::Add => plain(Op::Add)?,
            BinaryOp::Sub => plain(Op::Sub)?,
            BinaryOp::Mul => plain(Op::Mul)?,
            BinaryOp::Udiv => divide(Op::UDiv, false)?,
            BinaryOp::Sdiv => divide(Op::SDiv, true)?,
            BinaryOp::Urem => divide(Op::URem, false)?,
            BinaryOp::Srem => divide(Op::SRem, true)?,
            BinaryOp::And => plain(Op::And)?,
            BinaryOp::Or => plain(Op::Or)?,
            BinaryOp::Xor => plain(Op::Xor)?,
            BinaryOp::Shl => plain(Op::Shl)?,
            BinaryOp::Lshr => plain(Op::LShr)?,
            BinaryOp::Ashr => plain(Op::AShr)?,
            BinaryOp::Smin => call("llvm.smin")?,
            BinaryOp::Smax => call("llvm.smax")?,
            BinaryOp::Umin => call("llvm.umin")?,
            BinaryOp::Umax => call("llvm.umax")?,
            BinaryOp::SaddSat => call("llvm.sadd.sat")?,
            BinaryOp::UaddSat => call("llvm.uadd.sat")?,
            BinaryOp::SsubSat => call("llvm.ssub.sat")?,
            BinaryOp::UsubSat => call("llvm.usub.sat")?,
            BinaryOp::Fadd => plain(Op::FAdd)?,
            BinaryOp::Fsub => plain(Op::FSub)?,
            BinaryOp::Fmul => plain(Op::FMul)?,
            BinaryOp::Fdiv => plain(Op::FDiv)?,
            BinaryOp::QuotientEstimate => return self.quotient_estimate(x, y),
            BinaryOp::Powered => return self.emit_powered(x, y),
            BinaryOp::Frem => plain(Op::FRem)?,
            BinaryOp::Fmin => call("llvm.minnum")?,
            BinaryOp::Fmax => call("llvm.maxnum")?,
            BinaryOp::Copysign => call("llvm.copysign")?,
        };
        let can_wrap = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl);
        let flags = if can_wrap { flags } else { IntFlags::default() };
        Ok(self.put_fast_math(self.put_wrap_flags(value, flags), fmf))
    }

    /// A divisor with which the machine's division does not trap: OpenCL leaves the quotient by 0 and
    /// of MIN / -1 open, but rules out an exception.
    fn safe_divisor(&self, signed: bool, x: IntValue<'ctx>, y: IntValue<'ctx>) -> Emitted<IntValue<'ctx>> {
        let b = &self.builder;
        let ty = y.get_type();
        let (zero, one, all_ones) = (ty.const_zero(), ty.const_int(1, false), ty.const_all_ones());
        if y.is_const() && y != zero && (y != all_ones || !signed) {
            return Ok(y);
        }
        let mut bad = b.build_int_compare(IntPredicate::EQ, y, zero, "")?;
        if signed {
            let smallest = b.build_int_compare(IntPredicate::EQ, x, lowest_signed(ty), "")?;
            let minus_one = b.build_int_compare(IntPredicate::EQ, y, all_ones, "")?;
            let overflow = b.build_and(smallest, minus_one, "")?;
            bad = b.build_or(bad, overflow, "")?;
        }
        Ok(b.build_select(bad, one, y, "")?.into_int_value())
    }

    /// As [`Emit::safe_divisor`], lane by lane.
    fn safe_divisors(&self, signed: bool, x: VectorValue<'ctx>, y: VectorValue<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        let b = &self.builder;
        let ty = y.get_type();
        let element = ty.get_element_type().into_int_type();
        let all = |value: IntValue<'ctx>| VectorType::const_vector(&vec![value; ty.get_size() as usize]);
        let mut bad = b.build_int_compare(IntPredicate::EQ, y, ty.const_zero(), "")?;
        if signed {
            let smallest = b.build_int_compare(IntPredicate::EQ, x, all(lowest_signed(element)), "")?;
            let minus_one = b.build_int_compare(IntPredicate::EQ, y, all(element.const_all_ones()), "")?;
            let overflow = b.build_and(smallest, minus_one, "")?;
            bad = b.build_or(bad, overflow, "")?;
        }
        b.build_select(bad, all(element.const_int(1, false)), y, "").map(|y| y.as_basic_value_enum())
    }

    /// An operation of three operands.
    pub fn ternary(
        &self,
        op: TernaryOp,
        fmf: FastMath,
        ty: Type,
        [x, y, z]: [BasicValueEnum<'ctx>; 3],
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let b = &self.builder;
        let call = |name| self.call_intrinsic(name, &[z.get_type()], &[x, y, z]);
        let value = match op {
            TernaryOp::Select => match x {
                BasicValueEnum::VectorValue(x) => b.build_select(x, y, z, "")?,
                x => b.build_select(x.into_int_value(), y, z, "")?,
            },
            TernaryOp::Fma if ty == Type::F16 && !self.target.halves => {
                return self.half_fma([x, y, z], fmf);
            }
            TernaryOp::FmulAdd if ty == Type::F16 && !self.target.halves => {
                let product = b.build_binop(Op::FMul, x, y, "")?;
                b.build_binop(Op::FAdd, self.put_fast_math(product, fmf), z, "")?
            }
            TernaryOp::Fma => call("llvm.fma")?,
            TernaryOp::FmulAdd => call("llvm.fmuladd")?,
            TernaryOp::Scaled => return self.emit_scaled(ty, [x, y, z]),
            TernaryOp::Fshl | TernaryOp::Fshr if x != y && x.is_vector_value() => {
                return self.funnel_shift(op == TernaryOp::Fshl, ty, [x, y, z]);
            }
            TernaryOp::Fshl => call("llvm.fshl")?,
            TernaryOp::Fshr => call("llvm.fshr")?,
        };
        let flags = if ty.is_float() { fmf } else { FastMath(0) };
        Ok(self.put_fast_math(value, flags))
    }

    /// The upper or lower half of two vectors' lanes side by side, shifted by amounts modulo their width. LLVM 22 makes
    /// something else of its own operation where it finds that the amounts are zeros, or undefined in lanes that nobody
    /// wants; those of rotations it gets right.
    fn funnel_shift(
        &self,
        left: bool,
        ty: Type,
        [x, y, amount]: [BasicValueEnum<'ctx>; 3],
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let b = &self.builder;
        let lanes = amount.into_vector_value().get_type().get_size();
        let bits = u128::from(ty.bits());
        let splat = |bits| -> Emitted<BasicValueEnum<'ctx>> { Ok(self.splat(self.constant(ty, bits), lanes)?.into()) };
        let by = if bits.is_power_of_two() {
            b.build_binop(Op::And, amount, splat(bits - 1)?, "")?
        } else {
            b.build_binop(Op::URem, amount, splat(bits)?, "")?
        };
        // What comes from the other side is shifted once and then by one less, as no shift may be as wide as a lane.
        let rest = b.build_binop(Op::Sub, splat(bits - 1)?, by, "")?;
        let (one, [upper, lower]) = (splat(1)?, if left { [by, rest] } else { [rest, by] });
        let x = if left { x } else { b.build_binop(Op::Shl, x, one, "")? };
        let y = if left { b.build_binop(Op::LShr, y, one, "")? } else { y };
        let (x, y) = (b.build_binop(Op::Shl, x, upper, "")?, b.build_binop(Op::LShr, y, lower, "")?);
        b.build_binop(Op::Or, x, y, "")
    }

    /// A number in binary16 with NaN made quiet, on hosts that do not compute in it: LLVM 22 has no instructions for that
    /// there, and ends the process.
    fn quiet_half(&self, arg: BasicValueEnum<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        let b = &self.builder;
        let (half, integer) = (arg.get_type(), self.ty_like(Type::Int(16), arg));
        let all = |bits| -> Emitted<BasicValueEnum<'ctx>> {
            let scalar = self.constant(Type::Int(16), bits);
            let lanes = integer.is_vector_type().then(|| integer.into_vector_type().get_size());
            lanes.map_or(Ok(scalar), |lanes| Ok(self.splat(scalar, lanes)?.into()))
        };
        let bits = b.build_cast(Op::BitCast, arg, integer, "")?;
        let quiet = b.build_binop(Op::Or, bits, all(0x0200)?, "")?;
        let magnitude = b.build_binop(Op::And, bits, all(0x7fff)?, "")?;
        let nan = self.icmp(IntCc::Ugt, [magnitude, all(0x7c00)?])?;
        let bits = self.ternary(TernaryOp::Select, FastMath(0), Type::Int(16), [nan, quiet, bits])?;
        b.build_cast(Op::BitCast, bits, half, "")
    }

    /// A fused multiply-add in binary16 on hosts without one. In binary64 the product is exact, and
    /// the sum rounds only where that cannot change its rounding to 11 bits (two 11-bit factors, 40
    /// binary orders of magnitude at most).
    fn half_fma(&self, args: [BasicValueEnum<'ctx>; 3], fmf: FastMath) -> Emitted<BasicValueEnum<'ctx>> {
        let double = self.ty_like(Type::F64, args[0]);
        let mut wide = [args[0]; 3];
        for (wide, arg) in wide.iter_mut().zip(args) {
            *wide = self.builder.build_cast(Op::FPExt, arg, double, "")?;
        }
        let product = self.builder.build_binop(Op::FMul, wide[0], wide[1], "")?;
        let product = self.put_fast_math(product, fmf);
        let sum = self.builder.build_binop(Op::FAdd, product, wide[2], "")?;
        let half = self.ty_like(Type::F16, args[0]);
        self.builder.build_cast(Op::FPTrunc, self.put_fast_math(sum, fmf), half, "")
    }

    /// An integer or pointer comparison.
    pub fn icmp(&self, cc: IntCc, [x, y]: [BasicValueEnum<'ctx>; 2]) -> Emitted<BasicValueEnum<'ctx>> {
        let predicate = match cc {
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
        Ok(match (x, y) {
            (BasicValueEnum::PointerValue(x), BasicValueEnum::PointerValue(y)) => {
                self.builder.build_int_compare(predicate, x, y, "")?.into()
            }
            (BasicValueEnum::VectorValue(x), BasicValueEnum::VectorValue(y)) => {
                self.builder.build_int_compare(predicate, x, y, "")?.into()
            }
            _ => self.builder.build_int_compare(predicate, x.into_int_value(), y.into_int_value(), "")?.into(),
        })
    }

    /// A float comparison.
    pub fn fcmp(&self, cc: FloatCc, fmf: FastMath, [x, y]: [BasicValueEnum<'ctx>; 2]) -> Emitted<BasicValueEnum<'ctx>> {
        let predicate = match cc {
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
        let value = match (x, y) {
            (BasicValueEnum::VectorValue(x), BasicValueEnum::VectorValue(y)) => {
                self.builder.build_float_compare(predicate, x, y, "")?.as_basic_value_enum()
            }
            (x, y) => {
                let (x, y) = (x.into_float_value(), y.into_float_value());
                self.builder.build_float_compare(predicate, x, y, "")?.as_basic_value_enum()
            }
        };
        Ok(self.put_fast_math(value, fmf))
    }
}
