//! Compiles one SPIR-V module: its translation is LLVM's text, which LLVM reads without clang.

use rustc_hash::FxHashSet;

use inkwell::basic_block::BasicBlock;
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::core::{LLVMCreateMemoryBufferWithMemoryRange, LLVMDisposeMemoryBuffer};
use llvm_sys::ir_reader::LLVMParseIRInContext2;

use super::clang::{RecordedCompilation, compile_failure};
use super::link::{JoinedModule, bitcode_of, built_in_library, complete_program};
use super::llvm::{Diagnostics, raw_context, successors, take_message};
use super::spirv::{TextOptions, translate_module};
use super::{CompiledObject, FrontendConfig, FrontendError, LinkedProgram};
use crate::progress::begin_stage;
use crate::stage_times::Stopwatch;
use lockstep_protocol::build_options::{BuildOptions, InputLanguage, LanguageVersion};
use lockstep_protocol::spirv_module::SpecializationValue;

/// Compiles a SPIR-V module. Constants that `values` name have these in the place of their own.
pub fn compile_spirv(
    config: &FrontendConfig,
    module: &[u8],
    values: &[SpecializationValue],
    options: &BuildOptions,
) -> Result<RecordedCompilation, FrontendError> {
    let mut stopwatch = Stopwatch::start();
    let text = translate(config, module, values, options, &mut stopwatch)?;
    let context = Context::create();
    let diagnostics = Diagnostics::start_collecting(&context);
    let (module, log) = read_module(&context, &diagnostics, text)?;
    let object =
        CompiledObject { bitcode: bitcode_of(&module), options: object_options(options), is_library: false, log };
    stopwatch.end_stage("read_text");
    Ok(RecordedCompilation { object, read_files: Vec::new(), times: stopwatch.into_times() })
}

/// Makes a program of one SPIR-V module, as [`compile_spirv`] and [`super::link_program`] would. What the first has LLVM write and the
/// second has it read is left out, a fifth of the way to the linked module.
pub fn build_spirv(
    config: &FrontendConfig,
    module: &[u8],
    values: &[SpecializationValue],
    options: &BuildOptions,
) -> Result<LinkedProgram, FrontendError> {
    let mut stopwatch = Stopwatch::start();
    let text = translate(config, module, values, options, &mut stopwatch)?;
    let context = Context::create();
    let diagnostics = Diagnostics::start_collecting(&context);
    let (module, mut log) = read_module(&context, &diagnostics, text)?;
    stopwatch.end_stage("read_text");
    begin_stage("link", "");
    let joined = JoinedModule::of_one_object(&context, module, &object_options(options), options)?;
    let program = complete_program(&context, &diagnostics, joined, &built_in_library, stopwatch)?;
    log.push_str(&program.log);
    Ok(LinkedProgram { log, ..program })
}

/// A SPIR-V module as LLVM's text.
fn translate(
    config: &FrontendConfig,
    module: &[u8],
    values: &[SpecializationValue],
    options: &BuildOptions,
    stopwatch: &mut Stopwatch,
) -> Result<String, FrontendError> {
    begin_stage("spirv", "");
    let text_options = TextOptions {
        source_lines: config.source_lines || options.debug,
        divides_exactly: options.math.correctly_rounded_divide_sqrt,
    };
    let text = translate_module(module, values, text_options)
        .map_err(|error| compile_failure(&format!("error: {error}\n")))?;
    stopwatch.end_stage("spirv");
    Ok(text)
}

/// What LLVM reads of a module's text, and what it says of it. Whether the module keeps LLVM's other rules is asked of every object when it
/// is linked.
fn read_module<'ctx>(
    context: &'ctx Context,
    diagnostics: &Diagnostics<'_>,
    text: String,
) -> Result<(Module<'ctx>, String), FrontendError> {
    begin_stage("read_text", "");
    let module = read_text(context, text)
        .map_err(|error| compile_failure(&format!("error: SPIR-V: LLVM refuses the module: {error}\n")))?;
    module.get_functions().for_each(order_blocks);
    let log = diagnostics.take_messages().map_err(|errors| compile_failure(&errors))?;
    Ok((module, log))
}

