//! The types of OpenCL C whose values the command reads, makes, compares and prints: numbers and vectors of them.

use std::fmt;
use std::str::FromStr;

use half::f16;

/// A type of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    Char,
    Uchar,
    Short,
    Ushort,
    Int,
    Uint,
    Long,
    Ulong,
    Half,
    Float,
    Double,
}

use Scalar::{Char, Double, Float, Half, Int, Long, Short, Uchar, Uint, Ulong, Ushort};

const NAMES: [(&str, Scalar); 11] = [
    ("char", Char),
    ("uchar", Uchar),
    ("short", Short),
    ("ushort", Ushort),
    ("int", Int),
    ("uint", Uint),
    ("long", Long),
    ("ulong", Ulong),
    ("half", Half),
    ("float", Float),
    ("double", Double),
];

/// How many components vectors have.
const WIDTHS: [usize; 5] = [2, 3, 4, 8, 16];

impl Scalar {
    /// Bytes of a value.
    pub fn byte_size(self) -> usize {
        match self {
            Char | Uchar => 1,
            Short | Ushort | Half => 2,
            Int | Uint | Float => 4,
            Long | Ulong | Double => 8,
        }
    }

    fn bit_count(self) -> u32 {
        8 * self.byte_size() as u32
    }

    /// Whether it has fractions.
    pub fn is_float(self) -> bool {
        matches!(self, Half | Float | Double)
    }

    fn is_signed(self) -> bool {
        matches!(self, Char | Short | Int | Long)
    }

    /// The smallest and the largest number, of a type without fractions.
    fn integer_range(self) -> (i128, i128) {
        let bit_count = self.bit_count();
        if self.is_signed() { (-(1 << (bit_count - 1)), (1 << (bit_count - 1)) - 1) } else { (0, (1 << bit_count) - 1) }
    }

    /// The bits of a number, as it is written in decimal or, of a type without fractions, as its bits in hexadecimal.
    ///
    /// # Errors
    /// In words: why it is none of this type.
    pub fn parse_bits(self, text: &str) -> Result<u64, String> {
        let no_number = |_| format!("'{text}' is no number");
        match self {
            Half => text.parse().map(|number| u64::from(f16::from_f64(number).to_bits())).map_err(no_number),
            Float => text.parse().map(|number: f32| u64::from(number.to_bits())).map_err(no_number),
            Double => text.parse().map(f64::to_bits).map_err(no_number),
            _ => self.parse_integer(text),
        }
    }

    fn parse_integer(self, text: &str) -> Result<u64, String> {
        let (least, most) = self.integer_range();
        if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            let bits = u64::from_str_radix(digits, 16).map_err(|_| format!("'{text}' is no hexadecimal number"))?;
            let is_within = bits.checked_shr(self.bit_count()).unwrap_or(0) == 0;
            return is_within.then_some(bits).ok_or_else(|| format!("'{text}' has more bits than {self} has"));
        }
        let number: i128 = text.parse().map_err(|_| format!("'{text}' is no whole number"))?;
        let is_within = (least..=most).contains(&number);
        // Bits beyond those of the type are never looked at.
        is_within
            .then_some(number as u64)
            .ok_or_else(|| format!("{text} is not within {least} to {most}, as {self} is"))
    }

    /// The bits of a whole number; of a type without fractions, those that it has room for.
    pub fn bits_of_count(self, count: u64) -> u64 {
        match self {
            Half => u64::from(f16::from_f64(count as f64).to_bits()),
            Float => u64::from((count as f32).to_bits()),
            Double => (count as f64).to_bits(),
            _ => count,
        }
    }

    /// The bits of a random number, from random bits: any number of a type without fractions, or one from 0 up to but not including 1.
    pub fn bits_of_random(self, random_bits: u64) -> u64 {
        // As many bits as the type's numbers below 1 have all of.
        match self {
            Half => u64::from(f16::from_f64((random_bits >> 53) as f64 / f64::from(1 << 11)).to_bits()),
            Float => u64::from(((random_bits >> 40) as f32 / (1_u32 << 24) as f32).to_bits()),
            Double => ((random_bits >> 11) as f64 / (1_u64 << 53) as f64).to_bits(),
            _ => random_bits,
        }
    }

    /// The bits of a value's bytes.
    pub fn read_bits(self, bytes: &[u8]) -> u64 {
        bytes.iter().take(self.byte_size()).rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
    }

    /// Appends the bytes of a value.
    pub fn push_bits(self, bits: u64, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&bits.to_le_bytes()[..self.byte_size()]);
    }

    /// A value as it is written.
    pub fn format_bits(self, bits: u64) -> String {
        let unused = 64 - self.bit_count();
        match self {
            Half => f16::from_bits(bits as u16).to_string(),
            Float => f32::from_bits(bits as u32).to_string(),
            Double => f64::from_bits(bits).to_string(),
            _ if self.is_signed() => ((bits << unused) as i64 >> unused).to_string(),
            _ => bits.to_string(),
        }
    }

    /// How many values of a type with fractions lie between two. Zeros are the same, and so is all that is no number.
    pub fn count_ulps(self, bits: u64, other: u64) -> u64 {
        if bits == other {
            return 0;
        }
        match (self.is_nan(bits), self.is_nan(other)) {
            (true, true) => 0,
            (false, false) => self.order_bits(bits).abs_diff(self.order_bits(other)),
            _ => u64::MAX,
        }
    }

    fn is_nan(self, bits: u64) -> bool {
        match self {
            Half => f16::from_bits(bits as u16).is_nan(),
            Float => f32::from_bits(bits as u32).is_nan(),
            Double => f64::from_bits(bits).is_nan(),
            _ => false,
        }
    }

    /// A number that grows by 1 from each value of a type with fractions to the next.
    fn order_bits(self, bits: u64) -> i64 {
        let sign = 1 << (self.bit_count() - 1);
        let magnitude = (bits & (sign - 1)) as i64;
        if bits & sign == 0 { magnitude } else { -magnitude }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMES.iter().find(|(_, scalar)| scalar == self).map_or("", |(name, _)| name);
        formatter.write_str(name)
    }
}

