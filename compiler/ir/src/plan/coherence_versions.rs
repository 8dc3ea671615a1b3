//! Versions of code for gangs whose lanes agree, one after the other.
//!
//! Requires: a function in normal form and what diverges in it.
//! Ensures: `Stage::Versioned`; what diverges in what came out.
//! Phases: divergent loops in which few lanes were at work when they were counted; divergent loops, outer ones first; then targets of
//! divergent branches; then loops in their copies; until nothing is left that pays or may be; then what is left of divergent loops that
//! lanes enter one by one.
//! Source: as `transform::unmasked_loops`, `transform::coherent_branches` and `transform::per_lane_loops`.

use super::notes::{branch_place, loop_place};
use super::region_state::analyze_region;
use crate::analysis::cfg::{Cfg, build_cfg};
use crate::analysis::divergence::{Divergence, Facts};
use crate::analysis::dominators::{Dominators, compute_dominators};
use crate::analysis::loops::{Loop, Loops, find_loops};
use crate::analysis::no_wrap_stride::{NoWrapStride, find_no_wrap_strides};
use crate::ir::{Block, Function, SourceLoc, Value};
use crate::report::{Note, Notes};
use crate::target::Registers;
use crate::transform::coherent_branches;
use crate::transform::per_lane_loops::{self, Turns};
use crate::transform::unmasked_loops::{self, Known, Refusal};
use cranelift_entity::{EntitySet, SecondaryMap};
use lockstep_protocol::configuration::{Configuration, Gangs, Versions};
use lockstep_protocol::loop_profile::LoopCounts;
use lockstep_protocol::pass_switches::PassSwitch;
use std::collections::{HashMap, HashSet};

/// Functions with more instructions get no versions unless always: compiling would take too long.
const MOST: usize = 600;

/// The versions of a function.
const MOST_VERSIONS: usize = 8;

/// Makes versions of a function's code; the answer is what diverges then.
pub fn make_versions(
    function: &mut Function,
    gang_facts: &Facts,
    divergence: Divergence,
    counts: &HashMap<Block, LoopCounts>,
    gangs: Gangs,
    registers: Registers,
    notes: &Notes,
) -> Divergence {
    if divergence.divergent_branches.is_empty() {
        return divergence;
    }
    let mut pass = Pass {
        facts: gang_facts,
        found: divergence,
        counts,
        gangs,
        registers,
        loops_done: EntitySet::new(),
        targets_done: HashSet::new(),
        turns_done: EntitySet::new(),
        decided: Vec::new(),
    };
    let always = [
        gangs.pass_versions(PassSwitch::UnmaskedLoops),
        gangs.pass_versions(PassSwitch::CoherentBranches),
        gangs.pass_versions(PassSwitch::PerLaneLoops),
    ]
    .contains(&Versions::Always);
    let maximum = if always { usize::MAX } else { MOST };
    let mut version_count = 0;
    while version_count < MOST_VERSIONS && count_instructions(function) <= maximum && pass.give_counted_turns(function)
    {
        version_count += 1;
    }
    while version_count < MOST_VERSIONS
        && count_instructions(function) <= maximum
        && (pass.version_a_loop(function) || pass.copy_a_target(function))
    {
        version_count += 1;
    }
    while version_count < MOST_VERSIONS && count_instructions(function) <= maximum && pass.give_turns(function) {
        version_count += 1;
    }
    if count_instructions(function) > maximum
        && version_count == 0
        && gangs.pass_versions(PassSwitch::UnmaskedLoops) != Versions::Never
    {
        pass.refuse_all(function);
    }
    pass.note_versions(notes);
    pass.found
}

/// The outermost divergent loops that lanes of a gang would run one after the other, however many enter them.
pub fn loops_in_turn(
    function: &Function,
    flow_graph: &Cfg,
    loop_forest: &Loops,
    divergence: &Divergence,
    gangs: Gangs,
    registers: Registers,
) -> Vec<Loop> {
    let pass_versions = gangs.pass_versions(PassSwitch::PerLaneLoops);
    let has_versions = gangs.configuration == Configuration::UniCf
        && pass_versions != Versions::Never
        && count_instructions(function) <= MOST;
    if !has_versions || divergence.divergent_loops.is_empty() {
        return Vec::new();
    }
    let (dominators, no_wrap_strides) = (
        compute_dominators(flow_graph),
        find_no_wrap_strides(function, flow_graph.reverse_post_order(), &divergence.shapes, registers.width),
    );
    let function_facts = Known {
        cfg: flow_graph,
        dominators: &dominators,
        forest: loop_forest,
        found: divergence,
        lines: &no_wrap_strides,
        registers,
    };
    let mut per_lane_loops: Vec<Loop> = Vec::new();
    for (loop_id, loop_data) in loop_forest.iter() {
        let is_inner = per_lane_loops.iter().any(|&outer| loop_forest.contains(outer, loop_data.header));
        if divergence.divergent_loops.contains(loop_id)
            && !is_inner
            && per_lane_loops::plan_turns(function, function_facts, loop_id, expected_turns(pass_versions))
                .is_ok_and(|plan| plan.is_for_all())
        {
            per_lane_loops.push(loop_id);
        }
    }
    per_lane_loops
}

