//! The code of one region for a gang: W work-items in the lanes of vectors, in lock-step.
//!
//! A value that one lane's tells all others' is a scalar, that of lane 0 ([`values`]), or one a row in tiles ([`row_count`]); the
//! others are vectors.
//! Blocks become blocks, as all lanes go one way; where not all of them run a block, what has effects does
//! nothing for the others ([`masks`]), and nothing in it may be poison, since it is computed for lanes that
//! never meant to.

mod atomics;
mod bound_compare;
mod calls;
mod cross_lane;
mod division;
mod endless_sums;
mod gangs;
mod instructions;
mod interleaved_arithmetic;
mod lane_value;
mod lanewise;
mod masks;
mod memory;
mod newton_raphson;
mod notes;
mod tile_rows;
mod turns;
mod values;

pub use gangs::run_gangs;
pub use turns::take_gangs;

use super::emit::{Emitted, Emitter, vector_of};
use super::frame::Frame;
use super::region::Exits;
use super::work_item::{Group, Item};
use crate::codegen::ANY_LANE;
use crate::codegen::error::CodegenError;
use cranelift_entity::{EntityRef, SecondaryMap};
use inkwell::basic_block::BasicBlock;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValueEnum, PhiValue, PointerValue, VectorValue};
use lane_value::LaneValue;
use lockstep_ir::analysis::cfg::build_cfg;
use lockstep_ir::analysis::underlying_objects::Origins;
use lockstep_ir::ir::{
    Block, BlockCall, Function, Inst, InstData, Kernel, Region, Slot, SourceLoc, Terminator, Value, ValueDef,
};
use lockstep_ir::plan::access_lowering::region::GangKind;
use lockstep_ir::plan::function_forms::FunctionForms;
use lockstep_ir::plan::storage::{SlotHome, Storage};
use lockstep_ir::plan::value_form::Form;
use lockstep_ir::plan::{RegionPlan, Widening};
use lockstep_ir::report::Notes;
use lockstep_protocol::types::Type;
use std::cell::{Cell, RefCell};
use values::DefinedValues;

/// What all regions' code has in common.
#[derive(Clone, Copy)]
pub struct EmitContext<'a, 'ctx, 'm> {
    /// Where the code is emitted to.
    pub emitter: &'a Emitter<'ctx, 'm>,
    /// The kernel that the region is of.
    pub kernel: &'a Kernel,
    /// Where the kernel's variables live.
    pub storage: &'a Storage,
    /// The call's values.
    pub frame: &'a Frame<'ctx>,
    /// The group's values.
    pub group: &'a Group<'ctx>,
    /// How the kernel's gangs run.
    pub widening: &'a Widening,
    /// The forms of the functions that are called.
    pub forms: &'a FunctionForms,
    /// What the report says.
    pub notes: &'a Notes,
}

impl EmitContext<'_, '_, '_> {
    /// Work-items of a gang.
    pub fn width(&self) -> u32 {
        self.widening.width
    }

    /// Rows of a gang that is a tile.
    pub fn row_count(&self) -> u32 {
        self.widening.run.map_or(1, |run_length| self.width() / run_length)
    }
}

/// The gang that runs.
pub struct Gang<'ctx> {
    /// The work-item in lane 0.
    pub first: Item<'ctx>,
    /// The lanes that have a work-item, of which lane 0 is one; none: all.
    pub entry: Option<VectorValue<'ctx>>,
}

impl Gang<'_> {
    /// Which lanes have a work-item.
    fn kind(&self) -> GangKind {
        if self.entry.is_some() { GangKind::Partial } else { GangKind::Whole }
    }
}

/// Emits a function that is called, for a gang of which no lane asks who it is.
pub fn emit_called<'ctx>(around: EmitContext<'_, 'ctx, '_>, first: Item<'ctx>) -> Emitted<Exits<'ctx>> {
    let region_plan = &around.widening.regions[Region::new(0)];
    VectorEmitter::emit_region(around, &Gang { first, entry: None }, around.kernel.body(), region_plan)
}

