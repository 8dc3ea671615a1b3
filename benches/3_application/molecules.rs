//! Pairs of atoms and a cascade of unlikely conditions, as in 644.nab_s (Moll 2021, section 9.2); particles in boxes, rates of
//! reactions.

use crate::args;
use crate::case::{Arg, Data, Problem, floats, step};

/// OpenCL C of this family's kernels.
pub const SOURCE: &str = include_str!("molecules.cl");

/// 1,536 atoms along a chain.
pub fn born_sums() -> Problem {
    const ATOMS: usize = 1536;
    const CUTOFF: f32 = 12.0;
    const SCALE: f32 = 0.8;
    let numbers = floats(1, 4 * ATOMS, 0.0, 1.0);
    // Neighbours in the list are neighbours in space.
    let atom = |(i, n): (usize, &[f32])| {
        let turn = i as f32 * 0.05;
        [20.0 * turn.cos() + 6.0 * n[0], 20.0 * turn.sin() + 6.0 * n[1], 0.1 * i as f32 + 6.0 * n[2], 1.1 + 0.6 * n[3]]
    };
    let atoms: Vec<[f32; 4]> = numbers.chunks_exact(4).enumerate().map(atom).collect();
    let sum = |i: usize| -> f32 {
        let others = (0..ATOMS).filter(|&j| j != i);
        others.map(|j| pair(atoms[i], atoms[j], f64::from(CUTOFF), f64::from(SCALE))).sum::<f64>() as f32
    };
    let want: Vec<f32> = (0..ATOMS).map(sum).collect();
    Problem {
        buffers: vec![Data::of(&atoms), Data::room::<f32>(ATOMS)],
        steps: vec![step("born_sums", &[ATOMS], &[], args![b 0, b 1, v (ATOMS as i32), v (CUTOFF), v (SCALE)])],
        check: Box::new(move |outcome| outcome.close(1, &want, 2e-3)),
    }
}

fn pair(mine: [f32; 4], other: [f32; 4], cutoff: f64, scale: f64) -> f64 {
    let way = [0, 1, 2].map(|k| f64::from(mine[k]) - f64::from(other[k]));
    let (ri, sj) = (f64::from(mine[3]), scale * f64::from(other[3]));
    let square = way.iter().map(|d| d * d).sum::<f64>();
    let d = square.sqrt();
    if d > cutoff + sj {
        0.0
    } else if d > cutoff - sj {
        let ends = (square - 4.0 * cutoff * d - sj * sj) / (cutoff * cutoff);
        -0.125 / d * (1.0 + 2.0 * d / (d - sj) + ends + 2.0 * ((d - sj) / cutoff).ln())
    } else if d > 4.0 * sj {
        let t = sj * sj / square;
        let series = [0.454_545, 0.444_444, 0.428_571, 0.4, 0.333_333].iter().fold(0.0, |sum, c| sum * t + c);
        -t * sj / square * series
    } else if d > ri + sj {
        -0.5 * (sj / (square - sj * sj) + 0.5 * ((d - sj) / (d + sj)).ln() / d)
    } else if d > (ri - sj).abs() {
        let theta = 0.5 / (ri * d) * (square + ri * ri - sj * sj);
        let up = 1.0 / (d + sj);
        -0.25 * (1.0 / ri * (2.0 - theta) - up + (ri * up).ln() / d)
    } else if ri < sj {
        -0.5 * (sj / (square - sj * sj) + 2.0 / ri + 0.5 * ((sj - d) / (d + sj)).ln() / d)
    } else {
        0.0
    }
}

/// 27 boxes of 100 particles, each of which acts on those of all boxes around it.
pub fn box_forces() -> Problem {
    boxes("box_forces", false)
}

/// The same in double.
pub fn box_forces_double() -> Problem {
    boxes("box_forces_double", true)
}

