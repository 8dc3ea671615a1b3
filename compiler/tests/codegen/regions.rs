//! Kernels cut at barriers of which gangs run some regions and one work-item after the other runs the rest: what they leave
//! for each other is found.

use crate::layouts::build;
use crate::machine;
use lockstep_ir::interp::{self, Arg, Memory, NdRange};
use lockstep_ir::report::Notes;
use lockstep_ir::target::TargetInfo;
use lockstep_ir::testing::plan_gangs;
use lockstep_ir::transform::barriers::cut_at_barriers;
use lockstep_ir::transform::uniform_live_values::uniform_live_values;
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::Gangs;
use lockstep_protocol::launch_facts::LaunchFacts;

/// Counts into bytes at places that are looked up, between regions of which all work-items are alike. `kept` and `shared`
/// are kept over the barriers, one by each work-item and one by the group.
const SOURCE: &str = "
kernel void counted(global const uint *values, local uchar *bins, global uint *counts, int each) {
    size_t l = get_local_id(0), items = get_local_size(0), g = get_global_id(0);
    uint kept = values[g] * 3;
    int shared = values[get_group_id(0)] & 7;
    for (int bin = 0; bin < 64; ++bin) bins[bin * items + l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < each; ++k) bins[(values[g + k] & 63) * items + l]++;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint sum = kept + shared;
    for (int k = 0; k < 64; ++k) sum += bins[k * items + l] * (k + 1);
    counts[g] = sum;
}";

/// The regions that one work-item runs after the other, and those that gangs run, in groups of `local`.
fn planned(launch: &LaunchFacts) -> (usize, usize) {
    let module = build(SOURCE);
    let mut kernel = module.kernels[0].clone();
    cut_at_barriers(&mut kernel);
    uniform_live_values(&module, &mut kernel);
    let widening =
        plan_gangs(&module, &mut kernel, Gangs::default(), TargetInfo::of_bits(512), launch, &Notes::default())
            .unwrap();
    let alone = widening.regions.values().filter(|region| region.alone).count();
    (alone, widening.regions.len() - alone)
}

#[test]
fn regions_are_chosen_one_by_one() {
    let module = build(SOURCE);
    for (global, local) in [(256, 128), (200, 64), (99, 33), (64, 16), (40, 7)] {
        let range = NdRange::new(&[global], &[local]);
        let known = LaunchFacts::of_range(range.global_offset, range.global_size, range.local_size);
        for launch in [known, LaunchFacts::default()] {
            let arguments = [Arg::Buffer(0), Arg::Local(64 * local), Arg::Buffer(1), Arg::i32(24)];
            let value = |i: u64| (i.wrapping_mul(2_654_435_761) >> 9) as u32 % 1000;
            let values: Vec<u8> = (0..global + 64).flat_map(|i| value(i).to_le_bytes()).collect();
            let buffers = vec![values, vec![0; 4 * global as usize]];
            let mut expected = Memory::new(buffers.clone());
            interp::run_kernel(&module, "counted", &range, &arguments, &mut expected).unwrap();
            let vectorize = Vectorize::Gangs(Gangs::default());
            let options = CompileOptions { vectorize, launch, ..CompileOptions::default() };
            let mut found = Memory::new(buffers);
            machine::run_with(options, &module, "counted", &range, &arguments, &mut found).unwrap();
            assert!(found.buffers == expected.buffers, "{global} by {local}: other results");
        }
    }
    let known = LaunchFacts::of_range([0; 3], [256, 1, 1], [128, 1, 1]);
    assert_eq!([planned(&known), planned(&LaunchFacts::default())], [(1, 2); 2]);
}
