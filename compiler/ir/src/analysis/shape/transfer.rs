//! What operations make of shapes.
//!
//! Requires: operands of the types that the verifier asks for.
//! Ensures: the result holds in all lanes whenever the operands' facts do; lanes whose result is poison
//! count for nothing.
//! Phases: one function per kind of operation; `into_canonical` brings the result into canonical form.
//! Source: Moll 2021, section 10.4. Wrapping is treated exactly: beside the shape goes whether the lanes
//! also lie on a line when read as signed or unsigned integers, which extensions, divisions and
//! comparisons need. Where the alignment of lane 0 exceeds the span of the lanes, they fill low bits that
//! are zero in lane 0, so that bit operations with constants act on known bits. Odd factors do not survive wrapping:
//! they are those of lanes that are read as signed integers and were computed without it.

use super::Shape;
use crate::ir::{BinaryOp, IntCc, IntFlags, UnaryOp};
use lockstep_protocol::types::Type;

/// What is known of a value in all lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Known {
    /// How its lanes differ.
    pub shape: Shape,
    /// Strided also when lanes are read as signed integers: none wraps.
    pub signed: bool,
    /// Strided also when lanes are read as unsigned integers: none wraps.
    pub unsigned: bool,
    /// No lane is greater, read as unsigned integer.
    pub max: u128,
    /// The value, if it is a constant.
    pub bits: Option<u128>,
    /// An odd number that divides each lane, read as a signed integer, less the strides before it. 0 if that is zero.
    pub factor: u64,
}

/// The largest power of two that divides a number.
fn power_in(number: u128) -> u64 {
    1 << number.trailing_zeros().min(63)
}

/// The odd part of a number's amount.
fn odd_part(number: i128) -> u64 {
    let amount = number.unsigned_abs();
    u64::try_from(amount.checked_shr(amount.trailing_zeros()).unwrap_or(0)).unwrap_or(1)
}

/// The greatest number that divides both; every number divides zero.
fn greatest_common_divisor(mut left: u64, mut right: u64) -> u64 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}

fn signed_half(value_type: Type) -> u128 {
    value_type.value_mask() >> 1
}

impl Known {
    /// Nothing but the type.
    pub fn varying(value_type: Type) -> Known {
        Known {
            shape: Shape::Varying,
            signed: false,
            unsigned: false,
            max: value_type.value_mask(),
            bits: None,
            factor: 1,
        }
    }

    /// The same in all lanes and a multiple of `alignment`.
    pub fn uniform(value_type: Type, alignment: u64) -> Known {
        Known {
            shape: Shape::uniform(alignment),
            signed: true,
            unsigned: true,
            max: value_type.value_mask(),
            bits: None,
            factor: 1,
        }
    }

    /// A constant of a type, by its bits.
    pub fn constant(value_type: Type, bits: u128) -> Known {
        let (alignment, factor) =
            if value_type.is_float() { (1, 1) } else { (power_in(bits), odd_part(signed_number(value_type, bits))) };
        Known { max: bits, bits: Some(bits), factor, ..Known::uniform(value_type, alignment) }
    }

    /// What a shape alone says.
    pub fn of_shape(value_type: Type, shape: Shape, gang_width: u32) -> Known {
        Known { shape, ..Known::varying(value_type) }.into_canonical(value_type, gang_width)
    }

    /// What holds of either value.
    pub fn join(self, other: Known) -> Known {
        let shape = self.shape.join(other.shape);
        let strided = !shape.is_varying();
        Known {
            shape,
            signed: strided && self.signed && other.signed,
            unsigned: strided && self.unsigned && other.unsigned,
            max: self.max.max(other.max),
            bits: self.bits.filter(|_| self.bits == other.bits),
            factor: if strided { greatest_common_divisor(self.factor, other.factor) } else { 1 },
        }
    }

    /// The same with another shape, of which nothing else is known yet.
    fn with_shape(self, stride: i128, alignment: u64) -> Known {
        match i64::try_from(stride) {
            Ok(stride) => Known { shape: Shape::Strided { stride, align: alignment }, ..self },
            Err(_) => Known { shape: Shape::Varying, signed: false, unsigned: false, factor: 1, ..self },
        }
    }

