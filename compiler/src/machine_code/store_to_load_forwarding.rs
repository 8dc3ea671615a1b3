//! What a work-group leaves in its own memory for itself stays in registers.
//!
//! Between barriers, work-items of a group read what others of the group have written to local memory, often a few
//! elements to the left or right: what one load reads was written by two stores. A processor has to wait then until both
//! are in the cache, and LLVM forwards no such pieces. Where a group's code is without loops, it is known lane by lane
//! which store a load reads from.
//!
//! Requires: a module whose accesses to memory are marked with the alias scopes of `codegen::alias`. One thread runs a
//! group, and nobody reads local memory or kept values when the code has returned.
//! Ensures: loads of local memory and of kept values, all of whose bytes were written behind the begin of a chain of
//! blocks by stores of elements of the same type, are shuffles of what was stored; where no load of such a part of memory
//! is left, its stores are gone.
//! Phases: along each chain of blocks, the last value of each element of memory, by the base and the distance of its
//! address; loads in terms of them; stores that nobody reads.
//! Source: textbook (forwarding of stores), by elements instead of accesses.

use std::collections::{BTreeMap, HashMap, HashSet};

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::module::Module;
use inkwell::types::{BasicTypeEnum, VectorType};
use inkwell::values::{
    AsValueRef, BasicMetadataValueEnum, BasicValueEnum, FunctionValue, InstructionOpcode, InstructionValue,
    PointerValue, VectorValue,
};
use llvm_sys::core::{LLVMGetAggregateElement, LLVMIsAConstantInt, LLVMIsConstant, LLVMReplaceAllUsesWith};
use llvm_sys::prelude::LLVMValueRef;

use crate::frontend::llvm::{require_plain_access, successors, value_operand};

/// Stores that a load may read from.
const MOST_SOURCES: usize = 4;

/// Forwards what groups leave for themselves in all functions; whether there was anything.
pub fn keep_rows(module: &Module<'_>) -> bool {
    let functions = module.get_functions().filter(|function| function.count_basic_blocks() > 0);
    let mut changed = false;
    for function in functions {
        changed |= Rows::new(module).forward(function);
    }
    changed
}

/// A part of memory that only the thread that runs the code sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    Local,
    Kept,
}

/// The memory that an instruction touches, as far as its scopes tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Touches {
    /// This part and nothing else.
    Only(Part),
    /// None of the parts.
    Other,
    /// It may touch anything.
    Any,
}

/// An element of memory: where it is, and how many bytes it has.
type Place = (LLVMValueRef, i64);

/// The last value of an element: an element of a vector, or a scalar.
#[derive(Clone, Copy)]
struct Known<'ctx> {
    part: Part,
    value: BasicValueEnum<'ctx>,
    lane: u32,
    bytes: i64,
}

/// An access to a row of elements.
#[derive(Clone)]
struct Access<'ctx> {
    base: LLVMValueRef,
    offset: i64,
    /// Of one element.
    ty: BasicTypeEnum<'ctx>,
    bytes: i64,
    /// Which elements; none: unknown.
    lanes: Option<Vec<bool>>,
}

type State<'ctx> = BTreeMap<Place, Known<'ctx>>;

struct Rows<'ctx> {
    builder: Builder<'ctx>,
    scope_kind: u32,
    noalias: u32,
    invariant: u32,
    memory: u32,
}

