//! Constants: their scalars, and addresses that are known at compile time.

use super::error::{Attempt, Reason, refuse};
use super::llvm::{Module, Type as LlvmType, TypeKind, Value};
use super::types::{leaf_types, scalar_type, size_of};
use llvm_sys::LLVMOpcode;
use lockstep_protocol::types::Type;

/// A scalar constant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar<'m> {
    /// Bits that are known now.
    Bits(u128),
    /// A variable's address plus bytes, as a pointer or a 64-bit integer.
    Address(Value<'m>, i64),
}

/// Constant expressions nested deeper than this are refused.
const MAX_DEPTH: u32 = 256;

/// The scalars of a constant, in the order of [`leaf_types`].
pub(super) fn constant_lanes<'m>(module: Module<'m>, value: Value<'m>) -> Attempt<Vec<(Type, Scalar<'m>)>> {
    let mut output = Vec::new();
    add_lanes(module, value, 0, &mut output)?;
    Ok(output)
}

fn add_lanes<'m>(
    module: Module<'m>,
    value: Value<'m>,
    depth: u32,
    output: &mut Vec<(Type, Scalar<'m>)>,
) -> Attempt<()> {
    if depth > MAX_DEPTH {
        refuse!("constants nested too deeply");
    }
    let ty = value.ty();
    if value.is_undef() || value.is_zero() {
        let types = leaf_types(module, ty)?;
        output.extend(types.into_iter().map(|ty| (ty, Scalar::Bits(0))));
        return Ok(());
    }
    let count = match ty.kind() {
        TypeKind::Vector(n, _) => u64::from(n),
        TypeKind::Array(n, _) => n,
        TypeKind::Struct(n) => u64::from(n),
        _ => {
            let Some(scalar_ty) = scalar_type(ty) else {
                refuse!("{}", super::types::unsupported_reason(ty));
            };
            output.push((scalar_ty, evaluate_constant(module, value, depth)?));
            return Ok(());
        }
    };
    // Checks the number of scalars before it walks them.
    leaf_types(module, ty)?;
    for i in 0..count {
        match value.element_at(i as u32) {
            Some(element) => add_lanes(module, element, depth + 1, output)?,
            None => refuse!("the constant {}", value.text()),
        }
    }
    Ok(())
}

/// The value of a scalar constant.
pub(super) fn evaluate_constant<'m>(module: Module<'m>, value: Value<'m>, depth: u32) -> Attempt<Scalar<'m>> {
    if depth > MAX_DEPTH {
        refuse!("constants nested too deeply");
    }
    if value.is_undef() || value.is_zero() {
        return Ok(Scalar::Bits(0));
    }
    if let Some(bits) = value.int_bits() {
        return Ok(Scalar::Bits(bits));
    }
    if let Some(bits) = module.float_bits(value) {
        return Ok(Scalar::Bits(u128::from(bits)));
    }
    if value.is_global_variable() {
        return Ok(Scalar::Address(value, 0));
    }
    if let Some(target) = value.aliasee() {
        return evaluate_constant(module, target, depth + 1);
    }
    if value.is_function() {
        refuse!("the address of the function {}", value.name());
    }
    match value.constant_opcode() {
        Some(opcode) => evaluate_expression(module, value, opcode, depth),
        None => refuse!("the constant {}", value.text()),
    }
}

