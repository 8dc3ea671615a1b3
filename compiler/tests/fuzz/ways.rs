//! The ways to run a kernel, each of which must do what the interpreter does, one work-item after the other.

use crate::code::{Code, Side};
use lockstep_compiler::interp::{Memory, run_gangs, run_limited};
use lockstep_compiler::ir::Module;
use lockstep_compiler::launch_facts::LaunchFacts;
use lockstep_compiler::pipeline::{CompileOptions, Vectorize};
use lockstep_compiler::report::{Notes, Report};
use lockstep_compiler::testing::Generated;
use lockstep_compiler::transform::barriers::barriers;
use lockstep_compiler::verify::{Stage, verify, verify_kernel};
use lockstep_compiler::widen::{self, Configuration, Gangs, Reason, Versions};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Steps that a kernel may take: random ones take far fewer, if also some millions where all is linearized, and those that lost the end of a loop are to be noticed.
const STEPS: u64 = 100_000_000;

/// Bits of the registers that plans for the lock-step interpreter are made for.
const REGISTER_BITS: u32 = 512;

/// A way to run a kernel.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    /// Linearized, in the lock-step interpreter in gangs of `lanes`.
    Lockstep { gangs: Gangs, lanes: usize },
    /// As machine code.
    Machine { vectorize: Vectorize, opt_disable: bool },
}

impl Way {
    /// Linearized with everything varying and with what the analyses find, in gangs of 1 to 16; then with versions for
    /// lanes that agree. Nothing is made for gangs of one, but what is made for two holds for them too.
    pub fn lockstep() -> Vec<Way> {
        let way = |gangs: Gangs, lanes: u32| {
            let width = Some(lanes.max(2));
            Way::Lockstep { gangs: Gangs { width, ..gangs }, lanes: lanes as usize }
        };
        let mut ways = Vec::new();
        for gangs in [Gangs { configuration: Configuration::Naive, ..Gangs::default() }, Gangs::default()] {
            ways.extend([1, 2, 4, 8, 16].map(|lanes| way(gangs, lanes)));
        }
        ways.extend([1, 2, 4, 16].map(|lanes| way(versioned(), lanes)));
        ways
    }

    /// Scalar, naive, with all the analyses and with versions for lanes that agree: machine code for gangs of `width`.
    pub fn machine(width: u32, opt_disable: bool) -> Vec<Way> {
        let naive = Gangs { configuration: Configuration::Naive, ..Gangs::default() };
        let gangs =
            [naive, Gangs::default(), versioned()].map(|gangs| Vectorize::Gangs(Gangs { width: Some(width), ..gangs }));
        let all = [Vectorize::Scalar].into_iter().chain(gangs);
        all.map(|vectorize| Way::Machine { vectorize, opt_disable }).collect()
    }

    /// Why the kernel, run this way in a launch of which the facts hold, does not leave what is expected; none: it does.
    pub fn fault(&self, g: &Generated, launch: LaunchFacts, expected: &[Vec<u8>]) -> Option<String> {
        let run = || match *self {
            Way::Lockstep { gangs, lanes } => lockstep(g, gangs, lanes, &launch),
            Way::Machine { vectorize, opt_disable } => {
                let options = CompileOptions { vectorize, launch, opt_disable, ..CompileOptions::default() };
                let name = &g.module.kernels[0].name;
                let code = Code::compile(&g.module, name, &options)?;
                // Without optimisation all values of wide gangs lie on the stack.
                let spilled = opt_disable && code.variant.reason() == Some(Reason::StackFrame);
                if let Some(reason) = code.variant.reason().filter(|_| !spilled) {
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
    verify(&g.module, Stage::Imported).map_err(|errors| errors[0].to_string())?;
    let mut memory = Memory::new(g.buffers.clone());
    let name = &g.module.kernels[0].name;
    let ran = run_limited(&g.module, name, &g.range, &g.args, &mut memory, STEPS);
    ran.map(|_| memory.buffers).map_err(|e| e.to_string())
}

/// What the report says of the versions that a kernel's code gets, wherever it can have some.
pub fn versions(g: &Generated) -> String {
    let mut kernel = g.module.kernels[0].clone();
    barriers(&mut kernel);
    let notes = Notes::new(true);
    let gangs = Gangs { width: Some(8), ..versioned() };
    widen::plan(&g.module, &mut kernel, gangs, REGISTER_BITS, &LaunchFacts::default(), &notes).unwrap();
    Report::new("", "", 8, String::new(), notes).unwrap().to_string()
}

/// Versions of all code that can have some.
fn versioned() -> Gangs {
    Gangs { unmasked_loops: Versions::Always, all_true: Versions::Always, ..Gangs::default() }
}

fn lockstep(g: &Generated, gangs: Gangs, lanes: usize, launch: &LaunchFacts) -> Result<Vec<Vec<u8>>, String> {
    let mut kernel = g.module.kernels[0].clone();
    barriers(&mut kernel);
    let planned = widen::plan(&g.module, &mut kernel, gangs, REGISTER_BITS, launch, &Notes::default());
    planned.map_err(|reason| reason.to_string())?;
    verify_kernel(&g.module, &kernel, Stage::Linearized).map_err(|errors| errors[0].to_string())?;
    let module = Module { kernels: vec![kernel], ..g.module.clone() };
    let mut memory = Memory::new(g.buffers.clone());
    let ran = run_gangs(&module, &module.kernels[0].name, &g.range, &g.args, &mut memory, STEPS, lanes);
    ran.map(|_| memory.buffers).map_err(|e| format!("{e}\n{module}"))
}
