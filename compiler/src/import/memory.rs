//! Memory: addresses, loads and stores of whole values, private slots, copies, atomics.

use super::constants::GepSteps;
use super::emit::{Body, Lanes, operand_of};
use super::error::{Attempt, refuse};
use super::llvm::{Type as LlvmType, TypeKind, Value as LlvmValue};
use super::types::{Leaf, leaf_scalars, scalar_type, size_of};
use super::vectors;
use llvm_sys::{LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMOpcode};
use lockstep_ir::ir::{Access, AtomicOp, BinaryOp, FastMath, InstData, IntFlags, Ordering, SlotData, Value};
use lockstep_protocol::parameters::Param;
use lockstep_protocol::types::{Space, Type};
use std::collections::HashSet;

/// A private variable of more bytes than this is refused.
const MAX_SLOT_BYTES: u64 = 1 << 28;
/// A copy or fill of up to this many elements becomes loads and stores.
const MAX_INLINE_ELEMENTS: u64 = 32;

/// An alloca: a private slot, one for all times it is passed.
pub(super) fn import_alloca<'m>(kernel_body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let Some(element_count) = operand_of(instruction, 0)?.int_bits() else {
        refuse!("a private array whose size is not known at compile time");
    };
    let Some(allocated_type) = instruction.allocated_type() else {
        refuse!("the instruction `{}`", instruction.text());
    };
    let byte_size = u128::from(size_of(kernel_body.module.llvm, allocated_type)?).saturating_mul(element_count);
    if byte_size > u128::from(MAX_SLOT_BYTES) {
        refuse!("a private array of {byte_size} bytes");
    }
    let address = append_slot(kernel_body, SlotData::new((byte_size as u64).max(1), instruction.align().max(1)));
    match kernel_body.leaf_types(instruction.ty())?[..] {
        [scalar_type] => Ok(Lanes::from([kernel_body.space_cast(scalar_type, address)])),
        _ => refuse!("the instruction `{}`", instruction.text()),
    }
}

/// The address that a kernel uses for a struct by value: the argument block itself, or a copy of its
/// own if the kernel may write to it.
pub(super) fn argument_copy<'m>(
    kernel_body: &mut Body<'_, 'm>,
    argument: LlvmValue<'m>,
    address: Value,
    parameter: &Param,
) -> Attempt<Value> {
    if is_only_read(argument) {
        return Ok(address);
    }
    let slot_data = SlotData::new(u64::from(parameter.size).max(1), parameter.align.max(1));
    Ok(copy_to_slot(kernel_body, address, slot_data))
}

/// A copy of the bytes at an address, as many as the slot has that it is made in; the copy's address.
pub(super) fn copy_to_slot(kernel_body: &mut Body<'_, '_>, source: Value, slot_data: SlotData) -> Value {
    let length = kernel_body.int_constant(Type::I64, u128::from(slot_data.size));
    let destination = append_slot(kernel_body, slot_data);
    kernel_body.append_effect(InstData::MemCopy { destination, source, length, overlap: false, volatile: false });
    destination
}

/// A new private slot; its address.
pub(super) fn append_slot(kernel_body: &mut Body<'_, '_>, slot_data: SlotData) -> Value {
    let slot = kernel_body.slots.push(slot_data);
    kernel_body.append_single(InstData::SlotAddr { slot }, Type::Ptr(Space::Private))
}

/// Whether nothing is written through an address or anything made of it.
pub(super) fn is_only_read(address: LlvmValue<'_>) -> bool {
    let mut visited = HashSet::from([address]);
    let mut worklist = vec![address];
    while let Some(llvm_value) = worklist.pop() {
        for user in llvm_value.users() {
            match user.opcode() {
                Some(LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMICmp) => {}
                Some(
                    LLVMOpcode::LLVMGetElementPtr
                    | LLVMOpcode::LLVMAddrSpaceCast
                    | LLVMOpcode::LLVMBitCast
                    | LLVMOpcode::LLVMPHI
                    | LLVMOpcode::LLVMSelect,
                ) => {
                    if visited.insert(user) {
                        worklist.push(user);
                    }
                }
                Some(LLVMOpcode::LLVMCall) => {
                    let name = user.called_function().and_then(LlvmValue::intrinsic_name);
                    let is_read = match name.as_deref() {
                        Some("llvm.memcpy" | "llvm.memmove" | "llvm.memcpy.inline") => {
                            user.operand(0) != Some(llvm_value)
                        }
                        Some("llvm.lifetime.start" | "llvm.lifetime.end" | "llvm.assume") => true,
                        _ => false,
                    };
                    if !is_read {
                        return false;
                    }
                }
                _ => return false,
            }
        }
    }
    true
}

