//! Makes every loop uniform: lanes that have left it wait until all have.
//!
//! Requires: a function in normal form; the blocks whose branches are divergent.
//! Ensures: no divergent branch leaves a loop; a loop that may be entered by no lane ends at once. There is
//! no switch, and one block in which all ways through the function end. The new divergent branches are
//! in the set, and what only some lanes' edges decide is in [`UniformLoops`].
//! Phases: switches become branches and ends meet in one block; loops with divergent exits, innermost first;
//! then loops that linearization might enter with no lane, outermost first. Control flow is analysed once per depth.
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
use crate::analysis::cfg::build_cfg;
use crate::analysis::loops::{Loop, LoopData};
use crate::analysis::predicates::{ControlFlow, Graph, Lanes};
use crate::ir::*;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use lockstep_protocol::types::Type;
use std::collections::HashMap;

/// Parameters of new latches whose value counts on one edge only: on the others come lanes that have left
/// the loop, and do not look at it any more.
pub type Tracked = HashMap<Value, Block>;

/// What later passes have to know.
pub struct UniformLoops {
    /// The control flow as it is now.
    pub control_flow: ControlFlow,
    /// Which values count on one edge only.
    pub tracked: Tracked,
    /// Blocks that run for a lane at least, as a branch before them asks.
    pub guarded: EntitySet<Block>,
}

/// Makes every loop uniform.
pub fn divergent_loops(f: &mut Function, divergent: &mut EntitySet<Block>) -> UniformLoops {
    expand_switches(f, divergent);
    let end = join_ends(f);
    let mut home: SecondaryMap<Inst, PackedOption<Block>> = SecondaryMap::with_capacity(f.insts.len());
    for &block in &f.layout {
        f.blocks[block].insts.iter().for_each(|&inst| home[inst] = block.into());
    }
    let flow = ControlFlow::analyze_function(f);
    let headers: Vec<(Block, u32)> = flow.loops.iter().map(|(_, l)| (l.header, l.depth)).collect();
    let guarded = find_gated_blocks(f, &flow);
    let mut pass = Pass { function: f, divergent, end, home, tracked: HashMap::new(), guarded };
    let flow = pass.divergent_exits(flow, &headers);
    let flow = pass.empty_entries(flow, &headers);
    UniformLoops { tracked: pass.tracked, guarded: pass.guarded, control_flow: flow }
}

/// The blocks to which a question for an active lane is the only way.
fn find_gated_blocks(f: &Function, flow: &ControlFlow) -> EntitySet<Block> {
    let mut found = EntitySet::new();
    for &block in flow.cfg.reverse_post_order() {
        let Terminator::Branch { condition: cond, then_to, .. } = &f.blocks[block].terminator else { continue };
        let ValueDef::Result(inst, _) = f.values[*cond].definition else { continue };
        let InstData::Any { condition: cond } = f.insts[inst].data else { continue };
        if f.const_bits(cond) == Some(1) && flow.cfg.predecessors(then_to.block).len() == 1 {
            found.insert(then_to.block);
        }
    }
    found
}

/// Whether lanes may leave a loop at different times or through different exits, or never. Loops inside are uniform.
fn is_divergent(graph: &Graph<'_>, l: Loop, lanes: &mut SecondaryMap<Block, Lanes>) -> bool {
    let exits = &graph.loops.get(l).exits;
    if exits.is_empty() {
        return true;
    }
    graph.lanes_in(l, lanes);
    exits.iter().any(|&(from, _)| graph.divergent.contains(from) || lanes[from] != Lanes::All)
}

