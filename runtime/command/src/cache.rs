//! `lockstep cache`: what was compiled before.

use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;

use clap::Subcommand;
use lockstep_runtime::cache::{CacheEntry, clear_entries, list_entries};
use lockstep_runtime::options::{CachePlace, options};

#[derive(Subcommand)]
pub enum Command {
    /// List the entries, those last that were used last
    List,
    /// Remove them all; applications that run go on
    Clear,
}

/// Runs the command.
pub fn run_command(command: Command) -> ExitCode {
    let CachePlace::Folder(folder) = &options().cache else {
        println!("no folder keeps what was compiled (LOCKSTEP_CACHE)");
        return ExitCode::SUCCESS;
    };
    let outcome = match command {
        Command::List => list(folder),
        Command::Clear => clear(folder),
    };
    match outcome {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{}: {error}", folder.display());
            ExitCode::FAILURE
        }
    }
}

fn list(folder: &Path) -> std::io::Result<String> {
    let mut entries = list_entries(folder)?;
    entries.sort_by_key(|entry| entry.used);
    let now = SystemTime::now();
    let line = |entry: &CacheEntry| {
        let age = now.duration_since(entry.used).unwrap_or_default();
        format!("{}  {:>9} bytes  used {} ago\n", entry.name, entry.bytes, describe_age(age.as_secs()))
    };
    let lines: String = entries.iter().map(line).collect();
    Ok(format!("{lines}{}: {}\n", folder.display(), describe_total(&entries)))
}

fn clear(folder: &Path) -> std::io::Result<String> {
    let removed = clear_entries(folder)?;
    Ok(format!("{}: {} removed\n", folder.display(), describe_total(&removed)))
}

/// How many there are, and how large.
pub fn describe_total(entries: &[CacheEntry]) -> String {
    let bytes: u64 = entries.iter().map(|entry| entry.bytes).sum();
    let plural = if entries.len() == 1 { "y" } else { "ies" };
    format!("{} entr{plural}, {:.1} MiB", entries.len(), bytes as f64 / f64::from(1 << 20))
}

/// A time in the largest unit that it has one of.
fn describe_age(seconds: u64) -> String {
    let units = [(86_400, "day"), (3_600, "hour"), (60, "minute")];
    let (count, unit) = units
        .into_iter()
        .find(|&(length, _)| seconds >= length)
        .map_or((seconds, "second"), |(length, unit)| (seconds / length, unit));
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_the_largest_unit() {
        let expected = ["0 seconds", "59 seconds", "1 minute", "59 minutes", "1 hour", "23 hours", "2 days"];
        assert_eq!([0, 59, 60, 3_599, 3_600, 86_399, 180_000].map(describe_age), expected);
    }

    #[test]
    fn what_was_listed_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let name = "0123456789abcdef".repeat(4);
        std::fs::write(folder.path().join(&name), "code").unwrap();
        std::fs::write(folder.path().join("of somebody else"), "text").unwrap();
        let text = list(folder.path()).unwrap();
        assert!(text.starts_with(&format!("{name}          4 bytes  used 0 seconds ago\n")), "{text}");
        assert!(text.ends_with(": 1 entry, 0.0 MiB\n"), "{text}");
        assert!(clear(folder.path()).unwrap().ends_with(": 1 entry, 0.0 MiB removed\n"));
        assert!(list(folder.path()).unwrap().ends_with(": 0 entries, 0.0 MiB\n"));
        assert!(folder.path().join("of somebody else").exists());
    }

    #[test]
    fn a_folder_that_is_not_there_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        assert!(list(&folder.path().join("none")).unwrap().ends_with(": 0 entries, 0.0 MiB\n"));
    }
}
