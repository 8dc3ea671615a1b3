//! The code of one region for one work-item: blocks, instructions, terminators.

use super::alias::Part;
use super::emit::{Emit, Emitted};
use super::frame::Frame;
use super::groups::{self, Group, Item};
use cranelift_entity::{EntityRef, SecondaryMap};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::BuilderError;
use inkwell::values::{BasicValueEnum, PhiValue, PointerValue};
use lockstep_ir::analysis::cfg::cfg;
use lockstep_ir::analysis::origins::Origins;
use lockstep_ir::ir::{
    Block, BlockCall, Function, Inst, InstData, Kernel, Region, Slot, Terminator, UnaryOp, Value, ValueDef,
};
use lockstep_ir::plan::storage::{SlotHome, Storage};
use lockstep_protocol::types::{Space, Type};

/// Emits one region.
pub struct RegionCode<'a, 'ctx, 'm> {
    /// Where the code is emitted to.
    pub emit: &'a Emit<'ctx, 'm>,
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

impl<'a, 'ctx, 'm> RegionCode<'a, 'ctx, 'm> {
    /// Emits a region's code at the current position.
    pub fn emit(
        emit: &'a Emit<'ctx, 'm>,
        kernel: &'a Kernel,
        storage: &'a Storage,
        frame: &'a Frame<'ctx>,
        group: &'a Group<'ctx>,
        item: &'a Item<'ctx>,
        body: &'a Function,
    ) -> Emitted<Exits<'ctx>> {
        let mut code = RegionCode {
            emit,
            kernel,
            storage,
            frame,
            group,
            item,
            body,
            origins: Origins::of(kernel, body, emit.scopes.apart()),
            values: SecondaryMap::new(),
            blocks: SecondaryMap::new(),
            phis: SecondaryMap::new(),
            slots: SecondaryMap::new(),
        };
        code.run()
    }

    fn run(&mut self) -> Emitted<Exits<'ctx>> {
        // Each block before those it dominates, so that values are emitted before their uses.
        let graph = cfg(self.body);
        let order = graph.rpo();
        self.slot_addresses()?;
        let entry = self.body.entry();
        self.blocks[entry] = Some(self.emit.here()?);
        for (&param, &input) in self.body.blocks[entry].params.iter().zip(&self.frame.inputs) {
            self.values[param] = Some(input);
        }
        for &block in &order[1..] {
            let to = self.emit.block("b");
            self.blocks[block] = Some(to);
            self.emit.at(to);
            for &param in &self.body.blocks[block].params {
                let phi = self.emit.builder.build_phi(self.emit.ty(self.body.ty(param)), "")?;
                self.values[param] = Some(phi.as_basic_value());
                self.phis[block].push(phi);
            }
        }
        let mut exits = Vec::new();
        for &block in order {
            if let Some(to) = self.blocks[block] {
                self.emit.at(to);
            }
            for &inst in &self.body.blocks[block].insts {
                self.emit.place.set(self.body.insts[inst].loc);
                self.inst(inst)?;
            }
            self.terminator(block, &mut exits)?;
        }
        Ok(exits)
    }

    /// Addresses of the slots this region uses, which depend on nothing but the work-item. A stack
    /// variable begins its life here, so that nothing is carried from one work-item to the next.
    fn slot_addresses(&mut self) -> Emitted<()> {
        for (_, node) in self.body.insts.iter() {
            let InstData::SlotAddr { slot } = node.data else {
                continue;
            };
            if self.slots[slot].is_some() {
                continue;
            }
            let (kernel, storage) = (self.kernel, self.storage);
            let ptr = self.frame.slot(self.emit, kernel, storage, slot, self.item)?;
            if storage.slots[slot] == SlotHome::Stack {
                self.emit.intrinsic_call("llvm.lifetime.start", &[self.emit.ptr().into()], &[ptr.into()])?;
            }
            self.slots[slot] = Some(ptr);
        }
        Ok(())
    }

    /// Ends the life of the stack variables; emitted where a work-item leaves the region.
    fn end_slots(&self) -> Emitted<()> {
        for (slot, ptr) in self.slots.iter() {
            if let Some(ptr) = *ptr
                && self.storage.slots[slot] == SlotHome::Stack
            {
                self.emit.intrinsic_call("llvm.lifetime.end", &[self.emit.ptr().into()], &[ptr.into()])?;
            }
        }
        Ok(())
    }

    fn value(&self, value: Value) -> Emitted<BasicValueEnum<'ctx>> {
        let data = self.body.values[value];
        match data.def {
            ValueDef::Const(bits) => Ok(self.emit.constant(data.ty, bits)),
            _ => self.values[value].ok_or(BuilderError::UnsetPosition),
        }
    }

    fn values<const N: usize>(&self, args: [Value; N]) -> Emitted<[BasicValueEnum<'ctx>; N]> {
        let mut values = [self.emit.i64().const_zero().into(); N];
        for (value, arg) in values.iter_mut().zip(args) {
            *value = self.value(arg)?;
        }
        Ok(values)
    }

    fn typed(&self, args: &[Value]) -> Emitted<Vec<(Type, BasicValueEnum<'ctx>)>> {
        args.iter().map(|&arg| Ok((self.body.ty(arg), self.value(arg)?))).collect()
    }

    fn pointer(&self, value: Value) -> Emitted<PointerValue<'ctx>> {
        Ok(self.value(value)?.into_pointer_value())
    }

    fn inst(&mut self, inst: Inst) -> Emitted<()> {
        let node = &self.body.insts[inst];
        let ty = |value| self.body.ty(value);
        // The type of the only result.
        let result = || node.results.first().map_or(Type::BOOL, |&r| ty(r));
        let emit = self.emit;
        emit.scopes.come_from(self.origins.of_access(&node.data));
        let value: BasicValueEnum = match &node.data {
            InstData::Unary { op: UnaryOp::SpaceOf, arg, .. } => emit.space_of(self.frame, self.pointer(*arg)?)?.into(),
            InstData::Unary { op, fmf, arg } => emit.unary(*op, *fmf, ty(*arg), result(), self.value(*arg)?)?,
            InstData::Binary { op, flags, fmf, args } => emit.binary(*op, *flags, *fmf, self.values(*args)?)?,
            InstData::Ternary { op, fmf, args } => emit.ternary(*op, *fmf, result(), self.values(*args)?)?,
            InstData::Icmp { cc, args } => emit.icmp(*cc, self.values(*args)?)?,
            InstData::Fcmp { cc, fmf, args } => emit.fcmp(*cc, *fmf, self.values(*args)?)?,
            InstData::PtrAdd { base, offset, inbounds } => {
                let offset = self.value(*offset)?.into_int_value();
                emit.offset(self.pointer(*base)?, offset, *inbounds)?.into()
            }
            InstData::Load { ptr, offset, access } => {
                let space = self.space(*ptr);
                let count = node.results.len();
                let values = emit.load_elements(self.pointer(*ptr)?, space, *offset, result(), count, *access)?;
                return self.define(inst, &values);
            }
            InstData::Store { ptr, offset, access, args } => {
                let Some(&first) = args.first() else {
                    return Ok(());
                };
                let values = args.iter().map(|&arg| self.value(arg));
                let values = values.collect::<Emitted<Vec<_>>>()?;
                let space = self.space(*ptr);
                let ptr = self.pointer(*ptr)?;
                return emit.store_elements(ptr, space, *offset, ty(first), &values, *access);
            }
            InstData::MemCopy { dst, src, len, overlap, volatile } => {
                let spaces = [self.space(*dst), self.space(*src)];
                let [dst, src, len] = self.values([*dst, *src, *len])?;
                return emit.copy(dst, src, len, spaces, *overlap, *volatile);
            }
            InstData::MemSet { dst, byte, len, volatile } => {
                let space = self.space(*dst);
                let [dst, byte, len] = self.values([*dst, *byte, *len])?;
                return emit.set(dst, byte, len, space, *volatile);
            }
            InstData::AtomicRmw { op, order, ptr, arg, .. } => {
                let (space, ptr) = (self.space(*ptr), self.pointer(*ptr)?);
                emit.atomic_rmw(*op, *order, result(), ptr, space, self.value(*arg)?)?
            }
            InstData::AtomicCas { success, failure, ptr, expected, new, .. } => {
                let operands = self.values([*expected, *new])?;
                let orders = [*success, *failure];
                let (space, ptr) = (self.space(*ptr), self.pointer(*ptr)?);
                let values = emit.atomic_cas(orders, result(), ptr, space, operands)?;
                return self.define(inst, &values);
            }
            InstData::Fence { order } => return emit.fence(*order),
            InstData::Query { query, dim } => {
                groups::query(emit, self.frame, self.group, self.item, *query, *dim).into()
            }
            InstData::SlotAddr { slot } => {
                let address = self.slots[*slot];
                address.ok_or(BuilderError::UnsetPosition)?.into()
            }
            InstData::LocalAddr { local } => self.frame.locals[local.index()].into(),
            InstData::GlobalAddr { global } => {
                let address = self.frame.globals[*global];
                address.ok_or(BuilderError::UnsetPosition)?.into()
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
            | InstData::Put { .. } => {
                return Err(BuilderError::UnsetPosition);
            }
            InstData::Clock => emit.clock()?.into(),
            InstData::Yield => return emit.let_others_go_on(),
            InstData::Combined => self.group.combined.ok_or(BuilderError::UnsetPosition)?,
            InstData::LiveLoad { live } if let Some(value) = self.frame.shared[*live] => value,
            InstData::LiveLoad { live } => {
                let ptr = self.frame.live(emit, *live, result(), self.item.number)?;
                let (value, load) = emit.load(result(), ptr, result().bytes())?;
                if let Some(load) = load {
                    emit.scopes.mark(load, &[Part::Kept]);
                }
                value
            }
            InstData::LiveStore { live, arg } => {
                let kept = ty(*arg);
                let ptr = self.frame.live(emit, *live, kept, self.item.number)?;
                let store = emit.store(kept, self.value(*arg)?, ptr, kept.bytes())?;
                emit.scopes.mark(store, &[Part::Kept]);
                return Ok(());
            }
            InstData::CallHost { name, args } => emit.call_host(name, &self.typed(args)?, result())?,
            InstData::Printf { format, args } => emit.printf(self.frame, format.as_u32(), &self.typed(args)?)?.into(),
        };
        self.define(inst, &[value])
    }

    fn define(&mut self, inst: Inst, values: &[BasicValueEnum<'ctx>]) -> Emitted<()> {
        for (&result, &value) in self.body.insts[inst].results.iter().zip(values) {
            self.values[result] = Some(value);
        }
        Ok(())
    }

    fn space(&self, ptr: Value) -> Space {
        match self.body.ty(ptr) {
            Type::Ptr(space) => space,
            _ => Space::Generic,
        }
    }

    fn terminator(&mut self, block: Block, exits: &mut Exits<'ctx>) -> Emitted<()> {
        let emit = self.emit;
        let b = &emit.builder;
        let from = emit.here()?;
        let mut edges = Edges::default();
        match &self.body.blocks[block].term {
            Terminator::Jump(to) => {
                let to = self.edge(&mut edges, from, to)?;
                b.build_unconditional_branch(to)?;
            }
            Terminator::Branch { cond, then_to, else_to } => {
                let cond = self.value(*cond)?.into_int_value();
                let yes = self.edge(&mut edges, from, then_to)?;
                let no = self.edge(&mut edges, from, else_to)?;
                emit.at(from);
                b.build_conditional_branch(cond, yes, no)?;
            }
            Terminator::Switch { value, cases, default } => {
                let ty = self.body.ty(*value);
                let value = self.value(*value)?.into_int_value();
                let mut targets = Vec::new();
                for (bits, to) in cases {
                    let case = emit.constant(ty, *bits).into_int_value();
                    targets.push((case, self.edge(&mut edges, from, to)?));
                }
                let default = self.edge(&mut edges, from, default)?;
                emit.at(from);
                b.build_switch(value, default, &targets)?;
            }
            Terminator::Return => {
                self.end_slots()?;
                exits.push((None, from));
            }
            Terminator::Exit(region) => {
                self.end_slots()?;
                exits.push((Some(*region), from));
            }
            Terminator::Unreachable => {
                b.build_unreachable()?;
            }
        }
        Ok(())
    }

    /// The LLVM block that an edge out of `from` leads to. LLVM's phis know edges by their source,
    /// so a second edge between the same blocks gets a block of its own.
    fn edge(&mut self, edges: &mut Edges<'a>, from: BasicBlock<'ctx>, to: &'a BlockCall) -> Emitted<BasicBlock<'ctx>> {
        let target = self.blocks[to.block].ok_or(BuilderError::UnsetPosition)?;
        let again = edges.0.iter().any(|&seen| seen.block == to.block);
        edges.0.push(to);
        let mut source = from;
        let mut entry = target;
        if again && !to.args.is_empty() {
            source = self.emit.block("edge");
            entry = source;
            self.emit.at(source);
            self.emit.builder.build_unconditional_branch(target)?;
        }
        for (index, &arg) in to.args.iter().enumerate() {
            let value = self.value(arg)?;
            self.phis[to.block][index].add_incoming(&[(&value, source)]);
        }
        Ok(entry)
    }
}

/// The edges out of one block that were made already.
#[derive(Default)]
struct Edges<'a>(Vec<&'a BlockCall>);
