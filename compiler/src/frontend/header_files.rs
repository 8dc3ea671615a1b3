//! The headers that `clCompileProgram` embeds, as files of one folder that exists in memory only.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use super::clang_library::MemoryFile;
use super::source::prepare_source;
use lockstep_protocol::job::Header;

/// Where they are. Nobody sees this: messages, macros and debug information call a header what the application does.
pub(super) const HEADER_FOLDER: &str = "/lockstep/headers/";

/// Where the program's text is when there are headers, so that these come before the working directory. No header can have this
/// name.
pub(super) const SOURCE_PATH: &str = "/lockstep/headers/.lockstep-program.cl";

/// The files; the first of a name stays. An error is a sentence about a name.
pub(super) fn header_files(headers: &[Header]) -> Result<Vec<MemoryFile>, String> {
    let mut texts: BTreeMap<PathBuf, &[u8]> = BTreeMap::new();
    for header in headers {
        let name = usable_name(&header.name).ok_or_else(|| format!("'{}' is not a usable header name", header.name))?;
        if name.ancestors().skip(1).any(|folder| texts.contains_key(folder)) {
            return Err(format!("cannot store the header '{}': a folder of it is a header", header.name));
        }
        let has_such_folder = texts.keys().any(|other| *other != name && other.starts_with(&name));
        if has_such_folder {
            return Err(format!("cannot store the header '{}': it is the folder of another", header.name));
        }
        texts.entry(name).or_insert(&header.source);
    }
    Ok(texts.iter().map(|(name, text)| in_memory(name, text)).collect())
}

fn in_memory(name: &Path, text: &[u8]) -> MemoryFile {
    let path = Path::new(HEADER_FOLDER).join(name);
    MemoryFile { path: path.as_os_str().as_bytes().to_vec(), contents: prepare_source(text) }
}

fn usable_name(name: &str) -> Option<PathBuf> {
    safe_relative(name).filter(|name| Path::new(HEADER_FOLDER).join(name) != Path::new(SOURCE_PATH))
}

/// `name` as a path that stays below the directory it is joined to, or nothing.
fn safe_relative(name: &str) -> Option<PathBuf> {
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
    fn the_first_header_of_a_name_stays() {
        let headers = [Header::new("inc/a.h", b"one"), Header::new("./inc/a.h", b"two")];
        let files = header_files(&headers).unwrap();
        assert_eq!(files.len(), 1);
        assert_eq!(files[0].path, b"/lockstep/headers/inc/a.h");
        assert_eq!(files[0].contents, b"one");
    }

    #[test]
    fn a_header_is_no_folder() {
        for names in [["inc", "inc/a.h"], ["inc/sub/a.h", "inc"]] {
            let headers = names.map(|name| Header::new(name, b""));
            assert!(header_files(&headers).is_err_and(|error| error.contains("cannot store the header")), "{names:?}");
        }
    }
}
