//! Floats taken apart into significand and exponent, and put together: AVX-512's instructions, or operations on the bits
//! where there are none.

use super::emit::{Emitted, Emitter};
use inkwell::module::Linkage;
use inkwell::types::VectorType;
use inkwell::values::{BasicValueEnum, IntValue, VectorValue};
use lockstep_ir::ir::{BinaryOp, COUNTS_SIXTEENTHS, FastMath, FloatCc, IntFlags, ROOTS, TernaryOp};
use lockstep_protocol::types::Type;

/// The significand is to be from 3/4 up to 3/2, and NaN below zero.
const INTERVAL: u64 = 3 | 2 << 2;

/// The bits of 3/4, and where a double's exponent begins.
const THREE_QUARTERS: u128 = 0x3fe8_0000_0000_0000;
const EXPONENT: u128 = 52;

/// The biases of two doubles' exponents.
const BIASES: u128 = 2046;

impl<'ctx> Emitter<'ctx, '_> {
    /// The significand of a float (`UnaryOp::Significand`).
    pub fn emit_significand(&self, operand: BasicValueEnum<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        if self.target.estimates {
            let interval = self.context.i32_type().const_int(INTERVAL, false).into();
            return self.by_register(Type::F64, [operand, operand], |register, [operand, _]| {
                let arguments = register.with_rounding([operand, interval, operand, register.mask]);
                self.call_intrinsic(&register.intrinsic_name("getmant.pd"), &[], &arguments)
            });
        }
        let (of_bits, places) = self.split_exponent(operand)?;
        let significand = self.binary_plain(
            BinaryOp::Sub,
            of_bits,
            self.binary_plain(BinaryOp::Shl, places, self.word_like(EXPONENT, operand)?)?,
        )?;
        let significand = self.builder.build_bit_cast(significand, operand.get_type(), "")?;
        let positive = self.fcmp(FloatCc::Oge, FastMath::default(), [operand, self.double_like(0.0, operand)?])?;
        self.select_double(positive, significand, self.double_like(f64::NAN, operand)?)
    }

    /// The exponent of a float (`UnaryOp::Logb`).
    pub fn emit_logb(&self, operand: BasicValueEnum<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        let exact = FastMath::default();
        if self.target.estimates {
            let exponent = self.by_register(Type::F64, [operand, operand], |register, [operand, _]| {
                let arguments = register.with_rounding([operand, operand, register.mask]);
                self.call_intrinsic(&register.intrinsic_name("getexp.pd"), &[], &arguments)
            })?;
            // The instruction's significand would be from 1 up to 2.
            let below =
                self.fcmp(FloatCc::Olt, exact, [self.emit_significand(operand)?, self.double_like(1.0, operand)?])?;
            let more = self.binary_plain(BinaryOp::Fadd, exponent, self.double_like(1.0, operand)?)?;
            return self.select_double(below, more, exponent);
        }
        let (_, places) = self.split_exponent(operand)?;
        // An integer of few bits over the pattern of 1.5 * 2^52, as not every machine converts it in lanes.
        let rounder = self.double_like(6_755_399_441_055_744.0, operand)?;
        let pattern = self.builder.build_bit_cast(rounder, places.get_type(), "")?;
        let pattern =
            self.builder.build_bit_cast(self.binary_plain(BinaryOp::Add, places, pattern)?, operand.get_type(), "")?;
        let exponent = self.binary_plain(BinaryOp::Fsub, pattern, rounder)?;
        let denormal = self.is_denormal(operand)?;
        let less = self.binary_plain(BinaryOp::Fsub, exponent, self.double_like(54.0, operand)?)?;
        let mut exponent = self.select_double(denormal, less, exponent)?;
        for (number, of_it) in [(0.0, f64::NEG_INFINITY), (f64::INFINITY, f64::INFINITY)] {
            let is_it = self.fcmp(FloatCc::Oeq, exact, [operand, self.double_like(number, operand)?])?;
            exponent = self.select_double(is_it, self.double_like(of_it, operand)?, exponent)?;
        }
        Ok(exponent)
    }

    /// A float times a power of two (`TernaryOp::Scaled`).
    pub fn emit_scaled(
        &self,
        scalar_type: Type,
        [left, right, counted]: [BasicValueEnum<'ctx>; 3],
    ) -> Emitted<BasicValueEnum<'ctx>> {
        // Both factors' biases are in the low bits of what counts, and what is above them is shifted out.
        let (zero, int_type) = match scalar_type {
            Type::F32 => (u128::from(12_583_166_f32.to_bits()), Type::I32),
            _ => (6_755_399_441_057_790_f64.to_bits().into(), Type::I64),
        };
        let alone = match right {
            BasicValueEnum::VectorValue(right) => right.is_null(),
            right => right.into_float_value().is_null(),
        };
        if self.target.estimates {
            let sum = if alone { left } else { self.binary_plain(BinaryOp::Fadd, left, right)? };
            let power = self.binary_plain(BinaryOp::Fsub, counted, self.in_all_lanes(scalar_type, zero, left)?)?;
            return self.by_power(scalar_type, sum, power);
        }
        let both = self.builder.build_bit_cast(counted, self.ty_like(int_type, left), "")?;
        self.by_two_powers(scalar_type, left, (!alone).then_some(right), both)
    }

    /// A number times a power of sixteenths of two (`BinaryOp::Powered`).
    pub fn emit_powered(
        &self,
        operand: BasicValueEnum<'ctx>,
        counted: BasicValueEnum<'ctx>,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let exact = FastMath::default();
        let bit_pattern = self.builder.build_bit_cast(counted, self.ty_like(Type::I64, operand), "")?;
        let root = self.root_of_two(bit_pattern, operand)?;
        let sum = self.ternary(TernaryOp::FmulAdd, exact, Type::F64, [root, operand, root])?;
        if self.target.estimates {
            // The instruction takes the whole part.
            let n = self.binary_plain(BinaryOp::Fsub, counted, self.double_like(COUNTS_SIXTEENTHS, operand)?)?;
            return self.by_power(Type::F64, sum, n);
        }
        let whole = self.binary_plain(BinaryOp::Lshr, bit_pattern, self.word_like(4, operand)?)?;
        self.by_two_powers(
            Type::F64,
            sum,
            None,
            self.binary_plain(BinaryOp::Add, whole, self.word_like(BIASES, operand)?)?,
        )
    }

    /// The root of two that the last four bits of a number stand for: from two registers that hold all of them, or from
    /// memory.
    fn root_of_two(
        &self,
        bit_pattern: BasicValueEnum<'ctx>,
        like: BasicValueEnum<'ctx>,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let double = self.context.f64_type();
        let roots: Vec<_> = ROOTS.iter().map(|&bit_pattern| double.const_float(f64::from_bits(bit_pattern))).collect();
        if like.is_vector_value() && self.target.permutes {
            let [low, high] = [&roots[..8], &roots[8..]].map(|half| VectorType::const_vector(half).into());
            return self.by_widest(bit_pattern.into_vector_value(), |places| {
                self.call_intrinsic("llvm.x86.avx512.vpermi2var.pd.512", &[], &[low, places.into(), high])
            });
        }
        let table = self.module.add_global(double.array_type(ROOTS.len() as u32), None, "");
        table.set_initializer(&double.const_array(&roots));
        table.set_constant(true);
        table.set_linkage(Linkage::Private);
        let places = self.binary_plain(BinaryOp::And, bit_pattern, self.word_like(15, like)?)?;
        let at = |position: IntValue<'ctx>| -> Emitted<BasicValueEnum<'ctx>> {
            // SAFETY: the place is below the number of elements.
            let address =
                unsafe { self.builder.build_in_bounds_gep(double, table.as_pointer_value(), &[position], "") };
            Ok(self.builder.build_load(double, address?, "")?)
        };
        let BasicValueEnum::VectorValue(places) = places else { return at(places.into_int_value()) };
        let lanes = (0..places.get_type().get_size()).map(|lane| self.const64(lane.into()));
        let mut found = self.ty_like(Type::F64, like).into_vector_type().get_poison();
        for lane in lanes {
            let position = self.builder.build_extract_element(places, lane, "")?.into_int_value();
            found = self.builder.build_insert_element(found, at(position)?, lane, "")?;
        }
        Ok(found.into())
    }

    /// An instruction on eight numbers of 64 bits, for as many as there are.
    fn by_widest(
        &self,
        argument: VectorValue<'ctx>,
        instruction: impl Fn(VectorValue<'ctx>) -> Emitted<BasicValueEnum<'ctx>>,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let lane_count = argument.get_type().get_size();
        let part = |begin: u32| -> Emitted<VectorValue<'ctx>> {
            // Behind the last lane there is any one.
            let lane_indices: Vec<_> =
                (begin..begin + 8).map(|lane| Some(lane).filter(|&lane| lane < lane_count)).collect();
            Ok(instruction(self.shuffle_vectors(argument, argument, &lane_indices)?)?.into_vector_value())
        };
        let parts = (0..lane_count).step_by(8).map(part).collect::<Emitted<Vec<_>>>()?;
        Ok(self.concat_vectors(&parts, lane_count)?.into())
    }

    /// operand 2^power by the machine's instruction, which takes the whole part of the power.
    fn by_power(
        &self,
        scalar_type: Type,
        operand: BasicValueEnum<'ctx>,
        power: BasicValueEnum<'ctx>,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let operation = if scalar_type == Type::F32 { "scalef.ps" } else { "scalef.pd" };
        self.by_register(scalar_type, [operand, power], |register, [operand, power]| {
            let arguments = register.with_rounding([operand, power, operand, register.mask]);
            self.call_intrinsic(&register.intrinsic_name(operation), &[], &arguments)
        })
    }

    /// (left + right) 2^n by two factors, as the power may be none that the type has, or the result be denormal, which rounds it.
    /// The low bits of `both` are n and both factors' biases.
    fn by_two_powers(
        &self,
        scalar_type: Type,
        left: BasicValueEnum<'ctx>,
        right: Option<BasicValueEnum<'ctx>>,
        both: BasicValueEnum<'ctx>,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let exact = FastMath::default();
        let (int_type, place) = if scalar_type == Type::F32 { (Type::I32, 23) } else { (Type::I64, EXPONENT) };
        let number = |bit_pattern| self.in_all_lanes(int_type, bit_pattern, left);
        let first_half = self.binary_plain(BinaryOp::Lshr, both, number(1)?)?;
        let other = self.binary_plain(BinaryOp::Sub, both, first_half)?;
        let power = |half| -> Emitted<BasicValueEnum> {
            let bit_pattern = self.binary_plain(BinaryOp::Shl, half, number(place)?)?;
            Ok(self.builder.build_bit_cast(bit_pattern, left.get_type(), "")?)
        };
        let scale = power(first_half)?;
        let scaled = match right {
            None => self.binary_plain(BinaryOp::Fmul, left, scale)?,
            Some(right) => self.ternary(
                TernaryOp::FmulAdd,
                exact,
                scalar_type,
                [left, scale, self.binary_plain(BinaryOp::Fmul, right, scale)?],
            )?,
        };
        self.binary_plain(BinaryOp::Fmul, scaled, power(other)?)
    }

    /// The bits of a positive double, of a denormal one 54 places further on, and how many powers of two it is away from
    /// its significand.
    fn split_exponent(&self, operand: BasicValueEnum<'ctx>) -> Emitted<(BasicValueEnum<'ctx>, BasicValueEnum<'ctx>)> {
        let normal =
            self.binary_plain(BinaryOp::Fmul, operand, self.double_like(18_014_398_509_481_984.0, operand)?)?;
        let normal = self.select_double(self.is_denormal(operand)?, normal, operand)?;
        let of_bits = self.builder.build_bit_cast(normal, self.ty_like(Type::I64, operand), "")?;
        let away = self.binary_plain(BinaryOp::Sub, of_bits, self.word_like(THREE_QUARTERS, operand)?)?;
        // Not every machine shifts in signs: 2048 more, and less behind it.
        let up = self.binary_plain(BinaryOp::Add, away, self.word_like(1 << 63, operand)?)?;
        let places = self.binary_plain(BinaryOp::Lshr, up, self.word_like(EXPONENT, operand)?)?;
        Ok((of_bits, self.binary_plain(BinaryOp::Sub, places, self.word_like(2048, operand)?)?))
    }

    fn is_denormal(&self, operand: BasicValueEnum<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        self.fcmp(FloatCc::Olt, FastMath::default(), [operand, self.double_like(f64::MIN_POSITIVE, operand)?])
    }

    fn binary_plain(
        &self,
        opcode: BinaryOp,
        left: BasicValueEnum<'ctx>,
        right: BasicValueEnum<'ctx>,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        self.binary(opcode, IntFlags::default(), FastMath::default(), [left, right])
    }

    fn select_double(
        &self,
        which: BasicValueEnum<'ctx>,
        left: BasicValueEnum<'ctx>,
        right: BasicValueEnum<'ctx>,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        self.ternary(TernaryOp::Select, FastMath::default(), Type::F64, [which, left, right])
    }

    fn double_like(&self, number: f64, like: BasicValueEnum<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        self.in_all_lanes(Type::F64, number.to_bits().into(), like)
    }

    fn word_like(&self, bit_pattern: u128, like: BasicValueEnum<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        self.in_all_lanes(Type::I64, bit_pattern, like)
    }

    /// An instruction of AVX-512 on registers of as many lanes as there are, given the register and its operands.
    fn by_register(
        &self,
        scalar_type: Type,
        arguments: [BasicValueEnum<'ctx>; 2],
        instruction: impl Fn(&Register<'ctx>, [BasicValueEnum<'ctx>; 2]) -> Emitted<BasicValueEnum<'ctx>>,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let first = self.const64(0);
        let least = 128 / scalar_type.bits();
        if !arguments[0].is_vector_value() {
            let alone = super::emit::vector_of(self.value_type(scalar_type), least).get_poison();
            let [left, right] = arguments.map(|argument| self.builder.build_insert_element(alone, argument, first, ""));
            let vectors = [left?.into(), right?.into()];
            let result = self.by_register(scalar_type, vectors, instruction)?;
            return Ok(self.builder.build_extract_element(result.into_vector_value(), first, "")?);
        }
        let arguments = arguments.map(|argument| argument.into_vector_value());
        let lane_count = arguments[0].get_type().get_size();
        let lanes = [512, 256]
            .map(|bit_width| bit_width / scalar_type.bits())
            .into_iter()
            .find(|&lanes| lane_count >= lanes)
            .unwrap_or(least);
        let mask = self.int_type(lanes.max(8)).const_all_ones().into();
        let register = Register { bits: lanes * scalar_type.bits(), mask };
        let mut results = Vec::new();
        for begin in (0..lane_count).step_by(lanes as usize) {
            // Behind the last lane there is any one.
            let part_lanes: Vec<_> = (begin..begin + lanes).map(|lane| Some(lane.min(lane_count - 1))).collect();
            let [left, right] = arguments.map(|argument| match lane_count == lanes {
                true => Ok(argument),
                false => self.shuffle_vectors(argument, argument, &part_lanes),
            });
            results.push(instruction(&register, [left?.into(), right?.into()])?.into_vector_value());
        }
        Ok(self.concat_vectors(&results, lane_count)?.into())
    }
}

/// A register that an instruction of AVX-512 works on.
struct Register<'ctx> {
    bits: u32,
    /// The mask of all its lanes.
    mask: BasicValueEnum<'ctx>,
}

impl<'ctx> Register<'ctx> {
    /// LLVM's name of an instruction on such registers.
    fn intrinsic_name(&self, operation: &str) -> String {
        format!("llvm.x86.avx512.mask.{operation}.{}", self.bits)
    }

    /// The widest registers' instructions are told how to round: as the thread does.
    fn with_rounding<const N: usize>(&self, arguments: [BasicValueEnum<'ctx>; N]) -> Vec<BasicValueEnum<'ctx>> {
        let as_is = self.mask.into_int_value().get_type().get_context().i32_type().const_int(4, false).into();
        arguments.into_iter().chain((self.bits == 512).then_some(as_is)).collect()
    }
}
