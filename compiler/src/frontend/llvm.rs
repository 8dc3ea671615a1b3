//! Small safe wrappers around calls of LLVM's C interface that inkwell does not have.

use std::ffi::{CStr, CString, c_char, c_void};
use std::marker::PhantomData;

use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::{AsContextRef, Context};
use inkwell::values::{
    AsValueRef, BasicValue, BasicValueEnum, BasicValueUse, FunctionValue, InstructionValue, PhiValue, VectorValue,
};
use llvm_sys::LLVMDiagnosticSeverity;
use llvm_sys::core::{
    LLVMBuildFreeze, LLVMContextSetDiagnosticHandler, LLVMDisposeMessage, LLVMGetAggregateElement,
    LLVMGetDiagInfoDescription, LLVMGetDiagInfoSeverity, LLVMGetNumSuccessors, LLVMGetSuccessor, LLVMIsAInstruction,
    LLVMIsConstant,
};
use llvm_sys::error::{LLVMDisposeErrorMessage, LLVMErrorRef, LLVMGetErrorMessage};
use llvm_sys::prelude::{LLVMContextRef, LLVMDiagnosticInfoRef, LLVMModuleRef};
use llvm_sys::target_machine::LLVMTargetMachineRef;
use llvm_sys::transforms::pass_builder::{
    LLVMCreatePassBuilderOptions, LLVMDisposePassBuilderOptions, LLVMPassBuilderOptionsRef, LLVMRunPasses,
};
use parking_lot::Mutex;

/// The blocks that a block's terminator leads to, of a conditional branch that for true first. (inkwell's operands of a `ret` of an event cannot
/// be asked for.)
pub(crate) fn successors<'ctx>(block: BasicBlock<'ctx>) -> impl Iterator<Item = BasicBlock<'ctx>> {
    let terminator = block.get_terminator().map(|terminator| terminator.as_value_ref());
    // SAFETY: the instruction is alive and ends its block.
    let count = terminator.map_or(0, |terminator| unsafe { LLVMGetNumSuccessors(terminator) });
    // SAFETY: as above; the index is that of one of its successors, which all are blocks.
    let successor = |terminator, index| unsafe { BasicBlock::new(LLVMGetSuccessor(terminator, index)) };
    (0..count).filter_map(move |index| successor(terminator?, index))
}

/// The φs of a block.
pub(crate) fn list_phis(block: BasicBlock<'_>) -> impl Iterator<Item = PhiValue<'_>> {
    block.get_instructions().map_while(|instruction| PhiValue::try_from(instruction).ok())
}

/// The instructions that use another one's value.
pub(crate) fn list_users(instruction: InstructionValue<'_>) -> Vec<InstructionValue<'_>> {
    list_using_instructions(instruction.get_first_use())
}

fn list_using_instructions<'ctx>(first_use: Option<BasicValueUse<'ctx>>) -> Vec<InstructionValue<'ctx>> {
    let uses = std::iter::successors(first_use, |value_use| value_use.get_next_use());
    let users = uses.map(|value_use| value_use.get_user().as_value_ref());
    // SAFETY: users are alive.
    let instructions = users.filter(|&user| unsafe { !LLVMIsAInstruction(user).is_null() });
    // SAFETY: only instructions are left.
    instructions.map(|instruction| unsafe { InstructionValue::new(instruction) }).collect()
}

/// The instructions that use a function: its calls, where its address is not taken.
pub(crate) fn list_calls(function: FunctionValue<'_>) -> Vec<InstructionValue<'_>> {
    list_using_instructions(function.as_global_value().as_pointer_value().get_first_use())
}

/// An operand that is a value and no block.
pub(crate) fn value_operand<'ctx>(instruction: InstructionValue<'ctx>, index: u32) -> Option<BasicValueEnum<'ctx>> {
    instruction.get_operand(index)?.value()
}

/// Only for accesses that are neither volatile nor atomic.
pub(crate) fn require_plain_access(instruction: InstructionValue<'_>) -> Option<()> {
    let plain = instruction.get_volatile() == Ok(false)
        && instruction.get_atomic_ordering().is_ok_and(|ordering| ordering == inkwell::AtomicOrdering::NotAtomic);
    plain.then_some(())
}

/// The value, or any one where it is poison or undefined.
pub(crate) fn build_freeze<'ctx>(builder: &Builder<'ctx>, value: BasicValueEnum<'ctx>) -> BasicValueEnum<'ctx> {
    // SAFETY: the builder has a position, and the result is a value of the operand's type.
    unsafe { BasicValueEnum::new(LLVMBuildFreeze(builder.as_mut_ptr(), value.as_value_ref(), c"".as_ptr())) }
}

/// What all lanes of a constant are; none where they differ, and of what is no constant.
pub(crate) fn find_splat_element<'ctx>(vector: VectorValue<'ctx>) -> Option<BasicValueEnum<'ctx>> {
    let raw_vector = vector.as_value_ref();
    // SAFETY: the value is alive; only constants are asked for elements, and for those that they have, which live as long as the context.
    unsafe {
        if LLVMIsConstant(raw_vector) == 0 {
            return None;
        }
        let element = LLVMGetAggregateElement(raw_vector, 0);
        let is_same = |lane| LLVMGetAggregateElement(raw_vector, lane) == element;
        let is_splat = !element.is_null() && (1..vector.get_type().get_size()).all(is_same);
        is_splat.then(|| BasicValueEnum::new(element))
    }
}

