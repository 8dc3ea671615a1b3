//! What is being called, said when it crashes or does not come back.

use std::io::Write;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

static SEED: AtomicU64 = AtomicU64::new(0);
static CALL: AtomicU64 = AtomicU64::new(0);
static NAME: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());
static LENGTH: AtomicUsize = AtomicUsize::new(0);

/// No call takes as long as this.
const LIMIT: Duration = Duration::from_secs(300);

/// Says which call comes next.
pub fn now(seed: u64, call: u64, name: &'static str) {
    SEED.store(seed, Ordering::Relaxed);
    CALL.store(call, Ordering::Relaxed);
    LENGTH.store(0, Ordering::Relaxed);
    NAME.store(name.as_ptr().cast_mut(), Ordering::Relaxed);
    LENGTH.store(name.len(), Ordering::Release);
}

fn say(what: &str) {
    let length = LENGTH.load(Ordering::Acquire);
    let name = NAME.load(Ordering::Relaxed);
    let name: &[u8] = if length == 0 {
        b"nothing"
    } else {
        // SAFETY: the text of a name, which is static, and its length.
        unsafe { std::slice::from_raw_parts(name, length) }
    };
    let mut text = [0_u8; 256];
    let mut rest = &mut text[..];
    let (seed, call) = (SEED.load(Ordering::Relaxed), CALL.load(Ordering::Relaxed));
    // Too long a text is cut off.
    let _ = writeln!(rest, "\n{what} in call {call} of seed {seed}: {}", std::str::from_utf8(name).unwrap_or("?"));
    let left = rest.len();
    // SAFETY: the bytes are the array's. `write` may be called in a signal handler.
    unsafe { libc::write(2, text.as_ptr().cast(), text.len() - left) };
}

static BEFORE: [AtomicPtr<libc::sigaction>; 32] = [const { AtomicPtr::new(ptr::null_mut()) }; 32];

extern "C" fn crashed(signal: libc::c_int) {
    say("a crash");
    let before = BEFORE[signal as usize].load(Ordering::Relaxed);
    // SAFETY: what was there before is put back, for the instruction that crashed to crash again.
    unsafe { libc::sigaction(signal, before, ptr::null_mut()) };
    if signal == libc::SIGABRT {
        // SAFETY: it ends the process.
        unsafe { libc::raise(signal) };
    }
}

/// Says which call it was when the process crashes, from now on, or when a call does not return.
pub fn crashes() {
    for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT] {
        // SAFETY: zeros are a valid `sigaction`; the handler only does what a handler may do.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = crashed as *const () as usize;
            action.sa_flags = libc::SA_ONSTACK;
            let before = Box::into_raw(Box::new(std::mem::zeroed()));
            BEFORE[signal as usize].store(before, Ordering::Relaxed);
            libc::sigaction(signal, &action, before);
        }
    }
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        say("a failure");
        before(panic);
    }));
    std::thread::spawn(|| {
        let place = || (SEED.load(Ordering::Relaxed), CALL.load(Ordering::Relaxed));
        loop {
            let before = place();
            std::thread::sleep(LIMIT);
            if before == place() {
                say("no return");
                std::process::abort();
            }
        }
    });
}

/// Bytes of memory that the process has.
pub fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    pages.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}
