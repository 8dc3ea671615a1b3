//! Who is told of an error: the context's callback, and the log.

use std::cell::Cell;
use std::fmt::Display;

use crate::Error;
use crate::context::Context;
use crate::log::start_log;

thread_local! {
    /// Whether this thread is in a callback for errors. What it calls there may fail as well, and would call it again.
    static TELLING: Cell<bool> = const { Cell::new(false) };
}

/// Tells of an error at `origin`: an entry point, or the kind of a command. Locks must have been let go of, as the
/// application's code runs.
pub fn report_error(context: Option<&Context>, origin: impl Display, error: &Error) {
    // A call may fail before anything asks for the platform.
    start_log();
    tracing::error!(target: "call", "{origin}: {error}");
    if let Some(callback) = context.and_then(Context::error_callback).filter(|_| !TELLING.get()) {
        TELLING.set(true);
        callback(&format!("{origin}: {error}"));
        TELLING.set(false);
    }
}
