//! The machine's estimates of reciprocals and reciprocal square roots of floats, of a scalar or of vectors register by
//! register.

use super::emit::{Emit, Emitted};
use inkwell::values::{BasicValueEnum, VectorValue};

/// What is estimated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Estimate {
    /// One over a float.
    Recip,
    /// One over its square root.
    Rsqrt,
}

impl Estimate {
    /// The instruction for so many lanes: AVX-512's, which have 14 bits and take all floats, or those of SSE and AVX, which
    /// have 11.4 bits and take denormal numbers for zeros.
    fn instruction(self, lanes: u32, of_all_floats: bool) -> &'static str {
        match (self, lanes, of_all_floats) {
            (Estimate::Recip, 16, _) => "llvm.x86.avx512.rcp14.ps.512",
            (Estimate::Recip, 8, true) => "llvm.x86.avx512.rcp14.ps.256",
            (Estimate::Recip, 8, false) => "llvm.x86.avx.rcp.ps.256",
            (Estimate::Recip, _, true) => "llvm.x86.avx512.rcp14.ps.128",
            (Estimate::Recip, _, false) => "llvm.x86.sse.rcp.ps",
            (Estimate::Rsqrt, 16, _) => "llvm.x86.avx512.rsqrt14.ps.512",
            (Estimate::Rsqrt, 8, true) => "llvm.x86.avx512.rsqrt14.ps.256",
            (Estimate::Rsqrt, 8, false) => "llvm.x86.avx.rsqrt.ps.256",
            (Estimate::Rsqrt, _, true) => "llvm.x86.avx512.rsqrt14.ps.128",
            (Estimate::Rsqrt, _, false) => "llvm.x86.sse.rsqrt.ps",
        }
    }
}

impl<'ctx> Emit<'ctx, '_> {
    /// The best estimates that the machine has. A constant's reciprocal is a constant as well, and exact.
    pub fn estimate(&self, of: Estimate, x: BasicValueEnum<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        match (of, x) {
            (Estimate::Recip, BasicValueEnum::FloatValue(x)) if x.is_const() => {
                return Ok(self.builder.build_float_div(x.get_type().const_float(1.0), x, "")?.into());
            }
            (Estimate::Recip, BasicValueEnum::VectorValue(x)) if x.is_const() => {
                return Ok(self.builder.build_float_div(self.all_lanes(x, 1.0), x, "")?.into());
            }
            (_, BasicValueEnum::VectorValue(x)) => return Ok(self.estimates(of, x)?.into()),
            _ => {}
        }
        let first = self.const64(0);
        let alone = self.ctx.f32_type().vec_type(4).get_poison();
        let alone = self.builder.build_insert_element(alone, x, first, "")?;
        self.builder.build_extract_element(self.estimates(of, alone)?, first, "")
    }

    /// The same of each lane, register by register.
    pub fn estimates(&self, of: Estimate, x: VectorValue<'ctx>) -> Emitted<VectorValue<'ctx>> {
        let count = x.get_type().get_size();
        let of_all_floats = self.extensions.estimates;
        let lanes = match count {
            16.. if of_all_floats => 16,
            8.. if of_all_floats || self.extensions.eight_floats => 8,
            _ => 4,
        };
        let name = of.instruction(lanes, of_all_floats);
        let estimate = |first: u32| {
            // Behind the last lane there is any one.
            let own: Vec<_> = (first..first + lanes).map(|lane| Some(lane.min(count - 1))).collect();
            let part = if count == lanes { x } else { self.shuffle(x, x, &own)? };
            let all = self.int(lanes.max(8)).const_all_ones();
            let masked = [part.into(), part.into(), all.into()];
            let args = if of_all_floats { &masked[..] } else { &masked[..1] };
            Ok(self.intrinsic(name, &[], args)?.into_vector_value())
        };
        let parts = (0..count).step_by(lanes as usize).map(estimate).collect::<Emitted<Vec<_>>>()?;
        self.joined(&parts, count)
    }
}
