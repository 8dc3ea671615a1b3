//! What an access costs a gang in the form that it has.
//!
//! Source: throughputs that vendors publish for x86-64 and AArch64; for gathers and scatters what `cargo xtask bench
//! vectorizer` measured. `cargo xtask bench costs` measures constants again: behind "bench costs" stand the rows of its table.

use super::decide::{AccessLowering, CHUNK_BYTES, WIDEST_NUMBER, cut_pieces};
use super::form::{AccessForm, Along, LanesForm, PieceForm, ScatteredPiece, WideAccess};
use super::stride_class::Direction;
use crate::target::Registers;
use lockstep_protocol::types::{Space, Type};

/// An operation on a wide register, in operations on one element: there are fewer units for them.
/// bench costs: vector operation.
pub const VECTOR: u64 = 2;

/// An element of a gather, in operations on one element: it is worse than as many accesses, and the addresses have to be
/// put into vectors first.
/// bench costs: gather.
pub(crate) const GATHER: u64 = 3;
/// The same with registers of less than 512 bits.
const NARROW_GATHER: u64 = 2;
/// From local memory, which is in the first cache: there is no waiting that a gather would do for all lanes at once.
/// bench costs: gather local.
const LOCAL_GATHER: u64 = 5;
/// An element of a scatter.
/// bench costs: scatter.
pub(crate) const SCATTER: u64 = 6;

/// The same where what was just scattered is gathered again: no load is served by a store of another width that is still
/// on its way. So it is in private arrays at places that differ between lanes, stacks for example.
/// bench costs: private anywhere.
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
        let (element_type, registers) = (self.access.ty, around.registers);
        match &self.form {
            AccessForm::Uniform(_) | AccessForm::UniformRows { once: true } => around.once,
            AccessForm::PerLane(_) => u64::from(registers.width) * (around.once + TAKEN_OUT),
            AccessForm::UniformRows { once: false } => {
                let lanes_of_row = self.lanes_of_row(around);
                price_rows(element_type, registers, lanes_of_row, around.once)
            }
            AccessForm::Gang(LanesForm::Wide(wide_access)) => self.price_wide(registers, wide_access),
            AccessForm::Gang(LanesForm::Scattered { pieces, .. }) => self.price_scattered(pieces, around),
            AccessForm::Rows { once, row: LanesForm::Wide(wide_access) } => {
                let row_cost = self.price_wide(Registers { width: wide_access.lanes, ..registers }, wide_access);
                if *once { row_cost } else { price_rows(element_type, registers, wide_access.lanes, row_cost) }
            }
            // As if it were one of all lanes.
            AccessForm::Rows { row: LanesForm::Scattered { pieces, .. }, .. } => self.price_scattered(pieces, around),
            AccessForm::Columns(wide_access) => price_columns(element_type, registers, wide_access, 0),
            AccessForm::UnlessWraps { along, indices, alike, on_line, .. } => {
                let asking_cost = ASKS * *indices as u64;
                let row_registers = Registers { width: on_line.lanes, ..registers };
                let row_cost = self.price_wide(row_registers, on_line) + asking_cost;
                match along {
                    Along::Gang => row_cost,
                    Along::Rows if *alike => row_cost,
                    Along::Rows => price_rows(element_type, registers, on_line.lanes, row_cost),
                    Along::Columns => price_columns(element_type, registers, on_line, asking_cost),
                }
            }
        }
    }

    /// What the mask of an access costs a gang, beyond what the access costs without.
    pub fn cost_of_mask(&self, registers: Registers) -> u64 {
        let (element_type, element_count, lane_count) =
            (self.access.ty, u64::from(self.access.count), u64::from(registers.width));
        let lanes_form = match &self.form {
            AccessForm::Uniform(_) | AccessForm::UniformRows { .. } => return GUARD,
            AccessForm::PerLane(_) => return LANE * lane_count,
            AccessForm::Gang(form) | AccessForm::Rows { row: form, .. } => form.clone(),
            AccessForm::Columns(wide_access) | AccessForm::UnlessWraps { on_line: wide_access, .. } => {
                LanesForm::Wide(*wide_access)
            }
        };
        if !registers.target.has_row_mask(element_type.bytes()) {
            return LANE * lane_count * element_count;
        }
        match lanes_form {
            // bench costs: masked store.
            LanesForm::Wide(wide_access) => u64::from(wide_access.row) * registers.registers_for(element_type),
            // Lanes store one by one with and without a mask.
            LanesForm::Scattered { asks_any: true, .. } => {
                GUARD + element_count * registers.registers_for(element_type)
            }
            LanesForm::Scattered { .. } => element_count * registers.registers_for(element_type),
        }
    }

    /// What one wide access costs; the registers are those of its lanes.
    /// bench costs: load, store, load two apart, load three apart, load four apart, load backwards.
    fn price_wide(&self, registers: Registers, wide_access: &WideAccess) -> u64 {
        let element_type = self.access.ty;
        let vector = VECTOR * registers.registers_for(element_type);
        let (row, element_count) = (u64::from(wide_access.row), u64::from(wide_access.count));
        match self.access.direction {
            Direction::Load if wide_access.transposed => {
                let chunk_count = u64::from(wide_access.count * element_type.bytes() / CHUNK_BYTES);
                chunk_count * price_chunks(registers.width.into(), element_count / chunk_count, vector)
            }
            // A store of each register, and in each step a shuffle.
            Direction::Store if wide_access.transposed => {
                element_count * (1 + u64::from(wide_access.count.ilog2())) * vector
            }
            _ if row == 1 && !wide_access.is_reversed() => vector,
            // Of short registers neighbouring loads share more of what takes them apart.
            _ if registers.bits() < 512 => (row + 1) * vector,
            _ => 2 * row * vector,
        }
    }

    fn lanes_of_row(&self, around: &Circumstances) -> u32 {
        around.registers.width / self.rows.max(1)
    }

    fn price_scattered(&self, pieces: &[ScatteredPiece], around: &Circumstances) -> u64 {
        let &Circumstances { registers, is_rewritten, is_same_element, .. } = around;
        let (access, lane_count) = (self.access, u64::from(registers.width));
        let vector = VECTOR * registers.registers_for(access.ty);
        if is_same_element {
            return 2 * u64::from(access.count) * vector;
        }
        let (is_narrow, bytes) = (registers.bits() < 512, access.ty.bytes());
        let element_cost = match access.direction {
            // There are no gathers of bytes: what lanes load was stored in the same width.
            Direction::Load if is_rewritten && bytes < 4 && is_narrow => BYTE_GATHER,
            Direction::Store if is_rewritten && bytes < 4 && is_narrow => BYTE_SCATTER,
            _ if access.space == Space::Private || is_rewritten => REWRITTEN,
            Direction::Load if access.space == Space::Local => LOCAL_GATHER,
            Direction::Load if is_narrow => NARROW_GATHER,
            Direction::Load => GATHER,
            Direction::Store => SCATTER,
        };
        if element_cost == REWRITTEN {
            let pieces = cut_pieces(access.ty, access.count, WIDEST_NUMBER).len() as u64;
            return element_cost * lane_count * pieces;
        }
        let of_piece = |piece: &ScatteredPiece| match piece.form {
            PieceForm::Chunk { .. } => price_chunks(lane_count, u64::from(piece.count), vector),
            PieceForm::CommonBase(_) | PieceForm::Anywhere { .. } => element_cost * lane_count,
        };
        pieces.iter().map(of_piece).sum()
    }
}

