//! Stores that every iteration of a loop does again at one place move behind the loop.
//!
//! `s[j] += x` in a loop stores each sum, as what the loop reads may lie where it writes. Where the launch tells that it does
//! not, the last store is enough. A gang's lanes are often far from each other there, and would scatter in every iteration.
//!
//! Requires: a region in normal form, and where addresses come from.
//! Ensures: normal form. Such a loop has no store of that kind. Each work-item leaves what it left; in between nobody may look,
//! as nothing orders what it would see.
//! Phases: per loop, innermost first, stores at an address that stays the same, which each way out of the loop has passed, where
//! nothing else in the loop may touch that memory; a parameter of each exit for what is stored, and the store there.
//! Source: textbook (register promotion, Cooper & Torczon 2011, 10.3.3), for stores alone.
//!
//! ```text
//! b1(i):  …                              b1(i):   …
//!         store x to p            =>              br c, b1(i'), b2(x)
//!         br c, b1(i'), b2               b2(x'):  store x' to p
//! ```

use crate::analysis::loops::Loop;
use crate::analysis::origins::{Apart, Origin, Origins};
use crate::analysis::predicates::ControlFlow;
use crate::ir::*;
use cranelift_entity::EntitySet;

/// Instructions of a region that is looked at: each store is compared with all other accesses of its loop.
const MOST: usize = 4000;

/// Moves such stores behind their loops, given the arguments that are apart from others.
pub fn sink_stores(kernel: &Kernel, f: &mut Function, apart: &[Apart]) {
    let insts: usize = f.layout.iter().map(|&block| f.blocks[block].insts.len()).sum();
    if apart.is_empty() || insts > MOST {
        return;
    }
    while let Some(sink) = find_sink(kernel, f, apart) {
        sink.apply(f);
    }
}

/// A store that moves.
struct Sink {
    block: Block,
    store: Inst,
    exits: Vec<Block>,
}

fn find_sink(kernel: &Kernel, f: &Function, apart: &[Apart]) -> Option<Sink> {
    let flow = ControlFlow::of(f);
    let origins = Origins::of(kernel, f, apart);
    let mut all: Vec<Loop> = flow.loops.iter().map(|(l, _)| l).collect();
    all.sort_by_key(|&l| std::cmp::Reverse(flow.loops.get(l).depth));
    all.into_iter().find_map(|l| find_in_loop(f, &flow, &origins, l))
}

fn find_in_loop(f: &Function, flow: &ControlFlow, origins: &Origins, l: Loop) -> Option<Sink> {
    let data = flow.loops.get(l);
    let insts = || data.blocks.iter().flat_map(|&block| f.blocks[block].insts.iter().map(move |&inst| (block, inst)));
    let only_accesses = |(_, inst): (Block, Inst)| match &f.insts[inst].data {
        InstData::Load { .. } | InstData::Store { .. } => true,
        data => !data.has_effect() && !matches!(data, InstData::LiveLoad { .. }),
    };
    if data.exits.is_empty() || !insts().all(only_accesses) {
        return None;
    }
    let mut exits: Vec<Block> = Vec::new();
    for &(_, exit) in &data.exits {
        if !exits.contains(&exit) {
            exits.push(exit);
        }
        if !flow.cfg.preds(exit).iter().all(|&from| flow.loops.contains(l, from)) {
            return None;
        }
    }
    let mut inside = EntitySet::new();
    insts().for_each(|(_, inst)| _ = inside.insert(inst));
    let is_inside = |value: Value| match f.values[value].def {
        ValueDef::Result(result, _) => inside.contains(result),
        ValueDef::Param(block, _) => flow.loops.contains(l, block),
        ValueDef::Const(_) => false,
    };
    let moves = |&(block, store): &(Block, Inst)| {
        let data = &f.insts[store].data;
        let InstData::Store { ptr, ref args, access, .. } = *data else { return false };
        let origin = origins.of_access(data);
        let is_plain = access.atomic.is_none() && !access.volatile && matches!(origin, Origin::Argument(_));
        let is_passed = || flow.loops.get(l).exits.iter().all(|&(from, _)| flow.dominators.dominates(block, from));
        // No other access may be to that argument's memory, nor to memory of which nothing is known.
        let is_alone = || {
            insts().filter(|&(_, inst)| inst != store).all(|(_, inst)| match &f.insts[inst].data {
                data @ (InstData::Load { .. } | InstData::Store { .. }) => {
                    !matches!(origins.of_access(data), Origin::Unknown) && origins.of_access(data) != origin
                }
                _ => true,
            })
        };
        is_plain && args.len() == 1 && is_passed() && !is_inside(ptr) && is_alone()
    };
    let (block, store) = insts().find(moves)?;
    Some(Sink { block, store, exits })
}

impl Sink {
    fn apply(self, f: &mut Function) {
        let Sink { block, store, exits } = self;
        f.blocks[block].insts.retain(|&inst| inst != store);
        let node = f.insts[store].clone();
        let InstData::Store { ptr, offset, access, args } = node.data else { return };
        let stored = args[0];
        for exit in exits {
            let param = f.add_param(exit, f.ty(stored));
            for from in f.layout.clone() {
                for to in f.blocks[from].term.targets_mut() {
                    if to.block == exit {
                        to.args.push(stored);
                    }
                }
            }
            let data = InstData::Store { ptr, offset, access, args: vec![param] };
            let inst = f.make_inst(data, &[], node.loc);
            f.blocks[exit].insts.insert(0, inst);
        }
    }
}
