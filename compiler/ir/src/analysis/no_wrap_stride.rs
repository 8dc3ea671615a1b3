//! Addresses whose lanes lie side by side as long as no index wraps.
//!
//! `a[y * w + x]` with unsigned numbers means that `y * w + x` wraps at 2^32 before it becomes part of an address.
//! Nobody can tell before the kernel runs that no lane wraps while its neighbours do not; but for one gang, lane 0's
//! index tells. Code can then ask, and access memory as for a constant stride where the answer is no.
//!
//! Requires: the shapes of a region's values; the gang's lanes.
//! Ensures: if lane 0's index of each of a [`NoWrapStride`]'s extensions is as far from the end of its type's range as the
//! gang is long ([`first_indices`]), the lanes of the value differ by the line's stride.
//! Phases: in the order of the blocks, extensions of strided narrow numbers begin lines; sums, and products with
//! constants, of 64 bits carry them on.
//! Source: Moll 2021, section 10.4, for the shapes; the issue of wrapping indices is treated there as a fact that is
//! checked ahead.

use super::shape::Shape;
use crate::ir::{BinaryOp, Block, Function, InstData, UnaryOp, Value, ValueDef};
use cranelift_entity::SecondaryMap;
use lockstep_protocol::types::Type;
use std::ops::RangeInclusive;

/// The extensions that one address may depend on.
const MOST_EXTENSIONS: usize = 2;

/// The instructions that lead from there to a value, each as often as it is used: as many are emitted for an access.
const MOST_STEPS: u32 = 32;

/// How a value's lanes lie if nothing wraps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoWrapStride {
    /// What each lane has more than the one before.
    pub stride: i64,
    /// The extensions (`zext` and `sext`) whose operands must not wrap.
    pub extensions: Vec<Value>,
    /// What it takes to compute it from what is no line but strided.
    steps: u32,
}

/// The values that are varying, but lie on a line if nothing wraps.
/// `block_order` has each block before those it dominates.
pub fn find_no_wrap_strides(
    function: &Function,
    block_order: &[Block],
    shapes: &SecondaryMap<Value, Shape>,
    gang_width: u32,
) -> SecondaryMap<Value, Option<NoWrapStride>> {
    let mut no_wrap_strides: SecondaryMap<Value, Option<NoWrapStride>> = SecondaryMap::new();
    for &block in block_order {
        for &instruction in &function.blocks[block].insts {
            let inst_node = &function.insts[instruction];
            let [result] = inst_node.results[..] else { continue };
            if shapes[result].is_varying() && matches!(function.ty(result), Type::I64 | Type::Ptr(_)) {
                let line = derive_stride(function, shapes, &no_wrap_strides, &inst_node.data, result, gang_width);
                no_wrap_strides[result] =
                    line.filter(|no_wrap_stride| no_wrap_stride.stride != 0 && no_wrap_stride.steps <= MOST_STEPS);
            }
        }
    }
    no_wrap_strides
}

impl NoWrapStride {
    fn scaled_by(self, factor: i64) -> NoWrapStride {
        NoWrapStride { stride: self.stride.wrapping_mul(factor), steps: self.steps + 1, ..self }
    }

    /// The stride of a sum; none if it would depend on too many extensions.
    fn plus(mut self, other: NoWrapStride) -> Option<NoWrapStride> {
        self.stride = self.stride.wrapping_add(other.stride);
        self.steps += other.steps;
        self.extensions.extend(other.extensions);
        self.extensions.sort_unstable();
        self.extensions.dedup();
        (self.extensions.len() <= MOST_EXTENSIONS).then_some(self)
    }
}

fn derive_stride(
    function: &Function,
    shapes: &SecondaryMap<Value, Shape>,
    no_wrap_strides: &SecondaryMap<Value, Option<NoWrapStride>>,
    inst_data: &InstData,
    result: Value,
    gang_width: u32,
) -> Option<NoWrapStride> {
    let stride_of = |value: Value| match shapes[value] {
        Shape::Strided { stride, .. } => Some(NoWrapStride { stride, extensions: Vec::new(), steps: 0 }),
        Shape::Varying => no_wrap_strides[value].clone(),
    };
    let scaled = |value: Value, factor: i64| stride_of(value).map(|stride| stride.scaled_by(factor));
    let sum_of = |left: Value, right: Value, sign: i64| stride_of(left)?.plus(scaled(right, sign)?);
    let constant = |value: Value| function.const_bits(value).map(|bits| bits as i64);
    match *inst_data {
        InstData::Unary { opcode: UnaryOp::Zext | UnaryOp::Sext, argument, .. } => {
            let stride = shapes[argument].stride()?;
            first_indices(function, shapes, result, gang_width).map(|_| NoWrapStride {
                stride,
                extensions: vec![result],
                steps: 1,
            })
        }
        InstData::Binary { opcode: BinaryOp::Add, arguments: [left, right], .. } => sum_of(left, right, 1),
        InstData::Binary { opcode: BinaryOp::Sub, arguments: [left, right], .. } => sum_of(left, right, -1),
        InstData::Binary { opcode: BinaryOp::Mul, arguments: [left, right], .. } => {
            match (constant(left), constant(right)) {
                (_, Some(by)) => scaled(left, by),
                (Some(by), _) => scaled(right, by),
                _ => None,
            }
        }
        InstData::Binary { opcode: BinaryOp::Shl, arguments: [left, right], .. } => match constant(right) {
            Some(by @ 0..=62) => scaled(left, 1 << by),
            _ => None,
        },
        InstData::PtrAdd { base, offset, .. } => sum_of(base, offset, 1),
        _ => None,
    }
}

