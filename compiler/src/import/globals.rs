//! Program-scope variables and constant tables: their contents as bytes and relocations.

use super::constants::{Scalar, evaluate_constant};
use super::error::{Attempt, Reason, refuse};
use super::llvm::{Module, Type as LlvmType, TypeKind, Value};
use super::types::{leaf_scalars, scalar_type, size_of};
use lockstep_ir::ir;
use lockstep_protocol::types::Space;
use lockstep_protocol::variables::{Global, GlobalData};
use std::collections::HashMap;

/// Variables of more bytes than this together are refused.
const MAX_BYTES: u64 = 1 << 28;
/// Initialisers nested deeper than this are refused.
const MAX_DEPTH: u32 = 64;

/// The variables imported so far. A variable is known as soon as something names it; its contents,
/// which may name others, follow in [`Globals::fill_contents`].
pub(super) struct Globals<'m> {
    llvm: Module<'m>,
    known: HashMap<Value<'m>, Global>,
    pending: Vec<(Global, Value<'m>)>,
    bytes: u64,
}

impl<'m> Globals<'m> {
    /// No variables yet.
    pub fn new(llvm: Module<'m>) -> Globals<'m> {
        Globals { llvm, known: HashMap::new(), pending: Vec::new(), bytes: 0 }
    }

    /// The entity of a program-scope variable.
    pub fn global_of(&mut self, output: &mut ir::Module, variable: Value<'m>) -> Attempt<Global> {
        if let Some(&global) = self.known.get(&variable) {
            return Ok(global);
        }
        let name = variable.name();
        let TypeKind::Ptr(number) = variable.ty().kind() else {
            refuse!("the variable {name} has no address");
        };
        let constant = variable.is_constant_global() || number == Space::Constant.spir_number();
        let space = match Space::from_number(number) {
            Some(Space::Global) => Space::Global,
            Some(Space::Constant) => Space::Constant,
            // Tables that a front end put into the default space.
            Some(Space::Private) if constant => Space::Constant,
            Some(space) => refuse!("the variable {name} in {} memory at program scope", space.name()),
            None => refuse!("the variable {name} in unknown address space {number}"),
        };
        if variable.is_thread_local() {
            refuse!("the thread-local variable {name}");
        }
        if variable.initial_value().is_none() {
            refuse!("the variable {name} is declared but not defined");
        }
        let ty = value_type(variable)?;
        let size = size_of(self.llvm, ty)?;
        self.bytes = self.bytes.saturating_add(size);
        if self.bytes > MAX_BYTES {
            refuse!("with {name} of {size} bytes the program's variables take more than {MAX_BYTES} bytes");
        }
        let align = match variable.align() {
            0 => self.llvm.align_of(ty).unwrap_or(1),
            align => align,
        };
        let global = output.globals.push(GlobalData {
            name,
            space,
            align: align.max(1),
            init: vec![0; size as usize],
            relocs: Vec::new(),
            constant,
        });
        self.known.insert(variable, global);
        self.pending.push((global, variable));
        Ok(global)
    }

    /// Fills in the contents of all variables named so far and of those that these name.
    pub fn fill_contents(&mut self, output: &mut ir::Module) -> Attempt<()> {
        while let Some((global, variable)) = self.pending.pop() {
            let mut contents = Contents {
                llvm: self.llvm,
                bytes: std::mem::take(&mut output.globals[global].init),
                addresses: Vec::new(),
            };
            if let Some(initial) = variable.initial_value() {
                let name = variable.name();
                let written = contents.write_constant(value_type(variable)?, initial, 0, 0);
                written.map_err(|Reason(r)| Reason(format!("the initialiser of {name}: {r}")))?;
            }
            let mut relocs = Vec::new();
            for (offset, target, addend) in contents.addresses {
                relocs.push((offset, self.global_of(output, target)?, addend));
            }
            output.globals[global].init = contents.bytes;
            output.globals[global].relocs = relocs;
        }
        Ok(())
    }
}

fn value_type<'m>(variable: Value<'m>) -> Attempt<LlvmType<'m>> {
    match variable.value_type() {
        Some(ty) => Ok(ty),
        None => refuse!("{} is not a variable", variable.name()),
    }
}

