//! Kernels that read and write images, each with pictures that stay in the second caches and with such that do not.

use crate::case::{Case, Problem};

#[path = "../3_application/images.rs"]
mod pictures;

/// How many times as fast as other drivers the project wants them.
pub const WANTED: f64 = 2.0;

/// All of them, in the order of the table.
pub const IMAGES: &[Case] = &[
    case("image_resize", pictures::resize),
    case("image_resize_large", pictures::resize_large),
    case("image_convolve", pictures::convolve),
    case("image_convolve_large", pictures::convolve_large),
    case("image_colours", pictures::convert_colours),
    case("image_colours_large", pictures::convert_colours_large),
];

const fn case(name: &'static str, problem: fn() -> Problem) -> Case {
    Case { name, source: pictures::SOURCE, wanted: WANTED, problem }
}
