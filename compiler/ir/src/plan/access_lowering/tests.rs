//! The decision, form by form and reason by reason, without code.

use super::common_base::{CommonBase, LaneOffsets};
use super::price::Circumstances;
use super::*;
use crate::ir::{Access, Ordering, SourceLoc, Value};
use crate::plan::value_form::Form;
use crate::target::{Registers, TargetInfo};
use cranelift_entity::EntityRef;
use lockstep_protocol::types::{Space, Type};

const MASKED: LaneMask = LaneMask::Some { may_be_empty: true, has_bounds: false };

/// An access of one float of global memory.
fn of(direction: Direction) -> MemoryAccess {
    MemoryAccess {
        direction,
        ptr: Value::new(0),
        offset: 0,
        ty: Type::F32,
        count: 1,
        space: Space::Global,
        access: Access::plain(4),
        location: SourceLoc::default(),
    }
}

fn gang(bits: u32) -> GangAccess {
    GangAccess { target: TargetInfo::of_bits(bits), width: 16, row: None, may_wait: false, follows_others: true }
}

fn held(form: Form) -> LaneAddresses {
    LaneAddresses { form, ..LaneAddresses::default() }
}

/// How a gang of 16 makes an access on a machine with AVX2 at addresses that are held like this.
fn decide(access: MemoryAccess, form: Form, mask: LaneMask) -> AccessLowering {
    AccessLowering::decide_lowering(access, &gang(256), &held(form), mask)
}

/// The only wide access of a gang.
fn wide_of(lowering: &AccessLowering) -> WideAccess {
    match lowering.form {
        AccessForm::Gang(LanesForm::Wide(wide_access)) => wide_access,
        ref form => panic!("{form:?} is not wide"),
    }
}

/// The pieces of a gang's access.
fn pieces_of(lowering: &AccessLowering) -> Vec<(u32, u32, PieceForm)> {
    let AccessForm::Gang(LanesForm::Scattered { pieces, .. }) = &lowering.form else { panic!("{:?}", lowering.form) };
    pieces.iter().map(|piece| (piece.first, piece.count, piece.form.clone())).collect()
}

#[test]
fn uniform_addresses_are_one_access() {
    let load = decide(of(Direction::Load), Form::Affine(0), LaneMask::All);
    assert_eq!(load.form, AccessForm::Uniform(StoredLane::Any));
    assert_eq!(load.rejected, []);
    let store = decide(of(Direction::Store), Form::Affine(0), LaneMask::All);
    assert_eq!(store.form, AccessForm::Uniform(StoredLane::LastActive));
    let same = LaneAddresses { stores_uniform: true, ..held(Form::Affine(0)) };
    let store = AccessLowering::decide_lowering(of(Direction::Store), &gang(256), &same, LaneMask::All);
    assert_eq!(store.form, AccessForm::Uniform(StoredLane::Any));
}

#[test]
fn neighbours_are_one_wide_access() {
    for (stride, row, reversed, class) in [
        (4, 1, false, "contiguous"),
        (-4, 1, true, "reversed"),
        (8, 2, false, "interleaved stride 2"),
        (-12, 3, true, "interleaved stride -3"),
    ] {
        let load = decide(of(Direction::Load), Form::Affine(stride), LaneMask::All);
        let wide_access = wide_of(&load);
        assert_eq!((wide_access.row, wide_access.is_reversed(), wide_access.lanes), (row, reversed, 16));
        assert_eq!(wide_access.elements, if row == 1 { WideElements::All } else { WideElements::AllLanes });
        assert_eq!(wide_access.bytes_to_lowest(), if reversed { 15 * stride } else { 0 });
        assert_eq!(load.describe().class, class);
        assert_eq!(load.why_not(Candidate::Uniform), Some(Reason::AddressesDiffer));
    }
}

