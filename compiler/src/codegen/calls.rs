//! Calls out of generated code, with one work-item's operands.

use super::emit::{Emitted, Emitter};
use super::frame::Frame;
use crate::codegen::error::CodegenError;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Linkage;
use inkwell::types::{BasicMetadataTypeEnum, BasicType, FunctionType};
use inkwell::values::{
    BasicMetadataValueEnum, BasicValueEnum, FunctionValue, InstructionOpcode, IntValue, VectorValue,
};
use lockstep_protocol::kernel_abi::{COUNT_ITERATIONS, READ_CLOCK, YIELD};
use lockstep_protocol::types::Type;

/// LLVM's number for a function that reads what its arguments lead to, and reads and writes memory to which the module has no access.
const READS_ARGUMENTS_AND_COUNTS: u64 = 0b11 << 2 | 0b01;

impl<'ctx> Emitter<'ctx, '_> {
    /// Calls a function of the host's C library. It is pure, whatever it does to `errno`.
    pub fn call_host(
        &self,
        name: &str,
        arguments: &[(Type, BasicValueEnum<'ctx>)],
        result_type: Type,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let function = match self.module.get_function(name) {
            Some(function) => function,
            None => {
                let parameter_types: Vec<BasicMetadataTypeEnum> =
                    arguments.iter().map(|&(scalar_type, _)| self.value_type(scalar_type).into()).collect();
                let function_type = self.value_type(result_type).fn_type(&parameter_types, false);
                self.declare(name, function_type, &["nounwind", "willreturn", "nofree", "nosync", "memory"])
            }
        };
        let argument_values: Vec<BasicMetadataValueEnum> = arguments.iter().map(|&(_, value)| value.into()).collect();
        let call_site = self.builder.build_call(function, &argument_values, "")?;
        call_site.try_as_basic_value().basic().ok_or_else(|| CodegenError::NoResult(format!("the call of {name}")))
    }

    /// Declares a function of the host with these attributes.
    fn declare(&self, name: &str, function_type: FunctionType<'ctx>, attributes: &[&str]) -> FunctionValue<'ctx> {
        let function = self.module.add_function(name, function_type, None);
        for attribute in attributes {
            let kind_id = Attribute::get_named_enum_kind_id(attribute);
            function.add_attribute(AttributeLoc::Function, self.context.create_enum_attribute(kind_id, 0));
        }
        function
    }

    /// Declares a function that is a part of the kernel's code, and has a reason not to stand in the one that calls it.
    pub fn declare_part(&self, name: &str, function_type: FunctionType<'ctx>) -> FunctionValue<'ctx> {
        let function = self.declare(name, function_type, &["noinline"]);
        function.set_linkage(Linkage::Internal);
        function
    }

    /// Reads the clock. LLVM is not told what the function does to memory, so it takes the call for one that may do
    /// anything: readings keep their order, and their place among accesses.
    pub fn read_clock(&self) -> Emitted<IntValue<'ctx>> {
        let function = self.module.get_function(READ_CLOCK).unwrap_or_else(|| {
            // Two readings on two ways are not one before the ways part.
            let attributes = ["nounwind", "willreturn", "nomerge"];
            self.declare(READ_CLOCK, self.i64_type().fn_type(&[], false), &attributes)
        });
        let value = self.builder.build_call(function, &[], "")?.try_as_basic_value().basic();
        Ok(value.ok_or_else(|| CodegenError::NoResult("the call that reads the clock".into()))?.into_int_value())
    }

    /// Lets the others of the group go on. Whoever comes back may find all memory changed, so LLVM is told nothing of what the
    /// function does.
    pub fn let_others_go_on(&self) -> Emitted<()> {
        let function = self
            .module
            .get_function(YIELD)
            .unwrap_or_else(|| self.declare(YIELD, self.context.void_type().fn_type(&[], false), &["nounwind"]));
        self.builder.build_call(function, &[], "")?;
        Ok(())
    }

    /// Adds a gang's way through a loop to the loop's counters, by the iterations of each lane.
    pub fn count_iterations(
        &self,
        frame: &Frame<'ctx>,
        loop_number: u32,
        lane_iterations: VectorValue<'ctx>,
    ) -> Emitted<()> {
        let (i32_type, lane_count) = (self.context.i32_type(), lane_iterations.get_type().get_size());
        let function = self.module.get_function(COUNT_ITERATIONS).unwrap_or_else(|| {
            let parameters = [self.pointer_type().into(), i32_type.into(), self.pointer_type().into(), i32_type.into()];
            let attributes = ["nounwind", "willreturn"];
            let function =
                self.declare(COUNT_ITERATIONS, self.context.void_type().fn_type(&parameters, false), &attributes);
            let memory = Attribute::get_named_enum_kind_id("memory");
            let not_of_kernels = self.context.create_enum_attribute(memory, READS_ARGUMENTS_AND_COUNTS);
            function.add_attribute(AttributeLoc::Function, not_of_kernels);
            function
        });
        let address = self.allocate_in_entry(lane_iterations.get_type())?;
        self.builder.build_store(address, lane_iterations)?;
        let [loop_number, lane_count] =
            [loop_number, lane_count].map(|number| i32_type.const_int(number.into(), false));
        self.builder.build_call(
            function,
            &[frame.address.into(), loop_number.into(), address.into(), lane_count.into()],
            "",
        )?;
        Ok(())
    }

    /// Packs the arguments and calls the launch's printf.
    pub fn call_printf(
        &self,
        frame: &Frame<'ctx>,
        format_index: u32,
        arguments: &[(Type, BasicValueEnum<'ctx>)],
    ) -> Emitted<IntValue<'ctx>> {
        let builder = &self.builder;
        let argument_area = frame.printf_args.ok_or(CodegenError::Missing("memory for the arguments of printf"))?;
        for (index, &(scalar_type, value)) in arguments.iter().enumerate() {
            let packed_word = match scalar_type {
                Type::F64 => value,
                Type::F16 | Type::F32 => {
                    builder.build_cast(InstructionOpcode::FPExt, value, self.context.f64_type(), "")?
                }
                Type::Int(bits) if bits < 64 => {
                    builder.build_cast(InstructionOpcode::ZExt, value, self.i64_type(), "")?
                }
                Type::Int(bits) if bits > 64 => {
                    builder.build_cast(InstructionOpcode::Trunc, value, self.i64_type(), "")?
                }
                Type::Int(_) | Type::Ptr(_) => value,
            };
            builder.build_store(self.offset_inside(argument_area, 8 * index as u64)?, packed_word)?;
        }
        let (i32_type, pointer_type) = (self.context.i32_type(), self.pointer_type());
        let function_type = i32_type.fn_type(&[pointer_type.into(), i32_type.into(), pointer_type.into()], false);
        let (function, context) = frame.printf;
        let format = i32_type.const_int(format_index.into(), false);
        let arguments = [context.into(), format.into(), argument_area.into()];
        let call_site = builder.build_indirect_call(function_type, function, &arguments, "")?;
        let nounwind = Attribute::get_named_enum_kind_id("nounwind");
        let nounwind = self.context.create_enum_attribute(nounwind, 0);
        call_site.add_attribute(AttributeLoc::Function, nounwind);
        let result = call_site.try_as_basic_value().basic();
        Ok(result.ok_or_else(|| CodegenError::NoResult("the call of printf".into()))?.into_int_value())
    }
}