    /// Canonical form: strides fit the type, only integers and addresses are strided, and all that
    /// follows from the shape and the bound is said.
    fn into_canonical(mut self, value_type: Type, gang_width: u32) -> Known {
        self.max = self.max.min(value_type.value_mask());
        let Shape::Strided { stride, align } = self.shape else {
            return Known { signed: false, unsigned: false, bits: None, factor: 1, ..self };
        };
        let unused_bits = 64u32.saturating_sub(value_type.bits());
        let reduced = stride << unused_bits >> unused_bits;
        if reduced != stride {
            self.factor = 1;
        }
        if reduced == 0 {
            let shape = Shape::uniform(if value_type.is_float() { 1 } else { align });
            return Known { shape, signed: true, unsigned: true, ..self };
        }
        if value_type.is_float() || value_type.bits() == 1 || value_type.bits() > 64 {
            return Known { shape: Shape::Varying, signed: false, unsigned: false, bits: None, factor: 1, ..self };
        }
        self.bits = None;
        self.shape = Shape::Strided { stride: reduced, align };
        if reduced != stride {
            (self.signed, self.unsigned) = (false, false);
        }
        if let Some(span) = self.lane_span(gang_width) {
            self.unsigned |= span <= value_type.value_mask();
            self.signed |= span <= signed_half(value_type);
        }
        if self.max <= signed_half(value_type) {
            let either = self.signed || self.unsigned;
            (self.signed, self.unsigned) = (either, either);
        }
        self
    }

    /// The last lane's distance from lane 0, if it is less than the alignment of lane 0.
    fn lane_span(self, gang_width: u32) -> Option<u128> {
        let Shape::Strided { stride, align } = self.shape else { return None };
        let span = u128::try_from(stride).ok()? * u128::from(gang_width.max(1) - 1);
        (span < u128::from(align)).then_some(span)
    }
}

/// All uniform gives uniform, anything else varying.
pub fn transfer_generic(result_type: Type, arguments: &[Known]) -> Known {
    if arguments.iter().all(|argument| argument.shape.is_uniform()) {
        Known::uniform(result_type, 1)
    } else {
        Known::varying(result_type)
    }
}

/// Operations of one operand.
pub fn transfer_unary(opcode: UnaryOp, from_type: Type, to_type: Type, operand: Known, gang_width: u32) -> Known {
    let Shape::Strided { stride, align } = operand.shape else {
        let maximum = match opcode {
            UnaryOp::Zext => operand.max,
            UnaryOp::Trunc if operand.max <= to_type.value_mask() => operand.max,
            UnaryOp::Sext if operand.max <= signed_half(from_type) => operand.max,
            _ => to_type.value_mask(),
        };
        return Known { max: maximum, ..Known::varying(to_type) };
    };
    let strided = |signed: bool, unsigned: bool, maximum: u128| {
        let bits = operand.bits.filter(|&bits| bits <= maximum && maximum != to_type.value_mask());
        let is_same_number = opcode == UnaryOp::Sext || operand.max <= signed_half(from_type).min(signed_half(to_type));
        let factor = if is_same_number { operand.factor } else { 1 };
        Known { shape: Shape::Strided { stride, align }, signed, unsigned, max: maximum, bits, factor }
            .into_canonical(to_type, gang_width)
    };
    let uniform = stride == 0;
    match opcode {
        // What was promised of a number does not hold of it once it is frozen.
        UnaryOp::Freeze if operand.bits.is_some() => Known { factor: 1, ..operand },
        UnaryOp::Freeze => Known::of_shape(to_type, operand.shape, gang_width),
        UnaryOp::Trunc | UnaryOp::PtrToInt | UnaryOp::IntToPtr | UnaryOp::Zext
            if to_type.bits() <= from_type.bits() =>
        {
            let fits = operand.max <= to_type.value_mask();
            let maximum = if fits { operand.max } else { to_type.value_mask() };
            strided(to_type.bits() == from_type.bits() && operand.signed, fits && operand.unsigned, maximum)
        }
        UnaryOp::Zext | UnaryOp::PtrToInt | UnaryOp::IntToPtr if uniform || operand.unsigned => {
            strided(true, true, operand.max)
        }
        UnaryOp::Sext if uniform || operand.signed => {
            let positive = operand.max <= signed_half(from_type);
            strided(true, false, if positive { operand.max } else { to_type.value_mask() })
        }
        UnaryOp::SpaceCast => strided(operand.signed, operand.unsigned, operand.max),
        UnaryOp::Bitcast if from_type == to_type => operand,
        UnaryOp::Bitcast if uniform && !from_type.is_float() && !to_type.is_float() => Known::uniform(to_type, align),
        _ => transfer_generic(to_type, &[operand]),
    }
}

