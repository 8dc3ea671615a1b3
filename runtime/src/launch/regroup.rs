//! Work-groups of our own making, for kernels that cannot tell which group a work-item is in.
//!
//! Such a kernel runs in long runs along dimension 0 whatever local size the application asked for: gangs are full, and
//! there is one end to mask in a row of the range. The groups are as large as leaves every thread several of them, and as high
//! as they were: who chose them may have had caches in mind. Of rows that suit gangs already, whole ones are put together.

use lockstep_protocol::launch_facts::ROW;
use lockstep_protocol::program_metadata::TraversalOrder;

use super::ndrange::NdRange;

/// Most work-items of a group, unless its rows would be shorter than a gang.
const LONGEST_RUN: u64 = 1024;
/// Work-items that make a group worth its loop.
const WORTHWHILE: u64 = 64;
/// Groups that a thread should find, so that all finish together; and where they could as well stay as they are.
const GROUPS_PER_THREAD: u64 = 8;
const MANY_PER_THREAD: u64 = 32;

/// Groups for kernels that transpose: the most that gangs take of rows and columns.
const TILE: [u64; 2] = [ROW; 2];
/// Groups of at least so many rows and columns, and rows of at most so many work-items, make tiles as well.
const SHORTEST_SIDE: u64 = 8;
const LONGEST_ROW: u64 = 32;

/// The range cut into other groups of at most `max_group` work-items, for so many threads; for a kernel that transposes,
/// into square ones, for one that goes by columns, into runs along dimension 1.
pub fn flatten_range(nd_range: &NdRange, max_group: u64, threads: u64, traversal_order: TraversalOrder) -> NdRange {
    if traversal_order == TraversalOrder::Columns && nd_range.global[1] > 1 && nd_range.group_count() > 0 {
        return cut_groups(nd_range, [1, run_of_columns(nd_range, max_group, threads), 1]);
    }
    let transposes = traversal_order == TraversalOrder::Both;
    let [x, y, z] = nd_range.local;
    if transposes && nd_range.group_count() > 0 && is_tile(nd_range, [x, y]) {
        return *nd_range;
    }
    if transposes && nd_range.group_count() > 0 && is_tile(nd_range, TILE) && TILE[0] * TILE[1] <= max_group {
        return cut_groups(nd_range, [TILE[0], TILE[1], 1]);
    }
    let is_full = x.is_multiple_of(ROW) && nd_range.global[0].is_multiple_of(x) && x * y * z >= WORTHWHILE;
    let maximum = (LONGEST_RUN / (y * z)).max(ROW).min(max_group / (y * z));
    if nd_range.group_count() == 0 || maximum < ROW {
        return *nd_range;
    }
    let work_items = nd_range.global.iter().fold(1, |work_items: u64, &length| work_items.saturating_mul(length));
    let per_thread = if is_full { MANY_PER_THREAD } else { GROUPS_PER_THREAD };
    let groups_each = work_items / threads.saturating_mul(per_thread).max(1) / (y * z);
    let item_limit = groups_each.clamp(ROW, maximum);
    let run_length = match is_full {
        true => runs_per_row(nd_range.global[0], x, item_limit),
        false => run_length(nd_range.global[0], item_limit / ROW * ROW),
    };
    cut_groups(nd_range, [run_length, y, z])
}

/// Runs along dimension 1: few lengths, so that few variants of the code are needed.
const RUNS_OF_COLUMNS: [u64; 3] = [LONGEST_RUN, 256, ROW];

fn run_of_columns(nd_range: &NdRange, max_group: u64, threads: u64) -> u64 {
    let work_items = nd_range.global.iter().fold(1, |work_items: u64, &length| work_items.saturating_mul(length));
    let groups_each = work_items / threads.saturating_mul(GROUPS_PER_THREAD).max(1);
    let fits =
        |&run_length: &u64| run_length <= max_group && run_length <= groups_each && run_length <= nd_range.global[1];
    RUNS_OF_COLUMNS.into_iter().find(fits).unwrap_or(ROW.min(max_group))
}

/// Whether a group holds the rows and columns of a tile, and the range whole groups.
fn is_tile(nd_range: &NdRange, local_size: [u64; 2]) -> bool {
    let is_divided = |dimension: usize| {
        local_size[dimension].is_multiple_of(SHORTEST_SIDE)
            && nd_range.global[dimension].is_multiple_of(local_size[dimension])
    };
    is_divided(0) && is_divided(1) && local_size[0].is_power_of_two() && local_size[0] <= LONGEST_ROW
}

fn cut_groups(nd_range: &NdRange, local_size: [u64; 3]) -> NdRange {
    NdRange {
        local: local_size,
        groups: std::array::from_fn(|dimension| nd_range.global[dimension].div_ceil(local_size[dimension])),
        ..*nd_range
    }
}

/// The length of runs of as many short ones as `item_limit` allows, of which whole ones fill a row: what suits gangs suits them
/// again, and memory is read further along.
fn runs_per_row(row_length: u64, shortest_run: u64, item_limit: u64) -> u64 {
    let longer = (2..=item_limit / shortest_run).rev().map(|run_count| run_count * shortest_run);
    longer.into_iter().find(|&run_length| row_length.is_multiple_of(run_length)).unwrap_or(shortest_run)
}

