//! The forms that functions have for gangs: one for each way in which calls pass arguments.
//!
//! Requires: a kernel whose regions are planned, and the functions of its module, of which none calls itself.
//! Ensures: for calls from code of gangs, a form of the function called, with a plan of its own, or none where gangs cannot run it: then
//! it is called for each lane. What a form works on has the shapes of its signature in all lanes that call. A form that is masked does
//! nothing for other lanes.
//! Phases: calls of the kernel's regions; then, of each form that is new, the passes and its own calls.
//! Source: Karrenberg & Hack 2012, section 3.1; Moll 2021, chapter 6.
//!
//! ```text
//! call fn1(v3, v4)  with v3 uniform, v4 strided by 4, mask v7
//!                               =>   a form of fn1 with inputs (uniform, stride 4) and its mask as third one, of which the entry is
//!                                    br mask, body, end
//! ```

use super::gang_kinds::GangKinds;
use super::kernel_state::{KernelState, Request};
use super::pass::Pass;
use super::pass_runner::{InternalError, Observer, run_passes};
use super::region_plan::RegionPlan;
use super::value_form::Form;
use super::widening::Widening;
use crate::analysis::returned_values::ReturnedValues;
use crate::analysis::shape::Shape;
use crate::ir::{Block, BlockCall, Callee, Function, InstData, InstNode, Kernel, Module, Region, Terminator, Value};
use crate::report::Notes;
use lockstep_protocol::compile_options::Vectorize;
use lockstep_protocol::configuration::Gangs;
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::layout::Layout;
use lockstep_protocol::loop_profile::LoopProfile;
use lockstep_protocol::parameters::Input;
use lockstep_protocol::types::Type;
use std::collections::HashMap;
use std::sync::Arc;

/// Forms of a function from which on other calls take the one for arguments of any shape.
const MOST_FORMS: usize = 4;

/// How calls pass arguments to a form of a function.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Signature {
    /// How each argument is held; none by rows.
    pub arguments: Vec<Form>,
    /// Whether not all lanes call. Then the last parameter is the mask of those that do.
    pub is_masked: bool,
}

/// A function for calls of a signature.
pub struct FunctionForm {
    /// The function.
    pub callee: Callee,
    /// How calls pass arguments.
    pub signature: Signature,
    /// Its code, linearized.
    pub code: Kernel,
    /// How it runs in gangs.
    pub widening: Widening,
    /// Whether each result is the same in all lanes.
    pub uniform_results: Vec<bool>,
}

/// How code of gangs calls a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallKind {
    /// Once for all lanes, which pass the same.
    Once,
    /// Once for all lanes, by this form.
    Form(usize),
    /// For each lane.
    EachLane,
}

/// The forms of the functions that a kernel calls.
#[derive(Default)]
pub struct FunctionForms {
    /// The forms, each behind one that calls it.
    pub forms: Vec<FunctionForm>,
    /// The form of each signature asked for; none where gangs cannot run the function.
    by_signature: HashMap<(Callee, Signature), Option<usize>>,
    /// The functions that are called for one work-item, or once for all lanes, in their order.
    pub scalar: Vec<Callee>,
    returned_values: Arc<ReturnedValues>,
}

/// What planning a form needs to know.
struct Planner<'a, O: Observer> {
    module: &'a Module,
    request: Request,
    notes: &'a Notes,
    table: &'a [Pass],
    observer: &'a mut O,
    width: u32,
    planned: FunctionForms,
}

