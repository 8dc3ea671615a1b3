//! The kernels of the suite, compiled up to the divergence analysis, and the launches of its cases.

use std::collections::HashMap;

use lockstep_benches::case::{Arg, Case, Step};
use lockstep_compiler::frontend::{FrontendConfig, compile_source, link_program};
use lockstep_compiler::{machine_code, pipeline};
use lockstep_ir::interp;
use lockstep_ir::ir::{Kernel, Module};
use lockstep_ir::plan::kernel_state::{KernelState, Request};
use lockstep_ir::plan::pass_runner::run_passes;
use lockstep_ir::plan::passes::{PASSES, Pass};
use lockstep_ir::report::{Notes, Report};
use lockstep_ir::transform::branch_fusion::Refusal;
use lockstep_protocol::build_options::{BuildOptions, Stage};
use lockstep_protocol::compile_options::{Bounds, Vectorize};
use lockstep_protocol::configuration::Gangs;
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::layout::GangShape;
use lockstep_protocol::loop_profile::LoopProfile;
use lockstep_protocol::scalar_replacement::ScalarReplacement;

/// Work-items of a gang, as many as a vector of 512 bits has floats.
const WIDTH: u32 = 16;

/// A kernel as the divergence analysis gets it.
pub struct Subject {
    /// The kernel is the only one of its program.
    pub module: Module,
    /// Which work-items are the lanes of a gang.
    pub gang: GangShape,
    /// Divergent branches with two sides that meet: Coutinho et al., Definition 4.1.
    pub unifiable: usize,
    /// Those that branch fusion merged.
    pub fused: usize,
}

impl Subject {
    /// The kernel of the module.
    pub fn sole_kernel(&self) -> &Kernel {
        &self.module.kernels[0]
    }
}

/// A launch of one of the suite's kernels.
pub struct Launch {
    /// The kernel's place in the suite.
    pub subject: usize,
    /// What each of the kernel's parameters gets, in their order.
    pub arguments: Vec<interp::Arg>,
    /// Work-items in each dimension.
    pub global: Vec<u64>,
    /// Work-items of a group in each dimension.
    pub local: Vec<u64>,
}

/// A case's launches, and the buffers that they begin with.
pub struct CaseLaunches {
    /// The case's name.
    pub name: &'static str,
    /// What is in the buffers.
    pub buffers: Vec<Vec<u8>>,
    /// The launches in their order. What is launched again in the same way is here once.
    pub launches: Vec<Launch>,
}

impl CaseLaunches {
    /// The most arguments that a launch has.
    pub fn count_arguments(&self) -> usize {
        self.launches.iter().map(|launch| launch.arguments.len()).max().unwrap_or(0)
    }
}

/// All that is compared.
#[derive(Default)]
pub struct Suite {
    /// The kernels, each once.
    pub subjects: Vec<Subject>,
    /// The cases that launch them.
    pub cases: Vec<CaseLaunches>,
}

impl Suite {
    /// Compiles the kernels of cases. Those on images are left out, which the interpreter has none of.
    pub fn of_cases(cases: &[&'static Case]) -> Result<Suite, String> {
        let mut builder = SuiteBuilder::default();
        for case in cases {
            builder.add_case(case).map_err(|error| format!("{}: {error}", case.name))?;
        }
        Ok(builder.suite)
    }
}

#[derive(Default)]
struct SuiteBuilder {
    suite: Suite,
    programs: HashMap<&'static str, Module>,
    /// By source and kernel.
    places: HashMap<(&'static str, &'static str), usize>,
}

impl SuiteBuilder {
    fn add_case(&mut self, case: &'static Case) -> Result<(), String> {
        let problem = (case.problem)();
        if problem.buffers.iter().any(|data| data.image.is_some()) {
            return Ok(());
        }
        let mut launches: Vec<Launch> = Vec::new();
        for step in &problem.steps {
            let subject = self.find_subject(case.source, step.kernel)?;
            let launch = self.launch_of_step(step, subject);
            let is_same = |other: &Launch| {
                let Launch { subject, arguments, global, local } = other;
                (*subject, arguments, global, local)
                    == (launch.subject, &launch.arguments, &launch.global, &launch.local)
            };
            if !launches.iter().any(is_same) {
                launches.push(launch);
            }
        }
        let buffers = problem.buffers.into_iter().map(|data| data.bytes).collect();
        self.suite.cases.push(CaseLaunches { name: case.name, buffers, launches });
        Ok(())
    }

