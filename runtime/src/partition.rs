//! How a device falls into sub-devices: each gets some of its compute units, which are processors.

use std::collections::BTreeSet;

use opencl_sys::{CL_DEVICE_PARTITION_FAILED, CL_INVALID_DEVICE_PARTITION_COUNT, CL_INVALID_VALUE};

use crate::topology::{self, Domain};
use crate::{Result, ensure, error};

/// A way to divide a device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Scheme {
    /// As many sub-devices as can be had of so many compute units each.
    Equally(usize),
    /// One sub-device for each number of compute units.
    ByCounts(Vec<usize>),
    /// A sub-device for all compute units that share this.
    ByDomain(Domain),
}

/// Divides compute units, given by the processor of each.
///
/// # Errors
/// `CL_INVALID_VALUE` for no or empty parts, `CL_INVALID_DEVICE_PARTITION_COUNT` for more compute units than there are,
/// `CL_DEVICE_PARTITION_FAILED` where there would be one part only.
pub fn divide_units(compute_units: &[usize], scheme: &Scheme) -> Result<Vec<Vec<usize>>> {
    match scheme {
        Scheme::Equally(size) => {
            ensure!(*size > 0, CL_INVALID_VALUE, "sub-devices of 0 compute units");
            // "CL_INVALID_DEVICE_PARTITION_COUNT if the total number of compute units requested exceeds
            // CL_DEVICE_MAX_COMPUTE_UNITS for in_device".
            let unit_count = compute_units.len();
            ensure!(
                *size <= unit_count,
                CL_INVALID_DEVICE_PARTITION_COUNT,
                "sub-devices of {size} compute units; the device has {unit_count}"
            );
            // "CL_DEVICE_PARTITION_FAILED if the partition name is supported by the implementation but in_device could
            // not be further partitioned." One part that is the whole is no partition.
            ensure!(
                *size < unit_count,
                CL_DEVICE_PARTITION_FAILED,
                "a sub-device of {size} compute units is all of the device, which has no more"
            );
            // "If [it] does not divide evenly into CL_DEVICE_MAX_COMPUTE_UNITS, then the remaining compute units are
            // not used."
            Ok(compute_units.chunks_exact(*size).map(<[usize]>::to_vec).collect())
        }
        Scheme::ByCounts(counts) => {
            ensure!(!counts.is_empty(), CL_INVALID_VALUE, "no count of compute units is given");
            ensure!(compute_units.len() > 1, CL_DEVICE_PARTITION_FAILED, "the device has one compute unit only");
            // "CL_INVALID_DEVICE_PARTITION_COUNT if [...] the number of sub-devices requested exceeds
            // CL_DEVICE_PARTITION_MAX_SUB_DEVICES or the total number of compute units requested exceeds
            // CL_DEVICE_MAX_COMPUTE_UNITS for in_device".
            let total = counts.iter().try_fold(0_usize, |units_used, &part_size| units_used.checked_add(part_size));
            ensure!(
                total.is_some_and(|total| total <= compute_units.len()),
                CL_INVALID_DEVICE_PARTITION_COUNT,
                "sub-devices of {counts:?} compute units; the device has {}",
                compute_units.len()
            );
            let mut units_left = compute_units;
            let take_units = |&part_size: &usize| {
                let (units_taken, left) = units_left.split_at(part_size);
                units_left = left;
                units_taken.to_vec()
            };
            Ok(counts.iter().map(take_units).collect())
        }
        Scheme::ByDomain(domain) => {
            let single_unit =
                || error!(CL_DEVICE_PARTITION_FAILED, "the device's compute units are one part by {domain:?}");
            divide_along(*domain, compute_units).ok_or_else(single_unit)
        }
    }
}

/// The domains along which compute units fall into at least two parts.
pub fn possible_domains(compute_units: &[usize]) -> Vec<Domain> {
    Domain::ALL.into_iter().filter(|&domain| divide_along(domain, compute_units).is_some()).collect()
}

/// The compute units divided by domain, if that gives more than one part and every unit is in one.
fn divide_along(domain: Domain, compute_units: &[usize]) -> Option<Vec<Vec<usize>>> {
    let processors: BTreeSet<usize> = compute_units.iter().copied().collect();
    let groups = topology::group_by_domain(domain, &processors);
    let covers_all = groups.iter().map(BTreeSet::len).sum::<usize>() == processors.len();
    let units_within = |group: &BTreeSet<usize>| {
        compute_units.iter().copied().filter(|compute_unit| group.contains(compute_unit)).collect()
    };
    (covers_all && groups.len() > 1).then(|| groups.iter().map(units_within).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNITS: [usize; 5] = [2, 3, 5, 7, 11];

    fn code(compute_units: &[usize], scheme: Scheme) -> i32 {
        divide_units(compute_units, &scheme).unwrap_err().code()
    }

    #[test]
    fn equal_parts_leave_the_rest_unused() {
        assert_eq!(divide_units(&UNITS, &Scheme::Equally(2)).unwrap(), [[2, 3], [5, 7]]);
        assert_eq!(divide_units(&UNITS, &Scheme::Equally(4)).unwrap(), [UNITS[..4].to_vec()]);
        assert_eq!(code(&UNITS, Scheme::Equally(0)), CL_INVALID_VALUE);
        assert_eq!(code(&UNITS, Scheme::Equally(5)), CL_DEVICE_PARTITION_FAILED);
        assert_eq!(code(&UNITS, Scheme::Equally(6)), CL_INVALID_DEVICE_PARTITION_COUNT);
        assert_eq!(code(&UNITS[..1], Scheme::Equally(1)), CL_DEVICE_PARTITION_FAILED);
    }

    #[test]
    fn counts_take_units_in_order() {
        let parts = divide_units(&UNITS, &Scheme::ByCounts(vec![3, 1])).unwrap();
        assert_eq!(parts, [vec![2, 3, 5], vec![7]]);
        for counts in [vec![3, 3], vec![1; 6], vec![usize::MAX, 2]] {
            assert_eq!(code(&UNITS, Scheme::ByCounts(counts)), CL_INVALID_DEVICE_PARTITION_COUNT);
        }
        assert_eq!(code(&UNITS, Scheme::ByCounts(Vec::new())), CL_INVALID_VALUE);
        assert_eq!(code(&UNITS[..1], Scheme::ByCounts(vec![1])), CL_DEVICE_PARTITION_FAILED);
    }

    #[test]
    fn domains_hold_every_unit_once() {
        let compute_units: Vec<usize> = (0..64).collect();
        for domain in Domain::ALL {
            let Ok(parts) = divide_units(&compute_units, &Scheme::ByDomain(domain)) else { continue };
            assert!(parts.len() > 1);
            let mut all = parts.concat();
            all.sort_unstable();
            assert_eq!(all, compute_units);
        }
        assert_eq!(code(&[0], Scheme::ByDomain(Domain::Cache(1))), CL_DEVICE_PARTITION_FAILED);
        assert_eq!(possible_domains(&[0]), []);
    }
}
