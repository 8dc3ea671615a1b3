//! The plan: what code generation needs to know to run a region for a gang of work-items at a time.
//!
//! A gang is W work-items in the lanes of SIMD registers: consecutive along one dimension, several rows of a group, or
//! consecutive by linear ids ([`lockstep_protocol::layout`]). This part is the plan, in terms of our IR; `codegen/vector` writes it
//! as LLVM IR.
//!
//! Requires: a kernel cut into regions.
//! Ensures: the regions are linearized (`Stage::Linearized`) but those in which one work-item runs after the other, and
//! each has a [`RegionPlan`]; or the kernel
//! means what it meant and there is the reason why its work-items run one after the other.
//! Phases: check what no gang can do; normal form; what differs between lanes; the layout of private slots;
//! per region versions for what the launch decides, groups of accesses, versions for lanes that agree, uniform loops,
//! gates, linearization and the shapes of what came out.
//! Source: Moll 2021, chapters 5 and 11; Karrenberg & Hack 2012, section 3.3.

pub mod access_lowering;
pub mod coherence_versions;
mod launch_versions;
mod notes;
pub mod value_form;
pub mod width_selection;

use crate::analysis::cfg::cfg;
use crate::analysis::cost::Registers;
use crate::analysis::divergence::{Divergence, Facts, divergence};
use crate::analysis::dominators::dominators;
use crate::analysis::loops::loops;
use crate::analysis::origins::apart;
use crate::analysis::run_by_some::run_by_some;
use crate::analysis::shape::Shape;
use crate::ir::{BinaryOp, Block, Function, InstData, InstNode, Kernel, Module, Region, UnaryOp, Value};
use crate::report::{Note, Notes};
use crate::transform::boscc::boscc;
use crate::transform::divergent_loops::divergent_loops;
use crate::transform::group_accesses::group_accesses;
use crate::transform::interleave::interleave;
use crate::transform::linearize::linearize;
use crate::transform::normalize::normalize;
use crate::transform::promote_places::promote_places;
use crate::transform::split_conditions::{has_joined_condition, split_conditions};
use crate::transform::trivial_branches::trivial_branches;
use crate::transform::unreachable_edges::remove_unreachable_edges;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, PrimaryMap, SecondaryMap};
use launch_versions::Together;
use lockstep_protocol::configuration::{Configuration, Gangs, Versions, WIDTHS};
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::layout::Layout;
use lockstep_protocol::pass_switches::PassSwitch;
use notes::Control;
use std::fmt;
use value_form::Form;
pub use width_selection::Choice;

/// The greatest alignment of a private slot of which each lane has its own.
pub const SLOT_ALIGN: u32 = 128;

/// Stack bytes that the code of gangs may take: spilled vectors add up, and the thread that calls may be one of the
/// application's.
const STACK_BYTES: u64 = 128 << 10;

/// The same where there is no other way to run: the gangs are sub-groups.
pub const MOST_STACK_BYTES: u64 = 512 << 10;

/// Why a kernel is not widened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// There are no gangs of so many work-items.
    Width(u32),
    /// One work-item after the other is expected to be faster.
    Cost(Choice),
    /// A private variable wants a greater alignment than one lane's copy can have.
    SlotAlignment(u32),
    /// The values that a gang keeps alive would take too much of the stack.
    StackFrame,
    /// Work-items may wait for each other.
    Waits,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Width(width) => write!(f, "gangs of {width} work-items are not supported"),
            Reason::Cost(choice) => choice.fmt(f),
            Reason::SlotAlignment(align) => write!(f, "a private variable is aligned to {align} bytes"),
            Reason::Waits => f.write_str("work-items may wait for each other in a loop"),
            Reason::StackFrame => f.write_str("the values of a gang take too much of the stack"),
        }
    }
}

/// How one region runs for a gang.
#[derive(Clone, Debug, Default)]
pub struct RegionPlan {
    /// How each value differs between lanes.
    pub shapes: SecondaryMap<Value, Shape>,
    /// How each value differs between the lanes of a tile's row; nothing is known for other gangs.
    pub runs: SecondaryMap<Value, Shape>,
    /// How each value differs between the lanes of a tile's column; nothing is known for other gangs.
    pub columns: SecondaryMap<Value, Shape>,
    /// The lanes that run a block: an `i1`; none: all that entered the region.
    pub masks: SecondaryMap<Block, PackedOption<Value>>,
    /// Blocks with a mask that run for a lane at least whenever they run.
    pub run_by_some: EntitySet<Block>,
    /// Values of which only the lanes that run their block are known to have the shape, where lane 0 of the operands
    /// does not tell.
    pub by_active: EntitySet<Value>,
    /// Work-items run the region one after the other, as it was before it was linearized: nothing else holds of it.
    pub alone: bool,
}

