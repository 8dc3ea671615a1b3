//! The conformance kernels with barriers: the interpreter, the interpreter after barriers are cut and after rounds of loops
//! have regions of their own, and machine code, also of gangs, agree.
//!
//! The conformance tests compare the same files with host references; `conformance/src/barriers.rs` describes their
//! first line.

use crate::machine;
use lockstep_compiler::frontend::{FrontendConfig, compile_source, link_program};
use lockstep_compiler::pipeline::load;
use lockstep_ir::interp::{self, Arg, Memory, NdRange};
use lockstep_ir::ir::Module;
use lockstep_ir::transform::barriers::cut_at_barriers;
use lockstep_ir::transform::uniform_live_values::uniform_live_values;
use lockstep_ir::transform::unroll_barrier_loops::separate_rounds;
use lockstep_ir::verify::{self, verify_module};
use lockstep_protocol::build_options::{BuildOptions, Stage};
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::Gangs;
use lockstep_protocol::launch_facts::LaunchFacts;
use std::path::Path;

struct Case {
    module: Module,
    args: Vec<Arg>,
    buffers: Vec<Vec<u8>>,
    global: Vec<u64>,
    local: Vec<u64>,
}

pub fn sizes(section: &str) -> Vec<u64> {
    let (_, sizes) = section.split_once(':').unwrap();
    sizes.split_whitespace().map(|size| size.parse().unwrap()).collect()
}

/// Values from 0 to 99.
fn values(count: usize, float: bool, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as i32 % 100
    };
    (0..count).flat_map(|_| if float { (next() as f32).to_le_bytes() } else { next().to_le_bytes() }).collect()
}

/// The sections of a file's first line: arguments, global size, local size.
pub fn header(source: &str) -> [&str; 3] {
    let sections: Vec<&str> = source.lines().next().unwrap().split(';').collect();
    sections.try_into().expect("three sections in the first line")
}

/// What an argument section says, and the buffers. `resize` is asked how many elements of a role there are to be where
/// the file has so many.
pub fn arguments_of(section: &str, resize: impl Fn(&str, usize) -> usize) -> (Vec<Arg>, Vec<Vec<u8>>) {
    let (mut arguments, mut buffers) = (vec![], vec![]);
    for argument in section.trim_start_matches("// args:").split_whitespace() {
        let (role, rest) = argument.split_once(':').unwrap();
        let count = || resize(role, rest.split(['[', ']']).nth(1).unwrap().parse::<usize>().unwrap());
        arguments.push(match role {
            "int" => Arg::i32(rest.parse().unwrap()),
            "local" => Arg::Local(4 * count() as u64),
            _ => {
                let seed = buffers.len() as u64 + 1;
                let input = role == "in";
                let bytes = if input { values(count(), rest.starts_with("float"), seed) } else { vec![0; 4 * count()] };
                buffers.push(bytes);
                Arg::Buffer(buffers.len() - 1)
            }
        });
    }
    (arguments, buffers)
}

fn read(path: &Path) -> Case {
    let source = std::fs::read_to_string(path).unwrap();
    let options = BuildOptions::parse("-cl-std=CL3.0", Stage::Build).unwrap();
    let object = compile_source(&FrontendConfig::default(), source.as_bytes(), &[], &options);
    let object = object.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let program = link_program(&[&object], &options).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let module = load(&program).unwrap_or_else(|error| panic!("{}: {error}", path.display()));

    let [arguments, global, local] = header(&source);
    let (args, buffers) = arguments_of(arguments, |_, count| count);
    Case { module, args, buffers, global: sizes(global), local: sizes(local) }
}

/// The same with what the launch tells: in the interpreter, and in gangs of a quarter of a register to several.
fn in_rounds_and_gangs(case: &Case, regions: &Module, name: &str, range: &NdRange, expected: &Memory) {
    let local = range.local_size;
    let launch = LaunchFacts::of_range(range.global_offset, range.global_size, local);
    let mut apart = regions.clone();
    for kernel in &mut apart.kernels {
        uniform_live_values(&case.module, kernel);
        separate_rounds(kernel, &launch);
    }
    if let Err(errors) = verify_module(&apart, verify::Stage::Regions) {
        panic!("{name} by {local:?}, in rounds: {}", errors[0]);
    }
    let mut found = Memory::new(case.buffers.clone());
    interp::run_kernel(&apart, name, range, &case.args, &mut found)
        .unwrap_or_else(|error| panic!("{name} by {local:?}, in rounds: {error}"));
    assert!(found.buffers == expected.buffers, "{name} by {local:?}: rounds change the results");
    for width in [4, 16, 32] {
        let vectorize = Vectorize::Gangs(Gangs::of_width(width));
        let options = CompileOptions { vectorize, launch, ..CompileOptions::default() };
        let mut found = Memory::new(case.buffers.clone());
        machine::run_with(options, &case.module, name, range, &case.args, &mut found)
            .unwrap_or_else(|error| panic!("{name} by {local:?} in gangs of {width}: {error}"));
        assert!(found.buffers == expected.buffers, "{name} by {local:?} in gangs of {width} has other results");
    }
}

#[test]
fn agree_with_the_interpreter() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance/kernels/barriers");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let case = read(&path);
        let mut regions = case.module.clone();
        regions.kernels.iter_mut().for_each(cut_at_barriers);
        if let Err(errors) = verify_module(&regions, verify::Stage::Regions) {
            panic!("{name}: {}", errors[0]);
        }
        // The size of the file, and one that leaves a smaller group at the end; tiles have to be whole.
        let mut locals = vec![case.local.clone()];
        if case.local.len() == 1 {
            locals.extend([vec![1], vec![24], vec![16]]);
        }
        for local in locals {
            let range = NdRange::new(&case.global, &local);
            let memory = || Memory::new(case.buffers.clone());
            let mut expected = memory();
            interp::run_kernel(&case.module, name, &range, &case.args, &mut expected)
                .unwrap_or_else(|error| panic!("{name} by {local:?}: {error}"));
            let mut cut = memory();
            interp::run_kernel(&regions, name, &range, &case.args, &mut cut)
                .unwrap_or_else(|error| panic!("{name} by {local:?}, regions: {error}"));
            assert!(cut.buffers == expected.buffers, "{name} by {local:?}: cutting barriers changes the results");
            let mut found = memory();
            machine::run(&case.module, name, &range, &case.args, &mut found, false)
                .unwrap_or_else(|error| panic!("{name} by {local:?}, machine code: {error}"));
            assert!(found.buffers == expected.buffers, "{name} by {local:?}: machine code has other results");
            in_rounds_and_gangs(&case, &regions, name, &range, &expected);
            assert!(local != case.local || expected.buffers != case.buffers, "{name} does nothing");
        }
        count += 1;
    }
    assert!(count >= 25, "only {count} kernels");
}
