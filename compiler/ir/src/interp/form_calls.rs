//! Calls of functions from planned code of gangs: once, by a form for all lanes that call, or for each lane.
//!
//! Requires: linearized code, its plan, and the forms of the functions that it calls.
//! Ensures: as for single work-items. What a plan says of arguments and results holds in the lanes that call: equal ones
//! are equal, strided ones are, and a form without a mask is called by all lanes of a full gang; else the call is an error.
//! Phases: how the call is made; the arguments of all lanes; the form's code in lock-step; each lane's results.
//! Source: Karrenberg & Hack 2012, section 3.1; Moll 2021, chapter 6.

use super::fault::{Fault, InterpError};
use super::gang::{GARBAGE, Gang};
use super::item::{Arrival, Group};
use super::launch::{LaunchState, PlannedGangs};
use super::memory::Memory;
use crate::ir::{Callee, Function, InstData, InstNode, Value};
use crate::plan::function_forms::{CallKind, FunctionForm};
use crate::plan::value_form::Form;
use lockstep_protocol::types::{Space, Type};

impl Gang {
    /// Makes the call that an instruction is, if it is one that its active lanes make together; whether that is so.
    pub(super) fn call_together(
        &mut self,
        launch_state: &mut LaunchState<'_>,
        group: &Group,
        memory: &mut Memory,
        inst_node: &InstNode,
        active: &[bool],
    ) -> Result<bool, InterpError> {
        let (InstData::Call { callee, arguments }, Some(planned)) = (&inst_node.data, launch_state.planned) else {
            return Ok(false);
        };
        let lane = &self.lanes[0];
        let function = &launch_state.kernel.regions[lane.region];
        let region_plan = &planned.widening.regions[lane.region];
        let is_masked = region_plan.masks[lane.block].is_some() || self.lanes.len() < self.width;
        let call_kind = match region_plan.alone {
            true => CallKind::EachLane,
            false => planned.forms.find_call(function, region_plan, (*callee, arguments), is_masked),
        };
        let returned = match call_kind {
            CallKind::EachLane => return Ok(false),
            _ if !active.contains(&true) => vec![vec![GARBAGE; inst_node.results.len()]; self.lanes.len()],
            CallKind::Form(form_index) => {
                let form = &planned.forms.forms[form_index];
                let passed = self.pass_arguments(function, form, arguments, active);
                let passed = passed.map_err(|fault| self.lanes[0].error_at(launch_state, fault))?;
                self.call_form(launch_state, group, memory, (planned, form), &passed, active)?
            }
            CallKind::Once => {
                let returned = self.call_once(launch_state, group, memory, *callee, arguments, active);
                returned.map_err(|fault| self.lanes[0].error_at(launch_state, fault))?
            }
        };
        for (lane, returned) in self.lanes.iter_mut().zip(returned) {
            for (&result, bits) in inst_node.results.iter().zip(returned) {
                lane.values[result.as_u32() as usize] = bits & function.ty(result).value_mask();
            }
        }
        Ok(true)
    }

    /// Calls a function for the first active lane; what it returns is what all lanes get.
    fn call_once(
        &mut self,
        launch_state: &mut LaunchState<'_>,
        group: &Group,
        memory: &mut Memory,
        callee: Callee,
        arguments: &[Value],
        active: &[bool],
    ) -> Result<Vec<Vec<u128>>, Fault> {
        let function = &launch_state.kernel.regions[self.lanes[0].region];
        let caller = first_active(active);
        let mut passed = Vec::new();
        for &argument in arguments {
            passed.push(self.strided_bits(function, argument, 0, active)?[caller]);
        }
        let returned = self.lanes[caller].call_function(launch_state, group, memory, callee, &passed)?;
        Ok(vec![returned; self.lanes.len()])
    }

    /// What each lane passes to a form: inactive lanes have what the code of gangs gives them of equal and strided arguments.
    fn pass_arguments(
        &self,
        function: &Function,
        form: &FunctionForm,
        arguments: &[Value],
        active: &[bool],
    ) -> Result<Vec<Vec<u128>>, Fault> {
        let mut passed = vec![Vec::new(); self.lanes.len()];
        for (&argument, form) in arguments.iter().zip(&form.signature.arguments) {
            let bits = match *form {
                // Where private memory lies is not what it is for machine code.
                Form::Affine(stride) if stride == 0 || !may_be_private(function.ty(argument)) => {
                    self.strided_bits(function, argument, stride, active)?
                }
                _ => self.own_bits(function, argument, active),
            };
            passed.iter_mut().zip(bits).for_each(|(lane_arguments, bits)| lane_arguments.push(bits));
        }
        if form.signature.is_masked {
            passed.iter_mut().zip(active).for_each(|(lane_arguments, &active)| lane_arguments.push(active.into()));
        } else if self.lanes.len() < self.width || active.contains(&false) {
            return Err(Fault::Undefined(format!("not all lanes call a form of {} that has no mask", form.callee)));
        }
        Ok(passed)
    }

