//! The files that a compilation read beside what it was given, so that later ones can tell whether they would read the
//! same.
//!
//! That is so when each file has the contents it had, and none has come to a place where the compiler would have looked
//! before. What looks at files or the time in other ways than by including is not kept at all.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use lockstep_protocol::job::ReadFile;
use serde::{Deserialize, Serialize};

use super::beyond_files::Vocabulary;
use crate::cache::key;

/// Larger files are not watched.
const MOST_BYTES: u64 = 1 << 28;

/// More places than that are not watched.
const MOST_PLACES: usize = 10_000;

/// What a compilation read.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Inputs {
    /// Files with the hash of their contents.
    files: Vec<(PathBuf, [u8; 32])>,
    /// Where there was none.
    absent: Vec<PathBuf>,
}

impl Inputs {
    /// The files that a compilation read which had these texts and folders to include from. None if that does not tell whether
    /// another one would make the same.
    pub(super) fn record_inputs<'a>(
        read_files: Vec<ReadFile>,
        folders: &[String],
        texts: impl IntoIterator<Item = &'a [u8]>,
    ) -> Option<Inputs> {
        let mut vocabulary = Vocabulary::default();
        texts.into_iter().for_each(|text| vocabulary.add_text(text));
        for ReadFile { path, hash } in &read_files {
            // One that has changed since is not what was read.
            let contents = read_regular(path).filter(|contents| key::hash_bytes(contents) == *hash)?;
            vocabulary.add_text(&contents);
        }
        if vocabulary.looks_beyond() {
            return None;
        }
        let paths: Vec<&Path> = read_files.iter().map(|file| file.path.as_path()).collect();
        let absent = absent_places(&paths, folders)?;
        Some(Inputs { absent, files: read_files.into_iter().map(|file| (file.path, file.hash)).collect() })
    }

    /// Whether another compilation would read the same.
    pub(super) fn are_unchanged(&self) -> bool {
        let is_unchanged = |(path, digest): &(PathBuf, [u8; 32])| {
            read_regular(path).is_some_and(|current_bytes| key::hash_bytes(&current_bytes) == *digest)
        };
        self.files.iter().all(is_unchanged) && self.absent.iter().all(|absent_path| !absent_path.exists())
    }
}

/// The contents of a file, unless it is one that never ends or keeps whoever opens it: a device, a pipe.
fn read_regular(path: &Path) -> Option<Vec<u8>> {
    let mut file = File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path).ok()?;
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() || metadata.len() > MOST_BYTES {
        return None;
    }
    let mut contents = Vec::new();
    Read::by_ref(&mut file).take(MOST_BYTES).read_to_end(&mut contents).ok()?;
    Some(contents)
}

/// The places where no file is but where one would be found in the place of one of `paths`: any end of the file's path
/// may be what the text calls it, in any folder that is searched.
fn absent_places(paths: &[&Path], folders: &[String]) -> Option<Vec<PathBuf>> {
    let mut searched: Vec<&Path> = vec![Path::new(".")];
    searched.extend(folders.iter().map(Path::new));
    searched.extend(paths.iter().filter_map(|path| path.parent()));
    searched.sort();
    searched.dedup();
    let mut names: Vec<PathBuf> = paths.iter().flat_map(|path| path_tails(path)).collect();
    names.sort();
    names.dedup();
    if names.len() * searched.len() > MOST_PLACES {
        return None;
    }
    let places = searched.iter().flat_map(|folder| names.iter().map(move |name| folder.join(name)));
    Some(places.filter(|candidate| !candidate.exists()).collect())
}

