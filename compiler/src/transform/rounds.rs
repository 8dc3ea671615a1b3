//! Gives each round of a loop around barriers regions of its own, where the launch tells how many rounds there are.
//!
//! The loop of a reduction or a scan halves or doubles a number that begins with the local size. With a region for each
//! round, that number is a constant: gangs without active lanes are nothing, masks are constants, and what one round left
//! in memory for the next is known lane by lane.
//!
//! Requires: `Stage::Regions`, the marks of [`shared_live`](super::shared_live).
//! Ensures: `Stage::Regions`; each work-item does what it did, in launches of which the facts hold. A region stands once
//! for each combination of constants that the group may keep where it begins, unless these are too many, or so few
//! that no loop is gone: then nothing changes. Where a group may go on in several regions, only what does not
//! depend on kept constants is one, so loops of an unknown number of rounds stay loops.
//! Phases: from the first region on, constants and the blocks that are reached with them; the constants that are kept for
//! the regions behind, until there are no new ones; copies with the constants in place.
//! Source: Wegman & Zadeck 1991 (constants and reached blocks together), over the regions of Karrenberg & Hack 2012,
//! section 2.3, as states.

use crate::analysis::cfg::cfg;
use crate::interp::{integer, unary};
use crate::ir::*;
use crate::launch_facts::LaunchFacts;
use cranelift_entity::{EntityRef, EntitySet, PrimaryMap, SecondaryMap};

/// How often some region has to stand. One that stands twice may be the first round of a loop and all others.
const FEWEST_ROUNDS: usize = 3;

/// Most regions that a kernel may have afterwards.
const MOST_REGIONS: usize = 40;

/// Most instructions of all regions together, each as often as a group has gangs of [`LANES`] work-items: a round is worth
/// code of its own where all of its gangs are written out.
const MOST_INSTS: u64 = 4000;

/// Most instructions of all regions together: longer kernels get few of LLVM's passes.
const MOST_CODE: u64 = 400;

/// Work-items of a gang, as far as that is known before it is chosen.
const LANES: u64 = 16;

/// Gives rounds regions of their own where the launch tells how many there are.
pub fn rounds(kernel: &mut Kernel, launch: &LaunchFacts) {
    if kernel.regions.len() < 2 || !launch.full_groups {
        return;
    }
    let (Some(items), Some(1), Some(1)) = (launch.local_size(0), launch.local_size(1), launch.local_size(2)) else {
        return;
    };
    let Some(states) = States::of(kernel, launch, u64::from(items).div_ceil(LANES)) else { return };
    let rounds = |region| states.known.iter().filter(|(known, _)| *known == region).count();
    if kernel.regions.keys().map(rounds).max() < Some(FEWEST_ROUNDS) {
        return;
    }
    let mut combines = SecondaryMap::new();
    for (index, (region, _)) in states.known.iter().enumerate() {
        combines[Region::new(index)] = kernel.combines[*region];
    }
    kernel.combines = combines;
    kernel.regions = states.bodies;
}

/// What the group keeps where a region begins: the constants, by live slot.
type Kept = Vec<Option<u128>>;

struct States {
    /// The states by the numbers of their regions.
    known: Vec<(Region, Kept)>,
    bodies: PrimaryMap<Region, Function>,
}

impl States {
    /// All states, or none if they are too many for groups of so many gangs.
    fn of(kernel: &Kernel, launch: &LaunchFacts, gangs: u64) -> Option<States> {
        let nothing = vec![None; kernel.live.len()];
        let mut states = States { known: vec![(Region::new(0), nothing)], bodies: PrimaryMap::new() };
        let mut insts = 0;
        while let Some((region, kept)) = states.known.get(states.bodies.len()).cloned() {
            let found = Constants::of(kernel, launch, &kernel.regions[region], &kept);
            let nothing = vec![None; kernel.live.len()];
            let any = Constants::of(kernel, launch, &kernel.regions[region], &nothing);
            let body = states.copy(&kernel.regions[region], &found, &any);
            insts += body.layout.iter().map(|&block| body.blocks[block].insts.len() as u64).sum::<u64>();
            states.bodies.push(body);
            if states.known.len() > MOST_REGIONS || insts > MOST_CODE || insts * gangs > MOST_INSTS {
                return None;
            }
        }
        Some(states)
    }

    /// The number of a state, which is a new one if it is not known yet.
    fn number(&mut self, state: (Region, Kept)) -> Region {
        let place = self.known.iter().position(|known| *known == state).unwrap_or_else(|| {
            self.known.push(state);
            self.known.len() - 1
        });
        Region::new(place)
    }

