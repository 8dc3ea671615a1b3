//! Launches of a command buffer that are changed between its runs (`cl_khr_command_buffer_mutable_dispatch`).

use std::ffi::c_void;
use std::sync::Arc;

use crate::api::kernel::set_argument;
use crate::api::ndrange::check_fit;
use crate::api::svm::check_exec_info;
use crate::info::{self, Info};
use crate::{fork, handle, property_list};
use lockstep_icd_macros::entry_point;
use lockstep_runtime::command_buffer::CommandBuffer;
use lockstep_runtime::command_buffer::launch::{LaunchParameters, LaunchSizes, RecordedLaunch};
use lockstep_runtime::kernel::Kernel;
use lockstep_runtime::launch::ndrange::check_dimensions;
use lockstep_runtime::{Error, Result, ensure};
use opencl_sys::{
    CL_COMMAND_NDRANGE_KERNEL, CL_INVALID_MUTABLE_COMMAND_KHR, CL_INVALID_OPERATION, CL_INVALID_VALUE,
    CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR, CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR, CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR,
    CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR, CL_MUTABLE_DISPATCH_ARGUMENTS_KHR,
    CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR, CL_MUTABLE_DISPATCH_ASSERTS_KHR,
    CL_MUTABLE_DISPATCH_DIMENSIONS_KHR, CL_MUTABLE_DISPATCH_EXEC_INFO_KHR, CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR,
    CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR, CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR,
    CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR, CL_MUTABLE_DISPATCH_KERNEL_KHR, CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR,
    CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR, CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR,
    CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR, cl_command_buffer_khr, cl_command_buffer_update_type_khr,
    cl_command_type, cl_kernel, cl_mutable_command_info_khr, cl_mutable_command_khr, cl_mutable_dispatch_config_khr,
    cl_mutable_dispatch_fields_khr, cl_uint,
};

/// `CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR`: everything may be changed.
pub const CAPABILITIES: cl_mutable_dispatch_fields_khr = CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR
    | CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR
    | CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR
    | CL_MUTABLE_DISPATCH_ARGUMENTS_KHR
    | CL_MUTABLE_DISPATCH_EXEC_INFO_KHR;

/// The parameters of `clCommandNDRangeKernelKHR` that say what is launched.
#[derive(Clone, Copy)]
pub struct LaunchCall {
    /// `kernel`: what is launched.
    pub kernel: cl_kernel,
    /// `work_dim`: the number of dimensions.
    pub dimensions: cl_uint,
    /// `global_work_offset`: one number per dimension, or null.
    pub offset: *const usize,
    /// `global_work_size`: one number per dimension, or null.
    pub global: *const usize,
    /// `local_work_size`: one number per dimension, or null.
    pub local: *const usize,
}

/// As many numbers as there are dimensions, if there are any.
///
/// # Safety
/// `numbers` is null or points to so many.
unsafe fn read_sizes(numbers: *const usize, dimensions: cl_uint) -> Option<[usize; 3]> {
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
    let take = |name, value| take_property(name, value, &mut fields);
    // SAFETY: the same contract.
    let list = unsafe { property_list::read(properties, CL_INVALID_VALUE, take)? };
    Ok((list, fields))
}

/// Checks a property, and takes what may be changed. "CL_INVALID_VALUE if values specified in properties are not valid".
fn take_property(name: u64, value: u64, fields: &mut cl_mutable_dispatch_fields_khr) -> Result<()> {
    match name {
        CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR => {
            let (unknown, what) = (value & !CAPABILITIES, "CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR");
            ensure!(unknown == 0, CL_INVALID_VALUE, "{what} is {value:#x}, of which {unknown:#x} are unknown");
            *fields = value;
        }
        CL_MUTABLE_DISPATCH_ASSERTS_KHR => {
            let unknown = value & !CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR;
            let what = "CL_MUTABLE_DISPATCH_ASSERTS_KHR";
            ensure!(unknown == 0, CL_INVALID_VALUE, "{what} is {value:#x}, of which {unknown:#x} are unknown");
        }
        _ => return property_list::unknown(CL_INVALID_VALUE, name),
    }
    Ok(())
}

