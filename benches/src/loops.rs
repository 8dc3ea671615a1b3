//! Loops as a careful programmer writes them for one thread, compiled for the registers that the machine has.

use std::ops::Range;

/// The side of a transpose's tile in floats: whole lines of the caches, and a tile fits into the first cache.
pub const TILE: usize = 64;

/// A function in two versions, one for machines with AVX2 and fused multiply-add.
macro_rules! wide {
    ($(#[$doc:meta])* pub fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? $body:block) => {
        $(#[$doc])*
        pub fn $name($($argument: $type),*) $(-> $result)? {
            #[inline(always)]
            fn plain($($argument: $type),*) $(-> $result)? $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                fn wide($($argument: $type),*) $(-> $result)? {
                    plain($($argument),*)
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: the machine has what the function is compiled for.
                    return unsafe { wide($($argument),*) };
                }
            }
            plain($($argument),*)
        }
    };
}

wide! {
    /// `a = b + factor c`.
    pub fn triad(a: &mut [f32], b: &[f32], c: &[f32], factor: f32) {
        a.iter_mut().zip(b).zip(c).for_each(|((a, b), c)| *a = b + factor * c);
    }
}

wide! {
    /// The sum of each `group` values.
    pub fn sums(sums: &mut [f32], values: &[f32], group: usize) {
        for (sum, values) in sums.iter_mut().zip(values.chunks_exact(group)) {
            let mut parts = [0.0_f32; 64];
            let chunks = values.chunks_exact(64);
            let rest: f32 = chunks.remainder().iter().sum();
            chunks.for_each(|chunk| parts.iter_mut().zip(chunk).for_each(|(part, value)| *part += value));
            *sum = parts.iter().sum::<f32>() + rest;
        }
    }
}

wide! {
    /// Some columns of a matrix of these sizes, width and height, as rows, tile by tile.
    pub fn transpose(out: &mut [f32], matrix: &[f32], sizes: [usize; 2], columns: Range<usize>) {
        let [width, height] = sizes;
        // Each line of memory is read once and written once, whatever the distance between rows does to the caches.
        let mut tile = [[0.0_f32; TILE]; TILE];
        for first_row in (0..height).step_by(TILE) {
            let rows = first_row..(first_row + TILE).min(height);
            for first in columns.clone().step_by(TILE) {
                let across = TILE.min(columns.end - first);
                for (tile, row) in tile.iter_mut().zip(rows.clone()) {
                    tile[..across].copy_from_slice(&matrix[row * width + first..][..across]);
                }
                for number in 0..across {
                    let line = &mut out[(first + number - columns.start) * height..][rows.clone()];
                    line.iter_mut().zip(&tile).for_each(|(to, row)| *to = row[number]);
                }
            }
        }
    }
}

/// The exclusive or of all words, whole 64 at a time, as fast as they can be read.
pub fn checksum(words: &[u64]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the machine has what the function is compiled for.
        return unsafe { x86::checksum_in_512_bits(words) };
    }
    checksum_in_any(words)
}

wide! {
    /// The same on any machine.
    pub fn checksum_in_any(words: &[u64]) -> u64 {
        let mut parts = [0_u64; 64];
        for chunk in words.chunks_exact(64) {
            parts.iter_mut().zip(chunk).for_each(|(part, word)| *part ^= word);
        }
        parts.iter().fold(0, |all, part| all ^ part)
    }
}

/// The same, a quarter of the words beside the others: as many places in memory that are read ahead.
pub fn checksum_quarters(words: &[u64]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the machine has what the function is compiled for.
        return unsafe { x86::checksum_quarters_in_512_bits(words) };
    }
    checksum_quarters_in_any(words)
}

wide! {
    /// The same on any machine.
    pub fn checksum_quarters_in_any(words: &[u64]) -> u64 {
        let mut parts = [[0_u64; 16]; 4];
        let (quarters, rest) = quarters(words);
        for (number, chunk) in quarters[0].chunks_exact(16).enumerate() {
            let others = quarters[1..].iter().map(|quarter| &quarter[16 * number..][..16]);
            for (parts, chunk) in parts.iter_mut().zip(std::iter::once(chunk).chain(others)) {
                parts.iter_mut().zip(chunk).for_each(|(part, word)| *part ^= word);
            }
        }
        parts.iter().flatten().chain(rest).fold(0, |all, part| all ^ part)
    }
}

