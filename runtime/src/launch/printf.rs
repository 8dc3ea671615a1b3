//! OpenCL's printf: reads the format as section 6.15.14 of the OpenCL C specification defines it, hands
//! each element to the C library, and writes one call's text in one piece to C's standard output, so
//! that it keeps its order with what the application prints.

use lockstep_protocol::types::Type;
use lockstep_protocol::variables::FormatData;
use std::ffi::{CStr, CString, c_char, c_int};

unsafe extern "C" {
    /// The C library's standard output stream.
    static stdout: *mut libc::FILE;
}

/// Longest text that one conversion may produce, in bytes; width and precision are cut to it.
const LONGEST: usize = 1 << 16;

/// Formats one call and prints it. `arguments` holds the elements of all arguments, 8 bytes each, as
/// `kernel_abi::PrintfFn` packs them; `string_at` gives the text at a `%s` argument's address.
/// The result is printf's: 0, or -1.
pub fn print_call(format_data: &FormatData, arguments: &[u64], string_at: impl Fn(u64) -> Vec<u8>) -> i32 {
    let Some(text) = render_call(format_data, arguments, string_at) else {
        return -1;
    };
    // SAFETY: `stdout` is the C library's open stream and `text` is readable for its length.
    let written = unsafe { libc::fwrite(text.as_ptr().cast(), 1, text.len(), stdout) };
    if written == text.len() { 0 } else { -1 }
}

/// Makes what was printed visible: called when a launch that printed has ended.
pub fn flush_output() {
    // SAFETY: `stdout` is the C library's open stream.
    unsafe { libc::fflush(stdout) };
}

/// One conversion specification.
struct Conversion {
    flags: String,
    width: Option<usize>,
    precision: Option<usize>,
    lanes: usize,
    /// `hh`, `h`, `hl`, `l` or nothing. `z` and `t` are `l`: sizes and differences have 64 bits.
    length: &'static str,
    kind: u8,
}

/// The text of one call; `None` where the format asks for what the arguments do not have.
pub fn render_call(format_data: &FormatData, arguments: &[u64], string_at: impl Fn(u64) -> Vec<u8>) -> Option<Vec<u8>> {
    let mut output = Vec::with_capacity(format_data.text.len() + 32);
    let mut remaining = format_data.text.as_slice();
    let mut argument_types = format_data.args.iter();
    let mut elements = arguments;
    while let Some((&byte, rest_of_text)) = remaining.split_first() {
        remaining = rest_of_text;
        if byte != b'%' {
            output.push(byte);
            continue;
        }
        if let Some(rest_of_text) = remaining.strip_prefix(b"%") {
            output.push(b'%');
            remaining = rest_of_text;
            continue;
        }
        let conversion = parse_conversion(&mut remaining)?;
        let &(value_type, lane_count) = argument_types.next()?;
        let (own_elements, other_elements) = elements.split_at_checked(usize::from(lane_count))?;
        elements = other_elements;
        for (lane, &bit_pattern) in own_elements.iter().enumerate().take(conversion.lanes) {
            if lane > 0 {
                output.push(b',');
            }
            format_element(&mut output, &conversion, value_type, bit_pattern, &string_at)?;
        }
    }
    Some(output)
}

/// Takes the leading bytes that are accepted off a text.
fn split_leading<'a>(remaining: &mut &'a [u8], accept: fn(&u8) -> bool) -> &'a [u8] {
    let length = remaining.iter().take_while(|byte| accept(byte)).count();
    let (leading_bytes, rest_of_text) = remaining.split_at(length);
    *remaining = rest_of_text;
    leading_bytes
}

