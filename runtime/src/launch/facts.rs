//! What holds of a launch, for its code to rely on.

use lockstep_protocol::configuration::Versions;
use lockstep_protocol::image_format::{Format, RECORD_DATA_TYPE, RECORD_ORDER};
use lockstep_protocol::launch_facts::{LaunchFacts, Object, ROW, list_set_bits, object_params};
use lockstep_protocol::parameters::{Input, Param, ParamKind};
use lockstep_protocol::program_metadata::{KernelOutline, Streams};
use lockstep_protocol::types::Type;

use super::block::ArgBlock;
use super::ndrange::NdRange;
use crate::device::LOCAL_MEMORY;
use crate::kernel::{Args, Kernel};
use crate::options::options;
use crate::platform::Platform;
use crate::svm;
use std::ops::Range;

/// What holds of a launch of `kernel` with these arguments, as far as it is to be told.
pub fn collect_facts(kernel: &Kernel, nd_range: &NdRange, arguments: &Args) -> LaunchFacts {
    let block = &arguments.block;
    let executable = kernel.executable();
    if !executable.uses_facts() {
        return LaunchFacts::default();
    }
    let mut launch_facts = LaunchFacts::of_range(nd_range.offset, nd_range.global, nd_range.local);
    let outline = kernel.outline();
    let input_holds = |input: u32, property: fn(i64) -> bool| input_value(outline, block, input).is_some_and(property);
    let select_inputs = |asked: u32, property| {
        list_set_bits(asked).filter(|&input| input_holds(input, property)).fold(0, |inputs, input| inputs | 1 << input)
    };
    launch_facts.multiples = select_inputs(outline.divisors, is_multiple);
    launch_facts.ones = select_inputs(outline.steps, |value| value == 1);
    for (known, parameter_index) in launch_facts.objects.iter_mut().zip(object_params(&outline.params)) {
        *known = object_facts(&outline.params[parameter_index], block);
    }
    let streams = if exceeds_caches(nd_range, outline.streams) { outline.streams.written } else { 0 };
    if outline.to_be_apart | streams != 0 {
        let param_of = |input: u32| match outline.inputs[input as usize].0 {
            Input::Value { param, .. } => Some(param as usize),
            _ => None,
        };
        let is_own = |&input: &u32| {
            param_of(input).is_some_and(|parameter_index| is_own(&outline.params, &arguments.extents, parameter_index))
        };
        let select_own = |asked: u32| list_set_bits(asked).filter(is_own).fold(0, |inputs, input| inputs | 1 << input);
        launch_facts.apart = select_own(outline.to_be_apart);
        launch_facts.streams = select_own(streams);
    }
    (launch_facts.counters, launch_facts.counters_bytes) = private_counters(kernel, nd_range, arguments);
    launch_facts
}

/// What is likely to hold of a launch of `kernel`, whose arguments may yet be set. None where arguments decide about the code.
pub fn predict_facts(kernel: &Kernel, nd_range: &NdRange) -> Option<LaunchFacts> {
    kernel.with_arguments(|arguments, are_all_set| {
        let outline = kernel.outline();
        let KernelOutline { divisors, steps, counters, .. } = *outline;
        let reads_objects = object_params(&outline.params).next().is_some();
        match (are_all_set, divisors | steps | counters == 0 && !reads_objects) {
            (true, _) => Some(collect_facts(kernel, nd_range, arguments)),
            (false, true) if kernel.executable().uses_facts() => Some(predict_without_arguments(outline, nd_range)),
            (false, true) => Some(LaunchFacts::default()),
            (false, false) => None,
        }
    })
}

/// What is likely to hold of a launch if each pointer leads to memory of its own, as most do.
fn predict_without_arguments(outline: &KernelOutline, nd_range: &NdRange) -> LaunchFacts {
    let is_argument = |&input: &u32| matches!(outline.inputs[input as usize].0, Input::Value { .. });
    let select_arguments =
        |asked: u32| list_set_bits(asked).filter(is_argument).fold(0, |inputs, input| inputs | 1 << input);
    let streams = if exceeds_caches(nd_range, outline.streams) { outline.streams.written } else { 0 };
    LaunchFacts {
        apart: select_arguments(outline.to_be_apart),
        streams: select_arguments(streams),
        ..LaunchFacts::of_range(nd_range.offset, nd_range.global, nd_range.local)
    }
}

