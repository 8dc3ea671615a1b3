//! The merged code in the place of both sides.
//!
//! Merged instructions stand in the branch's block and, where sides have several blocks, in one for each pair. Between them
//! stands what stays of one side: for all lanes if it only computes, else in a block for the lanes of its side:
//!
//! ```text
//! a:  br c, b, d               a:     x = select c, x1, x2;  t = op x
//! b:  t1 = op x1               =>     br c, b', d'
//!     store t1 to p            b':    store t to p;  jump rest
//!     u1 = op' t1;  jump j(u1) d':    jump rest
//! d:  t2 = op x2               rest:  u = op' t;  jump j(u)
//!     u2 = op' t2;  jump j(u2)
//! ```
//!
//! Requires: sides, and an alignment of each of their pairs of blocks.
//! Ensures: valid SSA in which no block of either side is left; each lane computes what its side did, in its order. Where lanes of both
//! sides run what only one has, it has no effect and nothing of it is used in the other's lanes.
//! Phases: what values of one side's blocks are asked for elsewhere; parameters; then pair by pair the steps of the alignment and the end.
//! Source: Coutinho et al. 2011, section 4.1, paragraph c.

use super::alignment::Step;
use super::arms::{Arms, BlockPair};
use super::merging::clear_wrap_promises;
use super::scoring::{Alignment, MergedPair, SideCosts, needs_mask};
use crate::ir::*;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use std::collections::{HashMap, HashSet};

/// What stays of one side at one place from which on it has a block of its own, which may have a gate, even if it only
/// computes.
const MOST_FOR_ALL: u64 = 80;

/// Puts merged code in the place of both sides of a branch, which are in no block's way any more.
pub fn merge_sides(function: &mut Function, arms: &Arms, alignment: &Alignment, costs: &SideCosts) {
    let mut rewriter = Rewriter {
        wanted: Wanted::find_wanted(function, arms, alignment),
        own_values: arms.find_own_values(function),
        function,
        arms,
        alignment,
        costs,
        stand_ins: SecondaryMap::new(),
        pairs: HashMap::new(),
        selects: HashMap::new(),
        selects_before: HashMap::new(),
        merged_blocks: HashMap::new(),
        block: arms.branch_block,
    };
    rewriter.bind_first_parameters();
    rewriter.make_blocks();
    for (number, &pair) in arms.pairs.iter().enumerate() {
        rewriter.merge_pair(number, pair);
    }
    let mut gone = EntitySet::new();
    arms.pairs.iter().flat_map(|pair| [pair.then_block, pair.else_block]).for_each(|block| _ = gone.insert(block));
    function.layout.retain(|&block| !gone.contains(block));
}

/// What merged code asks for of what stays in blocks of one side.
#[derive(Default)]
struct Wanted {
    /// Values of both sides of which each lane takes its own.
    pairs: Vec<(Value, Value)>,
    /// The pairs of which a value is a part, by their numbers.
    pairs_of: HashMap<Value, Vec<usize>>,
    /// The instructions that stay of one side and use a value; nothing stands for the end of a block.
    single_users: HashMap<Value, Vec<Option<Inst>>>,
}