#[test]
fn lanes_that_are_off_take_a_masked_instruction_or_are_redirected() {
    let elements = |element_type: Type, bits: u32, direction: Direction, mask: LaneMask| {
        let access = MemoryAccess { ty: element_type, ..of(direction) };
        let held = held(Form::Affine(element_type.bytes().into()));
        let lowering = AccessLowering::decide_lowering(access, &gang(bits), &held, mask);
        let redirected = lowering.describe().detail.contains("redirected");
        assert_eq!(redirected, lowering.why_not(Candidate::MaskedInstruction) == Some(Reason::NoInstruction));
        (wide_of(&lowering).elements, redirected)
    };
    use WideElements::{Masked, Redirected};
    let load = |element_type, bits| elements(element_type, bits, Direction::Load, MASKED);
    assert_eq!(load(Type::F32, 512), (Masked(RowGuard::None), false));
    assert_eq!(load(Type::F32, 256), (Masked(RowGuard::None), false));
    assert_eq!(load(Type::F32, 128), (Redirected(RowGuard::None), true));
    assert_eq!(load(Type::Int(16), 512), (Masked(RowGuard::None), false));
    assert_eq!(load(Type::Int(16), 256), (Redirected(RowGuard::None), true));
    // Stores of some lanes are slow before AVX-512, and rows of bounded lanes may be absent.
    let store = |bits, mask| elements(Type::F32, bits, Direction::Store, mask).0;
    assert_eq!(store(256, MASKED), Masked(RowGuard::AnyLane));
    assert_eq!(store(512, MASKED), Masked(RowGuard::None));
    let bounded = LaneMask::Some { may_be_empty: true, has_bounds: true };
    assert_eq!(store(512, bounded), Masked(RowGuard::InBounds));
    assert_eq!(store(512, LaneMask::Some { may_be_empty: false, has_bounds: true }), Masked(RowGuard::None));
    assert_eq!(elements(Type::F32, 256, Direction::Load, bounded).0, Masked(RowGuard::InBounds));
}

#[test]
fn lanes_anywhere_are_gathered_and_scattered() {
    let load = decide(of(Direction::Load), Form::Vector, LaneMask::All);
    assert_eq!(pieces_of(&load), [(0, 1, PieceForm::Anywhere { redirected: false })]);
    assert_eq!((load.describe().class, load.why_not(Candidate::Wide)), ("gather".into(), Some(Reason::LanesAnywhere)));
    assert_eq!(load.why_not(Candidate::Chunks), Some(Reason::FewBytes));
    // There are no scatters without AVX-512, so lanes that are off are sent elsewhere.
    let store = decide(of(Direction::Store), Form::Affine(1024), MASKED);
    assert_eq!(pieces_of(&store), [(0, 1, PieceForm::Anywhere { redirected: true })]);
    assert!(matches!(store.form, AccessForm::Gang(LanesForm::Scattered { asks_any: true, .. })));
    let expected = "f32 to global memory, lanes 1024 bytes apart, lanes that are off redirected";
    assert_eq!((&*store.describe().class, &*store.describe().detail), ("scatter", expected));
    let store = AccessLowering::decide_lowering(of(Direction::Store), &gang(512), &held(Form::Vector), MASKED);
    assert_eq!(pieces_of(&store), [(0, 1, PieceForm::Anywhere { redirected: false })]);
    assert!(matches!(store.form, AccessForm::Gang(LanesForm::Scattered { asks_any: false, .. })));
}

#[test]
fn sixteen_bytes_of_a_lane_are_a_chunk() {
    let load = |element_type: Type, count: u32, gang_width: u32| {
        let access = MemoryAccess { ty: element_type, count, ..of(Direction::Load) };
        AccessLowering::decide_lowering(
            access,
            &GangAccess { width: gang_width, ..gang(256) },
            &held(Form::Vector),
            LaneMask::All,
        )
    };
    let chunk = || PieceForm::Chunk { redirected: false };
    let anywhere = || PieceForm::Anywhere { redirected: false };
    assert_eq!(pieces_of(&load(Type::F32, 4, 16)), [(0, 4, chunk())]);
    assert_eq!(load(Type::F32, 4, 16).describe().class, "chunks");
    let mixed = load(Type::F32, 7, 16);
    assert_eq!(pieces_of(&mixed), [(0, 4, chunk()), (4, 2, anywhere()), (6, 1, anywhere())]);
    assert_eq!(mixed.describe().detail, "7 f32 from global memory, lanes anywhere, 4 of 7 in chunks");
    assert_eq!(load(Type::F32, 3, 16).why_not(Candidate::Chunks), Some(Reason::FewBytes));
    assert_eq!(load(Type::F32, 4, 2).why_not(Candidate::Chunks), Some(Reason::FewLanes));
    assert_eq!(load(Type::Int(128), 1, 16).why_not(Candidate::Chunks), Some(Reason::WideElements(16)));
    let access = MemoryAccess { count: 4, ..of(Direction::Store) };
    let store = decide(access, Form::Vector, LaneMask::All);
    assert_eq!(pieces_of(&store), [(0, 2, anywhere()), (2, 2, anywhere())], "there are no chunks of stores");
}

