//! Build-option strings: what `clBuildProgram`, `clCompileProgram` and `clLinkProgram` accept.
//!
//! The grammar is that of the OpenCL 3.0 specification, section 5.8.6 (compiler options) and 5.8.7 (linker options),
//! plus the spellings that applications in the field use although no version of the specification has them; those are
//! listed in [`TOLERATED`] and change nothing. Everything else is an error that names the option.

use serde::{Deserialize, Serialize};

use crate::option_error::OptionError;

/// Which entry point the string was given to; it decides what is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Stage {
    /// The options of `clBuildProgram`.
    #[default]
    Build,
    /// The options of `clCompileProgram`.
    Compile,
    /// The options of `clLinkProgram`.
    Link,
}

/// A version of the kernel language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum LanguageVersion {
    /// OpenCL C 1.0.
    Cl10,
    /// OpenCL C 1.1.
    Cl11,
    /// OpenCL C 1.2: what a program without `-cl-std` is compiled as (5.8.6.5: the highest 1.x version).
    #[default]
    Cl12,
    /// OpenCL C 2.0.
    Cl20,
    /// OpenCL C 3.0.
    Cl30,
    /// OpenCL C 3.1.
    Cl31,
    /// C++ for OpenCL 1.0.
    ClCpp10,
    /// C++ for OpenCL 2021.
    ClCpp2021,
}

impl LanguageVersion {
    /// All there are.
    const ALL: [LanguageVersion; 8] =
        [Self::Cl10, Self::Cl11, Self::Cl12, Self::Cl20, Self::Cl30, Self::Cl31, Self::ClCpp10, Self::ClCpp2021];

    /// The value that clang's `-cl-std=` takes. OpenCL C 3.1 is 3.0 with other macros ([`crate::features::version_macros`]).
    pub fn clang_name(self) -> &'static str {
        match self {
            Self::Cl31 => "CL3.0",
            other => other.option_value(),
        }
    }

    /// The value of `-cl-std=`.
    pub fn option_value(self) -> &'static str {
        match self {
            Self::Cl10 => "CL1.0",
            Self::Cl11 => "CL1.1",
            Self::Cl12 => "CL1.2",
            Self::Cl20 => "CL2.0",
            Self::Cl30 => "CL3.0",
            Self::Cl31 => "CL3.1",
            Self::ClCpp10 => "CLC++1.0",
            Self::ClCpp2021 => "CLC++2021",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        Some(match text.to_ascii_uppercase().as_str() {
            "CL1.0" => Self::Cl10,
            "CL1.1" => Self::Cl11,
            "CL1.2" => Self::Cl12,
            "CL2.0" => Self::Cl20,
            "CL3.0" => Self::Cl30,
            "CL3.1" => Self::Cl31,
            "CLC++" | "CLC++1.0" => Self::ClCpp10,
            "CLC++2021" => Self::ClCpp2021,
            _ => return None,
        })
    }
}

/// What the program text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum InputLanguage {
    /// Text in OpenCL C or C++ for OpenCL.
    #[default]
    OpenCl,
    /// LLVM bitcode in SPIR form (`-x spir`).
    Spir,
}

/// What becomes of warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Warnings {
    /// They go into the build log.
    #[default]
    Show,
    /// None is shown (`-w`).
    Hide,
    /// Each is an error (`-Werror`).
    AsErrors,
}

/// One change to the set of macros, in the order given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Macro {
    /// `-D name` or `-D name=value`.
    Define(String),
    /// Takes back a macro: `-U name`.
    Undefine(String),
}

/// The options that change the meaning of arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct MathOptions {
    /// Constants without a suffix are floats (`-cl-single-precision-constant`).
    pub single_precision_constant: bool,
    /// Denormal numbers may count as zero (`-cl-denorms-are-zero`).
    pub denorms_are_zero: bool,
    /// Quotients and roots of floats are rounded correctly (`-cl-fp32-correctly-rounded-divide-sqrt`).
    pub correctly_rounded_divide_sqrt: bool,
    /// `a * b + c` may be one operation of less accuracy (`-cl-mad-enable`).
    pub mad_enable: bool,
    /// The sign of a zero does not matter (`-cl-no-signed-zeros`).
    pub no_signed_zeros: bool,
    /// Sums may be reordered, and more (`-cl-unsafe-math-optimizations`).
    pub unsafe_optimizations: bool,
    /// There are no infinities and NaNs (`-cl-finite-math-only`).
    pub finite_only: bool,
    /// All of these, and functions of less accuracy (`-cl-fast-relaxed-math`).
    pub fast_relaxed: bool,
}

