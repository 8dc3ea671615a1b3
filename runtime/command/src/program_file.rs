//! Programs from files: a source or a program binary, built as an application would.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use lockstep_protocol::spirv_module::is_spirv;
use lockstep_runtime::context::Context;
use lockstep_runtime::program::{self, Program, binary, build};

/// Most bytes of a file with a program; programs are far from that.
const MOST_BYTES: u64 = 1 << 30;

/// Options for the build of a program, as clBuildProgram takes them.
#[derive(clap::Args)]
pub struct BuildArguments {
    /// Options as clBuildProgram takes them, in one text
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, default_value = "", hide_default_value = true)]
    options: String,
}

impl BuildArguments {
    /// The options, and after them these words, each of which is one option or the value of one.
    pub fn text_with(&self, words: &[String]) -> String {
        let quoted_words = words.iter().map(|word| quote_word(word));
        let parts: Vec<String> = [self.options.clone()].into_iter().chain(quoted_words).collect();
        parts.join(" ").trim_start().to_owned()
    }
}

/// Why there is no program.
#[derive(Debug)]
pub enum ProgramFailure {
    /// It cannot be built: what clGetProgramBuildInfo would give as the log.
    Build(String),
    /// The file is no program, for this reason.
    File(String),
}

impl From<std::io::Error> for ProgramFailure {
    fn from(io_error: std::io::Error) -> ProgramFailure {
        ProgramFailure::File(io_error.to_string())
    }
}

impl ProgramFailure {
    /// Tells standard error: a build's log as it is.
    pub fn print_failure(&self, path: &Path) {
        match self {
            ProgramFailure::Build(log) => eprint!("{log}"),
            ProgramFailure::File(reason) => eprintln!("lockstep: {}: {reason}", path.display()),
        }
    }
}

/// The program of a file, built.
///
/// # Errors
/// When the file is not a program, or the build fails.
pub fn build_file(path: &Path, context: &Arc<Context>, options: &str) -> Result<Arc<Program>, ProgramFailure> {
    let bytes = read_limited(path, MOST_BYTES).map_err(ProgramFailure::File)?;
    let program = make_program(path, context, &bytes).map_err(ProgramFailure::File)?;
    match build::build_program(&program, options, None) {
        Ok(()) => Ok(program),
        Err(error) => {
            let log = program.state().log;
            Err(ProgramFailure::Build(if log.is_empty() { format!("error: {}\n", error.sentence()) } else { log }))
        }
    }
}

/// The program that a file's bytes are.
fn make_program(path: &Path, context: &Arc<Context>, bytes: &[u8]) -> Result<Arc<Program>, String> {
    if binary::is_program_binary(bytes) {
        let program_binary = program::read_binary(bytes).map_err(|api_error| api_error.sentence().to_owned())?;
        return Ok(Program::with_binary(context.clone(), context.devices().to_vec(), program_binary));
    }
    if is_bitcode(bytes) || path.extension().is_some_and(|extension| extension == "ll" || extension == "bc") {
        return Ok(Program::with_llvm_ir(context.clone(), bytes.to_vec()));
    }
    if is_spirv(bytes) {
        return Program::with_spirv(context.clone(), bytes).map_err(|api_error| api_error.sentence().to_owned());
    }
    let source = program::join_source(&[bytes]).map_err(|api_error| api_error.sentence().to_owned())?;
    Ok(Program::with_source(context.clone(), source))
}

/// Whether these are LLVM bitcode, plain or in LLVM's wrapper.
fn is_bitcode(bytes: &[u8]) -> bool {
    [&b"BC\xc0\xde"[..], b"\xde\xc0\x17\x0b"].iter().any(|mark| bytes.starts_with(mark))
}

/// The bytes of a file that has at most so many.
///
/// # Errors
/// In words: why it cannot be read.
pub fn read_limited(path: &Path, most_bytes: u64) -> Result<Vec<u8>, String> {
    let file = File::open(path).map_err(|io_error| io_error.to_string())?;
    let mut bytes = Vec::new();
    file.take(most_bytes + 1).read_to_end(&mut bytes).map_err(|io_error| io_error.to_string())?;
    if bytes.len() as u64 > most_bytes { Err(format!("it has more than {most_bytes} bytes")) } else { Ok(bytes) }
}

/// A word so that it stays one among build options.
fn quote_word(word: &str) -> String {
    let is_plain = |letter: char| !letter.is_whitespace() && !matches!(letter, '"' | '\'' | '\\');
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

#[cfg(test)]
mod tests {
    use lockstep_protocol::build_options::{BuildOptions, Macro, Stage};

    use super::*;

    #[test]
    fn words_stay_words_among_the_options() {
        let macros = ["A=1", "B=a b", "C=\"text\"", "D='c'", "E=back\\slash", "F=\\\" x"];
        let words: Vec<String> = macros.iter().map(|text| format!("-D{text}")).collect();
        let arguments = BuildArguments { options: "-cl-std=CL3.0 -w".to_owned() };
        let options = BuildOptions::parse(&arguments.text_with(&words), Stage::Build).expect("they are right");
        assert_eq!(options.macros, macros.map(|text| Macro::Define(text.to_owned())));
        assert!(options.version.is_some(), "the text comes first");
    }

    #[test]
    fn words_without_a_text_are_all_there_is() {
        let arguments = BuildArguments { options: String::new() };
        assert_eq!(arguments.text_with(&[]), "");
        assert_eq!(arguments.text_with(&["-I".to_owned(), "a b".to_owned()]), "-I \"a b\"");
    }

    #[test]
    fn files_that_are_too_large_are_not_read_to_their_end() {
        let words = read_limited("/dev/zero".as_ref(), 10).expect_err("it has no end");
        assert_eq!(words, "it has more than 10 bytes");
        assert!(read_limited("/no/such/file".as_ref(), 10).is_err());
    }
}
