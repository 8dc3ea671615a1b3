//! A default that is never taken adds nothing to folded switches.

use lockstep_ir::ir::parse_module;
use lockstep_ir::report::Notes;
use lockstep_ir::target::TargetInfo;
use lockstep_ir::testing::plan_gangs;
use lockstep_ir::verify::{Stage, verify_module};
use lockstep_protocol::configuration::Gangs;
use lockstep_protocol::launch_facts::LaunchFacts;
use std::fmt::Write;

/// A kernel with a loop of as many iterations as its id says around `count` switches in a row over the two low bits of that id:
/// each changes a value in three ways or leaves it. Their default is the fourth way, or one that is never taken, the same block for
/// all of them: by their edges to that block the loop has many exits.
fn kernel_text(count: usize, unreachable_default: bool) -> String {
    let mut text = String::from(
        "kernel \"k\" {\n  args 8\n  param \"x\" pointer.global \"int*\" size 8 align 8 offset 0\n  input value(0, 0): \
         ptr.global\n  region r0 {\n  b0(v0: ptr.global):\n    v1: i64 = query.global_id 0\n    v2: i32 = trunc v1\n    \
         v3: i32 = and v2, 3\n    jump b2(v2)\n",
    );
    if unreachable_default {
        text += "  b1:\n    unreachable\n";
    }
    for k in 0..count {
        let [from, to] = [k, k + 1].map(|k| 2 + 4 * k);
        let value = 4 + 4 * k;
        let fourth = from + 3;
        let rest =
            if unreachable_default { format!(", 3: b{fourth}] default b1") } else { format!("] default b{fourth}") };
        let _ = writeln!(
            text,
            "  b{from}(v{value}: i32):\n    switch v3 [0: b{to}(v{value}), 1: b{}, 2: b{}{rest}",
            from + 1,
            from + 2
        );
        for (way, op) in ["add", "mul", "xor"].into_iter().enumerate() {
            let [block, result] = [from, value].map(|first| first + 1 + way);
            let _ = writeln!(
                text,
                "  b{block}:\n    v{result}: i32 = {op} v{value}, {}\n    jump b{to}(v{result})",
                2 * k + 3
            );
        }
    }
    let (last, value) = (2 + 4 * count, 4 + 4 * count);
    let [round, goes_on, offset, address] = [1, 2, 3, 4].map(|next| value + next);
    let _ = writeln!(
        text,
        "  b{last}(v{value}: i32):\n    v{round}: i32 = add v{value}, 1\n    v{goes_on}: i1 = icmp.slt v{round}, v2\n    \
         br v{goes_on}, b2(v{round}), b{end}\n  b{end}:\n    v{offset}: i64 = shl v1, 2\n    v{address}: ptr.global = ptradd \
         v0, v{offset}\n    store v{value} to v{address} align 4\n    return\n  }}\n}}",
        end = last + 1
    );
    text
}

/// The instructions of such a kernel in gangs.
fn widened_size(count: usize, unreachable_default: bool) -> usize {
    let text = kernel_text(count, unreachable_default);
    let mut module = parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut kernel = module.kernels.swap_remove(0);
    let gangs = Gangs { width: Some(16), ..Gangs::default() };
    let widened =
        plan_gangs(&module, &mut kernel, gangs, TargetInfo::of_bits(512), &LaunchFacts::default(), &Notes::new(false));
    assert!(widened.is_ok(), "{:?}", widened.err());
    let size = kernel
        .regions
        .values()
        .flat_map(|function| function.layout.iter().map(|&block| function.blocks[block].insts.len()))
        .sum();
    module.kernels.push(kernel);
    verify_module(&module, Stage::Linearized).unwrap_or_else(|errors| panic!("{}", errors[0]));
    size
}

#[test]
fn defaults_that_are_never_taken_add_nothing() {
    for count in [1, 2, 16, 64] {
        assert_eq!(widened_size(count, true), widened_size(count, false), "{count} switches");
    }
}
