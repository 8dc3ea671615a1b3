//! `; run: KERNEL(ARGS) global=8x2 local=4x1 => EXPECTED`: what a kernel does when interpreted.
//!
//! An argument is a buffer `[1, 2, 3]:i32` or `zeros(64)` (bytes), a scalar `5:i32`, a vector or struct
//! by value `value[1, 2]:i32`, `local(64)` or `null`. `offset=1x0` moves the range,
//! `steps=100` limits the steps.
//!
//! A line that runs without error must hold three times: interpreted as imported, interpreted when cut
//! into regions, and as machine code.
//!
//! Expected are, separated by commas, the contents of the buffers in order (`_`: any), then each printf
//! event as `printf fmt0(1, 2)` (bits in decimal); or `error: TEXT`, the message's first line.

use crate::interp::{Arg, Memory, NdRange, Report, STEP_LIMIT, run_limited};
use crate::ir::Module;

/// Splits at commas outside of brackets.
fn split_list(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (index, character) in text.char_indices() {
        match character {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..index].trim());
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// A number's bytes in memory.
fn parse_element(text: &str, element_type: &str) -> Result<Vec<u8>, String> {
    let error_here = || format!("{text:?} is no {element_type}");
    let parse_integer = || text.parse::<i128>().map_err(|_| error_here());
    Ok(match element_type {
        "i8" => (parse_integer()? as u8).to_le_bytes().to_vec(),
        "i16" => (parse_integer()? as u16).to_le_bytes().to_vec(),
        "i32" => (parse_integer()? as u32).to_le_bytes().to_vec(),
        "i64" => (parse_integer()? as u64).to_le_bytes().to_vec(),
        "f16" => half::f16::from_f32(text.parse().map_err(|_| error_here())?).to_le_bytes().to_vec(),
        "f32" => text.parse::<f32>().map_err(|_| error_here())?.to_le_bytes().to_vec(),
        "f64" => text.parse::<f64>().map_err(|_| error_here())?.to_le_bytes().to_vec(),
        _ => return Err(format!("{element_type:?} is no type of elements")),
    })
}

/// The bytes of `[1, 2]:i32` and the element type.
fn parse_array(text: &str) -> Result<(Vec<u8>, &str), String> {
    let error_here = || format!("{text:?} is no array");
    let (list, element_type) = text.rsplit_once(':').ok_or_else(error_here)?;
    let list = list.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).ok_or_else(error_here)?;
    let mut bytes = Vec::new();
    for part in split_list(list) {
        // `0 x 16`: sixteen zeros.
        let (number, repetitions) = match part.split_once(" x ") {
            Some((number, repetitions)) => (number, repetitions.parse().map_err(|_| error_here())?),
            None => (part, 1),
        };
        for _ in 0..repetitions {
            bytes.extend(parse_element(number, element_type)?);
        }
    }
    Ok((bytes, element_type))
}

fn show_elements(bytes: &[u8], element_type: &str) -> String {
    let element_size = parse_element("0", element_type).map_or(1, |bytes_of_zero| bytes_of_zero.len());
    let elements: Vec<String> = bytes.chunks(element_size).map(|element| show_element(element, element_type)).collect();
    format!("[{}]:{element_type}", elements.join(", "))
}

fn show_element(element: &[u8], element_type: &str) -> String {
    let mut bytes = [0; 8];
    bytes[..element.len()].copy_from_slice(element);
    let bits = i64::from_le_bytes(bytes);
    match element_type {
        "f16" => half::f16::from_bits(bits as u16).to_string(),
        "f32" => f32::from_bits(bits as u32).to_string(),
        "f64" => f64::from_bits(bits as u64).to_string(),
        _ => {
            let unused = 64 - 8 * element.len();
            (bits << unused >> unused).to_string()
        }
    }
}

fn parse_sizes(text: &str) -> Result<Vec<u64>, String> {
    text.split('x').map(|number| number.parse().map_err(|_| format!("{text:?} is no size"))).collect()
}

struct Launch<'a> {
    kernel: &'a str,
    range: NdRange,
    args: Vec<Arg>,
    memory: Memory,
    steps: u64,
    expected: &'a str,
}

