//! Says which code it was where code is stopped by the machine or does not end.

use std::cell::{Cell, OnceCell};
use std::mem::zeroed;
use std::ptr::null_mut;
use std::sync::Once;

/// Processor seconds after which code is taken to have no end: far more than any test's code takes.
const PATIENCE: i64 = 60;

thread_local! {
    /// Address and length of the name of what this thread runs.
    static RUNNING: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    /// Counts this thread's processor time.
    static TIMER: OnceCell<libc::timer_t> = const { OnceCell::new() };
}

/// Runs generated code that this name describes. The process ends, and says the name, where the machine stops
/// the code and where it does not end.
pub fn watched<T>(name: &str, work: impl FnOnce() -> T) -> T {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGXCPU] {
            // SAFETY: zeros are a valid `sigaction`, and the handler does only what one may do.
            unsafe {
                let mut action: libc::sigaction = zeroed();
                action.sa_sigaction = stopped as extern "C" fn(libc::c_int) as usize;
                action.sa_flags = libc::SA_ONSTACK;
                assert_eq!(libc::sigaction(signal, &action, null_mut()), 0);
            }
        }
    });
    RUNNING.set((name.as_ptr() as usize, name.len()));
    set_timer(PATIENCE);
    let result = work();
    set_timer(0);
    RUNNING.set((0, 0));
    result
}

/// Lets the thread's timer end in so many seconds; 0: never.
fn set_timer(seconds: i64) {
    let new = || {
        // SAFETY: zeros are a valid `sigevent`; the timer's signal is sent to this thread.
        unsafe {
            let mut event: libc::sigevent = zeroed();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = libc::SIGXCPU;
            event.sigev_notify_thread_id = libc::gettid();
            let mut timer = zeroed();
            assert_eq!(libc::timer_create(libc::CLOCK_THREAD_CPUTIME_ID, &mut event, &mut timer), 0);
            timer
        }
    };
    let zero = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let value = libc::itimerspec { it_interval: zero, it_value: libc::timespec { tv_sec: seconds, ..zero } };
    let timer = TIMER.with(|timer| *timer.get_or_init(new));
    // SAFETY: the timer is this thread's, and tests' threads keep theirs.
    assert_eq!(unsafe { libc::timer_settime(timer, 0, &value, null_mut()) }, 0);
}

extern "C" fn stopped(signal: libc::c_int) {
    let what: &[u8] = match signal {
        libc::SIGFPE => b"SIGFPE (a division) in: ",
        libc::SIGILL => b"SIGILL (an impossible place was reached) in: ",
        libc::SIGXCPU => b"no end of: ",
        _ => b"SIGSEGV (memory of nobody) in: ",
    };
    let (name, length) = RUNNING.get();
    // SAFETY: the name lives as long as it is set; writing and ending are allowed in a handler.
    unsafe {
        libc::write(2, b"\n".as_ptr().cast(), 1);
        libc::write(2, what.as_ptr().cast(), what.len());
        libc::write(2, name as *const libc::c_void, length);
        libc::write(2, b"\n".as_ptr().cast(), 1);
        libc::_exit(101);
    }
}
