//! Loads make way for values that an earlier access left in a register: in an earlier iteration, or on another path.
//!
//! A filter that walks along a row reads each point several times: `a[x - 1]`, `a[x]` and `a[x + 1]` of one iteration are `a[x]` and
//! `a[x + 1]` of the one before. Each load asks backward along the control flow who has accessed its place; around a loop the place
//! becomes that of `x + 1`, which the question then looks for. Where some paths know the answer and others do not, the load is put on the
//! others, if they come to an access of the place all the same.
//!
//! Requires: a region in normal form, the arguments that are apart from others, and the branches at which lanes part.
//! Ensures: normal form. Each work-item does what it did. It loads no byte that it did not load, but for bytes that lie between two
//! that it accesses and that are less than a page apart. Nothing is known past a volatile or atomic access, a fence, a barrier, a yield, a
//! call, an operation of several lanes, or a store that may be to the same place. No loop carries more values than registers hold.
//! Phases: the accesses of each block as linear addresses; load by load in reverse post-order a question that visits a block for at most
//! two places, and the greatest solution of what came back; where answers differ, whether the place is accessed on all paths from there
//! (anticipation) and fewer loops run there; parameters and loads; what nothing uses.
//! Forms ([`ScalarReplacement`]): `srqp` inserts wherever that is possible; `esrqp` not where lanes have parted; `ssrqp_s` and `ssrqp` also
//! move loads in front of branches from which all paths access the place: the latter of those at which lanes part.
//! Source: Fukuhara & Takimoto 2021, sections 4.2 and 5, with their rule that a place is anticipated if a neighbour is left out: it loads past
//! the end.
//!
//! ```text
//! b1(i):  x = load a + 4*i                  b0:       x0 = load a + 4*i0;  jump b1(i0, x0)
//!         y = load a + 4*i + 4      =>      b1(i, x): y = load a + 4*i + 4
//!         br c, b1(i + 1), b2                         br c, b1(i + 1, y), b2
//! ```

mod anticipation;
mod availability;
mod flow;
mod last_iteration;
mod memory_events;
mod rewriting;
mod speculation;

use self::availability::{Availability, Question, Refusal};
use self::flow::Flow;
use self::last_iteration::separate_last_iterations;
use self::memory_events::MemoryAccess;
use self::rewriting::Rewriting;
use self::speculation::Speculation;
use crate::analysis::underlying_objects::{Apart, Origins};
use crate::ir::{Block, Function, Inst, InstData, Kernel, SourceLoc};
use cranelift_entity::EntitySet;
use lockstep_protocol::scalar_replacement::ScalarReplacement;

/// Values that a loop may carry more than before in gangs.
pub const MOST_CARRIED: u32 = 8;
/// The same where work-items run one after the other, for whom a load costs as much as a move: a filter of bytes that carried 6 took 1.14
/// times as long, one of 5 x 5 points that carried 24 took 1.4 times as long.
pub const MOST_CARRIED_ALONE: u32 = 2;

/// Where loads may make way.
#[derive(Clone, Copy)]
pub struct Placement<'a> {
    /// The form of the pass.
    pub form: ScalarReplacement,
    /// The blocks with a branch at which lanes part.
    pub divergent_branches: &'a EntitySet<Block>,
    /// Values that a loop may carry more than before.
    pub most_carried: u32,
    /// Wherever that is possible: loops carry as many values as there are, and loads may be inserted where they run as often.
    pub always: bool,
}

/// What became of a load.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoadOutcome {
    /// Where it is in the source.
    pub location: SourceLoc,
    /// Loads that were inserted for it; or why it stays although some path knows its result.
    pub result: Result<u32, &'static str>,
}

/// Whether a region has loads that may make way for each other, or for stores. Of one block LLVM finds them.
pub fn has_candidates(function: &Function) -> bool {
    if function.layout.len() < 2 {
        return false;
    }
    let instructions = function.layout.iter().flat_map(|&block| &function.blocks[block].insts);
    let accesses = instructions
        .filter(|&&inst| matches!(function.insts[inst].data, InstData::Load { .. } | InstData::Store { .. }));
    accesses.take(2).count() == 2
}

