//! What lanes were seen to do: where they held different values, and at which branches they went different ways.
//!
//! Requires: a kernel whose loops are reducible.
//! Ensures: lanes of a gang are compared where they execute a block together, in the same iteration of every loop around it and after as
//! many barriers. What was seen in one launch stays seen.
//! Phases: of each gang in turn, the first lane of each such place is remembered, and the others are compared with it.
//! Source: Coutinho, Sampaio, Pereira & Meira 2011, section 5: their profiler of branches.

use super::{ControlFlow, KernelDivergence, RegionDivergence, values_of_block};
use crate::interp::Observer;
use crate::ir::{Block, Function, Kernel, Region, Terminator, Value};
use cranelift_entity::{EntitySet, PrimaryMap, SecondaryMap};
use lockstep_protocol::layout::GangShape;
use lockstep_protocol::types::{Space, Type};
use std::collections::HashMap;

/// Offsets of addresses in the interpreter's memory; the rest says which object it is.
const OFFSET_MASK: u128 = u32::MAX as u128;

/// Watches the lanes of gangs in any number of launches of one kernel.
pub struct LaneProfile<'a> {
    kernel: &'a Kernel,
    gang: GangShape,
    regions: PrimaryMap<Region, RegionWatch>,
    /// Blocks that lanes have run.
    run: PrimaryMap<Region, EntitySet<Block>>,
    seen: KernelDivergence,
    group: Option<[u64; 3]>,
    group_size: [u64; 3],
    /// Where each work-item of the group is.
    places: HashMap<[u64; 3], Place>,
    /// The gang whose lanes run: which one of the group, and after how many barriers.
    current_gang: Option<([u64; 3], u64)>,
    first_lanes: HashMap<(Block, Vec<u32>), FirstLane>,
}

/// What is the same whoever runs a region.
struct RegionWatch {
    flow: ControlFlow,
    /// What blocks define, with the bits of it that lanes may have in common.
    defined: SecondaryMap<Block, Vec<(Value, u128)>>,
}

/// Where a work-item is.
#[derive(Clone, Default)]
struct Place {
    barriers: u64,
    block: Option<Block>,
    /// Of the loops around it, the outermost first.
    iterations: Vec<u32>,
}

/// What the first lane did that came to a place.
struct FirstLane {
    values: Vec<u128>,
    target: usize,
}

