//! LLVM's optimiser and code generator over a module for the host.
//!
//! Requires: a module whose functions follow the host's calling conventions and call only what [`super::Symbols`] has.
//!
//! Ensures: loops are not vectorized and straight-line code is not packed: lanes are chosen by our own passes, and what
//! LLVM would add on top of them costs time and undoes their layout. Loops are unrolled where LLVM finds it worth it.

use inkwell::attributes::AttributeLoc;
use inkwell::module::Module;
use llvm_sys::core::{
    LLVMCloneModule, LLVMDisposeMemoryBuffer, LLVMDisposeModule, LLVMGetBufferSize, LLVMGetBufferStart,
};
use llvm_sys::prelude::LLVMModuleRef;
use llvm_sys::target_machine::{LLVMCodeGenFileType, LLVMTargetMachineEmitToMemoryBuffer};
use lockstep_protocol::compile_options::Tier;

use super::codegen_flags::{CodegenFlags, LeanReason};
use super::constants_in_memory::load_constants;
use super::deinterleave3::choose_thirds;
use super::error::MachineCodeError;
use super::hidden_freezes::hide_freezes;
use super::host::HostMachine;
use super::long_blocks::split_long_blocks;
use super::long_switches::share_through_memory;
use super::opt_level::OptLevel;
use super::single_lane_stores::split_single_lane_stores;
use super::store_to_load_forwarding::keep_rows;
use super::wide_arms::run_arms_in_pieces;
use crate::frontend::llvm::{Diagnostics, PassOptions, run_passes, take_message};
use crate::frontend::loop_extent::measure_loops;
use crate::frontend::simplify_llvm::with_branches_as_they_are;

/// Optimises the module in place.
pub fn optimize(module: &Module<'_>, machine: &HostMachine) -> Result<(), MachineCodeError> {
    machine.adopt_module(module);
    annotate(module, machine);
    module.verify().map_err(|error| MachineCodeError::Optimize(error.to_string()))?;
    let options = PassOptions::new();
    let run_pipeline = |pipeline: &str| {
        // SAFETY: module and machine are alive.
        let passes = || unsafe { run_passes(module.as_mut_ptr(), pipeline, machine.as_raw(), &options) };
        guarded(module, passes).map_err(MachineCodeError::Optimize)
    };
    let run_hiding = |pipeline: &str| {
        let hidden_freezes = hide_freezes(module).map_err(|error| MachineCodeError::Optimize(error.to_string()))?;
        let outcome = run_pipeline(pipeline);
        hidden_freezes.reveal_freezes(module);
        outcome
    };
    let outcome = match (machine.opt_level(), instructions(module)) {
        (OptLevel::None, _) => run_pipeline("always-inline"),
        (OptLevel::Less, _) => run_pipeline(BASELINE),
        _ if has_many_loops(module) => run_hiding(&with_branches_as_they_are(LEANEST)),
        (opt_level, ..=LONG) => {
            let [simplify, late_passes] = pipelines(opt_level);
            run_pipeline(&simplify)?;
            if keep_rows(module) {
                run_pipeline(TIDY)?;
            }
            run_pipeline(&late_passes)
        }
        (_, ..=LARGE) => run_pipeline(ONCE),
        _ if module.get_functions().any(|function| function.count_basic_blocks() > MANY_BLOCKS) => run_hiding(LEANEST),
        _ => run_hiding(LEAN),
    };
    if machine.target().permutes {
        choose_thirds(module);
    }
    split_single_lane_stores(module);
    if machine.opt_level() == OptLevel::Less {
        let registers = machine.target().register_bits;
        run_arms_in_pieces(module, registers).map_err(|error| MachineCodeError::Optimize(error.to_string()))?;
    }
    outcome
}

/// The passes for code that is wanted at once: what widening leaves to be simplified, so that less of it reaches code generation, which
/// takes most of the time.
const BASELINE: &str = "always-inline,function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg<keep-loops>,\
    instcombine<no-verify-fixpoint;max-iterations=1>,loop-mssa(licm<allowspeculation>),adce)";

/// The passes behind [`keep_rows`].
const TIDY: &str = "function(early-cse,instcombine<no-verify-fixpoint>,adce)";

/// Instructions of a module up to which it gets all of LLVM's passes. They combine instructions eight times and look at
/// every loop for ways to unroll it, which takes most of the time and changes long code little.
const LONG: usize = 1200;