/// What an operand of a GEP is in one lane: a vector of addresses may be made of one base or one index for all.
fn lane_or_only(instruction: LlvmValue<'_>, lanes: &[Value], position: usize) -> Attempt<Value> {
    match lanes {
        [only] => Ok(*only),
        _ => match lanes.get(position) {
            Some(&lane) => Ok(lane),
            None => refuse!("the instruction `{}`", instruction.text()),
        },
    }
}

/// A GEP: the base plus one sum of all its steps.
pub(super) fn import_gep<'m>(kernel_body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let Some((_, promised)) = instruction.gep_parts() else {
        refuse!("{} as an address computation", instruction.text());
    };
    let wrap_flags = IntFlags { nsw: promised.nsw, nuw: promised.nuw };
    let llvm_module = kernel_body.module.llvm;
    let mut fixed_offset = 0i64;
    let mut moving_indices = Vec::new();
    let mut gep_steps = GepSteps::new(instruction)?;
    while let Some((llvm_index, gep_step)) = gep_steps.next_step(llvm_module)? {
        match (super::constants::constant_index(llvm_index), gep_step) {
            (Some(index), gep_step) => {
                fixed_offset = fixed_offset.wrapping_add(gep_step.byte_offset(llvm_module, index)?)
            }
            (None, super::constants::GepStep::Elements(element_size)) => {
                moving_indices.push((kernel_body.lanes_of(llvm_index)?, element_size));
            }
            (None, super::constants::GepStep::Field(ty)) => {
                refuse!("a dynamic index into {}", ty.spelling())
            }
        }
    }
    let base_lanes = kernel_body.operand_lanes(instruction, 0)?;
    let lane_count = kernel_body.leaf_types(instruction.ty())?.len();
    let lane_of = |lanes: &[Value], position: usize| lane_or_only(instruction, lanes, position);
    let mut output = Vec::with_capacity(lane_count);
    for position in 0..lane_count {
        let base_address = lane_of(&base_lanes, position)?;
        let mut total_offset: Option<Value> = None;
        for (indices, element_size) in &moving_indices {
            let lane_index = lane_of(indices, position)?;
            let lane_index = kernel_body.sext_or_trunc(Type::I64, lane_index);
            let scaled_index = match element_size {
                1 => lane_index,
                _ => {
                    let element_size = kernel_body.int_constant(Type::I64, u128::from(*element_size));
                    kernel_body.binary_with(BinaryOp::Mul, wrap_flags, FastMath::default(), lane_index, element_size)
                }
            };
            total_offset = Some(match total_offset {
                None => scaled_index,
                Some(sum) => kernel_body.binary_with(BinaryOp::Add, wrap_flags, FastMath::default(), sum, scaled_index),
            });
        }
        let constant = kernel_body.int_constant(Type::I64, u128::from(fixed_offset as u64));
        let offset = match total_offset {
            None if fixed_offset == 0 => {
                output.push(base_address);
                continue;
            }
            None => constant,
            Some(sum) if fixed_offset == 0 => sum,
            Some(sum) => kernel_body.binary_with(BinaryOp::Add, wrap_flags, FastMath::default(), sum, constant),
        };
        output.push(kernel_body.ptr_add(base_address, offset, promised.inbounds));
    }
    Ok(output.into())
}

fn memory_order(ordering: LLVMAtomicOrdering) -> Option<Ordering> {
    match ordering {
        LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic => None,
        LLVMAtomicOrdering::LLVMAtomicOrderingUnordered | LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic => {
            Some(Ordering::Relaxed)
        }
        LLVMAtomicOrdering::LLVMAtomicOrderingAcquire => Some(Ordering::Acquire),
        LLVMAtomicOrdering::LLVMAtomicOrderingRelease => Some(Ordering::Release),
        LLVMAtomicOrdering::LLVMAtomicOrderingAcquireRelease => Some(Ordering::AcqRel),
        LLVMAtomicOrdering::LLVMAtomicOrderingSequentiallyConsistent => Some(Ordering::SeqCst),
    }
}

