//! Simulated memory: objects, and addresses that know which object they point into.
//!
//! An address is an object's number in the upper and a signed byte offset in the lower 32 bits, so that
//! arithmetic on addresses and their integers works as on a machine while an access shows where it went
//! astray.

use super::fault::Fault;
use crate::ir::Module;
use lockstep_protocol::types::Space;

/// What an object is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Global(u32),
    Buffer(u32),
    Arguments,
    Local(u32),
    LocalArgument(u32),
    /// Slot and the work-item's number in its group, or `GANG`.
    Slot(u32, u32),
}

/// The owner of a slot that the lanes of a gang share.
const GANG: u32 = u32::MAX;

impl Kind {
    fn describe(self) -> String {
        match self {
            Kind::Global(number) => format!("g{number}"),
            Kind::Buffer(number) => format!("buffer {number}"),
            Kind::Arguments => "the argument block".to_string(),
            Kind::Local(number) => format!("lv{number}"),
            Kind::LocalArgument(number) => format!("local argument {number}"),
            Kind::Slot(number, _) => format!("ss{number}"),
        }
    }

    /// The same object, perhaps shared by the lanes of a gang.
    pub fn of_gang(self, shared: bool) -> Kind {
        match self {
            Kind::Slot(slot, _) if shared => Kind::Slot(slot, GANG),
            kind => kind,
        }
    }

    pub fn space(self, constant: bool) -> Space {
        match self {
            Kind::Global(_) if constant => Space::Constant,
            Kind::Global(_) | Kind::Buffer(_) => Space::Global,
            Kind::Arguments | Kind::Slot(..) => Space::Private,
            Kind::Local(_) | Kind::LocalArgument(_) => Space::Local,
        }
    }
}

/// Bytes of one lane among those of others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Interleaved {
    /// Bytes of an element.
    pub element: u64,
    /// Lanes of a gang.
    pub lanes: u64,
    /// The lane whose element it is.
    pub lane: u64,
}

impl Interleaved {
    /// Whether `length` bytes at an offset are an element of this lane, or part of one.
    fn contains_bytes(self, offset: u64, length: u64) -> bool {
        offset / self.element % self.lanes == self.lane && offset % self.element + length <= self.element
    }
}

#[derive(Clone, Debug)]
struct Object {
    kind: Kind,
    /// Which bytes are the owner's, if not all.
    own: Option<Interleaved>,
    /// Contents, or none for buffers and globals, which live in their own lists.
    bytes: Vec<u8>,
    writable: bool,
}

/// Buffers and program-scope variables, which outlive a run, and the objects of the running group.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// Contents of the buffers; new ones may be added between runs.
    pub buffers: Vec<Vec<u8>>,
    /// Contents of the program-scope variables; empty until the first run.
    pub globals: Vec<Vec<u8>>,
    global_constant: Vec<bool>,
    group: Vec<Object>,
    /// Objects of earlier groups, whose numbers are not given again.
    past: u64,
}

/// An access that was found good: an object and the offset in it.
#[derive(Clone, Copy)]
pub(super) struct Place {
    object: u64,
    offset: usize,
}

const OFFSET_BITS: u32 = 32;

/// Objects of groups have numbers from here on.
const GROUP_BASE: u64 = 1 << 24;
/// Buffers have numbers from here on.
const BUFFER_BASE: u64 = 1 << 16;
/// Numbers wrap in 31 bits; so many groups' objects are apart before they come again.
const GROUP_SPAN: u64 = 1 << 30;

impl Memory {
    /// Memory with these buffers.
    pub fn new(buffers: Vec<Vec<u8>>) -> Memory {
        Memory { buffers, ..Memory::default() }
    }

    pub(super) fn begin_launch(&mut self, module: &Module) -> Result<(), Fault> {
        self.group.clear();
        if module.globals.len() as u64 >= BUFFER_BASE || self.buffers.len() as u64 >= GROUP_BASE - BUFFER_BASE {
            return Err(Fault::BadLaunch("too many memory objects".to_string()));
        }
        if self.globals.len() != module.globals.len() {
            self.globals.clear();
            self.global_constant.clear();
            for global_data in module.globals.values() {
                let mut bytes = global_data.init.clone();
                for &(offset, target, addend) in &global_data.relocs {
                    let address = global_address(target.as_u32()).wrapping_add_signed(addend);
                    bytes[offset as usize..][..8].copy_from_slice(&address.to_le_bytes());
                }
                self.globals.push(bytes);
                self.global_constant.push(global_data.constant || global_data.space == Space::Constant);
            }
        }
        Ok(())
    }

    pub(super) fn buffer_address(&self, index: usize) -> Result<u64, Fault> {
        if index < self.buffers.len() {
            Ok((BUFFER_BASE + index as u64) << OFFSET_BITS)
        } else {
            Err(Fault::BadLaunch(format!("there is no buffer {index}")))
        }
    }

    /// A new object of the running group; its address.
    pub(super) fn add_object(&mut self, kind: Kind, bytes: Vec<u8>, writable: bool) -> Result<u64, Fault> {
        if bytes.len() >= 1 << (OFFSET_BITS - 1) {
            return Err(Fault::BadLaunch(format!("{} is too large", kind.describe())));
        }
        let number = (self.past + self.group.len() as u64) % GROUP_SPAN;
        self.group.push(Object { kind, own: None, bytes, writable });
        Ok((GROUP_BASE + number) << OFFSET_BITS)
    }

