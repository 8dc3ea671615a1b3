//! Memory of program-scope variables: one block per program, set up when the program is built.

use lockstep_protocol::variables::GlobalData;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

/// Alignment of the block in bytes, the most an OpenCL type asks for.
const ALIGN: u64 = 128;

/// The variables of one program.
pub struct Globals {
    block: NonNull<u8>,
    layout: Layout,
    addresses: Vec<*mut u8>,
}

// SAFETY: the block is the kernels' memory; the runtime touches it only while it is set up, before it
// is shared. What kernels do to it concurrently is up to their program, as with any global memory.
unsafe impl Send for Globals {}
// SAFETY: as above.
unsafe impl Sync for Globals {}

impl Globals {
    /// Allocates and initialises the variables; `None` when there is not as much memory.
    pub fn new(variables: &[GlobalData]) -> Option<Globals> {
        let mut byte_size = 0_u64;
        let mut offsets = Vec::with_capacity(variables.len());
        for global_data in variables {
            byte_size = byte_size.checked_next_multiple_of(u64::from(global_data.align).clamp(1, ALIGN))?;
            offsets.push(byte_size);
            byte_size = byte_size.checked_add(global_data.init.len().max(1) as u64)?;
        }
        let byte_size = usize::try_from(byte_size.max(1)).ok()?;
        let layout = Layout::from_size_align(byte_size, ALIGN as usize).ok()?;
        // SAFETY: the layout's size is not zero.
        let allocation = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        let address = |index: usize| allocation.as_ptr().wrapping_add(offsets[index] as usize);
        let globals = Globals { block: allocation, layout, addresses: (0..variables.len()).map(address).collect() };
        for (global_data, &start) in variables.iter().zip(&globals.addresses) {
            let mut bytes = global_data.init.clone();
            for &(offset, target, addend) in &global_data.relocs {
                let value = globals.addresses.get(target.as_u32() as usize)?;
                let value = (*value as u64).wrapping_add_signed(addend);
                let offset = usize::try_from(offset).ok()?;
                bytes.get_mut(offset..offset.checked_add(8)?)?.copy_from_slice(&value.to_le_bytes());
            }
            // SAFETY: the block has room for this variable's bytes at its offset, by the sum above.
            unsafe { start.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        }
        Some(globals)
    }

    /// Every variable's address by its number: `LaunchFrame::globals`.
    pub fn address_table(&self) -> *const *mut u8 {
        self.addresses.as_ptr()
    }

    /// The address of the variable of this number.
    pub fn address_of(&self, index: usize) -> Option<*mut u8> {
        self.addresses.get(index).copied()
    }

    /// Bytes of all variables: CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE.
    pub fn total_size(&self) -> usize {
        if self.addresses.is_empty() { 0 } else { self.layout.size() }
    }
}

impl Drop for Globals {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout; launches that use the block hold its owner.
        unsafe { dealloc(self.block.as_ptr(), self.layout) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_protocol::types::Space;
    use lockstep_protocol::variables::Global;

    fn variable(initial: Vec<u8>, align: u32, relocs: Vec<(u64, Global, i64)>) -> GlobalData {
        GlobalData { name: "x".into(), space: Space::Global, align, init: initial, relocs, constant: false }
    }

    #[test]
    fn contents_alignment_and_relocations() {
        let first = variable(vec![1, 2, 3], 1, vec![]);
        let second = variable(vec![0; 16], 64, vec![(8, Global::from_u32(0), 2)]);
        let globals = Globals::new(&[first, second]).unwrap();
        assert_eq!(globals.addresses[1] as usize % 64, 0);
        // SAFETY: both variables lie in the block, which lives.
        unsafe {
            assert_eq!(*globals.addresses[0].cast::<[u8; 3]>(), [1, 2, 3]);
            let pointer = globals.addresses[1].cast::<*const u8>().add(1).read();
            assert_eq!(*pointer, 3);
        }
    }

    #[test]
    fn a_relocation_outside_is_refused() {
        let too_short = variable(vec![0; 4], 1, vec![(0, Global::from_u32(0), 0)]);
        assert!(Globals::new(&[too_short]).is_none());
    }
}
