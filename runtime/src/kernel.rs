//! Kernel objects: a kernel of a built program and the arguments set so far.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Weak};

pub use lockstep_protocol::parameters::{Param, ParamKind};
use lockstep_protocol::program_metadata::KernelOutline;
pub use lockstep_protocol::types::Space;
use opencl_sys::{CL_INVALID_ARG_INDEX, CL_INVALID_ARG_SIZE, CL_INVALID_ARG_VALUE, CL_INVALID_KERNEL_ARGS};
use parking_lot::Mutex;

use crate::device::MAX_WORK_GROUP_SIZE;
use crate::launch::block::ArgBlock;
use crate::launch::ndrange::Rules;
use crate::launch::pool::Pool;
use crate::memory::Memory;
use crate::program::executable::Executable;
use crate::program::lookahead::PredictLaunch;
use crate::program::{Attached, Program};
use crate::sampler::Sampler;
use crate::{ApiHandle, Result, ensure, error};

/// Alignment of `__local` memory in bytes, for arguments and variables: that of the largest type.
pub const LOCAL_ALIGN: u64 = 128;

/// A kernel object.
pub struct Kernel {
    program: Arc<Program>,
    executable: Arc<Executable>,
    index: usize,
    args: Mutex<Args>,
    /// Launch records for reuse.
    pub(crate) launches: Arc<Pool>,
    _attached: Attached,
    /// The word of the API layer.
    pub api: ApiHandle,
}

/// The arguments set so far.
#[derive(Clone)]
pub struct Args {
    /// Values and addresses where the code reads them; `__local` arguments are filled in at launch.
    pub(crate) block: ArgBlock,
    /// Which arguments have been set.
    pub(crate) set: Vec<bool>,
    /// The memory objects of pointer and image arguments, by argument. "Implementations shall not allow cl_kernel objects
    /// to hold reference counts to cl_kernel arguments": commands hold them, the kernel does not.
    pub(crate) buffers: Vec<Option<Weak<Memory>>>,
    /// Where the bytes of these objects are, from the first one on: what can be told without asking them.
    pub(crate) extents: Vec<Option<Range<u64>>>,
    /// The sizes of `__local` arguments, by argument.
    pub(crate) locals: Vec<u64>,
}

/// Where an object's bytes are.
fn byte_range(object: &Memory) -> Range<u64> {
    let start = object.start() as u64;
    start..start.saturating_add(object.size() as u64)
}

impl Kernel {
    /// The kernel called `name` of a program's executable, without arguments.
    ///
    /// # Errors
    /// `CL_INVALID_PROGRAM_EXECUTABLE` where there is no executable, `CL_INVALID_KERNEL_NAME` where that has no such kernel.
    pub fn new(program: &Arc<Program>, name: &str) -> Result<Arc<Kernel>> {
        let executable = program.executable()?;
        let index = executable.find_kernel(name)?;
        Ok(Kernel::at_index(program, &executable, index))
    }

    /// All kernels of a program's executable.
    ///
    /// # Errors
    /// `CL_INVALID_PROGRAM_EXECUTABLE` where there is none.
    pub fn all_of_program(program: &Arc<Program>) -> Result<Vec<Arc<Kernel>>> {
        let executable = program.executable()?;
        let kernel_count = executable.outline().kernels.len();
        Ok((0..kernel_count).map(|index| Kernel::at_index(program, &executable, index)).collect())
    }

    fn at_index(program: &Arc<Program>, executable: &Arc<Executable>, index: usize) -> Arc<Kernel> {
        let outline = executable.kernel_outline(index);
        let parameter_count = outline.params.len();
        let mut block = ArgBlock::default();
        block.reset_to_size(outline.args_size as usize);
        let arguments = Args {
            block,
            set: vec![false; parameter_count],
            buffers: vec![None; parameter_count],
            extents: vec![None; parameter_count],
            locals: vec![0; parameter_count],
        };
        Kernel::with_args(program, executable, index, arguments)
    }

    fn with_args(program: &Arc<Program>, executable: &Arc<Executable>, index: usize, arguments: Args) -> Arc<Kernel> {
        let kernel = Arc::new(Kernel {
            program: program.clone(),
            executable: executable.clone(),
            index,
            args: Mutex::new(arguments),
            launches: Arc::default(),
            _attached: program.attach_kernel(),
            api: ApiHandle::default(),
        });
        executable.note_kernel(index, &(kernel.clone() as Arc<dyn PredictLaunch>));
        kernel
    }

    /// A new kernel object with the same arguments (`clCloneKernel`).
    pub fn clone_kernel(&self) -> Arc<Kernel> {
        let arguments = self.args.lock().clone();
        Kernel::with_args(&self.program, &self.executable, self.index, arguments)
    }

    /// The program it is of.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The executable it was made from, which a later build of the program does not change.
    pub fn executable(&self) -> &Arc<Executable> {
        &self.executable
    }

    /// Its number in the executable.
    pub fn index(&self) -> usize {
        self.index
    }

