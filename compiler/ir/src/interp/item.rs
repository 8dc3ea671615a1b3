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
        argument_bytes: &[u8],
        local_args: &[(usize, u64)],
        memory: &mut Memory,
    ) -> Result<Group, Fault> {
        let poison = |size: u64| vec![0xcb; usize::try_from(size).unwrap_or(usize::MAX)];
        let too_large = |size: u64| size >= 1 << 31;
        if kernel.locals.values().any(|local| too_large(local.size))
            || local_args.iter().any(|&(_, size)| too_large(size))
        {
            return Err(Fault::BadLaunch("a local variable is too large".to_string()));
        }
        let mut block = argument_bytes.to_vec();
        for &(param, size) in local_args {
            let address = memory.add_object(Kind::LocalArgument(param as u32), poison(size), true)?;
            let offset = kernel.params[param].offset as usize;
            block[offset..][..8].copy_from_slice(&address.to_le_bytes());
        }
        let locals = kernel
            .locals
            .iter()
            .map(|(local_variable, local_data)| {
                memory.add_object(Kind::Local(local_variable.as_u32()), poison(local_data.size), true)
            })
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
            Arrival::Barrier(region, instruction) => {
                write!(formatter, "waits at the barrier {instruction} of {region}")
            }
            Arrival::Region(region) => write!(formatter, "waits before {region}"),
            Arrival::End => formatter.write_str("has finished"),
        }
    }
}

/// What private memory holds that was never written.
const UNWRITTEN: u8 = 0xcd;

fn check_slot_size(size: u64) -> Result<(), Fault> {
    if size < 1 << 31 { Ok(()) } else { Err(Fault::BadLaunch("a private variable is too large".to_string())) }
}

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
    /// What the function that it runs has set for its caller.
    pub results: Vec<u128>,
}

impl Item {
    /// What a live slot holds.
    pub fn kept_value(&self, slot: LiveSlot) -> Option<u128> {
        self.live[slot.as_u32() as usize]
    }

    /// A work-item before its first instruction; `gang` is the first lane of its gang, if that is another one.
    pub fn new(
        launch_state: &LaunchState<'_>,
        group: &Group,
        local_id: [u64; 3],
        number: u32,
        gang: Option<&Item>,
        memory: &mut Memory,
    ) -> Result<Item, InterpError> {
        let nd_range = launch_state.range;
        let kernel = launch_state.kernel;
        let global_id = std::array::from_fn(|dimension| {
            nd_range.global_offset[dimension]
                .wrapping_add(group.id[dimension] * nd_range.local_size[dimension] + local_id[dimension])
        });
        let mut work_item = Item {
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
            slots: Vec::new(),
            results: Vec::new(),
        };
        work_item.slots = work_item.make_slots(launch_state, gang, memory)?;
        let entered = work_item.enter_region(launch_state, group, Region::from_u32(0), memory);
        entered.map_err(|fault| work_item.error_at(launch_state, fault))?;
        Ok(work_item)
    }

    /// Makes the private slots of the code that runs; their addresses. `gang` is the first lane of its gang, if that is
    /// another one.
    pub(super) fn make_slots(
        &self,
        launch_state: &LaunchState<'_>,
        gang: Option<&Item>,
        memory: &mut Memory,
    ) -> Result<Vec<u64>, Fault> {
        let mut slots = Vec::new();
        for (slot, slot_data) in &launch_state.kernel.slots {
            check_slot_size(slot_data.size)?;
            let kind = Kind::Slot(slot.as_u32(), self.number);
            slots.push(match slot_data.layout {
                SlotLayout::Apart => memory.add_object(kind, vec![UNWRITTEN; slot_data.size as usize], true)?,
                SlotLayout::Shared => match gang {
                    Some(first_item) => first_item.slots[slot.as_u32() as usize],
                    None => memory.add_object(
                        kind.of_gang(launch_state.width.is_some()),
                        vec![UNWRITTEN; slot_data.size as usize],
                        true,
                    )?,
                },
                SlotLayout::Interleaved { element, lanes } => {
                    let (element, lanes) = (u64::from(element.max(1)), u64::from(lanes.max(1)));
                    let lane_number = match launch_state.layout {
                        layout if layout.crosses_rows() => self.number.into(),
                        layout => self.local_id[layout.lane_dimension()],
                    };
                    let interleaving = Interleaved { element, lanes, lane: lane_number % lanes };
                    memory.add_interleaved(kind, slot_data.size, interleaving, UNWRITTEN)?
                }
            });
        }
        Ok(slots)
    }