    /// A region with the constants in place that leads to the states it may lead to, given also what is found if it
    /// begins with no constants.
    fn copy(&mut self, body: &Function, found: &Constants, any: &Constants) -> Function {
        let mut f = body.clone();
        f.layout.retain(|&block| found.reached.contains(block));
        let mut constants: SecondaryMap<Value, Option<Value>> = SecondaryMap::new();
        for (value, data) in body.values.iter() {
            if let (Fact::Always(bits), ValueDef::Result(..) | ValueDef::Param(..)) = (found.values[value], data.def) {
                constants[value] = Some(f.constant(data.ty, bits));
            }
        }
        let several = found.ends.iter().any(|(to, _)| *to != found.ends[0].0);
        for block in f.layout.clone() {
            let insts = &mut f.blocks[block].insts;
            let is_constant = |inst: &InstNode| inst.results.iter().any(|&result| constants[result].is_some());
            insts.retain(|&inst| !is_constant(&f.insts[inst]));
            for &inst in &f.blocks[block].insts {
                f.insts[inst].data.map_args(|value| constants[value].unwrap_or(value));
            }
            let term = &mut f.blocks[block].term;
            if let Some(only) = found.only_target(body, block) {
                *term = Terminator::Jump(only.clone());
            }
            term.map_args(|value| constants[value].unwrap_or(value));
            if let Terminator::Exit(region) = *term {
                let kept = if several { any } else { found }.kept_behind(region);
                f.blocks[block].term = Terminator::Exit(self.number((region, kept)));
            }
        }
        f
    }
}

/// What is known of a value.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Fact {
    /// Nothing has computed it yet.
    #[default]
    Never,
    /// These bits, for all work-items.
    Always(u128),
    /// Any.
    Varies,
}

impl Fact {
    fn meet(self, other: Fact) -> Fact {
        match (self, other) {
            (Fact::Never, fact) | (fact, Fact::Never) => fact,
            (a, b) if a == b => a,
            _ => Fact::Varies,
        }
    }
}

/// The constants of a region that begins with what is kept.
struct Constants<'a> {
    kernel: &'a Kernel,
    launch: &'a LaunchFacts,
    kept: &'a Kept,
    values: SecondaryMap<Value, Fact>,
    reached: EntitySet<Block>,
    /// How the region may end, and what is stored there.
    ends: Vec<(Option<Region>, Vec<Option<Fact>>)>,
}

impl<'a> Constants<'a> {
    fn of(kernel: &'a Kernel, launch: &'a LaunchFacts, body: &Function, kept: &'a Kept) -> Constants<'a> {
        let mut found = Constants {
            kernel,
            launch,
            kept,
            values: SecondaryMap::new(),
            reached: EntitySet::new(),
            ends: Vec::new(),
        };
        for (value, data) in body.values.iter() {
            if let ValueDef::Const(bits) = data.def {
                found.values[value] = Fact::Always(bits);
            }
        }
        found.reached.insert(body.entry());
        for &param in &body.blocks[body.entry()].params {
            found.values[param] = Fact::Varies;
        }
        let graph = cfg(body);
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for &block in graph.rpo() {
                changed |= found.visit(body, block);
            }
        }
        found.ends = graph.rpo().iter().filter_map(|&block| found.end(body, block)).collect();
        found
    }

    /// Takes a block into account; whether that tells anything new.
    fn visit(&mut self, body: &Function, block: Block) -> bool {
        if !self.reached.contains(block) {
            return false;
        }
        let mut changed = false;
        for &inst in &body.blocks[block].insts {
            let node = &body.insts[inst];
            let fact = self.result(body, node);
            for &result in &node.results {
                changed |= self.learn(result, fact);
            }
        }
        let only = self.only_target(body, block);
        let undecided = body.blocks[block].term.selector().is_some_and(|by| self.values[by] == Fact::Never);
        if undecided {
            return changed;
        }
        for to in body.blocks[block].term.targets() {
            if only.is_some_and(|only| !std::ptr::eq(only, to)) {
                continue;
            }
            changed |= self.reached.insert(to.block);
            for (&param, &arg) in body.blocks[to.block].params.iter().zip(&to.args) {
                changed |= self.learn(param, self.values[arg]);
            }
        }
        changed
    }

    fn learn(&mut self, value: Value, fact: Fact) -> bool {
        let met = self.values[value].meet(fact);
        std::mem::replace(&mut self.values[value], met) != met
    }

