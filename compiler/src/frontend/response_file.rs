//! Arguments in a file, which clang reads in place of `@` and the file's name: Linux takes no argument of 128 KiB or more,
//! and not many more bytes in all where the stack is small.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::tempdir::TempDir;

const NAME: &str = "arguments";
/// Bytes of arguments that every system takes.
const ALWAYS_TAKEN: usize = 64 << 10;

/// A private file with arguments, gone with the value.
#[derive(Debug)]
pub(super) struct ResponseFile {
    folder: TempDir,
}

impl ResponseFile {
    /// A file for these arguments, if they are more than every system takes. The first one stays outside: it tells clang
    /// what it is to be.
    pub(super) fn for_long(arguments: &[OsString], temp_dir: &Path) -> io::Result<Option<Self>> {
        let argument_bytes: usize = arguments.iter().map(|argument| argument.len() + 1).sum();
        if argument_bytes <= ALWAYS_TAKEN {
            return Ok(None);
        }
        if arguments.iter().any(|argument| argument.as_bytes().contains(&0)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let folder = TempDir::create(temp_dir)?;
        let response_text: Vec<u8> =
            arguments.iter().skip(1).flat_map(|argument| quote_argument(argument.as_bytes())).collect();
        folder.write(Path::new(NAME), &response_text)?;
        Ok(Some(Self { folder }))
    }

    /// The argument that stands for those in the file.
    pub(super) fn argument(&self) -> OsString {
        let mut argument = OsString::from("@");
        argument.push(self.folder.path().join(NAME));
        argument
    }
}

/// A line with the argument in quotes, within which a backslash takes the meaning from a quote or another backslash.
fn quote_argument(argument: &[u8]) -> Vec<u8> {
    let mut quoted_line = vec![b'"'];
    for &byte in argument {
        if matches!(byte, b'"' | b'\\') {
            quoted_line.push(b'\\');
        }
        quoted_line.push(byte);
    }
    quoted_line.extend(b"\"\n");
    quoted_line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_arguments_go_into_a_file() {
        let folder = TempDir::create(Path::new("/tmp")).unwrap();
        let arguments = |length: usize| vec![OsString::from("-cc1"), "-DA=\"\\x\" y".into(), "z".repeat(length).into()];
        assert!(ResponseFile::for_long(&arguments(1000), folder.path()).unwrap().is_none());
        let long = ALWAYS_TAKEN;
        let file = ResponseFile::for_long(&arguments(long), folder.path()).unwrap().unwrap();
        let path = file.argument().into_string().unwrap()[1..].to_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, format!("\"-DA=\\\"\\\\x\\\" y\"\n\"{}\"\n", "z".repeat(long)));
        drop(file);
        assert!(!Path::new(&path).exists());
    }

    #[test]
    fn null_characters_are_no_arguments() {
        let arguments = [OsString::from("-cc1"), "a\0b".into(), "z".repeat(ALWAYS_TAKEN).into()];
        let refused = ResponseFile::for_long(&arguments, Path::new("/tmp")).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
    }
}