    /// The same work-item at the beginning of a function with this entry block, whose slots have these addresses.
    pub(super) fn at_call(&self, slots: Vec<u64>, entry_block: Block) -> Item {
        Item {
            global_id: self.global_id,
            steps: self.steps,
            local_id: self.local_id,
            number: self.number,
            region: Region::from_u32(0),
            block: entry_block,
            position: 0,
            values: Vec::new(),
            live: Vec::new(),
            combined: 0,
            slots,
            results: Vec::new(),
        }
    }

    /// A fault with this work-item's place.
    pub fn error_at(&self, launch_state: &LaunchState<'_>, fault: Fault) -> InterpError {
        let function = &launch_state.kernel.regions[self.region];
        let current_inst = function.blocks[self.block].insts.get(self.position);
        InterpError {
            fault,
            global_id: Some(self.global_id),
            place: Some((self.region, self.block)),
            line: current_inst
                .map_or_else(|| term_text(function, self.block), |&instruction| inst_text(function, instruction)),
            location: current_inst.map(|&instruction| function.insts[instruction].location).unwrap_or_default(),
        }
    }

    /// Goes to a region's beginning.
    pub fn enter_region(
        &mut self,
        launch_state: &LaunchState<'_>,
        group: &Group,
        region: Region,
        memory: &Memory,
    ) -> Result<(), Fault> {
        let function = &launch_state.kernel.regions[region];
        self.region = region;
        self.block = function.entry_block();
        self.position = 0;
        self.values.clear();
        self.values.extend(function.values.values().map(|value_data| match value_data.definition {
            ValueDef::Const(bits) => bits,
            _ => 0,
        }));
        for (&parameter, &(input, value_type)) in
            function.blocks[self.block].params.iter().zip(&launch_state.kernel.inputs)
        {
            self.values[parameter.as_u32() as usize] = match input {
                Input::Value { param, offset } => {
                    let offset = launch_state.kernel.params[param as usize].offset + offset;
                    self.read_value(memory, group.arguments + u64::from(offset), value_type, 1)?
                }
                // The call has put it there.
                Input::Passed { .. } => continue,
                Input::Address { param } => {
                    let offset = launch_state.kernel.params[param as usize].offset;
                    u128::from(group.arguments + u64::from(offset))
                }
            };
        }
        Ok(())
    }

    /// Runs until it arrives at a barrier or has finished.
    pub fn run_until_barrier(
        &mut self,
        launch_state: &mut LaunchState<'_>,
        group: &Group,
        memory: &mut Memory,
    ) -> Result<Arrival, InterpError> {
        let stopped = self.execute_region(launch_state, group, memory);
        stopped.map_err(|fault| self.error_at(launch_state, fault))
    }

    pub(super) fn execute_region(
        &mut self,
        launch_state: &mut LaunchState<'_>,
        group: &Group,
        memory: &mut Memory,
    ) -> Result<Arrival, Fault> {
        let kernel = launch_state.kernel;
        loop {
            self.steps += 1;
            launch_state.step_limit = launch_state.step_limit.checked_sub(1).ok_or(Fault::StepLimit)?;
            let function = &kernel.regions[self.region];
            let block = &function.blocks[self.block];
            if let Some(&instruction) = block.insts.get(self.position) {
                let inst_data = &function.insts[instruction].data;
                if matches!(inst_data, InstData::Barrier | InstData::Collective { .. }) {
                    self.position += 1;
                    return Ok(Arrival::Barrier(self.region, instruction));
                }
                self.execute_inst(launch_state, group, memory, function, instruction)?;
                self.position += 1;
                continue;
            }
            if let Some(arrival) = self.leave_block(launch_state, group, memory)? {
                return Ok(arrival);
            }
        }
    }

