//! Versions for launches in which the pieces of piecewise-affine indices hold whole gangs.
//!
//! `i % d`, `i / d` and what bit operations write them as count up, or stay, between multiples of `d`. Where `d` is a
//! multiple of the gang's width no such border lies within a gang: `i / d` is the same in all lanes and `i % d` a line.
//! Of arguments the launch tells that (`launch_facts`); of what a kernel computes from them, as `1 << (stage - pass)`,
//! the region asks once, and has a version in which it holds.
//!
//! Requires: `Stage::Normalized`; the shapes of the region's values.
//! Ensures: `Stage::Normalized`. The entry branches to one of two copies of what comes behind the condition; in the
//! one for whole pieces the operations stand in a form of which shapes are known. Each work-item does what it did.
//! Phases: find operations of strided values with what is known at the entry, and what has to hold of that; ask there;
//! copy; rewrite.
//! Source: Moll 2021, sections 10.4 and 10.5, for the operations and their pieces; the versions are ours.
//!
//! With lanes that fill the low bits `x & 15`, for `n >= 4` and `m & 15 == 15`:
//!
//! ```text
//! x >> n    =>  (x & ~15) >> n
//! x & m     =>  ((x & ~15) & m) + (x & 15)
//! x / d     =>  (x & ~15) / d              for d & 15 == 0
//! x % d     =>  (x & ~15) % d + (x & 15)
//! y << n    =>  (y << 4) << (n - 4)        whose low bits are zero, then
//! ```

use super::uniform_choices::{is_known_at_entry, split_region};
use crate::analysis::shape::Shape;
use crate::ir::*;
use crate::simplify::FoldingBuilder;
use cranelift_entity::{EntitySet, SecondaryMap};
use lockstep_protocol::types::Type;

/// What has to hold so that pieces are whole gangs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Pieces {
    /// A power of two: the numbers that the lanes of the widest operand reach over.
    span: u128,
    /// At least as many bits as the span has are shifted.
    amounts: Vec<Value>,
    /// Masks whose low bits are ones.
    masks: Vec<Value>,
    /// Divisors, and masks, whose low bits are zero.
    multiples: Vec<Value>,
}

/// The bits of a mask that a shift makes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mask {
    /// All below one.
    Below,
    /// None below one.
    From,
}

/// Another form of an operation.
#[derive(Clone, Copy)]
enum Form {
    /// What is the same in all lanes, of the first of two operands, which lanes have each their own.
    Coarse(Value, Value),
    /// A line within one piece.
    Fine(Value, Value),
    /// What has no low bits.
    LowZeros,
}

/// The operations that would be the same in all lanes, or a line, and what has to hold for that.
pub fn find_pieces(f: &Function, shapes: &SecondaryMap<Value, Shape>, width: u32) -> Option<Pieces> {
    let mut found = Pieces::default();
    for &inst in f.layout.iter().flat_map(|&block| &f.blocks[block].insts) {
        let Some((_, by, span)) = operation_operands(f, shapes, width, inst) else { continue };
        let InstData::Binary { opcode: op, .. } = f.insts[inst].data else { continue };
        let list = match op {
            BinaryOp::Lshr | BinaryOp::Ashr => &mut found.amounts,
            BinaryOp::Udiv | BinaryOp::Urem => &mut found.multiples,
            _ => match shift_in(f, by) {
                Some((amount, _)) => {
                    found.amounts.push(amount);
                    found.span = found.span.max(span);
                    continue;
                }
                None => &mut found.masks,
            },
        };
        list.push(by);
        found.span = found.span.max(span);
    }
    for list in [&mut found.amounts, &mut found.masks, &mut found.multiples] {
        list.sort_unstable();
        list.dedup();
    }
    (found.span > 1).then_some(found)
}

/// The operands, if it is an operation of a value whose lanes fill the low bits with one that is known at the entry, and
/// nothing is known of the result; the first is the one that lanes have; and the span of its lanes.
fn operation_operands(
    f: &Function,
    shapes: &SecondaryMap<Value, Shape>,
    width: u32,
    inst: Inst,
) -> Option<(Value, Value, u128)> {
    let InstData::Binary { opcode: op, arguments: [a, b], .. } = f.insts[inst].data else { return None };
    if !shapes[f.insts[inst].results[0]].is_varying() {
        return None;
    }
    let pair = |x: Value, by: Value| {
        let place = match op {
            BinaryOp::And => shift_in(f, by).map_or(by, |(amount, _)| amount),
            // Whether an argument is a multiple is for the launch to say.
            BinaryOp::Udiv | BinaryOp::Urem if matches!(f.values[by].definition, ValueDef::Param(..)) => return None,
            _ => by,
        };
        let known = shapes[by].is_uniform() && f.const_bits(by).is_none() && f.ty(x).bits() <= 64;
        let span = known.then(|| lanes_span(shapes[x], width)).flatten()?;
        is_known_at_entry(f, place).then_some((x, by, span))
    };
    match op {
        BinaryOp::Lshr | BinaryOp::Ashr | BinaryOp::Udiv | BinaryOp::Urem => pair(a, b),
        BinaryOp::And => pair(a, b).or_else(|| pair(b, a)),
        _ => None,
    }
}

