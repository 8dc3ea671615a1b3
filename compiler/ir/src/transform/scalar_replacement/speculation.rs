//! Whether a load can move in front of the branch that decides whether it runs: the paper's question about speculation.
//!
//! Lanes that part run both arms, so a load of one arm costs what it costs in front of both, and may then be missing nowhere. The paper
//! loads there whatever the other arm does; memory that nobody accesses may not be there, so here a load moves only where every path
//! accesses its place (`anticipation.rs`).
//!
//! Requires: the region's flow, and a load whose value not every path to it knows.
//! Ensures: at the end of each block of the answer every path accesses the place, and a load there is one that all paths to the load pass.
//! Phases: backward along the edges; at a branch that decides whether the load runs, farther up if that is possible, else there.
//! Source: Fukuhara & Takimoto 2021, section 5.2, rules 1 to 6, and Algorithm 2 (A.2).

use super::availability::{Question, Scan, place_on_edge};
use super::memory_events::Place;
use crate::ir::Block;

/// Blocks and places that one question goes to.
const MOST_VISITS: usize = 48;

/// Whether a load can move, and to the ends of which blocks.
type Answer = Option<Vec<(Block, Place)>>;

/// A question about the load of a place, as it goes back through blocks.
pub(super) struct Speculation<'a> {
    pub(super) question: &'a Question<'a>,
    /// Loads move in front of all branches, not of those alone at which lanes part.
    pub(super) before_all_branches: bool,
    /// What was asked of the end of a block for the sake of another one; no answer yet: it is being asked.
    asked: Vec<(Block, Block, Place, Option<Answer>)>,
}

impl<'a> Speculation<'a> {
    pub(super) fn new(question: &'a Question<'a>, before_all_branches: bool) -> Speculation<'a> {
        Speculation { question, before_all_branches, asked: Vec::new() }
    }

    /// The ends of blocks to which the load at a position of a block can move; none: it stays.
    pub(super) fn find_destinations(&mut self, block: Block, position: usize) -> Vec<(Block, Place)> {
        let Question { flow, access, .. } = self.question;
        let may_move = self.before_all_branches || flow.dependent_blocks.contains(block);
        if !may_move || !matches!(self.question.scan_block(block, position, &access.place), Scan::Through) {
            return Vec::new();
        }
        self.ask_predecessors(block, block, &access.place).unwrap_or_default()
    }

    /// Algorithm 2 of the paper, `PropagateSpeculativeQuery`: `origin` is what the load would leave.
    fn ask_predecessors(&mut self, origin: Block, block: Block, place: &Place) -> Answer {
        let Question { flow, function, .. } = self.question;
        let (mut destinations, mut missing, mut some_can) = (Vec::new(), Vec::new(), false);
        for (source, edge) in self.question.edges_to(block) {
            let place = place_on_edge(function, place, edge?);
            match self.ask_at_end(origin, source, &place) {
                Some(found) => {
                    some_can = true;
                    destinations.extend(found);
                }
                None => missing.push((source, place)),
            }
        }
        if missing.is_empty() {
            return some_can.then_some(destinations);
        }
        let can_load = |(source, place): &(Block, Place)| {
            !flow.dependent_blocks.contains(*source)
                && function.blocks[*source].terminator.targets().len() == 1
                && flow.is_known_at_end(function, *source, place)
        };
        let is_safe = || self.question.anticipation().holds_at_start(block, place);
        if some_can && missing.iter().all(can_load) && is_safe() {
            destinations.extend(missing);
            return Some(destinations);
        }
        None
    }

    /// Algorithm 2, `Local_Spec`.
    fn ask_at_end(&mut self, origin: Block, block: Block, place: &Place) -> Answer {
        let asked = |(of_origin, of_block, of_place, _): &&(Block, Block, Place, Option<Answer>)| {
            (*of_origin, *of_block, of_place) == (origin, block, place)
        };
        if let Some((.., answer)) = self.asked.iter().find(asked) {
            return answer.clone().unwrap_or(Some(Vec::new()));
        }
        if self.asked.len() >= MOST_VISITS || !self.question.flow.spend_visit(block) {
            return None;
        }
        let index = self.asked.len();
        self.asked.push((origin, block, place.clone(), None));
        let answer = self.answer_at_end(origin, block, place);
        self.asked[index].3 = Some(answer.clone());
        answer
    }

    fn answer_at_end(&mut self, origin: Block, block: Block, place: &Place) -> Answer {
        let Question { flow, function, rewriting, .. } = self.question;
        let scan = self.question.scan_block(block, usize::MAX, place);
        if rewriting.loaded_at_end(block, place).is_some() || matches!(scan, Scan::Values(_)) {
            return Some(Vec::new());
        }
        let is_branch = function.blocks[block].terminator.selector().is_some();
        let is_passable = matches!(scan, Scan::Through) && block != function.entry_block();
        let is_safe =
            || flow.is_known_at_end(function, block, place) && self.question.anticipation().holds_at_end(block, place);
        if !is_branch {
            return if is_passable { self.ask_predecessors(origin, block, place) } else { None };
        }
        let depends = flow.is_control_dependent(origin, block);
        if self.before_all_branches || flow.divergent_branches.contains(block) {
            if !depends {
                return if is_passable { self.ask_predecessors(origin, block, place) } else { None };
            }
            if !is_safe() {
                return None;
            }
            let farther = if is_passable { self.ask_predecessors(block, block, place) } else { None };
            return farther.or_else(|| Some(vec![(block, place.clone())]));
        }
        if !is_passable || !is_safe() {
            return None;
        }
        self.ask_predecessors(if depends { block } else { origin }, block, place)
    }
}
