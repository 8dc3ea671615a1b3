//! The file in which Linux's profiler looks for the names of code that no file holds: `/tmp/perf-PID.map`.
//!
//! A line is an address and a length in hexadecimal digits and a name. Lines are only added, so that what was recorded while code
//! was in memory has its name when it is gone; other makers of code in the process write to the same file.
//!
//! Source: Linux, `tools/perf/Documentation/jit-interface.txt`.

use std::fs::File;
use std::io::{Error, Result, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Once;

use rustix::fs::{FileType, Mode, OFlags};

/// Adds a line for code at these addresses. That there can be none is said once on standard error.
pub(super) fn add_code(name: &str, addresses: &Range<usize>) {
    let map_path = map_path();
    if let Err(error) = append_line(&map_path, &map_line(name, addresses)) {
        static TOLD: Once = Once::new();
        TOLD.call_once(|| eprintln!("lockstep: {} is not written: {error}", map_path.display()));
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
    // Anybody may put something in the way in such a folder: nothing there is followed, waited for or written to.
    let flags =
        OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let descriptor = rustix::fs::open(map_path, flags, Mode::RUSR | Mode::WUSR)?;
    let status = rustix::fs::fstat(&descriptor)?;
    let is_file = FileType::from_raw_mode(status.st_mode) == FileType::RegularFile && status.st_nlink == 1;
    if !is_file || status.st_uid != rustix::process::geteuid().as_raw() {
        return Err(Error::other("it is not a file of this user alone"));
    }
    File::from(descriptor).write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, symlink};

    #[test]
    fn lines_are_added_to_a_file_of_the_user() {
        let folder = tempfile::tempdir().expect("a folder");
        let map_path = folder.path().join("perf-1.map");
        for (name, addresses) in [("saxpy [16 lanes]", 0x1000..0x1040), ("f", 0x7f00_0000_0000..0x7f00_0000_1000)] {
            append_line(&map_path, &map_line(name, &addresses)).expect("it can be written");
        }
        let text = std::fs::read_to_string(&map_path).expect("it can be read");
        assert_eq!(text, "1000 40 saxpy [16 lanes]\n7f0000000000 1000 f\n");
        assert_eq!(std::fs::metadata(&map_path).expect("it is there").mode() & 0o777, 0o600);
    }

    #[test]
    fn nothing_that_lies_in_the_way_is_written_to() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("target");
        std::fs::write(&target, "as it was").expect("it can be written");
        let link = folder.path().join("link");
        symlink(&target, &link).expect("a link");
        append_line(&link, "line\n").expect_err("it is a link");
        let second_name = folder.path().join("second-name");
        std::fs::hard_link(&target, &second_name).expect("a second name");
        append_line(&second_name, "line\n").expect_err("the file has two names");
        append_line(folder.path(), "line\n").expect_err("it is a folder");
        assert_eq!(std::fs::read_to_string(&target).expect("it can be read"), "as it was");
    }
}
