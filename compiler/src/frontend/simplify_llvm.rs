//! Scalar clean-up of a linked program by LLVM's passes.
//!
//! Requires: a verified module in SPIR form with the built-in library linked in.
//!
//! Ensures: the definitions left are kernels, variables in global memory whose names others know, and functions that would make too
//! much code of kernels (`inlining.rs`). Their bodies call nothing but such functions, `llvm.*` intrinsics, `__lockstep_*` primitives
//! and `printf`; each function has at most one return; allocas are promoted where possible. Control flow is as
//! the program has it, cycles with several entries included: LLVM 22's fix-irreducible miscompiles such cycles, so
//! `transform/reducible.rs` gives them one entry after the import. A call of `__lockstep_barrier` stands between two
//! compiler fences and is neither duplicated nor moved into other control flow (it stays `convergent`).
//!
//! Phases: names for other modules go; calls through pointers; check (recursion, size after inlining); fence barriers; internalize; promote variables; check for
//! undefined names; inline; fix the sizes of sub-groups; scalar passes; infer address spaces; scalar passes; check again.
//!
//! No vectorizer runs here: lanes come from work-items. Loops keep their form for the analyses, but for those of a few
//! rounds that are known: written out, their accesses have constant distances, and private arrays that they index become
//! values.
//! `sink-common-insts` stays off, because it turns two stores with known addresses into one with a chosen address, and
//! so contiguous accesses into scatters; switches stay switches.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::CString;

use inkwell::AddressSpace;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::{Linkage, Module};
use inkwell::values::{BasicValue, CallSiteValue, FunctionValue, InstructionOpcode, InstructionValue};
use llvm_sys::LLVMAtomicOrdering;
use llvm_sys::core::{
    LLVMBuildFence, LLVMCreateBuilderInContext, LLVMDisposeBuilder, LLVMGetDebugLocColumn, LLVMGetDebugLocFilename,
    LLVMGetDebugLocLine, LLVMGetNextInstruction, LLVMPositionBuilderBefore,
};
use llvm_sys::prelude::LLVMValueRef;
use llvm_sys::target_machine::LLVMTargetMachineRef;
use lockstep_protocol::types::Space;

use super::FrontendError;
use super::busy_variables::{has_busy_variables, hide_busy_variables};
use super::function_pointers::replace_pointer_calls;
use super::hoist_common_stores::share_addresses;
use super::inlining::CallGraph;
use super::llvm::{PassOptions, run_passes};
use super::loop_extent::{LoopExtent, measure_loops};
use super::outside_names::remove_outside_names;
use super::sub_group_size::{fix_sub_group_size, is_sub_group_size};
use super::variable_promotion::promote_variables;

use crate::machine_code::codegen_flags::{CodegenFlags, LeanReason};

/// How much is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// `-cl-opt-disable`: what the importer needs, no more.
    Minimal,
    /// Everything that helps the passes to come.
    Full,
}

/// LLVM's number for the calling convention of kernels.
const SPIR_KERNEL: u32 = 76;

/// That of other functions.
pub(super) const SPIR_FUNCTION: u32 = 75;

const BARRIER: &[u8] = b"__lockstep_barrier";
const MINIMAL: &str = "function(lower-expect,lower-constant-intrinsics,sroa<modify-cfg>,early-cse,\
    simplifycfg<no-sink-common-insts;no-switch-to-lookup;keep-loops>,mergereturn)";

/// Functions are small before they are inlined, and clang keeps every parameter and variable in memory. Promoting those
/// takes time in the number of variables times the number of blocks, so it is done here and not in the large kernels.
const BEFORE_INLINING: &str = "function(sroa<modify-cfg>,early-cse,simplifycfg<no-sink-common-insts;keep-loops>)";

/// Instructions that all kernels have together with everything inlined from which on callees are simplified before they
/// are copied into their callers: a password cracker's kernels shrink to a fifth, and clean-up took 5.4 s all at once, 3.4 s so.
const MANY_INLINED: u64 = 50_000;

/// As many times the kernels' instructions may all functions together have for that: of a chain of calls they are its length times as many.
const MOST_LEVELS: u64 = 8;

/// Inlines callees first.
const INLINING_BY_LEVELS: &str = "cgscc(inline<only-mandatory>,function(sroa<modify-cfg>,early-cse,instsimplify,\
    simplifycfg<no-sink-common-insts;keep-loops>)),globaldce";

