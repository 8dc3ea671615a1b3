//! Why a module cannot be imported, with its place or on the way to where the place is known.

/// Why a module cannot be imported, and where.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}{reason}", error_place(function, *line))]
pub struct ImportError {
    /// What is not understood or not supported.
    pub reason: String,
    /// The function it is in; empty if in none.
    pub function: String,
    /// The line in the user's source; 0 if unknown.
    pub line: u32,
}

/// Where an error is, as far as that is known.
fn error_place(function: &str, line: u32) -> String {
    let line = if line == 0 { String::new() } else { format!("line {line}: ") };
    if function.is_empty() { line } else { format!("{line}in {function}: ") }
}

/// A reason without its place, which is added where the place is known.
#[derive(Debug)]
pub(super) struct Reason(pub String);

/// A result or the reason why there is none.
pub(super) type Attempt<T> = Result<T, Reason>;

/// Returns from the function with a reason.
macro_rules! refuse {
    ($($arg:tt)*) => { return Err($crate::import::error::Reason(format!($($arg)*))) };
}
pub(super) use refuse;