/// A parsed option string.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct BuildOptions {
    /// The string itself.
    pub text: String,
    /// The entry point it was given to.
    pub stage: Stage,
    /// `-D` and `-U`, in order.
    pub macros: Vec<Macro>,
    /// `-I`, in order.
    pub include_dirs: Vec<String>,
    /// `-cl-std=`, if it was given.
    pub version: Option<LanguageVersion>,
    /// What language the source is (`-x`).
    pub input: InputLanguage,
    /// `-w` and `-Werror`.
    pub warnings: Warnings,
    /// `-W...` other than `-Werror`, as given; clang judges them.
    pub warning_flags: Vec<String>,
    /// The options that change arithmetic.
    pub math: MathOptions,
    /// `-cl-opt-disable` (or `-O0`).
    pub opt_disable: bool,
    /// Pointers to different types do not alias (`-cl-strict-aliasing`).
    pub strict_aliasing: bool,
    /// All work-groups are of one size (`-cl-uniform-work-group-size`).
    pub uniform_work_group_size: bool,
    /// Sub-groups need not make progress by themselves (`-cl-no-subgroup-ifp`).
    pub no_subgroup_ifp: bool,
    /// Programs keep what kernels call their parameters (`-cl-kernel-arg-info`).
    pub kernel_arg_info: bool,
    /// Code has debug information (`-g`).
    pub debug: bool,
    /// The link makes a library (`-create-library`).
    pub create_library: bool,
    /// Later links may change the library's options (`-enable-link-options`).
    pub enable_link_options: bool,
}

impl BuildOptions {
    /// Reads an option string as the entry point `stage` must.
    pub fn parse(text: &str, stage: Stage) -> Result<Self, OptionError> {
        let words = split_words(text, stage)?;
        let options = Self { text: text.to_owned(), stage, ..Self::default() };
        let mut parser = Parser { stage, words: words.into_iter(), options };
        parser.parse_all()?;
        let options = parser.options;
        if options.enable_link_options && !options.create_library {
            // 5.8.7.1: "-enable-link-options must be specified with -create-library".
            return Err(OptionError::invalid(stage, "-enable-link-options", "needs '-create-library'"));
        }
        Ok(options)
    }

    /// The version of the language that the program is compiled as.
    pub fn language_version(&self) -> LanguageVersion {
        self.version.unwrap_or_default()
    }

    /// The options that still count when the program runs, as text for [`BuildOptions::adopt_running`]. The options of a
    /// linked program are not those of any one option string.
    pub fn running_options(&self) -> String {
        let mut words = vec![format!("-cl-std={}", self.language_version().option_value())];
        let switches = [
            (self.opt_disable, "-cl-opt-disable"),
            (self.debug, "-g"),
            (self.math.denorms_are_zero, "-cl-denorms-are-zero"),
            (self.uniform_work_group_size, "-cl-uniform-work-group-size"),
        ];
        words.extend(switches.iter().filter(|(is_set, _)| *is_set).map(|(_, word)| word.to_string()));
        words.join(" ")
    }

    /// Takes over what [`BuildOptions::running_options`] wrote.
    pub(super) fn adopt_running(&mut self, text: &str) -> Result<(), OptionError> {
        let running = Self::parse(text, Stage::Build)?;
        self.version = running.version;
        self.opt_disable = running.opt_disable;
        self.debug = running.debug;
        self.math.denorms_are_zero = running.math.denorms_are_zero;
        self.uniform_work_group_size = running.uniform_work_group_size;
        Ok(())
    }

    /// Whether the last work-group of a dimension may be smaller: "compiled for OpenCL C 2.0 or newer [...] and without
    /// the -cl-uniform-work-group-size build option" (5.9).
    pub fn allows_non_uniform_groups(&self) -> bool {
        self.language_version() >= LanguageVersion::Cl20 && !self.uniform_work_group_size
    }
}

