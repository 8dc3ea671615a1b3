//! Puts constants in the place of what is computed, and takes out what they leave without a use.
//!
//! Requires: a verified function, of any control flow, before masks; constants that were found in it.
//! Ensures: the function does what it did. No choice is a constant; with [`tidy`] no block stands alone behind another that
//! only jumps there, and each instruction and each parameter of a block has an effect or a use.
//! Phases: constants, and jumps for choices that are; then blocks in a row as one, selects of one operand as that, and from
//! effects and choices back what is used.
//! Source: Wegman & Zadeck 1991; Cytron et al. 1991, section 7.1, for dead code.

use crate::analysis::cfg::cfg;
use crate::analysis::constants::{Constants, Fact, constants};
use crate::ir::{Function, InstData, InstNode, Terminator, TernaryOp, Value, ValueDef};
use cranelift_entity::{EntitySet, SecondaryMap};

/// Makes of a function what is left of it with what its constants tell.
pub fn fold(f: &mut Function) {
    let found = constants(f, |_| None);
    put_constants(f, &found);
    tidy(f);
}

/// Puts constants in their places, and takes out what is not reached with them.
pub fn put_constants(f: &mut Function, found: &Constants) {
    f.layout.retain(|&block| found.reached.contains(block));
    let known: Vec<(Value, u128)> = f.values.iter().filter_map(|(value, data)| known(found, value, data.def)).collect();
    let mut places: SecondaryMap<Value, Option<Value>> = SecondaryMap::new();
    for (value, bits) in known {
        places[value] = Some(f.constant(f.ty(value), bits));
    }
    for block in f.layout.clone() {
        let is_constant = |inst: &InstNode| inst.results.iter().any(|&result| places[result].is_some());
        let insts = &mut f.blocks[block].insts;
        insts.retain(|&inst| !is_constant(&f.insts[inst]));
        for &inst in &f.blocks[block].insts {
            f.insts[inst].data.map_args(|value| places[value].unwrap_or(value));
        }
        if let Some(only) = found.only_target(f, block) {
            f.blocks[block].term = Terminator::Jump(only.clone());
        }
        f.blocks[block].term.map_args(|value| places[value].unwrap_or(value));
    }
}

/// The bits of a value that is to be put in its place.
fn known(found: &Constants, value: Value, def: ValueDef) -> Option<(Value, u128)> {
    match (found.values[value], def) {
        (Fact::Always(bits), ValueDef::Result(..) | ValueDef::Param(..)) => Some((value, bits)),
        _ => None,
    }
}

/// Joins blocks, and takes out what has no use.
pub fn tidy(f: &mut Function) {
    let mut copies = Copies::default();
    join_blocks(f, &mut copies);
    skip_selects(f, &mut copies);
    for block in f.layout.clone() {
        for &inst in &f.blocks[block].insts {
            f.insts[inst].data.map_args(|value| copies.of(value));
        }
        f.blocks[block].term.map_args(|value| copies.of(value));
    }
    drop_unused(f);
}

/// What stands for values.
#[derive(Default)]
struct Copies(SecondaryMap<Value, Option<Value>>);

impl Copies {
    fn of(&self, mut value: Value) -> Value {
        while let Some(by) = self.0[value] {
            value = by;
        }
        value
    }
}

/// Puts a block that is reached from one place, by a jump, at the end of the one it is reached from.
fn join_blocks(f: &mut Function, copies: &mut Copies) {
    let graph = cfg(f);
    let mut joined = EntitySet::new();
    for &block in graph.rpo() {
        if joined.contains(block) {
            continue;
        }
        while let Terminator::Jump(to) = &f.blocks[block].term {
            let next = to.block;
            if graph.preds(next).len() != 1 || next == block {
                break;
            }
            for (&param, &arg) in f.blocks[next].params.iter().zip(&to.args) {
                copies.0[param] = Some(arg);
            }
            let insts = std::mem::take(&mut f.blocks[next].insts);
            f.blocks[block].insts.extend(insts);
            f.blocks[block].term = std::mem::replace(&mut f.blocks[next].term, Terminator::Unreachable);
            f.end_locs[block] = f.end_locs[next];
            joined.insert(next);
        }
    }
    f.layout.retain(|&block| graph.is_reachable(block) && !joined.contains(block));
}

/// Lets what a select chooses that has a constant to choose by stand for it.
fn skip_selects(f: &Function, copies: &mut Copies) {
    for &inst in f.layout.iter().flat_map(|&block| &f.blocks[block].insts) {
        if let InstData::Ternary { op: TernaryOp::Select, args: [by, a, b], .. } = f.insts[inst].data
            && let Some(bits) = f.const_bits(copies.of(by))
        {
            copies.0[f.result(inst)] = Some(if bits != 0 { a } else { b });
        }
    }
}

/// Takes out instructions without effect, and parameters of blocks, that nothing uses.
fn drop_unused(f: &mut Function) {
    let graph = cfg(f);
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
        f.blocks[block].term.selector().into_iter().for_each(|value| use_it(value, &mut open));
    }
    while let Some(value) = open.pop() {
        match f.values[value].def {
            ValueDef::Result(inst, _) => f.insts[inst].data.for_each_arg(|value| use_it(value, &mut open)),
            ValueDef::Param(block, index) => {
                for &pred in graph.preds(block) {
                    let targets = f.blocks[pred].term.targets();
                    for to in targets.into_iter().filter(|to| to.block == block) {
                        use_it(to.args[index as usize], &mut open);
                    }
                }
            }
            ValueDef::Const(_) => {}
        }
    }
    let is_used = |inst: &InstNode| inst.data.has_effect() || inst.results.iter().any(|&result| used.contains(result));
    let entry = f.entry();
    for block in f.layout.clone() {
        f.blocks[block].insts.retain(|&inst| is_used(&f.insts[inst]));
        let params = f.blocks[block].params.clone();
        if block == entry || params.iter().all(|&param| used.contains(param)) {
            continue;
        }
        for &pred in graph.preds(block) {
            for to in f.blocks[pred].term.targets_mut().into_iter().filter(|to| to.block == block) {
                // An edge for each time it is listed; the first time takes them all.
                if to.args.len() == params.len() {
                    let mut index = 0..;
                    to.args.retain(|_| index.next().is_some_and(|index: usize| used.contains(params[index])));
                }
            }
        }
        let left: Vec<Value> = params.into_iter().filter(|&param| used.contains(param)).collect();
        for (index, &param) in left.iter().enumerate() {
            f.values[param].def = ValueDef::Param(block, index as u32);
        }
        f.blocks[block].params = left;
    }
}
