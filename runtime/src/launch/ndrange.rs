//! The NDRange of a launch: checks it and cuts it into work-groups.

use opencl_sys::{
    CL_INVALID_GLOBAL_OFFSET, CL_INVALID_GLOBAL_WORK_SIZE, CL_INVALID_WORK_DIMENSION, CL_INVALID_WORK_GROUP_SIZE,
    CL_INVALID_WORK_ITEM_SIZE,
};

use crate::device::MAX_WORK_GROUP_SIZE;
use crate::{Result, ensure};

/// Work-items of a group along dimension 0 when the application leaves the choice to us.
const PREFERRED_RUN: usize = 256;

/// What the application asked for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// One value per dimension, or none for zeros.
    pub offset: Option<&'a [usize]>,
    /// One value per dimension, or none for an empty range.
    pub global: Option<&'a [usize]>,
    /// One value per dimension, or none for our choice.
    pub local: Option<&'a [usize]>,
    /// The number of dimensions.
    pub dimensions: u32,
}

/// What the kernel demands and allows.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The size that every group has to have (`reqd_work_group_size`).
    pub required: Option<[u32; 3]>,
    /// The most work-items of a group (`CL_KERNEL_WORK_GROUP_SIZE`).
    pub max_group: usize,
    /// Whether the last group of a dimension may be smaller.
    pub non_uniform: bool,
}

/// A checked NDRange; sizes of dimensions beyond `dimensions` are 1, offsets 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct NdRange {
    /// The number of dimensions.
    pub dimensions: u32,
    /// What `get_global_offset` gives, by dimension.
    pub offset: [u64; 3],
    /// What `get_global_size` gives, by dimension.
    pub global: [u64; 3],
    /// What `get_enqueued_local_size` gives, by dimension.
    pub local: [u64; 3],
    /// What `get_num_groups` gives, by dimension.
    pub groups: [u64; 3],
}

impl NdRange {
    /// Checks a request by the rules of clEnqueueNDRangeKernel (OpenCL 3.0 API, 5.9).
    ///
    /// # Errors
    /// `CL_INVALID_WORK_DIMENSION`, `CL_INVALID_GLOBAL_OFFSET`, `CL_INVALID_WORK_GROUP_SIZE`,
    /// `CL_INVALID_WORK_ITEM_SIZE` and `CL_INVALID_GLOBAL_WORK_SIZE`, as those rules say.
    pub fn new(request: &Request, rules: &Rules) -> Result<NdRange> {
        // "CL_INVALID_WORK_DIMENSION if work_dim is not valid for the device".
        check_dimensions(request.dimensions)?;
        let global_size = spread_sizes(request.global, 1, 0);
        let offset = spread_sizes(request.offset, 0, 0);
        for dimension in 0..3 {
            // "CL_INVALID_GLOBAL_OFFSET if the value specified in global_work_size plus the
            // corresponding value in global_work_offset for any dimensions is greater than the maximum
            // value representable by size_t".
            let (size, first_id) = (global_size[dimension], offset[dimension]);
            ensure!(
                size.checked_add(first_id).is_some(),
                CL_INVALID_GLOBAL_OFFSET,
                "global_work_offset[{dimension}] {first_id} and global_work_size[{dimension}] {size} add up to more than size_t holds"
            );
        }
        let local_size = match request.local {
            Some(local) => spread_sizes(Some(local), 1, 1),
            None => choose_local_size(global_size, rules),
        };
        check_local(local_size, global_size, rules)?;
        let groups: [u64; 3] =
            std::array::from_fn(|dimension| (global_size[dimension] as u64).div_ceil(local_size[dimension] as u64));
        // Groups are numbered in 64 bits.
        let total = groups.iter().try_fold(1_u64, |product, &length| product.checked_mul(length));
        ensure!(
            total.is_some(),
            CL_INVALID_GLOBAL_WORK_SIZE,
            "global_work_size {global_size:?} makes more than 2^64 work-groups of {local_size:?}"
        );
        let wide = |sizes: [usize; 3]| sizes.map(|length| length as u64);
        Ok(NdRange {
            dimensions: request.dimensions,
            offset: wide(offset),
            global: wide(global_size),
            local: wide(local_size),
            groups,
        })
    }

