//! SPIR-V modules from assembly text, for tests: they need no tool of anybody's, and a test shows the module that it is about.
//!
//! A line is `%result = OpName operands` or `OpName operands`, as in the SPIR-V specification and in what other assemblers take; `;` begins a
//! comment. Ids are `%name` or `%7`, both names; texts are in quotes; enumerants go by their names. Numbers of 64 bits take
//! two words where their type was declared with so many bits. Mistakes in the text panic: it is a test's own.

#![forbid(unsafe_code)]

mod names;

use std::collections::HashMap;

use rspirv::grammar::{INSTRUCTION_TABLE, OperandKind};
use spirv::Op;

/// The bytes of a module of this version, as major and minor number.
///
/// # Panics
/// On text that is no assembly.
pub fn assemble_module(text: &str, version: (u32, u32)) -> Vec<u8> {
    let mut assembler = Assembler::default();
    for (index, line) in text.lines().enumerate() {
        let tokens = split_tokens(line);
        if !tokens.is_empty() {
            assembler.line = index + 1;
            assembler.add_instruction(&tokens);
        }
    }
    let header = [0x0723_0203, version.0 << 16 | version.1 << 8, 0, assembler.ids.len() as u32 + 1, 0];
    header.iter().chain(&assembler.words).flat_map(|word| word.to_le_bytes()).collect()
}

/// The words of a line, texts with their first quote.
fn split_tokens(line: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut letters = line.chars().peekable();
    while let Some(&letter) = letters.peek() {
        match letter {
            ';' => break,
            letter if letter.is_whitespace() => _ = letters.next(),
            '"' => tokens.push(take_text(&mut letters)),
            _ => {
                let mut token = String::new();
                while let Some(letter) = letters.next_if(|letter| !letter.is_whitespace() && *letter != ';') {
                    token.push(letter);
                }
                tokens.push(token);
            }
        }
    }
    tokens
}

fn take_text(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let mut text = String::from('"');
    letters.next();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => break,
            '\\' => text.extend(letters.next()),
            letter => text.push(letter),
        }
    }
    text
}

#[derive(Default)]
struct Assembler {
    words: Vec<u32>,
    ids: HashMap<String, u32>,
    /// The bits of the numbers of a type, by its id.
    widths: HashMap<u32, u32>,
    /// Types of floating-point numbers, by id.
    floats: HashMap<u32, u32>,
    /// The number of the line, from one.
    line: usize,
}

impl Assembler {
    fn add_instruction(&mut self, tokens: &[String]) {
        let (result, tokens) = match tokens {
            [result, equals, rest @ ..] if equals == "=" => (Some(self.id(result)), rest),
            _ => (None, tokens),
        };
        let (name, operands) = tokens.split_first().unwrap_or_else(|| self.fail("an instruction is missing"));
        let name = name.strip_prefix("Op").unwrap_or_else(|| self.fail("an instruction begins with Op"));
        let known = INSTRUCTION_TABLE.iter().find(|instruction| instruction.opname == name);
        let known = known.unwrap_or_else(|| self.fail("there is no such instruction"));
        let has_type = known.operands.first().is_some_and(|operand| operand.kind == OperandKind::IdResultType);
        let mut words = Vec::new();
        for (index, operand) in operands.iter().enumerate() {
            if index == usize::from(has_type) {
                words.extend(result);
            }
            let literal_type = words.first().copied().filter(|_| index == 1);
            self.add_operand(known.opcode, operand, literal_type, &mut words);
        }
        if operands.len() <= usize::from(has_type) {
            words.extend(result);
        }
        match (known.opcode, &words[..]) {
            (Op::TypeInt, &[id, width, ..]) => _ = self.widths.insert(id, width),
            (Op::TypeFloat, &[id, width, ..]) => {
                self.widths.insert(id, width);
                self.floats.insert(id, width);
            }
            _ => {}
        }
        self.words.push((words.len() as u32 + 1) << 16 | known.opcode as u32);
        self.words.extend(words);
    }

