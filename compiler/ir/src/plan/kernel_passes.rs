//! The passes over whole kernels, as the table calls them.

use super::access_lowering::GangAccess;
use super::access_lowering::region::{RegionContext, lower_accesses};
use super::held_forms::HeldContext;
use super::kernel_state::{KernelState, ProgramFacts};
use super::notes;
use super::region_state::{RegionState, analyze_region};
use super::storage::{PAGE_ALIGNMENT, Storage};
use super::widening::Reason;
use super::width_choice::WidthChoice;
use super::width_selection::{choose_width, may_lie};
use crate::analysis::divergence::Facts;
use crate::analysis::loops::find_loop_depth;
use crate::analysis::spin_loops::may_wait;
use crate::analysis::underlying_objects::find_apart_arguments;
use crate::analysis::work_group_dependence::needs_sub_groups;
use crate::ir::{Function, Kernel, Module, Region};
use crate::transform;
use crate::transform::count_iterations::find_countable_loops;
use crate::transform::insert_yields::mark_waiting_loops;
use crate::transform::normalize::normalize_function;
use crate::transform::reducible::make_reducible;
use crate::transform::scalar_replacement::{
    MOST_CARRIED, MOST_CARRIED_ALONE, Placement, has_candidates, prepare_loops, replace_loads,
};
use crate::transform::split_conditions::has_joined_condition;
use cranelift_entity::EntitySet;
use lockstep_protocol::configuration::{Gangs, Versions, WIDTHS};
use lockstep_protocol::layout::{GangShape, Layout};
use lockstep_protocol::loop_profile::{LoopProfile, MOST_COUNTED_LOOPS};
use lockstep_protocol::pass_switches::PassSwitch;
use lockstep_protocol::scalar_replacement::ScalarReplacement;

pub(super) fn reducible(_: &Module, kernel: &mut Kernel, _: ProgramFacts) {
    for function in kernel.regions.values_mut() {
        make_reducible(function);
    }
}

pub(super) fn insert_yields(module: &Module, kernel: &mut Kernel, program: ProgramFacts) {
    if !(program.sub_groups_never_wait && needs_sub_groups(kernel)) {
        mark_waiting_loops(module, kernel);
    }
}

pub(super) fn specialize_arguments(kernel_state: &mut KernelState<'_>) {
    transform::specialize_arguments::specialize_arguments(&mut kernel_state.kernel, &kernel_state.launch);
}

pub(super) fn own_counters(kernel_state: &mut KernelState<'_>) {
    transform::own_counters::own_counters(&mut kernel_state.kernel, &kernel_state.launch);
}

/// Sub-groups make progress independently of each other. Other kernels do not tell who waits for whom: lanes of a gang
/// would wait for each other for ever.
pub(super) fn way_to_run(kernel_state: &mut KernelState<'_>) {
    kernel_state.sub_groups = needs_sub_groups(&kernel_state.kernel);
    if kernel_state.sub_groups {
        kernel_state.gangs = Some(gangs_of_sub_groups(kernel_state));
    }
    let may_wait_here = may_wait(&kernel_state.kernel) && !kernel_state.sub_groups;
    let against = kernel_state.request.against.or(may_wait_here.then_some(Reason::Waits));
    if let Some(reason) = against.filter(|_| kernel_state.gangs.is_some()) {
        kernel_state.refuse_gangs(reason);
    }
}

/// How work-items run whose sub-groups are the lanes of gangs, whatever else was asked for.
fn gangs_of_sub_groups(kernel_state: &KernelState<'_>) -> Gangs {
    let sub_group_size = kernel_state.kernel.attrs.sub_group_size();
    let layout = Layout::of_sub_groups(&kernel_state.launch, sub_group_size);
    Gangs { width: Some(sub_group_size), layout: Some(layout), ..kernel_state.gangs.unwrap_or_default() }
}

pub(super) fn linear_ids(kernel_state: &mut KernelState<'_>) {
    if kernel_state.gangs.is_some_and(|gangs| gangs.layout == Some(Layout::Linear)) {
        transform::linear_ids::linear_ids(&mut kernel_state.kernel, &kernel_state.launch);
    }
}

pub(super) fn barriers(kernel_state: &mut KernelState<'_>) {
    transform::barriers::barriers_within(&mut kernel_state.kernel, kernel_state.request.bounds);
}

pub(super) fn uniform_live_values(kernel_state: &mut KernelState<'_>) {
    transform::uniform_live_values::uniform_live_values(kernel_state.module, &mut kernel_state.kernel);
}

pub(super) fn rounds(kernel_state: &mut KernelState<'_>) {
    transform::unroll_barrier_loops::separate_rounds(&mut kernel_state.kernel, &kernel_state.launch);
}

