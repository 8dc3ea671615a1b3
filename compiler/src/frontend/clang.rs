//! Runs clang on one source.
//!
//! clang's compiler proper (`-cc1`) is called directly: the driver in front of it would only compute the flags that we
//! know. Built-in functions are declared by clang's own tables (`-fdeclare-opencl-builtins`), which takes 10 ms where
//! parsing the full header takes 120 ms. LLVM's passes stay off: clean-up comes after the library is linked in.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::dependencies::FileList;
use super::process::{self, Ending, Limits, Outcome};
use super::response_file::ResponseFile;
use super::source::prepare_source;
use super::tempdir::{self, TempDir};
use super::{Compilation, CompiledObject, FrontendConfig, FrontendError, Header};
use lockstep_protocol::build_options::{BuildOptions, InputLanguage, LanguageVersion, Macro, Warnings};
use lockstep_protocol::features;

/// The name by which diagnostics call the program's text.
const SOURCE_NAME: &str = "program.cl";
/// What clang calls it that reads it from its standard input.
const INPUT_NAME: &str = "<stdin>";
/// The file that holds the text when headers lie beside it; no header can have this name.
const SOURCE_FILE: &str = ".lockstep-program.cl";
/// Where distributions put the compiler when it is not on the search path.
const USUAL_PLACES: &[&str] = &["/usr/lib/llvm-22/bin/clang", "/usr/local/bin/clang-22", "/usr/bin/clang-22"];
/// The most output one run may leave.
const MAX_BITCODE: u64 = 1 << 30;
/// How much of clang's messages is kept.
const MAX_LOG: usize = 1 << 20;

