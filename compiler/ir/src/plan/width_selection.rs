//! How many work-items a gang gets, which ones, and whether gangs pay at all.
//!
//! Requires: regions in normal form.
//! Ensures: a layout and a width for the widest registers of the machine, or the answer that one work-item after the
//! other is faster.
//! Phases: for every dimension along which groups of known size have several work-items, what each region costs one
//! work-item and gangs of every width, the lanes without a work-item at the end of rows of known length included; the
//! least per work-item; two or four registers a value where that saves enough, waiting included, for rounds of loops and for
//! what is under way; then tiles, where every group is cut into whole ones; layouts other than x in `unicf` only. Of a kernel
//! cut at barriers, regions in which gangs lose are run by one work-item after the other.
//! Source: DESIGN decisions 8 and 9; Moll 2021, chapter 10, for the shapes that decide what an access costs.

use super::access_lowering::CACHE_LINE;
use super::coherence_versions::loops_in_turn;
use super::kernel_state::{KernelState, suits_gangs};
use super::pass::{Estimate, Pass, Run, Suppose, WeightedForm};
use super::region_state::{GangContext, RegionState};
use super::width_choice::{Other, WidthChoice, bit_of, is_profitable};
use crate::analysis::cfg::{Cfg, build_cfg};
use crate::analysis::cost::{self, Costs};
use crate::analysis::divergence::{Divergence, Facts, analyze_divergence};
use crate::analysis::dominators::compute_dominators;
use crate::analysis::loops::{Loops, find_loops};
use crate::analysis::shape::Shape;
use crate::analysis::traversal_order::find_order;
use crate::analysis::work_group_dependence::needs_groups;
use crate::ir::{Block, Function, Inst, InstData, Kernel, Module, Region, Terminator, Value};
use crate::report::Notes;
use crate::target::{Registers, TargetInfo};
use cranelift_entity::{EntityRef, SecondaryMap};
use lockstep_protocol::configuration::{Configuration, Gangs, WIDTHS};
use lockstep_protocol::launch_facts::{LaunchFacts, LocalSize};
use lockstep_protocol::layout::{Layout, MOST_RUNS};
use lockstep_protocol::program_metadata::TraversalOrder;

/// Regions of a kernel up to which some may be run by one work-item after the other. Where rounds of a loop have regions of
/// their own, gangs keep in registers what they leave for each other.
const MOST_REGIONS: usize = 8;

/// Another layout has to be this much cheaper than one along x, in percent.
const OTHER_LAYOUT: u64 = 90;
/// Kernels with more instructions do not get gangs of two or four registers a value: their code takes long to make.
const MOST_FOR_WIDER: usize = 400;
const MOST_FOR_WIDEST: usize = 200;
/// Bytes of private variables that gangs of more registers a value may have: twice what a first cache keeps. Products of
/// private tiles take twice as long in gangs that go through the second one.
const MOST_OWN: u64 = 64 << 10;

/// Kernels with more instructions do not get tiles of many rows: these have up to half of the registers a value.
const MOST_FOR_TALL: usize = 64;

/// Whether the work-items of a kernel may lie in gangs like this, in launches of which the facts hold.
pub fn may_lie(kernel: &Kernel, launch_facts: &LaunchFacts, layout: Layout, gang_width: u32) -> bool {
    if layout == Layout::Tile {
        return layout.row_length(launch_facts, gang_width).is_some();
    }
    // What work-items collect is taken in the order of their numbers.
    layout.keeps_order(launch_facts) || kernel.combines.values().all(Option::is_none)
}

/// A kernel, and what decides what gangs of it cost.
struct Candidate<'a> {
    module: &'a Module,
    kernel: &'a Kernel,
    gangs: Gangs,
    /// The registers and instructions of the machine that code is for.
    target: TargetInfo,
    launch: &'a LaunchFacts,
    /// The passes of which some run over copies.
    table: &'a [Pass],
}

/// The layout and width that cost a work-item least.
pub fn choose_width(kernel_state: &KernelState<'_>, gangs: Gangs) -> WidthChoice {
    let KernelState { module, kernel, launch, request, table, .. } = kernel_state;
    Candidate { module, kernel, gangs, target: request.target, launch, table }.best_choice()
}

impl<'a> Candidate<'a> {
    /// The work-items of a gang of which a value of four bytes is a register.
    fn usual_width(&self) -> u32 {
        (self.target.register_bits / 32).max(WIDTHS[0])
    }

