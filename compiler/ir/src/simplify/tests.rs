//! The rules are true: on corner values and random ones, of every type that they fit, both sides come to the same.

use super::matching::{self, Matcher};
use super::pattern::{NAMES, Number, Op, Pattern, Rule};
use super::rules::{RULES, RULES_OF_MASKS};
use super::*;
use crate::ir::{BinaryOp, Builder, ValueDef};
use crate::testing::Random;
use crate::verify::takes_types;
use lockstep_protocol::types::Space;

const TYPES: [Type; 12] = [
    Type::BOOL,
    Type::I8,
    Type::Int(13),
    Type::I16,
    Type::I32,
    Type::I64,
    Type::Int(128),
    Type::F16,
    Type::F32,
    Type::F64,
    Type::Ptr(Space::Global),
    Type::Ptr(Space::Private),
];

fn every_rule() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().chain(RULES_OF_MASKS)
}

/// A side of a rule with the types of its parts.
#[derive(Clone)]
enum Typed {
    Name(usize),
    Constant(u128, Type),
    Result(Op, Vec<Typed>, Type),
}

/// The types of names that are known.
type Names = [Option<Type>; NAMES];

/// Each way to give a pattern types, with a type for the whole.
fn typings(pattern: Pattern, value_type: Type, names: Names) -> Vec<(Typed, Names)> {
    match pattern {
        Pattern::Any(name) => {
            let mut names = names;
            let fits = *names[name].get_or_insert(value_type) == value_type;
            if fits { vec![(Typed::Name(name), names)] } else { Vec::new() }
        }
        Pattern::Number(number) => {
            number.bits_as(value_type).map(|bits| (Typed::Constant(bits, value_type), names)).into_iter().collect()
        }
        Pattern::Op(opcode, patterns) => {
            let mut found = Vec::new();
            for types in operand_types(opcode, value_type) {
                let mut partial = vec![(Vec::new(), names)];
                for (&pattern, value_type) in patterns.iter().zip(types) {
                    let more = |(before, names): &(Vec<Typed>, Names)| {
                        let before = before.clone();
                        let with = move |(operand, names)| ([before.clone(), vec![operand]].concat(), names);
                        typings(pattern, value_type, *names).into_iter().map(with).collect::<Vec<_>>()
                    };
                    partial = partial.iter().flat_map(more).collect();
                }
                found.extend(
                    partial.into_iter().map(|(operands, names)| (Typed::Result(opcode, operands, value_type), names)),
                );
            }
            found
        }
    }
}

/// The types that the operands of an operation with a result of a type may have.
fn operand_types(opcode: Op, value_type: Type) -> Vec<Vec<Type>> {
    let from = |fits: &dyn Fn(Type) -> bool| {
        TYPES.iter().filter(|&&value_type| fits(value_type)).map(|&value_type| vec![value_type]).collect()
    };
    let only = |fits: bool, types: &[Type]| if fits { vec![types.to_vec()] } else { Vec::new() };
    match opcode {
        Op::Unary(opcode) => from(&|of| takes_types(opcode, of, value_type)),
        Op::Binary(BinaryOp::Copysign) => only(value_type.is_float(), &[value_type; 2]),
        Op::Binary(_) => only(value_type.is_int(), &[value_type; 2]),
        Op::Ternary(TernaryOp::Select) => only(true, &[Type::BOOL, value_type, value_type]),
        Op::Ternary(TernaryOp::Fshl | TernaryOp::Fshr) => only(value_type.is_int(), &[value_type; 3]),
        Op::Ternary(opcode) => panic!("say which types {} has", opcode.name()),
        Op::Icmp(_) if value_type == Type::BOOL => {
            TYPES.iter().filter(|of| of.is_int() || of.is_ptr()).map(|&of| vec![of; 2]).collect()
        }
        Op::Icmp(_) => Vec::new(),
        Op::PtrAdd => only(value_type.is_ptr(), &[value_type, Type::I64]),
    }
}

/// A function that computes a side of a rule.
struct Computed {
    function: Function,
    names: [Option<Value>; NAMES],
}

impl Computed {
    /// One that computes nothing yet.
    fn of(types: &Names) -> Computed {
        let mut function = Function::new();
        let given: Vec<Type> = types.iter().flatten().copied().collect();
        let (_, parameters) = Builder::with_entry(&mut function, &given);
        let mut parameters = parameters.into_iter();
        Computed { function, names: types.map(|value_type| value_type.and_then(|_| parameters.next())) }
    }

    /// Computes a part; with operands that may be exchanged the other way round if `exchanged`.
    fn make(&mut self, part: &Typed, exchanged: bool) -> Value {
        match part {
            Typed::Name(name) => self.names[*name].expect("it has a type"),
            Typed::Constant(bits, value_type) => self.function.constant(*value_type, *bits),
            Typed::Result(opcode, operands, value_type) => {
                let mut made: Vec<Value> = operands.iter().map(|part| self.make(part, exchanged)).collect();
                let other = opcode.with_exchanged_operands().filter(|_| exchanged);
                if other.is_some() {
                    made.reverse();
                }
                let operand = |index: usize| made.get(index).copied();
                let data = instruction_of(other.unwrap_or(*opcode), [operand(0), operand(1), operand(2)]);
                let entry_block = self.function.entry_block();
                Builder::at_end_of(&mut self.function, entry_block)
                    .inst(data.expect("it has its operands"), &[*value_type]);
                let instruction = *self.function.blocks[entry_block].insts.last().expect("just made");
                self.function.single_result(instruction)
            }
        }
    }