/// The options of a module's object: modules may do all that the newest version of the language can.
fn object_options(options: &BuildOptions) -> BuildOptions {
    BuildOptions { input: InputLanguage::Spir, version: Some(LanguageVersion::Cl31), ..options.clone() }
}

/// Brings the blocks of a function into the order that clang gives them: each before what it leads to, but for loops, and the way for true
/// before that for false. Producers have orders of their own, and which of two arms stands first decides how they are joined.
fn order_blocks(function: FunctionValue<'_>) {
    let Some(entry) = function.get_first_basic_block() else { return };
    let mut met = FxHashSet::from_iter([entry]);
    let mut path = vec![(entry, successors(entry).collect::<Vec<_>>())];
    // The last block of all paths comes first.
    let mut following: Option<BasicBlock<'_>> = None;
    while let Some((block, unvisited)) = path.last_mut() {
        // What is met first comes last, so the way for false goes first.
        match unvisited.pop() {
            Some(successor) if met.insert(successor) => path.push((successor, successors(successor).collect())),
            Some(_) => {}
            None => {
                let block = *block;
                if let Some(following) = following {
                    // Both are blocks of the function.
                    _ = block.move_before(following);
                }
                following = Some(block);
                path.pop();
            }
        }
    }
    // Blocks that no path reaches have stayed where they were.
    if let Some(first) = function.get_first_basic_block().filter(|first| *first != entry) {
        _ = entry.move_before(first);
    }
}

/// Has LLVM read a module's text.
fn read_text(context: &Context, mut text: String) -> Result<Module<'_>, String> {
    let length = text.len();
    // LLVM finds the end of a text by the null behind it.
    text.push('\0');
    let (mut module, mut message) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the text outlives the buffer, which LLVM only borrows, and has a null behind the length that is told; the context is alive.
    let has_failed = unsafe {
        let buffer = LLVMCreateMemoryBufferWithMemoryRange(text.as_ptr().cast(), length, c"SPIR-V".as_ptr(), 1);
        let has_failed = LLVMParseIRInContext2(raw_context(context), buffer, &mut module, &mut message) != 0;
        LLVMDisposeMemoryBuffer(buffer);
        has_failed
    };
    if has_failed || module.is_null() {
        // SAFETY: where LLVM fails it gives a message, which is this function's to free.
        return Err(unsafe { take_message(message) });
    }
    // SAFETY: a module that LLVM has just made for us.
    Ok(unsafe { Module::new(module) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The blocks of a function of this body, in their order.
    fn order_of(body: &str) -> String {
        let context = Context::create();
        let text = format!("define void @f(i1 %c) {{\n{body}\n}}\n");
        let module = read_text(&context, text).expect("it is right");
        module.get_functions().for_each(order_blocks);
        module.verify().expect("it stays right");
        let function = module.get_function("f").expect("the function");
        let names = function.get_basic_blocks().into_iter();
        names.map(|block| block.get_name().to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_way_for_true_comes_first() {
        let text =
            "entry:\nbr i1 %c, label %then, label %else\nend:\nret void\nelse:\nbr label %end\nthen:\nbr label %end";
        assert_eq!(order_of(text), "entry then else end");
    }

    #[test]
    fn a_loop_comes_before_what_follows_it() {
        let text =
            "entry:\nbr label %head\nhead:\nbr i1 %c, label %body, label %exit\nexit:\nret void\nbody:\nbr label %head";
        assert_eq!(order_of(text), "entry head body exit");
    }

    #[test]
    fn the_first_block_stays_first_whatever_no_path_reaches() {
        let text = "entry:\nbr label %exit\nlost:\nbr label %exit\nexit:\nret void";
        assert!(order_of(text).starts_with("entry "), "{}", order_of(text));
    }
}
