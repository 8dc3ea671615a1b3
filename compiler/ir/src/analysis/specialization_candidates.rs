//! Arguments whose values would tell the divergence analysis more.
//!
//! Ids of a gang that starts at a multiple of its width lie between two multiples of it, so that `id < n`, `id / n`
//! and `id % n` are the same in all lanes, or contiguous, where `n` is such a multiple. A launch can tell whether an
//! argument is (`LaunchFacts::multiples`); but code is not to be made anew for arguments that are
//! no such `n`. Where an id is multiplied with an argument, neighbours' accesses are side by side if that is 1
//! (`LaunchFacts::ones`).
//!
//! Where a loop writes through one pointer and reads through another, what is read can only be kept, or read together, if
//! they lead to different memory (`LaunchFacts::apart`).
//!
//! Requires: a verified kernel.
//! Ensures: every input in the answer is an integer that a bound or divisor of what depends on an id along x is
//! computed of, in a way that keeps multiples, or that is a factor of it. What is missing costs speed, what is too much
//! costs compile time.
//! Phases: which values depend on an id and which are an input or a multiple of one, until nothing changes; then
//! the comparisons and divisions, or the products.
//! Source: Moll 2021, sections 10.4 and 10.5, for the operations.

use crate::analysis::cfg::build_cfg;
use crate::analysis::dominators::compute_dominators;
use crate::analysis::loops::find_loops;
use crate::ir::{BinaryOp, Block, Function, InstData, Kernel, Query, UnaryOp, Value};
use cranelift_entity::SecondaryMap;
use lockstep_protocol::parameters::{Input, ParamKind};
use lockstep_protocol::types::{Space, Type};

/// The inputs, one bit each, that bound or divide ids along x.
pub fn find_id_divisors(kernel: &Kernel) -> u32 {
    kernel.regions.values().fold(0, |found, body| found | divisors_in(body))
}

/// The inputs, one bit each, with which what depends on an id along x is multiplied.
pub fn find_id_multipliers(kernel: &Kernel) -> u32 {
    let of_body = |body: &Function| {
        let origins = trace_origins(body);
        let insts = body.layout.iter().flat_map(|&block| &body.blocks[block].insts);
        insts.fold(0, |found, &inst| match body.insts[inst].data {
            InstData::Binary { opcode: BinaryOp::Mul, arguments: [left, right], .. } => {
                let [x, y] = [origins[left], origins[right]];
                let factor = if x.of_id { y } else { x };
                let input = factor.itself.filter(|_| x.of_id != y.of_id);
                found | input.map_or(0, |input| 1 << input)
            }
            _ => found,
        })
    };
    kernel.regions.values().fold(0, |found, body| found | of_body(body))
}

/// The inputs, one bit each, that are pointers to global memory which the application passes.
pub fn find_global_pointers(kernel: &Kernel) -> u32 {
    let is_pointer = |&(input, _): &(Input, Type)| match input {
        Input::Value { param, offset: 0 } => kernel.params[param as usize].kind == ParamKind::Pointer(Space::Global),
        _ => false,
    };
    let inputs = kernel.inputs.iter().take(32).enumerate();
    inputs.filter(|(_, input)| is_pointer(input)).fold(0, |found, (bit, _)| found | 1 << bit)
}

/// The pointers among the inputs, one bit each, of which it matters whether they lead to memory of their own: where a
/// region reads again what another pointer may have written.
pub fn to_be_apart(kernel: &Kernel) -> u32 {
    let pointers = find_global_pointers(kernel);
    let rereads = |body: &Function| {
        let graph = build_cfg(body);
        let forest = find_loops(&graph, &compute_dominators(&graph));
        let has = |block: Block, access: fn(&InstData) -> Option<Value>| {
            let mut insts = body.blocks[block].insts.iter();
            insts.any(|&inst| access(&body.insts[inst].data).is_some_and(|pointer| is_shared(body, pointer)))
        };
        let mut written = false;
        let straight = graph.reverse_post_order().iter().any(|&block| {
            body.blocks[block].insts.iter().any(|&inst| {
                let inst_data = &body.insts[inst].data;
                written |= stored_pointer(inst_data).is_some_and(|pointer| is_shared(body, pointer));
                written && loaded_pointer(inst_data).is_some_and(|pointer| is_shared(body, pointer))
            })
        });
        let in_loop = |blocks: &[Block]| {
            blocks.iter().any(|&block| has(block, stored_pointer))
                && blocks.iter().any(|&block| has(block, loaded_pointer))
        };
        straight || forest.iter().any(|(_, loop_data)| in_loop(&loop_data.blocks))
    };
    if pointers.count_ones() > 1 && kernel.regions.values().any(rereads) { pointers } else { 0 }
}

