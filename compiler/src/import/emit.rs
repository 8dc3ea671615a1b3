//! The function under construction, and short forms for the instructions that import makes.

use super::constants::{self, Scalar};
use super::error::{Attempt, refuse};
use super::expressions;
use super::llvm::{Block as LlvmBlock, Type as LlvmType, TypeKind, Value as LlvmValue};
use super::module_builder::ModuleBuilder;
use super::types::leaf_types;
use cranelift_entity::PrimaryMap;
use lockstep_ir::ir::{
    BinaryOp, Block, FastMath, FloatCc, Function, Inst, InstData, IntCc, IntFlags, LocalData, LocalVar, Slot, SlotData,
    SourceLoc, TernaryOp, UnaryOp, Value, ValueDef,
};
use lockstep_ir::simplify::{Operands, Simpler, simplest_form};
use lockstep_protocol::parameters::{IMAGE_BYTES, Input};
use lockstep_protocol::types::{Space, Type};
use std::collections::HashMap;
use std::rc::Rc;

/// The scalars of one LLVM value, in order.
pub(super) type Lanes = Rc<[Value]>;

/// Applies `f` to each lane.
pub(super) fn map_lanes(arguments: &[Value], mut f: impl FnMut(Value) -> Value) -> Lanes {
    arguments.iter().map(|&value| f(value)).collect()
}

/// Applies `f` to each lane with its result type.
pub(super) fn map_typed_lanes(arguments: &[Value], types: &[Type], mut f: impl FnMut(Value, Type) -> Value) -> Lanes {
    arguments.iter().zip(types).map(|(&value, &ty)| f(value, ty)).collect()
}

/// A kernel's code while it is imported.
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
    local_vars: HashMap<LlvmValue<'m>, LocalVar>,
    addresses: HashMap<(LlvmValue<'m>, i64, Type), Value>,
}

impl<'a, 'm> Body<'a, 'm> {
    /// A function with an empty entry block.
    pub fn new(module: &'a mut ModuleBuilder<'m>) -> Body<'a, 'm> {
        let mut function = Function::new();
        let entry = function.add_block();
        Body {
            module,
            function,
            slots: PrimaryMap::new(),
            locals: PrimaryMap::new(),
            values: HashMap::new(),
            blocks: HashMap::new(),
            at: entry,
            prelude: Vec::new(),
            in_prelude: false,
            location: SourceLoc::default(),
            images: HashMap::new(),
            image_inputs: Vec::new(),
            image_fields: HashMap::new(),
            local_vars: HashMap::new(),
            addresses: HashMap::new(),
        }
    }

    /// A field of an image's record, by its offset in bytes: an input of the kernel.
    pub fn image_field(&mut self, image: LlvmValue<'m>, offset: u32, ty: Type) -> Attempt<Value> {
        let Some(&param) = self.images.get(&image) else {
            refuse!("an image that is not an argument itself: {}", image.text());
        };
        if u64::from(offset) + u64::from(ty.bytes()) > IMAGE_BYTES as u64 {
            refuse!("an image has no field at {offset}");
        }
        if let Some(&value) = self.image_fields.get(&(param, offset, ty)) {
            return Ok(value);
        }
        let entry = self.function.entry_block();
        let value = self.function.add_param(entry, ty);
        self.image_inputs.push((Input::Value { param, offset }, ty));
        self.image_fields.insert((param, offset, ty), value);
        Ok(value)
    }

    // What LLVM's values are here.

    /// The scalars of a value.
    pub fn lanes_of(&mut self, value: LlvmValue<'m>) -> Attempt<Lanes> {
        if let Some(lanes) = self.values.get(&value) {
            return Ok(lanes.clone());
        }
        if !value.is_constant() {
            refuse!("the value {}", value.text());
        }
        self.at_the_start(|body| expressions::expression_lanes(body, value, 0))
    }

    /// The scalars of a constant that is known now, or is a variable's address plus bytes.
    pub fn known_lanes(&mut self, value: LlvmValue<'m>) -> Attempt<Lanes> {
        let scalars = constants::constant_lanes(self.module.llvm, value)?;
        scalars.into_iter().map(|(ty, scalar)| self.materialize_scalar(ty, scalar)).collect()
    }

