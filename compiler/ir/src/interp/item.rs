//! One work-item: its place in the code and its values, and the execution of instructions.

use super::fault::{Fault, InterpError};
use super::host;
use super::launch::{LaunchState, PrintfEvent};
use super::memory::{Interleaved, Kind, Memory, global_address};
use crate::eval::operation::{evaluate_binary, evaluate_instruction};
use crate::ir::*;
use lockstep_protocol::parameters::Input;
use lockstep_protocol::types::{Space, Type};
use std::fmt;

/// What all work-items of a running group share.
pub(super) struct Group {
    id: [u64; 3],
    size: [u64; 3],
    locals: Vec<u64>,
    arguments: u64,
}

impl Group {
    /// Makes the group's memory.
    pub fn new(
        kernel: &Kernel,
        id: [u64; 3],
        size: [u64; 3],
        args: &[u8],
        local_args: &[(usize, u64)],
        memory: &mut Memory,
    ) -> Result<Group, Fault> {
        let poison = |size: u64| vec![0xcb; usize::try_from(size).unwrap_or(usize::MAX)];
        let too_large = |size: u64| size >= 1 << 31;
        if kernel.locals.values().any(|l| too_large(l.size)) || local_args.iter().any(|l| too_large(l.1)) {
            return Err(Fault::BadLaunch("a local variable is too large".to_string()));
        }
        let mut block = args.to_vec();
        for &(param, size) in local_args {
            let address = memory.add_object(Kind::LocalArgument(param as u32), poison(size), true)?;
            let offset = kernel.params[param].offset as usize;
            block[offset..][..8].copy_from_slice(&address.to_le_bytes());
        }
        let locals = kernel
            .locals
            .iter()
            .map(|(local, local_data)| memory.add_object(Kind::Local(local.as_u32()), poison(local_data.size), true))
            .collect::<Result<_, _>>()?;
        let arguments = memory.add_object(Kind::Arguments, block, false)?;
        Ok(Group { id, size, locals, arguments })
    }
}

/// Where a work-item stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arrival {
    /// Behind this barrier instruction.
    Barrier(Region, Inst),
    /// At the beginning of a region.
    Region(Region),
    /// It has finished.
    End,
}

impl fmt::Display for Arrival {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Arrival::Barrier(region, inst) => write!(formatter, "waits at the barrier {inst} of {region}"),
            Arrival::Region(region) => write!(formatter, "waits before {region}"),
            Arrival::End => formatter.write_str("has finished"),
        }
    }
}

/// What private memory holds that was never written.
const UNWRITTEN: u8 = 0xcd;

/// A work-item between two instructions.
pub(super) struct Item {
    pub global_id: [u64; 3],
    /// Instructions and terminators executed.
    pub steps: u64,
    local_id: [u64; 3],
    /// Its number in the group.
    number: u32,
    pub region: Region,
    pub block: Block,
    /// The next instruction in the block.
    pub position: usize,
    pub values: Vec<u128>,
    pub live: Vec<Option<u128>>,
    /// What the region's reduction gave.
    pub combined: u128,
    slots: Vec<u64>,
}

impl Item {
    /// What a live slot holds.
    pub fn kept_value(&self, slot: LiveSlot) -> Option<u128> {
        self.live[slot.as_u32() as usize]
    }

    /// A work-item before its first instruction; `gang` is the first lane of its gang, if that is another one.
    pub fn new(
        run: &LaunchState<'_>,
        group: &Group,
        local_id: [u64; 3],
        number: u32,
        gang: Option<&Item>,
        memory: &mut Memory,
    ) -> Result<Item, InterpError> {
        let range = run.range;
        let kernel = run.kernel;
        let mut slots = Vec::new();
        for (slot, slot_data) in &kernel.slots {
            if slot_data.size >= 1 << 31 {
                return Err(Fault::BadLaunch("a private variable is too large".to_string()).into());
            }
            let kind = Kind::Slot(slot.as_u32(), number);
            slots.push(match slot_data.layout {
                SlotLayout::Apart => memory.add_object(kind, vec![UNWRITTEN; slot_data.size as usize], true)?,
                SlotLayout::Shared => match gang {
                    Some(first) => first.slots[slot.as_u32() as usize],
                    None => memory.add_object(
                        kind.of_gang(run.width.is_some()),
                        vec![UNWRITTEN; slot_data.size as usize],
                        true,
                    )?,
                },
                SlotLayout::Interleaved { element, lanes } => {
                    let (element, lanes) = (u64::from(element.max(1)), u64::from(lanes.max(1)));
                    let place = match run.layout {
                        layout if layout.crosses_rows() => number.into(),
                        layout => local_id[layout.lane_dimension()],
                    };
                    let own = Interleaved { element, lanes, lane: place % lanes };
                    memory.add_interleaved(kind, slot_data.size, own, UNWRITTEN)?
                }
            });
        }
        let global_id = std::array::from_fn(|dimension| {
            range.global_offset[dimension]
                .wrapping_add(group.id[dimension] * range.local_size[dimension] + local_id[dimension])
        });
        let mut item = Item {
            global_id,
            steps: 0,
            local_id,
            number,
            region: Region::from_u32(0),
            block: kernel.body().entry_block(),
            position: 0,
            values: Vec::new(),
            live: vec![None; kernel.live.len()],
            combined: 0,
            slots,
        };
        let begun = item.enter_region(run, group, Region::from_u32(0), memory);
        begun.map_err(|fault| item.error_at(run, fault))?;
        Ok(item)
    }

