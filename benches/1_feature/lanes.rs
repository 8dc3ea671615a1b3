//! Kernels whose lanes agree most of the time: loops that lanes leave at about the same time, conditions that hold for
//! almost all.

use lockstep_conformance::Random;

use crate::args;
use crate::case::{Data, Problem, Step, floats, step};

/// The kernels.
pub const SOURCE: &str = include_str!("lanes.cl");

/// Rows of 24 to 31 elements.
pub fn sparse_rows() -> Problem {
    const ROWS: usize = 1 << 12;
    const LONGEST: usize = 32;
    let mut random = Random::new(1);
    let lengths: Vec<i32> = (0..ROWS).map(|_| 24 + random.below(8) as i32).collect();
    let columns: Vec<i32> = (0..ROWS * LONGEST).map(|_| random.below(ROWS) as i32).collect();
    let values = floats(2, ROWS * LONGEST, -1.0, 1.0);
    let x = floats(3, ROWS, -1.0, 1.0);
    let product =
        |row: usize, k: usize| f64::from(values[k * ROWS + row]) * f64::from(x[columns[k * ROWS + row] as usize]);
    let sum = |row: usize| (0..lengths[row] as usize).map(|k| product(row, k)).sum::<f64>() as f32;
    let want: Vec<f32> = (0..ROWS).map(sum).collect();
    Problem {
        buffers: vec![Data::of(&lengths), Data::of(&values), Data::of(&columns), Data::of(&x), Data::room::<f32>(ROWS)],
        steps: vec![step("sparse_rows", &[ROWS], &[], args![b 0, b 1, b 2, b 3, b 4, v (ROWS as i32)]); 40],
        check: Box::new(move |outcome| outcome.close(4, &want, 1e-4)),
    }
}

/// Texts of 40 to 63 characters.
pub fn hash_texts() -> Problem {
    const COUNT: usize = 1 << 13;
    const LONGEST: usize = 64;
    let mut random = Random::new(4);
    let mut texts = vec![0_u8; COUNT * LONGEST];
    let mut hash = |i: usize| {
        (0..40 + random.below(24)).fold(2_166_136_261_u32, |hash, k| {
            let character = 1 + random.below(255) as u8;
            texts[k * COUNT + i] = character;
            (hash ^ u32::from(character)).wrapping_mul(16_777_619)
        })
    };
    let want: Vec<u32> = (0..COUNT).map(&mut hash).collect();
    Problem {
        buffers: vec![Data::of(&texts), Data::room::<u32>(COUNT)],
        steps: vec![step("hash_texts", &[COUNT], &[], args![b 0, b 1, v (COUNT as i32)]); 20],
        check: Box::new(move |outcome| outcome.same(1, &want)),
    }
}

/// Square roots of numbers near each other, so that neighbours take about as many steps.
pub fn newton_steps() -> Problem {
    const COUNT: usize = 1 << 14;
    let squares: Vec<f32> = (0..COUNT).map(|i| 2.0 + i as f32).collect();
    Problem {
        buffers: vec![Data::of(&squares), Data::room::<f32>(32 * COUNT), Data::room::<i32>(COUNT)],
        steps: vec![step("newton_steps", &[COUNT], &[], args![b 0, b 1, b 2, v (COUNT as i32)]); 10],
        check: Box::new(move |outcome| {
            let lengths: Vec<i32> = outcome.values(2);
            let steps: Vec<f32> = outcome.values(1);
            let last: Vec<f32> = (0..COUNT).map(|i| steps[lengths[i].clamp(0, 31) as usize * COUNT + i]).collect();
            let near = |(root, square): (&f32, &f32)| (root - square.sqrt()).abs() < 2e-6 * root;
            let wrong = last.iter().zip(&squares).filter(|&pair| !near(pair)).count();
            if wrong == 0 { Ok(()) } else { Err(format!("{wrong} roots are wrong")) }
        }),
    }
}

