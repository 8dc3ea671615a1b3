//! Makes every loop uniform: lanes that have left it wait until all have.
//!
//! Requires: a function in normal form; the blocks whose branches are divergent.
//! Ensures: no divergent branch leaves a loop; a loop that may be entered by no lane ends at once. There is
//! no switch, and one block in which all ways through the function end. The new divergent branches are
//! in the set, and what only some lanes' edges decide is in [`UniformLoops`].
//! Phases: switches become branches and ends meet in one block; loops with divergent exits, innermost first;
//! then loops that linearization might enter with no lane, outermost first.
//! Source: Moll 2021, section 9.1. Values that are uniform in an iteration stay so, as in Karrenberg & Hack
//! 2012, section 3.3: lanes that wait take part in the loop's induction variables.
//!
//! ```text
//! preheader:  jump head(v…)              preheader:  jump head(v…, true, false…, 0…)
//! head(v…):   …                          head(v…, live, track…, out…):  br any(live), guard, leave
//! exiting:    br c, exit1(x), …    =>    guard:      br live, body, latch(v…, false, track…, out…)
//!                                        body:       …
//!                                        exiting:    br c, latch(v…, false, true…, x…), …
//! latch:      jump head(w…)              old latch:  jump latch(w…, true, track…, out…)
//!                                        latch(p…):  jump head(p…)
//!                                        leave:      br track, exit1(out), …
//! ```
//!
//! A loop with one exit block needs no track, and what is the same on all edges to an exit block and
//! defined before the loop needs no out.

use crate::analysis::block_index::block_index;
use crate::analysis::cfg::{Cfg, cfg};
use crate::analysis::dominators::{Dominators, dominators};
use crate::analysis::loops::{Loop, Loops, loops};
use crate::analysis::predicates::{Graph, Iterations, Lanes};
use crate::ir::*;
use cranelift_entity::{EntitySet, SecondaryMap};
use std::collections::HashMap;

/// Parameters of new latches whose value counts on one edge only: on the others come lanes that have left
/// the loop, and do not look at it any more.
pub type Tracked = HashMap<Value, Block>;

/// What later passes have to know of the loops that were changed.
#[derive(Clone, Debug, Default)]
pub struct UniformLoops {
    /// Which values count on one edge only.
    pub tracked: Tracked,
    /// Blocks that run for a lane at least, as a branch before them asks.
    pub guarded: EntitySet<Block>,
}

/// Makes every loop uniform.
pub fn divergent_loops(f: &mut Function, divergent: &mut EntitySet<Block>) -> UniformLoops {
    expand_switches(f, divergent);
    let end = join_ends(f);
    let mut pass = Pass { f, divergent, end, tracked: HashMap::new(), guarded: EntitySet::new() };
    let headers: Vec<Block> = {
        let facts = Facts::new(pass.f);
        facts.loops.iter().rev().map(|(_, l)| l.header).collect()
    };
    let mut facts = Facts::new(pass.f);
    for &header in &headers {
        if let Some(l) = facts.loops.with_header(header)
            && facts.is_divergent(pass.divergent, l)
        {
            pass.make_uniform(&facts, l);
            facts = Facts::new(pass.f);
        }
    }
    for &header in headers.iter().rev() {
        if let Some(l) = facts.loops.with_header(header)
            && !pass.has_lanes(&facts, header)
        {
            pass.make_uniform(&facts, l);
            facts = Facts::new(pass.f);
        }
    }
    UniformLoops { tracked: pass.tracked, guarded: pass.guarded }
}

/// What is known of the function as it is.
struct Facts {
    cfg: Cfg,
    dominators: Dominators,
    loops: Loops,
    iterations: Iterations,
}

impl Facts {
    fn new(f: &Function) -> Facts {
        let cfg = cfg(f);
        let dominators = dominators(&cfg);
        let loops = loops(&cfg, &dominators);
        let iterations = Iterations::new(f, &cfg, &loops);
        Facts { cfg, dominators, loops, iterations }
    }

    fn graph<'a>(&'a self, divergent: &'a EntitySet<Block>) -> Graph<'a> {
        let Facts { cfg, dominators, loops, iterations } = self;
        Graph { cfg, dominators, loops, iterations, divergent }
    }

