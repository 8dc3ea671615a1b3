//! The typed `u32` entities of the IR. Side tables are keyed by them.

use cranelift_entity::entity_impl;

macro_rules! entity {
    ($(#[$doc:meta] $name:ident $prefix:literal)*) => {$(
        #[$doc]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);
        entity_impl!($name, $prefix);
    )*};
}

entity! {
    /// An SSA value: an instruction's result, a block parameter or a constant.
    Value "v"
    /// An instruction other than a terminator.
    Inst "i"
    /// A basic block.
    Block "b"
    /// A piece of a kernel between barriers; before `barriers` a kernel has exactly one.
    Region "r"
    /// A private array or variable of one work-item whose address is taken.
    Slot "ss"
    /// A `__local` variable of a kernel.
    LocalVar "lv"
    /// A value kept per work-item from one region to a later one.
    LiveSlot "ls"
    /// A printf format with the types of its arguments.
    Format "fmt"
    /// A function that kernels, or other functions, call.
    Callee "fn"
}