/// Promotes memory to values, so that the addresses can be followed.
const EARLY: &str = "function(lower-expect,sroa<modify-cfg>,early-cse,\
    simplifycfg<no-sink-common-insts;no-switch-to-lookup;keep-loops;hoist-common-insts>)";

/// `instcombine` takes as long as the rest together even when it finds nothing, so it stands only where it finds most.
const LATE: &str = "instcombine<no-verify-fixpoint>,early-cse<memssa>,\
    loop-mssa(loop-instsimplify,loop-simplifycfg,licm<no-allowspeculation>,\
        loop-rotate<header-duplication;no-prepare-for-lto>,licm<allowspeculation>,loop-deletion),\
    simplifycfg<no-sink-common-insts;no-switch-to-lookup;keep-loops;hoist-common-insts>,\
    loop(loop-unroll-full),instsimplify,sroa<modify-cfg>,gvn<no-pre>,sccp,bdce,lower-constant-intrinsics,\
    instcombine<no-verify-fixpoint>,dse,adce,\
    simplifycfg<no-sink-common-insts;no-switch-to-lookup;keep-loops;hoist-common-insts>,mergereturn";

/// Blocks of a function from which on LLVM's `licm` is left out. Each store that it moves out of a loop walks over the
/// blocks of the function anew: with 24,000 blocks (the unrolled MD5 of a password cracker) it was stopped after 23 s of
/// processor time, the pipeline without it takes 1.5 s.
const MANY_BLOCKS: u32 = 4000;

/// Instructions of a function from which on what is computed stays where the program computes it.
const LONG_FUNCTION: usize = 4000;

/// [`LATE`] for functions with many blocks: the passes whose time grows with the code, and little.
const LATE_FOR_MANY_BLOCKS: &str = "instcombine<no-verify-fixpoint;max-iterations=1>,early-cse<memssa>,\
    loop(loop-instsimplify,loop-simplifycfg,loop-rotate<header-duplication;no-prepare-for-lto>,loop-deletion),\
    simplifycfg<no-sink-common-insts;no-switch-to-lookup;keep-loops;hoist-common-insts>,\
    loop(loop-unroll-full),instsimplify,sroa<modify-cfg>,gvn<no-pre>,sccp,bdce,lower-constant-intrinsics,dse,adce,\
    simplifycfg<no-sink-common-insts;no-switch-to-lookup;keep-loops;hoist-common-insts>,mergereturn";

/// [`LATE`] for functions with many loops: they keep the form that the program gives them.
const LATE_FOR_MANY_LOOPS: &str = "instcombine<no-verify-fixpoint>,early-cse<memssa>,instsimplify,sroa<modify-cfg>,\
    gvn<no-pre>,sccp,bdce,lower-constant-intrinsics,instcombine<no-verify-fixpoint>,dse,adce,\
    simplifycfg<no-sink-common-insts;no-switch-to-lookup;keep-loops;no-simplify-cond-branch;hoist-common-insts>,mergereturn";

/// [`LATE`] without the passes whose time grows with the square of loops in each other or of values that a loop keeps. Of cleaning up
/// 1,000 loops in each other these took 120 of 168 ms, of a loop that keeps 1,000 values 100 of 120.
const LATE_IN_LINEAR_TIME: &str = "instsimplify,sroa<modify-cfg>,sccp,bdce,lower-constant-intrinsics,adce,\
    simplifycfg<no-sink-common-insts;no-switch-to-lookup;keep-loops;no-simplify-cond-branch;hoist-common-insts>,mergereturn";

