//! Safe, read-only views of an LLVM module: the only place of import that calls LLVM.
//!
//! Every view carries the lifetime `'m` of the module it came from, so that it cannot outlive it.
//! Nothing here changes the module, except that asking for the bits of a floating-point constant may
//! add a constant to the context, which no view observes. A call that needs a certain kind of value
//! checks for it first and answers `None` or zero for any other.

mod debug_info;
mod instructions;

use inkwell::module::Module as InkwellModule;
use llvm_sys::analysis::{LLVMVerifierFailureAction, LLVMVerifyModule};
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMBasicBlockRef, LLVMModuleRef, LLVMTypeRef, LLVMValueRef};
use llvm_sys::target::{
    LLVMABIAlignmentOfType, LLVMABISizeOfType, LLVMGetModuleDataLayout, LLVMOffsetOfElement, LLVMTargetDataRef,
};
use llvm_sys::{LLVMOpcode, LLVMTypeKind};
use std::ffi::{CStr, c_char, c_int};
use std::marker::PhantomData;

// It is in `llvm/read_body.cpp`.
unsafe extern "C" {
    fn lockstep_read_body(function: LLVMValueRef) -> c_int;
}

/// A module and its data layout.
#[derive(Clone, Copy)]
pub(super) struct Module<'m> {
    raw: LLVMModuleRef,
    layout: LLVMTargetDataRef,
    life: PhantomData<&'m ()>,
}

/// A type of an LLVM module.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Type<'m>(LLVMTypeRef, PhantomData<&'m ()>);

/// A value: instruction, argument, constant, function, metadata as a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Value<'m>(LLVMValueRef, PhantomData<&'m ()>);

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Block<'m>(LLVMBasicBlockRef, PhantomData<&'m ()>);

/// What a type is.
#[derive(Clone, Copy)]
pub(super) enum TypeKind<'m> {
    Void,
    Half,
    Float,
    Double,
    Int(u32),
    Ptr(u32),
    Vector(u32, Type<'m>),
    Array(u64, Type<'m>),
    Struct(u32),
    TargetExt,
    Other,
}

/// Reads a string that LLVM allocated and frees it.
fn take_message(message: *mut c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: LLVM hands out a zero-terminated string that the caller owns; it is freed once, here.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        text
    }
}

/// Copies `length` bytes that LLVM keeps.
fn copy_bytes(bytes_start: *const c_char, length: usize) -> Vec<u8> {
    if bytes_start.is_null() || length == 0 {
        return Vec::new();
    }
    // SAFETY: LLVM gave this pointer together with its length, and the module is alive.
    unsafe { std::slice::from_raw_parts(bytes_start.cast::<u8>(), length) }.to_vec()
}

