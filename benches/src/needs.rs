//! What a run of a kernel needs of the machine at least: bytes to or from memory, and operations.
//!
//! Of a kernel that does not say it ([`groups`]), each launch needs every buffer that it has as an argument once; of those
//! whose work-items find out where to go, what each of them touches on the shortest way.

use crate::case::{Arg, Problem};
use crate::cases::nests;
use crate::groups::{self, Needs};

/// Bytes that each work-item of a launch reads or writes at least, of kernels that do not go through their buffers once.
const TOUCHED: [(&str, f64); 10] = [
    // Eight indices and what is there, a sum.
    ("gather", 8.0 * 8.0 + 4.0),
    // Four indices and what is there, a sum.
    ("points", 4.0 * 20.0 + 16.0),
    // The shortest rows have 24 elements: a number, its column, what is there.
    ("sparse_rows", 4.0 + 24.0 * 12.0 + 4.0),
    // The shortest texts have 40 characters.
    ("hash_texts", 41.0 + 4.0),
    // Some work-items lie outside of the picture, others on its border.
    ("guarded_bytes", 1.9),
    // Four steps to the root of the smallest squares.
    ("newton_steps", 4.0 + 4.0 * 4.0 + 4.0),
    // The levels of four nodes.
    ("breadth_first", 4.0 * 4.0),
    // Fourteen halves of the grid, five sections at both ends.
    ("cross_sections", 4.0 + 14.0 * 4.0 + 5.0 * 8.0 + 4.0),
    // A key that is that of the root.
    ("tree_search", 4.0 + 4.0 + 4.0),
    // One way down to a leaf.
    ("nearest_neighbour", 8.0 + 12.0 * 8.0 + 4.0),
];

/// Operations of each work-item of a launch, on floats or integers, the double ones twice, functions left out.
const OPERATIONS: [(&str, f64); 19] = [
    ("horner", 62.0),
    ("logistic", 3.0 * 128.0),
    ("fir", 64.0),
    ("convolution", 50.0),
    ("horner_double", 2.0 * 62.0),
    ("row_products", 2.0 * 328.0),
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
    ("hash_texts", 2.0 * 40.0),
    ("guarded_sums", 2.0 * 32.0),
    ("guarded_bytes", 16.0),
];

/// Kernels that write nothing of what they move, or less than a tenth of it.
const READING: [&str; 19] = [
    "reduce",
    "reduce_large",
    "histogram",
    "histogram_large",
    "histogram_atomic",
    "histogram_atomic_large",
    "byte_histogram",
    "volatile_sums",
    "volatile_sums_double",
    "gather",
    "row_products",
    "sparse_rows",
    "csr_rows",
    "csr_rows_large",
    "csr_groups",
    "csr_groups_large",
    "hash_texts",
    "cross_sections",
    "nearest_neighbour",
];

/// What a run of the case of this name does at least.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Least {
    /// Bytes read or written.
    pub bytes: f64,
    /// Bytes of all that is read or written, some of it again and again.
    pub memory: f64,
    /// Operations, at the rate at which products and sums of floats can be made.
    pub operations: f64,
    /// Some of the bytes are written.
    pub writes: bool,
}

/// What a problem's runs need.
pub fn of(name: &str, problem: &Problem) -> Least {
    let memory = problem.buffers.iter().map(|buffer| buffer.bytes.len()).sum::<usize>() as f64;
    let writes = !READING.contains(&name);
    match groups::find(name).map_or(Needs::Unknown, |group| group.needs) {
        Needs::Bytes(bytes) => return Least { bytes, memory, operations: 0.0, writes },
        Needs::Flops(operations) => return Least { bytes: 0.0, memory, operations, writes },
        Needs::Unknown => {}
    }
    let name = name.strip_suffix("_rows").filter(|_| name != "sparse_rows").unwrap_or(name);
    let of_item = |of: &[(&str, f64)]| of.iter().find(|(other, _)| name == *other).map(|&(_, amount)| amount);
    let size = |argument: &Arg| match argument {
        Arg::Buffer(number) => problem.buffers[*number].bytes.len(),
        Arg::Value(_) | Arg::Local(_) => 0,
    };
    let buffers: usize = problem.steps.iter().flat_map(|step| &step.arguments).map(size).sum();
    let items = problem.steps.iter().map(|step| step.global.iter().product::<usize>()).sum::<usize>() as f64;
    let operations = of_item(&OPERATIONS).or_else(|| nests::operations(name)).map_or(0.0, |each| each * items);
    let bytes = of_item(&TOUCHED).map_or(buffers as f64, |each| each * items);
    Least { bytes, memory, operations, writes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite;

    #[test]
    fn each_launch_needs_its_buffers_once() {
        let needs = |name| of(name, &(suite::find(name).expect("a case").problem)());
        let saxpy = needs("saxpy");
        let launches = 100.0;
        assert_eq!((saxpy.bytes, saxpy.memory), (launches * 524_288.0, 524_288.0));
        assert_eq!(saxpy.operations, launches * 2.0 * 65536.0);
        assert_eq!(needs("dct").bytes, 0.0);
        // Each of 23 launches reads all of the memory, which the caches keep from one to the next where it fits.
        let walsh = needs("fast_walsh_transform_large");
        assert_eq!((walsh.bytes, walsh.memory), (23.0 * 33_554_432.0, 33_554_432.0));
    }

    #[test]
    fn each_work_item_needs_its_shortest_way() {
        let needs = |name| of(name, &(suite::find(name).expect("a case").problem)());
        assert_eq!(needs("gather").bytes, 20.0 * 32768.0 * 68.0);
        assert_eq!(needs("breadth_first").bytes, needs("breadth_first_rows").bytes);
        // Two rounds of one step, and of 800 for one of sixteen.
        assert_eq!(needs("nest_1_100_k15").operations / 4096.0, 4.0 * 2.0 * (1.0 + 800.0 / 16.0));
        assert_eq!(needs("long_nest_1_10_k8").operations / 512.0, 4.0 * 256.0 * (1.0 + 80.0 / 2.0));
    }

    #[test]
    fn names_are_those_of_cases() {
        let names = TOUCHED.into_iter().chain(OPERATIONS).map(|(name, _)| name).chain(READING);
        names.for_each(|name| assert!(suite::find(name).is_some(), "{name}"));
    }
}