impl RegionPlan {
    /// How a value is held in registers.
    pub fn form(&self, body: &Function, value: Value) -> Form {
        match Form::of(body.ty(value), self.shapes[value]) {
            Form::Vector => match Form::of(body.ty(value), self.runs[value]) {
                Form::Affine(stride) => Form::Runs(stride),
                form => form,
            },
            form => form,
        }
    }
}

/// How a kernel runs in gangs.
#[derive(Clone, Debug)]
pub struct Widening {
    /// Work-items of a gang.
    pub width: u32,
    /// Which.
    pub layout: Layout,
    /// Stack bytes that their code may take.
    pub stack: u64,
    /// Lanes of a row, if they are tiles.
    pub run: Option<u32>,
    /// Why so many, and these, if nobody asked for them.
    pub choice: Option<Choice>,
    /// What was asked for.
    pub configuration: Configuration,
    /// Whether gangs with a work-item in every lane get code of their own.
    pub full_gangs: Versions,
    /// Per region how it runs.
    pub regions: PrimaryMap<Region, RegionPlan>,
}

/// Brings the regions of a kernel into the form that gangs of work-items need, and plans how they run in launches
/// of which the facts hold, on registers of `bits` bits.
pub fn plan_gangs(
    module: &Module,
    kernel: &mut Kernel,
    gangs: Gangs,
    bits: u32,
    launch: &LaunchFacts,
    notes: &Notes,
) -> Result<Widening, Reason> {
    let Gangs { configuration, width, .. } = gangs;
    let full_gangs = gangs.pass(PassSwitch::FullGangs);
    if let Some(width) = width.filter(|width| !WIDTHS.contains(width)) {
        return Err(Reason::Width(width));
    }
    if let Some(slot) = kernel.slots.values().find(|slot| slot.align > SLOT_ALIGN) {
        return Err(Reason::SlotAlignment(slot.align));
    }
    let apart = apart(kernel, launch);
    for region in kernel.regions.keys() {
        let mut body = std::mem::take(&mut kernel.regions[region]);
        remove_unreachable_edges(&mut body);
        normalize(&mut body);
        promote_places(kernel, &mut body, &apart);
        kernel.regions[region] = body;
    }
    if configuration == Configuration::UniCf && gangs.pass(PassSwitch::SplitConditions) != Versions::Never {
        split_group_conditions(module, kernel, gangs.pass(PassSwitch::SplitConditions) == Versions::Always);
    }
    let choice = width.is_none().then(|| width_selection::choose(module, kernel, gangs, bits, launch));
    if let Some(choice) = choice.filter(|choice| !choice.pays()) {
        return Err(Reason::Cost(choice));
    }
    let width = width.or(choice.map(|choice| choice.width)).unwrap_or(WIDTHS[0]);
    let asked =
        gangs.layout.filter(|&layout| width_selection::may_lie(kernel, launch, layout, width)).unwrap_or_default();
    let layout = choice.map_or(asked, |choice| choice.layout);
    let mut facts = Facts::new(module, kernel, width).laid_out(layout).of_launch(kernel, launch);
    facts.all_vary = configuration == Configuration::Naive;
    let mut facts = facts.of_kernel(kernel);
    if configuration != Configuration::Naive {
        interleave(kernel, width, &facts.uniform_slots);
        facts.see_slots(kernel);
    }
    let run = layout.run(launch, width);
    let runs = run.map(|row| facts.of_runs(row));
    let plan = |(region, body): (Region, &mut Function)| {
        if choice.is_some_and(|choice| choice.is_alone(region)) {
            notes::alone(body, notes);
            return RegionPlan { alone: true, ..RegionPlan::default() };
        }
        plan_region(body, &facts, runs.as_ref(), gangs, bits, notes)
    };
    let regions = kernel.regions.iter_mut().map(plan).collect();
    let widening = Widening { width, layout, stack: STACK_BYTES, run, choice, configuration, full_gangs, regions };
    notes::private(kernel, &widening, notes);
    Ok(widening)
}

/// Gives operands that are the same for all work-items of a group branches of their own, whatever the gangs are.
fn split_group_conditions(module: &Module, kernel: &mut Kernel, always: bool) {
    if kernel.regions.values().any(has_joined_condition) {
        let facts = Facts::of_groups(module, kernel).of_kernel(kernel);
        for body in kernel.regions.values_mut() {
            let found = analyse(body, &facts);
            split_conditions(body, &found.shapes, &found.divergent_branches, always);
        }
    }
}

