//! The word an API layer keeps with a runtime object: which handle stands for it.
//!
//! An object is known to the application by one handle for as long as it lives, so that a query such as
//! `CL_QUEUE_CONTEXT` answers with the very pointer the application holds. The object itself does not know what the
//! word means; when the object goes, the API layer is told that the handle may be used again.
//!
//! Who has to give an application the handle of another object later, as a command buffer that of its queue, holds that
//! object as the application does ([`Retained`]): the handle stays valid when the application has released it.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::Result;

/// A handle's value and what the API layer does with it.
#[derive(Debug, Default)]
pub struct ApiHandle {
    published: OnceLock<Published>,
}

#[derive(Debug)]
struct Published {
    handle: usize,
    operations: &'static HandleOperations,
}

/// What the API layer does with handles of one type.
#[derive(Debug)]
pub struct HandleOperations {
    /// Takes a handle back whose object is gone.
    pub recycle: fn(usize),
    /// Counts one more reference, as `clRetain*` does.
    pub retain: fn(usize) -> Result<()>,
    /// Counts one reference less, as `clRelease*` does.
    pub release: fn(usize),
}

impl ApiHandle {
    /// Remembers `handle`. Only the first call counts.
    pub fn set_handle(&self, handle: usize, operations: &'static HandleOperations) {
        // An object is published once, by the call that created it.
        let _ = self.published.set(Published { handle, operations });
    }

    /// The handle, or 0 for an object the application never got.
    pub fn get(&self) -> usize {
        self.published.get().map_or(0, |published| published.handle)
    }
}

impl Drop for ApiHandle {
    fn drop(&mut self) {
        if let Some(published) = self.published.get() {
            (published.operations.recycle)(published.handle);
        }
    }
}

/// An object that is held as the application holds it: its handle is valid for as long as this is there. Of an object
/// without a handle it holds the object.
pub struct Retained<T> {
    object: Arc<T>,
    handle_of: fn(&T) -> &ApiHandle,
}

impl<T> Retained<T> {
    /// Retains an object, which keeps its handle where `handle_of` says.
    ///
    /// # Errors
    /// The error of an invalid handle where the application has released the object, and `CL_OUT_OF_HOST_MEMORY` where it
    /// is retained as often as can be counted.
    pub fn new(object: Arc<T>, handle_of: fn(&T) -> &ApiHandle) -> Result<Self> {
        if let Some(Published { handle, operations }) = handle_of(&object).published.get() {
            (operations.retain)(*handle)?;
        }
        Ok(Self { object, handle_of })
    }

    /// Takes over the reference of who has published a new object.
    pub fn take_over(object: Arc<T>, handle_of: fn(&T) -> &ApiHandle) -> Self {
        Self { object, handle_of }
    }
}

impl<T> Deref for Retained<T> {
    type Target = Arc<T>;

    fn deref(&self) -> &Arc<T> {
        &self.object
    }
}

impl<T> Drop for Retained<T> {
    fn drop(&mut self) {
        if let Some(Published { handle, operations }) = (self.handle_of)(&self.object).published.get() {
            (operations.release)(*handle);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use opencl_sys::CL_INVALID_EVENT;

    use super::*;
    use crate::error;

    static REFERENCES: AtomicUsize = AtomicUsize::new(0);
    static OPERATIONS: HandleOperations = HandleOperations {
        recycle: |_| REFERENCES.store(100, Ordering::Relaxed),
        retain: |handle| match handle {
            7 => {
                REFERENCES.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            _ => Err(error!(CL_INVALID_EVENT, "{handle} is none")),
        },
        release: |_| _ = REFERENCES.fetch_sub(1, Ordering::Relaxed),
    };

    #[test]
    fn a_retained_object_is_a_reference_of_its_handle() {
        let object = Arc::new(ApiHandle::default());
        drop(Retained::new(object.clone(), |handle| handle).unwrap());
        object.set_handle(7, &OPERATIONS);
        let retained = Retained::new(object.clone(), |handle| handle).unwrap();
        assert_eq!((REFERENCES.load(Ordering::Relaxed), retained.get()), (1, 7));
        drop(Retained::take_over(object.clone(), |handle| handle));
        assert_eq!(REFERENCES.load(Ordering::Relaxed), 0);
        REFERENCES.store(1, Ordering::Relaxed);
        drop(retained);
        assert_eq!(REFERENCES.load(Ordering::Relaxed), 0);
        drop(object);
        assert_eq!(REFERENCES.load(Ordering::Relaxed), 100);
        let released = Arc::new(ApiHandle::default());
        released.set_handle(8, &OPERATIONS);
        assert!(Retained::new(released.clone(), |handle| handle).is_err());
        std::mem::forget(released);
    }
}
