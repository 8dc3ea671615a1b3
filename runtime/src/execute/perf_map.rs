//! The file in which Linux's profiler looks for the names of code that no file holds: `/tmp/perf-PID.map`.
//!
//! A line is an address and a length in hexadecimal digits and a name. Lines are only added, so that what was recorded while code
//! was in memory has its name when it is gone; other makers of code in the process write to the same file.
//!
//! Source: Linux, `tools/perf/Documentation/jit-interface.txt`.

use std::io::{Result, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Once;

use rustix::fs::OFlags;
use tracing::warn;

use crate::own_file::open_own_file;

/// Adds a line for code at these addresses. That there can be none is logged once.
pub(super) fn add_code(name: &str, addresses: &Range<usize>) {
    let map_path = map_path();
    if let Err(error) = append_line(&map_path, &map_line(name, addresses)) {
        static TOLD: Once = Once::new();
        TOLD.call_once(|| warn!(target: "perf", "{} is not written: {error}", map_path.display()));
    }
}

/// The file of this process.
fn map_path() -> PathBuf {
    PathBuf::from(format!("/tmp/perf-{}.map", std::process::id()))
}

fn map_line(name: &str, addresses: &Range<usize>) -> String {
    format!("{:x} {:x} {name}\n", addresses.start, addresses.len())
}

/// Adds a line to a file of this user alone, which is made if it is not there.
///
/// # Errors
/// When the file cannot be opened or written, or is not the user's own.
fn append_line(map_path: &Path, line: &str) -> Result<()> {
    open_own_file(map_path, OFlags::WRONLY | OFlags::APPEND)?.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_added_to_a_file_of_the_user() {
        let folder = tempfile::tempdir().expect("a folder");
        let map_path = folder.path().join("perf-1.map");
        for (name, addresses) in [("saxpy [16 lanes]", 0x1000..0x1040), ("f", 0x7f00_0000_0000..0x7f00_0000_1000)] {
            append_line(&map_path, &map_line(name, &addresses)).expect("it can be written");
        }
        let text = std::fs::read_to_string(&map_path).expect("it can be read");
        assert_eq!(text, "1000 40 saxpy [16 lanes]\n7f0000000000 1000 f\n");
    }
}
