//! Rows that may lie where there is no memory.
//!
//! `if (i < n) x[i] = …` in a range that is longer than `x` leaves gangs of which no lane has an element. A processor that
//! finds an address of a masked access absent looks at each lane anew whether it matters, which takes it hundreds of times
//! as long as the access. So where a mask has conditions on ids and arguments, a branch asks first whether they hold for a
//! lane. Such a branch goes one way up to a place and the other way from there on. What data decide is not asked for: it
//! would be mispredicted (1.8 times the time of `if (new < old) old = new;`), and says nothing of where memory ends.
//!
//! Requires: the masks and shapes of a region's plan.
//! Ensures: accesses of the lanes that are on, as before.
//! Phases: the conditions of a mask; a branch.
//! Source: measured (AMD Zen 4, registers of 512 bits).

use super::GangCode;
use super::masks::Mask;
use crate::codegen::alias::Part;
use crate::codegen::emit::Emitted;
use inkwell::values::{BasicValueEnum, VectorValue};
use lockstep_ir::ir::{BinaryOp, InstData, Value};
use lockstep_protocol::types::Space;

/// Steps from a mask back to its conditions.
const DEPTH: u32 = 12;

/// What a mask says of ids and arguments.
enum Bounds {
    /// A comparison of them, or its opposite.
    Side { cond: Value, opposite: bool },
    /// Two that hold both.
    Both(Box<[Bounds; 2]>),
    /// Two of which one holds.
    Either(Box<[Bounds; 2]>),
}

impl<'ctx> GangCode<'_, 'ctx, '_> {
    /// Does what `access` emits, an access to a row in this part of memory. Where the row may be absent and no lane has an
    /// element, nothing is done, and its values are zeros.
    pub(super) fn unless_absent(
        &self,
        part: Part,
        mask: Option<Mask<'ctx>>,
        access: impl FnOnce() -> Emitted<Vec<BasicValueEnum<'ctx>>>,
    ) -> Emitted<Vec<BasicValueEnum<'ctx>>> {
        let may_be_absent = matches!(part, Part::Space(Space::Global | Space::Constant | Space::Generic));
        let (Some(cond), Some(mask)) = (self.plan.masks[self.block].expand(), mask.filter(|_| may_be_absent)) else {
            return access();
        };
        let Some(bounds) = self.find_bounds(cond, false, DEPTH).filter(|_| mask.may_be_empty) else {
            return access();
        };
        // The conditions' lanes are those of the gang, the mask's may be those of a tile's row.
        let is_row_of_tile = self.wide.get() != self.around.width();
        let lanes = if is_row_of_tile { mask.lanes } else { self.lanes_in_bounds(&bounds)? };
        self.guarded(Some(Mask { lanes, may_be_empty: true }), access)
    }

    /// What follows for ids and arguments where a condition holds, or its opposite, if anything does.
    fn find_bounds(&self, cond: Value, opposite: bool, depth: u32) -> Option<Bounds> {
        let data = self.definition(cond).filter(|_| depth > 0)?;
        let is = |value: Value, bits: u128| self.body.const_bits(value) == Some(bits);
        let (operands, all_hold) = match *data {
            InstData::Icmp { args, .. } if args.iter().all(|&arg| !self.plan.shapes[arg].is_varying()) => {
                return Some(Bounds::Side { cond, opposite });
            }
            InstData::Binary { op: BinaryOp::Xor, args: [arg, one], .. } if is(one, 1) => {
                return self.find_bounds(arg, !opposite, depth - 1);
            }
            InstData::Binary { op: BinaryOp::And, args, .. } => (args, !opposite),
            InstData::Binary { op: BinaryOp::Or, args, .. } => (args, opposite),
            InstData::Ternary { args: [a, b, c], .. } if is(c, 0) => ([a, b], !opposite),
            InstData::Ternary { args: [a, b, c], .. } if is(b, 1) => ([a, c], opposite),
            _ => return None,
        };
        match operands.map(|operand| self.find_bounds(operand, opposite, depth - 1)) {
            [Some(a), Some(b)] if all_hold => Some(Bounds::Both(Box::new([a, b]))),
            [Some(a), Some(b)] => Some(Bounds::Either(Box::new([a, b]))),
            [one, other] => one.or(other).filter(|_| all_hold),
        }
    }

    /// The lanes of the gang that are in bounds: those that come here, and perhaps others.
    fn lanes_in_bounds(&self, bounds: &Bounds) -> Emitted<VectorValue<'ctx>> {
        let builder = &self.around.emit.builder;
        match bounds {
            &Bounds::Side { cond, opposite } => {
                // Lanes that do not come here may have poison.
                let lanes = self.freeze(self.vector(cond)?.into())?.into_vector_value();
                if opposite { Ok(builder.build_not(lanes, "")?) } else { Ok(lanes) }
            }
            Bounds::Both(parts) => {
                Ok(builder.build_and(self.lanes_in_bounds(&parts[0])?, self.lanes_in_bounds(&parts[1])?, "")?)
            }
            Bounds::Either(parts) => {
                Ok(builder.build_or(self.lanes_in_bounds(&parts[0])?, self.lanes_in_bounds(&parts[1])?, "")?)
            }
        }
    }
}
