//! Random calls of functions: what they give, they leave in private memory of the caller, in words of the output that belong to the
//! caller, or where they find the address of one of these.

use super::kernels::Generator;
use super::memory_sizes::{FREE_WORDS, SLOT_WORDS};
use crate::ir::*;
use cranelift_entity::PrimaryMap;
use lockstep_protocol::types::{Space, Type};

/// One function that changes the word that it is called with, in a loop, and one that calls it for a word of its own and
/// for another's, of which it finds the address in memory.
const FUNCTIONS: &str = "
function fn0 \"stir\" {
  input passed(0): i32
  input passed(1): ptr.generic
  region r0 {
  b0(v0: i32, v1: ptr.generic):
    v2: i32 = and v0, 7
    v3: i32 = load v1 align 4
    jump b1(v2, v3)
  b1(v4: i32, v5: i32):
    v6: i1 = icmp.eq v4, 0:i32
    br v6, b3, b2
  b2:
    v7: i32 = mul v5, 5
    v8: i32 = xor v7, v4
    v9: i32 = add v4, -1
    jump b1(v9, v8)
  b3:
    store v5 to v1 align 4
    return
  }
}
function fn1 \"stir_one_of_two\" {
  input passed(0): i32
  input passed(1): i64
  input passed(2): ptr.private
  input passed(3): ptr.private
  slot ss0 size 8 align 4
  region r0 {
  b0(v0: i32, v1: i64, v2: ptr.private, v3: ptr.private):
    v4: ptr.private = slot_addr ss0
    v5: i32 = trunc v1
    store v0, v5 to v4 align 4
    v6: ptr.generic = spacecast v4
    v7: i32 = and v0, 4
    v8: i1 = icmp.eq v7, 0:i32
    br v8, b1, b2
  b1:
    call fn0(v5, v6)
    jump b3(v6)
  b2:
    v9: ptr.generic = load v2 align 8
    call fn0(v0, v9)
    jump b3(v9)
  b3(v10: ptr.generic):
    v11: i32 = load v10 align 4
    v12: i32, v13: i32 = load v4 align 4
    v14: i32 = add v11, v12
    v15: i32 = xor v14, v13
    store v15 to v3 align 4
    return
  }
}
function fn2 \"returns_on_two_ways\" {
  input passed(0): i32
  input passed(1): i64
  input passed(2): i32
  result i32
  result i64
  slot ss0 size 4 align 4
  region r0 {
  b0(v0: i32, v1: i64, v2: i32):
    v3: i32 = and v2, 2
    v4: i1 = icmp.eq v3, 0:i32
    br v4, b1, b2
  b1:
    v5: i64 = mul v1, 3
    set_results v2, v5
    return
  b2:
    v6: ptr.private = slot_addr ss0
    store v0 to v6 align 4
    v7: ptr.generic = spacecast v6
    call fn0(v2, v7)
    v8: i32 = load v6 align 4
    v9: i64 = zext v8
    v10: i64 = xor v9, v1
    set_results v8, v10
    return
  }
}
";

/// The functions that [`Generator::emit_call`] calls.
pub(super) fn called_functions() -> PrimaryMap<Callee, Kernel> {
    parse_module(FUNCTIONS).map(|module| module.functions).unwrap_or_default()
}

impl Generator {
    /// Calls one of the functions.
    pub(super) fn emit_call(&mut self) {
        if self.random.percent(50) {
            return self.emit_call_with_results();
        }
        let (number, index) = (self.pick_value(Type::I32, false), self.pick_value(Type::I64, false));
        let word = if self.random.percent(50) {
            self.cell_address(self.output, index, FREE_WORDS)
        } else {
            self.cell_address(self.slot, index, SLOT_WORDS)
        };
        let word = self.builder_here().unary(UnaryOp::SpaceCast, Type::Ptr(Space::Generic), word);
        if self.random.percent(40) {
            let arguments = vec![number, word];
            self.builder_here().inst(InstData::Call { callee: Callee::from_u32(0), arguments }, &[]);
            return;
        }
        let [address_of_word, result] = self.call_slots;
        let mut builder = self.builder_here();
        builder.store(address_of_word, word);
        let arguments = vec![number, index, address_of_word, result];
        builder.inst(InstData::Call { callee: Callee::from_u32(1), arguments }, &[]);
        let value = builder.load(Type::I32, result);
        self.note_value(value, false);
        self.keep_value(value);
    }

    /// Calls a function with arguments of which each may be the same for all work-items, and uses what it returns.
    fn emit_call_with_results(&mut self) {
        let all_uniform = self.random.percent(30);
        let [number_uniform, index_uniform, way_uniform] = [0; 3].map(|_| all_uniform || self.random.percent(40));
        let number = self.pick_value(Type::I32, number_uniform);
        let index = self.pick_value(Type::I64, index_uniform);
        let way = self.pick_value(Type::I32, way_uniform);
        let call = InstData::Call { callee: Callee::from_u32(2), arguments: vec![number, index, way] };
        let mut builder = self.builder_here();
        let instruction = builder.inst(call, &[Type::I32, Type::I64]);
        let [first, second] = [0, 1].map(|result| self.function.insts[instruction].results[result]);
        let are_uniform = [number, index, way].into_iter().all(|argument| self.is_uniform(argument));
        self.note_value(first, are_uniform);
        self.note_value(second, are_uniform);
        self.keep_value(first);
    }
}
