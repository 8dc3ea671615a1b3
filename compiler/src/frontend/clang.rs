//! Compiles one source with clang.
//!
//! clang's compiler proper (`-cc1`) is called directly: the driver in front of it would only compute the flags that we
//! know. Built-in functions are declared by clang's own tables (`-fdeclare-opencl-builtins`), which takes 10 ms where
//! parsing the full header takes 120 ms. LLVM's passes stay off: clean-up comes after the library is linked in.

use std::ffi::CString;
use std::time::Duration;

use super::clang_library::{self, ClangJob, ClangOutput};
use super::extension_functions::may_name_functions;
use super::header_files::{HEADER_FOLDER, SOURCE_PATH, header_files};
use super::source::prepare_source;
use super::{CompiledObject, FrontendConfig, FrontendError};
use crate::progress::begin_stage;
use crate::stage_times::Stopwatch;
use lockstep_protocol::build_options::{BuildOptions, InputLanguage, LanguageVersion, Macro, Warnings};
use lockstep_protocol::features;
use lockstep_protocol::job::{Header, ReadFile};

/// The name by which diagnostics, macros and debug information call the program's text.
const SOURCE_NAME: &str = "program.cl";
/// How many bytes of clang's messages are kept.
const MAX_LOG: usize = 1 << 20;