    fn best_choice(&self) -> WidthChoice {
        let &Candidate { module, kernel, gangs, launch, .. } = self;
        if let Some(layout) = gangs.layout {
            return self.best_of_layout(layout).unwrap_or_else(|| best_width(self, Layout::X));
        }
        let mut best_so_far = best_width(self, Layout::X);
        // The others came after the paper's configurations.
        if gangs.configuration != Configuration::UniCf {
            return best_so_far;
        }
        let by_columns = || !needs_groups(kernel) && find_order(module, kernel) == TraversalOrder::Columns;
        for layout in [Layout::Y, Layout::Z, Layout::Tile] {
            // Groups of kernels that go by columns are runs along dimension 1, however long.
            let of_columns = layout == Layout::Y && launch.local == LocalSize::Any && by_columns();
            if !of_columns && launch.local_size(layout.lane_dimension()).is_none_or(|size| size == 1) {
                continue;
            }
            let Some(layout_choice) = self.best_of_layout(layout) else { continue };
            let to_beat = WidthChoice { gang: best_so_far.gang.saturating_mul(OTHER_LAYOUT) / 100, ..best_so_far };
            let (cheaper, left) = if layout_choice.is_cheaper(to_beat) {
                (layout_choice, best_so_far)
            } else {
                (best_so_far, layout_choice)
            };
            let WidthChoice { layout, width, gang, .. } = left;
            let left = Other { layout, width, gang };
            best_so_far = WidthChoice { other: cheaper.other.or(Some(left)), ..cheaper };
        }
        best_so_far
    }

    /// The best of a layout, if work-items may lie so.
    fn best_of_layout(&self, layout: Layout) -> Option<WidthChoice> {
        match layout {
            Layout::Tile => self.best_tile(),
            _ if !may_lie(self.kernel, self.launch, layout, self.usual_width()) => None,
            _ => Some(best_width(self, layout)),
        }
    }

    /// The better one of flat tiles and of tall ones.
    fn best_tile(&self) -> Option<WidthChoice> {
        let &Candidate { kernel, gangs, target, launch, .. } = self;
        let usual_width = self.usual_width();
        let width = [usual_width, usual_width / 2]
            .into_iter()
            .find(|&gang_width| may_lie(kernel, launch, Layout::Tile, gang_width));
        let flat_choice =
            width.map(|gang_width| self.estimates_of(Layout::Tile, gang_width).estimate_width(gang_width));
        let width =
            tall_tile(kernel, gangs, launch, target.register_bits).filter(|&gang_width| gang_width > usual_width);
        let tall_choice = width.map(|gang_width| (self.estimates_of(Layout::Tile, gang_width), gang_width));
        let tall_choice = tall_choice
            .filter(|(tile, gang_width)| tile.go_by_columns(*gang_width))
            .map(|(tile, gang_width)| tile.estimate_width(gang_width));
        match (flat_choice, tall_choice) {
            (Some(flat_choice), Some(tall_choice)) => {
                Some(if tall_choice.is_cheaper(flat_choice) { tall_choice } else { flat_choice })
            }
            (flat_choice, tall_choice) => flat_choice.or(tall_choice),
        }
    }

    /// What holds of gangs like this. Of the naive configuration as of others: it is as wide as these.
    fn facts_of(&self, layout: Layout, gang_width: u32) -> Facts {
        let gang_facts = Facts::new(self.module, self.kernel, gang_width).laid_out(layout);
        gang_facts.of_launch(self.kernel, self.launch).of_kernel(self.kernel)
    }

    fn estimates_of(&self, layout: Layout, gang_width: u32) -> Estimates<'a> {
        Estimates::new(self, self.facts_of(layout, gang_width))
    }
}

/// The width of tiles whose columns are as many work-items as registers allow, for kernels that do nothing but compute and
/// access memory, all work-items the same.
fn tall_tile(kernel: &Kernel, gangs: Gangs, launch_facts: &LaunchFacts, register_bits: u32) -> Option<u32> {
    let instruction_count: usize = kernel.regions.values().map(|function| function.insts.len()).sum();
    let is_naive = gangs.configuration == Configuration::Naive;
    if is_naive || instruction_count > MOST_FOR_TALL || !kernel.regions.values().all(is_plain) {
        return None;
    }
    let instructions = kernel
        .regions
        .values()
        .flat_map(|function| function.insts.iter().map(move |(_, inst_node)| (function, inst_node)));
    let element_bytes = instructions.filter_map(|(function, inst_node)| match &inst_node.data {
        InstData::Load { .. } => inst_node.results.first().map(|&value| function.ty(value).bytes()),
        InstData::Store { arguments, .. } => arguments.first().map(|&value| function.ty(value).bytes()),
        _ => None,
    });
    let widest = element_bytes.max()?;
    // A value takes half of the registers at most, and a column not more than a line of the cache.
    let maximum = if register_bits >= 512 { 16 } else { 8 } * register_bits / 8 / widest;
    let row_count = (CACHE_LINE / widest).min(MOST_RUNS as u32);
    let row_length = launch_facts.local_size(0)?;
    let widths = [row_count, row_count / 2, row_count / 4].map(|row_count| row_count.saturating_mul(row_length));
    widths
        .into_iter()
        .find(|&gang_width| gang_width <= maximum && may_lie(kernel, launch_facts, Layout::Tile, gang_width))
}

