//! What instructions cost: about how many micro-operations they take, for one work-item and for a gang.
//!
//! Requires: shapes of the values; for a gang, the registers of the machine.
//! Ensures: numbers to compare with each other. They decide what is done, never what comes out.
//! Phases: a table for one instruction; of a whole function, what is known of its accesses, then the sum over its blocks.
//! Source: throughputs that vendors publish for x86-64 and AArch64; for gathers, scatters and mispredicted branches what
//! `cargo xtask bench vectorizer` measured; Moll 2021, section 9.2, for what they decide. `cargo xtask bench costs` measures constants again:
//! behind "bench costs" stand the rows of its table.

use super::cfg::Cfg;
use super::critical_path;
use super::divergence::Divergence;
use super::loop_steps::LoopSteps;
use super::loops::{Loop, Loops};
use super::no_wrap_stride::{NoWrapStride, find_no_wrap_strides};
use super::recurrence;
use super::shape::Shape;
use super::shares::{WHOLE, find_shares, find_shares_of_arms, find_shares_of_matches, probability_of_any};
use crate::ir::{BinaryOp, Block, Function, Inst, InstData, Terminator, TernaryOp, UnaryOp, Value, ValueDef};
pub use crate::plan::access_lowering::price::VECTOR;
use crate::plan::access_lowering::{AccessForm, AccessLowering, Along, LaneMask, LanesForm};
use crate::target::Registers;
use cranelift_entity::{EntitySet, SecondaryMap};
use lockstep_protocol::types::{Space, Type};

/// What it costs a work-item on average that its access is to another line of the cache than its neighbours', as those of
/// a column are: more lines than the first cache keeps at times.
/// bench costs: line each.
pub const LINE_EACH: u64 = 4;

/// What it costs a work-item on average that a branch which depends on data is mispredicted at times. The way out of a
/// loop is, once for all rounds.
/// bench costs: mispredicted.
pub const MISPREDICTED: u64 = 10;
const MISPREDICTED_EXIT: u64 = 6;

/// What it costs a gang, in quarters, that lanes leave a loop one by one: it runs until the last one has left.
const WAITING: u64 = 7;
/// The same where neighbouring lanes leave it one iteration after the other, as `for (j = i; j < n; ++j)`: there are usually
/// many more iterations than lanes.
const WAITING_BY_PLACE: u64 = 5;

/// Whether lanes leave a loop at places only, which follow from one another.
fn is_left_by_place(function: &Function, loop_forest: &Loops, loop_id: Loop, divergence: &Divergence) -> bool {
    let mut exits = loop_forest.get(loop_id).exits.iter().map(|&(source, _)| source);
    exits.all(|source| {
        !divergence.divergent_branches.contains(source)
            || follows_from_place(function, &function.blocks[source].terminator, &divergence.shapes)
    })
}

/// What a case of a long switch costs a gang beyond what it computes: a comparison, a mask and a select.
const CASE: u64 = 3 * VECTOR;

/// How many times as much as work-items one after the other, each with the few cases of a long switch that it is expected to
/// run, a gang has to cost for that to be believed: keys need not be spread, and in a long chain of cases a work-item waits
/// for itself. Where each runs 500 of 1,000 cases, gangs take 0.4 of the time and are estimated at 1.6 times it; where each runs one
/// to three, 10 to 60 times as long and are estimated at 23 to 70.
const SPREAD: u64 = 2;

/// What it costs to begin and end the turn of a lane that runs a loop alone.
pub const TURN: u64 = 40;

/// Rounds that a loop of unknown length is taken to run.
pub const ROUNDS: u64 = 8;

/// What code in a loop costs a gang whose lanes leave it one by one, by what it costs while all are there.
pub fn staggered_exit_cost(cost: u64) -> u64 {
    cost.saturating_mul(WAITING) / 4
}

/// The same for a loop of which it is known how lanes leave it.
pub fn waiting_in(function: &Function, loop_forest: &Loops, loop_id: Loop, divergence: &Divergence, cost: u64) -> u64 {
    if is_left_by_place(function, loop_forest, loop_id, divergence) {
        cost.saturating_mul(WAITING_BY_PLACE) / 4
    } else {
        staggered_exit_cost(cost)
    }
}

