//! The masks of folded graphs hold for exactly the lanes that came to a block before.

use super::*;
use crate::analysis::testing::{graph, random_dag};
use crate::testing::Random;
use crate::transform::divergent_loops::{EmptyEntries, divergent_loops};
use crate::transform::linearize::linearize_function;
use crate::transform::normalize::normalize_function;

/// Gives each branch a condition of its own, a parameter of the function; the conditions.
fn give_conditions(function: &mut Function) -> Vec<Value> {
    let entry = function.entry_block();
    let mut conditions = Vec::new();
    for block in function.layout.clone() {
        let Terminator::Branch { .. } = function.blocks[block].terminator else { continue };
        let param = function.add_param(entry, Type::BOOL);
        let Terminator::Branch { condition, .. } = &mut function.blocks[block].terminator else { unreachable!() };
        *condition = param;
        conditions.push(param);
    }
    conditions
}

/// Linearizes a function with all its branches divergent.
fn fold_branches(function: &mut Function) {
    let has_ways = |block: &Block| function.blocks[*block].terminator.selector().is_some();
    let mut divergent: EntitySet<Block> = EntitySet::new();
    divergent.extend(function.layout.iter().copied().filter(has_ways));
    let loops = divergent_loops(function, &mut divergent, EmptyEntries::Gates);
    linearize_function(function, &loops.control_flow, &divergent, &loops.tracked);
}

/// The blocks that a lane of which these conditions hold comes to.
fn blocks_on_the_way(function: &Function, holding: &[Value]) -> EntitySet<Block> {
    let (mut block, mut passed) = (function.entry_block(), EntitySet::new());
    loop {
        passed.insert(block);
        block = match &function.blocks[block].terminator {
            Terminator::Jump(target) => target.block,
            Terminator::Branch { condition, then_to, else_to } => {
                if holding.contains(condition) {
                    then_to.block
                } else {
                    else_to.block
                }
            }
            _ => return passed,
        };
    }
}

/// What a condition is in such a lane.
fn evaluate(function: &Function, value: Value, holding: &[Value]) -> bool {
    let inst = match function.values[value].definition {
        ValueDef::Const(bits) => return bits != 0,
        ValueDef::Param(..) => return holding.contains(&value),
        ValueDef::Result(inst, _) => inst,
    };
    match function.insts[inst].data {
        InstData::Binary { opcode, arguments, .. } => {
            let [left, right] = arguments.map(|argument| evaluate(function, argument, holding));
            match opcode {
                BinaryOp::And => left & right,
                BinaryOp::Or => left | right,
                BinaryOp::Xor => left ^ right,
                _ => panic!("masks are not made by {opcode:?}"),
            }
        }
        InstData::Ternary { opcode: TernaryOp::Select, arguments, .. } => {
            let [chosen, if_true, if_false] = arguments.map(|argument| evaluate(function, argument, holding));
            if chosen { if_true } else { if_false }
        }
        ref other => panic!("masks are not made by {other:?}"),
    }
}

/// Compares the masks of a folded graph with the ways that lanes take through it, in lanes of random conditions.
fn compare_with_paths(mut function: Function, random: &mut Random) {
    let conditions = give_conditions(&mut function);
    let before = function.clone();
    fold_branches(&mut function);
    for _ in 0..32 {
        let holding: Vec<Value> = conditions.iter().copied().filter(|_| random.percent(50)).collect();
        let passed = blocks_on_the_way(&before, &holding);
        for &block in function.layout.iter().filter(|&&block| before.layout.contains(&block)) {
            let comes = function.masks[block].expand().is_none_or(|mask| evaluate(&function, mask, &holding));
            assert_eq!(comes, passed.contains(block), "{block} where {holding:?} hold\n{before}\n{function}");
        }
    }
}

#[test]
fn masks_of_random_graphs_hold_for_the_lanes_that_came() {
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let mut function = random_dag(random.next_bits(), 4 + random.below(12));
        normalize_function(&mut function);
        compare_with_paths(function, &mut random);
    }
}

#[test]
fn blocks_that_all_lanes_come_to_have_no_mask_and_arms_no_more_than_their_condition() {
    let (mut function, names) = graph("top then else; then end; else end; end");
    let entry = function.entry_block();
    let condition = function.add_param(entry, Type::BOOL);
    let to = |name: &str| {
        let position = names.iter().position(|other| *other == name).expect("it is a block");
        BlockCall { block: Block::from_u32(position as u32), arguments: Vec::new() }
    };
    function.blocks[entry].terminator = Terminator::Branch { condition, then_to: to("then"), else_to: to("else") };
    fold_branches(&mut function);
    let mask_of = |name: &str| function.masks[to(name).block].expand();
    assert_eq!([mask_of("top"), mask_of("end")], [None, None]);
    assert_eq!(mask_of("then"), Some(condition), "nothing is computed for it");
    let inverse = mask_of("else").expect("lanes go the other way");
    assert!(evaluate(&function, inverse, &[]) && !evaluate(&function, inverse, &[condition]));
}
