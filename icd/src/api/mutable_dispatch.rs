//! Launches of a command buffer that are changed between its runs (`cl_khr_command_buffer_mutable_dispatch`).

use std::ffi::c_void;
use std::sync::Arc;

use lockstep_icd_macros::entry_point;
use lockstep_runtime::kernel::Kernel;
use lockstep_runtime::launch::ndrange::check_dimensions;
use lockstep_runtime::{ApiHandle, Error, Result, ensure};
use opencl_sys::{
    CL_COMMAND_NDRANGE_KERNEL, CL_INVALID_KERNEL_ARGS, CL_INVALID_MUTABLE_COMMAND_KHR, CL_INVALID_OPERATION,
    CL_INVALID_VALUE, CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR, CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR,
    CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR, CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR, CL_MUTABLE_DISPATCH_ARGUMENTS_KHR,
    CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR, CL_MUTABLE_DISPATCH_ASSERTS_KHR,
    CL_MUTABLE_DISPATCH_DIMENSIONS_KHR, CL_MUTABLE_DISPATCH_EXEC_INFO_KHR, CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR,
    CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR, CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR,
    CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR, CL_MUTABLE_DISPATCH_KERNEL_KHR, CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR,
    CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR, CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR,
    CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR, cl_command_buffer_khr, cl_command_buffer_update_type_khr,
    cl_command_queue, cl_command_type, cl_event, cl_kernel, cl_mutable_command_info_khr, cl_mutable_command_khr,
    cl_mutable_dispatch_config_khr, cl_mutable_dispatch_fields_khr, cl_uint,
};
use parking_lot::Mutex;

use crate::api::command_buffer::{CommandBuffer, HeldKernel};
use crate::api::enqueue::check_only;
use crate::api::{kernel, ndrange, svm};
use crate::info::{self, Info};
use crate::{handle, property_list};

/// `CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR`: everything may be changed.
pub const CAPABILITIES: cl_mutable_dispatch_fields_khr = CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR
    | CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR
    | CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR
    | CL_MUTABLE_DISPATCH_ARGUMENTS_KHR
    | CL_MUTABLE_DISPATCH_EXEC_INFO_KHR;

/// A number per dimension.
type Sizes = [usize; 3];

/// A recorded launch.
pub struct Dispatch {
    /// Handle of the command buffer.
    buffer: usize,
    /// The queue's handle.
    queue: usize,
    /// The kernel it was recorded with.
    original: HeldKernel,
    dimensions: cl_uint,
    /// The property list, with its terminating 0; empty when there was none.
    properties: Vec<u64>,
    /// What may be changed.
    fields: cl_mutable_dispatch_fields_khr,
    now: Mutex<Now>,
    /// The word of the handle.
    pub api: ApiHandle,
}

/// What it launches at present.
#[derive(Clone)]
struct Now {
    /// A copy of the kernel with the arguments.
    kernel: Arc<HeldKernel>,
    offset: Option<Sizes>,
    global: Option<Sizes>,
    local: Option<Sizes>,
}

/// The launch of `clCommandNDRangeKernelKHR`.
#[derive(Clone, Copy)]
pub struct Launch {
    /// `kernel`.
    pub kernel: cl_kernel,
    /// `work_dim`.
    pub dimensions: cl_uint,
    /// `global_work_offset`.
    pub offset: *const usize,
    /// `global_work_size`.
    pub global: *const usize,
    /// `local_work_size`.
    pub local: *const usize,
}

/// As many numbers as there are dimensions, if there are any.
///
/// # Safety
/// `numbers` is null or points to so many.
unsafe fn sizes(numbers: *const usize, dimensions: cl_uint) -> Option<Sizes> {
    // SAFETY: not null, so the caller vouches for the count.
    let get = |index| if index < dimensions as usize { unsafe { numbers.add(index).read() } } else { 1 };
    (!numbers.is_null()).then(|| std::array::from_fn(get))
}

