//! A uniform part of a divergent condition becomes a branch of its own.
//!
//! `if (get_group_id(0) < n && get_local_id(0) < m)` reaches us as one branch on an `and`. As a whole it is divergent, so
//! a gang of a group beyond `n` runs the arm with a mask that no lane is in. The first half is the same in all work-items
//! of a group: as a branch of its own it stays a branch, which skips the arm for all, and which LLVM can move out of the
//! group's loop. Where groups have one work-item along y, so is a condition on the id along y. Of what is the same in one
//! gang only, the lanes' mask and a gate do as well: a branch for each such operand of `x > 0 && y > 0 && x < w && y < h`
//! made a filter of bytes 1.25 times as slow.
//!
//! Requires: `Stage::Normalized`; the shapes of the function's values and its divergent branches, with a group in place of
//! a gang.
//! Ensures: `Stage::Normalized`. In front of a divergent branch on a conjunction (disjunction) stands a branch on those
//! of its operands that are uniform; the divergent branch asks the others. Each work-item does what it did.
//! Phases: per divergent branch that stays in its loop and has something to skip, the operands in the order in which they
//! are evaluated; the two branches; normal form.
//! Source: Moll 2021, chapter 8 (uniform branches stay branches), for conditions that LLVM has joined.
//!
//! ```text
//! b: c = and u, d            b:  f = freeze u
//!    br c, t(x…), e(y…)  =>      br f, b2, e(y…)
//!                            b2: br d, t(x…), e(y…)
//! ```

use crate::analysis::cfg::build_cfg;
use crate::analysis::dominators::compute_dominators;
use crate::analysis::loops::{Loops, find_loops};
use crate::analysis::shape::Shape;
use crate::ir::*;
use crate::transform::normalize::normalize_function;
use cranelift_entity::{EntitySet, SecondaryMap};
use lockstep_protocol::types::Type;

/// Operands that a condition may have.
const MOST_OPERANDS: usize = 8;

/// How the operands of a condition decide together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Connective {
    /// All have to hold.
    And,
    /// One is enough.
    Or,
}

/// A condition whose operands are evaluated in this order; a later one matters only if the ones before left it open.
struct Condition {
    connective: Connective,
    uniform: Vec<Value>,
    divergent: Vec<Value>,
}

/// Whether a branch asks a condition of several operands.
pub fn has_joined_condition(function: &Function) -> bool {
    let is_joined = |&block: &Block| match function.blocks[block].terminator {
        Terminator::Branch { condition, .. } => find_connective(function, condition).is_some(),
        _ => false,
    };
    function.layout.iter().any(is_joined)
}

/// Gives uniform operands of divergent conditions branches of their own, also those that skip nothing if `always`.
pub fn split_conditions(
    function: &mut Function,
    shapes: &SecondaryMap<Value, Shape>,
    divergent_branches: &EntitySet<Block>,
    always: bool,
) {
    let flow_graph = build_cfg(function);
    let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
    let mut conditions = Vec::new();
    for &block in flow_graph.reverse_post_order().iter().filter(|&&block| divergent_branches.contains(block)) {
        if !leaves_loop(function, &loop_forest, block)
            && (always || skips_something(function, block))
            && let Some(condition) = find_condition(function, shapes, block)
        {
            conditions.push((block, condition));
        }
    }
    for (block, condition) in &conditions {
        split_branch(function, *block, condition);
    }
    if !conditions.is_empty() {
        normalize_function(function);
    }
}

/// Whether a way out of a block leaves the block's loop or goes round it again: who is still in a loop is asked of all
/// its exits together.
fn leaves_loop(function: &Function, loop_forest: &Loops, block: Block) -> bool {
    let own_loop = loop_forest.innermost_loop(block);
    let mut targets = function.blocks[block].terminator.targets().into_iter();
    targets.any(|target| {
        loop_forest.innermost_loop(target.block) != own_loop || loop_forest.with_header(target.block).is_some()
    })
}

/// Whether one way of a block's branch has an instruction or a choice of its own before the ways meet.
fn skips_something(function: &Function, block: Block) -> bool {
    let mut targets =
        function.blocks[block].terminator.targets().into_iter().map(|target| &function.blocks[target.block]);
    targets.any(|block_data| !block_data.insts.is_empty() || !matches!(block_data.terminator, Terminator::Jump(_)))
}

