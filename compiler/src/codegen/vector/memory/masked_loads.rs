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
    /// The elements from `first_address` on that are on, zeros elsewhere; and the instructions that load them.
    pub(super) fn masked_load(
        &self,
        vector_type: VectorType<'ctx>,
        first_address: PointerValue<'ctx>,
        lane_mask: VectorValue<'ctx>,
        alignment: u32,
    ) -> Emitted<(VectorValue<'ctx>, Vec<InstructionValue<'ctx>>)> {
        let emitter = self.around.emitter;
        let bits = element_bits(vector_type);
        if self.around.emitter.target.masks_in_vectors
            && AVX.iter().any(|&(_, signature_bits, _)| signature_bits == bits)
        {
            return emitter.avx_load(vector_type, first_address, lane_mask, bits);
        }
        let arguments = [first_address.into(), lane_mask.into(), vector_type.const_zero().into()];
        let call_site = emitter.intrinsic_call(
            "llvm.masked.load",
            &[vector_type.into(), emitter.pointer_type().into()],
            &arguments,
        )?;
        self.set_align(call_site, 0, alignment);
        let (loaded_vector, instruction) = load_result(call_site)?;
        Ok((loaded_vector, vec![instruction]))
    }

    /// Tells the alignment of the addresses that a call takes.
    pub(super) fn set_align(&self, call_site: CallSiteValue<'ctx>, parameter_index: u32, alignment: u32) {
        let kind_id = Attribute::get_named_enum_kind_id("align");
        let align_attribute = self.around.emitter.context.create_enum_attribute(kind_id, alignment.into());
        call_site.add_attribute(AttributeLoc::Param(parameter_index), align_attribute);
    }
}

impl<'ctx> Emitter<'ctx, '_> {
    /// Loads a register's lanes after the other.
    fn avx_load(
        &self,
        vector_type: VectorType<'ctx>,
        first_address: PointerValue<'ctx>,
        lane_mask: VectorValue<'ctx>,
        element_bits: u32,
    ) -> Emitted<(VectorValue<'ctx>, Vec<InstructionValue<'ctx>>)> {
        let lane_count = vector_type.get_size();
        let (mut part_vectors, mut instructions, mut lanes_done) = (Vec::new(), Vec::new(), 0);
        while lanes_done < lane_count {
            let fitting = AVX.iter().filter(|&&(_, signature_bits, _)| signature_bits == element_bits);
            // The widest that is filled; of what is left, one with some lanes off.
            let &(part_width, _, name) =
                (fitting.clone().find(|&&(part_width, ..)| part_width <= lane_count - lanes_done))
                    .or_else(|| fitting.clone().next_back())
                    .ok_or(CodegenError::Missing("masked load of this width"))?;
            let address = self.offset_constant(first_address, i64::from(lanes_done * element_bits / 8))?;
            let call_site = self.intrinsic_call(
                name,
                &[],
                &[address.into(), self.sign_vector(lane_mask, lanes_done, part_width, element_bits)?.into()],
            )?;
            let (part_vector, instruction) = load_result(call_site)?;
            part_vectors.push(part_vector);
            instructions.push(instruction);
            lanes_done += part_width;
        }
        let joined_vector = self.concat_vectors(&part_vectors, lane_count)?;
        let whole = self.builder.build_bit_cast(
            joined_vector,
            vector_of(self.int_type(element_bits).into(), lane_count),
            "",
        )?;
        let pointers = matches!(vector_type.get_element_type(), BasicTypeEnum::PointerType(_));
        let cast_opcode = if pointers { InstructionOpcode::IntToPtr } else { InstructionOpcode::BitCast };
        Ok((self.builder.build_cast(cast_opcode, whole, vector_type, "")?.into_vector_value(), instructions))
    }

    /// Numbers of so many bits that are negative where lanes are on, from `first_lane` on; behind the last lane none are.
    fn sign_vector(
        &self,
        lane_mask: VectorValue<'ctx>,
        first_lane: u32,
        part_width: u32,
        element_bits: u32,
    ) -> Emitted<VectorValue<'ctx>> {
        let lane_count = lane_mask.get_type().get_size();
        let off_lanes = lane_mask.get_type().const_zero();
        let lane_indices: Vec<_> =
            (first_lane..first_lane + part_width).map(|lane| Some(lane.min(lane_count))).collect();
        let part_mask = self.shuffle_vectors(lane_mask, off_lanes, &lane_indices)?;
        let lowest_value = self.int_type(element_bits).const_int(1 << (element_bits - 1), false);
        let zero_vector = vector_of(self.int_type(element_bits).into(), part_width).const_zero();
        let lowest_vector = VectorType::const_vector(&vec![lowest_value; part_width as usize]);
        // Not all ones: LLVM would take that for a mask of its own again.
        Ok(self.builder.build_select(part_mask, lowest_vector, zero_vector, "")?.into_vector_value())
    }
}

fn load_result<'ctx>(call_site: CallSiteValue<'ctx>) -> Emitted<(VectorValue<'ctx>, InstructionValue<'ctx>)> {
    let value = call_site.try_as_basic_value().basic().ok_or_else(|| CodegenError::NoResult("a masked load".into()))?;
    let instruction = value.as_instruction_value().ok_or(CodegenError::Missing("instruction of a masked load"))?;
    Ok((value.into_vector_value(), instruction))
}

/// Bits of an element in memory.
fn element_bits(vector_type: VectorType<'_>) -> u32 {
    match vector_type.get_element_type() {
        BasicTypeEnum::IntType(int_type) => int_type.get_bit_width(),
        BasicTypeEnum::FloatType(float) => float.get_bit_width(),
        _ => u64::BITS,
    }
}
