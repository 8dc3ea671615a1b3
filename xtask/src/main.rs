//!
//! This crate must build on a machine that has only Rust and a C linker: it is
//! what installs LLVM and the rest, so it depends neither on LLVM nor on the
//! driver's crates. Whatever talks OpenCL loads the ICD loader at run time, in
//! a child process whose environment names the freshly built driver.

mod accuracy;
mod appsdk;
mod bench;
mod cts;
mod cts_list;
mod demo;
mod driver;
mod fuzz;
mod install;
mod opencl;
mod peers;
mod process;
mod progress;
mod same_code;
mod sanitizer;
mod setup;
mod stress;
mod suite;
mod test;
mod tidy;
mod walkthroughs;
mod workspace;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  setup                    install what the build needs (says what, where it may not)
  demo                     set up, build, show the device, render and check a picture
  test                     set up, build, run every test and the tidy rules
  tidy                     check the architecture's rules
  walkthroughs [NAME...]   apply the patches of docs/walkthroughs to a copy of the tree, and run what they say
  install [--user | --system | --prefix DIR]
                           copy the driver and register it with the ICD loader
  bench [--only NAME] [--table configurations|drivers] [--rounds N] [--resume] [--driver NAME=PATH] [--write]
                           the papers' tables: the suite in our configurations and beside Intel's runtime, PoCL and
                           drivers that are named; writes the tables and the chart of docs/performance.md
  bench build|launch|memory [--rounds N] [--vendors PATH --platform NAME]
                           measure a driver through the loader (default: this one)
  bench compile_growth [--only SHAPE] [--rounds N] [--most INSTRUCTIONS]
                           how compile time grows with the size of kernels of several shapes, and which stage is to blame
  bench vectorizer [--only NAME] [--configs A,B] [--rounds N] [--clock cpu]
                           the suite of kernels in several configurations of the driver
  bench groups [--only NAME] [--driver NAME=PATH] [--rounds N] [--clock event|cpu|wall]
                           kernels with work-groups beside Intel's runtime, PoCL and drivers that are named
  bench images [as groups] kernels on images, beside the same drivers
  bench math [as groups]   throughput of the math functions, beside the same drivers
  bench forms [as groups]  the native_ and half_ forms beside the plain functions, and the same drivers
  bench --gate|--record [--only NAME] [--rounds N]
                           fail where a kernel has become slower than recorded, or make the record
  same-code BASE [--only PART]
                           list the kernels of the suite, of the conformance tests and of 500 generated programs whose
                           machine code differs from another build's: a commit, or the path of a liblockstep.so; parts of names are
                           `suite`, `suite dct`, `generated`, `program`
  accuracy [--only NAME,...] [--step N]
                           compare the math functions with exact values, at every float (or every Nth), and write
                           docs/accuracy.md
  fuzz [--seeds A..B] [--jobs N]
                           compare random kernels in every configuration with the interpreter
  fuzz jumps [--seeds A..B] [--jobs N] [--machine-code-every N]
                           compare random OpenCL C with gotos, switches and loops in every configuration with what the
                           generator's own program says
  fuzz api [--calls N] [--from SEED] [--sanitizer address]
                           random calls of the API with good and bad arguments, ten million if not told otherwise
  stress [--seconds N] [--sanitizer thread]
                           queues shared by threads, for a minute if not told otherwise
  appsdk DIR [--vendors PATH] [NAME...]
                           run the AMD APP SDK 3.0 sample binaries in DIR
  cts DIR [--vendors PATH] [--full] [--list] [NAME...]
                           run a build of the Khronos conformance suite in DIR: shortened or fully, each program as
                           it is or as the suite's own list has it
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = match arguments.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => ("help", &[][..]),
    };
    let done = match command {
        "setup" => setup::run(),
        "demo" => demo::run(),
        // The part of the demo that talks OpenCL; `demo` starts it with the
        // environment that leads the loader to our driver.
        "demo-render" => demo::render(),
        "test" => test::run(rest),
        "tidy" => tidy::run(),
        "walkthroughs" => walkthroughs::run(rest),
        "install" => install::run(rest),
        "accuracy" => accuracy::run(rest),
        "bench" => bench::run(rest),
        "fuzz" => fuzz::run(rest),
        "same-code" => same_code::run(rest),
        "stress" => stress::run(rest),
        "appsdk" => appsdk::run(rest),
        "cts" => cts::run(rest),
        "help" | "--help" | "-h" => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        other => {
            eprint!("xtask: no command `{other}`\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
