//! What the device answers (OpenCL API, 4.2, "Device Queries").

use std::ffi::c_void;
use std::sync::Arc;

use lockstep_icd_macros::entry_point;
use lockstep_runtime::device::{self, DRIVER_VERSION, Device, NAME, has_extension, has_feature};
use lockstep_runtime::{Result, clock, compiler_process, extensions, image, pipe};
use opencl_sys::*;

use crate::api::platform::platform_handle;
use crate::api::{extension_info, sub_device, svm, usm};
use crate::handle;
use crate::info::{self, Info};

/// `clGetDeviceInfo`: answers questions about a device.
#[entry_point(clGetDeviceInfo)]
pub unsafe fn get_device_info(
    device: cl_device_id,
    param_name: cl_device_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> Result<()> {
    // "CL_INVALID_DEVICE if device is not a valid device."
    let device = handle::get::<Device>(device)?;
    // SAFETY: the caller vouches for the pointers.
    let info = unsafe { Info::new(param_value_size, param_value, param_value_size_ret) };
    // "CL_INVALID_VALUE if param_name is not one of the supported values".
    identity_info(&device, param_name, info)
        .or_else(|| execution_info(&device, param_name, info))
        .or_else(|| memory_info(&device, param_name, info))
        .or_else(|| usm::of_device(param_name, info))
        .or_else(|| extension_info::of_device(&device, param_name, info))
        .or_else(|| image_info(param_name, info))
        .or_else(|| arithmetic_info(&device, param_name, info))
        .or_else(|| language_info(param_name, info))
        .or_else(|| absent_info(param_name, info))
        .unwrap_or_else(|| info::unknown(param_name))
}

/// What it is.
fn identity_info(device: &Arc<Device>, name: cl_device_info, info: Info) -> Option<Result<()>> {
    Some(match name {
        CL_DEVICE_TYPE => info.value::<cl_device_type>(CL_DEVICE_TYPE_CPU),
        CL_DEVICE_NAME => info.string(device.name()),
        CL_DEVICE_VENDOR => info.string(device.vendor()),
        CL_DEVICE_VENDOR_ID => info.value::<cl_uint>(device.vendor_id()),
        CL_DEVICE_PLATFORM => platform_handle().and_then(|platform| info.value(platform)),
        CL_DEVICE_PROFILE => info.string("FULL_PROFILE"),
        CL_DEVICE_VERSION => info.string(&format!("OpenCL 3.1 {NAME} {DRIVER_VERSION}")),
        CL_DEVICE_NUMERIC_VERSION => info.value(extensions::pack_version(3, 1, 0)),
        CL_DRIVER_VERSION => info.string(DRIVER_VERSION),
        // No suite of the Khronos Group has been passed officially, said in the form of a version: vYYYY-MM-DD-XX.
        CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED => info.string("v0000-01-01-00"),
        CL_DEVICE_AVAILABLE => info.bool(true),
        CL_DEVICE_COMPILER_AVAILABLE | CL_DEVICE_LINKER_AVAILABLE => info.bool(compiler_process::is_available()),
        CL_DEVICE_EXTENSIONS => info.string(&extensions::device_extensions()),
        CL_DEVICE_EXTENSIONS_WITH_VERSION => info.slice(&extensions::of_device()),
        // That of a root device is 1: only sub-devices are counted.
        CL_DEVICE_REFERENCE_COUNT => info.value(handle::references(device)),
        CL_DEVICE_PARENT_DEVICE => info.value(device.parent().map_or(std::ptr::null_mut(), handle::of)),
        CL_DEVICE_PARTITION_MAX_SUB_DEVICES => info.value::<cl_uint>(device.compute_units()),
        CL_DEVICE_PARTITION_PROPERTIES => sub_device::schemes(device, info),
        CL_DEVICE_PARTITION_AFFINITY_DOMAIN => sub_device::affinity_domains(device, info),
        CL_DEVICE_PARTITION_TYPE => sub_device::partition_type(device, info),
        _ => return None,
    })
}

/// How it executes.
fn execution_info(device: &Device, name: cl_device_info, info: Info) -> Option<Result<()>> {
    const HOST_QUEUE: cl_command_queue_properties = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
    Some(match name {
        CL_DEVICE_MAX_COMPUTE_UNITS => info.value::<cl_uint>(device.compute_units()),
        CL_DEVICE_MAX_CLOCK_FREQUENCY => info.value::<cl_uint>(device.machine().clock_mhz),
        CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS => info.value::<cl_uint>(3),
        CL_DEVICE_MAX_WORK_ITEM_SIZES => info.value([device::MAX_WORK_GROUP_SIZE; 3]),
        CL_DEVICE_MAX_WORK_GROUP_SIZE => info.value::<usize>(device::MAX_WORK_GROUP_SIZE),
        // Neighbouring work-items share a vector register.
        CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => info.value::<usize>(device.lane_count()),
        CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT => info.bool(true),
        CL_DEVICE_EXECUTION_CAPABILITIES => {
            info.value::<cl_device_exec_capabilities>(CL_EXEC_KERNEL | CL_EXEC_NATIVE_KERNEL)
        }
        CL_DEVICE_QUEUE_ON_HOST_PROPERTIES => info.value(HOST_QUEUE),
        CL_DEVICE_PROFILING_TIMER_RESOLUTION => info.value::<usize>(clock::RESOLUTION),
        CL_DEVICE_PRINTF_BUFFER_SIZE => info.value::<usize>(device::PRINTF_BUFFER),
        CL_DEVICE_PREFERRED_INTEROP_USER_SYNC => info.bool(true),
        CL_DEVICE_BUILT_IN_KERNELS => info.string(""),
        CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION => info.slice::<cl_name_version>(&[]),
        _ => return None,
    })
}

/// What memory it has.
fn memory_info(device: &Device, name: cl_device_info, info: Info) -> Option<Result<()>> {
    Some(match name {
        CL_DEVICE_ADDRESS_BITS => info.value::<cl_uint>(usize::BITS),
        CL_DEVICE_ENDIAN_LITTLE => info.bool(cfg!(target_endian = "little")),
        CL_DEVICE_ERROR_CORRECTION_SUPPORT => info.bool(false),
        CL_DEVICE_HOST_UNIFIED_MEMORY => info.bool(true),
        CL_DEVICE_GLOBAL_MEM_SIZE => info.value::<cl_ulong>(device.global_memory()),
        CL_DEVICE_MAX_MEM_ALLOC_SIZE => info.value::<cl_ulong>(device.max_allocation()),
        CL_DEVICE_GLOBAL_MEM_CACHE_TYPE => info.value::<cl_device_mem_cache_type>(CL_READ_WRITE_CACHE),
        CL_DEVICE_GLOBAL_MEM_CACHE_SIZE => info.value::<cl_ulong>(device.machine().cache),
        CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE => info.value::<cl_uint>(device.machine().cache_line),
        // Local memory is ordinary memory that stays in the caches.
        CL_DEVICE_LOCAL_MEM_TYPE => info.value::<cl_device_local_mem_type>(CL_GLOBAL),
        CL_DEVICE_LOCAL_MEM_SIZE => info.value::<cl_ulong>(device::LOCAL_MEMORY),
        CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE => info.value::<cl_ulong>(device::CONSTANT_MEMORY),
        CL_DEVICE_MAX_CONSTANT_ARGS => info.value::<cl_uint>(device::MAX_CONSTANT_ARGUMENTS),
        CL_DEVICE_MAX_PARAMETER_SIZE => info.value::<usize>(device::MAX_PARAMETER_SIZE),
        CL_DEVICE_MEM_BASE_ADDR_ALIGN => info.value::<cl_uint>(device::BASE_ALIGNMENT as cl_uint * u8::BITS),
        // The size of a double16, the largest type.
        CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE => info.value::<cl_uint>(128),
        // Natural alignment.
        CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT
        | CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT
        | CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT => info.value::<cl_uint>(0),
        CL_DEVICE_SVM_CAPABILITIES => info.value(svm::CAPABILITIES),
        CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE | CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE => {
            let supported = has_feature("__opencl_c_program_scope_global_variables");
            info.value::<usize>(if supported { device::GLOBAL_VARIABLES } else { 0 })
        }
        _ => return None,
    })
}

/// Its images; without support for them, "the minimum value" of all this is 0.
fn image_info(name: cl_device_info, info: Info) -> Option<Result<()>> {
    let number = |value: cl_uint| info.value::<cl_uint>(if device::has_images() { value } else { 0 });
    let size = |value: usize| info.value::<usize>(if device::has_images() { value } else { 0 });
    Some(match name {
        CL_DEVICE_IMAGE_SUPPORT => info.bool(device::has_images()),
        CL_DEVICE_MAX_READ_IMAGE_ARGS | CL_DEVICE_MAX_WRITE_IMAGE_ARGS => number(image::MAX_ARGUMENTS),
        CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS => {
            number(if has_feature("__opencl_c_read_write_images") { image::MAX_ARGUMENTS } else { 0 })
        }
        CL_DEVICE_MAX_SAMPLERS => number(image::MAX_SAMPLERS),
        CL_DEVICE_IMAGE_PITCH_ALIGNMENT | CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT => number(image::ALIGNMENT),
        CL_DEVICE_IMAGE2D_MAX_WIDTH | CL_DEVICE_IMAGE2D_MAX_HEIGHT => size(image::MAX_2D),
        CL_DEVICE_IMAGE3D_MAX_WIDTH | CL_DEVICE_IMAGE3D_MAX_HEIGHT | CL_DEVICE_IMAGE3D_MAX_DEPTH => size(image::MAX_3D),
        CL_DEVICE_IMAGE_MAX_BUFFER_SIZE => size(image::MAX_BUFFER),
        CL_DEVICE_IMAGE_MAX_ARRAY_SIZE => size(image::MAX_LAYERS),
        _ => return None,
    })
}

/// What its arithmetic does.
fn arithmetic_info(device: &Device, name: cl_device_info, info: Info) -> Option<Result<()>> {
    let double = cl_uint::from(has_extension("cl_khr_fp64"));
    let half = cl_uint::from(has_extension("cl_khr_fp16"));
    Some(match name {
        // A work-item is one lane of a register. Applications that ask how wide their vectors should be get scalars, which
        // are vectorized best: vectors of 16 elements would be 16 registers each.
        CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_INT
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT => info.value::<cl_uint>(1),
        CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE | CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE => info.value::<cl_uint>(double),
        CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF | CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF => info.value::<cl_uint>(half),
        CL_DEVICE_SINGLE_FP_CONFIG => info.value::<cl_device_fp_config>(device.single_config()),
        CL_DEVICE_DOUBLE_FP_CONFIG => info.value::<cl_device_fp_config>(device.double_config()),
        CL_DEVICE_HALF_FP_CONFIG => info.value::<cl_device_fp_config>(device.half_config()),
        _ => return None,
    })
}

/// What the language offers.
fn language_info(name: cl_device_info, info: Info) -> Option<Result<()>> {
    Some(match name {
        // "the highest fully backwards compatible OpenCL C version": 3.0 and 3.1 need not take what 2.0 took.
        CL_DEVICE_OPENCL_C_VERSION => info.string(&format!("OpenCL C 1.2 {}", NAME)),
        CL_DEVICE_OPENCL_C_ALL_VERSIONS => info.slice(&extensions::language_versions()),
        CL_DEVICE_OPENCL_C_FEATURES => info.slice(&extensions::feature_versions()),
        CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES => info.value(atomic_capabilities(0)),
        CL_DEVICE_ATOMIC_FENCE_CAPABILITIES => {
            info.value(atomic_capabilities(CL_DEVICE_ATOMIC_ORDER_ACQ_REL | CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM))
        }
        CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT => info.bool(has_feature("__opencl_c_generic_address_space")),
        CL_DEVICE_MAX_NUM_SUB_GROUPS => info.value(device::MAX_NUM_SUB_GROUPS),
        // Those that wait for others take turns with them.
        CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS => info.bool(true),
        CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT => {
            info.bool(has_feature("__opencl_c_work_group_collective_functions"))
        }
        // "A space-separated list of IL version strings of the form <IL_Prefix>_<Major_version>.<Minor_version>".
        CL_DEVICE_IL_VERSION => info.string(&extensions::spirv_version_list()),
        CL_DEVICE_ILS_WITH_VERSION => info.slice(&extensions::spirv_versions()),
        CL_DEVICE_PIPE_SUPPORT => info.bool(has_feature("__opencl_c_pipes")),
        CL_DEVICE_MAX_PIPE_ARGS => info.value(pipe::MAX_ARGUMENTS),
        CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS => info.value(pipe::MAX_RESERVATIONS),
        CL_DEVICE_PIPE_MAX_PACKET_SIZE => info.value(pipe::MAX_PACKET_SIZE),
        _ => return None,
    })
}

/// The atomic orders and scopes that the features name, with what every device has and `more`.
fn atomic_capabilities(more: cl_device_atomic_capabilities) -> cl_device_atomic_capabilities {
    let optional = [
        ("__opencl_c_atomic_order_acq_rel", CL_DEVICE_ATOMIC_ORDER_ACQ_REL),
        ("__opencl_c_atomic_order_seq_cst", CL_DEVICE_ATOMIC_ORDER_SEQ_CST),
        ("__opencl_c_atomic_scope_device", CL_DEVICE_ATOMIC_SCOPE_DEVICE),
        ("__opencl_c_atomic_scope_all_devices", CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES),
    ];
    optional
        .iter()
        .filter(|(feature, _)| has_feature(feature))
        .fold(CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP | more, |all, (_, bit)| all | bit)
}

/// What it does not have: queues of its own.
fn absent_info(name: cl_device_info, info: Info) -> Option<Result<()>> {
    Some(match name {
        CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE
        | CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE
        | CL_DEVICE_MAX_ON_DEVICE_QUEUES
        | CL_DEVICE_MAX_ON_DEVICE_EVENTS => info.value::<cl_uint>(0),
        CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES => info.value::<cl_command_queue_properties>(0),
        CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES => info.value::<cl_device_device_enqueue_capabilities>(0),
        _ => return None,
    })
}