#[test]
fn without_an_instruction_lanes_go_by_themselves_from_a_common_address() {
    let narrow = LaneOffsets::Narrow { offset: Value::new(2), signed: true, shift: 2 };
    let base = CommonBase { base: Value::new(1), uniform: Vec::new(), offsets: narrow };
    let near = LaneAddresses { common_base: Some(base.clone()), ..held(Form::Vector) };
    let store =
        |bits: u32, mask: LaneMask| AccessLowering::decide_lowering(of(Direction::Store), &gang(bits), &near, mask);
    assert_eq!(pieces_of(&store(256, LaneMask::All)), [(0, 1, PieceForm::CommonBase(base))]);
    let description = store(256, LaneMask::All).describe();
    assert_eq!((&*description.class, description.detail.ends_with("near a common address")), ("per lane", true));
    assert_eq!(store(256, LaneMask::All).why_not(Candidate::Anywhere), Some(Reason::NoInstruction));
    assert_eq!(store(256, MASKED).why_not(Candidate::CommonBase), Some(Reason::SomeLanesOff));
    assert_eq!(store(512, LaneMask::All).why_not(Candidate::CommonBase), Some(Reason::HasInstruction));
    let far = decide(of(Direction::Store), Form::Vector, LaneMask::All);
    assert_eq!(far.why_not(Candidate::CommonBase), Some(Reason::NoCommonBase));
}

#[test]
fn volatile_and_atomic_accesses_are_one_by_one() {
    let volatile = Access { volatile: true, ..Access::plain(4) };
    let access = |address_space, access| MemoryAccess { space: address_space, access, ..of(Direction::Load) };
    let form = |access, form, mask| decide(access, form, mask).form;
    let of_global = access(Space::Global, volatile);
    // One instruction accesses each lane's element once and no other.
    let whole = decide(of_global, Form::Affine(4), LaneMask::All);
    assert!(wide_of(&whole).volatile && whole.describe().class == "contiguous");
    for (held, mask) in [(Form::Affine(4), MASKED), (Form::Affine(8), LaneMask::All), (Form::Vector, LaneMask::All)] {
        assert_eq!(form(of_global, held, mask), AccessForm::PerLane(Ordered::Volatile));
        assert_eq!(decide(of_global, held, mask).why_not(Candidate::Wide), Some(Reason::Volatile));
    }
    // What one thread runs cannot tell.
    assert!(!wide_of(&decide(access(Space::Local, volatile), Form::Affine(4), LaneMask::All)).volatile);
    let waits = GangAccess { may_wait: true, ..gang(256) };
    let local = access(Space::Local, volatile);
    let lowering = AccessLowering::decide_lowering(local, &waits, &held(Form::Affine(4)), LaneMask::All);
    assert_eq!(lowering.form, AccessForm::PerLane(Ordered::Volatile));
    let atomic = Access { atomic: Some(Ordering::Relaxed), ..Access::plain(4) };
    assert_eq!(
        form(access(Space::Global, atomic), Form::Affine(4), LaneMask::All),
        AccessForm::PerLane(Ordered::Atomic)
    );
    let lowering = decide(access(Space::Global, atomic), Form::Vector, LaneMask::All);
    assert_eq!((lowering.why_not(Candidate::Wide), &*lowering.describe().detail), (Some(Reason::Atomic), "atomic"));
}

/// A tile of four rows of four.
fn tile() -> GangAccess {
    GangAccess { row: Some(4), ..gang(256) }
}

