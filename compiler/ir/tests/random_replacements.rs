//! Scalar replacement on random loops that read and write around their place in an array: each form keeps what they mean, and loads
//! nothing outside of what they access.

use cranelift_entity::EntitySet;
use lockstep_ir::interp::{Arg, Memory, NdRange, run_limited};
use lockstep_ir::ir::{Block, Function, InstData, Module, Terminator, parse_module};
use lockstep_ir::testing::Random;
use lockstep_ir::transform::normalize::normalize_function;
use lockstep_ir::transform::scalar_replacement::{MOST_CARRIED, Placement, prepare_loops, replace_loads};
use lockstep_ir::verify::{Stage, verify_module};
use lockstep_protocol::scalar_replacement::ScalarReplacement;
use std::fmt::Write;

/// Steps of a run that ends.
const STEPS: u64 = 100_000;
/// Words of the array, of which a kernel accesses some in the middle.
const WORDS: usize = 96;
/// The index from which kernels count.
const BASE: i32 = 32;

/// Writes a kernel of a loop whose iterations read words near `base + id + i`, in arms and outside, and write some.
struct KernelWriter {
    random: Random,
    text: String,
    next_value: usize,
    next_block: usize,
    sum: String,
}

impl KernelWriter {
    fn write_kernel(seed: u64) -> String {
        let random = Random::new(seed);
        let mut writer =
            KernelWriter { random, text: String::new(), next_value: 100, next_block: 10, sum: "v11".into() };
        let step = writer.random.pick(&[1, 1, 1, 2]);
        let flags = if writer.random.percent(85) { ".nsw" } else { "" };
        for _ in 0..1 + writer.random.below(4) {
            match writer.random.below(7) {
                0 => writer.write_store(),
                6 => writer.write_store_backwards(),
                1 | 2 => writer.write_arms(),
                _ => {
                    let sum = writer.sum.clone();
                    writer.sum = writer.write_reads(&sum);
                }
            }
        }
        let KernelWriter { text: body, sum, .. } = writer;
        let inputs = "input value(0, 0): ptr.global\n input value(1, 0): ptr.global\n input value(2, 0): i32\n input value(3, 0): i32";
        format!(
            "kernel \"k\" {{\n args 24\n param \"a\" pointer.global \"int*\" size 8 align 8 offset 0\n \
             param \"o\" pointer.global \"int*\" size 8 align 8 offset 8\n param \"n\" value \"int\" size 4 align 4 offset 16\n \
             param \"base\" value \"int\" size 4 align 4 offset 20\n {inputs}\n region r0 {{\n \
             b0(v0: ptr.global, v1: ptr.global, v2: i32, v3: i32):\n v4: i64 = query.global_id 0\n v5: i32 = trunc v4\n \
             v6: i32 = add.nsw v3, v5\n v7: i64 = shl v4, 2\n v8: ptr.global = ptradd v1, v7\n jump b1(0:i32, v5)\n \
             b1(v10: i32, v11: i32):\n v12: i32 = add{flags} v6, v10\n v13: i64 = sext v12\n v14: i64 = shl v13, 2\n \
             v15: ptr.global = ptradd v0, v14\n{body} v90: i32 = add{flags} v10, {step}:i32\n \
             v91: i1 = icmp.slt v90, v2\n br v91, b1(v90, {sum}), b2({sum})\n b2(v92: i32):\n store v92 to v8 align 4\n \
             return\n }}\n}}\n"
        )
    }

    fn new_value(&mut self) -> String {
        self.next_value += 1;
        format!("v{}", self.next_value)
    }

    fn new_block(&mut self) -> String {
        self.next_block += 1;
        format!("b{}", self.next_block)
    }

    /// Bytes from the place of the iteration on.
    fn random_offset(&mut self) -> String {
        match self.random.below(5) as i32 * 4 - 8 {
            offset if offset < 0 => format!(" - {}", -offset),
            offset => format!(" + {offset}"),
        }
    }

    /// Reads one to three words into a sum; the new one.
    fn write_reads(&mut self, sum: &str) -> String {
        let mut sum = sum.to_owned();
        for _ in 0..1 + self.random.below(3) {
            let (word, scaled, next, offset) =
                (self.new_value(), self.new_value(), self.new_value(), self.random_offset());
            let lines = format!(
                " {word}: i32 = load v15{offset} align 4\n {scaled}: i32 = mul {sum}, 3\n {next}: i32 = add {scaled}, {word}\n"
            );
            self.text += &lines;
            sum = next;
        }
        sum
    }

    fn write_store(&mut self) {
        let (offset, sum) = (self.random_offset(), self.sum.clone());
        writeln!(self.text, " store {sum} to v15{offset} align 4").expect("a string");
    }

    /// Writes to a place that goes the other way, over words that earlier iterations and other work-items accessed.
    fn write_store_backwards(&mut self) {
        let [index, wide_index, bytes, address] = [(); 4].map(|()| self.new_value());
        let (offset, sum) = (self.random_offset(), self.sum.clone());
        let lines = format!(
            " {index}: i32 = sub v6, v10\n {wide_index}: i64 = sext {index}\n {bytes}: i64 = shl {wide_index}, 2\n \
             {address}: ptr.global = ptradd v0, {bytes}\n store {sum} to {address}{offset} align 4\n"
        );
        self.text += &lines;
    }

