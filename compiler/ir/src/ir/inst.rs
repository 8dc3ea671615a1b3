//! Instructions and terminators.

use super::collective::Cluster;
use super::entities::{Block, Callee, Format, LiveSlot, LocalVar, Region, Slot, Value};
use super::opcodes::{
    AtomicOp, BinaryOp, Collect, FastMath, FloatCc, IntCc, IntFlags, Ordering, Query, TernaryOp, UnaryOp,
};
use lockstep_protocol::variables::Global;
use std::sync::Arc;

/// How a load or store touches memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    /// Known alignment of the address in bytes, a power of two.
    pub align: u32,
    /// Neither removed, repeated nor reordered with other volatile accesses.
    pub volatile: bool,
    /// Atomic with this order (single-element accesses only).
    pub atomic: Option<Ordering>,
}

impl Access {
    /// A plain access with an alignment in bytes.
    pub fn plain(alignment: u32) -> Access {
        Access { align: alignment, volatile: false, atomic: None }
    }
}

/// An instruction: the operation and its operands. Result types stand with the results.
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "each variant's text explains its fields")]
pub enum InstData {
    /// One operand, one result.
    Unary { opcode: UnaryOp, fast_math: FastMath, argument: Value },
    /// Two operands and a result of one type.
    Binary { opcode: BinaryOp, flags: IntFlags, fast_math: FastMath, arguments: [Value; 2] },
    /// Three operands, one result.
    Ternary { opcode: TernaryOp, fast_math: FastMath, arguments: [Value; 3] },
    /// Integer or pointer comparison; the result is `i1`.
    Icmp { comparison: IntCc, arguments: [Value; 2] },
    /// Float comparison; the result is `i1`.
    Fcmp { comparison: FloatCc, fast_math: FastMath, arguments: [Value; 2] },
    /// Address plus a byte offset (`i64`, signed); the result has the base's type.
    PtrAdd {
        base: Value,
        offset: Value,
        /// Base and result lie in (or just behind) one object.
        inbounds: bool,
    },
    /// Reads as many consecutive elements as there are results, all of one type, from `ptr + offset` bytes.
    /// Elements lie `Type::bytes` apart. An OpenCL vector load is one such instruction.
    Load { pointer: Value, offset: i64, access: Access },
    /// Writes consecutive elements, all of one type, to `ptr + offset` bytes.
    Store { pointer: Value, offset: i64, access: Access, arguments: Vec<Value> },
    /// Copies `len` (`i64`) bytes; the ranges may overlap if `overlap`.
    MemCopy { destination: Value, source: Value, length: Value, overlap: bool, volatile: bool },
    /// Sets `len` (`i64`) bytes to `byte` (`i8`).
    MemSet { destination: Value, byte: Value, length: Value, volatile: bool },
    /// Atomic read-modify-write; the result is the old value.
    AtomicRmw { opcode: AtomicOp, order: Ordering, align: u32, pointer: Value, argument: Value },
    /// Atomic compare and exchange; the results are the old value and (`i1`) whether it was stored.
    AtomicCas { success: Ordering, failure: Ordering, align: u32, pointer: Value, expected: Value, new: Value },
    /// A fence for memory, of a memory order.
    Fence { order: Ordering },
    /// A work-item's place in the NDRange.
    Query { query: Query, dimension: u8 },
    /// Address of a private slot of the executing work-item (`ptr.private`).
    SlotAddr { slot: Slot },
    /// Address of a `__local` variable of the executing work-group (`ptr.local`).
    LocalAddr { local: LocalVar },
    /// Address of a program-scope variable (its space's pointer type).
    GlobalAddr { global: Global },
    /// Work-group barrier: waits until all work-items of the group arrive here, then orders memory.
    /// Gone after `barriers`.
    Barrier,
    /// What the operands of all work-items of the group are together, in the order of their numbers. Like a
    /// barrier, it waits until all of them arrive here, and orders memory. Gone after `barriers`.
    Collective { collective: Collect, opcode: BinaryOp, argument: Value },
    /// What the region's [`super::Combine`] made of all values together. Only after `barriers`.
    Combined,
    /// Reads the value kept for this work-item. Only after `barriers`.
    LiveLoad { live_slot: LiveSlot },
    /// Keeps a value for this work-item's later regions. Only after `barriers`.
    LiveStore { live_slot: LiveSlot, argument: Value },
    /// Calls a function of the host's C library by name: pure, scalar operands, one scalar result.
    CallHost { name: Arc<str>, arguments: Vec<Value> },
    /// Whether the condition holds in an active lane: one answer for all lanes, false where none is active.
    /// Only after `normalize`.
    Any { condition: Value },
    /// The active lanes in which the condition holds, as the bits of an `i64`, lane 0 lowest: one answer for all lanes.
    Ballot { condition: Value },
    /// What the operands of the active lanes are together, in the order of the lanes: of all, or (to a reduction) of as
    /// many neighbours as a cluster has. One answer for all lanes if it is a reduction and the cluster is the gang.
    Across { collective: Collect, opcode: BinaryOp, cluster: Cluster, argument: Value },
    /// What the lane with this number (`i64`, modulo the gang's width) holds; some value if that lane is not active.
    Shuffle { argument: Value, lane: Value },
    /// Reads the machine's clock (`i64`, nanoseconds that never go back): one reading for the lanes that arrive together.
    /// Each time counts, and what touches memory stays on its side of it.
    Clock,
    /// Lets other work-items or gangs of the group go on, for which this one may wait. Accesses to memory stay on their
    /// side of it.
    Yield,
    /// Orders memory between the lanes of a gang, which arrive together, and to others as a fence does.
    GangBarrier,
    /// What an active lane holds, for all lanes; `lane` is its number (`i64`). Only after `normalize`.
    LaneOf { argument: Value, lane: Value },
    /// `value` in the lane with this number (`i64`), `into` in the others. Only after `normalize`.
    Put { into: Value, lane: Value, value: Value },
    /// Adds to the counters of a loop how many iterations of it the active lanes ran, which have just left it. Only after `normalize`.
    CountIterations { loop_number: u32, argument: Value },
    /// Runs a function of the program to its end, for each work-item by itself; the results are what it set. It may read and write all
    /// memory that it finds an address of.
    Call { callee: Callee, arguments: Vec<Value> },
    /// Sets what the function that it stands in returns to this work-item's call, where it is the last one to do so. Only in functions.
    SetResults { arguments: Vec<Value> },
    /// Formats and prints; the result is `i32`: 0, or -1 on failure. By a format of failures the launch fails instead, and no work-item of
    /// the group goes on.
    Printf { format: Format, arguments: Vec<Value> },
}

