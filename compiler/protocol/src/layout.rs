//! Which work-items of a group are the lanes of a gang.

use crate::launch_facts::LaunchFacts;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How the work-items of a group lie in the lanes of its gangs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum Layout {
    /// Lanes are consecutive along dimension 0.
    #[default]
    X,
    /// Along dimension 1.
    Y,
    /// Along dimension 2.
    Z,
    /// Several whole rows along dimension 0, one behind the other: a tile, and consecutive in the order of the group's
    /// numbers.
    Tile,
    /// Consecutive in the order of the group's numbers, whatever its rows are.
    Linear,
}

/// Which gangs a kernel's work-items form.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GangShape {
    /// Work-items of a gang.
    pub width: u32,
    /// Which work-items are the lanes of a gang.
    pub layout: Layout,
}

/// The work-items that a sub-group can have, which are the lanes of a gang: `CL_DEVICE_SUB_GROUP_SIZES_INTEL`.
pub const SUB_GROUP_SIZES: [u32; 3] = [8, 16, 32];

/// The work-items of a sub-group of kernels that ask for no size.
pub const DEFAULT_SUB_GROUP: u32 = 16;

/// The most rows of a tile.
pub const MOST_RUNS: usize = 16;

impl Layout {
    /// All there are.
    pub const ALL: [Layout; 5] = [Layout::X, Layout::Y, Layout::Z, Layout::Tile, Layout::Linear];

    /// The dimension along which neighbouring lanes lie.
    pub fn lane_dimension(self) -> usize {
        match self {
            Layout::X | Layout::Tile | Layout::Linear => 0,
            Layout::Y => 1,
            Layout::Z => 2,
        }
    }

    /// The dimensions as loops over a group have them, the innermost first.
    pub fn loop_order(self) -> [usize; 3] {
        match self {
            Layout::X | Layout::Tile | Layout::Linear => [0, 1, 2],
            Layout::Y => [1, 0, 2],
            Layout::Z => [2, 0, 1],
        }
    }

    /// Whether gangs one after the other have the work-items of every group in the order of their numbers.
    pub fn keeps_order(self, launch_facts: &LaunchFacts) -> bool {
        (0..self.lane_dimension()).all(|dimension| launch_facts.local_size(dimension) == Some(1))
    }

    /// How sub-groups of `sub_group_size` work-items lie: these have consecutive numbers in the group. Along x where rows are whole
    /// gangs or there is only one.
    pub fn of_sub_groups(launch_facts: &LaunchFacts, sub_group_size: u32) -> Layout {
        let whole_rows = launch_facts.full_groups && launch_facts.align_along(0) >= sub_group_size.into();
        if whole_rows || launch_facts.is_one_row() { Layout::X } else { Layout::Linear }
    }

    /// Whether gangs go on behind the end of a row.
    pub fn crosses_rows(self) -> bool {
        matches!(self, Layout::Tile | Layout::Linear)
    }

    /// The name that the switch uses.
    pub fn name(self) -> &'static str {
        match self {
            Layout::X => "x",
            Layout::Y => "y",
            Layout::Z => "z",
            Layout::Tile => "tile",
            Layout::Linear => "linear",
        }
    }

    /// What the report says.
    pub fn describe(self) -> &'static str {
        match self {
            Layout::X => "along x",
            Layout::Y => "along y",
            Layout::Z => "along z",
            Layout::Tile => "in tiles of rows",
            Layout::Linear => "along the group's linear ids",
        }
    }

    /// Of a gang of `gang_width` work-items in a tile, those of a row, in launches of which the facts hold; none if groups
    /// are not whole tiles, or for other layouts.
    pub fn row_length(self, launch_facts: &LaunchFacts, gang_width: u32) -> Option<u32> {
        let (row_size, row_count) = (launch_facts.local_size(0)?, launch_facts.local_size(1)?);
        let is_tile = self == Layout::Tile
            && launch_facts.full_groups
            && row_size > 1
            && row_size < gang_width
            && row_size.is_power_of_two();
        let run_count = gang_width / row_size;
        let are_few = run_count <= 2 * row_size && run_count as usize <= MOST_RUNS;
        (is_tile && are_few && row_count.is_multiple_of(run_count)).then_some(row_size)
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.describe())
    }
}

