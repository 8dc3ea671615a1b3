//! Which values are one number for all work-items, and which blocks are reached with them.
//!
//! Requires: a verified function, of any control flow, before masks.
//! Ensures: a value of which a number is said has it wherever it is computed; a block that is not said to be reached never
//! runs.
//! Phases: blocks in reverse post-order until nothing changes: what instructions make of what is known, by their numbers or by
//! the rules of [`simplify`](crate::simplify), then the targets that their block may choose with it.
//! Source: Wegman & Zadeck 1991 (constants and reached blocks together).

use crate::analysis::cfg::build_cfg;
use crate::ir::{Block, BlockCall, Function, InstData, InstNode, Terminator, TernaryOp, Value, ValueDef};
use crate::simplify::{Found, Operands, evaluate_constants, find_simpler};
use cranelift_entity::{EntitySet, SecondaryMap};

/// What is known of a value.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Fact {
    /// Nothing has computed it yet.
    #[default]
    Never,
    /// These bits, for all work-items.
    Always(u128),
    /// It may be any value.
    Varies,
}

impl Fact {
    /// What is known of a value that is the one or the other.
    pub fn meet(self, other: Fact) -> Fact {
        match (self, other) {
            (Fact::Never, fact) | (fact, Fact::Never) => fact,
            (a, b) if a == b => a,
            _ => Fact::Varies,
        }
    }

    /// The bits that a value always has, if it does.
    pub fn bits(self) -> Option<u128> {
        match self {
            Fact::Always(bits) => Some(bits),
            Fact::Never | Fact::Varies => None,
        }
    }
}

/// The constants of a function.
#[derive(Clone, Debug)]
pub struct Constants {
    /// What is known of each value.
    pub values: SecondaryMap<Value, Fact>,
    /// The blocks that are reached.
    pub reached: EntitySet<Block>,
}

/// The constants of a function, given what is known of single instructions' results beforehand.
pub fn find_constants(function: &Function, known_bits: impl Fn(&InstData) -> Option<u128>) -> Constants {
    let mut constants = Constants { values: SecondaryMap::new(), reached: EntitySet::new() };
    for (value, value_data) in function.values.iter() {
        if let ValueDef::Const(bits) = value_data.definition {
            constants.values[value] = Fact::Always(bits);
        }
    }
    constants.reached.insert(function.entry_block());
    for &parameter in &function.blocks[function.entry_block()].params {
        constants.values[parameter] = Fact::Varies;
    }
    let flow_graph = build_cfg(function);
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for &block in flow_graph.reverse_post_order() {
            changed |= constants.visit_block(function, block, &known_bits);
        }
    }
    constants
}

impl Constants {
    /// Where a choice leads that is a constant.
    pub fn only_target<'f>(&self, function: &'f Function, block: Block) -> Option<&'f BlockCall> {
        let terminator = &function.blocks[block].terminator;
        let Fact::Always(bits) = self.values[terminator.selector()?] else { return None };
        match terminator {
            Terminator::Branch { then_to, else_to, .. } => Some(if bits != 0 { then_to } else { else_to }),
            Terminator::Switch { cases, default, .. } => {
                Some(cases.iter().find(|(case, _)| *case == bits).map_or(default, |(_, target)| target))
            }
            _ => None,
        }
    }

    /// Takes a block into account; whether that tells anything new.
    fn visit_block(
        &mut self,
        function: &Function,
        block: Block,
        known_bits: impl Fn(&InstData) -> Option<u128>,
    ) -> bool {
        if !self.reached.contains(block) {
            return false;
        }
        let mut changed = false;
        for &instruction in &function.blocks[block].insts {
            let inst_node = &function.insts[instruction];
            let fact =
                known_bits(&inst_node.data).map_or_else(|| self.fact_of_result(function, inst_node), Fact::Always);
            for &result in &inst_node.results {
                changed |= self.learn_fact(result, fact);
            }
        }
        let only = self.only_target(function, block);
        let undecided =
            function.blocks[block].terminator.selector().is_some_and(|selector| self.values[selector] == Fact::Never);
        if undecided {
            return changed;
        }
        for target in function.blocks[block].terminator.targets() {
            if only.is_some_and(|only| !std::ptr::eq(only, target)) {
                continue;
            }
            changed |= self.reached.insert(target.block);
            for (&parameter, &argument) in function.blocks[target.block].params.iter().zip(&target.arguments) {
                changed |= self.learn_fact(parameter, self.values[argument]);
            }
        }
        changed
    }

    fn learn_fact(&mut self, value: Value, fact: Fact) -> bool {
        let met = self.values[value].meet(fact);
        std::mem::replace(&mut self.values[value], met) != met
    }

    /// What is known of an instruction's results.
    fn fact_of_result(&self, function: &Function, inst_node: &InstNode) -> Fact {
        let fact_of = |value: Value| self.values[value];
        if let InstData::Ternary { opcode: TernaryOp::Select, arguments: [condition, left, right], .. } = inst_node.data
        {
            return match fact_of(condition) {
                Fact::Never => Fact::Never,
                Fact::Always(0) => fact_of(right),
                Fact::Always(_) => fact_of(left),
                Fact::Varies => fact_of(left).meet(fact_of(right)),
            };
        }
        let [result] = inst_node.results[..] else { return Fact::Varies };
        let mut is_unreached = false;
        inst_node.data.for_each_arg(|value| is_unreached |= fact_of(value) == Fact::Never);
        if is_unreached {
            return Fact::Never;
        }
        let (result_type, constant) = (function.ty(result), |value: Value| fact_of(value).bits());
        let bits_of = |simpler: Found| match simpler {
            Found::Constant(bits) => Some(bits),
            Found::Value(value) => constant(value),
            Found::Operation(..) => None,
        };
        let by_rules =
            || find_simpler(function, &inst_node.data, result_type, Operands::Any, constant).find_map(bits_of);
        let bits = evaluate_constants(function, &inst_node.data, result_type, constant).or_else(by_rules);
        bits.map_or(Fact::Varies, Fact::Always)
    }
}
