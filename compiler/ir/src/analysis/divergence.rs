//! Divergence: which values, branches and loops are the same for all work-items of a gang.
//!
//! Requires: a function in normal form (`Stage::Normalized`) and facts that hold of every launch that is to
//! run its code.
//! Ensures: a value's shape holds in all lanes that execute its definition together (in the same
//! iteration of every loop around it); a branch that is not in `divergent_branches` sends all lanes that
//! execute it together the same way; all lanes that together enter a loop that is not in
//! `divergent_loops` leave it together, through one exit. Programs with data races have no meaning: a
//! plain load is taken to give all lanes of one address the same.
//! Phases: from nothing known, the transfer functions of `shape` to a fixed point, block by block in
//! reverse post-order; a branch that turns out divergent has its joins and exits found (`joins`), whose
//! parameters then vary, and the blocks that depend on it run for some lanes only. For a whole kernel
//! ([`Facts::of_kernel`]) private slots are taken as uniform until a store, a copy or a use shows
//! otherwise, and kept values get the shapes of what regions store, until nothing changes.
//! Source: Moll 2021, chapters 6 and 10.

use super::affine_address::Roots;
use super::cfg::Cfg;
use super::loops::{Loop, Loops};
use super::returned_values::find_returned_values;
use super::shape::Shape;
use super::shape::transfer::{self, Known};
use super::specialization_candidates;
use super::spin_loops::may_wait;
use crate::ir::*;
use cranelift_entity::{EntitySet, SecondaryMap};
use lockstep_protocol::launch_facts::{LaunchFacts, MAX_GROUP_SIZE, MAX_INT_ID, ROW};
use lockstep_protocol::layout::Layout;
use lockstep_protocol::parameters::{Input, Param, ParamKind};
use lockstep_protocol::types::{Space, Type};
use lockstep_protocol::variables::Global;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

mod alloca_ssa;
mod found;
mod graph;
mod slots;

pub use found::Divergence;
use graph::Graph;

/// Where the program's promises about numbers, `nsw` and `nuw`, are believed. They bind lanes that go on to use the number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Promises {
    /// Everywhere: shapes hold in the lanes that use the value.
    Believed,
    /// Where no block of linearized code has a mask.
    WhereAllCome,
    /// Nowhere: shapes hold in all lanes.
    Ignored,
}

/// What is known of how a kernel's gangs run, beside its code.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Lanes of a gang: work-items consecutive along a dimension, the first at a multiple of this in its group; or rows
    /// of a tile. A power of two.
    pub width: u32,
    /// Which work-items are the lanes of a gang.
    pub layout: Layout,
    /// The lanes of a tile's row are compared, not those of a gang.
    of_runs: bool,
    /// A power of two that divides the first global id along it of every group (1 if nothing is known).
    pub group_align: u64,
    /// The greatest global id along any dimension.
    pub max_global_id: u64,
    /// Where `nsw` and `nuw` are believed.
    pub promises: Promises,
    /// What else holds of the launches.
    launch: LaunchFacts,
    /// The kernel's inputs, one bit each, that are pointers which the application passes.
    pointers: u32,
    /// All work-items of a group are compared, not the lanes of a gang.
    whole_group: bool,
    /// They may wait for each other.
    in_turns: bool,
    /// Nothing is taken to be the same in all lanes, and no value to follow from lane 0's: the weakest
    /// analysis, to compare with.
    pub all_vary: bool,
    /// The shapes of values kept between regions.
    pub live: SecondaryMap<LiveSlot, Shape>,
    /// Private slots that hold the same in all lanes of a gang whenever they are read, in all regions: the
    /// gang may share one.
    pub uniform_slots: EntitySet<Slot>,
    /// Live slots that no region was seen to store yet.
    unseen: EntitySet<LiveSlot>,
    inputs: Vec<Known>,
    /// What is known of what functions return.
    returned_values: Arc<ReturnedValues>,
    slots: SecondaryMap<Slot, SlotFacts>,
    locals: SecondaryMap<LocalVar, u64>,
    globals: SecondaryMap<Global, u64>,
}