    /// Whether lanes may leave a loop at different times or through different exits, or never. Loops inside
    /// are uniform.
    fn is_divergent(&self, divergent: &EntitySet<Block>, l: Loop) -> bool {
        let exits = &self.loops.get(l).exits;
        if exits.is_empty() {
            return true;
        }
        let lanes = self.graph(divergent).lanes_in(l);
        exits.iter().any(|&(from, _)| divergent.contains(from) || lanes[from] != Lanes::All)
    }
}

/// Turns switches into chains of branches. A block of the chain may lie outside of a loop that the switch
/// is in, so values go there as arguments.
fn expand_switches(f: &mut Function, divergent: &mut EntitySet<Block>) {
    for block in f.layout.clone() {
        let Terminator::Switch { mut value, mut cases, mut default } = f.blocks[block].term.clone() else { continue };
        let is_divergent = divergent.contains(block);
        let mut here = block;
        cases.reverse();
        if cases.is_empty() {
            divergent.remove(block);
        }
        while let Some((key, then_to)) = cases.pop() {
            let key = f.constant(f.ty(value), key);
            let cond = Builder::at(f, here).icmp(IntCc::Eq, value, key);
            if is_divergent {
                divergent.insert(here);
            }
            if cases.is_empty() {
                f.blocks[here].term = Terminator::Branch { cond, then_to, else_to: default.clone() };
                break;
            }
            let next = f.add_block();
            let mut given = Vec::new();
            let mut pass = |v: &mut Value| {
                if f.const_bits(*v).is_none() {
                    let known = given.iter().position(|given| given == v);
                    let i = known.unwrap_or_else(|| {
                        given.push(*v);
                        f.add_param(next, f.ty(*v));
                        given.len() - 1
                    });
                    *v = f.blocks[next].params[i];
                }
            };
            pass(&mut value);
            cases.iter_mut().flat_map(|(_, to)| &mut to.args).chain(&mut default.args).for_each(pass);
            let else_to = BlockCall { block: next, args: given };
            f.blocks[here].term = Terminator::Branch { cond, then_to, else_to };
            here = next;
        }
        if here == block && matches!(f.blocks[block].term, Terminator::Switch { .. }) {
            f.blocks[block].term = Terminator::Jump(default);
        }
    }
}

/// Lets all ways end in one block. All lanes arrive at the same barrier or none does, so asking one lane
/// which it was is enough.
fn join_ends(f: &mut Function) -> Option<Block> {
    let reachable = cfg(f);
    f.layout.retain(|&block| reachable.is_reachable(block));
    let is_end = |f: &Function, b: Block| f.blocks[b].term.targets().is_empty();
    let ends: Vec<Block> = f.layout.iter().copied().filter(|&b| is_end(f, b)).collect();
    let mut kinds: Vec<Terminator> = Vec::new();
    for &end in &ends {
        let term = &f.blocks[end].term;
        if *term != Terminator::Unreachable && !kinds.contains(term) {
            kinds.push(term.clone());
        }
    }
    if kinds.is_empty() {
        kinds.push(Terminator::Return);
    }
    match ends[..] {
        [] => return None,
        [end] if f.blocks[end].term == kinds[0] => return Some(end),
        _ => {}
    }
    let join = f.add_block();
    let which = (kinds.len() > 1).then(|| f.add_param(join, Type::I32));
    for end in ends {
        let kind = kinds.iter().position(|kind| *kind == f.blocks[end].term).unwrap_or(0);
        let kind = f.constant(Type::I32, kind as u128);
        let args = which.iter().map(|_| kind).collect();
        f.blocks[end].term = Terminator::Jump(BlockCall { block: join, args });
    }
    let mut here = join;
    for (i, kind) in kinds.iter().enumerate().skip(1) {
        let Some(which) = which else { break };
        let number = f.constant(Type::I32, i as u128);
        let (end, next) = (f.add_block(), f.add_block());
        f.blocks[end].term = kind.clone();
        let mut b = Builder::at(f, here);
        let is_it = b.icmp(IntCc::Eq, which, number);
        let cond = b.any(is_it);
        b.branch(cond, (end, &[]), (next, &[]));
        here = next;
    }
    f.blocks[here].term = kinds.swap_remove(0);
    Some(join)
}

