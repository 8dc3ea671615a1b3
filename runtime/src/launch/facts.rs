//! What holds of a launch, for its code to rely on.

use lockstep_protocol::configuration::Versions;
use lockstep_protocol::image_format::{Format, RECORD_DATA_TYPE, RECORD_ORDER};
use lockstep_protocol::launch_facts::{LaunchFacts, Object, ROW, list_set_bits, object_params};
use lockstep_protocol::parameters::{Input, Param, ParamKind};
use lockstep_protocol::program_metadata::Streams;
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
pub fn collect_facts(kernel: &Kernel, range: &NdRange, arguments: &Args) -> LaunchFacts {
    let block = &arguments.block;
    let executable = kernel.executable();
    if !executable.uses_facts() {
        return LaunchFacts::default();
    }
    let mut facts = LaunchFacts::of_range(range.offset, range.global, range.local);
    let outline = kernel.outline();
    let is = |input: u32, what: fn(i64) -> bool| match outline.inputs[input as usize] {
        (Input::Value { param, offset }, ty) => {
            let place = (outline.params[param as usize].offset + offset) as usize;
            what(integer_at(block, place, ty))
        }
        _ => false,
    };
    let those =
        |asked: u32, what| list_set_bits(asked).filter(|&input| is(input, what)).fold(0, |all, bit| all | 1 << bit);
    facts.multiples = those(outline.divisors, is_multiple);
    facts.ones = those(outline.steps, |value| value == 1);
    for (known, param) in facts.objects.iter_mut().zip(object_params(&outline.params)) {
        *known = object_facts(&outline.params[param], block);
    }
    let streams = if exceeds_caches(range, outline.streams) { outline.streams.written } else { 0 };
    if outline.to_be_apart | streams != 0 {
        let param_of = |input: u32| match outline.inputs[input as usize].0 {
            Input::Value { param, .. } => Some(param as usize),
            _ => None,
        };
        let is_own =
            |&input: &u32| param_of(input).is_some_and(|param| is_own(&outline.params, &arguments.extents, param));
        let own = |asked: u32| list_set_bits(asked).filter(is_own).fold(0, |all, bit| all | 1 << bit);
        facts.apart = own(outline.to_be_apart);
        facts.streams = own(streams);
    }
    (facts.counters, facts.counters_bytes) = private_counters(kernel, range, arguments);
    facts
}

/// The inputs that lead to counters of which each thread is to have a copy, and the bytes that a copy needs. The copies
/// lie in local memory, which they leave to the kernel for the greater part.
fn private_counters(kernel: &Kernel, range: &NdRange, arguments: &Args) -> (u32, u32) {
    const NONE: (u32, u32) = (0, 0);
    let outline = kernel.outline();
    if outline.counters == 0 {
        return NONE;
    }
    let bytes = |input: &u32| {
        let Input::Value { param, .. } = outline.inputs[*input as usize].0 else { return None };
        let extent = arguments.extents[param as usize].as_ref()?;
        let bytes = extent.end - extent.start;
        // A buffer in memory that the application shares may be read at any time.
        let fits = (1..=MOST_COUNTERS).contains(&bytes) && extent.start.is_multiple_of(8);
        let alone = is_own(&outline.params, &arguments.extents, param as usize)
            && svm::find_allocation(extent.start as usize).is_none();
        (fits && alone).then_some(bytes)
    };
    let found: Vec<(u32, u64)> =
        list_set_bits(outline.counters).filter_map(|input| Some((input, bytes(&input)?))).collect();
    let bytes = found.iter().map(|&(_, bytes)| bytes.next_power_of_two()).max().unwrap_or(0).max(LEAST_COPY);
    let items = range.global.iter().fold(1, |items: u64, &size| items.saturating_mul(size));
    let locals = arguments.locals.iter().fold(outline.local_bytes(), |sum, &size| sum.saturating_add(size));
    let pays = items / ITEMS_PER_BYTE >= bytes * found.len() as u64;
    if found.is_empty() || !pays || locals.saturating_add(bytes * found.len() as u64) > LOCAL_MEMORY / 2 {
        return NONE;
    }
    (found.iter().fold(0, |bits, (input, _)| bits | 1 << input), bytes as u32)
}

/// Bytes of counters that threads have copies of at most: half of the first cache.
const MOST_COUNTERS: u64 = 16 << 10;

/// Bytes of the least copy; it is filled and read in pieces of 64.
const LEAST_COPY: u64 = 64;

/// Work-items for each byte of a copy from which on it pays: a thread takes some ten chunks, and combines after each.
const ITEMS_PER_BYTE: u64 = 16;

/// Whether a launch touches more than the caches keep.
fn exceeds_caches(range: &NdRange, kernel: Streams) -> bool {
    match options().streams {
        Versions::WherePays if kernel.written != 0 => {
            let touched =
                range.global.iter().fold(u64::from(kernel.bytes), |bytes, &items| bytes.saturating_mul(items));
            touched > Platform::get().device().machine().cache
        }
        wanted => wanted == Versions::Always,
    }
}

/// Whether an argument leads to memory that no other one leads to, given where that of each is, if that is known.
fn is_own(params: &[Param], extents: &[Option<Range<u64>>], param: usize) -> bool {
    let Some(own) = &extents[param] else { return false };
    let apart = |other: &Range<u64>| own.end <= other.start || other.end <= own.start;
    let others =
        params.iter().zip(extents).enumerate().filter(|&(other, (data, _))| {
            other != param && matches!(data.kind, ParamKind::Pointer(_) | ParamKind::Image)
        });
    others.into_iter().all(|(_, (_, extent))| extent.as_ref().is_some_and(apart))
}

/// What an image or a sampler is.
fn object_facts(param: &Param, arguments: &ArgBlock) -> Object {
    let word = |offset| u32::from_le_bytes(arguments.read_at(param.offset as usize + offset));
    match param.kind {
        ParamKind::Sampler => Object::Sampler(word(0)),
        _ => Object::Image(Format { order: word(RECORD_ORDER), data_type: word(RECORD_DATA_TYPE) }),
    }
}

/// Whether an integer is a positive multiple of [`ROW`].
fn is_multiple(value: i64) -> bool {
    u64::try_from(value).is_ok_and(|value| value > 0 && value.is_multiple_of(ROW))
}

/// The integer at this place; 0 where there is something else.
fn integer_at(arguments: &ArgBlock, place: usize, ty: Type) -> i64 {
    match ty {
        Type::I8 => i8::from_le_bytes(arguments.read_at(place)).into(),
        Type::I16 => i16::from_le_bytes(arguments.read_at(place)).into(),
        Type::I32 => i32::from_le_bytes(arguments.read_at(place)).into(),
        Type::I64 => i64::from_le_bytes(arguments.read_at(place)),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
