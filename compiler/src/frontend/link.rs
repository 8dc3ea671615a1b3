//! Joins objects into a program and adds what it uses of the built-in library.
//!
//! The library comes in chapters, modules that need nothing of each other; only those that define a name the program
//! calls are opened. Their definitions are all `linkonce_odr` and the module is read lazily, so LLVM's linker reads the
//! bodies of those functions only that the program reaches. What is then still undefined is an error that names the
//! function.

use std::collections::BTreeSet;

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use llvm_sys::bit_reader::{LLVMGetBitcodeModuleInContext2, LLVMParseBitcodeInContext2};
use llvm_sys::core::{LLVMCreateMemoryBufferWithMemoryRange, LLVMDisposeMemoryBuffer};
use llvm_sys::linker::LLVMLinkModules2;
use llvm_sys::prelude::{LLVMMemoryBufferRef, LLVMModuleRef};

use super::llvm::{Diagnostics, raw_context};
use super::sub_group_size::required_size;
use super::{CompiledObject, FrontendError, LinkedProgram, images, simplify_llvm};
use crate::machine_code::host_target;
use crate::progress::begin_stage;
use crate::stage_times::Stopwatch;
use lockstep_protocol::build_options::BuildOptions;

/// Finds the chapter of the library that defines a symbol; the flag says whether kernels of the program ask for the size of
/// their sub-groups.
pub type LibraryLookup<'a> = &'a dyn Fn(&str, bool) -> Option<&'static [u8]>;

/// The built-in library.
pub fn built_in_library(symbol_name: &str, has_sizes: bool) -> Option<&'static [u8]> {
    let chapter = lockstep_kernels::chapter_of(symbol_name)?;
    let chapter = if has_sizes { chapter.for_any_sub_group_size() } else { chapter };
    let has_tables = host_target(None).permutes;
    Some(if has_tables { chapter.for_tables() } else { chapter }.bitcode)
}

/// Links objects into a program whose kernels can run.
pub fn link_program(objects: &[&CompiledObject], options: &BuildOptions) -> Result<LinkedProgram, FrontendError> {
    link_with(objects, options, &built_in_library)
}

/// The same with a library of the caller's choice.
pub fn link_with(
    objects: &[&CompiledObject],
    options: &BuildOptions,
    library: LibraryLookup<'_>,
) -> Result<LinkedProgram, FrontendError> {
    let stopwatch = Stopwatch::start();
    begin_stage("link", "");
    let context = Context::create();
    let diagnostics = Diagnostics::start_collecting(&context);
    let module = join_modules(&context, &diagnostics, objects)?;
    let object_options = objects.iter().map(|object| &object.options);
    let joined = JoinedModule { module, options: merge_options(object_options, options) };
    complete_program(&context, &diagnostics, joined, library, stopwatch)
}

/// The module of all objects of a program.
pub(super) struct JoinedModule<'ctx> {
    /// The module, which is verified and has no opaque types.
    pub module: Module<'ctx>,
    /// What holds for the program.
    pub options: BuildOptions,
}

impl<'ctx> JoinedModule<'ctx> {
    /// That of a program of one object, which is not verified yet.
    ///
    /// # Errors
    /// When the module breaks a rule of LLVM's.
    pub(super) fn of_one_object(
        context: &'ctx Context,
        module: Module<'ctx>,
        object_options: &BuildOptions,
        options: &BuildOptions,
    ) -> Result<Self, FrontendError> {
        let module = images::lower_opaque_types(context, verify_module(module)?)?;
        Ok(Self { module, options: merge_options(std::iter::once(object_options), options) })
    }
}

/// Adds what a program uses of the library, and cleans up.
pub(super) fn complete_program(
    context: &Context,
    diagnostics: &Diagnostics<'_>,
    JoinedModule { module, options }: JoinedModule<'_>,
    library: LibraryLookup<'_>,
    mut stopwatch: Stopwatch,
) -> Result<LinkedProgram, FrontendError> {
    add_library(context, diagnostics, &module, library)?;
    stopwatch.end_stage("link");
    begin_stage("clean_up", "");
    let cleanup_level = if options.opt_disable { simplify_llvm::Level::Minimal } else { simplify_llvm::Level::Full };
    simplify_llvm::clean_up(&module, cleanup_level)?;
    let link_log = diagnostics.take_messages().map_err(FrontendError::link_failure)?;
    let bitcode = bitcode_of(&module);
    stopwatch.end_stage("clean_up");
    Ok(LinkedProgram { bitcode, options, log: link_log, times: stopwatch.into_times() })
}

