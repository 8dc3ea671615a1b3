//! Machine code that came with a program, in a binary.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use super::loaded_variant::{LoadedVariant, VariantCode};
use super::variant_log::{Origin, log_variant};
use lockstep_protocol::launch_facts::{LaunchFacts, LocalSize, OBJECTS, Object};
use lockstep_protocol::program_metadata::KernelOutline;
use tracing::warn;

/// As many launches run code that came with the program before code for more that holds of them is made: those of a
/// program that does little are over before that would pay.
const LAUNCHES: u32 = 16;

/// What holds of most launches: code that is made before there is one relies on it.
const MOST: LaunchFacts = LaunchFacts {
    ids_fit_int: true,
    zero_offset: true,
    full_groups: true,
    local: LocalSize::Rows,
    multiples: 0,
    ones: 0,
    apart: 0,
    counters: 0,
    counters_bytes: 0,
    streams: 0,
    objects: [Object::Any; OBJECTS],
};

/// What holds of nearly all launches.
const NEARLY_ALL: LaunchFacts = LaunchFacts { full_groups: false, local: LocalSize::Any, ..MOST };

/// What the code relies on that is made before there is a launch. Code for nearly all launches takes two and a half
/// times as long to make as that for most. Many applications ask for a program's binary as soon as it is built; with
/// a folder to keep code in, no launch waits twice for what is missing there. That for all formats of images takes many
/// times as long as that for a launch's, and no format is likelier than others. Of a kernel whose code takes long to make,
/// one that runs nearly all launches is enough.
pub(super) fn likely_facts(code_is_kept: bool, takes_long: bool, reads_objects: bool, apart: u32) -> Vec<LaunchFacts> {
    // Most launches get memory of its own for each argument.
    let most = LaunchFacts { apart, ..MOST };
    match (code_is_kept, reads_objects) {
        (true, true) => vec![],
        _ if takes_long => vec![NEARLY_ALL],
        (true, false) => vec![most],
        (false, _) => vec![most, NEARLY_ALL],
    }
}

/// Code of one kernel.
pub(super) struct Ready {
    /// The code itself, and for which launches it is.
    pub code: VariantCode,
    loaded: OnceLock<Option<Arc<LoadedVariant>>>,
    launches: AtomicU32,
}

impl Ready {
    pub(super) fn new(code: VariantCode) -> Ready {
        Ready { code, loaded: OnceLock::new(), launches: AtomicU32::new(0) }
    }

    /// The code, for a launch of which these facts hold, if that may run it; and whether it has run so many that code for
    /// more that holds of them is worth making.
    pub(super) fn variant_for(
        &self,
        launch_facts: &LaunchFacts,
        kernel: &KernelOutline,
    ) -> Option<(Arc<LoadedVariant>, bool)> {
        if !launch_facts.implies(&self.code.facts) {
            return None;
        }
        let variant = self.load_code(kernel)?;
        // The count stays where it is once it has come so far.
        let many = self.launches.load(Ordering::Relaxed) >= LAUNCHES;
        if !many {
            self.launches.fetch_add(1, Ordering::Relaxed);
        }
        Some((variant, many))
    }

    /// The code in memory; none if that fails. It is code of `kernel`.
    pub(super) fn load_code(&self, kernel: &KernelOutline) -> Option<Arc<LoadedVariant>> {
        self.loaded.get_or_init(|| self.load_first(kernel)).clone()
    }

    fn load_first(&self, kernel: &KernelOutline) -> Option<Arc<LoadedVariant>> {
        let begun = Instant::now();
        match LoadedVariant::load(&self.code) {
            Ok(variant) => {
                log_variant(kernel, &variant, &self.code, Origin::Binary, begun);
                Some(Arc::new(variant))
            }
            Err(error) => {
                warn!(target: "variant", "kernel {}: code of the program's binary cannot run: {error}", kernel.name);
                None
            }
        }
    }
}
