//! Which files a run of clang read, as clang itself lists them: in the form of a rule for `make`.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::tempdir::TempDir;

const NAME: &str = "files.d";

/// A private file for clang to write its list into, gone with the value.
pub(super) struct FileList {
    folder: TempDir,
    /// The folder of the headers that the caller gave, which are no files of the system.
    given: RefCell<Option<PathBuf>>,
}

impl FileList {
    pub(super) fn new(temp_dir: &Path) -> Option<FileList> {
        Some(FileList { folder: TempDir::create(temp_dir).ok()?, given: RefCell::default() })
    }

    /// The options that make clang write the list, with the headers that it finds by itself.
    pub(super) fn clang_arguments(&self) -> [OsString; 5] {
        let list_path = self.list_path().into_os_string();
        ["-sys-header-deps".into(), "-MT".into(), "x".into(), "-dependency-file".into(), list_path]
    }

    /// Files below this folder are not listed.
    pub(super) fn leave_out(&self, folder: &Path) {
        *self.given.borrow_mut() = Some(folder.to_owned());
    }

    /// Whether a message is about this file.
    pub(super) fn is_named_in(&self, message_log: &str) -> bool {
        message_log.contains(&*self.list_path().to_string_lossy())
    }

    /// The files; none if the list is not there or not understood.
    pub(super) fn read_files(&self) -> Option<Vec<PathBuf>> {
        let mut read_paths = parse_rule(&std::fs::read_to_string(self.list_path()).ok()?)?;
        if let Some(given_path) = &*self.given.borrow() {
            read_paths.retain(|file_path| !file_path.starts_with(given_path));
        }
        Some(read_paths)
    }

    fn list_path(&self) -> PathBuf {
        self.folder.path().join(NAME)
    }
}

/// The right side of the one rule. A backslash escapes a space, a number sign and the end of the line; a dollar stands
/// twice. Other backslashes mean what they say before other characters only, so names with them are not understood.
fn parse_rule(rule_text: &str) -> Option<Vec<PathBuf>> {
    let mut letters = rule_text.strip_prefix("x:")?.chars();
    let mut file_names = Vec::new();
    let mut name = String::new();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next()? {
                '\n' => file_names.push(std::mem::take(&mut name)),
                escaped @ (' ' | '#') => name.push(escaped),
                _ => return None,
            },
            '$' if letters.next()? != '$' => return None,
            ' ' | '\n' => file_names.push(std::mem::take(&mut name)),
            plain => name.push(plain),
        }
    }
    file_names.push(name);
    Some(file_names.into_iter().filter(|name| !name.is_empty() && name != "<stdin>").map(PathBuf::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_without_their_escapes() {
        let files = parse_rule("x: /usr/lib/base.h a.h \\\n  /tmp/sp\\ ace/b\\#$$.h\n").unwrap();
        assert_eq!(files, ["/usr/lib/base.h", "a.h", "/tmp/sp ace/b#$.h"].map(PathBuf::from));
        assert_eq!(parse_rule("x:\n"), Some(vec![]));
    }

    #[test]
    fn what_is_not_understood_is_no_list() {
        for rule in ["", "y: a.h", "x: a\\b.h", "x: $a", "x: a\\"] {
            assert_eq!(parse_rule(rule), None, "{rule:?}");
        }
    }
}
