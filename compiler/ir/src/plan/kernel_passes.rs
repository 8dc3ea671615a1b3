//! The passes over whole kernels, as the table calls them.

use super::access_lowering::GangAccess;
use super::access_lowering::region::{RegionContext, lower_accesses};
use super::held_forms::HeldContext;
use super::kernel_state::{KernelState, ProgramFacts};
use super::notes;
use super::region_state::{GangShape, RegionState, analyze_region};
use super::storage::Storage;
use super::widening::Reason;
use super::width_selection::{choose_width, may_lie};
use crate::analysis::divergence::Facts;
use crate::analysis::spin_loops::may_wait;
use crate::analysis::underlying_objects::find_apart_arguments;
use crate::analysis::work_group_dependence::needs_sub_groups;
use crate::ir::{Kernel, Region};
use crate::transform;
use crate::transform::insert_yields::mark_waiting_loops;
use crate::transform::private_array_soa::MOST_SLOT_ALIGN;
use crate::transform::reducible::make_reducible;
use crate::transform::split_conditions::has_joined_condition;
use crate::transform::unreachable_edges::remove_unreachable_edges;
use lockstep_protocol::configuration::{Gangs, Versions, WIDTHS};
use lockstep_protocol::layout::Layout;
use lockstep_protocol::pass_switches::PassSwitch;

pub(super) fn reducible(kernel: &mut Kernel, _: ProgramFacts) {
    for body in kernel.regions.values_mut() {
        make_reducible(body);
    }
}

pub(super) fn insert_yields(kernel: &mut Kernel, program: ProgramFacts) {
    if !(program.sub_groups_never_wait && needs_sub_groups(kernel)) {
        mark_waiting_loops(kernel);
    }
}

pub(super) fn specialize_arguments(state: &mut KernelState<'_>) {
    transform::specialize_arguments::specialize_arguments(&mut state.kernel, &state.launch);
}

pub(super) fn own_counters(state: &mut KernelState<'_>) {
    transform::own_counters::own_counters(&mut state.kernel, &state.launch);
}

/// Sub-groups make progress independently of each other. Other kernels do not tell who waits for whom: lanes of a gang
/// would wait for each other for ever.
pub(super) fn way_to_run(state: &mut KernelState<'_>) {
    state.sub_groups = needs_sub_groups(&state.kernel);
    if state.sub_groups {
        state.gangs = Some(gangs_of_sub_groups(state));
    }
    let waits = may_wait(&state.kernel) && !state.sub_groups;
    let against = state.request.against.or(waits.then_some(Reason::Waits));
    if let Some(reason) = against.filter(|_| state.gangs.is_some()) {
        state.refuse_gangs(reason);
    }
}

/// How work-items run whose sub-groups are the lanes of gangs, whatever else was asked for.
fn gangs_of_sub_groups(state: &KernelState<'_>) -> Gangs {
    let size = state.kernel.attrs.sub_group_size();
    let layout = Layout::of_sub_groups(&state.launch, size);
    Gangs { width: Some(size), layout: Some(layout), ..state.gangs.unwrap_or_default() }
}

pub(super) fn linear_ids(state: &mut KernelState<'_>) {
    if state.gangs.is_some_and(|gangs| gangs.layout == Some(Layout::Linear)) {
        transform::linear_ids::linear_ids(&mut state.kernel, &state.launch);
    }
}

pub(super) fn barriers(state: &mut KernelState<'_>) {
    transform::barriers::barriers_within(&mut state.kernel, state.request.bounds);
}

pub(super) fn uniform_live_values(state: &mut KernelState<'_>) {
    transform::uniform_live_values::uniform_live_values(state.module, &mut state.kernel);
}

pub(super) fn rounds(state: &mut KernelState<'_>) {
    transform::unroll_barrier_loops::separate_rounds(&mut state.kernel, &state.launch);
}

pub(super) fn gang_limits(state: &mut KernelState<'_>) {
    let width = state.gangs.and_then(|gangs| gangs.width).filter(|width| !WIDTHS.contains(width));
    let slot = state.kernel.slots.values().find(|slot| slot.align > MOST_SLOT_ALIGN);
    let reason = width.map(Reason::Width).or(slot.map(|slot| Reason::SlotAlignment(slot.align)));
    if let Some(reason) = reason {
        state.refuse_gangs(reason);
    }
}

pub(super) fn unreachable_edges(state: &mut KernelState<'_>) {
    state.kernel.regions.values_mut().for_each(remove_unreachable_edges);
}

