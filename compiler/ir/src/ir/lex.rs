//! Words, numbers, strings and signs of the text form.

use std::fmt;

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

/// Cuts a text into tokens with their positions; the last one is `End`.
pub(super) fn lex(text: &str) -> Result<Vec<(Token, Pos)>, ParseError> {
    let mut tokens = Vec::new();
    let mut chars = text.chars().peekable();
    let mut position = Pos { line: 1, column: 1 };
    while let Some(&character) = chars.peek() {
        let start = position;
        let mut next = |position: &mut Pos| {
            let c = chars.next();
            if c == Some('\n') {
                position.line += 1;
                position.column = 1;
            } else {
                position.column += 1;
            }
            (c, chars.peek().copied())
        };
        let token = match character {
            ' ' | '\t' | '\r' | '\n' => {
                next(&mut position);
                continue;
            }
            ';' => {
                while !matches!(next(&mut position).1, None | Some('\n')) {}
                continue;
            }
            '"' => Token::Str(lex_string(start, || next(&mut position).0)?),
            '(' | ')' | '{' | '}' | '[' | ']' | ',' | ':' | '=' | '+' | '@' => {
                next(&mut position);
                Token::Sign(character)
            }
            '-' => {
                let mut word = String::from('-');
                let mut peek = next(&mut position).1;
                while let Some(digit) = peek.filter(|&digit| continues_number(&word, digit)) {
                    word.push(digit);
                    peek = next(&mut position).1;
                }
                match word.len() {
                    1 => Token::Sign('-'),
                    _ => Token::Number(word),
                }
            }
            character if character.is_ascii_digit() => {
                let mut word = String::from(character);
                let mut peek = next(&mut position).1;
                while let Some(digit) = peek.filter(|&digit| continues_number(&word, digit)) {
                    word.push(digit);
                    peek = next(&mut position).1;
                }
                Token::Number(word)
            }
            character if character.is_ascii_alphabetic() => {
                let mut word = String::from(character);
                let mut peek = next(&mut position).1;
                while let Some(digit) =
                    peek.filter(|&digit| digit.is_ascii_alphanumeric() || digit == '_' || digit == '.')
                {
                    word.push(digit);
                    peek = next(&mut position).1;
                }
                Token::Word(word)
            }
            character => return start.error_at(format!("unexpected character `{}`", character.escape_debug())),
        };
        tokens.push((token, start));
    }
    tokens.push((Token::End, position));
    Ok(tokens)
}

/// Whether `character` belongs to the number begun by `word`; a sign does only in an exponent.
fn continues_number(word: &str, character: char) -> bool {
    let hex = word.starts_with("0x") || word.starts_with("-0x");
    character.is_ascii_alphanumeric()
        || character == '.'
        || (matches!(character, '+' | '-') && !hex && word.ends_with(['e', 'E']))
}

fn lex_string(start: Pos, mut next: impl FnMut() -> Option<char>) -> Result<Vec<u8>, ParseError> {
    let mut bytes = Vec::new();
    next();
    loop {
        match next() {
            None => return start.error_at("this string has no end"),
            Some('"') => return Ok(bytes),
            Some('\\') => match next() {
                Some(character @ ('"' | '\\')) => bytes.push(character as u8),
                Some('n') => bytes.push(b'\n'),
                Some('x') => {
                    let mut digit = || next().and_then(|character| character.to_digit(16));
                    match (digit(), digit()) {
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
