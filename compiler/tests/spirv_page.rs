//! The lists of `docs/spirv.md` are those of the code.

use std::path::Path;

use lockstep_compiler::frontend::spirv::supported_instructions;
use lockstep_protocol::spirv_support::{CAPABILITIES, EXTENSIONS};

/// With `BLESS=1` in the environment the page is rewritten.
#[test]
fn the_page_has_the_lists_of_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/spirv.md");
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let capabilities: Vec<String> = CAPABILITIES.iter().map(|capability| format!("{capability:?}")).collect();
    let extensions: Vec<String> = EXTENSIONS.iter().map(|name| (*name).to_owned()).collect();
    let mut instructions: Vec<String> = supported_instructions().map(|opcode| format!("Op{opcode:?}")).collect();
    instructions.sort();
    let mut wanted = page.clone();
    for (name, words) in [("capabilities", capabilities), ("extensions", extensions), ("instructions", instructions)] {
        wanted = replace_list(&wanted, name, &words);
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &wanted).expect("the page can be written");
    } else {
        assert!(page == wanted, "docs/spirv.md differs from the code's tables (BLESS=1 rewrites it)");
    }
}

/// The page with another list between the lines that name it.
fn replace_list(page: &str, name: &str, words: &[String]) -> String {
    let begin = format!("<!-- from the code: {name} -->\n");
    let (before, rest) = page.split_once(&begin).expect("the list's first line");
    let (_, after) = rest.split_once("<!-- end -->\n").expect("the list's last line");
    format!("{before}{begin}{}<!-- end -->\n{after}", wrap_words(words))
}

/// Words with commas between them, in lines of at most 130 letters.
fn wrap_words(words: &[String]) -> String {
    let mut text = String::new();
    let mut line = String::new();
    for (index, word) in words.iter().enumerate() {
        let word = format!("`{word}`{}", if index + 1 == words.len() { "" } else { "," });
        if line.len() + word.len() >= 130 {
            text.push_str(line.trim_end());
            text.push('\n');
            line.clear();
        }
        line.push_str(&word);
        line.push(' ');
    }
    text.push_str(line.trim_end());
    text.push('\n');
    text
}