/// The alignment of an address plus bytes.
fn align_at(base_alignment: u32, offset: u64) -> u32 {
    match offset {
        0 => base_alignment,
        _ => base_alignment.min(1 << offset.trailing_zeros().min(31)),
    }
}

/// The next scalars that lie behind one another and have one type: how many.
fn run_length(leaves: &[Leaf]) -> usize {
    let follows = |neighbours: &[Leaf]| {
        let element_bits = u64::from(neighbours[0].ty.bits());
        neighbours[1].ty == neighbours[0].ty && neighbours[1].bit == neighbours[0].bit + element_bits
    };
    1 + leaves.windows(2).take_while(|neighbours| follows(neighbours)).count()
}

/// Whole elements of memory that hold `bit_count` bits.
fn whole_elements(bit_count: u64) -> Vec<Type> {
    let byte_count = bit_count.div_ceil(8);
    let chunk_bytes = 1u64 << byte_count.trailing_zeros().min(3);
    vec![Type::Int(chunk_bytes as u16 * 8); (byte_count / chunk_bytes) as usize]
}

/// A load of a whole value.
pub(super) fn import_load<'m>(kernel_body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let pointer = kernel_body.scalar_operand(instruction, 0)?;
    let all_leaves = leaf_scalars(kernel_body.module.llvm, instruction.ty())?;
    let atomic_order = instruction.memory_order().and_then(memory_order);
    if atomic_order.is_some() && !matches!(all_leaves[..], [leaf] if leaf.is_plain()) {
        refuse!("an atomic load of {}", instruction.ty().spelling());
    }
    let mut output = Vec::with_capacity(all_leaves.len());
    let mut leaves_left = &all_leaves[..];
    while let Some(first_leaf) = leaves_left.first() {
        let (run_leaves, leaves_after) = leaves_left.split_at(run_length(leaves_left));
        leaves_left = leaves_after;
        let offset = first_leaf.offset();
        let access = Access {
            align: align_at(instruction.align().max(1), offset),
            volatile: instruction.is_volatile(),
            atomic: atomic_order,
        };
        let offset = offset as i64;
        let inst_data = InstData::Load { pointer, offset, access };
        let types: Vec<Type> = run_leaves.iter().map(|leaf| leaf.ty).collect();
        if first_leaf.is_plain() {
            output.extend(kernel_body.append_many(inst_data, &types));
        } else {
            let element_bits = u64::from(first_leaf.ty.bits()) * run_leaves.len() as u64;
            let element_parts = kernel_body.append_many(inst_data, &whole_elements(element_bits));
            output.extend(vectors::bitcast_lanes(kernel_body, &element_parts, &types)?);
        }
    }
    Ok(output.into())
}

/// A store of a whole value.
pub(super) fn import_store<'m>(kernel_body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let llvm_value = operand_of(instruction, 0)?;
    let pointer = kernel_body.scalar_operand(instruction, 1)?;
    let all_leaves = leaf_scalars(kernel_body.module.llvm, llvm_value.ty())?;
    let lanes = kernel_body.lanes_of(llvm_value)?;
    let atomic_order = instruction.memory_order().and_then(memory_order);
    if atomic_order.is_some() && !matches!(all_leaves[..], [leaf] if leaf.is_plain()) {
        refuse!("an atomic store of {}", llvm_value.ty().spelling());
    }
    let mut lanes_done = 0;
    while let Some(first_leaf) = all_leaves.get(lanes_done) {
        let run_length = run_length(&all_leaves[lanes_done..]);
        let Some(arguments) = lanes.get(lanes_done..lanes_done + run_length) else {
            refuse!("the instruction `{}`", instruction.text());
        };
        lanes_done += run_length;
        let mut arguments = arguments.to_vec();
        if !first_leaf.is_plain() {
            let element_bits = u64::from(first_leaf.ty.bits()) * run_length as u64;
            arguments = vectors::bitcast_lanes(kernel_body, &arguments, &whole_elements(element_bits))?;
        }
        let access = Access {
            align: align_at(instruction.align().max(1), first_leaf.offset()),
            volatile: instruction.is_volatile(),
            atomic: atomic_order,
        };
        kernel_body.append_effect(InstData::Store { pointer, offset: first_leaf.offset() as i64, access, arguments });
    }
    Ok(Lanes::from([]))
}

