//! A kernel's arguments and launches, on a queue of their own.

use std::sync::Arc;
use std::time::Duration;

use lockstep_runtime::command::Command;
use lockstep_runtime::context::Context;
use lockstep_runtime::kernel::Kernel;
use lockstep_runtime::launch::ndrange::Request;
use lockstep_runtime::launch::{CheckedLaunch, Prepared};
use lockstep_runtime::memory::Memory;
use lockstep_runtime::memory_contents::{create_buffer, read_bytes, run_command, write_bytes};
use lockstep_runtime::platform::Platform;
use lockstep_runtime::program::Program;
use lockstep_runtime::queue::Queue;
use lockstep_runtime::{Error, Result};
use opencl_sys::{CL_COMMAND_NDRANGE_KERNEL, CL_QUEUE_PROFILING_ENABLE};
use parking_lot::Mutex;

use super::argument::{BufferPlan, Given, Word, match_parameter};
use super::element::Element;
use super::fill::Filler;

/// Bytes that are made, read or compared at a time: a multiple of every element's.
pub const PIECE: usize = 1 << 20;

/// The device with a queue.
pub struct Session {
    context: Arc<Context>,
    queue: Arc<Queue>,
    /// What commands that failed had to say.
    failures: Arc<Mutex<Vec<String>>>,
}

/// A buffer that a kernel has as an argument.
pub struct Buffer {
    memory: Arc<Memory>,
    /// The type of what it holds.
    pub element: Element,
    /// The argument by index, name and type.
    pub subject: String,
}

/// How many work-items a launch has.
pub struct Sizes {
    /// All of them, by dimension.
    pub global: Vec<usize>,
    /// Those of a group, by dimension; none: the driver's choice.
    pub local: Option<Vec<usize>>,
}

impl Buffer {
    /// Its size in bytes.
    pub fn byte_size(&self) -> usize {
        self.memory.size()
    }
}

impl Session {
    /// A session on this processor.
    pub fn new() -> Session {
        let device = Platform::get().device().clone();
        let failures: Arc<Mutex<Vec<String>>> = Arc::default();
        let noted_failures = failures.clone();
        let on_error = Box::new(move |text: &str| noted_failures.lock().push(text.to_owned()));
        let context = Context::new(vec![device.clone()], Vec::new(), Some(on_error));
        let queue = Queue::new(context.clone(), device, CL_QUEUE_PROFILING_ENABLE, Vec::new());
        Session { context, queue, failures }
    }

    /// What programs are built in.
    pub fn opencl_context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Gives a kernel what the words stand for, in the order of its parameters. The buffers among that live as long as the result.
    ///
    /// # Errors
    /// In words: which argument does not fit, and why.
    pub fn set_arguments(&self, kernel: &Kernel, words: &[String]) -> std::result::Result<Vec<Option<Buffer>>, String> {
        let parameters = &kernel.outline().params;
        if words.len() != parameters.len() {
            let types: Vec<String> =
                parameters.iter().map(|parameter| format!("{} {}", parameter.type_name, parameter.name)).collect();
            let (name, wanted, given) = (&kernel.outline().name, parameters.len(), words.len());
            return Err(format!("kernel '{name}' has {wanted} arguments ({}); {given} are given", types.join(", ")));
        }
        let set_next = |(index, word): (usize, &String)| {
            let subject = kernel.describe_argument(index).to_string();
            self.set_argument(kernel, index, word, &subject).map_err(|reason| format!("{subject}: {reason}"))
        };
        words.iter().enumerate().map(set_next).collect()
    }

    fn set_argument(
        &self,
        kernel: &Kernel,
        index: usize,
        word: &str,
        subject: &str,
    ) -> std::result::Result<Option<Buffer>, String> {
        let word: Word = word.parse()?;
        let say = |api_error: Error| api_error.sentence().to_owned();
        let parameter = kernel.param(index).map_err(say)?;
        match match_parameter(word, parameter)? {
            Given::Value(bytes) => kernel.set_value(index, &bytes).map_err(say)?,
            Given::Null => kernel.set_buffer(index, None).map_err(say)?,
            Given::Local(byte_size) => kernel.set_local(index, byte_size).map_err(say)?,
            Given::Buffer(plan) => {
                let memory = self.make_buffer(&plan)?;
                kernel.set_buffer(index, Some(&memory)).map_err(say)?;
                return Ok(Some(Buffer { memory, element: plan.element, subject: subject.to_owned() }));
            }
        }
        Ok(None)
    }

    /// A buffer with what it is to hold.
    fn make_buffer(&self, plan: &BufferPlan) -> std::result::Result<Arc<Memory>, String> {
        let say = |api_error: Error| api_error.sentence().to_owned();
        let memory = create_buffer(&self.context, plan.byte_size).map_err(say)?;
        let mut filler = Filler::new(&plan.fill)?;
        let mut piece = Vec::new();
        for offset in (0..plan.byte_size).step_by(PIECE) {
            let piece_size = PIECE.min(plan.byte_size - offset);
            filler.fill_piece(plan.element.scalar, piece_size, &mut piece)?;
            write_bytes(&self.queue, &memory, offset, &piece).map_err(say)?;
        }
        Ok(memory)
    }

    /// Reads bytes of a buffer from `offset` on.
    ///
    /// # Errors
    /// In words: what went wrong.
    pub fn read_buffer(&self, buffer: &Buffer, offset: usize, bytes: &mut [u8]) -> std::result::Result<(), String> {
        read_bytes(&self.queue, &buffer.memory, offset, bytes).map_err(|api_error| self.describe_failure(&api_error))
    }

    /// Launches a kernel, waits for its end and returns how long it ran.
    ///
    /// # Errors
    /// In words: what is wrong with the launch.
    pub fn launch_kernel(&self, kernel: &Arc<Kernel>, sizes: &Sizes) -> std::result::Result<Duration, String> {
        self.try_launch(kernel, sizes).map_err(|api_error| self.describe_failure(&api_error))
    }

    fn try_launch(&self, kernel: &Arc<Kernel>, Sizes { global, local }: &Sizes) -> Result<Duration> {
        let dimensions = global.len() as u32;
        let request = Request { dimensions, offset: None, global: Some(global), local: local.as_deref() };
        let Prepared { work, code } = CheckedLaunch::new(kernel.clone(), &request)?.prepare()?;
        let waits = code.into_iter().collect();
        let command = Command { kind: CL_COMMAND_NDRANGE_KERNEL, work, waits, ..Command::default() };
        let event = run_command(&self.queue, command)?;
        let [_, _, started, ended] = event.profiling_times().unwrap_or_default();
        Ok(Duration::from_nanos(ended.saturating_sub(started)))
    }

    /// What went wrong: what a command that failed had to say, or else the error.
    fn describe_failure(&self, error: &Error) -> String {
        self.failures.lock().pop().unwrap_or_else(|| error.to_string())
    }
}

/// The kernel of a program that has this name, or the only one.
///
/// # Errors
/// In words: which kernels there are.
pub fn find_kernel(program: &Arc<Program>, name: Option<&str>) -> std::result::Result<Arc<Kernel>, String> {
    let say = |api_error: Error| api_error.sentence().to_owned();
    if let Some(name) = name {
        return Kernel::new(program, name).map_err(say);
    }
    let executable = program.executable().map_err(say)?;
    let names: Vec<&str> = executable.outline().kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    match names[..] {
        [] => Err("the program has no kernels".to_owned()),
        [name] => Kernel::new(program, name).map_err(say),
        _ => Err(format!("which kernel? (-k) The program has {}", names.join(", "))),
    }
}