/// The length of runs for so many work-items in a row, at most `item_limit`, a multiple of [`ROW`]: a multiple as well,
/// unless the row is shorter.
fn run_length(row_length: u64, item_limit: u64) -> u64 {
    if row_length < ROW {
        return row_length;
    }
    // Equal runs need no code for the end of a row.
    let (shortest, longest) = (item_limit / 2 / ROW, item_limit / ROW);
    let even_run = (shortest.max(1)..=longest)
        .rev()
        .map(|gang_count| gang_count * ROW)
        .find(|&run_length| row_length.is_multiple_of(run_length));
    even_run.unwrap_or(row_length.min(item_limit).next_multiple_of(ROW))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::ndrange::{Request, Rules};

    fn range(global: &[usize], local: &[usize]) -> NdRange {
        let dimensions = global.len() as u32;
        let request = Request { offset: None, global: Some(global), local: Some(local), dimensions };
        NdRange::new(&request, &Rules { required: None, max_group: 4096, non_uniform: true }).unwrap()
    }

    fn local(global: &[usize], local: &[usize]) -> [u64; 3] {
        flatten_range(&range(global, local), 4096, 2, TraversalOrder::Rows).local
    }

    #[test]
    fn single_work_items_become_long_runs() {
        assert_eq!(local(&[1 << 20], &[1]), [1024, 1, 1]);
        assert_eq!(local(&[1920, 1080], &[1, 1]), [960, 1, 1]);
        assert_eq!(local(&[1000, 1000], &[1, 1]), [1008, 1, 1], "one run with an end to mask");
        assert_eq!(local(&[1_000_003], &[1]), [1024, 1, 1]);
        assert_eq!(local(&[6, 500], &[1, 1]), [6, 1, 1]);
        assert_eq!(local(&[usize::MAX], &[1]), [1024, 1, 1], "the largest row there is");
    }

    #[test]
    fn short_rows_become_longer_and_keep_their_height() {
        assert_eq!(local(&[1024, 1024], &[8, 8]), [128, 8, 1]);
        assert_eq!(local(&[1024, 1024], &[1, 64]), [16, 64, 1]);
        assert_eq!(local(&[1024, 1024], &[4, 512]), [4, 512, 1], "no room");
    }

    #[test]
    fn kernels_that_transpose_get_tiles() {
        let local = |global, local| flatten_range(&range(global, local), 4096, 2, TraversalOrder::Both).local;
        assert_eq!(local(&[1024, 512], &[256, 1]), [16, 16, 1]);
        assert_eq!(local(&[1024, 512], &[1, 1]), [16, 16, 1]);
        assert_eq!(local(&[1024, 512, 3], &[4, 4, 1]), [16, 16, 1]);
        assert_eq!(local(&[1024, 512], &[8, 8]), [8, 8, 1]);
        assert_eq!(local(&[1024, 512], &[32, 8]), [32, 8, 1]);
        assert_eq!(local(&[1000, 1000], &[8, 8]), [8, 8, 1]);
        assert_eq!(local(&[1000, 1001], &[8, 7]), [144, 7, 1], "no tiles in the range");
        assert_eq!(local(&[0, 16], &[8, 8]), [8, 8, 1]);
    }

    #[test]
    fn kernels_that_go_by_columns_get_runs_of_them() {
        let local = |global, local| flatten_range(&range(global, local), 4096, 2, TraversalOrder::Columns).local;
        assert_eq!(local(&[512, 512], &[16, 16]), [1, 256, 1]);
        assert_eq!(local(&[2000, 2000], &[64, 1]), [1, 1024, 1]);
        assert_eq!(local(&[1000, 100], &[1, 1]), [1, 16, 1]);
        assert_eq!(local(&[7, 3], &[7, 3]), [1, 16, 1]);
        assert_eq!(local(&[4096], &[64]), [64, 1, 1], "there is one row only");
    }

    #[test]
    fn rows_that_suit_gangs_are_put_together() {
        for x in [16, 64, 256] {
            assert_eq!(local(&[1024, 1024], &[x, 4]), [256, 4, 1]);
        }
        assert_eq!(local(&[1024, 1024], &[16, 16]), [64, 16, 1]);
        assert_eq!(local(&[1920, 1080], &[32, 8]), [128, 8, 1]);
        assert_eq!(local(&[160, 160], &[32, 8]), [32, 8, 1], "no other number of them fills a row");
        assert_eq!(local(&[1 << 12], &[64]), [64, 1, 1], "there are not many");
        assert_eq!(local(&[1024, 1024, 2], &[16, 4, 2]), [128, 4, 2]);
        assert_eq!(local(&[1 << 20], &[256]), [1024, 1, 1]);
        assert_eq!(local(&[1 << 16], &[16]), [1024, 1, 1], "hardly worth a loop");
    }

    #[test]
    fn every_thread_finds_several_groups() {
        assert_eq!(local(&[4096], &[1]), [256, 1, 1]);
        assert_eq!(local(&[64], &[1]), [16, 1, 1]);
        assert_eq!(local(&[1], &[1]), [1, 1, 1]);
    }

    #[test]
    fn groups_cover_the_range() {
        for global in [1, 15, 16, 17, 100, 1000, 1_000_003, 1 << 40] {
            for y in [1, 3, 64] {
                let before = range(&[global, 192], &[1, y]);
                let after = flatten_range(&before, 4096, 4, TraversalOrder::Rows);
                assert_eq!((after.global, after.offset, after.dimensions), (before.global, before.offset, 2));
                assert!(after.group_size() <= 4096);
                for dimension in 0..3 {
                    assert_eq!(after.groups[dimension], after.global[dimension].div_ceil(after.local[dimension]));
                }
                assert!(global < 16 || after.local[0].is_multiple_of(ROW), "{after:?}");
            }
        }
    }
}
