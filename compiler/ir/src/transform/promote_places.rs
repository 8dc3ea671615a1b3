//! Places in memory that a loop reads and writes in every iteration are kept in registers while it runs.
//!
//! `s[j] += x` in a loop loads and stores each sum, as what else the loop accesses may lie there. Where address spaces, objects
//! or what the launch tells of its arguments say that it does not, one load before the loop and one store behind it are
//! enough. A gang's lanes are often far from each other there, and would gather and scatter in every iteration.
//!
//! Requires: a region in normal form, and the arguments that are apart from others.
//! Ensures: normal form. Each work-item leaves what it left; in between nobody may look, as nothing orders what it would see.
//! A place is touched only where it was, if not as often.
//! Phases: per loop, innermost first, the places at addresses that stay the same, all of whose accesses each iteration and each
//! way out of the loop has passed, where no other access of the loop may touch them; a load in front of the loop, parameters of
//! its header and its exits for what is there, and the stores at the exits.
//! Source: textbook (register promotion, Cooper & Torczon 2011, 10.3.3).
//!
//! ```text
//! b0:     jump b1(…)                     b0:       x0 = load p;  jump b1(…, x0)
//! b1(i):  x = load p                     b1(i, x): y = add x, i
//!         y = add x, i            =>               br c, b1(i', y), b2(y)
//!         store y to p
//!         br c, b1(i'), b2               b2(y'):   store y' to p
//! ```

use crate::analysis::disjoint_memory::AccessedMemory;
use crate::analysis::loops::Loop;
use crate::analysis::predicates::ControlFlow;
use crate::analysis::underlying_objects::{Apart, Origin, Origins};
use crate::ir::*;
use cranelift_entity::EntitySet;
use lockstep_protocol::types::{Space, Type};
use std::collections::HashMap;

/// Instructions of a region that is looked at: each place is compared with all other accesses of its loop.
const MOST: usize = 4000;

/// Keeps such places in registers, given the arguments that are apart from others.
pub fn promote_places(kernel: &Kernel, function: &mut Function, apart: &[Apart]) {
    let instructions = function.layout.iter().flat_map(|&block| &function.blocks[block].insts);
    if instructions.count() > MOST {
        return;
    }
    while let Some(place) = find_place(kernel, function, apart) {
        place.promote_place(function);
    }
}

/// A plain access to elements at a root and so many bytes, and what is known of the memory.
#[derive(Clone, Copy)]
struct Access {
    block: Block,
    inst: Inst,
    root: Value,
    offset: i64,
    bytes: i64,
    ty: Type,
    elements: usize,
    space: Space,
    origin: Origin,
    stores: bool,
}

impl Access {
    /// Whether this is exactly the same place.
    fn is_same_place(&self, other: &Access) -> bool {
        (self.root, self.offset, self.ty, self.elements) == (other.root, other.offset, other.ty, other.elements)
    }

    /// Whether one work-item's accesses are surely to different bytes.
    fn is_apart(&self, other: &Access, function: &Function) -> bool {
        let ends_before = |first: &Access, second: &Access| first.offset.saturating_add(first.bytes) <= second.offset;
        if self.root == other.root {
            return ends_before(self, other) || ends_before(other, self);
        }
        self.memory().is_disjoint(&other.memory(), function)
    }

    fn memory(&self) -> AccessedMemory {
        AccessedMemory { base: self.root, space: self.space, origin: self.origin }
    }
}

/// An address without the constants that were added to it, and these.
fn root_of(function: &Function, mut address: Value) -> (Value, i64) {
    let mut offset_sum = 0_i64;
    while let ValueDef::Result(instruction, _) = function.values[address].definition
        && let InstData::PtrAdd { base, offset, .. } = function.insts[instruction].data
        && let Some(constant) = function.signed_constant(offset)
    {
        offset_sum = offset_sum.wrapping_add(constant);
        address = base;
    }
    (address, offset_sum)
}