/// A launch for a command buffer, checked.
///
/// # Safety
/// The pointers are as the extension says.
pub unsafe fn check_launch(
    buffer: &Arc<CommandBuffer>,
    properties: *const u64,
    call: LaunchCall,
) -> Result<Arc<RecordedLaunch>> {
    let dimensions = call.dimensions;
    check_dimensions(dimensions)?;
    let original = handle::get::<Kernel>(call.kernel)?;
    // SAFETY: the same contract.
    let (properties, sizes) = unsafe {
        let [offset, global, local] = [call.offset, call.global, call.local].map(|list| read_sizes(list, dimensions));
        (read_properties(properties)?, LaunchSizes { dimensions, offset, global, local })
    };
    check_fit(buffer.queue(), &original)?;
    let parameters = LaunchParameters::new(original.clone_kernel(), sizes)?;
    let launch = RecordedLaunch::new(buffer, original, properties, parameters.clone())?;
    // "[The kernel] must have its arguments set unless the command has the CL_MUTABLE_DISPATCH_ARGUMENTS_KHR property
    // set".
    parameters.check_launch(buffer.is_mutable() && launch.takes_arguments())?;
    Ok(launch)
}

/// "CL_INVALID_OPERATION if work_dim is not zero and different from the work_dim set on command recording", or if the
/// property for what is to be changed was not set.
fn check_may_change(
    launch: &RecordedLaunch,
    dimensions: cl_uint,
    config: &cl_mutable_dispatch_config_khr,
) -> Result<()> {
    let asked = config.work_dim;
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
            launch.updatable() & field != 0 || !is_changed,
            CL_INVALID_OPERATION,
            "{what} cannot be changed: CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR was {:#x}",
            launch.updatable()
        );
    }
    Ok(())
}

/// Sets the arguments that a change names.
///
/// # Safety
/// The structure is as the extension says.
unsafe fn change_arguments(kernel: &Kernel, config: &cl_mutable_dispatch_config_khr) -> Result<()> {
    // "CL_INVALID_VALUE if arg_list is NULL and num_args > 0, or arg_list is not NULL and num_args is 0", and likewise
    // for the other lists.
    handle::check_list(config.num_args, "argument", config.arg_list, CL_INVALID_VALUE)?;
    handle::check_list(config.num_svm_args, "pointer argument", config.arg_svm_list, CL_INVALID_VALUE)?;
    handle::check_list(config.num_exec_infos, "execution info", config.exec_info_list, CL_INVALID_VALUE)?;
    // SAFETY: the caller vouches for the lists.
    unsafe {
        for i in 0..config.num_args as usize {
            let argument = &*config.arg_list.add(i);
            set_argument(kernel, argument.arg_index, argument.arg_size, argument.arg_value)?;
        }
        for i in 0..config.num_svm_args as usize {
            let argument = &*config.arg_svm_list.add(i);
            kernel.set_pointer(argument.arg_index as usize, argument.arg_value as u64)?;
        }
        for i in 0..config.num_exec_infos as usize {
            let told = &*config.exec_info_list.add(i);
            check_exec_info(told.param_name, told.param_value_size, told.param_value)?;
        }
    }
    Ok(())
}

/// What a launch launches after a change, given what it does before.
///
/// # Safety
/// The structure is as the extension says.
unsafe fn check_change(
    launch: &RecordedLaunch,
    before: &LaunchParameters,
    config: &cl_mutable_dispatch_config_khr,
) -> Result<LaunchParameters> {
    let dimensions = before.sizes().dimensions;
    check_may_change(launch, dimensions, config)?;
    let kernel = before.launch().kernel().clone_kernel();
    // SAFETY: the same contract.
    let [offset, global, local] = unsafe {
        change_arguments(&kernel, config)?;
        [config.global_work_offset, config.global_work_size, config.local_work_size]
            .map(|list| read_sizes(list, dimensions))
    };
    let after = LaunchSizes { dimensions, offset, global, local }.with_defaults_of(before.sizes());
    // "CL_INVALID_OPERATION if the values of local_work_size and/or global_work_size result in a change to work-group
    // uniformity."
    ensure!(
        before.sizes().is_uniform() == after.is_uniform(),
        CL_INVALID_OPERATION,
        "local_work_size {:?} divides global_work_size {:?} or not, other than what was recorded",
        after.local,
        after.global
    );
    let after = LaunchParameters::new(kernel, after)?;
    // Some arguments may be set later.
    after.check_launch(launch.takes_arguments())?;
    Ok(after)
}