/// The alignment of what a parameter leads to, as far as it says something of the address in all launches.
fn local_align(parameter: &Param) -> u64 {
    if parameter.kind == ParamKind::Local { parameter.align.into() } else { 1 }
}

impl Facts {
    /// The facts that hold of every launch of a kernel with gangs of `gang_width` work-items. Private slots and
    /// kept values are taken to vary, and so is what calls pass to a function.
    pub fn new(module: &Module, kernel: &Kernel, gang_width: u32) -> Facts {
        Facts::with_returned_values(module, kernel, gang_width, find_returned_values(module))
    }

    /// As [`Facts::new`], with what is known of the functions that the kernel calls.
    pub fn with_returned_values(
        module: &Module,
        kernel: &Kernel,
        gang_width: u32,
        returned_values: Arc<ReturnedValues>,
    ) -> Facts {
        let input = |&(input, input_type): &(Input, Type)| match input {
            Input::Value { param, .. } => Known::uniform(input_type, local_align(&kernel.params[param as usize])),
            Input::Address { .. } => Known::uniform(input_type, 1),
            Input::Passed { .. } => Known::varying(input_type),
        };
        let mut gang_facts = Facts {
            width: gang_width,
            layout: Layout::X,
            of_runs: false,
            group_align: 1,
            max_global_id: u64::MAX,
            promises: Promises::Believed,
            launch: LaunchFacts::default(),
            pointers: 0,
            whole_group: false,
            in_turns: false,
            all_vary: false,
            live: SecondaryMap::new(),
            uniform_slots: EntitySet::new(),
            unseen: EntitySet::new(),
            inputs: kernel.inputs.iter().map(input).collect(),
            returned_values,
            slots: SecondaryMap::new(),
            locals: SecondaryMap::with_default(1),
            globals: SecondaryMap::with_default(1),
        };
        gang_facts.see_slots(kernel);
        kernel
            .locals
            .iter()
            .for_each(|(local_variable, local_data)| gang_facts.locals[local_variable] = local_data.align.into());
        module.globals.iter().for_each(|(global, global_data)| gang_facts.globals[global] = global_data.align.into());
        gang_facts
    }

    /// The facts that hold of all work-items of a group: what has the shape of a uniform value is the same for all of
    /// them, in regions that they run one after the other too. Nothing has another stride, and private slots are not
    /// compared.
    pub fn of_groups(module: &Module, kernel: &Kernel) -> Facts {
        Facts { whole_group: true, in_turns: may_wait(kernel), ..Facts::new(module, kernel, 1) }
    }

    /// The facts of a function for calls that pass values of these shapes.
    pub fn with_passed(mut self, function: &Kernel, passed_shapes: &[Shape]) -> Facts {
        for ((known, &(_, input_type)), &shape) in self.inputs.iter_mut().zip(&function.inputs).zip(passed_shapes) {
            *known = match shape {
                Shape::Strided { stride: 0, align } => Known::uniform(input_type, align),
                _ => Known::of_shape(input_type, shape, self.width),
            };
        }
        self
    }

    /// The facts for gangs of another layout, of which nothing else is known yet.
    pub fn laid_out(self, layout: Layout) -> Facts {
        Facts { layout, ..self }
    }

    /// Given the facts of gangs that are tiles, those of their rows, which have `row_width` lanes. What has a shape by them has
    /// it in the lanes of each row, whichever lanes the program sends there.
    pub fn of_runs(&self, row_width: u32) -> Facts {
        let mut gang_facts = Facts {
            width: row_width,
            layout: Layout::X,
            of_runs: true,
            promises: Promises::WhereAllCome,
            ..self.clone()
        };
        // Of other values, lane 0 of a row is not aligned as lane 0 of the gang is.
        gang_facts.live.values_mut().filter(|shape| !shape.is_uniform()).for_each(|shape| *shape = Shape::Varying);
        gang_facts
    }

