//! Every transfer function against every concrete value of small types, as the interpreter computes.

use super::*;
use crate::eval::integer;

const TY: Type = Type::Int(5);

fn lanes(ty: Type, base: u128, stride: i64, width: u32) -> Vec<u128> {
    (0..width)
        .map(|index| base.wrapping_add((i128::from(stride) * i128::from(index)) as u128) & ty.value_mask())
        .collect()
}

/// Whether the lanes are as described.
fn holds(known: Known, ty: Type, lanes: &[u128]) -> bool {
    if lanes.iter().any(|&lane| lane > known.max) || known.bits.is_some_and(|bits| lanes.iter().any(|&l| l != bits)) {
        return false;
    }
    let Shape::Strided { stride, align } = known.shape else { return true };
    let sign = |bits: u128| integer::sign_extend(bits, ty.bits());
    lanes[0].is_multiple_of(u128::from(align))
        && lanes.iter().enumerate().all(|(index, &lane)| {
            let step = i128::from(stride) * index as i128;
            lane == lanes[0].wrapping_add(step as u128) & ty.value_mask()
                && (!known.signed || sign(lane) == sign(lanes[0]) + step)
                && (!known.unsigned || lane as i128 == lanes[0] as i128 + step)
        })
}

/// Descriptions of values of a type, with the values they describe.
fn all(ty: Type, width: u32) -> Vec<(Known, Vec<Vec<u128>>)> {
    let mut found = Vec::new();
    for stride in [-16, -4, -3, -1, 0, 1, 2, 3, 4, 6, 8, 12] {
        for log in 0..=ty.bits() {
            let align = 1u64 << log;
            for (signed, unsigned, maximum) in [
                (false, false, ty.value_mask()),
                (true, false, ty.value_mask()),
                (false, true, ty.value_mask()),
                (false, false, 13),
            ] {
                let shape = Shape::Strided { stride, align };
                let known = Known { shape, signed, unsigned, max: maximum, bits: None }.into_canonical(ty, width);
                if known.shape.is_varying() || known.shape.stride() != Some(stride) {
                    continue;
                }
                let bases = (0..=ty.value_mask()).filter(|base| base.is_multiple_of(u128::from(align)));
                let values = bases.map(|base| lanes(ty, base, stride, width));
                found.push((known, values.filter(|v| holds(known, ty, v)).collect()));
            }
        }
    }
    found
}

