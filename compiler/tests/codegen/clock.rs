//! Readings of the clock: each is made, in its place, whatever is asked of the vectorizer.

use crate::gangs::stages;
use crate::layouts::{build, input};
use crate::machine;
use crate::sub_groups::ways;
use lockstep_ir::interp::{self, Arg, Memory, NdRange};
use lockstep_ir::ir::InstData;
use lockstep_protocol::compile_options::CompileOptions;
use lockstep_protocol::launch_facts::LaunchFacts;

const LOCALS: &[&[u64]] = &[&[1], &[7], &[16], &[40], &[8, 8], &[3, 5]];

/// What a kernel makes of its readings is the same whatever they are.
fn check(name: &str) {
    let module = build(include_str!("clock.cl"));
    for (case, local) in LOCALS.iter().enumerate() {
        let global: Vec<u64> =
            local.iter().enumerate().map(|(dimension, &size)| size * [2, 1][dimension] + (size > 2) as u64).collect();
        let range = NdRange::new(&global, local);
        let count: u64 = global.iter().product();
        let arguments = [Arg::Buffer(0), Arg::Buffer(1)];
        let buffers = vec![input(count), vec![0; 4 * count as usize]];
        let mut expected = Memory::new(buffers.clone());
        interp::run_kernel(&module, name, &range, &arguments, &mut expected)
            .unwrap_or_else(|error| panic!("{name} by {local:?}: {error}"));
        if name == "in_order" {
            assert!(expected.buffers[1].chunks(4).all(|int| int[0] & 1 == 1), "{local:?}: {:?}", expected.buffers[1]);
        } else {
            assert!(expected.buffers[1] == expected.buffers[0], "{local:?}: {:?}", expected.buffers[1]);
        }
        for (vectorize, simd) in ways().iter().skip(case % 3).step_by(3).copied() {
            let launch = LaunchFacts::of_range(range.global_offset, range.global_size, range.local_size);
            let options = CompileOptions { vectorize, launch, simd, ..CompileOptions::default() };
            let mut found = Memory::new(buffers.clone());
            let what = format!("{name} by {local:?}, {vectorize:?}");
            let (_, reason) = machine::run_with(options, &module, name, &range, &arguments, &mut found)
                .unwrap_or_else(|e| panic!("{what}: {e}"));
            // Smaller groups do not fill gangs.
            assert!(reason.is_none() || local.iter().product::<u64>() < 16, "{what}: {reason:?}");
            assert_eq!(found.buffers, expected.buffers, "{what}");
        }
    }
}

#[test]
fn readings_never_go_back() {
    check("in_order");
}

#[test]
fn loops_see_the_clock_go_on() {
    check("goes_on");
}

/// All readings come out of the library, the clean-up and LLVM's optimizer; a gang takes one for all its lanes.
#[test]
fn no_reading_is_lost_or_shared() {
    let mut module = build(include_str!("clock.cl"));
    module.kernels.retain(|kernel| kernel.name == "apart");
    let insts = module.kernels[0].regions.values().flat_map(|body| {
        body.layout.iter().flat_map(|&block| &body.blocks[block].insts).map(|&inst| &body.insts[inst].data)
    });
    assert_eq!(insts.filter(|data| matches!(data, InstData::Clock)).count(), 5);
    let readings = |text: &str| text.matches("call i64 @__lockstep_clock()").count();
    let [before, after] = stages(&module, 8, ["codegen.ll", "optimize.ll"]);
    // Full gangs and the one at the end of a row.
    assert_eq!(readings(&before), 10, "{before}");
    assert!(readings(&after) >= 10, "{after}");
}