/// A number or a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// The type of its components.
    pub scalar: Scalar,
    /// How many there are.
    pub width: usize,
}

impl Element {
    /// A byte, for memory of which no type is known.
    pub const BYTE: Element = Element { scalar: Uchar, width: 1 };

    /// Bytes of a value. A vector of three has those of four.
    pub fn byte_size(self) -> usize {
        self.scalar.byte_size() * self.width.next_power_of_two()
    }

    /// The bytes of a value that is written as its components with commas between them, or as one for all.
    ///
    /// # Errors
    /// In words: why it is none of this type.
    pub fn parse_value(self, text: &str) -> Result<Vec<u8>, String> {
        let components: Vec<u64> =
            text.split(',').map(|word| self.scalar.parse_bits(word.trim())).collect::<Result<_, _>>()?;
        let wanted = self.width;
        let components = match components[..] {
            [one] => vec![one; wanted],
            _ if components.len() == wanted => components,
            _ => return Err(format!("{} components are given; {self} has {wanted}", components.len())),
        };
        let mut bytes = Vec::with_capacity(self.byte_size());
        components.into_iter().for_each(|bits| self.scalar.push_bits(bits, &mut bytes));
        bytes.resize(self.byte_size(), 0);
        Ok(bytes)
    }

    /// The components of a value, as bits.
    pub fn components(self, bytes: &[u8]) -> impl Iterator<Item = u64> {
        bytes
            .chunks_exact(self.scalar.byte_size())
            .take(self.width)
            .map(move |component| self.scalar.read_bits(component))
    }

    /// A value as it is written.
    pub fn format_value(self, bytes: &[u8]) -> String {
        let words: Vec<String> = self.components(bytes).map(|bits| self.scalar.format_bits(bits)).collect();
        words.join(",")
    }
}

impl FromStr for Element {
    type Err = String;

