//! A folder of entries, one file each, that any number of processes and machines may share.
//!
//! A new entry is written to a file with a name of its own and then renamed, so a name stands for a whole file or for
//! none. What remains of a crash while the system writes is found by the entry's hash. When the files are together
//! larger than the limit, those go that were not used for the longest time; who reads one at that moment has it open
//! or does without.
//!
//! Entries are code that this process runs, so they are trusted only as far as nobody else can have written them. Each
//! use opens the folder, looks at what was opened, and reaches the files through that descriptor, never through a path
//! again: the folder must belong to this user and be writable by nobody else, and so must a file, which must be a plain
//! one of no more than the limit. Anything else is as if it were not there: a link is not followed, a FIFO not waited
//! for. A new entry takes its place, unless it is a folder. The descriptor of the folder is not kept from use to use,
//! because an application may close descriptors that it does not know, and its next file would have the number.

use std::collections::hash_map::RandomState;
use std::fs::{self, DirBuilder, File};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use tracing::{debug, warn};

use super::CacheEntry;
use super::key::Key;

/// What the names of files begin with that are still being written.
const UNFINISHED: &str = ".lockstep-new-";
/// How many letters and digits follow in such a name.
const RANDOM: usize = 12;
/// An unfinished file that is older was left behind.
const LEFT_BEHIND: Duration = Duration::from_secs(3600);
/// A file's time is brought up to date when it is older: each use would be a write.
const STALE: Duration = Duration::from_secs(600);
/// Files take whole blocks of so many bytes.
const BLOCK: u64 = 4096;
/// How often a name for a new file is made up before the folder is given up.
const ATTEMPTS: usize = 16;

/// Bytes of an entry for a small program.
const SMALL_ENTRY: usize = 64 << 10;

/// A folder of entries.
pub(super) struct Folder {
    path: PathBuf,
    limit: u64,
    /// Bytes written since the files were last counted.
    written: AtomicU64,
}

/// A file that may be removed to make room.
struct Removable {
    used: SystemTime,
    size: u64,
    name: std::ffi::CString,
}

impl Folder {
    /// The folder, made if it is not there.
    ///
    /// # Errors
    /// When others could write to it, or we cannot.
    pub(super) fn open(path: &Path, byte_limit: u64) -> io::Result<Folder> {
        // The first entry counts what there is.
        let folder = Folder { path: path.to_owned(), limit: byte_limit, written: AtomicU64::new(byte_limit) };
        folder.create_folder()?;
        folder.open_checked()?;
        Ok(folder)
    }

    /// Entries are code that we run, so the folder is for this user alone.
    fn create_folder(&self) -> io::Result<()> {
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

    /// The folder as it is now, if it is this user's and nobody else can write to it.
    fn open_checked(&self) -> io::Result<OwnedFd> {
        let open_flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(&self.path, open_flags, Mode::empty())?;
        let file_status = rustix::fs::fstat(&folder)?;
        if is_ours_alone(&file_status) { Ok(folder) } else { Err(io::ErrorKind::PermissionDenied.into()) }
    }

    /// The bytes of an entry, which counts as used now.
    pub(super) fn read_entry(&self, cache_key: &Key) -> Option<Vec<u8>> {
        let (file, file_status) = self.open_entry(cache_key)?;
        let bytes = read_whole(&file, &file_status)?;
        let current_time = SystemTime::now();
        if file_age(&file_status, current_time) > STALE {
            // If that cannot be, the entry goes earlier.
            let _ = file.set_modified(current_time);
        }
        Some(bytes)
    }

    /// The bytes of an entry, which does not count as used.
    pub(super) fn peek_entry(&self, cache_key: &Key) -> Option<Vec<u8>> {
        let (file, file_status) = self.open_entry(cache_key)?;
        read_whole(&file, &file_status)
    }

    /// The file of an entry, if it is a plain one of this user's and not larger than the limit.
    fn open_entry(&self, cache_key: &Key) -> Option<(File, Stat)> {
        let folder = self.open_checked().ok()?;
        let open_flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&folder, cache_key.to_string(), open_flags, Mode::empty()).ok()?;
        let file_status = rustix::fs::fstat(&file).ok()?;
        if !is_plain_file(&file_status) || !is_ours_alone(&file_status) || size_of(&file_status) > self.limit {
            return None;
        }
        Some((File::from(file), file_status))
    }

