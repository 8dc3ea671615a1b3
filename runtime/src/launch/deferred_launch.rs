//! A launch whose code is made while it waits in its queue.
//!
//! An application that enqueues several kernels has their code made side by side, and need not wait to enqueue the next
//! ones. What may go wrong with a launch is found when it is enqueued, but for what comes of making the code.

use std::sync::Arc;

use lockstep_protocol::launch_facts::LaunchFacts;
use parking_lot::Mutex;

use super::ndrange::NdRange;
use super::pool::Pool;
use super::record::Launch;
use super::{Call, argument_objects, name_kernel};
use crate::Result;
use crate::command::Run;
use crate::device::Device;
use crate::kernel::Args;
use crate::memory::Memory;
use crate::program::executable::Executable;

/// All that a launch was called with.
pub(super) struct Late {
    executable: Arc<Executable>,
    index: usize,
    pool: Arc<Pool>,
    scratch_limit: u64,
    range: NdRange,
    facts: LaunchFacts,
    args: Args,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The memory objects of the arguments, which do not hold them.
    held: Vec<Arc<Memory>>,
    /// The record, once the launch has run.
    launch: Option<Arc<Launch>>,
}

impl Late {
    pub(super) fn new(call: &Call, nd_range: NdRange, launch_facts: LaunchFacts, arguments: &Args) -> Result<Late> {
        let held = argument_objects(arguments).collect::<Result<_>>()?;
        Ok(Late {
            executable: call.executable.clone(),
            index: call.index,
            pool: call.pool.clone(),
            scratch_limit: call.scratch_limit,
            range: nd_range,
            facts: launch_facts,
            args: arguments.clone(),
            state: Mutex::new(State { held, launch: None }),
        })
    }
}

impl Late {
    /// The record, for which the code is there by now, or cannot be made.
    fn fill_record(&self) -> Result<Arc<Launch>> {
        let Late { executable, index, pool, scratch_limit, .. } = self;
        let variant = executable.get_or_compile(*index, Some(self.facts))?;
        let launch_call = Call { executable, index: *index, pool, scratch_limit: *scratch_limit };
        launch_call.fill_record(variant, self.range, &self.args)
    }
}

impl Run for Late {
    fn run(self: Arc<Self>, device: &Device) -> Result<()> {
        let launch =
            self.fill_record().map_err(|error| name_kernel(&self.executable.kernel_outline(self.index).name, error))?;
        self.state.lock().launch = Some(launch.clone());
        launch.run(device)
    }

    fn recycle(self: Arc<Self>) {
        let State { held, launch } = std::mem::take(&mut *self.state.lock());
        if let Some(launch) = launch {
            launch.recycle();
        }
        drop(held);
    }
}
