//! Random loops of one block, in which each item reads neighbouring words in a place of its own.

use super::kernels::Generator;
use super::memory_sizes::INPUT_WORDS;
use crate::ir::*;
use lockstep_protocol::types::Type;

/// The most rounds; as many words are read from a place on.
const MOST_ROUNDS: u64 = 32;

impl Generator {
    /// A sum over some words of the input, perhaps kept in the item's row, which all items that are here run equally often.
    pub(super) fn emit_walk(&mut self) {
        let bound = self.pick_value(Type::I32, true);
        let position = self.pick_value(Type::I32, false);
        let sum = self.pick_value(Type::I32, false);
        let (input, row, keeps) = (self.input, self.row, self.random.percent(30));
        let step = self.random.pick(&[1, 1, 1, 2]);
        let comparison = self.random.pick(&[IntCc::Slt, IntCc::Ult, IntCc::Sle, IntCc::Ne]);
        let comparison = if step > 1 && comparison == IntCc::Ne { IntCc::Slt } else { comparison };
        let flags = IntFlags { nsw: self.random.percent(80), nuw: true };
        let mut builder = self.builder_here();
        let [round_mask, position_mask, one, two] =
            [MOST_ROUNDS - 2, INPUT_WORDS / 2 - 1, 1, 2].map(|number| builder.int(Type::I32, number.into()));
        let bound = builder.binary(BinaryOp::And, bound, round_mask);
        let bound = builder.binary(BinaryOp::Add, bound, one);
        let position = builder.binary(BinaryOp::And, position, position_mask);
        let position = builder.unary(UnaryOp::Zext, Type::I64, position);
        let four = builder.int(Type::I64, 4);
        let start_offset = builder.binary(BinaryOp::Mul, position, four);
        let start_offset = builder.ptr_add(input, start_offset);
        let (body_block, parameters) = builder.new_block(&[Type::I32, Type::I32]);
        let (exit_block, results) = builder.new_block(&[Type::I32]);
        let zero = builder.int(Type::I32, 0);
        builder.jump(body_block, &[zero, sum]);
        builder.switch_to(body_block);
        let (counter, sum) = (parameters[0], parameters[1]);
        let wide_counter = builder.unary(UnaryOp::Sext, Type::I64, counter);
        let bytes = builder.binary(BinaryOp::Mul, wide_counter, four);
        let pointer = builder.ptr_add(start_offset, bytes);
        let loaded_word = builder.load(Type::I32, pointer);
        let multiplier = builder.int(Type::I32, 31);
        let sum = builder.binary(BinaryOp::Mul, sum, multiplier);
        let sum = builder.binary(BinaryOp::Add, sum, loaded_word);
        if keeps {
            builder.store(row, sum);
        }
        let increment = if step == 1 { one } else { two };
        let next = InstData::Binary {
            opcode: BinaryOp::Add,
            flags,
            fast_math: FastMath::default(),
            arguments: [counter, increment],
        };
        let next = builder.inst(next, &[Type::I32]);
        let next = builder.function.single_result(next);
        let goes_on = builder.icmp(comparison, next, bound);
        builder.branch(goes_on, (body_block, &[next, sum]), (exit_block, &[sum]));
        self.block = exit_block;
        self.note_value(results[0], false);
        self.keep_value(results[0]);
    }
}
