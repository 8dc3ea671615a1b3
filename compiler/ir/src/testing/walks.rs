//! Random loops of one block, in which each item reads neighbouring words in a place of its own.

use super::kernels::{Generator, INPUT_WORDS};
use crate::ir::*;
use lockstep_protocol::types::Type;

/// The most rounds; as many words are read from a place on.
const MOST_ROUNDS: u64 = 32;

impl Generator {
    /// A sum over some words of the input, perhaps kept in the item's row, which all items that are here run equally often.
    pub(super) fn emit_walk(&mut self) {
        let bound = self.pick_value(Type::I32, true);
        let place = self.pick_value(Type::I32, false);
        let sum = self.pick_value(Type::I32, false);
        let (input, row, keeps) = (self.input, self.row, self.random.percent(30));
        let step = self.random.pick(&[1, 1, 1, 2]);
        let cc = self.random.pick(&[IntCc::Slt, IntCc::Ult, IntCc::Sle, IntCc::Ne]);
        let cc = if step > 1 && cc == IntCc::Ne { IntCc::Slt } else { cc };
        let flags = IntFlags { nsw: self.random.percent(80), nuw: true };
        let mut b = self.builder_here();
        let [most, places, one, two] = [MOST_ROUNDS - 2, INPUT_WORDS / 2 - 1, 1, 2].map(|n| b.int(Type::I32, n.into()));
        let bound = b.binary(BinaryOp::And, bound, most);
        let bound = b.binary(BinaryOp::Add, bound, one);
        let place = b.binary(BinaryOp::And, place, places);
        let place = b.unary(UnaryOp::Zext, Type::I64, place);
        let four = b.int(Type::I64, 4);
        let start = b.binary(BinaryOp::Mul, place, four);
        let start = b.ptr_add(input, start);
        let (body, params) = b.new_block(&[Type::I32, Type::I32]);
        let (exit, results) = b.new_block(&[Type::I32]);
        let zero = b.int(Type::I32, 0);
        b.jump(body, &[zero, sum]);
        b.switch_to(body);
        let (counter, sum) = (params[0], params[1]);
        let wide = b.unary(UnaryOp::Sext, Type::I64, counter);
        let bytes = b.binary(BinaryOp::Mul, wide, four);
        let ptr = b.ptr_add(start, bytes);
        let word = b.load(Type::I32, ptr);
        let mixed = b.int(Type::I32, 31);
        let sum = b.binary(BinaryOp::Mul, sum, mixed);
        let sum = b.binary(BinaryOp::Add, sum, word);
        if keeps {
            b.store(row, sum);
        }
        let by = if step == 1 { one } else { two };
        let next =
            InstData::Binary { opcode: BinaryOp::Add, flags, fast_math: FastMath::default(), arguments: [counter, by] };
        let next = b.inst(next, &[Type::I32]);
        let next = b.function.single_result(next);
        let goes_on = b.icmp(cc, next, bound);
        b.branch(goes_on, (body, &[next, sum]), (exit, &[sum]));
        self.block = exit;
        self.note_value(results[0], false);
        self.keep_value(results[0]);
    }
}