/// The power of two that the lanes of a strided value reach over within one multiple of it.
fn lanes_span(shape: Shape, width: u32) -> Option<u128> {
    let Shape::Strided { stride, align } = shape else { return None };
    let last = u128::try_from(stride).ok().filter(|&stride| stride > 0)? * u128::from(width.max(1) - 1);
    let span = (last + 1).next_power_of_two();
    (span > 1 && span <= u128::from(align)).then_some(span)
}

/// The amount, if a mask is made by a shift: of all below a bit, or of a bit and those above.
fn shift_in(f: &Function, mask: Value) -> Option<(Value, Mask)> {
    let binary = |value: Value| match f.values[value].definition {
        ValueDef::Result(inst, _) => match f.insts[inst].data {
            InstData::Binary { opcode: op, arguments: args, .. } => Some((op, args)),
            _ => None,
        },
        _ => None,
    };
    let is = |value: Value, bits: u128| f.const_bits(value) == Some(bits & f.ty(value).value_mask());
    let (op, [a, b]) = binary(mask)?;
    if op == BinaryOp::Shl {
        return Some((b, Mask::From));
    }
    let (BinaryOp::Shl, [base, amount]) = binary(a)? else { return None };
    let below = match op {
        BinaryOp::Add => is(base, 1) && is(b, u128::MAX),
        BinaryOp::Xor => is(base, u128::MAX) && is(b, u128::MAX),
        _ => false,
    };
    below.then_some((amount, Mask::Below))
}

impl Pieces {
    /// Gives the region a version for launches in which all of it holds.
    pub fn split_region(&self, f: &mut Function, shapes: &SecondaryMap<Value, Shape>, width: u32) {
        let condition = self.emit_condition(f);
        let blocks = split_region(f, condition);
        self.rewrite_operations(f, &blocks, shapes, width);
    }

    /// What the region would be if it held; the other version is not made.
    pub fn suppose_whole(&self, f: &mut Function, shapes: &SecondaryMap<Value, Shape>, width: u32) {
        self.rewrite_operations(f, &f.layout.clone(), shapes, width);
    }

    /// The values that are asked of.
    pub fn asked_values(&self) -> Vec<Value> {
        self.amounts.iter().chain(&self.masks).chain(&self.multiples).copied().collect()
    }

    /// The place in the source of what is asked of.
    pub fn source_place(&self, f: &Function) -> SourceLoc {
        let place = |value: Value| match f.values[value].definition {
            ValueDef::Result(inst, _) => Some(f.insts[inst].location),
            _ => None,
        };
        self.asked_values().into_iter().find_map(place).unwrap_or_default()
    }

    fn span_bits(&self) -> u128 {
        u128::from(self.span.trailing_zeros())
    }

