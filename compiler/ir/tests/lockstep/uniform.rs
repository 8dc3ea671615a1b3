//! A plain divergence analysis: what a divergent branch may influence is everything up to its immediate
//! post-dominator.

use cranelift_entity::{EntitySet, SecondaryMap};
use lockstep_ir::analysis::cfg::build_cfg;
use lockstep_ir::analysis::post_dominators::post_dominators;
use lockstep_ir::ir::{Block, Function, InstData, Query, Value};

/// The blocks whose branches may send work-items of a group different ways.
pub fn divergent_branches(function: &Function) -> EntitySet<Block> {
    let flow_graph = build_cfg(function);
    let ends = post_dominators(&flow_graph);
    let mut varying: SecondaryMap<Value, bool> = SecondaryMap::new();
    let mut influenced: EntitySet<Block> = EntitySet::new();
    let mut divergent = EntitySet::new();
    loop {
        let (mut changed, mut again) = (false, false);
        let mut mark = |value: Value, varying: &mut SecondaryMap<Value, bool>| {
            changed |= !std::mem::replace(&mut varying[value], true);
        };
        for &block in flow_graph.reverse_post_order() {
            let block_data = &function.blocks[block];
            if influenced.contains(block) {
                block_data.params.iter().for_each(|&value| mark(value, &mut varying));
            }
            for &instruction in &block_data.insts {
                let inst_node = &function.insts[instruction];
                let mut differs = match inst_node.data {
                    InstData::Query { query, .. } => matches!(query, Query::GlobalId | Query::LocalId),
                    InstData::Load { .. }
                    | InstData::LiveLoad { .. }
                    | InstData::SlotAddr { .. }
                    | InstData::AtomicRmw { .. }
                    | InstData::AtomicCas { .. } => true,
                    _ => false,
                };
                inst_node.data.for_each_arg(|value| differs |= varying[value]);
                if differs {
                    inst_node.results.iter().for_each(|&value| mark(value, &mut varying));
                }
            }
            for target in block_data.terminator.targets() {
                for (&argument, &parameter) in target.arguments.iter().zip(&function.blocks[target.block].params) {
                    if varying[argument] {
                        mark(parameter, &mut varying);
                    }
                }
            }
            if block_data.terminator.selector().is_some_and(|value| varying[value]) && divergent.insert(block) {
                let end_block = ends.immediate_post_dominator(block);
                let mut visited: EntitySet<Block> = EntitySet::new();
                let mut worklist: Vec<Block> = flow_graph.successors(block).to_vec();
                while let Some(next_block) = worklist.pop() {
                    if visited.insert(next_block) {
                        influenced.insert(next_block);
                        if Some(next_block) != end_block {
                            worklist.extend(flow_graph.successors(next_block));
                        }
                    }
                }
                again = true;
            }
        }
        changed |= again;
        if !changed {
            return divergent;
        }
    }
}
