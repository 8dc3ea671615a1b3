//! Whether every path from a block accesses a place, so that a load of it there is of bytes that may be loaded.
//!
//! Requires: the region's flow; a place that is known where the question begins.
//! Ensures: where the answer is yes, whoever comes there accesses the place, or bytes on both sides of it that are no page apart, before
//! anything may change it, unless it stays in an endless loop.
//! Phases: forward along the edges, each place told by the values that are there; a block and a place that were seen before answer yes.
//! Source: Fukuhara & Takimoto 2021, section 4.2, of the place itself alone.

use super::flow::Flow;
use super::memory_events::{Effect, MemoryAccess, Place, effect_of};
use crate::analysis::affine_address::{Address, decompose_address, split_constant};
use crate::analysis::disjoint_memory::AccessedMemory;
use crate::analysis::loops::Loop;
use crate::ir::{Block, BlockCall, Function, Terminator, Value, ValueDef};

/// Pairs of a block and a place that one question looks at.
const MOST_VISITS: usize = 48;

/// Bytes up to which an access may be away from a place that lies between it and another one. Much less than a page: who accesses
/// both ends may access what is between them.
const MOST_DISTANCE: i64 = 64;

/// On which side of a place, or on it, every path has to have an access.
#[derive(Clone, Copy)]
enum Side {
    /// At its first byte or before it.
    Before,
    /// At its last byte or behind it.
    Behind,
}

/// A question whether every path accesses places of some memory.
pub(super) struct Anticipation<'a> {
    pub(super) flow: &'a Flow<'a>,
    pub(super) function: &'a Function,
    pub(super) memory: &'a AccessedMemory,
    /// The alignment that a load may promise.
    pub(super) align: u32,
    /// A loop that is taken to be never left.
    pub(super) endless: Option<Loop>,
}

/// A block, and the ways to tell a place at its beginning.
type BlockPlaces = (Block, Vec<Place>);

impl Anticipation<'_> {
    /// Whether each path from the beginning of a block accesses a place, or bytes before and behind it, while it holds what it holds there.
    pub(super) fn holds_at_start(&self, block: Block, place: &Place) -> bool {
        self.are_sides_reached(&[(block, vec![place.clone()])])
    }

    /// The same of the paths from the end of a block.
    pub(super) fn holds_at_end(&self, block: Block, place: &Place) -> bool {
        let targets = self.function.blocks[block].terminator.targets().into_iter();
        let start: Vec<BlockPlaces> = targets
            .map(|edge| (edge.block, places_on_edge(self.function, std::slice::from_ref(place), edge)))
            .collect();
        !start.is_empty() && start.iter().all(|(_, places)| !places.is_empty()) && self.are_sides_reached(&start)
    }

    fn are_sides_reached(&self, start: &[BlockPlaces]) -> bool {
        [Side::Before, Side::Behind].into_iter().all(|side| self.is_side_reached(start.to_vec(), side))
    }

    /// Whether each path from the beginnings of some blocks comes to an access on a side of the place.
    fn is_side_reached(&self, start: Vec<BlockPlaces>, side: Side) -> bool {
        let mut visited = start;
        let mut next = 0;
        while let Some((block, places)) = visited.get(next).cloned() {
            next += 1;
            if next > MOST_VISITS || !self.flow.spend_visit(block) {
                return false;
            }
            let places = match self.scan_block(block, &places, side) {
                Scan::Reached => continue,
                Scan::Through(left) if left.is_empty() => return false,
                Scan::Through(left) => left,
            };
            let terminator = &self.function.blocks[block].terminator;
            if matches!(terminator, Terminator::Return | Terminator::Exit(_)) {
                return false;
            }
            for edge in terminator.targets().into_iter().filter(|edge| !self.leaves_endless_loop(block, edge.block)) {
                let on_edge = places_on_edge(self.function, &places, edge);
                if on_edge.is_empty() {
                    return false;
                }
                let state = (edge.block, on_edge);
                if !visited.contains(&state) {
                    visited.push(state);
                }
            }
        }
        true
    }

    fn leaves_endless_loop(&self, source: Block, target: Block) -> bool {
        let loops = &self.flow.loops;
        self.endless.is_some_and(|endless| loops.contains(endless, source) && !loops.contains(endless, target))
    }

    /// Looks for an access in a block, at whose beginning each of these places is the one that is asked for.
    fn scan_block(&self, block: Block, places: &[Place], side: Side) -> Scan {
        let Anticipation { flow, function, memory, align, .. } = *self;
        // Who computes what tells a place anew, in another iteration, makes it another place.
        let known_until =
            |place: &Place| flow.memory.definitions_in(function, block, place).min().unwrap_or(usize::MAX);
        let known: Vec<(&Place, usize)> = places.iter().map(|place| (place, known_until(place))).collect();
        for event in &flow.memory.events[block] {
            let still_known = || known.iter().filter(|&&(_, until)| event.position <= until).map(|&(place, _)| place);
            if let Some(access) = &event.access
                && still_known().any(|place| reaches(access, place, align, side))
            {
                return Scan::Reached;
            }
            // One way to tell the place is enough to know that something else is accessed.
            let passes = still_known().any(|place| effect_of(function, event, place, memory) != Effect::Ends);
            if !passes {
                return Scan::Through(Vec::new());
            }
        }
        let left = known.iter().filter(|&&(_, until)| until == usize::MAX);
        Scan::Through(left.map(|&(place, _)| place.clone()).collect())
    }
}