/// A property list with its terminating 0, and what it says may be changed.
///
/// # Safety
/// `properties` is null or points to a list that ends in 0.
unsafe fn read_properties(properties: *const u64) -> Result<(Vec<u64>, cl_mutable_dispatch_fields_khr)> {
    let mut fields = CAPABILITIES;
    // "CL_INVALID_VALUE if values specified in properties are not valid".
    let take = |name, value| {
        match name {
            CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR => {
                let (unknown, what) = (value & !CAPABILITIES, "CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR");
                ensure!(unknown == 0, CL_INVALID_VALUE, "{what} is {value:#x}, of which {unknown:#x} are unknown");
                fields = value;
            }
            CL_MUTABLE_DISPATCH_ASSERTS_KHR => {
                let unknown = value & !CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR;
                let what = "CL_MUTABLE_DISPATCH_ASSERTS_KHR";
                ensure!(unknown == 0, CL_INVALID_VALUE, "{what} is {value:#x}, of which {unknown:#x} are unknown");
            }
            _ => return property_list::unknown(CL_INVALID_VALUE, name),
        }
        Ok(())
    };
    // SAFETY: the same contract.
    let list = unsafe { property_list::read(properties, CL_INVALID_VALUE, take)? };
    Ok((list, fields))
}

impl Dispatch {
    /// A launch for a command buffer, given the handles of the buffer and of its queue.
    ///
    /// # Safety
    /// The pointers are as the extension says.
    pub unsafe fn new(
        (buffer, queue): (cl_command_buffer_khr, cl_command_queue),
        properties: *const u64,
        launch: Launch,
    ) -> Result<Arc<Self>> {
        let dimensions = launch.dimensions;
        check_dimensions(dimensions)?;
        // "Any changes to kernel after calling clCommandNDRangeKernelKHR […] have no effect on the recorded command."
        let kernel = Arc::new(HeldKernel::own(handle::get::<Kernel>(launch.kernel)?.duplicate())?);
        // SAFETY: the same contract.
        let (offset, global, local, (properties, fields)) = unsafe {
            (
                sizes(launch.offset, dimensions),
                sizes(launch.global, dimensions),
                sizes(launch.local, dimensions),
                read_properties(properties)?,
            )
        };
        Ok(Arc::new(Self {
            buffer: buffer as usize,
            queue: queue as usize,
            original: HeldKernel::retain(launch.kernel)?,
            dimensions,
            properties,
            fields,
            now: Mutex::new(Now { kernel, offset, global, local }),
            api: ApiHandle::default(),
        }))
    }

    /// The handle of its command buffer.
    pub fn buffer(&self) -> cl_command_buffer_khr {
        self.buffer as cl_command_buffer_khr
    }

    /// Whether arguments may still be set after recording.
    pub fn takes_arguments(&self) -> bool {
        self.fields & CL_MUTABLE_DISPATCH_ARGUMENTS_KHR != 0
    }

    /// Enqueues the launch.
    pub fn enqueue(
        &self,
        queue: cl_command_queue,
        count: cl_uint,
        list: *const cl_event,
        event: *mut cl_event,
    ) -> Result<()> {
        let now = self.now.lock().clone();
        now.enqueue(self.dimensions, queue, count, list, event)
    }

    /// "CL_INVALID_OPERATION if work_dim is not zero and different from the work_dim set on command recording", or if the
    /// property for what is to be changed was not set.
    fn check_may_change(&self, config: &cl_mutable_dispatch_config_khr) -> Result<()> {
        let (dimensions, asked) = (self.dimensions, config.work_dim);
        ensure!(
            [0, dimensions].contains(&asked),
            CL_INVALID_OPERATION,
            "work_dim is {asked}; 0 or the {dimensions} of the recording are allowed"
        );
        let changes = [
            (CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR, "global_work_offset", !config.global_work_offset.is_null()),
            (CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR, "global_work_size", !config.global_work_size.is_null()),
            (CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR, "local_work_size", !config.local_work_size.is_null()),
            (CL_MUTABLE_DISPATCH_ARGUMENTS_KHR, "arguments", config.num_args > 0 || config.num_svm_args > 0),
            (CL_MUTABLE_DISPATCH_EXEC_INFO_KHR, "the execution info", config.num_exec_infos > 0),
        ];
        for (field, what, is_changed) in changes {
            ensure!(
                self.fields & field != 0 || !is_changed,
                CL_INVALID_OPERATION,
                "{what} cannot be changed: CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR was {:#x}",
                self.fields
            );
        }
        Ok(())
    }

