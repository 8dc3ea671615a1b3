//! The lines of the log.

use std::time::{SystemTime, UNIX_EPOCH};

use tracing::Level;

const SECONDS_PER_DAY: u64 = 86_400;

/// The line of an event. Errors have the form that they have without other events: their message begins with what failed.
pub(super) fn format_line(level: Level, subject: &str, message: &str) -> String {
    let beginning = match level {
        Level::ERROR => String::new(),
        _ => format!("{}: {subject}: ", level.as_str().to_ascii_lowercase()),
    };
    // Build options and names may hold anything, and an event is one line.
    format!("lockstep: {beginning}{}\n", message.replace(char::is_control, " "))
}

/// A line with time and process before it, which tell apart what several processes write to one file.
pub(super) fn stamp_line(line: &str, time: SystemTime, process: u32) -> String {
    format!("{} {process} {line}", format_utc(time))
}

/// A time in UTC to the microsecond, by RFC 3339.
fn format_utc(time: SystemTime) -> String {
    let since_epoch = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, second) = (since_epoch.as_secs() / SECONDS_PER_DAY, since_epoch.as_secs() % SECONDS_PER_DAY);
    let (year, month, day) = civil_date(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let microsecond = since_epoch.subsec_micros();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{microsecond:06}Z")
}

/// Year, month and day, so many days after 1970-01-01.
///
/// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`. The C library's function takes a lock.
fn civil_date(days: u64) -> (u64, u64, u64) {
    // Years begin in March here, so that a leap day is the last one of its year. An era is 400 years.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        let format_at = |seconds, microseconds| {
            format_utc(UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_micros(microseconds))
        };
        assert_eq!(format_at(0, 0), "1970-01-01T00:00:00.000000Z");
        assert_eq!(format_at(951_827_696, 7), "2000-02-29T12:34:56.000007Z");
        assert_eq!(format_at(1_735_689_599, 999_999), "2024-12-31T23:59:59.999999Z");
        assert_eq!(format_at(4_107_542_400, 0), "2100-03-01T00:00:00.000000Z");
    }

    fn days_of_month(year: u64, month: u64) -> u64 {
        let is_leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
        match month {
            2 => 28 + u64::from(is_leap),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }

    #[test]
    fn days_follow_each_other_for_four_centuries() {
        let months = (1970..2370).flat_map(|year| (1..=12).map(move |month| (year, month)));
        let dates =
            months.flat_map(|(year, month)| (1..=days_of_month(year, month)).map(move |day| (year, month, day)));
        for (days, date) in (0..).zip(dates) {
            assert_eq!(civil_date(days), date);
        }
    }

    #[test]
    fn an_event_is_one_line() {
        assert_eq!(format_line(Level::ERROR, "call", "clFinish: no queue"), "lockstep: clFinish: no queue\n");
        let line = format_line(Level::DEBUG, "job", "a\nb");
        assert_eq!(line, "lockstep: debug: job: a b\n");
        assert_eq!(stamp_line(&line, UNIX_EPOCH, 7), "1970-01-01T00:00:00.000000Z 7 lockstep: debug: job: a b\n");
    }
}
