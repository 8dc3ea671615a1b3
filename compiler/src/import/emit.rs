//! The function under construction, and short forms for the instructions that import makes.

use super::constants::{self, Scalar};
use super::error::{Attempt, refuse};
use super::expressions;
use super::llvm::{Block as LlvmBlock, Type as LlvmType, TypeKind, Value as LlvmValue};
use super::module_builder::ModuleBuilder;
use super::types::leaf_types;
use cranelift_entity::PrimaryMap;
use lockstep_ir::ir::{
    BinaryOp, Block, FastMath, FloatCc, Function, Inst, InstData, IntCc, IntFlags, LocalData, LocalVar, Query, Slot,
    SlotData, SourceLoc, TernaryOp, UnaryOp, Value, ValueDef,
};
use lockstep_ir::simplify::{Operands, Simpler, simplest_form};
use lockstep_protocol::parameters::{IMAGE_BYTES, Input};
use lockstep_protocol::types::{Space, Type};
use std::collections::HashMap;
use std::rc::Rc;

/// The scalars of one LLVM value, in order.
pub(super) type Lanes = Rc<[Value]>;

/// Applies `map_value` to each lane.
pub(super) fn map_lanes(arguments: &[Value], mut map_value: impl FnMut(Value) -> Value) -> Lanes {
    arguments.iter().map(|&value| map_value(value)).collect()
}

/// Applies `map_value` to each lane with its result type.
pub(super) fn map_typed_lanes(
    arguments: &[Value],
    types: &[Type],
    mut map_value: impl FnMut(Value, Type) -> Value,
) -> Lanes {
    arguments.iter().zip(types).map(|(&value, &scalar_type)| map_value(value, scalar_type)).collect()
}

/// What a function that is called has, and a kernel has not.
#[derive(Default)]
pub(super) struct CalledBody {
    /// What it asks of its work-item, and the parameters in which it finds the answers, which follow the others.
    pub asked: Vec<((Query, u8), Value)>,
}

/// A kernel's code, or a function's, while it is imported.
pub(super) struct Body<'a, 'm> {
    /// What the kernels share.
    pub module: &'a mut ModuleBuilder<'m>,
    /// The function so far.
    pub function: Function,
    /// Private slots so far.
    pub slots: PrimaryMap<Slot, SlotData>,
    /// Local variables so far.
    pub locals: PrimaryMap<LocalVar, LocalData>,
    /// The scalars of each value met so far.
    pub values: HashMap<LlvmValue<'m>, Lanes>,
    /// Our block for each of LLVM's reachable ones.
    pub blocks: HashMap<LlvmBlock<'m>, Block>,
    /// Where new instructions go.
    pub at: Block,
    /// What must come first in the entry: addresses of variables and values made of them.
    pub prelude: Vec<Inst>,
    in_prelude: bool,
    /// The place in the source of the instruction being imported.
    pub location: SourceLoc,
    /// The parameters that are images.
    pub images: HashMap<LlvmValue<'m>, u32>,
    /// The fields of images that have been asked for, which follow the other inputs.
    pub image_inputs: Vec<(Input, Type)>,
    image_fields: HashMap<(u32, u32, Type), Value>,
    /// What is particular to a function that is called; none in a kernel.
    pub called: Option<CalledBody>,
    local_vars: HashMap<LlvmValue<'m>, LocalVar>,
    addresses: HashMap<(LlvmValue<'m>, i64, Type), Value>,
}

impl<'a, 'm> Body<'a, 'm> {
    /// A function with an empty entry block.
    pub fn new(module_builder: &'a mut ModuleBuilder<'m>) -> Body<'a, 'm> {
        let mut function = Function::new();
        let entry_block = function.add_block();
        Body {
            module: module_builder,
            function,
            slots: PrimaryMap::new(),
            locals: PrimaryMap::new(),
            values: HashMap::new(),
            blocks: HashMap::new(),
            at: entry_block,
            prelude: Vec::new(),
            in_prelude: false,
            location: SourceLoc::default(),
            images: HashMap::new(),
            image_inputs: Vec::new(),
            image_fields: HashMap::new(),
            called: None,
            local_vars: HashMap::new(),
            addresses: HashMap::new(),
        }
    }

