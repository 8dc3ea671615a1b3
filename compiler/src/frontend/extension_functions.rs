//! Functions of extensions that clang does not declare by itself: which programs get declarations of them.
//!
//! clang knows most built-in functions from tables, without reading a word. The others are declared in a header of the built-in
//! library's ([`lockstep_kernels::PROGRAM_DECLARATIONS`]), which takes clang a third as long as everything else that it does for a small
//! program. So only programs see it that may name one of these functions.

use super::clang_library::MemoryFile;

/// Parts of names of which each of the functions has one.
const NAME_PARTS: [&[u8]; 2] = [b"intel_", b"work_group_"];

/// Whether a program of this text, with these headers and macros, may call a function that clang does not declare. Of files on disk
/// nothing is known before clang reads them.
pub(super) fn may_name_functions(
    source: &[u8],
    headers: &[MemoryFile],
    arguments: &[String],
    reads_files: bool,
) -> bool {
    let mut texts = headers.iter().map(|header| &*header.contents).chain(arguments.iter().map(String::as_bytes));
    let has_part = |text: &[u8]| NAME_PARTS.iter().any(|part| contains_bytes(text, part));
    has_part(source) || texts.any(has_part) || (reads_files && contains_bytes(source, b"include"))
}

fn contains_bytes(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_wherever_it_may_be() {
        let names = |source: &str, header: &str, argument: &str, reads_files| {
            let headers = [MemoryFile { path: b"/a.h".to_vec(), contents: header.as_bytes().to_vec() }];
            may_name_functions(source.as_bytes(), &headers, &[argument.to_owned()], reads_files)
        };
        assert!(!names("kernel void f() {}", "", "-DA=1", true));
        assert!(names("x = work_group_reduce_mul(x);", "", "", false));
        assert!(names("", "#define READ(p) intel_sub_group_block_read(p)", "", false));
        assert!(names("", "", "-DREDUCE=work_group_reduce_mul", false));
        assert!(names("#include <a.h>", "", "", true) && !names("#include <a.h>", "", "", false));
    }
}
