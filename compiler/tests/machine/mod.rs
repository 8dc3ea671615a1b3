//! Runs compiled kernels as the runtime does, on one thread, with the interface of the interpreter.

pub mod code;

use code::{Code, Side};
use lockstep_ir::interp::{Arg, Memory, NdRange, Report};
use lockstep_ir::ir::Module;
use lockstep_ir::plan::Reason;
use lockstep_protocol::compile_options::{CompileOptions, Tier};
use lockstep_protocol::launch_facts::LaunchFacts;

/// Compiles a kernel, its work-items one after the other, and runs it over a range. `opt_disable` is the build
/// option, with which the code relies on nothing of the range.
pub fn run(
    module: &Module,
    kernel: &str,
    range: &NdRange,
    arguments: &[Arg],
    memory: &mut Memory,
    opt_disable: bool,
) -> Result<Report, String> {
    let launch = match opt_disable {
        true => LaunchFacts::default(),
        false => LaunchFacts::of_range(range.global_offset, range.global_size, range.local_size),
    };
    let options = CompileOptions { opt_disable, launch, ..CompileOptions::default() };
    run_with(options, module, kernel, range, arguments, memory).map(|(report, _)| report)
}

/// Compiles a kernel and runs it over a range. Buffers and program-scope variables change as in the
/// interpreter; the report holds printf's calls. And why the kernel does not run in gangs, if it was to.
pub fn run_with(
    options: CompileOptions,
    module: &Module,
    kernel: &str,
    range: &NdRange,
    arguments: &[Arg],
    memory: &mut Memory,
) -> Result<(Report, Option<Reason>), String> {
    let dump = std::env::var_os("LOCKSTEP_TEST_DUMP").map(Into::into);
    let name = format!("{kernel}, {options:?}");
    let tier = choose_tier(&name);
    let code = Code::compile(module, kernel, &CompileOptions { tier, dump, ..options })?;
    let before = memory.clone();
    let report = code.run(&name, range, arguments, memory, Side::Rear)?;
    let mut again = before;
    code.run(&name, range, arguments, &mut again, Side::Front)?;
    // Variables may hold addresses.
    if again.buffers != memory.buffers {
        return Err("what the code does depends on where memory lies".to_string());
    }
    Ok((report, code.compiled.reason()))
}

/// The tier of the code that is run: the last one of each fourth, as the first one is made sooner and has to do the same.
fn choose_tier(name: &str) -> Tier {
    let sum = name.bytes().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    if sum.is_multiple_of(4) { Tier::Optimized } else { Tier::Baseline }
}
