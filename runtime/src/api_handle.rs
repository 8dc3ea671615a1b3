//! The word an API layer keeps with a runtime object: which handle stands for it.
//!
//! An object is known to the application by one handle for as long as it lives, so that a query such as
//! `CL_QUEUE_CONTEXT` answers with the very pointer the application holds. The object itself does not know what the
//! word means; when the object goes, the API layer is told that the handle may be used again.

use std::sync::OnceLock;

/// A handle's value and what to do with it when the object is gone.
#[derive(Debug, Default)]
pub struct ApiHandle {
    published: OnceLock<Published>,
}

#[derive(Debug)]
struct Published {
    handle: usize,
    recycle: fn(usize),
}

impl ApiHandle {
    /// Remembers `handle`; `recycle` is called with it when the object is dropped. Only the first call counts.
    pub fn publish(&self, handle: usize, recycle: fn(usize)) {
        // An object is published once, by the call that created it.
        let _ = self.published.set(Published { handle, recycle });
    }

    /// The handle, or 0 for an object the application never got.
    pub fn get(&self) -> usize {
        self.published.get().map_or(0, |p| p.handle)
    }
}

impl Drop for ApiHandle {
    fn drop(&mut self) {
        if let Some(p) = self.published.get() {
            (p.recycle)(p.handle);
        }
    }
}
