//! What kernels are run with: the cases' own launches, ranges that no gang fills, and other arguments and contents of buffers.

use lockstep_ir::interp::{Arg, NdRange};
use lockstep_ir::ir::Kernel;
use lockstep_ir::testing::Random;

/// Work-items of a launch.
pub const ITEMS: u64 = 1 << 10;

/// Lanes of the widest gangs that are looked at.
const LANES: u64 = 16;

/// How many work-items are left out of a range that is to be no multiple of [`LANES`].
const LEFT_OUT: u64 = 5;

/// Bytes of what buffers most often hold, and of a `double`.
const WORD: usize = 4;
const DOUBLE: usize = 8;

/// How often each buffer and each argument is varied by itself, and how often all are.
const VARIATIONS: u64 = 6;

/// Launches of a case that are run with one other input.
const LAUNCHES: usize = 4;

/// Floats that take a function's seldom ways.
const SELDOM: [f32; 10] = [0.0, -0.0, -1.0, 1e30, -1e30, 1e-30, 1e-42, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];

/// What arguments are multiplied with.
const FACTORS: [f64; 7] = [0.0, 0.5, 1.1, 2.0, 100.0, 1e9, -1.0];

/// Which input a kernel is run with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Input {
    /// The case's own.
    Own,
    /// The same in a range that is no multiple of the gang's width.
    Odd,
    /// Another one, made of the case's own.
    Other(Variation),
}

/// How an input differs from the case's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Variation {
    /// By these random numbers.
    seed: u64,
    /// What is varied, buffers first, then the arguments of launches; none: all of it.
    only: Option<usize>,
}

impl Variation {
    fn varies(self, number: usize) -> bool {
        self.only.is_none_or(|only| only == number)
    }
}

impl Input {
    /// The two that count.
    pub const BOTH: [Input; 2] = [Input::Own, Input::Odd];

    /// Those that tell which branches might diverge, of a case with so many buffers and arguments.
    pub fn list_others(buffer_count: usize, argument_count: usize) -> impl Iterator<Item = Input> {
        let things = std::iter::once(None).chain((0..buffer_count + argument_count).map(Some));
        let seeds = move |only: Option<usize>| {
            let first_seed = only.map_or(0, |number| number as u64 + 1) * VARIATIONS;
            (first_seed..first_seed + VARIATIONS).map(move |seed| Input::Other(Variation { seed, only }))
        };
        things.flat_map(seeds)
    }

    /// Which of a case's launches are run.
    pub fn choose_launches(self, launch_count: usize) -> Vec<usize> {
        let Input::Other(Variation { seed, .. }) = self else { return (0..launch_count).collect() };
        let mut random = Random::new(seed ^ 0x1a);
        let mut chosen: Vec<usize> = (0..LAUNCHES.min(launch_count)).map(|_| random.below(launch_count)).collect();
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }

    /// The range of a launch for which the case has this one: some of its groups.
    pub fn shrink_range(self, global: &[u64], local: &[u64]) -> NdRange {
        let mut sizes = keep_some_groups(global, local);
        let mut offset = [0; 3];
        if self != Input::Own {
            let row = &mut sizes[0];
            let odd = [LEFT_OUT, LEFT_OUT + 1].map(|left_out| row.saturating_sub(left_out));
            *row = odd.into_iter().find(|size| *size > 0 && !size.is_multiple_of(LANES)).unwrap_or(*row);
        }
        if let Input::Other(Variation { seed, .. }) = self {
            let mut random = Random::new(seed ^ 0x2b);
            // Ids close to 0 meet other conditions than the rest.
            let is_elsewhere = random.percent(50);
            for (dimension, (size, whole)) in sizes.iter().zip(global).enumerate().filter(|_| is_elsewhere) {
                offset[dimension] = random.below((whole - size) as usize + 1) as u64;
            }
        }
        NdRange { global_offset: offset, ..NdRange::new(&sizes, local) }
    }

    /// What buffers hold.
    pub fn vary_buffers(self, buffers: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let mut buffers = buffers.to_vec();
        if let Input::Other(variation) = self {
            let mut random = Random::new(variation.seed);
            let varied = buffers.iter_mut().enumerate().filter(|(number, _)| variation.varies(*number));
            varied.for_each(|(_, bytes)| vary_bytes(bytes, &mut random));
        }
        buffers
    }

    /// The arguments of a launch of a case with so many buffers.
    pub fn vary_arguments(self, kernel: &Kernel, arguments: &[Arg], buffer_count: usize) -> Vec<Arg> {
        let Input::Other(variation) = self else { return arguments.to_vec() };
        let mut random = Random::new(variation.seed ^ 0x3c);
        let mut varied = arguments.to_vec();
        for (number, (argument, parameter)) in varied.iter_mut().zip(&kernel.params).enumerate() {
            if let Arg::Value(bytes) = argument
                && variation.varies(buffer_count + number)
            {
                *bytes = vary_value(bytes, &parameter.type_name, &mut random);
            }
        }
        varied
    }
}

/// So many of a range's groups that there are at most [`ITEMS`] work-items, or one. Rows stay whole for as long as possible.
fn keep_some_groups(global: &[u64], local: &[u64]) -> Vec<u64> {
    let mut sizes = global.to_vec();
    for dimension in (0..sizes.len()).rev() {
        let others: u64 = (0..sizes.len()).filter(|&other| other != dimension).map(|other| sizes[other]).product();
        let groups = (ITEMS / (others * local[dimension]).max(1)).max(1);
        sizes[dimension] = sizes[dimension].min(groups * local[dimension]);
    }
    sizes
}

