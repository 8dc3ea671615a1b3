//! The end of the process waits for LLVM's work that is under way.
//!
//! `exit` destroys LLVM's variables while other threads go on, and a thread in the midst of compiling would take the
//! process down with a signal. So a handler of `exit` waits until nobody is, and who comes later is refused.
//!
//! LLVM makes some of its variables when it first needs them, and what is registered last comes first at the end. So each
//! piece of work registers the handler anew, until LLVM may be taken to have all that it needs. The first kernel's code
//! needs about ten of them, later kernels' hardly any (`pipeline::has_compiled`).

use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use libc::pthread_t;
use parking_lot::{Condvar, Mutex};

/// Why there is no more work.
pub const ENDING: &str = "the process is ending";

/// How long the end waits at most.
const PATIENCE: Duration = Duration::from_secs(20);

/// As many pieces of work register the handler.
const REGISTERED: usize = 100;

struct State {
    /// Pieces of work under way.
    working: usize,
    registered: usize,
    /// The thread that ends the process.
    ending: Option<pthread_t>,
}

static STATE: Mutex<State> = Mutex::new(State { working: 0, registered: 0, ending: None });
static CHANGED: Condvar = Condvar::new();

/// The process that works: a forked child has the numbers of its parent, but not its threads.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// A piece of LLVM's work, under way while this lives.
pub struct Work(());

impl Work {
    /// Begins, unless another thread is ending the process.
    pub fn begin() -> Option<Work> {
        let mut state = STATE.lock();
        if PROCESS.swap(process::id(), Ordering::Relaxed) != process::id() {
            state.working = 0;
        }
        if state.ending.is_some_and(|thread| thread != this_thread()) {
            return None;
        }
        state.working += 1;
        let register = state.registered < REGISTERED;
        state.registered += usize::from(register);
        drop(state);
        if register {
            // SAFETY: the handler is a function of a library that is never unloaded. Should the system refuse it, the end
            // does not wait.
            unsafe { libc::atexit(wait_for_work) };
        }
        Some(Work(()))
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        STATE.lock().working -= 1;
        CHANGED.notify_all();
    }
}

fn this_thread() -> pthread_t {
    // SAFETY: it has no requirements. Threads of the standard library cannot be asked about late in a process's life.
    unsafe { libc::pthread_self() }
}

/// What `exit` calls.
extern "C" fn wait_for_work() {
    if PROCESS.load(Ordering::Relaxed) != process::id() {
        return;
    }
    let deadline = Instant::now() + PATIENCE;
    let mut state = STATE.lock();
    state.ending = Some(this_thread());
    while state.working > 0 && !CHANGED.wait_until(&mut state, deadline).timed_out() {}
}
