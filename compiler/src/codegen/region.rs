//! The code of one region for one work-item: blocks, instructions, terminators.

use super::alias::Part;
use super::emit::{Emitted, Emitter};
use super::frame::Frame;
use super::groups;
use super::work_item::{Group, Item};
use crate::codegen::error::CodegenError;
use cranelift_entity::{EntityRef, SecondaryMap};
use inkwell::basic_block::BasicBlock;
use inkwell::values::{BasicValueEnum, PhiValue, PointerValue};
use lockstep_ir::analysis::cfg::build_cfg;
use lockstep_ir::analysis::underlying_objects::Origins;
use lockstep_ir::ir::{
    Block, BlockCall, Function, Inst, InstData, Kernel, Region, Slot, Terminator, UnaryOp, Value, ValueDef,
};
use lockstep_ir::plan::storage::{SlotHome, Storage};
use lockstep_protocol::types::{Space, Type};

/// Emits one region.
pub struct ScalarEmitter<'a, 'ctx, 'm> {
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
    /// The work-item's values.
    pub item: &'a Item<'ctx>,
    /// The region's code.
    pub body: &'a Function,
    origins: Origins,
    values: SecondaryMap<Value, Option<BasicValueEnum<'ctx>>>,
    /// Where a block begins.
    blocks: SecondaryMap<Block, Option<BasicBlock<'ctx>>>,
    phis: SecondaryMap<Block, Vec<PhiValue<'ctx>>>,
    slots: SecondaryMap<Slot, Option<PointerValue<'ctx>>>,
}

/// How work-items leave a region: the region they go on in (`None`: they are through), and the LLVM
/// block that does so, which the caller ends.
pub type Exits<'ctx> = Vec<(Option<Region>, BasicBlock<'ctx>)>;