fn evaluate_expression<'m>(
    module: Module<'m>,
    value: Value<'m>,
    opcode: LLVMOpcode,
    depth: u32,
) -> Attempt<Scalar<'m>> {
    let operand = |index: u32| match value.operand(index) {
        Some(v) if !matches!(v.ty().kind(), TypeKind::Vector(..)) => evaluate_constant(module, v, depth + 1),
        _ => Err(Reason(format!("the constant {}", value.text()))),
    };
    let Some(ty) = scalar_type(value.ty()) else {
        refuse!("the constant {}", value.text());
    };
    use Scalar::{Address, Bits};
    let result = match opcode {
        LLVMOpcode::LLVMGetElementPtr => {
            let offset = gep_offset(module, value)?;
            match operand(0)? {
                Bits(bits) => Some(Bits((bits as u64).wrapping_add(offset as u64).into())),
                Address(base, position) => Some(Address(base, position.wrapping_add(offset))),
            }
        }
        LLVMOpcode::LLVMAddrSpaceCast | LLVMOpcode::LLVMBitCast => Some(operand(0)?),
        LLVMOpcode::LLVMPtrToInt | LLVMOpcode::LLVMPtrToAddr | LLVMOpcode::LLVMTrunc => match operand(0)? {
            Bits(bits) => Some(Bits(bits & ty.value_mask())),
            address if ty.bits() == 64 => Some(address),
            Address(..) => None,
        },
        LLVMOpcode::LLVMIntToPtr => match operand(0)? {
            Bits(bits) => Some(Bits(bits & ty.value_mask())),
            address => Some(address),
        },
        LLVMOpcode::LLVMAdd => match (operand(0)?, operand(1)?) {
            (Bits(left), Bits(right)) => Some(Bits(left.wrapping_add(right) & ty.value_mask())),
            (Address(base, position), Bits(right)) | (Bits(right), Address(base, position)) => {
                Some(Address(base, position.wrapping_add(right as i64)))
            }
            (Address(..), Address(..)) => None,
        },
        LLVMOpcode::LLVMSub => match (operand(0)?, operand(1)?) {
            (Bits(left), Bits(right)) => Some(Bits(left.wrapping_sub(right) & ty.value_mask())),
            (Address(base, position), Bits(right)) => Some(Address(base, position.wrapping_sub(right as i64))),
            (Address(a, x), Address(b, y)) if a == b => Some(Bits(x.wrapping_sub(y) as u128 & ty.value_mask())),
            _ => None,
        },
        LLVMOpcode::LLVMXor => match (operand(0)?, operand(1)?) {
            (Bits(left), Bits(right)) => Some(Bits(left ^ right)),
            _ => None,
        },
        _ => None,
    };
    match result {
        Some(scalar) => Ok(scalar),
        None => refuse!("the constant {}", value.text()),
    }
}

/// The byte offset of a GEP whose indices are all constant.
pub(super) fn gep_offset<'m>(module: Module<'m>, gep: Value<'m>) -> Attempt<i64> {
    let mut steps = GepSteps::new(gep)?;
    let mut offset = 0i64;
    while let Some((index, step)) = steps.next_step(module)? {
        let Some(index) = constant_index(index) else {
            refuse!("the constant {}", gep.text());
        };
        offset = offset.wrapping_add(step.byte_offset(module, index)?);
    }
    Ok(offset)
}

/// A constant GEP index, sign-extended or cut to 64 bits.
pub(super) fn constant_index(index: Value<'_>) -> Option<i64> {
    if index.is_zero() || index.is_undef() {
        return Some(0);
    }
    let TypeKind::Int(width) = index.ty().kind() else {
        return None;
    };
    let shift = 128 - width.min(128);
    Some(((index.int_bits()? << shift) as i128 >> shift) as i64)
}

/// What one index of a GEP steps over.
pub(super) enum GepStep<'m> {
    /// Elements of this many bytes.
    Elements(u64),
    /// Fields of this struct.
    Field(LlvmType<'m>),
}

impl<'m> GepStep<'m> {
    /// The byte offset of a constant index.
    pub fn byte_offset(&self, module: Module<'m>, index: i64) -> Attempt<i64> {
        match self {
            GepStep::Elements(size) => Ok(index.wrapping_mul(*size as i64)),
            GepStep::Field(ty) => match u32::try_from(index) {
                Ok(field) => Ok(module.field_offset(*ty, field) as i64),
                Err(_) => refuse!("field {index} of {}", ty.spelling()),
            },
        }
    }
}

/// Walks the indices of a GEP together with the types they step over.
pub(super) struct GepSteps<'m> {
    gep: Value<'m>,
    next: u32,
    ty: LlvmType<'m>,
}

impl<'m> GepSteps<'m> {
    /// The walk before the first index.
    pub fn new(gep: Value<'m>) -> Attempt<GepSteps<'m>> {
        match gep.gep_parts() {
            Some((ty, _)) => Ok(GepSteps { gep, next: 1, ty }),
            None => refuse!("{} as an address computation", gep.text()),
        }
    }

    /// The next index and what it steps over.
    pub fn next_step(&mut self, module: Module<'m>) -> Attempt<Option<(Value<'m>, GepStep<'m>)>> {
        let Some(index) = self.gep.operand(self.next) else {
            return Ok(None);
        };
        let step = if self.next == 1 {
            GepStep::Elements(size_of(module, self.ty)?)
        } else {
            match self.ty.kind() {
                TypeKind::Array(_, element) | TypeKind::Vector(_, element) => {
                    self.ty = element;
                    GepStep::Elements(size_of(module, element)?)
                }
                TypeKind::Struct(_) => {
                    let ty = self.ty;
                    let field = constant_index(index).and_then(|i| u32::try_from(i).ok());
                    match field.and_then(|position| ty.field_type(position)) {
                        Some(field) => self.ty = field,
                        None => refuse!("an index into {}", ty.spelling()),
                    }
                    GepStep::Field(ty)
                }
                _ => refuse!("an index into {}", self.ty.spelling()),
            }
        };
        self.next += 1;
        Ok(Some((index, step)))
    }
}
