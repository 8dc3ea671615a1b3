//! Every layout of the lanes of a gang, with groups of many sizes in one to three dimensions, does what the interpreter
//! does.

use crate::machine;
use lockstep_compiler::frontend::options::{BuildOptions, Stage};
use lockstep_compiler::frontend::{FrontendConfig, compile, link};
use lockstep_compiler::interp::{self, Arg, Memory, NdRange};
use lockstep_compiler::ir::Module;
use lockstep_compiler::launch_facts::LaunchFacts;
use lockstep_compiler::layout::Layout;
use lockstep_compiler::pipeline::{CompileOptions, Vectorize, load};
use lockstep_compiler::widen::Gangs;

/// 1, 3, 7, 8, 16, 17, 64, 100, 256 and 1024 work-items, and some that divide gangs or are divided by them.
const LOCALS: &[&[u64]] = &[
    &[1],
    &[3],
    &[7],
    &[8],
    &[16],
    &[17],
    &[64],
    &[100],
    &[256],
    &[1024],
    &[1, 3],
    &[7, 1],
    &[1, 8],
    &[1, 16],
    &[1, 17],
    &[2, 8],
    &[8, 8],
    &[4, 4],
    &[4, 6],
    &[1, 64],
    &[10, 10],
    &[1, 100],
    &[16, 16],
    &[8, 32],
    &[32, 32],
    &[1, 1, 7],
    &[1, 2, 4],
    &[1, 1, 17],
    &[4, 4, 4],
    &[8, 2, 1],
    &[5, 5, 4],
    &[1, 1, 100],
    &[2, 8, 16],
    &[8, 8, 16],
];

fn build(source: &str) -> Module {
    let options = BuildOptions::parse("-cl-std=CL3.0", Stage::Build).unwrap();
    let object = compile(&FrontendConfig::default(), source.as_bytes(), &[], &options).unwrap();
    load(&link(&[&object], &options).unwrap()).unwrap()
}

fn input(count: u64) -> Vec<u8> {
    let value = |i: u64| (i.wrapping_mul(2_654_435_761) >> 7) as i32 % 1000;
    (0..count).flat_map(|i| value(i).to_le_bytes()).collect()
}

/// A kernel in every layout; each time another width, and code that relies on the local size or on nothing.
fn check(name: &str) {
    let module = build(include_str!("layouts.cl"));
    for (case, local) in LOCALS.iter().enumerate() {
        // Some ranges end with smaller groups.
        let uneven = case % 3 == 2;
        let rounds = [2, 1, 1];
        let size = |d: usize| local[d] * rounds[d] + u64::from(uneven && local[d] > 2);
        let global: Vec<u64> = (0..local.len()).map(size).collect();
        let range = NdRange::new(&global, local);
        let count: u64 = global.iter().product();
        let args = [Arg::Buffer(0), Arg::Buffer(1)];
        let buffers = vec![input(3 * count + 4096), vec![0; 4 * count as usize]];
        let mut expected = Memory::new(buffers.clone());
        interp::run(&module, name, &range, &args, &mut expected).unwrap_or_else(|e| panic!("{name} by {local:?}: {e}"));
        for (index, layout) in Layout::ALL.into_iter().enumerate() {
            let width = [16, 8, 4][(case + index) % 3];
            let gangs = Gangs { layout: Some(layout), ..Gangs::of_width(width) };
            let known = LaunchFacts::of_range(range.global_offset, range.global_size, range.local_size);
            let launch = if case % 4 == 3 { LaunchFacts::default() } else { known };
            let options = CompileOptions { vectorize: Vectorize::Gangs(gangs), launch, ..CompileOptions::default() };
            let mut found = Memory::new(buffers.clone());
            let (_, reason) = machine::run_with(options, &module, name, &range, &args, &mut found)
                .unwrap_or_else(|e| panic!("{name} by {local:?} {layout}: {e}"));
            assert_eq!(reason, None);
            assert!(found.buffers == expected.buffers, "{name} by {local:?} {layout}, width {width}: other results");
        }
    }
}

#[test]
fn kept_values_and_arrays() {
    check("kept");
}

#[test]
fn trees() {
    check("tree");
}

#[test]
fn rows_and_columns() {
    check("places");
}

#[test]
fn collected_values() {
    check("collected");
}
