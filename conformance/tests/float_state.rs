//! Kernels compute in their own floating-point mode, whatever that of the calling thread is, and leave that as it was.

use std::arch::asm;

use lockstep_conformance::child::in_child;
use lockstep_conformance::{Setup, read, run};

const DEFAULT: u32 = 0x1f80;
const FLUSH_TO_ZERO: u32 = 1 << 15;
const ROUND_UP: u32 = 2 << 13;
const DENORMALS_ARE_ZERO: u32 = 1 << 6;
/// All but "inexact", which host code that computes would stumble over.
const MASKS_BUT_INEXACT: u32 = 0b01_1111 << 7;

/// The mask of every floating-point exception that can trap (`FE_ALL_EXCEPT`).
const ALL_MASKS: u32 = 0b11_1111 << 7;

fn control() -> u32 {
    let mut value = 0_u32;
    // SAFETY: stores the control register into a local of its size.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut value, options(nostack, preserves_flags)) };
    // Without the flags of what has happened.
    value & !0x3f
}

/// Calls `body` in another floating-point mode; it must not compute with floats itself.
fn in_mode<R>(mode: u32, body: impl FnOnce() -> R) -> (R, u32) {
    let before = control();
    // SAFETY: all bits are such that every x86-64 processor has, and `body` and what it calls compute no floats.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const mode, options(nostack, preserves_flags)) };
    let result = body();
    let after = control();
    // SAFETY: as above; this is the mode that there was.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const before, options(nostack, preserves_flags)) };
    (result, after)
}

/// An application that has every exception trap, from before the driver is loaded, builds and runs a program: neither
/// loading nor compiling nor the kernel may trap, and the application's traps are still set.
#[test]
fn traps_of_the_application_are_not_for_the_driver() {
    const X87_DEFAULT: u16 = 0x37f;
    const X87_TRAPPING: u16 = 0x340;
    in_child("traps_of_the_application_are_not_for_the_driver", &[("LOCKSTEP_CACHE", "off")], || {
        let (mut x87, trapping, default) = (0_u16, X87_TRAPPING, X87_DEFAULT);
        // SAFETY: loads the control word; what follows computes no floats until it is the default one again.
        unsafe { asm!("fnclex", "fldcw [{}]", in(reg) &raw const trapping, options(nostack)) };
        let (bits, after) = in_mode(DEFAULT & !ALL_MASKS, || {
            let setup = Setup::new();
            let kernel = setup.context.kernel(SOURCE, "f");
            let input = setup.context.with_values(&[0x3f80_0000_u32, 0x4040_0000, 0x1fff_ffff, 0]);
            let bits = setup.context.zeros::<u32>(12);
            kernel.set(0, &bits);
            kernel.set(1, &input);
            kernel.set(2, 1_u32);
            run(&setup.queue, &kernel, &[4], &[]);
            read::<u32>(&setup.queue, &bits)
        });
        // SAFETY: stores the control word and then sets the default one.
        unsafe {
            asm!("fnstcw [{}]", "fnclex", "fldcw [{}]", in(reg) &raw mut x87, in(reg) &raw const default, options(nostack));
        }
        assert_eq!((after, x87), (DEFAULT & !ALL_MASKS, X87_TRAPPING));
        assert_eq!(bits[..1], [(1.0_f32 / 3.0).to_bits()]);
        assert_eq!(bits[2], f32::INFINITY.to_bits());
    });
}

/// The bits of a third, rounded to nearest; of a denormal product; of a quotient by zero.
const SOURCE: &str = "kernel void f(global uint *bits, global const float *in, uint rounds) {
    size_t i = get_global_id(0);
    float third = 0;
    for (uint r = 0; r < rounds; ++r) third = in[0] / (in[1] + third * 0.0f);
    bits[3 * i] = as_uint(third);
    bits[3 * i + 1] = as_uint(in[2] * in[2] * 0.5f);
    bits[3 * i + 2] = as_uint(in[0] / in[3]);
}";

#[test]
fn the_callers_mode_is_neither_used_nor_changed() {
    let setup = Setup::new();
    let kernel = setup.context.kernel(SOURCE, "f");
    let tiny = f32::from_bits(0x1fff_ffff);
    let input = setup.context.with_values(&[1.0_f32, 3.0, tiny, 0.0]);
    let wanted = [(1.0_f32 / 3.0).to_bits(), (tiny * tiny * 0.5).to_bits(), f32::INFINITY.to_bits()];
    assert!(f32::from_bits(wanted[1]).is_subnormal());
    // A launch that stays on this thread, and one that is shared with the device's.
    for (size, rounds) in [(4, 1_u32), (1 << 16, 50)] {
        let bits = setup.context.zeros::<u32>(3 * size);
        kernel.set(0, &bits);
        kernel.set(1, &input);
        kernel.set(2, rounds);
        for mode in [DEFAULT | ROUND_UP | FLUSH_TO_ZERO | DENORMALS_ARE_ZERO, DEFAULT & !MASKS_BUT_INEXACT] {
            let ((), after) = in_mode(mode, || run(&setup.queue, &kernel, &[size], &[]));
            assert_eq!(after, mode, "the calling thread's mode");
            let results = read::<u32>(&setup.queue, &bits);
            assert!(results.chunks(3).all(|bits| bits == wanted), "{:x?} instead of {wanted:x?}", &results[..3]);
        }
    }
}
