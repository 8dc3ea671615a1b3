//! Copies one region and mends its SSA form.
//!
//! Requires: the split code and the plan of what is kept.
//! Ensures: valid SSA; the region's entry block has the kernel's inputs as parameters; slots hold what
//! the plan says on every arrival at a barrier.
//! Phases: copy blocks; parameters where definitions meet; operands and stores; place the definitions at
//! the begin.
//! Source: Karrenberg & Hack 2012, section 2.3; the parameters as in Cytron et al. 1991, section 4
//! (dominance frontiers), pruned by liveness.
//!
//! A value that the region needs from earlier regions has a definition at the region's begin: a load of
//! its live slot, or the operations that compute it again. If the region also holds the value's own
//! definition (a loop around the barrier leads back to it), both reach uses, and blocks where they meet
//! get a parameter. Definitions at the begin are placed as late as their uses allow, but outside of
//! cycles: what a path does not need it does not load, and what a loop needs it loads once.
//!
//! Arriving at a barrier stores what the next region finds in slots, unless it lies there already.

use super::Split;
use super::live::Plan;
use crate::analysis::cfg::{Cfg, cfg};
use crate::analysis::dominators::{Dominators, dominators};
use crate::ir::{Block, Function, Inst, InstData, LiveSlot, Region, SourceLoc, Terminator, Value, ValueDef};
use cranelift_entity::{PrimaryMap, SecondaryMap};

struct Copy<'a> {
    split: &'a Split,
    plan: &'a Plan,
    region: Region,
    /// The new region.
    f: Function,
    /// The copy of each block.
    block: SecondaryMap<Block, Option<Block>>,
    /// The block that each block is a copy of.
    original: PrimaryMap<Block, Block>,
    /// The copy of each value that the region's blocks define, and of the kernel's inputs.
    value: SecondaryMap<Value, Option<Value>>,
    /// The definition at the begin of each value from earlier regions, once it is wanted.
    begin: SecondaryMap<Value, Option<Value>>,
    /// The instructions of those definitions, operands before users. No block holds them yet.
    floating: Vec<Inst>,
    /// Parameters added where definitions of a value meet.
    joins: SecondaryMap<Block, Vec<(Value, Value)>>,
}

/// Builds the code of a region.
pub(super) fn build(split: &Split, plan: &Plan, region: Region) -> Function {
    let mut copy = Copy {
        split,
        plan,
        region,
        f: Function::new(),
        block: SecondaryMap::new(),
        original: PrimaryMap::new(),
        value: SecondaryMap::new(),
        begin: SecondaryMap::new(),
        floating: Vec::new(),
        joins: SecondaryMap::new(),
    };
    copy.shapes();
    let cfg = cfg(&copy.f);
    let tree = dominators(&cfg);
    copy.join(&cfg, &tree);
    copy.operands(&tree);
    copy.place(&cfg, &tree);
    copy.f
}

