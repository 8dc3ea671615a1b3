//! Roots and quotients from estimates of reciprocals.
//!
//! A root or a division of a register of sixteen floats takes ten to twenty cycles of one unit; an estimate and one step of
//! Newton's iteration take a few of any. Roots and quotients of OpenCL may be off by 3 and 2.5 ulp, `rsqrt` by 2; where
//! the program gives leave to take reciprocals, those of divisors beyond 2^126 may count as zero.
//!
//! Estimates of AVX have 11.4 bits and take denormal numbers for zeros, which is enough for `native_` and `half_` forms alone
//! (the library's `recip_estimate` and `rsqrt_estimate`). What it takes to be near enough with them is no less than
//! a root and a division of its registers: a loop of an n-body simulation took 3.2 ms with them and 1.9 without (Zen 3).

use crate::codegen::emit::{Emitted, Emitter};
use crate::codegen::estimates::Estimate;
use inkwell::FloatPredicate;
use inkwell::types::VectorType;
use inkwell::values::VectorValue;

/// Of machines with `TargetInfo::estimates`.
impl<'ctx> Emitter<'ctx, '_> {
    /// One over the square root of each lane's float.
    pub(super) fn reciprocal_root(&self, operand: VectorValue<'ctx>) -> Emitted<VectorValue<'ctx>> {
        let builder = &self.builder;
        let estimate = self.estimate_lanes(Estimate::Rsqrt, operand)?;
        let one_half = self.all_lanes(operand, 0.5);
        let rough_root = builder.build_float_mul(operand, estimate, "")?;
        let half_of_it = builder.build_float_mul(estimate, one_half, "")?;
        let residual = self.fused_multiply_add(builder.build_float_neg(rough_root, "")?, half_of_it, one_half)?;
        // At zero and infinity the estimate is right, and this is 0 times infinity, for which any small number will do. Elsewhere
        // it is smaller.
        let least_residual = self.all_lanes(operand, 1.0 / 1024.0);
        let is_smaller = builder.build_float_compare(FloatPredicate::OLT, residual, least_residual, "")?;
        let residual = builder.build_select(is_smaller, residual, least_residual, "")?.into_vector_value();
        self.fused_multiply_add(estimate, residual, estimate)
    }

    /// The square root of each lane's float, to about 2 ulp where it is no denormal one.
    pub(super) fn rough_root(&self, operand: VectorValue<'ctx>) -> Emitted<VectorValue<'ctx>> {
        let builder = &self.builder;
        let estimate = self.estimate_lanes(Estimate::Rsqrt, operand)?;
        let rough_root = builder.build_float_mul(operand, estimate, "")?;
        let half_of_it = builder.build_float_mul(estimate, self.all_lanes(operand, 0.5), "")?;
        let residual = self.fused_multiply_add(builder.build_float_neg(rough_root, "")?, rough_root, operand)?;
        let corrected = self.fused_multiply_add(half_of_it, residual, rough_root)?;
        // There the first root is 0 times infinity.
        let equals =
            |bound| builder.build_float_compare(FloatPredicate::OEQ, operand, self.all_lanes(operand, bound), "");
        let is_bound = builder.build_or(equals(0.0)?, equals(f64::INFINITY)?, "")?;
        Ok(builder.build_select(is_bound, operand, corrected, "")?.into_vector_value())
    }

    /// Each lane's quotient, to about 2 ulp where the divisor's reciprocal is no denormal number.
    pub(super) fn rough_quotient(
        &self,
        left: VectorValue<'ctx>,
        right: VectorValue<'ctx>,
    ) -> Emitted<VectorValue<'ctx>> {
        let builder = &self.builder;
        let estimate = self.estimate_lanes(Estimate::Recip, right)?;
        let residual =
            self.fused_multiply_add(builder.build_float_neg(right, "")?, estimate, self.all_lanes(right, 1.0))?;
        let corrected = self.fused_multiply_add(estimate, residual, estimate)?;
        // At zero and infinity the estimate is right, and the step is 0 times infinity.
        let is_number = builder.build_float_compare(FloatPredicate::ORD, corrected, corrected, "")?;
        let reciprocal = builder.build_select(is_number, corrected, estimate, "")?.into_vector_value();
        Ok(builder.build_float_mul(left, reciprocal, "")?)
    }

    /// A number in as many lanes.
    pub fn all_lanes(&self, like_value: VectorValue<'ctx>, number: f64) -> VectorValue<'ctx> {
        VectorType::const_vector(&vec![
            self.context.f32_type().const_float(number);
            like_value.get_type().get_size() as usize
        ])
    }

    /// `left right + addend`, rounded once.
    fn fused_multiply_add(
        &self,
        left: VectorValue<'ctx>,
        right: VectorValue<'ctx>,
        addend: VectorValue<'ctx>,
    ) -> Emitted<VectorValue<'ctx>> {
        let arguments = [left.into(), right.into(), addend.into()];
        Ok(self.call_intrinsic("llvm.fma", &[left.get_type().into()], &arguments)?.into_vector_value())
    }
}
