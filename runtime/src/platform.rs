//! The one platform: its name, its versions and its devices.

use std::panic::catch_unwind;
use std::sync::{Arc, OnceLock};

use opencl_sys::{cl_ulong, cl_version};
use tracing::{Level, debug};

use crate::ApiHandle;
use crate::cache::key::BUILD;
use crate::compiler_process;
use crate::device::{DRIVER_VERSION, Device, NAME, VENDOR};
use crate::execute::process_exit::call_at_exit;
use crate::extensions;
use crate::log::start_log;
use crate::options::options;
use crate::schedule;

/// What the ICD loader tells platforms apart by (`CL_PLATFORM_ICD_SUFFIX_KHR`).
pub const ICD_SUFFIX: &str = "LOCKSTEP";

/// The platform. There is exactly one, made when the application first asks.
#[derive(Debug)]
pub struct Platform {
    /// The word of the API layer.
    pub api: ApiHandle,
    device: Arc<Device>,
}

/// Logs that the driver begins its work, and its end when the process ends.
fn log_beginning() {
    if !tracing::enabled!(target: "driver", Level::DEBUG) {
        return;
    }
    let (threads, compiler) = (schedule::worker_count(), compiler_process::executable_path().display());
    debug!(target: "driver", "begins: {NAME} {BUILD}, {threads} threads, compiler {compiler}, cache {}", options().cache);
    call_at_exit(log_end);
}

extern "C" fn log_end() {
    let _ = catch_unwind(|| debug!(target: "driver", "ends with the process"));
}

impl Platform {
    /// The platform of this process.
    pub fn get() -> &'static Arc<Platform> {
        static PLATFORM: OnceLock<Arc<Platform>> = OnceLock::new();
        PLATFORM.get_or_init(|| {
            start_log();
            compiler_process::open_executable();
            log_beginning();
            Arc::new(Platform { api: ApiHandle::default(), device: Arc::new(Device::this_processor()) })
        })
    }

    /// The one device, which is the CPU.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// The platform's name (`CL_PLATFORM_NAME`).
    pub fn name(&self) -> &'static str {
        options().identity.platform_name.as_deref().unwrap_or(NAME)
    }

    /// The platform's vendor (`CL_PLATFORM_VENDOR`).
    pub fn vendor(&self) -> &'static str {
        options().identity.platform_vendor.as_deref().unwrap_or(VENDOR)
    }

    /// The version of OpenCL, as text (`CL_PLATFORM_VERSION`).
    pub fn version(&self) -> String {
        format!("OpenCL 3.1 {NAME} {DRIVER_VERSION}")
    }

    /// The version of OpenCL, as a number (`CL_PLATFORM_NUMERIC_VERSION`).
    pub fn numeric_version(&self) -> cl_version {
        extensions::pack_version(3, 1, 0)
    }

    /// `CL_PLATFORM_HOST_TIMER_RESOLUTION`, in nanoseconds: that of the system's monotonic clock.
    pub fn host_timer_resolution(&self) -> cl_ulong {
        1
    }
}
