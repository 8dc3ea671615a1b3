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

use super::unswitch_selects::{is_known_at_entry, split_region};
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
pub fn find_pieces(function: &Function, shapes: &SecondaryMap<Value, Shape>, gang_width: u32) -> Option<Pieces> {
    let mut pieces = Pieces::default();
    for &instruction in function.layout.iter().flat_map(|&block| &function.blocks[block].insts) {
        let Some((_, divisor, span)) = operation_operands(function, shapes, gang_width, instruction) else { continue };
        let InstData::Binary { opcode, .. } = function.insts[instruction].data else { continue };
        let list = match opcode {
            BinaryOp::Lshr | BinaryOp::Ashr => &mut pieces.amounts,
            BinaryOp::Udiv | BinaryOp::Urem => &mut pieces.multiples,
            _ => match shift_in(function, divisor) {
                Some((amount, _)) => {
                    pieces.amounts.push(amount);
                    pieces.span = pieces.span.max(span);
                    continue;
                }
                None => &mut pieces.masks,
            },
        };
        list.push(divisor);
        pieces.span = pieces.span.max(span);
    }
    for list in [&mut pieces.amounts, &mut pieces.masks, &mut pieces.multiples] {
        list.sort_unstable();
        list.dedup();
    }
    (pieces.span > 1).then_some(pieces)
}

/// The operands, if it is an operation of a value whose lanes fill the low bits with one that is known at the entry, and
/// nothing is known of the result; the first is the one that lanes have; and the span of its lanes.
fn operation_operands(
    function: &Function,
    shapes: &SecondaryMap<Value, Shape>,
    gang_width: u32,
    instruction: Inst,
) -> Option<(Value, Value, u128)> {
    let InstData::Binary { opcode, arguments: [left, right], .. } = function.insts[instruction].data else {
        return None;
    };
    if !shapes[function.insts[instruction].results[0]].is_varying() {
        return None;
    }
    let pair = |operand: Value, divisor: Value| {
        let is_suited = shapes[divisor].is_uniform() && is_asked_of(function, opcode, divisor);
        let span =
            lanes_span(shapes[operand], gang_width).filter(|_| is_suited && function.ty(operand).bits() <= 64)?;
        Some((operand, divisor, span))
    };
    match opcode {
        BinaryOp::Lshr | BinaryOp::Ashr | BinaryOp::Udiv | BinaryOp::Urem => pair(left, right),
        BinaryOp::And => pair(left, right).or_else(|| pair(right, left)),
        _ => None,
    }
}

/// Whether the region can ask at its entry what has to hold of an operation's second operand.
fn is_asked_of(function: &Function, opcode: BinaryOp, divisor: Value) -> bool {
    let asked = match opcode {
        BinaryOp::And => shift_in(function, divisor).map_or(divisor, |(amount, _)| amount),
        // Whether an argument is a multiple is for the launch to say.
        BinaryOp::Udiv | BinaryOp::Urem if matches!(function.values[divisor].definition, ValueDef::Param(..)) => {
            return false;
        }
        _ => divisor,
    };
    function.const_bits(divisor).is_none() && is_known_at_entry(function, asked)
}

/// The power of two that the lanes of a strided value reach over within one multiple of it.
fn lanes_span(shape: Shape, gang_width: u32) -> Option<u128> {
    let Shape::Strided { stride, align } = shape else { return None };
    let last_lane = u128::try_from(stride).ok().filter(|&stride| stride > 0)? * u128::from(gang_width.max(1) - 1);
    let span = (last_lane + 1).next_power_of_two();
    (span > 1 && span <= u128::from(align)).then_some(span)
}

/// The amount, if a mask is made by a shift: of all below a bit, or of a bit and those above.
fn shift_in(function: &Function, mask: Value) -> Option<(Value, Mask)> {
    let is_constant =
        |value: Value, bits: u128| function.const_bits(value) == Some(bits & function.ty(value).value_mask());
    let (opcode, [left, right]) = binary_operation(function, mask)?;
    if opcode == BinaryOp::Shl {
        return Some((right, Mask::From));
    }
    let (BinaryOp::Shl, [shifted, amount]) = binary_operation(function, left)? else { return None };
    let is_below = match opcode {
        BinaryOp::Add => is_constant(shifted, 1) && is_constant(right, u128::MAX),
        BinaryOp::Xor => is_constant(shifted, u128::MAX) && is_constant(right, u128::MAX),
        _ => false,
    };
    is_below.then_some((amount, Mask::Below))
}

