//! How many work-items a gang gets, which is the same on all machines for registers of so many bits.

use crate::layouts::build;
use lockstep_ir::plan::Widening;
use lockstep_ir::report::Notes;
use lockstep_ir::target::TargetInfo;
use lockstep_ir::testing::plan_gangs;
use lockstep_protocol::configuration::{Configuration, Gangs};
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::layout::Layout;

/// What gangs of a kernel are, in groups of a known size.
fn gangs_of(source: &str, bits: u32, configuration: Configuration, local: [u64; 3]) -> Widening {
    let module = build(source);
    let mut kernel = module.kernels[0].clone();
    let launch = LaunchFacts::of_range([0; 3], [256, 256, 1], local);
    let gangs = Gangs { configuration, ..Gangs::default() };
    plan_gangs(&module, &mut kernel, gangs, TargetInfo::of_bits(bits), &launch, &Notes::default())
        .unwrap_or_else(|e| panic!("{source}: {e}"))
}

/// A long chain fills the units of 512 bits only if it is computed for twice as many lanes at once. Of doubles the usual gangs
/// have two registers of 256 bits a value as it is.
#[test]
fn long_chains_have_more_lanes_beside_each_other() {
    let width = |ty: &str, expression: &str, bits| {
        let source = format!(
            "kernel void k(global const {ty} *a, global const {ty} *b, global {ty} *c) {{
                size_t i = get_global_id(0);
                c[i] = {expression};
            }}"
        );
        gangs_of(&source, bits, Configuration::UniCf, [256, 1, 1]).width
    };
    for (expression, of_512, of_256) in
        [("a[i] + b[i]", 16, 8), ("pow(a[i], b[i])", 32, 8), ("log(a[i])", 32, 8), ("sqrt(a[i] * b[i])", 16, 8)]
    {
        let of_doubles = |bits| width("double", expression, bits);
        assert_eq!((of_doubles(512), of_doubles(256)), (of_512, of_256), "{expression}");
    }
    // Of so little the way from gang to gang is a part.
    assert_eq!(width("float", "a[i] + b[i]", 256), 16);
}

/// The paper's configurations have their gangs along x.
#[test]
fn only_the_last_configuration_has_other_layouts() {
    let source = "kernel void k(global float *a, global float *b, uint n) {
        size_t at = get_global_id(0) * n + get_global_id(1);
        b[at] = sin(a[at]) * cos(a[at]);
    }";
    for configuration in Configuration::ALL {
        let layout = gangs_of(source, 256, configuration, [16, 16, 1]).layout;
        let expected = if configuration == Configuration::UniCf { Layout::Y } else { Layout::X };
        assert_eq!(layout, expected, "{}", configuration.name());
    }
}