/// Gives last iterations of loops code of their own where that lets loads move in front of branches; whether there were such loops, after
/// which the branches at which lanes part are others.
pub fn prepare_loops(kernel: &Kernel, function: &mut Function, apart: &[Apart], placement: Placement<'_>) -> bool {
    let before_all_branches = placement.form == ScalarReplacement::SsrqpS;
    let may_move = placement.form >= ScalarReplacement::SsrqpS
        && (before_all_branches || !placement.divergent_branches.is_empty());
    if !may_move || !has_candidates(function) {
        return false;
    }
    let origins = Origins::trace_addresses(kernel, function, apart);
    let flow = Flow::of_region(function, &origins, placement.divergent_branches);
    separate_last_iterations(&flow, function, before_all_branches)
}

/// Replaces loads of a region by values, and says what became of those of which some path knew the result.
pub fn replace_loads(
    kernel: &Kernel,
    function: &mut Function,
    apart: &[Apart],
    placement: Placement<'_>,
) -> Vec<LoadOutcome> {
    if placement.form == ScalarReplacement::Off || !has_candidates(function) {
        return Vec::new();
    }
    let origins = Origins::trace_addresses(kernel, function, apart);
    let flow = Flow::of_region(function, &origins, placement.divergent_branches);
    let mut rewriting = Rewriting::default();
    let mut outcomes = Vec::new();
    for &block in flow.edges.reverse_post_order() {
        for event in &flow.memory.events[block] {
            if let Some(access) = event.access.as_ref().filter(|access| !access.is_store) {
                let before = rewriting.inserted;
                let load = CandidateLoad { block, position: event.position, inst: event.inst, access };
                let result = load.replace_load(&flow, function, &mut rewriting, placement);
                let result = match result {
                    Ok(()) => Ok(rewriting.inserted - before),
                    Err(Some(refusal)) => Err(refusal.reason()),
                    Err(None) => continue,
                };
                outcomes.push(LoadOutcome { location: access.location, result });
            }
        }
    }
    rewriting.finish(&flow, function);
    outcomes
}

/// A load that asks whether its result is known.
struct CandidateLoad<'a> {
    block: Block,
    position: usize,
    inst: Inst,
    access: &'a MemoryAccess,
}

impl CandidateLoad<'_> {
    /// Lets values stand for the load; or says why not, if some path knows them.
    fn replace_load(
        &self,
        flow: &Flow<'_>,
        function: &mut Function,
        rewriting: &mut Rewriting,
        placement: Placement<'_>,
    ) -> Result<(), Option<Refusal>> {
        let mut availability = self.question(flow, function, rewriting, placement).ask(self.block, self.position);
        if matches!(availability, Availability::Unknown(_)) && placement.form >= ScalarReplacement::SsrqpS {
            let question = self.question(flow, function, rewriting, placement);
            let mut speculation = Speculation::new(&question, placement.form == ScalarReplacement::SsrqpS);
            let destinations = speculation.find_destinations(self.block, self.position);
            for (block, place) in &destinations {
                rewriting.insert_load(function, *block, place, self.access);
            }
            if !destinations.is_empty() {
                availability = self.question(flow, function, rewriting, placement).ask(self.block, self.position);
            }
        }
        let values = match availability {
            Availability::Values(values) => values,
            Availability::Unknown(refusal) => return Err(refusal),
            Availability::Nodes(nodes) => {
                let most_carried = if placement.always { u32::MAX } else { placement.most_carried };
                if !rewriting.carry_values(flow, &nodes, most_carried) {
                    return Err(Some(Refusal::ManyCarried));
                }
                rewriting.build_values(flow, function, &nodes, self.access)
            }
        };
        rewriting.replace_load(self.inst, values);
        Ok(())
    }

    fn question<'b>(
        &'b self,
        flow: &'b Flow<'b>,
        function: &'b Function,
        rewriting: &'b Rewriting,
        placement: Placement<'_>,
    ) -> Question<'b> {
        // The first form is the paper's, which counts no gain.
        let inserts_anywhere = placement.always || placement.form == ScalarReplacement::Srqp;
        Question {
            flow,
            function,
            rewriting,
            access: self.access,
            keeps_uniform: placement.form != ScalarReplacement::Srqp,
            depth: if inserts_anywhere { u32::MAX } else { flow.loops.loop_depth(self.block) },
            endless: None,
        }
    }
}