/// The condition of a block's branch, if some of its operands are uniform and some are not.
fn find_condition(function: &Function, shapes: &SecondaryMap<Value, Shape>, block: Block) -> Option<Condition> {
    let Terminator::Branch { condition, .. } = function.blocks[block].terminator else { return None };
    let connective = find_connective(function, condition)?;
    let mut operands = Vec::new();
    collect_operands(function, condition, connective, &mut operands);
    if operands.len() > MOST_OPERANDS {
        return None;
    }
    let (uniform, divergent): (Vec<_>, Vec<_>) = operands.into_iter().partition(|&value| shapes[value].is_uniform());
    (!uniform.is_empty() && !divergent.is_empty()).then_some(Condition { connective, uniform, divergent })
}

fn find_connective(function: &Function, value: Value) -> Option<Connective> {
    [Connective::And, Connective::Or]
        .into_iter()
        .find(|&connective| split_operand(function, value, connective).is_some())
}

/// The operands of a value that joins two of them so, in the order of evaluation.
fn split_operand(function: &Function, value: Value, connective: Connective) -> Option<[Value; 2]> {
    let ValueDef::Result(instruction, _) = function.values[value].definition else { return None };
    let is_constant = |value: Value, bits: u128| function.values[value].definition == ValueDef::Const(bits);
    match (&function.insts[instruction].data, connective) {
        (&InstData::Binary { opcode: BinaryOp::And, arguments, .. }, Connective::And)
        | (&InstData::Binary { opcode: BinaryOp::Or, arguments, .. }, Connective::Or) => Some(arguments),
        (&InstData::Ternary { opcode: TernaryOp::Select, arguments: [left, right, third], .. }, Connective::And)
            if is_constant(third, 0) =>
        {
            Some([left, right])
        }
        (&InstData::Ternary { opcode: TernaryOp::Select, arguments: [left, right, third], .. }, Connective::Or)
            if is_constant(right, 1) =>
        {
            Some([left, third])
        }
        _ => None,
    }
}

fn collect_operands(function: &Function, value: Value, connective: Connective, operands: &mut Vec<Value>) {
    match split_operand(function, value, connective) {
        Some(parts) if operands.len() <= MOST_OPERANDS => {
            parts.into_iter().for_each(|part| collect_operands(function, part, connective, operands));
        }
        _ => operands.push(value),
    }
}

/// Puts a branch on the uniform operands in front of a block's branch, which asks the others from then on.
fn split_branch(function: &mut Function, block: Block, condition: &Condition) {
    let rest_block = function.add_block();
    function.end_locs[rest_block] = function.end_locs[block];
    let Terminator::Branch { then_to, else_to, .. } = function.blocks[block].terminator.clone() else { return };
    let divergent = join_operands(function, rest_block, condition.connective, &condition.divergent);
    function.blocks[rest_block].terminator =
        Terminator::Branch { condition: divergent, then_to: then_to.clone(), else_to: else_to.clone() };

    let uniform = join_operands(function, block, condition.connective, &condition.uniform);
    // An operand may be poison where one that came before it has decided; a branch on it would be undefined.
    let freeze = InstData::Unary { opcode: UnaryOp::Freeze, fast_math: FastMath::default(), argument: uniform };
    let frozen = function.append_inst(block, freeze, &[Type::BOOL], function.end_locs[block]);
    let joined_condition = function.single_result(frozen);
    let to_rest = BlockCall { block: rest_block, arguments: Vec::new() };
    function.blocks[block].terminator = match condition.connective {
        Connective::And => Terminator::Branch { condition: joined_condition, then_to: to_rest, else_to },
        Connective::Or => Terminator::Branch { condition: joined_condition, then_to, else_to: to_rest },
    };
}

/// The operands joined at a block's end, by choices, so that one that decides hides poison in those after it.
fn join_operands(function: &mut Function, block: Block, connective: Connective, operands: &[Value]) -> Value {
    let constant = function.constant(Type::BOOL, (connective == Connective::Or).into());
    let location = function.end_locs[block];
    let mut joined = operands[0];
    for &operand in &operands[1..] {
        let arguments = match connective {
            Connective::And => [joined, operand, constant],
            Connective::Or => [joined, constant, operand],
        };
        let select = InstData::Ternary { opcode: TernaryOp::Select, fast_math: FastMath::default(), arguments };
        let instruction = function.append_inst(block, select, &[Type::BOOL], location);
        joined = function.single_result(instruction);
    }
    joined
}