    /// A fault with this work-item's place.
    pub fn error_at(&self, run: &LaunchState<'_>, fault: Fault) -> InterpError {
        let function = &run.kernel.regions[self.region];
        let inst = function.blocks[self.block].insts.get(self.position);
        InterpError {
            fault,
            global_id: Some(self.global_id),
            place: Some((self.region, self.block)),
            line: inst.map_or_else(|| term_text(function, self.block), |&inst| inst_text(function, inst)),
            location: inst.map(|&inst| function.insts[inst].location).unwrap_or_default(),
        }
    }

    /// Goes to a region's beginning.
    pub fn enter_region(
        &mut self,
        run: &LaunchState<'_>,
        group: &Group,
        region: Region,
        memory: &Memory,
    ) -> Result<(), Fault> {
        let function = &run.kernel.regions[region];
        self.region = region;
        self.block = function.entry_block();
        self.position = 0;
        self.values.clear();
        self.values.extend(function.values.values().map(|value_data| match value_data.definition {
            ValueDef::Const(bits) => bits,
            _ => 0,
        }));
        for (&param, &(input, ty)) in function.blocks[self.block].params.iter().zip(&run.kernel.inputs) {
            self.values[param.as_u32() as usize] = match input {
                Input::Value { param, offset } => {
                    let offset = run.kernel.params[param as usize].offset + offset;
                    self.read_value(memory, group.arguments + u64::from(offset), ty, 1)?
                }
                Input::Address { param } => {
                    let offset = run.kernel.params[param as usize].offset;
                    u128::from(group.arguments + u64::from(offset))
                }
            };
        }
        Ok(())
    }

    /// Runs until it arrives at a barrier or has finished.
    pub fn run_until_barrier(
        &mut self,
        run: &mut LaunchState<'_>,
        group: &Group,
        memory: &mut Memory,
    ) -> Result<Arrival, InterpError> {
        let stopped = self.execute_region(run, group, memory);
        stopped.map_err(|fault| self.error_at(run, fault))
    }

    fn execute_region(
        &mut self,
        run: &mut LaunchState<'_>,
        group: &Group,
        memory: &mut Memory,
    ) -> Result<Arrival, Fault> {
        let kernel = run.kernel;
        loop {
            self.steps += 1;
            run.step_limit = run.step_limit.checked_sub(1).ok_or(Fault::StepLimit)?;
            let function = &kernel.regions[self.region];
            let block = &function.blocks[self.block];
            if let Some(&inst) = block.insts.get(self.position) {
                let inst_data = &function.insts[inst].data;
                if matches!(inst_data, InstData::Barrier | InstData::Collective { .. }) {
                    self.position += 1;
                    return Ok(Arrival::Barrier(self.region, inst));
                }
                self.execute_inst(run, group, memory, function, inst)?;
                self.position += 1;
                continue;
            }
            if let Some(arrival) = self.leave_block(run, group, memory)? {
                return Ok(arrival);
            }
        }
    }

