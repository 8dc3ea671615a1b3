//! Memory as the driver has it for large buffers: on huge pages where the system allows.

use bytemuck::Pod;
use memmap2::{Advice, MmapMut};
use std::marker::PhantomData;

/// Elements of a type, all zeros at first.
pub struct Large<T>(MmapMut, PhantomData<T>);

impl<T: Pod> Large<T> {
    /// Memory of so many elements; all of it has its pages.
    pub fn new(count: usize) -> Self {
        let mut memory = MmapMut::map_anon(count * size_of::<T>()).expect("as much memory as a kernel has");
        // A system without huge pages refuses, and measures without.
        let _ = memory.advise(Advice::HugePage);
        memory.fill(0);
        Self(memory, PhantomData)
    }

    /// The elements.
    pub fn values(&self) -> &[T] {
        bytemuck::cast_slice(&self.0)
    }

    /// The elements, to be changed.
    pub fn values_mut(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_keeps_values() {
        let mut memory = Large::<u64>::new(1 << 19);
        assert!(memory.values().iter().all(|&value| value == 0));
        memory.values_mut()[77] = 5;
        assert_eq!((memory.values().len(), memory.values()[77]), (1 << 19, 5));
    }
}
