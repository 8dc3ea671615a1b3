//! A random kernel with its launch: arithmetic, control flow with loops of several exits, buffers,
//! private slots, local memory, atomics, and barriers wherever control is uniform.
//!
//! Ensures: the kernel verifies as imported, ends, and means one thing only, in whatever order work-items
//! run between barriers: each work-item writes only cells of its own; what others read was written before
//! the last barrier and is not written before the next one; atomic results that depend on order are not
//! used; no poison, no NaN whose bits are seen.

use super::calls::called_functions;
use super::memory_sizes::{
    COUNTER_WORDS, INPUT_WORDS, OUTPUT_WORDS, ROW_WORDS, SCRATCH_SLOTS, SCRATCH_WORDS, SLOT_WORDS, UNIFORM_WORDS,
};
use super::random::Random;
use crate::interp::{Arg, NdRange};
use crate::ir::*;
use cranelift_entity::{PrimaryMap, SecondaryMap};
use lockstep_protocol::parameters::{Input, KernelAttrs, Param, ParamKind};
use lockstep_protocol::types::{Space, Type};

/// How large kernels become.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Statements altogether, about.
    pub statements: usize,
    /// Greatest depth of nested statements.
    pub depth: usize,
    /// Whether barriers are wanted.
    pub barriers: bool,
    /// Whether the top level is a random graph, which may be irreducible.
    pub unstructured: bool,
    /// Whether functions are called.
    pub calls: bool,
    /// Whether both sides of many choices do nearly the same.
    pub twins: bool,
    /// Whether loops have nothing in them of which the order counts between items, so that loops in them can be flattened.
    pub nests: bool,
}

impl Default for Shape {
    fn default() -> Shape {
        Shape {
            statements: 30,
            depth: 5,
            barriers: true,
            unstructured: false,
            calls: false,
            twins: false,
            nests: false,
        }
    }
}

/// A kernel and how to launch it.
#[derive(Clone, Debug)]
pub struct Generated {
    /// A module with one kernel, `random`.
    pub module: Module,
    /// Where it runs.
    pub range: NdRange,
    /// The arguments that it is run with.
    pub args: Vec<Arg>,
    /// The buffers' contents before it runs.
    pub buffers: Vec<Vec<u8>>,
}

/// Memory in which the items of a group exchange values: one word for each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared {
    /// The group's first word.
    pub base: Value,
    /// Whether items write their own word now (false), or read any word (true).
    pub readable: bool,
}

/// A variable of the program that is generated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variable {
    pub ty: Type,
    /// Always the same for all items of a group.
    pub uniform: bool,
    pub value: Value,
}

/// A loop around the place that is generated.
#[derive(Clone, Debug)]
pub(super) struct Around {
    /// Whether all items leave it together.
    pub uniform: bool,
    /// The variables that change in it: parameters of both blocks.
    pub variables: Vec<usize>,
    /// How many iterations there were.
    pub counter: Value,
    pub latch: Block,
    pub exit: Block,
    pub latch_used: bool,
    pub exit_used: bool,
}

/// The generator's state.
pub(super) struct Generator {
    pub random: Random,
    pub function: Function,
    pub block: Block,
    /// How many statements may still be made.
    pub budget: usize,
    pub shape: Shape,
    /// Whether all items of a group are here together.
    pub uniform_here: bool,
    /// Whether no barrier comes any more, so that single items may return.
    pub barriers_over: bool,
    pub variables: Vec<Variable>,
    pub loops: Vec<Around>,
    /// Whether no operation may stand here of which the order counts between items.
    pub is_unordered: bool,
    /// The first loop that may be left from here.
    pub loops_floor: usize,
    /// Exchanges around this place.
    pub open_exchanges: usize,
    /// Values that can be used here.
    pub visible: Vec<Value>,
    pub uniform_values: SecondaryMap<Value, bool>,
    pub shared: Vec<Shared>,
    pub input: Value,
    pub output: Value,
    pub counters: Value,
    pub slot: Value,
    /// A private array with the same contents for all items of a group.
    pub uniform_slot: Value,
    /// Private arrays that are in use for some statements, and how many are now.
    pub scratch: Vec<Value>,
    pub scratch_used: usize,
    /// Private memory for an address, and for what a function gives.
    pub call_slots: [Value; 2],
    /// Words of the item alone that lie beside those of its neighbours, and how many.
    pub row: Value,
    pub row_words: u64,
    /// The byte offset of the item's word in shared memory.
    pub own_word: Value,
    /// The item's number in its group.
    pub in_group: Value,
    /// A condition that the launch decides.
    pub choice: Value,
    pub group_items: Value,
}

