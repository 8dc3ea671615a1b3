//! The source tree as the rules see it, and a view of Rust text in which
//! comments and literals are blank, so that only code can break a rule.

use std::path::Path;

use anyhow::{Context, Result};

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

/// Folders that hold no source of ours.
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
                if !SKIPPED.contains(&name.as_str()) {
                    self.read_folder(&entry.path(), &format!("{path}/"))?;
                }
            } else if has_extension(&name) {
                let text = std::fs::read_to_string(entry.path()).with_context(|| format!("cannot read {path}"))?;
                self.files.push(SourceFile::new(path, text));
            }
        }
        Ok(())
    }

    /// A tree for a rule's test.
    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Self {
        Self { files: files.iter().map(|&(path, text)| SourceFile::new(path.to_owned(), text.to_owned())).collect() }
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
    fn new(path: String, text: String) -> Self {
        let code = if path.ends_with(".rs") { blank(&text) } else { text.clone() };
        Self { path, text, code }
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

/// Blanks comments and the insides of string and character literals; line
/// breaks stay, so that line numbers do.
fn blank(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = literal_or_comment(&chars, at);
        if end == at {
            out.push(chars[at]);
            at += 1;
        } else {
            out.extend(chars[at..end].iter().map(|&c| if c == '\n' { '\n' } else { ' ' }));
            at = end;
        }
    }
    out
}

/// The end of the literal or comment that starts at `at`, or `at` where none does.
fn literal_or_comment(chars: &[char], at: usize) -> usize {
    let next = |offset: usize| chars.get(at + offset).copied();
    match chars[at] {
        '/' if next(1) == Some('/') => end_of(chars, at, |rest| rest[0] == '\n', 0),
        '/' if next(1) == Some('*') => end_of_block_comment(chars, at),
        '"' => end_of_string(chars, at + 1),
        'r' | 'b' | 'c' if at == 0 || !is_name(chars[at - 1]) => raw_string(chars, at),
        '\'' => character(chars, at),
        _ => at,
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn end_of(chars: &[char], from: usize, stop: impl Fn(&[char]) -> bool, past: usize) -> usize {
    (from..chars.len()).find(|&at| stop(&chars[at..])).map_or(chars.len(), |at| at + past)
}

fn end_of_block_comment(chars: &[char], start: usize) -> usize {
    let mut depth = 0usize;
    let mut at = start;
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => {
                depth += 1;
                at += 2;
            }
            ('*', Some('/')) => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    chars.len()
}

fn end_of_string(chars: &[char], mut at: usize) -> usize {
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    chars.len()
}

/// `r"…"`, `r#"…"#`, with or without `b` or `c` before it; `b"…"` and `c"…"`.
fn raw_string(chars: &[char], start: usize) -> usize {
    let mut at = start;
    if matches!(chars[at], 'b' | 'c') {
        at += 1;
        if chars.get(at) == Some(&'"') {
            return end_of_string(chars, at + 1);
        }
    }
    if chars.get(at) != Some(&'r') {
        return start;
    }
    at += 1;
    let hashes = chars[at..].iter().take_while(|&&c| c == '#').count();
    if chars.get(at + hashes) != Some(&'"') {
        return start;
    }
    let closes = |rest: &[char]| rest[0] == '"' && rest.len() > hashes && rest[1..=hashes].iter().all(|&c| c == '#');
    end_of(chars, at + hashes + 1, closes, hashes + 1)
}

/// A character literal, not a lifetime.
fn character(chars: &[char], start: usize) -> usize {
    match (chars.get(start + 1), chars.get(start + 2)) {
        (Some('\\'), Some(_)) => end_of(chars, start + 3, |rest| rest[0] == '\'', 1),
        (Some(_), Some('\'')) => start + 3,
        _ => start,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        blank(text).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_and_literals_are_blank() {
        assert_eq!(code("a // unsafe\nb"), "a b");
        assert_eq!(code("a /* x /* y */ unsafe */ b"), "a b");
        assert_eq!(code(r#"a "un\"safe" b"#), "a b");
        assert_eq!(code(r##"a r#"un"safe"# b"##), "a b");
        assert_eq!(code(r#"a c"unsafe" b"unsafe" b"#), "a b");
        assert_eq!(code(r"a '\'' '\u{41}' '/' b"), "a b");
    }

    #[test]
    fn lifetimes_and_names_stay() {
        assert_eq!(code("fn f<'a>(r: &'a u8, b: &'a u8)"), "fn f<'a>(r: &'a u8, b: &'a u8)");
    }

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
