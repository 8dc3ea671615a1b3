//! How a gang's value is held in registers.

use inkwell::values::{BasicValueEnum, VectorValue};
use lockstep_ir::plan::value_form::Form;
use std::rc::Rc;

/// A value in registers.
#[derive(Clone)]
pub enum LaneValue<'ctx> {
    /// Lane 0's; lane `i` has `i * stride` more.
    Affine(BasicValueEnum<'ctx>, i64),
    /// Of a tile, that of the first lane of each row; in a row, lane `i` has `i * stride` more.
    Runs(Rc<[BasicValueEnum<'ctx>]>, i64),
    /// One element per lane.
    Vector(VectorValue<'ctx>),
}

impl<'ctx> LaneValue<'ctx> {
    /// The form that the plan calls it.
    pub fn form(&self) -> Form {
        match *self {
            LaneValue::Affine(_, stride) => Form::Affine(stride),
            LaneValue::Runs(_, stride) => Form::Runs(stride),
            LaneValue::Vector(_) => Form::Vector,
        }
    }
}
