//! Every transfer function against every concrete value of small types, as the interpreter computes.

use super::*;
use crate::eval::integer;

const TY: Type = Type::Int(5);

fn lanes(value_type: Type, base: u128, stride: i64, gang_width: u32) -> Vec<u128> {
    (0..gang_width)
        .map(|index| base.wrapping_add((i128::from(stride) * i128::from(index)) as u128) & value_type.value_mask())
        .collect()
}

/// Whether the lanes are as described.
fn holds(value_facts: Known, value_type: Type, lanes: &[u128]) -> bool {
    if lanes.iter().any(|&lane| lane > value_facts.max)
        || value_facts.bits.is_some_and(|bits| lanes.iter().any(|&l| l != bits))
    {
        return false;
    }
    let Shape::Strided { stride, align } = value_facts.shape else { return true };
    let sign = |bits: u128| integer::sign_extend(bits, value_type.bits());
    let is_multiple = |number: i128| match i128::from(value_facts.factor) {
        0 => number == 0,
        factor => number % factor == 0,
    };
    let mut offsets = lanes.iter().zip(0..).map(|(&lane, index)| sign(lane) - i128::from(stride) * index);
    if !offsets.all(is_multiple) {
        return false;
    }
    lanes[0].is_multiple_of(u128::from(align))
        && lanes.iter().enumerate().all(|(index, &lane)| {
            let step = i128::from(stride) * index as i128;
            lane == lanes[0].wrapping_add(step as u128) & value_type.value_mask()
                && (!value_facts.signed || sign(lane) == sign(lanes[0]) + step)
                && (!value_facts.unsigned || lane as i128 == lanes[0] as i128 + step)
        })
}

/// Descriptions of values of a type, with the values they describe.
fn all(value_type: Type, gang_width: u32) -> Vec<(Known, Vec<Vec<u128>>)> {
    let mut found = Vec::new();
    for stride in [-16, -4, -3, -1, 0, 1, 2, 3, 4, 6, 8, 12] {
        for log in 0..=value_type.bits() {
            let alignment = 1u64 << log;
            for (signed, unsigned, maximum) in [
                (false, false, value_type.value_mask()),
                (true, false, value_type.value_mask()),
                (false, true, value_type.value_mask()),
                (false, false, 13),
            ] {
                for factor in [1, 3, 5] {
                    let shape = Shape::Strided { stride, align: alignment };
                    let value_facts = Known { shape, signed, unsigned, max: maximum, bits: None, factor }
                        .into_canonical(value_type, gang_width);
                    if value_facts.shape.is_varying() || value_facts.shape.stride() != Some(stride) {
                        continue;
                    }
                    let bases = (0..=value_type.value_mask()).filter(|base| base.is_multiple_of(u128::from(alignment)));
                    let values = bases.map(|base| lanes(value_type, base, stride, gang_width));
                    found.push((value_facts, values.filter(|v| holds(value_facts, value_type, v)).collect()));
                }
            }
        }
    }
    found
}

fn constants(value_type: Type) -> impl Iterator<Item = (Known, Vec<u128>)> {
    (0..=value_type.value_mask()).map(move |bits| (Known::constant(value_type, bits), vec![bits]))
}

/// The lanes of an operation, unless it is undefined or poison in one.
fn apply(opcode: BinaryOp, flags: IntFlags, a: &[u128], b: &[u128]) -> Option<Vec<u128>> {
    let bits = TY.bits();
    let sign = |n: u128| integer::sign_extend(n, bits);
    a.iter()
        .zip(b)
        .map(|(&left, &right)| {
            if matches!(opcode, BinaryOp::Shl | BinaryOp::Lshr | BinaryOp::Ashr) && right >= u128::from(bits) {
                return None;
            }
            let result = integer::evaluate_binary(opcode, bits, left, right)?.ok()? & TY.value_mask();
            let (exact, exact_signed) = match opcode {
                BinaryOp::Add => ((left + right) as i128, sign(left) + sign(right)),
                BinaryOp::Sub => (left as i128 - right as i128, sign(left) - sign(right)),
                BinaryOp::Mul => ((left * right) as i128, sign(left) * sign(right)),
                BinaryOp::Shl => ((left << right) as i128, sign(left) << right),
                _ => (result as i128, sign(result)),
            };
            let poison = flags.nuw && exact != result as i128 || flags.nsw && exact_signed != sign(result);
            (!poison).then_some(result)
        })
        .collect()
}

