//! Programs: where their code comes from and what has been made of it so far.
//!
//! A program is a source or a binary plus the state of its last build. [`build`] holds the actions that
//! change the state; [`executable`] what a successful build leaves for kernels to run. Builds that were done before are
//! `cached`.

mod background_code;
mod beyond_files;
pub mod binary;
pub mod build;
mod cached;
pub mod executable;
mod form_comparison;
mod form_search;
pub(crate) mod form_trials;
mod input_size;
mod inputs;
mod intermediate;
mod kernel_report;
pub mod loaded_variant;
pub mod lookahead;
mod precompiled;
mod promotion;
pub mod variable;
pub(crate) mod variant_log;
pub mod variants;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use lockstep_protocol::portable_program::CompiledObject;
use opencl_sys::{
    CL_INVALID_BINARY, CL_INVALID_DEVICE, CL_INVALID_PROGRAM, CL_INVALID_PROGRAM_EXECUTABLE, CL_INVALID_VALUE,
    CL_OUT_OF_RESOURCES,
};
use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::cache::key::BUILD;
use crate::context::Context;
use crate::device::Device;
use crate::{ApiHandle, Result, ensure, error};
use binary::Binary;
use executable::Executable;
use input_size::MOST_INPUT;
use intermediate::IntermediateModule;

/// How far a build has come (`CL_PROGRAM_BUILD_STATUS`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BuildStatus {
    /// Nothing has been done for the device yet.
    None,
    /// The last action failed.
    Error,
    /// The last action succeeded.
    Success,
    /// An action is under way.
    InProgress,
}

/// What a program holds that can be handed out, linked or run.
#[derive(Clone)]
pub enum Code {
    /// Nothing yet, or a build failed.
    None,
    /// A compiled object or a library.
    Object(Arc<CompiledObject>),
    /// Kernels can be created.
    Executable(Arc<Executable>),
}

/// The state of the last build, compile or link.
#[derive(Clone)]
pub struct BuildState {
    /// How it stands.
    pub status: BuildStatus,
    /// The options it was given.
    pub options: String,
    /// What compiler and linker said.
    pub log: String,
    /// What it made.
    pub code: Code,
}

impl BuildState {
    fn before_build() -> BuildState {
        BuildState { status: BuildStatus::None, options: String::new(), log: String::new(), code: Code::None }
    }
}

/// What a program is compiled from.
enum Source {
    /// OpenCL C or C++ for OpenCL.
    Text(String),
    /// LLVM IR in SPIR form, as bitcode or text.
    LlvmIr(Vec<u8>),
    /// A module of SPIR-V, with the values of its specialization constants.
    Spirv(IntermediateModule),
}

/// A program with the state of its builds.
pub struct Program {
    context: Arc<Context>,
    devices: Vec<Arc<Device>>,
    source: Option<Source>,
    /// The binary it was created with; a build makes an executable of it.
    binary: Option<Binary>,
    state: Mutex<BuildState>,
    /// Signalled when an action has ended.
    action_ended: Condvar,
    /// The process whose thread runs the action that is under way. A forked child has no such thread.
    builder: AtomicU32,
    /// Kernel objects made from the current executable.
    kernels: Arc<AtomicUsize>,
    /// The word of the API layer.
    pub api: ApiHandle,
}

impl Program {
    fn new(
        context: Arc<Context>,
        devices: Vec<Arc<Device>>,
        source: Option<Source>,
        program_binary: Option<Binary>,
        build_state: BuildState,
    ) -> Arc<Program> {
        Arc::new(Program {
            context,
            devices,
            source,
            binary: program_binary,
            state: Mutex::new(build_state),
            action_ended: Condvar::new(),
            builder: AtomicU32::new(0),
            kernels: Arc::default(),
            api: ApiHandle::default(),
        })
    }

    /// A program from OpenCL C text, for all devices of the context.
    pub fn with_source(context: Arc<Context>, source: String) -> Arc<Program> {
        Program::from_source(context, Source::Text(source))
    }

    /// A program from LLVM IR, as bitcode or text, as clang makes it of OpenCL C for `spir64`, for all devices of the context. No entry
    /// point makes one.
    pub fn with_llvm_ir(context: Arc<Context>, ir: Vec<u8>) -> Arc<Program> {
        Program::from_source(context, Source::LlvmIr(ir))
    }

    /// A program from a SPIR-V module, for all devices of the context.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE` for bytes that are no module.
    pub fn with_spirv(context: Arc<Context>, module: &[u8]) -> Result<Arc<Program>> {
        Ok(Program::from_source(context, Source::Spirv(IntermediateModule::from_bytes(module)?)))
    }

    fn from_source(context: Arc<Context>, source: Source) -> Arc<Program> {
        let devices = context.devices().to_vec();
        Program::new(context, devices, Some(source), None, BuildState::before_build())
    }

    /// A program from what [`Program::binary`] gave, for some devices of the context.
    pub fn with_binary(context: Arc<Context>, devices: Vec<Arc<Device>>, program_binary: Binary) -> Arc<Program> {
        // Nothing was built yet; what was given is made ready when it is.
        let mut build_state = BuildState::before_build();
        if let Binary::Object(object) = &program_binary {
            build_state.options = object.options.text.clone();
        }
        let program = Program::new(context, devices, None, Some(program_binary), build_state);
        program.state.lock().code = program.code_given();
        program
    }

    /// What it has before a build, or after one that failed: an object or a library that it was created with.
    fn code_given(&self) -> Code {
        match &self.binary {
            Some(Binary::Object(object)) => Code::Object(Arc::new(object.clone())),
            _ => Code::None,
        }
    }

