//! What the machine is, and its limits as they are measured beside the kernels.

use std::hint::black_box;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::by_hand::processors;
use crate::gate::register_bits;
use crate::large::Large;
use crate::loops;

/// A machine and its limits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// As the system calls its processors.
    pub name: String,
    /// How many of them the process may use.
    pub processors: usize,
    /// Bits of the widest registers.
    pub register_bits: u32,
    /// With one thread.
    pub one: Limits,
    /// With a thread per processor.
    pub all: Limits,
}

/// The best of some attempts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes that are read from memory, in 10^9 a second.
    pub read: f64,
    /// Bytes of a triad on memory, two thirds of them read, in 10^9 a second.
    pub triad: f64,
    /// Operations on floats in products and sums, in 10^9 a second.
    pub flops: f64,
}

const ATTEMPTS: usize = 5;
/// Bytes that no cache keeps.
const MEMORY: usize = 192 << 20;
const FLOPS: f64 = 2e9;

impl Machine {
    /// Measures this one.
    pub fn measure() -> Self {
        let mut memory = Large::new(MEMORY / size_of::<f32>());
        let memory = memory.values_mut();
        let all = processors();
        Self {
            name: name(),
            processors: all,
            register_bits: register_bits(),
            one: Limits::measure(memory, 1),
            all: Limits::measure(memory, all),
        }
    }
}

impl Limits {
    fn measure(memory: &mut [f32], threads: usize) -> Self {
        let bytes = size_of_val(memory) as f64;
        // 64 floats are what a step of any of the loops takes.
        let share = (memory.len() / threads).next_multiple_of(64);
        let read = best(|| {
            std::thread::scope(|scope| {
                for part in memory.chunks(share) {
                    scope.spawn(move || {
                        let mut sum = [0.0];
                        loops::sums(&mut sum, black_box(part), part.len());
                        black_box(sum);
                    });
                }
            });
        });
        let third = memory.len() / 3;
        let share = third.div_ceil(threads).next_multiple_of(64);
        let (a, rest) = memory.split_at_mut(third);
        let (b, c) = rest.split_at(third);
        let triad = best(|| {
            std::thread::scope(|scope| {
                for ((a, b), c) in a.chunks_mut(share).zip(b.chunks(share)).zip(c.chunks(share)) {
                    scope.spawn(move || loops::triad(black_box(a), b, c, 0.5));
                }
            });
        });
        let flops = best(|| {
            std::thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| black_box(loops::multiply_add(black_box(FLOPS))));
                }
            });
        });
        let rate = |amount: f64, time: Duration| amount / time.as_secs_f64() / 1e9;
        Self {
            read: rate(bytes, read),
            triad: rate((3 * third * size_of::<f32>()) as f64, triad),
            flops: rate(FLOPS * threads as f64, flops),
        }
    }
}

fn best(mut work: impl FnMut()) -> Duration {
    let times = (0..ATTEMPTS).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed()
    });
    times.min().unwrap_or_default()
}

fn name() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split_once(':')).map_or("", |(_, name)| name.trim());
    if name.is_empty() { std::env::consts::ARCH.to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_found_on_little_memory() {
        let limits = Limits::measure(&mut vec![1.0; 3 * 4096], 2);
        assert!(limits.read > 0.0 && limits.triad > 0.0 && limits.flops > 0.0, "{limits:?}");
        assert!(!name().is_empty());
    }
}
