//! clang's libraries, called in this process: arguments, texts and files in memory go in; bitcode, messages and what was read
//! from disk come out.
//!
//! `clang_library.cpp` beside this file is the other side; the structures that both know are declared in both.

use std::ffi::{CStr, CString, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use lockstep_protocol::job::ReadFile;

const RESOURCE_OPTION: &CStr = c"-resource-dir";
/// Where clang looks for its own headers, which are in this library.
const RESOURCE_FOLDER: &CStr = c"/lockstep/clang";
/// The declarations that every program includes before its first line.
const BASE_HEADER_PATH: &[u8] = b"/lockstep/clang/include/opencl-c-base.h";
/// The text of those, of the clang that is linked.
const BASE_HEADER: &[u8] = include_bytes!(env!("LOCKSTEP_OPENCL_BASE_HEADER"));

/// A run of `clang -cc1`.
pub(super) struct ClangJob {
    /// What follows `-cc1`.
    pub arguments: Vec<CString>,
    /// Where the text is said to be. Relative, it stands for the text only as it is written here, and may be on disk as well.
    pub source_path: &'static str,
    /// The program's text, or bitcode.
    pub source: Vec<u8>,
    /// Files that hide those of the same path on disk.
    pub memory_files: Vec<MemoryFile>,
    /// Whether the program sees functions of extensions that clang does not declare by itself.
    pub declares_extensions: bool,
    /// Whether files on disk are there.
    pub reads_files: bool,
}

/// A file that exists in memory only.
pub(super) struct MemoryFile {
    /// Its absolute path.
    pub path: Vec<u8>,
    /// The bytes that clang reads from it.
    pub contents: Vec<u8>,
}

/// What a run made.
#[derive(Debug, Default)]
pub(super) struct ClangOutput {
    /// LLVM bitcode; none where an error was found.
    pub bitcode: Option<Vec<u8>>,
    /// Errors, warnings and the lines that they are about.
    pub messages: Vec<u8>,
    /// Every file on disk that was read, sorted by paths; of programs without errors only.
    pub read_files: Vec<ReadFile>,
}

/// Compiles. A crash of clang is one of this process.
pub(super) fn run_clang(job: &ClangJob) -> ClangOutput {
    let source_argument = CString::new(job.source_path).unwrap_or_default();
    let arguments: Vec<*const c_char> = job
        .arguments
        .iter()
        .map(CString::as_c_str)
        .chain([RESOURCE_OPTION, RESOURCE_FOLDER, &source_argument])
        .map(CStr::as_ptr)
        .collect();
    let declarations = if job.declares_extensions { lockstep_kernels::PROGRAM_DECLARATIONS } else { "" };
    let base_header = [BASE_HEADER, declarations.as_bytes()].concat();
    let base_header = FileInC { path: BytesInC::of(BASE_HEADER_PATH), contents: BytesInC::of(&base_header) };
    let given_files = job
        .memory_files
        .iter()
        .map(|file| FileInC { path: BytesInC::of(&file.path), contents: BytesInC::of(&file.contents) });
    let files: Vec<FileInC> = given_files.chain([base_header]).collect();
    let job_in_c = JobInC {
        arguments: arguments.as_ptr(),
        argument_count: arguments.len(),
        source_path: BytesInC::of(job.source_path.as_bytes()),
        source: BytesInC::of(&job.source),
        files: files.as_ptr(),
        file_count: files.len(),
        reads_files: job.reads_files,
    };
    let mut output = ClangOutput::default();
    // SAFETY: the job's pointers are those of vectors and slices that live until the end of this function, with their lengths,
    // the arguments are terminated, and `receive_output` is called within the call only, with the output that it is for.
    unsafe { lockstep_clang_compile(&job_in_c, receive_output, (&raw mut output).cast()) };
    output
}

/// `LockstepBytes`: bytes that whoever made them owns.
#[repr(C)]
#[derive(Clone, Copy)]
struct BytesInC {
    first: *const u8,
    length: usize,
}

impl BytesInC {
    fn of(bytes: &[u8]) -> Self {
        Self { first: bytes.as_ptr(), length: bytes.len() }
    }

    /// # Safety
    /// `first` must be null or point to `length` bytes, which stay as they are for `'a`.
    unsafe fn as_slice<'a>(self) -> &'a [u8] {
        if self.first.is_null() {
            return &[];
        }
        // SAFETY: the caller vouches for pointer and length.
        unsafe { std::slice::from_raw_parts(self.first, self.length) }
    }
}

/// `LockstepFile`: a file in memory.
#[repr(C)]
struct FileInC {
    path: BytesInC,
    contents: BytesInC,
}

/// `LockstepJob`: what [`ClangJob`] says.
#[repr(C)]
struct JobInC {
    arguments: *const *const c_char,
    argument_count: usize,
    source_path: BytesInC,
    source: BytesInC,
    files: *const FileInC,
    file_count: usize,
    reads_files: bool,
}

/// The values of `LockstepOutput`.
const BITCODE: u32 = 0;
const MESSAGES: u32 = 1;
const READ_FILE: u32 = 2;

type Receiver = unsafe extern "C" fn(context: *mut c_void, output: u32, name: BytesInC, contents: BytesInC);

unsafe extern "C" {
    fn lockstep_clang_compile(job: *const JobInC, receive: Receiver, context: *mut c_void) -> bool;
}

/// Keeps a copy of one output.
///
/// # Safety
/// `context` must point to a [`ClangOutput`] that nobody else uses meanwhile; name and contents must be valid.
unsafe extern "C" fn receive_output(context: *mut c_void, output: u32, name: BytesInC, contents: BytesInC) {
    // SAFETY: the caller vouches for all three.
    let (collected, name, contents) =
        unsafe { (&mut *context.cast::<ClangOutput>(), name.as_slice(), contents.as_slice()) };
    match output {
        BITCODE => collected.bitcode = Some(contents.to_vec()),
        MESSAGES => collected.messages = contents.to_vec(),
        READ_FILE => collected.read_files.push(ReadFile {
            path: without_dot(OsStr::from_bytes(name).as_ref()).to_owned(),
            hash: blake3::hash(contents).into(),
        }),
        _ => {}
    }
}

/// The path of a file of the working directory as people write it.
fn without_dot(path: &Path) -> &Path {
    path.strip_prefix(".").unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job_over(source: &str, memory_files: Vec<MemoryFile>, more_arguments: &[&str]) -> ClangJob {
        let arguments = ["-triple", "spir64-unknown-unknown", "-x", "cl", "-emit-llvm-bc", "-I", "/memory"];
        let arguments = arguments.iter().chain(more_arguments).map(|text| CString::new(*text).unwrap()).collect();
        ClangJob {
            arguments,
            source_path: "some.cl",
            source: source.into(),
            memory_files,
            declares_extensions: false,
            reads_files: true,
        }
    }

    fn run_over(source: &str, memory_files: Vec<MemoryFile>, more_arguments: &[&str]) -> ClangOutput {
        run_clang(&job_over(source, memory_files, more_arguments))
    }

    #[test]
    fn files_on_disk_are_told_with_what_was_read_and_those_in_memory_are_not() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("b.h"), "#define B\n").unwrap();
        let memory_files = vec![MemoryFile { path: b"/memory/a.h".into(), contents: b"#include <b.h>\n".into() }];
        let output =
            run_over("#include <a.h>\n#include <a.h>\n", memory_files, &["-I", folder.path().to_str().unwrap()]);
        assert_eq!(String::from_utf8_lossy(&output.messages), "");
        assert!(output.bitcode.unwrap().starts_with(b"BC"));
        let read_file = ReadFile { path: folder.path().join("b.h"), hash: blake3::hash(b"#define B\n").into() };
        assert_eq!(output.read_files, [read_file]);
    }

    /// Tests run in the crate's folder, where there is a file of this name.
    #[test]
    fn a_file_of_the_sources_name_is_a_file_of_its_own() {
        let job = ClangJob { source_path: "Cargo.toml", ..job_over("#include \"Cargo.toml\"\n", vec![], &[]) };
        let output = run_clang(&job);
        let messages = String::from_utf8(output.messages).unwrap();
        assert!(messages.starts_with("In file included from Cargo.toml:1:\n./Cargo.toml:1:2: error"), "{messages}");
    }

    #[test]
    fn files_on_disk_are_not_there_where_they_are_not_to_be_read() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("b.h"), "#define B\n").unwrap();
        let memory_files = vec![MemoryFile { path: b"/memory/a.h".into(), contents: b"#include <b.h>\n".into() }];
        let job = job_over("#include <a.h>\n", memory_files, &["-I", folder.path().to_str().unwrap()]);
        let output = run_clang(&ClangJob { reads_files: false, ..job });
        assert_eq!(output.bitcode, None);
        let messages = String::from_utf8(output.messages).unwrap();
        assert!(messages.contains("a.h:1:10: fatal error: 'b.h' file not found"), "{messages}");
    }

    #[test]
    fn wrong_arguments_are_messages() {
        let output = run_over("kernel void f() {}", vec![], &["-no-such-argument"]);
        assert_eq!(output.bitcode, None);
        assert_eq!(output.messages, b"error: unknown argument: '-no-such-argument'\n");
    }

    #[test]
    fn the_header_is_the_linked_clangs() {
        let source = "kernel void f(global uchar* a) { *a = 1; }";
        let output = run_over(source, vec![], &["-finclude-default-header", "-fdeclare-opencl-builtins"]);
        assert_eq!((output.bitcode.is_some(), output.read_files), (true, vec![]));
    }
}