/// A number of elements that is no multiple of anything.
pub fn guarded_sums() -> Problem {
    const COUNT: usize = 4091;
    const TAPS: usize = 32;
    let signal = floats(5, COUNT * TAPS, -1.0, 1.0);
    let weights = floats(6, TAPS, -1.0, 1.0);
    let product = |i: usize, k: usize| f64::from(weights[k]) * f64::from(signal[k * COUNT + i]);
    let want: Vec<f32> = (0..COUNT).map(|i| (0..TAPS).map(|k| product(i, k)).sum::<f64>() as f32).collect();
    let arguments = args![b 0, b 1, b 2, v (COUNT as i32), v (TAPS as i32)];
    Problem {
        buffers: vec![Data::of(&signal), Data::of(&weights), Data::room::<f32>(COUNT)],
        steps: vec![step("guarded_sums", &[COUNT.next_multiple_of(64)], &[64], arguments); 40],
        check: Box::new(move |outcome| outcome.close(2, &want, 1e-4)),
    }
}

/// A blurred image whose edge stays black.
pub fn guarded_bytes() -> Problem {
    const WIDTH: usize = 500;
    const HEIGHT: usize = 200;
    let mut random = Random::new(7);
    let image: Vec<u8> = (0..WIDTH * HEIGHT).map(|_| random.below(256) as u8).collect();
    let at = |x: usize, y: usize| u32::from(image[y * WIDTH + x]);
    let row = |x: usize, y: usize| at(x - 1, y) + 2 * at(x, y) + at(x + 1, y);
    let blurred = |i: usize| {
        let (x, y) = (i % WIDTH, i / WIDTH);
        let inside = x > 0 && y > 0 && x < WIDTH - 1 && y < HEIGHT - 1;
        if inside { ((row(x, y - 1) + 2 * row(x, y) + row(x, y + 1)) / 16) as u8 } else { 0 }
    };
    let want: Vec<u8> = (0..WIDTH * HEIGHT).map(blurred).collect();
    let arguments = args![b 0, b 1, v (WIDTH as i32), v (HEIGHT as i32)];
    Problem {
        buffers: vec![Data::of(&image), Data::room::<u8>(WIDTH * HEIGHT)],
        steps: vec![step("guarded_bytes", &[512, HEIGHT], &[64, 1], arguments); 20],
        check: Box::new(move |outcome| outcome.same(1, &want)),
    }
}

/// One million bytes, counted by their values.
pub fn byte_histogram() -> Problem {
    const COUNT: usize = 1 << 20;
    const LAUNCHES: usize = 2;
    let mut random = Random::new(34);
    let bytes: Vec<u8> = (0..COUNT).map(|_| random.below(256) as u8).collect();
    let mut want = vec![0_u32; 256];
    bytes.iter().for_each(|&byte| want[usize::from(byte)] += LAUNCHES as u32);
    Problem {
        buffers: vec![Data::of(&bytes), Data::in_place(&[0_u32; 256])],
        steps: vec![step("byte_histogram", &[COUNT], &[], args![b 0, b 1]); LAUNCHES],
        check: Box::new(move |outcome| outcome.same(1, &want)),
    }
}

const SUM_ROWS: usize = 4096;
const SUM_COLUMNS: usize = 64;

/// The sums of 4,096 rows of 64 floats, four rows a group.
pub fn volatile_sums() -> Problem {
    let values = floats(35, SUM_ROWS * SUM_COLUMNS, -1.0, 1.0);
    let want: Vec<f32> = values.chunks(SUM_COLUMNS).map(|row| row.iter().sum()).collect();
    Problem {
        buffers: vec![Data::of(&values), Data::room::<f32>(SUM_ROWS)],
        steps: sum_rows("volatile_sums", size_of::<f32>()),
        check: Box::new(move |outcome| outcome.close(1, &want, 1e-4)),
    }
}

/// The same of doubles.
pub fn volatile_sums_double() -> Problem {
    let values: Vec<f64> = floats(35, SUM_ROWS * SUM_COLUMNS, -1.0, 1.0).into_iter().map(f64::from).collect();
    let want: Vec<f64> = values.chunks(SUM_COLUMNS).map(|row| row.iter().sum()).collect();
    Problem {
        buffers: vec![Data::of(&values), Data::room::<f64>(SUM_ROWS)],
        steps: sum_rows("volatile_sums_double", size_of::<f64>()),
        check: Box::new(move |outcome| outcome.close_doubles(1, &want, 1e-12)),
    }
}

/// Launches that add up each row in local memory, of numbers of so many bytes.
fn sum_rows(kernel: &'static str, element_size: usize) -> Vec<Step> {
    let arguments = args![b 0, l (4 * 32 * element_size), b 1, v (SUM_COLUMNS as i32)];
    vec![step(kernel, &[32, SUM_ROWS], &[32, 4], arguments); 4]
}