impl<'a> LaneProfile<'a> {
    /// A profile of a kernel of which nothing was seen, in gangs of this shape.
    pub fn of_kernel(kernel: &'a Kernel, gang: GangShape) -> LaneProfile<'a> {
        LaneProfile {
            kernel,
            gang,
            regions: kernel.regions.values().map(RegionWatch::of_function).collect(),
            run: kernel.regions.keys().map(|_| EntitySet::new()).collect(),
            seen: kernel.regions.keys().map(|_| RegionDivergence::default()).collect(),
            group: None,
            group_size: [1; 3],
            places: HashMap::new(),
            current_gang: None,
            first_lanes: HashMap::new(),
        }
    }

    /// Begins a launch with groups of this size.
    pub fn begin_launch(&mut self, group_size: [u64; 3]) {
        self.group = None;
        self.group_size = group_size;
        self.places.clear();
        self.current_gang = None;
        self.first_lanes.clear();
    }

    /// What lanes were seen to hold and do differently.
    pub fn seen_divergence(&self) -> &KernelDivergence {
        &self.seen
    }

    /// Whether some lane came to a block.
    pub fn was_run(&self, region: Region, block: Block) -> bool {
        self.run[region].contains(block)
    }

    /// Which gang of its group a work-item is a lane of.
    fn gang_of(&self, local_id: [u64; 3]) -> [u64; 3] {
        let width = u64::from(self.gang.width);
        if self.gang.layout.crosses_rows() {
            let [x_size, y_size, _] = self.group_size;
            return [(local_id[0] + x_size * (local_id[1] + y_size * local_id[2])) / width, 0, 0];
        }
        let mut gang = local_id;
        gang[self.gang.layout.lane_dimension()] /= width;
        gang
    }

    /// Where a work-item is that has come to a block.
    fn advance(&mut self, local_id: [u64; 3], region: Region, block: Block) -> Place {
        let watch = &self.regions[region];
        let place = self.places.entry(local_id).or_default();
        if block == self.kernel.regions[region].entry_block() {
            *place = Place { barriers: place.barriers + 1, block: Some(block), iterations: Vec::new() };
        } else if let Some(source) = place.block.replace(block) {
            watch.count_iterations(source, block, &mut place.iterations);
        }
        place.clone()
    }

    /// Compares a lane with the first one that came to its place.
    fn compare_lane(&mut self, region: Region, block: Block, iterations: Vec<u32>, values: &[u128]) {
        let function = &self.kernel.regions[region];
        let seen = &mut self.seen[region];
        let target = chosen_target(&function.blocks[block].terminator, values);
        let defined = &self.regions[region].defined[block];
        let first_lane = self.first_lanes.entry((block, iterations)).or_insert_with(|| FirstLane {
            values: defined.iter().map(|&(value, mask)| values[value.as_u32() as usize] & mask).collect(),
            target,
        });
        if first_lane.target != target {
            seen.divergent_branches.insert(block);
        }
        for (&(value, mask), &first) in defined.iter().zip(&first_lane.values) {
            if values[value.as_u32() as usize] & mask != first {
                seen.varying.insert(value);
            }
        }
    }

    /// Whether a block has anything of which it is not yet known that it differs.
    fn is_settled(&self, region: Region, block: Block) -> bool {
        let (watch, seen) = (&self.regions[region], &self.seen[region]);
        let is_branch = watch.flow.graph.successors(block).len() > 1;
        (!is_branch || seen.divergent_branches.contains(block))
            && watch.defined[block].iter().all(|&(value, _)| seen.varying.contains(value))
    }

    /// Takes out what need not be compared any more.
    fn forget_settled_values(&mut self, region: Region) {
        let (watch, seen) = (&mut self.regions[region], &self.seen[region]);
        for &block in watch.flow.graph.reverse_post_order() {
            watch.defined[block].retain(|&(value, _)| !seen.varying.contains(value));
        }
    }
}

impl Observer for LaneProfile<'_> {
    fn after_block(&mut self, group: [u64; 3], local_id: [u64; 3], region: Region, block: Block, values: &[u128]) {
        if self.group.replace(group) != Some(group) {
            self.places.clear();
            self.current_gang = None;
        }
        self.run[region].insert(block);
        let place = self.advance(local_id, region, block);
        let gang = Some((self.gang_of(local_id), place.barriers));
        if self.current_gang != gang {
            self.current_gang = gang;
            self.first_lanes.clear();
            self.forget_settled_values(region);
        }
        if !self.is_settled(region, block) {
            self.compare_lane(region, block, place.iterations, values);
        }
    }
}

impl RegionWatch {
    fn of_function(function: &Function) -> RegionWatch {
        let flow = ControlFlow::of_function(function);
        let mut defined: SecondaryMap<Block, Vec<(Value, u128)>> = SecondaryMap::new();
        for &block in flow.graph.reverse_post_order() {
            defined[block] =
                values_of_block(function, block).map(|value| (value, shared_bits(function.ty(value)))).collect();
        }
        RegionWatch { flow, defined }
    }

    /// Goes on from one block to the next with the iterations of the loops around.
    fn count_iterations(&self, source: Block, target: Block, iterations: &mut Vec<u32>) {
        let loops = &self.flow.loops;
        let common_count = loops.loops_around(source).filter(|&around| loops.contains(around, target)).count();
        iterations.truncate(common_count);
        let Some(loop_id) = loops.with_header(target) else { return };
        match iterations.last_mut().filter(|_| loops.contains(loop_id, source)) {
            Some(iteration) => *iteration += 1,
            None => iterations.push(0),
        }
    }
}

/// The bits of a value that lanes may have in common. Each work-item has its own copy of a private object: only offsets compare.
fn shared_bits(value_type: Type) -> u128 {
    match value_type {
        Type::Ptr(Space::Private | Space::Generic) => OFFSET_MASK,
        _ => value_type.value_mask(),
    }
}

/// Which target a lane goes to; of several that are the same, the first one.
fn chosen_target(terminator: &Terminator, values: &[u128]) -> usize {
    let held = |value: Value| values[value.as_u32() as usize];
    let chosen = match terminator {
        Terminator::Branch { condition, .. } => usize::from(held(*condition) == 0),
        Terminator::Switch { value, cases, .. } => {
            cases.iter().position(|(key, _)| *key == held(*value)).unwrap_or(cases.len())
        }
        _ => return 0,
    };
    let targets = terminator.targets();
    targets.iter().position(|target| *target == targets[chosen]).unwrap_or(chosen)
}
