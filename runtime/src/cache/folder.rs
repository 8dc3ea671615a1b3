//! A folder of entries, one file each, that any number of processes and machines may share.
//!
//! A new entry is written to a file with a name of its own and then renamed, so a name stands for a whole file or for
//! none. What remains of a crash while the system writes is found by the entry's hash. When the files are together
//! larger than the limit, those go that were not used for the longest time; who reads one at that moment has it open
//! or does without.

use std::fs::{self, DirBuilder, File, Metadata};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use super::key::Key;

/// What the names of files begin with that are still being written.
const UNFINISHED: &str = ".lockstep-new-";
/// How many letters and digits follow in such a name.
const RANDOM: usize = 12;
/// An unfinished file that is older was left behind.
const LEFT_BEHIND: Duration = Duration::from_secs(3600);
/// A file's time is brought up to date when it is older: each use would be a write.
const STALE: Duration = Duration::from_secs(600);

/// A folder of entries.
pub(super) struct Folder {
    path: PathBuf,
    limit: u64,
    /// Bytes written since the files were last counted.
    written: AtomicU64,
}

impl Folder {
    /// The folder, made if it is not there. None if others could write to it, or we cannot.
    pub(super) fn open(path: &Path, limit: u64) -> Option<Folder> {
        // The first entry counts what there is.
        let folder = Folder { path: path.to_owned(), limit, written: AtomicU64::new(limit) };
        folder.make().ok()?;
        let meta = fs::metadata(path).ok()?;
        let ours = meta.is_dir() && meta.uid() == rustix::process::geteuid().as_raw();
        (ours && meta.mode() & 0o022 == 0).then_some(folder)
    }