const OPS: [BinaryOp; 18] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Udiv,
    BinaryOp::Sdiv,
    BinaryOp::Urem,
    BinaryOp::Srem,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Xor,
    BinaryOp::Shl,
    BinaryOp::Lshr,
    BinaryOp::Ashr,
    BinaryOp::Smin,
    BinaryOp::Smax,
    BinaryOp::Umin,
    BinaryOp::Umax,
    BinaryOp::UaddSat,
];

fn check(opcode: BinaryOp, flags: IntFlags, a: (Known, &[u128]), b: (Known, &[u128]), gang_width: u32, result: Known) {
    if let Some(lanes) = apply(opcode, flags, a.1, b.1) {
        assert!(
            holds(result, TY, &lanes),
            "{opcode:?} {flags:?} of {a:?} and {b:?} at {gang_width}: {result:?} but {lanes:?}"
        );
    }
}

#[test]
fn binary_operations_with_constants_are_sound() {
    let plain = IntFlags::default();
    for gang_width in [1, 2, 4, 8] {
        for (left, values) in all(TY, gang_width) {
            for (right, bits) in constants(TY) {
                let b_lanes = vec![bits[0]; gang_width as usize];
                for opcode in OPS {
                    for flags in [plain, IntFlags { nsw: true, nuw: false }, IntFlags { nsw: false, nuw: true }] {
                        let (ab, ba) = (
                            transfer_binary(opcode, flags, TY, left, right, gang_width),
                            transfer_binary(opcode, flags, TY, right, left, gang_width),
                        );
                        for value in &values {
                            check(opcode, flags, (left, value), (right, &b_lanes), gang_width, ab);
                            check(opcode, flags, (right, &b_lanes), (left, value), gang_width, ba);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn binary_operations_of_strided_values_are_sound() {
    let gang_width = 4;
    let every = all(TY, gang_width);
    for (index, (left, values)) in every.iter().enumerate() {
        for (right, others) in every.iter().skip(index % 3).step_by(3) {
            for opcode in OPS {
                let signed = IntFlags { nsw: true, nuw: false };
                for flags in [IntFlags::default(), signed, IntFlags { nuw: true, ..signed }] {
                    let result = transfer_binary(opcode, flags, TY, *left, *right, gang_width);
                    for value in values.iter().step_by(2) {
                        for other in others.iter().step_by(2) {
                            check(opcode, flags, (*left, value), (*right, other), gang_width, result);
                        }
                    }
                }
            }
        }
    }
}

/// What launches prove: ids that fit into an int, and uniform divisors that are multiples of the width.
#[test]
fn ids_with_a_bound() {
    let (long, int_type, gang_width) = (Type::I64, Type::I32, 8);
    let plain = IntFlags::default();
    let nsw = IntFlags { nsw: true, nuw: false };
    let constant = |value_type: Type, n: i128| Known::constant(value_type, n as u128 & value_type.value_mask());
    for alignment in [1, 8] {
        let id = Known {
            max: 0x7fff_fffe,
            unsigned: true,
            ..Known::of_shape(long, Shape::contiguous(alignment), gang_width)
        };
        let cut = transfer_unary(UnaryOp::Trunc, long, int_type, id, gang_width);
        assert!(cut.signed && cut.unsigned);
        let sext = |value_facts| transfer_unary(UnaryOp::Sext, int_type, long, value_facts, gang_width).shape;
        let zext = |value_facts| transfer_unary(UnaryOp::Zext, int_type, long, value_facts, gang_width).shape;
        assert_eq!(sext(cut), Shape::contiguous(alignment));
        assert_eq!(zext(cut), Shape::contiguous(alignment));
        assert_eq!(
            sext(transfer_binary(BinaryOp::Add, nsw, int_type, cut, constant(int_type, -1), gang_width)),
            Shape::contiguous(1)
        );
        assert_eq!(
            zext(transfer_binary(BinaryOp::Add, plain, int_type, cut, constant(int_type, 1), gang_width)),
            Shape::contiguous(1)
        );
        // In an unsigned int, the lane with id 0 wraps.
        assert!(
            zext(transfer_binary(BinaryOp::Add, plain, int_type, cut, constant(int_type, -1), gang_width)).is_varying()
        );
        let times = transfer_binary(BinaryOp::Shl, nsw, int_type, cut, constant(int_type, 2), gang_width);
        assert_eq!(sext(times), Shape::Strided { stride: 4, align: 4 * alignment });
        let up = transfer_binary(BinaryOp::Shl, plain, long, id, constant(long, 32), gang_width);
        let down = transfer_binary(BinaryOp::Ashr, plain, long, up, constant(long, 32), gang_width);
        assert_eq!((down.shape, down.max), (Shape::contiguous(alignment), 0x7fff_fffe));
        let masked = transfer_binary(BinaryOp::And, plain, long, id, constant(long, 0xffff_ffff), gang_width);
        assert_eq!(masked.shape, Shape::contiguous(alignment));
        let column = transfer_binary(BinaryOp::Srem, plain, int_type, cut, Known::uniform(int_type, 8), gang_width);
        assert!(column.shape.is_varying(), "the divisor may be negative");
        let divisor = Known { max: int_type.value_mask() >> 1, ..Known::uniform(int_type, 8) };
        let [column, row] = [BinaryOp::Srem, BinaryOp::Sdiv]
            .map(|opcode| transfer_binary(opcode, plain, int_type, cut, divisor, gang_width).shape);
        let proved = alignment == 8;
        assert_eq!((column == Shape::contiguous(8), row.is_uniform()), (proved, proved));
    }
}

#[test]
fn casts_are_sound() {
    for gang_width in [1, 2, 4, 8] {
        for (a, values) in all(TY, gang_width) {
            for to_type in [2, 3, 4, 5, 6, 9].map(Type::Int) {
                for opcode in [UnaryOp::Trunc, UnaryOp::Zext, UnaryOp::Sext, UnaryOp::Freeze] {
                    let widens = to_type.bits() > TY.bits();
                    let fits = match opcode {
                        UnaryOp::Trunc => to_type.bits() < TY.bits(),
                        UnaryOp::Freeze => to_type == TY,
                        _ => widens,
                    };
                    if !fits {
                        continue;
                    }
                    let result = transfer_unary(opcode, TY, to_type, a, gang_width);
                    for value in &values {
                        let cast = |&bits: &u128| match opcode {
                            UnaryOp::Sext => integer::sign_extend(bits, TY.bits()) as u128 & to_type.value_mask(),
                            _ => bits & to_type.value_mask(),
                        };
                        let lanes: Vec<u128> = value.iter().map(cast).collect();
                        assert!(
                            holds(result, to_type, &lanes),
                            "{opcode:?} to {to_type} of {a:?} {value:?}: {result:?}, {lanes:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn comparisons_are_sound_and_prove_what_they_can() {
    for gang_width in [1, 2, 4] {
        let every = all(TY, gang_width);
        let mut proved = 0;
        for (left, values) in &every {
            for (right, others) in &every {
                for &comparison in IntCc::ALL {
                    if !transfer_icmp(comparison, *left, *right, gang_width).shape.is_uniform() {
                        continue;
                    }
                    proved += usize::from(left.shape.stride() != right.shape.stride());
                    for (value, other) in values.iter().flat_map(|v| others.iter().map(move |o| (v, o))) {
                        let first = integer::evaluate_compare(comparison, TY, value[0], other[0]);
                        let same = value
                            .iter()
                            .zip(other)
                            .all(|(&x, &y)| integer::evaluate_compare(comparison, TY, x, y) == first);
                        assert!(same, "{comparison:?} of {left:?} {value:?} and {right:?} {other:?}");
                    }
                }
            }
        }
        assert!(proved > 1000, "{proved} at {gang_width}");
    }
}

/// `d * t + d * n` by `d` and by `-d`, in signed integers that may be negative (Moll 2021, figures 10.9 and 10.10).
#[test]
fn quotients_of_lines_that_odd_numbers_divide() {
    let (value_type, gang_width) = (Type::I32, 8);
    let constant = |number: i128| Known::constant(value_type, number as u128 & value_type.value_mask());
    let id = Known { signed: true, ..Known::of_shape(value_type, Shape::contiguous(1), gang_width) };
    let uniform = Known::uniform(value_type, 1);
    for divisor in [3, 5, 6, 12] {
        let line = |flags, by| {
            let [lanes, base] = [id, uniform]
                .map(|of| transfer_binary(BinaryOp::Mul, flags, value_type, of, constant(divisor), gang_width));
            let sum = transfer_binary(BinaryOp::Add, flags, value_type, lanes, base, gang_width);
            [BinaryOp::Sdiv, BinaryOp::Srem]
                .map(|opcode| transfer_binary(opcode, flags, value_type, sum, constant(by), gang_width))
        };
        let nsw = IntFlags { nsw: true, nuw: false };
        let [quotient, remainder] = line(nsw, divisor);
        assert_eq!((quotient.shape, quotient.signed), (Shape::contiguous(1), true), "{divisor}");
        assert!(remainder.shape.is_uniform(), "{divisor}");
        assert_eq!(line(nsw, -divisor)[0].shape.stride(), Some(-1), "{divisor}");
        // Another factor divides some of them alone.
        assert!(line(nsw, 7 * divisor)[0].shape.is_varying(), "{divisor}");
        // With wrapping, nothing odd is sure to divide.
        assert!(line(IntFlags::default(), divisor)[0].shape.is_varying(), "{divisor}");
    }
}

/// The quotient of the smallest stride by -1 is no stride of the type.
#[test]
fn the_smallest_stride_has_no_opposite() {
    let shape = Shape::Strided { stride: i64::MIN, align: 1 << 63 };
    let line = Known { signed: true, ..Known::of_shape(Type::I64, shape, 2) };
    let by = Known::constant(Type::I64, u64::MAX.into());
    assert!(transfer_binary(BinaryOp::Sdiv, IntFlags::default(), Type::I64, line, by, 2).shape.is_varying());
}

/// What the paper's examples need (Moll 2021, figures 10.1, 10.2, 10.5, 10.7, 10.11).
#[test]
fn the_examples_of_the_paper() {
    let (value_type, gang_width) = (Type::I32, 8);
    let plain = IntFlags::default();
    let id = Known::of_shape(value_type, Shape::contiguous(8), gang_width);
    let constant = |n: u128| Known::constant(value_type, n & value_type.value_mask());
    let shape = |opcode, left, right| transfer_binary(opcode, plain, value_type, left, right, gang_width).shape;
    let strided = |stride, alignment| Shape::Strided { stride, align: alignment };
    assert_eq!(shape(BinaryOp::Mul, constant(-2i128 as u128), id), strided(-2, 16));
    let twice = transfer_binary(BinaryOp::Shl, plain, value_type, id, constant(1), gang_width);
    assert_eq!(twice.shape, strided(2, 16));
    assert_eq!(shape(BinaryOp::Or, twice, constant(1)), strided(2, 1));
    assert_eq!(shape(BinaryOp::Sdiv, twice, constant(2)), Shape::contiguous(8));
    assert_eq!(shape(BinaryOp::Udiv, id, constant(16)), Shape::uniform(1));
    assert_eq!(shape(BinaryOp::And, id, constant(7)), Shape::contiguous(1 << 63));
    assert_eq!(shape(BinaryOp::Lshr, id, constant(3)), Shape::uniform(1));
    assert_eq!(shape(BinaryOp::Xor, id, constant(7)), strided(-1, 1));
    let aligned = Known::uniform(value_type, 8);
    assert!(transfer_icmp(IntCc::Sge, id, aligned, gang_width).shape.is_uniform());
    assert!(transfer_icmp(IntCc::Slt, id, aligned, gang_width).shape.is_uniform());
    assert!(transfer_icmp(IntCc::Sgt, id, aligned, gang_width).shape.is_varying());
    assert!(transfer_icmp(IntCc::Sge, id, Known::uniform(value_type, 4), gang_width).shape.is_varying());
    // An id that was cut to 32 bits and extended again.
    let wide = Known::of_shape(Type::I64, Shape::contiguous(8), gang_width);
    let up = transfer_binary(BinaryOp::Shl, plain, Type::I64, wide, Known::constant(Type::I64, 32), gang_width);
    let down = transfer_binary(BinaryOp::Ashr, plain, Type::I64, up, Known::constant(Type::I64, 32), gang_width);
    assert_eq!(down.shape, Shape::contiguous(8));
    let cut = transfer_unary(UnaryOp::Trunc, Type::I64, value_type, wide, gang_width);
    assert_eq!(transfer_unary(UnaryOp::Sext, value_type, Type::I64, cut, gang_width).shape, Shape::contiguous(8));
    let loose = Known::of_shape(value_type, Shape::contiguous(1), gang_width);
    assert!(transfer_unary(UnaryOp::Zext, value_type, Type::I64, loose, gang_width).shape.is_varying());
    let bounded = Known { max: 1000, ..Known::of_shape(Type::I64, Shape::contiguous(1), gang_width) };
    let bounded = Known { unsigned: true, ..bounded };
    let cut = transfer_unary(UnaryOp::Trunc, Type::I64, value_type, bounded, gang_width);
    assert_eq!(transfer_unary(UnaryOp::Zext, value_type, Type::I64, cut, gang_width).shape, Shape::contiguous(1));
}