/// How often a block runs, if every loop runs its guess of rounds.
pub fn estimate_frequency(loop_forest: &Loops, block: Block) -> u64 {
    ROUNDS.pow(loop_forest.loop_depth(block).min(6))
}

/// What an operation costs on one register.
fn operation_cost(function: &Function, instruction: Inst) -> u64 {
    use BinaryOp::{Fdiv, Frem, Powered, QuotientEstimate, Sdiv, Srem, Udiv, Urem};
    let result_type = function.insts[instruction].results.first().map_or(Type::BOOL, |&value| function.ty(value));
    match &function.insts[instruction].data {
        // bench costs: divide float, root float, work-item divides float, work-item's root float.
        // bench costs: divide double, root double, work-item divides double.
        InstData::Binary { opcode: Fdiv, .. } | InstData::Unary { opcode: UnaryOp::Sqrt, .. } => match result_type {
            Type::F64 => 8,
            _ => 5,
        },
        // bench costs: reciprocal root float.
        InstData::Unary { opcode: UnaryOp::Rsqrt, .. } => 10,
        InstData::Binary { opcode: QuotientEstimate, .. } | InstData::Ternary { opcode: TernaryOp::Scaled, .. } => 4,
        InstData::Binary { opcode: Powered, .. } => 6,
        InstData::Unary { opcode: UnaryOp::Logb | UnaryOp::Significand, .. } => 4,
        InstData::Binary { opcode: Frem, .. } => 40,
        // bench costs: divide int, divide long, work-item divides int, work-item divides long.
        InstData::Binary { opcode: Udiv | Sdiv | Urem | Srem, .. } => {
            if result_type.bits() > 32 {
                18
            } else {
                10
            }
        }
        InstData::CallHost { .. } | InstData::Clock | InstData::Yield => 40,
        // What is counted is not to change what is decided.
        InstData::CountIterations { .. } => 0,
        InstData::Printf { .. } | InstData::Call { .. } => 200,
        // A load, an operation and a store.
        // bench costs: atomic local.
        InstData::AtomicRmw { pointer, .. } if function.ty(*pointer) == Type::Ptr(Space::Local) => 3,
        // bench costs: atomic.
        InstData::AtomicRmw { .. } | InstData::AtomicCas { .. } => 20,
        InstData::MemCopy { .. } | InstData::MemSet { .. } => 10,
        InstData::Load { .. } => function.insts[instruction].results.len() as u64,
        InstData::Store { arguments, .. } => arguments.len() as u64,
        InstData::PtrAdd { .. } | InstData::SlotAddr { .. } | InstData::LocalAddr { .. } => 0,
        InstData::GlobalAddr { .. } | InstData::Query { .. } => 0,
        // bench costs: operation.
        _ => 1,
    }
}

/// What an instruction costs for one work-item. What is computed from ids in steps is hoisted or becomes a step
/// itself.
pub fn scalar_cost(function: &Function, instruction: Inst, shapes: &SecondaryMap<Value, Shape>) -> u64 {
    if is_step(function, instruction, shapes) || is_part_of_address(function, instruction) {
        0
    } else {
        operation_cost(function, instruction)
    }
}

/// Whether a processor's address modes or loads usually do this along.
fn is_part_of_address(function: &Function, instruction: Inst) -> bool {
    match function.insts[instruction].data {
        InstData::Unary { opcode, .. } => matches!(opcode, UnaryOp::Zext | UnaryOp::Sext | UnaryOp::Trunc),
        InstData::Binary { opcode: BinaryOp::Mul, arguments: [_, by], .. } => {
            matches!(function.const_bits(by), Some(2 | 4 | 8))
        }
        InstData::Binary { opcode: BinaryOp::Shl, arguments: [_, by], .. } => {
            matches!(function.const_bits(by), Some(1..=3))
        }
        _ => false,
    }
}

/// Whether an instruction computes an integer or address whose lanes' values follow from one another.
fn is_step(function: &Function, instruction: Inst, shapes: &SecondaryMap<Value, Shape>) -> bool {
    let computes = matches!(
        function.insts[instruction].data,
        InstData::Unary { .. } | InstData::Binary { .. } | InstData::PtrAdd { .. } | InstData::Query { .. }
    );
    let result = function.insts[instruction].results.first();
    computes
        && result.is_some_and(|&value| matches!(shapes[value], Shape::Strided { .. }) && !function.ty(value).is_float())
}