/// Brings the module into the form that the importer reads.
pub(crate) fn clean_up(module: &Module<'_>, cleanup_level: Level) -> Result<(), FrontendError> {
    if remove_outside_names(module) {
        run_pipeline(module, "globaldce")?;
    }
    replace_pointer_calls(module).map_err(|error| internal_error(&error))?;
    let kernels: Vec<_> = module.get_functions().filter(is_kernel).collect();
    let inlining_plan = CallGraph::of_module(module).plan_inlining(&kernels)?;
    inlining_plan.callers_first.iter().copied().for_each(move_last);
    fence_barriers(module);
    internalize_functions(module, &inlining_plan.stay);
    run_pipeline(module, "globaldce")?;
    promote_variables(module).map_err(|error| internal_error(&error.to_string()))?;
    run_for_loops(module, BEFORE_INLINING)?;
    // What calls of a branch that is never taken led to need not be there.
    run_pipeline(module, "globaldce")?;
    check_defined(module)?;
    let inlines_by_levels = inlining_plan.kernel_instructions > MANY_INLINED
        && inlining_plan.all_instructions <= inlining_plan.kernel_instructions.saturating_mul(MOST_LEVELS);
    run_pipeline(module, if inlines_by_levels { INLINING_BY_LEVELS } else { "always-inline,globaldce" })?;
    fix_sub_group_sizes(module);
    match cleanup_level {
        Level::Minimal => run_pipeline(module, MINIMAL)?,
        Level::Full => {
            run_for_loops(module, EARLY)?;
            infer_address_spaces(module)?;
            keep_barriers_single(module);
            module.get_functions().for_each(share_addresses);
            simplify_functions(module)?;
        }
    }
    run_pipeline(module, "globaldce,strip-dead-prototypes")?;
    check_inlined(module, &inlining_plan.stay)?;
    if cfg!(debug_assertions) {
        module.verify().map_err(|error| internal_error(&error.to_string()))?;
    }
    Ok(())
}

/// Puts a function behind all others of its module.
fn move_last(function: FunctionValue<'_>) {
    // SAFETY: the function is alive, and one of a module's.
    unsafe { lockstep_move_function_last(function.as_value_ref_raw()) };
}

pub(super) fn is_kernel(function: &FunctionValue<'_>) -> bool {
    function.get_call_conventions() == SPIR_KERNEL && function.count_basic_blocks() > 0
}

fn run_pipeline(module: &Module<'_>, pipeline: &str) -> Result<(), FrontendError> {
    // SAFETY: the module is alive; no machine is needed.
    unsafe { run_passes(module.as_mut_ptr(), pipeline, std::ptr::null_mut(), &PassOptions::new()) }
        .map_err(|error| internal_error(&error))
}

/// A pipeline whose `simplifycfg` leaves conditional branches alone, for functions with many loops: it simplifies one of a chain of
/// them at a time and looks at all blocks each time, which took 0.95 s of the 1.23 s of cleaning up 1,000 loops.
pub(crate) fn with_branches_as_they_are(pipeline: &str) -> String {
    pipeline.replace("keep-loops", "keep-loops;no-simplify-cond-branch")
}

/// A pipeline whose `loop-deletion` comes after all rotation, for functions with several loops: it asks scalar evolution about each loop, and
/// `loop-rotate` of the next one has to forget all that follows from a loop's values.
fn with_rotation_first(pipeline: &str) -> String {
    pipeline.replace("licm<allowspeculation>,loop-deletion)", "licm<allowspeculation>),loop(loop-deletion)")
}

/// Runs a pipeline: with conditional branches as they are where a function has many loops, and where they lie deep in each other also
/// without `early-cse`, whose time grows with the square of the depth (30 ms of 1,000 loops).
fn run_for_loops(module: &Module<'_>, pipeline: &str) -> Result<(), FrontendError> {
    let extents: Vec<LoopExtent> = module.get_functions().map(measure_loops).collect();
    if extents.iter().any(|extent| extent.are_deep()) {
        run_pipeline(module, &with_branches_as_they_are(pipeline).replace("early-cse", "instsimplify"))
    } else if extents.iter().any(|extent| extent.are_many()) {
        run_pipeline(module, &with_branches_as_they_are(pipeline))
    } else {
        run_pipeline(module, pipeline)
    }
}

fn internal_error(message: &str) -> FrontendError {
    FrontendError::link_failure(format!("internal error in clean-up: {message}\n"))
}

/// Keeps loops with barriers from being written out. Until everything is inlined, calls have to be copied.
fn keep_barriers_single(module: &Module<'_>) {
    if let Some(barrier) = std::str::from_utf8(BARRIER).ok().and_then(|name| module.get_function(name)) {
        let kind = Attribute::get_named_enum_kind_id("noduplicate");
        barrier.add_attribute(AttributeLoc::Function, module.get_context().create_enum_attribute(kind, 0));
    }
}

