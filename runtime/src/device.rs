//! The device: this machine's processor.

use crate::ApiHandle;

/// The CPU as an OpenCL device.
#[derive(Debug)]
pub struct Device {
    /// The word of the API layer.
    pub api: ApiHandle,
}

impl Device {
    /// The processor this process runs on, as far as its affinity mask and its quota let it.
    pub fn cpu() -> Self {
        Self { api: ApiHandle::default() }
    }
}
