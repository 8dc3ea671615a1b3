//! Gives each round of a loop around barriers regions of its own, where the launch tells how many rounds there are.
//!
//! The loop of a reduction or a scan halves or doubles a number that begins with the local size. With a region for each
//! round, that number is a constant: gangs without active lanes are nothing, masks are constants, and what one round left
//! in memory for the next is known lane by lane.
//!
//! Requires: `Stage::Regions`, the marks of [`uniform_live_values`](super::uniform_live_values).
//! Ensures: `Stage::Regions`; each work-item does what it did, in launches of which the facts hold. A region stands once
//! for each combination of constants that the group may keep where it begins, unless these are too many, or so few
//! that no loop is gone: then nothing changes. Where a group may go on in several regions, only what does not
//! depend on kept constants is one, so loops of an unknown number of rounds stay loops.
//! Phases: from the first region on, constants and the blocks that are reached with them; the constants that are kept for
//! the regions behind, until there are no new ones; copies with the constants in place.
//! Source: [`sccp`], over the regions of Karrenberg & Hack 2012, section 2.3, as states.

use crate::analysis::sccp::{Constants, Fact, find_constants};
use crate::ir::*;
use crate::transform::sccp_apply::sccp_apply;
use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};
use lockstep_protocol::launch_facts::LaunchFacts;

/// How often some region has to stand. One that stands twice may be the first round of a loop and all others.
const FEWEST_ROUNDS: usize = 3;

/// Most regions that a kernel may have afterwards.
const MOST_REGIONS: usize = 40;

/// Most instructions of all regions together, each as often as a group has gangs of [`LANES`] work-items: a round is worth
/// code of its own where all of its gangs are written out.
const MOST_INSTS: u64 = 4000;

/// Most instructions of all regions together: longer kernels get few of LLVM's passes.
const MOST_CODE: u64 = 400;

/// Work-items of a gang, as far as that is known before it is chosen.
const LANES: u64 = 16;

/// Gives rounds regions of their own where the launch tells how many there are.
pub fn separate_rounds(kernel: &mut Kernel, launch_facts: &LaunchFacts) {
    if kernel.regions.len() < 2 || !launch_facts.full_groups {
        return;
    }
    let (Some(item_count), Some(1), Some(1)) =
        (launch_facts.local_size(0), launch_facts.local_size(1), launch_facts.local_size(2))
    else {
        return;
    };
    let Some(states) = States::enumerate_states(kernel, launch_facts, u64::from(item_count).div_ceil(LANES)) else {
        return;
    };
    let rounds = |region| states.known.iter().filter(|(known_region, _)| *known_region == region).count();
    if kernel.regions.keys().map(rounds).max() < Some(FEWEST_ROUNDS) {
        return;
    }
    let mut combines = SecondaryMap::new();
    for (index, (region, _)) in states.known.iter().enumerate() {
        combines[Region::new(index)] = kernel.combines[*region];
    }
    kernel.combines = combines;
    kernel.regions = states.bodies;
}

/// What the group keeps where a region begins: the constants, by live slot.
type Kept = Vec<Option<u128>>;

struct States {
    /// The states by the numbers of their regions.
    known: Vec<(Region, Kept)>,
    bodies: PrimaryMap<Region, Function>,
}

impl States {
    /// All states, or none if they are too many for groups of so many gangs.
    fn enumerate_states(kernel: &Kernel, launch_facts: &LaunchFacts, gang_count: u64) -> Option<States> {
        let nothing = vec![None; kernel.live.len()];
        let mut states = States { known: vec![(Region::new(0), nothing)], bodies: PrimaryMap::new() };
        let mut instruction_count = 0;
        while let Some((region, kept)) = states.known.get(states.bodies.len()).cloned() {
            let nothing = vec![None; kernel.live.len()];
            let [begun, any_begun] =
                [&kept, &nothing].map(|kept| Begun::begin_region(kernel, launch_facts, region, kept));
            let function = states.copy_region(&kernel.regions[region], &begun, &any_begun);
            instruction_count +=
                function.layout.iter().map(|&block| function.blocks[block].insts.len() as u64).sum::<u64>();
            states.bodies.push(function);
            if states.known.len() > MOST_REGIONS
                || instruction_count > MOST_CODE
                || instruction_count * gang_count > MOST_INSTS
            {
                return None;
            }
        }
        Some(states)
    }

