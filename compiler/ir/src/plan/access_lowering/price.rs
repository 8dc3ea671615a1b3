//! What an access costs a gang in the form that it has.
//!
//! Source: throughputs that vendors publish for x86-64 and AArch64; for gathers and scatters what `cargo xtask bench
//! vectorizer` measured.

use super::decide::{AccessLowering, WIDEST_NUMBER, cut_pieces};
use super::form::{AccessForm, Along, LanesForm, PieceForm, ScatteredPiece, WideAccess};
use super::stride_class::Direction;
use crate::target::Registers;
use lockstep_protocol::types::{Space, Type};

/// An operation on a wide register, in operations on one element: there are fewer units for them.
pub const VECTOR: u64 = 2;

/// An element of a gather, in operations on one element: it is worse than as many accesses, and the addresses have to be
/// put into vectors first.
pub(crate) const GATHER: u64 = 3;
/// The same with registers of less than 512 bits.
const NARROW_GATHER: u64 = 2;
/// From local memory, which is in the first cache: there is no waiting that a gather would do for all lanes at once.
const LOCAL_GATHER: u64 = 5;
/// An element of a scatter.
pub(crate) const SCATTER: u64 = 6;

/// The same where what was just scattered is gathered again: no load is served by a store of another width that is still
/// on its way. So it is in private arrays at places that differ between lanes, stacks for example.
pub(crate) const REWRITTEN: u64 = 12;

/// An element of one or two bytes that is loaded into a register, and one that is stored out of it.
const BYTE_GATHER: u64 = 3;
const BYTE_SCATTER: u64 = 2;

/// What asks whether an index wraps.
const ASKS: u64 = 3;

/// What one lane costs by itself beyond its access: its address and its element are taken out of vectors.
const TAKEN_OUT: u64 = 2;

/// Whether any lane is active, and a branch.
pub(crate) const GUARD: u64 = 3;

/// What keeps one lane apart.
pub(crate) const LANE: u64 = 3;

/// What is known of an access beside its form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Circumstances {
    /// The registers of the gang.
    pub registers: Registers,
    /// What the access costs a work-item.
    pub once: u64,
    /// Whether lanes wrote there short before, perhaps in another width.
    pub is_rewritten: bool,
    /// Whether all lanes access the same element of their private arrays. Most of these are laid out so that lanes'
    /// elements lie side by side.
    pub is_same_element: bool,
}

impl AccessLowering {
    /// What the access costs a gang all of whose lanes make it.
    pub fn cost(&self, around: &Circumstances) -> u64 {
        let (ty, registers) = (self.access.ty, around.registers);
        match &self.form {
            AccessForm::Uniform(_) | AccessForm::UniformRows { once: true } => around.once,
            AccessForm::PerLane(_) => u64::from(registers.width) * (around.once + TAKEN_OUT),
            AccessForm::UniformRows { once: false } => {
                let lanes = self.lanes_of_row(around);
                price_rows(ty, registers, lanes, around.once)
            }
            AccessForm::Gang(LanesForm::Wide(wide)) => price_wide(ty, registers, wide),
            AccessForm::Gang(LanesForm::Scattered { pieces, .. }) => self.price_scattered(pieces, around),
            AccessForm::Rows { once, row: LanesForm::Wide(wide) } => {
                let each = price_wide(ty, Registers { width: wide.lanes, ..registers }, wide);
                if *once { each } else { price_rows(ty, registers, wide.lanes, each) }
            }
            // As if it were one of all lanes.
            AccessForm::Rows { row: LanesForm::Scattered { pieces, .. }, .. } => self.price_scattered(pieces, around),
            AccessForm::Columns(wide) => price_columns(ty, registers, wide, 0),
            AccessForm::UnlessWraps { along, indices, alike, on_line, .. } => {
                let asks = ASKS * *indices as u64;
                let each = price_wide(ty, Registers { width: on_line.lanes, ..registers }, on_line) + asks;
                match along {
                    Along::Gang => each,
                    Along::Rows if *alike => each,
                    Along::Rows => price_rows(ty, registers, on_line.lanes, each),
                    Along::Columns => price_columns(ty, registers, on_line, asks),
                }
            }
        }
    }

