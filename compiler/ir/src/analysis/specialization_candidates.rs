//! Arguments whose values would tell the divergence analysis more.
//!
//! Ids of a gang that starts at a multiple of its width lie between two multiples of it, so that `id < n`, `id / n`
//! and `id % n` are the same in all lanes, or contiguous, where `n` is such a multiple. A launch can tell whether an
//! argument is (`LaunchFacts::multiples`); but code is not to be made anew for arguments that are
//! no such `n`. Where an id is multiplied with an argument, neighbours' accesses are side by side if that is 1, and where a
//! loop counts by one, those of its iterations are (`LaunchFacts::ones`).
//!
//! Where a loop writes through one pointer and reads through another, what is read can only be kept, or read together, if
//! they lead to different memory (`LaunchFacts::apart`).
//!
//! Requires: a verified kernel.
//! Ensures: every input in the answer is an integer that a bound or divisor of what depends on an id along x is
//! computed of, in a way that keeps multiples, or that is a factor of it, or a step of a loop. What is missing costs speed, what is too much
//! costs compile time.
//! Phases: which values depend on an id and which are an input or a multiple of one, until nothing changes; then
//! the comparisons and divisions, or the products; what latches pass to headers.
//! Source: Moll 2021, sections 10.4 and 10.5, for the operations.

use crate::analysis::cfg::build_cfg;
use crate::analysis::dominators::compute_dominators;
use crate::analysis::loops::find_loops;
use crate::ir::{BinaryOp, Block, Function, InstData, Kernel, Query, UnaryOp, Value, ValueDef};
use cranelift_entity::SecondaryMap;
use lockstep_protocol::parameters::{Input, ParamKind};
use lockstep_protocol::types::{Space, Type};

/// The inputs, one bit each, that bound or divide ids along x.
pub fn find_id_divisors(kernel: &Kernel) -> u32 {
    kernel.regions.values().fold(0, |inputs, function| inputs | divisors_in(function))
}

/// The inputs, one bit each, with which what depends on an id along x is multiplied.
pub fn find_id_multipliers(kernel: &Kernel) -> u32 {
    kernel.regions.values().fold(0, |inputs, function| inputs | multipliers_in(function))
}

/// The inputs, one bit each, by which loops count. Where one is 1, what an iteration accesses is a neighbour of what the last one did.
pub fn find_loop_steps(kernel: &Kernel) -> u32 {
    kernel.regions.values().fold(0, |inputs, function| inputs | loop_steps_in(function))
}

/// The inputs, one bit each, that are pointers to global memory which the application passes.
pub fn find_global_pointers(kernel: &Kernel) -> u32 {
    let is_pointer = |&(input, _): &(Input, Type)| match input {
        Input::Value { param, offset: 0 } => kernel.params[param as usize].kind == ParamKind::Pointer(Space::Global),
        _ => false,
    };
    let inputs = kernel.inputs.iter().take(32).enumerate();
    inputs.filter(|(_, input)| is_pointer(input)).fold(0, |pointers, (number, _)| pointers | 1 << number)
}

/// The pointers among the inputs, one bit each, of which it matters whether they lead to memory of their own: where a
/// region reads again what another pointer may have written.
pub fn to_be_apart(kernel: &Kernel) -> u32 {
    let pointers = find_global_pointers(kernel);
    if pointers.count_ones() > 1 && kernel.regions.values().any(rereads_shared) { pointers } else { 0 }
}

/// Whether a region may read shared memory after it wrote to some: further on, or in the next iteration of a loop.
fn rereads_shared(function: &Function) -> bool {
    let flow_graph = build_cfg(function);
    let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
    let any_accesses = |blocks: &[Block], pointer_of: AccessPointer| {
        blocks.iter().any(|&block| accesses_shared(function, block, pointer_of))
    };
    loads_after_store(function, flow_graph.reverse_post_order())
        || loop_forest.iter().any(|(_, loop_data)| {
            any_accesses(&loop_data.blocks, stored_pointer) && any_accesses(&loop_data.blocks, loaded_pointer)
        })
}

