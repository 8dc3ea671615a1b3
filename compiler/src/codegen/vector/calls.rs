//! Calls of functions of the program: once where all lanes pass the same, else by a form for gangs, or for each lane.

use super::lane_value::LaneValue;
use super::masks::Mask;
use super::{EmitContext, VectorEmitter};
use crate::codegen::emit::Emitted;
use crate::codegen::function_forms;
use inkwell::types::VectorType;
use inkwell::values::{BasicMetadataValueEnum, BasicValueEnum, VectorValue};
use lockstep_ir::ir::{Callee, InstNode, Value};
use lockstep_ir::plan::function_forms::CallKind;
use lockstep_ir::plan::value_form::Form;
use lockstep_protocol::types::Type;

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    /// Calls a function of the program; what it returns.
    pub(super) fn call_function(
        &self,
        inst_node: &InstNode,
        callee: Callee,
        arguments: &[Value],
    ) -> Emitted<Vec<LaneValue<'ctx>>> {
        let EmitContext { emitter, frame, forms, .. } = self.around;
        let mask = self.block_mask()?;
        let returned = match forms.find_call(self.body, self.plan, (callee, arguments), mask.is_some()) {
            CallKind::Once => {
                self.note_class("call", "uniform", "a function of the program");
                self.emit_guarded(mask, || {
                    let passed = self.typed_values(arguments, emitter.const64(0))?;
                    emitter.call_function(frame, callee, &passed)
                })?
            }
            CallKind::Form(form_index) => {
                self.note_class("call", "vector", "a function of the program");
                self.emit_guarded(mask, || self.call_form(form_index, arguments, mask))?
            }
            CallKind::EachLane => {
                let vectors = self.call_each_lane(inst_node, callee, arguments, mask)?;
                vectors.into_iter().map(BasicValueEnum::from).collect()
            }
        };
        let in_form = |(&result, value): (&Value, BasicValueEnum<'ctx>)| {
            Ok(match (value, self.form_of(result)) {
                (BasicValueEnum::VectorValue(vector), _) => LaneValue::Vector(vector),
                (_, Form::Vector) => LaneValue::Vector(emitter.splat(value, self.around.width())?),
                _ => LaneValue::Affine(value, 0),
            })
        };
        inst_node.results.iter().zip(returned).map(in_form).collect()
    }

    /// Calls a form for the lanes of a mask; none: all lanes.
    fn call_form(
        &self,
        form_index: usize,
        arguments: &[Value],
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<Vec<BasicValueEnum<'ctx>>> {
        let EmitContext { emitter, frame, forms, .. } = self.around;
        let signature = &forms.forms[form_index].signature;
        let mut passed: Vec<BasicMetadataValueEnum> = Vec::new();
        for (&argument, form) in arguments.iter().zip(&signature.arguments) {
            passed.push(match form {
                Form::Affine(_) => self.lane_zero(argument)?.into(),
                Form::Runs(_) | Form::Vector => self.as_vector(argument)?.into(),
            });
        }
        if signature.is_masked {
            passed.push(mask.map_or_else(|| self.every_lane(), |mask| mask.lanes).into());
        }
        function_forms::call_form(emitter, frame, form_index, &passed)
    }

    fn every_lane(&self) -> VectorValue<'ctx> {
        let is_on = self.around.emitter.context.bool_type().const_all_ones();
        VectorType::const_vector(&vec![is_on; self.around.width() as usize])
    }

    /// Calls a function for each active lane. That is a loop also where all lanes are active, as such kernels have many calls.
    fn call_each_lane(
        &self,
        inst_node: &InstNode,
        callee: Callee,
        arguments: &[Value],
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<Vec<VectorValue<'ctx>>> {
        let EmitContext { emitter, frame, .. } = self.around;
        self.note_lanes("call", "a function of the program");
        let mask = mask.unwrap_or_else(|| Mask { lanes: self.every_lane(), may_be_empty: false });
        let call_lane = |lane| {
            emitter.only_once()?;
            emitter.call_function(frame, callee, &self.typed_values(arguments, lane)?)
        };
        let types: Vec<Type> = inst_node.results.iter().map(|&result| self.type_of(result)).collect();
        self.each_lane(Some(mask), &types, call_lane)
    }

    /// Keeps what the function is to return to the active lanes.
    pub(super) fn set_results(&self, arguments: &[Value]) -> Emitted<()> {
        let builder = &self.around.emitter.builder;
        let mask = self.block_mask()?;
        for (result, &argument) in self.around.frame.results.iter().zip(arguments) {
            let value: BasicValueEnum = match (result.is_uniform, mask) {
                // Lane 0 need not be one of those that call.
                (true, _) => match self.held_value(argument)? {
                    LaneValue::Vector(vector) => self.base_in(vector, 0)?,
                    _ => self.lane_zero(argument)?,
                },
                (false, None) => self.as_vector(argument)?.into(),
                (false, Some(mask)) => {
                    let kept = builder.build_load(result.kept_type, result.place, "")?;
                    builder.build_select(mask.lanes, self.as_vector(argument)?.into(), kept, "")?
                }
            };
            builder.build_store(result.place, value)?;
        }
        Ok(())
    }
}
