//! The entries of a cache in one file, to fill the caches of other machines with.
//!
//! The file is a tar archive: a plain file for each entry, sorted by names, and an empty one at the end by which an archive that was cut
//! off is found. The same entries give the same bytes. An archive may be damaged or made by hand: of each member only name, size and bytes
//! count, no path is made of them, and nothing is stored before all of the archive has been read and is sound. That keeps out accidents and
//! nothing else than entries; whoever can make entries can have applications run code of his.

use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Seek, Write};

use lockstep_runtime::cache::transport::{Added, EntryStore, is_entry_name, is_whole_entry};
use tar::{Archive, Builder, Entry, EntryType, Header};

/// The name of the last member.
const END: &str = "end-of-lockstep-cache";

/// What is wrong with an archive without its last member.
const CUT_OFF: &str = "it is no archive of a cache, or is cut off: its last member is missing";

/// What was written to an archive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Entries that are in the archive.
    pub entries: usize,
    /// Bytes of these entries.
    pub bytes: u64,
    /// Files that are damaged and so were left out.
    pub damaged: usize,
}

/// What became of the entries of an archive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Entries that are new in the folder.
    pub stored: usize,
    /// Entries that the folder had before.
    pub known: usize,
    /// Entries that the folder's limit leaves no room for.
    pub without_room: usize,
}

/// Writes the entries of these names, as far as they are whole.
///
/// # Errors
/// When the output cannot be written.
pub fn write_archive(store: &EntryStore, mut names: Vec<String>, output: impl Write) -> io::Result<Exported> {
    names.sort();
    let mut builder = Builder::new(BufWriter::new(output));
    let mut exported = Exported::default();
    for name in &names {
        let Some(bytes) = store.read_entry(name) else {
            exported.damaged += 1;
            continue;
        };
        append_member(&mut builder, name, &bytes)?;
        exported.entries += 1;
        exported.bytes += bytes.len() as u64;
    }
    append_member(&mut builder, END, &[])?;
    builder.into_inner()?.flush()?;
    Ok(exported)
}

fn append_member(builder: &mut Builder<impl Write>, name: &str, bytes: &[u8]) -> io::Result<()> {
    let mut header = Header::new_ustar();
    header.set_path(name)?;
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o600);
    header.set_size(bytes.len() as u64);
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    header.set_cksum();
    builder.append(&header, bytes)
}

/// Stores the entries of an archive that there is room for, if every member of it is a whole entry.
///
/// # Errors
/// In words: what is wrong with the archive, of which nothing is stored then; or why the folder takes no entries.
pub fn read_archive(mut file: impl Read + Seek, store: &mut EntryStore) -> Result<Imported, String> {
    let largest_entry = store.largest_entry();
    visit_entries(&mut file, largest_entry, |_, _| Ok(()))?;
    file.rewind().map_err(|io_error| format!("it is read twice, which cannot be done: {io_error}"))?;
    let mut imported = Imported::default();
    let too_large = visit_entries(&mut file, largest_entry, |name, bytes| {
        match store.add_entry(name, bytes).map_err(|io_error| format!("'{name}': {io_error}"))? {
            Added::Stored => imported.stored += 1,
            Added::WasThere => imported.known += 1,
            Added::NoRoom => imported.without_room += 1,
        }
        Ok(())
    })?;
    imported.without_room += too_large;
    Ok(imported)
}

/// Calls `visit` with name and bytes of each entry of an archive that has at most `largest_entry` bytes, and returns how many are
/// larger.
fn visit_entries(
    file: impl Read,
    largest_entry: u64,
    mut visit: impl FnMut(&str, &[u8]) -> Result<(), String>,
) -> Result<usize, String> {
    let mut archive = Archive::new(BufReader::new(file));
    // Without extensions there is no member but files, and no name but that of the header.
    let members = archive.entries().map_err(describe_error)?.raw(true);
    let mut too_large = 0;
    let mut has_ended = false;
    for member in members {
        let member = member.map_err(describe_error)?;
        if has_ended {
            return Err("something follows the last entry".to_owned());
        }
        let name = member_name(&member)?;
        match name.as_str() {
            END => has_ended = true,
            _ if member.size() > largest_entry => too_large += 1,
            name => visit(name, &read_entry(name, member)?)?,
        }
    }
    if has_ended { Ok(too_large) } else { Err(CUT_OFF.to_owned()) }
}

/// The name of a member that is a plain file with the name of an entry, or that of the last member.
fn member_name(member: &Entry<'_, impl Read>) -> Result<String, String> {
    let name = String::from_utf8_lossy(&member.path_bytes()).into_owned();
    let refused = |reason: &str| Err(format!("'{}' is no entry of a cache: {reason}", name.escape_default()));
    match member.header().entry_type() {
        EntryType::Regular if name == END && member.size() > 0 => refused("it should be empty"),
        EntryType::Regular if name == END || is_entry_name(&name) => Ok(name),
        EntryType::Regular => refused("that is not the name of one"),
        _ => refused("it is not a plain file"),
    }
}

/// The bytes of a member, if they are those of the entry of this name.
fn read_entry(name: &str, mut member: Entry<'_, impl Read>) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    member.read_to_end(&mut bytes).map_err(describe_error)?;
    if (bytes.len() as u64) < member.size() {
        return Err(CUT_OFF.to_owned());
    }
    if is_whole_entry(name, &bytes) { Ok(bytes) } else { Err(format!("'{name}' is damaged")) }
}

/// What is wrong with an archive of which a part cannot be read.
fn describe_error(error: io::Error) -> String {
    match error.kind() {
        ErrorKind::UnexpectedEof => CUT_OFF.to_owned(),
        _ => format!("it cannot be read as an archive: {error}"),
    }
}

#[cfg(test)]
mod tests;