    /// The same work-items for a kernel with these rules, in groups of the size that it requires; none where that may not be.
    pub fn adapt_to_rules(&self, rules: &Rules) -> Option<NdRange> {
        let local = rules.required.map_or(self.local, |required| required.map(u64::from));
        let narrow = |sizes: [u64; 3]| sizes.map(|length| length as usize);
        let (offset, global, local) = (narrow(self.offset), narrow(self.global), narrow(local));
        let used = ..self.dimensions as usize;
        let (offset, global, local) = (&offset[used], &global[used], &local[used]);
        let request =
            Request { offset: Some(offset), global: Some(global), local: Some(local), dimensions: self.dimensions };
        NdRange::new(&request, rules).ok()
    }

    /// The number of work-groups; 0 when a dimension is empty.
    pub fn group_count(&self) -> u64 {
        self.groups.iter().product()
    }

    /// Work-items of a full group.
    pub fn group_size(&self) -> u64 {
        self.local.iter().product()
    }
}

/// "CL_INVALID_WORK_DIMENSION if work_dim is not a valid value": the number of dimensions is 1, 2 or 3.
///
/// # Errors
/// See above.
pub fn check_dimensions(dimensions: u32) -> Result<()> {
    ensure!((1..=3).contains(&dimensions), CL_INVALID_WORK_DIMENSION, "work_dim {dimensions}; 1, 2 or 3 are allowed");
    Ok(())
}

/// Three sizes from those of the dimensions in use; `absent` in all of these without a list.
fn spread_sizes(values: Option<&[usize]>, beyond: usize, absent: usize) -> [usize; 3] {
    match values {
        Some(values) => std::array::from_fn(|dimension| values.get(dimension).copied().unwrap_or(beyond)),
        None => [absent; 3],
    }
}

fn check_local(local_size: [usize; 3], global_size: [usize; 3], rules: &Rules) -> Result<()> {
    // "CL_INVALID_WORK_GROUP_SIZE if local_work_size is not NULL and if the local_work_size does not match
    // the required work-group size for kernel in the program source".
    if let Some(required) = rules.required {
        ensure!(
            local_size == required.map(|length| length as usize),
            CL_INVALID_WORK_GROUP_SIZE,
            "local_work_size {local_size:?}; its reqd_work_group_size is {required:?}"
        );
    }
    for (dimension, along) in local_size.into_iter().enumerate() {
        ensure!(along > 0, CL_INVALID_WORK_GROUP_SIZE, "local_work_size[{dimension}] is 0");
        // "CL_INVALID_WORK_ITEM_SIZE if the number of work-items specified in any of local_work_size[0],
        // … is greater than the corresponding values specified by CL_DEVICE_MAX_WORK_ITEM_SIZES".
        ensure!(
            along <= MAX_WORK_GROUP_SIZE,
            CL_INVALID_WORK_ITEM_SIZE,
            "local_work_size[{dimension}] is {along}; {MAX_WORK_GROUP_SIZE} are allowed"
        );
    }
    // "CL_INVALID_WORK_GROUP_SIZE if […] the total number of work-items in the work-group […] is greater
    // than the value specified by CL_KERNEL_WORK_GROUP_SIZE".
    let size = local_size[0] * local_size[1] * local_size[2];
    let maximum = rules.max_group;
    ensure!(
        size <= maximum,
        CL_INVALID_WORK_GROUP_SIZE,
        "local_work_size {local_size:?} makes groups of {size} work-items; {maximum} are allowed"
    );
    // "CL_INVALID_WORK_GROUP_SIZE if the work-group size must be uniform and […] global_work_size is not
    // evenly divisible by […] local_work_size".
    if let Some(dimension) = (0..3).find(|&dimension| !global_size[dimension].is_multiple_of(local_size[dimension])) {
        let (size, along) = (global_size[dimension], local_size[dimension]);
        ensure!(
            rules.non_uniform,
            CL_INVALID_WORK_GROUP_SIZE,
            "local_work_size[{dimension}] {along} does not divide global_work_size[{dimension}] {size}, and the program is built for \
             groups of one size"
        );
    }
    Ok(())
}