    /// A kernel's place in the suite; it is compiled when it is first asked for.
    fn find_subject(&mut self, source: &'static str, kernel: &'static str) -> Result<usize, String> {
        if let Some(&place) = self.places.get(&(source, kernel)) {
            return Ok(place);
        }
        if !self.programs.contains_key(source) {
            self.programs.insert(source, load_program(source)?);
        }
        self.suite.subjects.push(prepare_subject(&self.programs[source], kernel)?);
        let place = self.suite.subjects.len() - 1;
        self.places.insert((source, kernel), place);
        Ok(place)
    }

    fn launch_of_step(&self, step: &Step, subject: usize) -> Launch {
        let argument = |argument: &Arg| match argument {
            Arg::Buffer(number) => interp::Arg::Buffer(*number),
            Arg::Value(bytes) => interp::Arg::Value(bytes.clone()),
            Arg::Local(size) => interp::Arg::Local(*size as u64),
        };
        let global: Vec<u64> = step.global.iter().map(|&size| size as u64).collect();
        let required = self.suite.subjects[subject].sole_kernel().attrs.reqd_work_group_size;
        let local = match (required, step.local.is_empty()) {
            (Some(size), _) => size[..global.len()].iter().map(|&size| size.into()).collect(),
            // Rows that hold gangs; the driver would choose by the kernel.
            (None, true) => [64, 1, 1][..global.len()].to_vec(),
            (None, false) => step.local.iter().map(|&size| size as u64).collect(),
        };
        Launch { subject, arguments: step.arguments.iter().map(argument).collect(), global, local }
    }
}

/// Compiles a source to our IR.
fn load_program(source: &str) -> Result<Module, String> {
    let options = BuildOptions::parse("", Stage::Build).map_err(|error| error.to_string())?;
    let config = FrontendConfig { source_lines: true, ..FrontendConfig::default() };
    let object = compile_source(&config, source.as_bytes(), &[], &options).map_err(|error| error.to_string())?;
    let program = link_program(&[&object], &options).map_err(|error| error.to_string())?;
    pipeline::load(&program).map_err(|error| error.to_string())
}

/// The passes up to the divergence analysis, and branch fusion after it. Private variables stay where they are, as the interpreter runs
/// one work-item after the other.
fn passes_of_subjects() -> Vec<Pass> {
    let last = PASSES.iter().position(|pass| pass.name == "divergence").expect("it is in the table");
    let wanted = PASSES[..=last].iter().filter(|pass| pass.name != "private_array_soa");
    wanted.chain(PASSES.iter().filter(|pass| pass.name == "branch_fusion")).copied().collect()
}

/// A kernel as it is when its divergence is analysed, for launches of which nothing is known.
fn prepare_subject(program: &Module, name: &str) -> Result<Subject, String> {
    let kernel = program.kernels.iter().find(|kernel| kernel.name == name).ok_or(format!("no kernel {name}"))?;
    let request = Request {
        vectorize: Vectorize::Gangs(Gangs::of_width(WIDTH)),
        target: machine_code::host_target(None),
        bounds: Bounds::default(),
        loops: LoopProfile::default(),
        scalar_replacement: ScalarReplacement::default(),
        only_needed: false,
        against: None,
    };
    let table = passes_of_subjects();
    let (before_fusion, fusion) = table.split_at(table.len() - 1);
    let notes = Notes::new(true);
    let mut state = KernelState::new(program, kernel.clone(), &LaunchFacts::default(), request, &notes, before_fusion);
    run_passes(&mut state, &mut ()).map_err(|error| error.to_string())?;
    let analysed = state.kernel.clone();
    let Some(context) = &state.context else { return Err(format!("{name} does not run in gangs: {:?}", state.reason)) };
    let gang = GangShape { width: context.facts.width, layout: context.facts.layout };
    state.table = fusion;
    run_passes(&mut state, &mut ()).map_err(|error| error.to_string())?;
    let (unifiable, fused) = count_fusions(name, notes);
    let module = Module { kernels: vec![analysed], ..program.clone() };
    Ok(Subject { module, gang, unifiable, fused })
}

/// How many divergent branches have two sides that meet, and how many of them were fused.
fn count_fusions(name: &str, notes: Notes) -> (usize, usize) {
    let report = Report::new(name, "", (WIDTH, ""), String::new(), notes).expect("notes are kept");
    let fused = report.notes.iter().filter(|note| note.class == "fused").count();
    let do_not_meet = Refusal::Exits.to_string();
    let refused = report.notes.iter().filter(|note| note.kind == "fusion" && note.detail != do_not_meet).count();
    (fused + refused, fused)
}
