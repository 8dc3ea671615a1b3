//! What happens where LLVM finds that it cannot go on, an instruction that it cannot select, for one, or crashes.

use std::ffi::{CStr, c_char};

use llvm_sys::error_handling::{LLVMEnablePrettyStackTrace, LLVMInstallFatalErrorHandler};

/// The status of a process that LLVM gave up in, as sysexits.h has it for mistakes within a program.
const INTERNAL_ERROR: i32 = 70;

/// Has the process end with LLVM's last words on standard error when it gives up. When it crashes, or takes too long and is told
/// so (`SIGXCPU`), what clang and LLVM are at is written there, the source's line or a pass and its function in the last line.
pub fn end_process_on_fatal_errors() {
    // SAFETY: the handler is a function that does not unwind; the other call installs handlers of LLVM's own.
    unsafe {
        LLVMInstallFatalErrorHandler(Some(tell_last_words));
        LLVMEnablePrettyStackTrace();
    }
}

extern "C" fn tell_last_words(message: *const c_char) {
    // SAFETY: LLVM hands in a terminated text, or none.
    let words = if message.is_null() { c"" } else { unsafe { CStr::from_ptr(message) } };
    eprintln!("internal error of LLVM: {}", words.to_string_lossy());
    std::process::exit(INTERNAL_ERROR);
}