struct Pass<'a> {
    f: &'a mut Function,
    divergent: &'a mut EntitySet<Block>,
    /// Where all ways end, if one does.
    end: Option<Block>,
    tracked: Tracked,
    /// Blocks that run for a lane at least, as a branch before them asks.
    guarded: EntitySet<Block>,
}

/// A block behind the loop, and what it is given.
struct Exit {
    block: Block,
    /// The header's parameter that is true for the lanes that left to here; none for the last exit.
    track: Option<usize>,
    /// Per parameter: the same value on all edges, or the index of the header's parameter that keeps it.
    args: Vec<Result<Value, usize>>,
}

impl Pass<'_> {
    /// Whether a lane is active whenever linearized code comes to a loop's header from outside.
    fn has_lanes(&self, facts: &Facts, header: Block) -> bool {
        let graph = facts.graph(self.divergent);
        let lanes = graph.lanes();
        let mut block = header;
        while lanes[block] != Lanes::All && !self.guarded.contains(block) {
            match graph.same_as(block) {
                Some(before) => block = before,
                None => return false,
            }
        }
        true
    }

    fn make_uniform(&mut self, facts: &Facts, l: Loop) {
        let data = facts.loops.get(l);
        let old_header = data.header;
        let inside = |block: Block| facts.loops.contains(l, block);
        let invariant: SecondaryMap<Value, bool> = self.invariant(&inside);
        let f = &mut *self.f;
        let [header, guard, latch, leave] = [(); 4].map(|()| f.add_block());

        // The header takes the old one's parameters, which keep their names, and new ones.
        let params = std::mem::take(&mut f.blocks[old_header].params);
        for (i, &param) in params.iter().enumerate() {
            f.values[param].def = ValueDef::Param(header, i as u32);
        }
        let carried = params.len();
        f.blocks[header].params = params;
        let live = f.add_param(header, Type::BOOL);
        let exits = exits(f, facts, l, header, &invariant);
        let head: Vec<Value> = f.blocks[header].params.clone();
        let back: Vec<Value> = head.iter().map(|&v| f.add_param(latch, f.ty(v))).collect();
        let [yes, no] = [1, 0].map(|bit| f.constant(Type::BOOL, bit));

        // Lanes that leave, and those that wait, go to the new latch.
        for block in data.blocks.clone() {
            let mut term = f.blocks[block].term.clone();
            for to in term.targets_mut() {
                let mut args = head.clone();
                if to.block == old_header {
                    args[..carried].clone_from_slice(&to.args);
                    args[carried] = yes;
                    back[..carried].iter().for_each(|&v| {
                        self.tracked.insert(v, block);
                    });
                } else if let Some(exit) = exits.iter().find(|exit| exit.block == to.block) {
                    args[carried] = no;
                    exit.track.iter().for_each(|&i| args[i] = yes);
                    for (kept, &value) in exit.args.iter().zip(&to.args) {
                        if let Err(i) = *kept {
                            args[i] = value;
                        }
                    }
                } else {
                    continue;
                }
                *to = BlockCall { block: latch, args };
            }
            f.blocks[block].term = term;
        }
        let mut waiting = head.clone();
        waiting[carried] = no;
        f.blocks[latch].term = Terminator::Jump(BlockCall { block: header, args: back });

        // The ways in.
        let outside: Vec<Block> = facts.cfg.preds(old_header).iter().copied().filter(|&p| !inside(p)).collect();
        let zeros: Vec<Value> = head[carried + 1..]
            .iter()
            .map(|&v| f.ty(v))
            .collect::<Vec<_>>()
            .into_iter()
            .map(|ty| f.constant(ty, 0))
            .collect();
        for block in outside {
            for to in f.blocks[block].term.targets_mut() {
                if to.block == old_header {
                    to.block = header;
                    to.args.push(yes);
                    to.args.extend(&zeros);
                }
            }
        }
        let mut b = Builder::at(f, header);
        let any = b.any(live);
        b.branch(any, (guard, &[]), (leave, &[]));
        b.switch_to(guard);
        b.branch(live, (old_header, &[]), (latch, &waiting));
        self.divergent.insert(guard);
        self.guarded.insert(old_header);
        self.dispatch(leave, &head, &exits);
    }

    /// The values that do not change in a loop.
    fn invariant(&self, inside: &dyn Fn(Block) -> bool) -> SecondaryMap<Value, bool> {
        let f = &*self.f;
        let mut invariant: SecondaryMap<Value, bool> = SecondaryMap::with_default(true);
        for &block in f.layout.iter().filter(|&&b| inside(b)) {
            let data = &f.blocks[block];
            let results = data.insts.iter().flat_map(|&inst| &f.insts[inst].results);
            data.params.iter().chain(results).for_each(|&v| invariant[v] = false);
        }
        invariant
    }

    /// Sends each lane on to the exit through which it left.
    fn dispatch(&mut self, leave: Block, head: &[Value], exits: &[Exit]) {
        let mut here = leave;
        if exits.is_empty() {
            // No lane comes here that wants to go on, but linearized code has to.
            self.f.blocks[here].term = self.end();
            self.end.get_or_insert(here);
        }
        // A block behind a question may lie outside of a loop around this one, so values go there as
        // arguments.
        let mut now: HashMap<Value, Value> = HashMap::new();
        let of = |exit: &Exit| -> Vec<Value> { exit.args.iter().map(|&arg| arg.unwrap_or_else(|i| head[i])).collect() };
        for (n, exit) in exits.iter().enumerate() {
            let at = |v: Value| now.get(&v).copied().unwrap_or(v);
            let args: Vec<Value> = of(exit).into_iter().map(at).collect();
            let Some(track) = exit.track else {
                Builder::at(self.f, here).jump(exit.block, &args);
                continue;
            };
            let next = self.f.add_block();
            let mut later = Vec::new();
            for exit in &exits[n + 1..] {
                for value in exit.track.map(|i| head[i]).into_iter().chain(of(exit)) {
                    if self.f.const_bits(value).is_none() && !later.contains(&value) {
                        later.push(value);
                    }
                }
            }
            let given: Vec<Value> = later.iter().map(|&v| at(v)).collect();
            Builder::at(self.f, here).branch(at(head[track]), (exit.block, &args), (next, &given));
            self.divergent.insert(here);
            now = later.into_iter().map(|v| (v, self.f.add_param(next, self.f.ty(v)))).collect();
            here = next;
        }
    }

    /// A jump to the block where all ways end; a new end where no way ended.
    fn end(&mut self) -> Terminator {
        let Some(end) = self.end else { return Terminator::Return };
        let params = self.f.blocks[end].params.clone();
        let args = params.into_iter().map(|v| self.f.constant(self.f.ty(v), 0)).collect();
        Terminator::Jump(BlockCall { block: end, args })
    }
}

