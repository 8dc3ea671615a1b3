//! Copies one region and mends its SSA form.
//!
//! Requires: the split code and the plan of what is kept.
//! Ensures: valid SSA; the region's entry block has the kernel's inputs as parameters; slots hold what
//! the plan says on every arrival at a barrier.
//! Phases: copy blocks, behind a switch if there are several starts; parameters where definitions meet; operands and
//! stores; place the definitions at the begin.
//! Source: Karrenberg & Hack 2012, section 2.3; the parameters as in Cytron et al. 1991, section 4
//! (dominance frontiers), pruned by liveness.
//!
//! A value that the region needs from earlier regions has a definition at the region's begin: a load of
//! its live slot, or the operations that compute it again. If the region also holds the value's own
//! definition (a loop around the barrier leads back to it), both reach uses, and blocks where they meet
//! get a parameter. Definitions at the begin are placed as late as their uses allow, but outside of
//! cycles: what a path does not need it does not load, and what a loop needs it loads once.
//!
//! Arriving at a barrier stores what the next region finds in slots, unless it lies there already.

use super::cuts::Start;
use super::live::Plan;
use super::split::Split;
use crate::analysis::cfg::{Cfg, build_cfg};
use crate::analysis::dominators::{Dominators, compute_dominators};
use crate::ir::{Block, BlockCall, Function, Inst, InstData, LiveSlot, Region, SourceLoc, Terminator, Value, ValueDef};
use cranelift_entity::{EntitySet, SecondaryMap};
use lockstep_protocol::types::Type;

struct Copy<'a> {
    split: &'a Split,
    plan: &'a Plan,
    region: Region,
    /// The new region.
    function: Function,
    /// The copy of each block.
    block: SecondaryMap<Block, Option<Block>>,
    /// The block that each block is a copy of; none: the switch at the begin.
    original: SecondaryMap<Block, Option<Block>>,
    /// The values from earlier regions that some start needs.
    needed: EntitySet<Value>,
    /// Those of them that are in slots.
    kept: EntitySet<Value>,
    /// The copy of each value that the region's blocks define, and of the kernel's inputs.
    value: SecondaryMap<Value, Option<Value>>,
    /// The definition at the begin of each value from earlier regions, once it is wanted.
    begin: SecondaryMap<Value, Option<Value>>,
    /// The instructions of those definitions, operands before users. No block holds them yet.
    floating: Vec<Inst>,
    /// Parameters added where definitions of a value meet.
    joins: SecondaryMap<Block, Vec<(Value, Value)>>,
}

/// Builds the code of a region.
pub(super) fn build_region(split: &Split, plan: &Plan, region: Region) -> Function {
    let mut copy = Copy {
        split,
        plan,
        region,
        function: Function::new(),
        block: SecondaryMap::new(),
        original: SecondaryMap::new(),
        needed: EntitySet::new(),
        kept: EntitySet::new(),
        value: SecondaryMap::new(),
        begin: SecondaryMap::new(),
        floating: Vec::new(),
        joins: SecondaryMap::new(),
    };
    copy.find_needed();
    copy.copy_shapes();
    let flow_graph = build_cfg(&copy.function);
    let dominators = compute_dominators(&flow_graph);
    copy.add_join_params(&flow_graph, &dominators);
    copy.fill_operands(&dominators);
    copy.place_definitions(&flow_graph, &dominators);
    copy.function
}