    /// Takes the way out of the block, all of whose instructions have run; the answer is where the work-item stops, if it
    /// does.
    pub fn leave_block(
        &mut self,
        launch_state: &mut LaunchState<'_>,
        group: &Group,
        memory: &Memory,
    ) -> Result<Option<Arrival>, Fault> {
        let function = &launch_state.kernel.regions[self.region];
        let block = &function.blocks[self.block];
        if let Some(observer) = &mut launch_state.observer {
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
                self.enter_region(launch_state, group, *region, memory)?;
                return Ok(Some(Arrival::Region(*region)));
            }
            Terminator::Unreachable => {
                return Err(Fault::Undefined("reached `unreachable`".to_string()));
            }
        };
        *launch_state.report.branches.entry((self.region, self.block, index as u32)).or_default() += 1;
        let arguments: Vec<u128> = target.arguments.iter().map(|&operand| self.value_bits(operand)).collect();
        for (&parameter, bits) in function.blocks[target.block].params.iter().zip(arguments) {
            self.values[parameter.as_u32() as usize] = bits;
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

    fn read_value(&self, memory: &Memory, address: u64, value_type: Type, alignment: u32) -> Result<u128, Fault> {
        let length = value_type.bits().div_ceil(8);
        let place = memory.check_access(address, length.into(), alignment, false, self.number)?;
        let mut bytes = [0; 16];
        bytes[..length as usize].copy_from_slice(memory.bytes_at(place, length as usize));
        Ok(u128::from_le_bytes(bytes) & value_type.value_mask())
    }

    fn write_value(
        &self,
        memory: &mut Memory,
        address: u64,
        value_type: Type,
        alignment: u32,
        bits: u128,
    ) -> Result<(), Fault> {
        let length = value_type.bits().div_ceil(8);
        let place = memory.check_access(address, length.into(), alignment, true, self.number)?;
        memory.bytes_at_mut(place, length as usize).copy_from_slice(&bits.to_le_bytes()[..length as usize]);
        Ok(())
    }

    pub fn execute_inst(
        &mut self,
        launch_state: &mut LaunchState<'_>,
        group: &Group,
        memory: &mut Memory,
        function: &Function,
        instruction: Inst,
    ) -> Result<(), Fault> {
        let inst_node = &function.insts[instruction];
        // The first result's type; instructions without results do not ask.
        let result_type = inst_node.results.first().map_or(Type::BOOL, |&operand| function.ty(operand));
        let bits = match &inst_node.data {
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
                let computed = evaluate_instruction(
                    inst_data,
                    result_type,
                    |value| function.ty(value),
                    |value| self.value_bits(value),
                );
                computed.unwrap_or(Ok(0))?
            }
            InstData::Load { pointer, offset, access } => {
                let mut alignment = access.align;
                let mut address = self.address_of(*pointer, *offset);
                for &result in &inst_node.results {
                    self.values[result.as_u32() as usize] = self.read_value(memory, address, result_type, alignment)?;
                    address = address.wrapping_add(result_type.bytes().into());
                    alignment = alignment.min(result_type.bytes());
                }
                return Ok(());
            }
            InstData::Store { pointer, offset, access, arguments } => {
                let result_type = function.ty(arguments[0]);
                let mut alignment = access.align;
                let mut address = self.address_of(*pointer, *offset);
                for &argument in arguments {
                    self.write_value(memory, address, result_type, alignment, self.value_bits(argument))?;
                    address = address.wrapping_add(result_type.bytes().into());
                    alignment = alignment.min(result_type.bytes());
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
                    let source_place = memory.check_access(source, length, 1, false, self.number)?;
                    let destination_place = memory.check_access(destination, length, 1, true, self.number)?;
                    let bytes = memory.bytes_at(source_place, length as usize).to_vec();
                    memory.bytes_at_mut(destination_place, length as usize).copy_from_slice(&bytes);
                }
                return Ok(());
            }
            InstData::MemSet { destination, byte, length, .. } => {
                let length = self.value_bits(*length) as u64;
                if length != 0 {
                    let destination_place =
                        memory.check_access(self.address_of(*destination, 0), length, 1, true, self.number)?;
                    memory.bytes_at_mut(destination_place, length as usize).fill(self.value_bits(*byte) as u8);
                }
                return Ok(());
            }
            InstData::AtomicRmw { opcode, align, pointer, argument, .. } => {
                let address = self.address_of(*pointer, 0);
                let previous = self.read_value(memory, address, result_type, *align)?;
                let new = match opcode.binary() {
                    Some(opcode) => evaluate_binary(opcode, result_type, previous, self.value_bits(*argument))?,
                    None => self.value_bits(*argument),
                };
                self.write_value(memory, address, result_type, *align, new)?;
                previous
            }
            InstData::AtomicCas { align, pointer, expected, new, .. } => {
                let address = self.address_of(*pointer, 0);
                let previous = self.read_value(memory, address, result_type, *align)?;
                let equal = previous == self.value_bits(*expected);
                let stored = if equal { self.value_bits(*new) } else { previous };
                self.write_value(memory, address, result_type, *align, stored)?;
                self.values[inst_node.results[1].as_u32() as usize] = equal.into();
                previous
            }
            InstData::Query { query, dimension } => {
                self.answer_query(launch_state.range, group, *query, *dimension).into()
            }
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
                    arguments.iter().map(|&operand| (function.ty(operand), self.value_bits(operand))).collect();
                host::call_host_function(name, result_type, &arguments)
                    .ok_or_else(|| Fault::UnknownHostFunction(name.to_string()))?
            }
            InstData::Call { callee, arguments } => {
                let arguments: Vec<u128> = arguments.iter().map(|&operand| self.value_bits(operand)).collect();
                let returned = self.call_function(launch_state, group, memory, *callee, &arguments)?;
                for (&result, bits) in inst_node.results.iter().zip(returned) {
                    self.values[result.as_u32() as usize] = bits;
                }
                return Ok(());
            }
            InstData::SetResults { arguments } => {
                self.results = arguments.iter().map(|&operand| self.value_bits(operand)).collect();
                return Ok(());
            }
            InstData::Printf { format, .. } if launch_state.module.formats[*format].is_failure => {
                let text = &launch_state.module.formats[*format].text;
                return Err(Fault::LaunchFailure(String::from_utf8_lossy(text).into_owned()));
            }
            InstData::Printf { format, arguments } => {
                let arguments = arguments.iter().map(|&operand| self.value_bits(operand)).collect();
                launch_state.report.printf.push(PrintfEvent {
                    format: *format,
                    args: arguments,
                    global_id: self.global_id,
                });
                0
            }
            InstData::Clock => launch_state.read_clock().into(),
            // Alone, a work-item is the only lane.
            InstData::Any { condition } | InstData::Ballot { condition } => self.value_bits(*condition),
            InstData::LaneOf { argument, .. } | InstData::Put { value: argument, .. } => self.value_bits(*argument),
            // A gang gives their results.
            InstData::Across { .. } | InstData::Shuffle { .. } => return Ok(()),
            InstData::Combined => self.combined,
            // The group gives its result.
            InstData::Collective { .. } => return Ok(()),
            InstData::Fence { .. } | InstData::Barrier | InstData::GangBarrier | InstData::Yield => return Ok(()),
            // Nothing of the kernel depends on it.
            InstData::CountIterations { .. } => return Ok(()),
        };
        if let Some(&result) = inst_node.results.first() {
            self.values[result.as_u32() as usize] = bits;
        }
        Ok(())
    }

    fn answer_query(&self, range: &super::NdRange, group: &Group, query: Query, dimension: u8) -> u64 {
        let axis = usize::from(dimension);
        match query {
            Query::GlobalId => self.global_id[axis],
            Query::LocalId => self.local_id[axis],
            Query::LinearId => self.number.into(),
            Query::GroupId => group.id[axis],
            Query::GlobalSize => range.global_size[axis],
            Query::LocalSize => group.size[axis],
            Query::EnqueuedLocalSize => range.local_size[axis],
            Query::NumGroups => range.num_groups()[axis],
            Query::GlobalOffset => range.global_offset[axis],
            Query::WorkDim => range.work_dim.into(),
        }
    }
}