/// Options as they are stored: the string says all but what linking has merged.
#[derive(Serialize, Deserialize)]
struct Stored {
    text: String,
    stage: Stage,
    running: String,
}

impl From<BuildOptions> for Stored {
    fn from(options: BuildOptions) -> Stored {
        Stored { running: options.running_options(), stage: options.stage, text: options.text }
    }
}

impl TryFrom<Stored> for BuildOptions {
    type Error = OptionError;

    fn try_from(stored: Stored) -> Result<BuildOptions, OptionError> {
        let mut options = BuildOptions::parse(&stored.text, stored.stage)?;
        options.adopt_running(&stored.running)?;
        Ok(options)
    }
}

/// Options that other drivers accept and applications therefore pass everywhere. They ask for nothing that this driver
/// could do differently. A name ending in `*` stands for every option that begins so.
const TOLERATED: &[&str] = &[
    "-O",
    "-O1",
    "-O2",
    "-O3",
    "-Os",
    "-Ofast", // optimisation levels of command-line compilers
    "-fbin-*",
    "-fno-bin-*", // AMD: what a program binary contains
    "-fno-*",
    "-fast-*",      // clang habits passed on unread
    "-save-temps*", // AMD: intermediate files
    "-cl-nv-*",     // NVIDIA: register limits and verbosity
    "-cl-intel-*",  // Intel: buffer sizes, register files
    "-cl-amd-*",    // AMD
    "-qcom-*",      // Qualcomm
];

fn is_tolerated(option: &str) -> bool {
    TOLERATED.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(start) => option.starts_with(start),
        None => option == *pattern,
    })
}

/// The values of `-cl-std=`.
fn offered_versions() -> String {
    LanguageVersion::ALL.map(LanguageVersion::option_value).join(", ")
}

fn versions_missing() -> String {
    format!("needs a version of OpenCL C: {}", offered_versions())
}

fn versions_unknown() -> String {
    format!("names no version of OpenCL C that is offered: {}", offered_versions())
}

struct Parser {
    stage: Stage,
    words: std::vec::IntoIter<String>,
    options: BuildOptions,
}

impl Parser {
    fn parse_all(&mut self) -> Result<(), OptionError> {
        while let Some(word) = self.words.next() {
            let is_known = self.linker_option(&word) || (self.stage != Stage::Link && self.compiler_option(&word)?);
            if !is_known && !is_tolerated(&word) {
                return Err(OptionError::unknown(self.stage, &word));
            }
        }
        Ok(())
    }

    fn error_for(&self, option: &str, problem: &str) -> OptionError {
        OptionError::invalid(self.stage, option, problem)
    }

    /// Options of 5.8.7; the math ones are compiler options as well.
    fn linker_option(&mut self, option: &str) -> bool {
        let options = &mut self.options;
        match option {
            "-create-library" if self.stage == Stage::Link => options.create_library = true,
            "-enable-link-options" if self.stage == Stage::Link => options.enable_link_options = true,
            "-cl-denorms-are-zero" => options.math.denorms_are_zero = true,
            "-cl-no-signed-zeros" => options.math.no_signed_zeros = true,
            "-cl-unsafe-math-optimizations" => options.math.unsafe_optimizations = true,
            "-cl-finite-math-only" => options.math.finite_only = true,
            "-cl-fast-relaxed-math" => options.math.fast_relaxed = true,
            "-cl-no-subgroup-ifp" => options.no_subgroup_ifp = true,
            // Not linker options by the letter, but harmless, and applications pass one string to every call.
            "-cl-opt-disable" | "-O0" => options.opt_disable = true,
            "-cl-mad-enable" => options.math.mad_enable = true,
            "-g" => options.debug = true,
            "-w" => options.warnings = Warnings::Hide,
            // A warning that `-w` hides is none that could become an error.
            "-Werror" if options.warnings == Warnings::Hide => {}
            "-Werror" => options.warnings = Warnings::AsErrors,
            _ => return false,
        }
        true
    }