    /// Stores an entry, in place of one of the same key. Whether that worked.
    pub(super) fn store_entry(&self, cache_key: &Key, bytes: &[u8]) -> bool {
        if bytes.len() as u64 > self.largest_entry() {
            return false;
        }
        let byte_size = on_disk(bytes.len() as u64);
        let written = self.written.fetch_add(byte_size, Ordering::Relaxed) + byte_size;
        if written > self.limit / 16 {
            self.written.store(0, Ordering::Relaxed);
            // Files that cannot be counted stay.
            let _ = self.make_room(byte_size);
        }
        self.write_entry(cache_key, bytes)
            .or_else(|_| self.create_folder().and_then(|()| self.write_entry(cache_key, bytes)))
            .inspect_err(
                |error| warn!(target: "cache", "{cache_key} cannot be written to {}: {error}", self.path.display()),
            )
            .is_ok()
    }

    /// Bytes of the largest entry that is kept: a part of the limit.
    pub(super) fn largest_entry(&self) -> u64 {
        self.limit / 4 / BLOCK * BLOCK
    }

    fn write_entry(&self, cache_key: &Key, bytes: &[u8]) -> io::Result<()> {
        let folder = self.open_checked()?;
        let (mut file, name) = create_unfinished(&folder)?;
        let written = file.write_all(bytes);
        let placed = written.and_then(|()| Ok(rustix::fs::renameat(&folder, &name, &folder, cache_key.to_string())?));
        if placed.is_err() {
            // What cannot be removed either goes when room is made.
            let _ = rustix::fs::unlinkat(&folder, &name, AtFlags::empty());
        }
        placed
    }

    /// Removes the entries that were not used for the longest time until there is room for as much.
    fn make_room(&self, wanted: u64) -> io::Result<()> {
        let folder = self.open_checked()?;
        let current_time = SystemTime::now();
        let mut files = Vec::new();
        let mut byte_size = wanted;
        for entry in Dir::read_from(&folder)?.flatten() {
            // Only what we made: the folder may be one that somebody has other things in.
            let name = entry.file_name();
            let text = name.to_string_lossy();
            let unfinished = is_unfinished(&text);
            if !unfinished && !is_entry(&text) {
                continue;
            }
            let Ok(file_status) = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            if !is_plain_file(&file_status) {
                continue;
            }
            if !unfinished {
                byte_size += on_disk(size_of(&file_status));
                files.push(Removable {
                    used: modification_time(&file_status),
                    size: on_disk(size_of(&file_status)),
                    name: name.to_owned(),
                });
            } else if file_age(&file_status, current_time) > LEFT_BEHIND {
                let _ = rustix::fs::unlinkat(&folder, name, AtFlags::empty());
            }
        }
        if byte_size <= self.limit {
            return Ok(());
        }
        files.sort_by_key(|file| file.used);
        // Somewhat more than is needed, so that not every entry counts them again.
        let enough = self.limit / 8 * 7;
        for file in files {
            if byte_size <= enough {
                break;
            }
            // Another process may have been faster.
            if rustix::fs::unlinkat(&folder, &*file.name, AtFlags::empty()).is_ok() {
                debug!(target: "cache", "{} is removed to make room, {} bytes", file.name.to_string_lossy(), file.size);
            }
            byte_size -= file.size;
        }
        Ok(())
    }
}

