//! How long a round of a loop waits for the one before.
//!
//! Where each round needs what the last one computed, a processor cannot begin it earlier, however little there is to do:
//! a loop takes the latencies along that chain, not the sum of its instructions. Another gang beside the first one, or a
//! gang of more registers, then costs nothing.
//!
//! Requires: loops in normal form (one latch); for a gang, the shapes of the values.
//! Ensures: numbers to compare with each other. They decide what is done, never what comes out.
//! Phases: per parameter of an innermost loop's header, the longest chain from it to what the latch passes for it; the same
//! for two parameters that take turns; what lanes hold in registers around the loop.
//! Source: textbook (recurrences as modulo scheduling has them); latencies that vendors publish for x86-64 and AArch64. `cargo xtask bench
//! costs` measures them again: behind "bench costs" stand the rows of its table.

use super::loops::{Loop, Loops};
use super::shape::Shape;
use crate::ir::{BinaryOp, Function, Inst, InstData, TernaryOp, UnaryOp, Value, ValueDef};
use cranelift_entity::{EntitySet, SecondaryMap};
use lockstep_protocol::types::Type;
use std::collections::{HashMap, HashSet};

/// Cycles in operations on one element, of which so many are done in one.
pub const CYCLE: u64 = 4;

/// The parameters that a loop may have; the chains between all of them are looked at.
const MOST_CARRIED: usize = 12;

/// Whether no loop lies in this one.
pub fn is_innermost(loop_forest: &Loops, loop_id: Loop) -> bool {
    loop_forest.get(loop_id).blocks.iter().all(|&block| loop_forest.innermost_loop(block) == Some(loop_id))
}

/// The cycles that a round of an innermost loop waits for the one before: in a gang, whose values have these shapes, or for
/// one work-item.
pub fn recurrence_cycles(
    function: &Function,
    loop_forest: &Loops,
    loop_id: Loop,
    shapes: Option<&SecondaryMap<Value, Shape>>,
) -> u64 {
    let loop_data = loop_forest.get(loop_id);
    let parameters = &function.blocks[loop_data.header].params;
    if parameters.len() > MOST_CARRIED {
        return 0;
    }
    let chains: Vec<Vec<Option<u64>>> =
        parameters.iter().map(|&start| longest_chains(function, loop_forest, loop_id, shapes, start)).collect();
    let cycles_of = |first: usize, last: usize| chains[first][last];
    let own_cycles = (0..parameters.len()).filter_map(|param| cycles_of(param, param));
    let swapped = (0..parameters.len()).flat_map(|left| (0..left).map(move |right| (left, right)));
    let swapped = swapped.filter_map(|(left, right)| Some((cycles_of(left, right)? + cycles_of(right, left)?) / 2));
    own_cycles.chain(swapped).max().unwrap_or(0)
}

/// The longest chain from a parameter of the header to what the latch passes for each of them.
fn longest_chains(
    function: &Function,
    loop_forest: &Loops,
    loop_id: Loop,
    shapes: Option<&SecondaryMap<Value, Shape>>,
    start: Value,
) -> Vec<Option<u64>> {
    let loop_data = loop_forest.get(loop_id);
    let mut chain_lengths: HashMap<Value, u64> = HashMap::from([(start, 0)]);
    let mut around: Vec<Option<u64>> = vec![None; function.blocks[loop_data.header].params.len()];
    for &block in &loop_data.blocks {
        for &instruction in &function.blocks[block].insts {
            let mut before: Option<u64> = None;
            function.insts[instruction]
                .data
                .for_each_arg(|argument| before = before.max(chain_lengths.get(&argument).copied()));
            let Some(before) = before else { continue };
            let behind = before + operation_latency(function, instruction, shapes);
            chain_lengths.extend(function.insts[instruction].results.iter().map(|&result| (result, behind)));
        }
        for target in function.blocks[block].terminator.targets() {
            for (index, argument) in target.arguments.iter().enumerate() {
                let Some(&behind) = chain_lengths.get(argument) else { continue };
                if target.block == loop_data.header {
                    around[index] = around[index].max(Some(behind));
                } else if loop_forest.contains(loop_id, target.block) {
                    let parameter = function.blocks[target.block].params[index];
                    // Lanes that come another way are put in by a select.
                    let differs = shapes.is_some_and(|shapes| shapes[parameter].is_varying());
                    let behind = behind + u64::from(differs);
                    chain_lengths
                        .entry(parameter)
                        .and_modify(|previous| *previous = behind.max(*previous))
                        .or_insert(behind);
                }
            }
        }
    }
    around
}