/// The kernel of a seed.
pub fn random_kernel(seed: u64, shape: Shape) -> Generated {
    let mut random = Random::new(seed);
    let range = random_range(&mut random);
    let item_count: u64 = range.global_size.iter().product();
    let group_items: u64 = range.local_size.iter().product();
    let groups: u64 = range.num_groups().iter().product();
    let row_words = random.pick(&ROW_WORDS);
    let buffers = vec![
        (0..INPUT_WORDS).flat_map(|_| random_word(&mut random).to_le_bytes()).collect(),
        vec![0; (item_count * OUTPUT_WORDS * 4) as usize],
        vec![0; (COUNTER_WORDS * 4) as usize],
        vec![0; (groups * group_items * 4) as usize],
        vec![1; (item_count * row_words * 4) as usize],
    ];
    let arguments = vec![
        Arg::Buffer(0),
        Arg::Buffer(1),
        Arg::Buffer(2),
        Arg::Buffer(3),
        Arg::Local(group_items * 4),
        Arg::i32(random.below(12) as i32 - 2),
        Arg::Buffer(4),
    ];
    let kernel = generate_kernel(random, shape, range.work_dim, group_items, row_words);
    let functions = if shape.calls { called_functions() } else { PrimaryMap::new() };
    let module = Module { functions, kernels: vec![kernel], ..Module::default() };
    Generated { module, range, args: arguments, buffers }
}

/// Any bits, a float with few digits, or a small integer.
fn random_word(random: &mut Random) -> u32 {
    match random.below(4) {
        0 => random.next_bits() as u32,
        1 => (random.below(200) as f32 - 100.0).to_bits(),
        _ => random.below(20) as u32,
    }
}

fn random_range(random: &mut Random) -> NdRange {
    let dimensions = random.pick(&[1, 1, 1, 2, 3]);
    let mut local = Vec::new();
    let mut global = Vec::new();
    for _ in 0..dimensions {
        let size = random.pick(if dimensions == 1 { &[1, 2, 3, 4, 5, 8, 13, 16] } else { &[1, 2, 3, 4] });
        local.push(size);
        let groups = 1 + random.below(3) as u64;
        // Sometimes the last group is smaller.
        let missing = if size > 1 && random.percent(30) { 1 + random.below(size as usize - 1) as u64 } else { 0 };
        global.push(groups * size - missing);
    }
    let mut range = NdRange::new(&global, &local);
    if random.percent(25) {
        range.global_offset[0] = 1 + random.below(1000) as u64;
    }
    range
}

fn make_param(name: &str, type_name: &str, kind: ParamKind, size: u32, offset: u32) -> Param {
    Param {
        name: name.to_string(),
        type_name: type_name.to_string(),
        kind,
        size,
        align: if kind == ParamKind::Local { 128 } else { size },
        offset,
        access: String::new(),
        qualifiers: String::new(),
        readonly: name == "input",
        restrict: false,
    }
}