fn expected_turns(pass_versions: Versions) -> Turns {
    if pass_versions == Versions::Always { Turns::Always } else { Turns::Expected }
}

fn count_instructions(function: &Function) -> usize {
    function.layout.iter().map(|&block| function.blocks[block].insts.len()).sum()
}

struct Pass<'a> {
    facts: &'a Facts,
    found: Divergence,
    /// What was counted of loops, by their headers.
    counts: &'a HashMap<Block, LoopCounts>,
    gangs: Gangs,
    registers: Registers,
    /// Headers of loops that have a version, or get none.
    loops_done: EntitySet<Block>,
    /// Targets of branches that have a copy, or get none.
    targets_done: HashSet<(Block, usize)>,
    /// Headers of loops that lanes run in turn, or do not.
    turns_done: EntitySet<Block>,
    decided: Vec<Decided>,
}

/// A function as it stands between two changes.
struct Outline {
    graph: Cfg,
    dominators: Dominators,
    forest: Loops,
    lines: SecondaryMap<Value, Option<NoWrapStride>>,
}

impl Outline {
    fn new(function: &Function, divergence: &Divergence, registers: Registers) -> Outline {
        let flow_graph = build_cfg(function);
        let dominators = compute_dominators(&flow_graph);
        let loop_forest = find_loops(&flow_graph, &dominators);
        let no_wrap_strides =
            find_no_wrap_strides(function, flow_graph.reverse_post_order(), &divergence.shapes, registers.width);
        Outline { graph: flow_graph, dominators, forest: loop_forest, lines: no_wrap_strides }
    }

    fn known_of<'a>(&'a self, divergence: &'a Divergence, registers: Registers) -> Known<'a> {
        let Outline { graph, dominators, forest, lines } = self;
        Known { cfg: graph, dominators, forest, found: divergence, lines, registers }
    }
}

/// What was decided of a loop or branch.
struct Decided {
    location: SourceLoc,
    version: Version,
}

/// What became of it.
#[derive(PartialEq, Eq)]
enum Version {
    Loop,
    Copy,
    Turns(String),
    NoLoop(String),
}