impl Copy<'_> {
    /// Notes what the region needs of earlier ones.
    fn find_needed(&mut self) {
        for &start in &self.split.regions.starts[self.region] {
            for value in self.split.liveness.live_in(self.split.cuts.starts[start]) {
                self.needed.insert(value);
            }
            self.plan.kept[start].iter().for_each(|&value| {
                self.kept.insert(value);
            });
        }
    }

    /// Blocks with parameters, instructions with results, and jumps, all without operands.
    fn copy_shapes(&mut self) {
        let split = self.split;
        let several = split.start_slot().filter(|_| split.regions.starts[self.region].len() > 1);
        let dispatch = several.map(|_| self.function.add_block());
        for old_block in split.region_blocks(self.region) {
            let new_block = self.function.add_block();
            self.block[old_block] = Some(new_block);
            self.original[new_block] = Some(old_block);
        }
        let entry_block = self.function.entry_block();
        for &parameter in &split.body.blocks[split.body.entry_block()].params {
            self.value[parameter] = Some(self.function.add_param(entry_block, split.body.ty(parameter)));
        }
        if let (Some(start_slot), Some(dispatch)) = (several, dispatch) {
            self.switch_to_starts(start_slot, dispatch);
        }
        for new_block in self.function.layout.clone() {
            let Some(old_block) = self.original[new_block] else { continue };
            let block_data = &split.body.blocks[old_block];
            if new_block != entry_block {
                for &parameter in &block_data.params {
                    self.value[parameter] = Some(self.function.add_param(new_block, split.body.ty(parameter)));
                }
            }
            for &instruction in &block_data.insts {
                let inst_node = &split.body.insts[instruction];
                let types: Vec<_> = inst_node.results.iter().map(|&value| split.body.ty(value)).collect();
                let new_inst = self.function.append_inst(new_block, inst_node.data.clone(), &types, inst_node.location);
                for (&old_value, &new_value) in inst_node.results.iter().zip(&self.function.insts[new_inst].results) {
                    self.value[old_value] = Some(new_value);
                }
            }
            self.function.end_locs[new_block] = split.body.end_locs[old_block];
            self.function.blocks[new_block].terminator = match split.cuts.cut[old_block] {
                Some(start) => Terminator::Exit(split.regions.of[start]),
                None => {
                    let mut terminator = block_data.terminator.clone();
                    for target in terminator.targets_mut() {
                        // Every target is in the region, as the block is not cut.
                        target.block = self.block[target.block].unwrap_or(target.block);
                    }
                    terminator
                }
            };
        }
    }

    /// Has a block lead to the start that a slot tells.
    fn switch_to_starts(&mut self, start_slot: LiveSlot, dispatch: Block) {
        let split = self.split;
        let load = self.function.append_inst(
            dispatch,
            InstData::LiveLoad { live_slot: start_slot },
            &[Type::I32],
            SourceLoc::default(),
        );
        let copies = split.regions.starts[self.region].iter().filter_map(|&start| self.block[split.cuts.starts[start]]);
        let targets = copies.map(|block| BlockCall { block, arguments: Vec::new() });
        let mut cases: Vec<(u128, BlockCall)> = (0..).zip(targets).collect();
        if let Some((_, default)) = cases.pop() {
            self.function.blocks[dispatch].terminator =
                Terminator::Switch { value: self.function.single_result(load), cases, default };
        }
    }

    /// Whether two definitions of a value reach its uses here.
    fn has_both(&self, value: Value) -> bool {
        self.split.input_index(value).is_none() && self.value[value].is_some() && self.needed.contains(value)
    }

    /// Adds parameters where a value's definition at the begin and its own one meet.
    fn add_join_params(&mut self, flow_graph: &Cfg, dominators: &Dominators) {
        let split = self.split;
        let with_both: Vec<Value> = self.needed.keys().filter(|&operand| self.has_both(operand)).collect();
        if with_both.is_empty() {
            return;
        }
        let frontier = dominance_frontiers(flow_graph, dominators);
        for value in with_both {
            let home = split.home[value].and_then(|home_block| self.block[home_block]);
            let mut worklist: Vec<Block> = home.into_iter().collect();
            let mut visited: SecondaryMap<Block, bool> = SecondaryMap::new();
            while let Some(block) = worklist.pop() {
                for &join_block in &frontier[block] {
                    let needed = self.original[join_block]
                        .is_some_and(|join_block| split.liveness.is_live_in(value, join_block));
                    if needed && !std::mem::replace(&mut visited[join_block], true) {
                        let parameter = self.function.add_param(join_block, split.body.ty(value));
                        self.joins[join_block].push((value, parameter));
                        worklist.push(join_block);
                    }
                }
            }
        }
    }

    /// Fills in all operands, and the stores where work-items arrive at barriers.
    fn fill_operands(&mut self, dominators: &Dominators) {
        for block in self.function.layout.clone() {
            let Some(original) = self.original[block] else { continue };
            for instruction in self.function.blocks[block].insts.clone() {
                let mut inst_data = self.function.insts[instruction].data.clone();
                inst_data.map_args(|operand| self.reaching_value(dominators, operand, block));
                self.function.insts[instruction].data = inst_data;
            }
            if let Some(next) = self.split.cuts.cut[original] {
                self.store_at_barrier(dominators, block, next);
                continue;
            }
            let mut terminator = self.function.blocks[block].terminator.clone();
            terminator.map_args(|operand| self.reaching_value(dominators, operand, block));
            for target in terminator.targets_mut() {
                for (value, _) in self.joins[target.block].clone() {
                    target.arguments.push(self.reaching_value(dominators, value, block));
                }
            }
            self.function.blocks[block].terminator = terminator;
        }
    }

    /// Stores what work-items find where they start next.
    fn store_at_barrier(&mut self, dominators: &Dominators, block: Block, next: Start) {
        for &value in &self.plan.kept[next] {
            let Some(live_slot) = self.plan.slot[value] else {
                continue;
            };
            if self.slot_at_begin(value).is_some() && self.comes_from_begin(dominators, value, block) {
                continue;
            }
            let argument = self.reaching_value(dominators, value, block);
            self.function.append_inst(block, InstData::LiveStore { live_slot, argument }, &[], SourceLoc::default());
        }
        if self.split.regions.starts[self.region].contains(&Start::from_u32(0)) {
            let stored = |live_slot: LiveSlot| {
                self.plan.kept[next].iter().any(|&value| self.plan.slot[value] == Some(live_slot))
            };
            for &live_slot in self.plan.partly.iter().filter(|&&live_slot| !stored(live_slot)) {
                let argument = self.function.constant(self.plan.slots[live_slot].ty, 0);
                self.function.append_inst(
                    block,
                    InstData::LiveStore { live_slot, argument },
                    &[],
                    SourceLoc::default(),
                );
            }
        }
        let starts = &self.split.regions.starts[self.split.regions.of[next]];
        if let (Some(live_slot), Ok(number), 2..) = (self.split.start_slot(), starts.binary_search(&next), starts.len())
        {
            let argument = self.function.constant(Type::I32, number as u128);
            self.function.append_inst(block, InstData::LiveStore { live_slot, argument }, &[], SourceLoc::default());
        }
    }

    /// The slot in which this region finds a value.
    fn slot_at_begin(&self, value: Value) -> Option<LiveSlot> {
        self.plan.slot[value].filter(|_| self.kept.contains(value))
    }

    /// Whether the definition of a value that reaches the end of a block is the one at the begin.
    fn comes_from_begin(&self, dominators: &Dominators, value: Value, block: Block) -> bool {
        match self.value[value] {
            None => true,
            Some(_) => self.has_both(value) && self.definition_at_end(dominators, value, block).is_none(),
        }
    }

    /// The definition of a value that reaches the end of a block (or a use in it), if it is not the one
    /// at the begin: its own one or a parameter where definitions meet.
    fn definition_at_end(&self, dominators: &Dominators, value: Value, block: Block) -> Option<Value> {
        let home = self.split.home[value].and_then(|home_block| self.block[home_block]);
        let mut next = Some(block);
        while let Some(block) = next {
            if Some(block) == home {
                return self.value[value];
            }
            if let Some(&(_, parameter)) = self.joins[block].iter().find(|&&(joined, _)| joined == value) {
                return Some(parameter);
            }
            next = dominators.immediate_dominator(block);
        }
        None
    }

    /// The new value for an old one that is used in a block.
    fn reaching_value(&mut self, dominators: &Dominators, value: Value, block: Block) -> Value {
        let value_data = self.split.body.values[value];
        if let ValueDef::Const(bits) = value_data.definition {
            return self.function.constant(value_data.ty, bits);
        }
        if let Some(new_value) = self.value[value] {
            if !self.has_both(value) {
                return new_value;
            }
            if let Some(definition) = self.definition_at_end(dominators, value, block) {
                return definition;
            }
        }
        self.at_begin(value)
    }

    /// The definition at the begin of a value from earlier regions.
    fn at_begin(&mut self, value: Value) -> Value {
        if let Some(begin_value) = self.begin[value] {
            return begin_value;
        }
        let split = self.split;
        let value_data = split.body.values[value];
        if let ValueDef::Const(bits) = value_data.definition {
            return self.function.constant(value_data.ty, bits);
        }
        if let (Some(_), Some(new_value)) = (split.input_index(value), self.value[value]) {
            return new_value;
        }
        let begin_value = match (self.slot_at_begin(value), value_data.definition) {
            (None, ValueDef::Result(instruction, index)) => {
                let inst_node = &split.body.insts[instruction];
                let mut inst_data = inst_node.data.clone();
                inst_data.map_args(|argument| self.at_begin(argument));
                let types: Vec<_> = inst_node.results.iter().map(|&operand| split.body.ty(operand)).collect();
                let new_inst = self.function.make_inst(inst_data, &types, inst_node.location);
                self.floating.push(new_inst);
                for (&old_value, &new_value) in inst_node.results.iter().zip(&self.function.insts[new_inst].results) {
                    self.begin[old_value] = Some(new_value);
                }
                self.function.insts[new_inst].results[index as usize]
            }
            (None, _) => unreachable!("{value} is live here, not kept, and not computed by an instruction"),
            (Some(live_slot), _) => {
                let new_inst =
                    self.function.make_inst(InstData::LiveLoad { live_slot }, &[value_data.ty], SourceLoc::default());
                self.floating.push(new_inst);
                self.function.single_result(new_inst)
            }
        };
        self.begin[value] = Some(begin_value);
        begin_value
    }

    /// Puts the definitions at the begin into blocks: the last one outside of cycles that dominates all
    /// uses, before the first of them. Those without uses vanish.
    fn place_definitions(&mut self, flow_graph: &Cfg, dominators: &Dominators) {
        if self.floating.is_empty() {
            return;
        }
        let mut floats: SecondaryMap<Value, bool> = SecondaryMap::new();
        for &instruction in &self.floating {
            self.function.insts[instruction].results.iter().for_each(|&value| floats[value] = true);
        }
        let mut user_blocks: SecondaryMap<Value, Vec<Block>> = SecondaryMap::new();
        for &block in &self.function.layout {
            let block_data = &self.function.blocks[block];
            let mut note_use = |value: Value| {
                if floats[value] && user_blocks[value].last() != Some(&block) {
                    user_blocks[value].push(block);
                }
            };
            block_data
                .insts
                .iter()
                .for_each(|&instruction| self.function.insts[instruction].data.for_each_arg(&mut note_use));
            block_data.terminator.for_each_arg(&mut note_use);
        }
        let cyclic = cyclic_blocks(flow_graph);
        // Users come before their operands, so that these know where they are used.
        for instruction in std::mem::take(&mut self.floating).into_iter().rev() {
            let results = self.function.insts[instruction].results.clone();
            let blocks = results.iter().flat_map(|&value| &user_blocks[value]).copied();
            let Some(mut block) = blocks.reduce(|first_block, other_block| {
                dominators.common_dominator(first_block, other_block).unwrap_or(first_block)
            }) else {
                continue;
            };
            while cyclic[block] {
                match dominators.immediate_dominator(block) {
                    Some(parent) => block = parent,
                    None => break,
                }
            }
            let position = self.first_use(block, &results);
            self.function.blocks[block].insts.insert(position, instruction);
            self.function.insts[instruction].data.for_each_arg(|argument| {
                if floats[argument] {
                    user_blocks[argument].push(block);
                }
            });
        }
    }

    /// Where in a block the first use of one of these values stands, or the first store to a live slot,
    /// which may be the one a value is loaded from.
    fn first_use(&self, block: Block, values: &[Value]) -> usize {
        let instructions = &self.function.blocks[block].insts;
        let stop =
            instructions.iter().position(|&instruction| has_to_follow(&self.function.insts[instruction].data, values));
        stop.unwrap_or(instructions.len())
    }
}