    fn add_operand(&mut self, opcode: Op, operand: &str, literal_type: Option<u32>, words: &mut Vec<u32>) {
        if operand.starts_with('%') {
            words.push(self.id(operand));
        } else if let Some(text) = operand.strip_prefix('"') {
            let mut bytes = text.as_bytes().to_vec();
            bytes.resize((bytes.len() / 4 + 1) * 4, 0);
            words.extend(bytes.as_chunks::<4>().0.iter().map(|&chunk| u32::from_le_bytes(chunk)));
        } else if matches!(opcode, Op::Constant | Op::SpecConstant) {
            let value_type = literal_type.unwrap_or_default();
            self.add_number(operand, value_type, words);
        } else if let Some(number) = read_integer(operand) {
            words.push(number as u32);
        } else {
            let number = names::find_enumerant(opcode, operand);
            words.push(number.unwrap_or_else(|| self.fail(&format!("{operand} is not known"))));
        }
    }

    /// Adds the words of a number of a type.
    fn add_number(&self, text: &str, value_type: u32, words: &mut Vec<u32>) {
        let number = match (self.floats.get(&value_type), read_integer(text)) {
            (Some(32), None) => text.parse::<f32>().ok().map(|number| i128::from(number.to_bits())),
            (Some(64), None) => text.parse::<f64>().ok().map(|number| i128::from(number.to_bits())),
            (Some(32), Some(number)) if !text.starts_with("0x") => Some(i128::from((number as f32).to_bits())),
            (Some(64), Some(number)) if !text.starts_with("0x") => Some(i128::from((number as f64).to_bits())),
            (_, number) => number,
        };
        let number = number.unwrap_or_else(|| self.fail(&format!("{text} is no number"))) as u64;
        words.push(number as u32);
        if self.widths.get(&value_type) == Some(&64) {
            words.push((number >> 32) as u32);
        }
    }

    fn id(&mut self, name: &str) -> u32 {
        let next = self.ids.len() as u32 + 1;
        *self.ids.entry(name.to_owned()).or_insert(next)
    }

    fn fail(&self, reason: &str) -> ! {
        panic!("line {}: {reason}", self.line)
    }
}

/// A number in decimal or, after `0x`, in hexadecimal digits.
fn read_integer(text: &str) -> Option<i128> {
    match text.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(text: &str) -> Vec<u32> {
        let bytes = assemble_module(text, (1, 2));
        bytes.as_chunks::<4>().0.iter().map(|&chunk| u32::from_le_bytes(chunk)).collect()
    }

    #[test]
    fn results_stand_after_their_types() {
        let text = "OpCapability Kernel ; a comment\n%long = OpTypeInt 64 0\n%big = OpConstant %long -2\n%sum = OpIAdd %long %big %big";
        let expected = [
            0x0723_0203,
            0x0001_0200,
            0,
            4,
            0,
            2 << 16 | 17,
            6,
            4 << 16 | 21,
            1,
            64,
            0,
            5 << 16 | 43,
            1,
            2,
            0xffff_fffe,
            0xffff_ffff,
            5 << 16 | 128,
            1,
            3,
            2,
            2,
        ];
        assert_eq!(words_of(text), expected);
    }

    #[test]
    fn texts_and_names_of_enumerants_are_read() {
        let text = "OpEntryPoint Kernel %f \"a b\"\nOpDecorate %x LinkageAttributes \"abcd\" Export\nOpStore %x %f Volatile|Aligned 4";
        let expected =
            [4 << 16 | 15, 6, 1, 0x0062_2061, 6 << 16 | 71, 2, 41, 0x6463_6261, 0, 0, 5 << 16 | 62, 2, 1, 3, 4];
        assert_eq!(words_of(text)[5..], expected);
    }

    #[test]
    #[should_panic(expected = "line 2: Nonsense is not known")]
    fn mistakes_are_told_with_their_line() {
        assemble_module("OpCapability Kernel\nOpCapability Nonsense", (1, 0));
    }
}