    /// Where a choice leads that is a constant.
    fn only_target<'f>(&self, body: &'f Function, block: Block) -> Option<&'f BlockCall> {
        let term = &body.blocks[block].term;
        let Fact::Always(bits) = self.values[term.selector()?] else { return None };
        match term {
            Terminator::Branch { then_to, else_to, .. } => Some(if bits != 0 { then_to } else { else_to }),
            Terminator::Switch { cases, default, .. } => {
                Some(cases.iter().find(|(case, _)| *case == bits).map_or(default, |(_, to)| to))
            }
            _ => None,
        }
    }

    /// What is known of an instruction's results.
    fn result(&self, body: &Function, node: &InstNode) -> Fact {
        let fact = |value: Value| self.values[value];
        let of_ints = |value: Value| body.ty(value).is_int();
        match &node.data {
            InstData::Query { query, dim } => self.query(*query, *dim),
            InstData::LiveLoad { live } => match self.kept[live.index()] {
                Some(bits) => Fact::Always(bits),
                None => Fact::Varies,
            },
            InstData::Ternary { op: TernaryOp::Select, args: [by, a, b], .. } => match fact(*by) {
                Fact::Never => Fact::Never,
                Fact::Always(0) => fact(*b),
                Fact::Always(_) => fact(*a),
                Fact::Varies => fact(*a).meet(fact(*b)),
            },
            InstData::Unary { op, arg, .. } if of_ints(*arg) && of_ints(node.results[0]) => match fact(*arg) {
                Fact::Always(bits) => Fact::Always(unary::unary(*op, body.ty(*arg), body.ty(node.results[0]), bits)),
                fact => fact,
            },
            InstData::Binary { op, args, .. } if args.iter().all(|&arg| of_ints(arg)) => {
                both(args.map(fact), |a, b| integer::binary(*op, body.ty(args[0]).bits(), a, b)?.ok())
            }
            InstData::Icmp { cc, args } if args.iter().all(|&arg| of_ints(arg)) => {
                both(args.map(fact), |a, b| Some(integer::compare(*cc, body.ty(args[0]), a, b).into()))
            }
            _ => Fact::Varies,
        }
    }

    fn query(&self, query: Query, dim: u8) -> Fact {
        let size = self.launch.local_size(dim.into());
        match (query, size) {
            (Query::LocalSize | Query::EnqueuedLocalSize, Some(size)) => Fact::Always(size.into()),
            (Query::LocalId, Some(1)) => Fact::Always(0),
            _ => Fact::Varies,
        }
    }

    /// How a block ends the region, if it does, and what it stores for the next one.
    fn end(&self, body: &Function, block: Block) -> Option<(Option<Region>, Vec<Option<Fact>>)> {
        let to = match body.blocks[block].term {
            _ if !self.reached.contains(block) => return None,
            Terminator::Exit(region) => Some(region),
            Terminator::Return => None,
            _ => return None,
        };
        let mut stored = vec![None; self.kept.len()];
        for &inst in &body.blocks[block].insts {
            if let InstData::LiveStore { live, arg } = body.insts[inst].data {
                stored[live.index()] = Some(self.values[arg]);
            }
        }
        // What other blocks store may or may not be there.
        let elsewhere = body.layout.iter().filter(|&&other| other != block && self.reached.contains(other));
        for &inst in elsewhere.flat_map(|&other| &body.blocks[other].insts) {
            if let InstData::LiveStore { live, .. } = body.insts[inst].data {
                stored[live.index()].get_or_insert(Fact::Varies);
            }
        }
        Some((to, stored))
    }

    /// What the group keeps where it goes on in a region: constants that are stored at all such ends, and what nobody
    /// touches.
    fn kept_behind(&self, to: Region) -> Kept {
        let of_slot = |(live, data): (LiveSlot, &LiveData)| {
            let before = self.kept[live.index()].map_or(Fact::Varies, Fact::Always);
            let stored = |(_, stored): &(_, Vec<Option<Fact>>)| stored[live.index()].unwrap_or(before);
            let ends = self.ends.iter().filter(|(end, _)| *end == Some(to));
            match ends.map(stored).fold(Fact::Never, Fact::meet) {
                Fact::Always(bits) if data.shared => Some(bits),
                _ => None,
            }
        };
        self.kernel.live.iter().map(of_slot).collect()
    }
}

fn both([a, b]: [Fact; 2], compute: impl Fn(u128, u128) -> Option<u128>) -> Fact {
    match (a, b) {
        (Fact::Never, _) | (_, Fact::Never) => Fact::Never,
        (Fact::Always(a), Fact::Always(b)) => compute(a, b).map_or(Fact::Varies, Fact::Always),
        _ => Fact::Varies,
    }
}
