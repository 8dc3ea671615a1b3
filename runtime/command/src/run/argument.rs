//! The words that stand for a kernel's arguments.

use std::str::FromStr;

use lockstep_runtime::kernel::{Param, ParamKind};

use super::element::Element;
use super::fill::{Fill, open_plain_file};

/// A word as it was read, whatever it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// A number or a vector, of a type that may be said.
    Value {
        /// The type, if it was said.
        element: Option<Element>,
        /// The components as they were written.
        text: String,
    },
    /// The bytes of any value.
    Bytes(Vec<u8>),
    /// A pointer to nothing.
    Null,
    /// A buffer that is to be made.
    Buffer {
        /// How many elements it has; none: as many as a file.
        count: Option<usize>,
        /// Their type, if it was said.
        element: Option<Element>,
        /// What it holds.
        fill: Fill,
    },
    /// So many bytes of local memory.
    Local(u64),
}

impl FromStr for Word {
    type Err = String;

    fn from_str(text: &str) -> Result<Word, String> {
        if text == "null" {
            return Ok(Word::Null);
        }
        if let Some(rest) = text.strip_prefix("buffer").filter(|rest| rest.is_empty() || rest.starts_with([':', '='])) {
            return parse_buffer(rest);
        }
        match text.split_once(':') {
            Some(("local", bytes)) => parse_count(bytes).map(|bytes| Word::Local(bytes as u64)),
            Some(("hex", digits)) => parse_hex(digits).map(Word::Bytes),
            Some((name, value)) => Ok(Word::Value { element: Some(name.parse()?), text: value.to_owned() }),
            None => Ok(Word::Value { element: None, text: text.to_owned() }),
        }
    }
}

/// What follows `buffer`: `:COUNT*TYPE=FILL`.
fn parse_buffer(text: &str) -> Result<Word, String> {
    let (shape, fill) = match text.split_once('=') {
        Some((shape, fill)) => (shape, fill.parse()?),
        None => (text, Fill::Same(0)),
    };
    let Some(shape) = shape.strip_prefix(':') else {
        return match fill {
            Fill::File(_) => Ok(Word::Buffer { count: None, element: None, fill }),
            _ => Err("how many elements has it? (buffer:COUNT)".to_owned()),
        };
    };
    let (count, element) = match shape.split_once('*') {
        Some((count, name)) => (count, Some(name.parse()?)),
        None => (shape, None),
    };
    Ok(Word::Buffer { count: Some(parse_count(count)?), element, fill })
}

/// A number of elements or bytes, at least 1.
fn parse_count(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count| *count > 0);
    count.ok_or_else(|| format!("'{text}' is no size: sizes are whole numbers from 1 on"))
}

fn parse_hex(digits: &str) -> Result<Vec<u8>, String> {
    let no_bytes = || format!("'{digits}' is no row of bytes, two hexadecimal digits each");
    if digits.is_empty() || !digits.len().is_multiple_of(2) || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(no_bytes());
    }
    let parse_byte = |start: usize| u8::from_str_radix(&digits[start..start + 2], 16).map_err(|_| no_bytes());
    (0..digits.len()).step_by(2).map(parse_byte).collect()
}

/// What a parameter is to be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// A value's bytes.
    Value(Vec<u8>),
    /// A pointer to nothing.
    Null,
    /// A buffer that is to be made.
    Buffer(BufferPlan),
    /// So many bytes of local memory.
    Local(u64),
}

/// A buffer that is to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferPlan {
    /// Its size in bytes.
    pub byte_size: usize,
    /// The type of what it holds.
    pub element: Element,
    /// What it holds at first.
    pub fill: Fill,
}

/// What a word gives a parameter.
///
/// # Errors
/// In words: why it does not fit.
pub fn match_parameter(word: Word, parameter: &Param) -> Result<Given, String> {
    if parameter.is_pipe() {
        return Err("it is a pipe, which this command has none of".to_owned());
    }
    match (parameter.kind, word) {
        (ParamKind::Image, _) => Err("it is an image, which this command has none of".to_owned()),
        (ParamKind::Sampler, _) => Err("it is a sampler, which this command has none of".to_owned()),
        (ParamKind::Local, Word::Local(byte_size)) => Ok(Given::Local(byte_size)),
        (ParamKind::Local, _) => Err("it is local memory: say local:BYTES".to_owned()),
        (ParamKind::Pointer(_), Word::Null) => Ok(Given::Null),
        (ParamKind::Pointer(_), Word::Buffer { count, element, fill }) => {
            plan_buffer(parameter, count, element, fill).map(Given::Buffer)
        }
        (ParamKind::Pointer(_), _) => Err("it is a pointer: say buffer:COUNT*TYPE=FILL or null".to_owned()),
        (ParamKind::Value, Word::Value { element, text }) => match_value(parameter, element, &text).map(Given::Value),
        (ParamKind::Value, Word::Bytes(bytes)) => check_size(parameter, bytes.len()).map(|()| Given::Value(bytes)),
        (ParamKind::Value, _) => Err("it is passed by value: say VALUE, TYPE:VALUE or hex:DIGITS".to_owned()),
    }
}