impl Copy<'_> {
    /// Blocks with parameters, instructions with results, and jumps, all without operands.
    fn shapes(&mut self) {
        let split = self.split;
        for old in split.blocks(self.region) {
            let new = self.f.add_block();
            self.block[old] = Some(new);
            self.original.push(old);
        }
        let entry = self.f.entry();
        for &param in &split.body.blocks[split.body.entry()].params {
            self.value[param] = Some(self.f.add_param(entry, split.body.ty(param)));
        }
        for new in self.f.layout.clone() {
            let old = self.original[new];
            let data = &split.body.blocks[old];
            if new != entry {
                for &param in &data.params {
                    self.value[param] = Some(self.f.add_param(new, split.body.ty(param)));
                }
            }
            for &inst in &data.insts {
                let node = &split.body.insts[inst];
                let types: Vec<_> = node.results.iter().map(|&v| split.body.ty(v)).collect();
                let made = self.f.append(new, node.data.clone(), &types, node.loc);
                for (&old, &new) in node.results.iter().zip(&self.f.insts[made].results) {
                    self.value[old] = Some(new);
                }
            }
            self.f.end_locs[new] = split.body.end_locs[old];
            self.f.blocks[new].term = match split.cut[old] {
                Some(region) => Terminator::Exit(region),
                None => {
                    let mut term = data.term.clone();
                    for to in term.targets_mut() {
                        // Every target is in the region, as the block is not cut.
                        to.block = self.block[to.block].unwrap_or(to.block);
                    }
                    term
                }
            };
        }
    }

    /// Whether two definitions of a value reach its uses here.
    fn has_both(&self, value: Value) -> bool {
        let split = self.split;
        let start = split.starts[self.region];
        split.input(value).is_none() && self.value[value].is_some() && split.liveness.is_live_in(value, start)
    }

    /// Adds parameters where a value's definition at the begin and its own one meet.
    fn join(&mut self, cfg: &Cfg, tree: &Dominators) {
        let split = self.split;
        let start = split.starts[self.region];
        let both: Vec<Value> = split.liveness.live_in(start).filter(|&v| self.has_both(v)).collect();
        if both.is_empty() {
            return;
        }
        let frontier = frontiers(cfg, tree);
        for value in both {
            let home = split.home[value].and_then(|home| self.block[home]);
            let mut work: Vec<Block> = home.into_iter().collect();
            let mut seen: SecondaryMap<Block, bool> = SecondaryMap::new();
            while let Some(block) = work.pop() {
                for &join in &frontier[block] {
                    let needed = split.liveness.is_live_in(value, self.original[join]);
                    if needed && !std::mem::replace(&mut seen[join], true) {
                        let param = self.f.add_param(join, split.body.ty(value));
                        self.joins[join].push((value, param));
                        work.push(join);
                    }
                }
            }
        }
    }

    /// Fills in all operands, and the stores where work-items arrive at barriers.
    fn operands(&mut self, tree: &Dominators) {
        for block in self.f.layout.clone() {
            for inst in self.f.blocks[block].insts.clone() {
                let mut data = self.f.insts[inst].data.clone();
                data.map_args(|v| self.reaching(tree, v, block));
                self.f.insts[inst].data = data;
            }
            if let Terminator::Exit(next) = self.f.blocks[block].term {
                self.arrive(tree, block, next);
                continue;
            }
            let mut term = self.f.blocks[block].term.clone();
            term.map_args(|v| self.reaching(tree, v, block));
            for to in term.targets_mut() {
                for (value, _) in self.joins[to.block].clone() {
                    to.args.push(self.reaching(tree, value, block));
                }
            }
            self.f.blocks[block].term = term;
        }
    }

    fn arrive(&mut self, tree: &Dominators, block: Block, next: Region) {
        for &value in &self.plan.kept[next] {
            let Some(live) = self.plan.slot[value] else {
                continue;
            };
            if self.found(value).is_some() && self.comes_from_begin(tree, value, block) {
                continue;
            }
            let arg = self.reaching(tree, value, block);
            self.f.append(block, InstData::LiveStore { live, arg }, &[], SourceLoc::default());
        }
    }

    /// The slot in which this region finds a value.
    fn found(&self, value: Value) -> Option<LiveSlot> {
        let order = |v: &Value| self.split.order[*v];
        let kept = self.plan.kept[self.region].binary_search_by_key(&order(&value), order);
        kept.ok().and(self.plan.slot[value])
    }

    /// Whether the definition of a value that reaches the end of a block is the one at the begin.
    fn comes_from_begin(&self, tree: &Dominators, value: Value, block: Block) -> bool {
        match self.value[value] {
            None => true,
            Some(_) => self.has_both(value) && self.definition(tree, value, block).is_none(),
        }
    }

    /// The definition of a value that reaches the end of a block (or a use in it), if it is not the one
    /// at the begin: its own one or a parameter where definitions meet.
    fn definition(&self, tree: &Dominators, value: Value, block: Block) -> Option<Value> {
        let home = self.split.home[value].and_then(|home| self.block[home]);
        std::iter::successors(Some(block), |&block| tree.idom(block)).find_map(|at| {
            if Some(at) == home {
                return self.value[value];
            }
            self.joins[at].iter().find(|&&(joined, _)| joined == value).map(|&(_, param)| param)
        })
    }

    /// The new value for an old one that is used in a block.
    fn reaching(&mut self, tree: &Dominators, value: Value, block: Block) -> Value {
        let data = self.split.body.values[value];
        if let ValueDef::Const(bits) = data.def {
            return self.f.constant(data.ty, bits);
        }
        if let Some(new) = self.value[value] {
            if !self.has_both(value) {
                return new;
            }
            if let Some(definition) = self.definition(tree, value, block) {
                return definition;
            }
        }
        self.at_begin(value)
    }

    /// The definition at the begin of a value from earlier regions.
    fn at_begin(&mut self, value: Value) -> Value {
        if let Some(made) = self.begin[value] {
            return made;
        }
        let split = self.split;
        let data = split.body.values[value];
        if let ValueDef::Const(bits) = data.def {
            return self.f.constant(data.ty, bits);
        }
        if let (Some(_), Some(new)) = (split.input(value), self.value[value]) {
            return new;
        }
        let made = match (self.found(value), data.def) {
            (None, ValueDef::Result(inst, index)) => {
                let node = &split.body.insts[inst];
                let mut data = node.data.clone();
                data.map_args(|arg| self.at_begin(arg));
                let types: Vec<_> = node.results.iter().map(|&v| split.body.ty(v)).collect();
                let made = self.f.make_inst(data, &types, node.loc);
                self.floating.push(made);
                for (&old, &new) in node.results.iter().zip(&self.f.insts[made].results) {
                    self.begin[old] = Some(new);
                }
                self.f.insts[made].results[index as usize]
            }
            (None, _) => unreachable!("{value} is live here, not kept, and not computed by an instruction"),
            (Some(live), _) => {
                let made = self.f.make_inst(InstData::LiveLoad { live }, &[data.ty], SourceLoc::default());
                self.floating.push(made);
                self.f.result(made)
            }
        };
        self.begin[value] = Some(made);
        made
    }

    /// Puts the definitions at the begin into blocks: the last one outside of cycles that dominates all
    /// uses, before the first of them. Those without uses vanish.
    fn place(&mut self, cfg: &Cfg, tree: &Dominators) {
        if self.floating.is_empty() {
            return;
        }
        let mut floats: SecondaryMap<Value, bool> = SecondaryMap::new();
        for &inst in &self.floating {
            self.f.insts[inst].results.iter().for_each(|&v| floats[v] = true);
        }
        let mut users: SecondaryMap<Value, Vec<Block>> = SecondaryMap::new();
        for &block in &self.f.layout {
            let data = &self.f.blocks[block];
            let mut used = |v: Value| {
                if floats[v] && users[v].last() != Some(&block) {
                    users[v].push(block);
                }
            };
            data.insts.iter().for_each(|&inst| self.f.insts[inst].data.for_each_arg(&mut used));
            data.term.for_each_arg(&mut used);
        }
        let cyclic = cyclic_blocks(cfg);
        // Users come before their operands, so that these know where they are used.
        for inst in std::mem::take(&mut self.floating).into_iter().rev() {
            let results = self.f.insts[inst].results.clone();
            let blocks = results.iter().flat_map(|&v| &users[v]).copied();
            let Some(mut block) = blocks.reduce(|a, b| tree.common(a, b).unwrap_or(a)) else {
                continue;
            };
            while cyclic[block] {
                match tree.idom(block) {
                    Some(parent) => block = parent,
                    None => break,
                }
            }
            let position = self.first_use(block, &results);
            self.f.blocks[block].insts.insert(position, inst);
            self.f.insts[inst].data.for_each_arg(|arg| {
                if floats[arg] {
                    users[arg].push(block);
                }
            });
        }
    }

    /// Where in a block the first use of one of these values stands, or the first store to a live slot,
    /// which may be the one a value is loaded from.
    fn first_use(&self, block: Block, values: &[Value]) -> usize {
        let insts = &self.f.blocks[block].insts;
        let stop = insts.iter().position(|&inst| {
            let data = &self.f.insts[inst].data;
            let mut found = matches!(data, InstData::LiveStore { .. });
            data.for_each_arg(|arg| found |= values.contains(&arg));
            found
        });
        stop.unwrap_or(insts.len())
    }
}