/// The plain load or store that an instruction is; none for what touches no memory.
fn access_of(function: &Function, origins: &Origins, block: Block, instruction: Inst) -> Result<Option<Access>, ()> {
    let inst_data = &function.insts[instruction].data;
    let (pointer, offset, access, values) = match inst_data {
        InstData::Load { pointer, offset, access } => (*pointer, *offset, access, &function.insts[instruction].results),
        InstData::Store { pointer, offset, access, arguments } => (*pointer, *offset, access, arguments),
        inst_data if inst_data.has_effect() => return Err(()),
        _ => return Ok(None),
    };
    let Some(&first_value) = values.first() else { return Ok(None) };
    let (Type::Ptr(address_space), true) = (function.ty(pointer), access.atomic.is_none() && !access.volatile) else {
        return Err(());
    };
    let (root, root_offset) = root_of(function, pointer);
    let element_type = function.ty(first_value);
    Ok(Some(Access {
        block,
        inst: instruction,
        root,
        offset: offset.wrapping_add(root_offset),
        bytes: values.len() as i64 * i64::from(element_type.bytes()),
        ty: element_type,
        elements: values.len(),
        space: address_space,
        origin: origins.of_access(inst_data),
        stores: matches!(inst_data, InstData::Store { .. }),
    }))
}

/// A place that a loop may keep in a register.
struct Place {
    preheader: Block,
    latch: Block,
    header: Block,
    exits: Vec<Block>,
    /// All accesses to it, in their order.
    accesses: Vec<Access>,
}

fn find_place(kernel: &Kernel, function: &Function, apart: &[Apart]) -> Option<Place> {
    let control_flow = ControlFlow::analyze_function(function);
    control_flow.loops.iter().next()?;
    let origins = Origins::trace_addresses(kernel, function, apart);
    let mut loops: Vec<Loop> = control_flow.loops.iter().map(|(loop_id, _)| loop_id).collect();
    loops.sort_by_key(|&loop_id| std::cmp::Reverse(control_flow.loops.get(loop_id).depth));
    loops.into_iter().find_map(|loop_id| find_in_loop(function, &control_flow, &origins, loop_id))
}

fn find_in_loop(function: &Function, control_flow: &ControlFlow, origins: &Origins, loop_id: Loop) -> Option<Place> {
    let loop_data = control_flow.loops.get(loop_id);
    let in_loop = |block: Block| control_flow.loops.contains(loop_id, block);
    let mut inside = EntitySet::new();
    let mut accesses = Vec::new();
    // Blocks of loops inside come between; what counts is the order of those that dominate one another.
    for &block in control_flow.cfg.reverse_post_order().iter().filter(|&&block| in_loop(block)) {
        for &instruction in &function.blocks[block].insts {
            inside.insert(instruction);
            accesses.extend(access_of(function, origins, block, instruction).ok()?);
        }
    }
    let mut exits: Vec<Block> = Vec::new();
    for &(_, exit_block) in &loop_data.exits {
        if !exits.contains(&exit_block) {
            exits.push(exit_block);
        }
        if !control_flow.cfg.predecessors(exit_block).iter().all(|&source| in_loop(source)) {
            return None;
        }
    }
    let (outside, latches): (Vec<Block>, Vec<Block>) =
        control_flow.cfg.predecessors(loop_data.header).iter().partition(|&&predecessor| !in_loop(predecessor));
    let (&[preheader], &[latch]) = (&outside[..], &latches[..]) else { return None };
    if exits.is_empty() || !matches!(function.blocks[preheader].terminator, Terminator::Jump(_)) {
        return None;
    }
    let loop_body =
        LoopBody { function, control_flow, loop_id, latch, exits: &exits, insts: &inside, accesses: &accesses };
    let candidate = accesses.iter().find(|candidate| loop_body.can_keep_place(candidate))?;
    let accesses = accesses.iter().filter(|access| access.is_same_place(candidate)).copied().collect();
    Some(Place { preheader, latch, header: loop_data.header, exits, accesses })
}

/// A loop that may keep places in registers, and what it accesses.
struct LoopBody<'a> {
    function: &'a Function,
    control_flow: &'a ControlFlow,
    loop_id: Loop,
    latch: Block,
    exits: &'a [Block],
    insts: &'a EntitySet<Inst>,
    accesses: &'a [Access],
}