#[test]
fn tiles_go_row_by_row_or_column_by_column() {
    let lower = |direction, addresses: &LaneAddresses, mask| {
        AccessLowering::decide_lowering(of(direction), &tile(), addresses, mask)
    };
    let load = |addresses: &LaneAddresses| lower(Direction::Load, addresses, LaneMask::All);
    let rows = load(&held(Form::Runs(4)));
    assert!(matches!(rows.form, AccessForm::Rows { once: false, row: LanesForm::Wide(WideAccess { lanes: 4, .. }) }));
    assert_eq!(rows.describe().detail, "f32 from global memory, row by row");
    let alike = LaneAddresses { rows_alike: true, ..held(Form::Runs(4)) };
    assert!(matches!(load(&alike).form, AccessForm::Rows { once: true, row: LanesForm::Wide(_) }));
    assert_eq!(load(&held(Form::Runs(0))).form, AccessForm::UniformRows { once: false });
    // Alike rows that are no wide access are gathered once.
    let far = LaneAddresses { rows_alike: true, ..held(Form::Runs(1024)) };
    assert!(matches!(load(&far).form, AccessForm::Rows { once: true, row: LanesForm::Scattered { .. } }));
    let columns = LaneAddresses { column_stride: Some(4), ..held(Form::Runs(1024)) };
    let by_columns = lower(Direction::Store, &columns, LaneMask::All);
    assert!(matches!(by_columns.form, AccessForm::Columns(WideAccess { lanes: 4, .. })));
    assert_eq!(by_columns.describe().detail, "f32 to global memory, column by column");
    let masked = lower(Direction::Store, &columns, MASKED);
    assert_eq!(masked.why_not(Candidate::Columns), Some(Reason::SomeLanesOff));
    let no_columns = LaneAddresses { column_stride: Some(8), ..held(Form::Vector) };
    assert_eq!(load(&no_columns).why_not(Candidate::Columns), Some(Reason::NoColumn));
}

#[test]
fn lines_hold_unless_an_index_wraps() {
    let line = |stride| Some(LineOfLanes { stride, indices: 1 });
    let load = |addresses: &LaneAddresses| {
        AccessLowering::decide_lowering(of(Direction::Load), &tile(), addresses, LaneMask::All)
    };
    let along = |lowering: &AccessLowering| match lowering.form {
        AccessForm::UnlessWraps { along, wrapped: LanesForm::Scattered { .. }, .. } => Some(along),
        _ => None,
    };
    let gang = load(&LaneAddresses { line: line(4), ..LaneAddresses::default() });
    assert_eq!(along(&gang), Some(Along::Gang));
    assert_eq!(gang.describe().detail, "f32 from global memory, unless an index wraps");
    let rows = load(&LaneAddresses { line: line(1024), row_line: line(4), ..LaneAddresses::default() });
    assert_eq!(along(&rows), Some(Along::Rows));
    let columns = load(&LaneAddresses { row_line: line(1024), column_line: line(4), ..LaneAddresses::default() });
    assert_eq!(along(&columns), Some(Along::Columns));
    let neither = load(&LaneAddresses { line: line(1024), ..LaneAddresses::default() });
    assert_eq!(along(&neither), None);
}

#[test]
fn whole_lines_that_follow_each_other_go_past_the_caches() {
    let lower = |element_type: Type, gang: &GangAccess| {
        let access = MemoryAccess { ty: element_type, ..of(Direction::Store) };
        let streamed = LaneAddresses { is_streamed: true, ..held(Form::Affine(element_type.bytes().into())) };
        AccessLowering::decide_lowering(access, gang, &streamed, LaneMask::All)
    };
    let past = lower(Type::F32, &gang(256));
    assert!(wide_of(&past).past_caches && past.describe().detail.ends_with(", past the caches"));
    let short = lower(Type::Int(16), &gang(256));
    assert_eq!(short.why_not(Candidate::PastCaches), Some(Reason::PartsOfLines));
    let apart = lower(Type::F32, &GangAccess { follows_others: false, ..gang(256) });
    assert_eq!(apart.why_not(Candidate::PastCaches), Some(Reason::GangsApart));
}

