//! Whether two accesses are surely to different memory, wherever in it they are.
//!
//! Requires: verified code; where addresses come from ([`Origin`]).
//! Ensures: where the answer is yes, one work-item reaches no byte through both addresses.
//! Phases: address spaces; variables of the kernel; arguments that are apart from others.
//! Source: none; the usual rules of base objects.

use crate::analysis::underlying_objects::Origin;
use crate::ir::{Function, InstData, LocalVar, Slot, Value, ValueDef};
use lockstep_protocol::types::Space;
use lockstep_protocol::variables::Global;

/// What is known of the memory that an access is to.
#[derive(Clone, Copy, Debug)]
pub struct AccessedMemory {
    /// The pointer that the address is computed of.
    pub base: Value,
    /// The address space of the pointer.
    pub space: Space,
    /// The argument that the address comes from.
    pub origin: Origin,
}

impl AccessedMemory {
    /// Whether this is surely other memory than that of another access with another base.
    pub fn is_disjoint(&self, other: &AccessedMemory, function: &Function) -> bool {
        if !may_overlap(self.space, other.space) {
            return true;
        }
        if let (Some(variable), Some(other_variable)) =
            (variable_at(function, self.base), variable_at(function, other.base))
            && variable != other_variable
        {
            return true;
        }
        let is_argument = |origin: Origin| matches!(origin, Origin::Argument(_));
        let both_known = self.origin != Origin::Unknown && other.origin != Origin::Unknown;
        both_known && self.origin != other.origin && (is_argument(self.origin) || is_argument(other.origin))
    }
}

/// Whether two address spaces have memory in common.
fn may_overlap(left: Space, right: Space) -> bool {
    let is_global = |address_space: Space| matches!(address_space, Space::Global | Space::Constant);
    left == right || left == Space::Generic || right == Space::Generic || is_global(left) && is_global(right)
}

/// The variable of the kernel that an address is in.
#[derive(PartialEq, Eq)]
enum Variable {
    Slot(Slot),
    Local(LocalVar),
    Global(Global),
}

fn variable_at(function: &Function, mut address: Value) -> Option<Variable> {
    loop {
        let ValueDef::Result(instruction, _) = function.values[address].definition else { return None };
        match function.insts[instruction].data {
            InstData::PtrAdd { base, .. } => address = base,
            InstData::SlotAddr { slot } => return Some(Variable::Slot(slot)),
            InstData::LocalAddr { local } => return Some(Variable::Local(local)),
            InstData::GlobalAddr { global } => return Some(Variable::Global(global)),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generic_addresses_may_lead_to_any_memory_and_constants_lie_in_global_memory() {
        for space in Space::ALL {
            assert!(
                may_overlap(space, space) && may_overlap(space, Space::Generic) && may_overlap(Space::Generic, space)
            );
        }
        assert!(may_overlap(Space::Global, Space::Constant) && may_overlap(Space::Constant, Space::Global));
        for (left, right) in
            [(Space::Private, Space::Local), (Space::Local, Space::Global), (Space::Constant, Space::Private)]
        {
            assert!(!may_overlap(left, right) && !may_overlap(right, left));
        }
    }
}
