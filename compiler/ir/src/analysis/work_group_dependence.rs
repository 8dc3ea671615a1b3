//! Whether a kernel can tell which work-group a work-item is in.
//!
//! Requires: a verified kernel before it is cut at its barriers.
//! Ensures: a kernel that needs no groups does the same for every work-item of a range, however the range is cut into
//! groups.
//! Phases: one look at the parameters and at every instruction.
//! Source: DESIGN decision 8; Karrenberg & Hack 2012, section 2.2, for what work-items ask.

use crate::ir::{InstData, Kernel, Query};
use lockstep_protocol::parameters::ParamKind;

/// Whether what a work-item does depends on the others of its sub-group, so that these have to run in the lanes of a gang.
pub fn needs_sub_groups(kernel: &Kernel) -> bool {
    let needs_them = |inst_data: &InstData| match inst_data {
        InstData::Ballot { .. } | InstData::Across { .. } | InstData::Shuffle { .. } | InstData::GangBarrier => true,
        // What passes add for gangs means the same for a work-item alone.
        _ => false,
    };
    kernel.regions.values().flat_map(|function| function.insts.values()).any(|inst_node| needs_them(&inst_node.data))
}

/// Whether what a work-item does may depend on how the launch is cut into groups: it waits for its group, shares local
/// memory with it, or asks for its place in it.
pub fn needs_groups(kernel: &Kernel) -> bool {
    let instructions = || kernel.regions.values().flat_map(|function| function.insts.values());
    kernel.params.iter().any(|parameter| parameter.kind == ParamKind::Local)
        || kernel.regions.len() > 1
        || instructions().any(|inst_node| tells_groups(&inst_node.data))
}

fn tells_groups(inst_data: &InstData) -> bool {
    match inst_data {
        InstData::Barrier | InstData::Collective { .. } | InstData::LocalAddr { .. } | InstData::Yield => true,
        InstData::Query { query, .. } => match query {
            Query::GlobalId | Query::GlobalSize | Query::GlobalOffset | Query::WorkDim => false,
            Query::LocalId
            | Query::LinearId
            | Query::GroupId
            | Query::LocalSize
            | Query::EnqueuedLocalSize
            | Query::NumGroups => true,
        },
        inst_data => inst_data.needs_lanes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse_module;

    fn of(declared: &str, code: &str) -> bool {
        let text = format!("kernel \"k\" {{\n{declared} region r0 {{\n b0:\n{code}\n return\n }}\n}}\n");
        let module = parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        needs_groups(&module.kernels[0])
    }

    #[test]
    fn the_range_is_no_group() {
        assert!(!of("", ""));
        assert!(!of(
            "",
            " v1: i64 = query.global_id 0\n v2: i64 = query.global_size 1\n v3: i64 = query.global_offset 0"
        ));
    }

    #[test]
    fn groups_are_asked_for() {
        for query in ["local_id", "group_id", "local_size", "enqueued_local_size", "num_groups"] {
            assert!(of("", &format!(" v1: i64 = query.{query} 0")), "{query}");
        }
        assert!(of("", " barrier"));
        assert!(of("", " v1: i32 = collective.reduce.add 1:i32"));
        assert!(of(" local lv0 size 4 align 4\n", " v1: ptr.local = local_addr lv0"));
    }
}
