//! The device: this machine's processor, and the limits of what it takes on.

use lockstep_compiler::frontend::features::{EXTENSIONS, FEATURES};
use lockstep_compiler::launch_facts::MAX_GROUP_SIZE;
use opencl_sys::{
    CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT, CL_FP_DENORM, CL_FP_FMA, CL_FP_INF_NAN, CL_FP_ROUND_TO_INF,
    CL_FP_ROUND_TO_NEAREST, CL_FP_ROUND_TO_ZERO, cl_device_fp_config,
};

use crate::machine::Machine;
use crate::{ApiHandle, memory, schedule};

/// `CL_DEVICE_MAX_WORK_GROUP_SIZE` and each of `CL_DEVICE_MAX_WORK_ITEM_SIZES`.
pub const MAX_WORK_GROUP_SIZE: usize = MAX_GROUP_SIZE as usize;
/// `CL_DEVICE_LOCAL_MEM_SIZE`: what fits the nearer caches together with the rest of a group's data.
pub const LOCAL_MEMORY: u64 = 256 << 10;
/// `CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE`.
pub const CONSTANT_MEMORY: u64 = 512 << 10;
/// `CL_DEVICE_MAX_CONSTANT_ARGS`.
pub const MAX_CONSTANT_ARGUMENTS: u32 = 128;
/// `CL_DEVICE_MAX_PARAMETER_SIZE`.
pub const MAX_PARAMETER_SIZE: usize = 4096;
/// `CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE` and the preferred total.
pub const GLOBAL_VARIABLES: usize = 64 << 20;
/// `CL_DEVICE_PRINTF_BUFFER_SIZE`.
pub const PRINTF_BUFFER: usize = 1 << 20;
/// `CL_DEVICE_MEM_BASE_ADDR_ALIGN`, here in bytes: where a sub-buffer may start.
pub const BASE_ALIGNMENT: usize = memory::ALIGNMENT;

/// The CPU as an OpenCL device.
#[derive(Debug)]
pub struct Device {
    machine: Machine,
    /// The word of the API layer.
    pub api: ApiHandle,
}

impl Device {
    /// The processor this process runs on, as far as its affinity mask and its quota let it.
    pub fn cpu() -> Self {
        Self { machine: Machine::this(), api: ApiHandle::default() }
    }

    /// What the system says of it.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// `CL_DEVICE_MAX_COMPUTE_UNITS`.
    pub fn compute_units(&self) -> u32 {
        schedule::workers() as u32
    }

    /// `CL_DEVICE_VENDOR_ID`: the vendor's number on the PCI bus where it has one.
    pub fn vendor_id(&self) -> u32 {
        match self.machine.vendor.as_str() {
            "GenuineIntel" => 0x8086,
            "AuthenticAMD" | "HygonGenuine" => 0x1022,
            _ => 0,
        }
    }

    /// `CL_DEVICE_GLOBAL_MEM_SIZE`.
    pub fn global_memory(&self) -> u64 {
        self.machine.memory
    }

    /// `CL_DEVICE_MAX_MEM_ALLOC_SIZE`: half of it, of the quarter that the specification asks for at least.
    pub fn max_allocation(&self) -> u64 {
        self.machine.memory / 2
    }

    /// `CL_DEVICE_NATIVE_VECTOR_WIDTH_*` for elements of so many bytes.
    pub fn native_width(&self, bytes: u32) -> u32 {
        self.machine.vector / bytes
    }

    /// `CL_DEVICE_SINGLE_FP_CONFIG`.
    pub fn single_config(&self) -> cl_device_fp_config {
        CL_FP_DENORM
            | CL_FP_INF_NAN
            | CL_FP_ROUND_TO_NEAREST
            | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT
            | if self.machine.fma { CL_FP_FMA } else { 0 }
    }

    /// `CL_DEVICE_DOUBLE_FP_CONFIG`; 0 where there is no double precision.
    pub fn double_config(&self) -> cl_device_fp_config {
        // The conversions round every way; arithmetic rounds to nearest.
        let rounding = CL_FP_ROUND_TO_NEAREST | CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF;
        let config = CL_FP_DENORM | CL_FP_INF_NAN | rounding | CL_FP_FMA;
        if has_extension("cl_khr_fp64") { config } else { 0 }
    }

    /// `CL_DEVICE_HALF_FP_CONFIG`; 0 where there is no half precision.
    pub fn half_config(&self) -> cl_device_fp_config {
        let config = CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST;
        if has_extension("cl_khr_fp16") { config } else { 0 }
    }
}

/// Whether the compiler's table lists an extension.
pub fn has_extension(name: &str) -> bool {
    EXTENSIONS.iter().any(|extension| extension.name == name)
}

/// Whether the compiler's table lists a feature of OpenCL C.
pub fn has_feature(name: &str) -> bool {
    FEATURES.iter().any(|feature| feature.name == name)
}
