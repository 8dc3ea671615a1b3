//! Calls through pointers as calls of the functions that the pointers may mean.
//!
//! A pointer to a function is the function's number in the module. Calls through pointers to functions of one type call a function that
//! chooses by this number. What comes out is ordinary code: lanes whose pointers differ take different ways through one switch, and
//! each function is called once for all lanes that mean it.
//!
//! Requires: a linked module without aliases of functions.
//! Ensures: no call through a pointer is left but those of variadic functions, and no defined function's address is taken but for the
//! address of a label. A pointer that means no function of its type, such as a null pointer, calls nothing, and the
//! result is zero.
//! Phases: numbers in place of addresses; for each type of function that is called so a function that chooses; calls of it.
//! Source: our own. OpenCL C has no pointers to functions; clang adds them as `__cl_clang_function_pointers`, SPIR-V as
//! `SPV_INTEL_function_pointers`.
//!
//! ```text
//! store ptr @f, %place                  =>   store ptr inttoptr (i64 1), %place
//! %r = call i32 %pointer(i32 %x)        =>   %r = call i32 @choose(i64 ptrtoint %pointer, i32 %x)
//!
//!                                            choose(%number, %x): switch %number, otherwise return 0
//!                                              1: return call i32 @f(i32 %x)    2: return call i32 @g(i32 %x)
//! ```

use std::collections::HashMap;

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::builder::Builder;
use inkwell::module::{Linkage, Module};
use inkwell::types::{AsTypeRef, BasicMetadataTypeEnum, FunctionType};
use inkwell::values::{
    AnyValueEnum, AsValueRef, BasicMetadataValueEnum, BasicValue, BasicValueEnum, CallSiteValue, FunctionValue,
    InstructionValue, IntValue, PointerValue,
};
use llvm_sys::core::{
    LLVMConstNull, LLVMGetCalledValue, LLVMGetFirstUse, LLVMGetNextUse, LLVMGetNumOperands, LLVMGetOperand,
    LLVMGetUser, LLVMIsABlockAddress, LLVMIsACallInst, LLVMIsAConstant, LLVMIsAGlobalVariable, LLVMReplaceAllUsesWith,
    LLVMSetOperand,
};
use llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};
use llvm_sys::prelude::{LLVMTypeRef, LLVMValueRef};

use super::simplify_llvm::{
    RawFunction, SPIR_FUNCTION, called_function, calls_in, is_inline_assembly, is_kernel, raw_value,
};

/// The beginning of the names of functions that choose.
const CHOOSER: &str = "__lockstep_called_through_pointer";

/// A function whose address the program takes.
#[derive(Clone, Copy)]
struct NumberedFunction<'ctx> {
    function: FunctionValue<'ctx>,
    /// What stands for the address: at least 1.
    number: u64,
}

/// Where the uses of a function stand.
#[derive(Default)]
struct FunctionUses {
    /// The calls of it.
    calls: Vec<LLVMValueRef>,
    /// Whether it is used otherwise.
    is_address_taken: bool,
    /// Whether something uses it that needs a function.
    is_fixed: bool,
}

/// Replaces calls through pointers.
///
/// # Errors
///
/// LLVM's, where it refuses to build an instruction.
pub(super) fn replace_pointer_calls(module: &Module<'_>) -> Result<(), String> {
    let numbered = number_addresses(module);
    let pointer_calls: Vec<InstructionValue<'_>> = calls_in(module)
        .map(|(_, call_instruction)| call_instruction)
        .filter(|&call_instruction| is_pointer_call(call_instruction))
        .collect();
    let mut choosers: HashMap<LLVMTypeRef, FunctionValue<'_>> = HashMap::new();
    for call_instruction in pointer_calls {
        let Ok(call_site) = CallSiteValue::try_from(call_instruction) else { continue };
        let called_type = call_site.get_called_fn_type();
        if called_type.is_var_arg() {
            continue;
        }
        let chooser = match choosers.get(&called_type.as_type_ref()) {
            Some(&chooser) => chooser,
            None => build_chooser(module, called_type, &numbered)?,
        };
        choosers.insert(called_type.as_type_ref(), chooser);
        replace_call(module, call_site, call_instruction, chooser)?;
    }
    Ok(())
}

