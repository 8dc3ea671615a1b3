//! Code that debuggers and profilers know.

use std::ops::Range;

use lockstep_protocol::debug_object::{DebugFault, DebugObject};

use super::gdb_interface::RegisteredObject;
use super::perf_map;

/// Code in memory that debuggers know, until this goes. Profilers know it from then on: they look at what has been.
pub(super) struct Announcement {
    _registered: RegisteredObject,
}

impl Announcement {
    /// Tells debuggers and profilers of the code of an image that lies at these addresses.
    ///
    /// # Errors
    /// When the object is not one that belongs to such an image.
    pub(super) fn announce(
        debug_object: &DebugObject,
        image_addresses: &Range<usize>,
    ) -> Result<Announcement, DebugFault> {
        debug_object.check_bounds(image_addresses.len())?;
        let code_end = image_addresses.start + debug_object.code_bytes as usize;
        perf_map::add_code(&debug_object.variant_name, &(image_addresses.start..code_end));
        let object_bytes = debug_object.place_at(image_addresses.start as u64);
        Ok(Announcement { _registered: RegisteredObject::register(object_bytes) })
    }
}
