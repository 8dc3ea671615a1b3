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
    let mut function = Function::new();
    for _ in &lines {
        function.add_block();
    }
    let value = function.constant(Type::I32, 0);
    for (index, line) in lines.iter().enumerate() {
        let edge_to = |name: &str| {
            let position = names.iter().position(|other| *other == name).unwrap();
            BlockCall { block: Block::from_u32(position as u32), arguments: vec![] }
        };
        function.blocks[Block::from_u32(index as u32)].terminator = match &line[1..] {
            [] => Terminator::Return,
            [one] => Terminator::Jump(edge_to(one)),
            [cases @ .., last] => {
                let cases = cases.iter().enumerate().map(|(case, name)| (case as u128, edge_to(name))).collect();
                Terminator::Switch { value, cases, default: edge_to(last) }
            }
        };
    }
    (function, names)
}

/// A function of a switch, over its parameter, of so many cases that each fall into the next one, and that parameter.
pub(crate) fn fall_through_switch(case_count: usize) -> (Function, Value) {
    let names: Vec<String> = (0..case_count).map(|index| format!("c{index}")).collect();
    let falls = (1..case_count).map(|index| format!("; c{} c{index}", index - 1)).collect::<String>();
    let text = format!("switch {} end{falls}; c{} end; end", names.join(" "), case_count - 1);
    let (mut function, _) = graph(&text);
    let entry_block = function.entry_block();
    let over = function.add_param(entry_block, Type::I32);
    if let Terminator::Switch { value, .. } = &mut function.blocks[entry_block].terminator {
        *value = over;
    }
    (function, over)
}

/// A random graph without cycles.
pub(crate) fn random_dag(seed: u64, block_count: usize) -> Function {
    let mut random = Random::new(seed);
    let mut function = Function::new();
    for _ in 0..block_count {
        function.add_block();
    }
    let condition = function.constant(Type::BOOL, 1);
    for index in 0..block_count - 1 {
        let mut random_edge = || {
            let position = index + 1 + random.below((block_count - 1 - index).min(4));
            BlockCall { block: Block::from_u32(position as u32), arguments: vec![] }
        };
        let (first, second) = (random_edge(), random_edge());
        function.blocks[Block::from_u32(index as u32)].terminator = match random.below(3) {
            0 => Terminator::Jump(first),
            _ => Terminator::Branch { condition, then_to: first, else_to: second },
        };
    }
    function.blocks[Block::from_u32(block_count as u32 - 1)].terminator = Terminator::Return;
    function
}

/// A random graph in normal form in which every loop has an exit.
pub(crate) fn random_reducible(seed: u64, block_count: usize) -> Function {
    let mut random = Random::new(seed);
    loop {
        let mut function = random_dag(random.next_bits(), block_count);
        let dominators = compute_dominators(&build_cfg(&function));
        for &block in &function.layout.clone()[1..] {
            if random.percent(35) {
                let headers: Vec<Block> = function.layout[1..]
                    .iter()
                    .copied()
                    .filter(|&header| dominators.dominates(header, block))
                    .collect();
                let Terminator::Jump(target) = function.blocks[block].terminator.clone() else { continue };
                if headers.is_empty() {
                    continue;
                }
                let back = BlockCall { block: random.pick(&headers), arguments: vec![] };
                let condition = function.constant(Type::BOOL, 1);
                function.blocks[block].terminator = Terminator::Branch { condition, then_to: back, else_to: target };
            }
        }
        let flow_graph = build_cfg(&function);
        let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
        if loop_forest.irreducible_edges().is_empty() {
            normalize_function(&mut function);
            return function;
        }
    }
}

/// A function of `block_count` blocks with random jumps, any of them possibly unreachable or endless.
pub(crate) fn random_graph(seed: u64, block_count: usize) -> Function {
    let mut random = Random::new(seed);
    let mut function = Function::new();
    for _ in 0..block_count {
        function.add_block();
    }
    let condition = function.constant(Type::BOOL, 1);
    let value = function.constant(Type::I32, 1);
    for block in function.layout.clone() {
        // The entry has no predecessor.
        let mut target =
            || BlockCall { block: Block::from_u32(1 + random.below(block_count - 1) as u32), arguments: vec![] };
        let (first, second, third) = (target(), target(), target());
        function.blocks[block].terminator = match random.below(8) {
            0 => Terminator::Return,
            1..=3 => Terminator::Jump(first),
            4 => Terminator::Switch { value, cases: vec![(0, first), (1, second)], default: third },
            _ => Terminator::Branch { condition, then_to: first, else_to: second },
        };
    }
    function
}

/// Whether a path leads from `source` to `target` that does not touch `without`.
pub(crate) fn reaches_without(function: &Function, source: Block, end_block: Block, without: Option<Block>) -> bool {
    let mut visited = vec![false; function.blocks.len()];
    let mut worklist = vec![source];
    while let Some(block) = worklist.pop() {
        if Some(block) == without || std::mem::replace(&mut visited[block.as_u32() as usize], true) {
            continue;
        }
        if block == end_block {
            return true;
        }
        worklist.extend(function.blocks[block].terminator.targets().iter().map(|target| target.block));
    }
    false
}

/// A valid function over a random graph: each block has parameters and sums of values that dominate it.
/// Blocks that nothing reaches are left out.
pub(crate) fn random_code(seed: u64, block_count: usize) -> Function {
    let mut function = random_graph(seed, block_count);
    let flow_graph = build_cfg(&function);
    let dominators = compute_dominators(&flow_graph);
    function.layout.retain(|&other_block| flow_graph.is_reachable(other_block));
    let mut random = Random::new(seed ^ 0xabcd);
    for block in function.layout.clone() {
        if block != function.entry_block() {
            for _ in 0..random.below(3) {
                function.add_param(block, Type::I32);
            }
        }
    }
    let zero = function.constant(Type::I32, 0);
    let mut visible: SecondaryMap<Block, Vec<Value>> = SecondaryMap::new();
    for &block in flow_graph.reverse_post_order() {
        let mut values = match dominators.immediate_dominator(block) {
            // A sample of what is visible keeps large functions small.
            Some(immediate_dominator) => {
                visible[immediate_dominator].iter().rev().step_by(1 + block_count / 64).copied().collect()
            }
            None => vec![zero],
        };
        values.extend(&function.blocks[block].params);
        for _ in 0..8 + random.below(6) {
            let mut pick = || values.get(random.below(values.len().max(1))).copied().unwrap_or(zero);
            let inst_data = InstData::Binary {
                opcode: BinaryOp::Add,
                flags: Default::default(),
                fast_math: Default::default(),
                arguments: [pick(), pick()],
            };
            let instruction = function.append_inst(block, inst_data, &[Type::I32], Default::default());
            values.push(function.single_result(instruction));
        }
        let mut terminator = function.blocks[block].terminator.clone();
        for target in terminator.targets_mut() {
            let params = function.blocks[target.block].params.len();
            target.arguments = (0..params).map(|_| values[random.below(values.len())]).collect();
        }
        function.blocks[block].terminator = terminator;
        visible[block] = values;
    }
    function
}