    /// The context it belongs to.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The devices the program is for.
    pub fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// The text it was created with.
    pub fn source(&self) -> Option<&str> {
        match &self.source {
            Some(Source::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The SPIR-V module it was created with.
    pub fn intermediate_language(&self) -> Option<&[u8]> {
        match &self.source {
            Some(Source::Spirv(module)) => Some(&module.bytes),
            _ => None,
        }
    }

    /// Whether it was created with text, or linked of what was compiled, and neither with a module nor with a binary.
    pub fn is_from_sources(&self) -> bool {
        match &self.source {
            Some(source) => matches!(source, Source::Text(_)),
            None => self.binary.is_none(),
        }
    }

    /// Gives a constant of the SPIR-V module a value for builds from now on.
    ///
    /// # Errors
    /// `CL_INVALID_PROGRAM` for a program of another kind, `CL_INVALID_SPEC_ID` for a constant that there is not, `CL_INVALID_VALUE` for a
    /// value of another size.
    pub fn specialize(&self, id: u32, value: &[u8]) -> Result<()> {
        match &self.source {
            Some(Source::Spirv(module)) => module.specialize(id, value),
            _ => Err(error!(CL_INVALID_PROGRAM, "the program was not created from an intermediate language")),
        }
    }

    /// A copy of the state of the last build.
    pub fn state(&self) -> BuildState {
        self.state.lock().clone()
    }

    /// The state of the last build, once that has ended: one that was started with a callback may be under way.
    fn settled_state(&self) -> MutexGuard<'_, BuildState> {
        let mut build_state = self.state.lock();
        while build_state.status == BuildStatus::InProgress
            && self.builder.load(Ordering::Relaxed) == std::process::id()
        {
            self.action_ended.wait(&mut build_state);
        }
        build_state
    }

    /// The executable. Waits for a build that is under way.
    ///
    /// # Errors
    /// `CL_INVALID_PROGRAM_EXECUTABLE` where there is none.
    pub fn executable(&self) -> Result<Arc<Executable>> {
        let build_state = self.settled_state();
        let reason = match (&build_state.code, build_state.status) {
            (Code::Executable(executable), _) => return Ok(executable.clone()),
            (Code::Object(_), _) => "the program is a compiled object or a library, which has yet to be linked",
            (Code::None, BuildStatus::Error) => "the last build of the program failed",
            (Code::None, _) => "the program has not been built",
        };
        Err(error!(CL_INVALID_PROGRAM_EXECUTABLE, "{reason}"))
    }

    /// The bytes of `CL_PROGRAM_BINARIES`; empty when there is nothing to hand out. Waits for a build that is under way.
    pub fn binary(&self) -> Vec<u8> {
        let code = self.settled_state().code.clone();
        match (code, &self.binary) {
            (Code::Executable(executable), _) => executable.binary().to_vec(),
            (Code::Object(object), _) => Binary::Object((*object).clone()).to_bytes(BUILD),
            (Code::None, Some(program_binary @ Binary::Program(_))) => program_binary.clone().to_bytes(BUILD),
            (Code::None, _) => Vec::new(),
        }
    }

    /// Whether the program was created from, or has become, an executable.
    pub fn holds_executable(&self) -> bool {
        let code = &self.state.lock().code;
        matches!(code, Code::Executable(_)) || matches!((code, &self.binary), (Code::None, Some(Binary::Program(_))))
    }

    /// Counts a kernel object for as long as the result lives.
    pub fn attach_kernel(&self) -> Attached {
        self.kernels.fetch_add(1, Ordering::Relaxed);
        Attached(self.kernels.clone())
    }

    /// How many kernel objects there are of it.
    fn kernel_count(&self) -> usize {
        self.kernels.load(Ordering::Relaxed)
    }
}

/// One kernel object of a program.
pub struct Attached(Arc<AtomicUsize>);

impl Drop for Attached {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Program").field("status", &self.state.lock().status).finish_non_exhaustive()
    }
}

/// What [`Program::binary`] gave.
///
/// # Errors
/// `CL_INVALID_BINARY` for what this build of the driver has not made.
pub fn read_binary(bytes: &[u8]) -> Result<Binary> {
    Binary::from_bytes(bytes, BUILD).map_err(|reason| error!(CL_INVALID_BINARY, "{reason}"))
}

/// The text of `clCreateProgramWithSource`: the pieces joined; not UTF-8 is kept readable by the
/// compiler's own rules, which see each wrong byte as one.
///
/// # Errors
/// `CL_OUT_OF_RESOURCES` for texts that nobody has written.
pub fn join_source(pieces: &[&[u8]]) -> Result<String> {
    let bytes = pieces.concat();
    let text = String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    let length = text.len();
    ensure!(length <= MOST_INPUT, CL_OUT_OF_RESOURCES, "a source of {length} bytes; {MOST_INPUT} are allowed");
    Ok(text)
}

/// Checks that every device of `listed_devices` is one of the program's.
///
/// # Errors
/// `CL_INVALID_DEVICE` where one is not.
pub fn check_devices(program: &Program, listed_devices: &[Arc<Device>]) -> Result<()> {
    let is_known = |device: &Arc<Device>| program.devices.iter().any(|candidate| Arc::ptr_eq(candidate, device));
    for (index, device) in listed_devices.iter().enumerate() {
        ensure!(
            is_known(device),
            CL_INVALID_DEVICE,
            "device {index} of {} is none that the program is for",
            listed_devices.len()
        );
    }
    Ok(())
}

/// A name the application gave, as text.
///
/// # Errors
/// `CL_INVALID_VALUE` for what is not UTF-8.
pub fn parse_name(bytes: &[u8]) -> Result<&str> {
    let invalid_name = |_| error!(CL_INVALID_VALUE, "'{}' is not UTF-8", String::from_utf8_lossy(bytes));
    std::str::from_utf8(bytes).map_err(invalid_name)
}
