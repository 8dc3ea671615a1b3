//! Branches that skip what no lane wants to run ("branch on superword condition code").
//!
//! Requires: uniform loops (what `divergent_loops` leaves); the divergent branches; shapes of values as
//! they were before.
//! Ensures: a target of a divergent branch that costs enough stands behind a gate: a uniform branch that
//! goes past it where no lane comes. Each work-item does what it did; it never goes past.
//! Phases: per target of a divergent branch, the blocks that it dominates, where they lead, what they cost;
//! then the gates.
//! Source: Moll 2021, section 9.2. There the gadget stands before the divergent branch; here it stands in
//! the target, behind the fold, so that both targets can have one.
//!
//! ```text
//! a: br c, b(x…), d          a:    br c, gate, d
//! b: …                  =>   gate: br any(true), b(x…), past
//!    jump j(v…)              past: jump j(0…)
//!                            b:    … jump j(v…)
//! ```

use crate::analysis::cfg::Cfg;
use crate::analysis::cost::{self, Lanes, Registers};
use crate::analysis::dominators::Dominators;
use crate::analysis::lines::lines;
use crate::analysis::loops::Loops;
use crate::analysis::predicates::ControlFlow;
use crate::analysis::shape::Shape;
use crate::ir::*;
use cranelift_entity::{EntitySet, SecondaryMap};

/// What a target has to cost a gang for a gate to pay: a test and a branch that is hard to predict.
const LEAST: u64 = 40;

/// Instructions of a kernel from which on a gate has to save more, as many times as the kernel is longer: what a gate
/// leads past is merged a second time behind it, and registers are found for that in code that is long already.
const LONG: usize = 500;

/// Puts gates in front of costly targets of divergent branches; `guarded` are those that always some lane
/// wants. The answer: the control flow as it is then.
pub fn boscc(
    f: &mut Function,
    flow: ControlFlow,
    divergent: &EntitySet<Block>,
    guarded: &EntitySet<Block>,
    shapes: &SecondaryMap<Value, Shape>,
    registers: Registers,
) -> ControlFlow {
    let lines = lines(f, flow.cfg.rpo(), shapes, registers.width);
    let lanes = Lanes { shapes, lines: &lines, rows: None, rewritten: None };
    let instructions: usize = f.layout.iter().map(|&block| f.blocks[block].insts.len()).sum();
    let least = LEAST * (instructions / LONG).max(1) as u64;
    let mut changed = false;
    for &from in flow.cfg.rpo().iter().filter(|&&block| divergent.contains(block)) {
        if !matches!(f.blocks[from].term, Terminator::Branch { .. }) {
            continue;
        }
        for n in 0..2 {
            let to = f.blocks[from].term.targets()[n].block;
            if guarded.contains(to) || flow.cfg.preds(to).len() != 1 {
                continue;
            }
            let Some((inside, behind)) = part(&flow.cfg, &flow.dominators, &flow.loops, to) else { continue };
            if cost_of(f, &flow.loops, inside, lanes, registers) >= least {
                gate(f, from, n, behind);
                changed = true;
            }
        }
    }
    if changed { ControlFlow::of(f) } else { flow }
}

/// The blocks that one block dominates, and the only one where they lead. None where they lead to several, or back
/// to the header of a loop around.
pub(super) fn part<'a>(
    cfg: &Cfg,
    dominators: &'a Dominators,
    loops: &Loops,
    first: Block,
) -> Option<(&'a [Block], Block)> {
    let inside = dominators.dominated(first);
    let mut behind = None;
    for &block in inside {
        let succs = cfg.succs(block);
        if succs.is_empty() {
            return None;
        }
        for &to in succs.iter().filter(|&&to| !dominators.dominates(first, to)) {
            if *behind.get_or_insert(to) != to {
                return None;
            }
        }
    }
    let behind = behind?;
    let same_loop = loops.innermost(first) == loops.innermost(behind);
    (same_loop && loops.with_header(behind).is_none()).then_some((inside, behind))
}

fn cost_of(f: &Function, forest: &Loops, inside: &[Block], lanes: Lanes<'_>, registers: Registers) -> u64 {
    let outer = inside.first().map_or(1, |&first| cost::frequency(forest, first));
    let of = |&block: &Block| -> u64 {
        let insts = f.blocks[block].insts.iter();
        let sum: u64 = insts.map(|&inst| cost::gang(f, inst, lanes, registers)).sum();
        sum.saturating_mul(cost::frequency(forest, block) / outer.max(1))
    };
    inside.iter().map(of).fold(0, u64::saturating_add)
}

fn gate(f: &mut Function, from: Block, target: usize, behind: Block) {
    let (gate, past) = (f.add_block(), f.add_block());
    let mut term = f.blocks[from].term.clone();
    let old = term.targets()[target].clone();
    for (n, to) in term.targets_mut().into_iter().enumerate() {
        if n == target {
            *to = BlockCall { block: gate, args: Vec::new() };
        }
    }
    f.blocks[from].term = term;
    let types: Vec<Type> = f.blocks[behind].params.iter().map(|&param| f.ty(param)).collect();
    let zeros: Vec<Value> = types.into_iter().map(|ty| f.constant(ty, 0)).collect();
    let yes = f.constant(Type::BOOL, 1);
    let mut b = Builder::at(f, gate);
    let any = b.any(yes);
    b.branch(any, (old.block, &old.args), (past, &[]));
    b.switch_to(past);
    b.jump(behind, &zeros);
}
