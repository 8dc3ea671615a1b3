//! Kernels for what work-groups cost: barriers, local memory, many groups, launches in a row, and memory itself. Each
//! comes with data that stay in the second caches and with data that do not.

use crate::case::{Case, Problem};
use crate::cases::{bodies, histogram, mandelbrot, matrices, options, paths, sorting, streams, transforms};

#[path = "../2_combination/scans.rs"]
mod scans;
#[path = "../3_application/sparse.rs"]
mod sparse;

/// A kernel, and what it cannot do without.
pub struct GroupCase {
    /// The kernel.
    pub case: Case,
    /// What one run needs at least.
    pub needs: Needs,
}

/// What a run needs of the machine at least, whoever runs it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Needs {
    /// So many bytes to or from memory; those that are written where they were read count once.
    Bytes(f64),
    /// So many operations on floats, in pairs of a product and a sum.
    Flops(f64),
    /// Nothing that is simple to say.
    Unknown,
}

const MIB: f64 = 1024.0 * 1024.0;
/// Operations on floats for two bodies, the root and the quotient as one each.
const NBODY: f64 = 20.0;
/// Operations on floats of an iteration, of which the host counted as many as stand below.
const MANDELBROT: f64 = 7.0;

/// All of them, in the order of the tables.
pub const GROUPS: &[GroupCase] = &[
    case("triad", streams::SOURCE, streams::triad, Needs::Unknown),
    case("triad_large", streams::SOURCE, streams::triad_large, Needs::Bytes(96.0 * MIB)),
    case("reduce", streams::SOURCE, streams::reduce, Needs::Unknown),
    case("reduce_large", streams::SOURCE, streams::reduce_large, Needs::Bytes(64.0 * MIB)),
    case("scan", scans::SOURCE, scans::scan, Needs::Unknown),
    case("scan_large", scans::SOURCE, scans::scan_large, Needs::Bytes(64.0 * MIB)),
    case("matrix_transpose", transforms::SOURCE, transforms::matrix_transpose, Needs::Unknown),
    case("matrix_transpose_large", transforms::SOURCE, transforms::matrix_transpose_large, Needs::Bytes(128.0 * MIB)),
    case("naive_transpose", transforms::SOURCE, transforms::naive_transpose, Needs::Unknown),
    case("naive_transpose_large", transforms::SOURCE, transforms::naive_transpose_large, Needs::Bytes(128.0 * MIB)),
    case("sgemm_tiled", matrices::SOURCE, matrices::sgemm_tiled, Needs::Flops(2.0 * 2.0 * 16.8e6)),
    case("sgemm_tiled_large", matrices::SOURCE, matrices::sgemm_tiled_large, Needs::Flops(2.147e9)),
    case("dct", transforms::SOURCE, transforms::dct, Needs::Flops(8.0 * 65536.0 * 32.0)),
    case("dct_large", transforms::SOURCE, transforms::dct_large, Needs::Bytes(32.0 * MIB)),
    case("floyd_warshall", paths::SOURCE, paths::floyd_warshall, Needs::Unknown),
    case("floyd_warshall_large", paths::SOURCE, paths::floyd_warshall_large, Needs::Bytes(6.0 * 16.0 * MIB)),
    case("fast_walsh_transform", transforms::SOURCE, transforms::fast_walsh_transform, Needs::Unknown),
    case(
        "fast_walsh_transform_large",
        transforms::SOURCE,
        transforms::fast_walsh_transform_large,
        Needs::Bytes(23.0 * 32.0 * MIB),
    ),
    case("bitonic_sort", sorting::SOURCE, sorting::bitonic_sort, Needs::Unknown),
    case("bitonic_sort_large", sorting::SOURCE, sorting::bitonic_sort_large, Needs::Unknown),
    case("histogram", histogram::SOURCE, histogram::histogram, Needs::Unknown),
    case("histogram_large", histogram::SOURCE, histogram::histogram_large, Needs::Bytes(64.0 * MIB)),
    case("histogram_atomic", histogram::SOURCE, histogram::histogram_atomic, Needs::Unknown),
    case("histogram_atomic_large", histogram::SOURCE, histogram::histogram_atomic_large, Needs::Bytes(64.0 * MIB)),
    case("black_scholes", options::SOURCE, options::black_scholes, Needs::Unknown),
    case("black_scholes_large", options::SOURCE, options::black_scholes_large, Needs::Bytes(48.0 * MIB)),
    case("mandelbrot", mandelbrot::SOURCE, mandelbrot::mandelbrot, Needs::Flops(MANDELBROT * 6_820_967.0)),
    case(
        "mandelbrot_large",
        mandelbrot::SOURCE,
        mandelbrot::mandelbrot_large,
        Needs::Flops(MANDELBROT * 211_304_209.0),
    ),
    case("nbody", bodies::SOURCE, bodies::nbody, Needs::Flops(NBODY * 2048.0 * 2048.0)),
    case("nbody_large", bodies::SOURCE, bodies::nbody_large, Needs::Flops(NBODY * 256.0 * 524_288.0)),
    case("csr_rows", sparse::SOURCE, sparse::csr_rows, Needs::Unknown),
    case("csr_rows_large", sparse::SOURCE, sparse::csr_rows_large, Needs::Bytes(64.0 * MIB)),
    case("csr_groups", sparse::SOURCE, sparse::csr_groups, Needs::Unknown),
    case("csr_groups_large", sparse::SOURCE, sparse::csr_groups_large, Needs::Bytes(64.0 * MIB)),
];

const fn case(name: &'static str, source: &'static str, problem: fn() -> Problem, needs: Needs) -> GroupCase {
    GroupCase { case: Case { name, source, wanted: 1.0, problem }, needs }
}

/// The case of this name.
pub fn find(name: &str) -> Option<&'static GroupCase> {
    GROUPS.iter().find(|group| group.case.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    #[test]
    fn a_name_means_the_same_in_both_tables() {
        for group in GROUPS {
            if let Some(case) = cases::find(group.case.name) {
                assert!(std::ptr::fn_addr_eq(case.problem, group.case.problem), "{}", case.name);
            }
        }
    }
}
