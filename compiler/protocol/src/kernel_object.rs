//! A kernel's machine code, before it lies in memory that may be executed.

use crate::code_image::CodeImage;
use crate::debug_object::DebugObject;
use crate::item_form::{Alternatives, ItemForm};
use crate::kernel_abi::ScratchNeeds;
use serde::{Deserialize, Serialize};

/// A kernel's machine code: all that is to be kept of its compilation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KernelObject {
    /// Code and constants.
    pub image: CodeImage,
    /// The scratch memory that a call needs.
    pub needs: ScratchNeeds,
    /// Bytes of the stack that a call takes, without frames of up to [`LITTLE_FRAME`] bytes and what other functions take.
    ///
    /// [`LITTLE_FRAME`]: crate::kernel_abi::LITTLE_FRAME
    pub stack_bytes: u64,
    /// How its work-items run.
    pub form: ItemForm,
    /// The forms that might have been taken, where they give the same results to the bit.
    pub alternatives: Option<Alternatives>,
    /// The same for debuggers, if that was wanted.
    pub debug_object: Option<Box<DebugObject>>,
}