/// The passes for long modules, each about once. The kernel was cleaned up as a whole before it came here, so what is
/// left is what widening made. Vectors of places that nothing needs, as all accesses compute theirs where an index wraps, go
/// before common expressions could lead to them from there.
const ONCE: &str = "always-inline,function(dce,sroa<modify-cfg>,early-cse<memssa>,simplifycfg<keep-loops>,\
    instcombine<no-verify-fixpoint;max-iterations=1>,loop-mssa(licm<allowspeculation>),gvn,dse,\
    loop-mssa(licm<allowspeculation>),simplifycfg<keep-loops>,instsimplify,adce)";

/// Instructions of a module from which on even combining them once takes longer than it saves in code generation.
const LARGE: usize = 4000;

/// The passes for large modules: those whose time grows with the code, and little.
const LEAN: &str = "always-inline,function(dce,sroa<modify-cfg>,simplifycfg<keep-loops>,early-cse<memssa>,instsimplify,\
    loop-mssa(licm<allowspeculation>),simplifycfg<keep-loops>,adce)";

/// Blocks of a function from which on LLVM's `licm` takes longer than all else: each store that it moves walks over them.
const MANY_BLOCKS: u32 = 4000;

/// The passes for large modules with functions of many blocks, and for functions of many loops: where these lie in each other, `licm`
/// makes a φ for each value and each loop around it.
const LEANEST: &str = "always-inline,function(dce,sroa<modify-cfg>,simplifycfg<keep-loops>,early-cse<memssa>,instsimplify,\
    simplifycfg<keep-loops>,adce)";

/// Whether a function has so many loops that some passes take the square of their number.
fn has_many_loops(module: &Module<'_>) -> bool {
    module.get_functions().any(|function| measure_loops(function).are_many())
}

/// How much of LLVM's time a module is worth in a tier: beyond what its passes take, the last level spends a tenth of code
/// generation on registers. Long modules get passes that each run once in either tier, and loops that lie deep in each other none,
/// unless gangs run them: all values of a gang would lie on the stack.
pub fn worthwhile(module: &Module<'_>, tier: Tier, is_widened: bool) -> OptLevel {
    if !is_widened && module.get_functions().any(|function| measure_loops(function).are_deep()) {
        return OptLevel::None;
    }
    match (tier, instructions(module)) {
        (Tier::Baseline, ..=LONG) => OptLevel::Less,
        (Tier::Optimized, ..=LONG) => OptLevel::Aggressive,
        (_, _) => OptLevel::Default,
    }
}

/// Whether making a module's code takes so long that nothing is made of it only to be measured.
pub fn is_large(module: &Module<'_>) -> bool {
    instructions(module) > LARGE
}

fn instructions(module: &Module<'_>) -> usize {
    let blocks = module.get_functions().flat_map(|function| function.get_basic_blocks());
    blocks.map(|block| block.get_instructions().count()).sum()
}