    /// The number of a state, which is a new one if it is not known yet.
    fn state_number(&mut self, state: (Region, Kept)) -> Region {
        let position = self.known.iter().position(|known_state| *known_state == state).unwrap_or_else(|| {
            self.known.push(state);
            self.known.len() - 1
        });
        Region::new(position)
    }

    /// A region with the constants in place that leads to the states it may lead to, given also what is found if it
    /// begins with no constants.
    fn copy_region(&mut self, original: &Function, begun: &Begun<'_>, any_begun: &Begun<'_>) -> Function {
        let mut function = original.clone();
        sccp_apply(&mut function, &begun.constants);
        let several = begun.ends.iter().any(|(target_region, _)| *target_region != begun.ends[0].0);
        for block in function.layout.clone() {
            if let Terminator::Exit(region) = function.blocks[block].terminator {
                let kept = if several { any_begun } else { begun }.kept_behind(region);
                function.blocks[block].terminator = Terminator::Exit(self.state_number((region, kept)));
            }
        }
        function
    }
}

/// A region that begins with what is kept.
struct Begun<'a> {
    kernel: &'a Kernel,
    kept: &'a Kept,
    constants: Constants,
    /// How the region may end, and what is stored there.
    ends: Vec<(Option<Region>, Vec<Option<Fact>>)>,
}

impl<'a> Begun<'a> {
    fn begin_region(kernel: &'a Kernel, launch_facts: &LaunchFacts, region: Region, kept: &'a Kept) -> Begun<'a> {
        let function = &kernel.regions[region];
        let constants = find_constants(function, |inst_data| match *inst_data {
            InstData::Query { query, dimension } => query_bits(launch_facts, query, dimension),
            InstData::LiveLoad { live_slot } => kept[live_slot.index()],
            _ => None,
        });
        let mut begun = Begun { kernel, kept, constants, ends: Vec::new() };
        begun.ends = function.layout.iter().filter_map(|&block| begun.region_end(function, block)).collect();
        begun
    }

    /// How a block ends the region, if it does, and what it stores for the next one.
    fn region_end(&self, function: &Function, block: Block) -> Option<(Option<Region>, Vec<Option<Fact>>)> {
        let target_region = match function.blocks[block].terminator {
            _ if !self.constants.reached.contains(block) => return None,
            Terminator::Exit(region) => Some(region),
            Terminator::Return => None,
            _ => return None,
        };
        let mut stored = vec![None; self.kept.len()];
        for &instruction in &function.blocks[block].insts {
            if let InstData::LiveStore { live_slot, argument } = function.insts[instruction].data {
                stored[live_slot.index()] = Some(self.constants.values[argument]);
            }
        }
        // What other blocks store may or may not be there.
        let elsewhere = function
            .layout
            .iter()
            .filter(|&&other_block| other_block != block && self.constants.reached.contains(other_block));
        for &instruction in elsewhere.flat_map(|&other_block| &function.blocks[other_block].insts) {
            if let InstData::LiveStore { live_slot, .. } = function.insts[instruction].data {
                stored[live_slot.index()].get_or_insert(Fact::Varies);
            }
        }
        Some((target_region, stored))
    }

    /// What the group keeps where it goes on in a region: constants that are stored at all such ends, and what nobody
    /// touches.
    fn kept_behind(&self, target_region: Region) -> Kept {
        let live = self.kernel.live.iter();
        live.map(|(live_slot, live_data)| self.bits_behind(target_region, live_slot).filter(|_| live_data.shared))
            .collect()
    }

    /// The constant in a slot at all ends that lead to a region, if there is one.
    fn bits_behind(&self, target_region: Region, live_slot: LiveSlot) -> Option<u128> {
        let before = self.kept[live_slot.index()].map_or(Fact::Varies, Fact::Always);
        let ends = self.ends.iter().filter(|(end, _)| *end == Some(target_region));
        let facts = ends.map(|(_, stored)| stored[live_slot.index()].unwrap_or(before));
        facts.fold(Fact::Never, Fact::meet).bits()
    }
}

/// What a launch says of a query's answer.
fn query_bits(launch_facts: &LaunchFacts, query: Query, dimension: u8) -> Option<u128> {
    match (query, launch_facts.local_size(dimension.into())) {
        (Query::LocalSize | Query::EnqueuedLocalSize, Some(size)) => Some(size.into()),
        (Query::LocalId, Some(1)) => Some(0),
        _ => None,
    }
}
