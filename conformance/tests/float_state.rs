//! Kernels compute in their own floating-point mode, whatever that of the calling thread is, and leave that as it was.

use std::arch::asm;

use lockstep_conformance::{Setup, read, run};

const DEFAULT: u32 = 0x1f80;
const FLUSH_TO_ZERO: u32 = 1 << 15;
const ROUND_UP: u32 = 2 << 13;
const DENORMALS_ARE_ZERO: u32 = 1 << 6;
/// All but "inexact", which host code that computes would stumble over.
const MASKS_BUT_INEXACT: u32 = 0b01_1111 << 7;

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