/// The numbers in lane 0, read as signed or as unsigned ones, with which no lane of an extension's operand wraps; none
/// if some lane always does.
pub fn first_indices(
    function: &Function,
    shapes: &SecondaryMap<Value, Shape>,
    extension: Value,
    gang_width: u32,
) -> Option<RangeInclusive<i128>> {
    let ValueDef::Result(instruction, _) = function.values[extension].definition else { return None };
    let InstData::Unary { opcode, argument, .. } = function.insts[instruction].data else { return None };
    let bits = function.ty(argument).bits();
    if bits >= 64 {
        return None;
    }
    let span = i128::from(shapes[argument].stride()?) * i128::from(gang_width.max(1) - 1);
    let (lowest, highest) = match opcode {
        UnaryOp::Zext => (0, (1 << bits) - 1),
        UnaryOp::Sext => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        _ => return None,
    };
    let range = lowest - span.min(0)..=highest - span.max(0);
    (!range.is_empty()).then_some(range)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Builder;
    use lockstep_protocol::types::Space;

    /// The line of `p + extend(i) * 4`, and the first indices of the extension, of `i` with a stride.
    fn of(opcode: UnaryOp, value_type: Type, stride: i64) -> Option<(i64, RangeInclusive<i128>)> {
        let mut function = Function::new();
        let (mut builder, inputs) = Builder::with_entry(&mut function, &[Type::Ptr(Space::Global), value_type]);
        let wide = builder.unary(opcode, Type::I64, inputs[1]);
        let four = builder.int(Type::I64, 4);
        let bytes = builder.binary(BinaryOp::Mul, wide, four);
        let address = builder.ptr_add(inputs[0], bytes);
        builder.ret();
        let mut shapes = SecondaryMap::new();
        shapes[inputs[0]] = Shape::uniform(1);
        shapes[four] = Shape::uniform(4);
        shapes[inputs[1]] = Shape::Strided { stride, align: 1 };
        let no_wrap_stride = find_no_wrap_strides(&function, &function.layout, &shapes, 16)[address].clone()?;
        assert_eq!(no_wrap_stride.extensions, [wide]);
        Some((no_wrap_stride.stride, first_indices(&function, &shapes, wide, 16)?))
    }

    #[test]
    fn no_lane_wraps_if_the_first_is_far_enough_from_the_end() {
        let last = i128::from(u32::MAX);
        assert_eq!(of(UnaryOp::Zext, Type::I32, 1), Some((4, 0..=last - 15)));
        assert_eq!(of(UnaryOp::Zext, Type::I32, -1), Some((-4, 15..=last)));
        assert_eq!(of(UnaryOp::Sext, Type::I32, 2), Some((8, i128::from(i32::MIN)..=i128::from(i32::MAX) - 30)));
        assert_eq!(of(UnaryOp::Sext, Type::I8, -3), Some((-12, -128 + 45..=127)));
        assert_eq!(of(UnaryOp::Zext, Type::I8, 17), Some((68, 0..=0)));
    }

    /// Each round doubles what is emitted for an address.
    #[test]
    fn what_takes_long_to_compute_is_no_line() {
        let line_after = |rounds: u32| {
            let mut function = Function::new();
            let (mut builder, inputs) = Builder::with_entry(&mut function, &[Type::I32, Type::I64]);
            let mut value = builder.unary(UnaryOp::Zext, Type::I64, inputs[0]);
            for _ in 0..rounds {
                let more = builder.binary(BinaryOp::Add, value, inputs[1]);
                let sum = builder.binary(BinaryOp::Add, more, value);
                value = builder.binary(BinaryOp::Sub, sum, value);
            }
            builder.ret();
            let mut shapes = SecondaryMap::new();
            shapes[inputs[0]] = Shape::contiguous(1);
            shapes[inputs[1]] = Shape::uniform(1);
            find_no_wrap_strides(&function, &function.layout, &shapes, 16)[value]
                .clone()
                .map(|no_wrap_stride| no_wrap_stride.stride)
        };
        assert_eq!((line_after(1), line_after(2)), (Some(1), Some(1)));
        assert_eq!((line_after(5), line_after(100)), (None, None));
    }

    #[test]
    fn where_some_lane_always_wraps_there_is_no_line() {
        assert_eq!(of(UnaryOp::Zext, Type::I8, 18), None);
        assert_eq!(of(UnaryOp::Sext, Type::I8, -18), None);
    }

    #[test]
    fn sums_depend_on_the_extensions_of_both_and_on_few() {
        let stride_of = |stride: i64, extension: u32| NoWrapStride {
            stride,
            extensions: vec![Value::from_u32(extension)],
            steps: 1,
        };
        let sum = stride_of(4, 7).plus(stride_of(-3, 5).scaled_by(2)).unwrap();
        assert_eq!(sum, NoWrapStride { stride: -2, extensions: [5, 7].map(Value::from_u32).to_vec(), steps: 3 });
        assert_eq!(sum.clone().plus(stride_of(1, 7)).map(|sum| sum.extensions.len()), Some(2), "the same one again");
        assert_eq!(sum.plus(stride_of(1, 9)), None, "a third one");
    }
}
