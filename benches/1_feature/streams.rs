//! Kernels that are about how memory is read and written: in a row, over windows, in structures, through indices.

use lockstep_conformance::Random;

use crate::args;
use crate::case::{Data, Problem, floats, step};

/// The kernels.
pub const SOURCE: &str = include_str!("streams.cl");

/// `y = a x + y` on arrays that stay in the first caches.
pub fn saxpy() -> Problem {
    const COUNT: usize = 1 << 16;
    // Small whole numbers, so that all the launches' sums are exact.
    let mut random = Random::new(1);
    let x: Vec<f32> = (0..COUNT).map(|_| random.below(8) as f32).collect();
    let y: Vec<f32> = (0..COUNT).map(|_| random.below(8) as f32).collect();
    const LAUNCHES: usize = 100;
    let want: Vec<f32> = x.iter().zip(&y).map(|(x, y)| y + LAUNCHES as f32 * 2.0 * x).collect();
    let one = step("saxpy", &[COUNT], &[], args![b 0, b 1, v (2.0_f32)]);
    Problem {
        buffers: vec![Data::of(&x), Data::in_place(&y)],
        steps: vec![one; LAUNCHES],
        check: Box::new(move |outcome| outcome.same(1, &want)),
    }
}

/// Three arrays that together fit into the second caches.
pub fn triad() -> Problem {
    triad_of(1 << 16, 100)
}

/// 96 MiB, far more than any cache.
pub fn triad_large() -> Problem {
    triad_of(1 << 23, 1)
}

fn triad_of(count: usize, launches: usize) -> Problem {
    const FACTOR: f32 = 3.0;
    let mut random = Random::new(10);
    let (b, c) = (random.whole_floats(count), random.whole_floats(count));
    let want: Vec<f32> = b.iter().zip(&c).map(|(b, c)| b + FACTOR * c).collect();
    Problem {
        buffers: vec![Data::of(&b), Data::of(&c), Data::room::<f32>(count)],
        steps: vec![step("triad", &[count], &[], args![b 0, b 1, b 2, v (FACTOR)]); launches],
        check: Box::new(move |outcome| outcome.same(2, &want)),
    }
}

/// A filter with 32 taps.
pub fn fir() -> Problem {
    const COUNT: usize = 1 << 17;
    let signal = floats(2, COUNT + 31, -1.0, 1.0);
    let taps = floats(3, 32, -1.0, 1.0);
    let want: Vec<f32> = signal
        .windows(32)
        .map(|window| window.iter().zip(&taps).map(|(x, t)| f64::from(*x) * f64::from(*t)).sum::<f64>() as f32)
        .collect();
    Problem {
        buffers: vec![Data::of(&signal), Data::room::<f32>(COUNT), Data::of(&taps)],
        steps: vec![step("fir", &[COUNT], &[], args![b 0, b 1, b 2]); 3],
        check: Box::new(move |outcome| outcome.close(1, &want, 1e-4)),
    }
}

/// A 5 x 5 convolution.
pub fn convolution() -> Problem {
    const WIDTH: usize = 384;
    const HEIGHT: usize = 256;
    const PITCH: usize = WIDTH + 4;
    let image = floats(4, PITCH * (HEIGHT + 4), -1.0, 1.0);
    let weights = floats(5, 25, -1.0, 1.0);
    let at = |x: usize, y: usize| -> f32 {
        let products = (0..25).map(|k| f64::from(weights[k]) * f64::from(image[(y + k / 5) * PITCH + x + k % 5]));
        products.sum::<f64>() as f32
    };
    let want: Vec<f32> = (0..WIDTH * HEIGHT).map(|i| at(i % WIDTH, i / WIDTH)).collect();
    Problem {
        buffers: vec![Data::of(&image), Data::room::<f32>(WIDTH * HEIGHT), Data::of(&weights)],
        steps: vec![step("convolution", &[WIDTH, HEIGHT], &[], args![b 0, b 1, b 2, v (PITCH as i32)]); 5],
        check: Box::new(move |outcome| outcome.close(1, &want, 1e-4)),
    }
}

/// Structures of three floats.
pub fn luminance() -> Problem {
    const COUNT: usize = 1 << 15;
    let pixels = floats(6, 3 * COUNT, 0.0, 1.0);
    let want: Vec<f32> = pixels
        .chunks_exact(3)
        .flat_map(|p| {
            let grey = 0.2126 * p[0] + 0.7152 * p[1] + 0.0722 * p[2];
            [0, 1, 2].map(|k| p[k] + 0.25 * (grey - p[k]))
        })
        .collect();
    Problem {
        buffers: vec![Data::of(&pixels), Data::room::<f32>(3 * COUNT)],
        steps: vec![step("luminance", &[COUNT], &[], args![b 0, b 1, v (0.25_f32)]); 60],
        check: Box::new(move |outcome| outcome.close(1, &want, 1e-5)),
    }
}

/// Bytes.
pub fn blend() -> Problem {
    const COUNT: usize = 1 << 17;
    const WEIGHT: u8 = 77;
    let mut random = Random::new(7);
    let (a, b) = (random.bytes(COUNT), random.bytes(COUNT));
    let want: Vec<u8> = a
        .iter()
        .zip(&b)
        .map(|(a, b)| {
            let sum = u32::from(*a) * u32::from(WEIGHT) + u32::from(*b) * u32::from(255 - WEIGHT) + 127;
            ((sum + (sum >> 8) + 1) >> 8) as u8
        })
        .collect();
    Problem {
        buffers: vec![Data::of(&a), Data::of(&b), Data::room::<u8>(COUNT)],
        steps: vec![step("blend", &[COUNT], &[], args![b 0, b 1, b 2, v (WEIGHT)]); 40],
        check: Box::new(move |outcome| outcome.same(2, &want)),
    }
}

/// Loads whose addresses come from memory.
pub fn gather() -> Problem {
    const COUNT: usize = 1 << 15;
    const TABLE: usize = 1 << 12;
    let mut random = Random::new(8);
    let table = random.whole_floats(TABLE);
    let indices: Vec<u32> = (0..8 * COUNT).map(|_| random.below(TABLE) as u32).collect();
    let want: Vec<f32> = (0..COUNT).map(|i| (0..8).map(|k| table[indices[i + k * COUNT] as usize]).sum()).collect();
    Problem {
        buffers: vec![Data::of(&table), Data::of(&indices), Data::room::<f32>(COUNT)],
        steps: vec![step("gather", &[COUNT], &[], args![b 0, b 1, b 2]); 20],
        check: Box::new(move |outcome| outcome.same(2, &want)),
    }
}

/// Sums of groups in local memory, with a barrier between any two steps.
pub fn reduce() -> Problem {
    reduce_of(1 << 17, 10)
}

/// The same over 64 MiB.
pub fn reduce_large() -> Problem {
    reduce_of(1 << 24, 1)
}

fn reduce_of(count: usize, launches: usize) -> Problem {
    const GROUP: usize = 256;
    let values = Random::new(9).whole_floats(count);
    let want: Vec<f32> = values.chunks_exact(GROUP).map(|group| group.iter().sum()).collect();
    Problem {
        buffers: vec![Data::of(&values), Data::room::<f32>(count / GROUP)],
        steps: vec![step("reduce", &[count], &[GROUP], args![b 0, b 1, l (4 * GROUP)]); launches],
        check: Box::new(move |outcome| outcome.same(1, &want)),
    }
}
