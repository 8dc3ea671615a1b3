//! Values of a module as LLVM's text has them.

use std::fmt;
use std::rc::Rc;

use super::ids::Id;
use spirv::BuiltIn;

/// What an id stands for.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// What an instruction of a function computed.
    Local(Local),
    /// A variable that tells the work-item of itself, read as a vector; it is computed if it is used as a whole.
    BuiltInVector { local: Local, built_in: BuiltIn, late_index: u32 },
    /// A constant or an address, in LLVM's text.
    Constant { value_type: Id, text: Rc<str> },
    /// A variable that tells the work-item of itself and holds such a value, or one component of it.
    BuiltIn { value_type: Id, content: Id, built_in: BuiltIn, component: Option<u32> },
    /// An image with how it is sampled.
    SampledImage { value_type: Id, image: Id, sampler: Id },
}

/// A value of a function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Local {
    pub value_type: Id,
    /// The function by its id.
    pub function: Id,
    /// The label of the block that computes it; none of a parameter.
    pub block: Option<Id>,
    pub number: ValueNumber,
}

/// The number of a value in its function, from which parameters and values of instructions are counted alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ValueNumber(pub u32);

impl ValueNumber {
    /// Hands on the text of the value, `%` and the number, as one piece: a translation writes little else, and each piece takes time.
    pub fn spell<T>(self, write: impl FnOnce(&str) -> T) -> T {
        let mut digits = itoa::Buffer::new();
        let digits = digits.format(self.0).as_bytes();
        let mut text = [b'%'; 1 + MAX_DIGITS];
        text[1..=digits.len()].copy_from_slice(digits);
        // What stands there is ASCII.
        write(str::from_utf8(&text[..=digits.len()]).unwrap_or_default())
    }
}

/// Digits of the greatest number of a value.
const MAX_DIGITS: usize = 10;

impl fmt::Display for ValueNumber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spell(|text| formatter.write_str(text))
    }
}

/// A value in LLVM's text, without its type.
#[derive(Clone, Debug)]
pub(super) enum ValueText {
    /// A value of the function.
    Local(ValueNumber),
    /// A constant or an address.
    Constant(Rc<str>),
}

impl fmt::Display for ValueText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueText::Local(number) => number.fmt(formatter),
            ValueText::Constant(text) => formatter.write_str(text),
        }
    }
}

impl From<&str> for ValueText {
    fn from(text: &str) -> ValueText {
        ValueText::Constant(text.into())
    }
}

/// A value as an operand.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    /// Its type's id.
    pub value_type: Id,
    /// The value in LLVM's text, without its type.
    pub text: ValueText,
}

/// A value with its type, as most of LLVM's operands are written.
#[derive(Clone, Debug)]
pub(super) struct Typed {
    /// The type in LLVM's text.
    pub type_text: Rc<str>,
    /// The value in LLVM's text.
    pub text: ValueText,
}

impl Typed {
    /// A value of a type.
    pub fn of_texts(type_text: impl Into<Rc<str>>, text: impl Into<ValueText>) -> Typed {
        Typed { type_text: type_text.into(), text: text.into() }
    }
}

impl fmt::Display for Typed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.type_text)?;
        formatter.write_str(" ")?;
        self.text.fmt(formatter)
    }
}
