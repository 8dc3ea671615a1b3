//! Wide loads of some lanes.
//!
//! Where masks lie in vector registers (AVX without AVX-512), LLVM 22 gets masked loads wrong of which it knows
//! lanes to be off: it may load a part whole that no lane is on for, or end the process over a load of unknown size
//! (the pass "X86 Avoid Store Forwarding Blocks"). So there each register's lanes are loaded by the machine's own
//! instruction, of which LLVM asks nothing. It looks at the highest bit of each lane.

use super::super::VectorEmitter;
use crate::codegen::emit::{Emitted, Emitter, vector_of};
use crate::codegen::error::CodegenError;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::types::{BasicTypeEnum, VectorType};
use inkwell::values::{BasicValue, CallSiteValue, InstructionOpcode, InstructionValue, PointerValue, VectorValue};

/// Instructions by the lanes and bits of an element.
const AVX: [(u32, u32, &str); 4] = [
    (8, 32, "llvm.x86.avx.maskload.ps.256"),
    (4, 32, "llvm.x86.avx.maskload.ps"),
    (4, 64, "llvm.x86.avx.maskload.pd.256"),
    (2, 64, "llvm.x86.avx.maskload.pd"),
];

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    /// The elements from `start` on that are on, zeros elsewhere; and the instructions that load them.
    pub(super) fn masked_load(
        &self,
        ty: VectorType<'ctx>,
        start: PointerValue<'ctx>,
        lanes: VectorValue<'ctx>,
        align: u32,
    ) -> Emitted<(VectorValue<'ctx>, Vec<InstructionValue<'ctx>>)> {
        let emitter = self.around.emitter;
        let bits = element_bits(ty);
        if self.around.emitter.target.masks_in_vectors && AVX.iter().any(|&(_, theirs, _)| theirs == bits) {
            return emitter.avx_load(ty, start, lanes, bits);
        }
        let arguments = [start.into(), lanes.into(), ty.const_zero().into()];
        let call_site =
            emitter.intrinsic_call("llvm.masked.load", &[ty.into(), emitter.pointer_type().into()], &arguments)?;
        self.set_align(call_site, 0, align);
        let (loaded, instruction) = load_result(call_site)?;
        Ok((loaded, vec![instruction]))
    }

    /// Tells the alignment of the addresses that a call takes.
    pub(super) fn set_align(&self, call_site: CallSiteValue<'ctx>, param: u32, align: u32) {
        let kind = Attribute::get_named_enum_kind_id("align");
        let align = self.around.emitter.context.create_enum_attribute(kind, align.into());
        call_site.add_attribute(AttributeLoc::Param(param), align);
    }
}

impl<'ctx> Emitter<'ctx, '_> {
    /// Loads a register's lanes after the other.
    fn avx_load(
        &self,
        ty: VectorType<'ctx>,
        start: PointerValue<'ctx>,
        lanes: VectorValue<'ctx>,
        bits: u32,
    ) -> Emitted<(VectorValue<'ctx>, Vec<InstructionValue<'ctx>>)> {
        let count = ty.get_size();
        let (mut parts, mut insts, mut done) = (Vec::new(), Vec::new(), 0);
        while done < count {
            let fits = AVX.iter().filter(|&&(_, theirs, _)| theirs == bits);
            // The widest that is filled; of what is left, one with some lanes off.
            let &(width, _, name) = (fits.clone().find(|&&(width, ..)| width <= count - done))
                .or_else(|| fits.clone().next_back())
                .ok_or(CodegenError::Missing("masked load of this width"))?;
            let address = self.offset_constant(start, i64::from(done * bits / 8))?;
            let call_site =
                self.intrinsic_call(name, &[], &[address.into(), self.sign_vector(lanes, done, width, bits)?.into()])?;
            let (part, instruction) = load_result(call_site)?;
            parts.push(part);
            insts.push(instruction);
            done += width;
        }
        let whole = self.concat_vectors(&parts, count)?;
        let whole = self.builder.build_bit_cast(whole, vector_of(self.int_type(bits).into(), count), "")?;
        let pointers = matches!(ty.get_element_type(), BasicTypeEnum::PointerType(_));
        let cast = if pointers { InstructionOpcode::IntToPtr } else { InstructionOpcode::BitCast };
        Ok((self.builder.build_cast(cast, whole, ty, "")?.into_vector_value(), insts))
    }

    /// Numbers of so many bits that are negative where lanes are on, from `first` on; behind the last lane none are.
    fn sign_vector(&self, lanes: VectorValue<'ctx>, first: u32, width: u32, bits: u32) -> Emitted<VectorValue<'ctx>> {
        let count = lanes.get_type().get_size();
        let off = lanes.get_type().const_zero();
        let own: Vec<_> = (first..first + width).map(|lane| Some(lane.min(count))).collect();
        let own = self.shuffle_vectors(lanes, off, &own)?;
        let lowest = self.int_type(bits).const_int(1 << (bits - 1), false);
        let zeros = vector_of(self.int_type(bits).into(), width).const_zero();
        let lowest = VectorType::const_vector(&vec![lowest; width as usize]);
        // Not all ones: LLVM would take that for a mask of its own again.
        Ok(self.builder.build_select(own, lowest, zeros, "")?.into_vector_value())
    }
}

fn load_result<'ctx>(call_site: CallSiteValue<'ctx>) -> Emitted<(VectorValue<'ctx>, InstructionValue<'ctx>)> {
    let value = call_site.try_as_basic_value().basic().ok_or_else(|| CodegenError::NoResult("a masked load".into()))?;
    let instruction = value.as_instruction_value().ok_or(CodegenError::Missing("instruction of a masked load"))?;
    Ok((value.into_vector_value(), instruction))
}

/// Bits of an element in memory.
fn element_bits(ty: VectorType<'_>) -> u32 {
    match ty.get_element_type() {
        BasicTypeEnum::IntType(int_type) => int_type.get_bit_width(),
        BasicTypeEnum::FloatType(float) => float.get_bit_width(),
        _ => u64::BITS,
    }
}