    /// A field of an image's record, by its offset in bytes: an input of the kernel.
    pub fn image_field(&mut self, llvm_image: LlvmValue<'m>, offset: u32, scalar_type: Type) -> Attempt<Value> {
        let Some(&parameter_index) = self.images.get(&llvm_image) else {
            refuse!("an image that is not an argument itself: {}", llvm_image.text());
        };
        if u64::from(offset) + u64::from(scalar_type.bytes()) > IMAGE_BYTES as u64 {
            refuse!("an image has no field at {offset}");
        }
        if let Some(&value) = self.image_fields.get(&(parameter_index, offset, scalar_type)) {
            return Ok(value);
        }
        let entry_block = self.function.entry_block();
        let value = self.function.add_param(entry_block, scalar_type);
        self.image_inputs.push((Input::Value { param: parameter_index, offset }, scalar_type));
        self.image_fields.insert((parameter_index, offset, scalar_type), value);
        Ok(value)
    }

    // What LLVM's values are here.

    /// The scalars of a value.
    pub fn lanes_of(&mut self, llvm_value: LlvmValue<'m>) -> Attempt<Lanes> {
        if let Some(lanes) = self.values.get(&llvm_value) {
            return Ok(lanes.clone());
        }
        if !llvm_value.is_constant() {
            refuse!("the value {}", llvm_value.text());
        }
        self.at_the_start(|kernel_body| expressions::expression_lanes(kernel_body, llvm_value, 0))
    }

    /// The scalars of a constant that is known now, or is a variable's address plus bytes.
    pub fn known_lanes(&mut self, llvm_value: LlvmValue<'m>) -> Attempt<Lanes> {
        let scalars = constants::constant_lanes(self.module.llvm, llvm_value)?;
        scalars
            .into_iter()
            .map(|(scalar_type, constant_scalar)| self.materialize_scalar(scalar_type, constant_scalar))
            .collect()
    }

    /// The only scalar of a value.
    pub fn scalar_of(&mut self, llvm_value: LlvmValue<'m>) -> Attempt<Value> {
        match self.lanes_of(llvm_value)?[..] {
            [lane] => Ok(lane),
            _ => refuse!("{} where one scalar is expected", llvm_value.text()),
        }
    }

    /// The scalars of an operand.
    pub fn operand_lanes(&mut self, instruction: LlvmValue<'m>, index: u32) -> Attempt<Lanes> {
        let operand = operand_of(instruction, index)?;
        self.lanes_of(operand)
    }

    /// The only scalar of an operand.
    pub fn scalar_operand(&mut self, instruction: LlvmValue<'m>, index: u32) -> Attempt<Value> {
        let operand = operand_of(instruction, index)?;
        self.scalar_of(operand)
    }

    /// The types of the scalars of a type.
    pub fn leaf_types(&self, llvm_type: LlvmType<'m>) -> Attempt<Vec<Type>> {
        leaf_types(self.module.llvm, llvm_type)
    }

    fn materialize_scalar(&mut self, scalar_type: Type, constant_scalar: Scalar<'m>) -> Attempt<Value> {
        match constant_scalar {
            Scalar::Bits(bit_pattern) => Ok(self.function.constant(scalar_type, bit_pattern)),
            Scalar::Address(base, offset) => self.materialize_address(base, offset, scalar_type),
        }
    }

    /// A variable's address plus bytes, as a value of this type, at the start of the function.
    pub fn materialize_address(&mut self, base_value: LlvmValue<'m>, offset: i64, scalar_type: Type) -> Attempt<Value> {
        if let Some(&value) = self.addresses.get(&(base_value, offset, scalar_type)) {
            return Ok(value);
        }
        let value = self.at_the_start(|kernel_body| kernel_body.make_address(base_value, offset, scalar_type))?;
        self.addresses.insert((base_value, offset, scalar_type), value);
        Ok(value)
    }

