//! How code holds each value of a region, which may be more exactly than its shape says.
//!
//! The shape of an address of a private slot is not known before slots are laid out, and what is computed of scalars alone is
//! a scalar whatever its shape. So the forms are followed from the definitions on, once storage is known.
//!
//! Requires: the plan of a linearized region; where slots lie.
//! Ensures: the form that code generation gives each value, which it checks.
//! Phases: in the order of the blocks, each value's form from those of its operands.
//! Source: Karrenberg & Hack 2012, section 3.3.

use super::RegionPlan;
use super::access_lowering::{MemoryAccess, Together};
use super::storage::Storage;
use super::value_form::Form;
use crate::analysis::cfg::build_cfg;
use crate::ir::{Block, Collect, Function, Inst, InstData, InstNode, Kernel, Query, UnaryOp, Value, ValueDef};
use cranelift_entity::{EntitySet, SecondaryMap};
use lockstep_protocol::configuration::Configuration;
use lockstep_protocol::layout::Layout;
use lockstep_protocol::parameters::Input;

/// How a region's values are held.
#[derive(Clone, Debug, Default)]
pub struct HeldForms {
    forms: SecondaryMap<Value, Form>,
    /// Values of tiles of which all rows have the same.
    alike: EntitySet<Value>,
}

impl HeldForms {
    /// How a value is held.
    pub fn form_of(&self, function: &Function, value: Value) -> Form {
        match function.values[value].definition {
            ValueDef::Const(_) => Form::Affine(0),
            _ => self.forms[value],
        }
    }

    /// Whether a value is one scalar for all lanes.
    pub fn is_uniform(&self, function: &Function, value: Value) -> bool {
        self.form_of(function, value).is_uniform()
    }

    /// Whether all rows of a tile have the same of a value.
    pub fn has_alike_rows(&self, value: Value) -> bool {
        self.alike.contains(value)
    }
}

/// What decides how values are held, beside their shapes.
#[derive(Clone, Copy)]
pub struct HeldContext<'a> {
    /// The kernel that the region is of.
    pub kernel: &'a Kernel,
    /// Where its slots lie.
    pub storage: &'a Storage,
    /// Which work-items are lanes.
    pub layout: Layout,
    /// Whether gangs are tiles.
    pub is_tile: bool,
    /// Whether work-items may wait for others.
    pub may_wait: bool,
    /// What was asked for.
    pub configuration: Configuration,
}

/// Finds how the values of a region are held.
pub fn find_held_forms(function: &Function, plan: &RegionPlan, context: HeldContext<'_>) -> HeldForms {
    let mut finder = Finder { body: function, plan, context, found: HeldForms::default() };
    let flow_graph = build_cfg(function);
    for (&parameter, (input, _)) in function.blocks[function.entry_block()].params.iter().zip(&context.kernel.inputs) {
        // A function gets its arguments as its signature says.
        let is_passed = matches!(input, Input::Passed { .. });
        let form = if is_passed { plan.form_of(function, parameter) } else { Form::Affine(0) };
        finder.set_form(parameter, form, false);
    }
    for &block in &flow_graph.reverse_post_order()[1..] {
        for &parameter in &function.blocks[block].params {
            finder.found.forms[parameter] = plan.form_of(function, parameter);
        }
    }
    for &block in flow_graph.reverse_post_order() {
        for &instruction in &function.blocks[block].insts {
            finder.visit_inst(block, instruction);
        }
    }
    finder.found
}

struct Finder<'a> {
    body: &'a Function,
    plan: &'a RegionPlan,
    context: HeldContext<'a>,
    found: HeldForms,
}

