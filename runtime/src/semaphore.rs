//! Semaphores (`cl_khr_semaphore`): what commands signal and wait for, whatever queues they are in.
//!
//! No thread waits for a semaphore. A wait is two commands: one that arrives at the semaphores when its turn comes, and one
//! behind it that waits for an event of each, which ends when the semaphore lets the wait through.

use std::collections::VecDeque;
use std::sync::Arc;

use opencl_sys::{
    CL_COMPLETE, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, cl_semaphore_payload_khr, cl_semaphore_properties_khr,
};
use parking_lot::Mutex;

use crate::ApiHandle;
use crate::command::Work;
use crate::context::Context;
use crate::device::Device;
use crate::event::Event;

/// A binary semaphore.
pub struct Semaphore {
    context: Arc<Context>,
    devices: Vec<Arc<Device>>,
    /// The property list it was made with, with its terminating 0.
    properties: Vec<cl_semaphore_properties_khr>,
    state: Mutex<State>,
    /// The word of the API layer.
    pub api: ApiHandle,
}

#[derive(Default)]
struct State {
    signaled: bool,
    /// The events of those that wait, the first one first.
    waiting: VecDeque<Arc<Event>>,
}

impl Semaphore {
    /// A semaphore that is not signaled, for these devices.
    pub fn new(
        context: Arc<Context>,
        devices: Vec<Arc<Device>>,
        properties: Vec<cl_semaphore_properties_khr>,
    ) -> Arc<Self> {
        Arc::new(Self { context, devices, properties, state: Mutex::default(), api: ApiHandle::default() })
    }

    /// `CL_SEMAPHORE_CONTEXT_KHR`.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// `CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR`.
    pub fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// `CL_SEMAPHORE_PROPERTIES_KHR`.
    pub fn properties(&self) -> &[cl_semaphore_properties_khr] {
        &self.properties
    }

    /// `CL_SEMAPHORE_PAYLOAD_KHR`: 1 when signaled.
    pub fn payload(&self) -> cl_semaphore_payload_khr {
        self.state.lock().signaled.into()
    }

    /// Lets the first one that waits through, or the next one to come.
    fn signal(&self) {
        let mut state = self.state.lock();
        let first = state.waiting.pop_front();
        state.signaled |= first.is_none();
        drop(state);
        if let Some(event) = first {
            end(&event, CL_COMPLETE);
        }
    }

    /// Ends an event once the semaphore is signaled, which it no longer is then.
    fn wait(&self, event: Arc<Event>) {
        let mut state = self.state.lock();
        if !std::mem::take(&mut state.signaled) {
            state.waiting.push_back(event);
            return;
        }
        drop(state);
        end(&event, CL_COMPLETE);
    }
}

/// Ends an event that nothing else ends.
fn end(event: &Event, status: i32) {
    let first = event.set_user_status(status);
    debug_assert!(first.is_ok(), "an event of a wait has ended before");
}

/// The work of signaling.
pub fn signal(semaphores: Vec<Arc<Semaphore>>) -> Work {
    Work::once(move || {
        semaphores.iter().for_each(|semaphore| semaphore.signal());
        Ok(())
    })
}

/// The work of arriving at semaphores, and the events that end when each lets the wait through.
pub fn arrive(semaphores: Vec<Arc<Semaphore>>) -> (Work, Vec<Arc<Event>>) {
    let pairs: Vec<_> = semaphores
        .into_iter()
        .map(|semaphore| {
            let event = Event::user(semaphore.context.clone());
            (semaphore, event)
        })
        .collect();
    let events = pairs.iter().map(|(_, event)| event.clone()).collect();
    let mut arrivals = Arrivals(pairs);
    let work = Work::once(move || {
        for (semaphore, event) in arrivals.0.drain(..) {
            semaphore.wait(event);
        }
        Ok(())
    });
    (work, events)
}

/// A wait that has not come to its semaphores. When it never will, because what it waits for before has failed, what is
/// behind it must hear so.
struct Arrivals(Vec<(Arc<Semaphore>, Arc<Event>)>);

impl Drop for Arrivals {
    fn drop(&mut self) {
        for (_, event) in self.0.drain(..) {
            end(&event, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::Platform;

    #[test]
    fn each_signal_lets_one_wait_through_in_their_order() {
        let context = Context::new(vec![Platform::get().device().clone()], Vec::new(), None);
        let semaphore = Semaphore::new(context.clone(), context.devices().to_vec(), vec![0]);
        let events: Vec<_> = (0..3).map(|_| Event::user(context.clone())).collect();
        let ended = || events.iter().filter(|event| event.has_ended()).count();
        events.iter().for_each(|event| semaphore.wait(event.clone()));
        assert_eq!((ended(), semaphore.payload()), (0, 0));
        for count in 1..=3 {
            semaphore.signal();
            assert_eq!((ended(), semaphore.payload()), (count, 0));
            assert!(events[count - 1].has_ended());
        }
        semaphore.signal();
        assert_eq!(semaphore.payload(), 1);
        let late = Event::user(context);
        semaphore.wait(late.clone());
        assert!(late.has_ended() && semaphore.payload() == 0);
    }

    #[test]
    fn a_wait_that_never_comes_says_so() {
        let context = Context::new(vec![Platform::get().device().clone()], Vec::new(), None);
        let semaphore = Semaphore::new(context.clone(), context.devices().to_vec(), vec![0]);
        let (work, events) = arrive(vec![semaphore.clone(), semaphore.clone()]);
        drop(work);
        assert!(events.iter().all(|event| event.status() == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST));
        semaphore.signal();
        assert_eq!(semaphore.payload(), 1, "it waits no more");
    }
}