    /// Takes the way out of the block, all of whose instructions have run; the answer is where the work-item stops, if it
    /// does.
    pub fn leave_block(
        &mut self,
        run: &mut LaunchState<'_>,
        group: &Group,
        memory: &Memory,
    ) -> Result<Option<Arrival>, Fault> {
        let function = &run.kernel.regions[self.region];
        let block = &function.blocks[self.block];
        if let Some(observer) = &mut run.observer {
            observer.after_block(group.id, self.local_id, self.region, self.block, &self.values);
        }
        let (index, target) = match &block.terminator {
            Terminator::Jump(target) => (0, target),
            Terminator::Branch { condition, then_to, else_to } => match self.value_bits(*condition) {
                0 => (1, else_to),
                _ => (0, then_to),
            },
            Terminator::Switch { value, cases, default } => {
                let value = self.value_bits(*value);
                match cases.iter().position(|(key, _)| *key == value) {
                    Some(index) => (index, &cases[index].1),
                    None => (cases.len(), default),
                }
            }
            Terminator::Return => return Ok(Some(Arrival::End)),
            Terminator::Exit(region) => {
                self.enter_region(run, group, *region, memory)?;
                return Ok(Some(Arrival::Region(*region)));
            }
            Terminator::Unreachable => {
                return Err(Fault::Undefined("reached `unreachable`".to_string()));
            }
        };
        *run.report.branches.entry((self.region, self.block, index as u32)).or_default() += 1;
        let arguments: Vec<u128> = target.arguments.iter().map(|&v| self.value_bits(v)).collect();
        for (&param, bits) in function.blocks[target.block].params.iter().zip(arguments) {
            self.values[param.as_u32() as usize] = bits;
        }
        self.block = target.block;
        self.position = 0;
        Ok(None)
    }

    pub fn value_bits(&self, value: Value) -> u128 {
        self.values[value.as_u32() as usize]
    }

    fn address_of(&self, value: Value, offset: i64) -> u64 {
        (self.value_bits(value) as u64).wrapping_add_signed(offset)
    }

    fn read_value(&self, memory: &Memory, address: u64, ty: Type, align: u32) -> Result<u128, Fault> {
        let length = ty.bits().div_ceil(8);
        let place = memory.check_access(address, length.into(), align, false, self.number)?;
        let mut bytes = [0; 16];
        bytes[..length as usize].copy_from_slice(memory.bytes_at(place, length as usize));
        Ok(u128::from_le_bytes(bytes) & ty.value_mask())
    }

    fn write_value(&self, memory: &mut Memory, address: u64, ty: Type, align: u32, bits: u128) -> Result<(), Fault> {
        let length = ty.bits().div_ceil(8);
        let place = memory.check_access(address, length.into(), align, true, self.number)?;
        memory.bytes_at_mut(place, length as usize).copy_from_slice(&bits.to_le_bytes()[..length as usize]);
        Ok(())
    }

