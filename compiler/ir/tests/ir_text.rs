//! No text makes the parser, the verifier or the printer panic, and what parses survives printing.

use lockstep_ir::ir::parse_module;
use lockstep_ir::testing::Random;
use lockstep_ir::verify::{Stage, verify_module};
use std::path::{Path, PathBuf};

fn texts(dir: &Path, output: &mut Vec<(PathBuf, String)>) {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            texts(&path, output);
        } else if path.extension().is_some_and(|e| e == "pir") {
            let text = std::fs::read_to_string(&path).unwrap();
            output.push((path, text));
        }
    }
}

/// Cuts a text where the kind of character changes.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let kind = |character: char| {
        if character.is_alphanumeric() {
            0
        } else if character.is_whitespace() {
            1
        } else {
            2
        }
    };
    let mut last = None;
    for (index, character) in text.char_indices() {
        if index > start && (last != Some(kind(character)) || kind(character) == 2) {
            pieces.push(&text[start..index]);
            start = index;
        }
        last = Some(kind(character));
    }
    pieces.push(&text[start..]);
    pieces
}

#[test]
fn mutated_texts_never_panic() {
    let mut all = Vec::new();
    texts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests"), &mut all);
    let strange = ["", "0", "-1", "4294967295", "i128", "i0", "f16", "v0", "v4194303", "b0", "r1", "\"", "inf", "null"];
    let mut random = Random::new(1);
    let (mut parsed, mut verified) = (0, 0);
    for (path, text) in &all {
        let original = pieces(text);
        for _ in 0..300 {
            let mut pieces = original.clone();
            for _ in 0..1 + random.below(4) {
                let position = random.below(pieces.len());
                match random.below(5) {
                    0 => {
                        pieces.remove(position);
                    }
                    1 => pieces[position] = pieces[random.below(pieces.len())],
                    2 => pieces[position] = strange[random.below(strange.len())],
                    3 => {
                        let other = random.below(pieces.len());
                        pieces.swap(position, other);
                    }
                    _ => pieces.truncate(pieces.len() - random.below(pieces.len().min(3))),
                }
                if pieces.is_empty() {
                    break;
                }
            }
            let Ok(module) = parse_module(&pieces.concat()) else { continue };
            parsed += 1;
            let printed = module.to_string();
            let again = parse_module(&printed);
            let again = again.unwrap_or_else(|error| panic!("{}: {error}\n{printed}", path.display()));
            assert_eq!(again.to_string(), printed, "{}", path.display());
            for stage in [Stage::Imported, Stage::Regions] {
                verified += usize::from(verify_module(&module, stage).is_ok());
            }
        }
    }
    assert!(parsed > 100 && verified > 20, "{parsed} of the texts parse, {verified} verify");
}

#[test]
fn random_bytes_never_panic() {
    let mut random = Random::new(2);
    for _ in 0..20_000 {
        let bytes: Vec<u8> = (0..random.below(60)).map(|_| random.below(256) as u8).collect();
        let _ = parse_module(&String::from_utf8_lossy(&bytes));
    }
}
