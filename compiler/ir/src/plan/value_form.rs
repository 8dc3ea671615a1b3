//! How a value of a gang is held in registers.
//!
//! A value of which one lane's tells all others' stays a scalar: that of lane 0, or of the first lane of each row of a
//! tile. Vectors are made of it only where one is needed.

use crate::analysis::shape::Shape;
use lockstep_protocol::types::Type;

/// How a value is held.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Form {
    /// As the value of lane 0; lane `i` has `i * stride` more, in the type's wrapping arithmetic.
    Affine(i64),
    /// Of a tile, as the values of the first lane of each row; in a row, lane `i` has `i * stride` more.
    Runs(i64),
    /// As a vector with an element per lane.
    #[default]
    Vector,
}

impl Form {
    /// The form of a value of this type and shape. A float is affine only where all lanes have the same.
    pub fn of_shape(value_type: Type, shape: Shape) -> Form {
        match shape {
            Shape::Strided { stride: 0, .. } => Form::Affine(0),
            Shape::Strided { stride, .. } if !value_type.is_float() && value_type.bits() <= 64 => Form::Affine(stride),
            _ => Form::Vector,
        }
    }

    /// Whether all lanes have the same.
    pub fn is_uniform(self) -> bool {
        self == Form::Affine(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_protocol::types::Space;

    #[test]
    fn only_what_can_be_added_to_is_affine() {
        let strided = Shape::Strided { stride: 4, align: 4 };
        assert_eq!(Form::of_shape(Type::I32, strided), Form::Affine(4));
        assert_eq!(Form::of_shape(Type::Ptr(Space::Global), strided), Form::Affine(4));
        assert_eq!(Form::of_shape(Type::F32, strided), Form::Vector);
        assert_eq!(Form::of_shape(Type::F32, Shape::uniform(1)), Form::Affine(0));
        assert_eq!(Form::of_shape(Type::Int(128), strided), Form::Vector);
        assert_eq!(Form::of_shape(Type::I32, Shape::Varying), Form::Vector);
        assert!(Form::of_shape(Type::F64, Shape::uniform(1)).is_uniform());
    }
}
