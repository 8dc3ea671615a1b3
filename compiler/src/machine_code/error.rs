//! Why there is no machine code.

/// Why there is no code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MachineCodeError {
    /// LLVM cannot make code for this machine.
    #[error("no code generator for this machine: {0}")]
    Host(String),
    /// The module is broken or the pipeline failed.
    #[error("optimising failed: {0}")]
    Optimize(String),
    /// A function's frame has so many bytes, more than the code of gangs may take.
    #[error("too large a stack frame: {0} bytes")]
    StackFrame(u64),
    /// No object file came out.
    #[error("code generation failed: {0}")]
    Emit(String),
    /// The object does not link; the text names the missing symbols.
    #[error("the code does not link: {0}")]
    Link(String),
}