impl Finder<'_> {
    /// Takes note of what is computed of a value, as it is to be held.
    fn set_form(&mut self, value: Value, computed: Form, are_alike: bool) {
        let is_naive = self.context.configuration == Configuration::Naive;
        let held_form = match (self.plan.form_of(self.body, value), computed) {
            (Form::Affine(stride), Form::Vector) => Form::Affine(stride),
            (Form::Vector, _) if is_naive => Form::Vector,
            (_, computed) => computed,
        };
        self.found.forms[value] = held_form;
        if are_alike && matches!(held_form, Form::Runs(_)) {
            self.found.alike.insert(value);
        }
    }

    fn held_form(&self, value: Value) -> Form {
        self.found.form_of(self.body, value)
    }

    fn is_uniform(&self, value: Value) -> bool {
        self.held_form(value).is_uniform()
    }

    fn all_args(&self, inst_data: &InstData, holds: impl Fn(Value) -> bool) -> bool {
        let mut all_hold = true;
        inst_data.for_each_arg(|argument| all_hold &= holds(argument));
        all_hold
    }

    fn visit_inst(&mut self, block: Block, instruction: Inst) {
        let function = self.body;
        let inst_node = &function.insts[instruction];
        let Some(&first_result) = inst_node.results.first() else { return };
        let (form, are_alike) = match &inst_node.data {
            // Each by its shape, however the function is called.
            InstData::Call { .. } => {
                for &result in &inst_node.results {
                    let is_uniform = self.plan.form_of(function, result).is_uniform();
                    self.set_form(result, if is_uniform { Form::Affine(0) } else { Form::Vector }, false);
                }
                return;
            }
            InstData::Load { .. } => self.form_of_load(block, inst_node),
            inst_data => self.form_of_result(first_result, inst_data),
        };
        for &result in &inst_node.results {
            self.set_form(result, form, are_alike);
        }
    }

    /// The form of what a load gives, and whether all rows of a tile have the same.
    fn form_of_load(&self, block: Block, inst_node: &InstNode) -> (Form, bool) {
        let Some(access) = MemoryAccess::of_inst(self.body, inst_node) else { return (Form::Vector, false) };
        match self.held_form(access.ptr) {
            Form::Affine(0) => (Form::Affine(0), false),
            Form::Runs(0) if access.lane_group(self.context.may_wait) == Together::Free => {
                (Form::Runs(0), self.plan.masks[block].is_none() && self.found.has_alike_rows(access.ptr))
            }
            _ => (Form::Vector, false),
        }
    }

    fn form_of_result(&self, result: Value, inst_data: &InstData) -> (Form, bool) {
        let HeldContext { kernel, storage, layout, is_tile, .. } = self.context;
        let form = match inst_data {
            InstData::LiveLoad { live_slot } if kernel.live[*live_slot].shared => Form::Affine(0),
            InstData::LiveLoad { .. } | InstData::AtomicRmw { .. } | InstData::AtomicCas { .. } => Form::Vector,
            InstData::Printf { .. } | InstData::Put { .. } => Form::Vector,
            InstData::CallHost { arguments, .. } if arguments.iter().all(|&argument| self.is_uniform(argument)) => {
                Form::Affine(0)
            }
            InstData::CallHost { .. } => Form::Vector,
            InstData::Query { query: Query::GlobalId | Query::LocalId, dimension: dimension @ 0..2 } if is_tile => {
                return (Form::Runs(i64::from(*dimension == 0)), *dimension == 0);
            }
            InstData::Query { query, dimension } => {
                Form::Affine(tells_lanes(*query, *dimension, layout, is_tile).into())
            }
            InstData::SlotAddr { slot } => Form::Affine(storage.strides[*slot] as i64),
            InstData::LocalAddr { .. } | InstData::GlobalAddr { .. } | InstData::Clock | InstData::Combined => {
                Form::Affine(0)
            }
            InstData::Any { .. } | InstData::Ballot { .. } | InstData::LaneOf { .. } => Form::Affine(0),
            InstData::Across { collective: Collect::Reduce, cluster, .. } if cluster.is_gang() => Form::Affine(0),
            InstData::Across { .. } => Form::Vector,
            InstData::Shuffle { argument, lane } if self.is_uniform(*argument) || self.is_uniform(*lane) => {
                Form::Affine(0)
            }
            InstData::Shuffle { .. } => Form::Vector,
            InstData::Unary { opcode: UnaryOp::SpaceOf, argument, .. } if self.is_uniform(*argument) => Form::Affine(0),
            InstData::Unary { opcode: UnaryOp::SpaceOf, .. } => Form::Vector,
            InstData::PtrAdd { base, offset, .. } => match (self.held_form(*base), self.held_form(*offset)) {
                (Form::Affine(base), Form::Affine(offset)) => Form::Affine(base.wrapping_add(offset)),
                _ => return self.form_of_operation(result, inst_data),
            },
            inst_data => return self.form_of_operation(result, inst_data),
        };
        (form, false)
    }

    /// The form of what is computed of values alone.
    fn form_of_operation(&self, result: Value, inst_data: &InstData) -> (Form, bool) {
        match self.plan.form_of(self.body, result) {
            Form::Runs(stride) => {
                let is_alike = |argument| match self.held_form(argument) {
                    Form::Affine(stride) => stride == 0,
                    Form::Runs(_) => self.found.has_alike_rows(argument),
                    Form::Vector => false,
                };
                (Form::Runs(stride), self.all_args(inst_data, is_alike))
            }
            Form::Vector if self.all_args(inst_data, |argument| self.is_uniform(argument)) => (Form::Affine(0), false),
            form => (form, false),
        }
    }
}

/// Whether a query tells each lane one more than the one before.
pub fn tells_lanes(query: Query, dimension: u8, layout: Layout, is_tile: bool) -> bool {
    let is_along = usize::from(dimension) == layout.lane_dimension();
    query == Query::LinearId || is_along && !is_tile && matches!(query, Query::GlobalId | Query::LocalId)
}
