//! The child's side of a comparison of machine code: has one build compile kernels, and keeps their assembly.

use std::path::{Path, PathBuf};

use lockstep_conformance::commands::{finish, try_launch};
use lockstep_conformance::kept_programs::parse_file;
use lockstep_conformance::objects::Argument;
use lockstep_conformance::opencl_sys::CL_SUCCESS;
use lockstep_conformance::{Random, code_name, ok};
use lockstep_ir::testing::jumps::{OUTPUTS, VARIABLES, print_source, random_program};

use super::assembly::keep_assembly;
use super::jobs::PER_SOURCE;
use crate::case::Step;
use crate::suite;
use crate::worker::{Device, answer_lines};

/// The environment variable with the folder that a child's files are in.
pub const FOLDER: &str = "LOCKSTEP_TEST_SAME_CODE";

/// Work-items of a generated kernel's launch.
const ITEMS: usize = 96;

/// Where the driver writes what it makes.
pub fn dump_folder(folder: &Path) -> PathBuf {
    folder.join("dumps")
}

/// Where a job's assembly is collected.
pub fn kept_folder(folder: &Path) -> PathBuf {
    folder.join("kept")
}

/// Serves jobs until the input ends. `suite CASE`, `generated SEED` and `program PATH` are answered by `compiled `.
pub fn serve() {
    let folder = PathBuf::from(std::env::var_os(FOLDER).expect("the parent names the folder"));
    let child = Child { device: Device::new(&[]), folder };
    answer_lines(|words| {
        match *words {
            ["suite", name] => child.launch_case(name)?,
            ["generated", seed] => child.launch_generated(seed.parse().expect("the parent sends a number"))?,
            ["program", path] => child.compile_program(path)?,
            _ => panic!("no such command: {words:?}"),
        }
        Ok("compiled ".to_owned())
    });
}

struct Child {
    device: Device,
    folder: PathBuf,
}

impl Child {
    /// Launches each kernel of a case once in each size, in the case's order. Launches that come again would only have
    /// code made for them in the background, sooner or later.
    fn launch_case(&self, name: &str) -> Result<(), String> {
        let case = suite::find(name).expect("the parent names cases of the same tables");
        let prepared = self.device.set_up(case);
        let mut launched: Vec<&Step> = Vec::new();
        for (step, kernel) in prepared.problem.steps.iter().zip(&prepared.kernels) {
            if launched.iter().any(|other| is_alike(other, step)) {
                continue;
            }
            ok(try_launch(&self.device.queue, kernel, &step.global, &step.local));
            finish(&self.device.queue);
            let before = launched.iter().filter(|other| other.kernel == step.kernel).count();
            self.keep(&if before == 0 { String::new() } else { format!("@{}", before + 1) })?;
            launched.push(step);
        }
        Ok(())
    }

    /// Launches generated kernels once each.
    fn launch_generated(&self, first_seed: u64) -> Result<(), String> {
        let programs: Vec<_> = (first_seed..first_seed + PER_SOURCE).map(|seed| (seed, random_program(seed))).collect();
        let source: String = programs.iter().map(|(_, program)| print_source(program)).collect();
        let built = self.device.context.build(&source, "");
        for (seed, program) in &programs {
            let mut random = Random::new(*seed);
            let input: Vec<u32> = (0..ITEMS * VARIABLES).map(|_| random.bits() as u32).collect();
            let group = [1, 4, 16, 24, 48][*seed as usize % 5];
            let input = self.device.context.with_values(&input);
            let output = self.device.context.zeros::<u32>(ITEMS * OUTPUTS);
            let kernel = built.kernel(&program.name);
            kernel.set(0, &input);
            kernel.set(1, &output);
            kernel.set(2, Argument::Local(group * size_of::<u32>()));
            ok(try_launch(&self.device.queue, &kernel, &[ITEMS], &[group]));
            finish(&self.device.queue);
        }
        self.keep("")
    }

    /// Compiles all kernels of a kept program for likely launches: a program's binary is to have them.
    fn compile_program(&self, path: &str) -> Result<(), String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}"))?;
        let (options, source) = parse_file(&text).ok_or_else(|| format!("{path} is no kept program"))?;
        let program = self.device.context.source(source);
        let code = program.build(options);
        if code != CL_SUCCESS {
            return Err(format!("does not build: {}", code_name(code)));
        }
        program.binary();
        self.keep("")
    }

    fn keep(&self, launch: &str) -> Result<(), String> {
        keep_assembly(&dump_folder(&self.folder), &kept_folder(&self.folder), launch).map_err(|error| error.to_string())
    }
}

/// Whether two launches are the same for who makes their code, but for their arguments.
fn is_alike(one: &Step, other: &Step) -> bool {
    one.kernel == other.kernel && one.global == other.global && one.local == other.local
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::step;

    #[test]
    fn launches_of_other_sizes_are_others() {
        let launch = |kernel, global, local: &[usize]| step(kernel, &[global], local, Vec::new());
        assert!(is_alike(&launch("a", 64, &[8]), &launch("a", 64, &[8])));
        for other in [launch("b", 64, &[8]), launch("a", 65, &[8]), launch("a", 64, &[])] {
            assert!(!is_alike(&launch("a", 64, &[8]), &other));
        }
    }
}