/// What a walk through a block finds.
enum Scan {
    /// There is an access.
    Reached,
    /// There is none; the place keeps what it holds, and these are the ways to tell it that are left.
    Through(Vec<Place>),
}

/// Whether an access is to a place, or near to it on one side.
fn reaches(access: &MemoryAccess, place: &Place, align: u32, side: Side) -> bool {
    let distance = match side {
        Side::Before => place.start.wrapping_sub(access.place.start),
        Side::Behind => access.place.end().wrapping_sub(place.end()),
    };
    let apart = place.start.wrapping_sub(access.place.start);
    access.place.address == place.address
        && (0..=MOST_DISTANCE).contains(&distance)
        && (apart == 0 || access.align >= align && apart % i64::from(align.max(1)) == 0)
}

/// The ways to tell a place behind an edge, given those before it: with the values that were there, and with the parameters that
/// stand for them.
fn places_on_edge(function: &Function, places: &[Place], edge: &BlockCall) -> Vec<Place> {
    let mut on_edge: Vec<Place> = Vec::new();
    for place in places {
        let kept = place.leaves().all(|leaf| !is_param_of(function, leaf, edge.block)).then(|| place.clone());
        for place in [kept, rename_place(function, place, edge)].into_iter().flatten() {
            if !on_edge.contains(&place) {
                on_edge.push(place);
            }
        }
    }
    // A way more for each edge would be too many.
    on_edge.truncate(4);
    on_edge
}

fn is_param_of(function: &Function, value: Value, block: Block) -> bool {
    matches!(function.values[value].definition, ValueDef::Param(home, _) if home == block)
}

/// Tells a place by the parameters of a block wherever the edge passes a leaf, or one and a constant.
fn rename_place(function: &Function, place: &Place, edge: &BlockCall) -> Option<Place> {
    let parameters = &function.blocks[edge.block].params;
    let arguments = || parameters.iter().zip(&edge.arguments);
    let mut start = place.start;
    let mut terms = Vec::with_capacity(place.address.terms.len());
    for &(value, extended, factor) in &place.address.terms {
        let renamed = arguments().find_map(|(&parameter, &argument)| {
            let is_alike = function.ty(argument) == function.ty(value);
            let (leaf, constant) = split_constant(function, argument, extended).filter(|_| is_alike)?;
            (leaf == value).then_some((parameter, constant))
        });
        match renamed {
            Some((parameter, constant)) => {
                start = start.wrapping_sub(constant.wrapping_mul(factor));
                terms.push((parameter, extended, factor));
            }
            None if is_param_of(function, value, edge.block) => return None,
            None => terms.push((value, extended, factor)),
        }
    }
    let base = place.address.base;
    let renamed_base = arguments().filter(|(_, argument)| function.ty(**argument) == function.ty(base)).find_map(
        |(&parameter, &argument)| {
            let (address, constant) = decompose_address(function, argument);
            (address.base == base && address.terms.is_empty()).then_some((parameter, constant))
        },
    );
    let base = match renamed_base {
        Some((parameter, constant)) => {
            start = start.wrapping_sub(constant);
            parameter
        }
        None if is_param_of(function, base, edge.block) => return None,
        None => base,
    };
    terms.sort_unstable();
    Some(Place { address: Address { base, terms }, start, ..place.clone() })
}