fn plan_region(
    body: &mut Function,
    facts: &Facts,
    runs: Option<&Facts>,
    gangs: Gangs,
    bits: u32,
    notes: &Notes,
) -> RegionPlan {
    let configuration = gangs.configuration;
    let registers = Registers { bits, width: facts.width };
    let mut before = analyse(body, facts);
    match runs {
        None => {
            if let Some(found) =
                launch_versions::split_choices(body, Together { lanes: facts, tile: None }, &before, gangs, notes)
            {
                before = found;
            }
            if let Some(walks) = launch_versions::walks(body, &before, facts.width, gangs) {
                for (rounds, loc) in walks.rounds(body) {
                    let detail = format!("{rounds} at once, as lanes walk along memory in places of their own");
                    notes.add(|| Note { loc, kind: "version", class: "rounds".into(), masked: false, detail });
                }
                walks.apply(body);
                before = analyse(body, facts);
            }
            group_accesses(body, &before.shapes, &facts.roots(body), facts.width, false);
        }
        // Accesses are those of a row.
        Some(runs) => {
            let mut rows = analyse(body, runs);
            if let Some(found) =
                launch_versions::split_choices(body, Together { lanes: runs, tile: Some(facts) }, &rows, gangs, notes)
            {
                rows = found;
                before = analyse(body, facts);
            }
            group_accesses(body, &rows.shapes, &facts.roots(body), runs.width, true);
        }
    }
    let found = (configuration == Configuration::UniCf).then_some(&before);
    let control = notes.wanted().then(|| Control::of(body, found));
    if configuration == Configuration::UniCf {
        before = coherence_versions::versions(body, facts, before, gangs, registers, notes);
    }
    let mut divergent = match configuration {
        Configuration::UniCf => before.divergent_branches,
        _ => every_branch(body),
    };
    let mut loops = divergent_loops(body, &mut divergent);
    trivial_branches(body, &loops.flow, &mut divergent);
    if matches!(configuration, Configuration::Boscc | Configuration::UniCf) {
        let arms = boscc(body, &mut loops, &mut divergent, &before.shapes, registers, gangs.pass(PassSwitch::Gates));
        notes::note_gates(body, &arms, notes);
    }
    linearize(body, &loops.flow, &divergent, &loops.tracked);
    let shapes = analyse(body, facts).shapes;
    let by_active = shaped_by_active(body, facts, &shapes);
    let run_by_some = run_by_some(body);
    let columns = runs.map(|runs| facts.of_columns(facts.width / runs.width));
    let [runs, columns] =
        [runs, columns.as_ref()].map(|facts| facts.map(|facts| analyse(body, facts).shapes).unwrap_or_default());
    let plan = RegionPlan { shapes, runs, columns, masks: body.masks.clone(), run_by_some, by_active, alone: false };
    if let Some(control) = control {
        control.note(body, &plan, notes);
    }
    plan
}

/// Whether lane 0 of the operands gives lane 0 of the result wherever lanes wrap.
fn wraps_alike(data: &InstData) -> bool {
    use BinaryOp::{Add, Mul, Shl, Sub};
    match data {
        InstData::Binary { op, .. } => matches!(op, Add | Sub | Mul | Shl),
        InstData::Unary { op, .. } => matches!(op, UnaryOp::Trunc | UnaryOp::Freeze | UnaryOp::SpaceCast),
        _ => matches!(data, InstData::PtrAdd { .. }),
    }
}

/// The values that have their shape because of what the program promises (`nsw`, `nuw`) where not all lanes come. A
/// lane that does not come may be off the line: what wraps there is beyond any promise.
fn shaped_by_active(body: &Function, facts: &Facts, shapes: &SecondaryMap<Value, Shape>) -> EntitySet<Value> {
    let mut found = EntitySet::new();
    let masked = || body.layout.iter().filter(|&&block| body.masks[block].is_some());
    let insts = || masked().flat_map(|&block| &body.blocks[block].insts).map(|&inst| &body.insts[inst]);
    let promises = |node: &InstNode| match node.data {
        InstData::Binary { flags, .. } => (flags.nsw || flags.nuw) && !shapes[node.results[0]].is_varying(),
        _ => false,
    };
    if insts().any(promises) {
        let mut facts = facts.clone();
        facts.promises_bind = false;
        let certain = analyse(body, &facts).shapes;
        for &result in insts().filter(|node| !wraps_alike(&node.data)).flat_map(|node| &node.results) {
            if !shapes[result].is_varying() && shapes[result].stride() != certain[result].stride() {
                found.insert(result);
            }
        }
    }
    found
}

pub(crate) fn analyse(body: &Function, facts: &Facts) -> Divergence {
    let graph = cfg(body);
    let forest = loops(&graph, &dominators(&graph));
    divergence(body, facts, &graph, &forest)
}

fn every_branch(body: &Function) -> EntitySet<Block> {
    let mut found = EntitySet::new();
    for &block in &body.layout {
        if body.blocks[block].term.selector().is_some() {
            found.insert(block);
        }
    }
    found
}