/// Loops in each other up to which a kernel gets gangs, and normal form where it has none. A loop that lanes leave one by one carries
/// a mask and what it waits with through the loops in it, and in normal form each value that leaves several loops goes through the exits
/// of all of them, so code and time grow with the square of the depth: 250 loops took 15.6 s to compile.
const MOST_LOOP_DEPTH: u32 = 32;

pub(super) fn gang_limits(kernel_state: &mut KernelState<'_>) {
    let width = kernel_state.gangs.and_then(|gangs| gangs.width).filter(|gang_width| !WIDTHS.contains(gang_width));
    let kernel = &kernel_state.kernel;
    // Sub-groups are gangs, however much memory or time that takes.
    let slot = kernel.slots.values().find(|slot| slot.align > PAGE_ALIGNMENT && !kernel_state.sub_groups);
    let find_depth = || kernel.regions.values().map(find_loop_depth).find(|&depth| depth > MOST_LOOP_DEPTH);
    let depth = if kernel_state.sub_groups { None } else { find_depth() };
    let reason = width.map(Reason::Width).or(slot.map(|slot| Reason::SlotAlignment(slot.align)));
    let reason = reason.or(depth.map(Reason::LoopDepth));
    if let Some(reason) = reason {
        kernel_state.refuse_gangs(reason);
    }
}

pub(super) fn promote_places(kernel_state: &mut KernelState<'_>) {
    let kernel = &mut kernel_state.kernel;
    let apart = find_apart_arguments(kernel, &kernel_state.launch);
    for region in kernel.regions.keys() {
        let mut function = std::mem::take(&mut kernel.regions[region]);
        transform::promote_places::promote_places(kernel, &mut function, &apart);
        kernel.regions[region] = function;
    }
}

/// Where work-items run one after the other, regions are not in normal form, and get it only for what is found. Those with too many loops
/// in each other stay as they are.
pub(super) fn scalar_replacement(kernel_state: &mut KernelState<'_>) {
    let KernelState { module, ref mut kernel, launch, request, gangs, notes, .. } = *kernel_state;
    let form = request.scalar_replacement;
    if form == ScalarReplacement::Off || !kernel.regions.values().any(has_candidates) {
        return;
    }
    let apart = find_apart_arguments(kernel, &launch);
    let versions = gangs.map(|gangs| gangs.pass_versions(PassSwitch::ScalarReplacement)).unwrap_or_default();
    let gang_facts = gangs.map(|_| Facts::of_groups(module, kernel).of_kernel(kernel));
    for region in kernel.regions.keys() {
        let is_normal = gangs.is_some();
        if !is_normal && find_loop_depth(&kernel.regions[region]) > MOST_LOOP_DEPTH {
            continue;
        }
        let mut function = kernel.regions[region].clone();
        if !is_normal {
            normalize_function(&mut function);
        }
        let find_divergent = |function: &Function| match &gang_facts {
            Some(gang_facts) => analyze_region(function, gang_facts).divergent_branches,
            None => EntitySet::new(),
        };
        let mut divergent_branches = find_divergent(&function);
        let most_carried = if gangs.is_some() { MOST_CARRIED } else { MOST_CARRIED_ALONE };
        let always = versions == Versions::Always;
        if prepare_loops(
            kernel,
            &mut function,
            &apart,
            Placement { form, divergent_branches: &divergent_branches, most_carried, always },
        ) {
            divergent_branches = find_divergent(&function);
        }
        let placement = Placement { form, divergent_branches: &divergent_branches, most_carried, always };
        let outcomes = replace_loads(kernel, &mut function, &apart, placement);
        if outcomes.iter().any(|outcome| outcome.result.is_ok()) {
            kernel.regions[region] = function;
        }
        notes::note_replaced_loads(form, &outcomes, notes);
    }
}

/// Gives operands that are the same for all work-items of a group branches of their own, whatever the gangs are.
pub(super) fn split_conditions(kernel_state: &mut KernelState<'_>) {
    let kernel = &mut kernel_state.kernel;
    if !kernel.regions.values().any(has_joined_condition) {
        return;
    }
    let always =
        kernel_state.gangs.is_some_and(|gangs| gangs.pass_versions(PassSwitch::SplitConditions) == Versions::Always);
    let group_facts = Facts::of_groups(kernel_state.module, kernel).of_launch(kernel, &kernel_state.launch);
    let group_facts = group_facts.of_kernel(kernel);
    for function in kernel.regions.values_mut() {
        let divergence = analyze_region(function, &group_facts);
        transform::split_conditions::split_conditions(
            function,
            &divergence.shapes,
            &divergence.divergent_branches,
            always,
        );
    }
}

