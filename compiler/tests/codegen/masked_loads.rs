//! Masked loads of machines whose masks lie in vector registers: lanes that are known to be off touch nothing,
//! and any mask that is known compiles.

use crate::gangs::{head, noise};
use crate::machine;
use lockstep_ir::interp::{Arg, Memory, NdRange, run_kernel};
use lockstep_ir::ir::parse_module;
use lockstep_ir::verify::{Stage, verify_module};
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::{Configuration, Gangs};
use lockstep_protocol::launch_facts::LaunchFacts;

/// Where a load stands: run by all, where a condition that is the same for all holds, where one that is not does.
const CONDITIONS: [&str; 3] = [
    "v6: i1 = icmp.uge v3, 0:i64",
    "v7: i32 = load v2 align 4\n v6: i1 = icmp.ne v7, 0:i32",
    "v6: i1 = icmp.ugt v3, 1:i64",
];

/// Copies these of `row` elements of each work-item.
fn copy(ty: &str, bytes: usize, row: usize, elements: &[usize], condition: &str) -> String {
    let mut text = head(3) + " region r0 {\n b0(v0: ptr.global, v1: ptr.global, v2: ptr.global):\n";
    text += &format!(" v3: i64 = query.global_id 0\n {condition}\n br v6, b1, b2\n b1:\n");
    text += &format!(" v8: i64 = mul v3, {}\n v9: ptr.global = ptradd v0, v8\n", row * bytes);
    text += " v10: ptr.global = ptradd v1, v8\n";
    for (number, element) in elements.iter().enumerate() {
        let value = 11 + number;
        text += &format!(" v{value}: {ty} = load v9 + {} align {bytes}\n", element * bytes);
    }
    for (number, element) in elements.iter().enumerate() {
        text += &format!(" store v{} to v10 + {} align {bytes}\n", 11 + number, element * bytes);
    }
    text + " jump b2\n b2:\n return\n }\n}\n"
}

/// Runs it for groups of `items`, of which the code is told, in gangs that are not full.
fn check(text: &str, items: u64, buffers: &[Vec<u8>]) {
    let module = parse_module(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify_module(&module, Stage::Imported).unwrap_or_else(|e| panic!("{}\n{text}", e[0]));
    let arguments: Vec<Arg> = (0..buffers.len()).map(Arg::Buffer).collect();
    let range = NdRange::new(&[items], &[items]);
    let mut expected = Memory::new(buffers.to_vec());
    run_kernel(&module, "k", &range, &arguments, &mut expected).unwrap_or_else(|error| panic!("{error}\n{text}"));
    for configuration in [Configuration::UniVal, Configuration::UniCf] {
        for (width, opt_disable) in [(8, false), (16, true), (16, false)] {
            let vectorize = Vectorize::Gangs(Gangs { configuration, ..Gangs::of_width(width) });
            let launch = LaunchFacts::of_range(range.global_offset, range.global_size, range.local_size);
            let options = CompileOptions { vectorize, launch, opt_disable, simd: Some(256), ..Default::default() };
            let mut found = Memory::new(buffers.to_vec());
            let ran = machine::run_with(options, &module, "k", &range, &arguments, &mut found);
            let what = format!("{} {width} {opt_disable}", configuration.name());
            let (_, reason) = ran.unwrap_or_else(|e| panic!("{what}: {e}\n{text}"));
            assert_eq!(reason, None, "{what}: {text}");
            assert!(found.buffers == expected.buffers, "{what}: other results\n{text}");
        }
    }
}

#[test]
fn lanes_that_are_never_on_touch_nothing() {
    for (ty, bytes) in [("i16", 2), ("i32", 4), ("f64", 8)] {
        for (row, elements) in [(1, &[0][..]), (2, &[0, 1]), (3, &[0, 1, 2]), (3, &[0, 2]), (4, &[0, 1])] {
            for condition in CONDITIONS {
                let text = copy(ty, bytes, row, elements, condition);
                for items in [5, 15] {
                    let buffer = noise(items as usize * row * bytes);
                    let sink = vec![0; buffer.len()];
                    check(&text, items, &[buffer, sink, vec![1; 4]]);
                }
            }
        }
    }
}