/// Addition of strides and alignments, as for addresses.
pub fn ptr_add(left: Known, right: Known, gang_width: u32) -> Known {
    let offset_type = Type::I64;
    transfer_binary(BinaryOp::Add, IntFlags::default(), offset_type, left, right, gang_width)
}

/// Operations of two operands.
pub fn transfer_binary(
    opcode: BinaryOp,
    flags: IntFlags,
    result_type: Type,
    left: Known,
    right: Known,
    gang_width: u32,
) -> Known {
    let maximum = greatest_result(opcode, flags, result_type, left, right);
    let (
        Shape::Strided { stride: left_stride, align: left_align },
        Shape::Strided { stride: right_stride, align: right_align },
    ) = (left.shape, right.shape)
    else {
        return Known { max: maximum, ..Known::varying(result_type) };
    };
    let unshaped = Known { shape: Shape::Varying, signed: false, unsigned: false, max: maximum, bits: None, factor: 1 };
    let common_factor = greatest_common_divisor(left.factor, right.factor);
    let fits = |sum: Option<u128>| sum.is_some_and(|sum| sum <= result_type.value_mask());
    let (left_stride, right_stride) = (i128::from(left_stride), i128::from(right_stride));
    let result = match opcode {
        BinaryOp::Add => Known {
            signed: flags.nsw && left.signed && right.signed,
            unsigned: (flags.nuw || fits(left.max.checked_add(right.max))) && left.unsigned && right.unsigned,
            factor: if flags.nsw { common_factor } else { 1 },
            ..unshaped
        }
        .with_shape(left_stride + right_stride, left_align.min(right_align)),
        BinaryOp::Sub => Known {
            signed: flags.nsw && left.signed && right.signed,
            unsigned: flags.nuw && left.unsigned && right.unsigned,
            factor: if flags.nsw { common_factor } else { 1 },
            ..unshaped
        }
        .with_shape(left_stride - right_stride, left_align.min(right_align)),
        BinaryOp::Mul => match (left.bits, right.bits) {
            (_, Some(constant)) => scale_strided(
                unshaped,
                result_type,
                flags,
                left,
                signed_number(result_type, constant),
                fits(left.max.checked_mul(constant)),
            ),
            (Some(constant), _) => scale_strided(
                unshaped,
                result_type,
                flags,
                right,
                signed_number(result_type, constant),
                fits(right.max.checked_mul(constant)),
            ),
            _ if left_stride == 0 && right_stride == 0 => {
                let factor = if flags.nsw { product_factor(left.factor, right.factor) } else { 1 };
                Known { factor, ..unshaped }.with_shape(0, product_align(left_align, right_align))
            }
            _ => unshaped,
        },
        BinaryOp::Shl => match right.bits {
            Some(amount) if amount < u128::from(result_type.bits()).min(126) => {
                let constant = 1u128 << amount;
                scale_strided(
                    unshaped,
                    result_type,
                    flags,
                    left,
                    constant as i128,
                    fits(left.max.checked_mul(constant)),
                )
            }
            _ if left_stride == 0 && right_stride == 0 => unshaped.with_shape(0, left_align),
            _ => unshaped,
        },
        BinaryOp::Smin | BinaryOp::Smax if left_stride == right_stride && left.signed && right.signed => {
            Known { signed: true, factor: common_factor, ..unshaped }
                .with_shape(left_stride, left_align.min(right_align))
        }
        BinaryOp::Umin | BinaryOp::Umax if left_stride == right_stride && left.unsigned && right.unsigned => {
            Known { unsigned: true, ..unshaped }.with_shape(left_stride, left_align.min(right_align))
        }
        _ if left_stride == 0 && right_stride == 0 => {
            unshaped.with_shape(0, uniform_align(opcode, left_align, right_align, right))
        }
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor if left_stride == 0 => {
            transfer_bits(opcode, result_type, unshaped, right, left, gang_width)
        }
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor if right_stride == 0 => {
            transfer_bits(opcode, result_type, unshaped, left, right, gang_width)
        }
        BinaryOp::Lshr | BinaryOp::Ashr => match right.bits {
            Some(amount) if amount < u128::from(result_type.bits()) => {
                shift_right(opcode, unshaped, left, amount as u32, gang_width)
            }
            _ => unshaped,
        },
        BinaryOp::Udiv | BinaryOp::Urem => match right.bits {
            Some(constant) if constant != 0 && constant <= i64::MAX as u128 => {
                transfer_division(opcode == BinaryOp::Udiv, unshaped, left, constant as i64, gang_width)
            }
            None if right_stride == 0 => {
                divide_by_multiple(opcode == BinaryOp::Udiv, unshaped, left, right_align, gang_width)
            }
            _ => unshaped,
        },
        BinaryOp::Sdiv | BinaryOp::Srem
            if right_stride == 0 && right.bits.is_none() && left.max.max(right.max) <= signed_half(result_type) =>
        {
            divide_by_multiple(opcode == BinaryOp::Sdiv, unshaped, left, right_align, gang_width)
        }
        BinaryOp::Sdiv | BinaryOp::Srem => {
            match right.bits.and_then(|bits| i64::try_from(signed_number(result_type, bits)).ok()) {
                Some(divisor) if divisor != 0 => {
                    signed_divide(opcode == BinaryOp::Sdiv, result_type, unshaped, left, divisor, gang_width)
                }
                _ => unshaped,
            }
        }
        _ => unshaped,
    };
    result.into_canonical(result_type, gang_width)
}

