//! A kernel's code in memory, as launches run it.

use std::sync::Arc;

use lockstep_protocol::kernel_abi::{KernelEntry, ScratchNeeds};
use lockstep_protocol::kernel_object::KernelObject;

use super::kernel_report::VariantUsage;
use crate::execute::loaded_code::{LoadError, LoadedCode};

/// Code, and how it is used where somebody wants to know.
#[derive(Debug)]
pub struct LoadedVariant {
    code: LoadedCode,
    needs: ScratchNeeds,
    stack_bytes: u64,
    usage: Option<Arc<VariantUsage>>,
}

impl LoadedVariant {
    /// Puts code into memory.
    ///
    /// # Errors
    /// When the code is damaged or the system gives no memory for it.
    pub fn load(object: &KernelObject) -> Result<LoadedVariant, LoadError> {
        let code = LoadedCode::map_image(&object.image)?;
        Ok(LoadedVariant { code, needs: object.needs, stack_bytes: object.stack_bytes, usage: None })
    }

    /// The same code, whose launches are counted if there is where.
    pub fn with_usage(self, variant_usage: Option<Arc<VariantUsage>>) -> LoadedVariant {
        LoadedVariant { usage: variant_usage, ..self }
    }

    /// The function that runs work-groups. It may be called as long as the variant lives.
    pub fn entry(&self) -> KernelEntry {
        self.code.kernel_entry()
    }

    /// The scratch memory that a call needs.
    pub fn needs(&self) -> ScratchNeeds {
        self.needs
    }

    /// Bytes of the stack that the frames of a call take.
    pub fn stack_bytes(&self) -> u64 {
        self.stack_bytes
    }

    /// Runs a launch, and counts it where somebody wants to know.
    pub fn run_launch<T>(&self, launch: impl FnOnce() -> T) -> T {
        match &self.usage {
            Some(variant_usage) => variant_usage.time_launch(launch),
            None => launch(),
        }
    }
}