impl FunctionForms {
    /// Plans the forms of all functions that a kernel's gangs call.
    ///
    /// # Errors
    ///
    /// As [`run_passes`].
    pub fn plan(
        kernel_state: (&Module, &Kernel, &Widening, &LaunchFacts),
        request: Request,
        notes: &Notes,
        table: &[Pass],
        observer: &mut impl Observer,
    ) -> Result<FunctionForms, InternalError> {
        let (module, kernel, widening, launch) = kernel_state;
        let planned = FunctionForms { returned_values: module.returned_values(), ..FunctionForms::default() };
        let mut planner = Planner { module, request, notes, table, observer, width: widening.width, planned };
        for (region, function) in &kernel.regions {
            let kinds = GangKinds::of_region(widening, launch, function);
            planner.plan_calls(function, &widening.regions[region], kinds)?;
        }
        let mut next_form = 0;
        while let Some(form) = planner.planned.forms.get(next_form) {
            let (function, region_plan) =
                (form.code.body().clone(), form.widening.regions[Region::from_u32(0)].clone());
            planner.plan_calls(&function, &region_plan, GangKinds { has_full: true, has_partial: false })?;
            next_form += 1;
        }
        let mut planned = planner.planned;
        planned.scalar = module.close_over_calls(planned.find_scalar_calls(kernel, widening));
        Ok(planned)
    }

    /// No forms: code of one work-item calls the functions.
    pub fn of_scalar_code(module: &Module, kernel: &Kernel) -> FunctionForms {
        FunctionForms { scalar: module.functions_called_by(kernel), ..FunctionForms::default() }
    }

    /// The functions that the code of a kernel or of a form calls itself other than by a form.
    fn find_scalar_calls(&self, kernel: &Kernel, widening: &Widening) -> Vec<Callee> {
        let mut scalar = Vec::new();
        let mut see_calls = |function: &Function, region_plan: &RegionPlan| {
            for inst_node in function.insts.values() {
                let InstData::Call { callee, arguments } = &inst_node.data else { continue };
                let kind_of = |is_masked| self.find_call(function, region_plan, (*callee, arguments), is_masked);
                let has_form = [true, false].map(kind_of).iter().all(|kind| matches!(kind, CallKind::Form(_)));
                if region_plan.alone || !has_form {
                    scalar.push(*callee);
                }
            }
        };
        for (region, function) in &kernel.regions {
            see_calls(function, &widening.regions[region]);
        }
        for form in &self.forms {
            see_calls(form.code.body(), &form.widening.regions[Region::from_u32(0)]);
        }
        scalar
    }

    /// How a call is made by code that is planned so; `is_masked` tells that not all lanes come.
    pub fn find_call(
        &self,
        function: &Function,
        region_plan: &RegionPlan,
        (callee, arguments): (Callee, &[Value]),
        is_masked: bool,
    ) -> CallKind {
        let signature = Signature::of_call(function, region_plan, arguments, is_masked);
        if signature.arguments.iter().all(|form| form.is_uniform()) && self.returned_values[callee].may_be_called_once()
        {
            return CallKind::Once;
        }
        let any_shape = Signature::of_any_shape(arguments.len());
        let planned =
            [signature, any_shape].into_iter().find_map(|signature| self.by_signature.get(&(callee, signature)));
        planned.copied().flatten().map_or(CallKind::EachLane, CallKind::Form)
    }

    fn count_forms(&self, callee: Callee) -> usize {
        self.forms.iter().filter(|form| form.callee == callee).count()
    }
}

impl Signature {
    fn of_call(function: &Function, region_plan: &RegionPlan, arguments: &[Value], is_masked: bool) -> Signature {
        let form_of = |&argument: &Value| match region_plan.form_of(function, argument) {
            Form::Runs(_) => Form::Vector,
            form => form,
        };
        Signature { arguments: arguments.iter().map(form_of).collect(), is_masked }
    }

    fn of_any_shape(argument_count: usize) -> Signature {
        Signature { arguments: vec![Form::Vector; argument_count], is_masked: true }
    }

    /// The shapes of what a form gets, its mask included.
    fn shapes(&self) -> Vec<Shape> {
        let shape_of = |form: &Form| match *form {
            Form::Affine(0) => Shape::uniform(1),
            Form::Affine(stride) => Shape::Strided { stride, align: 1 },
            Form::Runs(_) | Form::Vector => Shape::Varying,
        };
        self.arguments.iter().map(shape_of).chain(self.is_masked.then_some(Shape::Varying)).collect()
    }
}

