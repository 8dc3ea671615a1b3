//! The source tree as the rules see it: files, and of Rust text a view in which comments and literals are blank, so that
//! only code can break a rule.

use std::path::Path;

use anyhow::{Context, Result};

use crate::rust_text::blank_all_but_code;

/// The files the rules look at.
#[derive(Default)]
pub struct Tree {
    /// In order of their paths.
    pub files: Vec<SourceFile>,
}

/// One file.
pub struct SourceFile {
    /// From the workspace's root, with `/`.
    pub path: String,
    /// As it is.
    pub text: String,
    /// As it is, but with comments and the insides of literals blanked (Rust only).
    pub code: String,
}

/// Folders of the workspace's root that hold no source of ours.
const SKIPPED: [&str; 3] = ["target", ".git", "node_modules"];
/// What the rules look at.
const EXTENSIONS: [&str; 7] = ["rs", "cl", "h", "toml", "md", "pir", "patch"];

impl Tree {
    /// Reads the workspace.
    pub fn read(root: &Path) -> Result<Self> {
        let mut tree = Self::default();
        tree.read_folder(root, "")?;
        tree.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(tree)
    }

    fn read_folder(&mut self, folder: &Path, prefix: &str) -> Result<()> {
        let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            if entry.file_type()?.is_dir() {
                if !prefix.is_empty() || !SKIPPED.contains(&name.as_str()) {
                    self.read_folder(&entry.path(), &format!("{path}/"))?;
                }
            } else if has_extension(&name) {
                let text = std::fs::read_to_string(entry.path()).with_context(|| format!("cannot read {path}"))?;
                self.files.push(SourceFile::new(path, text)?);
            }
        }
        Ok(())
    }

    /// A tree for a rule's test.
    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Self {
        let read = |&(path, text): &(&str, &str)| SourceFile::new(path.to_owned(), text.to_owned()).expect("Rust");
        Self { files: files.iter().map(read).collect() }
    }

    /// The Rust files.
    pub fn rust(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }

    /// One file by its path.
    pub fn file(&self, path: &str) -> Option<&SourceFile> {
        self.files.iter().find(|file| file.path == path)
    }
}

impl SourceFile {
    fn new(path: String, text: String) -> Result<Self> {
        let is_rust = path.ends_with(".rs");
        let code = if is_rust { blank_all_but_code(&text).with_context(|| path.clone())? } else { text.clone() };
        Ok(Self { path, text, code })
    }

    /// The numbers (from one) of the lines of code that contain `word` as a word.
    pub fn lines_with(&self, word: &str) -> impl Iterator<Item = usize> {
        self.code.lines().enumerate().filter(move |(_, line)| has_word(line, word)).map(|(index, _)| index + 1)
    }

    /// The first line of the file's unit tests, if it has any at its end.
    pub fn tests_start(&self) -> Option<usize> {
        let lines: Vec<&str> = self.code.lines().collect();
        lines
            .windows(2)
            .position(|pair| pair[0].trim() == "#[cfg(test)]" && pair[1].trim_start().starts_with("mod "))
            .map(|index| index + 1)
    }
}

fn has_extension(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, extension)| EXTENSIONS.contains(&extension))
}

/// Whether `line` contains `word` with no letter, digit or underscore around it.
fn has_word(line: &str, word: &str) -> bool {
    let part_of_name = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !before.is_some_and(part_of_name) && !after.is_some_and(part_of_name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_numbers() {
        let tree = Tree::of(&[("a.rs", "/* one\ntwo */\n\"x\n\"\nunsafe {}\n")]);
        assert_eq!(tree.files[0].lines_with("unsafe").collect::<Vec<_>>(), [5]);
    }

    #[test]
    fn words_are_whole() {
        assert!(has_word("use rayon::prelude", "rayon"));
        assert!(!has_word("use crayons::x", "rayon"));
        assert!(!has_word("unsafe_op", "unsafe"));
    }

    #[test]
    fn unit_tests_are_found() {
        let tree = Tree::of(&[("a.rs", "fn f() {}\n\n#[cfg(test)]\nmod tests {\n}\n")]);
        assert_eq!(tree.files[0].tests_start(), Some(3));
    }
}
