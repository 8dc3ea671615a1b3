//! Arguments that lead to counters: memory to which a kernel only does one atomic operation, whose results nobody uses.
//!
//! Of such memory each thread may have a copy, which is combined with the memory at the end of a chunk of work-groups: the
//! operations may be done in any order, and nothing in the kernel reads what is there meanwhile. That holds if nothing
//! orders the operations with what other work-items, or other commands, can see: no fence, no atomic access that is not
//! relaxed, no work-item that waits for another.
//!
//! Requires: a kernel as imported.
//! Ensures: every use of an input in the answer computes an address, a constant or other number of bytes on, for an
//! atomic operation, which is the same for all of them, of the same integer type; no result of it is used. No address
//! is read from memory, where it could lead there too.
//! Phases: what rules all out; then the uses of each pointer among the inputs.
//! Source: OpenCL C 3.0, 6.15.12, for the orders; Jiang & Agrawal 2004 and others call it full replication.

use crate::analysis::specialization_candidates::find_global_pointers;
use crate::analysis::spin_loops::may_wait;
use crate::ir::{AtomicOp, Counters, Function, InstData, InstNode, Kernel, Ordering, Value};
use cranelift_entity::EntitySet;
use lockstep_protocol::types::{Space, Type};

/// The inputs, one bit each, that lead to counters.
pub fn find_counters(kernel: &Kernel) -> u32 {
    let pointers = find_global_pointers(kernel);
    let inputs = (0..32).filter(|input_index| pointers >> input_index & 1 == 1);
    inputs
        .filter(|&input_index| counters_of(kernel, input_index).is_some())
        .fold(0, |counters, input_index| counters | 1 << input_index)
}

/// What is done to the memory that an input leads to, if it is counters.
pub fn counters_of(kernel: &Kernel, input_index: u32) -> Option<Counters> {
    if may_wait(kernel) || kernel.regions.values().any(is_ordered) {
        return None;
    }
    let mut counters = None;
    for function in kernel.regions.values() {
        collect_operations(function, input_index, &mut counters)?;
    }
    counters
}

/// Whether others may see in which order a region's operations are done, or reach their places another way.
fn is_ordered(function: &Function) -> bool {
    let mut instructions = function.layout.iter().flat_map(|&block| &function.blocks[block].insts);
    instructions.any(|&instruction| is_ordering(function, &function.insts[instruction]))
}

/// Whether an instruction orders operations of this work-item with those of others, or reads an address of shared memory.
fn is_ordering(function: &Function, inst_node: &InstNode) -> bool {
    let is_plain = |order: Option<Ordering>| order.is_none_or(|order| order == Ordering::Relaxed);
    let is_shared = |&value: &Value| matches!(function.ty(value), Type::Ptr(Space::Global | Space::Generic));
    match inst_node.data {
        InstData::Fence { order } => order != Ordering::Relaxed,
        InstData::AtomicRmw { order, .. } => !is_plain(Some(order)),
        // What a function reads or writes is not looked at.
        InstData::AtomicCas { .. } | InstData::Call { .. } => true,
        InstData::Store { access, .. } => !is_plain(access.atomic),
        InstData::Load { access, .. } => !is_plain(access.atomic) || inst_node.results.iter().any(is_shared),
        InstData::LiveLoad { .. } => inst_node.results.iter().any(is_shared),
        _ => false,
    }
}

