//! The fast Fourier transform, pass by pass.

use std::f64::consts::PI;

use crate::args;
use crate::case::{Data, Problem, floats, step};

/// The kernel.
pub const SOURCE: &str = include_str!("fourier.cl");

/// 16 Ki complex values, in 14 passes.
pub fn fourier() -> Problem {
    const LOG: usize = 14;
    let signal = floats(1, 2 << LOG, -1.0, 1.0);
    let values: Vec<[f64; 2]> = signal.chunks_exact(2).map(|v| [f64::from(v[0]), f64::from(v[1])]).collect();
    let want: Vec<f32> = transformed(&values).into_iter().flatten().map(|x| x as f32).collect();
    let pass = |pass: usize| {
        let done = 1_i32 << pass;
        let arguments = if pass.is_multiple_of(2) { args![b 0, b 1, v (done)] } else { args![b 1, b 0, v (done)] };
        step("fourier_pass", &[1 << (LOG - 1)], &[], arguments)
    };
    Problem {
        buffers: vec![Data::in_place(&signal), Data::room::<f32>(2 << LOG)],
        steps: (0..LOG).map(pass).collect(),
        check: Box::new(move |outcome| outcome.close(0, &want, 1e-3)),
    }
}

/// By halves: the even places and the odd ones.
fn transformed(values: &[[f64; 2]]) -> Vec<[f64; 2]> {
    if let [one] = values {
        return vec![*one];
    }
    let part = |first: usize| transformed(&values[first..].iter().step_by(2).copied().collect::<Vec<_>>());
    let (even, odd) = (part(0), part(1));
    let turned = odd.iter().enumerate().map(|(k, [x, y])| {
        let (s, c) = (-2.0 * PI * k as f64 / values.len() as f64).sin_cos();
        [c * x - s * y, c * y + s * x]
    });
    let pairs: Vec<_> = even.iter().zip(turned).map(|([x, y], [u, v])| ([x + u, y + v], [x - u, y - v])).collect();
    pairs.iter().map(|pair| pair.0).chain(pairs.iter().map(|pair| pair.1)).collect()
}