/// Makes the size of sub-groups a constant in each kernel.
fn fix_sub_group_sizes(module: &Module<'_>) {
    let mut calls: HashMap<FunctionValue<'_>, Vec<LLVMValueRef>> = HashMap::new();
    for (function, call_instruction) in calls_in(module)
        .filter(|(_, call_instruction)| called_function(*call_instruction).is_some_and(is_sub_group_size))
    {
        calls.entry(function).or_default().push(raw_value(call_instruction));
    }
    calls.iter().for_each(|(function, size_calls)| fix_sub_group_size(*function, size_calls));
}

/// Turns generic pointers into pointers to one address space where all their sources agree.
fn infer_address_spaces(module: &Module<'_>) -> Result<(), FrontendError> {
    let Some(machine) = spirv_machine() else { return Ok(()) };
    // SAFETY: module and machine are alive.
    unsafe { run_passes(module.as_mut_ptr(), "function(infer-address-spaces)", machine.0, &PassOptions::new()) }
        .map_err(|error| internal_error(&error))
}

/// The pass has to be told which address space is the generic one, and only a target can tell it. SPIR itself has no
/// back end, but SPIR-V has the same address spaces.
fn spirv_machine() -> Option<SpirvMachine> {
    use llvm_sys::target_machine::{
        LLVMCodeGenOptLevel, LLVMCodeModel, LLVMCreateTargetMachine, LLVMGetTargetFromTriple, LLVMRelocMode,
    };
    static INITIALISE: std::sync::Once = std::sync::Once::new();
    // SAFETY: each function may be called by one thread at a time, which `Once` ensures.
    INITIALISE.call_once(|| unsafe {
        LLVMInitializeSPIRVTargetInfo();
        LLVMInitializeSPIRVTarget();
        LLVMInitializeSPIRVTargetMC();
    });
    let triple = c"spirv64-unknown-unknown".as_ptr();
    let mut target = std::ptr::null_mut();
    let mut message = std::ptr::null_mut();
    // SAFETY: all strings are terminated and constant, and the target is static data of LLVM.
    let machine = unsafe {
        if LLVMGetTargetFromTriple(triple, &mut target, &mut message) != 0 {
            drop(super::llvm::take_message(message));
            return None;
        }
        LLVMCreateTargetMachine(
            target,
            triple,
            c"".as_ptr(),
            c"".as_ptr(),
            LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
            LLVMRelocMode::LLVMRelocDefault,
            LLVMCodeModel::LLVMCodeModelDefault,
        )
    };
    (!machine.is_null()).then_some(SpirvMachine(machine))
}

struct SpirvMachine(LLVMTargetMachineRef);

impl Drop for SpirvMachine {
    fn drop(&mut self) {
        // SAFETY: ours, and freed once.
        unsafe { llvm_sys::target_machine::LLVMDisposeTargetMachine(self.0) };
    }
}

// It is in `function_order.cpp`.
unsafe extern "C" {
    fn lockstep_move_function_last(function: LLVMValueRef);
}

unsafe extern "C" {
    fn LLVMInitializeSPIRVTargetInfo();
    fn LLVMInitializeSPIRVTarget();
    fn LLVMInitializeSPIRVTargetMC();
}

/// Puts a compiler fence on either side of each barrier.
///
/// Alias analysis believes that a call does not touch what a `restrict` argument points to. At a barrier other
/// work-items do touch it; a fence is what LLVM moves no access across. It costs no instruction.
fn fence_barriers(module: &Module<'_>) {
    let barriers: Vec<LLVMValueRef> = calls_in(module)
        .filter(|(_, call_instruction)| {
            called_function(*call_instruction).is_some_and(|function| function.get_name().to_bytes() == BARRIER)
        })
        .map(|(_, call_instruction)| raw_value(call_instruction))
        .collect();
    if barriers.is_empty() {
        return;
    }
    let context = module.get_context();
    // SAFETY: the builder is of the module's context; a call is never the last instruction of its block, so there is a
    // next one to stand before.
    unsafe {
        use inkwell::context::AsContextRef;
        let builder = LLVMCreateBuilderInContext(context.as_ctx_ref());
        for barrier in barriers {
            for position in [barrier, LLVMGetNextInstruction(barrier)] {
                LLVMPositionBuilderBefore(builder, position);
                let ordering = LLVMAtomicOrdering::LLVMAtomicOrderingSequentiallyConsistent;
                LLVMBuildFence(builder, ordering, 1, c"".as_ptr());
            }
        }
        LLVMDisposeBuilder(builder);
    }
}