/// Turns switches into chains of branches. A block of the chain may lie outside of a loop that the switch
/// is in, so values go there as arguments.
fn expand_switches(f: &mut Function, divergent: &mut EntitySet<Block>) {
    for block in f.layout.clone() {
        let Terminator::Switch { mut value, mut cases, mut default } = f.blocks[block].terminator.clone() else {
            continue;
        };
        let is_divergent = divergent.contains(block);
        let mut here = block;
        cases.reverse();
        if cases.is_empty() {
            divergent.remove(block);
        }
        while let Some((key, then_to)) = cases.pop() {
            let key = f.constant(f.ty(value), key);
            let cond = Builder::at_end_of(f, here).icmp(IntCc::Eq, value, key);
            if is_divergent {
                divergent.insert(here);
            }
            if cases.is_empty() {
                f.blocks[here].terminator = Terminator::Branch { condition: cond, then_to, else_to: default.clone() };
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
            cases.iter_mut().flat_map(|(_, to)| &mut to.arguments).chain(&mut default.arguments).for_each(pass);
            let else_to = BlockCall { block: next, arguments: given };
            f.blocks[here].terminator = Terminator::Branch { condition: cond, then_to, else_to };
            here = next;
        }
        if here == block && matches!(f.blocks[block].terminator, Terminator::Switch { .. }) {
            f.blocks[block].terminator = Terminator::Jump(default);
        }
    }
}

/// Lets all ways end in one block. All lanes arrive at the same barrier or none does, so asking one lane
/// which it was is enough.
fn join_ends(f: &mut Function) -> Option<Block> {
    let reachable = build_cfg(f);
    f.layout.retain(|&block| reachable.is_reachable(block));
    let is_end = |f: &Function, b: Block| f.blocks[b].terminator.targets().is_empty();
    let ends: Vec<Block> = f.layout.iter().copied().filter(|&b| is_end(f, b)).collect();
    let mut kinds: Vec<Terminator> = Vec::new();
    for &end in &ends {
        let term = &f.blocks[end].terminator;
        if *term != Terminator::Unreachable && !kinds.contains(term) {
            kinds.push(term.clone());
        }
    }
    if kinds.is_empty() {
        kinds.push(Terminator::Return);
    }
    match ends[..] {
        [] => return None,
        [end] if f.blocks[end].terminator == kinds[0] => return Some(end),
        _ => {}
    }
    let join = f.add_block();
    let which = (kinds.len() > 1).then(|| f.add_param(join, Type::I32));
    for end in ends {
        let kind = kinds.iter().position(|kind| *kind == f.blocks[end].terminator).unwrap_or(0);
        let kind = f.constant(Type::I32, kind as u128);
        let args = which.iter().map(|_| kind).collect();
        f.blocks[end].terminator = Terminator::Jump(BlockCall { block: join, arguments: args });
    }
    let mut here = join;
    for (i, kind) in kinds.iter().enumerate().skip(1) {
        let Some(which) = which else { break };
        let number = f.constant(Type::I32, i as u128);
        let (end, next) = (f.add_block(), f.add_block());
        f.blocks[end].terminator = kind.clone();
        let mut b = Builder::at_end_of(f, here);
        let is_it = b.icmp(IntCc::Eq, which, number);
        let cond = b.any(is_it);
        b.branch(cond, (end, &[]), (next, &[]));
        here = next;
    }
    f.blocks[here].terminator = kinds.swap_remove(0);
    Some(join)
}

struct Pass<'a> {
    function: &'a mut Function,
    divergent: &'a mut EntitySet<Block>,
    /// Where all ways end, if one does.
    end: Option<Block>,
    /// The blocks of the instructions that values come from.
    home: SecondaryMap<Inst, PackedOption<Block>>,
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
    /// Makes loops with divergent exits uniform, inner ones first. Loops of one depth do not lie in each other, so what is
    /// known of the others stays true while one of them is changed.
    fn divergent_exits(&mut self, mut flow: ControlFlow, headers: &[(Block, u32)]) -> ControlFlow {
        let mut lanes = SecondaryMap::new();
        let deepest = headers.iter().map(|&(_, depth)| depth).max().unwrap_or(0);
        for depth in (1..=deepest).rev() {
            let graph = flow.with_divergent(self.divergent);
            let here = headers.iter().rev().filter(|&&(_, d)| d == depth);
            let found = here.filter_map(|&(header, _)| flow.loops.with_header(header));
            let found: Vec<Loop> = found.filter(|&l| is_divergent(&graph, l, &mut lanes)).collect();
            flow = self.make_all_uniform(flow, &found);
        }
        flow
    }

    /// Makes loops uniform that linearized code might enter with no lane, outer ones first: they guard what is in them.
    fn empty_entries(&mut self, mut flow: ControlFlow, headers: &[(Block, u32)]) -> ControlFlow {
        loop {
            let graph = flow.with_divergent(self.divergent);
            let lanes = graph.lanes_of_blocks();
            let (mut found, mut chosen) = (Vec::new(), EntitySet::new());
            for l in headers.iter().filter_map(|&(header, _)| flow.loops.with_header(header)) {
                let header = flow.loops.get(l).header;
                let inside = flow.loops.loops_around(header).any(|outer| chosen.contains(outer));
                if !inside && !self.has_lanes(&graph, &lanes, header) {
                    chosen.insert(l);
                    found.push(l);
                }
            }
            if found.is_empty() {
                return flow;
            }
            flow = self.make_all_uniform(flow, &found);
        }
    }

    /// Makes loops uniform none of which lies in another one.
    fn make_all_uniform(&mut self, flow: ControlFlow, found: &[Loop]) -> ControlFlow {
        if found.is_empty() {
            return flow;
        }
        let mut place: SecondaryMap<Block, u32> = SecondaryMap::with_capacity(flow.cfg.block_count());
        let order = block_index(&flow.cfg, &flow.dominators, &flow.loops);
        order.into_iter().enumerate().for_each(|(i, block)| place[block] = i as u32);
        found.iter().for_each(|&l| self.make_uniform(&flow, &place, l));
        ControlFlow::analyze_function(self.function)
    }

    /// Whether a lane is active whenever linearized code comes to a loop's header from outside.
    fn has_lanes(&self, graph: &Graph<'_>, lanes: &SecondaryMap<Block, Lanes>, header: Block) -> bool {
        let mut block = header;
        while lanes[block] != Lanes::All && !self.guarded.contains(block) {
            match graph.same_as(block).or_else(|| graph.only_way_in(block)) {
                Some(before) => block = before,
                None => return false,
            }
        }
        true
    }

    fn make_uniform(&mut self, flow: &ControlFlow, place: &SecondaryMap<Block, u32>, l: Loop) {
        let data = flow.loops.get(l);
        let old_header = data.header;
        let inside = |block: Block| flow.loops.contains(l, block);
        let f = &mut *self.function;
        let [header, guard, latch, leave] = [(); 4].map(|()| f.add_block());

        // The header takes the old one's parameters, which keep their names, and new ones.
        let params = std::mem::take(&mut f.blocks[old_header].params);
        for (i, &param) in params.iter().enumerate() {
            f.values[param].definition = ValueDef::Param(header, i as u32);
        }
        let carried = params.len();
        f.blocks[header].params = params;
        let live = f.add_param(header, Type::BOOL);
        let invariant = |f: &Function, v: Value| match f.values[v].definition {
            ValueDef::Const(_) => true,
            ValueDef::Param(home, _) => home != header && !inside(home),
            ValueDef::Result(inst, _) => self.home[inst].expand().is_none_or(|home| !inside(home)),
        };
        let exits = collect_exits(f, data, place, header, &invariant);
        let head: Vec<Value> = f.blocks[header].params.clone();
        let back: Vec<Value> = head.iter().map(|&v| f.add_param(latch, f.ty(v))).collect();
        let [yes, no] = [1, 0].map(|bit| f.constant(Type::BOOL, bit));

        // Lanes that leave, and those that wait, go to the new latch.
        let mut ends: Vec<Block> =
            data.exits.iter().map(|&(from, _)| from).chain(data.latches.iter().copied()).collect();
        ends.dedup();
        for block in ends {
            let mut term = std::mem::replace(&mut f.blocks[block].terminator, Terminator::Unreachable);
            for to in term.targets_mut() {
                let mut args = head.clone();
                if to.block == old_header {
                    args[..carried].clone_from_slice(&to.arguments);
                    args[carried] = yes;
                    back[..carried].iter().for_each(|&v| {
                        self.tracked.insert(v, block);
                    });
                } else if let Some(exit) = exits.iter().find(|exit| exit.block == to.block) {
                    args[carried] = no;
                    exit.track.iter().for_each(|&i| args[i] = yes);
                    for (kept, &value) in exit.args.iter().zip(&to.arguments) {
                        if let Err(i) = *kept {
                            args[i] = value;
                        }
                    }
                } else {
                    continue;
                }
                *to = BlockCall { block: latch, arguments: args };
            }
            f.blocks[block].terminator = term;
        }
        let mut waiting = head.clone();
        waiting[carried] = no;
        f.blocks[latch].terminator = Terminator::Jump(BlockCall { block: header, arguments: back });

        // The ways in.
        let outside: Vec<Block> = flow.cfg.predecessors(old_header).iter().copied().filter(|&p| !inside(p)).collect();
        let zeros: Vec<Value> = head[carried + 1..]
            .iter()
            .map(|&v| f.ty(v))
            .collect::<Vec<_>>()
            .into_iter()
            .map(|ty| f.constant(ty, 0))
            .collect();
        for block in outside {
            for to in f.blocks[block].terminator.targets_mut() {
                if to.block == old_header {
                    to.block = header;
                    to.arguments.push(yes);
                    to.arguments.extend(&zeros);
                }
            }
        }
        let mut b = Builder::at_end_of(f, header);
        let any = b.any(live);
        b.branch(any, (guard, &[]), (leave, &[]));
        b.switch_to(guard);
        b.branch(live, (old_header, &[]), (latch, &waiting));
        self.divergent.insert(guard);
        self.guarded.insert(old_header);
        self.dispatch_exits(leave, &head, &exits);
    }

    /// Sends each lane on to the exit through which it left.
    fn dispatch_exits(&mut self, leave: Block, head: &[Value], exits: &[Exit]) {
        let mut here = leave;
        if exits.is_empty() {
            // No lane comes here that wants to go on, but linearized code has to.
            self.function.blocks[here].terminator = self.jump_to_end();
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
                Builder::at_end_of(self.function, here).jump(exit.block, &args);
                continue;
            };
            let next = self.function.add_block();
            let mut later = Vec::new();
            for exit in &exits[n + 1..] {
                for value in exit.track.map(|i| head[i]).into_iter().chain(of(exit)) {
                    if self.function.const_bits(value).is_none() && !later.contains(&value) {
                        later.push(value);
                    }
                }
            }
            let given: Vec<Value> = later.iter().map(|&v| at(v)).collect();
            Builder::at_end_of(self.function, here).branch(at(head[track]), (exit.block, &args), (next, &given));
            self.divergent.insert(here);
            now = later.into_iter().map(|v| (v, self.function.add_param(next, self.function.ty(v)))).collect();
            here = next;
        }
    }

    /// A jump to the block where all ways end; a new end where no way ended.
    fn jump_to_end(&mut self) -> Terminator {
        let Some(end) = self.end else { return Terminator::Return };
        let params = self.function.blocks[end].params.clone();
        let args = params.into_iter().map(|v| self.function.constant(self.function.ty(v), 0)).collect();
        Terminator::Jump(BlockCall { block: end, arguments: args })
    }
}

