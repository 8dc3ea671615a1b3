//! The ways to run a kernel, each of which must do what the interpreter does, one work-item after the other.

use crate::code::{Code, Side};
use lockstep_ir::analysis::cfg::build_cfg;
use lockstep_ir::analysis::no_wrap_stride::find_no_wrap_strides;
use lockstep_ir::interp::{Memory, PlannedGangs, run_limited, run_planned};
use lockstep_ir::ir::{Function, InstData, Kernel, Module, Region, Value};
use lockstep_ir::plan::{Reason, RegionPlan};
use lockstep_ir::report::{Notes, Report};
use lockstep_ir::target::TargetInfo;
use lockstep_ir::testing::Generated;
use lockstep_ir::testing::{plan_calls, plan_gangs, plan_profiled_gangs};
use lockstep_ir::transform::barriers::{barriers_within, cut_at_barriers};
use lockstep_ir::transform::uniform_live_values::uniform_live_values;
use lockstep_ir::verify::{Stage, verify_kernel, verify_module};
use lockstep_protocol::compile_options::Bounds;
use lockstep_protocol::compile_options::{CompileOptions, Tier, Vectorize};
use lockstep_protocol::configuration::{Configuration, Gangs, Versions};
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::layout::Layout;
use lockstep_protocol::loop_profile::{LoopCounts, LoopProfile, MOST_COUNTED_LOOPS};
use lockstep_protocol::pass_switches::PassSwitch;
use lockstep_protocol::scalar_replacement::ScalarReplacement;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Steps that a kernel may take: random ones take far fewer, if also some millions where all is linearized, and those that lost the end of a loop are to be noticed.
const STEPS: u64 = 100_000_000;

/// Bits of the registers that plans for the lock-step interpreter are made for.
const REGISTER_BITS: u32 = 512;

/// The work-items of a gang in plans that are looked at.
const WIDTH: u32 = 8;

/// A way to run a kernel.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    /// Linearized, in the lock-step interpreter in gangs of `lanes`.
    Lockstep { gangs: Gangs, loops: LoopProfile, lanes: usize, regions: Bounds },
    /// As machine code, in registers of at most so many bits.
    Machine { vectorize: Vectorize, loops: LoopProfile, effort: Effort, simd: Option<u32>, regions: Bounds },
}

/// How much LLVM does for machine code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effort {
    /// As little as possible.
    Disabled,
    /// That of a tier.
    Of(Tier),
}

impl Effort {
    /// That of a kernel made from a seed: one in eight is of the last tier, which takes longest.
    pub fn of_seed(seed: u64) -> Effort {
        match (seed.is_multiple_of(8), seed / 8 % 2) {
            (true, _) => Effort::Of(Tier::Optimized),
            (false, 0) => Effort::Of(Tier::Baseline),
            (false, _) => Effort::Disabled,
        }
    }
}

impl Way {
    /// Linearized with everything varying and with what the analyses find, in gangs of 1 to 16; then with versions for
    /// lanes that agree and with barriers that share regions; then with branches fused and loops flattened. Nothing is made for gangs of one, but what is made for two holds for them too.
    pub fn lockstep(layout: Layout) -> Vec<Way> {
        let way = |gangs: Gangs, lanes: u32| {
            let width = Some(lanes.max(2));
            let regions = bounds_of(gangs);
            let loops = if gangs == versioned() && lanes > 2 { few_at_work() } else { LoopProfile::Unknown };
            let gangs = Gangs { width, layout: Some(layout), ..gangs };
            Way::Lockstep { gangs, loops, lanes: lanes as usize, regions }
        };
        let mut ways = Vec::new();
        for gangs in [Gangs { configuration: Configuration::Naive, ..Gangs::default() }, Gangs::default()] {
            ways.extend([1, 2, 4, 8, 16].map(|lanes| way(gangs, lanes)));
        }
        ways.extend([1, 2, 4, 16].map(|lanes| way(versioned(), lanes)));
        ways.extend([2, 8].map(|lanes| way(fused(), lanes)));
        ways
    }

