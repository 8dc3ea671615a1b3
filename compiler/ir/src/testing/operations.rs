//! Operations by the types that they take, so that tests need no list of them.

use crate::ir::UnaryOp;
use crate::verify::takes_types;
use lockstep_protocol::types::Type;

/// Every operation from an integer type to itself.
pub fn unary_operations_of(int_type: Type) -> Vec<UnaryOp> {
    UnaryOp::ALL.iter().copied().filter(|&opcode| takes_types(opcode, int_type, int_type)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_those_that_verify() {
        let [of_bytes, of_words] = [Type::I8, Type::I32].map(unary_operations_of);
        assert!(of_words.contains(&UnaryOp::Bswap) && !of_bytes.contains(&UnaryOp::Bswap), "bytes have no byte pairs");
        assert!(of_bytes.contains(&UnaryOp::Popcount));
        assert!(![UnaryOp::Fneg, UnaryOp::Zext, UnaryOp::SpaceOf].iter().any(|opcode| of_words.contains(opcode)));
    }
}