/// A jump target with the values for its block parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockCall {
    /// The block jumped to.
    pub block: Block,
    /// One value per block parameter.
    pub arguments: Vec<Value>,
}

/// How a block ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Terminator {
    /// Goes to one block always.
    Jump(BlockCall),
    /// By an `i1`.
    Branch {
        /// The condition that decides.
        condition: Value,
        /// Taken when true.
        then_to: BlockCall,
        /// Taken when false.
        else_to: BlockCall,
    },
    /// By the value of an integer.
    Switch {
        /// The integer that decides.
        value: Value,
        /// Case constants (bits of the value's type), each once, with their targets.
        cases: Vec<(u128, BlockCall)>,
        /// Taken for all other values.
        default: BlockCall,
    },
    /// The work-item has finished the kernel.
    Return,
    /// The work-item has arrived at a barrier and goes on in this region. Only after `barriers`.
    Exit(Region),
    /// No work-item comes here.
    Unreachable,
}

impl InstData {
    /// What the build options allow with the operation; nothing where it is none of floating-point values.
    pub fn fast_math(&self) -> FastMath {
        match self {
            InstData::Unary { fast_math, .. }
            | InstData::Binary { fast_math, .. }
            | InstData::Ternary { fast_math, .. }
            | InstData::Fcmp { fast_math, .. } => *fast_math,
            _ => FastMath::default(),
        }
    }

