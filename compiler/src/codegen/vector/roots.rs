//! Roots and quotients from estimates of reciprocals.
//!
//! A root or a division of a register of floats takes six to twenty cycles of one unit; an estimate and a step of an
//! iteration take a few of any. Roots and quotients of OpenCL may be off by 3 and 2.5 ulp, `rsqrt` by 2; where the program
//! gives leave to take reciprocals, those of divisors beyond 2^126 may count as zero.
//!
//! Estimates of AVX-512 have 14 bits, of denormal numbers too, and a step of Newton's iteration doubles them. Those of AVX have
//! 11.4 bits, which twice are not enough: a step of the third order trebles them. They take denormal numbers for zeros, which
//! have to be scaled; a plain root or division takes no longer than all that.

use crate::codegen::emit::{Emit, Emitted};
use crate::jit::Estimates;
use inkwell::FloatPredicate;
use inkwell::types::VectorType;
use inkwell::values::VectorValue;

/// An estimate by its lanes.
type Estimate = &'static [(u32, &'static str)];

const RSQRT14: Estimate = &[
    (16, "llvm.x86.avx512.rsqrt14.ps.512"),
    (8, "llvm.x86.avx512.rsqrt14.ps.256"),
    (4, "llvm.x86.avx512.rsqrt14.ps.128"),
];

const RCP14: Estimate =
    &[(16, "llvm.x86.avx512.rcp14.ps.512"), (8, "llvm.x86.avx512.rcp14.ps.256"), (4, "llvm.x86.avx512.rcp14.ps.128")];

const RSQRT11: Estimate = &[(8, "llvm.x86.avx.rsqrt.ps.256"), (4, "llvm.x86.sse.rsqrt.ps")];

/// The smallest float that is not denormal.
const NORMAL: f64 = f32::MIN_POSITIVE as f64;

