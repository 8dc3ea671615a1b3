//! The passes, in the order in which they run: the one table that the pipeline, the estimate of widths, dumps, timing,
//! verification, filetests and `docs/passes.md` go by.
//!
//! A pass is a row. Its function works on a state that says what is known by then ([`KernelState`](super::kernel_state::KernelState),
//! [`RegionState`](super::region_state::RegionState)); who walks
//! the table decides from the row alone whether it runs ([`KernelState::wants`](super::kernel_state::KernelState::wants)).

use super::flattened_loops::flatten_loops;
use super::fused_branches::fuse_branches;
use super::kernel_passes as kernels;
use super::launch_versions;
use super::pass::PLAIN;
pub use super::pass::{Estimate, Pass, Phase, Run};
use super::region_passes as regions;
use crate::transform::normalize::normalize_function;
use crate::transform::unreachable_edges::remove_unreachable_edges;
use crate::verify::Stage;
use lockstep_protocol::configuration::Configuration;
use lockstep_protocol::pass_switches::PassSwitch;

/// The passes in their order.
pub const PASSES: &[Pass] = &[
    Pass {
        name: "reducible",
        what: "gives cycles with several entries one header",
        file: "transform/reducible.rs",
        source: "Moll 2021, section 2.4; Ramalingam 2002",
        phase: Phase::Program,
        is_needed: true,
        run: Run::Program(kernels::reducible),
        ..PLAIN
    },
    Pass {
        name: "insert_yields",
        what: "lets others of the group go on where a loop may wait for them",
        file: "transform/insert_yields.rs",
        source: "OpenCL API 3.0, 4.2",
        phase: Phase::Program,
        is_needed: true,
        run: Run::Program(kernels::insert_yields),
        ..PLAIN
    },
    Pass {
        name: "specialize_arguments",
        what: "puts constants for what the launch tells: arguments that multiply ids and are 1, formats of images, bits of samplers",
        file: "transform/specialize_arguments.rs",
        source: "DESIGN decision 7",
        run: Run::Kernel(kernels::specialize_arguments),
        ..PLAIN
    },
    Pass {
        name: "own_counters",
        what: "gives each thread a copy of counters to which work-items only do one atomic operation without a result, where the launch tells that they are few and reached in no other way",
        file: "transform/own_counters.rs",
        source: "Jin, Yang & Agrawal 2005, section 4",
        run: Run::Kernel(kernels::own_counters),
        ..PLAIN
    },
    Pass {
        name: "way_to_run",
        what: "finds whether work-items run in gangs: those that are sub-groups do, others that may wait for each other do not",
        file: "plan/kernel_passes.rs",
        source: "OpenCL API 3.0, 4.2",
        is_needed: true,
        run: Run::Kernel(kernels::way_to_run),
        ..PLAIN
    },
    Pass {
        name: "linear_ids",
        what: "computes local and global ids of the number of a work-item in its group, where gangs are consecutive by it",
        file: "transform/linear_ids.rs",
        source: "OpenCL C 3.0, 6.15.1",
        phase: Phase::Gangs,
        is_needed: true,
        run: Run::Kernel(kernels::linear_ids),
        ..PLAIN
    },
    Pass {
        name: "barriers",
        what: "cuts a kernel at its barriers into regions",
        file: "transform/barriers.rs",
        source: "Karrenberg & Hack 2012, section 2.3",
        after: Stage::Regions,
        is_needed: true,
        run: Run::Kernel(kernels::barriers),
        ..PLAIN
    },
    Pass {
        name: "uniform_live_values",
        what: "finds kept values that are the same for all work-items of a group, which keeps them once",
        file: "transform/uniform_live_values.rs",
        source: "Moll 2021, chapters 6 and 7",
        after: Stage::Regions,
        run: Run::Kernel(kernels::uniform_live_values),
        ..PLAIN
    },
    Pass {
        name: "unroll_barrier_loops",
        what: "gives rounds of a loop around barriers regions of their own",
        file: "transform/unroll_barrier_loops.rs",
        source: "Wegman & Zadeck 1991, over regions as states",
        phase: Phase::Gangs,
        after: Stage::Regions,
        run: Run::Kernel(kernels::rounds),
        ..PLAIN
    },
    Pass {
        name: "gang_limits",
        what: "finds what no gang can do: widths that there are not, private variables aligned wider than a page, of which copies for all lanes take much memory, loops of which too many lie in each other",
        file: "plan/kernel_passes.rs",
        phase: Phase::Gangs,
        after: Stage::Regions,
        is_needed: true,
        run: Run::Kernel(kernels::gang_limits),
        ..PLAIN
    },
    Pass {
        name: "unreachable_edges",
        what: "takes out edges to code that is never reached, before branches are folded",
        file: "transform/unreachable_edges.rs",
        phase: Phase::Gangs,
        after: Stage::Regions,
        is_needed: true,
        run: Run::Functions(|function, _| remove_unreachable_edges(function)),
        ..PLAIN
    },
    Pass {
        name: "normalize",
        what: "splits critical edges; one latch, preheader, return; loop-closed SSA",
        file: "transform/normalize.rs",
        source: "Moll 2021, section 2.4; Cytron et al. 1991",
        phase: Phase::Gangs,
        after: Stage::Normalized,
        is_needed: true,
        run: Run::Functions(|function, _| normalize_function(function)),
        ..PLAIN
    },
    Pass {
        name: "promote_places",
        what: "keeps places that loops read and write in every iteration in registers",
        file: "transform/promote_places.rs",
        source: "Cooper & Torczon 2011, 10.3.3",
        phase: Phase::Gangs,
        after: Stage::Normalized,
        run: Run::Kernel(kernels::promote_places),
        ..PLAIN
    },
    Pass {
        name: "scalar_replacement",
        what: "lets loads make way for what accesses of earlier iterations, or on other paths, left in registers; of kernels whose work-items run one after the other as well",
        file: "transform/scalar_replacement.rs",
        source: "Fukuhara & Takimoto 2021, sections 4 and 5",
        after: Stage::Normalized,
        switches: &[PassSwitch::ScalarReplacement],
        run: Run::Kernel(kernels::scalar_replacement),
        ..PLAIN
    },
    Pass {
        name: "split_conditions",
        what: "gives uniform operands of divergent conditions a branch of their own",
        file: "transform/split_conditions.rs",
        source: "Moll 2021, chapter 8",
        phase: Phase::Gangs,
        after: Stage::Normalized,
        least: Configuration::UniCf,
        switches: &[PassSwitch::SplitConditions],
        run: Run::Kernel(kernels::split_conditions),
        ..PLAIN
    },
    Pass {
        name: "width_selection",
        what: "finds how many work-items a gang gets, which ones, and whether gangs pay; in which regions they do not",
        file: "plan/width_selection.rs",
        source: "Moll 2021, chapters 10 and 11",
        phase: Phase::Gangs,
        after: Stage::Normalized,
        is_needed: true,
        run: Run::Kernel(kernels::width_selection),
        ..PLAIN
    },
    Pass {
        name: "private_array_soa",
        what: "lays private slots out element by element, for all lanes of a gang",
        file: "transform/private_array_soa.rs",
        source: "Moll 2021, section 6.6; Karrenberg & Hack 2012, section 3.3",
        phase: Phase::Gangs,
        after: Stage::Normalized,
        least: Configuration::UniVal,
        estimate: Estimate::LeavesOut(
            "each width would need a copy of the whole kernel, and shapes of addresses are the same before it",
        ),
        run: Run::Kernel(kernels::interleave),
        ..PLAIN
    },
    Pass {
        name: "divergence",
        what: "finds what differs between the lanes of a gang, and of a tile's rows",
        file: "analysis/divergence.rs",
        source: "Moll 2021, chapters 6 and 10",
        phase: Phase::Gangs,
        after: Stage::Normalized,
        is_needed: true,
        estimate: Estimate::LeavesOut("it has its own, of each candidate"),
        run: Run::Kernel(kernels::divergence),
        ..PLAIN
    },
    Pass {
        name: "divisibility",
        what: "gives regions a version for launches in which pieces of indices hold whole gangs",
        file: "transform/divisibility.rs",
        source: "Moll 2021, sections 10.4 and 10.5",
        phase: Phase::Regions,
        after: Stage::Normalized,
        least: Configuration::UniCf,
        switches: &[PassSwitch::Divisibility],
        estimate: Estimate::Versions(launch_versions::suppose_whole_pieces),
        run: Run::Region(launch_versions::split_whole_pieces),
        ..PLAIN
    },
    Pass {
        name: "unswitch_selects",
        what: "gives regions versions for a condition of the launch that chooses between two lines",
        file: "transform/unswitch_selects.rs",
        source: "Karrenberg & Hack 2012, section 3.3",
        phase: Phase::Regions,
        after: Stage::Normalized,
        least: Configuration::UniCf,
        switches: &[PassSwitch::UnswitchSelects],
        estimate: Estimate::Versions(launch_versions::suppose_uniform_choice),
        run: Run::Region(launch_versions::split_uniform_choices),
        ..PLAIN
    },
    Pass {
        name: "partial_unroll",
        what: "runs several iterations of a loop at once, where lanes walk along memory each in its own place, or each is a long chain",
        file: "transform/partial_unroll.rs",
        source: "Muchnick 1997, 17.4.3",
        phase: Phase::Regions,
        after: Stage::Normalized,
        least: Configuration::UniCf,
        switches: &[PassSwitch::PartialUnroll],
        estimate: Estimate::Runs,
        run: Run::Region(launch_versions::unroll_partially),
        ..PLAIN
    },
    Pass {
        name: "interleaved_access_groups",
        what: "merges accesses to neighbouring elements into one of several elements",
        file: "transform/interleaved_access_groups.rs",
        source: "Nuzman, Rosen & Zaks 2006",
        phase: Phase::Regions,
        after: Stage::Normalized,
        estimate: Estimate::Runs,
        run: Run::Region(regions::interleaved_access_groups),
        ..PLAIN
    },
    Pass {
        name: "branch_fusion",
        what: "merges what both sides of a divergent branch do",
        file: "transform/branch_fusion.rs",
        source: "Coutinho et al. 2011, section 4.1",
        phase: Phase::Regions,
        after: Stage::Normalized,
        least: Configuration::UniCf,
        switches: &[PassSwitch::BranchFusion],
        estimate: Estimate::LeavesOut("what is merged costs gangs less of what they cost already; it decides no width"),
        run: Run::Region(fuse_branches),
        ..PLAIN
    },
    Pass {
        name: "control_notes",
        what: "finds, for the report, which branches and loops there are before some get versions",
        file: "plan/notes.rs",
        phase: Phase::Regions,
        after: Stage::Normalized,
        estimate: Estimate::LeavesOut("it changes nothing"),
        run: Run::Region(regions::control_notes),
        ..PLAIN
    },
    Pass {
        name: "loop_profile",
        what: "has code of the first tier count what lanes do in divergent loops, and finds what was counted for code of the last one",
        file: "transform/count_iterations.rs",
        source: "Bulavintsev 2019, section III",
        phase: Phase::Gangs,
        after: Stage::Versioned,
        least: Configuration::UniCf,
        estimate: Estimate::LeavesOut("what is counted is not to change what is chosen"),
        run: Run::Kernel(kernels::loop_profile),
        ..PLAIN
    },
    Pass {
        name: "loop_flattening",
        what: "makes one loop of two where most lanes have no work in the inner one, so that these go on with the outer one",
        file: "transform/loop_flattening.rs",
        source: "Bulavintsev 2019, sections II and III",
        phase: Phase::Regions,
        after: Stage::Versioned,
        least: Configuration::UniCf,
        switches: &[PassSwitch::LoopFlattening],
        estimate: Estimate::LeavesOut("how many lanes have work is not known before the launch"),
        run: Run::Region(flatten_loops),
        ..PLAIN
    },
    Pass {
        name: "coherence_versions",
        what: "gives divergent loops versions without masks (`transform/unmasked_loops.rs`), targets of divergent branches copies for gangs all of whose lanes go there (`transform/coherent_branches.rs`), and lets lanes run a loop one after the other that few of them enter or stay in (`transform/per_lane_loops.rs`)",
        file: "plan/coherence_versions.rs",
        source: "Moll 2021, section 9.1; Sun et al. 2019 as told there in 9.2; for `per_lane_loops` what Bulavintsev 2019 measures",
        phase: Phase::Regions,
        after: Stage::Versioned,
        least: Configuration::UniCf,
        switches: &[PassSwitch::UnmaskedLoops, PassSwitch::CoherentBranches, PassSwitch::PerLaneLoops],
        estimate: Estimate::LeavesOut(
            "how often lanes agree is not known before the launch; loops that lanes would run in turn are priced so",
        ),
        run: Run::Region(regions::coherence_versions),
        ..PLAIN
    },
    Pass {
        name: "divergent_loops",
        what: "makes every loop uniform: lanes that have left wait",
        file: "transform/divergent_loops.rs",
        source: "Moll 2021, section 9.1",
        phase: Phase::Regions,
        after: Stage::Linearized,
        is_checked: false,
        is_needed: true,
        estimate: Estimate::LeavesOut("waiting lanes are priced by the divergence of the loop"),
        run: Run::Region(regions::divergent_loops),
        ..PLAIN
    },
    Pass {
        name: "trivial_branches",
        what: "finds uniform branches that are not worth asking the active lanes",
        file: "transform/trivial_branches.rs",
        phase: Phase::Regions,
        after: Stage::Linearized,
        is_checked: false,
        estimate: Estimate::LeavesOut("what such branches lead to costs nothing"),
        run: Run::Region(regions::trivial_branches),
        ..PLAIN
    },
    Pass {
        name: "boscc",
        what: "branches past costly code that no lane wants to run",
        file: "transform/boscc.rs",
        source: "Moll 2021, section 9.2",
        phase: Phase::Regions,
        after: Stage::Linearized,
        is_checked: false,
        least: Configuration::Boscc,
        switches: &[PassSwitch::Gates],
        estimate: Estimate::LeavesOut("which code is skipped is priced by the shares of the work-items that run it"),
        run: Run::Region(regions::gates),
        ..PLAIN
    },
    Pass {
        name: "linearize",
        what: "folds divergent branches; uniform ones stay",
        file: "transform/linearize.rs",
        source: "Moll 2021, chapter 8",
        phase: Phase::Regions,
        after: Stage::Linearized,
        is_needed: true,
        estimate: Estimate::LeavesOut("masks are priced by what they will be for (`analysis/mask_cost.rs`)"),
        run: Run::Region(regions::linearize),
        ..PLAIN
    },
    Pass {
        name: "region_plan",
        what: "finds the shapes of what came out, which decide how values are held and memory is accessed",
        file: "plan/region_shapes.rs",
        source: "Moll 2021, chapters 5 and 11",
        phase: Phase::Regions,
        after: Stage::Linearized,
        is_needed: true,
        estimate: Estimate::LeavesOut("it changes nothing"),
        run: Run::Region(regions::region_plan),
        ..PLAIN
    },
    Pass {
        name: "access_lowering",
        what: "lays out private variables and kept values, and decides how the lanes of a gang make each access to memory",
        file: "plan/access_lowering/region.rs",
        source: "Karrenberg & Hack 2012, section 3.3; Moll 2021, chapters 10 and 11",
        phase: Phase::Gangs,
        after: Stage::Linearized,
        is_needed: true,
        estimate: Estimate::LeavesOut(
            "prices ask for the same decision from what is known then (`analysis/cost/accesses.rs`)",
        ),
        run: Run::Kernel(kernels::access_lowering),
        ..PLAIN
    },
];

/// The pass of this name, with its number: that of its dumps.
pub fn find_pass<'a>(table: &'a [Pass], name: &str) -> Option<(usize, &'a Pass)> {
    (1..).zip(table).find(|(_, pass)| pass.name == name)
}
