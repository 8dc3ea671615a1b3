//! Commands: what is enqueued, what it waits for, and what it does.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use opencl_sys::{CL_OUT_OF_RESOURCES, cl_command_type};

use crate::device::Device;
use crate::event::Event;
use crate::{Result, error};

/// Work that holds what it needs until the command has ended, and may be run many times: a launch record that its owner
/// keeps in a pool, or a transfer of a command buffer.
///
/// Enqueuing it copies an `Arc` and allocates nothing.
pub trait Run: Send + Sync {
    /// Does the work on the calling thread and those of the device; returns when all is done.
    fn run(self: Arc<Self>, device: &Device) -> Result<()>;

    /// The command has ended, or never was to run; its owner may have the record for another one. Lets go of what the
    /// record held for the work.
    fn recycle(self: Arc<Self>) {}
}

/// What a command does when its turn comes.
#[derive(Default)]
pub enum Work {
    /// Nothing: a marker or a barrier.
    #[default]
    Nothing,
    /// A closure that owns (through `Arc`s) everything it uses, and lets go of it as part of the work.
    Once(Box<dyn FnOnce() -> Result<()> + Send>),
    /// A prepared record, let go of when the command has ended.
    Shared(Arc<dyn Run>),
    /// What these commands have done together, which the command waits for: its times are from the first one's on.
    Whole(Vec<Arc<Event>>),
}

impl Work {
    /// Work from a closure.
    pub fn once(work: impl FnOnce() -> Result<()> + Send + 'static) -> Self {
        Self::Once(Box::new(work))
    }

    /// Does the work; a panic in it is an error of this command alone.
    pub(crate) fn run(&mut self, device: &Device) -> Result<()> {
        catch_unwind(AssertUnwindSafe(|| self.run_unguarded(device)))
            .unwrap_or_else(|_| Err(error!(CL_OUT_OF_RESOURCES, "an error of the driver itself: the command panicked")))
    }

    fn run_unguarded(&mut self, device: &Device) -> Result<()> {
        match std::mem::take(self) {
            Work::Nothing | Work::Whole(_) => Ok(()),
            Work::Once(work) => work(),
            Work::Shared(work) => {
                let result = work.clone().run(device);
                // Let go of it where everything else of the command is let go of: after the command has ended.
                *self = Work::Shared(work);
                result
            }
        }
    }

    /// Lets go of the work and what it holds, after the command has ended.
    pub(crate) fn let_go(self) {
        if let Work::Shared(work) = self {
            work.recycle();
        }
    }
}

/// A command on its way into a queue.
#[derive(Debug, Default)]
pub struct Command {
    /// The kind of the command (`CL_COMMAND_*`).
    pub kind: cl_command_type,
    /// The wait list.
    pub waits: Vec<Arc<Event>>,
    /// What to do.
    pub work: Work,
    /// The event that tells of it, made by [`Event::of_command`], if somebody wants to know.
    pub event: Option<Arc<Event>>,
    /// Of a part of a command buffer's run: the event that tells the application of the whole, if it asked for one.
    pub whole: Option<Arc<Event>>,
}

impl fmt::Debug for Work {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Work::Nothing => "Nothing",
            Work::Once(_) => "Once",
            Work::Shared(_) => "Shared",
            Work::Whole(_) => "Whole",
        })
    }
}