/// What is known of values of which not all lanes hold the same.
#[derive(Clone, Copy)]
pub struct Lanes<'a> {
    /// The shapes of all values.
    pub shapes: &'a SecondaryMap<Value, Shape>,
    /// The lines on which they lie unless an index wraps.
    pub lines: &'a SecondaryMap<Value, Option<NoWrapStride>>,
    /// What is known of the rows of a tile.
    pub rows: Option<Rows<'a>>,
    /// What lanes read and write anywhere in loops; none: not looked for.
    pub rewritten: Option<&'a Rewritten>,
}

/// What is known of the lanes of a tile.
#[derive(Clone, Copy)]
pub struct Tile<'a> {
    /// The shapes of values in the lanes of a row.
    pub shapes: &'a SecondaryMap<Value, Shape>,
    /// Those in the lanes of a column.
    pub columns: &'a SecondaryMap<Value, Shape>,
    /// The lanes of a row.
    pub row: u32,
    /// The lanes of a column.
    pub rows: u32,
}

/// What is known of the lanes of a tile's row.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    /// The shapes of values in them.
    pub tile: Tile<'a>,
    /// The lines on which they lie in one unless an index wraps.
    pub lines: &'a SecondaryMap<Value, Option<NoWrapStride>>,
    /// Those on which they lie in a column.
    pub column_lines: &'a SecondaryMap<Value, Option<NoWrapStride>>,
}

/// The lines on which values lie in the rows and in the columns of a tile.
fn lines_of_tile(
    function: &Function,
    flow_graph: &Cfg,
    tile: Tile<'_>,
) -> [SecondaryMap<Value, Option<NoWrapStride>>; 2] {
    [(tile.shapes, tile.row), (tile.columns, tile.rows)]
        .map(|(shapes, lanes)| find_no_wrap_strides(function, flow_graph.reverse_post_order(), shapes, lanes))
}

/// Whether some accesses are those of a tile's columns.
pub fn go_by_columns(
    function: &Function,
    flow_graph: &Cfg,
    shapes: &SecondaryMap<Value, Shape>,
    tile: Tile<'_>,
    registers: Registers,
) -> bool {
    let no_wrap_strides = find_no_wrap_strides(function, flow_graph.reverse_post_order(), shapes, registers.width);
    let [row_lines, column_lines] = &lines_of_tile(function, flow_graph, tile);
    let rows = Some(Rows { tile, lines: row_lines, column_lines });
    let lane_facts = Lanes { shapes, lines: &no_wrap_strides, rows, rewritten: None };
    let instructions = function.layout.iter().flat_map(|&block| &function.blocks[block].insts);
    instructions.into_iter().any(|&instruction| goes_by_column(function, instruction, lane_facts, registers))
}

/// What an instruction costs that is done row by row, if it is.
fn row_by_row(function: &Function, instruction: Inst, lane_facts: Lanes<'_>, registers: Registers) -> Option<u64> {
    let rows = lane_facts.rows?;
    let inst_node = &function.insts[instruction];
    if matches!(inst_node.data, InstData::Load { .. } | InstData::Store { .. }) {
        return None;
    }
    let row_registers = Registers { width: rows.tile.row, ..registers };
    let stride = |value: Value| {
        rows.tile.shapes[value].stride().or(rows.lines[value].as_ref().map(|no_wrap_stride| no_wrap_stride.stride))
    };
    let follows = |value: Value| lane_facts.shapes[value].is_varying() && stride(value).is_some();
    let result = inst_node.results.first();
    let result_follows = result.is_some_and(|&value| follows(value));
    let (row_count, columns) = (u64::from(rows.tile.rows), &rows.tile.columns);
    let row_facts = Lanes { shapes: rows.tile.shapes, lines: rows.lines, rows: None, ..lane_facts };
    let cost_of_row = || gang_cost(function, instruction, row_facts, row_registers);
    match &inst_node.data {
        _ if lane_facts.shapes[*result?].is_varying() && columns[*result?].is_uniform() => Some(cost_of_row()),
        // The rest stays one scalar a row, or a column.
        _ if result_follows => Some(row_count * cost_of_row()),
        _ if !is_step(function, instruction, columns) && rows.column_lines[*result?].is_none() => None,
        _ if lane_facts.shapes[*result?].is_varying() && !is_part_of_address(function, instruction) => {
            Some(u64::from(row_registers.width) * operation_cost(function, instruction))
        }
        _ => Some(0),
    }
}