    /// The same of their columns, which have `row_count` lanes.
    pub fn of_columns(&self, row_count: u32) -> Facts {
        let group_align = if self.launch.zero_offset { self.launch.align_along(1) } else { 1 };
        let mut gang_facts = Facts { layout: Layout::Y, group_align, ..self.of_runs(row_count) };
        // These lie as the rows' lanes do.
        gang_facts.slots.values_mut().for_each(|slot| slot.element = None);
        gang_facts
    }

    /// Takes note of how private slots lie.
    pub fn see_slots(&mut self, kernel: &Kernel) {
        for (slot, slot_data) in &kernel.slots {
            let element = match slot_data.layout {
                SlotLayout::Interleaved { element, lanes } if lanes == self.width => Some(element),
                _ => None,
            };
            self.slots[slot] = SlotFacts { align: slot_data.align.into(), element };
        }
    }

    /// The facts with what holds of certain launches of the kernel.
    pub fn of_launch(mut self, kernel: &Kernel, launch_facts: &LaunchFacts) -> Facts {
        if launch_facts.zero_offset {
            self.group_align = launch_facts.align_along(self.layout.lane_dimension());
        }
        if launch_facts.ids_fit_int {
            self.max_global_id = MAX_INT_ID;
        }
        for (index, &(_, input_type)) in kernel.inputs.iter().enumerate() {
            if index < 32 && launch_facts.multiples >> index & 1 == 1 {
                self.inputs[index] = Known { max: input_type.value_mask() >> 1, ..Known::uniform(input_type, ROW) };
            }
        }
        self.launch = *launch_facts;
        self.pointers = specialization_candidates::find_global_pointers(kernel);
        self
    }

    /// What is known of the pointers that a region gets.
    pub fn root_facts(&self, function: &Function) -> Roots {
        let parameters = &function.blocks[function.entry_block()].params;
        let marked = |bits: u32| {
            (0..32).zip(parameters).filter(move |(bit, _)| bits >> bit & 1 == 1).map(|(_, &parameter)| parameter)
        };
        Roots { pointers: marked(self.pointers).collect(), apart: marked(self.launch.apart).collect() }
    }

    /// The greatest local id in a dimension.
    fn max_local_id(&self, dimension: usize) -> u64 {
        u64::from(self.launch.local_size(dimension).unwrap_or(MAX_GROUP_SIZE)) - 1
    }

    /// The facts with what the code of all regions, in normal form, says about slots and kept values.
    pub fn of_kernel(mut self, kernel: &Kernel) -> Facts {
        if !self.all_vary && !self.whole_group {
            slots::private_only(kernel, &mut self.uniform_slots);
        }
        if self.uniform_slots.is_empty() && kernel.live.is_empty() {
            return self;
        }
        let graphs: Vec<Graph<'_>> = kernel.regions.values().map(Graph::of_function).collect();
        kernel.live.keys().for_each(|live_slot| {
            self.unseen.insert(live_slot);
        });
        // Each work-item finds another value than the one that it put there.
        for combine in kernel.combines.values().flatten().filter(|combine| combine.collective != Collect::Reduce) {
            self.unseen.remove(combine.live_slot);
            self.live[combine.live_slot] = Shape::Varying;
        }
        let states = alloca_ssa::compute_slot_states(kernel, &graphs);
        loop {
            let mut changed = false;
            for (graph, states) in graphs.iter().zip(&states) {
                let divergence = solve_divergence(graph, &self);
                changed |= slots::drop_varying(graph, &divergence, states, &mut self.uniform_slots);
                changed |= self.see_stores(kernel, graph.function, &divergence);
            }
            if !changed {
                self.unseen.clear();
                return self;
            }
        }
    }

