//! What the driver says of its work, as `LOCKSTEP_LOG` asks for it.
//!
//! Who has something to say makes an event of `tracing`, with a level, a message and the subject as its target: `driver`, `build`,
//! `job`, `cache`, `variant`, `launch`, `report` or `perf`. An event becomes a line ([`line`]), which is written at once and in one
//! piece. No lock is held meanwhile, so a forked child may log whatever the parent's threads were doing. Without the switch
//! nobody listens to events, and each costs the look at one number.

mod line;

use std::fmt;
use std::fs::File;
use std::io::{Result, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Once;
use std::time::SystemTime;

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber, warn};

use crate::options::{Log, options};
use crate::standard_error::write_to_standard_error;

/// Has events logged from now on, if the environment asks for it.
pub fn start_log() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        let Log { level, file } = &options().log;
        if *level == LevelFilter::OFF {
            return;
        }
        if let Some(file) = file
            && let Err(error) = append_line(file, "")
        {
            let name = file.display();
            write_to_standard_error(&format!(
                "lockstep: {name} of LOCKSTEP_LOG cannot be written: {error}; the log goes to standard error\n"
            ));
        }
        // The driver is linked with its own copy of `tracing` and exports nothing of it. So this is the default of the driver alone,
        // whatever the application and other drivers have set for theirs.
        let _ = tracing::subscriber::set_global_default(LineWriter { level: *level, file: file.as_deref() });
    });
}

/// Says what a user has to know, asked or not: on standard error, and in the log where that has a file.
pub fn tell_user(words: &str) {
    write_to_standard_error(&format!("lockstep: {words}\n"));
    if options().log.file.is_some() {
        warn!(target: "driver", "{words}");
    }
}

/// Writes a line for each event.
struct LineWriter {
    /// The least important events that are written.
    level: LevelFilter,
    /// Where lines go instead of standard error.
    file: Option<&'static Path>,
}

impl LineWriter {
    fn write_line(&self, line: &str) {
        let is_in_file = self.file.is_some_and(|file| {
            append_line(file, &line::stamp_line(line, SystemTime::now(), std::process::id())).is_ok()
        });
        if !is_in_file {
            write_to_standard_error(line);
        }
    }
}

impl Subscriber for LineWriter {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        !metadata.is_span() && *metadata.level() <= self.level
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level)
    }

    fn event(&self, event: &Event<'_>) {
        let mut message = Message::default();
        event.record(&mut message);
        self.write_line(&line::format_line(*event.metadata().level(), event.metadata().target(), &message.text));
    }

    // The driver has no spans.
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The message of an event, the only field that the driver's events have.
#[derive(Default)]
struct Message {
    text: String,
}

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.text = format!("{value:?}");
        }
    }
}

/// Adds a line to a file, which is made if it is not there. The file is opened for each line: an application may close descriptors
/// that it does not know, and its next file would have the number.
///
/// # Errors
/// When the file cannot be opened or written, or is a pipe that nobody reads.
fn append_line(file: &Path, line: &str) -> Result<()> {
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    File::options().append(true).create(true).custom_flags(flags).open(file)?.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_added_to_a_file_from_the_level_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let path: &'static Path = Box::leak(folder.path().join("log").into_boxed_path());
        let writer = LineWriter { level: LevelFilter::INFO, file: Some(path) };
        append_line(path, "before\n").expect("it can be written");
        tracing::subscriber::with_default(writer, || {
            warn!(target: "cache", "folder {} is not used", "/c");
            tracing::error!(target: "call", "clFinish: no queue");
            tracing::info!(target: "build", "two\nlines");
            tracing::debug!(target: "launch", "kernel f");
        });
        let text = std::fs::read_to_string(path).expect("it can be read");
        let lines: Vec<&str> =
            text.lines().map(|line| line.split_once("lockstep: ").map_or(line, |(_, rest)| rest)).collect();
        let wanted = ["before", "warn: cache: folder /c is not used", "clFinish: no queue", "info: build: two lines"];
        assert_eq!(lines, wanted);
    }

    #[test]
    fn a_pipe_without_a_reader_is_not_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pipe");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, mode).expect("a pipe");
        append_line(&path, "line\n").expect_err("nobody reads it");
    }
}