    /// A new slot of `object_size` bytes per lane, of which only one lane's may be touched; the address of its first.
    pub(super) fn add_interleaved(
        &mut self,
        kind: Kind,
        object_size: u64,
        interleaving: Interleaved,
        fill: u8,
    ) -> Result<u64, Fault> {
        let bytes = object_size.next_multiple_of(interleaving.element) * interleaving.lanes;
        let start = self.add_object(kind, vec![fill; bytes as usize], true)?;
        if let Some(object) = self.group.last_mut() {
            object.own = Some(interleaving);
        }
        Ok(start + interleaving.lane * interleaving.element)
    }

    /// Drops the running group's objects.
    pub(super) fn end_group(&mut self) {
        self.past += self.group.len() as u64;
        self.group.clear();
    }

    fn object_index(&self, object: u64) -> Option<usize> {
        let number = object.checked_sub(GROUP_BASE)?;
        let index = (number + GROUP_SPAN - self.past % GROUP_SPAN) % GROUP_SPAN;
        ((index as usize) < self.group.len()).then_some(index as usize)
    }

    fn find_object(&self, object: u64) -> Option<(Kind, usize, bool)> {
        if let Some(index) = self.object_index(object) {
            let object = &self.group[index];
            return Some((object.kind, object.bytes.len(), object.writable));
        }
        if let Some(number) = object.checked_sub(BUFFER_BASE) {
            let buffer = self.buffers.get(number as usize)?;
            return Some((Kind::Buffer(number as u32), buffer.len(), true));
        }
        let number = object.checked_sub(1)? as usize;
        let writable = !*self.global_constant.get(number)?;
        Some((Kind::Global(number as u32), self.globals.get(number)?.len(), writable))
    }

    fn own_interleaved(&self, object: u64) -> Option<Interleaved> {
        self.object_index(object).and_then(|index| self.group[index].own)
    }

    /// Checks an access of `length` bytes by work-item `item_number` of the running group.
    pub(super) fn check_access(
        &self,
        address: u64,
        length: u64,
        alignment: u32,
        is_write: bool,
        item_number: u32,
    ) -> Result<Place, Fault> {
        let (object, offset) = split_address(address);
        let Some((kind, object_size, writable)) = self.find_object(object) else {
            return Err(Fault::OutOfBounds(format!("{length} bytes at {address:#x}, where nothing is")));
        };
        let place_text = || format!("{length} bytes at offset {offset} of {} ({object_size} bytes)", kind.describe());
        let inside = offset >= 0
            && (offset as u64).checked_add(length).is_some_and(|access_end| access_end <= object_size as u64);
        if !inside {
            return Err(Fault::OutOfBounds(place_text()));
        }
        if offset % i64::from(alignment) != 0 {
            return Err(Fault::Misaligned(format!("{} but alignment {alignment}", place_text())));
        }
        if is_write && !writable {
            return Err(Fault::ReadOnly(place_text()));
        }
        let foreign = self
            .own_interleaved(object)
            .is_some_and(|interleaving| !interleaving.contains_bytes(offset as u64, length));
        if foreign || matches!(kind, Kind::Slot(_, owner) if owner != item_number && owner != GANG) {
            return Err(Fault::NotShared(place_text()));
        }
        Ok(Place { object, offset: offset as usize })
    }

    fn object_bytes(&self, object: u64) -> &[u8] {
        match self.object_index(object) {
            Some(index) => &self.group[index].bytes,
            None if object >= BUFFER_BASE => &self.buffers[(object - BUFFER_BASE) as usize],
            None => &self.globals[object as usize - 1],
        }
    }

    fn bytes_mut(&mut self, object: u64) -> &mut [u8] {
        match self.object_index(object) {
            Some(index) => &mut self.group[index].bytes,
            None if object >= BUFFER_BASE => &mut self.buffers[(object - BUFFER_BASE) as usize],
            None => &mut self.globals[object as usize - 1],
        }
    }

    pub(super) fn bytes_at(&self, place: Place, length: usize) -> &[u8] {
        &self.object_bytes(place.object)[place.offset..][..length]
    }

    pub(super) fn bytes_at_mut(&mut self, place: Place, length: usize) -> &mut [u8] {
        &mut self.bytes_mut(place.object)[place.offset..][..length]
    }

    /// The address space an address lies in.
    pub(super) fn space_of(&self, address: u64) -> Option<Space> {
        let (kind, _, writable) = self.find_object(split_address(address).0)?;
        Some(kind.space(!writable))
    }
}

/// The address of a program-scope variable.
pub(super) fn global_address(global: u32) -> u64 {
    (u64::from(global) + 1) << OFFSET_BITS
}

/// The object nearest to an address and the offset from its beginning.
fn split_address(address: u64) -> (u64, i64) {
    let object = address.wrapping_add(1 << (OFFSET_BITS - 1)) >> OFFSET_BITS;
    (object, address.wrapping_sub(object << OFFSET_BITS) as i64)
}