    /// Options of 5.8.6.
    fn compiler_option(&mut self, option: &str) -> Result<bool, OptionError> {
        match option {
            "-cl-single-precision-constant" => self.options.math.single_precision_constant = true,
            "-cl-fp32-correctly-rounded-divide-sqrt" => self.options.math.correctly_rounded_divide_sqrt = true,
            "-cl-strict-aliasing" => self.options.strict_aliasing = true,
            "-cl-uniform-work-group-size" => self.options.uniform_work_group_size = true,
            "-cl-kernel-arg-info" => self.options.kernel_arg_info = true,
            _ => return self.option_with_value(option),
        }
        Ok(true)
    }

    fn option_with_value(&mut self, option: &str) -> Result<bool, OptionError> {
        if let Some(value) = option.strip_prefix("-cl-std") {
            let version = match value.strip_prefix('=') {
                Some("") => self.next_word("-cl-std=", &versions_missing())?,
                Some(version) => version.to_owned(),
                None if value.is_empty() => self.next_word("-cl-std", &versions_missing())?,
                None => return Ok(false),
            };
            let parsed = LanguageVersion::parse(&version)
                .ok_or_else(|| self.error_for(&format!("-cl-std={version}"), &versions_unknown()))?;
            self.options.version = Some(parsed);
        } else if let Some(version) = option.strip_prefix("-spir-std=") {
            // clang reads every SPIR version, so the number only has to be one.
            if !matches!(version, "1.2" | "2.0") {
                return Err(self.error_for(option, "names no version of SPIR that is offered: 1.2, 2.0"));
            }
        } else if let Some(value) = option.strip_prefix("-D") {
            let definition = self.value_or_next(value, "-D", "needs the name of a macro")?;
            self.options.macros.push(Macro::Define(definition));
        } else if let Some(value) = option.strip_prefix("-U") {
            let name = self.value_or_next(value, "-U", "needs the name of a macro")?;
            self.options.macros.push(Macro::Undefine(name));
        } else if let Some(value) = option.strip_prefix("-I") {
            let directory = self.value_or_next(value, "-I", "needs the name of a directory")?;
            self.options.include_dirs.push(directory);
        } else if let Some(value) = option.strip_prefix("-x") {
            let language = self.value_or_next(value, "-x", "needs the name of a language: cl, clc++, spir")?;
            self.options.input = match language.as_str() {
                "cl" => InputLanguage::OpenCl,
                // AMD's name for its C++ in kernels, from before C++ for OpenCL; the samples of its SDK pass it.
                "clc++" | "clcpp" => {
                    self.options.version.get_or_insert(LanguageVersion::ClCpp10);
                    InputLanguage::OpenCl
                }
                "spir" => InputLanguage::Spir,
                _ => {
                    return Err(
                        self.error_for(&format!("-x {language}"), "names no language that is offered: cl, clc++, spir")
                    );
                }
            };
        } else if option.starts_with("-W") && !option.contains(',') {
            // A comma would be `-Wl,`, `-Wa,`, `-Wp,`: arguments for other programs.
            self.options.warning_flags.push(option.to_owned());
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn value_or_next(&mut self, value: &str, option: &str, problem: &str) -> Result<String, OptionError> {
        if value.is_empty() { self.next_word(option, problem) } else { Ok(value.to_owned()) }
    }

    fn next_word(&mut self, option: &str, problem: &str) -> Result<String, OptionError> {
        match self.words.next() {
            Some(word) if !word.is_empty() => Ok(word),
            _ => Err(self.error_for(option, problem)),
        }
    }
}

/// Splits at white space. Quotes group; a backslash takes the meaning from a quote, a backslash or a space.
fn split_words(text: &str, stage: Stage) -> Result<Vec<String>, OptionError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut chars = text.chars().peekable();
    while let Some(character) = chars.next() {
        match (character, quote) {
            ('\0', _) => {
                return Err(OptionError::invalid(stage, text.trim_end_matches('\0'), "contains a null character"));
            }
            (_, Some(open)) if character == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            ('\\', None | Some('"')) => {
                let escaped = chars.next_if(|&next| {
                    matches!(next, '"' | '\\') || (quote.is_none() && (next == '\'' || next.is_whitespace()))
                });
                word.get_or_insert_default().push(escaped.unwrap_or('\\'));
            }
            (_, None) if character.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    if quote.is_some() {
        return Err(OptionError::invalid(stage, text, "has a quote that is not closed"));
    }
    words.extend(word);
    Ok(words)
}
