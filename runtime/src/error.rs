//! The error every layer of the driver uses: an OpenCL status code, with a sentence where one helps.

use std::fmt;

use opencl_sys::cl_int;

/// What went wrong, as the code the application gets and, where the code alone says too little, why.
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    code: cl_int,
    message: Option<Box<str>>,
}

/// The result of everything that can fail.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error that its code explains. `code` is one of the negative `CL_*` constants.
    pub const fn new(code: cl_int) -> Self {
        Self { code, message: None }
    }

    /// The same error with a sentence for the context's error callback.
    #[must_use]
    pub fn because(self, message: impl Into<String>) -> Self {
        Self { message: Some(message.into().into_boxed_str()), ..self }
    }

    /// The code for the application.
    pub const fn code(&self) -> cl_int {
        self.code
    }

    /// The explanation, where there is one.
    pub fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }
}

impl From<cl_int> for Error {
    fn from(code: cl_int) -> Self {
        Self::new(code)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.message {
            Some(message) => write!(f, "OpenCL error {}: {message}", self.code),
            None => write!(f, "OpenCL error {}", self.code),
        }
    }
}

impl std::error::Error for Error {}

/// Returns from the enclosing function with the given code unless the condition holds.
///
/// ```
/// use lockstep_runtime::{Result, ensure};
/// fn half(n: u32) -> Result<u32> {
///     ensure!(n % 2 == 0, opencl_sys::CL_INVALID_VALUE);
///     Ok(n / 2)
/// }
/// assert_eq!(half(3).unwrap_err().code(), opencl_sys::CL_INVALID_VALUE);
/// ```
#[macro_export]
macro_rules! ensure {
    ($condition:expr, $code:expr) => {
        if !$condition {
            return Err($crate::Error::new($code));
        }
    };
    ($condition:expr, $code:expr, $($message:tt)+) => {
        if !$condition {
            return Err($crate::Error::new($code).because(format!($($message)+)));
        }
    };
}