/// What an instruction costs for a gang.
pub fn gang_cost(function: &Function, instruction: Inst, lane_facts: Lanes<'_>, registers: Registers) -> u64 {
    if let Some(cost) = row_by_row(function, instruction, lane_facts, registers) {
        return cost;
    }
    let Lanes { shapes, lines, .. } = lane_facts;
    let inst_node = &function.insts[instruction];
    let scalar_cost = operation_cost(function, instruction);
    let lane_count = u64::from(registers.width);
    let vector = |value_type: Type| VECTOR * registers.registers_for(value_type);
    let uniform = |value: Value| shapes[value].is_uniform();
    match &inst_node.data {
        _ if is_step(function, instruction, shapes) => 0,
        InstData::Load { .. } | InstData::Store { .. } => {
            price_access(function, instruction, lane_facts, registers).unwrap_or(0)
        }
        // One reading, even where nothing is taken to be uniform.
        InstData::Clock | InstData::Yield => scalar_cost,
        InstData::LiveLoad { .. } => inst_node.results.iter().map(|&value| vector(function.ty(value))).sum(),
        InstData::LiveStore { argument, .. } => vector(function.ty(*argument)),
        InstData::MemCopy { destination, source, .. } if uniform(*destination) && uniform(*source) => scalar_cost,
        InstData::MemSet { destination, .. } if uniform(*destination) => scalar_cost,
        // An address is taken out of a vector, and nothing else waits for it.
        InstData::AtomicRmw { pointer, .. } if function.ty(*pointer) == Type::Ptr(Space::Local) => {
            lane_count * (scalar_cost + 1)
        }
        InstData::MemCopy { .. }
        | InstData::MemSet { .. }
        | InstData::AtomicRmw { .. }
        | InstData::AtomicCas { .. }
        | InstData::Printf { .. } => lane_count * (scalar_cost + 2),
        // By a form for gangs, of which nothing is known here.
        InstData::Call { .. } => scalar_cost * registers.registers_for(Type::F32) * 3 / 2,
        inst_data => {
            let Some(&result) = inst_node.results.first() else { return scalar_cost };
            match shapes[result] {
                // Computed for lane 0, and for the others only where an index wraps.
                _ if lines[result].is_some() => u64::from(!is_part_of_address(function, instruction)) * scalar_cost,
                Shape::Strided { stride: 0, .. } => scalar_cost,
                Shape::Strided { .. } if !function.ty(result).is_float() => scalar_cost,
                _ if matches!(inst_data, InstData::PtrAdd { .. }) => vector(function.ty(result)),
                _ if is_integer_division(inst_data) && function.ty(result).bits() <= 32 => {
                    2 * scalar_cost * registers.registers_for(Type::F64)
                }
                _ if per_lane(inst_data) => lane_count * (scalar_cost + 2),
                _ => {
                    let mut widest = vector(function.ty(result));
                    inst_data.for_each_arg(|argument| widest = widest.max(vector(function.ty(argument))));
                    match inst_data {
                        // A division's throughput falls with the register's width.
                        InstData::Binary { opcode: BinaryOp::Fdiv, fast_math, .. }
                        | InstData::Unary { opcode: UnaryOp::Sqrt, fast_math, .. }
                            if !fast_math.allows_reciprocals() =>
                        {
                            scalar_cost * widest * u64::from(registers.bits() / 256).max(1)
                        }
                        _ => scalar_cost * widest,
                    }
                }
            }
        }
    }
}

/// What an address was computed of.
fn underlying_object(function: &Function, mut pointer: Value) -> Value {
    while let ValueDef::Result(instruction, _) = function.values[pointer].definition {
        match function.insts[instruction].data {
            InstData::PtrAdd { base, .. } => pointer = base,
            _ => break,
        }
    }
    pointer
}

/// What lanes read and write anywhere in loops.
pub struct Rewritten {
    /// Where the addresses come from of objects of which that are elements.
    objects: EntitySet<Value>,
    /// The addresses of places that a loop writes again and again.
    kept: EntitySet<Value>,
}

