//! What the driver asks of the compiler's process, and what that answers.
//!
//! A process reads a [`Request`] from its standard input, does the job and writes an [`Answer`] to its standard output, each in
//! postcard's form behind its length. Then it waits a while for another job of the same program, of whose sources it knows all that
//! they could have made of it.

use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::build_failure::FrontendError;
use crate::build_options::BuildOptions;
use crate::compile_options::{CompileOptions, Tier};
use crate::feature_level::FeatureLevel;
use crate::kernel_object::KernelObject;
use crate::portable_program::{CompiledObject, LinkedProgram};
use crate::program_metadata::Outline;
use crate::spirv_module::SpecializationValue;
use crate::variables::{FormatData, GlobalData};

/// A job, and for whom.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Request {
    /// The name of the build of the driver that asks.
    pub build: String,
    /// Whether the time of each stage is written to standard error.
    pub time: bool,
    /// The folder that receives each kernel after every pass.
    pub dump: Option<PathBuf>,
    /// Whether it is to take less of the processors than others do, as nobody waits for it.
    pub in_background: bool,
    /// The processors that code is made for; none: those of this one's kind.
    pub level: Option<FeatureLevel>,
    /// What is to be done.
    pub job: Job,
}

/// What is to be done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Job {
    /// Compiles a source; answered by [`Product::Object`].
    CompileSource(SourceFiles),
    /// Compiles a source and makes a program of it alone; answered by [`Product::Program`].
    BuildProgram(SourceFiles),
    /// Makes a program of objects; answered by [`Product::Program`].
    LinkProgram(Objects),
    /// Joins objects to a library; answered by [`Product::Object`].
    LinkLibrary(Objects),
    /// Tells what there is to know of a program whose outline is lost; answered by [`Product::Program`].
    DescribeProgram(LinkedProgram),
    /// Makes code of a kernel; answered by [`Product::Code`].
    CompileKernel(Box<KernelJob>),
    /// Tells about the compiler itself; answered by [`Product::Compiler`].
    DescribeCompiler,
}

/// A source and how it is to be compiled.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SourceFiles {
    /// The program's text, or SPIR, or a SPIR-V module.
    #[serde(with = "serde_bytes")]
    pub source: Vec<u8>,
    /// Where the source is a SPIR-V module: values for its constants.
    pub specialization: Option<Vec<SpecializationValue>>,
    /// The headers that the application gave.
    pub headers: Vec<Header>,
    /// The options it is compiled with.
    pub options: BuildOptions,
    /// Whether the code shall know its source lines even when the program does not ask for `-g`.
    pub source_lines: bool,
    /// Whether it may include and embed files of the system.
    pub reads_files: bool,
}

/// A header that `clCompileProgram` embeds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Header {
    /// The name by which the source includes it.
    pub name: String,
    /// The bytes of its text.
    #[serde(with = "serde_bytes")]
    pub source: Vec<u8>,
}

impl Header {
    /// A header of this name with this text.
    pub fn new(name: &str, source: &[u8]) -> Header {
        Header { name: name.to_owned(), source: source.to_vec() }
    }
}

/// Objects and libraries, and how they are to be linked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Objects {
    /// What is linked, in the order of the call.
    pub objects: Vec<CompiledObject>,
    /// The linker's options.
    pub options: BuildOptions,
}

/// A kernel of which code is to be made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KernelJob {
    /// The kernel's program.
    pub program: LinkedProgram,
    /// The kernel's index in it.
    pub kernel: u32,
    /// The program's variables and formats, by whose indices code refers to them.
    pub variables: Vec<GlobalData>,
    /// Its printf formats.
    pub formats: Vec<FormatData>,
    /// How it is to be compiled.
    pub options: CompileOptions,
    /// The mistake of the driver, in words, for which the kernel is to be in its simplest form.
    pub mistake: Option<String>,
}

/// What a job came to. An error of code is a sentence that names pass, kernel and line where they are known.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Answer {
    /// It is done.
    Done(Product),
    /// There is no program.
    NoProgram(FrontendError),
    /// There is no code.
    NoCode(String),
    /// The request is another build's, whose name is this.
    OtherBuild(String),
}

/// What a job makes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Product {
    /// An object or a library.
    Object(BuiltObject),
    /// A linked program with its outline.
    Program(Box<BuiltProgram>),
    /// A kernel's code.
    Code(BuiltCode),
    /// What the compiler is.
    Compiler(CompilerFacts),
}

/// An object, and of what it was made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BuiltObject {
    /// The object itself.
    pub object: CompiledObject,
    /// What the compiler said.
    pub log: String,
    /// Every file that was read beside what the driver gave.
    pub read_files: Vec<ReadFile>,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadFile {
    /// Its path as the compiler made it of the include's name and the folder's.
    pub path: PathBuf,
    /// The BLAKE3 hash of what was read.
    pub hash: [u8; 32],
}

/// A program, and of what it was made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BuiltProgram {
    /// The portable form.
    pub linked: LinkedProgram,
    /// What there is to know of it without its code.
    pub outline: Outline,
    /// What compiler and linker said.
    pub log: String,
    /// As of [`BuiltObject`].
    pub read_files: Vec<ReadFile>,
}

