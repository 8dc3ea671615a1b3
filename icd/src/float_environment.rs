//! The floating-point environment that the driver works in, whatever the application has set.
//!
//! An application may have exceptions trap (`feenableexcept`), round in another direction or flush denormals. LLVM and
//! the C library compute with floats and expect none of that: the first inexact result would end the process. So every
//! entry point works in the environment that a program starts with, threads that the driver starts inherit it, and the
//! caller gets back its own. What an entry point calls of the application, such as a native kernel, finds the default.
//!
//! LLVM's initialisers compute as well, and run while this library is loaded, before its own. The only code of a library
//! that runs earlier is what resolves its indirect functions (`STT_GNU_IFUNC`): the dynamic linker relocates everything
//! that it loads before it initialises anything. So the library's entry in `.init_array` is such a function. Resolving it
//! sets the default environment, and what it resolves to, called after LLVM's initialisers, brings back the caller's.

use std::arch::{asm, global_asm};
use std::marker::PhantomData;

/// MXCSR at the start of a program: all exceptions masked, round to nearest even.
const DEFAULT_MXCSR: u32 = 0x1f80;
/// Its bits that say what has happened.
const MXCSR_FLAGS: u32 = 0x3f;
/// The x87 control word at the start of a program: the same, and results of 64 bits.
const DEFAULT_X87: u16 = 0x37f;

/// While this lives the thread is in the default environment; then it is again in the one that it was in.
pub struct DefaultFloats {
    before: Option<Environment>,
    /// The registers belong to this thread.
    _here: PhantomData<*const ()>,
}

/// An environment other than the default one.
struct Environment {
    mxcsr: u32,
    /// Control, status and tag words and the last instruction, as `fnstenv` stores them.
    x87: [u32; 7],
}

impl DefaultFloats {
    /// Sets the default environment, unless it is that already by MXCSR: the C library's functions change both registers
    /// alike, the driver computes with the other one hardly ever, and to read it takes as long again.
    pub fn enter() -> DefaultFloats {
        let mut mxcsr = 0_u32;
        // SAFETY: stores the control register into a variable of its size.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut mxcsr, options(nostack, preserves_flags)) };
        let before = (mxcsr & !MXCSR_FLAGS != DEFAULT_MXCSR).then(|| Environment::replace(mxcsr));
        DefaultFloats { before, _here: PhantomData }
    }
}

impl Drop for DefaultFloats {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            before.restore();
        }
    }
}

impl Environment {
    /// Sets the default environment in place of the one with this MXCSR.
    fn replace(mxcsr: u32) -> Environment {
        let mut before = Environment { mxcsr, x87: [0; 7] };
        let (default, control) = (DEFAULT_MXCSR, DEFAULT_X87);
        // SAFETY: the first instruction stores 28 bytes, the others load control registers from variables of their sizes
        // and values that every x86-64 processor has. No Rust code relies on another environment than the default one.
        unsafe {
            asm!(
                "fnstenv [{}]", "fnclex", "fldcw [{}]", "ldmxcsr [{}]",
                in(reg) &raw mut before.x87, in(reg) &raw const control, in(reg) &raw const default,
                options(nostack)
            );
        }
        before
    }

    /// Sets this environment. What has happened meanwhile is forgotten, lest it trap now.
    fn restore(&self) {
        // SAFETY: loads what was stored by `replace`.
        unsafe {
            asm!(
                "fldenv [{}]", "ldmxcsr [{}]", in(reg) &raw const self.x87, in(reg) &raw const self.mxcsr,
                options(nostack)
            );
        }
    }
}

global_asm!(
    ".pushsection .bss.lockstep_floats, \"aw\", @nobits",
    ".p2align 4",
    "lockstep_x87_before_load: .zero 28",
    "lockstep_mxcsr_before_load: .zero 4",
    ".popsection",
    ".pushsection .text.lockstep_floats, \"ax\", @progbits",
    // The resolver may use nothing that is not relocated yet: its data and the result are relative to the instructions.
    ".type lockstep_default_floats, @function",
    "lockstep_default_floats:",
    "stmxcsr dword ptr [rip + lockstep_mxcsr_before_load]",
    "fnstenv [rip + lockstep_x87_before_load]",
    "fnclex",
    "push {x87}",
    "fldcw word ptr [rsp]",
    "mov dword ptr [rsp], {mxcsr}",
    "ldmxcsr dword ptr [rsp]",
    "pop rax",
    "lea rax, [rip + lockstep_restore_floats]",
    "ret",
    ".type lockstep_restore_floats, @function",
    "lockstep_restore_floats:",
    "fldenv [rip + lockstep_x87_before_load]",
    "ldmxcsr dword ptr [rip + lockstep_mxcsr_before_load]",
    "ret",
    ".globl lockstep_floats_at_load",
    ".hidden lockstep_floats_at_load",
    ".type lockstep_floats_at_load, @gnu_indirect_function",
    ".set lockstep_floats_at_load, lockstep_default_floats",
    ".popsection",
    x87 = const DEFAULT_X87,
    mxcsr = const DEFAULT_MXCSR,
);

unsafe extern "C" {
    fn lockstep_floats_at_load();
}

/// Called as the last part of loading, after the initialisers of the libraries that this one uses.
#[used]
// SAFETY: the dynamic linker calls what it finds in this section without expecting anything of it.
#[unsafe(link_section = ".init_array")]
static AT_LOAD: unsafe extern "C" fn() = lockstep_floats_at_load;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_is_set_and_brought_back() {
        let state = || {
            let (mut mxcsr, mut x87) = (0_u32, 0_u16);
            // SAFETY: as in `enter`.
            unsafe {
                asm!("stmxcsr [{}]", "fnstcw [{}]", in(reg) &raw mut mxcsr, in(reg) &raw mut x87);
            }
            (mxcsr & !MXCSR_FLAGS, x87)
        };
        // Nothing is masked, and results are rounded upwards.
        let (trapping, upward) = (2_u32 << 13, 0x0b40_u16);
        // SAFETY: valid values; nothing below computes with floats before the default is set.
        unsafe { asm!("ldmxcsr [{}]", "fldcw [{}]", in(reg) &raw const trapping, in(reg) &raw const upward) };
        let inside = {
            let _floats = DefaultFloats::enter();
            let inside = state();
            let zero = std::hint::black_box(0.0_f64);
            assert!((1.0 / zero).is_infinite());
            let _nested = DefaultFloats::enter();
            inside
        };
        let after = state();
        let (mxcsr, x87) = (DEFAULT_MXCSR, DEFAULT_X87);
        // SAFETY: valid values.
        unsafe { asm!("fnclex", "ldmxcsr [{}]", "fldcw [{}]", in(reg) &raw const mxcsr, in(reg) &raw const x87) };
        assert_eq!(inside, (DEFAULT_MXCSR, DEFAULT_X87));
        assert_eq!(after, (trapping & !MXCSR_FLAGS, upward));
    }
}
