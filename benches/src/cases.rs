//! The suite: one table of all kernels, which every comparison of configurations or drivers goes through.
//!
//! A folder holds kernels of about one feature, the next those that combine several, the last parts of applications.
//! Each file is a family: the OpenCL C beside the host's own computation of the same results.

use crate::case::{Case, NO_LOSS, Problem};

#[path = "../2_combination/bodies.rs"]
mod bodies;
#[path = "../2_combination/histogram.rs"]
pub(crate) mod histogram;
#[path = "../1_feature/lanes.rs"]
mod lanes;
#[path = "../2_combination/mandelbrot.rs"]
mod mandelbrot;
#[path = "../3_application/matrices.rs"]
pub(crate) mod matrices;
#[path = "../3_application/molecules.rs"]
mod molecules;
#[path = "../2_combination/options.rs"]
mod options;
#[path = "../2_combination/paths.rs"]
pub(crate) mod paths;
#[path = "../1_feature/polynomials.rs"]
mod polynomials;
#[path = "../3_application/rays.rs"]
mod rays;
#[path = "../3_application/searching.rs"]
mod searching;
#[path = "../2_combination/sorting.rs"]
pub(crate) mod sorting;
#[path = "../1_feature/streams.rs"]
pub(crate) mod streams;
#[path = "../2_combination/transforms.rs"]
pub(crate) mod transforms;

/// All of them, in the order of the tables.
pub const CASES: &[Case] = &[
    // Branch-free and bound by arithmetic: half of the 16 lanes is the least.
    case("horner", polynomials::SOURCE, 8.0, polynomials::horner),
    case("logistic", polynomials::SOURCE, 8.0, polynomials::logistic),
    case("fir", streams::SOURCE, 8.0, streams::fir),
    case("convolution", streams::SOURCE, 8.0, streams::convolution),
    case("horner_double", polynomials::SOURCE, NO_LOSS, polynomials::horner_double),
    case("mix", polynomials::SOURCE, NO_LOSS, polynomials::mix),
    // Bound by memory, or about how it is accessed.
    case("saxpy", streams::SOURCE, NO_LOSS, streams::saxpy),
    case("luminance", streams::SOURCE, NO_LOSS, streams::luminance),
    case("blend", streams::SOURCE, NO_LOSS, streams::blend),
    case("gather", streams::SOURCE, NO_LOSS, streams::gather),
    case("reduce", streams::SOURCE, NO_LOSS, streams::reduce),
    // Lanes that agree most of the time.
    case("sparse_rows", lanes::SOURCE, NO_LOSS, lanes::sparse_rows),
    case("hash_texts", lanes::SOURCE, NO_LOSS, lanes::hash_texts),
    case("newton_steps", lanes::SOURCE, NO_LOSS, lanes::newton_steps),
    case("guarded_sums", lanes::SOURCE, NO_LOSS, lanes::guarded_sums),
    case("guarded_bytes", lanes::SOURCE, NO_LOSS, lanes::guarded_bytes),
    // The nine of Karrenberg & Hack 2012, Table 1.
    case("bitonic_sort", sorting::SOURCE, NO_LOSS, sorting::bitonic_sort),
    case("black_scholes", options::SOURCE, 6.0, options::black_scholes),
    case("dct", transforms::SOURCE, NO_LOSS, transforms::dct),
    case("fast_walsh_transform", transforms::SOURCE, NO_LOSS, transforms::fast_walsh_transform),
    case("floyd_warshall", paths::SOURCE, NO_LOSS, paths::floyd_warshall),
    case("histogram", histogram::SOURCE, NO_LOSS, histogram::histogram),
    case("mandelbrot", mandelbrot::SOURCE, 8.0, mandelbrot::mandelbrot),
    case("matrix_transpose", transforms::SOURCE, NO_LOSS, transforms::matrix_transpose),
    case("nbody", bodies::SOURCE, 8.0, bodies::nbody),
    // Parts of applications.
    case("sgemm", matrices::SOURCE, NO_LOSS, matrices::sgemm),
    case("jacobi", matrices::SOURCE, NO_LOSS, matrices::jacobi),
    case("cross_sections", searching::SOURCE, NO_LOSS, searching::cross_sections),
    case("tree_search", searching::SOURCE, NO_LOSS, searching::tree_search),
    case("point_correlation", searching::SOURCE, NO_LOSS, searching::point_correlation),
    case("trace_rays", rays::SOURCE, NO_LOSS, rays::trace_rays),
    case("born_sums", molecules::SOURCE, NO_LOSS, molecules::born_sums),
];

const fn case(name: &'static str, source: &'static str, wanted: f64, problem: fn() -> Problem) -> Case {
    Case { name, source, wanted, problem }
}

/// The case of this name.
pub fn find(name: &str) -> Option<&'static Case> {
    CASES.iter().find(|case| case.name == name)
}