/// Looks at the operations of a region; none where something else is done with the input.
fn collect_operations(function: &Function, input_index: u32, counters: &mut Option<Counters>) -> Option<()> {
    let mut addresses: EntitySet<Value> = EntitySet::new();
    addresses.insert(*function.blocks[function.entry_block()].params.get(input_index as usize)?);
    let mut results: EntitySet<Value> = EntitySet::new();
    let instructions = || function.layout.iter().flat_map(|&block| &function.blocks[block].insts);
    // An address may be computed in a block that stands behind its use's.
    loop {
        let mut has_changed = false;
        for &instruction in instructions() {
            if let InstData::PtrAdd { base, .. } = function.insts[instruction].data
                && addresses.contains(base)
            {
                has_changed |= addresses.insert(function.insts[instruction].results[0]);
            }
        }
        if !has_changed {
            break;
        }
    }
    let mut escapes = false;
    for &instruction in instructions() {
        let inst_node = &function.insts[instruction];
        match inst_node.data {
            InstData::PtrAdd { base, .. } if addresses.contains(base) => {}
            InstData::AtomicRmw { opcode, pointer, argument, .. } if addresses.contains(pointer) => {
                let operand_type = function.ty(argument);
                let operation = Counters { input: input_index, opcode, ty: operand_type };
                let suits = matches!(operand_type, Type::I32 | Type::I64)
                    && find_neutral_operand(opcode, operand_type).is_some();
                if !suits || counters.is_some_and(|earlier| earlier != operation) {
                    return None;
                }
                *counters = Some(operation);
                results.extend(inst_node.results.iter().copied());
            }
            _ => inst_node.data.for_each_arg(|value| escapes |= addresses.contains(value)),
        }
    }
    let mut used = false;
    instructions().for_each(|&instruction| {
        function.insts[instruction].data.for_each_arg(|value| used |= results.contains(value))
    });
    for &block in &function.layout {
        function.blocks[block]
            .terminator
            .for_each_arg(|value| used |= results.contains(value) || addresses.contains(value));
    }
    (!escapes && !used).then_some(())
}

/// The bits of the operand that changes nothing, of operations that may be done in any order.
pub fn find_neutral_operand(opcode: AtomicOp, operand_type: Type) -> Option<u128> {
    let sign_bit = 1 << (operand_type.bits() - 1);
    match opcode {
        AtomicOp::Add | AtomicOp::Sub | AtomicOp::Or | AtomicOp::Xor | AtomicOp::Umax => Some(0),
        AtomicOp::And | AtomicOp::Umin => Some(operand_type.value_mask()),
        AtomicOp::Smax => Some(sign_bit),
        AtomicOp::Smin => Some(sign_bit - 1),
        AtomicOp::Xchg | AtomicOp::Fadd | AtomicOp::Fsub | AtomicOp::Fmax | AtomicOp::Fmin => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse_module;

    fn of(code: &str) -> u32 {
        let mut text = "kernel \"k\" {\n args 16\n".to_string();
        for i in 0..2 {
            text += &format!(" param \"p{i}\" pointer.global \"int*\" size 8 align 8 offset {}\n", 8 * i);
        }
        (0..2).for_each(|i| text += &format!(" input value({i}, 0): ptr.global\n"));
        text += " region r0 {\n b0(v0: ptr.global, v1: ptr.global):\n v2: i64 = query.global_id 0\n";
        text += &format!(" v3: ptr.global = ptradd v0, v2\n{code}\n return\n }}\n}}\n");
        let module = parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        find_counters(&module.kernels[0])
    }

    #[test]
    fn one_operation_without_results() {
        assert_eq!(of(" v4: i32 = atomic_rmw.add.relaxed v3, 1:i32 align 4"), 1);
        let both =
            " v4: i32 = atomic_rmw.umax.relaxed v3, 1:i32 align 4\n v5: i64 = atomic_rmw.sub.relaxed v1, 1:i64 align 8";
        assert_eq!(of(both), 3);
        let twice =
            " v4: i32 = atomic_rmw.add.relaxed v3, 1:i32 align 4\n v5: i32 = atomic_rmw.add.relaxed v0, 2:i32 align 4";
        assert_eq!(of(twice), 1);
    }

    #[test]
    fn everything_else() {
        let add = " v4: i32 = atomic_rmw.add.relaxed v3, 1:i32 align 4\n";
        for other in [
            " store v4 to v1 align 4",
            " v5: i32 = load v0 align 4",
            " store 1:i32 to v3 align 4",
            " store v3 to v1 align 8",
            " v5: i32 = atomic_rmw.sub.relaxed v0, 2:i32 align 4",
            " v5: i64 = atomic_rmw.add.relaxed v0, 2:i64 align 8",
            " v5: i32 = atomic_rmw.add.seq_cst v1, 2:i32 align 4",
            " fence.release",
            " v5: ptr.global = load v1 align 8",
            " jump b1(v3)\n b1(v6: ptr.global):",
            " jump b1(v4)\n b1(v6: i32):",
        ] {
            assert_eq!(of(&format!("{add}{other}")) & 1, 0, "{other}");
        }
        assert_eq!(of(" v4: i32 = atomic_rmw.xchg.relaxed v3, 1:i32 align 4"), 0);
        assert_eq!(of(" v4: i32 = atomic_rmw.add.acq_rel v3, 1:i32 align 4"), 0);
    }
}