/// Does what storing an entry does, with a file that goes at once.
///
/// # Errors
/// When the folder cannot be made, is not this user's alone, or has no room.
pub(super) fn try_writing(path: &Path) -> io::Result<()> {
    let folder = Folder { path: path.to_owned(), limit: 0, written: AtomicU64::new(0) };
    folder.create_folder()?;
    let opened = folder.open_checked()?;
    let (mut file, name) = create_unfinished(&opened)?;
    let written = file.write_all(&[0; SMALL_ENTRY]);
    rustix::fs::unlinkat(&opened, &name, AtFlags::empty())?;
    written
}

/// The entries of a folder that is there.
///
/// # Errors
/// When it is not this user's alone, or cannot be read.
pub(super) fn list_entries(path: &Path) -> io::Result<Vec<CacheEntry>> {
    let folder = Folder { path: path.to_owned(), limit: 0, written: AtomicU64::new(0) }.open_checked()?;
    Ok(entries_in(&folder)?.collect())
}

/// Removes the entries of a folder that is there, and tells which they were.
///
/// # Errors
/// When the folder is not this user's alone, or cannot be read.
pub(super) fn remove_entries(path: &Path) -> io::Result<Vec<CacheEntry>> {
    let folder = Folder { path: path.to_owned(), limit: 0, written: AtomicU64::new(0) }.open_checked()?;
    let is_removed = |entry: &CacheEntry| rustix::fs::unlinkat(&folder, entry.name.as_str(), AtFlags::empty()).is_ok();
    Ok(entries_in(&folder)?.filter(is_removed).collect())
}