    /// Puts what is made where it serves the whole function; it has no place in the source.
    fn at_the_start<T>(&mut self, make_values: impl FnOnce(&mut Self) -> T) -> T {
        let location = std::mem::take(&mut self.location);
        let outside = std::mem::replace(&mut self.in_prelude, true);
        let result = make_values(self);
        self.in_prelude = outside;
        self.location = location;
        result
    }

    fn make_address(&mut self, base_value: LlvmValue<'m>, offset: i64, scalar_type: Type) -> Attempt<Value> {
        let address_space = match base_value.ty().kind() {
            TypeKind::Ptr(number) => Space::from_number(number),
            _ => None,
        };
        let (inst_data, base_ty, byte_size) = if address_space == Some(Space::Local) {
            let local_var = self.local_var(base_value)?;
            let byte_size = self.locals[local_var].size;
            (InstData::LocalAddr { local: local_var }, Type::Ptr(Space::Local), byte_size)
        } else {
            let ModuleBuilder { globals, out: output, .. } = &mut *self.module;
            let global = globals.global_of(output, base_value)?;
            let global_data = &output.globals[global];
            let byte_size = global_data.init.len() as u64;
            let scalar_type = Type::Ptr(global_data.space);
            (InstData::GlobalAddr { global }, scalar_type, byte_size)
        };
        // One instruction for the variable itself, shared by all of its uses.
        let start_address = match self.addresses.get(&(base_value, 0, base_ty)) {
            Some(&start_address) => start_address,
            None => {
                let start_address = self.append_single(inst_data, base_ty);
                self.addresses.insert((base_value, 0, base_ty), start_address);
                start_address
            }
        };
        let inbounds = u64::try_from(offset).is_ok_and(|offset| offset <= byte_size);
        let pointer = match offset {
            0 => start_address,
            _ => {
                let offset = self.int_constant(Type::I64, offset as u64 as u128);
                self.ptr_add(start_address, offset, inbounds)
            }
        };
        Ok(match scalar_type {
            Type::Ptr(_) => self.space_cast(scalar_type, pointer),
            _ => self.unary(UnaryOp::PtrToInt, scalar_type, pointer),
        })
    }

    fn local_var(&mut self, variable: LlvmValue<'m>) -> Attempt<LocalVar> {
        if let Some(&local_index) = self.local_vars.get(&variable) {
            return Ok(local_index);
        }
        let name = variable.name();
        if self.called.is_some() {
            refuse!("the local variable {name} in a function that is called");
        }
        let Some(llvm_type) = variable.value_type() else {
            refuse!("{name} is not a variable");
        };
        if variable.initial_value().is_none_or(|initial| !initial.is_undef() && !initial.is_zero()) {
            refuse!("the local variable {name} has an initialiser or no definition");
        }
        let byte_size = super::types::size_of(self.module.llvm, llvm_type)?;
        let alignment = match variable.align() {
            0 => self.module.llvm.align_of(llvm_type).unwrap_or(1),
            alignment => alignment,
        };
        let local_index = self.locals.push(LocalData { size: byte_size, align: alignment, counters: None });
        self.local_vars.insert(variable, local_index);
        Ok(local_index)
    }

    // Instructions.

    fn append_inst(&mut self, inst_data: InstData, types: &[Type]) -> Inst {
        let instruction = self.function.make_inst(inst_data, types, self.location);
        let block_instructions =
            if self.in_prelude { &mut self.prelude } else { &mut self.function.blocks[self.at].insts };
        block_instructions.push(instruction);
        instruction
    }

    /// An instruction without a result.
    pub fn append_effect(&mut self, inst_data: InstData) {
        self.append_inst(inst_data, &[]);
    }

    /// An instruction with one result, or what stands for it.
    pub fn append_single(&mut self, inst_data: InstData, scalar_type: Type) -> Value {
        let inst_data = match simplest_form(&mut self.function, inst_data, scalar_type, Operands::Any) {
            Simpler::Value(value) => return value,
            Simpler::Operation(inst_data) => inst_data,
        };
        let instruction = self.append_inst(inst_data, &[scalar_type]);
        self.function.single_result(instruction)
    }

