//! The suite: one table of all kernels, which every comparison of configurations or drivers goes through.
//!
//! A folder holds kernels of about one feature, the next those that combine several, the last parts of applications.
//! Each file is a family: the OpenCL C beside the host's own computation of the same results.

use self::nests::{LONG_NESTS, NESTS};
use crate::case::{Case, NO_LOSS, Problem};

#[path = "../2_combination/arms.rs"]
mod arms;
#[path = "../2_combination/bodies.rs"]
pub(crate) mod bodies;
#[path = "../2_combination/branches.rs"]
mod branches;
#[path = "../3_application/clusters.rs"]
mod clusters;
#[path = "../3_application/filters.rs"]
mod filters;
#[path = "../2_combination/fourier.rs"]
mod fourier;
#[path = "../3_application/graphs.rs"]
mod graphs;
#[path = "../2_combination/histogram.rs"]
pub(crate) mod histogram;
#[path = "../2_combination/idle.rs"]
mod idle;
#[path = "../1_feature/lanes.rs"]
mod lanes;
#[path = "../2_combination/mandelbrot.rs"]
pub(crate) mod mandelbrot;
#[path = "../3_application/matrices.rs"]
pub(crate) mod matrices;
#[path = "../3_application/molecules.rs"]
mod molecules;
#[path = "../2_combination/nests.rs"]
pub(crate) mod nests;
#[path = "../2_combination/options.rs"]
pub(crate) mod options;
#[path = "../2_combination/paths.rs"]
pub(crate) mod paths;
#[path = "../1_feature/polynomials.rs"]
mod polynomials;
#[path = "../2_combination/radix.rs"]
mod radix;
#[path = "../3_application/rays.rs"]
mod rays;
#[path = "../2_combination/reuse.rs"]
mod reuse;
#[path = "../1_feature/rows.rs"]
mod rows;
#[path = "../3_application/searching.rs"]
mod searching;
#[path = "../2_combination/sorting.rs"]
pub(crate) mod sorting;
#[path = "../3_application/stencils.rs"]
mod stencils;
#[path = "../1_feature/streams.rs"]
pub(crate) mod streams;
#[path = "../2_combination/transforms.rs"]
pub(crate) mod transforms;
#[path = "../2_combination/uneven.rs"]
mod uneven;

