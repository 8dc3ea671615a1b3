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
    pub fn new(llvm_module: Module<'m>) -> Globals<'m> {
        Globals { llvm: llvm_module, known: HashMap::new(), pending: Vec::new(), bytes: 0 }
    }

    /// The variables of a module that was imported before, with what is known of them, under the same numbers. None if they cannot
    /// be told from others by their names.
    pub fn with_variables(
        llvm_module: Module<'m>,
        output: &mut ir::Module,
        variables: &[GlobalData],
    ) -> Option<Globals<'m>> {
        let by_name: HashMap<String, Value<'m>> =
            llvm_module.globals().into_iter().map(|variable| (variable.name(), variable)).collect();
        let mut globals = Globals::new(llvm_module);
        for global_data in variables.iter() {
            let variable = *by_name.get(&global_data.name).filter(|_| !global_data.name.is_empty())?;
            globals.known.insert(variable, output.globals.push(global_data.clone()));
        }
        Some(globals)
    }

    /// The entity of a program-scope variable.
    pub fn global_of(&mut self, output: &mut ir::Module, variable: Value<'m>) -> Attempt<Global> {
        if let Some(&global) = self.known.get(&variable) {
            return Ok(global);
        }
        let name = variable.name();
        let TypeKind::Ptr(space_number) = variable.ty().kind() else {
            refuse!("the variable {name} has no address");
        };
        let constant = variable.is_constant_global() || space_number == Space::Constant.spir_number();
        let address_space = match Space::from_number(space_number) {
            Some(Space::Global) => Space::Global,
            Some(Space::Constant) => Space::Constant,
            // Tables that a front end put into the default space.
            Some(Space::Private) if constant => Space::Constant,
            Some(address_space) => refuse!("the variable {name} in {} memory at program scope", address_space.name()),
            None => refuse!("the variable {name} in unknown address space {space_number}"),
        };
        if variable.is_thread_local() {
            refuse!("the thread-local variable {name}");
        }
        if variable.initial_value().is_none() {
            refuse!("the variable {name} is declared but not defined");
        }
        let llvm_type = value_type(variable)?;
        let byte_size = size_of(self.llvm, llvm_type)?;
        self.bytes = self.bytes.saturating_add(byte_size);
        if self.bytes > MAX_BYTES {
            refuse!("with {name} of {byte_size} bytes the program's variables take more than {MAX_BYTES} bytes");
        }
        let alignment = match variable.align() {
            0 => self.llvm.align_of(llvm_type).unwrap_or(1),
            alignment => alignment,
        };
        let global = output.globals.push(GlobalData {
            name,
            space: address_space,
            align: alignment.max(1),
            init: vec![0; byte_size as usize],
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
                written.map_err(|Reason(text)| Reason(format!("the initialiser of {name}: {text}")))?;
            }
            let mut relocations = Vec::new();
            for (offset, target, addend) in contents.addresses {
                relocations.push((offset, self.global_of(output, target)?, addend));
            }
            output.globals[global].init = contents.bytes;
            output.globals[global].relocs = relocations;
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
    fn write_constant(
        &mut self,
        llvm_type: LlvmType<'m>,
        llvm_value: Value<'m>,
        position: u64,
        depth: u32,
    ) -> Attempt<()> {
        if depth > MAX_DEPTH {
            refuse!("nested too deeply");
        }
        if llvm_value.is_undef() || llvm_value.is_zero() {
            return Ok(());
        }
        if let Some(text) = llvm_value.string_bytes() {
            self.put_bytes(position, &text);
            return Ok(());
        }
        let (element_count, stride) = match llvm_type.kind() {
            TypeKind::Array(n, element) => (n, size_of(self.llvm, element)?),
            TypeKind::Struct(n) => (u64::from(n), 0),
            TypeKind::Vector(..) => return self.write_vector(llvm_type, llvm_value, position),
            _ => {
                let bit_width = scalar_type(llvm_type).map_or(0, |scalar_type| scalar_type.bits());
                match evaluate_constant(self.llvm, llvm_value, depth)? {
                    Scalar::Bits(known) => {
                        self.put_bytes(position, &known.to_le_bytes()[..bit_width.div_ceil(8) as usize]);
                    }
                    Scalar::Address(target, addend) => self.addresses.push((position, target, addend)),
                }
                return Ok(());
            }
        };
        for i in 0..element_count {
            let index = i as u32;
            let offset = match llvm_type.kind() {
                TypeKind::Struct(_) => self.llvm.field_offset(llvm_type, index),
                _ => i * stride,
            };
            match llvm_value.element_at(index) {
                Some(element) => self.write_constant(element.ty(), element, position + offset, depth + 1)?,
                None => refuse!("the constant {}", llvm_value.text()),
            }
        }
        Ok(())
    }

    /// A vector's elements lie bit by bit behind one another.
    fn write_vector(&mut self, llvm_type: LlvmType<'m>, llvm_value: Value<'m>, offset: u64) -> Attempt<()> {
        for (index, leaf) in leaf_scalars(self.llvm, llvm_type)?.into_iter().enumerate() {
            let Some(element) = llvm_value.element_at(index as u32) else {
                refuse!("the constant {}", llvm_value.text());
            };
            match evaluate_constant(self.llvm, element, 0)? {
                Scalar::Address(target, addend) => {
                    self.addresses.push((offset + leaf.offset(), target, addend));
                }
                Scalar::Bits(known) if leaf.is_plain() => {
                    let lane_bytes = known.to_le_bytes();
                    self.put_bytes(offset + leaf.offset(), &lane_bytes[..leaf.ty.bytes() as usize]);
                }
                Scalar::Bits(known) => {
                    for k in 0..u64::from(leaf.ty.bits()) {
                        let bit_position = leaf.bit + k;
                        let set_bit = (known >> k & 1) as u8;
                        if let Some(byte) = self.bytes.get_mut((offset + bit_position / 8) as usize) {
                            *byte |= set_bit << (bit_position % 8);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn put_bytes(&mut self, offset: u64, new_bytes: &[u8]) {
        for (byte, &new) in self.bytes.iter_mut().skip(offset as usize).zip(new_bytes) {
            *byte = new;
        }
    }
}

/// The zero-terminated text that a constant address points to, without the zero.
pub(super) fn text_at<'m>(llvm_module: Module<'m>, variable: Value<'m>, offset: i64) -> Option<Vec<u8>> {
    if !variable.is_constant_global() {
        return None;
    }
    let size = usize::try_from(llvm_module.size_of(variable.value_type()?)?).ok()?;
    if size as u64 > MAX_BYTES {
        return None;
    }
    let mut contents = Contents { llvm: llvm_module, bytes: vec![0; size], addresses: Vec::new() };
    let initial = variable.initial_value()?;
    contents.write_constant(variable.value_type()?, initial, 0, 0).ok()?;
    let text_bytes = contents.bytes.get(usize::try_from(offset).ok()?..)?;
    let text_end = text_bytes.iter().position(|&byte| byte == 0)?;
    Some(text_bytes[..text_end].to_vec())
}