impl Wanted {
    fn find_wanted(function: &Function, arms: &Arms, alignment: &Alignment) -> Wanted {
        let mut wanted = Wanted::default();
        let mut seen = HashSet::new();
        for (pair, steps) in arms.pairs.iter().zip(&alignment.steps) {
            let insts = [pair.then_block, pair.else_block].map(|block| &function.blocks[block].insts);
            for &step in steps {
                match step {
                    Step::Both(i, _) => {
                        let operands = alignment.merges.get(&insts[0][i]).map(|merged| &merged.operands);
                        operands.into_iter().flatten().for_each(|&pair| wanted.add_pair(&mut seen, alignment, pair));
                    }
                    Step::Then(i) => wanted.add_singles(function, insts[0][i]),
                    Step::Else(j) => wanted.add_singles(function, insts[1][j]),
                }
            }
            let terminators = [pair.then_block, pair.else_block].map(|block| &function.blocks[block].terminator);
            let asked = terminators[0].selector().zip(terminators[1].selector());
            asked.into_iter().for_each(|pair| wanted.add_pair(&mut seen, alignment, pair));
            for (then_target, else_target) in terminators[0].targets().iter().zip(terminators[1].targets().iter()) {
                let edge = Edge::between(function, arms, alignment, then_target, else_target);
                for argument in edge.arguments {
                    match argument {
                        Argument::Both(then_value, else_value) => {
                            wanted.add_pair(&mut seen, alignment, (then_value, else_value));
                        }
                        Argument::One(value) => wanted.single_users.entry(value).or_default().push(None),
                    }
                }
            }
        }
        wanted
    }

    fn add_pair(&mut self, seen: &mut HashSet<(Value, Value)>, alignment: &Alignment, pair: (Value, Value)) {
        if alignment.is_one(pair.0, pair.1) || !seen.insert(pair) {
            return;
        }
        for value in [pair.0, pair.1] {
            self.pairs_of.entry(value).or_default().push(self.pairs.len());
        }
        self.pairs.push(pair);
    }

    fn add_singles(&mut self, function: &Function, inst: Inst) {
        function.insts[inst]
            .data
            .for_each_arg(|operand| self.single_users.entry(operand).or_default().push(Some(inst)));
    }
}

/// What a merged block hands over to the next one.
struct Edge {
    arguments: Vec<Argument>,
}

/// What a parameter of a merged block gets.
enum Argument {
    /// Each lane gets that of its side.
    Both(Value, Value),
    /// Only lanes of one side use it.
    One(Value),
}

impl Edge {
    /// The arguments in the order of the merged block's parameters: those that are one, those of the first side, those of the
    /// other.
    fn between(
        function: &Function,
        arms: &Arms,
        alignment: &Alignment,
        then_target: &BlockCall,
        else_target: &BlockCall,
    ) -> Edge {
        let both = |(&then_value, &else_value): (&Value, &Value)| Argument::Both(then_value, else_value);
        if then_target.block == arms.join {
            return Edge { arguments: then_target.arguments.iter().zip(&else_target.arguments).map(both).collect() };
        }
        let params = merged_params(function, alignment, then_target.block, else_target.block);
        let argument_of = |target: &BlockCall, param: Value| {
            let index = function.blocks[target.block].params.iter().position(|&other| other == param);
            index.and_then(|index| target.arguments.get(index).copied())
        };
        let arguments = params.into_iter().filter_map(|param| match param {
            Argument::Both(then_param, else_param) => {
                Some(Argument::Both(argument_of(then_target, then_param)?, argument_of(else_target, else_param)?))
            }
            Argument::One(param) => {
                argument_of(then_target, param).or_else(|| argument_of(else_target, param)).map(Argument::One)
            }
        });
        Edge { arguments: arguments.collect() }
    }
}

/// The parameters of what a pair of blocks becomes.
fn merged_params(function: &Function, alignment: &Alignment, then_block: Block, else_block: Block) -> Vec<Argument> {
    let [then_params, else_params] = [then_block, else_block].map(|block| &function.blocks[block].params);
    let (mut both, mut single) = (Vec::new(), Vec::new());
    let mut taken = EntitySet::new();
    for &then_param in then_params {
        match alignment.partners.get(&then_param) {
            Some(&else_param) => {
                taken.insert(else_param);
                both.push(Argument::Both(then_param, else_param));
            }
            None => single.push(Argument::One(then_param)),
        }
    }
    single.extend(else_params.iter().filter(|&&param| !taken.contains(param)).map(|&param| Argument::One(param)));
    both.extend(single);
    both
}

/// What stays of both sides between two merged instructions.
#[derive(Default)]
struct Stays {
    then_insts: Vec<Inst>,
    else_insts: Vec<Inst>,
}