/// Of machines with `Extensions::estimates`.
impl<'ctx> Emit<'ctx, '_> {
    /// One over the square root of each lane's float.
    pub(super) fn reciprocal_root(&self, of: Estimates, x: VectorValue<'ctx>) -> Emitted<VectorValue<'ctx>> {
        match of {
            Estimates::Bits14 => self.reciprocal_root_14(x),
            Estimates::Bits11 => self.reciprocal_root_11(x),
        }
    }

    fn reciprocal_root_14(&self, x: VectorValue<'ctx>) -> Emitted<VectorValue<'ctx>> {
        let b = &self.builder;
        let first = self.estimates(RSQRT14, x)?;
        let half = self.all_lanes(x, 0.5);
        let root = b.build_float_mul(x, first, "")?;
        let half_of_it = b.build_float_mul(first, half, "")?;
        let wrong = self.fused(b.build_float_neg(root, "")?, half_of_it, half)?;
        let better = self.fused(first, wrong, first)?;
        // At zero and infinity the estimate is right, and the step is 0 times infinity.
        self.unless_nan(better, first)
    }

    fn reciprocal_root_11(&self, x: VectorValue<'ctx>) -> Emitted<VectorValue<'ctx>> {
        let b = &self.builder;
        let small = b.build_float_compare(FloatPredicate::OLT, x, self.all_lanes(x, NORMAL), "")?;
        let larger = b.build_float_mul(x, self.all_lanes(x, 2_f64.powi(24)), "")?;
        let x = b.build_select(small, larger, x, "")?.into_vector_value();
        let first = self.estimates(RSQRT11, x)?;
        let root = b.build_float_mul(x, first, "")?;
        // 1 / sqrt(1 - e) = 1 + e / 2 + 3 / 8 e^2 + …
        let wrong = self.fused(b.build_float_neg(root, "")?, first, self.all_lanes(x, 1.0))?;
        let series = self.fused(wrong, self.all_lanes(x, 0.375), self.all_lanes(x, 0.5))?;
        let better = self.fused(b.build_float_mul(first, wrong, "")?, series, first)?;
        let found = self.unless_nan(better, first)?;
        let scale = b.build_select(small, self.all_lanes(x, 4096.0), self.all_lanes(x, 1.0), "")?;
        b.build_float_mul(found, scale.into_vector_value(), "")
    }

    /// The square root of each lane's float, to about 2 ulp where it is no denormal one. It takes estimates of 14
    /// bits.
    pub(super) fn rough_root(&self, x: VectorValue<'ctx>) -> Emitted<VectorValue<'ctx>> {
        let b = &self.builder;
        let first = self.estimates(RSQRT14, x)?;
        let root = b.build_float_mul(x, first, "")?;
        let half_of_it = b.build_float_mul(first, self.all_lanes(x, 0.5), "")?;
        let wrong = self.fused(b.build_float_neg(root, "")?, root, x)?;
        let better = self.fused(half_of_it, wrong, root)?;
        // There the first root is 0 times infinity.
        let at = |edge| b.build_float_compare(FloatPredicate::OEQ, x, self.all_lanes(x, edge), "");
        let edge = b.build_or(at(0.0)?, at(f64::INFINITY)?, "")?;
        Ok(b.build_select(edge, x, better, "")?.into_vector_value())
    }

    /// Each lane's quotient, to about 2 ulp where the divisor's reciprocal is no denormal number. It takes estimates of 14
    /// bits.
    pub(super) fn rough_quotient(&self, x: VectorValue<'ctx>, y: VectorValue<'ctx>) -> Emitted<VectorValue<'ctx>> {
        let b = &self.builder;
        let first = self.estimates(RCP14, y)?;
        let wrong = self.fused(b.build_float_neg(y, "")?, first, self.all_lanes(y, 1.0))?;
        let better = self.fused(first, wrong, first)?;
        // At zero and infinity the estimate is right, and the step is 0 times infinity.
        b.build_float_mul(x, self.unless_nan(better, first)?, "")
    }

    /// Each lane's `better`, or what was known before where that is no number.
    fn unless_nan(&self, better: VectorValue<'ctx>, before: VectorValue<'ctx>) -> Emitted<VectorValue<'ctx>> {
        let number = self.builder.build_float_compare(FloatPredicate::ORD, better, better, "")?;
        Ok(self.builder.build_select(number, better, before, "")?.into_vector_value())
    }

    /// A number in as many lanes.
    fn all_lanes(&self, like: VectorValue<'ctx>, number: f64) -> VectorValue<'ctx> {
        VectorType::const_vector(&vec![self.ctx.f32_type().const_float(number); like.get_type().get_size() as usize])
    }

    /// `a b + c`, rounded once.
    fn fused(&self, a: VectorValue<'ctx>, b: VectorValue<'ctx>, c: VectorValue<'ctx>) -> Emitted<VectorValue<'ctx>> {
        let args = [a.into(), b.into(), c.into()];
        Ok(self.intrinsic("llvm.fma", &[a.get_type().into()], &args)?.into_vector_value())
    }

    /// Estimates, register by register.
    fn estimates(&self, of: Estimate, x: VectorValue<'ctx>) -> Emitted<VectorValue<'ctx>> {
        let count = x.get_type().get_size();
        let (lanes, name) = of.iter().copied().find(|&(lanes, _)| lanes <= count).unwrap_or(of[of.len() - 1]);
        // Those of AVX-512 take what masked lanes have, and a mask.
        let masked = name.contains("avx512");
        let estimate = |first: u32| {
            // Behind the last lane there is any one.
            let own: Vec<_> = (first..first + lanes).map(|lane| Some(lane.min(count - 1))).collect();
            let part = if count == lanes { x } else { self.shuffle(x, x, &own)? };
            let all = self.int(lanes.max(8)).const_all_ones();
            let args: [_; 3] = [part.into(), part.into(), all.into()];
            Ok(self.intrinsic(name, &[], if masked { &args } else { &args[..1] })?.into_vector_value())
        };
        let parts = (0..count).step_by(lanes as usize).map(estimate).collect::<Emitted<Vec<_>>>()?;
        self.joined(&parts, count)
    }
}
