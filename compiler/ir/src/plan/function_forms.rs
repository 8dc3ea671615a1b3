//! The forms that functions have for gangs: one for each way in which calls pass arguments.
//!
//! Requires: a kernel whose regions are planned, and the functions of its module, each behind those that it calls.
//! Ensures: for calls from code of gangs, a form of the function called that takes what they pass, with a plan of its own, or none where
//! gangs cannot run it: then it is called for each lane. What a form works on has the shapes of its signature in all lanes that call. A
//! form that is masked does nothing for other lanes.
//! Phases: how the kernel's regions call; then function by function, callers first: the signatures of all calls, which a large function
//! has joined to one; the passes over each form; how the form calls.
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
use crate::analysis::returned_values::find_returned_values;
use crate::analysis::shape::Shape;
use crate::ir::{Block, BlockCall, Callee, Function, InstData, InstNode, Kernel, Module, Region, Terminator, Value};
use crate::report::Notes;
use cranelift_entity::SecondaryMap;
use lockstep_protocol::compile_options::Vectorize;
use lockstep_protocol::configuration::Gangs;
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::layout::Layout;
use lockstep_protocol::loop_profile::LoopProfile;
use lockstep_protocol::parameters::Input;
use lockstep_protocol::types::Type;
use std::fmt;

/// Signatures for which a function has a form each. Those of more are joined.
const MOST_FORMS: usize = 4;

/// Instructions that the forms of a function may have together, as it has them itself. Of a function with more, there is one form.
const MOST_FORM_INSTS: usize = 2_000;

/// Instructions of a function, with what it calls, up to which it is called once where all lanes pass the same: that takes another copy of
/// it, for one work-item.
const MOST_ONCE_INSTS: usize = 2_000;

/// Instructions of the functions that get forms for a kernel, as they have them themselves. Further functions are called for each lane.
const MOST_INSTS_IN_FORMS: usize = 8_000;

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
    /// The function of the module that this is a form of.
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
    /// The forms, those of callers first.
    pub forms: Vec<FunctionForm>,
    /// Those of each function.
    forms_of: SecondaryMap<Callee, Vec<usize>>,
    /// The functions that are called for one work-item, or once for all lanes, in their order.
    pub scalar: Vec<Callee>,
    /// The functions of which one call does for all lanes that pass the same.
    once: SecondaryMap<Callee, bool>,
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
    /// How each function is called by the code that is planned.
    signatures: SecondaryMap<Callee, Vec<Signature>>,
    /// Instructions of the functions that have forms.
    insts_in_forms: usize,
    /// The regions that work-items run one after the other.
    scalar_regions: Vec<Region>,
}

impl FunctionForms {
    /// Plans the forms of all functions that a kernel's gangs call.
    ///
    /// # Errors
    ///
    /// When a pass panics over a form, or breaks rules of its stage in builds with debug assertions.
    pub fn plan_forms(
        kernel_state: (&Module, &Kernel, &Widening, &LaunchFacts),
        request: Request,
        notes: &Notes,
        table: &[Pass],
        observer: &mut impl Observer,
    ) -> Result<FunctionForms, InternalError> {
        let (module, kernel, widening, launch) = kernel_state;
        let planned = FunctionForms { once: find_once_functions(module), ..FunctionForms::default() };
        let mut planner = Planner {
            module,
            request,
            notes,
            table,
            observer,
            width: widening.width,
            planned,
            signatures: SecondaryMap::new(),
            insts_in_forms: 0,
            scalar_regions: widening.find_scalar_regions(),
        };
        for (region, function) in &kernel.regions {
            let kinds = GangKinds::of_region(widening, launch, function);
            planner.see_calls(function, &widening.regions[region], kinds);
        }
        for callee in module.functions.keys().rev() {
            planner.plan_function(callee)?;
        }
        let scalar = planner.find_scalar_calls(kernel);
        Ok(FunctionForms { scalar: module.close_over_calls(scalar), ..planner.planned })
    }

    /// No forms: code of one work-item calls the functions.
    pub fn of_scalar_code(module: &Module, kernel: &Kernel) -> FunctionForms {
        FunctionForms { scalar: module.functions_called_by(kernel), ..FunctionForms::default() }
    }

    /// How a call is made by code that is planned so; `is_masked` tells that not all lanes come.
    pub fn find_call(
        &self,
        function: &Function,
        region_plan: &RegionPlan,
        (callee, arguments): (Callee, &[Value]),
        is_masked: bool,
    ) -> CallKind {
        self.find_kind(callee, &Signature::of_call(function, region_plan, arguments, is_masked))
    }

    fn find_kind(&self, callee: Callee, signature: &Signature) -> CallKind {
        if self.once[callee] && signature.is_uniform() {
            return CallKind::Once;
        }
        let takes = |form_index: &&usize| self.forms[**form_index].signature.takes(signature);
        let forms = self.forms_of[callee].iter().filter(takes);
        let form = forms.min_by_key(|&&form_index| self.forms[form_index].signature.count_weaker(signature));
        form.map_or(CallKind::EachLane, |&form_index| CallKind::Form(form_index))
    }
}

/// The functions of which one call does for all lanes that pass the same, and that are small enough for a copy of their own.
fn find_once_functions(module: &Module) -> SecondaryMap<Callee, bool> {
    let returned_values = find_returned_values(module);
    let mut once = SecondaryMap::new();
    for (callee, code) in &module.functions {
        let is_large = code.body().insts.len() > MOST_ONCE_INSTS || module.count_instructions(code) > MOST_ONCE_INSTS;
        once[callee] = !is_large && returned_values[callee].may_be_called_once();
    }
    once
}