    /// Adds what a region keeps for others.
    fn see_stores(&mut self, kernel: &Kernel, function: &Function, divergence: &Divergence) -> bool {
        let mut changed = false;
        for &block in &function.layout {
            for &instruction in &function.blocks[block].insts {
                let InstData::LiveStore { live_slot, argument } = function.insts[instruction].data else { continue };
                // Where only some lanes store, the others keep another value.
                let for_some_lanes = divergence.divergent_blocks.contains(block);
                let stored = if for_some_lanes { Shape::Varying } else { divergence.shapes[argument] };
                // Work-items that have arrived at a barrier agree on which one.
                let agreed = kernel.live[live_slot].shared && !self.all_vary && !stored.is_uniform();
                let stored = if agreed { Shape::uniform(1) } else { stored };
                let joined = if self.unseen.contains(live_slot) { stored } else { self.live[live_slot].join(stored) };
                changed |= self.unseen.remove(live_slot) || joined != self.live[live_slot];
                self.live[live_slot] = joined;
            }
        }
        changed
    }
}

/// What is known of a slot's address.
#[derive(Clone, Copy, Debug, Default)]
struct SlotFacts {
    align: u64,
    /// Bytes from one lane's address to the next one's, if the slot is interleaved.
    element: Option<u32>,
}

/// Computes the divergence of a function.
pub fn analyze_divergence(
    function: &Function,
    gang_facts: &Facts,
    flow_graph: &Cfg,
    loop_forest: &Loops,
) -> Divergence {
    let graph = Graph::with_loops(function, flow_graph.clone(), loop_forest.clone());
    solve_divergence(&graph, gang_facts)
}

fn solve_divergence(graph: &Graph<'_>, gang_facts: &Facts) -> Divergence {
    let function = graph.function;
    let mut solver = Solver {
        graph,
        function,
        facts: gang_facts,
        known: SecondaryMap::new(),
        home: SecondaryMap::new(),
        users: SecondaryMap::new(),
        dirty: (0..graph.cfg.reverse_post_order().len() as u32).collect(),
        temporal: HashMap::new(),
        found: Divergence::default(),
    };
    solver.mark_used_values();
    while let Some(number) = solver.dirty.pop_first() {
        solver.visit_block(graph.cfg.reverse_post_order()[number as usize]);
    }
    for (value, known) in solver.known.iter() {
        if let Some(value_facts) = known {
            solver.found.shapes[value] = value_facts.shape;
            if value_facts.signed {
                solver.found.signed_lines.insert(value);
            }
            if value_facts.unsigned {
                solver.found.unsigned_lines.insert(value);
            }
        }
    }
    solver.found
}

struct Solver<'a> {
    graph: &'a Graph<'a>,
    function: &'a Function,
    facts: &'a Facts,
    /// `None`: never computed, in no lane.
    known: SecondaryMap<Value, Option<Known>>,
    home: SecondaryMap<Value, Option<Block>>,
    /// The blocks that use a value, or pass it on.
    users: SecondaryMap<Value, Vec<Block>>,
    /// Places in reverse post-order of the blocks to look at again.
    dirty: BTreeSet<u32>,
    /// The loops for which an exit is temporally divergent.
    temporal: HashMap<Block, Vec<Loop>>,
    found: Divergence,
}