/// `clUpdateMutableCommandsKHR`: changes launches that a command buffer has recorded.
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
        fork::check()?;
        // "CL_INVALID_OPERATION if command_buffer has not been finalized [or] was not created with the
        // CL_COMMAND_BUFFER_MUTABLE_KHR flag."
        ensure!(buffer.is_finalized(), CL_INVALID_OPERATION, "the command buffer has not been finalized");
        let flag = "CL_COMMAND_BUFFER_MUTABLE_KHR";
        ensure!(buffer.is_mutable(), CL_INVALID_OPERATION, "the command buffer was created without {flag}");
        // "CL_INVALID_VALUE if config_types is NULL and num_configs > 0, or config_types is not NULL and num_configs is
        // 0", and likewise for configs.
        handle::check_list(num_configs, "configuration type", config_types, CL_INVALID_VALUE)?;
        handle::check_list(num_configs, "configuration", configs, CL_INVALID_VALUE)?;
        let mut changes: Vec<(Arc<RecordedLaunch>, LaunchParameters)> = Vec::with_capacity(num_configs as usize);
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
            let named = |error: Error| error.with_subject(format_args!("configuration {i} of {num_configs}"));
            let launch = handle::get::<RecordedLaunch>((*config).command).map_err(named)?;
            ensure!(
                launch.buffer().is_some_and(|owner| Arc::ptr_eq(&owner, &buffer)),
                CL_INVALID_MUTABLE_COMMAND_KHR,
                "the command of configuration {i} belongs to another command buffer"
            );
            // A second change of one command is made to what the first one leaves.
            let earlier = changes.iter_mut().find(|(other, _)| Arc::ptr_eq(other, &launch));
            let before = earlier.as_ref().map_or_else(|| launch.parameters(), |(_, changed)| changed.clone());
            let after = check_change(&launch, &before, &*config).map_err(named)?;
            match earlier {
                Some((_, changed)) => *changed = after,
                None => changes.push((launch, after)),
            }
        }
        // "Otherwise, none of the updates to mutable-command objects are preserved": all are right by now.
        for (launch, after) in changes {
            launch.set_parameters(after);
        }
        Ok(())
    }
}

/// `clGetMutableCommandInfoKHR`: answers questions about a recorded launch.
#[entry_point(clGetMutableCommandInfoKHR)]
pub unsafe fn get_mutable_command_info(
    command: cl_mutable_command_khr,
    param_name: cl_mutable_command_info_khr,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> Result<()> {
    let launch = handle::get::<RecordedLaunch>(command)?;
    // SAFETY: the caller vouches for the pointers.
    let info = unsafe { Info::new(param_value_size, param_value, param_value_size_ret) };
    let now = launch.parameters().sizes();
    // "If a global work-item offset was not set, zero is returned for each element in the array."
    let numbers = |sizes: Option<[usize; 3]>| info.slice(&sizes.unwrap_or_default()[..now.dimensions as usize]);
    let buffer = launch.buffer();
    match param_name {
        CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR => {
            info.value(buffer.map_or(std::ptr::null_mut(), |buffer| handle::of(buffer.queue())))
        }
        CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR => info.value(buffer.as_ref().map_or(std::ptr::null_mut(), handle::of)),
        CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR => info.value::<cl_command_type>(CL_COMMAND_NDRANGE_KERNEL),
        CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR => info.slice(launch.properties()),
        CL_MUTABLE_DISPATCH_KERNEL_KHR => info.value(handle::of(launch.kernel())),
        CL_MUTABLE_DISPATCH_DIMENSIONS_KHR => info.value(now.dimensions),
        CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR => numbers(now.offset),
        CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR => numbers(now.global),
        CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR => numbers(now.local),
        _ => info::unknown(param_name),
    }
}