impl<'m> Module<'m> {
    /// A view of an inkwell module.
    pub fn new(module: &'m InkwellModule<'_>) -> Module<'m> {
        let module_ref = module.as_mut_ptr();
        // SAFETY: the module is alive for 'm, and it owns its data layout.
        let layout = unsafe { LLVMGetModuleDataLayout(module_ref) };
        Module { raw: module_ref, layout, life: PhantomData }
    }

    /// LLVM's own check; everything else here relies on a module that passes it.
    pub fn verify_module(self) -> Result<(), String> {
        let mut message = std::ptr::null_mut();
        let action = LLVMVerifierFailureAction::LLVMReturnStatusAction;
        // SAFETY: the module is alive; `message` receives a string that take_message frees.
        let is_broken = unsafe { LLVMVerifyModule(self.raw, action, &mut message) } != 0;
        let text = take_message(message);
        if is_broken { Err(text) } else { Ok(()) }
    }

    /// Every function, in order.
    pub fn functions(self) -> Vec<Value<'m>> {
        // SAFETY: the module is alive; the list ends with null.
        collect_list(unsafe { LLVMGetFirstFunction(self.raw) }, |function| unsafe {
            // SAFETY: `function` is a function of this module.
            LLVMGetNextFunction(function)
        })
    }

    /// Every global variable, in order.
    pub fn globals(self) -> Vec<Value<'m>> {
        // SAFETY: the module is alive; the list ends with null.
        collect_list(unsafe { LLVMGetFirstGlobal(self.raw) }, |global| unsafe {
            // SAFETY: `global` is a global variable of this module.
            LLVMGetNextGlobal(global)
        })
    }

    /// Bytes between consecutive elements of this type in memory; `None` for unsized types.
    pub fn size_of(self, llvm_type: Type<'m>) -> Option<u64> {
        // SAFETY: the type is alive, and the size is asked of sized types only.
        unsafe { (LLVMTypeIsSized(llvm_type.0) != 0).then(|| LLVMABISizeOfType(self.layout, llvm_type.0)) }
    }

    /// Alignment of this type in memory; `None` for unsized types.
    pub fn align_of(self, llvm_type: Type<'m>) -> Option<u32> {
        // SAFETY: the type is alive, and the alignment is asked of sized types only.
        unsafe { (LLVMTypeIsSized(llvm_type.0) != 0).then(|| LLVMABIAlignmentOfType(self.layout, llvm_type.0)) }
    }

    /// Byte offset of a field; zero if there is no such field.
    pub fn field_offset(self, llvm_type: Type<'m>, index: u32) -> u64 {
        match llvm_type.kind() {
            TypeKind::Struct(n) if index < n && self.size_of(llvm_type).is_some() => {
                // SAFETY: `llvm_type` is a sized struct that has this field.
                unsafe { LLVMOffsetOfElement(self.layout, llvm_type.0, index) }
            }
            _ => 0,
        }
    }

    /// The operands of the metadata node that a function carries under this name.
    pub fn function_metadata(self, function: Value<'m>, kind_name: &str) -> Option<Vec<Value<'m>>> {
        if !function.is_function() {
            return None;
        }
        // SAFETY: the function is alive; the entries are read within their count and freed once; the
        // kind's name is given with its length.
        unsafe {
            let context = LLVMGetModuleContext(self.raw);
            let kind_id = LLVMGetMDKindIDInContext(context, kind_name.as_ptr().cast(), kind_name.len() as u32);
            let mut operand_count = 0;
            let entries = LLVMGlobalCopyAllMetadata(function.0, &mut operand_count);
            let metadata = (0..operand_count as u32)
                .find(|&index| LLVMValueMetadataEntriesGetKind(entries, index) == kind_id)
                .map(|index| LLVMValueMetadataEntriesGetMetadata(entries, index));
            LLVMDisposeValueMetadataEntries(entries);
            metadata
                .map(|metadata_node| Value::wrap(LLVMMetadataAsValue(context, metadata_node)))
                .and_then(Value::node_operands)
        }
    }

    /// The bits of a floating-point constant.
    pub fn float_bits(self, llvm_value: Value<'m>) -> Option<u64> {
        let bit_width = match llvm_value.ty().kind() {
            TypeKind::Half => 16,
            TypeKind::Float => 32,
            TypeKind::Double => 64,
            _ => return None,
        };
        // SAFETY: a constant is reinterpreted as an integer of the same width, which LLVM folds at
        // once; the result is checked to be an integer constant.
        unsafe {
            if LLVMIsAConstantFP(llvm_value.0).is_null() {
                return None;
            }
            let int_type = LLVMIntTypeInContext(LLVMGetModuleContext(self.raw), bit_width);
            let bit_value = LLVMConstBitCast(llvm_value.0, int_type);
            (!LLVMIsAConstantInt(bit_value).is_null()).then(|| LLVMConstIntGetZExtValue(bit_value))
        }
    }
}

/// Follows a list that ends with null.
fn collect_list<'m>(first_item: LLVMValueRef, next_item: impl Fn(LLVMValueRef) -> LLVMValueRef) -> Vec<Value<'m>> {
    std::iter::successors((!first_item.is_null()).then_some(first_item), |&item| {
        Some(next_item(item)).filter(|item| !item.is_null())
    })
    .map(Value::wrap)
    .collect()
}

