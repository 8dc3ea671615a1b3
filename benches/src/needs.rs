//! What a run of a kernel needs of the machine at least: bytes to or from memory, and operations on floats.
//!
//! Of a kernel that does not say it ([`groups`]), each launch needs every buffer that it has as an argument once. That is
//! no limit for kernels that read only parts of their data; these have none.

use crate::case::{Arg, Problem};
use crate::groups::{self, Needs};

/// Kernels that read parts of their data, as these say, or do something else than to read, write and compute in floats.
const UNKNOWN: [&str; 10] = [
    "gather",
    "sparse_rows",
    "hash_texts",
    "guarded_sums",
    "guarded_bytes",
    "breadth_first",
    "breadth_first_rows",
    "cross_sections",
    "tree_search",
    "nearest_neighbour",
];

/// Operations on floats of each work-item of a launch, the double ones twice, functions left out.
const FLOPS: [(&str, f64); 15] = [
    ("horner", 62.0),
    ("logistic", 3.0 * 128.0),
    ("fir", 64.0),
    ("convolution", 50.0),
    ("horner_double", 2.0 * 62.0),
    ("saxpy", 2.0),
    ("black_scholes", 75.0),
    ("nbody", 20.0 * 2048.0),
    ("fused_paths", 8.0),
    ("sgemm", 2.0 * 192.0),
    ("jacobi", 4.0),
    ("jacobi9", 9.0),
    ("seidel9", 9.0),
    ("seidel25", 25.0),
    ("bilateral", 8.0 * 25.0 * 7.0),
];

/// What a run of the case of this name does at least.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Least {
    /// Bytes read or written.
    pub bytes: f64,
    /// Bytes of all that is read or written, some of it again and again.
    pub memory: f64,
    /// Operations on floats.
    pub flops: f64,
}

/// What a problem's runs need, unless nothing simple can be said.
pub fn of(name: &str, problem: &Problem) -> Option<Least> {
    match groups::find(name).map_or(Needs::Unknown, |group| group.needs) {
        Needs::Bytes(bytes) => return Some(Least { bytes, memory: bytes, flops: 0.0 }),
        Needs::Flops(flops) => return Some(Least { bytes: 0.0, memory: 0.0, flops }),
        Needs::Unknown if UNKNOWN.contains(&name) || name.starts_with("nest_") => return None,
        Needs::Unknown => {}
    }
    let each = FLOPS.iter().find(|(other, _)| name.strip_suffix("_rows").unwrap_or(name) == *other);
    let size = |argument: &Arg| match argument {
        Arg::Buffer(number) => problem.buffers[*number].bytes.len(),
        Arg::Value(_) | Arg::Local(_) => 0,
    };
    let bytes: usize = problem.steps.iter().flat_map(|step| &step.arguments).map(size).sum();
    let memory: usize = problem.buffers.iter().map(|buffer| buffer.bytes.len()).sum();
    let items: usize = problem.steps.iter().map(|step| step.global.iter().product::<usize>()).sum();
    let flops = each.map_or(0.0, |(_, flops)| flops * items as f64);
    Some(Least { bytes: bytes as f64, memory: memory as f64, flops })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite;

    #[test]
    fn each_launch_needs_its_buffers_once() {
        let needs = |name| of(name, &(suite::find(name).expect("a case").problem)());
        let saxpy = needs("saxpy").expect("simple");
        let launches = 100.0;
        assert_eq!((saxpy.bytes, saxpy.memory), (launches * 524_288.0, 524_288.0));
        assert_eq!(saxpy.flops, launches * 2.0 * 65536.0);
        assert_eq!(needs("gather"), None);
        assert_eq!(needs("dct").map(|least| least.bytes), Some(0.0));
    }

    #[test]
    fn names_are_those_of_cases() {
        let names = UNKNOWN.into_iter().chain(FLOPS.map(|(name, _)| name));
        names.for_each(|name| assert!(suite::find(name).is_some(), "{name}"));
    }
}