#[test]
fn what_is_cheaper_is_preferred() {
    let cost = |access: MemoryAccess, form: Form, bits: u32| {
        let lowering = AccessLowering::decide_lowering(access, &gang(bits), &held(form), LaneMask::All);
        let registers = Registers { target: TargetInfo::of_bits(bits), width: 16 };
        lowering.cost(&Circumstances { registers, once: 1, is_rewritten: false, is_same_element: false })
    };
    for (direction, bits) in [(Direction::Load, 256), (Direction::Load, 512), (Direction::Store, 256)] {
        let of_forms = [Form::Affine(0), Form::Affine(4), Form::Affine(8), Form::Vector];
        let costs = of_forms.map(|form| cost(of(direction), form, bits));
        assert!(costs.is_sorted(), "{costs:?}");
    }
    // A chunk costs less than gathers of its parts.
    let chunk = MemoryAccess { count: 4, ..of(Direction::Load) };
    let parts = MemoryAccess { count: 3, ..of(Direction::Load) };
    assert!(cost(chunk, Form::Vector, 256) < 2 * cost(parts, Form::Vector, 256));
}

#[test]
fn masks_cost_by_what_the_machine_has() {
    let cost = |element_type: Type, bits: u32| {
        let access = MemoryAccess { ty: element_type, ..of(Direction::Load) };
        let held = held(Form::Affine(element_type.bytes().into()));
        let lowering = AccessLowering::decide_lowering(access, &gang(bits), &held, MASKED);
        lowering.cost_of_mask(Registers { target: TargetInfo::of_bits(bits), width: 16 })
    };
    assert_eq!(cost(Type::F32, 512), 1);
    assert_eq!(cost(Type::F32, 256), 2);
    assert_eq!(cost(Type::Int(16), 256), 48, "lane by lane");
    assert_eq!(cost(Type::F32, 128), 48, "lane by lane");
}

/// Long rows are transposed where all lanes take part: loads in chunks of sixteen bytes, stores whole rows.
#[test]
fn long_rows_are_transposed() {
    let is_transposed = |direction, ty: Type, count: u32, stride: i64, mask| {
        let access = MemoryAccess { ty, count, ..of(direction) };
        wide_of(&decide(access, Form::Affine(stride), mask)).transposed
    };
    let load = |ty, count, stride| is_transposed(Direction::Load, ty, count, stride, LaneMask::All);
    assert!(load(Type::F32, 8, 32) && load(Type::F32, 4, 32) && load(Type::F64, 2, 64));
    assert!(!load(Type::F32, 4, 16) && !load(Type::F64, 4, 32), "LLVM makes shuffles of short rows by itself");
    assert!(!load(Type::F32, 6, 32), "not whole chunks");
    assert!(!load(Type::F32, 8, -32), "the last lane's elements come first");
    assert!(!load(Type::Int(16), 8, 16), "elements narrower than what is shuffled");
    assert!(!is_transposed(Direction::Load, Type::F32, 8, 32, MASKED));
    let store = |count, stride| is_transposed(Direction::Store, Type::F32, count, stride, LaneMask::All);
    assert!(store(8, 32));
    assert!(!store(4, 16), "short rows");
    assert!(!is_transposed(Direction::Store, Type::F32, 8, 32, MASKED));
}

/// A transposed row costs a load of each chunk or a store of each register, and its shuffles.
#[test]
fn transposed_rows_have_their_own_price() {
    let around = Circumstances {
        registers: Registers { target: TargetInfo::of_bits(256), width: 16 },
        once: 1,
        is_rewritten: false,
        is_same_element: false,
    };
    let price = |direction| {
        let access = MemoryAccess { count: 8, ..of(direction) };
        decide(access, Form::Affine(32), LaneMask::All).cost(&around)
    };
    // Two chunks of 16 lanes; for each of eight elements, two registers with three halves of an operation.
    assert_eq!(price(Direction::Load), 2 * 16 + 8 * 2 * 2 * 3 / 2);
    // Eight elements of two registers, each stored and three times shuffled.
    assert_eq!(price(Direction::Store), 8 * 2 * 2 * (1 + 3));
}