impl<O: Observer> Planner<'_, O> {
    /// Plans the forms that are missing for the calls of a piece of code, which runs for gangs of these kinds.
    fn plan_calls(
        &mut self,
        function: &Function,
        region_plan: &RegionPlan,
        kinds: GangKinds,
    ) -> Result<(), InternalError> {
        if region_plan.alone {
            return Ok(());
        }
        for &block in &function.layout {
            let has_mask = region_plan.masks[block].is_some();
            for &instruction in &function.blocks[block].insts {
                let InstNode { data: InstData::Call { callee, arguments }, .. } = &function.insts[instruction] else {
                    continue;
                };
                for (is_needed, is_masked) in
                    [(kinds.has_full && !has_mask, false), (kinds.has_partial || has_mask, true)]
                {
                    if is_needed {
                        let signature = Signature::of_call(function, region_plan, arguments, is_masked);
                        self.plan_form(*callee, signature)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn plan_form(&mut self, callee: Callee, mut signature: Signature) -> Result<(), InternalError> {
        let is_uniform = |signature: &Signature| signature.arguments.iter().all(|form| form.is_uniform());
        if is_uniform(&signature) && self.planned.returned_values[callee].may_be_called_once() {
            return Ok(());
        }
        let is_planned = |planner: &Self, signature: &Signature| {
            planner.planned.by_signature.contains_key(&(callee, signature.clone()))
        };
        if !is_planned(self, &signature) && self.planned.count_forms(callee) >= MOST_FORMS {
            signature = Signature::of_any_shape(signature.arguments.len());
        }
        if is_planned(self, &signature) {
            return Ok(());
        }
        let form = self.run_passes(callee, &signature)?;
        let form_index = form.map(|form| {
            self.planned.forms.push(form);
            self.planned.forms.len() - 1
        });
        self.planned.by_signature.insert((callee, signature), form_index);
        Ok(())
    }

    /// Brings a form through the passes; none where it cannot run in gangs.
    fn run_passes(&mut self, callee: Callee, signature: &Signature) -> Result<Option<FunctionForm>, InternalError> {
        let Vectorize::Gangs(gangs) = self.request.vectorize else { return Ok(None) };
        let mut code = self.module.functions[callee].clone();
        if signature.is_masked {
            add_mask(&mut code);
        }
        let gangs = Gangs { width: Some(self.width), layout: Some(Layout::X), ..gangs };
        // Of what a function is called with the launch tells nothing.
        let request = Request { vectorize: Vectorize::Gangs(gangs), loops: LoopProfile::Unknown, ..self.request };
        let launch = LaunchFacts::default();
        let mut form_state = KernelState::new(self.module, code, &launch, request, self.notes, self.table);
        form_state.passed_shapes = signature.shapes();
        run_passes(&mut form_state, self.observer)?;
        let (code, widening) = form_state.finish();
        let is_uniform_input = |input: usize| signature.arguments[input].is_uniform();
        let is_uniform = |result: usize| self.planned.returned_values[callee].is_uniform(result, is_uniform_input);
        let uniform_results = (0..code.results.len()).map(is_uniform).collect();
        let signature = signature.clone();
        Ok(widening.map(|widening| FunctionForm { callee, signature, code, widening, uniform_results }))
    }
}

/// Gives a function another input, the mask of the lanes that call it, and has other lanes return at once.
fn add_mask(code: &mut Kernel) {
    code.inputs.push((Input::Passed { position: code.inputs.len() as u32 }, Type::BOOL));
    let types: Vec<Type> = code.inputs.iter().map(|&(_, input_type)| input_type).collect();
    let function = code.body_mut();
    let body_block = function.entry_block();
    let (mask_block, end_block) = (function.add_block(), function.add_block());
    let passed: Vec<Value> = types.into_iter().map(|input_type| function.add_param(mask_block, input_type)).collect();
    let Some((&condition, arguments)) = passed.split_last() else { return };
    let edge_to = |block: Block, arguments: &[Value]| BlockCall { block, arguments: arguments.to_vec() };
    function.blocks[mask_block].terminator =
        Terminator::Branch { condition, then_to: edge_to(body_block, arguments), else_to: edge_to(end_block, &[]) };
    function.blocks[end_block].terminator = Terminator::Return;
    // The entry stands first.
    function.layout.retain(|&block| block != mask_block);
    function.layout.insert(0, mask_block);
}
