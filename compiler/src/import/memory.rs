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
pub(super) fn import_alloca<'m>(body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let Some(count) = operand_of(instruction, 0)?.int_bits() else {
        refuse!("a private array whose size is not known at compile time");
    };
    let Some(ty) = instruction.allocated_type() else {
        refuse!("the instruction `{}`", instruction.text());
    };
    let size = u128::from(size_of(body.module.llvm, ty)?).saturating_mul(count);
    if size > u128::from(MAX_SLOT_BYTES) {
        refuse!("a private array of {size} bytes");
    }
    let slot = body.slots.push(SlotData::new((size as u64).max(1), instruction.align().max(1)));
    let address = body.append_single(InstData::SlotAddr { slot }, Type::Ptr(Space::Private));
    match body.leaf_types(instruction.ty())?[..] {
        [ty] => Ok(Lanes::from([body.space_cast(ty, address)])),
        _ => refuse!("the instruction `{}`", instruction.text()),
    }
}

/// The address that a kernel uses for a struct by value: the argument block itself, or a copy of its
/// own if the kernel may write to it.
pub(super) fn argument_copy<'m>(
    body: &mut Body<'_, 'm>,
    argument: LlvmValue<'m>,
    address: Value,
    param: &Param,
) -> Attempt<Value> {
    if is_only_read(argument) {
        return Ok(address);
    }
    let slot = body.slots.push(SlotData::new(u64::from(param.size).max(1), param.align.max(1)));
    let destination = body.append_single(InstData::SlotAddr { slot }, Type::Ptr(Space::Private));
    let length = body.int_constant(Type::I64, u128::from(param.size));
    body.append_effect(InstData::MemCopy { destination, source: address, length, overlap: false, volatile: false });
    Ok(destination)
}

