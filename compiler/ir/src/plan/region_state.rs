//! What passes over regions know: of the gangs, and of the region as it stands.

use super::RegionPlan;
use super::notes::Control;
use crate::analysis::cfg::build_cfg;
use crate::analysis::divergence::{Divergence, Facts, analyze_divergence};
use crate::analysis::dominators::compute_dominators;
use crate::analysis::loops::find_loops;
use crate::ir::{Block, Function, Kernel, Value};
use crate::report::Notes;
use crate::target::{Registers, TargetInfo};
use crate::transform::divergent_loops::UniformLoops;
use cranelift_entity::EntitySet;
use lockstep_protocol::configuration::Gangs;
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::loop_profile::LoopCounts;
use std::collections::HashMap;

/// What is known of a kernel's gangs.
pub struct GangContext<'a> {
    /// What is asked of them.
    pub gangs: Gangs,
    /// What their instructions are made of.
    pub registers: Registers,
    /// What holds of their lanes.
    pub facts: Facts,
    /// What holds of rows and columns, if they are tiles.
    pub tile: Option<TileFacts>,
    /// Where decisions are noted.
    pub notes: &'a Notes,
    launch: LaunchFacts,
}

/// What holds of the lanes of a tile's rows, and of its columns.
pub struct TileFacts {
    /// Of a row.
    pub rows: Facts,
    /// Of a column.
    pub columns: Facts,
}

impl<'a> GangContext<'a> {
    /// What is known of gangs of which these facts hold.
    pub fn of_facts(
        gang_facts: Facts,
        gangs: Gangs,
        target: TargetInfo,
        launch_facts: &LaunchFacts,
        notes: &'a Notes,
    ) -> GangContext<'a> {
        let registers = Registers { target, width: gang_facts.width };
        GangContext {
            tile: tile_facts(&gang_facts, launch_facts),
            gangs,
            registers,
            facts: gang_facts,
            notes,
            launch: *launch_facts,
        }
    }

    /// Takes note of how private slots lie.
    pub fn see_slots(&mut self, kernel: &Kernel) {
        self.facts.see_slots(kernel);
        self.tile = tile_facts(&self.facts, &self.launch);
    }

    /// What holds of the lanes that access memory together: those of a gang, or of a tile's row.
    pub fn facts_together(&self) -> &Facts {
        self.tile.as_ref().map_or(&self.facts, |tile_facts| &tile_facts.rows)
    }
}

fn tile_facts(gang_facts: &Facts, launch_facts: &LaunchFacts) -> Option<TileFacts> {
    let row_length = gang_facts.layout.row_length(launch_facts, gang_facts.width)?;
    Some(TileFacts {
        rows: gang_facts.of_runs(row_length),
        columns: gang_facts.of_columns(gang_facts.width / row_length),
    })
}

/// What is known of a region as it stands.
#[derive(Default)]
pub struct RegionState {
    /// What differs between the lanes of a gang.
    pub found: Divergence,
    /// What differs between those of a tile's row.
    pub rows: Option<Divergence>,
    /// What was counted of its loops, by their headers.
    pub counts: HashMap<Block, LoopCounts>,
    /// [`RegionPlan::leaves_idle_lanes`], from when loops in loops were looked at.
    pub leaves_idle_lanes: bool,
    /// The branches that are to be folded.
    pub divergent: EntitySet<Block>,
    /// What making loops uniform left.
    pub loops: Option<UniformLoops>,
    /// What the report is to say of branches and loops.
    pub(super) control: Option<Control>,
    /// How it runs.
    pub plan: RegionPlan,
}

impl RegionState {
    /// A region of which nothing is known but what differs.
    pub fn of_region(function: &Function, context: &GangContext<'_>) -> RegionState {
        let mut region_state = RegionState::default();
        region_state.analyze_region(function, context);
        region_state
    }

    /// A region that work-items run one after the other.
    pub fn scalar_region() -> RegionState {
        RegionState { plan: RegionPlan { alone: true, ..RegionPlan::default() }, ..RegionState::default() }
    }

    /// Finds anew what differs.
    pub fn analyze_region(&mut self, function: &Function, context: &GangContext<'_>) {
        self.found = analyze_region(function, &context.facts);
        self.rows = context.tile.as_ref().map(|tile_facts| analyze_region(function, &tile_facts.rows));
    }

    /// What differs between the lanes that access memory together.
    pub fn divergence_together(&self) -> &Divergence {
        self.rows.as_ref().unwrap_or(&self.found)
    }

    /// Whether all lanes of the gang have the same of values that are the same in those that access memory together.
    pub fn all_lanes_share(&self, values: &[Value]) -> bool {
        self.rows.is_none() || values.iter().all(|&value| self.found.shapes[value].is_uniform())
    }
}

/// What differs in a region between lanes of which the facts hold.
pub(crate) fn analyze_region(function: &Function, gang_facts: &Facts) -> Divergence {
    let flow_graph = build_cfg(function);
    let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
    analyze_divergence(function, gang_facts, &flow_graph, &loop_forest)
}