/// The dominance frontier of each block: where its dominance ends.
fn frontiers(cfg: &Cfg, tree: &Dominators) -> SecondaryMap<Block, Vec<Block>> {
    let mut frontiers: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
    for &join in cfg.rpo() {
        if cfg.preds(join).len() < 2 {
            continue;
        }
        for &pred in cfg.preds(join) {
            let mut runner = Some(pred);
            while let Some(block) = runner.filter(|&block| Some(block) != tree.idom(join)) {
                if frontiers[block].last() != Some(&join) {
                    frontiers[block].push(join);
                }
                runner = tree.idom(block);
            }
        }
    }
    frontiers
}

/// The blocks that a path leads from back to themselves.
fn cyclic_blocks(cfg: &Cfg) -> SecondaryMap<Block, bool> {
    // Walking backwards from each block in the order in which a depth-first search left the blocks last
    // finds one strongly connected component at a time.
    let mut cyclic: SecondaryMap<Block, bool> = SecondaryMap::new();
    let mut assigned: SecondaryMap<Block, bool> = SecondaryMap::new();
    for &root in cfg.rpo() {
        if std::mem::replace(&mut assigned[root], true) {
            continue;
        }
        let mut component = vec![root];
        let mut next = 0;
        while let Some(&block) = component.get(next) {
            next += 1;
            for &pred in cfg.preds(block) {
                if cfg.is_reachable(pred) && !std::mem::replace(&mut assigned[pred], true) {
                    component.push(pred);
                }
            }
        }
        let is_cycle = component.len() > 1 || cfg.preds(root).contains(&root);
        component.into_iter().for_each(|block| cyclic[block] = is_cycle);
    }
    cyclic
}
