//! A thin layer over LLVM's builder: our types and constants in LLVM's, intrinsics by name, flags.

use super::alias::{Part, Scopes};
use super::debug_lines::FunctionLines;
use crate::codegen::error::CodegenError;
use inkwell::AtomicOrdering;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::intrinsics::Intrinsic;
use inkwell::module::Module;
use inkwell::types::{AsTypeRef, BasicType, BasicTypeEnum, IntType, PointerType, VectorType};
use inkwell::values::{
    AsValueRef, BasicMetadataValueEnum, BasicValue, BasicValueEnum, FastMathFlags, FunctionValue, InstructionValue,
    IntValue, PointerValue,
};
use inkwell::{AddressSpace, IntPredicate};
use lockstep_ir::ir::{FastMath, IntFlags, Ordering, SourceLoc};
use lockstep_ir::target::TargetInfo;
use lockstep_protocol::types::Type;
use std::cell::{Cell, OnceCell};
use std::num::NonZeroU32;

/// Metadata of branches to what may be passed over where no lane comes, and need not be: one side is for any lane.
pub const ANY_LANE: &str = "lockstep.any_lane";

/// The result of emitting something. LLVM's builder fails only on a mistake of ours, which the
/// caller reports instead of taking the application down.
pub type Emitted<T> = Result<T, CodegenError>;

/// Where the generated instructions go.
pub struct Emitter<'ctx, 'm> {
    /// Owner of types and constants.
    pub context: &'ctx Context,
    /// The module under construction.
    pub module: &'m Module<'ctx>,
    /// The current position.
    pub builder: Builder<'ctx>,
    /// The function under construction.
    pub function: FunctionValue<'ctx>,
    /// Which memory accesses are apart.
    pub scopes: Scopes<'ctx>,
    /// The registers and instructions of the machine that code is for.
    pub target: TargetInfo,
    /// Where lanes store that are off, once that is wanted.
    pub nowhere: OnceCell<PointerValue<'ctx>>,
    /// The place in the source of what is being emitted.
    pub place: &'m Cell<SourceLoc>,
    /// What debuggers hear of the function, if they are to.
    pub lines: Option<FunctionLines<'ctx, 'm>>,
}

