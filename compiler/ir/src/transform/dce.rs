//! Takes out what nothing uses.
//!
//! Requires: a verified function, of any control flow, before masks.
//! Ensures: the function does what it did. Each instruction, and each parameter of a block but the entry, has an effect or a
//! use.
//! Phases: from effects and choices back, what is used; the rest goes.
//! Source: Cytron et al. 1991, section 7.1.

use crate::analysis::cfg::{Cfg, build_cfg};
use crate::ir::{Block, Function, InstNode, Value, ValueDef};
use cranelift_entity::EntitySet;

/// Takes out instructions without effect, and parameters of blocks, that nothing uses.
pub fn remove_dead_code(f: &mut Function) {
    let graph = build_cfg(f);
    let used = find_used(f, &graph);
    let is_used = |inst: &InstNode| inst.data.has_effect() || inst.results.iter().any(|&result| used.contains(result));
    let entry = f.entry_block();
    for block in f.layout.clone() {
        f.blocks[block].insts.retain(|&inst| is_used(&f.insts[inst]));
        if block != entry {
            drop_params(f, &graph, block, &used);
        }
    }
}

/// The values that effects and choices depend on.
fn find_used(f: &Function, graph: &Cfg) -> EntitySet<Value> {
    let mut used: EntitySet<Value> = EntitySet::new();
    let mut open = Vec::new();
    let mut use_it = |value: Value, open: &mut Vec<Value>| {
        if used.insert(value) {
            open.push(value);
        }
    };
    for &block in &f.layout {
        let effects = f.blocks[block].insts.iter().filter(|&&inst| f.insts[inst].data.has_effect());
        effects.for_each(|&inst| f.insts[inst].data.for_each_arg(|value| use_it(value, &mut open)));
        f.blocks[block].terminator.selector().into_iter().for_each(|value| use_it(value, &mut open));
    }
    while let Some(value) = open.pop() {
        match f.values[value].definition {
            ValueDef::Result(inst, _) => f.insts[inst].data.for_each_arg(|value| use_it(value, &mut open)),
            ValueDef::Param(block, index) => {
                for &pred in graph.predecessors(block) {
                    let targets = f.blocks[pred].terminator.targets();
                    for to in targets.into_iter().filter(|to| to.block == block) {
                        use_it(to.arguments[index as usize], &mut open);
                    }
                }
            }
            ValueDef::Const(_) => {}
        }
    }
    used
}

/// Takes out the parameters of a block that are not used, and what is passed for them.
fn drop_params(f: &mut Function, graph: &Cfg, block: Block, used: &EntitySet<Value>) {
    let params = f.blocks[block].params.clone();
    if params.iter().all(|&param| used.contains(param)) {
        return;
    }
    for &pred in graph.predecessors(block) {
        for to in f.blocks[pred].terminator.targets_mut().into_iter().filter(|to| to.block == block) {
            // An edge for each time it is listed; the first time takes them all.
            if to.arguments.len() == params.len() {
                let mut index = 0..;
                to.arguments.retain(|_| index.next().is_some_and(|index: usize| used.contains(params[index])));
            }
        }
    }
    let left: Vec<Value> = params.into_iter().filter(|&param| used.contains(param)).collect();
    for (index, &param) in left.iter().enumerate() {
        f.values[param].definition = ValueDef::Param(block, index as u32);
    }
    f.blocks[block].params = left;
}
