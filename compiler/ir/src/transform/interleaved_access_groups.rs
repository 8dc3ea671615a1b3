//! Accesses of neighbouring elements together.
//!
//! Where each work-item reads or writes a few elements of its own (a struct, `a[3 * i + k]`), code has one
//! access per element. Lanes' elements then lie a stride apart: each access alone would touch all the memory of
//! the gang for one element per lane, or be a gather or scatter. Together they are one wide access with shuffles.
//!
//! Requires: the shapes of a region's values, which arguments lead to memory of their own, and the gang's lanes.
//! Ensures: loads, and stores, of a block are one instruction where their addresses differ by constants, their
//! elements fill a row or a part of it, and no access between them may be to the same memory. Loads may have
//! elements between them that nobody wants: they lie between two that each lane reads. Outside of tiles, accesses of lanes
//! that are not known to lie on a row are one where their elements are neighbours. The
//! region means the same, and blocks and branches are as before.
//! Phases: per block, collect accesses as long as what comes between lets them move to the first load or to the
//! last store; cut what was collected into rows; merge those that `plan::access_lowering` takes for rows, and neighbours of
//! those that it does not.
//! Source: Nuzman, Rosen & Zaks 2006 (auto-vectorization of interleaved data), for groups of accesses and gaps.

use crate::analysis::affine_address::{self, Address, Roots};
use crate::analysis::cfg::build_cfg;
use crate::analysis::no_wrap_stride::{NoWrapStride, find_no_wrap_strides};
use crate::analysis::shape::Shape;
use crate::ir::*;
use crate::plan::access_lowering::{AccessClass, Direction, classify_access};
use cranelift_entity::SecondaryMap;
use lockstep_protocol::types::{Space, Type};
use std::collections::HashMap;

/// The elements that one instruction may have.
const MOST_ELEMENTS: i64 = 16;

/// Merges accesses of a region that runs in gangs of `gang_width` work-items; those of lanes that lie anywhere if they are
/// no rows of a tile.
pub fn interleaved_access_groups(
    function: &mut Function,
    shapes: &SecondaryMap<Value, Shape>,
    roots: &Roots,
    gang_width: u32,
    in_tile: bool,
) {
    let lines = (!in_tile)
        .then(|| find_no_wrap_strides(function, build_cfg(function).reverse_post_order(), shapes, gang_width));
    for block in function.layout.clone() {
        let (lines, open, changes) = (lines.as_ref(), Vec::new(), Vec::new());
        let mut grouper = Grouper { function, shapes, lines, roots, width: gang_width, open, changes };
        for instruction in grouper.function.blocks[block].insts.clone() {
            grouper.visit_inst(instruction);
        }
        grouper.close_groups(|_| true);
        let changes: HashMap<Inst, Vec<Inst>> = grouper.changes.into_iter().collect();
        if !changes.is_empty() {
            let instructions = &mut function.blocks[block].insts;
            *instructions = instructions
                .iter()
                .flat_map(|instruction| changes.get(instruction).cloned().unwrap_or(vec![*instruction]))
                .collect();
        }
    }
}

/// A load or store that may be merged.
#[derive(Clone)]
struct Member {
    inst: Inst,
    ptr: Value,
    offset: i64,
    access: Access,
    /// The first byte, from the group's address on.
    start: i64,
    /// The elements: what a load gives, what a store writes.
    values: Vec<Value>,
    /// Which of its group's it is in the order of the block.
    order: usize,
}

impl Member {
    fn byte_count(&self, element: u32) -> i64 {
        self.values.len() as i64 * i64::from(element)
    }
}

/// Accesses that may still become one, in the order of the block.
struct Group {
    direction: Direction,
    space: Space,
    address: Address,
    /// Of an element.
    bytes: u32,
    /// From lane to lane; none: lanes lie anywhere.
    stride: Option<i64>,
    members: Vec<Member>,
    /// Of loads: the bytes that were written since the first, from the group's address on.
    written: Vec<(i64, i64)>,
}

impl Group {
    /// Direction, address space, bytes of an element and stride, which all its accesses have in common.
    fn access_kind(&self) -> (Direction, Space, u32, Option<i64>) {
        (self.direction, self.space, self.bytes, self.stride)
    }

    fn end_of(&self, member: &Member) -> i64 {
        member.start.wrapping_add(member.byte_count(self.bytes))
    }

