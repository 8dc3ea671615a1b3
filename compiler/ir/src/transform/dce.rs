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
    let flow_graph = build_cfg(function);
    let used_values = find_used(function, &flow_graph);
    let is_used = |inst_node: &InstNode| {
        inst_node.data.has_effect() || inst_node.results.iter().any(|&result| used_values.contains(result))
    };
    let entry_block = function.entry_block();
    for block in function.layout.clone() {
        function.blocks[block].insts.retain(|&instruction| is_used(&function.insts[instruction]));
        if block != entry_block {
            drop_params(function, &flow_graph, block, &used_values);
        }
    }
}

/// The values that effects and choices depend on.
fn find_used(function: &Function, flow_graph: &Cfg) -> EntitySet<Value> {
    let mut used_values: EntitySet<Value> = EntitySet::new();
    let mut worklist = Vec::new();
    let mut use_it = |value: Value, worklist: &mut Vec<Value>| {
        if used_values.insert(value) {
            worklist.push(value);
        }
    };
    for &block in &function.layout {
        let effects =
            function.blocks[block].insts.iter().filter(|&&instruction| function.insts[instruction].data.has_effect());
        effects.for_each(|&instruction| {
            function.insts[instruction].data.for_each_arg(|value| use_it(value, &mut worklist))
        });
        function.blocks[block].terminator.selector().into_iter().for_each(|value| use_it(value, &mut worklist));
    }
    while let Some(value) = worklist.pop() {
        match function.values[value].definition {
            ValueDef::Result(instruction, _) => {
                function.insts[instruction].data.for_each_arg(|value| use_it(value, &mut worklist))
            }
            ValueDef::Param(block, index) => {
                for &predecessor in flow_graph.predecessors(block) {
                    let targets = function.blocks[predecessor].terminator.targets();
                    for target in targets.into_iter().filter(|target| target.block == block) {
                        use_it(target.arguments[index as usize], &mut worklist);
                    }
                }
            }
            ValueDef::Const(_) => {}
        }
    }
    used_values
}

/// Takes out the parameters of a block that are not used, and what is passed for them.
fn drop_params(function: &mut Function, flow_graph: &Cfg, block: Block, used_values: &EntitySet<Value>) {
    let parameters = function.blocks[block].params.clone();
    if parameters.iter().all(|&parameter| used_values.contains(parameter)) {
        return;
    }
    for &predecessor in flow_graph.predecessors(block) {
        for target in
            function.blocks[predecessor].terminator.targets_mut().into_iter().filter(|target| target.block == block)
        {
            // An edge for each time it is listed; the first time takes them all.
            if target.arguments.len() == parameters.len() {
                let mut index = 0..;
                target
                    .arguments
                    .retain(|_| index.next().is_some_and(|index: usize| used_values.contains(parameters[index])));
            }
        }
    }
    let left: Vec<Value> = parameters.into_iter().filter(|&parameter| used_values.contains(parameter)).collect();
    for (index, &parameter) in left.iter().enumerate() {
        function.values[parameter].definition = ValueDef::Param(block, index as u32);
    }
    function.blocks[block].params = left;
}