impl<'m> Type<'m> {
    fn wrap(raw_reference: LLVMTypeRef) -> Type<'m> {
        Type(raw_reference, PhantomData)
    }

    /// What this type is.
    pub fn kind(self) -> TypeKind<'m> {
        // SAFETY: the type is alive; each question is asked of the kind of type it is made for.
        unsafe {
            match LLVMGetTypeKind(self.0) {
                LLVMTypeKind::LLVMVoidTypeKind => TypeKind::Void,
                LLVMTypeKind::LLVMHalfTypeKind => TypeKind::Half,
                LLVMTypeKind::LLVMFloatTypeKind => TypeKind::Float,
                LLVMTypeKind::LLVMDoubleTypeKind => TypeKind::Double,
                LLVMTypeKind::LLVMIntegerTypeKind => TypeKind::Int(LLVMGetIntTypeWidth(self.0)),
                LLVMTypeKind::LLVMPointerTypeKind => TypeKind::Ptr(LLVMGetPointerAddressSpace(self.0)),
                LLVMTypeKind::LLVMVectorTypeKind => {
                    TypeKind::Vector(LLVMGetVectorSize(self.0), Type::wrap(LLVMGetElementType(self.0)))
                }
                LLVMTypeKind::LLVMArrayTypeKind => {
                    TypeKind::Array(LLVMGetArrayLength2(self.0), Type::wrap(LLVMGetElementType(self.0)))
                }
                LLVMTypeKind::LLVMStructTypeKind => TypeKind::Struct(LLVMCountStructElementTypes(self.0)),
                LLVMTypeKind::LLVMTargetExtTypeKind => TypeKind::TargetExt,
                _ => TypeKind::Other,
            }
        }
    }

    /// The type of a struct's field.
    pub fn field_type(self, index: u32) -> Option<Type<'m>> {
        match self.kind() {
            TypeKind::Struct(n) if index < n => {
                // SAFETY: a struct that has this field.
                Some(Type::wrap(unsafe { LLVMStructGetTypeAtIndex(self.0, index) }))
            }
            _ => None,
        }
    }

    /// The name of an extension type (`spirv.Image`, …).
    pub fn extension_name(self) -> Option<String> {
        match self.kind() {
            TypeKind::TargetExt => {
                // SAFETY: an extension type; its name is a zero-terminated string of the context.
                let name = unsafe { CStr::from_ptr(LLVMGetTargetExtTypeName(self.0)) };
                Some(name.to_string_lossy().into_owned())
            }
            _ => None,
        }
    }

    /// LLVM's spelling, for messages.
    pub fn spelling(self) -> String {
        // SAFETY: the type is alive; take_message frees the string.
        take_message(unsafe { LLVMPrintTypeToString(self.0) })
    }
}

impl<'m> Block<'m> {
    /// The instructions, in order.
    pub fn instructions(self) -> impl Iterator<Item = Value<'m>> {
        // SAFETY: the block is alive.
        let first_instruction = unsafe { LLVMGetFirstInstruction(self.0) };
        std::iter::successors(Value::wrap_some(first_instruction), |instruction| {
            // SAFETY: an instruction of this block; the list ends with null.
            Value::wrap_some(unsafe { LLVMGetNextInstruction(instruction.0) })
        })
    }

    /// The last instruction.
    pub fn terminator(self) -> Option<Value<'m>> {
        // SAFETY: the block is alive; LLVM answers null if it has no terminator.
        Value::wrap_some(unsafe { LLVMGetBasicBlockTerminator(self.0) })
    }

    /// The instruction before the terminator.
    pub fn last_before_terminator(self) -> Option<Value<'m>> {
        // SAFETY: the block is alive, and so is its terminator, which is asked only if there is one.
        unsafe {
            let terminator = LLVMGetBasicBlockTerminator(self.0);
            if terminator.is_null() { None } else { Value::wrap_some(LLVMGetPreviousInstruction(terminator)) }
        }
    }

    /// The blocks that the terminator names, in its order.
    pub fn successors(self) -> Vec<Block<'m>> {
        // SAFETY: the block is alive; successors are asked within their count.
        unsafe {
            let terminator = LLVMGetBasicBlockTerminator(self.0);
            if terminator.is_null() {
                return Vec::new();
            }
            (0..LLVMGetNumSuccessors(terminator))
                .map(|index| Block(LLVMGetSuccessor(terminator, index), PhantomData))
                .collect()
        }
    }
}