    /// Machine code: scalar; naive, with all the analyses, with versions for lanes that agree, where barriers share
    /// regions, and with branches fused and loops flattened, for gangs of `width` in a layout; and what the estimate chooses, for each region by itself.
    pub fn machine(width: u32, layout: Layout, effort: Effort, simd: Option<u32>) -> Vec<Way> {
        let naive = Gangs { configuration: Configuration::Naive, ..Gangs::default() };
        let gangs = [naive, Gangs::default(), versioned(), fused()]
            .map(|gangs| Vectorize::Gangs(Gangs { width: Some(width), layout: Some(layout), ..gangs }));
        let all = [Vectorize::Scalar, Vectorize::Gangs(Gangs::default())].into_iter().chain(gangs);
        let way = |vectorize| {
            let regions = match vectorize {
                Vectorize::Gangs(gangs) => bounds_of(gangs),
                Vectorize::Scalar => Bounds::default(),
            };
            let may_count = matches!(vectorize, Vectorize::Gangs(gangs) if gangs.configuration == Configuration::UniCf);
            let loops = match vectorize {
                Vectorize::Gangs(gangs) if bounds_of(gangs).few_insts == 0 && width > 4 => few_at_work(),
                _ if may_count => LoopProfile::Count,
                _ => LoopProfile::Unknown,
            };
            Way::Machine { vectorize, loops, effort, simd, regions }
        };
        all.map(way).collect()
    }

    /// Why the kernel, run this way in a launch of which the facts hold, does not leave what is expected; none: it does.
    pub fn fault(&self, g: &Generated, launch: LaunchFacts, expected: &[Vec<u8>]) -> Option<String> {
        let run = || match *self {
            Way::Lockstep { gangs, loops, lanes, regions } => lockstep(g, gangs, loops, lanes, regions, &launch),
            Way::Machine { vectorize, loops, effort, simd, regions } => {
                let opt_disable = effort == Effort::Disabled;
                let tier = if let Effort::Of(tier) = effort { tier } else { Tier::default() };
                // Where barriers share regions at once, these are functions as well.
                let region_functions = if regions.few_insts == 0 { Versions::Always } else { Versions::WherePays };
                // The form that moves most loads, where code has all its versions.
                let scalar_replacement = match region_functions {
                    Versions::Always => ScalarReplacement::SsrqpS,
                    _ => ScalarReplacement::default(),
                };
                let of_barriers =
                    CompileOptions { regions, region_functions, scalar_replacement, ..CompileOptions::default() };
                let dump = std::env::var_os("LOCKSTEP_TEST_DUMP").map(Into::into);
                let options = CompileOptions { tier, vectorize, launch, loops, opt_disable, simd, dump, ..of_barriers };
                let name = &g.module.kernels[0].name;
                let code = Code::compile(&g.module, name, &options)?;
                // Without optimisation all values of wide gangs lie on the stack.
                let spilled = opt_disable && code.compiled.reason() == Some(Reason::StackFrame);
                let free = matches!(vectorize, Vectorize::Gangs(Gangs { width: None, .. }));
                let chosen = free && matches!(code.compiled.reason(), Some(Reason::Cost(_)));
                if let Some(reason) = code.compiled.reason().filter(|_| !spilled && !chosen) {
                    return Err(reason.to_string());
                }
                // Pages that stop the code lie behind the buffers, or before them.
                let side = if opt_disable { Side::Rear } else { Side::Front };
                let mut memory = Memory::new(g.buffers.clone());
                code.run(&format!("{name}, {options:?}"), &g.range, &g.args, &mut memory, side)?;
                Ok(memory.buffers)
            }
        };
        let panicked = |_| Err("the compiler panicked".to_owned());
        match catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(panicked) {
            Ok(found) if found == expected => None,
            Ok(_) => Some("other results".to_owned()),
            Err(reason) => Some(reason),
        }
    }
}

/// What the buffers hold when each work-item ran by itself.
pub fn expected(g: &Generated) -> Result<Vec<Vec<u8>>, String> {
    verify_module(&g.module, Stage::Imported).map_err(|errors| errors[0].to_string())?;
    let mut memory = Memory::new(g.buffers.clone());
    let name = &g.module.kernels[0].name;
    let ran = run_limited(&g.module, name, &g.range, &g.args, &mut memory, STEPS);
    ran.map(|_| memory.buffers).map_err(|error| error.to_string())
}

/// What becomes of a kernel in gangs, with versions wherever it can have some.
pub struct Planned {
    pub report: String,
    /// The report where branches are fused and loops flattened wherever that is possible.
    pub report_of_fusion: String,
    /// Accesses to several elements that were none before, or not to as many.
    pub groups: usize,
    /// Loads and stores of which the lanes lie on a line unless an index wraps.
    pub on_lines: usize,
}