impl FromStr for Layout {
    type Err = ();

    fn from_str(name: &str) -> Result<Layout, ()> {
        Layout::ALL.into_iter().find(|layout| layout.name() == name).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch_facts::LocalSize;

    #[test]
    fn names_are_read() {
        for layout in Layout::ALL {
            assert_eq!(layout.name().parse(), Ok(layout));
        }
        assert_eq!("w".parse::<Layout>(), Err(()));
    }

    #[test]
    fn order_is_kept_where_rows_are_single_work_items() {
        let launch = |local| LaunchFacts::of_range([0; 3], [64; 3], local);
        let kept = |local| Layout::ALL.map(|layout| layout.keeps_order(&launch(local)));
        assert_eq!(kept([8, 8, 8]), [true, false, false, true, true]);
        assert_eq!(kept([1, 8, 8]), [true, true, false, true, true]);
        assert_eq!(kept([1, 1, 8]), [true; 5]);
        assert!(Layout::X.keeps_order(&LaunchFacts::default()) && !Layout::Y.keeps_order(&LaunchFacts::default()));
    }

    #[test]
    fn tiles_are_whole_rows() {
        let run = |layout: Layout, [x, y]: [u64; 2], gang_width| {
            layout.row_length(&LaunchFacts::of_range([0; 3], [64, 64, 1], [x, y, 1]), gang_width)
        };
        assert_eq!(run(Layout::Tile, [8, 8], 16), Some(8));
        assert_eq!(run(Layout::Tile, [4, 4], 16), Some(4));
        assert_eq!(run(Layout::Tile, [2, 16], 16), None, "too many rows");
        assert_eq!(run(Layout::Tile, [8, 1], 16), None, "one row");
        assert_eq!(run(Layout::Tile, [16, 4], 16), None, "a row is a gang");
        assert_eq!(run(Layout::Tile, [16, 32], 256), Some(16));
        assert_eq!(run(Layout::Tile, [8, 32], 256), None, "too many rows");
        assert_eq!(run(Layout::Tile, [1, 4], 4), None, "rows of one");
        assert_eq!(run(Layout::X, [8, 8], 16), None);
        assert_eq!(
            Layout::Tile.row_length(&LaunchFacts::of_range([0; 3], [20; 3], [8, 8, 1]), 16),
            None,
            "smaller groups"
        );
    }

    #[test]
    fn sub_groups_lie_along_x_where_rows_are_whole_gangs() {
        let of_size = |size, global, local| Layout::of_sub_groups(&LaunchFacts::of_range([0; 3], global, local), size);
        let of = |global, local| of_size(16, global, local);
        assert_eq!(of([64, 4, 1], [32, 2, 1]), Layout::X);
        assert_eq!(of([7, 1, 1], [7, 1, 1]), Layout::X, "one row");
        assert_eq!(of([100, 1, 1], [64, 1, 1]), Layout::X, "one row, the last group smaller");
        assert_eq!(of([40, 4, 1], [32, 2, 1]), Layout::Linear, "groups of shorter rows");
        assert_eq!(of([64, 4, 1], [8, 4, 1]), Layout::Linear);
        assert_eq!(of_size(8, [64, 4, 1], [8, 4, 1]), Layout::X);
        assert_eq!(of_size(32, [64, 4, 1], [16, 4, 1]), Layout::Linear);
        assert_eq!(Layout::of_sub_groups(&LaunchFacts::default(), 16), Layout::Linear);
        let rows = LaunchFacts { local: LocalSize::Rows, full_groups: true, ..LaunchFacts::default() };
        assert_eq!(
            SUB_GROUP_SIZES.map(|size| Layout::of_sub_groups(&rows, size)),
            [Layout::X, Layout::X, Layout::Linear]
        );
    }

    #[test]
    fn every_dimension_has_its_loop() {
        for layout in Layout::ALL {
            let mut order = layout.loop_order();
            assert_eq!(order[0], layout.lane_dimension());
            order.sort_unstable();
            assert_eq!(order, [0, 1, 2]);
        }
    }
}
