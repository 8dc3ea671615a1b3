//! Indices made of pieces, whose lengths the launch decides: where they hold whole gangs and where they do not, code does
//! what the interpreter does.

use crate::layouts::build;
use crate::machine;
use lockstep_ir::interp::{self, Arg, Memory, NdRange};
use lockstep_ir::report::Notes;
use lockstep_ir::target::TargetInfo;
use lockstep_ir::testing::plan_gangs;
use lockstep_ir::transform::barriers::cut_at_barriers;
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::{Gangs, Versions};
use lockstep_protocol::launch_facts::LaunchFacts;

/// Runs a kernel over 192 work-items for several lengths of pieces; says in how many widths it has a version for whole
/// pieces.
fn check(name: &str, lengths: &[u32]) -> usize {
    let module = build(include_str!("pieces.cl"));
    let range = NdRange::new(&[192], &[64]);
    let launch = LaunchFacts::of_range(range.global_offset, range.global_size, range.local_size);
    let kernel = module.kernels.iter().find(|kernel| kernel.name == name).unwrap();
    let mut versions = 0;
    for width in [2, 4, 8, 16, 32, 64] {
        let gangs = Gangs::of_width(width).with_versions(Versions::Always);
        let notes = Notes::new(true);
        let mut planned = kernel.clone();
        cut_at_barriers(&mut planned);
        plan_gangs(&module, &mut planned, gangs, TargetInfo::of_bits(512), &launch, &notes).unwrap();
        versions += usize::from(format!("{notes:?}").contains("whole pieces"));
        for &length in lengths {
            let arguments = [Arg::Buffer(0), Arg::i32(length as i32)];
            let buffers = vec![(0..1024u32).flat_map(|i| (i * 7 + 3).to_le_bytes()).collect::<Vec<u8>>()];
            let mut expected = Memory::new(buffers.clone());
            interp::run_kernel(&module, name, &range, &arguments, &mut expected).unwrap();
            let options = CompileOptions { vectorize: Vectorize::Gangs(gangs), launch, ..CompileOptions::default() };
            let mut found = Memory::new(buffers);
            machine::run_with(options, &module, name, &range, &arguments, &mut found).unwrap();
            assert!(found.buffers == expected.buffers, "{name}, pieces of {length}, width {width}: other results");
        }
    }
    versions
}

#[test]
fn powers_of_two_by_their_exponent() {
    assert_eq!(check("exchange", &[0, 1, 2, 3, 4, 5, 6, 7]), 6);
}

#[test]
fn masks() {
    assert_eq!(check("masked", &[0, 1, 3, 7, 12, 15, 31, 47, 63, 255]), 6);
}

#[test]
fn divisors() {
    assert_eq!(check("divided", &[1, 2, 3, 7, 8, 12, 16, 31, 32, 48, 64, 100]), 6);
}
