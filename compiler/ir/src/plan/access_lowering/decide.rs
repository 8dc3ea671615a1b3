//! The decision how an access is made, from what is known of its lanes' addresses and of the machine.
//!
//! Requires: an access; how its address is held and on which lines its lanes lie; the mask; the machine.
//! Ensures: a form that code generation has code for, and for each better form that the access might have had the reason
//! why it has it not. Costs, report and code go by the same answer.
//! Phases: uniform addresses; accesses that have to be one by one; lines that hold unless an index wraps; rows and columns
//! of tiles; then what all lanes of the gang do together, which is one wide access or pieces that go anywhere.
//! Source: Karrenberg & Hack 2012, section 3.3; Moll 2021, chapters 10 and 11.

use super::access::{MemoryAccess, Together};
use super::common_base::CommonBase;
use super::form::{
    AccessForm, Along, LanesForm, Ordered, PieceForm, RowGuard, ScatteredPiece, StoredLane, WideAccess, WideElements,
};
use super::rejection::{Candidate, Reason, Rejection};
use super::stride_class::{Direction, find_row, is_plain};
use crate::plan::value_form::Form;
use crate::target::TargetInfo;
use lockstep_protocol::types::{Space, Type};

/// Bytes of a lane that are loaded at once and taken apart with those of other lanes.
pub const CHUNK_BYTES: u32 = 16;

/// Bytes of the narrowest number that shuffles of chunks move by itself: those of narrower ones take more steps.
pub const NARROWEST_SHUFFLED: u32 = 4;

/// Elements of the shortest row that is transposed.
const SHORTEST_TRANSPOSED: u32 = 8;

/// Bytes of the widest number that gathers and scatters move.
pub const WIDEST_NUMBER: u32 = 8;

/// Bytes of a line of the caches.
pub const CACHE_LINE: u32 = 64;

/// The gang whose lanes access memory, and the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GangAccess {
    /// The registers and instructions of the machine.
    pub target: TargetInfo,
    /// Lanes of the gang, one for each of its work-items.
    pub width: u32,
    /// Lanes of a tile's row; none: it is no tile.
    pub row: Option<u32>,
    /// Whether its work-items may wait for others.
    pub may_wait: bool,
    /// Whether gangs that run one after the other write one behind the other.
    pub follows_others: bool,
}

impl GangAccess {
    /// Lanes of a tile's row; all of another gang.
    fn lanes_of_row(&self) -> u32 {
        self.row.unwrap_or(self.width)
    }

    /// Rows of a tile; one of another gang.
    pub fn row_count(&self) -> u32 {
        self.width / self.lanes_of_row()
    }
}

/// A line on which an address's lanes lie if no index wraps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineOfLanes {
    /// Bytes from one lane to the next.
    pub stride: i64,
    /// Indices that may wrap.
    pub indices: usize,
}

/// What is known of the lanes' addresses of an access.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LaneAddresses {
    /// How the address is held.
    pub form: Form,
    /// Whether all rows of a tile have the same.
    pub rows_alike: bool,
    /// The line of all lanes.
    pub line: Option<LineOfLanes>,
    /// Those of a tile's rows.
    pub row_line: Option<LineOfLanes>,
    /// Those of its columns.
    pub column_line: Option<LineOfLanes>,
    /// Bytes from one lane of a column to the next, if that is a constant.
    pub column_stride: Option<i64>,
    /// A common address that all lanes' are near.
    pub common_base: Option<CommonBase>,
    /// Whether what is stored has the same value in all lanes.
    pub stores_uniform: bool,
    /// Whether what is written there, the caches are not to keep.
    pub is_streamed: bool,
}

/// The lanes that make an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LaneMask {
    /// All lanes of the gang.
    #[default]
    All,
    /// Those lanes that a mask has on.
    Some {
        /// Whether there may be none.
        may_be_empty: bool,
        /// Whether ids and arguments tell of lanes that there are none.
        has_bounds: bool,
    },
}

