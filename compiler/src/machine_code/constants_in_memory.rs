//! Constants of large modules come from memory.
//!
//! LLVM keeps what vectors of constants a function has in a list, which it searches from the front for each of them, and asks what their bits
//! are wherever they are used. 1 MB of source has 29,000 of them, and a third of the time of its code generation went into that.
//!
//! Requires: a module behind all optimization, for a machine whose instructions spread an element in memory over all lanes (AVX-512). On
//! others loads are not part of the instructions: code was up to 1.7 times as slow, and generating it took as long.
//! Ensures: where arithmetic has a constant that is the same in all lanes, the constant is loaded in front of it; the values are the same.
//! A load is what the constant becomes in the end in any case, a part of the instruction that uses it. What code generation does better
//! than arithmetic for some constants (nothing, a shift, an addition), it still does.
//! Phases: each instruction by itself.
//! Source: our own.
//!
//! ```text
//! @0 = private unnamed_addr constant i32 12345      one for each constant
//!
//! %y = add <16 x i32> %x, splat (i32 12345)   =>    %c = load i32, ptr @0
//!                                                   %y = add <16 x i32> %x, %c in all lanes
//! ```

use std::collections::HashMap;

use inkwell::builder::{Builder, BuilderError};
use inkwell::module::{Linkage, Module};
use inkwell::types::{BasicTypeEnum, VectorType};
use inkwell::values::{
    BasicValueEnum, GlobalValue, InstructionOpcode, InstructionValue, IntValue, UnnamedAddress, VectorValue,
};

use super::store_to_load_forwarding::callee_name;
use crate::frontend::llvm::{find_splat_element, list_users, value_operand};

/// Fused multiplications and additions, by the beginnings of their names.
const FUSED: [&str; 2] = ["llvm.fma.", "llvm.fmuladd."];

/// Loads the constants of arithmetic that is done for all lanes.
pub fn load_constants(module: &Module<'_>) -> Result<(), BuilderError> {
    let mut loader = ConstantLoader { module, builder: module.get_context().create_builder(), globals: HashMap::new() };
    for block in module.get_functions().flat_map(|function| function.get_basic_blocks()) {
        for instruction in block.get_instructions() {
            for index in 0..count_operands(instruction) {
                loader.load_operand(instruction, index)?;
            }
        }
    }
    Ok(())
}

/// How many of an instruction's operands may come from memory.
fn count_operands(instruction: InstructionValue<'_>) -> u32 {
    use InstructionOpcode::{Add, Call, FAdd, FMul, FSub, Mul, Sub, Xor};
    match instruction.get_opcode() {
        Add | Sub | Xor | Mul | FAdd | FSub | FMul => 2,
        Call => {
            let is_fused = |name: String| FUSED.iter().any(|start| name.starts_with(start));
            if callee_name(instruction).is_some_and(is_fused) { 3 } else { 0 }
        }
        _ => 0,
    }
}

struct ConstantLoader<'a, 'ctx> {
    module: &'a Module<'ctx>,
    builder: Builder<'ctx>,
    /// Where the element of each constant lies.
    globals: HashMap<BasicValueEnum<'ctx>, GlobalValue<'ctx>>,
}

impl<'ctx> ConstantLoader<'_, 'ctx> {
    /// Loads an operand, if it is a constant that comes from memory.
    fn load_operand(&mut self, instruction: InstructionValue<'ctx>, index: u32) -> Result<(), BuilderError> {
        let Some(BasicValueEnum::VectorValue(vector)) = value_operand(instruction, index) else { return Ok(()) };
        let Some(element) = find_splat_element(vector) else { return Ok(()) };
        if !is_worth_loading(element, instruction.get_opcode()) || has_narrow_use(instruction) {
            return Ok(());
        }
        self.builder.position_before(&instruction);
        let pointer = self.find_global(element).as_pointer_value();
        let loaded = self.builder.build_load(element.get_type(), pointer, "")?;
        instruction.set_operand(index, self.spread_element(loaded, vector.get_type())?);
        Ok(())
    }

    /// Where the element of a constant lies.
    fn find_global(&mut self, element: BasicValueEnum<'ctx>) -> GlobalValue<'ctx> {
        *self.globals.entry(element).or_insert_with(|| {
            let global = self.module.add_global(element.get_type(), None, "");
            global.set_initializer(&element);
            global.set_linkage(Linkage::Private);
            global.set_unnamed_address(UnnamedAddress::Global);
            global.set_constant(true);
            global
        })
    }

    /// Puts an element into all lanes.
    fn spread_element(
        &self,
        element: BasicValueEnum<'ctx>,
        vector_type: VectorType<'ctx>,
    ) -> Result<VectorValue<'ctx>, BuilderError> {
        let index_type = self.module.get_context().i32_type();
        let poison = vector_type.get_poison();
        let one_lane = self.builder.build_insert_element(poison, element, index_type.const_zero(), "")?;
        let lanes = index_type.vec_type(vector_type.get_size()).const_zero();
        self.builder.build_shuffle_vector(one_lane, poison, lanes, "")
    }
}