/// The greatest result, read as unsigned integer.
fn greatest_result(opcode: BinaryOp, flags: IntFlags, result_type: Type, left: Known, right: Known) -> u128 {
    let grows = matches!(opcode, BinaryOp::Add | BinaryOp::Mul | BinaryOp::Shl);
    // Of what is not negative, nothing negative comes without wrapping.
    let greatest = if flags.nsw && grows && left.max.max(right.max) <= signed_half(result_type) {
        signed_half(result_type)
    } else {
        result_type.value_mask()
    };
    let capped = |bound: Option<u128>| bound.filter(|&bound| bound <= greatest).unwrap_or(greatest);
    match opcode {
        BinaryOp::Add => capped(left.max.checked_add(right.max)),
        BinaryOp::Sub if flags.nuw => left.max,
        BinaryOp::Mul => capped(left.max.checked_mul(right.max)),
        BinaryOp::Shl => match right.bits {
            Some(amount) if amount < 127 => capped(left.max.checked_mul(1 << amount)),
            _ => greatest,
        },
        BinaryOp::And | BinaryOp::Umin => left.max.min(right.max),
        BinaryOp::Umax => left.max.max(right.max),
        BinaryOp::Smin | BinaryOp::Smax if left.max.max(right.max) <= signed_half(result_type) => {
            left.max.max(right.max)
        }
        BinaryOp::Or | BinaryOp::Xor => match left.max.max(right.max) {
            0 => 0,
            bound => (u128::MAX >> bound.leading_zeros()).min(greatest),
        },
        BinaryOp::Ashr if left.max > signed_half(result_type) => greatest,
        BinaryOp::Lshr | BinaryOp::Ashr => match right.bits {
            Some(amount) if amount < 128 => left.max >> amount,
            _ => left.max,
        },
        BinaryOp::Udiv => match right.bits {
            Some(divisor) if divisor != 0 => left.max / divisor,
            _ => left.max,
        },
        BinaryOp::Urem => match right.bits {
            Some(divisor) if divisor != 0 => left.max.min(divisor - 1),
            _ => left.max,
        },
        BinaryOp::Sdiv | BinaryOp::Srem if left.max.max(right.max) <= signed_half(result_type) => left.max,
        _ => greatest,
    }
}