/// What a chunk of each lane costs, in which so many of its elements are. By hand, four elements of lanes anywhere in a
/// chunk take a third of what as many gathers do (Zen 3, registers of 256 bits).
fn price_chunks(lane_count: u64, element_count: u64, vector: u64) -> u64 {
    lane_count + element_count * vector * 3 / 2
}

/// What the rows of a tile cost of which each costs so much.
fn price_rows(element_type: Type, registers: Registers, lanes_of_row: u32, row_cost: u64) -> u64 {
    let row_count = u64::from(registers.width / lanes_of_row);
    // Whole registers are neither put together nor taken apart.
    let joins = if lanes_of_row * element_type.bytes() * 8 < registers.bits() { (row_count - 1) * VECTOR } else { 0 };
    row_count * row_cost + joins
}

/// What the columns of a tile cost, before each of which so much is asked.
fn price_columns(element_type: Type, registers: Registers, wide_access: &WideAccess, asking_cost: u64) -> u64 {
    let columns = u64::from(registers.width / wide_access.lanes);
    let in_column = Registers { width: wide_access.lanes, ..registers };
    // As many steps as a column's lanes have digits, of which each is one operation a register.
    let transpose_steps = u64::from(wide_access.lanes.ilog2());
    columns * (VECTOR * in_column.registers_for(element_type) + 1 + asking_cost)
        + VECTOR * transpose_steps * registers.registers_for(element_type)
}