struct Contents<'m> {
    llvm: Module<'m>,
    bytes: Vec<u8>,
    addresses: Vec<(u64, Value<'m>, i64)>,
}

impl<'m> Contents<'m> {
    fn write_constant(&mut self, ty: LlvmType<'m>, value: Value<'m>, position: u64, depth: u32) -> Attempt<()> {
        if depth > MAX_DEPTH {
            refuse!("nested too deeply");
        }
        if value.is_undef() || value.is_zero() {
            return Ok(());
        }
        if let Some(text) = value.string_bytes() {
            self.put_bytes(position, &text);
            return Ok(());
        }
        let (count, stride) = match ty.kind() {
            TypeKind::Array(n, element) => (n, size_of(self.llvm, element)?),
            TypeKind::Struct(n) => (u64::from(n), 0),
            TypeKind::Vector(..) => return self.write_vector(ty, value, position),
            _ => {
                let bits = scalar_type(ty).map_or(0, |ty| ty.bits());
                match evaluate_constant(self.llvm, value, depth)? {
                    Scalar::Bits(known) => {
                        self.put_bytes(position, &known.to_le_bytes()[..bits.div_ceil(8) as usize]);
                    }
                    Scalar::Address(target, addend) => self.addresses.push((position, target, addend)),
                }
                return Ok(());
            }
        };
        for i in 0..count {
            let index = i as u32;
            let offset = match ty.kind() {
                TypeKind::Struct(_) => self.llvm.field_offset(ty, index),
                _ => i * stride,
            };
            match value.element_at(index) {
                Some(element) => self.write_constant(element.ty(), element, position + offset, depth + 1)?,
                None => refuse!("the constant {}", value.text()),
            }
        }
        Ok(())
    }

    /// A vector's elements lie bit by bit behind one another.
    fn write_vector(&mut self, ty: LlvmType<'m>, value: Value<'m>, offset: u64) -> Attempt<()> {
        for (index, leaf) in leaf_scalars(self.llvm, ty)?.into_iter().enumerate() {
            let Some(element) = value.element_at(index as u32) else {
                refuse!("the constant {}", value.text());
            };
            match evaluate_constant(self.llvm, element, 0)? {
                Scalar::Address(target, addend) => {
                    self.addresses.push((offset + leaf.offset(), target, addend));
                }
                Scalar::Bits(known) if leaf.is_plain() => {
                    let bytes = known.to_le_bytes();
                    self.put_bytes(offset + leaf.offset(), &bytes[..leaf.ty.bytes() as usize]);
                }
                Scalar::Bits(known) => {
                    for k in 0..u64::from(leaf.ty.bits()) {
                        let bit = leaf.bit + k;
                        let set = (known >> k & 1) as u8;
                        if let Some(byte) = self.bytes.get_mut((offset + bit / 8) as usize) {
                            *byte |= set << (bit % 8);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn put_bytes(&mut self, offset: u64, data: &[u8]) {
        for (byte, &new) in self.bytes.iter_mut().skip(offset as usize).zip(data) {
            *byte = new;
        }
    }
}

/// The zero-terminated text that a constant address points to, without the zero.
pub(super) fn text_at<'m>(module: Module<'m>, variable: Value<'m>, offset: i64) -> Option<Vec<u8>> {
    if !variable.is_constant_global() {
        return None;
    }
    let size = usize::try_from(module.size_of(variable.value_type()?)?).ok()?;
    if size as u64 > MAX_BYTES {
        return None;
    }
    let mut contents = Contents { llvm: module, bytes: vec![0; size], addresses: Vec::new() };
    let initial = variable.initial_value()?;
    contents.write_constant(variable.value_type()?, initial, 0, 0).ok()?;
    let bytes = contents.bytes.get(usize::try_from(offset).ok()?..)?;
    let end = bytes.iter().position(|&b| b == 0)?;
    Some(bytes[..end].to_vec())
}