    /// Calls `visit` on every operand.
    pub fn for_each_arg(&self, visit: impl FnMut(Value)) {
        let as_slice = std::slice::from_ref;
        let arguments: [&[Value]; 3] = match self {
            InstData::Unary { argument, .. }
            | InstData::LiveStore { argument, .. }
            | InstData::Collective { argument, .. }
            | InstData::Across { argument, .. }
            | InstData::CountIterations { argument, .. }
            | InstData::Any { condition: argument }
            | InstData::Ballot { condition: argument } => [as_slice(argument), &[], &[]],
            InstData::LaneOf { argument, lane } | InstData::Shuffle { argument, lane } => {
                [as_slice(argument), as_slice(lane), &[]]
            }
            InstData::Put { into, lane, value } => [as_slice(into), as_slice(lane), as_slice(value)],
            InstData::Binary { arguments, .. }
            | InstData::Icmp { arguments, .. }
            | InstData::Fcmp { arguments, .. } => [arguments, &[], &[]],
            InstData::Ternary { arguments, .. } => [arguments, &[], &[]],
            InstData::PtrAdd { base, offset, .. } => [as_slice(base), as_slice(offset), &[]],
            InstData::Load { pointer, .. } => [as_slice(pointer), &[], &[]],
            InstData::Store { pointer, arguments, .. } => [as_slice(pointer), arguments, &[]],
            InstData::MemCopy { destination, source, length, .. } => {
                [as_slice(destination), as_slice(source), as_slice(length)]
            }
            InstData::MemSet { destination, byte, length, .. } => {
                [as_slice(destination), as_slice(byte), as_slice(length)]
            }
            InstData::AtomicRmw { pointer, argument, .. } => [as_slice(pointer), as_slice(argument), &[]],
            InstData::AtomicCas { pointer, expected, new, .. } => {
                [as_slice(pointer), as_slice(expected), as_slice(new)]
            }
            InstData::CallHost { arguments, .. }
            | InstData::Call { arguments, .. }
            | InstData::SetResults { arguments }
            | InstData::Printf { arguments, .. } => [arguments, &[], &[]],
            InstData::Fence { .. }
            | InstData::Query { .. }
            | InstData::SlotAddr { .. }
            | InstData::LocalAddr { .. }
            | InstData::GlobalAddr { .. }
            | InstData::Barrier
            | InstData::GangBarrier
            | InstData::Clock
            | InstData::Yield
            | InstData::Combined
            | InstData::LiveLoad { .. } => [&[]; 3],
        };
        arguments.into_iter().flatten().copied().for_each(visit);
    }

