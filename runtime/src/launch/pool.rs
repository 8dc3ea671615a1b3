//! The launch records of a kernel object that no launch uses: a launch takes one and its end puts it back, so that
//! launches allocate nothing once there are as many records as launches have ever been in flight together.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use parking_lot::Mutex;

use super::record::Launch;

/// Records that are kept; so many commands may gather in a queue before a worker is set to them.
const MOST: usize = 4096;

/// Launch records for reuse.
#[derive(Default)]
pub struct Pool {
    /// The last one put back is the first to go out: it is still in the caches.
    spare: Mutex<Vec<Arc<Launch>>>,
    /// Whether the groups of the kernel's last launch took long.
    pub long: AtomicBool,
}

impl Pool {
    /// A record that nobody else holds, if there is one.
    pub fn take_free(&self) -> Option<Arc<Launch>> {
        self.spare.lock().pop()
    }

    /// Keeps a record that nobody else holds.
    pub fn put_back(&self, launch: Arc<Launch>) {
        let mut spare = self.spare.lock();
        if spare.len() < MOST {
            spare.push(launch);
        }
    }
}