impl<'ctx> Rows<'ctx> {
    fn new(module: &Module<'ctx>) -> Rows<'ctx> {
        let context = module.get_context();
        Rows {
            builder: context.create_builder(),
            scope_kind: context.get_kind_id("alias.scope"),
            noalias: context.get_kind_id("noalias"),
            invariant: context.get_kind_id("invariant.load"),
            memory: Attribute::get_named_enum_kind_id("memory"),
        }
    }

    fn forward(&self, function: FunctionValue<'ctx>) -> bool {
        let blocks = in_order(function);
        let mut only_from: HashMap<BasicBlock<'ctx>, Vec<BasicBlock<'ctx>>> = HashMap::new();
        for &block in &blocks {
            successors(block).for_each(|target| only_from.entry(target).or_default().push(block));
        }
        let mut end_states: HashMap<BasicBlock<'ctx>, State<'ctx>> = HashMap::new();
        let mut changed = false;
        for &block in &blocks {
            let mut state = match only_from.get(&block).map(Vec::as_slice) {
                Some([source]) => end_states.get(source).cloned().unwrap_or_default(),
                _ => State::new(),
            };
            let mut next_instruction = block.get_first_instruction();
            while let Some(instruction) = next_instruction {
                next_instruction = instruction.get_next_instruction();
                changed |= self.step(&mut state, instruction).is_some();
            }
            end_states.insert(block, state);
        }
        for memory_part in [Part::Local, Part::Kept] {
            changed |= self.drop_unread(&blocks, memory_part);
        }
        changed
    }

    /// Takes an instruction into account; something if it was a load that is no more.
    fn step(&self, known_state: &mut State<'ctx>, instruction: InstructionValue<'ctx>) -> Option<()> {
        let touches = self.touches(instruction);
        if let (Some(access), Touches::Only(_)) = (self.load(instruction), touches) {
            let stored_value = self.known(known_state, &access, instruction)?;
            // SAFETY: both are of one type, and the value is computed before the load.
            unsafe { LLVMReplaceAllUsesWith(instruction.as_value_ref(), stored_value.as_value_ref()) };
            instruction.erase_from_basic_block();
            return Some(());
        }
        if !self.writes(instruction) {
            return None;
        }
        match touches {
            Touches::Other => {}
            Touches::Any => known_state.clear(),
            Touches::Only(memory_part) => match self.store(instruction) {
                Some((access, stored_value)) => note(known_state, memory_part, &access, stored_value),
                None => known_state.retain(|_, known_element| known_element.part != memory_part),
            },
        }
        None
    }

    fn touches(&self, instruction: InstructionValue<'ctx>) -> Touches {
        if instruction.get_metadata(self.invariant).is_some() {
            return Touches::Other;
        }
        let own_scopes = self.scopes(instruction, self.scope_kind);
        match own_scopes.iter().map(Vec::as_slice).collect::<Vec<_>>()[..] {
            [] => Touches::Any,
            [b"local"] => Touches::Only(Part::Local),
            [b"kept"] => Touches::Only(Part::Kept),
            _ => {
                let excluded_scopes = self.scopes(instruction, self.noalias);
                let both_lists = [b"local".as_slice(), b"kept"];
                if both_lists.iter().all(|scope_name| excluded_scopes.iter().any(|name| name == scope_name)) {
                    Touches::Other
                } else {
                    Touches::Any
                }
            }
        }
    }

    /// The names of an instruction's scopes for parts of memory.
    fn scopes(&self, instruction: InstructionValue<'ctx>, kind_id: u32) -> Vec<Vec<u8>> {
        let node_operands = |metadata_value: BasicMetadataValueEnum<'ctx>| match metadata_value {
            BasicMetadataValueEnum::MetadataValue(node) if !node.is_string() => node.get_node_values(),
            _ => None,
        };
        let name = |metadata_value: &BasicMetadataValueEnum<'ctx>| match metadata_value {
            BasicMetadataValueEnum::MetadataValue(text) => text.get_string_value().map(<[u8]>::to_vec),
            _ => None,
        };
        let Some(scopes) = instruction.get_metadata(kind_id).and_then(|scope_list| scope_list.get_node_values()) else {
            return Vec::new();
        };
        let of_part = |scope: BasicMetadataValueEnum<'ctx>| {
            let fields = node_operands(scope)?;
            let domain = node_operands(*fields.get(1)?)?;
            (name(domain.first()?)? == b"lockstep").then(|| name(&fields[0])).flatten()
        };
        scopes.into_iter().filter_map(of_part).collect()
    }

    fn load(&self, instruction: InstructionValue<'ctx>) -> Option<Access<'ctx>> {
        let llvm_type = BasicTypeEnum::try_from(instruction.get_type()).ok()?;
        match instruction.get_opcode() {
            InstructionOpcode::Load => {
                require_plain_access(instruction)?;
                self.access(value_operand(instruction, 0)?.into_pointer_value(), llvm_type, None)
            }
            InstructionOpcode::Call if callee_name(instruction)?.starts_with("llvm.masked.load.") => {
                let mask = value_operand(instruction, 1)?.into_vector_value();
                let access = self.access(value_operand(instruction, 0)?.into_pointer_value(), llvm_type, Some(mask))?;
                access.lanes.is_some().then_some(access)
            }
            _ => None,
        }
    }

    fn store(&self, instruction: InstructionValue<'ctx>) -> Option<(Access<'ctx>, BasicValueEnum<'ctx>)> {
        let mask = match instruction.get_opcode() {
            InstructionOpcode::Store => {
                require_plain_access(instruction)?;
                None
            }
            InstructionOpcode::Call if callee_name(instruction)?.starts_with("llvm.masked.store.") => {
                Some(value_operand(instruction, 2)?.into_vector_value())
            }
            _ => return None,
        };
        let value = value_operand(instruction, 0)?;
        Some((self.access(value_operand(instruction, 1)?.into_pointer_value(), value.get_type(), mask)?, value))
    }

    fn access(
        &self,
        pointer: PointerValue<'ctx>,
        llvm_type: BasicTypeEnum<'ctx>,
        mask: Option<VectorValue<'ctx>>,
    ) -> Option<Access<'ctx>> {
        let (element, lane_count) = match llvm_type {
            BasicTypeEnum::VectorType(vector) => (vector.get_element_type(), vector.get_size()),
            _ => (llvm_type, 1),
        };
        let element_bytes = match element {
            BasicTypeEnum::IntType(int_type) => {
                [8, 16, 32, 64].into_iter().find(|&bit_width| bit_width == int_type.get_bit_width())? / 8
            }
            BasicTypeEnum::FloatType(float) => {
                [16, 32, 64].into_iter().find(|&bit_width| bit_width == float.get_bit_width())? / 8
            }
            _ => return None,
        };
        let active_lanes = match mask {
            Some(mask) => constant_lanes(mask),
            None => Some(vec![true; lane_count as usize]),
        };
        let (base_address, offset) = place(pointer);
        if offset.unsigned_abs() > FARTHEST {
            return None;
        }
        Some(Access { base: base_address, offset, ty: element, bytes: element_bytes.into(), lanes: active_lanes })
    }

    /// Whether an instruction may change memory that the parts belong to.
    fn writes(&self, instruction: InstructionValue<'ctx>) -> bool {
        match instruction.get_opcode() {
            InstructionOpcode::Store
            | InstructionOpcode::AtomicRMW
            | InstructionOpcode::AtomicCmpXchg
            | InstructionOpcode::Invoke
            | InstructionOpcode::VAArg => true,
            InstructionOpcode::Call => self.effects(instruction) & CHANGES != 0,
            _ => false,
        }
    }

    /// What a call does to memory, in LLVM's encoding.
    fn effects(&self, call_instruction: InstructionValue<'ctx>) -> u64 {
        let Some(name) = callee_name(call_instruction) else { return u64::MAX };
        let harmless = ["llvm.sideeffect", "llvm.assume", "llvm.lifetime.", "llvm.experimental.noalias.scope.decl"];
        if harmless.iter().any(|prefix| name.starts_with(prefix)) {
            return 0;
        }
        let function = called(call_instruction);
        let memory = function
            .and_then(|called_function| called_function.get_enum_attribute(AttributeLoc::Function, self.memory));
        memory.map_or(u64::MAX, |attribute| attribute.get_enum_value())
    }

    /// What a load reads, if all of that is known.
    fn known(
        &self,
        known_state: &State<'ctx>,
        access: &Access<'ctx>,
        load_instruction: InstructionValue<'ctx>,
    ) -> Option<BasicValueEnum<'ctx>> {
        let active_lanes = access.lanes.as_ref()?;
        // Of each element the number of its source and its lane there.
        let mut sources: Vec<BasicValueEnum<'ctx>> = Vec::new();
        let mut source_lanes = Vec::new();
        for (index, &on) in active_lanes.iter().enumerate() {
            let (value, lane) = if on {
                let known_element = known_state.get(&(access.base, access.offset + access.bytes * index as i64))?;
                let llvm_type = match known_element.value.get_type() {
                    BasicTypeEnum::VectorType(vector) => vector.get_element_type(),
                    llvm_type => llvm_type,
                };
                if llvm_type != access.ty {
                    return None;
                }
                (known_element.value, known_element.lane)
            } else {
                (value_operand(load_instruction, 2)?, index as u32)
            };
            let source_index = sources.iter().position(|&source| source == value).unwrap_or_else(|| {
                sources.push(value);
                sources.len() - 1
            });
            source_lanes.push((source_index, lane));
        }
        if sources.len() > MOST_SOURCES {
            return None;
        }
        self.builder.position_before(&load_instruction);
        match load_instruction.get_type().is_vector_type() {
            true => self.gathered(&sources, &source_lanes),
            false => self.element(sources[0], source_lanes[0].1),
        }
    }

    fn element(&self, source: BasicValueEnum<'ctx>, lane: u32) -> Option<BasicValueEnum<'ctx>> {
        let BasicValueEnum::VectorValue(vector) = source else { return Some(source) };
        let i32_type = vector.get_type().get_context().i32_type();
        self.builder.build_extract_element(vector, i32_type.const_int(lane.into(), false), "").ok()
    }

    /// A shuffle of two vectors, or the first one where each lane is its own, or of no interest.
    fn shuffle_lanes(
        &self,
        left: VectorValue<'ctx>,
        right: VectorValue<'ctx>,
        lanes: Vec<Option<u32>>,
    ) -> Option<VectorValue<'ctx>> {
        let is_identity = left.get_type().get_size() as usize == lanes.len()
            && lanes.iter().enumerate().all(|(index, lane)| lane.is_none_or(|lane| lane == index as u32));
        if is_identity {
            return Some(left);
        }
        let i32_type = left.get_type().get_context().i32_type();
        let indices: Vec<_> = lanes
            .into_iter()
            .map(|lane| lane.map_or(i32_type.get_poison(), |lane| i32_type.const_int(lane.into(), false)))
            .collect();
        self.builder.build_shuffle_vector(left, right, VectorType::const_vector(&indices), "").ok()
    }

    /// A vector of these elements of sources.
    fn gathered(
        &self,
        sources: &[BasicValueEnum<'ctx>],
        source_lanes: &[(usize, u32)],
    ) -> Option<BasicValueEnum<'ctx>> {
        let vectors: Vec<(usize, VectorValue<'ctx>)> = sources
            .iter()
            .enumerate()
            .filter(|(_, source)| source.is_vector_value())
            .map(|(source_index, source)| (source_index, source.into_vector_value()))
            .collect();
        let &(first_index, vector) = vectors.first()?;
        if vectors.iter().any(|(_, other)| other.get_type() != vector.get_type()) {
            return None;
        }
        let i32_type = vector.get_type().get_context().i32_type();
        let length = vector.get_type().get_size();
        // Two sources give a row at once; each further one puts its elements into that.
        let second = vectors.get(1).copied();
        let (second_index, other) = second.unwrap_or((first_index, vector.get_type().get_poison()));
        let lane_of_two = |&(source_index, lane): &(usize, u32)| match source_index {
            _ if source_index == first_index => Some(lane),
            _ if source_index == second_index => Some(length + lane),
            _ => None,
        };
        let mut gathered_row = self.shuffle_lanes(vector, other, source_lanes.iter().map(lane_of_two).collect())?;
        let row_lanes = source_lanes.len() as u32;
        for &(source_index, vector) in vectors.iter().skip(2) {
            let own_lanes =
                source_lanes.iter().map(|&(lane_source, lane)| (lane_source == source_index).then_some(lane)).collect();
            let own_lanes = self.shuffle_lanes(vector, vector.get_type().get_poison(), own_lanes)?;
            let lane_of_both = |(index, &(lane_source, _)): (usize, &(usize, u32))| {
                Some(index as u32 + if lane_source == source_index { row_lanes } else { 0 })
            };
            gathered_row = self.shuffle_lanes(
                gathered_row,
                own_lanes,
                source_lanes.iter().enumerate().map(lane_of_both).collect(),
            )?;
        }
        for (index, &(source_index, _)) in source_lanes.iter().enumerate() {
            if !sources[source_index].is_vector_value() {
                let position = i32_type.const_int(index as u64, false);
                gathered_row =
                    self.builder.build_insert_element(gathered_row, sources[source_index], position, "").ok()?;
            }
        }
        Some(gathered_row.into())
    }

    /// Drops the stores to a part of memory if nothing reads it.
    fn drop_unread(&self, blocks: &[BasicBlock<'ctx>], memory_part: Part) -> bool {
        let all_instructions = || blocks.iter().flat_map(|block| block.get_instructions());
        let may_touch = |instruction| {
            matches!(self.touches(instruction), Touches::Any) || self.touches(instruction) == Touches::Only(memory_part)
        };
        let is_store = |instruction: InstructionValue<'ctx>| self.store(instruction).is_some();
        let is_read = |instruction: InstructionValue<'ctx>| match instruction.get_opcode() {
            InstructionOpcode::Call => self.effects(instruction) != 0,
            InstructionOpcode::Load => true,
            _ => self.writes(instruction),
        };
        if all_instructions()
            .any(|instruction| !is_store(instruction) && is_read(instruction) && may_touch(instruction))
        {
            return false;
        }
        let is_dead = |&instruction: &InstructionValue<'ctx>| {
            is_store(instruction) && self.touches(instruction) == Touches::Only(memory_part)
        };
        let is_dead: Vec<_> = all_instructions().filter(is_dead).collect();
        is_dead.iter().for_each(|store_instruction| store_instruction.erase_from_basic_block());
        !is_dead.is_empty()
    }
}