/// The inputs that lead to counters of which each thread is to have a copy, and the bytes that a copy needs. The copies
/// lie in local memory, which they leave to the kernel for the greater part.
fn private_counters(kernel: &Kernel, nd_range: &NdRange, arguments: &Args) -> (u32, u32) {
    const NONE: (u32, u32) = (0, 0);
    let outline = kernel.outline();
    if outline.counters == 0 {
        return NONE;
    }
    let counters: Vec<(u32, u64)> = list_set_bits(outline.counters)
        .filter_map(|input| Some((input, private_counter_bytes(outline, arguments, input)?)))
        .collect();
    let copy_bytes = counters.iter().map(|&(_, bytes)| bytes.next_power_of_two()).max().unwrap_or(0).max(LEAST_COPY);
    let all_bytes = copy_bytes * counters.len() as u64;
    let work_items = nd_range.global.iter().fold(1, |items: u64, &size| items.saturating_mul(size));
    let local_bytes = arguments.locals.iter().fold(outline.local_bytes(), |sum, &size| sum.saturating_add(size));
    let is_profitable = work_items / ITEMS_PER_BYTE >= all_bytes;
    if counters.is_empty() || !is_profitable || local_bytes.saturating_add(all_bytes) > LOCAL_MEMORY / 2 {
        return NONE;
    }
    (counters.iter().fold(0, |inputs, (input, _)| inputs | 1 << input), copy_bytes as u32)
}

/// The bytes of the counters that an input leads to, if each thread may have a copy of them.
fn private_counter_bytes(outline: &KernelOutline, arguments: &Args, input: u32) -> Option<u64> {
    let Input::Value { param, .. } = outline.inputs[input as usize].0 else { return None };
    let extent = arguments.extents[param as usize].as_ref()?;
    let bytes = extent.end - extent.start;
    let is_size_fit = (1..=MOST_COUNTERS).contains(&bytes) && extent.start.is_multiple_of(8);
    // A buffer in memory that the application shares may be read at any time.
    let is_alone = is_own(&outline.params, &arguments.extents, param as usize)
        && svm::find_allocation(extent.start as usize).is_none();
    (is_size_fit && is_alone).then_some(bytes)
}

/// Bytes of counters that threads have copies of at most: half of the first cache.
const MOST_COUNTERS: u64 = 16 << 10;

/// Bytes of the least copy; it is filled and read in pieces of 64.
const LEAST_COPY: u64 = 64;

/// Work-items for each byte of a copy from which on it pays: a thread takes some ten chunks, and combines after each.
const ITEMS_PER_BYTE: u64 = 16;

/// Whether a launch touches more than the caches keep.
fn exceeds_caches(nd_range: &NdRange, kernel: Streams) -> bool {
    match options().streams {
        Versions::WherePays if kernel.written != 0 => {
            let touched = nd_range
                .global
                .iter()
                .fold(u64::from(kernel.bytes), |bytes, &work_items| bytes.saturating_mul(work_items));
            touched > Platform::get().device().machine().cache
        }
        wanted => wanted == Versions::Always,
    }
}

/// Whether an argument leads to memory that no other one leads to, given where that of each is, if that is known.
fn is_own(parameters: &[Param], extents: &[Option<Range<u64>>], parameter_index: usize) -> bool {
    let Some(own_extent) = &extents[parameter_index] else { return false };
    let is_apart_from =
        |other_extent: &Range<u64>| own_extent.end <= other_extent.start || other_extent.end <= own_extent.start;
    let other_extents = parameters.iter().zip(extents).enumerate().filter(|&(other, (parameter, _))| {
        other != parameter_index && matches!(parameter.kind, ParamKind::Pointer(_) | ParamKind::Image)
    });
    other_extents.into_iter().all(|(_, (_, extent))| extent.as_ref().is_some_and(is_apart_from))
}

/// The value of an input that is part of an argument.
fn input_value(outline: &KernelOutline, arguments: &ArgBlock, input: u32) -> Option<i64> {
    let (Input::Value { param, offset }, value_type) = outline.inputs[input as usize] else { return None };
    let position = (outline.params[param as usize].offset + offset) as usize;
    Some(integer_at(arguments, position, value_type))
}

/// What an image or a sampler is.
fn object_facts(parameter: &Param, arguments: &ArgBlock) -> Object {
    let record_word = |offset| u32::from_le_bytes(arguments.read_at(parameter.offset as usize + offset));
    match parameter.kind {
        ParamKind::Sampler => Object::Sampler(record_word(0)),
        _ => Object::Image(Format { order: record_word(RECORD_ORDER), data_type: record_word(RECORD_DATA_TYPE) }),
    }
}