/// A kernel's code, and what is to be said of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BuiltCode {
    /// The code itself.
    pub object: KernelObject,
    /// The tier of the code.
    pub tier: Tier,
    /// The mistake of the driver, in words, for which this is the kernel's simplest form.
    pub mistake: Option<String>,
    /// What became of the kernel, if that was wanted.
    pub report: Option<ReportTexts>,
}

/// What the compiler is, and how far it is confined on this system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompilerFacts {
    /// LLVM's name and version.
    pub llvm: String,
    /// Whether files that a job does not need are out of its reach, at least in part.
    pub files_are_confined: bool,
    /// Whether system calls that compiling does not take are refused.
    pub calls_are_confined: bool,
}

/// The report on one variant of a kernel, for people and for tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportTexts {
    /// Lines for people.
    pub text: String,
    /// The same as an object of JSON.
    pub json: String,
}

/// The descriptor on which a process leaves what it is doing, a [`ProgressRecord`] at its beginning.
pub const PROGRESS_STREAM: i32 = 3;

/// What a process is doing, as bytes of one length: each record takes the place of the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgressRecord(pub [u8; 256]);

impl ProgressRecord {
    /// A record of some words, of which as many are kept as there is room for.
    pub fn from_text(words: &str) -> ProgressRecord {
        let mut bytes = [0; 256];
        let kept = &words.as_bytes()[..words.len().min(bytes.len())];
        bytes[..kept.len()].copy_from_slice(kept);
        ProgressRecord(bytes)
    }

    /// The words in bytes that were read; empty where nothing was written.
    pub fn read_text(bytes: &[u8]) -> String {
        let length = bytes.iter().take(256).position(|&byte| byte == 0).unwrap_or(bytes.len().min(256));
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    }
}

/// Milliseconds that a process waits for another job before it ends.
pub const PATIENCE_MS: u64 = 1500;

/// Bytes of a message's length, which stands before it.
pub const LENGTH_BYTES: usize = 8;

/// The bytes of a request or an answer, its length before it.
pub fn write_message<T: Serialize>(message: &T) -> Vec<u8> {
    // No type here has a form that cannot be written; nothing at all would be refused by who reads it.
    let mut bytes = postcard::to_extend(message, vec![0; LENGTH_BYTES]).unwrap_or_else(|_| vec![0; LENGTH_BYTES]);
    let length = (bytes.len() - LENGTH_BYTES) as u64;
    bytes[..LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
    bytes
}

/// The length in bytes of a message that begins with its length, without that; none where that is not there as a whole.
pub fn message_length(bytes: &[u8]) -> Option<u64> {
    bytes.first_chunk::<LENGTH_BYTES>().map(|&length| u64::from_le_bytes(length))
}

/// The request or answer that these bytes are, all of them, without the length.
pub fn read_message<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let (message, rest) = postcard::take_from_bytes(bytes).ok()?;
    rest.is_empty().then_some(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build_options::Stage;

    fn request() -> Request {
        let options = BuildOptions::parse("-DX=1 -I inc -cl-std=CL2.0", Stage::Compile).unwrap();
        let header = Header::new("a.h", b"int a;");
        let files = SourceFiles {
            source: b"text".to_vec(),
            specialization: Some(vec![SpecializationValue { id: 3, bytes: vec![1, 2] }]),
            headers: vec![header],
            options,
            source_lines: true,
            reads_files: true,
        };
        Request {
            build: "b".into(),
            time: true,
            dump: Some("d".into()),
            in_background: false,
            level: None,
            job: Job::CompileSource(files),
        }
    }

    #[test]
    fn messages_come_back_as_they_were() {
        let sent = request();
        let bytes = write_message(&sent);
        assert_eq!(message_length(&bytes), Some((bytes.len() - LENGTH_BYTES) as u64));
        let received: Request = read_message(&bytes[LENGTH_BYTES..]).unwrap();
        let (Job::CompileSource(sent_files), Job::CompileSource(files)) = (sent.job, received.job) else {
            panic!("other job")
        };
        assert_eq!(
            (files.options.macros, files.options.include_dirs),
            (sent_files.options.macros, sent_files.options.include_dirs)
        );
        assert_eq!(files.specialization, sent_files.specialization);
        assert_eq!((files.headers[0].name.as_str(), &*files.headers[0].source), ("a.h", &b"int a;"[..]));
        assert_eq!((received.build, received.time, received.dump), ("b".into(), true, Some("d".into())));
    }

    #[test]
    fn progress_is_the_last_stage() {
        for words in ["", "linearize of kernel \"f\"", &"x".repeat(256)] {
            assert_eq!(ProgressRecord::read_text(&ProgressRecord::from_text(words).0), words);
        }
        assert_eq!(ProgressRecord::read_text(&ProgressRecord::from_text(&"y".repeat(300)).0), "y".repeat(256));
        assert_eq!(ProgressRecord::read_text(b""), "");
    }

    #[test]
    fn cut_and_lengthened_messages_are_refused() {
        let message = write_message(&request()).split_off(LENGTH_BYTES);
        for length in 0..message.len() {
            assert!(read_message::<Request>(&message[..length]).is_none(), "{length}");
        }
        assert!(read_message::<Request>(&[&message[..], &[0]].concat()).is_none());
        assert_eq!(message_length(&[0; LENGTH_BYTES - 1]), None);
    }
}
