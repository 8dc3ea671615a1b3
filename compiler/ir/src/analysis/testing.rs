//! Random control-flow graphs and naive searches for the analyses' tests.

use super::cfg::build_cfg;
use super::dominators::compute_dominators;
use super::loops::find_loops;
use crate::ir::{BinaryOp, Block, BlockCall, Function, InstData, Terminator, Value};
use crate::testing::Random;
use crate::transform::normalize::normalize_function;
use cranelift_entity::SecondaryMap;
use lockstep_protocol::types::Type;

/// A function from one part per block, separated by semicolons: its name and the names of its targets.
pub(crate) fn graph(text: &str) -> (Function, Vec<&str>) {
    let lines: Vec<Vec<&str>> = text.split(';').map(|line| line.split_whitespace().collect()).collect();
    let names: Vec<&str> = lines.iter().map(|line| line[0]).collect();
    let mut f = Function::new();
    for _ in &lines {
        f.add_block();
    }
    let value = f.constant(Type::I32, 0);
    for (i, line) in lines.iter().enumerate() {
        let to = |name: &str| {
            let at = names.iter().position(|n| *n == name).unwrap();
            BlockCall { block: Block::from_u32(at as u32), arguments: vec![] }
        };
        f.blocks[Block::from_u32(i as u32)].terminator = match &line[1..] {
            [] => Terminator::Return,
            [one] => Terminator::Jump(to(one)),
            [cases @ .., last] => {
                let cases = cases.iter().enumerate().map(|(n, name)| (n as u128, to(name))).collect();
                Terminator::Switch { value, cases, default: to(last) }
            }
        };
    }
    (f, names)
}

/// A function of a switch, over its parameter, of so many cases that each fall into the next one, and that parameter.
pub(crate) fn fall_through_switch(cases: usize) -> (Function, Value) {
    let names: Vec<String> = (0..cases).map(|i| format!("c{i}")).collect();
    let falls = (1..cases).map(|i| format!("; c{} c{i}", i - 1)).collect::<String>();
    let text = format!("switch {} end{falls}; c{} end; end", names.join(" "), cases - 1);
    let (mut f, _) = graph(&text);
    let entry = f.entry_block();
    let over = f.add_param(entry, Type::I32);
    if let Terminator::Switch { value, .. } = &mut f.blocks[entry].terminator {
        *value = over;
    }
    (f, over)
}

/// A random graph without cycles.
pub(crate) fn random_dag(seed: u64, count: usize) -> Function {
    let mut random = Random::new(seed);
    let mut f = Function::new();
    for _ in 0..count {
        f.add_block();
    }
    let cond = f.constant(Type::BOOL, 1);
    for i in 0..count - 1 {
        let mut to = || {
            let at = i + 1 + random.below((count - 1 - i).min(4));
            BlockCall { block: Block::from_u32(at as u32), arguments: vec![] }
        };
        let (a, b) = (to(), to());
        f.blocks[Block::from_u32(i as u32)].terminator = match random.below(3) {
            0 => Terminator::Jump(a),
            _ => Terminator::Branch { condition: cond, then_to: a, else_to: b },
        };
    }
    f.blocks[Block::from_u32(count as u32 - 1)].terminator = Terminator::Return;
    f
}

/// A random graph in normal form in which every loop has an exit.
pub(crate) fn random_reducible(seed: u64, count: usize) -> Function {
    let mut random = Random::new(seed);
    loop {
        let mut f = random_dag(random.next_bits(), count);
        let tree = compute_dominators(&build_cfg(&f));
        for &block in &f.layout.clone()[1..] {
            if random.percent(35) {
                let above: Vec<Block> = f.layout[1..].iter().copied().filter(|&h| tree.dominates(h, block)).collect();
                let Terminator::Jump(to) = f.blocks[block].terminator.clone() else { continue };
                if above.is_empty() {
                    continue;
                }
                let back = BlockCall { block: random.pick(&above), arguments: vec![] };
                let cond = f.constant(Type::BOOL, 1);
                f.blocks[block].terminator = Terminator::Branch { condition: cond, then_to: back, else_to: to };
            }
        }
        let cfg = build_cfg(&f);
        let forest = find_loops(&cfg, &compute_dominators(&cfg));
        if forest.irreducible_edges().is_empty() {
            normalize_function(&mut f);
            return f;
        }
    }
}

/// A function of `count` blocks with random jumps, any of them possibly unreachable or endless.
pub(crate) fn random_graph(seed: u64, count: usize) -> Function {
    let mut random = Random::new(seed);
    let mut f = Function::new();
    for _ in 0..count {
        f.add_block();
    }
    let cond = f.constant(Type::BOOL, 1);
    let value = f.constant(Type::I32, 1);
    for block in f.layout.clone() {
        // The entry has no predecessor.
        let mut target = || BlockCall { block: Block::from_u32(1 + random.below(count - 1) as u32), arguments: vec![] };
        let (a, b, c) = (target(), target(), target());
        f.blocks[block].terminator = match random.below(8) {
            0 => Terminator::Return,
            1..=3 => Terminator::Jump(a),
            4 => Terminator::Switch { value, cases: vec![(0, a), (1, b)], default: c },
            _ => Terminator::Branch { condition: cond, then_to: a, else_to: b },
        };
    }
    f
}

/// Whether a path leads from `from` to `to` that does not touch `without`.
pub(crate) fn reaches_without(f: &Function, from: Block, to: Block, without: Option<Block>) -> bool {
    let mut seen = vec![false; f.blocks.len()];
    let mut stack = vec![from];
    while let Some(block) = stack.pop() {
        if Some(block) == without || std::mem::replace(&mut seen[block.as_u32() as usize], true) {
            continue;
        }
        if block == to {
            return true;
        }
        stack.extend(f.blocks[block].terminator.targets().iter().map(|to| to.block));
    }
    false
}

/// A valid function over a random graph: each block has parameters and sums of values that dominate it.
/// Blocks that nothing reaches are left out.
pub(crate) fn random_code(seed: u64, count: usize) -> Function {
    let mut f = random_graph(seed, count);
    let graph = build_cfg(&f);
    let tree = compute_dominators(&graph);
    f.layout.retain(|&b| graph.is_reachable(b));
    let mut random = Random::new(seed ^ 0xabcd);
    for block in f.layout.clone() {
        if block != f.entry_block() {
            for _ in 0..random.below(3) {
                f.add_param(block, Type::I32);
            }
        }
    }
    let zero = f.constant(Type::I32, 0);
    let mut visible: SecondaryMap<Block, Vec<Value>> = SecondaryMap::new();
    for &block in graph.reverse_post_order() {
        let mut values = match tree.immediate_dominator(block) {
            // A sample of what is visible keeps large functions small.
            Some(idom) => visible[idom].iter().rev().step_by(1 + count / 64).copied().collect(),
            None => vec![zero],
        };
        values.extend(&f.blocks[block].params);
        for _ in 0..8 + random.below(6) {
            let mut pick = || values.get(random.below(values.len().max(1))).copied().unwrap_or(zero);
            let data = InstData::Binary {
                opcode: BinaryOp::Add,
                flags: Default::default(),
                fast_math: Default::default(),
                arguments: [pick(), pick()],
            };
            let inst = f.append_inst(block, data, &[Type::I32], Default::default());
            values.push(f.single_result(inst));
        }
        let mut term = f.blocks[block].terminator.clone();
        for to in term.targets_mut() {
            let params = f.blocks[to.block].params.len();
            to.arguments = (0..params).map(|_| values[random.below(values.len())]).collect();
        }
        f.blocks[block].terminator = term;
        visible[block] = values;
    }
    f
}
