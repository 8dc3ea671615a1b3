//! Random kernels with one long switch in a loop: cases fall through, break, leave the loop, go on to later cases, part
//! lanes or loop for themselves. Linearized and as machine code they do what the interpreter does for each work-item.

use crate::ways::{Effort, Way, expected};
use lockstep_ir::interp::{Arg, NdRange};
use lockstep_ir::ir::parse_module;
use lockstep_ir::testing::{Generated, Random};
use lockstep_protocol::compile_options::Tier;
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::layout::Layout;
use std::fmt::Write;

/// Kernels of a test run.
const KERNELS: u64 = 24;

/// Of so many kernels, one becomes machine code.
const MACHINE_CODE_EVERY: u64 = 4;

/// Work-items of the launch; the last gang is not full.
const ITEMS: u64 = 29;

/// The kernel: `p` is an element of each work-item, `n` a number for all.
const HEAD: &str = "kernel \"k\" {
  args 16
  param \"x\" pointer.global \"int*\" size 8 align 8 offset 0
  param \"n\" value \"int\" size 4 align 4 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): i32
  region r0 {
  entry(p: ptr.global, n: i32):
    ix: i64 = query.global_id 0
    by: i64 = shl ix, 2:i64
    q: ptr.global = ptradd p, by
    x: i32 = load q align 4
    jump head(0:i32, x)
  head(j: i32, a: i32):
    jj: i32 = mul j, 13:i32
    xj: i32 = add x, jj
    s: i32 = and xj, 127:i32
";

/// Behind the switch.
const TAIL: &str = "  end(e: i32):
    i2: i32 = add j, 1:i32
    t: i1 = icmp.slt i2, 4:i32
    br t, head(i2, e), out(e)
  out(o: i32):
    store o to q align 4
    return
  }
}
";

/// The code of a case: how it changes the value and where it goes on.
fn write_case(text: &mut String, index: usize, cases: usize, random: &mut Random) {
    let op = ["add", "xor", "mul", "sub"][random.below(4)];
    let by = 2 * random.below(500) + 3;
    let _ = writeln!(text, "  c{index}(a{index}: i32):\n    b{index}: i32 = {op} a{index}, {by}:i32");
    let next = if index + 1 == cases { "end".to_owned() } else { format!("c{}", index + 1) };
    let _ = match random.below(10) {
        0..4 => writeln!(text, "    jump {next}(b{index})"),
        4..6 => writeln!(text, "    jump end(b{index})"),
        6 => writeln!(
            text,
            "    f{index}: i32 = and b{index}, 1:i32\n    g{index}: i1 = icmp.ne f{index}, 0:i32\n    br g{index}, {next}(b{index}), end(b{index})"
        ),
        7 => writeln!(
            text,
            "    f{index}: i32 = and n, {}:i32\n    g{index}: i1 = icmp.ne f{index}, 0:i32\n    br g{index}, u{index}, {next}(b{index})\n  u{index}:\n    \
             w{index}: i32 = add b{index}, 5:i32\n    store w{index} to q align 4\n    jump {next}(w{index})",
            1 << random.below(5)
        ),
        8 if random.percent(30) => writeln!(text, "    jump out(b{index})"),
        8 => {
            let later = index + 1 + random.below(4);
            let to = if later >= cases { "end".to_owned() } else { format!("c{later}") };
            writeln!(text, "    jump {to}(b{index})")
        }
        _ => writeln!(
            text,
            "    m{index}: i32 = and b{index}, 3:i32\n    jump l{index}(0:i32, b{index})\n  l{index}(r{index}: i32, v{index}: i32):\n    y{index}: i32 = add v{index}, \
             r{index}\n    z{index}: i32 = add r{index}, 1:i32\n    g{index}: i1 = icmp.slt r{index}, m{index}\n    br g{index}, l{index}(z{index}, y{index}), {next}(y{index})"
        ),
    };
}

