//! Random values and memory accesses.

use super::kernels::Generator;
use super::memory_sizes::{COUNTER_WORDS, FREE_WORDS, INPUT_WORDS, SLOT_WORDS};
use super::operations::unary_operations_of;
use crate::ir::*;
use lockstep_protocol::types::Type;

impl Generator {
    pub(super) fn builder_here(&mut self) -> Builder<'_> {
        Builder::at_end_of(&mut self.function, self.block)
    }

    pub(super) fn is_uniform(&self, value: Value) -> bool {
        self.function.const_bits(value).is_some() || self.uniform_values[value]
    }

    /// Notes a new value that may be used from here on.
    pub(super) fn note_value(&mut self, value: Value, uniform: bool) -> Value {
        self.uniform_values[value] = uniform;
        self.visible.push(value);
        value
    }

    /// A value of a type that can be used here: a constant, a variable or a value seen earlier.
    pub(super) fn pick_value(&mut self, value_type: Type, uniform: bool) -> Value {
        let mut candidates: Vec<Value> = Vec::new();
        for variable in &self.variables {
            if variable.ty == value_type && (variable.uniform || !uniform) {
                candidates.push(variable.value);
            }
        }
        for &value in self.visible.iter().rev().take(24) {
            if self.function.ty(value) == value_type && (!uniform || self.is_uniform(value)) {
                candidates.push(value);
            }
        }
        if candidates.is_empty() || self.random.percent(15) {
            self.random_constant(value_type)
        } else {
            self.random.pick(&candidates)
        }
    }

    fn random_constant(&mut self, value_type: Type) -> Value {
        let number = match self.random.below(5) {
            0 => self.random.next_bits() as i64,
            _ => self.random.below(12) as i64 - 3,
        };
        let half = self.random.percent(30);
        let mut builder = self.builder_here();
        match value_type {
            Type::F32 => builder.f32((number % 1000) as f32 + if half { 0.5 } else { 0.0 }),
            Type::F64 => builder.f64((number % 1000) as f64),
            _ => builder.int(value_type, number.into()),
        }
    }

    /// A new value of a type by a random operation.
    pub(super) fn random_expression(&mut self, value_type: Type, uniform: bool) -> Value {
        let result = match value_type {
            Type::F32 | Type::F64 => self.random_float(value_type, uniform),
            Type::Int(1) => return self.random_condition(uniform),
            _ => self.random_integer(value_type, uniform),
        };
        let uniform = uniform || self.inputs_uniform(result);
        self.note_value(result, uniform)
    }

    /// Whether the instruction that made a value has uniform operands only and no memory or identity.
    fn inputs_uniform(&self, value: Value) -> bool {
        let ValueDef::Result(instruction, _) = self.function.values[value].definition else {
            return self.is_uniform(value);
        };
        let inst_data = &self.function.insts[instruction].data;
        let pure = matches!(inst_data, InstData::Unary { .. } | InstData::Binary { .. } | InstData::Ternary { .. });
        let mut uniform = pure;
        inst_data.for_each_arg(|operand| uniform &= self.is_uniform(operand));
        uniform
    }

    fn random_integer(&mut self, value_type: Type, uniform: bool) -> Value {
        use BinaryOp::*;
        match self.random.below(12) {
            0..=4 => {
                let (left, right) = (self.pick_value(value_type, uniform), self.pick_value(value_type, uniform));
                let opcode = self
                    .random
                    .pick(&[Add, Sub, Mul, And, Or, Xor, Smin, Smax, Umin, Umax, SaddSat, UaddSat, SsubSat, UsubSat]);
                self.builder_here().binary(opcode, left, right)
            }
            5 => {
                // A divisor from 1 to 16: no division by zero, no overflow.
                let (left, right) = (self.pick_value(value_type, uniform), self.pick_value(value_type, uniform));
                let opcode = self.random.pick(&[Udiv, Sdiv, Urem, Srem]);
                let mut builder = self.builder_here();
                let (mask, one) = (builder.int(value_type, 15), builder.int(value_type, 1));
                let right = builder.binary(And, right, mask);
                let right = builder.binary(Add, right, one);
                builder.binary(opcode, left, right)
            }
            6 => {
                let (left, right) = (self.pick_value(value_type, uniform), self.pick_value(value_type, uniform));
                let opcode = self.random.pick(&[Shl, Lshr, Ashr]);
                let mut builder = self.builder_here();
                let mask = builder.int(value_type, i128::from(value_type.bits()) - 1);
                let right = builder.binary(And, right, mask);
                builder.binary(opcode, left, right)
            }
            7 => {
                let condition = self.random_condition(uniform);
                let (operand, right) = (self.pick_value(value_type, uniform), self.pick_value(value_type, uniform));
                self.builder_here().ternary(TernaryOp::Select, condition, operand, right)
            }
            8 => {
                let left = self.pick_value(value_type, uniform);
                let opcode = self.random.pick(&unary_operations_of(value_type));
                self.builder_here().unary(opcode, value_type, left)
            }
            9 => {
                let [left, operand, right] = [(); 3].map(|()| self.pick_value(value_type, uniform));
                let opcode = self.random.pick(&[TernaryOp::Fshl, TernaryOp::Fshr]);
                self.builder_here().ternary(opcode, left, operand, right)
            }
            10 => {
                let from_type = self.random.pick(&[Type::F32, Type::F64]);
                let left = self.pick_value(from_type, uniform);
                let opcode = self.random.pick(&[UnaryOp::FpToSiSat, UnaryOp::FpToUiSat]);
                self.builder_here().unary(opcode, value_type, left)
            }
            _ => self.random_cast(value_type, uniform),
        }
    }

    /// An integer of another width, perhaps through a narrow one.
    fn random_cast(&mut self, value_type: Type, uniform: bool) -> Value {
        let others: Vec<Type> =
            [Type::I8, Type::I32, Type::I64].into_iter().filter(|&other_type| other_type != value_type).collect();
        let source_type = self.random.pick(&others);
        let mut left = self.pick_value(source_type, uniform);
        let narrow = self.random.pick(&[Type::Int(5), Type::I16, Type::Int(24)]);
        let extend = self.random.pick(&[UnaryOp::Sext, UnaryOp::Zext]);
        let through = narrow.bits() < source_type.bits() && self.random.percent(50);
        let mut builder = self.builder_here();
        if through {
            left = builder.unary(UnaryOp::Trunc, narrow, left);
        }
        let opcode = if builder.function.ty(left).bits() > value_type.bits() { UnaryOp::Trunc } else { extend };
        builder.unary(opcode, value_type, left)
    }

    fn random_float(&mut self, value_type: Type, uniform: bool) -> Value {
        use BinaryOp::*;
        let other_type = if value_type == Type::F32 { Type::F64 } else { Type::F32 };
        match self.random.below(8) {
            0..=2 => {
                let (left, right) = (self.pick_value(value_type, uniform), self.pick_value(value_type, uniform));
                let opcode = self.random.pick(&[Fadd, Fsub, Fmul, Fdiv]);
                self.builder_here().binary(opcode, left, right)
            }
            3 => {
                let left = self.pick_value(value_type, uniform);
                use UnaryOp::*;
                let opcode = self.random.pick(&[Fneg, Fabs, Sqrt, Floor, Ceil, Ftrunc, Rint, Round]);
                self.builder_here().unary(opcode, value_type, left)
            }
            4 => {
                let [left, operand, right] = [(); 3].map(|()| self.pick_value(value_type, uniform));
                self.builder_here().ternary(TernaryOp::Fma, left, operand, right)
            }
            5 => {
                let condition = self.random_condition(uniform);
                let (operand, right) = (self.pick_value(value_type, uniform), self.pick_value(value_type, uniform));
                self.builder_here().ternary(TernaryOp::Select, condition, operand, right)
            }
            6 => {
                let left = self.pick_value(other_type, uniform);
                let mut builder = self.builder_here();
                let third = builder.f64(1.0 / 3.0);
                let wide = if other_type == Type::F64 { left } else { builder.unary(UnaryOp::FpExt, Type::F64, left) };
                let wide = builder.binary(Fmul, wide, third);
                if value_type == Type::F64 { wide } else { builder.unary(UnaryOp::FpTrunc, value_type, wide) }
            }
            _ => {
                let from_type = self.random.pick(&[Type::I8, Type::I32, Type::I64]);
                let left = self.pick_value(from_type, uniform);
                let opcode = self.random.pick(&[UnaryOp::SiToFp, UnaryOp::UiToFp]);
                self.builder_here().unary(opcode, value_type, left)
            }
        }
    }

    /// A new `i1`.
    pub(super) fn random_condition(&mut self, uniform: bool) -> Value {
        if self.random.percent(25) {
            let (left, right) = (self.pick_value(Type::BOOL, uniform), self.pick_value(Type::BOOL, uniform));
            let opcode = self.random.pick(&[BinaryOp::And, BinaryOp::Or, BinaryOp::Xor]);
            let uniform = self.is_uniform(left) && self.is_uniform(right);
            let result = self.builder_here().binary(opcode, left, right);
            return self.note_value(result, uniform);
        }
        let operand_type = self.random.pick(&[Type::I32, Type::I32, Type::I64, Type::F32, Type::I8, Type::F64]);
        let (left, right) = (self.pick_value(operand_type, uniform), self.pick_value(operand_type, uniform));
        let comparison = self.random.pick(IntCc::ALL);
        let float_comparison = self.random.pick(FloatCc::ALL);
        let mut builder = self.builder_here();
        let result = if operand_type.is_float() {
            builder.fcmp(float_comparison, left, right)
        } else {
            builder.icmp(comparison, left, right)
        };
        let uniform = self.is_uniform(left) && self.is_uniform(right);
        self.note_value(result, uniform)
    }

    /// An `i32` with a value's bits, the same for every NaN.
    pub(super) fn value_as_word(&mut self, value: Value) -> Value {
        let value_type = self.function.ty(value);
        let mut builder = self.builder_here();
        match value_type {
            Type::F32 | Type::F64 => {
                // The choice is between integers: between floats LLVM may take one NaN for another.
                let is_nan = builder.fcmp(FloatCc::Uno, value, value);
                let int_type = Type::Int(value_type.bits() as u16);
                let bits = builder.unary(UnaryOp::Bitcast, int_type, value);
                let one_nan = builder.int(int_type, -1);
                let bits = builder.ternary(TernaryOp::Select, is_nan, one_nan, bits);
                self.value_as_word(bits)
            }
            Type::I64 => {
                let half = builder.int(value_type, 32);
                let high = builder.binary(BinaryOp::Lshr, value, half);
                let mixed = builder.binary(BinaryOp::Xor, high, value);
                builder.unary(UnaryOp::Trunc, Type::I32, mixed)
            }
            Type::I8 => builder.unary(UnaryOp::Sext, Type::I32, value),
            _ => value,
        }
    }

    /// The address of word `index` modulo `word_count` (a power of two).
    pub(super) fn cell_address(&mut self, base_address: Value, index: Value, word_count: u64) -> Value {
        let mut builder = self.builder_here();
        let (mask, four) = (builder.int(Type::I64, i128::from(word_count - 1)), builder.int(Type::I64, 4));
        let index = builder.binary(BinaryOp::And, index, mask);
        let offset = builder.binary(BinaryOp::Mul, index, four);
        builder.ptr_add(base_address, offset)
    }

    /// Reads some memory that this item may read now.
    pub(super) fn random_load(&mut self, uniform: bool) -> Value {
        let index = self.pick_value(Type::I64, uniform);
        let readable: Vec<Value> =
            self.shared.iter().filter(|region| region.readable).map(|region| region.base).collect();
        if !readable.is_empty() && self.random.percent(60) {
            let base_address = self.random.pick(&readable);
            let items = self.group_items;
            let mut builder = self.builder_here();
            let four = builder.int(Type::I64, 4);
            let index = builder.binary(BinaryOp::Urem, index, items);
            let offset = builder.binary(BinaryOp::Mul, index, four);
            let address = builder.ptr_add(base_address, offset);
            let value = builder.load(Type::I32, address);
            return self.note_value(value, uniform);
        }
        if uniform || self.random.percent(40) {
            let (base_address, word_count) = (self.input, INPUT_WORDS);
            let element_type = self.random.pick(&[Type::I32, Type::F32, Type::I8]);
            let address = self.cell_address(base_address, index, word_count);
            let value = self.builder_here().load(element_type, address);
            return self.note_value(value, uniform);
        }
        match self.random.below(5) {
            0 => return self.vector_load(index),
            1 => return self.wrapping_load(),
            2 => return self.chosen_load(),
            _ => {}
        }
        let (base_address, word_count) = self.random.pick(&[(self.slot, SLOT_WORDS), (self.output, FREE_WORDS)]);
        let address = self.cell_address(base_address, index, word_count);
        let value = self.builder_here().load(Type::I32, address);
        self.note_value(value, false)
    }

    /// Reads the word behind those of the items before, where the count of words wraps at the end of the input.
    fn wrapping_load(&mut self) -> Value {
        let distance = self.pick_value(Type::I64, true);
        let (base_address, item_index) = (self.input, self.in_group);
        let signed = self.random.percent(50);
        let mut builder = self.builder_here();
        let index = builder.binary(BinaryOp::Add, item_index, distance);
        let index = builder.unary(UnaryOp::Trunc, Type::Int(INPUT_WORDS.ilog2() as u16), index);
        let index = builder.unary(if signed { UnaryOp::Sext } else { UnaryOp::Zext }, Type::I64, index);
        let four = builder.int(Type::I64, 4);
        let offset = builder.binary(BinaryOp::Mul, index, four);
        let middle = builder.int(Type::I64, if signed { 2 * i128::from(INPUT_WORDS) } else { 0 });
        let offset = builder.binary(BinaryOp::Add, offset, middle);
        let address = builder.ptr_add(base_address, offset);
        let value = builder.load(Type::I32, address);
        self.note_value(value, false)
    }

    /// Reads the input forward or backward, as the launch decides.
    fn chosen_load(&mut self) -> Value {
        let (base_address, item_index, choice) = (self.input, self.in_group, self.choice);
        let mut builder = self.builder_here();
        let (last, four) = (builder.int(Type::I64, i128::from(INPUT_WORDS - 1)), builder.int(Type::I64, 4));
        let from_end = builder.binary(BinaryOp::Sub, last, item_index);
        let index = builder.ternary(TernaryOp::Select, choice, item_index, from_end);
        let offset = builder.binary(BinaryOp::Mul, index, four);
        let address = builder.ptr_add(base_address, offset);
        let value = builder.load(Type::I32, address);
        self.note_value(value, false)
    }

    fn vector_load(&mut self, index: Value) -> Value {
        let element_count = self.random.pick(&[2, 3, 4, 8]);
        let element_type = self.random.pick(&[Type::I32, Type::F32]);
        let base_address = self.input;
        let mut builder = self.builder_here();
        let (mask, bytes) = (builder.int(Type::I64, 7), builder.int(Type::I64, 32));
        let index = builder.binary(BinaryOp::And, index, mask);
        let offset = builder.binary(BinaryOp::Mul, index, bytes);
        let address = builder.ptr_add(base_address, offset);
        let inst_data = InstData::Load { pointer: address, offset: 0, access: Access::plain(4) };
        let instruction = builder.inst(inst_data, &vec![element_type; element_count]);
        let results = self.function.insts[instruction].results.clone();
        results.iter().for_each(|&value| {
            self.note_value(value, false);
        });
        results[element_count - 1]
    }

    /// Writes memory of this item alone, or adds to a counter.
    pub(super) fn random_store(&mut self) {
        let index = self.pick_value(Type::I64, false);
        let element_type = self.random.pick(&[Type::I32, Type::F32, Type::I64, Type::I8, Type::F64]);
        let value = self.pick_value(element_type, false);
        let value = self.value_as_word(value);
        let kind = if self.is_unordered { 2 + self.random.below(4) } else { self.random.below(6) };
        match kind {
            0 => {
                let (base_address, word_count) = (self.counters, COUNTER_WORDS);
                let address = self.cell_address(base_address, index, word_count);
                // All items add, so that their order does not matter.
                self.emit_atomic(AtomicOp::Add, address, value);
            }
            1 => {
                let old_value = self.atomic_to_output(index, value);
                self.note_value(old_value, false);
            }
            2 => {
                let other = self.pick_value(Type::I32, false);
                let element_count = self.random.pick(&[2, 4]);
                let (base_address, word_count) =
                    self.random.pick(&[(self.slot, SLOT_WORDS), (self.output, FREE_WORDS)]);
                let mut builder = self.builder_here();
                let (mask, bytes) =
                    (builder.int(Type::I64, i128::from(word_count / 4 - 1)), builder.int(Type::I64, 16));
                let index = builder.binary(BinaryOp::And, index, mask);
                let offset = builder.binary(BinaryOp::Mul, index, bytes);
                let pointer = builder.ptr_add(base_address, offset);
                let arguments = [value, other, value, other][..element_count].to_vec();
                builder.inst(InstData::Store { pointer, offset: 0, access: Access::plain(4), arguments }, &[]);
            }
            3 => {
                let (left, right) =
                    if self.random.percent(50) { (self.slot, self.output) } else { (self.output, self.slot) };
                let mut builder = self.builder_here();
                let length = builder.int(Type::I64, 16);
                builder.inst(
                    InstData::MemCopy { destination: left, source: right, length, overlap: false, volatile: false },
                    &[],
                );
            }
            _ => {
                let (base_address, word_count) =
                    self.random.pick(&[(self.slot, SLOT_WORDS), (self.output, FREE_WORDS)]);
                let address = self.cell_address(base_address, index, word_count);
                self.builder_here().store(address, value);
            }
        }
    }

    /// Changes one of the item's own words atomically; its old value.
    pub(super) fn atomic_to_output(&mut self, index: Value, value: Value) -> Value {
        let (base_address, word_count) = (self.output, FREE_WORDS);
        let address = self.cell_address(base_address, index, word_count);
        let opcode = self.random.pick(&[AtomicOp::Add, AtomicOp::Xor, AtomicOp::Umax, AtomicOp::Xchg]);
        self.emit_atomic(opcode, address, value)
    }

    fn emit_atomic(&mut self, opcode: AtomicOp, pointer: Value, argument: Value) -> Value {
        let inst_data = InstData::AtomicRmw { opcode, order: Ordering::Relaxed, align: 4, pointer, argument };
        let instruction = self.builder_here().inst(inst_data, &[Type::I32]);
        self.function.single_result(instruction)
    }
}
