//! What gangs of a width are expected to cost, and which of two widths is the better one.

use crate::ir::Region;
use cranelift_entity::EntityRef;
use lockstep_protocol::item_form::Alternatives;
use lockstep_protocol::layout::{GangShape, Layout};
use std::fmt;

/// Gangs have to be this much faster, in percent of a work-item's cost, for the estimate to be believed.
const MARGIN: u64 = 90;

/// Gangs of several registers a value have to be this much cheaper, in percent: they keep more values alive.
const WIDER: u64 = 90;

/// Whether what gangs are expected to cost is enough less than the same work-items one after the other.
pub(super) fn is_profitable(gang_cost: u64, scalar_costs: u64) -> bool {
    gang_cost.saturating_mul(100) < scalar_costs.saturating_mul(MARGIN)
}

/// A region among those that work-items run one after the other; none for a number that is too large.
pub(super) fn bit_of(region: usize) -> u64 {
    1u64.checked_shl(region as u32).unwrap_or(0)
}

/// What gangs of a width are expected to cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WidthChoice {
    /// Work-items of a gang.
    pub width: u32,
    /// Which work-items are the lanes of a gang.
    pub layout: Layout,
    /// What a work-item costs alone.
    pub scalar: u64,
    /// What a gang costs.
    pub gang: u64,
    /// The regions that one work-item runs after the other, by the bits of their numbers: gangs would lose there.
    pub alone: u64,
    /// Whether each of the other regions is cheaper in gangs by itself.
    pub(super) each_pays: bool,
    /// What a gang waits beyond its cost for what the last round of a loop computed.
    pub(super) waits: u64,
    /// Whether what its lanes hold around some loop is more than registers.
    pub(super) crowded: bool,
    /// Whether its lanes run some loop one after the other.
    pub(super) per_lane_loops: bool,
    /// What a gang takes for what all work-items do every time.
    pub(super) steady: u64,
    /// The best of the other layouts, if there was a choice.
    pub other: Option<Other>,
}

/// A layout that was not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Other {
    /// Which work-items are the lanes of a gang.
    pub layout: Layout,
    /// Its best width.
    pub width: u32,
    /// What a gang of this width costs.
    pub gang: u64,
}

impl WidthChoice {
    pub(super) fn empty_choice(gang_width: u32, layout: Layout) -> WidthChoice {
        let (scalar, gang, alone, waits, steady) = (0, 0, 0, 0, 0);
        let [crowded, per_lane_loops] = [false; 2];
        WidthChoice {
            width: gang_width,
            layout,
            scalar,
            gang,
            alone,
            each_pays: true,
            waits,
            crowded,
            per_lane_loops,
            steady,
            other: None,
        }
    }

    /// The gangs that were chosen.
    pub fn gang_shape(self) -> GangShape {
        GangShape { width: self.width, layout: self.layout }
    }

    /// What was chosen, and the best of what was not. `may_flatten` is [`Alternatives::may_flatten`].
    pub fn alternatives(self, may_flatten: bool) -> Alternatives {
        let other_layout = self.other.map(|other| GangShape { width: other.width, layout: other.layout });
        Alternatives { gangs: self.gang_shape(), other_layout, may_flatten }
    }

    /// Whether a gang is faster than its work-items one after the other.
    pub fn is_profitable(self) -> bool {
        is_profitable(self.gang, self.scalar.saturating_mul(self.width.into())) || self.alone != 0 && self.each_pays
    }

    /// Whether work-items run a region one after the other although others run in gangs.
    pub fn is_alone(self, region: Region) -> bool {
        bit_of(region.index()) & self.alone != 0
    }

    pub(super) fn is_cheaper(self, other: WidthChoice) -> bool {
        self.gang.saturating_mul(other.width.into()) < other.gang.saturating_mul(self.width.into())
    }

    /// Whether these cost more than a tenth less than others, a work-item.
    pub(super) fn is_enough_cheaper_than(self, other: WidthChoice) -> bool {
        WidthChoice { gang: self.gang.saturating_mul(11) / 10, ..self }.is_cheaper(other)
    }

    /// Whether gangs of more registers a value are enough cheaper than these.
    pub(super) fn is_enough_cheaper_in(self, wider: WidthChoice, counts_waits: bool) -> bool {
        let with_waits = |choice: WidthChoice| WidthChoice { gang: choice.gang.saturating_add(choice.waits), ..choice };
        let [wider, narrow] = if counts_waits { [wider, self].map(with_waits) } else { [wider, self] };
        WidthChoice { gang: wider.gang.saturating_mul(100) / WIDER, ..wider }.is_cheaper(narrow)
    }

    /// Whether gangs of more registers a value are enough faster than these where little else is under way at once.
    pub(super) fn is_enough_slower_than(self, wider: WidthChoice) -> bool {
        let steady = |choice: WidthChoice| WidthChoice { gang: choice.steady, ..choice };
        steady(self).is_enough_cheaper_in(steady(wider), false) && !self.is_enough_cheaper_than(wider)
    }
}

impl fmt::Display for WidthChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WidthChoice { width, layout, scalar, gang, alone, other, .. } = self;
        let scalar_costs = scalar.saturating_mul(u64::from(*width));
        write!(
            formatter,
            "a gang of {width} {layout} is expected to cost {gang}, {width} work-items alone {scalar_costs}"
        )?;
        if *alone != 0 {
            let regions: Vec<String> =
                (0..64).filter(|&region| bit_of(region) & alone != 0).map(|region| format!("r{region}")).collect();
            write!(formatter, ", with {} one work-item after the other", regions.join(", "))?;
        }
        match other {
            Some(Other { layout, width, gang }) => write!(formatter, ", a gang of {width} {layout} {gang}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