/// The operation of two operands that computes a value, if one does.
fn binary_operation(function: &Function, value: Value) -> Option<(BinaryOp, [Value; 2])> {
    let ValueDef::Result(instruction, _) = function.values[value].definition else { return None };
    let InstData::Binary { opcode, arguments, .. } = function.insts[instruction].data else { return None };
    Some((opcode, arguments))
}

impl Pieces {
    /// Gives the region a version for launches in which all of it holds.
    pub fn split_region(&self, function: &mut Function, shapes: &SecondaryMap<Value, Shape>, gang_width: u32) {
        let condition = self.emit_condition(function);
        let blocks = split_region(function, condition);
        self.rewrite_operations(function, &blocks, shapes, gang_width);
    }

    /// What the region would be if it held; the other version is not made.
    pub fn suppose_whole(&self, function: &mut Function, shapes: &SecondaryMap<Value, Shape>, gang_width: u32) {
        self.rewrite_operations(function, &function.layout.clone(), shapes, gang_width);
    }

    /// The values that are asked of.
    pub fn asked_values(&self) -> Vec<Value> {
        self.amounts.iter().chain(&self.masks).chain(&self.multiples).copied().collect()
    }

    /// The place in the source of what is asked of.
    pub fn source_place(&self, function: &Function) -> SourceLoc {
        let location_of = |value: Value| match function.values[value].definition {
            ValueDef::Result(instruction, _) => Some(function.insts[instruction].location),
            _ => None,
        };
        self.asked_values().into_iter().find_map(location_of).unwrap_or_default()
    }

    fn span_bits(&self) -> u128 {
        u128::from(self.span.trailing_zeros())
    }

    /// Computes at the entry, before anything that does not matter for it, whether all of it holds.
    fn emit_condition(&self, function: &mut Function) -> Value {
        let entry_block = function.entry_block();
        let later_insts = keep_computation(function, &self.asked_values());
        let mut answer = function.constant(Type::BOOL, 1);
        let mut builder = FoldingBuilder::at_end_of(function, entry_block);
        for &amount in &self.amounts {
            let minimum = builder.function.constant(builder.function.ty(amount), self.span_bits());
            let holds = builder.icmp(IntCc::Uge, amount, minimum);
            answer = and_frozen(&mut builder, answer, holds);
        }
        let low_mask = self.span - 1;
        for (list, wanted) in [(&self.masks, low_mask), (&self.multiples, 0)] {
            for &value in list {
                let operand_type = builder.function.ty(value);
                let [low_bits, wanted] = [low_mask, wanted].map(|bits| builder.function.constant(operand_type, bits));
                let bits = builder.binary(BinaryOp::And, value, low_bits);
                let holds = builder.icmp(IntCc::Eq, bits, wanted);
                answer = and_frozen(&mut builder, answer, holds);
            }
        }
        function.blocks[entry_block].insts.extend(later_insts);
        answer
    }

    /// Writes the operations of blocks in which all of it holds so that shapes are known of them.
    fn rewrite_operations(
        &self,
        function: &mut Function,
        blocks: &[Block],
        shapes: &SecondaryMap<Value, Shape>,
        gang_width: u32,
    ) {
        // Masks are recognized by shifts that are to be rewritten.
        let mut forms: SecondaryMap<Inst, Option<Form>> = SecondaryMap::new();
        for &instruction in blocks.iter().flat_map(|&block| &function.blocks[block].insts) {
            forms[instruction] = self.form_of(function, shapes, gang_width, instruction);
        }
        for &block in blocks {
            for instruction in std::mem::take(&mut function.blocks[block].insts) {
                if let Some(form) = forms[instruction] {
                    self.write_form(function, block, instruction, form);
                }
                function.blocks[block].insts.push(instruction);
            }
        }
    }