/// What lanes of a gang hold of their own while they are in an innermost loop: carried around it, or used in it and
/// computed before.
pub fn types_held_in_loop(
    function: &Function,
    loop_forest: &Loops,
    loop_id: Loop,
    shapes: &SecondaryMap<Value, Shape>,
) -> Vec<Type> {
    let loop_data = loop_forest.get(loop_id);
    let mut inside: HashSet<Value> = HashSet::new();
    for &block in &loop_data.blocks {
        inside.extend(function.blocks[block].params.iter().copied());
        inside.extend(
            function.blocks[block]
                .insts
                .iter()
                .flat_map(|&instruction| function.insts[instruction].results.iter().copied()),
        );
    }
    let mut visited = EntitySet::new();
    let mut held_types = Vec::new();
    let mut hold = |value: Value| {
        if shapes[value].is_varying() && visited.insert(value) {
            held_types.push(function.ty(value));
        }
    };
    function.blocks[loop_data.header].params.iter().for_each(|&parameter| hold(parameter));
    let outside =
        |value: Value| !inside.contains(&value) && !matches!(function.values[value].definition, ValueDef::Const(_));
    for &block in &loop_data.blocks {
        function.for_each_use_in(block, |value| {
            if outside(value) {
                hold(value)
            }
        });
    }
    held_types
}

