//! What two instructions become when they are merged, and which may be.
//!
//! Merged are instructions of one operation on the same types. What an operation promises (`nsw`, fast math, alignments)
//! the merged one promises where both do. Comparisons stand one way round (`a > b` is `b < a`), operands that commute are
//! taken in either order, and a product is `fma x, y, -0.0`, which is exact for every product, zeros included. No other
//! identity of floats is used.
//!
//! Requires: instructions of a verified function.
//! Ensures: a merged instruction does in each lane what that of the lane's side does, if it gets that one's operands, and promises no more.
//! Phases: each instruction as an operation without operands, of which like ones have one number; then pairs as they are asked for.
//! Source: Coutinho et al. 2011, section 4.1, paragraph a.

use crate::ir::*;
use cranelift_entity::EntityRef;
use lockstep_protocol::types::Type;
use std::collections::HashMap;

/// What stands for an operand in an operation.
fn blank_operand() -> Value {
    Value::new(0)
}

/// An instruction as what it does, apart from what it does it to.
pub struct Operation {
    /// The instruction without operands and promises, comparisons one way round.
    blank: InstData,
    /// Its operands, in the order of `InstData::for_each_arg` for the blank.
    operands: Vec<Value>,
    types: Vec<Type>,
    /// The number that instructions of one operation and the same types have in common.
    kind: usize,
    /// The kind of a sum that this product can be a part of.
    sum_kind: Option<usize>,
}

/// Two instructions as one: what it does, and which operands each lane's is.
pub struct Merge {
    /// The merged instruction, with no operands yet.
    pub data: InstData,
    /// For each operand in the order of `InstData::map_args`, that of the first instruction and that of the second.
    pub operands: Vec<(Value, Value)>,
}

/// The operations of some instructions.
pub struct Operations {
    of: HashMap<Inst, Operation>,
    /// -0.0 of the types of sums of products.
    minus_zeros: HashMap<Type, Value>,
}

impl Operations {
    /// Finds the operations of instructions that may be merged; the others have none.
    pub fn of_instructions(function: &mut Function, instructions: &[Inst]) -> Operations {
        let mut operations = Operations { of: HashMap::new(), minus_zeros: HashMap::new() };
        let mut kinds: Vec<(InstData, Vec<Type>)> = Vec::new();
        for &instruction in instructions {
            if !may_merge(&function.insts[instruction].data) {
                continue;
            }
            let mut operation = Operation::of_inst(function, instruction);
            let key = (operation.blank.clone(), operation.types.clone());
            operation.kind = kinds.iter().position(|kind| *kind == key).unwrap_or_else(|| {
                kinds.push(key);
                kinds.len() - 1
            });
            if let InstData::Ternary { opcode: TernaryOp::Fma | TernaryOp::FmulAdd, .. } = operation.blank
                && let Some(&value_type) = operation.types.first()
            {
                let sign = 1u128 << (value_type.bits() - 1);
                operations.minus_zeros.insert(value_type, function.constant(value_type, sign));
            }
            operations.of.insert(instruction, operation);
        }
        for operation in operations.of.values_mut() {
            if let InstData::Binary { opcode: BinaryOp::Fmul, .. } = operation.blank {
                let value_type = operation.types[0];
                let is_sum = |(blank, types): &(InstData, Vec<Type>)| {
                    let is_product_sum =
                        matches!(blank, InstData::Ternary { opcode: TernaryOp::Fma | TernaryOp::FmulAdd, .. });
                    is_product_sum && types[0] == value_type
                };
                operation.sum_kind = kinds.iter().position(is_sum);
            }
        }
        operations
    }

    /// Whether two instructions may be merged, as far as that does not depend on their operands.
    pub fn are_alike(&self, then_inst: Inst, else_inst: Inst) -> bool {
        let (Some(then_op), Some(else_op)) = (self.of.get(&then_inst), self.of.get(&else_inst)) else { return false };
        then_op.kind == else_op.kind || then_op.sum_kind == Some(else_op.kind) || else_op.sum_kind == Some(then_op.kind)
    }

    /// The ways to merge two instructions: two where operands commute.
    pub fn ways_to_merge(&self, function: &Function, then_inst: Inst, else_inst: Inst) -> Vec<Merge> {
        if !self.are_alike(then_inst, else_inst) {
            return Vec::new();
        }
        let (Some(then_op), Some(else_op)) = (self.of.get(&then_inst), self.of.get(&else_inst)) else {
            return Vec::new();
        };
        let blank = if then_op.sum_kind == Some(else_op.kind) { &else_op.blank } else { &then_op.blank };
        let [then_data, else_data] = [then_inst, else_inst].map(|inst| &function.insts[inst].data);
        let data = with_common_promises(blank, then_data, else_data);
        let operand_count = then_op.operands.len().max(else_op.operands.len());
        let [then_operands, else_operands] =
            [then_op, else_op].map(|operation| self.operands_of(operation, operand_count));
        let mut ways = vec![pair_operands(&data, &then_operands, &else_operands)];
        if commutes(&data) {
            let mut swapped = else_operands;
            swapped.swap(0, 1);
            ways.push(pair_operands(&data, &then_operands, &swapped));
        }
        ways
    }

    /// An operation's operands, with the -0.0 that makes a sum of a product.
    fn operands_of(&self, operation: &Operation, operand_count: usize) -> Vec<Value> {
        let mut operands = operation.operands.clone();
        if operands.len() < operand_count {
            operands.extend(self.minus_zeros.get(&operation.types[0]));
        }
        operands
    }
}

