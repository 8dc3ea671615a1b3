//! Semaphores (`cl_khr_semaphore`): what commands signal and wait for, whatever queues they are in.
//!
//! Commands are paired when they are enqueued, whenever they run: the first wait is for the first signal, and so on. So
//! an application may enqueue signal, wait, signal, wait in as many queues as it likes before the first one has run.
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
    /// Signals and waits that are not done with, in the order of their enqueuing. The last ones have no wait yet, or no
    /// signal.
    pairs: VecDeque<Pair>,
    /// The number of the next signal or wait.
    next: u64,
}

/// A signal and the wait for it.
#[derive(Default)]
struct Pair {
    signal: Option<Signal>,
    wait: Option<Wait>,
}

struct Signal {
    number: u64,
    /// It has run.
    given: bool,
}

struct Wait {
    number: u64,
    /// What ends when it is let through.
    event: Arc<Event>,
    /// It has run.
    arrived: bool,
}

impl Pair {
    fn has_signal(&self, pair_number: u64) -> bool {
        self.signal.as_ref().is_some_and(|signal| signal.number == pair_number)
    }

    fn has_wait(&self, pair_number: u64) -> bool {
        self.wait.as_ref().is_some_and(|pending_wait| pending_wait.number == pair_number)
    }
}

impl State {
    fn next_number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// The first pair that lacks something, or a new one.
    fn open_pair(&mut self, lacks: impl Fn(&Pair) -> bool) -> &mut Pair {
        let position = self.pairs.iter().position(lacks).unwrap_or(self.pairs.len());
        if position == self.pairs.len() {
            self.pairs.push_back(Pair::default());
        }
        &mut self.pairs[position]
    }

    /// Takes out a pair whose both commands have run: the event that ends now.
    fn settle_pair(&mut self, position: usize) -> Option<Arc<Event>> {
        let Pair { signal: Some(Signal { given: true, .. }), wait: Some(Wait { arrived: true, .. }) } =
            &self.pairs[position]
        else {
            return None;
        };
        Some(self.pairs.remove(position)?.wait?.event)
    }
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

    /// The context it belongs to (`CL_SEMAPHORE_CONTEXT_KHR`).
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The devices it is for (`CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR`).
    pub fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// The property list it was created with (`CL_SEMAPHORE_PROPERTIES_KHR`).
    pub fn properties(&self) -> &[cl_semaphore_properties_khr] {
        &self.properties
    }

    /// `CL_SEMAPHORE_PAYLOAD_KHR`: 1 when signaled.
    pub fn payload(&self) -> cl_semaphore_payload_khr {
        let given = |pair: &Pair| pair.signal.as_ref().is_some_and(|signal| signal.given);
        self.state.lock().pairs.iter().any(given).into()
    }

    /// A signal is enqueued: its number.
    fn new_signal(&self) -> u64 {
        let mut semaphore_state = self.state.lock();
        let pair_number = semaphore_state.next_number();
        semaphore_state.open_pair(|pair| pair.signal.is_none()).signal =
            Some(Signal { number: pair_number, given: false });
        pair_number
    }

    /// A wait is enqueued that ends `event`: its number.
    fn new_wait(&self, event: Arc<Event>) -> u64 {
        let mut semaphore_state = self.state.lock();
        let pair_number = semaphore_state.next_number();
        semaphore_state.open_pair(|pair| pair.wait.is_none()).wait =
            Some(Wait { number: pair_number, event, arrived: false });
        pair_number
    }

    /// A signal has run.
    fn signal_pair(&self, pair_number: u64) {
        let mut semaphore_state = self.state.lock();
        // Not there when its wait failed and another signal took its place.
        let Some(position) = semaphore_state.pairs.iter().position(|pair| pair.has_signal(pair_number)) else { return };
        if let Some(signal) = &mut semaphore_state.pairs[position].signal {
            signal.given = true;
        }
        let event = semaphore_state.settle_pair(position);
        drop(semaphore_state);
        end_event(event, CL_COMPLETE);
    }

    /// A wait has run.
    fn wait_pair(&self, pair_number: u64) {
        let mut semaphore_state = self.state.lock();
        // Not there when its signal failed.
        let Some(position) = semaphore_state.pairs.iter().position(|pair| pair.has_wait(pair_number)) else { return };
        if let Some(pending_wait) = &mut semaphore_state.pairs[position].wait {
            pending_wait.arrived = true;
        }
        let event = semaphore_state.settle_pair(position);
        drop(semaphore_state);
        end_event(event, CL_COMPLETE);
    }