pub(super) fn normalize(state: &mut KernelState<'_>) {
    state.kernel.regions.values_mut().for_each(transform::normalize::normalize_function);
}

pub(super) fn promote_places(state: &mut KernelState<'_>) {
    let kernel = &mut state.kernel;
    let apart = find_apart_arguments(kernel, &state.launch);
    for region in kernel.regions.keys() {
        let mut body = std::mem::take(&mut kernel.regions[region]);
        transform::promote_places::promote_places(kernel, &mut body, &apart);
        kernel.regions[region] = body;
    }
}

/// Gives operands that are the same for all work-items of a group branches of their own, whatever the gangs are.
pub(super) fn split_conditions(state: &mut KernelState<'_>) {
    let kernel = &mut state.kernel;
    if !kernel.regions.values().any(has_joined_condition) {
        return;
    }
    let always = state.gangs.is_some_and(|gangs| gangs.pass_versions(PassSwitch::SplitConditions) == Versions::Always);
    let facts = Facts::of_groups(state.module, kernel).of_kernel(kernel);
    for body in kernel.regions.values_mut() {
        let divergence = analyze_region(body, &facts);
        transform::split_conditions::split_conditions(body, &divergence.shapes, &divergence.divergent_branches, always);
    }
}

pub(super) fn width_selection(state: &mut KernelState<'_>) {
    let Some(gangs) = state.gangs else { return };
    state.choice = gangs.width.is_none().then(|| choose_width(state, gangs));
    if let Some(choice) = state.choice.filter(|choice| !choice.is_profitable()) {
        return state.refuse_gangs(Reason::Cost(choice));
    }
    let shape = state
        .choice
        .map_or_else(|| asked_shape(state, gangs), |choice| GangShape { width: choice.width, layout: choice.layout });
    state.context = Some(state.gang_context(gangs, shape));
}

/// The gangs that somebody asked for, as far as work-items may lie so.
fn asked_shape(state: &KernelState<'_>, gangs: Gangs) -> GangShape {
    let width = gangs.width.unwrap_or(WIDTHS[0]);
    let layout = gangs.layout.filter(|&layout| may_lie(&state.kernel, &state.launch, layout, width));
    GangShape { width, layout: layout.unwrap_or_default() }
}

pub(super) fn interleave(state: &mut KernelState<'_>) {
    let Some(context) = &mut state.context else { return };
    transform::private_array_soa::interleave_slots(
        &mut state.kernel,
        context.facts.width,
        &context.facts.uniform_slots,
    );
    context.see_slots(&state.kernel);
}

pub(super) fn divergence(state: &mut KernelState<'_>) {
    let Some(context) = &state.context else { return };
    let is_alone = |region: Region| state.choice.is_some_and(|choice| choice.is_alone(region));
    for (region, body) in &state.kernel.regions {
        if is_alone(region) {
            notes::note_scalar(body, state.notes);
            state.regions.push(RegionState::scalar_region());
        } else {
            state.regions.push(RegionState::of_region(body, context));
        }
    }
}

/// Lays out where slots and kept values lie, and decides how lanes access memory.
pub(super) fn access_lowering(state: &mut KernelState<'_>) {
    let (Some(gangs), Some(context)) = (state.gangs, &state.context) else { return };
    let (kernel, width, layout) = (&state.kernel, context.facts.width, context.facts.layout);
    let storage = Storage::lay_out(kernel, width, layout);
    let row = context.tile.as_ref().map(|tile| tile.rows.width);
    let apart = find_apart_arguments(kernel, &state.launch);
    let is_tile = row.is_some();
    let (may_wait, configuration) = (may_wait(kernel), gangs.configuration);
    let held = HeldContext { kernel, storage: &storage, layout, is_tile, may_wait, configuration };
    let gang = GangAccess {
        target: state.request.target,
        width,
        row,
        may_wait,
        // In groups of several rows each is another page's. Rows of 64 bytes of groups of 16 x 16 took 2.5 times as long past
        // the caches.
        follows_others: matches!(layout, Layout::X | Layout::Linear) && !is_tile && state.launch.is_one_row(),
    };
    let region_context = RegionContext { held, gang, apart: &apart };
    for (region, body) in &kernel.regions {
        let plan = &mut state.regions[region].plan;
        if !plan.alone {
            plan.accesses = lower_accesses(body, plan, &region_context);
        }
    }
    state.storage = Some(storage);
}