/// Reads one conversion specification behind its `%`.
fn parse_conversion(remaining: &mut &[u8]) -> Option<Conversion> {
    let mut take_while = |accept: fn(&u8) -> bool| split_leading(remaining, accept);
    let parse_digits = |digits: &[u8]| {
        let text = std::str::from_utf8(digits).ok()?;
        Some(text.parse().unwrap_or(LONGEST).min(LONGEST))
    };
    let flags = take_while(|byte| b"-+ #0".contains(byte));
    let flags = String::from_utf8(flags.to_vec()).ok()?;
    let field_width = take_while(u8::is_ascii_digit);
    let field_width = if field_width.is_empty() { None } else { Some(parse_digits(field_width)?) };
    let precision = if take_while(|byte| *byte == b'.').is_empty() {
        None
    } else {
        let digits = take_while(u8::is_ascii_digit);
        Some(if digits.is_empty() { 0 } else { parse_digits(digits)? })
    };
    let lane_count = if take_while(|byte| *byte == b'v').is_empty() {
        1
    } else {
        match parse_digits(take_while(u8::is_ascii_digit))? {
            lane_count @ (2 | 3 | 4 | 8 | 16) => lane_count,
            _ => return None,
        }
    };
    let length = match take_while(|byte| b"hlzt".contains(byte)) {
        b"" => "",
        b"hh" => "hh",
        b"h" => "h",
        b"hl" => "hl",
        b"l" | b"ll" | b"z" | b"t" => "l",
        _ => return None,
    };
    let (&conversion_char, rest_of_text) = remaining.split_first()?;
    *remaining = rest_of_text;
    Some(Conversion { flags, width: field_width, precision, lanes: lane_count, length, kind: conversion_char })
}

/// One element: a C format for a single argument of a known type.
fn format_element(
    output: &mut Vec<u8>,
    conversion: &Conversion,
    value_type: Type,
    bit_pattern: u64,
    string_at: &impl Fn(u64) -> Vec<u8>,
) -> Option<()> {
    let mut specification = format!("%{}", conversion.flags);
    if let Some(field_width) = conversion.width {
        specification.push_str(&field_width.to_string());
    }
    if let Some(precision) = conversion.precision {
        specification.push_str(&format!(".{precision}"));
    }
    let conversion_char = conversion.kind;
    match conversion_char {
        b'd' | b'i' | b'o' | b'u' | b'x' | b'X' => {
            // The length modifier narrows; without one the argument's own type counts, as vectors
            // are not promoted.
            let field_width = match conversion.length {
                "hh" => 8,
                "h" => 16,
                "l" => 64,
                "hl" => 32,
                _ if conversion.lanes > 1 => value_type.bits().clamp(8, 64),
                _ => 32,
            }
            .min(value_type.bits().max(8));
            let unused_bits = 64 - field_width;
            let value = if matches!(conversion_char, b'd' | b'i') {
                ((bit_pattern << unused_bits) as i64) >> unused_bits
            } else {
                ((bit_pattern << unused_bits) >> unused_bits) as i64
            };
            specification.push_str("ll");
            c_format(output, specification, conversion_char, Value::Int(value))
        }
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' if value_type.is_float() => {
            c_format(output, specification, conversion_char, Value::Float(f64::from_bits(bit_pattern)))
        }
        b'c' => c_format(output, specification, conversion_char, Value::Char(bit_pattern as u8)),
        b'p' => c_format(output, specification, conversion_char, Value::Pointer(bit_pattern)),
        b's' if value_type.is_ptr() => {
            let text = if bit_pattern == 0 { b"(null)".to_vec() } else { string_at(bit_pattern) };
            c_format(output, specification, conversion_char, Value::Text(CString::new(text).ok()?))
        }
        _ => None,
    }
}

/// The argument of a one-element C format.
enum Value {
    Int(i64),
    Float(f64),
    Char(u8),
    Pointer(u64),
    Text(CString),
}

fn c_format(output: &mut Vec<u8>, mut specification: String, conversion_char: u8, value: Value) -> Option<()> {
    specification.push(char::from(conversion_char));
    let specification = CString::new(specification).ok()?;
    // SAFETY: the kind is one of the value's C type; snprintf only counts into no bytes, then has as many as it writes.
    unsafe {
        let length = usize::try_from(value.print_into(std::ptr::null_mut(), 0, &specification)).ok()?;
        let mut text = vec![0_u8; length + 1];
        value.print_into(text.as_mut_ptr().cast(), text.len(), &specification);
        output.extend_from_slice(&text[..length]);
    }
    Some(())
}