fn boxes(kernel: &'static str, double: bool) -> Problem {
    const SIDE: usize = 3;
    const COUNT: usize = 100;
    const BOXES: usize = SIDE * SIDE * SIDE;
    const DECAY: f64 = 0.5;
    let near: Vec<i32> = (0..BOXES).flat_map(|_| 0..BOXES as i32).collect();
    let numbers = floats(3, 3 * BOXES * COUNT, -1.0, 1.0);
    let place = |p: &[f32]| [p.iter().map(|x| x * x).sum::<f32>() / 2.0, p[0], p[1], p[2]];
    let places: Vec<f32> = numbers.chunks_exact(3).flat_map(place).collect();
    let charges = floats(4, BOXES * COUNT, 0.0, 1.0);
    let place = |i: usize| [0, 1, 2, 3].map(|part| f64::from(places[4 * i + part]));
    let force = |i: usize| -> [f64; 4] {
        let mine = place(i);
        let mut sum = [0.0; 4];
        for (j, &charge) in charges.iter().enumerate() {
            let other = place(j);
            let product: f64 = (1..4).map(|part| mine[part] * other[part]).sum();
            let potential = f64::from(charge) * (-DECAY * (mine[0] + other[0] - product)).exp();
            sum[0] += potential;
            (1..4).for_each(|part| sum[part] += 2.0 * potential * (mine[part] - other[part]));
        }
        sum
    };
    let want: Vec<f64> = (0..BOXES * COUNT).flat_map(force).collect();
    let wide = |numbers: &[f32]| -> Vec<f64> { numbers.iter().map(|&x| f64::from(x)).collect() };
    let zeros = vec![0.0_f32; want.len()];
    let (near, around, count) = (Data::of(&near), BOXES as i32, COUNT as i32);
    let (buffers, arguments): (_, Vec<Arg>) = if double {
        let buffers = [&places, &charges].map(|numbers| Data::of(&wide(numbers)));
        let [places, charges] = buffers;
        let forces = Data::in_place(&wide(&zeros));
        let arguments = args![b 0, b 1, b 2, b 3, v (around), v (count), v (DECAY)];
        (vec![near, places, charges, forces], arguments)
    } else {
        let forces = Data::in_place(&zeros);
        let arguments = args![b 0, b 1, b 2, b 3, v (around), v (count), v (DECAY as f32)];
        (vec![near, Data::of(&places), Data::of(&charges), forces], arguments)
    };
    Problem {
        buffers,
        steps: vec![step(kernel, &[BOXES * 128], &[128], arguments)],
        check: Box::new(move |outcome| match double {
            true => outcome.close_doubles(3, &want, 1e-12),
            false => outcome.close(3, &want.iter().map(|&x| x as f32).collect::<Vec<_>>(), 1e-3),
        }),
    }
}

/// Rates of eight reactions at 16,384 places.
pub fn reaction_rates() -> Problem {
    const COUNT: usize = 1 << 14;
    let wide = |numbers: Vec<f32>| -> Vec<f64> { numbers.into_iter().map(f64::from).collect() };
    let (heat, amounts) = (wide(floats(5, COUNT, 600.0, 2500.0)), wide(floats(6, 6 * COUNT, 0.0, 1.0)));
    let mut want = vec![0.0; 6 * COUNT];
    for i in 0..COUNT {
        let t = heat[i];
        for ([a, b, c, d], factor, power, energy) in REACTIONS {
            let amount = |species: usize| amounts[species * COUNT + i];
            let forth = (factor + power * t.ln() - energy / t).exp();
            let back = forth * (0.5 * power - 0.25 * energy / t).exp();
            let pressure = forth * (amount(a) + amount(b)) / (1.0 + back);
            let falloff = (1.0 + pressure).powf(-0.3) * pressure / (1.0 + pressure);
            let rate = falloff * (forth * amount(a) * amount(b) - back * amount(c) * amount(d));
            [a, b].into_iter().for_each(|species| want[species * COUNT + i] -= rate);
            [c, d].into_iter().for_each(|species| want[species * COUNT + i] += rate);
        }
    }
    Problem {
        buffers: vec![Data::of(&heat), Data::of(&amounts), Data::room::<f64>(6 * COUNT)],
        steps: vec![step("reaction_rates", &[COUNT], &[], args![b 0, b 1, b 2, v (COUNT as i32)])],
        check: Box::new(move |outcome| outcome.close_doubles(2, &want, 1e-11)),
    }
}

/// The species that go and come, and what decides how fast.
const REACTIONS: [([usize; 4], f64, f64, f64); 8] = [
    ([0, 1, 2, 3], 1.25, 0.10, 1200.0),
    ([0, 2, 4, 5], 0.75, 0.20, 800.0),
    ([1, 3, 2, 5], 1.50, -0.15, 600.0),
    ([4, 5, 0, 3], 0.25, 0.05, 1500.0),
    ([2, 3, 1, 4], 1.00, 0.00, 900.0),
    ([3, 4, 0, 2], 0.50, 0.25, 2100.0),
    ([1, 5, 3, 4], 2.00, -0.20, 300.0),
    ([0, 5, 1, 2], 0.80, 0.15, 1700.0),
];