impl Pass<'_> {
    /// Makes a version of one divergent loop; false if there is none to make.
    fn version_a_loop(&mut self, function: &mut Function) -> bool {
        let pass_versions = self.gangs.pass_versions(PassSwitch::UnmaskedLoops);
        if pass_versions == Versions::Never {
            return false;
        }
        let outline = Outline::new(function, &self.found, self.registers);
        for (loop_id, loop_data) in outline.forest.iter() {
            if !self.found.divergent_loops.contains(loop_id) || !self.loops_done.insert(loop_data.header) {
                continue;
            }
            let location = loop_place(function, loop_data);
            let function_facts = outline.known_of(&self.found, self.registers);
            let plan = match function_facts.is_entered_by_all(loop_id) {
                true => unmasked_loops::plan_version(function, function_facts, loop_id),
                false => Err(Refusal::SomeLanes),
            };
            let plan = plan.and_then(|plan| match pass_versions {
                Versions::WherePays => plan.check_profitable().map(|()| plan),
                _ => Ok(plan),
            });
            let version = match plan {
                Ok(plan) => {
                    let before = function.clone();
                    let (header, blocks_outside) = plan.make_version(function);
                    // Not all lanes stay there.
                    self.targets_done.extend(blocks_outside.into_iter().flat_map(|block| [(block, 0), (block, 1)]));
                    if self.accept_version(function, before, |loop_forest, divergence| {
                        is_uniform_loop(loop_forest, divergence, header)
                    }) {
                        Version::Loop
                    } else {
                        Version::NoLoop("lanes would leave it one by one all the same".to_owned())
                    }
                }
                Err(refusal) => Version::NoLoop(refusal.to_string()),
            };
            let is_versioned = version == Version::Loop;
            self.decided.push(Decided { location, version });
            if is_versioned {
                return true;
            }
        }
        false
    }

    /// No loop of a large function gets a version.
    fn refuse_all(&mut self, function: &Function) {
        let flow_graph = build_cfg(function);
        let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
        let reason = format!("there are {} instructions around it", count_instructions(function));
        for (_, loop_data) in loop_forest.iter().filter(|&(loop_id, _)| self.found.divergent_loops.contains(loop_id)) {
            let reason = reason.clone();
            self.decided.push(Decided { location: loop_place(function, loop_data), version: Version::NoLoop(reason) });
        }
    }

    /// Makes a copy of one target of a divergent branch; false if there is none to make.
    fn copy_a_target(&mut self, function: &mut Function) -> bool {
        let pass_versions = self.gangs.pass_versions(PassSwitch::CoherentBranches);
        if pass_versions == Versions::Never {
            return false;
        }
        let outline = Outline::new(function, &self.found, self.registers);
        for &block in outline.graph.reverse_post_order() {
            for target in 0..2 {
                let function_facts = outline.known_of(&self.found, self.registers);
                let allows_loops = self.gangs.pass_versions(PassSwitch::UnmaskedLoops) != Versions::Never;
                let Some(plan) = coherent_branches::plan_copy(function, function_facts, block, target, allows_loops)
                else {
                    continue;
                };
                if !self.targets_done.insert((block, target))
                    || pass_versions == Versions::WherePays && !plan.is_profitable()
                {
                    continue;
                }
                let location = branch_place(function, block);
                let before = function.clone();
                let (some_block, copied_block) = plan.make_copy(function);
                if self.accept_version(function, before, |_, divergence| {
                    !divergence.divergent_blocks.contains(copied_block)
                }) {
                    // The branch has moved.
                    for target in 0..2 {
                        if self.targets_done.contains(&(block, target)) {
                            self.targets_done.insert((some_block, target));
                        }
                    }
                    self.decided.push(Decided { location, version: Version::Copy });
                    return true;
                }
            }
        }
        false
    }

    /// Lets lanes run one divergent loop alone in which few were at work when it was counted; false if there is none for that.
    fn give_counted_turns(&mut self, function: &mut Function) -> bool {
        !self.counts.is_empty()
            && self.give_turns_by(function, |pass, header| pass.counts.get(&header).copied().map(Turns::Counted))
    }

    /// Lets lanes run one divergent loop alone where few enter it; false if there is none for that.
    fn give_turns(&mut self, function: &mut Function) -> bool {
        let turns = expected_turns(self.gangs.pass_versions(PassSwitch::PerLaneLoops));
        self.give_turns_by(function, |pass, header| pass.turns_done.insert(header).then_some(turns))
    }

    /// Lets lanes run one divergent loop alone, of those for which `choose_turns` finds when, by their headers; false if there is none for
    /// that.
    fn give_turns_by(
        &mut self,
        function: &mut Function,
        choose_turns: impl Fn(&mut Self, Block) -> Option<Turns>,
    ) -> bool {
        if self.gangs.pass_versions(PassSwitch::PerLaneLoops) == Versions::Never {
            return false;
        }
        let outline = Outline::new(function, &self.found, self.registers);
        for (loop_id, loop_data) in outline.forest.iter() {
            if !self.found.divergent_loops.contains(loop_id) {
                continue;
            }
            let Some(turns) = choose_turns(self, loop_data.header) else { continue };
            let function_facts = outline.known_of(&self.found, self.registers);
            let Ok(plan) = per_lane_loops::plan_turns(function, function_facts, loop_id, turns) else { continue };
            let location = loop_place(function, loop_data);
            let before = function.clone();
            let turn_block = plan.make_turns(function);
            if self.accept_version(function, before, |loop_forest, divergence| {
                loop_forest.with_header(turn_block).is_some_and(|loop_id| !divergence.divergent_loops.contains(loop_id))
            }) {
                self.decided.push(Decided { location, version: Version::Turns(plan.to_string()) });
                return true;
            }
        }
        false
    }

    /// Keeps what was made of the function if it is as meant.
    fn accept_version(
        &mut self,
        function: &mut Function,
        before: Function,
        is_as_meant: impl Fn(&Loops, &Divergence) -> bool,
    ) -> bool {
        let divergence = analyze_region(function, self.facts);
        let flow_graph = build_cfg(function);
        let accepted = is_as_meant(&find_loops(&flow_graph, &compute_dominators(&flow_graph)), &divergence);
        if accepted {
            self.found = divergence;
        } else {
            *function = before;
        }
        accepted
    }

    /// Copies of a loop stand at one place in the source; it has a version if one of them has.
    fn note_versions(&self, notes: &Notes) {
        let versions: Vec<&Decided> = self.decided.iter().filter(|decided| decided.version == Version::Loop).collect();
        for Decided { location, version } in &self.decided {
            let has_version = |other: &&Decided| other.location == *location;
            let (class, detail) = match version {
                Version::Loop => ("unmasked loop", "until a lane leaves".to_owned()),
                Version::Copy => ("all-true copy", "where all lanes go one way".to_owned()),
                Version::Turns(most) => ("in turn", format!("{most}, one after the other")),
                Version::NoLoop(_) if versions.iter().any(has_version) => continue,
                Version::NoLoop(reason) => ("none", format!("of the loop: {reason}")),
            };
            let location = *location;
            notes.add_note(|| Note { location, kind: "version", class: class.into(), masked: false, detail });
        }
    }
}

/// Whether a header is that of a loop that all lanes enter and leave together.
fn is_uniform_loop(loop_forest: &Loops, divergence: &Divergence, header: Block) -> bool {
    let is_divergent = |loop_id: Loop| divergence.divergent_loops.contains(loop_id);
    let in_uniform_loop = loop_forest.with_header(header).is_some_and(|loop_id| !is_divergent(loop_id));
    in_uniform_loop && !divergence.divergent_blocks.contains(header)
}
