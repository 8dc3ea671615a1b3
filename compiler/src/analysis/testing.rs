//! Random control-flow graphs and naive searches for the analyses' tests.

use crate::ir::{Block, BlockCall, Function, Terminator, Type};

/// A deterministic stream of numbers (SplitMix64).
pub(super) struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bf0_3635)
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

/// A function of `count` blocks with random jumps, any of them possibly unreachable or endless.
pub(super) fn random_graph(seed: u64, count: usize) -> Function {
    let mut random = Random::new(seed);
    let mut f = Function::new();
    for _ in 0..count {
        f.add_block();
    }
    let cond = f.constant(Type::BOOL, 1);
    let value = f.constant(Type::I32, 1);
    for block in f.layout.clone() {
        // The entry has no predecessor.
        let mut target = || BlockCall { block: Block::from_u32(1 + random.below(count - 1) as u32), args: vec![] };
        let (a, b, c) = (target(), target(), target());
        f.blocks[block].term = match random.below(8) {
            0 => Terminator::Return,
            1..=3 => Terminator::Jump(a),
            4 => Terminator::Switch { value, cases: vec![(0, a), (1, b)], default: c },
            _ => Terminator::Branch { cond, then_to: a, else_to: b },
        };
    }
    f
}

/// Whether a path leads from `from` to `to` that does not touch `without`.
pub(super) fn reaches_without(f: &Function, from: Block, to: Block, without: Option<Block>) -> bool {
    let mut seen = vec![false; f.blocks.len()];
    let mut stack = vec![from];
    while let Some(block) = stack.pop() {
        if Some(block) == without || std::mem::replace(&mut seen[block.as_u32() as usize], true) {
            continue;
        }
        if block == to {
            return true;
        }
        stack.extend(f.blocks[block].term.targets().iter().map(|to| to.block));
    }
    false
}