/// The files of a folder that are entries.
fn entries_in(folder: &OwnedFd) -> io::Result<impl Iterator<Item = CacheEntry>> {
    let read_entry = move |entry: rustix::fs::DirEntry| {
        let name = entry.file_name().to_str().ok().filter(|name| is_entry(name))?.to_owned();
        let file_status = rustix::fs::statat(folder, name.as_str(), AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let cache_entry = CacheEntry { name, bytes: size_of(&file_status), used: modification_time(&file_status) };
        is_plain_file(&file_status).then_some(cache_entry)
    };
    Ok(Dir::read_from(folder)?.flatten().filter_map(read_entry))
}

/// The bytes of a file, as many as its status says.
fn read_whole(file: &File, file_status: &Stat) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(size_of(file_status) as usize);
    file.take(size_of(file_status)).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// A new file for this user alone, and its name.
fn create_unfinished(folder: &OwnedFd) -> io::Result<(File, String)> {
    let open_flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut last = io::ErrorKind::AlreadyExists.into();
    for _ in 0..ATTEMPTS {
        // Every state of this kind is another one, by random numbers.
        let number = RandomState::new().build_hasher().finish() >> 16;
        let name = format!("{UNFINISHED}{number:0RANDOM$x}");
        match rustix::fs::openat(folder, &name, open_flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => return Ok((file.into(), name)),
            Err(rustix::io::Errno::EXIST) => {}
            Err(error) => {
                last = error.into();
                break;
            }
        }
    }
    Err(last)
}

/// Whether a file or folder belongs to this user and nobody else can write to it.
fn is_ours_alone(file_status: &Stat) -> bool {
    let others = Mode::WGRP | Mode::WOTH;
    file_status.st_uid == rustix::process::geteuid().as_raw()
        && !Mode::from_raw_mode(file_status.st_mode).intersects(others)
}

fn is_plain_file(file_status: &Stat) -> bool {
    FileType::from_raw_mode(file_status.st_mode) == FileType::RegularFile
}

/// The bytes of a file.
fn size_of(file_status: &Stat) -> u64 {
    u64::try_from(file_status.st_size).unwrap_or(0)
}

/// When a file was changed.
fn modification_time(file_status: &Stat) -> SystemTime {
    let seconds = u64::try_from(file_status.st_mtime).unwrap_or(0);
    UNIX_EPOCH + Duration::new(seconds, u32::try_from(file_status.st_mtime_nsec).unwrap_or(0))
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
pub(super) fn on_disk(bytes: u64) -> u64 {
    bytes.next_multiple_of(BLOCK)
}

/// How long ago a file was changed; none if that is in the future, as clocks differ.
fn file_age(file_status: &Stat, current_time: SystemTime) -> Duration {
    current_time.duration_since(modification_time(file_status)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::key::KeyBuilder;
    use super::*;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    fn file(folder: &Folder, cache_key: &Key) -> PathBuf {
        folder.path.join(cache_key.to_string())
    }

    fn key(number: u32) -> Key {
        KeyBuilder::new("test").add_bytes(&number.to_le_bytes()).into_key()
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn folder_and_files_are_for_this_user_alone() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("not/there/yet");
        let folder = Folder::open(&path, 1 << 20).unwrap();
        assert!(folder.store_entry(&key(1), b"content"));
        assert_eq!((mode(&path), mode(&file(&folder, &key(1)))), (0o700, 0o600));
        assert_eq!(folder.read_entry(&key(1)).as_deref(), Some(&b"content"[..]));
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_not_used() {
        let parent = tempfile::tempdir().unwrap();
        fs::set_permissions(parent.path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(Folder::open(parent.path(), 1 << 20).is_err());
        let path = parent.path().join("file");
        fs::write(&path, "").unwrap();
        assert!(Folder::open(&path, 1 << 20).is_err());
        assert!(Folder::open(&path.join("below"), 1 << 20).is_err());
    }

    #[test]
    fn a_folder_of_another_user_is_not_used() {
        let parent = tempfile::tempdir().unwrap();
        let other = rustix::process::geteuid().as_raw() + 1;
        if chown(parent.path(), Some(other), None).is_ok() {
            assert!(Folder::open(parent.path(), 1 << 20).is_err());
        } else {
            // Only an administrator gives folders away; everybody has some that are not theirs.
            assert!(Folder::open(Path::new("/"), 1 << 20).is_err());
        }
    }

    /// An entry that was stored and read, then treated so, is not read; storing it again makes it an entry again.
    #[track_caller]
    fn assert_not_taken(treat: impl FnOnce(&Path)) {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder::open(parent.path(), 1 << 20).unwrap();
        assert!(folder.store_entry(&key(1), b"content"));
        assert_eq!(folder.read_entry(&key(1)).as_deref(), Some(&b"content"[..]));
        let entry = file(&folder, &key(1));
        treat(&entry);
        assert_eq!(folder.read_entry(&key(1)), None);
        assert!(folder.store_entry(&key(1), b"newer"));
        assert_eq!(folder.read_entry(&key(1)).as_deref(), Some(&b"newer"[..]));
        assert_eq!(mode(&entry), 0o600);
    }

    fn make_fifo(path: &Path) {
        fs::remove_file(path).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, path, Mode::RUSR | Mode::WUSR).unwrap();
    }

    #[test]
    fn a_fifo_is_not_waited_for() {
        assert_not_taken(make_fifo);
    }

    #[test]
    fn links_are_not_followed() {
        for target in ["/dev/zero", "content", "nowhere"] {
            assert_not_taken(|entry| {
                let target = entry.with_file_name(target);
                fs::rename(entry, entry.with_file_name("content")).unwrap();
                symlink(target, entry).unwrap();
            });
        }
    }

    #[test]
    fn files_that_others_can_write_to_are_not_taken() {
        for bits in [0o666, 0o664, 0o620, 0o602, 0o777] {
            assert_not_taken(|entry| fs::set_permissions(entry, fs::Permissions::from_mode(bits)).unwrap());
        }
    }

    #[test]
    fn files_of_another_user_are_not_taken() {
        let other = rustix::process::geteuid().as_raw() + 1;
        assert_not_taken(|entry| {
            if chown(entry, Some(other), None).is_err() {
                // Only an administrator gives files away; everybody can lead to one that is not theirs.
                fs::remove_file(entry).unwrap();
                symlink("/etc/passwd", entry).unwrap();
            }
        });
    }

    #[test]
    fn files_larger_than_the_limit_are_not_read() {
        assert_not_taken(|entry| File::options().write(true).open(entry).unwrap().set_len((1 << 20) + 1).unwrap());
    }

    #[test]
    fn a_folder_in_the_place_of_an_entry_stays_and_is_none() {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder::open(parent.path(), 1 << 20).unwrap();
        fs::create_dir(file(&folder, &key(1))).unwrap();
        assert_eq!(folder.read_entry(&key(1)), None);
        assert!(!folder.store_entry(&key(1), b"content"), "memory has to take it");
        assert!(file(&folder, &key(1)).is_dir());
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1, "nothing unfinished is left");
    }

    #[test]
    fn a_folder_that_others_can_write_to_later_is_not_used_any_more() {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder::open(parent.path(), 1 << 20).unwrap();
        assert!(folder.store_entry(&key(1), b"content"));
        fs::set_permissions(parent.path(), fs::Permissions::from_mode(0o770)).unwrap();
        assert_eq!((folder.read_entry(&key(1)), folder.store_entry(&key(2), b"more")), (None, false));
        fs::set_permissions(parent.path(), fs::Permissions::from_mode(0o700)).unwrap();
        assert!(folder.read_entry(&key(1)).is_some());
    }

    #[test]
    fn a_link_to_a_folder_of_ours_may_be_the_place() {
        let parent = tempfile::tempdir().unwrap();
        let (real, link) = (parent.path().join("real"), parent.path().join("link"));
        DirBuilder::new().mode(0o700).create(&real).unwrap();
        symlink(&real, &link).unwrap();
        let folder = Folder::open(&link, 1 << 20).unwrap();
        assert!(folder.store_entry(&key(1), b"content"));
        assert!(real.join(key(1).to_string()).is_file());
    }

    #[test]
    fn what_was_not_used_for_long_makes_room() {
        let parent = tempfile::tempdir().unwrap();
        let byte_limit = 64 << 10;
        let folder = Folder::open(parent.path(), byte_limit).unwrap();
        let current_time = SystemTime::now();
        let made = |number: u32, hours: u64| {
            let entry = File::options().write(true).open(file(&folder, &key(number))).unwrap();
            entry.set_modified(current_time - Duration::from_secs(3600 * hours)).unwrap();
        };
        for number in 0..15 {
            assert!(folder.store_entry(&key(number), &[0; 4000]));
            made(number, 100 - u64::from(number));
        }
        let foreign = ["somebody's", "new-report.txt", ".lockstep-new-", ".lockstep-new-plans.for.me"];
        let foreign = foreign.map(|name| parent.path().join(name));
        let left = tempfile::Builder::new().prefix(UNFINISHED).rand_bytes(RANDOM).tempfile_in(parent.path()).unwrap();
        let left = left.into_temp_path();
        for (path, hours) in foreign.iter().map(|path| (path.as_path(), 1000)).chain([(&*left, 2)]) {
            File::create(path).unwrap().set_modified(current_time - Duration::from_secs(3600 * hours)).unwrap();
        }
        assert!(folder.read_entry(&key(0)).is_some(), "and its time is now");
        for number in 15..18 {
            assert!(folder.store_entry(&key(number), &[0; 4000]));
        }
        let there = |number| file(&folder, &key(number)).exists();
        assert!(there(0) && there(17) && there(16) && !there(1) && !there(2));
        let byte_size: u64 = (0..18).filter(|&number| there(number)).map(|_| 4096).sum();
        assert!(byte_size <= byte_limit, "{byte_size}");
        assert!(foreign.iter().all(|path| path.exists()) && !left.exists());
        assert!(!folder.store_entry(&key(99), &[0; 20 << 10]), "one entry is not to push out the others");
    }
}