    /// Whether an access may be to memory of the members. Other work-items' elements do not matter: nothing orders
    /// their accesses and these.
    fn may_touch(&self, other: &Place, roots: &Roots) -> bool {
        let members = || self.members.iter().map(|member| (member.start, member.byte_count(self.bytes)));
        match self.relation_to(other, roots) {
            Relation::Apart => false,
            Relation::Unknown => true,
            Relation::Same => members().any(|range| ranges_overlap(range, (other.start, other.len))),
        }
    }

    fn relation_to(&self, other: &Place, roots: &Roots) -> Relation {
        let in_others = self.space != other.space && self.space != Space::Generic && other.space != Space::Generic;
        if in_others || roots.are_apart(self.address.base, other.address.base) {
            Relation::Apart
        } else if self.address == other.address {
            Relation::Same
        } else {
            Relation::Unknown
        }
    }
}

/// What an access touches.
struct Place {
    space: Space,
    address: Address,
    /// Bytes, from the address on.
    start: i64,
    len: i64,
}

/// How an access lies to a group.
#[derive(PartialEq, Eq)]
enum Relation {
    /// In other memory.
    Apart,
    /// At a constant distance.
    Same,
    Unknown,
}

/// Whether two ranges, of a first byte and a length each, have a byte in common.
fn ranges_overlap((left, left_length): (i64, i64), (right, right_length): (i64, i64)) -> bool {
    let distance = right.wrapping_sub(left);
    if distance >= 0 { distance < left_length } else { distance.wrapping_neg() < right_length }
}

struct Grouper<'a> {
    function: &'a mut Function,
    shapes: &'a SecondaryMap<Value, Shape>,
    /// On what lines varying addresses may lie; none: of a tile's rows, which may be the lines of its columns.
    lines: Option<&'a SecondaryMap<Value, Option<NoWrapStride>>>,
    roots: &'a Roots,
    width: u32,
    open: Vec<Group>,
    /// What stands in the place of an instruction.
    changes: Vec<(Inst, Vec<Inst>)>,
}