    /// What it launches after a change.
    ///
    /// # Safety
    /// The structure is as the extension says.
    unsafe fn changed(&self, config: &cl_mutable_dispatch_config_khr) -> Result<Now> {
        self.check_may_change(config)?;
        // "CL_INVALID_VALUE if arg_list is NULL and num_args > 0, or arg_list is not NULL and num_args is 0", and likewise
        // for the other lists.
        handle::check_list(config.num_args, "argument", config.arg_list, CL_INVALID_VALUE)?;
        handle::check_list(config.num_svm_args, "pointer argument", config.arg_svm_list, CL_INVALID_VALUE)?;
        handle::check_list(config.num_exec_infos, "execution info", config.exec_info_list, CL_INVALID_VALUE)?;
        let before = self.now.lock().clone();
        let copy = handle::get::<Kernel>(before.kernel.get())?.duplicate();
        let kernel = Arc::new(HeldKernel::own(copy)?);
        // SAFETY: the caller vouches for the lists.
        unsafe {
            for i in 0..config.num_args as usize {
                let argument = &*config.arg_list.add(i);
                let (index, size) = (argument.arg_index, argument.arg_size);
                kernel::set_kernel_arg(kernel.get(), index, size, argument.arg_value)?;
            }
            for i in 0..config.num_svm_args as usize {
                let argument = &*config.arg_svm_list.add(i);
                svm::set_kernel_arg_svm_pointer(kernel.get(), argument.arg_index, argument.arg_value)?;
            }
            for i in 0..config.num_exec_infos as usize {
                let told = &*config.exec_info_list.add(i);
                let (size, value) = (told.param_value_size, told.param_value);
                svm::set_kernel_exec_info(kernel.get(), told.param_name, size, value)?;
            }
            let after = Now {
                kernel,
                offset: sizes(config.global_work_offset, self.dimensions).or(before.offset),
                global: sizes(config.global_work_size, self.dimensions).or(before.global),
                local: sizes(config.local_work_size, self.dimensions).or(before.local),
            };
            // "CL_INVALID_OPERATION if the values of local_work_size and/or global_work_size result in a change to
            // work-group uniformity."
            ensure!(
                before.is_uniform() == after.is_uniform(),
                CL_INVALID_OPERATION,
                "local_work_size {:?} divides global_work_size {:?} or not, other than what was recorded",
                after.local,
                after.global
            );
            let queue = self.queue as cl_command_queue;
            let (none, nowhere) = (std::ptr::null(), std::ptr::null_mut());
            match check_only(|| after.enqueue(self.dimensions, queue, 0, none, nowhere)) {
                // Some may be set later.
                Err(error) if error.code() == CL_INVALID_KERNEL_ARGS && self.takes_arguments() => {}
                checked => checked?,
            }
            Ok(after)
        }
    }
}

impl Now {
    /// Whether all work-groups are as large.
    fn is_uniform(&self) -> bool {
        let (Some(global), Some(local)) = (self.global, self.local) else { return true };
        global.iter().zip(local).all(|(&global, local)| local == 0 || global.is_multiple_of(local))
    }

    fn enqueue(
        &self,
        dimensions: cl_uint,
        queue: cl_command_queue,
        count: cl_uint,
        list: *const cl_event,
        event: *mut cl_event,
    ) -> Result<()> {
        let pointer = |sizes: &Option<Sizes>| sizes.as_ref().map_or(std::ptr::null(), |sizes| sizes.as_ptr());
        let (offset, global, local) = (pointer(&self.offset), pointer(&self.global), pointer(&self.local));
        let kernel = self.kernel.get();
        // SAFETY: the arrays have as many numbers as dimensions; the rest is the command buffer's.
        unsafe {
            ndrange::enqueue_nd_range_kernel(queue, kernel, dimensions, offset, global, local, count, list, event)
        }
    }
}