/// Links objects into a library (`-create-library`): names may stay undefined, and nothing is thrown away.
pub fn link_library(objects: &[&CompiledObject], options: &BuildOptions) -> Result<CompiledObject, FrontendError> {
    let context = Context::create();
    let diagnostics = Diagnostics::start_collecting(&context);
    let module = join_modules(&context, &diagnostics, objects)?;
    let link_log = diagnostics.take_messages().map_err(FrontendError::link_failure)?;
    Ok(CompiledObject {
        bitcode: bitcode_of(&module),
        options: merge_options(objects.iter().map(|object| &object.options), options),
        is_library: true,
        log: link_log,
    })
}

/// Reads a linked program as an LLVM module for the importer.
pub fn prepare_module<'ctx>(context: &'ctx Context, program: &LinkedProgram) -> Result<Module<'ctx>, FrontendError> {
    let diagnostics = Diagnostics::start_collecting(context);
    parse_module(context, &diagnostics, &program.bitcode)
}

/// The same of a program that was prepared before, without looking for mistakes in it. Functions' bodies are read when they are asked for:
/// who makes code of one kernel of many reads one.
pub fn read_module_lazily<'a>(context: &'a Context, program: &'a LinkedProgram) -> Result<Module<'a>, FrontendError> {
    let diagnostics = Diagnostics::start_collecting(context);
    // SAFETY: the program's bytes live as long as the module, to which the buffer belongs from here on.
    take_module(&diagnostics, |module| unsafe {
        LLVMGetBitcodeModuleInContext2(raw_context(context), memory_buffer(&program.bitcode), module) != 0
    })
}

/// What holds for the program: the linker's options and whatever every object was compiled with.
fn merge_options<'a>(objects: impl Iterator<Item = &'a BuildOptions> + Clone, options: &BuildOptions) -> BuildOptions {
    let mut merged_options = options.clone();
    merged_options.opt_disable |= objects.clone().any(|object| object.opt_disable);
    merged_options.debug |= objects.clone().any(|object| object.debug);
    merged_options.math.denorms_are_zero |= objects.clone().all(|object| object.math.denorms_are_zero);
    // "If the program was created using clLinkProgram, then all input programs must support non-uniform work-groups"
    // (5.9): the oldest language version and the strictest option hold.
    merged_options.uniform_work_group_size |= objects.clone().any(|object| object.uniform_work_group_size);
    merged_options.version = objects.map(BuildOptions::language_version).min();
    merged_options
}

fn join_modules<'ctx>(
    context: &'ctx Context,
    diagnostics: &Diagnostics<'_>,
    objects: &[&CompiledObject],
) -> Result<Module<'ctx>, FrontendError> {
    let (first_object, other_objects) =
        objects.split_first().ok_or_else(|| FrontendError::link_failure("error: nothing to link\n"))?;
    let module = images::lower_opaque_types(context, parse_module(context, diagnostics, &first_object.bitcode)?)?;
    for object in other_objects {
        let other_module = images::lower_opaque_types(context, parse_module(context, diagnostics, &object.bitcode)?)?;
        let module_ref = other_module.as_mut_ptr();
        std::mem::forget(other_module);
        // SAFETY: both modules are of this context; the linker consumes the second one, which nobody else owns now.
        let has_failed = unsafe { LLVMLinkModules2(module.as_mut_ptr(), module_ref) } != 0;
        let diagnostics_text = diagnostics.take_messages();
        if has_failed || diagnostics_text.is_err() {
            let (Ok(text) | Err(text)) = diagnostics_text;
            return Err(FrontendError::link_failure(text));
        }
    }
    Ok(module)
}

fn add_library(
    context: &Context,
    diagnostics: &Diagnostics<'_>,
    module: &Module<'_>,
    library: LibraryLookup<'_>,
) -> Result<(), FrontendError> {
    // Of a chapter only what is asked for becomes part of the module, and that may ask for more.
    let mut asked_for: BTreeSet<String> = BTreeSet::new();
    let has_sizes = module.get_functions().any(|function| required_size(function).is_some());
    loop {
        let undefined = module.get_functions().filter(|function| function.count_basic_blocks() == 0);
        let needed_names: Vec<String> =
            undefined.map(|function| function.get_name().to_string_lossy().into_owned()).collect();
        // By address, because a chapter is one piece of static data; the order does not matter.
        let chapters: BTreeSet<(*const u8, usize)> = needed_names
            .into_iter()
            .filter_map(|name| Some((library(&name, has_sizes)?, name)))
            .filter_map(|(chapter, name)| asked_for.insert(name).then_some((chapter.as_ptr(), chapter.len())))
            .collect();
        if chapters.is_empty() {
            return Ok(());
        }
        for chapter in chapters {
            link_chapter(context, diagnostics, module, chapter)?;
        }
    }
}

