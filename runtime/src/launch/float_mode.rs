//! The floating-point control state that kernels run in, whatever the application has set.

use std::arch::asm;
use std::marker::PhantomData;

/// All exceptions masked, round to nearest even.
const DEFAULT: u32 = 0x1f80;
/// Denormal results become zero.
const FLUSH_TO_ZERO: u32 = 1 << 15;
/// Denormal operands count as zero.
const DENORMALS_ARE_ZERO: u32 = 1 << 6;

/// While this lives the thread's MXCSR is the kernels'; then it is again what it was.
pub struct FloatMode {
    before: u32,
    /// The register belongs to this thread.
    _here: PhantomData<*const ()>,
}

impl FloatMode {
    /// Sets the kernels' mode; with `flush` denormals count as zero.
    pub fn enter_mode(flush: bool) -> FloatMode {
        let before = read_mxcsr();
        write_mxcsr(if flush { DEFAULT | FLUSH_TO_ZERO | DENORMALS_ARE_ZERO } else { DEFAULT });
        FloatMode { before, _here: PhantomData }
    }
}

impl Drop for FloatMode {
    fn drop(&mut self) {
        write_mxcsr(self.before);
    }
}

fn read_mxcsr() -> u32 {
    let mut value = 0_u32;
    // SAFETY: stores the control register into a local of its size.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut value, options(nostack, preserves_flags)) };
    value
}

fn write_mxcsr(value: u32) {
    // SAFETY: loads the control register from a local; all values written set only bits that every
    // x86-64 CPU has, and none of the code that runs meanwhile is Rust that computes with floats in
    // another mode: it is the kernel, or a callback that formats integers and doubles through libc.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack, preserves_flags)) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_is_set_and_restored() {
        let before = read_mxcsr();
        {
            let _mode = FloatMode::enter_mode(true);
            assert_eq!(read_mxcsr() & 0xffc0, DEFAULT | FLUSH_TO_ZERO | DENORMALS_ARE_ZERO);
            {
                let _inner = FloatMode::enter_mode(false);
                assert_eq!(read_mxcsr() & 0xffc0, DEFAULT);
            }
            assert_eq!(read_mxcsr() & 0xffc0, DEFAULT | FLUSH_TO_ZERO | DENORMALS_ARE_ZERO);
        }
        assert_eq!(read_mxcsr() & 0xffc0, before & 0xffc0);
    }
}
