//! Kernels on pictures of four bytes a point, through the image built-ins.

use lockstep_conformance::Random;
use lockstep_conformance::opencl_sys::{CL_RGBA, CL_UNORM_INT8};

use crate::args;
use crate::case::{Data, Outcome, Problem, Step, step};

/// The kernels.
pub const SOURCE: &str = include_str!("images.cl");

/// Width and height of pictures that the second caches keep, and of those that they do not.
type Sizes = [usize; 2];
const SMALL: Sizes = [512, 256];
const LARGE: Sizes = [2048, 2048];

/// A point as red, green, blue and alpha from 0 to 1.
type Point = [f32; 4];

struct Picture {
    sizes: Sizes,
    bytes: Vec<u8>,
}

impl Picture {
    fn random(sizes: Sizes) -> Self {
        Self { sizes, bytes: Random::new(1).bytes(4 * sizes[0] * sizes[1]) }
    }

    fn data(&self) -> Data {
        Data::picture((CL_RGBA, CL_UNORM_INT8), self.sizes, self.bytes.clone())
    }

    fn point(&self, x: usize, y: usize) -> Point {
        let at = 4 * (y * self.sizes[0] + x);
        [0, 1, 2, 3].map(|k| f32::from(self.bytes[at + k]) / 255.0)
    }

    /// A problem with this picture and one that each of whose points follows from it.
    fn to(self, sizes: Sizes, steps: Vec<Step>, more: Option<Data>, point: impl Fn(&Self, Sizes) -> Point) -> Problem {
        let places = (0..sizes[0] * sizes[1]).map(|at| [at % sizes[0], at / sizes[0]]);
        let want: Vec<f32> = places.flat_map(|place| point(&self, place)).collect();
        let out = Data::picture((CL_RGBA, CL_UNORM_INT8), sizes, vec![0; 4 * sizes[0] * sizes[1]]);
        Problem {
            buffers: [self.data(), out].into_iter().chain(more).collect(),
            steps,
            check: Box::new(move |outcome| near(outcome, &want)),
        }
    }
}

/// What is between two bytes may become either.
fn near(outcome: &Outcome, want: &[f32]) -> Result<(), String> {
    let got = &outcome.0[1];
    let off = |(got, want): (&u8, &f32)| (f32::from(*got) - 255.0 * want.clamp(0.0, 1.0)).abs() > 0.75;
    match got.iter().zip(want).position(off) {
        None => Ok(()),
        Some(at) => Err(format!("component {at} is {} and not {}", got[at], 255.0 * want[at])),
    }
}

/// To one and a half times the width and height.
pub fn resize() -> Problem {
    resized(SMALL, 4)
}

/// See [`resize`].
pub fn resize_large() -> Problem {
    resized(LARGE, 1)
}

fn resized(sizes: Sizes, launches: usize) -> Problem {
    let wide = sizes.map(|size| 3 * size / 2);
    let steps = vec![step("resize", &wide, &[], args![i 0, i 1]); launches];
    Picture::random(sizes).to(wide, steps, None, move |picture, place| {
        let [across, down] = [0, 1].map(|k| {
            let at = (place[k] as f32 + 0.5) / wide[k] as f32 * sizes[k] as f32 - 0.5;
            let limit = |i: f32| i.clamp(0.0, (sizes[k] - 1) as f32) as usize;
            (limit(at.floor()), limit(at.floor() + 1.0), at - at.floor())
        });
        let row = |y: usize| {
            let (a, b) = (picture.point(across.0, y), picture.point(across.1, y));
            [0, 1, 2, 3].map(|k| a[k] + across.2 * (b[k] - a[k]))
        };
        let (a, b) = (row(down.0), row(down.1));
        [0, 1, 2, 3].map(|k| a[k] + down.2 * (b[k] - a[k]))
    })
}

/// A window of 25 weights whose sum is 1.
pub fn convolve() -> Problem {
    convolved(SMALL, 2)
}

/// See [`convolve`].
pub fn convolve_large() -> Problem {
    convolved(LARGE, 1)
}

fn convolved(sizes: Sizes, launches: usize) -> Problem {
    let row = [1.0, 4.0, 6.0, 4.0, 1.0].map(|weight: f32| weight / 16.0);
    let weights: Vec<f32> = row.iter().flat_map(|down| row.map(|across| down * across)).collect();
    let steps = vec![step("convolve", &sizes, &[], args![i 0, i 1, b 2]); launches];
    Picture::random(sizes).to(sizes, steps, Some(Data::of(&weights)), move |picture, [x, y]| {
        let mut sum = [0.0; 4];
        for (number, weight) in weights.iter().enumerate() {
            // Two more than the place, so that no number is below zero.
            let (x, y) = (x + number % 5, y + number / 5);
            if (2..sizes[0] + 2).contains(&x) && (2..sizes[1] + 2).contains(&y) {
                let point = picture.point(x - 2, y - 2);
                sum = [0, 1, 2, 3].map(|k| sum[k] + weight * point[k]);
            }
        }
        sum
    })
}

/// Each point by itself.
pub fn convert_colours() -> Problem {
    converted(SMALL, 8)
}

/// See [`convert_colours`].
pub fn convert_colours_large() -> Problem {
    converted(LARGE, 1)
}

fn converted(sizes: Sizes, launches: usize) -> Problem {
    let steps = vec![step("convert_colours", &sizes, &[], args![i 0, i 1]); launches];
    Picture::random(sizes).to(sizes, steps, None, |picture, [x, y]| {
        let [red, green, blue, alpha] = picture.point(x, y);
        let luma = 0.299 * red + 0.587 * green + 0.114 * blue;
        [luma, 0.564 * (blue - luma) + 0.5, 0.713 * (red - luma) + 0.5, alpha]
    })
}