pub fn planned(g: &Generated) -> Planned {
    let mut kernel = g.module.kernels[0].clone();
    cut_at_barriers(&mut kernel);
    uniform_live_values(&g.module, &mut kernel);
    let plan = |gangs: Gangs, notes: &Notes| {
        let mut kernel = kernel.clone();
        let widening = plan_gangs(
            &g.module,
            &mut kernel,
            gangs,
            TargetInfo::of_bits(REGISTER_BITS),
            &LaunchFacts::default(),
            notes,
        );
        (kernel, widening.unwrap())
    };
    let [notes, notes_of_fusion] = [(); 2].map(|()| Notes::new(true));
    let gangs = Gangs::of_width(WIDTH);
    plan(gangs.with_versions(Versions::Always), &notes);
    let fused = [PassSwitch::BranchFusion, PassSwitch::LoopFlattening];
    plan(fused.into_iter().fold(gangs, |gangs, switch| gangs.with_pass(switch, Versions::Always)), &notes_of_fusion);
    let (planned, widening) = plan(gangs.with_versions(Versions::Never), &Notes::default());
    let report = |notes: Notes| Report::new("", "", (WIDTH, "along x"), String::new(), notes).unwrap().to_string();
    let on_lines = |(region, plan): (Region, &RegionPlan)| {
        let function = &planned.regions[region];
        let lines = find_no_wrap_strides(function, build_cfg(function).reverse_post_order(), &plan.shapes, WIDTH);
        accesses(function).filter(|&(pointer, _)| lines[pointer].is_some()).count()
    };
    Planned {
        report: report(notes),
        report_of_fusion: report(notes_of_fusion),
        groups: wide_accesses(&planned).saturating_sub(wide_accesses(&kernel)),
        on_lines: widening.regions.iter().map(on_lines).sum(),
    }
}

/// The addresses of a region's loads and stores, and how many elements each moves.
fn accesses(function: &Function) -> impl Iterator<Item = (Value, usize)> {
    let insts = function.layout.iter().flat_map(|&block| &function.blocks[block].insts);
    insts.filter_map(|&inst| match &function.insts[inst].data {
        InstData::Load { pointer, .. } => Some((*pointer, function.insts[inst].results.len())),
        InstData::Store { pointer, arguments, .. } => Some((*pointer, arguments.len())),
        _ => None,
    })
}

fn wide_accesses(kernel: &Kernel) -> usize {
    kernel.regions.values().flat_map(accesses).filter(|&(_, elements)| elements > 1).count()
}

/// Versions of all code that can have some, but none for full gangs, and gates in front of all arms.
fn versioned() -> Gangs {
    Gangs::default()
        .with_versions(Versions::Always)
        .with_pass(PassSwitch::FullGangs, Versions::Never)
        .with_pass(PassSwitch::Gates, Versions::Always)
}

/// Branches fused and loops flattened wherever that is possible, and gates in front of what is left, but for loops: those have masks.
fn fused() -> Gangs {
    Gangs::default()
        .with_pass(PassSwitch::LoopFlattening, Versions::Always)
        .with_pass(PassSwitch::LoopGates, Versions::Never)
        .with_pass(PassSwitch::BranchFusion, Versions::Always)
        .with_pass(PassSwitch::Gates, Versions::Always)
}

/// Of each loop that is counted, that one lane was at work in an iteration.
pub fn few_at_work() -> LoopProfile {
    let counts = LoopCounts { entries: 100, lane_entries: 1600, gang_iterations: 1000, lane_iterations: 1000 };
    LoopProfile::Counted([counts; MOST_COUNTED_LOOPS])
}

/// Regions that barriers share as soon as a block would stand in two of them, where code has all its versions.
pub fn bounds_of(gangs: Gangs) -> Bounds {
    match gangs.pass_versions(PassSwitch::CoherentBranches) {
        Versions::Always => Bounds { few_insts: 0, most_copies: 1 },
        _ => Bounds::default(),
    }
}

fn lockstep(
    g: &Generated,
    gangs: Gangs,
    loops: LoopProfile,
    lanes: usize,
    regions: Bounds,
    launch: &LaunchFacts,
) -> Result<Vec<Vec<u8>>, String> {
    let mut kernel = g.module.kernels[0].clone();
    barriers_within(&mut kernel, regions);
    uniform_live_values(&g.module, &mut kernel);
    let (target, notes) = (TargetInfo::of_bits(REGISTER_BITS), Notes::default());
    let planned = plan_profiled_gangs(&g.module, &mut kernel, gangs, loops, target, launch, &notes);
    let widening = planned.map_err(|reason| reason.to_string())?;
    let forms = plan_calls((&g.module, &kernel, &widening), gangs, target, launch, &notes);
    verify_kernel(&g.module, &kernel, Stage::Linearized).map_err(|errors| errors[0].to_string())?;
    let module = Module { kernels: vec![kernel], ..g.module.clone() };
    let mut memory = Memory::new(g.buffers.clone());
    let planned = PlannedGangs { gang_width: lanes, widening: &widening, forms: &forms };
    let ran = run_planned(&module, &module.kernels[0].name, &g.range, &g.args, &mut memory, STEPS, planned);
    ran.map(|_| memory.buffers).map_err(|error| format!("{error}\n{module}"))
}