    /// An instruction with several results.
    pub fn append_many(&mut self, inst_data: InstData, types: &[Type]) -> Vec<Value> {
        let instruction = self.append_inst(inst_data, types);
        self.function.insts[instruction].results.clone()
    }

    /// An integer constant.
    pub fn int_constant(&mut self, scalar_type: Type, bit_pattern: u128) -> Value {
        self.function.constant(scalar_type, bit_pattern)
    }

    /// The type of a value.
    pub fn type_of(&self, value: Value) -> Type {
        self.function.ty(value)
    }

    /// The number of whose square root `right` a quotient of floats `left / right` is the reciprocal.
    pub fn reciprocal_of_root(&self, left: Value, right: Value) -> Option<Value> {
        let is_one = self.function.const_bits(left) == Some(1_f32.to_bits().into());
        let ValueDef::Result(instruction, _) = self.function.values[right].definition else { return None };
        match self.function.insts[instruction].data {
            InstData::Unary { opcode: UnaryOp::Sqrt, argument, .. } if is_one && self.type_of(right) == Type::F32 => {
                Some(argument)
            }
            _ => None,
        }
    }

    /// A product of `c operand` for a constant `c` and a negated `factor` as what it equals: the factors `-c operand` and
    /// `factor`. That is the form of the product for `factor` itself, which may be there already.
    pub fn without_negation(&mut self, left: Value, right: Value) -> Option<[Value; 2]> {
        let made_by = |value: Value| match self.function.values[value].definition {
            ValueDef::Result(instruction, _) => Some(self.function.insts[instruction].data.clone()),
            _ => None,
        };
        let negated = |value| match made_by(value) {
            Some(InstData::Unary { opcode: UnaryOp::Fneg, argument, .. }) => Some(argument),
            _ => None,
        };
        let (factor, product) =
            negated(right).map(|factor| (factor, left)).or_else(|| negated(left).map(|factor| (factor, right)))?;
        let Some(InstData::Binary {
            opcode: BinaryOp::Fmul,
            flags,
            fast_math,
            arguments: [first_factor, second_factor],
        }) = made_by(product)
        else {
            return None;
        };
        let constant = |value| self.function.const_bits(value);
        let (operand, bit_pattern) = constant(second_factor)
            .map(|bit_pattern| (first_factor, bit_pattern))
            .or_else(|| constant(first_factor).map(|bit_pattern| (second_factor, bit_pattern)))?;
        let scalar_type = self.type_of(operand);
        let opposite = self.function.constant(scalar_type, bit_pattern ^ (1 << (scalar_type.bits() - 1)));
        Some([self.binary_with(BinaryOp::Fmul, flags, fast_math, operand, opposite), factor])
    }

    /// A unary operation without freedoms.
    pub fn unary(&mut self, opcode: UnaryOp, scalar_type: Type, argument: Value) -> Value {
        self.unary_fast(opcode, scalar_type, FastMath::default(), argument)
    }

    /// A unary operation with floating-point freedoms.
    pub fn unary_fast(&mut self, opcode: UnaryOp, scalar_type: Type, fast_math: FastMath, argument: Value) -> Value {
        self.append_single(InstData::Unary { opcode, fast_math, argument }, scalar_type)
    }

    /// A binary operation without promises or freedoms.
    pub fn binary(&mut self, opcode: BinaryOp, left: Value, right: Value) -> Value {
        self.binary_with(opcode, IntFlags::default(), FastMath::default(), left, right)
    }

    /// A binary operation.
    pub fn binary_with(
        &mut self,
        opcode: BinaryOp,
        wrap_flags: IntFlags,
        fast_math: FastMath,
        left: Value,
        right: Value,
    ) -> Value {
        let arguments = [left, right];
        let scalar_type = self.type_of(left);
        self.append_single(InstData::Binary { opcode, flags: wrap_flags, fast_math, arguments }, scalar_type)
    }

    /// A binary operation with an integer constant on the right.
    pub fn binary_int(&mut self, opcode: BinaryOp, left: Value, right: u128) -> Value {
        let right = self.int_constant(self.type_of(left), right);
        self.binary(opcode, left, right)
    }