/// Whether a function is one that chooses what a pointer means.
pub(super) fn is_chooser(function: FunctionValue<'_>) -> bool {
    function.get_name().to_bytes().starts_with(CHOOSER.as_bytes())
}

/// Puts numbers in the place of functions' addresses, and tells which function has which.
fn number_addresses<'ctx>(module: &Module<'ctx>) -> Vec<NumberedFunction<'ctx>> {
    let mut numbered = Vec::new();
    let number_type = module.get_context().i64_type();
    for function in module.get_functions().filter(|function| function.count_basic_blocks() > 0 && !is_kernel(function))
    {
        let uses = FunctionUses::of_function(function);
        if !uses.is_address_taken || uses.is_fixed {
            continue;
        }
        let number = numbered.len() as u64 + 1;
        let pointer_type = function.as_global_value().as_pointer_value().get_type();
        let address: PointerValue<'_> = number_type.const_int(number, false).const_to_pointer(pointer_type);
        // SAFETY: both are live pointers of one type. Calls get their callee, the last of their operands, back.
        unsafe {
            LLVMReplaceAllUsesWith(function.as_value_ref_raw(), address.as_value_ref());
            for &call_instruction in &uses.calls {
                let callee_index = LLVMGetNumOperands(call_instruction) as u32 - 1;
                LLVMSetOperand(call_instruction, callee_index, function.as_value_ref_raw());
            }
        }
        numbered.push(NumberedFunction { function, number });
    }
    numbered
}

impl FunctionUses {
    fn of_function(function: FunctionValue<'_>) -> Self {
        let raw_function = function.as_value_ref_raw();
        let mut uses = Self::default();
        // SAFETY: the function is alive, and nothing changes its uses meanwhile; operands are read within their count.
        unsafe {
            let mut next_use = LLVMGetFirstUse(raw_function);
            while !next_use.is_null() {
                let user = LLVMGetUser(next_use);
                next_use = LLVMGetNextUse(next_use);
                uses.is_fixed |= !LLVMIsABlockAddress(user).is_null();
                if LLVMIsACallInst(user).is_null() {
                    // A constant that nothing uses is what is left of something that was removed.
                    let is_left_over = !LLVMIsAConstant(user).is_null()
                        && LLVMIsAGlobalVariable(user).is_null()
                        && LLVMGetFirstUse(user).is_null();
                    uses.is_address_taken |= !is_left_over;
                    continue;
                }
                // A call that passes the function as well comes once for each use.
                let operands = (0..LLVMGetNumOperands(user) as u32).map(|index| LLVMGetOperand(user, index));
                let own_uses = operands.filter(|&operand| operand == raw_function).count();
                let is_called = LLVMGetCalledValue(user) == raw_function;
                uses.is_address_taken |= own_uses > usize::from(is_called);
                if is_called {
                    uses.calls.push(user);
                }
            }
        }
        uses
    }
}

fn is_pointer_call(call_instruction: InstructionValue<'_>) -> bool {
    called_function(call_instruction).is_none() && !is_inline_assembly(call_instruction)
}