/// The exit blocks of a loop in the order of the function, with new parameters of the header.
fn collect_exits(
    f: &mut Function,
    data: &LoopData,
    place: &SecondaryMap<Block, u32>,
    header: Block,
    invariant: &dyn Fn(&Function, Value) -> bool,
) -> Vec<Exit> {
    // Each edge with what it gives the exit block.
    let mut edges: Vec<(u32, Block, Vec<Value>)> = Vec::new();
    let mut before = None;
    for &(from, to) in &data.exits {
        if before.replace((from, to)) != Some((from, to)) {
            let calls = f.blocks[from].terminator.targets().into_iter().filter(|call| call.block == to);
            edges.extend(calls.map(|call| (place[to], to, call.arguments.clone())));
        }
    }
    edges.sort_by_key(|&(place, ..)| place);
    let param = |f: &mut Function, ty: Type| {
        f.add_param(header, ty);
        f.blocks[header].params.len() - 1
    };
    let mut blocks = edges.chunk_by(|(_, a, _), (_, b, _)| a == b).peekable();
    let mut exits = Vec::new();
    while let Some(given) = blocks.next() {
        let (_, block, ref first) = given[0];
        let track = blocks.peek().is_some().then(|| param(f, Type::BOOL));
        let mut args = Vec::new();
        for (i, &value) in first.iter().enumerate() {
            let same = given.iter().all(|(.., args)| args[i] == value) && invariant(f, value);
            args.push(if same { Ok(value) } else { Err(param(f, f.ty(value))) });
        }
        exits.push(Exit { block, track, args });
    }
    exits
}

#[cfg(test)]
mod tests;
