//! Compiling and linking, unless that was done before and the result is in the cache.

use lockstep_protocol::build_failure::FrontendError;
use lockstep_protocol::build_options::{BuildOptions, Macro};
use lockstep_protocol::job::{BuiltObject, BuiltProgram, Objects, ReadFile, SourceFiles};
use lockstep_protocol::portable_program::{CompiledObject, LinkedProgram};
use lockstep_protocol::program_metadata::Outline;
use serde::{Deserialize, Serialize};

use super::inputs::Inputs;
use crate::cache::key::{Key, KeyBuilder};
use crate::cache::{Cache, process_cache};
use crate::compiler_process;

type Result<T> = std::result::Result<T, FrontendError>;

/// A linked program.
pub(super) struct Linked {
    pub linked: LinkedProgram,
    pub outline: Outline,
    /// What compiler and linker said.
    pub log: String,
}

/// What the cache keeps of a compilation.
#[derive(Serialize, Deserialize)]
struct Kept<T> {
    inputs: Inputs,
    log: String,
    value: T,
}

/// Where the result of a compilation is kept.
struct Place {
    cache: &'static Cache,
    key: Key,
}

/// Everything but files decides about the key; the entry itself knows the files.
fn cache_place(source: &SourceFiles, object_kind: &str) -> Option<Place> {
    let program_cache = process_cache()?;
    let key_builder = KeyBuilder::new(object_kind)
        .add_text(&format!("{} {}", source.source_lines, source.reads_files))
        .add_text(&format!("{:?}", source.options.stage))
        .add_text(&source.options.text)
        .add_bytes(&source.source);
    let key_builder = match &source.specialization {
        None => key_builder,
        Some(values) => values.iter().fold(key_builder.add_text("SPIR-V"), |key_builder, value| {
            key_builder.add_text(&value.id.to_string()).add_bytes(&value.bytes)
        }),
    };
    let key_builder = source
        .headers
        .iter()
        .fold(key_builder, |key_builder, header| key_builder.add_text(&header.name).add_bytes(&header.source));
    Some(Place { cache: program_cache, key: key_builder.into_key() })
}

/// The program's text, what its macros stand for and its headers. A SPIR-V module is no text.
fn all_texts(source: &SourceFiles) -> impl Iterator<Item = &[u8]> {
    let text = source.specialization.is_none().then_some(&*source.source);
    // Macros as they come out of their quotes.
    let macros = source.options.macros.iter().map(|change| match change {
        Macro::Define(text) | Macro::Undefine(text) => text.as_bytes(),
    });
    text.into_iter().chain(macros).chain(source.headers.iter().map(|header| &*header.source))
}

/// What was made of a source, and the files that were read for it.
struct Made<T> {
    value: T,
    log: String,
    read_files: Vec<ReadFile>,
}

/// What the cache has of a source; or else what the compiler makes of it, to be kept there. With it comes what the compiler
/// said.
fn keep_or_make<T>(
    source: SourceFiles,
    object_kind: &str,
    make_value: impl FnOnce(SourceFiles) -> Result<Made<T>>,
) -> Result<(T, String)>
where
    T: Serialize + for<'de> Deserialize<'de>,
{
    let Some(Place { cache, key }) = cache_place(&source, object_kind) else {
        let Made { value, log, .. } = make_value(source)?;
        return Ok((value, log));
    };
    let kept_before: Option<Kept<T>> = cache.get(&key);
    if let Some(Kept { log, value, .. }) = kept_before.filter(|kept_value| kept_value.inputs.are_unchanged()) {
        return Ok((value, log));
    }
    let Made { value, log, read_files } = make_value(source.clone())?;
    let inputs = Inputs::record_inputs(read_files, &source.options.include_dirs, all_texts(&source));
    let Some(inputs) = inputs else { return Ok((value, log)) };
    let kept_value = Kept { inputs, log, value };
    cache.put(&key, &kept_value);
    Ok((kept_value.value, kept_value.log))
}

/// The object of a source, and what the compiler said.
pub(super) fn compile_object(source: SourceFiles) -> Result<(CompiledObject, String)> {
    keep_or_make(source, "object", |source| {
        let BuiltObject { object, log, read_files } = compiler_process::compile_source(source)?;
        Ok(Made { value: object, log, read_files })
    })
}

/// The program that is made of one source.
pub(super) fn compile_program(source: SourceFiles) -> Result<Linked> {
    let ((linked, outline), log) = keep_or_make(source, "program", |source| {
        let BuiltProgram { linked, outline, log, read_files } = compiler_process::build_program(source)?;
        Ok(Made { value: (linked, outline), log, read_files })
    })?;
    Ok(Linked { linked, outline, log })
}

/// The program that is made of objects.
pub(super) fn link_objects(objects: &[&CompiledObject], options: &BuildOptions) -> Result<Linked> {
    let make_program = || compiler_process::link_program(own_objects(objects, options)).map(Linked::from);
    let Some(program_cache) = process_cache() else { return make_program() };
    let key_builder = KeyBuilder::new("link").add_text(&format!("{:?}", options.stage)).add_text(&options.text);
    let cache_key = objects
        .iter()
        .fold(key_builder, |key_builder, object| {
            key_builder.add_text(&object.options.running_options()).add_bytes(&object.bitcode)
        })
        .into_key();
    if let Some((linked, outline, log)) = program_cache.get(&cache_key) {
        return Ok(Linked { linked, outline, log });
    }
    let linked_result = make_program()?;
    program_cache.put(&cache_key, &(&linked_result.linked, &linked_result.outline, &linked_result.log));
    Ok(linked_result)
}

/// The library that is made of objects, and what the linker said.
pub(super) fn link_library(objects: &[&CompiledObject], options: &BuildOptions) -> Result<(CompiledObject, String)> {
    let BuiltObject { object, log, .. } = compiler_process::link_library(own_objects(objects, options))?;
    Ok((object, log))
}

fn own_objects(objects: &[&CompiledObject], options: &BuildOptions) -> Objects {
    Objects { objects: objects.iter().map(|&object| object.clone()).collect(), options: options.clone() }
}

/// What there is to know of a program that comes without it.
pub(super) fn describe_linked(linked_program: LinkedProgram) -> Result<Linked> {
    compiler_process::describe_program(linked_program).map(Linked::from)
}

impl From<BuiltProgram> for Linked {
    fn from(program: BuiltProgram) -> Linked {
        Linked { linked: program.linked, outline: program.outline, log: program.log }
    }
}