/// Whether a region only computes and accesses memory, all work-items the same.
fn is_plain(function: &Function) -> bool {
    let mut instructions = function.blocks[function.entry_block()].insts.iter();
    function.layout.len() == 1 && instructions.all(|&instruction| is_plain_inst(&function.insts[instruction].data))
}

/// Whether an instruction only computes, or accesses memory that nobody orders.
fn is_plain_inst(inst_data: &InstData) -> bool {
    match inst_data {
        InstData::Load { access, .. } | InstData::Store { access, .. } => !access.volatile && access.atomic.is_none(),
        InstData::Unary { .. } | InstData::Binary { .. } => !cost::per_lane(inst_data),
        InstData::Ternary { .. } | InstData::Icmp { .. } | InstData::Fcmp { .. } | InstData::PtrAdd { .. } => true,
        InstData::LocalAddr { .. } | InstData::GlobalAddr { .. } | InstData::Query { .. } => true,
        inst_data => matches!(inst_data, InstData::LiveLoad { .. } | InstData::LiveStore { .. }),
    }
}

/// The width that costs a work-item least in gangs of a layout.
fn best_width(candidate: &Candidate<'_>, layout: Layout) -> WidthChoice {
    let &Candidate { kernel, target, launch, .. } = candidate;
    let usual_width = candidate.usual_width();
    let gang_facts = candidate.facts_of(layout, usual_width);
    let narrow = Estimates::new(candidate, gang_facts.clone());
    let row_width =
        launch.local_size(layout.lane_dimension()).map_or(usual_width, u32::next_power_of_two).min(usual_width);
    let mut best_choice = narrow.estimate_width(usual_width);
    for gang_width in [usual_width / 2, row_width].into_iter().filter(|gang_width| WIDTHS.contains(gang_width)) {
        let other_choice = narrow.estimate_width(gang_width);
        // Rows as long as a gang leave no lane idle.
        if other_choice.is_cheaper(best_choice) || gang_width == row_width && !best_choice.is_cheaper(other_choice) {
            best_choice = other_choice;
        }
    }
    let instruction_count: usize = kernel.regions.values().map(|function| function.insts.len()).sum();
    if best_choice.width != usual_width || own_bytes(kernel, &gang_facts) * u64::from(2 * usual_width) > MOST_OWN {
        return best_choice;
    }
    // What holds of a gang need not hold of two together.
    let choice_of = |gang_width| candidate.estimates_of(layout, gang_width).estimate_width(gang_width);
    if instruction_count <= MOST_FOR_WIDER {
        let other_choice = choice_of(2 * usual_width);
        // Four bytes of each of so many work-items are a line, which need not be read where a launch streams.
        let fills_lines = launch.streams != 0
            && target.register_bits == CACHE_LINE * 8 / 2
            && !best_choice.is_enough_cheaper_than(other_choice);
        // Turns take what they take; what lanes do together is shared by more.
        let shares_more = other_choice.per_lane_loops && !other_choice.crowded && other_choice.is_cheaper(best_choice);
        let fills_units = !other_choice.crowded && best_choice.is_enough_slower_than(other_choice);
        if best_choice.is_enough_cheaper_in(other_choice, !other_choice.crowded)
            || fills_lines
            || fills_units
            || shares_more
        {
            best_choice = other_choice;
        }
    }
    // What waits has time for more.
    for gang_width in [4 * usual_width, 8 * usual_width].into_iter().filter(|gang_width| WIDTHS.contains(gang_width)) {
        if instruction_count > MOST_FOR_WIDEST || best_choice.waits == 0 {
            break;
        }
        let other_choice = choice_of(gang_width);
        if !other_choice.crowded && best_choice.is_enough_cheaper_in(other_choice, true) {
            best_choice = other_choice;
        }
    }
    best_choice
}

/// The bytes of private variables that each lane has of its own.
fn own_bytes(kernel: &Kernel, gang_facts: &Facts) -> u64 {
    let own_slots = kernel.slots.iter().filter(|(slot, _)| !gang_facts.uniform_slots.contains(*slot));
    own_slots.map(|(_, slot_data)| slot_data.size).sum()
}

