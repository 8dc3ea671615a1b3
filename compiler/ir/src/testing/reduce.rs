//! Makes a random kernel that shows a mistake smaller.
//!
//! Requires: a generated kernel, and a test that says whether a kernel still shows the mistake; it must refuse
//! kernels that the interpreter refuses.
//! Ensures: the result shows the mistake, and still means one thing only. The entry computes where the cells of a
//! work-item lie, so its instructions stay as long as they are used; barriers stay where control reaches them; and so
//! do the tests for NaN, whose bits nobody may see.
//! Phases, until nothing gets smaller: choices become jumps; instructions go, their results become 0; parameters
//! become 0; blocks with one way in join the block before them.
//! Source: Zeller & Hildebrandt 2002 (one part after the other, as kernels are small).

use super::Generated;
use crate::analysis::cfg::build_cfg;
use crate::ir::*;
use cranelift_entity::{EntitySet, SecondaryMap};
use lockstep_protocol::types::Type;

/// One step towards a smaller kernel.
#[derive(Clone, Copy)]
enum Step {
    /// A block goes on with its n-th target, always.
    Jump(Block, usize),
    /// An instruction goes.
    Remove(Block, Inst),
    /// A block's parameter is 0.
    Zero(Block, Value),
    /// A block takes in the one it jumps to.
    Join(Block),
}

/// The smallest kernel found of which `fails` holds, as it must of `generated`.
pub fn reduce_kernel(generated: &Generated, mut fails: impl FnMut(&Generated) -> bool) -> Generated {
    let mut smallest = generated.clone();
    loop {
        let mut smaller = false;
        for step in possible_steps(smallest.module.kernels[0].body()) {
            let mut next = smallest.clone();
            let function = next.module.kernels[0].body_mut();
            if apply_step(function, step) {
                remove_unneeded(function);
                if fails(&next) {
                    smallest = next;
                    smaller = true;
                }
            }
        }
        if !smaller {
            return smallest;
        }
    }
}

fn possible_steps(function: &Function) -> Vec<Step> {
    let mut steps = Vec::new();
    let choices = function.layout.iter().filter(|&&block| function.blocks[block].terminator.selector().is_some());
    for &block in choices {
        steps
            .extend((0..function.blocks[block].terminator.targets().len()).map(|position| Step::Jump(block, position)));
    }
    for &block in function.layout[1..].iter().rev() {
        steps.extend(function.blocks[block].insts.iter().rev().map(|&instruction| Step::Remove(block, instruction)));
        steps.extend(function.blocks[block].params.iter().map(|&parameter| Step::Zero(block, parameter)));
    }
    steps.extend(function.layout.iter().map(|&block| Step::Join(block)));
    steps
}

/// Takes a step, if that is possible now: earlier ones may have been in its way.
fn apply_step(function: &mut Function, step: Step) -> bool {
    match step {
        Step::Jump(block, position) => {
            let block_data = &function.blocks[block];
            let targets = block_data.terminator.targets();
            let possible = function.layout.contains(&block) && targets.len() > 1 && position < targets.len();
            if possible {
                let target = targets[position].clone();
                function.blocks[block].terminator = Terminator::Jump(target);
            }
            possible
        }
        Step::Remove(block, instruction) => {
            let inst_data = &function.insts[instruction].data;
            let nan_test = matches!(inst_data, InstData::Fcmp { comparison: FloatCc::Uno, .. });
            let is_there = function.layout.contains(&block) && function.blocks[block].insts.contains(&instruction);
            if !is_there
                || nan_test
                || *inst_data == InstData::Barrier
                || function.insts[instruction].results.iter().any(|&value| is_ptr(function, value))
            {
                return false;
            }
            function.blocks[block].insts.retain(|&other| other != instruction);
            function.insts[instruction].results.clone().into_iter().for_each(|value| put_zero(function, value));
            true
        }
        Step::Zero(block, parameter) => {
            let possible = function.layout.contains(&block)
                && function.blocks[block].params.contains(&parameter)
                && !is_ptr(function, parameter);
            if possible {
                put_zero(function, parameter);
            }
            possible
        }
        Step::Join(block) => join_successor(function, block),
    }
}

fn is_ptr(function: &Function, value: Value) -> bool {
    matches!(function.ty(value), Type::Ptr(_))
}

fn put_zero(function: &mut Function, value: Value) {
    let zero = function.constant(function.ty(value), 0);
    replace_values(function, &|operand| if operand == value { zero } else { operand });
}

fn replace_values(function: &mut Function, replacement_of: &dyn Fn(Value) -> Value) {
    for &block in &function.layout {
        for &instruction in &function.blocks[block].insts {
            function.insts[instruction].data.map_args(replacement_of);
        }
        function.blocks[block].terminator.map_args(replacement_of);
    }
}