/// An object, and the files on disk that were read for it.
#[derive(Clone, Debug)]
pub struct RecordedCompilation {
    /// The object that came out.
    pub object: CompiledObject,
    /// Every file that was read beside what the caller gave, with the hash of its contents at that time.
    pub read_files: Vec<ReadFile>,
    /// What its stages took, in their order.
    pub times: Vec<(&'static str, Duration)>,
}

/// Compiles one source. `headers` are found by `#include` before any directory.
pub fn compile_source(
    config: &FrontendConfig,
    source: &[u8],
    headers: &[Header],
    options: &BuildOptions,
) -> Result<CompiledObject, FrontendError> {
    compile_recorded(config, source, headers, options).map(|compilation| compilation.object)
}

/// The same, and which files were read with what contents.
pub fn compile_recorded(
    config: &FrontendConfig,
    source: &[u8],
    headers: &[Header],
    options: &BuildOptions,
) -> Result<RecordedCompilation, FrontendError> {
    if options.input == InputLanguage::Spir && !is_bitcode(source) && !may_be_text(source) {
        return Err(compile_failure("error: the SPIR program is neither LLVM bitcode nor LLVM's text\n"));
    }
    let mut stopwatch = Stopwatch::start();
    let job = clang_job(config, source, headers, options)?;
    begin_stage("clang", "");
    let output = clang_library::run_clang(&job);
    stopwatch.end_stage("clang");
    judge_output(output, options, stopwatch)
}

fn clang_job(
    config: &FrontendConfig,
    source: &[u8],
    headers: &[Header],
    options: &BuildOptions,
) -> Result<ClangJob, FrontendError> {
    let memory_files = header_files(headers).map_err(|error| compile_failure(&format!("error: {error}\n")))?;
    let (arguments, source) = match options.input {
        InputLanguage::OpenCl => {
            let mut arguments = language_arguments(config, options);
            include_arguments(!headers.is_empty(), options, &mut arguments);
            (arguments, prepare_source(source))
        }
        // SPIR goes through clang as well: it reads bitcode of any age, and text, and verifies it.
        InputLanguage::Spir => (spir_arguments(), source.to_vec()),
    };
    let declares_extensions = options.input == InputLanguage::OpenCl
        && may_name_functions(&source, &memory_files, &arguments, config.reads_files);
    let terminated: Result<Vec<CString>, _> = arguments.into_iter().map(CString::new).collect();
    Ok(ClangJob {
        arguments: terminated.map_err(|_| compile_failure("error: an option contains a null character\n"))?,
        source_path: if headers.is_empty() { SOURCE_NAME } else { SOURCE_PATH },
        source,
        memory_files,
        declares_extensions,
        reads_files: config.reads_files,
    })
}

fn judge_output(
    output: ClangOutput,
    options: &BuildOptions,
    stopwatch: Stopwatch,
) -> Result<RecordedCompilation, FrontendError> {
    let mut message_log = readable_log(&output.messages);
    match output.bitcode {
        Some(bitcode) => Ok(RecordedCompilation {
            object: CompiledObject { bitcode, options: options.clone(), is_library: false, log: message_log },
            read_files: output.read_files,
            times: stopwatch.into_times(),
        }),
        None => {
            if message_log.is_empty() {
                message_log.push_str("error: clang failed without a message\n");
            }
            Err(FrontendError::CompileFailure { log: message_log })
        }
    }
}

pub(super) fn compile_failure(log: &str) -> FrontendError {
    FrontendError::CompileFailure { log: log.to_owned() }
}

/// Plain bitcode or bitcode in LLVM's wrapper; clang takes anything else for LLVM's text.
fn is_bitcode(bytes: &[u8]) -> bool {
    bytes.starts_with(b"BC\xc0\xde") || bytes.starts_with(&[0xde, 0xc0, 0x17, 0x0b])
}

/// Whether LLVM's text could be made of such bytes. Nothing at all would be a module as well, and is more likely a mistake.
fn may_be_text(bytes: &[u8]) -> bool {
    !bytes.is_empty() && std::str::from_utf8(bytes).is_ok()
}

/// The messages, not too many, with the names that the application gave its headers.
fn readable_log(messages: &[u8]) -> String {
    let kept_messages = &messages[..messages.len().min(MAX_LOG)];
    let mut message_log =
        String::from_utf8_lossy(kept_messages).replace(SOURCE_PATH, SOURCE_NAME).replace(HEADER_FOLDER, "");
    if messages.len() > MAX_LOG {
        message_log.push_str("\n[the rest of the messages is left out]\n");
    }
    message_log
}

/// Has clang look among the headers, for names in quotes then in the working directory, at last in the folders that the
/// options name. Without headers the working directory is where the text is.
fn include_arguments(has_headers: bool, options: &BuildOptions, arguments: &mut Vec<String>) {
    if has_headers {
        arguments.extend(["-I", HEADER_FOLDER, "-iquote", "."].map(str::to_owned));
        for kind in ["macro", "debug"] {
            arguments.push(format!("-f{kind}-prefix-map={HEADER_FOLDER}="));
            arguments.push(format!("-f{kind}-prefix-map={SOURCE_PATH}={SOURCE_NAME}"));
        }
    }
    arguments.extend(options.include_dirs.iter().map(|directory| format!("-I{directory}")));
}

fn spir_arguments() -> Vec<String> {
    let mut arguments = common_arguments();
    arguments.extend(["-x", "ir"].map(str::to_owned));
    arguments
}

fn common_arguments() -> Vec<String> {
    ["-triple", "spir64-unknown-unknown", "-emit-llvm-bc", "-disable-llvm-passes"].map(str::to_owned).to_vec()
}

fn language_arguments(config: &FrontendConfig, options: &BuildOptions) -> Vec<String> {
    let mut arguments = common_arguments();
    let version = options.language_version();
    arguments.extend(["-x", "cl", "-finclude-default-header", "-fdeclare-opencl-builtins"].map(str::to_owned));
    arguments.push(format!("-cl-std={}", version.clang_name()));
    // Without the generic address space clang crashes where an array of pointers to functions is initialised.
    let function_pointers = if version >= LanguageVersion::Cl20 { ",+__cl_clang_function_pointers" } else { "" };
    arguments.push(format!("-cl-ext={}{function_pointers}", features::clang_extension_list()));
    // `-O2` lets clang emit what later passes want (lifetimes, no `optnone`). No library call may be guessed from a
    // name: there is no C library on the device. Programs that reinterpret pointers are common, and OpenCL had an
    // option of its own to promise that they do not.
    arguments.extend(
        [
            "-O2",
            "-fno-builtin",
            // With them `break` goes through a variable that says where to, which stays a second exit of a loop.
            "-disable-lifetime-markers",
            "-fno-threadsafe-statics",
            "-fgnuc-version=4.2.1",
            "-ferror-limit",
            "50",
            "-main-file-name",
            SOURCE_NAME,
        ]
        .map(str::to_owned),
    );
    if version >= LanguageVersion::ClCpp10 {
        // Objects with virtual functions have no information about their types: the language has no `typeid` and no `dynamic_cast`.
        arguments.push("-fno-rtti".to_owned());
    }
    if !options.strict_aliasing {
        arguments.push("-relaxed-aliasing".to_owned());
    }
    let source_lines = options.debug || config.source_lines;
    if source_lines {
        arguments.extend(
            ["-debug-info-kind=line-tables-only", "-dwarf-version=5", "-fdebug-compilation-dir=."].map(str::to_owned),
        );
    } else {
        arguments.push("-discard-value-names".to_owned());
    }
    math_arguments(options, &mut arguments);
    if options.uniform_work_group_size {
        arguments.push("-cl-uniform-work-group-size".to_owned());
    }
    // Names of arguments cost nothing, and clGetKernelArgInfo may always know them.
    arguments.push("-cl-kernel-arg-info".to_owned());
    match options.warnings {
        Warnings::Show => {}
        Warnings::Hide => arguments.push("-w".to_owned()),
        Warnings::AsErrors => arguments.push("-Werror".to_owned()),
    }
    // Older programs were written with compilers that let this pass with a warning. `-Werror` says what becomes of those.
    if version < LanguageVersion::Cl30 && options.warnings != Warnings::AsErrors {
        arguments.extend(["-Wno-error=incompatible-pointer-types", "-Wno-error=implicit-int"].map(str::to_owned));
    }
    arguments.extend(options.warning_flags.iter().cloned());
    predefined_macros(config, version, &mut arguments);
    for change in &options.macros {
        arguments.push(match change {
            Macro::Define(definition) => format!("-D{definition}"),
            Macro::Undefine(name) => format!("-U{name}"),
        });
    }
    arguments
}

fn math_arguments(options: &BuildOptions, arguments: &mut Vec<String>) {
    let math_options = &options.math;
    // Products and sums of one expression may always be one operation (OpenCL C, 6.12.2); those of several where exact
    // rounding was given up. clang itself takes `-cl-mad-enable` for a hint to the back end, and so finite numbers.
    let fuses = math_options.mad_enable || math_options.unsafe_optimizations || math_options.fast_relaxed;
    arguments.push(if fuses { "-ffp-contract=fast-honor-pragmas" } else { "-ffp-contract=on" }.to_owned());
    if math_options.finite_only {
        arguments.extend(["-menable-no-infs", "-menable-no-nans"].map(str::to_owned));
    }
    // `-cl-denorms-are-zero` allows flushing; keeping denormals is allowed too.
    for (wanted, flag) in [
        (math_options.single_precision_constant, "-cl-single-precision-constant"),
        (math_options.correctly_rounded_divide_sqrt, "-cl-fp32-correctly-rounded-divide-sqrt"),
        (math_options.mad_enable, "-cl-mad-enable"),
        (math_options.no_signed_zeros, "-cl-no-signed-zeros"),
        (math_options.unsafe_optimizations, "-cl-unsafe-math-optimizations"),
        (math_options.finite_only, "-cl-finite-math-only"),
        (math_options.fast_relaxed, "-cl-fast-relaxed-math"),
    ] {
        if wanted {
            arguments.push(flag.to_owned());
        }
    }
}

/// The macros that OpenCL C leaves to the device (OpenCL C 3.0, section 6.14).
fn predefined_macros(config: &FrontendConfig, version: LanguageVersion, arguments: &mut Vec<String>) {
    arguments.extend(features::version_macros(version));
    let mut define_macro = |definition: &str| arguments.push(format!("-D{definition}"));
    define_macro("__ENDIAN_LITTLE__=1");
    features::macros_unknown_to_clang(version).iter().for_each(|definition| define_macro(definition));
    if config.fast_fma {
        define_macro("FP_FAST_FMA=1");
        define_macro("FP_FAST_FMAF=1");
    }
}