impl Value {
    /// What snprintf makes of the value, and returns.
    ///
    /// # Safety
    /// `buffer` has room for `byte_size` bytes; `specification` is one conversion whose C argument type is that of the value.
    unsafe fn print_into(&self, buffer: *mut c_char, byte_size: usize, specification: &CStr) -> c_int {
        // SAFETY: as the caller promises; each arm passes the C type of its value.
        unsafe {
            match self {
                Value::Int(integer) => libc::snprintf(buffer, byte_size, specification.as_ptr(), *integer),
                Value::Float(float) => libc::snprintf(buffer, byte_size, specification.as_ptr(), *float),
                Value::Char(byte) => libc::snprintf(buffer, byte_size, specification.as_ptr(), c_int::from(*byte)),
                Value::Pointer(address) => {
                    libc::snprintf(buffer, byte_size, specification.as_ptr(), *address as *const libc::c_void)
                }
                Value::Text(text) => libc::snprintf(buffer, byte_size, specification.as_ptr(), text.as_ptr()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_protocol::types::Space;

    fn text(format: &str, arguments: &[(Type, u8)], elements: &[u64]) -> Option<String> {
        let format_data = FormatData { text: format.as_bytes().to_vec(), args: arguments.to_vec(), is_failure: false };
        render_call(&format_data, elements, |offset| format!("text{offset}").into_bytes())
            .map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn integers() {
        let i32s = &[(Type::I32, 1)];
        assert_eq!(text("%d", i32s, &[0xffff_fffe]).unwrap(), "-2");
        assert_eq!(text("%u", i32s, &[0xffff_fffe]).unwrap(), "4294967294");
        assert_eq!(text("[%-6x]", i32s, &[255]).unwrap(), "[ff    ]");
        assert_eq!(text("%#o %%", i32s, &[8]).unwrap(), "010 %");
        assert_eq!(text("%hhd", i32s, &[0x1ff]).unwrap(), "-1");
        assert_eq!(text("%hu", i32s, &[0x1_0002]).unwrap(), "2");
        assert_eq!(text("%ld", &[(Type::I64, 1)], &[i64::MIN as u64]).unwrap(), "-9223372036854775808");
        assert_eq!(text("%zu", &[(Type::I64, 1)], &[u64::MAX]).unwrap(), u64::MAX.to_string());
        assert_eq!(text("%-3td|", &[(Type::I64, 1)], &[-7_i64 as u64]).unwrap(), "-7 |");
        assert_eq!(text("%zd", i32s, &[5]).unwrap(), "5");
        assert_eq!(text("%ztd", &[(Type::I64, 1)], &[5]), None);
        assert_eq!(text("%c%c", &[(Type::I32, 1); 2], &[104, 105]).unwrap(), "hi");
    }

    #[test]
    fn floats_strings_pointers() {
        let f = |v: f64| v.to_bits();
        assert_eq!(text("%5.2f|", &[(Type::F64, 1)], &[f(2.7184)]).unwrap(), " 2.72|");
        assert_eq!(text("%a", &[(Type::F32, 1)], &[f(1.0)]).unwrap(), "0x1p+0");
        assert_eq!(text("%g", &[(Type::F64, 1)], &[f(f64::INFINITY)]).unwrap(), "inf");
        let string = &[(Type::Ptr(Space::Constant), 1)];
        assert_eq!(text("%s %s", &[string[0]; 2], &[7, 0]).unwrap(), "text7 (null)");
        assert_eq!(text("%.3s", string, &[7]).unwrap(), "tex");
        assert_eq!(text("%p", &[(Type::Ptr(Space::Global), 1)], &[0x10]).unwrap(), "0x10");
    }

    #[test]
    fn vectors() {
        let f = |v: f64| v.to_bits();
        let values = [f(1.0), f(2.0), f(3.0), f(4.0)];
        assert_eq!(text("%2.2v4hlf", &[(Type::F32, 4)], &values).unwrap(), "1.00,2.00,3.00,4.00");
        assert_eq!(text("%v2hhd", &[(Type::I8, 2)], &[0xff, 1]).unwrap(), "-1,1");
        assert_eq!(text("%#v2hx", &[(Type::I16, 2)], &[0xfa, 0xff]).unwrap(), "0xfa,0xff");
        assert_eq!(text("%v3lu", &[(Type::I64, 3)], &[1, 2, 3]).unwrap(), "1,2,3");
    }

    #[test]
    fn what_the_arguments_do_not_have_fails() {
        assert_eq!(text("%d", &[], &[]), None);
        assert_eq!(text("%q", &[(Type::I32, 1)], &[1]), None);
        assert_eq!(text("%v5d", &[(Type::I32, 5)], &[1; 5]), None);
        assert_eq!(text("%f", &[(Type::I32, 1)], &[1]), None);
        assert_eq!(text("%", &[], &[]), None);
        assert_eq!(text("no conversions", &[], &[]).unwrap(), "no conversions");
    }
}
