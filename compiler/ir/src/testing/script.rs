//! What a filetest says, and the comparison with what is found.

use crate::verify::Stage;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A fact about a line: the line's code with single blanks, the fact's key and value.
pub type Fact = (String, String, String);

/// A filetest's directives and facts.
pub struct Script {
    /// The tests to run.
    pub tests: Vec<String>,
    /// The stage of the text.
    pub stage: Stage,
    /// Other directives on lines of their own, with their line numbers.
    pub directives: Vec<(usize, String, String)>,
    /// The facts about lines.
    pub facts: Vec<Fact>,
}

/// Splits a line at the first `;` outside of strings.
fn split_comment(line: &str) -> (&str, Option<&str>) {
    let mut in_string = false;
    let mut escaped = false;
    for (index, character) in line.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            ';' if !in_string => return (&line[..index], Some(&line[index + 1..])),
            _ => {}
        }
    }
    (line, None)
}

fn single_blanks(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `KEY: VALUE`; a key is one word.
fn key_value(text: &str) -> Option<(String, String)> {
    let (key, value) = text.split_once(':')?;
    let key = key.trim();
    let is_word = !key.is_empty() && key.chars().all(|character| character.is_ascii_alphanumeric() || character == '_');
    is_word.then(|| (key.to_string(), single_blanks(value)))
}

/// All filetests in a folder and in those within it, in order.
///
/// # Errors
///
/// When a folder cannot be read.
pub fn find_scripts(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut scripts = Vec::new();
    add_scripts(folder, &mut scripts)?;
    scripts.sort();
    Ok(scripts)
}

fn add_scripts(folder: &Path, scripts: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            add_scripts(&path, scripts)?;
        } else if path.extension().is_some_and(|extension| extension == "pir") {
            scripts.push(path);
        }
    }
    Ok(())
}

/// What a filetest says.
pub fn parse_script(text: &str) -> Script {
    let mut script = Script { tests: Vec::new(), stage: Stage::Imported, directives: Vec::new(), facts: Vec::new() };
    // Behind `; output:` stands what a pass wrote.
    let lines = text.lines().take_while(|line| !line.starts_with("; output: "));
    for (number, line) in lines.enumerate() {
        let (code_text, comment) = split_comment(line);
        let Some(comment) = comment else { continue };
        let code_text = single_blanks(code_text);
        if code_text.is_empty() {
            match key_value(comment) {
                Some((key, value)) if key == "test" => script.tests.push(value),
                Some((key, value)) if key == "stage" && value == "regions" => script.stage = Stage::Regions,
                Some((key, value)) if key == "stage" && value == "normalized" => script.stage = Stage::Normalized,
                Some((key, value)) if key == "stage" && value == "linearized" => script.stage = Stage::Linearized,
                Some((key, value)) => script.directives.push((number + 1, key, value)),
                None => {}
            }
        } else {
            let facts = comment.split(';').filter_map(key_value);
            script.facts.extend(facts.map(|(key, value)| (code_text.clone(), key, value)));
        }
    }
    script
}

/// Fails unless the found facts are exactly those written with one of the keys.
pub fn compare_facts(script: &Script, keys: &[&str], mut found_facts: Vec<Fact>) -> Result<(), String> {
    let mut message = String::new();
    for fact in script.facts.iter().filter(|(_, key, _)| keys.contains(&key.as_str())) {
        match found_facts.iter().position(|found_fact| found_fact == fact) {
            Some(position) => {
                found_facts.swap_remove(position);
            }
            None => {
                let _ = write!(message, "\n  not so:  {} ; {}: {}", fact.0, fact.1, fact.2);
            }
        }
    }
    for (line, key, value) in found_facts {
        let _ = write!(message, "\n  missing: {line} ; {key}: {value}");
    }
    if message.is_empty() { Ok(()) } else { Err(message) }
}