/// Whether a load of shared memory comes after a store to some in the order of the blocks.
fn loads_after_store(function: &Function, block_order: &[Block]) -> bool {
    let mut written = false;
    for &instruction in block_order.iter().flat_map(|&block| &function.blocks[block].insts) {
        let inst_data = &function.insts[instruction].data;
        written |= stored_pointer(inst_data).is_some_and(|pointer| is_shared(function, pointer));
        if written && loaded_pointer(inst_data).is_some_and(|pointer| is_shared(function, pointer)) {
            return true;
        }
    }
    false
}

/// The pointer through which an instruction accesses memory in one way.
type AccessPointer = fn(&InstData) -> Option<Value>;

/// Whether an instruction of a block accesses memory that arguments reach in one way.
fn accesses_shared(function: &Function, block: Block, pointer_of: AccessPointer) -> bool {
    let mut pointers =
        function.blocks[block].insts.iter().filter_map(|&instruction| pointer_of(&function.insts[instruction].data));
    pointers.any(|pointer| is_shared(function, pointer))
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
fn is_shared(function: &Function, pointer: Value) -> bool {
    matches!(function.ty(pointer), Type::Ptr(Space::Global | Space::Generic))
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
fn trace_origins(function: &Function) -> SecondaryMap<Value, Origin> {
    let mut origins: SecondaryMap<Value, Origin> = SecondaryMap::new();
    for (input_index, &parameter) in (0..32).zip(&function.blocks[function.entry_block()].params) {
        if function.ty(parameter).is_int() {
            origins[parameter] = Origin { of_id: false, input: Some(input_index), itself: Some(input_index) };
        }
    }
    let mut changed = true;
    while changed {
        changed = false;
        for &block in &function.layout {
            for &instruction in &function.blocks[block].insts {
                let inst_node = &function.insts[instruction];
                if let [result] = inst_node.results[..] {
                    let new_origin = origin_of_result(&inst_node.data, &origins);
                    changed |= learn_origin(&mut origins[result], new_origin);
                }
            }
            for target in function.blocks[block].terminator.targets() {
                for (&parameter, &argument) in function.blocks[target.block].params.iter().zip(&target.arguments) {
                    let of_id = origins[argument].of_id;
                    changed |= learn_origin(&mut origins[parameter], Origin { of_id, ..Origin::default() });
                }
            }
        }
    }
    origins
}

/// The inputs, one bit each, that are a factor of a region's products beside what depends on an id along x.
fn multipliers_in(function: &Function) -> u32 {
    let origins = trace_origins(function);
    let mut inputs = 0;
    for &instruction in function.layout.iter().flat_map(|&block| &function.blocks[block].insts) {
        if let InstData::Binary { opcode: BinaryOp::Mul, arguments, .. } = function.insts[instruction].data {
            let [left, right] = arguments.map(|argument| origins[argument]);
            let factor = if left.of_id { right } else { left };
            let input = factor.itself.filter(|_| left.of_id != right.of_id);
            inputs |= input.map_or(0, |input_index| 1 << input_index);
        }
    }
    inputs
}

/// The inputs, one bit each, that each iteration of some loop adds to what the loop carries.
fn loop_steps_in(function: &Function) -> u32 {
    let flow_graph = build_cfg(function);
    let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
    let mut origins = None;
    let mut inputs = 0;
    for (_, loop_data) in loop_forest.iter() {
        for &latch in &loop_data.latches {
            let targets = function.blocks[latch].terminator.targets();
            for edge in targets.into_iter().filter(|edge| edge.block == loop_data.header) {
                for (&parameter, &argument) in function.blocks[loop_data.header].params.iter().zip(&edge.arguments) {
                    let Some(step) = step_of_counter(function, parameter, argument) else { continue };
                    let origins = origins.get_or_insert_with(|| trace_origins(function));
                    inputs |= origins[step].itself.map_or(0, |input_index| 1 << input_index);
                }
            }
        }
    }
    inputs
}

/// What an iteration adds to a parameter of a loop's header, given what it passes for it.
fn step_of_counter(function: &Function, parameter: Value, argument: Value) -> Option<Value> {
    let ValueDef::Result(instruction, _) = function.values[argument].definition else { return None };
    match function.insts[instruction].data {
        InstData::Binary { opcode: BinaryOp::Add, arguments: [left, right], .. } if left == parameter => Some(right),
        InstData::Binary { opcode: BinaryOp::Add, arguments: [left, right], .. } if right == parameter => Some(left),
        _ => None,
    }
}

/// The inputs, one bit each, that bound or divide ids along x in a region.
fn divisors_in(function: &Function) -> u32 {
    let origins = trace_origins(function);
    let mut inputs = 0;
    for &block in &function.layout {
        for &instruction in &function.blocks[block].insts {
            let (left_origin, right_origin) = match function.insts[instruction].data {
                InstData::Icmp { arguments: [left, right], .. } => (origins[left], origins[right]),
                InstData::Binary { opcode, arguments: [left, right], .. } if is_division(opcode) => {
                    (origins[left], origins[right])
                }
                _ => continue,
            };
            for (id, bound) in [(left_origin, right_origin), (right_origin, left_origin)] {
                if id.of_id && !bound.of_id {
                    inputs |= bound.input.map_or(0, |input_index| 1 << input_index);
                }
            }
        }
    }
    inputs
}

fn is_division(opcode: BinaryOp) -> bool {
    matches!(opcode, BinaryOp::Udiv | BinaryOp::Urem | BinaryOp::Sdiv | BinaryOp::Srem)
}

fn learn_origin(origin: &mut Origin, new_origin: Origin) -> bool {
    let joined = Origin {
        of_id: origin.of_id || new_origin.of_id,
        input: origin.input.or(new_origin.input),
        itself: origin.itself.or(new_origin.itself),
    };
    std::mem::replace(origin, joined) != joined
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
    fn steps_of_loops() {
        let of = |code: &str| find_loop_steps(&kernel(code));
        let count = |by: &str| {
            format!(" jump b1(v5)\n b1(v6: i32):\n v7: i1 = icmp.slt v6, v3\n v8: i32 = {by}\n br v7, b1(v8), b2\n b2:")
        };
        assert_eq!(of(&count("add v6, v1")), 2);
        assert_eq!(of(&count("add.nsw v2, v6")), 4);
        assert_eq!(of(&count("mul v6, v1")), 0);
        assert_eq!(of(" v6: i32 = add v5, v1"), 0, "no loop");
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

    /// Whether it matters that the two pointers of a kernel with this code lead to different memory.
    fn needs_apart(code: &str) -> bool {
        let mut text = "kernel \"k\" {\n args 16\n".to_string();
        for i in 0..2 {
            text += &format!(" param \"p{i}\" pointer.global \"int*\" size 8 align 8 offset {}\n", 8 * i);
        }
        text += " input value(0, 0): ptr.global\n input value(1, 0): ptr.global\n";
        text += &format!(" region r0 {{\n b0(v0: ptr.global, v1: ptr.global):\n{code}\n return\n }}\n}}\n");
        let module = parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        to_be_apart(&module.kernels[0]) == 0b11
    }

    #[test]
    fn pointers_are_to_be_apart_where_something_is_read_after_a_write() {
        assert!(!needs_apart(" v2: i32 = load v0 align 4\n store v2 to v1 align 4"), "reads first");
        assert!(needs_apart(" store 1:i32 to v1 align 4\n v2: i32 = load v0 align 4"));
        assert!(needs_apart(" store 1:i32 to v1 align 4\n jump b1\n b1:\n v2: i32 = load v0 align 4"));
        let in_loop = " jump b1\n b1:\n v2: i32 = load v0 align 4\n store v2 to v1 align 4\n \
                       v3: i1 = icmp.eq v2, 0:i32\n br v3, b1, b2\n b2:";
        assert!(needs_apart(in_loop), "the next iteration reads again");
    }
}