    /// Computes at the entry, before anything that does not matter for it, whether all of it holds.
    fn emit_condition(&self, f: &mut Function) -> Value {
        let entry = f.entry_block();
        let rest = keep_computation(f, &self.asked_values());
        let mut answer = f.constant(Type::BOOL, 1);
        let mut b = FoldingBuilder::at_end_of(f, entry);
        let mut also = |b: &mut FoldingBuilder<'_>, holds: Value| {
            // What is poison would make all of it poison, also where nobody uses it.
            let holds = b.unary(UnaryOp::Freeze, Type::BOOL, holds);
            answer = b.and(answer, holds);
        };
        for &amount in &self.amounts {
            let least = b.function.constant(b.function.ty(amount), self.span_bits());
            let holds = b.icmp(IntCc::Uge, amount, least);
            also(&mut b, holds);
        }
        let low = self.span - 1;
        for (list, wanted) in [(&self.masks, low), (&self.multiples, 0)] {
            for &value in list {
                let ty = b.function.ty(value);
                let [low, wanted] = [low, wanted].map(|bits| b.function.constant(ty, bits));
                let bits = b.binary(BinaryOp::And, value, low);
                let holds = b.icmp(IntCc::Eq, bits, wanted);
                also(&mut b, holds);
            }
        }
        f.blocks[entry].insts.extend(rest);
        answer
    }

    /// Writes the operations of blocks in which all of it holds so that shapes are known of them.
    fn rewrite_operations(&self, f: &mut Function, blocks: &[Block], shapes: &SecondaryMap<Value, Shape>, width: u32) {
        // Masks are recognized by shifts that are to be rewritten.
        let form = |f: &Function, inst: Inst| match f.insts[inst].data {
            InstData::Binary { opcode: BinaryOp::Shl, arguments: [_, amount], .. } => {
                self.amounts.contains(&amount).then_some(Form::LowZeros)
            }
            InstData::Binary { opcode: op, .. } => {
                operation_operands(f, shapes, width, inst).map(|(x, by, _)| match op {
                    BinaryOp::And if shift_in(f, by).is_none_or(|(_, mask)| mask == Mask::Below) => Form::Fine(x, by),
                    BinaryOp::Urem => Form::Fine(x, by),
                    _ => Form::Coarse(x, by),
                })
            }
            _ => None,
        };
        let mut forms: SecondaryMap<Inst, Option<Form>> = SecondaryMap::new();
        for &inst in blocks.iter().flat_map(|&block| &f.blocks[block].insts) {
            forms[inst] = form(f, inst);
        }
        for &block in blocks {
            for inst in std::mem::take(&mut f.blocks[block].insts) {
                if let Some(form) = forms[inst] {
                    self.write_form(f, block, inst, form);
                }
                f.blocks[block].insts.push(inst);
            }
        }
    }

    /// Gives an operation another form, and appends to its block what it needs to stand there next.
    fn write_form(&self, f: &mut Function, block: Block, inst: Inst, form: Form) {
        let loc = f.insts[inst].location;
        let InstData::Binary { opcode: op, flags, fast_math: fmf, arguments: [first, second] } = f.insts[inst].data
        else {
            return;
        };
        let ty = f.ty(second);
        let below = self.span - 1;
        let [bits, fewer] = [self.span_bits(), self.span_bits().wrapping_neg()].map(|bits| f.constant(ty, bits));
        let [low, high] = [below, !below].map(|bits| f.constant(ty, bits));
        let mut b = Builder::at_end_of(f, block);
        b.set_loc(loc);
        let data = match form {
            Form::LowZeros => {
                let shifted =
                    b.inst(InstData::Binary { opcode: op, flags, fast_math: fmf, arguments: [first, bits] }, &[ty]);
                let left = b.binary(BinaryOp::Add, second, fewer);
                InstData::Binary {
                    opcode: op,
                    flags,
                    fast_math: fmf,
                    arguments: [b.function.single_result(shifted), left],
                }
            }
            Form::Coarse(x, by) => {
                let start = b.binary(BinaryOp::And, x, high);
                InstData::Binary { opcode: op, flags, fast_math: fmf, arguments: [start, by] }
            }
            Form::Fine(x, by) => {
                let start = b.binary(BinaryOp::And, x, high);
                let of_start = b.binary(op, start, by);
                let lanes = b.binary(BinaryOp::And, x, low);
                // The first has no low bits.
                let flags = IntFlags { nuw: true, ..IntFlags::default() };
                InstData::Binary { opcode: BinaryOp::Add, flags, fast_math: fmf, arguments: [of_start, lanes] }
            }
        };
        f.insts[inst].data = data;
    }
}

/// Leaves at the entry what values are computed of, and takes the rest away, which stands behind that.
fn keep_computation(f: &mut Function, values: &[Value]) -> Vec<Inst> {
    let entry = f.entry_block();
    let mut needed: EntitySet<Value> = EntitySet::new();
    needed.extend(values.iter().copied());
    let insts = std::mem::take(&mut f.blocks[entry].insts);
    for &inst in insts.iter().rev() {
        let node = &f.insts[inst];
        if node.results.iter().any(|&result| needed.contains(result)) {
            node.data.for_each_arg(|arg| {
                needed.insert(arg);
            });
        }
    }
    let is_needed = |f: &Function, inst: Inst| f.insts[inst].results.iter().any(|&result| needed.contains(result));
    let moves = |data: &InstData| {
        use InstData::{Binary, Icmp, Query, Ternary, Unary};
        matches!(data, Binary { .. } | Icmp { .. } | Query { .. } | Ternary { .. } | Unary { .. })
    };
    // Nothing passes what has an effect.
    let fixed = insts.iter().rposition(|&inst| is_needed(f, inst) && !moves(&f.insts[inst].data));
    let (first, later) = insts.split_at(fixed.map_or(0, |at| at + 1));
    let (asked, rest): (Vec<Inst>, Vec<Inst>) = later.iter().partition(|&&inst| is_needed(f, inst));
    f.blocks[entry].insts = [first, &asked].concat();
    rest
}
