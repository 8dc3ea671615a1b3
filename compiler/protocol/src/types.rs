//! Scalar types. OpenCL vectors are scalarised at import, so the IR has no vector type.

use serde::{Deserialize, Serialize};
use std::fmt;

/// An OpenCL address space. All are flat host memory on a CPU; what differs is who may share what.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Space {
    /// One work-item's own memory (SPIR address space 0).
    Private,
    /// Buffers, which all work-items share (1).
    Global,
    /// Read-only memory (2).
    Constant,
    /// One work-group's memory (3).
    Local,
    /// Private, global or local, known at run time only (4).
    Generic,
}

impl Space {
    /// All spaces in the order of their SPIR numbers.
    pub const ALL: [Space; 5] = [Space::Private, Space::Global, Space::Constant, Space::Local, Space::Generic];

    /// The space with SPIR's number `number`.
    pub fn from_number(number: u32) -> Option<Space> {
        Space::ALL.get(number as usize).copied()
    }

    /// SPIR's number of this space.
    pub fn spir_number(self) -> u32 {
        self as u32
    }

    /// The name used in text.
    pub fn name(self) -> &'static str {
        match self {
            Space::Private => "private",
            Space::Global => "global",
            Space::Constant => "constant",
            Space::Local => "local",
            Space::Generic => "generic",
        }
    }
}

/// The type of a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Type {
    /// An integer of 1 to 128 bits; `Int(1)` is the type of conditions.
    Int(u16),
    /// Floats of 16 bits (IEEE binary16).
    F16,
    /// Floats of 32 bits (IEEE binary32).
    F32,
    /// Floats of 64 bits (IEEE binary64).
    F64,
    /// A 64-bit address.
    Ptr(Space),
}

impl Type {
    /// The type of conditions.
    pub const BOOL: Type = Type::Int(1);
    /// Integers of 8 bits.
    pub const I8: Type = Type::Int(8);
    /// Integers of 16 bits.
    pub const I16: Type = Type::Int(16);
    /// Integers of 32 bits.
    pub const I32: Type = Type::Int(32);
    /// Integers of 64 bits.
    pub const I64: Type = Type::Int(64);

    /// Width in bits.
    pub fn bits(self) -> u32 {
        match self {
            Type::Int(w) => u32::from(w),
            Type::F16 => 16,
            Type::F32 => 32,
            Type::F64 | Type::Ptr(_) => 64,
        }
    }

    /// Bytes that a value of this type takes in memory.
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8).next_power_of_two()
    }

    /// Whether this is an integer type.
    pub fn is_int(self) -> bool {
        matches!(self, Type::Int(_))
    }

    /// Whether this is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, Type::F16 | Type::F32 | Type::F64)
    }

    /// Whether this is a pointer type.
    pub fn is_ptr(self) -> bool {
        matches!(self, Type::Ptr(_))
    }

    /// The bits of a constant of this type that carry its value.
    pub fn value_mask(self) -> u128 {
        u128::MAX >> (128 - self.bits())
    }
}

impl fmt::Display for Type {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Int(w) => write!(formatter, "i{w}"),
            Type::F16 => formatter.write_str("f16"),
            Type::F32 => formatter.write_str("f32"),
            Type::F64 => formatter.write_str("f64"),
            Type::Ptr(address_space) => write!(formatter, "ptr.{}", address_space.name()),
        }
    }
}