/// What the regions of a kernel cost gangs of which the same facts hold.
struct Estimates<'a> {
    /// Each as it is, or the versions that it gets for what the launch decides, and how often each is expected to run.
    regions: Vec<Vec<(Analysed, u64)>>,
    may_be_alone: Vec<bool>,
    layout: Layout,
    target: TargetInfo,
    launch: &'a LaunchFacts,
}

impl<'a> Estimates<'a> {
    fn new(candidate: &Candidate<'a>, gang_facts: Facts) -> Estimates<'a> {
        let &Candidate { kernel, gangs, target, launch, table, .. } = candidate;
        let layout = gang_facts.layout;
        let notes = Notes::default();
        let context = GangContext::of_facts(gang_facts, gangs, target, launch, &notes);
        let regions = kernel.regions.values().map(|function| run_estimated(function, &context, table)).collect();
        let several = (2..=MOST_REGIONS).contains(&kernel.regions.len());
        let runs_alone = |(region, function)| several && may_be_alone(region, function, layout);
        let may_be_alone = kernel.regions.iter().map(runs_alone).collect();
        Estimates { regions, may_be_alone, layout, target, launch }
    }

    /// Whether some accesses are those of a tile's columns.
    fn go_by_columns(&self, gang_width: u32) -> bool {
        let registers = Registers { target: self.target, width: gang_width };
        self.regions.iter().flatten().any(|(region, _)| region.goes_by_columns(registers))
    }

    fn estimate_width(&self, gang_width: u32) -> WidthChoice {
        let layout = self.layout;
        let mut choice = WidthChoice::empty_choice(gang_width, self.layout);
        for (number, versions) in self.regions.iter().enumerate() {
            let registers = Registers { target: self.target, width: gang_width };
            let costs: Vec<(Costs, u64)> =
                versions.iter().map(|(region, times)| (region.estimate_costs(registers), *times)).collect();
            let all_times = costs.iter().map(|&(_, times)| times).sum::<u64>().max(1);
            let average = |part_of: fn(&Costs) -> u64| {
                let weighted = costs.iter().map(|(costs, times)| part_of(costs).saturating_mul(*times) / all_times);
                weighted.fold(0, u64::saturating_add)
            };
            let scalar_cost = average(|costs| costs.scalar);
            let mut vector_cost = average(|costs| costs.vector);
            // The last gang of a row may have lanes to spare.
            if let Some(row_length) = self.launch.local_size(layout.lane_dimension()).filter(|_| !layout.crosses_rows())
            {
                let lanes_of_rows = u64::from(row_length.next_multiple_of(gang_width));
                vector_cost = vector_cost.saturating_mul(lanes_of_rows) / u64::from(row_length.max(1));
            }
            let scalar_costs = scalar_cost.saturating_mul(gang_width.into());
            if self.may_be_alone[number] && is_profitable(scalar_costs, vector_cost) {
                choice.alone |= bit_of(number);
                vector_cost = scalar_costs;
            } else {
                choice.waits = choice.waits.saturating_add(average(|costs| costs.waits));
                choice.steady = choice.steady.saturating_add(average(|costs| costs.steady));
                choice.crowded |= costs.iter().any(|(costs, _)| costs.crowded);
                choice.per_lane_loops |= costs.iter().any(|(costs, _)| costs.per_lane_loops);
                choice.each_pays &= is_profitable(vector_cost, scalar_costs) || vector_cost == 0;
            }
            choice.scalar = choice.scalar.saturating_add(scalar_cost);
            choice.gang = choice.gang.saturating_add(vector_cost);
        }
        choice.each_pays &= choice.alone.count_ones() < self.regions.len() as u32;
        choice
    }
}

/// Whether work-items may run a region one after the other although gangs run others: they find what was kept for them,
/// but of private variables there is one for a gang, or one for each lane, and a reading of the clock is taken to be the
/// same in all lanes. The region stays as it is, so it has to be of the form that linearized ones have.
fn may_be_alone(region: Region, function: &Function, layout: Layout) -> bool {
    let of_lanes = |&instruction: &Inst| {
        let inst_data = &function.insts[instruction].data;
        inst_data.needs_lanes() || matches!(inst_data, InstData::SlotAddr { .. } | InstData::Clock)
    };
    let other_form = |&block: &Block| {
        let block_data = &function.blocks[block];
        matches!(block_data.terminator, Terminator::Switch { .. } | Terminator::Unreachable)
            || block_data.insts.iter().any(of_lanes)
    };
    let flow_graph = build_cfg(function);
    let endless = || {
        find_loops(&flow_graph, &compute_dominators(&flow_graph))
            .iter()
            .any(|(_, loop_data)| loop_data.exits.is_empty())
    };
    layout == Layout::X && bit_of(region.index()) != 0 && !function.layout.iter().any(other_form) && !endless()
}

/// What a region becomes of the passes that the estimate runs: its versions, and how often each is expected to run.
fn run_estimated(function: &Function, context: &GangContext<'_>, table: &[Pass]) -> Vec<(Analysed, u64)> {
    let region_state = RegionState::of_region(function, context);
    let mut versions = vec![(function.clone(), region_state, 1)];
    for pass in table.iter().filter(|pass| suits_gangs(pass, context.gangs)) {
        match (pass.estimate, pass.run) {
            (Estimate::Runs, Run::Region(run)) => {
                versions.iter_mut().for_each(|(function, region_state, _)| run(function, region_state, context));
            }
            (Estimate::Versions(suppose), _) => versions = split_versions(versions, context, suppose),
            _ => {}
        }
    }
    versions
        .into_iter()
        .map(|(function, region_state, times)| (Analysed::new(function, region_state, context), times))
        .collect()
}

/// A form of a region, what is known of it, and how often it is expected to run.
type Version = (Function, RegionState, u64);

/// Puts the versions that each gets in its place.
fn split_versions(versions: Vec<Version>, context: &GangContext<'_>, suppose: Suppose) -> Vec<Version> {
    let split_forms: Vec<_> =
        versions.iter().map(|(function, region_state, _)| suppose(function, region_state, context)).collect();
    let runs_of = |parts: &Vec<WeightedForm>| parts.iter().map(|&(_, times)| times).sum::<u64>();
    // Each runs as often as it did, beside the others.
    let most_runs = split_forms.iter().flatten().map(runs_of).max().unwrap_or(1);
    let mut result = Vec::new();
    for ((function, region_state, times), parts) in versions.into_iter().zip(split_forms) {
        match parts {
            None => result.push((function, region_state, times * most_runs)),
            Some(parts) => result.extend(parts.into_iter().map(|(part, times_of_part)| {
                let region_state = RegionState::of_region(&part, context);
                (part, region_state, times * times_of_part)
            })),
        }
    }
    result
}

/// The shapes of a region's values in the rows and columns of tiles, and the lanes of a row and of a column.
struct AnalysedTile {
    shapes: SecondaryMap<Value, Shape>,
    columns: SecondaryMap<Value, Shape>,
    row: u32,
    rows: u32,
}

/// A region and what is known of it.
struct Analysed {
    body: Function,
    graph: Cfg,
    forest: Loops,
    found: Divergence,
    tile: Option<AnalysedTile>,
    gangs: Gangs,
}

impl Analysed {
    fn new(function: Function, region_state: RegionState, context: &GangContext<'_>) -> Analysed {
        let flow_graph = build_cfg(&function);
        let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
        let tile = context.tile.as_ref().zip(region_state.rows).map(|(tile_facts, rows)| {
            let columns = analyze_divergence(&function, &tile_facts.columns, &flow_graph, &loop_forest).shapes;
            AnalysedTile { shapes: rows.shapes, columns, row: tile_facts.rows.width, rows: tile_facts.columns.width }
        });
        Analysed {
            body: function,
            graph: flow_graph,
            forest: loop_forest,
            found: region_state.found,
            tile,
            gangs: context.gangs,
        }
    }

    fn tile_costs(&self) -> Option<cost::Tile<'_>> {
        let tile = self.tile.as_ref()?;
        Some(cost::Tile { shapes: &tile.shapes, columns: &tile.columns, row: tile.row, rows: tile.rows })
    }

    fn estimate_costs(&self, registers: Registers) -> Costs {
        let per_lane_loops = if self.tile.is_none() {
            loops_in_turn(&self.body, &self.graph, &self.forest, &self.found, self.gangs, registers)
        } else {
            Vec::new()
        };
        cost::function_costs(
            &self.body,
            &self.graph,
            &self.forest,
            &self.found,
            self.tile_costs(),
            registers,
            &per_lane_loops,
        )
    }

    /// Whether some accesses are those of a tile's columns.
    fn goes_by_columns(&self, registers: Registers) -> bool {
        let shapes = &self.found.shapes;
        self.tile_costs().is_some_and(|tile| cost::go_by_columns(&self.body, &self.graph, shapes, tile, registers))
    }
}

#[cfg(test)]
mod tests;
