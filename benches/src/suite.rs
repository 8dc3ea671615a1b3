//! The suite as a whole: the kernels of all tables by name, and those that the papers' tables have.

use crate::case::Case;
use crate::cases::{self, nests};
use crate::groups::{self, GROUPS};
use crate::images::IMAGES;
use crate::{costs, math};

/// The nine kernels of Karrenberg & Hack 2012, in the order of their tables.
pub const NINE: [&str; 9] = [
    "bitonic_sort",
    "black_scholes",
    "dct",
    "fast_walsh_transform",
    "floyd_warshall",
    "histogram",
    "mandelbrot",
    "matrix_transpose",
    "nbody",
];

/// The case of this name, of any table.
pub fn find(name: &str) -> Option<&'static Case> {
    let group = || groups::find(name).map(|group| &group.case);
    let image = || IMAGES.iter().find(|case| case.name == name);
    cases::find(name).or_else(group).or_else(image).or_else(|| math::find(name)).or_else(|| costs::find_case(name))
}

/// The paper's nine at both sizes, then the others of the suite: the rows of the table of configurations.
pub fn alone() -> Vec<&'static Case> {
    let others = cases::all().filter(|case| !NINE.contains(&case.name));
    nine().chain(others).collect()
}

/// The same, and kernels about work-groups and images: the rows of the table of drivers. Of the nests it has a few.
pub fn all() -> Vec<&'static Case> {
    let mut alone = alone();
    alone.retain(|case| !nests::is_between(case.name));
    let known = |case: &&Case| alone.iter().any(|other| other.name == case.name);
    let groups = GROUPS.iter().map(|group| &group.case).filter(|case| !known(case));
    let more: Vec<_> = groups.chain(IMAGES).collect();
    alone.into_iter().chain(more).collect()
}

fn nine() -> impl Iterator<Item = &'static Case> {
    let both = |name: &str| [name.to_owned(), format!("{name}_large")];
    NINE.iter().flat_map(move |name| both(name)).map(|name| find(&name).expect("the nine are there at both sizes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nine_come_first_at_both_sizes_and_nothing_comes_twice() {
        let names: Vec<&str> = all().iter().map(|case| case.name).collect();
        assert_eq!(names[..4], ["bitonic_sort", "bitonic_sort_large", "black_scholes", "black_scholes_large"]);
        let mut once = names.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), names.len());
        let groups = GROUPS.iter().map(|group| &group.case);
        let known = |case: &Case| names.contains(&case.name) || nests::is_between(case.name);
        cases::all().chain(groups).chain(IMAGES).for_each(|case| assert!(known(case), "{}", case.name));
        cases::all().for_each(|case| assert!(alone().iter().any(|other| other.name == case.name), "{}", case.name));
    }
}