impl Rewritten {
    /// Whether what is at an address may have been written short before in another width.
    fn contains(&self, function: &Function, pointer: Value) -> bool {
        self.objects.contains(underlying_object(function, pointer)) && !self.kept.contains(pointer)
    }
}

fn find_rewritten(function: &Function, loop_forest: &Loops, shapes: &SecondaryMap<Value, Shape>) -> Rewritten {
    let [mut read_objects, mut written_objects] = [EntitySet::new(), EntitySet::new()];
    let blocks = || function.layout.iter().filter(|&&block| loop_forest.loop_depth(block) > 0);
    let instructions = || {
        blocks().flat_map(|&block| &function.blocks[block].insts).map(|&instruction| &function.insts[instruction].data)
    };
    for inst_data in instructions() {
        if let InstData::Load { pointer, .. } = inst_data
            && shapes[*pointer].is_varying()
        {
            read_objects.insert(underlying_object(function, *pointer));
        }
    }
    for inst_data in instructions() {
        if let InstData::Store { pointer, .. } = inst_data
            && shapes[*pointer].is_varying()
            && read_objects.contains(underlying_object(function, *pointer))
        {
            written_objects.insert(underlying_object(function, *pointer));
        }
    }
    Rewritten { objects: written_objects, kept: find_kept_places(function, loop_forest) }
}

/// The loads and stores of innermost loops that are in another line of the cache in each iteration, as those that walk down a
/// column of a matrix are: such lines are seldom in the first cache. To a gang, whose lanes share them, they are not dear.
fn find_column_walks(function: &Function, loop_forest: &Loops) -> EntitySet<Inst> {
    let mut column_walks = EntitySet::new();
    for (loop_id, loop_data) in
        loop_forest.iter().filter(|&(loop_id, _)| recurrence::is_innermost(loop_forest, loop_id))
    {
        let steps = LoopSteps::follow_values(function, loop_forest, loop_id);
        for &instruction in loop_data.blocks.iter().flat_map(|&block| &function.blocks[block].insts) {
            if let InstData::Load { pointer, .. } | InstData::Store { pointer, .. } = function.insts[instruction].data
                && steps.step_of(pointer).leaves_line()
            {
                column_walks.insert(instruction);
            }
        }
    }
    column_walks
}

/// The addresses that stay the same in an innermost loop which writes there: what is read there is what was written before
/// by the same lane, in the same width.
fn find_kept_places(function: &Function, loop_forest: &Loops) -> EntitySet<Value> {
    let mut kept_places = EntitySet::new();
    for (loop_id, loop_data) in
        loop_forest.iter().filter(|&(loop_id, _)| recurrence::is_innermost(loop_forest, loop_id))
    {
        let instructions = || loop_data.blocks.iter().flat_map(|&block| &function.blocks[block].insts).copied();
        let mut inside = EntitySet::new();
        instructions().for_each(|instruction| _ = inside.insert(instruction));
        let is_inside = |pointer: Value| match function.values[pointer].definition {
            ValueDef::Result(instruction, _) => inside.contains(instruction),
            ValueDef::Param(block, _) => loop_forest.contains(loop_id, block),
            ValueDef::Const(_) => false,
        };
        for instruction in instructions() {
            if let InstData::Store { pointer, .. } = function.insts[instruction].data
                && !is_inside(pointer)
            {
                kept_places.insert(pointer);
            }
        }
    }
    kept_places
}

/// Whether a branch asks on which side of something a work-item lies: those that come one after the other go one way up to
/// there, and the other way from there on.
pub fn follows_from_place(function: &Function, terminator: &Terminator, shapes: &SecondaryMap<Value, Shape>) -> bool {
    let Terminator::Branch { condition, .. } = terminator else { return false };
    let ValueDef::Result(instruction, _) = function.values[*condition].definition else { return false };
    match function.insts[instruction].data {
        InstData::Icmp { arguments, .. } => arguments.iter().all(|&argument| !shapes[argument].is_varying()),
        _ => false,
    }
}

/// Whether this is a division of integers.
fn is_integer_division(inst_data: &InstData) -> bool {
    use BinaryOp::{Sdiv, Srem, Udiv, Urem};
    matches!(inst_data, InstData::Binary { opcode: Udiv | Sdiv | Urem | Srem, .. })
}