    /// What the active lanes have of a value, and something for the others.
    fn own_bits(&self, function: &Function, value: Value, active: &[bool]) -> Vec<u128> {
        let unknown = GARBAGE & function.ty(value).value_mask();
        let lanes = self.lanes.iter().zip(active);
        lanes.map(|(lane, &active)| if active { lane.value_bits(value) } else { unknown }).collect()
    }

    /// What lanes have of a value that grows from lane to lane by so much, also those that are not active.
    fn strided_bits(
        &self,
        function: &Function,
        value: Value,
        stride: i64,
        active: &[bool],
    ) -> Result<Vec<u128>, Fault> {
        let caller = first_active(active);
        let caller_bits = self.lanes[caller].value_bits(value);
        let bits_of = |lane_number: usize| {
            let distance = i128::from(stride) * (lane_number as i128 - caller as i128);
            caller_bits.wrapping_add_signed(distance) & function.ty(value).value_mask()
        };
        let expected: Vec<u128> = (0..self.lanes.len()).map(bits_of).collect();
        let found = self.own_bits(function, value, active);
        match (0..self.lanes.len())
            .find(|&lane_number| active[lane_number] && found[lane_number] != expected[lane_number])
        {
            None => Ok(expected),
            Some(lane_number) => Err(Fault::Undefined(format!(
                "{value} is {} in lane {lane_number} and {caller_bits} in lane {caller}, and planned to grow by {stride} from lane to lane",
                found[lane_number],
            ))),
        }
    }

    /// Runs a form with these arguments of each lane; what each lane gets from it.
    fn call_form<'a>(
        &mut self,
        launch_state: &mut LaunchState<'a>,
        group: &Group,
        memory: &mut Memory,
        (planned, form): (PlannedGangs<'a>, &'a FunctionForm),
        passed: &[Vec<u128>],
        active: &[bool],
    ) -> Result<Vec<Vec<u128>>, InterpError> {
        let caller = std::mem::replace(&mut launch_state.kernel, &form.code);
        launch_state.planned = Some(PlannedGangs { widening: &form.widening, ..planned });
        let branches = std::mem::take(&mut launch_state.report.branches);
        let mut called = Gang { lanes: Vec::new(), width: self.width };
        for (lane, arguments) in self.lanes.iter().zip(passed) {
            let begun = lane.begin_call(launch_state, group, memory, called.lanes.first(), arguments)?;
            called.lanes.push(begun);
        }
        let arrival = called.run_until_barrier(launch_state, group, memory)?;
        launch_state.kernel = caller;
        launch_state.planned = Some(planned);
        launch_state.report.branches = branches;
        for (lane, called_lane) in self.lanes.iter_mut().zip(&called.lanes) {
            lane.steps = called_lane.steps;
        }
        if arrival != Arrival::End {
            return Err(Fault::Undefined("a function waits for other work-items".to_string()).into());
        }
        let results = called.collect_results(form, active);
        results.map_err(|fault| self.lanes[0].error_at(launch_state, fault))
    }

    /// What the lanes of a form that has run return: results that are planned to be the same are, for all lanes.
    fn collect_results(&self, form: &FunctionForm, active: &[bool]) -> Result<Vec<Vec<u128>>, Fault> {
        let result_count = form.code.results.len();
        let from_caller = &self.lanes[first_active(active)].results;
        let mut returned = Vec::new();
        for (lane, &active) in self.lanes.iter().zip(active) {
            if active && lane.results.len() != result_count {
                return Err(Fault::Undefined("a function returns without having set its results".to_string()));
            }
            let own = if active { lane.results.clone() } else { vec![GARBAGE; result_count] };
            let mut results = Vec::new();
            for ((&is_uniform, &common), own) in form.uniform_results.iter().zip(from_caller).zip(own) {
                if active && is_uniform && own != common {
                    let message = format!(
                        "lanes get {own} and {common} of a result of {} that is planned to be the same",
                        form.callee
                    );
                    return Err(Fault::Undefined(message));
                }
                results.push(if is_uniform { common } else { own });
            }
            returned.push(results);
        }
        Ok(returned)
    }
}

fn first_active(active: &[bool]) -> usize {
    active.iter().position(|&active| active).unwrap_or(0)
}

/// Whether values of a type may be addresses of private memory.
fn may_be_private(value_type: Type) -> bool {
    matches!(value_type, Type::Ptr(Space::Private | Space::Generic))
}