fn stored_pointer(inst_data: &InstData) -> Option<Value> {
    match *inst_data {
        InstData::Store { pointer, .. } => Some(pointer),
        InstData::MemCopy { destination, .. } | InstData::MemSet { destination, .. } => Some(destination),
        _ => None,
    }
}

fn loaded_pointer(inst_data: &InstData) -> Option<Value> {
    match *inst_data {
        InstData::Load { pointer, .. } => Some(pointer),
        _ => None,
    }
}

/// Whether a pointer is one to memory that arguments reach.
fn is_shared(body: &Function, pointer: Value) -> bool {
    matches!(body.ty(pointer), Type::Ptr(Space::Global | Space::Generic))
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Origin {
    /// Whether the value depends on an id along x.
    of_id: bool,
    /// The input that the value is a multiple of.
    input: Option<u32>,
    /// The input that the value is.
    itself: Option<u32>,
}

/// Where the values of a region come from.
fn trace_origins(body: &Function) -> SecondaryMap<Value, Origin> {
    let mut origins: SecondaryMap<Value, Origin> = SecondaryMap::new();
    for (input, &param) in (0..32).zip(&body.blocks[body.entry_block()].params) {
        if body.ty(param).is_int() {
            origins[param] = Origin { of_id: false, input: Some(input), itself: Some(input) };
        }
    }
    let mut changed = true;
    while changed {
        changed = false;
        for &block in &body.layout {
            for &inst in &body.blocks[block].insts {
                let node = &body.insts[inst];
                if let [result] = node.results[..] {
                    let new = origin_of_result(&node.data, &origins);
                    changed |= learn_origin(&mut origins[result], new);
                }
            }
            for target in body.blocks[block].terminator.targets() {
                for (&param, &argument) in body.blocks[target.block].params.iter().zip(&target.arguments) {
                    let of_id = origins[argument].of_id;
                    changed |= learn_origin(&mut origins[param], Origin { of_id, ..Origin::default() });
                }
            }
        }
    }
    origins
}

fn divisors_in(body: &Function) -> u32 {
    let origins = trace_origins(body);
    let mut found = 0;
    for &block in &body.layout {
        for &inst in &body.blocks[block].insts {
            let (x, y) = match body.insts[inst].data {
                InstData::Icmp { arguments: [left, right], .. } => (origins[left], origins[right]),
                InstData::Binary { opcode, arguments: [left, right], .. } if is_division(opcode) => {
                    (origins[left], origins[right])
                }
                _ => continue,
            };
            for (id, bound) in [(x, y), (y, x)] {
                if id.of_id && !bound.of_id {
                    found |= bound.input.map_or(0, |input| 1 << input);
                }
            }
        }
    }
    found
}

fn is_division(opcode: BinaryOp) -> bool {
    matches!(opcode, BinaryOp::Udiv | BinaryOp::Urem | BinaryOp::Sdiv | BinaryOp::Srem)
}

fn learn_origin(known: &mut Origin, new: Origin) -> bool {
    let joined = Origin {
        of_id: known.of_id || new.of_id,
        input: known.input.or(new.input),
        itself: known.itself.or(new.itself),
    };
    std::mem::replace(known, joined) != joined
}

fn origin_of_result(inst_data: &InstData, origins: &SecondaryMap<Value, Origin>) -> Origin {
    match *inst_data {
        InstData::Query { query: Query::GlobalId | Query::LocalId, dimension: 0 } => {
            Origin { of_id: true, ..Origin::default() }
        }
        InstData::Unary { opcode, argument, .. } => {
            let keeps = matches!(opcode, UnaryOp::Trunc | UnaryOp::Zext | UnaryOp::Sext | UnaryOp::Freeze);
            let Origin { of_id, input, itself } = origins[argument];
            Origin { of_id, input: input.filter(|_| keeps), itself: itself.filter(|_| keeps) }
        }
        InstData::Binary { opcode, arguments: [left, right], .. } => {
            let input = match opcode {
                BinaryOp::Mul => origins[left].input.or(origins[right].input),
                BinaryOp::Shl => origins[left].input,
                _ => None,
            };
            Origin { of_id: origins[left].of_id || origins[right].of_id, input, itself: None }
        }
        InstData::Ternary { arguments, .. } => {
            Origin { of_id: arguments.iter().any(|&argument| origins[argument].of_id), ..Origin::default() }
        }
        _ => Origin::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse_module;

    /// The divisors of a kernel with four integers and this code.
    fn of(code: &str) -> u32 {
        find_id_divisors(&kernel(code))
    }

    fn kernel(code: &str) -> Kernel {
        let mut text = "kernel \"k\" {\n args 16\n".to_string();
        for i in 0..4 {
            text += &format!(" param \"p{i}\" value \"int\" size 4 align 4 offset {}\n", 4 * i);
        }
        (0..4).for_each(|i| text += &format!(" input value({i}, 0): i32\n"));
        text += " region r0 {\n b0(v0: i32, v1: i32, v2: i32, v3: i32):\n v4: i64 = query.global_id 0\n";
        text += &format!(" v5: i32 = trunc v4\n{code}\n return\n }}\n}}\n");
        let module = parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        module.kernels[0].clone()
    }

    #[test]
    fn factors_of_ids() {
        let of = |code: &str| find_id_multipliers(&kernel(code));
        assert_eq!(of(" v6: i32 = mul v5, v0\n v7: i32 = add v6, v1"), 1);
        assert_eq!(of(" v6: i64 = sext v1\n v7: i64 = add v4, 3\n v8: i64 = mul v6, v7"), 2);
        assert_eq!(of(" v6: i32 = mul v2, v3\n v7: i32 = mul v5, v6"), 0, "not an argument itself");
        assert_eq!(of(" v6: i64 = query.global_id 1\n v7: i64 = sext v0\n v8: i64 = mul v6, v7"), 0);
        assert_eq!(of(" v6: i32 = mul v5, v5\n v7: i1 = icmp.slt v5, v0"), 0);
    }

    #[test]
    fn bounds_and_divisors_of_ids() {
        assert_eq!(of(" v6: i1 = icmp.slt v5, v0"), 1);
        assert_eq!(of(" v6: i64 = sext v1\n v7: i1 = icmp.ugt v6, v4"), 2);
        assert_eq!(of(" v6: i32 = sdiv v5, v2\n v7: i32 = urem v6, v3"), 12);
        assert_eq!(of(" v6: i32 = mul v2, v1\n v7: i32 = add v5, v0\n v8: i32 = srem v7, v6"), 4);
    }

    #[test]
    fn others_do_not_matter() {
        assert_eq!(of(" v6: i1 = icmp.slt v0, v1\n v7: i32 = mul v5, v2\n v8: i32 = add v7, v3"), 0);
        assert_eq!(of(" v6: i32 = add v0, v1\n v7: i1 = icmp.slt v5, v6"), 0, "a sum keeps no multiples");
        assert_eq!(of(" v6: i64 = query.global_id 1\n v7: i64 = sext v0\n v8: i64 = udiv v6, v7"), 0);
    }

    #[test]
    fn through_loops() {
        let code = " jump b1(v5)\n b1(v6: i32):\n v7: i1 = icmp.slt v6, v3\n v8: i32 = add v6, v1\n \
                    br v7, b1(v8), b2\n b2:";
        assert_eq!(of(code), 8);
    }
}