    /// A signal will never run, because what it waits for has failed. So has the wait for it; without one the next signal
    /// is for the next wait.
    fn no_signal(&self, pair_number: u64) {
        let mut semaphore_state = self.state.lock();
        let Some(position) = semaphore_state.pairs.iter().position(|pair| pair.has_signal(pair_number)) else { return };
        let pair = semaphore_state.pairs.remove(position);
        drop(semaphore_state);
        end_event(pair.and_then(|pair| pair.wait).map(|pending_wait| pending_wait.event), FAILED);
    }

    /// A wait will never run, because what it waits for has failed. Its signal, if there is one, is for the next wait that
    /// has none; a signal enqueued after it takes its place.
    fn no_wait(&self, pair_number: u64) {
        let mut semaphore_state = self.state.lock();
        let Some(position) = semaphore_state.pairs.iter().position(|pair| pair.has_wait(pair_number)) else { return };
        let failed = semaphore_state.pairs[position].wait.take();
        let mut event = None;
        let next = semaphore_state.pairs.get(position + 1).map(|pair| pair.signal.is_some());
        if semaphore_state.pairs[position].signal.is_none() || next == Some(true) {
            semaphore_state.pairs.remove(position);
        } else if next == Some(false) {
            semaphore_state.pairs[position].wait =
                semaphore_state.pairs.remove(position + 1).and_then(|pair| pair.wait);
            event = semaphore_state.settle_pair(position);
        }
        drop(semaphore_state);
        end_event(failed.map(|pending_wait| pending_wait.event), FAILED);
        end_event(event, CL_COMPLETE);
    }
}

impl Drop for Semaphore {
    /// The application has released it, and no command is left that would signal: what waits for it must hear so.
    fn drop(&mut self) {
        for pair in self.state.get_mut().pairs.drain(..) {
            end_event(pair.wait.map(|pending_wait| pending_wait.event), FAILED);
        }
    }
}

/// How a wait ends that cannot be let through.
const FAILED: i32 = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;

/// Ends an event that nothing else ends.
fn end_event(event: Option<Arc<Event>>, status: i32) {
    if let Some(event) = event {
        let first = event.set_user_status(status);
        debug_assert!(first.is_ok(), "an event of a wait has ended before");
    }
}

/// The work of signaling, which is enqueued next.
pub fn signal_work(semaphores: Vec<Arc<Semaphore>>) -> Work {
    let numbered = semaphores.into_iter().map(|semaphore| (semaphore.new_signal(), semaphore));
    let mut signals = Signals(numbered.collect());
    Work::once(move || {
        signals.0.drain(..).for_each(|(pair_number, semaphore)| semaphore.signal_pair(pair_number));
        Ok(())
    })
}

/// The work of arriving at semaphores, which is enqueued next, and the events that end when each lets the wait through.
pub fn arrival_work(semaphores: Vec<Arc<Semaphore>>) -> (Work, Vec<Arc<Event>>) {
    let events: Vec<_> = semaphores.iter().map(|semaphore| Event::new_user_event(semaphore.context.clone())).collect();
    let numbered = semaphores.into_iter().zip(&events);
    let mut arrivals =
        Arrivals(numbered.map(|(semaphore, event)| (semaphore.new_wait(event.clone()), semaphore)).collect());
    let work = Work::once(move || {
        arrivals.0.drain(..).for_each(|(pair_number, semaphore)| semaphore.wait_pair(pair_number));
        Ok(())
    });
    (work, events)
}

/// Signals that have not run.
struct Signals(Vec<(u64, Arc<Semaphore>)>);

impl Drop for Signals {
    fn drop(&mut self) {
        self.0.drain(..).for_each(|(pair_number, semaphore)| semaphore.no_signal(pair_number));
    }
}

/// Waits that have not come to their semaphores.
struct Arrivals(Vec<(u64, Arc<Semaphore>)>);

