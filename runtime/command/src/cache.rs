//! `lockstep cache`: what was compiled before.

mod archive;

use std::fmt::Display;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use clap::Subcommand;
use lockstep_runtime::cache::transport::EntryStore;
use lockstep_runtime::cache::{CacheEntry, clear_entries, list_entries};
use lockstep_runtime::options::{CachePlace, options};

use archive::{Exported, Imported, read_archive, write_archive};

#[derive(Subcommand)]
pub enum Command {
    /// List the entries, those last that were used last
    List,
    /// Remove them all; applications that run go on
    Clear,
    /// Write them all to a file, to fill the caches of other machines
    ///
    /// The same entries give the same file. An entry is found only by the build of the driver that made it, on a processor of the same
    /// kind: machines that are to profit need both. Others ignore what is not theirs.
    Export {
        /// The file, which is replaced if it is there
        file: PathBuf,
    },
    /// Add the entries of such a file, which applications will run: take none of whom you do not trust
    ///
    /// Nothing is stored unless every entry of the file is sound. Entries that the cache has stay as they are, and none has to go for
    /// another one: what its size (LOCKSTEP_CACHE_MB) leaves no room for is left out. The machine profits if it has the build of the
    /// driver and the kind of processor that the entries were made with.
    Import {
        /// What `export` wrote
        file: PathBuf,
    },
}

/// Runs the command.
pub fn run_command(command: Command) -> ExitCode {
    let CachePlace::Folder(folder) = &options().cache else {
        println!("no folder keeps what was compiled (LOCKSTEP_CACHE)");
        // There is nothing to list or to clear, but what was to be carried is not.
        let is_done = matches!(command, Command::List | Command::Clear);
        return if is_done { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    };
    let outcome = match command {
        Command::List => list(folder).map_err(|error| describe_failure(folder, error)),
        Command::Clear => clear(folder).map_err(|error| describe_failure(folder, error)),
        Command::Export { file } => export(folder, &file),
        Command::Import { file } => import(folder, &file),
    };
    match outcome {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(words) => {
            eprintln!("{words}");
            ExitCode::FAILURE
        }
    }
}

/// What went wrong with a file or folder.
fn describe_failure(path: &Path, reason: impl Display) -> String {
    format!("{}: {reason}", path.display())
}

fn export(folder: &Path, file: &Path) -> Result<String, String> {
    let folder_failed = |error: io::Error| describe_failure(folder, error);
    let file_failed = |error: io::Error| describe_failure(file, error);
    let store = EntryStore::open_folder(folder, options().cache_bytes).map_err(folder_failed)?;
    let names = list_entries(folder).map_err(folder_failed)?.into_iter().map(|entry| entry.name).collect();
    let output = File::create(file).map_err(file_failed)?;
    let Exported { entries, bytes, damaged } = write_archive(&store, names, output).map_err(file_failed)?;
    let left_out = if damaged > 0 { format!("; {damaged} left out, as they are damaged") } else { String::new() };
    Ok(format!("{}: {}{left_out}\n", file.display(), describe_amount(entries, bytes)))
}

fn import(folder: &Path, file: &Path) -> Result<String, String> {
    let mut store =
        EntryStore::open_folder(folder, options().cache_bytes).map_err(|error| describe_failure(folder, error))?;
    let input = File::open(file).map_err(|error| describe_failure(file, error))?;
    let imported = read_archive(input, &mut store).map_err(|words| describe_failure(file, words))?;
    Ok(format!("{}: {}\n", folder.display(), describe_import(imported)))
}

/// How many entries came, and why others did not.
fn describe_import(Imported { stored, known, without_room }: Imported) -> String {
    let mut words = format!("{stored} added, {known} there before");
    if without_room > 0 {
        let limit = options().cache_bytes >> 20;
        words.push_str(&format!(", {without_room} left out for want of room in {limit} MiB (LOCKSTEP_CACHE_MB)"));
    }
    words
}

fn list(folder: &Path) -> io::Result<String> {
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

fn clear(folder: &Path) -> io::Result<String> {
    let removed = clear_entries(folder)?;
    Ok(format!("{}: {} removed\n", folder.display(), describe_total(&removed)))
}

/// How many there are, and how large.
pub fn describe_total(entries: &[CacheEntry]) -> String {
    describe_amount(entries.len(), entries.iter().map(|entry| entry.bytes).sum())
}

/// So many entries of so many bytes together.
fn describe_amount(entries: usize, bytes: u64) -> String {
    let plural = if entries == 1 { "y" } else { "ies" };
    format!("{entries} entr{plural}, {:.1} MiB", bytes as f64 / f64::from(1 << 20))
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