/// The local size for a launch that leaves it to us: what the kernel requires, else long runs along
/// dimension 0 that divide the global size.
fn choose_local_size(global_size: [usize; 3], rules: &Rules) -> [usize; 3] {
    if let Some(required) = rules.required {
        return required.map(|length| length as usize);
    }
    let limit = PREFERRED_RUN.min(rules.max_group).max(1);
    let run = match global_size[0] {
        0..=1 => 1,
        length if length <= limit => length,
        length if length.is_multiple_of(limit) => limit,
        length => {
            let divisor = (1..=limit).rev().find(|divisor| length.is_multiple_of(*divisor)).unwrap_or(1);
            // A range without a useful divisor is cut unevenly where that is allowed.
            if rules.non_uniform && divisor * 4 < limit { limit } else { divisor }
        }
    };
    [run, 1, 1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use opencl_sys::cl_int;

    const FREE: Rules = Rules { required: None, max_group: 4096, non_uniform: false };

    fn make(dimensions: u32, offset: &[usize], global: &[usize], local: &[usize], rules: Rules) -> Result<NdRange> {
        fn list(values: &[usize]) -> Option<&[usize]> {
            (!values.is_empty()).then_some(values)
        }
        let request = Request { dimensions, offset: list(offset), global: list(global), local: list(local) };
        NdRange::new(&request, &rules)
    }

    #[test]
    fn errors_by_the_specification() {
        let required = Rules { required: Some([8, 1, 1]), ..FREE };
        let small = Rules { max_group: 64, ..FREE };
        type Row<'a> = (u32, &'a [usize], &'a [usize], &'a [usize], Rules, cl_int);
        #[rustfmt::skip]
        let table: &[Row] = &[
            (0, &[], &[8], &[8], FREE, CL_INVALID_WORK_DIMENSION),
            (4, &[], &[8; 4], &[8; 4], FREE, CL_INVALID_WORK_DIMENSION),
            (1, &[usize::MAX - 6], &[8], &[8], FREE, CL_INVALID_GLOBAL_OFFSET),
            (1, &[], &[8], &[0], FREE, CL_INVALID_WORK_GROUP_SIZE),
            (1, &[], &[10], &[4], FREE, CL_INVALID_WORK_GROUP_SIZE),
            (1, &[], &[8192], &[8192], FREE, CL_INVALID_WORK_ITEM_SIZE),
            (2, &[], &[128, 128], &[128, 128], FREE, CL_INVALID_WORK_GROUP_SIZE),
            (1, &[], &[128], &[128], small, CL_INVALID_WORK_GROUP_SIZE),
            (1, &[], &[16], &[4], required, CL_INVALID_WORK_GROUP_SIZE),
            (1, &[], &[12], &[], required, CL_INVALID_WORK_GROUP_SIZE),
            (3, &[], &[usize::MAX; 3], &[1; 3], FREE, CL_INVALID_GLOBAL_WORK_SIZE),
        ];
        for &(dimensions, offset, global, local, rules, error_code) in table {
            let error = make(dimensions, offset, global, local, rules).unwrap_err();
            assert_eq!(error.code(), error_code, "{dimensions} {offset:?} {global:?} {local:?}");
        }
    }

    #[test]
    fn groups_cover_the_range() {
        let nd_range = make(2, &[3, 1], &[10, 7], &[4, 7], Rules { non_uniform: true, ..FREE }).unwrap();
        assert_eq!(nd_range.groups, [3, 1, 1]);
        assert_eq!(nd_range.local, [4, 7, 1]);
        assert_eq!(nd_range.offset, [3, 1, 0]);
        assert_eq!(nd_range.group_count(), 3);
        assert_eq!(nd_range.group_size(), 28);
    }

    #[test]
    fn empty_ranges_have_no_groups() {
        assert_eq!(make(2, &[], &[16, 0], &[4, 1], FREE).unwrap().group_count(), 0);
        assert_eq!(make(1, &[], &[], &[], FREE).unwrap().group_count(), 0);
        assert_eq!(make(1, &[], &[0], &[], FREE).unwrap().group_count(), 0);
    }

    #[test]
    fn the_chosen_size_always_fits() {
        for non_uniform in [false, true] {
            for length in (1..2000).chain([1 << 20, 1_000_003, 999_999]) {
                let nd_range = make(1, &[], &[length], &[], Rules { non_uniform, ..FREE }).unwrap();
                assert!(nd_range.local[0] <= PREFERRED_RUN as u64);
                assert!(non_uniform || (length as u64).is_multiple_of(nd_range.local[0]));
            }
        }
        assert_eq!(make(1, &[], &[1 << 20], &[], FREE).unwrap().local, [256, 1, 1]);
        assert_eq!(make(2, &[], &[96, 4], &[], FREE).unwrap().local, [96, 1, 1]);
        let required = Rules { required: Some([8, 2, 1]), ..FREE };
        assert_eq!(make(2, &[], &[16, 4], &[], required).unwrap().local, [8, 2, 1]);
    }
}