/// The exit blocks of a loop in the order of the function, with new parameters of the header.
fn exits(f: &mut Function, facts: &Facts, l: Loop, header: Block, invariant: &SecondaryMap<Value, bool>) -> Vec<Exit> {
    let mut blocks: Vec<Block> = Vec::new();
    let order = block_index(&facts.cfg, &facts.dominators, &facts.loops);
    let leaves = |&(_, to): &(Block, Block)| to;
    for block in order {
        if facts.loops.get(l).exits.iter().map(leaves).any(|exit| exit == block) {
            blocks.push(block);
        }
    }
    let param = |f: &mut Function, ty: Type| {
        f.add_param(header, ty);
        f.blocks[header].params.len() - 1
    };
    let count = blocks.len();
    let mut exits = Vec::new();
    for (n, block) in blocks.into_iter().enumerate() {
        let track = (n + 1 < count).then(|| param(f, Type::BOOL));
        let mut args = Vec::new();
        for i in 0..f.blocks[block].params.len() {
            let mut given = Vec::new();
            for &from in &facts.loops.get(l).blocks {
                let to = f.blocks[from].term.targets().into_iter().filter(|to| to.block == block);
                given.extend(to.map(|to| to.args[i]));
            }
            let same = given.iter().all(|&v| v == given[0]) && invariant[given[0]];
            args.push(if same { Ok(given[0]) } else { Err(param(f, f.ty(f.blocks[block].params[i]))) });
        }
        exits.push(Exit { block, track, args });
    }
    exits
}
