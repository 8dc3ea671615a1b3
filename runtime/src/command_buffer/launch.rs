//! Launches of a command buffer, which may be changed between its runs (`cl_khr_command_buffer_mutable_dispatch`).

use std::fmt;
use std::sync::{Arc, Weak};

use opencl_sys::{CL_INVALID_KERNEL_ARGS, CL_MUTABLE_DISPATCH_ARGUMENTS_KHR, cl_mutable_dispatch_fields_khr};
use parking_lot::Mutex;

use super::CommandBuffer;
use crate::api_handle::Retained;
use crate::context::Context;
use crate::kernel::Kernel;
use crate::launch::CheckedLaunch;
use crate::launch::ndrange::Request;
use crate::{ApiHandle, Result};

/// The sizes of a launch as the application gave them, those beyond its dimensions being 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchSizes {
    /// The number of dimensions.
    pub dimensions: u32,
    /// `global_work_offset`, if it was given.
    pub offset: Option<[usize; 3]>,
    /// `global_work_size`, if it was given.
    pub global: Option<[usize; 3]>,
    /// `local_work_size`, if it was given.
    pub local: Option<[usize; 3]>,
}

impl LaunchSizes {
    /// These sizes, and those of `other` where there are none.
    #[must_use]
    pub fn with_defaults_of(self, other: LaunchSizes) -> Self {
        Self {
            dimensions: self.dimensions,
            offset: self.offset.or(other.offset),
            global: self.global.or(other.global),
            local: self.local.or(other.local),
        }
    }

    /// Whether all work-groups are as large.
    pub fn is_uniform(&self) -> bool {
        let (Some(global_size), Some(local_size)) = (self.global, self.local) else { return true };
        global_size.iter().zip(local_size).all(|(&global, local)| local == 0 || global.is_multiple_of(local))
    }

    fn launch_request(&self) -> Request<'_> {
        let dimension_count = self.dimensions as usize;
        Request {
            dimensions: self.dimensions,
            offset: self.offset.as_ref().map(|sizes| &sizes[..dimension_count]),
            global: self.global.as_ref().map(|sizes| &sizes[..dimension_count]),
            local: self.local.as_ref().map(|sizes| &sizes[..dimension_count]),
        }
    }
}

/// What a recorded launch launches at present.
#[derive(Clone)]
pub struct LaunchParameters {
    sizes: LaunchSizes,
    launch: CheckedLaunch,
}

impl LaunchParameters {
    /// A launch of a kernel that is the command's own, with the arguments it has.
    ///
    /// # Errors
    /// Those of [`CheckedLaunch::new`].
    pub fn new(kernel: Arc<Kernel>, sizes: LaunchSizes) -> Result<Self> {
        let launch = CheckedLaunch::new(kernel, &sizes.launch_request())?;
        Ok(Self { sizes, launch })
    }

    /// The sizes as the application gave them.
    pub fn sizes(&self) -> LaunchSizes {
        self.sizes
    }

    /// What is to be made ready for each run.
    pub fn launch(&self) -> &CheckedLaunch {
        &self.launch
    }

    /// Checks that the launch can be made ready; unset arguments may be `set_later`.
    ///
    /// # Errors
    /// Those of [`CheckedLaunch::prepare`].
    pub fn check_launch(&self, set_later: bool) -> Result<()> {
        match self.launch.prepare() {
            Ok(prepared) => prepared.work.let_go(),
            Err(error) if error.code() == CL_INVALID_KERNEL_ARGS && set_later => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// A launch in a command buffer.
pub struct RecordedLaunch {
    /// The command buffer.
    buffer: Weak<CommandBuffer>,
    /// The kernel that the application recorded it with.
    original: Retained<Kernel>,
    /// The property list, with its terminating 0; empty when there was none.
    properties: Vec<u64>,
    /// What may be changed.
    updatable: cl_mutable_dispatch_fields_khr,
    parameters: Mutex<LaunchParameters>,
    /// The word of the API layer.
    pub api: ApiHandle,
}

impl RecordedLaunch {
    /// A launch of a kernel, to be recorded in a buffer. "Any changes to kernel after calling clCommandNDRangeKernelKHR […]
    /// have no effect on the recorded command", so the parameters have a kernel of their own.
    ///
    /// # Errors
    /// Those of [`Retained::new`] for the kernel.
    pub fn new(
        buffer: &Arc<CommandBuffer>,
        kernel: Arc<Kernel>,
        (properties, updatable): (Vec<u64>, cl_mutable_dispatch_fields_khr),
        parameters: LaunchParameters,
    ) -> Result<Arc<Self>> {
        Ok(Arc::new(Self {
            buffer: Arc::downgrade(buffer),
            original: Retained::new(kernel, |kernel| &kernel.api)?,
            properties,
            updatable,
            parameters: Mutex::new(parameters),
            api: ApiHandle::default(),
        }))
    }

    /// The command buffer, while it is there.
    pub fn buffer(&self) -> Option<Arc<CommandBuffer>> {
        self.buffer.upgrade()
    }

    /// The context of the buffer.
    pub fn context(&self) -> &Arc<Context> {
        self.original.program().context()
    }

    /// The kernel that the application recorded it with.
    pub fn kernel(&self) -> &Arc<Kernel> {
        &self.original
    }

    /// The property list it was recorded with.
    pub fn properties(&self) -> &[u64] {
        &self.properties
    }

    /// What may be changed.
    pub fn updatable(&self) -> cl_mutable_dispatch_fields_khr {
        self.updatable
    }

    /// Whether arguments may still be set after recording.
    pub fn takes_arguments(&self) -> bool {
        self.updatable & CL_MUTABLE_DISPATCH_ARGUMENTS_KHR != 0
    }

    /// What it launches at present.
    pub fn parameters(&self) -> LaunchParameters {
        self.parameters.lock().clone()
    }

    /// Has later runs launch this.
    pub fn set_parameters(&self, parameters: LaunchParameters) {
        // What the old ones held goes when nothing is locked.
        let before = std::mem::replace(&mut *self.parameters.lock(), parameters);
        drop(before);
    }
}

impl fmt::Debug for RecordedLaunch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RecordedLaunch").field("kernel", &**self.original).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_are_not_given_stay_and_decide_whether_groups_are_as_large() {
        let none = LaunchSizes { dimensions: 2, offset: None, global: None, local: None };
        let before = LaunchSizes { global: Some([8, 6, 1]), local: Some([4, 3, 1]), ..none };
        let after = LaunchSizes { local: Some([4, 4, 1]), ..none }.with_defaults_of(before);
        assert_eq!(after, LaunchSizes { local: Some([4, 4, 1]), ..before });
        assert!(none.is_uniform() && before.is_uniform() && !after.is_uniform());
        let request = after.launch_request();
        assert_eq!((request.offset, request.global, request.local), (None, Some(&[8, 6][..]), Some(&[4, 4][..])));
    }
}