/// Whether lanes do this one after the other.
pub fn per_lane(inst_data: &InstData) -> bool {
    use BinaryOp::{Frem, Sdiv, Srem, Udiv, Urem};
    matches!(
        inst_data,
        InstData::Binary { opcode: Udiv | Sdiv | Urem | Srem | Frem, .. }
            | InstData::CallHost { .. }
            | InstData::Unary { opcode: UnaryOp::SpaceOf, .. }
    )
}

/// Vector registers that the lanes of a gang may take around a loop: the others are for what a round computes.
fn most_held(register_bits: u32) -> u64 {
    if register_bits >= 512 { 20 } else { 10 }
}

/// What the code of a block costs a gang from which on it is taken to stand behind a gate.
const COSTLY: u64 = 20;

/// The share of the work-items that run a block up to which narrower gangs are taken to leave it out more often. Of a
/// single arm nobody knows how many want it.
const RARE: u64 = WHOLE / 8;

/// What it costs to come to the next gang, beside what it computes.
const NEXT_GANG: u64 = 8;

/// The part of a gang's cost up to which arms are too small to matter, as a divisor.
const SMALL_PART: u64 = 4;

/// The lanes of the widest gangs.
const WIDEST: u32 = 64;

/// What a function costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Costs {
    /// What it costs one work-item.
    pub scalar: u64,
    /// What it costs a gang.
    pub vector: u64,
    /// What a gang waits beyond that, in loops whose rounds need what the last one computed.
    pub waits: u64,
    /// Whether what its lanes hold around some loop is more than registers.
    pub crowded: bool,
    /// Whether lanes run some loop one after the other.
    pub per_lane_loops: bool,
    /// What a gang takes for what all work-items do every time, where a processor sees only a part of it at once; 0 if that
    /// is not looked for.
    pub steady: u64,
}