/// Puts a buffer's words in another order, or some of them in the place of others, or small numbers, or any numbers, or floats that
/// take seldom ways, of four or eight bytes.
fn vary_bytes(bytes: &mut [u8], random: &mut Random) {
    let words: Vec<[u8; WORD]> = bytes.as_chunks::<WORD>().0.to_vec();
    if words.is_empty() {
        return;
    }
    let way = random.below(6);
    if way == 5 {
        let doubles = bytes.as_chunks_mut::<DOUBLE>().0.iter_mut();
        return doubles
            .for_each(|double| replace_sometimes(double, f64::from(random.pick(&SELDOM)).to_le_bytes(), random));
    }
    for (index, word) in bytes.as_chunks_mut::<WORD>().0.iter_mut().enumerate() {
        match way {
            0 => *word = words[(index * 7 + 3) % words.len()],
            1 => *word = random.pick(&words),
            2 => *word = (random.below(16) as u32).to_le_bytes(),
            3 => *word = (random.next_bits() as u32).to_le_bytes(),
            _ => replace_sometimes(word, random.pick(&SELDOM).to_le_bytes(), random),
        }
    }
}

/// Replaces half of all elements: with the others, loops end.
fn replace_sometimes<T>(element: &mut T, other: T, random: &mut Random) {
    if random.percent(50) {
        *element = other;
    }
}

/// Makes another number of an argument.
fn vary_value(bytes: &[u8], type_name: &str, random: &mut Random) -> Vec<u8> {
    match (type_name, bytes) {
        ("int" | "uint", &[a, b, c, d]) => {
            let number = u32::from_le_bytes([a, b, c, d]);
            let small = [16, 64, ITEMS as usize].map(|bound| random.below(bound) as u32);
            random.pick(&[number / 2, number.wrapping_sub(1), small[0], small[1], small[2]]).to_le_bytes().to_vec()
        }
        ("float", &[a, b, c, d]) => {
            let number = f32::from_le_bytes([a, b, c, d]);
            (number * random.pick(&FACTORS) as f32).to_le_bytes().to_vec()
        }
        ("double", &[a, b, c, d, e, f, g, h]) => {
            let number = f64::from_le_bytes([a, b, c, d, e, f, g, h]);
            (number * random.pick(&FACTORS)).to_le_bytes().to_vec()
        }
        _ => bytes.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_keep_whole_rows_and_groups() {
        assert_eq!(keep_some_groups(&[1 << 16], &[64]), [1024]);
        assert_eq!(keep_some_groups(&[256, 256], &[64, 1]), [256, 4]);
        assert_eq!(keep_some_groups(&[256, 256], &[16, 16]), [64, 16]);
        assert_eq!(keep_some_groups(&[4096, 4096], &[64, 1]), [1024, 1]);
        // One group is the least.
        assert_eq!(keep_some_groups(&[4096], &[2048]), [2048]);
        assert_eq!(keep_some_groups(&[100], &[64]), [100]);
    }

    #[test]
    fn the_second_range_fills_no_gang() {
        let sizes = |input: Input, global: &[u64], local: &[u64]| input.shrink_range(global, local).global_size;
        assert_eq!(sizes(Input::Odd, &[1 << 16], &[64]), [1019, 1, 1]);
        assert_eq!(sizes(Input::Odd, &[21, 2], &[64, 1]), [15, 2, 1]);
        assert_eq!(sizes(Input::Own, &[21, 2], &[64, 1]), [21, 2, 1]);
        assert_eq!(sizes(Input::Odd, &[3], &[1]), [3, 1, 1]);
    }

    #[test]
    fn other_ranges_lie_within_the_cases_own() {
        for input in Input::list_others(2, 3) {
            let range = input.shrink_range(&[1 << 16, 3], &[64, 1]);
            assert!(range.global_offset[0] + range.global_size[0] <= 1 << 16, "{range:?}");
            assert!(range.global_offset[1] + range.global_size[1] <= 3, "{range:?}");
            let launches = input.choose_launches(100);
            assert!(!launches.is_empty() && launches.len() <= LAUNCHES && launches.iter().all(|&launch| launch < 100));
        }
        assert_eq!(Input::Odd.choose_launches(3), [0, 1, 2]);
        assert!(Input::list_others(0, 0).any(|input| input.shrink_range(&[1 << 16], &[64]).global_offset[0] > 0));
    }

    #[test]
    fn other_inputs_differ_and_keep_their_sizes() {
        let buffers = vec![(0..64u32).flat_map(u32::to_le_bytes).collect::<Vec<u8>>(); 3];
        assert_eq!(Input::Odd.vary_buffers(&buffers), buffers);
        for input in Input::list_others(3, 1) {
            let varied = input.vary_buffers(&buffers);
            assert!(varied.iter().all(|bytes| bytes.len() == 256));
            let Input::Other(Variation { only, .. }) = input else { panic!("{input:?} is the case's own") };
            let changed = (0..3).filter(|&number| varied[number] != buffers[number]);
            assert!(changed.eq((0..3).filter(|&number| only.is_none_or(|only| only == number))), "{input:?}");
        }
        let mut random = Random::new(1);
        let numbers: Vec<Vec<u8>> = (0..20).map(|_| vary_value(&7i32.to_le_bytes(), "int", &mut random)).collect();
        assert!([3, 6].iter().all(|number: &i32| numbers.contains(&number.to_le_bytes().to_vec())), "{numbers:?}");
        assert_eq!(vary_value(&[1, 2], "short", &mut random), [1, 2]);
    }
}
