//! Files of this user in folders where anybody may put something: `/tmp`, `/dev/shm`.

use std::fs::File;
use std::io::{Error, Result};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, fstat, open};

/// Opens a file that only this user may write to, which is made if it is not there. Nothing else that lies there is followed, waited for
/// or written to. `access` says how it is opened.
///
/// # Errors
/// When the file cannot be opened, or is anything but a regular file of this user under one name.
pub(crate) fn open_own_file(path: &Path, access: OFlags) -> Result<File> {
    let flags = access | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(open(path, flags, Mode::RUSR | Mode::WUSR)?);
    let status = fstat(&file)?;
    let is_file = FileType::from_raw_mode(status.st_mode) == FileType::RegularFile && status.st_nlink == 1;
    let is_own = status.st_uid == rustix::process::geteuid().as_raw() && status.st_mode & 0o022 == 0;
    match is_file && is_own {
        true => Ok(file),
        false => Err(Error::other("it is not a file of this user alone")),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    fn append(path: &Path) -> Result<()> {
        open_own_file(path, OFlags::WRONLY | OFlags::APPEND)?.write_all(b"more")
    }

    #[test]
    fn a_file_is_made_for_this_user() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        append(&path).and_then(|()| append(&path)).expect("it can be written");
        assert_eq!(std::fs::read_to_string(&path).expect("it can be read"), "moremore");
        assert_eq!(std::fs::metadata(&path).expect("it is there").mode() & 0o777, 0o600);
    }

    #[test]
    fn nothing_else_that_lies_there_is_written_to() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("target");
        std::fs::write(&target, "as it was").expect("it can be written");
        let link = folder.path().join("link");
        symlink(&target, &link).expect("a link");
        append(&link).expect_err("it is a link");
        append(folder.path()).expect_err("it is a folder");
        std::fs::set_permissions(&target, PermissionsExt::from_mode(0o666)).expect("permissions");
        append(&target).expect_err("others may write to it");
        std::fs::set_permissions(&target, PermissionsExt::from_mode(0o600)).expect("permissions");
        std::fs::hard_link(&target, folder.path().join("second name")).expect("a second name");
        append(&target).expect_err("it has two names");
        assert_eq!(std::fs::read_to_string(&target).expect("it can be read"), "as it was");
    }
}