impl<'ctx> Emitter<'ctx, '_> {
    /// The LLVM integer type of this many bits (at least 1).
    pub fn int_type(&self, bit_width: u32) -> IntType<'ctx> {
        let bit_width = NonZeroU32::new(bit_width).unwrap_or(NonZeroU32::MIN);
        self.context.custom_width_int_type(bit_width).unwrap_or_else(|_| self.context.i128_type())
    }

    /// The type of integers of 64 bits.
    pub fn i64_type(&self) -> IntType<'ctx> {
        self.context.i64_type()
    }

    /// The type of all addresses: on the host, every space is flat memory.
    pub fn pointer_type(&self) -> PointerType<'ctx> {
        self.context.ptr_type(AddressSpace::default())
    }

    /// The type of a value in registers.
    pub fn value_type(&self, scalar_type: Type) -> BasicTypeEnum<'ctx> {
        match scalar_type {
            Type::Int(bits) => self.int_type(bits.into()).into(),
            Type::F16 => self.context.f16_type().into(),
            Type::F32 => self.context.f32_type().into(),
            Type::F64 => self.context.f64_type().into(),
            Type::Ptr(_) => self.pointer_type().into(),
        }
    }

    /// The type of a value with as many lanes as another value has.
    pub fn ty_like(&self, scalar_type: Type, like_value: BasicValueEnum<'ctx>) -> BasicTypeEnum<'ctx> {
        match like_value {
            BasicValueEnum::VectorValue(like_value) => {
                vector_of(self.value_type(scalar_type), like_value.get_type().get_size()).into()
            }
            _ => self.value_type(scalar_type),
        }
    }

    /// The type of a value in memory: integers are zero-extended to whole bytes.
    pub fn memory_ty(&self, scalar_type: Type) -> BasicTypeEnum<'ctx> {
        match scalar_type {
            Type::Int(_) => self.int_type(scalar_type.bytes() * 8).into(),
            _ => self.value_type(scalar_type),
        }
    }

    /// A constant by its bits.
    pub fn constant(&self, scalar_type: Type, bit_pattern: u128) -> BasicValueEnum<'ctx> {
        let bit_words = [bit_pattern as u64, (bit_pattern >> 64) as u64];
        let int_type = self.int_type(scalar_type.bits());
        let integer = int_type.const_int_arbitrary_precision(&bit_words[..scalar_type.bits().div_ceil(64) as usize]);
        match scalar_type {
            Type::Int(_) => integer.into(),
            Type::Ptr(_) if bit_pattern == 0 => self.pointer_type().const_null().into(),
            Type::Ptr(_) => integer.const_to_pointer(self.pointer_type()).into(),
            Type::F16 | Type::F32 | Type::F64 => {
                let llvm_type = self.value_type(scalar_type);
                // SAFETY: both are of one width, and the result is a constant of type `llvm_type`.
                unsafe {
                    BasicValueEnum::new(llvm_sys::core::LLVMConstBitCast(
                        integer.as_value_ref(),
                        llvm_type.as_type_ref(),
                    ))
                }
            }
        }
    }

    /// An i64 constant.
    pub fn const64(&self, value: u64) -> IntValue<'ctx> {
        self.i64_type().const_int(value, false)
    }

    /// A new block at the end of the function.
    pub fn append_block(&self, name: &str) -> BasicBlock<'ctx> {
        self.context.append_basic_block(self.function, name)
    }

    /// Goes on at the end of a block.
    pub fn position_at(&self, block: BasicBlock<'ctx>) {
        self.builder.position_at_end(block);
    }

    /// The block the current position is in.
    pub fn current_block(&self) -> Emitted<BasicBlock<'ctx>> {
        self.builder.get_insert_block().ok_or(CodegenError::Missing("block to append to"))
    }

    /// Calls an intrinsic, overloaded on `overloads`, that has a result.
    pub fn call_intrinsic(
        &self,
        name: &str,
        overloads: &[BasicTypeEnum<'ctx>],
        arguments: &[BasicValueEnum<'ctx>],
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let call_site = self.intrinsic_call(name, overloads, arguments)?;
        call_site.try_as_basic_value().basic().ok_or_else(|| CodegenError::NoResult(format!("the call of {name}")))
    }

    /// Memory on the stack for the lanes of a vector, in the entry block, so that loops around do not make the stack grow.
    pub fn allocate_in_entry(&self, vector_type: VectorType<'ctx>) -> Emitted<PointerValue<'ctx>> {
        let current_block = self.current_block()?;
        let entry_block = self.function.get_first_basic_block().ok_or(CodegenError::Missing("entry block"))?;
        match entry_block.get_first_instruction() {
            Some(first) => self.builder.position_before(&first),
            None => self.builder.position_at_end(entry_block),
        }
        let address = self.builder.build_alloca(vector_type, "lanes")?;
        self.position_at(current_block);
        Ok(address)
    }

    /// Calls an intrinsic, overloaded on `overloads`.
    pub fn intrinsic_call(
        &self,
        name: &str,
        overloads: &[BasicTypeEnum<'ctx>],
        arguments: &[BasicValueEnum<'ctx>],
    ) -> Emitted<inkwell::values::CallSiteValue<'ctx>> {
        let function = Intrinsic::find(name)
            .and_then(|intrinsic| intrinsic.get_declaration(self.module, overloads))
            .ok_or_else(|| CodegenError::Unexpected(format!("LLVM has no intrinsic {name} of these types")))?;
        let arguments: Vec<BasicMetadataValueEnum> = arguments.iter().map(|&argument| argument.into()).collect();
        Ok(self.builder.build_call(function, &arguments, "")?)
    }

    /// The address `offset` bytes behind `base_address`.
    pub fn offset_address(
        &self,
        base_address: PointerValue<'ctx>,
        offset: IntValue<'ctx>,
        inbounds: bool,
    ) -> Emitted<PointerValue<'ctx>> {
        let byte_type = self.context.i8_type();
        // SAFETY: an i8 element has no inner indices; what `inbounds` promises is the caller's.
        unsafe {
            if inbounds {
                Ok(self.builder.build_in_bounds_gep(byte_type, base_address, &[offset], "")?)
            } else {
                Ok(self.builder.build_gep(byte_type, base_address, &[offset], "")?)
            }
        }
    }

    /// The address of scratch memory or the like, known to lie within one object.
    pub fn offset_inside(&self, base_address: PointerValue<'ctx>, offset: u64) -> Emitted<PointerValue<'ctx>> {
        if offset == 0 {
            return Ok(base_address);
        }
        self.offset_address(base_address, self.const64(offset), true)
    }

    /// An address rounded up to an alignment.
    pub fn align_up(&self, pointer: PointerValue<'ctx>, alignment: u64) -> Emitted<PointerValue<'ctx>> {
        let padded_address = self.offset_inside(pointer, alignment - 1)?;
        let mask = self.i64_type().const_int(alignment.wrapping_neg(), false);
        let overloads = [self.pointer_type().into(), self.i64_type().into()];
        let masked = self.call_intrinsic("llvm.ptrmask", &overloads, &[padded_address.into(), mask.into()])?;
        Ok(masked.into_pointer_value())
    }

    /// Reads a value that has its memory form at `pointer`.
    pub fn load(
        &self,
        scalar_type: Type,
        pointer: PointerValue<'ctx>,
        alignment: u32,
    ) -> Emitted<(BasicValueEnum<'ctx>, Option<InstructionValue<'ctx>>)> {
        let loaded_value = self.builder.build_load(self.memory_ty(scalar_type), pointer, "")?;
        let load_instruction = loaded_value.as_instruction_value();
        if let Some(instruction) = load_instruction {
            instruction.set_alignment(alignment)?;
        }
        let is_narrow = matches!(scalar_type, Type::Int(bits) if u32::from(bits) != scalar_type.bytes() * 8);
        if !is_narrow {
            return Ok((loaded_value, load_instruction));
        }
        let value =
            self.builder.build_int_truncate(loaded_value.into_int_value(), self.int_type(scalar_type.bits()), "")?;
        Ok((value.into(), load_instruction))
    }

    /// Writes a value in its memory form to `pointer`.
    pub fn store(
        &self,
        scalar_type: Type,
        value: BasicValueEnum<'ctx>,
        pointer: PointerValue<'ctx>,
        alignment: u32,
    ) -> Emitted<InstructionValue<'ctx>> {
        let value = match scalar_type {
            Type::Int(bits) if u32::from(bits) != scalar_type.bytes() * 8 => self
                .builder
                .build_int_z_extend(value.into_int_value(), self.int_type(scalar_type.bytes() * 8), "")?
                .into(),
            _ => value,
        };
        let instruction = self.builder.build_store(pointer, value)?;
        instruction.set_alignment(alignment)?;
        Ok(instruction)
    }

    /// Marks a load whose memory does not change while the kernel runs.
    pub fn mark_invariant(&self, load_instruction: Option<InstructionValue<'ctx>>) {
        if let Some(load_instruction) = load_instruction {
            let kind_id = self.context.get_kind_id("invariant.load");
            // Refused only for what is no node.
            let _ = load_instruction.set_metadata(self.context.metadata_node(&[]), kind_id);
        }
    }

    /// Reads a value of a type, aligned so; the instruction that does is marked.
    pub fn load_marked(
        &self,
        llvm_type: BasicTypeEnum<'ctx>,
        address: PointerValue<'ctx>,
        alignment: u32,
        mark_access: impl Fn(InstructionValue<'ctx>),
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let loaded = self.builder.build_load(llvm_type, address, "")?;
        if let Some(instruction) = loaded.as_instruction_value() {
            instruction.set_alignment(alignment)?;
            mark_access(instruction);
        }
        Ok(loaded)
    }

    /// Writes a value to a part of memory, aligned so.
    pub fn store_marked(
        &self,
        address: PointerValue<'ctx>,
        value: BasicValueEnum<'ctx>,
        alignment: u32,
        memory_part: Part,
    ) -> Emitted<()> {
        let store_instruction = self.builder.build_store(address, value)?;
        store_instruction.set_alignment(alignment)?;
        self.scopes.mark_parts(store_instruction, &[memory_part]);
        Ok(())
    }

    /// Keeps LLVM from making a second copy of the current position.
    pub fn only_once(&self) -> Emitted<()> {
        let call_site = self.intrinsic_call("llvm.sideeffect", &[], &[])?;
        let kind_id = Attribute::get_named_enum_kind_id("noduplicate");
        call_site.add_attribute(AttributeLoc::Function, self.context.create_enum_attribute(kind_id, 0));
        Ok(())
    }

    /// Has LLVM write out all rounds of the loop that this branch closes.
    pub fn write_out(&self, branch: InstructionValue<'ctx>) {
        let unroll_wish = self.context.metadata_node(&[self.context.metadata_string("llvm.loop.unroll.full").into()]);
        // The list of a loop begins with itself, so that no two loops have the same.
        let wish_list = self.context.metadata_node(&[unroll_wish.into(), unroll_wish.into()]);
        // SAFETY: `wish_list` is a node of this context with two operands.
        unsafe {
            let self_reference = llvm_sys::core::LLVMValueAsMetadata(wish_list.as_value_ref());
            llvm_sys::core::LLVMReplaceMDNodeOperandWith(wish_list.as_value_ref(), 0, self_reference);
        }
        // Refused only for what is no node.
        let _ = branch.set_metadata(wish_list, self.context.get_kind_id("llvm.loop"));
    }

    /// Puts fast-math flags on what the builder has just made, unless it was folded away.
    pub fn put_fast_math(&self, value: BasicValueEnum<'ctx>, fast_math: FastMath) -> BasicValueEnum<'ctx> {
        if fast_math.0 != 0
            && let Some(instruction) = value.as_instruction_value()
        {
            // Refused only for what takes no such flags.
            let _ = instruction.set_fast_math_flags(FastMathFlags::from_bits_retain(fast_math.0.into()));
        }
        value
    }

    /// Puts overflow promises on what the builder has just made, unless it was folded away.
    pub fn put_wrap_flags(&self, value: BasicValueEnum<'ctx>, wrap_flags: IntFlags) -> BasicValueEnum<'ctx> {
        if let Some(instruction) = value.as_instruction_value() {
            if wrap_flags.nsw {
                let _ = instruction.set_no_signed_wrap_flag(true);
            }
            if wrap_flags.nuw {
                let _ = instruction.set_no_unsigned_wrap_flag(true);
            }
        }
        value
    }

    /// Integer addition that cannot wrap, for counters and places within memory.
    pub fn add(&self, left: IntValue<'ctx>, right: IntValue<'ctx>) -> Emitted<IntValue<'ctx>> {
        let sum = self.builder.build_int_add(left, right, "")?;
        let wrap_flags = IntFlags { nsw: true, nuw: true };
        Ok(self.put_wrap_flags(sum.into(), wrap_flags).into_int_value())
    }

    /// Integer product that cannot wrap, for places within memory.
    pub fn mul(&self, left: IntValue<'ctx>, right: IntValue<'ctx>) -> Emitted<IntValue<'ctx>> {
        let product = self.builder.build_int_mul(left, right, "")?;
        let wrap_flags = IntFlags { nsw: true, nuw: true };
        Ok(self.put_wrap_flags(product.into(), wrap_flags).into_int_value())
    }

    /// Whether `start_address <= pointer < start_address + length`.
    pub fn in_range(
        &self,
        pointer: PointerValue<'ctx>,
        start_address: PointerValue<'ctx>,
        length: IntValue<'ctx>,
    ) -> Emitted<IntValue<'ctx>> {
        let address_bits = self.builder.build_ptr_to_int(pointer, self.i64_type(), "")?;
        let start_address = self.builder.build_ptr_to_int(start_address, self.i64_type(), "")?;
        let position = self.builder.build_int_sub(address_bits, start_address, "")?;
        Ok(self.builder.build_int_compare(IntPredicate::ULT, position, length, "")?)
    }

    /// A phi of values that arrive from blocks.
    pub fn phi(
        &self,
        llvm_type: impl BasicType<'ctx>,
        incoming: &[(&dyn BasicValue<'ctx>, BasicBlock<'ctx>)],
        name: &str,
    ) -> Emitted<inkwell::values::PhiValue<'ctx>> {
        let phi_node = self.builder.build_phi(llvm_type, name)?;
        phi_node.add_incoming(incoming);
        Ok(phi_node)
    }
}

/// The type of vectors of scalars.
pub fn vector_of(llvm_type: BasicTypeEnum<'_>, lane_count: u32) -> VectorType<'_> {
    // SAFETY: every type of our values can be an element, and the result is a vector type.
    unsafe { VectorType::new(llvm_sys::core::LLVMVectorType(llvm_type.as_type_ref(), lane_count)) }
}

/// LLVM's name of a memory order.
pub fn llvm_ordering(ordering: Ordering) -> AtomicOrdering {
    match ordering {
        Ordering::Relaxed => AtomicOrdering::Monotonic,
        Ordering::Acquire => AtomicOrdering::Acquire,
        Ordering::Release => AtomicOrdering::Release,
        Ordering::AcqRel => AtomicOrdering::AcquireRelease,
        Ordering::SeqCst => AtomicOrdering::SequentiallyConsistent,
    }
}

/// The order of a load: its release half means nothing.
pub fn load_ordering(ordering: Ordering) -> AtomicOrdering {
    match ordering {
        Ordering::Release => AtomicOrdering::Monotonic,
        Ordering::AcqRel => AtomicOrdering::Acquire,
        other => llvm_ordering(other),
    }
}

/// The order of a store: its acquire half means nothing.
pub fn store_ordering(ordering: Ordering) -> AtomicOrdering {
    match ordering {
        Ordering::Acquire => AtomicOrdering::Monotonic,
        Ordering::AcqRel => AtomicOrdering::Release,
        other => llvm_ordering(other),
    }
}
