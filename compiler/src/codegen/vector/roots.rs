//! Reciprocal square roots from an estimate.
//!
//! A root and a division take a register of sixteen floats over twenty cycles of one unit; an estimate and one step of
//! Newton's iteration take a few of any. Roots and quotients of OpenCL may be off by 3 and 2.5 ulp, `rsqrt` by 2.

use crate::codegen::emit::{Emit, Emitted};
use inkwell::FloatPredicate;
use inkwell::types::VectorType;
use inkwell::values::VectorValue;

/// The estimates by their lanes.
const RSQRT14: [(u32, &str); 3] = [
    (16, "llvm.x86.avx512.rsqrt14.ps.512"),
    (8, "llvm.x86.avx512.rsqrt14.ps.256"),
    (4, "llvm.x86.avx512.rsqrt14.ps.128"),
];

impl<'ctx> Emit<'ctx, '_> {
    /// One over the square root of each lane's float, on machines with `Extensions::rsqrt14`.
    pub(super) fn reciprocal_root(&self, x: VectorValue<'ctx>) -> Emitted<VectorValue<'ctx>> {
        let b = &self.builder;
        let half =
            VectorType::const_vector(&vec![self.ctx.f32_type().const_float(0.5); x.get_type().get_size() as usize]);
        let first = self.estimates(x)?;
        let fma = |a: VectorValue<'ctx>, b: VectorValue<'ctx>, c: VectorValue<'ctx>| -> Emitted<VectorValue<'ctx>> {
            let args = [a.into(), b.into(), c.into()];
            Ok(self.intrinsic("llvm.fma", &[x.get_type().into()], &args)?.into_vector_value())
        };
        let root = b.build_float_mul(x, first, "")?;
        let half_of_it = b.build_float_mul(first, half, "")?;
        let wrong = fma(b.build_float_neg(root, "")?, half_of_it, half)?;
        let better = fma(first, wrong, first)?;
        // At zero and infinity the estimate is right, and the step is 0 times infinity.
        let number = b.build_float_compare(FloatPredicate::ORD, wrong, wrong, "")?;
        Ok(b.build_select(number, better, first, "")?.into_vector_value())
    }

    /// Estimates of the reciprocal roots, register by register.
    fn estimates(&self, x: VectorValue<'ctx>) -> Emitted<VectorValue<'ctx>> {
        let count = x.get_type().get_size();
        let (lanes, name) = RSQRT14.into_iter().find(|&(lanes, _)| lanes <= count).unwrap_or(RSQRT14[2]);
        let estimate = |first: u32| {
            // Behind the last lane there is any one.
            let own: Vec<_> = (first..first + lanes).map(|lane| Some(lane.min(count - 1))).collect();
            let part = if count == lanes { x } else { self.shuffle(x, x, &own)? };
            let all = self.int(lanes.max(8)).const_all_ones();
            Ok(self.intrinsic(name, &[], &[part.into(), part.into(), all.into()])?.into_vector_value())
        };
        let parts = (0..count).step_by(lanes as usize).map(estimate).collect::<Emitted<Vec<_>>>()?;
        self.joined(&parts, count)
    }
}