    /// The bits of a value, given those of the names; nothing where the operation is undefined.
    fn evaluate(&self, value: Value, given: &[u128]) -> Option<u128> {
        match self.function.values[value].definition {
            ValueDef::Const(bits) => Some(bits),
            ValueDef::Param(_, index) => Some(given[index as usize]),
            ValueDef::Result(instruction, _) => {
                self.evaluate_operation(&self.function.insts[instruction].data, self.function.ty(value), given)
            }
        }
    }

    fn evaluate_operation(&self, inst_data: &InstData, value_type: Type, given: &[u128]) -> Option<u128> {
        let mut bits = Vec::new();
        inst_data.for_each_arg(|value| bits.push((value, self.evaluate(value, given))));
        let all: Option<Vec<(Value, u128)>> = bits.into_iter().map(|(value, bits)| Some((value, bits?))).collect();
        let all = all?;
        let of = |value| all.iter().find(|(other, _)| *other == value).expect("an operand").1;
        evaluate_instruction(inst_data, value_type, |value| self.function.ty(value), of)?.ok()
    }
}

/// Values of a type where mistakes show, and some others.
fn samples(value_type: Type, random: &mut Random) -> Vec<u128> {
    let least = value_type.value_mask() ^ value_type.value_mask() >> 1;
    let mut found = vec![0, 1, 2, 3, value_type.value_mask(), value_type.value_mask() - 1, least, least + 1, least - 1];
    if value_type.is_float() {
        let float =
            |opcode, x: f64| crate::eval::unary::evaluate_unary(opcode, Type::F64, value_type, x.to_bits().into());
        let opcode = if value_type == Type::F64 { UnaryOp::Bitcast } else { UnaryOp::FpTrunc };
        let numbers = [1.0, -1.0, 0.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        found.extend(numbers.map(|x| float(opcode, x)));
        // Infinity plus one is a signaling NaN.
        found.push(float(opcode, f64::INFINITY) + 1);
    }
    found.extend((0..6).map(|_| u128::from(random.next_bits()) << 64 | u128::from(random.next_bits())));
    found.into_iter().map(|bits| bits & value_type.value_mask()).collect()
}

/// Each choice of one of the samples for each of the names.
fn combinations(types: &Names, random: &mut Random) -> Vec<Vec<u128>> {
    let mut found = vec![Vec::new()];
    for value_type in types.iter().flatten() {
        let samples = samples(*value_type, random);
        let more = |given: &Vec<u128>| {
            let given = given.clone();
            samples.iter().map(move |&bits| [given.clone(), vec![bits]].concat()).collect::<Vec<_>>()
        };
        found = found.iter().flat_map(more).collect();
    }
    found
}

/// The operation that a function computes last, and its type.
fn last(computed: &Computed, value: Value) -> (InstData, Type) {
    let ValueDef::Result(instruction, _) = computed.function.values[value].definition else {
        panic!("a rule replaces an operation")
    };
    (computed.function.insts[instruction].data.clone(), computed.function.ty(value))
}

/// Checks a rule where its left side has these types; whether it applies there.
fn holds(rule: &Rule, left: &Typed, types: &Names, exchanged: bool, random: &mut Random) -> bool {
    let mut computed = Computed::of(types);
    let value = computed.make(left, exchanged);
    let (inst_data, value_type) = last(&computed, value);
    let operation = matching::operation_of(&inst_data).expect("rules tell of it");
    let found = {
        let function = &computed.function;
        Matcher { function, constant: |value| function.const_bits(value) }.apply_rule(rule, operation, value_type)
    };
    let Some(found) = found else { return false };
    let right = match found {
        Found::Constant(bits) => Simpler::Value(computed.function.constant(value_type, bits)),
        Found::Value(value) => Simpler::Value(value),
        Found::Operation(opcode, arguments) => {
            let arguments = arguments.map(|argument| value_of(&mut computed.function, value_type, argument));
            Simpler::Operation(instruction_of(opcode, arguments).expect("it has its operands"))
        }
    };
    for given in combinations(types, random) {
        let Some(wanted) = computed.evaluate(value, &given) else { continue };
        let now = match &right {
            Simpler::Value(value) => computed.evaluate(*value, &given),
            Simpler::Operation(inst_data) => computed.evaluate_operation(inst_data, value_type, &given),
        };
        assert_eq!(now, Some(wanted), "{}, {inst_data:?} of {types:?} on {given:x?}", rule.text);
    }
    true
}

#[test]
fn rules_are_true() {
    let mut random = Random::new(33);
    for rule in every_rule() {
        let mut applied = [0; 2];
        for (left, types) in TYPES.iter().flat_map(|&value_type| typings(rule.from, value_type, [None; NAMES])) {
            for exchanged in [false, true] {
                applied[usize::from(exchanged)] += u32::from(holds(rule, &left, &types, exchanged, &mut random));
            }
        }
        assert!(applied[0] > 0 && applied[0] == applied[1], "{} applies to {applied:?} types", rule.text);
    }
}

/// A rule that others come before is none.
#[test]
fn rules_are_needed() {
    let is_needed = |rule: &&Rule| {
        let is_first = |(left, types): (Typed, Names)| {
            let mut computed = Computed::of(&types);
            let value = computed.make(&left, false);
            let (inst_data, value_type) = last(&computed, value);
            let function = &computed.function;
            let matcher = Matcher { function, constant: |value| function.const_bits(value) };
            let operation = matching::operation_of(&inst_data).expect("rules tell of it");
            let first = every_rule().find(|rule| matcher.apply_rule(rule, operation, value_type).is_some());
            first.is_some_and(|first| first.text == rule.text)
        };
        let mut ways = TYPES.iter().flat_map(|&value_type| typings(rule.from, value_type, [None; NAMES]));
        ways.any(is_first)
    };
    let others: Vec<&str> = every_rule().filter(|rule| !is_needed(rule)).map(|rule| rule.text).collect();
    assert!(others.is_empty(), "others tell what these do: {others:?}");
}

/// Counts the operations of a side, and how often it uses each name.
fn count(pattern: Pattern, uses: &mut [usize; NAMES]) -> usize {
    match pattern {
        Pattern::Any(name) => {
            uses[name] += 1;
            0
        }
        Pattern::Number(_) => 0,
        Pattern::Op(_, operands) => 1 + operands.iter().map(|&operand| count(operand, uses)).sum::<usize>(),
    }
}

/// So that simplifying ends, and what is undefined is not asked more often than before.
#[test]
fn right_sides_are_simpler() {
    for rule in every_rule() {
        let (mut left, mut right) = ([0; NAMES], [0; NAMES]);
        let (before, after) = (count(rule.from, &mut left), count(rule.to, &mut right));
        assert!(right.iter().zip(left).all(|(&right, left)| right <= left), "{}", rule.text);
        // Of two conditions one is made without a choice.
        let chooses = |pattern| matches!(pattern, Pattern::Op(Op::Ternary(TernaryOp::Select), _));
        let same_count = after == before && chooses(rule.from) && !chooses(rule.to);
        let compares = |pattern| matches!(pattern, Pattern::Op(Op::Icmp(_), _));
        assert!(after < before || same_count || compares(rule.from) && after == before, "{}", rule.text);
        assert!(before <= 1 + matching::MOST_PARTS, "{} has more parts than are kept", rule.text);
    }
}

#[test]
fn builders_fold() {
    let mut function = Function::new();
    let (builder, parameters) = Builder::with_entry(&mut function, &[Type::I32, Type::BOOL]);
    let entry_block = builder.current_block();
    let (operand, c) = (parameters[0], parameters[1]);
    let [two, three, six, if_false] = [(Type::I32, 2), (Type::I32, 3), (Type::I32, 6), (Type::BOOL, 0)]
        .map(|(value_type, bits)| function.constant(value_type, bits));
    let mut b = FoldingBuilder::at_end_of(&mut function, entry_block);
    assert_eq!(b.binary(BinaryOp::Mul, two, three), six, "constants are evaluated");
    let same = b.icmp(crate::ir::IntCc::Ne, operand, operand);
    assert_eq!(same, if_false, "rules give constants");
    assert_eq!(b.or(same, c), c, "of what was folded as well");
    let not = b.not(c);
    assert_eq!(b.not(not), c, "what made an operand is seen");
    let zero = b.binary(BinaryOp::Sub, operand, operand);
    assert_eq!(b.binary(BinaryOp::Add, zero, operand), operand);
    assert_ne!(b.select(c, c, if_false), b.and(c, if_false), "where operands may be poison, a choice hides it");
    assert_eq!(function.blocks[entry_block].insts.len(), 2, "the opposite of c, and the choice");
}

/// Division by zero has no result.
#[test]
fn what_is_undefined_stays() {
    let mut function = Function::new();
    let (builder, _) = Builder::with_entry(&mut function, &[]);
    let entry_block = builder.current_block();
    let [four, none] = [4, 0].map(|bits| function.constant(Type::I32, bits));
    FoldingBuilder::at_end_of(&mut function, entry_block).binary(BinaryOp::Udiv, four, none);
    assert_eq!(function.blocks[entry_block].insts.len(), 1);
}

#[test]
fn numbers_have_types() {
    assert_eq!(Number::Least.bits_as(Type::I8), Some(0x80));
    assert_eq!(Number::Greatest.bits_as(Type::Int(128)), Some(u128::MAX >> 1));
    assert_eq!((Number::True.bits_as(Type::I8), Number::Ones.bits_as(Type::F32)), (None, None));
}
