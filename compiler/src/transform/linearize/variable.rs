//! Values that several blocks assign, on the linearized control flow.
//!
//! Requires: assignments are made in the order of the block index, and only in blocks that `top` dominates.
//! Ensures: reading gives the value of the last assignment on the way; where ways with different ones meet,
//! blocks get parameters.
//! Phases: per question, the blocks between the reader and the assignments, then their values in order.
//! Source: Braun et al. 2013, "Simple and Efficient Construction of Static Single Assignment Form", on
//! graphs without cycles: a variable that is assigned in a loop lives in one iteration.

use super::skeleton::Skeleton;
use crate::analysis::dominators::Dominators;
use crate::ir::{Block, Function, Inst, Type, Value, ValueDef};
use cranelift_entity::{EntitySet, SecondaryMap};
use std::collections::{HashMap, HashSet};

/// The linearized function while it is made.
pub(super) struct Flow<'a> {
    pub f: &'a mut Function,
    pub skeleton: &'a Skeleton,
    /// Dominators of the skeleton.
    pub tree: Dominators,
    /// The block of each instruction.
    pub home: SecondaryMap<Inst, Option<Block>>,
    /// The instructions that linearization added.
    pub added: EntitySet<Inst>,
    /// Arguments for new parameters, by edge.
    pub extra: HashMap<(Block, Block), Vec<Value>>,
}

impl Flow<'_> {
    /// Whether a value is defined at the end of a block.
    pub fn is_available(&self, value: Value, block: Block) -> bool {
        match self.f.values[value].def {
            ValueDef::Const(_) => true,
            ValueDef::Param(home, _) => self.tree.dominates(home, block),
            ValueDef::Result(inst, _) => self.home[inst].is_some_and(|home| self.tree.dominates(home, block)),
        }
    }
}

/// A variable.
pub(super) struct Variable {
    ty: Type,
    /// The block at whose end it has its first value.
    top: Block,
    default: Option<Value>,
    assigned: HashMap<Block, Value>,
    at_begin: HashMap<Block, Option<Value>>,
}

impl Variable {
    /// A variable that has `default` at the end of `top`; none: any value.
    pub fn new(ty: Type, top: Block, default: Option<Value>) -> Variable {
        Variable { ty, top, default, assigned: HashMap::new(), at_begin: HashMap::new() }
    }

    /// Assigns at the end of a block.
    pub fn assign(&mut self, block: Block, value: Value) {
        self.assigned.insert(block, value);
    }

    /// The value at the end of a block.
    pub fn at_end(&mut self, flow: &mut Flow<'_>, block: Block) -> Option<Value> {
        match self.known_at_end(block) {
            Some(value) => value,
            None => self.at_begin(flow, block),
        }
    }

    fn known_at_end(&self, block: Block) -> Option<Option<Value>> {
        match self.assigned.get(&block) {
            Some(&value) => Some(Some(value)),
            None if block == self.top => Some(self.default),
            None => self.at_begin.get(&block).copied(),
        }
    }

    /// The value at the beginning of a block.
    pub fn at_begin(&mut self, flow: &mut Flow<'_>, block: Block) -> Option<Value> {
        let mut between = Vec::new();
        let mut seen = HashSet::new();
        let mut stack = vec![block];
        while let Some(block) = stack.pop() {
            if self.at_begin.contains_key(&block) || !seen.insert(block) {
                continue;
            }
            between.push(block);
            let unknown = |p: &Block| self.known_at_end(*p).is_none();
            stack.extend(flow.skeleton.preds[block].iter().copied().filter(unknown));
        }
        between.sort_by_key(|&block| flow.skeleton.index[block]);
        for block in between {
            let value = self.meet(flow, block);
            self.at_begin.insert(block, value);
        }
        self.at_begin.get(&block).copied().flatten()
    }

    fn meet(&self, flow: &mut Flow<'_>, block: Block) -> Option<Value> {
        let preds = &flow.skeleton.preds[block];
        let values: Vec<Option<Value>> = preds.iter().map(|&p| self.known_at_end(p).flatten()).collect();
        let mut given = values.iter().flatten();
        let first = *given.next()?;
        let same = given.all(|&v| v == first);
        if same && (values.iter().all(Option::is_some) || flow.is_available(first, block)) {
            return Some(first);
        }
        let zero = flow.f.constant(self.ty, 0);
        for (&pred, value) in preds.iter().zip(&values) {
            flow.extra.entry((pred, block)).or_default().push(value.unwrap_or(zero));
        }
        Some(flow.f.add_param(block, self.ty))
    }
}
