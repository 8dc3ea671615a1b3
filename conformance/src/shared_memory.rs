//! Shared virtual memory as tests use it: an owner that shows the bytes as values.

use std::ffi::c_void;
use std::marker::PhantomData;

use opencl_sys::*;

use crate::loader::cl;
use crate::objects::Context;
use crate::plain::Plain;

/// An allocation of `clSVMAlloc`, freed when dropped.
pub struct Svm<T> {
    context: Context,
    start: *mut T,
    count: usize,
    values: PhantomData<T>,
}

impl<T: Plain> Svm<T> {
    /// Room for so many values, all zero.
    ///
    /// # Panics
    /// When nothing is allocated.
    #[track_caller]
    pub fn new(context: &Context, flags: cl_svm_mem_flags, count: usize) -> Self {
        let start = (cl().clSVMAlloc)(context.raw(), flags, count * size_of::<T>(), 0).cast::<T>();
        assert!(!start.is_null(), "clSVMAlloc failed");
        // SAFETY: the allocation has room for so many values.
        unsafe { start.write_bytes(0, count) };
        Svm { context: context.clone(), start, count, values: PhantomData }
    }

    /// The address of a value, which may be the end.
    pub fn at(&self, index: usize) -> *mut c_void {
        assert!(index <= self.count);
        self.start.wrapping_add(index).cast()
    }

    /// The values now.
    pub fn values(&self) -> Vec<T> {
        // SAFETY: the allocation has so many values, and the test has waited for the commands that change them.
        (0..self.count).map(|index| unsafe { self.start.add(index).read() }).collect()
    }

    /// Writes values from an index on.
    pub fn write(&self, index: usize, values: &[T]) {
        assert!(index + values.len() <= self.count);
        // SAFETY: the values fit, and the test has waited for the commands that use them.
        unsafe { self.start.add(index).copy_from(values.as_ptr(), values.len()) };
    }

    /// Leaves the freeing to a command.
    pub fn leak(self) -> *mut c_void {
        let start = self.at(0);
        std::mem::forget(self);
        start
    }
}

impl<T> Drop for Svm<T> {
    fn drop(&mut self) {
        (cl().clSVMFree)(self.context.raw(), self.start.cast());
    }
}