/// Whether an instruction stores to a live slot or uses one of some values.
fn has_to_follow(inst_data: &InstData, values: &[Value]) -> bool {
    let mut is_use = matches!(inst_data, InstData::LiveStore { .. });
    inst_data.for_each_arg(|argument| is_use |= values.contains(&argument));
    is_use
}

/// The dominance frontier of each block: where its dominance ends.
fn dominance_frontiers(flow_graph: &Cfg, dominators: &Dominators) -> SecondaryMap<Block, Vec<Block>> {
    let mut frontiers: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
    for &join_block in flow_graph.reverse_post_order() {
        if flow_graph.predecessors(join_block).len() < 2 {
            continue;
        }
        for &predecessor in flow_graph.predecessors(join_block) {
            let mut runner = Some(predecessor);
            while let Some(block) = runner.filter(|&block| Some(block) != dominators.immediate_dominator(join_block)) {
                if frontiers[block].last() != Some(&join_block) {
                    frontiers[block].push(join_block);
                }
                runner = dominators.immediate_dominator(block);
            }
        }
    }
    frontiers
}

/// The blocks that a path leads from back to themselves.
fn cyclic_blocks(flow_graph: &Cfg) -> SecondaryMap<Block, bool> {
    // Walking backwards from each block in the order in which a depth-first search left the blocks last
    // finds one strongly connected component at a time.
    let mut cyclic: SecondaryMap<Block, bool> = SecondaryMap::new();
    let mut assigned: SecondaryMap<Block, bool> = SecondaryMap::new();
    for &root in flow_graph.reverse_post_order() {
        if std::mem::replace(&mut assigned[root], true) {
            continue;
        }
        let mut component = vec![root];
        let mut next = 0;
        while let Some(&block) = component.get(next) {
            next += 1;
            for &predecessor in flow_graph.predecessors(block) {
                if flow_graph.is_reachable(predecessor) && !std::mem::replace(&mut assigned[predecessor], true) {
                    component.push(predecessor);
                }
            }
        }
        let is_cycle = component.len() > 1 || flow_graph.predecessors(root).contains(&root);
        component.into_iter().for_each(|block| cyclic[block] = is_cycle);
    }
    cyclic
}
