//! Keeping the programs that tests build, to compile them again with another build of the driver.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use opencl_sys::CL_PROGRAM_SOURCE;

use crate::objects::Program;

/// The environment variable with the folder that receives every program that was built from source.
pub const FOLDER: &str = "LOCKSTEP_TEST_PROGRAMS";

/// What the first line of a file says before the options.
const OPTIONS: &str = "// options: ";

/// Writes the source and the options of a program that was built into [`FOLDER`], if there is one. Equal programs are
/// one file.
pub(crate) fn keep(program: &Program, options: &str) {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let source = program.info_text(CL_PROGRAM_SOURCE);
    // Programs from binaries and intermediate languages have no source; an option of several lines has no file.
    if source.is_empty() || options.contains('\n') {
        return;
    }
    let path = Path::new(&folder).join(file_name(options, &source));
    std::fs::write(&path, file_text(options, &source)).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// The options and the source in the text of a kept file.
pub fn parse_file(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix(OPTIONS)?.split_once('\n')
}

fn file_text(options: &str, source: &str) -> String {
    format!("{OPTIONS}{options}\n{source}")
}

fn file_name(options: &str, source: &str) -> String {
    let mut hasher = DefaultHasher::new();
    (options, source).hash(&mut hasher);
    format!("{:016x}.cl", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_gives_back_what_was_kept() {
        for (options, source) in [("", "kernel void k() {}\n"), ("-DA=1 -w", "// options: none\nkernel void k() {}")] {
            assert_eq!(parse_file(&file_text(options, source)), Some((options, source)));
        }
        assert_eq!(parse_file("kernel void k() {}\n"), None);
    }

    #[test]
    fn options_and_sources_tell_files_apart() {
        let names = [file_name("", "a"), file_name("a", ""), file_name("", "b")];
        assert!(names[0] != names[1] && names[0] != names[2] && names[1] != names[2]);
        assert_eq!(names[0], file_name("", "a"));
    }
}