/// Kernels stay visible; every other definition becomes private to the module. All code wants to be inlined, but that of the
/// functions that stay.
fn internalize_functions<'ctx>(module: &Module<'ctx>, staying_functions: &HashSet<FunctionValue<'ctx>>) {
    let context = module.get_context();
    let kind_of = Attribute::get_named_enum_kind_id;
    let (always_inline, no_inline, opt_none) = (kind_of("alwaysinline"), kind_of("noinline"), kind_of("optnone"));
    let [inlined, kept_apart] = [always_inline, no_inline].map(|kind| context.create_enum_attribute(kind, 0));
    for function in module.get_functions().filter(|function| function.count_basic_blocks() > 0) {
        function.remove_enum_attribute(AttributeLoc::Function, opt_none);
        // Kernels too: bitcode from elsewhere calls them directly.
        let stays = staying_functions.contains(&function);
        function.remove_enum_attribute(AttributeLoc::Function, if stays { always_inline } else { no_inline });
        function.add_attribute(AttributeLoc::Function, if stays { kept_apart } else { inlined });
        if !is_kernel(&function) {
            function.set_linkage(Linkage::Internal);
        }
    }
    for (_, call_instruction) in calls_in(module) {
        if let Ok(call_site) = CallSiteValue::try_from(call_instruction) {
            call_site.remove_enum_attribute(AttributeLoc::Function, no_inline);
        }
    }
    let global_space = AddressSpace::from(Space::Global.spir_number() as u16);
    for global in module.get_globals().filter(|global| !global.is_declaration()) {
        match global.get_linkage() {
            // It belongs to LLVM's own lists.
            Linkage::Appending => {}
            Linkage::Internal | Linkage::Private => global.set_linkage(Linkage::Internal),
            // The host finds these by their names, whether or not a kernel uses them.
            _ if global.as_pointer_value().get_type().get_address_space() == global_space => {
                global.set_linkage(Linkage::External);
            }
            _ => global.set_linkage(Linkage::Internal),
        }
    }
}

/// Runs the scalar passes: one pipeline over the module, or function by function where some are long, have many blocks or loops, or busy
/// variables.
fn simplify_functions(module: &Module<'_>) -> Result<(), FrontendError> {
    let functions: Vec<_> = module.get_functions().filter(|function| function.count_basic_blocks() > 0).collect();
    let is_usual = |&function: &FunctionValue<'_>| {
        late_passes(function) == LATE && !has_busy_variables(function) && list_lean_reasons(function).is_empty()
    };
    match functions.iter().all(is_usual) {
        true => run_pipeline(module, &format!("function({LATE})")),
        false => functions.into_iter().try_for_each(|function| simplify_function(module, function)),
    }
}

fn simplify_function<'ctx>(module: &Module<'ctx>, function: FunctionValue<'ctx>) -> Result<(), FrontendError> {
    let _flags = CodegenFlags::for_reasons(&list_lean_reasons(function));
    let pass_text = late_passes(function);
    match has_busy_variables(function) {
        true => run_with_hidden_variables(module, function, &pass_text),
        false => run_on_function(function, &pass_text),
    }
}

fn list_lean_reasons(function: FunctionValue<'_>) -> Vec<LeanReason> {
    let reasons =
        [(is_long(function), LeanReason::FarUses), (measure_loops(function).are_several(), LeanReason::LongSums)];
    reasons.into_iter().filter_map(|(holds, reason)| holds.then_some(reason)).collect()
}

/// Runs a pipeline over a function, `instcombine` while the function's busy variables are hidden.
fn run_with_hidden_variables<'ctx>(
    module: &Module<'ctx>,
    function: FunctionValue<'ctx>,
    pipeline: &str,
) -> Result<(), FrontendError> {
    let mut rest = pipeline;
    while let Some(start) = rest.find("instcombine<") {
        let (before, from_combining) = rest.split_at(start);
        let length = from_combining.find('>').map_or(from_combining.len(), |end| end + 1);
        let (combining, after) = from_combining.split_at(length);
        if !before.is_empty() {
            run_on_function(function, before.trim_end_matches(','))?;
        }
        let hiding = hide_busy_variables(module, function).map_err(|error| internal_error(&error.to_string()))?;
        run_on_function(function, combining)?;
        hiding.reveal_variables();
        rest = after.trim_start_matches(',');
    }
    run_on_function(function, rest)
}