    /// The type of this name in OpenCL C. An atomic type is that of its values.
    fn from_str(name: &str) -> Result<Element, String> {
        let wrapped = name.strip_prefix("_Atomic(").and_then(|name| name.strip_suffix(')'));
        let plain = wrapped.or_else(|| name.strip_prefix("atomic_")).unwrap_or(name);
        let digits = plain.find(|letter: char| letter.is_ascii_digit()).unwrap_or(plain.len());
        let (scalar_name, width) = plain.split_at(digits);
        let scalar = NAMES.iter().find(|(name, _)| *name == scalar_name).map(|(_, scalar)| *scalar);
        let width =
            if width.is_empty() { Some(1) } else { WIDTHS.into_iter().find(|known| known.to_string() == width) };
        match (scalar, width) {
            (Some(scalar), Some(width)) => Ok(Element { scalar, width }),
            _ => Err(format!("'{name}' is no type of numbers or vectors")),
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.width {
            1 => write!(formatter, "{}", self.scalar),
            width => write!(formatter, "{}{width}", self.scalar),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(name: &str) -> Element {
        name.parse().expect("it is a type")
    }

    #[test]
    fn types_have_names_and_sizes() {
        for (name, byte_size) in
            [("char", 1), ("uint", 4), ("half", 2), ("float3", 16), ("double16", 128), ("ulong2", 16)]
        {
            assert_eq!((element(name).byte_size(), element(name).to_string()), (byte_size, name.to_owned()));
        }
        assert_eq!([element("atomic_int"), element("_Atomic(ulong)")], [element("int"), element("ulong")]);
        for name in ["", "bool", "float1", "float5", "float04", "float44", "4", "int*", "struct int", "Float"] {
            name.parse::<Element>().expect_err(name);
        }
    }

    #[test]
    fn values_come_back_as_they_were_written() {
        for (name, text) in [
            ("char", "-128"),
            ("uchar", "255"),
            ("short", "-1"),
            ("int4", "1,-2,3,-4"),
            ("ulong", "18446744073709551615"),
            ("long", "-9223372036854775808"),
            ("float", "0.1"),
            ("float", "-inf"),
            ("float3", "1,NaN,0.5"),
            ("double2", "0.1,-100000"),
            ("half", "65504"),
        ] {
            let bytes = element(name).parse_value(text).expect("it is one");
            assert_eq!(bytes.len(), element(name).byte_size());
            assert_eq!(element(name).format_value(&bytes), text);
        }
        assert_eq!(element("short2").parse_value("7"), Ok(vec![7, 0, 7, 0]), "one for all");
        assert_eq!(element("int").parse_value("0xFFFFFFFF"), Ok(vec![255; 4]));
        assert_eq!(element("char3").parse_value("1, 2, 3"), Ok(vec![1, 2, 3, 0]));
    }

    #[test]
    fn what_is_no_value_is_said() {
        for (name, text, words) in [
            ("uchar", "256", "256 is not within 0 to 255, as uchar is"),
            ("char", "-129", "-129 is not within -128 to 127, as char is"),
            ("ulong", "-1", "-1 is not within 0 to 18446744073709551615, as ulong is"),
            ("int", "1.5", "'1.5' is no whole number"),
            ("int", "", "'' is no whole number"),
            ("int", "99999999999999999999999999999999999999999999", "is no whole number"),
            ("ushort", "0x10000", "'0x10000' has more bits than ushort has"),
            ("int", "0xg", "'0xg' is no hexadecimal number"),
            ("float", "one", "'one' is no number"),
            ("float4", "1,2,3", "3 components are given; float4 has 4"),
            ("float", "1,2", "2 components are given; float has 1"),
        ] {
            let text = element(name).parse_value(text).expect_err(words);
            assert!(text.ends_with(words), "{text}");
        }
    }

    #[test]
    fn ulps_are_counted_over_zero() {
        let bits = |number: f32| u64::from(number.to_bits());
        for (number, other, ulps) in [
            (1.0, 1.0, 0),
            (1.0, 1.0 + f32::EPSILON, 1),
            (0.0, -0.0, 0),
            (f32::from_bits(2), -f32::from_bits(1), 3),
            (f32::NAN, -f32::NAN, 0),
            (f32::NAN, 1.0, u64::MAX),
            (f32::MAX, f32::INFINITY, 1),
        ] {
            assert_eq!(Float.count_ulps(bits(number), bits(other)), ulps, "{number} {other}");
            assert_eq!(Float.count_ulps(bits(other), bits(number)), ulps, "{other} {number}");
        }
        assert_eq!(Double.count_ulps(f64::MAX.to_bits(), f64::MIN.to_bits()), 2 * f64::MAX.to_bits());
        assert_eq!(Half.count_ulps(0x3C00, 0x3C02), 2);
    }

    #[test]
    fn random_numbers_with_fractions_are_below_one() {
        for scalar in [Half, Float, Double] {
            let most = scalar.bits_of_random(u64::MAX);
            assert!(scalar.order_bits(most) < scalar.order_bits(scalar.bits_of_count(1)), "{scalar}");
            assert_eq!(scalar.bits_of_random(0), 0);
        }
    }
}