/// Emits one region for one gang.
pub struct VectorEmitter<'a, 'ctx, 'm> {
    around: EmitContext<'a, 'ctx, 'm>,
    gang: &'a Gang<'ctx>,
    body: &'a Function,
    plan: &'a RegionPlan,
    /// The block that is emitted.
    block: Block,
    /// Where the instruction that is emitted comes from.
    location: SourceLoc,
    /// Where addresses come from.
    origins: Origins,
    /// How often each value is used.
    uses: SecondaryMap<Value, u32>,
    /// Whether some block is not run by all lanes of the vectors.
    masked: bool,
    /// The elements of the vectors that are emitted: a gang's lanes, or those of a tile's row.
    wide: Cell<u32>,
    values: SecondaryMap<Value, Option<LaneValue<'ctx>>>,
    blocks: SecondaryMap<Block, Option<BasicBlock<'ctx>>>,
    phis: SecondaryMap<Block, Vec<PhiValue<'ctx>>>,
    slots: SecondaryMap<Slot, Option<PointerValue<'ctx>>>,
    /// What loads of transposed rows found, in memory's order, for operations on them that are stored in it.
    loaded_rows: RefCell<SecondaryMap<Inst, Option<VectorValue<'ctx>>>>,
    /// What need not be frozen.
    defined: RefCell<DefinedValues<'ctx>>,
}