/// The number of a work-item or group, by its id and how many there are along each dimension.
fn linear_id(
    builder: &mut Builder<'_>,
    dimensions: u32,
    count_query: Query,
    id_along: impl Fn(&mut Builder<'_>, u8) -> Value,
) -> Value {
    let mut linear = builder.int(Type::I64, 0);
    for dimension in (0..dimensions as u8).rev() {
        let size = builder.query(count_query, dimension);
        let row = builder.binary(BinaryOp::Mul, linear, size);
        let id = id_along(builder, dimension);
        linear = builder.binary(BinaryOp::Add, row, id);
    }
    linear
}

fn generate_kernel(mut random: Random, shape: Shape, dimensions: u32, group_items: u64, row_words: u64) -> Kernel {
    let global = ParamKind::Pointer(Space::Global);
    let parameters = vec![
        make_param("input", "int*", global, 8, 0),
        make_param("output", "int*", global, 8, 8),
        make_param("counters", "int*", global, 8, 16),
        make_param("scratch", "int*", global, 8, 24),
        make_param("shared", "int*", ParamKind::Local, 8, 32),
        make_param("n", "int", ParamKind::Value, 4, 40),
        make_param("rows", "int*", global, 8, 48),
    ];
    let pointer = Type::Ptr(Space::Global);
    let types = [pointer, pointer, pointer, pointer, Type::Ptr(Space::Local), Type::I32, pointer];
    let inputs = types
        .iter()
        .enumerate()
        .map(|(index, &input_type)| (Input::Value { param: index as u32, offset: 0 }, input_type))
        .collect();
    let mut slots = PrimaryMap::new();
    let slot = slots.push(SlotData::new(SLOT_WORDS * 4, 16));
    let mut locals = PrimaryMap::new();
    let local_variable = locals.push(LocalData { size: group_items * 4, align: 16, counters: None });

    let mut function = Function::new();
    let (mut builder, inputs_here) = Builder::with_entry(&mut function, &types);
    let global_id = |builder: &mut Builder<'_>, dimension: u8| {
        let id = builder.query(Query::GlobalId, dimension);
        let offset = builder.query(Query::GlobalOffset, dimension);
        builder.binary(BinaryOp::Sub, id, offset)
    };
    let five = builder.int(Type::I32, 5);
    let choice = builder.icmp(IntCc::Slt, inputs_here[5], five);
    let item_id = linear_id(&mut builder, dimensions, Query::GlobalSize, global_id);
    let in_group = linear_id(&mut builder, dimensions, Query::LocalSize, |builder, dimension| {
        builder.query(Query::LocalId, dimension)
    });
    let group_id = linear_id(&mut builder, dimensions, Query::NumGroups, |builder, dimension| {
        builder.query(Query::GroupId, dimension)
    });
    let mut group_size = builder.int(Type::I64, 1);
    for dimension in 0..dimensions as u8 {
        let size = builder.query(Query::LocalSize, dimension);
        group_size = builder.binary(BinaryOp::Mul, group_size, size);
    }
    let scaled = |builder: &mut Builder<'_>, number: Value, bytes: u64| {
        let bytes = builder.int(Type::I64, bytes.into());
        builder.binary(BinaryOp::Mul, number, bytes)
    };
    let offset = scaled(&mut builder, item_id, OUTPUT_WORDS * 4);
    let output = builder.ptr_add(inputs_here[1], offset);
    let offset = scaled(&mut builder, item_id, row_words * 4);
    let row = builder.ptr_add(inputs_here[6], offset);
    let own_word = scaled(&mut builder, in_group, 4);
    let offset = scaled(&mut builder, group_id, group_items * 4);
    let scratch = builder.ptr_add(inputs_here[3], offset);
    let local_base = builder.local_addr(local_variable);
    let slot = builder.slot_addr(slot);
    let scratch_slots =
        (0..SCRATCH_SLOTS).map(|_| builder.slot_addr(slots.push(SlotData::new(SCRATCH_WORDS * 4, 8)))).collect();
    let call_slots = if shape.calls {
        [8, 4].map(|bytes| builder.slot_addr(slots.push(SlotData::new(bytes, bytes as u32))))
    } else {
        [slot; 2]
    };
    let uniform_slot = builder.slot_addr(slots.push(SlotData::new(UNIFORM_WORDS * 4, 4)));
    for (destination, words) in [(slot, SLOT_WORDS), (uniform_slot, UNIFORM_WORDS)] {
        let (byte, length) = (builder.int(Type::I8, 5), builder.int(Type::I64, i128::from(words * 4)));
        builder.inst(InstData::MemSet { destination, byte, length, volatile: false }, &[]);
    }

    let mut uniform_values: SecondaryMap<Value, bool> = SecondaryMap::new();
    let uniform = [inputs_here[0], inputs_here[2], inputs_here[5], group_id, group_size];
    uniform.iter().for_each(|&operand| uniform_values[operand] = true);
    // Variables of both kinds; each begins with something the launch decides.
    let small = builder.unary(UnaryOp::Trunc, Type::I32, item_id);
    let small_group = builder.unary(UnaryOp::Trunc, Type::I32, group_id);
    let real = builder.unary(UnaryOp::SiToFp, Type::F32, small);
    let uniform_real = builder.unary(UnaryOp::SiToFp, Type::F32, inputs_here[5]);
    let byte = builder.unary(UnaryOp::Trunc, Type::I8, item_id);
    let double = builder.unary(UnaryOp::FpExt, Type::F64, real);
    let start = [
        (inputs_here[5], true),
        (small_group, true),
        (uniform_real, true),
        (small, false),
        (small_group, false),
        (item_id, false),
        (real, false),
        (uniform_real, false),
        (byte, false),
        (double, false),
    ];
    let variables = start.map(|(value, uniform)| Variable { ty: builder.function.ty(value), uniform, value });
    let shared =
        [inputs_here[4], local_base, scratch].map(|base_address| Shared { base: base_address, readable: false });
    let block = builder.current_block();
    let budget = shape.statements / 2 + random.below(shape.statements + 1);
    let mut generator = Generator {
        random,
        function,
        block,
        budget,
        shape,
        uniform_here: true,
        barriers_over: !shape.barriers,
        variables: variables.to_vec(),
        loops: Vec::new(),
        is_unordered: false,
        loops_floor: 0,
        open_exchanges: 0,
        visible: vec![group_size, in_group, small],
        uniform_values,
        shared: shared.to_vec(),
        input: inputs_here[0],
        output,
        counters: inputs_here[2],
        slot,
        uniform_slot,
        scratch: scratch_slots,
        scratch_used: 0,
        call_slots,
        row,
        row_words,
        own_word,
        in_group,
        choice,
        group_items: group_size,
    };
    if shape.unstructured {
        generator.graph_program();
    } else {
        generator.emit_program();
    }
    Kernel {
        name: "random".to_string(),
        params: parameters,
        args_size: 56,
        inputs,
        slots,
        locals,
        live: PrimaryMap::new(),
        regions: std::iter::once(generator.function).collect(),
        combines: SecondaryMap::new(),
        results: Vec::new(),
        attrs: KernelAttrs::default(),
        definition: None,
    }
}