/// Whether nothing is written through an address or anything made of it.
pub(super) fn is_only_read(address: LlvmValue<'_>) -> bool {
    let mut visited = HashSet::from([address]);
    let mut work = vec![address];
    while let Some(value) = work.pop() {
        for user in value.users() {
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
                        work.push(user);
                    }
                }
                Some(LLVMOpcode::LLVMCall) => {
                    let name = user.called_function().and_then(LlvmValue::intrinsic_name);
                    let reads = match name.as_deref() {
                        Some("llvm.memcpy" | "llvm.memmove" | "llvm.memcpy.inline") => user.operand(0) != Some(value),
                        Some("llvm.lifetime.start" | "llvm.lifetime.end" | "llvm.assume") => true,
                        _ => false,
                    };
                    if !reads {
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
pub(super) fn import_gep<'m>(body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let Some((_, promised)) = instruction.gep_parts() else {
        refuse!("{} as an address computation", instruction.text());
    };
    let flags = IntFlags { nsw: promised.nsw, nuw: promised.nuw };
    let llvm = body.module.llvm;
    let mut fixed = 0i64;
    let mut moving = Vec::new();
    let mut steps = GepSteps::new(instruction)?;
    while let Some((index, step)) = steps.next_step(llvm)? {
        match (super::constants::constant_index(index), step) {
            (Some(index), step) => fixed = fixed.wrapping_add(step.byte_offset(llvm, index)?),
            (None, super::constants::GepStep::Elements(size)) => {
                moving.push((body.lanes_of(index)?, size));
            }
            (None, super::constants::GepStep::Field(ty)) => {
                refuse!("a dynamic index into {}", ty.spelling())
            }
        }
    }
    let bases = body.operand_lanes(instruction, 0)?;
    let count = body.leaf_types(instruction.ty())?.len();
    let lane = |lanes: &[Value], position: usize| lane_or_only(instruction, lanes, position);
    let mut output = Vec::with_capacity(count);
    for position in 0..count {
        let base = lane(&bases, position)?;
        let mut total: Option<Value> = None;
        for (indices, size) in &moving {
            let index = lane(indices, position)?;
            let index = body.sext_or_trunc(Type::I64, index);
            let scaled = match size {
                1 => index,
                _ => {
                    let size = body.int_constant(Type::I64, u128::from(*size));
                    body.binary_with(BinaryOp::Mul, flags, FastMath::default(), index, size)
                }
            };
            total = Some(match total {
                None => scaled,
                Some(sum) => body.binary_with(BinaryOp::Add, flags, FastMath::default(), sum, scaled),
            });
        }
        let constant = body.int_constant(Type::I64, u128::from(fixed as u64));
        let offset = match total {
            None if fixed == 0 => {
                output.push(base);
                continue;
            }
            None => constant,
            Some(sum) if fixed == 0 => sum,
            Some(sum) => body.binary_with(BinaryOp::Add, flags, FastMath::default(), sum, constant),
        };
        output.push(body.ptr_add(base, offset, promised.inbounds));
    }
    Ok(output.into())
}

fn memory_order(order: LLVMAtomicOrdering) -> Option<Ordering> {
    match order {
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
fn align_at(align: u32, offset: u64) -> u32 {
    match offset {
        0 => align,
        _ => align.min(1 << offset.trailing_zeros().min(31)),
    }
}

/// The next scalars that lie behind one another and have one type: how many.
fn run_length(leaves: &[Leaf]) -> usize {
    let follows = |pair: &[Leaf]| {
        let bits = u64::from(pair[0].ty.bits());
        pair[1].ty == pair[0].ty && pair[1].bit == pair[0].bit + bits
    };
    1 + leaves.windows(2).take_while(|pair| follows(pair)).count()
}

/// Whole elements of memory that hold `bits` bits.
fn whole_elements(bits: u64) -> Vec<Type> {
    let bytes = bits.div_ceil(8);
    let chunk = 1u64 << bytes.trailing_zeros().min(3);
    vec![Type::Int(chunk as u16 * 8); (bytes / chunk) as usize]
}

/// A load of a whole value.
pub(super) fn import_load<'m>(body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let pointer = body.scalar_operand(instruction, 0)?;
    let all = leaf_scalars(body.module.llvm, instruction.ty())?;
    let atomic = instruction.memory_order().and_then(memory_order);
    if atomic.is_some() && !matches!(all[..], [leaf] if leaf.is_plain()) {
        refuse!("an atomic load of {}", instruction.ty().spelling());
    }
    let mut output = Vec::with_capacity(all.len());
    let mut rest = &all[..];
    while let Some(first) = rest.first() {
        let (part, behind) = rest.split_at(run_length(rest));
        rest = behind;
        let offset = first.offset();
        let access =
            Access { align: align_at(instruction.align().max(1), offset), volatile: instruction.is_volatile(), atomic };
        let offset = offset as i64;
        let inst_data = InstData::Load { pointer, offset, access };
        let types: Vec<Type> = part.iter().map(|leaf| leaf.ty).collect();
        if first.is_plain() {
            output.extend(body.append_many(inst_data, &types));
        } else {
            let bits = u64::from(first.ty.bits()) * part.len() as u64;
            let parts = body.append_many(inst_data, &whole_elements(bits));
            output.extend(vectors::bitcast_lanes(body, &parts, &types)?);
        }
    }
    Ok(output.into())
}

/// A store of a whole value.
pub(super) fn import_store<'m>(body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let value = operand_of(instruction, 0)?;
    let pointer = body.scalar_operand(instruction, 1)?;
    let all = leaf_scalars(body.module.llvm, value.ty())?;
    let lanes = body.lanes_of(value)?;
    let atomic = instruction.memory_order().and_then(memory_order);
    if atomic.is_some() && !matches!(all[..], [leaf] if leaf.is_plain()) {
        refuse!("an atomic store of {}", value.ty().spelling());
    }
    let mut done = 0;
    while let Some(first) = all.get(done) {
        let count = run_length(&all[done..]);
        let Some(arguments) = lanes.get(done..done + count) else {
            refuse!("the instruction `{}`", instruction.text());
        };
        done += count;
        let mut arguments = arguments.to_vec();
        if !first.is_plain() {
            let bits = u64::from(first.ty.bits()) * count as u64;
            arguments = vectors::bitcast_lanes(body, &arguments, &whole_elements(bits))?;
        }
        let access = Access {
            align: align_at(instruction.align().max(1), first.offset()),
            volatile: instruction.is_volatile(),
            atomic,
        };
        body.append_effect(InstData::Store { pointer, offset: first.offset() as i64, access, arguments });
    }
    Ok(Lanes::from([]))
}

/// The one scalar type that a type is made of, if there is just one.
fn uniform_scalar(ty: LlvmType<'_>, depth: u32) -> Option<Type> {
    if depth == 0 {
        return None;
    }
    match ty.kind() {
        TypeKind::Array(_, element) | TypeKind::Vector(_, element) => uniform_scalar(element, depth - 1),
        TypeKind::Struct(n) => {
            let mut fields = (0..n.min(64)).map(|index| uniform_scalar(ty.field_type(index)?, depth - 1));
            let first = fields.next()??;
            (n <= 64 && fields.all(|field| field == Some(first))).then_some(first)
        }
        _ => scalar_type(ty),
    }
}

/// The scalar type of the variable that an address points into, if it has just one.
fn element_hint(mut address: LlvmValue<'_>) -> Option<Type> {
    for _ in 0..32 {
        if let Some(ty) = address.allocated_type().or_else(|| address.value_type()) {
            return uniform_scalar(ty, 16);
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

/// The element type for a copy or fill of `length` bytes, and how many there are, if it is small.
fn small_elements(length: u128, hint: Option<Type>, align: u32) -> Option<(Type, u64)> {
    let length = u64::try_from(length).ok()?;
    let fits = |ty: &Type| super::types::is_plain(*ty) && length.is_multiple_of(ty.bytes().into());
    let ty = hint.filter(fits).unwrap_or_else(|| {
        let bytes = 1u64 << length.trailing_zeros().min(align.trailing_zeros()).min(3);
        Type::Int(bytes as u16 * 8)
    });
    let count = length / u64::from(ty.bytes());
    (count > 0 && count <= MAX_INLINE_ELEMENTS).then_some((ty, count))
}

/// memcpy and memmove: destination, source, length, volatile.
pub(super) fn import_copy<'m>(body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>, overlap: bool) -> Attempt<Lanes> {
    let (to, from) = (operand_of(instruction, 0)?, operand_of(instruction, 1)?);
    let destination = body.scalar_of(to)?;
    let source = body.scalar_of(from)?;
    let length = body.scalar_operand(instruction, 2)?;
    let volatile = operand_of(instruction, 3)?.int_bits() != Some(0);
    let aligns = [instruction.arg_align(0).max(1), instruction.arg_align(1).max(1)];
    match body.function.const_bits(length) {
        Some(0) => return Ok(Lanes::from([])),
        Some(known) => {
            let hint = element_hint(to).or_else(|| element_hint(from));
            if let Some((ty, count)) = small_elements(known, hint, aligns[0].min(aligns[1])) {
                let access = |align| Access { align, volatile, atomic: None };
                let inst_data = InstData::Load { pointer: source, offset: 0, access: access(aligns[1]) };
                let arguments = body.append_many(inst_data, &vec![ty; count as usize]);
                body.append_effect(InstData::Store {
                    pointer: destination,
                    offset: 0,
                    access: access(aligns[0]),
                    arguments,
                });
                return Ok(Lanes::from([]));
            }
        }
        None => {}
    }
    let length = body.zext_or_trunc(Type::I64, length);
    body.append_effect(InstData::MemCopy { destination, source, length, overlap, volatile });
    Ok(Lanes::from([]))
}

/// memset: destination, byte, length, volatile.
pub(super) fn import_fill<'m>(body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let to = operand_of(instruction, 0)?;
    let destination = body.scalar_of(to)?;
    let byte = body.scalar_operand(instruction, 1)?;
    let length = body.scalar_operand(instruction, 2)?;
    let volatile = operand_of(instruction, 3)?.int_bits() != Some(0);
    let align = instruction.arg_align(0).max(1);
    if let (Some(known), Some(bits)) = (body.function.const_bits(length), body.function.const_bits(byte)) {
        if known == 0 {
            return Ok(Lanes::from([]));
        }
        if let Some((ty, count)) = small_elements(known, element_hint(to), align) {
            let bits = u128::from_le_bytes([bits as u8; 16]);
            let element = body.int_constant(ty, bits);
            body.append_effect(InstData::Store {
                pointer: destination,
                offset: 0,
                access: Access { align, volatile, atomic: None },
                arguments: vec![element; count as usize],
            });
            return Ok(Lanes::from([]));
        }
    }
    let length = body.zext_or_trunc(Type::I64, length);
    body.append_effect(InstData::MemSet { destination, byte, length, volatile });
    Ok(Lanes::from([]))
}

/// A memory fence. One within a single work-item orders nothing that anyone can see.
pub(super) fn import_fence<'m>(body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    if instruction.is_single_thread() {
        return Ok(Lanes::from([]));
    }
    match instruction.memory_order().and_then(memory_order) {
        Some(order) => body.append_effect(InstData::Fence { order }),
        None => refuse!("the instruction `{}`", instruction.text()),
    }
    Ok(Lanes::from([]))
}