/// A text with numbers for the names of blocks and values, as the form of kernels has them: a place in a list for names, and
/// a place behind these for names with a number.
fn numbered(text: &str) -> String {
    const BLOCKS: [&str; 5] = ["entry", "head", "end", "out", "d"];
    const NUMBERED_BLOCKS: [&str; 3] = ["c", "u", "l"];
    const VALUES: [&str; 17] =
        ["p", "n", "ix", "by", "q", "x", "j", "a", "jj", "xj", "s", "e", "o", "i2", "t", "da", "db"];
    const NUMBERED_VALUES: [&str; 10] = ["a", "b", "f", "g", "w", "m", "r", "v", "y", "z"];
    let rename = |word: &str| -> String {
        let name = word.trim_end_matches(|character: char| character.is_ascii_digit());
        let at = |names: &[&str], name: &str| names.iter().position(|&other| other == name);
        if let Some(block) = at(&BLOCKS, word) {
            return format!("b{block}");
        }
        if let Some(value) = at(&VALUES, word) {
            return format!("v{value}");
        }
        let Ok(number) = word[name.len()..].parse::<usize>() else { return word.to_owned() };
        match (at(&NUMBERED_BLOCKS, name), at(&NUMBERED_VALUES, name)) {
            (Some(block), _) => format!("b{}", BLOCKS.len() + NUMBERED_BLOCKS.len() * number + block),
            (_, Some(value)) => format!("v{}", VALUES.len() + NUMBERED_VALUES.len() * number + value),
            _ => word.to_owned(),
        }
    };
    let body = text.find("  entry").unwrap_or_default();
    let mut output = text[..body].to_owned();
    for part in text[body..].split_inclusive(|character: char| !character.is_ascii_alphanumeric()) {
        let word = part.trim_end_matches(|character: char| !character.is_ascii_alphanumeric());
        output += &rename(word);
        output += &part[word.len()..];
    }
    output
}

/// The kernel of a seed and how to launch it.
fn kernel(seed: u64) -> Generated {
    let mut random = Random::new(seed);
    let cases = 60 + random.below(30);
    let mut text = HEAD.to_owned();
    // Some keys in another order than the cases, and some cases with two of them.
    let mut targets: Vec<usize> = (0..cases).collect();
    for _ in 0..random.below(8) {
        let (here, there) = (random.below(cases), random.below(cases));
        targets.swap(here, there);
    }
    targets.extend((0..random.below(6)).map(|_| random.below(cases)));
    let keys: Vec<String> = targets.iter().enumerate().map(|(key, case)| format!("{key}: c{case}(a)")).collect();
    let default = match seed % 3 {
        0 => "end".to_owned(),
        1 => "d".to_owned(),
        _ => format!("c{}", random.below(cases)),
    };
    let _ = writeln!(text, "    switch s [{}] default {default}(a)", keys.join(", "));
    for index in 0..cases {
        write_case(&mut text, index, cases, &mut random);
    }
    if default == "d" {
        text.push_str("  d(da: i32):\n    db: i32 = xor da, 77:i32\n    store db to q align 4\n    jump end(db)\n");
    }
    text.push_str(TAIL);
    let text = numbered(&text);
    let module = parse_module(&text).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
    let values = (0..ITEMS).flat_map(|_| (random.below(1 << 20) as u32).to_le_bytes());
    Generated {
        module,
        range: NdRange::new(&[ITEMS], &[ITEMS]),
        buffers: vec![values.collect()],
        args: vec![Arg::Buffer(0), Arg::i32(random.below(32) as i32)],
    }
}

#[test]
fn long_switches_do_in_gangs_what_work_items_do_alone() {
    for seed in 0..KERNELS {
        let g = kernel(seed);
        let right = expected(&g).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", g.module));
        let mut ways = Way::lockstep(Layout::X);
        if seed % MACHINE_CODE_EVERY == 0 {
            ways.extend(Way::machine([4, 16][seed as usize / 4 % 2], Layout::X, Effort::Of(Tier::Optimized), None));
        }
        for way in ways {
            if let Some(fault) = way.fault(&g, LaunchFacts::default(), &right) {
                panic!("seed {seed}, {way:?}: {fault}\n{}", g.module);
            }
        }
    }
}
