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
            let f = next.module.kernels[0].body_mut();
            if apply_step(f, step) {
                remove_unneeded(f);
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

fn possible_steps(f: &Function) -> Vec<Step> {
    let mut steps = Vec::new();
    let choices = f.layout.iter().filter(|&&block| f.blocks[block].terminator.selector().is_some());
    for &block in choices {
        steps.extend((0..f.blocks[block].terminator.targets().len()).map(|n| Step::Jump(block, n)));
    }
    for &block in f.layout[1..].iter().rev() {
        steps.extend(f.blocks[block].insts.iter().rev().map(|&inst| Step::Remove(block, inst)));
        steps.extend(f.blocks[block].params.iter().map(|&param| Step::Zero(block, param)));
    }
    steps.extend(f.layout.iter().map(|&block| Step::Join(block)));
    steps
}

/// Takes a step, if that is possible now: earlier ones may have been in its way.
fn apply_step(f: &mut Function, step: Step) -> bool {
    match step {
        Step::Jump(block, n) => {
            let data = &f.blocks[block];
            let targets = data.terminator.targets();
            let possible = f.layout.contains(&block) && targets.len() > 1 && n < targets.len();
            if possible {
                let to = targets[n].clone();
                f.blocks[block].terminator = Terminator::Jump(to);
            }
            possible
        }
        Step::Remove(block, inst) => {
            let data = &f.insts[inst].data;
            let nan_test = matches!(data, InstData::Fcmp { comparison: FloatCc::Uno, .. });
            let here = f.layout.contains(&block) && f.blocks[block].insts.contains(&inst);
            if !here || nan_test || *data == InstData::Barrier || f.insts[inst].results.iter().any(|&v| is_ptr(f, v)) {
                return false;
            }
            f.blocks[block].insts.retain(|&other| other != inst);
            f.insts[inst].results.clone().into_iter().for_each(|v| put_zero(f, v));
            true
        }
        Step::Zero(block, param) => {
            let possible = f.layout.contains(&block) && f.blocks[block].params.contains(&param) && !is_ptr(f, param);
            if possible {
                put_zero(f, param);
            }
            possible
        }
        Step::Join(block) => join_successor(f, block),
    }
}

fn is_ptr(f: &Function, value: Value) -> bool {
    matches!(f.ty(value), Type::Ptr(_))
}

fn put_zero(f: &mut Function, value: Value) {
    let zero = f.constant(f.ty(value), 0);
    replace_values(f, &|v| if v == value { zero } else { v });
}

fn replace_values(f: &mut Function, with: &dyn Fn(Value) -> Value) {
    for &block in &f.layout {
        for &inst in &f.blocks[block].insts {
            f.insts[inst].data.map_args(with);
        }
        f.blocks[block].terminator.map_args(with);
    }
}

fn join_successor(f: &mut Function, block: Block) -> bool {
    let Terminator::Jump(to) = f.blocks[block].terminator.clone() else { return false };
    let graph = build_cfg(f);
    if !f.layout.contains(&block) || graph.predecessors(to.block).len() != 1 || to.block == block {
        return false;
    }
    let next = f.blocks[to.block].clone();
    f.layout.retain(|&b| b != to.block);
    f.blocks[block].insts.extend(next.insts);
    f.blocks[block].terminator = next.terminator;
    // An argument is no parameter of the block that is gone: nothing else leads there.
    replace_values(f, &|v| next.params.iter().position(|&param| param == v).map_or(v, |n| to.arguments[n]));
    true
}

/// Removes what is not reached and what is not used.
fn remove_unneeded(f: &mut Function) {
    let graph = build_cfg(f);
    f.layout.retain(|&block| graph.is_reachable(block));
    let used = find_used_values(f);
    for block in f.layout.clone() {
        let insts = std::mem::take(&mut f.blocks[block].insts);
        let needed =
            |inst: &Inst| f.insts[*inst].data.has_effect() || f.insts[*inst].results.iter().any(|&v| used.contains(v));
        f.blocks[block].insts = insts.into_iter().filter(needed).collect();
    }
    let entry = f.entry_block();
    let mut kept: SecondaryMap<Block, Vec<bool>> = SecondaryMap::new();
    for &block in f.layout.iter().filter(|&&block| block != entry) {
        let params = std::mem::take(&mut f.blocks[block].params);
        kept[block] = params.iter().map(|&v| used.contains(v)).collect();
        f.blocks[block].params = params.into_iter().filter(|&v| used.contains(v)).collect();
        for (n, &param) in f.blocks[block].params.iter().enumerate() {
            f.values[param].definition = ValueDef::Param(block, n as u32);
        }
    }
    for &block in &f.layout {
        for to in f.blocks[block].terminator.targets_mut() {
            let mut keep = kept[to.block].iter();
            to.arguments.retain(|_| keep.next().is_none_or(|&keep| keep));
        }
    }
}

/// The values that an effect or a choice depends on.
fn find_used_values(f: &Function) -> EntitySet<Value> {
    let mut used = EntitySet::new();
    let mut left: Vec<Value> = Vec::new();
    for &block in &f.layout {
        let data = &f.blocks[block];
        left.extend(data.terminator.selector());
        let effects = data.insts.iter().map(|&inst| &f.insts[inst].data).filter(|data| data.has_effect());
        effects.for_each(|data| data.for_each_arg(|v| left.push(v)));
    }
    while let Some(value) = left.pop() {
        if !used.insert(value) {
            continue;
        }
        match f.values[value].definition {
            ValueDef::Result(inst, _) => f.insts[inst].data.for_each_arg(|v| left.push(v)),
            ValueDef::Param(block, n) => {
                let edges = f.layout.iter().flat_map(|&from| f.blocks[from].terminator.targets());
                left.extend(edges.filter(|to| to.block == block).map(|to| to.arguments[n as usize]));
            }
            ValueDef::Const(_) => {}
        }
    }
    used
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
        let f = wrong.module.kernels[0].body_mut();
        for block in f.layout.clone() {
            for &inst in &f.blocks[block].insts {
                if let InstData::AtomicRmw { opcode: op, .. } = &mut f.insts[inst].data
                    && *op == AtomicOp::Xor
                {
                    *op = AtomicOp::Add;
                }
            }
        }
        let (right, wrong) = (result(g), result(&wrong));
        right.is_some() && right != wrong
    }

    #[test]
    fn a_small_kernel_shows_the_mistake() {
        let size = |g: &Generated| {
            let f = g.module.kernels[0].body();
            f.layout[1..].iter().map(|&block| f.blocks[block].insts.len()).sum::<usize>()
        };
        let kernels = (0..300).map(|seed| random_kernel(seed, Shape::default()));
        let found: Vec<Generated> = kernels.filter(shows).take(5).collect();
        assert_eq!(found.len(), 5);
        for g in found {
            let small = reduce_kernel(&g, shows);
            assert!(shows(&small));
            verify_module(&small.module, Stage::Imported).unwrap_or_else(|e| panic!("{}\n{}", e[0], small.module));
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
