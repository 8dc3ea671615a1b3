//! Keeps what turns off the upper lanes of masks in registers of their own (AVX-512).
//!
//! LLVM takes `kmovb`, `kmovw` and `kmovd` between two masks for copies of whole registers. They are what it selects to clear all but the
//! lower 8, 16 or 32 bits. Where a result is spilled at once, LLVM 22.1.8 stores the operand in the instruction's place, with the bits above as they
//! were, so lanes that are off run.
//!
//! Requires: LLVM's code generation of this process.
//!
//! Ensures: such instructions have a third operand, an undefined use of a register that nobody allocates. LLVM folds instructions of two
//! operands alone. Their machine code is the same.
//!
//! ```text
//! before                              after
//! %2:vk16 = KMOVBkk %1:vk16           %2:vk16 = KMOVBkk %1:vk16, implicit undef $mxcsr
//! ... %2 is spilled:                  ... %2 is spilled:
//! KMOVWmk %stack.0, %1:vk16           %3:vk16 = KMOVBkk %1:vk16, implicit undef $mxcsr
//!                                     KMOVWmk %stack.0, %3:vk16
//! ```

// SAFETY: it is in `mask_extensions.cpp`, has this type, and adds to LLVM's list under a lock, the first time only, what lives as long as
// the process.
unsafe extern "C" {
    safe fn lockstep_keep_mask_extensions();
}

/// Has all code that this process generates from now on keep its masks' extensions. One call is enough.
pub(super) fn keep_mask_extensions() {
    lockstep_keep_mask_extensions();
}
