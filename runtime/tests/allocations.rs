//! A prepared command costs no memory: enqueuing and executing one allocates nothing once the queue has warmed up.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lockstep_runtime::Result;
use lockstep_runtime::command::{Command, Run, Work};
use lockstep_runtime::context::Context;
use lockstep_runtime::device::Device;
use lockstep_runtime::platform::Platform;
use lockstep_runtime::queue::Queue;
use opencl_sys::CL_COMMAND_NDRANGE_KERNEL;

#[derive(Default)]
struct Launch {
    runs: AtomicUsize,
}

impl Run for Launch {
    fn run(self: Arc<Self>, _: &Device) -> Result<()> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

#[test]
fn prepared_work_allocates_nothing() {
    let context = Context::new(vec![Platform::get().device().clone()], Vec::new(), None);
    let queue = Queue::new(context.clone(), context.devices()[0].clone(), 0, Vec::new());
    let launch = Arc::new(Launch::default());
    let round = || {
        for _ in 0..64 {
            let work = Work::Shared(launch.clone());
            queue.enqueue_command(Command { kind: CL_COMMAND_NDRANGE_KERNEL, work, ..Command::default() });
        }
        queue.finish();
    };
    round();
    assert_eq!(allocation_counter::measure(|| (0..10).for_each(|_| round())).count_total, 0);
    assert_eq!(launch.runs.load(Ordering::Relaxed), 11 * 64);
}
