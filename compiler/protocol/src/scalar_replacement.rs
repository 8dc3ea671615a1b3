//! The forms of scalar replacement by question propagation.
//!
//! Source: Fukuhara & Takimoto 2021, section 6: SRQP, and what the paper adds to it.

use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// Where loads make way for values that earlier accesses left.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub enum ScalarReplacement {
    /// Nowhere: every load stays.
    Off,
    /// Wherever the loads that are missing can be inserted.
    Srqp,
    /// Where they are inserted in front of what lanes part at, or where lanes come together.
    Esrqp,
    /// Loads also move in front of branches.
    SsrqpS,
    /// Loads also move in front of branches at which lanes part.
    #[default]
    Ssrqp,
}

impl ScalarReplacement {
    /// All, from none to the paper's last one.
    pub const ALL: [ScalarReplacement; 5] = [
        ScalarReplacement::Off,
        ScalarReplacement::Srqp,
        ScalarReplacement::Esrqp,
        ScalarReplacement::SsrqpS,
        ScalarReplacement::Ssrqp,
    ];

    /// The name that switches and tables use.
    pub const fn name(self) -> &'static str {
        match self {
            ScalarReplacement::Off => "0",
            ScalarReplacement::Srqp => "srqp",
            ScalarReplacement::Esrqp => "esrqp",
            ScalarReplacement::SsrqpS => "ssrqp_s",
            ScalarReplacement::Ssrqp => "ssrqp",
        }
    }
}

impl FromStr for ScalarReplacement {
    type Err = ();

    fn from_str(name: &str) -> Result<ScalarReplacement, ()> {
        ScalarReplacement::ALL.into_iter().find(|form| form.name() == name).ok_or(())
    }
}