impl<'m> Value<'m> {
    fn wrap(raw_reference: LLVMValueRef) -> Value<'m> {
        Value(raw_reference, PhantomData)
    }

    fn wrap_some(raw_reference: LLVMValueRef) -> Option<Value<'m>> {
        (!raw_reference.is_null()).then(|| Value::wrap(raw_reference))
    }

    /// The type of its values.
    pub fn ty(self) -> Type<'m> {
        // SAFETY: the value is alive.
        Type::wrap(unsafe { LLVMTypeOf(self.0) })
    }

    /// Its name, empty if it has none.
    pub fn name(self) -> String {
        let mut length = 0;
        // SAFETY: the value is alive; the name comes with its length.
        let bytes_start = unsafe { LLVMGetValueName2(self.0, &mut length) };
        String::from_utf8_lossy(&copy_bytes(bytes_start, length)).into_owned()
    }

    /// LLVM's spelling, for messages; long ones are cut.
    pub fn text(self) -> String {
        const LONGEST: usize = 200;
        // SAFETY: the value is alive; take_message frees the string.
        let text = take_message(unsafe { LLVMPrintValueToString(self.0) });
        match text.trim().char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", &text.trim()[..end]),
            None => text.trim().to_owned(),
        }
    }

    /// Whether anything uses it.
    pub fn is_used(self) -> bool {
        // SAFETY: the value is alive.
        !unsafe { LLVMGetFirstUse(self.0) }.is_null()
    }

    /// Each use: the user, once per operand that is this value.
    pub fn users(self) -> Vec<Value<'m>> {
        let mut output = Vec::new();
        // SAFETY: the value is alive; the use list ends with null.
        unsafe {
            let mut each_use = LLVMGetFirstUse(self.0);
            while !each_use.is_null() {
                output.push(Value::wrap(LLVMGetUser(each_use)));
                each_use = LLVMGetNextUse(each_use);
            }
        }
        output
    }

    /// How many operands it has.
    pub fn num_operands(self) -> u32 {
        // SAFETY: operands are counted for users only.
        unsafe {
            if LLVMIsAUser(self.0).is_null() {
                return 0;
            }
            LLVMGetNumOperands(self.0).max(0) as u32
        }
    }

    /// The operand with this index, if there is one.
    pub fn operand(self, index: u32) -> Option<Value<'m>> {
        if index >= self.num_operands() {
            return None;
        }
        // SAFETY: a user that has this operand.
        Value::wrap_some(unsafe { LLVMGetOperand(self.0, index) })
    }

    // Kinds of values.

    /// Whether it is a constant (functions and globals included).
    pub fn is_constant(self) -> bool {
        // SAFETY: the value is alive.
        !unsafe { LLVMIsAConstant(self.0) }.is_null()
    }

    /// Whether it is undef or poison.
    pub fn is_undef(self) -> bool {
        // SAFETY: the value is alive.
        unsafe { LLVMIsUndef(self.0) != 0 }
    }

    /// Whether it is a constant of all zero bits.
    pub fn is_zero(self) -> bool {
        // SAFETY: the value is alive.
        self.is_constant() && unsafe { LLVMIsNull(self.0) != 0 }
    }

    /// Whether it is a function.
    pub fn is_function(self) -> bool {
        // SAFETY: the value is alive.
        !unsafe { LLVMIsAFunction(self.0) }.is_null()
    }

    /// Whether it is a global variable.
    pub fn is_global_variable(self) -> bool {
        // SAFETY: the value is alive.
        !unsafe { LLVMIsAGlobalVariable(self.0) }.is_null()
    }

    /// What an alias stands for.
    pub fn aliasee(self) -> Option<Value<'m>> {
        // SAFETY: the question is asked of aliases only.
        unsafe { (!LLVMIsAGlobalAlias(self.0).is_null()).then(|| Value::wrap(LLVMAliasGetAliasee(self.0))) }
    }

    /// Whether it is inline assembly.
    pub fn is_inline_asm(self) -> bool {
        // SAFETY: the value is alive.
        !unsafe { LLVMIsAInlineAsm(self.0) }.is_null()
    }

    fn is_instruction(self) -> bool {
        // SAFETY: the value is alive.
        !unsafe { LLVMIsAInstruction(self.0) }.is_null()
    }

    /// The operation of an instruction or a constant expression.
    pub fn opcode(self) -> Option<LLVMOpcode> {
        // SAFETY: the opcode is asked of instructions and constant expressions only.
        unsafe {
            if self.is_instruction() {
                Some(LLVMGetInstructionOpcode(self.0))
            } else if !LLVMIsAConstantExpr(self.0).is_null() {
                Some(LLVMGetConstOpcode(self.0))
            } else {
                None
            }
        }
    }

    /// The operation of a constant expression.
    pub fn constant_opcode(self) -> Option<LLVMOpcode> {
        if self.is_instruction() { None } else { self.opcode() }
    }

    fn has_opcode(self, opcode: LLVMOpcode) -> bool {
        self.opcode() == Some(opcode)
    }

    // Constants.

    /// The bits of a scalar integer constant of at most 128 bits.
    pub fn int_bits(self) -> Option<u128> {
        let TypeKind::Int(bit_width) = self.ty().kind() else {
            return None;
        };
        // SAFETY: the value is alive.
        if unsafe { LLVMIsAConstantInt(self.0) }.is_null() || bit_width > 128 {
            return None;
        }
        if bit_width <= 64 {
            // SAFETY: an integer constant that fits.
            return Some(u128::from(unsafe { LLVMConstIntGetZExtValue(self.0) }));
        }
        // LLVM's C interface gives no more than 64 bits; the text has all: "i128 -5".
        let text = self.text();
        let decimal_digits = text.split_whitespace().nth(1)?;
        let value = decimal_digits.parse::<i128>().map(|signed_value| signed_value as u128);
        value.ok().map(|unsigned_value| unsigned_value & (u128::MAX >> (128 - bit_width)))
    }

    /// The n-th element of a constant aggregate or vector.
    pub fn element_at(self, index: u32) -> Option<Value<'m>> {
        if !self.is_constant() {
            return None;
        }
        // SAFETY: a constant; LLVM answers null where there is no such element.
        Value::wrap_some(unsafe { LLVMGetAggregateElement(self.0, index) })
    }

    /// The bytes of a constant array of 8-bit integers.
    pub fn string_bytes(self) -> Option<Vec<u8>> {
        // SAFETY: asked of constant data arrays of bytes only; data and length belong together.
        unsafe {
            if LLVMIsAConstantDataSequential(self.0).is_null() || LLVMIsConstantString(self.0) == 0 {
                return None;
            }
            let mut length = 0;
            let bytes_start = LLVMGetAsString(self.0, &mut length);
            Some(copy_bytes(bytes_start, length))
        }
    }

    // Globals and functions.

    /// The type of a global variable's contents.
    pub fn value_type(self) -> Option<Type<'m>> {
        // SAFETY: asked of global variables only.
        self.is_global_variable().then(|| Type::wrap(unsafe { LLVMGlobalGetValueType(self.0) }))
    }

    /// A global variable's initial value; `None` for declarations.
    pub fn initial_value(self) -> Option<Value<'m>> {
        if !self.is_global_variable() {
            return None;
        }
        // SAFETY: a global variable; LLVM answers null where there is no initialiser.
        Value::wrap_some(unsafe { LLVMGetInitializer(self.0) })
    }

    /// Whether a global variable is never written.
    pub fn is_constant_global(self) -> bool {
        // SAFETY: asked of global variables only.
        self.is_global_variable() && unsafe { LLVMIsGlobalConstant(self.0) != 0 }
    }

    /// Whether each thread has its own.
    pub fn is_thread_local(self) -> bool {
        // SAFETY: asked of global variables only.
        self.is_global_variable() && unsafe { LLVMIsThreadLocal(self.0) != 0 }
    }

    /// The alignment of a global variable, alloca, load, store or atomic operation; 0 if not given.
    pub fn align(self) -> u32 {
        use LLVMOpcode::{LLVMAlloca, LLVMAtomicCmpXchg, LLVMAtomicRMW, LLVMLoad, LLVMStore};
        let is_aligned_operation =
            matches!(self.opcode(), Some(LLVMAlloca | LLVMLoad | LLVMStore | LLVMAtomicRMW | LLVMAtomicCmpXchg));
        if !is_aligned_operation && !self.is_global_variable() {
            return 0;
        }
        // SAFETY: asked only of the kinds of values that have an alignment.
        unsafe { LLVMGetAlignment(self.0) }
    }

    /// Whether a function has no body.
    pub fn is_declaration(self) -> bool {
        // SAFETY: asked of functions only.
        self.is_function() && unsafe { LLVMIsDeclaration(self.0) != 0 }
    }

    /// Reads a function's body, if it has not been; whether it is there.
    pub fn read_body(self) -> bool {
        // SAFETY: asked of functions only, whose module is alive, with the bytes that it is read from.
        self.is_function() && unsafe { lockstep_read_body(self.0) != 0 }
    }

    /// A function's calling convention.
    pub fn calling_convention(self) -> Option<u32> {
        // SAFETY: asked of functions only.
        self.is_function().then(|| unsafe { LLVMGetFunctionCallConv(self.0) })
    }

    /// A function's arguments.
    pub fn params(self) -> Vec<Value<'m>> {
        if !self.is_function() {
            return Vec::new();
        }
        // SAFETY: arguments are asked within their count.
        unsafe { (0..LLVMCountParams(self.0)).map(|index| Value::wrap(LLVMGetParam(self.0, index))).collect() }
    }

    /// The type of what a function returns.
    pub fn return_type(self) -> Option<Type<'m>> {
        // SAFETY: a function's type has a type that it returns.
        self.is_function().then(|| Type::wrap(unsafe { LLVMGetReturnType(LLVMGlobalGetValueType(self.0)) }))
    }

    /// A function's entry block.
    pub fn entry_block(self) -> Option<Block<'m>> {
        if !self.is_function() || self.is_declaration() {
            return None;
        }
        // SAFETY: a function with a body has an entry block.
        Some(Block(unsafe { LLVMGetEntryBasicBlock(self.0) }, PhantomData))
    }

    /// Whether a function's parameter (from 0) has an attribute.
    pub fn has_param_attribute(self, parameter_index: u32, name: &str) -> bool {
        self.param_attribute(parameter_index, name).is_some()
    }

    /// The type of a parameter's `byval` attribute.
    pub fn byval_type(self, parameter_index: u32) -> Option<Type<'m>> {
        let attribute = self.param_attribute(parameter_index, "byval")?;
        // SAFETY: `byval` is an attribute that carries a type.
        Some(Type::wrap(unsafe { LLVMGetTypeAttributeValue(attribute) }))
    }

    /// The alignment that a parameter's attribute gives; 0 if none.
    pub fn param_align(self, parameter_index: u32) -> u32 {
        let attribute = self.param_attribute(parameter_index, "align");
        // SAFETY: `align` is an attribute that carries an integer.
        attribute.map_or(0, |attribute| unsafe { LLVMGetEnumAttributeValue(attribute) } as u32)
    }

    fn param_attribute(self, parameter_index: u32, name: &str) -> Option<llvm_sys::prelude::LLVMAttributeRef> {
        if !self.is_function() {
            return None;
        }
        // SAFETY: a function; parameter attributes have index parameter + 1, and LLVM answers null
        // where there is none. The name is given with its length.
        let attribute = unsafe {
            let kind_id = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            LLVMGetEnumAttributeAtIndex(self.0, parameter_index + 1, kind_id)
        };
        (!attribute.is_null()).then_some(attribute)
    }

    // Metadata.

    fn node_operands(self) -> Option<Vec<Value<'m>>> {
        // SAFETY: operands are read of nodes only, into room for their count; null operands are left
        // out.
        unsafe {
            if LLVMIsAMDNode(self.0).is_null() {
                return None;
            }
            let operand_count = LLVMGetMDNodeNumOperands(self.0) as usize;
            let mut operands = vec![std::ptr::null_mut(); operand_count];
            LLVMGetMDNodeOperands(self.0, operands.as_mut_ptr());
            Some(operands.into_iter().filter_map(Value::wrap_some).collect())
        }
    }

    /// The text of a metadata string.
    pub fn metadata_string(self) -> Option<String> {
        let mut length = 0;
        // SAFETY: LLVM answers null for anything but a metadata string.
        let bytes_start = unsafe { LLVMGetMDString(self.0, &mut length) };
        (!bytes_start.is_null())
            .then(|| String::from_utf8_lossy(&copy_bytes(bytes_start, length as usize)).into_owned())
    }
}
