//! A sparse matrix in compressed rows times a vector.

use lockstep_conformance::Random;

use crate::args;
use crate::case::{Data, Problem, Step, floats, step};

/// The kernels.
pub const SOURCE: &str = include_str!("sparse.cl");

/// A work-item per row, 4,096 rows.
pub fn csr_rows() -> Problem {
    product(1 << 12, 16, vec![rows(1 << 12); 4])
}

/// A work-item per row, 256 Ki rows: 64 MiB of values and columns.
pub fn csr_rows_large() -> Problem {
    product(1 << 18, 16, vec![rows(1 << 18)])
}

/// A group per row, 1,024 longer rows.
pub fn csr_groups() -> Problem {
    product(1 << 10, 64, vec![groups(1 << 10); 4])
}

/// A group per row, 64 Ki longer rows.
pub fn csr_groups_large() -> Problem {
    product(1 << 16, 64, vec![groups(1 << 16)])
}

fn rows(count: usize) -> Step {
    step("csr_rows", &[count], &[64], args![b 0, b 1, b 2, b 3, b 4])
}

fn groups(count: usize) -> Step {
    const GROUP: usize = 32;
    step("csr_groups", &[GROUP * count], &[GROUP], args![b 0, b 1, b 2, b 3, b 4, l (4 * GROUP)])
}

/// Rows of `least` to three times as many elements, most of them near the diagonal as in meshes.
fn product(rows: usize, least: usize, steps: Vec<Step>) -> Problem {
    let mut random = Random::new(1);
    let mut starts = vec![0_i32];
    let mut columns: Vec<i32> = Vec::new();
    for row in 0..rows {
        for _ in 0..least + random.below(2 * least + 1) {
            let far = random.below(8) == 0;
            let column = if far { random.below(rows) } else { (row + random.below(1024)) % rows };
            columns.push(column as i32);
        }
        starts.push(columns.len() as i32);
    }
    let values = floats(2, columns.len(), -1.0, 1.0);
    let x = floats(3, rows, -1.0, 1.0);
    let sum = |ends: &[i32]| {
        let row = ends[0] as usize..ends[1] as usize;
        row.map(|k| f64::from(values[k]) * f64::from(x[columns[k] as usize])).sum::<f64>() as f32
    };
    let want: Vec<f32> = starts.windows(2).map(sum).collect();
    Problem {
        buffers: vec![Data::of(&starts), Data::of(&columns), Data::of(&values), Data::of(&x), Data::room::<f32>(rows)],
        steps,
        check: Box::new(move |outcome| outcome.close(4, &want, 1e-4)),
    }
}