/// The passes in order, in front of [`keep_rows`] and behind it.
///
/// They are LLVM's O2 and O3 written out. `default<O2>` will not do: LLVM 22 runs the vectorizers there even when they
/// are switched off through `LLVMPassBuilderOptions`.
fn pipelines(opt_level: OptLevel) -> [String; 2] {
    const SIMPLIFY: &str = "simplifycfg<switch-range-to-icmp;keep-loops>";
    const COMBINE: &str = "instcombine<no-verify-fixpoint>";
    let (unroll, unswitch) = match opt_level {
        OptLevel::None | OptLevel::Less | OptLevel::Default => {
            ("loop-unroll<O2>", "simple-loop-unswitch<no-nontrivial;trivial>")
        }
        OptLevel::Aggressive => ("loop-unroll<O3>", "simple-loop-unswitch<nontrivial;trivial>"),
    };
    let early_passes = "lower-expect,dce,simplifycfg<keep-loops>,sroa<modify-cfg>,early-cse";
    let simplify = [
        "sroa<modify-cfg>,early-cse<memssa>,jump-threading,correlated-propagation",
        SIMPLIFY,
        COMBINE,
        "aggressive-instcombine",
        SIMPLIFY,
        "reassociate,constraint-elimination",
        &format!(
            "loop-mssa(loop-instsimplify,loop-simplifycfg,licm<no-allowspeculation>,\
             loop-rotate<header-duplication;no-prepare-for-lto>,licm<allowspeculation>,{unswitch})"
        ),
        SIMPLIFY,
        COMBINE,
        "loop(loop-idiom,indvars,loop-deletion,loop-unroll-full),sroa<modify-cfg>",
        "vector-combine,mldst-motion<no-split-footer-bb>,gvn,sccp,bdce",
        COMBINE,
        "jump-threading,correlated-propagation,adce,memcpyopt,dse,loop-mssa(licm<allowspeculation>)",
        "simplifycfg<switch-range-to-icmp;switch-to-arithmetic;keep-loops;hoist-common-insts;sink-common-insts>",
        COMBINE,
    ]
    .join(",");
    let late_passes = [
        "float2int,lower-constant-intrinsics,loop(loop-rotate<header-duplication;no-prepare-for-lto>,loop-deletion)",
        "infer-alignment,loop-load-elim",
        COMBINE,
        "simplifycfg<forward-switch-cond;switch-range-to-icmp;switch-to-arithmetic;switch-to-lookup;no-keep-loops;\
         hoist-common-insts;sink-common-insts>",
        "vector-combine",
        COMBINE,
        unroll,
        "sroa<preserve-cfg>,infer-alignment",
        COMBINE,
        "loop-mssa(licm<allowspeculation>),alignment-from-assumptions,loop-sink,instsimplify,div-rem-pairs",
        "simplifycfg<switch-range-to-icmp;switch-to-arithmetic;keep-loops;speculate-unpredictables>",
    ]
    .join(",");
    let simplify = format!(
        "inferattrs,function({early_passes}),globalopt,always-inline,cgscc(inline,function-attrs,function({simplify})),globaldce"
    );
    [simplify, format!("function({late_passes}),globaldce,constmerge")]
}

/// An object file, and what its functions take of the stack.
pub struct ObjectFile {
    /// The bytes of the file, in ELF form.
    pub bytes: Vec<u8>,
    /// Frames of more bytes than the functions' attributes `warn-stack-size` say.
    pub frames: StackFrames,
}

/// Bytes of stack frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StackFrames {
    /// The largest one.
    pub largest: u64,
    /// All of them, as if each function called the next one.
    pub total: u64,
}

impl StackFrames {
    /// Reads what LLVM has said of each frame.
    fn from_messages(messages: &str) -> StackFrames {
        let mut frames = StackFrames::default();
        let sizes = messages.split("stack frame size (").skip(1).map(|rest| rest.split(')').next().unwrap_or_default());
        for size in sizes.filter_map(|size| size.parse::<u64>().ok()) {
            frames.largest = frames.largest.max(size);
            frames.total += size;
        }
        frames
    }
}

/// Makes an object file. The module is spent afterwards: code generation rewrites it.
pub fn emit_object(module: &Module<'_>, machine: &HostMachine) -> Result<ObjectFile, MachineCodeError> {
    let has_many_instructions = is_large(module);
    if has_many_instructions && machine.target().masks_of_bytes {
        load_constants(module).map_err(|error| MachineCodeError::Emit(error.to_string()))?;
    }
    let has_long_switches = share_through_memory(module).map_err(|error| MachineCodeError::Emit(error.to_string()))?;
    let has_long_blocks = split_long_blocks(module).map_err(|error| MachineCodeError::Emit(error.to_string()))?;
    let reasons = [
        (has_long_blocks, LeanReason::LongBlocks),
        (has_many_instructions, LeanReason::ManyInstructions),
        (has_long_switches, LeanReason::LongSwitches),
        (has_many_loops(module), LeanReason::ManyLoops),
        (machine.opt_level() == OptLevel::Less, LeanReason::WantedAtOnce),
    ];
    let reasons: Vec<_> = reasons.into_iter().filter_map(|(holds, reason)| holds.then_some(reason)).collect();
    let _flags = CodegenFlags::for_reasons(&reasons);
    let diagnostics = Diagnostics::start_collecting(module.get_context());
    let bytes =
        emit(module.as_mut_ptr(), machine, LLVMCodeGenFileType::LLVMObjectFile).map_err(MachineCodeError::Emit)?;
    let messages = diagnostics.take_messages().map_err(MachineCodeError::Emit)?;
    Ok(ObjectFile { bytes, frames: StackFrames::from_messages(&messages) })
}