impl<'a, 'ctx, 'm> VectorEmitter<'a, 'ctx, 'm> {
    /// Emits a region's code at the current position.
    pub fn emit_region(
        around: EmitContext<'a, 'ctx, 'm>,
        gang: &'a Gang<'ctx>,
        function: &'a Function,
        region_plan: &'a RegionPlan,
    ) -> Emitted<Exits<'ctx>> {
        let mut region_emitter = VectorEmitter {
            around,
            gang,
            body: function,
            plan: region_plan,
            block: function.entry_block(),
            location: SourceLoc::default(),
            origins: Origins::trace_addresses(around.kernel, function, around.emitter.scopes.apart()),
            uses: function.count_uses(),
            masked: gang.entry.is_some() || function.layout.iter().any(|&block| region_plan.masks[block].is_some()),
            wide: Cell::new(around.width()),
            values: SecondaryMap::new(),
            blocks: SecondaryMap::new(),
            phis: SecondaryMap::new(),
            slots: SecondaryMap::new(),
            loaded_rows: RefCell::default(),
            defined: RefCell::default(),
        };
        region_emitter.emit_blocks()
    }

    fn emit_blocks(&mut self) -> Emitted<Exits<'ctx>> {
        let emitter = self.around.emitter;
        // Each block before those it dominates, so that values are emitted before their uses.
        let flow_graph = build_cfg(self.body);
        let block_order = flow_graph.reverse_post_order();
        self.slot_addresses()?;
        let entry_block = self.body.entry_block();
        self.blocks[entry_block] = Some(emitter.current_block()?);
        for (&param, &input) in self.body.blocks[entry_block].params.iter().zip(&self.around.frame.inputs) {
            // Of a function, a vector, or lane 0's value.
            let passed = match input {
                BasicValueEnum::VectorValue(vector) => LaneValue::Vector(vector),
                _ => match self.form_of(param) {
                    Form::Affine(stride) => LaneValue::Affine(input, stride),
                    Form::Runs(_) | Form::Vector => LaneValue::Affine(input, 0),
                },
            };
            self.values[param] = Some(self.in_planned_form(param, passed)?);
        }
        for &block in &block_order[1..] {
            let target = emitter.append_block("v");
            self.blocks[block] = Some(target);
            emitter.position_at(target);
            for &param in &self.body.blocks[block].params {
                let llvm_type = emitter.value_type(self.body.ty(param));
                let phi_nodes = &mut self.phis[block];
                let mut make_phi = |llvm_type: BasicTypeEnum<'ctx>| -> Emitted<BasicValueEnum<'ctx>> {
                    let phi_node = emitter.builder.build_phi(llvm_type, "")?;
                    phi_nodes.push(phi_node);
                    Ok(phi_node.as_basic_value())
                };
                let lane_value = match self.plan.form_of(self.body, param) {
                    Form::Affine(stride) => LaneValue::Affine(make_phi(llvm_type)?, stride),
                    Form::Runs(stride) => {
                        let row_bases =
                            (0..self.around.row_count()).map(|_| make_phi(llvm_type)).collect::<Emitted<Vec<_>>>()?;
                        self.value_by_row(row_bases, stride)?
                    }
                    Form::Vector => LaneValue::Vector(
                        make_phi(vector_of(llvm_type, self.around.width()).into())?.into_vector_value(),
                    ),
                };
                self.values[param] = Some(lane_value);
            }
        }
        let mut exits = Vec::new();
        for &block in block_order {
            if let Some(target) = self.blocks[block] {
                emitter.position_at(target);
            }
            self.block = block;
            for &instruction in &self.body.blocks[block].insts {
                emitter.come_to(self.body.insts[instruction].location);
                self.emit_inst(instruction)?;
            }
            emitter.tell_line(self.body.end_locs[block]);
            self.emit_terminator(&mut exits)?;
        }
        emitter.leave_lines();
        Ok(exits)
    }

    fn form_of(&self, operand: Value) -> Form {
        self.plan.form_of(self.body, operand)
    }

    fn type_of(&self, operand: Value) -> Type {
        self.body.ty(operand)
    }

    /// Addresses in lane 0 of the slots this region uses; stack variables begin their life here.
    fn slot_addresses(&mut self) -> Emitted<()> {
        let EmitContext { emitter, kernel, storage, frame, .. } = self.around;
        for (_, inst_node) in self.body.insts.iter() {
            let InstData::SlotAddr { slot } = inst_node.data else {
                continue;
            };
            if self.slots[slot].is_some() {
                continue;
            }
            let pointer = frame.slot_address(emitter, kernel, storage, slot, &self.gang.first)?;
            if storage.slots[slot] == SlotHome::Stack {
                emitter.intrinsic_call("llvm.lifetime.start", &[emitter.pointer_type().into()], &[pointer.into()])?;
            }
            self.slots[slot] = Some(pointer);
        }
        Ok(())
    }

    /// Ends the life of the stack variables; emitted where a gang leaves the region.
    fn end_slots(&self) -> Emitted<()> {
        let emitter = self.around.emitter;
        for (slot, ptr) in self.slots.iter() {
            if let Some(pointer) = *ptr
                && self.around.storage.slots[slot] == SlotHome::Stack
            {
                emitter.intrinsic_call("llvm.lifetime.end", &[emitter.pointer_type().into()], &[pointer.into()])?;
            }
        }
        Ok(())
    }

    /// The value that decides where all lanes go: that of those that run the block.
    fn branch_selector(&self, operand: Value) -> Emitted<BasicValueEnum<'ctx>> {
        if self.plan.masks[self.block].is_some() && self.type_of(operand) == Type::BOOL && !self.is_uniform(operand) {
            return Ok(self.any_active(operand)?.into());
        }
        let value = self.lane_zero(operand)?;
        // A block may be run by no lane, and then nobody meant to compute the value.
        if self.masked { self.freeze_value(value) } else { Ok(value) }
    }

    /// Whether a value says if any lane comes.
    fn is_any(&self, value: Value) -> bool {
        matches!(self.body.values[value].definition, ValueDef::Result(instruction, _)
            if matches!(self.body.insts[instruction].data, InstData::Any { .. }))
    }

    fn emit_terminator(&mut self, exits: &mut Exits<'ctx>) -> Emitted<()> {
        let emitter = self.around.emitter;
        let builder = &emitter.builder;
        let function = self.body;
        let terminator = &function.blocks[self.block].terminator;
        let selector = terminator.selector().map(|operand| self.branch_selector(operand)).transpose()?;
        // Vectors for the targets' parameters are made here, before the block's end.
        let mut passed_values = Vec::new();
        for target in terminator.targets() {
            let parameters = &function.blocks[target.block].params;
            let values = parameters
                .iter()
                .zip(&target.arguments)
                .map(|(&parameter, &argument)| self.passed_values(parameter, argument));
            passed_values.push(values.collect::<Emitted<Vec<_>>>()?.concat());
        }
        let source_block = emitter.current_block()?;
        let mut seen_targets: Vec<Block> = Vec::new();
        let mut targets = Vec::new();
        for (target, values) in terminator.targets().into_iter().zip(passed_values) {
            targets.push(self.edge_block(&mut seen_targets, source_block, target, &values)?);
        }
        emitter.position_at(source_block);
        match (terminator, selector) {
            (Terminator::Jump(_), _) => {
                builder.build_unconditional_branch(targets[0])?;
            }
            (Terminator::Branch { .. }, Some(condition)) => {
                let branch = builder.build_conditional_branch(condition.into_int_value(), targets[0], targets[1])?;
                if terminator.selector().is_some_and(|operand| self.is_any(operand)) {
                    let context = emitter.context;
                    branch.set_metadata(context.metadata_node(&[]), context.get_kind_id(ANY_LANE))?;
                }
            }
            (Terminator::Switch { value, cases: switch_cases, .. }, Some(selector)) => {
                let scalar_type = self.type_of(*value);
                let default = targets.pop().ok_or(CodegenError::Missing("default target of a switch"))?;
                let values = switch_cases
                    .iter()
                    .map(|(bit_pattern, _)| emitter.constant(scalar_type, *bit_pattern).into_int_value());
                let switch_cases: Vec<_> = values.zip(targets).collect();
                builder.build_switch(selector.into_int_value(), default, &switch_cases)?;
            }
            (Terminator::Return, _) => {
                self.end_slots()?;
                exits.push((None, source_block));
            }
            (Terminator::Exit(region), _) => {
                self.end_slots()?;
                exits.push((Some(*region), source_block));
            }
            (Terminator::Unreachable | Terminator::Branch { .. } | Terminator::Switch { .. }, _) => {
                builder.build_unreachable()?;
            }
        }
        Ok(())
    }

    /// An argument in the form of the parameter it is for.
    fn passed_values(&self, parameter: Value, argument: Value) -> Emitted<Vec<BasicValueEnum<'ctx>>> {
        match self.form_of(parameter) {
            Form::Affine(_) => Ok(vec![self.lane_zero(argument)?]),
            Form::Runs(_) => (0..self.around.row_count()).map(|run_index| self.in_run(argument, run_index)).collect(),
            Form::Vector => Ok(vec![self.as_vector(argument)?.into()]),
        }
    }

    /// The LLVM block that an edge out of `source_block` leads to. LLVM's phis know edges by their source,
    /// so a second edge between the same blocks gets a block of its own.
    fn edge_block(
        &mut self,
        seen_targets: &mut Vec<Block>,
        source_block: BasicBlock<'ctx>,
        target_call: &BlockCall,
        values: &[BasicValueEnum<'ctx>],
    ) -> Emitted<BasicBlock<'ctx>> {
        let emitter = self.around.emitter;
        let target_block = self.blocks[target_call.block].ok_or(CodegenError::NoSuchBlock(target_call.block))?;
        let is_repeated = seen_targets.contains(&target_call.block);
        seen_targets.push(target_call.block);
        let (mut source, mut entry_block) = (source_block, target_block);
        if is_repeated && !values.is_empty() {
            source = emitter.append_block("edge");
            entry_block = source;
            emitter.position_at(source);
            emitter.builder.build_unconditional_branch(target_block)?;
        }
        for (phi_node, value) in self.phis[target_call.block].iter().zip(values) {
            phi_node.add_incoming(&[(value, source)]);
        }
        Ok(entry_block)
    }
}