fn pair_operands(data: &InstData, then_operands: &[Value], else_operands: &[Value]) -> Merge {
    Merge { data: data.clone(), operands: then_operands.iter().copied().zip(else_operands.iter().copied()).collect() }
}

impl Operation {
    fn of_inst(function: &Function, instruction: Inst) -> Operation {
        let inst_node = &function.insts[instruction];
        let mut blank = in_one_direction(&inst_node.data);
        let mut operands = Vec::new();
        blank.for_each_arg(|operand| operands.push(operand));
        blank.map_args(|_| blank_operand());
        clear_promises(&mut blank);
        let types = inst_node.results.iter().chain(&operands).map(|&value| function.ty(value)).collect();
        Operation { blank, operands, types, kind: 0, sum_kind: None }
    }
}

/// Whether an instruction may be merged with another at all. What has an effect beyond one place of memory, or sees which
/// lanes come together, stays what it is.
fn may_merge(inst_data: &InstData) -> bool {
    match inst_data {
        InstData::Store { access, .. } | InstData::Load { access, .. } => !access.volatile && access.atomic.is_none(),
        InstData::Combined => false,
        _ => !inst_data.has_effect() && !inst_data.needs_lanes(),
    }
}

/// A comparison by `less` if it was by `greater`.
fn in_one_direction(inst_data: &InstData) -> InstData {
    match *inst_data {
        InstData::Icmp { comparison, arguments: [left, right] }
            if matches!(comparison, IntCc::Sgt | IntCc::Sge | IntCc::Ugt | IntCc::Uge) =>
        {
            InstData::Icmp { comparison: comparison.swapped(), arguments: [right, left] }
        }
        InstData::Fcmp { comparison, fast_math, arguments: [left, right] } => match less_for_greater(comparison) {
            Some(comparison) => InstData::Fcmp { comparison, fast_math, arguments: [right, left] },
            None => inst_data.clone(),
        },
        _ => inst_data.clone(),
    }
}

fn less_for_greater(comparison: FloatCc) -> Option<FloatCc> {
    match comparison {
        FloatCc::Ogt => Some(FloatCc::Olt),
        FloatCc::Oge => Some(FloatCc::Ole),
        FloatCc::Ugt => Some(FloatCc::Ult),
        FloatCc::Uge => Some(FloatCc::Ule),
        _ => None,
    }
}

/// Takes away what an instruction promises beyond what it does.
fn clear_promises(inst_data: &mut InstData) {
    match inst_data {
        InstData::Binary { flags, fast_math, .. } => (*flags, *fast_math) = Default::default(),
        InstData::Unary { fast_math, .. } | InstData::Ternary { fast_math, .. } | InstData::Fcmp { fast_math, .. } => {
            *fast_math = FastMath::default()
        }
        InstData::PtrAdd { inbounds, .. } => *inbounds = false,
        InstData::Load { access, .. } | InstData::Store { access, .. } => access.align = 1,
        _ => {}
    }
}

/// The operation with what both instructions promise.
fn with_common_promises(blank: &InstData, then_data: &InstData, else_data: &InstData) -> InstData {
    let mut data = blank.clone();
    let common = FastMath(then_data.fast_math().0 & else_data.fast_math().0);
    match (&mut data, then_data, else_data) {
        (
            InstData::Binary { flags, fast_math, .. },
            InstData::Binary { flags: then_flags, .. },
            InstData::Binary { flags: else_flags, .. },
        ) => {
            *flags = IntFlags { nsw: then_flags.nsw && else_flags.nsw, nuw: then_flags.nuw && else_flags.nuw };
            *fast_math = common;
        }
        (
            InstData::Unary { fast_math, .. } | InstData::Ternary { fast_math, .. } | InstData::Fcmp { fast_math, .. },
            ..,
        ) => *fast_math = common,
        (
            InstData::PtrAdd { inbounds, .. },
            InstData::PtrAdd { inbounds: then_inbounds, .. },
            InstData::PtrAdd { inbounds: else_inbounds, .. },
        ) => *inbounds = *then_inbounds && *else_inbounds,
        (
            InstData::Load { access, .. } | InstData::Store { access, .. },
            InstData::Load { access: then_access, .. } | InstData::Store { access: then_access, .. },
            InstData::Load { access: else_access, .. } | InstData::Store { access: else_access, .. },
        ) => access.align = then_access.align.min(else_access.align),
        _ => {}
    }
    data
}

/// Whether the first two operands may change places.
fn commutes(inst_data: &InstData) -> bool {
    use BinaryOp::{Add, And, Fadd, Fmul, Mul, Or, SaddSat, Smax, Smin, UaddSat, Umax, Umin, Xor};
    match inst_data {
        InstData::Binary { opcode, .. } => {
            matches!(opcode, Add | Mul | And | Or | Xor | Smin | Smax | Umin | Umax | SaddSat | UaddSat | Fadd | Fmul)
        }
        InstData::Ternary { opcode, .. } => matches!(opcode, TernaryOp::Fma | TernaryOp::FmulAdd),
        InstData::Icmp { comparison, .. } => matches!(comparison, IntCc::Eq | IntCc::Ne),
        InstData::Fcmp { comparison, .. } => {
            use FloatCc::{Oeq, One, Ord, Ueq, Une, Uno};
            matches!(comparison, Oeq | One | Ord | Ueq | Une | Uno)
        }
        _ => false,
    }
}

/// Takes away that an integer or address does not wrap: lanes whose operands are others' may run it.
pub fn clear_wrap_promises(inst_data: &mut InstData) {
    match inst_data {
        InstData::Binary { flags, .. } => *flags = IntFlags::default(),
        InstData::PtrAdd { inbounds, .. } => *inbounds = false,
        _ => {}
    }
}