/// How the lanes of a gang make an access, and why not otherwise.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccessLowering {
    /// What is accessed: type, number of elements, part of memory.
    pub access: MemoryAccess,
    /// The lanes that make it.
    pub mask: LaneMask,
    /// Rows of the gang, if it is a tile; else one.
    pub rows: u32,
    /// How it is made.
    pub form: AccessForm,
    /// The forms that lost.
    pub rejected: Vec<Rejection>,
}

impl AccessLowering {
    /// Decides how an access is made.
    pub fn decide_lowering(
        access: MemoryAccess,
        gang: &GangAccess,
        addresses: &LaneAddresses,
        mask: LaneMask,
    ) -> AccessLowering {
        let mut decision = Decision { access, gang, addresses, mask, rejected: Vec::new() };
        let form = decision.find_form();
        let Decision { rejected, .. } = decision;
        AccessLowering { access, mask, rows: gang.row_count(), form, rejected }
    }
}

struct Decision<'a> {
    access: MemoryAccess,
    gang: &'a GangAccess,
    addresses: &'a LaneAddresses,
    mask: LaneMask,
    rejected: Vec<Rejection>,
}

impl Decision<'_> {
    fn reject_form(&mut self, form: Candidate, reason: Reason) {
        let rejection = Rejection { form, reason };
        if !self.rejected.contains(&rejection) {
            self.rejected.push(rejection);
        }
    }

    fn find_form(&mut self) -> AccessForm {
        let (form, direction) = (self.addresses.form, self.access.direction);
        if form == Form::Affine(0) && direction == Direction::Load {
            return AccessForm::Uniform(StoredLane::Any);
        }
        match self.access.lane_group(self.gang.may_wait) {
            Together::Free => {}
            Together::Volatile => return self.find_volatile_form(),
            Together::No(ordered) => {
                let reason = if ordered == Ordered::Atomic { Reason::Atomic } else { Reason::Volatile };
                self.reject_form(Candidate::Wide, reason);
                return AccessForm::PerLane(ordered);
            }
        }
        match form {
            Form::Affine(0) => {
                let lane = if self.addresses.stores_uniform { StoredLane::Any } else { StoredLane::LastActive };
                return AccessForm::Uniform(lane);
            }
            Form::Runs(0) if direction == Direction::Load => {
                return AccessForm::UniformRows { once: self.rows_load_alike() };
            }
            _ => self.reject_form(Candidate::Uniform, Reason::AddressesDiffer),
        }
        self.find_line().unwrap_or_else(|| self.find_place())
    }

    /// One instruction where all lanes' elements lie side by side, one a lane and nothing between them.
    fn find_volatile_form(&mut self) -> AccessForm {
        let side_by_side = self.addresses.form == Form::Affine(self.access.ty.bytes().into());
        if self.mask == LaneMask::All && self.access.count == 1 && side_by_side {
            let stride = self.access.ty.bytes().into();
            if let Ok(wide_access) = self.find_wide(Some(stride), self.gang.width) {
                return AccessForm::Gang(LanesForm::Wide(WideAccess {
                    volatile: true,
                    past_caches: false,
                    ..wide_access
                }));
            }
        }
        self.reject_form(Candidate::Wide, Reason::Volatile);
        AccessForm::PerLane(Ordered::Volatile)
    }

    /// Whether the first row's load does for all rows.
    fn rows_load_alike(&self) -> bool {
        self.access.direction == Direction::Load && self.mask == LaneMask::All && self.addresses.rows_alike
    }

    /// A form for lanes that lie on a line unless an index wraps, where that makes one wide access of all, of each row or
    /// of each column.
    fn find_line(&mut self) -> Option<AccessForm> {
        let addresses = self.addresses;
        let of_row = self.gang.lanes_of_row();
        let (line, along, on_line) =
            if let Some((line, wide_access)) = self.find_wide_line(addresses.line, self.gang.width) {
                (line, Along::Gang, wide_access)
            } else if let Some((line, wide_access)) = self.find_wide_line(addresses.row_line, of_row) {
                (line, Along::Rows, wide_access)
            } else {
                let line = addresses.column_line?;
                (line, Along::Columns, self.find_column(line.stride).ok()?)
            };
        let are_alike = along == Along::Rows && self.rows_load_alike();
        let wrapped = self.find_scattered(Form::Vector);
        Some(AccessForm::UnlessWraps { along, indices: line.indices, alike: are_alike, on_line, wrapped })
    }

    fn find_wide_line(&mut self, line: Option<LineOfLanes>, lane_count: u32) -> Option<(LineOfLanes, WideAccess)> {
        let line = line?;
        Some((line, self.find_wide(Some(line.stride), lane_count).ok()?))
    }

    /// A form for lanes of which one's address tells others', or not.
    fn find_place(&mut self) -> AccessForm {
        let (form, of_row) = (self.addresses.form, self.gang.lanes_of_row());
        let row = match form {
            Form::Runs(stride) => self.find_wide(Some(stride), of_row),
            _ => Err(Reason::LanesAnywhere),
        };
        if row.is_err()
            && !matches!(form, Form::Affine(_))
            && let Some(stride) = self.addresses.column_stride
        {
            match self.find_column(stride) {
                Ok(wide_access) => return AccessForm::Columns(wide_access),
                Err(reason) => self.reject_form(Candidate::Columns, reason),
            }
        }
        match (form, row) {
            (Form::Runs(_), Ok(wide_access)) => {
                AccessForm::Rows { once: self.rows_load_alike(), row: LanesForm::Wide(wide_access) }
            }
            (Form::Runs(stride), Err(reason)) if self.rows_load_alike() => {
                self.reject_form(Candidate::Wide, reason);
                AccessForm::Rows { once: true, row: self.find_scattered(Form::Affine(stride)) }
            }
            (Form::Affine(stride), _) => match self.find_wide(Some(stride), self.gang.width) {
                Ok(wide_access) => AccessForm::Gang(LanesForm::Wide(wide_access)),
                Err(reason) => self.scattered_form(reason),
            },
            (_, Err(reason)) => self.scattered_form(reason),
            (Form::Vector, Ok(_)) => self.scattered_form(Reason::LanesAnywhere),
        }
    }

    fn scattered_form(&mut self, reason: Reason) -> AccessForm {
        self.reject_form(Candidate::Wide, reason);
        AccessForm::Gang(self.find_scattered(self.addresses.form))
    }

    /// One wide access of each column, where all lanes take part.
    fn find_column(&mut self, stride: i64) -> Result<WideAccess, Reason> {
        let row_count = self.gang.row_count();
        if row_count <= 1 || !is_plain(stride, self.access.ty, self.access.count as usize) {
            return Err(Reason::NoColumn);
        }
        if self.mask != LaneMask::All {
            return Err(Reason::SomeLanesOff);
        }
        self.find_wide(Some(stride), row_count)
    }

    /// One wide access of so many lanes that are so far from each other.
    fn find_wide(&mut self, stride: Option<i64>, lane_count: u32) -> Result<WideAccess, Reason> {
        let MemoryAccess { direction, ty, count, access, .. } = self.access;
        let elements_apart = find_row(stride, ty.bytes(), count, lane_count, direction)?;
        let stride = stride.unwrap_or_default();
        // The first lane may be one that does not come here; then its address has only the alignment that it shares
        // with those of the others.
        let alignment = access.align.clamp(1, 1 << stride.trailing_zeros().min(31));
        let elements = self.find_elements(elements_apart, lane_count);
        let wide_access = WideAccess {
            lanes: lane_count,
            stride,
            row: elements_apart,
            count,
            align: alignment,
            elements,
            volatile: false,
            past_caches: false,
            transposed: false,
        };
        Ok(WideAccess {
            past_caches: self.goes_past_caches(&wide_access),
            transposed: self.is_transposed(&wide_access),
            ..wide_access
        })
    }

    /// Whether lanes' elements are brought into order by transposing. LLVM makes shuffles of shorter rows by itself; and of a
    /// tile's rows that are parts of a register, those that put its rows together are the same ones.
    fn is_transposed(&self, wide_access: &WideAccess) -> bool {
        let &WideAccess { lanes, row, count, elements, .. } = wide_access;
        let MemoryAccess { direction, ty, .. } = self.access;
        let is_whole = matches!(elements, WideElements::All | WideElements::AllLanes) && !wide_access.is_reversed();
        let fits = match direction {
            Direction::Load => (count * ty.bytes()).is_multiple_of(CHUNK_BYTES),
            Direction::Store => row == count && row.is_power_of_two(),
        };
        let fills_registers = lanes == self.gang.width || lanes * 8 * ty.bytes() >= self.gang.target.register_bits;
        is_whole
            && fits
            && fills_registers
            && ty.bytes() >= NARROWEST_SHUFFLED
            && lanes.is_power_of_two()
            && has_chunks(ty, lanes)
            && row >= SHORTEST_TRANSPOSED
    }

    fn find_elements(&mut self, elements_apart: u32, lane_count: u32) -> WideElements {
        let MemoryAccess { direction, ty, count, space, .. } = self.access;
        let guard = match self.mask {
            LaneMask::All if elements_apart == count => return WideElements::All,
            LaneMask::All => return WideElements::AllLanes,
            LaneMask::Some { may_be_empty, has_bounds } => {
                // Of a tile's row there may be none although there is one of the gang.
                let may_be_empty = may_be_empty || lane_count != self.gang.width;
                choose_row_guard(&self.gang.target, direction, Some(space), may_be_empty, has_bounds)
            }
        };
        let elements = mask_elements(&self.gang.target, ty, guard);
        if matches!(elements, WideElements::Redirected(_)) {
            self.reject_form(Candidate::MaskedInstruction, Reason::NoInstruction);
        }
        elements
    }

    /// Whether a store of all elements is to go past the caches.
    fn goes_past_caches(&mut self, wide_access: &WideAccess) -> bool {
        let is_store = self.access.direction == Direction::Store && wide_access.elements == WideElements::All;
        if !is_store || !self.addresses.is_streamed {
            return false;
        }
        let bytes = self.access.ty.bytes() * wide_access.row * wide_access.lanes;
        if !bytes.is_multiple_of(CACHE_LINE) {
            self.reject_form(Candidate::PastCaches, Reason::PartsOfLines);
            return false;
        }
        if !self.gang.follows_others {
            self.reject_form(Candidate::PastCaches, Reason::GangsApart);
            return false;
        }
        true
    }

    /// An access of lanes that may be anywhere, whose addresses are held like this.
    fn find_scattered(&mut self, form: Form) -> LanesForm {
        let MemoryAccess { direction, ty, count, .. } = self.access;
        let lanes = if matches!(form, Form::Affine(_)) && matches!(self.addresses.form, Form::Runs(_)) {
            self.gang.lanes_of_row()
        } else {
            self.gang.width
        };
        let chunks = match direction {
            Direction::Load => find_chunks(ty, count, lanes),
            Direction::Store => Err(Reason::NoInstruction),
        };
        if let (Direction::Load, Err(reason)) = (direction, chunks) {
            self.reject_form(Candidate::Chunks, reason);
        }
        let maximum = if direction == Direction::Load && has_chunks(ty, lanes) { CHUNK_BYTES } else { WIDEST_NUMBER };
        let pieces = cut_pieces(ty, count, maximum).into_iter();
        let pieces = pieces.map(|(first, count)| ScatteredPiece { first, count, form: self.find_piece(form, count) });
        let pieces = pieces.collect();
        let is_slow = direction == Direction::Store && self.gang.target.slow_masked_stores;
        LanesForm::Scattered { pieces, asks_any: is_slow && self.mask != LaneMask::All }
    }

    fn find_piece(&mut self, form: Form, element_count: u32) -> PieceForm {
        let MemoryAccess { direction, ty, .. } = self.access;
        let (target, is_masked) = (&self.gang.target, self.mask != LaneMask::All);
        if element_count > 1 && element_count * ty.bytes() == CHUNK_BYTES {
            return PieceForm::Chunk { redirected: is_masked };
        }
        let bytes = element_count * ty.bytes();
        let has_instruction = match direction {
            Direction::Load => target.has_gather(bytes),
            Direction::Store => target.has_scatter(bytes),
        };
        if has_instruction {
            self.reject_form(Candidate::CommonBase, Reason::HasInstruction);
        } else {
            self.reject_form(Candidate::Anywhere, Reason::NoInstruction);
            match &self.addresses.common_base {
                Some(base) if !is_masked && form == Form::Vector => return PieceForm::CommonBase(base.clone()),
                Some(_) if is_masked => self.reject_form(Candidate::CommonBase, Reason::SomeLanesOff),
                _ => self.reject_form(Candidate::CommonBase, Reason::NoCommonBase),
            }
        }
        PieceForm::Anywhere { redirected: is_masked && !has_instruction }
    }
}

