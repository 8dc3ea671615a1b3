//! What operations make of shapes.
//!
//! Requires: operands of the types that the verifier asks for.
//! Ensures: the result holds in all lanes whenever the operands' facts do; lanes whose result is poison
//! count for nothing.
//! Phases: one function per kind of operation; `settle` brings the result into canonical form.
//! Source: Moll 2021, section 10.4. Wrapping is treated exactly: beside the shape goes whether the lanes
//! also lie on a line when read as signed or unsigned integers, which extensions, divisions and
//! comparisons need. Where the alignment of lane 0 exceeds the span of the lanes, they fill low bits that
//! are zero in lane 0, so that bit operations with constants act on known bits.

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
}

/// The largest power of two that divides a number.
fn power_in(n: u128) -> u64 {
    1 << n.trailing_zeros().min(63)
}

fn signed_half(value_type: Type) -> u128 {
    value_type.value_mask() >> 1
}

impl Known {
    /// Nothing but the type.
    pub fn varying(value_type: Type) -> Known {
        Known { shape: Shape::Varying, signed: false, unsigned: false, max: value_type.value_mask(), bits: None }
    }

    /// The same in all lanes and a multiple of `alignment`.
    pub fn uniform(value_type: Type, alignment: u64) -> Known {
        Known {
            shape: Shape::uniform(alignment),
            signed: true,
            unsigned: true,
            max: value_type.value_mask(),
            bits: None,
        }
    }