fn product_align(left: u64, right: u64) -> u64 {
    left.checked_mul(right).unwrap_or(1 << 63)
}

fn product_factor(left: u64, right: u64) -> u64 {
    left.checked_mul(right).unwrap_or(left.max(right))
}

/// The alignment of a uniform result of uniform operands.
fn uniform_align(opcode: BinaryOp, left_align: u64, right_align: u64, right: Known) -> u64 {
    match (opcode, right.bits) {
        (BinaryOp::And, _) => left_align.max(right_align),
        (BinaryOp::Or | BinaryOp::Xor, _) => left_align.min(right_align),
        (BinaryOp::Smin | BinaryOp::Smax | BinaryOp::Umin | BinaryOp::Umax, _) => left_align.min(right_align),
        (BinaryOp::Urem | BinaryOp::Srem, _) => left_align.min(right_align),
        (BinaryOp::Lshr | BinaryOp::Ashr, Some(amount)) if amount < 64 => (left_align >> amount).max(1),
        (BinaryOp::Udiv | BinaryOp::Sdiv, Some(divisor))
            if divisor.is_power_of_two() && divisor <= u128::from(left_align) =>
        {
            left_align / divisor as u64
        }
        _ => 1,
    }
}

/// A constant as a number: the bits of a type read as signed.
fn signed_number(value_type: Type, bits: u128) -> i128 {
    let unused_bits = 128 - value_type.bits();
    (bits << unused_bits) as i128 >> unused_bits
}

/// A strided value times a constant.
fn scale_strided(
    unshaped: Known,
    result_type: Type,
    flags: IntFlags,
    operand: Known,
    scale: i128,
    fits: bool,
) -> Known {
    let Some(stride) = operand.shape.stride() else { return unshaped };
    let alignment = product_align(operand.shape.align(), power_in(scale as u128));
    let factor = if flags.nsw { product_factor(operand.factor, odd_part(scale)) } else { 1 };
    let unshaped = Known { factor, ..unshaped };
    if stride == 0 {
        return unshaped.with_shape(0, alignment);
    }
    if result_type.bits() > 64 {
        return unshaped;
    }
    Known {
        signed: flags.nsw && operand.signed,
        unsigned: scale >= 0 && (flags.nuw || fits) && operand.unsigned,
        ..unshaped
    }
    .with_wrapped(i128::from(stride) * scale, alignment)
}

impl Known {
    /// As `with_shape`, for strides that count modulo 2^64.
    fn with_wrapped(self, stride: i128, alignment: u64) -> Known {
        match i64::try_from(stride) {
            Ok(_) => self.with_shape(stride, alignment),
            Err(_) => Known { signed: false, unsigned: false, factor: 1, ..self }
                .with_shape((stride as i64).into(), alignment),
        }
    }
}

/// The stride of numbers that a function gives for the lanes' low bits, if they lie on a line.
fn fit_stride(gang_width: u32, stride: u128, number_of: impl Fn(u128) -> u128) -> Option<i128> {
    let lane_number = |lane: u32| number_of(u128::from(lane) * stride) as i128;
    let step = if gang_width > 1 { lane_number(1) - lane_number(0) } else { 0 };
    (1..gang_width.max(1)).all(|lane| lane_number(lane) - lane_number(lane - 1) == step).then_some(step)
}