/// Builds the function that calls the one of a type that a number means: it takes the number and what this one takes.
fn build_chooser<'ctx>(
    module: &Module<'ctx>,
    called_type: FunctionType<'ctx>,
    numbered: &[NumberedFunction<'ctx>],
) -> Result<FunctionValue<'ctx>, String> {
    let context = module.get_context();
    let number_type = context.i64_type();
    let parameter_types: Vec<BasicMetadataTypeEnum<'_>> =
        std::iter::once(number_type.into()).chain(called_type.get_param_types()).collect();
    let chooser_type = match called_type.get_return_type() {
        Some(result_type) => inkwell::types::BasicType::fn_type(&result_type, &parameter_types, false),
        None => context.void_type().fn_type(&parameter_types, false),
    };
    let chooser = module.add_function(CHOOSER, chooser_type, Some(Linkage::Internal));
    chooser.set_call_conventions(SPIR_FUNCTION);
    // What it calls may come to a barrier.
    let convergent = Attribute::get_named_enum_kind_id("convergent");
    chooser.add_attribute(AttributeLoc::Function, context.create_enum_attribute(convergent, 0));
    let parameters = chooser.get_params();
    let Some((&number, passed)) = parameters.split_first() else {
        return Err("a function without the parameters that it was made with".to_owned());
    };
    let arguments: Vec<BasicMetadataValueEnum<'_>> = passed.iter().map(|&parameter| parameter.into()).collect();
    let builder = context.create_builder();
    let entry_block = context.append_basic_block(chooser, "");
    let otherwise = context.append_basic_block(chooser, "");
    let mut cases = Vec::new();
    for &NumberedFunction { function, number } in numbered {
        // Types of functions are one where they are equal.
        if function.get_type().as_type_ref() != called_type.as_type_ref() {
            continue;
        }
        let case_block = context.append_basic_block(chooser, "");
        cases.push((number_type.const_int(number, false), case_block));
        builder.position_at_end(case_block);
        let call_site = builder.build_call(function, &arguments, "").map_err(|error| error.to_string())?;
        call_site.set_call_convention(function.get_call_conventions());
        build_return(&builder, call_site.try_as_basic_value().basic())?;
    }
    builder.position_at_end(otherwise);
    build_return(&builder, called_type.get_return_type().map(zero_of))?;
    builder.position_at_end(entry_block);
    builder.build_switch(number.into_int_value(), otherwise, &cases).map_err(|error| error.to_string())?;
    Ok(chooser)
}

fn zero_of(value_type: inkwell::types::BasicTypeEnum<'_>) -> BasicValueEnum<'_> {
    // SAFETY: every type of first class has a zero.
    unsafe { BasicValueEnum::new(LLVMConstNull(value_type.as_type_ref())) }
}

fn build_return<'ctx>(builder: &Builder<'ctx>, result: Option<BasicValueEnum<'ctx>>) -> Result<(), String> {
    let result = result.as_ref().map(|result| result as &dyn BasicValue<'ctx>);
    builder.build_return(result).map(|_| ()).map_err(|error| error.to_string())
}

/// Puts a call of the function that chooses in the place of a call through a pointer.
fn replace_call<'ctx>(
    module: &Module<'ctx>,
    call_site: CallSiteValue<'ctx>,
    call_instruction: InstructionValue<'ctx>,
    chooser: FunctionValue<'ctx>,
) -> Result<(), String> {
    let raw_call = raw_value(call_instruction);
    let builder = module.get_context().create_builder();
    builder.position_before(&call_instruction);
    // SAFETY: the call is alive; the value that it calls is a pointer, and the operands before that are its arguments.
    let (pointer, passed) = unsafe {
        let argument_count = call_site.count_arguments();
        let passed = (0..argument_count).map(|index| BasicValueEnum::new(LLVMGetOperand(raw_call, index)));
        (PointerValue::new(LLVMGetCalledValue(raw_call)), passed.collect::<Vec<BasicValueEnum<'ctx>>>())
    };
    let number_type = module.get_context().i64_type();
    let number: IntValue<'_> = builder.build_ptr_to_int(pointer, number_type, "").map_err(|error| error.to_string())?;
    let arguments: Vec<BasicMetadataValueEnum<'_>> =
        std::iter::once(number.into()).chain(passed.into_iter().map(Into::into)).collect();
    let new_call = builder.build_call(chooser, &arguments, "").map_err(|error| error.to_string())?;
    new_call.set_call_convention(SPIR_FUNCTION);
    // SAFETY: both calls are alive and have results of one type; nothing asks for the old one afterwards.
    unsafe {
        LLVMInstructionSetDebugLoc(new_call.as_value_ref(), LLVMInstructionGetDebugLoc(raw_call));
        if !matches!(AnyValueEnum::new(raw_call), AnyValueEnum::InstructionValue(_)) {
            LLVMReplaceAllUsesWith(raw_call, new_call.as_value_ref());
        }
    }
    call_instruction.erase_from_basic_block();
    Ok(())
}