/// Cycles from an instruction's operands to its result: on vectors where lanes differ.
pub(crate) fn operation_latency(
    function: &Function,
    instruction: Inst,
    shapes: Option<&SecondaryMap<Value, Shape>>,
) -> u64 {
    use BinaryOp::{Add, And, Ashr, Fadd, Fdiv, Fmax, Fmin, Fmul, Frem, Fsub, Lshr, Mul, Or, Sdiv, Shl, Srem};
    use BinaryOp::{Powered, QuotientEstimate, Sub, Udiv, Urem, Xor};
    let inst_node = &function.insts[instruction];
    let Some(&result) = inst_node.results.first() else { return 0 };
    let (result_type, is_varying) = (function.ty(result), shapes.is_some_and(|shapes| shapes[result].is_varying()));
    let double = result_type.bits() > 32;
    match &inst_node.data {
        InstData::Binary { opcode, .. } => match opcode {
            // bench costs: add after add.
            Add | Sub | And | Or | Xor | Shl | Lshr | Ashr => 1,
            // bench costs: work-item's product of ints.
            Mul if !is_varying => 3,
            // bench costs: product of shorts, product of ints, product of longs.
            Mul => match result_type.bits() {
                ..=16 => 5,
                17..=32 => 10,
                _ => 15,
            },
            // bench costs: sum of floats, product of floats, work-item's sum of floats.
            Fadd | Fsub | Fmul | Fmin | Fmax => 4,
            // bench costs: quotient of doubles.
            Fdiv if double => 16,
            // bench costs: quotient of floats, work-item's quotient of floats.
            Fdiv | QuotientEstimate => 12,
            Powered => 14,
            Frem => 40,
            // bench costs: quotient of ints, work-item's quotient of ints.
            Udiv | Sdiv | Urem | Srem => 25,
            _ => 2,
        },
        // bench costs: fused product and sum.
        InstData::Ternary { opcode: TernaryOp::Fma | TernaryOp::FmulAdd, .. } => 4,
        InstData::Ternary { opcode: TernaryOp::Scaled, .. } => 10,
        InstData::Ternary { .. } => 1,
        // bench costs: comparison and select.
        InstData::Icmp { .. } => 1 + 2 * u64::from(is_varying),
        // bench costs: float comparison and select.
        InstData::Fcmp { .. } => 3,
        InstData::Unary { opcode, .. } => match opcode {
            // bench costs: square root of doubles.
            UnaryOp::Sqrt if double => 24,
            // bench costs: square root of floats.
            UnaryOp::Sqrt => 16,
            // bench costs: inverse root of floats.
            UnaryOp::Rsqrt => 20,
            UnaryOp::Freeze
            | UnaryOp::Bitcast
            | UnaryOp::SpaceCast
            | UnaryOp::PtrToInt
            | UnaryOp::IntToPtr
            | UnaryOp::ArithmeticFence => 0,
            UnaryOp::Fneg | UnaryOp::Fabs | UnaryOp::Iabs => 1,
            UnaryOp::Trunc | UnaryOp::Zext | UnaryOp::Sext => 3 * u64::from(is_varying),
            // bench costs: rounding.
            UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Ftrunc | UnaryOp::Rint | UnaryOp::Round => 8,
            // bench costs: to int and back.
            _ => 4,
        },
        // bench costs: gather after gather.
        InstData::Load { .. } if is_varying => 20,
        // bench costs: load after load.
        InstData::Load { .. } => 5,
        InstData::CallHost { .. } | InstData::Clock | InstData::Yield => 40,
        InstData::AtomicRmw { .. } | InstData::AtomicCas { .. } => 20,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::cfg::build_cfg;
    use crate::analysis::divergence::{Facts, analyze_divergence};
    use crate::analysis::dominators::compute_dominators;
    use crate::analysis::loops::find_loops;
    use crate::ir::parse_module;

    /// The cycles of the loop in a kernel for a gang and for a work-item, and what lanes hold around it.
    fn of(round: &str, passed: &str) -> (u64, u64, usize) {
        let text = format!(
            "kernel \"k\" {{\n args 16\n param \"a\" pointer.global \"int*\" size 8 align 8 offset 0\n \
             param \"n\" value \"int\" size 4 align 4 offset 8\n input value(0, 0): ptr.global\n input value(1, 0): i32\n \
             region r0 {{\n b0(v0: ptr.global, v1: i32):\n v2: i64 = query.global_id 0\n v3: i64 = mul v2, 8\n \
             v4: ptr.global = ptradd v0, v3\n v5: i32 = load v4 align 4\n v6: i32 = load v4 + 4 align 4\n \
             jump b1(0:i32, v5, v6)\n b1(v7: i32, v8: i32, v9: i32):\n{round} v20: i32 = add v7, 1\n \
             v21: i1 = icmp.slt v20, v1\n br v21, b1(v20, {passed}), b2\n b2:\n return\n }}\n}}\n"
        );
        let module = parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let (kernel, gang_facts) = (&module.kernels[0], Facts::new(&module, &module.kernels[0], 16));
        let function = kernel.regions.values().next().unwrap();
        let flow_graph = build_cfg(function);
        let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
        let shapes = analyze_divergence(function, &gang_facts, &flow_graph, &loop_forest).shapes;
        let (loop_id, _) = loop_forest.iter().next().unwrap();
        assert!(is_innermost(&loop_forest, loop_id));
        (
            recurrence_cycles(function, &loop_forest, loop_id, Some(&shapes)),
            recurrence_cycles(function, &loop_forest, loop_id, None),
            types_held_in_loop(function, &loop_forest, loop_id, &shapes).len(),
        )
    }

    #[test]
    fn a_counter_is_one_cycle() {
        assert_eq!(of("", "v8, v9"), (1, 1, 2));
    }

    #[test]
    fn chains_add_up_and_products_of_vectors_take_longer() {
        let round = " v10: i32 = xor v8, 5\n v11: i32 = mul v10, v6\n v12: i32 = add v11, 1\n";
        assert_eq!(of(round, "v12, v9"), (12, 5, 3));
    }

    #[test]
    fn two_values_that_take_turns_share_the_wait() {
        let round = " v10: i32 = mul v8, v8\n";
        assert_eq!(of(round, "v9, v10").0, 5);
    }

    #[test]
    fn what_is_only_used_is_not_waited_for() {
        let round = " v10: i32 = mul v9, v9\n v11: i32 = add v8, v10\n";
        assert_eq!(of(round, "v11, v7").0, 1, "no round hands the product on");
    }
}