/// The blocks that can be reached, each behind those that dominate it.
fn in_order(function: FunctionValue<'_>) -> Vec<BasicBlock<'_>> {
    let Some(entry_block) = function.get_first_basic_block() else { return Vec::new() };
    let mut visited = HashSet::from([entry_block]);
    let mut block_order = Vec::new();
    let mut block_path = vec![(entry_block, successors(entry_block).collect::<Vec<_>>())];
    while let Some((block, left)) = block_path.last_mut() {
        match left.pop() {
            Some(next) if visited.insert(next) => block_path.push((next, successors(next).collect())),
            Some(_) => {}
            None => {
                block_order.push(*block);
                block_path.pop();
            }
        }
    }
    block_order.reverse();
    block_order
}

/// Bytes from an object's start that are looked at: what is farther away is no part of a group's memory.
const FARTHEST: u64 = 1 << 40;

/// The bits of LLVM's `memory` attribute that say that a kind of memory may be written.
const CHANGES: u64 = 0xaaaa_aaaa_aaaa_aaaa;

/// Notes what a store leaves.
fn note<'ctx>(
    known_state: &mut State<'ctx>,
    memory_part: Part,
    access: &Access<'ctx>,
    stored_value: BasicValueEnum<'ctx>,
) {
    // Another base may be anywhere.
    known_state
        .retain(|&(base_address, _), known_element| known_element.part != memory_part || base_address == access.base);
    let lane_count = match stored_value {
        BasicValueEnum::VectorValue(vector) => vector.get_type().get_size(),
        _ => 1,
    };
    let all_lanes = vec![true; lane_count as usize];
    for (lane, _) in access.lanes.as_ref().unwrap_or(&all_lanes).iter().enumerate().filter(|(_, is_active)| **is_active)
    {
        let offset = access.offset + access.bytes * lane as i64;
        let overlapping: Vec<Place> = known_state
            .range((access.base, offset - 7)..(access.base, offset + access.bytes))
            .filter(|(location, known_element)| location.1 + known_element.bytes > offset)
            .map(|(&location, _)| location)
            .collect();
        overlapping.iter().for_each(|location| _ = known_state.remove(location));
        if access.lanes.is_some() {
            known_state.insert(
                (access.base, offset),
                Known { part: memory_part, value: stored_value, lane: lane as u32, bytes: access.bytes },
            );
        }
    }
}

