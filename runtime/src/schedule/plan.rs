//! How the groups of a launch are divided: among whom, and how many at once.
//!
//! The caller runs the first group alone and looks at the clock: a launch that would end before another thread has woken up
//! stays on the calling thread. Where groups of the launch before took long, all threads begin at once: the others would be
//! idle for as long as the first group takes.
//!
//! A launch has seats for as many helpers as its work is worth, and no more than there are processors for; nobody else
//! joins it. Chunks shrink with what remains (guided self-scheduling), so that all finish together.

use std::time::Duration;

/// Time a sleeping thread takes to be of use; less work than this is not shared.
pub(super) const WAKE_COST: Duration = Duration::from_micros(8);

/// What is known of a launch before it begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// How many groups it has.
    pub groups: u64,
    /// Helpers that can be of use to one launch.
    pub helpers: usize,
    /// Whether the calling thread runs groups, too.
    pub caller_helps: bool,
    /// Whether groups of such a launch took longer the last time than a thread takes to wake up.
    pub took_long: bool,
}

/// Who runs groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Division {
    /// The caller runs all of them.
    Alone,
    /// The caller runs the first one; [`Plan::divide_rest`] says what becomes of the others.
    FirstAlone,
    /// So many helpers share them with the caller, if that helps.
    Shared { seats: usize },
}

impl Plan {
    /// Who runs the first groups.
    pub fn divide_groups(&self) -> Division {
        if self.groups == 0 {
            return Division::Alone;
        }
        if !self.caller_helps {
            return Division::Shared { seats: self.seats_for(self.groups) };
        }
        if self.groups == 1 || self.helpers == 0 {
            return Division::Alone;
        }
        let seats = self.seats_for(self.groups - 1);
        if self.took_long { Division::Shared { seats } } else { Division::FirstAlone }
    }

    /// Who runs the groups after the first one, which took the caller so long.
    pub fn divide_rest(&self, first_duration: Duration) -> Division {
        let groups_left = self.groups - 1;
        let estimate = first_duration.saturating_mul(u32::try_from(groups_left).unwrap_or(u32::MAX));
        // As many helpers as the work would keep busy for as long as they take to wake up.
        let worth = (estimate.as_nanos() / WAKE_COST.as_nanos()) as u64;
        match self.seats_for(worth.min(groups_left.saturating_sub(1))) {
            0 => Division::Alone,
            seats => Division::Shared { seats },
        }
    }

    /// Whether groups took long, given the time for all of them by the caller and so many helpers.
    pub fn groups_took_long(&self, whole_duration: Duration, seats: usize) -> bool {
        let groups_each = self.groups.div_ceil(seats as u64 + 1);
        is_long(whole_duration / u32::try_from(groups_each).unwrap_or(u32::MAX).max(1))
    }

    /// The helpers that can be of use where there is work for so many.
    fn seats_for(&self, helpers: u64) -> usize {
        usize::try_from(helpers).unwrap_or(usize::MAX).min(self.helpers)
    }
}

/// Whether a group took longer than a thread takes to wake up.
pub(super) fn is_long(group: Duration) -> bool {
    group >= WAKE_COST
}

/// How many groups one of these threads takes at once where so many are left, at least one.
pub(super) fn chunk_size(left: u64, threads: u64) -> u64 {
    (left / (2 * threads)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: Plan = Plan { groups: 100, helpers: 3, caller_helps: true, took_long: false };

    #[test]
    fn who_begins() {
        let table = [
            (Plan { groups: 0, ..PLAN }, Division::Alone),
            (Plan { groups: 1, took_long: true, ..PLAN }, Division::Alone),
            (Plan { helpers: 0, took_long: true, ..PLAN }, Division::Alone),
            (PLAN, Division::FirstAlone),
            // Long groups begin together, few or many.
            (Plan { groups: 3, took_long: true, ..PLAN }, Division::Shared { seats: 2 }),
            (Plan { groups: 10_000, took_long: true, ..PLAN }, Division::Shared { seats: 3 }),
            // Who does not help leaves even one group to a helper.
            (Plan { groups: 0, caller_helps: false, ..PLAN }, Division::Alone),
            (Plan { groups: 1, caller_helps: false, ..PLAN }, Division::Shared { seats: 1 }),
            (Plan { caller_helps: false, ..PLAN }, Division::Shared { seats: 3 }),
        ];
        for (launch_plan, division) in table {
            assert_eq!(launch_plan.divide_groups(), division, "{launch_plan:?}");
        }
    }

    #[test]
    fn there_are_as_many_seats_as_the_work_is_worth() {
        let nanos = Duration::from_nanos;
        let table = [
            (PLAN, nanos(0), Division::Alone),
            // 99 groups of 80 ns are less than a thread takes to wake up.
            (PLAN, nanos(80), Division::Alone),
            (PLAN, nanos(81), Division::Shared { seats: 1 }),
            (PLAN, nanos(170), Division::Shared { seats: 2 }),
            (PLAN, Duration::MAX, Division::Shared { seats: 3 }),
            // One group is left for the caller.
            (Plan { groups: 2, ..PLAN }, Duration::from_millis(1), Division::Alone),
            (Plan { groups: 3, ..PLAN }, Duration::from_millis(1), Division::Shared { seats: 1 }),
            (Plan { groups: u64::MAX, ..PLAN }, nanos(1), Division::Shared { seats: 3 }),
        ];
        for (launch_plan, first_duration, division) in table {
            assert_eq!(launch_plan.divide_rest(first_duration), division, "{launch_plan:?} {first_duration:?}");
        }
    }

    #[test]
    fn groups_take_long_by_what_each_thread_had() {
        let launch_plan = Plan { groups: 8, ..PLAN };
        assert!(launch_plan.groups_took_long(2 * WAKE_COST, 3));
        assert!(!launch_plan.groups_took_long(2 * WAKE_COST, 1));
    }

    #[test]
    fn chunks_shrink_to_single_groups_and_cover_all() {
        for threads in [1, 2, 7, 128] {
            let (mut left, mut before) = (10_000, u64::MAX);
            while left > 0 {
                let chunk_size = chunk_size(left, threads);
                assert!((1..=before.min(left)).contains(&chunk_size), "{chunk_size} of {left}");
                (left, before) = (left - chunk_size, chunk_size);
            }
            assert_eq!(before, 1);
        }
    }
}
