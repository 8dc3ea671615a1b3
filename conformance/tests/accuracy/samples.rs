//! Which arguments are compared: edges, neighbourhoods of what functions turn at, and the rest at random or all of it.

use std::f64::consts::{LN_2, LN_10, PI};

use lockstep_conformance::Random;

use crate::format::Type;

/// What a function takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    One,
    Two,
    /// A number and an int.
    WithInt,
    Three,
}

/// Arguments side by side; those that a function does not take are empty.
pub type Columns = [Vec<f64>; 3];

/// Values at which functions are special, or change the way they are computed.
pub fn edges(ty: Type) -> Vec<f64> {
    let eps = 2f64.powi(-ty.mantissa());
    let least = ty.least_normal() * eps;
    let mut some = vec![0.0, least, 2.0 * least, ty.least_normal() - least, ty.least_normal()];
    some.extend([0.25, 0.5 - eps / 4.0, 0.5, 0.5 + eps / 2.0, 0.75, 1.0 - eps / 2.0, 1.0, 1.0 + eps, 1.25, 1.5]);
    some.extend([2.0 - eps, 2.0, 2.5, 3.0, 3.5, 4.0, 7.0, 10.0, 31.5, 100.0, 101.5]);
    some.extend([PI / 4.0, PI / 2.0, PI, 3.0 * PI / 2.0, 1e-3, LN_2, LN_10]);
    // Where every number is half an integer, an integer, an even one.
    for power in [ty.mantissa() - 1, ty.mantissa(), ty.mantissa() + 1] {
        let limit = 2f64.powi(power);
        some.extend([limit - 0.5, limit - 1.0, limit, limit + 1.0, limit + 2.0]);
    }
    // Where exponentials end.
    let most = f64::from(ty.largest() + 1);
    let fewest = f64::from(ty.smallest() - ty.mantissa());
    some.extend([most, most * LN_2, most * 2f64.log10(), fewest, fewest * LN_2, fewest * 2f64.log10()]);
    some.extend([2f64.powi(ty.largest() / 2), ty.most() / 2.0, ty.most(), f64::INFINITY]);
    let mut all: Vec<f64> = some.iter().map(|&value| ty.rounded(value)).flat_map(|value| [value, -value]).collect();
    all.push(f64::NAN);
    all.sort_by(f64::total_cmp);
    all.dedup_by(|a, b| a.to_bits() == b.to_bits());
    all
}

const INTS: &[i32] = &[
    0,
    1,
    -1,
    2,
    -2,
    3,
    -3,
    4,
    -4,
    5,
    7,
    -7,
    10,
    13,
    -24,
    100,
    -101,
    127,
    -126,
    -149,
    1000,
    -1075,
    1023,
    2098,
    65535,
    16_777_217,
    i32::MAX - 1,
    i32::MAX,
    i32::MIN + 1,
    i32::MIN,
];

/// All combinations of edges.
pub fn of_edges(ty: Type, takes: Takes) -> Columns {
    let edges = edges(ty);
    let ints: Vec<f64> = INTS.iter().map(|&int| f64::from(int)).collect();
    let pairs = |second: &[f64]| {
        let pairs = edges.iter().flat_map(|&a| second.iter().map(move |&b| (a, b)));
        let (first, second) = pairs.unzip();
        [first, second, Vec::new()]
    };
    match takes {
        Takes::One => [edges, Vec::new(), Vec::new()],
        Takes::Two => pairs(&edges),
        Takes::WithInt => pairs(&ints),
        Takes::Three => {
            let few: Vec<f64> = edges.iter().copied().step_by(5).chain([f64::NAN, f64::INFINITY, -0.0]).collect();
            let mut columns = Columns::default();
            for &a in &few {
                for &b in &few {
                    for &c in &few {
                        columns.iter_mut().zip([a, b, c]).for_each(|(column, value)| column.push(value));
                    }
                }
            }
            columns
        }
    }
}

/// Every `step`-th value of a type of at most 32 bits, from the `first`-th on, `count` of them or what there is.
pub fn in_steps(ty: Type, first: u64, step: u64, count: usize) -> Columns {
    let all = match ty {
        Type::Half => 1 << 16,
        _ => 1_u64 << 32,
    };
    let values = (first..all).step_by(step as usize).take(count).map(|bits| ty.value(bits)).collect();
    [values, Vec::new(), Vec::new()]
}