    /// A constant of a type, by its bits.
    pub fn constant(value_type: Type, bits: u128) -> Known {
        let alignment = if value_type.is_float() { 1 } else { power_in(bits) };
        Known { max: bits, bits: Some(bits), ..Known::uniform(value_type, alignment) }
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
        }
    }

    /// The same with another shape, of which nothing else is known yet.
    fn with_shape(self, stride: i128, alignment: u64) -> Known {
        match i64::try_from(stride) {
            Ok(stride) => Known { shape: Shape::Strided { stride, align: alignment }, ..self },
            Err(_) => Known { shape: Shape::Varying, signed: false, unsigned: false, ..self },
        }
    }

    /// Canonical form: strides fit the type, only integers and addresses are strided, and all that
    /// follows from the shape and the bound is said.
    fn into_canonical(mut self, value_type: Type, gang_width: u32) -> Known {
        self.max = self.max.min(value_type.value_mask());
        let Shape::Strided { stride, align } = self.shape else {
            return Known { signed: false, unsigned: false, bits: None, ..self };
        };
        let spare = 64u32.saturating_sub(value_type.bits());
        let reduced = stride << spare >> spare;
        if reduced == 0 {
            let shape = Shape::uniform(if value_type.is_float() { 1 } else { align });
            return Known { shape, signed: true, unsigned: true, ..self };
        }
        if value_type.is_float() || value_type.bits() == 1 || value_type.bits() > 64 {
            return Known { shape: Shape::Varying, signed: false, unsigned: false, bits: None, ..self };
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
    if arguments.iter().all(|a| a.shape.is_uniform()) {
        Known::uniform(result_type, 1)
    } else {
        Known::varying(result_type)
    }
}

/// Operations of one operand.
pub fn transfer_unary(opcode: UnaryOp, from_type: Type, to_type: Type, a: Known, gang_width: u32) -> Known {
    let Shape::Strided { stride, align } = a.shape else {
        let maximum = match opcode {
            UnaryOp::Zext => a.max,
            UnaryOp::Trunc if a.max <= to_type.value_mask() => a.max,
            UnaryOp::Sext if a.max <= signed_half(from_type) => a.max,
            UnaryOp::Freeze => a.max,
            _ => to_type.value_mask(),
        };
        return Known { max: maximum, ..Known::varying(to_type) };
    };
    let lines = |signed: bool, unsigned: bool, maximum: u128| {
        let bits = a.bits.filter(|&bits| bits <= maximum && maximum != to_type.value_mask());
        Known { shape: Shape::Strided { stride, align }, signed, unsigned, max: maximum, bits }
            .into_canonical(to_type, gang_width)
    };
    let uniform = stride == 0;
    match opcode {
        UnaryOp::Freeze => a,
        UnaryOp::Trunc | UnaryOp::PtrToInt | UnaryOp::IntToPtr | UnaryOp::Zext
            if to_type.bits() <= from_type.bits() =>
        {
            let fits = a.max <= to_type.value_mask();
            let maximum = if fits { a.max } else { to_type.value_mask() };
            lines(to_type.bits() == from_type.bits() && a.signed, fits && a.unsigned, maximum)
        }
        UnaryOp::Zext | UnaryOp::PtrToInt | UnaryOp::IntToPtr if uniform || a.unsigned => lines(true, true, a.max),
        UnaryOp::Sext if uniform || a.signed => {
            let positive = a.max <= signed_half(from_type);
            lines(true, false, if positive { a.max } else { to_type.value_mask() })
        }
        UnaryOp::SpaceCast => lines(a.signed, a.unsigned, a.max),
        UnaryOp::Bitcast if from_type == to_type => a,
        UnaryOp::Bitcast if uniform && !from_type.is_float() && !to_type.is_float() => Known::uniform(to_type, align),
        _ => transfer_generic(to_type, &[a]),
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
    let (Shape::Strided { stride: s, align: m }, Shape::Strided { stride: t, align: n }) = (left.shape, right.shape)
    else {
        return Known { max: maximum, ..Known::varying(result_type) };
    };
    let both = Known { shape: Shape::Varying, signed: false, unsigned: false, max: maximum, bits: None };
    let fits = |sum: Option<u128>| sum.is_some_and(|sum| sum <= result_type.value_mask());
    let (s, t) = (i128::from(s), i128::from(t));
    let found = match opcode {
        BinaryOp::Add => Known {
            signed: flags.nsw && left.signed && right.signed,
            unsigned: (flags.nuw || fits(left.max.checked_add(right.max))) && left.unsigned && right.unsigned,
            ..both
        }
        .with_shape(s + t, m.min(n)),
        BinaryOp::Sub => Known {
            signed: flags.nsw && left.signed && right.signed,
            unsigned: flags.nuw && left.unsigned && right.unsigned,
            ..both
        }
        .with_shape(s - t, m.min(n)),
        BinaryOp::Mul => match (left.bits, right.bits) {
            (_, Some(c)) => scale_strided(
                both,
                result_type,
                flags,
                left,
                signed_factor(result_type, c),
                fits(left.max.checked_mul(c)),
            ),
            (Some(c), _) => scale_strided(
                both,
                result_type,
                flags,
                right,
                signed_factor(result_type, c),
                fits(right.max.checked_mul(c)),
            ),
            _ if s == 0 && t == 0 => both.with_shape(0, product_align(m, n)),
            _ => both,
        },
        BinaryOp::Shl => match right.bits {
            Some(k) if k < u128::from(result_type.bits()).min(126) => {
                let c = 1u128 << k;
                scale_strided(both, result_type, flags, left, c as i128, fits(left.max.checked_mul(c)))
            }
            _ if s == 0 && t == 0 => both.with_shape(0, m),
            _ => both,
        },
        BinaryOp::Smin | BinaryOp::Smax if s == t && left.signed && right.signed => {
            Known { signed: true, ..both }.with_shape(s, m.min(n))
        }
        BinaryOp::Umin | BinaryOp::Umax if s == t && left.unsigned && right.unsigned => {
            Known { unsigned: true, ..both }.with_shape(s, m.min(n))
        }
        _ if s == 0 && t == 0 => both.with_shape(0, uniform_align(opcode, m, n, right)),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor if s == 0 => {
            transfer_bits(opcode, result_type, both, right, left, gang_width)
        }
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor if t == 0 => {
            transfer_bits(opcode, result_type, both, left, right, gang_width)
        }
        BinaryOp::Lshr | BinaryOp::Ashr => match right.bits {
            Some(k) if k < u128::from(result_type.bits()) => shift_right(opcode, both, left, k as u32, gang_width),
            _ => both,
        },
        BinaryOp::Udiv | BinaryOp::Urem => match right.bits {
            Some(c) if c != 0 && c <= i64::MAX as u128 => {
                transfer_division(opcode == BinaryOp::Udiv, both, left, c as i64, gang_width)
            }
            None if t == 0 => divide_by_multiple(opcode == BinaryOp::Udiv, both, left, n, gang_width),
            _ => both,
        },
        BinaryOp::Sdiv | BinaryOp::Srem
            if t == 0 && right.bits.is_none() && left.max.max(right.max) <= signed_half(result_type) =>
        {
            divide_by_multiple(opcode == BinaryOp::Sdiv, both, left, n, gang_width)
        }
        BinaryOp::Sdiv | BinaryOp::Srem => match right.bits {
            Some(c) if c != 0 && c <= signed_half(result_type) && c <= i64::MAX as u128 => {
                signed_divide(opcode == BinaryOp::Sdiv, result_type, both, left, c as i64, gang_width)
            }
            _ => both,
        },
        _ => both,
    };
    found.into_canonical(result_type, gang_width)
}

/// The greatest result, read as unsigned integer.
fn greatest_result(opcode: BinaryOp, flags: IntFlags, result_type: Type, left: Known, right: Known) -> u128 {
    let any = result_type.value_mask();
    let below = |n: Option<u128>| n.filter(|&n| n <= any).unwrap_or(any);
    match opcode {
        BinaryOp::Add => below(left.max.checked_add(right.max)),
        BinaryOp::Sub if flags.nuw => left.max,
        BinaryOp::Mul => below(left.max.checked_mul(right.max)),
        BinaryOp::Shl => match right.bits {
            Some(k) if k < 127 => below(left.max.checked_mul(1 << k)),
            _ => any,
        },
        BinaryOp::And | BinaryOp::Umin => left.max.min(right.max),
        BinaryOp::Umax => left.max.max(right.max),
        BinaryOp::Smin | BinaryOp::Smax if left.max.max(right.max) <= signed_half(result_type) => {
            left.max.max(right.max)
        }
        BinaryOp::Or | BinaryOp::Xor => match left.max.max(right.max) {
            0 => 0,
            n => (u128::MAX >> n.leading_zeros()).min(any),
        },
        BinaryOp::Ashr if left.max > signed_half(result_type) => any,
        BinaryOp::Lshr | BinaryOp::Ashr => match right.bits {
            Some(k) if k < 128 => left.max >> k,
            _ => left.max,
        },
        BinaryOp::Udiv => match right.bits {
            Some(c) if c != 0 => left.max / c,
            _ => left.max,
        },
        BinaryOp::Urem => match right.bits {
            Some(c) if c != 0 => left.max.min(c - 1),
            _ => left.max,
        },
        BinaryOp::Sdiv | BinaryOp::Srem if left.max.max(right.max) <= signed_half(result_type) => left.max,
        _ => any,
    }
}

fn product_align(m: u64, n: u64) -> u64 {
    m.checked_mul(n).unwrap_or(1 << 63)
}

/// The alignment of a uniform result of uniform operands.
fn uniform_align(opcode: BinaryOp, m: u64, n: u64, b: Known) -> u64 {
    match (opcode, b.bits) {
        (BinaryOp::And, _) => m.max(n),
        (BinaryOp::Or | BinaryOp::Xor, _) => m.min(n),
        (BinaryOp::Smin | BinaryOp::Smax | BinaryOp::Umin | BinaryOp::Umax, _) => m.min(n),
        (BinaryOp::Urem | BinaryOp::Srem, _) => m.min(n),
        (BinaryOp::Lshr | BinaryOp::Ashr, Some(k)) if k < 64 => (m >> k).max(1),
        (BinaryOp::Udiv | BinaryOp::Sdiv, Some(c)) if c.is_power_of_two() && c <= u128::from(m) => m / c as u64,
        _ => 1,
    }
}

/// A constant factor as a number: the bits of a type read as signed.
fn signed_factor(value_type: Type, bits: u128) -> i128 {
    let spare = 128 - value_type.bits();
    (bits << spare) as i128 >> spare
}

/// A strided value times a constant.
fn scale_strided(both: Known, result_type: Type, flags: IntFlags, a: Known, c: i128, fits: bool) -> Known {
    let Some(stride) = a.shape.stride() else { return both };
    let alignment = product_align(a.shape.align(), power_in(c as u128));
    if stride == 0 {
        return both.with_shape(0, alignment);
    }
    if result_type.bits() > 64 {
        return both;
    }
    Known { signed: flags.nsw && a.signed, unsigned: c >= 0 && (flags.nuw || fits) && a.unsigned, ..both }
        .with_wrapped(i128::from(stride) * c, alignment)
}

impl Known {
    /// As `with`, for strides that count modulo 2^64.
    fn with_wrapped(self, stride: i128, alignment: u64) -> Known {
        match i64::try_from(stride) {
            Ok(_) => self.with_shape(stride, alignment),
            Err(_) => Known { signed: false, unsigned: false, ..self }.with_shape((stride as i64).into(), alignment),
        }
    }
}

/// The stride of numbers that a function gives for the lanes' low bits, if they lie on a line.
fn fit_stride(gang_width: u32, stride: u128, of: impl Fn(u128) -> u128) -> Option<i128> {
    let at = |lane: u32| of(u128::from(lane) * stride) as i128;
    let step = if gang_width > 1 { at(1) - at(0) } else { 0 };
    (1..gang_width.max(1)).all(|lane| at(lane) - at(lane - 1) == step).then_some(step)
}

/// Bit operations of a strided value with a uniform one.
fn transfer_bits(
    opcode: BinaryOp,
    result_type: Type,
    both: Known,
    left: Known,
    right: Known,
    gang_width: u32,
) -> Known {
    let Shape::Strided { stride, align } = left.shape else { return both };
    // Bits below `low` are the same in all lanes, and zero in them if lane 0 is aligned.
    let low = power_in(stride as u128);
    if opcode != BinaryOp::And && right.max < u128::from(low.min(align)) {
        let alignment = right.bits.map_or(1, power_in).min(align).max(if right.bits == Some(0) { align } else { 1 });
        return Known { signed: left.signed, unsigned: left.unsigned, ..both }.with_shape(stride.into(), alignment);
    }
    let Some(c) = right.bits else { return both };
    let reach = u128::MAX.checked_shr(left.max.leading_zeros()).unwrap_or(0);
    if opcode == BinaryOp::And && c & reach == reach {
        // No lane has a bit that is dropped.
        return Known { signed: left.signed, unsigned: left.unsigned, ..both }.with_shape(stride.into(), align);
    }
    if left.unsigned && left.lane_span(gang_width).is_some() {
        let apply = |x: u128| match opcode {
            BinaryOp::And => x & c,
            BinaryOp::Or => x | (c & u128::from(align - 1)),
            _ => x ^ (c & u128::from(align - 1)),
        };
        let high = c & !u128::from(align - 1);
        let alignment = match opcode {
            BinaryOp::And => align.max(power_in(high & result_type.value_mask())),
            _ => align.min(power_in(c)),
        };
        return match fit_stride(gang_width, stride as u128, apply) {
            Some(step) => both.with_shape(step, alignment),
            None => both,
        };
    }
    if opcode != BinaryOp::And {
        return both;
    }
    if (c + 1).is_power_of_two() && c < u128::from(low) {
        return both.with_shape(0, align);
    }
    let dropped = result_type.value_mask() & !c;
    if (dropped + 1).is_power_of_two() && dropped < u128::from(low) {
        // Each lane loses the same.
        return Known { signed: left.signed, unsigned: left.unsigned, ..both }
            .with_shape(stride.into(), align.max(power_in(c)));
    }
    both
}

fn shift_right(opcode: BinaryOp, both: Known, a: Known, k: u32, gang_width: u32) -> Known {
    let Shape::Strided { stride, align } = a.shape else { return both };
    let linear = if opcode == BinaryOp::Lshr { a.unsigned } else { a.signed };
    if !linear || k > 62 {
        return both;
    }
    let shifted = Known { signed: opcode == BinaryOp::Ashr, unsigned: opcode == BinaryOp::Lshr, ..both };
    if stride % (1 << k) == 0 {
        return shifted.with_shape((stride >> k).into(), (align >> k).max(1));
    }
    match a.lane_span(gang_width) {
        Some(span) if span < 1 << k => both.with_shape(0, (align >> k).max(1)),
        Some(_) if align >= 1 << k => match fit_stride(gang_width, stride as u128, |x| x >> k) {
            Some(step) => shifted.with_shape(step, align >> k),
            None => both,
        },
        _ => both,
    }
}

/// Unsigned quotient or remainder by a positive constant.
fn transfer_division(quotient: bool, both: Known, a: Known, c: i64, gang_width: u32) -> Known {
    let Shape::Strided { stride, align } = a.shape else { return both };
    if !a.unsigned {
        return both;
    }
    let power = power_in(c as u128);
    if stride % c == 0 {
        return if quotient {
            let whole = c as u64 == power && align >= power;
            Known { unsigned: true, ..both }.with_shape((stride / c).into(), if whole { align / power } else { 1 })
        } else {
            both.with_shape(0, align.min(power))
        };
    }
    let Some(span) = a.lane_span(gang_width) else { return both };
    let block = (span + 1).next_power_of_two();
    if block <= u128::from(power) {
        // All lanes lie between two multiples of the constant.
        return if quotient {
            both.with_shape(0, if c as u64 == power && align >= power { align / power } else { 1 })
        } else {
            Known { unsigned: true, ..both }.with_shape(stride.into(), align.min(power))
        };
    }
    if c as u64 == power && align >= power {
        let c = c as u128;
        let step = fit_stride(gang_width, stride as u128, |x| if quotient { x / c } else { x % c });
        let alignment = if quotient { align / power } else { align };
        return step.map_or(both, |step| both.with_shape(step, alignment));
    }
    both
}

/// Unsigned quotient or remainder by what is the same in all lanes and a multiple of `power`: where all lanes lie
/// between two of its multiples.
fn divide_by_multiple(quotient: bool, both: Known, a: Known, power: u64, gang_width: u32) -> Known {
    let Shape::Strided { stride, align } = a.shape else { return both };
    let within =
        a.unsigned && a.lane_span(gang_width).is_some_and(|span| (span + 1).next_power_of_two() <= u128::from(power));
    match (within, quotient) {
        (false, _) => both,
        (true, true) => both.with_shape(0, 1),
        (true, false) => Known { unsigned: true, ..both }.with_shape(stride.into(), align.min(power)),
    }
}

/// Signed quotient or remainder by a positive constant.
fn signed_divide(quotient: bool, result_type: Type, both: Known, a: Known, c: i64, gang_width: u32) -> Known {
    let Shape::Strided { stride, align } = a.shape else { return both };
    if a.max <= signed_half(result_type) {
        return transfer_division(quotient, both, a, c, gang_width);
    }
    let power = power_in(c as u128);
    let exact = c as u64 == power && align >= power && stride % c == 0;
    match (a.signed && exact, quotient) {
        (false, _) => both,
        (true, true) => Known { signed: true, ..both }.with_shape((stride / c).into(), align / power),
        (true, false) => both.with_shape(0, 1 << 63),
    }
}

/// Integer and pointer comparisons.
pub fn transfer_icmp(comparison: IntCc, left: Known, right: Known, gang_width: u32) -> Known {
    let uniform = Known::uniform(Type::BOOL, 1);
    let varying = Known::varying(Type::BOOL);
    let (Shape::Strided { stride: s, align: m }, Shape::Strided { stride: t, align: n }) = (left.shape, right.shape)
    else {
        return varying;
    };
    if s == 0 && t == 0 {
        return uniform;
    }
    let linear = match comparison {
        IntCc::Eq | IntCc::Ne => return if s == t { uniform } else { varying },
        IntCc::Slt | IntCc::Sle | IntCc::Sgt | IntCc::Sge => left.signed && right.signed,
        IntCc::Ult | IntCc::Ule | IntCc::Ugt | IntCc::Uge => left.unsigned && right.unsigned,
    };
    if !linear {
        return varying;
    }
    // The difference is a multiple of the common alignment in lane 0 and must not reach the next one on
    // the side where the answer changes.
    let drift = (i128::from(s) - i128::from(t)) * i128::from(gang_width.max(1) - 1);
    let step = i128::from(m.min(n));
    let same = match comparison {
        IntCc::Slt | IntCc::Sge | IntCc::Ult | IntCc::Uge => (0..step).contains(&drift),
        _ => (0..step).contains(&-drift),
    };
    if same { uniform } else { varying }
}

#[cfg(test)]
mod tests;
