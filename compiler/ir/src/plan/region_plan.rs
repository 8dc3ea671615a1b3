//! How a region runs for a gang, which code generation goes by.

use super::access_lowering::region::RegionAccesses;
use super::value_form::Form;
use crate::analysis::shape::Shape;
use crate::ir::{Block, Function, Value};
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};

/// How one region runs for a gang.
#[derive(Clone, Debug, Default)]
pub struct RegionPlan {
    /// How each value differs between lanes.
    pub shapes: SecondaryMap<Value, Shape>,
    /// How each value differs between the lanes of a tile's row; nothing is known for other gangs.
    pub runs: SecondaryMap<Value, Shape>,
    /// How each value differs between the lanes of a tile's column; nothing is known for other gangs.
    pub columns: SecondaryMap<Value, Shape>,
    /// The lanes that run a block: an `i1`; none: all that entered the region.
    pub masks: SecondaryMap<Block, PackedOption<Value>>,
    /// Blocks with a mask that run for a lane at least whenever they run.
    pub run_by_some: EntitySet<Block>,
    /// Values of which only the lanes that run their block are known to have the shape, where lane 0 of the operands
    /// does not tell.
    pub by_active: EntitySet<Value>,
    /// Sums, differences and products that follow from lane 0's, or a row's first lane's, as numbers without an end. They may wrap in
    /// lanes that do not use them, lane 0 among them.
    pub sums_that_wrap: EntitySet<Value>,
    /// Values whose shape comes of such sums: their lanes follow from what lane 0's value is without any wrap.
    pub of_endless_sums: EntitySet<Value>,
    /// How lanes access memory, from when it is known where slots lie.
    pub accesses: RegionAccesses,
    /// Work-items run the region one after the other, as it was before it was linearized: nothing else holds of it.
    pub alone: bool,
    /// Loops stay in loops although lanes were idle there: one loop of both might be faster, which only measuring tells.
    pub leaves_idle_lanes: bool,
}

impl RegionPlan {
    /// How a value is held in registers.
    pub fn form_of(&self, function: &Function, value: Value) -> Form {
        match Form::of_shape(function.ty(value), self.shapes[value]) {
            Form::Vector => match Form::of_shape(function.ty(value), self.runs[value]) {
                Form::Affine(stride) => Form::Runs(stride),
                form => form,
            },
            form => form,
        }
    }
}