    /// The form that an operation gets, if it gets another one.
    fn form_of(
        &self,
        function: &Function,
        shapes: &SecondaryMap<Value, Shape>,
        gang_width: u32,
        instruction: Inst,
    ) -> Option<Form> {
        let InstData::Binary { opcode, arguments: [_, amount], .. } = function.insts[instruction].data else {
            return None;
        };
        if opcode == BinaryOp::Shl {
            return self.amounts.contains(&amount).then_some(Form::LowZeros);
        }
        let (operand, divisor, _) = operation_operands(function, shapes, gang_width, instruction)?;
        let is_fine = match opcode {
            BinaryOp::And => shift_in(function, divisor).is_none_or(|(_, mask)| mask == Mask::Below),
            _ => opcode == BinaryOp::Urem,
        };
        Some(if is_fine { Form::Fine(operand, divisor) } else { Form::Coarse(operand, divisor) })
    }

    /// Gives an operation another form, and appends to its block what it needs to stand there next.
    fn write_form(&self, function: &mut Function, block: Block, instruction: Inst, form: Form) {
        let location = function.insts[instruction].location;
        let InstData::Binary { opcode, flags, fast_math, arguments: [first, second] } =
            function.insts[instruction].data
        else {
            return;
        };
        let operand_type = function.ty(second);
        let low_bits = self.span - 1;
        let [span_bits, negative_bits] =
            [self.span_bits(), self.span_bits().wrapping_neg()].map(|bits| function.constant(operand_type, bits));
        let [low_mask, high_mask] = [low_bits, !low_bits].map(|bits| function.constant(operand_type, bits));
        let mut builder = Builder::at_end_of(function, block);
        builder.set_loc(location);
        let inst_data = match form {
            Form::LowZeros => {
                let shifted = builder.inst(
                    InstData::Binary { opcode, flags, fast_math, arguments: [first, span_bits] },
                    &[operand_type],
                );
                let left = builder.binary(BinaryOp::Add, second, negative_bits);
                InstData::Binary {
                    opcode,
                    flags,
                    fast_math,
                    arguments: [builder.function.single_result(shifted), left],
                }
            }
            Form::Coarse(operand, divisor) => {
                let piece_start = builder.binary(BinaryOp::And, operand, high_mask);
                InstData::Binary { opcode, flags, fast_math, arguments: [piece_start, divisor] }
            }
            Form::Fine(operand, divisor) => {
                let piece_start = builder.binary(BinaryOp::And, operand, high_mask);
                let of_start = builder.binary(opcode, piece_start, divisor);
                let lanes = builder.binary(BinaryOp::And, operand, low_mask);
                // The first has no low bits.
                let flags = IntFlags { nuw: true, ..IntFlags::default() };
                InstData::Binary { opcode: BinaryOp::Add, flags, fast_math, arguments: [of_start, lanes] }
            }
        };
        function.insts[instruction].data = inst_data;
    }
}

/// Asks that one more condition hold: what is poison would make all of it poison, also where nobody uses it.
fn and_frozen(builder: &mut FoldingBuilder<'_>, answer: Value, condition: Value) -> Value {
    let frozen = builder.unary(UnaryOp::Freeze, Type::BOOL, condition);
    builder.and(answer, frozen)
}

/// Leaves at the entry what values are computed of, and takes the rest away, which stands behind that.
fn keep_computation(function: &mut Function, values: &[Value]) -> Vec<Inst> {
    let entry_block = function.entry_block();
    let mut needed: EntitySet<Value> = EntitySet::new();
    needed.extend(values.iter().copied());
    let instructions = std::mem::take(&mut function.blocks[entry_block].insts);
    for &instruction in instructions.iter().rev() {
        let inst_node = &function.insts[instruction];
        if inst_node.results.iter().any(|&result| needed.contains(result)) {
            inst_node.data.for_each_arg(|argument| {
                needed.insert(argument);
            });
        }
    }
    let is_needed = |function: &Function, instruction: Inst| {
        function.insts[instruction].results.iter().any(|&result| needed.contains(result))
    };
    let may_move = |inst_data: &InstData| {
        use InstData::{Binary, Icmp, Query, Ternary, Unary};
        matches!(inst_data, Binary { .. } | Icmp { .. } | Query { .. } | Ternary { .. } | Unary { .. })
    };
    // Nothing passes what has an effect.
    let fixed = instructions
        .iter()
        .rposition(|&instruction| is_needed(function, instruction) && !may_move(&function.insts[instruction].data));
    let (first, later) = instructions.split_at(fixed.map_or(0, |position| position + 1));
    let (asked, rest): (Vec<Inst>, Vec<Inst>) =
        later.iter().partition(|&&instruction| is_needed(function, instruction));
    function.blocks[entry_block].insts = [first, &asked].concat();
    rest
}
