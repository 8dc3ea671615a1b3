//! Compiling and linking, unless that was done before and the result is in the cache.

use std::time::{Duration, SystemTime};

use lockstep_compiler::frontend::{
    self, Compilation, CompiledObject, FrontendConfig, FrontendError, Header, LinkedProgram, compiler_identity,
};
use lockstep_compiler::pipeline;
use lockstep_compiler::stage_times::{Stopwatch, describe_times};
use lockstep_ir::ir::Module;
use lockstep_ir::program_metadata::describe_program;
use lockstep_protocol::build_options::{BuildOptions, Macro};
use lockstep_protocol::program_metadata::Outline;
use serde::{Deserialize, Serialize};

use super::inputs::Inputs;
use crate::cache::key::{Key, KeyBuilder};
use crate::cache::{Cache, process_cache};
use crate::options::options;

type Result<T> = std::result::Result<T, FrontendError>;

/// A source and how it is to be compiled.
pub(super) struct Source<'a> {
    pub config: &'a FrontendConfig,
    pub text: &'a [u8],
    pub headers: &'a [Header<'a>],
    pub options: &'a BuildOptions,
}

/// A linked program.
pub(super) struct Linked {
    pub linked: LinkedProgram,
    pub outline: Outline,
    /// Its code in our IR, where it was just made.
    pub module: Option<Module>,
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

impl Source<'_> {
    /// Everything but files decides about the key; the entry itself knows the files.
    fn cache_place(&self, object_kind: &str) -> Option<Place> {
        let program_cache = process_cache()?;
        let configuration = format!("{} {}", self.config.source_lines, self.config.fast_fma);
        let key_builder =
            KeyBuilder::new(object_kind).add_text(&compiler_identity(self.config)?).add_text(&configuration);
        let key_builder = key_builder
            .add_text(&format!("{:?}", self.options.stage))
            .add_text(&self.options.text)
            .add_bytes(self.text);
        let key_builder = self
            .headers
            .iter()
            .fold(key_builder, |key_builder, header| key_builder.add_text(header.name).add_bytes(header.source));
        Some(Place { cache: program_cache, key: key_builder.into_key() })
    }

    fn all_texts(&self) -> impl Iterator<Item = &[u8]> {
        // Macros as they come out of their quotes.
        let macros = self.options.macros.iter().map(|change| match change {
            Macro::Define(text) | Macro::Undefine(text) => text.as_bytes(),
        });
        [self.text].into_iter().chain(macros).chain(self.headers.iter().map(|header| header.source))
    }

    /// What `cache_place` has; or else what `make_object` makes of the object, to be kept there.
    fn kept_or_made<K, T>(
        &self,
        cache_place: Option<Place>,
        make_object: impl FnOnce(CompiledObject) -> Result<T>,
        to_kept: impl FnOnce(&T) -> (K, String),
        from_kept: impl FnOnce(K, String) -> T,
    ) -> Result<T>
    where
        K: Serialize + for<'de> Deserialize<'de>,
    {
        let compile = || frontend::compile_source(self.config, self.text, self.headers, self.options);
        let mut stopwatch = Stopwatch::start();
        let Some(Place { cache, key }) = cache_place else {
            let object = compile()?;
            end_program_stage(&mut stopwatch, "clang");
            return make_object(object);
        };
        let kept_before: Option<Kept<K>> = cache.get(&key);
        if let Some(Kept { log, value, .. }) = kept_before.filter(|kept_object| kept_object.inputs.are_unchanged()) {
            return Ok(from_kept(value, log));
        }
        let started = SystemTime::now();
        stopwatch.restart_stage();
        let Compilation { object, files } =
            frontend::compile_and_list(self.config, self.text, self.headers, self.options)?;
        end_program_stage(&mut stopwatch, "clang");
        let new_object = make_object(object)?;
        let inputs =
            files.and_then(|paths| Inputs::record_inputs(paths, &self.options.include_dirs, self.all_texts(), started));
        if let Some(inputs) = inputs {
            let (value, build_log) = to_kept(&new_object);
            cache.put(&key, &Kept { inputs, log: build_log, value });
        }
        Ok(new_object)
    }
}

/// The object of a source.
pub(super) fn compile_object(source: &Source<'_>) -> Result<CompiledObject> {
    let to_kept = |object: &CompiledObject| (object.clone(), object.log.clone());
    source.kept_or_made(source.cache_place("object"), Ok, to_kept, |object, build_log| CompiledObject {
        log: build_log,
        ..object
    })
}

/// The program that is made of one source.
pub(super) fn compile_program(source: &Source<'_>) -> Result<Linked> {
    let make_object = |object: CompiledObject| {
        let linked_program = frontend::link_program(&[&object], source.options)
            .map_err(|error| with_compiler_log(&object.log, error))?;
        import_linked(linked_program, object.log)
    };
    let to_kept = |linked_program: &Linked| {
        ((linked_program.linked.clone(), linked_program.outline.clone()), linked_program.log.clone())
    };
    let from_kept =
        |(linked_program, outline), build_log| Linked { linked: linked_program, outline, module: None, log: build_log };
    source.kept_or_made(source.cache_place("program"), make_object, to_kept, from_kept)
}

/// The program that is made of objects.
pub(super) fn link_objects(objects: &[&CompiledObject], options: &BuildOptions) -> Result<Linked> {
    let make_object = || import_linked(frontend::link_program(objects, options)?, String::new());
    let Some(program_cache) = process_cache() else { return make_object() };
    let key_builder = KeyBuilder::new("link").add_text(&format!("{:?}", options.stage)).add_text(&options.text);
    let cache_key = objects
        .iter()
        .fold(key_builder, |key_builder, object| {
            key_builder.add_text(&object.options.running_options()).add_bytes(&object.bitcode)
        })
        .into_key();
    if let Some((linked_program, outline, build_log)) = program_cache.get(&cache_key) {
        return Ok(Linked { linked: linked_program, outline, module: None, log: build_log });
    }
    let linked_result = make_object()?;
    program_cache.put(&cache_key, &(&linked_result.linked, &linked_result.outline, &linked_result.log));
    Ok(linked_result)
}

/// Reads a linked program into our IR.
pub(super) fn import_linked(linked_program: LinkedProgram, mut build_log: String) -> Result<Linked> {
    build_log.push_str(&linked_program.log);
    tell_program_times(&linked_program.times);
    let (ir_module, stage_times) = pipeline::load_recorded(&linked_program, options().dump.as_deref())
        .map_err(|error| FrontendError::LinkFailure { log: format!("{build_log}error: {error}\n") })?;
    tell_program_times(&stage_times);
    Ok(Linked {
        linked: linked_program,
        outline: describe_program(&ir_module),
        module: Some(ir_module),
        log: build_log,
    })
}

/// Ends a stage of a program's build and tells how long it took, if somebody asked.
fn end_program_stage(stopwatch: &mut Stopwatch, stage: &'static str) {
    stopwatch.end_stage(stage);
    tell_program_times(stopwatch.times());
}

/// Writes the times of a program's stages to standard error, if somebody asked (`LOCKSTEP_TIME`).
fn tell_program_times(stage_times: &[(&'static str, Duration)]) {
    if options().time {
        eprint!("{}", describe_times("program", stage_times));
    }
}

/// The compiler's messages before the linker's.
fn with_compiler_log(build_log: &str, error: FrontendError) -> FrontendError {
    match error {
        FrontendError::LinkFailure { log: linker } => {
            FrontendError::LinkFailure { log: format!("{build_log}{linker}") }
        }
        other => other,
    }
}