impl Solver<'_> {
    fn mark_used_values(&mut self) {
        for (value, value_data) in &self.function.values {
            if let ValueDef::Const(bits) = value_data.definition {
                self.known[value] = Some(Known::constant(value_data.ty, bits));
            }
        }
        for &block in self.graph.cfg.reverse_post_order() {
            let block_data = &self.function.blocks[block];
            block_data.params.iter().for_each(|&parameter| self.home[parameter] = Some(block));
            for &instruction in &block_data.insts {
                let inst_node = &self.function.insts[instruction];
                inst_node.results.iter().for_each(|&result| self.home[result] = Some(block));
                inst_node.data.for_each_arg(|argument| self.note_use(argument, block));
            }
            if let Some(selector) = block_data.terminator.selector() {
                self.note_use(selector, block);
            }
            for target in block_data.terminator.targets() {
                target.arguments.iter().for_each(|&argument| self.note_use(argument, target.block));
            }
        }
        let entry_block = self.function.entry_block();
        for (index, &parameter) in self.function.blocks[entry_block].params.iter().enumerate() {
            let parameter_type = self.function.ty(parameter);
            let value_facts = self.facts.inputs.get(index).copied().unwrap_or(Known::uniform(parameter_type, 1));
            self.known[parameter] =
                Some(if self.facts.all_vary { Known::varying(parameter_type) } else { value_facts });
        }
    }

    fn note_use(&mut self, value: Value, block: Block) {
        if self.users[value].last() != Some(&block) {
            self.users[value].push(block);
        }
    }

    fn queue_block(&mut self, block: Block) {
        self.dirty.extend(self.graph.cfg.rpo_number(block));
    }

    /// Learns more of what a value may be.
    fn update_value(&mut self, value: Value, new_facts: Known) {
        let joined = self.known[value].map_or(new_facts, |previous| previous.join(new_facts));
        if self.known[value] != Some(joined) {
            self.known[value] = Some(joined);
            for index in 0..self.users[value].len() {
                self.queue_block(self.users[value][index]);
            }
        }
    }

    fn visit_block(&mut self, block: Block) {
        let function = self.function;
        if block != function.entry_block() {
            self.visit_params(block);
        }
        for &instruction in &function.blocks[block].insts {
            self.visit_inst(instruction);
        }
        let varies = |value: Value| self.known[value].is_some_and(|value_facts| !value_facts.shape.is_uniform());
        if function.blocks[block].terminator.selector().is_some_and(varies)
            && self.found.divergent_branches.insert(block)
        {
            self.visit_divergent_branch(block);
        }
    }

    /// What follows from a branch that sends lanes different ways.
    fn visit_divergent_branch(&mut self, branch: Block) {
        let graph = self.graph;
        let effects = graph.walks.borrow_mut().control_divergence(&graph.cfg, &graph.loops, branch);
        for &block in &effects.joins {
            if self.found.joins.insert(block) {
                self.queue_block(block);
            }
        }
        for &(loop_id, exit_block) in &effects.temporal {
            if self.found.temporal.insert((loop_id, exit_block)) {
                self.temporal.entry(exit_block).or_default().push(loop_id);
                self.queue_block(exit_block);
            }
        }
        let mut worklist = vec![branch];
        for &loop_id in &effects.loops {
            if !self.found.divergent_loops.insert(loop_id) {
                continue;
            }
            // Also what all lanes come through, if in different iterations.
            for &block in &self.graph.loops.get(loop_id).blocks {
                if self.found.divergent_blocks.insert(block) && self.graph.cfg.successors(block).len() > 1 {
                    worklist.push(block);
                }
            }
        }
        while let Some(source) = worklist.pop() {
            let end_block = self.graph.post.immediate_post_dominator(source);
            for &successor in self.graph.cfg.successors(source) {
                let mut next = Some(successor);
                while let Some(block) = next.filter(|_| next != end_block) {
                    if self.found.divergent_blocks.insert(block) && self.graph.cfg.successors(block).len() > 1 {
                        worklist.push(block);
                    }
                    next = self.graph.post.immediate_post_dominator(block);
                }
            }
        }
    }

    fn visit_params(&mut self, block: Block) {
        let function = self.function;
        let is_join = self.found.joins.contains(block);
        for (index, &parameter) in function.blocks[block].params.iter().enumerate() {
            let mut result: Option<Known> = None;
            let mut first_argument = None;
            let mut all_same = true;
            let mut predecessors = self.graph.cfg.predecessors(block).to_vec();
            predecessors.dedup();
            for predecessor in predecessors {
                if !self.graph.cfg.is_reachable(predecessor) {
                    continue;
                }
                for target in
                    function.blocks[predecessor].terminator.targets().into_iter().filter(|target| target.block == block)
                {
                    let argument = target.arguments[index];
                    let Some(value_facts) = self.passed_along(predecessor, block, argument) else { continue };
                    all_same &= *first_argument.get_or_insert(argument) == argument;
                    result = Some(result.map_or(value_facts, |joined| joined.join(value_facts)));
                }
            }
            let Some(mut value_facts) = result else { continue };
            let parameter_type = function.ty(parameter);
            if is_join && !all_same {
                value_facts = Known::varying(parameter_type);
            }
            // Bounds would grow around loops, step by step.
            if self.graph.loops.with_header(block).is_some() && value_facts.bits.is_none() {
                value_facts.max = parameter_type.value_mask();
            }
            self.update_value(parameter, value_facts);
        }
    }

    /// An argument as lanes see it behind an edge.
    fn passed_along(&self, source: Block, target: Block, argument: Value) -> Option<Known> {
        let value_facts = self.known[argument]?;
        let Some(home_block) = self.home[argument] else { return Some(value_facts) };
        let left = self.temporal.get(&target).into_iter().flatten();
        let loop_forest = &self.graph.loops;
        let late = left
            .copied()
            .any(|loop_id| loop_forest.contains(loop_id, source) && loop_forest.contains(loop_id, home_block));
        Some(if late {
            Known { max: value_facts.max, ..Known::varying(self.function.ty(argument)) }
        } else {
            value_facts
        })
    }

    fn visit_inst(&mut self, instruction: Inst) {
        let function = self.function;
        let inst_node = &function.insts[instruction];
        let mut all_known = true;
        inst_node.data.for_each_arg(|argument| all_known &= self.known[argument].is_some());
        if !all_known {
            return;
        }
        let Some(&result) = inst_node.results.first() else { return };
        let result_type = function.ty(result);
        if self.facts.all_vary && !inst_node.data.asks_lanes() {
            return inst_node
                .results
                .iter()
                .for_each(|&value| self.update_value(value, Known::varying(function.ty(value))));
        }
        let gang_width = self.facts.width;
        let facts_of = |value: Value| self.known[value].unwrap_or(Known::varying(function.ty(value)));
        let value_facts = match &inst_node.data {
            // Code has these as vectors.
            InstData::CallHost { .. } | InstData::Unary { opcode: UnaryOp::SpaceOf, .. } if self.facts.of_runs => {
                Known::varying(result_type)
            }
            InstData::Unary { opcode, argument, .. } => {
                transfer::transfer_unary(*opcode, function.ty(*argument), result_type, facts_of(*argument), gang_width)
            }
            InstData::Binary { opcode, flags, arguments: [left, right], .. } => {
                let masked = self.home[result].is_some_and(|block| function.masks[block].is_some());
                let believed = match self.facts.promises {
                    Promises::Believed => true,
                    Promises::WhereAllCome => !masked,
                    Promises::Ignored => false,
                };
                let flags = if believed { *flags } else { IntFlags::default() };
                transfer::transfer_binary(*opcode, flags, result_type, facts_of(*left), facts_of(*right), gang_width)
            }
            InstData::Ternary { opcode: TernaryOp::Select, arguments: [condition, left, right], .. } => {
                let either = facts_of(*left).join(facts_of(*right));
                match facts_of(*condition).shape.is_uniform() || left == right {
                    true => either,
                    false => Known { max: either.max, ..Known::varying(result_type) },
                }
            }
            InstData::Icmp { comparison, arguments: [left, right] } => {
                transfer::transfer_icmp(*comparison, facts_of(*left), facts_of(*right), gang_width)
            }
            InstData::PtrAdd { base, offset, .. } => transfer::ptr_add(facts_of(*base), facts_of(*offset), gang_width),
            InstData::Load { pointer, access, .. } => {
                // Whoever waits for others finds what they wrote, and others of the group may have found something else.
                let may_change = self.facts.in_turns && !matches!(function.ty(*pointer), Type::Ptr(Space::Constant));
                let same =
                    facts_of(*pointer).shape.is_uniform() && !access.volatile && access.atomic.is_none() && !may_change;
                for &each in &inst_node.results {
                    self.update_value(
                        each,
                        if same { Known::uniform(result_type, 1) } else { Known::varying(result_type) },
                    );
                }
                return;
            }
            InstData::Query { query, dimension } => self.known_of_query(*query, *dimension, result_type),
            InstData::SlotAddr { slot } if self.facts.uniform_slots.contains(*slot) => {
                Known::uniform(result_type, self.facts.slots[*slot].align)
            }
            InstData::SlotAddr { slot } => match self.facts.slots[*slot].element {
                Some(element) => {
                    let shape = Shape::Strided { stride: element.into(), align: element.into() };
                    Known::of_shape(result_type, shape, gang_width)
                }
                None => Known::varying(result_type),
            },
            InstData::LocalAddr { local } => Known::uniform(result_type, self.facts.locals[*local]),
            InstData::GlobalAddr { global } => Known::uniform(result_type, self.facts.globals[*global]),
            InstData::LiveLoad { live_slot } if self.facts.unseen.contains(*live_slot) => return,
            InstData::LiveLoad { live_slot } => Known::of_shape(result_type, self.facts.live[*live_slot], gang_width),
            InstData::Ternary { arguments, .. } => transfer::transfer_generic(result_type, &arguments.map(facts_of)),
            InstData::Fcmp { arguments, .. } => transfer::transfer_generic(result_type, &arguments.map(facts_of)),
            InstData::CallHost { arguments, .. } => transfer::transfer_generic(
                result_type,
                &arguments.iter().map(|&argument| facts_of(argument)).collect::<Vec<_>>(),
            ),
            // Each lane gets its own answer.
            InstData::AtomicRmw { .. } | InstData::AtomicCas { .. } | InstData::Printf { .. } => {
                Known::varying(result_type)
            }
            InstData::Call { callee, arguments } => {
                // Code has these of rows as vectors, and whoever waits for others may find what they wrote.
                let may_vary = self.facts.of_runs || self.facts.in_turns;
                let returned_value = &self.facts.returned_values[*callee];
                let known_results: Vec<Known> = (0..)
                    .zip(&inst_node.results)
                    .map(|(result_index, &each)| {
                        let is_uniform_input = |input: usize| facts_of(arguments[input]).shape.is_uniform();
                        match !may_vary && returned_value.is_uniform(result_index, is_uniform_input) {
                            true => Known::uniform(function.ty(each), 1),
                            false => Known::varying(function.ty(each)),
                        }
                    })
                    .collect();
                for (&each, known) in inst_node.results.iter().zip(known_results) {
                    self.update_value(each, known);
                }
                return;
            }
            // Gangs of a group answer differently, and look at the clock at different times.
            inst_data
                if self.facts.whole_group && (inst_data.needs_lanes() || matches!(inst_data, InstData::Clock)) =>
            {
                Known::varying(result_type)
            }
            // One answer for all lanes.
            InstData::Any { .. } | InstData::Ballot { .. } | InstData::LaneOf { .. } => Known::uniform(result_type, 1),
            InstData::Clock | InstData::Combined => Known::uniform(result_type, 1),
            InstData::Shuffle { argument, lane }
                if [*argument, *lane].iter().any(|&value| facts_of(value).shape.is_uniform()) =>
            {
                Known { max: facts_of(*argument).max, ..Known::uniform(result_type, 1) }
            }
            inst_data @ InstData::Across { .. } if inst_data.asks_lanes() => Known::uniform(result_type, 1),
            InstData::Shuffle { .. } | InstData::Across { .. } => Known::varying(result_type),
            InstData::Put { .. } => Known::varying(result_type),
            // No results.
            InstData::Store { .. }
            | InstData::MemCopy { .. }
            | InstData::MemSet { .. }
            | InstData::Fence { .. }
            | InstData::Barrier
            | InstData::GangBarrier
            | InstData::Yield
            | InstData::Collective { .. }
            | InstData::CountIterations { .. }
            | InstData::SetResults { .. }
            | InstData::LiveStore { .. } => return,
        };
        self.update_value(result, value_facts);
        for &other in &inst_node.results[1..] {
            self.update_value(other, Known::varying(function.ty(other)));
        }
    }

    fn known_of_query(&self, query: Query, dimension: u8, result_type: Type) -> Known {
        let gang_facts = self.facts;
        let gang_width = u64::from(gang_facts.width);
        let axis = usize::from(dimension);
        let id_facts = |alignment: u64, maximum: u64| {
            let contiguous = Known::of_shape(result_type, Shape::contiguous(alignment), gang_facts.width);
            let signed = contiguous.signed || maximum <= i64::MAX as u64;
            Known { max: maximum.into(), unsigned: true, signed, ..contiguous }
        };
        let uniform = |alignment: u64, maximum: u64| Known {
            max: u128::from(maximum).min(result_type.value_mask()),
            ..Known::uniform(result_type, alignment)
        };
        if gang_facts.whole_group && matches!(query, Query::LocalId | Query::GlobalId | Query::LinearId) {
            let is_alone = query != Query::LinearId && gang_facts.launch.local_size(axis) == Some(1);
            return if is_alone { uniform(1, gang_facts.max_global_id) } else { Known::varying(result_type) };
        }
        if gang_facts.layout == Layout::Linear && matches!(query, Query::LocalId | Query::GlobalId) {
            return Known::varying(result_type);
        }
        if gang_facts.layout == Layout::Tile && axis < 2 {
            match query {
                Query::LocalId => {
                    return Known { max: gang_facts.max_local_id(axis).into(), ..Known::varying(result_type) };
                }
                Query::GlobalId => {
                    return Known { max: gang_facts.max_global_id.into(), ..Known::varying(result_type) };
                }
                _ => {}
            }
        }
        let max_size = gang_facts.max_global_id.saturating_add(1);
        let row_align = gang_facts.launch.align_along(axis);
        let known_size = gang_facts.launch.local_size(axis).map(|size| Known::constant(result_type, size.into()));
        let full_groups = gang_facts.launch.full_groups;
        match query {
            Query::LocalId if axis == gang_facts.layout.lane_dimension() => {
                id_facts(gang_width, gang_facts.max_local_id(axis))
            }
            Query::GlobalId if axis == gang_facts.layout.lane_dimension() => {
                id_facts(gang_facts.group_align.min(gang_width), gang_facts.max_global_id)
            }
            Query::LocalId => uniform(1, gang_facts.max_local_id(axis)),
            Query::GlobalId | Query::GroupId => uniform(1, gang_facts.max_global_id),
            Query::LinearId => {
                let last_id =
                    (0..3).map(|axis| gang_facts.max_local_id(axis) + 1).product::<u64>().min(MAX_GROUP_SIZE.into())
                        - 1;
                let lies_in_row = gang_facts.launch.align_along(0) >= gang_width || gang_facts.launch.is_one_row();
                match gang_facts.layout {
                    Layout::Linear | Layout::Tile => id_facts(gang_width, last_id),
                    Layout::X => id_facts(
                        if full_groups && lies_in_row || gang_facts.launch.is_one_row() { gang_width } else { 1 },
                        last_id,
                    ),
                    Layout::Y | Layout::Z => Known { max: last_id.into(), ..Known::varying(result_type) },
                }
            }
            Query::LocalSize if !full_groups => uniform(1, gang_facts.max_local_id(axis) + 1),
            Query::LocalSize | Query::EnqueuedLocalSize => {
                known_size.unwrap_or(uniform(row_align, gang_facts.max_local_id(axis) + 1))
            }
            Query::GlobalSize => uniform(if full_groups { row_align } else { 1 }, max_size),
            Query::NumGroups => uniform(1, max_size),
            Query::GlobalOffset if gang_facts.launch.zero_offset => Known::constant(result_type, 0),
            Query::GlobalOffset => uniform(1, gang_facts.max_global_id),
            Query::WorkDim => uniform(1, 3),
        }
    }
}
