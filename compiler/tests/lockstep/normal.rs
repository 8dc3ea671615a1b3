//! A simple normal form for these tests: what loops need, and every value a parameter of every block it is
//! alive in, so that each join has many.

use lockstep_compiler::analysis::cfg::cfg;
use lockstep_compiler::analysis::dominators::dominators;
use lockstep_compiler::analysis::liveness::liveness;
use lockstep_compiler::analysis::loops::loops;
use lockstep_compiler::ir::{Block, BlockCall, Function, Terminator, Value, ValueDef};
use std::collections::HashMap;

/// Leads edges to a block through a new one with the same parameters; those for which `take` holds.
fn detour(f: &mut Function, to: Block, take: impl Fn(Block) -> bool) {
    let new = f.add_block();
    let types: Vec<_> = f.blocks[to].params.iter().map(|&v| f.ty(v)).collect();
    let args = types.into_iter().map(|ty| f.add_param(new, ty)).collect();
    for block in f.layout.clone() {
        if take(block) {
            for edge in f.blocks[block].term.targets_mut() {
                if edge.block == to {
                    edge.block = new;
                }
            }
        }
    }
    f.blocks[new].term = Terminator::Jump(BlockCall { block: to, args });
}

/// Brings a reducible function into normal form.
pub fn normalize(f: &mut Function) {
    let reachable = cfg(f);
    f.layout.retain(|&b| reachable.is_reachable(b));
    let headers: Vec<Block> = {
        let graph = cfg(f);
        loops(&graph, &dominators(&graph)).iter().map(|(_, l)| l.header).collect()
    };
    for &header in headers.iter().rev() {
        for part in 0..3 {
            let graph = cfg(f);
            let forest = loops(&graph, &dominators(&graph));
            let l = forest.with_header(header).expect("stays a loop");
            let inside = |b: Block| forest.contains(l, b);
            match part {
                0 => detour(f, header, |b| !inside(b)),
                1 => detour(f, header, inside),
                _ => {
                    let mut exits: Vec<Block> = forest.get(l).exits.iter().map(|&(_, to)| to).collect();
                    exits.sort();
                    exits.dedup();
                    exits.into_iter().for_each(|to| detour(f, to, inside));
                }
            }
        }
    }
    split_critical(f);
    pass_everything(f);
}

fn split_critical(f: &mut Function) {
    let graph = cfg(f);
    for block in f.layout.clone() {
        if graph.succs(block).len() < 2 {
            continue;
        }
        let mut term = f.blocks[block].term.clone();
        for to in term.targets_mut() {
            if graph.preds(to.block).len() > 1 {
                let new = f.add_block();
                f.blocks[new].term = Terminator::Jump(to.clone());
                *to = BlockCall { block: new, args: Vec::new() };
            }
        }
        f.blocks[block].term = term;
    }
}

fn pass_everything(f: &mut Function) {
    let graph = cfg(f);
    let live = liveness(f, &graph);
    let entry = f.entry();
    let mut names: HashMap<(Block, Value), Value> = HashMap::new();
    let mut added: HashMap<Block, Vec<Value>> = HashMap::new();
    let from_entry = |f: &Function, v: Value| match f.values[v].def {
        ValueDef::Param(block, _) => block == entry,
        ValueDef::Result(inst, _) => f.blocks[entry].insts.contains(&inst),
        ValueDef::Const(_) => true,
    };
    for block in f.layout.clone() {
        if block == entry {
            continue;
        }
        let alive: Vec<Value> = live.live_in(block).filter(|&v| !from_entry(f, v)).collect();
        for v in alive {
            let param = f.add_param(block, f.ty(v));
            names.insert((block, v), param);
            added.entry(block).or_default().push(v);
        }
    }
    for block in f.layout.clone() {
        let now = |v: Value| names.get(&(block, v)).copied().unwrap_or(v);
        for inst in f.blocks[block].insts.clone() {
            f.insts[inst].data.map_args(now);
        }
        let term = &mut f.blocks[block].term;
        term.map_args(now);
        for to in term.targets_mut() {
            to.args.extend(added.get(&to.block).into_iter().flatten().map(|&v| now(v)));
        }
    }
}
