//! The lines of the log.

use std::time::SystemTime;

use tracing::Level;

/// The line of an event. Errors have the form that they have without other events: their message begins with what failed.
pub(super) fn format_line(level: Level, subject: &str, message: &str) -> String {
    let beginning = match level {
        Level::ERROR => String::new(),
        _ => format!("{}: {subject}: ", level.as_str().to_ascii_lowercase()),
    };
    // Build options and names may hold anything, and an event is one line.
    format!("lockstep: {beginning}{}\n", message.replace(char::is_control, " "))
}

/// A line with its time (UTC, RFC 3339) and process before it, which tell apart what several processes write to one file.
pub(super) fn stamp_line(line: &str, time: SystemTime, process: u32) -> String {
    format!("{} {process} {line}", humantime::format_rfc3339_micros(time))
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn an_event_is_one_line() {
        assert_eq!(format_line(Level::ERROR, "call", "clFinish: no queue"), "lockstep: clFinish: no queue\n");
        let line = format_line(Level::DEBUG, "job", "a\nb");
        assert_eq!(line, "lockstep: debug: job: a b\n");
        assert_eq!(stamp_line(&line, UNIX_EPOCH, 7), "1970-01-01T00:00:00.000000Z 7 lockstep: debug: job: a b\n");
    }
}