/// What is left of a path when folders are taken from its beginning.
fn path_tails(path: &Path) -> Vec<PathBuf> {
    let parts: Vec<Component<'_>> = path.components().filter(|part| *part != Component::RootDir).collect();
    (0..parts.len()).map(|first_part| parts[first_part..].iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A folder with these files, and what a compilation would know of reading those in `read`.
    fn read(folder: &Path, all: &[(&str, &str)], read: &[&str], folders: &[&str]) -> Option<Inputs> {
        for (name, text) in all {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let read_files = read.iter().map(|name| read_now(folder.join(name))).collect();
        let folders: Vec<_> = folders.iter().map(|name| folder.join(name).display().to_string()).collect();
        Inputs::record_inputs(read_files, &folders, [&b"#include <a.h>"[..]])
    }

    /// A file as a compilation would have read it now.
    fn read_now(path: PathBuf) -> ReadFile {
        ReadFile { hash: key::hash_bytes(&fs::read(&path).unwrap()), path }
    }

    #[test]
    fn contents_count_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let inputs = read(folder.path(), &[("a.h", "one"), ("b.h", "two")], &["a.h"], &[]).unwrap();
        fs::write(folder.path().join("b.h"), "changed").unwrap();
        assert!(inputs.are_unchanged());
        fs::write(folder.path().join("a.h"), "changed").unwrap();
        assert!(!inputs.are_unchanged());
        fs::write(folder.path().join("a.h"), "one").unwrap();
        assert!(inputs.are_unchanged());
        fs::remove_file(folder.path().join("a.h")).unwrap();
        assert!(!inputs.are_unchanged());
    }

    #[test]
    fn what_never_ends_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.h");
        fs::write(&path, "one").unwrap();
        let inputs = read(folder.path(), &[], &["a.h"], &[]).unwrap();
        for device in ["/dev/zero", "/dev/stdin"] {
            fs::remove_file(&path).unwrap();
            std::os::unix::fs::symlink(device, &path).unwrap();
            assert!(!inputs.are_unchanged(), "{device}");
        }
        fs::remove_file(&path).unwrap();
        let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, &name, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        assert!(!inputs.are_unchanged());
        let read_file = ReadFile { path, hash: [0; 32] };
        assert!(Inputs::record_inputs(vec![read_file], &[], []).is_none());
    }

    #[test]
    fn a_file_that_would_be_found_first_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let files = [("one/x", ""), ("two/sub/a.h", "a"), ("two/sub/b.h", "b")];
        let place = |name: &str| folder.path().join(name);
        let inputs = read(folder.path(), &files, &["two/sub/a.h"], &["one", "two"]).unwrap();
        assert!(inputs.are_unchanged());
        fs::create_dir(place("one/sub")).unwrap();
        fs::write(place("one/sub/b.h"), "").unwrap();
        assert!(inputs.are_unchanged(), "that one was not asked for");
        for shadow in ["one/sub/a.h", "one/a.h"] {
            fs::write(place(shadow), "a").unwrap();
            assert!(!inputs.are_unchanged(), "{shadow}");
            fs::remove_file(place(shadow)).unwrap();
        }
    }

    #[test]
    fn what_looks_beyond_its_files_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read(folder.path(), &[("a.h", "int __TIMER__;")], &["a.h"], &[]).is_some());
        assert!(read(folder.path(), &[("a.h", "x ___TIME__")], &["a.h"], &[]).is_none());
        let parts = [("a.h", "#define JOIN(a) __TI##a"), ("b.h", "JOIN(ME__)")];
        assert!(read(folder.path(), &parts, &["a.h", "b.h"], &[]).is_none());
        assert!(read(folder.path(), &parts, &["a.h"], &[]).is_some());
        assert!(read(folder.path(), &[("a.h", "#if __has_include(<b.h>)")], &["a.h"], &[]).is_none());
        let of = |text: &[u8]| Inputs::record_inputs(vec![], &[], [text]);
        assert!(of(b"kernel void f() {}").is_some() && of(b"int x[] = __DATE__;").is_none());
    }

    #[test]
    fn a_file_changed_meanwhile_is_not_what_was_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.h");
        fs::write(&path, "one").unwrap();
        let read_file = read_now(path.clone());
        let record = || Inputs::record_inputs(vec![read_file.clone()], &[], []);
        assert!(record().is_some());
        fs::write(&path, "two").unwrap();
        assert!(record().is_none());
        fs::remove_file(&path).unwrap();
        assert!(record().is_none());
    }
}