fn is_long(function: FunctionValue<'_>) -> bool {
    function.get_basic_blocks().iter().map(|block| block.get_instructions().count()).sum::<usize>() > LONG_FUNCTION
}

/// The passes that a function of this size gets.
fn late_passes(function: FunctionValue<'_>) -> Cow<'static, str> {
    let loops = measure_loops(function);
    if loops.are_deep() || loops.keep_many_values() {
        LATE_IN_LINEAR_TIME.into()
    } else if loops.are_many() {
        LATE_FOR_MANY_LOOPS.into()
    } else if function.count_basic_blocks() > MANY_BLOCKS {
        LATE_FOR_MANY_BLOCKS.into()
    } else if loops.are_several() {
        with_rotation_first(LATE).into()
    } else {
        LATE.into()
    }
}

/// Runs a pipeline of function passes over one function.
fn run_on_function(function: FunctionValue<'_>, pipeline: &str) -> Result<(), FrontendError> {
    let pipeline_text = CString::new(pipeline).map_err(|error| internal_error(&error.to_string()))?;
    let options = PassOptions::new();
    // SAFETY: the function is alive and has a body; the text lives until the call returns.
    unsafe {
        super::llvm::check_error(llvm_sys::transforms::pass_builder::LLVMRunPassesOnFunction(
            function.as_value_ref_raw(),
            pipeline_text.as_ptr(),
            std::ptr::null_mut(),
            options.raw(),
        ))
    }
    .map_err(|error| internal_error(&error))
}

/// What the code that is left uses must be something the importer knows.
fn check_defined(module: &Module<'_>) -> Result<(), FrontendError> {
    // Overloads have one name for the user, and are one error.
    let mut errors: BTreeMap<String, String> = BTreeMap::new();
    for (caller, call_instruction) in calls_in(module) {
        let Some(function) = called_function(call_instruction).filter(|&function| is_undefined(function)) else {
            continue;
        };
        let (name, place) = (shown_name(function), describe_place(raw_value(call_instruction)));
        let caller = shown_name(caller);
        let error = || format!("{place}error: undefined function '{name}', called in '{caller}'\n");
        errors.entry(name.clone()).or_insert_with(error);
    }
    for function in module.get_functions().filter(|&function| is_undefined(function)) {
        if function.as_global_value().as_pointer_value().get_first_use().is_some() {
            let name = shown_name(function);
            errors.entry(name.clone()).or_insert_with(|| format!("error: undefined function '{name}'\n"));
        }
    }
    for global in module.get_globals() {
        let name = global.get_name().to_string_lossy();
        if name == "llvm.global_ctors" || name == "llvm.global_dtors" {
            let error = "error: program-scope objects with constructors or destructors are not supported\n";
            errors.insert(name.into_owned(), error.to_owned());
        } else if global.is_declaration() && global.as_pointer_value().get_first_use().is_some() {
            let error = format!("error: undefined variable '{}'\n", source_name(&name));
            errors.insert(name.into_owned(), error);
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(FrontendError::link_failure(errors.into_values().collect::<String>())) }
}

/// Whether a function is only declared, and not one that the importer knows.
fn is_undefined(function: FunctionValue<'_>) -> bool {
    let name = function.get_name().to_string_lossy();
    let is_known = name.starts_with("llvm.") || name.starts_with("__lockstep_") || name == "printf";
    function.count_basic_blocks() == 0 && !is_known
}

/// Where the source has an instruction, as clang's messages begin: `program.cl:3:12: `. Empty where the program does not tell.
pub(super) fn describe_place(instruction: LLVMValueRef) -> String {
    let mut length = 0;
    // SAFETY: the instruction is alive; the name is its module's, as long as it says.
    unsafe {
        let line = LLVMGetDebugLocLine(instruction);
        let file = LLVMGetDebugLocFilename(instruction, &raw mut length);
        if line == 0 || file.is_null() {
            return String::new();
        }
        let file = std::slice::from_raw_parts(file.cast::<u8>(), length as usize);
        format!("{}:{line}:{}: ", String::from_utf8_lossy(file), LLVMGetDebugLocColumn(instruction))
    }
}

/// No call may be left that the importer could not follow.
fn check_inlined<'ctx>(
    module: &Module<'ctx>,
    staying_functions: &HashSet<FunctionValue<'ctx>>,
) -> Result<(), FrontendError> {
    for (caller, call_instruction) in calls_in(module) {
        let reason = match called_function(call_instruction) {
            Some(function) if function.count_basic_blocks() == 0 || staying_functions.contains(&function) => continue,
            Some(function) => format!("the call of '{}' cannot be inlined", shown_name(function)),
            None if is_inline_assembly(call_instruction) => "inline assembly is not supported".to_owned(),
            None => "calls of variadic functions through pointers are not supported".to_owned(),
        };
        return Err(FrontendError::link_failure(format!("error: in '{}': {reason}\n", shown_name(caller))));
    }
    let may_be_left = |function: &FunctionValue<'ctx>| is_kernel(function) || staying_functions.contains(function);
    let left = module.get_functions().find(|function| function.count_basic_blocks() > 0 && !may_be_left(function));
    match left {
        Some(function) => {
            let name = shown_name(function);
            Err(FrontendError::link_failure(format!("error: the address of the function '{name}' is taken\n")))
        }
        None => Ok(()),
    }
}

/// Every call in the module with the function it is in.
pub(super) fn calls_in<'ctx>(
    module: &Module<'ctx>,
) -> impl Iterator<Item = (FunctionValue<'ctx>, InstructionValue<'ctx>)> {
    module.get_functions().flat_map(|function| {
        let instructions = function.get_basic_block_iter().flat_map(|block| block.get_instructions());
        let calls = instructions.filter(|instruction| instruction.get_opcode() == InstructionOpcode::Call);
        calls.map(move |call_instruction| (function, call_instruction))
    })
}