fn parse_launch(line: &str) -> Result<Launch<'_>, String> {
    let (call, expected) = line.split_once("=>").ok_or("a run needs `=>`")?;
    let open = call.find('(').ok_or("a run needs arguments")?;
    let close = call.rfind(')').ok_or("a run needs `)`")?;
    let mut arguments = Vec::new();
    let mut buffers = Vec::new();
    for text in split_list(&call[open + 1..close]) {
        let number = |prefix: &str| -> Option<u64> { text.strip_prefix(prefix)?.strip_suffix(')')?.parse().ok() };
        arguments.push(if text == "null" {
            Arg::Null
        } else if let Some(size) = number("local(") {
            Arg::Local(size)
        } else if let Some(size) = number("zeros(") {
            buffers.push(vec![0; size as usize]);
            Arg::Buffer(buffers.len() - 1)
        } else if let Some(list) = text.strip_prefix("value") {
            Arg::Value(parse_array(list)?.0)
        } else if text.starts_with('[') {
            buffers.push(parse_array(text)?.0);
            Arg::Buffer(buffers.len() - 1)
        } else {
            let (number, element_type) = text.split_once(':').ok_or_else(|| format!("{text:?} is no argument"))?;
            Arg::Value(parse_element(number, element_type)?)
        });
    }
    let mut range = NdRange::new(&[1], &[1]);
    let mut steps = STEP_LIMIT;
    let (mut global, mut local, mut offset) = (vec![1], vec![1], vec![]);
    for option in call[close + 1..].split_whitespace() {
        match option.split_once('=') {
            Some(("global", text)) => global = parse_sizes(text)?,
            Some(("local", text)) => local = parse_sizes(text)?,
            Some(("offset", text)) => offset = parse_sizes(text)?,
            Some(("steps", text)) => steps = text.parse().map_err(|_| format!("{text:?} is no number"))?,
            _ => return Err(format!("unknown option {option:?}")),
        }
    }
    range = NdRange { global_offset: range.global_offset, ..NdRange::new(&global, &local) };
    offset.iter().enumerate().for_each(|(dimension, &start)| range.global_offset[dimension] = start);
    let memory = Memory::new(buffers);
    Ok(Launch { kernel: call[..open].trim(), range, args: arguments, memory, steps, expected: expected.trim() })
}

/// Whether a run line expects an error.
pub fn expects_error(line: &str) -> bool {
    line.split_once("=>").is_some_and(|(_, expected)| expected.trim().starts_with("error: "))
}

/// Executes a run line with the interpreter and compares.
pub fn check_run_line(module: &Module, line: &str) -> Result<(), String> {
    let steps = parse_launch(line)?.steps;
    check_with(line, |kernel, range, arguments, memory| {
        run_limited(module, kernel, range, arguments, memory, steps).map_err(|error| error.to_string())
    })
}

/// Executes a run line and compares.
pub fn check_with(
    line: &str,
    execute: impl Fn(&str, &NdRange, &[Arg], &mut Memory) -> Result<Report, String>,
) -> Result<(), String> {
    let Launch { kernel, range, args, mut memory, expected, .. } = parse_launch(line)?;
    let outcome = execute(kernel, &range, &args, &mut memory);
    let report = match (outcome, expected.strip_prefix("error: ")) {
        (Ok(report), None) => report,
        (Ok(_), Some(_)) => return Err("runs without error".to_string()),
        (Err(error), None) => return Err(format!("fails: {error}")),
        (Err(error), Some(text)) => {
            let first_line = error.lines().next().unwrap_or_default();
            return if first_line == text { Ok(()) } else { Err(format!("fails otherwise: {first_line}")) };
        }
    };
    let prints: Vec<String> = report
        .printf
        .iter()
        .map(|event| {
            let arguments: Vec<String> = event.args.iter().map(u128::to_string).collect();
            format!("printf {}({})", event.format, arguments.join(", "))
        })
        .collect();
    let expected = split_list(expected);
    let split = expected.iter().position(|event_text| event_text.starts_with("printf")).unwrap_or(expected.len());
    let (contents, events) = expected.split_at(split);
    if contents.len() != memory.buffers.len() {
        return Err(format!("{} buffers, {} expected contents", memory.buffers.len(), contents.len()));
    }
    for (index, (&text, first_line)) in contents.iter().zip(&memory.buffers).enumerate() {
        if text == "_" {
            continue;
        }
        let (bytes, element_type) = parse_array(text)?;
        if bytes != *first_line {
            return Err(format!("buffer {index} is {}", show_elements(first_line, element_type)));
        }
    }
    if events != prints.iter().map(String::as_str).collect::<Vec<_>>() {
        return Err(format!("prints {prints:?}"));
    }
    Ok(())
}