pub(super) fn width_selection(kernel_state: &mut KernelState<'_>) {
    let Some(gangs) = kernel_state.gangs else { return };
    kernel_state.choice = gangs.width.is_none().then(|| choose_width(kernel_state, gangs));
    if let Some(choice) = kernel_state.choice.filter(|choice| !choice.is_profitable()) {
        return kernel_state.refuse_gangs(Reason::Cost(choice));
    }
    let shape = kernel_state.choice.map_or_else(|| asked_shape(kernel_state, gangs), WidthChoice::gang_shape);
    kernel_state.context = Some(kernel_state.gang_context(gangs, shape));
}

/// The gangs that somebody asked for, as far as work-items may lie so.
fn asked_shape(kernel_state: &KernelState<'_>, gangs: Gangs) -> GangShape {
    let gang_width = gangs.width.unwrap_or(WIDTHS[0]);
    let layout = gangs.layout.filter(|&layout| may_lie(&kernel_state.kernel, &kernel_state.launch, layout, gang_width));
    GangShape { width: gang_width, layout: layout.unwrap_or_default() }
}

pub(super) fn interleave(kernel_state: &mut KernelState<'_>) {
    let Some(context) = &mut kernel_state.context else { return };
    transform::private_array_soa::interleave_slots(
        &mut kernel_state.kernel,
        context.facts.width,
        &context.facts.uniform_slots,
    );
    context.see_slots(&kernel_state.kernel);
}

pub(super) fn divergence(kernel_state: &mut KernelState<'_>) {
    let Some(context) = &kernel_state.context else { return };
    let is_alone = |region: Region| kernel_state.choice.is_some_and(|choice| choice.is_alone(region));
    for (region, function) in &kernel_state.kernel.regions {
        if is_alone(region) {
            notes::note_scalar(function, kernel_state.notes);
            kernel_state.regions.push(RegionState::scalar_region());
        } else {
            kernel_state.regions.push(RegionState::of_region(function, context));
        }
    }
}

/// Has the first tier count, and hands what it counted to the regions of the last one. Both tiers come here with the same loops, so
/// these have the same numbers.
pub(super) fn loop_profile(kernel_state: &mut KernelState<'_>) {
    let (Some(context), profile) = (&kernel_state.context, kernel_state.request.loops) else { return };
    let mut loop_numbers = 0..MOST_COUNTED_LOOPS;
    for (function, region_state) in kernel_state.kernel.regions.values_mut().zip(kernel_state.regions.values_mut()) {
        if region_state.plan.alone || profile == LoopProfile::Unknown {
            continue;
        }
        let countable_loops = find_countable_loops(function, &region_state.found);
        for (countable, loop_number) in countable_loops.iter().zip(&mut loop_numbers) {
            match &profile {
                LoopProfile::Unknown => {}
                LoopProfile::Count => countable.count_iterations(function, loop_number as u32),
                LoopProfile::Counted(counts) => {
                    region_state.counts.insert(countable.header, counts[loop_number]);
                }
            }
        }
        if profile == LoopProfile::Count && !countable_loops.is_empty() {
            region_state.analyze_region(function, context);
        }
    }
}

/// Lays out where slots and kept values lie, and decides how lanes access memory.
pub(super) fn access_lowering(kernel_state: &mut KernelState<'_>) {
    let (Some(gangs), Some(context)) = (kernel_state.gangs, &kernel_state.context) else { return };
    let (kernel, gang_width, layout) = (&kernel_state.kernel, context.facts.width, context.facts.layout);
    let storage = Storage::lay_out(kernel, gang_width, layout);
    let row_width = context.tile.as_ref().map(|tile_facts| tile_facts.rows.width);
    let apart = find_apart_arguments(kernel, &kernel_state.launch);
    let is_tile = row_width.is_some();
    let (may_wait, configuration) = (may_wait(kernel), gangs.configuration);
    let held_context = HeldContext { kernel, storage: &storage, layout, is_tile, may_wait, configuration };
    let gang = GangAccess {
        target: kernel_state.request.target,
        width: gang_width,
        row: row_width,
        may_wait,
        // In groups of several rows each is another page's. Rows of 64 bytes of groups of 16 x 16 took 2.5 times as long past
        // the caches.
        follows_others: matches!(layout, Layout::X | Layout::Linear) && !is_tile && kernel_state.launch.is_one_row(),
    };
    let region_context = RegionContext { held: held_context, gang, apart: &apart };
    for (region, function) in &kernel.regions {
        let plan = &mut kernel_state.regions[region].plan;
        if !plan.alone {
            plan.accesses = lower_accesses(function, plan, &region_context);
        }
    }
    kernel_state.storage = Some(storage);
}