impl LoopBody<'_> {
    /// Whether what is at the place of an access can stay in a register while the loop runs.
    fn can_keep_place(&self, candidate: &Access) -> bool {
        let of_others = matches!(candidate.space, Space::Global | Space::Local);
        if !of_others || candidate.elements != 1 || !self.is_invariant(candidate.root) {
            return false;
        }
        let writes = self.accesses.iter().any(|access| access.is_same_place(candidate) && access.stores);
        if writes && !self.stays_in_its_loops(candidate.root) {
            return false;
        }
        self.accesses.iter().all(|access| match access.is_same_place(candidate) {
            true => self.is_passed(access.block),
            false => !(writes || access.stores) || access.is_apart(candidate, self.function),
        })
    }

    fn is_invariant(&self, value: Value) -> bool {
        match self.function.values[value].definition {
            ValueDef::Result(instruction, _) => !self.insts.contains(instruction),
            ValueDef::Param(block, _) => !self.control_flow.loops.contains(self.loop_id, block),
            ValueDef::Const(_) => true,
        }
    }

    /// Whether a value leaves no loop that it is computed in: it would have to come through a parameter.
    fn stays_in_its_loops(&self, value: Value) -> bool {
        let loop_forest = &self.control_flow.loops;
        let leaves = |around: Loop| self.exits.iter().any(|&exit_block| !loop_forest.contains(around, exit_block));
        !find_home(self.function, value).is_some_and(|home_block| loop_forest.loops_around(home_block).any(leaves))
    }

    /// Whether every iteration runs a block, however the loop goes on or is left.
    fn is_passed(&self, block: Block) -> bool {
        let loop_forest = &self.control_flow.loops;
        let mut ends = loop_forest.get(self.loop_id).exits.iter().map(|&(source, _)| source).chain([self.latch]);
        loop_forest.innermost_loop(block) == Some(self.loop_id)
            && ends.all(|source| self.control_flow.dominators.dominates(block, source))
    }
}

/// The block that computes a value; none for constants.
fn find_home(function: &Function, value: Value) -> Option<Block> {
    match function.values[value].definition {
        ValueDef::Result(instruction, _) => {
            function.layout.iter().copied().find(|&block| function.blocks[block].insts.contains(&instruction))
        }
        ValueDef::Param(block, _) => Some(block),
        ValueDef::Const(_) => None,
    }
}

impl Place {
    fn promote_place(self, function: &mut Function) {
        let Place { preheader, latch, header, exits, accesses } = self;
        let stores = accesses.iter().any(|access| access.stores);
        let Some(first_access) = accesses.first().copied() else { return };
        let mut instead: HashMap<Value, Value> = HashMap::new();
        // What is there when an iteration begins, if it asks.
        let carried = (stores && !first_access.stores).then(|| function.add_param(header, first_access.ty));
        let mut current_value = carried;
        if !first_access.stores {
            let (inst_data, location) =
                (function.insts[first_access.inst].data.clone(), function.insts[first_access.inst].location);
            let InstData::Load { access, .. } = inst_data else { return };
            let inst_data = InstData::Load { pointer: first_access.root, offset: first_access.offset, access };
            let load = function.append_inst(preheader, inst_data, &[first_access.ty], location);
            let loaded = function.insts[load].results[0];
            match carried {
                Some(_) => add_edge_argument(function, preheader, header, loaded),
                None => current_value = Some(loaded),
            }
        }
        let mut last_store = None;
        for access in &accesses {
            function.blocks[access.block].insts.retain(|&instruction| instruction != access.inst);
            match (&function.insts[access.inst].data, current_value) {
                (InstData::Store { arguments, .. }, _) => {
                    current_value = Some(*instead.get(&arguments[0]).unwrap_or(&arguments[0]));
                    last_store = Some(access.inst);
                }
                (_, Some(current_value)) => _ = instead.insert(function.insts[access.inst].results[0], current_value),
                (_, None) => {}
            }
        }
        for block in function.layout.clone() {
            for instruction in function.blocks[block].insts.clone() {
                function.insts[instruction].data.map_args(|value| *instead.get(&value).unwrap_or(&value));
            }
            function.blocks[block].terminator.map_args(|value| *instead.get(&value).unwrap_or(&value));
        }
        let (Some(current_value), Some(store)) = (current_value, last_store) else { return };
        if carried.is_some() {
            add_edge_argument(function, latch, header, current_value);
        }
        for exit_block in exits {
            let parameter = function.add_param(exit_block, first_access.ty);
            for source in function.layout.clone() {
                add_edge_argument(function, source, exit_block, current_value);
            }
            let (inst_data, location) = (function.insts[store].data.clone(), function.insts[store].location);
            let InstData::Store { access, .. } = inst_data else { return };
            let inst_data = InstData::Store {
                pointer: first_access.root,
                offset: first_access.offset,
                access,
                arguments: vec![parameter],
            };
            let instruction = function.make_inst(inst_data, &[], location);
            function.blocks[exit_block].insts.insert(0, instruction);
        }
    }
}

/// Adds an argument to all edges from one block to another.
fn add_edge_argument(function: &mut Function, source: Block, target_block: Block, value: Value) {
    for target in function.blocks[source].terminator.targets_mut() {
        if target.block == target_block {
            target.arguments.push(value);
        }
    }
}
