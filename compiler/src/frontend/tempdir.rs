//! A private directory for the headers that `clCompileProgram` embeds, gone when its owner is.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// A directory only this user can enter.
#[derive(Debug)]
pub(crate) struct TempDir {
    path: PathBuf,
}

impl TempDir {
    /// Makes a directory with a fresh name below `parent`.
    pub(crate) fn create(parent: &Path) -> io::Result<Self> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let process = std::process::id();
        for _ in 0..64 {
            let attempt_count = COUNTER.fetch_add(1, Ordering::Relaxed);
            let nanoseconds =
                SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |duration| duration.subsec_nanos());
            let path = parent.join(format!("lockstep-{process}-{attempt_count}-{nanoseconds:08x}"));
            // `mkdir` fails on a name that exists, so nobody can have prepared the directory for us.
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::new(io::ErrorKind::AlreadyExists, "no free name for a temporary directory"))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file below the directory, with the folders its name has. The first file of a name stays.
    pub(crate) fn write(&self, name: &Path, contents: &[u8]) -> io::Result<()> {
        let path = self.path.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        match fs::OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => io::Write::write_all(&mut file, contents),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_file() => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        // What cannot be removed stays for the system's own cleaning; there is nobody to tell.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// `name` as a path that stays below the directory it is joined to, or nothing.
pub(crate) fn safe_relative(name: &str) -> Option<PathBuf> {
    if name.contains('\0') {
        return None;
    }
    let mut safe_path = PathBuf::new();
    for component in Path::new(name).components() {
        match component {
            Component::Normal(part) => safe_path.push(part),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    if safe_path.as_os_str().is_empty() || name.ends_with('/') { None } else { Some(safe_path) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_escape_are_refused() {
        for name in ["", ".", "/etc/passwd", "../a.h", "inc/../../a.h", "a/..", "a\0b", "dir/"] {
            assert_eq!(safe_relative(name), None, "{name:?}");
        }
        assert_eq!(safe_relative("./inc//a.h"), Some(PathBuf::from("inc/a.h")));
    }

    #[test]
    fn directory_is_private_and_goes_away() {
        use std::os::unix::fs::PermissionsExt;
        let directory = TempDir::create(Path::new("/tmp")).unwrap();
        let path = directory.path().to_owned();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        directory.write(Path::new("inc/a.h"), b"one").unwrap();
        directory.write(Path::new("inc/a.h"), b"two").unwrap();
        assert_eq!(fs::read(path.join("inc/a.h")).unwrap(), b"one");
        assert!(directory.write(Path::new("inc"), b"a folder has the name").is_err());
        drop(directory);
        assert!(!path.exists());
    }
}