    /// What the compiler knows of it.
    pub fn outline(&self) -> &KernelOutline {
        self.executable.kernel_outline(self.index)
    }

    /// A parameter.
    ///
    /// # Errors
    /// `CL_INVALID_ARG_INDEX` where there is none of this number.
    pub fn param(&self, index: usize) -> Result<&Param> {
        let parameters = &self.outline().params;
        let (name, parameter_count) = (&self.outline().name, parameters.len());
        ensure!(
            index < parameter_count,
            CL_INVALID_ARG_INDEX,
            "there is no argument {index}: kernel '{name}' has {parameter_count}"
        );
        Ok(&parameters[index])
    }

    /// An argument by number, name and type, for messages.
    pub fn describe_argument(&self, index: usize) -> Argument<'_> {
        Argument { kernel: self.outline(), index }
    }

    /// A parameter, to which something is given that fits or not.
    fn param_for(&self, index: usize, given: &str, fits: impl FnOnce(&Param) -> bool) -> Result<&Param> {
        let parameter = self.param(index)?;
        let argument = self.describe_argument(index);
        ensure!(fits(parameter), CL_INVALID_ARG_VALUE, "{argument} is {}, not {given}", kind_of(parameter));
        Ok(parameter)
    }

    /// Sets an argument that is passed by value.
    ///
    /// # Errors
    /// `CL_INVALID_ARG_INDEX`, `CL_INVALID_ARG_VALUE` for an argument of another kind, `CL_INVALID_ARG_SIZE`.
    pub fn set_value(&self, index: usize, value: &[u8]) -> Result<()> {
        let parameter = self.param_for(index, "a plain value", |parameter| parameter.kind == ParamKind::Value)?;
        self.check_size(index, value.len(), parameter.size as usize)?;
        let mut arguments = self.args.lock();
        arguments.block.write_at(parameter.offset as usize, value);
        arguments.set[index] = true;
        Ok(())
    }

    /// Checks how many bytes are given for an argument.
    ///
    /// # Errors
    /// `CL_INVALID_ARG_SIZE` for another number than it has.
    pub fn check_size(&self, index: usize, given_size: usize, wanted_size: usize) -> Result<()> {
        let argument = self.describe_argument(index);
        ensure!(
            given_size == wanted_size,
            CL_INVALID_ARG_SIZE,
            "{argument} has {wanted_size} bytes; arg_size is {given_size}"
        );
        Ok(())
    }

    /// Sets a pointer to global or constant memory; none is NULL.
    ///
    /// # Errors
    /// `CL_INVALID_ARG_INDEX`, or `CL_INVALID_ARG_VALUE` for an argument of another kind.
    pub fn set_buffer(&self, index: usize, buffer: Option<&Arc<Memory>>) -> Result<()> {
        let parameter =
            self.param_for(index, "a pointer", |parameter| matches!(parameter.kind, ParamKind::Pointer(_)))?;
        let address = buffer.map_or(0, |buffer| buffer.start() as u64);
        let mut arguments = self.args.lock();
        arguments.block.write_at(parameter.offset as usize, &address.to_le_bytes());
        arguments.set[index] = true;
        arguments.buffers[index] = buffer.map(Arc::downgrade);
        arguments.extents[index] = Some(buffer.map_or(0..0, |buffer| byte_range(buffer)));
        Ok(())
    }

    /// Sets a pointer to global or constant memory that is no memory object's.
    ///
    /// # Errors
    /// `CL_INVALID_ARG_INDEX`, or `CL_INVALID_ARG_VALUE` for an argument of another kind.
    pub fn set_pointer(&self, index: usize, address: u64) -> Result<()> {
        let is_pointer = |parameter: &Param| matches!(parameter.kind, ParamKind::Pointer(_)) && !parameter.is_pipe();
        let parameter = self.param_for(index, "a pointer", is_pointer)?;
        let mut arguments = self.args.lock();
        arguments.block.write_at(parameter.offset as usize, &address.to_le_bytes());
        arguments.set[index] = true;
        arguments.buffers[index] = None;
        // What lies behind the address is not known.
        arguments.extents[index] = (address == 0).then_some(0..0);
        Ok(())
    }

    /// Sets an image.
    ///
    /// # Errors
    /// `CL_INVALID_ARG_INDEX`, or `CL_INVALID_ARG_VALUE` for an argument of another kind or what is no image.
    pub fn set_image(&self, index: usize, object: &Arc<Memory>) -> Result<()> {
        let parameter = self.param_for(index, "an image", |parameter| parameter.kind == ParamKind::Image)?;
        let other =
            || error!(CL_INVALID_ARG_VALUE, "{} is an image, and arg_value is none", self.describe_argument(index));
        let image = object.image().ok_or_else(other)?;
        let mut arguments = self.args.lock();
        arguments.block.write_at(parameter.offset as usize, &image.descriptor(object.start()));
        arguments.set[index] = true;
        arguments.buffers[index] = Some(Arc::downgrade(object));
        arguments.extents[index] = Some(byte_range(object));
        Ok(())
    }

    /// Sets a sampler.
    ///
    /// # Errors
    /// `CL_INVALID_ARG_INDEX`, or `CL_INVALID_ARG_VALUE` for an argument of another kind.
    pub fn set_sampler(&self, index: usize, sampler: &Sampler) -> Result<()> {
        let parameter = self.param_for(index, "a sampler", |parameter| parameter.kind == ParamKind::Sampler)?;
        let mut arguments = self.args.lock();
        arguments.block.write_at(parameter.offset as usize, &sampler.bits().to_le_bytes());
        arguments.set[index] = true;
        Ok(())
    }

    /// Sets the size of a `__local` argument in bytes, which may be 0.
    ///
    /// # Errors
    /// `CL_INVALID_ARG_INDEX`, `CL_INVALID_ARG_VALUE` for an argument of another kind.
    pub fn set_local(&self, index: usize, byte_size: u64) -> Result<()> {
        self.param_for(index, "local memory", |parameter| parameter.kind == ParamKind::Local)?;
        let mut arguments = self.args.lock();
        arguments.locals[index] = byte_size;
        arguments.set[index] = true;
        Ok(())
    }

    /// Checks that all arguments are set.
    ///
    /// # Errors
    /// `CL_INVALID_KERNEL_ARGS` while some are not.
    pub fn check_arguments(&self) -> Result<()> {
        self.with_set_args(|_| Ok(()))
    }

    /// Calls `use_arguments` with the arguments; `CL_INVALID_KERNEL_ARGS` while some are not set.
    pub(crate) fn with_set_args<R>(&self, use_arguments: impl FnOnce(&Args) -> Result<R>) -> Result<R> {
        let arguments = self.args.lock();
        if let Some(index) = arguments.set.iter().position(|is_set| !is_set) {
            return Err(error!(CL_INVALID_KERNEL_ARGS, "{} was never set", self.describe_argument(index)));
        }
        use_arguments(&arguments)
    }

    /// Calls `use_arguments` with the arguments set so far, and whether these are all.
    pub(crate) fn with_arguments<R>(&self, use_arguments: impl FnOnce(&Args, bool) -> R) -> R {
        let arguments = self.args.lock();
        use_arguments(&arguments, arguments.set.iter().all(|&is_set| is_set))
    }

    /// Bytes of local memory a work-group uses: CL_KERNEL_LOCAL_MEM_SIZE.
    pub fn local_mem_size(&self) -> u64 {
        let own_bytes = self.outline().local_bytes();
        self.args.lock().locals.iter().fold(own_bytes, |sum, byte_size| sum.saturating_add(*byte_size))
    }

    /// The work-items of a full sub-group.
    pub fn sub_group_size(&self) -> usize {
        self.outline().attrs.sub_group_size() as usize
    }

    /// Bytes of private memory a work-item uses beside registers: CL_KERNEL_PRIVATE_MEM_SIZE.
    pub fn private_mem_size(&self) -> u64 {
        self.outline().private_bytes
    }

    /// Most bytes of scratch memory that a worker may need for a launch.
    pub(crate) fn scratch_limit(&self) -> u64 {
        self.program.devices().iter().map(|device| device.scratch_limit()).min().unwrap_or(0)
    }

    /// Most work-items in a group: CL_KERNEL_WORK_GROUP_SIZE. Private memory times work-items must fit
    /// into the scratch memory of a worker, half of which is for what the compiler adds.
    pub fn max_group_size(&self) -> usize {
        let room = self.scratch_limit() / 2 / self.private_mem_size().max(1);
        (room as usize).clamp(1, MAX_WORK_GROUP_SIZE)
    }

    /// What a launch of this kernel must keep to.
    pub fn launch_rules(&self) -> Rules {
        let options = &self.executable.linked().options;
        Rules {
            required: self.outline().attrs.reqd_work_group_size,
            max_group: self.max_group_size(),
            non_uniform: options.allows_non_uniform_groups(),
        }
    }
}

/// Names an argument in messages: `argument 1 'n' (int) of kernel 'f'`.
pub struct Argument<'a> {
    kernel: &'a KernelOutline,
    index: usize,
}

impl fmt::Display for Argument<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "argument {}", self.index)?;
        if let Some(Param { name, type_name, .. }) =
            self.kernel.params.get(self.index).filter(|parameter| !parameter.name.is_empty())
        {
            write!(formatter, " '{name}' ({type_name})")?;
        }
        write!(formatter, " of kernel '{}'", self.kernel.name)
    }
}

/// What an argument is, for messages.
fn kind_of(parameter: &Param) -> &'static str {
    match parameter.kind {
        ParamKind::Value => "a plain value",
        ParamKind::Pointer(_) if parameter.is_pipe() => "a pipe",
        ParamKind::Pointer(Space::Constant) => "a pointer to constant memory",
        ParamKind::Pointer(_) => "a pointer to global memory",
        ParamKind::Local => "local memory",
        ParamKind::Image => "an image",
        ParamKind::Sampler => "a sampler",
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Kernel").field("name", &self.outline().name).finish_non_exhaustive()
    }
}
