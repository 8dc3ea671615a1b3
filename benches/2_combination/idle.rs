//! Ranges of which most work-items find nothing to do, as those of programs that round up generously.

use crate::args;
use crate::case::{Data, Problem, floats, step};

/// OpenCL C of `idle_groups` and `idle_windows`.
pub const SOURCE: &str = include_str!("idle.cl");

const GROUP: usize = 1024;

/// Of 1,024 groups of 1,024 work-items 24 smooth their part of an array, the last one of them not all of it.
pub fn idle_groups() -> Problem {
    const GROUPS: usize = 1024;
    const WORKING: usize = 24;
    let count = WORKING * GROUP - 5;
    let input = floats(1, count, -1.0, 1.0);
    let mut want: Vec<f64> = input.iter().map(|&x| f64::from(x)).collect();
    want.resize(WORKING * GROUP, 0.0);
    for (group, row) in want.chunks_mut(GROUP).enumerate() {
        let first = group * GROUP;
        for _ in 0..20 {
            let before = row.to_vec();
            for (l, mean) in row.iter_mut().enumerate().filter(|(l, _)| first + l < count) {
                *mean = 0.25 * before[l.saturating_sub(1)] + 0.5 * before[l] + 0.25 * before[(l + 1).min(GROUP - 1)];
            }
        }
    }
    let want: Vec<f32> = want[..count].iter().map(|&x| x as f32).collect();
    let arguments = args![b 0, b 1, v (count as i32), v (WORKING as i32)];
    Problem {
        buffers: vec![Data::of(&input), Data::room::<f32>(count)],
        steps: vec![step("idle_groups", &[GROUPS * GROUP], &[GROUP], arguments); 4],
        check: Box::new(move |outcome| outcome.close(1, &want, 1e-4)),
    }
}

/// Of 1 Mi work-items 16 Ki sum up a window each.
pub fn idle_windows() -> Problem {
    const COUNT: usize = 1 << 14;
    let input = floats(1, COUNT, -1.0, 1.0);
    let sum = |window: &[f32]| window.iter().map(|&x| f64::from(x)).sum::<f64>() as f32;
    let want: Vec<f32> = (0..COUNT).map(|i| sum(&input[i..(i + 16).min(COUNT)])).collect();
    let arguments = args![b 0, b 1, v (COUNT as i32)];
    Problem {
        buffers: vec![Data::of(&input), Data::room::<f32>(COUNT)],
        steps: vec![step("idle_windows", &[1 << 20], &[64], arguments); 4],
        check: Box::new(move |outcome| outcome.close(1, &want, 1e-4)),
    }
}
