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
    fn cache_place(&self, kind: &str) -> Option<Place> {
        let cache = process_cache()?;
        let config = format!("{} {}", self.config.source_lines, self.config.fast_fma);
        let key_builder = KeyBuilder::new(kind).add_text(&compiler_identity(self.config)?).add_text(&config);
        let key_builder = key_builder
            .add_text(&format!("{:?}", self.options.stage))
            .add_text(&self.options.text)
            .add_bytes(self.text);
        let key_builder = self
            .headers
            .iter()
            .fold(key_builder, |key_builder, header| key_builder.add_text(header.name).add_bytes(header.source));
        Some(Place { cache, key: key_builder.into_key() })
    }

    fn all_texts(&self) -> impl Iterator<Item = &[u8]> {
        // Macros as they come out of their quotes.
        let macros = self.options.macros.iter().map(|change| match change {
            Macro::Define(text) | Macro::Undefine(text) => text.as_bytes(),
        });
        [self.text].into_iter().chain(macros).chain(self.headers.iter().map(|header| header.source))
    }

    /// What `place` has; or else what `make` makes of the object, to be kept there.
    fn kept_or_made<K, T>(
        &self,
        place: Option<Place>,
        make: impl FnOnce(CompiledObject) -> Result<T>,
        keep: impl FnOnce(&T) -> (K, String),
        take: impl FnOnce(K, String) -> T,
    ) -> Result<T>
    where
        K: Serialize + for<'de> Deserialize<'de>,
    {
        let compile = || frontend::compile_source(self.config, self.text, self.headers, self.options);
        let mut watch = Stopwatch::start();
        let Some(Place { cache, key }) = place else {
            let object = compile()?;
            end_program_stage(&mut watch, "clang");
            return make(object);
        };
        let known: Option<Kept<K>> = cache.get(&key);
        if let Some(Kept { log, value, .. }) = known.filter(|kept| kept.inputs.are_unchanged()) {
            return Ok(take(value, log));
        }
        let started = SystemTime::now();
        watch.restart_stage();
        let Compilation { object, files } =
            frontend::compile_and_list(self.config, self.text, self.headers, self.options)?;
        end_program_stage(&mut watch, "clang");
        let made = make(object)?;
        let inputs =
            files.and_then(|files| Inputs::record_inputs(files, &self.options.include_dirs, self.all_texts(), started));
        if let Some(inputs) = inputs {
            let (value, log) = keep(&made);
            cache.put(&key, &Kept { inputs, log, value });
        }
        Ok(made)
    }
}

/// The object of a source.
pub(super) fn compile_object(source: &Source<'_>) -> Result<CompiledObject> {
    let keep = |object: &CompiledObject| (object.clone(), object.log.clone());
    source.kept_or_made(source.cache_place("object"), Ok, keep, |object, log| CompiledObject { log, ..object })
}

/// The program that is made of one source.
pub(super) fn compile_program(source: &Source<'_>) -> Result<Linked> {
    let make = |object: CompiledObject| {
        let linked = frontend::link_program(&[&object], source.options)
            .map_err(|error| with_compiler_log(&object.log, error))?;
        import_linked(linked, object.log)
    };
    let keep = |made: &Linked| ((made.linked.clone(), made.outline.clone()), made.log.clone());
    let take = |(linked, outline), log| Linked { linked, outline, module: None, log };
    source.kept_or_made(source.cache_place("program"), make, keep, take)
}

/// The program that is made of objects.
pub(super) fn link_objects(objects: &[&CompiledObject], options: &BuildOptions) -> Result<Linked> {
    let make = || import_linked(frontend::link_program(objects, options)?, String::new());
    let Some(cache) = process_cache() else { return make() };
    let key_builder = KeyBuilder::new("link").add_text(&format!("{:?}", options.stage)).add_text(&options.text);
    let cache_key = objects
        .iter()
        .fold(key_builder, |key_builder, object| {
            key_builder.add_text(&object.options.running_options()).add_bytes(&object.bitcode)
        })
        .into_key();
    if let Some((linked, outline, log)) = cache.get(&cache_key) {
        return Ok(Linked { linked, outline, module: None, log });
    }
    let made = make()?;
    cache.put(&cache_key, &(&made.linked, &made.outline, &made.log));
    Ok(made)
}

/// Reads a linked program into our IR.
pub(super) fn import_linked(linked: LinkedProgram, mut log: String) -> Result<Linked> {
    log.push_str(&linked.log);
    tell_program_times(&linked.times);
    let (module, times) = pipeline::load_recorded(&linked, options().dump.as_deref())
        .map_err(|error| FrontendError::LinkFailure { log: format!("{log}error: {error}\n") })?;
    tell_program_times(&times);
    Ok(Linked { linked, outline: describe_program(&module), module: Some(module), log })
}

/// Ends a stage of a program's build and tells how long it took, if somebody asked.
fn end_program_stage(watch: &mut Stopwatch, stage: &'static str) {
    watch.end_stage(stage);
    tell_program_times(watch.times());
}

/// Writes the times of a program's stages to standard error, if somebody asked (`LOCKSTEP_TIME`).
fn tell_program_times(times: &[(&'static str, Duration)]) {
    if options().time {
        eprint!("{}", describe_times("program", times));
    }
}

/// The compiler's messages before the linker's.
fn with_compiler_log(log: &str, error: FrontendError) -> FrontendError {
    match error {
        FrontendError::LinkFailure { log: linker } => FrontendError::LinkFailure { log: format!("{log}{linker}") },
        other => other,
    }
}
