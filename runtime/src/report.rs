//! Who is told of an error: the context's callback, and standard error where `LOCKSTEP_LOG` asks for it.

use std::cell::Cell;
use std::fmt::Display;
use std::io::Write;

use crate::Error;
use crate::context::Context;
use crate::options::{Log, options};

thread_local! {
    /// Whether this thread is in a callback for errors. What it calls there may fail as well, and would call it again.
    static TELLING: Cell<bool> = const { Cell::new(false) };
}

/// Tells of an error at `origin`: an entry point, or the kind of a command. Locks must have been let go of, as the
/// application's code runs.
pub fn report_error(context: Option<&Context>, origin: impl Display, error: &Error) {
    let callback = context.and_then(Context::error_callback).filter(|_| !TELLING.get());
    let logs = options().log == Log::Error;
    if !logs && callback.is_none() {
        return;
    }
    let text = format!("{origin}: {error}");
    if logs {
        // In one piece, so that lines of several threads stay whole. Who has closed the stream wants no lines.
        let _ = std::io::stderr().write_all(format!("lockstep: {text}\n").as_bytes());
    }
    if let Some(callback) = callback {
        TELLING.set(true);
        callback(&text);
        TELLING.set(false);
    }
}