/// What a function costs one work-item, and a gang, which may be a tile, if all its lanes go every way; lanes run the
/// loops in `per_lane_loops` one after the other.
pub fn function_costs(
    function: &Function,
    flow_graph: &Cfg,
    loop_forest: &Loops,
    divergence: &Divergence,
    tile: Option<Tile<'_>>,
    registers: Registers,
    per_lane_loops: &[Loop],
) -> Costs {
    let no_wrap_strides =
        find_no_wrap_strides(function, flow_graph.reverse_post_order(), &divergence.shapes, registers.width);
    let [row_lines, column_lines] = tile.map(|tile| lines_of_tile(function, flow_graph, tile)).unwrap_or_default();
    let rows = tile.map(|tile| Rows { tile, lines: &row_lines, column_lines: &column_lines });
    let rewritten = find_rewritten(function, loop_forest, &divergence.shapes);
    let lane_facts = Lanes { shapes: &divergence.shapes, lines: &no_wrap_strides, rows, rewritten: Some(&rewritten) };
    let steps = tile.map_or(&divergence.shapes, |tile| tile.shapes);
    let column_walks = find_column_walks(function, loop_forest);
    // Work-items one after the other in a row touch a line of the cache each.
    let touches_line_each =
        |instruction: Inst| rows.is_some() && goes_by_column(function, instruction, lane_facts, registers);
    let apart = |instruction: Inst| match column_walks.contains(instruction) || touches_line_each(instruction) {
        true => scalar_cost(function, instruction, steps) + LINE_EACH,
        false => scalar_cost(function, instruction, steps),
    };
    let mut costs = Costs::default();
    let spread = find_shares(function, flow_graph, loop_forest, &divergence.divergent_branches);
    let arms = find_shares_of_arms(function, flow_graph, loop_forest, &divergence.divergent_branches);
    let matches = find_shares_of_matches(function, flow_graph, loop_forest, &divergence.divergent_branches);
    let (mut one_of_shares, mut cases) = (0u128, 0u64);
    let mut rounds: SecondaryMap<Loop, u64> = SecondaryMap::new();
    let mut gang_costs: SecondaryMap<Block, u64> = SecondaryMap::new();
    let mut costs_of_blocks: SecondaryMap<Block, BlockCosts> = SecondaryMap::new();
    for &block in flow_graph.reverse_post_order() {
        let instructions = &function.blocks[block].insts;
        let mut alone: u64 = instructions.iter().map(|&instruction| apart(instruction)).sum();
        let mut together = instructions
            .iter()
            .map(|&instruction| gang_cost(function, instruction, lane_facts, registers))
            .fold(0, u64::saturating_add);
        if function.blocks[block].terminator.selector().is_some() {
            alone += 1;
            together = together.saturating_add(1);
        }
        if divergence.divergent_branches.contains(block) {
            let targets = function.blocks[block].terminator.targets();
            let leaves = |loop_id| targets.iter().any(|target| !loop_forest.contains(loop_id, target.block));
            alone += match loop_forest.innermost_loop(block).is_some_and(leaves) {
                true => MISPREDICTED_EXIT,
                false if follows_from_place(function, &function.blocks[block].terminator, steps) => 0,
                false => MISPREDICTED,
            };
            // The mask and the selects behind.
            together = together.saturating_add(4 * VECTOR);
        }
        if loop_forest.loops_around(block).any(|loop_id| divergence.divergent_loops.contains(loop_id)) {
            let one_by_one = |loop_id: Loop| {
                divergence.divergent_loops.contains(loop_id)
                    && !is_left_by_place(function, loop_forest, loop_id, divergence)
            };
            together = match loop_forest.loops_around(block).any(one_by_one) {
                true => staggered_exit_cost(together),
                false => together.saturating_mul(WAITING_BY_PLACE) / 4,
            };
        }
        gang_costs[block] = together;
        let of_arms = arms.as_ref().map_or(WHOLE, |arms| arms.shares[block]);
        let (alone, unskipped) = without_skipped(alone, together, of_arms, registers.width);
        let frequency = estimate_frequency(loop_forest, block);
        let found_by = matches.as_ref().map_or(WHOLE, |matches| matches.shares[block]);
        let total_costs = BlockCosts {
            scalar: share_of(frequency.saturating_mul(alone), found_by),
            vector: match together < COSTLY {
                true => frequency.saturating_mul(unskipped),
                false => share_of(frequency.saturating_mul(unskipped), probability_of_any(found_by, registers.width)),
            },
        };
        costs_of_blocks[block] = total_costs;
        costs.scalar = costs.scalar.saturating_add(total_costs.scalar);
        let share = spread.as_ref().map_or(WHOLE, |spread| spread.shares[block]);
        one_of_shares += u128::from(total_costs.scalar) * u128::from(share);
        costs.vector = costs.vector.saturating_add(total_costs.vector);
        if spread.as_ref().is_some_and(|spread| spread.branches.contains(block)) {
            let targets = function.blocks[block].terminator.targets().len() as u64;
            cases = cases.saturating_add(frequency.saturating_mul(CASE * targets));
        }
        if let Some(loop_id) = loop_forest.innermost_loop(block) {
            rounds[loop_id] = rounds[loop_id].saturating_add(together);
        }
    }
    for &loop_id in per_lane_loops {
        let header = loop_forest.get(loop_id).header;
        let entered_by = matches.as_ref().map_or(WHOLE, |matches| matches.shares[header]);
        let turn_costs = share_of(estimate_frequency(loop_forest, header) / ROUNDS, entered_by).saturating_mul(TURN);
        let of_blocks = |part_of: fn(BlockCosts) -> u64| {
            loop_forest.get(loop_id).blocks.iter().map(|&block| part_of(costs_of_blocks[block])).sum::<u64>()
        };
        let one_by_one = (of_blocks(|total_costs| total_costs.scalar).saturating_add(turn_costs))
            .saturating_mul(registers.width.into());
        costs.vector -= of_blocks(|total_costs| total_costs.vector).saturating_sub(one_by_one);
    }
    costs.per_lane_loops = !per_lane_loops.is_empty();
    let one_of_shares = u64::try_from(one_of_shares / u128::from(WHOLE)).unwrap_or(u64::MAX);
    let apart = one_of_shares.saturating_mul(registers.width.into());
    let with_cases = costs.vector.saturating_add(cases);
    if spread.is_some() && with_cases >= apart.saturating_mul(SPREAD) {
        costs.scalar = one_of_shares;
        costs.vector = with_cases;
    }
    for (loop_id, loop_data) in
        loop_forest.iter().filter(|&(loop_id, _)| recurrence::is_innermost(loop_forest, loop_id))
    {
        let chain_cycles =
            recurrence::CYCLE * recurrence::recurrence_cycles(function, loop_forest, loop_id, Some(&divergence.shapes));
        let waiting_cost = estimate_frequency(loop_forest, loop_data.header)
            .saturating_mul(chain_cycles.saturating_sub(rounds[loop_id]));
        costs.waits = costs.waits.saturating_add(waiting_cost);
        let held_registers = recurrence::types_held_in_loop(function, loop_forest, loop_id, &divergence.shapes)
            .into_iter()
            .map(|value_type| registers.registers_for(value_type))
            .sum::<u64>();
        costs.crowded |= held_registers > most_held(registers.bits());
    }
    if registers.bits() >= 512 {
        costs.steady =
            critical_path::steady_state_cost(function, flow_graph, loop_forest, &divergence.shapes, &gang_costs);
    } else {
        let arms = flow_graph.reverse_post_order().iter().filter(|&&block| divergence.divergent_blocks.contains(block));
        let of_arms = arms.map(|&block| costs_of_blocks[block].vector).fold(0, u64::saturating_add);
        // Shorter registers have room for more of each value only where lanes do little but compute.
        if registers.bits() >= 256
            && of_arms < costs.vector / SMALL_PART
            && are_contiguous(function, lane_facts, registers)
        {
            costs.steady =
                critical_path::steady_state_cost(function, flow_graph, loop_forest, &divergence.shapes, &gang_costs);
            costs.vector = costs.vector.saturating_add(NEXT_GANG);
        }
    }
    costs
}

