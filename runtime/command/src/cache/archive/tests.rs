//! Archives that are sound, damaged and hostile.

use std::io::Cursor;
use std::path::Path;

use lockstep_runtime::cache::checksummed;
use lockstep_runtime::cache::key::KeyBuilder;
use lockstep_runtime::cache::list_entries;

use super::*;

const LIMIT: u64 = 1 << 20;

/// The name and the bytes of an entry that holds this text.
fn make_entry(text: &str) -> (String, Vec<u8>) {
    let key = KeyBuilder::new("test").add_text(text).into_key();
    (key.to_string(), checksummed::seal(b"LSCACHE1", &(key, text)))
}

fn open_store(folder: &Path) -> EntryStore {
    EntryStore::open_folder(folder, LIMIT).expect("it can be opened")
}

fn entry_names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        list_entries(folder).expect("it can be read").into_iter().map(|entry| entry.name).collect();
    names.sort();
    names
}

/// A folder with entries of these texts.
fn folder_with(texts: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = open_store(folder.path());
    for (name, bytes) in texts.iter().copied().map(make_entry) {
        assert_eq!(store.add_entry(&name, &bytes).expect("it is whole"), Added::Stored);
    }
    folder
}

fn export_folder(folder: &Path) -> Vec<u8> {
    let mut archive = Vec::new();
    write_archive(&open_store(folder), entry_names(folder), &mut archive).expect("it can be written");
    archive
}

fn import_into(folder: &Path, archive: &[u8]) -> Result<Imported, String> {
    read_archive(Cursor::new(archive), &mut open_store(folder))
}

/// What is said of an archive, of which nothing is stored.
#[track_caller]
fn refusal(archive: &[u8]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let words = import_into(folder.path(), archive).expect_err("it is refused");
    assert_eq!(entry_names(folder.path()), Vec::<String>::new(), "nothing is stored");
    words
}

/// An archive of a good entry and these members, with the last member.
fn archive_of(members: &[(&str, EntryType, &[u8])]) -> Vec<u8> {
    let (good_name, good_bytes) = make_entry("good");
    let mut builder = Builder::new(Vec::new());
    append_member(&mut builder, &good_name, &good_bytes).expect("memory can be written");
    for (name, entry_type, bytes) in members {
        let mut header = Header::new_ustar();
        // The crate's own function refuses names that hostile archives have.
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*entry_type);
        header.set_size(bytes.len() as u64);
        header.set_cksum();
        builder.append(&header, *bytes).expect("memory can be written");
    }
    append_member(&mut builder, END, &[]).expect("memory can be written");
    builder.into_inner().expect("memory can be written")
}

#[test]
fn entries_arrive_once_and_the_archive_is_the_same_each_time() {
    let source = folder_with(&["a", "b", "c"]);
    let archive = export_folder(source.path());
    let target = folder_with(&["b"]);
    let imported = import_into(target.path(), &archive).expect("it is sound");
    assert_eq!(imported, Imported { stored: 2, known: 1, without_room: 0 });
    assert_eq!(entry_names(target.path()), entry_names(source.path()));
    assert_eq!(export_folder(target.path()), archive);
    let imported = import_into(target.path(), &archive).expect("it is sound");
    assert_eq!(imported, Imported { stored: 0, known: 3, without_room: 0 });
}

#[test]
fn an_empty_cache_can_be_carried() {
    let source = folder_with(&[]);
    let target = tempfile::tempdir().expect("a folder");
    assert_eq!(import_into(target.path(), &export_folder(source.path())), Ok(Imported::default()));
}

#[test]
fn damaged_files_are_not_exported() {
    let source = folder_with(&["a", "b"]);
    let (name, bytes) = make_entry("a");
    std::fs::write(source.path().join(&name), &bytes[..bytes.len() - 1]).expect("it can be written");
    let exported = write_archive(&open_store(source.path()), entry_names(source.path()), Vec::new());
    let expected = Exported { entries: 1, bytes: make_entry("b").1.len() as u64, damaged: 1 };
    assert_eq!(exported.expect("memory can be written"), expected);
}

