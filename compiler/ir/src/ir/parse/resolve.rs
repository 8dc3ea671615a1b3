//! What is known only at a function's end: which values and blocks there are, and literals' types.

use super::super::lex::Pos;
use super::super::print::operand_type;
use super::super::*;
use super::Result;
use half::f16;
use lockstep_protocol::types::Type;
use std::collections::{HashMap, HashSet};

/// Numbers from here on stand for literals until the types are known.
pub(super) const LITERALS: u32 = 1 << 30;

/// A literal as written.
pub(super) struct Literal {
    pub text: String,
    pub ty: Option<Type>,
    pub position: Pos,
}

/// A function while its text is read.
#[derive(Default)]
pub(super) struct Body {
    pub literals: Vec<Literal>,
    /// Type, definition and place of each value.
    pub values: HashMap<u32, (Type, Pos)>,
    pub blocks: Vec<(u32, Pos, PendingBlock)>,
    pub value_uses: Vec<(Value, Pos)>,
    pub block_uses: Vec<(Block, Pos)>,
}

#[derive(Default)]
pub(super) struct PendingBlock {
    pub params: Vec<Value>,
    pub mask: Option<Value>,
    pub insts: Vec<(InstData, Vec<Value>, SourceLoc)>,
    pub terminator: Option<(PendingTerm, Pos)>,
}

pub(super) enum PendingTerm {
    Ready(Terminator),
    /// A switch whose keys wait for their type.
    Switch(Value, Vec<(Literal, BlockCall)>, BlockCall),
}

impl Body {
    /// Puts values and blocks at their numbers and gives literals their types.
    pub fn resolve_function(mut self) -> Result<Function> {
        let mut function = Function::new();
        let mut in_layout = HashSet::new();
        for &(value, position) in &self.value_uses {
            if !self.values.contains_key(&value.as_u32()) {
                return position.error_at(format!("{value} is not defined"));
            }
        }
        let value_count = self.values.keys().max().map_or(0, |last| last + 1);
        for (number, position, block) in &mut self.blocks {
            let block_key = Block::from_u32(*number);
            if !in_layout.insert(block_key) {
                return position.error_at(format!("{block_key} is defined twice"));
            }
            while function.blocks.len() <= *number as usize {
                function.blocks.push(BlockData {
                    params: Vec::new(),
                    insts: Vec::new(),
                    terminator: Terminator::Unreachable,
                });
            }
            function.layout.push(block_key);
            function.blocks[block_key].params = std::mem::take(&mut block.params);
        }
        for &(block, position) in &self.block_uses {
            if !in_layout.contains(&block) {
                return position.error_at(format!("{block} is not defined"));
            }
        }
        // Instructions and terminators with literals still in place of constants.
        let mut terminators = Vec::new();
        let mut masks = Vec::new();
        let mut definitions: HashMap<u32, ValueDef> = HashMap::new();
        for (number, _, block) in self.blocks.drain(..) {
            let block_key = Block::from_u32(number);
            for (i, value) in function.blocks[block_key].params.iter().enumerate() {
                definitions.insert(value.as_u32(), ValueDef::Param(block_key, i as u32));
            }
            for (inst_data, results, location) in block.insts {
                let instruction = function.insts.next_key();
                for (i, value) in results.iter().enumerate() {
                    definitions.insert(value.as_u32(), ValueDef::Result(instruction, i as u32));
                }
                function.insts.push(InstNode { data: inst_data, results, location });
                function.blocks[block_key].insts.push(instruction);
            }
            masks.extend(block.mask.map(|mask| (block_key, mask)));
            terminators.extend(block.terminator.map(|(terminator, _)| (block_key, terminator)));
        }
        let mut constants = Constants::new(&self.literals);
        for &(_, mask) in &masks {
            constants.resolve_literal(mask, Some(Type::BOOL))?;
        }
        for inst_node in function.insts.values() {
            let types: Vec<Type> = inst_node.results.iter().filter_map(|&result| self.type_of(result)).collect();
            let mut index = 0;
            let mut outcome = Ok(());
            inst_node.data.for_each_arg(|operand| {
                if outcome.is_ok() {
                    outcome = constants.resolve_literal(operand, operand_type(&inst_node.data, &types, index));
                }
                index += 1;
            });
            outcome?;
        }
        let mut finished_terms = Vec::new();
        for (block, terminator) in terminators {
            let terminator = match terminator {
                PendingTerm::Ready(terminator) => terminator,
                PendingTerm::Switch(value, cases, default) => {
                    Terminator::Switch { value, cases: resolve_cases(self.type_of(value), cases)?, default }
                }
            };
            if let Some(selector) = terminator.selector() {
                let branch = matches!(terminator, Terminator::Branch { .. });
                constants.resolve_literal(selector, branch.then_some(Type::BOOL))?;
            }
            for target in terminator.targets() {
                for (i, &argument) in target.arguments.iter().enumerate() {
                    let param = function.blocks[target.block].params.get(i);
                    constants.resolve_literal(argument, param.and_then(|&parameter| self.type_of(parameter)))?;
                }
            }
            finished_terms.push((block, terminator));
        }
        let mut in_order = constants.in_order.into_iter();
        for value in 0..value_count {
            match (definitions.get(&value), self.values.get(&value)) {
                (Some(&definition), Some(&(value_type, _))) => {
                    function.values.push(ValueData { ty: value_type, definition });
                }
                _ => {
                    while function.values.len() <= value as usize {
                        match in_order.next() {
                            Some((value_type, bits)) => {
                                function.constant(value_type, bits);
                            }
                            None => {
                                function.values.push(ValueData { ty: Type::BOOL, definition: ValueDef::Const(0) });
                            }
                        }
                    }
                }
            }
        }
        let mut constant_of: HashMap<u32, Value> = HashMap::new();
        for (i, constant) in constants.of_literals.iter().enumerate() {
            if let Some((value_type, bits)) = *constant {
                constant_of.insert(LITERALS + i as u32, function.constant(value_type, bits));
            }
        }
        let settle = |operand: Value| constant_of.get(&operand.as_u32()).copied().unwrap_or(operand);
        for inst_node in function.insts.values_mut() {
            inst_node.data.map_args(settle);
        }
        for (block, mask) in masks {
            function.masks[block] = settle(mask).into();
        }
        for (block, mut terminator) in finished_terms {
            terminator.map_args(settle);
            function.blocks[block].terminator = terminator;
        }
        Ok(function)
    }

