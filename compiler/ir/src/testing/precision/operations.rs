//! What the papers' analyses know of single operations: whether a result differs between lanes by itself, or follows from the
//! operands.
//!
//! Both papers take ids along the lanes and what atomic operations give as varying, a load as its address, and everything else as
//! its operands. Addresses of private variables vary, as each lane has its own.

use crate::ir::{InstData, LiveSlot, Query};
use lockstep_protocol::layout::Layout;

/// How an instruction's results differ between lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// They are the same, whatever the operands are.
    Uniform,
    /// They differ, whatever the operands are.
    Varying,
    /// They differ if an operand does.
    Operands,
    /// They differ if what regions keep there does.
    Kept(LiveSlot),
}

/// Tells how the results of an instruction differ between lanes that lie so.
pub(super) fn find_origin(inst_data: &InstData, layout: Layout) -> Origin {
    match inst_data {
        InstData::Query { query, dimension } => match varies_along_lanes(*query, *dimension, layout) {
            true => Origin::Varying,
            false => Origin::Uniform,
        },
        InstData::LiveLoad { live_slot } => Origin::Kept(*live_slot),
        InstData::Load { access, .. } if access.volatile || access.atomic.is_some() => Origin::Varying,
        InstData::SlotAddr { .. }
        | InstData::AtomicRmw { .. }
        | InstData::AtomicCas { .. }
        | InstData::Printf { .. }
        | InstData::Call { .. }
        | InstData::Put { .. } => Origin::Varying,
        InstData::Clock | InstData::Combined => Origin::Uniform,
        inst_data if inst_data.asks_lanes() => Origin::Uniform,
        _ => Origin::Operands,
    }
}

fn varies_along_lanes(query: Query, dimension: u8, layout: Layout) -> bool {
    let is_along = usize::from(dimension) == layout.lane_dimension() || layout.crosses_rows();
    match query {
        Query::LocalId | Query::GlobalId => is_along,
        Query::LinearId => true,
        _ => false,
    }
}
