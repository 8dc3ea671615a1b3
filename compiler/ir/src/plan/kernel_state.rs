//! A kernel on its way through the passes.

use super::notes;
use super::pass::{Pass, Phase};
use super::region_state::{GangContext, RegionState};
use super::storage::Storage;
use super::widening::{MOST_STACK_BYTES, Reason, STACK_BYTES, Widening};
use super::width_choice::WidthChoice;
use crate::analysis::divergence::Facts;
use crate::analysis::shape::Shape;
use crate::analysis::work_group_dependence::needs_groups;
use crate::ir::{Kernel, Module, Region};
use crate::report::Notes;
use crate::target::TargetInfo;
use cranelift_entity::PrimaryMap;
use lockstep_protocol::compile_options::{Bounds, Vectorize};
use lockstep_protocol::configuration::{Configuration, Gangs, Versions};
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::layout::GangShape;
use lockstep_protocol::loop_profile::LoopProfile;
use lockstep_protocol::pass_switches::PassSwitch;
use lockstep_protocol::scalar_replacement::ScalarReplacement;

/// What passes know of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ProgramFacts {
    /// The program promises that none of its sub-groups waits for another.
    pub sub_groups_never_wait: bool,
}

/// What is asked of a kernel's code.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Whether work-items run in gangs.
    pub vectorize: Vectorize,
    /// The registers and instructions of the machine that code is for.
    pub target: TargetInfo,
    /// How much regions may copy.
    pub bounds: Bounds,
    /// What is known of the kernel's loops.
    pub loops: LoopProfile,
    /// Where loads make way for values that earlier accesses left.
    pub scalar_replacement: ScalarReplacement,
    /// Only passes run that code has to have.
    pub only_needed: bool,
    /// Why work-items are to run one after the other, if that is known before.
    pub against: Option<Reason>,
}

/// A kernel for launches of which certain facts hold, and what passes have found.
pub struct KernelState<'a> {
    /// The program that the kernel is of.
    pub module: &'a Module,
    /// The kernel as it is now.
    pub kernel: Kernel,
    /// What holds of the launches.
    pub launch: LaunchFacts,
    /// What is asked for.
    pub request: Request,
    /// Where decisions are noted.
    pub notes: &'a Notes,
    /// The passes, which the estimate of widths runs as well.
    pub table: &'a [Pass],
    /// Of a function, the shapes of what its calls pass; kernels have none.
    pub passed_shapes: Vec<Shape>,
    /// How work-items run in gangs; none: they do not.
    pub gangs: Option<Gangs>,
    /// Gangs are sub-groups.
    pub sub_groups: bool,
    /// Why work-items run one after the other that were to run in gangs.
    pub reason: Option<Reason>,
    /// What gangs are expected to cost, if nobody asked for a width.
    pub choice: Option<WidthChoice>,
    /// What is known of the gangs, from when their width is.
    pub context: Option<GangContext<'a>>,
    /// What is known of each region, from when it was first analysed.
    pub regions: PrimaryMap<Region, RegionState>,
    /// Where slots and kept values lie, from when that is known.
    pub storage: Option<Storage>,
}

impl<'a> KernelState<'a> {
    /// A kernel of which nothing has been found out.
    pub fn new(
        module: &'a Module,
        kernel: Kernel,
        launch_facts: &LaunchFacts,
        request: Request,
        notes: &'a Notes,
        table: &'a [Pass],
    ) -> KernelState<'a> {
        // The launch says what groups there are where the kernel cannot tell.
        let required = kernel.attrs.reqd_work_group_size.filter(|_| needs_groups(&kernel));
        KernelState {
            module,
            launch: launch_facts.with_required(required),
            kernel,
            request,
            notes,
            table,
            gangs: match request.vectorize {
                Vectorize::Scalar => None,
                Vectorize::Gangs(gangs) => Some(gangs),
            },
            passed_shapes: Vec::new(),
            sub_groups: false,
            reason: None,
            choice: None,
            context: None,
            regions: PrimaryMap::new(),
            storage: None,
        }
    }

    /// What is known of such gangs of the kernel, which is in normal form.
    pub fn gang_context(&self, gangs: Gangs, shape: GangShape) -> GangContext<'a> {
        let KernelState { module, kernel, launch, request, notes, .. } = self;
        let gang_facts = Facts::new(module, kernel, shape.width).with_passed(kernel, &self.passed_shapes);
        let gang_facts = gang_facts.laid_out(shape.layout);
        let mut gang_facts = gang_facts.of_launch(kernel, launch);
        gang_facts.all_vary = gangs.configuration == Configuration::Naive;
        GangContext::of_facts(gang_facts.of_kernel(kernel), gangs, request.target, launch, notes)
    }

    /// Whether a pass is to run.
    pub fn wants(&self, pass: &Pass) -> bool {
        (pass.is_needed || !self.request.only_needed)
            && match pass.phase {
                Phase::Program => false,
                Phase::Kernel => self.gangs.is_none_or(|gangs| suits_gangs(pass, gangs)),
                Phase::Gangs | Phase::Regions => self.gangs.is_some_and(|gangs| suits_gangs(pass, gangs)),
            }
    }

    /// Has work-items run one after the other.
    pub fn refuse_gangs(&mut self, reason: Reason) {
        self.reason = Some(reason);
        self.gangs = None;
    }

    /// The kernel, and how it runs in gangs if it does.
    pub fn finish(self) -> (Kernel, Option<Widening>) {
        let KernelState { kernel, gangs, sub_groups, choice, context, regions, storage, notes, .. } = self;
        let (Some(gangs), Some(context), Some(storage)) = (gangs, context, storage) else { return (kernel, None) };
        let widening = Widening {
            width: context.facts.width,
            layout: context.facts.layout,
            stack: if sub_groups { MOST_STACK_BYTES } else { STACK_BYTES },
            run: context.tile.as_ref().map(|tile_facts| tile_facts.rows.width),
            choice,
            configuration: gangs.configuration,
            storage,
            full_gangs: gangs.pass_versions(PassSwitch::FullGangs),
            regions: regions.into_iter().map(|(_, region_state)| region_state.plan).collect(),
        };
        notes::note_private_layout(&kernel, &widening, notes);
        (kernel, Some(widening))
    }
}

/// Whether gangs have a pass.
pub(super) fn suits_gangs(pass: &Pass, gangs: Gangs) -> bool {
    let is_on = |&switch: &PassSwitch| gangs.pass_versions(switch) != Versions::Never;
    gangs.configuration >= pass.least && (pass.switches.is_empty() || pass.switches.iter().any(is_on))
}