/// Whether there is nothing better for a constant than an operand.
fn is_worth_loading(element: BasicValueEnum<'_>, opcode: InstructionOpcode) -> bool {
    match (element, element.get_type()) {
        (BasicValueEnum::IntValue(value), BasicTypeEnum::IntType(int_type)) => {
            matches!(int_type.get_bit_width(), 32 | 64) && !has_short_form(value, opcode)
        }
        (BasicValueEnum::FloatValue(value), BasicTypeEnum::FloatType(_)) => {
            let is_wide = matches!(value.get_type().get_bit_width(), 32 | 64);
            is_wide && value.get_constant().is_some_and(|(number, _)| number != 0.0)
        }
        _ => false,
    }
}

/// Whether arithmetic with a constant is done in another way than by an instruction that has it as an operand.
fn has_short_form(value: IntValue<'_>, opcode: InstructionOpcode) -> bool {
    let Some(number) = value.get_sign_extended_constant() else { return true };
    match opcode {
        // A shift, or one and an addition; and products of 64 bits are put together from what the constant's halves need.
        InstructionOpcode::Mul => {
            let magnitude = number.unsigned_abs();
            value.get_type().get_bit_width() == 64
                || [magnitude.wrapping_sub(1), magnitude, magnitude + 1].iter().any(|near| near.count_ones() <= 1)
        }
        _ => (-1..=1).contains(&number),
    }
}

/// Whether a use needs a part of each lane's bits: code generation then reads so much of the constant, into another register than a vector's.
fn has_narrow_use(instruction: InstructionValue<'_>) -> bool {
    use InstructionOpcode::{And, Shl, Trunc};
    list_users(instruction).iter().any(|user| matches!(user.get_opcode(), And | Shl | Trunc))
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    /// What becomes of instructions over `%x`, vectors of integers, and `%f`, of floats, each by itself; the constants that are loaded, too.
    fn load_in(instructions: &[&str]) -> (String, usize) {
        let context = Context::create();
        let text = format!(
            "declare <4 x float> @llvm.fma.v4f32(<4 x float>, <4 x float>, <4 x float>)
define void @f(<4 x i32> %x, <4 x i64> %l, <4 x float> %f, ptr %to) {{
{}
  ret void
}}",
            instructions.join("\n")
        );
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).unwrap();
        load_constants(&module).unwrap();
        module.verify().unwrap();
        (module.to_string(), module.get_globals().count())
    }

    #[test]
    fn constants_of_arithmetic_are_loaded_each_from_one_place() {
        let (text, globals) = load_in(&[
            "%a = add <4 x i32> %x, splat (i32 77)",
            "%b = xor <4 x i32> splat (i32 77), %x",
            "%c = mul <4 x i32> %x, splat (i32 77)",
            "%d = fmul <4 x float> %f, splat (float 2.5)",
            "%e = call <4 x float> @llvm.fma.v4f32(<4 x float> %f, <4 x float> splat (float 2.5), <4 x float> splat (float 7.5))",
            "%g = add <4 x i64> %l, splat (i64 77)",
        ]);
        assert_eq!(globals, 4, "{text}");
        assert!(!text.contains("splat"), "{text}");
        assert_eq!(text.matches(" = load i32").count(), 3, "{text}");
        assert!(text.contains("xor <4 x i32> %") && text.contains(", %x"), "{text}");
    }

    #[test]
    fn what_code_generation_does_better_stays() {
        let kept = [
            "%a = mul <4 x i32> %x, splat (i32 64)",
            "%b = mul <4 x i32> %x, splat (i32 -65)",
            "%c = mul <4 x i64> %l, splat (i64 77)",
            "%d = add <4 x i32> %x, splat (i32 -1)",
            "%e = shl <4 x i32> %x, splat (i32 7)",
            "%f1 = fadd <4 x float> %f, splat (float 0.0)",
            "%g = udiv <4 x i32> %x, splat (i32 77)",
            "%h = add <4 x i32> %x, <i32 1, i32 2, i32 3, i32 4>",
            "%i = add <4 x i32> %x, splat (i32 77)\n%j = and <4 x i32> %i, splat (i32 255)",
            "%k = add <4 x i16> poison, splat (i16 77)",
        ];
        for instruction in kept {
            let (text, globals) = load_in(&[instruction]);
            assert_eq!(globals, 0, "{text}");
        }
    }
}
