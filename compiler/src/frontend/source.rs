//! A program's text as clang gets it.
//!
//! `#pragma OPENCL EXTENSION` of an extension that is there changes nothing for most extensions, and clang, which knows no
//! pragma for them, would warn of it and with `-Werror` refuse it. Such lines are made empty, so that all others keep their
//! numbers.

use lockstep_protocol::features;

/// The text without a byte order mark and without pragmas that ask for what is there anyway.
pub(super) fn prepare_source(source: &[u8]) -> Vec<u8> {
    let prepared_text = source.strip_prefix(b"\xef\xbb\xbf").unwrap_or(source);
    let mut prepared = Vec::with_capacity(prepared_text.len());
    let mut is_continued = false;
    for line in prepared_text.split_inclusive(|&byte| byte == b'\n') {
        let content = line.trim_ascii_end();
        if is_continued || !is_idle_pragma(content) {
            prepared.extend_from_slice(line);
        } else {
            prepared.extend_from_slice(&line[content.len()..]);
        }
        is_continued = content.ends_with(b"\\");
    }
    prepared
}

/// Whether a line, without white space at its end, is a pragma that switches an extension on or off which does not heed it.
fn is_idle_pragma(pragma_line: &[u8]) -> bool {
    let Some(directive) = pragma_line.trim_ascii_start().strip_prefix(b"#") else { return false };
    let Ok(text) = std::str::from_utf8(directive) else { return false };
    let text = match text.split_once("//") {
        // That would end a comment around the line.
        Some((_, comment)) if comment.contains("*/") => return false,
        Some((text, _)) => text,
        None => text,
    };
    let Some((pragma_words, behavior)) = text.split_once(':') else { return false };
    let mut words = pragma_words.split_ascii_whitespace();
    words.by_ref().take(3).eq(["pragma", "OPENCL", "EXTENSION"])
        && words.next().is_some_and(features::has_idle_pragma)
        && words.next().is_none()
        && matches!(behavior.trim(), "enable" | "disable")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, prepared: &str) {
        assert_eq!(String::from_utf8_lossy(&prepare_source(source.as_bytes())), prepared);
    }

    #[test]
    fn pragmas_of_extensions_that_are_there_are_empty_lines() {
        check("a\n#pragma OPENCL EXTENSION cl_khr_subgroups : enable\nb", "a\n\nb");
        check(" # pragma OPENCL  EXTENSION cl_khr_subgroup_ballot:disable // off\r\nb\n", "\r\nb\n");
        check("\u{feff}#pragma OPENCL EXTENSION cl_intel_required_subgroup_size : enable", "");
    }

    #[test]
    fn everything_else_stays() {
        for source in [
            "",
            "\n\n",
            "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n",
            "#pragma OPENCL EXTENSION cl_intel_media_block_io : enable\n",
            "#pragma OPENCL EXTENSION all : disable\n",
            "#pragma OPENCL EXTENSION cl_khr_subgroups : require\n",
            "#pragma OPENCL EXTENSION cl_khr_subgroups enable\n",
            "#pragma OPENCL EXTENSION cl_khr_subgroups : enable */\n",
            "#pragma OPENCL EXTENSION cl_khr_subgroups : enable // */\n",
            "#define A \\\n#pragma OPENCL EXTENSION cl_khr_subgroups : enable\n",
            "x = \"#pragma OPENCL EXTENSION cl_khr_subgroups : enable\";\n",
        ] {
            check(source, source);
        }
    }
}