/// An atomic read-modify-write.
pub(super) fn atomic_rmw<'m>(body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
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
    let pointer = body.scalar_operand(instruction, 0)?;
    let argument = body.scalar_operand(instruction, 1)?;
    let ty = body.type_of(argument);
    let Some(order) = instruction.memory_order().and_then(memory_order) else {
        refuse!("the atomic operation `{}`", instruction.text());
    };
    let align = instruction.align().max(1);
    let inst_data = InstData::AtomicRmw { opcode, order, align, pointer, argument };
    Ok(Lanes::from([body.append_single(inst_data, ty)]))
}

/// An atomic compare-exchange.
pub(super) fn atomic_cas<'m>(body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let orders = instruction.exchange_orderings();
    let Some((Some(success), Some(failure))) = orders.map(|(s, f)| (memory_order(s), memory_order(f))) else {
        refuse!("the atomic operation `{}`", instruction.text());
    };
    let pointer = body.scalar_operand(instruction, 0)?;
    let expected = body.scalar_operand(instruction, 1)?;
    let new_value = body.scalar_operand(instruction, 2)?;
    let types = [body.type_of(new_value), Type::BOOL];
    let align = instruction.align().max(1);
    let inst_data = InstData::AtomicCas { success, failure, align, pointer, expected, new: new_value };
    Ok(body.append_many(inst_data, &types).into())
}
