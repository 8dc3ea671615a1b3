//! What is said of a string that is not a list of options: which word is wrong, why, and what may have been meant.

use crate::build_options::Stage;

/// Options that the compiler takes, as they begin.
pub(super) const COMPILER_OPTIONS: &[&str] = &[
    "-cl-single-precision-constant",
    "-cl-fp32-correctly-rounded-divide-sqrt",
    "-cl-strict-aliasing",
    "-cl-uniform-work-group-size",
    "-cl-kernel-arg-info",
    "-cl-std=",
    "-spir-std=",
    "-D",
    "-U",
    "-I",
    "-x",
    "-W",
];
/// Options that the compiler and the linker take.
pub(super) const COMMON_OPTIONS: &[&str] = &[
    "-cl-denorms-are-zero",
    "-cl-no-signed-zeros",
    "-cl-unsafe-math-optimizations",
    "-cl-finite-math-only",
    "-cl-fast-relaxed-math",
    "-cl-no-subgroup-ifp",
    "-cl-opt-disable",
    "-cl-mad-enable",
    "-g",
    "-w",
    "-Werror",
];
/// Options that only the linker takes.
pub(super) const LINKER_OPTIONS: &[&str] = &["-create-library", "-enable-link-options"];

/// A string that is not a list of options.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct OptionError {
    /// The entry point; it decides which error code the application gets.
    pub stage: Stage,
    /// The option at fault.
    pub option: String,
    /// What is wrong with it: a sentence that names it.
    message: String,
}

impl OptionError {
    /// An option that is there, but not like this: `problem` is what stands after its name.
    pub(super) fn invalid(stage: Stage, option: &str, problem: &str) -> OptionError {
        OptionError {
            stage,
            option: option.to_owned(),
            message: format!("{} option '{option}' {problem}", kind_of_options(stage)),
        }
    }

    /// A word that is no option of the entry point.
    pub(super) fn unknown(stage: Stage, word: &str) -> OptionError {
        let elsewhere = match stage {
            Stage::Link if takes_word(COMPILER_OPTIONS, word) => Some("an option of the compiler, not of the linker"),
            Stage::Build | Stage::Compile if takes_word(LINKER_OPTIONS, word) => {
                Some("an option of clLinkProgram alone")
            }
            _ => None,
        };
        let suggestion = || nearest_option(stage, word).map(|option| format!("; did you mean '{option}'?"));
        let message = match elsewhere {
            Some(elsewhere) => format!("unknown {} option '{word}': it is {elsewhere}", kind_of_options(stage)),
            None => format!("unknown {} option '{word}'{}", kind_of_options(stage), suggestion().unwrap_or_default()),
        };
        OptionError { stage, option: word.to_owned(), message }
    }
}

/// What an entry point calls its options.
fn kind_of_options(stage: Stage) -> &'static str {
    match stage {
        Stage::Build => "build",
        Stage::Compile => "compiler",
        Stage::Link => "linker",
    }
}

/// Whether a word is one of the options, or one of them with its value.
fn takes_word(options: &[&str], word: &str) -> bool {
    options.iter().any(|&option| match option.len() {
        2 => word.starts_with(option),
        _ => word == option || option.ends_with('=') && word.starts_with(option),
    })
}

/// The name that a word was probably meant to be: one that a few letters make of it.
pub fn closest_name<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let nearest = names.map(|name| (strsim::osa_distance(word, name), name)).min();
    nearest.filter(|(distance, _)| *distance <= 1 + word.len() / 5).map(|(_, name)| name)
}

/// The option that a word was probably meant to be, with the value that it has: one that a few letters make of it, or of
/// which it is the beginning or the end.
fn nearest_option(stage: Stage, word: &str) -> Option<String> {
    let (name, value) = match word.find('=') {
        Some(position) => word.split_at(position + 1),
        None => (word, ""),
    };
    let tail = name.strip_prefix('-').filter(|tail| tail.len() > 2)?;
    let options_of_stage: &[&str] = if stage == Stage::Link { LINKER_OPTIONS } else { COMPILER_OPTIONS };
    let options = || COMMON_OPTIONS.iter().chain(options_of_stage).copied().filter(|option| option.len() > 2);
    let closest = closest_name(name, options());
    let unprefixed = || options().find(|option| option.strip_prefix("-cl-") == Some(tail));
    // Only where one option is meant.
    let part = || {
        let mut longer = options().filter(|option| option.starts_with(name) || option.ends_with(tail));
        longer.next().filter(|_| longer.next().is_none())
    };
    let option = closest.or_else(unprefixed).or_else(part)?;
    // A value goes with an option that takes one.
    let value = if option.ends_with('=') { value } else { "" };
    Some(format!("{option}{value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant_is_found() {
        let found = |word: &str| nearest_option(Stage::Build, word);
        for (word, option) in [
            ("-cl-fast-relaxed-maths", "-cl-fast-relaxed-math"),
            ("-cl-fastrelaxed-math", "-cl-fast-relaxed-math"),
            ("-cl-unsafe-math-optimisations", "-cl-unsafe-math-optimizations"),
            ("-cl-mad", "-cl-mad-enable"),
            ("-mad-enable", "-cl-mad-enable"),
            ("-cl-sdt=CL3.0", "-cl-std=CL3.0"),
            ("-std=CL2.0", "-cl-std=CL2.0"),
            ("-cl-denorms-are-zero=1", "-cl-denorms-are-zero"),
        ] {
            assert_eq!(found(word).as_deref(), Some(option), "{word}");
        }
        for word in ["-zz", "--", "stray", "-cl-", "-cl-no-such-option", "-", "-cl-fooo", "=", "-="] {
            assert_eq!(found(word), None, "{word}");
        }
        assert_eq!(nearest_option(Stage::Link, "-create-libary").as_deref(), Some("-create-library"));
    }

    #[test]
    fn options_of_another_entry_point_are_told_apart() {
        let text = |stage, word| OptionError::unknown(stage, word).to_string();
        assert_eq!(
            text(Stage::Link, "-DX=1"),
            "unknown linker option '-DX=1': it is an option of the compiler, not of the linker"
        );
        assert_eq!(
            text(Stage::Build, "-create-library"),
            "unknown build option '-create-library': it is an option of clLinkProgram alone"
        );
        assert_eq!(text(Stage::Compile, "-zz"), "unknown compiler option '-zz'");
    }
}
