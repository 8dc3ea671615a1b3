//! Sub-groups do as code for gangs what the interpreter's lanes do on code that is not linearized, whatever is asked of the
//! vectorizer.

use crate::host_code::build;
use crate::layouts::input;
use crate::machine;
use lockstep_ir::interp::{self, Arg, Memory, NdRange};
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::{Configuration, Gangs, Versions};
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::layout::{Layout, SUB_GROUP_SIZES};
use lockstep_protocol::pass_switches::PassSwitch;

const LOCALS: &[&[u64]] =
    &[&[1], &[7], &[16], &[17], &[100], &[8, 8], &[3, 5], &[32, 3], &[5, 3, 2], &[16, 2, 2], &[1, 7, 5]];

/// What may be asked of the vectorizer, and the registers' bits.
pub fn ways() -> Vec<(Vectorize, Option<u32>)> {
    let always = Gangs::default()
        .with_pass(PassSwitch::UnmaskedLoops, Versions::Always)
        .with_pass(PassSwitch::CoherentBranches, Versions::Always)
        .with_pass(PassSwitch::PerLaneLoops, Versions::Always)
        .with_pass(PassSwitch::UnswitchSelects, Versions::Always);
    let mut ways = vec![
        (Vectorize::Scalar, None),
        (Vectorize::Gangs(Gangs::default()), Some(256)),
        (Vectorize::Gangs(always), None),
        (Vectorize::Gangs(Gangs { layout: Some(Layout::Y), ..Gangs::of_width(4) }), Some(128)),
    ];
    for configuration in [Configuration::Naive, Configuration::UniVal, Configuration::Boscc] {
        ways.push((Vectorize::Gangs(Gangs { configuration, ..Gangs::default() }), None));
    }
    ways
}

/// Local sizes of kernels that ask for a size of their sub-groups.
const LOCALS_OF_SIZES: &[&[u64]] = &[&[17], &[100], &[8, 8], &[32, 3], &[16, 2, 2], &[1, 7, 5]];

fn check(name: &str) {
    check_size(name, None, LOCALS);
    SUB_GROUP_SIZES.iter().for_each(|&size| check_size(name, Some(size), LOCALS_OF_SIZES));
}

/// The same in sub-groups of the size that the kernel asks for, if it asks for one.
fn check_size(name: &str, asked: Option<u32>, locals: &[&[u64]]) {
    let attribute = asked.map(|size| format!("__attribute__((intel_reqd_sub_group_size({size})))"));
    let options = format!("-cl-std=CL3.0 -DATTRIBUTE={}", attribute.unwrap_or_default());
    let module = build(include_str!("sub_groups.cl"), &options);
    assert!(module.kernels.iter().all(|kernel| kernel.attrs.reqd_sub_group_size == asked));
    let ways = ways();
    for (case, local) in locals.iter().enumerate() {
        // Some ranges end with smaller groups.
        let size = |dimension: usize| {
            local[dimension] * [2, 1, 1][dimension] + u64::from(case % 2 == 1 && local[dimension] > 2)
        };
        let global: Vec<u64> = (0..local.len()).map(size).collect();
        let range = NdRange::new(&global, local);
        let count: u64 = global.iter().product();
        let arguments = [Arg::Buffer(0), Arg::Buffer(1)];
        let buffers = vec![input(count), vec![0; 4 * count as usize]];
        let mut expected = Memory::new(buffers.clone());
        interp::run_kernel(&module, name, &range, &arguments, &mut expected)
            .unwrap_or_else(|error| panic!("{name} by {local:?}: {error}"));
        // Not every way for each size: compiling takes its time.
        for (vectorize, simd) in ways.iter().skip(case % 3).step_by(3).copied() {
            let known = LaunchFacts::of_range(range.global_offset, range.global_size, range.local_size);
            let launch = if case % 4 == 3 { LaunchFacts::default() } else { known };
            let options = CompileOptions { vectorize, launch, simd, ..CompileOptions::default() };
            let mut found = Memory::new(buffers.clone());
            let what = format!("{name} by {local:?}, {vectorize:?}, sub-groups of {asked:?}");
            let (_, reason) = machine::run_with(options, &module, name, &range, &arguments, &mut found)
                .unwrap_or_else(|e| panic!("{what}: {e}"));
            assert_eq!(reason, None);
            assert!(found.buffers == expected.buffers, "{what}: other results");
        }
    }
}

#[test]
fn branches() {
    check("parted");
}

#[test]
fn loops() {
    check("rounds");
}

#[test]
fn memory() {
    check("exchanged");
}
