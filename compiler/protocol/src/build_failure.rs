//! Why there is no program: what a build log says of it.

use serde::{Deserialize, Serialize};

/// Why there is no program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{}", self.build_log())]
pub enum FrontendError {
    /// The source is wrong; the log says where.
    CompileFailure {
        /// The build log.
        log: String,
    },
    /// There is no compiler on this machine; the log says what to install.
    FrontendMissing {
        /// The build log.
        log: String,
    },
    /// The compiler died; the log says how.
    FrontendCrashed {
        /// The build log.
        log: String,
    },
    /// There was not enough memory for the compiler; the log says how much it may take.
    OutOfMemory {
        /// The build log.
        log: String,
    },
    /// The compiler did not end in its time.
    Timeout {
        /// The build log.
        log: String,
    },
    /// The objects do not make a program; the log says why.
    LinkFailure {
        /// The build log.
        log: String,
    },
}

impl FrontendError {
    /// What to put into the build log.
    pub fn build_log(&self) -> String {
        match self {
            Self::CompileFailure { log }
            | Self::FrontendMissing { log }
            | Self::FrontendCrashed { log }
            | Self::OutOfMemory { log }
            | Self::Timeout { log }
            | Self::LinkFailure { log } => log.clone(),
        }
    }

    /// The objects do not make a program, for this reason.
    pub fn link_failure(message: impl Into<String>) -> Self {
        Self::LinkFailure { log: message.into() }
    }
}