/// A base and the bytes behind it.
fn place(pointer: PointerValue<'_>) -> (LLVMValueRef, i64) {
    let (mut pointer, mut offset) = (pointer, 0_i64);
    while let Some((base_address, byte_offset)) = step_back(pointer) {
        pointer = base_address;
        offset = offset.wrapping_add(byte_offset);
    }
    (pointer.as_value_ref(), offset)
}

/// The address that this one is a constant behind.
fn step_back(pointer: PointerValue<'_>) -> Option<(PointerValue<'_>, i64)> {
    let instruction =
        pointer.as_instruction().filter(|instruction| instruction.get_opcode() == InstructionOpcode::GetElementPtr)?;
    let of_bytes = matches!(instruction.get_gep_source_element_type(), Ok(BasicTypeEnum::IntType(int)) if int.get_bit_width() == 8);
    if !of_bytes || instruction.get_num_operands() != 2 {
        return None;
    }
    let BasicValueEnum::IntValue(bytes) = value_operand(instruction, 1)? else { return None };
    let byte_count = bytes.get_sign_extended_constant()?;
    Some((value_operand(instruction, 0)?.into_pointer_value(), byte_count))
}

fn called<'ctx>(call_instruction: InstructionValue<'ctx>) -> Option<FunctionValue<'ctx>> {
    let last_operand = value_operand(call_instruction, call_instruction.get_num_operands().checked_sub(1)?)?;
    let BasicValueEnum::PointerValue(callee) = last_operand else { return None };
    // SAFETY: the type checks whether the value is a function.
    unsafe { FunctionValue::new(callee.as_value_ref()) }
}

/// The name of the function that a call names.
pub(super) fn callee_name(call_instruction: InstructionValue<'_>) -> Option<String> {
    called(call_instruction)?.get_name().to_str().ok().map(str::to_owned)
}

/// The lanes of a mask that is a constant.
pub(super) fn constant_lanes(mask: VectorValue<'_>) -> Option<Vec<bool>> {
    // SAFETY: the mask is alive.
    if unsafe { LLVMIsConstant(mask.as_value_ref()) == 0 } {
        return None;
    }
    let mut is_on = Vec::new();
    for lane_index in 0..mask.get_type().get_size() {
        // SAFETY: the mask is a constant vector with more lanes than `lane_index`; what is no integer has no address.
        unsafe {
            let lane = LLVMGetAggregateElement(mask.as_value_ref(), lane_index);
            if lane.is_null() || LLVMIsAConstantInt(lane).is_null() {
                return None;
            }
            is_on.push(llvm_sys::core::LLVMConstIntGetZExtValue(lane) != 0);
        }
    }
    Some(is_on)
}
