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
pub(super) fn constant_lanes<'m>(llvm_module: Module<'m>, llvm_value: Value<'m>) -> Attempt<Vec<(Type, Scalar<'m>)>> {
    let mut output = Vec::new();
    add_lanes(llvm_module, llvm_value, 0, &mut output)?;
    Ok(output)
}

fn add_lanes<'m>(
    llvm_module: Module<'m>,
    llvm_value: Value<'m>,
    depth: u32,
    output: &mut Vec<(Type, Scalar<'m>)>,
) -> Attempt<()> {
    if depth > MAX_DEPTH {
        refuse!("constants nested too deeply");
    }
    let llvm_type = llvm_value.ty();
    if llvm_value.is_undef() || llvm_value.is_zero() {
        let types = leaf_types(llvm_module, llvm_type)?;
        output.extend(types.into_iter().map(|scalar_type| (scalar_type, Scalar::Bits(0))));
        return Ok(());
    }
    let element_count = match llvm_type.kind() {
        TypeKind::Vector(n, _) => u64::from(n),
        TypeKind::Array(n, _) => n,
        TypeKind::Struct(n) => u64::from(n),
        _ => {
            let Some(scalar_ty) = scalar_type(llvm_type) else {
                refuse!("{}", super::types::unsupported_reason(llvm_type));
            };
            output.push((scalar_ty, evaluate_constant(llvm_module, llvm_value, depth)?));
            return Ok(());
        }
    };
    // Checks the number of scalars before it walks them.
    leaf_types(llvm_module, llvm_type)?;
    for i in 0..element_count {
        match llvm_value.element_at(i as u32) {
            Some(element) => add_lanes(llvm_module, element, depth + 1, output)?,
            None => refuse!("the constant {}", llvm_value.text()),
        }
    }
    Ok(())
}

/// The value of a scalar constant.
pub(super) fn evaluate_constant<'m>(llvm_module: Module<'m>, llvm_value: Value<'m>, depth: u32) -> Attempt<Scalar<'m>> {
    if depth > MAX_DEPTH {
        refuse!("constants nested too deeply");
    }
    if llvm_value.is_undef() || llvm_value.is_zero() {
        return Ok(Scalar::Bits(0));
    }
    if let Some(bit_pattern) = llvm_value.int_bits() {
        return Ok(Scalar::Bits(bit_pattern));
    }
    if let Some(float_bits) = llvm_module.float_bits(llvm_value) {
        return Ok(Scalar::Bits(u128::from(float_bits)));
    }
    if llvm_value.is_global_variable() {
        return Ok(Scalar::Address(llvm_value, 0));
    }
    if let Some(target) = llvm_value.aliasee() {
        return evaluate_constant(llvm_module, target, depth + 1);
    }
    if llvm_value.is_function() {
        refuse!("the address of the function {}", llvm_value.name());
    }
    match llvm_value.constant_opcode() {
        Some(opcode) => evaluate_expression(llvm_module, llvm_value, opcode, depth),
        None => refuse!("the constant {}", llvm_value.text()),
    }
}

fn evaluate_expression<'m>(
    llvm_module: Module<'m>,
    llvm_value: Value<'m>,
    opcode: LLVMOpcode,
    depth: u32,
) -> Attempt<Scalar<'m>> {
    let operand = |index: u32| match llvm_value.operand(index) {
        Some(v) if !matches!(v.ty().kind(), TypeKind::Vector(..)) => evaluate_constant(llvm_module, v, depth + 1),
        _ => Err(Reason(format!("the constant {}", llvm_value.text()))),
    };
    let Some(scalar_type) = scalar_type(llvm_value.ty()) else {
        refuse!("the constant {}", llvm_value.text());
    };
    use Scalar::{Address, Bits};
    let evaluated = match opcode {
        LLVMOpcode::LLVMGetElementPtr => {
            let offset = gep_offset(llvm_module, llvm_value)?;
            match operand(0)? {
                Bits(bit_pattern) => Some(Bits((bit_pattern as u64).wrapping_add(offset as u64).into())),
                Address(base, position) => Some(Address(base, position.wrapping_add(offset))),
            }
        }
        LLVMOpcode::LLVMAddrSpaceCast | LLVMOpcode::LLVMBitCast => Some(operand(0)?),
        LLVMOpcode::LLVMPtrToInt | LLVMOpcode::LLVMPtrToAddr | LLVMOpcode::LLVMTrunc => match operand(0)? {
            Bits(bit_pattern) => Some(Bits(bit_pattern & scalar_type.value_mask())),
            address if scalar_type.bits() == 64 => Some(address),
            Address(..) => None,
        },
        LLVMOpcode::LLVMIntToPtr => match operand(0)? {
            Bits(bit_pattern) => Some(Bits(bit_pattern & scalar_type.value_mask())),
            address => Some(address),
        },
        LLVMOpcode::LLVMAdd => match (operand(0)?, operand(1)?) {
            (Bits(left), Bits(right)) => Some(Bits(left.wrapping_add(right) & scalar_type.value_mask())),
            (Address(base, position), Bits(right)) | (Bits(right), Address(base, position)) => {
                Some(Address(base, position.wrapping_add(right as i64)))
            }
            (Address(..), Address(..)) => None,
        },
        LLVMOpcode::LLVMSub => match (operand(0)?, operand(1)?) {
            (Bits(left), Bits(right)) => Some(Bits(left.wrapping_sub(right) & scalar_type.value_mask())),
            (Address(base, position), Bits(right)) => Some(Address(base, position.wrapping_sub(right as i64))),
            (Address(a, x), Address(b, y)) if a == b => {
                Some(Bits(x.wrapping_sub(y) as u128 & scalar_type.value_mask()))
            }
            _ => None,
        },
        LLVMOpcode::LLVMXor => match (operand(0)?, operand(1)?) {
            (Bits(left), Bits(right)) => Some(Bits(left ^ right)),
            _ => None,
        },
        _ => None,
    };
    match evaluated {
        Some(constant_scalar) => Ok(constant_scalar),
        None => refuse!("the constant {}", llvm_value.text()),
    }
}