    pub fn execute_inst(
        &mut self,
        run: &mut LaunchState<'_>,
        group: &Group,
        memory: &mut Memory,
        function: &Function,
        inst: Inst,
    ) -> Result<(), Fault> {
        let node = &function.insts[inst];
        // The first result's type; instructions without results do not ask.
        let ty = node.results.first().map_or(Type::BOOL, |&v| function.ty(v));
        let bits = match &node.data {
            InstData::Unary { opcode: UnaryOp::SpaceOf, argument, .. } => {
                let space = memory.space_of(self.address_of(*argument, 0));
                u128::from(space.unwrap_or(Space::Global).spir_number())
            }
            inst_data @ (InstData::Unary { .. }
            | InstData::Binary { .. }
            | InstData::Ternary { .. }
            | InstData::Icmp { .. }
            | InstData::Fcmp { .. }
            | InstData::PtrAdd { .. }) => {
                let computed =
                    evaluate_instruction(inst_data, ty, |value| function.ty(value), |value| self.value_bits(value));
                computed.unwrap_or(Ok(0))?
            }
            InstData::Load { pointer, offset, access } => {
                let mut align = access.align;
                let mut address = self.address_of(*pointer, *offset);
                for &result in &node.results {
                    self.values[result.as_u32() as usize] = self.read_value(memory, address, ty, align)?;
                    address = address.wrapping_add(ty.bytes().into());
                    align = align.min(ty.bytes());
                }
                return Ok(());
            }
            InstData::Store { pointer, offset, access, arguments } => {
                let ty = function.ty(arguments[0]);
                let mut align = access.align;
                let mut address = self.address_of(*pointer, *offset);
                for &argument in arguments {
                    self.write_value(memory, address, ty, align, self.value_bits(argument))?;
                    address = address.wrapping_add(ty.bytes().into());
                    align = align.min(ty.bytes());
                }
                return Ok(());
            }
            InstData::MemCopy { destination, source, length, overlap, .. } => {
                let length = self.value_bits(*length) as u64;
                let (destination, source) = (self.address_of(*destination, 0), self.address_of(*source, 0));
                if length != 0 {
                    if !overlap && destination != source && destination.abs_diff(source) < length {
                        return Err(Fault::Undefined("memcpy of overlapping ranges".to_string()));
                    }
                    let from = memory.check_access(source, length, 1, false, self.number)?;
                    let to = memory.check_access(destination, length, 1, true, self.number)?;
                    let bytes = memory.bytes_at(from, length as usize).to_vec();
                    memory.bytes_at_mut(to, length as usize).copy_from_slice(&bytes);
                }
                return Ok(());
            }
            InstData::MemSet { destination, byte, length, .. } => {
                let length = self.value_bits(*length) as u64;
                if length != 0 {
                    let to = memory.check_access(self.address_of(*destination, 0), length, 1, true, self.number)?;
                    memory.bytes_at_mut(to, length as usize).fill(self.value_bits(*byte) as u8);
                }
                return Ok(());
            }
            InstData::AtomicRmw { opcode, align, pointer, argument, .. } => {
                let address = self.address_of(*pointer, 0);
                let previous = self.read_value(memory, address, ty, *align)?;
                let new = match opcode.binary() {
                    Some(opcode) => evaluate_binary(opcode, ty, previous, self.value_bits(*argument))?,
                    None => self.value_bits(*argument),
                };
                self.write_value(memory, address, ty, *align, new)?;
                previous
            }
            InstData::AtomicCas { align, pointer, expected, new, .. } => {
                let address = self.address_of(*pointer, 0);
                let previous = self.read_value(memory, address, ty, *align)?;
                let equal = previous == self.value_bits(*expected);
                let stored = if equal { self.value_bits(*new) } else { previous };
                self.write_value(memory, address, ty, *align, stored)?;
                self.values[node.results[1].as_u32() as usize] = equal.into();
                previous
            }
            InstData::Query { query, dimension } => self.answer_query(run.range, group, *query, *dimension).into(),
            InstData::SlotAddr { slot } => self.slots[slot.as_u32() as usize].into(),
            InstData::LocalAddr { local } => group.locals[local.as_u32() as usize].into(),
            InstData::GlobalAddr { global } => global_address(global.as_u32()).into(),
            InstData::LiveLoad { live_slot } => {
                let kept = self.live[live_slot.as_u32() as usize];
                kept.ok_or_else(|| Fault::Undefined(format!("{live_slot} was never stored")))?
            }
            InstData::LiveStore { live_slot, argument } => {
                self.live[live_slot.as_u32() as usize] = Some(self.value_bits(*argument));
                return Ok(());
            }
            InstData::CallHost { name, arguments } => {
                let arguments: Vec<(Type, u128)> =
                    arguments.iter().map(|&v| (function.ty(v), self.value_bits(v))).collect();
                host::call_host_function(name, ty, &arguments)
                    .ok_or_else(|| Fault::UnknownHostFunction(name.to_string()))?
            }
            InstData::Printf { format, arguments } => {
                let arguments = arguments.iter().map(|&v| self.value_bits(v)).collect();
                run.report.printf.push(PrintfEvent { format: *format, args: arguments, global_id: self.global_id });
                0
            }
            InstData::Clock => run.read_clock().into(),
            // Alone, a work-item is the only lane.
            InstData::Any { condition } | InstData::Ballot { condition } => self.value_bits(*condition),
            InstData::LaneOf { argument, .. } | InstData::Put { value: argument, .. } => self.value_bits(*argument),
            // A gang gives their results.
            InstData::Across { .. } | InstData::Shuffle { .. } => return Ok(()),
            InstData::Combined => self.combined,
            // The group gives its result.
            InstData::Collective { .. } => return Ok(()),
            InstData::Fence { .. } | InstData::Barrier | InstData::GangBarrier | InstData::Yield => return Ok(()),
        };
        if let Some(&result) = node.results.first() {
            self.values[result.as_u32() as usize] = bits;
        }
        Ok(())
    }

    fn answer_query(&self, range: &super::NdRange, group: &Group, query: Query, dimension: u8) -> u64 {
        let d = usize::from(dimension);
        match query {
            Query::GlobalId => self.global_id[d],
            Query::LocalId => self.local_id[d],
            Query::LinearId => self.number.into(),
            Query::GroupId => group.id[d],
            Query::GlobalSize => range.global_size[d],
            Query::LocalSize => group.size[d],
            Query::EnqueuedLocalSize => range.local_size[d],
            Query::NumGroups => range.num_groups()[d],
            Query::GlobalOffset => range.global_offset[d],
            Query::WorkDim => range.work_dim.into(),
        }
    }
}
