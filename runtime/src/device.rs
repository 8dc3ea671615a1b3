//! The device: this machine's processor, and the limits of what it takes on.

use std::sync::{Arc, OnceLock};

use lockstep_protocol::features::{EXTENSIONS, FEATURES};
use lockstep_protocol::launch_facts::MAX_GROUP_SIZE;
use lockstep_protocol::layout;
use opencl_sys::{
    CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT, CL_FP_DENORM, CL_FP_FMA, CL_FP_INF_NAN, CL_FP_ROUND_TO_INF,
    CL_FP_ROUND_TO_NEAREST, CL_FP_ROUND_TO_ZERO, cl_device_fp_config, cl_device_partition_property,
};

use crate::machine::{self, Machine};
use crate::options::options;
use crate::partition::{self, Scheme};
use crate::schedule::{self, Team};
use crate::topology::Domain;
use crate::{ApiHandle, Result, arena, memory_allocation};

/// The driver's name.
pub const NAME: &str = "Lockstep";
/// Who made it.
pub(crate) const VENDOR: &str = "Lockstep";
/// The driver's own version.
pub const DRIVER_VERSION: &str = env!("CARGO_PKG_VERSION");

/// `CL_DEVICE_MAX_WORK_GROUP_SIZE` and each of `CL_DEVICE_MAX_WORK_ITEM_SIZES`.
pub const MAX_WORK_GROUP_SIZE: usize = MAX_GROUP_SIZE as usize;
/// `CL_DEVICE_SUB_GROUP_SIZES_INTEL`: the work-items of full sub-groups that kernels can ask for.
pub const SUB_GROUP_SIZES: [usize; 3] = {
    let [small, middle, large] = layout::SUB_GROUP_SIZES;
    [small as usize, middle as usize, large as usize]
};
/// `CL_DEVICE_MAX_NUM_SUB_GROUPS`: those of the largest group in the smallest sub-groups, "for any given kernel-instance".
pub const MAX_NUM_SUB_GROUPS: u32 = MAX_GROUP_SIZE.div_ceil(layout::SUB_GROUP_SIZES[0]);
/// `CL_DEVICE_LOCAL_MEM_SIZE`: what fits the nearer caches together with the rest of a group's data.
pub const LOCAL_MEMORY: u64 = 256 << 10;
/// The most bytes of a buffer in constant memory (`CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE`).
pub const CONSTANT_MEMORY: u64 = 512 << 10;
/// The most parameters of a kernel in constant memory (`CL_DEVICE_MAX_CONSTANT_ARGS`).
pub const MAX_CONSTANT_ARGUMENTS: u32 = 128;
/// The most bytes of all of a kernel's arguments (`CL_DEVICE_MAX_PARAMETER_SIZE`).
pub const MAX_PARAMETER_SIZE: usize = 4096;
/// `CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE` and the preferred total.
pub const GLOBAL_VARIABLES: usize = 64 << 20;
/// The bytes that printf's output may have (`CL_DEVICE_PRINTF_BUFFER_SIZE`).
pub const PRINTF_BUFFER: usize = 1 << 20;
/// `CL_DEVICE_MEM_BASE_ADDR_ALIGN`, here in bytes: where a sub-buffer may start.
pub const BASE_ALIGNMENT: usize = memory_allocation::ALIGNMENT;

/// The CPU as an OpenCL device, or a part of it.
#[derive(Debug)]
pub struct Device {
    machine: Arc<Machine>,
    /// The processor that each compute unit is.
    units: Vec<usize>,
    /// Of a sub-device.
    origin: Option<Origin>,
    /// Threads, once something has been launched.
    team: OnceLock<Team>,
    /// The word of the API layer.
    pub api: ApiHandle,
}

/// Where a sub-device comes from.
#[derive(Debug)]
struct Origin {
    parent: Arc<Device>,
    /// The property list it was made with, with its terminating 0.
    properties: Vec<cl_device_partition_property>,
}

impl Device {
    /// The processor this process runs on, as far as its affinity mask and its quota let it.
    pub fn this_processor() -> Self {
        let processors = machine::affine_processors();
        // There are more units than processors when a switch says so, fewer when a quota does.
        let compute_units = processors.iter().copied().cycle().take(schedule::worker_count()).collect();
        Self::new(Arc::new(Machine::this_machine()), compute_units, None)
    }

    fn new(machine: Arc<Machine>, compute_units: Vec<usize>, origin: Option<Origin>) -> Self {
        Self { machine, units: compute_units, origin, team: OnceLock::new(), api: ApiHandle::default() }
    }

    /// Divides it into sub-devices, which keep `properties` to tell how they were made.
    pub fn create_sub_devices(
        self: &Arc<Self>,
        scheme: &Scheme,
        properties: &[cl_device_partition_property],
    ) -> Result<Vec<Arc<Device>>> {
        let make_part = |compute_units| {
            let origin = Origin { parent: self.clone(), properties: properties.to_vec() };
            Arc::new(Self::new(self.machine.clone(), compute_units, Some(origin)))
        };
        Ok(partition::divide_units(&self.units, scheme)?.into_iter().map(make_part).collect())
    }

    /// The device that this is a part of.
    pub fn parent(&self) -> Option<&Arc<Device>> {
        self.origin.as_ref().map(|origin| &origin.parent)
    }

    /// `CL_DEVICE_PARTITION_TYPE`; empty for what is no sub-device.
    pub fn partition_type(&self) -> &[cl_device_partition_property] {
        self.origin.as_ref().map_or(&[], |origin| &origin.properties)
    }