fn match_value(parameter: &Param, said: Option<Element>, text: &str) -> Result<Vec<u8>, String> {
    let element = match (parameter.type_name.parse::<Element>().ok(), said) {
        (Some(own), Some(said)) if own != said => return Err(format!("it is no {said}")),
        (_, Some(element)) | (Some(element), None) => element,
        (None, None) => return Err("its type is not known here: say TYPE:VALUE or hex:DIGITS".to_owned()),
    };
    check_size(parameter, element.byte_size())?;
    element.parse_value(text)
}

fn check_size(parameter: &Param, byte_size: usize) -> Result<(), String> {
    let own_size = parameter.size as usize;
    if byte_size == own_size { Ok(()) } else { Err(format!("it has {own_size} bytes; {byte_size} are given")) }
}

fn plan_buffer(
    parameter: &Param,
    count: Option<usize>,
    said: Option<Element>,
    fill: Fill,
) -> Result<BufferPlan, String> {
    let pointee = parameter.type_name.trim_end_matches('*').trim_end();
    let element = match (pointee.parse::<Element>().ok(), said) {
        // Vectors lie in memory as their components do.
        (Some(own), Some(said)) if own.scalar != said.scalar => return Err(format!("it points to no {said}")),
        (_, Some(element)) | (Some(element), None) => element,
        (None, None) => Element::BYTE,
    };
    let asked_size = match count {
        Some(count) => Some(count.checked_mul(element.byte_size()).ok_or("the buffer is too large")?),
        None => None,
    };
    let file_size = match &fill {
        Fill::File(path) => Some((path, open_plain_file(path)?.1)),
        _ => None,
    };
    let byte_size = match (asked_size, file_size) {
        (Some(asked_size), Some((path, file_size))) if asked_size as u64 != file_size => {
            return Err(format!("{} has {file_size} bytes; the buffer has {asked_size}", path.display()));
        }
        (Some(asked_size), _) => asked_size,
        (None, Some((_, file_size))) => usize::try_from(file_size).unwrap_or(usize::MAX),
        (None, None) => 0,
    };
    match byte_size % element.byte_size() {
        0 if byte_size > 0 => Ok(BufferPlan { byte_size, element, fill }),
        _ => Err(format!("{byte_size} bytes are no elements of {} bytes each", element.byte_size())),
    }
}

#[cfg(test)]
mod tests {
    use lockstep_runtime::kernel::Space;

    use super::*;

    fn parameter(type_name: &str, kind: ParamKind, size: u32) -> Param {
        Param {
            name: "p".to_owned(),
            type_name: type_name.to_owned(),
            kind,
            size,
            align: size,
            offset: 0,
            access: "none".to_owned(),
            qualifiers: String::new(),
            readonly: false,
            restrict: false,
        }
    }

    fn pointer_to(type_name: &str) -> Param {
        parameter(&format!("{type_name}*"), ParamKind::Pointer(Space::Global), 8)
    }

    fn value_of(type_name: &str, size: u32) -> Param {
        parameter(type_name, ParamKind::Value, size)
    }

    fn given(parameter: &Param, text: &str) -> Result<Given, String> {
        match_parameter(text.parse()?, parameter)
    }

    fn buffer(byte_size: usize, name: &str, fill: Fill) -> Result<Given, String> {
        Ok(Given::Buffer(BufferPlan { byte_size, element: name.parse()?, fill }))
    }

