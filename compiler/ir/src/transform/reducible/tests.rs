//! Random graphs become reducible, and every path through them stays a path.
//!
//! The oracle walks a function with choices of its own at the branches that were there before, and follows the headers
//! that were added by what the code says. The walk before and the walk after have to meet the same blocks with the same
//! values.

use super::*;
use crate::analysis::testing::random_code;
use crate::ir::{InstData, Kernel, Module, ValueDef, parse_module};
use crate::testing::Random;
use crate::verify::{Stage, verify_module};
use std::collections::HashMap;

/// Original blocks after which a walk ends.
const STEPS: usize = 400;

/// Set in what stands for a computed value, so that it is no constant's bits.
const COMPUTED: u128 = 1 << 127;

/// A module around a function.
fn module(function: Function) -> Module {
    let mut module = parse_module("kernel \"k\" { region r0 { b0: return } }").expect("it is valid");
    let kernel: &mut Kernel = &mut module.kernels[0];
    *kernel.body_mut() = function;
    module
}

/// A walk through a function of which the first `original` blocks are those of the graph that the choices are for.
struct Walk<'a> {
    function: &'a Function,
    original: usize,
    choices: Random,
    values: HashMap<Value, u128>,
}

impl Walk<'_> {
    fn value(&self, value: Value) -> u128 {
        match self.function.values[value].definition {
            ValueDef::Const(bits) => bits,
            _ => self.values[&value],
        }
    }

    /// Stands for a sum: equal exactly if block, position and operands are, but for accidents.
    fn compute_sum(&self, operands: [Value; 2]) -> u128 {
        let [left, right] = operands.map(|operand| self.value(operand));
        let mixed = left.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835).rotate_left(41) ^ right;
        mixed.wrapping_mul(0xd1b5_4a32_d192_ed03_94d0_49bb_1331_11eb).rotate_left(29) | COMPUTED
    }

    /// The target that an added header leads to.
    fn follow_header(&self, block: Block) -> BlockCall {
        match &self.function.blocks[block].terminator {
            Terminator::Branch { condition, then_to, else_to } => match self.value(*condition) {
                0 => else_to.clone(),
                1 => then_to.clone(),
                other => panic!("{block} is told {other:#x}"),
            },
            Terminator::Switch { value, cases, default } => {
                let told = self.value(*value);
                assert!(told <= cases.len() as u128, "{block} is told {told:#x}");
                cases.iter().find(|(case, _)| *case == told).map_or(default, |(_, target)| target).clone()
            }
            other => panic!("{block} ends in {other:?}"),
        }
    }

    /// The original blocks of the walk, each with the values of its parameters and results.
    fn trace(mut self) -> Vec<(Block, Vec<u128>)> {
        let mut trace = Vec::new();
        let mut target = BlockCall { block: self.function.entry_block(), arguments: Vec::new() };
        while trace.len() < STEPS {
            let block = target.block;
            let block_data = &self.function.blocks[block];
            let arguments: Vec<u128> = target.arguments.iter().map(|&argument| self.value(argument)).collect();
            assert_eq!(arguments.len(), block_data.params.len(), "{block}");
            self.values.extend(block_data.params.iter().copied().zip(arguments.iter().copied()));
            if block.as_u32() as usize >= self.original {
                assert!(block_data.insts.is_empty(), "{block} computes something");
                target = self.follow_header(block);
                continue;
            }
            let mut seen = arguments;
            for &instruction in &block_data.insts {
                let InstData::Binary { arguments, .. } = &self.function.insts[instruction].data else {
                    panic!("{block} has no sum")
                };
                let sum = self.compute_sum(*arguments);
                self.values.insert(self.function.single_result(instruction), sum);
                seen.push(sum);
            }
            trace.push((block, seen));
            let targets: Vec<BlockCall> =
                block_data.terminator.targets().iter().map(|&target| target.clone()).collect();
            if targets.is_empty() {
                break;
            }
            target = targets[self.choices.below(targets.len())].clone();
        }
        trace
    }
}

