//! What the device answers about extensions that have queries of their own.

use std::ffi::{CString, c_char};

use lockstep_runtime::device::{self, Device};
use lockstep_runtime::{Result, extensions};
use opencl_sys::{
    CL_COMMAND_BUFFER_CAPABILITY_KERNEL_PRINTF_KHR, CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR,
    CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR, CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR,
    CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR,
    CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED_KHR,
    CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_8BIT_KHR, CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES_KHR,
    CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_KHR, CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_PACKED_KHR,
    CL_DEVICE_KERNEL_CLOCK_CAPABILITIES_KHR, CL_DEVICE_KERNEL_CLOCK_SCOPE_DEVICE_KHR,
    CL_DEVICE_KERNEL_CLOCK_SCOPE_SUB_GROUP_KHR, CL_DEVICE_KERNEL_CLOCK_SCOPE_WORK_GROUP_KHR, CL_DEVICE_LUID_KHR,
    CL_DEVICE_LUID_VALID_KHR, CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR, CL_DEVICE_NODE_MASK_KHR,
    CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR, CL_DEVICE_SEMAPHORE_TYPES_KHR, CL_DEVICE_SUB_GROUP_SIZES_INTEL,
    CL_DEVICE_UUID_KHR, CL_DRIVER_UUID_KHR, CL_FALSE, CL_LUID_SIZE_KHR, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
    CL_QUEUE_PROFILING_ENABLE, CL_SEMAPHORE_TYPE_BINARY_KHR, cl_bitfield, cl_command_queue_properties, cl_device_info,
    cl_semaphore_type_khr, cl_uint,
};

use crate::api::mutable_dispatch;
use crate::info::Info;

/// `CL_DEVICE_SINGLE_FP_ATOMIC_CAPABILITIES_EXT`: the headers' crate lacks cl_ext_float_atomics.
const SINGLE_FLOAT_ATOMICS: cl_device_info = 0x4231;
/// Asks which atomics of doubles there are (`CL_DEVICE_DOUBLE_FP_ATOMIC_CAPABILITIES_EXT`).
const DOUBLE_FLOAT_ATOMICS: cl_device_info = 0x4232;
/// Asks which atomics of halves there are (`CL_DEVICE_HALF_FP_ATOMIC_CAPABILITIES_EXT`).
const HALF_FLOAT_ATOMICS: cl_device_info = 0x4233;
/// `CL_DEVICE_{GLOBAL,LOCAL}_FP_ATOMIC_{LOAD_STORE,ADD,MIN_MAX}_EXT`: everything, in both kinds of memory.
const ALL_FLOAT_ATOMICS: cl_bitfield = 0b111 | 0b111 << 16;

/// Asks which sets of SPIR-V instructions there are (`CL_DEVICE_SPIRV_EXTENDED_INSTRUCTION_SETS_KHR`). The headers' crate lacks
/// cl_khr_spirv_queries.
const SPIRV_INSTRUCTION_SETS: cl_device_info = 0x12b9;
/// Asks which extensions of SPIR-V there are (`CL_DEVICE_SPIRV_EXTENSIONS_KHR`).
const SPIRV_EXTENSIONS: cl_device_info = 0x12ba;
/// Asks which capabilities a SPIR-V module may declare (`CL_DEVICE_SPIRV_CAPABILITIES_KHR`).
const SPIRV_CAPABILITIES: cl_device_info = 0x12bb;

/// All scopes that `CL_DEVICE_KERNEL_CLOCK_CAPABILITIES_KHR` knows.
const CLOCK_SCOPES: cl_bitfield = CL_DEVICE_KERNEL_CLOCK_SCOPE_DEVICE_KHR
    | CL_DEVICE_KERNEL_CLOCK_SCOPE_WORK_GROUP_KHR
    | CL_DEVICE_KERNEL_CLOCK_SCOPE_SUB_GROUP_KHR;

/// Named here as constants are.
const PACKED_ACCELERATION: cl_device_info = CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED_KHR;

/// The answer to a query of one of these extensions.
pub fn of_device(device: &Device, name: cl_device_info, info: Info) -> Option<Result<()>> {
    Some(match name {
        // cl_ext_float_atomics
        SINGLE_FLOAT_ATOMICS | DOUBLE_FLOAT_ATOMICS => info.value(ALL_FLOAT_ATOMICS),
        HALF_FLOAT_ATOMICS => info.value::<cl_bitfield>(0),
        // cl_intel_required_subgroup_size: "Returns the set of sub-group sizes supported by the device."
        CL_DEVICE_SUB_GROUP_SIZES_INTEL => info.slice(&device::SUB_GROUP_SIZES),
        // cl_khr_command_buffer
        CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR => info
            .value(CL_COMMAND_BUFFER_CAPABILITY_KERNEL_PRINTF_KHR | CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR),
        CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR => info.value(mutable_dispatch::CAPABILITIES),
        CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR => {
            info.value(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE)
        }
        CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR => info.value::<cl_command_queue_properties>(0),
        // cl_khr_device_uuid; a processor is no adapter that the system has a number for.
        CL_DEVICE_UUID_KHR => info.value(device.uuid()),
        CL_DRIVER_UUID_KHR => info.value(device::driver_uuid()),
        CL_DEVICE_LUID_VALID_KHR => info.bool(false),
        CL_DEVICE_LUID_KHR => info.value([0_u8; CL_LUID_SIZE_KHR]),
        CL_DEVICE_NODE_MASK_KHR => info.value::<cl_uint>(0),
        // cl_khr_extended_versioning, of which the core has the rest; the version of CL_DEVICE_OPENCL_C_VERSION.
        CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR => info.value(extensions::pack_version(1, 2, 0)),
        // cl_khr_integer_dot_product
        CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES_KHR => info.value(
            CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_KHR | CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_PACKED_KHR,
        ),
        // Six booleans: no instruction is promised for any of them.
        CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_8BIT_KHR | PACKED_ACCELERATION => {
            info.value([CL_FALSE; 6])
        }
        // cl_khr_kernel_clock: one clock for all scopes.
        CL_DEVICE_KERNEL_CLOCK_CAPABILITIES_KHR => info.value(CLOCK_SCOPES),
        // cl_khr_semaphore
        CL_DEVICE_SEMAPHORE_TYPES_KHR => info.value::<cl_semaphore_type_khr>(CL_SEMAPHORE_TYPE_BINARY_KHR),
        // cl_khr_spirv_queries: "The returned strings ... are valid for the lifetime of the platform"; they live as long as the
        // process does.
        SPIRV_INSTRUCTION_SETS => info.slice(&addresses_of(&extensions::SPIRV_INSTRUCTION_SETS)),
        SPIRV_EXTENSIONS => info.slice(&addresses_of(&extensions::SPIRV_EXTENSIONS)),
        SPIRV_CAPABILITIES => info.slice(&extensions::spirv_capabilities()),
        _ => return None,
    })
}

/// Where the texts of a list begin.
fn addresses_of(texts: &'static [CString]) -> Vec<*const c_char> {
    texts.iter().map(|text| text.as_ptr()).collect()
}
