//! A load or store as the kernel has it, before it is decided how the lanes of a gang make it.

use super::form::Ordered;
use super::stride_class::Direction;
use crate::ir::{Access, Function, InstData, InstNode, SourceLoc, Value};
use lockstep_protocol::types::{Space, Type};

/// A load or store of one or several neighbouring elements by each lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryAccess {
    /// Load or store.
    pub direction: Direction,
    /// The address of a lane's first element, less the offset.
    pub ptr: Value,
    /// Bytes from there to the first element.
    pub offset: i64,
    /// An element's type.
    pub ty: Type,
    /// Elements of a lane.
    pub count: u32,
    /// The part of memory.
    pub space: Space,
    /// Alignment, and whether it is volatile or atomic.
    pub access: Access,
    /// Where it stands in the source.
    pub location: SourceLoc,
}

/// How lanes may make an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Together {
    /// In any way that has the same effect.
    Free,
    /// By one instruction only where it accesses each lane's element once and no other; it stays volatile.
    Volatile,
    /// One after the other.
    No(Ordered),
}

impl MemoryAccess {
    /// The load or store that an instruction is, if it is one of any elements.
    pub fn of_inst(function: &Function, inst_node: &InstNode) -> Option<MemoryAccess> {
        let (direction, pointer, offset, access, first_element, element_count) = match &inst_node.data {
            &InstData::Load { pointer, offset, access } => {
                (Direction::Load, pointer, offset, access, *inst_node.results.first()?, inst_node.results.len())
            }
            InstData::Store { pointer, offset, access, arguments } => {
                (Direction::Store, *pointer, *offset, *access, *arguments.first()?, arguments.len())
            }
            _ => return None,
        };
        let address_space = match function.ty(pointer) {
            Type::Ptr(address_space) => address_space,
            _ => Space::Generic,
        };
        Some(MemoryAccess {
            direction,
            ptr: pointer,
            offset,
            ty: function.ty(first_element),
            count: element_count as u32,
            space: address_space,
            access,
            location: inst_node.location,
        })
    }

    /// How lanes may make the access, in a kernel whose work-items may wait for others or not. Local memory is seen by the
    /// work-items of one group only, which one thread runs, so an access to it is not atomic for the machine, and nothing tells a
    /// volatile one from another, unless work-items wait for each other.
    pub fn lane_group(&self, may_wait: bool) -> Together {
        let is_volatile = self.access.volatile;
        if self.access.atomic.is_some() && self.space != Space::Local {
            return Together::No(if is_volatile { Ordered::Volatile } else { Ordered::Atomic });
        }
        match is_volatile {
            true if may_wait => Together::No(Ordered::Volatile),
            true if self.space != Space::Local => Together::Volatile,
            _ => Together::Free,
        }
    }

    /// Where the element with this index is, in bytes from the address, and the alignment there.
    pub fn element_place(&self, index: u32) -> (i64, u32) {
        let byte_offset = u64::from(index) * u64::from(self.ty.bytes());
        let alignment = self.access.align.max(1).min(1 << byte_offset.trailing_zeros().min(31));
        (self.offset.wrapping_add_unsigned(byte_offset), alignment)
    }
}