    /// Entries are code that we run, so the folder is for this user alone.
    fn make(&self) -> io::Result<()> {
        if self.path.is_dir() {
            return Ok(());
        }
        if let Some(parent) = self.path.parent() {
            // An administrator with a user's environment is not to leave folders that the user cannot use.
            let owner = parent.ancestors().find_map(|folder| fs::metadata(folder).ok()).map_or(0, |meta| meta.uid());
            if owner != 0 && owner != rustix::process::geteuid().as_raw() {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        }
        match DirBuilder::new().mode(0o700).create(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }

    fn file(&self, key: &Key) -> PathBuf {
        self.path.join(key.to_string())
    }

    /// The bytes of an entry.
    pub(super) fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let mut file = File::open(self.file(key)).ok()?;
        let meta = file.metadata().ok()?;
        let length = usize::try_from(meta.len()).ok().filter(|_| meta.len() <= self.limit)?;
        let mut bytes = Vec::with_capacity(length);
        file.read_to_end(&mut bytes).ok()?;
        let now = SystemTime::now();
        if age(&meta, now) > STALE {
            // If that cannot be, the entry goes earlier.
            let _ = file.set_modified(now);
        }
        Some(bytes)
    }

    /// Stores an entry, in place of one of the same key. Whether that worked.
    pub(super) fn put(&self, key: &Key, bytes: &[u8]) -> bool {
        let size = on_disk(bytes.len() as u64);
        if size > self.limit / 4 {
            return false;
        }
        let written = self.written.fetch_add(size, Ordering::Relaxed) + size;
        if written > self.limit / 16 {
            self.written.store(0, Ordering::Relaxed);
            self.make_room(size);
        }
        self.write(key, bytes).or_else(|_| self.make().and_then(|()| self.write(key, bytes))).is_ok()
    }

    fn write(&self, key: &Key, bytes: &[u8]) -> io::Result<()> {
        let mut file = tempfile::Builder::new().prefix(UNFINISHED).rand_bytes(RANDOM).tempfile_in(&self.path)?;
        file.write_all(bytes)?;
        file.persist(self.file(key)).map(drop).map_err(|error| error.error)
    }

    /// Removes the entries that were not used for the longest time until there is room for as much.
    fn make_room(&self, wanted: u64) {
        let Ok(entries) = fs::read_dir(&self.path) else { return };
        let now = SystemTime::now();
        let mut files = Vec::new();
        let mut size = wanted;
        for entry in entries.flatten() {
            // Only what we made: the folder may be one that somebody has other things in.
            let name = entry.file_name().to_string_lossy().into_owned();
            let unfinished = is_unfinished(&name);
            if !unfinished && !is_entry(&name) {
                continue;
            }
            let Ok(meta) = entry.metadata() else { continue };
            if !meta.is_file() {
                continue;
            }
            if !unfinished {
                size += on_disk(meta.len());
                files.push((meta.modified().unwrap_or(now), on_disk(meta.len()), entry.path()));
            } else if age(&meta, now) > LEFT_BEHIND {
                let _ = fs::remove_file(entry.path());
            }
        }
        if size <= self.limit {
            return;
        }
        files.sort();
        // Somewhat more than is needed, so that not every entry counts them again.
        let enough = self.limit / 8 * 7;
        for (_, bytes, path) in files {
            if size <= enough {
                break;
            }
            // Another process may have been faster.
            let _ = fs::remove_file(path);
            size -= bytes;
        }
    }
}

/// Whether a file of this name is an entry.
fn is_entry(name: &str) -> bool {
    name.len() == 2 * blake3::OUT_LEN && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether a file of this name is one that is still being written, or was left behind so.
fn is_unfinished(name: &str) -> bool {
    let random = name.strip_prefix(UNFINISHED);
    random.is_some_and(|random| random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// What a file of so many bytes takes.
fn on_disk(bytes: u64) -> u64 {
    bytes.next_multiple_of(4096)
}

/// How long ago a file was changed; none if that is in the future, as clocks differ.
fn age(meta: &Metadata, now: SystemTime) -> Duration {
    meta.modified().ok().and_then(|then| now.duration_since(then).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::key::KeyBuilder;
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn key(number: u32) -> Key {
        KeyBuilder::new("test").bytes(&number.to_le_bytes()).finish()
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn folder_and_files_are_for_this_user_alone() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("not/there/yet");
        let folder = Folder::open(&path, 1 << 20).unwrap();
        assert!(folder.put(&key(1), b"content"));
        assert_eq!((mode(&path), mode(&folder.file(&key(1)))), (0o700, 0o600));
        assert_eq!(folder.get(&key(1)).as_deref(), Some(&b"content"[..]));
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_not_used() {
        let parent = tempfile::tempdir().unwrap();
        fs::set_permissions(parent.path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(Folder::open(parent.path(), 1 << 20).is_none());
        let file = parent.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(Folder::open(&file, 1 << 20).is_none());
        assert!(Folder::open(&file.join("below"), 1 << 20).is_none());
    }

    #[test]
    fn what_was_not_used_for_long_makes_room() {
        let parent = tempfile::tempdir().unwrap();
        let limit = 64 << 10;
        let folder = Folder::open(parent.path(), limit).unwrap();
        let now = SystemTime::now();
        let made = |number: u32, hours: u64| {
            let file = File::options().write(true).open(folder.file(&key(number))).unwrap();
            file.set_modified(now - Duration::from_secs(3600 * hours)).unwrap();
        };
        for number in 0..15 {
            assert!(folder.put(&key(number), &[0; 4000]));
            made(number, 100 - u64::from(number));
        }
        let foreign = ["somebody's", "new-report.txt", ".lockstep-new-", ".lockstep-new-plans.for.me"];
        let foreign = foreign.map(|name| parent.path().join(name));
        let left = tempfile::Builder::new().prefix(UNFINISHED).rand_bytes(RANDOM).tempfile_in(parent.path()).unwrap();
        let left = left.into_temp_path();
        for (path, hours) in foreign.iter().map(|path| (path.as_path(), 1000)).chain([(&*left, 2)]) {
            File::create(path).unwrap().set_modified(now - Duration::from_secs(3600 * hours)).unwrap();
        }
        assert!(folder.get(&key(0)).is_some(), "and its time is now");
        for number in 15..18 {
            assert!(folder.put(&key(number), &[0; 4000]));
        }
        let there = |number| folder.file(&key(number)).exists();
        assert!(there(0) && there(17) && there(16) && !there(1) && !there(2));
        let size: u64 = (0..18).filter(|&number| there(number)).map(|_| 4096).sum();
        assert!(size <= limit, "{size}");
        assert!(foreign.iter().all(|path| path.exists()) && !left.exists());
        assert!(!folder.put(&key(99), &[0; 20 << 10]), "one entry is not to push out the others");
    }
}