fn link_chapter(
    context: &Context,
    diagnostics: &Diagnostics<'_>,
    module: &Module<'_>,
    (bitcode_start, length): (*const u8, usize),
) -> Result<(), FrontendError> {
    // SAFETY: the parts of a static slice.
    let chapter: &'static [u8] = unsafe { std::slice::from_raw_parts(bitcode_start, length) };
    let mut source: LLVMModuleRef = std::ptr::null_mut();
    // SAFETY: the bytes are static, as the lazily read module and its buffer need. The reader owns the buffer from
    // here on; the linker consumes the module.
    let has_failed = unsafe {
        LLVMGetBitcodeModuleInContext2(raw_context(context), memory_buffer(chapter), &mut source) != 0
            || LLVMLinkModules2(module.as_mut_ptr(), source) != 0
    };
    match diagnostics.take_messages() {
        Ok(_) if !has_failed => Ok(()),
        Ok(text) | Err(text) => {
            Err(FrontendError::link_failure(format!("{text}error: the built-in library does not link\n")))
        }
    }
}

/// Reads and verifies a module: nothing that could crash a later pass gets through.
fn parse_module<'ctx>(
    context: &'ctx Context,
    diagnostics: &Diagnostics<'_>,
    bitcode: &[u8],
) -> Result<Module<'ctx>, FrontendError> {
    verify_module(read_bitcode(context, diagnostics, bitcode)?)
}

/// The module, if it keeps LLVM's rules.
fn verify_module(module: Module<'_>) -> Result<Module<'_>, FrontendError> {
    match module.verify() {
        Ok(()) => Ok(module),
        Err(error) => Err(FrontendError::link_failure(format!("error: broken module: {}\n", error.to_string()))),
    }
}

fn read_bitcode<'ctx>(
    context: &'ctx Context,
    diagnostics: &Diagnostics<'_>,
    bitcode: &[u8],
) -> Result<Module<'ctx>, FrontendError> {
    // SAFETY: the reader copies what it needs while the bytes are borrowed; the buffer object is freed afterwards.
    take_module(diagnostics, |module| unsafe {
        let buffer = memory_buffer(bitcode);
        let has_failed = LLVMParseBitcodeInContext2(raw_context(context), buffer, module) != 0;
        LLVMDisposeMemoryBuffer(buffer);
        has_failed
    })
}

/// Takes over the module that a reader of LLVM's makes, which answers whether it failed.
fn take_module<'ctx>(
    diagnostics: &Diagnostics<'_>,
    read: impl FnOnce(&mut LLVMModuleRef) -> bool,
) -> Result<Module<'ctx>, FrontendError> {
    let mut module_ref: LLVMModuleRef = std::ptr::null_mut();
    let has_failed = read(&mut module_ref);
    let diagnostics_text = diagnostics.take_messages();
    if has_failed || module_ref.is_null() {
        let (Ok(text) | Err(text)) = diagnostics_text;
        return Err(FrontendError::link_failure(format!("{text}error: the program is not LLVM bitcode\n")));
    }
    // SAFETY: a module that the reader has just made for us.
    Ok(unsafe { Module::new(module_ref) })
}

/// The bytes as LLVM wants them, without a copy.
///
/// # Safety
/// The bytes must live as long as the buffer.
unsafe fn memory_buffer(bytes: &[u8]) -> LLVMMemoryBufferRef {
    // SAFETY: pointer and length belong together, and no terminator is asked for.
    unsafe { LLVMCreateMemoryBufferWithMemoryRange(bytes.as_ptr().cast(), bytes.len(), c"program".as_ptr(), 0) }
}

/// A module as bitcode.
pub(super) fn bitcode_of(module: &Module<'_>) -> Vec<u8> {
    let buffer: MemoryBuffer<'_> = module.write_bitcode_to_memory();
    buffer.as_slice().to_vec()
}