/// The words in four parts of as many, each a multiple of 16, and what is left.
fn quarters(words: &[u64]) -> ([&[u64]; 4], &[u64]) {
    let quarter = words.len() / 64 * 16;
    let (whole, rest) = words.split_at(4 * quarter);
    ([0, 1, 2, 3].map(|number| &whole[number * quarter..][..quarter]), rest)
}

/// `a = b + factor c`, of which `a` goes to memory past the caches where the machine can do that. It begins at a multiple of 32 bytes.
pub fn triad_past_caches(a: &mut [f32], b: &[f32], c: &[f32], factor: f32) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        assert_eq!(a.as_ptr().align_offset(32), 0, "whole lines are written");
        // SAFETY: the machine has what the function is compiled for.
        return unsafe { x86::triad_past_caches_in_256_bits(a, b, c, factor) };
    }
    triad(a, b, c, factor);
}

/// How many multiply-adds are under way at once: more than latency times units of any machine.
const CHAINS: usize = 12;

/// About so many operations, a product and a sum at a time, in the widest registers there are.
pub fn multiply_add(operations: f64) -> f32 {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the machine has what the function is compiled for.
            return unsafe { x86::in_512_bits(operations) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: as above.
            return unsafe { x86::in_256_bits(operations) };
        }
    }
    let mut sums = [[0.0_f32; 4]; CHAINS];
    for _ in 0..(operations / (2 * 4 * CHAINS) as f64) as u64 {
        sums.iter_mut().flatten().for_each(|sum| *sum = *sum * 0.5 + 1.0);
    }
    sums.iter().flatten().sum()
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{CHAINS, quarters};

    #[target_feature(enable = "avx512f")]
    pub fn checksum_in_512_bits(words: &[u64]) -> u64 {
        let mut parts = [_mm512_setzero_si512(); 8];
        for chunk in words.chunks_exact(64) {
            for (part, words) in parts.iter_mut().zip(chunk.chunks_exact(8)) {
                // SAFETY: eight words are as many bytes as the register has.
                let words = unsafe { _mm512_loadu_epi64(words.as_ptr().cast()) };
                *part = _mm512_xor_si512(*part, words);
            }
        }
        merge_parts(parts)
    }

    #[target_feature(enable = "avx512f")]
    fn merge_parts(parts: [__m512i; 8]) -> u64 {
        let all = parts.into_iter().fold(_mm512_setzero_si512(), |all, part| _mm512_xor_si512(all, part));
        let mut words = [0_i64; 8];
        // SAFETY: eight words are as many bytes as the register has.
        unsafe { _mm512_storeu_epi64(words.as_mut_ptr(), all) };
        words.iter().fold(0, |all, &word| all ^ word as u64)
    }

    #[target_feature(enable = "avx512f")]
    pub fn checksum_quarters_in_512_bits(words: &[u64]) -> u64 {
        let mut parts = [_mm512_setzero_si512(); 8];
        let (quarters, rest) = quarters(words);
        for number in (0..quarters[0].len()).step_by(16) {
            for (parts, quarter) in parts.chunks_exact_mut(2).zip(quarters) {
                for (part, words) in parts.iter_mut().zip(quarter[number..][..16].chunks_exact(8)) {
                    // SAFETY: eight words are as many bytes as the register has.
                    let words = unsafe { _mm512_loadu_epi64(words.as_ptr().cast()) };
                    *part = _mm512_xor_si512(*part, words);
                }
            }
        }
        rest.iter().fold(merge_parts(parts), |all, word| all ^ word)
    }

    /// `a` begins at a multiple of 32 bytes.
    #[target_feature(enable = "avx2,fma")]
    pub fn triad_past_caches_in_256_bits(a: &mut [f32], b: &[f32], c: &[f32], factor: f32) {
        let factors = _mm256_set1_ps(factor);
        let whole = a.len() / 8 * 8;
        let (lines, rest) = a.split_at_mut(whole);
        for ((a, b), c) in lines.chunks_exact_mut(8).zip(b.chunks_exact(8)).zip(c.chunks_exact(8)) {
            // SAFETY: eight floats are as many bytes as the register has, and those of `a` begin at a multiple of 32.
            unsafe {
                let values = _mm256_fmadd_ps(_mm256_loadu_ps(c.as_ptr()), factors, _mm256_loadu_ps(b.as_ptr()));
                _mm256_stream_ps(a.as_mut_ptr(), values);
            }
        }
        // What was written is there before anything that follows.
        _mm_sfence();
        rest.iter_mut().zip(&b[whole..]).zip(&c[whole..]).for_each(|((a, b), c)| *a = b + factor * c);
    }

    #[target_feature(enable = "avx512f")]
    pub fn in_512_bits(operations: f64) -> f32 {
        let (factor, more) = (_mm512_set1_ps(0.5), _mm512_set1_ps(1.0));
        let mut sums = [_mm512_setzero_ps(); CHAINS];
        for _ in 0..(operations / (2 * 16 * CHAINS) as f64) as u64 {
            for sum in &mut sums {
                *sum = _mm512_fmadd_ps(*sum, factor, more);
            }
        }
        sums.into_iter().fold(0.0, |all, sum| all + _mm512_reduce_add_ps(sum))
    }

    #[target_feature(enable = "avx2,fma")]
    pub fn in_256_bits(operations: f64) -> f32 {
        let (factor, more) = (_mm256_set1_ps(0.5), _mm256_set1_ps(1.0));
        let mut sums = [_mm256_setzero_ps(); CHAINS];
        for _ in 0..(operations / (2 * 8 * CHAINS) as f64) as u64 {
            for sum in &mut sums {
                *sum = _mm256_fmadd_ps(*sum, factor, more);
            }
        }
        let all = sums.into_iter().fold(_mm256_setzero_ps(), |all, sum| _mm256_add_ps(all, sum));
        _mm256_cvtss_f32(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_groups() {
        let values: Vec<f32> = (0..200).map(|i| i as f32).collect();
        let mut got = [0.0; 2];
        sums(&mut got, &values, 100);
        assert_eq!(got, [4950.0, 14950.0]);
    }

    #[test]
    fn a_checksum_is_that_of_all_words() {
        let words: Vec<u64> = (0..192_u64).map(|i| (i * i).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let all = words.iter().fold(0, |all, word| all ^ word);
        assert_eq!([checksum(&words), checksum_in_any(&words)], [all; 2]);
        // Some are left when four parts have as many each.
        let some = &words[..150];
        let all = some.iter().fold(0, |all, word| all ^ word);
        assert_eq!([checksum_quarters(some), checksum_quarters_in_any(some)], [all; 2]);
    }

    #[test]
    fn a_triad_past_the_caches_is_a_triad() {
        let mut memory = crate::large::Large::<f32>::new(64);
        let (b, c): (Vec<f32>, Vec<f32>) = (0..21).map(|i| (i as f32, (i * i) as f32)).unzip();
        let mut want = vec![0.0; 21];
        triad(&mut want, &b, &c, 0.5);
        triad_past_caches(&mut memory.values_mut()[..21], &b, &c, 0.5);
        assert_eq!(memory.values()[..21], want);
        assert_eq!(memory.values()[21], 0.0);
    }

    #[test]
    fn a_part_of_a_transpose_is_its_columns() {
        let matrix: Vec<f32> = (0..40 * 20).map(|i| i as f32).collect();
        let mut out = vec![0.0; 7 * 20];
        transpose(&mut out, &matrix, [40, 20], 30..37);
        assert_eq!(out[..3], [30.0, 70.0, 110.0]);
        assert_eq!(out[6 * 20 + 19], 19.0 * 40.0 + 36.0);
    }

    #[test]
    fn all_words_count() {
        assert_eq!(checksum(&[1; 64]), 0);
        let mut words = [1; 64];
        words[63] = 3;
        assert_eq!(checksum(&words), 2);
    }

    #[test]
    fn chains_of_products_and_sums_reach_their_limit() {
        // Each lane of each chain comes to 2.
        let sum = multiply_add(1e6);
        assert!(sum >= 2.0 * CHAINS as f32 && sum.is_finite(), "{sum}");
    }
}