    /// The only scalar of a value.
    pub fn scalar_of(&mut self, value: LlvmValue<'m>) -> Attempt<Value> {
        match self.lanes_of(value)?[..] {
            [lane] => Ok(lane),
            _ => refuse!("{} where one scalar is expected", value.text()),
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
    pub fn leaf_types(&self, ty: LlvmType<'m>) -> Attempt<Vec<Type>> {
        leaf_types(self.module.llvm, ty)
    }

    fn materialize_scalar(&mut self, ty: Type, scalar: Scalar<'m>) -> Attempt<Value> {
        match scalar {
            Scalar::Bits(bits) => Ok(self.function.constant(ty, bits)),
            Scalar::Address(base, offset) => self.materialize_address(base, offset, ty),
        }
    }

    /// A variable's address plus bytes, as a value of this type, at the start of the function.
    pub fn materialize_address(&mut self, base: LlvmValue<'m>, offset: i64, ty: Type) -> Attempt<Value> {
        if let Some(&value) = self.addresses.get(&(base, offset, ty)) {
            return Ok(value);
        }
        let value = self.at_the_start(|body| body.make_address(base, offset, ty))?;
        self.addresses.insert((base, offset, ty), value);
        Ok(value)
    }

    /// Puts what is made where it serves the whole function; it has no place in the source.
    fn at_the_start<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        let location = std::mem::take(&mut self.location);
        let outside = std::mem::replace(&mut self.in_prelude, true);
        let made = make(self);
        self.in_prelude = outside;
        self.location = location;
        made
    }

    fn make_address(&mut self, base: LlvmValue<'m>, offset: i64, ty: Type) -> Attempt<Value> {
        let space = match base.ty().kind() {
            TypeKind::Ptr(number) => Space::from_number(number),
            _ => None,
        };
        let (inst_data, base_ty, size) = if space == Some(Space::Local) {
            let local = self.local_var(base)?;
            let size = self.locals[local].size;
            (InstData::LocalAddr { local }, Type::Ptr(Space::Local), size)
        } else {
            let ModuleBuilder { globals, out, .. } = &mut *self.module;
            let global = globals.global_of(out, base)?;
            let global_data = &out.globals[global];
            let size = global_data.init.len() as u64;
            let ty = Type::Ptr(global_data.space);
            (InstData::GlobalAddr { global }, ty, size)
        };
        // One instruction for the variable itself, shared by all of its uses.
        let start = match self.addresses.get(&(base, 0, base_ty)) {
            Some(&start) => start,
            None => {
                let start = self.append_single(inst_data, base_ty);
                self.addresses.insert((base, 0, base_ty), start);
                start
            }
        };
        let inbounds = u64::try_from(offset).is_ok_and(|offset| offset <= size);
        let pointer = match offset {
            0 => start,
            _ => {
                let offset = self.int_constant(Type::I64, offset as u64 as u128);
                self.ptr_add(start, offset, inbounds)
            }
        };
        Ok(match ty {
            Type::Ptr(_) => self.space_cast(ty, pointer),
            _ => self.unary(UnaryOp::PtrToInt, ty, pointer),
        })
    }

    fn local_var(&mut self, variable: LlvmValue<'m>) -> Attempt<LocalVar> {
        if let Some(&local) = self.local_vars.get(&variable) {
            return Ok(local);
        }
        let name = variable.name();
        let Some(ty) = variable.value_type() else {
            refuse!("{name} is not a variable");
        };
        if variable.initial_value().is_none_or(|initial| !initial.is_undef() && !initial.is_zero()) {
            refuse!("the local variable {name} has an initialiser or no definition");
        }
        let size = super::types::size_of(self.module.llvm, ty)?;
        let align = match variable.align() {
            0 => self.module.llvm.align_of(ty).unwrap_or(1),
            align => align,
        };
        let local = self.locals.push(LocalData { size, align, counters: None });
        self.local_vars.insert(variable, local);
        Ok(local)
    }

    // Instructions.

    fn append_inst(&mut self, inst_data: InstData, types: &[Type]) -> Inst {
        let inst = self.function.make_inst(inst_data, types, self.location);
        let list = if self.in_prelude { &mut self.prelude } else { &mut self.function.blocks[self.at].insts };
        list.push(inst);
        inst
    }

    /// An instruction without a result.
    pub fn append_effect(&mut self, inst_data: InstData) {
        self.append_inst(inst_data, &[]);
    }

    /// An instruction with one result, or what stands for it.
    pub fn append_single(&mut self, inst_data: InstData, ty: Type) -> Value {
        let inst_data = match simplest_form(&mut self.function, inst_data, ty, Operands::Any) {
            Simpler::Value(value) => return value,
            Simpler::Operation(inst_data) => inst_data,
        };
        let inst = self.append_inst(inst_data, &[ty]);
        self.function.single_result(inst)
    }

    /// An instruction with several results.
    pub fn append_many(&mut self, inst_data: InstData, types: &[Type]) -> Vec<Value> {
        let inst = self.append_inst(inst_data, types);
        self.function.insts[inst].results.clone()
    }

    /// An integer constant.
    pub fn int_constant(&mut self, ty: Type, bits: u128) -> Value {
        self.function.constant(ty, bits)
    }

    /// The type of a value.
    pub fn type_of(&self, value: Value) -> Type {
        self.function.ty(value)
    }

    /// The number of whose square root `right` a quotient of floats `left / right` is the reciprocal.
    pub fn reciprocal_of_root(&self, left: Value, right: Value) -> Option<Value> {
        let one = self.function.const_bits(left) == Some(1_f32.to_bits().into());
        let ValueDef::Result(inst, _) = self.function.values[right].definition else { return None };
        match self.function.insts[inst].data {
            InstData::Unary { opcode: UnaryOp::Sqrt, argument, .. } if one && self.type_of(right) == Type::F32 => {
                Some(argument)
            }
            _ => None,
        }
    }

    /// A product of `c operand` for a constant `c` and a negated `y` as what it equals: the factors `-c operand` and `y`. That is the
    /// form of the product for `y` itself, which may be there already.
    pub fn without_negation(&mut self, left: Value, right: Value) -> Option<[Value; 2]> {
        let made_by = |value: Value| match self.function.values[value].definition {
            ValueDef::Result(inst, _) => Some(self.function.insts[inst].data.clone()),
            _ => None,
        };
        let negated = |value| match made_by(value) {
            Some(InstData::Unary { opcode: UnaryOp::Fneg, argument, .. }) => Some(argument),
            _ => None,
        };
        let (y, product) = negated(right).map(|y| (y, left)).or_else(|| negated(left).map(|y| (y, right)))?;
        let Some(InstData::Binary { opcode: BinaryOp::Fmul, flags, fast_math, arguments: [p, q] }) = made_by(product)
        else {
            return None;
        };
        let constant = |value| self.function.const_bits(value);
        let (operand, bits) = constant(q).map(|bits| (p, bits)).or_else(|| constant(p).map(|bits| (q, bits)))?;
        let ty = self.type_of(operand);
        let opposite = self.function.constant(ty, bits ^ (1 << (ty.bits() - 1)));
        Some([self.binary_with(BinaryOp::Fmul, flags, fast_math, operand, opposite), y])
    }

    /// A unary operation without freedoms.
    pub fn unary(&mut self, opcode: UnaryOp, ty: Type, argument: Value) -> Value {
        self.unary_fast(opcode, ty, FastMath::default(), argument)
    }

    /// A unary operation with floating-point freedoms.
    pub fn unary_fast(&mut self, opcode: UnaryOp, ty: Type, fast_math: FastMath, argument: Value) -> Value {
        self.append_single(InstData::Unary { opcode, fast_math, argument }, ty)
    }

    /// A binary operation without promises or freedoms.
    pub fn binary(&mut self, opcode: BinaryOp, left: Value, right: Value) -> Value {
        self.binary_with(opcode, IntFlags::default(), FastMath::default(), left, right)
    }

    /// A binary operation.
    pub fn binary_with(
        &mut self,
        opcode: BinaryOp,
        flags: IntFlags,
        fast_math: FastMath,
        left: Value,
        right: Value,
    ) -> Value {
        let arguments = [left, right];
        let ty = self.type_of(left);
        self.append_single(InstData::Binary { opcode, flags, fast_math, arguments }, ty)
    }

    /// A binary operation with an integer constant on the right.
    pub fn binary_int(&mut self, opcode: BinaryOp, left: Value, right: u128) -> Value {
        let right = self.int_constant(self.type_of(left), right);
        self.binary(opcode, left, right)
    }

    /// An operation of three operands; the result has the type of the last.
    pub fn ternary(&mut self, opcode: TernaryOp, fast_math: FastMath, arguments: [Value; 3]) -> Value {
        let ty = self.type_of(arguments[2]);
        self.append_single(InstData::Ternary { opcode, fast_math, arguments }, ty)
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
    pub fn ptr_add(&mut self, base: Value, offset: Value, inbounds: bool) -> Value {
        let ty = self.type_of(base);
        self.append_single(InstData::PtrAdd { base, offset, inbounds }, ty)
    }

    /// The same address in another space.
    pub fn space_cast(&mut self, ty: Type, pointer: Value) -> Value {
        if self.type_of(pointer) == ty {
            return pointer;
        }
        self.unary(UnaryOp::SpaceCast, ty, pointer)
    }

    /// An integer cut or zero-extended to a type.
    pub fn zext_or_trunc(&mut self, ty: Type, value: Value) -> Value {
        match self.type_of(value).bits().cmp(&ty.bits()) {
            std::cmp::Ordering::Less => self.unary(UnaryOp::Zext, ty, value),
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Greater => self.unary(UnaryOp::Trunc, ty, value),
        }
    }

    /// An integer cut or sign-extended to a type.
    pub fn sext_or_trunc(&mut self, ty: Type, value: Value) -> Value {
        match self.type_of(value).bits().cmp(&ty.bits()) {
            std::cmp::Ordering::Less => self.unary(UnaryOp::Sext, ty, value),
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Greater => self.unary(UnaryOp::Trunc, ty, value),
        }
    }

    /// A scalar's bits as an integer of its width.
    pub fn bits_of(&mut self, value: Value) -> Value {
        let ty = self.type_of(value);
        let int_type = Type::Int(ty.bits() as u16);
        match ty {
            Type::Int(_) => value,
            Type::Ptr(_) => self.unary(UnaryOp::PtrToInt, int_type, value),
            _ => self.unary(UnaryOp::Bitcast, int_type, value),
        }
    }

    /// A scalar with an integer's bits; the integer has the type's width.
    pub fn with_bits(&mut self, ty: Type, value: Value) -> Value {
        match ty {
            Type::Int(_) => value,
            Type::Ptr(_) => self.unary(UnaryOp::IntToPtr, ty, value),
            _ => self.unary(UnaryOp::Bitcast, ty, value),
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