pub(super) fn called_function<'ctx>(call_instruction: InstructionValue<'ctx>) -> Option<FunctionValue<'ctx>> {
    CallSiteValue::try_from(call_instruction).ok()?.get_called_fn_value()
}

pub(super) fn is_inline_assembly(call_instruction: InstructionValue<'_>) -> bool {
    // SAFETY: the instruction is a call of a live module.
    unsafe {
        !llvm_sys::core::LLVMIsAInlineAsm(llvm_sys::core::LLVMGetCalledValue(raw_value(call_instruction))).is_null()
    }
}

pub(super) fn raw_value(instruction: InstructionValue<'_>) -> LLVMValueRef {
    use inkwell::values::AsValueRef;
    instruction.as_value_ref()
}

pub(super) trait RawFunction {
    fn as_value_ref_raw(&self) -> LLVMValueRef;
}

impl RawFunction for FunctionValue<'_> {
    fn as_value_ref_raw(&self) -> LLVMValueRef {
        use inkwell::values::AsValueRef;
        self.as_value_ref()
    }
}

pub(super) fn shown_name(function: FunctionValue<'_>) -> String {
    source_name(&function.get_name().to_string_lossy()).to_owned()
}

/// The name the user wrote: the identifier inside a mangled name, or the kernel behind clang's stub.
pub(crate) fn source_name(symbol_name: &str) -> &str {
    if let Some(kernel) = symbol_name.strip_prefix("__clang_ocl_kern_imp_") {
        return kernel;
    }
    let Some(name_rest) = symbol_name.strip_prefix("_Z") else { return symbol_name };
    let digit_count = name_rest.bytes().take_while(u8::is_ascii_digit).count();
    let Ok(length) = name_rest[..digit_count].parse::<usize>() else { return symbol_name };
    name_rest[digit_count..].get(..length).unwrap_or(symbol_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_several_loops_rotation_comes_before_deletion() {
        let pipeline = with_rotation_first(LATE);
        let [rotation, end, deletion] =
            ["loop-rotate", "licm<allowspeculation>)", "loop(loop-deletion)"].map(|pass| pipeline.find(pass));
        assert!(rotation.is_some() && rotation < end && end < deletion, "{pipeline}");
        assert_eq!(pipeline.matches("loop-deletion").count(), 1);
    }

    #[test]
    fn mangled_names_are_shown_as_written() {
        assert_eq!(source_name("_Z3sinf"), "sin");
        assert_eq!(source_name("_Z13get_global_idj"), "get_global_id");
        assert_eq!(source_name("__clang_ocl_kern_imp_add"), "add");
        for odd in ["main", "_Z", "_Z99999999999999999999x", "_Z9short", "_ZN1a1bE"] {
            assert_eq!(source_name(odd), odd);
        }
    }
}