impl Drop for Arrivals {
    fn drop(&mut self) {
        self.0.drain(..).for_each(|(pair_number, semaphore)| semaphore.no_wait(pair_number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::Platform;

    fn made() -> Arc<Semaphore> {
        let context = Context::new(vec![Platform::get().device().clone()], Vec::new(), None);
        Semaphore::new(context.clone(), context.devices().to_vec(), vec![0])
    }

    /// An enqueued wait, and what ends with it.
    fn wait(semaphore: &Semaphore) -> (u64, Arc<Event>) {
        let event = Event::new_user_event(semaphore.context.clone());
        (semaphore.new_wait(event.clone()), event)
    }

    #[test]
    fn each_signal_lets_one_wait_through_in_their_order() {
        let semaphore = made();
        let waits: Vec<_> = (0..3).map(|_| wait(&semaphore)).collect();
        waits.iter().for_each(|(pair_number, _)| semaphore.wait_pair(*pair_number));
        let ended = || waits.iter().filter(|(_, event)| event.has_ended()).count();
        assert_eq!((ended(), semaphore.payload()), (0, 0));
        for count in 1..=3 {
            semaphore.signal_pair(semaphore.new_signal());
            assert_eq!((ended(), semaphore.payload()), (count, 0));
            assert!(waits[count - 1].1.has_ended());
        }
        semaphore.signal_pair(semaphore.new_signal());
        assert_eq!(semaphore.payload(), 1);
        let (late, event) = wait(&semaphore);
        semaphore.wait_pair(late);
        assert!(event.has_ended() && semaphore.payload() == 0);
    }

    #[test]
    fn signals_and_waits_pair_as_enqueued_in_whatever_order_they_run() {
        let semaphore = made();
        let (s1, (w1, first)) = (semaphore.new_signal(), wait(&semaphore));
        let (s2, (w2, second)) = (semaphore.new_signal(), wait(&semaphore));
        semaphore.wait_pair(w2);
        semaphore.signal_pair(s1);
        assert!(!first.has_ended() && !second.has_ended(), "the second wait is for the second signal");
        semaphore.signal_pair(s2);
        assert!(!first.has_ended() && second.has_ended());
        assert_eq!(semaphore.payload(), 1);
        semaphore.wait_pair(w1);
        assert!(first.has_ended());
        assert_eq!(semaphore.payload(), 0);
    }

    #[test]
    fn a_wait_that_never_comes_says_so() {
        let semaphore = made();
        let (work, events) = arrival_work(vec![semaphore.clone(), semaphore.clone()]);
        drop(work);
        assert!(events.iter().all(|event| event.status() == FAILED));
        semaphore.signal_pair(semaphore.new_signal());
        assert_eq!(semaphore.payload(), 1, "it waits no more");
    }

    #[test]
    fn the_signal_of_a_failed_wait_is_for_the_next_one_unless_another_follows() {
        let semaphore = made();
        let (signal, (failed, _), (next, event)) = (semaphore.new_signal(), wait(&semaphore), wait(&semaphore));
        semaphore.wait_pair(next);
        semaphore.signal_pair(signal);
        semaphore.no_wait(failed);
        assert!(event.has_ended());
        assert_eq!(semaphore.payload(), 0);
        let (s1, (w1, _)) = (semaphore.new_signal(), wait(&semaphore));
        let (s2, (w2, event)) = (semaphore.new_signal(), wait(&semaphore));
        semaphore.wait_pair(w2);
        semaphore.no_wait(w1);
        semaphore.signal_pair(s1);
        assert!(!event.has_ended(), "it is for the second signal");
        semaphore.signal_pair(s2);
        assert!(event.has_ended());
        assert_eq!(semaphore.payload(), 0);
    }

    #[test]
    fn a_signal_that_never_comes_fails_the_wait_for_it_alone() {
        let semaphore = made();
        let first = signal_work(vec![semaphore.clone()]);
        let ((w1, failed), second, (w2, event)) = (wait(&semaphore), semaphore.new_signal(), wait(&semaphore));
        semaphore.wait_pair(w1);
        drop(first);
        assert_eq!(failed.status(), FAILED);
        semaphore.wait_pair(w2);
        assert!(!event.has_ended());
        semaphore.signal_pair(second);
        assert_eq!(event.status(), CL_COMPLETE);
    }

    #[test]
    fn a_released_semaphore_leaves_no_wait_behind() {
        let semaphore = made();
        let (pair_number, event) = wait(&semaphore);
        semaphore.wait_pair(pair_number);
        drop(semaphore);
        assert_eq!(event.status(), FAILED);
    }
}
