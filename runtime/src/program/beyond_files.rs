//! Whether what is compiled of some texts depends on more than these texts: on the time, or on whether a file is there.
//!
//! That is so when one of a few words stands in a text, or can be made of pieces that do: by a line that goes on in the
//! next one, or by a macro that pastes names together. The compiler's own warning about the time is not asked, because a
//! program can switch it off.

use std::borrow::Cow;
use std::collections::BTreeSet;

/// Names that make what is compiled depend on more than texts.
const WORDS: [&[u8]; 6] =
    [b"__DATE__", b"__TIME__", b"__TIMESTAMP__", b"__has_include", b"__has_include_next", b"__has_embed"];

/// What there is in some texts to make a word of.
#[derive(Default)]
pub(super) struct Vocabulary {
    /// Whether a word stands there as it is.
    has_word: bool,
    /// Whether names can be pasted together.
    has_paste: bool,
    /// Names that a word can be made of.
    pieces: BTreeSet<Vec<u8>>,
}

impl Vocabulary {
    /// Adds what there is in a text.
    pub(super) fn add_text(&mut self, text: &[u8]) {
        self.add_plain(text);
        let joined = join_lines(text);
        if let Cow::Owned(joined_text) = joined {
            self.add_plain(&joined_text);
        }
    }

    /// Whether programs of these texts can depend on more than them.
    pub(super) fn looks_beyond(&self) -> bool {
        self.has_word || self.has_paste && WORDS.iter().any(|word| self.can_paste(word))
    }

    fn add_plain(&mut self, text: &[u8]) {
        self.has_paste |= text.windows(2).any(|two| two == b"##") || text.windows(4).any(|four| four == b"%:%:");
        for name in text.split(|&letter| !is_of_name(letter)) {
            self.has_word |= WORDS.iter().any(|word| contains_bytes(name, word));
            if !name.is_empty() && WORDS.iter().any(|word| contains_bytes(word, name)) && !self.pieces.contains(name) {
                self.pieces.insert(name.to_owned());
            }
        }
    }

    /// Whether the word is a row of pieces.
    fn can_paste(&self, word: &[u8]) -> bool {
        let mut reached = vec![false; word.len() + 1];
        reached[0] = true;
        for end in 1..=word.len() {
            reached[end] = (0..end).any(|start| reached[start] && self.pieces.contains(&word[start..end]));
        }
        reached[word.len()]
    }
}

fn is_of_name(letter: u8) -> bool {
    letter.is_ascii_alphanumeric() || letter == b'_' || letter == b'$'
}

fn contains_bytes(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// The text with trigraphs replaced and without the ends of lines that a backslash takes the meaning from; spaces may
/// come between the two.
fn join_lines(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.contains(&b'\\') && !contains_bytes(text, b"??") {
        return Cow::Borrowed(text);
    }
    let mut joined_text = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&letter, after)) = rest.split_first() {
        let (letter, after) = match rest {
            [b'?', b'?', b'/', after @ ..] => (b'\\', after),
            [b'?', b'?', b'=', after @ ..] => (b'#', after),
            _ => (letter, after),
        };
        rest = after;
        if letter == b'\\'
            && let Some(next_line) = after_line_end(after)
        {
            rest = next_line;
        } else {
            joined_text.push(letter);
        }
    }
    Cow::Owned(joined_text)
}

/// What follows the end of a line, if nothing but spaces come before it.
fn after_line_end(text: &[u8]) -> Option<&[u8]> {
    let is_space = |letter: &u8| matches!(letter, b' ' | b'\t' | b'\x0b' | b'\x0c');
    let start = text.iter().position(|letter| !is_space(letter))?;
    match &text[start..] {
        [b'\r', b'\n', rest @ ..] | [b'\n', b'\r', rest @ ..] | [b'\n' | b'\r', rest @ ..] => Some(rest),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks_beyond(texts: &[&str]) -> bool {
        let mut vocabulary = Vocabulary::default();
        texts.iter().for_each(|text| vocabulary.add_text(text.as_bytes()));
        vocabulary.looks_beyond()
    }

    #[test]
    fn words_are_found_wherever_they_stand() {
        for text in
            ["int x[] = __DATE__;", "x ___TIME__", "#if __has_include(<b.h>)", "__has_include_next", "a__TIMESTAMP__"]
        {
            assert!(looks_beyond(&[text]), "{text}");
        }
        for text in ["kernel void f() {}", "int __TIMER__;", "__TIME _TIME__ TIME", "__has_feature(x) a ## b"] {
            assert!(!looks_beyond(&[text]), "{text}");
        }
    }

    #[test]
    fn pieces_count_where_something_pastes_them() {
        let pieces = "__TI ME__";
        assert!(!looks_beyond(&[pieces]));
        for paste in ["#define J(a, b) a##b", "#define J(a, b) a %:%: b", "??=define J(a, b) a??=??=b"] {
            assert!(looks_beyond(&[paste, pieces]), "{paste}");
            assert!(looks_beyond(&["__TI", paste, "int ME__;"]), "{paste}");
            assert!(looks_beyond(&[paste, "_ T I M E"]), "{paste}");
            assert!(looks_beyond(&[paste, "__has_ include"]), "{paste}");
            assert!(!looks_beyond(&[paste, "__TI M__ E_ float x T I M"]), "{paste}");
        }
    }

    #[test]
    fn names_go_on_in_the_next_line() {
        for text in ["__TI\\\nME__", "__TI\\ \t\r\nME__", "__TI??/\nME__", "__\\\nTI\\\nME_\\\n_"] {
            assert!(looks_beyond(&[text]), "{text}");
        }
        for text in ["__TI\nME__", "__TI\\nME__", "__TI\\"] {
            assert!(!looks_beyond(&[text]), "{text}");
        }
        assert!(looks_beyond(&["#define J(a) __T#\\\n#a", "IME__"]));
    }
}
