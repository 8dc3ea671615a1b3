//! Memory that the host and kernels share by its addresses: allocations of `clSVMAlloc` and of unified shared memory.
//!
//! Kernels run in the application's address space, so any pointer means the same to both sides and every kind of sharing
//! is the finest there is. What is kept here is which addresses were given out, to answer queries and to judge what is to
//! be freed. An allocation holds its context, as every object made in it does.

use std::collections::BTreeMap;
use std::sync::Arc;

use opencl_sys::CL_INVALID_BUFFER_SIZE;
use parking_lot::RwLock;

use crate::context::Context;
use crate::device::Device;
use crate::memory_allocation::Allocation;
use crate::{Result, ensure};

/// What an allocation was asked for as.
#[derive(Debug, Clone)]
pub enum Kind {
    /// Shared virtual memory.
    Svm,
    /// Unified shared memory of the host.
    Host,
    /// Unified shared memory of a device.
    Device(Arc<Device>),
    /// Unified shared memory of the host and a device, or of the host and all devices.
    Shared(Option<Arc<Device>>),
}

/// An allocation of shared memory.
pub struct Shared {
    context: Arc<Context>,
    kind: Kind,
    flags: u64,
    bytes: Allocation,
}

/// Every allocation of the process, by its first address.
static ALLOCATIONS: RwLock<BTreeMap<usize, Arc<Shared>>> = RwLock::new(BTreeMap::new());

impl Shared {
    /// The context it belongs to.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// What it was asked for as.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Whether it is shared virtual memory, and no unified shared memory.
    pub fn is_svm(&self) -> bool {
        matches!(self.kind, Kind::Svm)
    }

    /// The flags it was asked for with.
    pub fn flags(&self) -> u64 {
        self.flags
    }

    /// The first byte.
    pub fn start(&self) -> *mut u8 {
        self.bytes.start()
    }

    /// How many bytes there are.
    pub fn size(&self) -> usize {
        self.bytes.size()
    }

    /// Whether `byte_size` bytes from an address on lie in it.
    pub fn contains_range(&self, address: usize, byte_size: usize) -> bool {
        let offset = address.checked_sub(self.start() as usize);
        offset.and_then(|offset| offset.checked_add(byte_size)).is_some_and(|end_address| end_address <= self.size())
    }
}

/// Allocates `byte_size` bytes, aligned for every type of OpenCL C and zero at first.
///
/// # Errors
/// "CL_INVALID_BUFFER_SIZE if size is zero or greater than CL_DEVICE_MAX_MEM_ALLOC_SIZE for any OpenCL device in context";
/// `CL_MEM_OBJECT_ALLOCATION_FAILURE` where there is no memory left.
pub fn allocate_shared(context: &Arc<Context>, kind: Kind, flags: u64, byte_size: usize) -> Result<*mut u8> {
    let maximum = context.devices().iter().map(|device| device.max_allocation()).min().unwrap_or(0);
    ensure!(byte_size > 0, CL_INVALID_BUFFER_SIZE, "an allocation of 0 bytes");
    ensure!(
        byte_size as u64 <= maximum,
        CL_INVALID_BUFFER_SIZE,
        "an allocation of {byte_size} bytes; {maximum} are allowed"
    );
    let memory = Allocation::new(byte_size, context.global_memory())?;
    let start = memory.start();
    let allocation = Shared { context: context.clone(), kind, flags, bytes: memory };
    ALLOCATIONS.write().insert(start as usize, Arc::new(allocation));
    Ok(start)
}

/// The allocation that an address lies in.
pub fn find_allocation(address: usize) -> Option<Arc<Shared>> {
    let allocations = ALLOCATIONS.read();
    let (_, allocation) = allocations.range(..=address).next_back()?;
    allocation.contains_range(address, 1).then(|| allocation.clone())
}

/// Frees the allocation of a context that begins at an address; whether there is one that is as `is_wanted` says.
pub fn free_allocation(context: &Arc<Context>, address: usize, is_wanted: impl Fn(&Shared) -> bool) -> bool {
    let mut allocations = ALLOCATIONS.write();
    let begins_here = |allocation: &&Arc<Shared>| Arc::ptr_eq(&allocation.context, context) && is_wanted(allocation);
    if allocations.get(&address).filter(begins_here).is_none() {
        return false;
    }
    let removed = allocations.remove(&address);
    // The context may go with its last allocation, and call the application: not under the lock.
    drop(allocations);
    drop(removed);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::Platform;

    #[test]
    fn addresses_belong_to_the_allocation_they_lie_in() {
        let context = Context::new(vec![Platform::get().device().clone()], Vec::new(), None);
        let first = allocate_shared(&context, Kind::Svm, 1, 100).unwrap() as usize;
        let second = allocate_shared(&context, Kind::Host, 2, 1).unwrap() as usize;
        assert_eq!(find_allocation(first).unwrap().size(), 100);
        assert_eq!(find_allocation(first + 99).unwrap().flags(), 1);
        assert!(find_allocation(first + 100).is_none_or(|other| other.start() as usize != first));
        assert!(find_allocation(first + 99).unwrap().contains_range(first + 99, 1));
        assert!(!find_allocation(first).unwrap().contains_range(first + 99, 2));
        assert!(!find_allocation(first).unwrap().contains_range(first, usize::MAX));
        // Only the first address frees, only in its context, only what is meant.
        assert!(!free_allocation(&context, first + 1, |_| true));
        assert!(!free_allocation(&context, first, |found| !found.is_svm()));
        let other = Context::new(vec![Platform::get().device().clone()], Vec::new(), None);
        assert!(!free_allocation(&other, first, |_| true));
        assert!(free_allocation(&context, first, Shared::is_svm));
        assert!(!free_allocation(&context, first, |_| true));
        assert!(free_allocation(&context, second, |_| true));
        assert!(allocate_shared(&context, Kind::Svm, 0, 0).is_err());
        assert!(allocate_shared(&context, Kind::Svm, 0, usize::MAX).is_err());
    }

    #[test]
    fn an_allocation_holds_its_context() {
        let context = Context::new(vec![Platform::get().device().clone()], Vec::new(), None);
        let address = allocate_shared(&context, Kind::Svm, 0, 8).unwrap() as usize;
        let weak = Arc::downgrade(&context);
        drop(context);
        let context = weak.upgrade().expect("held by its allocation");
        assert!(free_allocation(&context, address, |_| true));
        drop(context);
        assert!(weak.upgrade().is_none());
    }
}
