//! Rust text as its tokens: what of it is code, what is the inside of a literal, and which lines hold comments alone.

use std::ops::Range;

use anyhow::{Result, anyhow};
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

/// A token of a text. Comments are none, documentation included.
struct Token {
    /// Its bytes.
    bytes: Range<usize>,
    /// Whether it is a string, a character, or either of bytes.
    is_quoted: bool,
}

/// The text with comments and quoted literals blanked. Line breaks stay, so that the lines' numbers do.
pub fn blank_all_but_code(text: &str) -> Result<String> {
    let mut blanked: Vec<u8> = text.bytes().map(|byte| if byte == b'\n' { b'\n' } else { b' ' }).collect();
    for token in tokens_of(text)?.into_iter().filter(|token| !token.is_quoted) {
        blanked[token.bytes.clone()].copy_from_slice(&text.as_bytes()[token.bytes]);
    }
    Ok(String::from_utf8(blanked)?)
}

/// For each line, whether it holds comments and nothing else.
pub fn comment_lines(text: &str) -> Result<Vec<bool>> {
    let mut uncommented = text.as_bytes().to_vec();
    for token in tokens_of(text)? {
        // A literal may go over several lines.
        uncommented[token.bytes].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    }
    let uncommented = String::from_utf8(uncommented)?;
    let pairs = text.lines().zip(uncommented.lines());
    Ok(pairs.map(|(before, after)| !before.trim().is_empty() && before == after).collect())
}

/// The tokens of a text in their order.
fn tokens_of(text: &str) -> Result<Vec<Token>> {
    let stream: TokenStream = text.parse().map_err(|error| anyhow!("{error}"))?;
    let mut tokens = Vec::new();
    collect_tokens(text, stream, &mut tokens);
    Ok(tokens)
}

fn collect_tokens(text: &str, stream: TokenStream, tokens: &mut Vec<Token>) {
    for tree in stream {
        if is_documentation(text, tree.span()) {
            continue;
        }
        match tree {
            TokenTree::Group(group) => {
                let has_delimiters = group.delimiter() != Delimiter::None;
                tokens.extend(has_delimiters.then(|| code_at(group.span_open())));
                collect_tokens(text, group.stream(), tokens);
                tokens.extend(has_delimiters.then(|| code_at(group.span_close())));
            }
            TokenTree::Literal(literal) => {
                let bytes = literal.span().byte_range();
                let is_quoted = text[bytes.clone()].contains(['"', '\'']);
                tokens.push(Token { bytes, is_quoted });
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => tokens.push(code_at(tree.span())),
        }
    }
}

fn code_at(span: Span) -> Token {
    Token { bytes: span.byte_range(), is_quoted: false }
}

/// Whether the token was made from a comment, as documentation becomes attributes.
fn is_documentation(text: &str, span: Span) -> bool {
    ["//", "/*"].iter().any(|start| text[span.byte_range()].starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        blank_all_but_code(text).expect("Rust").split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_and_literals_are_blank() {
        assert_eq!(code("a // unsafe\nb"), "a b");
        assert_eq!(code("//! unsafe\n/// unsafe\na /** unsafe */ b"), "a b");
        assert_eq!(code("a /* x /* y */ unsafe */ b"), "a b");
        assert_eq!(code(r#"a "un\"safe" b"#), "a b");
        assert_eq!(code(r##"a r#"un"safe"# b"##), "a b");
        assert_eq!(code(r#"a c"unsafe" b"unsafe" b"#), "a b");
        assert_eq!(code(r"a '\'' '\u{41}' '/' b"), "a b");
    }

    #[test]
    fn lifetimes_names_and_numbers_stay() {
        assert_eq!(code("fn f<'a>(r: &'a u8, b: &'a u8)"), "fn f<'a>(r: &'a u8, b: &'a u8)");
        assert_eq!(code("r#type / 3.5e1_f32 // ä\n+ 'ä'"), "r#type / 3.5e1_f32 +");
    }

    #[test]
    fn lines_of_comments_alone_are_known() {
        let text = "//! One.\n\nfn f() { // two\n    /* three\n\n    four */ \"\n// five\n\"; /* ä */\n/* six */\n}\n";
        let expected = [true, false, false, true, false, false, false, false, true, false];
        assert_eq!(comment_lines(text).expect("Rust"), expected);
    }

    #[test]
    fn what_is_no_rust_is_an_error() {
        assert!(blank_all_but_code("fn f( {").is_err());
    }
}