impl Stays {
    fn contains(&self, inst: Inst) -> bool {
        self.then_insts.contains(&inst) || self.else_insts.contains(&inst)
    }
}

/// What a pair of blocks becomes.
struct MergedBlock {
    block: Block,
    /// The parameters of both sides with what stands for each.
    params: Vec<(Value, Value)>,
}

struct Rewriter<'a> {
    function: &'a mut Function,
    arms: &'a Arms,
    alignment: &'a Alignment,
    costs: &'a SideCosts,
    wanted: Wanted,
    /// What stands for values of the sides in merged code.
    stand_ins: SecondaryMap<Value, PackedOption<Value>>,
    /// The values of the sides.
    own_values: EntitySet<Value>,
    /// Parameters that are, in each lane, the value of its side.
    pairs: HashMap<(Value, Value), Value>,
    /// The same as selects of the pair of blocks that is being merged.
    selects: HashMap<(Value, Value), Value>,
    /// The same of values that the sides do not compute: before all that they do.
    selects_before: HashMap<(Value, Value), Value>,
    /// What pairs of blocks become, by the first side's.
    merged_blocks: HashMap<Block, MergedBlock>,
    /// The block that grows.
    block: Block,
}

impl Rewriter<'_> {
    /// What the branch hands over to its first blocks stands for their parameters.
    fn bind_first_parameters(&mut self) {
        let branch = self.function.blocks[self.arms.branch_block].terminator.clone();
        for target in branch.targets() {
            for (&param, &value) in self.function.blocks[target.block].params.iter().zip(&target.arguments) {
                self.stand_ins[param] = value.into();
            }
        }
    }

    fn make_blocks(&mut self) {
        for &BlockPair { then_block, else_block } in self.arms.pairs.iter().skip(1) {
            let block = self.function.add_block();
            let mut params = Vec::new();
            for param in merged_params(self.function, self.alignment, then_block, else_block) {
                let sources = match param {
                    Argument::Both(then_param, else_param) => vec![then_param, else_param],
                    Argument::One(param) => vec![param],
                };
                let value = self.function.add_param(block, self.function.ty(sources[0]));
                params.extend(sources.into_iter().map(|source| (source, value)));
            }
            self.merged_blocks.insert(then_block, MergedBlock { block, params });
        }
    }

    /// What stands for a value where lanes of its side are.
    fn stand_in(&self, value: Value) -> Value {
        self.stand_ins[value].expand().unwrap_or(value)
    }

    /// Whether a value can be used in the block that grows.
    fn is_there(&self, value: Value) -> bool {
        !self.own_values.contains(value) || self.stand_ins[value].is_some()
    }

    /// What each lane has of two values: that of its side.
    fn value_of_pair(&mut self, then_value: Value, else_value: Value) -> Value {
        if let Some(&value) = self.pairs.get(&(then_value, else_value)) {
            return value;
        }
        let [if_true, if_false] = [then_value, else_value].map(|value| self.stand_in(value));
        if if_true == if_false {
            return if_true;
        }
        let is_before = [then_value, else_value].iter().all(|&value| !self.own_values.contains(value));
        let (selects, block) = match is_before {
            true => (&mut self.selects_before, self.arms.branch_block),
            false => (&mut self.selects, self.block),
        };
        let condition = self.arms.condition;
        *selects.entry((if_true, if_false)).or_insert_with(|| {
            Builder::at_end_of(self.function, block).ternary(TernaryOp::Select, condition, if_true, if_false)
        })
    }

    fn merge_pair(&mut self, number: usize, pair: BlockPair) {
        let BlockPair { then_block, else_block } = pair;
        if let Some(MergedBlock { block, params }) = self.merged_blocks.get(&then_block) {
            self.block = *block;
            params.iter().for_each(|&(source, param)| self.stand_ins[source] = param.into());
        }
        self.selects.clear();
        let insts = [then_block, else_block].map(|block| self.function.blocks[block].insts.clone());
        let mut stays = Stays::default();
        let alignment = self.alignment;
        for &step in alignment.steps.get(number).into_iter().flatten() {
            match step {
                Step::Then(i) => stays.then_insts.push(insts[0][i]),
                Step::Else(j) => stays.else_insts.push(insts[1][j]),
                Step::Both(i, _) => {
                    self.put_what_stays(std::mem::take(&mut stays));
                    if let Some(merged) = alignment.merges.get(&insts[0][i]) {
                        self.put_merged(insts[0][i], merged);
                    }
                }
            }
        }
        self.put_what_stays(stays);
        self.end_block(pair);
    }

    fn put_merged(&mut self, then_inst: Inst, merged: &MergedPair) {
        let operands: Vec<Value> = merged
            .operands
            .iter()
            .map(|&(then_value, else_value)| self.value_of_pair(then_value, else_value))
            .collect();
        let mut operands = operands.into_iter();
        let mut data = merged.data.clone();
        data.map_args(|blank| operands.next().unwrap_or(blank));
        let [then_node, else_node] = [then_inst, merged.else_inst].map(|inst| &self.function.insts[inst]);
        let location = if then_node.location.line != 0 { then_node.location } else { else_node.location };
        let results = [then_node.results.clone(), else_node.results.clone()];
        self.put_inst(data, location, &results.each_ref().map(Vec::as_slice));
    }

    /// Appends an instruction whose results stand for those of one or two others.
    fn put_inst(&mut self, data: InstData, location: SourceLoc, sources: &[&[Value]]) {
        let types: Vec<_> = sources[0].iter().map(|&value| self.function.ty(value)).collect();
        let inst = self.function.append_inst(self.block, data, &types, location);
        let results = self.function.insts[inst].results.clone();
        for source in sources {
            for (&value, &result) in source.iter().zip(&results) {
                self.stand_ins[value] = result.into();
            }
        }
    }

    /// Puts what stays of both sides: for all lanes, or in a block for each side.
    fn put_what_stays(&mut self, stays: Stays) {
        let Stays { then_insts, else_insts } = &stays;
        let insts = || then_insts.iter().chain(else_insts).copied();
        let cost_of = |insts: &[Inst]| insts.iter().map(|&inst| self.costs.cost_of(inst)).sum::<u64>();
        let is_for_all = !insts().any(|inst| needs_mask(&self.function.insts[inst].data))
            && cost_of(then_insts).max(cost_of(else_insts)) <= MOST_FOR_ALL;
        if is_for_all {
            insts().for_each(|inst| self.put_single(inst, true));
        } else {
            self.put_side_blocks(&stays);
        }
    }

    /// Appends an instruction of one side. Where lanes of the other side run it too, nothing is promised of theirs.
    fn put_single(&mut self, inst: Inst, is_for_all: bool) {
        let mut data = self.function.insts[inst].data.clone();
        if is_for_all {
            clear_wrap_promises(&mut data);
        }
        data.map_args(|operand| self.stand_in(operand));
        let InstNode { location, results, .. } = self.function.insts[inst].clone();
        self.put_inst(data, location, &[&results]);
    }

    fn put_side_blocks(&mut self, stays: &Stays) {
        let [then_block, else_block, rest] = [(); 3].map(|()| self.function.add_block());
        let condition = self.arms.condition;
        Builder::at_end_of(self.function, self.block).branch(condition, (then_block, &[]), (else_block, &[]));
        let mut values = Vec::new();
        for (block, insts) in [(then_block, &stays.then_insts), (else_block, &stays.else_insts)] {
            self.block = block;
            for &inst in insts {
                self.put_single(inst, false);
                values.extend(self.function.insts[inst].results.iter().copied());
            }
        }
        let mut handed_over = HandedOver::default();
        for &value in &values {
            self.hand_over(value, rest, stays, &mut handed_over);
        }
        Builder::at_end_of(self.function, then_block).jump(rest, &handed_over.from_then);
        Builder::at_end_of(self.function, else_block).jump(rest, &handed_over.from_else);
        values.iter().for_each(|&value| self.stand_ins[value] = None.into());
        handed_over.singles.into_iter().for_each(|(value, param)| self.stand_ins[value] = param.into());
        self.pairs.extend(handed_over.pairs);
        self.block = rest;
    }

    /// Hands over a value of one side's block to what comes after, as far as it is wanted: with one of the other side, if that
    /// is there already, or by itself.
    fn hand_over(&mut self, value: Value, rest: Block, stays: &Stays, handed_over: &mut HandedOver) {
        let users = self.wanted.single_users.get(&value);
        let is_elsewhere = |user: &Option<Inst>| user.is_none_or(|inst| !stays.contains(inst));
        let mut is_single = users.is_some_and(|users| users.iter().any(is_elsewhere));
        for &number in self.wanted.pairs_of.get(&value).into_iter().flatten() {
            let pair @ (then_value, else_value) = self.wanted.pairs[number];
            let other = if value == then_value { else_value } else { then_value };
            if !self.is_there(other) {
                is_single = true;
            } else if !handed_over.pairs.iter().any(|&(known, _)| known == pair) {
                let param = self.function.add_param(rest, self.function.ty(value));
                handed_over.pairs.push((pair, param));
                handed_over.from_then.push(self.stand_in(then_value));
                handed_over.from_else.push(self.stand_in(else_value));
            }
        }
        if is_single {
            let value_type = self.function.ty(value);
            let nothing = self.function.constant(value_type, 0);
            let param = self.function.add_param(rest, value_type);
            let is_then = stays.then_insts.iter().any(|&inst| self.function.insts[inst].results.contains(&value));
            handed_over.singles.push((value, param));
            let [from_then, from_else] =
                if is_then { [self.stand_in(value), nothing] } else { [nothing, self.stand_in(value)] };
            handed_over.from_then.push(from_then);
            handed_over.from_else.push(from_else);
        }
    }

    /// Ends a merged block as both blocks of its pair end.
    fn end_block(&mut self, pair: BlockPair) {
        let terminators =
            [pair.then_block, pair.else_block].map(|block| self.function.blocks[block].terminator.clone());
        let condition = terminators[0].selector().zip(terminators[1].selector());
        let condition = condition.map(|(then_value, else_value)| self.value_of_pair(then_value, else_value));
        let mut targets = Vec::new();
        for (then_target, else_target) in terminators[0].targets().iter().zip(terminators[1].targets().iter()) {
            let edge = Edge::between(self.function, self.arms, self.alignment, then_target, else_target);
            let arguments = edge.arguments.into_iter().map(|argument| match argument {
                Argument::Both(then_value, else_value) => self.value_of_pair(then_value, else_value),
                Argument::One(value) => self.stand_in(value),
            });
            let arguments = arguments.collect();
            let block = self.merged_blocks.get(&then_target.block).map_or(self.arms.join, |merged| merged.block);
            targets.push(BlockCall { block, arguments });
        }
        let mut targets = targets.into_iter();
        let terminator = match (condition, targets.next(), targets.next()) {
            (Some(condition), Some(then_to), Some(else_to)) => Terminator::Branch { condition, then_to, else_to },
            (_, Some(target), _) => Terminator::Jump(target),
            _ => Terminator::Unreachable,
        };
        self.function.blocks[self.block].terminator = terminator;
        self.function.end_locs[self.block] = self.function.end_locs[pair.then_block];
    }
}

/// What the blocks of both sides hand over to what comes after them.
#[derive(Default)]
struct HandedOver {
    from_then: Vec<Value>,
    from_else: Vec<Value>,
    pairs: Vec<((Value, Value), Value)>,
    singles: Vec<(Value, Value)>,
}