/// All but [`NESTS`] and [`LONG_NESTS`], in the order of the tables.
const CASES: &[Case] = &[
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
    case("row_products", rows::SOURCE, NO_LOSS, rows::row_products),
    case("body_steps", rows::SOURCE, NO_LOSS, rows::body_steps),
    case("points", rows::SOURCE, NO_LOSS, rows::points),
    case("byte_histogram", lanes::SOURCE, NO_LOSS, lanes::byte_histogram),
    case("volatile_sums", lanes::SOURCE, NO_LOSS, lanes::volatile_sums),
    case("volatile_sums_double", lanes::SOURCE, NO_LOSS, lanes::volatile_sums_double),
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
    // Branches of Coutinho et al. 2011; other algorithms in several steps.
    case("fused_paths", branches::SOURCE, NO_LOSS, branches::fused_paths),
    case("fused_loads", branches::SOURCE, NO_LOSS, branches::fused_loads),
    case("fused_addresses", branches::SOURCE, NO_LOSS, branches::fused_addresses),
    case("fused_exp", branches::SOURCE, NO_LOSS, branches::fused_exp),
    case("fused_log", branches::SOURCE, NO_LOSS, branches::fused_log),
    case("fused_sin", branches::SOURCE, NO_LOSS, branches::fused_sin),
    case("fused_loops", branches::SOURCE, NO_LOSS, branches::fused_loops),
    case("fused_exchange", branches::SOURCE, NO_LOSS, branches::fused_exchange),
    case("partition", branches::SOURCE, NO_LOSS, branches::partition),
    case("radix_passes", radix::SOURCE, NO_LOSS, radix::radix_passes),
    case("fourier", fourier::SOURCE, NO_LOSS, fourier::fourier),
    // What a work-item has read already (Fukuhara & Takimoto 2021).
    case("figure_6", reuse::SOURCE, NO_LOSS, reuse::figure_6),
    case("figure_6_rows", reuse::SOURCE, NO_LOSS, reuse::figure_6_rows),
    case("read_in_arm", reuse::SOURCE, NO_LOSS, reuse::read_in_arm),
    case("read_in_arms", reuse::SOURCE, NO_LOSS, reuse::read_in_arms),
    case("read_in_uniform_arms", reuse::SOURCE, NO_LOSS, reuse::read_in_uniform_arms),
    // Costly arms that hardly any work-item takes.
    case("arm_continue", arms::SOURCE, NO_LOSS, arms::arm_continue),
    case("arm_break", arms::SOURCE, NO_LOSS, arms::arm_break),
    case("arm_return", arms::SOURCE, NO_LOSS, arms::arm_return),
    case("arm_or", arms::SOURCE, NO_LOSS, arms::arm_or),
    case("arm_switch", arms::SOURCE, NO_LOSS, arms::arm_switch),
    case("arm_goto", arms::SOURCE, NO_LOSS, arms::arm_goto),
    case("arm_loop", arms::SOURCE, NO_LOSS, arms::arm_loop),
    case("arm_search", arms::SOURCE, NO_LOSS, arms::arm_search),
    // Most work-items of the range have nothing to do.
    case("idle_groups", idle::SOURCE, NO_LOSS, idle::idle_groups),
    case("idle_windows", idle::SOURCE, NO_LOSS, idle::idle_windows),
    // Work-items of which one works long while the others wait.
    case("uneven_walks", uneven::SOURCE, NO_LOSS, uneven::one_of_many),
    case("uneven_tails", uneven::SOURCE, NO_LOSS, uneven::long_tail),
    // Parts of applications.
    case("sgemm", matrices::SOURCE, NO_LOSS, matrices::sgemm),
    case("private_tiles", matrices::SOURCE, NO_LOSS, matrices::private_tiles),
    case("private_factors", matrices::SOURCE, NO_LOSS, matrices::private_factors),
    case("covariance", matrices::SOURCE, NO_LOSS, matrices::covariance),
    case("subtract_columns", matrices::SOURCE, NO_LOSS, matrices::subtract_columns),
    case("jacobi", matrices::SOURCE, NO_LOSS, matrices::jacobi),
    case("jacobi9", stencils::SOURCE, NO_LOSS, stencils::jacobi9),
    case("seidel9", stencils::SOURCE, NO_LOSS, stencils::seidel9),
    case("seidel25", stencils::SOURCE, NO_LOSS, stencils::seidel25),
    case("sobel", filters::SOURCE, NO_LOSS, filters::sobel),
    case("sobel_rows", filters::SOURCE, NO_LOSS, filters::sobel_rows),
    case("bilateral", filters::SOURCE, NO_LOSS, filters::bilateral),
    case("bilateral_rows", filters::SOURCE, NO_LOSS, filters::bilateral_rows),
    case("breadth_first", graphs::SOURCE, NO_LOSS, graphs::breadth_first),
    case("breadth_first_rows", graphs::SOURCE, NO_LOSS, graphs::breadth_first_rows),
    case("k_means", clusters::SOURCE, NO_LOSS, clusters::k_means),
    case("cross_sections", searching::SOURCE, NO_LOSS, searching::cross_sections),
    case("tree_search", searching::SOURCE, NO_LOSS, searching::tree_search),
    case("point_correlation", searching::SOURCE, NO_LOSS, searching::point_correlation),
    case("nearest_neighbour", searching::SOURCE, NO_LOSS, searching::nearest_neighbour),
    case("trace_rays", rays::SOURCE, NO_LOSS, rays::trace_rays),
    case("born_sums", molecules::SOURCE, NO_LOSS, molecules::born_sums),
    case("box_forces", molecules::SOURCE, NO_LOSS, molecules::box_forces),
    case("box_forces_double", molecules::SOURCE, NO_LOSS, molecules::box_forces_double),
    case("reaction_rates", molecules::SOURCE, NO_LOSS, molecules::reaction_rates),
    // Loops in loops in loops, in which work-items have other rounds.
    case("nest_of_three_middle", nests::SOURCE, NO_LOSS, nests::nest_of_three_middle),
    case("nest_of_three_both", nests::SOURCE, NO_LOSS, nests::nest_of_three_both),
];

const fn case(name: &'static str, source: &'static str, wanted: f64, problem: fn() -> Problem) -> Case {
    Case { name, source, wanted, problem }
}

/// All of them, in the order of the tables.
pub fn all() -> impl Iterator<Item = &'static Case> {
    CASES.iter().chain(NESTS).chain(LONG_NESTS)
}

/// The case of this name.
pub fn find(name: &str) -> Option<&'static Case> {
    all().find(|case| case.name == name)
}