fn trace(function: &Function, original: usize, choices: u64) -> Vec<(Block, Vec<u128>)> {
    Walk { function, original, choices: Random::new(choices), values: HashMap::new() }.trace()
}

#[test]
fn any_graph_becomes_reducible_and_keeps_its_paths() {
    let (mut changed, mut several, mut stayed, mut long) = (0, 0, 0, 0);
    for seed in 0..800 {
        let before = module(random_code(seed, 2 + seed as usize % 40));
        verify_module(&before, Stage::Imported).unwrap_or_else(|errors| panic!("seed {seed}: {}\n{before}", errors[0]));
        let mut after = before.clone();
        let added = make_reducible(after.kernels[0].body_mut());
        verify_module(&after, Stage::Imported)
            .unwrap_or_else(|errors| panic!("seed {seed}: {}\n{before}\n{after}", errors[0]));
        let (previous, new) = (before.kernels[0].body(), after.kernels[0].body());
        let flow_graph = build_cfg(new);
        let left = find_irreducible_edges(&flow_graph, &compute_dominators(&flow_graph));
        assert!(left.is_empty(), "seed {seed}: {left:?}\n{before}\n{after}");
        let original = previous.blocks.len();
        assert_eq!(new.blocks.len(), original + added, "seed {seed}");
        for walk in 0..20 {
            let choices = seed << 8 | walk;
            let expected = trace(previous, original, choices);
            assert!(trace(new, original, choices) == expected, "seed {seed}, walk {walk}\n{before}\n{after}");
            long += usize::from(added > 0 && expected.len() == STEPS);
        }
        if added == 0 {
            assert_eq!(before.to_string(), after.to_string(), "seed {seed}");
            stayed += 1;
        }
        changed += usize::from(added > 0);
        several += usize::from(added > 1);
    }
    assert!(changed > 200 && several > 50 && stayed > 100, "{changed} {several} {stayed}");
    assert!(long > 500, "{long} walks stay in cycles");
}

/// A cycle of many entries gets one header, with no more parameters than one entry has and one that says which.
#[test]
fn many_entries_share_one_header() {
    let entries = 300;
    let mut function = Function::new();
    let blocks: Vec<Block> = (0..entries + 2).map(|_| function.add_block()).collect();
    let [first_block, inner @ .., last_block] = &blocks[..] else { panic!("there are blocks") };
    let value = function.constant(Type::I32, 7);
    let condition = function.constant(Type::BOOL, 1);
    inner.iter().enumerate().for_each(|(index, &block)| {
        function.add_param(block, Type::I32);
        if index.is_multiple_of(2) {
            function.add_param(block, Type::BOOL);
        }
    });
    let call = |index: usize| {
        let arguments = if index.is_multiple_of(2) { vec![value, condition] } else { vec![value] };
        BlockCall { block: inner[index], arguments }
    };
    let leave = BlockCall { block: *last_block, arguments: Vec::new() };
    let cases = (0..entries).map(|index| (index as u128, call(index))).collect();
    function.blocks[*first_block].terminator = Terminator::Switch { value, cases, default: leave.clone() };
    for (index, &block) in inner.iter().enumerate() {
        let next = call((index + 1) % entries);
        let else_to = if index == 0 { leave.clone() } else { next.clone() };
        function.blocks[block].terminator = Terminator::Branch { condition, then_to: next, else_to };
    }
    function.blocks[*last_block].terminator = Terminator::Return;
    let added = make_reducible(&mut function);
    assert_eq!(added, 1);
    let header = *function.layout.last().expect("it was added");
    assert_eq!(function.blocks[header].params.len(), 3);
    verify_module(&module(function), Stage::Imported).unwrap_or_else(|errors| panic!("{}", errors[0]));
}