impl Grouper<'_> {
    fn visit_inst(&mut self, instruction: Inst) {
        let inst_node = &self.function.insts[instruction];
        let (pointer, offset, access, direction, values) = match &inst_node.data {
            &InstData::Load { pointer, offset, access } => {
                (pointer, offset, access, Direction::Load, inst_node.results.clone())
            }
            InstData::Store { pointer, offset, access, arguments } => {
                (*pointer, *offset, *access, Direction::Store, arguments.clone())
            }
            InstData::MemCopy { .. }
            | InstData::MemSet { .. }
            | InstData::AtomicRmw { .. }
            | InstData::AtomicCas { .. }
            | InstData::Fence { .. }
            | InstData::Barrier
            | InstData::GangBarrier
            | InstData::Clock
            | InstData::Yield
            | InstData::Collective { .. }
            | InstData::Call { .. }
            | InstData::Printf { .. } => return self.close_groups(|_| true),
            _ => return,
        };
        let (Some(&first), false) = (values.first(), access.volatile || access.atomic.is_some()) else {
            return self.close_groups(|_| true);
        };
        let (Type::Ptr(address_space), element_type) = (self.function.ty(pointer), self.function.ty(first)) else {
            return;
        };
        let (address, constant) = affine_address::decompose_address(self.function, pointer);
        let length = values.len() as i64 * i64::from(element_type.bytes());
        let place = Place { space: address_space, address, start: constant.wrapping_add(offset), len: length };
        // Two reads may change places, and nobody writes constant memory.
        let roots = self.roots;
        self.close_groups(|group| {
            let both_read = direction == Direction::Load && group.direction == Direction::Load;
            !both_read && group.may_touch(&place, roots)
        });
        if direction == Direction::Store {
            let overlaps = |group: &&mut Group| group.relation_to(&place, roots) == Relation::Same;
            self.open.iter_mut().filter(overlaps).for_each(|group| group.written.push((place.start, length)));
        }
        let stride = self.shapes[pointer].stride();
        let fits = match stride {
            Some(stride) => {
                let row_length = stride.unsigned_abs() / u64::from(element_type.bytes());
                row_length >= 2 && stride.unsigned_abs().is_multiple_of(element_type.bytes().into())
            }
            None => {
                let (bytes, value_count) = (element_type.bytes(), values.len() as u32);
                let class_of = |stride: i64| classify_access(Some(stride), bytes, value_count, self.width, direction);
                let is_row = |line: &NoWrapStride| class_of(line.stride) != AccessClass::Scattered;
                self.lines.is_some_and(|no_wrap_strides| !no_wrap_strides[pointer].as_ref().is_some_and(is_row))
            }
        };
        if !fits || element_type.bytes() > 8 {
            return;
        }
        let member = Member { inst: instruction, ptr: pointer, offset, access, start: place.start, values, order: 0 };
        let moves_up = |group: &Group| {
            let range = (place.start, length);
            direction == Direction::Store || !group.written.iter().any(|&written| ranges_overlap(written, range))
        };
        let kind = (direction, address_space, element_type.bytes(), stride);
        let fits =
            |group: &&mut Group| group.access_kind() == kind && group.address == place.address && moves_up(group);
        match self.open.iter_mut().find(fits) {
            Some(group) => group.members.push(Member { order: group.members.len(), ..member }),
            None => {
                let bytes = element_type.bytes();
                let Place { address, .. } = place;
                let (members, written) = (vec![member], Vec::new());
                self.open.push(Group { direction, space: address_space, address, bytes, stride, members, written });
            }
        }
    }

    /// Merges what is in the groups that must not grow.
    fn close_groups(&mut self, is_closed: impl Fn(&Group) -> bool) {
        let (closed, open) = std::mem::take(&mut self.open).into_iter().partition(is_closed);
        self.open = open;
        let closed: Vec<Group> = closed;
        for mut group in closed {
            group.members.sort_by_key(|member| member.start);
            let mut rest = &group.members[..];
            while !rest.is_empty() {
                let member_count = self.accesses_together(&group, rest);
                if member_count > 1 {
                    self.merge_members(&group, &rest[..member_count]);
                }
                rest = &rest[member_count.max(1)..];
            }
        }
    }

    /// How many of these accesses, in the order of memory, are to be one.
    fn accesses_together(&self, group: &Group, members: &[Member]) -> usize {
        let rows = group.stride.map_or(1, |stride| self.accesses_in_row(group, stride, members));
        let is_scattered =
            |stride| classify_access(stride, group.bytes, members[0].values.len() as u32, self.width, group.direction);
        if rows == 1 && self.lines.is_some() && is_scattered(group.stride) == AccessClass::Scattered {
            self.adjacent_accesses(group, members)
        } else {
            rows
        }
    }

    /// How many of these accesses, in the order of memory, lie side by side.
    fn adjacent_accesses(&self, group: &Group, members: &[Member]) -> usize {
        let start = members[0].start;
        let most_bytes = MOST_ELEMENTS * i64::from(group.bytes);
        let mut end_offset = group.end_of(&members[0]);
        let mut access_count = 1;
        for member in &members[1..] {
            let length = group.end_of(member).checked_sub(start);
            let so_far = members[..access_count + 1].iter().flat_map(|member| &member.values);
            let fits = member.start == end_offset && length.is_some_and(|length| length <= most_bytes);
            if !fits || element_type(self.function, so_far).is_none() {
                break;
            }
            end_offset = group.end_of(member);
            access_count += 1;
        }
        access_count
    }

    /// How many of these accesses, in the order of memory, make one row that is worth it.
    fn accesses_in_row(&self, group: &Group, stride: i64, members: &[Member]) -> usize {
        let start = members[0].start;
        let bytes = i64::from(group.bytes);
        let most_bytes = (stride.unsigned_abs() / group.bytes as u64).min(MOST_ELEMENTS as u64) as i64 * bytes;
        let mut end_offset = group.end_of(&members[0]);
        let mut wanted = members[0].values.len();
        let mut access_count = 1;
        for member in &members[1..] {
            let gap = member.start.wrapping_sub(end_offset);
            let fits = gap == 0 || gap > 0 && gap % bytes == 0 && group.direction == Direction::Load;
            let length = group.end_of(member).checked_sub(start);
            if !fits || length.is_none_or(|length| length > most_bytes) {
                break;
            }
            let so_far = members[..access_count + 1].iter().flat_map(|member| &member.values);
            if element_type(self.function, so_far).is_none() {
                break;
            }
            end_offset = group.end_of(member);
            wanted += member.values.len();
            access_count += 1;
        }
        match classify_access(Some(stride), group.bytes, wanted as u32, self.width, group.direction) {
            AccessClass::Rows { .. } => access_count,
            _ => 1,
        }
    }

    /// Makes accesses, in the order of memory, one.
    fn merge_members(&mut self, group: &Group, members: &[Member]) {
        let lowest = &members[0];
        let Some(common_type) = element_type(self.function, members.iter().flat_map(|member| &member.values)) else {
            return;
        };
        // What is known of any of the addresses says something of the lowest.
        let known_align = |member: &Member| {
            let distance = member.start.wrapping_sub(lowest.start) as u64;
            u64::from(member.access.align.max(1)).min(1 << distance.trailing_zeros().min(31)) as u32
        };
        let alignment = members.iter().map(known_align).max().unwrap_or(1);
        let anchor = match group.direction {
            Direction::Load => members.iter().min_by_key(|member| member.order),
            Direction::Store => members.iter().max_by_key(|member| member.order),
        };
        let Some(anchor) = anchor else { return };
        let offset = anchor.offset.wrapping_add(lowest.start.wrapping_sub(anchor.start));
        let (pointer, access, location) =
            (anchor.ptr, Access::plain(alignment), self.function.insts[anchor.inst].location);
        let mut instructions = Vec::new();
        match group.direction {
            Direction::Load => {
                let load = self.function.make_inst(InstData::Load { pointer, offset, access }, &[], location);
                instructions.push(load);
                let mut end_offset = lowest.start;
                for member in members {
                    while end_offset < member.start {
                        // Nobody wants this element.
                        let value = ValueData { ty: common_type, definition: ValueDef::Result(load, 0) };
                        let value = self.function.values.push(value);
                        self.give_result(load, value);
                        end_offset += i64::from(group.bytes);
                    }
                    for &value in &member.values {
                        if self.function.ty(value) == common_type {
                            self.give_result(load, value);
                            continue;
                        }
                        let bits = self
                            .function
                            .values
                            .push(ValueData { ty: common_type, definition: ValueDef::Result(load, 0) });
                        self.give_result(load, bits);
                        let cast = bitcast_of(bits);
                        let cast = self.function.make_inst(cast, &[], location);
                        self.give_result(cast, value);
                        instructions.push(cast);
                    }
                    end_offset = group.end_of(member);
                    self.function.insts[member.inst].results.clear();
                }
            }
            Direction::Store => {
                let mut arguments = Vec::new();
                for &value in members.iter().flat_map(|member| &member.values) {
                    if self.function.ty(value) == common_type {
                        arguments.push(value);
                        continue;
                    }
                    let cast = self.function.make_inst(bitcast_of(value), &[common_type], location);
                    instructions.push(cast);
                    arguments.push(self.function.single_result(cast));
                }
                instructions.push(self.function.make_inst(
                    InstData::Store { pointer, offset, access, arguments },
                    &[],
                    location,
                ));
            }
        }
        for member in members {
            let instructions = if member.inst == anchor.inst { std::mem::take(&mut instructions) } else { Vec::new() };
            self.changes.push((member.inst, instructions));
        }
    }

    /// Makes a value the next result of an instruction.
    fn give_result(&mut self, instruction: Inst, value: Value) {
        let results = &mut self.function.insts[instruction].results;
        self.function.values[value].definition = ValueDef::Result(instruction, results.len() as u32);
        results.push(value);
    }
}

fn bitcast_of(argument: Value) -> InstData {
    InstData::Unary { opcode: UnaryOp::Bitcast, fast_math: FastMath::default(), argument }
}

/// The type of elements that values of one size have together: theirs, or integers if they are numbers of
/// several types that fill their bytes.
fn element_type<'a>(function: &Function, mut values: impl Iterator<Item = &'a Value>) -> Option<Type> {
    let first = function.ty(*values.next()?);
    let bits = 8 * first.bytes();
    let fills_element = |common_type: Type| !common_type.is_ptr() && common_type.bits() == bits;
    let mut common_type = first;
    for &value in values {
        let other = function.ty(value);
        if other != common_type {
            if !fills_element(other) || !fills_element(common_type) {
                return None;
            }
            common_type = Type::Int(bits as u16);
        }
    }
    Some(common_type)
}