    /// A branch on the sum, on the id or on the iteration, of which one arm or both read.
    fn write_arms(&mut self) {
        let asked = self.random.pick(&["v11", "v5", "v10"]);
        let (bit, condition) = (self.new_value(), self.new_value());
        let [left, right, meet] = [(); 3].map(|()| self.new_block());
        writeln!(self.text, " {bit}: i32 = and {asked}, 1\n {condition}: i1 = icmp.eq {bit}, 0:i32").expect("a string");
        writeln!(self.text, " br {condition}, {left}, {right}\n {left}:").expect("a string");
        let sum = self.sum.clone();
        let left_sum = self.write_reads(&sum);
        writeln!(self.text, " jump {meet}({left_sum})\n {right}:").expect("a string");
        let right_sum = if self.random.percent(50) { self.write_reads(&sum) } else { sum };
        let met = self.new_value();
        writeln!(self.text, " jump {meet}({right_sum})\n {meet}({met}: i32):").expect("a string");
        self.sum = met;
    }
}

/// What the array's words from `from` to `to` and the results are after a run; nothing if the kernel accesses others.
fn run_within(module: &Module, count: i32, from: usize, to: usize) -> Option<Vec<Vec<u8>>> {
    let words = (from..to).flat_map(|index| (index as i32 * 7 + 3).to_le_bytes()).collect();
    let mut memory = Memory::new(vec![words, vec![0; 12]]);
    let arguments = [Arg::Buffer(0), Arg::Buffer(1), Arg::i32(count), Arg::i32(BASE - from as i32)];
    let ran = run_limited(module, "k", &NdRange::new(&[3], &[3]), &arguments, &mut memory, STEPS);
    ran.ok().map(|_| memory.buffers)
}

/// The words that a kernel accesses, from the first to behind the last.
fn accessed_words(module: &Module, count: i32) -> (usize, usize) {
    let first = (0..WORDS).take_while(|&from| run_within(module, count, from, WORDS).is_some()).last();
    let first = first.expect("the whole array is enough");
    let last = (first..=WORDS).find(|&to| run_within(module, count, first, to).is_some());
    (first, last.expect("the whole array is enough"))
}

fn count_loads(function: &Function) -> usize {
    let instructions = function.layout.iter().flat_map(|&block| &function.blocks[block].insts);
    instructions.filter(|&&inst| matches!(function.insts[inst].data, InstData::Load { .. })).count()
}

/// The branches that ask what differs between work-items: all of them here, which is what a gang knows least of.
fn find_branches(function: &Function) -> EntitySet<Block> {
    let mut branches = EntitySet::new();
    for &block in &function.layout {
        let is_loops_end = matches!(&function.blocks[block].terminator, Terminator::Branch { then_to, .. }
            if function.blocks[then_to.block].insts.is_empty()
                && matches!(function.blocks[then_to.block].terminator, Terminator::Jump(_)));
        if function.blocks[block].terminator.selector().is_some() && !is_loops_end {
            branches.insert(block);
        }
    }
    branches
}

#[test]
fn loops_mean_the_same_and_load_nothing_else() {
    let (mut replaced, mut moved) = ([0; ScalarReplacement::ALL.len()], 0);
    for seed in 0..400 {
        let text = KernelWriter::write_kernel(seed);
        let mut module = parse_module(&text).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        module.kernels[0].regions.values_mut().for_each(normalize_function);
        let count = [1, 2, 3, 7][seed as usize % 4];
        let (from, to) = accessed_words(&module, count);
        let expected = run_within(&module, count, from, to).expect("the kernel accesses these");
        for (index, &form) in ScalarReplacement::ALL.iter().enumerate() {
            let mut changed = module.clone();
            let kernel = changed.kernels[0].clone();
            for function in changed.kernels[0].regions.values_mut() {
                let mut divergent_branches = find_branches(function);
                let (most_carried, always) = (MOST_CARRIED, seed % 2 == 0);
                let placement = Placement { form, divergent_branches: &divergent_branches, most_carried, always };
                if prepare_loops(&kernel, function, &[], placement) {
                    divergent_branches = find_branches(function);
                    moved += 1;
                }
                let before = count_loads(function);
                let placement = Placement { form, divergent_branches: &divergent_branches, most_carried, always };
                let outcomes = replace_loads(&kernel, function, &[], placement);
                let went = outcomes.iter().filter(|outcome| outcome.result.is_ok()).count();
                assert!(went > 0 || count_loads(function) == before, "seed {seed}, {}", form.name());
                replaced[index] += went;
            }
            if let Err(errors) = verify_module(&changed, Stage::Normalized) {
                panic!("seed {seed}, {}: {}\nfrom\n{module}\nto\n{changed}", form.name(), errors[0]);
            }
            let found = run_within(&changed, count, from, to);
            assert!(found.is_some(), "seed {seed}, {}: loads more\nfrom\n{module}\nto\n{changed}", form.name());
            assert!(found.as_ref() == Some(&expected), "seed {seed}, {}:\nfrom\n{module}\nto\n{changed}", form.name());
        }
    }
    let [off, others @ ..] = replaced;
    assert!(off == 0 && others.iter().all(|&count| count > 100) && moved > 20, "{replaced:?}, {moved} loops");
}
