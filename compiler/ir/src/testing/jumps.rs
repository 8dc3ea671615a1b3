//! Random OpenCL C kernels full of jumps: `goto` in and out of loops, `switch` with fall-through, nested loops with several
//! exits; and what they mean.
//!
//! The meaning comes from the generator's own abstract program: it is lowered here to a list of operations with jumps and
//! executed one by one, without clang, LLVM or any pass of ours. A fault anywhere on a kernel's way shows as a difference.
//!
//! Every kernel ends: each label and each loop iteration takes from a count of steps, and at its end control goes to the
//! kernel's end. There are two kinds. In a *divergent* kernel conditions depend on the work-item's own data. In a *uniform*
//! kernel conditions depend on what all work-items of a group have in common, so it may have barriers: there work-items
//! exchange values with their neighbours.

mod evaluate;
mod generate;
mod source;

pub use evaluate::evaluate_program;
pub use generate::random_program;
pub use source::print_source;

/// Variables of a work-item. In a uniform kernel the first [`CONTROL`] are the same for all of its group.
pub const VARIABLES: usize = 4;

/// Variables that conditions may depend on, in both kinds of kernels.
pub const CONTROL: usize = 2;

/// Elements of the output that each work-item has for itself: the variables, then those it adds to on its way.
pub const OUTPUTS: usize = VARIABLES + BINS;

/// Elements of a work-item's output that it adds to on its way; a power of two.
pub const BINS: usize = 4;

/// A kernel `kernel void NAME(global const uint *in, global uint *out, local uint *shared)`: `in` holds [`VARIABLES`]
/// elements for each work-item, of which those of a uniform kernel's control variables are read at the group's first
/// work-item; `out` holds [`OUTPUTS`] for each; `shared` has an element for each work-item of a group.
#[derive(Clone, Debug)]
pub struct JumpProgram {
    /// The kernel's name.
    pub name: String,
    /// Whether conditions depend on the group only.
    pub uniform: bool,
    /// Labels and iterations after which a work-item goes to the end.
    pub fuel: u32,
    /// What it does.
    pub body: Vec<Statement>,
}

/// The operators of expressions, on 32 bits that wrap. Shifts take the low five bits of the distance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operator {
    /// The sum, modulo 2^32 (`+`).
    Add,
    /// The difference, modulo 2^32 (`-`).
    Subtract,
    /// The product, modulo 2^32 (`*`).
    Multiply,
    /// The bits in one of both (`^`).
    Xor,
    /// The bits in both (`&`).
    And,
    /// The bits moved down, zeros above (`>>`).
    ShiftRight,
}

/// An expression of type `uint`.
#[derive(Clone, Debug)]
pub enum Expression {
    /// The variable with this index.
    Variable(usize),
    /// The same 32 bits for every work-item.
    Constant(u32),
    /// Two operands and what becomes of them.
    Binary(Operator, Box<Expression>, Box<Expression>),
}

/// Whether `(value >> shift) % modulus < limit`.
#[derive(Clone, Debug)]
pub struct Condition {
    /// The value whose remainder decides.
    pub value: Expression,
    /// Bits that are left out, at most 31.
    pub shift: u32,
    /// At least 2.
    pub modulus: u32,
    /// At least 1 and less than the modulus.
    pub limit: u32,
}

/// One of a switch's arms.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The values that lead here.
    pub cases: Vec<u32>,
    /// Whether other values do.
    pub default: bool,
    /// What it does.
    pub body: Vec<Statement>,
    /// Whether it ends with a `break` rather than go on with the next arm.
    pub breaks: bool,
}

/// Where a loop asks whether to go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoopKind {
    /// Before each iteration.
    While,
    /// After each iteration.
    DoWhile,
    /// Never: only a jump out of the loop ends it.
    Endless,
}

/// A statement of the abstract program, with the statements inside it.
#[derive(Clone, Debug)]
pub enum Statement {
    /// Sets a variable: `variable = value`.
    Assign(usize, Expression),
    /// `out[…] += value`, in the bin that the second expression selects.
    Accumulate(Expression, Expression),
    /// A variable gets a value if a condition holds, of data as well: no jump.
    AssignIf(Condition, usize, Expression),
    /// A choice between two lists: `if … else …`.
    If(Condition, Vec<Statement>, Vec<Statement>),
    /// `switch (value % modulus)`
    Switch(Expression, u32, Vec<Arm>),
    /// A loop whose iterations each take fuel: its condition and its body.
    Loop(LoopKind, Condition, Vec<Statement>),
    /// A place to jump to.
    Label(u32),
    /// `if (…) goto`; without a condition, always.
    Goto(Option<Condition>, u32),
    /// `if (…) break`, out of the loop or switch around.
    Break(Condition),
    /// `if (…) continue`, of the loop around.
    Continue(Condition),
    /// Ends the work-item if a condition holds.
    Return(Condition),
    /// A variable that is not for control goes to the left neighbour in the group, around at the ends: two barriers.
    Exchange(usize),
}
