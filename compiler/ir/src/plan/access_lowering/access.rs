//! A load or store as the kernel has it, before it is decided how the lanes of a gang make it.

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
    pub loc: SourceLoc,
}

impl MemoryAccess {
    /// The load or store that an instruction is, if it is one of any elements.
    pub fn of(body: &Function, node: &InstNode) -> Option<MemoryAccess> {
        let (direction, ptr, offset, access, first, count) = match &node.data {
            &InstData::Load { ptr, offset, access } => {
                (Direction::Load, ptr, offset, access, *node.results.first()?, node.results.len())
            }
            InstData::Store { ptr, offset, access, args } => {
                (Direction::Store, *ptr, *offset, *access, *args.first()?, args.len())
            }
            _ => return None,
        };
        let space = match body.ty(ptr) {
            Type::Ptr(space) => space,
            _ => Space::Generic,
        };
        Some(MemoryAccess {
            direction,
            ptr,
            offset,
            ty: body.ty(first),
            count: count as u32,
            space,
            access,
            loc: node.loc,
        })
    }

    /// Whether it is atomic for the machine too: one thread runs all that local memory belongs to.
    pub fn is_shared_atomic(&self) -> bool {
        self.access.atomic.is_some() && self.space != Space::Local
    }

    /// Where the element with this index is, in bytes from the address, and the alignment there.
    pub fn element_place(&self, index: u32) -> (i64, u32) {
        let step = u64::from(index) * u64::from(self.ty.bytes());
        let align = self.access.align.max(1).min(1 << step.trailing_zeros().min(31));
        (self.offset.wrapping_add_unsigned(step), align)
    }
}