impl Signature {
    fn of_call(function: &Function, region_plan: &RegionPlan, arguments: &[Value], is_masked: bool) -> Signature {
        let form_of = |&argument: &Value| match region_plan.accesses.forms.form_of(function, argument) {
            Form::Runs(_) => Form::Vector,
            form => form,
        };
        Signature { arguments: arguments.iter().map(form_of).collect(), is_masked }
    }

    fn is_uniform(&self) -> bool {
        self.arguments.iter().all(|form| form.is_uniform())
    }

    /// Whether a form for this signature does for calls of another.
    fn takes(&self, other: &Signature) -> bool {
        let mut arguments = self.arguments.iter().zip(&other.arguments);
        arguments.all(|(own, passed)| *own == Form::Vector || own == passed) && (self.is_masked || !other.is_masked)
    }

    /// How much less this signature tells than another that it takes: a mask, and each argument.
    fn count_weaker(&self, other: &Signature) -> usize {
        let arguments = self.arguments.iter().zip(&other.arguments);
        arguments.filter(|(own, passed)| own != passed).count() + usize::from(self.is_masked != other.is_masked)
    }

    /// The signature that takes both.
    fn join(&self, other: &Signature) -> Signature {
        let arguments = self.arguments.iter().zip(&other.arguments);
        let join_forms = |(own, passed): (&Form, &Form)| if own == passed { *own } else { Form::Vector };
        Signature { arguments: arguments.map(join_forms).collect(), is_masked: self.is_masked || other.is_masked }
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

impl fmt::Display for Signature {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words: Vec<String> = Vec::new();
        for form in &self.arguments {
            words.push(match form {
                Form::Affine(0) => "uniform".to_owned(),
                Form::Affine(stride) => format!("stride {stride}"),
                Form::Runs(_) | Form::Vector => "varying".to_owned(),
            });
        }
        words.extend(self.is_masked.then(|| "masked".to_owned()));
        write!(formatter, "({})", words.join(", "))
    }
}

impl fmt::Display for FunctionForm {
    /// The signature, the shapes of the results, and the code.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape_of = |&is_uniform: &bool| if is_uniform { "uniform" } else { "varying" };
        let results: Vec<&str> = self.uniform_results.iter().map(shape_of).collect();
        writeln!(formatter, "form of {} for {} -> ({})", self.callee, self.signature, results.join(", "))?;
        self.code.fmt(formatter)
    }
}

impl<O: Observer> Planner<'_, O> {
    /// Notes how a piece of code calls functions, which runs for gangs of these kinds.
    fn see_calls(&mut self, function: &Function, region_plan: &RegionPlan, kinds: GangKinds) {
        if region_plan.alone {
            return;
        }
        for &block in &function.layout {
            let has_mask = region_plan.masks[block].is_some();
            for &instruction in &function.blocks[block].insts {
                let InstNode { data: InstData::Call { callee, arguments }, .. } = &function.insts[instruction] else {
                    continue;
                };
                for (is_made, is_masked) in
                    [(kinds.has_full && !has_mask, false), (kinds.has_partial || has_mask, true)]
                {
                    let signature = Signature::of_call(function, region_plan, arguments, is_masked);
                    if is_made && !self.signatures[*callee].contains(&signature) {
                        self.signatures[*callee].push(signature);
                    }
                }
            }
        }
    }

    /// Plans the forms of a function, all of whose callers are planned.
    fn plan_function(&mut self, callee: Callee) -> Result<(), InternalError> {
        let is_once = |signature: &Signature| self.planned.once[callee] && signature.is_uniform();
        let mut signatures: Vec<Signature> =
            self.signatures[callee].iter().filter(|signature| !is_once(signature)).cloned().collect();
        let inst_count = self.module.functions[callee].body().insts.len();
        if signatures.len() > MOST_FORMS || signatures.len().saturating_mul(inst_count) > MOST_FORM_INSTS {
            signatures =
                signatures.into_iter().reduce(|joined, signature| joined.join(&signature)).into_iter().collect();
        }
        for signature in signatures {
            if self.insts_in_forms.saturating_add(inst_count) > MOST_INSTS_IN_FORMS {
                break;
            }
            let Some(form) = self.run_passes(callee, &signature)? else { continue };
            self.insts_in_forms += inst_count;
            let region_plan = &form.widening.regions[Region::from_u32(0)];
            self.see_calls(form.code.body(), region_plan, GangKinds { has_full: true, has_partial: false });
            self.planned.forms_of[callee].push(self.planned.forms.len());
            self.planned.forms.push(form);
        }
        Ok(())
    }

    /// The functions that the code of a kernel and of its forms calls itself other than by a form.
    fn find_scalar_calls(&self, kernel: &Kernel) -> Vec<Callee> {
        let is_scalar = |callee: Callee, signature: &Signature| {
            !matches!(self.planned.find_kind(callee, signature), CallKind::Form(_))
        };
        let of_gangs = self
            .signatures
            .iter()
            .filter(|&(callee, signatures)| signatures.iter().any(|signature| is_scalar(callee, signature)));
        let scalar = of_gangs.map(|(callee, _)| callee);
        scalar.chain(self.scalar_regions.iter().flat_map(|&region| kernel.regions[region].called_functions())).collect()
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
        let returned_values = find_returned_values(self.module);
        let is_uniform = |result: usize| returned_values[callee].is_uniform(result, is_uniform_input);
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