/// The module as assembly text. The module stays as it is.
pub fn assembly_text(module: &Module<'_>, machine: &HostMachine) -> Result<String, MachineCodeError> {
    let bytes = guarded(module, || emit_assembly(module, machine)).map_err(MachineCodeError::Emit)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Emits a copy of the module, as assembly.
fn emit_assembly(module: &Module<'_>, machine: &HostMachine) -> Result<Vec<u8>, String> {
    // SAFETY: the module is alive; the copy is ours and freed once.
    unsafe {
        let module_copy = LLVMCloneModule(module.as_mut_ptr());
        let _flags = CodegenFlags::for_reasons(&[]);
        let result = emit(module_copy, machine, LLVMCodeGenFileType::LLVMAssemblyFile);
        LLVMDisposeModule(module_copy);
        result
    }
}

/// The module as LLVM's text.
pub fn ir_text(module: &Module<'_>) -> String {
    module.print_to_string().to_string()
}

/// What holds for every function of generated code. Nothing unwinds through it, so no unwind tables are made, which
/// would have to be registered with the process under one lock.
fn annotate(module: &Module<'_>, machine: &HostMachine) {
    let context = module.get_context();
    let kind_id = inkwell::attributes::Attribute::get_named_enum_kind_id;
    let no_unwind = context.create_enum_attribute(kind_id("nounwind"), 0);
    let tuning = context.create_string_attribute("tune-cpu", &machine.tuning_model());
    for function in module.get_functions().filter(|function| function.count_basic_blocks() > 0) {
        function.remove_enum_attribute(AttributeLoc::Function, kind_id("uwtable"));
        function.add_attribute(AttributeLoc::Function, no_unwind);
        function.add_attribute(AttributeLoc::Function, tuning);
    }
}

fn emit(module: LLVMModuleRef, machine: &HostMachine, file_type: LLVMCodeGenFileType) -> Result<Vec<u8>, String> {
    let mut message = std::ptr::null_mut();
    let mut buffer = std::ptr::null_mut();
    // SAFETY: module and machine are alive; message and buffer are ours to free.
    unsafe {
        if LLVMTargetMachineEmitToMemoryBuffer(machine.as_raw(), module, file_type, &mut message, &mut buffer) != 0 {
            return Err(take_message(message));
        }
        let buffer_start = LLVMGetBufferStart(buffer).cast::<u8>();
        let bytes = std::slice::from_raw_parts(buffer_start, LLVMGetBufferSize(buffer)).to_vec();
        LLVMDisposeMemoryBuffer(buffer);
        Ok(bytes)
    }
}

/// Runs LLVM with its error messages caught: unhandled ones would end the process.
fn guarded<T>(module: &Module<'_>, action: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let context = module.get_context();
    let diagnostics = Diagnostics::start_collecting(context);
    let result = action()?;
    diagnostics.take_messages()?;
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    /// So many loops, one in the other.
    fn nested_loops(depth: usize) -> String {
        let heads = (0..depth).map(|level| format!("h{level}: br label %h{}\n", level + 1));
        let latches = (0..depth).rev().map(|level| {
            let next = level.checked_sub(1).map_or("exit".to_owned(), |outer| format!("l{outer}"));
            format!("l{level}: br i1 %c, label %h{level}, label %{next}\n")
        });
        let body = format!("h{depth}: br label %l{}\n", depth - 1);
        let blocks: String = heads.chain([body]).chain(latches).collect();
        format!("define void @f(i1 %c) {{\nentry: br label %h0\n{blocks}exit: ret void\n}}\n")
    }

    fn choose_level(text: &str, tier: Tier, is_widened: bool) -> OptLevel {
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
        worthwhile(&context.create_module_from_ir(buffer).unwrap(), tier, is_widened)
    }

    #[test]
    fn loops_deep_in_each_other_are_not_worth_llvms_time() {
        let (few, many) = (nested_loops(150), nested_loops(250));
        assert_eq!(choose_level(&few, Tier::Optimized, false), OptLevel::Aggressive);
        assert_eq!(choose_level(&few, Tier::Baseline, false), OptLevel::Less);
        for tier in [Tier::Baseline, Tier::Optimized] {
            assert_eq!(choose_level(&many, tier, false), OptLevel::None);
        }
        assert_eq!(choose_level(&many, Tier::Optimized, true), OptLevel::Aggressive, "gangs keep their registers");
    }
}
