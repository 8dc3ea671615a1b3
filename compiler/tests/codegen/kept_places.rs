//! Places that loops read and write in every iteration hold in the end what the interpreter finds there, whether the launch
//! tells that arguments are apart or one buffer is both.

use crate::layouts::{build, input};
use crate::machine;
use lockstep_ir::interp::{self, Arg, Memory, NdRange};
use lockstep_ir::ir::{InstData, Kernel, Module};
use lockstep_ir::report::Notes;
use lockstep_ir::target::TargetInfo;
use lockstep_ir::testing::plan_gangs;
use lockstep_ir::transform::barriers::cut_at_barriers;
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::{Gangs, Versions};
use lockstep_protocol::launch_facts::LaunchFacts;

const ITEMS: u64 = 45;

/// The first two inputs are the buffers.
const APART: u32 = 3;

fn launch(range: &NdRange, apart: u32) -> LaunchFacts {
    LaunchFacts { apart, ..LaunchFacts::of_range(range.global_offset, range.global_size, range.local_size) }
}

/// Runs a kernel on buffers of its own, and one work-item on a buffer that is both, in gangs of several widths.
fn check(module: &Module, name: &str) {
    let buffers = vec![input(ITEMS + 9), input(3 * ITEMS)];
    for (items, first, apart) in [(ITEMS, 0, APART), (1, 1, 0)] {
        let range = NdRange::new(&[items], &[items.min(15)]);
        let arguments = [Arg::Buffer(first), Arg::Buffer(1), Arg::i32(7)];
        let mut expected = Memory::new(buffers.clone());
        interp::run_kernel(module, name, &range, &arguments, &mut expected).unwrap();
        for width in [2, 4, 16, 32] {
            let vectorize = Vectorize::Gangs(Gangs::of_width(width));
            let options = CompileOptions { vectorize, launch: launch(&range, apart), ..CompileOptions::default() };
            let mut found = Memory::new(buffers.clone());
            machine::run_with(options, module, name, &range, &arguments, &mut found).unwrap();
            assert!(found.buffers == expected.buffers, "{name}, width {width}, apart {apart}: other results");
        }
    }
}

/// Loads and stores of a kernel's loops.
fn accesses(module: &Module, name: &str, apart: u32) -> usize {
    let mut kernel = module.kernels.iter().find(|kernel| kernel.name == name).unwrap().clone();
    cut_at_barriers(&mut kernel);
    let range = NdRange::new(&[ITEMS], &[15]);
    let gangs = Gangs::of_width(16).with_versions(Versions::Never);
    plan_gangs(module, &mut kernel, gangs, TargetInfo::of_bits(512), &launch(&range, apart), &Notes::default())
        .unwrap();
    count_accesses(&kernel)
}

fn count_accesses(kernel: &Kernel) -> usize {
    use lockstep_ir::analysis::cfg::build_cfg;
    use lockstep_ir::analysis::dominators::compute_dominators;
    use lockstep_ir::analysis::loops::find_loops;
    let in_loops = |f: &lockstep_ir::ir::Function| {
        let graph = build_cfg(f);
        let forest = find_loops(&graph, &compute_dominators(&graph));
        let insts =
            f.layout.iter().filter(|&&block| forest.loop_depth(block) > 0).flat_map(|&block| &f.blocks[block].insts);
        insts.filter(|&&inst| matches!(f.insts[inst].data, InstData::Load { .. } | InstData::Store { .. })).count()
    };
    kernel.regions.values().map(in_loops).sum()
}

#[test]
fn kept_places() {
    let module = build(include_str!("kept_places.cl"));
    for name in ["sums", "fields", "until", "nested", "local_rows", "maybe", "parts"] {
        check(&module, name);
    }
}

/// A loop that may keep its place has one load left, of what it adds up; one that may not stores as well.
#[test]
fn places_are_kept_where_nothing_else_may_be_there() {
    let module = build(include_str!("kept_places.cl"));
    assert_eq!([0, APART].map(|apart| accesses(&module, "sums", apart) > 1), [true, false]);
    assert_eq!([0, APART].map(|apart| accesses(&module, "local_rows", apart) > 1), [false, false]);
}
