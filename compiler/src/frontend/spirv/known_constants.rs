//! The constants of a module that were declared: their bits and their texts.

use std::collections::HashMap;
use std::rc::Rc;

use super::error::{Attempt, refuse};
use super::ids::{Id, IdMap};

/// A constant of a module, with what LLVM writes for it.
#[derive(Clone, Debug)]
pub(super) struct Constant {
    pub value_type: Id,
    pub kind: ConstantKind,
    /// The constant in LLVM's text, without its type.
    pub text: Rc<str>,
}

/// What a constant is.
#[derive(Clone, Debug)]
pub(super) enum ConstantKind {
    /// A number or a `bool`: its bits.
    Bits(u64),
    /// Zero of any type.
    Null,
    /// Any value of its type.
    Undefined,
    /// Elements or members.
    Composite(Rc<[Constant]>),
    /// What only the program's loader knows.
    Address,
}

/// The constants of a module.
#[derive(Debug, Default)]
pub(super) struct Constants {
    pub known: IdMap<Constant>,
    /// Bytes of all texts.
    pub text_bytes: usize,
    /// Variables that are zero and stay so, by their names in LLVM's text, with their sizes in bytes.
    pub zero_variables: HashMap<Rc<str>, u64>,
}

impl Constants {
    /// The constant of an id.
    pub fn find_constant(&self, id: Id) -> Attempt<&Constant> {
        match self.known.get(&id) {
            Some(constant) => Ok(constant),
            None => refuse!("%{id} is not a constant that was declared before"),
        }
    }

    /// Whether an address is that of so many bytes which are always zero.
    pub fn is_zero_at(&self, address: &str, bytes: u64) -> bool {
        self.zero_variables.get(address).is_some_and(|&size| bytes <= size)
    }

    /// Bytes of the constants' texts.
    pub fn text_bytes(&self) -> usize {
        self.text_bytes
    }

    /// The bits of a constant that is a number or a `bool`, if it is one.
    pub fn known_bits(&self, id: Id) -> Option<u64> {
        match self.known.get(&id)?.kind {
            ConstantKind::Bits(bits) => Some(bits),
            ConstantKind::Null | ConstantKind::Undefined => Some(0),
            _ => None,
        }
    }

    /// The bits of a constant that has to be a number.
    pub fn integer_bits(&self, id: Id) -> Attempt<u64> {
        match self.known_bits(id) {
            Some(bits) => Ok(bits),
            None => refuse!("%{id} is not a constant number"),
        }
    }
}

/// The bits of a number of so many.
pub(super) fn mask_of(width: u32) -> u64 {
    u64::MAX >> (64 - width.clamp(1, 64))
}