    /// Replaces every operand `operand` by `f(operand)`.
    pub fn map_args(&mut self, mut replace: impl FnMut(Value) -> Value) {
        let as_slice = std::slice::from_mut;
        let arguments: [&mut [Value]; 3] = match self {
            InstData::Unary { argument, .. }
            | InstData::LiveStore { argument, .. }
            | InstData::Collective { argument, .. }
            | InstData::Across { argument, .. }
            | InstData::CountIterations { argument, .. }
            | InstData::Any { condition: argument }
            | InstData::Ballot { condition: argument } => [as_slice(argument), &mut [], &mut []],
            InstData::LaneOf { argument, lane } | InstData::Shuffle { argument, lane } => {
                [as_slice(argument), as_slice(lane), &mut []]
            }
            InstData::Put { into, lane, value } => [as_slice(into), as_slice(lane), as_slice(value)],
            InstData::Binary { arguments, .. }
            | InstData::Icmp { arguments, .. }
            | InstData::Fcmp { arguments, .. } => [arguments, &mut [], &mut []],
            InstData::Ternary { arguments, .. } => [arguments, &mut [], &mut []],
            InstData::PtrAdd { base, offset, .. } => [as_slice(base), as_slice(offset), &mut []],
            InstData::Load { pointer, .. } => [as_slice(pointer), &mut [], &mut []],
            InstData::Store { pointer, arguments, .. } => [as_slice(pointer), arguments, &mut []],
            InstData::MemCopy { destination, source, length, .. } => {
                [as_slice(destination), as_slice(source), as_slice(length)]
            }
            InstData::MemSet { destination, byte, length, .. } => {
                [as_slice(destination), as_slice(byte), as_slice(length)]
            }
            InstData::AtomicRmw { pointer, argument, .. } => [as_slice(pointer), as_slice(argument), &mut []],
            InstData::AtomicCas { pointer, expected, new, .. } => {
                [as_slice(pointer), as_slice(expected), as_slice(new)]
            }
            InstData::CallHost { arguments, .. }
            | InstData::Call { arguments, .. }
            | InstData::SetResults { arguments }
            | InstData::Printf { arguments, .. } => [arguments, &mut [], &mut []],
            InstData::Fence { .. }
            | InstData::Query { .. }
            | InstData::SlotAddr { .. }
            | InstData::LocalAddr { .. }
            | InstData::GlobalAddr { .. }
            | InstData::Barrier
            | InstData::GangBarrier
            | InstData::Clock
            | InstData::Yield
            | InstData::Combined
            | InstData::LiveLoad { .. } => return,
        };
        arguments.into_iter().flatten().for_each(|operand| *operand = replace(*operand));
    }

    /// Whether all lanes get one answer, for which all active ones are asked.
    pub fn asks_lanes(&self) -> bool {
        match self {
            InstData::Any { .. } | InstData::Ballot { .. } | InstData::LaneOf { .. } => true,
            InstData::Across { collective, cluster, .. } => *collective == Collect::Reduce && cluster.is_gang(),
            _ => false,
        }
    }

    /// Whether what a lane gets depends on which other lanes are there, or on what they hold.
    pub fn needs_lanes(&self) -> bool {
        let others = matches!(self, InstData::Across { .. } | InstData::Shuffle { .. } | InstData::GangBarrier);
        others || self.asks_lanes() || matches!(self, InstData::Put { .. })
    }

    /// Whether it computes its result of its operands and of what each work-item knows of itself: it accesses no memory, has no effect
    /// and asks no other lane.
    pub fn is_computation(&self) -> bool {
        matches!(
            self,
            InstData::Unary { .. }
                | InstData::Binary { .. }
                | InstData::Ternary { .. }
                | InstData::Icmp { .. }
                | InstData::Fcmp { .. }
                | InstData::PtrAdd { .. }
                | InstData::Query { .. }
                | InstData::SlotAddr { .. }
                | InstData::LocalAddr { .. }
                | InstData::GlobalAddr { .. }
        )
    }

    /// Whether the instruction must stay even when its results are not used.
    pub fn has_effect(&self) -> bool {
        match self {
            InstData::Store { .. }
            | InstData::MemCopy { .. }
            | InstData::MemSet { .. }
            | InstData::AtomicRmw { .. }
            | InstData::AtomicCas { .. }
            | InstData::Fence { .. }
            | InstData::Barrier
            | InstData::GangBarrier
            | InstData::Clock
            | InstData::Yield
            | InstData::Collective { .. }
            | InstData::LiveStore { .. }
            | InstData::CountIterations { .. }
            | InstData::Call { .. }
            | InstData::SetResults { .. }
            | InstData::Printf { .. } => true,
            InstData::Load { access, .. } => access.volatile || access.atomic.is_some(),
            _ => false,
        }
    }
}

