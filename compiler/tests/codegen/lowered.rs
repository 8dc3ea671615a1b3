//! A kernel's code as LLVM IR and its report, for a machine that the test names: nothing here depends on the one it runs on.

use lockstep_compiler::codegen::{CodeOptions, Context, PlannedKernel, generate_kernel};
use lockstep_compiler::machine_code::ir_text;
use lockstep_ir::ir::Module;
use lockstep_ir::plan::function_forms::FunctionForms;
use lockstep_ir::report::{Notes, Report};
use lockstep_ir::target::TargetInfo;
use lockstep_ir::testing::plan_gangs;
use lockstep_ir::transform::barriers::cut_at_barriers;
use lockstep_protocol::configuration::{Gangs, Versions};
use lockstep_protocol::launch_facts::LaunchFacts;
use std::cell::Cell;

/// What became of a kernel.
pub struct Lowered {
    /// Its code before LLVM's passes.
    pub llvm: String,
    /// What the report says.
    pub report: Report,
    /// Work-items of a gang.
    pub width: u32,
    /// Lanes of a row, if gangs are tiles.
    pub row: Option<u32>,
}

/// Plans the first kernel of a program and generates its code.
pub fn lower_kernel(module: &Module, gangs: Gangs, target: TargetInfo, launch: &LaunchFacts) -> Lowered {
    let mut kernel = module.kernels[0].clone();
    cut_at_barriers(&mut kernel);
    let notes = Notes::new(true);
    let widening = plan_gangs(module, &mut kernel, gangs, target, launch, &notes)
        .unwrap_or_else(|reason| panic!("no gangs: {reason}\n{kernel}"));
    let options =
        CodeOptions { launch, target, region_functions: Versions::Never, place: Cell::default(), debug: false };
    let context = Context::create();
    let forms = FunctionForms::default();
    let planned = PlannedKernel { kernel: &kernel, widening: Some(&widening), forms: &forms };
    let generated = generate_kernel(&context, module, planned, &options, &notes)
        .unwrap_or_else(|error| panic!("{error}\n{kernel}"));
    let layout = widening.layout.describe();
    let report =
        Report::new(&kernel.name, widening.configuration.name(), (widening.width, layout), String::new(), notes);
    let report = report.expect("notes are kept");
    Lowered { llvm: ir_text(&generated.module), report, width: widening.width, row: widening.run }
}