    /// What the mask of an access costs a gang, beyond what the access costs without.
    pub fn cost_of_mask(&self, registers: Registers) -> u64 {
        let (ty, count, lanes) = (self.access.ty, u64::from(self.access.count), u64::from(registers.width));
        let lanes_form = match &self.form {
            AccessForm::Uniform(_) | AccessForm::UniformRows { .. } => return GUARD,
            AccessForm::PerLane(_) => return LANE * lanes,
            AccessForm::Gang(form) | AccessForm::Rows { row: form, .. } => form.clone(),
            AccessForm::Columns(wide) | AccessForm::UnlessWraps { on_line: wide, .. } => LanesForm::Wide(*wide),
        };
        if !registers.target.has_row_mask(ty.bytes()) {
            return LANE * lanes * count;
        }
        match lanes_form {
            LanesForm::Wide(wide) => u64::from(wide.row) * registers.registers_for(ty),
            // Lanes store one by one with and without a mask.
            LanesForm::Scattered { asks_any: true, .. } => GUARD + count * registers.registers_for(ty),
            LanesForm::Scattered { .. } => count * registers.registers_for(ty),
        }
    }

    fn lanes_of_row(&self, around: &Circumstances) -> u32 {
        around.registers.width / self.rows.max(1)
    }

    fn price_scattered(&self, pieces: &[ScatteredPiece], around: &Circumstances) -> u64 {
        let &Circumstances { registers, is_rewritten, is_same_element, .. } = around;
        let (access, lanes) = (self.access, u64::from(registers.width));
        let vector = VECTOR * registers.registers_for(access.ty);
        if is_same_element {
            return 2 * u64::from(access.count) * vector;
        }
        let (is_narrow, bytes) = (registers.bits() < 512, access.ty.bytes());
        let each = match access.direction {
            // There are no gathers of bytes: what lanes load was stored in the same width.
            Direction::Load if is_rewritten && bytes < 4 && is_narrow => BYTE_GATHER,
            Direction::Store if is_rewritten && bytes < 4 && is_narrow => BYTE_SCATTER,
            _ if access.space == Space::Private || is_rewritten => REWRITTEN,
            Direction::Load if access.space == Space::Local => LOCAL_GATHER,
            Direction::Load if is_narrow => NARROW_GATHER,
            Direction::Load => GATHER,
            Direction::Store => SCATTER,
        };
        if each == REWRITTEN {
            let pieces = cut_pieces(access.ty, access.count, WIDEST_NUMBER).len() as u64;
            return each * lanes * pieces;
        }
        // By hand, four elements of lanes anywhere in a chunk take a third of what as many gathers do (Zen 3, registers of
        // 256 bits).
        let of_piece = |piece: &ScatteredPiece| match piece.form {
            PieceForm::Chunk { .. } => lanes + u64::from(piece.count) * vector * 3 / 2,
            PieceForm::CommonBase(_) | PieceForm::Anywhere { .. } => each * lanes,
        };
        pieces.iter().map(of_piece).sum()
    }
}

/// What one wide access costs; the registers are those of its lanes.
fn price_wide(ty: Type, registers: Registers, wide: &WideAccess) -> u64 {
    let vector = VECTOR * registers.registers_for(ty);
    match u64::from(wide.row) {
        1 if !wide.is_reversed() => vector,
        // Of short registers neighbouring loads share more of what takes them apart.
        row if registers.bits() < 512 => (row + 1) * vector,
        row => 2 * row * vector,
    }
}

/// What the rows of a tile cost of which each costs so much.
fn price_rows(ty: Type, registers: Registers, lanes: u32, each: u64) -> u64 {
    let rows = u64::from(registers.width / lanes);
    // Whole registers are neither put together nor taken apart.
    let joins = if lanes * ty.bytes() * 8 < registers.bits() { (rows - 1) * VECTOR } else { 0 };
    rows * each + joins
}

/// What the columns of a tile cost, before each of which so much is asked.
fn price_columns(ty: Type, registers: Registers, wide: &WideAccess, asks: u64) -> u64 {
    let columns = u64::from(registers.width / wide.lanes);
    let in_column = Registers { width: wide.lanes, ..registers };
    // As many steps as a column's lanes have digits, of which each is one operation a register.
    let steps = u64::from(wide.lanes.ilog2());
    columns * (VECTOR * in_column.registers_for(ty) + 1 + asks) + VECTOR * steps * registers.registers_for(ty)
}