impl Terminator {
    /// The jump targets, in order.
    pub fn targets(&self) -> Targets<'_> {
        match self {
            Terminator::Jump(target) => Targets::One([target]),
            Terminator::Branch { then_to, else_to, .. } => Targets::Two([then_to, else_to]),
            Terminator::Switch { cases, default, .. } => {
                Targets::Many(cases.iter().map(|(_, target)| target).chain([default]).collect())
            }
            Terminator::Return | Terminator::Exit(_) | Terminator::Unreachable => Targets::None,
        }
    }

    /// The jump targets, in order, to change.
    pub fn targets_mut(&mut self) -> Vec<&mut BlockCall> {
        match self {
            Terminator::Jump(target) => vec![target],
            Terminator::Branch { then_to, else_to, .. } => vec![then_to, else_to],
            Terminator::Switch { cases, default, .. } => {
                cases.iter_mut().map(|(_, target)| target).chain([default]).collect()
            }
            Terminator::Return | Terminator::Exit(_) | Terminator::Unreachable => vec![],
        }
    }

    /// The value that chooses the target, if there is a choice.
    pub fn selector(&self) -> Option<Value> {
        match self {
            Terminator::Branch { condition, .. } => Some(*condition),
            Terminator::Switch { value, .. } => Some(*value),
            _ => None,
        }
    }

    /// Replaces every operand `operand` (the selector and all block arguments) by `f(operand)`.
    pub fn map_args(&mut self, mut replace: impl FnMut(Value) -> Value) {
        match self {
            Terminator::Branch { condition, .. } => *condition = replace(*condition),
            Terminator::Switch { value, .. } => *value = replace(*value),
            _ => {}
        }
        let mut each =
            |target: &mut BlockCall| target.arguments.iter_mut().for_each(|operand| *operand = replace(*operand));
        match self {
            Terminator::Jump(target) => each(target),
            Terminator::Branch { then_to, else_to, .. } => [then_to, else_to].into_iter().for_each(each),
            Terminator::Switch { cases, default, .. } => {
                cases.iter_mut().for_each(|(_, target)| each(target));
                each(default);
            }
            Terminator::Return | Terminator::Exit(_) | Terminator::Unreachable => {}
        }
    }

    /// Calls `visit` on every operand.
    pub fn for_each_arg(&self, mut visit: impl FnMut(Value)) {
        self.selector().into_iter().for_each(&mut visit);
        for target in self.targets() {
            target.arguments.iter().copied().for_each(&mut visit);
        }
    }
}

/// The targets of a terminator: a slice that is not on the heap unless there are many.
#[derive(Clone, Debug)]
pub enum Targets<'a> {
    /// Nothing follows from it.
    None,
    /// Of a jump.
    One([&'a BlockCall; 1]),
    /// Of a branch.
    Two([&'a BlockCall; 2]),
    /// Of a switch.
    Many(Vec<&'a BlockCall>),
}

impl<'a> std::ops::Deref for Targets<'a> {
    type Target = [&'a BlockCall];

    fn deref(&self) -> &[&'a BlockCall] {
        match self {
            Targets::None => &[],
            Targets::One(to) => to,
            Targets::Two(to) => to,
            Targets::Many(to) => to,
        }
    }
}

impl<'a> IntoIterator for Targets<'a> {
    type Item = &'a BlockCall;
    type IntoIter = TargetsIter<'a>;

    fn into_iter(self) -> TargetsIter<'a> {
        TargetsIter { targets: self, next: 0 }
    }
}

/// The targets of a terminator, one after the other.
#[derive(Clone, Debug)]
pub struct TargetsIter<'a> {
    targets: Targets<'a>,
    next: usize,
}

impl<'a> Iterator for TargetsIter<'a> {
    type Item = &'a BlockCall;

    fn next(&mut self) -> Option<&'a BlockCall> {
        let target = self.targets.get(self.next).copied();
        self.next += 1;
        target
    }
}