/// Whether an integer is a positive multiple of [`ROW`].
fn is_multiple(value: i64) -> bool {
    u64::try_from(value).is_ok_and(|value| value > 0 && value.is_multiple_of(ROW))
}

/// The integer at this place; 0 where there is something else.
fn integer_at(arguments: &ArgBlock, position: usize, value_type: Type) -> i64 {
    match value_type {
        Type::I8 => i8::from_le_bytes(arguments.read_at(position)).into(),
        Type::I16 => i16::from_le_bytes(arguments.read_at(position)).into(),
        Type::I32 => i32::from_le_bytes(arguments.read_at(position)).into(),
        Type::I64 => i64::from_le_bytes(arguments.read_at(position)),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use lockstep_protocol::types::Space;

    use super::*;

    /// A kernel of pointers into global memory, and arguments that lead to objects there.
    fn with_pointers(extents: &[Option<Range<u64>>]) -> (KernelOutline, Args) {
        let parameter = |index: usize| Param {
            name: format!("p{index}"),
            type_name: "uint*".into(),
            kind: ParamKind::Pointer(Space::Global),
            size: 8,
            align: 8,
            offset: 8 * index as u32,
            access: "none".into(),
            qualifiers: String::new(),
            readonly: false,
            restrict: false,
        };
        let params: Vec<Param> = (0..extents.len()).map(parameter).collect();
        let input = |index: usize| (Input::Value { param: index as u32, offset: 0 }, Type::Ptr(Space::Global));
        let inputs = (0..extents.len()).map(input).collect();
        let arguments = Args {
            block: ArgBlock::default(),
            set: vec![true; extents.len()],
            buffers: vec![None; extents.len()],
            extents: extents.to_vec(),
            locals: vec![0; extents.len()],
        };
        (KernelOutline { params, inputs, ..KernelOutline::default() }, arguments)
    }

    #[test]
    fn threads_have_copies_of_counters_that_are_small_and_lead_nowhere_else() {
        const START: u64 = 1 << 40;
        let bytes_of_first = |extents: &[Option<Range<u64>>]| {
            let (outline, arguments) = with_pointers(extents);
            private_counter_bytes(&outline, &arguments, 0)
        };
        let apart = Some(START - 64..START);
        assert_eq!(bytes_of_first(&[Some(START..START + 1000), apart.clone()]), Some(1000));
        assert_eq!(bytes_of_first(&[Some(START..START + MOST_COUNTERS), apart.clone()]), Some(MOST_COUNTERS));
        assert_eq!(bytes_of_first(&[Some(START..START + MOST_COUNTERS + 1), apart.clone()]), None);
        assert_eq!(bytes_of_first(&[Some(START..START), apart.clone()]), None, "there are none");
        assert_eq!(bytes_of_first(&[Some(START + 4..START + 8), apart]), None, "copies are filled in pieces");
        // Another argument leads to them, or may do so.
        assert_eq!(bytes_of_first(&[Some(START..START + 1000), Some(START + 999..START + 2000)]), None);
        assert_eq!(bytes_of_first(&[Some(START..START + 1000), None]), None);
        assert_eq!(bytes_of_first(&[None]), None);
    }

    #[test]
    fn inputs_are_read_where_their_arguments_lie() {
        let (mut outline, mut arguments) = with_pointers(&[None, None]);
        outline.inputs.push((Input::Value { param: 1, offset: 4 }, Type::I32));
        outline.inputs.push((Input::Address { param: 1 }, Type::Ptr(Space::Global)));
        arguments.block.reset_to_size(16);
        arguments.block.write_at(12, &(-48_i32).to_le_bytes());
        assert_eq!(input_value(&outline, &arguments.block, 2), Some(-48));
        assert_eq!(input_value(&outline, &arguments.block, 3), None, "an address has no value");
    }

    #[test]
    fn multiples_are_positive() {
        let mut arguments = ArgBlock::default();
        arguments.reset_to_size(16);
        for (value, expected) in [(0, false), (16, true), (-16, false), (24, false), (i32::MIN, false), (1 << 30, true)]
        {
            arguments.write_at(4, &i32::to_le_bytes(value));
            assert_eq!(is_multiple(integer_at(&arguments, 4, Type::I32)), expected, "{value}");
        }
        arguments.write_at(8, &[240]);
        assert!(!is_multiple(integer_at(&arguments, 8, Type::I8)), "negative when read as signed");
        assert!(is_multiple(integer_at(&arguments, 8, Type::I16)));
        assert!(!is_multiple(integer_at(&arguments, 8, Type::F32)));
    }
}
