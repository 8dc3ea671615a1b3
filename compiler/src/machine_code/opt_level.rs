//! How much LLVM is to do.

/// How much time LLVM may spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum OptLevel {
    /// As little as possible (`-cl-opt-disable`).
    None,
    /// Each pass about once, and none that makes code larger ([`Tier::Baseline`](lockstep_protocol::compile_options::Tier)).
    Less,
    /// The O2 pipeline.
    #[default]
    Default,
    /// The O3 pipeline.
    Aggressive,
}
