//! The error every layer of the driver uses: an OpenCL status code, and the sentence that says what is wrong.

use std::borrow::Cow;
use std::fmt;

use opencl_sys::cl_int;

use crate::names::CodeName;

/// What went wrong: the code the application gets, and a sentence with names and numbers for who reads messages. There is
/// no error without a sentence; [`error!`](crate::error!) and [`ensure!`](crate::ensure!) make them.
///
/// It is one word, so that results stay small where nothing goes wrong.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Parts>);

#[derive(Clone, PartialEq, Eq)]
struct Parts {
    code: cl_int,
    sentence: Cow<'static, str>,
}

/// The result of everything that can fail.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error with its sentence, which names no entry point and ends in no full stop: it stands between the name of the
    /// entry point and that of the code. `error_code` is one of the negative `CL_*` constants.
    #[cold]
    pub fn new(error_code: cl_int, sentence: fmt::Arguments<'_>) -> Self {
        let sentence = sentence.as_str().map_or_else(|| Cow::Owned(sentence.to_string()), Cow::Borrowed);
        debug_assert!(!sentence.is_empty());
        Self(Box::new(Parts { code: error_code, sentence }))
    }

    /// The code for the application.
    pub fn code(&self) -> cl_int {
        self.0.code
    }

    /// What is wrong.
    pub fn sentence(&self) -> &str {
        &self.0.sentence
    }

    /// The same error under another code: what is wrong with a part is often an error of its own for the whole.
    #[must_use]
    pub fn with_code(mut self, error_code: cl_int) -> Self {
        self.0.code = error_code;
        self
    }

    /// The same error with words before the sentence that say what it is about.
    #[must_use]
    pub fn with_subject(mut self, subject: impl fmt::Display) -> Self {
        self.0.sentence = Cow::Owned(format!("{subject}: {}", self.0.sentence));
        self
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} [{}]", self.sentence(), CodeName(self.code()))
    }
}

impl std::error::Error for Error {}

/// An [`Error`](crate::Error) of a code and a sentence, which is written as for `format!`.
#[macro_export]
macro_rules! error {
    ($code:expr, $($sentence:tt)+) => {
        $crate::Error::new($code, format_args!($($sentence)+))
    };
}

/// Returns from the enclosing function with an error unless the condition holds. The sentence is made only then.
///
/// ```
/// use lockstep_runtime::{Result, ensure};
/// fn half(n: u32) -> Result<u32> {
///     ensure!(n % 2 == 0, opencl_sys::CL_INVALID_VALUE, "{n} is odd");
///     Ok(n / 2)
/// }
/// assert_eq!(half(3).unwrap_err().to_string(), "3 is odd [CL_INVALID_VALUE]");
/// ```
#[macro_export]
macro_rules! ensure {
    ($condition:expr, $code:expr, $($sentence:tt)+) => {
        if !$condition {
            return Err($crate::error!($code, $($sentence)+));
        }
    };
}

#[cfg(test)]
mod tests {
    use opencl_sys::{CL_INVALID_EVENT, CL_INVALID_EVENT_WAIT_LIST, CL_INVALID_VALUE};

    use super::*;

    #[test]
    fn errors_are_one_word_and_read_as_a_sentence() {
        assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
        let error =
            error!(CL_INVALID_EVENT, "{} is none", 7).with_subject("event 2").with_code(CL_INVALID_EVENT_WAIT_LIST);
        assert_eq!(error.code(), CL_INVALID_EVENT_WAIT_LIST);
        assert_eq!(error.to_string(), "event 2: 7 is none [CL_INVALID_EVENT_WAIT_LIST]");
        assert_eq!(error!(CL_INVALID_VALUE, "no words but these").sentence(), "no words but these");
        assert_eq!(error!(-12345, "a status").to_string(), "a status [status -12345]");
    }
}
