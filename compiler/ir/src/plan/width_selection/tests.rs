//! Which gangs kernels of known behaviour get.

use super::*;
use crate::ir::parse_module;
use crate::plan::kernel_state::Request;
use crate::plan::passes::PASSES;
use lockstep_protocol::compile_options::{Bounds, Vectorize};
use lockstep_protocol::loop_profile::LoopProfile;
use lockstep_protocol::scalar_replacement::ScalarReplacement;

/// What a kernel of two buffers of floats (v0, v1) gets in groups of known size on a machine with registers of so many
/// bits. The code finds the global ids of dimensions 0 and 1 in v4 and v5.
fn choose(code: &str, local: [u32; 3], register_bits: u32, configuration: Configuration) -> WidthChoice {
    let mut text = "kernel \"k\" {\n args 16\n".to_string();
    for index in 0..2 {
        text += &format!(" param \"p{index}\" pointer.global \"float*\" size 8 align 8 offset {}\n", 8 * index);
    }
    text += " input value(0, 0): ptr.global\n input value(1, 0): ptr.global\n region r0 {\n";
    text += " b0(v0: ptr.global, v1: ptr.global):\n v4: i64 = query.global_id 0\n v5: i64 = query.global_id 1\n";
    text += &format!("{code}\n return\n }}\n}}\n");
    let module = parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let gangs = Gangs { configuration, ..Gangs::default() };
    let request = Request {
        vectorize: Vectorize::Gangs(gangs),
        target: TargetInfo::of_bits(register_bits),
        bounds: Bounds::default(),
        loops: LoopProfile::default(),
        scalar_replacement: ScalarReplacement::default(),
        only_needed: false,
        against: None,
    };
    let launch_facts = LaunchFacts {
        local: LocalSize::Exactly(local),
        zero_offset: true,
        full_groups: true,
        ..LaunchFacts::default()
    };
    let notes = Notes::default();
    let kernel_state = KernelState::new(&module, module.kernels[0].clone(), &launch_facts, request, &notes, PASSES);
    choose_width(&kernel_state, gangs)
}

/// Loads and stores one float each at these offsets in bytes.
fn copy(offset: &str) -> String {
    format!(
        "{offset}\n v11: ptr.global = ptradd v0, v10\n v12: f32 = load v11 align 4\n \
         v13: ptr.global = ptradd v1, v10\n store v12 to v13 align 4"
    )
}

const ALONG_X: &str = "v10: i64 = shl v4, 2";
/// Rows of 1,024 floats of which x says the row.
const ALONG_Y: &str = "v8: i64 = shl v4, 10\n v9: i64 = add v8, v5\n v10: i64 = shl v9, 2";

#[test]
fn contiguous_rows_fill_registers_along_x() {
    for (bits, gang_width) in [(128, 4), (256, 8), (512, 16)] {
        let found = choose(&copy(ALONG_X), [64, 1, 1], bits, Configuration::UniCf);
        assert_eq!(found.layout, Layout::X);
        assert!(found.width >= gang_width, "{bits} bits: {found}");
        assert!(found.is_profitable(), "{bits} bits: {found}");
    }
}

#[test]
fn short_rows_leave_no_lane_idle() {
    let found = choose(&copy(ALONG_X), [4, 1, 1], 512, Configuration::UniCf);
    assert_eq!((found.layout, found.width), (Layout::X, 4), "{found}");
}

#[test]
fn gangs_lie_along_the_dimension_in_which_memory_is_contiguous() {
    let found = choose(&copy(ALONG_Y), [16, 16, 1], 512, Configuration::UniCf);
    assert_eq!(found.layout, Layout::Y, "{found}");
    let other = found.other.expect("there was a choice");
    assert!(u64::from(found.width) * other.gang > u64::from(other.width) * found.gang, "{found}");
}

#[test]
fn the_naive_configuration_knows_gangs_along_x_only() {
    let found = choose(&copy(ALONG_Y), [16, 16, 1], 512, Configuration::Naive);
    assert_eq!((found.layout, found.other), (Layout::X, None), "{found}");
}

#[test]
fn a_dimension_of_one_work_item_is_no_choice() {
    let found = choose(&copy(ALONG_Y), [16, 1, 1], 512, Configuration::UniCf);
    assert_ne!(found.layout, Layout::Y, "{found}");
}

#[test]
fn what_lanes_do_one_by_one_is_not_worth_a_gang() {
    let exchange = "v6: i64 = mul v4, v4\n v7: ptr.global = ptradd v0, v6\n \
                    v8: i32, v9: i1 = atomic_cas.relaxed.relaxed v7, 0, 1 align 4";
    let found = choose(exchange, [64, 1, 1], 256, Configuration::UniCf);
    assert!(!found.is_profitable(), "{found}");
}
