//! Contexts: the devices and the callbacks that objects made together share.

use std::fmt;
use std::sync::{Arc, Weak};

use opencl_sys::cl_context_properties;
use parking_lot::Mutex;

use crate::ApiHandle;
use crate::device::Device;

/// What an application wants to hear about errors.
pub type ErrorCallback = Box<dyn Fn(&str) + Send + Sync>;
/// What an application wants done when an object goes.
pub type DestructorCallback = Box<dyn FnOnce() + Send>;

/// What commands run in, as far as a context has to do with it: its queues.
pub(crate) trait RunsCommands: Send + Sync {
    /// Waits until all commands enqueued so far have ended.
    fn finish_commands(self: Arc<Self>);
}

/// A context: devices, and what is shared on them.
pub struct Context {
    /// The devices it was made for, in the order given.
    devices: Vec<Arc<Device>>,
    /// The property list it was made with, with its terminating 0; empty when there was none.
    properties: Vec<cl_context_properties>,
    on_error: Option<ErrorCallback>,
    destructors: Mutex<Vec<DestructorCallback>>,
    /// Its queues, to wait for all of them.
    queues: Mutex<Vec<Weak<dyn RunsCommands>>>,
    /// The word of the API layer.
    pub api: ApiHandle,
}

impl Context {
    /// A context of `devices`.
    pub fn new(
        devices: Vec<Arc<Device>>,
        properties: Vec<cl_context_properties>,
        on_error: Option<ErrorCallback>,
    ) -> Arc<Self> {
        Arc::new(Self {
            devices,
            properties,
            on_error,
            destructors: Mutex::default(),
            queues: Mutex::default(),
            api: ApiHandle::default(),
        })
    }

    /// The devices, in the order given at creation.
    pub fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// The property list as given at creation.
    pub fn properties(&self) -> &[cl_context_properties] {
        &self.properties
    }

    /// Whether `device` belongs to this context.
    pub fn has_device(&self, device: &Arc<Device>) -> bool {
        self.devices.iter().any(|candidate| Arc::ptr_eq(candidate, device))
    }

    /// Remembers a new queue, and forgets those that are gone.
    pub(crate) fn add_queue(&self, weak_queue: Weak<dyn RunsCommands>) {
        let mut live_queues = self.queues.lock();
        live_queues.retain(|weak_queue| weak_queue.strong_count() > 0);
        live_queues.push(weak_queue);
    }

    /// Waits until all commands enqueued so far in all queues have ended.
    pub fn finish_queues(&self) {
        let live_queues: Vec<_> = self.queues.lock().iter().filter_map(Weak::upgrade).collect();
        live_queues.into_iter().for_each(RunsCommands::finish_commands);
    }

    /// Bytes of memory that objects may take: those of its largest device.
    pub(crate) fn global_memory(&self) -> u64 {
        self.devices.iter().map(|device| device.global_memory()).max().unwrap_or(0)
    }

    /// What the application wants called for errors.
    pub(crate) fn error_callback(&self) -> Option<&ErrorCallback> {
        self.on_error.as_ref()
    }

    /// Registers a destructor callback; the last one registered runs first.
    pub fn on_destruction(&self, callback: DestructorCallback) {
        self.destructors.lock().push(callback);
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        while let Some(callback) = self.destructors.get_mut().pop() {
            callback();
        }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Context").field("devices", &self.devices).finish_non_exhaustive()
    }
}
