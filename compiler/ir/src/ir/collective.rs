//! What the work-items of a group compute together.

use super::entities::LiveSlot;
use super::opcodes::{BinaryOp, Collect};
use lockstep_protocol::types::Type;

/// What happens to a kept value when all work-items of a group have arrived at a region, before the first of them
/// goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Combine {
    /// Whether the answer is one for all, or one for each work-item, which then takes the place of its value.
    pub collective: Collect,
    /// What two values are together.
    pub opcode: BinaryOp,
    /// Where the values are.
    pub live_slot: LiveSlot,
}

/// How many neighbouring lanes answer together: a power of two, or all.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Cluster(u8);

impl Cluster {
    /// The lanes of the gang.
    pub const GANG: Cluster = Cluster(0);

    /// Clusters of so many lanes, if that is a power of two.
    pub fn with_lanes(lane_count: u128) -> Option<Cluster> {
        let log_lanes = lane_count.is_power_of_two().then(|| lane_count.trailing_zeros() as u8);
        log_lanes.map(|log_lanes| Cluster(log_lanes + 1))
    }

    /// Whether all lanes answer together.
    pub fn is_gang(self) -> bool {
        self == Cluster::GANG
    }

    /// The lanes of a cluster in gangs of `gang_width`.
    pub fn lane_count(self, gang_width: u32) -> u32 {
        match self.0 {
            0 => gang_width,
            log_lanes => 1u32.checked_shl(u32::from(log_lanes) - 1).map_or(gang_width, |lanes| lanes.min(gang_width)),
        }
    }

    /// The lanes, if these are not all.
    pub fn partial_lanes(self) -> Option<u128> {
        self.0.checked_sub(1).map(|log_lanes| 1 << log_lanes)
    }
}

impl BinaryOp {
    /// The bits of the value that changes nothing, for operations that can be collective on values of this type.
    pub fn identity(self, value_type: Type) -> Option<u128> {
        let sign_bit = 1 << (value_type.bits().max(1) - 1);
        let infinity = match value_type {
            Type::F16 => 0x7c00,
            Type::F32 => 0x7f80_0000,
            Type::F64 => 0x7ff0_0000_0000_0000,
            _ => 0,
        };
        let one_bits = match value_type {
            Type::F16 => 0x3c00,
            Type::F32 => 0x3f80_0000,
            _ => 0x3ff0_0000_0000_0000,
        };
        match self {
            BinaryOp::Add | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Umax if value_type.is_int() => Some(0),
            BinaryOp::And | BinaryOp::Umin if value_type.is_int() => Some(value_type.value_mask()),
            BinaryOp::Smin if value_type.is_int() => Some(value_type.value_mask() & !sign_bit),
            BinaryOp::Smax if value_type.is_int() => Some(sign_bit),
            BinaryOp::Mul if value_type.is_int() => Some(1),
            BinaryOp::Fadd if value_type.is_float() => Some(0),
            BinaryOp::Fmul if value_type.is_float() => Some(one_bits),
            BinaryOp::Fmin if value_type.is_float() => Some(infinity),
            BinaryOp::Fmax if value_type.is_float() => Some(infinity | sign_bit),
            _ => None,
        }
    }
}