/// Bit operations of a strided value with a uniform one.
fn transfer_bits(
    opcode: BinaryOp,
    result_type: Type,
    unshaped: Known,
    left: Known,
    right: Known,
    gang_width: u32,
) -> Known {
    let Shape::Strided { stride, align } = left.shape else { return unshaped };
    // Bits below `lowest_bit` are the same in all lanes, and zero in them if lane 0 is aligned.
    let lowest_bit = power_in(stride as u128);
    if opcode != BinaryOp::And && right.max < u128::from(lowest_bit.min(align)) {
        let alignment = right.bits.map_or(1, power_in).min(align).max(if right.bits == Some(0) { align } else { 1 });
        return Known { signed: left.signed, unsigned: left.unsigned, ..unshaped }.with_shape(stride.into(), alignment);
    }
    let Some(constant) = right.bits else { return unshaped };
    let reach = u128::MAX.checked_shr(left.max.leading_zeros()).unwrap_or(0);
    if opcode == BinaryOp::And && constant & reach == reach {
        // No lane has a bit that is dropped.
        return Known { signed: left.signed, unsigned: left.unsigned, ..unshaped }.with_shape(stride.into(), align);
    }
    if left.unsigned && left.lane_span(gang_width).is_some() {
        let apply = |number: u128| match opcode {
            BinaryOp::And => number & constant,
            BinaryOp::Or => number | (constant & u128::from(align - 1)),
            _ => number ^ (constant & u128::from(align - 1)),
        };
        let high_bits = constant & !u128::from(align - 1);
        let alignment = match opcode {
            BinaryOp::And => align.max(power_in(high_bits & result_type.value_mask())),
            _ => align.min(power_in(constant)),
        };
        return match fit_stride(gang_width, stride as u128, apply) {
            Some(step) => unshaped.with_shape(step, alignment),
            None => unshaped,
        };
    }
    if opcode != BinaryOp::And {
        return unshaped;
    }
    if (constant + 1).is_power_of_two() && constant < u128::from(lowest_bit) {
        return unshaped.with_shape(0, align);
    }
    let dropped = result_type.value_mask() & !constant;
    if (dropped + 1).is_power_of_two() && dropped < u128::from(lowest_bit) {
        // Each lane loses the same.
        return Known { signed: left.signed, unsigned: left.unsigned, ..unshaped }
            .with_shape(stride.into(), align.max(power_in(constant)));
    }
    unshaped
}

fn shift_right(opcode: BinaryOp, unshaped: Known, operand: Known, amount: u32, gang_width: u32) -> Known {
    let Shape::Strided { stride, align } = operand.shape else { return unshaped };
    let linear = if opcode == BinaryOp::Lshr { operand.unsigned } else { operand.signed };
    if !linear || amount > 62 {
        return unshaped;
    }
    let shifted = Known { signed: opcode == BinaryOp::Ashr, unsigned: opcode == BinaryOp::Lshr, ..unshaped };
    if stride % (1 << amount) == 0 {
        return shifted.with_shape((stride >> amount).into(), (align >> amount).max(1));
    }
    match operand.lane_span(gang_width) {
        Some(span) if span < 1 << amount => unshaped.with_shape(0, (align >> amount).max(1)),
        Some(_) if align >= 1 << amount => match fit_stride(gang_width, stride as u128, |number| number >> amount) {
            Some(step) => shifted.with_shape(step, align >> amount),
            None => unshaped,
        },
        _ => unshaped,
    }
}

/// Unsigned quotient or remainder by a positive constant.
fn transfer_division(quotient: bool, unshaped: Known, operand: Known, divisor: i64, gang_width: u32) -> Known {
    let Shape::Strided { stride, align } = operand.shape else { return unshaped };
    if !operand.unsigned {
        return unshaped;
    }
    let power = power_in(divisor as u128);
    if stride % divisor == 0 {
        return if quotient {
            let whole = divisor as u64 == power && align >= power;
            Known { unsigned: true, ..unshaped }
                .with_shape((stride / divisor).into(), if whole { align / power } else { 1 })
        } else {
            unshaped.with_shape(0, align.min(power))
        };
    }
    let Some(span) = operand.lane_span(gang_width) else { return unshaped };
    let block = (span + 1).next_power_of_two();
    if block <= u128::from(power) {
        // All lanes lie between two multiples of the constant.
        return if quotient {
            unshaped.with_shape(0, if divisor as u64 == power && align >= power { align / power } else { 1 })
        } else {
            Known { unsigned: true, ..unshaped }.with_shape(stride.into(), align.min(power))
        };
    }
    if divisor as u64 == power && align >= power {
        let divisor = divisor as u128;
        let step =
            fit_stride(gang_width, stride as u128, |number| if quotient { number / divisor } else { number % divisor });
        let alignment = if quotient { align / power } else { align };
        return step.map_or(unshaped, |step| unshaped.with_shape(step, alignment));
    }
    unshaped
}