#[test]
fn every_cut_and_every_damaged_byte_of_an_entry_is_found() {
    let source = folder_with(&["a", "b"]);
    let archive = export_folder(source.path());
    // The end of an archive is two blocks of zeros, of which the crate reads one.
    for length in (0..archive.len() - 1024).step_by(37).chain([archive.len() - 1536]) {
        refusal(&archive[..length]);
    }
    let entry_length = make_entry("a").1.len();
    for position in 512..512 + entry_length {
        let mut damaged = archive.clone();
        damaged[position] ^= 1;
        let words = refusal(&damaged);
        assert!(words.ends_with("is damaged"), "byte {position}: {words}");
    }
}

#[test]
fn what_is_no_entry_is_refused_by_name() {
    let (name, bytes) = make_entry("other");
    let not_a_name = "that is not the name of one";
    let not_a_file = "it is not a plain file";
    for (member_name, entry_type, words) in [
        ("../../etc/passwd", EntryType::Regular, not_a_name),
        (&*format!("./{name}"), EntryType::Regular, not_a_name),
        (&*format!("/{name}"), EntryType::Regular, not_a_name),
        (&*name.to_uppercase(), EntryType::Regular, not_a_name),
        ("readme\n", EntryType::Regular, not_a_name),
        (&*name, EntryType::Symlink, not_a_file),
        (&*name, EntryType::Link, not_a_file),
        (&*name, EntryType::Directory, not_a_file),
        (&*name, EntryType::Fifo, not_a_file),
        (&*name, EntryType::GNULongName, not_a_file),
        (&*name, EntryType::XHeader, not_a_file),
        (&*name, EntryType::GNUSparse, not_a_file),
    ] {
        let text = refusal(&archive_of(&[(member_name, entry_type, &bytes)]));
        assert!(text.ends_with(words) && text.contains(&member_name.escape_default().to_string()), "{text}");
    }
}

#[test]
fn an_entry_under_anothers_name_is_refused() {
    let text = refusal(&archive_of(&[(&make_entry("b").0, EntryType::Regular, &make_entry("a").1)]));
    assert!(text.ends_with("is damaged"), "{text}");
}

#[test]
fn nothing_may_follow_the_last_member() {
    let (name, bytes) = make_entry("other");
    let text = refusal(&archive_of(&[(END, EntryType::Regular, b""), (&name, EntryType::Regular, &bytes)]));
    assert_eq!(text, "something follows the last entry");
    assert!(refusal(&archive_of(&[(END, EntryType::Regular, b"text")])).ends_with("it should be empty"));
}

#[test]
fn a_size_that_no_file_has_does_no_harm() {
    for size in [LIMIT, 1 << 40, u64::MAX / 2, u64::MAX - 511, u64::MAX] {
        let mut archive = archive_of(&[]);
        let mut header = Header::new_gnu();
        header.set_size(size);
        // The field of the first member's size, in the form for large numbers.
        archive[124..136].copy_from_slice(&header.as_bytes()[124..136]);
        let mut first = Header::new_ustar();
        first.as_mut_bytes().copy_from_slice(&archive[..512]);
        first.set_cksum();
        archive[..512].copy_from_slice(first.as_bytes());
        refusal(&archive);
    }
}

#[test]
fn other_files_are_no_archives() {
    for bytes in [&b"text"[..], &[0; 4096], &[0xFF; 4096], b""] {
        refusal(bytes);
    }
}

#[test]
fn what_the_limit_leaves_no_room_for_is_left_out() {
    let large = "x".repeat(200 << 10);
    let names = ["a", "b", "c", "d", "e", "f"].map(|letter| format!("{letter}{large}"));
    let texts: Vec<&str> = names.iter().map(String::as_str).collect();
    let source = folder_with(&texts[..3]);
    let archive = export_folder(source.path());
    let target = folder_with(&texts[3..]);
    let imported = import_into(target.path(), &archive).expect("it is sound");
    assert_eq!(imported, Imported { stored: 2, known: 0, without_room: 1 }, "a MiB has room for five");
    let small = tempfile::tempdir().expect("a folder");
    let mut store = EntryStore::open_folder(small.path(), LIMIT / 2).expect("it can be opened");
    let imported = read_archive(Cursor::new(&archive), &mut store).expect("it is sound");
    assert_eq!(imported, Imported { stored: 0, known: 0, without_room: 3 }, "an entry may have a fourth");
}