/// The byte offset of a GEP whose indices are all constant.
pub(super) fn gep_offset<'m>(llvm_module: Module<'m>, address: Value<'m>) -> Attempt<i64> {
    let mut gep_steps = GepSteps::new(address)?;
    let mut offset = 0i64;
    while let Some((llvm_index, gep_step)) = gep_steps.next_step(llvm_module)? {
        let Some(constant_index) = constant_index(llvm_index) else {
            refuse!("the constant {}", address.text());
        };
        offset = offset.wrapping_add(gep_step.byte_offset(llvm_module, constant_index)?);
    }
    Ok(offset)
}

/// A constant GEP index, sign-extended or cut to 64 bits.
pub(super) fn constant_index(llvm_index: Value<'_>) -> Option<i64> {
    if llvm_index.is_zero() || llvm_index.is_undef() {
        return Some(0);
    }
    let TypeKind::Int(bit_width) = llvm_index.ty().kind() else {
        return None;
    };
    let unused_bits = 128 - bit_width.min(128);
    Some(((llvm_index.int_bits()? << unused_bits) as i128 >> unused_bits) as i64)
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
    pub fn byte_offset(&self, llvm_module: Module<'m>, element_index: i64) -> Attempt<i64> {
        match self {
            GepStep::Elements(byte_size) => Ok(element_index.wrapping_mul(*byte_size as i64)),
            GepStep::Field(ty) => match u32::try_from(element_index) {
                Ok(field) => Ok(llvm_module.field_offset(*ty, field) as i64),
                Err(_) => refuse!("field {element_index} of {}", ty.spelling()),
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
    pub fn new(address: Value<'m>) -> Attempt<GepSteps<'m>> {
        match address.gep_parts() {
            Some((ty, _)) => Ok(GepSteps { gep: address, next: 1, ty }),
            None => refuse!("{} as an address computation", address.text()),
        }
    }

    /// The next index and what it steps over.
    pub fn next_step(&mut self, llvm_module: Module<'m>) -> Attempt<Option<(Value<'m>, GepStep<'m>)>> {
        let Some(llvm_index) = self.gep.operand(self.next) else {
            return Ok(None);
        };
        let gep_step = if self.next == 1 {
            GepStep::Elements(size_of(llvm_module, self.ty)?)
        } else {
            match self.ty.kind() {
                TypeKind::Array(_, element) | TypeKind::Vector(_, element) => {
                    self.ty = element;
                    GepStep::Elements(size_of(llvm_module, element)?)
                }
                TypeKind::Struct(_) => {
                    let llvm_type = self.ty;
                    let field_index =
                        constant_index(llvm_index).and_then(|field_number| u32::try_from(field_number).ok());
                    match field_index.and_then(|index| llvm_type.field_type(index)) {
                        Some(field_type) => self.ty = field_type,
                        None => refuse!("an index into {}", llvm_type.spelling()),
                    }
                    GepStep::Field(llvm_type)
                }
                _ => refuse!("an index into {}", self.ty.spelling()),
            }
        };
        self.next += 1;
        Ok(Some((llvm_index, gep_step)))
    }
}
