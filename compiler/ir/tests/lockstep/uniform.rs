//! A plain divergence analysis: what a divergent branch may influence is everything up to its immediate
//! post-dominator.

use cranelift_entity::{EntitySet, SecondaryMap};
use lockstep_ir::analysis::cfg::build_cfg;
use lockstep_ir::analysis::post_dominators::post_dominators;
use lockstep_ir::ir::{Block, Function, InstData, Query, Value};

/// The blocks whose branches may send work-items of a group different ways.
pub fn divergent_branches(f: &Function) -> EntitySet<Block> {
    let graph = build_cfg(f);
    let ends = post_dominators(&graph);
    let mut varying: SecondaryMap<Value, bool> = SecondaryMap::new();
    let mut influenced: EntitySet<Block> = EntitySet::new();
    let mut divergent = EntitySet::new();
    loop {
        let (mut changed, mut again) = (false, false);
        let mut mark = |v: Value, varying: &mut SecondaryMap<Value, bool>| {
            changed |= !std::mem::replace(&mut varying[v], true);
        };
        for &block in graph.reverse_post_order() {
            let data = &f.blocks[block];
            if influenced.contains(block) {
                data.params.iter().for_each(|&v| mark(v, &mut varying));
            }
            for &inst in &data.insts {
                let node = &f.insts[inst];
                let mut differs = match node.data {
                    InstData::Query { query, .. } => matches!(query, Query::GlobalId | Query::LocalId),
                    InstData::Load { .. }
                    | InstData::LiveLoad { .. }
                    | InstData::SlotAddr { .. }
                    | InstData::AtomicRmw { .. }
                    | InstData::AtomicCas { .. } => true,
                    _ => false,
                };
                node.data.for_each_arg(|v| differs |= varying[v]);
                if differs {
                    node.results.iter().for_each(|&v| mark(v, &mut varying));
                }
            }
            for to in data.terminator.targets() {
                for (&arg, &param) in to.arguments.iter().zip(&f.blocks[to.block].params) {
                    if varying[arg] {
                        mark(param, &mut varying);
                    }
                }
            }
            if data.terminator.selector().is_some_and(|v| varying[v]) && divergent.insert(block) {
                let end = ends.immediate_post_dominator(block);
                let mut seen: EntitySet<Block> = EntitySet::new();
                let mut stack: Vec<Block> = graph.successors(block).to_vec();
                while let Some(next) = stack.pop() {
                    if seen.insert(next) {
                        influenced.insert(next);
                        if Some(next) != end {
                            stack.extend(graph.successors(next));
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