/// Unsigned quotient or remainder by what is the same in all lanes and a multiple of `power`: where all lanes lie
/// between two of its multiples.
fn divide_by_multiple(quotient: bool, unshaped: Known, operand: Known, power: u64, gang_width: u32) -> Known {
    let Shape::Strided { stride, align } = operand.shape else { return unshaped };
    let within = operand.unsigned
        && operand.lane_span(gang_width).is_some_and(|span| (span + 1).next_power_of_two() <= u128::from(power));
    match (within, quotient) {
        (false, _) => unshaped,
        (true, true) => unshaped.with_shape(0, 1),
        (true, false) => Known { unsigned: true, ..unshaped }.with_shape(stride.into(), align.min(power)),
    }
}

/// Signed quotient or remainder by a constant.
fn signed_divide(
    quotient: bool,
    result_type: Type,
    unshaped: Known,
    operand: Known,
    divisor: i64,
    gang_width: u32,
) -> Known {
    let Shape::Strided { stride, align } = operand.shape else { return unshaped };
    if divisor > 0 && operand.max <= signed_half(result_type) {
        return transfer_division(quotient, unshaped, operand, divisor, gang_width);
    }
    let (power, odd) = (power_in(divisor.unsigned_abs().into()), odd_part(divisor.into()));
    let (stride, divisor) = (i128::from(stride), i128::from(divisor));
    // Quotients are rounded towards zero: without remainders that makes no difference.
    let is_exact = align >= power && operand.factor.is_multiple_of(odd) && stride % divisor == 0;
    match (operand.signed && is_exact, quotient) {
        (false, _) => unshaped,
        (true, true) => {
            Known { signed: true, factor: operand.factor / odd, ..unshaped }.with_shape(stride / divisor, align / power)
        }
        (true, false) => unshaped.with_shape(0, 1 << 63),
    }
}

/// Integer and pointer comparisons.
pub fn transfer_icmp(comparison: IntCc, left: Known, right: Known, gang_width: u32) -> Known {
    let uniform = Known::uniform(Type::BOOL, 1);
    let varying = Known::varying(Type::BOOL);
    let (
        Shape::Strided { stride: left_stride, align: left_align },
        Shape::Strided { stride: right_stride, align: right_align },
    ) = (left.shape, right.shape)
    else {
        return varying;
    };
    if left_stride == 0 && right_stride == 0 {
        return uniform;
    }
    let linear = match comparison {
        IntCc::Eq | IntCc::Ne => return if left_stride == right_stride { uniform } else { varying },
        IntCc::Slt | IntCc::Sle | IntCc::Sgt | IntCc::Sge => left.signed && right.signed,
        IntCc::Ult | IntCc::Ule | IntCc::Ugt | IntCc::Uge => left.unsigned && right.unsigned,
    };
    if !linear {
        return varying;
    }
    // The difference is a multiple of the common alignment in lane 0 and must not reach the next one on
    // the side where the answer changes.
    let drift = (i128::from(left_stride) - i128::from(right_stride)) * i128::from(gang_width.max(1) - 1);
    let step = i128::from(left_align.min(right_align));
    let same = match comparison {
        IntCc::Slt | IntCc::Sge | IntCc::Ult | IntCc::Uge => (0..step).contains(&drift),
        _ => (0..step).contains(&-drift),
    };
    if same { uniform } else { varying }
}

#[cfg(test)]
mod tests;
