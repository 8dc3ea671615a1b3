//! What instructions cost: about how many micro-operations they take, for one work-item and for a gang.
//!
//! Requires: shapes of the values; for a gang, the registers of the machine.
//! Ensures: numbers to compare with each other. They decide what is done, never what comes out.
//! Phases: none; a table.
//! Source: throughputs that vendors publish for x86-64 and AArch64; Moll 2021, section 9.2, for what they
//! decide.

use super::cfg::Cfg;
use super::divergence::Divergence;
use super::loops::Loops;
use super::shape::Shape;
use crate::ir::{BinaryOp, Block, Function, Inst, InstData, Space, Type, UnaryOp, Value};
use crate::widen::memory::{AccessClass, Direction, classify};
use cranelift_entity::SecondaryMap;

/// Rounds that a loop of unknown length is taken to run.
const ROUNDS: u64 = 8;

/// What a gang's instructions are made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Registers {
    /// Bits of the widest vector registers.
    pub bits: u32,
    /// Work-items of a gang.
    pub width: u32,
}

impl Registers {
    /// Registers that a vector of the gang's elements takes.
    pub fn of(self, ty: Type) -> u64 {
        u64::from((ty.bytes() * 8 * self.width).div_ceil(self.bits).max(1))
    }
}

/// How often a block runs, if every loop runs its guess of rounds.
pub fn frequency(loops: &Loops, block: Block) -> u64 {
    ROUNDS.pow(loops.depth(block).min(6))
}

/// What an operation costs on one register.
fn operation(f: &Function, inst: Inst) -> u64 {
    use BinaryOp::{Fdiv, Frem, Sdiv, Srem, Udiv, Urem};
    let ty = f.insts[inst].results.first().map_or(Type::BOOL, |&v| f.ty(v));
    match &f.insts[inst].data {
        InstData::Binary { op: Fdiv, .. } | InstData::Unary { op: UnaryOp::Sqrt, .. } => match ty {
            Type::F64 => 8,
            _ => 5,
        },
        InstData::Binary { op: Frem, .. } => 40,
        InstData::Binary { op: Udiv | Sdiv | Urem | Srem, .. } => {
            if ty.bits() > 32 {
                18
            } else {
                10
            }
        }
        InstData::CallHost { .. } => 40,
        InstData::Printf { .. } => 200,
        InstData::AtomicRmw { .. } | InstData::AtomicCas { .. } => 20,
        InstData::MemCopy { .. } | InstData::MemSet { .. } => 10,
        InstData::Load { .. } => f.insts[inst].results.len() as u64,
        InstData::Store { args, .. } => args.len() as u64,
        InstData::PtrAdd { .. } | InstData::SlotAddr { .. } | InstData::LocalAddr { .. } => 0,
        InstData::GlobalAddr { .. } | InstData::Query { .. } => 0,
        _ => 1,
    }
}

/// What an instruction costs for one work-item.
pub fn scalar(f: &Function, inst: Inst) -> u64 {
    operation(f, inst)
}

/// What an instruction costs for a gang.
pub fn gang(f: &Function, inst: Inst, shapes: &SecondaryMap<Value, Shape>, registers: Registers) -> u64 {
    let node = &f.insts[inst];
    let once = operation(f, inst);
    let lanes = u64::from(registers.width);
    let class = |ptr: Value, ty: Type, count: usize, direction: Direction| {
        let stride = match shapes[ptr] {
            Shape::Strided { stride, .. } => Some(stride),
            Shape::Varying => None,
        };
        let bytes = ty.bytes();
        match classify(stride, bytes, count as u32, registers.width, direction) {
            AccessClass::Uniform => once,
            AccessClass::Rows { row: 1, reversed: false } => registers.of(ty),
            AccessClass::Rows { row, .. } => 3 * u64::from(row) * registers.of(ty),
            // Most private arrays are laid out so that lanes' elements lie side by side.
            AccessClass::Scattered if f.ty(ptr) == Type::Ptr(Space::Private) => 2 * count as u64 * registers.of(ty),
            AccessClass::Scattered if direction == Direction::Load => 2 * lanes * count as u64,
            AccessClass::Scattered => 3 * lanes * count as u64,
        }
    };
    let uniform = |v: Value| shapes[v].is_uniform();
    match &node.data {
        InstData::Load { ptr, .. } => {
            node.results.first().map_or(0, |&v| class(*ptr, f.ty(v), node.results.len(), Direction::Load))
        }
        InstData::Store { ptr, args, .. } => {
            args.first().map_or(0, |&v| class(*ptr, f.ty(v), args.len(), Direction::Store))
        }
        InstData::LiveLoad { .. } => node.results.iter().map(|&v| registers.of(f.ty(v))).sum(),
        InstData::LiveStore { arg, .. } => registers.of(f.ty(*arg)),
        InstData::MemCopy { dst, src, .. } if uniform(*dst) && uniform(*src) => once,
        InstData::MemSet { dst, .. } if uniform(*dst) => once,
        InstData::MemCopy { .. }
        | InstData::MemSet { .. }
        | InstData::AtomicRmw { .. }
        | InstData::AtomicCas { .. }
        | InstData::Printf { .. } => lanes * (once + 2),
        data => {
            let Some(&result) = node.results.first() else { return once };
            match shapes[result] {
                Shape::Strided { .. } if !f.ty(result).is_float() => once,
                Shape::Strided { stride: 0, .. } => once,
                _ if matches!(data, InstData::PtrAdd { .. }) => registers.of(f.ty(result)),
                _ if per_lane(data) => lanes * (once + 2),
                _ => {
                    let mut widest = registers.of(f.ty(result));
                    data.for_each_arg(|arg| widest = widest.max(registers.of(f.ty(arg))));
                    match data {
                        // A division's throughput falls with the register's width.
                        InstData::Binary { op: BinaryOp::Fdiv, .. } | InstData::Unary { op: UnaryOp::Sqrt, .. } => {
                            once * widest * u64::from(registers.bits / 128).max(1)
                        }
                        _ => once * widest,
                    }
                }
            }
        }
    }
}

/// Whether lanes do this one after the other.
fn per_lane(data: &InstData) -> bool {
    use BinaryOp::{Frem, Sdiv, Srem, Udiv, Urem};
    match data {
        InstData::Binary { op: Udiv | Sdiv | Urem | Srem | Frem, .. } | InstData::CallHost { .. } => true,
        InstData::Unary { op: UnaryOp::SpaceOf, .. } => true,
        _ => false,
    }
}

/// What a function costs one work-item, and a gang if all its lanes go every way.
pub fn whole(f: &Function, graph: &Cfg, loops: &Loops, found: &Divergence, registers: Registers) -> (u64, u64) {
    let (mut one, mut all) = (0u64, 0u64);
    for &block in graph.rpo() {
        let often = frequency(loops, block);
        for &inst in &f.blocks[block].insts {
            one = one.saturating_add(often.saturating_mul(scalar(f, inst)));
            all = all.saturating_add(often.saturating_mul(gang(f, inst, &found.shapes, registers)));
        }
        if found.divergent_branches.contains(block) {
            // The mask and the selects behind.
            all = all.saturating_add(often.saturating_mul(4));
        }
        one = one.saturating_add(often);
        all = all.saturating_add(often);
    }
    (one, all)
}
