//! How many loops a function of LLVM has, how deep they lie in each other and how many values they keep, in the time that it takes to walk
//! over its blocks once: by this it is decided which passes over loops a function is spared.
//!
//! The first two are read from the order of the blocks, as clang, inlining and our own code generation leave it: the blocks of a loop
//! follow each other. In another order the numbers are off, which costs time or speed, never a right value.

use std::collections::{HashMap, HashSet};

use inkwell::basic_block::BasicBlock;
use inkwell::values::{FunctionValue, InstructionOpcode};

use super::llvm::successors;

/// Loops of a function from which on LLVM's passes over loops are left out. They keep scalar evolution, and whenever a loop
/// changes, it forgets all that follows from the loop's values: where these go through all loops of a kernel, the time
/// grows with the square of their number, 1,000 loops took 3.6 s and 2,000 took 17.1 s.
const MANY: usize = 240;

/// Loops of a function from which on LLVM's passes over loops come in another order and make short sums, so that their time does not grow with
/// the square so soon.
const SEVERAL: usize = 60;

/// Loops in each other from which on nothing that asks for loops runs. LLVM lists the blocks of each loop, which is the square of
/// their number, and does so eight times while it generates code: 0.99 s for 1,000, and 0.02 s without optimization.
const DEEP: usize = 200;

/// Values that a loop keeps from one iteration to the next from which on LLVM's `loop-rotate` and `instcombine`, which look through all φs
/// of a block for each of them, are left out.
const MANY_VALUES: usize = 400;

/// The loops of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LoopExtent {
    /// How many edges go back.
    back_edges: usize,
    /// The most loops that a block is in.
    depth: usize,
    /// The most φs of a block that an edge back leads to.
    kept_values: usize,
}

impl LoopExtent {
    /// Whether the time of LLVM's passes over loops begins to grow with the square of their number.
    pub(crate) fn are_several(self) -> bool {
        self.back_edges > SEVERAL
    }

    /// Whether LLVM's passes over loops take too long.
    pub(crate) fn are_many(self) -> bool {
        self.back_edges > MANY
    }

    /// Whether even asking for the loops takes too long.
    pub(crate) fn are_deep(self) -> bool {
        self.depth > DEEP
    }

    /// Whether a loop keeps more values than passes that compare them with each other take.
    pub(crate) fn keep_many_values(self) -> bool {
        self.kept_values > MANY_VALUES
    }
}

/// Measures the loops of a function.
pub(crate) fn measure_loops(function: FunctionValue<'_>) -> LoopExtent {
    let blocks = function.get_basic_blocks();
    let block_positions: HashMap<_, _> =
        blocks.iter().enumerate().map(|(block_position, &block)| (block, block_position)).collect();
    let mut back_edges = Vec::new();
    for (block_position, block) in blocks.iter().enumerate() {
        let targets = successors(*block).filter_map(|target| block_positions.get(&target));
        back_edges.extend(targets.filter(|&&header| header <= block_position).map(|&header| (header, block_position)));
    }
    let headers: HashSet<usize> = back_edges.iter().map(|&(header, _)| header).collect();
    let kept_values = headers.into_iter().map(|header| count_phis(blocks[header])).max().unwrap_or(0);
    LoopExtent { back_edges: back_edges.len(), depth: find_depth(&back_edges, blocks.len()), kept_values }
}

fn count_phis(block: BasicBlock<'_>) -> usize {
    block.get_instructions().take_while(|instruction| instruction.get_opcode() == InstructionOpcode::Phi).count()
}

/// The most loops that one of so many blocks is in. An edge back is the position of a header and of a block that leads to it; of a header
/// the last of them counts.
fn find_depth(back_edges: &[(usize, usize)], block_count: usize) -> usize {
    let mut last_latches: HashMap<usize, usize> = HashMap::new();
    for &(header, latch) in back_edges {
        last_latches.entry(header).and_modify(|last| *last = latch.max(*last)).or_insert(latch);
    }
    let mut ends = vec![0_usize; block_count];
    last_latches.values().for_each(|&latch| ends[latch] += 1);
    let (mut depth, mut deepest) = (0, 0);
    for (position, ended) in ends.into_iter().enumerate() {
        depth += usize::from(last_latches.contains_key(&position));
        deepest = depth.max(deepest);
        depth -= ended;
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    fn measure_function(text: &str) -> LoopExtent {
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).unwrap();
        measure_loops(module.get_first_function().unwrap())
    }

    #[test]
    fn loops_beside_and_in_each_other_are_told_apart() {
        let nested = "define void @f(i1 %c) {
entry: br label %outer
outer:
  %p = phi i32 [ 0, %entry ], [ %q, %again ], [ 1, %end ]
  %q = phi i32 [ 0, %entry ], [ %p, %again ], [ 2, %end ]
  br label %inner
inner: br i1 %c, label %inner, label %again
again: br i1 %c, label %outer, label %end
end: br i1 %c, label %outer, label %exit
exit: ret void
}";
        assert_eq!(measure_function(nested), LoopExtent { back_edges: 3, depth: 2, kept_values: 2 });
        let beside = "define void @f(i1 %c) {
entry: br label %one
one: br i1 %c, label %one, label %two
two: br i1 %c, label %two, label %three
three: br i1 %c, label %three, label %exit
exit: ret void
}";
        assert_eq!(measure_function(beside), LoopExtent { back_edges: 3, depth: 1, kept_values: 0 });
        assert_eq!(
            measure_function("define void @f() { ret void }"),
            LoopExtent { back_edges: 0, depth: 0, kept_values: 0 }
        );
    }

    #[test]
    fn functions_that_return_opaque_values_have_loops_too() {
        let text = "define target(\"spirv.Queue\") @f(target(\"spirv.Queue\") %e, i1 %c) {
entry: br label %loop
loop: br i1 %c, label %loop, label %exit
exit: ret target(\"spirv.Queue\") %e
}";
        assert_eq!(measure_function(text), LoopExtent { back_edges: 1, depth: 1, kept_values: 0 });
    }

    #[test]
    fn the_limits_are_those_of_the_numbers() {
        let extent = |back_edges, depth, kept_values| LoopExtent { back_edges, depth, kept_values };
        assert!(!extent(MANY, 1, 9).are_many() && extent(MANY + 1, 1, 9).are_many());
        assert!(!extent(1000, DEEP, 9).are_deep() && extent(1000, DEEP + 1, 9).are_deep());
        assert!(!extent(1, 1, MANY_VALUES).keep_many_values() && extent(1, 1, MANY_VALUES + 1).keep_many_values());
    }
}