/// The messages of one LLVM context, collected for as long as this lives.
///
/// Without a handler LLVM prints an error and ends the process.
pub(crate) struct Diagnostics<'ctx> {
    context: LLVMContextRef,
    lifetime: PhantomData<&'ctx Context>,
    messages: Box<Mutex<Messages>>,
}

#[derive(Default)]
struct Messages {
    text: String,
    errors: usize,
}

impl<'ctx> Diagnostics<'ctx> {
    /// Starts to collect.
    pub(crate) fn start_collecting(context: impl AsContextRef<'ctx>) -> Self {
        let context = context.as_ctx_ref();
        let messages = Box::<Mutex<Messages>>::default();
        let collected = std::ptr::from_ref::<Mutex<Messages>>(&messages).cast_mut().cast::<c_void>();
        // SAFETY: the context is alive as long as this guard, and the guard takes the handler away before the
        // messages it points to are freed.
        unsafe { LLVMContextSetDiagnosticHandler(context, Some(record_diagnostic), collected) };
        Self { context, lifetime: PhantomData, messages }
    }

    /// What was said so far, and forgets it. `Err` if an error was among it.
    pub(crate) fn take_messages(&self) -> Result<String, String> {
        let Messages { text, errors } = std::mem::take(&mut *self.messages.lock());
        if errors == 0 { Ok(text) } else { Err(text) }
    }
}

impl Drop for Diagnostics<'_> {
    fn drop(&mut self) {
        // Afterwards messages go nowhere; with no handler at all an error would end the process.
        // SAFETY: the context is alive.
        unsafe { LLVMContextSetDiagnosticHandler(self.context, Some(ignore_diagnostic), std::ptr::null_mut()) };
    }
}

extern "C" fn ignore_diagnostic(_: LLVMDiagnosticInfoRef, _: *mut c_void) {}

extern "C" fn record_diagnostic(diagnostic: LLVMDiagnosticInfoRef, collected: *mut c_void) {
    // SAFETY: LLVM hands in a valid message, and `collected` is what `collect` registered.
    let (severity, text, messages) = unsafe {
        let description = LLVMGetDiagInfoDescription(diagnostic);
        let text = take_message(description);
        (LLVMGetDiagInfoSeverity(diagnostic), text, &*collected.cast::<Mutex<Messages>>())
    };
    let mut messages = messages.lock();
    let kind = match severity {
        LLVMDiagnosticSeverity::LLVMDSError => {
            messages.errors += 1;
            "error"
        }
        LLVMDiagnosticSeverity::LLVMDSWarning => "warning",
        // Remarks and notes speak of passes, not of the program.
        _ => return,
    };
    messages.text.push_str(&format!("{kind}: {text}\n"));
}

/// Copies and frees a string that LLVM allocated.
///
/// # Safety
/// `message` must be null or a string that `LLVMDisposeMessage` may free.
pub(crate) unsafe fn take_message(message: *mut c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: the caller vouches for the string.
    unsafe {
        let owned_text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        owned_text
    }
}

/// Turns LLVM's error object into a result.
///
/// # Safety
/// `error` must be null or an error that nobody has consumed.
pub(crate) unsafe fn check_error(error: LLVMErrorRef) -> Result<(), String> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: the caller vouches for the error; reading its message consumes it.
    unsafe {
        let message = LLVMGetErrorMessage(error);
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(message);
        Err(text)
    }
}

/// The context in the form of the C interface.
pub(crate) fn raw_context(context: &Context) -> LLVMContextRef {
    context.as_ctx_ref()
}

/// Options of a pass pipeline, freed with their owner.
pub(crate) struct PassOptions(LLVMPassBuilderOptionsRef);

impl PassOptions {
    /// Options as LLVM has them by default.
    pub(crate) fn new() -> Self {
        // SAFETY: allocates, nothing more.
        Self(unsafe { LLVMCreatePassBuilderOptions() })
    }

    /// For the setters of the C interface.
    pub(crate) fn raw(&self) -> LLVMPassBuilderOptionsRef {
        self.0
    }
}

impl Drop for PassOptions {
    fn drop(&mut self) {
        // SAFETY: ours, and freed once.
        unsafe { LLVMDisposePassBuilderOptions(self.0) };
    }
}

/// Runs a textual pipeline over a module. `machine` may be null.
///
/// # Safety
/// `module` must be valid, `machine` null or valid.
pub(crate) unsafe fn run_passes(
    module: LLVMModuleRef,
    pipeline: &str,
    machine: LLVMTargetMachineRef,
    options: &PassOptions,
) -> Result<(), String> {
    let text = CString::new(pipeline).map_err(|error| error.to_string())?;
    // SAFETY: the caller vouches for module and machine; the rest lives here.
    unsafe { check_error(LLVMRunPasses(module, text.as_ptr(), machine, options.raw())) }
}