    #[test]
    fn values_have_the_type_of_the_parameter() {
        assert_eq!(given(&value_of("int", 4), "5"), Ok(Given::Value(vec![5, 0, 0, 0])));
        assert_eq!(given(&value_of("int", 4), "int:-1"), Ok(Given::Value(vec![255; 4])));
        assert_eq!(given(&value_of("uchar4", 4), "1,2,3,4"), Ok(Given::Value(vec![1, 2, 3, 4])));
        assert_eq!(given(&value_of("struct pair", 2), "hex:0aFF"), Ok(Given::Value(vec![10, 255])));
        assert_eq!(given(&value_of("index_t", 2), "ushort:3"), Ok(Given::Value(vec![3, 0])));
        for (parameter, text, words) in [
            (value_of("int", 4), "uint:5", "it is no uint"),
            (value_of("float", 4), "float4:5", "it is no float4"),
            (value_of("index_t", 2), "3", "its type is not known here"),
            (value_of("index_t", 2), "int:3", "it has 2 bytes; 4 are given"),
            (value_of("struct pair", 2), "hex:01", "it has 2 bytes; 1 are given"),
            (value_of("int", 4), "hex:0", "no row of bytes"),
            (value_of("int", 4), "hex:é", "no row of bytes"),
            (value_of("int", 4), "thing:3", "'thing' is no type"),
            (value_of("int", 4), "buffer:3", "it is passed by value"),
            (value_of("int", 4), "null", "it is passed by value"),
            (value_of("int", 4), "", "'' is no whole number"),
        ] {
            let error = given(&parameter, text).expect_err(words);
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn buffers_have_the_type_of_what_the_parameter_points_to() {
        let float = pointer_to("float");
        assert_eq!(given(&float, "buffer:6"), buffer(24, "float", Fill::Same(0)));
        assert_eq!(given(&float, "buffer:6*float=iota"), buffer(24, "float", Fill::Iota));
        assert_eq!(given(&float, "buffer:6*float4=random(3)"), buffer(96, "float4", Fill::Random(3)));
        assert_eq!(given(&float, "null"), Ok(Given::Null));
        assert_eq!(given(&pointer_to("void"), "buffer:6=ones"), buffer(6, "uchar", Fill::Same(1)));
        assert_eq!(given(&pointer_to("struct pair"), "buffer:6*int"), buffer(24, "int", Fill::Same(0)));
        for (text, words) in [
            ("buffer:6*int", "it points to no int"),
            ("buffer:0", "'0' is no size"),
            ("buffer:-1", "'-1' is no size"),
            ("buffer:99999999999999999999", "is no size"),
            ("buffer:9223372036854775807", "the buffer is too large"),
            ("buffer", "how many elements"),
            ("buffer=zeros", "how many elements"),
            ("buffer:", "'' is no size"),
            ("buffer:4*", "'' is no type"),
            ("buffer:4=", "'' is none of zeros"),
            ("buffer=file(/no/such/file)", "/no/such/file: No such file"),
            ("buffer:4=file(/dev/zero)", "it is not a plain file"),
            ("5", "it is a pointer"),
            ("local:5", "it is a pointer"),
        ] {
            let error = given(&float, text).expect_err(words);
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn files_say_how_large_a_buffer_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("in.bin");
        std::fs::write(&path, [0; 12]).expect("it can be written");
        let words = |shape: &str| format!("buffer{shape}=file({})", path.display());
        assert_eq!(given(&pointer_to("int"), &words("")), buffer(12, "int", Fill::File(path.clone())));
        assert_eq!(given(&pointer_to("int"), &words(":3")), buffer(12, "int", Fill::File(path.clone())));
        let error = given(&pointer_to("int"), &words(":4")).expect_err("it is too small");
        assert!(error.ends_with("in.bin has 12 bytes; the buffer has 16"), "{error}");
        assert_eq!(
            given(&pointer_to("double"), &words("")),
            Err("12 bytes are no elements of 8 bytes each".to_owned())
        );
        std::fs::write(&path, []).expect("it can be written");
        given(&pointer_to("int"), &words("")).expect_err("it is empty");
    }

    #[test]
    fn local_memory_has_bytes_and_what_there_is_none_of_is_refused() {
        let local = parameter("int*", ParamKind::Local, 8);
        assert_eq!(given(&local, "local:256"), Ok(Given::Local(256)));
        for text in ["local:0", "local:-1", "local:x", "buffer:4", "4", "null"] {
            given(&local, text).expect_err(text);
        }
        for (kind, words) in [(ParamKind::Image, "it is an image"), (ParamKind::Sampler, "it is a sampler")] {
            let error = given(&parameter("t", kind, 8), "5").expect_err(words);
            assert!(error.contains(words), "{error}");
        }
        let mut pipe = pointer_to("int");
        pipe.qualifiers = "pipe".to_owned();
        assert!(given(&pipe, "buffer:4").expect_err("it is a pipe").contains("it is a pipe"));
    }
}
