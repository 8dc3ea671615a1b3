//! How LLVM's types fall apart into scalars.

use super::error::{Attempt, refuse};
use super::llvm::{Module, Type as LlvmType, TypeKind};
use lockstep_protocol::types::{Space, Type};

/// A scalar inside a value that may be a vector or an aggregate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Leaf {
    /// Where it lies in memory, in bits from the value's start (bits for the vectors of `i1`).
    pub bit: u64,
    /// The type of its values.
    pub ty: Type,
}

impl Leaf {
    /// Whether it lies in whole bytes and takes all of the bytes that [`Type::bytes`] says.
    pub fn is_plain(self) -> bool {
        is_plain(self.ty) && self.bit.is_multiple_of(8)
    }

    /// Where it lies in memory, in bytes from the value's start.
    pub fn offset(self) -> u64 {
        self.bit / 8
    }
}

/// Whether a scalar fills the bytes it takes in memory.
pub(super) fn is_plain(scalar_type: Type) -> bool {
    scalar_type.bits() == scalar_type.bytes() * 8
}

/// More scalars than this in one value are not a value but a mistake.
const MAX_LEAVES: usize = 4096;
/// Types nested deeper than this are a mistake.
const MAX_DEPTH: u32 = 64;

/// The scalar type that a type is; `None` for vectors, aggregates and types we do not have.
pub(super) fn scalar_type(llvm_type: LlvmType<'_>) -> Option<Type> {
    match llvm_type.kind() {
        TypeKind::Half => Some(Type::F16),
        TypeKind::Float => Some(Type::F32),
        TypeKind::Double => Some(Type::F64),
        TypeKind::Int(width) if (1..=128).contains(&width) => Some(Type::Int(width as u16)),
        TypeKind::Ptr(space) => Space::from_number(space).map(Type::Ptr),
        _ => None,
    }
}

/// The scalars of a first-class value, in order.
pub(super) fn leaf_scalars<'m>(llvm_module: Module<'m>, llvm_type: LlvmType<'m>) -> Attempt<Vec<Leaf>> {
    let mut output = Vec::new();
    add_leaves(llvm_module, llvm_type, 0, 0, &mut output)?;
    Ok(output)
}

/// The types of the scalars of a first-class value, in order.
pub(super) fn leaf_types<'m>(llvm_module: Module<'m>, llvm_type: LlvmType<'m>) -> Attempt<Vec<Type>> {
    Ok(leaf_scalars(llvm_module, llvm_type)?.into_iter().map(|leaf| leaf.ty).collect())
}

fn add_leaves<'m>(
    llvm_module: Module<'m>,
    llvm_type: LlvmType<'m>,
    bit_offset: u64,
    depth: u32,
    output: &mut Vec<Leaf>,
) -> Attempt<()> {
    if depth > MAX_DEPTH {
        refuse!("types nested too deeply");
    }
    if output.len() >= MAX_LEAVES {
        refuse!("a value of more than {MAX_LEAVES} scalars");
    }
    match llvm_type.kind() {
        TypeKind::Void => {}
        TypeKind::Vector(n, element) => {
            let Some(element) = scalar_type(element) else {
                refuse!("{}", unsupported_reason(llvm_type));
            };
            if n as usize > MAX_LEAVES {
                refuse!("a vector of {n} elements");
            }
            output.extend((0..u64::from(n)).map(|element_index| Leaf {
                bit: bit_offset + element_index * u64::from(element.bits()),
                ty: element,
            }));
        }
        TypeKind::Array(n, element) => {
            if n > MAX_LEAVES as u64 {
                refuse!("a value that is an array of {n} elements");
            }
            let stride = size_of(llvm_module, element)?.saturating_mul(8);
            for element_index in 0..n {
                let offset = bit_offset.saturating_add(element_index.saturating_mul(stride));
                add_leaves(llvm_module, element, offset, depth + 1, output)?;
            }
        }
        TypeKind::Struct(n) => {
            for index in 0..n {
                let Some(field_type) = llvm_type.field_type(index) else { continue };
                let offset = bit_offset.saturating_add(llvm_module.field_offset(llvm_type, index).saturating_mul(8));
                add_leaves(llvm_module, field_type, offset, depth + 1, output)?;
            }
        }
        _ => match scalar_type(llvm_type) {
            Some(scalar_type) => output.push(Leaf { bit: bit_offset, ty: scalar_type }),
            None => refuse!("{}", unsupported_reason(llvm_type)),
        },
    }
    Ok(())
}

/// Bytes from one element of this type to the next in memory.
pub(super) fn size_of<'m>(llvm_module: Module<'m>, llvm_type: LlvmType<'m>) -> Attempt<u64> {
    match llvm_module.size_of(llvm_type) {
        Some(byte_size) => Ok(byte_size),
        None => refuse!("a type without a size: {}", llvm_type.spelling()),
    }
}

/// Why a type is not supported.
pub(super) fn unsupported_reason(llvm_type: LlvmType<'_>) -> String {
    match llvm_type.extension_name().as_deref() {
        Some("spirv.Image" | "spirv.SampledImage" | "spirv.Sampler") => "an image or a sampler of another form".into(),
        Some("spirv.Pipe" | "spirv.PipeStorage" | "spirv.ReserveId") => "pipes are not supported".into(),
        Some("spirv.Queue" | "spirv.DeviceEvent") => "device-side enqueue is not supported".into(),
        _ => match llvm_type.kind() {
            TypeKind::Int(width) => format!("an integer of {width} bits"),
            TypeKind::Ptr(space) => format!("a pointer to unknown address space {space}"),
            _ => format!("a value of type {}", llvm_type.spelling()),
        },
    }
}