    /// The domains along which it can be divided.
    pub fn partition_domains(&self) -> Vec<Domain> {
        partition::possible_domains(&self.units)
    }

    /// The threads that run its work-groups. Those of a sub-device run on its processors only.
    pub fn team(&self) -> &Team {
        self.team.get_or_init(|| match self.origin {
            Some(_) => Team::bound_to(&self.units),
            None => Team::new(self.units.len()),
        })
    }

    /// What the system says of it.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// How many threads run work-groups (`CL_DEVICE_MAX_COMPUTE_UNITS`).
    pub fn compute_units(&self) -> u32 {
        self.units.len() as u32
    }

    /// The name of the processor (`CL_DEVICE_NAME`).
    pub fn name(&self) -> &str {
        options().identity.device_name.as_deref().unwrap_or(&self.machine.brand)
    }

    /// Who made the processor (`CL_DEVICE_VENDOR`).
    pub fn vendor(&self) -> &'static str {
        options().identity.device_vendor.as_deref().unwrap_or(VENDOR)
    }

    /// `CL_DEVICE_VENDOR_ID`: the vendor's number on the PCI bus where it has one.
    pub fn vendor_id(&self) -> u32 {
        match self.machine.vendor.as_str() {
            "GenuineIntel" => 0x8086,
            "AuthenticAMD" | "HygonGenuine" => 0x1022,
            _ => 0,
        }
    }

    /// `CL_DEVICE_UUID_KHR`: the same for this processor whoever asks and when. A part is told apart by its units.
    pub fn uuid(&self) -> [u8; 16] {
        let Machine { vendor, brand, .. } = &*self.machine;
        let compute_units: &[usize] = if self.origin.is_some() { &self.units } else { &[] };
        uuid_of_text(&format!("{vendor} {brand} {compute_units:?}"))
    }

    /// The machine's memory, in bytes (`CL_DEVICE_GLOBAL_MEM_SIZE`).
    pub fn global_memory(&self) -> u64 {
        self.machine.memory
    }

    /// `CL_DEVICE_MAX_MEM_ALLOC_SIZE`: half of it, of the quarter that the specification asks for at least.
    pub fn max_allocation(&self) -> u64 {
        self.machine.memory / 2
    }

    /// Most bytes of scratch memory of one worker: what all of them need together is there.
    pub fn scratch_limit(&self) -> u64 {
        scratch_limit(self.machine.memory, schedule::worker_count() as u64)
    }

    /// How many work-items a register of 32-bit numbers holds: groups of multiples of it leave no lane idle.
    pub fn lane_count(&self) -> usize {
        self.machine.vector as usize / size_of::<u32>()
    }

    /// What arithmetic of floats does (`CL_DEVICE_SINGLE_FP_CONFIG`).
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
        let capabilities = CL_FP_DENORM | CL_FP_INF_NAN | rounding | CL_FP_FMA;
        if has_extension("cl_khr_fp64") { capabilities } else { 0 }
    }

    /// `CL_DEVICE_HALF_FP_CONFIG`; 0 where there is no half precision.
    pub fn half_config(&self) -> cl_device_fp_config {
        let capabilities = CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST;
        if has_extension("cl_khr_fp16") { capabilities } else { 0 }
    }
}

/// The number of this version of the driver (`CL_DRIVER_UUID_KHR`).
pub fn driver_uuid() -> [u8; 16] {
    uuid_of_text(&format!("{NAME} {DRIVER_VERSION}"))
}

/// A UUID of the form for other people's numbers (RFC 9562, version 8), made of a text by the hash FNV-1a.
fn uuid_of_text(text: &str) -> [u8; 16] {
    let mut digest: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    for byte in text.bytes() {
        digest = (digest ^ u128::from(byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b);
    }
    let mut uuid_bytes = digest.to_be_bytes();
    uuid_bytes[6] = uuid_bytes[6] & 0x0f | 0x80;
    uuid_bytes[8] = uuid_bytes[8] & 0x3f | 0x80;
    uuid_bytes
}

/// Half of the memory is for scratch at most, shared by the workers.
fn scratch_limit(memory_bytes: u64, workers: u64) -> u64 {
    arena::LIMIT.min(memory_bytes / 2 / workers.max(1))
}

/// Whether there are images (`CL_DEVICE_IMAGE_SUPPORT`).
pub fn has_images() -> bool {
    has_feature("__opencl_c_images")
}

/// Whether the compiler's table lists an extension.
pub fn has_extension(name: &str) -> bool {
    EXTENSIONS.iter().any(|extension| extension.name == name)
}

/// Whether the compiler's table lists a feature of OpenCL C.
pub fn has_feature(name: &str) -> bool {
    FEATURES.iter().any(|feature| feature.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_differ_have_other_uuids() {
        // The hash's published value of no text but for the six bits of version and variant.
        assert_eq!(uuid_of_text(""), *b"\x6c\x62\x27\x2e\x07\xbb\x81\x42\xa2\xb8\x21\x75\x62\x95\xc5\x8d");
        assert_ne!(uuid_of_text("a"), uuid_of_text("b"));
    }

    #[test]
    fn scratch_memory_of_all_workers_fits_into_the_memory() {
        assert_eq!(scratch_limit(64 << 30, 2), arena::LIMIT);
        assert_eq!(scratch_limit(1 << 30, 4), 128 << 20);
        assert_eq!(scratch_limit(1 << 30, 64), 8 << 20);
    }
}