/// So many arguments at random.
pub fn at_random(ty: Type, takes: Takes, seed: u64, count: usize) -> Columns {
    let mut random = Random::new(seed);
    let edges = edges(ty);
    let mut columns = Columns::default();
    for _ in 0..count {
        let a = number(ty, &edges, &mut random);
        let values = match takes {
            Takes::One => [Some(a), None, None],
            Takes::Two => [Some(a), Some(second(ty, &edges, a, &mut random)), None],
            Takes::WithInt => [Some(a), Some(int(&mut random)), None],
            Takes::Three => {
                let b = number(ty, &edges, &mut random);
                // Half of them cancel the product.
                let c = if random.below(2) == 0 { -a * b } else { number(ty, &edges, &mut random) };
                [Some(a), Some(b), Some(ty.rounded(c))]
            }
        };
        columns.iter_mut().zip(values).for_each(|(column, value)| column.extend(value));
    }
    columns
}

/// Arguments of one number where functions with a range are next to its ends: around multiples of pi/2 and of 1/2, around
/// 1, and where functions come close to what they are at infinity.
pub fn near_limits(ty: Type, count: usize) -> Columns {
    let mut random = Random::new(11);
    // Where the cosine is less than one unit from 1.
    let close = 2f64.powi(-ty.mantissa() / 2);
    let value = |random: &mut Random| {
        let multiple = match random.below(4) {
            0 => random.below(1 << ty.mantissa().min(20)) as f64,
            _ => random.below(64) as f64,
        };
        let offset = unit(random.bits()) * 2f64.powi(-(random.below(8) as i32)) * close;
        match random.below(8) {
            0..4 => multiple * (PI / 2.0) + offset,
            4 => multiple / 2.0 + offset,
            5 => 1.0 + unit(random.bits()) * 2f64.powi(-(random.below(ty.mantissa() as usize) as i32)),
            6 => unit(random.bits()) * 24.0,
            _ => unit(random.bits()) * 4.0,
        }
    };
    let values = (0..count).map(|_| ty.rounded(value(&mut random) * sign(random.bits()))).collect();
    [values, Vec::new(), Vec::new()]
}

fn number(ty: Type, edges: &[f64], random: &mut Random) -> f64 {
    let bits = random.bits();
    match random.below(8) {
        // Any bits.
        0 | 1 => ty.value(if ty == Type::Double { bits } else { bits >> 16 & 0xffff_ffff }),
        // Close to an edge.
        2 => {
            let edge = edges[random.below(edges.len())];
            let bits = ty.bits(edge).wrapping_add((random.below(65) as u64).wrapping_sub(32));
            let mask = if ty == Type::Double { u64::MAX } else { (1 << (8 << (ty as u32 + 1))) - 1 };
            ty.value(bits & mask)
        }
        // Close to one.
        3 => ty.rounded(1.0 + unit(bits) * 2f64.powi(-(random.below(ty.mantissa() as usize) as i32))),
        // Evenly in the range where most functions do their work.
        4 => ty.rounded(unit(bits) * 20.0),
        5 => ty.rounded(unit(bits) * f64::from(ty.largest())),
        // With any exponent that is not far from zero.
        _ => ty.rounded((1.0 + unit(bits).abs()) * 2f64.powi(random.below(40) as i32 - 27)) * sign(bits),
    }
}

/// A number to go with the first.
fn second(ty: Type, edges: &[f64], first: f64, random: &mut Random) -> f64 {
    match random.below(4) {
        // Of the same size.
        0 => ty.rounded(first * unit(random.bits()) * 4.0),
        // An integer.
        1 => ty.rounded(unit(random.bits()) * 40.0).trunc(),
        _ => number(ty, edges, random),
    }
}

fn int(random: &mut Random) -> f64 {
    f64::from(match random.below(4) {
        0 => random.int(),
        1 => INTS[random.below(INTS.len())],
        2 => random.below(2200) as i32 - 1100,
        _ => random.below(41) as i32 - 20,
    })
}

/// From -1 to 1.
fn unit(bits: u64) -> f64 {
    (bits as i64) as f64 * 2f64.powi(-63)
}

fn sign(bits: u64) -> f64 {
    if bits & 1 == 0 { 1.0 } else { -1.0 }
}

#[test]
fn samples_are_values_of_the_type_and_reach_its_ends() {
    for ty in [Type::Half, Type::Float, Type::Double] {
        let [a, b, c] = at_random(ty, Takes::Three, 1, 10_000);
        assert_eq!([a.len(), b.len(), c.len()], [10_000; 3]);
        assert!(a.iter().all(|&value| value.is_nan() || ty.rounded(value) == value));
        assert!(a.iter().any(|value| value.abs() > ty.most() / 1e6));
        assert!(a.iter().any(|value| *value != 0.0 && value.abs() < ty.least_normal()));
        assert!(edges(ty).contains(&ty.most()));
    }
    let [all, ..] = in_steps(Type::Half, 0, 1, 1 << 20);
    assert_eq!(all.len(), 1 << 16);
    let [last, ..] = in_steps(Type::Float, (1 << 32) - 3, 2, 10);
    assert_eq!(last.len(), 2);
}
