//! NBody of Karrenberg & Hack 2012, Table 1.

use crate::args;
use crate::case::{Data, Problem, floats, step};

/// The kernel.
pub const SOURCE: &str = include_str!("bodies.cl");

/// One step of 2,048 bodies.
pub fn nbody() -> Problem {
    step_of(2048, 2048)
}

/// One step of 256 bodies among 512 Ki: each group reads 8 MiB of positions.
pub fn nbody_large() -> Problem {
    step_of(1 << 19, 256)
}

/// One step of the first `moved` of some bodies.
fn step_of(bodies: usize, moved: usize) -> Problem {
    const GROUP: usize = 128;
    const SECONDS: f32 = 0.01;
    const SOFTENING: f32 = 0.5;
    let positions = floats(1, 4 * bodies, 0.1, 10.0);
    let velocities = vec![0.0_f32; 4 * moved];
    let body = |i: usize| [0, 1, 2, 3].map(|k| f64::from(positions[4 * i + k]));
    let mut want = Vec::with_capacity(4 * moved);
    let mut want_velocities = Vec::with_capacity(4 * moved);
    for i in 0..moved {
        let mine = body(i);
        let mut pull = [0.0; 3];
        for other in (0..bodies).map(body) {
            let way = [0, 1, 2].map(|k| other[k] - mine[k]);
            let square = way.iter().map(|d| d * d).sum::<f64>() + f64::from(SOFTENING);
            let factor = other[3] / (square * square.sqrt());
            (0..3).for_each(|k| pull[k] += factor * way[k]);
        }
        let time = f64::from(SECONDS);
        want.extend((0..3).map(|k| (mine[k] + pull[k] * 0.5 * time * time) as f32).chain([mine[3] as f32]));
        want_velocities.extend(pull.map(|a| (a * time) as f32).into_iter().chain([0.0]));
    }
    let arguments = args![b 0, b 1, b 2, b 3, l (16 * GROUP), v (bodies as u32), v (SECONDS), v (SOFTENING)];
    Problem {
        buffers: vec![
            Data::of(&positions),
            Data::room::<f32>(4 * moved),
            Data::of(&velocities),
            Data::room::<f32>(4 * moved),
        ],
        steps: vec![step("nbody", &[moved], &[GROUP], arguments)],
        check: Box::new(move |outcome| {
            outcome.close(1, &want, 1e-3)?;
            outcome.close(3, &want_velocities, 1e-3)
        }),
    }
}
