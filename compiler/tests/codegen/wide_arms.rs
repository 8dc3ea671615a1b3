//! Arms that run in pieces of their lanes compute what they do in one: against the interpreter.

use crate::host_code::build;
use crate::machine;
use lockstep_ir::interp::{Arg, Memory, NdRange, run_kernel};
use lockstep_protocol::compile_options::{CompileOptions, Tier, Vectorize};
use lockstep_protocol::configuration::{Configuration, Gangs};
use lockstep_protocol::launch_facts::LaunchFacts;

const SOURCE: &str = include_str!("wide_arms.cl");

const ITEMS: u64 = 64;

/// Numbers of which those at the places in `far` are large, one of them too large for anything.
fn input(far: impl Fn(u64) -> bool) -> Vec<u8> {
    let number = |place: u64| match (far(place), place % 8) {
        (false, _) => place as f32 * 7.25 - 100.0,
        (true, 5) => f32::INFINITY,
        (true, 6) => f32::NAN,
        (true, rest) => 4000.0 * (rest as f32 + 1.5).powi(place as i32 % 6),
    };
    (0..ITEMS).flat_map(|place| number(place).to_le_bytes()).collect()
}

/// The bits of numbers. Which one of those that are none comes of an operation is not told.
fn numbers(buffer: &[u8]) -> Vec<Option<u32>> {
    let numbers = buffer.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes));
    numbers.map(|number| (!number.is_nan()).then_some(number.to_bits())).collect()
}

#[test]
fn lanes_of_wide_arms_compute_the_same_in_pieces() {
    let module = build(SOURCE, "-cl-std=CL3.0");
    let inputs = [
        input(|_| false),
        input(|_| true),
        input(|place| place % 11 == 3),
        input(|place| place >= 50),
        input(|place| place == 40),
    ];
    let range = NdRange::new(&[ITEMS], &[ITEMS]);
    let launch = LaunchFacts::of_range(range.global_offset, range.global_size, range.local_size);
    let arguments = [Arg::Buffer(0), Arg::Buffer(1)];
    for (name, input) in
        ["far", "looked_up", "of_uniform"].into_iter().flat_map(|name| inputs.iter().map(move |input| (name, input)))
    {
        let buffers = vec![input.clone(), vec![0; input.len()]];
        let mut expected = Memory::new(buffers.clone());
        run_kernel(&module, name, &range, &arguments, &mut expected).unwrap_or_else(|error| panic!("{error}"));
        for (width, simd, tier) in [8, 16, 32, 64].into_iter().flat_map(|width| {
            [(width, Some(256), Tier::Baseline), (width, None, Tier::Baseline), (width, Some(256), Tier::Optimized)]
        }) {
            let vectorize = Vectorize::Gangs(Gangs { configuration: Configuration::UniCf, ..Gangs::of_width(width) });
            let options = CompileOptions { vectorize, launch, simd, tier, ..CompileOptions::default() };
            let mut found = Memory::new(buffers.clone());
            let what = format!("{name} {width} {simd:?} {tier:?}");
            machine::run_with(options, &module, name, &range, &arguments, &mut found)
                .unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(numbers(&found.buffers[1]), numbers(&expected.buffers[1]), "{what}");
        }
    }
}
