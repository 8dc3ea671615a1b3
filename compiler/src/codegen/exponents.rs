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
        let (of_bits, exponent) = self.split_exponent(operand)?;
        let significand = self.binary_plain(
            BinaryOp::Sub,
            of_bits,
            self.binary_plain(BinaryOp::Shl, exponent, self.word_like(EXPONENT, operand)?)?,
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
            let is_below =
                self.fcmp(FloatCc::Olt, exact, [self.emit_significand(operand)?, self.double_like(1.0, operand)?])?;
            let next_exponent = self.binary_plain(BinaryOp::Fadd, exponent, self.double_like(1.0, operand)?)?;
            return self.select_double(is_below, next_exponent, exponent);
        }
        let (_, exponent_bits) = self.split_exponent(operand)?;
        // An integer of few bits over the pattern of 1.5 * 2^52, as not every machine converts it in lanes.
        let rounder = self.double_like(6_755_399_441_055_744.0, operand)?;
        let pattern = self.builder.build_bit_cast(rounder, exponent_bits.get_type(), "")?;
        let pattern = self.builder.build_bit_cast(
            self.binary_plain(BinaryOp::Add, exponent_bits, pattern)?,
            operand.get_type(),
            "",
        )?;
        let exponent = self.binary_plain(BinaryOp::Fsub, pattern, rounder)?;
        let denormal = self.is_denormal(operand)?;
        let denormal_exponent = self.binary_plain(BinaryOp::Fsub, exponent, self.double_like(54.0, operand)?)?;
        let mut exponent = self.select_double(denormal, denormal_exponent, exponent)?;
        for (number, of_it) in [(0.0, f64::NEG_INFINITY), (f64::INFINITY, f64::INFINITY)] {
            let is_special = self.fcmp(FloatCc::Oeq, exact, [operand, self.double_like(number, operand)?])?;
            exponent = self.select_double(is_special, self.double_like(of_it, operand)?, exponent)?;
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
        let (counted_zero, int_type) = match scalar_type {
            Type::F32 => (u128::from(12_583_166_f32.to_bits()), Type::I32),
            _ => (6_755_399_441_057_790_f64.to_bits().into(), Type::I64),
        };
        let is_product = match right {
            BasicValueEnum::VectorValue(right) => right.is_null(),
            right => right.into_float_value().is_null(),
        };
        if self.target.estimates {
            let summed = if is_product { left } else { self.binary_plain(BinaryOp::Fadd, left, right)? };
            let power =
                self.binary_plain(BinaryOp::Fsub, counted, self.in_all_lanes(scalar_type, counted_zero, left)?)?;
            return self.by_power(scalar_type, summed, power);
        }
        let both_powers = self.builder.build_bit_cast(counted, self.ty_like(int_type, left), "")?;
        self.by_two_powers(scalar_type, left, (!is_product).then_some(right), both_powers)
    }

    /// A number times a power of sixteenths of two (`BinaryOp::Powered`).
    pub fn emit_powered(
        &self,
        operand: BasicValueEnum<'ctx>,
        counted: BasicValueEnum<'ctx>,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let exact = FastMath::default();
        let bit_pattern = self.builder.build_bit_cast(counted, self.ty_like(Type::I64, operand), "")?;
        let table_root = self.root_of_two(bit_pattern, operand)?;
        let whole_power = self.ternary(TernaryOp::FmulAdd, exact, Type::F64, [table_root, operand, table_root])?;
        if self.target.estimates {
            // The instruction takes the whole part.
            let power = self.binary_plain(BinaryOp::Fsub, counted, self.double_like(COUNTS_SIXTEENTHS, operand)?)?;
            return self.by_power(Type::F64, whole_power, power);
        }
        let whole_part = self.binary_plain(BinaryOp::Lshr, bit_pattern, self.word_like(4, operand)?)?;
        self.by_two_powers(
            Type::F64,
            whole_power,
            None,
            self.binary_plain(BinaryOp::Add, whole_part, self.word_like(BIASES, operand)?)?,
        )
    }

    /// The root of two that the last four bits of a number stand for: from two registers that hold all of them, or from
    /// memory.
    fn root_of_two(
        &self,
        bit_pattern: BasicValueEnum<'ctx>,
        like_value: BasicValueEnum<'ctx>,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let double_type = self.context.f64_type();
        let root_constants: Vec<_> =
            ROOTS.iter().map(|&bit_pattern| double_type.const_float(f64::from_bits(bit_pattern))).collect();
        if like_value.is_vector_value() && self.target.permutes {
            let [low_half, high_half] = [&root_constants[..8], &root_constants[8..]]
                .map(|root_half| VectorType::const_vector(root_half).into());
            return self.by_widest(bit_pattern.into_vector_value(), |root_indices| {
                let arguments = [low_half, root_indices.into(), high_half];
                self.call_intrinsic("llvm.x86.avx512.vpermi2var.pd.512", &[], &arguments)
            });
        }
        let root_table = self.module.add_global(double_type.array_type(ROOTS.len() as u32), None, "");
        root_table.set_initializer(&double_type.const_array(&root_constants));
        root_table.set_constant(true);
        root_table.set_linkage(Linkage::Private);
        let root_indices = self.binary_plain(BinaryOp::And, bit_pattern, self.word_like(15, like_value)?)?;
        let table_address = root_table.as_pointer_value();
        let load_root = |position: IntValue<'ctx>| -> Emitted<BasicValueEnum<'ctx>> {
            // SAFETY: the position is below the number of elements.
            let address = unsafe { self.builder.build_in_bounds_gep(double_type, table_address, &[position], "") };
            Ok(self.builder.build_load(double_type, address?, "")?)
        };
        let BasicValueEnum::VectorValue(root_indices) = root_indices else {
            return load_root(root_indices.into_int_value());
        };
        let lanes = (0..root_indices.get_type().get_size()).map(|lane| self.const64(lane.into()));
        let mut found_roots = self.ty_like(Type::F64, like_value).into_vector_type().get_poison();
        for lane in lanes {
            let position = self.builder.build_extract_element(root_indices, lane, "")?.into_int_value();
            found_roots = self.builder.build_insert_element(found_roots, load_root(position)?, lane, "")?;
        }
        Ok(found_roots.into())
    }

    /// An instruction on eight numbers of 64 bits, for as many as there are.
    fn by_widest(
        &self,
        argument: VectorValue<'ctx>,
        instruction: impl Fn(VectorValue<'ctx>) -> Emitted<BasicValueEnum<'ctx>>,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let lane_count = argument.get_type().get_size();
        let mut part_vectors = Vec::new();
        for first_lane in (0..lane_count).step_by(8) {
            // Behind the last lane there is any one.
            let part_lanes: Vec<_> =
                (first_lane..first_lane + 8).map(|lane| Some(lane).filter(|&lane| lane < lane_count)).collect();
            let part = self.shuffle_vectors(argument, argument, &part_lanes)?;
            part_vectors.push(instruction(part)?.into_vector_value());
        }
        Ok(self.concat_vectors(&part_vectors, lane_count)?.into())
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
    /// The low bits of `both_powers` are the power and both factors' biases.
    fn by_two_powers(
        &self,
        scalar_type: Type,
        left: BasicValueEnum<'ctx>,
        right: Option<BasicValueEnum<'ctx>>,
        both_powers: BasicValueEnum<'ctx>,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let exact = FastMath::default();
        let (int_type, exponent_position) =
            if scalar_type == Type::F32 { (Type::I32, 23) } else { (Type::I64, EXPONENT) };
        let word_constant = |bit_pattern| self.in_all_lanes(int_type, bit_pattern, left);
        let first_power = self.binary_plain(BinaryOp::Lshr, both_powers, word_constant(1)?)?;
        let second_power = self.binary_plain(BinaryOp::Sub, both_powers, first_power)?;
        let power_of_two = |power_half| -> Emitted<BasicValueEnum> {
            let bit_pattern = self.binary_plain(BinaryOp::Shl, power_half, word_constant(exponent_position)?)?;
            Ok(self.builder.build_bit_cast(bit_pattern, left.get_type(), "")?)
        };
        let first_factor = power_of_two(first_power)?;
        let scaled = match right {
            None => self.binary_plain(BinaryOp::Fmul, left, first_factor)?,
            Some(right) => self.ternary(
                TernaryOp::FmulAdd,
                exact,
                scalar_type,
                [left, first_factor, self.binary_plain(BinaryOp::Fmul, right, first_factor)?],
            )?,
        };
        self.binary_plain(BinaryOp::Fmul, scaled, power_of_two(second_power)?)
    }

    /// The bits of a positive double, of a denormal one 54 places further on, and how many powers of two it is away from
    /// its significand.
    fn split_exponent(&self, operand: BasicValueEnum<'ctx>) -> Emitted<(BasicValueEnum<'ctx>, BasicValueEnum<'ctx>)> {
        let normalized =
            self.binary_plain(BinaryOp::Fmul, operand, self.double_like(18_014_398_509_481_984.0, operand)?)?;
        let normalized = self.select_double(self.is_denormal(operand)?, normalized, operand)?;
        let of_bits = self.builder.build_bit_cast(normalized, self.ty_like(Type::I64, operand), "")?;
        let distance = self.binary_plain(BinaryOp::Sub, of_bits, self.word_like(THREE_QUARTERS, operand)?)?;
        // Not every machine shifts in signs: 2048 more, and less behind it.
        let biased = self.binary_plain(BinaryOp::Add, distance, self.word_like(1 << 63, operand)?)?;
        let exponent_bits = self.binary_plain(BinaryOp::Lshr, biased, self.word_like(EXPONENT, operand)?)?;
        Ok((of_bits, self.binary_plain(BinaryOp::Sub, exponent_bits, self.word_like(2048, operand)?)?))
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
        condition: BasicValueEnum<'ctx>,
        left: BasicValueEnum<'ctx>,
        right: BasicValueEnum<'ctx>,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        self.ternary(TernaryOp::Select, FastMath::default(), Type::F64, [condition, left, right])
    }

    fn double_like(&self, number: f64, like_value: BasicValueEnum<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        self.in_all_lanes(Type::F64, number.to_bits().into(), like_value)
    }

    fn word_like(&self, bit_pattern: u128, like_value: BasicValueEnum<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        self.in_all_lanes(Type::I64, bit_pattern, like_value)
    }

    /// An instruction of AVX-512 on registers of as many lanes as there are, given the register and its operands.
    fn by_register(
        &self,
        scalar_type: Type,
        arguments: [BasicValueEnum<'ctx>; 2],
        instruction: impl Fn(&Register<'ctx>, [BasicValueEnum<'ctx>; 2]) -> Emitted<BasicValueEnum<'ctx>>,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let first = self.const64(0);
        let least_lanes = 128 / scalar_type.bits();
        if !arguments[0].is_vector_value() {
            let one_lane = super::emit::vector_of(self.value_type(scalar_type), least_lanes).get_poison();
            let [left, right] =
                arguments.map(|argument| self.builder.build_insert_element(one_lane, argument, first, ""));
            let vectors = [left?.into(), right?.into()];
            let result = self.by_register(scalar_type, vectors, instruction)?;
            return Ok(self.builder.build_extract_element(result.into_vector_value(), first, "")?);
        }
        let arguments = arguments.map(|argument| argument.into_vector_value());
        let lane_count = arguments[0].get_type().get_size();
        let register_lanes = [512, 256]
            .map(|bit_width| bit_width / scalar_type.bits())
            .into_iter()
            .find(|&register_lanes| lane_count >= register_lanes)
            .unwrap_or(least_lanes);
        let mask = self.int_type(register_lanes.max(8)).const_all_ones().into();
        let register = Register { bits: register_lanes * scalar_type.bits(), mask };
        let mut results = Vec::new();
        for first_lane in (0..lane_count).step_by(register_lanes as usize) {
            // Behind the last lane there is any one.
            let part_lanes: Vec<_> =
                (first_lane..first_lane + register_lanes).map(|lane| Some(lane.min(lane_count - 1))).collect();
            let [left, right] = arguments.map(|argument| match lane_count == register_lanes {
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
        let thread_rounding = self.mask.into_int_value().get_type().get_context().i32_type().const_int(4, false).into();
        arguments.into_iter().chain((self.bits == 512).then_some(thread_rounding)).collect()
    }
}
