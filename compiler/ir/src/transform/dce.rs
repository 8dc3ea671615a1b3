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
pub fn remove_dead_code(function: &mut Function) {
    let graph = build_cfg(function);
    let used = find_used(function, &graph);
    let is_used = |inst: &InstNode| inst.data.has_effect() || inst.results.iter().any(|&result| used.contains(result));
    let entry = function.entry_block();
    for block in function.layout.clone() {
        function.blocks[block].insts.retain(|&inst| is_used(&function.insts[inst]));
        if block != entry {
            drop_params(function, &graph, block, &used);
        }
    }
}

/// The values that effects and choices depend on.
fn find_used(function: &Function, graph: &Cfg) -> EntitySet<Value> {
    let mut used: EntitySet<Value> = EntitySet::new();
    let mut open = Vec::new();
    let mut use_it = |value: Value, open: &mut Vec<Value>| {
        if used.insert(value) {
            open.push(value);
        }
    };
    for &block in &function.layout {
        let effects = function.blocks[block].insts.iter().filter(|&&inst| function.insts[inst].data.has_effect());
        effects.for_each(|&inst| function.insts[inst].data.for_each_arg(|value| use_it(value, &mut open)));
        function.blocks[block].terminator.selector().into_iter().for_each(|value| use_it(value, &mut open));
    }
    while let Some(value) = open.pop() {
        match function.values[value].definition {
            ValueDef::Result(inst, _) => function.insts[inst].data.for_each_arg(|value| use_it(value, &mut open)),
            ValueDef::Param(block, index) => {
                for &predecessor in graph.predecessors(block) {
                    let targets = function.blocks[predecessor].terminator.targets();
                    for target in targets.into_iter().filter(|target| target.block == block) {
                        use_it(target.arguments[index as usize], &mut open);
                    }
                }
            }
            ValueDef::Const(_) => {}
        }
    }
    used
}

/// Takes out the parameters of a block that are not used, and what is passed for them.
fn drop_params(function: &mut Function, graph: &Cfg, block: Block, used: &EntitySet<Value>) {
    let params = function.blocks[block].params.clone();
    if params.iter().all(|&param| used.contains(param)) {
        return;
    }
    for &predecessor in graph.predecessors(block) {
        for target in
            function.blocks[predecessor].terminator.targets_mut().into_iter().filter(|target| target.block == block)
        {
            // An edge for each time it is listed; the first time takes them all.
            if target.arguments.len() == params.len() {
                let mut index = 0..;
                target.arguments.retain(|_| index.next().is_some_and(|index: usize| used.contains(params[index])));
            }
        }
    }
    let left: Vec<Value> = params.into_iter().filter(|&param| used.contains(param)).collect();
    for (index, &param) in left.iter().enumerate() {
        function.values[param].definition = ValueDef::Param(block, index as u32);
    }
    function.blocks[block].params = left;
}