fn join_successor(function: &mut Function, block: Block) -> bool {
    let Terminator::Jump(target) = function.blocks[block].terminator.clone() else { return false };
    let flow_graph = build_cfg(function);
    if !function.layout.contains(&block) || flow_graph.predecessors(target.block).len() != 1 || target.block == block {
        return false;
    }
    let successor = function.blocks[target.block].clone();
    function.layout.retain(|&other_block| other_block != target.block);
    function.blocks[block].insts.extend(successor.insts);
    function.blocks[block].terminator = successor.terminator;
    // An argument is no parameter of the block that is gone: nothing else leads there.
    let position_of = |value: Value| successor.params.iter().position(|&parameter| parameter == value);
    replace_values(function, &|value| position_of(value).map_or(value, |position| target.arguments[position]));
    true
}

/// Removes what is not reached and what is not used.
fn remove_unneeded(function: &mut Function) {
    let flow_graph = build_cfg(function);
    function.layout.retain(|&block| flow_graph.is_reachable(block));
    let used_values = find_used_values(function);
    for block in function.layout.clone() {
        let instructions = std::mem::take(&mut function.blocks[block].insts);
        let needed = |instruction: &Inst| {
            function.insts[*instruction].data.has_effect()
                || function.insts[*instruction].results.iter().any(|&value| used_values.contains(value))
        };
        function.blocks[block].insts = instructions.into_iter().filter(needed).collect();
    }
    let entry_block = function.entry_block();
    let mut kept: SecondaryMap<Block, Vec<bool>> = SecondaryMap::new();
    for &block in function.layout.iter().filter(|&&block| block != entry_block) {
        let parameters = std::mem::take(&mut function.blocks[block].params);
        kept[block] = parameters.iter().map(|&value| used_values.contains(value)).collect();
        function.blocks[block].params = parameters.into_iter().filter(|&value| used_values.contains(value)).collect();
        for (position, &parameter) in function.blocks[block].params.iter().enumerate() {
            function.values[parameter].definition = ValueDef::Param(block, position as u32);
        }
    }
    for &block in &function.layout {
        for target in function.blocks[block].terminator.targets_mut() {
            let mut keep = kept[target.block].iter();
            target.arguments.retain(|_| keep.next().is_none_or(|&keep| keep));
        }
    }
}

/// The values that an effect or a choice depends on.
fn find_used_values(function: &Function) -> EntitySet<Value> {
    let mut used_values = EntitySet::new();
    let mut left: Vec<Value> = Vec::new();
    for &block in &function.layout {
        let block_data = &function.blocks[block];
        left.extend(block_data.terminator.selector());
        let effects = block_data
            .insts
            .iter()
            .map(|&instruction| &function.insts[instruction].data)
            .filter(|inst_data| inst_data.has_effect());
        effects.for_each(|inst_data| inst_data.for_each_arg(|operand| left.push(operand)));
    }
    while let Some(value) = left.pop() {
        if !used_values.insert(value) {
            continue;
        }
        match function.values[value].definition {
            ValueDef::Result(instruction, _) => {
                function.insts[instruction].data.for_each_arg(|operand| left.push(operand))
            }
            ValueDef::Param(block, position) => {
                let edges = function.layout.iter().flat_map(|&source| function.blocks[source].terminator.targets());
                left.extend(
                    edges.filter(|target| target.block == block).map(|target| target.arguments[position as usize]),
                );
            }
            ValueDef::Const(_) => {}
        }
    }
    used_values
}

#[cfg(test)]
mod tests {
    use super::reduce_kernel;
    use crate::interp::{Memory, run_limited};
    use crate::ir::{AtomicOp, InstData};
    use crate::testing::{Generated, Shape, random_kernel};
    use crate::verify::{Stage, verify_module};

    /// The mistake: exclusive or is taken for addition.
    fn shows(g: &Generated) -> bool {
        let result = |g: &Generated| {
            let mut memory = Memory::new(g.buffers.clone());
            run_limited(&g.module, "random", &g.range, &g.args, &mut memory, 1_000_000).ok().map(|_| memory.buffers)
        };
        let mut wrong = g.clone();
        let function = wrong.module.kernels[0].body_mut();
        for block in function.layout.clone() {
            for &instruction in &function.blocks[block].insts {
                if let InstData::AtomicRmw { opcode, .. } = &mut function.insts[instruction].data
                    && *opcode == AtomicOp::Xor
                {
                    *opcode = AtomicOp::Add;
                }
            }
        }
        let (right, wrong) = (result(g), result(&wrong));
        right.is_some() && right != wrong
    }

    #[test]
    fn a_small_kernel_shows_the_mistake() {
        let size = |g: &Generated| {
            let function = g.module.kernels[0].body();
            function.layout[1..].iter().map(|&block| function.blocks[block].insts.len()).sum::<usize>()
        };
        let kernels = (0..300).map(|seed| random_kernel(seed, Shape::default()));
        let found: Vec<Generated> = kernels.filter(shows).take(5).collect();
        assert_eq!(found.len(), 5);
        for g in found {
            let small = reduce_kernel(&g, shows);
            assert!(shows(&small));
            verify_module(&small.module, Stage::Imported)
                .unwrap_or_else(|errors| panic!("{}\n{}", errors[0], small.module));
            assert!(
                size(&small) * 4 < size(&g) && size(&small) < 30,
                "{} of {}\n{}",
                size(&small),
                size(&g),
                small.module
            );
        }
    }
}