impl<'a, 'ctx, 'm> ScalarEmitter<'a, 'ctx, 'm> {
    /// Emits a region's code at the current position.
    pub fn emit_region(
        emitter: &'a Emitter<'ctx, 'm>,
        kernel: &'a Kernel,
        storage: &'a Storage,
        frame: &'a Frame<'ctx>,
        work_group: &'a Group<'ctx>,
        work_item: &'a Item<'ctx>,
        function: &'a Function,
    ) -> Emitted<Exits<'ctx>> {
        let mut region_emitter = ScalarEmitter {
            emitter,
            kernel,
            storage,
            frame,
            group: work_group,
            item: work_item,
            body: function,
            origins: Origins::trace_addresses(kernel, function, emitter.scopes.apart()),
            values: SecondaryMap::new(),
            blocks: SecondaryMap::new(),
            phis: SecondaryMap::new(),
            slots: SecondaryMap::new(),
        };
        region_emitter.emit_blocks()
    }

    fn emit_blocks(&mut self) -> Emitted<Exits<'ctx>> {
        // Each block before those it dominates, so that values are emitted before their uses.
        let flow_graph = build_cfg(self.body);
        let block_order = flow_graph.reverse_post_order();
        self.slot_addresses()?;
        let entry_block = self.body.entry_block();
        self.blocks[entry_block] = Some(self.emitter.current_block()?);
        for (&param, &input) in self.body.blocks[entry_block].params.iter().zip(&self.frame.inputs) {
            self.values[param] = Some(input);
        }
        for &block in &block_order[1..] {
            let target = self.emitter.append_block("b");
            self.blocks[block] = Some(target);
            self.emitter.position_at(target);
            for &param in &self.body.blocks[block].params {
                let phi_node = self.emitter.builder.build_phi(self.emitter.value_type(self.body.ty(param)), "")?;
                self.values[param] = Some(phi_node.as_basic_value());
                self.phis[block].push(phi_node);
            }
        }
        let mut exits = Vec::new();
        for &block in block_order {
            if let Some(target) = self.blocks[block] {
                self.emitter.position_at(target);
            }
            for &instruction in &self.body.blocks[block].insts {
                self.emitter.come_to(self.body.insts[instruction].location);
                self.emit_inst(instruction)?;
            }
            self.emitter.tell_line(self.body.end_locs[block]);
            self.emit_terminator(block, &mut exits)?;
        }
        self.emitter.leave_lines();
        Ok(exits)
    }

    /// Addresses of the slots this region uses, which depend on nothing but the work-item. A stack
    /// variable begins its life here, so that nothing is carried from one work-item to the next.
    fn slot_addresses(&mut self) -> Emitted<()> {
        for (_, inst_node) in self.body.insts.iter() {
            let InstData::SlotAddr { slot } = inst_node.data else {
                continue;
            };
            if self.slots[slot].is_some() {
                continue;
            }
            let (kernel, storage) = (self.kernel, self.storage);
            let pointer = self.frame.slot_address(self.emitter, kernel, storage, slot, self.item)?;
            if storage.slots[slot] == SlotHome::Stack {
                self.emitter.intrinsic_call(
                    "llvm.lifetime.start",
                    &[self.emitter.pointer_type().into()],
                    &[pointer.into()],
                )?;
            }
            self.slots[slot] = Some(pointer);
        }
        Ok(())
    }

    /// Ends the life of the stack variables; emitted where a work-item leaves the region.
    fn end_slots(&self) -> Emitted<()> {
        for (slot, ptr) in self.slots.iter() {
            if let Some(pointer) = *ptr
                && self.storage.slots[slot] == SlotHome::Stack
            {
                self.emitter.intrinsic_call(
                    "llvm.lifetime.end",
                    &[self.emitter.pointer_type().into()],
                    &[pointer.into()],
                )?;
            }
        }
        Ok(())
    }

    fn llvm_value(&self, operand: Value) -> Emitted<BasicValueEnum<'ctx>> {
        let value_data = self.body.values[operand];
        match value_data.definition {
            ValueDef::Const(bit_pattern) => Ok(self.emitter.constant(value_data.ty, bit_pattern)),
            _ => self.values[operand].ok_or(CodegenError::NotComputed(operand)),
        }
    }

    fn llvm_values<const N: usize>(&self, arguments: [Value; N]) -> Emitted<[BasicValueEnum<'ctx>; N]> {
        let mut values = [self.emitter.i64_type().const_zero().into(); N];
        for (value, argument) in values.iter_mut().zip(arguments) {
            *value = self.llvm_value(argument)?;
        }
        Ok(values)
    }

    fn typed_values(&self, arguments: &[Value]) -> Emitted<Vec<(Type, BasicValueEnum<'ctx>)>> {
        arguments.iter().map(|&argument| Ok((self.body.ty(argument), self.llvm_value(argument)?))).collect()
    }

    fn pointer_value(&self, operand: Value) -> Emitted<PointerValue<'ctx>> {
        Ok(self.llvm_value(operand)?.into_pointer_value())
    }

    fn emit_inst(&mut self, instruction: Inst) -> Emitted<()> {
        let inst_node = &self.body.insts[instruction];
        let type_of = |operand| self.body.ty(operand);
        // The type of the only result.
        let result_type = || inst_node.results.first().map_or(Type::BOOL, |&result_value| type_of(result_value));
        let emitter = self.emitter;
        emitter.scopes.come_from(self.origins.of_access(&inst_node.data));
        let value: BasicValueEnum = match &inst_node.data {
            InstData::Unary { opcode: UnaryOp::SpaceOf, argument, .. } => {
                emitter.space_of(self.frame, self.pointer_value(*argument)?)?.into()
            }
            InstData::Unary { opcode, fast_math, argument } => {
                emitter.unary(*opcode, *fast_math, type_of(*argument), result_type(), self.llvm_value(*argument)?)?
            }
            InstData::Binary { opcode, flags, fast_math, arguments } => {
                emitter.binary(*opcode, *flags, *fast_math, self.llvm_values(*arguments)?)?
            }
            InstData::Ternary { opcode, fast_math, arguments } => {
                emitter.ternary(*opcode, *fast_math, result_type(), self.llvm_values(*arguments)?)?
            }
            InstData::Icmp { comparison, arguments } => emitter.icmp(*comparison, self.llvm_values(*arguments)?)?,
            InstData::Fcmp { comparison, fast_math, arguments } => {
                emitter.fcmp(*comparison, *fast_math, self.llvm_values(*arguments)?)?
            }
            InstData::PtrAdd { base, offset, inbounds } => {
                let offset = self.llvm_value(*offset)?.into_int_value();
                emitter.offset_address(self.pointer_value(*base)?, offset, *inbounds)?.into()
            }
            InstData::Load { pointer, offset, access } => {
                let address_space = self.space_of(*pointer);
                let element_count = inst_node.results.len();
                let values = emitter.load_elements(
                    self.pointer_value(*pointer)?,
                    address_space,
                    *offset,
                    result_type(),
                    element_count,
                    *access,
                )?;
                return self.define_results(instruction, &values);
            }
            InstData::Store { pointer, offset, access, arguments } => {
                let Some(&first_result) = arguments.first() else {
                    return Ok(());
                };
                let values = arguments.iter().map(|&argument| self.llvm_value(argument));
                let values = values.collect::<Emitted<Vec<_>>>()?;
                let address_space = self.space_of(*pointer);
                let pointer = self.pointer_value(*pointer)?;
                return emitter.store_elements(
                    pointer,
                    address_space,
                    *offset,
                    type_of(first_result),
                    &values,
                    *access,
                );
            }
            InstData::MemCopy { destination, source, length, overlap, volatile } => {
                let spaces = [self.space_of(*destination), self.space_of(*source)];
                let [destination, source, length] = self.llvm_values([*destination, *source, *length])?;
                return emitter.copy_bytes(destination, source, length, spaces, *overlap, *volatile);
            }
            InstData::MemSet { destination, byte, length, volatile } => {
                let address_space = self.space_of(*destination);
                let [destination, byte, length] = self.llvm_values([*destination, *byte, *length])?;
                return emitter.set_bytes(destination, byte, length, address_space, *volatile);
            }
            InstData::AtomicRmw { opcode, order, pointer, argument, .. } => {
                let (address_space, pointer) = (self.space_of(*pointer), self.pointer_value(*pointer)?);
                emitter.atomic_rmw(
                    *opcode,
                    *order,
                    result_type(),
                    pointer,
                    address_space,
                    self.llvm_value(*argument)?,
                )?
            }
            InstData::AtomicCas { success, failure, pointer, expected, new, .. } => {
                let operands = self.llvm_values([*expected, *new])?;
                let orders = [*success, *failure];
                let (address_space, pointer) = (self.space_of(*pointer), self.pointer_value(*pointer)?);
                let values = emitter.atomic_cas(orders, result_type(), pointer, address_space, operands)?;
                return self.define_results(instruction, &values);
            }
            InstData::Fence { order } => return emitter.fence(*order),
            InstData::Query { query, dimension } => {
                groups::answer_query(emitter, self.frame, self.group, self.item, *query, *dimension).into()
            }
            InstData::SlotAddr { slot } => {
                let address = self.slots[*slot];
                address.ok_or(CodegenError::Missing("storage for a private variable"))?.into()
            }
            InstData::LocalAddr { local } => self.frame.locals[local.index()].into(),
            InstData::GlobalAddr { global } => {
                let address = self.frame.globals[*global];
                address.ok_or(CodegenError::Missing("storage for a variable of the program"))?.into()
            }
            // A kernel that still has barriers is not ready for code generation, and lanes are for widening.
            InstData::Barrier
            | InstData::Collective { .. }
            | InstData::Any { .. }
            | InstData::Ballot { .. }
            | InstData::LaneOf { .. }
            | InstData::Across { .. }
            | InstData::Shuffle { .. }
            | InstData::GangBarrier
            | InstData::CountIterations { .. }
            | InstData::Put { .. } => {
                return Err(CodegenError::Unexpected(format!("{instruction} is no instruction of one work-item")));
            }
            InstData::Clock => emitter.read_clock()?.into(),
            InstData::Yield => return emitter.let_others_go_on(),
            InstData::Combined => {
                self.group.combined.ok_or(CodegenError::Missing("value that the group has combined"))?
            }
            InstData::LiveLoad { live_slot } if let Some(value) = self.frame.shared[*live_slot] => value,
            InstData::LiveLoad { live_slot } => {
                let pointer = self.frame.live_address(emitter, *live_slot, result_type(), self.item.number)?;
                let (value, load_instruction) = emitter.load(result_type(), pointer, result_type().bytes())?;
                if let Some(load_instruction) = load_instruction {
                    emitter.scopes.mark_parts(load_instruction, &[Part::Kept]);
                }
                value
            }
            InstData::LiveStore { live_slot, argument } => {
                let kept_type = type_of(*argument);
                let pointer = self.frame.live_address(emitter, *live_slot, kept_type, self.item.number)?;
                let store_instruction =
                    emitter.store(kept_type, self.llvm_value(*argument)?, pointer, kept_type.bytes())?;
                emitter.scopes.mark_parts(store_instruction, &[Part::Kept]);
                return Ok(());
            }
            InstData::CallHost { name, arguments } => {
                emitter.call_host(name, &self.typed_values(arguments)?, result_type())?
            }
            InstData::Call { callee, arguments } => {
                let values = emitter.call_function(self.frame, *callee, &self.typed_values(arguments)?)?;
                return self.define_results(instruction, &values);
            }
            InstData::SetResults { arguments } => {
                for (result, &argument) in self.frame.results.iter().zip(arguments) {
                    emitter.builder.build_store(result.place, self.llvm_value(argument)?)?;
                }
                return Ok(());
            }
            InstData::Printf { format, arguments } => {
                emitter.call_printf(self.frame, format.as_u32(), &self.typed_values(arguments)?)?.into()
            }
        };
        self.define_results(instruction, &[value])
    }

    fn define_results(&mut self, instruction: Inst, values: &[BasicValueEnum<'ctx>]) -> Emitted<()> {
        for (&result, &value) in self.body.insts[instruction].results.iter().zip(values) {
            self.values[result] = Some(value);
        }
        Ok(())
    }

    fn space_of(&self, pointer: Value) -> Space {
        match self.body.ty(pointer) {
            Type::Ptr(address_space) => address_space,
            _ => Space::Generic,
        }
    }

    fn emit_terminator(&mut self, block: Block, exits: &mut Exits<'ctx>) -> Emitted<()> {
        let emitter = self.emitter;
        let builder = &emitter.builder;
        let source = emitter.current_block()?;
        let mut edges = Edges::default();
        match &self.body.blocks[block].terminator {
            Terminator::Jump(target) => {
                let target_block = self.edge_block(&mut edges, source, target)?;
                builder.build_unconditional_branch(target_block)?;
            }
            Terminator::Branch { condition, then_to, else_to } => {
                let condition = self.llvm_value(*condition)?.into_int_value();
                let if_true = self.edge_block(&mut edges, source, then_to)?;
                let if_false = self.edge_block(&mut edges, source, else_to)?;
                emitter.position_at(source);
                builder.build_conditional_branch(condition, if_true, if_false)?;
            }
            Terminator::Switch { value, cases, default } => {
                let scalar_type = self.body.ty(*value);
                let value = self.llvm_value(*value)?.into_int_value();
                let mut targets = Vec::new();
                for (bit_pattern, target) in cases {
                    let case_value = emitter.constant(scalar_type, *bit_pattern).into_int_value();
                    targets.push((case_value, self.edge_block(&mut edges, source, target)?));
                }
                let default = self.edge_block(&mut edges, source, default)?;
                emitter.position_at(source);
                builder.build_switch(value, default, &targets)?;
            }
            Terminator::Return => {
                self.end_slots()?;
                exits.push((None, source));
            }
            Terminator::Exit(region) => {
                self.end_slots()?;
                exits.push((Some(*region), source));
            }
            Terminator::Unreachable => {
                builder.build_unreachable()?;
            }
        }
        Ok(())
    }

    /// The LLVM block that an edge out of `from_block` leads to. LLVM's phis know edges by their source,
    /// so a second edge between the same blocks gets a block of its own.
    fn edge_block(
        &mut self,
        edges: &mut Edges<'a>,
        from_block: BasicBlock<'ctx>,
        target_call: &'a BlockCall,
    ) -> Emitted<BasicBlock<'ctx>> {
        let next_block = self.blocks[target_call.block].ok_or(CodegenError::NoSuchBlock(target_call.block))?;
        let is_repeated = edges.0.iter().any(|&earlier_edge| earlier_edge.block == target_call.block);
        edges.0.push(target_call);
        let mut source_block = from_block;
        let mut entry_block = next_block;
        if is_repeated && !target_call.arguments.is_empty() {
            source_block = self.emitter.append_block("edge");
            entry_block = source_block;
            self.emitter.position_at(source_block);
            self.emitter.builder.build_unconditional_branch(next_block)?;
        }
        for (index, &argument) in target_call.arguments.iter().enumerate() {
            let value = self.llvm_value(argument)?;
            self.phis[target_call.block][index].add_incoming(&[(&value, source_block)]);
        }
        Ok(entry_block)
    }
}

/// The edges out of one block that were made already.
#[derive(Default)]
struct Edges<'a>(Vec<&'a BlockCall>);
