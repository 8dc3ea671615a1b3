//! What the work-items of a group compute together.

use super::entities::LiveSlot;
use super::opcodes::{BinaryOp, Collect};
use super::types::Type;

/// What happens to a kept value when all work-items of a group have arrived at a region, before the first of them
/// goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Combine {
    /// Whether the answer is one for all, or one for each work-item, which then takes the place of its value.
    pub how: Collect,
    /// What two values are together.
    pub op: BinaryOp,
    /// Where the values are.
    pub live: LiveSlot,
}

impl BinaryOp {
    /// The bits of the value that changes nothing, for operations that can be collective on values of this type.
    pub fn identity(self, ty: Type) -> Option<u128> {
        let top = 1 << (ty.bits().max(1) - 1);
        let infinity = match ty {
            Type::F16 => 0x7c00,
            Type::F32 => 0x7f80_0000,
            Type::F64 => 0x7ff0_0000_0000_0000,
            _ => 0,
        };
        match self {
            BinaryOp::Add | BinaryOp::Or | BinaryOp::Umax if ty.is_int() => Some(0),
            BinaryOp::And | BinaryOp::Umin if ty.is_int() => Some(ty.mask()),
            BinaryOp::Smin if ty.is_int() => Some(ty.mask() & !top),
            BinaryOp::Smax if ty.is_int() => Some(top),
            BinaryOp::Fadd if ty.is_float() => Some(0),
            BinaryOp::Fmin if ty.is_float() => Some(infinity),
            BinaryOp::Fmax if ty.is_float() => Some(infinity | top),
            _ => None,
        }
    }
}