    /// An operation of three operands; the result has the type of the last.
    pub fn ternary(&mut self, opcode: TernaryOp, fast_math: FastMath, arguments: [Value; 3]) -> Value {
        let scalar_type = self.type_of(arguments[2]);
        self.append_single(InstData::Ternary { opcode, fast_math, arguments }, scalar_type)
    }

    /// `condition ? if_true : if_false`.
    pub fn select(&mut self, condition: Value, if_true: Value, if_false: Value) -> Value {
        self.ternary(TernaryOp::Select, FastMath::default(), [condition, if_true, if_false])
    }

    /// An integer comparison.
    pub fn icmp(&mut self, comparison: IntCc, left: Value, right: Value) -> Value {
        self.append_single(InstData::Icmp { comparison, arguments: [left, right] }, Type::BOOL)
    }

    /// An integer comparison with a constant.
    pub fn icmp_int(&mut self, comparison: IntCc, left: Value, right: u128) -> Value {
        let right = self.int_constant(self.type_of(left), right);
        self.icmp(comparison, left, right)
    }

    /// A float comparison without freedoms.
    pub fn fcmp(&mut self, comparison: FloatCc, left: Value, right: Value) -> Value {
        let (fast_math, arguments) = (FastMath::default(), [left, right]);
        self.append_single(InstData::Fcmp { comparison, fast_math, arguments }, Type::BOOL)
    }

    /// An address plus bytes.
    pub fn ptr_add(&mut self, base_address: Value, offset: Value, inbounds: bool) -> Value {
        let scalar_type = self.type_of(base_address);
        self.append_single(InstData::PtrAdd { base: base_address, offset, inbounds }, scalar_type)
    }

    /// The same address in another space.
    pub fn space_cast(&mut self, scalar_type: Type, pointer: Value) -> Value {
        if self.type_of(pointer) == scalar_type {
            return pointer;
        }
        self.unary(UnaryOp::SpaceCast, scalar_type, pointer)
    }

    /// An integer cut or zero-extended to a type.
    pub fn zext_or_trunc(&mut self, scalar_type: Type, value: Value) -> Value {
        match self.type_of(value).bits().cmp(&scalar_type.bits()) {
            std::cmp::Ordering::Less => self.unary(UnaryOp::Zext, scalar_type, value),
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Greater => self.unary(UnaryOp::Trunc, scalar_type, value),
        }
    }

    /// An integer cut or sign-extended to a type.
    pub fn sext_or_trunc(&mut self, scalar_type: Type, value: Value) -> Value {
        match self.type_of(value).bits().cmp(&scalar_type.bits()) {
            std::cmp::Ordering::Less => self.unary(UnaryOp::Sext, scalar_type, value),
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Greater => self.unary(UnaryOp::Trunc, scalar_type, value),
        }
    }

    /// A scalar's bits as an integer of its width.
    pub fn bits_of(&mut self, value: Value) -> Value {
        let scalar_type = self.type_of(value);
        let int_type = Type::Int(scalar_type.bits() as u16);
        match scalar_type {
            Type::Int(_) => value,
            Type::Ptr(_) => self.unary(UnaryOp::PtrToInt, int_type, value),
            _ => self.unary(UnaryOp::Bitcast, int_type, value),
        }
    }

    /// A scalar with an integer's bits; the integer has the type's width.
    pub fn with_bits(&mut self, scalar_type: Type, value: Value) -> Value {
        match scalar_type {
            Type::Int(_) => value,
            Type::Ptr(_) => self.unary(UnaryOp::IntToPtr, scalar_type, value),
            _ => self.unary(UnaryOp::Bitcast, scalar_type, value),
        }
    }
}

/// An instruction's operand.
pub(super) fn operand_of<'m>(instruction: LlvmValue<'m>, index: u32) -> Attempt<LlvmValue<'m>> {
    match instruction.operand(index) {
        Some(operand) => Ok(operand),
        None => refuse!("{} without operand {index}", instruction.text()),
    }
}