/// Compiles one source. `headers` are found by `#include` before any directory.
pub fn compile_source(
    config: &FrontendConfig,
    source: &[u8],
    headers: &[Header<'_>],
    options: &BuildOptions,
) -> Result<CompiledObject, FrontendError> {
    run_clang(config, source, headers, options, None)
}

/// The same, and which files were read.
pub fn compile_and_list(
    config: &FrontendConfig,
    source: &[u8],
    headers: &[Header<'_>],
    options: &BuildOptions,
) -> Result<Compilation, FrontendError> {
    // Without a folder, or room in it, for the list there is still a program.
    let Some(file_list) = FileList::new(&config.temp_dir).filter(|_| options.input == InputLanguage::OpenCl) else {
        let object = compile_source(config, source, headers, options)?;
        let read_paths = (options.input == InputLanguage::Spir).then(Vec::new);
        return Ok(Compilation { object, files: read_paths });
    };
    match run_clang(config, source, headers, options, Some(&file_list)) {
        Ok(object) => Ok(Compilation { object, files: file_list.read_files() }),
        Err(error) if file_list.is_named_in(&error.build_log()) => {
            Ok(Compilation { object: compile_source(config, source, headers, options)?, files: None })
        }
        Err(error) => Err(error),
    }
}

/// What tells one installed compiler from another: the program, its size and when it was changed.
pub fn compiler_identity(config: &FrontendConfig) -> Option<String> {
    let program = find_clang(config).ok()?;
    let metadata = program.metadata().ok()?;
    Some(format!("{} {} {}.{:09}", program.display(), metadata.len(), metadata.mtime(), metadata.mtime_nsec()))
}

fn run_clang(
    config: &FrontendConfig,
    source: &[u8],
    headers: &[Header<'_>],
    options: &BuildOptions,
    file_list: Option<&FileList>,
) -> Result<CompiledObject, FrontendError> {
    if options.input == InputLanguage::Spir && !is_bitcode(source) {
        return Err(FrontendError::CompileFailure { log: "error: the SPIR program is not LLVM bitcode\n".to_owned() });
    }
    let program = find_clang(config)?;
    let mut arguments = match options.input {
        InputLanguage::OpenCl => language_arguments(config, options),
        InputLanguage::Spir => spir_arguments(),
    };
    let mut clang_input = match options.input {
        InputLanguage::OpenCl => prepare_source(source),
        InputLanguage::Spir => source.to_vec(),
    };
    let folder = match headers {
        [] => None,
        _ => Some(write_headers(config, headers, &clang_input)?),
    };
    if let Some(file_list) = file_list {
        arguments.extend(file_list.clang_arguments());
        if let Some(folder) = &folder {
            file_list.leave_out(folder.path());
        }
    }
    match &folder {
        // The text lies among the headers, so they come before the working directory, which still comes before `-I`.
        Some(folder) => {
            clang_input.clear();
            arguments.extend(name_arguments(&folder.path().join(SOURCE_FILE).to_string_lossy()));
            arguments.push("-I".into());
            arguments.push(folder.path().into());
            arguments.extend(["-iquote".into(), ".".into(), folder.path().join(SOURCE_FILE).into()]);
        }
        None => {
            arguments.extend(name_arguments(INPUT_NAME));
            arguments.push("-".into());
        }
    }
    if options.input == InputLanguage::OpenCl {
        for directory in &options.include_dirs {
            arguments.push(format!("-I{directory}").into());
        }
    }

    let response =
        ResponseFile::for_long(&arguments, &config.temp_dir).map_err(|error| FrontendError::CompileFailure {
            log: format!("error: cannot store the options in {}: {error}\n", config.temp_dir.display()),
        })?;
    if let Some(response) = &response {
        arguments.truncate(1);
        arguments.push(response.argument());
    }
    let limits = Limits { wall: config.timeout, address_space: config.memory, output: MAX_BITCODE, log: MAX_LOG };
    let outcome = process::run_program(&program, &arguments, &clang_input, &limits);
    let outcome = outcome.map_err(|error| start_error(&program, &error))?;
    judge_outcome(config, &program, outcome, folder.as_ref(), options)
}

/// Why clang could not be started.
fn start_error(program: &Path, error: &std::io::Error) -> FrontendError {
    match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::PermissionDenied => missing_compiler(Some(program)),
        std::io::ErrorKind::InvalidInput => {
            FrontendError::CompileFailure { log: "error: an option contains a null character\n".to_owned() }
        }
        _ => FrontendError::FrontendCrashed { log: format!("error: cannot run {}: {error}\n", program.display()) },
    }
}

fn judge_outcome(
    config: &FrontendConfig,
    program: &Path,
    outcome: Outcome,
    folder: Option<&TempDir>,
    options: &BuildOptions,
) -> Result<CompiledObject, FrontendError> {
    let mut message_log = readable_log(&outcome, folder);
    let is_bitcode = is_bitcode(&outcome.stdout);
    let program = program.display();
    match outcome.ending {
        // Without a status the output has to speak: clang writes bitcode only when it found no error.
        Ending::Exited(0) | Ending::Unknown if is_bitcode => Ok(CompiledObject {
            bitcode: outcome.stdout,
            options: options.clone(),
            is_library: false,
            log: message_log,
        }),
        Ending::Exited(0) => {
            message_log.push_str(&format!("error: {program} produced no LLVM bitcode; is it clang 22?\n"));
            Err(FrontendError::FrontendCrashed { log: message_log })
        }
        // clang itself turns its crashes into these two when it can.
        Ending::Exited(status) if status >= 70 && !message_log.contains("error:") => {
            message_log.push_str(&format!("error: {program} ended with status {status}\n"));
            Err(FrontendError::FrontendCrashed { log: message_log })
        }
        Ending::Exited(_) | Ending::Unknown => {
            if message_log.is_empty() {
                message_log.push_str(&format!("error: {program} failed without a message\n"));
            }
            Err(FrontendError::CompileFailure { log: message_log })
        }
        Ending::Signalled(signal) => {
            let ending_text = match signal {
                libc::SIGXFSZ => "wrote too much".to_owned(),
                libc::SIGXCPU => "used too much processor time".to_owned(),
                _ => format!("was ended by signal {signal}"),
            };
            message_log.push_str(&format!("error: the compiler ({program}) {ending_text}\n"));
            if outcome.stack < process::STACK {
                let kibibytes = outcome.stack >> 10;
                message_log.push_str(&format!(
                    "note: its stack has at most {kibibytes} KiB, the hard limit of this process (ulimit -Hs)\n"
                ));
            }
            Err(FrontendError::FrontendCrashed { log: message_log })
        }
        Ending::TimedOut => {
            let limit_seconds = config.timeout.as_secs_f64();
            message_log.push_str(&format!(
                "error: the compiler ({program}) did not end within {limit_seconds} s and was stopped\n"
            ));
            Err(FrontendError::Timeout { log: message_log })
        }
    }
}

/// Plain bitcode or bitcode in LLVM's wrapper; clang would take anything else for LLVM's text.
fn is_bitcode(bytes: &[u8]) -> bool {
    bytes.starts_with(b"BC\xc0\xde") || bytes.starts_with(&[0xde, 0xc0, 0x17, 0x0b])
}

/// The log without the names that only this machine knows.
fn readable_log(outcome: &Outcome, folder: Option<&TempDir>) -> String {
    let mut message_log = String::from_utf8_lossy(&outcome.stderr).into_owned();
    if let Some(folder) = folder {
        message_log = message_log.replace(&format!("{}/", folder.path().display()), "");
    }
    let mut message_log = name_program(&message_log, if folder.is_some() { SOURCE_FILE } else { INPUT_NAME });
    if outcome.stderr_cut {
        message_log.push_str("\n[the rest of the messages is left out]\n");
    }
    message_log
}

fn find_clang(config: &FrontendConfig) -> Result<PathBuf, FrontendError> {
    if let Some(named_clang) = &config.clang {
        return if is_program(named_clang) {
            Ok(named_clang.clone())
        } else {
            Err(missing_compiler(Some(named_clang)))
        };
    }
    let search_path = config.search_path.clone().unwrap_or_default();
    std::env::split_paths(&search_path)
        .map(|directory| directory.join("clang-22"))
        .chain(USUAL_PLACES.iter().map(PathBuf::from))
        // An empty or relative entry would mean the application's working directory.
        .find(|candidate| candidate.is_absolute() && is_program(candidate))
        .ok_or_else(|| missing_compiler(None))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

fn missing_compiler(asked_program: Option<&Path>) -> FrontendError {
    let what_is_missing = match asked_program {
        Some(path) => format!("'{}' is not a program that can be run", path.display()),
        None => "clang-22 was not found on the search path nor in /usr/lib/llvm-22/bin".to_owned(),
    };
    FrontendError::FrontendMissing {
        log: format!(
            "error: OpenCL C cannot be compiled: {what_is_missing}; install the package clang-22, \
             or name the program in LOCKSTEP_CLANG\n"
        ),
    }
}

/// The messages with the program's name for what clang calls `given_name`. A line marker in the text would give it that name as
/// well, but then the text's lines have two numbers, and clang is silent where it looks whether two things stand in one
/// line.
fn name_program(message_log: &str, given_name: &str) -> String {
    message_log.split_inclusive('\n').map(|message_line| name_program_in_line(message_line, given_name)).collect()
}

fn name_program_in_line(message_line: &str, given_name: &str) -> String {
    const INCLUDED: &str = "In file included from ";
    let (line_start, line_rest) = match message_line.strip_prefix(INCLUDED) {
        Some(line_rest) => (INCLUDED, line_rest),
        None => ("", message_line),
    };
    match line_rest.strip_prefix(given_name).filter(|line_rest| line_rest.starts_with(':')) {
        Some(line_rest) => format!("{line_start}{SOURCE_NAME}{line_rest}"),
        None => message_line.to_owned(),
    }
}

/// Has `__FILE__` and the places in debug information name the program as messages do.
fn name_arguments(given_name: &str) -> [OsString; 2] {
    [
        format!("-fmacro-prefix-map={given_name}={SOURCE_NAME}").into(),
        format!("-fdebug-prefix-map={given_name}={SOURCE_NAME}").into(),
    ]
}

fn write_headers(
    config: &FrontendConfig,
    headers: &[Header<'_>],
    source_text: &[u8],
) -> Result<TempDir, FrontendError> {
    let failure = |error_log: String| FrontendError::CompileFailure { log: error_log };
    let folder = TempDir::create(&config.temp_dir).map_err(|error| {
        failure(format!("error: cannot make a directory in {}: {error}\n", config.temp_dir.display()))
    })?;
    for header in headers {
        let name = tempdir::safe_relative(header.name)
            .filter(|name| name.as_os_str().as_bytes() != SOURCE_FILE.as_bytes())
            .ok_or_else(|| failure(format!("error: '{}' is not a usable header name\n", header.name)))?;
        folder
            .write(&name, &prepare_source(header.source))
            .map_err(|error| failure(format!("error: cannot store the header '{}': {error}\n", header.name)))?;
    }
    folder
        .write(Path::new(SOURCE_FILE), source_text)
        .map_err(|error| failure(format!("error: cannot store the source: {error}\n")))?;
    Ok(folder)
}

/// SPIR goes through the child as well: it reads bitcode of any age, verifies it, and may crash in our stead.
fn spir_arguments() -> Vec<OsString> {
    let mut arguments: Vec<OsString> = common_arguments();
    arguments.extend(["-x", "ir"].map(OsString::from));
    arguments
}

fn common_arguments() -> Vec<OsString> {
    ["-cc1", "-triple", "spir64-unknown-unknown", "-emit-llvm-bc", "-disable-llvm-passes", "-disable-free", "-o", "-"]
        .map(OsString::from)
        .to_vec()
}

fn language_arguments(config: &FrontendConfig, options: &BuildOptions) -> Vec<OsString> {
    let mut arguments = common_arguments();
    let version = options.language_version();
    arguments.extend(["-x", "cl", "-finclude-default-header", "-fdeclare-opencl-builtins"].map(OsString::from));
    arguments.push(format!("-cl-std={}", version.clang_name()).into());
    arguments.push(format!("-cl-ext={}", features::clang_extension_list()).into());
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
        .map(OsString::from),
    );
    if !options.strict_aliasing {
        arguments.push("-relaxed-aliasing".into());
    }
    let source_lines = options.debug || config.source_lines;
    if source_lines {
        arguments.extend(
            ["-debug-info-kind=line-tables-only", "-dwarf-version=5", "-fdebug-compilation-dir=."].map(OsString::from),
        );
    } else {
        arguments.push("-discard-value-names".into());
    }
    math_arguments(options, &mut arguments);
    if options.uniform_work_group_size {
        arguments.push("-cl-uniform-work-group-size".into());
    }
    // Names of arguments cost nothing, and clGetKernelArgInfo may always know them.
    arguments.push("-cl-kernel-arg-info".into());
    match options.warnings {
        Warnings::Show => {}
        Warnings::Hide => arguments.push("-w".into()),
        Warnings::AsErrors => arguments.push("-Werror".into()),
    }
    // Older programs were written with compilers that let this pass with a warning. `-Werror` says what becomes of those.
    if version < LanguageVersion::Cl30 && options.warnings != Warnings::AsErrors {
        arguments.extend(["-Wno-error=incompatible-pointer-types", "-Wno-error=implicit-int"].map(OsString::from));
    }
    arguments.extend(options.warning_flags.iter().map(OsString::from));
    predefined_macros(config, version, &mut arguments);
    for change in &options.macros {
        arguments.push(match change {
            Macro::Define(definition) => format!("-D{definition}").into(),
            Macro::Undefine(name) => format!("-U{name}").into(),
        });
    }
    arguments
}

fn math_arguments(options: &BuildOptions, arguments: &mut Vec<OsString>) {
    let math_options = &options.math;
    // Products and sums of one expression may always be one operation (OpenCL C, 6.12.2); those of several where exact
    // rounding was given up. clang itself takes `-cl-mad-enable` for a hint to the back end, and so finite numbers.
    let fuses = math_options.mad_enable || math_options.unsafe_optimizations || math_options.fast_relaxed;
    arguments.push(if fuses { "-ffp-contract=fast-honor-pragmas" } else { "-ffp-contract=on" }.into());
    if math_options.finite_only {
        arguments.extend(["-menable-no-infs", "-menable-no-nans"].map(OsString::from));
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
            arguments.push(flag.into());
        }
    }
}

/// The macros that OpenCL C leaves to the device (OpenCL C 3.0, section 6.14).
fn predefined_macros(config: &FrontendConfig, version: LanguageVersion, arguments: &mut Vec<OsString>) {
    let mut define_macro = |definition: &str| arguments.push(format!("-D{definition}").into());
    if version < LanguageVersion::ClCpp10 {
        define_macro("__OPENCL_VERSION__=300");
    }
    define_macro("__ENDIAN_LITTLE__=1");
    features::macros_unknown_to_clang(version).iter().for_each(|definition| define_macro(definition));
    if config.fast_fma {
        define_macro("FP_FAST_FMA=1");
        define_macro("FP_FAST_FMAF=1");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_program_where_a_line_begins_with_clangs_name_for_it() {
        let named = |line| name_program_in_line(line, "<stdin>");
        assert_eq!(named("<stdin>:1:2: error: x\n"), format!("{SOURCE_NAME}:1:2: error: x\n"));
        let included = format!("In file included from {SOURCE_NAME}:3:\n");
        assert_eq!(named("In file included from <stdin>:3:\n"), included);
        // What the program itself says stays.
        assert_eq!(named("    puts(\"<stdin>:1\");\n"), "    puts(\"<stdin>:1\");\n");
        assert_eq!(named("<stdin> is a name\n"), "<stdin> is a name\n");
    }
}
