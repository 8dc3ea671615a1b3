//! Regions copy at most a constant times the kernel, however many barriers stand under conditions.

use lockstep_ir::ir::{Kernel, Module, parse_module};
use lockstep_ir::transform::barriers::cut_at_barriers;
use lockstep_ir::transform::uniform_live_values::uniform_live_values;
use lockstep_ir::verify::{Stage, verify_module};
use lockstep_protocol::compile_options::Bounds;
use std::fmt::Write;

/// What is around the conditional barriers of a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Around {
    Nothing,
    /// A loop of a known number of iterations for all work-items.
    Loop,
    /// A loop that each work-item could leave by itself.
    LoopOfEach,
    /// A return behind each of them.
    Returns,
    /// A return of some work-items before all of them.
    EarlyReturn,
}

/// A kernel with `count` pieces of code with two barriers each, which work-items may pass by.
fn kernel_text(count: usize, around: Around) -> String {
    let mut text = String::from(
        "kernel \"k\" {\n  args 16\n  param \"x\" pointer.global \"int*\" size 8 align 8 offset 0\n  param \"n\" value \
         \"int\" size 4 align 4 offset 8\n  input value(0, 0): ptr.global\n  input value(1, 0): i32\n  local lv0 size 256 \
         align 4\n  region r0 {\n  entry(p: ptr.global, n: i32):\n    ix: i64 = query.local_id 0\n    by: i64 = shl ix, 2:i64\n    \
         q: ptr.global = ptradd p, by\n    l: ptr.local = local_addr lv0\n    m: ptr.local = ptradd l, by\n    a: i32 = load q \
         align 4\n    e: i1 = icmp.slt a, n\n",
    );
    // A piece's blocks are begin, in, in2, else, end; its value comes in as x<k> of begin.
    match around {
        Around::EarlyReturn => text.push_str("    br e, begin0(a), out\n"),
        _ => text.push_str("    jump begin0(a)\n"),
    }
    for k in 0..count {
        let bit = 1u32 << (k % 31);
        let _ = write!(
            text,
            "  begin{k}(x{k}: i32):\n    f{k}: i32 = and n, {bit}:i32\n    c{k}: i1 = icmp.ne f{k}, 0:i32\n    br c{k}, in{k}, else{k}\n  \
             in{k}:\n    store x{k} to m align 4\n    barrier\n    y{k}: i32 = load l align 4\n    z{k}: i32 = add y{k}, x{k}\n    \
             barrier\n"
        );
        let others = format!("else{k}:\n    w{k}: i32 = add x{k}, {k}:i32\n    jump begin{}(w{k})\n", k + 1);
        let _ = match around {
            Around::Returns => write!(
                text,
                "    t{k}: i1 = icmp.eq n, {k}:i32\n    br t{k}, out, on{k}\n  on{k}:\n    jump begin{}(z{k})\n  {others}",
                k + 1
            ),
            _ => write!(text, "    jump begin{}(z{k})\n  {others}", k + 1),
        };
    }
    let _ = match around {
        Around::Loop => write!(
            text,
            "  begin{count}(x{count}: i32):\n    g: i32 = load q + 4 align 4\n    h: i1 = icmp.eq n, 7:i32\n    br h, begin0(x{count}), last\n"
        ),
        Around::LoopOfEach => {
            write!(
                text,
                "  begin{count}(x{count}: i32):\n    h: i1 = icmp.slt x{count}, 1000:i32\n    br h, begin0(x{count}), last\n"
            )
        }
        _ => write!(text, "  begin{count}(x{count}: i32):\n    jump last\n"),
    };
    let _ = write!(text, "  last:\n    store x{count} to q align 4\n    return\n  out:\n    return\n  }}\n}}\n");
    numbered(&text)
}

/// A text with numbers for the names of blocks and values, as the form of kernels has them.
fn numbered(text: &str) -> String {
    const BLOCKS: [&str; 4] = ["begin", "in", "else", "on"];
    const OTHER_BLOCKS: [&str; 3] = ["entry", "last", "out"];
    const VALUES: [&str; 7] = ["x", "f", "c", "y", "z", "w", "t"];
    const OTHER_VALUES: [&str; 11] = ["p", "n", "ix", "by", "q", "l", "m", "a", "e", "g", "h"];
    let rename = |word: &str| -> String {
        let digits = word.trim_start_matches(|character: char| character.is_ascii_alphabetic());
        let name = &word[..word.len() - digits.len()];
        let at = |names: &[&str]| names.iter().position(|&other| other == name);
        match (digits.parse::<usize>(), at(&BLOCKS), at(&VALUES)) {
            (Ok(k), Some(block), _) => format!("b{}", 3 + 4 * k + block),
            (Ok(k), _, Some(value)) => format!("v{}", 11 + 7 * k + value),
            _ if !digits.is_empty() => word.to_owned(),
            _ => match (at(&OTHER_BLOCKS), at(&OTHER_VALUES)) {
                (Some(block), _) => format!("b{block}"),
                (_, Some(value)) => format!("v{value}"),
                _ => word.to_owned(),
            },
        }
    };
    let mut output = String::new();
    let mut word = String::new();
    for character in text.chars() {
        if character.is_ascii_alphanumeric() {
            word.push(character);
        } else {
            output += &rename(&std::mem::take(&mut word));
            output.push(character);
        }
    }
    output
}

fn size(kernel: &Kernel) -> usize {
    let blocks = |body: &lockstep_ir::ir::Function| -> usize {
        body.layout.iter().map(|&block| body.blocks[block].insts.len() + 1).sum()
    };
    kernel.regions.values().map(blocks).sum()
}

/// The sizes of a kernel and of all its regions together.
fn sizes(count: usize, around: Around) -> (usize, usize) {
    let text = kernel_text(count, around);
    let module = parse_module(&text).unwrap_or_else(|error| panic!("{around:?}: {error}\n{text}"));
    let mut cut = module.clone();
    cut_at_barriers(&mut cut.kernels[0]);
    uniform_live_values(&Module::default(), &mut cut.kernels[0]);
    verify_module(&cut, Stage::Regions).unwrap_or_else(|errors| panic!("{around:?}: {}", errors[0]));
    (size(&module.kernels[0]), size(&cut.kernels[0]))
}

#[test]
fn regions_copy_a_constant_times_the_kernel() {
    use Around::*;
    for around in [Nothing, Loop, LoopOfEach, Returns, EarlyReturn] {
        for count in [8, 16, 32, 64, 128, 256, 512] {
            let (kernel, regions) = sizes(count, around);
            let Bounds { few_insts, most_copies } = Bounds::default();
            // What regions load and store of kept values comes on top of what they copy.
            let maximum = few_insts.max((most_copies + 1) * kernel) * 2;
            assert!(regions <= maximum, "{around:?}, {count}: {kernel} instructions become {regions}");
        }
    }
}

/// Few barriers have regions of their own, as there is little to copy.
#[test]
fn short_kernels_have_a_region_for_each_barrier() {
    let text = kernel_text(8, Around::Nothing);
    let mut kernel = parse_module(&text).unwrap_or_else(|error| panic!("{error}")).kernels.swap_remove(0);
    cut_at_barriers(&mut kernel);
    assert_eq!(kernel.regions.len(), 17);
}