fn constants(ty: Type) -> impl Iterator<Item = (Known, Vec<u128>)> {
    (0..=ty.value_mask()).map(move |bits| (Known::constant(ty, bits), vec![bits]))
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

fn check(opcode: BinaryOp, flags: IntFlags, a: (Known, &[u128]), b: (Known, &[u128]), width: u32, result: Known) {
    if let Some(lanes) = apply(opcode, flags, a.1, b.1) {
        assert!(
            holds(result, TY, &lanes),
            "{opcode:?} {flags:?} of {a:?} and {b:?} at {width}: {result:?} but {lanes:?}"
        );
    }
}

#[test]
fn binary_operations_with_constants_are_sound() {
    let plain = IntFlags::default();
    for width in [1, 2, 4, 8] {
        for (left, values) in all(TY, width) {
            for (right, bits) in constants(TY) {
                let b_lanes = vec![bits[0]; width as usize];
                for opcode in OPS {
                    for flags in [plain, IntFlags { nsw: true, nuw: false }, IntFlags { nsw: false, nuw: true }] {
                        let (ab, ba) = (
                            transfer_binary(opcode, flags, TY, left, right, width),
                            transfer_binary(opcode, flags, TY, right, left, width),
                        );
                        for value in &values {
                            check(opcode, flags, (left, value), (right, &b_lanes), width, ab);
                            check(opcode, flags, (right, &b_lanes), (left, value), width, ba);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn binary_operations_of_strided_values_are_sound() {
    let width = 4;
    let every = all(TY, width);
    for (index, (left, values)) in every.iter().enumerate() {
        for (right, others) in every.iter().skip(index % 3).step_by(3) {
            for opcode in OPS {
                for flags in [IntFlags::default(), IntFlags { nsw: true, nuw: true }] {
                    let result = transfer_binary(opcode, flags, TY, *left, *right, width);
                    for value in values.iter().step_by(2) {
                        for other in others.iter().step_by(2) {
                            check(opcode, flags, (*left, value), (*right, other), width, result);
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
    let (long, int_type, width) = (Type::I64, Type::I32, 8);
    let plain = IntFlags::default();
    let nsw = IntFlags { nsw: true, nuw: false };
    let constant = |ty: Type, n: i128| Known::constant(ty, n as u128 & ty.value_mask());
    for align in [1, 8] {
        let id = Known { max: 0x7fff_fffe, unsigned: true, ..Known::of_shape(long, Shape::contiguous(align), width) };
        let cut = transfer_unary(UnaryOp::Trunc, long, int_type, id, width);
        assert!(cut.signed && cut.unsigned);
        let sext = |known| transfer_unary(UnaryOp::Sext, int_type, long, known, width).shape;
        let zext = |known| transfer_unary(UnaryOp::Zext, int_type, long, known, width).shape;
        assert_eq!(sext(cut), Shape::contiguous(align));
        assert_eq!(zext(cut), Shape::contiguous(align));
        assert_eq!(
            sext(transfer_binary(BinaryOp::Add, nsw, int_type, cut, constant(int_type, -1), width)),
            Shape::contiguous(1)
        );
        assert_eq!(
            zext(transfer_binary(BinaryOp::Add, plain, int_type, cut, constant(int_type, 1), width)),
            Shape::contiguous(1)
        );
        // In an unsigned int, the lane with id 0 wraps.
        assert!(zext(transfer_binary(BinaryOp::Add, plain, int_type, cut, constant(int_type, -1), width)).is_varying());
        let times = transfer_binary(BinaryOp::Shl, nsw, int_type, cut, constant(int_type, 2), width);
        assert_eq!(sext(times), Shape::Strided { stride: 4, align: 4 * align });
        let up = transfer_binary(BinaryOp::Shl, plain, long, id, constant(long, 32), width);
        let down = transfer_binary(BinaryOp::Ashr, plain, long, up, constant(long, 32), width);
        assert_eq!((down.shape, down.max), (Shape::contiguous(align), 0x7fff_fffe));
        let masked = transfer_binary(BinaryOp::And, plain, long, id, constant(long, 0xffff_ffff), width);
        assert_eq!(masked.shape, Shape::contiguous(align));
        let column = transfer_binary(BinaryOp::Srem, plain, int_type, cut, Known::uniform(int_type, 8), width);
        assert!(column.shape.is_varying(), "the divisor may be negative");
        let divisor = Known { max: int_type.value_mask() >> 1, ..Known::uniform(int_type, 8) };
        let [column, row] = [BinaryOp::Srem, BinaryOp::Sdiv]
            .map(|opcode| transfer_binary(opcode, plain, int_type, cut, divisor, width).shape);
        let proved = align == 8;
        assert_eq!((column == Shape::contiguous(8), row.is_uniform()), (proved, proved));
    }
}

#[test]
fn casts_are_sound() {
    for width in [1, 2, 4, 8] {
        for (a, values) in all(TY, width) {
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
                    let result = transfer_unary(opcode, TY, to_type, a, width);
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
    for width in [1, 2, 4] {
        let every = all(TY, width);
        let mut proved = 0;
        for (left, values) in &every {
            for (right, others) in &every {
                for &comparison in IntCc::ALL {
                    if !transfer_icmp(comparison, *left, *right, width).shape.is_uniform() {
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
        assert!(proved > 1000, "{proved} at {width}");
    }
}

/// What the paper's examples need (Moll 2021, figures 10.1, 10.2, 10.5, 10.7, 10.11).
#[test]
fn the_examples_of_the_paper() {
    let (ty, width) = (Type::I32, 8);
    let plain = IntFlags::default();
    let id = Known::of_shape(ty, Shape::contiguous(8), width);
    let constant = |n: u128| Known::constant(ty, n & ty.value_mask());
    let shape = |opcode, left, right| transfer_binary(opcode, plain, ty, left, right, width).shape;
    let strided = |stride, align| Shape::Strided { stride, align };
    assert_eq!(shape(BinaryOp::Mul, constant(-2i128 as u128), id), strided(-2, 16));
    let twice = transfer_binary(BinaryOp::Shl, plain, ty, id, constant(1), width);
    assert_eq!(twice.shape, strided(2, 16));
    assert_eq!(shape(BinaryOp::Or, twice, constant(1)), strided(2, 1));
    assert_eq!(shape(BinaryOp::Sdiv, twice, constant(2)), Shape::contiguous(8));
    assert_eq!(shape(BinaryOp::Udiv, id, constant(16)), Shape::uniform(1));
    assert_eq!(shape(BinaryOp::And, id, constant(7)), Shape::contiguous(1 << 63));
    assert_eq!(shape(BinaryOp::Lshr, id, constant(3)), Shape::uniform(1));
    assert_eq!(shape(BinaryOp::Xor, id, constant(7)), strided(-1, 1));
    let aligned = Known::uniform(ty, 8);
    assert!(transfer_icmp(IntCc::Sge, id, aligned, width).shape.is_uniform());
    assert!(transfer_icmp(IntCc::Slt, id, aligned, width).shape.is_uniform());
    assert!(transfer_icmp(IntCc::Sgt, id, aligned, width).shape.is_varying());
    assert!(transfer_icmp(IntCc::Sge, id, Known::uniform(ty, 4), width).shape.is_varying());
    // An id that was cut to 32 bits and extended again.
    let wide = Known::of_shape(Type::I64, Shape::contiguous(8), width);
    let up = transfer_binary(BinaryOp::Shl, plain, Type::I64, wide, Known::constant(Type::I64, 32), width);
    let down = transfer_binary(BinaryOp::Ashr, plain, Type::I64, up, Known::constant(Type::I64, 32), width);
    assert_eq!(down.shape, Shape::contiguous(8));
    let cut = transfer_unary(UnaryOp::Trunc, Type::I64, ty, wide, width);
    assert_eq!(transfer_unary(UnaryOp::Sext, ty, Type::I64, cut, width).shape, Shape::contiguous(8));
    let loose = Known::of_shape(ty, Shape::contiguous(1), width);
    assert!(transfer_unary(UnaryOp::Zext, ty, Type::I64, loose, width).shape.is_varying());
    let bounded = Known { max: 1000, ..Known::of_shape(Type::I64, Shape::contiguous(1), width) };
    let bounded = Known { unsigned: true, ..bounded };
    let cut = transfer_unary(UnaryOp::Trunc, Type::I64, ty, bounded, width);
    assert_eq!(transfer_unary(UnaryOp::Zext, ty, Type::I64, cut, width).shape, Shape::contiguous(1));
}