/// What is asked before a wide access of some lanes to a part of memory; of kept values, to none that a pointer reaches.
pub fn choose_row_guard(
    target: &TargetInfo,
    direction: Direction,
    space: Option<Space>,
    may_be_empty: bool,
    has_bounds: bool,
) -> RowGuard {
    let may_be_absent = matches!(space, Some(Space::Global | Space::Constant | Space::Generic));
    if !may_be_empty {
        RowGuard::None
    } else if direction == Direction::Store && target.slow_masked_stores {
        RowGuard::AnyLane
    } else if may_be_absent && has_bounds {
        RowGuard::InBounds
    } else {
        RowGuard::None
    }
}

/// How elements of lanes that are off are left out of a wide access.
pub fn mask_elements(target: &TargetInfo, element_type: Type, guard: RowGuard) -> WideElements {
    if target.has_row_mask(element_type.bytes()) {
        WideElements::Masked(guard)
    } else {
        WideElements::Redirected(guard)
    }
}

/// Whether so many lanes' chunks of elements of a type are taken apart by shuffles.
fn has_chunks(element_type: Type, lane_count: u32) -> bool {
    let bytes = element_type.bytes();
    bytes.is_power_of_two() && bytes < CHUNK_BYTES && lane_count >= CHUNK_BYTES / bytes.max(NARROWEST_SHUFFLED)
}

/// Whether some of a lane's elements are a chunk.
fn find_chunks(element_type: Type, element_count: u32, lane_count: u32) -> Result<(), Reason> {
    if !element_type.bytes().is_power_of_two() || element_type.bytes() >= CHUNK_BYTES {
        Err(Reason::WideElements(element_type.bytes()))
    } else if element_count * element_type.bytes() < CHUNK_BYTES {
        Err(Reason::FewBytes)
    } else if !has_chunks(element_type, lane_count) {
        Err(Reason::FewLanes)
    } else {
        Ok(())
    }
}

/// The elements of `element_count` that are taken together, up to so many bytes: the first, and how many.
pub(super) fn cut_pieces(element_type: Type, element_count: u32, bytes: u32) -> Vec<(u32, u32)> {
    let (mut pieces, mut first_element) = (Vec::new(), 0);
    while first_element < element_count {
        let mut maximum = 1;
        while 2 * maximum <= element_count - first_element && 2 * maximum * element_type.bytes() <= bytes {
            maximum *= 2;
        }
        pieces.push((first_element, maximum));
        first_element += maximum;
    }
    pieces
}
