//! Which gangs a launch has: those with a work-item in every lane, those at the end of a row that have fewer, or both.

use super::widening::Widening;
use crate::ir::Function;
use lockstep_protocol::configuration::Versions;
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::layout::Layout;

/// The kinds of gangs for which a piece of code is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GangKinds {
    /// Some may have a work-item in every lane.
    pub has_full: bool,
    /// Some may have not.
    pub has_partial: bool,
}

impl GangKinds {
    /// Those that the rows of groups are cut into in launches of which the facts hold.
    pub fn of_launches(launch: &LaunchFacts, gang_width: u32, layout: Layout) -> GangKinds {
        let along_dimension = layout.lane_dimension();
        if layout == Layout::Linear {
            let row_items =
                [0, 1, 2].map(|dimension| launch.local_size(dimension)).into_iter().product::<Option<u32>>();
            let is_whole = row_items.is_some_and(|row_items| row_items.is_multiple_of(gang_width));
            return GangKinds {
                has_full: row_items.is_none_or(|row_items| row_items >= gang_width),
                has_partial: !launch.full_groups || !is_whole,
            };
        }
        GangKinds {
            has_full: launch.local_size(along_dimension).is_none_or(|row_size| row_size >= gang_width),
            has_partial: !launch.full_groups || launch.align_along(along_dimension) < gang_width.into(),
        }
    }

    /// Those for which a region's calls need functions: where both kinds run the same code, it is that for gangs with fewer.
    pub fn of_region(widening: &Widening, launch: &LaunchFacts, function: &Function) -> GangKinds {
        // Groups are whole tiles.
        if widening.run.is_some() {
            return GangKinds { has_full: true, has_partial: false };
        }
        let kinds = GangKinds::of_launches(launch, widening.width, widening.layout);
        GangKinds { has_full: kinds.has_full && !kinds.share_code(widening.full_gangs, function), ..kinds }
    }

    /// Whether gangs of both kinds run the same code of a region.
    pub fn share_code(self, full_gangs: Versions, function: &Function) -> bool {
        self.has_full && self.has_partial && !has_own_code(full_gangs, function)
    }
}

/// Instructions of a region up to which full gangs and others get code of their own: a second piece of code for more of
/// them takes more than half a second to make.
const MOST_INSTS_MADE_TWICE: u64 = 4000;

/// Whether gangs with a work-item in every lane get code of their own where there are others.
fn has_own_code(full_gangs: Versions, function: &Function) -> bool {
    match full_gangs {
        Versions::Never => false,
        Versions::WherePays => function.count_placed_insts() <= MOST_INSTS_MADE_TWICE,
        Versions::Always => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_gangs_that_their_length_makes() {
        let kinds = |global, x, width| {
            let launch = LaunchFacts::of_range([0; 3], [global, 4, 1], [x, 2, 1]);
            let kinds = GangKinds::of_launches(&launch, width, Layout::X);
            (kinds.has_full, kinds.has_partial)
        };
        assert_eq!(kinds(96, 32, 16), (true, false));
        assert_eq!(kinds(96, 8, 16), (false, true));
        assert_eq!(kinds(96, 8, 8), (true, false));
        assert_eq!(kinds(96, 24, 16), (true, true));
        assert_eq!(kinds(100, 32, 16), (true, true));
        let any = GangKinds::of_launches(&LaunchFacts::default(), 2, Layout::X);
        assert_eq!((any.has_full, any.has_partial), (true, true));
        let multiples = LaunchFacts::of_range([0; 3], [96, 4, 1], [32, 2, 1]).of_any_size();
        assert!(!GangKinds::of_launches(&multiples, 16, Layout::X).has_partial);
    }
}