/// The one scalar type that a type is made of, if there is just one.
fn uniform_scalar(llvm_type: LlvmType<'_>, depth: u32) -> Option<Type> {
    if depth == 0 {
        return None;
    }
    match llvm_type.kind() {
        TypeKind::Array(_, element) | TypeKind::Vector(_, element) => uniform_scalar(element, depth - 1),
        TypeKind::Struct(n) => {
            let mut field_types = (0..n.min(64)).map(|index| uniform_scalar(llvm_type.field_type(index)?, depth - 1));
            let first_field = field_types.next()??;
            (n <= 64 && field_types.all(|field_type| field_type == Some(first_field))).then_some(first_field)
        }
        _ => scalar_type(llvm_type),
    }
}

/// The scalar type of the variable that an address points into, if it has just one.
fn element_hint(mut address: LlvmValue<'_>) -> Option<Type> {
    for _ in 0..32 {
        if let Some(pointee_type) = address.allocated_type().or_else(|| address.value_type()) {
            return uniform_scalar(pointee_type, 16);
        }
        match address.opcode()? {
            LLVMOpcode::LLVMGetElementPtr | LLVMOpcode::LLVMAddrSpaceCast | LLVMOpcode::LLVMBitCast => {
                address = address.operand(0)?
            }
            _ => return None,
        }
    }
    None
}

/// The element type for a copy or fill of `byte_length` bytes, and how many there are, if it is small.
fn small_elements(byte_length: u128, hinted_type: Option<Type>, alignment: u32) -> Option<(Type, u64)> {
    let copy_length = u64::try_from(byte_length).ok()?;
    let divides_length = |scalar_type: &Type| {
        super::types::is_plain(*scalar_type) && copy_length.is_multiple_of(scalar_type.bytes().into())
    };
    let scalar_type = hinted_type.filter(divides_length).unwrap_or_else(|| {
        let element_bytes = 1u64 << copy_length.trailing_zeros().min(alignment.trailing_zeros()).min(3);
        Type::Int(element_bytes as u16 * 8)
    });
    let element_count = copy_length / u64::from(scalar_type.bytes());
    (element_count > 0 && element_count <= MAX_INLINE_ELEMENTS).then_some((scalar_type, element_count))
}

/// memcpy and memmove: destination, source, length, volatile.
pub(super) fn import_copy<'m>(
    kernel_body: &mut Body<'_, 'm>,
    instruction: LlvmValue<'m>,
    overlap: bool,
) -> Attempt<Lanes> {
    let (destination_value, source_value) = (operand_of(instruction, 0)?, operand_of(instruction, 1)?);
    let destination = kernel_body.scalar_of(destination_value)?;
    let source = kernel_body.scalar_of(source_value)?;
    let length = kernel_body.scalar_operand(instruction, 2)?;
    let volatile = operand_of(instruction, 3)?.int_bits() != Some(0);
    let alignments = [instruction.arg_align(0).max(1), instruction.arg_align(1).max(1)];
    match kernel_body.function.const_bits(length) {
        Some(0) => return Ok(Lanes::from([])),
        Some(known) => {
            let hinted_type = element_hint(destination_value).or_else(|| element_hint(source_value));
            if let Some((scalar_type, count)) = small_elements(known, hinted_type, alignments[0].min(alignments[1])) {
                let make_access = |alignment| Access { align: alignment, volatile, atomic: None };
                let inst_data = InstData::Load { pointer: source, offset: 0, access: make_access(alignments[1]) };
                let arguments = kernel_body.append_many(inst_data, &vec![scalar_type; count as usize]);
                kernel_body.append_effect(InstData::Store {
                    pointer: destination,
                    offset: 0,
                    access: make_access(alignments[0]),
                    arguments,
                });
                return Ok(Lanes::from([]));
            }
        }
        None => {}
    }
    let length = kernel_body.zext_or_trunc(Type::I64, length);
    kernel_body.append_effect(InstData::MemCopy { destination, source, length, overlap, volatile });
    Ok(Lanes::from([]))
}

