//! Words, numbers, strings and signs of the text form.

use std::fmt;
use std::iter::Peekable;
use std::str::Chars;

/// Why a text is not a module.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What is wrong there.
    pub message: String,
}

/// A position in the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pos {
    pub line: u32,
    pub column: u32,
}

impl Pos {
    pub fn error_at<T>(self, message: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError { line: self.line, column: self.column, message: message.into() })
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Token {
    /// A word: letters, digits, `_` and `.`, beginning with a letter.
    Word(String),
    /// A number as written, with its sign; also `-inf`.
    Number(String),
    /// A string's bytes.
    Str(Vec<u8>),
    /// One of the signs `( ) { } [ ] , : = + - @`.
    Sign(char),
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(w) | Token::Number(w) => write!(formatter, "`{w}`"),
            Token::Str(_) => formatter.write_str("a string"),
            Token::Sign(character) => write!(formatter, "`{character}`"),
            Token::End => formatter.write_str("the end"),
        }
    }
}

/// What is left of a text, and the position of the next character.
struct Cursor<'a> {
    chars: Peekable<Chars<'a>>,
    position: Pos,
}

impl Cursor<'_> {
    fn take_character(&mut self) -> Option<char> {
        let character = self.chars.next();
        if character == Some('\n') {
            self.position.line += 1;
            self.position.column = 1;
        } else {
            self.position.column += 1;
        }
        character
    }

    /// The next character and those that continue the word that is read so far.
    fn take_word(&mut self, continues: impl Fn(&str, char) -> bool) -> String {
        let mut word: String = self.take_character().into_iter().collect();
        while let Some(&character) = self.chars.peek()
            && continues(&word, character)
        {
            word.push(character);
            self.take_character();
        }
        word
    }
}

/// Cuts a text into tokens with their positions; the last one is `End`.
pub(super) fn lex(text: &str) -> Result<Vec<(Token, Pos)>, ParseError> {
    let mut tokens = Vec::new();
    let mut cursor = Cursor { chars: text.chars().peekable(), position: Pos { line: 1, column: 1 } };
    while let Some(&character) = cursor.chars.peek() {
        let start = cursor.position;
        let token = match character {
            ' ' | '\t' | '\r' | '\n' => {
                cursor.take_character();
                continue;
            }
            ';' => {
                while !matches!(cursor.chars.peek(), None | Some('\n')) {
                    cursor.take_character();
                }
                continue;
            }
            '"' => Token::Str(lex_string(start, || cursor.take_character())?),
            '(' | ')' | '{' | '}' | '[' | ']' | ',' | ':' | '=' | '+' | '@' => {
                cursor.take_character();
                Token::Sign(character)
            }
            '-' => {
                let word = cursor.take_word(continues_number);
                match word.len() {
                    1 => Token::Sign('-'),
                    _ => Token::Number(word),
                }
            }
            character if character.is_ascii_digit() => Token::Number(cursor.take_word(continues_number)),
            character if character.is_ascii_alphabetic() => Token::Word(cursor.take_word(continues_word)),
            character => return start.error_at(format!("unexpected character `{}`", character.escape_debug())),
        };
        tokens.push((token, start));
    }
    tokens.push((Token::End, cursor.position));
    Ok(tokens)
}

fn continues_word(_: &str, character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_' || character == '.'
}

/// Whether `character` belongs to the number begun by `word`; a sign does only in an exponent.
fn continues_number(word: &str, character: char) -> bool {
    let is_hexadecimal = word.starts_with("0x") || word.starts_with("-0x");
    character.is_ascii_alphanumeric()
        || character == '.'
        || (matches!(character, '+' | '-') && !is_hexadecimal && word.ends_with(['e', 'E']))
}

fn lex_string(start: Pos, mut next_character: impl FnMut() -> Option<char>) -> Result<Vec<u8>, ParseError> {
    let mut bytes = Vec::new();
    next_character();
    loop {
        match next_character() {
            None => return start.error_at("this string has no end"),
            Some('"') => return Ok(bytes),
            Some('\\') => match next_character() {
                Some(character @ ('"' | '\\')) => bytes.push(character as u8),
                Some('n') => bytes.push(b'\n'),
                Some('x') => {
                    let mut next_digit = || next_character().and_then(|character| character.to_digit(16));
                    match (next_digit(), next_digit()) {
                        (Some(left), Some(right)) => bytes.push((left * 16 + right) as u8),
                        _ => return start.error_at("`\\x` needs two hexadecimal digits"),
                    }
                }
                _ => return start.error_at("unknown escape in this string"),
            },
            Some(character) => bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}