/// Whether lanes load and store the same or what lies side by side, of at most four bytes, and keep nothing in memory for
/// other regions. Of wider elements the usual gangs have two registers a value as it is.
fn are_contiguous(function: &Function, lane_facts: Lanes<'_>, registers: Registers) -> bool {
    let lane_facts = Lanes { rows: None, ..lane_facts };
    let estimate = |instruction: Inst| estimate_lowering(function, instruction, lane_facts, registers, LaneMask::All);
    let mut instructions = function.layout.iter().flat_map(|&block| &function.blocks[block].insts);
    instructions.all(|&instruction| match function.insts[instruction].data {
        InstData::Load { .. } | InstData::Store { .. } => estimate(instruction).is_none_or(is_row_of_words),
        InstData::LiveLoad { .. } | InstData::LiveStore { .. } => false,
        _ => true,
    })
}

/// Whether an access is of at most four bytes a lane that lie side by side, or the same for all.
fn is_row_of_words(lowering: AccessLowering) -> bool {
    lowering.access.ty.bytes() <= 4 && is_contiguous(&lowering.form)
}

/// Whether an access is one for all lanes, or one of elements side by side.
fn is_contiguous(form: &AccessForm) -> bool {
    match form {
        AccessForm::Uniform(_) => true,
        AccessForm::Gang(LanesForm::Wide(wide_access)) => wide_access.row == 1 && !wide_access.is_reversed(),
        AccessForm::UnlessWraps { along: Along::Gang, on_line, .. } => on_line.row == 1 && !on_line.is_reversed(),
        _ => false,
    }
}

/// What a block costs a work-item and a gang over all iterations of the loops around it.
#[derive(Clone, Copy, Default)]
struct BlockCosts {
    scalar: u64,
    vector: u64,
}

/// What a cost is on average if only a share of the work-items, in parts of [`WHOLE`], has it.
fn share_of(cost: u64, share: u64) -> u64 {
    u64::try_from(u128::from(cost) * u128::from(share) / u128::from(WHOLE)).unwrap_or(u64::MAX)
}

/// What a block costs a work-item and a gang, less what gates save the gang because fewer of its lanes want code in arms of
/// arms than of the widest gang's. It is taken off the work-item's cost as well: whether gangs pay at all is not asked here.
fn without_skipped(alone: u64, together: u64, share: u64, gang_width: u32) -> (u64, u64) {
    if together < COSTLY || share > RARE {
        return (alone, together);
    }
    let [gang_share, widest] = [gang_width, WIDEST].map(|lanes| probability_of_any(share, lanes));
    let part_of = |cost: u64| cost.min(cost.saturating_mul(gang_share) / widest.max(1));
    (part_of(alone), part_of(together))
}

mod accesses;
#[cfg(test)]
mod tests;

pub use accesses::estimate_lowering;
use accesses::{goes_by_column, price_access};
