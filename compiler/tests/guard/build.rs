//! OpenCL C to kernels that run, and comparison of what they do with the interpreter.

use crate::code::{Code, Side};
use inkwell::context::Context;
use lockstep_compiler::frontend::{FrontendConfig, built_in_library, compile_source, link_with, prepare_module};
use lockstep_compiler::import::import_module;
use lockstep_ir::interp::{Arg, Memory, NdRange, run_kernel};
use lockstep_ir::ir::Module;
use lockstep_ir::verify::{Stage, verify_module};
use lockstep_protocol::build_options::{BuildOptions, Stage as OptionStage};
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::{Configuration, Gangs, Versions};

/// Work-items of a gang; 1: no gangs.
pub const WIDTHS: [u32; 5] = [1, 2, 4, 8, 16];

/// What a source means.
pub fn build(source: &str) -> Module {
    let config = FrontendConfig { source_lines: true, ..FrontendConfig::default() };
    let options = BuildOptions::parse("", OptionStage::Build).unwrap();
    let object = compile_source(&config, source.as_bytes(), &[], &options).unwrap_or_else(|error| panic!("{error}"));
    let program = link_with(&[&object], &options, &built_in_library).unwrap_or_else(|error| panic!("{error}"));
    let context = Context::create();
    let module = import_module(&prepare_module(&context, &program).unwrap()).unwrap_or_else(|error| panic!("{error}"));
    verify_module(&module, Stage::Imported).unwrap_or_else(|errors| panic!("{}\n{module}", errors[0]));
    module
}

/// How a kernel is compiled for gangs of so many work-items.
pub fn options(configuration: Configuration, width: u32, opt_disable: bool) -> CompileOptions {
    let gangs = Gangs { configuration, ..Gangs::of_width(width) };
    let vectorize = if width == 1 { Vectorize::Scalar } else { Vectorize::Gangs(gangs) };
    let dump = std::env::var_os("LOCKSTEP_TEST_DUMP").map(Into::into);
    CompileOptions { opt_disable, vectorize, dump, ..CompileOptions::default() }
}

/// One launch of a kernel.
pub struct Launch {
    pub range: NdRange,
    pub args: Vec<Arg>,
    pub buffers: Vec<Vec<u8>>,
}

/// Runs every launch of a kernel with gangs of every width and compares memory with what the interpreter leaves.
pub fn agree(module: &Module, kernel: &str, launches: &[Launch]) {
    let interpreted = |launch: &Launch| {
        let mut memory = Memory::new(launch.buffers.clone());
        let ran = run_kernel(module, kernel, &launch.range, &launch.args, &mut memory);
        ran.unwrap_or_else(|error| panic!("{kernel}: {error}\n{module}"));
        memory.buffers
    };
    let expected: Vec<Vec<Vec<u8>>> = launches.iter().map(interpreted).collect();
    // Each width at one of the two levels, full optimization at the widest; then versions for lanes that agree.
    let widths = WIDTHS.into_iter().enumerate();
    let mut all: Vec<_> = widths.map(|(turn, width)| options(Configuration::UniCf, width, turn % 2 == 1)).collect();
    for (width, opt_disable) in [(4, true), (8, false)] {
        let gangs = Gangs::of_width(width).with_versions(Versions::Always);
        all.push(CompileOptions {
            vectorize: Vectorize::Gangs(gangs),
            ..options(Configuration::UniCf, width, opt_disable)
        });
    }
    for options in all {
        let code = Code::compile(module, kernel, &options).unwrap();
        let how = format!("{kernel}, {:?}", options.vectorize);
        assert_eq!(code.compiled.reason(), None, "{how}");
        for (n, (launch, expected)) in launches.iter().zip(&expected).enumerate() {
            for side in [Side::Front, Side::Rear] {
                let name = format!("{how}, launch {n}, {side:?}");
                let mut memory = Memory::new(launch.buffers.clone());
                let ran = code.run(&name, &launch.range, &launch.args, &mut memory, side);
                ran.unwrap_or_else(|error| panic!("{name}: {error}"));
                assert!(memory.buffers == *expected, "{name}: {:?} instead of {expected:?}", memory.buffers);
            }
        }
    }
}

/// The bytes of integers.
pub fn ints(values: impl IntoIterator<Item = i32>) -> Vec<u8> {
    values.into_iter().flat_map(i32::to_le_bytes).collect()
}