/// `clUpdateMutableCommandsKHR`.
#[entry_point(clUpdateMutableCommandsKHR)]
pub unsafe fn update_mutable_commands(
    command_buffer: cl_command_buffer_khr,
    num_configs: cl_uint,
    config_types: *const cl_command_buffer_update_type_khr,
    configs: *mut *const c_void,
) -> Result<()> {
    // SAFETY: the caller vouches for the lists.
    unsafe {
        let buffer = handle::get::<CommandBuffer>(command_buffer)?;
        // "CL_INVALID_OPERATION if command_buffer has not been finalized [or] was not created with the
        // CL_COMMAND_BUFFER_MUTABLE_KHR flag."
        ensure!(buffer.is_finalized(), CL_INVALID_OPERATION, "the command buffer has not been finalized");
        let flag = "CL_COMMAND_BUFFER_MUTABLE_KHR";
        ensure!(buffer.is_mutable(), CL_INVALID_OPERATION, "the command buffer was created without {flag}");
        // "CL_INVALID_VALUE if config_types is NULL and num_configs > 0, or config_types is not NULL and num_configs is
        // 0", and likewise for configs.
        handle::check_list(num_configs, "configuration type", config_types, CL_INVALID_VALUE)?;
        handle::check_list(num_configs, "configuration", configs, CL_INVALID_VALUE)?;
        let mut changes: Vec<(Arc<Dispatch>, Now)> = Vec::with_capacity(num_configs as usize);
        for i in 0..num_configs as usize {
            // "CL_INVALID_VALUE if any element of config_types is not a valid cl_command_buffer_update_type_khr enum [or]
            // if any element of configs is NULL."
            let config = configs.add(i).read().cast::<cl_mutable_dispatch_config_khr>();
            let kind = config_types.add(i).read();
            ensure!(
                kind == CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR,
                CL_INVALID_VALUE,
                "config_types[{i}] is {kind:#x}; CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR is allowed"
            );
            ensure!(!config.is_null(), CL_INVALID_VALUE, "configs[{i}] is NULL");
            // "CL_INVALID_MUTABLE_COMMAND_KHR if command is not a valid mutable command object […] or created from
            // command_buffer."
            let named = |error: Error| error.about(format_args!("configuration {i} of {num_configs}"));
            let dispatch = handle::get::<Dispatch>((*config).command).map_err(named)?;
            ensure!(
                dispatch.buffer == command_buffer as usize,
                CL_INVALID_MUTABLE_COMMAND_KHR,
                "the command of configuration {i} belongs to another command buffer"
            );
            // A second change of one command is made to what the first one leaves.
            let earlier = changes.iter().position(|(other, _)| Arc::ptr_eq(other, &dispatch));
            let restore = earlier.map(|at| std::mem::replace(&mut *dispatch.now.lock(), changes[at].1.clone()));
            let after = dispatch.changed(&*config).map_err(named);
            if let Some(original) = restore {
                *dispatch.now.lock() = original;
            }
            match earlier {
                Some(at) => changes[at].1 = after?,
                None => changes.push((dispatch, after?)),
            }
        }
        // "Otherwise, none of the updates to mutable-command objects are preserved": all are right by now.
        for (dispatch, after) in changes {
            let before = std::mem::replace(&mut *dispatch.now.lock(), after);
            drop(before);
        }
        Ok(())
    }
}

/// `clGetMutableCommandInfoKHR`.
#[entry_point(clGetMutableCommandInfoKHR)]
pub unsafe fn get_mutable_command_info(
    command: cl_mutable_command_khr,
    param_name: cl_mutable_command_info_khr,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> Result<()> {
    let dispatch = handle::get::<Dispatch>(command)?;
    // SAFETY: the caller vouches for the pointers.
    let info = unsafe { Info::new(param_value_size, param_value, param_value_size_ret) };
    let now = dispatch.now.lock().clone();
    // "If a global work-item offset was not set, zero is returned for each element in the array."
    let numbers = |sizes: Option<Sizes>| info.slice(&sizes.unwrap_or_default()[..dispatch.dimensions as usize]);
    match param_name {
        CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR => info.value(dispatch.queue),
        CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR => info.value(dispatch.buffer),
        CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR => info.value::<cl_command_type>(CL_COMMAND_NDRANGE_KERNEL),
        CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR => info.slice(&dispatch.properties),
        CL_MUTABLE_DISPATCH_KERNEL_KHR => info.value(dispatch.original.get()),
        CL_MUTABLE_DISPATCH_DIMENSIONS_KHR => info.value(dispatch.dimensions),
        CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR => numbers(now.offset),
        CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR => numbers(now.global),
        CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR => numbers(now.local),
        _ => info::unknown(param_name),
    }
}
