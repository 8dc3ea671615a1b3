//! The end of the process: once the answer is written, or when nobody waits for it any more.

use std::ffi::c_int;

/// The descriptor of the request.
const REQUEST: c_int = libc::STDIN_FILENO;

/// Has the process end when the driver's end of the request's stream is closed: an application that was killed wants no answer. The
/// request must have been read. A stream that is no socket changes nothing.
pub fn end_with_driver() {
    // SAFETY: system calls without pointers. The signal that comes (`SIGIO`) ends the process, as nobody handles it.
    if unsafe { libc::fcntl(REQUEST, libc::F_SETOWN, libc::getpid()) } == 0 {
        watch_stream(true);
    }
    // Who was gone before that sends no signal.
    if is_socket() && is_closed() {
        end_process(1);
    }
}

/// Lets the process live when something happens on the request's stream, as another request.
pub fn outlive_driver() {
    watch_stream(false);
}

fn watch_stream(is_watched: bool) {
    // SAFETY: system calls without pointers.
    unsafe {
        let flags = libc::fcntl(REQUEST, libc::F_GETFL) & !libc::O_ASYNC;
        libc::fcntl(REQUEST, libc::F_SETFL, if is_watched { flags | libc::O_ASYNC } else { flags });
    }
}

fn is_socket() -> bool {
    // SAFETY: zeros are a valid structure, which the call may write.
    unsafe {
        let mut file_status: libc::stat = std::mem::zeroed();
        libc::fstat(REQUEST, &mut file_status) == 0 && file_status.st_mode & libc::S_IFMT == libc::S_IFSOCK
    }
}

/// Whether the other end of the request's stream is closed, and not only done with sending.
fn is_closed() -> bool {
    let mut entry = libc::pollfd { fd: REQUEST, events: 0, revents: 0 };
    // SAFETY: one live entry.
    unsafe { libc::poll(&mut entry, 1, 0) == 1 && entry.revents & libc::POLLHUP != 0 }
}

/// Ends the process without taking LLVM's tables apart, which takes longer than many a job.
pub fn end_process(status: i32) -> ! {
    // SAFETY: nothing is left to be written, and nobody else runs in this process.
    unsafe { libc::_exit(status) }
}