    /// The type of a value, or that which a literal is written with.
    fn type_of(&self, value: Value) -> Option<Type> {
        match value.as_u32().checked_sub(LITERALS) {
            Some(literal) => self.literals[literal as usize].ty,
            None => self.values.get(&value.as_u32()).map(|&(value_type, _)| value_type),
        }
    }
}

/// What the literals of a function stand for.
struct Constants<'a> {
    literals: &'a [Literal],
    /// Type and bits of each literal, once its type is known.
    of_literals: Vec<Option<(Type, u128)>>,
    /// The constants in the order of their first use.
    in_order: Vec<(Type, u128)>,
}

impl Constants<'_> {
    fn new(literals: &[Literal]) -> Constants<'_> {
        Constants { literals, of_literals: vec![None; literals.len()], in_order: Vec::new() }
    }

    /// Gives an operand's literal the type that is written with it, or else the one that is expected there.
    fn resolve_literal(&mut self, operand: Value, expected: Option<Type>) -> Result<()> {
        let Some(index) = operand.as_u32().checked_sub(LITERALS) else {
            return Ok(());
        };
        let literal = &self.literals[index as usize];
        let Some(literal_type) = literal.ty.or(expected) else {
            return literal.position.error_at(format!("`{}` needs a type here, like `{0}:i32`", literal.text));
        };
        let constant = (literal_type, literal.to_bits(literal_type)?);
        self.of_literals[index as usize] = Some(constant);
        self.in_order.push(constant);
        Ok(())
    }
}

/// The cases of a switch, whose keys have the type of what it looks at.
fn resolve_cases(selector_type: Option<Type>, cases: Vec<(Literal, BlockCall)>) -> Result<Vec<(u128, BlockCall)>> {
    let to_case = |(key, target): (Literal, BlockCall)| match selector_type {
        Some(selector_type) => Ok((key.to_bits(selector_type)?, target)),
        None => key.position.error_at("the switch's value has no type"),
    };
    cases.into_iter().map(to_case).collect()
}

impl Literal {
    /// The bits this literal has as a value of a type.
    fn to_bits(&self, value_type: Type) -> Result<u128> {
        let text = self.text.as_str();
        let error_here = || self.position.error_at(format!("`{text}` is no {value_type}"));
        if let Some(digits) = text.strip_prefix("0x") {
            return match u128::from_str_radix(digits, 16) {
                Ok(bits) if bits & value_type.value_mask() == bits => Ok(bits),
                _ => error_here(),
            };
        }
        match (value_type, text) {
            (Type::Int(1), "true") => return Ok(1),
            (Type::Int(1), "false") | (Type::Ptr(_), "null") => return Ok(0),
            (_, "true" | "false" | "null") => return error_here(),
            _ => {}
        }
        match value_type {
            Type::Int(bit_width) => {
                // From the least signed to the greatest unsigned number of this width.
                let magnitude = text.strip_prefix('-').unwrap_or(text);
                let Ok(number) = magnitude.parse::<u128>() else {
                    return error_here();
                };
                let negative = magnitude.len() < text.len();
                let limit = if negative { 1 << (bit_width - 1) } else { value_type.value_mask() };
                if number > limit {
                    return error_here();
                }
                Ok(if negative { number.wrapping_neg() & value_type.value_mask() } else { number })
            }
            Type::F16 => match text.parse::<f32>() {
                Ok(float) if !float.is_nan() => Ok(u128::from(f16::from_f32(float).to_bits())),
                _ => error_here(),
            },
            Type::F32 => match text.parse::<f32>() {
                Ok(float) if !float.is_nan() => Ok(u128::from(float.to_bits())),
                _ => error_here(),
            },
            Type::F64 => match text.parse::<f64>() {
                Ok(float) if !float.is_nan() => Ok(u128::from(float.to_bits())),
                _ => error_here(),
            },
            Type::Ptr(_) => error_here(),
        }
    }
}