/// memset: destination, byte, length, volatile.
pub(super) fn import_fill<'m>(kernel_body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let destination_value = operand_of(instruction, 0)?;
    let destination = kernel_body.scalar_of(destination_value)?;
    let byte = kernel_body.scalar_operand(instruction, 1)?;
    let length = kernel_body.scalar_operand(instruction, 2)?;
    let volatile = operand_of(instruction, 3)?.int_bits() != Some(0);
    let alignment = instruction.arg_align(0).max(1);
    if let (Some(known_length), Some(fill_pattern)) =
        (kernel_body.function.const_bits(length), kernel_body.function.const_bits(byte))
    {
        if known_length == 0 {
            return Ok(Lanes::from([]));
        }
        if let Some((scalar_type, count)) = small_elements(known_length, element_hint(destination_value), alignment) {
            let fill_pattern = u128::from_le_bytes([fill_pattern as u8; 16]);
            let element = kernel_body.int_constant(scalar_type, fill_pattern);
            kernel_body.append_effect(InstData::Store {
                pointer: destination,
                offset: 0,
                access: Access { align: alignment, volatile, atomic: None },
                arguments: vec![element; count as usize],
            });
            return Ok(Lanes::from([]));
        }
    }
    let length = kernel_body.zext_or_trunc(Type::I64, length);
    kernel_body.append_effect(InstData::MemSet { destination, byte, length, volatile });
    Ok(Lanes::from([]))
}

/// A memory fence. One within a single work-item orders nothing that anyone can see.
pub(super) fn import_fence<'m>(kernel_body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    if instruction.is_single_thread() {
        return Ok(Lanes::from([]));
    }
    match instruction.memory_order().and_then(memory_order) {
        Some(ordering) => kernel_body.append_effect(InstData::Fence { order: ordering }),
        None => refuse!("the instruction `{}`", instruction.text()),
    }
    Ok(Lanes::from([]))
}

/// An atomic read-modify-write.
pub(super) fn atomic_rmw<'m>(kernel_body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let opcode = match instruction.rmw_operation() {
        Some(LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpXchg) => AtomicOp::Xchg,
        Some(LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpAdd) => AtomicOp::Add,
        Some(LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpSub) => AtomicOp::Sub,
        Some(LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpAnd) => AtomicOp::And,
        Some(LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpOr) => AtomicOp::Or,
        Some(LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpXor) => AtomicOp::Xor,
        Some(LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpMax) => AtomicOp::Smax,
        Some(LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpMin) => AtomicOp::Smin,
        Some(LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpUMax) => AtomicOp::Umax,
        Some(LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpUMin) => AtomicOp::Umin,
        Some(LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpFAdd) => AtomicOp::Fadd,
        Some(LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpFSub) => AtomicOp::Fsub,
        Some(LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpFMax) => AtomicOp::Fmax,
        Some(LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpFMin) => AtomicOp::Fmin,
        _ => refuse!("the atomic operation `{}`", instruction.text()),
    };
    let pointer = kernel_body.scalar_operand(instruction, 0)?;
    let argument = kernel_body.scalar_operand(instruction, 1)?;
    let scalar_type = kernel_body.type_of(argument);
    let Some(ordering) = instruction.memory_order().and_then(memory_order) else {
        refuse!("the atomic operation `{}`", instruction.text());
    };
    let alignment = instruction.align().max(1);
    let inst_data = InstData::AtomicRmw { opcode, order: ordering, align: alignment, pointer, argument };
    Ok(Lanes::from([kernel_body.append_single(inst_data, scalar_type)]))
}

/// An atomic compare-exchange.
pub(super) fn atomic_cas<'m>(kernel_body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let orderings = instruction.exchange_orderings();
    let Some((Some(success), Some(failure))) =
        orderings.map(|(success_order, failure_order)| (memory_order(success_order), memory_order(failure_order)))
    else {
        refuse!("the atomic operation `{}`", instruction.text());
    };
    let pointer = kernel_body.scalar_operand(instruction, 0)?;
    let expected = kernel_body.scalar_operand(instruction, 1)?;
    let new_value = kernel_body.scalar_operand(instruction, 2)?;
    let types = [kernel_body.type_of(new_value), Type::BOOL];
    let alignment = instruction.align().max(1);
    let inst_data = InstData::AtomicCas { success, failure, align: alignment, pointer, expected, new: new_value };
    Ok(kernel_body.append_many(inst_data, &types).into())
}
