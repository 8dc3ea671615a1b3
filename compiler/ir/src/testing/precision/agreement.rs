//! How often an analysis and a profile agree.

use super::{ControlFlow, KernelDivergence};
use crate::ir::{Block, Kernel, Region, Value};
use std::ops::AddAssign;

/// An analysis beside what lanes were seen to do, in numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Agreement {
    /// Branches and switches.
    pub branches: usize,
    /// Those of which the analysis says that lanes may go different ways, and they did.
    pub true_positives: usize,
    /// Those of which it says so, and they did not.
    pub false_positives: usize,
    /// Those of which it says that lanes go one way, and they did not.
    pub false_negatives: usize,
    /// What blocks define: results and parameters.
    pub values: usize,
    /// Those of which it says that they are the same in all lanes.
    pub uniform_values: usize,
    /// Those of which it says so, and they were not.
    pub false_uniform_values: usize,
}

impl Agreement {
    /// Compares what an analysis says of a kernel with what was seen.
    pub fn of_kernel(kernel: &Kernel, found: &KernelDivergence, seen: &KernelDivergence) -> Agreement {
        let mut agreement = Agreement::default();
        for (region, function) in &kernel.regions {
            let flow = ControlFlow::of_function(function);
            let (found, seen) = (&found[region], &seen[region]);
            for block in flow.branching_blocks() {
                let is_seen = seen.divergent_branches.contains(block);
                agreement.add_branch(found.divergent_branches.contains(block), is_seen);
            }
            for value in flow.defined_values(function) {
                agreement.add_value(found.varying.contains(value), seen.varying.contains(value));
            }
        }
        agreement
    }

    fn add_branch(&mut self, is_found: bool, is_seen: bool) {
        self.branches += 1;
        match (is_found, is_seen) {
            (true, true) => self.true_positives += 1,
            (true, false) => self.false_positives += 1,
            (false, true) => self.false_negatives += 1,
            (false, false) => {}
        }
    }

    fn add_value(&mut self, is_found: bool, is_seen: bool) {
        self.values += 1;
        self.uniform_values += usize::from(!is_found);
        self.false_uniform_values += usize::from(!is_found && is_seen);
    }

    /// Branches of which the analysis says that all lanes go one way.
    pub fn uniform_branches(&self) -> usize {
        self.branches - self.true_positives - self.false_positives
    }
}

impl AddAssign for Agreement {
    fn add_assign(&mut self, other: Agreement) {
        self.branches += other.branches;
        self.true_positives += other.true_positives;
        self.false_positives += other.false_positives;
        self.false_negatives += other.false_negatives;
        self.values += other.values;
        self.uniform_values += other.uniform_values;
        self.false_uniform_values += other.false_uniform_values;
    }
}

/// The branches of which an analysis says that lanes may go different ways, and they did not.
pub fn false_positives(kernel: &Kernel, found: &KernelDivergence, seen: &KernelDivergence) -> Vec<(Region, Block)> {
    let is_false = |&(region, block): &(Region, Block)| {
        found[region].divergent_branches.contains(block) && !seen[region].divergent_branches.contains(block)
    };
    branches_of(kernel).into_iter().filter(is_false).collect()
}

/// What an analysis says to be uniform, and it was not: its mistakes, in words.
pub fn describe_mistakes(kernel: &Kernel, found: &KernelDivergence, seen: &KernelDivergence) -> Vec<String> {
    let mut mistakes = Vec::new();
    for (region, function) in &kernel.regions {
        let flow = ControlFlow::of_function(function);
        let is_missed =
            |value: &Value| !found[region].varying.contains(*value) && seen[region].varying.contains(*value);
        let values = flow.defined_values(function).filter(is_missed);
        mistakes.extend(values.map(|value| format!("{}: {value} of {region} differs between lanes", kernel.name)));
    }
    let is_missed = |&(region, block): &(Region, Block)| {
        !found[region].divergent_branches.contains(block) && seen[region].divergent_branches.contains(block)
    };
    let branches = branches_of(kernel).into_iter().filter(is_missed);
    mistakes.extend(branches.map(|(region, block)| format!("{}: lanes part at {block} of {region}", kernel.name)));
    mistakes
}

/// The branches and switches of a kernel.
fn branches_of(kernel: &Kernel) -> Vec<(Region, Block)> {
    let mut branches = Vec::new();
    for (region, function) in &kernel.regions {
        branches.extend(ControlFlow::of_function(function).branching_blocks().map(|block| (region, block)));
    }
    branches
}
